"""Plans of partitions, and the engines that read them."""

import json
import os
import pickle
import subprocess
import sys
import time

import awkward as ak
import numpy as np
import pytest
from conftest import data

import forthwith
from forthwith import engines


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    path = tmp_path_factory.mktemp("engines") / "long.parquet"
    numbers = np.arange(100_000)
    lists = ak.unflatten(np.arange(200_000.0), np.full(100_000, 2))
    forthwith.write_parquet(path, {"a": numbers, "b": lists}, row_group_entries=7_000)
    return str(path)


@pytest.mark.parametrize(
    "how", [{"step": 3}, {"step": 3, "align": False}, {"parts": 4}, {"step": "1 kB"}, {"step": None}]
)
def test_partitions_are_the_whole_table(how):
    names = ["zmumu.root:events", "nested.root", "mixed.root"]
    some = 0
    for name in names:
        try:
            expected = forthwith.concatenate(data(name))
        except forthwith.ForthwithError:
            continue
        partitions = pickle.loads(pickle.dumps(engines.plan(data(name), **how)))
        if "align" in how:
            assert len(partitions) > 5
        assert ak.array_equal(ak.concatenate([engines.read(part) for part in partitions]), expected, equal_nan=True)
        some += 1
    assert some


def test_no_block_is_decompressed_twice(long):
    partitions = engines.plan(long, ["a", "b"], step=10_000)
    bounds = [(part.start, part.stop) for part in partitions]
    assert bounds == [(0, 14_000), (14_000, 21_000), (21_000, 35_000), (35_000, 42_000), *bounds[4:]]
    assert bounds[-1][1] == 100_000
    with forthwith.open(long) as tree:
        fields = [0, 1]
        whole = len(tree._core.plan(fields, 0, 100_000).blocks())
        assert sum(len(tree._core.plan(fields, *bound).blocks()) for bound in bounds) == whole
    assert sum(part.bytes for part in partitions) <= os.path.getsize(long)


def test_a_plan_of_many_files_opens_none_and_is_small():
    begun = time.process_time()
    partitions = engines.plan([f"/nowhere/file{at:05}.root:Events" for at in range(10_000)], ["a", "b"], parts=1)
    assert time.process_time() - begun < 2
    assert len(partitions) == 10_000
    assert len(pickle.dumps(partitions)) < 5_000_000
    with pytest.raises(forthwith.MissingFileError, match="file00000"):
        engines.read(partitions[0])


def test_filesets_of_coffea_are_files():
    path = data("zmumu.root")
    for files in (
        {"Z": {"files": {path: "events"}, "metadata": {"year": 2026}}},
        {"Z": {"files": {path: {"object_path": "events", "steps": [[0, 10]], "uuid": "x"}}}},
        {"Z": {"files": [f"{path}:events"]}, "W": {"files": {path: "events"}}},
    ):
        partitions = engines.plan(files, ["run"], parts=1)
        assert {part.tree for part in partitions} == {"events"}
        assert len(partitions) == len(files)


def test_forms_are_those_of_the_branches():
    forms = engines.form(f"{data('zmumu.root')}:events", ["run", "MET_pt"])
    with forthwith.open(f"{data('zmumu.root')}:events") as tree:
        assert forms == {name: json.loads(tree[name].form_json) for name in ("run", "MET_pt")}


def test_mistakes_are_said_before_anything_is_read():
    path = f"{data('zmumu.root')}:events"
    for call in (
        lambda: engines.plan(path, parts=0),
        lambda: engines.plan(path, step="soon"),
        lambda: engines.plan(path, ["rum"]),
        lambda: engines.plan(path, thread=1),
        lambda: engines.plan([]),
    ):
        with pytest.raises((ValueError, KeyError, TypeError)):
            call()
    with open(data("zmumu.root"), "rb") as file, pytest.raises(forthwith.RequestError, match="workers can open"):
        engines.plan({file: "events"})


