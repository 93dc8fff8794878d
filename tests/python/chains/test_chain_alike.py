"""Files with the same branches are read as one: no crossing for each file, and the values of the files one after the other."""

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forthwith
from forthwith import _forthwith


@pytest.fixture
def read_alike(monkeypatch):
    """The answers of the call that reads all files at once."""
    answers = []
    real = _forthwith.read_alike

    def spy(*given, **options):
        found = real(*given, **options)
        answers.append(None if isinstance(found, str) else found)
        return found

    monkeypatch.setattr("forthwith._tree.chain._forthwith.read_alike", spy, raising=False)
    return answers


def write(folder, ending, at, entries):
    random = np.random.default_rng(at)
    counts = random.integers(0, 4, entries)
    columns = {
        "x": random.normal(size=entries),
        "n": random.integers(0, 1000, entries).astype("i4"),
        "l": ak.unflatten(random.normal(size=int(counts.sum())), counts),
        "s": ak.from_arrow(pa.array([f"{at}-{row}" for row in range(entries)], pa.string())),
    }
    path = folder / f"{at:03d}.{ending}"
    if ending == "root":
        with forthwith.recreate(path) as file:
            file.mktree("t", columns)
    elif ending == "rntuple.root":
        with forthwith.recreate(path) as file:
            file.mkrntuple("t", columns)
    elif ending == "avro":
        forthwith.write_avro(path, columns)
    elif ending == "parquet":
        forthwith.write_parquet(path, columns)
    elif ending == "arrow":
        table = ak.to_arrow_table(ak.Array(columns), extensionarray=False)
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


def listed(found, library):
    """The values of all columns as Python has them."""
    if library == "arrow":
        return found.to_pylist()
    if library == "ak":
        assert ak.validity_error(found) == ""
        return found.to_list()
    columns = found if library == "np" else {name: found[name] for name in found.columns}
    of_value = lambda value: value.tolist() if hasattr(value, "tolist") else value  # noqa: E731
    values = {name: [of_value(value) for value in column] for name, column in columns.items()}
    return values if library == "np" else (values, found.index.tolist())


@pytest.mark.parametrize("ending", ["root", "rntuple.root", "avro", "parquet", "arrow"])
def test_files_with_the_same_branches_are_read_at_once(tmp_path, read_alike, ending, monkeypatch):
    sizes = [3, 0, 50, 7, 1, 0, 20]
    for at, entries in enumerate(sizes):
        write(tmp_path, ending, at, entries)
    bounds = [(None, None), (0, 0), (2, 55), (3, 4), (60, 1000), (81, None), (500, None)]
    for library in ("ak", "np", "arrow", "pd"):
        for start, stop in bounds:
            ask = {"library": library, "entry_start": start, "entry_stop": stop, "threads": 2}
            found = forthwith.concatenate(f"{tmp_path}/*.{ending}", **ask)
            # Of no entries, the type is that of the files by themselves.
            assert (read_alike.pop() is None) == (len(found["x"] if library == "np" else found) == 0)
            assert not read_alike
            with monkeypatch.context() as patched:
                patched.setattr("forthwith._tree.runs.arrays", lambda *_: None)
                expected = forthwith.concatenate(f"{tmp_path}/*.{ending}", **ask)
            assert listed(found, library) == listed(expected, library)


@pytest.mark.parametrize("threads", [1, 3])
def test_cuts_and_expressions_of_many_files(tmp_path, read_alike, monkeypatch, threads):
    for at in range(40):
        write(tmp_path, "root", at, at)
    pattern = f"{tmp_path}/*.root:t"
    for names, more in (
        (["x * 2", "s"], {}),
        (["twice", "l"], {"aliases": {"twice": "n * 2"}, "cut": "n % 3 == 0"}),
        (None, {"cut": "sum(l) > 0", "entry_start": 20, "entry_stop": 600}),
        (["n", "Entry$"], {"cut": "Entry$ % 7 == 1"}),
        (["n"], {"cut": "n < 0"}),
    ):
        for library in ("ak", "np", "pd", "arrow"):
            ask = {"library": library, "threads": threads, **more}
            found = forthwith.concatenate(pattern, names, **ask)
            assert read_alike.pop() is not None
            with monkeypatch.context() as patched:
                patched.setattr("forthwith._tree.runs.arrays", lambda *_: None)
                expected = forthwith.concatenate(pattern, names, **ask)
            assert listed(found, library) == listed(expected, library)


def test_some_branches_of_many_files(tmp_path, read_alike):
    paths = [write(tmp_path, "root", at, at) for at in range(70)]
    found = forthwith.concatenate(f"{tmp_path}/*.root:t", ["s", "l"], threads=3)
    assert read_alike.pop() is not None
    expected = ak.concatenate([forthwith.open(f"{path}:t").arrays(["s", "l"]) for path in paths])
    assert found.fields == ["s", "l"]
    assert found.to_list() == expected.to_list()


