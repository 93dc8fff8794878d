"""Columns that are computed, and entries that are chosen, where they are read."""

import pickle

import awkward as ak
import numpy as np
import pyarrow as pa
import pytest
from conftest import DATA, data
from random_expressions import campaign

import forthwith


@pytest.fixture(scope="module")
def formats(tmp_path_factory, tree_path):
    """The same columns in a ROOT file, a Parquet file and an Avro file."""
    folder = tmp_path_factory.mktemp("formats")
    with forthwith.open(tree_path) as tree:
        table = tree.arrays(["nMuon", "Muon_pt", "Muon_eta", "MET_pt"], library="arrow")
    forthwith.parquet.write(str(folder / "events.parquet"), table, row_group_entries=500)
    forthwith.avro.write(str(folder / "events.avro"), table)
    return [tree_path, str(folder / "events.parquet"), str(folder / "events.avro")]


@pytest.fixture(scope="module")
def tree_path():

    return str(DATA / "zmumu.root") + ":events"


@pytest.fixture(scope="module")
def whole(tree_path):
    with forthwith.open(tree_path) as tree:
        return tree.arrays(["nMuon", "Muon_pt", "Muon_eta", "MET_pt"])


def test_cuts_and_aliases_are_the_same_in_all_formats(formats, whole):
    passing = (whole.nMuon > 1) & ak.any(whole.Muon_pt > 30, axis=-1)
    for path in formats:
        with forthwith.open(path) as tree:
            found = tree.arrays(["pt2", "MET_pt"], aliases={"pt2": "Muon_pt**2"}, cut="nMuon > 1 and any(Muon_pt > 30)")
            assert ak.array_equal(found.pt2, whole.Muon_pt[passing] ** 2)
            assert ak.array_equal(found.MET_pt, whole.MET_pt[passing])
            steps = list(tree.iterate(["MET_pt"], cut="nMuon > 1 and any(Muon_pt > 30)", step_size=333))
            assert ak.array_equal(ak.concatenate(steps).MET_pt, whole.MET_pt[passing])
            assert tree["MET_pt"].array(cut="nMuon == 2", library="np").tolist() == (
                whole.MET_pt[whole.nMuon == 2].to_list()
            )
            assert len(tree.arrays(["MET_pt"], cut="MET_pt < 0")) == 0
            none = list(tree.iterate(["MET_pt * 2"], cut="MET_pt < 0", step_size=1000))
            assert [len(step) for step in none] == [0] * len(none)


def test_entries_are_numbers_or_a_mask(formats, whole):
    mask = np.arange(len(whole)) % 7 == 3
    for path in formats:
        with forthwith.open(path) as tree:
            for entries in (mask, np.flatnonzero(mask), np.flatnonzero(mask).tolist(), mask.tolist(), ak.Array(mask)):
                found = tree.arrays(["Muon_pt", "count(Muon_pt)"], entries=entries)
                assert ak.array_equal(found["Muon_pt"], whole.Muon_pt[mask])
                assert ak.array_equal(found["count(Muon_pt)"], ak.num(whole.Muon_pt[mask]))
            both = tree.arrays(["MET_pt"], entries=mask, cut="nMuon == 2", entry_start=100, entry_stop=-100)
            wanted = mask & np.asarray(whole.nMuon == 2) & (np.arange(len(whole)) >= 100)
            wanted &= np.arange(len(whole)) < len(whole) - 100
            assert ak.array_equal(both.MET_pt, whole.MET_pt[wanted])
            assert len(tree.arrays(["MET_pt"], entries=[])) == 0
            for wrong, error in (
                ([3, 2], "must be in ascending order"),
                ([-1], "no negative"),
                (np.array([-1]), "counted from 0"),
                ([3600], "no entry 3600"),
                ([True, False], "of 2 entries"),
                (mask[:-1], "of 3599 entries"),
            ):
                with pytest.raises(forthwith.RequestError, match=error):
                    tree.arrays(["MET_pt"], entries=wrong)
            for wrong in (3, [1.5], np.array([1.5]), ["x"], np.zeros((2, 2), int)):
                with pytest.raises(TypeError, match="entries must be"):
                    tree.arrays(["MET_pt"], entries=wrong)


