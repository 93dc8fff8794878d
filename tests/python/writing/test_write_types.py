"""Types of Awkward Arrays as types of columns: their lengths are numbers of entries."""

import awkward as ak
import numpy as np
import pytest

import forthwith
import forthwith.uproot

COLUMNS = {
    "x": ak.Array([1.0, 2.0]),
    "lists": ak.Array([[1.0, 2.0], []]),
    "fixed": ak.Array(np.arange(6, dtype=np.int32).reshape(2, 3)),
    "text": ak.Array(["a", "bc"]),
}


@pytest.mark.parametrize("module", [forthwith, forthwith.uproot])
@pytest.mark.parametrize("make", ["mktree", "mkrntuple"])
@pytest.mark.parametrize("times", [1, 2])
def test_lengths_of_arrays_are_no_dimensions(tmp_path, module, make, times):
    given = {name: ak.concatenate([array] * times) for name, array in COLUMNS.items()}
    with module.recreate(tmp_path / "t.root") as file:
        types = {name: array.type for name, array in COLUMNS.items()}
        table = file.mktree("t", types, jagged="vector") if make == "mktree" else file.mkrntuple("t", types)
        table.extend(given)
        with pytest.raises(ValueError, match="x"):
            table.extend({**given, "x": np.ones((2 * times, 3))})
    with forthwith.open(f"{tmp_path}/t.root:t") as table:
        read = table.arrays()
        assert str(read.type.content) == str(ak.zip(COLUMNS, depth_limit=1).type.content)
        assert read.to_list() == ak.zip(given, depth_limit=1).to_list()


def test_fields_that_are_added(tmp_path):
    with forthwith.recreate(tmp_path / "t.root") as file:
        table = file.mkrntuple("t", {"x": "f8"})
        table.extend({"x": [1.0]})
        table.add_fields({"lists": COLUMNS["lists"].type})
        table.extend({"x": [2.0], "lists": [[3.0]]})
    assert forthwith.open(f"{tmp_path}/t.root:t")["lists"].array().tolist() == [[], [3.0]]
