"""ROOT files merged and copied: the same values for C++ ROOT, uproot and forthwith, and nothing left behind by errors."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import awkward as ak
import numpy as np
import pytest
from conftest import DATA
from root_judge import ROOT_PYTHON, by_root, by_uproot, need_root

import forthwith

# Files that cannot be copied, and why.
REFUSED = {
    "layout.root": "entry offsets that were left out",
}


def write(path, seed, length, compression="zlib"):
    """A tree with numbers, jagged columns, texts and vectors, beside a histogram and others."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, length)
    columns = {
        "i": np.arange(length, dtype=np.int32) + 1000 * seed,
        "x": rng.random(length),
        "j": ak.unflatten(rng.random(int(counts.sum())).astype(np.float32), counts),
        "s": ak.Array(["t" * int(n) for n in rng.integers(0, 40, length)] if length else ak.Array([""])[:0]),
    }
    with forthwith.recreate(path, compression=compression) as file:
        file.mktree("d/t", {name: ak.type(ak.Array(column)).content for name, column in columns.items()})
        for begin in range(0, length, 400):
            file["d/t"].extend({name: column[begin : begin + 400] for name, column in columns.items()})
        file["h"] = np.histogram(columns["x"], bins=10, range=(0, 1))
        file["n"] = int(seed)
        file["note"] = "the same"
    return columns


def read(path, tree="d/t"):
    with forthwith.open(path) as file:
        return file[tree].arrays()


def lists(columns):
    return {name: ak.to_list(column) for name, column in columns.items()}


def joined(parts):
    return {name: [value for part in parts for value in ak.to_list(part[name])] for name in parts[0]}


@pytest.fixture
def parts(tmp_path):
    paths = [tmp_path / f"part-{number}.root" for number in range(3)]
    lengths, codecs = [1000, 0, 777], ["zlib", "none", "zstd"]
    columns = [
        write(path, seed, length, codec)
        for seed, (path, length, codec) in enumerate(zip(paths, lengths, codecs, strict=True), 1)
    ]
    return paths, columns


