"""What is given to trees and RNTuples that are written: values that fit are taken, others refused, never changed."""

import gc
import threading
import warnings

import awkward as ak
import numpy as np
import pyarrow as pa
import pytest

import forthwith
from forthwith._given import given as taken_as
from forthwith._given import packed

MASKED = np.ma.array([1, 2, 3], mask=[False, True, False])


def written(path, make, types, *steps, **options):
    """The columns as they are read back, and the branches that count left out."""
    with forthwith.recreate(path) as file:
        table = getattr(file, make)("t", types, **options)
        for step in steps:
            table.extend(step)
    with forthwith.open(path) as file:
        table = file["t"]
        return {name: table[name].array().to_list() for name in table if not name.startswith("n")}


@pytest.fixture(params=["mktree", "mkrntuple"])
def make(request):
    return request.param


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("i4", np.array([1, 2**40])),
        ("i4", [-(2**31) - 1]),
        ("u4", [1, -1]),
        ("i8", np.array([2**64 - 1], "u8")),
        ("i1", [128]),
        ("u1", [256]),
        ("f4", np.array([0.5, 1e300])),
        ("i4", [1.5]),
        ("i4", [np.nan]),
        ("bool", [2]),
        ("f8", [1j]),
        ("i8", np.array(["2020-01-01"], "M8[s]")),
        ("i8", MASKED),
        ("i8", [1, None]),
        ("i8", 1),
    ],
)
def test_numbers_that_do_not_fit_are_refused(tmp_path, make, dtype, values):
    with pytest.raises(forthwith.ForthwithError, match="x"):
        written(tmp_path / "x.root", make, {"x": dtype}, {"x": values})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("i4", np.array([1, -(2**31)])),
        ("u4", [1, 2**32 - 1]),
        ("u8", [2**64 - 1]),
        ("f4", [np.inf, -np.inf, 0.5]),
        ("f8", [1, 2]),
        ("i8", np.arange(20)[::-3]),
        ("i8", np.arange(5, dtype=">i2")),
        ("i8", np.ma.array([1, 2], mask=[False, False])),
        ("i8", []),
        ("bool", [True, False]),
    ],
)
def test_numbers_that_fit_are_taken(tmp_path, make, dtype, values):
    found = written(tmp_path / "x.root", make, {"x": dtype}, {"x": values})
    assert found == {"x": np.asarray(values).tolist()}


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_arrays_of_any_order_in_memory_are_taken(tmp_path, make, dtype, shape):
    """Bytes of either order, steps forwards and backwards, axes turned round, memory that may only be read."""
    native = np.arange(8 * int(np.prod(shape, dtype=int))).reshape(8, *shape).astype(dtype)
    swapped = native.astype(np.dtype(dtype).newbyteorder("S"))
    fixed = swapped.copy()
    fixed.flags.writeable = False
    given = [swapped, fixed, swapped[::-2], np.asfortranarray(swapped), native[::-1]]
    wanted = [value for array in given for value in array.tolist()]
    types = [{"x": (dtype, shape) if shape else dtype}]
    if make == "mktree" and len(shape) == 1:
        types.append({"x": "var * " + np.dtype(dtype).name})
    for columns in types:
        assert written(tmp_path / "x.root", make, columns, *({"x": array} for array in given)) == {"x": wanted}


def test_columns_of_frames_are_taken_if_nothing_is_missing(tmp_path, make):
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    types = {"x": "i4", "l": "var * int64", "s": "string"}
    values = {"x": [1, 2, 3], "l": [[1], [], [2, 3]], "s": ["a", "", "é"]}
    frames = [pl.DataFrame(values), pa.table(values), pa.concat_tables([pa.table(values)] * 2).slice(3)]
    for frame in frames:
        if make == "mktree":
            columns = {**types, "x": "i8"}
            assert written(tmp_path / "x.root", make, columns, frame) == values
        columns = {name: frame[name] for name in values}
        assert written(tmp_path / "x.root", make, types, columns) == values
    for dtype in ("int64", "Int64", "Float64", "int8"):
        frame = pd.DataFrame({"x": pd.array([1, 2], dtype=dtype)}, index=[7, 8])
        kind = "f8" if dtype == "Float64" else "i2"
        assert written(tmp_path / "x.root", make, {"x": kind}, frame) == {"x": [1, 2]}
        for given in (pd.DataFrame({"x": pd.array([1, None], dtype="Int64")}), {"x": pl.Series([1, None])}):
            with pytest.raises(forthwith.ForthwithError):
                written(tmp_path / "y.root", make, {"x": "i8"}, given)


