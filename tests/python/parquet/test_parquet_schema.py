"""Parquet files whose columns are given before their values: which arrays are made to be of them, and which are refused."""

import datetime
import io
import time

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forthwith


def written(schema, *arrays):
    file = io.BytesIO()
    with forthwith.parquet_writer(file, schema=schema) as writer:
        for array in arrays:
            writer.write(array)
    return pq.read_table(io.BytesIO(file.getvalue()))


def test_arrays_of_several_kinds_are_made_to_be_of_the_types():
    schema = {"x": "float32", "n": "?int64", "hits": "?var * {energy: float64, name: ?string}"}
    table = written(
        schema,
        [{"x": 1, "n": None, "hits": []}],
        {"x": [2.5]},
        ak.Array([{"x": 3, "n": 2**60, "hits": [{"energy": 1, "name": "a"}]}]),
        pa.table({"hits": pa.array([None], pa.null()), "x": pa.array([4], pa.int8())}),
        [],
    )
    assert [field.type for field in table.schema][:2] == [pa.float32(), pa.int64()]
    assert [field.nullable for field in table.schema] == [False, True, True]
    assert table.to_pylist() == [
        {"x": 1.0, "n": None, "hits": []},
        {"x": 2.5, "n": None, "hits": None},
        {"x": 3.0, "n": 2**60, "hits": [{"energy": 1.0, "name": "a"}]},
        {"x": 4.0, "n": None, "hits": None},
    ]


def test_the_types_of_arrow_and_of_awkward_array_are_schemas():
    moment = datetime.datetime(2020, 1, 1)
    schema = pa.schema([("a", pa.int32()), ("t", pa.timestamp("ms")), ("m", pa.map_(pa.string(), pa.int64()))])
    table = written(schema, [{"a": 1, "t": moment}], {"m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8()))})
    assert [one.type for one in table.schema][:2] == [pa.int32(), pa.timestamp("ms")]
    assert table.to_pylist() == [{"a": 1, "t": moment, "m": None}, {"a": None, "t": None, "m": [("k", 1)]}]
    table = written(ak.types.from_datashape("3 * {x: int16, y: ?string}"), {"x": [1, 2]}, {"y": ["z"], "x": [3]})
    assert table.to_pylist() == [{"x": 1, "y": None}, {"x": 2, "y": None}, {"x": 3, "y": "z"}]
    assert written({"a": pa.date32(), "b": np.uint8, "c": pa.field("", pa.int8(), nullable=False)}).num_rows == 0
    assert written({"value": "float32"}, np.array([1, 2]), [3, 4])["value"].to_pylist() == [1, 2, 3, 4]


def test_a_file_without_entries_has_the_columns():
    for table in (written({"a": "var * int8"}), written({"a": "var * int8"}, [], [])):
        assert table.num_rows == 0
        assert table.schema.names == ["a"]
    file = io.BytesIO()
    forthwith.write_parquet(file, [], schema={"a": "int8"})
    assert pq.read_table(io.BytesIO(file.getvalue())).schema.field("a").type == pa.int8()


@pytest.mark.parametrize(
    ("schema", "array", "error", "message"),
    [
        ({"a": np.int8}, {"a": np.array([300])}, forthwith.RequestTypeError, "'a' is int8, .* 300 not in range"),
        ({"a": "float64"}, [{"a": 2**53 + 1}], forthwith.RequestTypeError, "'a' is double"),
        ({"a": "float32"}, {"a": np.array([1e300])}, forthwith.RequestError, "'a' .* too large"),
        ({"a": "var * float32"}, {"a": [[], [1.0, 1e300]]}, forthwith.RequestError, "'a' .* too large"),
        ({"a": "{x: ?float32}"}, [{"a": {"x": -1e300}}], forthwith.RequestError, "'a' .* too large"),
        ({"a": "int8"}, [{"a": 1, "c": 3}], forthwith.RequestError, "no column 'c'; it has 'a'"),
        ({"a": "{x: int8}"}, [{"a": {"x": 1, "z": 2}}], forthwith.RequestTypeError, "no field 'z'"),
        ({"a": "?{x: int8, y: ?int8}"}, [{"a": {"y": 1}}], forthwith.RequestError, 'column "a": .*non-nullable'),
        ({"a": "int8"}, [{"a": "1"}], forthwith.RequestTypeError, "another kind"),
        ({"a": "string"}, [{"a": 1}], forthwith.RequestTypeError, "another kind"),
        ({"a": "string"}, [{"a": b"x"}], forthwith.RequestTypeError, "another kind"),
        ({"a": "int8"}, [{"a": 1.0}], forthwith.RequestTypeError, "another kind"),
        ({"a": "int8"}, [{"a": True}], forthwith.RequestTypeError, "another kind"),
        ({"a": "bool"}, [{"a": 1}], forthwith.RequestTypeError, "another kind"),
        ({"a": pa.date32()}, [{"a": datetime.datetime(2020, 1, 1)}], forthwith.RequestTypeError, "another kind"),
        (
            {"a": pa.timestamp("us")},
            [{"a": datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)}],
            forthwith.RequestTypeError,
            "has a zone",
        ),
        (
            {"a": pa.timestamp("ms")},
            [{"a": datetime.datetime(2020, 1, 1, 0, 0, 0, 5)}],
            forthwith.RequestTypeError,
            "lose data",
        ),
        ({"a": "float16"}, {"a": [2049]}, forthwith.RequestTypeError, "another kind"),
        (
            {"a": "{x: int64, y: ?int64}"},
            pa.table({"a": pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"])}),
            forthwith.RequestTypeError,
            "one name",
        ),
        (
            {"a": "int64"},
            pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]),
            forthwith.RequestError,
            "two columns are called 'a'",
        ),
        ({"a": "int8"}, [{"a": None}], forthwith.RequestError, "'a' is int8 and never missing"),
        ({"a": "int8", "b": "int8"}, [{"a": 1}], forthwith.RequestError, "'b' is int8 and never missing"),
        ({"a": "var * int8"}, [{"a": [None]}], forthwith.RequestError, 'column "a": .*non-nullable'),
        ({"a": "?{x: int8}"}, [{"a": {"x": None}}], forthwith.RequestError, 'column "a": .*non-nullable'),
        ({"a": "2 * int8"}, [{"a": [None, 1]}], forthwith.RequestError, 'column "a": .*non-nullable'),
    ],
)
def test_what_would_be_another_value_is_refused(schema, array, error, message, tmp_path):
    with (
        pytest.raises(error, match=message),
        forthwith.parquet_writer(tmp_path / "a.parquet", schema=schema) as file,
    ):
        file.write(array)
    assert not list(tmp_path.iterdir())


def test_rows_of_nothing_are_rows():
    for rows in ([{}, {}], ak.Array([{}, {}])):
        assert written({"a": "?int8"}, rows)["a"].to_pylist() == [None, None]
    assert written({"a": "?int8"}, ak.Array([])).num_rows == 0


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("?{x: int8}", [None, {"x": 1}]),
        ("?{x: {y: int8, z: ?int8}}", [{"x": {"y": 1, "z": None}}, None, {"x": {"y": 2, "z": 3}}]),
        ("var * ?{x: int8}", [[None], [], [{"x": 1}, None]]),
        ("?2 * int8", [None, [1, 2]]),
        ("?var * int8", [None, [], [1]]),
    ],
)
def test_what_never_lacks_may_lie_within_what_may(kind, values):
    """In one array or in several, in any order, the type of the file is that of the schema."""
    wanted = written({"a": kind}).schema
    for steps in ([values], [[value] for value in values], [[value] for value in values[::-1]]):
        arrays = [[{"a": value} for value in step] for step in steps]
        table = written({"a": kind}, *arrays)
        assert table.schema == wanted
        assert table["a"].to_pylist() == [value for step in steps for value in step]
        table = written({"a": kind}, *(pa.table({"a": pa.array(step)}) for step in steps if step != [None]))
        assert table.schema == wanted
    table = written({"a": kind, "b": "int8"}, *([{"b": 1}], [{"a": values[-1], "b": 2}]) if kind[0] == "?" else ())
    assert table.schema.field("a") == wanted.field("a")


