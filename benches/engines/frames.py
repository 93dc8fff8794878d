"""Two columns and a filter, by polars over forthwith, and by uproot and conversion: ``frames.py FOLDER [ROUNDS]``.

Of files with three codecs: two columns of doubles, or a column of doubles and one of lists, with a filter that one entry
in forty passes and one that some pass; and of a hundred small files. Both sides have one thread, in rounds in which they
take turns, each in a process of its own: what one keeps of its memory, or gives back, is otherwise the other's. *Least* is
what no reader can do without, in the same rounds: of the filter's column and the blocks of the other one in which entries
pass reading what is stored, comparing the checksum that LZ4 has in ROOT, decompressing by cramjam and a copy into the
columns (numbers are stored in the other order of bytes, offsets with half the width), but of the other column only where more
than one entry in a thousand passes, or without a codec the reading alone; and the filter by polars of a frame that is there.
Then both with their defaults: forthwith with all processors, uproot's arrays by way of Awkward Array and Arrow, as columns of
lists need, and the least by as many threads. Bytes are counted by a file object, in a reading of its own, also of what DuckDB
and DataFusion read of ``forthwith.dataset``.
"""

import io
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import awkward as ak
import cramjam
import datafusion
import duckdb
import numpy as np
import polars as pl
import uproot
import xxhash

import forthwith

ENTRIES = 8_000_000
# Memory of columns that stays in a cache.
STEP = 8_000_000
THREADS = len(os.sched_getaffinity(0))
HERE = threading.local()
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
    paths = {name: pathlib.Path(folder) / f"frames-{name}.root" for name in CODECS}
    if not all(path.exists() for path in paths.values()):
        random = np.random.default_rng(5)
        columns = {f"x{at}": np.round(random.normal(size=ENTRIES), 3) for at in range(4)}
        columns["number"] = np.arange(ENTRIES)
        counts = random.integers(1, 5, ENTRIES)
        columns["pt"] = ak.unflatten(np.round(random.exponential(30, counts.sum()), 1).astype(np.float32), counts)
        for name, path in paths.items():
            with forthwith.recreate(path, compression=CODECS[name]) as file:
                file["t"] = columns
    return {name: f"{path}:t" for name, path in paths.items()}


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
    """Baskets: the first entry, the one behind the last, where numbers end, and parts: codec, place, stored length, size."""
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
        # Offsets stand behind the numbers, each with 32 bits.
        border = int.from_bytes(raw[behind - 5 : behind - 1].tobytes(), "big") - behind
        parts = [(b"", int(seek) + behind, length, length)] if size - behind == length else []
        while not parts or (parts[0][0] and behind < size):
            kind = raw[behind : behind + 2].tobytes()
            stored, out = (int.from_bytes(raw[behind + i : behind + i + 3].tobytes(), "little") for i in (3, 6))
            # A checksum stands before what LZ4 made.
            assert (
                kind != b"L4"
                or xxhash.xxh64_digest(raw[behind + 17 : behind + 9 + stored]) == raw[behind + 9 : behind + 17].tobytes()
            )
            before = 9 + 8 * (kind == b"L4")
            parts.append((kind, int(seek) + behind + before, stored + 9 - before, out))
            behind += 9 + stored
        found.append((begins[at], begins[at + 1], border, parts))
    return found


