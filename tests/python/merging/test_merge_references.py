"""References between objects (``TRef``) in merged files: C++ ROOT finds the objects that it finds in the files they are of."""

import struct

import pytest
from root_judge import by_another_root, by_root

import forthwith

CODE = r"""
ROOT.gErrorIgnoreLevel = ROOT.kWarning
ROOT.gInterpreter.Declare('''
#include "TRef.h"
#include "TRefArray.h"
#include "TRefTable.h"
// A tree whose references lead to objects in other branches. Each file is of a process of its own.
void make(const char *path, int base, int entries, int skipped, int flush, bool swap, bool table, bool plain) {
   TFile file(path, "RECREATE", "", plain ? 0 : 101);
   TTree tree("t", "t");
   auto one = new TObjString, two = new TObjString;
   auto ref = new TRef, other = new TRef;
   Int_t i;
   tree.Branch("i", &i, "i/I");
   if (swap) tree.Branch("one", &one, 32000, 0);
   tree.Branch("two", &two, 32000, 0);
   if (!swap) tree.Branch("one", &one, 32000, 0);
   tree.Branch("ref", &ref, 32000, 0);
   tree.Branch("other", &other, 32000, 0);
   if (table) tree.BranchRef();
   for (int entry = 0; entry < entries; ++entry) {
      auto number = TProcessID::GetObjectCount();
      i = base + entry;
      delete one; delete two; delete ref; delete other;
      one = new TObjString(Form("one %d", i));
      two = new TObjString(Form("two %d", i));
      ref = new TRef; other = new TRef;
      for (int k = 0; k < skipped; ++k) { TObjString unused; TRef to(&unused); }
      *ref = entry % 3 ? one : two;
      if (entry % 4) *other = two;
      tree.Fill();
      if (flush && entry % flush == flush - 1) tree.FlushBaskets();
      TProcessID::SetObjectCount(number);
   }
   tree.Write();
   TRefTable::SetRefTable(nullptr);
   TNamed target("target", Form("target of %d", base)), apart("apart", "");
   TRef key(&target);
   TRefArray both;
   both.Add(&target);
   both.Add(&apart);
   target.Write("target");
   apart.Write("apart");
   key.Write("key");
   TList list;
   list.Add(&target);
   list.Write("list", TObject::kSingleKey);
   both.Write(Form("both of %d", base), TObject::kSingleKey);
}
// What the references of each entry find, if it is of the same entry: objects of those before are in memory, too.
std::string found(const char *path) {
   TFile file(path);
   auto tree = file.Get<TTree>("t");
   Int_t i;
   tree->SetBranchAddress("i", &i);
   TRef *ref = nullptr, *other = nullptr;
   auto set = [&](const char *name, TRef **ref) { if (tree->GetBranch(name)) tree->SetBranchAddress(name, ref); };
   set("ref", &ref); set("other", &other);
   std::string all;
   for (Long64_t entry = 0; entry < tree->GetEntries(); ++entry) {
      tree->LoadTree(entry);
      if (tree->GetBranchRef()) tree->GetBranchRef()->SetRequestedEntry(entry);
      for (auto branch : {"i", "ref", "other"}) if (tree->GetBranch(branch)) tree->GetBranch(branch)->GetEntry(entry);
      for (auto one : {ref, other}) {
         auto object = one ? one->GetObject() : nullptr;
         all += std::string(object && TString(object->GetName()).EndsWith(Form(" %d", i)) ? object->GetName() : "-") + "|";
      }
   }
   return all;
}
std::string keys(const char *path, int cycles) {
   TFile file(path);
   std::string all;
   for (int cycle = 1; cycle <= cycles; ++cycle) {
      auto key = file.Get<TRef>(Form("key;%d", cycle));
      auto target = file.Get<TNamed>(Form("target;%d", cycle));
      auto both = file.Get<TRefArray>(TString(target->GetTitle()).ReplaceAll("target", "both"));
      all += std::string(key->GetObject() == target && both->At(0) == target ? target->GetTitle() : "lost") + "|";
      all += std::string(key->GetPID()->GetTitle()) + "|";
   }
   return all;
}
''')
"""
MAKE = CODE + "ROOT.make(sys.argv[1], *(int(number) for number in sys.argv[2:]))\nprint(json.dumps(None))\n"
FOUND = CODE + "print(json.dumps([str(ROOT.found(path)) for path in sys.argv[1:]]))\n"
KEYS = (
    CODE + "print(json.dumps([str(ROOT.keys(sys.argv[1], 4)), *(str(ROOT.keys(path, 1)) for path in sys.argv[2:])]))\n"
)
MERGED = "ROOT.gErrorIgnoreLevel = ROOT.kWarning\n"
MERGED += "merger = ROOT.TFileMerger(False)\nmerger.OutputFile(sys.argv[1])\n"
MERGED += "for path in sys.argv[2:]:\n    merger.AddFile(path)\nprint(json.dumps(bool(merger.Merge())))\n"


