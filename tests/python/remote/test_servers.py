"""Web servers that refuse several ranges, answer them wrongly, or stop answering: values, requests, bytes and time."""

import random
import resource
import time

import numpy as np
import pytest
from range_server import serving

import forthwith

COLUMNS = [f"x{number}" for number in range(20)]


@pytest.fixture(scope="module")
def baskets(tmp_path_factory):
    """A file of many small baskets, and the values of each of its columns."""
    values = np.random.default_rng(0).normal(size=20_000)
    path = tmp_path_factory.mktemp("servers") / "f.root"
    with forthwith.recreate(path, compression=None) as file:
        file.mktree("t", dict.fromkeys(COLUMNS, "f8"), cluster_entries=50).extend(dict.fromkeys(COLUMNS, values))
    return path.read_bytes(), values


def served(data, faults=None, choose=None):
    return serving({"/f.root": data}, faults, choose)


def tree(server, **options):
    return forthwith.open(f"{server.url}/f.root:t", storage_options=options)


def asked(server):
    """The number of ranges of each request."""
    with server.lock:
        return [headers["Range"].count(",") + 1 for _, headers in server.requests]


@pytest.mark.parametrize("refusal", ["200", "400", "413", "416", "431", "500", "first", "close"])
def test_servers_that_refuse_several_ranges_are_asked_for_single_ones(baskets, refusal):
    data, values = baskets
    faults = {"first": ""} if refusal == "first" else {"limit": 1, "refusal": refusal}
    with served(data, faults) as server:
        begin = time.monotonic()
        assert (tree(server).arrays(["x3"], library="np")["x3"] == values).all()
        assert time.monotonic() - begin < 5
        # One request shows that; all files of the server are read so from then on.
        assert sum(ranges > 1 for ranges in asked(server)) == 1
        server.requests.clear()
        assert (tree(server).arrays(["x7"], library="np")["x7"] == values).all()
        assert max(asked(server)) == 1


@pytest.mark.parametrize("refusal", ["200", "400", "431", "close"])
def test_servers_that_refuse_many_ranges_are_asked_for_fewer(baskets, refusal):
    data, values = baskets
    with served(data, {"limit": 200, "refusal": refusal}) as server:
        assert (tree(server).arrays(["x3"], library="np")["x3"] == values).all()
        assert sum(ranges > 200 for ranges in asked(server)) == 1
        server.requests.clear()
        assert (tree(server).arrays(["x7"], library="np")["x7"] == values).all()
        assert 1 < max(asked(server)) <= 200


@pytest.mark.parametrize("fault", ["cut", "boundary"])
def test_damaged_answers_of_several_ranges_are_errors(baskets, fault):
    with (
        served(baskets[0], {fault: ""}) as server,
        pytest.raises(forthwith.SourceError, match=r"several ranges is damaged: .*boundary"),
    ):
        tree(server).arrays(["x3"])


