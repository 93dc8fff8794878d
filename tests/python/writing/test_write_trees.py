"""Options of trees that are written: what C++ ROOT, uproot and forthwith find then."""

import math

import numpy as np
import pytest
from root_judge import by_root, by_uproot

import forthwith

ak = pytest.importorskip("awkward")

VALUES = """
f = ROOT.TFile.Open(sys.argv[1])
t = f.Get(sys.argv[2])
def plain(v):
    return str(v) if isinstance(v, (str, ROOT.std.string)) else [plain(x) for x in v] if hasattr(v, '__len__') else v
def of(leaf):
    if leaf.ClassName() == 'TLeafC':
        return leaf.GetValuePointer() and str(leaf.GetBranch().GetTree().GetLeaf(leaf.GetName()).GetTypeName())
    return [leaf.GetValue(i) for i in range(leaf.GetLen())]
columns = {}
for name in sys.argv[3:]:
    leaf = t.GetLeaf(name)
    columns[name] = [(t.GetEntry(i), of(leaf))[1] for i in range(t.GetEntries())]
print(json.dumps(columns))
"""

BRANCHES = """
f = ROOT.TFile.Open(sys.argv[1])
t = f.Get(sys.argv[2])
def rows(branches):
    for b in branches:
        leaf = b.GetListOfLeaves().At(0)
        yield [b.GetName(), b.GetTitle(), b.GetClassName(), *([leaf.ClassName(), leaf.GetTypeName()] if leaf else ['', ''])]
        yield from rows(b.GetListOfBranches())
print(json.dumps(list(rows(t.GetListOfBranches()))))
"""


def written(path, columns, **options):
    with forthwith.recreate(path) as file:
        tree = file.mktree("t", columns, **options)
        tree.extend(columns)
    return forthwith.open(path)["t"]


def test_each_column_has_its_choice(tmp_path):
    path = tmp_path / "a.root"
    columns = ak.Array(
        {
            "a": [[1, 2], [], [3]],
            "b": [[1.5], [2.5, 3.5], []],
            "c": ["x", "yy", ""],
            "d": ["x", "yy", ""],
            "r": [{"x": 1, "y": [2.0]}, {"x": 3, "y": []}, {"x": 4, "y": [5.0, 6.0]}],
            "q": [{"x": 1}, {"x": 3}, {"x": 4}],
            "h": [[{"e": 1.5}], [], [{"e": 2.5}, {"e": 3.5}]],
        }
    )
    tree = written(
        path, columns, jagged={"b": "vector"}, strings={"d": "characters"}, records={"q": "class", "h": "class"}
    )
    found = {row[0]: row[2:] for row in by_root(BRANCHES, path, "t")}
    assert found == {
        "na": ["", "TLeafI", "Int_t"], "a": ["", "TLeafL", "Long64_t"],
        "b": ["vector<double>", "TLeafElement", "vector<double>"],
        "c": ["string", "TLeafElement", "string"], "d": ["", "TLeafC", "Char_t"], "r.x": ["", "TLeafL", "Long64_t"],
        "nr_y": ["", "TLeafI", "Int_t"], "r.y": ["", "TLeafD", "Double_t"], "q.": ["q", "TLeafElement", "q"],
        "q.x": ["q", "TLeafElement", "Long64_t"], "h": ["vector<h>", "TLeafElement", "Int_t"],
        "h.e": ["h", "TLeafElement", "Double_t"],
    }  # fmt: skip
    twice = lambda name: 2 * columns[name].to_list()  # noqa: E731
    for name in "abcd":
        assert tree[name].array().to_list() == twice(name), name
        assert by_uproot(path, "t", [name])[name] == twice(name), name
    assert tree["q./q.x"].array().to_list() == 2 * [1, 3, 4]
    assert tree["h/h.e"].array().to_list() == 2 * [[1.5], [], [2.5, 3.5]]
    assert by_uproot(path, "t", ["h/h.e", "r.x"]) == {"h/h.e": 2 * [[1.5], [], [2.5, 3.5]], "r.x": 2 * [1, 3, 4]}
    assert by_root(VALUES, path, "t", "h.e")["h.e"] == 2 * [[1.5], [], [2.5, 3.5]]