def test_credentials_are_not_sent():
    options = {"key": "who", "secret": "s3cret", "region": "x", "headers": {"Authorization": "s3cret"}}
    partitions = engines.plan("s3://bucket/a.root:t", parts=1, storage_options=options)
    assert b"s3cret" not in pickle.dumps(partitions)
    assert partitions[0].options == {"storage_options": {"region": "x", "headers": {}}}


def test_dask_reads_partitions(long):
    pytest.importorskip("dask", reason="dask is not installed")
    from dask import compute

    with_dask = engines.dask
    parts = compute(*with_dask.delayed(long, ["a"], step=10_000), scheduler="sync")
    assert ak.array_equal(ak.concatenate(parts).a, np.arange(100_000))
    counts = with_dask.bag(long, step=10_000).map(len).compute(scheduler="sync")
    assert sum(counts) == 100_000
    pytest.importorskip("dask.dataframe")
    frame = with_dask.dataframe(long, ["a"], step=10_000)
    assert frame.a.sum().compute(scheduler="sync") == np.arange(100_000).sum()


_CLUSTER = """
import os, sys
from distributed import Client, LocalCluster
from forthwith import engines

def look(partition, flag):
    # The first worker to come here ends without a word. Two come at once, and one of them makes the file.
    try:
        open(flag, "x").close()
    except FileExistsError:
        return len(engines.read(partition))
    os._exit(1)

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        partitions = engines.plan(sys.argv[1], ["a"], step=10_000)
        print(sum(client.gather(client.map(look, partitions, flag=sys.argv[2]))))
"""


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_a_retry(long, tmp_path):
    pytest.importorskip("distributed", reason="distributed is not installed")
    script = tmp_path / "cluster.py"
    script.write_text(_CLUSTER)
    command = [sys.executable, "-W", "ignore", str(script), long, str(tmp_path / "flag")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.stdout.split() == ["100000"], run.stderr


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ray_reads_partitions(long):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        assert engines.ray.dataset(long, ["a"], step=10_000).sum("a") == np.arange(100_000).sum()
    finally:
        ray.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_spark_reads_partitions(long, monkeypatch):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    import shutil

    if shutil.which("java") is None:
        pytest.skip("there is no java, which Spark needs")
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        spark.dataSource.register(engines.spark.source())
        frame = spark.read.format("forthwith").option("step", "10000").load(long)
        assert frame.selectExpr("sum(a)").first()[0] == np.arange(100_000).sum()
        assert frame.selectExpr("size(b) as n").selectExpr("sum(n)").first()[0] == 200_000
    finally:
        spark.stop()


@pytest.mark.parametrize("library", ["np", "ak"])
@pytest.mark.parametrize(("size", "buffer"), [(1_000, 10), (777, 2), (99_999, 1), (200_000, 3)])
def test_batches_have_each_entry_once_in_an_order_that_the_seed_fixes(long, library, size, buffer):
    def given(**options):
        batches = list(engines.batches(long, ["a"], size=size, buffer=buffer, library=library, step=5_000, **options))
        arrays = [np.asarray(batch["a"]) for batch in batches]
        assert [len(array) for array in arrays[:-1]] == [size] * (len(arrays) - 1)
        return np.concatenate(arrays)

    first = given(seed=1)
    assert (np.sort(first) == np.arange(100_000)).all()
    assert (first == given(seed=1)).all()
    assert (first != given(seed=2)).any()
    assert (given(shuffle=False) == np.arange(100_000)).all()
    assert len(given(seed=1, drop_last=True) if size <= 100_000 else first) == (100_000 // size * size or 100_000)


def test_lists_and_records_are_batched(long):
    for batch in engines.batches(long, size=3_000, library="ak"):
        assert ak.all(batch.b[:, 0] == 2 * batch.a)


def test_pytorch_reads_batches(long):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    found = engines.torch.dataset(long, ["a"], size=1_000, step=5_000)
    loader = torch.utils.data.DataLoader(found, batch_size=None, num_workers=2)
    assert sorted(torch.concat([batch["a"] for batch in loader]).tolist()) == list(range(100_000))
