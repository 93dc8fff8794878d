"""Writes the Avro files of tests/data/avro and what is in them, by fastavro.

    python avro.py FOLDER [--check]

``<file>.values.json`` holds all values as fastavro reads them, logical types not applied: records as objects, maps as lists of
pairs, bytes as ``{"$": hex}``, numbers that JSON has no word for as ``{"$f": text}``. With ``--check`` nothing is written; values are
compared with those that are there. What fastavro cannot write (lists in several blocks, with and without their length in bytes) is
spelled out by hand here, and read back by fastavro all the same.
"""

import argparse
import decimal
import io
import json
import math
import pathlib
import random
import uuid

import fastavro
import fastavro._read_py
import fastavro.read

MARKER = bytes(range(16))


def physical(data):
    """Values without their logical meaning; fastavro's Python reader can be told so."""
    reader = fastavro._read_py
    kept = dict(reader.LOGICAL_READERS)
    reader.LOGICAL_READERS.clear()
    try:
        source = reader.reader(io.BytesIO(data))
        return source.writer_schema, list(source)
    finally:
        reader.LOGICAL_READERS.update(kept)


class Plain:
    """Values as JSON, by their schema."""

    def __init__(self, schema):
        self.named = {}
        self.schema = schema
        self.learn(schema)

    def learn(self, schema):
        """Notes all named types; here no two of different namespaces share a name."""
        if isinstance(schema, list):
            for branch in schema:
                self.learn(branch)
        elif isinstance(schema, dict):
            if "name" in schema:
                space = schema.get("namespace")
                self.named[schema["name"]] = self.named[schema["name"].rpartition(".")[2]] = schema
                if space:
                    self.named[f"{space}.{schema['name']}"] = schema
            for part in [schema["type"], schema.get("items"), schema.get("values")]:
                self.learn(part)
            for field in schema.get("fields", []):
                self.learn(field["type"])

    def known(self, schema):
        return self.named.get(schema) or self.named.get(schema.rpartition(".")[2]) or schema

    def __call__(self, value, schema=None):
        schema = self.schema if schema is None else schema
        if isinstance(schema, str):
            schema = self.known(schema)
        if isinstance(schema, list):
            return self(value, self.branch(value, schema))
        kind = schema["type"] if isinstance(schema, dict) else schema
        if isinstance(kind, (dict, list)) or kind in self.named:
            return self(value, kind)
        match kind:
            case "record" | "error":
                return {f["name"]: self(value[f["name"]], f["type"]) for f in schema["fields"]}
            case "array":
                return [self(item, schema["items"]) for item in value]
            case "map":
                return [[key, self(item, schema["values"])] for key, item in value.items()]
            case "bytes" | "fixed":
                return {"$": value.hex()}
            case "float" | "double":
                return value if math.isfinite(value) else {"$f": str(value)}
        return value

    def branch(self, value, schemas):
        """Which type of a union a value has: where that matters here, types differ in what Python makes of them."""
        for schema in schemas:
            full = self.known(schema) if isinstance(schema, str) else schema
            kind = full["type"] if isinstance(full, dict) else full
            if kind in ("record", "error"):
                if isinstance(value, dict) and {f["name"] for f in full["fields"]} == set(value):
                    return full
            elif isinstance(value, KINDS[kind]) and (kind == "boolean") == isinstance(value, bool):
                return full
        raise ValueError(f"{value!r} is none of {schemas}")


KINDS = {
    "null": type(None),
    "boolean": bool,
    "int": int,
    "long": int,
    "float": float,
    "double": float,
    "bytes": bytes,
    "fixed": bytes,
    "string": str,
    "enum": str,
    "array": list,
    "map": dict,
}


def record(name, **fields):
    return {"type": "record", "name": name, "fields": [{"name": n, "type": t} for n, t in fields.items()]}


def array(items):
    return {"type": "array", "items": items}


def mapping(values):
    return {"type": "map", "values": values}


def logical(base, name, **more):
    return {**(base if isinstance(base, dict) else {"type": base}), "logicalType": name, **more}


