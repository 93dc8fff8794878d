"""ROOT files that are written: objects, histograms and directories, read back by forthwith, C++ ROOT and uproot."""

import errno
import io
import json
import os
import signal

import numpy as np
import pytest
from conftest import DATA
from root_judge import by_root

import forthwith


def histograms():
    """Histograms of each kind, by name, of libraries of Python."""
    bh = pytest.importorskip("boost_histogram")
    random = np.random.default_rng(5)
    x, y, z, w = (random.normal(size=1000) for _ in range(4))
    made = {"numpy1": np.histogram(x, 20, (-2, 2)), "numpy2": np.histogram2d(x, y, (5, 7))}
    made["numpy3"] = np.histogramdd((x, y, z), (3, 4, 5))
    made["uneven"] = np.histogram(x, [-3, -1, 0, 0.5, 4])
    for name, storage in {
        "int64": bh.storage.Int64(),
        "double": bh.storage.Double(),
        "weight": bh.storage.Weight(),
    }.items():
        axes = [bh.axis.Regular(10, -2, 2), bh.axis.Variable([-3, 0, 1, 5]), bh.axis.Regular(4, -1, 1, underflow=False)]
        for count in (1, 2, 3):
            made[f"{name}{count}"] = bh.Histogram(*axes[:count], storage=storage)
            extra = {"weight": np.abs(w)} if name == "weight" else {}
            made[f"{name}{count}"].fill(*(x, y, z)[:count], **extra)
    for name, storage in {"mean": bh.storage.Mean(), "wmean": bh.storage.WeightedMean()}.items():
        for count in (1, 2, 3):
            axes = [bh.axis.Regular(6, -2, 2, metadata="a title"), bh.axis.Regular(5, -1, 1), bh.axis.Regular(3, -1, 1)]
            made[f"{name}{count}"] = bh.Histogram(*axes[:count], storage=storage)
            extra = {"weight": np.abs(w)} if name == "wmean" else {}
            made[f"{name}{count}"].fill(*(x, y, z)[:count], sample=x + y, **extra)
    made["labels"] = bh.Histogram(bh.axis.StrCategory(["one", "two", "three"]), storage=bh.storage.Int64())
    made["labels"].fill(["one", "three", "three", "four"])
    return made


ROOT_HISTOGRAMS = """
found = {}
def describe(h):
    d = h.GetDimension()
    axes = [h.GetXaxis(), h.GetYaxis(), h.GetZaxis()][:d]
    cells = range(h.GetNcells())
    profile = h.InheritsFrom('TProfile') or h.InheritsFrom('TProfile2D') or h.InheritsFrom('TProfile3D')
    return dict(kind=h.ClassName(), values=[h.GetBinContent(i) for i in cells], errors=[h.GetBinError(i) for i in cells],
                counts=[h.GetBinEntries(i) for i in cells] if profile else None, title=h.GetTitle(), entries=h.GetEntries(),
                edges=[[a.GetBinLowEdge(i + 1) for i in range(a.GetNbins() + 1)] for a in axes],
                labels=[[a.GetBinLabel(i + 1) for i in range(a.GetNbins())] for a in axes],
                mean=[h.GetMean(i + 1) for i in range(d)], titles=[a.GetTitle() for a in axes])
for path in sys.argv[1:]:
    f = ROOT.TFile.Open(path)
    for key in f.GetListOfKeys():
        h = key.ReadObj()
        found[key.GetName()] = describe(h)
print(json.dumps(found))
"""


