"""One basket at a time."""

import itertools

import awkward as ak
import numpy as np
import pytest
from conftest import data

import forthwith


def test_the_type_says_what_comes(tree):
    assert type(tree["MET_pt"].bulk()) is forthwith.KernelBulk
    assert type(tree["Muon_pt"].bulk()) is forthwith.KernelBulk
    assert type(tree["Track_hits"].bulk()) is forthwith.ProgramBulk
    assert type(tree["Track_hits"].bulk(raw=True)) is forthwith.RawBulk
    assert type(next(tree["MET_pt"].bulk())) is forthwith.KernelBatch
    assert type(next(tree["Track_hits"].bulk())) is forthwith.ProgramBatch
    assert type(next(tree["MET_pt"].bulk(raw=True))) is forthwith.RawBatch


@pytest.mark.parametrize("name", ["MET_pt", "Muon_pt", "Track_hits", "dataset", "PV_xyz"])
@pytest.mark.parametrize(("start", "stop"), [(None, None), (7, 3000), (-100, None), (5, 5)])
def test_batches_make_the_whole(tree, name, start, stop):
    branch = tree[name]
    bulk = branch.bulk(start, stop)
    batches = list(bulk)
    assert len(batches) == len(bulk) <= branch.num_baskets
    whole = branch.array(entry_start=start, entry_stop=stop)
    assert sum(batch.num_entries for batch in batches) == len(whole)
    for before, after in itertools.pairwise(batches):
        assert before.entry_stop == after.entry_start
        assert before.block < after.block
    if batches:
        together = ak.concatenate([batch.to_awkward() for batch in batches])
        assert ak.array_equal(together, whole)
        first = batches[0]
        assert first.type == branch.interpretation.__repr__().rpartition(" (")[0]
        assert len(first.to_numpy()) == first.num_entries
        assert all(isinstance(buffer, np.ndarray) for buffer in first.buffers.values())
        assert f"entries {first.entry_start} to {first.entry_stop}" in repr(first)


def test_raw_batches_are_big_endian(tree):
    batches = list(tree["MET_pt"].bulk(raw=True))
    together = np.concatenate([batch.array for batch in batches])
    assert batches[0].array.dtype == np.dtype(">f4")
    assert (together == tree["MET_pt"].array(library="np")).all()
    assert batches[0].bounds is None
    assert batches[0].payload.dtype == np.dtype("uint8")
    assert batches[0].payload.nbytes == batches[0].array.nbytes
    assert not batches[0].view  # they were compressed


def test_raw_batches_are_whole_baskets(tree):
    (first, *_) = tree["MET_pt"].bulk(5, 6, raw=True)
    assert first.entry_start == 0
    assert len(first.array) == first.num_entries


def test_raw_lists_come_with_bounds(tree):
    first = next(tree["Muon_pt"].bulk(raw=True))
    assert first.array.dtype == np.dtype(">f4")
    assert len(first.bounds) == first.num_entries + 1
    at = first.bounds // 4
    lists = [first.array[a:b].tolist() for a, b in itertools.pairwise(at)]
    assert lists == tree["Muon_pt"].array(entry_start=0, entry_stop=first.entry_stop).to_list()


def test_raw_entries_of_a_program_are_bytes(tree):
    first = next(tree["Track_hits"].bulk(raw=True))
    assert first.array.dtype == np.dtype("uint8")
    assert len(first.bounds) == first.num_entries + 1
    assert first.bounds[-1] <= first.payload.nbytes


def uncompressed(source):
    file = forthwith.open(data("codec-none.root"), source=source)
    for tree in file.values(filter_classname="TTree"):
        for branch in tree.values():
            if branch.has_data and branch.interpretation.decoder == "kernel":
                yield branch


def test_raw_batches_of_a_mapped_file_are_views():
    views = 0
    for branch in uncompressed("map"):
        copied = next(b for b in uncompressed("pread") if b.path == branch.path and b.tree.path == branch.tree.path)
        for one, other in zip(branch.bulk(raw=True), copied.bulk(raw=True), strict=True):
            assert (one.payload == other.payload).all()
            assert not other.view
            if one.view:
                views += 1
                assert not one.payload.flags.writeable
    assert views > 0


def test_views_outlive_the_file():
    branch = next(uncompressed("map"))
    batch = next(branch.bulk(raw=True))
    before = batch.payload.copy()
    payload = batch.payload
    branch.file.close()
    del branch, batch
    assert (payload == before).all()
