"""Parquet: writing files. Files are read by `forthwith.open`.

>>> import io
>>> import forthwith.parquet
>>> file = io.BytesIO()
>>> forthwith.parquet.write(file, {"x": [1.5, 2.5], "hits": [[1, 2], []]})
>>> forthwith.open(file).arrays().tolist()
[{'x': 1.5, 'hits': [1, 2]}, {'x': 2.5, 'hits': []}]
"""

from __future__ import annotations

import os

from forthwith import _forthwith
from forthwith._keywords import one_codec
from forthwith._schema import Schema
from forthwith._stores import of_target as _store
from forthwith._writer import Writer
from forthwith._writer import place as _place
from forthwith._writer import words as _words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from forthwith._writer import Writable

__all__ = ["Writer", "write", "writer"]


def writer(
    path: str | os.PathLike[str] | Writable,
    *,
    schema: Any = None,
    codec: str | None = None,
    compression: str | None = None,
    level: int | None = None,
    row_group_entries: int | None = None,
    dictionary: bool | None = None,
    metadata: Mapping[str, bytes | str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Writer:
    """A file to be written array by array, in memory of one array and one row group.

    The file has its name when the ``with`` block ends; if it ends with an exception, nothing is left behind, and a file that
    had the name before is as it was.

    Args:
        path: Where to write: a path, or a file object, which gets all bytes at the end.
        schema: The columns with their types: a schema of Arrow, a dict from names to types (such as ``{"s": "?string"}``, or
            NumPy's, Arrow's or Awkward Array's) or the type of an Awkward Array of records. Arrays are then made to be of these
            types, and columns that they lack have missing values. Without one, the first array says the types, and the others
            must have the same. Needs pyarrow.
        codec: ``"zstd"`` (the default), ``"none"``, ``"snappy"``, ``"gzip"``, ``"brotli"`` or ``"lz4"``.
        compression: Another name of ``codec``, as other libraries have it.
        level: The level of ``"zstd"``, ``"gzip"`` or ``"brotli"``: more is smaller and slower.
        row_group_entries: Entries in a row group at most. By default 1048576, and fewer if they take more than 256 MiB.
        dictionary: Whether values that repeat are written once and referred to. By default they are, where a sample of the
            column says that it saves bytes.
        metadata: Words that are kept with the file, by their names: text. Those of Arrow data and of data frames are kept
            as well, with the metadata of their columns.
        storage_options: For URLs of stores such as ``s3://bucket/out.parquet``: how the store is reached, as in ``open``.

    Raises:
        UnsupportedError: A type that Parquet does not have, when the first array is written (also a ``NotImplementedError``).
        RequestError: A codec or level that does not exist; an array of other columns or types (also a ``ValueError``).
        RequestTypeError: Values of another type than the schema's (also a ``TypeError``).
        SourceError: The folder does not exist or may not be written (also an ``OSError``).
    """
    target, uri = _place(path)
    if row_group_entries is not None and row_group_entries < 1:
        raise ValueError(f"row_group_entries must be at least 1, not {row_group_entries}")
    name = one_codec(codec, compression)
    store = _store(uri, storage_options)
    words = _words(metadata)
    core = _forthwith.TableWriter(
        uri, target is not None, "parquet", name, level, row_group_entries, dictionary, words, store
    )
    nothing = "nothing was written, and no schema says what the columns would have been"
    return Writer(core, target, uri, nothing, schema=None if schema is None else Schema(schema), in_batches=core)


def write(
    path: str | os.PathLike[str] | Writable,
    array: Any,
    *,
    schema: Any = None,
    codec: str | None = None,
    compression: str | None = None,
    level: int | None = None,
    row_group_entries: int | None = None,
    dictionary: bool | None = None,
    metadata: Mapping[str, bytes | str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Writes an array as a Parquet file.

    Args:
        path: Where to write: a path, or a file object, which gets all bytes at the end.
        array: An Awkward Array or anything that one can be made of: a dict of columns, Arrow data, lists of dicts. The fields
            of records are the columns; anything else is one column, ``value``.
        schema: The columns with their types: a schema of Arrow, a dict from names to types (such as ``{"s": "?string"}``, or
            NumPy's, Arrow's or Awkward Array's) or the type of an Awkward Array of records. The array is made to be of these
            types. Without one, they are its own. Needs pyarrow.
        codec: ``"zstd"`` (the default), ``"none"``, ``"snappy"``, ``"gzip"``, ``"brotli"`` or ``"lz4"``.
        compression: Another name of ``codec``, as other libraries have it.
        level: The level of ``"zstd"``, ``"gzip"`` or ``"brotli"``: more is smaller and slower.
        row_group_entries: Entries in a row group at most. By default 1048576, and fewer if they take more than 256 MiB.
        dictionary: Whether values that repeat are written once and referred to. By default they are, where a sample of the
            column says that it saves bytes.
        metadata: Words that are kept with the file, by their names: text. Those of Arrow data and of data frames are kept
            as well, with the metadata of their columns.
        storage_options: For URLs of stores such as ``s3://bucket/out.parquet``: how the store is reached, as in ``open``.
    """
    with writer(
        path,
        schema=schema,
        codec=codec,
        compression=compression,
        level=level,
        row_group_entries=row_group_entries,
        dictionary=dictionary,
        metadata=metadata,
        storage_options=storage_options,
    ) as file:
        file._write_last(array)
