"""The tasks: what each library does, and whether the results are equal."""

from __future__ import annotations

import os
from dataclasses import dataclass

import data
import duckdb
import fastavro
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

import forthwith as fw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


@dataclass
class Task:
    """One task in the ways of several libraries."""

    ways: dict[str, Callable[[], Any]]


COLUMNS = ("id", "ts", "city", "name", "amount", "quantity", "flag", "score")


def all_tasks(folder: str, threads: int) -> Iterator[tuple[str, Task]]:
    """Names and tasks."""
    pa.set_cpu_count(threads)
    pa.set_io_thread_count(threads)
    duckdb.execute(f"set threads={threads}")
    duckdb.execute("set preserve_insertion_order=true")
    several = threads > 1

    def at(name: str) -> str:
        return os.path.join(folder, name)

    yield from reading(at, threads, several)
    yield from choosing(at, threads, several)
    yield from frames(at, threads, several)
    yield from writing(at)
    yield from texts(at, threads, several)
    yield from texts_written(at)
    yield from rows(at, threads)


def _duck(query: str) -> Any:
    return duckdb.sql(query).to_arrow_table()


def reading(at: Callable[[str], str], threads: int, several: bool) -> Iterator[tuple[str, Task]]:
    """Parquet files to Arrow."""
    for codec in data.CODECS:
        path = at(f"{codec}.parquet")
        for column in (*COLUMNS, None) if codec == "snappy" else (None,):
            names = None if column is None else [column]
            ways = {
                "forthwith": lambda: pa.table(fw.open(path, threads=threads).select(names, strings="string_view")),  # noqa: B023
                "pyarrow": lambda: pq.read_table(path, columns=names, use_threads=several),  # noqa: B023
                "polars": lambda: pl.read_parquet(path, columns=names),  # noqa: B023
                "duckdb": lambda: _duck(f"select {column or '*'} from '{path}'"),  # noqa: B023
            }
            yield f"Parquet {codec} {column or 'eight columns'} to Arrow", Task(ways)
    path = at("long.parquet")
    yield (
        "Parquet texts of 200 characters to Arrow",
        Task(
            {
                "forthwith": lambda: pa.table(fw.open(path, threads=threads).select(strings="string_view")),
                "pyarrow": lambda: pq.read_table(path, use_threads=several),
                "polars": lambda: pl.read_parquet(path),
            }
        ),
    )


def choosing(at: Callable[[str], str], threads: int, several: bool) -> Iterator[tuple[str, Task]]:
    """Some columns, some rows."""
    wide, groups, snappy = at("wide.parquet"), at("groups.parquet"), at("snappy.parquet")
    yield (
        "Parquet 1 of 1000 columns",
        Task(
            {
                "forthwith": lambda: pa.table(fw.open(wide, threads=threads).select(["c0500"])),
                "pyarrow": lambda: pq.read_table(wide, columns=["c0500"], use_threads=several),
                "polars": lambda: pl.read_parquet(wide, columns=["c0500"]),
            }
        ),
    )
    yield (
        "Parquet 10000 row groups",
        Task(
            {
                "forthwith": lambda: pa.table(fw.open(groups, threads=threads)),
                "pyarrow": lambda: pq.read_table(groups, use_threads=several),
                "polars": lambda: pl.read_parquet(groups),
            }
        ),
    )
    for low, high, name in ((1_200_000, 1_201_000, "1000 rows of sorted"), (100_000, 1_900_000, "90 % of sorted")):
        cut = f"id >= {low} and id < {high}"
        filters = [("id", ">=", low), ("id", "<", high)]
        where = (pl.col("id") >= low) & (pl.col("id") < high)
        ways = {
            "forthwith": lambda: fw.open(snappy, threads=threads).arrays(
                ["id", "amount"],
                cut=cut.replace(" and ", " & ").replace("id >=", "(id >=").replace(" & ", ") & (") + ")",  # noqa: B023
                library="arrow",
            ),
            "pyarrow": lambda: pq.read_table(snappy, columns=["id", "amount"], filters=filters, use_threads=several),  # noqa: B023
            "polars": lambda: pl.scan_parquet(snappy).filter(where).select("id", "amount").collect(),  # noqa: B023
            "duckdb": lambda: _duck(f"select id, amount from '{snappy}' where {cut}"),  # noqa: B023
        }
        yield f"Parquet cut of {name}", Task(ways)


