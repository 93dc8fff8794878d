"""Arrays whose columns are read when they are first touched."""

import concurrent.futures
import io
import pathlib
import pickle
import shutil

import numpy as np
import pytest
from conftest import data

import forthwith

ak = pytest.importorskip("awkward")

WIDE = [f"c{at}" for at in range(8)]
ENTRIES = 20_000


class Counted(io.BytesIO):
    """A file that counts what is read of it."""

    count = 0

    def read(self, *size):
        found = super().read(*size)
        self.count += len(found)
        return found

    def readinto(self, buffer):
        count = super().readinto(buffer)
        self.count += count
        return count


@pytest.fixture(scope="module", params=["root", "ntuple", "parquet", "avro"])
def written(request, tmp_path_factory):
    """A table of random numbers, which no codec makes smaller, with lists and texts."""
    kind = request.param
    path = tmp_path_factory.mktemp("virtual") / f"a.{'root' if kind == 'ntuple' else kind}"
    generator = np.random.default_rng(7)
    columns = {name: generator.normal(size=ENTRIES) for name in WIDE}
    columns["lists"] = ak.unflatten(np.arange(3 * ENTRIES), np.full(ENTRIES, 3))
    columns["texts"] = ak.Array([f"text {at}" for at in range(ENTRIES)])
    if kind in ("root", "ntuple"):
        with forthwith.recreate(path) as file:
            if kind == "ntuple":
                file["t"] = columns
            else:
                file.mktree("t", {name: ak.type(ak.Array(column)).content for name, column in columns.items()})
                file["t"].extend(columns)
    else:
        _written(path, columns)
    return path


def _written(path, columns):
    write = forthwith.write_parquet if path.suffix == ".parquet" else forthwith.write_avro
    write(path, ak.Array(columns))


def table(opened):
    return opened["t"] if isinstance(opened, forthwith.File) else opened


def test_only_columns_that_are_touched_are_read(written):
    if written.suffix == ".avro":
        pytest.skip("a block of Avro has all columns")
    file = Counted(written.read_bytes())
    with forthwith.open(file) as opened:
        tree = table(opened)
        expected = {name: tree[name].array() for name in ("c3", "lists", "texts")}
        file.count = 0
        virtual = tree.arrays(virtual=True)
        assert len(virtual) == ENTRIES
        assert set(virtual.fields) - {"nlists"} == {*WIDE, "lists", "texts"}, "a tree counts its lists"
        metadata = file.count
        assert metadata < 20_000, metadata
        assert ak.array_equal(virtual.c3, expected["c3"])
        once = file.count
        assert 8 * ENTRIES * 0.8 < once - metadata < 8 * ENTRIES * 1.5, once
        assert ak.sum(virtual.c3) == ak.sum(expected["c3"])
        assert file.count == once, "a column is read once"
        assert ak.array_equal(virtual[5:9].lists, expected["lists"][5:9])
        assert ak.array_equal(virtual.texts, expected["texts"])


def test_values_are_those_of_arrays(written):
    with forthwith.open(written) as opened:
        tree = table(opened)
        for bounds in ((None, None), (3, 17), (-5, None), (7, 7)):
            span = dict(zip(("entry_start", "entry_stop"), bounds, strict=True))
            eager, virtual = tree.arrays(**span), tree.arrays(virtual=True, **span)
            assert virtual.type == eager.type
            assert ak.array_equal(ak.materialize(virtual), eager, dtype_exact=True, check_parameters=True)
        for how in (dict, tuple, list):
            found = tree.arrays(["c0", "lists"], virtual=True, how=how)
            assert type(found) is how
        assert tree["c0"].arrays(virtual=True).c0.tolist() == tree["c0"].array().tolist()


def test_types_are_those_of_arrays_for_nullable_columns_unions_and_dates(tmp_path):
    columns = ak.Array(
        {
            "all": ak.Array([1, 2, 3, 4])[ak.Array([0, 1, None, 3])],
            "none": ak.Array([1, 2, 3, None])[ak.Array([0, 1, 2, 2])],
            "dates": np.array(["2020-01-01", "2021-02-03", "1970-01-01", "1969-12-31"], "datetime64[us]"),
            "records": ak.Array(
                [{"a": 1, "b": [1.5]}, {"a": 2, "b": []}, {"a": 3, "b": [2.5, 3.5]}, {"a": 4, "b": []}]
            ),
            "lists": ak.Array([[None, 1], [], None, [2]]),
        }
    )
    for write, name in ((forthwith.write_parquet, "a.parquet"), (forthwith.write_avro, "a.avro")):
        path = tmp_path / name
        write(path, columns)
        with forthwith.open(path) as table:
            eager, virtual = table.arrays(), table.arrays(virtual=True)
            assert virtual.type == eager.type
            assert virtual.tolist() == eager.tolist() == columns.tolist()


