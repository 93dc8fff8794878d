"""Random Avro schemas, values of them and their bytes, by the specification."""

import dataclasses
import json
import math
import struct

PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
LETTERS = ["a", "Z", "0", " ", "\n", '"', "\\", "é", "ß", "€", "漢", "😀", "\u0000", "\u2028", "/"]
WORDS = ["x", "yy", "hits", "Muon_pt", "type", "value", "null", "data", "starts", "a1", "é", "i", "dup", "record"]
SPACES = ["org.a", "org.a.b", "c"]
MEANINGS = {"date": ["int"], "time-millis": ["int"], "time-micros": ["long"], "uuid": ["string", "fixed"]}
MEANINGS |= {"decimal": ["bytes", "fixed"], "duration": ["fixed"]}
MEANINGS |= {f"{local}timestamp-{unit}": ["long"] for local in ("", "local-") for unit in ("millis", "micros", "nanos")}


@dataclasses.dataclass(eq=False)
class Type:
    """A type; a named one that is used twice is one object."""

    kind: str
    inner: list = dataclasses.field(default_factory=list)
    name: str = ""
    fields: list = dataclasses.field(default_factory=list)
    symbols: list = dataclasses.field(default_factory=list)
    size: int = 0
    more: dict = dataclasses.field(default_factory=dict)

    @property
    def short(self):
        return self.name.rsplit(".", 1)[-1]

    @property
    def meaning(self):
        """The logical type, if it is one that fits; a decimal's with its precision and scale."""
        logical = self.more.get("logicalType")
        if self.kind not in MEANINGS.get(logical, ()):
            return None
        if self.kind == "fixed" and logical != "decimal" and self.size != (16 if logical == "uuid" else 12):
            return None
        return (logical, self.more["precision"], self.more.get("scale", 0)) if logical == "decimal" else (logical,)


@dataclasses.dataclass
class Field:
    name: str
    type: Type
    more: dict = dataclasses.field(default_factory=dict)
    default: object = None


class In(tuple):
    """A value of a union: the number of the branch, and the value."""