def test_steps_of_trees_may_say_less_or_say_it_otherwise(tmp_path):
    path = tmp_path / "x.root"
    lists = {"x": "var * int64"}
    assert written(path, "mktree", lists, {"x": [[1], [2, 3]]}, {"x": [[]]}, {"x": np.ones((2, 2), "i8")}) == {
        "x": [[1], [2, 3], [], [1, 1], [1, 1]]
    }
    fixed = {"x": ("i8", (2,))}
    assert written(path, "mktree", fixed, {"x": [[1, 2], [3, 4]]}, {"x": np.zeros((0, 2), "i8")}) == {
        "x": [[1, 2], [3, 4]]
    }
    deep = {"x": "var * 2 * var * float64"}
    assert written(path, "mktree", deep, {"x": [[[[1.5], []]], []]}, {"x": []}, {"x": [[]]}) == {
        "x": [[[[1.5], []]], [], []]
    }
    records = {"r": "{a: int64, b: var * float64}"}
    found = written(path, "mktree", records, {"r": ak.Array([{"b": [1.5], "a": 1}])})
    assert found == {"r.a": [1], "r.b": [[1.5]]}
    text = {"s": "string"}
    assert written(path, "mktree", text, {"s": ak.str.to_categorical(ak.Array(["a", "b", "a"]))}) == {
        "s": ["a", "b", "a"]
    }
    filled = written(
        path, "mktree", {"x": "i8", "l": "var * int64"}, {"x": MASKED, "l": [[1, None], None, []]}, nulls=-1
    )
    assert filled == {"x": [1, -1, 3], "l": [[1, -1], [], []]}
    for types, values in (
        (fixed, [[1, 2], [3]]),
        (fixed, [[1, 2, 3]]),
        (lists, [[1.5]]),
        (lists, [1]),
        (records, ak.Array([{"a": 1, "c": [1.5]}])),
        (records, ak.Array([(1, [1.5])])),
        ({"x": "var * int64"}, ak.Array(np.array([["2020-01-01"]], "M8[s]"))),
    ):
        with pytest.raises(forthwith.ForthwithError, match=r"announced|is int64, but the given values are float64"):
            written(path, "mktree", types, {next(iter(types)): values})


@pytest.mark.parametrize("begin", [forthwith.recreate, forthwith.avro.writer, forthwith.parquet.writer])
def test_a_writer_that_is_never_closed_says_so(tmp_path, begin):
    held = [begin(tmp_path / "x")]

    def drop():
        held.clear()
        gc.collect()

    with pytest.warns(RuntimeWarning, match="never closed"):
        drop()
    assert not list(tmp_path.iterdir())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held.append(begin(tmp_path / "x"))
        held[0].abandon()
        drop()


def test_types_of_records_and_schemas_are_columns(tmp_path):
    array = ak.Array([{"id": 1, "jets": [{"pt": 31.5, "tag": None}]}, {"id": 2, "jets": []}])
    schema = pa.schema({"id": pa.int64(), "x": pa.list_(pa.float32())})
    for kind in (array.type, array.type.content, schema):
        with forthwith.recreate(tmp_path / "a.root") as file:
            table = file.mkrntuple("t", kind)
            wanted = array.tolist() if kind is not schema else [{"id": 1, "x": [0.5, 1.5]}, {"id": 2, "x": []}]
            table.extend(ak.Array(wanted) if kind is not schema else pa.Table.from_pylist(wanted, schema))
        assert forthwith.open(f"{tmp_path}/a.root:t").arrays().tolist() == wanted
    for kind in (array.id.type, ak.Array([(1, 2)]).type):
        with (
            forthwith.recreate(tmp_path / "b.root") as file,
            pytest.raises(forthwith.RequestTypeError, match="records"),
        ):
            file.mktree("t", kind)
        (tmp_path / "b.root").unlink()


