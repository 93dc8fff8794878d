"""Steps of iterate, which are read together where they are small: the same as when each is read by itself."""

import re

import numpy as np
import pytest
from conftest import data

import forthwith
import forthwith.uproot


def trees():
    for name in ("zmumu.root", "late.root", "standard.root", "vectors.root"):
        with forthwith.uproot.open(data(name)) as file:
            for key in file.keys(filter_classname="TTree", cycle=False):
                yield file[key]


def shown(found):
    """Text of what was read, in which no place in memory counts."""
    return re.sub("0x[0-9a-f]+", "", str(found.to_list() if hasattr(found, "to_list") else found))


@pytest.mark.parametrize("library", ["ak", "np"])
def test_steps_are_what_is_read_at_once(library):
    count = 0
    for tree in trees():
        names = [branch.name for branch in tree.branches if branch._is_readable][:12]
        step = max(1, tree.num_entries // 3)
        places = []
        for found, report in tree.iterate(names, step_size=step, library=library, report=True):
            places.append((report.start, report.stop))
            whole = tree.arrays(names, entry_start=report.start, entry_stop=report.stop, library=library)
            assert shown(found) == shown(whole)
            count += 1
        firsts = range(0, tree.num_entries, step)
        assert places == [(first, min(first + step, tree.num_entries)) for first in firsts]
    assert count >= 12


def test_expressions_and_cuts_step_by_step():
    with forthwith.uproot.open(data("zmumu.root")) as file:
        tree = file["events"]
        asked = {
            "expressions": ["MET_pt", "twice", "sum(Muon_pt)"],
            "cut": "nMuon > 1",
            "aliases": {"twice": "MET_pt*2"},
        }
        found = list(tree.iterate(**asked, entry_start=10, entry_stop=1010, step_size=300))
        each = [tree.arrays(**asked, entry_start=at, entry_stop=min(at + 300, 1010)) for at in range(10, 1010, 300)]
        assert [one.to_list() for one in found] == [one.to_list() for one in each]
        frames = list(tree.iterate(**asked, step_size=1000, library="pd"))
        assert [list(frame.index) for frame in frames] == [
            list(tree.arrays(**asked, entry_start=at, entry_stop=min(at + 1000, 3600), library="pd").index)
            for at in range(0, 3600, 1000)
        ]


def test_no_basket_is_read_for_each_step(tmp_path):
    with forthwith.recreate(tmp_path / "one.root") as file:
        file["t"] = {"x": np.random.default_rng(1).normal(size=200_000)}
    with forthwith.uproot.open(tmp_path / "one.root") as file:
        tree = file["t"]
        plans, core = [], tree.forthwith._core

        class Counted:
            def __getattr__(self, name):
                if name in ("plan", "read", "batches"):
                    plans.append(name)
                return getattr(core, name)

        tree.forthwith._core = Counted()
        total = sum(np.sum(step["x"]) for step in tree.iterate(["x"], step_size=500))
        assert plans == ["batches"]
        tree.forthwith._core = core
        assert total == pytest.approx(np.sum(tree["x"].array(library="np")))
        stored = tree["x"].forthwith.compressed_bytes
        read = file.file.source.num_requested_bytes
        assert read == stored + core.plan([0], 0, 200_000).stored_bytes


@pytest.mark.parametrize("library", ["ak", "np", "pd"])
def test_steps_of_ntuples(tmp_path, library):
    with forthwith.recreate(tmp_path / "n.root") as file:
        ntuple = file.mkrntuple("n", {"x": "f4", "muons": "var * {pt: float32, q: int8}", "name": "string"})
        for _ in range(2):
            rows = {"x": np.arange(50.0), "muons": [[{"pt": at, "q": 1}] * (at % 3) for at in range(50)]}
            ntuple.extend({**rows, "name": [str(at) for at in range(50)]})
    with forthwith.uproot.open(tmp_path / "n.root") as file:
        ntuple = file["n"]
        for asked in (
            {"expressions": ["x", "name"]},
            {"expressions": ["muons.pt"]},
            {"filter_name": "muons*"},
            {"expressions": ["x * 2"], "cut": "x > 3"},
            {},
        ):
            places = []
            for found, report in ntuple.iterate(**asked, step_size=15, library=library, report=True, entry_start=7):
                first, last = report.start, report.stop
                places.append((first, last))
                assert shown(found) == shown(
                    ntuple.arrays(**asked, library=library, entry_start=first, entry_stop=last)
                )
            assert places == [(first, min(first + 15, 100)) for first in range(7, 100, 15)]
        with pytest.raises(TypeError):
            next(ntuple.iterate(["x"], step_size=15, nothing=1))
