"""`forthwith recover`: sound files of what is left of damaged ones, judged by the originals and by C++ ROOT."""

import contextlib
import csv
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time

import awkward as ak
import numpy as np
import pytest
from conftest import data, golden_of
from root_judge import by_root

import forthwith
from forthwith import _forthwith

ENTRIES, STEP = 2000, 100
# More of them by hand.
ROUNDS = int(os.environ.get("FORTHWITH_RECOVERIES", "12"))


TYPES = {"x": "int64", "y": "float64", "list": "var * float32", "text": "string"}


def columns(begin, end):
    """Columns of a few kinds for some entries. All are compressed, so that damage is found by checksums."""
    x = np.arange(begin, end)
    lists = ak.unflatten(np.arange(int((x % 4).sum()), dtype=np.float32) + begin, x % 4)
    return {"x": x, "y": x / 4, "list": lists, "text": [f"entry {entry}" for entry in x]}


def write(path, compression=None):
    """A file with a tree in a directory, an RNTuple, an empty tree, and histograms."""
    with forthwith.recreate(path, compression=compression or forthwith.ZLIB(1)) as file:
        file["before"] = np.histogram(np.arange(50.0), bins=5)
        tree = file.mktree("dir/tree", TYPES, cluster_entries=STEP)
        ntuple = file.mkrntuple("ntuple", TYPES, cluster_entries=STEP)
        for begin in range(0, ENTRIES, STEP):
            tree.extend(columns(begin, begin + STEP))
            ntuple.extend(columns(begin, begin + STEP))
        file["dir/after"] = np.histogram(np.arange(70.0), bins=7)
    return path


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return write(tmp_path_factory.mktemp("recover") / "sound.root")


def recover(capfd, path, out, *flags):
    """The exit code and the report."""
    capfd.readouterr()
    code = _forthwith.command(["forthwith", "recover", "--json", "-f", str(path), str(out), *flags], None)
    said = capfd.readouterr()
    return code, json.loads(said.out) if code in (0, 1) else said.err


def left_of(table, entries):
    """The entries of a table that are left, by the report."""
    left = np.ones(entries, bool)
    for loss in table["losses"]:
        left[loss["begin"] : loss["end"]] = False
    assert table["more_losses"] == 0
    return left


def compare(out, report):
    """Compares the tables of a recovered file with the original ones. Returns how many entries they have together."""
    counted = 0
    whole = ak.Array(columns(0, ENTRIES))
    lists = ak.concatenate([ak.Array(columns(begin, begin + STEP))["list"] for begin in range(0, ENTRIES, STEP)])
    with forthwith.open(out) as file:
        for table in report["tables"]:
            found = file[table["path"]]
            left = left_of(table, ENTRIES)
            assert found.num_entries == table["entries"] == left.sum(), table
            assert table["lost_entries"] == (~left).sum()
            lost = {column["path"] for column in table["lost_columns"]}
            for name in set(whole.fields) - lost:
                expected = lists if name == "list" else whole[name]
                assert found[name].array().to_list() == expected[left].to_list(), (table["path"], name)
            counted += table["entries"]
    return counted


def test_a_sound_file_is_copied(sound, tmp_path, capfd):
    out = tmp_path / "out.root"
    code, report = recover(capfd, sound, out, "--report", str(tmp_path / "report.json"))
    assert code == 0, report
    assert report["complete"]
    assert report == json.loads((tmp_path / "report.json").read_text())
    assert compare(out, report) == 2 * ENTRIES
    with forthwith.open(out) as file:
        assert file["dir/after"].values().sum() == 70
        assert sorted(file.keys(cycle=False)) == ["before", "dir", "dir/after", "dir/tree", "ntuple"]


@pytest.mark.parametrize(
    "name",
    ["nested.root", "natives.root", "rounds.root", "shared.root", "clones.root", "containers.root"],
)
def test_sound_files_lose_nothing_that_cannot_be_read(name, tmp_path, capfd):
    """Members and entries of kinds that are not supported are copied as they are."""
    code, report = recover(capfd, data(name), tmp_path / "out.root")
    assert code == 0, report
    with forthwith.open(data(name)) as before, forthwith.open(tmp_path / "out.root") as after:
        assert before.classnames() == after.classnames()
        for path in before.keys(filter_classname="TTree"):
            assert before[path].num_entries == after[path].num_entries
            assert before[path].keys() == after[path].keys()


