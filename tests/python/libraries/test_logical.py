"""Dates, times, decimals, maps and unions as the types of other libraries: what the core hands over."""

import datetime
import decimal
import json

import awkward as ak
import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import forthwith

DAY = datetime.date(2026, 11, 22)
MOMENT = datetime.datetime(2026, 11, 22, 12, 30, 0, 123000)
TYPES = {
    "date": (pa.date32(), DAY, "datetime64[D]"),
    "time_ms": (pa.time32("ms"), MOMENT.time(), "timedelta64[ms]"),
    "time_us": (pa.time64("us"), MOMENT.time(), "timedelta64[us]"),
    "time_ns": (pa.time64("ns"), MOMENT.time(), "timedelta64[ns]"),
    "stamp_ms": (pa.timestamp("ms"), MOMENT, "datetime64[ms]"),
    "stamp_us": (pa.timestamp("us", "UTC"), MOMENT, "datetime64[us]"),
    "stamp_ns": (pa.timestamp("ns"), MOMENT, "datetime64[ns]"),
    "span": (pa.duration("ms"), datetime.timedelta(seconds=5), "timedelta64[ms]"),
    "half": (pa.float16(), np.float16(1.5), "float16"),
    "price": (pa.decimal128(9, 2), decimal.Decimal("-12.34"), "int32"),
    "sum": (pa.decimal128(18, 2), decimal.Decimal("-12.34"), "int64"),
    "listed": (pa.list_(pa.date32()), [DAY, None], "datetime64[D]"),
}


def core(path, name):
    tree = forthwith.open(path)
    (array,) = tree._core.read(tree._core.plan([tree._core.find(name)], 0, tree.num_entries))
    return array


@pytest.fixture(scope="module", params=["as integers", "as bytes"])
def parquet(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("logical") / "types.parquet"
    columns = {name: pa.array([value, None, value], type) for name, (type, value, _) in TYPES.items()}
    as_integers = request.param == "as integers"
    pa.parquet.write_table(pa.table(columns), path, store_decimal_as_integer=as_integers)
    return path, as_integers


@pytest.mark.parametrize("name", TYPES)
def test_times_and_decimals_have_the_types_of_numpy(parquet, name):
    path, as_integers = parquet
    array = core(path, name)
    logical = array.logical()
    kind = TYPES[name][2]
    if name == "price" and not as_integers:
        kind = "int64"
    made = ak.Array(logical.layout())
    assert kind in str(made.type)
    buffers = dict(logical.buffers())
    same = ak.from_buffers(logical.form, len(logical), {key: np.asarray(buffer) for key, buffer in buffers.items()})
    assert same.type == made.type
    assert same.to_list() == made.to_list()
    value = made[0][0] if name == "listed" else made[0]
    if pa.types.is_decimal(TYPES[name][0]):
        assert int(value) == -1234
        assert made.layout.content.parameter("logical").startswith("decimal[")
    else:
        arrow = pa.array(array).to_pylist()[0]
        arrow = arrow[0] if name == "listed" else arrow
        if isinstance(arrow, datetime.time):
            arrow = datetime.datetime.combine(DAY, arrow) - datetime.datetime.combine(DAY, datetime.time())
        expected = np.float16(1.5) if name == "half" else arrow
        if isinstance(expected, datetime.datetime):
            expected = expected.replace(tzinfo=None)
        assert value == np.asarray(expected, dtype=made[0].dtype if name != "listed" else "datetime64[D]")
    assert made[1] is None


def test_what_numpy_forgets_is_remembered_and_written_again(parquet, tmp_path):
    path, _ = parquet
    layouts = {name: core(path, name).logical().layout() for name in TYPES if name != "half"}
    forthwith.write_parquet(tmp_path / "again.parquet", {name: ak.Array(it) for name, it in layouts.items()})
    written = pa.parquet.read_table(tmp_path / "again.parquet")
    for name in layouts:
        kind, value, _ = TYPES[name]
        found = written[name]
        if not pa.types.is_decimal(kind) and name != "listed":
            assert found.type == kind, name
        assert found.to_pylist()[0] == pa.array([value], kind).to_pylist()[0], name


def test_no_rows_have_the_same_types():
    record = {name: pa.array([], type) for name, (type, _, _) in TYPES.items()}
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table({"all": pa.StructArray.from_arrays(list(record.values()), list(record))}), sink)
    tree = forthwith.open(pa.BufferReader(sink.getvalue()))
    (array,) = tree._core.read(tree._core.plan([0], 0, 0))
    made = ak.Array(array.logical().layout())
    for name, (type, _, kind) in TYPES.items():
        assert ("decimal[" if pa.types.is_decimal(type) else kind) in str(made[name].type)


