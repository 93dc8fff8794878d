"""Rows of Python values in Avro: each value is what the schema says, and what fastavro makes of it."""

import array
import collections
import datetime
import decimal
import io
import types
import uuid

import pytest

import forthwith
import forthwith.avro

fastavro = pytest.importorskip("fastavro")
np = pytest.importorskip("numpy")

import random_avro_rows  # noqa: E402

HOURS = datetime.timezone(datetime.timedelta(hours=5))
DAY = {"type": "int", "logicalType": "date"}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}
Q = {"type": "record", "name": "a.Q", "fields": [{"name": "q", "type": "int"}]}
P = {"type": "record", "name": "P", "fields": [{"name": "r", "type": "string"}]}
SAME = {"type": "record", "name": "Same", "fields": [{"name": "q", "type": "int"}]}


def moment(name):
    return {"type": "long", "logicalType": name}


def record(**fields):
    return {"type": "record", "name": "R", "fields": [{"name": name, "type": ty} for name, ty in fields.items()]}


def of_fastavro(data):
    return list(fastavro.reader(io.BytesIO(data)))


def written(rows, schema=None):
    file = io.BytesIO()
    forthwith.write_avro(file, rows, schema)
    return file.getvalue()


def there_and_back(values, ty):
    schema = record(a=ty)
    rows = [{"a": value} for value in values]
    found = of_fastavro(written(rows, schema))
    datums = forthwith.avro.encode(rows, schema)
    parsed = fastavro.parse_schema(record(a=ty))
    assert [fastavro.schemaless_reader(io.BytesIO(datum), parsed, None) for datum in datums] == found
    return [row["a"] for row in found]


@pytest.mark.parametrize("seed", range(0, 600, 60))
def test_random_rows_are_what_fastavro_makes_of_them(seed):
    for one in range(seed, seed + 60):
        assert random_avro_rows.check(one) is None


@pytest.mark.parametrize(
    ("ty", "values"),
    [
        (["long", "double"], [2**53 + 1, 0.5]),
        (["double", "long"], [2**53 + 1, 0.5]),
        (["boolean", "long", "double"], [True, 2, 0.5]),
        (["string", "bytes"], ["text", b"bytes", b"\xff"]),
        (["string", "bytes"], [b"bytes", "text"]),
        (["bytes", "string"], ["text", b"bytes"]),
        (["int", "long"], [1, 2**40]),
        (["null", "string", DAY], [datetime.date(2020, 1, 1), "x", None]),
        (
            [{"type": "string", "logicalType": "uuid"}, {"type": "enum", "name": "e", "symbols": ["a"]}],
            [uuid.UUID(int=7), "a"],
        ),
        (["string", DECIMAL], [decimal.Decimal("1.25"), "x"]),
        (["string", Q], ["x", {"q": 1}]),
        ([Q, P], [{"q": 1}, {"r": "y"}]),
        (["null", Q, {"type": "map", "values": "string"}], [{"q": 1}, {"q": "y"}, None, {}]),
        (["null", {"type": "map", "values": "int"}], [{"q": 1}, None]),
        (
            [{"type": "int", "logicalType": "time-millis"}, {"type": "long", "logicalType": "time-micros"}],
            [datetime.time(1, 2, 3, 4), datetime.time(1, 2, 3, 4000)],
        ),
    ],
)
def test_a_value_of_a_union_is_of_the_branch_of_its_type(ty, values):
    found = there_and_back(values, ty)
    assert found == values
    assert [type(one) for one in found] == [type(one) for one in values]


@pytest.mark.parametrize(
    ("beside", "value"),
    [
        (moment("time-micros"), datetime.time(1, 2, 3)),
        (moment("timestamp-millis"), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)),
        (DECIMAL, decimal.Decimal("1.50")),
        (DAY, datetime.date(2020, 1, 1)),
    ],
)
def test_unions_go_beside_what_has_a_meaning(beside, value):
    rows = [{"b": value, "u": one} for one in (1, "x", None, {"q": 5})]
    assert of_fastavro(written(rows, record(b=beside, u=["null", "int", "string", Q]))) == rows


