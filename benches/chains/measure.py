"""Reads many files as one table, by the chain and file by file with a concatenation, at once and in steps, and measures
time and memory.

``python benches/chains/measure.py [FOLDER]`` writes 1 000 small and 20 large files into FOLDER (a temporary one by default),
reads each set in processes of their own, compares the values, and prints a table: the best time of five rounds, and the
most memory that the process had beyond what it had before, as a multiple of the result's bytes, with and without the
pages of mapped files.
"""

import collections
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

SMALL, LARGE = (1000, 2_000), (20, 500_000)
ROUNDS = 5


def written(folder, name, files, entries):
    """Files of four columns of numbers and one of lists."""
    import forthwith

    where = os.path.join(folder, name)
    os.makedirs(where, exist_ok=True)
    random = np.random.default_rng(7)
    for at in range(files):
        path = os.path.join(where, f"{at:04d}.root")
        if os.path.exists(path):
            continue
        counts = random.integers(0, 5, entries)
        import awkward as ak

        columns = {
            "x": random.normal(size=entries).astype("f4"),
            "y": random.normal(size=entries),
            "n": random.integers(0, 100, entries).astype("i4"),
            "run": np.full(entries, at, "i4"),
            "pt": ak.unflatten(random.exponential(size=int(counts.sum())).astype("f4"), counts),
        }
        with forthwith.recreate(path, compression=None) as file:
            file.mktree("events", columns)
    return os.path.join(where, "*.root") + ":events"


def chained(pattern, threads):
    import forthwith

    yield forthwith.concatenate(pattern, threads=threads)


def concatenated(pattern, threads):
    """The way of former versions: an array for each file, and a copy of all."""
    import awkward as ak

    import forthwith

    yield ak.concatenate([tree.arrays(threads=threads) for tree in forthwith.Chain(pattern)])


def uproot_way(pattern, threads):
    import uproot

    yield uproot.concatenate(pattern)


def stepped(pattern, threads):
    import forthwith

    yield from forthwith.iterate(pattern, threads=threads)


def stepped_by_trees(pattern, threads):
    """The steps of a tree for each file."""
    import forthwith

    for tree in forthwith.Chain(pattern):
        yield from tree.iterate(threads=threads)


def stepped_with_nulls(pattern, threads):
    """The steps of files of which some may lack columns."""
    import forthwith

    yield from forthwith.iterate(pattern, threads=threads, missing="null")


def named_as_uproot(pattern, threads):
    """The call of uproot's name, which has no ``threads``."""
    from forthwith import uproot

    yield uproot.concatenate(pattern)


def stepped_as_uproot(pattern, threads):
    """The steps of uproot's name."""
    from forthwith import uproot

    yield from uproot.iterate(pattern)


def stepped_by_uproot(pattern, threads):
    import uproot

    yield from uproot.iterate(pattern)


WAYS = {
    "chain": chained,
    "file by file": concatenated,
    "chain, steps": stepped,
    "trees, steps": stepped_by_trees,
    'chain, steps, missing="null"': stepped_with_nulls,
    "forthwith.uproot": named_as_uproot,
    "forthwith.uproot, steps": stepped_as_uproot,
    "uproot": uproot_way,
    "uproot, steps": stepped_by_uproot,
}


def pages():
    """Bytes of resident memory, and of its part that is not mapped from files."""
    with open("/proc/self/statm") as file:
        _, resident, shared, *_ = map(int, file.read().split())
    return resident * resource.getpagesize(), (resident - shared) * resource.getpagesize()


def one(way, pattern, threads):
    """Measures in this process; prints JSON."""
    import awkward as ak

    list(WAYS[way](pattern.replace("*", "0000"), threads))
    before, memory, size = pages(), [0, 0], 0
    done = threading.Event()

    def watch():
        while not done.wait(0.002):
            memory[:] = (max(most, now - then) for most, now, then in zip(memory, pages(), before, strict=True))

    watching = threading.Thread(target=watch)
    watching.start()
    for found in WAYS[way](pattern, threads):
        size += found.nbytes
    del found
    done.set()
    watching.join()
    # The kernel keeps the largest number of pages itself.
    memory[0] = max(memory[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before[0])
    best = None
    for _ in range(ROUNDS):
        began = time.perf_counter()
        collections.deque(WAYS[way](pattern, threads), maxlen=0)
        taken = time.perf_counter() - began
        best = taken if best is None else min(best, taken)
    sums = [
        [len(found), *(float(ak.sum(found[name])) for name in sorted(found.fields))]
        for found in WAYS[way](pattern, threads)
    ]
    total = np.sum(sums, axis=0).tolist()
    print(json.dumps({"seconds": best, "memory": [bytes / size for bytes in memory], "total": total}))


def main(folder):
    for name, (files, entries) in {"small": SMALL, "large": LARGE}.items():
        pattern = written(folder, name, files, entries)
        totals = {}
        print(
            f"\n{files} files of {entries} entries\n\n| way | threads | seconds | memory / result | without pages of files |"
            "\n| --- | ---: | ---: | ---: | ---: |"
        )
        for threads in (1, 2):
            for way in WAYS:
                if "uproot" in way and threads > 1:
                    continue
                command = [sys.executable, __file__, "--one", way, pattern, str(threads)]
                out = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                totals[way, threads] = out["total"]
                memory = " | ".join(f"{ratio:.2f}" for ratio in out["memory"])
                print(f"| {way} | {threads} | {out['seconds']:.3f} | {memory} |", flush=True)
        first = next(iter(totals.values()))
        assert all(np.allclose(total, first) for total in totals.values()), totals


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    elif len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as made:
            main(made)
