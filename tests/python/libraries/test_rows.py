"""Rows: what ``fastavro.reader`` gives, of tables of any format."""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import io
import itertools
import random
import uuid

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forthwith

UTC = dt.UTC
LOGICAL = [
    ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, decimal.Decimal("-12.34")),
    (
        {"type": "fixed", "size": 9, "logicalType": "decimal", "precision": 20, "scale": 5},
        decimal.Decimal("123456.78901"),
    ),
    ({"type": "int", "logicalType": "date"}, dt.date(1969, 12, 30)),
    ({"type": "int", "logicalType": "time-millis"}, dt.time(23, 59, 59, 999000)),
    ({"type": "long", "logicalType": "time-micros"}, dt.time(1, 2, 3, 4)),
    ({"type": "long", "logicalType": "timestamp-millis"}, dt.datetime(2024, 1, 1, tzinfo=UTC)),
    ({"type": "long", "logicalType": "timestamp-micros"}, dt.datetime(1900, 1, 1, 0, 0, 0, 7, tzinfo=UTC)),
    ({"type": "long", "logicalType": "local-timestamp-millis"}, dt.datetime(2024, 1, 1, 5)),
    ({"type": "long", "logicalType": "local-timestamp-micros"}, dt.datetime(2024, 1, 1, 5, 6, 7, 8)),
    ({"type": "string", "logicalType": "uuid"}, uuid.UUID(int=5)),
    ({"type": "long", "logicalType": "timestamp-nanos"}, 1700000000123456789),
]


