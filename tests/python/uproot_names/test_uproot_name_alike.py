"""Trees of several files that `forthwith.uproot` reads by the columns of one of them."""

import numpy as np
import pytest
import random_uproot_chains
import random_uproot_steps

import forthwith
from forthwith import _forthwith, uproot
from forthwith.uproot import _many, _tree_steps


@pytest.mark.parametrize("first", [0, 1000])
def test_what_is_read_at_once_is_what_each_file_has(first):
    at_once = sum(random_uproot_chains.compare(seed) for seed in range(first, first + 12))
    assert at_once > 10, "too few requests are read at once"


def test_files_with_the_same_branches_are_read_in_one_call(tmp_path, monkeypatch):
    names = []
    for number in range(1, 6):
        path = tmp_path / f"{number}.root"
        with uproot.recreate(path) as file:
            file.mktree("t", {"x": np.arange(number, dtype="i4")})
        names.append(f"{path}:t")
    calls = []
    read = _forthwith.read_alike
    monkeypatch.setattr(_forthwith, "read_alike", lambda *args, **options: calls.append(1) or read(*args, **options))
    expected = [x for number in range(1, 6) for x in range(number)]
    for library in ("ak", "np", "pd"):
        found = uproot.concatenate(names, "x", library=library)
        assert (found["x"] if library != "pd" else found.x).tolist() == expected
    found = uproot.concatenate(names, "x", "x > 1", entry_stop=-1)
    assert found["x"].tolist() == [x for x in expected[:-1] if x > 1]
    assert len(calls) == 4
    # Files without entries to read are looked at as well.
    assert uproot.concatenate(names, "x", entry_start=2)["x"].tolist() == expected[2:]
    # One that is open already, or a file without the name of its tree, is read by itself.
    with uproot.open(names[4]) as tree:
        assert uproot.concatenate([names[3], tree], "x")["x"].tolist() == [*range(4), *range(5)]
    assert uproot.concatenate([name[:-2] for name in names], "x")["x"].tolist() == expected
    assert len(calls) == 4


@pytest.mark.parametrize("first", [0, 1000])
def test_steps_of_a_schema_are_those_of_each_tree(first):
    saved = sum(random_uproot_steps.compare(seed) for seed in range(first, first + 12))
    assert saved > 30, "too many trees are opened"


def written(folder, kind, *lengths, **more):
    """Files with a tree or an ntuple, each of a given number of entries."""
    names = []
    for number, length in enumerate(lengths):
        path = folder / f"{number}.root"
        with uproot.recreate(path) as file:
            getattr(file, kind)("t", {"x": np.arange(length, dtype="i4"), **more})
        names.append(f"{path}:t")
    return names


@pytest.mark.parametrize("kind", ["mktree", "mkrntuple"])
def test_one_tree_of_a_schema_is_opened(tmp_path, monkeypatch, kind):
    names = written(tmp_path, kind, 3, 0, 4, 5)
    opened = []
    tree_of = _tree_steps.tree_of
    monkeypatch.setattr(_tree_steps, "tree_of", lambda *args: opened.append(tree_of(*args)) or opened[-1])
    steps = list(uproot.iterate(names, "x", step_size=3))
    assert [step["x"].tolist() for step in steps] == [[0, 1, 2], [0, 1, 2], [3], [0, 1, 2], [3, 4]]
    assert len(opened) == 1
    assert opened[0].closed
    # The tree of a step is opened when it is asked for, and closed behind its last step.
    reports = []
    for _, report in uproot.iterate(names, "x", step_size=3, report=True):
        reports.append(report)
        if len(reports) == 2:
            assert len(opened) == 2
            assert (report.tree.num_entries, report.file_path) == (4, names[2].removesuffix(":t"))
            assert report.tree is report.source
            assert not report.file.closed
    assert len(opened) == 3
    assert all(tree.closed for tree in opened)
    places = [(report.start, report.stop, report.tree_entry_start, report.global_offset) for report in reports]
    assert places == [(0, 3, 0, 0), (3, 6, 0, 3), (6, 7, 3, 3), (7, 10, 0, 7), (10, 12, 3, 7)]


def test_steps_in_bytes_follow_each_file(tmp_path):
    names = written(tmp_path, "mktree", 100, 100)
    path = tmp_path / "wide.root"
    with uproot.recreate(path) as file:
        tree = file.mktree("t", {"x": "i4"})
        for _ in range(100):
            tree.extend({"x": np.arange(1, dtype="i4")})
    names.append(f"{path}:t")
    size = 100
    found = [report for _, report in uproot.iterate(names, "x", step_size=f"{size} B", report=True)]
    for name in names:
        with uproot.open(name) as tree:
            step = tree.num_entries_for(f"{size} B", "x")
            assert 0 < step < 100
        places = [(one.tree_entry_start, one.tree_entry_stop) for one in found if f"{one.file_path}:t" == name]
        assert places == [(at, min(at + step, 100)) for at in range(0, 100, step)]