def test_decimals_of_more_digits_than_an_integer_has_stay_bytes(tmp_path):
    long = pa.array([decimal.Decimal("1234567890123456789012.50")], pa.decimal128(24, 2))
    pa.parquet.write_table(pa.table({"long": long}), tmp_path / "long.parquet")
    array = core(tmp_path / "long.parquet", "long")
    made = ak.Array(array.logical().layout())
    assert int.from_bytes(made[0], "big", signed=True) == 123456789012345678901250


@pytest.fixture(scope="module")
def avro(tmp_path_factory):
    path = tmp_path_factory.mktemp("logical") / "types.avro"
    fields = [
        {"name": "tags", "type": {"type": "map", "values": "long"}},
        {"name": "either", "type": ["null", "long", "string"]},
        {"name": "suit", "type": {"type": "enum", "name": "Suit", "symbols": ["HEARTS", "SPADES"]}},
        {"name": "digest", "type": {"type": "fixed", "name": "Digest", "size": 4}},
    ]
    rows = [
        {"tags": {"a": 1, "b": 2}, "either": 5, "suit": "SPADES", "digest": b"abcd"},
        {"tags": {}, "either": "x", "suit": "HEARTS", "digest": b"efgh"},
        {"tags": {"c": 3}, "either": None, "suit": "HEARTS", "digest": b"ijkl"},
    ]
    with open(path, "wb") as file:
        fastavro.writer(file, fastavro.parse_schema({"type": "record", "name": "R", "fields": fields}), rows)
    return path, rows


class Capsules:
    def __init__(self, capsules):
        self.__arrow_c_array__ = lambda requested_schema=None: capsules


def test_maps_and_unions_as_those_want_them_that_know_no_others(avro):
    path, rows = avro
    tags, either = core(path, "tags"), core(path, "either")
    made = pa.array(Capsules(tags.arrow(maps=True)))
    assert pa.types.is_map(made.type)
    assert (made.type.key_field.name, made.type.item_field.name) == ("key", "value")
    assert [dict(row) for row in made.to_pylist()] == [row["tags"] for row in rows]
    assert pa.types.is_large_list(pa.array(Capsules(tags.arrow())).type)
    made = pa.array(Capsules(either.arrow(union_as_struct=True)))
    assert pa.types.is_struct(made.type)
    values = [[v for v in (row or {}).values() if v is not None] for row in made.to_pylist()]
    assert values == [[5], ["x"], []]
    assert pa.types.is_union(pa.array(either).type)


def test_streams_have_maps_and_structs_too(avro):
    path, rows = avro
    tree = forthwith.open(path)
    names = ["tags", "either"]
    stream = tree.select(names)
    table = pa.table(stream)
    assert table.schema == pa.schema(stream)
    assert pa.types.is_map(table["tags"].type)
    assert pa.types.is_struct(table["either"].type)
    assert [dict(row) for row in table["tags"].to_pylist()] == [row["tags"] for row in rows]


def test_named_types_say_what_they_are(avro):
    path, _ = avro
    typenames = forthwith.open(path).typenames()
    assert typenames["suit"] == "enum Suit[HEARTS, SPADES]"
    assert typenames["digest"] == "fixed Digest[4]"
    assert json.loads(core(path, "suit").form)["class"] == "IndexedArray"