def sound(path):
    command = [sys.executable, "-W", "ignore", "-m", "forthwith", "check", path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_entries_follow_each_other_and_histograms_are_added(parts, tmp_path):
    paths, columns = parts
    out = tmp_path / "all.root"
    assert forthwith.merge(paths, out) == {"d/t": 1777}
    assert {name: ak.to_list(read(out)[name]) for name in columns[0]} == joined(columns)
    with forthwith.open(out) as file:
        sums = [forthwith.open(path)["h"].values() for path in paths]
        assert (file["h"].values() == sum(sums)).all()
        assert file["n"].value == 6
    assert by_uproot(out, "d/t", ["i", "x", "j", "s"]) == joined(columns)


def test_root_reads_what_was_merged(parts, tmp_path):
    paths, columns = parts
    out = tmp_path / "all.root"
    forthwith.merge(paths, out)
    script = """
file = ROOT.TFile.Open(sys.argv[1])
tree = file.Get("d/t")
frame = ROOT.RDataFrame("d/t", sys.argv[1])
print(json.dumps([tree.GetEntries(), [entry.i for entry in tree], frame.Sum("x").GetValue(), file.Get("h").GetEntries()]))
"""
    entries, numbers, total, filled = by_root(script, out)
    expected = joined(columns)
    assert (entries, numbers, filled) == (1777, expected["i"], 1777)
    assert total == pytest.approx(sum(expected["x"]))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.root")))
def test_a_copy_has_what_the_file_has(name, tmp_path):
    """Every branch of every file of ours: bytes are copied, so all that can be read is equal."""
    out = tmp_path / "copy.root"
    if name in REFUSED:
        with pytest.raises(forthwith.UnsupportedError, match=REFUSED[name]):
            forthwith.merge(DATA / name, out)
        assert not out.exists()
        return
    trees = forthwith.merge(DATA / name, out)
    with forthwith.open(DATA / name) as before, forthwith.open(out) as after:
        for path in trees:
            one, two = before[path], after[path]
            assert one.num_entries == two.num_entries
            for branch in one.values(recursive=True):
                assert two[branch.path].num_entries == branch.num_entries, branch.path
                try:
                    wanted = branch.array()
                except (forthwith.ForthwithError, TypeError, ValueError, NotImplementedError):
                    continue
                same = repr(ak.to_list(two[branch.path].array())) == repr(ak.to_list(wanted))
                assert same, branch.path


@pytest.mark.parametrize("seed", range(4))
def test_any_entries_are_copied(parts, tmp_path, seed):
    paths, columns = parts
    rng = random.Random(seed)
    out = tmp_path / "some.root"
    everything = joined(columns)
    kept = sorted(rng.sample(range(1777), rng.choice([1, 30, 900, 1777])))
    forthwith.merge(paths, out, entries=kept)
    assert {name: ak.to_list(read(out)[name]) for name in everything} == {
        name: [values[number] for number in kept] for name, values in everything.items()
    }
    mask = np.zeros(1777, bool)
    mask[kept] = True
    forthwith.merge(paths, out, entries=mask, compression="lz4")
    assert ak.to_list(read(out)["j"]) == [everything["j"][number] for number in kept]
    begin, end = sorted(rng.sample(range(1778), 2))
    forthwith.merge(paths, out, entries=slice(begin, end))
    assert by_uproot(out, "d/t", ["s", "j"]) == {name: everything[name][begin:end] for name in ["s", "j"]}


def test_branches_come_with_those_they_need(parts, tmp_path):
    paths, columns = parts
    out = tmp_path / "slim.root"
    forthwith.merge(paths[0], out, filter_name="j")
    with forthwith.open(out) as file:
        assert "i" not in file["d/t"]
        assert ak.to_list(file["d/t"]["j"].array()) == ak.to_list(columns[0]["j"])
        assert set(file.keys()) >= {"h;1", "n;1"}
    forthwith.merge(paths[0], out, filter_object="d/*")
    with forthwith.open(out) as file:
        assert [key for key in file if not key.startswith("d")] == []


def test_unequal_branches_are_refused_or_left_out(parts, tmp_path):
    paths, columns = parts
    other = tmp_path / "other.root"
    with forthwith.recreate(other) as file:
        file["d/t"] = {"i": np.arange(5, dtype=np.int32), "more": np.arange(5.0)}
    out = tmp_path / "all.root"
    with pytest.raises(forthwith.RequestError, match="unequal branches: this one lacks"):
        forthwith.merge([paths[0], other], out)
    with pytest.raises(forthwith.RequestError, match="has more"):
        forthwith.merge([paths[0], other], out, filter_name="i")
    assert not out.exists()
    assert forthwith.merge([paths[0], other], out, common=True) == {"d/t": 1005}
    assert read(out)["i"].to_list() == [*columns[0]["i"].tolist(), *range(5)]
    wrong = tmp_path / "wrong.root"
    with forthwith.recreate(wrong) as file:
        file["d/t"] = {"i": np.arange(5, dtype=np.int64)}
    with pytest.raises(forthwith.RequestError, match="stored in another way"):
        forthwith.merge([other, wrong], out, common=True)


def test_histograms_of_other_bins_are_refused(tmp_path):
    for number in (5, 6):
        with forthwith.recreate(tmp_path / f"{number}.root") as file:
            file["h"] = np.histogram([0.5], bins=number, range=(0, 1))
    with pytest.raises(forthwith.UnsupportedError, match="x axis has 6 bins"):
        forthwith.merge([tmp_path / "5.root", tmp_path / "6.root"], tmp_path / "out.root")
    assert not (tmp_path / "out.root").exists()


def test_axes_go_on_beyond_the_ends_of_others(tmp_path):
    for number in range(3):
        with forthwith.recreate(tmp_path / f"{number}.root") as file:
            file["h"] = np.histogram([number + 0.5], bins=2, range=(number, number + 1))
    forthwith.merge([tmp_path / f"{number}.root" for number in range(3)], tmp_path / "out.root")
    with forthwith.open(tmp_path / "out.root") as file:
        values, edges = file["h"].to_numpy()
        assert values.tolist() == [0, 1, 0, 1, 0, 1]
        assert edges.tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]


def test_a_file_is_not_written_over_itself(parts, tmp_path):
    paths, _ = parts
    before = paths[0].read_bytes()
    (tmp_path / "soft.root").symlink_to(paths[0])
    os.link(paths[0], tmp_path / "hard.root")
    for name in [paths[0], tmp_path / "soft.root", tmp_path / "hard.root"]:
        with pytest.raises(forthwith.RequestError, match="one of the input files"):
            forthwith.merge(paths, name)
    assert paths[0].read_bytes() == before
    assert not list(tmp_path.glob(".*part"))


