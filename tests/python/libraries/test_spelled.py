"""Decimals and times as text and in NumPy, of any width and beyond what a calendar has: random values of a seed."""

import datetime
import decimal
import io
import json
import math
import random
import subprocess
import sys

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import forthwith

MARK = b"sixteen letters."
EXACT = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def cat(path, form):
    run = subprocess.run(
        [sys.executable, "-m", "forthwith", "cat", str(path), "--format", form], capture_output=True, check=True
    )
    return run.stdout.decode()


def spelled(path):
    """The first column, by JSON Lines; CSV must say the same."""
    rows = [json.loads(line) for line in cat(path, "jsonl").splitlines()]
    values = [next(iter(row.values())) for row in rows]
    assert cat(path, "csv").splitlines()[1:] == [
        "" if value is None else f'"{value}"' if "," in value else value for value in values
    ]
    return values


def width(rng):
    return rng.choice([0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 500, 2000])


def number(rng, size):
    """Bytes of a number in two's complement: anything, or near the ends of a narrower one."""
    whole = rng.choice([0, 1, -1, 10**18, -(10**18), 2**63, -(2**63), 2**127, -(2**127) - 1, 5 * 10**76])
    if size and rng.random() < 0.5:
        whole = rng.getrandbits(8 * size - 1) - rng.choice([0, 2 ** (8 * size - 1)])
    needed = whole.bit_length() // 8 + 1
    return whole.to_bytes(max(size, needed), "big", signed=True) if size >= needed else bytes(size)


