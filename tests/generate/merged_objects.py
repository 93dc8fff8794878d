"""Graphs, stacks, lists, parameters and sparse histograms of C++ ROOT merged by forthwith, compared with what ``TFileMerger``, which is
``hadd``, makes of them.

Run by an interpreter with ROOT: ``python merged_objects.py SEED COUNT FOLDER COMMAND``, where ``COMMAND`` is the command
``forthwith``. All members are compared. Ends with the number of merged objects that are equal.
"""

import json
import random
import subprocess
import sys
from array import array
from pathlib import Path

import ROOT

ROOT.TH1.AddDirectory(False)

# How many arrays of numbers a graph of each class is made of.
GRAPHS = {"TGraph": 2, "TGraphErrors": 4, "TGraphAsymmErrors": 6, "TGraphBentErrors": 10}
SPARSE = ["THnSparseC", "THnSparseS", "THnSparseI", "THnSparseF", "THnSparseD", "THnC", "THnS", "THnI", "THnF", "THnD"]


def kept(value):
    """An object that Python does not delete, since others do."""
    ROOT.SetOwnership(value, False)
    return value


def graph(chance, kind, points):
    numbers = [array("d", [chance.uniform(-9, 9) for _ in range(points)]) for _ in range(GRAPHS[kind])]
    made = getattr(ROOT, kind)(points, *numbers) if points else getattr(ROOT, kind)()
    made.SetNameTitle("g", f"of {points} points")
    if points and chance.random() < 0.3:
        made.GetHistogram().GetXaxis().SetTitle("x")
    return kept(made)


def histogram(chance, name="h"):
    made = ROOT.TH1D(name, name, 4, 0, 4)
    for _ in range(chance.randint(0, 9)):
        made.Fill(chance.uniform(-1, 5))
    return kept(made)


def sparse(chance, kind, squares):
    bins, low, high = array("i", [3, 4]), array("d", [0, 0]), array("d", [3, 4])
    chunk = [3] if "Sparse" in kind else []
    made = getattr(ROOT, kind)("s", "s", 2, bins, low, high, *chunk)
    if squares:
        made.Sumw2()
    for _ in range(chance.choice([0, 1, 5, 30])):
        made.Fill(array("d", [chance.uniform(-1, 4), chance.uniform(-1, 5)]), 2 if squares else 1)
    return kept(made)


def parameter(chance, kind, mode):
    values = {"bool": [False, True], "int": range(-9, 9), "Long64_t": range(9), "float": [0.5, -2.5], "double": [1.5, 7.25, -3.0]}
    return kept(ROOT.TParameter[kind]("p", chance.choice(values[kind]), mode))


def item(chance, kind, depth):
    """What is in a collection at a place: of one class in all of them."""
    if kind == "histogram":
        return histogram(chance)
    if kind == "text":
        return kept(ROOT.TObjString(f"text {chance.random()}"))
    if kind == "named":
        return kept(ROOT.TNamed("n", f"title {chance.random()}"))
    if kind == "parameter":
        return parameter(chance, "int", "+")
    if kind in GRAPHS:
        return graph(chance, kind, chance.randint(0, 4))
    return collection(chance, kind[0], kind[1:])


def collection(chance, kind, kinds):
    made = getattr(ROOT, kind)()
    if kind == "TObjArray" and not kinds:
        return kept(made)
    for one in kinds:
        made.Add(item(chance, one, 0))
    return kept(made)


def kinds_of(chance, depth=0):
    """Which objects are in a collection, those of collections in it included."""
    kinds = ["histogram", "text", "named", "parameter", *GRAPHS]
    chosen = [chance.choice(kinds) for _ in range(chance.randint(1, 5))]
    if depth < 2 and chance.random() < 0.4:
        chosen.append((chance.choice(["TList", "TObjArray"]), *kinds_of(chance, depth + 1)))
    return chosen


def stack(chance, count):
    made = ROOT.THStack("stack", "a stack")
    for number in range(count):
        made.Add(histogram(chance, f"h{number}"))
    return kept(made)


