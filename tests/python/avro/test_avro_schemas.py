"""Schemas that other readers of Avro stumbled over, and pairs of schemas that are to fit: a case each."""

import copy
import io

import pytest
from test_avro_edges import by_hand, fastavro, file_of, read, record

import forthwith
import forthwith.avro

EVENTS = [
    record("Create", id="string", at="long"),
    record("Update", id="string", changes={"type": "map", "values": "string"}),
]


def test_a_union_of_records():
    # DuckDB: every field null.
    schema = record(event=EVENTS)
    entries = [
        {"event": ("Create", {"id": "a", "at": 1})},
        {"event": ("Update", {"id": "b", "changes": {"k": "v"}})},
        {"event": ("Create", {"id": "c", "at": 2})},
    ]
    found = read(file_of(schema, entries))
    assert [row["event"]["id"] for row in found] == ["a", "b", "c"]
    assert found[1]["event"]["changes"] == {"k": "v"}


def test_a_union_of_records_that_look_alike():
    schema = record(event=[record("A", x="int"), record("B", x="int"), "null"])
    entries = [{"event": ("B", {"x": 1})}, {"event": None}, {"event": ("A", {"x": 2})}]
    assert read(file_of(schema, entries)) == [{"event": {"x": 1}}, {"event": None}, {"event": {"x": 2}}]


def test_a_type_that_is_used_again_is_not_recursive():
    # DuckDB: taken for a recursive type.
    version = record("Version", major="int", minor="int")
    schema = record(
        "Request", id="string", client=version, server="Version", others={"type": "array", "items": "Version"}
    )
    one = {"major": 1, "minor": 2}
    entries = [{"id": "a", "client": one, "server": one, "others": [one, one]}]
    assert read(file_of(schema, entries)) == entries


def test_a_recursive_type_is_refused_by_name_and_stepped_over():
    node = {
        "type": "record",
        "name": "a.Node",
        "fields": [{"name": "v", "type": "int"}, {"name": "next", "type": ["null", "Node"]}],
    }
    schema = record(before="int", node=node, after="string")
    nested = {"v": 1, "next": {"v": 2, "next": {"v": 3, "next": None}}}
    tree = forthwith.open(io.BytesIO(file_of(schema, [{"before": 1, "node": nested, "after": "x"}] * 3)))
    assert tree.arrays(["before", "after"]).to_list() == [{"before": 1, "after": "x"}] * 3
    with pytest.raises(forthwith.UnsupportedError, match=r"recursive type a\.Node"):
        tree.arrays(["node"])


def test_two_types_that_contain_each_other():
    other = {"type": "record", "name": "B", "fields": [{"name": "a", "type": ["null", "A"]}]}
    schema = record(
        x={"type": "record", "name": "A", "fields": [{"name": "b", "type": {"type": "array", "items": other}}]}, y="int"
    )
    data = file_of(schema, [{"x": {"b": [{"a": None}, {"a": {"b": []}}]}, "y": 7}])
    tree = forthwith.open(io.BytesIO(data))
    assert tree.arrays(["y"]).to_list() == [{"y": 7}]
    with pytest.raises(forthwith.UnsupportedError, match="recursive type"):
        tree.arrays(["x"])


def test_a_nullable_enum_that_grew():
    # fastavro: the old symbols no longer resolved within a union.
    old = record(e=["null", {"type": "enum", "name": "E", "symbols": ["A", "B"]}])
    new = record(e=["null", {"type": "enum", "name": "E", "symbols": ["C", "B", "A"]}])
    entries = [{"e": "A"}, {"e": None}, {"e": "B"}]
    assert read(file_of(old, entries), schema=new) == entries


def test_documentation_makes_no_other_type():
    # fastavro: a union of null and a record with a doc did not resolve.
    old = record("Person", address=["null", record("Address", city="string")])
    new = copy.deepcopy(old)
    new["fields"][0]["type"][1]["doc"] = "where"
    entries = [{"address": {"city": "Glasgow"}}, {"address": None}]
    assert read(file_of(old, entries), schema=new) == entries


def test_a_record_read_as_a_union_with_it():
    # fastavro: only the first alternative was tried.
    old = record(x=record("In", a="int"))
    new = record(x=["null", "string", record("In", a="long")])
    assert read(file_of(old, [{"x": {"a": 1}}]), schema=new) == [{"x": {"a": 1}}]


def test_a_union_with_its_default_in_the_wrong_place():
    # fastavro: files that old writers made could no longer be read.
    schema = {"type": "record", "name": "r", "fields": [{"name": "flag", "type": ["null", "int"], "default": 0}]}
    assert read(by_hand(schema, (2, b"\x02\x02\x00"))) == [{"flag": 1}, {"flag": None}]
    wanted = {
        "type": "record",
        "name": "r",
        "fields": [*schema["fields"], {"name": "more", "type": ["null", "int"], "default": 7}],
    }
    assert read(by_hand(schema, (1, b"\x00")), schema=wanted) == [{"flag": None, "more": 7}]