def schema_of(rng, index, size):
    """A decimal, often one that readers are to take for bytes: without digits, or with more behind the point."""
    precision = rng.choice([0, 1, 5, 18, 19, 38, 39, 76, 77, 400, 100_000])
    scale = rng.choice([None, -1, 0, 1, precision, precision + 1, precision // 2])
    kind = rng.choice(["bytes", "fixed"])
    meant = {"type": kind, "logicalType": "decimal", "precision": precision}
    if scale is not None:
        meant["scale"] = scale
    if kind == "fixed":
        meant |= {"name": f"F{index}", "size": size}
    holds = math.floor((8 * size - 1) * math.log10(2)) if kind == "fixed" else precision
    sound = 0 < precision <= holds and 0 <= (scale or 0) <= precision
    return meant, (scale or 0) if sound else None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_decimals_of_avro_are_exact_whatever_their_width_and_scale(tmp_path, seed):
    rng = random.Random(seed)
    for index in range(12):
        size = width(rng)
        meant, scale = schema_of(rng, index, size)
        fixed = meant["type"] == "fixed"
        stored = [number(rng, size if fixed else width(rng)) for _ in range(8)]
        # Written as plain bytes, so that any may stand there; the schema of the file says what they mean.
        plain = {key: value for key, value in meant.items() if key in ("type", "name", "size")}
        rows, path = [{"x": value} for value in stored], tmp_path / f"{index}.avro"
        sink = io.BytesIO()
        record = {"type": "record", "name": "R", "fields": [{"name": "x", "type": plain}]}
        fastavro.writer(sink, record, rows, sync_marker=MARK)
        header = json.dumps(record | {"fields": [{"name": "x", "type": meant}]}).encode()
        path.write_bytes(with_schema(sink.getvalue(), header))
        if scale is None:
            texts = [json.loads(line)["x"] for line in cat(path, "jsonl").splitlines()]
            assert texts == [value.decode("latin-1") for value in stored], meant
            continue
        texts = spelled(path)
        wanted = [decimal.Decimal(int.from_bytes(v, "big", signed=True)).scaleb(-scale, EXACT) for v in stored]
        assert [decimal.Decimal(text) for text in texts] == wanted, meant
        assert [decimal.Decimal(text).as_tuple() for text in texts] == [value.as_tuple() for value in wanted], meant
        found = forthwith.open(path)["x"].array(library="np").tolist()
        assert [value.as_tuple() for value in found] == [value.as_tuple() for value in wanted], meant


def with_schema(file, schema):
    """The same file with another schema in its header."""

    def varint(value):
        value, out = value << 1, b""
        while value > 127:
            out, value = out + bytes([value & 127 | 128]), value >> 7
        return out + bytes([value])

    blocks = file.index(MARK) + 16
    header = b"Obj\x01" + varint(1) + varint(11) + b"avro.schema" + varint(len(schema)) + schema + varint(0)
    return header + MARK + file[blocks:]


def test_wide_decimals_of_parquet_too(tmp_path):
    rng = random.Random(76)
    values = [decimal.Decimal(rng.randrange(-(10**76), 10**76)).scaleb(-30, EXACT) for _ in range(50)]
    path = tmp_path / "wide.parquet"
    pa.parquet.write_table(pa.table({"x": pa.array(values, pa.decimal256(76, 30))}), path)
    assert [decimal.Decimal(text).as_tuple() for text in spelled(path)] == [value.as_tuple() for value in values]
    assert forthwith.open(path)["x"].array(library="np").tolist() == values


def test_decimals_that_nothing_bounds_are_an_error_that_names_the_entry(tmp_path):
    path = tmp_path / "long.avro"
    record = {"type": "record", "name": "R", "fields": [{"name": "x", "type": {"type": "bytes"}}]}
    sink = io.BytesIO()
    fastavro.writer(sink, record, [{"x": b"\1"}, {"x": b"\1" * 70_000}], sync_marker=MARK)
    record["fields"][0]["type"] |= {"logicalType": "decimal", "precision": 10**6, "scale": 2}
    path.write_bytes(with_schema(sink.getvalue(), json.dumps(record).encode()))
    run = subprocess.run(
        [sys.executable, "-m", "forthwith", "cat", str(path)], capture_output=True, check=False, text=True
    )
    assert run.returncode == 1
    assert "70000 bytes" in run.stderr
    assert "entry 1" in run.stderr


@pytest.mark.parametrize("listed", [False, True])
def test_decimals_that_a_library_has_no_room_for_are_an_error_with_file_column_and_entry(tmp_path, listed):
    """Avro bounds no decimal in bytes; NumPy's objects have room for any."""
    wide = (10**40).to_bytes(17, "big")
    kind = {"type": "array", "items": "bytes"} if listed else "bytes"
    record = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "x", "type": kind}]}
    values = [b"\1", b"\2", wide, b"\3"]
    sink, path = io.BytesIO(), tmp_path / "room.avro"
    rows = [{"a": 1, "x": [b"\1", value] if listed else value} for value in values]
    fastavro.writer(sink, record, rows, sync_marker=MARK)
    meant = {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 1}
    record["fields"][1]["type"] = {"type": "array", "items": meant} if listed else meant
    path.write_bytes(with_schema(sink.getvalue(), json.dumps(record).encode()))
    table = forthwith.open(path)
    exact = table["x"].array(library="np").tolist()
    assert (exact[2][1] if listed else exact[2]) == decimal.Decimal(10**40).scaleb(-1, EXACT)
    reads = {
        "column": table["x"].array,
        "columns": lambda: table.arrays(["a", "x"], entry_start=1),
        "steps": lambda: list(table.iterate(["x"], step_size=1)),
        "arrow": lambda: table["x"].array(library="arrow"),
        "stream": lambda: pa.table(table.select(["a", "x"])),
        "writer": lambda: forthwith.write_parquet(tmp_path / "x.parquet", table),
    }
    for name, read in reads.items():
        with pytest.raises((forthwith.ForthwithError, pa.ArrowException)) as caught:
            read()
        text = str(caught.value)
        assert "the decimal 1000000000000000000000000000000000000000.0 has more digits than decimal[5, 1]" in text, name
        assert "entry 2" in text, name
        assert "room.avro:R/x" in text, name


def ends(bits):
    return [-(2 ** (bits - 1)), -(2 ** (bits - 1)) + 1, -1, 0, 1, 2 ** (bits - 1) - 1]


UNITS = {"ms": 1000, "us": 10**6, "ns": 10**9}


