"""Rows that are written: converted as columns are, one after the other from iterators, and tables one after the other."""

from __future__ import annotations

import datetime as dt
import io
import random
from decimal import Decimal

import fastavro
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import forthwith

TYPES = {"x": "int32", "f": "float32", "y": "var * float32", "b": "bool", "s": "string", "u": "uint8"}
ROWS = [
    {"x": 1, "f": 1, "y": [1.0, 2], "b": True, "s": "a", "u": 255},
    {"x": -2, "f": 0.5, "y": [], "b": False, "s": "", "u": 0},
]


@pytest.mark.parametrize("make", ["mktree", "mkrntuple"])
def test_rows_are_converted_as_columns_are(tmp_path, make):
    columns = {name: [row[name] for row in ROWS] for name in TYPES}
    found = []
    for given in (ROWS, tuple(ROWS), columns):
        with forthwith.recreate(tmp_path / "a.root") as file:
            table = getattr(file, make)("t", TYPES)
            table.extend(given)
            table.extend([] if given is not columns else {name: [] for name in TYPES})
            table.extend(given)
        tree = forthwith.open(f"{tmp_path}/a.root:t")
        found.append((tree.arrays(list(TYPES)).to_list(), str(tree.arrays(list(TYPES)).type)))
    assert found[0] == found[1] == found[2]
    assert found[0][0] == ROWS * 2
    assert "int32" in found[0][1]


@pytest.mark.parametrize("make", ["mktree", "mkrntuple"])
@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"x": 2**31}, "'x'.*2147483648"),
        ({"x": 1.5}, "'x'"),
        ({"u": -1}, "'u'.*-1"),
        ({"f": 1e300}, "'f'.*too large"),
        ({"y": [1e300]}, "'y'.*too large"),
        ({"b": 2}, "'b'"),
        ({"more": 1}, "more"),
    ],
)
def test_rows_that_do_not_fit_are_refused(tmp_path, make, row, what):
    with forthwith.recreate(tmp_path / "a.root") as file:
        table = getattr(file, make)("t", TYPES)
        with pytest.raises((ValueError, TypeError), match=what):
            table.extend([{**ROWS[0], **row}])
        table.extend(ROWS)
    assert forthwith.open(f"{tmp_path}/a.root:t").num_entries == 2


def test_missing_values_of_rows(tmp_path):
    with forthwith.recreate(tmp_path / "a.root") as file:
        table = file.mkrntuple("t", {"x": "?int32", "y": "float32"})
        table.extend([{"x": 1, "y": 2}, {"x": None, "y": 3}, {"y": 4}])
    rows = forthwith.open(f"{tmp_path}/a.root:t").rows()
    assert list(rows) == [{"x": 1, "y": 2.0}, {"x": None, "y": 3.0}, {"x": None, "y": 4.0}]


def test_random_rows_become_what_columns_do(tmp_path):
    rng = random.Random(4)
    kinds = [
        "int8",
        "int64",
        "uint16",
        "float32",
        "float64",
        "var * int16",
        "var * var * float32",
        "{a: int32, b: float32}",
    ]

    def value(kind):
        if kind.startswith("var * "):
            return [value(kind[6:]) for _ in range(rng.randrange(3))]
        if kind.startswith("{"):
            return {"a": rng.randrange(99), "b": rng.randrange(99)}
        return rng.randrange(100) if "int" in kind else rng.choice([rng.randrange(9), rng.randrange(64) / 8])

    for _ in range(15):
        types = {f"c{at}": rng.choice(kinds) for at in range(3)}
        rows = [{name: value(kind) for name, kind in types.items()} for _ in range(rng.randint(1, 5))]
        with forthwith.recreate(tmp_path / "a.root") as file:
            for name, given in (("r", rows), ("c", {name: [row[name] for row in rows] for name in types})):
                file.mkrntuple(name, types).extend(given)
        with forthwith.open(tmp_path / "a.root") as file:
            by_rows, by_columns = (file[name].arrays() for name in "rc")
            assert by_rows.to_list() == by_columns.to_list() == rows
            assert str(by_rows.type) == str(by_columns.type)


