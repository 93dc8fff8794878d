"""Steps over many files: read without a tree for each where files have the same branches, and as the files say where not."""

import numpy as np
import pytest
import random_chain_steps

import forthwith
from forthwith import _forthwith


@pytest.fixture
def opened(monkeypatch):
    """The files that are opened one by one."""
    files = []
    real = _forthwith.File.open
    monkeypatch.setattr(
        "forthwith._file._forthwith.File",
        type("File", (), {"open": staticmethod(lambda *given, **how: files.append(given[0]) or real(*given, **how))}),
    )
    return files


def write(folder, count, entries=5):
    for at in range(count):
        with forthwith.recreate(folder / f"{at:02d}.root") as file:
            file.mktree("t", {"x": np.arange(at * entries, (at + 1) * entries), "y": np.full(entries, at / 2)})
    return f"{folder}/*.root:t"


@pytest.mark.parametrize("count", [8, pytest.param(150, marks=pytest.mark.slow)])
def test_steps_of_random_chains(count):
    assert random_chain_steps.campaign(29, count) == []


@pytest.mark.parametrize(
    "ask",
    [
        {},
        {"names": ["y", "x * 2"], "cut": "x % 3 == 1", "library": "np"},
        {"aliases": {"z": "x + y"}, "names": ["z"], "entry_start": 7, "entry_stop": -4, "library": "pd"},
        {"library": "arrow", "step_size": 2, "threads": 2, "report": True},
    ],
)
def test_files_with_the_same_branches_need_one_tree(tmp_path, opened, ask):
    pattern = write(tmp_path, 12)
    assert len(list(forthwith.iterate(pattern, **ask))) >= 11
    assert len(opened) == 1


def test_reports_open_the_tree_that_they_are_asked_for(tmp_path, opened):
    pattern = write(tmp_path, 4)
    reports = [report for _, report in forthwith.iterate(pattern, report=True, step_size=3)]
    assert len(opened) == 1
    assert [report.file_path for report in reports[:3]] == [str(tmp_path / f"{at:02d}.root") for at in (0, 0, 1)]
    assert [(report.global_entry_start, report.global_entry_stop) for report in reports[-2:]] == [(15, 18), (18, 20)]
    assert reports[5].tree is reports[4].tree
    assert reports[5].tree["x"].array().tolist() == [10, 11, 12, 13, 14]
    assert reports[5].tree_path == "t"
    assert len(opened) == 2


def test_a_file_that_differs_is_read_by_itself(tmp_path, opened):
    pattern = write(tmp_path, 6)
    with forthwith.recreate(tmp_path / "02.root") as file:
        file.mktree("t", {"x": np.array([0.5, 1.5]), "y": np.zeros(2)})
    steps = list(forthwith.iterate(pattern, ["x"], report=True))
    assert [str(step.x.type.content) for step, _ in steps] == ["int64", "int64", "float64", "int64", "int64", "int64"]
    assert [report.global_entry_start for _, report in steps] == [0, 5, 10, 12, 17, 22]
    # The first one, once more to compare it, and the one that differs.
    assert len(opened) == 3


def test_the_callback_hears_of_each_step_and_may_stop(tmp_path):
    pattern = write(tmp_path, 3)
    told = []
    assert len(list(forthwith.iterate(pattern, progress=lambda *now: told.append(now)))) == 3
    assert len(told) >= 3

    def stop(*now):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(forthwith.iterate(pattern, progress=stop))


def test_one_tree_of_each_schema_is_looked_at_where_columns_may_be_missing(tmp_path, opened):
    pattern = write(tmp_path, 12)
    assert len(list(forthwith.iterate(pattern, missing="null"))) == 12
    # One to look at, and the first one to read.
    assert len(opened) == 2
    assert len(forthwith.concatenate(pattern, "x + y", cut="y > 1", missing="null")) == 45
    assert len(opened) == 4
    with forthwith.recreate(tmp_path / "02.root") as file:
        file.mktree("t", {"x": np.array([0.5, 1.5])})
    opened.clear()
    chain = forthwith.Chain(pattern, missing="null")
    assert chain.keys() == ["x", "y"]
    opened.clear()
    found = chain.arrays(entry_start=9, entry_stop=13)
    assert found.to_list() == [
        {"x": 9.0, "y": 0.5},
        {"x": 0.5, "y": None},
        {"x": 1.5, "y": None},
        {"x": 15.0, "y": 1.5},
    ]
    assert str(found.type) == "4 * {x: float64, y: ?float64}"
    # Two that differ, and the files up to the last entry.
    assert len(opened) == 2 + 4
