"""Two workers of Dask, and two plain processes, against one process: ``scaling.py FOLDER [ROUNDS]``.

All three read the same partitions with one thread each and give back a sum, in rounds in which they take turns. Processes
and workers are started, and have read once, before a clock is started.
"""

import multiprocessing
import os
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from data import files
from distributed import Client, LocalCluster

from forthwith import engines

REPEATED = 3


def sums(partition, number=0):
    """A sum over all columns of a partition, and the processor time that it took. The number tells calls apart."""
    del number
    began = time.process_time()
    arrays = engines.read(partition, library="np", how=dict, threads=1)
    return sum(float(np.sum(column)) for column in arrays.values()), time.process_time() - began


def timed(act):
    """The seconds of a call on the wall, and what it gives."""
    began = time.perf_counter()
    found = act()
    return time.perf_counter() - began, found


def main(folder, rounds):
    """Rounds of all three, and what two workers gain."""
    columns = [f"x{at}" for at in range(8)]
    partitions = engines.plan(files(folder), columns, step="100 MB") * REPEATED
    numbers = list(range(len(partitions)))
    spawn = multiprocessing.get_context("spawn")
    gains, walls = [], []
    cluster = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        ProcessPoolExecutor(2, mp_context=spawn) as pool,
        LocalCluster(**cluster) as workers,
        Client(workers) as client,
    ):
        calls = {
            "one": lambda _: [sums(partition) for partition in partitions],
            "plain": lambda _: list(pool.map(sums, partitions)),
            "dask": lambda at: client.gather(client.map(sums, partitions, [(at, number) for number in numbers])),
        }
        for call in calls.values():
            call(-1)
        for at in range(rounds):
            found = {name: timed(lambda call=call: call(at)) for name, call in calls.items()}  # noqa: B023
            totals = {round(sum(total for total, _ in result), 3) for _, result in found.values()}
            assert len(totals) == 1, totals
            wall = {name: seconds for name, (seconds, _) in found.items()}
            processor = {name: sum(seconds for _, seconds in result) for name, (_, result) in found.items()}
            plain, dask = wall["one"] / wall["plain"], wall["one"] / wall["dask"]
            gains.append((plain, dask, dask / plain))
            walls.append(wall)
            said = ", ".join(f"{name} {wall[name]:.2f} s ({processor[name]:.2f} s in tasks)" for name in calls)
            print(f"{said}; gains {plain:.2f} and {dask:.2f}: {dask / plain:.2f}; load {os.getloadavg()[0]:.1f}")
    plain, dask, share = (statistics.median(column) for column in zip(*gains, strict=True))
    print(f"{len(partitions)} partitions; medians: gains {plain:.2f} and {dask:.2f}, of which {share:.2f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7)