class Maker:
    """Schemas and values from one seed."""

    def __init__(self, rng, depth=4):
        self.rng, self.depth, self.named, self.count = rng, depth, [], 0
        self.spaces = rng.random() < 0.6

    def fresh(self):
        self.count += 1
        name = f"{self.rng.choice(['T', 'rec', 'N_'])}{self.count}"
        return f"{self.rng.choice(SPACES)}.{name}" if self.spaces else name

    def type(self, depth=None, among=None):
        """Any type; within a union, whatever its `among` does not hold yet."""
        rng = self.rng
        depth = self.depth if depth is None else depth
        if self.named and rng.random() < 0.12:
            return rng.choice(self.named)
        kinds = [*PRIMITIVES, "fixed", "enum", "meaning", "meaning"]
        if depth > 0:
            kinds += ["array", "map", "record", "union", "option"] * 3
        kind = rng.choice(kinds)
        if kind == "meaning":
            return self.logical()
        if kind in ("union", "option") and among is not None:
            kind = "record"
        if kind in ("array", "map"):
            return Type(kind, [self.type(depth - 1)], more=self.props())
        if kind == "option":
            other = self.type(depth - 1, [])
            if other.kind == "null":
                return Type("union", [other])
            pair = [Type("null"), other]
            return Type("union", pair if rng.random() < 0.6 else pair[::-1])
        if kind == "union":
            branches = []
            for _ in range(rng.choice([1, 2, 3, 3, 4, 6])):
                other = self.type(depth - 1, branches)
                if all(other is not b and (other.kind != b.kind or (other.name and b.name)) for b in branches):
                    branches.append(other)
            rng.shuffle(branches)
            return Type("union", branches)
        if kind == "fixed":
            size = rng.choice([0, 1, 2, 4, 12, 16, 33]) if rng.random() < 0.9 else 300
            return self.keep(Type(kind, name=self.fresh(), size=size))
        if kind == "enum":
            symbols = [f"{'ABcd'[n % 4]}{n}" for n in range(rng.choice([1, 2, 3, 7, 150 if rng.random() < 0.2 else 4]))]
            rng.shuffle(symbols)
            return self.keep(Type(kind, name=self.fresh(), symbols=symbols))
        if kind == "record":
            return self.record(depth - 1)
        return Type(kind, more=self.props())

    def props(self):
        return {"doc": "é", "order": "ignore"} if self.rng.random() < 0.05 else {}

    def keep(self, made):
        if self.rng.random() < 0.2:
            made.more["aliases"] = [f"Old{self.count}"]
        self.named.append(made)
        return made

    def record(self, depth, least=0):
        rng, name = self.rng, self.fresh()
        names = rng.sample(WORDS, max(least, rng.choice([0, 1, 2, 2, 3, 4, 6])))
        fields = [Field(word, self.type(depth)) for word in names]
        for field in fields:
            if rng.random() < 0.1:
                field.more["doc"] = 'what "it" is'
            if rng.random() < 0.1:
                field.more["default"] = default(field.type, self.plain(field.type))
        return self.keep(Type("record", name=name, fields=fields))

    def logical(self):
        rng = self.rng
        kind, meaning = rng.choice(
            [("int", "date"), ("int", "time-millis"), ("long", "time-micros"), ("string", "uuid"), ("string", "other")]
            + [
                ("bytes", "decimal"),
                ("bytes", "decimal"),
                ("fixed", "decimal"),
                ("fixed", "uuid"),
                ("fixed", "duration"),
            ]
            + [("long", f"{local}timestamp-{u}") for local in ("", "local-") for u in ("millis", "micros", "nanos")]
            + [("double", "date"), ("int", "timestamp-millis"), ("bytes", "uuid"), ("long", "decimal")]
        )
        more = {"logicalType": meaning}
        size = {"uuid": 16, "duration": 12}.get(meaning, rng.choice([1, 4, 8, 9, 16, 20]))
        if meaning == "decimal":
            most = int(math.log10(2) * (8 * size - 1)) if kind == "fixed" else rng.choice([1, 5, 9, 18, 19, 38, 40, 76])
            more["precision"] = rng.randint(1, max(1, most))
            if rng.random() < 0.8:
                more["scale"] = rng.randint(0, more["precision"])
        made = Type(kind, more=more)
        if kind == "fixed":
            made.name, made.size = self.fresh(), size
            self.named.append(made)
        return made

    # ---- values

    def plain(self, type, depth=0):
        """A small value that JSON can spell."""
        return self.value(type, depth, plain=True)

    def value(self, type, depth=0, plain=False):
        rng, kind = self.rng, type.kind

        def deeper(inner):
            return self.value(inner, depth + 1, plain)

        if kind == "null":
            return None
        if kind == "boolean":
            return rng.random() < 0.5
        if kind in ("int", "long"):
            bits = 31 if kind == "int" else 63
            edge = rng.choice([0, 1, -1, 63, 64, -64, -65, 8191, 8192, -8193, 2**bits - 1, -(2**bits)])
            return edge if rng.random() < 0.4 else rng.randint(-(2**bits), 2**bits - 1) >> rng.randint(0, bits - 1)
        if kind in ("float", "double"):
            edges = [0.0, 1.5, -2.25, 1e30] if plain else [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, 3.4e38]
            found = rng.choice(edges) if rng.random() < 0.4 else rng.uniform(-1e9, 1e9)
            if kind == "double" and not plain and rng.random() < 0.3:
                return rng.choice([5e-324, 1.7976931348623157e308, found])
            return struct.unpack("<f", struct.pack("<f", found))[0]
        if type.meaning and type.meaning[0] == "decimal":
            limit = 10 ** type.more["precision"] - 1
            number = rng.choice([0, 1, -1, limit, -limit, rng.randint(-limit, limit)])
            return number.to_bytes(type.size or number.bit_length() // 8 + 1, "big", signed=True)
        if kind in ("bytes", "string"):
            size = rng.choice([0, 0, 1, 2, 3, 7, 15, 16, 17, 31, 40])
            if not plain and rng.random() < 0.03:
                size = rng.choice([63, 64, 255, 300, 5000])
            if kind == "bytes":
                return rng.randbytes(size)
            if type.meaning == ("uuid",):
                return f"{rng.getrandbits(32):08x}-1234-5678-9abc-{rng.getrandbits(48):012x}"
            return "".join(rng.choice(LETTERS if rng.random() < 0.3 else "abc") for _ in range(size))
        if kind == "fixed":
            return rng.randbytes(type.size)
        if kind == "enum":
            return rng.choice(type.symbols)
        if kind == "union":
            at = 0 if plain else rng.randrange(len(type.inner))
            return In((at, deeper(type.inner[at])))
        if kind == "record":
            return {field.name: deeper(field.type) for field in type.fields}
        sizes = [0, 0, 1, 2, 3] if depth > 2 or plain else [0, 0, 1, 2, 3, 5, 9]
        size = rng.choice(sizes) if plain or depth > 1 or rng.random() < 0.97 else rng.choice([64, 70, 200])
        if kind == "array":
            return [deeper(type.inner[0]) for _ in range(size)]
        keys = [f"{rng.choice(LETTERS)}{n}" if n else "" for n in range(size)]
        return {key: deeper(type.inner[0]) for key in (sorted(keys) if plain else keys)}


# ---- schemas as JSON


def spell(type, known=None, space="", rng=None):
    """The schema as what JSON is made of: a named type once, and then by its name."""
    known = set() if known is None else known
    if type.kind in PRIMITIVES and not type.more:
        return type.kind
    if type.kind == "union":
        return [spell(branch, known, space, rng) for branch in type.inner]
    own, short = type.name.rpartition(".")[0], type.short
    if type.name and id(type) in known:
        return short if own == space and (rng is None or rng.random() < 0.7) else type.name
    made = {"type": type.kind, **type.more}
    if type.kind in ("array", "map"):
        made["items" if type.kind == "array" else "values"] = spell(type.inner[0], known, space, rng)
    if type.name:
        known.add(id(type))
        made["name"] = short
        if own != space and rng is not None and rng.random() < 0.5:
            made["name"] = type.name
        elif own != space:
            made["namespace"] = own
    if type.kind == "fixed":
        made["size"] = type.size
    if type.kind == "enum":
        made["symbols"] = type.symbols
    if type.kind == "record":
        made["fields"] = [{"name": f.name, "type": spell(f.type, known, own, rng), **f.more} for f in type.fields]
    return made


def default(type, value):
    """A value as a schema spells it."""
    if type.kind in ("bytes", "fixed"):
        return value.decode("latin1")
    if type.kind == "union":
        return default(type.inner[value[0]], value[1])
    if type.kind == "array":
        return [default(type.inner[0], item) for item in value]
    if type.kind == "map":
        return {key: default(type.inner[0], item) for key, item in value.items()}
    if type.kind == "record":
        return {f.name: default(f.type, value[f.name]) for f in type.fields}
    return value


# ---- bytes


def long(value):
    rest, out = (value << 1) ^ (value >> 63), bytearray()
    rest &= 2**64 - 1
    while rest >= 0x80:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def encode(type, value, rng):
    """The bytes of a value; arrays and maps in any blocks, which say how many bytes they have or not."""
    kind = type.kind
    if kind == "null":
        return b""
    if kind == "boolean":
        return b"\x01" if value else b"\x00"
    if kind in ("int", "long"):
        return long(value)
    if kind in ("float", "double"):
        return struct.pack("<f" if kind == "float" else "<d", value)
    if kind in ("bytes", "string"):
        data = value if kind == "bytes" else value.encode()
        return long(len(data)) + data
    if kind == "fixed":
        return value
    if kind == "enum":
        return long(type.symbols.index(value))
    if kind == "union":
        return long(value[0]) + encode(type.inner[value[0]], value[1], rng)
    if kind == "record":
        return b"".join(encode(field.type, value[field.name], rng) for field in type.fields)
    items = [encode(type.inner[0], item, rng) for item in (value if kind == "array" else value.values())]
    if kind == "map":
        items = [long(len(key.encode())) + key.encode() + item for key, item in zip(value, items, strict=True)]
    out = b""
    while items:
        count = len(items) if rng.random() < 0.6 else rng.randint(1, len(items))
        block, items = b"".join(items[:count]), items[count:]
        out += long(count) + block if rng.random() < 0.6 else long(-count) + long(len(block)) + block
    return out + b"\x00"


def container(schema, type, values, rng):
    """A file without compression, in blocks of any sizes, none among them."""
    header = {"avro.schema": json.dumps(schema, ensure_ascii=rng.random() < 0.5), "avro.codec": "null"}
    if rng.random() < 0.3:
        del header["avro.codec"]
    marker, most = rng.randbytes(16), rng.choice([1, 3, 20, 1000])
    pairs = Type("map", [Type("string")])
    data, at = b"Obj\x01" + encode(pairs, header, rng) + marker, 0
    while at < len(values) or rng.random() < 0.1:
        count = min(len(values) - at, rng.randint(0, most))
        block = b"".join(encode(type, value, rng) for value in values[at : at + count])
        data, at = data + long(count) + long(len(block)) + block + marker, at + count
    return data


# ---- what others take and give


def tagged(type, value):
    """For fastavro, which wants to be told the branch by its name."""
    if type.kind == "union":
        branch = type.inner[value[0]]
        inner = tagged(branch, value[1])
        return inner if branch.kind == "null" else (branch.name or branch.kind, inner)
    if type.kind == "array":
        return [tagged(type.inner[0], item) for item in value]
    if type.kind == "map":
        return {key: tagged(type.inner[0], item) for key, item in value.items()}
    if type.kind == "record":
        return {field.name: tagged(field.type, value[field.name]) for field in type.fields}
    return value


def shown(type, value, pairs=True):
    """As lists and dicts have it: branches gone, maps as pairs if wanted, NaN equal to itself, no zero but with its sign."""
    if type.kind == "union":
        return shown(type.inner[value[0]], value[1], pairs)
    if type.kind == "array":
        return [shown(type.inner[0], item, pairs) for item in value]
    if type.kind == "map":
        items = [(key, shown(type.inner[0], item, pairs)) for key, item in value.items()]
        return items if pairs else dict(items)
    if type.kind == "record":
        return {field.name: shown(field.type, value[field.name], pairs) for field in type.fields}
    return value