def fixed(name, size):
    return {"type": "fixed", "name": name, "size": size}


def enum(name, *symbols):
    return {"type": "enum", "name": name, "symbols": list(symbols)}


def written(schema, values, codec="null", **options):
    out = io.BytesIO()
    fastavro.writer(out, schema, values, codec=codec, sync_marker=MARKER, **options)
    return out.getvalue()


def long(value):
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def by_hand(schema, blocks, codec="null"):
    """A container of blocks, each a number of entries and their bytes."""
    meta = [(b"avro.codec", codec.encode()), (b"avro.schema", json.dumps(schema).encode())]
    # The metadata in two blocks, one with its length: a map like any other.
    pairs = [long(len(k)) + k + long(len(v)) + v for k, v in meta]
    head = b"Obj\x01" + long(1) + pairs[0] + long(-1) + long(len(pairs[1])) + pairs[1] + long(0) + MARKER
    return head + b"".join(long(n) + long(len(b)) + b + MARKER for n, b in blocks)


def types():
    schema = record(
        "all.Types",
        b="boolean",
        i="int",
        l="long",
        f="float",
        d="double",
        s="string",
        y="bytes",
        n="null",
        x=fixed("Five", 5),
        e=enum("Suit", "SPADES", "HEARTS", "DIAMONDS", "CLUBS"),
    )
    ints = [0, -1, 1, 2**31 - 1, -(2**31), 63, -64, 64, 8191, 8192]
    longs = [0, -1, 2**63 - 1, -(2**63), 2**31, 2**62, -(2**62), 2**35, 1, -2]
    floats = [0.0, -0.0, 1.5, math.inf, -math.inf, math.nan, 2.0**-149, 3.4028234663852886e38, -1.0, 0.25]
    doubles = [0.0, -0.0, 1e308, math.inf, -math.inf, math.nan, 5e-324, 0.1, -2.5, math.pi]
    texts = ["", "a", "ä€𝄞", "x" * 64, "y" * 200, "\0", "line\nline", " ", "ß", "end"]
    for i in range(10):
        yield {
            "b": i % 3 == 0,
            "i": ints[i],
            "l": longs[i],
            "f": floats[i],
            "d": doubles[i],
            "s": texts[i],
            "y": bytes(range(i * 25)),
            "n": None,
            "x": bytes([i] * 5),
            "e": ["SPADES", "HEARTS", "DIAMONDS", "CLUBS"][i % 4],
        }
    return schema


def collect(generator):
    """Values and the schema that a generator returns."""
    values = []
    while True:
        try:
            values.append(next(generator))
        except StopIteration as end:
            return end.value, values


def nested():
    rng = random.Random(1)
    inner = record("Hit", x="float", tags=array("string"), at=array(array("int")))
    schema = record(
        "Event",
        numbers=array("double"),
        longs=array("long"),
        flags=array("boolean"),
        deep=array(array(array("float"))),
        hits=array(inner),
        best="Hit",
        names=mapping("long"),
        lists=mapping(array("string")),
        hitmap=mapping("Hit"),
        blobs=array("bytes"),
        ids=array(fixed("Id", 3)),
        suits=array(enum("Color", "RED", "BLACK")),
        nothing=array("null"),
    )

    def items(make, most=4):
        return [make() for _ in range(rng.choice([0, 0, 1, rng.randrange(most)]))]

    def hit():
        return {
            "x": rng.randrange(1000) / 8,
            "tags": items(lambda: "t" * rng.randrange(5)),
            "at": items(lambda: items(lambda: rng.randrange(-100, 100))),
        }

    for _ in range(60):
        yield {
            "numbers": items(lambda: rng.random()),
            "longs": items(lambda: rng.randrange(-(2**40), 2**40)),
            "flags": items(lambda: rng.random() < 0.5),
            "deep": items(lambda: items(lambda: items(lambda: rng.randrange(64) / 4))),
            "hits": items(hit),
            "best": hit(),
            "names": {f"k{i}": rng.randrange(100) for i in range(rng.randrange(3))},
            "lists": {f"k{i}": items(lambda: "v" * rng.randrange(3)) for i in range(rng.randrange(3))},
            "hitmap": {f"k{i}": hit() for i in range(rng.randrange(3))},
            "blobs": items(lambda: bytes(rng.randrange(256) for _ in range(rng.randrange(4)))),
            "ids": items(lambda: bytes(rng.randrange(256) for _ in range(3))),
            "suits": items(lambda: rng.choice(["RED", "BLACK"])),
            "nothing": items(lambda: None),
        }
    return schema


