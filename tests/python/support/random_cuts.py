"""Random cuts over random tables in all formats, in ranges, steps and chains, compared with entries chosen row by row.

``python tests/python/support/random_cuts.py 1 200`` compares that many cuts from a seed on.
"""

import pathlib
import random
import re
import sys
import tempfile

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from range_server import serving

import forthwith

OPERATORS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
WORDS = ["a", "ab", "abc", "b", "ba", "zz", "é", "z" * 70]


def table(chance, length):
    """Columns whose values drift with the entries, so that blocks differ; those with names in capitals lack some values."""
    width = chance.choice((1, 10, 100))
    drift = [at // chance.randint(5, 40) for at in range(length)]
    number = [value * width + chance.randint(0, width) for value in drift]
    odd = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0]
    floats = [chance.choice(odd) if chance.random() < 0.05 else value + chance.random() for value in drift]
    lists = [[value + chance.random() for _ in range(chance.choice((0, 0, 1, 3)))] for value in drift]

    def holes(items):
        return [None if chance.random() < 0.2 else item for item in items]

    text = [WORDS[min(value * 2, len(WORDS) - 2) + chance.randint(0, 1)] if value else "" for value in drift]
    unsigned = [chance.choice((0, 2**64 - 1, value)) for value in drift]
    return {
        "i": pa.array(number, pa.int32()),
        "u": pa.array(unsigned, pa.uint64()),
        "f": pa.array(np.array(floats, dtype=np.float32)),
        "d": pa.array(floats, pa.float64()),
        "b": pa.array([value % 3 == 0 for value in drift]),
        "s": pa.array(text, pa.string()),
        "l": pa.array(lists, pa.list_(pa.float64())),
        "I": pa.array(holes(number), pa.int64()),
        "D": pa.array(holes(floats), pa.float64()),
        "S": pa.array(holes(text), pa.string()),
        "L": pa.array(holes([holes(items) for items in lists]), pa.list_(pa.float64())),
    }


PLAIN = ("i", "u", "f", "d", "b", "l")


def cut(chance, names, rows, depth):
    """The text of a cut, and a function that gives True, False or None of a row."""
    kind = chance.random()
    if depth and kind < 0.4:
        (a, x), (b, y) = cut(chance, names, rows, depth - 1), cut(chance, names, rows, depth - 1)
        word = chance.choice(("and", "or", "&", "|", "&&", "||"))
        decides = word not in ("and", "&", "&&")
        return f"({a}) {word} ({b})", lambda row: joined(x(row), y(row), decides)
    if depth and kind < 0.5:
        a, x = cut(chance, names, rows, depth - 1)
        return f"not ({a})", lambda row: None if x(row) is None else not x(row)
    if kind > 0.95:
        name = chance.choice(names)
        # Of lists it is the items that may be missing.
        text = f"is_none({name}, axis=0)" if name in "lL" else f"is_none({name})"
        return text, lambda row: row[name] is None
    name, word = chance.choice(names), chance.choice(list(OPERATORS))
    compare = OPERATORS[word]
    some = [row[name] for row in chance.sample(rows, 5) if row[name] is not None]
    if name in "sS":
        value = chance.choice([*some, chance.choice(WORDS)])
        return f'{name} {word} "{value}"', lambda row: given(row[name], lambda x: compare(x.encode(), value.encode()))
    if name == "b":
        return "b", lambda row: row["b"]
    if name in "lL":
        value = round(chance.choice([item for items in some for item in items if item is not None] or [3.0]), 2)
        by, fold = chance.choice((("any", any), ("all", all), ("max", None), ("count", len)))
        if by == "count":
            value = chance.choice((0, 1, 2))
            return f"count({name}) {word} {value}", lambda row: given(
                row[name], lambda items: compare(sum(item is not None for item in items), value)
            )
        if by == "max":
            return f"max({name}) {word} {value}", lambda row: given(largest(row[name]), lambda x: compare(x, value))
        return f"{by}({name} {word} {value})", lambda row: given(
            row[name], lambda items: fold(compare(item, value) for item in items if item is not None)
        )
    value = chance.choice([*(x for x in some if np.isfinite(x)), 3])
    if name in "iIu":
        value = min(value + chance.choice((0, 0, 1, -1, 10**12)), 2**64 - 1)
        return f"{name} {word} {value}", lambda row: given(row[name], lambda x: compare(x, value))
    value = round(float(value), 3)
    way = chance.random()
    if way < 0.2:
        return f"abs({name} * 2) {word} {value}", lambda row: given(
            row[name], lambda x: compare(abs(as_type(name, x) * as_type(name, 2)), as_type(name, value))
        )
    if way < 0.3:
        return f"isnan({name})", lambda row: given(row[name], np.isnan)
    return f"{name} {word} {value}", lambda row: given(
        row[name], lambda x: compare(as_type(name, x), as_type(name, value))
    )


