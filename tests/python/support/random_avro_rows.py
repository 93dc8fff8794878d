"""Random rows of Python values for random schemas of Avro, and what fastavro makes of them."""

import datetime
import decimal
import io
import math
import random
import sys
import uuid

import fastavro
from random_avro import Field, Maker, spell

import forthwith

ZONES = [datetime.UTC, datetime.timezone(datetime.timedelta(hours=5, minutes=30))]
SIMPLE = ("null", "boolean", "int", "long", "float", "double", "string", "enum")


def full_name(type):
    """What a hint calls a branch."""
    return type.name or type.kind


class Rows:
    """Rows of one schema: as they are given, and the same with a hint at each branch, for fastavro."""

    def __init__(self, rng, maker):
        self.rng, self.maker = rng, maker

    def row(self, type):
        return self.value(type, 0)

    def value(self, type, depth):
        rng, kind = self.rng, type.kind
        if type.meaning and (both := self.meant(type)) is not None:
            return both
        if kind == "union":
            at = rng.randrange(len(type.inner))
            branch = type.inner[at]
            given, hinted = self.value(branch, depth + 1)
            hint = (full_name(branch), hinted)
            # Without some of its fields, a record may be a map or another record.
            is_part = branch.kind == "record" and len(given) < len(branch.fields)
            # A number of nanoseconds is one of any other unit as well.
            is_bare = branch.meaning is not None and branch.meaning[0].endswith("nanos")
            if isinstance(given, tuple) or is_part or is_bare or rng.random() < 0.1:
                given = (full_name(branch), given)
            return given, hint
        if kind == "record":
            return self.record(type, depth)
        if kind in ("array", "map"):
            items = [self.value(type.inner[0], depth + 1) for _ in range(rng.choice([0, 0, 1, 2, 3]))]
            if kind == "map":
                keys = [f"k{n}" for n in range(len(items))]
                return dict(zip(keys, (a for a, _ in items), strict=True)), dict(
                    zip(keys, (b for _, b in items), strict=True)
                )
            return [a for a, _ in items], [b for _, b in items]
        value = self.maker.value(type, depth)
        if kind == "bytes" and rng.random() < 0.2:
            return bytearray(value), value
        return value, value

    def record(self, type, depth):
        given, hinted = {}, {}
        for field in type.fields:
            if (
                "default" in field.more
                and field.type.kind in SIMPLE
                and not field.type.meaning
                and self.rng.random() < 0.5
            ):
                hinted[field.name] = field.more["default"]
                continue
            given[field.name], hinted[field.name] = self.value(field.type, depth + 1)
        if self.rng.random() < 0.1 and len(given) == len(type.fields):
            keys = list(given)
            self.rng.shuffle(keys)
            given = {key: given[key] for key in keys}
        return given, hinted

    def meant(self, type):
        rng = self.rng
        meaning, *digits = type.meaning
        if meaning == "decimal":
            precision, scale = digits
            limit = 10**precision - 1
            number = rng.choice([0, 1, -1, limit, -limit, rng.randint(-limit, limit)])
            sign, figures, _ = decimal.Decimal(number).as_tuple()
            value = decimal.Decimal((sign, figures, -scale))
            return value, value
        if meaning == "date":
            value = datetime.date.fromordinal(rng.randint(1, datetime.date.max.toordinal()))
            return value, value
        if meaning in ("time-millis", "time-micros"):
            step = 1000 if meaning == "time-millis" else 1
            micros = rng.randrange(86_400_000_000) // step * step
            value = (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros)).time()
            return value, value
        if meaning == "uuid" and type.kind == "string":
            value = uuid.UUID(int=rng.getrandbits(128))
            return value, value
        if meaning.startswith(("timestamp", "local")) and not meaning.endswith("nanos"):
            zone = rng.choice([*ZONES, None]) if meaning.startswith("local") else rng.choice(ZONES)
            day = datetime.datetime(rng.randint(2, 9998), 1, 1, tzinfo=zone)
            value = day + datetime.timedelta(microseconds=rng.randrange(300 * 86_400_000_000))
            return value, value
        return None


def plain(value):
    """Values that can be compared: NaN is NaN."""
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def case(seed):
    """A schema, rows as they are given, and rows with hints."""
    rng = random.Random(seed)
    maker = Maker(rng, depth=3)
    record = maker.record(2, least=1)
    record.fields = [Field({"é": "e"}.get(field.name, field.name), field.type, field.more) for field in record.fields]
    rows = Rows(rng, maker)
    pairs = [rows.row(record) for _ in range(rng.choice([1, 2, 5, 9]))]
    return spell(record), [given for given, _ in pairs], [hinted for _, hinted in pairs]


def check(seed):
    """Compares what is read of a file of ours with what is read of one of fastavro's.

    None if they agree; if fastavro refuses what it was given, why.
    """
    schema, given, hinted = case(seed)
    theirs, ours = io.BytesIO(), io.BytesIO()
    try:
        fastavro.writer(theirs, fastavro.parse_schema(schema), hinted)
        theirs.seek(0)
        want = list(fastavro.reader(theirs))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    forthwith.write_avro(ours, given, schema)
    ours.seek(0)
    found = list(fastavro.reader(ours))
    assert plain(found) == plain(want), (seed, schema, given)
    datums = forthwith.avro.encode(given, schema)
    assert len(datums) == len(given)
    assert forthwith.avro.encode(hinted, schema) == [datum_of(schema, row) for row in hinted], (seed, schema, hinted)
    return None


def datum_of(schema, row):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), row)
    return out.getvalue()


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    refused = [why for why in map(check, range(first, first + count)) if why]
    print(f"{count - len(refused)} compared; refused by fastavro: {len(refused)}", *sorted(set(refused))[:20], sep="\n")