def test_a_damaged_basket_ends_the_merge(parts, tmp_path):
    paths, _ = parts
    data = bytearray(paths[0].read_bytes())
    at = data.index(b"TBasket")
    data[at : at + 7] = b"TBucket"
    bad = tmp_path / "bad.root"
    bad.write_bytes(data)
    with pytest.raises(forthwith.ForthwithError, match=r"bad\.root"):
        forthwith.merge([paths[2], bad], tmp_path / "out.root")
    assert not (tmp_path / "out.root").exists()
    assert not list(tmp_path.glob(".*part"))


def test_keys_of_any_length_and_short_baskets_are_copied(tmp_path):
    """Keys are verified in copies, and short baskets copied whole: both are told their places."""
    columns = {f"{'n' * length}{length}": np.arange(length + 1.0) for length in [1, 150, 200, 210, 220, 300]}
    columns = {name: np.resize(column, 700) for name, column in columns.items()}
    few, many, out = (tmp_path / f"{name}.root" for name in ["few", "many", "out"])
    for path, rows in [(few, 3), (many, 700)]:
        with forthwith.recreate(path, compression=None) as file:
            file["t"] = {name: column[:rows] for name, column in columns.items()}
    time.sleep(0.1)
    assert forthwith.merge([few, many, few], out) == {"t": 706}
    expected = {name: [*column[:3], *column, *column[:3]] for name, column in columns.items()}
    found = read(out, "t")
    assert {name: ak.to_list(found[name]) for name in expected} == expected
    sound(out)
    script = """
frame = ROOT.RDataFrame("t", sys.argv[1])
print(json.dumps({str(name): frame.Sum(str(name)).GetValue() for name in frame.GetColumnNames()}))
"""
    assert by_root(script, out) == {name: sum(column) for name, column in expected.items()}


def test_a_progress_function_can_end_it(tmp_path):
    write(tmp_path / "in.root", 1, 4000)

    class Enough(Exception):
        pass

    def enough(done, total):
        assert 0 <= done <= total
        raise Enough

    many = [tmp_path / "in.root"] * 200
    with pytest.raises(Enough):
        forthwith.merge(many, tmp_path / "out.root", progress=enough, compression="lzma", threads=1)
    assert not (tmp_path / "out.root").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("delay", [0.0, 0.05, 0.2, 0.4])
