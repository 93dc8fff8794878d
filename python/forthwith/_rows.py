"""Rows of Python values that are written: dates, times, decimals and UUIDs as a schema of Avro, or else their own types, say.

What Awkward Array has no types for is taken by way of Arrow, which has.
"""

from __future__ import annotations

import json
import uuid

from forthwith._errors import RequestTypeError
from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Convert = Callable[[Any], Any]

_PLAIN = {
    "null": "null",
    "boolean": "bool_",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "bytes": "binary",
    "string": "string",
    "enum": "string",
}
_UNITS = {"millis": "ms", "micros": "us", "nanos": "ns"}


def says_meanings(schema: str | None) -> bool:
    """Whether a schema has logical types, by which rows are to be understood."""
    return schema is not None and '"logicalType"' in schema


def taken(rows: Sequence[Any], schema: str | None) -> Any:
    """An array of Arrow; nothing if Arrow has not all types of the schema.

    Raises:
        RequestTypeError: A value is of another type than its column; the message names both, and the row.
    """
    pa = package("pyarrow")
    kind, convert = (None, _text_of_uuid) if schema is None else _Types(pa).of(_given_by(rows, json.loads(schema)))
    if schema is not None and kind is None:
        return None
    try:
        return pa.array([convert(row) for row in rows], type=kind)
    except (TypeError, ValueError, AttributeError, OverflowError, pa.ArrowException) as error:
        raise RequestTypeError(f"{_place(pa, rows, kind, convert)}{_first_line(error)}") from None


def _given_by(rows: Sequence[Any], schema: Any) -> Any:
    """The schema without fields that no row has: these have their defaults."""
    if not isinstance(schema, dict) or schema.get("type") != "record" or not all(isinstance(row, dict) for row in rows):
        return schema
    names = set().union(*rows)
    return {**schema, "fields": [field for field in schema["fields"] if field["name"] in names]}


def _place(pa: Any, rows: Sequence[Any], kind: Any, convert: Convert) -> str:
    """The first row that cannot be taken, and its column."""
    for number, row in enumerate(rows):
        try:
            pa.array([convert(row)], type=kind)
        except (TypeError, ValueError, AttributeError, OverflowError, pa.ArrowException):
            columns = row if isinstance(row, dict) else ()
            for name in columns:
                part = {name: row[name]}
                of = None if kind is None or kind.get_field_index(name) < 0 else pa.struct([kind.field(name)])
                try:
                    pa.array([convert(part)], type=of)
                except (TypeError, ValueError, AttributeError, OverflowError, pa.ArrowException):
                    return f"row {number}, column {name!r}: "
            return f"row {number}: "
    return ""


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _text_of_uuid(value: Any) -> Any:
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, dict):
        return {key: _text_of_uuid(item) for key, item in value.items()}
    return [_text_of_uuid(item) for item in value] if isinstance(value, (list, tuple)) else value


def _as_it_is(value: Any) -> Any:
    return value


class _Types:
    """The types of Arrow that a schema's are, each with what makes values of Python such as Arrow takes."""

    def __init__(self, pa: Any) -> None:
        self._pa = pa

    def of(self, schema: Any) -> tuple[Any, Convert]:
        """One of them; nothing in place of a type that there is not, or that refers to another by name."""
        if isinstance(schema, list):
            others = [one for one in schema if one != "null"]
            return self.of(others[0]) if len(others) == 1 else (None, _as_it_is)
        if isinstance(schema, str):
            plain = _PLAIN.get(schema)
            return (getattr(self._pa, plain)() if plain else None), _as_it_is
        if (logical := schema.get("logicalType")) is not None and (meant := self._meant(logical, schema)) is not None:
            return meant, (_text_of_uuid if logical == "uuid" else _as_it_is)
        match schema.get("type"):
            case "record":
                return self._record(schema["fields"])
            case "array":
                kind, convert = self.of(schema["items"])
                made = None if kind is None else self._pa.list_(kind)
                return made, lambda value: None if value is None else [convert(item) for item in value]
            case "map":
                kind, convert = self.of(schema["values"])
                made = None if kind is None else self._pa.map_(self._pa.string(), kind)
                return (
                    made,
                    lambda value: None if value is None else [(key, convert(item)) for key, item in value.items()],
                )
            case "fixed":
                return self._pa.binary(int(schema["size"])), _as_it_is
            case within:
                return self.of(within) if isinstance(within, (str, list, dict)) else (None, _as_it_is)

    def _record(self, fields: Any) -> tuple[Any, Convert]:
        types = {field["name"]: self.of(field["type"]) for field in fields}
        if any(kind is None for kind, _ in types.values()):
            return None, _as_it_is
        made = self._pa.struct([self._pa.field(name, kind) for name, (kind, _) in types.items()])

        def convert(row: Any) -> Any:
            if not isinstance(row, dict):
                return row
            return {name: types[name][1](value) if name in types else value for name, value in row.items()}

        return made, convert

    def _meant(self, logical: str, schema: Any) -> Any:
        pa, (kind, _, unit) = self._pa, logical.rpartition("-")
        match kind or logical:
            case "decimal":
                make = pa.decimal128 if schema["precision"] <= 38 else pa.decimal256
                return make(schema["precision"], schema.get("scale", 0))
            case "date":
                return pa.date32()
            case "uuid" if schema.get("type") == "string":
                return pa.string()
            case "time" if unit in _UNITS:
                return pa.time32("ms") if unit == "millis" else pa.time64(_UNITS[unit])
            case "timestamp" if unit in _UNITS:
                return pa.timestamp(_UNITS[unit], tz="UTC")
            case "local-timestamp" if unit in _UNITS:
                return pa.timestamp(_UNITS[unit])
        return None