def as_type(name, x):
    """A number as the column has it."""
    return np.float32(x) if name == "f" else np.float64(x)


def given(value, of):
    """A function of a value, if there is one."""
    return None if value is None else bool(of(value))


def largest(items):
    """The largest item that there is."""
    return max((item for item in items or () if item is not None), default=None)


def joined(x, y, decides):
    """Both of them, or either: what one of them decides alone does not need the other."""
    if decides in (x, y):
        return decides
    return None if x is None or y is None else not decides


def written(chance, folder, columns, name):
    """The columns in a file of a random format, and the names of those it has."""
    form = chance.choice(("parquet", "parquet", "parquet", "avro", "tree", "ntuple", "arrow parts"))
    whole = pa.table(columns)
    block = chance.choice((1, 7, 30, 1000))
    path = f"{folder}/{name}"
    if form == "parquet":
        options = {
            "version": chance.choice(("1.0", "2.6")),
            "write_statistics": chance.choice((True, True, ["i", "d"])),
            # Pages of some rows each, and what an index says of them.
            "write_page_index": chance.random() < 0.6,
            "write_batch_size": chance.choice((1, 3, 20, 1024)),
            "data_page_size": chance.choice((1, 40, 200, 1 << 20)),
            "data_page_version": chance.choice(("1.0", "2.0")),
        }
        if options["version"] == "1.0":
            whole = whole.drop_columns(["u"])
        pq.write_table(whole, path, row_group_size=block, use_dictionary=chance.random() < 0.5, **options)
        return path, whole.column_names
    if form == "arrow parts":
        forthwith.parquet.write(path, whole, row_group_entries=block)
        return path, whole.column_names
    if form == "avro":
        whole = whole.drop_columns(["u"])
        forthwith.avro.write(path, whole)
        return path, whole.column_names
    arrays = {key: plain(columns[key]) for key in PLAIN}
    with forthwith.recreate(path) as file:
        if form == "tree":
            made = file.mktree("t", arrays, cluster_entries=block)
        else:
            made = file.mkrntuple("t", {key: array[:0] for key, array in arrays.items()})
            for at in range(0, len(whole), max(block, 20)):
                made.extend({key: array[at : at + max(block, 20)] for key, array in arrays.items()})
    return f"{path}:t", list(PLAIN)


def plain(column):
    """A column without missing values as an array."""
    items = column.to_pylist()
    if not pa.types.is_list(column.type):
        return column.to_numpy(zero_copy_only=False)
    return ak.unflatten(
        np.array([item for some in items for item in some], float), np.array([len(some) for some in items], int)
    )


def of_friend(text):
    """The same cut of columns that a friend has."""
    parts = re.split(r'("[^"]*")', text)
    return "".join(part if part[:1] == '"' else re.sub(r"\b([a-zA-Z])\b", r"p.\1", part) for part in parts)


def befriended(chance, folder, columns, rows):
    """A table of as many rows in a file of its own, backwards, and its rows."""
    path, names = written(
        chance, folder, {name: pa.concat_arrays([column[::-1]]) for name, column in columns.items()}, "f"
    )
    return forthwith.open(path), names, [{name: row[name] for name in names} for row in reversed(rows)]


