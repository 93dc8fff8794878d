"""nullable.py [ROUNDS]: nullable columns, as pandas, polars and pyarrow write them, read by forthwith, pyarrow and polars in one process.

A million rows of each type, with no, 1 % and half of the values missing, not compressed. One thread each, turn and turn about. Prints a
Markdown table of medians in milliseconds, and by how much the faster peer takes longer than forthwith to the same library's columns. All
values are compared before anything is timed.
"""

import os
import pathlib
import statistics
import sys
import tempfile
import time

os.environ["POLARS_MAX_THREADS"] = "1"

import numpy as np  # noqa: E402
import polars  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

import forthwith  # noqa: E402

ROWS = 1 << 20


def columns():
    """A column of each type without nulls."""
    numbers = np.random.default_rng(1).random(ROWS)
    offsets = pa.array(np.arange(0, ROWS + 1, 4, dtype="i4"))
    return {
        "float64": pa.array(numbers),
        "int32": pa.array((numbers * 1e6).astype("i4")),
        "bool": pa.array(numbers > 0.5),
        "timestamp": pa.array((numbers * 1e15).astype("i8").view("M8[us]")),
        "text": pa.array([f"name{int(number * 1000)}" for number in numbers]),
        "list of float64": pa.ListArray.from_arrays(offsets, pa.array(numbers)),
    }


def read(path, library):
    """The column in a library's terms."""
    return forthwith.open(path).arrays(["x"], library=library, threads=1)


WAYS = {
    "forthwith, Awkward": lambda path: read(path, "ak"),
    "forthwith, Arrow": lambda path: read(path, "arrow"),
    "pyarrow": lambda path: pq.read_table(path, use_threads=False),
    "polars": lambda path: polars.read_parquet(path),
}


def timed(path, rounds):
    """The median of each way in milliseconds."""
    times = {name: [] for name in WAYS}
    for _ in range(rounds):
        for name, way in WAYS.items():
            began = time.perf_counter()
            result = way(path)
            times[name].append(time.perf_counter() - began)
            del result
    return {name: 1e3 * statistics.median(some) for name, some in times.items()}


def main():
    """Makes files and reads them in turns."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    print("| column | missing |", " | ".join(WAYS), "| faster peer / forthwith, Arrow |")
    print("|---|---:|", "---:|" * (len(WAYS) + 1), sep="")
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "x.parquet")
        for name, column in columns().items():
            for share in (0, 0.01, 0.5):
                missing = np.random.default_rng(2).random(len(column)) < share
                values = column.take(pa.array(np.arange(len(column)), mask=missing))
                pq.write_table(pa.table({"x": values}), path, compression="none", use_dictionary=name == "text")
                assert read(path, "arrow")["x"].to_pylist() == values.to_pylist()
                found = timed(path, rounds)
                ratio = min(found["pyarrow"], found["polars"]) / found["forthwith, Arrow"]
                print(f"| {name} | {share:.0%} |", " | ".join(f"{one:.2f}" for one in found.values()), f"| {ratio:.2f} |")


if __name__ == "__main__":
    main()
