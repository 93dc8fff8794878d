"""Files that differ are read in one call for the schemas of all files, in which each run of files fills arrays together."""

import itertools

import numpy as np
import pandas as pd
import pytest

import forthwith
import forthwith.uproot
from forthwith import _forthwith
from forthwith._tree import runs

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
polars = pytest.importorskip("polars")
random_chain_runs = pytest.importorskip("random_chain_runs")


@pytest.fixture
def runs_read(monkeypatch):
    """The first files of the runs that each call reads."""
    answers = []
    real = _forthwith.read_schemas

    def spy(*given, **options):
        found = real(*given, **options)
        answers.append(None if found is None else [run[0] for run in found[0]])
        return found

    monkeypatch.setattr(_forthwith, "read_schemas", spy)
    return answers


def write(folder, number, **columns):
    path = folder / f"{number:02d}.root"
    with forthwith.recreate(path) as file:
        file.mktree("t", columns)
    return f"{path}:t"


@pytest.mark.parametrize("count", [25, pytest.param(150, marks=pytest.mark.slow)])
def test_runs_of_random_files_have_what_each_file_has(count):
    answered = sum(random_chain_runs.compare(11, at) for at in range(count))
    assert answered > count, "too few requests are read by runs"


def test_missing_columns_are_read_in_one_call(tmp_path, runs_read):
    for number in range(20):
        more = {"y": np.full(3, number, "f4")} if number % 3 else {}
        write(tmp_path, number, x=np.arange(3, dtype="i4" if number < 10 else "i8"), **more)
    chain = forthwith.Chain(f"{tmp_path}/*.root:t", missing="null")
    found = chain.arrays()
    assert str(found.type) == "60 * {x: int64, y: ?float32}"
    assert found.y.to_list() == [number if number % 3 else None for number in range(20) for _ in range(3)]
    part = chain.arrays(["y", "x + y"], cut="x > 0", entry_start=4, entry_stop=10)
    assert part.to_list() == [{"y": 1, "x + y": 2}, {"y": 1, "x + y": 3}, {"y": 2, "x + y": 3}, {"y": 2, "x + y": 4}]
    assert runs_read == [[0], [1]]


def test_runs_follow_the_types_of_files(tmp_path, runs_read):
    kinds = ["i4", "i4", "f8", "f8", "f8", "i4"]
    for number, kind in enumerate(kinds):
        more = {"z": np.zeros(2)} if number == 1 else {}
        write(tmp_path, number, x=np.arange(2, dtype=kind), **more)
    # A file without entries has no say in the type.
    write(tmp_path, 6, x=np.arange(0, dtype="u1"))
    names = f"{tmp_path}/*.root:t"
    for library in ("ak", "np", "pd", "pl", "arrow"):
        if library == "pl":
            with pytest.raises(forthwith.RequestError, match="different types"):
                forthwith.concatenate(names, ["x"], library=library)
            continue
        found = forthwith.concatenate(names, ["x"], library=library)
        column = found["x"]
        values = column.to_pylist() if library == "arrow" else list(column)
        assert values == [0, 1] * len(kinds)
    assert runs_read == [[0, 2, 5]] * 5
    # Other columns are an error that names the files.
    with pytest.raises(forthwith.RequestError, match=r"01\.root:t has .z., which .*00\.root:t lacks"):
        forthwith.concatenate(names)
    # A part of the entries is read file by file.
    assert forthwith.concatenate(names, ["x"], entry_start=3, entry_stop=5).x.to_list() == [1, 0]
    assert len(runs_read) == 5


def test_rounded_numbers_name_their_file(tmp_path):
    for number, value in enumerate([1, 2**53, 2**53 + 1]):
        write(tmp_path, number, x=np.array([value]))
    write(tmp_path, 3, x=np.array([0.5]))
    with pytest.raises(forthwith.RequestError, match=r"9007199254740993, which is no float64(.|\n)*02\.root"):
        forthwith.concatenate(f"{tmp_path}/*.root:t")


def test_damage_of_one_file_is_told(tmp_path, runs_read):
    for number in range(4):
        write(tmp_path, number, x=np.arange(2000, dtype="i4" if number < 2 else "i8"))
    content = bytearray((tmp_path / "02.root").read_bytes())
    with forthwith.open(tmp_path / "02.root") as file:
        block = file["t"]._core.plan([0], 0, 2000).blocks()[0]
    at = content.index(b"ZL") if b"ZL" in content else len(content) // 3
    content[at + 20 : at + 20 + block.stored_bytes // 2] = bytes(block.stored_bytes // 2)
    (tmp_path / "02.root").write_bytes(content)
    with pytest.raises(forthwith.ForthwithError, match=r"02\.root"):
        forthwith.concatenate(f"{tmp_path}/*.root:t")
    assert runs.MOST_SCHEMAS >= 2
    assert runs_read in ([], [None])


def test_a_damaged_file_is_not_read_as_one_of_another_schema(tmp_path, runs_read, monkeypatch):
    for number in range(4):
        write(tmp_path, number, x=np.arange(2000))
    content = (tmp_path / "02.root").read_bytes()
    (tmp_path / "02.root").write_bytes(content[: len(content) // 2])
    compared = []
    monkeypatch.setattr(_forthwith, "same_schemas", lambda *given, **_: compared.append(given))
    for concatenate in (forthwith.concatenate, forthwith.uproot.concatenate):
        with pytest.raises(Exception, match=r"02\.root"):
            concatenate(f"{tmp_path}/*.root:t")
    assert (runs_read, compared) == ([], [])


def test_many_schemas_are_read_file_by_file(tmp_path, runs_read):
    count = runs.MOST_SCHEMAS + 3
    for number in range(count):
        write(tmp_path, number, x=np.full(1, number), **{f"y{number}": np.zeros(1)})
    names = f"{tmp_path}/*.root:t"
    assert forthwith.concatenate(names, ["x"]).x.to_list() == list(range(count))
    assert forthwith.uproot.concatenate(names, ["x"]).x.to_list() == list(range(count))
    parts = [(f"{tmp_path}/{number:02d}.root", "t", []) for number in range(count)]
    assert _forthwith.same_schemas(parts) == list(range(count))
    assert _forthwith.same_schemas(parts, count) == list(range(count))
    assert _forthwith.same_schemas(parts, count - 1) is None
    assert runs_read == []


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_files_written_from_other_frames_are_what_each_is(tmp_path, order, monkeypatch):
    """What Arrow and pandas wrote beside the columns of a file is of that file, whichever comes first."""
    texts = pa.array(["a", "b", "a"])
    frames = [
        pa.table({"x": texts, "y": [1, 2, 3]}),
        pa.table({"x": texts.dictionary_encode(), "z": [1, 2, 3]}),
        pa.Table.from_pandas(
            pd.DataFrame({"x": ["a", "b", "a"], "w": [1, 2, 3]}, index=pd.RangeIndex(100, 106, 2, name="n"))
        ),
    ]
    for at, number in enumerate(order):
        pq.write_table(frames[number], tmp_path / f"{at}.parquet")
    names = f"{tmp_path}/*.parquet"
    asked = [{"library": library, "names": ["x"]} for library in ("arrow", "pd", "pl", "ak", "np")]
    asked += [{"library": "arrow", "names": ["x"], "how": how} for how in (dict, tuple)]
    found = [random_chain_runs.outcome(forthwith.Chain(names), ask) for ask in asked]
    monkeypatch.setattr(runs, "arrays", lambda *_: None)
    assert found == [random_chain_runs.outcome(forthwith.Chain(names), ask) for ask in asked]
