"""Files behind HTTP, from servers that honour ranges, that do not, and that fail or lie."""

import contextlib
import functools
import http.server
import io
import os
import pathlib
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import awkward as ak
import numpy as np
import pytest
from conftest import DATA
from range_server import serving

import forthwith
from forthwith import engines


@pytest.fixture(scope="module")
def many():
    return np.random.default_rng(1).integers(0, 1 << 40, 400_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory, many):
    data = DATA
    names = ["zmumu.root", "nested.root", "belongings.root", "leaves.root"]
    files = {f"/{name}": (data / name).read_bytes() for name in names}
    files |= {f"/{path.name}": path.read_bytes() for path in (data / "avro").glob("*.avro")}
    files |= {f"/{path.name}": path.read_bytes() for path in (data / "parquet").glob("*.parquet")}
    files["/a b.root"] = files["/zmumu.root"]
    files["/empty.root"] = b""
    long = tmp_path_factory.mktemp("remote") / "many.parquet"
    forthwith.write_parquet(long, {"a": many, "b": many[::-1].copy(), "c": many * 3}, compression="none")
    files["/many.parquet"] = long.read_bytes()
    with serving(files) as server:
        yield server


@pytest.fixture(scope="module")
def expected():
    return forthwith.open(f"{DATA}/zmumu.root:events").arrays()


def tree(server, query="", **options):
    return forthwith.open(f"{server.url}/zmumu.root?{query}:events", storage_options={"timeout": 1, **options})


def test_files_of_all_formats_are_those_on_disk(server):
    names = [name for name in server.files if name not in ("/empty.root", "/a b.root", "/many.parquet")]
    assert len(names) > 10
    for name in names:
        folder = {".avro": DATA / "avro", ".parquet": DATA / "parquet"}.get(os.path.splitext(name)[1], DATA)
        with forthwith.open(f"{folder}{name}") as there:
            try:
                wanted = there.arrays() if hasattr(there, "arrays") else there.keys(recursive=True)
            except forthwith.ForthwithError as error:
                wanted = type(error)
        with forthwith.open(f"{server.url}{name}") as here:
            try:
                got = here.arrays() if hasattr(here, "arrays") else here.keys(recursive=True)
            except forthwith.ForthwithError as error:
                got = type(error)
        if isinstance(wanted, ak.Array):
            assert ak.array_equal(got, wanted, equal_nan=True, check_regular=False), name
        else:
            assert got == wanted, name


@pytest.mark.parametrize(
    "query",
    [
        "",
        "untagged",
        "single",
        "first",
        "whole",
        "size",
        "cap=10000",
        "status=503&times=2",
        "status=429&times=1",
        "breaks=3",
        "stalls=1",
        "leaves",
        "to=/zmumu.root",
        "to=/zmumu.root?to=/zmumu.root?whole",
    ],
)
def test_what_servers_may_do(server, expected, query):
    server.requests.clear()
    for threads in (1, 3):
        assert ak.array_equal(tree(server, query).arrays(threads=threads), expected)


def test_several_ranges_are_asked_for_once_of_a_server_that_ignores_them(server, expected):
    """It answers with the whole file: the ranges are asked for one by one then."""
    server.requests.clear()
    begin = time.monotonic()
    assert ak.array_equal(tree(server, "single", retries=5).arrays(threads=1), expected)
    assert time.monotonic() - begin < 5
    several = [headers["Range"] for path, headers in server.requests if "single" in path and "," in headers["Range"]]
    assert len(several) <= 4, several