@pytest.mark.parametrize("faults", [{}, {"first": ""}, {"limit": 200}])
@pytest.mark.parametrize("names", [COLUMNS, COLUMNS[::2], ["x4"], ["x3", "x11"], COLUMNS[5:10]])
def test_small_baskets_cost_few_requests(baskets, faults, names):
    """There are 400 baskets of each column; to open the file and to read a range each takes one or two requests."""
    data, values = baskets
    with served(data, faults) as server:
        got = tree(server).arrays(names, library="np")
        assert all((got[name] == values).all() for name in names)
        assert len(asked(server)) <= 6 + (2 if "limit" in faults else 0)
        # A refusal by the whole file is not read to its end.
        assert server.sent <= 1.1 * len(data) or "limit" in faults


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A file of 48 MB, and a column: between its baskets, and those of each twentieth, lie 20 times their bytes."""
    values = np.random.default_rng(1).normal(size=6000)
    columns = dict.fromkeys((f"x{number}" for number in range(1000)), values)
    path = tmp_path_factory.mktemp("servers") / "wide.root"
    with forthwith.recreate(path, compression=None) as file:
        file.mktree("t", dict.fromkeys(columns, "f8"), cluster_entries=300).extend(columns)
    return path.read_bytes(), values


@pytest.mark.parametrize("several", [False, True])
def test_few_bytes_between_long_baskets_are_fetched_from_a_near_server(wide, several):
    data, values = wide
    names = [f"x{number}" for number in range(0, 1000, 20)]
    needed = len(names) * values.nbytes
    sent = []
    # A server on a busy machine looks far now and then.
    while len(sent) < 5 and min(sent, default=len(data)) > 7 * needed + (9 << 20):
        with served(data, {} if several else {"first": ""}) as server:
            got = tree(server).arrays(names, library="np")
            assert all((got[name] == values).all() for name in names)
            assert len(asked(server)) <= (8 if several else 1100)
            sent.append(server.sent)
    assert min(sent) <= (2 * needed + (2 << 20) if several else 7 * needed + (9 << 20))


@pytest.mark.parametrize("fault", ["dead", "trickles"])
@pytest.mark.parametrize("retries", [0, 4])
def test_a_read_from_a_server_that_stops_answering_fails_within_the_time_limit(baskets, fault, retries):
    with served(baskets[0], {"limit": 1, "refusal": "416"}) as server:
        opened = tree(server, timeout=1, retries=retries)
        server.faults[fault] = ""
        begin = time.monotonic()
        with pytest.raises(forthwith.SourceError, match=r"no byte came for 1 s|only \d+ bytes came in 1 s"):
            opened.arrays(["x3", "x11"])
        assert time.monotonic() - begin < 2.5


_LIES = ["untagged", "whole", "first", "size", "huge", "unsized", "nowhere", "inverted", "short", "nothing", "long"]
_LIES += ["reversed", "dropped", "doubled", "boundary", "cut", "garbled", "leaves", "circle", "single"]


def lies(rng):
    """Faults of one request, mostly none: what servers, proxies and networks do."""
    choices = [
        lambda: {"status": rng.choice([200, 204, 206, 301, 304, 400, 404, 408, 416, 429, 500, 503, 999])},
        lambda: {"times": 1, "status": 503},
        lambda: {"limit": rng.choice([1, 2, 50]), "refusal": rng.choice(["200", "206", "400", "416", "500", "close"])},
        lambda: {"cap": rng.choice([1, 100, 10_000])},
        lambda: {"shift": rng.choice([-1000, -1, 1, 1000])},
        lambda: {"elsewhere": rng.choice([1, 1000])},
        lambda: {"length": rng.choice([-100, -1, 1, 100_000])},
        lambda: {"breaks": 1 << 30},
        lambda: {"stalls": 1 << 30},
        lambda: {"trickles": ""},
        lambda: {"changes": 0},
        lambda: {"grows": 0},
        lambda: {"shrinks": 0},
        lambda: {"coding": rng.choice(["gzip", "identity", "x"])},
        lambda: {"to": rng.choice(["/f.root", "/nothing", "ftp://host/f.root", "//", "http://127.0.0.1:1/"])},
        *(lambda name=name: {name: ""} for name in _LIES),
    ]
    return {name: value for _ in range(rng.choice([1, 1, 2])) for name, value in rng.choice(choices)().items()}


def read_from_liars(files, expected, seed):
    """Reads a file from a server that lies in some answers: the values are right, or the error names the file."""
    rng = random.Random(seed)
    name = rng.choice(sorted(files))
    rate = rng.choice([0.05, 0.3, 1])
    with serving(files, choose=lambda _: lies(rng) if rng.random() < rate else {}) as server:
        begin = time.monotonic()
        options = {"timeout": 0.4, "retries": rng.choice([0, 2])}
        try:
            opened = forthwith.open(f"{server.url}{name}", storage_options=options)
            got = (opened if hasattr(opened, "arrays") else opened["t"]).arrays(
                rng.choice([["x4"], COLUMNS[::5], None]), threads=rng.choice([1, 3]), library="np"
            )
        except forthwith.ForthwithError as error:
            assert server.url in str(error), seed  # noqa: PT017 (right values are right, too)
        else:
            assert all((values == expected).all() for values in got.values()), seed
        assert time.monotonic() - begin < 10, seed


@pytest.fixture(scope="module")
def several_formats(baskets, tmp_path_factory):
    folder, values = tmp_path_factory.mktemp("lies"), baskets[1][:5000]
    columns = dict.fromkeys(COLUMNS, values)
    forthwith.write_parquet(folder / "f.parquet", columns, compression="none", row_group_entries=500)
    forthwith.write_avro(folder / "f.avro", columns)
    with forthwith.recreate(folder / "ntuple.root", compression=None) as file:
        file.mkrntuple("t", dict.fromkeys(COLUMNS, "f8"), cluster_entries=500).extend(columns)
    with forthwith.recreate(folder / "f.root", compression=None) as file:
        file.mktree("t", dict.fromkeys(COLUMNS, "f8"), cluster_entries=50).extend(columns)
    return {f"/{path.name}": path.read_bytes() for path in folder.iterdir()}, values


@pytest.mark.parametrize("seed", range(12))
def test_servers_that_lie_at_random_give_right_values_or_errors(several_formats, seed):
    files, values = several_formats
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read_from_liars(files, values, seed)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 200_000