def frames(at: Callable[[str], str], threads: int, several: bool) -> Iterator[tuple[str, Task]]:
    """Frames of polars and pandas, arrays of NumPy."""
    snappy = at("snappy.parquet")
    yield (
        "Parquet snappy to a polars frame",
        Task(
            {
                "forthwith": lambda: fw.open(snappy, threads=threads).arrays(library="pl"),
                "polars": lambda: pl.read_parquet(snappy),
            }
        ),
    )
    yield (
        "Parquet snappy stream to a polars frame",
        Task(
            {
                "forthwith": lambda: pl.DataFrame(fw.open(snappy, threads=threads).select(strings="string_view")),
                "polars": lambda: pl.read_parquet(snappy),
            }
        ),
    )
    yield (
        "Parquet snappy to pandas",
        Task(
            {
                "forthwith": lambda: fw.open(snappy, threads=threads).arrays(library="pd"),
                "pandas": lambda: pd.read_parquet(snappy, dtype_backend="pyarrow", use_threads=several),
            }
        ),
    )
    numbers = ["id", "amount", "score"]
    kind = np.dtype([("id", "i8"), ("amount", "f8"), ("score", "f4")])

    def structured(columns: dict[str, Any]) -> np.ndarray:
        made = np.empty(len(columns["id"]), kind)
        for name in numbers:
            made[name] = columns[name]
        return made

    yield (
        "Parquet snappy to a NumPy structured array",
        Task(
            {
                "forthwith": lambda: structured(fw.open(snappy, threads=threads).arrays(numbers, library="np", how=dict)),
                "pyarrow": lambda: structured(
                    {
                        name: column.to_numpy()
                        for name, column in zip(
                            numbers, pq.read_table(snappy, columns=numbers, use_threads=several).columns, strict=True
                        )
                    }
                ),
                "polars": lambda: pl.read_parquet(snappy, columns=numbers).to_numpy(structured=True),
            }
        ),
    )


def writing(at: Callable[[str], str]) -> Iterator[tuple[str, Task]]:
    """Parquet files, read back by pyarrow for comparison outside the time."""
    whole = pq.read_table(at("none.parquet"))
    frame = pl.from_arrow(whole)
    pandas = whole.select(["id", "amount", "score", "flag"]).to_pandas()
    cases = [(f"eight columns {codec}", codec, None) for codec in data.CODECS]
    cases += [("numbers none", "none", ["id", "amount", "score"]), ("nullable int32 snappy", "snappy", ["quantity"])]
    cases += [("text with few values snappy", "snappy", ["city"]), ("text without repeats snappy", "snappy", ["name"])]
    for name, codec, columns in cases:
        some = whole if columns is None else whole.select(columns)
        same = frame if columns is None else frame.select(columns)
        yield f"write Parquet {name}", Task(_writers(at, some, same, codec))
    path = at("pandas.parquet")
    yield (
        "write Parquet of pandas snappy",
        Task(
            {
                "forthwith": lambda: Written(path, fw.write_parquet, path, pandas, compression="snappy"),
                "pandas": lambda: Written(path, pandas.to_parquet, path, index=False),
            }
        ),
    )


def _writers(at: Callable[[str], str], some: Any, frame: Any, codec: str) -> dict[str, Callable[[], Any]]:
    ours, theirs, third = (at(f"out-{name}.parquet") for name in ("forthwith", "pyarrow", "polars"))
    word = {"none": "uncompressed"}.get(codec, codec)
    return {
        "forthwith": lambda: Written(ours, fw.write_parquet, ours, some, compression=codec),
        "pyarrow": lambda: Written(theirs, pq.write_table, some, theirs, compression=codec),
        "polars": lambda: Written(third, frame.write_parquet, third, compression=word),
    }


class Written:
    """A file that a call wrote."""

    def __init__(self, path: str, call: Any, *arguments: Any, **options: Any) -> None:
        self.path = path
        call(*arguments, **options)


def texts(at: Callable[[str], str], threads: int, several: bool) -> Iterator[tuple[str, Task]]:
    """CSV and JSON Lines, in and out."""
    rows_csv, rows_json = at("rows.csv"), at("rows.ndjson")
    yield (
        "CSV to Arrow",
        Task(
            {
                "forthwith": lambda: pa.table(fw.open(rows_csv, threads=threads)),
                "polars": lambda: pl.read_csv(rows_csv, try_parse_dates=True),
                "pyarrow": lambda: pyarrow.csv.read_csv(rows_csv, pyarrow.csv.ReadOptions(use_threads=several)),
            }
        ),
    )
    yield (
        "JSON Lines to Arrow",
        Task(
            {
                "forthwith": lambda: pa.table(fw.open(rows_json, threads=threads)),
                "polars": lambda: pl.read_ndjson(rows_json),
                "pyarrow": lambda: pyarrow.json.read_json(rows_json, pyarrow.json.ReadOptions(use_threads=several)),
            }
        ),
    )


def texts_written(at: Callable[[str], str]) -> Iterator[tuple[str, Task]]:
    """CSV and JSON Lines, written from Arrow data and read back by polars for comparison outside the time."""
    some = pq.read_table(at("none.parquet")).slice(0, data.TEXT_ROWS)
    frame, pandas = pl.from_arrow(some), some.to_pandas()
    ours, theirs, third, fourth = (at(f"out-{name}.csv") for name in ("forthwith", "pyarrow", "polars", "pandas"))
    yield (
        "write CSV",
        Task(
            {
                "forthwith": lambda: Written(ours, fw.write_csv, ours, some),
                "pyarrow": lambda: Written(theirs, pyarrow.csv.write_csv, some, theirs),
                "polars": lambda: Written(third, frame.write_csv, third),
                "pandas": lambda: Written(fourth, pandas.to_csv, fourth, index=False),
            }
        ),
    )
    lines, other = at("out-forthwith.ndjson"), at("out-polars.ndjson")
    yield (
        "write JSON Lines",
        Task(
            {
                "forthwith": lambda: Written(lines, fw.write_json, lines, some),
                "polars": lambda: Written(other, frame.write_ndjson, other),
            }
        ),
    )