def unions():
    rng = random.Random(2)
    left, right = record("Left", a="int"), record("Right", b="string", c="double")
    schema = record(
        "Unions",
        first=["null", "int"],
        last=["int", "null"],
        text=["null", "string"],
        blob=["null", "bytes"],
        mixed=["null", "int", "string"],
        middle=["int", "null", "string"],
        three=["long", "string", "double"],
        records=[left, right],
        maybe=["null", "Left", "Right"],
        one=["long"],
        lists=["null", array("int")],
        listed=array(["null", "double"]),
        either=[array("string"), mapping("int")],
        optional=["null", record("Inner", p=["null", "int"], q=["null", array(["null", "string"])])],
        suit=["null", enum("Suit", "A", "B")],
        only=["null"],
    )

    def left_value():
        return {"a": rng.randrange(9)}

    def right_value():
        return {"b": "r" * rng.randrange(4), "c": rng.randrange(9) / 2}

    for i in range(80):
        # Nulls at the borders of blocks, and blocks of nothing but nulls.
        null = i % 8 in (0, 7) or 24 <= i < 32 or rng.random() < 0.2
        pick = rng.randrange(3)
        yield {
            "first": None if null else i,
            "last": None if null else -i,
            "text": None if null else "t" * (i % 5),
            "blob": None if null else bytes([i]),
            "mixed": [None, i, f"m{i}"][0 if null else pick],
            "middle": [i, None, f"m{i}"][1 if null else pick],
            "three": [i, f"s{i}", i / 4][pick],
            "records": left_value() if pick == 0 else right_value(),
            "maybe": None if null else left_value() if pick else right_value(),
            "one": i,
            "lists": None if null else list(range(i % 4)),
            "listed": [None if rng.random() < 0.5 else j / 2 for j in range(i % 4)],
            "either": ["x"] * (i % 3) if pick else {"k": i},
            "optional": None if null else {"p": None if pick else i, "q": None if pick == 1 else [None, "q"][: i % 3]},
            "suit": None if null else "AB"[i % 2],
            "only": None,
        }
    return schema


