"""The data in each library."""

import decimal
import io
import json
import math
import pathlib
import sys

import awkward as ak
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import data

import forthwith
from forthwith._interop.awkward import AwkwardLibrary


def test_buffers_are_handed_over_without_a_copy(tree):
    (array,) = tree._core.read(tree._core.plan([tree._core.find("MET_pt")], 0, 3600))
    ((key, buffer),) = array.buffers()
    first, second = np.asarray(buffer), np.asarray(buffer)
    assert first.__array_interface__["data"] == second.__array_interface__["data"]
    assert first.dtype == np.dtype("float32")
    assert first.base is buffer
    assert len(buffer) == len(first) == 3600
    assert buffer.nbytes == first.nbytes
    layout = ak.from_buffers(array.form, len(array), {key: first}, highlevel=False)
    assert np.shares_memory(np.asarray(layout.data), first)
    values = first.copy()
    del array, buffer, second, layout
    assert (first == values).all()


def test_memory_is_kept_by_the_array(path):
    arrays = []
    for _ in range(3):
        with forthwith.open(path) as file:
            arrays.append(file["events"].arrays(["Muon_pt", "event"]))
    assert arrays[0].tolist() == arrays[1].tolist() == arrays[2].tolist()


def test_empty_arrays(tree):
    for library in ("ak", "np", "pd", "arrow"):
        for name in tree:
            assert len(tree[name].array(entry_start=5, entry_stop=5, library=library)) == 0, (library, name)
    assert tree.arrays(entry_stop=0).type.content == tree.arrays(entry_stop=1).type.content


def test_bool(tree):
    assert tree["HLT_IsoMu24"].array().type.content.primitive == "bool"
    assert tree["HLT_IsoMu24"].array(library="np").dtype == np.dtype(bool)
    assert str(tree["Muon_tightId"].array().type) == "3600 * var * bool"
    assert tree["HLT_IsoMu24"].array(library="pd").dtype == np.dtype(bool)
    assert pa.types.is_boolean(tree["HLT_IsoMu24"].array(library="arrow").type)


def test_numpy(tree):
    arrays = tree.arrays(library="np")
    for name, array in arrays.items():
        assert isinstance(array, np.ndarray), name
        assert array.dtype.isnative, name
        assert len(array) == 3600
    assert arrays["PV_xyz"].shape == (3600, 3)
    assert arrays["Muon_pt"].dtype == object
    assert arrays["Muon_pt"][0].dtype == np.dtype("float32")
    assert arrays["Muon_tightId"][0].dtype == np.dtype(bool)
    assert [list(x) for x in arrays["Muon_pt"]] == tree["Muon_pt"].array().tolist()
    assert arrays["dataset"].dtype == object
    assert all(type(text) is str for text in arrays["dataset"])
    assert arrays["dataset"].tolist() == tree["dataset"].array().tolist()
    assert [list(x) for x in arrays["triggers"]] == tree["triggers"].array().tolist()
    hits = tree["Track_hits"].array().tolist()
    assert [[list(inner) for inner in outer] for outer in arrays["Track_hits"]] == hits


def test_numpy_agrees_with_awkward_on_everything_bundled():
    for name in ("leaves.root", "vectors.root", "objects.root", "trees.root"):
        with forthwith.open(data(name)) as file:
            for tree in file.values(filter_classname="TTree"):
                for branch in tree.values():
                    if branch.has_data and branch.interpretation.decoder:
                        assert plain(branch.array(library="np")) == plain(branch.array().tolist()), (name, branch)


