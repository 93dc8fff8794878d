"""Ordered categories and counting indexes of data frames, which come back from Parquet and Arrow files."""

import json
import random

import numpy as np
import pytest

import forthwith

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")

LEVELS = ["none", "low", "mid", "high"]


def _frame(rows=("mid", "high", None, "mid", "low")):
    ordered = pd.Categorical(list(rows), categories=LEVELS, ordered=True)
    plain = pd.Categorical(list(rows))
    frame = pd.DataFrame({"c": ordered, "u": plain, "n": np.arange(len(rows))})
    return frame.set_axis(pd.RangeIndex(10, 10 + 2 * len(rows), 2, name="at"))


def _pandas(frame, path):
    frame.to_parquet(path)


def _by_groups(frame, path):
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=2)


def _forthwith(frame, path):
    forthwith.write_parquet(path, frame)


@pytest.mark.parametrize("write", [_pandas, _by_groups, _forthwith])
def test_ordered_categories_keep_their_order(tmp_path, write):
    frame, path = _frame(), tmp_path / "f.parquet"
    write(frame, path)
    with forthwith.open(path) as table:
        read = table.arrays(library="pd")
        pd.testing.assert_frame_equal(read, frame, check_categorical=False)
        for column in (
            read["c"],
            table["c"].array(library="pd"),
            next(iter(table.iterate(library="pd", step_size=2)))["c"],
        ):
            assert column.cat.ordered
            assert column.cat.categories.tolist() == LEVELS
        assert not read["u"].cat.ordered
        assert (read["c"] > "low").tolist() == [True, True, False, True, False]
        kind = table.arrays(library="arrow")["c"].type
        assert kind.ordered
        joined = pd.concat(list(table.iterate(library="pd", step_size=2)))
        assert joined["c"].tolist() == read["c"].tolist()
        assert joined["c"].cat.ordered
    with forthwith.open([path, path]) as chain:
        both = chain.arrays(library="pd")
        assert both["c"].cat.ordered
        assert both["c"].cat.categories.tolist() == LEVELS


def test_values_beside_the_categories_leave_them_unordered(tmp_path):
    path = tmp_path / "f.parquet"
    table = pa.Table.from_pandas(_frame())
    said = json.loads(table.schema.metadata[b"pandas"])
    said["columns"][0]["metadata"]["categories"] = ["low", "mid"]
    pq.write_table(table.replace_schema_metadata({"pandas": json.dumps(said)}), path)
    with forthwith.open(path) as table:
        read = table.arrays(library="pd")["c"]
        assert not read.cat.ordered
        assert read.astype(object).where(read.notna(), None).tolist() == ["mid", "high", None, "mid", "low"]


@pytest.mark.parametrize("categories", [5, [1, 2], ["a", "a"], {"a": 1}, None])
def test_categories_that_are_none_are_ignored(tmp_path, categories):
    path = tmp_path / "f.parquet"
    table = pa.Table.from_pandas(_frame())
    said = json.loads(table.schema.metadata[b"pandas"])
    said["columns"][0]["metadata"]["categories"] = categories
    pq.write_table(table.replace_schema_metadata({"pandas": json.dumps(said)}), path)
    with forthwith.open(path) as opened:
        assert opened["c"].array(library="arrow").to_pylist() == ["mid", "high", None, "mid", "low"]


@pytest.mark.parametrize("index", [(0, 1, None), (10, 2, None), (5, -1, "at"), (-3, 7, "x")])
@pytest.mark.parametrize("write", [_pandas, _forthwith])
def test_indexes_that_count_are_restored(tmp_path, index, write):
    first, step, name = index
    labels = pd.RangeIndex(first, first + 6 * step, step, name=name)
    frame = pd.DataFrame({"n": np.arange(6), "s": list("abcdef")}, index=labels)
    path = tmp_path / "f.parquet"
    write(frame, path)
    with forthwith.open(path) as table:
        read = table.arrays(library="pd")
        assert isinstance(read.index, pd.RangeIndex)
        assert read.index.equals(labels)
        assert read.index.name == name
        assert table.arrays(["n"], library="pd", entry_start=2).index.equals(labels[2:])
        for column in ("n", "s"):
            assert table[column].array(library="pd", entry_start=1, entry_stop=4).index.equals(labels[1:4])
        assert table.arrays(["n"], library="pd", how=dict)["n"].index.equals(labels)
        cut = table.arrays(["s"], library="pd", cut="n > 3")
        assert cut.index.tolist() == labels[4:].tolist()
        assert cut.index.name == name
        steps = list(table.iterate(["n"], library="pd", step_size=4))
        assert [label for part in steps for label in part.index] == labels.tolist()
        assert table.arrays(["n"], library="pd", errors="skip").index.equals(labels)


def test_random_frames_come_back(tmp_path):
    picked = random.Random(5)
    for at in range(12):
        levels = picked.sample(["a", "é", "", "long text " * 9, "b", "z"], picked.randrange(1, 6))
        rows = picked.choices([*levels, None], k=picked.randrange(1, 40))
        frame = pd.DataFrame({"c": pd.Categorical(rows, categories=levels, ordered=True)})
        first, step = picked.randrange(-9, 9), picked.choice([-2, 1, 3])
        frame.index = pd.RangeIndex(first, first + step * len(rows), step)
        for write in (_pandas, _by_groups, _forthwith):
            path = tmp_path / f"{at}.parquet"
            write(frame, path)
            with forthwith.open(path) as table:
                read = table.arrays(library="pd")
                assert read["c"].cat.categories.tolist() == levels, (write, rows)
                assert read["c"].astype(object).where(read["c"].notna(), None).tolist() == rows
                assert read.index.equals(frame.index)