def test_whole_numbers_are_decimals():
    table = written({"a": pa.decimal128(5, 2)}, {"a": [120, -999]})
    assert [str(one) for one in table["a"].to_pylist()] == ["120.00", "-999.00"]
    with pytest.raises(forthwith.RequestTypeError, match="'a' is decimal128"):
        written({"a": pa.decimal128(5, 2)}, {"a": [1000]})


@pytest.mark.slow
def test_many_columns_take_time_in_proportion():
    schema = {f"column{at}": "?int8" for at in range(3000)}
    began = time.process_time()
    for _ in range(3):
        with forthwith.parquet_writer(io.BytesIO(), schema=schema) as file:
            file.write({"column7": [1]})
    assert time.process_time() - began < 15


def test_infinite_numbers_stay_infinite():
    assert written({"a": "var * float32"}, {"a": [[np.inf], []]})["a"].to_pylist() == [[np.inf], []]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        3,
        {"a": "nonsense"},
        {"a": None},
        {"a": "union[int8, string]"},
        {"a": pa.uuid()},
        pa.int32(),
        pa.schema([("a", pa.int8()), ("a", pa.int8())]),
    ],
    ids=str,
)
def test_what_is_no_schema_is_refused(schema, tmp_path):
    with pytest.raises(forthwith.RequestTypeError):
        forthwith.parquet_writer(tmp_path / "a.parquet", schema=schema)
    assert not list(tmp_path.iterdir())


def test_without_a_schema_the_column_that_changes_is_named(tmp_path):
    def write(*arrays):
        with forthwith.parquet_writer(tmp_path / "a.parquet") as file:
            for array in arrays:
                file.write(array)

    for later, message in [
        ([{"a": 2, "b": None}], 'column "b" is .unknown from entry 1 on, and string before'),
        ([{"a": 2.5, "b": "y"}], 'column "a" is float64 from entry 1 on, and int64 before'),
        ([{"a": 2}], 'other fields than the first: "b" is lacking'),
        ([{"a": 2, "b": "y", "c": 1}], 'other fields than the first: "c" was not there'),
        ([{"b": "y", "a": 2}], "other fields than the first: they are in another order"),
    ]:
        with pytest.raises(forthwith.RequestError, match=message):
            write([{"a": 1, "b": "x"}], later)
    assert not list(tmp_path.iterdir())
