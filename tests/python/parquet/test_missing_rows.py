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


@pytest.mark.parametrize("kind", VALUES)
def test_streams_of_arrow_data_have_the_same_rows(made, kind):
    for missing in MISSING:
        path = made(kind, missing)
        expected = pq.read_table(path)["x"].to_pylist()
        with forthwith.open(path) as file:
            for size in (GROUP - 100, GROUP + 63):
                batches = list(pa.RecordBatchReader.from_stream(file.select(step_size=size)))
                assert [row for batch in batches for row in batch["x"].to_pylist()] == expected
                for batch in batches:
                    batch.validate(full=True)


def some_type(random, depth):
    kind = random.integers(0, 8 if depth else 5)
    if kind < 5:
        return [pa.float64(), pa.int16(), pa.bool_(), pa.string(), pa.timestamp("us")][kind]
    if kind == 5:
        return pa.list_(some_type(random, depth - 1))
    fields = [(name, some_type(random, depth - 1)) for name in "abc"[: random.integers(1, 4)]]
    return pa.struct([pa.field(name, each, nullable=bool(random.random() < 0.8)) for name, each in fields])


def some_value(random, each, density, nullable=True):
    if nullable and random.random() > density:
        return None
    if pa.types.is_struct(each):
        return {field.name: some_value(random, field.type, density, field.nullable) for field in each}
    if pa.types.is_list(each):
        return [some_value(random, each.value_type, density) for _ in range(random.integers(0, 4))]
    number = int(random.integers(-1000, 1000))
    return pa.scalar(
        str(number) if pa.types.is_string(each) else number % 2 == 0 if pa.types.is_boolean(each) else number
    )


@pytest.mark.parametrize("seed", range(12))
def test_random_types(tmp_path, seed):
    random = np.random.default_rng(seed)
    types = {f"x{at}": some_type(random, 3) for at in range(4)}
    density = float(random.choice([0.2, 0.9, 0.99, 1]))
    rows = int(random.integers(1, 900))

    def plain(value):
        if isinstance(value, pa.Scalar):
            return value.as_py()
        if isinstance(value, dict):
            return {name: plain(each) for name, each in value.items()}
        return [plain(each) for each in value] if isinstance(value, list) else value

    columns = {
        name: pa.array([plain(some_value(random, each, density)) for _ in range(rows)], each)
        for name, each in types.items()
    }
    path = tmp_path / "random.parquet"
    pq.write_table(
        pa.table(columns),
        path,
        row_group_size=int(random.integers(50, 1000)),
        data_page_size=int(random.integers(100, 5000)),
        use_dictionary=bool(seed % 2),
        data_page_version="2.0" if seed % 3 else "1.0",
    )
    with forthwith.open(path) as file:
        for threads in (1, 3):
            start = int(random.integers(0, rows))
            stop = int(random.integers(start, rows + 1))
            for first, last in ((0, rows), (start, stop)):
                read = file.arrays(entry_start=first, entry_stop=last, threads=threads, library="pa")
                arrays = file.arrays(entry_start=first, entry_stop=last, threads=threads)
                for name, column in columns.items():
                    read[name].validate(full=True)
                    assert read[name].to_pylist() == column[first:last].to_pylist(), types[name]
                    assert ak.is_valid(arrays[name])
                    if "timestamp" not in str(types[name]):
                        assert arrays[name].to_list() == column[first:last].to_pylist(), types[name]