def test_a_killed_merge_leaves_no_file(tmp_path, delay):
    write(tmp_path / "in.root", 1, 4000)
    out = tmp_path / "out.root"
    code = "import forthwith, sys; print(flush=True); source, out = sys.argv[1:]; "
    code += "forthwith.merge([source] * 300, out, compression='lzma', threads=1)"
    command = [sys.executable, "-c", code, str(tmp_path / "in.root"), str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    process.stdout.readline()
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert not out.exists()


def versioned(path, version, out):
    """A file that says it is of another version of ROOT."""
    data = bytearray(path.read_bytes())
    data[4:8] = version.to_bytes(4, "big")
    out.write_bytes(data)
    return out


COUNTED = r"""
#include "TNamed.h"
struct Counted : public TObject {
  int n = 0;
  TNamed** things = nullptr;  //[n]
  ClassDef(Counted, 1)
};
"""


@pytest.mark.slow
def test_data_that_the_version_of_root_explains_keep_it(tmp_path):
    """Until version 5.15/08, arrays of pointers that a member counts were stored in another way."""
    (tmp_path / "counted.C").write_text(COUNTED)
    script = """
ROOT.gSystem.SetBuildDir(sys.argv[1], True)
ROOT.gErrorIgnoreLevel = ROOT.kWarning
ROOT.gROOT.LoadMacro(sys.argv[1] + "/counted.C+")
file = ROOT.TFile(sys.argv[1] + "/new.root", "RECREATE", "", 0)
ROOT.Counted().Write("counted")
file.Close()
print("{}")
"""
    by_root(script, tmp_path)
    new = tmp_path / "new.root"
    old, older = (versioned(new, version, tmp_path / f"{version}.root") for version in (51508, 51400))
    forthwith.merge([old, old], tmp_path / "both.root")
    assert (tmp_path / "both.root").read_bytes()[4:8] == (51508).to_bytes(4, "big")
    forthwith.merge([older, old], tmp_path / "both.root")
    assert (tmp_path / "both.root").read_bytes()[4:8] == (51508).to_bytes(4, "big")
    with pytest.raises(forthwith.UnsupportedError, match="arrays of pointers that a member counts"):
        forthwith.merge([old, new], tmp_path / "both.root")


def test_a_branch_comes_with_those_in_it(tmp_path):
    path = DATA / "objects.root"
    with forthwith.open(path) as file:
        tree = next(key for key, kind in file.classnames().items() if kind == "TTree").split(";")[0]
        outer = next(branch.path for branch in file[tree].values() if branch.values())
    forthwith.merge(path, tmp_path / "part.root", filter_object=tree, filter_name=lambda name: name == outer)
    with forthwith.open(path) as before, forthwith.open(tmp_path / "part.root") as after:
        inner = [branch.path for branch in before[tree][outer].values(recursive=True)]
        assert inner
        assert set(inner) <= {branch.path for branch in after[tree].values(recursive=True)}


# A branch of pointers in a container, whose dictionary ROOT makes in the folder of the file.
POINTERS = """
import os
os.chdir(os.path.dirname(sys.argv[1]))
ROOT.gErrorIgnoreLevel = ROOT.kWarning
ROOT.gInterpreter.GenerateDictionary("vector<TNamed*>", "vector;TNamed.h")
ROOT.gInterpreter.Declare('''
void fill(const char *path) {
   TFile file(path, "RECREATE");
   TTree tree("t", "t");
   std::vector<TNamed *> names;
   auto place = &names;
   tree.Branch("names", &place, 4000, 0);
   for (int entry = 0; entry < 20; ++entry) {
      names.clear();
      for (int i = 0; i < entry % 4; ++i) names.push_back(new TNamed(Form("%d.%d", entry, i), ""));
      tree.Fill();
   }
   tree.Write();
}
std::string listed(const char *path) {
   TFile file(path);
   auto tree = file.Get<TTree>("t");
   std::vector<TNamed *> *names = nullptr;
   tree->SetBranchAddress("names", &names);
   std::string all;
   for (int entry = 0; entry < tree->GetEntries(); ++entry) {
      tree->GetEntry(entry);
      for (auto name : *names) all += std::string(name ? name->GetName() : "null") + " ";
      all += "|";
   }
   return all;
}
''')
"""


@pytest.mark.slow
def test_pointers_in_containers_lead_to_their_objects_in_single_entries(tmp_path):
    """Pointers are counted from the key of the basket, so they change in entries that move."""
    path, out = tmp_path / "all.root", tmp_path / "some.root"
    by_root(POINTERS + "ROOT.fill(sys.argv[1])\nprint(json.dumps(None))\n", path)
    kept = [1, 2, 3, *range(6, 12), 19]
    forthwith.merge(path, out, entries=kept)
    listed = by_root(POINTERS + "print(json.dumps(str(ROOT.listed(sys.argv[1]))))\n", out)
    assert listed == "".join("".join(f"{n}.{i} " for i in range(n % 4)) + "|" for n in kept)


def test_process_ids_of_one_process_are_there_once(tmp_path):
    path = DATA / "pointers.root"
    forthwith.merge([path, path], tmp_path / "all.root", filter_object=lambda name: name != "apart")
    with forthwith.open(path) as before, forthwith.open(tmp_path / "all.root") as after:
        ids = [key for key, name in before.classnames().items() if name == "TProcessID"]
        assert ids
        assert [key for key, name in after.classnames().items() if name == "TProcessID"] == ids


def test_branches_without_all_entries_cannot_follow_each_other(tmp_path):
    path = DATA / "pointers.root"
    with pytest.raises(forthwith.UnsupportedError, match=r"has not all entries of its tree.*\n.*Circle"):
        forthwith.merge([path, path], tmp_path / "all.root", filter_object="apart")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "seed", "count"),
    [("random_merges.py", 1, 3), ("merged_histograms.py", 1, 20), ("merged_objects.py", 1, 40)],
)
def test_root_finds_what_was_in_random_files(tmp_path, script, seed, count):
    """Trees merged, cut, divided and compressed anew; histograms and others merged as ``hadd`` does. More of them by hand."""
    need_root()
    command = pathlib.Path(sys.executable).parent / "forthwith"
    arguments = [ROOT_PYTHON, DATA.parent / "generate" / script, str(seed), str(count), tmp_path, command]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(arguments, check=False, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "are equal" in done.stdout
    assert "Error in" not in done.stderr


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_ends_the_merge(tmp_path):
    """No more than some bytes may be written to a file: as on a disk that is full, writing fails in the middle."""
    write(tmp_path / "in.root", 1, 4000, "none")
    code = """
import resource, signal, sys
import forthwith
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
source, out = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    forthwith.merge([source] * 20, out)
except OSError as error:
    print(type(error).__name__)
"""
    out = tmp_path / "out.root"
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "in.root", out], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "SourceError", done
    assert not out.exists()
    assert not list(tmp_path.glob(".*part"))


