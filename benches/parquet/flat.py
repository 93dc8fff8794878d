"""flat.py FILE [ROUNDS]: plain numbers of one column, read whole by forthwith, polars and pyarrow in one process, turn and turn about.

FILE is made unless it is there: 2**26 random `float`, required, without dictionary or compression. One thread each. Prints the best and the
median of each in milliseconds, and by how much polars takes longer than forthwith in fresh memory, round by round. The sums have to be the same.
"""

import os
import pathlib
import statistics
import sys
import time

os.environ["POLARS_MAX_THREADS"] = "1"

import numpy as np  # noqa: E402
import polars  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

import forthwith  # noqa: E402


def make(path):
    """Writes the file."""
    numbers = np.random.default_rng(1).random(1 << 26, dtype=np.float32)
    schema = pa.schema([pa.field("x", pa.float32(), nullable=False)])
    pq.write_table(pa.table({"x": numbers}, schema=schema), path, compression="none", use_dictionary=False)


def ours(path, pool):
    """The column as an array of NumPy's."""
    with forthwith.open(path, pool=pool) as table:
        return table.arrays(library="np", threads=1)["x"]


def main():
    """Reads in turns and prints."""
    path = sys.argv[1]
    if not pathlib.Path(path).exists():
        make(path)
    readers = {
        "forthwith, fresh": lambda: ours(path, 0),
        "polars": lambda: polars.read_parquet(path)["x"],
        "forthwith": lambda: ours(path, None),
        "pyarrow": lambda: pq.read_table(path, use_threads=False)["x"],
    }
    sums = {name: float(np.sum(np.asarray(read()), dtype=np.float64)) for name, read in readers.items()}
    assert len(set(sums.values())) == 1, sums
    times = {name: [] for name in readers}
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 21):
        for name, read in readers.items():
            begun = time.perf_counter()
            numbers = read()
            times[name].append(1000 * (time.perf_counter() - begun))
            del numbers
    for name, each in times.items():
        print(f"{name:18} {min(each):8.1f} {statistics.median(each):8.1f}")
    pairs = zip(times["polars"], times["forthwith, fresh"], strict=True)
    print(f"polars over forthwith, fresh: {statistics.median(a / b for a, b in pairs):.2f}")


if __name__ == "__main__":
    main()
