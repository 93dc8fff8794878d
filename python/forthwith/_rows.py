"""Type inference for rows of Python values that are written without a schema.

Types that Awkward Array lacks (decimals, times of day, zoned timestamps, UUIDs) are converted by Arrow.
"""

from __future__ import annotations

import datetime
import re
import uuid
from collections.abc import Iterator

from forthwith import _forthwith
from forthwith._errors import BuilderError, RequestTypeError
from forthwith._packages import package
from forthwith.builders.discover import to_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def found(rows: Sequence[Any]) -> Any:
    """Returns rows as an Awkward Array; if it lacks a type, as a dict of columns or an Arrow array.

    Raises:
        RequestTypeError: A value has no type, or contradicts the other values of its column; the message
            names the row and the column.
    """
    try:
        return _array(rows)
    except BuilderError as error:
        if not rows or not all(isinstance(row, dict) for row in rows):
            return _of_arrow(rows, None, error)
    for row, value in enumerate(rows):
        if once := _once(value):
            raise RequestTypeError(f"{_spelled(row, None)}{once}")
    # Each column by itself, so that one that needs Arrow does not affect the others.
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: column(name, [row.get(name) for row in rows]) for name in names}


def column(name: Any, values: Sequence[Any]) -> Any:
    """Converts the values of one column, as `found` does."""
    try:
        return _array(values)
    except BuilderError as error:
        return _of_arrow(values, name, error)


def _array(values: Sequence[Any]) -> Any:
    return to_array(_forthwith.found_rows(values), simplify=True)


def _of_arrow(values: Sequence[Any], name: Any, refused: BuilderError) -> Any:
    """Converts values to an Arrow array, or raises the original error for integers beyond 64 bits."""
    if isinstance(refused, OverflowError):
        at = re.fullmatch(r"\[(\d+)\](?:\.?(.*))?", refused.member or "")
        path = ".".join(part for part in (name, at and at[2]) if part)
        text = str(refused).partition("\n")[0]
        raise RequestTypeError(f"{_spelled(int(at[1]), path) if at else ''}{text}") from None
    pa = package("pyarrow")
    seen: dict[tuple[Any, ...], str] = {}
    for row, value in enumerate(values):
        if found := _unlike(value, (), seen):
            raise RequestTypeError(f"{_spelled(row, name)}{found}")
    plain = [_text_of_uuid(value) for value in values]
    try:
        return pa.array(plain)
    except (TypeError, ValueError, AttributeError, OverflowError, pa.ArrowException) as error:
        raise RequestTypeError(f"{_place(pa, plain, name)}{first_line(error)}") from None


def _place(pa: Any, values: list[Any], name: Any) -> str:
    """Returns the first row that contradicts the rows before it, and its column."""
    least, most = 1, len(values)
    # Binary search: the shortest prefix that cannot be converted ends with the wrong row.
    while least < most:
        middle = (least + most) // 2
        try:
            pa.array(values[:middle])
            least = middle + 1
        except (TypeError, ValueError, AttributeError, OverflowError, pa.ArrowException):
            most = middle
    return _spelled(most - 1, name)


def _spelled(row: int, name: Any) -> str:
    return f"row {row}, column {name!r}: " if name else f"row {row}: "


def _once(value: Any) -> str | None:
    """Returns an error message if a value is an exhausted iterator."""
    if isinstance(value, Iterator):
        return f"a {type(value).__name__}, which can be gone through once only: make a list of it"
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return next(filter(None, map(_once, items)), None)


def _unlike(value: Any, path: tuple[Any, ...], seen: dict[tuple[Any, ...], str]) -> str | None:
    """Returns an error message if Arrow would silently unify values of different kinds."""
    if isinstance(value, Iterator):
        return _once(value)
    if isinstance(value, dict):
        return next(filter(None, (_unlike(item, (*path, key), seen) for key, item in value.items())), None)
    if isinstance(value, (list, tuple)):
        return next(filter(None, (_unlike(item, (*path, None), seen) for item in value)), None)
    if isinstance(value, (str, uuid.UUID)):
        kind = "text"
    elif isinstance(value, (bytes, bytearray)):
        kind = "bytes"
    elif isinstance(value, datetime.datetime):
        kind = "a datetime without a zone" if value.tzinfo is None else "a datetime with a zone"
    elif isinstance(value, datetime.date):
        kind = "a date"
    else:
        return None
    before = seen.setdefault(path, kind)
    return None if before == kind else f"{kind}, where {before} was before: a schema says which is meant"


def first_line(error: Exception) -> str:
    """Returns the first line of an error message."""
    return str(error).partition("\n")[0]


def _text_of_uuid(value: Any) -> Any:
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, dict):
        return {key: _text_of_uuid(item) for key, item in value.items()}
    return [_text_of_uuid(item) for item in value] if isinstance(value, (list, tuple)) else value