@pytest.mark.parametrize(
    ("query", "error", "text"),
    [
        ("status=404", forthwith.MissingFileError, "not found"),
        ("status=403", forthwith.SourceError, "permission"),
        ("status=500", forthwith.SourceError, "500 Internal Server Error .tried 2 times"),
        ("status=418", forthwith.SourceError, "418"),
        ("stalls=99", forthwith.SourceError, "no byte came for 0.2 s|does not answer byte"),
        ("wait=3", forthwith.SourceError, "no byte came for 0.2 s"),
        ("coding=gzip", forthwith.SourceError, "compresses its answers .gzip"),
        ("shift=1", forthwith.SourceError, "byte"),
        ("unsized", forthwith.SourceError, "without saying which"),
        ("nowhere", forthwith.SourceError, "without saying which"),
        ("to=ftp://host/a.root", forthwith.SourceError, "redirected from http to ftp"),
        ("to=http://[", forthwith.SourceError, "redirected to no URL"),
        ("status=301", forthwith.SourceError, "redirects with status 301"),
        ("to=/a", forthwith.MissingFileError, "not found"),
        ("to=file:///etc/passwd", forthwith.SourceError, "redirected from http to file"),
        ("circle", forthwith.SourceError, "more than 10 redirections"),
        ("circle=1", forthwith.SourceError, "more than 10 redirections"),
        ("long", forthwith.SourceError, "more than the .* bytes that it announced"),
        ("endless", forthwith.SourceError, "more than the .* bytes that it announced"),
        ("nothing", forthwith.SourceError, "does not answer byte"),
        ("inverted", forthwith.SourceError, "without saying which"),
    ],
)
def test_what_servers_must_not_do(server, query, error, text):
    start = time.monotonic()
    with pytest.raises(error, match=text) as raised:
        tree(server, query, timeout=0.2, retries=1).arrays()
    assert server.url in str(raised.value)
    assert "?" not in str(raised.value).replace("?…", "")
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("query", ["short", "huge", "elsewhere=1", "elsewhere=1000", "single&short", "short&cap=1000"])
@pytest.mark.parametrize("name", ["zmumu.root", "many.parquet", "codec-deflate.avro"])
def test_servers_that_lie_of_lengths_and_places_give_right_values_or_errors(server, query, name):
    """Whatever they answer: no wrong value, no hang, and no memory for what did not come."""
    begin, peak = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    folder = {".avro": DATA / "avro", ".root": DATA}.get(os.path.splitext(name)[1])
    try:
        opened = forthwith.open(f"{server.url}/{name}?{query}", storage_options={"timeout": 1, "retries": 1})
        got = (opened if hasattr(opened, "arrays") else opened["events"]).arrays()
    except forthwith.ForthwithError as error:
        assert server.url in str(error)  # noqa: PT017 (right values are right, too)
    else:
        if folder is None:
            assert (ak.to_numpy(got["a"]) * 3 == ak.to_numpy(got["c"])).all()
        else:
            there = forthwith.open(folder / name)
            there = there if hasattr(there, "arrays") else there["events"]
            assert ak.array_equal(got, there.arrays(), equal_nan=True)
    assert time.monotonic() - begin < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 200_000


@pytest.mark.parametrize("query", ["changes=2", "grows=2", "shrinks=2"])
def test_a_file_that_changes_is_an_error_and_no_mixture(server, query):
    with pytest.raises(forthwith.SourceError, match="changed since it was opened"):
        forthwith.open(f"{server.url}/many.parquet?{query}").arrays()


def ranges_of(server, path):
    """The ranges that a server was asked for by one URL. Requests of earlier tests that were given up may still come in."""
    ranges = []
    with server.lock:
        asked = [headers["Range"].removeprefix("bytes=") for asked, headers in server.requests if asked == path]
    for request in asked:
        for first, last in (part.split("-") for part in request.split(",")):
            ranges.append((int(first), int(last) + 1) if first else (-int(last), 0))
    return ranges, len(asked)


def test_only_the_bytes_that_are_needed_are_fetched(server, many):
    size = len(server.files["/many.parquet"])
    column = forthwith.open(f"{server.url}/many.parquet?needed")["b"].array(library="np")
    assert (column == many[::-1]).all()
    ranges, requests = ranges_of(server, "/many.parquet?needed")
    assert len(set(ranges)) == len(ranges)
    assert sum(end - start for start, end in ranges) < 1.05 * size / 3 + (1 << 20)
    assert requests < 12


def test_many_threads_ask_for_no_range_twice(tmp_path):
    numbers = np.random.default_rng(2).integers(0, 1 << 40, 2_000_000)
    path = tmp_path / "long.parquet"
    forthwith.write_parquet(path, {"a": numbers, "b": numbers * 3}, compression="none")
    with serving({"/long.parquet": path.read_bytes()}) as server:
        for number in range(3):
            name = f"/long.parquet?{number}"
            read = forthwith.open(server.url + name).arrays(threads=16, library="np")
            assert (read["a"] == numbers).all()
            assert (read["b"] == numbers * 3).all()
            ranges, _ = ranges_of(server, name)
            assert len(set(ranges)) == len(ranges)


