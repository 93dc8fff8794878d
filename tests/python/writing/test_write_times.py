"""Dates and times in ROOT files: refused, or whole numbers that are read as times again by what their title says."""

import datetime
import random

import numpy as np
import pytest
from root_judge import by_root

import forthwith

pa = pytest.importorskip("pyarrow")
DAY = datetime.datetime(2024, 1, 1)
STAMP = pa.timestamp("us")
COLUMNS = {
    "ns": (np.array([DAY], "M8[ns]"), "ns since 1970-01-01 (forthwith:timestamp[ns])"),
    "us": (np.array([DAY], "M8[us]"), "us since 1970-01-01 (forthwith:timestamp[us])"),
    "utc": (pa.array([DAY], pa.timestamp("ms", "UTC")), "ms since 1970-01-01 UTC (forthwith:timestamp[ms, UTC])"),
    "zone": (
        pa.array([DAY], pa.timestamp("us", "Europe/Berlin")),
        "us since 1970-01-01 UTC (forthwith:timestamp[us, Europe/Berlin])",
    ),
    "day": (pa.array([DAY.date()]), "days since 1970-01-01 (forthwith:date)"),
    "time": (pa.array([datetime.time(1)], pa.time64("us")), "us since midnight (forthwith:time[us])"),
    "clock": (pa.array([datetime.time(1)], pa.time32("ms")), "ms since midnight (forthwith:time[ms])"),
    "long": (np.array([5], "m8[s]"), "s (forthwith:duration[s])"),
    "list": (pa.array([[DAY, DAY]], pa.list_(STAMP)), "us since 1970-01-01 (forthwith:timestamp[us])"),
    "fixed": (pa.array([[DAY, DAY]], pa.list_(STAMP, 2)), "us since 1970-01-01 (forthwith:timestamp[us])"),
    "deep": (pa.array([[[5], []]], pa.list_(pa.list_(pa.duration("ms")))), "ms (forthwith:duration[ms])"),
}


def _make(path, kind, columns, **options):
    with forthwith.recreate(path) as file:
        make = file.mktree if kind == "tree" else file.mkrntuple
        make("t", columns, times_as_integers=True, **options)
    return f"{path}:t"


@pytest.mark.parametrize("name", COLUMNS)
def test_times_are_refused_or_say_their_unit(tmp_path, name):
    column, title = COLUMNS[name]
    with forthwith.recreate(tmp_path / "t.root") as file:
        for columns in ({name: column, "x": [1]}, {"r": pa.array([{"date": 1, "at": DAY}])}):
            with pytest.raises(forthwith.UnsupportedError, match="times_as_integers=True"):
                file["t"] = columns
    with forthwith.open(_make(tmp_path / "t.root", "tree", {name: column, "date": [1]})) as tree:
        assert (tree[name].title, tree["date"].title) == (title, "date/L")
        assert tree["date"].array().to_list() == [1]


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
@pytest.mark.parametrize("name", COLUMNS)
def test_times_come_back_in_all_faces(tmp_path, kind, name):
    ak, pd, pl = pytest.importorskip("awkward"), pytest.importorskip("pandas"), pytest.importorskip("polars")
    column = pa.array(COLUMNS[name][0])
    wanted = column.to_pylist()
    numbers = pa.table({name: column}).cast(pa.schema([(name, _whole(column.type))]))[name].to_pylist()
    path = _make(tmp_path / "t.root", kind, {name: COLUMNS[name][0], "x": [1]})
    with forthwith.open(path) as table:
        assert table[name].array(library="arrow").to_pylist() == wanted
        assert pa.table(table)[name].to_pylist() == wanted
        assert table.arrays([name], library="arrow", cut="x == 1")[name].to_pylist() == wanted
        assert next(iter(table.iterate([name], library="arrow")))[name].to_pylist() == wanted
        assert table.arrays([name], library="pl")[name].to_list() == pl.Series(column).to_list()
        assert (
            table[name].array(library="pd").to_list()
            == pd.Series(column.to_pandas(types_mapper=pd.ArrowDtype)).to_list()
        )
        assert [row[name] for row in table.rows()] == wanted
        read = ak.drop_none(ak.flatten(table[name].array(), axis=None))
        assert read.type.content.primitive[:-1].rstrip("nmu[sD") in ("datetime64", "timedelta64")
        flat = np.ravel(numbers) if name != "deep" else [5]
        assert ak.to_numpy(read).astype("i8").tolist() == list(flat)
        assert table[name].array(logical=False).to_list() == numbers
    with forthwith.open(path, times_as_integers=True) as table:
        assert table[name].array().to_list() == numbers
        assert table.arrays(library="arrow")[name].to_pylist() == numbers
        assert table.arrays(library="pl")[name].to_list() == numbers
        assert [row[name] for row in table.rows()] == numbers
        if name in ("us", "day"):
            assert table.arrays(["x"], cut=f"{name} == {numbers[0]}").x.to_list() == [1]