@pytest.mark.parametrize("kind", ["mktree", "mkrntuple"])
def test_python_values_become_what_was_announced(tmp_path, kind):
    step = {
        "pt": [[1.5], []],
        "n": [[300, -1], []],
        "maybe": [None, 2] if kind == "mkrntuple" else [1, 2],
        "hits": [[{"tag": 3, "e": 1}], []],
        "cov": [[1, 2, 3], [4, 5, 6.5]],
    }
    types = {
        "pt": "var * float32",
        "n": "var * int16",
        "maybe": "?float32",
        "hits": "var * {e: float64, tag: int8}",
        "cov": "3 * float32",
    }
    with forthwith.recreate(tmp_path / "a.root") as file:
        table = getattr(file, kind)("t", types, **({"jagged": "vector"} if kind == "mktree" else {}))
        table.extend(step)
        table.extend(ak.Array([{name: values[1] for name, values in step.items()}]))
        for wrong, said in (
            ({"n": [[40_000], []]}, "int16, which cannot hold 40000"),
            ({"hits": [[{"tag": 300, "e": 1.5}], []]}, "'hits.tag' is int8, which cannot hold 300"),
            ({"n": [[0.5], []]}, "'n' is int16, but the given values are float64"),
            ({"pt": [[1e300], []]}, "too large"),
        ):
            with pytest.raises(forthwith.RequestTypeError, match=said):
                table.extend(step | wrong)
    with forthwith.open(f"{tmp_path}/a.root:t") as read:
        assert read["pt"].array().tolist() == [[1.5], [], []]
        assert read["n"].array().type.content == ak.types.from_datashape("var * int16", highlevel=False)
        assert read["cov"].array().tolist() == [[1, 2, 3], [4, 5, 6.5], [4, 5, 6.5]]
        if kind == "mkrntuple":
            assert read["hits"].array().tolist() == [[{"e": 1, "tag": 3}], [], []]
            assert read["maybe"].array().tolist() == [None, 2, 2]
    if kind == "mkrntuple":
        with forthwith.update(tmp_path / "a.root") as file:
            file["t"].extend(step)
        assert forthwith.open(f"{tmp_path}/a.root:t")["hits"].array().tolist()[3:] == [[{"e": 1, "tag": 3}], []]


@pytest.mark.parametrize("shape", [(8, 2), (8, 2, 3), (8, 1, 2, 3), (0, 2, 3), (3, 0)])
def test_arrays_of_fixed_lengths_are_lists_where_lists_were_announced(tmp_path, make, shape):
    array = np.arange(np.prod(shape), dtype="u4").reshape(shape)
    kind = "var * " * (len(shape) - 1) + "uint32"
    partly = ak.from_regular(ak.from_numpy(array), axis=1)
    for given in (array, array.astype("i8"), ak.from_numpy(array, regulararray=True), partly):
        found = written(tmp_path / "x.root", make, {"x": kind}, {"x": given}, {"x": given[:1]})
        assert found["x"] == array.tolist() + array[:1].tolist()


WRITERS = {
    "tree": lambda path: _Table(path, "mktree", {}),
    "tree, two threads": lambda path: _Table(path, "mktree", {"threads": 2, "compression": "zstd"}),
    "tree of vectors": lambda path: _Table(path, "mktree", {"jagged": "vector", "cluster_entries": 7}),
    "RNTuple": lambda path: _Table(path, "mkrntuple", {"compression": None, "page_size": 256}),
    "RNTuple, two threads": lambda path: _Table(path, "mkrntuple", {"threads": 2, "compression": "lz4"}),
    "Avro": forthwith.avro.writer,
    "Parquet": forthwith.parquet.writer,
}


class _Table:
    """A file with one table, which is begun with its first step."""

    def __init__(self, path, make, options):
        self.file, self.make, self.options, self.table = forthwith.recreate(path, compression=None), make, options, None

    def write(self, array):
        if self.table is None:
            self.table = getattr(self.file, self.make)("t", array, **self.options)
        else:
            self.table.extend(array)

    def close(self):
        self.file.close()

    def abandon(self):
        self.file.abandon()


