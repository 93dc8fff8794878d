"""Awkward Arrays with values of Python's own classes: their lists are the rows of the table."""

import copy
import datetime as dt
import decimal
import io
import math
import pickle
import random
import subprocess
import sys
import uuid

import awkward as ak
import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import random_avro_rows

import forthwith

UTC = dt.UTC
SCHEMA = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "tags", "type": {"type": "map", "values": "int"}},
        {"name": "n", "type": "int"},
    ],
}
ROWS = [
    {
        "amount": decimal.Decimal(1234 + number).scaleb(-2),
        "at": dt.datetime(2024, 1, 1 + number, tzinfo=UTC),
        "id": uuid.UUID(int=number),
        "tags": {f"k{at}": at for at in range(number)},
        "n": number,
    }
    for number in range(4)
]


def is_same(found, expected):
    """Equal values of equal classes, with equal zones."""
    if isinstance(expected, dict):
        is_like = isinstance(found, dict) and list(found) == list(expected)
        return is_like and all(is_same(found[key], expected[key]) for key in expected)
    if isinstance(expected, list | tuple):
        return type(found) is type(expected) and len(found) == len(expected) and all(map(is_same, found, expected))
    if found is None and expected == -(2**63):
        # NumPy's NaT.
        return True
    if isinstance(expected, float) and math.isnan(expected):
        return math.isnan(found)
    is_equal = type(found) is type(expected) and found == expected
    return is_equal and getattr(found, "tzinfo", None) == getattr(expected, "tzinfo", None)


def avro(schema, rows):
    file = io.BytesIO()
    fastavro.writer(file, schema, rows)
    file.seek(0)
    return forthwith.open(file)


