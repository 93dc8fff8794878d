"""A branch without branches in it stands for itself wherever data are taken, and nothing is taken for its names."""

import io
import sys

import awkward as ak
import hist
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import data

import forthwith

FLAT = ["run", "weight", "MET_pt", "PV_xyz"]
LISTS = ["Muon_pt", "Track_hits"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FLAT, *LISTS, "dataset"])
def test_data_are_taken_from_the_branch_itself(tree, name):
    branch, wanted = tree[name], tree.arrays([name])
    assert branch.keys() == []
    assert branch.arrays().tolist() == wanted.tolist()
    assert branch.arrays(name).tolist() == branch.arrays([name]).tolist() == wanted.tolist()
    assert branch.arrays(filter_name=name[:2] + "*", entry_stop=7).tolist() == wanted[:7].tolist()
    assert ak.concatenate(list(branch.iterate(step_size=1000))).tolist() == wanted.tolist()
    assert [report.stop for _, report in branch.iterate(step_size=2000, report=True)] == [2000, 3600]
    assert branch.select(entry_start=5).keys() == [name]
    assert branch.select(entry_start=5).arrays().tolist() == wanted[5:].tolist()
    for library in ("np", "pd", "arrow"):
        one, all_ = branch.arrays(library=library)[name], tree.arrays([name], library=library)[name]
        assert len(one) == len(all_) == 3600
        assert repr(list(one)) == repr(list(all_))
    for table in (pa.table(branch), pl.DataFrame(branch).to_arrow(), pd.DataFrame.from_arrow(branch)):
        assert list(getattr(table, "column_names", getattr(table, "columns", None))) == [name]
        assert len(table) == 3600
    assert len(pl.Series(branch)) == 3600
    shown = io.StringIO()
    branch.show(stream=shown)
    assert shown.getvalue().splitlines()[2].startswith(name)
    assert name in branch._repr_html_().partition("<tbody>")[2]
    assert branch.explain().startswith(name)
    for write, ending in ((forthwith.write_avro, "avro"), (forthwith.write_parquet, "parquet")):
        if name != "PV_xyz" or ending == "parquet":
            place = io.BytesIO()
            write(place, branch)
            place.seek(0)
            with forthwith.open(place) as written:
                assert written.arrays().tolist() == wanted.tolist()
    with pytest.raises(ValueError, match="no branch passes"):
        branch.arrays(filter_name="nothing")
    with pytest.raises(forthwith.KeyInFileError):
        branch.arrays("nothing")


@pytest.mark.parametrize("name", FLAT)
def test_numpy_takes_the_values(tree, name):
    branch, wanted = tree[name], tree[name].array(library="np")
    for taken in (np.asarray(branch), np.array(branch), branch.to_numpy(), np.from_dlpack(branch)):
        assert taken.dtype == wanted.dtype
        assert np.array_equal(taken, wanted)
    assert np.asarray(branch, dtype="f4").dtype == np.float32
    assert np.mean(branch) == np.mean(wanted)
    assert np.histogram(branch)[0].sum() == wanted.size
    assert pd.Series(branch).size == 3600 if wanted.ndim == 1 else True
    assert ak.Array(branch).tolist() == wanted.tolist()
    if wanted.ndim == 1:
        filled = hist.Hist.new.Reg(10, 0, 1e6).Double().fill(branch)
        assert filled.sum(flow=True) == 3600


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_no_array_of_numpy(tree, name):
    for take in (np.asarray, np.sum, np.histogram, ak.Array, pd.Series, list, forthwith.from_iter):
        with pytest.raises(TypeError, match=r"\.array\("):
            take(tree[name])


def test_missing_values_are_no_array_of_numpy():
    place = io.BytesIO()
    forthwith.write_parquet(place, {"x": pa.array([1, None, 3]), "t": pa.array(["a", "b", "c"])})
    place.seek(0)
    with forthwith.open(place) as tree:
        with pytest.raises(TypeError, match="missing values"):
            np.asarray(tree["x"])
        assert tree["x"].array(library="np").tolist() == [1, None, 3]


@pytest.mark.parametrize("take", [np.asarray, ak.Array, pd.DataFrame, forthwith.from_iter, np.mean])
def test_names_are_not_taken_for_data(tree, take):
    with pytest.raises(TypeError, match=r"\.arrays\(\)"):
        take(tree)
    with forthwith.open(data("objects.root:split")) as split, pytest.raises(TypeError, match=r"\.arrays\(\)"):
        take(split["event"])


def test_branches_that_begin_late_stand_for_themselves():
    with forthwith.open(data("layout.root")) as file:
        for tree in file.values():
            for branch in tree.values():
                if branch.has_data and not branch.keys():
                    one = branch.array()
                    assert branch.arrays()[branch.name].tolist() == one.tolist()
                    assert len(pa.table(branch)) == len(one)


def test_arguments_by_place_are_as_in_uproot(tree):
    branch = tree["MET_pt"]
    whole = branch.array()
    assert branch.array(None, 5).tolist() == whole[5:].tolist()
    assert branch.array(None, 5, 9).tolist() == whole[5:9].tolist()
    assert branch.array(branch.interpretation, 5, 9).tolist() == whole[5:9].tolist()
    for wrong in ((0, 5), (5,), (tree["run"].interpretation,), ("f8",)):
        with pytest.raises(TypeError, match="entry_start="):
            branch.array(*wrong)


def test_with_closes_the_file(path):
    with forthwith.open(path + ":events/MET_pt") as branch:
        assert branch.array(entry_stop=2).tolist()
    with pytest.raises(forthwith.ClosedFileError):
        branch.array()


def test_progress_draws_a_bar(tree, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    tree.arrays(["MET_pt", "Muon_pt"], progress=True)
    tree["MET_pt"].array(progress=True)
    for _ in tree.iterate(["run"], step_size=1800, progress=True):
        pass
    drawn = capsys.readouterr().err
    assert "100%" in drawn
    assert drawn.count("\n") == 3
    tree.arrays(["MET_pt"], progress=False)
    assert capsys.readouterr().err == ""
