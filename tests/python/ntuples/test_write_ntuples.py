"""What may be chosen of RNTuples that are written, and what goes wrong on the way.

Values of random types are in ``test_random_ntuples_written.py``.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

import pytest
from conftest import data
from root_judge import by_root

import forthwith

ak = pytest.importorskip("awkward")
np = pytest.importorskip("numpy")

COLUMNS = {"x": "f4", "hits": "var * int64", "s": "string"}
STEP = {"x": [1.5, 2.5], "hits": [[1, 2, 3], []], "s": ["a", "b"]}


def read(path, name="n"):
    """All entries as Python's values, with the file checked."""
    command = [sys.executable, "-W", "ignore", "-m", "forthwith", "check", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    with forthwith.open(path) as file:
        return file[name].arrays().to_list()


def test_floats_take_the_bits_that_are_asked_for(tmp_path):
    path = tmp_path / "n.root"
    numbers = np.linspace(-1, 1, 1000)
    fields = {
        "whole": {"floats": "whole", "description": "all bits"},
        "single": {"floats": "single", "compression": None},
        "half": {"floats": "half"},
        "truncated": {"floats": ("truncated", 12)},
        "quantised": {"floats": ("quantised", 8, -1, 1)},
    }
    with forthwith.recreate(path) as file:
        columns = dict.fromkeys(fields, numbers) | {"same": numbers * 0}
        file.mkrntuple("n", columns, fields=fields | {"same": {"compression": "lz4"}}, compression=None)
    with forthwith.open(path) as file:
        found = file["n"].arrays()
        for name, off in [("whole", 0), ("single", 1e-7), ("half", 5e-4), ("truncated", 0.13), ("quantised", 4e-3)]:
            assert found[name].type.content.primitive == "float64"
            assert np.abs(found[name].to_numpy() - numbers).max() <= off, name
        assert np.abs(found["quantised"].to_numpy() - numbers).max() > 1e-3
        size = {name: file["n"][name].compressed_bytes for name in columns}
    # With the checksum of a page.
    assert size["whole"] == 8008
    assert size["single"] == 4008
    assert size["half"] == 2008
    assert size["same"] < 100
    assert size["truncated"] == 1508
    assert size["quantised"] == 1008


def test_missing_values_are_filled_in(tmp_path):
    path = tmp_path / "n.root"
    array = {"x": ak.Array([1, None]), "y": ak.Array([None, [1.5]]), "s": ak.Array(["a", None])}
    with forthwith.recreate(path) as file:
        file.mkrntuple("n", array, nulls=-1)
        file.mkrntuple("some", array, fields={"x": {"nulls": 7}})
        with pytest.raises(forthwith.UnsupportedError, match="-1 in place of missing values of type bool"):
            file.mkrntuple("truths", {"b": ak.Array([True, None])}, nulls=-1)
    assert read(path) == [{"x": 1, "y": [], "s": "a"}, {"x": -1, "y": [1.5], "s": ""}]
    assert read(path, "some") == [{"x": 1, "y": None, "s": "a"}, {"x": 7, "y": [1.5], "s": None}]


def test_pages_and_clusters_are_as_long_as_is_asked_for(tmp_path):
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        numbers = np.arange(10_000, dtype="i4")
        file.mkrntuple("n", {"x": numbers}, page_size=400)
        file.mkrntuple("entries", {"x": numbers}, cluster_entries=3000, threads=2)
        file.mkrntuple("bytes", {"x": numbers}, cluster_size=10_000, compression=None)
    with forthwith.open(path) as file:
        counts = {name: file[name]["x"].num_baskets for name in ("n", "entries", "bytes")}
    assert counts == {"n": 100, "entries": 4, "bytes": 4}


def test_fields_that_come_late(tmp_path):
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        ntuple = file.mkrntuple("n", {"x": "f4"}, projections={"again": "x"})
        ntuple.extend({"x": [1]})
        ntuple.add_fields({"y": "f8", "z": "3 * ?int32"}, fields={"y": {"floats": "half"}})
        with pytest.raises(forthwith.ForthwithError, match="columns x for a table with x, y, z"):
            ntuple.extend({"x": [1]})
        three = ak.values_astype(ak.to_regular(ak.Array([[1, 2, None]])), "int32")
        ntuple.extend({"x": [2], "y": [0.5], "z": three})
        ntuple.add_fields({"t": "string"})
        with pytest.raises(forthwith.ForthwithError, match='there is a field "t" already'):
            ntuple.add_fields({"t": "f4"})
        with pytest.raises(forthwith.RequestError, match="by their types"):
            ntuple.add_fields({"u": [1, 2]})
    assert read(path) == [
        {"x": 1.0, "again": 1.0, "y": 0.0, "z": [None] * 3, "t": ""},
        {"x": 2.0, "again": 2.0, "y": 0.5, "z": [1, 2, None], "t": ""},
    ]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"fields": {"y": {}}}, 'there is no field "y"'),
        ({"fields": {"x": {"bits": 3}}}, "no option 'bits': there are description"),
        ({"fields": {"x": {"floats": "third"}}}, "floats are 'whole'"),
        ({"fields": {"x": {"floats": ("truncated", 40)}}}, "40 bits of truncated floats"),
        ({"fields": {"s": {"floats": "half"}}}, "has no floating-point numbers"),
        ({"fields": {"x": {"compression": "brotli"}}}, "compression must be"),
        ({"fields": {"x": {"nulls": "none"}}}, "filled in by a number"),
        ({"projections": {"pt": "jets.pt"}}, 'no field "jets.pt" for the projection "pt" to show'),
        ({"page_size": 1}, "page_size is at least 64"),
        ({"cluster_size": "large"}, "cluster_size is a number"),
        ({"threads": 0}, "threads is at least 1"),
    ],
)
def test_choices_that_cannot_be_are_refused(tmp_path, options, what):
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        with pytest.raises(forthwith.ForthwithError, match=what):
            file.mkrntuple("n", COLUMNS, **options)
        # The name is free, and the file sound.
        file.mkrntuple("n", COLUMNS).extend(STEP)
    assert len(read(path)) == 2


