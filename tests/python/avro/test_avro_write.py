"""Avro files written, and values without a file: what fastavro reads back, and what it wrote."""

import copy
import datetime
import decimal
import inspect
import io
import json
import math
import os
import uuid

import pytest
from conftest import TESTS

import forthwith
import forthwith.avro
import forthwith.parquet

ak = pytest.importorskip("awkward")
np = pytest.importorskip("numpy")
fastavro = pytest.importorskip("fastavro")

DATA = TESTS / "data" / "avro"
CODECS = ["null", "deflate", "snappy", "zstandard", "bzip2", "xz", "lz4"]

ALL = {
    "type": "record",
    "name": "all",
    "namespace": "a.b",
    "doc": "every type",
    "fields": [
        {"name": "none", "type": "null"},
        {"name": "flag", "type": "boolean"},
        {"name": "small", "type": "int"},
        {"name": "large", "type": "long"},
        {"name": "single", "type": "float"},
        {"name": "double", "type": "double"},
        {"name": "bytes", "type": "bytes"},
        {"name": "text", "type": "string"},
        {"name": "four", "type": {"type": "fixed", "name": "four", "size": 4}},
        {"name": "color", "type": {"type": "enum", "name": "color", "symbols": ["red", "green"]}},
        {"name": "list", "type": {"type": "array", "items": {"type": "array", "items": "int"}}},
        {"name": "map", "type": {"type": "map", "values": "double"}},
        {
            "name": "point",
            "type": {
                "type": "record",
                "name": "point",
                "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": ["string", "null"]}],
            },
        },
        {"name": "again", "type": ["null", "point"]},
        {"name": "many", "type": ["null", "long", "string", {"type": "array", "items": "point"}]},
        {"name": "records", "type": {"type": "array", "items": ["null", "point"]}},
    ],
}


def entry(n):
    point = {"x": n, "y": None if n % 3 else f"p{n}"}
    return {
        "none": None,
        "flag": n % 2 == 0,
        "small": (-1) ** n * (2**31 - 1 - n),
        "large": (-1) ** n * (2**63 - 1 - n),
        "single": n / 2,
        "double": math.pi * n,
        "bytes": bytes(range(n % 5)),
        "text": "é" * (n % 4),
        "four": n.to_bytes(4, "big"),
        "color": ["red", "green"][n % 2],
        "list": [[n] * k for k in range(n % 3)],
        "map": {f"k{k}": k / 2 for k in range(n % 3)},
        "point": point,
        "again": point if n % 2 else None,
        "many": [None, n, f"s{n}", [point] * (n % 3)][n % 4],
        "records": [None if k % 2 else point for k in range(n % 4)],
    }


ENTRIES = [entry(n) for n in range(101)]


def fast_bytes(schema, entries, **options):
    file = io.BytesIO()
    fastavro.writer(file, fastavro.parse_schema(schema), entries, **options)
    return file.getvalue()


def fast_read(data):
    try:
        return list(fastavro.reader(io.BytesIO(data)))
    except ValueError as missing:
        if "need to install" in str(missing):
            pytest.skip(str(missing))
        raise


def header_of(data):
    """The header's content: read by hand, as its schema may be one that is refused elsewhere."""
    map_of = {"type": "map", "values": "bytes"}
    found = fastavro.schemaless_reader(io.BytesIO(data[4:]), map_of, map_of)
    return {"avro.codec": "null", **{key: value.decode() for key, value in found.items()}}


def written(array, **options):
    file = io.BytesIO()
    forthwith.write_avro(file, array, **options)
    return file.getvalue()


def reread(data, **options):
    return forthwith.open(io.BytesIO(data), **options)


@pytest.mark.parametrize("codec", CODECS)
def test_every_type_there_and_back(codec):
    source = fast_bytes(ALL, ENTRIES)
    array = reread(source).arrays()
    data = written(array, schema=ALL, codec=codec, block_entries=17)
    assert fast_read(data) == ENTRIES
    assert reread(data).arrays().to_list() == array.to_list()
    assert header_of(data)["avro.codec"] == codec
    assert json.loads(header_of(data)["avro.schema"]) == ALL


