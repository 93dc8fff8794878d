"""Random trees of C++ ROOT with friends: which entry of a friend ROOT reads beside each entry of a tree or of a chain.

Run by an interpreter with ROOT: ``python random_friends.py SEED COUNT FOLDER``. Each case is a folder with files and
``case.json``: for each friend, the entry of it that belongs to each entry, or -1. ROOT is asked by ``LoadTree``, as
``TTreeReader``, ``TTree::Draw`` and RDataFrame do.
"""

import json
import os
import random
import sys
from array import array
from pathlib import Path

import ROOT

ROOT.gROOT.SetBatch(True)
ROOT.gErrorIgnoreLevel = ROOT.kFatal  # it says of each index that has a key twice
# Numbers that doubles have: ROOT computes those of the tree as doubles, and those of the friend's index exactly.
LARGE = 1 << 62
KEYS = {"B": ("b", range(-3, 4)), "i": ("I", range(6)), "I": ("i", range(-4, 5)), "L": ("q", [0, 1, 2**31, LARGE, LARGE + 1024, -LARGE])}
KEYS |= {"l": ("Q", [0, 1, 2**40, LARGE + 1024]), "D": ("d", [0.0, 1.0, 1.75, -2.5, 3.0])}


def keys(chance, kind, length):
    """Numbers of a kind, of which some repeat."""
    return [chance.choice(KEYS[kind][1]) for _ in range(length)]


def write(path, name, columns, index=None, friends=(), where=""):
    """Writes a tree: columns by names, with leaf types and values."""
    file = ROOT.TFile(path, "UPDATE")
    (file.mkdir(where, where, True) if where else file).cd()
    tree = ROOT.TTree(name, name)
    cells = {}
    for column, (kind, values) in columns.items():
        cells[column] = array(KEYS[kind][0], [0])
        tree.Branch(column, cells[column], f"{column}/{kind}")
        length = len(values)
    tree.SetAutoFlush(7)
    for at in range(length):
        for column, (_, values) in columns.items():
            cells[column][0] = values[at]
        tree.Fill()
    if index:
        tree.BuildIndex(*index)
    tree.Write()  # first, as a friend of the same file is looked for in it
    for friend in friends:
        tree.AddFriend(*friend)
    tree.Write("", ROOT.TObject.kOverwrite)
    file.Close()


def case(chance):
    """Writes one case into the present folder and answers what ROOT reads."""
    major, minor = chance.choice("BiILlD"), chance.choice("iIL")
    second = chance.choice(["minor", "minor", "0", "1"])
    length = chance.choice([0, 1, 5, 40])
    parts = [length] if chance.random() < 0.6 else [chance.choice([0, 3, 20]) for _ in range(chance.randint(2, 4))]
    total = sum(parts)
    indexed = chance.random() < 0.75
    lacks = indexed and chance.random() < 0.1
    rows = total if not indexed or lacks else chance.choice([1, 2, 10, 60])
    same = len(parts) == 1 and chance.random() < 0.4
    where = "sub" if same and chance.random() < 0.3 else ""
    spelled, called = ("b = fr", "b") if chance.random() < 0.4 else ("fr", "fr")
    columns = {"major": (major, keys(chance, major, rows)), "minor": (minor, keys(chance, minor, rows))}
    columns["y"] = ("I", list(range(rows)))
    file = "m0.root" if same else "f.root"
    write(file, "fr", columns, ("major", second) if indexed else None)
    kind = major if chance.random() < 0.5 or major in "lL" else "I"
    stored = len(parts) == 1 and chance.random() < 0.7
    for number, part in enumerate(parts):
        mine = {"x": ("I", list(range(part)))}
        if not lacks:
            mine |= {"major": (kind, keys(chance, kind, part)), "minor": ("L", keys(chance, "I", part))}
        friend = [(spelled,) if same else (spelled, chance.choice(["f.root", "./f.root"]))] if stored else []
        write(f"m{number}.root", "m", mine, friends=friend, where=where)
    chain = ROOT.TChain(f"{where}/m" if where else "m")
    for number in range(len(parts)):
        chain.Add(f"m{number}.root")
    opened = ROOT.TFile(file)
    beside = opened.Get("fr")
    if not stored:
        chain.AddFriend(beside, called)
    found = []
    for at in range(total):
        local = chain.LoadTree(at)
        tree = chain.GetTree()
        friend = (tree if stored else chain).GetFriend(called)
        if stored:
            tree.LoadTree(local)
        entry = friend.GetReadEntry()
        found.append(entry if 0 <= entry < rows else -1)
    files = [f"m{number}.root:{where}/m" if where else f"m{number}.root:m" for number in range(len(parts))]
    given = None if stored else f"{file}:fr"
    return {"files": files, "friend": called, "given": given, "entries": found, "rows": rows}


def main(seed, count, folder):
    for number in range(seed, seed + count):
        chance = random.Random(number)
        here = Path(folder) / str(number)
        here.mkdir()
        os.chdir(here)
        Path("case.json").write_text(json.dumps({"seed": number, **case(chance)}))
    print(count)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
