"""The index of a pandas data frame in trees and RNTuples."""

import pytest

import forthwith

pd = pytest.importorskip("pandas")
X = {"x": [1.5, 2.5, 3.5]}


@pytest.fixture(params=["mktree", "mkrntuple"])
def written(tmp_path, request):
    def write(frame, *more):
        with forthwith.recreate(tmp_path / "i.root") as file:
            table = getattr(file, request.param)("t", frame)
            for one in more:
                table.extend(one)
        return forthwith.open(f"{tmp_path}/i.root:t")

    return write


@pytest.mark.parametrize(
    ("index", "columns"),
    [
        (None, ["x"]),
        (["a", "b", "c"], ["index", "x"]),
        ([7, 3, 5], ["index", "x"]),
        (range(4, 7), ["index", "x"]),
        (range(0, 6, 2), ["index", "x"]),
        (pd.Index([1, 2, 3], name="k"), ["k", "x"]),
        (pd.MultiIndex.from_tuples([(1, "a"), (1, "b"), (2, "c")]), ["level_0", "level_1", "x"]),
        (pd.MultiIndex.from_tuples([(1, "a"), (1, "b"), (2, "c")], names=["n", None]), ["n", "level_1", "x"]),
    ],
)
def test_an_index_that_is_data_is_a_column(written, index, columns):
    frame = pd.DataFrame(X, index=index)
    table = written(frame)
    assert table.keys() == columns
    if index is not None:
        values = frame.reset_index()
        assert [table[name].array().to_list() for name in columns] == [values[name].to_list() for name in columns]


def test_filtered_and_grouped_frames_keep_their_rows(written):
    frame = pd.DataFrame({"g": ["b", "a", "b"], **X})
    assert written(frame[frame.x > 2])["index"].array().to_list() == [1, 2]
    assert written(frame[["x"]].groupby(["b", "a", "b"]).sum())["index"].array().to_list() == ["a", "b"]


def test_steps_have_the_columns_of_the_first(written):
    whole = pd.DataFrame({"x": range(6)})
    assert written(whole[:3], whole[3:]).keys() == ["x"]
    table = written(whole[whole.x > 3], whole[whole.x < 2], whole[:1])
    assert table["index"].array().to_list() == [4, 5, 0, 1, 0]


def test_a_column_called_index_stays(written):
    frame = pd.DataFrame({"index": [1, 2]}, index=["a", "b"])
    assert written(frame).keys() == ["level_0", "index"]
    with pytest.raises(forthwith.RequestError, match="the index of a data frame as a column"):
        written(pd.DataFrame({"index": [1], "level_0": [2]}, index=["a"]))
