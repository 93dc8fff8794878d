"""Declared schemas for writing, and conversion of arrays to their types.

Values are converted by Arrow, whose casts are too permissive: they parse numbers from text and drop fields.
The types are therefore compared first, and only casts that preserve the meaning are performed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forthwith import _forthwith
from forthwith._errors import ForthwithError, RequestError, RequestTypeError
from forthwith._given import given
from forthwith._packages import package
from forthwith._rows import first_line
from forthwith._writable.tables import by_name, empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Schema:
    """Columns with names, types and nullability.

    Args:
        columns: An Arrow schema (any object with ``__arrow_c_schema__``); a dict from names to types of
            Arrow, NumPy or Awkward Array, or the text of such a type (``"?string"``, ``"var * float32"``); or
            the type of an Awkward Array of records.

    Raises:
        RequestTypeError: There are no columns, or a type is invalid.
    """

    def __init__(self, columns: Any) -> None:
        pa = package("pyarrow")
        if not hasattr(columns, "__arrow_c_schema__"):
            columns = by_name(columns)
        try:
            self._arrow = pa.schema(_fields(pa, columns) if isinstance(columns, Mapping) else columns)
            self.empty()
        except (TypeError, ValueError, NotImplementedError, pa.ArrowException) as error:
            if isinstance(error, ForthwithError):
                raise
            what = f"a schema is one of Arrow or a dict from names to types, not {columns!r}"
            raise RequestTypeError(f"{what}: {first_line(error)}") from None
        names = self._arrow.names
        if not names:
            raise RequestTypeError("a schema without columns")
        self._places = {name: at for at, name in enumerate(names)}
        if len(self._places) < len(names):
            again = next(name for at, name in enumerate(names) if self._places[name] != at)
            raise RequestTypeError(f"two columns are called {again!r}")
        for field in self._arrow:
            if isinstance(field.type, pa.BaseExtensionType):
                raise RequestTypeError(f"column {field.name!r} is {field.type}, an extension of Arrow's types")

    def empty(self) -> _forthwith.Given:
        """Returns the columns with no entries."""
        return _forthwith.Given.from_arrow(self._arrow.empty_table().__arrow_c_stream__())

    def given(self, array: Any) -> _forthwith.Given:
        """Converts an array to the columns and types of the schema, in its order.

        Columns that the array lacks are filled with missing values if they are nullable.

        Raises:
            RequestError: The array has unknown columns, missing values in a column that is not nullable, or
                numbers out of range.
            RequestTypeError: A column has values of another type.
        """
        pa = package("pyarrow")
        if isinstance(array, (list, tuple)) and not array:
            return self.empty()
        taken = given(array)
        table = pa.table(taken)
        if not len(taken) and all(pa.types.is_null(kind) for kind in table.schema.types):
            return self.empty()
        columns: dict[str, Any] = {}
        for name, column in zip(table.column_names, table.columns, strict=True):
            if name not in self._places:
                raise RequestError(f"the schema has no column {name!r}; it has {_listed(self._arrow.names)}")
            if name in columns:
                raise RequestError(f"two columns are called {name!r}")
            columns[name] = column
        nothing = pa.chunked_array([pa.nulls(len(taken))])
        cast = [_cast(pa, field, columns.get(field.name, nothing)) for field in self._arrow]
        # This also detects missing values at greater depth.
        return _forthwith.Given.from_arrow(pa.Table.from_arrays(cast, schema=self._arrow).__arrow_c_stream__())


def _listed(names: Sequence[str]) -> str:
    most = 10
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} others" if len(names) > most else "")


def _fields(pa: Any, columns: Mapping[str, Any]) -> list[Any]:
    """Converts columns to Arrow fields; types of other libraries are converted together."""
    known = {str(name): kind for name, kind in columns.items()}
    if lacking := [name for name, kind in known.items() if kind is None]:
        raise RequestTypeError(f"column {lacking[0]!r} has no type")
    others = {name: kind for name, kind in known.items() if not isinstance(kind, (pa.Field, pa.DataType))}
    made = pa.table(empty(others)).schema if others else pa.schema([])
    return [
        made.field(name)
        if name in others
        else kind.with_name(name)
        if isinstance(kind, pa.Field)
        else pa.field(name, kind)
        for name, kind in known.items()
    ]


def _cast(pa: Any, field: Any, column: Any) -> Any:
    """Casts a column to the type of a field. Only the precision of floating-point numbers may be reduced."""
    if column.null_count and not field.nullable:
        raise RequestError(f"column {field.name!r} is {field.type} and never missing, and is given {column.type}")
    if column.type == field.type:
        return column
    if found := _unlike(pa.types, column.type, field.type):
        raise RequestTypeError(f"column {field.name!r} is {field.type}, and is given {column.type}: {found}")
    kind = _nullable(pa, field.type)
    try:
        if pa.types.is_integer(column.type) and pa.types.is_decimal(kind):
            # Arrow asks for room for all numbers of the type.
            column = column.cast(pa.decimal256(76, min(kind.scale, 50)))
        cast = column.cast(kind)
    except pa.ArrowException as error:
        raise RequestTypeError(
            f"column {field.name!r} is {field.type}, and is given {column.type}: {first_line(error)}"
        ) from None
    # Narrowing a float turns a value that is too large into infinity.
    if "float" in str(field.type) and _infinite(pa, cast) > _infinite(pa, column):
        raise RequestError(f"column {field.name!r} is {field.type}, and is given numbers that are too large for it")
    return pa.chunked_array([pa.array(_Typed(chunk, field.type)) for chunk in cast.chunks], field.type)


class _Typed:
    """An array under a type that differs from its own only in nullability."""

    def __init__(self, array: Any, kind: Any) -> None:
        self._array = array
        self._kind = kind

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Returns the capsules of the type and of the array."""
        return self._kind.__arrow_c_schema__(), self._array.__arrow_c_array__()[1]