def test_histograms_are_what_they_were(tmp_path):
    path, made = tmp_path / "histograms.root", histograms()
    with forthwith.recreate(path, compression=forthwith.ZSTD(5)) as file:
        for name, histogram in made.items():
            file[name] = histogram
    kinds = {}
    with forthwith.open(path) as file:
        for name, histogram in made.items():
            found = file[name]
            kinds[name] = found.classname
            values = histogram[0] if isinstance(histogram, tuple) else histogram.values()
            assert found.values() == pytest.approx(np.asarray(values), rel=1e-12), name
            if not isinstance(histogram, tuple):
                assert (
                    found.variances() == pytest.approx(histogram.variances(), rel=1e-9, nan_ok=True) or "mean" in name
                )
            for axis, edges in zip(found.axes, axes_of(histogram), strict=True):
                assert np.allclose(axis.edges(), edges, rtol=1e-14), name
        assert file["labels"].axes[0].labels() == ["one", "two", "three"]
        assert file["mean1"].axes[0].title == "a title"
    assert kinds["numpy1"] == "TH1D"
    assert kinds["mean2"] == "TProfile2D"
    assert kinds["double3"] == "TH3D"
    by = by_root(ROOT_HISTOGRAMS, path)
    assert by.keys() == made.keys()
    with forthwith.open(path) as file:
        for name, root in by.items():
            found = file[name]
            assert root["kind"] == found.classname
            same = found.values(flow=True).ravel(order="F")
            assert root["values"] == pytest.approx(np.nan_to_num(same), rel=1e-12), name
            assert root["errors"] == pytest.approx(np.nan_to_num(found.errors(flow=True).ravel(order="F")), rel=1e-9), (
                name
            )
            for axis, edges in zip(axes_of(made[name]), root["edges"], strict=True):
                assert edges == pytest.approx(list(axis), rel=1e-12, abs=1e-12)
    assert by["labels"]["labels"] == [["one", "two", "three"]]
    print(f"{len(by)} histograms compared with C++ ROOT")


def axes_of(histogram):
    if isinstance(histogram, tuple):
        edges = list(histogram[1:])
        return edges[0] if isinstance(edges[0], (list, tuple)) else edges
    return [np.asarray(axis.edges, dtype=float) for axis in histogram.axes]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "f4", "f8", "i8"])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_numbers_of_each_width(tmp_path, dtype, dimensions):
    path = tmp_path / "h.root"
    contents = np.arange(2 * 3 * 4)[: 24 if dimensions == 3 else 6 if dimensions == 2 else 2]
    contents = contents.reshape((2, 3, 4)[:dimensions]).astype(dtype)
    edges = [np.arange(size + 1.0) for size in contents.shape]
    with forthwith.recreate(path) as file:
        file["h"] = (contents, edges) if dimensions > 1 else (contents, edges[0])
    with forthwith.open(path) as file:
        letter = {"i1": "C", "i2": "S", "i4": "I", "f4": "F"}.get(dtype, "D")
        assert file["h"].classname == f"TH{dimensions}{letter}"
        assert (file["h"].values() == contents).all()
    found = by_root(ROOT_HISTOGRAMS, path)["h"]
    assert found["kind"] == f"TH{dimensions}{letter}"
    assert found["values"] == np.pad(contents, 1).ravel(order="F").tolist()


