"""Trees that are in a file already are extended: those of forthwith and those of C++ ROOT, judged by ROOT and uproot."""

import os
import signal
import subprocess
import sys

import awkward as ak
import numpy as np
import pytest
from root_judge import by_root, by_uproot

import forthwith

# Each kind of branch: its values in three entries.
COLUMNS = {
    "bool": [True, False, True],
    **{kind: np.array([1, 100, 7], kind) for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4")},
    "f8": [1e300, -0.5, 3.25],
    "matrix": np.arange(12.0).reshape(3, 2, 2),
    "jagged": [[1.5], [], [2.5, 3.5]],
    "whole": [[1], [], [2, -3]],
    "pairs": [[[1, 2]], [], [[3, 4], [5, 6]]],
    "vector": [[1, 2], [], [3]],
    "nested": [[[1.5], []], [], [[2.5, 3.5]]],
    "text": ["a", "", "läng" * 80],
    "characters": ["x", "yy", ""],
    "texts": [["a", "b"], [], ["ccc"]],
    "small": [0.5, 1.5, -3.0],
    "half": [0.5, 1.5, -3.0],
    "record": [{"x": 1, "y": [2.0]}, {"x": 2, "y": []}, {"x": 3, "y": [1.0, 2.0]}],
    "hits": [[{"x": 1, "y": 2.5}], [], [{"x": 3, "y": 1.0}, {"x": 4, "y": 0.5}]],
    "object": [{"x": 1, "y": [2.0]}, {"x": 2, "y": []}, {"x": 3, "y": [1.0, 2.0]}],
    "objects": [[{"x": 1, "y": 2.5}], [], [{"x": 3, "y": 1.0}, {"x": 4, "y": 0.5}]],
}
OPTIONS = {
    "jagged": {"vector": "vector"},
    "strings": {"characters": "characters"},
    "records": {"object": "class", "objects": "class"},
    "floats": {"small": ("double32", -4, 4, 16), "half": "float16"},
    "compression": {"i4": "lz4", "nested": None},
    "titles": {"f4": "a title"},
    "index": ("i4", "i8"),
}
TYPES = {"pairs": "var * 2 * int64"}


def columns():
    typed = {name: ak.enforce_type(ak.Array(COLUMNS[name]), kind) for name, kind in TYPES.items()}
    return {**COLUMNS, **typed}


def simple():
    """All but classes, which ROOT has no dictionaries for and warns of."""
    return {name: values for name, values in columns().items() if not name.startswith("object")}


def flat(array):
    """The columns that branches are: a record's fields with a dot, those of lists of records with a bar."""
    given = dict(array)
    record, hits = ak.Array(given.pop("record")), ak.Array(given.pop("hits"))
    return {
        **given,
        **{f"record.{name}": record[name] for name in record.fields},
        **{f"hits_{name}": hits[name] for name in hits.fields},
    }


def write(path, steps, columns=columns, **more):
    with forthwith.recreate(path, compression="zstd") as file:
        options = OPTIONS if columns is not simple else {**OPTIONS, "records": "flat"}
        tree = file.mktree("d/t", columns(), title="of the tree", **options, **more)
        for _ in range(steps - 1):
            tree.extend(columns())


def contents(path, tree="d/t"):
    done = subprocess.run(
        [sys.executable, "-m", "forthwith", "check", path], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with forthwith.open(path) as file:
        found = file[tree]
        return {name: branch.array().to_list() for name, branch in found.items() if not branch.keys()}


READ = """
file = ROOT.TFile(sys.argv[1])
tree = file.Get(sys.argv[2])
def plain(value):
    if isinstance(value, (bool, int, float)):
        return value
    if hasattr(value, 'tolist'):
        return value.tolist()
    if isinstance(value, str) or type(value).__name__.endswith('string'):
        return str(value)
    return [plain(item) for item in value]
found = {name: [] for name in sys.argv[3:]}
for entry in range(tree.GetEntries()):
    tree.GetEntry(entry)
    for name, values in found.items():
        values.append(plain(getattr(tree, name)))
found['entries'] = tree.GetEntries()
found['cycles'] = [key.GetCycle() for key in (file.Get('d') if '/' in sys.argv[2] else file).GetListOfKeys()]
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "clusters"),
    [(columns, {}), (columns, {"basket_bytes": 100}), (simple, {}), (simple, {"cluster_entries": 7})],
)
def test_extended_trees_are_those_written_at_once(tmp_path, columns, clusters):
    whole, parts = tmp_path / "whole.root", tmp_path / "parts.root"
    write(whole, 9, columns, **clusters)
    write(parts, 2, columns, **clusters)
    for steps in (3, 4):
        with forthwith.update(parts) as file:
            tree = file["d/t"]
            assert repr(tree) == f"<WritableTable 'd/t' of {parts}>"
            for _ in range(steps):
                tree.extend(flat(columns()))
    expected = contents(whole)
    assert contents(parts) == expected
    names = [name for name in expected if "/" not in name and name != "half"]
    found, once = (by_uproot(path, "d/t", names) for path in (parts, whole))
    assert found == once
    if columns is simple:
        # RDataFrame has no types for some, and characters for numbers of one byte.
        names = [name for name in expected if name not in ("i1", "u1", "nested", "pairs", "characters")]
        found, once = (by_root(READ, path, "d/t", *names) for path in (parts, whole))
        assert (found.pop("cycles"), once.pop("cycles")) == ([3], [1])
        assert found == once


def test_what_a_tree_has_stays(tmp_path):
    path = tmp_path / "a.root"
    more = {"aliases": {"twice": "2*i4"}, "user_info": {"n": 3}}
    write(path, 2, simple, **more)
    with forthwith.update(path) as file:
        file["d/t"].extend(flat(simple()) | {"i4": [11, 12, 13]})
    found = by_root(
        """
file = ROOT.TFile(sys.argv[1])
tree = file.Get('d/t')
print(json.dumps([
    tree.GetTitle(), tree.GetUserInfo().GetSize(), tree.GetEntries('twice > 21'), tree.GetBranch('f4').GetTitle(),
    tree.GetEntryNumberWithIndex(12, 100), tree.GetEntryNumberWithIndex(100, 100), tree.GetTreeIndex().GetN(),
    tree.GetBranch('i4').GetCompressionAlgorithm(), tree.GetBranch('f8').GetCompressionAlgorithm(),
    tree.GetLeaf('characters').GetMaximum(), tree.GetLeaf('njagged').GetMaximum(),
]))
""",
        path,
    )
    assert found == ["of the tree", 1, 5, "a title", 7, 1, 9, 4, 5, 3, 2]


def test_another_table_of_a_name_gets_the_next_cycle(tmp_path):
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        file["t"] = {"x": [1, 2]}
        first = file["t"]
        file["t"] = {"x": [3.5]}
        assert file.keys() == ["t;1", "t;2"]
        with pytest.raises(forthwith.RequestError, match="another table was begun under its name"):
            first.extend({"x": [3]})
        file["t"].extend({"x": [4.5]})
    with forthwith.update(path) as file:
        file["t"].extend({"x": [5.5]})
        file["t"] = {"z": [1]}
    with forthwith.open(path) as file:
        assert [file[f"t;{cycle}/x"].array().to_list() for cycle in (1, 3)] == [[1, 2], [3.5, 4.5, 5.5]]
        assert file["t"].keys() == ["z"]
    with forthwith.update(path) as file:
        kept = file["t"]
        with pytest.raises(forthwith.RequestError, match="nope"):
            file.mktree("t", {"y": [1.0]}, index=("nope",))
        kept.extend({"z": [2]})
    with forthwith.open(path) as file:
        assert file["t"]["z"].array().to_list() == [1, 2]
    assert by_root(READ, path, "t", "z")["z"] == [1, 2]


def test_nothing_added_is_nothing_written(tmp_path):
    path = tmp_path / "a.root"
    write(path, 1)
    before = path.read_bytes()
    with forthwith.update(path) as file:
        assert file["d/t"].num_entries == 3
    assert path.read_bytes() == before


MAKE = """
import array
file = ROOT.TFile(sys.argv[1], 'recreate')
tree = ROOT.TTree('t', 'by ROOT')
ROOT.gInterpreter.Declare('''
struct Two { int a; float b; };
void fill(TTree &tree, int entries) {
   int i, n; unsigned m; float x, few[10]; double many[10], packed[3]; unsigned char byte; bool truth; char text[20];
   std::vector<float> vector; std::string word; std::vector<std::string> words;
   Two two; long wide; std::list<int> list; std::deque<float> deque;
   tree.Branch("other", &i, "inner/I"); tree.Branch("wide", &wide); tree.Branch("usual", &x, "usual/d[0,0,16]");
   tree.Branch("list", &list); tree.Branch("deque", &deque);
   tree.Branch("i", &i); tree.Branch("n", &n); tree.Branch("m", &m); tree.Branch("x", &x); tree.Branch("byte", &byte);
   tree.Branch("truth", &truth); tree.Branch("few", few, "few[n]/F"); tree.Branch("many", many, "many[m]/D");
   tree.Branch("half", &x, "half/f"); tree.Branch("packed", packed, "packed[3]/d[-10,10,12]");
   tree.Branch("text", text, "text/C");
   tree.Branch("vector", &vector); tree.Branch("word", &word); tree.Branch("words", &words);
   for (i = 0; i < entries; i++) {
      n = i % 4; m = i % 3; x = i / 4.f; byte = i; truth = i % 2;
      wide = -i; list.assign(m, i); deque.assign(n, x);
      vector.assign(n, x); word = std::string(m, 'w'); words.assign(n, word);
      for (int k = 0; k < 10; k++) { few[k] = i + k; many[k] = i - k; }
      for (int k = 0; k < 3; k++) packed[k] = k - 1;
      snprintf(text, 20, "text %d", i);
      tree.Fill();
   }
   tree.ResetBranchAddresses();
}
''')
if len(sys.argv) > 3:
    tree.SetAutoFlush(int(sys.argv[3]))
ROOT.fill(tree, int(sys.argv[2]))
tree.Write()
ntuple = ROOT.TNtuple('ntuple', '', 'a:b')
ntuple.Fill(1, 2)
ntuple.Write()
file.Close()
print('null')
"""
FRAME = """
found = ROOT.RDataFrame('t', sys.argv[1]).AsNumpy(sys.argv[2:])
print(json.dumps({name: [[float(number) for number in value] for value in found[name]] for name in sys.argv[2:]}))
"""
ADDED = {
    "i": np.array([1000, 1001], "i4"),
    "x": np.array([0.5, 0.25], "f4"),
    "byte": np.array([1, 2], "u1"),
    "truth": [True, True],
    "few": [[], [1.0, 2.0, 3.0, 4.0]],
    "many": [[5.0] * 9, []],
    "half": np.array([0.5, -2.0], "f4"),
    "packed": [[0.0, 10.0, -10.0], [5.0, 0.0, 0.0]],
    "text": ["more", "a longer text than those before"],
    "vector": [[1.0], []],
    "word": ["ä", ""],
    "words": [["a", ""], []],
    "other": np.array([70, 71], "i4"),
    "wide": [1 << 40, -1],
    "usual": [0.5, 0.25],
    "list": [[5, 3, 5], []],
    "deque": [[], [0.5]],
}


@pytest.mark.slow
@pytest.mark.parametrize(("entries", "flush"), [(0, None), (10, 100), (3000, None), (3000, 0), (3000, -1000)])
def test_trees_of_root_are_extended(tmp_path, entries, flush):
    path = tmp_path / "root.root"
    by_root(MAKE, path, entries, *([] if flush is None else [flush]))
    before = contents(path, "t")
    for step in range(2):
        with forthwith.update(path) as file:
            tree = file["t"]
            assert tree.num_entries == entries + 2 * step
            tree.extend(ADDED)
            file["ntuple"].extend({"a": np.array([3.0], "f4"), "b": np.array([4.0], "f4")})
    after = contents(path, "t")
    added = {
        name: np.asarray(value).tolist() if isinstance(value, np.ndarray) else value for name, value in ADDED.items()
    }
    added |= {"n": [0, 4], "m": [9, 0]}
    for name, values in before.items():
        found = after[name][entries:]
        close = pytest.approx(np.array(added[name] * 2), abs=20 / 2**12) if name == "packed" else added[name] * 2
        assert np.array(found) == close if name == "packed" else found == close, name
        assert after[name][:entries] == values, name
    assert contents(path, "ntuple") == {"a": [1.0, 3.0, 3.0], "b": [2.0, 4.0, 4.0]}
    # PyROOT has no arrays of Double32_t.
    names = [name for name in after if name not in ("text", "byte", "packed", "list", "deque")]
    found = by_root(READ, path, "t", *names)
    names = ["packed", "list", "deque"]
    assert by_root(FRAME, path, *names) == {name: after[name] for name in names}
    assert found.pop("cycles") == [3, 3]
    assert found.pop("entries") == entries + 4
    for name, values in found.items():
        assert values == after[name], name
    # uproot goes without the ranges of such leaves, and has no such lists.
    names = [name for name in after if name not in ("half", "packed", "usual", "list", "deque")]
    assert by_uproot(path, "t", names) == {name: after[name] for name in names}


def test_root_goes_on_where_forthwith_ended(tmp_path):
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        file.mktree("t", {"x": np.arange(100.0), "l": [[1, 2]] * 100}, jagged="vector")
    with forthwith.update(path) as file:
        file["t"].extend({"x": np.arange(50.0), "l": [[3]] * 50})
    by_root(
        """
file = ROOT.TFile(sys.argv[1], 'update')
tree = file.Get('t')
for entry in range(20):
    tree.GetEntry(entry)
    tree.Fill()
tree.Write('', ROOT.TObject.kOverwrite)
file.Close()
print('null')
""",
        path,
    )
    with forthwith.update(path) as file:
        file["t"].extend({"x": [7.0], "l": [[]]})
    found = contents(path, "t")
    assert found["x"] == [*np.arange(100.0), *np.arange(50.0), *np.arange(20.0), 7.0]
    assert found["l"] == [[1, 2]] * 100 + [[3]] * 50 + [[1, 2]] * 20 + [[]]
    once = by_root(READ, path, "t", "x", "l")
    assert (once["x"], once["l"]) == (found["x"], found["l"])


def test_classes_keep_the_names_that_the_file_has(tmp_path):
    """Also those that classes of forthwith have not, and those that it makes in the place of names that ROOT has."""
    path, own = tmp_path / "root.root", tmp_path / "own.root"
    script = """
ROOT.gInterpreter.Declare('struct stringHit { float x; int y; };')
file = ROOT.TFile(sys.argv[1], 'recreate')
tree = ROOT.TTree('t', '')
hit = ROOT.stringHit()
tree.Branch('hit.', hit)
for entry in range(3):
    hit.x, hit.y = entry, -entry
    tree.Fill()
tree.Write()
file.Close()
print('null')
"""
    by_root(script, path)
    with forthwith.open(path) as file:
        before = file["t"].arrays().tolist()
    more = {"hit": [{"x": 9.0, "y": 10}]}
    with forthwith.update(path) as file:
        file["t"].extend(more)
    with forthwith.open(path) as file:
        after = file["t"].arrays().tolist()
        assert after[:3] == before
        assert len(after) == 4
        assert len([name for name in file.streamers if "stringHit" in name]) == 1
    read = """
ROOT.gInterpreter.Declare('struct stringHit { float x; int y; };')
ROOT.gErrorIgnoreLevel = ROOT.kWarning
file = ROOT.TFile(sys.argv[1])
tree = file['t']
tree.GetEntry(3)
hit = getattr(tree, 'hit.')
print(json.dumps([hit.x, hit.y]))
"""
    assert by_root(read, path) == [9, 10]
    column = {"time": [{"t": {"x": 1}, "string": {"y": 2.5}}]}
    with forthwith.recreate(own) as file:
        file.mktree("t", column, records="class")
    for _ in range(2):
        with forthwith.update(own) as file:
            file["t"].extend(column)
    with forthwith.open(own) as file:
        assert {"time", "_time_t", "time_string"} <= set(file.streamers)
        assert [values.tolist() for values in file["t"].arrays(library="np").values()] == [[1, 1, 1], [2.5, 2.5, 2.5]]


REFUSED = {
    "an array of one of several classes": "two = ROOT.TClonesArray('TNamed'); two.ConstructedAt(0); other = ROOT.TVector2(); "
    "tree.Branch('two', two, 32000, 0); tree.Branch('other', other)",
    "a reference": "two = ROOT.TRef(); tree.Branch('two', two)",
}


@pytest.mark.parametrize("what", REFUSED)
def test_other_branches_are_refused_by_name(tmp_path, what):
    path = tmp_path / "root.root"
    script = f"""
ROOT.gErrorIgnoreLevel = ROOT.kWarning
file = ROOT.TFile(sys.argv[1], 'recreate')
tree = ROOT.TTree('t', '')
{REFUSED[what]}
tree.Fill()
tree.Write()
file.Close()
print('null')
"""
    by_root(script, path)
    before = path.read_bytes()
    with (
        pytest.raises((forthwith.UnsupportedError, forthwith.RequestError), match=r"(?s)two"),
        forthwith.update(path) as file,
    ):
        file["t"]
    assert path.read_bytes() == before


def test_values_of_another_type_are_refused(tmp_path):
    path = tmp_path / "a.root"
    write(path, 1)
    with pytest.raises(forthwith.RequestError, match="columns"), forthwith.update(path) as file:
        file["d/t"].extend({"i4": [1]})
    with pytest.raises(forthwith.ForthwithError, match="i4"), forthwith.update(path) as file:
        file["d/t"].extend(flat(columns()) | {"i4": [2**40, 1, 1]})
    assert contents(path)["i4"] == [1, 100, 7]


@pytest.mark.parametrize("extended", [False, True])
def test_branches_are_added(tmp_path, extended):
    """To a tree of ROOT and to one of forthwith: what is there stays, and both kinds of branch are extended."""
    path = tmp_path / "a.root"
    by_root(MAKE, path, 10, 100)
    before = contents(path, "t")
    added = {
        "y": np.arange(10.0),
        "more": ak.Array([list(range(n % 3)) for n in range(10)]),
        "vectors": ak.Array([[0.5] * (n % 4) for n in range(10)]),
        "name": [f"entry {n}" for n in range(10)],
    }
    step = {"y": [0.5, 1.5], "more": [[7], []], "vectors": [[], [2.5]], "name": ["one", "two"]}
    object_of = {"hit": ak.Array([{"x": n, "y": [0.5] * n} for n in range(10)])}
    with forthwith.update(path) as file:
        tree = file["t"]
        tree.add_branches(added, jagged={"vectors": "vector"}, compression={"y": "lz4"})
        tree.add_branches(object_of, records="flat")
        if extended:
            tree.extend({**ADDED, **step, "hit": [{"x": 1, "y": []}, {"x": 2, "y": [0.25]}]})
    after = contents(path, "t")
    for name, values in before.items():
        assert after[name][:10] == values, name
    for name, values in added.items():
        expected = ak.Array(values).to_list() + (step[name] if extended else [])
        assert after[name] == expected, name
    assert after["hit.x"] == [*range(10), *([1, 2] if extended else [])]
    names = [name for name in after if name not in ("text", "byte", "packed", "half")]
    found = by_root(READ, path, "t", *names)
    assert found.pop("entries") == (12 if extended else 10)
    assert found.pop("cycles") == [2, 1]
    assert found == {name: after[name] for name in names}
    names = [name for name in names if name not in ("usual", "list", "deque")]
    assert by_uproot(path, "t", names) == {name: after[name] for name in names}
    with forthwith.update(path) as file:
        everything = {**ADDED, **step, "hit.x": [1, 2], "hit.y": [[], [0.25]]}
        file["t"].extend(everything)
    assert contents(path, "t")["name"][-2:] == ["one", "two"]


@pytest.mark.parametrize("steps", [(), (1,), (1, 700, 3)])
def test_added_branches_have_baskets_where_the_tree_has_clusters(tmp_path, steps):
    """Also behind a step of few entries, whose cluster is short."""
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        file.mktree("t", {"x": "i8"}, cluster_entries=500).extend({"x": np.arange(5000)})
    for step in steps:
        with forthwith.update(path) as file:
            file["t"].extend({"x": np.arange(step)})
    with forthwith.update(path) as file:
        file["t"].add_branches({"w": np.arange(5000 + sum(steps))})
    with forthwith.open(path) as file:
        assert file["t/w"].num_baskets == -(-(5000 + sum(steps)) // 500)
    assert contents(path, "t")["w"] == list(range(5000 + sum(steps)))


def test_branches_that_cannot_be_added_are_named(tmp_path):
    path = tmp_path / "a.root"
    write(path, 1)
    before = contents(path)
    for wrong, message in [
        ({"i4": [1, 2, 3]}, 'there is a branch "i4" already'),
        ({"i4": [[1], [2], []]}, 'there is a branch "i4" already'),
        ({"jagged": [[1], [2], []]}, 'there is a branch "njagged" already'),
        ({"new": [1, 2]}, "2 values for a tree of 3 entries"),
    ]:
        with pytest.raises(forthwith.RequestError, match=message), forthwith.update(path) as file:
            file["d/t"].add_branches(wrong)
    with pytest.raises(forthwith.RequestError, match="begins with all"), forthwith.update(path) as file:
        file.mktree("new", {"x": "f4"}).add_branches({"y": []})
    with pytest.raises(TypeError, match="jaggd"), forthwith.update(path) as file:
        file["d/t"].add_branches({"new": [1, 2, 3]}, jaggd="vector")
    assert contents(path) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_killed_writer_leaves_the_old_tree(tmp_path):
    """The process is ended by the system at the byte where the file gets too long, for many lengths."""
    import resource

    kills, _, seed = os.environ.get("FORTHWITH_KILLS", "10").partition(":")
    rng = np.random.default_rng(int(seed or 1))
    path = tmp_path / "a.root"
    write(path, 5)
    before, old, more, killed = contents(path), path.read_bytes(), flat(columns()), 0
    for limit in rng.integers(len(old), len(old) + 20_000, int(kills)):
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
            with forthwith.update(path) as file:
                for _ in range(20):
                    file["d/t"].extend(more)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        found = contents(path)
        if os.WIFSIGNALED(status):
            killed += 1
            assert found == before
        else:
            assert len(found["i4"]) == 75
        path.write_bytes(old)
    print(f"{killed} killed writers of {kills}")
    assert killed > int(kills) // 4
