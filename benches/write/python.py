"""python.py WRITER FOLDER [REPETITIONS] [STEP]: a tree of 16 million floats, plain or in lists, written from Python without a codec.

WRITER is ``forthwith``, ``uproot``, or ``plain``: the bytes of the file that forthwith wrote, a megabyte at a
time. STEP is the number of entries that are given at a time, all if it is not said. Prints medians of milliseconds of processor time, and the checksum of the numbers that are read back.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import zlib
from typing import Any

import awkward as ak
import numpy as np

FLOATS = 16_000_000


def processor_ms() -> float:
    """Milliseconds of processor time that this process had."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return 1e3 * (used.ru_utime + used.ru_stime)


def tables() -> dict[str, tuple[str, ak.Array]]:
    """The type and the values of each table."""
    random = np.random.default_rng(1)
    floats = random.standard_normal(FLOATS, dtype="f4")
    ends = np.cumsum(random.integers(0, 16, FLOATS // 6))
    ends = np.append(ends[: np.searchsorted(ends, FLOATS)], FLOATS)
    lists = ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(np.append(0, ends)), ak.contents.NumpyArray(floats)))
    return {"flat": ("f4", floats), "jagged": ("var * float32", lists)}


def write(writer: str, path: str, kind: str, array: Any, step: int) -> float:
    """Writes a table, and gives the processor time that it took."""
    if writer == "plain":
        with open(f"{path}.whole", "rb") as file:
            data = memoryview(file.read())
        begin = processor_ms()
        with open(path, "wb", buffering=0) as file:
            for at in range(0, len(data), 1 << 20):
                file.write(data[at : at + (1 << 20)])
        return processor_ms() - begin
    module = __import__(writer)
    begin = processor_ms()
    with module.recreate(path, compression=None) as file:
        tree = file.mktree("t", {"x": kind}, **({"threads": 1} if writer == "forthwith" else {}))
        for at in range(0, len(array), step or len(array)):
            tree.extend({"x": array[at : at + (step or len(array))]})
    return processor_ms() - begin


def main(writer: str, folder: str, repetitions: int = 7, step: int = 0) -> None:
    """Writes each table several times, and reads it."""
    for name, (kind, array) in tables().items():
        path, took = f"{folder}/written-{name}.root", []
        for _ in range(repetitions):
            if os.path.exists(path):
                os.remove(path)
            took.append(write(writer, path, kind, array, step))
        if writer == "forthwith":
            os.replace(path, f"{path}.whole")
            path += ".whole"
        checksum = ""
        if writer != "plain":
            reader = __import__(writer)
            with reader.open(path) as file:
                found = file["t"]["x"].array()
            checksum = f"{zlib.crc32(np.ascontiguousarray(ak.to_numpy(ak.flatten(found, axis=None)))):08x}"
        print(name, round(statistics.median(took), 1), checksum, flush=True)
        if not path.endswith(".whole"):
            os.remove(path)


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
