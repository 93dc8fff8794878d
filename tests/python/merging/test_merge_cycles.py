"""Objects that no rule puts together are all in a merged file, as cycles, as C++ ROOT's merger leaves them."""

import pytest
from root_judge import by_root

import forthwith

MAKE = r"""
kept = []
def make(path, at):
    file = ROOT.TFile(path, "RECREATE")
    def own(thing):
        kept.append(thing)
        ROOT.SetOwnership(thing, False)
        return thing
    graphs = own(ROOT.TMultiGraph("graphs", ""))
    if at == 0:
        graphs.Add(own(ROOT.TGraph(2)))
    graphs.Write()
    surface = own(ROOT.TGraph2D(3))
    surface.SetName("surface")
    for point in range(3):
        surface.SetPoint(point, at + point, point, point)
    surface.Write()
    pairs = own(ROOT.TMap())
    pairs.Add(own(ROOT.TObjString("key")), own(ROOT.TObjString(f"value {at}")))
    pairs.Write("pairs", 1)
    ROOT.TObjString(f"text {at}").Write("text")
    ROOT.TNamed("named", f"title {at}").Write()
    ROOT.TNamed("same", "title").Write()
    folder = own(ROOT.TFolder("folder", ""))
    folder.Add(own(ROOT.TNamed("inner", f"{at}")))
    folder.Write()
    ROOT.TParameter(int)("parameter", at + 1).Write()
    file.WriteObject(ROOT.std.vector("int")([at, at]), "vector")
    axis = own(ROOT.TAxis(2, 0, at + 1.0))
    axis.SetName("axis")
    axis.Write()
    matrix = own(ROOT.TMatrixD(2, 2))
    matrix[0, 0] = at
    file.WriteTObject(matrix, "matrix")
    inner = file.mkdir("d")
    inner.cd()
    ROOT.TObjString(f"inner {at}").Write("text")
    histogram = own(ROOT.TH1D("histogram", "", 2, 0, 1))
    histogram.SetDirectory(ROOT.nullptr)
    histogram.Fill(0.2)
    histogram.Write()
    histogram.Fill(0.3)
    histogram.Write()
    file.cd()
    ROOT.TObjString(f"older {at}").Write("two")
    ROOT.TObjString(f"newer {at}").Write("two")
    ROOT.TObjString(f"of {at % 2}").Write("turns")
    file.Close()
paths = sys.argv[2:]
for at, path in enumerate(paths):
    make(path, at)
merger = ROOT.TFileMerger(False, False)
merger.OutputFile(sys.argv[1], "RECREATE")
for path in paths:
    merger.AddFile(path)
assert merger.Merge()
print(json.dumps(None))
"""

# The objects of each path, the oldest cycle first.
LOOK = r"""
def walk(directory, prefix, found):
    for key in directory.GetListOfKeys():
        name, kind = prefix + key.GetName(), key.GetClassName()
        if kind == "TDirectoryFile":
            walk(directory.Get(key.GetName()), name + "/", found)
            continue
        cls = ROOT.TClass.GetClass(kind)
        place = key.ReadObjectAny(cls)
        text = str(ROOT.TBufferJSON.ConvertToJSON(place, cls))
        found.setdefault(name, []).append((key.GetCycle(), kind, text))
    return found
file = ROOT.TFile(sys.argv[1])
print(json.dumps({name: [each[1:] for each in sorted(cycles)] for name, cycles in walk(file, "", {}).items()}))
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cycles")
    paths = [folder / f"part-{at}.root" for at in range(4)]
    by_root(MAKE, folder / "by-root.root", *paths)
    return paths, by_root(LOOK, folder / "by-root.root")


def distinct(cycles):
    """Those that are not the same as the first or as the one before that is left."""
    left = []
    for cycle in cycles:
        if not left or cycle not in (left[0], left[-1]):
            left.append(cycle)
    return left


def test_all_objects_are_there_as_root_leaves_them(files, tmp_path):
    paths, expected = files
    forthwith.merge(paths, tmp_path / "all.root")
    found = by_root(LOOK, tmp_path / "all.root")
    assert found == {name: distinct(cycles) for name, cycles in expected.items()}
    assert {name: len(cycles) for name, cycles in found.items()} | {"d/text": 4} == {
        "graphs": 2,
        "same": 1,
        "turns": 2,
        "parameter": 1,
        "d/histogram": 1,
        "two": 8,
        **dict.fromkeys(("surface", "pairs", "text", "named", "folder", "vector", "axis", "matrix", "d/text"), 4),
    }


def test_a_copy_has_all_cycles(files, tmp_path):
    paths, _ = files
    forthwith.merge(paths[0], tmp_path / "one.root")
    before, after = by_root(LOOK, paths[0]), by_root(LOOK, tmp_path / "one.root")
    assert len(before["two"]) == 2
    # Of what is put together, such as histograms, the newest counts.
    before["d/histogram"] = before["d/histogram"][-1:]
    assert after == before


def test_what_is_the_same_in_all_files_is_there_once(tmp_path):
    for at in range(3):
        with forthwith.recreate(tmp_path / f"{at}.root") as file:
            file["same"], file["text"] = "the same", f"text {at}"
    forthwith.merge([tmp_path / f"{at}.root" for at in range(3)], tmp_path / "all.root")
    with forthwith.open(tmp_path / "all.root") as file:
        assert file.keys() == ["same;1", "text;3", "text;2", "text;1"]
        assert [str(file[f"text;{at + 1}"]) for at in range(3)] == ["text 0", "text 1", "text 2"]