def plain(value):
    """Lists, dicts and numbers, with one word for NaN."""
    if isinstance(value, np.void) and value.dtype.names:
        return {name: plain(value[name]) for name in value.dtype.names}
    if isinstance(value, np.ndarray | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    return "nan" if isinstance(value, float) and math.isnan(value) else value


class Counted(np.ndarray):
    """A buffer of the extension, made by hand."""

    @property
    def counts_up(self):
        return np.array_equal(self, np.arange(len(self)))


class Buffers:
    """What an array of the extension looks like, made by hand."""

    def __init__(self, array):
        form, self.length, buffers = ak.to_buffers(array)
        form = form.to_dict()
        self.form = json.dumps(form, separators=(",", ":"))
        self._buffers = [(key.removeprefix("part0-"), value.view(Counted)) for key, value in buffers.items()]

    def __len__(self):
        return self.length

    def logical(self, decimals=True):
        return self

    def numbers(self):
        return None

    def buffers(self):
        return self._buffers


def test_numpy_of_what_trees_do_not_have_yet():
    from forthwith._interop.numpy import convert

    pairs = convert(Buffers(ak.Array([(1, 2.5), (3, 4.5)])))
    assert pairs.tolist() == [(1, 2.5), (3, 4.5)]
    records = convert(Buffers(ak.Array([[{"x": 1, "y": [1.5]}], []])))
    assert records[0]["x"].tolist() == [1]
    assert records[0]["y"][0].tolist() == [1.5]
    assert len(records[1]) == 0
    fixed = convert(Buffers(ak.to_regular(ak.Array([[[1], [2, 3]], [[], [4]]]), axis=1)))
    assert fixed.shape == (2, 2)
    assert fixed[0, 1].tolist() == [2, 3]
    number = ak.Array(ak.to_layout(ak.Array([1, None, 3])).to_IndexedOptionArray64())
    assert convert(Buffers(number)).tolist() == [1, None, 3]
    text = ak.Array(ak.to_layout(ak.Array(["a", None, "b"])).to_IndexedOptionArray64())
    assert convert(Buffers(text)).tolist() == ["a", None, "b"]
    union = convert(Buffers(ak.Array([1, "two", 3])))
    assert union.tolist() == [1, "two", 3]
    assert convert(Buffers(ak.Array([b"ab", b""]))).tolist() == [b"ab", b""]
    assert convert(Buffers(ak.Array([[], []])))[0].tolist() == []


def tables(path):
    """The trees of a file, as far as they can be opened."""
    try:
        file = forthwith.open(path)
        if not isinstance(file, forthwith.File):
            return [file]
        trees = ("TTree", "TNtuple", "TNtupleD")
        return [file[key] for key, kind in file.classnames().items() if kind in trees]
    except forthwith.ForthwithError:
        return []


def nodes(layout):
    """All nodes of a layout."""
    yield layout
    below = [layout.content] if hasattr(layout, "content") else getattr(layout, "contents", ())
    for content in below:
        yield from nodes(content)


def complete(layout):
    """The layout without indexes of options in which nothing is missing: of these the content alone is kept."""
    if hasattr(layout, "contents"):
        return layout.copy(contents=[complete(content) for content in layout.contents])
    if not hasattr(layout, "content"):
        return layout
    content = complete(layout.content)
    is_option = isinstance(layout, ak.contents.IndexedOptionArray) and layout.length > 0
    if is_option and np.array_equal(layout.index.data, np.arange(layout.length)):
        return ak.contents.UnmaskedArray(content[: layout.length], parameters=layout.parameters)
    return layout.copy(content=content)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "classes"),
    [
        ("root", {"RegularArray", "IndexedOptionArray", "UnionArray"}),
        ("avro", {"IndexedOptionArray", "UnionArray", "IndexedArray"}),
        ("parquet", {"IndexedOptionArray", "UnmaskedArray"}),
    ],
)
def test_layouts_are_what_from_buffers_makes(ending, classes):
    found = set()
    for path in sorted(pathlib.Path(data("")).rglob(f"*.{ending}")):
        for tree in tables(path):
            for branch in tree.values():
                if not branch.has_data:
                    continue
                try:
                    (array,) = tree._core.read(tree._core.plan([branch._index], 0, branch.num_entries), 1)
                except forthwith.ForthwithError:
                    continue
                layout = array.layout()
                found.update(type(node).__name__ for node in nodes(layout))
                buffers = {key: np.asarray(buffer) for key, buffer in array.buffers()}
                expected = complete(ak.from_buffers(array.form, len(array), buffers, highlevel=False))
                assert layout.form.to_dict() == expected.form.to_dict(), (path, branch)
                assert ak.array_equal(layout, expected, equal_nan=True), (path, branch)
    assert {"NumpyArray", "ListOffsetArray", "RecordArray"} | classes <= found


def test_names_of_columns_can_be_anything(tree):
    tricky = '"form_key":"'
    core = tree._core
    (array,) = core.read(core.plan([core.find("MET_pt")], 0, 10))
    group = AwkwardLibrary(None).group([(tricky, array), ("é", array)], 0, 10)
    assert group.fields == [tricky, "é"]
    assert group[tricky].tolist() == group["é"].tolist() == tree["MET_pt"].array(entry_start=0, entry_stop=10).tolist()


def test_pandas(tree):
    frame = tree.arrays(["run", "MET_pt", "PV_xyz", "Muon_pt", "dataset", "Track_hits"], library="pd")
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["run", "MET_pt", "PV_xyz", "Muon_pt", "dataset", "Track_hits"]
    assert frame["MET_pt"].dtype == np.dtype("float32")
    assert isinstance(frame["Muon_pt"].dtype, pd.ArrowDtype)
    assert frame["Muon_pt"].to_list() == tree["Muon_pt"].array().to_list()
    assert frame["dataset"].to_list() == tree["dataset"].array().to_list()
    assert frame["Track_hits"].to_list() == tree["Track_hits"].array().to_list()
    assert frame["PV_xyz"].dtype.pyarrow_dtype.list_size == 3
    part = tree.arrays(["run"], library="pd", entry_start=100, entry_stop=110)
    assert part.index.tolist() == list(range(100, 110))
    series = tree["MET_pt"].array(entry_start=100, entry_stop=110, library="pd")
    assert isinstance(series, pd.Series)
    assert series.name == "MET_pt"
    assert series.index.tolist() == list(range(100, 110))
    assert float(frame["MET_pt"].sum()) == pytest.approx(float(np.sum(tree["MET_pt"].array(library="np"))), rel=1e-4)