def _lent(count):
    """An Awkward Array, and the memory that it is in: numbers, lists, lists in lists, texts."""
    numbers, data = np.arange(count, dtype="f8"), np.arange(3 * count, dtype="i4")
    offsets, outer = np.arange(0, 3 * count + 1, 3, dtype="i8"), np.arange(count + 1, dtype="i8")
    letters = np.frombuffer(b"abc" * count, "u1").copy()
    lists = ak.contents.ListOffsetArray(ak.index.Index64(offsets), ak.contents.NumpyArray(data))
    texts = ak.contents.ListOffsetArray(
        ak.index.Index64(offsets),
        ak.contents.NumpyArray(letters, parameters={"__array__": "char"}),
        parameters={"__array__": "string"},
    )
    nested = ak.contents.ListOffsetArray(ak.index.Index64(outer), lists)
    contents = [ak.contents.NumpyArray(numbers), lists, nested, texts]
    array = ak.Array(ak.contents.RecordArray(contents, ["x", "xs", "xss", "text"]))
    return array, [numbers, data, offsets, outer, letters]


@pytest.mark.parametrize("name", WRITERS)
def test_arrays_are_their_owners_again_when_a_step_is_written(tmp_path, name):
    """Their memory is not copied, and nothing of it is read later."""
    path = tmp_path / ("x.root" if name.startswith(("tree", "RNTuple")) else "x")
    writer, wanted = WRITERS[name](path), []
    for count in (5, 1, 900, 20):
        array, memory = _lent(count)
        wanted += array.to_list()
        writer.write(array)
        for part in memory:
            part[:] = 77
    writer.close()
    with forthwith.open(path) as file:
        table = file["t"] if isinstance(writer, _Table) else file
        assert table.arrays(["x", "xs", "xss", "text"]).to_list() == wanted


@pytest.mark.parametrize("name", WRITERS)
def test_arrays_that_change_while_they_are_written(tmp_path, name):
    """What is written is what the arrays once had, or an error says that they changed; the file can be read either way."""
    ends = threading.Event()
    array, memory = _lent(3000)
    copies = [part.copy() for part in memory]
    random = np.random.default_rng(1)

    def change():
        while not ends.is_set():
            for part, copy in zip(memory, copies, strict=True):
                at = random.integers(0, len(part), 20)
                part[at] = random.integers(0, 200, 20)
                part[at] = copy[at]

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for number in range(10):
            path = tmp_path / (f"{number}.root" if name.startswith(("tree", "RNTuple")) else str(number))
            writer = WRITERS[name](path)
            try:
                for _ in range(3):
                    writer.write(array)
                writer.close()
            except (ValueError, forthwith.ForthwithError):
                writer.abandon()
                continue
            with forthwith.open(path) as file:
                table = file["t"] if isinstance(writer, _Table) else file
                assert len(table.arrays(["x", "xs", "xss"])) == 9000
    finally:
        ends.set()
        changing.join()


def test_columns_of_numbers_are_taken_as_awkward_arrays_are(tmp_path, make):
    dtypes = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "longlong", ">i4"]
    columns = {dtype: np.arange(20).astype(dtype)[::-3] for dtype in dtypes}
    numbers = {f"x{at}": column for at, column in enumerate(columns.values())}
    for chosen in (numbers, {"x": columns["u2"]}, {"x": columns["f8"][:0]}, {'a "b" \u03c0': columns["i8"]}):
        native = {name: column.astype(column.dtype.newbyteorder("=")) for name, column in chosen.items()}
        assert taken_as(chosen).types() == taken_as(ak.Array(native)).types()
        if not next(iter(chosen)).startswith("a"):
            found = written(tmp_path / "x.root", make, {name: column.dtype for name, column in native.items()}, chosen)
            assert found == {name: column.tolist() for name, column in chosen.items()}
    with pytest.raises(ValueError, match="columns of different lengths"):
        taken_as({"x": columns["i4"], "y": columns["f8"][:2]})


