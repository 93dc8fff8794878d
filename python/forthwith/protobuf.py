r"""ProtoBuf: writing of files, and decoding of messages outside of files.

Files are read by `forthwith.open`. This module has `write` and `writer` for files, and `decode` for messages
from other sources: Kafka records, a column of bytes in a Parquet or Avro file, a list.

>>> import forthwith.protobuf
>>> schema = 'syntax = "proto3"; message Hit { double x = 1; repeated int32 n = 2; }'
>>> forthwith.protobuf.decode([b"\x10\x05\x10\x06", b""], schema).tolist()
[{'x': 0.0, 'n': [5, 6]}, {'x': 0.0, 'n': []}]
>>> print(forthwith.protobuf.schema_of({"x": [1.5], "n": [[1, 2]]}, "Hit"), end="")
syntax = "proto3";
message Hit {
  double x = 1;
  repeated int64 n = 2;
}
"""

from __future__ import annotations

import os

from forthwith import _forthwith
from forthwith._entries import thread_count
from forthwith._given import given as _given
from forthwith._interop import library as _library
from forthwith._proto_schema import proto_mapping as _proto_mapping
from forthwith._proto_schema import proto_schema as _proto_schema
from forthwith._stores import of_target as _store
from forthwith._writer import Writer
from forthwith._writer import place as _place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Literal

    from forthwith._writer import Writable

__all__ = ["Writer", "decode", "schema_of", "write", "writer"]


def decode(
    messages: Iterable[bytes | None] | Any,
    schema: Any,
    message: str | None = None,
    *,
    times_as_records: bool = False,
    enums: Literal["names", "numbers"] = "names",
    recursion: int | None = None,
    threads: int | None = None,
) -> Any:
    """Decodes messages to an Awkward Array of records.

    Args:
        messages: A list of messages, or a column of bytes: an Awkward Array, or Arrow data (of pyarrow,
            polars, pandas, DuckDB). Each message has to be consumed completely; ``None`` stays ``None``.
        schema: The types of messages: the path or text of a ``.proto`` file; the path or bytes of a
            descriptor set (``protoc --descriptor_set_out=FILE --include_imports``); a message class or module
            of the ``protobuf`` package.
        message: The full name of the message type. It is not required for a message class, nor if exactly one
            type of the schema is not used by fields of others.
        times_as_records: Whether ``google.protobuf.Timestamp`` and ``Duration`` are records of seconds and
            nanoseconds, for their full range. By default, they are times in nanoseconds, limited to the years
            1677 to 2262.
        enums: Whether enums are read as ``"names"`` or ``"numbers"``.
        recursion: The depth to which recursive message types are read; more deeply nested messages are an
            error. By default, recursive fields are refused.
        threads: Number of threads; by default the number of processors.

    Raises:
        DamagedFileError: A message does not match the schema (also a ``ValueError``).
        UnsupportedError: The type is recursive without ``recursion``, or is a message set (also a
            ``NotImplementedError``).
    """
    thread_count(threads)
    mapping = _proto_mapping(times_as_records, enums, recursion)
    text, name = _proto_schema(schema, message)
    if text is None:
        raise TypeError("a schema is needed")
    if isinstance(messages, (list, tuple)):
        held = [one if one is None else bytes(one) for one in messages]
        core = _forthwith.protobuf_messages(text, name, held, mapping, threads)
    elif isinstance(messages, (bytes, bytearray, memoryview, str)):
        raise TypeError(f"messages are several: [message], not {type(messages).__name__}")
    elif hasattr(messages, "__next__"):
        held = list(messages)
        return decode(
            held, schema, message, times_as_records=times_as_records, enums=enums, recursion=recursion, threads=threads
        )
    else:
        core = _forthwith.protobuf_column(text, name, _given(messages), mapping, threads)
    return _library("ak").column("", core, 0)


def writer(
    path: str | os.PathLike[str] | Writable,
    *,
    schema: Any = None,
    message: str | None = None,
    framing: Literal["delimited", "fixed32", "fixed32-big", "single"] = "delimited",
    storage_options: Mapping[str, Any] | None = None,
) -> Writer:
    """Creates a file that is written array by array, with a message for each row.

    The file gets its name at the end of the ``with`` block; after an exception it is discarded, and an
    existing file of that name is unchanged.

    Args:
        path: The destination: a path, or a file object, which receives all bytes at the end.
        schema: The types of messages, as in `decode`. Columns are matched to fields by name; fields without a
            column are absent. By default, the schema is that of the first array; see `schema_of`, which
            readers need.
        message: The full name of the message type. It is not required for a message class, nor if exactly one
            type of the schema is not used by fields of others; without a schema, it is the name of the new
            type, by default ``Row``.
        framing: The framing of messages: ``"delimited"`` for lengths as varints before them, ``"fixed32"`` or
            ``"fixed32-big"`` for lengths of four bytes, ``"single"`` for a file that is one message.
        storage_options: For URLs such as ``s3://bucket/out.pb``: options of the store, as in ``open``.

    Raises:
        UnsupportedError: The first array has a type that ProtoBuf does not support (also a
            ``NotImplementedError``).
        RequestError: The schema lacks fields for columns, or values exceed their types (also a
            ``ValueError``).
        SourceError: The folder does not exist or is not writable (also an ``OSError``).
    """
    target, uri = _place(path)
    text, name = (None, message) if schema is None else _proto_schema(schema, message)
    core = _forthwith.TableWriter(
        uri,
        target is not None,
        "pb",
        None,
        None,
        None,
        None,
        [],
        _store(uri, storage_options),
        schema=text,
        name=name,
        framing=framing,
    )
    return Writer(core, target, uri, "nothing was written, and nothing says what the columns would have been")


def write(
    path: str | os.PathLike[str] | Writable,
    array: Any,
    *,
    schema: Any = None,
    message: str | None = None,
    framing: Literal["delimited", "fixed32", "fixed32-big", "single"] = "delimited",
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Writes an array as a file with a message for each row.

    Args:
        path: The destination: a path, or a file object, which receives all bytes at the end.
        array: An Awkward Array or anything that converts to one: a dict of columns, Arrow data, lists of
            dicts. The fields of records are the fields of messages; other arrays are one field, ``value``.
        schema: The types of messages, as in `decode`. Columns are matched to fields by name; fields without a
            column are absent. By default, the schema is that of the array; see `schema_of`, which readers
            need.
        message: The full name of the message type. It is not required for a message class, nor if exactly one
            type of the schema is not used by fields of others; without a schema, it is the name of the new
            type, by default ``Row``.
        framing: The framing of messages: ``"delimited"`` for lengths as varints before them, ``"fixed32"`` or
            ``"fixed32-big"`` for lengths of four bytes, ``"single"`` for a file that is one message.
        storage_options: For URLs such as ``s3://bucket/out.pb``: options of the store, as in ``open``.
    """
    with writer(path, schema=schema, message=message, framing=framing, storage_options=storage_options) as file:
        file.write(array)


def schema_of(array: Any, message: str | None = None) -> str:
    """Returns the default schema of an array, as ``.proto`` text.

    Args:
        array: An Awkward Array or anything that converts to one.
        message: The name of the message type, by default ``Row``.

    Raises:
        UnsupportedError: The array has a type that ProtoBuf does not support (also a
            ``NotImplementedError``).
    """
    return _forthwith.protobuf_schema(_given(array), message)
