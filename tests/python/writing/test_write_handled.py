"""Errors that a user handles, and tables that are taken away, while a file is written: all else is in it."""

import math
import subprocess
import sys

import awkward as ak
import numpy as np
import pytest
from root_judge import by_root

import forthwith

KEYS = """
file = ROOT.TFile(sys.argv[1])
keys = [(key.GetClassName(), key.GetName(), key.GetCycle()) for key in file.GetListOfKeys()]
trees = {}
for kind, name, cycle in keys:
    if kind == 'TTree':
        tree = file.Get(f'{name};{cycle}')
        trees[f'{name};{cycle}'] = [[tree.GetEntry(entry), tree.x][1] for entry in range(tree.GetEntries())]
print(json.dumps({'keys': keys, 'trees': trees}))
"""


def check(path):
    done = subprocess.run(
        [sys.executable, "-m", "forthwith", "check", path], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def rows(path, table="t"):
    check(path)
    with forthwith.open(path) as file:
        return file[table].arrays(["x", "y", "l"]).to_list()


def begun(file, kind):
    make = file.mktree if kind == "tree" else file.mkrntuple
    return make("t", {"x": "i4", "y": "f8", "l": "var * int64"})


def step(number):
    return {"x": [number], "y": [number / 2], "l": [[number] * (number % 3)]}


# What no step may be, beside a right one: a column is not there, or none of the table, or its values are others.
WRONG = [
    {"x": None},
    {"z": [1]},
    {"x": [1, 2]},
    {"y": [1, 2]},
    {"x": [None]},
    {"y": [None]},
    {"x": [2**40]},
    {"y": ["text"]},
    {"l": [["text"]]},
    {"l": [[None]]},
    {"l": [1.5]},
    {"l": [[0.5]]},
    {"l": 7},
    {"y": [[1.5]]},
]


def attempts(table, first):
    """Extends a table by right steps, each behind one that is refused; answers what was taken."""
    taken = []
    for number, wrong in enumerate(WRONG, first):
        right = step(number)
        given = {name: value for name, value in (right | wrong).items() if value is not None}
        with pytest.raises((forthwith.ForthwithError, ValueError, TypeError)):
            table.extend(given)
        table.extend(right)
        taken.append({name: values[0] for name, values in right.items()})
    return taken


def judged(path, kind, expected):
    assert rows(path) == expected
    if kind == "tree":
        (found,) = by_root(KEYS, path)["trees"].values()
        assert found == [row["x"] for row in expected]


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
def test_a_refused_step_leaves_a_table_as_it_was(tmp_path, kind):
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        expected = attempts(begun(file, kind), 1)
    with forthwith.update(path) as file:
        expected += attempts(file["t"], 50)
    judged(path, kind, expected)


def test_a_refused_step_leaves_a_tree_with_more_branches_as_it_was(tmp_path):
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        file["t"] = {"x": np.zeros(2, "i4")}
    with forthwith.update(path) as file:
        tree = file["t"]
        tree.add_branches({"y": [0.0, 0.5]})
        for wrong in ({"y": [0.0, 0.5]}, {"l": [[1]]}, {"l": [None, [1]]}, {"a/b": [1, 2]}):
            with pytest.raises(forthwith.ForthwithError):
                tree.add_branches(wrong)
        tree.add_branches({"l": ak.Array([[1], []])}, jagged="vector")
        expected = [{"x": 0, "y": 0.0, "l": [1]}, {"x": 0, "y": 0.5, "l": []}, *attempts(tree, 1)]
    judged(path, "tree", expected)


def test_a_refused_step_leaves_an_ntuple_with_more_fields_as_it_was(tmp_path):
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        file.mkrntuple("t", {"x": "i4"}).extend({"x": [0, 0]})
    with forthwith.update(path) as file:
        ntuple = file["t"]
        ntuple.add_fields({"y": "f8"})
        for wrong in ({"y": "f8"}, {"l": "no type"}):
            with pytest.raises(forthwith.ForthwithError):
                ntuple.add_fields(wrong)
        ntuple.add_fields({"l": "var * int64"})
        expected = [{"x": 0, "y": 0.0, "l": []}] * 2 + attempts(ntuple, 1)
    judged(path, "ntuple", expected)


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
@pytest.mark.parametrize("cycles", [1, 2])
@pytest.mark.parametrize("extended", [False, True])
def test_a_table_that_is_taken_away_is_gone(tmp_path, kind, cycles, extended):
    """Its record does not come back, nor go with that of another cycle; what would be added to it is refused."""
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        file["other"] = 1
    for number in range(cycles):
        with forthwith.update(path) as file:
            begun(file, kind).extend(step(10 + number))
    with forthwith.update(path) as file:
        table = file["t"]
        if extended:
            table.extend(step(20))
        del file["t"]
        with pytest.raises(forthwith.RequestError, match="closed"):
            table.extend(step(21))
        if cycles == 1:
            with pytest.raises(KeyError):
                file["t"]
        else:
            file["t"].extend(step(22))
    keys = [tuple(key) for key in by_root(KEYS, path)["keys"]]
    others = [("TParameter<Long64_t>", "other", 1)]
    name = "TTree" if kind == "tree" else "ROOT::RNTuple"
    assert keys == others + ([(name, "t", 2)] if cycles == 2 else [])
    if cycles == 2:
        judged(path, kind, [{name: values[0] for name, values in step(number).items()} for number in (10, 22)])
    check(path)


def test_a_table_of_a_name_that_was_taken_away_is_a_new_one(tmp_path):
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        begun(file, "tree").extend(step(1))
    with forthwith.update(path) as file:
        file["t"].extend(step(2))
        del file["t"]
        begun(file, "tree").extend(step(3))
    judged(path, "tree", [{"x": 3, "y": 1.5, "l": []}])


NUMBERS = {
    "?uint8": [-9, 256, 0.5, math.nan, math.inf],
    "?int32": [2**31, 0.5, math.nan, -math.inf],
    "?bool": [2, -1, math.nan],
    "?uint64": [-1, 0.25],
    "?float32": [1e300],
}


REFUSED = "(for|in place of) missing values of type"


def begun_with_missing(file, begin, kind, **options):
    table = getattr(file, begin)("t", {"x": kind}, **options)
    table.extend({"x": ak.enforce_type(ak.Array([None]), kind)})


@pytest.mark.parametrize("kind", list(NUMBERS))
def test_missing_values_become_numbers_that_the_type_has(tmp_path, kind):
    for number in NUMBERS[kind]:
        for begin in ("mktree", "mkrntuple"):
            path = tmp_path / "a.root"
            with forthwith.recreate(path) as file, pytest.raises(forthwith.UnsupportedError, match=REFUSED):
                begun_with_missing(file, begin, kind, nulls=number)
    right = 1
    with forthwith.recreate(path) as file:
        file.mktree("t", {"x": kind}, nulls=right).extend({"x": ak.enforce_type(ak.Array([None]), kind)})
    with forthwith.open(path) as file:
        assert file["t/x"].array().to_list() == [1]


def test_columns_of_one_name_are_refused(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "a.root"
    for names in ([1, "1"], ["a", "a"]):
        frame = pd.DataFrame([[1, 2], [3, 4]], columns=names)
        several = f"several columns have the name '{names[1]}'"
        with pytest.raises(forthwith.RequestError, match=several), forthwith.recreate(path) as file:
            file["t"] = frame
        with pytest.raises(forthwith.RequestError, match="several columns"), forthwith.recreate(path) as file:
            file.mkrntuple("t", frame)
    with pytest.raises(forthwith.RequestError, match="several columns"), forthwith.recreate(path) as file:
        file["t"] = {1: [1], "1": [2]}


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
def test_steps_may_say_otherwise_what_the_first_arrays_said(tmp_path, kind):
    """Also where no types were announced, and in branches that were added."""
    path = tmp_path / "a.root"
    first = {"x": np.ones(2, "f4"), "y": np.ones(2, "i2"), "l": ak.Array([[1.5], []]), "s": ["a", "b"]}
    more = {"w": np.ones(2, "f4"), "v": ak.Array([[1.5], []])}
    later = {"x": [1.0], "y": [7], "l": [[2]], "s": ["c"]}
    with forthwith.recreate(path) as file:
        begin = file.mktree if kind == "tree" else file.mkrntuple
        begin("t", first).extend(later)
    if kind == "tree":
        with forthwith.update(path) as file:
            file["t"].add_branches({name: ak.concatenate([values, values[:1]]) for name, values in more.items()})
            file["t"].extend({**later, "w": [2.0], "v": [[3]]})
    check(path)
    with forthwith.open(path) as file:
        found = file["t"].arrays(list(first)).to_list()
        assert found[2:] == [{"x": 1.0, "y": 7, "l": [2.0], "s": "c"}] * (len(found) - 2)
        if kind == "tree":
            assert file["t"].arrays(["w", "v"]).to_list()[3:] == [{"w": 2.0, "v": [3.0]}]


@pytest.mark.parametrize("kind", ["replaced", "moved", "removed"])
def test_an_update_says_that_its_file_is_another_one_now(tmp_path, kind):
    """What was written is in no file that has the name: closing says so, and leaves the other file as it is."""
    path, other = tmp_path / "a.root", tmp_path / "b.root"
    for name in (path, other):
        with forthwith.recreate(name) as file:
            file["text"] = name.stem
    file = forthwith.update(path)
    file["more"] = "more"
    if kind == "replaced":
        other.replace(path)
    elif kind == "moved":
        path.rename(tmp_path / "c.root")
    else:
        path.unlink()
    with pytest.raises(forthwith.SourceError, match="removed or replaced"):
        file.close()
    if kind == "replaced":
        with forthwith.open(path) as found:
            assert found.keys() == ["text;1"]
            assert str(found["text"]) == "b"
    if kind == "moved":
        with forthwith.open(tmp_path / "c.root") as found:
            assert sorted(found.keys()) == ["more;1", "text;1"]


def test_tables_that_are_being_written_are_listed(tmp_path):
    """As the file lists them when it is closed."""
    path = tmp_path / "out.root"
    with forthwith.recreate(path) as file:
        file["d/t"] = {"x": np.arange(3)}
        file.mkrntuple("n", {"x": "f8"})
        assert file.classnames() == {"d;1": "TDirectory", "n;1": "ROOT::RNTuple"}
        assert file["d"].keys() == ["t;1"]
        assert "d/t" in file
        assert "n;1" in file
        assert "n;2" not in file
        with pytest.raises(forthwith.RequestError, match="'n' is a table that is being written"):
            del file["n"]
    with forthwith.update(path) as file:
        file["d"].mktree("t", {"x": "i8"})
        file["n"].extend({"x": [1.5]})
        assert file["d"].keys() == ["t;1", "t;2"]
        with pytest.raises(forthwith.KeyInFileError):
            del file["d/t;3"]
        assert [file["d"][key] for key in file["d"].keys()[1:]] == [file["d/t"]]
        assert file["n;1"] is file["n"]
        assert file["d;1"].path == "d"
        with pytest.raises(forthwith.KeyInFileError, match="can be read when it is closed"):
            file["d/t;1"]
        with pytest.raises(forthwith.RequestError, match="'d/t' is a table that is being written"):
            del file["d/t"]
        del file["d/t;1"]
        assert file["d"].keys() == ["t;1"]
        listed = file.keys()
    with forthwith.open(path) as file:
        assert file["d"].keys() == ["t;1"]
        assert listed == ["d;1", "n;1"]
        assert sorted(file.keys(recursive=False)) == ["d;1", "n;2"]


def test_cycles_tell_a_table_that_is_extended_from_what_has_its_name(tmp_path):
    path = tmp_path / "out.root"
    with forthwith.recreate(path) as file:
        file["t"] = {"x": np.arange(3)}
        file["q"] = 1
        file["a/t"] = {"x": np.arange(2)}
    with forthwith.update(path) as file:
        table = file["t"]
        file["t"] = np.histogram([1.0, 2.0])
        assert file["t;1"] is table
        assert file["t"] is table
        with pytest.raises(forthwith.KeyInFileError, match="can be read when it is closed"):
            file["t;2"]
        table.extend({"x": [7]})
        del file["t;2"]
        inner = file["a/t"]
        inner.extend({"x": [9]})
        for name in ("q;2", "t;99999999999999999999", "t;" + "9" * 5000, "a/t;2"):
            with pytest.raises(forthwith.KeyInFileError):
                del file[name]
            with pytest.raises(forthwith.KeyInFileError):
                file[name]
        del file["q"]
        del file["a/t"]
        file["a"].mktree("t", {"y": np.arange(1.0)})
    with forthwith.open(path) as file:
        assert file["t"].arrays().x.tolist() == [0, 1, 2, 7]
        assert file["a/t"].keys() == ["y"]
        assert "q" not in file


@pytest.mark.parametrize("first", ["hit", "_tm"])
def test_a_class_has_the_same_members_in_all_trees_of_a_file(tmp_path, first):
    """C++ ROOT reads all objects of a class by one description."""
    path = tmp_path / "out.root"
    named = {"hit": ak.Array([{"y": 1.5}], with_name="hit"), "_tm": [{"y": 1.5}]}[first]
    column = {"b" if first == "hit" else "tm": named}
    with forthwith.recreate(path) as file:
        file.mktree("t", {first: [{"x": 1}]}, records="class")
        with pytest.raises(forthwith.RequestError, match=f'(?s)class "{first}" for records.*t2'):
            file.mktree("t2", column, records="class")
        file.mktree("same", {first: [{"x": 2}]}, records="class")
    with forthwith.update(path) as file:
        with pytest.raises(forthwith.RequestError, match=f'class "{first}" for records'):
            file["t"].add_branches(column, records="class")
        with pytest.raises(forthwith.RequestError, match=f'class "{first}" for records'):
            file.mktree("t3", column, records="class")
        file["t"].extend({first: [{"x": 3}]})
    with forthwith.open(path) as file:
        assert sorted(file.keys(cycle=False, recursive=False)) == ["same", "t"]
        assert [array.tolist() for array in file["t"].arrays(library="np").values()] == [[1, 3]]