def test_missing_values_become_a_number(tmp_path):
    path = tmp_path / "a.root"
    columns = ak.Array({"x": [1.5, None, 2.5], "n": [1, None, 3], "l": [[1, None], None, [2]], "s": ["a", None, "b"]})
    tree = written(path, columns, nulls={"x": math.nan, "n": -1, "l": 7, "s": 0})
    expected = {"n": [1, -1, 3], "l": [[1, 7], [], [2]], "s": ["a", "", "b"]}
    for name, values in expected.items():
        assert tree[name].array().to_list() == 2 * values
        assert by_uproot(path, "t", [name])[name] == 2 * values
    assert np.isnan(tree["x"].array()[1])
    with forthwith.recreate(tmp_path / "b.root") as file:
        with pytest.raises(forthwith.UnsupportedError, match="missing values") as raised:
            file.mktree("t", columns, nulls={"x": 0, "l": 0, "s": 0})
        assert "t/n" in str(raised.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("floats", "title", "kind", "error"),
    [
        ("double32", "x/d", "Double32_t", 1e-7),
        ("float16", "x/f", "Float16_t", 2**-12),
        (("double32", 6), "x/d[0,0,6]", "Double32_t", 2**-6),
        (("float16", 8), "x/f[0,0,8]", "Float16_t", 2**-8),
        (("double32", -10, 30.5, 20), "x/d[-10.0,30.5,20]", "Double32_t", 4e-5),
        (("float16", 0, 8, 12), "x/f[0.0,8.0,12]", "Float16_t", 2e-3),
    ],
)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_floats_with_fewer_bits(tmp_path, floats, title, kind, error, dtype):
    path, values = tmp_path / "a.root", np.linspace(0.25, 7.75, 60).astype(dtype)
    lists = ak.unflatten(values, [20, 0, 40])
    tree = written(path, {"x": values}, floats=floats)
    written(tmp_path / "b.root", {"x": lists}, floats={"x": floats})
    plain = floats == "double32" and dtype == "f4"
    row = by_root(BRANCHES, path, "t")[0]
    assert row[1] == ("x/F" if plain else title)
    assert row[4] == ("Float_t" if plain else kind)
    found = np.array(by_root(VALUES, path, "t", "x")["x"])[:, 0]
    assert np.allclose(found, np.tile(values, 2), rtol=error, atol=error)
    assert (tree["x"].array().to_numpy().astype("f8") == found).all()
    assert by_uproot(path, "t", ["x"])["x"] == found.tolist()
    found = by_root(VALUES, tmp_path / "b.root", "t", "x")["x"]
    assert [len(entry) for entry in found] == 2 * [20, 0, 40]
    assert forthwith.open(tmp_path / "b.root")["t/x"].array().to_list() == found


def test_codecs_and_baskets_of_columns(tmp_path):
    path = tmp_path / "a.root"
    columns = {name: np.arange(20_000) for name in "abcd"}
    compression = {"a": None, "b": "zstd:9", "c": forthwith.LZ4()}
    tree = written(path, columns, compression=compression, basket_bytes={"a": 8000, "d": 40_000}, cluster_entries=5000)
    script = """
f = ROOT.TFile.Open(sys.argv[1])
t = f.Get('t')
rows = {b.GetName(): [b.GetCompressionSettings(), b.GetWriteBasket()] for b in t.GetListOfBranches()}
clusters = t.GetClusterIterator(0)
starts = []
while (at := clusters()) < t.GetEntries():
    starts.append(at)
print(json.dumps([rows, starts]))
"""
    rows, starts = by_root(script, path)
    assert rows == {"a": [0, 40], "b": [509, 8], "c": [404, 8], "d": [101, 8]}
    assert starts == list(range(0, 40_000, 5000))
    assert all((tree[name].array().to_numpy() == np.tile(columns[name], 2)).all() for name in "abcd")


