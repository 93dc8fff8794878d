"""Plans of partitions, and the engines that read them."""

import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import time

import awkward as ak
import numpy as np
import pytest
from conftest import data
from range_server import serving

import forthwith
from forthwith import engines


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    path = tmp_path_factory.mktemp("engines") / "long.parquet"
    numbers = np.arange(100_000)
    lists = ak.unflatten(np.arange(200_000.0), np.full(100_000, 2))
    forthwith.write_parquet(path, {"a": numbers, "b": lists}, row_group_entries=7_000)
    return str(path)


@pytest.mark.slow
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


def test_files_behind_a_network_are_planned_side_by_side(tmp_path):
    path = _written(tmp_path / "a.root", x=np.arange(100.0)).removesuffix(":t")
    other = _written(tmp_path / "b.root", y=np.arange(100.0)).removesuffix(":t")
    files = {f"/{at:02}.root": pathlib.Path(path).read_bytes() for at in range(24)}
    files["/other.root"] = pathlib.Path(other).read_bytes()
    with serving(files) as server:
        names = [f"{server.url}{name}?wait=0.2:t" for name in files]
        began = time.monotonic()
        partitions = engines.plan(names[:24], ["x"], step=None)
        # One after the other, their first requests alone would take that long.
        assert time.monotonic() - began < 24 * 0.2
        assert [part.file for part in partitions] == [name.removesuffix(":t") for name in names[:24]]
        assert {(part.start, part.stop) for part in partitions} == {(0, 100)}
        with pytest.raises(forthwith.RequestError, match=r"other\.root.* have different branches"):
            engines.plan([*names[:3], names[-1], *names[3:5]])
        with pytest.raises(forthwith.MissingFileError, match=r"absent\.root"):
            engines.plan([*names[:3], f"{server.url}/absent.root:t", *names[3:24]], step=None)


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


def test_a_task_of_dask_has_one_thread(long, monkeypatch):
    pytest.importorskip("dask.dataframe", reason="dask is not installed")
    from dask import compute

    given, read = set(), engines.read

    def noting(*arguments, **options):
        given.add(options["threads"])
        return read(*arguments, **options)

    monkeypatch.setattr("forthwith.engines.dask.read", noting)
    for options, threads in (({}, 1), ({"threads": 2}, 2), ({"threads": None}, None)):
        given.clear()
        compute(*engines.dask.delayed(long, ["a"], step=50_000, **options), scheduler="sync")
        engines.dask.bag(long, ["a"], step=50_000, **options).map(len).compute(scheduler="sync")
        engines.dask.dataframe(long, ["a"], step=50_000, **options).a.sum().compute(scheduler="sync")
        assert given == {threads}


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
def test_ray_reads_partitions(long, tmp_path):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        assert engines.ray.dataset(long, ["a"], step=10_000).sum("a") == np.arange(100_000).sum()
        # Blocks of several types would become objects of Python without a word.
        for files in _unequal(tmp_path):
            with pytest.raises(ray.exceptions.RayTaskError, match=r"column 'x' is .* in .*\.root, and"):
                engines.ray.dataset(engines.plan(files, parts=1)).to_pandas()
        # A worker that ends costs a retry of its task.
        flag = str(tmp_path / "flag")

        def ending(batch):
            # The first worker that comes here ends without a word.
            try:
                open(flag, "x").close()
            except FileExistsError:
                return batch
            os._exit(1)

        counted = engines.ray.dataset(long, ["a"], step=10_000).map_batches(ending)
        assert counted.sum("a") == np.arange(100_000).sum()
        assert os.path.exists(flag)
    finally:
        ray.shutdown()