def test_slices_are_packed_as_awkward_packs_them():
    lists = ak.Array([[1.5, 2], [], [3], [4, 5, 6], [7], []])
    deep = ak.Array([[[1], [2, 3]], [], [[4]], [[], [5, 6]], [[7]], [[8]]])
    records = ak.Array([{"x": at, "y": [at, at], "s": "ab" * at} for at in range(6)])
    regular = ak.from_numpy(np.arange(24).reshape(6, 2, 2), regulararray=True)
    options = ak.Array([[1, None], [None], [2], [], None, [3]])
    mixed = ak.Array([1, "a", [2], None, "b", [3]])
    fields = ak.zip({"a": lists, "b": lists * 2}, depth_limit=2)
    for array in (
        lists,
        deep,
        records,
        regular,
        options,
        mixed,
        fields,
        ak.Array([["a", "bc"], [], ["d"], [], [], []]),
    ):
        assert packed(lists.layout) is lists.layout
        for some in (slice(0, 6), slice(2, 5), slice(1, 1), slice(3, None), slice(None, None, 2)):
            part = array[some]
            found, expected = packed(part.layout), ak.to_packed(part, highlevel=False)
            assert found.form == expected.form
            assert ak.to_list(found) == ak.to_list(part)
            sizes = [sum(one.nbytes for one in ak.to_buffers(layout)[2].values()) for layout in (found, expected)]
            assert sizes[0] == sizes[1]
    # No item is copied.
    part = packed(lists[2:5].layout)
    assert np.shares_memory(part.content.data, lists.layout.content.data)


def test_objects_of_numpy_are_what_they_were_made_of(tmp_path):
    lists = ak.values_astype(ak.Array([[1.5], [], [2, 3]]), "float32")
    columns = {
        "text": ["a", "bé", ""],
        "lists": lists,
        "nested": [[[1], []], [], [[2, 3]]],
        "texts": [["x"], [], ["y", "z"]],
    }
    with forthwith.recreate(tmp_path / "first.root") as file:
        file["t"] = columns
    first = forthwith.open(tmp_path / "first.root")["t"]
    with forthwith.recreate(tmp_path / "second.root") as file:
        file["t"] = {name: first[name].array(library="np") for name in columns}
    second = forthwith.open(tmp_path / "second.root")["t"]
    # The numbers keep their types, and lists their counters.
    assert {name: first[name].typename for name in first} == {name: second[name].typename for name in second}
    assert ak.array_equal(first.arrays(), second.arrays())


@pytest.mark.parametrize(
    "column",
    [np.array([b"ab"], "V2"), np.array([1, object()], dtype=object), np.float64(3)],
    ids=["void", "any", "scalar"],
)
def test_columns_that_are_none_are_called_by_their_names(tmp_path, column):
    with (
        forthwith.recreate(tmp_path / "new.root") as file,
        pytest.raises(forthwith.RequestTypeError, match="column 'odd' cannot be written"),
    ):
        file["t"] = {"even": np.arange(3), "odd": column}
    with (
        forthwith.recreate(tmp_path / "new.root") as file,
        pytest.raises(forthwith.RequestError, match=r"columns of different lengths \(x: 3, y: 4\)"),
    ):
        file["t"] = {"x": np.arange(3), "y": np.arange(4)}


@pytest.mark.parametrize("values", [[[1], [1, 2]], ak.Array([[1], [1, 2]]), ak.Array([None, 1])])
def test_lists_and_missing_values_are_no_numbers(tmp_path, make, values):
    with forthwith.recreate(tmp_path / "a.root") as file:
        table = getattr(file, make)("t", {"x": "i4"})
        with pytest.raises((forthwith.RequestError, forthwith.UnsupportedError), match=r"int32|missing values"):
            table.extend({"x": values})
        table.extend({"x": [1]})