def test_hints_name_branches():
    both = [Q, SAME, "long", "string", {"type": "array", "items": "string"}]
    values = [
        ("Same", {"q": 1}),
        ("a.Q", {"q": 1}),
        ("Q", {"q": 1}),
        {"-type": "Same", "q": 1},
        {"-type": "a.Q", "q": 1},
    ]
    datums = forthwith.avro.encode([*values, {"q": 1}, ("long", 5), ("one", "two")], both)
    assert [datum[0] // 2 for datum in datums] == [1, 0, 0, 1, 0, 0, 2, 4]
    with pytest.raises(forthwith.RequestTypeError, match="row 0: Q has no field for '-type'"):
        forthwith.avro.encode([{"-type": "Same", "q": 1}], Q)


def test_fields_that_a_row_has_not_have_their_default():
    schema = record(a="int", b=["null", "int"], d="long")
    schema["fields"][2]["default"] = 9
    rows = [{"a": 1, "b": 2, "d": 3}, {"a": 1}]
    assert of_fastavro(written(rows, schema)) == [rows[0], {"a": 1, "b": None, "d": 9}]
    with pytest.raises(forthwith.RequestTypeError, match="row 1, column 'd': None cannot be written as long"):
        written([{"a": 1}, {"a": 1, "d": None}], schema)
    with pytest.raises(forthwith.RequestTypeError, match="row 0: a is specified by R but missing"):
        written([{"b": 1}], schema)
    with pytest.raises(forthwith.RequestTypeError, match="row 0: R has no field for 'z'"):
        written([{"a": 1, "z": 1}], schema)


def test_a_strict_writer_fills_in_nothing():
    schema = record(a="int", b=["null", "int"], d="long")
    schema["fields"][2]["default"] = 9
    rows = [{"a": 1, "b": None, "d": 3}]
    assert forthwith.avro.encode(rows, schema, strict=True) == forthwith.avro.encode(rows, schema)
    for row, name in [({"a": 1, "b": None}, "d"), ({"a": 1, "d": 3}, "b"), ({"b": 1, "d": 3}, "a")]:
        file = io.BytesIO()
        with pytest.raises(forthwith.RequestTypeError, match=f"row 1: {name} is specified by R but missing"):
            forthwith.write_avro(file, [*rows, row], schema, strict=True)
        assert file.getvalue() == b""
        with pytest.raises(forthwith.RequestTypeError, match=f"row 0: {name} is specified by R"):
            forthwith.avro.encode_messages([row], schema, strict=True)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("replace", "\ufffdfoo"), ("ignore", "foo"), ("latin-1", "\xa1foo"), ("bytes", b"\xa1foo")],
)
def test_text_of_datums_is_what_was_asked_for(text, wanted):
    datum = b"\x08\xa1foo"
    with pytest.raises(forthwith.DamagedFileError, match="not UTF-8"):
        forthwith.avro.decode_rows([datum], "string")
    assert forthwith.avro.decode_rows([datum], "string", text=text) == [wanted]
    assert forthwith.avro.decode_rows(datum, "string", count=1, text=text) == [wanted]
    assert forthwith.avro.decode([datum], "string", text=text).to_list() == [wanted]
    with pytest.raises(forthwith.RequestError, match="text must be strict, bytes"):
        forthwith.avro.decode_rows([datum], "string", text="utf-8")


def test_other_classes_of_python():
    ints = {"type": "array", "items": "int"}
    for values in ((1, 2), np.arange(1, 3), {1: 0, 2: 0}.keys(), array.array("i", [1, 2]), collections.deque([1, 2])):
        assert there_and_back([values, []], ints) == [[1, 2], []]
        assert there_and_back([values, []], ["null", ints, "string"]) == [[1, 2], []]
    assert there_and_back([bytearray(b"x"), memoryview(b"y")], ["null", "bytes", "string"]) == [b"x", b"y"]
    assert there_and_back([np.int8(3), np.float32(1.5), np.bool_(True)], ["boolean", "int", "double"]) == [3, 1.5, True]
    for one in (collections.OrderedDict(q=1), types.MappingProxyType({"q": 1}), (1,)):
        assert there_and_back([one], Q) == [{"q": 1}]
    assert there_and_back([[("k", 1)], []], {"type": "map", "values": "int"}) == [{"k": 1}, {}]
    named = np.zeros(2, [("q", "i4")])
    assert there_and_back(list(named), Q) == [{"q": 0}] * 2
    assert there_and_back([uuid.UUID(int=1)], "string") == [str(uuid.UUID(int=1))]
    assert there_and_back([np.datetime64("2020-01-01T00:00:00.5", "ns")], moment("local-timestamp-millis")) == [
        datetime.datetime(2020, 1, 1, 0, 0, 0, 500000)
    ]