def test_libraries_have_the_entries_that_pass(tree, whole):
    passing = np.flatnonzero(np.asarray(whole.nMuon == 2))
    frame = tree.arrays(["MET_pt", "Muon_pt * 2"], cut="nMuon == 2", library="pd")
    assert frame.index.tolist() == passing.tolist()
    assert tree["MET_pt"].array(cut="nMuon == 2", library="pd").index.tolist() == passing.tolist()
    columns = tree.arrays(["MET_pt"], cut="nMuon == 2", library="pd", how=dict)
    assert columns["MET_pt"].index.tolist() == passing.tolist()
    steps = list(tree.iterate(["MET_pt"], cut="nMuon == 2", library="pd", step_size=1000))
    assert [at for step in steps for at in step.index] == passing.tolist()
    for library in ("np", "arrow", "pl"):
        assert len(tree.arrays(["MET_pt"], cut="nMuon == 2", library=library)["MET_pt"]) == len(passing)
    zipped = tree.arrays(["Muon_pt", "Muon_eta"], cut="nMuon == 2", how="zip")
    assert zipped.Muon.pt.to_list() == whole.Muon_pt[whole.nMuon == 2].to_list()


def test_streams_and_selections(tree, whole):
    selection = tree.select(["MET_pt", "Muon_pt * 2"], cut="nMuon == 2", step_size=700)
    passing = whole.nMuon == 2
    assert selection.num_entries == ak.sum(passing)
    assert pa.table(selection).num_rows == ak.sum(passing)
    assert pa.schema(selection).names == ["MET_pt", "Muon_pt * 2"]
    again = pickle.loads(pickle.dumps(selection))
    assert ak.array_equal(again.arrays(), selection.arrays())
    one = selection["Muon_pt * 2"]
    assert one.array().to_list() == (whole.Muon_pt[passing] * 2).to_list()
    assert "var * float32" in str(selection._repr_html_())
    with pytest.raises(forthwith.RequestError, match="give bounds to select"):
        selection.arrays(entry_start=1)


def test_chains_cut_each_tree_and_count_entries_in_all(tree_path, whole):
    paths = [tree_path, tree_path]
    twice = ak.concatenate([whole.MET_pt, whole.MET_pt])
    cut = forthwith.concatenate(paths, ["MET_pt"], cut="nMuon == 2")
    assert cut.MET_pt.to_list() == twice[np.tile(np.asarray(whole.nMuon == 2), 2)].to_list()
    some = forthwith.concatenate(paths, ["MET_pt"], entries=[1, 3599, 3600, 7199])
    assert some.MET_pt.to_list() == twice[[1, 3599, 3600, 7199]].to_list()
    steps = forthwith.iterate(paths, ["m"], aliases={"m": "MET_pt / 2"}, entries=np.arange(7200) % 2 == 0)
    assert ak.concatenate(list(steps)).m.to_list() == (twice[::2] / 2).to_list()
    chain = forthwith.open(paths)
    assert chain.select(["MET_pt"], cut="nMuon == 2").num_entries == len(cut)
    with pytest.raises(forthwith.RequestError, match="no entry 7200"):
        chain.arrays(["MET_pt"], entries=[7200])
    with pytest.raises(forthwith.RequestError, match="missing='null' cannot be combined"):
        chain.arrays(["MET_pt"], cut="nMuon == 2", missing="null", errors="skip")
    united, whole = (chain.arrays(["MET_pt"], cut="nMuon == 2", missing=missing) for missing in ("null", "raise"))
    assert ak.array_equal(united, whole)