def read(chance, opened, names, text, length, friends=None):
    """The entries that a cut leaves, by one of the ways to read them, and the range that was read."""
    start, stop = (
        sorted((chance.randint(0, length), chance.randint(0, length))) if chance.random() < 0.5 else (0, length)
    )
    bounds = {"entry_start": start, "entry_stop": stop, "friends": friends}
    name = chance.choice(names)
    columns = list(dict.fromkeys([name, "i"]))
    way = chance.choice(("arrays", "arrays", "iterate", "select", "stream", "count", "entries"))
    if way == "iterate":
        steps = list(opened.iterate(columns, cut=text, step_size=chance.choice((1, 13, 50, 10**6)), **bounds))
        found = ak.concatenate(steps) if steps else opened.arrays(columns, entry_stop=0, friends=friends)
    elif way == "select":
        found = opened.select(columns, cut=text, **bounds).arrays()
    elif way == "stream":
        found = ak.from_arrow(pa.table(opened.select(columns, cut=text, step_size=17, **bounds)))
    elif way == "count":
        found = opened.arrays(columns, cut=text, **bounds)
        assert opened.select(columns, cut=text, **bounds).num_entries == len(found)
    elif way == "entries":
        entries = sorted(chance.sample(range(length), chance.randint(0, length)))
        found = opened.arrays(columns, cut=text, entries=entries, **bounds)
        return found, columns, [at for at in entries if start <= at < stop]
    else:
        found = opened.arrays(columns, cut=text, threads=chance.choice((1, 3)), **bounds)
    return found, columns, range(start, stop)


def is_same(found, wanted):
    """Equal values, of which NaN is one."""
    if isinstance(wanted, list) or isinstance(found, list):
        return (
            isinstance(found, list)
            and isinstance(wanted, list)
            and len(found) == len(wanted)
            and all(map(is_same, found, wanted))
        )
    return repr(found) == repr(wanted)


def stored(server, path):
    """Where a server has a file: its name there, with the object in it."""
    name, colon, inner = path.partition(":")
    # The ending says where the name of the file ends.
    place = f"/{len(server.files)}.{'root' if colon else 'file'}"
    server.files[place] = pathlib.Path(name).read_bytes()
    return f"{place}{colon}{inner}"


def campaign(seed, count, each=10):
    """The differences, and how many cuts left some of the entries and not all."""
    problems, parted = [], 0
    with serving({}) as server:
        for part in range((count + each - 1) // each):
            chance = random.Random(f"{seed} {part}")
            length = chance.choice((1, 50, 300))
            columns = table(chance, length)
            with tempfile.TemporaryDirectory() as folder:
                path, names = written(chance, folder, columns, "a")
                rows = [
                    dict(zip(names, row, strict=True))
                    for row in zip(*(columns[name].to_pylist() for name in names), strict=True)
                ]
                paths = [path]
                if chance.random() < 0.3:  # a chain of a file with other blocks
                    more = {name: column.slice(0, length // 2) for name, column in columns.items()}
                    path, others = written(chance, folder, more, "b")
                    if set(others) >= set(names) or set(others) <= set(names):
                        names = [name for name in names if name in others]
                        rows += rows[: length // 2]
                        paths.append(path)
                if chance.random() < 0.2:
                    paths = [f"{server.url}{stored(server, path)}" for path in paths]
                opened = forthwith.open(paths if len(paths) > 1 else paths[0])
                beside = None
                if len(paths) == 1 and chance.random() < 0.4:
                    every = [
                        dict(zip(columns, row, strict=True))
                        for row in zip(*(c.to_pylist() for c in columns.values()), strict=True)
                    ]
                    beside, others, theirs = befriended(chance, folder, columns, every)
                for _ in range(each):
                    text, holds = cut(chance, names, rows[:length] if length >= 5 else rows * 5, 3)
                    friends, known, here = None, rows, names
                    if beside is not None:
                        friends = {"p": beside}
                        more, also = cut(chance, others, theirs if length >= 5 else theirs * 5, 2)
                        text = f"({text}) or ({of_friend(more)})"
                        known = [
                            row | {f"p.{name}": their[name] for name in others}
                            for row, their in zip(rows, theirs, strict=True)
                        ]
                        here = [*names, *(f"p.{name}" for name in others)]
                    found, read_columns, entries = read(chance, opened, here, text, len(rows), friends)
                    if beside is None:
                        wanted = [at for at in entries if holds(rows[at])]
                    else:
                        wanted = [at for at in entries if joined(holds(rows[at]), also(theirs[at]), True)]
                    parted += 0 < len(wanted) < len(entries)
                    for name in read_columns:
                        if not is_same(found[name].to_list(), [known[at][name] for at in wanted]):
                            problems.append(
                                f"[{seed} {part}] {name} with {text!r} of {paths}: {len(found)}, not {len(wanted)}"
                            )
    return problems, parted


if __name__ == "__main__":
    problems, parted = campaign(int(sys.argv[1]), int(sys.argv[2]))
    print("\n".join(problems[:40]))
    print(f"{len(problems)} differences, {parted} cuts left some")
    sys.exit(bool(problems))
