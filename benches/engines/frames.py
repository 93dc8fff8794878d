"""Two columns and a filter, by polars over forthwith, and by uproot and conversion: ``frames.py FOLDER [ROUNDS]``.

Of files with three codecs: two columns of doubles, or a column of doubles and one of lists, with a filter that one entry
in forty passes and one that some pass; and of a hundred small files. Both sides have one thread, in
rounds in which they take turns; forthwith is told apart with two. Bytes are counted by a file object, in a reading of its
own, also of what DuckDB and DataFusion read of ``forthwith.dataset``.
"""

import io
import os
import pathlib
import statistics
import sys
import time

import awkward as ak
import datafusion
import duckdb
import numpy as np
import polars as pl
import uproot

import forthwith

ENTRIES = 2_000_000
CODECS = {"none": None, "LZ4": forthwith.LZ4(4), "ZSTD": forthwith.ZSTD(5)}
SQL = "select {} from events where number < 100000"


class Counted(io.BytesIO):
    """A file that counts what is read of it."""

    count = 0

    def read(self, *size):
        """Some bytes."""
        found = super().read(*size)
        self.count += len(found)
        return found

    def readinto(self, buffer):
        """The same, into a buffer."""
        count = super().readinto(buffer)
        self.count += count
        return count


def files(folder):
    """Trees of each codec, made if they are not there."""
    random = np.random.default_rng(5)
    columns = {f"x{at}": np.round(random.normal(size=ENTRIES), 3) for at in range(8)}
    columns["number"] = np.arange(ENTRIES)
    counts = random.integers(1, 5, ENTRIES)
    columns["pt"] = ak.unflatten(np.round(random.exponential(30, counts.sum()), 1).astype(np.float32), counts)
    made = {}
    for name, codec in CODECS.items():
        path = pathlib.Path(folder) / f"frames-{name}.root"
        if not path.exists():
            with forthwith.recreate(path, compression=codec) as file:
                file["t"] = columns
        made[name] = f"{path}:t"
    return made


def small(folder):
    """A hundred trees of a thousand entries."""
    random, names = np.random.default_rng(6), []
    for at in range(100):
        path = pathlib.Path(folder) / f"small-{at:02}.root"
        if not path.exists():
            with forthwith.recreate(path) as file:
                file["t"] = {f"x{column}": random.normal(size=1000) for column in range(20)}
        names.append(f"{path}:t")
    return names


def ours(names, column, above, threads):
    """By a lazy frame."""
    return forthwith.scan(names, threads=threads).filter(pl.col("x1") > above).select("x1", column).collect()


def theirs(names, column, above):
    """By uproot's arrays, which become frames that are filtered."""
    frames = []
    for name in names:
        with uproot.open(name) as tree:
            if column == "pt":
                found = pl.from_arrow(ak.to_arrow_table(tree.arrays(["x1", column]), extensionarray=False))
            else:
                found = pl.DataFrame(tree.arrays(["x1", column], library="np"))
        frames.append(found.filter(pl.col("x1") > above))
    return pl.concat(frames)


def bytes_read(name, act):
    """The bytes that are read of a file when something is done with its tree, and those of each column."""
    path, inner = name.rsplit(":", 1)
    counted = Counted(pathlib.Path(path).read_bytes())
    tree = forthwith.open(counted)[inner]
    stored = {key: tree._core.plan([tree._find(key)], 0, tree.num_entries).stored_bytes for key in tree.keys()}
    before = counted.count
    act(tree)
    return counted.count - before, stored


def by_polars(tree):
    """A filter of one column and another column."""
    return forthwith.scan(tree).filter(pl.col("x1") > 2).select("x0", "x1").collect()


def by_duckdb(tree):
    """The same in SQL."""
    events = forthwith.dataset(tree)  # noqa: F841 - the query names it
    return duckdb.sql(SQL.format("x0")).fetchnumpy()


def by_datafusion(tree):
    """The same in SQL."""
    context = datafusion.SessionContext()
    context.register_dataset("events", forthwith.dataset(tree))
    return context.sql(SQL.format("x0")).to_arrow_table()


def main(folder, rounds):
    """Rounds of both, and counted bytes."""
    names = files(folder)
    cases = [([name], codec, column, above) for codec, name in names.items() for column in ("x0", "pt") for above in (2, 4)]
    cases.append((small(folder), "small files", "x0", 2))
    for given, kind, column, above in cases:
            calls = {
                "forthwith": lambda: ours(given, column, above, 1),  # noqa: B023
                "two threads": lambda: ours(given, column, above, 2),  # noqa: B023
                "uproot": lambda: theirs(given, column, above),  # noqa: B023
            }
            assert calls["forthwith"]().to_dict(as_series=False) == calls["uproot"]().to_dict(as_series=False)
            clocks = {kind: [] for kind in calls}
            for _ in range(rounds):
                for which, call in calls.items():
                    wall, processor = time.perf_counter(), time.process_time()
                    call()
                    clocks[which].append((time.perf_counter() - wall, time.process_time() - processor))
            seconds = {kind: [statistics.median(times) for times in zip(*found, strict=True)] for kind, found in clocks.items()}
            (wall, processor), (two, _), (their_wall, their_processor) = seconds.values()
            print(
                f"{kind}, {column} where x1 > {above}: forthwith {wall * 1000:.0f} ms ({processor * 1000:.0f} of processors), two threads "
                f"{two * 1000:.0f} ms, uproot {their_wall * 1000:.0f} ms ({their_processor * 1000:.0f}): factors "
                f"{their_wall / wall:.1f} ({their_processor / processor:.1f}), two threads {their_wall / two:.1f}; "
                f"load {os.getloadavg()[0]:.1f}"
            )
    whole = os.path.getsize(names["ZSTD"].rsplit(":", 1)[0])
    for act, columns in ((by_polars, ("x0", "x1")), (by_duckdb, ("x0", "number")), (by_datafusion, ("x0", "number"))):
        count, stored = bytes_read(names["ZSTD"], act)
        print(f"{act.__name__}: {count} bytes of {whole}; the columns have {sum(stored[name] for name in columns)}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7)
