"""Branches with slashes in their names: their leaves, by which C++ ROOT finds values, and indexes by them."""

import awkward as ak
import numpy as np
import pytest
from root_judge import by_root

import forthwith

LISTS = [ak.Array([[at * 10 + item for item in range((at + more) % 4)] for at in range(6)]) for more in range(2)]
# Two columns of each kind, whose leaves would have the same name, and a column that has the name of a numbered leaf.
COLUMNS = {
    "a/b": np.arange(6),
    "a_b": np.arange(6) + 100,
    "a/b_1": np.arange(6) + 200,
    "a_b_1": np.arange(6) + 300,
    "c/d": ak.values_astype(LISTS[0], "i4"),
    "c_d": ak.values_astype(LISTS[1], "i4"),
    "f/g": np.arange(12.0).reshape(6, 2),
    "f_g": np.arange(12.0).reshape(6, 2) + 100,
}

# The values of each leaf as `Draw` finds them by its name, with the name of its branch.
DRAW = """
import ROOT
ROOT.gErrorIgnoreLevel = ROOT.kError
def drawn(tree):
    found = {}
    for branch in tree.GetListOfBranches():
        leaf = branch.GetListOfLeaves()[0]
        count = tree.Draw(leaf.GetName(), '', 'goff')
        found[branch.GetName()] = [tree.GetV1()[at] for at in range(max(count, 0))]
    return found
file = ROOT.TFile.Open(sys.argv[1])
tree = file.Get('t')
read = drawn(tree)
names = [leaf.GetName() for leaf in tree.GetListOfLeaves()]
"""


def _flat(values):
    return np.asarray(ak.flatten(values, axis=None), "f8").tolist()


def _check(path, columns, copy):
    script = (
        DRAW
        + """
out = ROOT.TFile(sys.argv[2], 'recreate')
copy = tree.CloneTree()
out.WriteTObject(copy)
frame = ROOT.RDataFrame('t', sys.argv[1])
taken = {name: [int(value) for value in frame.Take['Long64_t'](name).GetValue()] for name in sys.argv[3:]}
print(json.dumps([read, names, taken]))
"""
    )
    numbers = [
        name for name, values in columns.items() if getattr(values, "ndim", 2) == 1 and isinstance(values, np.ndarray)
    ]
    read, names, taken = by_root(script, path, copy, *numbers)
    assert len(set(names)) == len(names), names
    assert {name: read[name] for name in columns} == {name: _flat(values) for name, values in columns.items()}
    assert taken == {name: columns[name].tolist() for name in numbers}
    # Branches without slashes have leaves of their names.
    assert {name for name in columns if "/" not in name} <= set(names)
    for name in (path, copy):
        with forthwith.open(f"{name}:t") as tree:
            for column, values in columns.items():
                assert tree[column].array().to_list() == ak.to_list(values), (name, column)


def test_leaves_have_names_of_their_own(tmp_path):
    path = tmp_path / "a.root"
    for order in (list(COLUMNS), list(reversed(COLUMNS))):
        columns = {name: COLUMNS[name] for name in order}
        with forthwith.recreate(path) as file:
            file.mktree("t", columns, slashes_in_names=True)
        _check(path, columns, tmp_path / "copy.root")


def test_branches_whose_name_a_leaf_has_are_not_added(tmp_path):
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        file.mktree("t", {"a/b": [1, 2]}, slashes_in_names=True)
    with (
        forthwith.update(path) as file,
        pytest.raises(forthwith.RequestError, match=r'"a_b", which is that of the leaf of the branch "a/b"'),
    ):
        file["t"].add_branches({"a_b": [1, 2]})


@pytest.mark.parametrize("taken", [False, True])
def test_indexes_have_the_names_of_leaves(tmp_path, taken):
    path = tmp_path / "a.root"
    runs, events = np.array([5, 3, 9, 1]), np.array([2, 4, 2, 7])
    more = {"in_run": np.zeros(4, "i8")} if taken else {}
    indexed = {"in/run": runs, "in/event": events, "x": runs * 10.0, **more}
    with forthwith.recreate(path) as file:
        options = {"index": ("in/run", "in/event"), "slashes_in_names": True}
        file.mktree("t", {name: values[:3] for name, values in indexed.items()}, **options)
        main = {
            "in/run": runs[[2, 3, 0]],
            "in/event": events[[2, 3, 0]],
            **{name: zeros[:3] for name, zeros in more.items()},
        }
        file.mktree("main", main, slashes_in_names=True)
    with forthwith.update(path) as file:
        file["t"].extend({name: values[3:] for name, values in indexed.items()})
    script = """
file = ROOT.TFile.Open(sys.argv[1])
t, main = file.Get('t'), file.Get('main')
index = t.GetTreeIndex()
found = [t.GetEntryNumberWithIndex(run, event) for run, event in json.loads(sys.argv[2])]
friend = []
main.AddFriend(t, 'f')
for entry in range(3):
    main.GetEntry(entry)
    friend.append(t.GetReadEntry())
print(json.dumps([found, friend, index.GetMajorName(), index.GetMinorName()]))
"""
    pairs = [[int(run), int(event)] for run, event in zip(runs, events, strict=True)]
    found, friend, major, minor = by_root(script, path, str(pairs))
    assert (found, friend) == ([0, 1, 2, 3], [2, 3, 0])
    assert (major, minor) == ("in_run_1" if taken else "in_run", "in_event")
    with forthwith.open(path) as file:
        read = file["main"].arrays(["f.x"], friends={"f": file["t"]})
        assert read["f.x"].to_list() == [90.0, 10.0, 50.0]