def test_other_objects(tmp_path):
    path = tmp_path / "objects.root"
    graph = {"fX": [1.0, 2.0, 3.0], "fY": np.array([4, 5, 6])}
    errors = {"fEX": np.zeros(3), "fEY": np.ones(3)}
    sides = {name: np.full(3, 0.5) for name in ("fEXlow", "fEXhigh", "fEYlow", "fEYhigh")}
    with forthwith.recreate(path, title="a file") as file:
        file["text"] = "löng " * 100
        file["dir/whole"] = -5
        file["dir/real"] = np.float32(1.5)
        file["dir/truth"] = True
        file["named"] = {"_typename": "TNamed", "fTitle": "title"}
        file["int"] = {"_typename": "TParameter<int>", "fVal": 3}
        file["graph"] = {"_typename": "TGraph", "fTitle": "g", **graph}
        file["errors"] = {"_typename": "TGraphErrors", **graph, **errors}
        file["sides"] = {"_typename": "TGraphAsymmErrors", **graph, **sides}
        file["list"] = ["a", {"_typename": "TNamed", "fName": "b"}]
        pairs = [[{"_typename": "TObjString", "fString": word} for word in pair] for pair in (("k", "v"), ("l", "w"))]
        file["map"] = {"_typename": "TMap", "items": pairs}
        inner = {"_typename": "TList", "items": [{"_typename": "TNamed", "fName": "inside"}]}
        file["folder"] = {"_typename": "TFolder", "fFolders": inner, "fIsOwner": True}
    with forthwith.open(path) as file:
        assert str(file["text"]) == "löng " * 100
        assert [file[f"dir/{name}"].value for name in ("whole", "real", "truth")] == [-5, 1.5, True]
        assert file["named"].title == "title"
        assert file["int"].value == 3
        assert [list(axis) for axis in file["graph"].values()] == [[1, 2, 3], [4, 5, 6]]
        assert list(file["sides"].errors("low", "y")) == [0.5] * 3
        assert [str(item) if i == 0 else item.name for i, item in enumerate(file["list"])] == ["a", "b"]
        assert str(file["map"]["l"]) == "w"
        assert file["folder"].member("fFolders")[0].name == "inside"
    found = by_root(
        """
f = ROOT.TFile.Open(sys.argv[1])
g = lambda name: f.Get(name)
points = lambda g: [[g.GetPointX(i), g.GetPointY(i), g.GetErrorYlow(i), g.GetErrorYhigh(i)] for i in range(g.GetN())]
print(json.dumps(dict(title=f.GetTitle(), text=str(g('text')), numbers=[g('dir/whole').GetVal(), g('dir/real').GetVal(),
  bool(g('dir/truth').GetVal()), g('int').GetVal()], named=[g('named').GetName(), g('named').GetTitle()],
  graph=points(g('graph')), errors=points(g('errors')), sides=points(g('sides')), list=[o.GetName() for o in g('list')],
  map=str(g('map').GetValue('l')), folder=g('folder').FindObject('inside').GetName())))
""",
        path,
    )
    assert found["text"] == "löng " * 100
    assert found["title"] == "a file"
    assert found["numbers"] == [-5, 1.5, True, 3]
    assert found["named"] == ["named", "title"]
    assert found["list"] == ["a", "b"]
    assert found["map"] == "w"
    assert found["folder"] == "inside"
    assert found["graph"] == [[1, 4, -1, -1], [2, 5, -1, -1], [3, 6, -1, -1]]
    assert found["errors"][0] == [1, 4, 1, 1]
    assert found["sides"][2] == [3, 6, 0.5, 0.5]


def test_objects_of_files_are_written_as_they_are(tmp_path):
    path, count = tmp_path / "copies.root", 0
    expected = {}
    with forthwith.recreate(path, compression="lz4") as file:
        for source in sorted(DATA.glob("*.root")):
            with forthwith.open(source) as old:
                for key, kind in old.classnames(recursive=True).items():
                    if kind.startswith(("TTree", "TNtuple", "ROOT::RNTuple", "TDirectory", "TChain")):
                        continue
                    try:
                        thing = old[key]
                        plain = thing.tojson()
                    except (forthwith.ForthwithError, AttributeError):
                        continue
                    name = key.rpartition("/")[2].partition(";")[0]
                    file[f"f{count}/{name}"] = thing
                    expected[f"f{count}/{name}"] = plain
                    count += 1
    assert count > 20
    with forthwith.open(path) as file:
        for name, plain in expected.items():
            assert json.dumps(file[name].tojson(), default=str) == json.dumps(plain, default=str), name
    print(f"{count} objects copied")


def test_histograms_of_files_get_other_names(tmp_path):
    path = tmp_path / "renamed.root"
    with forthwith.open(DATA / "zmumu.root") as old, forthwith.recreate(path) as file:
        mass = old["mass"]
        file["m"] = mass
        file["a_much_longer_name_than_before"] = mass
        file["double"] = mass + mass
        file["part"] = mass[2:8]
    with forthwith.open(path) as file:
        for name in ("m", "a_much_longer_name_than_before"):
            assert (file[name].values(True) == mass.values(True)).all()
        assert (file["double"].values() == 2 * mass.values()).all()
    found = by_root(ROOT_HISTOGRAMS, path)
    assert found["double"]["values"] == pytest.approx([2 * value for value in found["m"]["values"]])
    assert found["m"]["values"] == found["a_much_longer_name_than_before"]["values"] == mass.values(True).tolist()


