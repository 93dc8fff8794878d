"""read.py FILE DEPTH REPS THREADS [fresh|small|pooled]: forthwith as a Python user has it, on one file of figure 1.

Each repetition opens the file, reads ``t/x`` to an Awkward Array (or NumPy array for plain numbers) and drops it outside the timing.
"""

import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.environ["FORTHWITH_PEERS"], "python"))

import numpy as np

import forthwith

ways = {
    "fresh": {"pool": 0, "huge_pages": True},
    "small": {"pool": 0, "huge_pages": False},
    "pooled": {"pool": "8 GB", "huge_pages": True},
}


def mix(a):
    """The peers' checksum: the length, and the sum of all words weighted by 1, 3, 5, …"""
    words = a.view(np.uint32) if a.dtype.itemsize == 4 else a.view(np.uint64)
    total = 0
    for i in range(0, len(words), 1 << 22):
        part = words[i : i + (1 << 22)].astype(np.uint64)
        total += int((part * np.arange(2 * i + 1, 2 * (i + len(part)) + 1, 2, dtype=np.uint64)).sum(dtype=np.uint64))
    return f"{len(a)}:{total % 2**64:016x}"


def checksum(array, depth):
    if isinstance(array, np.ndarray):
        return mix(array)
    layout, parts = array.layout, []
    for _ in range(depth):
        parts.append(mix(np.asarray(layout.offsets.data)))
        layout = layout.content
    return " ".join([*parts, mix(np.asarray(layout.data))])


def main():
    path, depth, reps, threads, *way = sys.argv[1:]
    depth, way = int(depth), (way or ["fresh"])[0]
    times, found = [], ""
    keep = None
    for rep in range(int(reps) + (way == "pooled")):
        start = time.perf_counter()
        # With a pool, the file stays open as in a loop over its steps: the pool is the file's.
        if way != "pooled" or keep is None:
            keep = forthwith.open(path, threads=int(threads), **ways[way])
        branch = keep["t"]["x"]
        array = branch.array(library="ak" if depth else "np")
        if way != "pooled":
            keep.close()
        seconds = time.perf_counter() - start
        if way != "pooled" or rep:
            times.append(round(seconds, 6))
        if rep == 0:
            found = checksum(array, depth)
        del array
    print("RESULT", json.dumps({"times": times, "checksum": found}))


main()
