"""Nullable columns of Parquet files, wherever the first null is: an index that counts up is not written."""

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forthwith

ROWS = 3000
GROUP = 700

VALUES = {
    "float64": np.arange(ROWS) / 7,
    "int8": (np.arange(ROWS) % 100).astype("i1"),
    "bool": np.arange(ROWS) % 3 == 1,
    "text": [f"text {row}" for row in range(ROWS)],
    "bytes": [bytes([row % 256]) * (row % 4) for row in range(ROWS)],
    "decimal": pa.array(np.arange(ROWS)).cast(pa.decimal128(30, 2)),
    "time": np.arange(ROWS).astype("M8[us]"),
    "lists": [[None if row % 11 == 3 else row] * (row % 4) for row in range(ROWS)],
    "record": [{"a": row, "b": None if row % 13 == 1 else str(row)} for row in range(ROWS)],
    "categories": pa.array([f"category {row % 5}" for row in range(ROWS)]).dictionary_encode(),
}

MISSING = {
    "none": np.zeros(ROWS, "?"),
    "the first": np.arange(ROWS) == 0,
    "the last": np.arange(ROWS) == ROWS - 1,
    "one group": np.arange(ROWS) // GROUP == 2,
    "from the third group on": (np.arange(ROWS) >= 2 * GROUP) & (np.arange(ROWS) % 3 == 0),
    "some": np.random.default_rng(1).random(ROWS) < 0.3,
    "all": np.ones(ROWS, "?"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("missing")

    def path(kind, missing):
        path = folder / f"{kind}-{missing}.parquet"
        if not path.exists():
            values = pa.array(VALUES[kind])
            rows = pa.array(np.arange(ROWS), mask=MISSING[missing])
            pq.write_table(pa.table({"x": values.take(rows)}), path, row_group_size=GROUP, data_page_size=500)
        return path

    return path


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("kind", VALUES)
def test_rows_are_those_of_pyarrow(made, kind, missing):
    path = made(kind, missing)
    table = pq.read_table(path)["x"]
    expected = table.to_pylist()
    with forthwith.open(path) as file:
        for threads in (1, 3):
            for entries in ((0, ROWS), (GROUP + 5, 3 * GROUP - 5), (10, 11), (2 * GROUP, 2 * GROUP)):
                read = file.arrays(["x"], entry_start=entries[0], entry_stop=entries[1], threads=threads)["x"]
                assert ak.is_valid(read)
                assert str(ak.type(read)).split(" * ", 1)[1].startswith("?") or kind in ("lists", "record")
                if kind not in ("decimal", "time"):
                    assert read.to_list() == expected[slice(*entries)]
                arrow = file.arrays(
                    ["x"], entry_start=entries[0], entry_stop=entries[1], threads=threads, library="pa"
                )["x"]
                assert arrow.to_pylist() == expected[slice(*entries)]
                arrow.validate(full=True)


@pytest.mark.parametrize("missing", MISSING)
def test_steps_join_to_the_whole(made, missing):
    path = made("float64", missing)
    expected = pq.read_table(path)["x"].to_pylist()
    with forthwith.open(path) as file:
        steps = [step["x"] for step in file.iterate(["x"], step_size=GROUP - 100)]
        assert ak.concatenate(steps).to_list() == expected
    both = forthwith.concatenate([path, made("float64", "some")], ["x"])["x"]
    assert both.to_list() == expected + pq.read_table(made("float64", "some"))["x"].to_pylist()


def test_nothing_is_kept_of_an_index_without_nulls(made):
    with forthwith.open(made("float64", "none")) as file:
        layout = file.arrays(["x"])["x"].layout
    assert layout.is_option
    assert not layout.is_indexed
    assert layout.nbytes == 8 * ROWS
