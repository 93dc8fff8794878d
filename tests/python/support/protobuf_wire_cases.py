"""Messages of ProtoBuf as bytes, for every rule of the wire format, and schemas with every kind of field.

    python tests/python/support/protobuf_wire_cases.py

The rules are those that the conformance suite of ProtoBuf covers: values of each type in every encoding, presence, packed and
unpacked items, fields that come twice, merged messages, members of a oneof, maps, unknown fields, groups, closed and open
enums, text that is not UTF-8, keys and lengths that no field can have, data that end anywhere, and nested messages. Google's
Python package (upb) says which of them are messages, and what their values are.
"""

from __future__ import annotations

import itertools
import struct
import sys
from typing import TYPE_CHECKING, Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from random_protobuf import FEATURES, NAMES, SCALARS, TYPES, WIRE, found, is_lenient, parsed, same, varint

import forthwith
import forthwith.protobuf

if TYPE_CHECKING:
    from collections.abc import Iterator

SYNTAXES = ["proto2", "proto3", "editions"]
PACKABLE = [name for name in (*SCALARS, "enum") if name not in ("string", "bytes")]
MAPS = [
    ("int32", "int32"), ("int64", "enum"), ("uint32", "double"), ("uint64", "float"), ("sint32", "sint64"),
    ("sint64", "bytes"), ("fixed32", "fixed64"), ("fixed64", "bool"), ("sfixed32", "uint32"), ("sfixed64", "string"),
    ("bool", "message"), ("string", "message"), ("string", "string"),
]  # fmt: skip
CHOICES = ["uint32", "message", "string", "bytes", "bool", "uint64", "float", "double", "enum"]


class AllTypes:
    """A schema with a message type that has fields of every kind."""

    def __init__(self, syntax: str) -> None:
        self.syntax = syntax
        self.file = descriptor_pb2.FileDescriptorProto(name=f"{syntax}.proto", package="t", syntax=syntax)
        if syntax == "editions":
            self.file.edition = descriptor_pb2.EDITION_2023
        for name, closed in (("E", False), ("C", True)):
            enum = self.file.enum_type.add(name=name)
            if closed and syntax == "editions":
                enum.options.features.enum_type = FEATURES.CLOSED
            for value, number in (("ZERO", 0), ("ONE", 1), ("BIG", 2**31 - 1), ("MINUS", -1)):
                enum.value.add(name=f"{name}_{value}", number=number)
        inner = self.file.message_type.add(name="Inner")
        inner.field.add(name="a", number=1, label=TYPES.LABEL_OPTIONAL, type=TYPES.TYPE_INT32)
        inner.field.add(name="b", number=2, label=TYPES.LABEL_REPEATED, type=TYPES.TYPE_SINT32)
        inner.field.add(name="c", number=3, label=TYPES.LABEL_OPTIONAL, type=TYPES.TYPE_STRING)
        self.message = self.file.message_type.add(name="All")
        self.numbers = itertools.count(1)
        for name in (*SCALARS, "enum", "message"):
            self._add(f"s_{name}", name)
            self._add(f"r_{name}", name, repeated=True)
        for name in PACKABLE:
            self._packed(self._add(f"p_{name}", name, repeated=True), packed=True)
            self._packed(self._add(f"u_{name}", name, repeated=True), packed=False)
        if syntax != "proto3":
            self._add("s_closed", "closed")
            self._packed(self._add("p_closed", "closed", repeated=True), packed=True)
            self._add("s_group", "group")
            self._add("r_group", "group", repeated=True)
        else:
            for name in (*SCALARS, "enum", "message"):
                field = self._add(f"o_{name}", name)
                field.proto3_optional = True
        for key, value in MAPS:
            self._map(key, value)
        self.message.oneof_decl.add(name="choice")
        for name in CHOICES:
            self._add(f"c_{name}", name).oneof_index = 0
        for field in self.message.field:
            if field.proto3_optional:
                field.oneof_index = len(self.message.oneof_decl)
                self.message.oneof_decl.add(name=f"_{field.name}")
        self._add_with_number("high", 2**29 - 1)
        pool = descriptor_pool.DescriptorPool()
        pool.Add(self.file)
        self.descriptor = pool.FindMessageTypeByName("t.All")
        self.cls = message_factory.GetMessageClass(self.descriptor)

    def set(self) -> bytes:
        return descriptor_pb2.FileDescriptorSet(file=[self.file]).SerializeToString()

    def _add_with_number(self, name: str, number: int) -> Any:
        return self.message.field.add(name=name, number=number, label=TYPES.LABEL_OPTIONAL, type=TYPES.TYPE_INT32)

    def _add(self, name: str, kind: str, *, repeated: bool = False) -> Any:
        label = TYPES.LABEL_REPEATED if repeated else TYPES.LABEL_OPTIONAL
        field = self.message.field.add(name=name, number=next(self.numbers), label=label)
        self._type(field, kind)
        return field

    def _type(self, field: Any, kind: str) -> None:
        if kind in ("enum", "closed"):
            field.type, field.type_name = TYPES.TYPE_ENUM, ".t.E" if kind == "enum" else ".t.C"
        elif kind == "message":
            field.type, field.type_name = TYPES.TYPE_MESSAGE, ".t.Inner"
        elif kind == "group" and self.syntax == "editions":
            field.type, field.type_name = TYPES.TYPE_MESSAGE, ".t.Inner"
            field.options.features.message_encoding = FEATURES.DELIMITED
        elif kind == "group":
            name = field.name.capitalize()
            group = self.message.nested_type.add(name=name)
            group.field.add(name="a", number=1, label=TYPES.LABEL_OPTIONAL, type=TYPES.TYPE_INT32)
            group.field.add(name="b", number=2, label=TYPES.LABEL_REPEATED, type=TYPES.TYPE_SINT32)
            group.field.add(name="c", number=3, label=TYPES.LABEL_OPTIONAL, type=TYPES.TYPE_STRING)
            field.type, field.type_name, field.name = TYPES.TYPE_GROUP, f".t.All.{name}", name.lower()
        else:
            field.type = getattr(TYPES, f"TYPE_{kind.upper()}")

    def _packed(self, field: Any, *, packed: bool) -> None:
        if self.syntax == "editions":
            features = field.options.features
            features.repeated_field_encoding = FEATURES.PACKED if packed else FEATURES.EXPANDED
        else:
            field.options.packed = packed

    def _map(self, key: str, value: str) -> None:
        name = f"Map{len(self.message.nested_type)}Entry"
        entry = self.message.nested_type.add(name=name)
        entry.options.map_entry = True
        for number, (part, kind) in enumerate((("key", key), ("value", value)), 1):
            self._type(entry.field.add(name=part, number=number, label=TYPES.LABEL_OPTIONAL), kind)
        field = self.message.field.add(
            name=name.removesuffix("Entry").lower(), number=next(self.numbers), label=TYPES.LABEL_REPEATED
        )
        field.type, field.type_name = TYPES.TYPE_MESSAGE, f".t.All.{name}"


