"""Columns that the folders of files say, as Hive names them."""

import os
import pickle

import numpy as np
import pytest

import forthwith


def days(folder, *names, ending="parquet"):
    """A file with three entries in each of some folders."""
    for at, name in enumerate(names):
        (folder / name).mkdir(parents=True)
        write = forthwith.write_parquet if ending == "parquet" else forthwith.write_avro
        write(folder / name / f"part.{ending}", {"x": np.arange(3) + 3 * at})
    return folder


@pytest.mark.parametrize("ending", ["parquet", "avro"])
@pytest.mark.parametrize("given", ["", "/day=*/*/*", "/**/*.*"])
def test_folders_are_columns(tmp_path, given, ending):
    days(tmp_path, "day=1/kind=a", "day=2/kind=b", ending=ending)
    files = f"{tmp_path}{given}"
    chain = forthwith.open(files)
    assert chain.keys() == ["x", "day", "kind"]
    assert {name: str(branch.typename) for name, branch in chain.items()}["day"] == "int64"
    arrays = chain.arrays()
    assert arrays.day.to_list() == [1, 1, 1, 2, 2, 2]
    assert arrays.kind.to_list() == [*"aaabbb"]
    assert str(arrays.day.type) == "6 * int64"
    assert chain["day"].array(library="np").tolist() == [1, 1, 1, 2, 2, 2]
    assert chain.arrays(["day"], entry_start=2, entry_stop=4).day.to_list() == [1, 2]
    assert chain.arrays(["kind", "x"], cut="day == 2 and x > 3").to_list() == [
        {"kind": "b", "x": 4},
        {"kind": "b", "x": 5},
    ]
    assert chain.arrays(["x + day"])["x + day"].to_list() == [1, 2, 3, 5, 6, 7]
    steps = list(forthwith.iterate(files, ["day", "x"], step_size=2))
    assert [step.day.to_list() for step in steps] == [[1, 1], [1], [2, 2], [2]]
    assert forthwith.concatenate(files, "day", library="np")["day"].tolist() == [1, 1, 1, 2, 2, 2]
    assert pickle.loads(pickle.dumps(chain)).arrays("kind").kind.to_list() == [*"aaabbb"]
    with chain._open(1) as tree:
        assert tree.num_entries == 3
        assert pickle.loads(pickle.dumps(tree))["day"].array().to_list() == [2, 2, 2]


def test_values_are_numbers_only_where_all_are(tmp_path):
    days(tmp_path, "n=1/t=x%3Ay", "n=02/t=5", "n=__HIVE_DEFAULT_PARTITION__/t=z")
    arrays = forthwith.concatenate(tmp_path, ["n", "t"])
    assert arrays.n.to_list() == [2, 2, 2, 1, 1, 1, None, None, None]
    assert str(arrays.n.type) == "9 * ?int64"
    assert arrays.t.to_list() == ["5"] * 3 + ["x:y"] * 3 + ["z"] * 3
    assert forthwith.concatenate(tmp_path, ["x"], cut="n > 1").x.to_list() == [3, 4, 5]
    assert forthwith.concatenate(tmp_path, ["x"], cut="is_none(n)").x.to_list() == [6, 7, 8]