def test_one_crossing_for_any_number_of_files(tmp_path, read_alike, monkeypatch):
    opened = []
    real = _forthwith.File.open
    monkeypatch.setattr(
        "forthwith._file._forthwith.File",
        type("File", (), {"open": staticmethod(lambda *given, **how: opened.append(given) or real(*given, **how))}),
    )
    for at in range(12):
        write(tmp_path, "root", at, 5)
    assert len(forthwith.concatenate(f"{tmp_path}/*.root:t")) == 60
    assert len(opened) == 1
    assert len(read_alike) == 1


def test_files_that_differ_are_read_one_after_the_other(tmp_path, read_alike):
    pq.write_table(pa.table({"x": pa.array([1, 2], pa.int32()), "y": [1, 2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"y": [3], "x": pa.array([3], pa.int32())}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"x": [0.5], "y": [4]}), tmp_path / "c.parquet")
    found = forthwith.concatenate(f"{tmp_path}/*.parquet", ["x", "y"])
    assert found.to_list() == [{"x": 1, "y": 1}, {"x": 2, "y": 2}, {"x": 3, "y": 3}, {"x": 0.5, "y": 4}]
    assert read_alike == [None]
    pq.write_table(pa.table({"x": [1.5]}), tmp_path / "d.parquet")
    with pytest.raises(forthwith.ForthwithError, match="y"):
        forthwith.concatenate(f"{tmp_path}/*.parquet", ["x", "y"])


def test_the_first_file_need_not_have_what_is_read(tmp_path, monkeypatch):
    (tmp_path / "e.csv").write_text("n\n")
    (tmp_path / "a.csv").write_text("n\n1\n2\n")
    pq.write_table(pa.table({"x": pa.array([], pa.int32())}), tmp_path / "e.parquet")
    pq.write_table(pa.table({"x": pa.array([1, 2], pa.int32()), "y": [3, 4]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": pa.array(["1", "2"])}), tmp_path / "s.parquet")
    for names, more in (
        (["e.csv", "a.csv"], {}),
        (["e.csv", "a.csv"], {"cut": "n > 1"}),
        (["e.csv", "a.csv"], {"names": ["n * 2"]}),
        (["e.parquet", "a.parquet"], {}),
        (["e.parquet", "a.parquet"], {"names": ["y"]}),
        (["e.parquet", "a.parquet"], {"entry_stop": 0}),
        (["s.parquet", "a.parquet"], {"entry_start": 2}),
        (["s.parquet", "a.parquet"], {"names": ["y"], "cut": "x > 1", "entry_start": 2}),
    ):
        files = [tmp_path / name for name in names]
        found = forthwith.concatenate(files, **more)
        with monkeypatch.context() as patched:
            patched.setattr("forthwith._tree.runs.arrays", lambda *_: None)
            expected = forthwith.concatenate(files, **more)
        assert (found.to_list(), found.type) == (expected.to_list(), expected.type)


def test_the_error_is_that_of_the_file_by_itself(tmp_path, read_alike):
    paths = [write(tmp_path, "root", at, 400) for at in range(5)]
    damaged = bytearray(paths[3].read_bytes())
    damaged[len(damaged) // 3] ^= 0xFF
    damaged[len(damaged) // 3 + 40] ^= 0xFF
    paths[3].write_bytes(damaged)
    with pytest.raises(forthwith.ForthwithError) as alone:
        forthwith.open(f"{paths[3]}:t").arrays()
    with pytest.raises(forthwith.ForthwithError) as together:
        forthwith.concatenate(f"{tmp_path}/*.root:t")
    assert (together.value.file, together.value.object) == (alone.value.file, alone.value.object)
    paths[3].unlink()
    paths[3].mkdir()
    with pytest.raises(forthwith.ForthwithError):
        forthwith.concatenate([f"{path}:t" for path in paths])


def test_partitions_and_zones_are_those_of_the_files(tmp_path, read_alike):
    for day, zone in ((1, "Europe/Zurich"), (2, "UTC")):
        (tmp_path / f"day={day}").mkdir()
        times = pa.array([day, day + 1], pa.timestamp("us", zone))
        pq.write_table(pa.table({"t": times}), tmp_path / f"day={day}" / "a.parquet")
    found = forthwith.concatenate(tmp_path, library="arrow")
    assert found.column("day").to_pylist() == [1, 1, 2, 2]
    assert str(found.column("t").type) == "timestamp[us, tz=Europe/Zurich]"
    assert read_alike.pop() is not None