def test_credentials_are_told_to_the_server_and_to_nobody_else(server, expected):
    server.requests.clear()
    url = server.url.replace("://", "://me:pass%20word@")
    options = {"headers": {"X-Token": "s3cret"}, "timeout": 5}
    opened = forthwith.open(f"{url}/zmumu.root?sign=abc", storage_options=options)
    assert ak.array_equal(opened["events"].arrays(), expected)
    headers = next(headers for path, headers in server.requests if path == "/zmumu.root?sign=abc")
    assert headers["Authorization"] == "Basic bWU6cGFzcyB3b3Jk"
    assert headers["X-Token"] == "s3cret"
    pickled = pickle.dumps(opened)
    assert b"s3cret" not in pickled
    for text in (repr(opened), str(opened.file_path)):
        assert "pass" not in text
        assert "abc" not in text
    with pytest.raises(forthwith.MissingFileError) as raised:
        forthwith.open(f"{url}/absent.root?sign=abc", storage_options=options)
    assert all(word not in str(raised.value) for word in ("pass", "abc", "s3cret"))


def test_a_file_is_checked_as_one_on_disk_is_and_fetched_once(server, tmp_path):
    def check(name):
        command = [sys.executable, "-m", "forthwith", "check", name]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return run.returncode, run.stdout

    numbers = {"a": np.arange(500_000), "b": np.random.default_rng(3).normal(size=500_000)}
    with forthwith.recreate(tmp_path / "tree.root", compression=None) as file:
        file["t"] = numbers
    forthwith.write_avro(tmp_path / "blocks.avro", numbers)
    damaged = bytearray((tmp_path / "blocks.avro").read_bytes())
    damaged[len(damaged) // 2] ^= 255
    (tmp_path / "damaged.avro").write_bytes(damaged)
    files = {f"/{path.name}": path.read_bytes() for path in tmp_path.iterdir()}
    files["/zmumu.root"] = server.files["/zmumu.root"]
    shutil.copy(DATA / "zmumu.root", tmp_path)
    with serving(files) as other:
        for name, content in files.items():
            other.requests.clear()
            other.sent = 0
            assert check(other.url + name) == check(str(tmp_path) + name), name
            assert other.sent <= 1.05 * len(content) + (1 << 20), name
            assert len(other.requests) <= 10, name


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tree", "ntuple", "parquet"])
@pytest.mark.parametrize("codec", [None, "zstd"])
def test_no_more_bytes_are_fetched_than_the_columns_have(tmp_path, kind, codec):
    rng = np.random.default_rng(7)
    columns = {f"x{at}": rng.normal(size=300_000) for at in range(10)}
    path = tmp_path / ("wide.parquet" if kind == "parquet" else "wide.root")
    if kind == "parquet":
        forthwith.write_parquet(path, columns, compression=codec or "none", row_group_entries=50_000)
    else:
        with forthwith.recreate(path, compression=codec) as file:
            if kind == "tree":
                file.mktree("t", dict.fromkeys(columns, "f8"), cluster_entries=50_000).extend(columns)
            else:
                file.mkrntuple("t", dict.fromkeys(columns, "f8"), cluster_entries=50_000).extend(columns)
    with serving({"/wide.root": path.read_bytes()}) as server:
        for names in (["x3"], ["x1", "x7"], list(columns)):
            server.sent = 0
            opened = forthwith.open(f"{server.url}/wide.root")
            table = opened if kind == "parquet" else opened["t"]
            arrays = table.arrays(names, library="np")
            assert all((arrays[name] == columns[name]).all() for name in names)
            local = forthwith.open(path)
            local = local if kind == "parquet" else local["t"]
            needed = sum(local[name].compressed_bytes for name in names)
            assert server.sent <= 1.05 * needed + (1 << 20), (names, server.sent, needed)


def _shown(*things):
    """All that a log or a notebook may get of some things, and their pickles."""
    shown, pickled = [], []
    for thing in things:
        shown += [repr(thing), str(thing)]
        for method in ("_repr_html_", "show"):
            if hasattr(thing, method):
                stream = io.StringIO()
                html = getattr(thing, method)(**({"stream": stream} if method == "show" else {}))
                shown += [str(html), stream.getvalue()]
        with contextlib.suppress(TypeError, AttributeError, pickle.PicklingError):
            pickled.append(pickle.dumps(thing).decode("latin1"))
    return shown, pickled


def _told(error):
    """All texts of an error, with those of its causes, and its attributes."""
    texts = []
    while error is not None:
        texts += [str(error), repr(error), repr(error.__dict__), repr(getattr(error, "filename", ""))]
        error = error.__cause__ or error.__context__
    return texts


def test_credentials_are_in_no_error_no_text_and_no_pickle(server, tmp_path, caplog, capfd):
    caplog.set_level(0)
    secret = ["p4ssword", "s1gned", "t0ken"]
    host = server.url.replace("://", "://me:p4ssword@")
    options = {"storage_options": {"headers": {"Authorization": "t0ken"}, "retries": 0, "timeout": 0.5}}
    url = f"{host}/zmumu.root?sign=s1gned"
    file = forthwith.open(url, **options)
    tree = file["events"]
    chain = forthwith.open([f"{url}:events"] * 2, **options)
    index = forthwith.index(url, tmp_path / "a.fwi", **options)
    partitions = engines.plan([f"{url}:events"], ["MET_pt"], step=1000, **options)
    texts, pickled = _shown(file, tree, tree["MET_pt"], tree.select(["MET_pt"]), chain, chain["MET_pt"], *partitions)
    assert len(pickled) > 5
    # The query of a URL is part of its name.
    texts += [text.replace("s1gned", "") for text in pickled]
    texts.append(pathlib.Path(index).read_bytes().decode("latin1"))
    faults = [
        "status=404",
        "status=500",
        "to=ftp://a:p4ssword@b/c?s1gned",
        "circle",
    ]
    for fault in [*faults, "wait=3", "coding=t", "long", "short&nowhere"]:
        for act in (forthwith.open, forthwith.concatenate, lambda url, **how: list(forthwith.iterate(url, **how))):
            with pytest.raises(forthwith.ForthwithError) as raised:
                act(f"{url}&{fault}:events", **options).arrays()
            texts += _told(raised.value)
    for bad in (
        lambda: forthwith.open([f"{url}:absent"], **options).arrays(),
        lambda: forthwith.open([f"{host}/belongings.root?sign=s1gned"], **options).arrays(),
        lambda: forthwith.open(f"{host}:1/a.root?sign=s1gned", **options),
        lambda: forthwith.open(url, source="map", **options),
        lambda: forthwith.open(url, storage_options={"headers": {"X": "t0ken\n"}}),
        lambda: forthwith.open("s3://bucket/a.root", storage_options={"key": "p4ssword", "secret": ["t0ken"]}),
        lambda: forthwith.index(url, **options),
        lambda: forthwith.index(f"{url}:events", tmp_path / "b.fwi", **options),
        lambda: engines.plan([f"{url}:absent"], **options),
        lambda: forthwith.recreate(url, **options),
        lambda: forthwith.merge([url, f"{url}&status=404"], tmp_path / "c.root", **options),
    ):
        with pytest.raises((ValueError, OSError, TypeError, KeyError, NotImplementedError)) as raised:
            bad()
        texts += _told(raised.value)
    texts += [caplog.text, *capfd.readouterr()]
    for text in texts:
        assert not any(word in text for word in secret), text


def test_headers_are_not_told_to_another_server(server, expected):
    with serving({"/zmumu.root": server.files["/zmumu.root"]}) as other:
        options = {"headers": {"X-Token": "s3cret"}}
        opened = forthwith.open(f"{server.url}/x?to={other.url}/zmumu.root", storage_options=options)
        assert ak.array_equal(opened["events"].arrays(), expected)
        assert other.requests
        assert not any("s3cret" in str(headers) for _, headers in other.requests)


def test_options_that_no_store_has_are_errors(server):
    for url in (f"{server.url}/zmumu.root", "s3://bucket/a.root", "gs://bucket/a.root", "az://container/a.root"):
        with pytest.raises(forthwith.SourceError, match="no option wrong_name"):
            forthwith.open(url, storage_options={"wrong_name": 1})
    with pytest.raises(ValueError, match="storage_options"):
        forthwith.open(DATA / "zmumu.root", storage_options={})
    with pytest.raises(forthwith.SourceError, match="timeout must be a number of seconds"):
        forthwith.open(f"{server.url}/zmumu.root", storage_options={"timeout": "soon"})
    with pytest.raises(forthwith.DamagedFileError, match="it is empty"):
        forthwith.open(f"{server.url}/empty.root")


def test_folders_of_web_servers_cannot_be_listed(tmp_path):
    text = "folders of web servers cannot be listed: name each file"
    with serving(
        {"/page/": b"<!DOCTYPE html>\n<title>Index of /page</title>\n", "/short/": b"<html></html>"}
    ) as server:
        for name in ("folder/", "folder/*.root:t", "run*/a.root:t"):
            url = f"{server.url}/{name}"
            for act, what in (
                (forthwith.open, url),
                (forthwith.concatenate, url),
                (lambda what: forthwith.merge([what], tmp_path / "a.root"), url.removesuffix(":t")),
            ):
                with pytest.raises(forthwith.MissingFileError, match=text) as raised:
                    act(what)
                assert isinstance(raised.value, FileNotFoundError)
            command = [sys.executable, "-W", "ignore", "-m", "forthwith", "ls", url]
            run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            assert (run.returncode, text in run.stderr) == (3, True), run.stderr
        for name in ("page/", "short/"):
            with pytest.raises(forthwith.DamagedFileError, match=f"a web page .{text}"):
                forthwith.open(f"{server.url}/{name}")
        with pytest.raises(forthwith.MissingFileError, match=r"not found$"):
            forthwith.open(f"{server.url}/absent.root")


@pytest.mark.parametrize("act", [forthwith.open, lambda url, **how: forthwith.open(url.replace("a.", "*."), **how)])
def test_a_store_without_credentials_hints_at_anonymous_access(act, monkeypatch):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    with serving({"/b/a.root": (DATA / "zmumu.root").read_bytes()}) as server:
        options = {"endpoint_url": server.url, "metadata_endpoint": server.url, "retries": 0, "timeout": 1}
        with pytest.raises(forthwith.SourceError, match=r"no credentials: .*anon=true if everyone may read"):
            act("s3://b/a.root", storage_options=options)


def test_a_list_of_urls_is_a_chain(server, expected):
    chain = forthwith.open([f"{server.url}/zmumu.root:events"] * 3)
    assert ak.array_equal(chain.arrays(), ak.concatenate([expected] * 3))


def test_other_schemes_are_opened_by_fsspec(expected):
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/folder/zmumu.root", (DATA / "zmumu.root").read_bytes())
    with forthwith.open("memory://folder/zmumu.root:events") as opened:
        assert ak.array_equal(opened.arrays(), expected)
    # No slash follows the host.
    fsspec.filesystem("memory").pipe("/zmumu.root", (DATA / "zmumu.root").read_bytes())
    for name in ("memory://zmumu.root:events", "memory://zmumu.root:/events", {"memory://zmumu.root": "events"}):
        with forthwith.open(name) as opened:
            assert opened.num_entries == 3600
    assert forthwith.concatenate("memory://z*.root:events").fields == expected.fields
    with pytest.raises(forthwith.UnsupportedError, match="fsspec cannot open"):
        forthwith.open("nowhere://folder/zmumu.root")


def test_patterns_of_other_schemes_are_listed_by_fsspec(expected):
    fsspec = pytest.importorskip("fsspec")
    for name in ("b", "a"):
        fsspec.filesystem("memory").pipe(f"/several/{name}.root", (DATA / "zmumu.root").read_bytes())
    chain = forthwith.open("memory://several/?.root:events")
    assert [file.rsplit("/", 1)[1] for file in chain.files] == ["a.root:events", "b.root:events"]
    assert chain.num_entries == 7200
    with pytest.raises(forthwith.MissingFileError, match="no file matches"):
        forthwith.open("memory://several/x*.root:events")
    assert not forthwith._stores.is_pattern("simplecache::https://host/a.root?token=b*")


def test_an_answer_of_several_ranges_that_is_garbled_is_an_error(server):
    url = f"{server.url}/many.parquet?garbled"
    opened = forthwith.open(url, storage_options={"retries": 0})
    try:
        columns = opened.arrays(["a", "c"], entry_start=150_000, entry_stop=150_010)
    except forthwith.SourceError as error:
        assert "several ranges is damaged" in str(error)  # noqa: PT017 (an answer of one range is right)
    else:
        asked = [headers["Range"] for path, headers in server.requests if path == "/many.parquet?garbled"]
        assert asked
        assert not any("," in ranges for ranges in asked)
        assert len(columns) == 10


_MANY = """
import os, resource, sys, time
import forthwith

def left():
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

def rounds(number, faults=("", "breaks=1", "status=404", "changes=1", "leaves", "to=/zmumu.root", "short", "long")):
    for at in range(number):
        try:
            url = f"{sys.argv[1]}/zmumu.root?{faults[at % len(faults)]}"
            with forthwith.open(url, storage_options={"retries": 0}) as opened:
                opened["events/nMuon"].array(library="np")
        except forthwith.ForthwithError:
            pass

rounds(100)
before, peak = left(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rounds(1000)
# Connections that the server closed are found out when they are used next, or by and by.
deadline = time.monotonic() + 10
while any(now > then for now, then in zip(left(), before)) and time.monotonic() < deadline:
    rounds(1, ("",))
    time.sleep(0.1)
print(*before, *left(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system does not list open files in /proc")
def test_opening_a_thousand_times_leaves_no_thread_no_socket_and_no_memory_behind(server):
    run = subprocess.run(
        [sys.executable, "-c", _MANY, server.url], capture_output=True, text=True, timeout=300, check=False
    )
    files, threads, files_left, threads_left, kilobytes = map(int, run.stdout.split())
    # Idle connections of one server are kept, sixteen at most.
    assert files_left <= files + 4, run.stderr
    assert threads_left <= threads, run.stderr
    assert kilobytes < 50_000, run.stderr


_INTERRUPTED = """
import os, signal, sys, threading, time
import awkward
import forthwith

def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

options = {"storage_options": {"timeout": 60}}
acts = {
    "open": lambda url: forthwith.open(url, **options),
    "arrays": lambda url: forthwith.open(url, **options).arrays(),
    "threads": lambda url: forthwith.open(url, **options).arrays(threads=4),
    "iterate": lambda url: list(forthwith.iterate(url, step_size=100_000, **options)),
    "index": lambda url: forthwith.index(url, "interrupted.fwi", **options),
}
for at in range(4):
    sent = []
    timer = threading.Timer(0.3, interrupt)
    timer.start()
    try:
        acts[sys.argv[2]](f"{sys.argv[1]}&round={at}")
    except KeyboardInterrupt:
        print(time.monotonic() - sent[0])
    timer.join()
print(threading.active_count())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "act"),
    [
        *[("stalls=9", act) for act in ("open", "index")],
        *[("wait=9", act) for act in ("open", "arrays")],
        *[("hangs=2", act) for act in ("arrays", "threads", "iterate")],
    ],
)
def test_control_c_ends_a_wait_within_100_ms(server, tmp_path, query, act):
    run = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED, f"{server.url}/many.parquet?{query}", act],
        capture_output=True,
        cwd=tmp_path,
        text=True,
        timeout=60,
        check=False,
    )
    *waits, threads = map(float, run.stdout.split())
    # All of four end soon; on a busy machine not each in time.
    assert len(waits) == 4, run.stderr
    assert min(waits) < 0.1, waits
    assert max(waits) < 1, waits
    assert threads == 1
    assert not os.listdir(tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_connections_of_its_own(server, expected):
    opened = forthwith.open(f"{server.url}/many.parquet")
    assert len(opened["a"].array(entry_stop=10)) == 10
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if len(opened["b"].array()) == 400_000 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(opened["c"].array()) == 400_000


def test_files_of_one_server_share_its_connections(tmp_path):
    connections = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self):
            connections.append(self.client_address)
            super().setup()

        def log_message(self, *_):
            pass

    for number in range(10):
        shutil.copy(DATA / "zmumu.root", tmp_path / f"{number}.root")
    handler = functools.partial(Handler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        urls = [f"http://127.0.0.1:{server.server_port}/{number}.root:events" for number in range(10)]
        assert sum(len(forthwith.open(url)["MET_pt"].array()) for url in urls) == 36_000
        server.shutdown()
    assert len(connections) < 6
