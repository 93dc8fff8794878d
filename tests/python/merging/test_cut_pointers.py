"""Entries with pointers to objects, cut out of their baskets: what they lead to is the same, and damage is found."""

import os
import pathlib
import random
import re
import subprocess
import sys

import awkward as ak
import pytest
from conftest import DATA
from root_judge import ROOT_PYTHON, need_root

import forthwith

COMMAND = pathlib.Path(sys.executable).parent / "forthwith"
# Files whose entries name classes: pointers that are members, in containers, in arrays, of all items of a collection.
TREES = [
    ("arrays-apart.root", "t"),
    ("arrays-together.root", "t"),
    ("clones.root", "t"),
    ("containers.root", "whole"),
    ("containers.root", "once"),
    ("containers.root", "split"),
    ("containers.root", "apart"),
]


def values(path, tree):
    """Those of all branches that can be read, and for others why they cannot."""
    with forthwith.open(path) as file:
        read = {}
        for branch in file[tree].values(recursive=True):
            try:
                read[branch.path] = ak.to_list(branch.array())
            except forthwith.UnsupportedError:
                read[branch.path] = None
        return read


def check(path):
    """The code and the text of a check."""
    command = [sys.executable, "-W", "ignore", "-m", "forthwith", "check", str(path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(("name", "tree"), TREES)
def test_entries_lead_to_the_same_objects(tmp_path, name, tree):
    path, out = DATA / name, tmp_path / "part.root"
    before = values(path, tree)
    with forthwith.open(path) as file:
        count = file[tree].num_entries
    dice = random.Random(name)
    for kept in [[count - 1], list(range(1, count)), sorted(dice.sample(range(count), max(1, count // 2)))]:
        assert forthwith.merge(path, out, filter_object=tree, entries=kept) == {tree: len(kept)}
        expected = {path: read and [read[entry] for entry in kept] for path, read in before.items()}
        # As text, in which numbers that are not a number are equal.
        assert repr(values(out, tree)) == repr(expected)
    code, said = check(out)
    assert code == 0, said


def test_tags_that_lead_nowhere_are_found(tmp_path):
    """Class tags and references of entries that were moved without them lead to other places, or out of the basket."""
    path, damaged = tmp_path / "plain.root", tmp_path / "damaged.root"
    forthwith.merge(DATA / "containers.root", path, filter_object="once", compression=None)
    assert check(path)[0] == 0
    raw = path.read_bytes()
    # Class tags of the entries: a byte count and a number with the highest bit, behind the name of their class.
    tags = [found.start() + 4 for found in re.finditer(rb"\x40\x00[\x00-\xff]{2}\x80\x00[\x00-\xff]{2}", raw)]
    tags = [at for at in tags if raw.rfind(b"\xff\xff\xff\xffPoint\0", max(0, at - 200), at) >= 0]
    chosen = tags[:: max(1, len(tags) // 3)]
    assert chosen
    for at in chosen:
        for number in (3, 0x7FFFFFF0):
            changed = bytearray(raw)
            changed[at : at + 4] = (0x80000000 | number).to_bytes(4, "big")
            damaged.write_bytes(changed)
            code, said = check(damaged)
            assert code != 0, said
            assert "a reference to something before" in said, said
            with pytest.raises((forthwith.DamagedFileError, forthwith.UnsupportedError), match="once"):
                forthwith.merge(damaged, tmp_path / "out.root", entries=slice(1, 24))
            assert not (tmp_path / "out.root").exists()


@pytest.mark.slow
def test_root_reads_random_entries_that_were_cut(tmp_path):
    """More of them by hand."""
    need_root()
    arguments = [
        ROOT_PYTHON,
        "-W",
        "ignore",
        DATA.parent / "generate" / "random_pointers.py",
        "1",
        "4",
        tmp_path,
        COMMAND,
    ]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(arguments, check=False, capture_output=True, text=True, timeout=300, env=environment)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-2000:]
    assert "are equal" in done.stdout