def damage(dice, raw, keys):
    """Bytes that are cut off, zeroed, or flipped: in keys or anywhere."""
    raw = bytearray(raw)
    how = dice.randrange(4)
    if how == 0:
        return bytes(raw[: dice.randrange(len(raw) // 3, len(raw))])
    if how == 1:
        begin, length = dice.randrange(400, len(raw)), dice.randrange(1, 4000)
        raw[begin : begin + length] = bytes(len(raw[begin : begin + length]))
        return bytes(raw)
    for _ in range(dice.randint(1, 4)):
        at = dice.choice(keys) + dice.randrange(30) if how == 2 else dice.randrange(400, len(raw))
        raw[min(at, len(raw) - 1)] ^= 1 << dice.randrange(8)
    return bytes(raw)


def key_places(path):
    """Where the records of a file begin."""
    raw, at, found = path.read_bytes(), 100, []
    while at < len(raw):
        length = int.from_bytes(raw[at : at + 4], "big", signed=True)
        found.append(at)
        at += abs(length)
    return found[1:]


def test_what_is_kept_is_what_was_written(sound, tmp_path, capfd):
    raw, keys = sound.read_bytes(), key_places(sound)
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    for number in range(ROUNDS):
        dice = random.Random(f"recover {number}")
        bad.write_bytes(damage(dice, raw, keys))
        code, report = recover(capfd, bad, out)
        assert code in (0, 1, 2), report
        if code == 2:
            assert not out.exists()
            continue
        assert report["complete"] == (code == 0)
        compare(out, report)
        assert bad.read_bytes() == damage(random.Random(f"recover {number}"), raw, keys)
        out.unlink()


ROOTS = """
import os

def read(name):
    try:
        file = ROOT.TFile.Open(name)
    except OSError:
        return None
    found = {"recovered": file.TestBit(ROOT.TFile.kRecovered), "x": [], "y": []}
    tree = file.Get("dir/tree")
    if tree and isinstance(tree, ROOT.TTree):
        for entry in range(tree.GetEntries()):
            sizes = [tree.GetBranch(one).GetEntry(entry) for one in ("x", "y", "text", "nlist", "list")]
            if min(sizes[:4]) > 0 and sizes[4] >= 0:
                found["x"].append(tree.GetLeaf("x").GetValue())
                found["y"].append(tree.GetLeaf("y").GetValue())
    return found

def apart(name):
    # Damaged files end some processes, and make others talk.
    ends = os.pipe()
    if os.fork() == 0:
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        os.write(ends[1], json.dumps(len((read(name) or {"x": []})["x"])).encode())
        os._exit(0)
    os.close(ends[1])
    os.wait()
    return int(os.read(ends[0], 100) or b"0")

names = sys.argv[1:]
print(json.dumps([[apart(bad), read(out)] for bad, out in zip(names[::2], names[1::2])]))
"""


def test_root_reads_what_is_kept_and_keeps_no_more(sound, tmp_path, capfd):
    raw, keys = sound.read_bytes(), key_places(sound)
    names, kept = [], []
    for number in range(ROUNDS):
        dice = random.Random(f"judged {number}")
        bad, out = tmp_path / f"bad{number}.root", tmp_path / f"out{number}.root"
        bad.write_bytes(damage(dice, raw, keys))
        code, report = recover(capfd, bad, out)
        if code == 2:
            continue
        names += [bad, out]
        kept.append({table["path"]: table["entries"] for table in report["tables"]}.get("dir/tree", 0))
    for number, (entries, (bad, found)) in enumerate(zip(kept, by_root(ROOTS, *names), strict=True)):
        assert not found["recovered"], names[2 * number]
        assert len(found["x"]) == entries, names[2 * number]
        assert (np.array(found["x"]) / 4).tolist() == found["y"]
        assert entries >= bad, names[2 * number]


USED = """
first, second, merged, copied = sys.argv[1:]
merger = ROOT.TFileMerger(False)
merger.OutputFile(merged, "RECREATE")
added = [merger.AddFile(name) for name in (first, second)]
done = merger.Merge()
file = ROOT.TFile.Open(first)
out = ROOT.TFile.Open(copied, "RECREATE")
entries = file.Get("dir/tree").CloneTree(-1).Write()
out.Close()
print(json.dumps([added, done]))
"""


def test_root_merges_and_copies_what_is_kept(sound, tmp_path, capfd):
    raw, keys = sound.read_bytes(), key_places(sound)
    kept = []
    for number in range(50):
        bad, out = tmp_path / f"bad{number}.root", tmp_path / f"out{number}.root"
        bad.write_bytes(damage(random.Random(f"merged {number}"), raw, keys))
        code, report = recover(capfd, bad, out)
        tables = {table["path"]: table["entries"] for table in report["tables"]} if code == 1 else {}
        if tables.get("dir/tree"):
            arrays = forthwith.open(out)["dir/tree"].arrays()
            if len(arrays.fields) == 5:
                kept.append((out, arrays))
        if len(kept) == 4:
            break
    assert len(kept) >= 2
    for (one, arrays), (other, more) in itertools.pairwise(kept):
        merged, copied = tmp_path / "merged.root", tmp_path / "copied.root"
        assert by_root(USED, one, other, merged, copied) == [[True, True], True]
        assert forthwith.open(copied)["tree"].arrays().tolist() == arrays.tolist()
        assert forthwith.open(merged)["dir/tree"].arrays().tolist() == arrays.tolist() + more.tolist()


@pytest.mark.parametrize("name", ["unclosed-early.root", "unclosed-late.root", "unclosed-cut.root"])
def test_files_that_were_not_closed(name, tmp_path, capfd):
    golden = golden_of("unclosed/unclosed.json")[name]
    out = tmp_path / "out.root"
    code, report = recover(capfd, data(f"unclosed/{name}"), out)
    assert code in (0, 1), report
    with forthwith.open(out) as file:
        assert file["first"].values().tolist() == [0, 3, 0, 0]
        assert file["below/inner"].title == "in a directory"
        if golden["entries"] is not None:
            tree = file["tree"]
            # C++ ROOT has the entries of the last save alone.
            assert tree.num_entries == 820 > golden["entries"]
            assert tree["x"].array().to_list() == list(range(820))
            assert int(ak.sum(tree["x"].array(entry_stop=golden["entries"]))) == golden["sum of x"]
            (table,) = report["tables"]
            assert (table["entries"], table["unsaved_entries"]) == (820, 220)


def test_a_tree_falls_back_to_an_older_cycle(tmp_path, capfd):
    path, out = tmp_path / "cycles.root", tmp_path / "out.root"
    with forthwith.recreate(path) as file:
        file["tree"] = {"x": np.arange(10)}
        file["tree"] = {"x": np.arange(20)}
    with forthwith.open(path) as file:
        newest = file._core.find("tree;2")
    raw = bytearray(path.read_bytes())
    # What a record is compressed by stands behind its key.
    at = raw.rfind(b"\x05TTree\x04tree", 0, raw.rfind(b"\x05TTree\x04tree"))
    places = [place for place in key_places(path) if raw[place : place + 120].find(b"\x05TTree\x04tree") > 0]
    begin = places[1] + int.from_bytes(raw[places[1] + 14 : places[1] + 16], "big")
    raw[begin : begin + 40] = bytes(40)
    path.write_bytes(raw)
    assert at > 0
    assert newest.cycle == 2
    code, report = recover(capfd, path, out)
    assert code == 1
    assert [(table["path"], table["cycle"], table["entries"]) for table in report["tables"]] == [("tree", 1, 10)]
    assert report["lost_objects"][0]["path"] == "tree;2"


def test_a_column_of_which_nothing_is_left_is_left_out(tmp_path, capfd):
    path, out = tmp_path / "column.root", tmp_path / "out.root"
    with forthwith.recreate(path, compression=forthwith.ZLIB(1)) as file:
        file["tree"] = {"good": np.arange(1000), "bad": np.arange(1000)}
    raw = bytearray(path.read_bytes())
    at = raw.find(b"\x07TBasket\x03bad")
    begin = raw.find(b"ZL", at)
    raw[begin + 20 : begin + 60] = bytes(40)
    path.write_bytes(raw)
    code, report = recover(capfd, path, out)
    assert code == 1
    assert [column["path"] for column in report["tables"][0]["lost_columns"]] == ["bad"]
    with forthwith.open(out) as file:
        assert file["tree"].keys() == ["good"]
        assert file["tree"]["good"].array().to_list() == list(range(1000))


@pytest.mark.parametrize("name", ["rows.avro", "rows.jsonl", "rows.csv", "rows.arrow", "rows.stream", "rows.parquet"])
def test_tables_of_other_formats(name, tmp_path, capfd):
    source, path, out = tmp_path / "rows.root", tmp_path / name, tmp_path / f"out-{name}"
    if name in ("rows.stream", "rows.arrow"):
        ipc = pytest.importorskip("pyarrow.ipc")
        begin = ipc.new_stream if name == "rows.stream" else ipc.new_file
        table = ipc.pa.table({"x": np.arange(3000), "y": np.arange(3000) / 4})
        with begin(str(path), table.schema) as to:
            to.write_table(table, max_chunksize=100)
        out = tmp_path / "out.arrow"
    else:
        with forthwith.recreate(source) as file:
            file["tree"] = {"x": np.arange(3000), "y": np.arange(3000) / 4}
        line = ["forthwith", "convert", str(source), str(path), "--block-entries", "100"]
        assert _forthwith.command(line[: None if name == "rows.avro" else 4], None) == 0
    code, report = recover(capfd, path, out)
    assert (code, report["tables"][0]["entries"]) == (0, 3000)
    raw = path.read_bytes()
    # Within a line of text.
    end = raw.rfind(b"\n", 0, len(raw) * 2 // 3) + 4 if name.endswith(("jsonl", "csv")) else len(raw) * 2 // 3
    path.write_bytes(raw[:end])
    code, report = recover(capfd, path, out)
    if name == "rows.parquet":
        assert code == 2
        assert "cut off" in report
        return
    assert code == 1, report
    assert 1500 < report["tables"][0]["entries"] < 2900
    x = forthwith.open(out).arrays(["x"])["x"].to_list()
    assert x == list(range(report["tables"][0]["entries"]))


@pytest.mark.parametrize("type", ["int64", "binary"])
@pytest.mark.parametrize("kind", ["stream", "file", "appended", "zeros"])
def test_an_arrow_stream_that_ends_before_its_file(kind, type, tmp_path, capfd):
    ipc = pytest.importorskip("pyarrow.ipc")
    path, out = tmp_path / f"rows.{kind}", tmp_path / "out.arrow"
    values = [b"%d" % x for x in range(3000)] if type == "binary" else range(3000)
    table = ipc.pa.table({"x": ipc.pa.array(values, type)})
    with (ipc.new_file if kind == "file" else ipc.new_stream)(str(path), table.schema) as to:
        to.write_table(table, max_chunksize=100)
    raw = bytearray(path.read_bytes())
    if kind == "appended":
        raw += bytes(raw)
    elif kind == "zeros":
        raw += bytes(100_000)
    else:
        places = [at for at in range(0, len(raw), 8) if raw[at : at + 4] == b"\xff" * 4]
        raw[places[15] + 4 : places[15] + 8] = bytes(4)
        if kind == "file":
            del raw[-20:]
    path.write_bytes(raw)
    before = 3000 if kind in ("appended", "zeros") else 1400
    if kind == "zeros":
        assert len(forthwith.open(path).arrays()) == before
        return
    with pytest.raises(forthwith.DamagedFileError, match=r"bytes before its file does|cut off"):
        forthwith.open(path)
    code, report = recover(capfd, path, out)
    # Behind the end of a stream another one of equal columns goes on; behind damage, bytes may look like batches.
    behind = 3000 if kind == "appended" else 1500 if type == "int64" else 0
    assert (code, report["tables"][0]["entries"]) == (0 if kind == "appended" else 1, before + behind)
    if kind != "appended":
        gap = report["gaps"][0]
        assert gap["begin"] < gap["end"]
    found = forthwith.open(out).arrays()["x"].to_list()
    assert found[:before] == table["x"].to_pylist()[:before]
    assert found[before:] == table["x"].to_pylist()[3000 - behind :]


@pytest.mark.parametrize("end", [True, False])
def test_batches_of_another_arrow_stream_are_lost(end, tmp_path, capfd):
    ipc = pytest.importorskip("pyarrow.ipc")
    path, out = tmp_path / "rows.stream", tmp_path / "out.arrow"
    tables = [{"a": [1, 2, 3], "b": [4, 5, 6]}, {"b": [1.5, 2.5], "a": [3.5, 4.5]}, {"b": [7], "a": [8]}]
    for other in tables[1:]:
        raw = b""
        for columns in (tables[0], other):
            with ipc.new_stream(str(path), (table := ipc.pa.table(columns)).schema) as to:
                to.write_table(table)
            raw += path.read_bytes() if end else path.read_bytes()[:-8]
        path.write_bytes(raw)
        with pytest.raises(forthwith.DamagedFileError):
            forthwith.open(path)
        code, report = recover(capfd, path, out)
        assert (code, report["tables"][0]["entries"]) == (1, 3)
        assert report["gaps"][0]["end"] == len(raw)
        assert forthwith.open(out).arrays().to_list() == [{"a": a, "b": a + 3} for a in (1, 2, 3)]


def test_csv_keeps_whole_lines_wherever_it_is_cut(tmp_path, capfd):
    path, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    rows = [
        ("x", "text"),
        ("1", "plain"),
        ("2", '"a ""b"", c"'),
        ("3", '"two\nlines"'),
        ("4", '""'),
        ("5", '"""end"""'),
    ]
    lines = [f"{x},{text}\n" for x, text in rows]
    raw = "".join(lines)
    ends = np.cumsum([len(line) for line in lines]).tolist()
    for cut in range(ends[0] + 1, len(raw) + 1):
        path.write_text(raw[:cut])
        whole = sum(end <= cut for end in ends)
        code, report = recover(capfd, path, out)
        kept = out.read_text()
        last = raw[ends[whole - 1] : cut]
        # A line without its break may be whole: that it is cut off is seen by missing cells and quotes.
        cells = list(csv.reader([last])) if last else []
        is_seen = bool(last) and (len(cells[0]) < 2 or is_open(last))
        assert code == (1 if is_seen else 0), (cut, report)
        expected = whole - 1 + (bool(last) and not is_seen)
        assert report["tables"][0]["entries"] == expected, (cut, kept)
        if is_seen:
            assert report["gaps"][0]["begin"] == ends[whole - 1]
            assert report["gaps"][0]["end"] == cut
            with pytest.raises(forthwith.ForthwithError) if len(cells[0]) < 2 else contextlib.nullcontext():
                forthwith.open(path).arrays()
        with forthwith.open(out) as table:
            assert table.arrays(["x"])["x"].to_list() == list(range(1, expected + 1))


def is_open(line):
    """Whether a line of CSV ends within quotes."""
    return line.count('"') % 2 == 1


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard", "bzip2", "xz", "lz4"])
def test_recovered_avro_keeps_its_codec(codec, tmp_path, capfd):
    fastavro = pytest.importorskip("fastavro")
    path, out = tmp_path / "rows.avro", tmp_path / "out.avro"
    forthwith.write_avro(path, {"x": np.arange(5000)}, codec=codec, block_bytes=3000)
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])
    code, report = recover(capfd, path, out)
    assert code == 1
    assert 0 < report["tables"][0]["entries"] < 5000
    with out.open("rb") as stream:
        assert fastavro.reader(stream).codec == codec


def test_mistakes_are_told(sound, tmp_path, capfd):
    out = tmp_path / "out.root"
    for line, what in [
        ([sound], "the file to write is missing"),
        ([sound, sound, "-f"], "is the file to recover"),
        ([sound, out, "-f", "--report", sound], "is the file to recover"),
        ([f"{sound}:dir", out], "recover writes a whole file"),
        ([tmp_path / "none.root", out], "no such file"),
        ([sound, tmp_path / "out.parquet"], "parquet"),
    ]:
        capfd.readouterr()
        code = _forthwith.command(["forthwith", "recover", *map(str, line)], None)
        said = capfd.readouterr()
        assert code == 2, said
        assert what in said.err.lower(), said.err
        assert not out.exists()


def test_an_interrupt_leaves_nothing_behind(tmp_path):
    path = tmp_path / "large.root"
    numbers = np.random.default_rng(1).normal(size=(40, 100_000))
    with forthwith.recreate(path, compression=None) as file:
        file["tree"] = {f"x{number}": numbers[number] for number in range(40)}
    line = [sys.executable, "-m", "forthwith", "recover", str(path), str(tmp_path / "out.root")]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 20
    # Until the file is begun.
    while len(os.listdir(tmp_path)) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    if process.returncode == 0:
        pytest.skip("it was done before the interrupt")
    assert process.returncode == 130, said
    assert b"nothing was written" in said
    assert os.listdir(tmp_path) == ["large.root"]


def test_a_damaged_list_of_keys_changes_no_sound_record(tmp_path, capfd):
    """A place in the list that leads into the data of a sound basket."""
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    with forthwith.recreate(bad, compression=None) as file:
        file["t"] = {"x": np.arange(20000, dtype="i4")}
        file["s"] = "some text"
    raw = bytearray(bad.read_bytes())
    inside = raw.find(np.arange(1000, 1004, dtype=">i4").tobytes())
    # The last key of the text is that of the list; its place is behind 18 bytes.
    key = raw.rfind(b"\x0aTObjString\x01s") - 26
    assert inside > 0
    assert key > inside
    raw[key + 18 : key + 22] = inside.to_bytes(4, "big")
    bad.write_bytes(raw)
    code, _ = recover(capfd, bad, out)
    assert code in (0, 1)
    assert forthwith.open(out)["t"]["x"].array().tolist() == list(range(20000))


def test_a_damaged_description_of_a_class_does_not_keep_the_rest(tmp_path, capfd):
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    with forthwith.recreate(bad, compression=None) as file:
        file["t"] = {"x": np.arange(100)}
        file["h"] = np.histogram(np.arange(50.0), bins=5)
    raw = bytearray(bad.read_bytes())
    # The length of an element stands behind the name of its class.
    raw[raw.find(b"TStreamerBase\0") + 15] ^= 0x04
    bad.write_bytes(raw)
    code, report = recover(capfd, bad, out)
    assert code == 1
    assert [lost["path"] for lost in report["lost_objects"]] == ["StreamerInfo"]
    assert forthwith.open(out)["t"]["x"].array().tolist() == list(range(100))


def test_the_report_replaces_neither_file(sound, tmp_path, capfd):
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    bad.write_bytes(sound.read_bytes())
    for report in (bad, out, tmp_path / "." / "out.root"):
        code, said = recover(capfd, bad, out, "--report", str(report))
        assert code == 2
        assert "cannot be the report" in said
        assert not out.exists()
    os.link(bad, tmp_path / "link.json")
    assert recover(capfd, bad, out, "--report", str(tmp_path / "link.json"))[0] == 0
    assert bad.read_bytes() == sound.read_bytes()
    assert "file" in json.loads((tmp_path / "link.json").read_text())
    assert recover(capfd, bad, "-")[0] == 2


def test_blocks_of_avro_are_kept_whole_or_not_at_all(tmp_path, capfd):
    rows = [{"i": number, "text": f"row {number}" * 3} for number in range(2000)]
    whole, bad, out = tmp_path / "whole.avro", tmp_path / "bad.avro", tmp_path / "out.avro"
    forthwith.write_avro(whole, ak.Array(rows), codec="deflate", block_bytes=3000)
    raw, lost = whole.read_bytes(), 0
    for seed in range(20):
        damaged = bytearray(raw)
        at = random.Random(seed).randrange(600, len(raw))
        damaged[at : at + 8] = bytes(len(damaged[at : at + 8]))
        bad.write_bytes(damaged)
        code, report = recover(capfd, bad, out)
        if code == 2:
            continue
        kept = forthwith.open(out).arrays().tolist()
        lost += report["tables"][0]["lost_entries"]
        assert len(kept) + report["tables"][0]["lost_entries"] <= len(rows)
        if code == 1:
            assert all(row == rows[row["i"]] for row in kept), seed
    assert lost > 100
