"""Datasets of Arrow over our files: queries by pyarrow, DuckDB, DataFusion and polars, and what they read."""

import datetime
import decimal
import io
import operator
import pathlib
import pickle
import random

import awkward as ak
import numpy as np
import pytest
from conftest import data

import forthwith

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
pc = pytest.importorskip("pyarrow.compute")
pq = pytest.importorskip("pyarrow.parquet")

ENTRIES = 50_000


class Counted(io.BytesIO):
    """A file that counts what is read of it."""

    count = 0

    def read(self, *size):
        found = super().read(*size)
        self.count += len(found)
        return found

    def readinto(self, buffer):
        count = super().readinto(buffer)
        self.count += count
        return count


@pytest.fixture(scope="module", params=["parquet", "root"])
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("dataset") / f"a.{request.param}"
    n = np.arange(ENTRIES)
    columns = {
        "n": n,
        "x": np.random.default_rng(1).normal(size=ENTRIES),
        "y": n * 0.5,
        "lists": ak.unflatten(np.arange(3 * ENTRIES), np.full(ENTRIES, 3)),
    }
    if request.param == "parquet":
        forthwith.write_parquet(path, columns, row_group_entries=5_000)
        return str(path)
    with forthwith.recreate(str(path)) as file:
        file.mktree("t", columns, basket_bytes=20_000)
    return f"{path}:t"


@pytest.fixture
def counted(path):
    """The dataset, and a function that says how many bytes were read of it since it was last called."""
    file, _, inner = path.partition(":")
    source = Counted(pathlib.Path(file).read_bytes())
    opened = forthwith.open(source)
    tree = opened[inner] if inner else opened
    found = forthwith.dataset(tree)
    seen = source.count

    def since():
        nonlocal seen
        before, seen = seen, source.count
        return seen - before

    def stored(*names):
        return sum(tree._core.plan([tree._find(name)], 0, tree.num_entries).stored_bytes for name in names)

    return found, since, stored


@pytest.mark.slow
def test_queries_answer_as_arrow_does(path):
    found = forthwith.dataset(path, step_size=777)
    expected = ds.dataset(forthwith.open(path).arrays(library="arrow").cast(found.schema))
    field = ds.field
    for query in (
        lambda some: some.to_table(),
        lambda some: some.to_table(columns=["x", "n"]),
        lambda some: some.to_table(columns=["n", "n"]),
        lambda some: some.to_table(columns=[]),
        lambda some: some.to_table(columns={"sum": pc.add(field("x"), field("y"))}),
        lambda some: some.to_table(columns={"n": field("n")}, filter=field("x") > 1),
        lambda some: some.to_table(columns=["lists"], filter=(field("n") > 40_000) & (field("y") < 21_000)),
        lambda some: some.to_table(columns=["x"], filter=field("n") < 0),
        lambda some: some.to_table(columns=["x"], filter=pc.scalar(True)),
        lambda some: some.to_table(columns=["x"], filter=pc.scalar(False)),
        lambda some: some.to_table(columns=[], filter=field("n") < 10),
        lambda some: some.filter(field("n") > 7).filter(field("n") < 20).to_table(filter=field("y") > 6),
        lambda some: some.head(1000),
        lambda some: some.head(0),
        lambda some: some.head(5, columns=["x"], filter=field("n") > 20_000),
        lambda some: some.take([3, 1], columns=["n"]),
        lambda some: some.sort_by([("x", "descending")]).head(3),
        lambda some: pa.Table.from_batches(some.to_batches(columns=["n"]), pa.schema([("n", pa.int64())])),
        lambda some: some.scanner(columns=["x"]).to_reader().read_all(),
    ):
        one, other = query(found), query(expected)
        if isinstance(other, int):
            assert one == other
            continue
        assert len(one) == len(other)
        assert one.to_pylist() == other.to_pylist()
    for condition in (None, field("n") < 77, field("x") > 2, field("n") < 0):
        assert found.count_rows(filter=condition) == expected.count_rows(filter=condition)
    assert found.schema.names == expected.schema.names
    flat = forthwith.dataset(path, ["n", "x"])
    assert flat.filter(field("n") < 5).join(flat, "n", join_type="inner", right_suffix="_").count_rows() == 5


