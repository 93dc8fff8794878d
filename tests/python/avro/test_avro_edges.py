"""Data that other readers of Avro stumbled over, by their trackers: a case each."""

import copy
import decimal
import io
import itertools
import json

import pytest

import forthwith
import forthwith.avro

fastavro = pytest.importorskip("fastavro")


def record(name="r", **fields):
    return {"type": "record", "name": name, "fields": [{"name": key, "type": ty} for key, ty in fields.items()]}


def file_of(schema, entries, **options):
    file = io.BytesIO()
    fastavro.writer(file, fastavro.parse_schema(copy.deepcopy(schema)), entries, **options)
    return file.getvalue()


def by_hand(schema, *blocks):
    """A container with these blocks, (entries, bytes) each, whatever its schema is."""
    out = io.BytesIO()
    text = schema if isinstance(schema, str) else json.dumps(schema)
    header = {"avro.schema": text.encode(), "avro.codec": b"null"}
    fastavro.schemaless_writer(out, {"type": "map", "values": "bytes"}, header)
    data = b"Obj\x01" + out.getvalue() + b"m" * 16
    for count, payload in blocks:
        head = io.BytesIO()
        for number in (count, len(payload)):
            fastavro.schemaless_writer(head, "long", number)
        data += head.getvalue() + payload + b"m" * 16
    return data


def read(data, **options):
    return forthwith.open(io.BytesIO(data), **options).arrays().to_list()


@pytest.mark.parametrize("interval", [1, 20, 1 << 20])
def test_nulls_at_the_borders_of_blocks(interval):
    # DuckDB: null at every multiple of the size of its vectors.
    schema = record(id="long", value=["null", "string"])
    entries = [{"id": n, "value": None if n % 7 == 0 or n % 2048 == 2047 else f"v{n}"} for n in range(5000)]
    data = file_of(schema, entries, sync_interval=interval)
    assert read(data) == entries
    tree = forthwith.open(io.BytesIO(data))
    for step in (1, 100, 2048):
        if step * 50 < len(entries) or interval > 1:
            steps = tree.iterate(step_size=max(step, 50))
            assert list(itertools.chain.from_iterable(part.to_list() for part in steps)) == entries
    assert tree.arrays(threads=4).to_list() == entries


@pytest.mark.parametrize("order", [["null", "int"], ["int", "null"]])
def test_all_null_and_none_null(order):
    schema = record(x=order)
    for entries in ([{"x": None}] * 9, [{"x": 3}] * 9):
        assert read(file_of(schema, entries)) == entries


def test_a_file_without_entries():
    # DuckDB, and others: an error for want of a first block.
    data = file_of(record(id="string", xs={"type": "array", "items": "int"}, e=["null", "long"]), [])
    assert read(data) == []
    tree = forthwith.open(io.BytesIO(data))
    assert (tree.num_entries, tree.keys()) == (0, ["id", "xs", "e"])
    assert list(tree.iterate()) == []


def test_empty_blocks_between_others():
    data = by_hand("long", (0, b""), (2, b"\x02\x04"), (0, b""), (1, b"\x06"), (0, b""))
    assert read(data) == [{"value": 1}, {"value": 2}, {"value": 3}]


def test_empty_lists_maps_and_texts():
    # Awkward's own reader: wrong numbers behind an empty array.
    schema = record(
        xs={"type": "array", "items": "float"}, m={"type": "map", "values": "int"}, s="string", b="bytes", last="int"
    )
    entries = [{"xs": [], "m": {}, "s": "", "b": b"", "last": n} for n in range(5)]
    entries[2] = {"xs": [1.5], "m": {"": 1}, "s": "x", "b": b"y", "last": 2}
    found = read(file_of(schema, entries))
    assert found == entries


def test_lists_in_several_blocks_with_and_without_their_size():
    ty = {"type": "array", "items": "int"}
    payload = (
        b"\x02\x02" + b"\x03\x04\x04\x06" + b"\x00"
    )  # one item; two items counted downwards, of two bytes; the end
    assert read(by_hand(ty, (1, payload))) == [{"value": [1, 2, 3]}]


def test_decimals_of_bytes_and_fixed():
    of_bytes = {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 3}
    of_fixed = {"type": "fixed", "name": "f", "size": 9, "logicalType": "decimal", "precision": 20, "scale": 3}
    values = [
        decimal.Decimal(text)
        for text in ("0", "-0.001", "99999999999999999.999", "-99999999999999999.999", "127", "-128")
    ]
    data = file_of(record(b=of_bytes, f=of_fixed), [{"b": value, "f": value} for value in values])
    pa = pytest.importorskip("pyarrow")
    table = pa.table(forthwith.open(io.BytesIO(data)))
    assert table["b"].to_pylist() == table["f"].to_pylist() == values


