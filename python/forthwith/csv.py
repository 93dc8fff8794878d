"""CSV: writing files. Files are read by `forthwith.open`.

>>> import io
>>> import forthwith.csv
>>> file = io.BytesIO()
>>> forthwith.csv.write(file, {"x": [1.5, None, 2.5], "name": ["a", "b,c", ""]})
>>> print(file.getvalue().decode(), end="")
x,name
1.5,a
,"b,c"
2.5,""
"""

from __future__ import annotations

import os

from forthwith import _forthwith
from forthwith._errors import RequestError
from forthwith._schema import Schema
from forthwith._stores import of_target as _store
from forthwith._writer import Writer
from forthwith._writer import place as _place
from forthwith._writer import uncompressed as _uncompressed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, TypeAlias

    from forthwith._writer import Writable

    QuoteStyle: TypeAlias = Literal["necessary", "non_numeric", "always"]

__all__ = ["Writer", "write", "writer"]


def writer(
    path: str | os.PathLike[str] | Writable,
    *,
    schema: Any = None,
    separator: str | None = None,
    header: bool = True,
    null: str = "",
    quote_style: QuoteStyle = "necessary",
    line_end: Literal["\n", "\r\n"] = "\n",
    storage_options: Mapping[str, Any] | None = None,
) -> Writer:
    """Creates a file that is written array by array, with a line for each row.

    Numbers have the shortest digits that round-trip, NaN is ``NaN`` and infinities are ``inf`` and ``-inf``.
    Booleans are ``true`` and ``false``, dates and times have ISO form, decimals have all their digits. Empty
    text is quoted, to distinguish it from a missing value.

    The file gets its name at the end of the ``with`` block; after an exception it is discarded, and an
    existing file of that name is unchanged.

    Args:
        path: The destination: a path, or a file object, which receives all bytes at the end.
        schema: The columns with their types, as in `forthwith.write_parquet`. Arrays are converted to these
            types, and columns that they lack have missing values. Without one, the first array determines the
            types. Requires pyarrow.
        separator: The character between cells: by default a comma, or a tab for names that end in ``.tsv``.
        header: Whether the first line has the names of the columns.
        null: The text of missing values; equal text is quoted. By default empty, and ``""`` for a single
            column without text, since most readers skip empty lines.
        quote_style: The quoted cells: only where required (``"necessary"``), all except numbers and booleans
            (``"non_numeric"``), or ``"always"``. Missing values are not quoted.
        line_end: The line ending: a line feed, or a carriage return and a line feed.
        storage_options: For URLs such as ``s3://bucket/out.csv``: options of the store, as in ``open``.

    Raises:
        UnsupportedError: The first array has lists, records or bytes (also a ``NotImplementedError``).
        RequestError: ``separator``, ``null`` or ``quote_style`` is invalid; an array has other columns or
            types (also a ``ValueError``).
        SourceError: The folder does not exist or is not writable (also an ``OSError``).
    """
    target, uri = _place(path)
    if target is None:
        _uncompressed(uri)
    if line_end not in ("\n", "\r\n"):
        raise RequestError(f"line_end is '\\n' or '\\r\\n', not {line_end!r}")
    core = _forthwith.TableWriter(
        uri,
        target is not None,
        "csv",
        None,
        None,
        None,
        None,
        [],
        _store(uri, storage_options),
        cells=(separator, header, null, quote_style, line_end != "\n"),
    )
    nothing = "nothing was written, and no schema says what the columns would have been"
    return Writer(core, target, uri, nothing, schema=None if schema is None else Schema(schema))


def write(
    path: str | os.PathLike[str] | Writable,
    array: Any,
    *,
    schema: Any = None,
    separator: str | None = None,
    header: bool = True,
    null: str = "",
    quote_style: QuoteStyle = "necessary",
    line_end: Literal["\n", "\r\n"] = "\n",
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Writes an array as a CSV file, with a line for each row.

    Numbers have the shortest digits that round-trip, NaN is ``NaN`` and infinities are ``inf`` and ``-inf``.
    Booleans are ``true`` and ``false``, dates and times have ISO form, decimals have all their digits. Empty
    text is quoted, to distinguish it from a missing value. Lists, records and bytes are unsupported; JSON
    Lines support them.

    Args:
        path: The destination: a path, or a file object, which receives all bytes at the end.
        array: An Awkward Array or anything that converts to one: a dict of columns, Arrow data, lists of
            dicts. The fields of records are the columns; other arrays are one column, ``value``.
        schema: The columns with their types, as in `forthwith.write_parquet`. The array is converted to these
            types. Requires pyarrow.
        separator: The character between cells: by default a comma, or a tab for names that end in ``.tsv``.
        header: Whether the first line has the names of the columns.
        null: The text of missing values; equal text is quoted. By default empty, and ``""`` for a single
            column without text, since most readers skip empty lines.
        quote_style: The quoted cells: only where required (``"necessary"``), all except numbers and booleans
            (``"non_numeric"``), or ``"always"``. Missing values are not quoted.
        line_end: The line ending: a line feed, or a carriage return and a line feed.
        storage_options: For URLs such as ``s3://bucket/out.csv``: options of the store, as in ``open``.
    """
    with writer(
        path,
        schema=schema,
        separator=separator,
        header=header,
        null=null,
        quote_style=quote_style,
        line_end=line_end,
        storage_options=storage_options,
    ) as file:
        file.write(array)
