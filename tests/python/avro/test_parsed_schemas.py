"""Schemas that went through fastavro's ``parse_schema``, which adds keys, and may name types that it does not define."""

from __future__ import annotations

import io

import fastavro

import forthwith

POINT = {"type": "record", "name": "Point", "namespace": "geo", "fields": [{"name": "x", "type": "int"}]}
LINE = {
    "type": "record",
    "name": "Line",
    "namespace": "geo",
    "fields": [{"name": "from", "type": "Point"}, {"name": "to", "type": {"type": "array", "items": "Point"}}],
}
ROWS = [{"from": {"x": 1}, "to": [{"x": 2}, {"x": 3}]}]


def written(rows, schema):
    target = io.BytesIO()
    forthwith.write_avro(target, rows, schema)
    return target.getvalue()


def test_hints_are_not_written():
    data = written([{"x": 1}], fastavro.parse_schema(POINT))
    assert b"__fastavro" not in data
    assert b"__named" not in data
    assert list(fastavro.reader(io.BytesIO(data))) == [{"x": 1}]
    union = written([{"x": 1}, None], fastavro.parse_schema(["null", POINT]))
    assert b"__fastavro" not in union
    assert b"__named" not in union


def test_types_of_other_schemas_are_defined_where_they_are_named_first():
    named = {}
    fastavro.parse_schema(POINT, named)
    parsed = fastavro.parse_schema(LINE, named)
    data = written(ROWS, parsed)
    assert list(fastavro.reader(io.BytesIO(data))) == ROWS
    [field, lists] = forthwith.open(io.BytesIO(data)).schema["fields"]
    assert field["type"]["fields"] == POINT["fields"]
    assert lists["type"]["items"] == "geo.Point"
    # As the schema to be read with, and of single values.
    assert forthwith.open(io.BytesIO(data), schema=parsed).to_list() == ROWS
    assert forthwith.avro.decode_rows(forthwith.avro.encode(ROWS, parsed), parsed) == ROWS


def test_other_schemas_stay_as_they_are():
    own = {**POINT, "__mine": 1}
    assert forthwith.open(io.BytesIO(written([{"x": 1}], own))).schema["__mine"] == 1
