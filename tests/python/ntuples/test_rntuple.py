"""RNTuples as C++ ROOT reads them: every kind of field and encoding, as a whole and by every range of entries."""

import json
import pathlib
import subprocess
import sys

import pytest
from conftest import data, golden_of
from root_judge import by_root

import forthwith

FOLDER = pathlib.Path(data("rntuple"))
VALUES = golden_of("rntuple/values.json")
CASES = [(file, name) for file, ntuples in VALUES.items() for name in ntuples]


def plain(value):
    """A value with tuples as lists, and numbers told apart by their type and sign."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return repr(value)


@pytest.mark.parametrize(("file", "name"), CASES)
def test_values_are_what_root_reads(file, name):
    with forthwith.open(FOLDER / file) as opened:
        ntuple = opened[name]
        for field, wanted in VALUES[file][name].items():
            assert plain(ntuple[field].array().to_list()) == plain(wanted), field


@pytest.mark.parametrize(("file", "name"), CASES)
def test_ranges_of_entries_are_cut_out_of_pages(file, name):
    with forthwith.open(FOLDER / file) as opened:
        ntuple = opened[name]
        for field, values in VALUES[file][name].items():
            wanted = plain(values)
            count = len(wanted)
            # Starts and ends inside of clusters, between them, and of nothing.
            step = count // 5 + 1
            ranges = [
                (start, stop) for start in range(0, count + 1, step) for stop in range(start, count + 1, step + 1)
            ]
            for start, stop in ranges:
                got = ntuple[field].array(entry_start=start, entry_stop=stop).to_list()
                assert plain(got) == wanted[start:stop], (field, start, stop)


@pytest.mark.parametrize("file", ["pages-none.root", "pages-zstd.root"])
def test_bulk_goes_from_page_to_page(file):
    """Decoded steps have all entries once, also where a page ends within an array."""
    with forthwith.open(FOLDER / file) as opened:
        for branch in opened["ntuple"].values():
            entries, end = [], 0
            for batch in branch.bulk():
                assert batch.entry_start == end
                end = batch.entry_stop
                entries += batch.to_awkward().to_list()
            assert plain(entries) == plain(VALUES[file]["ntuple"][branch.name]), branch.name
            assert branch.entry_offsets[0] == 0
            assert branch.entry_offsets[-1] == 150


def test_raw_pages_are_views_of_the_file_where_bytes_are_the_numbers():
    with forthwith.open(FOLDER / "pages-none.root", source="map") as opened:
        ntuple = opened["ntuple"]
        batches = list(ntuple["number"].bulk(raw=True))
        assert len(batches) > 5
        assert all(batch.view for batch in batches)
        assert [number for batch in batches for number in batch.array.tolist()] == list(range(150))
        assert str(batches[0].array.dtype) == "int32"
        for name in ("list", "text", "variant"):
            with pytest.raises(forthwith.UnsupportedError, match=f"several columns\n.*{name}"):
                list(ntuple[name].bulk(raw=True))
    with forthwith.open(FOLDER / "pages-zstd.root", source="map") as opened:
        # Decompressed, and in planes of bytes.
        (first, *_) = opened["ntuple"]["unsigned_same"].bulk(raw=True)
        assert not first.view
        assert first.payload.tolist() == [*range(16), *[0] * 48]


def test_a_column_in_one_piece_is_one_view(tmp_path):
    """Pages without compression and checksums lie one behind the other; so does a column of one page."""
    np = pytest.importorskip("numpy")
    path = tmp_path / "pieces.root"
    script = r"""