class Schemas:
    """Random types with random values."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.names = itertools.count()

    def type(self, depth):
        rng = self.rng
        kind = rng.choice(
            ["plain"] * 3
            + ["logical"] * 3
            + (["array", "map", "record", "union", "optional", "enum", "fixed"] if depth else [])
        )
        if kind == "plain":
            return rng.choice(["null", "boolean", "int", "long", "float", "double", "bytes", "string"])
        if kind == "logical":
            return self.named(rng.choice(LOGICAL)[0])
        if kind in ("array", "map"):
            return {"type": kind, {"array": "items", "map": "values"}[kind]: self.type(depth - 1)}
        if kind == "record":
            fields = [{"name": f"f{at}", "type": self.type(depth - 1)} for at in range(rng.randint(1, 3))]
            return self.named({"type": "record", "fields": fields})
        if kind == "optional":
            inner = self.type(depth - 1)
            return ["null", inner] if inner != "null" and not isinstance(inner, list) else inner
        if kind == "enum":
            return self.named({"type": "enum", "symbols": ["A", "B"]})
        if kind == "fixed":
            return self.named({"type": "fixed", "size": 3})
        record = self.named({"type": "record", "fields": [{"name": "u", "type": self.type(0)}]})
        return rng.sample(
            ["null", "int", "string", "boolean", "bytes", {"type": "array", "items": self.type(0)}, record], 3
        )

    def named(self, kind):
        return {**kind, "name": f"N{next(self.names)}"} if kind["type"] in ("fixed", "record", "enum") else kind

    def value(self, kind):
        rng = self.rng
        if isinstance(kind, list):
            return self.value(rng.choice(kind))
        name = kind if isinstance(kind, str) else kind["type"]
        if isinstance(kind, dict) and "logicalType" in kind:
            same = [value for known, value in LOGICAL if all(kind.get(key) == known[key] for key in known)]
            return same[0]
        if name == "record":
            return {field["name"]: self.value(field["type"]) for field in kind["fields"]}
        if name == "array":
            return [self.value(kind["items"]) for _ in range(rng.randrange(3))]
        if name == "map":
            return {f"k{at}": self.value(kind["values"]) for at in range(rng.randrange(3))}
        return {
            "null": None,
            "boolean": rng.random() < 0.5,
            "int": rng.randrange(-(2**31), 2**31),
            "long": rng.randrange(-(2**63), 2**63),
            "float": float(rng.randrange(100)) / 4,
            "double": rng.random(),
            "bytes": bytes(rng.randrange(256) for _ in range(rng.randrange(4))),
            "string": "ü" * rng.randrange(4),
            "enum": rng.choice("AB"),
            "fixed": b"xyz",
        }[name]


def same(ours, theirs):
    """Equal values of equal classes."""
    if isinstance(theirs, dict):
        return (
            isinstance(ours, dict)
            and list(ours) == list(theirs)
            and all(same(ours[key], theirs[key]) for key in theirs)
        )
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(same, ours, theirs))
    return (
        type(ours) is type(theirs) and ours == theirs and (not hasattr(ours, "tzinfo") or ours.tzinfo == theirs.tzinfo)
    )


def test_rows_of_random_schemas_are_those_of_fastavro():
    for seed in range(60):
        schemas = Schemas(seed)
        fields = [{"name": f"c{at}", "type": schemas.type(2)} for at in range(3)]
        schema = {"type": "record", "name": "R", "namespace": "a.b", "fields": fields}
        rows = [schemas.value(schema) for _ in range(schemas.rng.randint(0, 6))]
        file = io.BytesIO()
        fastavro.writer(file, schema, rows)
        file.seek(0)
        theirs = list(fastavro.reader(file))
        ours = list(forthwith.open(file).rows())
        assert same(ours, theirs), (seed, schema)


def test_rows_by_another_schema_are_those_of_its_types():
    written = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "string"}]}
    read = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "new", "type": "string", "default": "d"},
            {"name": "a", "type": "double"},
            {"name": "id", "type": {"type": "string", "logicalType": "uuid"}, "aliases": ["b"]},
        ],
    }
    file = io.BytesIO()
    fastavro.writer(file, written, [{"a": 1, "b": str(uuid.UUID(int=7))}])
    (row,) = forthwith.open(file, schema=read).rows()
    assert same(row, {"new": "d", "a": 1.0, "id": uuid.UUID(int=7)})


def test_values_that_are_no_records_are_given_as_they_are():
    for schema, values in (
        ("int", [1, 2]),
        (["null", "string"], [None, "x"]),
        ({"type": "array", "items": "int"}, [[1], []]),
    ):
        file = io.BytesIO()
        fastavro.writer(file, schema, values)
        assert list(forthwith.open(file).rows()) == values


def test_rows_of_parquet_are_those_of_pyarrow(tmp_path):
    berlin = pa.timestamp("us", "Europe/Berlin")
    at = dt.datetime(2024, 7, 1, 22, 30, 0, 5, tzinfo=UTC)
    table = pa.table(
        {
            "d": pa.array([decimal.Decimal("1.50"), None], pa.decimal128(30, 2)),
            "t": pa.array([at, None], berlin),
            "n": pa.array([1_000_000_000, None], pa.timestamp("ns")),
            "date": pa.array([dt.date(2024, 1, 2), None]),
            "time": pa.array([dt.time(1, 2, 3), None], pa.time64("us")),
            "span": pa.array([dt.timedelta(seconds=-5), None], pa.duration("ms")),
            "list": pa.array([[{"x": 1, "y": None}], None]),
            "bytes": [b"\x00", b""],
            "half": pa.array([1.5, None], pa.float16()),
            "bool": [True, None],
            "big": pa.array([2**64 - 1, None], pa.uint64()),
            "fixed": pa.array([[1, 2], None], pa.list_(pa.int32(), 2)),
            "cat": pa.array(["x", None]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    tree = forthwith.open(tmp_path / "a.parquet")
    rows = list(tree.rows())
    assert rows == table.to_pylist()
    assert str(rows[0]["t"].tzinfo) == "Europe/Berlin"
    pq.write_table(
        pa.table({"m": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64()))}), tmp_path / "m.parquet"
    )
    assert list(forthwith.open(tmp_path / "m.parquet").rows()) == [{"m": {"k": 1}}, {"m": None}]


def test_rows_of_some_columns_and_entries(tmp_path):
    with forthwith.recreate(tmp_path / "a.root") as file:
        file["t"] = {"x": list(range(100)), "y": [[1.5] * (at % 3) for at in range(100)]}
    tree = forthwith.open(f"{tmp_path}/a.root:t")
    assert list(tree.rows(["x", "y"], cut="x > 97")) == [{"x": 98, "y": [1.5, 1.5]}, {"x": 99, "y": []}]
    assert list(tree.rows("x", entry_start=-2, step_size=1)) == [{"x": 98}, {"x": 99}]
    chain = forthwith.open([f"{tmp_path}/a.root:t"] * 2)
    assert [row["x"] for row in chain.rows(["x"], step_size=7)] == [*range(100)] * 2
    with pytest.raises(TypeError, match="library"):
        tree.rows(library="np")


def test_rows_of_files_that_differ(tmp_path):
    forthwith.write_parquet(tmp_path / "a.parquet", {"x": [1]})
    forthwith.write_parquet(tmp_path / "b.parquet", {"x": [2], "y": ["z"]})
    chain = forthwith.open([tmp_path / "a.parquet", tmp_path / "b.parquet"], missing="null")
    assert list(chain.rows()) == [{"x": 1, "y": None}, {"x": 2, "y": "z"}]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1_000_000_001], pa.timestamp("ns")),
        pa.array([2**62], pa.timestamp("ms")),
        pa.array([4_000_000], pa.date32()),
        pa.array([86_400_000_000], pa.time64("us")),
        pa.array([2**62], pa.duration("s")),
    ],
)
def test_times_that_python_does_not_have_are_refused(column):
    file = io.BytesIO()
    pq.write_table(pa.table({"when": column}), file)
    with pytest.raises(forthwith.UnsupportedError, match="when"):
        list(forthwith.open(file).rows())


NAMED = {
    "type": "record",
    "name": "R",
    "namespace": "n.s",
    "fields": [
        {
            "name": "u",
            "type": [
                "null",
                {"type": "record", "name": "A", "fields": [{"name": "x", "type": ["null", "int", "string"]}]},
                {"type": "record", "name": "B", "fields": [{"name": "x", "type": ["null", "int", "string"]}]},
                {"type": "enum", "name": "E", "symbols": ["P", "Q"]},
                "string",
            ],
        },
        {"name": "one", "type": ["null", "A"]},
        {"name": "many", "type": {"type": "map", "values": ["int", "B", {"type": "fixed", "name": "F", "size": 2}]}},
    ],
}
# fastavro's arguments for each choice of union_names.
NAMES = {
    None: {},
    "records": {"return_record_name": True},
    "types": {"return_named_type": True},
    "several types": {"return_named_type": True, "return_named_type_override": True},
}


def named_rows(rng):
    def record():
        return {"x": rng.choice([None, 1, "t"])}

    def union():
        return rng.choice([None, ("n.s.A", record()), ("n.s.B", record()), ("n.s.E", "P"), "Q"])

    def value():
        return rng.choice([7, ("n.s.B", record()), ("n.s.F", b"ab")])

    one = rng.choice([None, ("n.s.A", record())])
    return {"u": union(), "one": one, "many": {f"k{at}": value() for at in range(rng.randint(0, 3))}}


@pytest.mark.parametrize("names", ["types", "several types"])
def test_names_of_types_in_unions_are_those_of_fastavro(names):
    rng = random.Random(5)
    rows = [named_rows(rng) for _ in range(300)]
    target = io.BytesIO()
    fastavro.writer(target, NAMED, rows, sync_interval=1000)
    expected = list(fastavro.reader(io.BytesIO(target.getvalue()), **NAMES[names]))
    file = forthwith.open(io.BytesIO(target.getvalue()))
    assert file.to_list(union_names=names) == expected
    assert list(forthwith.Chain([io.BytesIO(target.getvalue())]).rows(union_names=names)) == expected
    # They are written as they were read.
    again = io.BytesIO()
    forthwith.write_avro(again, file.to_list(union_names="types"), NAMED)
    assert forthwith.open(io.BytesIO(again.getvalue())).to_list(union_names=names) == expected


def test_names_of_records_in_unions():
    rows = [{"u": ("n.s.A", {"x": 1}), "one": ("n.s.A", {"x": None}), "many": {"k": ("n.s.B", {"x": "t"}), "l": 1}}]
    target = io.BytesIO()
    fastavro.writer(target, NAMED, rows)
    file = forthwith.open(io.BytesIO(target.getvalue()))
    assert file.to_list(union_names="records") == rows
    several = {"u": rows[0]["u"], "one": {"x": None}, "many": {"k": {"x": "t"}, "l": 1}}
    assert file.to_list(union_names="several records") == [several]
    assert file.to_list(["u", "one"], union_names="records") == [{name: rows[0][name] for name in ("u", "one")}]
    assert forthwith.avro.decode_rows(forthwith.avro.encode(rows, NAMED), NAMED, union_names="several records") == [
        several
    ]


def test_union_names_are_those_of_avro(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1]}), path)
    with pytest.raises(forthwith.RequestError, match="union_names is for Avro files"):
        forthwith.open(path).to_list(union_names="records")
    with pytest.raises(forthwith.RequestError, match="union_names must be one of"):
        forthwith.open(path).to_list(union_names="all")
    with pytest.raises(TypeError, match="union_name"):
        forthwith.open(path).rows(union_name="records")


def test_records_of_the_same_fields_have_their_own_types():
    uuids = {"type": "string", "logicalType": "uuid"}
    schema = [
        {"type": "record", "name": name, "fields": [{"name": "x", "type": kind}]}
        for name, kind in (("U", uuids), ("T", "string"))
    ]
    rows = [("T", {"x": "no UUID"}), ("U", {"x": uuid.UUID(int=7)}), ("T", {"x": str(uuid.UUID(int=8))})]
    target = io.BytesIO()
    fastavro.writer(target, schema, rows)
    assert forthwith.open(io.BytesIO(target.getvalue())).to_list() == [value for _, value in rows]


def test_to_list_is_all_rows(tmp_path):
    path = tmp_path / "t.root"
    with forthwith.recreate(path) as file:
        file["t"] = {"x": [1, 2], "y": ["a", ""]}
    rows = [{"x": 1, "y": "a"}, {"x": 2, "y": ""}]
    tree = forthwith.open(path)["t"]
    assert tree.to_list() == rows == list(tree.rows())
    assert tree.to_list("x", cut="x > 1") == [{"x": 2}]
    assert forthwith.open([path, path]).to_list(entry_start=1, entry_stop=3) == [rows[1], rows[0]]


def test_types_that_are_named_often_are_looked_at_once():
    kind = {"type": "record", "name": "R0", "fields": [{"name": "x", "type": "int"}]}
    for level in range(1, 30):
        fields = [{"name": "a", "type": kind}, {"name": "b", "type": f"R{level - 1}"}]
        kind = {"type": "record", "name": f"R{level}", "fields": fields}
    target = io.BytesIO()
    fastavro.writer(target, kind, [])
    file = forthwith.open(io.BytesIO(target.getvalue()))
    # Not of their columns, of which there are too many.
    with contextlib.suppress(forthwith.UnsupportedError):
        assert file.to_list(union_names="types") == []


def test_dates_and_times_at_the_ends_of_their_ranges(tmp_path):
    """The first and the last moments that Python has, and all fields of random ones."""
    draw = random.Random(5)
    first, last = dt.datetime(1, 1, 1), dt.datetime.max
    span = (last - first) // dt.timedelta(microseconds=1)
    moments = [first + dt.timedelta(microseconds=draw.randrange(span)) for _ in range(300)]
    moments += [first, last, dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2000, 2, 29, 1)]
    table = pa.table(
        {
            "moment": pa.array(moments, pa.timestamp("us")),
            "utc": pa.array([moment.replace(tzinfo=UTC) for moment in moments]),
            "date": pa.array([moment.date() for moment in moments]),
            "time": pa.array([moment.time() for moment in moments], pa.time64("us")),
        }
    )
    path = str(tmp_path / "moments.parquet")
    forthwith.write_parquet(path, table)
    rows = forthwith.open(path).to_list()
    assert rows == table.to_pylist()
