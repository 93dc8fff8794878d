"""Files and directories as mappings."""

import collections.abc

import pytest
from conftest import data

import forthwith


def test_keys(file):
    assert file.keys() == ["mass;2", "mass;1", "events;1", "skim;1", "skim/events;1"]
    assert file.keys(cycle=False) == ["mass", "events", "skim", "skim/events"]
    assert file.keys(recursive=False) == ["mass;2", "mass;1", "events;1", "skim;1"]
    assert list(file) == file.keys()
    assert len(file) == 5
    assert isinstance(file, collections.abc.Mapping)
    assert file._ipython_key_completions_() == file.keys(cycle=False)


def test_filters(file):
    assert file.keys(filter_name="*events") == ["events;1", "skim/events;1"]
    assert file.keys(filter_name="events") == ["events;1", "skim/events;1"]
    assert file.keys(filter_name="/SKIM/i") == ["skim;1", "skim/events;1"]
    assert file.keys(filter_name=["mass", "/sk.m$/"]) == ["mass;2", "mass;1", "skim;1"]
    assert file.keys(filter_name=lambda name: "/" in name) == ["skim/events;1"]
    assert file.keys(filter_classname="TTree") == ["events;1", "skim/events;1"]
    assert file.keys(filter_classname="/TH./") == ["mass;2", "mass;1"]
    assert file.keys(filter_name="nothing") == []
    for wrong in (1, b"x", [None], ["x", 2]):
        with pytest.raises(TypeError, match="filter_name"):
            file.keys(filter_name=wrong)
    with pytest.raises(ValueError, match="not a regular expression"):
        file.keys(filter_name="/(/")
    with pytest.raises(TypeError):
        file.keys(filter_nmae="x")


def test_twins(file):
    wanted = {"recursive": True, "filter_classname": "TTree"}
    assert list(file.iterkeys(**wanted)) == file.keys(**wanted)
    assert [type(value) for value in file.itervalues(**wanted)] == [forthwith.Tree] * 2
    assert list(file.itervalues(**wanted)) == file.values(**wanted)
    assert list(file.iteritems(**wanted)) == file.items(**wanted)
    assert dict(file.iterclassnames(**wanted)) == file.classnames(**wanted)
    assert (
        file.classnames()
        == {
            "mass;2": "TH1F",
            "mass;1": "TH1F",
            "events;1": "TTree",
            "skim;1": "TDirectory",
            "skim/events;1": "TTree",
        }
        or file.classnames()["skim;1"] == "TDirectoryFile"
    )
    assert file.classname_of("mass;1") == "TH1F"


def test_items_of_directories_below(file):
    skim = file["skim"]
    assert isinstance(skim, forthwith.Directory)
    assert skim.path == "skim"
    assert skim.file is file
    assert skim.keys() == ["events;1"]
    assert skim["events"].path == "skim/events"
    assert skim.values() == [file["skim/events"]]
    assert skim.values()[0].num_entries == file["skim/events;1"].num_entries
    assert dict(skim.items())["events;1"].path == "skim/events"
    assert "events" in skim
    assert "mass" not in skim


def test_lookup(file):
    assert file["events"] == file["events;1"] == file["/events"]
    assert file["skim/events"].path == "skim/events"
    assert file["events/Muon_pt"].path == "Muon_pt"
    assert file["skim/events/Muon_pt"].tree == file["skim/events"]
    assert "mass;1" in file
    assert "mass;3" not in file
    assert "events/Muon_pt" in file
    assert "events/Muon_px" not in file
    assert 5 not in file
    with pytest.raises(TypeError):
        file[0]


def test_unknown_names(file):
    with pytest.raises(forthwith.KeyInFileError) as caught:
        file["evnets"]
    error = caught.value
    assert isinstance(error, KeyError)
    assert error.key == "evnets"
    assert "events" in error.near
    text = str(error)
    assert "evnets" in text
    assert "events" in text
    assert file.file_path in text
    assert "\\n" not in text  # KeyError prints the repr of its argument; this one does not
    with pytest.raises(forthwith.KeyInFileError, match="Muon_ptt"):
        file["events/Muon_ptt"]
    with pytest.raises(forthwith.KeyInFileError):
        file["mass;7"]
    assert file.get("evnets") is None


def test_objects_of_other_classes_are_objects(file):
    mass = file["mass"]
    assert mass.classname == "TH1F"
    assert [type(value).__name__ for value in file.values()].count("Histogram") == 2


def test_closing(path):
    with forthwith.open(path) as file:
        tree = file["events"]
        array = tree["Muon_pt"].array()
        batches = tree.iterate(["MET_pt"], step_size=100)
        next(batches)
    assert file.closed
    assert "closed" in repr(file)
    for use in (
        tree["Muon_pt"].array,
        lambda: tree.arrays(["MET_pt"]),
        lambda: next(batches),
        lambda: file["skim/events"],
        lambda: next(tree["MET_pt"].bulk()),
        tree.__arrow_c_stream__,
    ):
        with pytest.raises(forthwith.ClosedFileError, match="closed") as caught:
            use()
        assert isinstance(caught.value, OSError)
        assert isinstance(caught.value, ValueError)
    assert len(array.to_list()) == 3600  # what was read stays
    file.close()


def test_html(file):
    text = file._repr_html_()
    assert "skim/events;1" in text
    assert "<table>" in text
    assert "&lt;File" in text


def test_other_layouts_of_directories():
    with forthwith.open(data("keys.root")) as file:
        for name, classname in file.iterclassnames():
            assert file.classname_of(name) == classname, name
            assert name in file