def make(path, base, entries, skipped=0, flush=4, swap=0, table=1, plain=0):
    by_another_root(MAKE, path, base, entries, skipped, flush, swap, table, plain)
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of C++ ROOT: some as the first, one whose branches have another order, one without a table, an empty one."""
    folder = tmp_path_factory.mktemp("references")
    made = {
        "first": make(folder / "first.root", 0, 11, 1),
        "more": make(folder / "more.root", 100, 2500, 7, 700),
        "swapped": make(folder / "swapped.root", 5000, 9, 3, 0, 1),
        "none": make(folder / "none.root", 6000, 5000, 2, 0, 0, 0),
        "empty": make(folder / "empty.root", 7000, 0),
    }
    return made, dict(zip(made, by_root(FOUND, *made.values()), strict=True))


def trees(name):
    return name == "t"


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ["first", "more"],
        ["more", "first", "first"],
        ["first", "swapped", "more"],
        ["empty", "first"],
        ["first", "none", "swapped"],
        ["swapped", "empty", "more", "none"],
    ],
    ids="-".join,
)
def test_references_of_several_trees_lead_to_their_objects(files, tmp_path, names):
    made, found = files
    out = tmp_path / "out.root"
    forthwith.merge([made[name] for name in names], out, filter_object=trees)
    # The same between those of other files, of which one has several processes now.
    again = tmp_path / "again.root"
    forthwith.merge([made["swapped"], out, made["first"]], again, filter_object=trees, compression="zstd")
    all_found = "".join(found[name] for name in names)
    assert by_root(FOUND, out, again) == [all_found, found["swapped"] + all_found + found["first"]]


def test_references_are_those_of_hadd(files, tmp_path):
    made, found = files
    paths = [made["first"], made["more"]]
    hadd, ours, more = (tmp_path / f"{name}.root" for name in ["hadd", "ours", "more"])
    assert by_root(MERGED, hadd, *paths) is True
    forthwith.merge(paths, ours, filter_object=trees)
    forthwith.merge([hadd, made["swapped"]], more, filter_object=trees)
    by_hadd, by_us, both = by_root(FOUND, hadd, ours, more)
    assert (by_us, both) == (by_hadd, by_hadd + found["swapped"])


def test_references_of_chosen_entries_and_branches(files, tmp_path):
    made, found = files
    some, slim = tmp_path / "some.root", tmp_path / "slim.root"
    paths = [made["first"], made["swapped"], made["more"]]
    every = "".join(found[name] for name in ["first", "swapped", "more"]).split("|")
    kept = [0, 3, 4, 10, 12, 13, 19, 400, 401, 2519]
    forthwith.merge(paths, some, filter_object=trees, entries=kept)
    expected = "".join(f"{every[2 * number]}|{every[2 * number + 1]}|" for number in kept)
    chosen = ["i", "one", "ref"]
    forthwith.merge(paths, slim, filter_object=trees, filter_name=chosen)
    # Objects of branches that were left out are not there.
    ones = [name if name.startswith("one") else "-" for name in every[:-1:2]]
    assert by_root(FOUND, some, slim) == [expected, "".join(f"{name}|-|" for name in ones)]
    with forthwith.open(slim) as file:
        assert file["t"].keys() == chosen
    with pytest.raises(forthwith.UnsupportedError, match="a later one alone has a table of references"):
        forthwith.merge([made["none"], made["first"]], tmp_path / "no.root", filter_object=trees)


def test_a_tree_with_references_is_copied_with_some_branches(files, tmp_path):
    """Its table names branches that were left out, and is the last to do so."""
    made, found = files
    forthwith.merge(made["first"], tmp_path / "out.root", filter_name=["i", "two", "other"])
    twos = found["first"].split("|")[1:-1:2]
    assert by_root(FOUND, tmp_path / "out.root") == ["".join(f"-|{name}|" for name in twos)]


def test_tables_behind_the_entries_of_all_branches_are_damage(tmp_path):
    """Empty tables would be written for the entries before them until the disk is full."""
    path = make(tmp_path / "damaged.root", 0, 11, 1, plain=1)
    whole = path.read_bytes()
    tree = whole.index(b"\x05TTree\x01t")
    entries = whole.index(struct.pack(">q", 11), tree)
    # The only basket of tables is in the record. What the branch says of it: the entry behind its last, its entries and
    # the first of them; bytes of baskets, and the entries that they begin with.
    arrays = b"\x01" + bytes(40) + b"\x01"
    behind = whole.index(struct.pack(">q", 11), whole.index(b"TBranchRef", tree))
    count = whole.index(struct.pack(">q", 11), behind + 8)
    begin = whole.index(arrays + bytes(80), count) + len(arrays)
    far = 1 << 40
    damaged = bytearray(whole)
    damaged[entries : entries + 8] = struct.pack(">q", 2 * far)
    for place, number in [(behind, far + 11), (count + 8, far), (begin, far)]:
        damaged[place : place + 8] = struct.pack(">q", number)
    path.write_bytes(damaged)
    with pytest.raises(forthwith.DamagedFileError, match="begin at entry 1099511627776, behind the 11 of all branches"):
        forthwith.merge(path, tmp_path / "out.root", filter_object=trees)
    # Where the tables begin with the tree, the entries that no branch has get none.
    for place in (behind, count + 8, begin):
        damaged[place : place + 8] = whole[place : place + 8]
    path.write_bytes(damaged)
    forthwith.merge(path, tmp_path / "out.root", filter_object=trees)
    assert (tmp_path / "out.root").stat().st_size < 2 * len(whole)


def test_a_tree_that_is_extended_has_the_entries_that_it_says(tmp_path):
    """Its baskets stay unread, but entries without a table get one when others have some."""
    make(tmp_path / "whole.root", 0, 11, 1, flush=0, plain=1)
    path = tmp_path / "slim.root"
    forthwith.merge(tmp_path / "whole.root", path, filter_object=trees, filter_name=["i"], compression=None)
    whole = path.read_bytes()
    tree = whole.index(b"\x05TTree\x01t")
    tables = whole.index(b"TBranchRef", tree)
    far = whole[tree:tables].replace(struct.pack(">q", 11), struct.pack(">q", 1 << 40))
    path.write_bytes(whole[:tree] + far + whole[tables:])
    for _ in range(2):
        with (
            pytest.raises(forthwith.DamagedFileError, match="number of entries in the basket is 11, expected 10995"),
            forthwith.update(path) as file,
        ):
            file["t"].extend({"i": [1]})
        assert path.stat().st_size == len(whole)
    path.write_bytes(whole)
    with forthwith.update(path) as file:
        file["t"].extend({"i": [1]})
    with forthwith.open(path) as file:
        assert file["t"]["i"].array().tolist() == [*range(11), 1]


def test_objects_of_other_processes_keep_their_references(files, tmp_path):
    made, _ = files
    out = tmp_path / "out.root"
    names = ["first", "more", "swapped", "none"]
    forthwith.merge([made[name] for name in names], out, filter_object=lambda name: name not in ("t", "list"))
    merged, *apart = by_root(KEYS, out, *(made[name] for name in names))
    assert merged == "".join(apart)


def test_collections_with_references_of_several_processes_are_refused(files, tmp_path):
    made, _ = files
    paths = [made["first"], made["more"]]
    with pytest.raises(forthwith.UnsupportedError, match=r"other processes.* in one collection.*\n.*more"):
        forthwith.merge(paths, tmp_path / "out.root", filter_object=lambda name: name == "list")
    forthwith.merge(paths[1:], tmp_path / "out.root", filter_object=lambda name: name == "list")