def _spark(master):
    """A session of Spark; skips where it cannot run."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    pytest.importorskip("pyarrow")
    import shutil

    if shutil.which("java") is None:
        pytest.skip("there is no java, which Spark needs")
    from pyspark.sql import SparkSession

    return SparkSession.builder.master(master).config("spark.ui.enabled", "false").getOrCreate()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_of_spark_that_is_killed_costs_a_retry(long, monkeypatch, tmp_path):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    # Two tasks at once, and four attempts at each.
    spark = _spark("local[2,4]")
    flag = str(tmp_path / "flag")
    try:
        source = engines.spark.source()
        reader = type(source(options={}).reader(spark.createDataFrame([(1,)], "a int").schema))

        class Ending(reader):
            """Ends its worker in the middle of a partition, once."""

            def read(self, partition):
                for batch in super().read(partition):
                    yield batch.slice(0, batch.num_rows // 2)
                    try:
                        open(flag, "x").close()
                    except FileExistsError:
                        yield batch.slice(batch.num_rows // 2)
                    else:
                        os.kill(os.getpid(), signal.SIGKILL)

        class Source(source):
            """The source with such readers."""

            @classmethod
            def name(cls):
                return "ending"

            def reader(self, schema):
                made = super().reader(schema)
                return Ending(made.options, made.kinds)

        spark.dataSource.register(Source)
        frame = spark.read.format("ending").option("step", "10000").load(long)
        # Each entry is there once: what the killed worker gave is not.
        assert frame.selectExpr("sum(a)", "count(a)").first()[:] == (np.arange(100_000).sum(), 100_000)
        assert os.path.exists(flag)
    finally:
        spark.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_files_that_are_gone_are_errors_of_spark(monkeypatch, tmp_path):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    spark = _spark("local[2]")
    try:
        spark.dataSource.register(engines.spark.source())
        for at in range(2):
            with forthwith.recreate(tmp_path / f"{at}.root") as file:
                file["t"] = {"x": np.arange(5)}
        frame = spark.read.format("forthwith").load(f"{tmp_path}/*.root:t")
        assert frame.count() == 10
        (tmp_path / "1.root").unlink()
        with pytest.raises(Exception, match=r"1\.root"):
            frame.count()
    finally:
        spark.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_spark_reads_partitions(long, monkeypatch, tmp_path):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    spark = _spark("local[2]")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    try:
        spark.dataSource.register(engines.spark.source())
        frame = spark.read.format("forthwith").option("step", "10000").load(long)
        assert frame.selectExpr("sum(a)").first()[0] == np.arange(100_000).sum()
        assert frame.selectExpr("size(b) as n").selectExpr("sum(n)").first()[0] == 200_000
        reader = spark.read.format("forthwith")
        # A schema of the user's chooses columns.
        assert reader.schema("b array<double>").load(long).selectExpr("sum(size(b))").first()[0] == 200_000
        assert reader.schema("a bigint").load([long, long]).count() == 200_000
        with pytest.raises(Exception, match=r"column 'a' is bigint in .*, and int in the schema"):
            reader.schema("a int").load(long).count()
        reader = spark.read.format("forthwith")
        # Only some files say that no value is missing.
        for required in ([True, False], [False, True]):
            for at, never in enumerate(required):
                kind = pa.schema([pa.field("x", pa.list_(pa.field("item", pa.int32(), not never)), not never)])
                pq.write_table(pa.table({"x": [[1], [2, 3]]}, kind), tmp_path / f"{at}.parquet")
            found = reader.load(f"{tmp_path}/*.parquet").selectExpr("sum(size(x))").first()[0]
            assert found == 6
        for files in _unequal(tmp_path):
            with pytest.raises(Exception, match=r"column 'x' is .* in .*\.root, and .* in the schema"):
                reader.load(files).select("x").collect()
    finally:
        spark.stop()


def _written(path, **columns):
    with forthwith.recreate(str(path)) as file:
        file["t"] = columns
    return f"{path}:t"


@pytest.mark.parametrize("numbers", [np.arange(50.0), np.arange(150.0), -np.arange(100.0)])
@pytest.mark.parametrize("is_open", [True, False])
def test_a_file_that_changed_since_the_plan_is_an_error(tmp_path, numbers, is_open):
    name = _written(tmp_path / "a.root", x=np.arange(100.0))
    old = engines.plan(name, step=None)
    if is_open:
        assert len(engines.read(old[0])) == 100
    _written(tmp_path / "a.root", x=numbers)
    with pytest.raises(forthwith.SourceError, match=r"100 entries in .* then, .* now"):
        engines.read(old[0])
    # The process reads the file that is there now, and not one that it has open still.
    for new in (engines.plan(name, step=None), engines.plan(name, parts=1)):
        assert engines.read(new[0]).x.to_list() == numbers.tolist()
    os.remove(tmp_path / "a.root")
    with pytest.raises(forthwith.MissingFileError):
        engines.read(old[0])


def test_a_parquet_file_that_changed_since_the_plan_is_an_error(tmp_path):
    path = str(tmp_path / "a.parquet")
    forthwith.write_parquet(path, {"x": np.arange(100)})
    (part,) = engines.plan(path, step=None)
    forthwith.write_parquet(path, {"x": np.arange(99)})
    with pytest.raises(forthwith.SourceError, match=r"100 entries in .* then, 99 entries"):
        engines.read(part)


def test_an_empty_file_has_a_partition_without_entries(tmp_path):
    some = _written(tmp_path / "some.root", x=np.arange(10.0))
    none = _written(tmp_path / "none.root", x=np.array([], float))
    partitions = engines.plan([some, none, some], step=4, align=False)
    assert [len(engines.read(part)) for part in partitions] == [4, 4, 2, 0, 4, 4, 2]
    assert [len(engines.read(part)) for part in engines.plan(some, parts=15)].count(1) == 10
    for library in ("np", "ak"):
        for files, drop, expected in (
            ([none], False, []),
            ([none, some], False, [3, 3, 3, 1]),
            ([some, none], True, [3, 3, 3]),
        ):
            batches = engines.batches(files, size=3, library=library, drop_last=drop)
            assert [len(batch["x"]) for batch in batches] == expected


def test_files_of_other_branches_are_not_planned_together(tmp_path):
    one = _written(tmp_path / "one.root", x=np.arange(10.0))
    two = _written(tmp_path / "two.root", x=np.arange(10.0), y=np.arange(10.0))
    for files in ([one, two], [two, one]):
        with pytest.raises(forthwith.RequestError, match="only one of them has y; columns= must name"):
            engines.plan(files)
        assert len(engines.plan(files, ["x"])) == 2
    with pytest.raises(forthwith.KeyInFileError, match=r"one\.root"):
        engines.plan([two, one], ["x", "y"])


def _unequal(folder):
    """Lists of two files with a column in different types."""
    arrays = {"doubles": np.arange(5.0), "floats": np.arange(5, dtype="f4"), "texts": ["a", "b"]}
    doubles, floats, texts = (_written(folder / f"{name}.root", x=array) for name, array in arrays.items())
    return [doubles, floats], [floats, doubles], [doubles, texts], [texts, doubles]


def test_frames_of_dask_are_of_one_type(tmp_path):
    pytest.importorskip("dask.dataframe", reason="dask is not installed")
    for files in _unequal(tmp_path):
        for how in ({"step": 3}, {"parts": 1}):
            frame = engines.dask.dataframe(files, **how)
            second = files[1].removesuffix(":t")
            for call in (frame.compute, frame.x.count().compute):
                with pytest.raises(forthwith.RequestError, match=rf"column 'x' is .* in {second}, and"):
                    call(scheduler="sync")


@pytest.mark.parametrize("library", ["np", "ak"])
@pytest.mark.parametrize("buffer", [1, 10])
@pytest.mark.parametrize("seed", [0, 1])
def test_batches_are_of_one_type(tmp_path, library, buffer, seed):
    numbers = {"doubles": np.arange(10.0), "ints": np.arange(10), "rows": np.zeros((10, 2))}
    names = [_written(tmp_path / f"{name}.root", x=array) for name, array in numbers.items()]
    names.append(_written(tmp_path / "more.root", x=np.arange(10.0), y=np.arange(10.0)))
    for other in names[1:]:
        # With parts= no file is opened for the plan.
        partitions = engines.plan([names[0], other], parts=1)
        with pytest.raises(forthwith.RequestError, match=r"column '[xy]' is .* in .*\.root, and"):
            list(engines.batches(partitions, size=7, library=library, buffer=buffer, seed=seed))


def test_batches_of_partitions_take_no_columns(long):
    partitions = engines.plan(long, ["a"], step=10_000)
    for options in ({"columns": ["b"]}, {"source": "read"}):
        with pytest.raises(forthwith.RequestError, match="give those to plan"):
            engines.batches(partitions, size=10, **options)
    assert sum(len(batch["a"]) for batch in engines.batches(partitions, size=10_000)) == 100_000
    for mistake in ({"size": 2.5}, {"size": 2, "seed": 0.5}, {"size": 2, "buffer": 1.5}):
        with pytest.raises(TypeError):
            engines.batches(partitions, **mistake)
    with pytest.raises(forthwith.RequestError, match="seed"):
        engines.batches(partitions, size=2, seed=-1)


def test_frames_of_dask_have_the_same_columns(tmp_path):
    pytest.importorskip("dask.dataframe", reason="dask is not installed")
    one = _written(tmp_path / "one.root", x=np.arange(10.0))
    two = _written(tmp_path / "two.root", x=np.arange(10.0), y=np.arange(10.0))
    for files in ([one, two], [two, one]):
        frame = engines.dask.dataframe(engines.plan(files, parts=1))
        with pytest.raises(forthwith.RequestError, match=r"column 'y' is .*absent"):
            frame.compute(scheduler="sync")
        assert engines.dask.dataframe(files, ["x"]).x.sum().compute(scheduler="sync") == 90


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


def test_pytorch_reads_batches(long, tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    found = engines.torch.dataset(long, ["a"], size=1_000, step=5_000)
    loader = torch.utils.data.DataLoader(found, batch_size=None, num_workers=2)
    assert sorted(torch.concat([batch["a"] for batch in loader]).tolist()) == list(range(100_000))
    first = [batch["a"].tolist() for batch in found]
    found.set_epoch(1)
    assert first != [batch["a"].tolist() for batch in found]
    texts = _written(tmp_path / "texts.root", a=["some", "text"])
    with pytest.raises(forthwith.RequestError, match="column 'a' cannot be a tensor"):
        list(engines.torch.dataset(texts, size=2))


def test_graphed_reads_partitions(long, tmp_path):
    pytest.importorskip("graphed", reason="graphed is not installed")
    from graphed import Session
    from graphed.awkward import AwkwardBackend, to_parquet

    def source(files, **options):
        session = Session(AwkwardBackend())
        return session, engines.graphed.source(session, "events", files, **options)

    session, events = source(long)
    found = session.materialize(events.b + events.a)
    assert ak.array_equal(ak.flatten(found), np.arange(200_000.0) + np.repeat(np.arange(100_000), 2))
    # Partition by partition, and only the columns that are used.
    files = engines.graphed.Files(tuple(engines.plan([long, long], parts=1)), (long, {"a": "int64"}), 1)
    parts = pickle.loads(pickle.dumps(files)).partitions(3)
    read = [pickle.loads(pickle.dumps(files)).read_partition(part, ["a"], None) for part in parts]
    assert [part.fields for part in read] == [["a"]] * 6
    assert ak.array_equal(ak.concatenate(read).a, np.tile(np.arange(100_000), 2))
    again = _written(tmp_path / "again.root", a=np.arange(100_000, 200_000))
    session, events = source([long, again], columns=["a"])
    to_parquet(events, str(tmp_path / "out"), steps_per_file=3)
    written = forthwith.concatenate(f"{tmp_path}/out/*.parquet")
    assert ak.array_equal(ak.sort(written.a), np.arange(200_000))
    for files in _unequal(tmp_path):
        session, events = source(files)
        with pytest.raises(forthwith.RequestError, match=r"column 'x' is .* in .*\.root, and"):
            session.materialize(events.x)


def test_expressions_are_columns_of_partitions(tmp_path):
    ak = pytest.importorskip("awkward")
    path = f"{tmp_path}/e.root"
    with forthwith.recreate(path) as file:
        tree = file.mktree("t", {"a": np.float64, "b": np.int32, "c": np.float64})
        for at in range(3):
            a = np.arange(1000.0) + 1000 * at
            tree.extend({"a": a, "b": a.astype("i4") % 7, "c": -a})
    whole = forthwith.open(path)["t"].arrays(["a + b", "c"])
    for options in ({"step": 500}, {"step": None}, {"parts": 2}):
        parts = engines.plan(f"{path}:t", ["a + b", "c"], **options)
        assert ak.array_equal(ak.concatenate([engines.read(part) for part in parts]), whole)
    assert parts[0].columns == ("a + b", "c")
    only = engines.plan(f"{path}:t", ["a + b"], step=None)[0]
    both = engines.plan(f"{path}:t", ["a", "b"], step=None)[0]
    assert only.bytes == both.bytes
    assert engines.form(f"{path}:t", ["a + b"])["a + b"]["primitive"] == "float64"
    batch = next(engines.batches(f"{path}:t", ["a + b"], size=3000, shuffle=False))
    assert batch["a + b"].tolist() == whole["a + b"].tolist()
    with pytest.raises(forthwith.RequestError, match='no column "zz"'):
        engines.plan(f"{path}:t", ["a + zz"])


@pytest.mark.parametrize(
    "call",
    [
        lambda path: engines.plan(path, thread=1),
        lambda path: engines.form(path, thread=1),
        lambda path: engines.batches(path, size=1, thread=1),
        lambda path: forthwith.concatenate(path, thread=1),
    ],
)
def test_options_that_there_are_not_are_named(call, tmp_path):
    with pytest.raises(TypeError, match=r"no argument 'thread': did you mean threads"):
        call(data("zmumu.root") + ":events")


def test_batches_keep_what_is_missing(tmp_path):
    part = ["max(Muon_pt)", "nMuon"]
    (batch,) = engines.batches(data("zmumu.root:events"), part, size=4000, shuffle=False, step=1000, buffer=2)
    assert batch["max(Muon_pt)"].mask.tolist() == (batch["nMuon"] == 0).tolist()
    for name, values in {"some": [1, 2, None], "all": [4, 5, 6]}.items():
        forthwith.write_parquet(tmp_path / f"{name}.parquet", {"x": ak.Array(values)})
    for order in (["some", "all"], ["all", "some"]):
        files = [str(tmp_path / f"{name}.parquet") for name in order]
        for size, buffer in [(4, 10), (2, 1), (1, 1)]:
            found = list(engines.batches(files, size=size, shuffle=False, buffer=buffer))
            values = [value for batch in found for value in batch["x"].tolist()]
            assert values == [value for name in order for value in {"some": [1, 2, None], "all": [4, 5, 6]}[name]]


def test_batches_refuse_objects_of_other_types(tmp_path):
    columns = {"whole": [[1, 2], [3]], "real": [[1.5], []], "text": ["a", "b"]}
    for name, values in columns.items():
        forthwith.write_parquet(tmp_path / f"{name}.parquet", {"l": ak.Array(values)})
    for other in ("real", "text"):
        with pytest.raises(forthwith.RequestError, match="partitions must have one type: column 'l'"):
            list(engines.batches([str(tmp_path / f"{name}.parquet") for name in ("whole", other)], size=9))


def test_a_parquet_file_of_the_same_size_is_another_one(tmp_path):
    path = str(tmp_path / "a.parquet")
    forthwith.write_parquet(path, {"x": np.array([1, 2, 3])}, compression=None)
    (partition,) = engines.plan(path)
    size = os.path.getsize(path)
    forthwith.write_parquet(path, {"x": np.array([4, 5, 6])}, compression=None)
    assert os.path.getsize(path) == size
    with pytest.raises(forthwith.SourceError, match="was replaced or changed since the plan was made"):
        engines.read(partition)


def test_a_plan_has_steps_or_parts():
    with pytest.raises(forthwith.RequestError, match="either step=3 or parts=2"):
        engines.plan(data("zmumu.root:events"), step=3, parts=2)
