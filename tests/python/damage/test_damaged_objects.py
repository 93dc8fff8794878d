"""Histograms, graphs and other objects of files with a few wrong bytes: what is public answers or says what is wrong.

More and other damage: ``FORTHWITH_MUTANTS=5000 FORTHWITH_SEED=7 pytest tests/python/damage/test_damaged_objects.py``.
"""

import io
import os
import pathlib
import random
import resource
import struct
import warnings

import numpy as np
import pytest
from conftest import data

import forthwith

MUTANTS = int(os.environ.get("FORTHWITH_MUTANTS", "40"))
SEED = int(os.environ.get("FORTHWITH_SEED", "1"))
FILES = ["histograms.root", "efficiencies.root", "buffered.root", "own.root", "belongings.root"]
# Public methods that take arguments, with some of them.
ARGUMENTS = {
    "axis": (0,),
    "member": ("fName",),
    "has_member": ("fName",),
    "base": ("TNamed",),
    "members_of_type": (float,),
    "show": (60, 20, io.StringIO()),
    "interpolate": (0.5,),
}
NOT_CALLED = {"file", "count", "index", "get"}


def use(thing):
    """Everything that is public; repr and its kin may not raise at all."""
    assert isinstance(repr(thing), str)
    if hasattr(thing, "_repr_html_"):
        assert isinstance(thing._repr_html_(), str)
    for name in sorted({name for of in type(thing).__mro__ for name in vars(of) if not name.startswith("_")}):
        if name in NOT_CALLED:
            continue
        try:
            found = getattr(thing, name)
            if callable(found):
                found = found(*ARGUMENTS.get(name, ()))
        except forthwith.ForthwithError as error:
            said_well(error)
    for act in (len, list, bool, str, dir, hash):
        try:
            act(thing)
        except forthwith.ForthwithError:
            pass
        except TypeError as error:
            if not any(text in str(error) for text in ("has no len()", "not iterable", "unhashable")):
                raise


def said_well(error):
    """An error of ours is also one of Python's own."""
    own = (ValueError, KeyError, NotImplementedError, MemoryError, OSError, TypeError, ImportError)
    if not str(error) or not isinstance(error, own):
        raise AssertionError(f"{error!r} says too little") from error


def parts(thing, found):
    """The object, and those that its members lead to."""
    if not isinstance(thing, forthwith.Object) or any(thing is other for other in found) or len(found) > 60:
        return
    found.append(thing)
    members = list(thing.all_members.values())
    if thing._record.core.kind(thing._number) == "items":
        members = thing._record.core.items(thing._number, thing._record)
    for member in members:
        for inner in member if isinstance(member, list) else [member]:
            parts(inner, found)


def wrong(value, chance):
    """Another value, of the same type or of another."""
    if isinstance(value, np.ndarray) and chance.random() < 0.6:
        size = chance.choice([0, 1, len(value) // 2, max(0, len(value) - 1), len(value) + 1, 2 * len(value)])
        return np.resize(value, size) if len(value) and size else value[:0]
    if isinstance(value, int) and not isinstance(value, bool) and chance.random() < 0.7:
        return chance.choice([-1, 0, 1, 2, value + 1, value - 1, 2**31 - 1, -(2**31), 1 << 16, 1 << 26])
    if isinstance(value, float) and chance.random() < 0.7:
        return chance.choice([0.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e308, -value, 5e-324])
    if isinstance(value, list) and chance.random() < 0.6:
        return chance.choice([value[:-1], value[1:], value * 2, [], [None] * len(value)])
    other = [None, 0, -1, 2.5, "text", "", b"", [], [None], {}, (), np.zeros(3), np.zeros(0), np.array(["a"]), True]
    return chance.choice(other)


@pytest.mark.parametrize("name", FILES)
def test_damaged_objects_answer_or_say_what_is_wrong(name):
    """Members that are anything: as a file has it whose description or data are wrong."""
    chance = random.Random(f"{SEED} {name}")
    with warnings.catch_warnings(), np.errstate(all="ignore"), forthwith.open(data(name)) as file:
        warnings.simplefilter("ignore")
        keys = [key for key, of in file.classnames().items() if not of.startswith(("TTree", "TNtuple", "TDirectory"))]
        for number in range(MUTANTS if keys else 0):
            key = chance.choice(keys)
            found = file[key]
            if not isinstance(found, forthwith.Object):
                continue
            all_parts = []
            parts(found, all_parts)
            changed = []
            for _ in range(chance.choice([1, 1, 2, 5])):
                part = chance.choice(all_parts if chance.random() < 0.5 else all_parts[:1])
                if part._slots():
                    slot = chance.randrange(len(part._slots()))
                    part._values[slot] = wrong(part._value(slot), chance)
                    changed.append(f"{part.classname}.{part._slots()[slot]} = {part._values[slot]!r:.60}")
            try:
                for part in [found, *chance.sample(all_parts, min(3, len(all_parts)))]:
                    use(part)
            except BaseException as error:
                raise AssertionError(f"mutant {number} of {name}, {key}: {changed}: {error!r}") from error


@pytest.mark.parametrize("name", FILES)
def test_objects_of_files_with_wrong_bytes_answer_or_say_what_is_wrong(name):
    chance, whole = random.Random(f"{SEED} {name}"), pathlib.Path(data(name)).read_bytes()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(MUTANTS):
            bytes_of = bytearray(whole)
            for _ in range(chance.choice([1, 4, 16])):
                at = chance.randrange(64, len(whole) - 4)
                bytes_of[at : at + 4] = struct.pack(">i", chance.choice([-1, 0, 1, 2**31 - 1, chance.getrandbits(31)]))
            try:
                file = forthwith.open(io.BytesIO(bytes(bytes_of)))
                found = [file[key] for key in chance.sample(file.keys(), min(2, len(file.keys())))]
            except forthwith.ForthwithError:
                continue
            for thing in found:
                if isinstance(thing, forthwith.Object):
                    use(thing)


HISTOGRAMS = [
    key
    for key, name in forthwith.open(data("histograms.root")).classnames().items()
    if name.startswith(("TH", "TProf"))
]
CALLS = [
    "values",
    "variances",
    "errors",
    "to_numpy",
    "to_hist",
    "to_boost",
    "show",
    "_repr_html_",
    "__repr__",
    "tojson",
]


@pytest.mark.parametrize("bins", [2**31 - 1, 200_000_000, -5])
def test_a_number_of_bins_that_nothing_justifies_is_an_error_before_memory_is_had(bins):
    """Each axis of each histogram, patched in memory: what is read stays as it is."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with forthwith.open(data("histograms.root")) as file:
        for key in HISTOGRAMS:
            found = file[key]
            axes = found._given_axes if hasattr(found, "_given_axes") else found.axes
            for axis in axes:
                axis._values[axis._slot("fNbins")] = bins
            for axis in axes:
                for name in ("edges", "widths", "centers", "intervals"):
                    with pytest.raises(forthwith.ForthwithError, match="bins"):
                        getattr(axis, name)()
                assert "cannot be shown" in repr(axis)
            for name in CALLS:
                try:
                    act = getattr(found, name, None)
                    if act is None:
                        continue
                    said = act(file=io.StringIO()) if name == "show" else act()
                    assert name not in ("to_numpy", "to_hist", "to_boost") or "Sparse" in found.classname, said
                except forthwith.ForthwithError:
                    pass
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000
