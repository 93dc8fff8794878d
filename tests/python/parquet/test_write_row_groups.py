"""Row groups of Parquet files that are written step by step: sizes and values, by pyarrow; columns as Arrow has them."""

from __future__ import annotations

import random

import pytest

import forthwith

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _column(draw: random.Random, kind: str, rows: int, missing: float) -> object:
    """Random values, a slice of a longer array in several chunks."""
    values = {
        "int32": lambda: draw.randrange(-(2**31), 2**31),
        "float64": lambda: draw.gauss(0, 1),
        "bool": lambda: draw.random() < 0.5,
        "text": lambda: draw.choice(["", "a", "zwölf", "long enough for no view"]) * draw.randrange(3),
        "lists": lambda: [draw.randrange(9) for _ in range(draw.randrange(4))],
        "time": lambda: draw.randrange(10**15),
    }[kind]
    types = {
        "int32": pa.int32(),
        "float64": pa.float64(),
        "bool": pa.bool_(),
        "text": draw.choice([pa.string(), pa.large_string(), pa.string_view()]),
        "lists": pa.list_(pa.int16()),
        "time": pa.timestamp("us"),
    }
    offset = draw.randrange(3)
    items = [None if draw.random() < missing else values() for _ in range(rows + offset)]
    whole = pa.array(items, types[kind]).slice(offset)
    cut = draw.randrange(rows + 1)
    return pa.chunked_array([whole.slice(0, cut), whole.slice(cut)])


def test_steps_fill_row_groups(tmp_path):
    """Groups have the rows that were asked for, whatever the steps, and every value is that which was written."""
    draw = random.Random(11)
    path = str(tmp_path / "out.parquet")
    for _ in range(60):
        kinds = draw.sample(["int32", "float64", "bool", "text", "lists", "time"], draw.randrange(1, 5))
        missing = {kind: draw.choice([0, 0, 0.1, 0.9, 1]) for kind in kinds}
        most = draw.choice([1, 7, 50, 1000])
        steps, types = [], None
        for _ in range(draw.randrange(1, 4)):
            rows = draw.randrange(120)
            table = pa.table({kind: _column(draw, kind, rows, missing[kind]) for kind in kinds})
            types = types or table.schema
            steps.append(table.cast(types))
        with forthwith.parquet_writer(path, row_group_entries=most, compression="none") as writer:
            for step in steps:
                writer.write(step)
        whole = pa.concat_tables(steps)
        found = pq.ParquetFile(path)
        sizes = [found.metadata.row_group(at).num_rows for at in range(found.metadata.num_row_groups)]
        full, rest = divmod(len(whole), most)
        assert sizes == [most] * full + ([rest] if rest else [])
        assert found.read().to_pylist() == whole.to_pylist()


def test_one_long_column_is_divided_among_threads(tmp_path):
    """A column alone is encoded group by group, in the order of the groups."""
    path = str(tmp_path / "out.parquet")
    forthwith.write_parquet(path, pa.table({"x": range(300_000)}), row_group_entries=70_000)
    found = pq.ParquetFile(path)
    assert [found.metadata.row_group(at).num_rows for at in range(5)] == [70_000] * 4 + [20_000]
    assert found.read()["x"].to_pylist() == list(range(300_000))


def test_the_memory_of_a_column_outlives_its_table(tmp_path):
    """Numbers are not copied when they are taken over: they keep what they are in."""
    path = str(tmp_path / "out.parquet")
    with forthwith.parquet_writer(path) as writer:
        for step in range(5):
            writer.write(pa.table({"x": pa.array(range(step, step + 1000)), "s": [str(step)] * 1000}))
    assert pq.read_table(path)["x"].to_pylist() == [row for step in range(5) for row in range(step, step + 1000)]