def test_empty_steps_and_no_entries(tmp_path):
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        file.mkrntuple("none", COLUMNS)
        ntuple = file.mkrntuple("n", COLUMNS)
        for step in (0, 1, 0, 2, 0):
            ntuple.extend({name: ak.Array(values)[:step] for name, values in STEP.items()})
        assert ntuple.num_entries == 3
    assert read(path, "none") == []
    assert [entry["s"] for entry in read(path)] == ["a", "a", "b"]


def test_steps_of_other_types_are_refused_and_nothing_is_lost(tmp_path):
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        ntuple = file.mkrntuple("n", COLUMNS)
        ntuple.extend(STEP)
        for wrong, what in [
            ({**STEP, "hits": [1, 2]}, "an array of int64, where var \\* int64 was announced"),
            ({**STEP, "s": [1, 2]}, "an array of int64, where string was announced"),
            ({"x": [1.0], "hits": [[1]]}, "columns x, hits for a table with x, hits, s"),
            ({**STEP, "x": [1.0]}, "lengths"),
        ]:
            with pytest.raises((forthwith.ForthwithError, ValueError), match=what):
                ntuple.extend(wrong)
        ntuple.extend(STEP)
    assert len(read(path)) == 4


def test_names_that_fields_cannot_have(tmp_path):
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        file.mkrntuple("n", {"a.b": [1], "a_b": [2], "c d": [3], "": [4], ":x": [5], "é": [6]})
    assert list(read(path)[0].values()) == [1, 2, 3, 4, 5, 6]
    with forthwith.open(path) as file:
        assert file["n"].keys() == ["a_b_2", "a_b", "c_d", "_", "_:x", "é"]


def test_long_texts(tmp_path):
    path = tmp_path / "n.root"
    long = "text " * 1_000_000
    with forthwith.recreate(path) as file:
        ntuple = file.mkrntuple("n", {"s": "string", "t": "?string"}, cluster_size=100_000)
        for _ in range(3):
            ntuple.extend({"s": [long, ""], "t": ak.Array([None, long])})
    assert read(path) == [{"s": long, "t": None}, {"s": "", "t": long}] * 3


