"""Random schemas and messages of ProtoBuf, compared with Google's parser.

    python tests/python/support/random_protobuf.py SEED COUNT

Messages are made as bytes, field by field: in any order, fields several times, repeated fields packed and not, unknown fields
between them; some are cut or changed at random. Google's Python package (upb) says which of them are messages, and what their
values are.
"""

from __future__ import annotations

import math
import random
import struct
import sys
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

import forthwith
import forthwith.protobuf

SCALARS = [
    "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "bytes", "uint32",
    "sfixed32", "sfixed64", "sint32", "sint64",
]  # fmt: skip
KEYS = [name for name in SCALARS if name not in ("double", "float", "bytes")]
TYPES = descriptor_pb2.FieldDescriptorProto
FEATURES = descriptor_pb2.FeatureSet
WIRE = {
    **dict.fromkeys(("int64", "uint64", "int32", "uint32", "bool", "sint32", "sint64", "enum"), 0),
    **dict.fromkeys(("double", "fixed64", "sfixed64"), 1),
    **dict.fromkeys(("string", "bytes", "message"), 2),
    **dict.fromkeys(("float", "fixed32", "sfixed32"), 5),
    "group": 3,
}
NAMES = {getattr(TYPES, f"TYPE_{name.upper()}"): name for name in WIRE}


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


