"""Lazy frames of polars, and other readers of tables by name."""

import datetime
import gc
import io
import pathlib
import random
import sys
import threading
import time
import weakref

import awkward as ak
import numpy as np
import pytest
from conftest import DATA, data

import forthwith
from forthwith import _lazy
from forthwith._lazy import Lazy

pl = pytest.importorskip("polars")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("scan") / "a.parquet"
    n = np.arange(50_000)
    columns = {
        "n": n,
        "x": n * 0.5,
        "lists": ak.unflatten(np.arange(150_000), np.full(50_000, 3)),
        "nested": ak.Array([[[1], []], [], None, [[2, None], None], [[3]]] * 10_000),
        "big": ak.Array(["some text"] * 50_000),
    }
    forthwith.write_parquet(path, columns, row_group_entries=5_000)
    return str(path)


QUERIES = {
    "all": lambda frame: frame,
    "two columns": lambda frame: frame.select("x", "n"),
    "a filter": lambda frame: frame.filter(pl.col("n") % 7 == 3).select("x"),
    "a filter of two": lambda frame: frame.filter((pl.col("n") > 40_000) & (pl.col("x") < 21_000)),
    "one of forty lists": lambda frame: frame.filter(pl.col("n") % 40 == 13).select("n", "lists"),
    "lists of a filter": lambda frame: frame.filter(pl.col("lists").list.sum() % 97 == 3).select("lists", "big"),
    "few lists": lambda frame: frame.filter(pl.col("n").is_in([30, 20_017, 20_018])).select("lists"),
    "lists in lists": lambda frame: frame.filter(pl.col("n") % 41 == 13).select("nested", "n"),
    "most lists": lambda frame: frame.filter(pl.col("n") % 40 != 13).select("lists"),
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


@pytest.mark.parametrize("engine", ["polars", "arrow"])
def test_blocks_outside_of_a_step_count_for_nothing(monkeypatch, engine):
    """Baskets of what counts a column's items are planned as far as those of the column reach."""
    monkeypatch.setattr(_lazy, "_SMALL", 1)
    path = DATA / "layout.root"
    with forthwith.open(f"{path}:offsetmap") as tree:
        expected = tree.arrays(["x"], library="pl")["x"].to_list()
        entries = [at for at in range(tree.num_entries) if at % 40 == 10]
        if engine == "polars":
            found = (
                forthwith.scan(tree, step_size=84).filter(pl.col("i") % 40 == 10).select("x").collect()["x"].to_list()
            )
        else:
            arrow = pytest.importorskip("pyarrow.dataset")
            data = forthwith.dataset(tree, step_size=84)
            found = data.to_table(columns=["x"], filter=arrow.field("i").isin(entries))["x"].to_pylist()
        assert len(entries) == 4
        assert found == [expected[at] for at in entries]


@pytest.mark.parametrize("every", [40, 9_000])
def test_numpy_is_not_needed(path, monkeypatch, every):
    monkeypatch.setitem(sys.modules, "numpy", None)
    found = forthwith.scan(path).filter(pl.col("n") % every == 13).select("lists").collect()["lists"].to_list()
    assert found == [[3 * n, 3 * n + 1, 3 * n + 2] for n in range(13, 50_000, every)]


def test_only_needed_columns_are_read(path, monkeypatch):
    read = []
    before = forthwith.Tree.arrays
    monkeypatch.setattr(
        forthwith.Tree,
        "arrays",
        lambda tree, names=None, **options: read.append((names, options)) or before(tree, names, **options),
    )
    # Of this filter statistics say nothing.
    frame = forthwith.scan(path, step_size=5_000).filter(pl.col("n") * 2 == 24_000).select("x")
    assert frame.collect().to_series().to_list() == [6_000.0]
    asked = [name for names, options in read if options.get("entry_stop") or "entries" in options for name in names]
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


def test_a_filter_passes_over_row_groups_by_their_statistics(path):
    class Counted(io.BytesIO):
        count = 0

        def read(self, *size):
            found = super().read(*size)
            self.count += len(found)
            return found

        def readinto(self, buffer):
            count = super().readinto(buffer)
            self.count += count
            return count

    content = pathlib.Path(path).read_bytes()

    def bytes_of(*filters):
        counted = Counted(content)
        tree = forthwith.open(counted)
        before = counted.count
        found = forthwith.scan(tree).filter(*filters).select("x", "lists").collect()
        return found, counted.count - before

    n, x = pl.col("n"), pl.col("x")
    whole, all_bytes = bytes_of(n >= -1)
    assert len(whole) == 50_000
    for condition, entries in {
        "one": (n == 12_000, [12_000]),
        "both": ((n > 12_000) & (n <= 12_002), [12_001, 12_002]),
        "turned": ((pl.lit(12_003) > n) & (n % 2 == 0) & (n > 11_999), [12_000, 12_002]),
        "between": (n.is_between(12_000, 12_001), [12_000, 12_001]),
        "either": ((n == 12_000) | (n == 13_000), [12_000, 13_000]),
        "floats": ((x <= 6_000.0) & (n >= 12_000), [12_000]),
    }.values():
        found, some_bytes = bytes_of(condition)
        assert found["x"].to_list() == [entry / 2 for entry in entries]
        # One row group of ten, and what a part of it shares with others.
        assert some_bytes < 1.2 * all_bytes / 10, condition
    found, no_bytes = bytes_of(n < 0)
    assert (len(found), no_bytes) == (0, 0)
    # Nothing is known of what is not understood, and it is looked at.
    assert len(bytes_of((n == 12_000) | (x.sqrt() > 158.1))[0]) == 9


def test_filters_of_polars_hold_as_polars_has_it(tmp_path):
    nan = float("nan")
    columns = {
        "f": pl.Series([nan, 1.0, 2.0, nan, None, -0.0], dtype=pl.Float64),
        "g": pl.Series([0.1, 0.3, nan, 16777217.0, None, 1e30], dtype=pl.Float32),
        "i": pl.Series([1, -128, 127, None, 0, 5], dtype=pl.Int8),
        "u": pl.Series([2**64 - 1, 0, 2**53 + 1, None, 1, 2], dtype=pl.UInt64),
        "s": pl.Series(["a", None, "é", "z" * 80, "", "b'"]),
        "b": pl.Series([True, None, False, True, False, False]),
        "d": pl.Series([datetime.date(2000 + at, 1, 31) for at in range(5)] + [None]),
        "t": pl.Series([None] + [datetime.datetime(1969 + at, 1, 1, 5) for at in range(5)]),
    }
    frame = pl.DataFrame(columns)
    # NaN beside a number, so that there are statistics, which say nothing of it.
    pq.write_table(frame.to_arrow(), tmp_path / "x.parquet", row_group_size=2)
    tree = forthwith.open(tmp_path / "x.parquet")
    dates = [datetime.date(2002, 1, 31), datetime.datetime(1970, 1, 1, 5)]
    values = [
        -129,
        0,
        0.1,
        1.0,
        2,
        127,
        2**53,
        float(2**53),
        2**64 - 1,
        nan,
        "a",
        "b'",
        "é",
        "z" * 80,
        True,
        False,
        *dates,
    ]
    scanned = forthwith.scan(tree, step_size=4)
    asked, dice = 0, random.Random(5)
    for name in columns:
        for value in values:
            if isinstance(value, str) != (name == "s") or isinstance(value, bool) != (name == "b"):
                continue
            for literal in (value, pl.lit(value)):
                column = pl.col(name)
                for condition in (
                    column < literal,
                    column <= literal,
                    column > literal,
                    column >= literal,
                    column == literal,
                    column != literal,
                    (column > literal) | column.is_null(),
                    (column >= literal) & (pl.col("i") < 100),
                    column.is_between(literal, literal),
                    ~(column > literal),
                    ~((column <= literal) | (pl.col("i") > 5)),
                    (column == literal).not_() & pl.col("b"),
                    pl.when(column > literal).then(pl.col("b")).otherwise(None),
                    column.is_in([value]) & ~pl.col("b"),
                    column.eq_missing(literal),
                    (column > literal) ^ (pl.col("i") > 5),
                ):
                    if dice.random() > 0.2:
                        continue
                    try:
                        expected = frame.filter(condition)
                    except pl.exceptions.PolarsError:
                        continue
                    found = scanned.filter(condition).collect()
                    assert found.equals(expected.cast(dict(found.schema))), str(condition)
                    asked += 1
    assert asked > 300


def test_files_of_other_types_are_errors_by_name(tmp_path):
    columns = {
        "doubles": {"x": np.arange(3.0), "y": np.arange(3)},
        "floats": {"x": np.arange(3, dtype="f4")},
    }
    for name, arrays in columns.items():
        with forthwith.recreate(str(tmp_path / f"{name}.root")) as file:
            file["t"] = arrays
    files = [f"{tmp_path}/{name}.root:t" for name in columns]
    for order in (files, files[::-1]):
        with pytest.raises(forthwith.RequestError, match=r"'x' is .*, but .* in the first file") as error:
            forthwith.scan(order, ["x"]).filter(pl.col("x") >= 0).collect()
        assert order[1] in str(error.value)
        frame = forthwith.scan(order, missing="null")
        assert frame.collect_schema()["x"] == pl.Float64
        assert frame.filter(pl.col("x") > 0).select("x").collect()["x"].to_list() == [1.0, 2.0] * 2
        assert frame.select("y").collect()["y"].null_count() == 3
        assert frame.select("y").head(4).collect().height == 4
    with pytest.raises(forthwith.RequestError, match="these are options of open"):
        forthwith.scan(forthwith.open(files[0]), source="pread")


def test_expressions_are_columns(tmp_path):
    path = f"{tmp_path}/e.root"
    with forthwith.recreate(path) as file:
        file.mktree("t", {"a": np.arange(9000.0), "b": np.arange(9000, dtype="i4") % 7})
    names = ["a + b", "b"]
    frame = forthwith.scan(f"{path}:t", names)
    expected = forthwith.open(path)["t"].arrays(names, library="pl")
    assert frame.collect().equals(expected)
    for filtered in (pl.col("a + b") > 8990, pl.col("b") == 3):
        assert frame.filter(filtered).collect().equals(expected.filter(filtered))
        assert frame.filter(filtered).select("a + b").collect().equals(expected.filter(filtered).select("a + b"))


def test_the_only_ntuple_of_a_file_needs_no_name(tmp_path):
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        file.mkrntuple("n", {"x": "int32"}).extend({"x": [1, 2]})
        file["other"] = 1
    assert forthwith.scan(path).collect()["x"].to_list() == [1, 2]
    assert forthwith.concatenate([path, path]).x.tolist() == [1, 2, 1, 2]


class Steps:
    """Steps of a chain of files, of several of which each is made by a thread that reads by itself."""

    def __init__(self, folder, sizes, **options):
        self.opened = []
        for at, size in enumerate(sizes):
            with forthwith.recreate(folder / f"{at}.root") as file:
                tree = file.mktree("t", {"x": "int64"})
                for start in range(0, size, 1000):
                    tree.extend({"x": np.arange(start, min(start + 1000, size)) + 10**6 * at})
        table = forthwith.Chain([f"{folder / str(at)}.root:t" for at in range(len(sizes))])
        open_ = table._open
        table._open = lambda at: self.opened.append(open_(at)) or self.opened[-1]
        self.lazy = Lazy(table, library="np", step_size=None, options={}, **options)
        self.lazy._local = 8100

    def made(self, act=None, most=None, number=None):
        read = act or (lambda tree, start, stop: self.lazy.read(tree, ["x"], start, stop)["x"])
        return self.lazy.steps(["x"], None, most, read, number)

    def are_closed(self):
        # Those of steps under way when they end.
        for _ in range(500):
            if all(tree.file.closed for tree in self.opened):
                return True
            time.sleep(0.01)
        return False


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_steps_of_several_threads_come_in_order(tmp_path, threads):
    steps = Steps(tmp_path, [3500, 0, 10, 2000, 0], threads=threads)
    expected = np.concatenate([np.arange(3500), 2 * 10**6 + np.arange(10), 3 * 10**6 + np.arange(2000)])
    for most in (None, 3500, 3505, 3511, 1, 0):
        found = np.concatenate([np.empty(0, np.int64), *steps.made(most=most)])
        assert np.array_equal(found[:most], expected[:most])
        assert len(found) >= len(expected[:most])
        assert steps.are_closed()
    assert np.array_equal(np.concatenate(list(steps.made(number=3))), expected[-2000:])
    assert steps.are_closed()


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_comes_behind_the_steps_before_it(tmp_path, threads):
    steps = Steps(tmp_path, [3000, 3000, 3000], threads=threads)

    def act(tree, start, stop):
        if "1.root" in str(tree.file.file_path) and start > 0:
            raise ValueError("here")
        return start, stop

    found = []
    with pytest.raises(ValueError, match="here"):
        found.extend(steps.made(act))
    *first, last = found
    assert len(first) > 1
    assert (first[-1][1], last[0]) == (3000, 0)
    assert steps.are_closed()
    (tmp_path / "1.root").write_bytes(b"root, but no more of it")
    found = []
    with pytest.raises(forthwith.ForthwithError, match=r"1\.root"):
        found.extend(steps.made())
    assert [len(part) for part in found] == [stop - start for start, stop in first]
    assert steps.are_closed()


def test_steps_that_nobody_wants_any_more_are_left_and_files_closed(tmp_path):
    steps = Steps(tmp_path, [3000] * 20, threads=2)
    made = steps.made()
    assert next(made)[0] == 0
    made.close()
    assert steps.are_closed()
    assert len(steps.opened) < 5


def test_steps_can_be_left_by_a_thread_that_makes_one(tmp_path):
    """The collector of garbage closes generators without references, and runs in any thread."""
    steps = Steps(tmp_path, [3000] * 4, threads=2)
    begun, left, first, errors = threading.Event(), threading.Event(), threading.Lock(), []

    def act(tree, start, stop):
        if start and begun.wait(10) and first.acquire(blocking=False):
            try:
                made.close()
            except RuntimeError as error:
                errors.append(error)
            left.set()
        return start

    made = steps.made(act)
    assert next(made) == 0
    begun.set()
    assert left.wait(10)
    assert not errors
    assert steps.are_closed()


def test_threads_that_make_steps_read_by_themselves(tmp_path):
    steps = Steps(tmp_path, [3000, 3000], threads=2)
    with forthwith.open(tmp_path / "0.root") as file:
        tree = file["t"]
        whole = Lazy(tree, library="np", step_size=None, options={}, threads=2)
        assert list(whole.steps(["x"], None, None, lambda *_: whole._read["threads"])) == [2]
        whole._local = 8100
        assert list(whole.steps(["x"], None, None, lambda *_: whole._read["threads"])) == [1] * 3
        assert whole._read["threads"] == 2
        assert not file.closed
    assert set(steps.made(lambda *_: steps.lazy._read["threads"])) == {1}
    steps.lazy._local = None
    assert set(steps.made(lambda *_: steps.lazy._read["threads"])) == {2}


def test_an_error_keeps_no_step(tmp_path):
    """Not even until the collector of garbage comes, which was much memory."""

    class Made(list):
        """Something that can be referred to weakly."""

    steps = Steps(tmp_path, [3000] * 6, threads=3)
    made = []

    def act(tree, start, stop):
        if "2.root" in str(tree.file.file_path):
            time.sleep(0.05)
            raise ValueError("here")
        found = Made([start])
        made.append(weakref.ref(found))
        return found

    gc.disable()
    try:
        for _ in range(2):
            with pytest.raises(ValueError, match="here"):
                for _ in steps.made(act):
                    pass
            assert steps.are_closed()
        assert made
        alive = sum(one() is not None for one in made)
    finally:
        gc.enable()
    assert alive <= 1  # the loop's own


def test_a_tree_whose_entries_cannot_be_counted_is_closed(tmp_path):
    steps = Steps(tmp_path, [10], threads=1)

    class Uncounted:
        """A tree in a file that was cut since it was opened."""

        closed = 0
        file = property(lambda self: self)

        @property
        def num_entries(self):
            raise forthwith.DamagedFileError("no entries")

        def close(self):
            self.closed += 1

    tree = Uncounted()
    steps.lazy.table._open = lambda at: tree
    with pytest.raises(forthwith.DamagedFileError, match="no entries"):
        list(steps.made())
    assert tree.closed == 1


def test_entries_behind_those_of_32_bits_are_found():
    class Far:
        """A tree of more entries than tests have room for."""

        _core = property(lambda self: self)
        _find = staticmethod(lambda name: 0)
        can_choose = False

        def plan(self, fields, start, stop):
            self.block = type("Block", (), {"entries": (start, stop)})
            return self

        def blocks(self):
            return [self.block, self.block]

        def arrays(self, names, entries, **read):
            return entries.tolist()

    lazy = Lazy(forthwith.Chain(["a.root:t"]), library="np", step_size=None, options={}, threads=1)
    places = pl.Series([False, True, False, True]).arg_true().to_numpy()
    assert lazy.read_some(Far(), ["x"], 2**32 - 2, 2**32 + 10**6, 2, lambda: places) == [2**32 - 1, 2**32 + 1]


def test_expressions_are_columns_where_files_lack_some(tmp_path):
    for at, columns in enumerate(({"k": np.arange(5), "n": np.arange(5.0)}, {"k": np.arange(5) + 10})):
        with forthwith.recreate(tmp_path / f"{at}.root") as file:
            file["t"] = columns
    names = [f"{tmp_path / str(at)}.root:t" for at in range(2)]
    for given in (names, names[:1]):
        for chosen in (["k + 1", "n"], ["k + 1"], ["k", "n"]):
            expected = forthwith.Chain(given, missing="null").arrays(chosen, library="pl")
            got = forthwith.scan(given, chosen, missing="null").collect()
            assert got.to_dict(as_series=False) == expected.to_dict(as_series=False)


@pytest.mark.parametrize("first", [["k", "n"], ["k"]])
def test_a_file_that_lost_a_column_since_it_was_looked_at_is_named(tmp_path, first):
    names = [f"{tmp_path / str(at)}.root:t" for at in range(2)]
    for at in range(2):
        with forthwith.recreate(tmp_path / f"{at}.root") as file:
            columns = {"k": np.arange(5), "n": np.arange(5.0)}
            file["t"] = columns if at else {name: columns[name] for name in first}
    frame = forthwith.scan(names, missing="null")
    assert frame.collect().height == 10
    with forthwith.recreate(tmp_path / "1.root") as file:
        file["t"] = {"n": np.arange(5.0)}
    with pytest.raises(forthwith.RequestError, match=r"(?s)1\.root.* lacks 'k'"):
        frame.collect()


@pytest.mark.parametrize("seed", range(3))
def test_chains_of_small_files_answer_as_their_trees(seed):
    random_scans = pytest.importorskip("random_scans")
    assert sum(random_scans.compare(seed, at) for at in range(8)) > 12, "too few queries are read by the chain"


def test_one_tree_of_a_schema_is_opened_for_small_files(tmp_path, monkeypatch):
    names = []
    for at in range(5):
        with forthwith.recreate(tmp_path / f"{at}.root") as file:
            file["t"] = {"x": np.arange(4) + 10 * at, "y": np.arange(4.0)}
        names.append(f"{tmp_path / str(at)}.root:t")
    opened = []
    open_ = forthwith.Chain._open
    monkeypatch.setattr(forthwith.Chain, "_open", lambda chain, at: opened.append(at) or open_(chain, at))
    frame = forthwith.scan(names)
    assert opened == [0]
    found = frame.filter(pl.col("x") % 10 == 2).select("y", "x").collect()
    assert found.to_dict(as_series=False) == {"y": [2.0] * 5, "x": [2, 12, 22, 32, 42]}
    assert opened == [0, 0]
    assert frame.select("x").head(6).collect()["x"].to_list() == [0, 1, 2, 3, 10, 11]
