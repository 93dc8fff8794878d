"""Reading one and several branches."""

import awkward as ak
import numpy as np
import pytest
from conftest import data

import forthwith


def test_one_branch(tree):
    array = tree["Muon_pt"].array()
    assert isinstance(array, ak.Array)
    assert str(array.type) == "3600 * var * float32"
    assert ak.num(array).tolist() == tree["nMuon"].array().tolist()


def test_several_branches_keep_their_order(tree):
    array = tree.arrays(["Muon_pt", "run", "dataset"])
    assert array.fields == ["Muon_pt", "run", "dataset"]
    assert len(array) == 3600
    assert array.Muon_pt.tolist() == tree["Muon_pt"].array().tolist()
    assert tree.arrays("run").fields == ["run"]
    assert tree.arrays(filter_name=["MET_phi", "MET_pt"]).fields == ["MET_pt", "MET_phi"]
    assert tree.arrays(filter_typename="double").fields == ["weight"]
    assert tree.arrays().fields == tree.keys()
    assert len(tree.arrays([])) == 3600


@pytest.mark.parametrize(
    ("start", "stop", "first", "last"),
    [
        (None, None, 0, 3600),
        (10, 20, 10, 20),
        (0, 0, 0, 0),
        (-5, None, 3595, 3600),
        (None, -3590, 0, 10),
        (-20, -10, 3580, 3590),
        (3500, 99999, 3500, 3600),
        (99999, None, 3600, 3600),
        (20, 10, 20, 20),
        (np.int64(7), np.uint8(9), 7, 9),
    ],
)
def test_entry_ranges(tree, start, stop, first, last):
    for name in ("event", "Muon_pt", "Track_hits", "dataset", "PV_xyz", "HLT_IsoMu24"):
        whole = tree[name].array()
        part = tree[name].array(entry_start=start, entry_stop=stop)
        assert part.tolist() == whole[first:last].tolist(), name
        assert part.type.content == whole.type.content, name
    part = tree.arrays(["event", "Muon_pt"], entry_start=start, entry_stop=stop)
    assert len(part) == last - first


def test_entries_are_integers(tree):
    for wrong in (1.5, "3", [1]):
        with pytest.raises(TypeError, match="entry_start"):
            tree["run"].array(wrong)
        with pytest.raises(TypeError, match="entry_stop"):
            tree.arrays(["run"], entry_stop=wrong)


def test_names_are_never_ignored(tree):
    with pytest.raises(forthwith.KeyInFileError, match="did you mean Muon_pt"):
        tree.arrays(["run", "Muon_ptt"])
    with pytest.raises(forthwith.KeyInFileError) as caught:
        tree.arrays(["Muon_*"])
    assert "filter_name='Muon_*'" in caught.value.__notes__[0]
    for call in (tree.arrays, tree.iterate, tree.select):
        with pytest.raises(ValueError, match="filter_name='Moun_"):
            call(filter_name="Moun_*")
        with pytest.raises(ValueError, match="filter_typename='flaot'"):
            call(filter_typename="flaot")
        with pytest.raises(TypeError, match="not both"):
            call(["run"], filter_name="Muon_*")
    with pytest.raises(ValueError, match="twice"):
        tree.arrays(["run", "run"])


@pytest.mark.parametrize("wrong", ["expressions", "language", "array_cache", "virtual"])
def test_unknown_arguments_are_refused(tree, wrong):
    if wrong != "virtual":
        with pytest.raises(TypeError, match=wrong):
            tree.arrays(["run"], **{wrong: None})
    with pytest.raises(TypeError, match=wrong):
        tree["run"].array(**{wrong: None})
    with pytest.raises(TypeError, match=wrong):
        tree.iterate(["run"], **{wrong: None})


