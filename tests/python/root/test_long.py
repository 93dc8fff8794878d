"""Baskets so long that threads share them in steps: what is read, whole or damaged, does not depend on the number of threads.

The file is made by C++ ROOT, since one as large is not kept: by the interpreter that ``FORTHWITH_ROOT_PYTHON`` names, or
else by ``.venv-root/bin/python``.
"""

import hashlib
import json
import random
import subprocess
import warnings

import awkward as ak
import numpy as np
import pytest
from conftest import TESTS
from root_judge import ROOT_PYTHON, need_root

import forthwith

LONG = 1_500_000
DAMAGES = 90
THREADS = (1, 2, 3)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The file, and what ROOT says of it."""
    need_root()
    folder = tmp_path_factory.mktemp("long")
    command = [ROOT_PYTHON, str(TESTS / "generate" / "long.py"), str(folder)]
    ran = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert ran.returncode == 0, ran.stdout[-2000:]
    return folder / "long.root", json.loads((folder / "long.root.baskets.json").read_text())


def read(path, branch, threads, errors="raise"):
    """All that can be seen of a column: its buffers, and what was lost, or else the error."""
    lost = []
    try:
        with forthwith.open(f"{path}:t") as tree:
            array = tree[branch].array(threads=threads, errors=errors, lost=lost)
    except forthwith.ForthwithError as error:
        return type(error), str(error)
    form, length, buffers = ak.to_buffers(array)
    digest = hashlib.sha256()
    for name, buffer in sorted(buffers.items()):
        digest.update(name.encode() + np.ascontiguousarray(buffer).tobytes())
    return form.to_json(), length, digest.digest(), [str(loss) for loss in lost]


def total(layout):
    """The sum of all numbers, and lengths of strings, in a packed layout."""
    if layout.is_numpy:
        return float(np.sum(layout.data, dtype=np.float64))
    if layout.parameter("__array__") == "string":
        return float(len(layout.content))
    return sum(total(part) for part in (layout.contents if layout.is_record else [layout.content]))


@pytest.mark.slow
def test_there_are_long_baskets_of_both_kinds(made):
    _, told = made
    long = {name for name, branch in told.items() if any(size > LONG for _, size in branch["baskets"])}
    assert len(long - {"rows_zstd", "words_lz4", "hits_zlib"}) == 8
    assert "rows_zstd" in long


def test_whole_baskets_are_the_same_with_any_number_of_threads(made):
    path, told = made
    for name, branch in told.items():
        first, *others = (read(path, name, threads) for threads in THREADS)
        assert len(first) == 4, (name, first)
        assert others == [first, first], name
        with forthwith.open(f"{path}:t") as tree:
            assert total(ak.to_packed(tree[name].array()).layout) == branch["sum"], name


def places(pick, kind, size):
    """Bytes to damage: any one; one at the beginning and one near the end; many, some of which say where entries are."""
    match kind:
        case 0:
            return [pick.randrange(size)]
        case 1:
            return [pick.randrange(120), size - 1 - pick.randrange(2000)]
        case _:
            return [pick.randrange(size) for _ in range(20)] + [size - 1 - pick.randrange(40_000) for _ in range(2)]


@pytest.mark.slow
def test_damaged_baskets_are_the_same_with_any_number_of_threads(made):
    path, told = made
    pick = random.Random(3)
    spots = [(name, *place) for name, branch in told.items() for place in branch["baskets"] if place[1] > 400_000]
    seen = dict.fromkeys(("whole", "refused", "lost"), 0)
    with warnings.catch_warnings(), path.open("r+b", buffering=0) as file:
        warnings.simplefilter("ignore", forthwith.DataLossWarning)
        for number in range(DAMAGES):
            name, begin, size = pick.choice(spots)
            errors = ("raise", "skip", "null")[number % 3]
            was = []
            for at in places(pick, number // 3 % 3, size):
                file.seek(begin + at)
                was.append((begin + at, file.read(1)))
                file.seek(begin + at)
                file.write(bytes([pick.choice((0, 255, pick.randrange(256)))]))
            first, *others = (read(path, name, threads, errors) for threads in THREADS)
            assert others == [first, first], f"damage {number} of {name}, errors={errors!r}: bytes {was}"
            seen["refused" if len(first) == 2 else "lost" if first[3] else "whole"] += 1
            for at, old in reversed(was):
                file.seek(at)
                file.write(old)
    # Most damage to numbers cannot be seen.
    assert min(seen.values()) > 3, seen