def test_without_a_schema_it_follows_from_the_array():
    array = reread(fast_bytes(ALL, ENTRIES)).arrays()
    data = written(array)
    expected = [{**entry, "four": entry["four"]} for entry in ENTRIES]
    assert fast_read(data) == expected
    assert reread(data).arrays().to_list() == array.to_list()
    schema = forthwith.avro.schema_of(array)
    types = {field["name"]: field["type"] for field in schema["fields"]}
    assert types["large"] == "long"
    assert types["map"] == {"type": "map", "values": "double"}
    assert types["again"] == ["null", "point"], "a type that was defined before goes by its name"


@pytest.mark.parametrize("name", sorted(p.stem for p in DATA.glob("*.avro") if p.stem != "recursive"))
def test_bundled_files_are_written_back(name):
    source = (DATA / f"{name}.avro").read_bytes()
    array = reread(source).arrays()
    schema = json.loads(header_of(source)["avro.schema"])
    values = array if isinstance(schema, dict) and schema["type"] == "record" else array["value"]
    data = written(values, schema=schema, codec=header_of(source)["avro.codec"])
    assert repr(reread(data).arrays().to_list()) == repr(array.to_list())
    if name != "logicals":  # whose schemas are refused there
        assert repr(fast_read(data)) == repr(fast_read(source))


def test_values_that_are_no_records():
    for values in ([1, 2, 3], [[1.5], [], [2.5, 3.5]], ["a", None, "b"], [{"x": 1}, {"x": 2}]):
        data = written(ak.Array(values))
        assert fast_read(data) == values


@pytest.mark.parametrize(
    "values",
    [
        np.arange(5, dtype=np.int8),
        np.arange(5, dtype=np.uint16),
        np.arange(5, dtype=np.uint32),
        np.arange(5, dtype=np.uint64),
        np.array([True, False]),
        np.arange(12, dtype=np.float32).reshape(2, 3, 2),
        np.arange(0),
    ],
)
def test_numpy(values):
    assert fast_read(written({"x": values})) == [{"x": value} for value in values.tolist()]


def test_kinds_of_awkward_layouts():
    layouts = {
        "masked": ak.mask(ak.Array([1, 2, 3]), [True, False, True]),
        "bits": ak.Array(ak.to_layout(ak.mask(ak.Array([1, 2, 3]), [True, False, True])).to_BitMaskedArray(True, True)),
        "unmasked": ak.Array(ak.contents.UnmaskedArray(ak.contents.NumpyArray(np.arange(3)))),
        "picked": ak.Array(["a", "b", "c"])[[2, 0, 2]],
        "category": ak.str.to_categorical(ak.Array(["x", "y", "x"]))
        if hasattr(ak, "str")
        else ak.Array(["x", "y", "x"]),
        "sliced": ak.Array([[9], [1, 2], [], [3]])[1:],
        "regular": ak.to_regular(ak.Array([[1, 2], [3, 4], [5, 6]])),
        "tuples": ak.Array([(1, "a"), (2, "b"), (3, "c")]),
        "none": ak.Array([None, None, None]),
        "union": ak.Array([1, "two", None]),
        "times": np.array(["2026-11-20", "1969-12-31", "2000-01-01"], dtype="datetime64[us]"),
        "seconds": np.array([1, 2, 3], dtype="datetime64[s]"),
    }
    data = written(layouts)
    rows = fast_read(data)
    assert [row["masked"] for row in rows] == [1, None, 3] == [row["bits"] for row in rows]
    assert [row["picked"] for row in rows] == ["c", "a", "c"]
    assert [row["category"] for row in rows] == ["x", "y", "x"]
    assert [row["sliced"] for row in rows] == [[1, 2], [], [3]]
    assert [row["regular"] for row in rows] == [[1, 2], [3, 4], [5, 6]]
    assert rows[0]["tuples"] == {"_0": 1, "_1": "a"}
    assert [row["union"] for row in rows] == [1, "two", None]
    assert rows[1]["times"] == datetime.datetime(1969, 12, 31)