def test_directories_cycles_and_names(tmp_path):
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        file["x"] = "one"
        file["x"] = "two"
        inner = file.mkdir("a/b")
        inner["y"] = "three"
        inner["c/z"] = "four"
        assert file.keys() == ["x;2", "x;1", "a;1"]
        assert "x;1" in file
        assert "a/b/y" in file
        assert "q" not in file
        assert file.classnames()["a;1"] == "TDirectory"
        assert inner.path == "a/b"
        assert len(inner) == 2
        assert file["a"]["b"].keys(cycle=False) == ["y", "c"]
        del file["x;1"]
        del inner["y"]
        with pytest.raises(forthwith.KeyInFileError, match="no object 'nothing'"):
            del file["nothing"]
        with pytest.raises(forthwith.RequestError, match="is a directory"):
            del file["a"]
        with pytest.raises(forthwith.KeyInFileError, match="no directory 'x'"):
            file["x"]
        with pytest.raises(forthwith.RequestTypeError, match="type set cannot be written"):
            file["s"] = {1, 2}
        with pytest.raises(forthwith.UnsupportedError, match="TUnknown"):
            file["s"] = {"_typename": "TUnknown"}
        with pytest.raises(forthwith.ForthwithError, match="fVal"):
            file["s"] = {"_typename": "TParameter<int>"}
        with pytest.raises(forthwith.RequestError, match="not a directory"):
            file["x/y"] = "below an object"
    with pytest.raises(ValueError, match="closed"):
        file["late"] = "x"
    with forthwith.open(path) as file:
        assert file.keys(recursive=True) == ["x;2", "a;1", "a/b;1", "a/b/c;1", "a/b/c/z;1"]
    assert by_root("f = ROOT.TFile.Open(sys.argv[1]); print(json.dumps(str(f.Get('a/b/c/z'))))", path) == "four"


@pytest.mark.parametrize("compression", [None, "none", "zlib", "zstd:9", forthwith.LZMA(), forthwith.LZ4(1), 505])
def test_compression(tmp_path, compression):
    path = tmp_path / "a.root"
    with forthwith.recreate(path, compression=compression) as file:
        file["x"] = "compressible " * 1000
    with forthwith.open(path) as file:
        assert str(file["x"]) == "compressible " * 1000
    assert (path.stat().st_size < 5000) == (compression not in (None, "none"))
    assert by_root("f = ROOT.TFile.Open(sys.argv[1]); print(len(str(f.Get('x'))))", path) == 13000
    for wrong in ("brotli", 333, forthwith, "zstd:x"):
        with pytest.raises(forthwith.RequestError):
            forthwith.recreate(path, compression=wrong)
    with pytest.raises(forthwith.RequestError, match="1 to 9"):
        forthwith.ZSTD(10)


def interrupted(file):
    with file:
        file["y"] = "two"
        file["z"] = {1, 2}


def test_files_that_are_there(tmp_path):
    path = tmp_path / "a.root"
    with forthwith.create(path) as file:
        file["x"] = "one"
    with pytest.raises(OSError, match="there already") as raised:
        forthwith.create(path)
    assert raised.value.errno == errno.EEXIST
    for begin in (forthwith.recreate, forthwith.update):
        with pytest.raises(TypeError, match="cannot be written"):
            interrupted(begin(path))
    with forthwith.open(path) as file:
        assert file.keys() == ["x;1"]
    with forthwith.update(path) as file:
        file["x"] = "two"
        file["dir/y"] = "three"
        with pytest.raises(OSError, match="being changed already"):
            forthwith.update(path)
    with forthwith.open(path) as file:
        assert [str(file[name]) for name in ("x", "x;1", "dir/y")] == ["two", "one", "three"]
    assert os.listdir(tmp_path) == ["a.root"]
    with pytest.raises(FileNotFoundError):
        forthwith.update(tmp_path / "missing.root")
    with pytest.raises(OSError):
        forthwith.recreate(tmp_path / "missing" / "a.root")
    (tmp_path / "text.root").write_text("no ROOT file at all")
    with pytest.raises(forthwith.ForthwithError, match="not a ROOT file"):
        forthwith.update(tmp_path / "text.root")
    assert (tmp_path / "text.root").read_text() == "no ROOT file at all"