def _nullable(pa: Any, kind: Any) -> Any:
    """Returns the type with all parts nullable: Arrow's cast also checks parts of missing values."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(part.name, _nullable(pa, part.type)) for part in kind])
    if pa.types.is_map(kind):
        return pa.map_(_nullable(pa, kind.key_type), _nullable(pa, kind.item_type))
    if _is_list(pa.types, kind):
        part = pa.field(kind.value_field.name, _nullable(pa, kind.value_type))
        if pa.types.is_fixed_size_list(kind):
            return pa.list_(part, kind.list_size)
        return pa.large_list(part) if pa.types.is_large_list(kind) else pa.list_(part)
    return kind


def _unlike(types: Any, found: Any, wanted: Any) -> str | None:
    """Returns why a cast between Arrow types would change the meaning of values, or ``None``."""
    if types.is_dictionary(found) or types.is_dictionary(wanted):
        pair = (one.value_type if types.is_dictionary(one) else one for one in (found, wanted))
        return _unlike(types, *pair)
    if types.is_null(found) or found == wanted:
        return None
    if types.is_struct(found) and types.is_struct(wanted):
        known = {part.name: part.type for part in wanted}
        if len({part.name for part in found}) < found.num_fields or len(known) < wanted.num_fields:
            return "several of its fields have one name"
        others = (f"there is no field {part.name!r}" for part in found if part.name not in known)
        parts = (_unlike(types, part.type, known[part.name]) for part in found if part.name in known)
        return next(others, None) or next(filter(None, parts), None)
    if types.is_map(found) and types.is_map(wanted):
        keys = _unlike(types, found.key_type, wanted.key_type)
        return keys or _unlike(types, found.item_type, wanted.item_type)
    if _is_list(types, found) and _is_list(types, wanted):
        return _unlike(types, found.value_type, wanted.value_type)
    if types.is_timestamp(found) and types.is_timestamp(wanted) and (found.tz is None) != (wanted.tz is None):
        return "only one of them has a zone"
    return None if _kind(types, found) == _kind(types, wanted) or _widens(types, found, wanted) else "another kind"


def _is_list(types: Any, kind: Any) -> bool:
    return any(ask(kind) for ask in (types.is_list, types.is_large_list, types.is_fixed_size_list))


def _widens(types: Any, found: Any, wanted: Any) -> bool:
    # Arrow does not check whether half floats are exact integers.
    is_real = types.is_float32(wanted) or types.is_float64(wanted)
    return bool(types.is_integer(found) and (is_real or types.is_decimal(wanted)))


def _kind(types: Any, kind: Any) -> Any:
    """Returns the kind of values of a type, whatever their width."""
    text, binary = (types.is_string, types.is_large_string), (types.is_binary, types.is_large_binary)
    alike = {
        "integer": (types.is_integer,),
        "real": (types.is_floating,),
        "decimal": (types.is_decimal,),
        "text": (*text, types.is_string_view),
        "bytes": (*binary, types.is_binary_view, types.is_fixed_size_binary),
        "date": (types.is_date,),
        "time": (types.is_time,),
        "moment": (types.is_timestamp,),
        "duration": (types.is_duration,),
    }
    return next((name for name, asks in alike.items() if any(ask(kind) for ask in asks)), str(kind))


def _infinite(pa: Any, column: Any) -> int:
    """Returns the number of infinite values in a column, at any depth."""
    kind, chunks = column.type, column.chunks
    if pa.types.is_struct(kind):
        parts = column.flatten()
    elif pa.types.is_map(kind):
        parts = [pa.chunked_array([getattr(one, part) for one in chunks]) for part in ("keys", "items") if chunks]
    elif _is_list(pa.types, kind):
        parts = [pa.chunked_array([one.flatten() for one in chunks], kind.value_type)]
    else:
        compute = package("pyarrow.compute")
        is_real = pa.types.is_floating(kind)
        return (compute.sum(compute.is_inf(column.cast(pa.float64()))).as_py() or 0) if is_real else 0
    return sum(_infinite(pa, part) for part in parts)