def test_only_needed_columns_and_blocks_are_read(counted):
    found, since, stored = counted
    assert found.count_rows() == ENTRIES
    assert since() == 0
    # Batches are read as they are pulled.
    found.scanner().to_reader()
    assert since() == 0
    slack = 2_000
    found.to_table(columns=["x"])
    assert since() <= stored("x") + slack
    found.to_table(columns=["y"], filter=ds.field("x") > 2)
    assert since() <= stored("x", "y") + slack
    # The other column is read only where an entry passes.
    assert found.to_table(columns=["lists"], filter=ds.field("n") == 12_000).to_pydict() == {
        "lists": [[36000, 36001, 36002]]
    }
    assert since() <= stored("n") + stored("lists") / 3 + slack
    # Of entries that are far apart, only their blocks are.
    apart = found.to_table(columns=["lists"], filter=ds.field("n").isin([5, 25_000, 49_990]))
    assert apart["lists"].to_pylist() == [[3 * at, 3 * at + 1, 3 * at + 2] for at in (5, 25_000, 49_990)]
    assert since() <= stored("n") + stored("lists") / 2 + slack
    assert len(found.to_table(columns=["lists"], filter=ds.field("x") > 100)) == 0
    assert since() <= stored("x") + slack


def test_statistics_pass_over_row_groups(tmp_path):
    n = np.arange(ENTRIES)
    columns = {"n": n, "y": n * 0.5, "s": [f"{at:05}" for at in n]}
    forthwith.write_parquet(tmp_path / "a.parquet", columns, row_group_entries=5_000)
    content = (tmp_path / "a.parquet").read_bytes()
    field = ds.field
    for condition, entries in {
        "one": (field("n") == 12_000, 1),
        "both": ((field("n") > 12_000) & (field("n") <= 12_002), 2),
        "turned": ((pc.scalar(12_003) > field("n")) & (field("n") >= 12_000), 3),
        "either": ((field("n") == 12_000) | (field("n") == 12_100), 2),
        "floats": (field("y") > 24_990.0, 19),
        "texts": (field("s") >= "49990", 10),
        "not understood beside": ((field("n") >= 49_990) & field("s").is_valid(), 10),
    }.values():
        source = Counted(content)
        tree = forthwith.open(source)
        before = source.count
        found = forthwith.dataset(tree).to_table(filter=condition)
        assert len(found) == entries, condition
        assert source.count - before < 0.15 * len(content), condition


_NAN = float("nan")
_COLUMNS = {
    "f": pa.array([_NAN, 1.0, 2.0, _NAN, None, -0.0, 5e-324, float("inf")], pa.float64()),
    "g": pa.array([0.1, 0.3, _NAN, 16777217.0, None, 1e30, -1.0, 0.0], pa.float32()),
    "i": pa.array([1, -128, 127, None, 0, 5, 6, 7], pa.int8()),
    "u": pa.array([2**64 - 1, 0, 2**53 + 1, None, 1, 2, 3, 4], pa.uint64()),
    "s": pa.array(["a", None, "é", "z" * 80, "", "b'", "a\\", "A"]),
    "b": pa.array([True, None, False, True, False, False, None, True]),
    "d": pa.array([None, *(datetime.date(2000 + at, 1, 31) for at in range(7))], pa.date32()),
    "t": pa.array([*(datetime.datetime(1969 + at, 1, 1, 5) for at in range(7)), None], pa.timestamp("us")),
    "m": pa.array([decimal.Decimal(at) / 4 for at in range(7)] + [None], pa.decimal128(9, 2)),
    "it's\nits": pa.array(range(8)),
}
_VALUES = {
    "f": [0.0, -0.0, 1.0, 2, _NAN, float("inf"), 5e-324],
    "g": [0.1, np.float32(0.1).item(), 0, 1e30],
    "i": [-129, 0, 127, 5, 0.5],
    "u": [0, 2**53 + 1, 2**64 - 1, 3],
    "s": ["a", "", "é", "z" * 80, "b'", "a\\"],
    "b": [True, False],
    "d": [datetime.date(2002, 1, 31), datetime.date(1900, 1, 1)],
    "t": [datetime.datetime(1970, 1, 1, 5), datetime.datetime(2100, 1, 1)],
    "m": [decimal.Decimal("0.25"), decimal.Decimal("9.75")],
    "it's\nits": [0, 3, 99],
}


