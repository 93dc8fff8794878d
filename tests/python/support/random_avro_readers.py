"""Readers' schemas for random Avro schemas, and what they make of values, by the specification."""

import struct

from random_avro import Field, In, Maker, Type, default


class Mismatch(Exception):
    """A value that a reader's schema has no place for."""


class Evolver:
    """Readers' schemas for a writer's."""

    def __init__(self, maker):
        self.rng, self.done = maker.rng, {}
        self.other = Maker(maker.rng, 2)
        self.other.spaces, self.other.count = maker.spaces, maker.count + 1000

    def type(self, type, bare=False):
        """A type that values of another can be read as, or most of them."""
        if id(type) in self.done:
            return self.done[id(type)]
        rng, kind = self.rng, type.kind
        if not bare and kind != "union" and rng.random() < 0.06:
            others = [Type("null"), *([self.other.type(0, [])] if rng.random() < 0.5 else [])]
            return self.union([*others, self.type(type, True)])
        if kind == "union":
            if not bare and rng.random() < 0.08:
                return self.type(rng.choice(type.inner), True)
            keep = [branch for branch in type.inner if rng.random() < 0.95]
            extra = [self.other.type(1, [])] if rng.random() < 0.1 else []
            return self.union([*(self.type(branch, True) for branch in keep), *extra])
        if kind in ("array", "map"):
            return Type(kind, [self.type(type.inner[0])])
        if not type.name:
            wider = {"int": ["long", "float", "double"], "long": ["float", "double"], "float": ["double"]}
            wider |= {"string": ["bytes"], "bytes": ["string"]}
            if kind in wider and rng.random() < 0.15:
                return Type(rng.choice(wider[kind]))
            return Type(kind, more=type.more if rng.random() < 0.9 else {})
        made = Type(kind, name=type.name, size=type.size, more={k: v for k, v in type.more.items() if k != "aliases"})
        if rng.random() < 0.1:
            made.name = self.other.fresh()
            made.more["aliases"] = ["Never", type.name]
        self.done[id(type)] = made
        if kind == "enum":
            made.symbols = [symbol for symbol in type.symbols if rng.random() < 0.95] + ["more", "most"]
            rng.shuffle(made.symbols)
            if rng.random() < 0.6:
                made.more["default"] = rng.choice(made.symbols)
        for field in type.fields:
            if rng.random() < 0.85:
                new = Field(field.name, self.type(field.type))
                if rng.random() < 0.1:
                    new.name, new.more["aliases"] = f"new_{field.name}", ["never", field.name]
                made.fields.append(new)
        for at in range(rng.choice([0, 0, 0, 1, 2]) if kind == "record" else 0):
            extra = self.other.type(2)
            value = self.other.plain(extra)
            made.fields.append(Field(f"extra{at}", extra, {"default": default(extra, value)}, value))
        rng.shuffle(made.fields)
        return made

    def union(self, branches):
        kept = []
        for branch in branches:
            others = all(branch is not b and (branch.kind != b.kind or (branch.name and b.name)) for b in kept)
            if others and branch.kind != "union":
                kept.append(branch)
        self.rng.shuffle(kept)
        return Type("union", kept or [Type("null")])


def fits(writer, reader):
    """Whether values of one type can be read as another, as far as the types tell."""
    w, r = writer.kind, reader.kind
    if w == "union":
        return r == "union" or any(fits(branch, reader) for branch in writer.inner)
    if r == "union":
        return any(fits(writer, branch) for branch in reader.inner)
    if writer.meaning and reader.meaning and writer.meaning != reader.meaning:
        return False
    if w in ("array", "map"):
        return w == r and fits(writer.inner[0], reader.inner[0])
    if writer.name:
        old = [alias.rsplit(".", 1)[-1] for alias in reader.more.get("aliases", [])]
        if w != r or writer.size != reader.size or writer.short not in [reader.short, *old]:
            return False
        pairs = [(source(writer, field), field) for field in reader.fields]
        return all(fits(a.type, b.type) if a else "default" in b.more for a, b in pairs)
    widths = ["int", "long", "float", "double"]
    return w == r or {w, r} == {"bytes", "string"} or (w in widths and r in widths[widths.index(w) :])


def source(writer, field):
    """The field of the writer's record that one of the reader's is made of."""
    written = {field.name: field for field in writer.fields}
    return next((written[name] for name in [field.name, *field.more.get("aliases", [])] if name in written), None)


def branch(writer, reader):
    """The number of the branch that values become: of the same type if there is one, else the first that fits."""
    alike = [b.name == writer.name if b.name and writer.name else b.kind == writer.kind for b in reader.inner]
    order = sorted(range(len(alike)), key=lambda at: not alike[at])
    return next((at for at in order if fits(writer, reader.inner[at])), None)


def resolve(writer, reader, value):
    """A value as a reader's schema has it."""
    if writer.kind == "union":
        return resolve(writer.inner[value[0]], reader, value[1])
    if reader.kind == "union":
        at = branch(writer, reader)
        if at is None:
            raise Mismatch(writer.kind)
        return In((at, resolve(writer, reader.inner[at], value)))
    if not fits(writer, reader):
        raise Mismatch(writer.kind)
    kind = reader.kind
    if kind == "array":
        return [resolve(writer.inner[0], reader.inner[0], item) for item in value]
    if kind == "map":
        return {key: resolve(writer.inner[0], reader.inner[0], item) for key, item in value.items()}
    if kind == "record":
        pairs = [(source(writer, field), field) for field in reader.fields]
        return {b.name: resolve(a.type, b.type, value[a.name]) if a else b.default for a, b in pairs}
    if kind == "enum" and value not in reader.symbols:
        value = reader.more.get("default")
        if value is None:
            raise Mismatch(kind)
    if kind in ("float", "double") and isinstance(value, int):
        return single(value) if kind == "float" else float(value)
    if kind == "bytes" and isinstance(value, str):
        return value.encode()
    if kind == "string" and isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise Mismatch(kind) from None
    return value


def single(number):
    """The nearest single-precision number to a whole one, rounded once."""
    low = struct.unpack("<f", struct.pack("<f", float(number)))[0]
    bits = struct.unpack("<i", struct.pack("<f", low))[0]
    near = [struct.unpack("<f", struct.pack("<i", b))[0] for b in (bits - 1, bits, bits + 1)] if number else [0.0]
    return min(near, key=lambda x: (abs(int(x) - number), struct.unpack("<i", struct.pack("<f", x))[0] & 1))