def test_errors_say_where_and_what(tree):
    with pytest.raises(forthwith.RequestError, match=r'no column "Muon_ptt"; did you mean Muon_pt.*\n +Muon_ptt \*'):
        tree.arrays(["Muon_ptt * 2"])
    with pytest.raises(forthwith.RequestError, match="reduce it by any"):
        tree.arrays(["MET_pt"], cut="Muon_pt > 20")
    with pytest.raises(forthwith.RequestError, match=r"Muon_pt > > 2\n +\^"):
        tree.arrays(["MET_pt"], cut="Muon_pt > > 2")
    with pytest.raises(forthwith.RequestError, match="is the name of a column"):
        tree.arrays(["MET_pt"], aliases={"MET_pt": "1"})
    with pytest.raises(forthwith.RequestError, match="refers to itself"):
        tree.arrays(["a"], aliases={"a": "b", "b": "a"})
    with pytest.raises(forthwith.RequestError, match="errors='null' cannot be combined"):
        tree.arrays(["MET_pt"], cut="nMuon > 1", errors="null")
    for wrong in ({"cut": 3}, {"aliases": {"a": 3}}, {"aliases": "ab"}):
        with pytest.raises(TypeError, match=r"must be"):
            tree.arrays(["MET_pt"], **wrong)
    for hostile in ("(" * 100_000, "-" * 10_000 + "1", "9**9**9**9", "x" * 70_000):
        with pytest.raises((forthwith.RequestError, forthwith.KeyInFileError)):
            tree.arrays([hostile])
    assert len(tree.arrays(["MET_pt"], cut="nMuon > 1", errors="skip")) == 2431
    with pytest.raises(forthwith.KeyInFileError) as caught:
        tree.arrays(["max(Muon_pt, Muon_eta, axis=-1)"])
    assert "takes no axis\n    max(Muon_pt, Muon_eta, axis=-1)\n    ^^^^" in str(caught.value)
    with pytest.raises(forthwith.RequestError, match="has no quotes, as in `MET_pt`"):
        tree.arrays(["'MET_pt'"])
    assert tree.arrays(["`MET_pt`"], how=tuple)[0].to_list() == tree["MET_pt"].array().to_list()
    # Aliases are looked at whether anything uses them or not; a text is one for comparisons.
    with pytest.raises(
        forthwith.RequestError, match=r'no column "MET_ptt".*in the alias "a"\n    MET_ptt \+ 1\n    \^\^'
    ):
        tree.arrays(["MET_pt"], aliases={"a": "MET_ptt + 1"})
    assert len(tree.arrays(["MET_pt"], aliases={"a": "'text'", "b": "5", "c": "b"})) == 3600


@pytest.mark.parametrize("seed", [7])
def test_random_expressions_are_those_of_awkward(seed):
    problems, computed = campaign(seed, 400)
    assert not problems, "\n".join(problems[:5])
    assert computed > 150


def test_entries_are_numbers_or_a_mask_and_nothing_else():
    import array

    tree = forthwith.open(data("zmumu.root") + ":events")
    expected = tree.arrays(["MET_pt"])[[1, 2, 3]]
    for code in "bBhHiIlLqQ":
        assert ak.array_equal(tree.arrays(["MET_pt"], entries=array.array(code, [1, 2, 3])), expected)
    for wrong in (
        array.array("d", [1, 2]),
        np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        [True, 2],
        {1, 2},
        {1: 2},
        b"ab",
        "12",
    ):
        with pytest.raises((TypeError, ValueError)):
            tree.arrays(["MET_pt"], entries=wrong)
    with pytest.raises(ValueError, match=r"negative|counted from 0"):
        tree.arrays(["MET_pt"], entries=array.array("q", [-1]))