def test_logical_types_that_are_not_known_are_none():
    # fastavro keeps the value; others refused the file.
    odd = [
        {"type": "string", "logicalType": "mystery"},
        {"type": "int", "logicalType": "timestamp-millis"},
        {"type": "bytes", "logicalType": "decimal"},
        {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 5},
        {"type": "long", "logicalType": ["list"]},
    ]
    schema = record(**{f"f{n}": ty for n, ty in enumerate(odd)})
    assert read(by_hand(schema, (1, b"\x02a\x02\x02b\x02c\x04"))) == [
        {"f0": "a", "f1": 1, "f2": b"b", "f3": b"c", "f4": 2}
    ]


def test_empty_records():
    # DuckDB and Iceberg: a partition without fields.
    schema = record(partition=record("p"), n="int")
    entries = [{"partition": {}, "n": 1}, {"partition": {}, "n": 2}]
    assert read(file_of(schema, entries)) == entries


def test_what_a_union_was_read_from_can_be_written_to():
    # DuckDB: unions are read and cannot be written.
    schema = record(properties={"type": "map", "values": ["string", "boolean", "long", "double"]})
    entries = [{"properties": {"a": "x", "b": True, "c": 1, "d": 0.5}}, {"properties": {}}]
    array = forthwith.open(io.BytesIO(file_of(schema, entries))).arrays()
    out = io.BytesIO()
    forthwith.write_avro(out, array, schema)
    assert list(fastavro.reader(io.BytesIO(out.getvalue()))) == entries


def test_symbols_are_categories():
    ty = {"type": "enum", "name": "E", "symbols": ["A", "B", "C"]}
    schema = record(e=ty, o=["null", "E"], u=["int", "E", "null"], l={"type": "array", "items": "E"})
    entries = [
        {"e": "C", "o": "A", "u": "B", "l": ["A", "C"]},
        {"e": "A", "o": None, "u": 5, "l": []},
        {"e": "C", "o": "C", "u": None, "l": ["B"]},
    ]
    tree = forthwith.open(io.BytesIO(file_of(schema, entries)))
    array = tree.arrays()
    assert array.to_list() == entries
    assert array.layout.content("e").parameter("__array__") == "categorical"
    assert array.layout.content("e").index.data.tolist() == [2, 0, 2]
    assert tree["e"].array(library="np").tolist() == ["C", "A", "C"]
    assert tree["o"].array(library="np").tolist() == ["A", None, "C"]
    pa = pytest.importorskip("pyarrow")
    table = pa.table(tree)
    assert pa.types.is_dictionary(table["e"].type)
    assert table["o"].to_pylist() == ["A", None, "C"]
    out = io.BytesIO()
    forthwith.write_avro(out, array[["e", "l"]])
    assert list(fastavro.reader(io.BytesIO(out.getvalue()))) == [
        {"e": entry["e"], "l": entry["l"]} for entry in entries
    ]


def test_wide_tables_are_described_in_no_time():
    schema = record(**{f"f{n}": "string" for n in range(2000)})
    tree = forthwith.open(io.BytesIO(by_hand(schema, (1, b"\x02a" * 2000))))
    assert len(tree.typenames()) == 2000
    assert tree["f7"].array().to_list() == ["a"]


def zigzag(*numbers):
    out = io.BytesIO()
    for number in numbers:
        fastavro.schemaless_writer(out, "long", number)
    return out.getvalue()


LISTS = {
    "of numbers": ({"type": "array", "items": "float"}, b"\0\0\x80\x3f"),
    "of texts": ({"type": "array", "items": "string"}, b"\x04ab"),
    "of lists": ({"type": "array", "items": {"type": "array", "items": "double"}}, zigzag(1) + b"\0" * 8 + b"\0"),
    "of records": ({"type": "array", "items": record("i", a="int", b="string")}, b"\x02\x04ab"),
    "of options": ({"type": "array", "items": ["null", "long"]}, b"\x02\x06"),
    "of unions": ({"type": "array", "items": ["int", "string", "null"]}, b"\x02\x04ab"),
    "map": ({"type": "map", "values": "int"}, b"\x02a\x02"),
}