def test_file_objects_and_devices(tmp_path):
    memory = io.BytesIO()
    with forthwith.recreate(memory) as file:
        file["x"] = "in memory"
    memory.seek(0)
    assert str(forthwith.open(memory)["x"]) == "in memory"

    class Full(io.RawIOBase):
        def write(self, data):
            raise OSError(errno.ENOSPC, "no space left")

    with pytest.raises(OSError, match="no space left"), forthwith.recreate(Full()) as file:
        file["x"] = "text"
    with pytest.raises(OSError), forthwith.recreate("/dev/full") as file:
        file["x"] = "text"
    with pytest.raises(OSError, match="write to a file"), forthwith.recreate("/dev/null") as file:
        file["x"] = "text"


def test_the_same_input_gives_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    contents = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        with forthwith.recreate(tmp_path / folder / "a.root") as file:
            file["x"] = np.histogram([1, 2, 2, 3])
            file["d/e"] = "text"
        contents.append((tmp_path / folder / "a.root").read_bytes())
    assert contents[0] == contents[1]


def test_files_of_root_are_changed(tmp_path):
    path = tmp_path / "a.root"
    by_root(
        """
f = ROOT.TFile(sys.argv[1], 'RECREATE')
h = ROOT.TH1F('h', 'title', 10, 0, 1); h.Fill(0.5); h.Write()
f.mkdir('d').cd(); ROOT.TNamed('n', 't').Write()
t = ROOT.TTree('t', 't'); x = ROOT.std.vector('float')(); t.Branch('x', x)
for i in range(100): x.assign(i % 3, float(i)); t.Fill()
t.Write(); f.Close(); print(1)
""",
        path,
    )
    before = path.read_bytes()
    with forthwith.update(path) as file:
        file["d/more"] = np.histogram([0.5], 3, (0, 1))
        file["e/f"] = "text"
        del file["h"]
    with forthwith.open(path) as file:
        assert file["d/t"].arrays()["x"].tolist()[5] == [5.0, 5.0]
    found = by_root(
        """
f = ROOT.TFile.Open(sys.argv[1])
print(json.dumps([[k.GetName() for k in f.GetListOfKeys()], str(f.Get('e/f')), f.Get('d/more').GetBinContent(2),
  f.Get('d/t').GetEntries(), f.Get('d/n').GetTitle()]))
""",
        path,
    )
    assert found == [["d", "e"], "text", 1.0, 100, "t"]
    assert path.read_bytes()[:4] == before[:4]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.parametrize("how", ["recreate", "update"])
def test_a_killed_writer_leaves_the_old_file(tmp_path, how):
    """The process is ended by the system at the byte where a file gets too long, for many lengths."""
    import resource

    kills, _, seed = os.environ.get("FORTHWITH_KILLS", "40").partition(":")
    random = np.random.default_rng(int(seed or 1))
    path = tmp_path / "a.root"
    noise = random.integers(0, 60, 30_000).astype("u1") + 65
    with forthwith.recreate(path, compression=None) as file:
        file["x"] = "old"
        file["d/x"] = noise.tobytes().decode()[:10_000]
    old, killed = path.read_bytes(), 0
    for limit in random.integers(len(old) if how == "update" else 0, len(old) + 60_000, int(kills)):
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
            with getattr(forthwith, how)(path, compression=None) as file:
                for number in range(3):
                    file[f"d/new{number}"] = noise.tobytes().decode()[: 15_000 + number]
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            killed += 1
            with forthwith.open(path) as file:
                assert str(file["x"]) == "old"
                assert len(str(file["d/x"])) == 10_000
                assert "d/new0" not in file
            (tmp_path / f"{killed}.killed").write_bytes(path.read_bytes())
        else:
            with forthwith.open(path) as file:
                assert len(str(file["d/new2"])) == 15_002
        path.write_bytes(old)
        for part in tmp_path.glob(".*.part"):
            part.unlink()
    assert killed > int(kills) // 4
    found = by_root(
        """
import glob
seen = 0
for path in glob.glob(sys.argv[1] + '/*.killed'):
    f = ROOT.TFile.Open(path)
    assert not f.TestBit(ROOT.TFile.kRecovered) and str(f.Get('x')) == 'old' and len(str(f.Get('d/x'))) == 10000, path
    seen += 1
print(seen)
""",
        tmp_path,
    )
    assert found == killed
    print(f"{killed} killed writers of {kills}, each file read by C++ ROOT")


