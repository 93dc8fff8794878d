"""Two columns and a filter, by polars over forthwith, and by uproot and conversion: ``frames.py FOLDER [ROUNDS]``.

Of files with three codecs: two columns of doubles, or a column of doubles and one of lists, with a filter that one entry
in forty passes and one that some pass; and of a hundred small files. Both sides have one thread, in rounds in which they
take turns. *Least* is what no reader can do without, in the same rounds: decompressing the filter's column and the blocks
of the other one in which entries pass, by cramjam into one buffer (without a codec copying them), and the filter by polars
of a frame that is there. Then both with their defaults: forthwith with all processors, uproot's arrays by way of Awkward
Array and Arrow, as columns of lists need. Bytes are counted by a file object, in a reading of its own, also of what DuckDB
and DataFusion read of ``forthwith.dataset``.
"""

import io
import os
import pathlib
import statistics
import sys
import time

import awkward as ak
import cramjam
import datafusion
import duckdb
import numpy as np
import polars as pl
import uproot

import forthwith

ENTRIES = 8_000_000
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
    columns = {f"x{at}": np.round(random.normal(size=ENTRIES), 3) for at in range(4)}
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


def theirs(names, column, above, by_arrow=False):
    """By uproot's arrays, which become frames that are filtered."""
    frames = []
    for name in names:
        with uproot.open(name) as tree:
            if column == "pt" or by_arrow:
                found = pl.from_arrow(ak.to_arrow_table(tree.arrays(["x1", column]), extensionarray=False))
            else:
                found = pl.DataFrame(tree.arrays(["x1", column], library="np"))
        frames.append(found.filter(pl.col("x1") > above))
    return pl.concat(frames)


def blocks(name, column):
    """The first entry of each basket, the one behind its last, and its parts: codec, stored bytes and decompressed size."""
    path, inner = name.rsplit(":", 1)
    data = np.memmap(path, dtype=np.uint8, mode="r")
    tree = forthwith.open(path)[inner]
    branch = next(one for one in tree.as_object.member("fBranches") if one.member("fName") == column)
    count = branch.member("fWriteBasket")
    begins = [*np.asarray(branch.member("fBasketEntry"))[:count], tree.num_entries]
    found = []
    places = zip(np.asarray(branch.member("fBasketSeek")), np.asarray(branch.member("fBasketBytes")), strict=True)
    for at, (seek, size) in zip(range(count), places, strict=False):
        raw = data[seek : seek + size]
        length, behind = (int.from_bytes(raw[where].tobytes(), "big") for where in (slice(6, 10), slice(14, 16)))
        parts = [(b"", raw[behind:], length)] if size - behind == length else []
        while not parts or (parts[0][0] and behind < size):
            kind = raw[behind : behind + 2].tobytes()
            stored, out = (int.from_bytes(raw[behind + i : behind + i + 3].tobytes(), "little") for i in (3, 6))
            # A checksum stands before what LZ4 made.
            parts.append((kind, raw[behind + 9 + 8 * (kind == b"L4") : behind + 9 + stored], out))
            behind += 9 + stored
        found.append((begins[at], begins[at + 1], parts))
    return found


def decompress(found, buffer):
    """Decompresses baskets, one behind the other, into the same memory."""
    into = {b"ZS": cramjam.zstd.decompress_into, b"L4": cramjam.lz4.decompress_block_into, b"": np.copyto}
    for _, _, parts in found:
        at = 0
        for kind, stored, size in parts:
            if kind:
                into[kind](stored, buffer[at : at + size])
            else:
                np.copyto(buffer[at : at + size], stored)
            at += size


def least(name, column, above):
    """What no reader can do without, as a function."""
    frame = forthwith.open(name).arrays(["x1", column], library="pl")
    places = (frame["x1"] > above).arg_true().to_numpy()
    needed = [one for one in blocks(name, column) if np.searchsorted(places, one[0]) < np.searchsorted(places, one[1])]
    found = blocks(name, "x1") + needed
    buffer = np.zeros(max(sum(part[2] for part in one[2]) for one in found), np.uint8)

    def act():
        decompress(found, buffer)
        passed = frame["x1"] > above
        return frame["x1"].filter(passed), frame[column].filter(passed)

    return act


def bytes_read(name, act):
    """The bytes that are read of a file when something is done with its tree, and those of each column."""
    path, inner = name.rsplit(":", 1)
    counted = Counted(pathlib.Path(path).read_bytes())
    tree = forthwith.open(counted)[inner]
    stored = {key: tree._core.plan([tree._find(key)], 0, tree.num_entries).stored_bytes for key in tree}
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
            "uproot": lambda: theirs(given, column, above),  # noqa: B023
            "all processors": lambda: ours(given, column, above, None),  # noqa: B023
            "by Arrow": lambda: theirs(given, column, above, by_arrow=True),  # noqa: B023
        }
        if len(given) == 1:
            calls["least"] = least(given[0], column, above)
        assert calls["forthwith"]().to_dict(as_series=False) == calls["uproot"]().to_dict(as_series=False)
        clocks = {which: [] for which in calls}
        for _ in range(rounds):
            for which, call in calls.items():
                began = time.perf_counter()
                call()
                clocks[which].append((time.perf_counter() - began) * 1000)
        ms = {which: statistics.median(times) for which, times in clocks.items()}
        possible = f" of {ms['uproot'] / ms['least']:.1f} that are possible" if "least" in ms else ""
        print(
            f"{kind}, {column} where x1 > {above}: one thread {ms['forthwith']:.0f} ms, uproot {ms['uproot']:.0f} ms:"
            f" {ms['uproot'] / ms['forthwith']:.1f} times{possible}; defaults {ms['all processors']:.0f} and"
            f" {ms['by Arrow']:.0f} ms: {ms['by Arrow'] / ms['all processors']:.1f} times; load {os.getloadavg()[0]:.1f}"
        )
    whole = os.path.getsize(names["ZSTD"].rsplit(":", 1)[0])
    for act, columns in ((by_polars, ("x0", "x1")), (by_duckdb, ("x0", "number")), (by_datafusion, ("x0", "number"))):
        count, stored = bytes_read(names["ZSTD"], act)
        print(f"{act.__name__}: {count} bytes of {whole}; the columns have {sum(stored[name] for name in columns)}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7)