def test_more_entries_of_ntuples_that_root_wrote(tmp_path):
    refused = {}
    for source in sorted(pathlib.Path(data("rntuple")).glob("*.root")):
        path = tmp_path / source.name
        shutil.copyfile(source, path)
        with forthwith.open(path) as file:
            names = [name for name, kind in file.classnames(cycle=False).items() if kind == "ROOT::RNTuple"]
        for name in names:
            with forthwith.open(path) as file:
                before = file[name].arrays()
            before_bytes = path.read_bytes()
            try:
                with forthwith.update(path) as file:
                    ntuple = file[name]
                    assert ntuple.num_entries == len(before)
                    ntuple.extend(before[:0])
                    ntuple.extend(before[:2])
                    ntuple.extend(before[2:])
                    ntuple.add_fields({"added": "f4"})
                    added = np.ones(len(before), "f4")
                    ntuple.extend({field: before[field] for field in before.fields} | {"added": added})
            except forthwith.ForthwithError as error:
                assert path.read_bytes() == before_bytes
                refused[source.stem.partition("-")[0]] = str(error).partition("\n")[0]
                continue
            whole = before.to_list()
            ones = [{**entry, "added": float(k > 1)} for k in range(3) for entry in whole]
            assert read(path, name) == ones, (source, name)
    assert set(refused) == {"continued", "kinds", "never", "projected", "representations", "streamed"}
    assert "records have at most 128" in refused["continued"]
    assert "a column of type Switch" in refused["kinds"]
    assert "for a table with" in refused["projected"]
    assert "several representations (real)" in refused["representations"]
    assert "objects in a stream (kept)" in refused["streamed"]
    assert "objects in a stream (list)" in refused["never"]


def test_an_ntuple_that_is_opened_again(tmp_path):
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        ntuple = file.mkrntuple("d/n", {"x": "f4", "q": "f8"}, fields={"q": {"floats": ("quantised", 8, 0, 255)}})
        ntuple.extend({"x": [1], "q": [7]})
        file["d/note"] = "text"
    before = path.read_bytes()
    file = forthwith.update(path)
    file["d/n"].extend({"x": [2], "q": [8]})
    file.abandon()
    assert path.read_bytes() == before
    with forthwith.update(path, compression="lz4") as file:
        file["d/n"].extend({"x": [2], "q": [8.4]})
    with forthwith.update(path) as file:
        ntuple = file["d"]["n"]
        assert ntuple is file["d/n"]
        ntuple.extend({"x": [3], "q": [8.6]})
    with forthwith.update(path) as file:
        # Nothing is added.
        assert file["d/n"].num_entries == 3
    with pytest.raises(forthwith.ForthwithError, match="outside the range 0 to 255"), forthwith.update(path) as file:
        file["d/n"].extend({"x": [1], "q": [256]})
    with forthwith.open(path) as file:
        assert sorted(file["d"].keys()) == ["n;3", "note;1"]
    assert read(path, "d/n") == [{"x": 1, "q": 7}, {"x": 2, "q": 8}, {"x": 3, "q": 9}]