def test_what_belongs_to_a_tree(tmp_path):
    path = tmp_path / "a.root"
    columns = {"x": [1.5, 2.5], "hits": [[1, 2], []]}
    tree = written(
        path,
        columns,
        title="a tree",
        titles={"x": "the energy in GeV", "nhits": "how many hits", "hits": "counts of each"},
        aliases={"double_x": "2*x", "ü": "x"},
        user_info={"run": 5, "scale": 1.25, "note": "löng", "big": -(2**62)},
    )
    script = """
f = ROOT.TFile.Open(sys.argv[1])
t = f.Get('t')
n = t.Draw('double_x', '', 'goff')
info = {o.GetName(): o.GetTitle() if o.InheritsFrom('TNamed') else o.GetVal() for o in t.GetUserInfo()}
print(json.dumps([t.GetTitle(), [b.GetTitle() for b in t.GetListOfBranches()], [t.GetV1()[i] for i in range(n)], info]))
"""
    title, titles, doubled, info = by_root(script, path)
    assert (title, titles) == ("a tree", ["the energy in GeV", "how many hits", "counts of each"])
    assert doubled == [3.0, 5.0, 3.0, 5.0]
    assert info == {"run": 5, "scale": 1.25, "note": "löng", "big": -(2**62)}
    assert tree["hits"].array().to_list() == 2 * columns["hits"]
    assert tree["x"].title == "the energy in GeV"
    assert by_uproot(path, "t", ["x", "hits"]) == {"x": 2 * columns["x"], "hits": 2 * columns["hits"]}


@pytest.mark.parametrize("kinds", [("i4", "i8"), ("u1", "i2"), ("u8", "u4")])
def test_entries_are_found_by_an_index(tmp_path, kinds):
    random = np.random.default_rng(3)
    runs, events = random.integers(0, 9, 500).astype(kinds[0]), random.permutation(500).astype(kinds[1])
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        tree = file.mktree("t", {"run": kinds[0], "event": kinds[1], "x": "f8"}, index=("run", "event"))
        for at in range(0, 500, 90):
            rows = slice(at, at + 90)
            tree.extend({"run": runs[rows], "event": events[rows], "x": np.arange(500.0)[rows]})
        file.mktree("one", {"event": events}, index="event")
    script = """
f = ROOT.TFile.Open(sys.argv[1])
t, one = f.Get('t'), f.Get('one')
found = []
for run, event in json.loads(sys.argv[2]):
    found.append([t.GetEntryWithIndex(run, event) > 0 and t.x, one.GetEntryNumberWithIndex(event)])
names = [t.GetTreeIndex().GetMajorName(), t.GetTreeIndex().GetMinorName(), one.GetTreeIndex().GetMinorName()]
print(json.dumps([found, names, t.GetEntryWithIndex(99, 1), t.GetEntryNumberWithBestIndex(99, 1)]))
"""
    pairs = [[int(run), int(event)] for run, event in zip(runs, events, strict=True)]
    found, names, none, best = by_root(script, path, str(pairs))
    assert found == [[float(at), at] for at in range(500)]
    assert names == ["run", "event", "0"]
    assert none == -1
    assert best == max(range(500), key=lambda at: pairs[at])


def test_options_that_make_no_sense_are_refused_by_name(tmp_path):
    columns = {"x": [1.5], "hits": [[1]], "big": np.array([2**63], "u8")}
    with forthwith.recreate(tmp_path / "a.root") as file:
        for options, told in [
            ({"jagged": {"x": "array"}}, "column 'x': jagged is 'counter' or 'vector'"),
            ({"records": "objects"}, "records is 'flat' or 'class'"),
            ({"strings": 5}, "strings is"),
            ({"nulls": {"hits": "zero"}}, "column 'hits': nulls is 'refused'"),
            ({"nulls": True}, "nulls is 'refused'"),
            ({"floats": ("float16", 5, 1, 8)}, "floats is None"),
            ({"floats": {"x": ("float16", 99)}}, "bits of mantissa"),
            ({"compression": {"x": "brotli"}}, "column 'x': compression must be"),
            ({"basket_bytes": 0}, "basket_bytes is 1 or more"),
            ({"cluster_entries": 1.5}, "cluster_entries is a whole number"),
            ({"threads": 0}, "threads is 1 or more"),
            ({"titles": {"z": "title"}}, 'title for a branch "z"'),
            ({"titles": "title"}, "titles is a dict"),
            ({"aliases": {"a": 1}}, "aliases is a dict of texts"),
            ({"user_info": {"a": [1]}}, "that of 'a' is"),
            ({"index": ("x", "y", "z")}, "index is the name"),
            ({"index": "y"}, 'column "y", which does not exist'),
            ({"index": "x"}, "an index of float64"),
            ({"index": ("hits", "x")}, "an index of"),
            ({"index": "big"}, "beyond int64"),
            ({"jagged": {"unknown": "vector"}}, 'column "unknown", which does not exist'),
            ({"counter": {"hits": "x"}}, "x"),
        ]:
            with pytest.raises(
                (forthwith.RequestError, forthwith.RequestTypeError, forthwith.ForthwithError)
            ) as raised:
                file.mktree("t", columns, **options)
            assert told in str(raised.value), options
        union = ak.Array([[1, "a"], ["b"]])
        with pytest.raises(forthwith.UnsupportedError, match="union") as raised:
            file.mktree("d/t", {"x": [1, 2], "u": union})
        assert "d/t/u" in str(raised.value)


