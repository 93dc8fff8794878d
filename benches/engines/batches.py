"""Batches in a random order against reading in order: ``batches.py FOLDER [ROUNDS]``.

Both give every entry of all columns, in batches of 1024 or partition by partition, in rounds in which they take turns.
"""

import os
import statistics
import sys
import time

from data import files

from forthwith import engines

ENTRIES = 1024


def in_order(partitions):
    """The entries of all partitions."""
    return sum(len(engines.read(partition, library="np", how=dict, threads=1)["number"]) for partition in partitions)


def shuffled(partitions):
    """The same of batches, ten partitions in the buffer."""
    return sum(len(batch["number"]) for batch in engines.batches(partitions, size=ENTRIES, buffer=10))


def main(folder, rounds):
    """Rounds of both."""
    columns = [*(f"x{at}" for at in range(8)), "number"]
    # Steps of one entry end where clusters do.
    partitions = engines.plan(files(folder), columns, step=1)
    shares = []
    for _ in range(rounds):
        clocks = []
        for call in (in_order, shuffled):
            wall, processor = time.perf_counter(), time.process_time()
            count = call(partitions)
            clocks.append((time.perf_counter() - wall, time.process_time() - processor))
        shares.append([before / after for before, after in zip(*clocks, strict=True)])
        said = ", ".join(f"{wall:.2f} s ({processor:.2f} s of processors)" for wall, processor in clocks)
        print(f"in order and in batches {said}: {shares[-1][0]:.2f} ({shares[-1][1]:.2f}); load {os.getloadavg()[0]:.1f}")
    wall, processor = (statistics.median(column) for column in zip(*shares, strict=True))
    print(f"{len(partitions)} clusters, {count} entries; medians: {wall:.2f} by the wall, {processor:.2f} by processors")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7)