def test_two_by_turns_in_threads(tmp_path):
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        tables = [file.mkrntuple(f"n{k}", {"x": "i8"}, cluster_entries=7, threads=1 + k) for k in range(3)]

        def fill(table, by):
            for step in range(50):
                table.extend({"x": np.arange(step) * by})

        threads = [threading.Thread(target=fill, args=(table, k)) for k, table in enumerate(tables)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for k in range(3):
        assert [entry["x"] for entry in read(path, f"n{k}")] == [at * k for step in range(50) for at in range(step)]


def test_used_after_the_end(tmp_path):
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        ntuple = file.mkrntuple("n", COLUMNS)
    for use in (
        lambda: ntuple.extend(STEP),
        lambda: ntuple.add_fields({"y": "f4"}),
        lambda: file.mkrntuple("m", COLUMNS),
    ):
        with pytest.raises(ValueError, match="closed"):
            use()
    assert read(path) == []


class Failing:
    """A file object that takes some bytes, and then no more."""

    def __init__(self, room):
        self.room = room

    def write(self, data):
        self.room -= len(data)
        if self.room < 0:
            raise OSError(28, "no space")
        return len(data)


def test_an_object_that_fails():
    with pytest.raises(OSError, match="no space"), forthwith.recreate(Failing(100)) as file:
        file.mkrntuple("n", {"x": np.arange(10_000)})


@pytest.mark.skipif(sys.platform != "linux", reason="limits of files")
def test_a_disk_that_is_full(tmp_path):
    script = """
import resource, signal, sys
import numpy as np, forthwith
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    with forthwith.recreate(sys.argv[1]) as file:
        ntuple = file.mkrntuple("n", {"x": "i8"}, cluster_size=50_000, compression=None)
        for _ in range(100):
            ntuple.extend({"x": np.arange(1000)})
except OSError as error:
    assert "too large" in str(error).lower(), error
    try:
        ntuple.extend({"x": np.arange(1000)})
    except ValueError as error:
        assert "closed" in str(error), error
        sys.exit(7)
"""
    path = tmp_path / "n.root"
    path.write_bytes(b"what was there")
    command = [sys.executable, "-W", "ignore", "-c", script, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 7, done.stderr
    assert path.read_bytes() == b"what was there"
    assert os.listdir(tmp_path) == ["n.root"]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_process_that_is_killed_while_it_extends(tmp_path):
    script = """
import sys
import numpy as np, forthwith
file = forthwith.update(sys.argv[1])
ntuple = file["n"]
while True:
    ntuple.extend({"x": np.arange(10_000)})
    print(flush=True)
"""
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        file.mkrntuple("n", {"x": np.arange(3)}, cluster_size=50_000, compression=None)
    command = [sys.executable, "-W", "ignore", "-c", script, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        for _ in range(5):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    assert [entry["x"] for entry in read(path)] == [0, 1, 2]
    with forthwith.update(path) as file:
        file["n"].extend({"x": [3]})
    assert [entry["x"] for entry in read(path)] == [0, 1, 2, 3]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_process_that_is_killed(tmp_path):
    script = """
import sys
import numpy as np, forthwith
file = forthwith.recreate(sys.argv[1])
ntuple = file.mkrntuple("n", {"x": "i8"}, cluster_size=50_000, compression=None)
while True:
    ntuple.extend({"x": np.arange(10_000)})
    print(flush=True)
"""
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        file.mkrntuple("n", STEP)
    command = [sys.executable, "-W", "ignore", "-c", script, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        for _ in range(5):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    assert [entry["s"] for entry in read(path)] == ["a", "b"]


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_files_do_not_depend_on_the_number_of_threads(tmp_path, monkeypatch, codec):
    """With pages that are records of their own, small ones, and several clusters."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    random = np.random.default_rng(1)
    lists = ak.unflatten(random.standard_normal(300_000), np.full(60_000, 5))
    step = {"x": random.integers(0, 99, 60_000), "few": np.zeros(60_000, "u1"), "lists": lists}
    files = []
    for threads in (None, 1, 2, 3):
        path = tmp_path / "n.root"
        with forthwith.recreate(path, compression=codec) as file:
            options = {} if threads is None else {"threads": threads}
            ntuple = file.mkrntuple(
                "n", {"x": "i4", "few": "u1", "lists": "var * float64"}, cluster_entries=130_000, **options
            )
            for _ in range(5):
                ntuple.extend(step)
        files.append(path.read_bytes())
        path.unlink()
    assert len(files[0]) > 1 << 20
    assert [file == files[0] for file in files] == [True] * 4


def compressions(path, name="n"):
    """ROOT's setting of each cluster's columns."""
    with forthwith.open(path) as file:
        groups = file[name].descriptor()["groups"]
    return [column["compression"] for group in groups for cluster in group["clusters"] for column in cluster["columns"]]


def test_ntuples_have_the_codec_of_their_file_if_it_was_said_and_else_that_of_root(tmp_path):
    """C++ ROOT compresses RNTuples by zstd and other objects of its files by zlib, if nothing is said."""
    path = tmp_path / "out.root"
    said = {"default": 505, "lz4": 404, "zlib": 101, None: 0, forthwith.ZSTD(9): 509}
    for compression, setting in said.items():
        with forthwith.recreate(path, compression=compression) as file:
            file.mkrntuple("n", {"x": np.arange(1000)})
            file.mkrntuple("own", {"x": np.arange(1000)}, compression="lz4")
            file.mktree("t", {"x": np.arange(1000)})
        assert (compressions(path), compressions(path, "own")) == ([setting], [404])
        # What is added is compressed as what is there, unless it is said.
        with forthwith.update(path) as file:
            file["n"].extend({"x": np.arange(1000)})
            file.mkrntuple("more", {"x": np.arange(1000)})
        added = 505 if compression == "zlib" else setting
        assert (compressions(path), compressions(path, "more")) == ([setting, added], [added])
        with forthwith.update(path, compression="zstd:2") as file:
            file["n"].extend({"x": np.arange(1000)})
        assert compressions(path) == [setting, added, 502]
        with forthwith.open(path) as file:
            assert ak.to_list(file["n"]["x"].array()) == [*range(1000)] * 3
    script = """
ROOT.gInterpreter.Declare("#include <ROOT/RNTupleReader.hxx>")
print(json.dumps(ROOT.RNTupleReader.Open("n", sys.argv[1]).GetNEntries()))
"""
    assert by_root(script, path) == 3000