def test_alternatives_stay_what_they_are(tmp_path):
    """Numbers, tuples and lists of an RNTuple's variant are of the given types; records take those of their fields."""
    layout = ak.contents.UnionArray(
        ak.index.Index8([0, 1, 2, 0]),
        ak.index.Index64([0, 0, 0, 1]),
        [
            ak.contents.NumpyArray(np.array([1.5, 2.5])),
            ak.to_layout(ak.zip({"a": np.array([3], "i4")})),
            ak.to_layout(ak.Array([[1, 2]])),
        ],
    )
    values = [1.5, {"a": 3}, [1, 2], 2.5]
    with forthwith.recreate(tmp_path / "a.root") as file:
        file.mkrntuple("t", {"x": ak.Array(layout)}).extend({"x": ak.Array(layout)})
    with forthwith.open(tmp_path / "a.root") as file:
        assert file["t"]["x"].array().to_list() == values * 2


def test_columns_that_a_step_lacks_are_named(tmp_path):
    with forthwith.recreate(tmp_path / "f.root") as file:
        file.mktree("t", {"x": "f8", "y": "f8"})
        file.mkrntuple("n", {"x": "f8", "y": "f8"})
        for table in (file["t"], file["n"]):
            with pytest.raises(forthwith.RequestError, match="columns x for a table with x, y: y missing"):
                table.extend({"x": [1.0]})
            with pytest.raises(forthwith.RequestError, match="y missing; z not in the table"):
                table.extend({"x": [1.0], "z": [1.0]})


def test_classes_of_texts_are_types(tmp_path):
    with forthwith.recreate(tmp_path / "f.root") as file:
        for make in (file.mktree, file.mkrntuple):
            make(make.__name__, {"s": str, "n": int}).extend({"s": ["a", ""], "n": [1, 2]})
    for name in ("mktree", "mkrntuple"):
        with forthwith.open(tmp_path / "f.root") as file:
            assert file[name].arrays().to_list() == [{"s": "a", "n": 1}, {"s": "", "n": 2}]


def test_compressions_and_counters_are_named(tmp_path):
    with pytest.raises(forthwith.RequestError, match=r"zlib, lzma, lz4, zstd and none.*gzip and deflate are zlib"):
        forthwith.recreate(tmp_path / "f.root", compression="gzip")
    with (
        forthwith.recreate(tmp_path / "f.root") as file,
        pytest.raises(forthwith.RequestTypeError, match="or a dict of such names by column"),
    ):
        file.mktree("t", {"x": "var * f8"}, counter=lambda name: f"N{name}")


def test_arrays_of_objects_are_taken_as_lists(tmp_path):
    import decimal

    path = tmp_path / "f.parquet"
    for values in ([1, None, 3], ["a", None, "b"], [decimal.Decimal("1.25"), None, decimal.Decimal("2.50")]):
        forthwith.write_parquet(path, {"x": np.array(values, dtype=object)})
        assert [row["x"] for row in forthwith.open(path).rows()] == values
    with pytest.raises(forthwith.RequestTypeError, match="row 0, column 'x'"):
        forthwith.write_parquet(path, {"x": np.array([2**70, 1], dtype=object)})
    lists = np.array([np.arange(2), np.arange(1)], dtype=object)
    forthwith.write_parquet(path, {"x": lists})
    assert forthwith.open(path).to_list() == [{"x": [0, 1]}, {"x": [0]}]


def test_merge_says_where_cuts_are(tmp_path):
    with pytest.raises(TypeError, match=r"merge.* has no argument 'cut': .*forthwith cp --where"):
        forthwith.merge([], tmp_path / "f.root", cut="x > 1")


@pytest.mark.parametrize("dtype", ["str", "string", object])
def test_missing_texts_of_pandas(tmp_path, dtype):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"s": pd.Series(["a", np.nan, "b"], dtype=dtype)})
    with (
        pytest.raises(forthwith.UnsupportedError, match=r"value 1\): mktree\(.* and empty texts"),
        forthwith.recreate(tmp_path / "f.root") as file,
    ):
        file["t"] = frame
    with forthwith.recreate(tmp_path / "f.root") as file:
        file.mktree("t", {"s": "?string"}, nulls=-1).extend(frame)
        file.mkrntuple("n", {"s": "?string"}).extend(frame)
    with forthwith.open(tmp_path / "f.root") as file:
        assert file["t"]["s"].array().to_list() == ["a", "", "b"]
        assert file["n"]["s"].array().to_list() == ["a", None, "b"]