def drawn(chance):
    """Objects of one kind, one for each file."""
    files = range(chance.randint(2, 4))
    what = chance.choice(["graph", "collection", "stack", "sparse", "sparse", "parameter"])
    if what == "graph":
        kind = chance.choice(list(GRAPHS))
        return [graph(chance, kind, chance.choice([0, 1, 5])) for _ in files]
    if what == "collection":
        kind, kinds = chance.choice(["TList", "THashList", "TObjArray"]), kinds_of(chance)
        return [collection(chance, kind, kinds) for _ in files]
    if what == "stack":
        count = chance.randint(1, 3)
        return [stack(chance, count) for _ in files]
    if what == "parameter":
        kind, mode = chance.choice(["bool", "int", "Long64_t", "float", "double"]), chance.choice("+*Mmfl")
        return [parameter(chance, kind, mode) for _ in files]
    kind, squares = chance.choice(SPARSE), chance.choice([[False], [True], [False, True]])
    # ROOT takes 1 from the sum of squares for each that has none behind one that has: they come first.
    return [sparse(chance, kind, square) for square in sorted(chance.choice(squares) for _ in files)]


def told(value):
    """All members. ROOT makes room for bins where it adds those of a histogram without entries: none are as many that are 0."""
    members = json.loads(str(ROOT.TBufferJSON.ToJSON(value)))
    for name in ("fArray", "fSumw2"):
        bins = members.get(name)
        if isinstance(bins, dict) and not any(bins["fData"]):
            bins["fData"] = []
    return members


def compare(what, values, folder, command, fault=None):
    """Merges objects in both ways."""
    paths = []
    for number, value in enumerate(values):
        paths.append(folder / f"{number}.root")
        file = ROOT.TFile(str(paths[-1]), "RECREATE")
        file.WriteObject(value, "o")
        file.Close()
    ours, theirs = folder / "ours.root", folder / "theirs.root"
    done = subprocess.run([command, "merge", *paths, "--output", ours, "--force"], capture_output=True, text=True, check=False)
    if fault:
        assert done.returncode and fault in done.stderr, f"{what}: {done.stderr}"
        return
    assert done.returncode == 0, f"{what}: {done.stderr}"
    merger = ROOT.TFileMerger(False, False)
    merger.OutputFile(str(theirs), "RECREATE")
    for path in paths:
        merger.AddFile(str(path))
    assert merger.Merge(), what
    files = [ROOT.TFile.Open(str(path)) for path in (ours, theirs)]
    found, expected = (told(file.Get("o")) for file in files)
    assert found == expected, f"{what}:\n{json.dumps(found)}\n{json.dumps(expected)}"
    for file in files:
        file.Close()


def faults():
    """What is refused: ROOT leaves out objects of these, or counts wrong."""
    chance = random.Random(0)
    lists = [collection(chance, "TList", kinds) for kinds in (["text"], ["text", "named"], ["histogram"])]
    twice = collection(chance, "TList", ["histogram"])
    twice.Add(twice.First())
    other = ROOT.THnSparseD("s", "s", 2, array("i", [3, 4]), array("d", [0, 0]), array("d", [6, 4]))
    return {
        "more objects": (lists[:2], "a TList of 2 objects to one of 1"),
        "other objects": (lists[::2], "adding a TH1D to a TObjString"),
        "one object twice": ([twice, twice], "an object that is in it more than once"),
        "other axes": ([sparse(chance, "THnSparseD", False), kept(other)], "from 0 to 6"),
    }


def main():
    """What is refused, and as many random objects as are asked for."""
    seed, count, folder, command = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    folder.mkdir(parents=True, exist_ok=True)
    ROOT.gErrorIgnoreLevel = ROOT.kError
    for what, (values, fault) in faults().items():
        compare(what, values, folder, command, fault)
    for one in range(seed, seed + count):
        compare(f"seed {one}", drawn(random.Random(one)), folder, command)
    print(f"{count} merged objects are equal")


if __name__ == "__main__":
    main()
