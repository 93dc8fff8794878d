"""Loops over more than fits in memory, and over many small files: memory from step to step, and processor time.

``chains.py FOLDER large`` reads 100 files of 100 MB (ten files by ten names each) in steps, ``chains.py FOLDER files``
a thousand small ones, and ``chains.py FOLDER peer`` these also by uproot, in turns. A line for each result.
"""

import os
import pathlib
import statistics
import sys
import time

import numpy as np

import forthwith

NAMES = [f"x{at}" for at in range(10)]


def write(path, entries, seed):
    """A file of ten columns of doubles, of which the last ones compress well."""
    random = np.random.default_rng(seed)
    columns = {name: random.normal(size=entries) if at < 7 else np.arange(entries) for at, name in enumerate(NAMES)}
    with forthwith.recreate(path) as file:
        file["t"] = columns


def many(folder, kind, count, own, entries):
    """Names of files, of which only some are files of their own."""
    names = []
    for at in range(count):
        path = folder / f"{kind}-{at:04}.root"
        if not path.exists():
            if at < own:
                write(path, entries, at)
            else:
                path.symlink_to(f"{kind}-{at % own:04}.root")
        names.append(f"{path}:t")
    return names


def resident():
    """Resident memory now in MB: all of it, and what is no file."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    known = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmRSS", "RssAnon"))}
    return int(known["VmRSS"]) // 1024, int(known["RssAnon"]) // 1024


def loop(files, step_size):
    """Steps, entries, bytes of arrays and resident memory while files are read."""
    before, marks, largest = resident(), [], (0, 0)
    steps = entries = size = 0
    began = time.process_time()
    for step in forthwith.iterate(files, NAMES, step_size=step_size, library="np"):
        steps += 1
        entries += len(step["x0"])
        here = sum(column.nbytes for column in step.values())
        size += here
        now = resident()
        largest = tuple(map(max, largest, now))
        if steps in (10, 50, 100, 200, 500, 900, 1000, 2000):
            marks.append((steps, *now))
    print(f"{len(files)} files, {steps} steps of {step_size}: {entries} entries, {size / 1e9:.2f} GB of arrays")
    print(f"  processor {time.process_time() - began:.2f} s; MB resident (all, without files): before {before}")
    print("  " + ", ".join(f"step {at}: {now} {own}" for at, now, own in marks) + f"; most {largest}")
    print(f"  open files at the end: {len(os.listdir('/proc/self/fd'))}")


def peer(files, rounds=5):
    """The same small files by both, in turns."""
    import uproot

    def ours():
        return forthwith.concatenate(files, NAMES, library="np", threads=1)

    def theirs():
        return uproot.concatenate(files, NAMES, library="np")

    spent = {ours: [], theirs: []}
    for _ in range(rounds):
        sums = []
        for read, times in spent.items():
            began = time.process_time()
            columns = read()
            times.append(time.process_time() - began)
            sums.append(columns["x0"].sum())
        assert sums[0] == sums[1]
    mine, other = (statistics.median(times) for times in spent.values())
    print(f"{len(files)} files: forthwith {mine:.3f} s, uproot {other:.3f} s of the processor: {other / mine:.1f} times")


def main():
    """One of the loops."""
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if sys.argv[2] == "large":
        loop(many(folder, "large", 100, 10, 1_250_000), "10 MB")
    else:
        files = many(folder, "small", 1000, 1000, 1000)
        peer(files) if sys.argv[2] == "peer" else loop(files, "100 MB")


if __name__ == "__main__":
    main()
