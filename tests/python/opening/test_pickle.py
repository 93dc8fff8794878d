"""Pickled objects are found again where they were."""

import concurrent.futures
import io
import multiprocessing
import pickle

import pytest

import forthwith


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def test_files_and_what_is_in_them(path):
    file = forthwith.open(path, threads=2, memory="1 GB", source="map")
    other = again(file)
    assert other.keys() == file.keys()
    assert other._options == file._options
    assert other is not file
    assert again(file["skim"]).keys() == ["events;1"]
    tree = again(file["skim/events"])
    assert tree.path == "skim/events"
    assert tree.num_entries == file["skim/events"].num_entries
    assert len(pickle.dumps(tree)) < 1000
    branch = again(file["events/Muon_pt"])
    assert branch.array().tolist() == file["events/Muon_pt"].array().tolist()
    selection = again(file["events"].select(["run"], entry_stop=10))
    assert len(selection.arrays()) == 10


def test_one_file_stays_one(path):
    file = forthwith.open(path)
    one, two = again([file["events"], file["skim/events"]])
    assert one.file is two.file


def test_a_file_object_is_pickled_if_it_can_be(path):
    with open(path, "rb") as raw:
        tree = forthwith.open(io.BytesIO(raw.read()))["events"]
        assert again(tree)["run"].array().tolist() == tree["run"].array().tolist()
        with pytest.raises(TypeError):
            pickle.dumps(forthwith.open(raw))


def test_errors(file):
    with pytest.raises(forthwith.KeyInFileError) as caught:
        file["evnets"]
    error = again(caught.value)
    assert type(error) is forthwith.KeyInFileError
    assert str(error) == str(caught.value)
    assert error.near == caught.value.near
    with pytest.raises(forthwith.MissingFileError) as caught:
        forthwith.open("/no/such/file.root")
    error = again(caught.value)
    assert str(error) == str(caught.value)
    assert error.filename == "/no/such/file.root"


def total(tree):
    return int(tree["event"].array(library="np").sum() % 1000003)


def test_work_goes_to_other_processes(file):
    tree = file["events"]
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(total, tree).result() == total(tree)
