"""Random requests of `forthwith.uproot.concatenate`, which are answered at once and file by file.

Run with a number of seeds and the first one: ``python random_uproot_chains.py 1000 0``.
"""

import pathlib
import random
import sys
import tempfile

import awkward as ak
import numpy as np

from forthwith import uproot
from forthwith.uproot import _alike, _many


def trees(folder, rng):
    """Files with a tree or an ntuple each: mostly alike, some with other branches or types, without entries, or damaged."""
    names = []
    are_alike = rng.random() < 0.7
    kinds = rng.choice([["mktree"], ["mktree"], ["mkrntuple"], ["mktree", "mkrntuple"]])
    for number in range(rng.randint(2, 5)):
        length = rng.choice([0, 1, 3, 10, 20, 20, 30, 50])
        lists = [[rng.randint(0, 9) for _ in range(rng.randint(0, 3))] for _ in range(length)]
        columns = {
            "i": np.array([rng.randint(-9, 9) for _ in range(length)], "i4"),
            "f": np.array([rng.random() * 10 for _ in range(length)], "f8"),
            "a": np.array([[rng.randint(0, 9)] * 3 for _ in range(length)], "i2").reshape(length, 3),
            "l": ak.values_astype(ak.Array([*lists, [0]])[:length], "float32"),
            "s": ak.Array([*(rng.choice(["", "é", "abc"]) for _ in range(length)), ""])[:length],
        }
        odd = 0.5 if are_alike else rng.random()
        if odd < 0.1:
            columns.pop(rng.choice(["i", "l", "s"]))
        elif odd < 0.2:
            columns["more"] = columns["i"]
        elif odd < 0.3:
            columns["i"] = columns["i"].astype(rng.choice(["i8", "f4"]))
        elif odd < 0.35:
            columns = dict(reversed(columns.items()))
        path = folder / f"{number}.root"
        with uproot.recreate(path) as file:
            getattr(file, rng.choice(kinds))("t", columns)
        if odd > 0.95 and length:
            data = bytearray(path.read_bytes())
            at = len(data) // 3
            data[at : at + 40] = bytes(40)
            path.write_bytes(data)
        names.append(f"{path}:t")
    return names


def request(rng, length):
    """Positional arguments and options of a call."""
    options = {"library": rng.choice(["ak", "ak", "ak", "np", "pd"])}
    expressions = rng.choice(
        [None, "i", ["f", "l"], ["a", "s"], ["i", "i"], "i*2", ["l+f", "i"], ["l[:, 0:1]"], "nope"]
    )
    cut = rng.choice([None, None, None, None, "i > 0", "l > 4", "f < i", "i"])
    if expressions is None and rng.random() < 0.5:
        options["filter_name"] = rng.choice(["i", "[if]", ["l", "a"], "/F|I/i", lambda name: name < "j"])
    if rng.random() < 0.2:
        options["aliases"] = {"x": "i + f"}
        expressions = rng.choice(["x", ["x", "l"], expressions])
    if rng.random() < 0.3:
        options["how"] = rng.choice([tuple, list, dict, "zip"])
    for name in ("entry_start", "entry_stop"):
        if rng.random() < 0.15:
            options[name] = rng.randint(-length, length + 3)
    if rng.random() < 0.2:
        options["allow_missing"] = True
    return (expressions, cut), options


def outcome(call):
    """The result, or the type and the text of the error."""
    try:
        return call(), None
    except Exception as error:  # any: it is compared
        return None, (type(error), str(error))


def values(series):
    """The values of a column of pandas, as texts: NaN stands for missing ones."""
    return [str(value.tolist() if hasattr(value, "tolist") else value) for value in series]


def plain(values):
    """Values as lists, also those of arrays within."""
    return (
        [plain(value) if isinstance(value, np.ndarray) else value for value in values.tolist()] if len(values) else []
    )


def same(one, other):
    """Whether two results have the same types and values."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, ak.Array):
        return one.type == other.type and one.to_list() == other.to_list()
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and plain(one) == plain(other)
    if hasattr(one, "dtypes"):
        columns = [[found[name] for name in found] if found.ndim == 2 else [found] for found in (one, other)]
        kinds = [[str(found.dtypes), type(found.index), found.index.tolist()] for found in (one, other)]
        is_same = type(one) is type(other) and kinds[0] == kinds[1]
        return is_same and all(same(*map(values, pair)) for pair in zip(*columns, strict=True))
    return one == other


def compare(seed):
    """Compares the two ways for some random files. Returns how many requests were answered at once."""
    rng = random.Random(seed)
    at_once = 0
    with tempfile.TemporaryDirectory() as folder:
        files = trees(pathlib.Path(folder), rng)
        for _ in range(8):
            positional, options = request(rng, 60)
            found, whole = [], _alike.AlikeTrees.arrays

            def spying(*args, whole=whole, found=found, **given):
                found.append(whole(*args, **given))
                return found[-1]

            def call(positional=positional, options=options):
                return uproot.concatenate(files, *positional, **options)

            _alike.AlikeTrees.arrays = spying
            try:
                new = outcome(call)
            finally:
                _alike.AlikeTrees.arrays = whole
            at_once += any(one is not None for one in found)
            of = _many.AlikeTrees.of
            _many.AlikeTrees.of = lambda *_: None
            try:
                old = outcome(call)
            finally:
                _many.AlikeTrees.of = of
            assert new[1] == old[1], (seed, positional, options, new, old)
            assert same(new[0], old[0]), (seed, positional, options, new[0], old[0])
    return at_once


if __name__ == "__main__":
    count, first = (int(text) for text in [*sys.argv[1:], "100", "0"][:2])
    print(sum(compare(seed) for seed in range(first, first + count)), "of", 8 * count, "requests were answered at once")