def test_a_folder_that_may_not_be_written_is_named(tmp_path):
    write(tmp_path / "in.root", 1, 40)
    with pytest.raises(forthwith.SourceError, match="nowhere"):
        forthwith.merge(tmp_path / "in.root", tmp_path / "nowhere" / "out.root")
    with pytest.raises(forthwith.SourceError, match=r"there-is-none\.root"):
        forthwith.merge([tmp_path / "in.root", tmp_path / "there-is-none.root"], tmp_path / "out.root")
    assert not (tmp_path / "out.root").exists()


@pytest.mark.slow
def test_rntuples_follow_each_other(tmp_path):
    paths, parts = [], []
    for seed, length in enumerate([700, 1, 0, 350]):
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 4, length)
        part = {
            "n": np.arange(length, dtype=np.int32),
            "x": ak.unflatten(rng.random(int(counts.sum())), counts),
            "s": ak.Array(["s" * int(n) for n in counts]) if length else ak.Array([""])[:0],
        }
        paths.append(tmp_path / f"{seed}.root")
        with forthwith.recreate(paths[-1]) as file:
            file.mkrntuple("d/r", {name: ak.type(ak.Array(column)).content for name, column in part.items()})
            file["d/r"].extend(part)
        parts.append(part)
    out = tmp_path / "all.root"
    assert forthwith.merge(paths, out) == {"d/r": 1051}
    assert {name: ak.to_list(read(out, "d/r")[name]) for name in parts[0]} == joined(parts)
    script = """
found = []
for path in sys.argv[1:]:
    reader = ROOT.RNTupleReader.Open("d/r", path)
    frame = ROOT.RDataFrame("d/r", path)
    found.append([reader.GetNEntries(), frame.Sum("n").GetValue(), frame.Define("k", "x.size()").Sum("k").GetValue()])
print(json.dumps(found))
"""
    expected = joined(parts)
    assert by_uproot(out, "d/r", ["n", "x", "s"]) == expected
    other = tmp_path / "other.root"
    with forthwith.recreate(other) as file:
        file.mkrntuple("d/r", {"n": "float64"})
        file["d/r"].extend({"n": np.arange(3.0)})
    with pytest.raises(forthwith.RequestError, match="unequal fields"):
        forthwith.merge([paths[0], other], out)
    written = [out]
    for number, compression in enumerate(("zstd:9", "lz4", "lzma", None, "zlib")):
        anew, copy = tmp_path / f"anew-{number}.root", tmp_path / f"copy-{number}.root"
        assert forthwith.merge(written[-1], anew, compression=compression) == {"d/r": 1051}
        assert {name: ak.to_list(read(anew, "d/r")[name]) for name in expected} == expected
        sound(anew)
        # The next pages are those of this codec.
        forthwith.merge(anew, copy)
        written += [anew, copy]
    # A file that is there is written over.
    assert forthwith.merge(out, copy) == {"d/r": 1051}
    assert by_root(script, *written) == [[1051, sum(expected["n"]), sum(map(len, expected["x"]))]] * len(written)
    damaged = bytearray(paths[0].read_bytes())
    at = damaged.index(b"RBlob", damaged.index(b"RBlob") + 5) + 40
    damaged[at] ^= 255
    (tmp_path / "bad.root").write_bytes(damaged)
    with pytest.raises(forthwith.ForthwithError, match=r"bad\.root"):
        forthwith.merge([paths[1], tmp_path / "bad.root"], tmp_path / "new.root")
    assert not (tmp_path / "new.root").exists()


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        (np.ones(3, bool), "a mask of 3 entries, but there are 100"),
        (np.ones(200, bool), "a mask of 200 entries, but there are 100"),
        ([True] * 99, "a mask of 99 entries"),
        ([5, 10**12], "there is no entry 1000000000000: the number of entries is 100"),
        (range(90, 120), "there is no entry 119"),
        (np.array([1 << 63], np.uint64), "there is no entry 9223372036854775808"),
        ([-1], "counted from 0"),
        ([3, 2], "ascending order: 3 comes before 2"),
        ([1, 1], "ascending order"),
        (slice(-5, None), "counted from the first entry"),
        (slice(None, "a"), "counted from the first entry"),
    ],
)
@pytest.mark.parametrize("how", ["tree", "ntuple"])
def test_entries_that_do_not_fit_are_refused(tmp_path, how, entries, why):
    """As ``arrays(entries=)`` refuses them; counted over all files."""
    paths = [tmp_path / "a.root", tmp_path / "b.root"]
    for path, count in zip(paths, (60, 40), strict=True):
        with forthwith.recreate(path) as file:
            make = file.mktree if how == "tree" else file.mkrntuple
            make("t", {"x": "float64"})
            file["t"].extend({"x": np.arange(float(count))})
    with pytest.raises(forthwith.RequestError, match=why):
        forthwith.merge(paths, tmp_path / "o.root", entries=entries)
    assert not (tmp_path / "o.root").exists()
    for fits, number in [
        (np.arange(100) % 2 == 0, 50),
        ([0, 99], 2),
        (slice(90, 1000), 10),
        (range(58, 62), 4),
        ([], 0),
    ]:
        assert forthwith.merge(paths, tmp_path / "o.root", entries=fits) == {"t": number}