class Schema:
    """A file with some message types, the first of which has all others."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.file = descriptor_pb2.FileDescriptorProto(name="random.proto", package="t")
        self.syntax = rng.choice(["proto2", "proto3", "editions"])
        self.file.syntax = self.syntax
        if self.syntax == "editions":
            self.file.edition = descriptor_pb2.EDITION_2023
        enums = rng.randint(1, 2)
        for number in range(enums):
            self._enum(number)
        self.count = rng.randint(1, 4)
        for number in range(self.count):
            self._message(number)
        pool = descriptor_pool.DescriptorPool()
        pool.Add(self.file)
        self.descriptor = pool.FindMessageTypeByName("t.M0")
        self.cls = message_factory.GetMessageClass(self.descriptor)

    def set(self) -> bytes:
        return descriptor_pb2.FileDescriptorSet(file=[self.file]).SerializeToString()

    def _enum(self, number: int) -> None:
        enum = self.file.enum_type.add(name=f"E{number}")
        numbers = [0, *self.rng.sample([1, 2, 3, 5, 127, 128, -1, -7, 2**31 - 1, -(2**31)], self.rng.randint(0, 4))]
        if self.syntax == "proto2" and self.rng.random() < 0.3:
            numbers[0] = 4
        if self.syntax == "editions" and self.rng.random() < 0.5:
            enum.options.features.enum_type = FEATURES.CLOSED
        for value in numbers:
            enum.value.add(name=f"E{number}_{'M' if value < 0 else ''}{abs(value)}", number=value)

    def _message(self, number: int) -> None:
        rng = self.rng
        message = self.file.message_type.add(name=f"M{number}")
        used: set[int] = set()
        if rng.random() < 0.5:
            message.oneof_decl.add(name="choice")
        optional = []
        for at in range(rng.randint(1, 7)):
            field = message.field.add(name=f"f{at}", number=self._number(used), label=TYPES.LABEL_OPTIONAL)
            if rng.random() < 0.12:
                self._map(message, field, number)
                continue
            self._type(message, field, number)
            roll = rng.random()
            if roll < 0.35:
                field.label = TYPES.LABEL_REPEATED
                self._packed(field)
            elif roll < 0.6 and message.oneof_decl and message.oneof_decl[0].name == "choice":
                field.oneof_index = 0
            elif self.syntax == "proto3" and roll < 0.75:
                optional.append(field)
            elif self.syntax == "proto2" and roll > 0.97:
                field.label = TYPES.LABEL_REQUIRED
            elif self.syntax == "editions" and roll > 0.8 and self._may_be_implicit(field):
                field.options.features.field_presence = FEATURES.IMPLICIT
        if message.oneof_decl and all(not field.HasField("oneof_index") for field in message.field):
            del message.oneof_decl[:]
        for field in optional:
            field.proto3_optional = True
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{field.name}")

    def _may_be_implicit(self, field: Any) -> bool:
        if field.type == TYPES.TYPE_ENUM:
            enum = self.file.enum_type[int(field.type_name[-1])]
            return enum.options.features.enum_type != FEATURES.CLOSED
        return field.type != TYPES.TYPE_MESSAGE

    def _number(self, used: set[int]) -> int:
        while True:
            number = self.rng.choice(
                [self.rng.randint(1, 15), self.rng.randint(1, 3000), self.rng.randint(2**28, 2**29 - 1)]
            )
            if number not in used:
                used.add(number)
                return number

    def _type(self, message: Any, field: Any, number: int, *, groups: bool = True) -> None:
        rng = self.rng
        roll = rng.random()
        if roll < 0.12:
            field.type = TYPES.TYPE_ENUM
            field.type_name = f".t.E{rng.randrange(len(self.file.enum_type))}"
        elif roll < 0.35 and number + 1 < self.count:
            field.type = TYPES.TYPE_MESSAGE
            field.type_name = f".t.M{rng.randint(number + 1, self.count - 1)}"
            if self.syntax == "editions" and rng.random() < 0.4:
                field.options.features.message_encoding = FEATURES.DELIMITED
        elif roll < 0.42 and self.syntax == "proto2" and groups:
            name = f"Group{field.name}"
            group = message.nested_type.add(name=name)
            group.field.add(name="g", number=rng.randint(1, 20), label=TYPES.LABEL_OPTIONAL, type=TYPES.TYPE_SINT32)
            field.type, field.type_name, field.name = TYPES.TYPE_GROUP, f".t.{message.name}.{name}", name.lower()
        else:
            field.type = getattr(TYPES, f"TYPE_{rng.choice(SCALARS).upper()}")

    def _packed(self, field: Any) -> None:
        if NAMES[field.type] in ("string", "bytes", "message", "group") or self.rng.random() < 0.5:
            return
        if self.syntax == "editions":
            field.options.features.repeated_field_encoding = self.rng.choice([FEATURES.PACKED, FEATURES.EXPANDED])
        else:
            field.options.packed = self.rng.random() < 0.5

    def _map(self, message: Any, field: Any, number: int) -> None:
        name = f"{field.name.capitalize()}Entry"
        entry = message.nested_type.add(name=name)
        entry.options.map_entry = True
        key = getattr(TYPES, f"TYPE_{self.rng.choice(KEYS).upper()}")
        entry.field.add(name="key", number=1, label=TYPES.LABEL_OPTIONAL, type=key)
        value = entry.field.add()
        value.name, value.number, value.label = "value", 2, TYPES.LABEL_OPTIONAL
        self._type(message, value, number, groups=False)
        value.ClearField("options")
        # An enum with a first value that is not 0 cannot be that of a map.
        if value.type == TYPES.TYPE_ENUM and self.file.enum_type[int(value.type_name[-1])].value[0].number:
            value.type = TYPES.TYPE_INT32
            value.ClearField("type_name")
        field.label, field.type, field.type_name = TYPES.LABEL_REPEATED, TYPES.TYPE_MESSAGE, f".t.{message.name}.{name}"


class Messages:
    """Random bytes of messages."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def message(self, descriptor: Any, depth: int = 0) -> bytes:
        rng = self.rng
        parts = []
        for _ in range(rng.choice([0, 1, 2, 4, 8, 16]) if depth < 3 else rng.randint(0, 2)):
            if rng.random() < 0.12 or not descriptor.fields:
                parts.append(self.unknown(descriptor))
            else:
                parts.append(self.field(rng.choice(descriptor.fields), depth))
        return b"".join(parts)

    def field(self, field: Any, depth: int) -> bytes:
        name = NAMES[field.type]
        wire, key = WIRE[name], field.number << 3
        packable = wire in (0, 1, 5)
        if field.is_repeated and packable and self.rng.random() < 0.5:
            body = b"".join(self.scalar(name, field) for _ in range(self.rng.choice([0, 1, 3, 20])))
            return varint(key | 2) + varint(len(body)) + body
        if name == "group":
            return varint(key | 3) + self.message(field.message_type, depth + 1) + varint(key | 4)
        if name == "message":
            body = self.message(field.message_type, depth + 1)
            return varint(key | 2) + varint(len(body)) + body
        return varint(key | wire) + self.scalar(name, field)

    def scalar(self, name: str, field: Any) -> bytes:
        rng = self.rng
        if name in ("string", "bytes"):
            text = "".join(rng.choice("ab é€😀\0") for _ in range(rng.choice([0, 1, 5]))).encode()
            body = rng.randbytes(rng.choice([0, 1, 9])) if name == "bytes" else text
            return varint(len(body)) + body
        if name in ("double", "fixed64", "sfixed64"):
            return rng.choice([rng.randbytes(8), struct.pack("<d", rng.choice([0.0, -0.0, 1.5]))])
        if name in ("float", "fixed32", "sfixed32"):
            return rng.choice([rng.randbytes(4), struct.pack("<f", rng.choice([0.0, -0.0, 1.5]))])
        if name == "enum" and rng.random() < 0.8:
            return varint(rng.choice(field.enum_type.values).number)
        number = rng.choice([0, 1, 2, 127, 128, 300, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1])
        number = rng.choice([number, rng.getrandbits(64), -rng.randint(1, 1000)])
        text = varint(number)
        # Longer than it has to be.
        if len(text) < 9 and rng.random() < 0.05:
            text = text[:-1] + bytes([text[-1] | 0x80, 0])
        return text

    def unknown(self, descriptor: Any, depth: int = 0) -> bytes:
        rng = self.rng
        numbers = [field.number for field in descriptor.fields]
        number = rng.choice([*numbers, rng.randint(1, 5000)])
        wire = rng.choice([0, 1, 2, 3, 5])
        known = {WIRE[NAMES[field.type]] for field in descriptor.fields if field.number == number}
        if wire in known or (wire == 2 and number in numbers):
            number, wire = 18999, 0
        key = varint(number << 3 | wire)
        if wire == 0:
            return key + varint(rng.getrandbits(64))
        if wire == 1:
            return key + rng.randbytes(8)
        if wire == 5:
            return key + rng.randbytes(4)
        if wire == 2:
            body = rng.randbytes(rng.choice([0, 3, 200]))
            return key + varint(len(body)) + body
        inner = b"".join(self.unknown(descriptor, depth + 1) for _ in range(rng.randint(0, 2))) if depth < 3 else b""
        return key + inner + varint(number << 3 | 4)

    def damaged(self, message: bytes) -> bytes:
        """A message with a byte changed, added or removed, or cut."""
        rng = self.rng
        if not message:
            return bytes([rng.randrange(256)])
        at = rng.randrange(len(message))
        return rng.choice(
            [
                message[:at],
                message[:at] + bytes([message[at] ^ 1 << rng.randrange(8)]) + message[at + 1 :],
                message[:at] + message[at + 1 :],
                message[:at] + rng.randbytes(1) + message[at:],
            ]
        )