@pytest.mark.parametrize("kind", LISTS)
def test_blocks_of_a_list_end_where_they_say(kind):
    schema, item = LISTS[kind]
    schema = record(x=schema, y="int")
    entries = [([1], b"\x02"), ([2, -3, 1], b"\x04"), ([], b"\x06"), ([-1, -2], b"\x08")]

    def payload(off=0):
        out = b""
        for counts, behind in entries * 10:
            for count in counts:
                out += zigzag(count) if count > 0 else zigzag(count, -count * len(item) + off)
                out += item * abs(count)
            out += b"\0" + behind
        return out

    data = by_hand(schema, (40, payload()))
    expected = list(fastavro.reader(io.BytesIO(data)))
    found = read(data)
    assert [row["y"] for row in found] == [row["y"] for row in expected]
    assert found == expected
    lengths = [len(row["x"]) for row in forthwith.open(io.BytesIO(data)).arrays().layout.to_list()]
    assert lengths == [1, 6, 0, 3] * 10
    for off in (1, -1, 1 << 40):
        bad = by_hand(schema, (40, payload()), (40, payload(off)))
        with pytest.raises(forthwith.DamagedFileError, match="not as many bytes long as it says") as caught:
            read(bad)
        assert caught.value.block == 1
        assert caught.value.byte is not None
        assert caught.value.member.startswith("x")
        whole = read(bad, skip_damaged=True)
        assert [row["y"] for row in whole] == [row["y"] for row in expected]
    # A block that goes on behind another's end.
    with pytest.raises(forthwith.DamagedFileError, match="not as many bytes long as it says"):
        read(by_hand(schema, (1, zigzag(-1, -4) + item + b"\0\x02")))


def test_text_that_is_none_is_an_error_unless_wanted():
    schema = record(n="int", inside={"type": "array", "items": ["null", record("i", t="string", u="int")]})

    def row(number, *texts):
        items = b"".join(b"\0" if text is None else b"\x02" + zigzag(len(text)) + text + b"\x02" for text in texts)
        return zigzag(number) + (zigzag(len(texts)) if texts else b"") + items + b"\0"

    good = [row(0), row(1, b"a", None), row(2, "é".encode(), b"")]
    bad = [row(3, None, b"ok", b"caf\xe9"), row(4)]
    data = by_hand(schema, (3, b"".join(good)), (2, b"".join(bad)))
    with pytest.raises(forthwith.DamagedFileError, match=r'text that is not UTF-8: b"caf\\xe9"') as caught:
        read(data)
    error = caught.value
    assert (error.object, error.entry, error.member) == ("r/inside", 3, "[].t")
    # Nothing else is looked at.
    tree = forthwith.open(io.BytesIO(data))
    assert tree["n"].array().to_list() == [0, 1, 2, 3, 4]
    assert tree["inside/u"].array().to_list()[3] == [None, 1, 1]
    assert len(tree.arrays(entry_stop=3)) == 3
    with pytest.raises(forthwith.DamagedFileError) as caught:
        tree["inside/t"].array(entry_start=1)
    assert (caught.value.object, caught.value.entry) == ("r/inside/t", 3)
    steps = tree.iterate(step_size=1)
    assert [len(next(steps)) for _ in range(3)] == [1, 1, 1]
    with pytest.raises(forthwith.DamagedFileError):
        next(steps)
    # Its block is damaged.
    assert len(read(data, skip_damaged=True)) == 3
    # As it is.
    raw = forthwith.open(io.BytesIO(data), check_text=False)["inside"].array()
    assert len(raw) == 5
    assert bytes(raw[3, 2].t.encode(errors="surrogateescape")) == b"caf\xe9"
    # As bytes.
    wanted = record(inside={"type": "array", "items": ["null", record("i", t="bytes")]})
    assert read(data, schema=wanted)[3]["inside"][2] == {"t": b"caf\xe9"}
    with pytest.raises(forthwith.DamagedFileError, match="not UTF-8") as caught:
        forthwith.avro.decode([b"\x02a", b"\x02\xff"], "string")
    assert caught.value.entry == 1


def test_keys_of_maps_are_text_too():
    data = by_hand(record(m={"type": "map", "values": "int"}), (1, b"\x02\x02\xff\x02\0"))
    with pytest.raises(forthwith.DamagedFileError, match="not UTF-8") as caught:
        read(data)
    assert caught.value.member == "[].0"


