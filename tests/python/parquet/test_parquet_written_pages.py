"""Parquet files that are written page by page: what pyarrow, polars and DuckDB read of them."""

from __future__ import annotations

import os

import numpy as np
import pytest

import forthwith as fw

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

CASES = int(os.environ.get("FORTHWITH_CASES", "12"))
TYPES = (
    pa.bool_(),
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float32(), pa.float64(), pa.date32(), pa.timestamp("us"), pa.timestamp("ns", "UTC")),
    *(
        pa.string(),
        pa.large_string(),
        pa.binary(),
        pa.list_(pa.int32()),
        pa.struct([("x", pa.float64()), ("s", pa.string())]),
    ),
)


def column(random: np.random.Generator, kind: pa.DataType, rows: int) -> pa.Array:
    """Values that repeat or do not, in runs or not, some of them missing."""
    distinct = int(random.choice([1, 2, 50, 5_000, 10**9]))
    raw = random.integers(0, distinct, rows)
    if random.random() < 0.3:
        raw = np.sort(raw)
    if random.random() < 0.3:
        raw = np.repeat(raw, 11)[:rows]
    missing = random.random(rows) < random.choice([0, 0.001, 0.1, 0.9, 1])
    if random.random() < 0.3:
        missing = np.sort(missing)
    if pa.types.is_list(kind):
        values: list = [list(range(number % 4)) for number in raw.tolist()]
    elif pa.types.is_struct(kind):
        values = [{"x": number / 3, "s": str(number)} for number in raw.tolist()]
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
        size = int(random.choice([0, 4, 40, 400 if rows < 30_000 else 40]))
        values = [("é" * (number % (size + 1)) + f"{number}") for number in raw.tolist()]
    elif kind == pa.bool_():
        values = (raw % 2 == 0).tolist()
    else:
        width = {1: "i1", 2: "i2", 4: "i4", 8: "i8"}[kind.bit_width // 8]
        numbers = raw.astype(width)
        if pa.types.is_floating(kind):
            numbers = (raw / 7).astype(f"f{kind.bit_width // 8}")
            numbers[random.random(rows) < 0.01] = np.nan
        elif not pa.types.is_integer(kind):
            return pa.array(numbers, mask=missing).cast(kind)
        return pa.array(numbers.astype(kind.to_pandas_dtype()), kind, mask=missing)
    return pa.array([None if gap else value for gap, value in zip(missing.tolist(), values, strict=True)], kind)


def table(random: np.random.Generator) -> pa.Table:
    """A table of a few columns, in chunks."""
    kinds = [TYPES[at] for at in random.integers(0, len(TYPES), random.integers(1, 4))]
    chunks = []
    for _ in range(random.choice([1, 1, 3])):
        rows = int(random.choice([0, 1, 10, 1000, 30_000]))
        chunks.append(pa.table({f"c{at}": column(random, kind, rows) for at, kind in enumerate(kinds)}))
    return pa.concat_tables(chunks)


def same(found: pa.Table, wanted: pa.Table) -> bool:
    """Whether tables have equal values, NaNs included."""
    kinds = found.schema.types
    if found.num_rows != wanted.num_rows or found.column_names != wanted.column_names:
        return False
    for kind, one, other in zip(kinds, found.columns, wanted.columns, strict=True):
        left, right = one.combine_chunks(), other.cast(kind).combine_chunks()
        if pa.types.is_floating(kind):
            left, right = (array.to_numpy(zero_copy_only=False) for array in (left, right))
            if not np.array_equal(left, right, equal_nan=True):
                return False
        elif pa.types.is_struct(kind):
            if left.to_pylist() != right.to_pylist():
                return False
        elif not left.equals(right):
            return False
    return True


@pytest.mark.parametrize("seed", range(CASES))
def test_readers_find_the_values_that_were_written(seed: int, tmp_path) -> None:
    random = np.random.default_rng(seed)
    wanted = table(random)
    path = str(tmp_path / "t.parquet")
    codec = str(random.choice(["none", "snappy", "zstd", "lz4", "gzip"]))
    most = random.choice([None, 7000, 100_000])
    dictionary = [None, False][int(random.random() < 0.2)]
    fw.write_parquet(
        path, wanted, compression=codec, row_group_entries=None if most is None else int(most), dictionary=dictionary
    )
    assert same(pq.read_table(path), wanted)
    assert same(pa.table(fw.open(path)), wanted)
    if wanted.num_rows == 0:
        return
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    assert same(polars.read_parquet(path).to_arrow(), wanted)
    assert same(duckdb.sql(f"select * from '{path}'").to_arrow_table().cast(wanted.schema), wanted)


def test_filters_use_the_bounds_of_pages_and_row_groups(tmp_path) -> None:
    rows = 120_000
    random = np.random.default_rng(1)
    text = [f"k{number:07d}" for number in range(rows)]
    wanted = pa.table(
        {
            "n": np.arange(rows),
            "x": np.where(random.random(rows) < 0.1, np.nan, np.arange(rows) / 2.0),
            "s": text,
            "few": [f"{number // 1000}" * 30 for number in range(rows)],
            "gap": pa.array(np.arange(rows), mask=np.arange(rows) < 70_000),
        }
    )
    path = str(tmp_path / "t.parquet")
    fw.write_parquet(path, wanted, row_group_entries=50_000)
    metadata = pq.read_metadata(path)
    assert metadata.num_row_groups == 3
    group = metadata.row_group(1)
    bounds = [group.column(at).statistics for at in range(5)]
    assert (bounds[0].min, bounds[0].max, bounds[0].null_count) == (50_000, 99_999, 0)
    assert (bounds[2].min, bounds[2].max) == ("k0050000", "k0099999")
    assert bounds[4].null_count == 20_000
    assert metadata.row_group(0).column(4).statistics.null_count == 50_000
    assert all(group.column(at).has_column_index and group.column(at).has_offset_index for at in range(5))
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    for name, low, high in (
        ("n", 60_000, 60_100),
        ("s", "k0060000", "k0060100"),
        ("gap", 69_990, 70_010),
        ("x", 10.0, 30.0),
    ):
        expected = pq.read_table(path, filters=[(name, ">=", low), (name, "<", high)])["n"].to_pylist()
        column = wanted[name].to_pylist()
        assert expected == [row for row, value in enumerate(column) if value is not None and low <= value < high]
        where = (polars.col(name) >= low) & (polars.col(name) < high)
        # NaN is larger than any number to polars and DuckDB.
        assert polars.scan_parquet(path).filter(where).collect()["n"].to_list() == expected
        text = f"'{low}' and {name} < '{high}'" if isinstance(low, str) else f"{low} and {name} < {high}"
        assert [row for (row,) in duckdb.sql(f"select n from '{path}' where {name} >= {text}").fetchall()] == expected
        cut = (
            f'({name} >= "{low}") & ({name} < "{high}")'
            if isinstance(low, str)
            else f"({name} >= {low}) & ({name} < {high})"
        )
        assert fw.open(path).arrays(["n"], cut=cut, library="np")["n"].tolist() == expected


def test_a_dictionary_that_is_given_up_at_once_is_in_no_page(tmp_path) -> None:
    texts = [None] * 20_480 + [f"{number:060d}" for number in range(20_480)] + ["a"] * 200_000
    wanted = pa.table({"s": texts})
    path = str(tmp_path / "t.parquet")
    fw.write_parquet(path, wanted)
    assert same(pq.read_table(path), wanted)
    assert same(pa.table(fw.open(path)), wanted)


def test_slices_of_one_buffer_count_with_their_rows(tmp_path) -> None:
    count, rows = 2000, 1000
    number = pa.chunked_array([pa.array(np.arange(count * rows))])
    pieces = pa.chunked_array([pa.array(np.full(rows, at, "i4")) for at in range(count)])
    wanted = pa.table({"n": number, "piece": pieces})
    path = str(tmp_path / "t.parquet")
    fw.write_parquet(path, wanted)
    assert same(pq.read_table(path), wanted)