def test_local_moments_show_what_they_showed():
    values = [datetime.datetime(2020, 1, 1, tzinfo=HOURS), datetime.datetime(2020, 1, 1)]
    for unit in ("millis", "micros"):
        assert there_and_back(values, moment(f"local-timestamp-{unit}")) == [datetime.datetime(2020, 1, 1)] * 2
        utc = [
            datetime.datetime(2019, 12, 31, 19, tzinfo=datetime.UTC),
            datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
        ]
        assert there_and_back(values, moment(f"timestamp-{unit}")) == utc


def test_what_is_smaller_than_the_unit_is_cut_off():
    for year in (1960, 2020):
        value = datetime.datetime(year, 1, 1, microsecond=1999, tzinfo=datetime.UTC)
        schema, theirs = record(a=moment("timestamp-millis")), io.BytesIO()
        fastavro.writer(theirs, fastavro.parse_schema(record(a=moment("timestamp-millis"))), [{"a": value}])
        assert of_fastavro(written([{"a": value}], schema)) == of_fastavro(theirs.getvalue())
        assert of_fastavro(theirs.getvalue()) == [{"a": value.replace(microsecond=1000)}]


@pytest.mark.parametrize(
    ("values", "ty", "text"),
    [
        ([1, "x"], "int", "row 1, column 'a': 'x' (type str) cannot be written as int"),
        ([1, 2**31], "int", "row 1, column 'a': 2147483648 (type int) is not within int"),
        ([2**63], "long", "row 0, column 'a': 9223372036854775808 (type int) is not within long"),
        ([True], "int", "True (type bool) cannot be written as int"),
        ([1.0], "int", "1.0 (type float) cannot be written as int"),
        ([1e39], "float", "1e+39 (type float) is not within float"),
        (["\ud800"], "string", "is not within string"),
        ([b"\xff"], "string", "is not within string"),
        ([[1, "x"]], {"type": "array", "items": "int"}, "row 0, column 'a[1]': 'x'"),
        ([{"k": "x"}], {"type": "map", "values": "int"}, "row 0, column 'a[\"k\"]': 'x'"),
        ([{1: 1}], {"type": "map", "values": "int"}, "1 (type int) is no text, as keys of map[int] are"),
        ([{"q": "x"}], Q, "row 0, column 'a.q': 'x'"),
        ([{"q": "x"}], ["null", Q], "row 0, column 'a.q': 'x'"),
        ([{"q": "x"}], ["null", "int", Q], "row 0, column 'a.q': 'x'"),
        ([1.5], ["null", "int", Q], "1.5 (type float) cannot be written as union[null, int, Q]"),
        (["c"], {"type": "enum", "name": "e", "symbols": ["a", "b"]}, "'c' (type str) is not within enum e[a, b]"),
        ([decimal.Decimal("1.234")], DECIMAL, "is not within decimal[5, 2] (bytes)"),
        ([decimal.Decimal("12345.00")], DECIMAL, "is not within decimal[5, 2] (bytes)"),
        ([decimal.Decimal("NaN")], DECIMAL, "is not within decimal[5, 2] (bytes)"),
        ([decimal.Decimal("1e999999")], DECIMAL, "is not within decimal[5, 2] (bytes)"),
        (["soon"], DAY, "'soon' (type str) cannot be written as date (int)"),
        ([datetime.datetime(9999, 1, 1)], moment("timestamp-nanos"), "is not within timestamp-nanos (long)"),
    ],
)
def test_what_does_not_fit_is_named_by_row_and_column(values, ty, text):
    with pytest.raises(forthwith.RequestTypeError) as caught:
        written([{"a": value} for value in values], record(a=ty))
    assert text in str(caught.value)


def test_types_that_contain_themselves():
    schema = record(v="int", n=["null", "R"])
    row = {"v": 0, "n": None}
    for v in range(1, 100):
        row = {"v": v, "n": row}
    assert of_fastavro(written([row], schema)) == [row]
    row["n"] = row
    with pytest.raises(forthwith.RequestTypeError, match="levels deep"):
        written([row], schema)