def test_fields_with_properties_of_others():
    # Iceberg's field-ids, and names with a point in a type.
    schema = {
        "type": "record",
        "name": "manifest_entry",
        "fields": [
            {"name": "status", "type": "int", "field-id": 0},
            {
                "name": "ids",
                "field-id": 1,
                "type": ["null", {"type": "array", "element-id": 2, "items": record("k1_v2", key="int", value="long")}],
            },
        ],
    }
    entries = [{"status": 1, "ids": [{"key": 1, "value": 2}]}, {"status": 2, "ids": None}]
    assert read(file_of(schema, entries)) == entries


def decimals(precision, scale, base="bytes"):
    return {"type": base, "logicalType": "decimal", "precision": precision, "scale": scale}


def test_a_reader_of_another_meaning_is_refused():
    # Of the same bytes, each would make another number.
    for wrote, wanted in [
        (decimals(4, 2), decimals(4, 1)),
        (decimals(4, 2), decimals(5, 2)),
        ({"type": "long", "logicalType": "timestamp-millis"}, {"type": "long", "logicalType": "timestamp-micros"}),
        (
            {"type": "long", "logicalType": "timestamp-millis"},
            {"type": "long", "logicalType": "local-timestamp-millis"},
        ),
        ({"type": "int", "logicalType": "date"}, {"type": "int", "logicalType": "time-millis"}),
        ({"type": "int", "logicalType": "date"}, {"type": "long", "logicalType": "timestamp-millis"}),
        ({"type": "int", "logicalType": "time-millis"}, {"type": "long", "logicalType": "time-micros"}),
    ]:
        payload = b"\x02\x01" if wrote["type"] == "bytes" else b"\x02"
        both = f"{wrote['logicalType']}.* cannot be read as {wanted['logicalType']}"
        with pytest.raises(forthwith.RequestError, match=both):
            read(by_hand(record(x=wrote), (1, payload)), schema=record(x=wanted))
        with pytest.raises(forthwith.RequestError, match=both):
            forthwith.avro.decode([payload], wrote, reader_schema=wanted)
        # The same, and bare values on one side.
        for one, other in [(wrote, wrote), (wrote, wrote["type"]), (wrote["type"], wrote)]:
            assert len(read(by_hand(record(x=one), (1, payload)), schema=record(x=other))) == 1
    with pytest.raises(forthwith.RequestError, match=r"decimal\[4, 2\] \(bytes\) cannot be read as decimal\[4, 1\]"):
        read(by_hand(record(x=decimals(4, 2)), (1, b"\x02\x01")), schema=record(x=decimals(4, 1)))
    # In a union it is a value without a counterpart.
    wrote, wanted = record(x=["null", decimals(4, 2)]), record(x=["null", decimals(4, 1)])
    with pytest.raises(forthwith.DamagedFileError, match="no counterpart"):
        read(by_hand(wrote, (1, b"\x02\x02\x01")), schema=wanted)


def test_a_default_that_is_none_is_a_request():
    wanted = {"type": "record", "name": "r", "fields": [{"name": "y", "type": "int", "default": "one"}]}
    with pytest.raises(forthwith.RequestError, match='the default of field "y": "one" is no int'):
        read(by_hand(record(x="int"), (1, b"\x02")), schema=wanted)


def test_unions_of_enums_and_of_fixeds_take_the_one_that_fits():
    def enum(name, *symbols):
        return {"type": "enum", "name": name, "symbols": list(symbols)}

    def fixed(name, size):
        return {"type": "fixed", "name": name, "size": size}

    enums, fixeds = [enum("a", "p"), enum("b", "q", "r")], [fixed("one", 1), fixed("two", 2), fixed("none", 0)]
    for schema, values in [
        (enums, ["q"]),
        (enums, ["q", "p", "r", "p"]),
        (["null", *enums], ["r", None, "p"]),
        ([*enums, "string"], ["q", "else", "p"]),
        (fixeds, [b"ab"]),
        (fixeds, [b"ab", b"c", b"", b"de"]),
        (["null", *fixeds], [b"c", None, b"ab"]),
        ([*fixeds, "bytes"], [b"ab", b"long", b"c"]),
    ]:
        parsed = fastavro.parse_schema(copy.deepcopy(schema))
        datums = forthwith.avro.encode(values, schema)
        found = [fastavro.schemaless_reader(io.BytesIO(datum), parsed, None) for datum in datums]
        assert found == values
        # And what was read can be written again.
        again = forthwith.avro.decode(datums, schema)
        assert forthwith.avro.encode(again, schema) == datums
    categories = __import__("awkward").str.to_categorical(["q", "p", "q"])
    assert forthwith.avro.encode(categories, enums) == [b"\x02\x00", b"\x00\x00", b"\x02\x00"]
    for schema, values in [(enums, ["q", "s"]), (fixeds, [b"abc"])]:
        with pytest.raises(forthwith.RequestError):
            forthwith.avro.encode(values, schema)


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        (["int", "int"], "a union with int twice"),
        (["null", ["int"]], "a union directly within a union"),
        ([{"type": "array", "items": "int"}, {"type": "array", "items": "long"}], "a union with array twice"),
        ([{"type": "int", "logicalType": "date"}, "int"], "a union with int twice"),
        ({"type": "enum", "name": "e", "symbols": ["a", "b", "a"]}, 'enum "e" has two symbols "a"'),
        (
            {"type": "record", "name": "r", "fields": [{"name": "x", "type": ["null", "r", "r"]}]},
            "a union with the same named type twice",
        ),
    ],
)
def test_schemas_that_the_specification_forbids(schema, what):
    with pytest.raises(forthwith.RequestError, match=what):
        forthwith.avro.canonical(schema)
    with pytest.raises(forthwith.DamagedFileError, match=what):
        read(by_hand(schema, (0, b"")))


