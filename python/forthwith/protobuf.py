r"""ProtoBuf: writing files, and messages without a file around them.

Files are read by `forthwith.open`. This module has `write` and `writer` for files, and `decode` for messages that are the
values of something else: records of Kafka, a column of bytes in a Parquet or Avro file, a list.

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
    """Messages as an Awkward Array of records.

    Args:
        messages: Messages one by one, or a column of bytes: an Awkward Array, or what Arrow knows (of pyarrow, polars, pandas,
            DuckDB). Each has to end where its bytes do; ``None`` stays ``None``.
        schema: The types of messages: the path or the text of a ``.proto`` file; the path or the bytes of a set of descriptors
            (``protoc --descriptor_set_out=FILE --include_imports``); a message class or a module of the ``protobuf`` package.
        message: The full name of their type. It is not needed for a message class, nor where the schema has only one type that
            no other has a field of.
        times_as_records: Whether ``google.protobuf.Timestamp`` and ``Duration`` are records of seconds and nanoseconds, which
            hold all that there are. By default they are times in nanoseconds, which those before 1677 or after 2262 are not.
        enums: Whether enums are their ``"names"`` or their ``"numbers"``.
        recursion: How often a message type is read within itself: then messages nested deeper are an error. Without it such
            a field is refused.
        threads: Threads that decode; by default one for each processor.

    Raises:
        DamagedFileError: A message is not what the schema says (also a ``ValueError``).
        UnsupportedError: The type contains itself and there is no ``recursion``, or is a message set (also a
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
    """A file to be written array by array: each row is a message.

    The file has its name when the ``with`` block ends; if it ends with an exception, nothing is left behind, and a file that
    had the name before is as it was.

    Args:
        path: Where to write: a path, or a file object, which gets all bytes at the end.
        schema: The types of messages, as in `decode`. Columns go by the names of fields; fields without a column are absent.
            Without one, it follows from the first array: `schema_of` shows it, and readers need it.
        message: The full name of the message type. It is not needed for a message class, nor where the schema has only one
            type that no other has a field of; without a schema it is the name that the type gets, by default ``Row``.
        framing: What is around the messages: ``"delimited"`` for lengths as variable integers before them, ``"fixed32"`` or
            ``"fixed32-big"`` for lengths of four bytes, ``"single"`` for a file that is one message.
        storage_options: For URLs of stores such as ``s3://bucket/out.pb``: how the store is reached, as in ``open``.

    Raises:
        UnsupportedError: A type that ProtoBuf does not have, when the first array is written (also a ``NotImplementedError``).
        RequestError: Columns that the schema has no fields for, values that their types do not hold (also a ``ValueError``).
        SourceError: The folder does not exist or may not be written (also an ``OSError``).
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
    """Writes an array as a file of messages, one for each row.

    Args:
        path: Where to write: a path, or a file object, which gets all bytes at the end.
        array: An Awkward Array or anything that one can be made of: a dict of columns, Arrow data, lists of dicts. The fields
            of records are the fields of messages; anything else is one field, ``value``.
        schema: The types of messages, as in `decode`. Columns go by the names of fields; fields without a column are absent.
            Without one, it follows from the array: `schema_of` shows it, and readers need it.
        message: The full name of the message type. It is not needed for a message class, nor where the schema has only one
            type that no other has a field of; without a schema it is the name that the type gets, by default ``Row``.
        framing: What is around the messages: ``"delimited"`` for lengths as variable integers before them, ``"fixed32"`` or
            ``"fixed32-big"`` for lengths of four bytes, ``"single"`` for a file that is one message.
        storage_options: For URLs of stores such as ``s3://bucket/out.pb``: how the store is reached, as in ``open``.
    """
    with writer(path, schema=schema, message=message, framing=framing, storage_options=storage_options) as file:
        file.write(array)


def schema_of(array: Any, message: str | None = None) -> str:
    """The schema, as ``.proto`` text, that `write` writes an array with if none is given.

    Args:
        array: An Awkward Array or anything that one can be made of.
        message: The name of the message type, by default ``Row``.

    Raises:
        UnsupportedError: A type that ProtoBuf does not have (also a ``NotImplementedError``).
    """
    return _forthwith.protobuf_schema(_given(array), message)
