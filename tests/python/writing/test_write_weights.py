"""Histograms that keep weights keep them in files, also where all weights are one."""

import boost_histogram as bh
import hist
import numpy as np
import pytest

import forthwith
import forthwith.uproot


def weighted(weight):
    made = hist.Hist.new.Reg(5, 0, 1, name="m").StrCat(["a", "b"], name="c").Weight()
    return made if weight is None else made.fill([0.1, 0.3, 2.0], "a", weight=weight)


@pytest.mark.parametrize("module", [forthwith, forthwith.uproot])
@pytest.mark.parametrize("weight", [None, 0.0, 1.0, 2.0])
def test_storages_come_back(tmp_path, module, weight):
    made = weighted(weight)
    with module.recreate(tmp_path / "h.root") as file:
        file["h"] = made
        file["one"] = made.project("m")
    with module.open(tmp_path / "h.root") as file:
        for name, was in (("h", made), ("one", made.project("m"))):
            read = file[name].to_hist()
            assert read.storage_type is bh.storage.Weight
            assert np.array_equal(read.values(), was.values())
            assert np.array_equal(read.variances(), was.variances())


def test_counts_have_no_sums_of_squares(tmp_path):
    with forthwith.recreate(tmp_path / "h.root") as file:
        for storage in (bh.storage.Double(), bh.storage.Int64(), bh.storage.AtomicInt64(), bh.storage.Unlimited()):
            file[type(storage).__name__] = bh.Histogram(bh.axis.Regular(5, 0, 1), storage=storage).fill([0.1, 0.3])
    with forthwith.open(tmp_path / "h.root") as file:
        assert [file[name].weighted for name in file.keys()] == [False] * 4  # noqa: SIM118
        assert file["Double"].to_hist().storage_type is bh.storage.Double


def test_a_histogram_of_a_file_keeps_them(tmp_path):
    with forthwith.recreate(tmp_path / "a.root") as file:
        file["h"] = weighted(1.0)
    with forthwith.open(tmp_path / "a.root") as source, forthwith.recreate(tmp_path / "b.root") as file:
        file["boost"] = source["h"].to_boost()
        file["hist"] = source["h"].to_hist()
        file["itself"] = source["h"]
    with forthwith.open(tmp_path / "b.root") as file:
        for name in ("boost", "hist", "itself"):
            assert file[name].weighted
            assert file[name].member("fEntries") == 3