@pytest.mark.parametrize("unit", UNITS)
def test_times_are_spelled_as_python_does_and_have_a_sign_and_more_hours_beyond_a_day(tmp_path, unit):
    rng, bits, second = random.Random(unit), 32 if unit == "ms" else 64, UNITS[unit]
    day = 86_400 * second
    values = [rng.randrange(day) for _ in range(200)] + [0, day - 1, day, -day] + ends(bits)
    values += [rng.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1)) for _ in range(100)]
    type = pa.time32(unit) if unit == "ms" else pa.time64(unit)
    path = tmp_path / "times.parquet"
    pa.parquet.write_table(pa.table({"x": pa.array(values, pa.int32() if bits == 32 else pa.int64()).view(type)}), path)
    for value, text in zip(values, spelled(path), strict=True):
        size, sign = abs(value), "-" if value < 0 else ""
        seconds, rest = divmod(size, second)
        digits = len(str(second)) - 1
        assert text == f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:0{digits}}"
        if 0 <= value < day and unit != "ns":
            clock = datetime.datetime.min + datetime.timedelta(microseconds=value * 10**6 // second)
            assert datetime.time.fromisoformat(text) == clock.time()


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", UNITS)
def test_timestamps_are_spelled_as_numpy_does(tmp_path, unit, zone):
    rng = random.Random(unit)
    values = [rng.randrange(-(2**63) + 1, 2**63) >> rng.randrange(40) for _ in range(300)] + ends(64)[1:]
    path = tmp_path / "stamps.parquet"
    pa.parquet.write_table(pa.table({"x": pa.array(values, pa.timestamp(unit, zone))}), path)
    compare(spelled(path), values, unit, "Z" if zone else "")


def test_dates_are_spelled_as_numpy_does(tmp_path):
    rng = random.Random(1)
    values = [rng.randrange(-(2**31), 2**31) >> rng.randrange(24) for _ in range(300)] + ends(32)
    path = tmp_path / "dates.parquet"
    pa.parquet.write_table(pa.table({"x": pa.array(values, pa.date32())}), path)
    compare(spelled(path), values, "D", "")


STEPS = {"D": datetime.timedelta(days=1), "ms": datetime.timedelta(milliseconds=1), "us": datetime.timedelta.resolution}


def compare(texts, values, unit, zone):
    for value, with_zone in zip(values, texts, strict=True):
        assert with_zone.endswith(zone)
        text = with_zone.removesuffix(zone)
        assert np.datetime64(text, unit) == np.datetime64(value, unit), value
        year = text.removeprefix("-").partition("-")[0]
        assert len(year) >= 4, "four digits of the year, as ISO 8601 has it"
        if len(year) == 4 and year > "0000" and not text.startswith("-") and unit in STEPS:
            since = datetime.datetime.fromisoformat(text) - datetime.datetime(1970, 1, 1)
            assert since // STEPS[unit] == value


def test_spans_and_halves(tmp_path):
    rng = random.Random(2)
    spans = [rng.randrange(-(2**63), 2**63) >> rng.randrange(60) for _ in range(100)] + ends(64)
    path = tmp_path / "spans.parquet"
    pa.parquet.write_table(pa.table({"x": pa.array(spans, pa.duration("us"))}), path)
    for value, text in zip(spans, spelled(path), strict=True):
        number, _, unit = text.partition(" ")
        assert (decimal.Decimal(number), unit) == (decimal.Decimal(value).scaleb(-6, EXACT), "s")
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    path = tmp_path / "halves.parquet"
    pa.parquet.write_table(pa.table({"x": pa.array(halves)}), path)
    found = [json.loads(line)["x"] for line in cat(path, "jsonl").splitlines()]
    assert np.array(found, np.float16).tobytes() == halves.tobytes()
    head = subprocess.run(
        [sys.executable, "-m", "forthwith", "head", str(path)], capture_output=True, check=True, text=True
    )
    assert "5.9604645e-8" in head.stdout  # the preview has numbers, too, and not their bits