def test_arrow(tree):
    table = tree.arrays(library="arrow")
    assert isinstance(table, pa.Table)
    assert table.column_names == tree.keys()
    table.validate(full=True)
    for name in tree:
        assert table[name].to_pylist() == tree[name].array().to_list(), name
    column = tree["Muon_pt"].array(library="arrow")
    assert column.type == pa.large_list(pa.field("item", pa.float32(), nullable=False))


@pytest.mark.parametrize(
    ("library", "name"), [("ak", "awkward"), ("np", "numpy"), ("pd", "pandas"), ("arrow", "pyarrow")]
)
def test_missing_packages_are_named(tree, monkeypatch, library, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError) as caught:
        tree.arrays(["run"], library=library)
    assert isinstance(caught.value, forthwith.MissingPackageError)
    assert f"pip install {name}" in str(caught.value)
    assert f"conda install -c conda-forge {name}" in str(caught.value)


@pytest.mark.parametrize("around", ["bare", "list", "record", "optional record"])
def test_unions_with_nulls_are_sound_in_arrow(around):
    fastavro = pytest.importorskip("fastavro")
    either = ["null", "int", "string", {"type": "record", "name": "P", "fields": [{"name": "p", "type": "long"}]}]
    values = [1, None, "a", None, {"p": 5}, 2, None, None, "b", {"p": 6}, 3]
    inner = {"type": "record", "name": "Q", "fields": [{"name": "of", "type": either}]}
    ty, rows = {
        "bare": (either, values),
        "list": ({"type": "array", "items": either}, [values[n : n + n % 4] for n in range(len(values))]),
        "record": (inner, [{"of": value} for value in values]),
        "optional record": (["null", inner], [None if n % 3 == 1 else {"of": v} for n, v in enumerate(values)]),
    }[around]
    file = io.BytesIO()
    schema = {"type": "record", "name": "R", "fields": [{"name": "u", "type": ty}]}
    fastavro.writer(file, schema, [{"u": row} for row in rows])
    tree = forthwith.open(file)
    table = tree.arrays(library="arrow")
    column = tree["u"].array(library="arrow")
    column.validate(full=True)
    series = tree.arrays(library="pd")["u"]
    pa.chunked_array(pa.array(series, type=series.dtype.pyarrow_dtype)).validate(full=True)
    for found in (table, pa.table(tree.select(unions="union"))):
        found.validate(full=True)
        assert found["u"].to_pylist() == rows
        for start in range(len(rows)):
            for length in range(1, len(rows) + 1 - start):
                part, out = found.slice(start, length), io.BytesIO()
                with pa.ipc.new_file(out, part.schema) as writer:
                    writer.write_table(part)
                again = pa.ipc.open_file(out).read_all()
                again.validate(full=True)
                assert again["u"].to_pylist() == rows[start : start + length]


@pytest.mark.parametrize("kind", ["plain", "list", "record"])
def test_decimals_that_polars_has_not_are_named(tmp_path, kind):
    """polars panics when it is given them."""
    parquet, polars = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("polars")
    long, short = decimal.Decimal("1." + "2" * 40), decimal.Decimal("1.5")
    wide = {"plain": pa.decimal256(50, 40), "list": pa.list_(pa.decimal256(50, 40))}
    of = wide.get(kind, pa.struct({"a": pa.decimal256(50, 40), "decimal[99": pa.int32()}))
    value = {"plain": long, "list": [long]}.get(kind, {"a": long, "decimal[99": 1})
    columns = {"d": pa.array([value, None], of), "x": pa.array([short, None], pa.decimal128(38, 2))}
    parquet.write_table(pa.table(columns), tmp_path / "d.parquet")
    with forthwith.open(tmp_path / "d.parquet") as file:
        with pytest.raises(
            forthwith.UnsupportedError, match="d: decimals of 50 digits, of which polars has at most 38"
        ):
            file.arrays(library="pl")
        assert file.arrays(["x"], library="pl")["x"].to_list() == [short, None]
        assert file.arrays(library="pa")["d"].to_pylist() == [value, None]
    with pytest.raises(forthwith.UnsupportedError, match="decimals of 50 digits"):
        forthwith.scan(tmp_path / "d.parquet").collect()
    assert isinstance(forthwith.scan(tmp_path / "d.parquet", ["x"]).collect(), polars.DataFrame)
