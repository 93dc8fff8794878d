"""Avro files: values, projections, readers' schemas, damage."""

import datetime
import functools
import io
import itertools
import json
import math
import operator
import pickle
import struct

import pytest
from conftest import TESTS, golden_of

import forthwith

DATA = TESTS / "data" / "avro"
FILES = sorted(path.stem for path in DATA.glob("*.avro"))


def path(name):
    return str(DATA / f"{name}.avro")


def values(name):
    """The values by fastavro, as plain JSON."""
    return golden_of(f"avro/{'nested' if name.startswith('codec-') else name}.values.json")


def plain(value):
    """The values that Awkward Array makes of our arrays, in the same words."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return {"$": value.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$f": str(value)}
    return value


def rows(tree, **options):
    arrays = tree.arrays(**options, logical=False)
    found = plain(arrays.to_list())
    return [row["value"] for row in found] if tree.keys() == ["value"] else found


READABLE = [name for name in FILES if name != "recursive"]


@pytest.mark.parametrize("name", READABLE)
def test_values(name):
    tree = forthwith.open(path(name))
    assert rows(tree, threads=1) == values(name)
    assert rows(tree, threads=4) == values(name)
    assert len(values(name)) == tree.num_entries


@pytest.mark.parametrize("name", READABLE)
def test_each_column_alone(name):
    tree = forthwith.open(path(name))
    want = values(name)
    for column in tree:
        of_column = want if tree.keys() == ["value"] else [row[column] for row in want]
        assert plain(tree[column].array(logical=False).to_list()) == of_column, column


@pytest.mark.parametrize("name", READABLE)
def test_any_entries(name):
    tree = forthwith.open(path(name))
    want = values(name)
    for first, last in [(0, 1), (1, 3), (len(want) // 2, len(want)), (len(want) // 3, len(want) // 3 + 2), (2, 2)]:
        stop = min(last, len(want))
        start = min(first, stop)
        assert rows(tree, entry_start=start, entry_stop=stop) == want[start:stop]


@pytest.mark.parametrize("name", ["nested", "unions", "codec-snappy", "wide"])
def test_steps_join_to_the_whole(name):
    tree = forthwith.open(path(name))
    for size in (7, "2 kB"):
        steps = [plain(step.layout.to_list()) for step in tree.iterate(step_size=size)]
        assert functools.reduce(operator.iadd, steps, []) == values(name)


@pytest.mark.parametrize("source", ["auto", "map", "pread"])
def test_sources(source):
    assert rows(forthwith.open(path("unions"), source=source)) == values("unions")


def test_file_objects():
    with forthwith.open(io.BytesIO((DATA / "nested.avro").read_bytes())) as tree:
        assert rows(tree) == values("nested")


def test_the_order_of_columns_is_the_askers():
    tree = forthwith.open(path("wide"))
    names = ["f13", "f02", "f39"]
    found = plain(tree.arrays(names).layout.to_list())
    assert list(found[0]) == names
    assert found == [{name: row[name] for name in names} for row in values("wide")]


def test_what_a_file_says_of_itself():
    tree = forthwith.open(path("codec-zstandard"))
    assert (tree.name, tree.classname, tree.file.format, tree.file.compression) == (
        "Event",
        "Avro",
        "Avro",
        "zstandard",
    )
    assert json.loads(tree.file.metadata["avro.schema"])["name"] == "Event"
    assert tree["hits"].typename == "array[Hit]"
    assert forthwith.open(path("logicals"))["day"].typename == "date (int)"
    named = forthwith.open(path("named"))
    assert named["from"].typename == "Point"


def test_pickles():
    tree = pickle.loads(pickle.dumps(forthwith.open(path("named"), schema=record("Shape", id=FIXED))))
    assert tree.keys() == ["id"]
    assert tree["id"].array().to_list() == [bytes([i, i]) for i in range(12)]


@pytest.mark.parametrize("name", ["types", "nested", "unions", "codec-deflate", "top-option", "no-blocks"])
def test_arrow(name):
    pa = pytest.importorskip("pyarrow")
    tree = forthwith.open(path(name))
    table = pa.table(tree.select(unions="union"))
    want = values(name)
    assert table.num_rows == len(want)
    for column in tree:
        of_column = want if tree.keys() == ["value"] else [row[column] for row in want]
        try:
            found = table[column].to_pylist()
        except pa.ArrowNotImplementedError:
            continue
        assert plain(pairs(found)) == pairs(of_column), column


def pairs(value):
    """Tuples of maps are structs with fields called 0 and 1 in Arrow."""
    if isinstance(value, dict):
        if list(value) == ["0", "1"]:
            return [pairs(item) for item in value.values()]
        return {key: pairs(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [pairs(item) for item in value]
    return value


def test_arrow_knows_what_values_mean():
    pa = pytest.importorskip("pyarrow")
    fastavro = pytest.importorskip("fastavro")
    table = pa.table(forthwith.open(path("logicals")))
    types = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert types["decimal_bytes"] == "decimal128(20, 4)"
    assert types["decimal_wide"] == "decimal256(70, 30)"
    assert types["day_maybe"] == "date32[day]"
    assert (types["milli_of_day"], types["micro_of_day"]) == ("time32[ms]", "time64[us]")
    assert (types["micro"], types["local_milli"]) == ("timestamp[us, tz=UTC]", "timestamp[ms]")
    assert (types["nano"], types["local_nano"]) == ("timestamp[ns, tz=UTC]", "timestamp[ns]")
    assert types["moments"] == "large_list<item: timestamp[us, tz=UTC] not null>"
    assert (types["unknown"], types["misplaced"], types["impossible"]) == ("int64", "large_string", "large_binary")
    # The values that fastavro makes of the same bytes; it refuses two of the types that fit nothing.
    data, _ = blocks("logicals")
    for wrong in (b'"precision": 2, "scale": 5', b'"precision": 9'):
        data = data.replace(wrong, b'"p": 2'.ljust(len(wrong)))
    data = data.replace(b'"logicalType": "decimal", "p"', b'"logicalType": "nothing", "p"')
    want = list(fastavro.reader(io.BytesIO(data)))
    for name in table.column_names:
        if name in ("uuid_text", "span", "impossible", "too_precise", "nano", "local_nano"):
            continue
        assert table[name].to_pylist() == [row[name] for row in want], name


def test_previews_show_what_values_mean():
    tree = forthwith.open(path("logicals"))
    assert tree["day"].array(logical=False).to_list()[:2] == [-5000, -4000]
    assert tree["day"].array().to_list()[0] == datetime.date(1970, 1, 1) + datetime.timedelta(days=-5000)
    assert "timestamp[us, UTC]" in str(tree["micro"].array().type)


# ---- recursion


def test_recursive_types_are_refused_and_stepped_over():
    tree = forthwith.open(path("recursive"))
    want = values("recursive")
    assert tree["before"].array().to_list() == [row["before"] for row in want]
    assert tree["after"].array().to_list() == [row["after"] for row in want]
    assert plain(tree.arrays(["after", "before"]).to_list()) == [
        {n: row[n] for n in ("after", "before")} for row in want
    ]
    for name, called in [("next", "Node"), ("tree", "Tree")]:
        with pytest.raises(forthwith.UnsupportedError, match=f"recursive type {called}"):
            tree[name].array()
    with pytest.raises(forthwith.UnsupportedError, match="Node/next"):
        tree.arrays()


# ---- readers' schemas


FIXED = {"type": "fixed", "name": "space.Id", "size": 2}


def record(name, **fields):
    fields = [{"name": n, **(vars(t) if isinstance(t, default) else {"type": t})} for n, t in fields.items()]
    return {"type": "record", "name": name, "fields": fields}


class default:
    """The type of a field with a default."""

    def __init__(self, schema, value):
        self.type = schema
        self.default = value


def compare(name, schema):
    """Reads with a reader's schema, and compares with what fastavro does."""
    fastavro = pytest.importorskip("fastavro")
    from fastavro import _read_py as reader

    kept = dict(reader.LOGICAL_READERS)
    reader.LOGICAL_READERS.clear()
    try:
        with open(path(name), "rb") as file:
            want = list(reader.reader(file, reader_schema=fastavro.parse_schema(schema)))
    finally:
        reader.LOGICAL_READERS.update(kept)
    tree = forthwith.open(path(name), schema=schema)
    for ours, row in zip(tree.arrays().to_list(), want, strict=True):
        assert plain(alike(pairs(ours), row)) == plain(row)
    return tree


