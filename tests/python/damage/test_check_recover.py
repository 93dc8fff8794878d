"""Files that are not whole, several files as one, and what belongs to a tree."""

import pathlib
import shutil
import warnings

import awkward as ak
import numpy as np
import pytest
from conftest import data, golden_of
from renamed_friend import FRIEND, renamed_friend

import forthwith

UNCLOSED = golden_of("unclosed/unclosed.json")


@pytest.mark.parametrize("name", UNCLOSED)
def test_recovery_finds_what_root_finds(name):
    golden = UNCLOSED[name]
    with pytest.warns(forthwith.RecoveryWarning, match="from record to record"):
        file = forthwith.open(data(f"unclosed/{name}"), recover=True)
    # Directories are called TDirectory in files.
    found = {
        (key.path, key.cycle, key.classname.replace("TDirectory", "TDirectoryFile"))
        for key in file._core.keys("", False)
    }
    assert {tuple(key) for key in golden["keys"]} <= found
    assert file["below/inner"].title == "in a directory"
    assert file["first"].values().tolist() == [0, 3, 0, 0]
    assert file.recovered["objects"] >= len(golden["keys"])
    if golden["entries"] is not None:
        tree = file["tree"]
        # C++ ROOT has the entries of the last save alone.
        assert tree.num_entries == 820 > golden["entries"]
        assert tree["x"].array().to_list() == list(range(820))
        assert int(ak.sum(tree["x"].array(entry_stop=golden["entries"]))) == golden["sum of x"]
        assert ak.num(tree["y"].array()).tolist() == [x % 4 for x in range(tree.num_entries)]


def test_without_recovery_nothing_is_recovered(path):
    with forthwith.open(path) as file:
        assert file.recovered is None
    with pytest.warns(forthwith.RecoveryWarning):
        file = forthwith.open(path, recover=True)
    assert file.recovered["unlisted"] == []
    assert file["events"].num_entries > 0


def damaged(tmp_path, name, tree, branch, number):
    """A copy with one basket spoiled, and the entries in it."""
    with forthwith.open(data(name)) as file:
        found = file[tree]
        plan = found._core.plan([found._find(branch)], 0, found.num_entries)
        entries = plan.blocks()[number].entries
        seek = found.as_object.fBranches[branch].fBasketSeek[number]
        count = found.num_entries
    out = tmp_path / "damaged.root"
    shutil.copy(data(name), out)
    content = bytearray(out.read_bytes())
    # The block behind the key: no codec has this name.
    keylen = int.from_bytes(content[seek + 14 : seek + 16], "big")
    content[seek + keylen : seek + keylen + 9] = b"\xff" * 9
    out.write_bytes(content)
    return out, entries, count


def test_reading_around_damage(tmp_path):
    out, (first, last), count = damaged(tmp_path, "zmumu.root", "events", "MET_pt", 0)
    with forthwith.open(out) as file:
        tree = file["events"]
        names = ["MET_pt", "nMuon"]
        with pytest.raises(forthwith.DamagedFileError):
            tree.arrays(names)
        lost = []
        array = tree.arrays(names, errors="skip", lost=lost)
        assert len(array) == count - (last - first)
        assert [(loss.start, loss.stop) for loss in lost] == [(first, last)]
        assert "MET_pt" in lost[0].branch
        with pytest.warns(forthwith.DataLossWarning, match="could not be read"):
            array = tree.arrays(names, errors="null")
        assert len(array) == count
        assert str(array.type.content).startswith("{MET_pt: ?")
        assert ak.is_none(array["MET_pt"]).tolist() == [first <= entry < last for entry in range(count)]
        assert ak.array_equal(array["nMuon"], tree["nMuon"].array())
        steps = list(tree.iterate(names, errors="skip", step_size=100, report=True))
        assert sum(len(part) for part, _ in steps) == count - (last - first)
        assert sum(loss.stop - loss.start for _, report in steps for loss in report.lost) == last - first
        with pytest.raises(forthwith.RequestError, match="errors"):
            tree.arrays(names, errors="ignore")
        with pytest.raises(forthwith.RequestError, match="null"):
            tree.arrays(names, errors="null", library="np")
        assert len(tree.arrays("nMuon", errors="skip")) == count


