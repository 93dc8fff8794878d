"""Random Arrow arrays, slices of longer ones with nulls at every level, written to Parquet and read by pyarrow."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forthwith

PLAIN = [pa.int8(), pa.uint16(), pa.int64(), pa.float64(), pa.timestamp("us"), pa.date32()]
DICTIONARIES = [["a", "b", "a", ""], ["only"], ["a", None, "c"], [3, None, 5], [b"x", b"yz"]]


def nullable(rng, value):
    return None if rng.random() < 0.3 else value


def plain(rng, rows):
    values = [nullable(rng, rng.randrange(100)) for _ in range(rows)]
    return pa.array(values, rng.choice(PLAIN))


def texts(rng, rows):
    return pa.array([nullable(rng, rng.choice(["", "a", "äöü"])) for _ in range(rows)])


def dictionary(rng, rows):
    values = pa.array(rng.choice(DICTIONARIES))
    keys = [nullable(rng, rng.randrange(len(values))) for _ in range(rows)]
    return pa.DictionaryArray.from_arrays(pa.array(keys, rng.choice([pa.int8(), pa.uint32(), pa.int64()])), values)


def nested(rng, rows, depth):
    """An array of so many rows, with others within it."""
    kinds = ["plain", "texts", "dictionary"] + ["list", "fixed", "record"] * bool(depth)
    kind = rng.choice(kinds)
    missing = pa.array([rng.random() < 0.2 for _ in range(rows)])
    if kind == "list":
        ends = [0]
        for _ in range(rows):
            ends.append(ends[-1] + rng.randrange(3))
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), nested(rng, ends[-1], depth - 1), mask=missing)
    if kind == "fixed":
        return pa.FixedSizeListArray.from_arrays(nested(rng, 2 * rows, depth - 1), 2, mask=missing)
    if kind == "record":
        fields = [nested(rng, rows, depth - 1) for _ in range(rng.randrange(1, 3))]
        return pa.StructArray.from_arrays(fields, ["x", "y"][: len(fields)], mask=missing)
    return {"plain": plain, "texts": texts, "dictionary": dictionary}[kind](rng, rows)


@pytest.mark.parametrize("seed", range(4))
def test_slices_of_random_arrays_are_written_as_they_are(tmp_path, seed):
    rng = random.Random(seed)
    for _ in range(40):
        rows = rng.randrange(1, 60)
        start = rng.randrange(rows)
        array = nested(rng, rows, 2).slice(start, rng.randrange(rows - start + 1))
        forthwith.write_parquet(tmp_path / "x.parquet", pa.table({"x": array}))
        assert pq.read_table(tmp_path / "x.parquet")["x"].to_pylist() == array.to_pylist(), array.type