def alike(ours, want):
    """Lists of pairs as a dict, where that is what is wanted."""
    if isinstance(want, dict):
        if isinstance(ours, list):
            ours = dict(ours)
        return {key: alike(item, want[key]) for key, item in ours.items()}
    if isinstance(want, list):
        return [alike(item, like) for item, like in zip(ours, want, strict=True)]
    return ours


def test_fields_are_chosen_ordered_promoted():
    tree = compare("types", record("all.Types", d="double", l="double", i="long", f="double", s="bytes", y="bytes"))
    assert tree.keys() == ["d", "l", "i", "f", "s", "y"]
    assert [str(branch.array().type.content) for branch in tree.values()][:4] == [
        "float64",
        "float64",
        "int64",
        "float64",
    ]
    tree = forthwith.open(path("types"), schema=record("all.Types", i="float", l="float"))
    for name in ("i", "l"):
        assert tree[name].array().to_list() == [
            struct.unpack("f", struct.pack("f", row[name]))[0] for row in values("types")
        ]


def test_defaults():
    inner = record("In", a=default("int", 3), b=default("string", "ä"))
    schema = record(
        "all.Types",
        i="int",
        n1=default("null", None),
        n2=default("boolean", True),
        n3=default("long", -(2**60)),
        n4=default("double", 0.5),
        n6=default({"type": "array", "items": "float"}, [1.0, 2.5]),
        n7=default({"type": "map", "values": "string"}, {"k": "v"}),
        n8=default(inner, {"a": 1, "b": "given"}),
        n9=default(["null", "int"], None),
        n10=default(["int", "null"], 7),
        n11=default({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B"),
        d="double",
    )
    compare("types", schema)
    # Each character is a byte, and fields have defaults of their own; fastavro leaves both as they are.
    two = default({"type": "fixed", "name": "F", "size": 2}, "ab")
    schema = record("Types", z1=default(inner, {"b": "x"}), z2=default("bytes", "ÿ\u0000"), z3=two, i="int")
    tree = forthwith.open(path("types"), schema=schema)
    assert tree.arrays().to_list()[9] == {"z1": {"a": 3, "b": "x"}, "z2": b"\xff\x00", "z3": b"ab", "i": 8192}
    assert tree["z2"].array().to_list() == [b"\xff\x00"] * 10


def test_a_field_without_default_has_to_be_there():
    with pytest.raises(forthwith.RequestError, match='field "absent" of Types has no default'):
        forthwith.open(path("types"), schema=record("Types", absent="int"))


def test_enums():
    compare(
        "types",
        record("all.Types", e={"type": "enum", "name": "Suit", "symbols": ["CLUBS", "DIAMONDS", "HEARTS", "SPADES"]}),
    )
    compare(
        "types",
        record("all.Types", e={"type": "enum", "name": "Suit", "symbols": ["NONE", "HEARTS"], "default": "NONE"}),
    )
    tree = forthwith.open(
        path("types"), schema=record("Types", e={"type": "enum", "name": "Suit", "symbols": ["SPADES"]})
    )
    with pytest.raises(forthwith.DamagedFileError, match="no counterpart"):
        tree["e"].array()


def test_aliases():
    schema = record("Form", start=record("Place", x="long"))
    schema["aliases"] = ["top.Shape"]
    start = schema["fields"][0]
    start["aliases"] = ["from"]
    start["type"]["aliases"] = ["geo.flat.Point"]
    tree = forthwith.open(path("named"), schema=schema)
    assert tree["start"].array().to_list() == [{"x": i} for i in range(12)]
    schema["aliases"] = []
    with pytest.raises(forthwith.RequestError, match="another name"):
        forthwith.open(path("named"), schema=schema)


def test_unions():
    compare(
        "unions", record("Unions", first=["null", "long"], mixed=["string", "null", "int"], three=["double", "string"])
    )
    compare("unions", record("Unions", one="double", text=["null", "bytes"], last=["null", "double", "string"]))
    schema = record("Unions", mixed=["null", "string"])
    with pytest.raises(forthwith.DamagedFileError, match="no counterpart"):
        forthwith.open(path("unions"), schema=schema).arrays()
    # From no union to one, and the other way round.
    compare("types", record("all.Types", i=["null", "string", "long"], s=["int", "string"]))
    with pytest.raises(forthwith.RequestError, match="cannot be read as"):
        forthwith.open(path("types"), schema=record("Types", s=["null", "int"])).arrays()


def test_within_lists_and_records():
    hit = record(
        "Hit", more=default("int", 4), at={"type": "array", "items": {"type": "array", "items": "double"}}, x="double"
    )
    compare(
        "nested",
        record("Event", hits={"type": "array", "items": hit}, best="Hit", hitmap={"type": "map", "values": "Hit"}),
    )


def test_schemas_of_values_that_are_no_records():
    tree = forthwith.open(path("top-int"), schema="double")
    assert tree["value"].array().to_list() == [1.0, -2.0, 3.0]
    tree = forthwith.open(path("top-option"), schema=["string", "null", "double"])
    assert tree["value"].array().to_list() == [None, 5.0, None]
    with pytest.raises(forthwith.RequestError, match="int cannot be read as string"):
        forthwith.open(path("top-int"), schema="string")


@pytest.mark.parametrize(
    "schema", ["nonsense", "{", '{"type": "record"}', {"type": "fixed", "name": "f"}, [["null", 3]]]
)
def test_nonsense_is_no_schema(schema):
    with pytest.raises(forthwith.RequestError, match="not an Avro schema"):
        forthwith.open(path("types"), schema=schema)


def test_options_are_for_avro():
    root = TESTS / "data" / "vectors.root"
    for options in ({"schema": "int"}, {"skip_damaged": True}):
        with pytest.raises(ValueError, match="for Avro"):
            forthwith.open(root, **options)


# ---- damage


def blocks(name):
    """Where the blocks of a file begin and end."""
    data = (DATA / f"{name}.avro").read_bytes()
    marker = bytes(range(16))
    ends = []
    at = data.find(marker)
    while at >= 0:
        ends.append(at + 16)
        at = data.find(marker, at + 16)
    return data, list(itertools.pairwise(ends))


@pytest.mark.slow
def test_every_cut_is_an_error_that_names_block_and_byte():
    data, places = blocks("unions")
    borders = {places[0][0], *(end for _, end in places)}
    entries = 0
    for cut in range(len(data)):
        file = io.BytesIO(data[:cut])
        if cut in borders:
            rows(forthwith.open(file))  # nothing says how many blocks there should be
            continue
        with pytest.raises(forthwith.DamagedFileError) as error:
            rows(forthwith.open(file))
        if cut > places[0][0]:
            number = sum(end <= cut for _, end in places)
            assert f"block {number}" in str(error.value), cut
            assert "byte" in str(error.value)
            if cut % 50 == 0:
                tree = forthwith.open(file, skip_damaged=True)
                assert rows(tree) == values("unions")[: tree.num_entries]
                assert tree.damage[0][0] == number
                entries = max(entries, tree.num_entries)
    assert entries > 0


class Counted(io.BytesIO):
    """Counts the bytes that are read."""

    count = 0

    def read(self, size=-1):
        found = super().read(size)
        self.count += len(found)
        return found

    def readinto(self, into):
        found = super().readinto(into)
        self.count += found
        return found


@pytest.mark.slow
def test_no_more_is_read_than_what_is_asked_for():
    rows_of = [{"n": n, "s": "x" * 1000} for n in range(100)]
    payload = b"".join(datum(row) for row in rows_of)
    file = Counted(container(record("Row", n="long", s="string"), *[(100, payload)] * 300).getvalue())
    tree = forthwith.open(file)
    opened = file.count
    assert opened < 20_000
    assert tree.keys() == ["n", "s"]
    assert file.count == opened
    assert tree.arrays(entry_start=150, entry_stop=160).n.to_list() == list(range(50, 60))
    assert tree["n"].array(entry_stop=3).to_list() == [0, 1, 2]
    assert file.count < 1_000_000
    first, second = itertools.islice(tree.iterate(["n"], step_size=250), 2)
    assert len(first) == len(second) == 250
    # Nor by readers that read around damage, or cut in bytes.
    for errors in ("skip", "null"):
        for size, entries in ((250, 250), ("200 kB", 300)):
            before = file.count
            (step,) = itertools.islice(forthwith.open(file).iterate(["n"], step_size=size, errors=errors), 1)
            assert len(step) == entries
            assert file.count - before < 1_500_000
    # Nor by readers of Arrow data.
    pyarrow = pytest.importorskip("pyarrow")
    for chosen in (tree.select(["n"], step_size=250), tree.select(["n"], entry_start=100, step_size=250)):
        reader = pyarrow.RecordBatchReader.from_stream(chosen)
        assert reader.read_next_batch().num_rows == 250
    assert pyarrow.table(tree.select(["n"], entry_start=10, entry_stop=400, step_size=100)).num_rows == 390
    assert tree.select(entry_stop=20).num_entries == 20
    assert file.count < 10_000_000
    assert tree.select(entry_start=29_999, entry_stop=40_000).num_entries == 1
    assert tree.num_entries == 30_000
    assert len(tree.arrays(entry_start=-5)) == 5


def test_no_more_is_read_of_several_files_than_what_is_asked_for():
    payload = b"".join(datum({"n": n, "s": "x" * 1000}) for n in range(100))
    whole = container(record("Row", n="long", s="string"), *[(100, payload)] * 100).getvalue()
    none = container(record("Row", n="long", s="string")).getvalue()

    def opened(*bounds):
        files = [Counted(whole), Counted(none), Counted(whole)]
        start, stop = bounds
        steps = forthwith.iterate(files, ["n"], step_size=250, entry_start=start, entry_stop=stop)
        return files, steps

    for bounds, first in (((None, None), 0), ((120, None), 20), ((120, 9_000), 20)):
        files, steps = opened(*bounds)
        assert next(steps).n[0] == first
        # Blocks are 100 kB, and to look for one takes 4.
        assert sum(file.count for file in files) < 400_000, bounds
    # All of it, and every border.
    numbers = list(range(100)) * 200
    for start, stop in (
        (None, None),
        (9_990, 10_010),
        (10_000, None),
        (0, 10_000),
        (10_001, 10_001),
        (19_990, 30_000),
        (30_000, None),
        (5, 3),
    ):
        chain = forthwith.open([io.BytesIO(whole), io.BytesIO(none), io.BytesIO(whole)])
        steps = list(chain.iterate(["n"], step_size=777, report=True, entry_start=start, entry_stop=stop))
        found = [number for step, _ in steps for number in step.n.to_list()]
        assert found == numbers[start:stop], (start, stop)
        assert chain.arrays(["n"], entry_start=start, entry_stop=stop).n.to_list() == found
        if found:
            assert steps[0][1].global_entry_start == (start or 0)
            assert steps[-1][1].global_entry_stop == min(stop or 20_000, 20_000)


def datum(row):
    """One row as its bytes."""
    out = bytearray()
    for number in (row["n"], len(row["s"])):
        rest = number << 1
        while rest >= 0x80:
            out.append(rest & 0x7F | 0x80)
            rest >>= 7
        out.append(rest)
    return bytes(out) + row["s"].encode()


def test_blocks_behind_a_damaged_one_are_read_on_request():
    data, places = blocks("unions")
    (start, end), want = places[1], values("unions")
    first = rows(forthwith.open(io.BytesIO(data[: places[0][1]])))
    through_second = rows(forthwith.open(io.BytesIO(data[:end])))
    # The first byte of the payload is a union's branch.
    for at, why in [(start, "framing"), (end - 1, "marker"), (start + 3, "payload")]:
        broken = bytearray(data)
        broken[at] ^= 0x7E
        with pytest.raises(forthwith.DamagedFileError, match="block 1"):
            rows(forthwith.open(io.BytesIO(broken)))
        tree = forthwith.open(io.BytesIO(broken), skip_damaged=True)
        ((number, begin, stop, _),) = tree.damage
        assert (number, begin) == (1, start), why
        # Without its own marker, the block behind cannot be told from it.
        behind = want[len(through_second) :]
        if why != "payload":
            lost = len(rows(forthwith.open(io.BytesIO(data[:stop]))))
            behind = want[lost:]
        assert rows(tree) == first + behind, why


def test_a_wrong_checksum_names_its_block():
    data, places = blocks("codec-snappy")
    broken = bytearray(data)
    broken[places[2][1] - 17] ^= 1  # the last byte of the checksum
    tree = forthwith.open(io.BytesIO(broken))
    with pytest.raises(forthwith.DamagedFileError, match="checksum") as error:
        tree.arrays()
    assert "block 2" in str(error.value)
    assert len(forthwith.open(io.BytesIO(broken), skip_damaged=True).damage) == 1


def container(schema, *blocks):
    """A file by hand."""

    def long(value):
        value = (value << 1) ^ (value >> 63)
        out = bytearray()
        while value >= 0x80:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        out.append(value)
        return bytes(out)

    text = json.dumps(schema).encode()
    out = b"Obj\x01" + long(1) + long(11) + b"avro.schema" + long(len(text)) + text + b"\0" + bytes(range(16))
    for count, payload in blocks:
        out += long(count) + long(len(payload)) + payload + bytes(range(16))
    return io.BytesIO(out)


@pytest.mark.parametrize(
    ("schema", "count", "payload", "what"),
    [
        (["null", "int"], 1, b"\x04\x02", "no branch"),
        (["null", "int"], 1, b"\x01\x02", "no branch"),
        (["int", "string", "null"], 1, b"\x06", "no branch"),
        ("string", 2, b"\x02a\x01b", "negative"),
        ("string", 1, b"\x08ab", "end in the middle"),
        ("bytes", 2, b"\x01\x00", "negative"),
        ({"type": "array", "items": "int"}, 1, b"\x02\x02", "end in the middle"),
        ({"type": "array", "items": "double"}, 1, b"\xfe\xff\xff\xff\x0f", "end in the middle"),
        ({"type": "array", "items": "null"}, 1, b"\xfe\xff\xff\xff\xff\x0f\x00", "more items without bytes"),
        ({"type": "array", "items": "null"}, 1, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00", "not as many"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, 1, b"\x02", "no symbol of this number"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, 1, b"\x80\x80\x80\x80\x20", "no symbol of this number"),
        ("int", 1, b"\x80\x80\x80\x80\x10", "more than 32 bits"),
        ("int", 1, b"\x02\x04", "left over"),
        ("long", 1, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "varint"),
    ],
)
def test_data_that_break_the_rules(schema, count, payload, what):
    with pytest.raises(forthwith.DamagedFileError, match=what) as error:
        forthwith.open(container(schema, (0, b""), (count, payload)))["value"].array()
    assert "block 1" in str(error.value) or "symbol" in what


@pytest.mark.parametrize(
    ("schema", "payload"),
    [
        (record("R", skipped="string", a="int"), b"\x03\x02"),
        (record("R", skipped={"type": "array", "items": "string"}, a="int"), b"\x01\x03\x00\x02"),
        (
            record("R", skipped={"type": "array", "items": "double"}, a="int"),
            b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x02",
        ),
        (record("R", skipped=["null", "int"], a="int"), b"\x08\x02"),
        (record("R", skipped={"type": "map", "values": "bytes"}, a="int"), b"\x02\x01a\x00\x00\x02"),
    ],
)
def test_what_is_stepped_over_must_make_sense(schema, payload):
    with pytest.raises(forthwith.DamagedFileError):
        forthwith.open(container(schema, (1, payload)))["a"].array()


@pytest.mark.parametrize(
    ("count", "payload", "what"),
    [(-1, b"", "number of entries"), (5, b"ab", "number of entries"), (2**62, b"ab", "number of entries")],
)
def test_impossible_numbers_of_entries(count, payload, what):
    with pytest.raises(forthwith.DamagedFileError, match=what):
        rows(forthwith.open(container("int", (count, payload))))
    with pytest.raises(forthwith.DamagedFileError, match=what):
        rows(forthwith.open(container("null", (2**40, b""))))


# ---- hostile schemas


def test_schemas_that_explode_are_refused():
    schema = record("R0", a="int")
    for i in range(1, 40):
        schema = record(f"R{i}", a=schema, b=f"R{i - 1}")
    tree = forthwith.open(container(schema))
    with pytest.raises(forthwith.UnsupportedError):
        tree.arrays()
    deep = "int"
    for _ in range(100):
        deep = {"type": "array", "items": deep}
    with pytest.raises(forthwith.UnsupportedError, match="nested"):
        forthwith.open(container(deep)).arrays()
    with pytest.raises(forthwith.DamagedFileError, match="not an Avro schema"):
        forthwith.open(container({"type": "record", "name": "R", "fields": 3}))


def test_many_columns():
    schema = record("Wide", **{f"c{i}": "int" for i in range(2000)})
    tree = forthwith.open(container(schema, (1, b"\x02" * 2000)))
    assert tree["c1999"].array().to_list() == [1]
    assert sum(tree.arrays().to_list()[0].values()) == 2000
    too_wide = record("Wide", **{f"c{i}": "string" for i in range(20_000)})
    with pytest.raises(forthwith.UnsupportedError, match="columns"):
        forthwith.open(container(too_wide)).arrays()