# The shape of the data that implementations of Avro exchange to see whether they understand each other: a record with a
# field of each type, among them a type that contains itself.
INTEROP = {
    "type": "record",
    "name": "Interop",
    "namespace": "org.apache.avro",
    "fields": [
        {"name": "intField", "type": "int"},
        {"name": "longField", "type": "long"},
        {"name": "stringField", "type": "string"},
        {"name": "boolField", "type": "boolean"},
        {"name": "floatField", "type": "float"},
        {"name": "doubleField", "type": "double"},
        {"name": "bytesField", "type": "bytes"},
        {"name": "nullField", "type": "null"},
        {"name": "arrayField", "type": {"type": "array", "items": "double"}},
        {"name": "mapField", "type": {"type": "map", "values": record("Foo", label="string")}},
        {"name": "unionField", "type": ["boolean", "double", {"type": "array", "items": "bytes"}]},
        {"name": "enumField", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B", "C"]}},
        {"name": "fixedField", "type": {"type": "fixed", "name": "MD5", "size": 16}},
        {
            "name": "recordField",
            "type": {
                "type": "record",
                "name": "Node",
                "fields": [
                    {"name": "label", "type": "string"},
                    {"name": "children", "type": {"type": "array", "items": "Node"}},
                ],
            },
        },
    ],
}


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "bzip2", "xz", "zstandard", "lz4"])
def test_the_data_that_implementations_exchange(codec):
    pytest.importorskip("cramjam")
    entries = [
        {
            "intField": n * 12,
            "longField": n * 15234324,
            "stringField": f"hey {n}",
            "boolField": n % 2 == 0,
            "floatField": n * 1234.0,
            "doubleField": n * -1234.0,
            "bytesField": b"12312adf" * n,
            "nullField": None,
            "arrayField": [5.0, 0.0, 12.0][:n],
            "mapField": {"a": {"label": "a"}, "bee": {"label": "cee"}},
            "unionField": [True, 12.5, [b"x", b""]][n % 3],
            "enumField": "ABC"[n % 3],
            "fixedField": b"1019181716151413",
            "recordField": {"label": "blah", "children": [{"label": "inner", "children": []}] * n},
        }
        for n in range(20)
    ]
    try:
        data = file_of(INTEROP, entries, codec=codec, sync_interval=300)
    except ValueError:
        pytest.skip(f"fastavro has no {codec} here")
    tree = forthwith.open(io.BytesIO(data))
    names = [name for name in tree if name != "recordField"]
    assert len(names) == 13
    found = tree.arrays(names).to_list()
    for row, expected in zip(found, entries, strict=True):
        assert {**row, "mapField": dict(row["mapField"])} == {name: expected[name] for name in names}
    with pytest.raises(forthwith.UnsupportedError, match=r"recursive type org\.apache\.avro\.Node"):
        tree.arrays()
    assert tree["recordField/label"].array().to_list() == ["blah"] * 20


def test_polars_reads_what_is_written():
    polars = pytest.importorskip("polars")
    columns = {
        "b": [True, False, True],
        "i": [1, -2, 1 << 40],
        "d": [0.5, float("inf"), -1e300],
        "s": ["", "é", "z"],
        "o": [1.5, None, 2.5],
        "t": [None, "x", None],
        "l": [[1, 2], [], [3]],
        "ll": [[["a"], []], [], [["b", "c"]]],
        "r": [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}, {"x": 3, "y": "c"}],
    }
    for codec in ("null", "deflate", "snappy"):
        file = io.BytesIO()
        forthwith.avro.write(file, columns, codec=codec)
        file.seek(0)
        found = polars.read_avro(file)
        assert {name: found[name].to_list() for name in found.columns} == columns


