r"""ProtoBuf: messages without a file around them.

Files are read by `forthwith.open`. This module has `decode`, for messages that are the values of something else: records of
Kafka, a column of bytes in a Parquet or Avro file, a list.

>>> import forthwith.protobuf
>>> schema = 'syntax = "proto3"; message Hit { double x = 1; repeated int32 n = 2; }'
>>> forthwith.protobuf.decode([b"\x10\x05\x10\x06", b""], schema).tolist()
[{'x': 0.0, 'n': [5, 6]}, {'x': 0.0, 'n': []}]
"""

from __future__ import annotations

from forthwith import _forthwith
from forthwith._entries import thread_count
from forthwith._given import given as _given
from forthwith._interop import library as _library
from forthwith._proto_schema import proto_mapping as _proto_mapping
from forthwith._proto_schema import proto_schema as _proto_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal

__all__ = ["decode"]


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
