"""`forthwith recover`: entries behind the last save of a tree, RNTuples without an anchor, and lost batches of Arrow."""

import json
import os
import pathlib
import random

import awkward as ak
import numpy as np
import pytest
from root_judge import by_root, need_root

import forthwith
from forthwith import _forthwith

# More of them by hand.
ROUNDS = int(os.environ.get("FORTHWITH_RECOVERIES", "8"))


def recover(capfd, path, out, *flags):
    """The exit code and the report."""
    capfd.readouterr()
    code = _forthwith.command(["forthwith", "recover", "--json", "-f", str(path), str(out), *flags], None)
    said = capfd.readouterr()
    return code, json.loads(said.out) if code in (0, 1) else said.err


UNCLOSED = """
import array, os

def fill(tree, begin, end, flush, saves):
    x, n = array.array("q", [0]), array.array("i", [0])
    a, v = array.array("f", [0] * 8), ROOT.std.vector("float")()
    tree.Branch("x", x, "x/L")
    tree.Branch("n", n, "n/I")
    tree.Branch("a", a, "a[n]/F")
    tree.Branch("v", v)
    tree.SetAutoFlush(flush)
    tree.SetAutoSave(0)
    for entry in range(begin, end):
        x[0], n[0] = entry, entry % 5
        for at in range(n[0]):
            a[at] = entry + at
        v.clear()
        for at in range(entry % 3):
            v.push_back(entry - at)
        tree.Fill()
        if entry - begin + 1 in saves:
            tree.AutoSave()

jobs = json.loads(sys.argv[1])
for job in jobs:
    if os.fork() == 0:
        file = ROOT.TFile.Open(job["name"], "RECREATE", "", job["compression"])
        for old in job["old"]:
            tree = ROOT.TTree("tree", "deleted")
            fill(tree, 1000000, 1000000 + old, job["flush"], [])
            tree.Write()
            file.Delete("tree;*")
        tree = ROOT.TTree("tree", "kept")
        fill(tree, 0, job["entries"], job["flush"], job["saves"])
        if job.get("later"):
            if not job.get("discarded"):
                tree.Write()
            tree.SetDirectory(ROOT.nullptr)
            tree = ROOT.TTree("tree", "later")
            fill(tree, 1000000, 1000000 + job["later"], job["later_flush"], [])
            if job.get("later_is_written"):
                tree.Write()
        os._exit(0)
    os.wait()
print("null")
"""


def unclosed(folder, dice, number):
    """A job for C++ ROOT: a file that is not closed, with the last saves and baskets of its tree."""
    flush = dice.choice([10, 50, 97, 400])
    entries = dice.randrange(flush, 3000)
    saves = sorted(dice.sample(range(1, entries), dice.randint(1, 3)))
    old = [dice.randrange(flush, 3000)] if dice.random() < 0.3 else []
    name = str(folder / f"unclosed{number}.root")
    compression = dice.choice([0, 101, 404, 505])
    return {"name": name, "flush": flush, "entries": entries, "saves": saves, "old": old, "compression": compression}


def assert_is_filled(tree, kept=None):
    """The entries of a tree are those that were filled: from the first on, or these."""
    kept = range(tree.num_entries) if kept is None else kept
    arrays = tree.arrays()
    assert arrays["x"].to_list() == list(kept)
    assert arrays["a"].to_list() == [[entry + at for at in range(entry % 5)] for entry in kept]
    assert arrays["v"].to_list() == [[entry - at for at in range(entry % 3)] for entry in kept]


def kept_of(table):
    """The entries that a report says were kept."""
    lost = {entry for loss in table["losses"] for entry in range(loss["begin"], loss["end"])}
    assert len(lost) == table["lost_entries"]
    return [entry for entry in range(table["entries"] + len(lost)) if entry not in lost]