def test_unions_of_unions_end():
    one = {
        "type": "record",
        "name": "A",
        "fields": [{"name": "x", "type": ["null", "A", "B"]}, {"name": "y", "type": "double"}],
    }
    two = {
        "type": "record",
        "name": "B",
        "fields": [{"name": "x", "type": ["null", "A", "B"]}, {"name": "y", "type": "float"}],
    }
    row = {"x": None, "y": "wrong"}
    for _ in range(100):
        row = {"x": row, "y": 1}
    schema = record(a=["null", {**one, "fields": [{"name": "x", "type": ["null", "A", two]}, one["fields"][1]]}, "B"])
    with pytest.raises(forthwith.RequestTypeError, match="too many branches"):
        written([{"a": row}], schema)


def test_rows_and_arrays_in_one_file():
    schema = record(a=["null", "int", "string"], b="int")
    schema["fields"][1]["default"] = 7
    file = io.BytesIO()
    with forthwith.avro_writer(file, schema=schema, block_entries=2) as out:
        out.write([{"a": 1}, {"a": "x", "b": 2}, {"a": None}])
        out.write({"a": np.arange(2)})
        out.write([])
        out.write([{"a": "y"}])
        assert out.entries == 6
        with pytest.raises(forthwith.RequestTypeError, match="row 1, column 'b'"):
            out.write([{"a": 1}, {"a": 1, "b": "x"}])
    assert [tuple(row.values()) for row in of_fastavro(file.getvalue())] == [
        (1, 7),
        ("x", 2),
        (None, 7),
        (0, 7),
        (1, 7),
        ("y", 7),
    ]


def test_a_list_that_changes_meanwhile():
    class Growing(collections.abc.Mapping):
        def __iter__(self):
            rows.clear()
            return iter(["a"])

        def __len__(self):
            return 1

        def __getitem__(self, key):
            return 1

    rows = [Growing(), {"a": 2}]
    assert len(forthwith.avro.encode(rows, record(a="int"))) == 1


# Without a schema.


def test_text_and_bytes_are_never_made_of_each_other():
    for values in (["text", b"bytes"], [b"x", "t"], [b"\xff", "t"], ["t", b"\xff"], ["t", None, b"\xff"]):
        rows = [{"a": value} for value in values]
        assert of_fastavro(written(rows)) == rows
        assert of_fastavro(written({"a": values})) == rows
        for given in (rows, {"a": values}):
            with pytest.raises(forthwith.UnsupportedError, match=r'unions in Parquet \(column "a"'):
                forthwith.write_parquet(io.BytesIO(), given)


def test_columns_that_arrow_knows_do_not_decide_about_others():
    pytest.importorskip("pyarrow")
    values = [datetime.time(1, 2, 3), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), decimal.Decimal("1.5")]
    for value in values:
        rows = [{"b": value, "u": 1}, {"b": value, "u": "x"}]
        assert of_fastavro(written(rows)) == rows
    rows = [{"u": 1, "b": values[2]}, {"u": "x", "b": values[2]}, {"b": "word", "u": 1}]
    with pytest.raises(forthwith.RequestTypeError, match="row 2, column 'b': "):
        written(rows)


@pytest.mark.parametrize("write", [forthwith.write_avro, forthwith.write_parquet])
def test_whole_numbers_beyond_64_bits_are_named(write):
    for given in ([{"b": 1}, {"a": [1, 2**63]}], {"a": [1, 2**64]}):
        with pytest.raises(forthwith.RequestTypeError, match=r"row 1, column 'a.*': value out of range for int64"):
            write(io.BytesIO(), given)


def test_a_lazy_frame_has_no_values():
    pl = pytest.importorskip("polars")
    with pytest.raises(forthwith.RequestTypeError, match=r"LazyFrame has no values .* collect\(\)"):
        written(pl.LazyFrame({"a": [1]}))


def test_builders_name_the_place_of_a_moment_in_a_zone():
    value = datetime.datetime(2020, 1, 1, tzinfo=HOURS)
    for of_type in ((), ("var * datetime64[us]",)):
        with pytest.raises(forthwith.BuilderTypeError, match="expected a datetime without a zone") as caught:
            forthwith.from_iter([[value]], *of_type)
        assert caught.value.member == "[0][0]"
    with pytest.raises(
        forthwith.BuilderTypeError, match=r"expected a datetime without a zone, found datetime\.datetime"
    ):
        forthwith.TypedArrayBuilder("datetime64[us]").append(value)