def test_names_may_be_any():
    # By the specification they are of letters, digits and underscores; nothing that is read depends on it.
    schema = {"type": "record", "name": "1 x", "fields": [{"name": "a-b c", "type": "int"}]}
    assert read(by_hand(schema, (1, b"\x02"))) == [{"a-b c": 1}]


def test_a_schema_that_is_none_is_a_request():
    data = by_hand("int", (1, b"\x02"))
    for schema in ('{"type": "nothing"}', [{"type": "array"}], '{"type": '):
        with pytest.raises(forthwith.RequestError, match="not an Avro schema"):
            read(data, schema=schema)
        with pytest.raises(ValueError, match="not an Avro schema"):
            forthwith.avro.write(io.BytesIO(), [1], schema=schema)
        with pytest.raises(forthwith.RequestError, match="not an Avro schema"):
            forthwith.avro.canonical(schema)
    # The file's own is the file's fault.
    with pytest.raises(forthwith.DamagedFileError):
        read(by_hand('{"type": "nothing"}', (1, b"\x02")))


def test_parts_of_what_another_schema_wants():
    old = record("i", a="int", b="string", c=["null", record("j", d="long", e="boolean")], f="double")
    schema = record(n="int", one=old, many={"type": "array", "items": ["null", "i"]})
    row = {"a": 1, "b": "x", "c": {"d": 5, "e": True}, "f": 0.5}
    entries = [
        {"n": 1, "one": row, "many": [row, None]},
        {"n": 2, "one": row | {"c": None}, "many": []},
        {"n": 3, "one": row | {"b": "yz"}, "many": [None, row | {"c": None, "a": 7}]},
    ]
    data = file_of(schema, entries)
    new = {
        "type": "record",
        "name": "i",
        "fields": [
            {"name": "f", "type": "double"},
            {"name": "new", "type": record("k", p="int", q="string"), "default": {"p": 4, "q": "q"}},
            {"name": "called", "aliases": ["c"], "type": ["null", record("j", e="boolean", d="double")]},
            {"name": "a", "type": "long"},
        ],
    }
    wanted = record(many={"type": "array", "items": ["null", new]}, one="i")
    tree = forthwith.open(io.BytesIO(data), schema=wanted)
    whole = tree.arrays()
    assert tree.keys() == ["many", "one"]
    for path in [
        "one/a", "one/f", "one/called", "one/called/d", "one/called/e", "one/new", "one/new/q",
        "many/a", "many/called", "many/called/d", "many/new/p",
    ]:  # fmt: skip
        want = whole
        for part in path.split("/"):
            want = want[part]
        found = tree[path].array()
        assert found.to_list() == want.to_list(), path
        assert str(found.type) == str(want.type), path
    several = tree.arrays(["one/called/d", "many", "one/a", "many/a"])
    assert several["one/called/d"].to_list() == [5, None, 5]
    assert several["one/a"].to_list() == [1, 1, 1]
    assert several["many"].to_list() == whole["many"].to_list()
    assert several["many/a"].to_list() == whole["many"].a.to_list()
    with pytest.raises(forthwith.KeyInFileError):
        tree["one/b"]
    with pytest.raises(forthwith.KeyInFileError):
        tree["one/c"]
    # A whole record that is a default.
    extra = {"type": "record", "name": "r", "fields": [
        {"name": "n", "type": "int"},
        {"name": "extra", "type": ["null", new], "default": None},
        {"name": "other", "type": "i", "default": {"f": 1.5, "new": {"p": 1, "q": "z"}, "called": None, "a": 9}},
    ]}  # fmt: skip
    tree = forthwith.open(io.BytesIO(data), schema=extra)
    assert tree["extra/a"].array().to_list() == [None] * 3
    assert tree["other/a"].array().to_list() == [9] * 3
    assert tree["other/new/q"].array().to_list() == ["z"] * 3
    assert tree.arrays(["other/f", "n"]).to_list() == [{"other/f": 1.5, "n": n} for n in (1, 2, 3)]


def test_defaults_are_the_nearest_numbers():
    numbers = [-0.0015381280166087193, 0.1, 1e-310, 1.7976931348623157e308, 123456.7890123456]
    data = file_of(record(b="int"), [{"b": 1}])
    for number in numbers:
        schema = {"type": "record", "name": "r", "fields": [{"name": "x", "type": "double", "default": number}]}
        assert read(data, schema=schema) == [{"x": number}]