NAMES = [
    "a.b",
    "a b",
    "1",
    "a_b",
    "Größe",
    "px [GeV]",
    "日付",
    "x-y",
    "null",
    "int",
    'q"\\',
    "R",
    " ",
    "/",
    "line\nbreak",
]


def test_names_are_kept_as_they_are(tmp_path):
    columns = {name: [at] for at, name in enumerate(NAMES)} | {"ok": [dict.fromkeys(NAMES, 5)]}
    expected = [{name: at for at, name in enumerate(NAMES)} | {"ok": dict.fromkeys(NAMES, 5)}]
    forthwith.write_avro(tmp_path / "a.avro", columns)
    assert fast_read((tmp_path / "a.avro").read_bytes()) == expected
    table = forthwith.open(tmp_path / "a.avro")
    assert table.keys() == list(columns)
    assert list(table.rows()) == expected
    pl = pytest.importorskip("polars")
    assert pl.read_avro(tmp_path / "a.avro").to_dicts() == expected
    schema = forthwith.avro.schema_of(columns)
    assert [field["name"] for field in schema["fields"]] == list(columns)
    with forthwith.avro_writer(tmp_path / "b.avro") as out:
        out.write(columns)
        out.write(columns)
    assert fast_read((tmp_path / "b.avro").read_bytes()) == expected * 2


def test_records_of_unlike_columns_have_names_of_their_own():
    """Their types are called by the columns, in letters that names of types have."""
    data = written({"é": [{"x": 1}], "è": [{"y": 2}], "e": [[{"x": 3}]]})
    assert fast_read(data) == [{"é": {"x": 1}, "è": {"y": 2}, "e": [{"x": 3}]}]


@pytest.mark.parametrize("name", ["", "rec"])
def test_files_of_polars_are_read(tmp_path, name):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None], "r": [{"x": 1.5, "s": {"y": 1}}, None], "l": [[{"z": 1}], []]})
    frame.write_avro(tmp_path / "p.avro", name=name)
    table = forthwith.open(tmp_path / "p.avro")
    assert table.arrays(["a", "b"]).to_list() == frame.select("a", "b").to_dicts()
    assert list(table.rows()) == fast_read((tmp_path / "p.avro").read_bytes()) == frame.to_dicts()


def test_arrow_and_tables():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"x": pa.array([1, None, 3], pa.int32()), "s": ["a", "b", None], "l": [[1.0], [], None]})
    assert fast_read(written(table)) == table.to_pylist()


def test_arrow_says_what_it_means():
    pa = pytest.importorskip("pyarrow")
    when = datetime.datetime(2026, 3, 1, 12, 30, 15, 250000, datetime.UTC)
    naive = when.replace(tzinfo=None)
    columns = {
        "utc": pa.array([when, None], pa.timestamp("us", "UTC")),
        "local": pa.array([naive, None], pa.timestamp("ms")),
        "time32": pa.array([naive.time(), None], pa.time32("ms")),
        "time64": pa.array([naive.time(), None], pa.time64("us")),
        "date": pa.array([naive.date(), None], pa.date32()),
        "decimal": pa.array([decimal.Decimal("-1.50"), None], pa.decimal128(20, 2)),
        "wide": pa.array([decimal.Decimal("12345678901234567890.50"), None], pa.decimal256(50, 2)),
        "color": pa.array(["red", None]).dictionary_encode(),
        "map": pa.array([{"a": 1}, None], pa.map_(pa.string(), pa.int64())),
        "view": pa.array(["a string longer than twelve", None], pa.string_view()),
        "half": pa.array([1.5, None], pa.float16()),
    }
    table = pa.table(columns)
    want = [{**row, "map": row["map"] and dict(row["map"])} for row in table.to_pylist()]
    data = written(table)
    assert fast_read(data) == want
    types = {field["name"]: field["type"][1] for field in forthwith.avro.schema_of(table)["fields"]}
    assert types["color"]["type"] == "enum"
    assert types["utc"]["logicalType"] == "timestamp-micros"
    assert fast_read(written(reread(data).arrays())) == want
    with pytest.raises(forthwith.UnsupportedError, match=r'duration\[us\], a length of time, in Avro \(column "d"\)'):
        written(pa.table({"d": pa.array([1], pa.duration("us"))}))
    with pytest.raises(forthwith.UnsupportedError, match=r'duration.*\(column "d"\)'):
        written({"d": np.array([1], "timedelta64[s]")})
    days = np.array(["2026-01-02", "NaT"], "datetime64[D]")
    assert fast_read(written({"d": days})) == [{"d": datetime.date(2026, 1, 2)}, {"d": None}]
    assert fast_read(written({"d": np.array([1.5], "f2")})) == [{"d": 1.5}]