def expected(message: Any) -> dict[str, Any]:
    """The values that columns have of a parsed message."""
    return {field.name: _field(message, field) for field in message.DESCRIPTOR.fields}


def _field(message: Any, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        of = field.message_type.fields_by_name["value"]
        return {key: _one(value[key], of) for key in value}
    if field.is_repeated:
        return [_one(item, field) for item in value]
    if field.has_presence and not field.is_required and not message.HasField(field.name):
        return None
    return _one(value, field)


def _one(value: Any, field: Any) -> Any:
    if field.message_type is not None:
        return expected(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known else str(value)
    if field.type == TYPES.TYPE_STRING and isinstance(value, bytes):
        raise DecodeError("text of proto2 that is not UTF-8 is given as bytes there, and is an error here")
    return value


def found(value: Any, descriptor: Any) -> Any:
    """A row as `expected` gives it: maps as dicts, in which the last of equal keys counts."""
    if value is None:
        return None
    row = {}
    for field in descriptor.fields:
        item = value[field.name]
        inner = field.message_type
        if inner is not None and inner.GetOptions().map_entry:
            of = inner.fields_by_name["value"].message_type
            item = {key: found(one, of) if of is not None else one for key, one in item}
        elif inner is not None:
            item = [found(one, inner) for one in item] if field.is_repeated else found(item, inner)
        row[field.name] = item
    return row


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return struct.pack("<d", one) == struct.pack("<d", other) or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and one == other


def parsed(schema: Schema, message: bytes) -> dict[str, Any] | None:
    """The values of a message; ``None`` if it is not one, or lacks a required field."""
    try:
        made = schema.cls.FromString(message)
        return expected(made) if made.IsInitialized() else None
    except (DecodeError, UnicodeDecodeError):
        return None


def is_lenient(message: bytes) -> bool:
    """Whether a message may have what Google's parser refuses or cuts, and we take or refuse: keys and lengths that are
    longer than they have to be, and integers of more than 64 bits."""
    run = 0
    for byte in message:
        run = run + 1 if byte >= 0x80 else 0
        if run >= 5:
            return True
    return False


def campaign(seed: int, count: int) -> dict[str, int]:
    """Compares messages of one random schema; the number of messages that were taken and refused.

    Raises:
        AssertionError: A difference, with all that is needed to repeat it.
    """
    rng = random.Random(seed)
    schema, messages = Schema(rng), Messages(rng)
    text = schema.set()
    tally = {"taken": 0, "refused": 0, "lenient": 0}
    good: list[bytes] = []
    values: list[dict[str, Any]] = []
    for _ in range(count):
        message = messages.message(schema.descriptor)
        if rng.random() < 0.3:
            message = messages.damaged(message)
        value = parsed(schema, message)
        if value is not None:
            good.append(message)
            values.append(value)
            continue
        try:
            got = forthwith.protobuf.decode([message], text, "t.M0").tolist()
        except forthwith.DamagedFileError:
            tally["refused"] += 1
        else:
            assert is_lenient(message), f"seed {seed}: taken: {message.hex()} as {got}"
            tally["lenient"] += 1
    if not schema.descriptor.fields:
        return tally
    try:
        rows = forthwith.protobuf.decode(good, text, "t.M0").tolist()
    except forthwith.DamagedFileError:
        rows = []
        for message in good:
            try:
                rows += forthwith.protobuf.decode([message], text, "t.M0").tolist()
            except forthwith.DamagedFileError as error:
                if not is_lenient(message):
                    raise AssertionError(f"seed {seed}: refused: {message.hex()}: {error}") from error
                tally["lenient"] += 1
                rows.append(None)
    for message, row, value in zip(good, rows, values, strict=True):
        if row is not None:
            got = found(row, schema.descriptor)
            assert same(got, value), f"seed {seed}: {message.hex()}\nours  {got}\ntheirs {value}"
            tally["taken"] += 1
    return tally


if __name__ == "__main__":
    start, seeds = int(sys.argv[1]), int(sys.argv[2])
    total: dict[str, int] = {}
    for seed in range(start, start + seeds):
        try:
            tally = campaign(seed, 40)
        except forthwith.UnsupportedError as error:
            tally = {f"unsupported: {error}": 1}
        except Exception as error:
            print(f"seed {seed}: {type(error).__name__}: {error}"[:3000])
            tally = {"failed": 1}
        for name, number in tally.items():
            total[name] = total.get(name, 0) + number
    print(total)