SCHEMA = {
    "type": "record",
    "name": "R",
    "fields": [
        {"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "t", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}
VALUES = [{"d": Decimal(f"{at}.25"), "t": dt.datetime(2024, 1, 1, tzinfo=dt.UTC)} for at in range(5)]


def test_iterators_of_rows(tmp_path):
    for schema in (SCHEMA, None):
        file = io.BytesIO()
        forthwith.write_avro(file, (row for row in VALUES), schema)
        file.seek(0)
        assert list(fastavro.reader(file)) == VALUES
    file = io.BytesIO()
    with forthwith.avro_writer(file, schema=SCHEMA) as out:
        out.write(VALUES[at % 5] for at in range(40_000))
        assert out.entries == 40_000
    assert forthwith.open(file).num_entries == 40_000
    forthwith.write_parquet(tmp_path / "a.parquet", iter(VALUES))
    assert list(forthwith.open(tmp_path / "a.parquet").rows()) == VALUES
    forthwith.write_parquet(
        tmp_path / "a.parquet", map(dict, VALUES), schema={"d": pa.decimal128(9, 2), "t": pa.timestamp("ms", "UTC")}
    )
    assert list(forthwith.open(tmp_path / "a.parquet").rows()) == VALUES
    with forthwith.recreate(tmp_path / "a.root") as out:
        out.mktree("t", {"x": "int32"}).extend({"x": at} for at in range(3))
    assert forthwith.open(f"{tmp_path}/a.root:t").arrays().to_list() == [{"x": at} for at in range(3)]


@pytest.mark.parametrize(
    "tables",
    [
        [pa.table({"x": [1, 2]}), pa.table({"x": [3]})],
        pa.table({"x": [1, 2, 3]}).to_batches(max_chunksize=2),
        [pl.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": [3]})],
        [pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [3]})],
    ],
)
def test_several_tables(tmp_path, tables):
    expected = [{"x": 1}, {"x": 2}, {"x": 3}]
    for given in (lambda: tables, lambda: iter(tables), lambda: (table for table in tables)):
        for write, name in ((forthwith.write_parquet, "a.parquet"), (forthwith.write_avro, "a.avro")):
            write(tmp_path / name, given())
            assert list(forthwith.open(tmp_path / name).rows()) == expected
        with forthwith.parquet_writer(tmp_path / "b.parquet") as out:
            out.write(given())
        assert list(forthwith.open(tmp_path / "b.parquet").rows()) == expected
        with forthwith.recreate(tmp_path / "a.root") as file:
            file.mktree("t", {"x": "int64"}).extend(given())
        assert forthwith.open(f"{tmp_path}/a.root:t").arrays().to_list() == expected


def test_tables_of_other_columns_are_refused(tmp_path):
    tables = [pa.table({"x": [1]}), pa.table({"y": [1]})]
    for given in (tables, iter(tables)):
        with pytest.raises((ValueError, TypeError), match=r"y|column"):
            forthwith.write_parquet(tmp_path / "a.parquet", given)
    with pytest.raises(TypeError, match="columns"), forthwith.recreate(tmp_path / "a.root") as file:
        file.mktree("t", {"x": "int64"}).extend(tables)


@pytest.mark.parametrize("row", [{"d": Decimal("1.25")}, {"a": "text"}, {"a": 1}, {"a": None}, {"a": np.float64(1)}])
def test_one_row_is_given_in_a_list(tmp_path, row):
    for write in (forthwith.write_parquet, forthwith.write_avro):
        with pytest.raises(forthwith.RequestTypeError, match=r"single value.*\[row\]"):
            write(tmp_path / "a", row)
    with (
        pytest.raises(forthwith.RequestTypeError, match=r"\[row\]"),
        forthwith.avro_writer(tmp_path / "a", schema=SCHEMA) as out,
    ):
        out.write(row)
    assert not (tmp_path / "a").exists()
