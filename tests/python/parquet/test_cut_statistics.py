"""Cuts of Parquet files by statistics: row groups in which nothing passes, or everything, against pyarrow's filters."""

import io
import math
import random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import forthwith


def table_of(pick: random.Random, numbers: np.random.Generator) -> pa.Table:
    count = pick.choice([1, 7, 100, 1000])
    x = numbers.integers(0, 50, count)
    f = np.sort(numbers.normal(size=count))
    if pick.random() < 0.7:
        x = np.sort(x)
    if pick.random() < 0.3:
        f[numbers.random(count) < 0.1] = np.nan
    mask = numbers.random(count) < 0.1 if pick.random() < 0.4 else None
    return pa.table(
        {
            "x": pa.array(x, mask=mask),
            "f": f,
            "s": [f"{number:03d}" for number in x],
            "b": x > pick.randrange(50),
            "l": [[int(number)] * (number % 3) for number in x],
        }
    )


def cut_of(pick: random.Random, table: pa.Table) -> tuple[str, pa.Array]:
    """A cut, and for which rows it holds."""
    low, high = sorted((pick.randrange(-3, 55), pick.randrange(-3, 55)))
    kinds = {
        f"x >= {low}": pc.greater_equal(table["x"], low),
        f"x < {high}": pc.less(table["x"], high),
        f"not (x < {low})": pc.invert(pc.less(table["x"], low)),
        f"f > {low / 20}": pc.greater(table["f"], low / 20),
        f"s >= '{low:03d}'": pc.greater_equal(table["s"], f"{low:03d}"),
        "b": table["b"],
        "not b": pc.invert(table["b"]),
        "1 > 0": pa.array([True] * table.num_rows),
    }
    first, second = pick.sample(list(kinds), 2)
    if pick.random() < 0.3:
        return first, kinds[first]
    word, joined = pick.choice([("and", pc.and_kleene), ("or", pc.or_kleene)])
    return f"({first}) {word} ({second})", joined(kinds[first], kinds[second])


def equal(found: list, expected: list) -> bool:
    pairs = zip(found, expected, strict=True)
    return all(
        one == other or (isinstance(one, float) and math.isnan(one) and math.isnan(other)) for one, other in pairs
    )


def compare(seed: int) -> None:
    pick, numbers = random.Random(seed), np.random.default_rng(seed)
    table = table_of(pick, numbers)
    cut, mask = cut_of(pick, table)
    file = io.BytesIO()
    groups = pick.choice([1, 3, 50, 200, 10_000])
    pq.write_table(table, file, row_group_size=groups, write_page_index=pick.random() < 0.5, data_page_size=100)
    start = pick.choice([0, pick.randrange(table.num_rows)])
    stop = pick.choice([table.num_rows, pick.randrange(start, table.num_rows + 1)])
    expected = table.append_column("entry", pa.array(range(table.num_rows))).append_column("mask", mask)
    expected = expected.slice(start, stop - start)
    expected = expected.filter(expected["mask"])
    tree = forthwith.open(file)
    found = tree.arrays(cut=cut, library="arrow", entry_start=start, entry_stop=stop)
    for name in table.column_names:
        assert equal(found[name].to_pylist(), expected[name].to_pylist()), (seed, cut, name)
    frame = tree.arrays(["s"], cut=cut, library="pd", entry_start=start, entry_stop=stop)
    assert frame.index.to_list() == expected["entry"].to_pylist(), (seed, cut)
    steps = tree.iterate(["s"], cut=cut, library="arrow", entry_start=start, entry_stop=stop, step_size=64)
    assert [text for step in steps for text in step["s"].to_pylist()] == expected["s"].to_pylist(), (seed, cut)


def test_cuts_by_statistics_leave_what_filters_leave():
    for seed in range(16):
        compare(seed)
