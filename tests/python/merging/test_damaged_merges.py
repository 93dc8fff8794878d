"""Damaged ROOT files that are merged, cut, compressed anew and checked: an error or a file, and never a panic."""

import os
import random

import numpy as np
import pytest
from conftest import DATA

import forthwith

# Trees with pointers, references and many kinds of branches, and histograms.
NAMES = ["clones.root", "containers.root", "arrays-apart.root", "pointers.root", "histograms.root", "efficiencies.root"]
# More of them by hand.
ROUNDS = int(os.environ.get("FORTHWITH_MUTATIONS", "6"))


def damaged(dice, raw):
    """The bytes with a few of them changed, mostly to numbers that are too large."""
    raw = bytearray(raw)
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(raw) - 4)
        how = dice.randrange(4)
        if how == 0:
            raw[at] ^= 1 << dice.randrange(8)
        elif how == 1:
            raw[at] = dice.randrange(256)
        else:
            number = dice.choice([0x7FFFFFF0, 0xFFFFFFFF, 0x80000003, 0x6B000400, dice.randrange(1 << 16)])
            raw[at : at + 4] = number.to_bytes(4, "big")
    return bytes(raw)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_copied_or_refused(tmp_path, name):
    plain, bad, out = (tmp_path / part for part in ("plain.root", "bad.root", "out.root"))
    # Without compression, so that damage reaches the objects.
    forthwith.merge(DATA / name, plain, compression=None)
    raw = plain.read_bytes()
    dice = random.Random(name + str(ROUNDS))
    for _ in range(ROUNDS):
        bad.write_bytes(damaged(dice, raw))
        inputs = dice.choice([[bad], [bad, plain], [plain, bad], [bad, bad]])
        entries = dice.choice([None, slice(1, 3), [0, 2], np.array([True, False, True])])
        compression = dice.choice(["default", "zlib"])
        try:
            forthwith.merge(inputs, out, entries=entries, compression=compression, common=dice.random() < 0.5)
        except forthwith.ForthwithError:
            assert not out.exists()
            continue
        with forthwith.open(out) as file:
            file.keys()
        out.unlink()


@pytest.mark.parametrize("place", ["x", "y", "z"])
@pytest.mark.parametrize("bins", [0x6B000400, 0x7FFFFFFF, -1, 1 << 20])
def test_axes_that_claim_other_bins_cost_nothing(tmp_path, place, bins):
    """An axis that claims more bins than the histogram has numbers is an error, or without meaning beyond the dimensions."""
    resource = pytest.importorskip("resource")
    good, bad, out = (tmp_path / part for part in ("good.root", "bad.root", "out.root"))
    with forthwith.recreate(good, compression=None) as file:
        file["h"] = np.histogram(np.arange(50.0), bins=5, range=(0.0, 50.0))
    raw = bytearray(good.read_bytes())
    begin = {"x": 5, "y": 1, "z": 1}[place].to_bytes(4, "big")
    limits = np.array([0.0, 50.0 if place == "x" else 1.0], ">f8").tobytes()
    at = raw.rfind(begin + limits) if place == "z" else raw.find(begin + limits)
    assert at > 0
    raw[at : at + 4] = bins.to_bytes(4, "big", signed=True)
    bad.write_bytes(raw)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for inputs in ([bad, good], [good, bad], [bad, bad]):
        if place == "x":
            with pytest.raises((forthwith.DamagedFileError, forthwith.UnsupportedError), match="bins"):
                forthwith.merge(inputs, out)
            continue
        forthwith.merge(inputs, out)
        with forthwith.open(out) as file:
            assert file["h"].values().tolist() == [20.0] * 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10