def test_what_can_be_gone_through_once_is_tried_as_every_branch():
    def record(name, items):
        return {"type": "record", "name": name, "fields": [{"name": "x", "type": {"type": "array", "items": items}}]}

    def read(value, *items):
        schema = [record(name, item) for name, item in zip("PQ", items, strict=True)]
        (datum,) = forthwith.avro.encode([value], schema)
        return fastavro.schemaless_reader(io.BytesIO(datum), fastavro.parse_schema(schema), return_record_name=True)

    assert read({"x": (x for x in [1.5, 2.5])}, "int", "double") == ("Q", {"x": [1.5, 2.5]})
    assert read({"x": iter([1, 2])}, "double", "string") == ("P", {"x": [1.0, 2.0]})


def test_named_tuples_are_written_by_their_names():
    pair = collections.namedtuple("pair", "y x")
    schema = {"type": "record", "name": "R", "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "int"}]}
    assert forthwith.avro.encode([pair(y=1, x=2)], schema) == [b"\x04\x02"]


@pytest.mark.parametrize(
    ("logical", "value"),
    [
        ("timestamp-nanos", np.datetime64("2300-01-01", "us")),
        ("timestamp-nanos", np.datetime64("9999-01-01")),
        ("timestamp-micros", np.datetime64(2**62, "s")),
        ("time-micros", np.timedelta64(2, "D")),
        ("time-micros", np.timedelta64(-1, "s")),
    ],
)
def test_times_of_numpy_without_room_are_refused(logical, value):
    schema = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "t", "type": {"type": "long", "logicalType": logical}}],
    }
    with pytest.raises(forthwith.RequestTypeError, match="row 0"):
        forthwith.avro.encode([{"t": value}], schema)


def test_times_of_numpy_are_cut_off_towards_earlier():
    def written(value, unit):
        schema = {"type": "long", "logicalType": f"timestamp-{unit}"}
        return fastavro.schemaless_reader(io.BytesIO(forthwith.avro.encode([value], schema)[0]), "long")

    assert written(np.datetime64("1969-12-31T23:59:59.999999", "us"), "millis") == -1
    assert written(np.datetime64("2020-02-03", "D"), "micros") == 1_580_688_000_000_000
    assert written(np.datetime64("2020-02", "M"), "millis") == 1_580_515_200_000
    assert written(np.datetime64(7, "25s"), "millis") == 175_000


def test_a_list_that_lies_about_its_length_is_no_panic():
    class Liar(list):
        def __len__(self):
            return 2**62

    assert forthwith.avro.encode(Liar([1, 2]), "long") == [b"\x02", b"\x04"]


def test_a_file_that_a_row_closes_is_closed(tmp_path):
    file = forthwith.avro_writer(tmp_path / "a.avro", schema={"type": "array", "items": "int"})
    file.write([[1]])

    class Closing:
        def __iter__(self):
            file.close()
            return iter([2])

    with pytest.raises(forthwith.RequestError, match="was closed"):
        file.write([Closing()])
    assert list(fastavro.reader(io.BytesIO((tmp_path / "a.avro").read_bytes()))) == [[1]]


def test_defaults_of_unions_within_unions_end():
    union = ["A", "B"]
    b = {"type": "record", "name": "B", "fields": [{"name": "x", "type": union, "default": {}}]}
    a = {"type": "record", "name": "A", "fields": [{"name": "x", "type": ["A", b], "default": {}}]}
    schema = {"type": "record", "name": "T", "fields": [{"name": "t", "type": ["null", a]}]}
    assert forthwith.avro.encode([{"t": None}], schema) == [b"\0"]


@pytest.mark.parametrize(
    "values",
    [
        [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 5, 30, tzinfo=datetime.UTC)],
        [{"a": decimal.Decimal("1.5"), "s": "x"}, {"a": decimal.Decimal("1.5"), "s": b"y"}],
    ],
)
def test_kinds_that_arrow_would_mix_are_refused(values, tmp_path):
    with pytest.raises(forthwith.RequestTypeError, match="row 1, column 't'"):
        forthwith.write_avro(tmp_path / "a.avro", [{"t": value} for value in values])
    with pytest.raises(forthwith.RequestTypeError, match="once only"):
        forthwith.write_avro(tmp_path / "b.avro", [{"t": map(int, [1]), "d": decimal.Decimal(1)}])