def test_damage_of_a_branch_is_its_own(tmp_path):
    out, (first, last), count = damaged(tmp_path, "zmumu.root", "events", "MET_pt", 0)
    with forthwith.open(data("zmumu.root")) as file:
        good = file["events"].arrays(["MET_pt", "nMuon"])
    with forthwith.open(out) as file:
        tree = file["events"]
        # Nothing is left of it: the type is known all the same, and what is beside it is whole.
        lost = []
        array = tree.arrays(["MET_pt", "nMuon"], entry_start=first, entry_stop=last, errors="null", lost=lost)
        assert (
            str(array.type.content)
            == f"{{MET_pt: ?{good['MET_pt'].type.content}, nMuon: {good['nMuon'].type.content}}}"
        )
        assert ak.all(ak.is_none(array["MET_pt"]))
        assert ak.array_equal(array["nMuon"], good["nMuon"][first:last])
        assert [(loss.start, loss.stop, "MET_pt" in loss.branch) for loss in lost] == [(first, last, True)]
        # One branch by itself.
        branch = tree["MET_pt"]
        with pytest.raises(forthwith.DamagedFileError):
            branch.array()
        with pytest.warns(forthwith.DataLossWarning, match=f"{last - first} entries"):
            array = branch.array(errors="null")
        assert ak.is_none(array).tolist() == [first <= entry < last for entry in range(count)]
        assert ak.drop_none(array).tolist() == good["MET_pt"][:first].tolist() + good["MET_pt"][last:].tolist()
        for library in ("ak", "np", "pd", "arrow"):
            lost = []
            array = branch.array(errors="skip", library=library, lost=lost)
            assert len(array) == count - (last - first)
            assert [(loss.start, loss.stop) for loss in lost] == [(first, last)]
        with pytest.raises(forthwith.RequestError, match="errors"):
            branch.array(errors="ignore")
        assert ak.array_equal(tree["nMuon"].array(errors="null"), good["nMuon"])
        (step,) = tree.iterate(
            ["MET_pt"], entry_start=first, entry_stop=last, errors="null", step_size=count, report=True
        )
        assert str(step[0].type.content.contents[0]).startswith("?")


def test_single_entries_are_lost(tmp_path):
    with forthwith.open(data("codec-none.root")) as file:
        tree = file["events"]
        blocks = tree._core.plan([tree._find("rows")], 0, tree.num_entries).blocks()
        (first, last), seek = blocks[2].entries, tree.as_object.fBranches["rows"].fBasketSeek[2]
        good = tree.arrays(["rows"])
    content = bytearray(pathlib.Path(data("codec-none.root")).read_bytes())
    at = seek + int.from_bytes(content[seek + 14 : seek + 16], "big")
    places = []
    for _ in range(first, last):
        places.append(at)
        at += 4 + (int.from_bytes(content[at : at + 4], "big") & 0x3FFFFFFF)
    bad = [first, first + 3, first + 4, last - 1]
    out = tmp_path / "damaged.root"

    def spoil(entries):
        for entry in entries:
            content[places[entry - first] + 6] ^= 0x40  # more rows than there can be
        out.write_bytes(content)

    spoil(bad)
    with forthwith.open(out) as file:
        lost = []
        array = file["events"].arrays(["rows"], errors="skip", lost=lost)
        assert [(loss.start, loss.stop) for loss in lost] == [(entry, entry + 1) for entry in bad]
        assert all(loss.error.entry == loss.start for loss in lost)
        whole = [entry for entry in range(len(good)) if entry not in bad]
        assert ak.array_equal(array, good[whole])
        with pytest.warns(forthwith.DataLossWarning, match="4 entries"):
            array = file["events"].arrays(["rows"], errors="null")
        assert ak.is_none(array["rows"]).tolist() == [entry in bad for entry in range(len(good))]
        assert ak.array_equal(ak.drop_none(array["rows"]), good["rows"][whole])
    # So many that the basket is not worth it.
    spoil([entry for entry in range(first, last) if entry not in bad])
    with forthwith.open(out) as file:
        lost = []
        array = file["events"].arrays(["rows"], errors="skip", lost=lost)
        assert len(array) == len(good) - (last - first)
        assert sum(loss.stop - loss.start for loss in lost) == last - first
        assert len(lost) <= 35