def decompress(file, found, columns):
    """Reads and decompresses baskets, one behind the other, and copies those that are wanted into the same memory."""
    into = {b"ZS": cramjam.zstd.decompress_into, b"L4": cramjam.lz4.decompress_block_into}
    longest = max((sum(size for *_, size in parts) for *_, parts, _ in found), default=0)
    # Whatever is new when it is written to costs more than that.
    memory = getattr(HERE, "memory", ())
    if len(memory) < 2 * longest:
        HERE.memory = memory = np.zeros(2 * longest, np.uint8)
    raw, buffer, place = memory[:longest], memory[longest:], 0
    for first, last, border, parts, is_copied in found:
        at = 0
        for kind, where, stored, size in parts:
            if kind:
                count = os.preadv(file, [raw[:stored]], where)
                assert count == stored
                if kind == b"L4":
                    xxhash.xxh64_intdigest(raw[:stored])
                into[kind](raw[:stored], buffer[at : at + size])
            else:
                count = os.preadv(file, [buffer[at : at + size]], where)
                assert count == size
            at += size
        if parts[0][0] and is_copied:
            place = place if place + 2 * at <= len(columns) else 0
            np.copyto(columns[place : place + border], buffer[:border])
            if at > border:
                count, place = last - first, -(-(place + border) // 8) * 8
                offsets = buffer[border + 4 : border + 4 + 4 * count].view("i4")
                np.copyto(columns[place : place + 8 * count].view("i8"), offsets)
                place += 8 * count
            else:
                place += border


def least(name, column, above, pool):
    """What no reader can do without by one thread, and by several, as functions."""
    frame = forthwith.open(name).arrays(["x1", column], library="pl")
    places = (frame["x1"] > above).arg_true().to_numpy()
    needed = [one for one in blocks(name, column) if np.searchsorted(places, one[0]) < np.searchsorted(places, one[1])]
    are_many = len(places) * 1000 > len(frame)
    found = [(*one, True) for one in blocks(name, "x1")] + [(*one, are_many) for one in needed]
    columns = [np.zeros(STEP, np.uint8) for _ in range(THREADS)]
    file = os.open(name.rsplit(":", 1)[0], os.O_RDONLY)

    def filtered(frame):
        passed = frame["x1"] > above
        if column != "pt":
            return frame["x1"].filter(passed), frame[column].filter(passed)
        places = pl.int_range(len(frame), dtype=pl.get_index_type(), eager=True).filter(passed)
        return frame["x1"].filter(passed), frame[column][places]

    def act():
        decompress(file, found, columns[0])
        return filtered(frame)

    def several():
        parts = [pool.submit(decompress, file, found[at::THREADS], columns[at]) for at in range(THREADS)]
        parts += [pool.submit(filtered, part) for part in frame.iter_slices(-(-len(frame) // THREADS))]
        return [part.result() for part in parts]

    return act, several


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


CASES = [(codec, column, above) for codec in CODECS for column in ("x0", "pt") for above in (2, 4)]
CASES.append(("small files", "x0", 2))


def call(folder, case, which):
    """One of the ways of a case, as a function."""
    kind, column, above = CASES[case]
    names = small(folder) if kind == "small files" else [files(folder)[kind]]
    if which.startswith("least"):
        return least(names[0], column, above, ThreadPoolExecutor(THREADS))[which == "least of all"]
    return {
        "forthwith": lambda: ours(names, column, above, 1),
        "uproot": lambda: theirs(names, column, above),
        "all processors": lambda: ours(names, column, above, None),
        "by Arrow": lambda: theirs(names, column, above, by_arrow=True),
    }[which]


def timed(folder, case, which):
    """Prints what a call takes in a process that has nothing else to do, and has made a call before: a median of five."""
    act, times = call(folder, case, which), []
    for _ in range(6):
        began = time.perf_counter()
        result = act()
        times.append((time.perf_counter() - began) * 1000)
        del result
    print(statistics.median(times[1:]))


def main(folder, rounds):
    """Rounds of processes, and counted bytes."""
    for case, (kind, column, above) in enumerate(CASES):
        found = {which: call(folder, case, which)().to_dict(as_series=False) for which in ("forthwith", "uproot")}
        assert found["forthwith"] == found["uproot"]
        ways = ["forthwith", "uproot", "all processors", "by Arrow"]
        ways += ["least", "least of all"] if kind in CODECS else []
        clocks = {which: [] for which in ways}
        for _ in range(rounds):
            for which in ways:
                command = [sys.executable, __file__, folder, "call", str(case), which]
                said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                clocks[which].append(float(said))
        ms = {which: statistics.median(times) for which, times in clocks.items()}
        one = f" of {ms['uproot'] / ms['least']:.1f} that are possible" if "least" in ms else ""
        several = f" of {ms['by Arrow'] / ms['least of all']:.1f}" if "least" in ms else ""
        print(
            f"{kind}, {column} where x1 > {above}: one thread {ms['forthwith']:.0f} ms, uproot {ms['uproot']:.0f} ms:"
            f" {ms['uproot'] / ms['forthwith']:.1f} times{one}; defaults {ms['all processors']:.0f} and"
            f" {ms['by Arrow']:.0f} ms: {ms['by Arrow'] / ms['all processors']:.1f} times{several}; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    name = files(folder)["ZSTD"]
    whole = os.path.getsize(name.rsplit(":", 1)[0])
    for act, columns in ((by_polars, ("x0", "x1")), (by_duckdb, ("x0", "number")), (by_datafusion, ("x0", "number"))):
        count, stored = bytes_read(name, act)
        print(f"{act.__name__}: {count} bytes of {whole}; the columns have {sum(stored[name] for name in columns)}")


if __name__ == "__main__":
    if sys.argv[2:3] == ["call"]:
        timed(sys.argv[1], int(sys.argv[3]), sys.argv[4])
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)
