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
    """Creates a file that is written array by array, with memory for one array and one row group.

    The file gets its name at the end of the ``with`` block; after an exception it is discarded, and an
    existing file of that name is unchanged.

    Args:
        path: The destination: a path, or a file object, which receives all bytes at the end.
        schema: The columns with their types: an Arrow schema, a dict from names to types (such as ``{"s":
            "?string"}``, or types of NumPy, Arrow or Awkward Array) or the type of an Awkward Array of
            records. Arrays are converted to these types, and columns that they lack have missing values.
            Without one, the first array determines the types, and later arrays must have the same types.
            Requires pyarrow.
        codec: ``"zstd"`` (the default), ``"none"``, ``"snappy"``, ``"gzip"``, ``"brotli"`` or ``"lz4"``.
        compression: Alias of ``codec``, for compatibility with other libraries.
        level: The level of ``"zstd"``, ``"gzip"`` or ``"brotli"``: higher is smaller and slower.
        row_group_entries: Maximum number of entries in a row group. By default 1048576, and fewer above 256
            MiB.
        dictionary: Whether columns are dictionary-encoded. By default, if that saves bytes according to a
            sample of the column.
        metadata: Key-value metadata of the file, as text. Metadata of Arrow data and of data frames are
            written as well, with those of their columns.
        storage_options: For URLs such as ``s3://bucket/out.parquet``: options of the store, as in ``open``.

    Raises:
        UnsupportedError: The first array has a type that Parquet does not support (also a
            ``NotImplementedError``).
        RequestError: A codec or level is unknown; an array has other columns or types (also a
            ``ValueError``).
        RequestTypeError: Values cannot be converted to the schema (also a ``TypeError``).
        SourceError: The folder does not exist or is not writable (also an ``OSError``).
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
        path: The destination: a path, or a file object, which receives all bytes at the end.
        array: An Awkward Array or anything that converts to one: a dict of columns, Arrow data, lists of
            dicts. The fields of records are the columns; other arrays are one column, ``value``.
        schema: The columns with their types: an Arrow schema, a dict from names to types (such as ``{"s":
            "?string"}``, or types of NumPy, Arrow or Awkward Array) or the type of an Awkward Array of
            records. The array is converted to these types. By default, they are those of the array. Requires
            pyarrow.
        codec: ``"zstd"`` (the default), ``"none"``, ``"snappy"``, ``"gzip"``, ``"brotli"`` or ``"lz4"``.
        compression: Alias of ``codec``, for compatibility with other libraries.
        level: The level of ``"zstd"``, ``"gzip"`` or ``"brotli"``: higher is smaller and slower.
        row_group_entries: Maximum number of entries in a row group. By default 1048576, and fewer above 256
            MiB.
        dictionary: Whether columns are dictionary-encoded. By default, if that saves bytes according to a
            sample of the column.
        metadata: Key-value metadata of the file, as text. Metadata of Arrow data and of data frames are
            written as well, with those of their columns.
        storage_options: For URLs such as ``s3://bucket/out.parquet``: options of the store, as in ``open``.
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
