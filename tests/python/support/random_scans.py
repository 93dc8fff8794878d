"""Random queries of `forthwith.scan` and `forthwith.dataset` over small files, which the chain reads, and tree after tree.

``python random_scans.py SEED COUNT`` compares both, also with files that differ or are damaged.
"""

import pathlib
import sys
import tempfile

import numpy as np
import polars as pl
import pyarrow.dataset as ds
from random_chain_steps import columns, damage, write

import forthwith
from forthwith import _lazy, _lazy_parts

ENDINGS = ["root", "rntuple.root", "avro", "parquet", "arrow"]
NAMES = ["x", "n", "l", "s", "n + 1"]
POLARS = [
    None,
    pl.col("n") > 500,
    pl.col("x") < 0,
    (pl.col("n") % 3 == 0) & (pl.col("x") > -0.5),
    pl.col("l").list.len() > 1,
    pl.col("s") == "t5",
    pl.col("n") < 0,
    pl.lit(True),
]
ARROW = [
    None,
    ds.field("n") > 500,
    (ds.field("x") < 0) & (ds.field("n") > 100),
    ds.field("s") == "t5",
    ds.field("n") < 0,
    ds.scalar(True),
]


def outcome(call):
    """The result, or the type and the text of the error."""
    try:
        return call(), None
    except Exception as error:  # any: it is compared
        return None, (type(error), str(error))


def query(random, names, chosen, missing):
    """A query, as a function without arguments."""
    step = None if random.random() < 0.6 else int(random.integers(1, 20))
    threads = None if random.random() < 0.7 else 1
    wanted = random.permutation(chosen or NAMES[:4])[: int(random.integers(1, 4))].tolist()
    head = None if random.random() < 0.7 else int(random.integers(1, 60))
    if random.random() < 0.5:
        condition = POLARS[int(random.integers(len(POLARS)))]

        def scanned():
            frame = forthwith.scan(names, chosen, step_size=step, threads=threads, missing=missing)
            frame = frame if head is None else frame.head(head)
            frame = frame if condition is None else frame.filter(condition)
            return frame.select(wanted).collect()

        return scanned, ("scan", missing, chosen, step, threads, wanted, head, str(condition))
    condition = ARROW[int(random.integers(len(ARROW)))]

    def tabled():
        made = forthwith.dataset(names, chosen, step_size=step, threads=threads, missing=missing)
        scanner = made.scanner(wanted, condition)
        return scanner.to_table() if head is None else scanner.head(head)

    return tabled, ("dataset", missing, chosen, step, threads, wanted, head, str(condition))


def same(one, other):
    """Whether two tables are equal."""
    if one is None or other is None:
        return one is other
    return one.equals(other)


def compare(seed, at):
    """Compares the two ways for some random files. Returns how many queries the chain answered."""
    random = np.random.default_rng((seed, at))
    answered = 0
    with tempfile.TemporaryDirectory() as folder:
        drifts, ending = random.random() < 0.3, ENDINGS[int(random.integers(len(ENDINGS)))]
        count = int(random.integers(2, 7))
        names = [write(folder, number, ending, columns(random, drifts)[0]) for number in range(count)]
        if random.random() < 0.1:
            damage(random, names[int(random.integers(count))])
        if random.random() < 0.1:
            names.append(str(pathlib.Path(folder) / "absent.root") + ":t")
        for _ in range(4):
            chosen = None if random.random() < 0.5 else random.permutation(NAMES)[: int(random.integers(1, 6))].tolist()
            ask, what = query(random, names, chosen, "null" if random.random() < 0.4 else "raise")
            made = []
            whole = _lazy_parts.SmallFiles.parts

            def spying(files, made=made, whole=whole):
                made.append(1)
                return whole(files)

            _lazy_parts.SmallFiles.parts = spying
            try:
                new = outcome(ask)
            finally:
                _lazy_parts.SmallFiles.parts = whole
            answered += bool(made)
            are_small = _lazy.are_small
            _lazy.are_small = lambda _: False
            try:
                old = outcome(ask)
            finally:
                _lazy.are_small = are_small
            assert new[1] == old[1], (seed, at, names, what, new, old)
            assert same(new[0], old[0]), (seed, at, names, what, new[0], old[0])
    return answered


if __name__ == "__main__":
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    print(sum(compare(seed, at) for at in range(count)), "of", 4 * count, "queries were answered by the chain")