@pytest.mark.parametrize(
    ("type_of", "good", "bad"),
    [
        ("boolean", b"\1", b"\2"),
        (["null", "boolean"], b"\2\0", b"\2\xff"),
        ({"type": "array", "items": "boolean"}, b"\4\0\1\0", b"\4\0\x80\0"),
        ({"type": "map", "values": "boolean"}, b"\2\2a\1\0", b"\2\2a\3\0"),
        (["boolean", "string"], b"\0\1", b"\0\7"),
        (record("i", deep="boolean", x="double"), b"\0" + b"\0" * 8, b"\5" + b"\0" * 8),
    ],
    ids=str,
)
@pytest.mark.parametrize("number", ["double", "int"])
def test_a_boolean_is_zero_or_one(type_of, good, bad, number):
    schema = record(n=number, x=type_of)
    size = 8 if number == "double" else 1
    row = b"\0" * size
    blocks = [(3, (row + good) * 3), (2, row + good + row + bad), (2, (row + good) * 2)]
    data = by_hand(schema, *blocks)
    (want,) = fastavro.reader(io.BytesIO(by_hand(schema, (1, row + good))))
    assert read(by_hand(schema, blocks[0])) == [want] * 3
    for names in (["x"], ["x", "n"], None):
        for threads in (1, 2):
            tree = forthwith.open(io.BytesIO(data))
            with pytest.raises(forthwith.DamagedFileError, match="a boolean is neither 0 nor 1") as caught:
                tree.arrays(names, threads=threads)
            error = caught.value
            assert (error.block, error.entry) == (1, 4)
            # Behind the number of the row and what stands before the byte.
            assert size + len(good) + size < error.byte <= 2 * size + len(good) + len(bad)
            assert error.member.startswith("x")
    # Damage in fields that are not wanted is not looked at.
    tree = forthwith.open(io.BytesIO(data))
    assert tree["n"].array().to_list() == [0] * 7
    assert len(tree.arrays(entry_stop=4)) == 4
    assert len(tree.arrays(entry_start=5)) == 2
    lost = []
    assert len(tree.arrays(errors="skip", lost=lost)) == 6
    assert [(loss.start, loss.stop) for loss in lost] == [(4, 5)]
    # However many there are in a block, one by one; those before the first that is wanted do not count.
    many = by_hand(schema, (7, (row + good) + (row + bad) + (row + good) + (row + bad) * 2 + (row + good) * 2))
    tree, lost, each = forthwith.open(io.BytesIO(many)), [], len(row + bad)
    assert tree.arrays(errors="skip", lost=lost).to_list() == [want] * 4
    assert [(loss.start, loss.stop, loss.error.entry) for loss in lost] == [(1, 2, 1), (3, 4, 3), (4, 5, 4)]
    places = [loss.error.byte - len(row + good) * (2 - (at == 0)) - each * at for at, loss in enumerate(lost)]
    assert len(set(places)) == 1
    assert size < places[0] <= each
    nulls = tree["x"].array(errors="null", lost=[])
    assert [at for at, value in enumerate(nulls.to_list()) if value is None] == [1, 3, 4] or want["x"] is None
    assert len(tree.arrays(entry_start=5)) == 2
    # Its block is damaged.
    assert read(data, skip_damaged=True) == [want] * 5
    # As another schema wants it, by itself, and as a datum.
    wanted = record(x=type_of)
    with pytest.raises(forthwith.DamagedFileError, match="neither 0 nor 1") as caught:
        read(data, schema=wanted)
    assert (caught.value.block, caught.value.entry) == (1, 4)
    alone = by_hand(type_of, (2, good + bad))
    with pytest.raises(forthwith.DamagedFileError, match="neither 0 nor 1") as caught:
        read(alone)
    assert (caught.value.block, caught.value.entry) == (0, 1)
    with pytest.raises(forthwith.DamagedFileError, match="neither 0 nor 1") as caught:
        forthwith.avro.decode([good, good, bad], type_of)
    assert caught.value.entry == 2


def test_what_stands_before_a_damaged_block_comes_first():
    data = by_hand(record(n="long"), *[(1, b"\2")] * 40)
    cut = data[: len(data) - 5]
    for errors in ("raise", "skip", "null"):
        for step in (3, "30 B", "1 GB"):
            tree = forthwith.open(io.BytesIO(cut))
            read = []
            # Which is an error, or said.
            if errors == "raise":
                with pytest.raises(forthwith.DamagedFileError, match="block 39"):
                    read.extend(tree.iterate(step_size=step))
            else:
                with pytest.warns(forthwith.DataLossWarning, match="sync marker needs 17 bytes, 12 are left"):
                    read.extend(tree.iterate(step_size=step, errors=errors))
            assert sum(map(len, read)) == 39, (errors, step)


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard", "bzip2", "xz", "lz4"])
def test_a_block_of_no_entries_has_no_bytes(codec):
    # One bit of a count, and an entry would be gone.
    out = io.BytesIO()
    writer = fastavro.write.Writer(out, record(a="int"), codec=codec)
    for number in (11, 22, 33):
        writer.write({"a": number})
        writer.dump()
    data = out.getvalue()
    marker = data[-16:]
    at = data.find(marker, data.find(marker) + 16) + 16
    assert data[at] == 2
    data = data[:at] + b"\0" + data[at + 1 :]
    with pytest.raises(forthwith.DamagedFileError, match=r"1 bytes of no entries(.|\n)*block 1"):
        read(data)
    table = forthwith.open(io.BytesIO(data), skip_damaged=True)
    assert table.arrays().to_list() == [{"a": 11}, {"a": 33}]
    assert [damage[0] for damage in table.damage] == [1]


def test_a_block_of_nothing():
    assert read(by_hand(record(a="int"), (1, b"\x02"), (0, b""), (1, b"\x04"))) == [{"a": 1}, {"a": 2}]