LOGICAL = [
    ({"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2}, decimal.Decimal("-123.45")),
    (
        {"type": "fixed", "name": "f", "size": 5, "logicalType": "decimal", "precision": 8, "scale": 3},
        decimal.Decimal("1.234"),
    ),
    ({"type": "string", "logicalType": "uuid"}, uuid.UUID(int=7)),
    ({"type": "int", "logicalType": "date"}, datetime.date(1960, 2, 29)),
    ({"type": "int", "logicalType": "time-millis"}, datetime.time(1, 2, 3, 4000)),
    ({"type": "long", "logicalType": "time-micros"}, datetime.time(1, 2, 3, 4)),
    ({"type": "long", "logicalType": "timestamp-millis"}, datetime.datetime(2026, 1, 2, 3, 4, 5, 6000, datetime.UTC)),
    ({"type": "long", "logicalType": "timestamp-micros"}, datetime.datetime(2026, 1, 2, 3, 4, 5, 6, datetime.UTC)),
    ({"type": "long", "logicalType": "local-timestamp-micros"}, datetime.datetime(2026, 1, 2, 3, 4, 5, 6)),
]


@pytest.mark.parametrize(("ty", "value"), LOGICAL, ids=[ty["logicalType"] + "-" + ty["type"] for ty, _ in LOGICAL])
def test_logical_types_keep_their_meaning(ty, value):
    schema = {
        "type": "record",
        "name": "r",
        "fields": [{"name": "x", "type": ty}, {"name": "o", "type": ["null", ty if ty["type"] != "fixed" else "f"]}],
    }
    entries = [{"x": value, "o": value}, {"x": value, "o": None}]
    array = reread(fast_bytes(schema, entries)).arrays()
    assert fast_read(written(array, schema=schema)) == entries
    if ty["type"] == "fixed" or ty["logicalType"] == "uuid":
        return  # nothing in an array says so
    assert fast_read(written(array)) == entries


def test_step_by_step(tmp_path):
    path = tmp_path / "steps.avro"
    path.write_bytes(b"old")
    with forthwith.avro_writer(path, codec="deflate", level=9, metadata={"who": "me"}) as file:
        for step in range(5):
            file.write({"x": np.arange(step * 10, step * 10 + 10), "y": [["a"] * (step + 1)] * 10})
        assert path.read_bytes() == b"old"
        assert file.entries == 50
    header = fastavro.reader(io.BytesIO(path.read_bytes()))
    assert header.metadata["who"] == "me"
    assert [row["x"] for row in header] == list(range(50))
    assert os.listdir(tmp_path) == ["steps.avro"]


def test_what_is_broken_off_leaves_nothing(tmp_path):
    def broken():
        with forthwith.avro_writer(tmp_path / "x.avro") as file:
            file.write({"x": [1]})
            raise KeyError

    with pytest.raises(KeyError):
        broken()
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="nothing was written"), forthwith.avro_writer(tmp_path / "x.avro"):
        pass
    with forthwith.avro_writer(tmp_path / "x.avro", schema=ALL):
        pass
    assert forthwith.open(tmp_path / "x.avro").num_entries == 0


def test_the_same_bytes_with_the_same_marker():
    array = ak.Array([{"x": 1}])
    assert written(array, marker=b"0123456789abcdef") == written(array, marker=b"0123456789abcdef")
    assert written(array)[-16:] != written(array)[-16:]


def test_fields_without_a_column_have_their_default():
    schema = {
        "type": "record",
        "name": "r",
        "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "string", "default": "none"}],
    }
    assert fast_read(written({"x": [1, 2]}, schema=schema)) == [{"x": 1, "y": "none"}, {"x": 2, "y": "none"}]
    del schema["fields"][1]["default"]
    with pytest.raises(forthwith.RequestError, match='no column for the field "y"'):
        written({"x": [1, 2]}, schema=schema)
    with pytest.raises(forthwith.RequestError, match='no field for the column "z"'):
        written({"x": [1], "y": ["a"], "z": [1]}, schema=schema)


@pytest.mark.parametrize(
    ("values", "ty", "text"),
    [
        ([2**31], "int", "x: row 0 is 2147483648, which is not within int32"),
        (np.array([0, 2**63], np.uint64), "long", "row 1 is 9223372036854775808"),
        ([1, None], "int", "row 1 is null"),
        (["a"], "int", "string cannot be written as int32"),
        ([1.5], "long", "float64 cannot be written as int64"),
        (
            ["c"],
            {"type": "enum", "name": "e", "symbols": ["a", "b"]},
            'row 0 is "c", which is not within the symbols a, b',
        ),
        ([b"abc"], {"type": "fixed", "name": "f", "size": 2}, "which is not within 2 bytes"),
    ],
)
def test_what_does_not_fit_is_refused(values, ty, text, tmp_path):
    schema = {"type": "record", "name": "r", "fields": [{"name": "x", "type": ty}]}
    with pytest.raises(forthwith.RequestError) as caught:
        forthwith.write_avro(tmp_path / "x.avro", {"x": values}, schema)
    assert text in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_options_that_make_no_sense():
    for options in ({"codec": "rar"}, {"codec": "snappy", "level": 1}, {"codec": "deflate", "level": 40}):
        with pytest.raises(forthwith.RequestError):
            written({"x": [1]}, **options)
    with pytest.raises(ValueError, match="16 bytes"):
        written({"x": [1]}, marker=b"short")
    with pytest.raises(forthwith.UnsupportedError, match="complex128"):
        written({"x": np.array([1j])})
    with pytest.raises(forthwith.UnsupportedError, match="two kinds of array"):
        written(ak.concatenate([ak.Array([[1]]), ak.Array([["a"]])]))


# Values without a file.


def fast_datum(schema, value):
    file = io.BytesIO()
    fastavro.schemaless_writer(file, fastavro.parse_schema(schema), value)
    return file.getvalue()


def test_datums():
    datums = [fast_datum(ALL, entry) for entry in ENTRIES]
    expected = reread(fast_bytes(ALL, ENTRIES)).arrays()
    assert forthwith.avro.decode(datums, ALL).to_list() == expected.to_list()
    assert forthwith.avro.decode(b"".join(datums), ALL, count=len(datums)).to_list() == expected.to_list()
    assert forthwith.avro.encode(expected, ALL) == datums
    assert forthwith.avro.decode([], ALL).to_list() == []
    assert forthwith.avro.decode([b"\x02", b"\x04"], "long").to_list() == [1, 2]


def test_datums_as_another_schema():
    reader = {
        "type": "record",
        "name": "all",
        "fields": [{"name": "more", "type": "string", "default": "x"}, {"name": "small", "type": "double"}],
    }
    datums = [fast_datum(ALL, entry) for entry in ENTRIES]
    for given in (datums, b"".join(datums)):
        found = forthwith.avro.decode(given, ALL, count=len(datums), reader_schema=reader)
        assert found.to_list() == [{"more": "x", "small": float(entry["small"])} for entry in ENTRIES]


def test_damaged_datums():
    with pytest.raises(forthwith.DamagedFileError, match="consumed exactly"):
        forthwith.avro.decode([b"\x02", b"\x04\x06"], "long")
    with pytest.raises(forthwith.DamagedFileError):
        forthwith.avro.decode([b"\x02", b""], "long")
    with pytest.raises(forthwith.DamagedFileError, match="left over"):
        forthwith.avro.decode(b"\x02\x04\x06", "long", count=2)
    with pytest.raises(forthwith.DamagedFileError):
        forthwith.avro.decode(b"\x02", "long", count=2)
    with pytest.raises(ValueError, match="count="):
        forthwith.avro.decode(b"\x02", "long")


def test_messages():
    first = {"type": "record", "name": "m", "fields": [{"name": "x", "type": "int"}]}
    second = {"type": "record", "name": "m", "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "string"}]}
    head = b"\xc3\x01" + forthwith.avro.fingerprint(first).to_bytes(8, "little")
    messages = forthwith.avro.encode_messages([{"x": 1}, {"x": 2}], first)
    assert messages == [head + b"\x02", head + b"\x04"]
    assert forthwith.avro.decode_messages(messages, first).to_list() == [{"x": 1}, {"x": 2}]
    others = forthwith.avro.encode_messages([{"x": 3, "y": "a"}], second)
    mixed = [messages[0], *others, messages[1]]
    reader = {
        "type": "record",
        "name": "m",
        "fields": [{"name": "y", "type": "string", "default": "-"}, {"name": "x", "type": "long"}],
    }
    found = forthwith.avro.decode_messages(mixed, [first, second], reader_schema=reader)
    assert found.to_list() == [{"y": "-", "x": 1}, {"y": "a", "x": 3}, {"y": "-", "x": 2}]
    with pytest.raises(KeyError):
        forthwith.avro.decode_messages(mixed, first)
    for bad in (b"", b"\xc3", b"\xc3\x02" + bytes(9)):
        with pytest.raises(forthwith.DamagedFileError):
            forthwith.avro.decode_messages([bad], first)


def test_fingerprints_are_those_of_the_specification():
    for schema in ("int", '{"type": "fixed", "name": "a.F", "size": 3, "doc": "?"}', ALL):
        parsed = fastavro.parse_schema(json.loads(schema) if isinstance(schema, str) and schema[0] == "{" else schema)
        canonical = fastavro.schema.to_parsing_canonical_form(parsed)
        assert forthwith.avro.canonical(schema) == canonical
        expected = fastavro.schema.fingerprint(canonical, "CRC-64-AVRO")
        assert forthwith.avro.fingerprint(schema) == int.from_bytes(bytes.fromhex(expected), "little")


def test_what_lies_beneath_nulls_is_not_looked_at():
    pa = pytest.importorskip("pyarrow")
    four = {"type": "fixed", "name": "four", "size": 4}
    color = {"type": "enum", "name": "color", "symbols": ["red"]}
    inner = {"type": "record", "name": "inner", "fields": [{"name": "four", "type": "four"}]}
    fields = {"four": ["null", four], "color": [color, "null"], "small": ["null", "int"], "inner": ["null", inner]}
    schema = {"type": "record", "name": "r", "fields": [{"name": k, "type": v} for k, v in fields.items()]}
    rows = [{"four": None, "color": None, "small": None, "inner": None}]
    rows += [{"four": b"abcd", "color": "red", "small": 1, "inner": {"four": b"efgh"}}]
    struct = pa.struct([pa.field("four", pa.binary(), nullable=False)])
    types = {"four": pa.large_binary(), "color": pa.string(), "inner": struct}
    table = pa.table({name: pa.array([row[name] for row in rows], type) for name, type in types.items()})
    mask = np.array([True, False])
    small = pa.Array.from_buffers(pa.int64(), 2, [pa.py_buffer(b"\x02"), pa.py_buffer(np.array([1 << 40, 1]))])
    assert fast_read(written(table.append_column("small", small), schema=schema)) == rows
    # The same with Awkward Array, whose masks hide values, too.
    columns = {
        "four": ak.mask(ak.Array([b"", b"abcd"]), ~mask),
        "color": ak.mask(ak.Array(["blue", "red"]), ~mask),
        "small": ak.mask(ak.Array([1 << 40, 1]), ~mask),
        "inner": ak.mask(ak.Array([{"four": b""}, {"four": b"efgh"}]), ~mask),
    }
    assert fast_read(written(columns, schema=schema)) == rows
    with pytest.raises(forthwith.RequestError, match="four: row 0 is bytes of 0 bytes"):
        written({**columns, "four": ak.mask(ak.Array([b"", b"abcd"]), mask)}, schema=schema)


def test_unions_of_one_kind():
    two = {"type": "fixed", "name": "two", "size": 2}
    enum = {"type": "enum", "name": "e", "symbols": ["a"]}
    empty = [{"type": "record", "name": name, "fields": []} for name in ("p", "q")]
    fields = {"b": [two, "bytes"], "s": ["string", enum], "r": [*empty, "null"]}
    schema = {"type": "record", "name": "r", "fields": [{"name": k, "type": v} for k, v in fields.items()]}
    entries = [{"b": b"ab", "s": ("e", "a"), "r": ("q", {})}, {"b": b"c", "s": "x", "r": None}]
    tree = reread(fast_bytes(copy.deepcopy(schema), entries))
    want = [{"b": b"ab", "s": "a", "r": {}}, {"b": b"c", "s": "x", "r": None}]
    for given in (tree.arrays(), pytest.importorskip("pyarrow").table(tree.select(unions="union"))):
        assert fast_read(written(given)) == want, "the schema that follows has one of each"
        assert fast_read(written(given, schema=schema)) == want
    # As structs, alternatives that are spelled alike have names of their own.
    kinds = pytest.importorskip("pyarrow").table(tree).schema
    assert [field.name for field in kinds.field("b").type] == ["bytes", "bytes 2"]


def test_enums_step_by_step():
    # The categories of a step are those of the file, whichever its entries are of.
    enum = {"type": "enum", "name": "e", "symbols": ["a", "b", "c"]}
    item = {"type": "record", "name": "item", "fields": [{"name": "e", "type": "e"}]}
    fields = {"e": enum, "list": {"type": "array", "items": "e"}, "one": item, "other": "item"}
    schema = {"type": "record", "name": "r", "fields": [{"name": k, "type": v} for k, v in fields.items()]}
    rows = [
        {"e": x, "list": [x] * n, "one": {"e": x}, "other": {"e": y}} for n, (x, y) in enumerate(["ab", "ba", "cc"])
    ]
    tree = reread(fast_bytes(schema, rows, sync_interval=1))
    file = io.BytesIO()
    with forthwith.avro_writer(file) as writer:
        for step in tree.iterate(step_size=1):
            writer.write(step)
    assert fast_read(file.getvalue()) == rows
    assert ak.categories(tree["e"].array(entry_stop=1)).to_list() == ["a", "b", "c"]
    # Records of one name with other categories are other types.
    a, b = (ak.zip({"e": ak.str.to_categorical([x])}, with_name="item") for x in "ab")
    assert fast_read(written({"x": a, "y": b})) == [{"x": {"e": "a"}, "y": {"e": "b"}}]


MEANINGS = {
    "decimal": ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, decimal.Decimal("-12.5")),
    "fixed": (
        {"type": "fixed", "name": "F", "size": 8, "logicalType": "decimal", "precision": 12, "scale": 3},
        decimal.Decimal("1.25"),
    ),
    "date": ({"type": "int", "logicalType": "date"}, datetime.date(1969, 12, 31)),
    "millis": ({"type": "int", "logicalType": "time-millis"}, datetime.time(3, 4, 5, 678000)),
    "micros": ({"type": "long", "logicalType": "time-micros"}, datetime.time(3, 4, 5, 678901)),
    "moment": (
        {"type": "long", "logicalType": "timestamp-micros"},
        datetime.datetime(2020, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.UTC),
    ),
    "local": (
        {"type": "long", "logicalType": "local-timestamp-millis"},
        datetime.datetime(2020, 1, 2, 3, 4, 5, 678000),
    ),
    "uuid": ({"type": "string", "logicalType": "uuid"}, uuid.UUID(int=5)),
}


@pytest.mark.parametrize("wrap", ["plain", "option", "list", "map", "record"])
@pytest.mark.parametrize("name", list(MEANINGS))
def test_rows_are_written_as_fastavro_takes_and_gives_them(name, wrap):
    pytest.importorskip("pyarrow")
    kind, value = MEANINGS[name]
    record = {"type": "record", "name": "In", "fields": [{"name": "y", "type": kind}]}
    kinds = {"plain": kind, "option": ["null", kind], "list": {"type": "array", "items": kind}, "record": record}
    kinds["map"] = {"type": "map", "values": kind}
    values = {"plain": value, "option": value, "list": [value, value], "map": {"k": value}, "record": {"y": value}}
    schema = {"type": "record", "name": "R", "fields": [{"name": "x", "type": kinds[wrap]}]}
    rows = [{"x": values[wrap]}, {"x": None if wrap == "option" else values[wrap]}]
    written, out = io.BytesIO(), io.BytesIO()
    forthwith.write_avro(written, rows, schema)
    written.seek(0)
    assert list(fastavro.reader(written)) == rows
    fastavro.writer(out, schema, rows)
    out.seek(0)
    ours = forthwith.open(written).arrays(library="arrow")
    assert ours == forthwith.open(out).arrays(library="arrow")


@pytest.mark.parametrize("name", list(MEANINGS))
def test_values_that_a_schema_does_not_mean_are_named_by_row_and_column(name):
    pytest.importorskip("pyarrow")
    kind, value = MEANINGS[name]
    schema = {"type": "record", "name": "R", "fields": [{"name": "x", "type": kind}]}
    with pytest.raises(forthwith.RequestTypeError, match="row 1, column 'x': "):
        forthwith.write_avro(io.BytesIO(), [{"x": value}, {"x": object()}], schema)


@pytest.mark.parametrize("write", [forthwith.write_avro, forthwith.write_parquet])
@pytest.mark.parametrize("value", [5, 2.5, "abc", b"abc", None, True])
def test_single_values_are_no_columns(write, value):
    with pytest.raises(forthwith.RequestTypeError, match="single value"):
        write(io.BytesIO(), value)


def test_decimals_without_a_schema_are_decimals():
    pytest.importorskip("pyarrow")
    rows = [{"x": decimal.Decimal("1.5")}, {"x": decimal.Decimal("22.25")}]
    for write in (forthwith.write_avro, forthwith.write_parquet):
        file = io.BytesIO()
        write(file, rows)
        assert forthwith.open(file).arrays(library="np")["x"].tolist() == [row["x"] for row in rows]


def test_help_lists_the_options_of_writers():
    for module in (forthwith.avro, forthwith.parquet):
        options = set(inspect.signature(module.writer).parameters)
        assert options - set(inspect.signature(module.write).parameters) == set()
        assert all(f"{name}: " in module.write.__doc__ for name in options)


def test_fields_that_no_row_has_have_their_defaults():
    pytest.importorskip("pyarrow")
    fields = [{"name": "x", "type": MEANINGS["date"][0]}, {"name": "n", "type": "long", "default": 7}]
    file = io.BytesIO()
    forthwith.write_avro(file, [{"x": MEANINGS["date"][1]}], {"type": "record", "name": "R", "fields": fields})
    file.seek(0)
    assert list(fastavro.reader(file)) == [{"x": MEANINGS["date"][1], "n": 7}]
