"""Schemas of ProtoBuf messages, as the arguments of ``open`` give them."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ENDINGS = (".proto", ".desc", ".protoset", ".binpb", ".pb", ".fds")


def is_proto(schema: Any) -> bool:
    """Whether a schema is one of ProtoBuf by itself: descriptors, ``.proto`` text, or a file whose name says so."""
    if isinstance(schema, (str, os.PathLike)):
        name = os.fspath(schema)
        is_text = isinstance(name, str) and "{" in name and name.lstrip()[:1] not in ("{", "[", '"')
        return is_text or (isinstance(name, str) and name.lower().endswith(_ENDINGS))
    if isinstance(schema, (bytes, bytearray, memoryview)):
        return True
    return any(hasattr(schema, name) for name in ("DESCRIPTOR", "serialized_pb", "full_name"))


def proto_schema(schema: Any, message: str | None) -> tuple[str | None, str | None]:
    """A schema as text, and the name of the message type if one is meant.

    Args:
        schema: The path or the text of a ``.proto`` file; the path or the bytes of a set of descriptors; a message class, a
            module that ``protoc`` made, or a descriptor of the ``protobuf`` package.
        message: The name that was given.
    """
    if schema is None or isinstance(schema, str):
        return schema, message
    if isinstance(schema, os.PathLike):
        return os.fsdecode(schema), message
    if isinstance(schema, (bytes, bytearray, memoryview)):
        return bytes(schema).hex(), message
    if type(schema).__name__ == "FileDescriptorSet":
        return schema.SerializeToString().hex(), message
    descriptor = getattr(schema, "DESCRIPTOR", schema)
    file = getattr(descriptor, "file", descriptor)
    if not hasattr(file, "serialized_pb"):
        raise TypeError(
            "schema= takes a .proto file or its text, a set of descriptors, or a message class of the protobuf package, not "
            f"{type(schema).__name__}"
        )
    if message is None and descriptor is not file:
        message = descriptor.full_name
    return _descriptor_set(file).hex(), message


def _descriptor_set(file: Any) -> bytes:
    """A file with all that it imports, as a serialised ``FileDescriptorSet``."""
    files: dict[str, bytes] = {}
    waiting = [file]
    while waiting:
        one = waiting.pop()
        if one.name not in files:
            files[one.name] = one.serialized_pb
            waiting.extend(one.dependencies)
    return b"".join(b"\n" + _varint(len(one)) + one for one in files.values())


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def proto_mapping(times_as_records: bool, enums: str, recursion: int | None) -> tuple[bool, bool, int]:
    """What the arguments say about how values are delivered, once they have been looked at."""
    if enums not in ("names", "numbers"):
        raise ValueError(f'enums is "names" or "numbers", not {enums!r}')
    if recursion is not None and (isinstance(recursion, bool) or not 0 <= recursion <= 50):
        raise ValueError(f"recursion is a number of levels from 0 to 50, not {recursion!r}")
    return bool(times_as_records), enums == "numbers", recursion or 0
