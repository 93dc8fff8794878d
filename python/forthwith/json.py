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
    """A file to be written array by array: each row is an object.

    Numbers have the shortest digits that round-trip. Dates and times are texts in ISO form, decimals
    are texts with all their digits. Bytes are a text whose characters have their numbers, as in the JSON of Avro. Maps whose
    keys are texts are objects, other maps are lists of pairs, and tuples are lists.

    The file has its name when the ``with`` block ends; if it ends with an exception, nothing is left behind, and a file that
    had the name before is as it was.

    Args:
        path: Where to write: a path, or a file object, which gets all bytes at the end.
        schema: The columns with their types, as in `forthwith.write_parquet`. Arrays are then made to be of these types, and
            columns that they lack have missing values. Without one, the first array says the types. Needs pyarrow.
        lines: Whether objects are on lines of their own (JSON Lines) rather than the items of one list. By default they are
            in one list in files whose names end with ``.json``, and on lines otherwise.
        nan: The treatment of NaN and infinities, which JSON does not have: ``"null"``; ``"string"`` for the texts ``NaN``,
            ``Infinity`` and ``-Infinity``; or ``"error"``.
        storage_options: For URLs of stores such as ``s3://bucket/out.jsonl``: how the store is reached, as in ``open``.

    Raises:
        RequestError: NaN or an infinity, if they are an error; an array of other columns or types (also a ``ValueError``).
        SourceError: The folder does not exist or may not be written (also an ``OSError``).
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
    """Writes an array as JSON: an object for each row.

    Numbers have the shortest digits that round-trip. Dates and times are texts in ISO form, decimals
    are texts with all their digits. Bytes are a text whose characters have their numbers, as in the JSON of Avro. Maps whose
    keys are texts are objects, other maps are lists of pairs, and tuples are lists.

    Args:
        path: Where to write: a path, or a file object, which gets all bytes at the end.
        array: An Awkward Array or anything that converts to one: a dict of columns, Arrow data, lists of dicts. The fields
            of records are the members; anything else is one member, ``value``.
        schema: The columns with their types, as in `forthwith.write_parquet`. The array is made to be of these types. Needs
            pyarrow.
        lines: Whether objects are on lines of their own (JSON Lines) rather than the items of one list. By default they are
            in one list in files whose names end with ``.json``, and on lines otherwise.
        nan: The treatment of NaN and infinities, which JSON does not have: ``"null"``; ``"string"`` for the texts ``NaN``,
            ``Infinity`` and ``-Infinity``; or ``"error"``.
        storage_options: For URLs of stores such as ``s3://bucket/out.jsonl``: how the store is reached, as in ``open``.
    """
    with writer(path, schema=schema, lines=lines, nan=nan, storage_options=storage_options) as file:
        file.write(array)