def test_chains(tmp_path, path):
    with forthwith.open(path) as file:
        single = file["events"].arrays(["MET_pt", "Muon_pt"])
        number = file["events"].num_entries
    for name in ("a", "b"):
        shutil.copy(path, tmp_path / f"{name}.root")
    every = forthwith.concatenate(f"{tmp_path}/*.root:events", ["MET_pt", "Muon_pt"])
    assert every.tolist() == single.tolist() * 2
    chain = forthwith.open([f"{tmp_path}/a.root:events", f"{tmp_path}/b.root:events"])
    assert chain.num_entries == 2 * number
    assert len(chain) == 2
    assert "MET_pt" in list(chain.keys())
    part = chain.arrays(["MET_pt"], entry_start=number - 5, entry_stop=number + 7)
    assert part.tolist() == single[["MET_pt"]][-5:].tolist() + single[["MET_pt"]][:7].tolist()
    assert len(chain.arrays(["MET_pt"], entry_start=-3)) == 3
    assert len(chain.arrays(["MET_pt"], entry_start=3, entry_stop=3)) == 0
    together = chain.arrays(["MET_pt"], library="np")
    assert isinstance(together["MET_pt"], np.ndarray)
    ends = [
        (place.global_entry_start, place.global_entry_stop, len(arrays))
        for arrays, place in forthwith.iterate(
            {path: "events", tmp_path / "a.root": "events"}, "MET_pt", step_size=1000, report=True
        )
    ]
    assert ends[0][0] == 0
    assert ends[-1][1] == 2 * number
    assert all(stop - start == length for start, stop, length in ends)
    with pytest.raises(forthwith.MissingFileError, match="matches"):
        forthwith.concatenate(f"{tmp_path}/*.toor:events")


def test_what_belongs_to_a_tree(tree):
    assert tree.aliases == {}
    assert tree.friends == []
    assert tree.user_info == []
    assert tree.index is None
    with pytest.raises(forthwith.RequestError, match="no index"):
        tree.entry_number(1)
    assert tree.as_object.fEntries == tree.num_entries


def test_aliases_friends_and_indexes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file = forthwith.open(data("belongings.root"))
    tree = file["main"]
    assert tree.aliases == {"twice": "2*run"}
    assert [friend.num_entries for friend in tree.friends] == [10]
    assert tree.friend_names == [("other", "", "other")]
    assert [(item.name, item.title) for item in tree.user_info] == [("note", "kept with the tree")]
    for entry, (run, event) in enumerate(zip(tree["run"].array(), tree["event"].array(), strict=True)):
        assert tree.entry_number(run, event) == entry
    assert tree.entry_number(99, 99) is None


def test_friends_outside_of_the_folder_are_opened_when_that_is_asked_for(tmp_path):
    for folder in (tmp_path, tmp_path / "inner"):
        folder.mkdir(exist_ok=True)
        shutil.copy(data("belongings.root"), folder / "other.root")
    slashes = "/" * (len(FRIEND) - 12)
    assert [friend.num_entries for friend in renamed_friend(tmp_path, f".{slashes}/other.root").friends] == [10]
    for outside in (f"..{slashes}other.root", "/no-such-folder/other.root", "file:///no-such/other.root"):
        tree = renamed_friend(tmp_path, outside)
        assert tree.friend_names == [("other", outside.ljust(len(FRIEND)), "other")]
        with pytest.raises(forthwith.RequestError, match=r"open_friends\(elsewhere=True\)"):
            _ = tree.friends
        if outside.startswith(".."):
            assert [friend.num_entries for friend in tree.open_friends(elsewhere=True)] == [10]
        else:
            with pytest.raises(forthwith.MissingFileError):
                tree.open_friends(elsewhere=True)


def test_belongings_of_the_goldens():
    golden = golden_of("trees.root.golden.json")["trees"]["main"]
    with forthwith.open(data("trees.root")) as file:
        tree = file["main"]
        assert tree.aliases == golden["aliases"]
        assert [[item.classname, item.name] for item in tree.user_info] == golden["user_info"]
        assert [[name, path] for name, path, _ in tree.friend_names] == golden["friends"]


def test_classes_of_ones_own():
    forthwith.register_class("TDatime", {"fPacked": "unsigned int"})
    try:
        forthwith.register_class("Nothing", {"fX": "double[0]"})
    except forthwith.RequestError as error:
        assert "fX" in str(error)  # noqa: PT017
    finally:
        forthwith.register_class("TDatime", None)
    with forthwith.open(data("histograms.root")) as file:
        assert file["date"].fDatime > 0
    forthwith.register_class("TNamed", {"TObject": "base", "fOne": "TString", "fOther": "TString"})
    try:
        with forthwith.open(data("histograms.root")) as file:
            assert file["listed"][0].fOther == "one object"
    finally:
        forthwith.register_class("TNamed", None)
