"""write_wheel.py PATH DEPTH CODEC FLOATS REPETITIONS [THREADS]: the example ``write_ntuple``, by the installed package.

So a released wheel can be timed by `write.py` and `threads.py`: PROGRAM is then ``"PYTHON benches/ntuples/write_wheel.py"``.
Prints seconds of processor time, seconds, bytes of the file, and no numbers for what there is to be done at least.
"""

import pathlib
import sys
import time

import awkward as ak
import numpy as np

import forthwith




def made(depth, floats):
    """Floats in lists of 0 to 15 items, within lists of as many."""
    random = np.random.default_rng(1)
    layout = ak.contents.NumpyArray(random.standard_normal(floats, dtype="f4"))
    for _ in range(depth):
        count = len(layout)
        ends = np.cumsum(random.integers(0, 16, count // 6 + 16))
        ends = np.append(ends[: np.searchsorted(ends, count)], count)
        offsets = np.concatenate([[0], ends]).astype("i8")
        layout = ak.contents.ListOffsetArray(ak.index.Index64(offsets), layout)
    return ak.Array(layout)


def main(path, depth, codec, floats, repetitions, threads=1):
    array = made(depth, floats)
    kind = "var * " * depth + "float32"
    best = [float("inf")] * 2
    for _ in range(repetitions):
        begin, used = time.perf_counter(), time.process_time()
        with forthwith.recreate(path, compression=None) as file:
            compression = None if codec == "none" else codec
            file.mkrntuple("t", {"x": kind}, compression=compression, threads=threads).extend({"x": array})
        best = [min(best[0], time.process_time() - used), min(best[1], time.perf_counter() - begin)]
    print(*best, pathlib.Path(path).stat().st_size, *["nan"] * 4)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:]))