def key(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


def framed(number: int, body: bytes) -> bytes:
    return key(number, 2) + varint(len(body)) + body


def longer(number: int, length: int) -> bytes:
    """A number of variable length in so many bytes."""
    text = varint(number)
    return (
        text
        if len(text) >= length
        else text[:-1] + bytes([text[-1] | 0x80]) + b"\x80" * (length - len(text) - 1) + b"\0"
    )


def values(kind: str) -> list[bytes]:
    """A type's values, each in several encodings where there are several."""
    ends = {
        "int32": [0, 1, -1, 2**31 - 1, -(2**31), 2**31, 2**32, 2**33 + 5, -(2**63)],
        "uint32": [0, 1, 2**32 - 1, 2**32, 2**33 + 5, 2**63, 2**64 - 1],
        "sint32": [0, 1, 2, 2**32 - 1, 2**32 - 2, 2**32, 2**33 + 3, 2**64 - 1],
        "int64": [0, 1, -1, 2**63 - 1, -(2**63), 2**31, 2**32],
        "uint64": [0, 1, 2**63, 2**64 - 1, 2**32],
        "sint64": [0, 1, 2, 2**64 - 1, 2**64 - 2, 2**32],
        "bool": [0, 1, 2, 2**32, 2**63, 2**64 - 1, 128, 12345678],
        "enum": [0, 1, -1, 2, 2**31 - 1, -(2**31), 2**32, 2**32 + 1, 2**33 + 5, 77],
    }
    if kind in ("closed", *ends):
        numbers = ends["enum" if kind == "closed" else kind]
        lengths = (1, 2, 5, 9, 10)
        return [*dict.fromkeys(longer(number, length) for number in numbers for length in lengths)]
    if kind in ("double", "float"):
        code = "<d" if kind == "double" else "<f"
        inf = float("inf")
        floats = [struct.pack(code, value) for value in (0.0, -0.0, 1.5, -1e-30, inf, -inf)]
        nans = ["000000000000f87f", "010000000000f0ff"] if kind == "double" else ["0000c07f", "010080ff"]
        return floats + [bytes.fromhex(nan) for nan in nans]
    if kind in ("fixed64", "sfixed64", "fixed32", "sfixed32"):
        size = 8 if kind.endswith("64") else 4
        return [number.to_bytes(size, "little") for number in (0, 1, 256, 2 ** (8 * size - 1), 2 ** (8 * size) - 1)]
    if kind == "string":
        texts = [b"", b"x", b"\0", "ß日🦀".encode(), b"a" * 127, b"a" * 128, b"a" * 20000, *bad_texts()]
        return [varint(len(text)) + text for text in texts] + [longer(1, length) + b"x" for length in (2, 5)]
    if kind == "bytes":
        return [varint(len(text)) + text for text in (b"", b"\x80\xff", b"\0" * 300, *bad_texts())]
    bodies = [
        b"",
        b"\x08\x01",
        b"\x10\x01\x10\x02",
        b"\x12\x02\x03\x04",
        b"\x1a\x01x",
        b"\x08\x01\x08\x02",
        b"\x20\x01",
    ]
    return [varint(len(body)) + body for body in bodies]


def bad_texts() -> list[bytes]:
    """Text that is not UTF-8, and some that nearly is not."""
    return [
        b"\x80", b"\xc0\x80", b"\xc1\xbf", b"\xc2", b"a\xe2\x82", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\x9f\xbf",
        b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xf4\x8f\xbf\xbf", b"\xff", b"ok\xa0\xb0", b"\xef\xbf\xbf",
    ]  # fmt: skip


def kind_of(field: Any) -> str:
    return NAMES[field.type]


def one(field: Any, value: bytes) -> bytes:
    """A field with a value; of a group without its length."""
    if kind_of(field) == "group":
        return key(field.number, 3) + value[1:] + key(field.number, 4)
    return key(field.number, WIRE[kind_of(field)]) + value


def unknown(number: int) -> dict[str, bytes]:
    """Unknown fields of each kind."""
    inner = key(7, 0) + b"\x05"
    return {
        "varint": key(number, 0) + b"\x96\x01",
        "varint of ten bytes": key(number, 0) + b"\xff" * 9 + b"\x01",
        "fixed64": key(number, 1) + b"12345678",
        "length": framed(number, b"any bytes"),
        "empty length": framed(number, b""),
        "fixed32": key(number, 5) + b"1234",
        "group": key(number, 3) + inner + key(number, 4),
        "empty group": key(number, 3) + key(number, 4),
        "groups": key(number, 3) + key(9, 3) + inner + key(9, 4) + framed(2, b"x") + key(number, 4),
    }


def cases(descriptor: Any) -> Iterator[tuple[str, bytes]]:
    """Messages with their names."""
    yield "nothing", b""
    fields = list(descriptor.fields)
    for part in (_scalars, _repeated, _twice, _premature, _wrong_wire):
        for field in fields:
            if not (field.message_type is not None and field.message_type.GetOptions().map_entry):
                yield from part(field)
    yield from _oneofs([field for field in fields if field.name.startswith("c_")])
    for field in fields:
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            yield from _maps(field)
    yield from _unknown(fields)
    yield from _illegal(fields)


def _scalars(field: Any) -> Iterator[tuple[str, bytes]]:
    for at, value in enumerate(values(kind_of(field))):
        yield f"{field.name} value {at}", one(field, value)


def _repeated(field: Any) -> Iterator[tuple[str, bytes]]:
    kind = kind_of(field)
    every = values(kind)
    items = b"".join(one(field, value) for value in every[:4])
    yield f"{field.name} unpacked", items
    if kind not in PACKABLE:
        return
    packed = framed(field.number, b"".join(every))
    yield f"{field.name} packed", packed
    yield f"{field.name} packed and not", items + packed + items
    yield f"{field.name} packed, nothing", framed(field.number, b"")
    yield f"{field.name} packed twice", packed + framed(field.number, every[0])
    yield f"{field.name} packed, cut", framed(field.number, every[-1][:-1])
    yield f"{field.name} packed, cut behind items", framed(field.number, b"".join(every[:5]) + every[-1][:-1])
    yield f"{field.name} packed, longer than the message", packed[:-1]


def _twice(field: Any) -> Iterator[tuple[str, bytes]]:
    every = values(kind_of(field))
    sound = [value for value in every if value[1:] not in bad_texts()]
    yield f"{field.name} all values", b"".join(one(field, value) for value in sound)
    for first, second in itertools.product(sound[:3], sound[:3]):
        yield f"{field.name} twice", one(field, first) + one(field, second)
    if kind_of(field) in ("message", "group"):
        for first, second in itertools.product(every, every):
            yield f"{field.name} merged", one(field, first) + unknown(1900)["group"] + one(field, second)
    if kind_of(field) == "string":
        for text in bad_texts():
            bad = one(field, varint(len(text)) + text)
            yield f"{field.name} replaces text", bad + one(field, b"\x01x")
            yield f"{field.name} text replaced", one(field, b"\x01x") + bad


def _premature(field: Any) -> Iterator[tuple[str, bytes]]:
    for value in values(kind_of(field))[:6]:
        whole = one(field, value)
        ends = range(1, len(whole)) if len(whole) < 40 else (1, 2, 3, len(whole) // 2, len(whole) - 1)
        for end in ends:
            yield f"{field.name} cut at {end}", whole[:end]
            yield f"{field.name} cut at {end} behind another", b"\x10\x01" + whole[:end]


def _wrong_wire(field: Any) -> Iterator[tuple[str, bytes]]:
    for name, body in unknown(field.number).items():
        yield f"{field.name} as {name}", body
        yield f"{field.name} as {name}, and as it is", body + one(field, values(kind_of(field))[1]) + body


def _oneofs(members: list[Any]) -> Iterator[tuple[str, bytes]]:
    for first, second in itertools.product(members, members):
        for at in (0, 1):
            one_of, other = one(first, values(kind_of(first))[at]), one(second, values(kind_of(second))[1 - at])
            yield f"{first.name}, then {second.name}", one_of + other
            yield f"{first.name}, {second.name}, {first.name}", one_of + other + one_of
    message = next(member for member in members if kind_of(member) == "message")
    for first, second in itertools.product(values("message"), values("message")):
        yield "a oneof's message twice", one(message, first) + one(message, second)


def _maps(field: Any) -> Iterator[tuple[str, bytes]]:
    key_field, value_field = (field.message_type.fields_by_name[name] for name in ("key", "value"))
    keys = [one(key_field, value) for value in values(kind_of(key_field))]
    items = [one(value_field, value) for value in values(kind_of(value_field))]
    bodies = [b"", keys[1], items[1], items[1] + keys[1], keys[0] + keys[1] + items[1] + items[0]]
    bodies += [each + items[1] for each in keys] + [keys[1] + item for item in items]
    for at, body in enumerate(bodies):
        yield f"{field.name} entry {at}", framed(field.number, body)
    entry = framed(field.number, keys[1] + items[1])
    yield f"{field.name} equal keys", entry + framed(field.number, keys[1] + items[0]) + framed(field.number, keys[0])
    for name, body in unknown(5).items():
        yield f"{field.name} entry with {name}", framed(field.number, keys[1] + body + items[1]) + entry
    for end in range(1, min(len(entry), 30)):
        yield f"{field.name} cut at {end}", entry[:end]
        yield f"{field.name} entry cut at {end}", framed(field.number, (keys[1] + items[1])[:end])


def _unknown(fields: list[Any]) -> Iterator[tuple[str, bytes]]:
    known = one(fields[4], values(kind_of(fields[4]))[1])
    for number in (1000, 2**29 - 2, 19000):
        for name, body in unknown(number).items():
            yield f"unknown {name}", body
            yield f"unknown {name} between", known + body + known
            for end in range(1, len(body)):
                yield f"unknown {name}, cut at {end}", body[:end]
    for depth in (1, 50, 98, 99, 100, 101, 150):
        yield f"unknown groups, {depth} deep", key(1000, 3) * depth + key(1000, 4) * depth
        yield (
            f"unknown groups, {depth} deep, of which one does not end",
            key(1000, 3) * depth + key(1000, 4) * (depth - 1),
        )


def _illegal(fields: list[Any]) -> Iterator[tuple[str, bytes]]:
    bodies = [b"", b"\0", b"\1", b"\x01a", b"12345678", b"1234"]
    for wire, body in itertools.product(range(8), bodies):
        yield f"field number 0, wire {wire}", bytes([wire]) + body
        yield f"wire {wire} of an unknown field", key(1000, wire) + body
        for field in fields[:6]:
            yield f"{field.name} with wire {wire}", key(field.number, wire) + body
    for number in (2**29, 2**30, 2**32, 2**60):
        for wire, body in itertools.product((0, 1, 2, 5), bodies):
            yield f"field number {number}", varint((number << 3 | wire) & (2**64 - 1)) + body
    text = next(field for field in fields if field.name == "s_string").number
    for number in (2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**63, 2**64 - 1, 2):
        yield f"length {number}", key(text, 2) + varint(number) + b"x"
        yield f"unknown length {number}", key(1000, 2) + varint(number) + b"x"
    for length in range(2, 13):
        tail = b"\x80" * (length - 2) + b"\0"
        yield f"key of {length} bytes", bytes([text << 3 & 0x7F | 0x80]) + tail + b"\0"
        yield f"unknown key of {length} bytes", b"\xc0" + tail + b"\x05"
        yield f"length of {length} bytes", key(text, 2) + b"\x81" + tail + b"x"
        yield f"number of {length} bytes", key(1000, 0) + b"\x81" + tail
    for end in (0x01, 0x02, 0x7F, 0x40):
        for field in fields[4:8]:
            yield f"{field.name}, more than 64 bits", key(field.number, 0) + b"\xff" * 9 + bytes([end])
    for number in (1, 1000):
        yield "a group that ends and did not begin", key(number, 4)
        yield "a group that ends as another", key(number, 3) + key(number + 1, 4)
        yield "a group that does not end", key(number, 3) + b"\x08\x01"
        yield "a group that ends in a message", framed(number, key(number, 4))
    groups = [field for field in fields if kind_of(field) == "group"]
    for field in groups:
        yield f"{field.name} ends as another", key(field.number, 3) + b"\x08\x01" + key(field.number + 1, 4)
        yield f"{field.name} does not end", key(field.number, 3) + b"\x08\x01"
        yield f"{field.name} with a length", framed(field.number, b"\x08\x01")


def nested(depth: int) -> bytes:
    """A message `M { M child = 1; int32 a = 2; }` within itself so many times."""
    body = b"\x10\x05"
    for _ in range(depth):
        body = framed(1, body)
    return body


def is_known_difference(name: str, message: bytes) -> bool:
    """Whether Google's parser is known to differ: it refuses keys and lengths of more than five bytes, which are read here,
    and takes the low bits of integers of more than 64, which are an error here. Text that a later value of its field
    replaces is checked by Google alone."""
    if "replaces text" in name:
        return True
    return is_lenient(message) and (
        "bytes" in name or "more than 64 bits" in name or "length" in name or "field number" in name
    )


def compare(syntax: str, every: int = 1) -> dict[str, int]:
    """Compares all cases of a syntax; the number of messages that were taken, refused and known to differ. Of those that
    Google's parser refuses, which are read one by one, one in `every` is compared.

    Raises:
        AssertionError: The cases that differ.
    """
    schema = AllTypes(syntax)
    descriptors = schema.set()
    tally = {"taken": 0, "refused": 0, "known to differ": 0}
    good, wrong = [], []
    once = {message: name for name, message in cases(schema.descriptor)}
    for number, (message, name) in enumerate(once.items()):
        value = parsed(schema, message)
        if value is not None:
            good.append((name, message, value))
            continue
        if number % every:
            continue
        try:
            got = forthwith.protobuf.decode([message], descriptors, "t.All").tolist()
        except forthwith.DamagedFileError:
            tally["refused"] += 1
        else:
            if is_known_difference(name, message):
                tally["known to differ"] += 1
            else:
                wrong.append(f"{name}: taken: {message.hex()} as {got}"[:300])
    for name, message, value, row in _decoded(good, descriptors):
        if isinstance(row, str):
            if is_known_difference(name, message):
                tally["known to differ"] += 1
            else:
                wrong.append(f"{name}: refused: {message.hex()}: {row}"[:300])
        elif same(got := found(row, schema.descriptor), value):
            tally["taken"] += 1
        else:
            names = [field for field in value if not same(got[field], value[field])]
            differ = [(field, got[field], value[field]) for field in names]
            wrong.append(f"{name}: {message.hex()[:80]}: {differ}"[:300])
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong)
    return tally


def _decoded(good: list[tuple[str, bytes, Any]], descriptors: bytes) -> Iterator[tuple[str, bytes, Any, Any]]:
    """Messages with their rows, or with the text of the error."""
    while good:
        part, good = good[:200], good[200:]
        try:
            rows = forthwith.protobuf.decode([message for _, message, _ in part], descriptors, "t.All").tolist()
        except forthwith.DamagedFileError:
            rows = []
            for _, message, _ in part:
                try:
                    rows += forthwith.protobuf.decode([message], descriptors, "t.All").tolist()
                except forthwith.DamagedFileError as error:
                    rows.append(str(error))
        for (name, message, value), row in zip(part, rows, strict=True):
            yield name, message, value, row


if __name__ == "__main__":
    for syntax in sys.argv[1:] or SYNTAXES:
        print(syntax, compare(syntax))