ROOT_TREE = """
f = ROOT.TFile.Open(sys.argv[1])
t = f.Get(sys.argv[2])
columns = {}
for name in sys.argv[3:]:
    found = []
    for i in range(t.GetEntries()):
        t.GetEntry(i)
        value = getattr(t, name)
        text = (str, ROOT.std.string)
        plain = lambda v: str(v) if isinstance(v, text) else [plain(x) for x in v] if hasattr(v, '__len__') else v
        found.append(plain(value))
    columns[name] = found
print(json.dumps(columns))
"""


def test_trees_step_by_step(tmp_path):
    path = tmp_path / "t.root"
    step = {"x": np.array([1.5, 2.5], "f4"), "n": [1, 2], "hits": [[1, 2, 3], []], "s": ["a", "löng"]}
    with forthwith.recreate(path) as file:
        types = {"x": "f4", "n": np.int64, "hits": "var * int64", "s": "string"}
        tree = file.mktree("d/t", types, title="a title")
        assert tree.num_entries == 0
        for _ in range(3):
            tree.extend(step)
        file["d/t"].extend({name: step[name] for name in reversed(step)})
        file["whole"] = {"y": np.arange(10), "z": np.arange(30.0).reshape(10, 3)}
        vectors = file.mktree("vectors", {"v": [[[1.0], []], [[2.0, 3.0]]], "w": [[1], [2, 3]]}, jagged="vector")
        file["note"] = "between trees"
        assert (file["d/t"].num_entries, vectors.num_entries) == (8, 2)
        file["whole"] = {"y": [1]}
        with pytest.raises(forthwith.ForthwithError, match="columns x for a table with"):
            tree.extend({"x": [1.0]})
        with pytest.raises(forthwith.RequestTypeError, match="no type"):
            file.mktree("wrong", {"x": "nonsense type"})
        with pytest.raises(forthwith.RequestError, match="jagged"):
            file.mktree("wrong", {"x": "f4"}, jagged="array")
    with forthwith.open(path) as file:
        found = file["d/t"].arrays()
        assert file["d/t"].title == "a title"
        assert found["x"].tolist() == [1.5, 2.5] * 4
        assert found["hits"].tolist() == [[1, 2, 3], []] * 4
        assert found["s"].tolist() == ["a", "löng"] * 4
        # What is assigned to a name again gets the next cycle.
        assert file["whole;1"].arrays()["z"].tolist() == np.arange(30.0).reshape(10, 3).tolist()
        assert file["whole"].arrays().tolist() == [{"y": 1}]
        assert file["vectors"].arrays()["v"].tolist() == [[[1.0], []], [[2.0, 3.0]]]
    by = by_root(ROOT_TREE, path, "d/t", "x", "n", "hits", "s")
    assert by == {"x": [1.5, 2.5] * 4, "n": [1, 2] * 4, "hits": [[1, 2, 3], []] * 4, "s": ["a", "löng"] * 4}
    by = by_root(ROOT_TREE, path, "vectors", "v", "w")
    assert by == {"v": [[[1.0], []], [[2.0, 3.0]]], "w": [[1], [2, 3]]}


