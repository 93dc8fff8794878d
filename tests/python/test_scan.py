"""Lazy frames of polars, and other readers of tables by name."""

import awkward as ak
import numpy as np
import pytest
from conftest import data

import forthwith

pl = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("scan") / "a.parquet"
    n = np.arange(50_000)
    columns = {
        "n": n,
        "x": n * 0.5,
        "lists": ak.unflatten(np.arange(150_000), np.full(50_000, 3)),
        "big": ak.Array(["some text"] * 50_000),
    }
    forthwith.write_parquet(path, columns, row_group_entries=5_000)
    return str(path)


QUERIES = {
    "all": lambda frame: frame,
    "two columns": lambda frame: frame.select("x", "n"),
    "a filter": lambda frame: frame.filter(pl.col("n") % 7 == 3).select("x"),
    "a filter of two": lambda frame: frame.filter((pl.col("n") > 40_000) & (pl.col("x") < 21_000)),
    "nothing passes": lambda frame: frame.filter(pl.col("n") < 0).select("lists"),
    "a filter without columns": lambda frame: frame.filter(pl.lit(True)).select("n"),
    "head": lambda frame: frame.head(12_345),
    "head of a filter": lambda frame: frame.filter(pl.col("n") > 20_000).head(5),
    "a filter of a head": lambda frame: frame.head(20_010).filter(pl.col("n") > 20_000),
    "tail": lambda frame: frame.tail(3),
    "a slice": lambda frame: frame.slice(4_990, 20).select("lists"),
    "the number": lambda frame: frame.select(pl.len()),
    "a sum": lambda frame: frame.select(pl.col("n").sum(), pl.col("lists").list.sum().sum()),
    "groups": lambda frame: frame.group_by(pl.col("n") % 3).agg(pl.col("x").mean()).sort("n"),
    "itself": lambda frame: frame.join(frame.select("n", y="x"), on="n").select(pl.col("y").sum()),
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("step_size", ["100 MB", 777])
def test_queries_answer_as_polars_does(path, query, step_size):
    expected = query(pl.read_parquet(path).lazy()).collect()
    got = query(forthwith.scan(path, step_size=step_size)).collect()
    assert got.cast(dict(expected.schema.items())).equals(expected)


def test_only_needed_columns_are_read(path, monkeypatch):
    read = []
    before = forthwith.Tree.arrays
    monkeypatch.setattr(
        forthwith.Tree,
        "arrays",
        lambda tree, names=None, **options: read.append((names, options)) or before(tree, names, **options),
    )
    frame = forthwith.scan(path, step_size=5_000).filter(pl.col("n") == 12_000).select("x")
    assert frame.collect().to_series().to_list() == [6_000.0]
    asked = [name for names, options in read if options.get("entry_stop") for name in names]
    assert asked.count("n") == 10
    assert asked.count("x") == 1
    assert set(asked) == {"n", "x"}


def test_trees_and_many_files_are_scanned(path):
    name = f"{data('zmumu.root')}:events"
    tree = forthwith.open(name)
    assert forthwith.scan(tree).select("run", "MET_pt").collect().equals(tree.arrays(["run", "MET_pt"], library="pl"))
    many = forthwith.scan([name, name], ["run"]).select(pl.len()).collect().item()
    assert many == 2 * tree.num_entries
    assert forthwith.scan([path, path]).filter(pl.col("n") == 5).collect().height == 2
    with pytest.raises(KeyError, match="rum"):
        forthwith.scan(name, ["rum"])


def test_databases_take_trees_by_name(path):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    tree = forthwith.open(path)  # noqa: F841 - the query names it
    assert duckdb.sql("select sum(n), count(*) from tree where x < 100").fetchall() == [(sum(range(200)), 200)]
