"""uproot's names over forthwith: cuts on items of lists, numbers as truth, and positions in lists."""

import numpy as np
import pytest

import forthwith
from forthwith import uproot

ak = pytest.importorskip("awkward")


@pytest.fixture(params=["TTree", "RNTuple"])
def table(request, tmp_path):
    arrays = {
        "pt": ak.values_astype(ak.Array([[30, 10], [25], [40, 5, 22]]), "float32"),
        "eta": ak.values_astype(ak.Array([[1, 2], [0], [-1, 3, 2]]), "float32"),
        "met": np.array([1, 0, 3], np.int32),
    }
    with forthwith.recreate(tmp_path / "t.root") as file:
        if request.param == "TTree":
            file["t"] = arrays
        else:
            file.mkrntuple("t", arrays)
    with uproot.open(tmp_path / "t.root") as file:
        yield file["t"]


def test_a_cut_of_lists_leaves_out_items(table):
    found = table.arrays(["pt", "eta"], cut="pt > 20")
    assert found["pt"].tolist() == [[30], [25], [40, 22]]
    assert found["eta"].tolist() == [[1], [0], [-1, 2]]
    found = table.arrays(["eta", "x"], cut="x > 400", aliases={"x": "pt**2"})
    assert found["eta"].tolist() == [[1], [0], [-1, 2]]
    assert found["x"].tolist() == [[900], [625], [1600, 484]]
    assert table.arrays(["pt"], cut="pt - 10")["pt"].tolist() == [[30], [25], [40, 5, 22]]
    assert table.arrays(["pt"], cut="(pt > 20) & (met > 0)")["pt"].tolist() == [[30], [], [40, 22]]
    steps = list(table.iterate(["pt"], cut="pt > 20", step_size=2))
    assert [item for step in steps for item in step["pt"].tolist()] == [[30], [25], [40, 22]]
    lists = table.arrays(["pt"], cut="pt > 20", library="np")["pt"]
    assert [one.tolist() for one in lists] == [[30], [25], [40, 22]]


def test_a_cut_is_true_where_a_number_is_not_zero(table):
    assert table.arrays(["met"], cut="met")["met"].tolist() == [1, 3]
    assert table.arrays(["met"], cut="pt[:, 0] > 26")["met"].tolist() == [1, 3]


def test_positions_in_lists(table):
    assert str(table.arrays(["pt[:, 0]"])["pt[:, 0]"].type) == "3 * float32"
    assert table.arrays(["pt[:, -1]"])["pt[:, -1]"].tolist() == [10, 25, 22]
    assert table.arrays(["pt[:, 1]"])["pt[:, 1]"].tolist() == [10, None, 5]
    assert table.arrays(["pt[:, :1]"])["pt[:, :1]"].tolist() == [[30], [25], [40]]
    lists = table.arrays(["pt[:, :1]"], library="np")["pt[:, :1]"]
    assert lists.dtype == object
    assert [one.tolist() for one in lists] == [[30], [25], [40]]