def logicals():
    rng = random.Random(3)
    money = logical("bytes", "decimal", precision=20, scale=4)
    schema = record(
        "Logical",
        decimal_bytes=money,
        decimal_fixed=logical(fixed("Dec", 9), "decimal", precision=18, scale=2),
        decimal_whole=logical("bytes", "decimal", precision=5),
        decimal_wide=logical(fixed("Wide", 32), "decimal", precision=70, scale=30),
        decimal_maybe=["null", money],
        decimals=array(money),
        uuid_text=logical("string", "uuid"),
        day=logical("int", "date"),
        day_maybe=["null", logical("int", "date")],
        milli_of_day=logical("int", "time-millis"),
        micro_of_day=logical("long", "time-micros"),
        milli=logical("long", "timestamp-millis"),
        micro=logical("long", "timestamp-micros"),
        local_milli=logical("long", "local-timestamp-millis"),
        local_micro=logical("long", "local-timestamp-micros"),
        moments=array(logical("long", "timestamp-micros")),
        nano={"type": "long", "logicalType": "timestamp-nanos"},
        local_nano={"type": "long", "logicalType": "local-timestamp-nanos"},
        span=logical(fixed("Span", 12), "duration"),
        unknown=logical("long", "no-such-meaning", unit="furlong"),
        misplaced=logical("string", "date"),
        impossible=logical("bytes", "decimal", precision=2, scale=5),
        too_precise=logical(fixed("Small", 2), "decimal", precision=9),
    )

    def two(value, size=None):
        size = size or max(1, (value.bit_length() + 8) // 8)
        return value.to_bytes(size, "big", signed=True)

    for i in range(20):
        amount = [0, 1, -1, 10**19, -(10**19), 127, 128, -128, -129][i] if i < 9 else rng.randrange(-(10**12), 10**12)
        yield {
            "decimal_bytes": two(amount),
            "decimal_fixed": two(amount // 100, 9),
            "decimal_whole": two(amount % 99999),
            "decimal_wide": two(amount * 10**40 + i, 32),
            "decimal_maybe": None if i % 3 == 0 else two(i),
            "decimals": [two(j) for j in range(i % 3)],
            "uuid_text": str(uuid.UUID(int=rng.getrandbits(128))),
            "day": i * 1000 - 5000,
            "day_maybe": None if i % 2 else i,
            "milli_of_day": i * 4_000_000,
            "micro_of_day": i * 4_000_000_000,
            "milli": i * 10**10 - 10**11,
            "micro": i * 10**13 - 10**14,
            "local_milli": i * 10**10,
            "local_micro": i * 10**13,
            "moments": [j * 10**6 for j in range(i % 4)],
            "nano": i * 10**16,
            "local_nano": -i * 10**16,
            "span": bytes(range(i, i + 12)),
            "unknown": i,
            "misplaced": f"d{i}",
            "impossible": two(i),
            "too_precise": two(i, 2),
        }
    return schema


def named():
    point = {
        "type": "record",
        "name": "Point",
        "namespace": "geo.flat",
        "doc": "a place",
        "aliases": ["Place", "old.Spot"],
        "color": "blue",
        "fields": [
            {"name": "x", "type": "int", "doc": "to the right"},
            {"name": "y", "type": "int", "aliases": ["up"]},
        ],
    }
    schema = {
        "type": "record",
        "name": "top.Shape",
        "fields": [
            {"name": "from", "type": point, "order": "ignore"},
            {"name": "to", "type": "geo.flat.Point"},
            {"name": "via", "type": array("geo.flat.Point")},
            {"name": "kind", "type": enum("Kind", "LINE", "ARC")},
            {"name": "other", "type": ["null", "Kind"]},
            {"name": "same", "type": "top.Kind"},
            {"name": "id", "type": fixed("space.Id", 2)},
            {"name": "id2", "type": "space.Id"},
        ],
    }
    for i in range(12):
        here = {"x": i, "y": -i}
        yield {
            "from": here,
            "to": here,
            "via": [here] * (i % 3),
            "kind": ["LINE", "ARC"][i % 2],
            "other": None if i % 4 == 0 else "ARC",
            "same": "LINE",
            "id": bytes([i, i]),
            "id2": bytes([0, i]),
        }
    return schema


def recursive():
    schema = {
        "type": "record",
        "name": "Node",
        "fields": [
            {"name": "before", "type": "string"},
            {"name": "next", "type": ["null", "Node"]},
            {"name": "tree", "type": record("Tree", leaf="long", below=array("Tree"))},
            {"name": "after", "type": "int"},
        ],
    }

    def tree(depth):
        return {"leaf": depth, "below": [tree(depth - 1) for _ in range(depth)]}

    def node(i):
        return {"before": f"b{i}", "next": node(i - 1) if i > 0 else None, "tree": tree(i % 3), "after": i}

    for i in range(10):
        yield node(i)
    return schema


def wide():
    kinds = ["int", "string", ["null", "double"], array("int"), "boolean", mapping("string"), fixed("F", 4), "long"]
    fields = {f"f{i:02}": "F" if i % 8 == 6 and i > 8 else kinds[i % 8] for i in range(40)}
    for i in range(50):
        values = [i, "s" * (i % 4), None if i % 3 else i / 2, [i] * (i % 3), i % 2 == 0, {"k": "v"}, bytes([i] * 4), -i]
        yield {name: values[int(name[1:]) % 8] for name in fields}
    return record("Wide", **fields)


def tops():
    """Values that are no records."""
    yield "top-int", "int", [1, -2, 3]
    yield "top-string", "string", ["a", "", "bc"]
    yield "top-array", array(array("int")), [[[1, 2], []], [], [[3]]]
    yield "top-map", mapping("double"), [{"a": 1.0}, {}, {"b": 2.0, "c": 3.0}]
    yield "top-option", ["null", "long"], [None, 5, None]
    yield "top-union", ["null", "long", record("R", a="int"), "string"], [None, 5, {"a": 1}, "x", None]
    yield "top-enum", enum("E", "X", "Y"), ["X", "Y", "Y"]
    yield "top-fixed", fixed("F", 2), [b"ab", b"cd"]
    yield "top-null", "null", [None] * 5
    yield "empty-record", record("Empty"), [{}] * 4
    yield "no-blocks", record("Nothing", a="int", b=array("string")), []


def split_lists():
    """Lists and maps in several blocks, with and without the number of their bytes."""
    schema = record("Split", a=array("int"), m=mapping("string"), d=array(array("double")), e=array("null"))

    def two(count, body):
        return long(-count) + long(len(body)) + body

    def text(word):
        return long(len(word)) + word.encode()

    double = bytes.fromhex("000000000000f03f")
    entries = [
        long(2)
        + long(1)
        + long(2)
        + two(1, long(3))
        + long(0)
        + two(1, text("k") + text("v"))
        + long(1)
        + text("l")
        + text("w")
        + long(0)
        + long(1)
        + two(1, double)
        + long(2)
        + double * 2
        + long(0)
        + two(1, long(0))
        + long(0)
        + two(3, b"")
        + long(2)
        + long(0),
        long(0) + long(0) + long(0) + long(0),
        two(2, long(-1) + long(300))
        + two(1, long(7))
        + long(0)
        + long(0)
        + two(2, long(0) * 2)
        + long(0)
        + long(1)
        + long(0),
    ]
    return by_hand(schema, [(2, entries[0] + entries[1]), (0, b""), (1, entries[2])])


def files():
    """Name and bytes of every file, and the bytes of one that fastavro reads where it refuses that."""
    for make in (types, nested, unions, logicals, named, recursive, wide):
        schema, values = collect(make())
        small = 400 if make is unions else 16000
        if make is logicals:
            # fastavro would want decimals and dates; the bytes are the same without their meaning.
            entries = io.BytesIO()
            for value in values:
                fastavro.schemaless_writer(entries, unmeant(schema), value)
            blocks = [(len(values), entries.getvalue())]
            yield make.__name__, by_hand(schema, blocks), by_hand(unmeant(schema), blocks)
        else:
            yield make.__name__, written(schema, values, sync_interval=small)
    schema, values = collect(nested())
    for codec in ("deflate", "snappy", "zstandard", "bzip2", "xz"):
        yield f"codec-{codec}", written(schema, values, codec, sync_interval=2000)
    for name, schema, values in tops():
        yield name, written(schema, values)
    yield "split-lists", split_lists()


def unmeant(schema):
    """The schema without logical types, so that fastavro writes what it is given."""
    if isinstance(schema, dict):
        return {k: unmeant(v) for k, v in schema.items() if k != "logicalType"}
    if isinstance(schema, list):
        return [unmeant(s) for s in schema]
    return schema


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    decimal.getcontext().prec = 100
    for name, data, *readable in files():
        schema, values = physical(*readable or [data])
        plain = Plain(schema)
        text = json.dumps([plain(value) for value in values], ensure_ascii=False, separators=(",", ":")) + "\n"
        path = options.folder / f"{name}.values.json"
        if name.startswith("codec-"):
            path = options.folder / "nested.values.json"  # the same values
        if options.check:
            assert path.read_text() == text, f"{name}: other values"
            assert (options.folder / f"{name}.avro").read_bytes() == data, f"{name}: other bytes"
        else:
            path.write_text(text)
            (options.folder / f"{name}.avro").write_bytes(data)


if __name__ == "__main__":
    main()