def test_pyarrow_reads_the_same(tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    days(tmp_path, "day=1/kind=a", "day=2/kind=b", "day=3/kind=__HIVE_DEFAULT_PARTITION__")
    theirs = dataset.dataset(tmp_path, partitioning="hive").to_table().to_pylist()
    ours = forthwith.concatenate(tmp_path, library="arrow").to_pylist()
    assert sorted(ours, key=lambda row: row["x"]) == sorted(theirs, key=lambda row: row["x"])


def test_polars_and_datasets_read_them(tmp_path):
    polars = pytest.importorskip("polars")
    days(tmp_path, "day=1", "day=2")
    found = forthwith.scan(str(tmp_path)).filter(polars.col("day") == 2).select("x", "day").collect()
    assert found.to_dicts() == [{"x": x, "day": 2} for x in (3, 4, 5)]
    table = forthwith.dataset(str(tmp_path)).to_table(columns=["day"])
    assert table.column("day").to_pylist() == [1, 1, 1, 2, 2, 2]


def test_trees_have_them_too(tmp_path, path):
    for run in (7, 8):
        (tmp_path / f"run={run}").mkdir()
        with forthwith.recreate(tmp_path / f"run={run}" / "a.root") as file:
            file["t"] = {"x": np.arange(run - 5)}
    chain = forthwith.open(f"{tmp_path}:t")
    assert chain.arrays(library="np")["run"].tolist() == [7, 7, 8, 8, 8]
    assert "run" in chain
    with chain._open(0) as tree:
        assert tree.classname == "TTree"


def test_what_the_file_has_is_the_files(tmp_path):
    days(tmp_path, "x=5", "x=6")
    assert forthwith.concatenate(tmp_path).x.to_list() == [*range(6)]


def test_what_not_all_files_say_is_no_column(tmp_path):
    days(tmp_path, "a=1/b=2", "a=2", "c=1/a=3")
    assert forthwith.open(tmp_path).keys() == ["x", "a"]


def test_files_that_are_named_have_no_more_columns(tmp_path):
    days(tmp_path, "day=1", "day=2")
    one = tmp_path / "day=1" / "part.parquet"
    assert forthwith.open(one).keys() == ["x"]
    assert forthwith.open([one, tmp_path / "day=2" / "part.parquet"]).keys() == ["x"]
    # Folders above the one that is given say nothing of it.
    assert forthwith.open(tmp_path / "day=1").keys() == ["x"]


def test_where_they_are_not_read_that_is_said(tmp_path):
    days(tmp_path, "day=1", "day=2")
    with pytest.warns(UserWarning, match=r"say values of day, which are not read"):
        forthwith.engines.plan(os.fspath(tmp_path))


def test_damage_is_read_around(tmp_path):
    days(tmp_path, "day=1", "day=2", ending="avro")
    cut = tmp_path / "day=2" / "part.avro"
    forthwith.write_avro(cut, {"x": np.arange(40)}, block_entries=10)
    cut.write_bytes(cut.read_bytes()[:-5])
    left = forthwith.concatenate(tmp_path, errors="skip", lost=[])
    assert left.day.to_list() == [1] * 3 + [2] * 30


@pytest.mark.parametrize("ending", ["parquet", "root"])
def test_folders_have_no_baskets(tmp_path, ending):
    path = tmp_path / "day=1" / f"part.{ending}"
    path.parent.mkdir()
    if ending == "parquet":
        forthwith.write_parquet(path, {"x": np.arange(10)}, row_group_entries=4)
    else:
        with forthwith.recreate(path) as file:
            file.mktree("t", {"x": np.arange(10)}, cluster_entries=4)
    with forthwith.open(tmp_path)._open(0) as tree:
        assert (
            tree["x"].entry_offsets == tree.common_entry_offsets() == tree.common_entry_offsets(["x"]) == [0, 4, 8, 10]
        )
        assert tree["day"].entry_offsets == tree.common_entry_offsets(["day"]) == [0, 10]
        for raw in (False, True):
            with pytest.raises(forthwith.RequestError, match="'day' has no baskets: the folders") as raised:
                tree["day"].bulk(raw=raw)
            assert raised.value.file == str(path)


def test_steps_count_the_bytes_of_texts(tmp_path):
    days(tmp_path, "k=" + "a" * 200)
    with forthwith.open(tmp_path)._open(0) as tree:
        assert tree.num_entries_for(4160, ["k"]) == 20
    path = tmp_path / "many" / ("k=" + "a" * 200)
    path.mkdir(parents=True)
    forthwith.write_parquet(path / "x.parquet", {"x": np.arange(10_000)}, row_group_entries=10_000)
    steps = [len(step) for step in forthwith.iterate(tmp_path / "many", ["k"], step_size="20800 B")]
    assert max(steps) == 100
    assert sum(steps) == 10_000


def test_a_text_may_be_spelled_as_what_is_missing(tmp_path):
    days(tmp_path, "k=%5F%5FHIVE_DEFAULT_PARTITION__", "k=__HIVE_DEFAULT_PARTITION__")
    assert forthwith.concatenate(tmp_path, "k").k.to_list() == ["__HIVE_DEFAULT_PARTITION__"] * 3 + [None] * 3