def test_the_command_refuses_entries_behind_all(tmp_path):
    with forthwith.recreate(tmp_path / "a.root") as file:
        file["t"] = {"x": np.arange(100.0)}
    command = [sys.executable, "-W", "ignore", "-m", "forthwith", "cp", "-f", "--entries"]
    for typed, code in [("90:120", 0), ("99:", 0), (":5", 0), ("100:110", 1), ("9:3", 2)]:
        arguments = [*command, typed, tmp_path / "a.root", tmp_path / "o.root"]
        done = subprocess.run(arguments, check=False, capture_output=True, text=True)
        assert (done.returncode != 0) == (code != 0), (typed, done.stdout + done.stderr)
        if typed == "100:110":
            assert "there is no entry 100: the number of entries is 100" in done.stderr


# A tree with entries and without branches.
BRANCHLESS = """
file = ROOT.TFile(sys.argv[1], "recreate")
tree = ROOT.TTree("t", "")
tree.SetEntries(2)
tree.Write()
file.Close()
print(json.dumps(None))
"""


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0)])
def test_a_tree_without_branches_is_left_out(tmp_path, order):
    """C++ ROOT leaves it out as well, unless it comes first."""
    paths = [tmp_path / f"{name}.root" for name in ("none", "one", "two")]
    by_root(BRANCHLESS, paths[0])
    for path, columns in zip(paths[1:], ({"x": [1.0, 2.0]}, {"x": [3.0], "y": [4.0]}), strict=True):
        with forthwith.recreate(path) as file:
            file["t"] = {name: np.array(column) for name, column in columns.items()}
    inputs = [paths[at] for at in order]
    with pytest.raises(forthwith.RequestError, match="unequal branches"):
        forthwith.merge(inputs, tmp_path / "all.root")
    assert forthwith.merge(inputs, tmp_path / "all.root", common=True) == {"t": 3}
    assert forthwith.merge(inputs, tmp_path / "all.root", common=True, entries=[0, 2]) == {"t": 2}
    assert ak.to_list(read(tmp_path / "all.root", "t")) == [{"x": 1.0}, {"x": 3.0}]
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "forthwith",
        "merge",
        "-f",
        "--common",
        *inputs,
        "--output",
        tmp_path / "all.root",
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "1 table without branches left out" in done.stdout + done.stderr
