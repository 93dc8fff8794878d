"""Random Avro schemas and values: read, resolved, written and damaged, beside fastavro and the specification.

`random_avro.py` and `random_avro_readers.py` make them.
Other seeds: `FORTHWITH_AVRO_SEEDS=1000:2000 pytest tests/python/avro/test_avro_random.py`.
"""

import contextlib
import copy
import io
import itertools
import os
import random

import pytest
from random_avro import Field, Maker, container, shown, spell, tagged
from random_avro_readers import Evolver, Mismatch, fits, resolve, source

import forthwith
import forthwith.avro

pa = pytest.importorskip("pyarrow")
fastavro = pytest.importorskip("fastavro")

FIRST, LAST = (int(part) for part in os.environ.get("FORTHWITH_AVRO_SEEDS", "0:60").split(":"))
SEEDS = range(FIRST, LAST)
CODECS = ["null", "deflate", "snappy", "zstandard", "bzip2", "xz", "lz4"]


def made(seed, entries=(0, 1, 2, 7, 30)):
    rng = random.Random(seed)
    maker = Maker(rng, rng.randint(1, 4))
    top = maker.record(maker.depth, 1) if rng.random() < 0.85 else maker.type()
    return rng, maker, top, [maker.value(top) for _ in range(rng.choice(entries))]


def columns_of(top, values):
    """The expected columns: a record's fields, or the values."""
    if top.kind != "record":
        return {"value": [shown(top, value) for value in values]}
    return {field.name: [shown(field.type, value[field.name]) for value in values] for field in top.fields}


def same(found, want):
    """Equal, NaN to itself and zeros with their signs."""
    assert repr(found) == repr(want)


def parts(top, path=()):
    """The records' fields, through arrays and options, with their types."""
    while top.kind in ("array", "union"):
        inner = [branch for branch in top.inner if branch.kind != "null"]
        if len(inner) != 1:
            return
        top = inner[0]
    for field in top.fields:
        yield (*path, field.name)
        yield from parts(field.type, (*path, field.name))


def part(top, value, path):
    if not path:
        return shown(top, value)
    if top.kind == "array":
        return [part(top.inner[0], item, path) for item in value]
    if top.kind == "union":
        return None if value[1] is None else part(top.inner[value[0]], value[1], path)
    field = next(field for field in top.fields if field.name == path[0])
    return part(field.type, value[path[0]], path[1:])


def by_fastavro(rng, schema, top, values):
    file = io.BytesIO()
    entries = [tagged(top, value) for value in values]
    options = {"codec": rng.choice(CODECS[:3] + CODECS[4:]), "sync_interval": rng.choice([1, 100, 1000, 16000])}
    fastavro.writer(file, fastavro.parse_schema(copy.deepcopy(schema)), entries, **options)
    return file.getvalue()