def parquet(columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return forthwith.open(file)


@pytest.fixture
def array():
    return avro(SCHEMA, ROWS).arrays()


def is_plain(array):
    return type(array) is ak.Array


def test_lists_of_avro_are_those_of_fastavro(array):
    assert is_same(array.to_list(), ROWS)
    assert is_same(array.tolist(), ROWS)
    assert is_same(ak.to_list(array), ROWS)
    # The layout knows none of it.
    assert array.layout.to_list()[0]["amount"] == 1234


def test_lists_of_random_schemas_are_their_rows():
    of_class = {True: 0, False: 0}
    for seed in range(60):
        schema, rows, _ = random_avro_rows.case(seed)
        file = io.BytesIO()
        forthwith.write_avro(file, rows, schema)
        file.seek(0)
        table = forthwith.open(file)
        expected, array = table.to_list(), table.arrays()
        of_class[is_plain(array)] += 1
        assert is_same(array.to_list(), expected), (seed, schema)
        rng = random.Random(seed)
        order = [rng.randrange(len(expected)) for _ in range(6)]
        assert is_same(array[order].to_list(), [expected[at] for at in order]), seed
        assert is_same(array[::-2].to_list(), expected[::-2]), seed
        assert is_same([record.to_list() for record in array], expected), seed
        for name in array.fields:
            column = [row[name] for row in expected]
            assert is_same(array[name].to_list(), column), (seed, name)
            assert is_same(table[name].array().to_list(), column), (seed, name)
        assert is_same(pickle.loads(pickle.dumps(array)).to_list(), expected), seed
        datums = forthwith.avro.encode(rows, schema)
        assert is_same(forthwith.avro.decode(datums, schema).to_list(), expected), seed
    assert min(of_class.values()) > 5


def arrow_values(rng, size):
    """Columns of each logical type of Arrow but those in nanoseconds, with nulls and in lists and records."""
    micros = [rng.randrange(-(10**15), 10**15) for _ in range(size)]
    of_day = [rng.randrange(86_400) * 1000 for _ in range(size)]
    numbers = [rng.randrange(-(10**9), 10**9) for _ in range(size)]
    simple = {
        "amount": pa.array([decimal.Decimal(one).scaleb(-2) for one in numbers], pa.decimal128(10, 2)),
        "long": pa.array([decimal.Decimal(one).scaleb(-30) for one in numbers], pa.decimal256(40, 30)),
        "utc": pa.array(micros, pa.timestamp("us", "UTC")),
        "berlin": pa.array(micros, pa.int64()).cast(pa.timestamp("us", "Europe/Berlin")),
        "east": pa.array([one // 1000 for one in micros], pa.timestamp("ms", "+05:30")),
        "bare": pa.array(micros, pa.timestamp("us")),
        "date": pa.array([one // 10**11 for one in micros], pa.int32()).cast(pa.date32()),
        "time": pa.array(of_day, pa.int32()).cast(pa.time32("ms")),
        "clock": pa.array([one * 1000 for one in of_day], pa.time64("us")),
        "span": pa.array(micros, pa.duration("us")),
        "half": pa.array([float(one % 100) for one in numbers], pa.float16()),
        "number": pa.array(numbers),
    }
    nullable = {
        f"{name}?": pa.array([None if rng.random() < 0.3 else one for one in column.to_pylist()], column.type)
        for name, column in simple.items()
        if name != "half"
    }
    offsets = pa.array(sorted([0, *rng.choices(range(size + 1), k=size - 1), size]), pa.int32())
    lists = {f"{name}[]": pa.ListArray.from_arrays(offsets, column) for name, column in simple.items()}
    fields = pa.StructArray.from_arrays(list(simple.values()), list(simple))
    return {**simple, **nullable, **lists, "record": fields, "records": pa.ListArray.from_arrays(offsets, fields)}


@pytest.mark.parametrize("seed", range(5))
def test_lists_of_parquet_are_its_rows(seed, tmp_path):
    columns = arrow_values(random.Random(seed), 20)
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_file(sink, pa.table(columns).schema) as writer:
        writer.write_table(pa.table(columns))
    for name in ("a.parquet", "a.arrow"):
        table = forthwith.open(tmp_path / name)
        expected = table.to_list()
        array = table.arrays()
        assert is_same(array.to_list(), expected)
        assert is_same(table.arrays(virtual=True).to_list(), expected)
        assert is_same([row for step in table.iterate(step_size=7) for row in step.to_list()], expected)
        for label in columns:
            assert is_same(array[label].to_list(), [row[label] for row in expected]), label


def test_maps_are_dicts_in_avro_only():
    tags = [row["tags"] for row in ROWS]
    array = avro(SCHEMA, ROWS).arrays()
    assert array.tags.to_list() == tags
    assert array.tags[2:].to_list() == tags[2:]
    assert array[::-1].tags.to_list() == tags[::-1]
    assert array.tags[2].to_list() == [("k0", 0), ("k1", 1)]
    amounts = [[("a", decimal.Decimal("0.50")), ("a", None)], [], None]
    array = parquet({"m": pa.array(amounts, pa.map_(pa.string(), pa.decimal128(9, 2)))}).arrays()
    assert array.to_list() == [{"m": pairs} for pairs in amounts]


def test_unions_have_the_values_of_their_alternatives():
    fields = [
        {"name": "u", "type": ["null", SCHEMA["fields"][0]["type"], "string", SCHEMA["fields"][3]["type"]]},
        {"name": "v", "type": ["int", SCHEMA["fields"][2]["type"]]},
    ]
    rows = [
        {"u": decimal.Decimal("1.50"), "v": 3},
        {"u": None, "v": uuid.UUID(int=9)},
        {"u": "x", "v": uuid.UUID(int=8)},
        {"u": {"a": 1}, "v": 4},
    ]
    array = avro({"type": "record", "name": "R", "fields": fields}, rows).arrays()
    assert is_same(array.to_list(), rows)
    assert is_same(array[[3, 0]].to_list(), [rows[3], rows[0]])
    assert is_same(array["v"][1:].to_list(), [row["v"] for row in rows[1:]])


def test_parts_of_an_array_have_the_values(array):
    assert is_same(array.amount.to_list(), [row["amount"] for row in ROWS])
    assert is_same(array["amount"][1:3].to_list(), [row["amount"] for row in ROWS[1:3]])
    assert is_same(array[["n", "at"]].to_list(), [{"n": row["n"], "at": row["at"]} for row in ROWS])
    assert is_same(array[array.n > 1].to_list(), ROWS[2:])
    assert is_same(array[-1].to_list(), ROWS[-1])
    assert is_same(array[-1].tolist(), ROWS[-1])
    assert is_same([record.to_list() for record in array], ROWS)
    assert isinstance(array, ak.Array)
    assert isinstance(array[0], ak.Record)
    # Parts without such values are Awkward Array's own.
    assert is_plain(array.n)
    assert is_plain(array[["n"]])
    assert type(array[["n"]][0]) is ak.Record


def test_arrays_are_copied_and_pickled(array):
    for protocol in (2, 5):
        again = pickle.loads(pickle.dumps(array, protocol))
        assert is_same(again.to_list(), ROWS)
        assert is_same(pickle.loads(pickle.dumps(array[2], protocol)).to_list(), ROWS[2])
    outside = []
    data = pickle.dumps(array.amount, 5, buffer_callback=outside.append)
    assert outside
    assert is_same(pickle.loads(data, buffers=outside).to_list(), [row["amount"] for row in ROWS])
    for made in (copy.copy(array), copy.deepcopy(array)):
        assert is_same(made.to_list(), ROWS)
    assert is_same(copy.copy(array[1]).to_list(), ROWS[1])
    assert is_same(copy.deepcopy(array[1]).to_list(), ROWS[1])


def test_fields_are_added_and_removed(array):
    array["double"] = array.n * 2
    assert is_same(array.to_list(), [{**row, "double": row["n"] * 2} for row in ROWS])
    record = array[1]
    record["new"] = 5
    assert is_same(record.to_list(), {**ROWS[1], "double": 2, "new": 5})
    for name in ("double", "at", "id", "tags"):
        del array[name]
    assert is_same(array.to_list(), [{"amount": row["amount"], "n": row["n"]} for row in ROWS])
    del array["amount"]
    array.behavior = {}
    assert is_plain(array)
    assert array.to_list() == [{"n": row["n"]} for row in ROWS]


def test_behavior_and_layout_can_be_set(array):
    array.behavior = {"some": "behavior"}
    assert is_same(array.to_list(), ROWS)
    array.layout = array.layout[:2]
    assert is_same(array.to_list(), ROWS[:2])


def test_functions_give_arrays_of_awkward_array(array):
    together = ak.concatenate([array, array])
    assert is_plain(together)
    assert len(together) == 8
    assert is_plain(array.n + 1)
    assert is_plain(ak.num(array.tags))
    assert is_plain(ak.Array(array))
    assert ak.sum(array.amount) == sum(1234 + number for number in range(4))
    assert ak.zip({"a": array.amount, "n": array.n}).to_list()[0] == {"a": 1234, "n": 0}
    assert np.asarray(array.amount).tolist() == [1234, 1235, 1236, 1237]
    assert ak.to_arrow(array.at).type == ak.to_arrow(ak.Array(array.at)).type


def test_arrays_look_as_those_of_awkward_array(array):
    plain = ak.Array(array)
    assert repr(array) == repr(plain)
    assert repr(array[1]) == repr(plain[1])
    assert str(array.type) == str(plain.type)
    assert str(array) == str(plain)
    shown = io.StringIO(), io.StringIO()
    array.show(stream=shown[0])
    plain.show(stream=shown[1])
    assert shown[0].getvalue() == shown[1].getvalue()
    assert set(dir(array)) - set(dir(plain)) <= {"_maps"}
    assert array._repr_mimebundle_() == plain._repr_mimebundle_()
    assert type(array).__module__ == "awkward.highlevel"


def test_arrays_are_written_as_before(array, tmp_path):
    for write in (forthwith.write_parquet, forthwith.write_avro):
        ours, plain = io.BytesIO(), io.BytesIO()
        write(ours, array)
        write(plain, ak.Array(array))
        for file in (ours, plain):
            file.seek(0)
        assert forthwith.open(ours).to_list() == forthwith.open(plain).to_list()


def test_other_tables_give_arrays_of_awkward_array(tmp_path):
    table = parquet({"x": [1.5], "s": ["a"], "l": [[1]], "d": [dt.date(2024, 1, 1)], "t": [dt.datetime(2024, 1, 1)]})
    assert is_plain(table.arrays())
    assert table.arrays().to_list() == table.to_list()
    assert type(table.arrays()[0]) is ak.Record
    assert is_plain(table["x"].array())
    assert all(map(is_plain, table.iterate()))
    with forthwith.recreate(tmp_path / "a.root") as file:
        file["t"] = {"x": [1.5], "m": [{"a": 1}]}
    assert is_plain(forthwith.open(f"{tmp_path}/a.root:t").arrays())


def test_stored_numbers_are_as_they_are():
    table = avro(SCHEMA, ROWS)
    assert is_plain(table.arrays(logical=False))
    assert is_plain(table["at"].array(logical=False))


def test_times_in_nanoseconds_are_numbers():
    schema = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "t", "type": {"type": "long", "logicalType": "timestamp-nanos"}},
            {"name": "d", "type": SCHEMA["fields"][0]["type"]},
        ],
    }
    rows = [{"t": 1700000000123456789, "d": decimal.Decimal("0.01")}]
    table = avro(schema, rows)
    assert table.arrays().to_list() == table.to_list() == rows
    table = parquet({"t": pa.array([1700000000123456789], pa.timestamp("ns", "UTC"))})
    assert table.arrays().to_list() == [{"t": 1700000000123456789}]


@pytest.mark.parametrize(
    ("column", "error"),
    [
        (
            pa.array([2**60], pa.timestamp("ms", "UTC")),
            r"a timestamp\[ms, UTC\], which Python's datetime does not have",
        ),
        (pa.array([86_400_000_000], pa.time64("us")), r"a time\[us\], which Python's datetime does not have"),
    ],
)
def test_times_that_python_does_not_have_are_refused(column, error):
    array = parquet({"when": column}).arrays()
    with pytest.raises(forthwith.UnsupportedError, match=error):
        array.to_list()
    assert len(array.layout.to_list()) == 1


def test_decimals_have_all_digits():
    amounts = [decimal.Decimal("1E-30"), decimal.Decimal(10**29).scaleb(-30), None, decimal.Decimal("-0.5")]
    array = parquet({"d": pa.array(amounts, pa.decimal128(38, 30))}).arrays()
    assert is_same(array.to_list(), [{"d": one} for one in amounts])
    assert [str(one) for one in array.d.to_list()[:2]] == ["1E-30", "0.100000000000000000000000000000"]


def test_files_together_have_the_values(tmp_path):
    for at in range(3):
        with open(tmp_path / f"{at}.avro", "wb") as file:
            fastavro.writer(file, SCHEMA, ROWS)
    chain = forthwith.open(f"{tmp_path}/*.avro")
    assert is_same(chain.arrays().to_list(), ROWS * 3)
    assert is_same(chain["id"].array().to_list(), [row["id"] for row in ROWS] * 3)
    assert is_same([row for step in chain.iterate(step_size=5) for row in step.to_list()], ROWS * 3)
    columns = chain.arrays(["amount", "n"], how=dict)
    assert is_same(columns["amount"].to_list(), [row["amount"] for row in ROWS] * 3)
    assert is_plain(columns["n"])
    assert is_same(chain.arrays(["amount"], cut="n > 2").to_list(), [{"amount": ROWS[3]["amount"]}] * 3)


def test_awkward_array_is_not_imported_before_it_is_used():
    code = "import forthwith, sys; forthwith.avro, forthwith.open; sys.exit('awkward' in sys.modules)"
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False).returncode == 0


def test_dask_takes_arrays(array):
    dask_awkward = pytest.importorskip("dask_awkward")
    taken = dask_awkward.from_awkward(array, npartitions=2)
    assert len(taken.compute(scheduler="synchronous")) == len(ROWS)
    assert ak.all(taken.n.compute(scheduler="synchronous") == array.n)


def test_numba_takes_arrays(array):
    numba = pytest.importorskip("numba")

    @numba.njit
    def total(records):
        found = 0
        for record in records:
            found += record.n
        return found

    assert total(array[["n", "at"]]) == 6


def test_virtual_columns_without_options():
    schema = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "d", "type": DECIMAL},
            {"name": "ds", "type": {"type": "array", "items": DECIMAL}},
            {"name": "m", "type": {"type": "map", "values": DECIMAL}},
            {"name": "t", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        ],
    }
    at = dt.datetime(2024, 5, 6, 7, 8, 9, tzinfo=dt.UTC)
    row = {"d": decimal.Decimal("1.23"), "ds": [decimal.Decimal("4.56")], "m": {"k": decimal.Decimal("7.89")}, "t": at}
    file = io.BytesIO()
    forthwith.write_avro(file, [row, row], schema)
    file.seek(0)
    table = forthwith.open(file)
    assert table.arrays(virtual=True).to_list() == table.to_list() == [row, row]
    assert table.arrays(virtual=True).ds.to_list() == [row["ds"]] * 2


