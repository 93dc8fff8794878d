"""Files converted to their own format keep their schema, and maps of Arrow stay maps."""

import io
import json
from decimal import Decimal

import pytest

import forthwith

fastavro = pytest.importorskip("fastavro", reason="fastavro is not installed")

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "com.acme",
    "doc": "An order.",
    "fields": [
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["OPEN", "DONE"]}, "default": "OPEN"},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "tags", "type": {"type": "map", "values": "long"}, "aliases": ["labels"]},
        {
            "name": "note",
            "type": [
                "null",
                "string",
                {"type": "record", "name": "Note", "fields": [{"name": "by", "type": "string"}]},
            ],
        },
    ],
}
ROWS = [
    {
        "id": "6f1f1f8e-3d2c-4b1a-9f00-0123456789ab",
        "status": ("OPEN", "DONE")[at % 2],
        "hash": bytes([at, 1, 2, 3]),
        "price": Decimal(at) / 4,
        "tags": {"a": at, "b": 2},
        "note": (None, "text", {"by": "me"})[at % 3],
    }
    for at in range(10)
]


@pytest.fixture
def orders(tmp_path):
    name = tmp_path / "orders.avro"
    with name.open("wb") as file:
        fastavro.writer(file, ORDER, ROWS)
    return name


def convert(*arguments):
    assert forthwith._forthwith.command(["forthwith", "convert", *map(str, arguments)], None) == 0


def read(name, schema=None):
    reader = fastavro.reader(io.BytesIO(name.read_bytes()), schema)
    return reader.writer_schema, list(reader)


def test_the_schema_is_kept(orders, tmp_path):
    convert(orders, tmp_path / "out.avro", "--codec", "deflate")
    (was, rows), (schema, found) = read(orders), read(tmp_path / "out.avro", ORDER)
    assert found == rows
    assert json.dumps(schema, sort_keys=True, default=str) == json.dumps(was, sort_keys=True, default=str)


def test_a_cut_keeps_it(orders, tmp_path):
    convert(orders, tmp_path / "out.avro", "--where", 'status == "DONE"')
    schema, found = read(tmp_path / "out.avro", ORDER)
    assert schema["name"] == "com.acme.Order"
    assert found == [row for row in read(orders)[1] if row["status"] == "DONE"]


def test_chosen_columns_have_a_schema_of_their_own(orders, tmp_path):
    convert(orders, tmp_path / "out.avro", "--columns", "status,hash")
    schema, found = read(tmp_path / "out.avro")
    assert [field["name"] for field in schema["fields"]] == ["status", "hash"]
    assert len(found) == 10


def test_values_that_are_no_records_stay_such(tmp_path):
    name = tmp_path / "values.avro"
    with name.open("wb") as file:
        fastavro.writer(file, "long", range(100))
    convert(name, tmp_path / "out.avro")
    assert read(tmp_path / "out.avro") == ("long", list(range(100)))


def test_maps_are_maps_in_arrow(orders, tmp_path):
    ipc = pytest.importorskip("pyarrow.ipc", reason="pyarrow is not installed")
    convert(orders, tmp_path / "out.arrow", "--columns", "tags,id")
    table = ipc.open_file(tmp_path / "out.arrow").read_all()
    assert table.column("tags").to_pylist() == [[("a", at), ("b", 2)] for at in range(10)]
    assert str(table.schema.field("tags").type).startswith("map<")


def test_folders_that_name_values_are_mentioned(tmp_path):
    for day in (1, 2):
        (tmp_path / f"day={day}").mkdir()
        forthwith.write_parquet(tmp_path / f"day={day}" / "part.parquet", {"x": [1, 2]})
    with pytest.warns(UserWarning, match="say values of day, which are not read") as warned:
        parts = forthwith.engines.plan(str(tmp_path))
    assert warned[0].filename == __file__
    assert [x for part in parts for x in forthwith.engines.read(part).x.tolist()] == [1, 2, 1, 2]


def test_losses_are_shown_where_they_are_met(path):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data[40_000:40_400] = bytes(400)
    tree = forthwith.open(io.BytesIO(data))["events"]
    with pytest.warns(forthwith.DataLossWarning) as warned:
        tree.arrays(errors="null")
    assert warned[0].filename == __file__