@pytest.mark.parametrize("seed", SEEDS)
def test_reading(seed):
    rng, _, top, values = made(seed)
    schema = spell(top, rng=rng)
    data = container(schema, top, values, rng) if rng.random() < 0.5 else by_fastavro(rng, schema, top, values)
    want = columns_of(top, values)
    rows = [dict(zip(want, row, strict=True)) for row in zip(*want.values(), strict=True)] or [{} for _ in values]
    tree = forthwith.open(io.BytesIO(data))
    assert (tree.keys(), tree.num_entries) == (list(want), len(values))
    for threads in (1, 2):
        same(tree.arrays(threads=threads, logical=False).to_list(), rows)
    for name, column in want.items():
        same(tree[name].array(logical=False).to_list(), column)
    names = rng.sample(list(want), rng.randint(1, len(want))) if want else []
    start, stop = sorted(rng.randint(0, len(values)) for _ in range(2))
    if names:
        chosen = [{name: row[name] for name in names} for row in rows]
        same(tree.arrays(names, entry_start=start, entry_stop=stop, logical=False).to_list(), chosen[start:stop])
        steps = forthwith.open(io.BytesIO(data)).iterate(names, step_size=max(1, len(values) // 5), logical=False)
        same(list(itertools.chain.from_iterable(step.to_list() for step in steps)), chosen)
    if top.kind == "record":
        deep = [path for path in parts(top) if len(path) > 1]
        for path in rng.sample(deep, min(3, len(deep))):
            same(tree["/".join(path)].array(logical=False).to_list(), [part(top, value, path) for value in values])
    assert pa.table(tree).num_rows == len(values) or not want


@pytest.mark.parametrize("seed", SEEDS)
def test_with_a_readers_schema(seed):
    rng, maker, top, values = made(seed, (1, 2, 7, 30))
    reader = Evolver(maker).type(top, rng.random() < 0.9)
    wrote, wanted = spell(top, rng=rng), spell(reader, rng=rng)
    data = container(wrote, top, values, rng)
    if not fits(top, reader):
        with pytest.raises(forthwith.RequestError):
            forthwith.open(io.BytesIO(data), schema=wanted).arrays()
        return
    tree = forthwith.open(io.BytesIO(data), schema=wanted)
    both = top.kind == reader.kind == "record"
    fields = reader.fields if both else [Field("value", reader)]
    assert tree.keys() == [field.name for field in fields]
    for field in fields:
        own = source(top, field) if both else None
        try:
            if both:
                found = [resolve(own.type, field.type, v[own.name]) if own else field.default for v in values]
            else:
                found = [resolve(top, reader, value) for value in values]
            want = [shown(field.type, value) for value in found]
        except Mismatch:
            with pytest.raises(forthwith.DamagedFileError):
                tree[field.name].array()
            continue
        same(tree[field.name].array(logical=False).to_list(), want)


@pytest.fixture
def bare():
    """fastavro's values as they are in the file, whatever they mean."""
    readers = fastavro.read.LOGICAL_READERS
    kept = dict(readers)
    readers.clear()
    yield
    readers.update(kept)


def fast_read(data, codec):
    """The values by fastavro, or nothing if it lacks a package for the codec."""
    try:
        return list(fastavro.reader(io.BytesIO(data)))
    except ValueError:
        if codec == "null":
            raise
        return None


@pytest.mark.parametrize("seed", SEEDS)
def test_writing(seed, bare):
    rng, _, top, values = made(seed)
    schema = spell(top, rng=rng)
    tree = forthwith.open(io.BytesIO(container(schema, top, values, rng)))
    array = tree.arrays(logical=False) if top.kind == "record" else tree["value"].array(logical=False)
    if top.kind != "record" and array.fields:
        pytest.skip("values that are options of records are taken for records")
    want = [shown(top, value, pairs=False) for value in values]
    given = [(array, codec) for codec in CODECS]
    if top.kind == "record" and top.fields:
        given.append((pa.table(tree.select(unions="union")), "null"))
    for array, codec in given:
        file = io.BytesIO()
        forthwith.write_avro(file, array, schema, codec=codec, block_entries=rng.choice([None, 1, 3]))
        again = forthwith.open(io.BytesIO(file.getvalue()))
        if array is given[0][0]:
            same([again[name].array(logical=False).to_list() for name in again], list(columns_of(top, values).values()))
        found = fast_read(file.getvalue(), codec)
        if found is not None and array is given[0][0]:
            same(found, want)
        elif found is not None:
            same(minimal(found), minimal(want))
    datums = forthwith.avro.encode(given[0][0], schema)
    parsed = fastavro.parse_schema(copy.deepcopy(schema))
    same([fastavro.schemaless_reader(io.BytesIO(datum), parsed, None) for datum in datums], want)


def minimal(value):
    """Decimals that came by way of Arrow have other bytes for the same number: as few as it needs."""
    if isinstance(value, bytes):
        while len(value) > 1 and value[0] in (0, 255) and (value[0] > 127) == (value[1] > 127):
            value = value[1:]
        return value
    if isinstance(value, dict):
        return {key: minimal(item) for key, item in value.items()}
    return [minimal(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("seed", SEEDS)
def test_damage(seed):
    rng, _, top, values = made(seed, (2, 7))
    schema = spell(top, rng=rng)
    whole = container(schema, top, values, rng) if rng.random() < 0.4 else by_fastavro(rng, schema, top, values)
    for _ in range(6):
        data = bytearray(whole)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        for _ in range(rng.choice([1, 1, 3])):
            if data:
                data[rng.randrange(len(data))] = rng.choice([0, 1, 0x80, 0xFF, rng.randrange(256)])
        for options in ({}, {"skip_damaged": True}):
            # An error that says so, or values; nothing else.
            with contextlib.suppress(forthwith.ForthwithError):
                forthwith.open(io.BytesIO(data), **options).arrays()
