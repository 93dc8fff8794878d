"""Dates and times in trees: refused, or whole numbers whose branch says what they count."""

import datetime

import numpy as np
import pytest

import forthwith

pa = pytest.importorskip("pyarrow")
DAY = datetime.datetime(2024, 1, 1)
TITLES = {
    "ns": (np.array([DAY], "M8[ns]"), "ns since 1970-01-01"),
    "us": (np.array([DAY], "M8[us]"), "us since 1970-01-01"),
    "utc": (pa.array([DAY], pa.timestamp("ms", "UTC")), "ms since 1970-01-01 UTC"),
    "day": (pa.array([DAY.date()]), "days since 1970-01-01"),
    "time": (pa.array([datetime.time(1)], pa.time64("us")), "us since midnight"),
    "long": (np.array([5], "m8[s]"), "s"),
    "list": (pa.array([[DAY, DAY]], pa.list_(pa.timestamp("us"))), "us since 1970-01-01"),
}


@pytest.mark.parametrize("name", TITLES)
def test_times_are_refused_or_say_their_unit(tmp_path, name):
    column, title = TITLES[name]
    with forthwith.recreate(tmp_path / "t.root") as file:
        for columns in ({name: column, "x": [1]}, {"r": pa.array([{"date": 1, "at": DAY}])}):
            with pytest.raises(forthwith.UnsupportedError, match="times_as_integers=True"):
                file["t"] = columns
        file.mktree("t", {name: column, "date": [1]}, times_as_integers=True)
    with forthwith.open(f"{tmp_path}/t.root:t") as tree:
        assert (tree[name].title, tree["date"].title) == (title, "date/L")
        whole = tree[name].array().to_list()
    kind = pa.list_(pa.int64()) if name == "list" else pa.int32() if name == "day" else pa.int64()
    assert whole == pa.array(column).cast(kind).to_pylist()


def test_frames_of_all_libraries_are_refused(tmp_path):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for columns in (pd.DataFrame({"at": [DAY]}), pl.DataFrame({"at": [DAY]}), pa.table({"at": [DAY]}), {"at": [DAY]}):
        with forthwith.recreate(tmp_path / "t.root") as file, pytest.raises(forthwith.UnsupportedError, match="'at'"):
            file["t"] = columns
