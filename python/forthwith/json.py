"""JSON Lines and lists of JSON: writing files. Files are read by `forthwith.open`.

>>> import io
>>> import forthwith.json
>>> file = io.BytesIO()
>>> forthwith.json.write(file, {"x": [1.5, None], "hits": [[1, 2], []]})
>>> print(file.getvalue().decode(), end="")
{"x":1.5,"hits":[1,2]}
{"x":null,"hits":[]}
"""

from __future__ import annotations

import os

from forthwith import _forthwith
from forthwith._schema import Schema
from forthwith._stores import of_target as _store
from forthwith._writer import Writer
from forthwith._writer import place as _place
from forthwith._writer import uncompressed as _uncompressed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    from forthwith._writer import Writable

__all__ = ["Writer", "write", "writer"]


def writer(
    path: str | os.PathLike[str] | Writable,
    *,
    schema: Any = None,
    lines: bool | None = None,
    nan: Literal["null", "string", "error"] = "null",
    storage_options: Mapping[str, Any] | None = None,
) -> Writer:
    """Creates a file that is written array by array, with an object for each row.

    Numbers have the shortest digits that round-trip. Dates and times are text in ISO form, and decimals text
    with all their digits. Bytes are text of the characters with these code points, as in Avro's JSON
    encoding. Maps with text keys are objects, other maps are lists of pairs, and tuples are lists.

    The file gets its name at the end of the ``with`` block; after an exception it is discarded, and an
    existing file of that name is unchanged.

    Args:
        path: The destination: a path, or a file object, which receives all bytes at the end.
        schema: The columns with their types, as in `forthwith.write_parquet`. Arrays are converted to these
            types, and columns that they lack have missing values. Without one, the first array determines the
            types. Requires pyarrow.
        lines: Whether each object is a line (JSON Lines), rather than an item of one list. By default, names
            that end in ``.json`` mean a list.
        nan: The treatment of NaN and infinities, which JSON does not support: ``"null"``; ``"string"`` for
            the text ``NaN``, ``Infinity`` and ``-Infinity``; or ``"error"``.
        storage_options: For URLs such as ``s3://bucket/out.jsonl``: options of the store, as in ``open``.

    Raises:
        RequestError: NaN or infinities with ``nan="error"``; an array has other columns or types (also a
            ``ValueError``).
        SourceError: The folder does not exist or is not writable (also an ``OSError``).
    """
    target, uri = _place(path)
    if target is None:
        _uncompressed(uri)
    core = _forthwith.TableWriter(
        uri,
        target is not None,
        "jsonl",
        None,
        None,
        None,
        None,
        [],
        _store(uri, storage_options),
        framing=None if lines is None else "lines" if lines else "list",
        not_numbers=nan,
    )
    nothing = "nothing was written, and no schema says what the columns would have been"
    return Writer(core, target, uri, nothing, schema=None if schema is None else Schema(schema))


def write(
    path: str | os.PathLike[str] | Writable,
    array: Any,
    *,
    schema: Any = None,
    lines: bool | None = None,
    nan: Literal["null", "string", "error"] = "null",
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Writes an array as JSON, with an object for each row.

    Numbers have the shortest digits that round-trip. Dates and times are text in ISO form, and decimals text
    with all their digits. Bytes are text of the characters with these code points, as in Avro's JSON
    encoding. Maps with text keys are objects, other maps are lists of pairs, and tuples are lists.

    Args:
        path: The destination: a path, or a file object, which receives all bytes at the end.
        array: An Awkward Array or anything that converts to one: a dict of columns, Arrow data, lists of
            dicts. The fields of records are the members; other arrays are one member, ``value``.
        schema: The columns with their types, as in `forthwith.write_parquet`. The array is converted to these
            types. Requires pyarrow.
        lines: Whether each object is a line (JSON Lines), rather than an item of one list. By default, names
            that end in ``.json`` mean a list.
        nan: The treatment of NaN and infinities, which JSON does not support: ``"null"``; ``"string"`` for
            the text ``NaN``, ``Infinity`` and ``-Infinity``; or ``"error"``.
        storage_options: For URLs such as ``s3://bucket/out.jsonl``: options of the store, as in ``open``.
    """
    with writer(path, schema=schema, lines=lines, nan=nan, storage_options=storage_options) as file:
        file.write(array)