def test_messages_of_several_schemas_have_one_kind_of_values():
    old = {"type": "record", "name": "R", "fields": [{"name": "d", "type": DECIMAL}]}
    new = {**old, "fields": [*old["fields"], {"name": "n", "type": "int", "default": 0}]}
    value = {"d": decimal.Decimal("12.34")}
    first = forthwith.avro.encode_messages([value], old)
    second = forthwith.avro.encode_messages([{**value, "n": 1}], new)
    for messages in (first, first + second):
        found = forthwith.avro.decode_messages(messages, [old, new], reader_schema=old).to_list()
        assert found == [value] * len(messages)


def test_results_of_arithmetic_are_numbers():
    array = forthwith.open(io.BytesIO(one_decimal())).arrays()
    array["twice"] = array.d * array.d
    assert array.to_list()[0] == {"d": decimal.Decimal("1.23"), "twice": 123 * 123}


def test_zones_that_python_lacks_are_named():
    table = pa.table({"t": pa.array([0], pa.timestamp("us", "Nowhere/Land"))})
    file = io.BytesIO()
    pq.write_table(table, file)
    file.seek(0)
    array = forthwith.open(file).arrays()
    with pytest.raises(forthwith.UnsupportedError, match="Nowhere/Land"):
        array.to_list()
    assert len(array.layout.to_list()) == 1


def one_decimal():
    """An Avro file of one decimal."""
    file = io.BytesIO()
    schema = {"type": "record", "name": "R", "fields": [{"name": "d", "type": DECIMAL}]}
    forthwith.write_avro(file, [{"d": decimal.Decimal("1.23")}], schema)
    return file.getvalue()


DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
