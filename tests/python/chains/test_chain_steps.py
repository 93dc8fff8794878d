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
        {"errors": "skip", "progress": True, "library": "pl"},
        {"errors": "null", "step_size": 3},
        {"entries": np.arange(3, 60, 4), "names": ["x"]},
        {"entries": np.arange(60) % 3 == 0, "errors": "skip", "cut": "y < 4"},
    ],
)
def test_files_with_the_same_branches_need_one_tree(tmp_path, opened, ask):
    pattern = write(tmp_path, 12)
    assert len(list(forthwith.iterate(pattern, **ask))) >= 11
    # The words of pandas are those of the first file, whatever the first entry is in.
    assert len(opened) == (2 if ask.get("entry_start") else 1)


def test_steps_lose_what_is_damaged_without_a_tree_for_each_file(tmp_path, opened):
    pattern = write(tmp_path, 6, 1000)
    data = bytearray((tmp_path / "03.root").read_bytes())
    with forthwith.open(tmp_path / "03.root") as file:
        branch = next(one for one in file["t"].as_object.member("fBranches") if one.member("fName") == "x")
        seek, size = (int(np.asarray(branch.member(name))[0]) for name in ("fBasketSeek", "fBasketBytes"))
    data[seek + size // 2 : seek + size // 2 + 40] = bytes(40)
    (tmp_path / "03.root").write_bytes(data)
    (tmp_path / "04.root").write_bytes(b"nothing")
    opened.clear()
    with pytest.warns(forthwith.DataLossWarning, match=r"04\.root:t could not be read and was left out"):
        steps = list(forthwith.iterate(pattern, errors="skip", report=True))
    # The first one, and the one that cannot be opened.
    assert len(opened) == 2
    assert [report.global_entry_start for _, report in steps] == [0, 1000, 2000, 3000, 4000]
    lost = [loss for _, report in steps for loss in report.lost]
    assert [(loss.start, loss.stop, loss.branch) for loss in lost] == [(0, 1000, "t/x")]
    assert isinstance(lost[0].error, forthwith.DamagedFileError)
    assert [len(step) for step, _ in steps] == [1000, 1000, 1000, 0, 1000]
    (tmp_path / "04.root").unlink()
    with pytest.warns(forthwith.DataLossWarning, match="1000 entries of t could not be read, in 1 piece"):
        nulls = list(forthwith.iterate(pattern, errors="null"))
    assert [int(np.sum(np.asarray(step.x.to_list(), object) == None)) for step in nulls] == [0, 0, 0, 1000, 0]  # noqa: E711


def test_files_before_the_first_entry_need_no_tree(tmp_path, opened):
    pattern = write(tmp_path, 12)
    assert [step.x.to_list() for step in forthwith.iterate(pattern, entry_start=52)] == [[52, 53, 54], [*range(55, 60)]]
    assert len(opened) == 1


def test_files_of_several_schemas_need_a_tree_of_each(tmp_path, opened):
    pattern = write(tmp_path, 12)
    for at in range(0, 12, 2):
        with forthwith.recreate(tmp_path / f"{at:02d}.root") as file:
            file.mktree("t", {"x": np.full(3, at / 4), "y": np.zeros(3), "z": np.zeros(3)})
    steps = list(forthwith.iterate(pattern, ["x", "y"]))
    assert [len(step) for step in steps] == [3, 5] * 6
    assert [str(step.x.type.content) for step in steps[:2]] == ["float64", "int64"]
    assert len(opened) == 2
    opened.clear()
    # Two to look at, and two to read.
    assert len(list(forthwith.iterate(pattern, missing="null"))) == 12
    assert len(opened) == 4


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
    # The first one, and the one that differs.
    assert len(opened) == 2


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
    # Two that differ to look at, and one of each to read.
    assert len(opened) == 2 + 2