@pytest.mark.slow
@pytest.mark.parametrize("compression", [None, "zstd", "lz4", "zlib"])
def test_threads_change_nothing(tmp_path, compression, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    random = np.random.default_rng(1)
    numbers = np.round(random.normal(size=200_000), 2)
    columns = {"x": numbers, "l": ak.unflatten(numbers, random.multinomial(200_000, [1e-4] * 10_000))[:0]}
    lists = ak.unflatten(numbers, random.multinomial(200_000, [1 / 50_000] * 50_000))
    columns = {"x": numbers[:50_000], "l": lists, "v": ak.unflatten(lists, [5] * 10_000)[np.arange(50_000) % 10_000]}
    contents = []
    for threads in (1, 2, 5):
        (tmp_path / str(threads)).mkdir()
        with forthwith.recreate(tmp_path / str(threads) / "a.root", compression=compression) as file:
            tree = file.mktree("t", columns, threads=threads, basket_bytes=100_000, cluster_bytes=1_000_000)
            tree.extend(columns)
        contents.append((tmp_path / str(threads) / "a.root").read_bytes())
    assert contents[0] == contents[1] == contents[2]


def test_columns_that_count_are_the_counters_of_lists(tmp_path):
    """A table as NanoAOD has it, with the counters among its columns, is written as it was read."""
    path = tmp_path / "t.root"
    lists = {"Muon_pt": [[1.5], [2.5, 3.5], []], "Muon_eta": [[0.5], [1.0, 2.0], []]}
    records = ak.zip({name.partition("_")[2]: ak.Array(column) for name, column in lists.items()})
    counts = np.array([1, 2, 0], "i4")
    tables = [
        ({"nMuon_pt": counts, "Muon_pt": lists["Muon_pt"]}, {}, ["nMuon_pt", "Muon_pt"]),
        ({"nMuon": counts, "Muon": records}, {}, ["nMuon", "Muon_pt", "Muon_eta"]),
        ({"Muon": records, "nMuon": counts.astype("u2")}, {}, ["nMuon", "Muon_pt", "Muon_eta"]),
        ({"nMuon": counts} | lists, {"counter": "nMuon"}, ["nMuon", "Muon_pt", "Muon_eta"]),
        # Lists that have no counter leave the name to the numbers.
        ({"nx": counts, "x": lists["Muon_pt"]}, {"jagged": "vector"}, ["nx", "x"]),
        ({"nx": counts, "x": ["a", "b", "c"]}, {}, ["x", "nx"]),
    ]
    for columns, options, names in tables:
        with forthwith.recreate(path) as file:
            tree = file.mktree("t", columns, **options)
            tree.extend(columns)
        with forthwith.open(path) as file:
            assert sorted(file["t"].keys()) == sorted(names)
            assert file["t"][next(name for name in names if name[0] == "n")].array().to_list() == [1, 2, 0] * 2
            for name in set(lists) & set(names):
                assert file["t"][name].array().to_list() == lists[name] * 2
    for wrong in ([1, 2, 1], [1, 2, 2]):
        with (
            pytest.raises(forthwith.ForthwithError, match="not the lengths of its lists"),
            forthwith.recreate(path) as file,
        ):
            file["t"] = {"nMuon": np.array(wrong, "i4"), "Muon": records}


def test_classes_do_not_take_the_names_of_others(tmp_path):
    """C++ ROOT would read a class of its own, or a type, in the place of the one that the file describes."""
    names = [
        "Hit",
        "TObject",
        "TVector3",
        "TTree",
        "int",
        "Long64_t",
        "string",
        "byte",
        "std",
        "TMath",
        "class",
        "stat",
    ]
    path = tmp_path / "out.root"
    with forthwith.recreate(path) as file:
        for name in names:
            one = ak.with_name(ak.Array([{"b": 1}, {"b": 2}]), name)
            some = ak.with_name(ak.Array([[{"b": 3}], [{"b": 4}, {"b": 5}]]), name)
            columns = {"a": one, "l": some}
            types = {column: ak.type(array).content for column, array in columns.items()}
            file.mktree(f"t{name}", types, records="class").extend(columns)
    script = """
f = ROOT.TFile.Open(sys.argv[1])
found = []
for name in sys.argv[2:]:
    t = f.Get("t" + name)
    read = sum(t.GetEntry(i) for i in range(2))
    t.GetEntry(1)
    found.append([read, t.GetLeaf("a.b").GetValue(), t.GetLeaf("l.b").GetValue(1), str(t.GetBranch("a.").GetClassName())])
print(json.dumps(found))
"""
    found = by_root(script, path, *names)
    assert found == [[48, 2, 5, "Hit"], *([48, 2, 5, f"_{name}"] for name in names[1:])]
    with forthwith.open(path) as file:
        assert file["tstd"]["a./a.b"].array().to_list() == [1, 2]


@pytest.mark.parametrize("kind", ["mktree", "mkrntuple"])
def test_named_indices_of_data_frames_are_columns(tmp_path, kind):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "out.root"
    index = pd.MultiIndex.from_tuples([(1, 7), (2, 8)], names=["run", "event"])
    frame = pd.DataFrame({"x": [1.5, 2.5]}, index=index)
    with forthwith.recreate(path) as file:
        table = getattr(file, kind)("t", frame)
        table.extend(frame)
        getattr(file, kind)("plain", pd.DataFrame({"x": [1.5, 2.5]}, index=[7, 8]))
        with pytest.raises(forthwith.RequestError, match="already exists"):
            getattr(file, kind)("again", frame.assign(run=0))
    with forthwith.open(path) as file:
        assert (
            file["t"].arrays().tolist()
            == [
                {"run": 1, "event": 7, "x": 1.5},
                {"run": 2, "event": 8, "x": 2.5},
            ]
            * 2
        )
        assert file["plain"].keys() == ["index", "x"]


def test_by_uproots_name_the_index_is_a_column(tmp_path):
    pd = pytest.importorskip("pandas")
    from forthwith import uproot

    path = tmp_path / "out.root"
    frame = pd.DataFrame({"x": [1.5, 2.5]}, index=[7, 8])
    with uproot.recreate(path) as file:
        file["n"] = frame
        tree = file.mktree("t", frame)
        tree.extend(frame[frame.x > 2])
        file["named"] = frame.rename_axis(index="run")
    with uproot.open(path) as file:
        assert file["n"].arrays().tolist() == [{"index": 7, "x": 1.5}, {"index": 8, "x": 2.5}]
        assert file["t"]["index"].array().tolist() == [7, 8, 8]
        assert file["named"].keys() == ["run", "x"]


@pytest.mark.parametrize("make", ["mktree", "mkrntuple"])
def test_numbers_for_missing_values_keep_their_digits(tmp_path, make):
    path = tmp_path / "a.root"
    long = ak.values_astype(ak.Array([1, None]), np.int64)
    unsigned = ak.values_astype(long, np.uint64)
    for number, column in [
        (2**53 + 1, long),
        (np.int64(-(2**63)), long),
        (2**64 - 1, unsigned),
        (2.0**63, unsigned),
    ]:
        with forthwith.recreate(path) as file:
            getattr(file, make)("t", {"n": column}, nulls=number)
        with forthwith.open(path) as file:
            assert file["t"]["n"].array().to_list() == [1, int(number)]
    for number, column in [(2**63, long), (2.0**63, long), (-1, unsigned), (2**64, unsigned), (2**53 + 1, long * 1.0)]:
        with forthwith.recreate(path) as file:
            with pytest.raises(forthwith.UnsupportedError, match="in place of missing values of type") as raised:
                getattr(file, make)("t", {"n": column}, nulls=number)
            assert "n" in str(raised.value).partition("column" if make == "mkrntuple" else "t/")[2]
