"""What each stage of reading a partition costs on one core: ``stages.py FOLDER [ROUNDS]``.

The same columns without a codec and with ZSTD: the difference is what decompressing costs. Processor time, medians. What the
scheduler of Dask needs for a task is measured with tasks that do nothing, by the clock on the wall.
"""

import os
import pickle
import statistics
import sys
import time

from distributed import Client, LocalCluster
from frames import files

import forthwith
from forthwith import engines

COLUMNS = [f"x{at}" for at in range(8)]
TASKS = 2_000


def median(act, rounds):
    """The median of the processor time of a call, in seconds."""
    times = []
    for _ in range(rounds):
        began = time.process_time()
        act()
        times.append(time.process_time() - began)
    return statistics.median(times)


def nothing(number):
    """A task that does nothing."""
    return number


def main(folder, rounds):
    """A line for each stage."""
    names = files(folder)
    plain, packed = names["none"], names["ZSTD"]
    (part,) = engines.plan(packed, COLUMNS, step=None)
    stored = part.bytes
    size = part.stop * 8 * len(COLUMNS)

    def opened(name):
        with forthwith.open(name) as tree:
            return tree.num_entries

    def read(name, library, **options):
        def act():
            with forthwith.open(name, **options) as tree:
                return tree.arrays(COLUMNS, library=library, threads=1)

        return act

    def rate(seconds, count):
        return f"{seconds * 1000:.1f} ms, {count / seconds / 1e6:.0f} MB/s"

    print(f"a partition of {part.stop} entries: {stored} bytes stored, {size} in memory; load {os.getloadavg()[0]:.1f}")
    opening = median(lambda: opened(packed), 5 * rounds)
    print(f"opening: {opening * 1000:.2f} ms a file")
    mapped, copied = median(read(plain, "np"), rounds), median(read(plain, "np", source="pread"), rounds)
    print(f"decoding from a map: {rate(mapped - opening, size)}")
    print(f"fetching from the page cache by copying: {rate(max(copied - mapped, 1e-6), size)}")
    whole = median(read(packed, "np"), rounds)
    print(f"decompressing ZSTD: {rate(whole - mapped, stored)} stored, {size / (whole - mapped) / 1e6:.0f} MB/s in memory")
    print(f"all of a partition: {rate(whole, stored)} stored, {size / whole / 1e6:.0f} MB/s in memory")
    for library in ("ak", "arrow", "pl", "pd"):
        print(f"handing over as {library} instead of NumPy: {(median(read(plain, library), rounds) - mapped) * 1000:.1f} ms")
    array = engines.read(part, library="np", how=dict)
    sent = median(lambda: pickle.loads(pickle.dumps(array, protocol=5)), rounds)
    print(f"an array that is pickled and back: {rate(sent, size)}")
    print(f"a partition, pickled: {len(pickle.dumps(part))} bytes")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers,
        Client(workers) as client,
    ):
        times = []
        for at in range(5):
            began = time.perf_counter()
            client.gather(client.map(nothing, range(at * TASKS, (at + 1) * TASKS)))
            times.append(time.perf_counter() - began)
        print(f"a task of Dask that does nothing: {statistics.median(times) / TASKS * 1e6:.0f} us by the wall, on two workers")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 9)
