"""Parquet files: what pyarrow reads of them."""

import io
import itertools
import math
import pathlib
import pickle
import subprocess
import sys
import textwrap

import goldens
import pytest
from conftest import TESTS

import forthwith

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

DATA = TESTS / "data" / "parquet"
FILES = sorted(path.stem for path in DATA.glob("*.parquet"))


def path(name):
    return str(DATA / f"{name}.parquet")


def plain(value):
    """Values in the same words, whoever read them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    return value


def peer(table):
    """The content of a table by pyarrow, times as numbers."""
    columns = {}
    for name in table.column_names:
        column = table[name]
        if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
            column = column.cast("int32" if pa.types.is_date(column.type) else "int64")
        columns[name] = plain(column.to_pylist())
        if pa.types.is_decimal(column.type):
            columns[name] = [None if value is None else str(value) for value in columns[name]]
    return columns


def ours(tree, **options):
    columns = {}
    for name in tree:
        array = tree[name].array(**options, logical=False)
        logical = tree[name].typename
        columns[name] = plain(
            (goldens.as_meant(array) if "DECIMAL" in logical or "FLOAT16" in logical else array).to_list()
        )
    return columns


@pytest.mark.parametrize("name", FILES)
def test_values(name):
    want = peer(pq.read_table(path(name)))
    tree = forthwith.open(path(name))
    assert tree.num_entries == pq.read_metadata(path(name)).num_rows
    for threads in (1, 3):
        found = ours(tree, threads=threads)
        assert list(found) == list(want)
        for column in want:
            assert found[column] == want[column], column


@pytest.mark.parametrize("name", ["plain", "dictionary", "pages2-delta"])
@pytest.mark.parametrize(
    ("start", "stop"), [(0, 1), (7, 119), (119, 121), (120, 240), (130, 299), (299, 300), (50, 50)]
)
def test_some_entries(name, start, stop):
    want = peer(pq.read_table(path(name)).slice(start, stop - start))
    assert ours(forthwith.open(path(name)), entry_start=start, entry_stop=stop) == want


def test_steps_and_threads_agree():
    tree = forthwith.open(path("plain"))
    steps = [step.to_list() for step in tree.iterate(step_size=37)]
    assert (
        list(itertools.chain.from_iterable(steps))
        == tree.arrays(threads=1).to_list()
        == tree.arrays(threads=4).to_list()
    )


def test_row_groups():
    tree = forthwith.open(path("plain"))
    groups = [(group["number"], group["entry_start"], group["entry_stop"]) for group in tree.row_groups]
    assert groups == [(0, 0, 120), (1, 120, 240), (2, 240, 300)]
    chosen = forthwith.open(path("plain"), row_groups=[2, 0])
    whole = tree["lists"].array().to_list()
    assert chosen["lists"].array().to_list() == whole[240:] + whole[:120]
    assert pickle.loads(pickle.dumps(chosen)).num_entries == 180
    with pytest.raises(forthwith.RequestError, match="row group 3"):
        forthwith.open(path("plain"), row_groups=[3])
    with pytest.raises(ValueError, match="Parquet"):
        forthwith.open(str(DATA.parent / "zmumu.root"), row_groups=[0])


def test_statistics():
    tree = forthwith.open(path("gzip"))
    metadata = pq.read_metadata(path("gzip"))
    chunks = tree.chunks("o_int64")
    assert len(chunks) == 3
    for group, chunk in enumerate(chunks):
        at = [metadata.schema.column(i).path for i in range(metadata.num_columns)].index("o_int64")
        want = metadata.row_group(group).column(at)
        assert (chunk["min"], chunk["max"]) == (want.statistics.min, want.statistics.max)
        assert chunk["null_count"] == want.statistics.null_count
        assert (chunk["codec"], chunk["stored_bytes"]) == ("gzip", want.total_compressed_size)
    assert [c["path"] for c in tree.chunks("record")][:3] == ["record.a", "record.b.c", "record.b.d"]
    assert "ARROW:schema" in tree.file.metadata


def test_statistics_without_signs(tmp_path):
    columns = {f"u{bits}": pa.array([1, 2**bits - 1], getattr(pa, f"uint{bits}")()) for bits in (8, 16, 32, 64)}
    pq.write_table(pa.table({**columns, "i64": pa.array([-1, 5])}), tmp_path / "unsigned.parquet")
    tree = forthwith.open(tmp_path / "unsigned.parquet")
    for bits in (8, 16, 32, 64):
        (chunk,) = tree.chunks(f"u{bits}")
        assert (chunk["min"], chunk["max"]) == (1, 2**bits - 1)
    (chunk,) = tree.chunks("i64")
    assert (chunk["min"], chunk["max"]) == (-1, 5)


def test_arrow_stream():
    tree = forthwith.open(path("dictionary"))
    names = ["int32", "o_string", "decimal64", "half", "date", "nanos", "lists", "records"]
    stream = pa.RecordBatchReader.from_stream(tree.select(names)).read_all()
    want = pq.read_table(path("dictionary"), columns=names)
    for name in names:
        found, expected = stream[name], want[name]
        if name == "nanos":  # more than Python's own times can hold
            found, expected = found.cast("int64"), expected.cast("int64")
        assert found.to_pylist() == expected.to_pylist(), name
    assert stream.schema.field("date").type == pa.date32()
    assert stream.schema.field("half").type == pa.float16()


def test_a_file_object():
    file = io.BytesIO(pathlib.Path(path("pages2")).read_bytes())
    assert forthwith.open(file)["strings"].array().to_list() == pq.read_table(path("pages2"))["strings"].to_pylist()


@pytest.mark.parametrize("name", ["plain", "pages2"])
def test_damage_is_an_error_or_values(name):
    """Every byte of a file can be wrong; lengths and counts are the ones that hurt."""
    whole = pathlib.Path(path(name)).read_bytes()
    errors = []
    for at in [*range(0, len(whole), 997), *range(len(whole) - 60, len(whole))]:
        damaged = bytearray(whole)
        damaged[at] ^= 0x55
        try:
            forthwith.open(io.BytesIO(bytes(damaged))).arrays(threads=1)
        except forthwith.ForthwithError as error:
            errors.append(str(error))
    assert errors
    assert all(errors)
    for length in (0, 4, 11, 12, 1000, len(whole) - 1):
        with pytest.raises(forthwith.ForthwithError):
            forthwith.open(io.BytesIO(whole[:length]))


def test_a_field_of_a_record_by_itself():
    """`a/b` is what `b` of the records in `a` holds, whatever may be missing around it."""
    one, nothing = {"p": 1.5, "q": None}, {"p": None, "q": [None, "t"]}
    rows = [
        {"a": {"b": 1, "c": "x", "d": [1.0], "e": {"f": True}}, "l": [one, None], "m": [("k", {"v": 1})], "n": 1},
        {"a": None, "l": None, "m": None, "n": 2},
        {"a": {"b": None, "c": None, "d": None, "e": None}, "l": [], "m": [], "n": 3},
        {"a": {"b": 4, "c": "", "d": [], "e": None}, "l": [nothing], "m": [("k", None)], "n": 4},
    ]
    for row, value in zip(rows, [None, {"r": [], "s": 2}, {"r": [1, 2], "s": 3}, None], strict=True):
        row["o"] = value
    item = pa.struct([("p", pa.float64()), ("q", pa.list_(pa.string()))])
    record = pa.struct(
        [
            ("b", pa.int32()),
            ("c", pa.string()),
            ("d", pa.list_(pa.float32())),
            ("e", pa.struct([pa.field("f", pa.bool_(), nullable=False)])),
        ]
    )
    always = [pa.field("r", pa.list_(pa.int8()), nullable=False), pa.field("s", pa.int16(), nullable=False)]
    pairs = pa.map_(pa.string(), pa.struct([("v", pa.int8())]))
    types = [("a", record), ("l", pa.list_(item)), ("m", pairs), ("n", pa.int64()), ("o", pa.struct(always))]
    schema = pa.schema(types)
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows * 50, schema=schema), file, row_group_size=33)
    tree = forthwith.open(file)
    assert tree.keys() == ["a", "l", "m", "n", "o"]
    assert tree.arrays().fields == ["a", "l", "m", "n", "o"]

    def inner(value, names):
        for at, name in enumerate(names):
            if isinstance(value, list):
                return [inner(one, names[at:]) for one in value]
            if value is None:
                return None
            value = value[name]
        return value

    for path in ("a/b", "a/c", "a/d", "a/e", "a/e/f", "l/p", "l/q", "o/r", "o/s"):
        first, *names = path.split("/")
        want = [inner(row[first], names) for row in rows] * 50
        assert tree[path].array().to_list() == want, path
        assert tree.arrays([path, "n"])[path].to_list() == want, path
        assert tree.arrays([path], entry_start=31, entry_stop=70, threads=2)[path].to_list() == want[31:70], path
    # Nothing of the others is in the plan.
    plan = tree._core.plan([tree._core.find("a/b")], 0, 200)
    assert plan.stored_bytes < tree._core.plan([tree._core.find("a")], 0, 200).stored_bytes / 3
    with pytest.raises(forthwith.KeyInFileError):
        tree["m/v"]
    with pytest.raises(forthwith.KeyInFileError):
        tree["b"]


def test_text_that_is_none_is_an_error_unless_wanted():
    column = pa.array([[b"a", b"caf\xe9"], None, []], pa.list_(pa.binary())).cast(pa.list_(pa.binary()))
    text = pa.ListArray.from_arrays(
        column.offsets, pa.Array.from_buffers(pa.string(), len(column.values), column.values.buffers())
    )
    file = io.BytesIO()
    pq.write_table(pa.table({"n": [1, 2, 3], "t": text}), file, store_schema=False)
    with pytest.raises(forthwith.DamagedFileError, match=r'text that is not UTF-8: b"caf\\xe9"') as caught:
        forthwith.open(file).arrays()
    assert (caught.value.object, caught.value.entry, caught.value.member) == ("t", 0, "[]")
    assert forthwith.open(file)["n"].array().to_list() == [1, 2, 3]
    raw = forthwith.open(file, check_text=False)["t"].array()
    assert raw[0, 1].encode(errors="surrogateescape") == b"caf\xe9"


@pytest.mark.parametrize("bad", [[b"caf\xe9"], [b"\xc3", b"\xa9"], [b"x" * 30 + b"\xff"]], ids=["latin", "cut", "long"])
@pytest.mark.parametrize("encoding", ["PLAIN", "RLE_DICTIONARY", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
@pytest.mark.parametrize("threads", [1, 2])
def test_text_that_is_none_is_found_in_every_encoding(bad, encoding, threads):
    good = ["a", None, "é", "", "ü" * 20, "plain"] * 200
    values = [None if text is None else text.encode() for text in good]
    values[900 : 900 + len(bad)] = bad
    text = pa.array(values, pa.binary()).view(pa.string())
    use = (
        {"use_dictionary": True}
        if encoding == "RLE_DICTIONARY"
        else {"use_dictionary": False, "column_encoding": {"n": "PLAIN", "t": encoding}}
    )
    for column in (text, pa.array(good)):
        file = io.BytesIO()
        pq.write_table(pa.table({"n": range(1200), "t": column}), file, row_group_size=500, store_schema=False, **use)
        if column is not text:
            assert forthwith.open(file, threads=threads).arrays()["t"].to_list() == good
            assert pa.table(forthwith.open(file, threads=threads))["t"].to_pylist() == good
            continue
        with pytest.raises(forthwith.DamagedFileError, match="text that is not UTF-8") as caught:
            forthwith.open(file, threads=threads).arrays()
        assert (caught.value.object, caught.value.entry) == ("t", 900)
        assert forthwith.open(file, threads=threads)["n"].array().to_list() == list(range(1200))
        raw = forthwith.open(file, threads=threads, text="bytes")["t"].array().to_list()
        assert raw == values


@pytest.mark.slow
@pytest.mark.parametrize("depth", [0, 1])
def test_a_record_of_many_columns_takes_no_more_memory_than_its_columns(tmp_path, depth):
    """Each column is read as a part of the record: parts that all had all names took gigabytes."""
    count = 8000
    record = pa.StructArray.from_arrays(
        [pa.array([n, None], pa.int32()) for n in range(count)], [f"a_long_name_of_a_column_{n}" for n in range(count)]
    )
    if depth:
        record = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), record)
    pq.write_table(pa.table({"r": record}), tmp_path / "wide.parquet")
    code = """
        import resource, sys, warnings
        warnings.simplefilter("ignore")
        import forthwith, pyarrow
        used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        before = used()
        type = forthwith.open(sys.argv[1])["r"].array(library="arrow").type
        print(used() - before, len(type.value_type if hasattr(type, "value_type") else type))
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "wide.parquet")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    kilobytes, fields = map(int, done.stdout.split())
    assert fields == count
    assert kilobytes < 400_000
    row = forthwith.open(tmp_path / "wide.parquet")["r"].array(library="arrow")[1].as_py()
    row = row[0] if depth else row
    assert set(row.values()) == {None}
