"""Mappings of arrays that were read, which calls and files are given by uproot's names."""

import pickle

import numpy as np
import pytest
from conftest import data

from forthwith import uproot

ak = pytest.importorskip("awkward")


def bytes_read(tree):
    return tree.file.source.num_requested_bytes


def test_what_a_mapping_has_is_not_read():
    with uproot.open(data("zmumu.root") + ":events") as tree:
        cache = {}
        first = tree.arrays(["run", "Muon_pt"], array_cache=cache)
        assert len(cache) == 2
        before = bytes_read(tree)
        again = tree.arrays(["run", "Muon_pt"], array_cache=cache)
        assert bytes_read(tree) == before
        assert ak.array_equal(first, again)
        wider = tree.arrays(["run", "Muon_eta"], array_cache=cache)
        assert bytes_read(tree) > before
        assert wider.fields == ["run", "Muon_eta"]
        assert ak.array_equal(wider.Muon_eta, tree["Muon_eta"].array())
        # Other entries, other libraries and other dtypes are other arrays.
        assert len(tree.arrays(["run"], array_cache=cache, entry_stop=7)) == 7
        assert isinstance(tree.arrays(["run"], array_cache=cache, library="np")["run"], np.ndarray)
        assert len(cache) == 5


def test_keys_are_uproots():
    with uproot.open(data("zmumu.root"), array_cache="100 MB")["events"] as tree:
        assert list(tree.file.array_cache) == []
        branch = tree["run"]
        values = branch.array(library="np")
        (key,) = tree.file.array_cache
        assert key == f"{branch.cache_key}:run:{branch.interpretation.cache_key}:0-{tree.num_entries}:np"
        assert branch.array(library="np") is values
        assert branch.array(library="np", array_cache=None) is not values
        assert tree.file.array_cache.current == values.nbytes
        assert pickle.loads(pickle.dumps(tree.file.array_cache)).limit == 100_000_000


def test_no_array_is_kept_without_a_mapping():
    with uproot.open(data("zmumu.root") + ":events") as tree:
        assert tree.file.array_cache is None
        assert tree["run"].array(library="np") is not tree["run"].array(library="np")


def test_branches_of_one_name_are_kept_apart():
    with uproot.open(data("objects.root"), array_cache="100 MB")["split"] as tree:
        for group in ("event/hits", "hits"):
            kept = tree.arrays(filter_name=f"{group}/hits.energy", library="np")
            read = tree.arrays(filter_name=f"{group}/hits.energy", library="np", array_cache=None)
            assert [list(map(list, column)) for column in kept.values()] == [list(map(list, c)) for c in read.values()]


def test_steps_come_from_a_mapping():
    with uproot.open(data("zmumu.root") + ":events") as tree:
        cache = {}
        steps = [list(tree.iterate(["run"], step_size=1000, array_cache=cache)) for _ in range(2)]
        assert len(cache) == len(steps[0]) == 4
        assert all(ak.array_equal(one, other) for one, other in zip(*steps, strict=True))


def test_what_was_not_used_for_long_goes_first():
    cache = uproot.LRUCache(2)
    cache["a"], cache["b"] = 1, 2
    assert cache["a"] == 1
    cache["c"] = 3
    assert sorted(cache) == ["a", "c"]
    with pytest.raises(KeyError):
        del cache["b"]
    arrays = uproot.LRUArrayCache(800)
    arrays["small"] = np.zeros(10)
    arrays["large"] = np.zeros(1000)
    assert list(arrays) == ["small"]
    arrays["other"] = np.zeros(95)
    assert (list(arrays), arrays.current) == (["other"], 760)


@pytest.mark.parametrize("wrong", [3.5, object(), "many"])
def test_what_is_no_mapping_is_refused(wrong):
    with uproot.open(data("zmumu.root") + ":events") as tree, pytest.raises((TypeError, ValueError), match="100 MB"):
        tree["run"].array(array_cache=wrong)
