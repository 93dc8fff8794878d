"""wide.py PACKAGE FOLDER [COLUMNS ...]: tables of many columns of ten numbers, written and read in one process.

PACKAGE is ``forthwith``, ``uproot``, ``pyarrow`` or ``fastavro``; each has the formats that it knows. There are 1000, 4000 and
16000 columns if nothing is said. Prints medians of milliseconds of processor time of three turns, to write and to read, and the
sum of all numbers that were read.
"""

from __future__ import annotations

import importlib
import resource
import statistics
import sys
from typing import Any

import numpy as np

ROWS, TURNS = 10, 3
FORMATS = {
    "forthwith": ["root", "parquet", "avro"],
    "uproot": ["root"],
    "pyarrow": ["parquet"],
    "fastavro": ["avro"],
}


def processor_ms() -> float:
    """Milliseconds of processor time that this process had."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return 1e3 * (used.ru_utime + used.ru_stime)


def write(package: str, kind: str, path: str, columns: dict[str, Any]) -> None:
    """Writes a table."""
    module = importlib.import_module(package)
    if kind == "root":
        with module.recreate(path) as file:
            file.mktree("t", dict.fromkeys(columns, "f8")).extend(columns)
    elif package == "forthwith":
        getattr(module, f"write_{kind}")(path, columns)
    elif package == "pyarrow":
        importlib.import_module("pyarrow.parquet").write_table(module.table(columns), path, compression="zstd")
    else:
        fields = [{"name": name, "type": "double"} for name in columns]
        rows = [
            dict(zip(columns, row, strict=True)) for row in zip(*(c.tolist() for c in columns.values()), strict=True)
        ]
        with open(path, "wb") as file:
            module.writer(file, {"type": "record", "name": "Row", "fields": fields}, rows)


def read(package: str, kind: str, path: str) -> float:
    """Reads all of it, and gives the sum."""
    module = importlib.import_module(package)
    if package == "fastavro":
        with open(path, "rb") as file:
            return sum(sum(row.values()) for row in module.reader(file))
    if package == "pyarrow":
        table = importlib.import_module("pyarrow.parquet").read_table(path)
        return sum(float(column.to_numpy().sum()) for column in table.columns)
    with module.open(path) as file:
        arrays = (file["t"] if kind == "root" else file).arrays(library="np")
    return sum(float(array.sum()) for array in arrays.values())


def main(package: str, folder: str, counts: list[int]) -> None:
    """Writes and reads tables of each number of columns."""
    for kind in FORMATS[package]:
        path = f"{folder}/wide.{kind}"
        for count in counts:
            columns = {f"column{at}": np.arange(ROWS) + float(at) for at in range(count)}
            took: tuple[list[float], list[float]] = ([], [])
            for _ in range(TURNS):
                begin = processor_ms()
                write(package, kind, path, columns)
                middle = processor_ms()
                found = read(package, kind, path)
                took[0].append(middle - begin)
                took[1].append(processor_ms() - middle)
            assert found == sum(float(column.sum()) for column in columns.values())
            print(package, kind, count, *(round(statistics.median(each), 1) for each in took), found, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], [int(count) for count in sys.argv[3:]] or [1000, 4000, 16000])