def test_baskets_behind_the_last_save_are_kept(tmp_path, capfd):
    need_root()
    dice = random.Random("unclosed")
    jobs = [unclosed(tmp_path, dice, number) for number in range(ROUNDS)]
    by_root(UNCLOSED, json.dumps(jobs))
    more = 0
    for job in jobs:
        out = tmp_path / "out.root"
        code, report = recover(capfd, job["name"], out)
        assert code in (0, 1), (job, report)
        (table,) = report["tables"]
        flushed = job["entries"] // job["flush"] * job["flush"]
        saved = job["saves"][-1]
        if job["old"]:
            # Baskets of the same second may be those of the deleted tree, and are left out then.
            assert saved <= table["entries"] <= max(flushed, saved), job
        else:
            assert table["entries"] == max(flushed, saved), job
        assert table["unsaved_entries"] == table["entries"] - saved, job
        assert table["lost_entries"] == 0
        with forthwith.open(out) as file:
            assert file["tree"].num_entries == table["entries"]
            assert_is_filled(file["tree"])
        with pytest.warns(forthwith.RecoveryWarning), forthwith.open(job["name"], recover=True) as file:
            assert_is_filled(file["tree"])
        more += table["unsaved_entries"]
        # Wherever the file is cut off.
        raw = pathlib.Path(job["name"]).read_bytes()
        for _ in range(3):
            cut = tmp_path / "cut.root"
            cut.write_bytes(raw[: dice.randrange(len(raw) // 4, len(raw))])
            code, report = recover(capfd, cut, out)
            if code == 2 or not report["tables"]:
                continue
            (table,) = report["tables"]
            if table["lost_columns"]:
                continue
            with forthwith.open(out) as file:
                assert file["tree"].num_entries == table["entries"]
                assert_is_filled(file["tree"], kept_of(table))
    assert more > 0


def test_baskets_of_a_deleted_tree_are_not_taken(tmp_path, capfd):
    need_root()
    path, out = tmp_path / "deleted.root", tmp_path / "out.root"
    job = {"name": str(path), "flush": 50, "entries": 320, "saves": [120, 200], "old": [2000], "compression": 101}
    by_root(UNCLOSED, json.dumps([job]))
    _, report = recover(capfd, path, out)
    (table,) = report["tables"]
    assert 200 <= table["entries"] <= 300
    with forthwith.open(out) as file:
        assert_is_filled(file["tree"])


def test_baskets_of_a_later_tree_are_not_taken(tmp_path, capfd):
    need_root()
    dice = random.Random("later")
    jobs = [{**unclosed(tmp_path, dice, number), "old": [], "later": 500} for number in range(ROUNDS)]
    jobs = [{**job, "later_flush": dice.choice([10, 20, 50, 97])} for job in jobs]
    by_root(UNCLOSED, json.dumps(jobs))
    for job in jobs:
        code, report = recover(capfd, job["name"], tmp_path / "out.root")
        assert code in (0, 1), (job, report)
        with forthwith.open(tmp_path / "out.root") as file:
            assert file["tree"].num_entries == job["entries"], job
            assert_is_filled(file["tree"])


@pytest.mark.parametrize("later_is_written", [False, True])
def test_entries_of_an_unwritten_basket_are_not_continued_by_a_later_tree(later_is_written, tmp_path, capfd):
    need_root()
    dice = random.Random(f"discarded {later_is_written}")
    jobs = []
    for number in range(ROUNDS):
        job = unclosed(tmp_path, dice, number)
        flush = job["flush"]
        entries = dice.randrange(2, flush)
        job |= {"entries": entries, "saves": [dice.randrange(1, entries)], "old": [], "discarded": True}
        later = {"later": 500, "later_flush": dice.choice([10, 50, 97, 400]), "later_is_written": later_is_written}
        jobs.append(job | later)
    by_root(UNCLOSED, json.dumps(jobs))
    for job in jobs:
        name = "tree;1" if later_is_written else "tree"
        with pytest.warns(forthwith.RecoveryWarning):
            file = forthwith.open(job["name"], recover=True)
        with file:
            assert file[name].num_entries == job["saves"][0], job
            assert_is_filled(file[name])
        out = tmp_path / "out.root"
        code, report = recover(capfd, job["name"], out)
        assert code in (0, 1), (job, report)
        with forthwith.open(out) as file:
            assert_is_filled(file["tree"], range(1000000, 1000500) if later_is_written else None)


def test_a_record_that_was_cut_off_does_not_go_on_in_new_ones(tmp_path, capfd):
    path, bad, out = (tmp_path / name for name in ("whole.root", "bad.root", "out.root"))
    text = "".join(f"{at:03} " for at in range(100))
    with forthwith.recreate(path, compression=None) as file:
        file.mkrntuple("n", {"x": "int64"}).extend({"x": np.arange(5)})
    with forthwith.update(path) as file:
        file["s"] = text
    raw = damaged_anchor(path.read_bytes())
    at, length = next((at, length) for at, length, name in records(raw) if name == "TObjString")
    for cut in (4, 12, 40, 100):
        bad.write_bytes(raw[: at + length - cut])
        code, report = recover(capfd, bad, out)
        assert code == 1, (cut, report)
        with forthwith.open(out) as file:
            assert [key for key in file if key.startswith("s;")] == []
            assert file["n"].arrays()["x"].to_list() == list(range(5))


def records(raw):
    """The places, lengths and classes of the records of a ROOT file."""
    at, found = 100, []
    while at + 30 < len(raw):
        length = int.from_bytes(raw[at : at + 4], "big", signed=True)
        wide = int.from_bytes(raw[at + 4 : at + 6], "big") > 1000
        name = at + (34 if wide else 26)
        found.append((at, abs(length), raw[name + 1 : name + 1 + raw[name]].decode(errors="replace")))
        at += abs(length)
    return found


ENTRIES = 3000


@pytest.fixture(scope="module")
def ntuple(tmp_path_factory):
    """A file with an RNTuple of ten clusters."""
    path = tmp_path_factory.mktemp("ntuple") / "ntuple.root"
    with forthwith.recreate(path, compression=forthwith.ZSTD(3)) as file:
        ntuple = file.mkrntuple("data", {"x": "int64", "list": "var * float32"}, cluster_entries=300)
        for begin in range(0, ENTRIES, 300):
            x = np.arange(begin, begin + 300)
            lists = ak.unflatten(np.arange(int((x % 4).sum()), dtype=np.float32), x % 4)
            ntuple.extend({"x": x, "list": lists})
    return path


def anchor_of(raw):
    """The place and the length of the anchor of a file."""
    return next((at, length) for at, length, name in records(raw) if name == "ROOT::RNTuple")


def damaged_anchor(raw):
    """The file with a byte of the anchor changed."""
    at, length = anchor_of(raw)
    raw = bytearray(raw)
    raw[at + length - 12] ^= 0x10
    return bytes(raw)


def footers_of(raw):
    """The places of the blobs behind all pages: page list and footer."""
    blobs = [(at, length) for at, length, name in records(raw) if name == "RBlob"]
    return blobs[-2:]


@pytest.mark.parametrize("how", ["cut off", "damaged", "without a footer"])
def test_ntuples_without_an_anchor(ntuple, how, tmp_path, capfd):
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    raw = ntuple.read_bytes()
    if how == "cut off":
        bad.write_bytes(raw[: anchor_of(raw)[0]])
    else:
        raw = bytearray(damaged_anchor(raw))
        if how == "without a footer":
            at, length = footers_of(raw)[1]
            raw[at + length - 4] ^= 1
        bad.write_bytes(raw)
    with forthwith.open(ntuple) as file:
        expected = file["data"].arrays().to_list()
    code, report = recover(capfd, bad, out)
    assert code in (0, 1), report
    (table,) = report["tables"]
    source = "page lists" if how == "without a footer" else "footer"
    assert table["made_anew"] == f"an anchor for its header and {source}"
    assert table["entries"] == ENTRIES
    with forthwith.open(out) as file:
        assert file["data"].arrays().to_list() == expected
    with pytest.warns(forthwith.RecoveryWarning), forthwith.open(bad, recover=True) as file:
        assert file["data"].arrays().to_list() == expected
    assert bad.read_bytes()[:4] == b"root"


def test_a_deleted_ntuple_stays_deleted_in_a_sound_file(ntuple, tmp_path, capfd):
    path, out = tmp_path / "deleted.root", tmp_path / "out.root"
    path.write_bytes(ntuple.read_bytes())
    with forthwith.update(path) as file:
        del file["data"]
        file["other"] = np.histogram(np.arange(5.0), bins=5)
    code, report = recover(capfd, path, out)
    assert (code, report["tables"]) == (0, [])


def test_ntuples_of_root_without_an_anchor(tmp_path, capfd):
    need_root()
    path, bad, out = tmp_path / "root.root", tmp_path / "bad.root", tmp_path / "out.root"
    script = """
model = ROOT.RNTupleModel.Create()
model.MakeField["std::int64_t"]("x")
model.MakeField["std::vector<float>"]("v")
writer = ROOT.RNTupleWriter.Recreate(model, "ntpl", sys.argv[1])
entry = writer.CreateEntry()
for at in range(2000):
    entry["x"] = at
    entry["v"] = ROOT.std.vector["float"]([at, at + 1])
    writer.Fill(entry)
    if at % 500 == 499:
        writer.CommitCluster(True)
del writer
print("null")
"""
    by_root(script, str(path))
    raw = path.read_bytes()
    lists = [at for at, _, name in records(raw) if name == "RBlob"]
    for end in (anchor_of(raw)[0], lists[-1]):
        bad.write_bytes(raw[:end])
        code, report = recover(capfd, bad, out)
        assert code in (0, 1), report
        (table,) = report["tables"]
        assert table["entries"] == 2000
        with forthwith.open(out) as file:
            assert file["ntpl"]["x"].array().to_list() == list(range(2000))
            assert file["ntpl"]["v"].array().to_list() == [[at, at + 1] for at in range(2000)]


def arrow(path, kind, batches, binary=False):
    """Writes batches of rows that count on; returns where each message with rows begins."""
    ipc = pytest.importorskip("pyarrow.ipc")
    pa = ipc.pa
    schema = pa.schema([("x", pa.int64()), ("text", pa.binary() if binary else pa.string())])
    begin = ipc.new_stream if kind == "stream" else ipc.new_file
    row = 0
    with begin(str(path), schema) as to:
        for rows in batches:
            x = np.arange(row, row + rows)
            text = [f"row {at}" for at in x]
            to.write_batch(pa.record_batch([pa.array(x), pa.array(text, schema.field("text").type)], schema))
            row += rows
    raw = path.read_bytes()
    at, places = 0 if kind == "stream" else 8, []
    while raw[at : at + 4] == b"\xff\xff\xff\xff":
        length = int.from_bytes(raw[at + 4 : at + 8], "little")
        if length == 0:
            break
        message = ipc.read_message(pa.py_buffer(raw[at:]))
        if message.type == "record batch":
            places.append(at)
        at += 8 + length + (0 if message.body is None else (message.body.size + 7) // 8 * 8)
    return places


def rows_of(out):
    """The numbers of the rows of a file."""
    with forthwith.open(out) as file:
        arrays = file.arrays()
    x = arrays["x"].to_list()
    assert [at.decode() if isinstance(at, bytes) else at for at in arrays["text"].to_list()] == [
        f"row {at}" for at in x
    ]
    return x


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_lost_batches_are_counted(kind, tmp_path, capfd):
    path, out = tmp_path / f"rows.{kind}", tmp_path / "out.arrow"
    batches = [100, 70, 1, 300, 50]
    places = arrow(path, kind, batches)
    assert len(places) == 5
    raw = path.read_bytes()
    # The header of a batch is destroyed: its number of rows is lost with it.
    damaged = bytearray(raw)
    damaged[places[1] + 8 : places[1] + 40] = b"\xff" * 32
    path.write_bytes(damaged)
    code, report = recover(capfd, path, out)
    assert code == 1
    assert rows_of(out) == [*range(100), *range(170, 521)]
    (gap,) = report["gaps"]
    assert (gap["block"], gap["entries"], gap["begin"], gap["end"]) == (1, None, places[1], places[2])
    # It is cut off within the last one, whose header is there.
    path.write_bytes(raw[: places[4] + 400])
    code, report = recover(capfd, path, out)
    assert code == 1
    assert rows_of(out) == list(range(471))
    (gap,) = report["gaps"]
    assert (gap["block"], gap["entries"], report["tables"][0]["lost_entries"]) == (4, 50, 50)


def test_bytes_of_values_are_not_taken_for_batches(tmp_path, capfd):
    path, out = tmp_path / "rows.stream", tmp_path / "out.arrow"
    places = arrow(path, "stream", [10, 20, 30], binary=True)
    raw = bytearray(path.read_bytes())
    raw[places[1] + 8 : places[1] + 40] = b"\xff" * 32
    path.write_bytes(raw)
    code, _ = recover(capfd, path, out)
    assert code == 1
    assert rows_of(out) == list(range(10))


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_damaged_arrow_files_keep_all_other_batches(kind, tmp_path, capfd):
    path, out = tmp_path / f"rows.{kind}", tmp_path / "out.arrow"
    dice = random.Random(f"arrow {kind}")
    for _ in range(5 * ROUNDS):
        batches = [dice.randrange(1, 200) for _ in range(dice.randint(1, 8))]
        places = arrow(path, kind, batches)
        raw, lost = bytearray(path.read_bytes()), set()
        end = len(raw)
        if dice.random() < 0.5:
            end = dice.randrange(places[0], len(raw))
            raw = raw[:end]
        for at, place in enumerate(places):
            if dice.random() < 0.3 and place + 40 < end:
                # Values have no checksums, so only headers are damaged.
                raw[place + 8 : place + 40] = dice.choice([b"\xff", b"\0"]) * 32
                lost.add(at)
        path.write_bytes(raw)
        code, report = recover(capfd, path, out)
        ends = [*places[1:], places[-1] + 1]
        whole = [at not in lost and ends[at] <= end for at in range(len(batches))]
        if code == 2:
            # Nothing tells damage of all batches from batches of a kind that is not supported.
            assert "not supported" in report
            assert not any(whole[:-1])
            continue
        kept = rows_of(out)
        begins = np.cumsum([0, *batches])
        expected = []
        for at, rows in enumerate(batches):
            batch = list(range(begins[at], begins[at] + rows))
            if whole[at] and kept[len(expected) : len(expected) + rows] == batch:
                expected += batch
            else:
                # The last one may be whole although the file is cut off.
                assert not whole[at] or at + 1 == len(batches)
        assert kept == expected
        for gap in report["gaps"]:
            if gap["entries"]:
                assert gap["entries"] == batches[places.index(gap["begin"])]
        assert report["complete"] == (code == 0)