ROOT.gInterpreter.Declare(r'''
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
void pieces(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto x = model->MakeField<float>("x");
  auto n = model->MakeField<std::vector<std::int16_t>>("n");
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(0);
  options.SetEnablePageChecksums(false);
  options.SetMaxUnzippedPageSize(4096);
  options.SetInitialUnzippedPageSize(256);
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntuple", path, options);
  for (int i = 0; i < 20000; i++) {
    *x = i / 4.f;
    n->assign(i % 3, i);
    writer->Fill();
    if (i == 15000) writer->CommitCluster();
  }
}''')
ROOT.pieces(sys.argv[1])
print("0")
"""
    by_root(script, path)
    wanted = [i / 4 for i in range(20000)]
    with forthwith.open(path, source="map") as opened:
        x = opened["ntuple"]["x"]
        assert len(list(x.bulk())) > 10, "pages"
        batches = list(x.bulk(raw=True))
        # One view for each cluster.
        assert [(batch.entry_start, batch.entry_stop, batch.view) for batch in batches] == [
            (0, 15001, True),
            (15001, 20000, True),
        ]
        assert len(x.bulk(raw=True)) == 2
        assert [number for batch in batches for number in batch.array.tolist()] == wanted
        assert x.array().to_list() == wanted
        assert opened["ntuple"]["n"].array().to_list()[7:9] == [[7], [8, 8]]
    whole = tmp_path / "whole.root"
    with forthwith.create(whole, compression=None) as file:
        file.mkrntuple("ntuple", {"x": "f4"}, page_size=1 << 20).extend({"x": np.array(wanted, "f4")})
    with forthwith.open(whole, source="map", checksums=False) as opened:
        (batch,) = opened["ntuple"]["x"].bulk(raw=True)
        assert batch.view
        assert batch.array.tolist() == wanted


def damaged_copy(folder, change):
    """The uncompressed file with one byte changed in the page of a number."""
    whole = (FOLDER / "pages-none.root").read_bytes()
    at = whole.index(bytes.fromhex("10000000 11000000 12000000"))
    path = folder / "damaged.root"
    path.write_bytes(whole[:at] + bytes([whole[at] ^ change]) + whole[at + 1 :])
    return path


def test_checksums_are_verified_unless_it_is_told(tmp_path):
    path = damaged_copy(tmp_path, 64)
    with forthwith.open(path) as opened:
        with pytest.raises(forthwith.DamagedFileError, match="checksum of a page") as caught:
            opened["ntuple"]["number"].array()
        assert "cluster 0" in str(caught.value)
        assert "column 0, page 1" in str(caught.value)
    with forthwith.open(path, checksums=False) as opened:
        assert opened["ntuple"]["number"].array()[16] == 16 ^ 64
    with pytest.raises(forthwith.RequestError, match="checksums"):
        forthwith.open(data("parquet/delta.parquet"), checksums=False)


def test_lost_entries_are_those_of_the_cluster(tmp_path):
    path = damaged_copy(tmp_path, 64)
    with forthwith.open(path) as opened:
        ntuple = opened["ntuple"]
        with pytest.warns(forthwith.DataLossWarning):
            kept = ntuple["number"].array(errors="skip").to_list()
        assert set(range(70, 150)) <= set(kept) < set(range(150))
        with pytest.warns(forthwith.DataLossWarning):
            both = ntuple.arrays(["array", "number"], errors="skip")
        assert both["number"].to_list() == kept


@pytest.mark.parametrize("name", ["none", "zstd"])
def test_rows_of_attribute_sets_belong_to_the_entries_that_root_says(name):
    with forthwith.open(FOLDER / f"attributes-{name}.root") as opened:
        found = opened["ntuple"].attributes
        of_entries = json.loads((FOLDER / f"attributes-{name}.json").read_text())
        assert list(found) == list(of_entries) == ["quality", "run@1", "empty"]
        for each, questions in of_entries.items():
            rows, values = found[each], VALUES[f"attributes-{name}.root"][f"ntuple@{each}"]
            assert rows.arrays().to_list() == values["_userData"]
            assert len(rows) == len(values["_userData"])
            assert rows.ranges == [
                (start, start + length)
                for start, length in zip(values["_rangeStart"], values["_rangeLen"], strict=True)
            ]
            for (entry, _, of_entry), *ranges in questions:
                assert rows.covering(entry) == of_entry
                for start, stop, covering, within in ranges:
                    assert rows.covering(start, stop) == covering
                    assert rows.within(start, stop) == within
        assert found["quality"].keys() == ["text", "list"]
        assert found["quality"].arrays(["text"]).text.to_list() == ["inner", "none", "across", "all of it"]
        with pytest.raises(forthwith.KeyInFileError, match="quality"):
            found["quantity"]
        with pytest.raises(forthwith.KeyInFileError, match='no attribute set named "qualify"; did you mean quality'):
            opened["ntuple@qualify"]
        # Also of a cycle, and as part of a longer path.
        assert opened["ntuple;1"].attributes["run@1"].arrays().run.to_list() == [1, 2]
        assert opened["ntuple@run@1;1/_userData/run"].array().to_list() == [1, 2]
    with forthwith.open(FOLDER / "several.root") as opened:
        assert len(opened["first"].attributes) == len(opened["tree"].attributes) == 0


def test_messages_speak_of_pages():
    with forthwith.open(FOLDER / "pages-none.root") as opened:
        assert "150 entries in 10 pages" in opened["ntuple"]["number"].explain()


def test_items_without_members_are_counted(tmp_path):
    """Items of records without members have no columns: only the lists tell how many there are."""
    script = """
ROOT.gInterpreter.Declare("struct Nothing {}; struct Within { Nothing nothing; };")
model = ROOT.RNTupleModel.Create()
for name, kind in [("x", "std::vector<Nothing>"), ("y", "std::vector<std::vector<Within>>"), ("n", "int")]:
    model.AddField(ROOT.RFieldBase.Create(name, kind).Unwrap())
with ROOT.RNTupleWriter.Recreate(model, "n", sys.argv[1]) as writer:
    entry = writer.CreateEntry()
    for number in range(7):
        entry["x"].resize(number % 3)
        entry["y"].resize(number % 2)
        for one in entry["y"]:
            one.resize(number)
        entry["n"] = number
        writer.Fill(entry)
        if number % 3 == 2:
            writer.CommitCluster()
print("null")
"""
    path = tmp_path / "x.root"
    by_root(script, path)
    with forthwith.open(path)["n"] as ntuple:
        lists = [[{}] * (number % 3) for number in range(7)]
        nested = [[[{"nothing": {}}] * number] * (number % 2) for number in range(7)]
        for start, stop in ((0, 7), (1, 6), (2, 3), (3, 3)):
            read = ntuple.arrays(entry_start=start, entry_stop=stop)
            assert read["x"].to_list() == lists[start:stop]
            assert read["y"].to_list() == nested[start:stop]
            assert read["n"].to_list() == list(range(start, stop))
        steps = [step["x"].to_list() for step in ntuple.iterate(["x"], step_size=2)]
        assert [one for step in steps for one in step] == lists
    done = subprocess.run([sys.executable, "-W", "ignore", "-m", "forthwith", "check", path], check=False)
    assert done.returncode == 0