def test_ntuples_step_by_step(tmp_path):
    path = tmp_path / "n.root"
    with forthwith.recreate(path, compression=forthwith.ZSTD()) as file:
        ntuple = file.mkrntuple("d/n", {"x": "f4", "hits": "var * int64", "s": "string"})
        for _ in range(3):
            ntuple.extend({"x": [1.5, 2.5], "hits": [[1, 2, 3], []], "s": ["a", "b"]})
        file["t"] = {"y": [1, 2]}
    with forthwith.open(path) as file:
        assert file["d/n"].arrays()["hits"].tolist() == [[1, 2, 3], []] * 3
        assert file["t"].arrays()["y"].tolist() == [1, 2]
    found = by_root(
        """
df = ROOT.RDataFrame('d/n', sys.argv[1])
hits = df.Take['ROOT::RVec<std::int64_t>']('hits').GetValue()
print(json.dumps([list(df.Take['float']('x').GetValue()), [list(v) for v in hits]]))
""",
        path,
    )
    assert found == [[1.5, 2.5] * 3, [[1, 2, 3], []] * 3]


def test_trees_of_frames_and_in_files_that_are_there(tmp_path):
    pd, ak = pytest.importorskip("pandas"), pytest.importorskip("awkward")
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "t.root"
    with forthwith.recreate(path) as file:
        file["frame"] = pd.DataFrame({"x": [1.5, 2.5], "n": [1, 2]})
        file["note"] = "text"
    with forthwith.update(path) as file:
        # Columns of Arrow may have nulls, and these have none.
        file["arrow"] = pa.table({"x": [1.5, 2.5, 3.5]})
        with pytest.raises(forthwith.UnsupportedError, match="missing values"):
            file["nulls"] = pa.table({"x": [1.5, None, 3.5]})
        file["records"] = ak.Array([{"x": 1, "y": [1.0]}, {"x": 2, "y": []}])
    with pytest.raises(TypeError, match="cannot be written"):
        interrupted_table(forthwith.update(path))
    with forthwith.open(path) as file:
        assert file["frame"].arrays()["x"].tolist() == [1.5, 2.5]
        assert file["arrow"].arrays()["x"].tolist() == [1.5, 2.5, 3.5]
        assert file["records"].arrays()["y"].tolist() == [[1.0], []]
        assert "lost" not in file
    by = by_root(ROOT_TREE, path, "records", "x", "y")
    assert by == {"x": [1, 2], "y": [[1.0], []]}


def interrupted_table(file):
    with file:
        file["lost"] = {"x": np.arange(100)}
        file["z"] = {1, 2}


def test_trees_by_types_of_awkward_array(tmp_path):
    ak, np = pytest.importorskip("awkward"), pytest.importorskip("numpy")
    array = ak.Array([{"a": [[1], []], "b": "text", "c": 1.5}, {"a": [], "b": "", "c": 2.5}])
    types = {name: ak.type(array[name]).content for name in ("a", "b")}
    for make in ("mktree", "mkrntuple"):
        path = tmp_path / f"{make}.root"
        with forthwith.recreate(path) as file:
            table = getattr(file, make)("t", {**types, "c": np.dtype("f8")})
            table.extend({name: array[name] for name in array.fields})
            table.extend({name: array[name][:0] for name in array.fields})
        assert forthwith.open(path)["t"].arrays().to_list() == array.to_list()


def test_entries_are_those_that_metadata_say(tmp_path):
    import hist

    made = hist.Hist(hist.axis.Regular(2, 0, 2), storage=hist.storage.WeightedMean(), metadata={"fEntries": 7})
    made.fill([0.5, 1.5], weight=[1, 2], sample=[10, 20])
    with forthwith.recreate(tmp_path / "x.root") as file:
        file["profile"] = made
        file["plain"] = hist.Hist(hist.axis.Regular(2, 0, 2), metadata={"fEntries": 5}).fill([0.5])
    with forthwith.open(tmp_path / "x.root") as file:
        assert [file[name].member("fEntries") for name in ("profile", "plain")] == [7, 5]
        assert file["profile"].member("fTsumw") == 3