def _condition(random, depth=0):
    """A filter of some depth."""
    if depth < 3 and random.random() < 0.5:
        inner = _condition(random, depth + 1)
        act = random.choice(["not", "and", "or", "xor", "if"])
        if act == "not":
            return ~inner
        other = _condition(random, depth + 1)
        if act in ("and", "or"):
            return inner & other if act == "and" else inner | other
        return pc.xor(inner, other) if act == "xor" else pc.if_else(inner, other, _condition(random, depth + 1))
    name = random.choice(list(_COLUMNS))
    column, value = ds.field(name), random.choice(_VALUES[name])
    if random.random() < 0.2:
        return random.choice([column.is_null(), column.is_valid(), column.isin(_VALUES[name][:2])])
    if name == "b" and random.random() < 0.3:
        return column
    kind = pa.uint64() if isinstance(value, int) and value >= 2**63 else None
    sides = (column, pc.scalar(pa.scalar(value, kind)))
    comparing = random.choice([operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
    return comparing(*(sides if random.random() < 0.7 else sides[::-1]))


@pytest.mark.parametrize("seed", range(2))
def test_filters_of_arrow_hold_as_arrow_has_it(tmp_path, seed):
    table = pa.table(_COLUMNS)
    # NaN beside a number, so that there are statistics, which say nothing of it.
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=2)
    found = forthwith.dataset(tmp_path / "x.parquet", step_size=4)
    # The same types and no statistics: Arrow compares some types only with themselves.
    expected = ds.dataset(found.to_table())
    dice = random.Random(seed)
    asked = 0
    for _ in range(100):
        condition = _condition(dice)
        try:
            wanted = expected.to_table(filter=condition)
        except pa.ArrowException:
            continue
        assert repr(found.to_table(filter=condition).to_pydict()) == repr(wanted.to_pydict()), str(condition)
        columns = dice.sample(list(_COLUMNS), 2)
        some = found.to_table(columns=columns, filter=condition)
        assert repr(some.to_pydict()) == repr(wanted.select(columns).to_pydict()), str(condition)
        asked += 1
    assert asked > 50


def _written(path, **columns):
    with forthwith.recreate(str(path)) as file:
        file["t"] = columns
    return f"{path}:t"


def test_files_of_other_types_are_errors_by_name(tmp_path):
    doubles = _written(tmp_path / "doubles.root", x=np.arange(3.0), y=np.arange(3))
    floats = _written(tmp_path / "floats.root", x=np.arange(3, dtype="f4"))
    for files in ([doubles, floats], [floats, doubles]):
        name = files[1].removesuffix(":t")
        for query in (
            lambda some: some.to_table(columns=["x"]),
            lambda some: some.to_table(columns=["x"], filter=ds.field("x") >= 0),
            lambda some: some.scanner(columns=["x"]).to_reader().read_all(),
        ):
            with pytest.raises(
                forthwith.RequestError, match=r"'x' is .* in .*\.root.*, but .* in the first file"
            ) as error:
                query(forthwith.dataset(files))
            assert name in str(error.value)
        found = forthwith.dataset(files, missing="null")
        assert found.to_table(columns=["x", "y"], filter=ds.field("x") > 0).to_pydict()["x"] == [1.0, 2.0] * 2
        assert found.to_table(columns=["y"])["y"].null_count == 3
        assert found.count_rows() == 6
        assert [len(part.to_table()) for part in found.get_fragments()] == [3, 3]
    with pytest.raises(forthwith.KeyInFileError, match=r"floats\.root"):
        forthwith.dataset([doubles, floats]).to_table()


def test_mistakes_are_said(path, tmp_path):
    found = forthwith.dataset(path)
    with pytest.raises(forthwith.RequestError, match="no column 'z'"):
        found.to_table(columns=["z"])
    with pytest.raises(KeyError, match="z"):
        forthwith.dataset(path, ["z"])
    with pytest.raises(forthwith.RequestError, match="source"):
        forthwith.dataset(forthwith.open(path), source="read")
    with pytest.raises(forthwith.UnsupportedError, match="types of its files"):
        found.replace_schema(pa.schema([("n", pa.int8())]))
    # Arrow's own code meets a file that cannot be opened, and never no entries.
    with pytest.raises(forthwith.UnsupportedError, match=r"scanner\(\)\.to_reader\(\)"):
        ds.Scanner.from_dataset(found).to_table()
    gone = _written(tmp_path / "gone.root", x=np.arange(3.0))
    found = forthwith.dataset(gone)
    (tmp_path / "gone.root").unlink()
    with pytest.raises(forthwith.MissingFileError, match=r"gone\.root"):
        found.to_table()


def test_datasets_pickle(path):
    found = forthwith.dataset(path, ["n", "x"], step_size=5_000)
    again = pickle.loads(pickle.dumps(found.filter(ds.field("n") < 5)))
    assert again.files == found.files == [path]
    assert again.to_table(columns=["n"]).to_pydict() == {"n": [0, 1, 2, 3, 4]}
    assert pickle.loads(pickle.dumps(found)).schema == found.schema
    assert again.count_rows() == 5


def test_credentials_are_not_pickled(path):
    found = forthwith.dataset(path)
    options = {"secret": "s3cret", "region": "x", "headers": {"Authorization": "s3cret"}}
    for url in ("s3://bucket/a.root:t", "https://me:s3cret@host/a.root:t"):
        # The types are known already, so that nothing is opened.
        found._lazy.table = forthwith.Chain(url, storage_options=options)
        for one in (found, found.filter(ds.field("n") > 1)):
            assert b"s3cret" not in pickle.dumps(one)
            assert b"a.root" in pickle.dumps(one)
            assert b"region" in pickle.dumps(one)


@pytest.mark.parametrize(
    "name",
    ["zmumu.root:events", "leaves.root", "avro/unions.avro", "rntuple/kinds-zstd.root", "rntuple/streamed-zstd.root"],
)
def test_few_entries_are_those_of_whole_columns(name):
    file, _, inner = data(name).partition(":")
    opened = forthwith.open(file)
    tree = opened if isinstance(opened, forthwith.Tree) else opened[inner or next(iter(opened.keys(cycle=False)))]
    found = forthwith.dataset(tree)
    whole = found.to_table()
    column = next(name for name in whole.schema.names if pa.types.is_primitive(whole[name].type))
    there = whole[column].drop_null()
    for value in (there[0], there[-1]):
        condition = ds.field(column) == value
        expected = ds.dataset(whole).to_table(filter=condition)
        assert len(expected) > 0
        assert repr(found.to_table(filter=condition).to_pylist()) == repr(expected.to_pylist())


SQL = {
    "select sum(n), count(*) from events where y < 100": ("n", "y"),
    "select n, x from events where n = 77": ("n", "x"),
    "select max(x) from events where n between 100 and 200 and x is not null": ("n", "x"),
    "select count(*) from events where not (n >= 10 or x > 100)": ("n", "x"),
    "select n from events where n in (5, 7, 49999)": ("n",),
    "select n from events order by n desc limit 3": ("n",),
    "select sum(lists[2]) from events where n < 10": ("n", "lists"),
}


def test_duckdb_reads_what_a_query_needs(counted):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    events, since, stored = counted
    copied = events.to_table()  # noqa: F841 - a query names it
    since()
    for query, columns in SQL.items():
        found = duckdb.sql(query).fetchall()
        assert since() <= stored(*columns) + 2_000, query
        assert found == duckdb.sql(query.replace("events", "copied")).fetchall(), query
    assert duckdb.sql("select n from events limit 2").fetchall() == [(0,), (1,)]
    with pytest.raises(duckdb.Error):
        duckdb.sql("select absent from events")


def test_datafusion_reads_what_a_query_needs(counted):
    datafusion = pytest.importorskip("datafusion", reason="datafusion is not installed")
    events, since, stored = counted
    context = datafusion.SessionContext()
    context.register_dataset("events", events)
    context.from_arrow(events.to_table(), name="copied")
    since()
    for query, columns in SQL.items():
        found = context.sql(query).to_pydict()
        assert since() <= stored(*columns) + 2_000, query
        expected = context.sql(query.replace("events", "copied")).to_pydict()
        # Its threads give entries in any order.
        assert list(map(sorted, found.values())) == list(map(sorted, expected.values())), query
    assert context.sql("select count(*) from events").to_pydict() == {"count(*)": [ENTRIES]}
    assert since() == 0


def test_files_are_fragments_of_datafusion(tmp_path):
    datafusion = pytest.importorskip("datafusion", reason="datafusion is not installed")
    names = [_written(tmp_path / f"{at}.root", x=np.arange(at * 10.0)) for at in range(4)]
    context = datafusion.SessionContext()
    context.register_dataset("events", forthwith.dataset(names))
    assert context.sql("select count(x), sum(x) from events where x >= 0").to_pydict().popitem()[1] == [45 + 190 + 435]


def test_polars_takes_a_dataset(counted):
    pl = pytest.importorskip("polars")
    events, since, stored = counted
    found = pl.scan_pyarrow_dataset(events).filter(pl.col("n") < 5).select("x").collect()
    assert found.height == 5
    assert since() <= stored("n", "x") + 2_000