def test_damage_ends_steps_where_it_is(tmp_path):
    names = written(tmp_path, "mktree", 2000, 2000, 2000, y=np.random.default_rng(1).normal(size=2000))
    path = tmp_path / "1.root"
    content = bytearray(path.read_bytes())
    with forthwith.open(names[1]) as tree:
        at = tree._core.plan([1], 0, 2000).blocks()[0].stored_bytes
    content[len(content) // 2 - at // 4 : len(content) // 2 + at // 4] = bytes(at // 4 * 2)
    path.write_bytes(content)
    counts = []
    with pytest.raises(forthwith.ForthwithError, match=r"1\.root"):
        counts.extend(len(step) for step in uproot.iterate(names, ["y"], step_size=2000))
    assert counts == [2000]


def test_entries_are_counted_together(tmp_path, monkeypatch):
    names = written(tmp_path, "mktree", *range(1, 41))
    calls, opened = [], []
    count, tree_of = _forthwith.count_entries, _many.tree_of
    monkeypatch.setattr(_forthwith, "count_entries", lambda *args, **how: calls.append(1) or count(*args, **how))
    monkeypatch.setattr(_many, "tree_of", lambda *args: opened.append(1) or tree_of(*args))
    found = list(uproot.num_entries(names))
    assert found == [(name.removesuffix(":t"), "t", at) for at, name in enumerate(names, 1)]
    assert (len(calls), len(opened)) == (2, 0)
    # Each file tells by itself what is wrong with it, behind those before.
    steps = uproot.num_entries([*names[:2], names[2].replace(":t", ":u"), *names[3:]])
    assert [next(steps)[2], next(steps)[2]] == [1, 2]
    with pytest.raises(KeyError, match="u"):
        next(steps)
    assert next(uproot.num_entries({names[0].removesuffix(":t"): None}))[1:] == ("t", 1)


@pytest.mark.parametrize("kind", ["mktree", "mkrntuple"])
def test_ranges_of_entries_are_those_of_each_tree(tmp_path, monkeypatch, kind):
    names = written(tmp_path, kind, 5, 0, 2, 7)
    opened = []
    tree_of = _tree_steps.tree_of
    monkeypatch.setattr(_tree_steps, "tree_of", lambda *args: opened.append(1) or tree_of(*args))
    for start, stop in [(1, 4), (-3, None), (None, -2), (6, None), (4, 2), (-(1 << 70), 1 << 70), (np.int64(2), True)]:
        opened.clear()
        steps = uproot.iterate(names, "x", step_size=2, entry_start=start, entry_stop=stop, report=True)
        found = [(step["x"].tolist(), report.tree_entry_start, report.global_offset) for step, report in steps]
        expected = []
        for length, before in ((5, 0), (2, 5), (7, 7)):
            first, last, _ = slice(start, stop).indices(length)
            expected += [(list(range(at, min(at + 2, last))), at, before) for at in range(first, last, 2)]
        assert found == expected
        assert len(opened) == 1
    with pytest.raises(TypeError):
        list(uproot.iterate(names, "x", entry_start="1"))


def test_empty_ranges_lack_no_branch(tmp_path):
    names = written(tmp_path, "mktree", 0, 3)
    path = tmp_path / "other.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"y": "i4"})
    # A tree without entries lacks nothing if another tree has entries, in the range or not.
    assert list(uproot.iterate([names[0], f"{path}:t", names[1]], "x", entry_start=5)) == []
    with pytest.raises(KeyError):
        list(uproot.iterate([names[0], f"{path}:t"], "x", entry_start=5))


def test_files_of_several_schemas_are_read_in_one_call(tmp_path, monkeypatch):
    names = []
    for number, kind in enumerate(["i4", "i4", "f8", "i4"]):
        path = tmp_path / f"{number}.root"
        more = {"y": np.ones(2)} if number == 1 else {}
        with uproot.recreate(path) as file:
            file.mktree("t", {"x": np.array([number, number + 10], kind), **more})
        names.append(f"{path}:t")
    calls = []
    read = _forthwith.read_schemas
    monkeypatch.setattr(_forthwith, "read_schemas", lambda *args, **how: calls.append(read(*args, **how)) or calls[-1])
    expected = [0, 10, 1, 11, 2, 12, 3, 13]
    for library in ("ak", "np", "pd"):
        found = uproot.concatenate(names, "x", library=library)
        assert found["x"].tolist() == expected
        assert uproot.concatenate(names, "x", "x > 1", entry_stop=-1, library=library)["x"].tolist() == [
            x for x in expected[:-1] if x > 1
        ]
    # With a cut, NumPy's arrays and the index of pandas depend on the entries of each file.
    assert [[file for file, *_ in runs] for runs, _ in calls] == [[0, 2, 3]] * 4
    found = uproot.concatenate(names, "x", library="pd")
    assert found.index.tolist() == list(range(8))