def test_pickles_have_the_values(written):
    with forthwith.open(written) as opened:
        virtual = table(opened).arrays(["c1", "lists"], virtual=True, entry_stop=100)
        eager = table(opened).arrays(["c1", "lists"], entry_stop=100)
        again = pickle.loads(pickle.dumps(virtual))
    assert ak.array_equal(again, eager)


def test_a_closed_file_is_opened_again(written):
    with forthwith.open(written) as opened:
        eager = table(opened).arrays()
        virtual = table(opened).arrays(virtual=True)
    assert ak.array_equal(ak.materialize(virtual), eager)


def test_a_file_that_was_replaced_is_an_error(written, tmp_path):
    copy = tmp_path / written.name
    shutil.copy(written, copy)
    with forthwith.open(copy) as opened:
        virtual = table(opened).arrays(virtual=True)
    if written.suffix == ".root":
        with forthwith.recreate(tmp_path / "other.root") as file:
            file["t"] = {"c0": np.arange(5)}
    else:
        _written(tmp_path / f"other{written.suffix}", {"c0": np.arange(5)})
    pathlib.Path(tmp_path / f"other{written.suffix}").replace(copy)
    with pytest.raises(forthwith.DamagedFileError, match="replaced by another file"):
        ak.materialize(virtual)
    copy.unlink()
    with pytest.raises(FileNotFoundError):
        ak.materialize(virtual)


def test_threads_read_a_column_once(written):
    file = Counted(written.read_bytes())
    with forthwith.open(file) as opened:
        virtual = table(opened).arrays(virtual=True)
        expected = table(opened).arrays()
        file.count = 0
        total = 0
        for _ in range(2):
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                sums = list(pool.map(lambda at: ak.sum(virtual[WIDE[at % 4]]), range(32)))
            assert sums == [ak.sum(expected[WIDE[at % 4]]) for at in range(32)]
            total = total or file.count
        assert file.count == total
    if written.suffix != ".avro":
        assert total < 4 * 8 * ENTRIES * 1.5


def test_damage_is_an_error_when_the_column_is_touched():
    raw = bytearray(pathlib.Path(data("zmumu.root")).read_bytes())
    raw[150_000:150_200] = bytes(200)  # in a basket of Muon_eta
    with forthwith.open(data("zmumu.root")) as file:
        expected = file["events"]["run"].array()
    with forthwith.open(io.BytesIO(raw)) as file:
        virtual = file["events"].arrays(["run", "Muon_eta"], virtual=True)
        assert ak.array_equal(virtual.run, expected)
        for _ in range(2):
            with pytest.raises(forthwith.DamagedFileError, match="Muon_eta"):
                ak.materialize(virtual.Muon_eta)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"library": "np"}, "library='np'"),
        ({"how": "zip"}, "how='zip'"),
        ({"errors": "skip"}, "errors="),
        ({"logical": False}, "logical=False"),
        ({"cut": "run == 1"}, "cut="),
        ({"names": ["run + 1"]}, "expressions"),
        ({"entries": [1, 2]}, "entries="),
    ],
)
def test_wishes_that_depend_on_values_are_refused(tree, options, said):
    with pytest.raises(forthwith.RequestError, match="virtual=True") as caught:
        tree.arrays(virtual=True, **options)
    assert said in str(caught.value)


def test_arrays_of_fixed_size_in_lists(tmp_path):
    path = tmp_path / "n.root"
    values = [[[1.0, 2.0, 3.0]], [], [[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]
    with forthwith.recreate(path) as file:
        file.mkrntuple("n", {"x": "var * 3 * float32", "y": "2 * 2 * int8"}).extend(
            {"x": values, "y": [[[1, 2], [3, 4]]] * 3}
        )
    with forthwith.open(path) as file:
        whole = file["n"].arrays()
        for start, stop in [(0, 3), (1, 2), (2, 3), (0, 0)]:
            array = file["n"].arrays(virtual=True, entry_start=start, entry_stop=stop)
            assert array.type == whole[start:stop].type
            assert array.tolist() == whole[start:stop].tolist()
