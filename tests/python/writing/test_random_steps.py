"""Random trees written in steps, extended, given more branches, merged and cut by forthwith, as C++ ROOT, uproot and forthwith
read them: equal to the bit.

``FORTHWITH_TREE_STEPS`` is a number of trees, and a seed behind a colon; each tree makes three files.
"""

import json
import os
import subprocess
import sys

import awkward as ak
import numpy as np
import pytest
from conftest import TESTS
from root_judge import ROOT_PYTHON, need_root

import forthwith

SCRIPT = TESTS / "generate" / "random_trees_written.py"
sys.path.insert(0, str(SCRIPT.parent))
from random_trees_written import numbers  # noqa: E402

NUMBERS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, 5e-324, 1e300]
CODECS = [None, "zlib", "lz4", "zstd", "lzma"]


class Column:
    """A type, how it is stored, and values of it."""

    def __init__(self, chance, name):
        self.name = name
        self.number = str(chance.choice(NUMBERS))
        self.shape = str(chance.choice(["number", "fixed", "jagged", "vector", "nested", "text", "texts"]))
        self.size = int(chance.integers(1, 4))
        if self.shape in ("vector", "nested") and self.number in ("int8", "uint8"):
            # Neither uproot nor ROOT's frames have such vectors as numbers.
            self.number = "int16"
        item = {
            "number": self.number,
            "fixed": f"{self.size} * {self.number}",
            "jagged": f"var * {self.number}",
            "vector": f"var * {self.number}",
            "nested": f"var * var * {self.number}",
            "text": "string",
            "texts": "var * string",
        }
        self.type = item[self.shape]
        self.kind = (
            "text" if "text" in self.shape else self.number if self.number in ("bool", "float32", "float64") else "int"
        )

    def draw(self, chance, length):
        if self.shape == "text":
            return self.texts(chance, length)
        if self.shape in ("number", "fixed"):
            size = (length, self.size) if self.shape == "fixed" else (length,)
            return ak.Array(self.flat(chance, int(np.prod(size))).reshape(size))
        counts = chance.integers(0, chance.choice([1, 3, 8]), length)
        inner = int(counts.sum())
        if self.shape == "texts":
            return ak.unflatten(self.texts(chance, inner), counts)
        if self.shape == "nested":
            more = chance.integers(0, 4, inner)
            return ak.unflatten(ak.unflatten(self.flat(chance, int(more.sum())), more), counts)
        return ak.unflatten(self.flat(chance, inner), counts)

    def texts(self, chance, length):
        drawn = ["ä" * int(chance.choice([0, 1, 5, 5, 5, 300])) + str(chance.integers(99)) for _ in range(length)]
        return ak.Array([*drawn, ""])[:length]

    def flat(self, chance, length):
        if self.number == "bool":
            return chance.integers(0, 2, length).astype(bool)
        kind = np.dtype(self.number)
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            return chance.integers(limits.min, limits.max, length, dtype=kind, endpoint=True)
        values = chance.normal(size=length)
        values[chance.random(length) < 0.1] = chance.choice(SPECIAL)
        with np.errstate(over="ignore"):
            return values.astype(kind)


def options(chance, columns):
    """Options of columns, some of them at random."""
    jagged = {column.name: "vector" for column in columns if column.shape == "vector"}
    drawn = {"jagged": jagged} if jagged else {}
    if chance.random() < 0.5:
        drawn["basket_bytes"] = int(chance.choice([50, 1000]))
    if chance.random() < 0.3:
        drawn["compression"] = {columns[0].name: CODECS[chance.integers(5)]}
    return drawn


def length(chance):
    return int(chance.choice([0, 1, 7, 100, 900]))


def write(path, seed):
    """A tree that gets its entries and branches in random steps. Answers its columns and their values."""
    chance = np.random.default_rng(seed)
    columns = [Column(chance, f"c{number}") for number in range(chance.integers(1, 7))]
    values = {column.name: [] for column in columns}

    def extend(tree):
        count = length(chance)
        given = {column.name: column.draw(chance, count) for column in columns}
        tree.extend(given)
        for name, array in given.items():
            values[name] += array.to_list()

    with forthwith.recreate(path, compression=CODECS[chance.integers(5)]) as file:
        more = {"cluster_entries": int(chance.choice([5, 300]))} if chance.random() < 0.3 else {}
        types = {column.name: column.type for column in columns}
        tree = file.mktree("t", types, **options(chance, columns), **more)
        for _ in range(chance.integers(0, 4)):
            extend(tree)
    for _ in range(chance.integers(0, 4)):
        with forthwith.update(path) as file:
            tree = file["t"]
            if chance.random() < 0.4:
                added = [Column(chance, f"c{len(columns) + number}") for number in range(chance.integers(1, 3))]
                given = {column.name: column.draw(chance, tree.num_entries) for column in added}
                types = {column.name: column.type for column in added}
                typed = {
                    name: ak.enforce_type(array, types[name]) if len(array) else array for name, array in given.items()
                }
                if tree.num_entries:
                    tree.add_branches(typed, **options(chance, added))
                    columns += added
                    values.update({name: array.to_list() for name, array in given.items()})
            else:
                for _ in range(chance.integers(1, 3)):
                    extend(tree)
    return columns, values


def describe(path, columns, values):
    """What the file's branches hold, for the script that compares."""
    branches = [
        {"name": column.name, "kind": column.kind, "values": numbers(column.kind, values[column.name])}
        for column in columns
        if column.name in values
    ]
    entries = max((len(branch["values"]) for branch in branches), default=0)
    path.with_suffix(".json").write_text(json.dumps({"entries": entries, "branches": branches}))


def make(folder, seed, number):
    """A tree, itself behind itself, and some entries and branches of both."""
    chance = np.random.default_rng(seed + 1_000_000)
    first, twice, some = (folder / f"{number + at}.root" for at in range(3))
    columns, values = write(first, seed)
    describe(first, columns, values)
    compression = chance.choice(["default", "zstd", "lz4"])
    forthwith.merge([first, first], twice, compression=str(compression))
    describe(twice, columns, {name: array * 2 for name, array in values.items()})
    total = 2 * len(values["c0"])
    mask = chance.random(total) < chance.choice([0.02, 0.5, 0.98])
    if chance.random() < 0.5:
        begin, end = sorted(chance.integers(0, total + 1, 2))
        mask = (np.arange(total) >= begin) & (np.arange(total) < end)
    kept = [column for column in columns if chance.random() < 0.7] or columns[:1]
    names = {column.name for column in kept}
    forthwith.merge([first, first], some, entries=mask, filter_name=lambda name: name in names)
    chosen = np.flatnonzero(mask).tolist()
    doubled = {name: values[name] * 2 for name in names}
    describe(some, kept, {name: [array[entry] for entry in chosen] for name, array in doubled.items()})


def compared(python, folder, reader):
    """What the script says, which has to find no difference."""
    command = [python, "-W", "ignore", SCRIPT, folder, reader]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.slow
def test_trees_that_are_written_in_steps_are_those_written_at_once(tmp_path):
    count, _, seed = os.environ.get("FORTHWITH_TREE_STEPS", "4").partition(":")
    for number in range(int(count)):
        try:
            make(tmp_path, int(seed or 1) + number, 3 * number)
        except Exception as error:
            error.add_note(f"seed {int(seed or 1) + number}")
            raise
    assert f"{3 * int(count)} files" in compared(sys.executable, tmp_path, "forthwith")
    need_root()
    compared(ROOT_PYTHON, tmp_path, "uproot")
    compared(ROOT_PYTHON, tmp_path, "root")