def test_libraries_and_ways_are_checked_before_reading(tree):
    for wrong in ("cupy", None, 1, "AK"):
        with pytest.raises(ValueError, match="library must be"):
            tree.arrays(["run"], library=wrong)
    for wrong in ("zap", set, {}, ()):
        with pytest.raises(ValueError, match="how must be"):
            tree.arrays(["run"], how=wrong)
    with pytest.raises(ValueError, match='for library="ak"'):
        tree.arrays(["run"], how="zip", library="np")
    with pytest.raises(ValueError, match="threads"):
        tree.arrays(["run"], threads=0)


def test_what_several_arrays_are_put_into(tree):
    wanted = ["run", "MET_pt"]
    as_dict = tree.arrays(wanted, how=dict)
    assert list(as_dict) == wanted
    assert isinstance(tree.arrays(wanted, how=tuple), tuple)
    assert isinstance(tree.arrays(wanted, how=list), list)
    assert tree.arrays(wanted, how=list)[1].tolist() == as_dict["MET_pt"].tolist()
    assert isinstance(tree.arrays(wanted, how=tuple, library="np")[0], np.ndarray)
    assert isinstance(tree.arrays(wanted, library="np"), dict)


def test_zip(tree):
    array = tree.arrays(filter_name=["MET_pt", "Muon_*", "Track_*"], how="zip")
    assert set(array.fields) == {"MET_pt", "Muon", "Track"}
    assert array.Muon.fields == ["pt", "eta", "phi", "charge", "tightId"]
    assert array.Muon.pt.tolist() == tree["Muon_pt"].array().tolist()
    assert array.Track.hits.tolist() == tree["Track_hits"].array().tolist()
    assert array.MET_pt.tolist() == tree["MET_pt"].array().tolist()
    one = array.Muon[array.Muon.pt > 40]
    assert ak.all(one.pt > 40)


def test_zip_leaves_apart_what_does_not_belong_together():
    with forthwith.open(data("vectors.root:one")) as tree:
        array = tree.arrays(["int8", "float32", "string"], how="zip", entry_start=5, entry_stop=9)
        assert array.fields == ["int8", "float32", "string"]
        assert len(array) == 4
    with forthwith.open(data("objects.root:split")) as tree:
        array = tree.arrays(["hits/hits.layer", "hits/hits.energy", "points/points.x", "event/ints"], how="zip")
        assert set(array.fields) == {"hits", "points", "event"}
        assert array.hits.fields == ["hits.layer", "hits.energy"]
    with forthwith.open(data("objects.root:split")) as tree:
        array = tree.arrays(["event/hits/hits.layer", "event/ints"], how="zip")
        assert set(array.fields) == {"event", "event/ints"}  # lists of different lengths


def test_groups_stand_for_what_is_in_them():
    with forthwith.open(data("objects.root:split")) as tree:
        array = tree["event/Header"].array()
        assert array.fields == ["run", "number"]
        assert array.run.tolist() == tree["event/Header/run"].array().tolist()
        named = tree.arrays(["event/Header", "point/x"])
        assert named.fields == ["event/Header/run", "event/Header/number", "point/x"]
        assert tree["point"].arrays(["x", "z"]).fields == ["x", "z"]
        assert tree["point"].arrays(filter_name="/[yz]/").fields == ["y", "z"]
        assert set(tree["point"].array(library="np")) == {"x", "y", "z"}
        with pytest.raises(ValueError, match="filter_name"):
            tree.arrays(filter_name="point")  # only a group