def rows(at: Callable[[str], str], threads: int) -> Iterator[tuple[str, Task]]:
    """Small files, and rows as dicts."""
    for kind, read in (("parquet", pq.read_table), ("csv", pyarrow.csv.read_csv), ("ndjson", pyarrow.json.read_json)):
        path = at(f"ten_{kind}.{kind}")
        other = {"parquet": pl.read_parquet, "csv": pl.read_csv, "ndjson": pl.read_ndjson}[kind]
        yield (
            f"ten rows of {kind} to Arrow",
            Task(
                {
                    "forthwith": lambda: pa.table(fw.open(path, threads=threads)),  # noqa: B023
                    "pyarrow": lambda: read(path),  # noqa: B023
                    "polars": lambda: other(path),  # noqa: B023
                }
            ),
        )
    for name, title in (("ten_avro", "ten rows"), ("avro_null", "100000 rows"), ("avro_snappy", "100000 rows snappy")):
        path = at(f"{name}.avro")
        yield (
            f"Avro {title} as dicts",
            Task(
                {
                    "forthwith": lambda: list(fw.open(path, threads=threads).rows()),  # noqa: B023
                    "fastavro": lambda: _records(path),  # noqa: B023
                }
            ),
        )
    path = at("avro_null.avro")
    schema, records = data.avro_records(pq.read_table(at("none.parquet")).slice(0, 100_000))
    yield (
        "Avro 100000 rows to Arrow",
        Task(
            {
                "forthwith": lambda: pa.table(fw.open(path, threads=threads)),
                "polars": lambda: pl.read_avro(path),
            }
        ),
    )
    snappy = at("ten_parquet.parquet")
    yield (
        "Parquet ten rows as dicts",
        Task(
            {
                "forthwith": lambda: list(fw.open(snappy, threads=threads).rows()),
                "pyarrow": lambda: pq.read_table(snappy).to_pylist(),
                "polars": lambda: pl.read_parquet(snappy).to_dicts(),
            }
        ),
    )
    for count in (10, 100_000):
        some = records[:count]
        ours, theirs = at("out-forthwith.avro"), at("out-fastavro.avro")
        yield (
            f"write Avro {count} dicts",
            Task(
                {
                    "forthwith": lambda: Written(ours, fw.write_avro, ours, some, schema=schema),  # noqa: B023
                    "fastavro": lambda: Written(theirs, _fastavro_file, theirs, schema, some),  # noqa: B023
                }
            ),
        )


def _records(path: str) -> list[Any]:
    with open(path, "rb") as file:
        return list(fastavro.reader(file))


def _fastavro_file(path: str, schema: Any, records: list[Any]) -> None:
    with open(path, "wb") as file:
        fastavro.writer(file, schema, records)


def _read_back(path: str) -> Any:
    """The contents of a file that was written."""
    if path.endswith(".avro"):
        return _records(path)
    if path.endswith(".csv"):
        return _with_times(pl.read_csv(path, try_parse_dates=True))
    if path.endswith(".ndjson"):
        return _with_times(pl.read_ndjson(path))
    return pq.read_table(path)


def _with_times(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with the times that its texts are."""
    if frame.schema["ts"] != pl.String:
        return frame
    return frame.with_columns(pl.col("ts").str.to_datetime(time_unit="us"))


def comparable(result: Any) -> Any:
    """A result in a form that can be compared: a table of Arrow, a list or an array."""
    if isinstance(result, Written):
        result = _read_back(result.path)
    if isinstance(result, pd.DataFrame):
        result = pa.Table.from_pandas(result, preserve_index=False)
    if isinstance(result, pl.DataFrame):
        result = result.to_arrow()
    if isinstance(result, pa.Table):
        return pa.table({field.name: _plain(column) for field, column in zip(result.schema, result.columns, strict=True)})
    return result


def _plain(column: Any) -> Any:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_string_view(kind) or pa.types.is_dictionary(kind):
        return column.cast(pa.large_string())
    # Readers of CSV and JSON give times in different units, of the same value.
    return column.cast(pa.timestamp("us")) if pa.types.is_timestamp(kind) else column


def equal(first: Any, second: Any) -> bool:
    """Whether two comparable results are equal."""
    if isinstance(first, pa.Table):
        second = second.select(first.column_names)
        return all(
            left.combine_chunks().equals(_alike(right, left.type).combine_chunks())
            for left, right in zip(first.columns, second.columns, strict=True)
        )
    if isinstance(first, np.ndarray):
        return bool((first == second).all())
    return bool(first == second)


def _alike(column: Any, kind: Any) -> Any:
    return column if column.type == kind else column.cast(kind)


def size(result: Any) -> int:
    """Bytes of a result; of rows, none that could be copied at once."""
    return 0 if isinstance(result, list) else int(result.nbytes)
