"""A plan of ten thousand files, by names and by a pattern over files that are there: ``plans.py FOLDER [ROUNDS]``."""

import pathlib
import pickle
import statistics
import sys
import time

from data import files

from forthwith import engines

COUNT = 10_000


def main(folder, rounds):
    """Medians of time and bytes."""
    original = pathlib.Path(files(folder)[0].rsplit(":", 1)[0]).resolve()
    many = pathlib.Path(folder) / "many"
    many.mkdir(exist_ok=True)
    for at in range(COUNT):
        name = many / f"events-{at:05}.root"
        if not name.exists():
            name.symlink_to(original)
    names = [f"{many}/events-{at:05}.root:t" for at in range(COUNT)]
    for kind, given in {"a list": names, "a pattern": f"{many}/*.root:t"}.items():
        walls, processors = [], []
        for _ in range(rounds):
            wall, processor = time.perf_counter(), time.process_time()
            partitions = engines.plan(given, ["x0", "x1"], parts=1)
            walls.append(time.perf_counter() - wall)
            processors.append(time.process_time() - processor)
        assert len(partitions) == COUNT
        wall, processor = statistics.median(walls), statistics.median(processors)
        print(f"{kind}: {wall:.3f} s, {processor:.3f} s of processors, {len(pickle.dumps(partitions))} bytes pickled")
    began = time.process_time()
    partitions = engines.plan(names[:1000], ["x0", "x1"], step=None)
    spent = time.process_time() - began
    print(f"opening 1000 files of them: {spent:.3f} s of processors, {len(pickle.dumps(partitions))} bytes pickled")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7)