def test_columns_that_may_have_nulls_are_cut(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "nulls.parquet"
    pq.write_table(pa.table({"c": [1, None, 3, 0], "k": [1, 2, 3, 4], "l": [[1], None, [2, 3], []]}), path)
    tree = forthwith.open(path)
    for cut, entries in (("k != 2", [0, 2, 3]), ("k != 3", [0, 1, 3]), ("k > 0", [0, 1, 2, 3])):
        whole = tree.arrays(["c", "l"])
        assert tree.arrays(["c", "l"], cut=cut).to_list() == whole[entries].to_list()
        assert tree.arrays(["c", "l"], entries=entries).to_list() == whole[entries].to_list()


def test_an_axis_is_given_once():
    tree = forthwith.open(data("zmumu.root") + ":events")
    with pytest.raises((KeyError, ValueError)):
        tree.arrays(["sum(Muon_pt, axis=0, axis=-1)"])


def test_lists_that_might_be_missing_and_are_not(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    random = np.random.default_rng(0)
    lists = [random.normal(size=count).tolist() for count in random.integers(0, 4, 1000)]
    table = {
        "l": lists,
        "m": [[int(x > 0) for x in items] for items in lists],
        "ll": [[[1.5] * inner for inner in range(count)] for count in random.integers(0, 4, 1000)],
        "x": random.normal(size=1000),
        "holes": [[None if x > 1 else x for x in items] for items in lists],
    }
    pq.write_table(pa.table(table), tmp_path / "x.parquet", row_group_size=137)
    with forthwith.open(tmp_path / "x.parquet") as file:
        a = file.arrays()
        assert str(a.l.type) == "1000 * option[var * ?float64]"
        for text, wanted in {
            "l * 2": a.l * 2,
            "l * x": a.l * a.x,
            "l[m == 1]": a.l[a.m == 1],
            "ll + x": a.ll + a.x,
            "holes - l": a.holes - a.l,
            "any(l > 1)": ak.any(a.l > 1, axis=-1),
            "count(holes)": ak.count(a.holes, axis=-1),
        }.items():
            assert file.arrays([text])[text].to_list() == wanted.to_list(), text
        for text, wanted in {"sum(l[l > 0])": ak.sum(a.l[a.l > 0], axis=-1), "sum(ll)": ak.sum(a.ll, axis=-1)}.items():
            found = file.arrays([text])[text]
            assert np.allclose(ak.flatten(found, axis=None), ak.flatten(wanted, axis=None)), text
        part, there = slice(100, 700), (a.x > 0) & ak.any(a.l > 1, axis=-1)
        found = file.arrays(["l"], cut="(x > 0) & any(l > 1)", entry_start=100, entry_stop=700)
        assert found.l.to_list() == a.l[part][there[part]].to_list()


def test_lists_that_are_missing(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    rows = {"l": [[1.0], None, [2.0, None]], "x": [1, 2, None], "ll": [[[1, 2], None], None, [[], [3]]]}
    pq.write_table(pa.table(rows), tmp_path / "x.parquet")
    with forthwith.open(tmp_path / "x.parquet") as file:
        for text, wanted in {
            "l * 2": [[2.0], None, [4.0, None]],
            "l * x": [[1.0], None, None],
            "ll + x": [[[2, 3], None], None, None],
            "sum(l)": [1.0, None, 2.0],
            "count(ll)": [[2, None], None, [0, 1]],
            "ll[any(ll > 1)]": [[[1, 2], None], None, [[3]]],
            "where(l > 0, l, x)": [[1.0], None, [2.0, None]],
        }.items():
            found = file.arrays([text])[text]
            assert found.to_list() == wanted, text
            assert file.select([text]).arrays()[text].type == found.type
        assert file.arrays(["x"], cut="any(l > 0)").to_list() == [{"x": 1}, {"x": None}]
    # Offsets of chunks that do not begin at 0, and steps of which some have no missing list.
    many = {"l": [None if at % 700 == 3 else [at] * (at % 4) for at in range(3000)], "x": list(range(3000))}
    pq.write_table(pa.table(many), tmp_path / "y.parquet", row_group_size=350)
    wanted = [
        None if items is None else [item * 2 + x for item in items] for items, x in zip(*many.values(), strict=True)
    ]
    with forthwith.open(tmp_path / "y.parquet") as file:
        assert file.arrays(["2 * l + x"], entry_start=10)["2 * l + x"].to_list() == wanted[10:]
        steps = list(file.iterate(["2 * l + x"], step_size=123))
        assert len({str(step.type).split(" * ", 1)[1] for step in steps}) == 1
        assert ak.concatenate(steps)["2 * l + x"].to_list() == wanted
        chosen = file.arrays(["2 * l + x"], cut="any(l % 3 == 0)")["2 * l + x"].to_list()
        assert chosen == [items for items, raw in zip(wanted, many["l"], strict=True) if raw and raw[0] % 3 == 0]
