"""Tables and files of the comparison, made by pyarrow, polars and fastavro."""

from __future__ import annotations

import os

import fastavro
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

ROWS = 2_000_000
TEXT_ROWS = 200_000
CODECS = ("none", "snappy", "zstd")


def table(rows: int) -> pa.Table:
    """Eight columns as tables of orders have them."""
    random = np.random.default_rng(1)
    words = np.array([f"city-{number:05d}" for number in range(5000)])
    return pa.table(
        {
            "id": pa.array(np.arange(rows)),
            "ts": pa.array(random.integers(1_600_000_000_000_000, 1_700_000_000_000_000, rows), pa.timestamp("us")),
            "city": pa.array(words[random.integers(0, len(words), rows)]),
            "name": pa.array([f"user {row * 7919 % rows} x" for row in range(rows)]),
            "amount": pa.array(random.normal(50, 20, rows)),
            "quantity": pa.array(random.integers(0, 100, rows).astype("i4"), mask=random.random(rows) < 0.1),
            "flag": pa.array(random.random(rows) < 0.5),
            "score": pa.array(random.random(rows).astype("f4")),
        }
    )


def write_all(folder: str) -> dict[str, str]:
    """Writes every file into a folder; returns their paths by name."""
    paths: dict[str, str] = {}

    def path(name: str) -> str:
        paths[name.rpartition(".")[0]] = os.path.join(folder, name)
        return os.path.join(folder, name)

    whole = table(ROWS)
    for codec in CODECS:
        pq.write_table(whole, path(f"{codec}.parquet"), compression=codec, row_group_size=250_000)
    random = np.random.default_rng(2)
    wide = pa.table({f"c{at:04d}": random.normal(size=2_000) for at in range(1000)})
    pq.write_table(wide, path("wide.parquet"))
    pq.write_table(whole.select(["id", "amount"]).slice(0, 1_000_000), path("groups.parquet"), row_group_size=100)
    long_text = pa.array([f"{row:08d}" * 25 for row in random.integers(0, 10**8, TEXT_ROWS)])
    pq.write_table(pa.table({"text": long_text}), path("long.parquet"), use_dictionary=False)

    some = whole.slice(0, TEXT_ROWS)
    pyarrow.csv.write_csv(some, path("rows.csv"))
    pl.from_arrow(some).write_ndjson(path("rows.ndjson"))
    ten = whole.slice(0, 10)
    pq.write_table(ten, path("ten_parquet.parquet"))
    pyarrow.csv.write_csv(ten, path("ten_csv.csv"))
    pl.from_arrow(ten).write_ndjson(path("ten_ndjson.ndjson"))
    schema, records = avro_records(some.slice(0, 100_000))
    for name, rows in (("avro_null", records), ("avro_snappy", records), ("ten_avro", records[:10])):
        with open(path(f"{name}.avro"), "wb") as file:
            fastavro.writer(file, schema, rows, codec="snappy" if name == "avro_snappy" else "null")
    return paths


def avro_records(rows: pa.Table) -> tuple[dict, list[dict]]:
    """A schema and the rows as dicts, with times and missing values."""
    types = {
        "id": "long",
        "ts": {"type": "long", "logicalType": "timestamp-micros"},
        "city": "string",
        "name": "string",
        "amount": "double",
        "quantity": ["null", "int"],
        "flag": "boolean",
        "score": "float",
    }
    fields = [{"name": name, "type": kind} for name, kind in types.items()]
    stamped = rows.set_column(1, "ts", rows["ts"].cast(pa.timestamp("us", "UTC")))
    return {"type": "record", "name": "Order", "fields": fields}, stamped.to_pylist()