def _whole(kind):
    if pa.types.is_list(kind):
        return pa.list_(_whole(kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_whole(kind.value_type), kind.list_size)
    return pa.int32() if kind.bit_width == 32 else pa.int64()


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
def test_times_in_records_come_back(tmp_path, kind):
    flat = pa.array([{"n": 1, "at": DAY}, {"n": 2, "at": DAY}])
    lists = pa.array([[{"at": DAY, "w": 1.5}], []])
    for records in ("flat", "class") if kind == "tree" else ("",):
        options = {"records": records} if records else {}
        path = _make(tmp_path / f"{records}.root", kind, {"r": flat, "l": lists}, **options)
        with forthwith.open(path) as table:
            assert str(table.arrays(library="arrow").schema).count("timestamp[us]") >= 2
        with forthwith.open(path, times_as_integers=True) as table:
            assert "timestamp" not in str(table.arrays(library="arrow").schema)


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
def test_titles_of_a_caller_keep_the_times(tmp_path, kind):
    at = {"at": np.array([DAY], "M8[us]")}
    said = {"titles": {"at": "begin"}} if kind == "tree" else {"fields": {"at": {"description": "begin"}}}
    with forthwith.open(_make(tmp_path / "t.root", kind, at, **said)) as table:
        assert table["at"].title == "begin (forthwith:timestamp[us])"
        assert table["at"].array(library="np").tolist() == [DAY]


@pytest.mark.parametrize(
    "title", ["us since 1970-01-01", "s", "days since 1970-01-01", "timestamp[us]", "(timestamp[us])"]
)
def test_titles_that_look_like_units_say_nothing(tmp_path, title):
    with forthwith.recreate(tmp_path / "t.root") as file:
        file.mktree("t", {"at": np.array([5])}, titles={"at": title})
        file.mkrntuple("n", {"at": np.array([5])}, fields={"at": {"description": title}})
    for name in "tn":
        with forthwith.open(f"{tmp_path}/t.root:{name}") as table:
            assert table["at"].title == title
            assert table.arrays(library="arrow")["at"].type == pa.int64()


def test_a_title_of_times_on_other_numbers_says_nothing(tmp_path):
    columns = {"f": np.array([1.5]), "i": np.array([1], "i4"), "d": np.array([1], "i8"), "s": ["a"]}
    note = "(forthwith:timestamp[us])"
    titles = {"f": note, "i": note, "s": note, "d": "(forthwith:date)"}
    with forthwith.recreate(tmp_path / "t.root") as file:
        file.mktree("t", columns, titles=titles)
    with forthwith.open(f"{tmp_path}/t.root:t") as tree:
        assert tree.arrays(library="arrow").to_pylist() == [{"f": 1.5, "i": 1, "d": 1, "s": "a"}]


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
def test_tables_are_extended_and_merged_with_times(tmp_path, kind):
    paths = [tmp_path / name for name in ("a.root", "b.root")]
    for at, path in enumerate(paths):
        _make(path, kind, {"at": np.array([at], "M8[us]"), "l": pa.array([[at]], pa.list_(pa.duration("s")))})
    with forthwith.update(paths[0]) as file:
        file["t"].extend({"at": np.array([7], "M8[us]"), "l": pa.array([[8, 9]], pa.list_(pa.duration("s")))})
        file["t"].extend({"at": np.array([8]), "l": [[1]]})
    forthwith.merge([str(path) for path in paths], tmp_path / "m.root")
    with forthwith.open(f"{tmp_path}/m.root:t") as table:
        read = table.arrays(["at", "l"], library="arrow")
        assert pa.types.is_timestamp(read["at"].type)
        assert read["at"].cast("i8").to_pylist() == [0, 7, 8, 1]
        second = datetime.timedelta(seconds=1)
        assert read["l"].to_pylist() == [[0 * second], [8 * second, 9 * second], [second], [second]]


def test_uproot_and_its_name_read_the_numbers(tmp_path):
    uproot = pytest.importorskip("uproot")
    import forthwith.uproot

    columns = {name: column for name, (column, _) in COLUMNS.items()}
    path = _make(tmp_path / "t.root", "tree", columns)
    with uproot.open(path) as judge, forthwith.uproot.open(path) as tree:
        wanted = judge.arrays()
        assert tree.arrays().tolist() == wanted.tolist()
        assert tree.arrays().type == wanted.type


def test_root_reads_the_numbers_and_titles(tmp_path):
    _make(
        tmp_path / "t.root",
        "tree",
        {name: column for name, (column, _) in COLUMNS.items()} | {"r": pa.array([{"at": DAY}])},
        records="class",
    )
    found = by_root(
        """
f = ROOT.TFile.Open(sys.argv[1])
t = f.Get("t")
frame = ROOT.RDataFrame(t)
print(json.dumps(dict(us=t.GetBranch("us").GetTitle(), numbers=[int(v) for v in frame.Take["Long64_t"]("us").GetValue()],
  lists=[[int(i) for i in v] for v in frame.Take["ROOT::VecOps::RVec<Long64_t>"]("list").GetValue()],
  fixed=[[int(i) for i in v] for v in frame.Take["ROOT::VecOps::RVec<Long64_t>"]("fixed").GetValue()],
  drawn=t.Draw("us:list:r.at", "", "goff"))))
""",
        tmp_path / "t.root",
    )
    number = int(np.datetime64(DAY, "us").astype("i8"))
    assert found["us"] == COLUMNS["us"][1]
    assert (found["numbers"], found["lists"], found["fixed"]) == ([number], [[number] * 2], [[number] * 2])
    assert found["drawn"] == 2


def test_random_times_come_back(tmp_path):
    picked = random.Random(11)
    units = ["ms", "us", "ns"]
    kinds = [kind(unit) for unit in units for kind in (pa.timestamp, pa.duration)] + [pa.duration("s"), pa.date32()]
    kinds += [pa.timestamp(unit, zone) for unit in units for zone in ("UTC", "America/New_York", "+05:30")]
    kinds += [pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
    for kind in list(kinds):
        kinds += [pa.list_(kind), pa.list_(kind, 3)]

    def value(kind):
        if pa.types.is_list(kind):
            return [value(kind.value_type) for _ in range(picked.randrange(4))]
        if pa.types.is_fixed_size_list(kind):
            return [value(kind.value_type) for _ in range(kind.list_size)]
        return picked.randrange(86_400_000) if pa.types.is_time(kind) else picked.randrange(-(10**6), 10**6)

    columns = {f"c{at}": pa.array([value(kind) for _ in range(20)], kind) for at, kind in enumerate(kinds)}
    for kind in ("tree", "ntuple"):
        with forthwith.open(_make(tmp_path / f"{kind}.root", kind, columns)) as table:
            read = table.arrays(library="arrow")
            for name, column in columns.items():
                assert _leaf(read[name].type) == _leaf(column.type), (kind, name)
                numbers = [array.cast(_like(array.type)).to_pylist() for array in (read[name], column)]
                assert numbers[0] == numbers[1], (kind, name)


def _leaf(kind):
    return _leaf(kind.value_type) if pa.types.is_nested(kind) else kind


def _like(kind):
    if pa.types.is_nested(kind):
        inner = _like(kind.value_type)
        return pa.list_(inner, kind.list_size) if pa.types.is_fixed_size_list(kind) else pa.large_list(inner)
    return pa.int32() if kind.bit_width == 32 else pa.int64()


def test_frames_of_all_libraries_are_refused(tmp_path):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for columns in (pd.DataFrame({"at": [DAY]}), pl.DataFrame({"at": [DAY]}), pa.table({"at": [DAY]}), {"at": [DAY]}):
        with forthwith.recreate(tmp_path / "t.root") as file, pytest.raises(forthwith.UnsupportedError, match="'at'"):
            file["t"] = columns