def test_branches_that_begin_late():
    with forthwith.open(data("layout.root:late")) as tree:
        assert tree.num_entries == 100
        branch = tree["x"]
        assert branch.num_entries == 60
        whole = branch.array()
        assert len(whole) == 60
        assert branch.array(entry_start=50, entry_stop=60).tolist() == whole[10:20].tolist()
        assert branch.array(entry_start=0, entry_stop=50).tolist() == whole[:10].tolist()
        assert branch.array(entry_start=0, entry_stop=10).tolist() == []
        assert branch.array(entry_start=-5).tolist() == whole[-5:].tolist()
        assert sum(batch.num_entries for batch in branch.bulk()) == 60
        with pytest.raises(forthwith.RequestError, match="entries 0 to 100"):
            tree.arrays(["a", "x"])
        assert len(tree.arrays(["a", "x"], entry_start=40)) == 60


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("name", ["zmumu.root:events", "layout.root", "multiblock.root", "codec-lz4.root"])
def test_any_number_of_threads_gives_the_same(threads, name):
    with forthwith.open(data(name), threads=1) as opened:
        for tree in [opened] if isinstance(opened, forthwith.Tree) else opened.values(filter_classname="TTree"):
            readable = [branch for branch in tree.values() if branch.has_data and branch.interpretation.decoder]
            for branch in readable:
                alone, together = branch.array(), branch.array(threads=threads)
                assert ak.array_equal(alone, together, equal_nan=True), branch
            if readable:
                low = max(tree._core.entry_range(b._index)[0] for b in readable)
                high = min(tree._core.entry_range(b._index)[1] for b in readable)
                names = [branch.path for branch in readable]
                some = {"entry_start": low, "entry_stop": high, "how": dict}
                alone, together = tree.arrays(names, **some), tree.arrays(names, threads=threads, **some)
                assert all(ak.array_equal(alone[n], together[n], equal_nan=True) for n in names)


def test_iterate(tree):
    steps = list(tree.iterate(["event", "Muon_pt"], step_size=1000))
    assert [len(step) for step in steps] == [1000, 1000, 1000, 600]
    assert ak.concatenate(steps).tolist() == tree.arrays(["event", "Muon_pt"]).tolist()
    steps = list(tree.iterate(["event", "Muon_pt"], step_size="10 kB"))
    assert len(steps) > 3
    assert ak.concatenate(steps).tolist() == tree.arrays(["event", "Muon_pt"]).tolist()
    assert [len(step) for step in tree.iterate(["event"])] == [3600]
    part = list(tree.iterate(["event"], step_size=10, entry_start=-25, library="np", how=tuple))
    assert [len(step[0]) for step in part] == [10, 10, 5]
    assert [len(step) for step in tree["Muon_pt"].tree.iterate(filter_name="MET_*", step_size=2000)] == [2000, 1600]


def test_reports(tree):
    for array, report in tree.iterate(["event"], step_size=1500, report=True, entry_start=100):
        assert len(array) == report.stop - report.start
        assert (report.tree_entry_start, report.tree_entry_stop) == (report.start, report.stop)
        assert (report.global_entry_start, report.global_entry_stop) == (report.start, report.stop)
        assert report.file_path == tree.file.file_path
        assert report.tree_path == "events"
        assert array.event.tolist() == tree["event"].array(entry_start=report.start, entry_stop=report.stop).tolist()
    assert (report.start, report.stop) == (3100, 3600)
    assert "3100 to 3600" in repr(report)


@pytest.mark.parametrize("wrong", [0, -1, "0 MB", "ten", "10 parsecs", "5 ib", ""])
def test_impossible_steps(tree, wrong):
    with pytest.raises(ValueError, match="step_size"):
        tree.iterate(["event"], step_size=wrong)
    with pytest.raises(TypeError, match="step_size"):
        tree.iterate(["event"], step_size=1.5)


def test_small_steps_are_what_large_ones_are(tree):
    """Steps smaller than blocks are read together and handed out as copies."""
    whole = tree.arrays()
    for size, stop in ((7, 50), (999, 3600)):
        at = 3
        for step, report in tree.iterate(step_size=size, report=True, entry_start=at, entry_stop=stop):
            assert (report.start, report.stop) == (at, min(at + size, stop))
            assert step.type.content == whole.type.content
            assert step.to_list() == whole[report.start : report.stop].to_list()
            at = report.stop
        assert at == stop


def test_small_steps_decompress_once(tree):
    reads = []
    steps = list(tree.iterate(["event"], step_size=10, progress=lambda *now: reads.append(now)))
    assert len(steps) == 360
    assert sum(now[0] == 0 for now in reads) == 1
    # Each step has its own memory.
    assert all(step.nbytes == 80 for step in steps)
