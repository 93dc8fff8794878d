"""Collections of pointers of C++ ROOT, its arrays of clones, and arrays in items, in trees that are extended."""

import awkward as ak
import own_entries
import pytest
from root_judge import by_root
from test_write_extend import contents
from test_write_extend_objects import made

import forthwith

TRACK = """
#include <vector>
struct Track {
   int n = 0;
   float *x = nullptr; //[n]
   double y = 0;
};
#include <TBuffer.h>
#include <TObject.h>
struct Odd : public TObject {
   int a = 0;
   ClassDef(Odd, 1)
};
void Odd::Streamer(TBuffer &b) {
   unsigned begin, count;
   if (b.IsReading()) {
      b.ReadVersion(&begin, &count);
      b >> a >> a;
      b.CheckByteCount(begin, count, IsA());
   } else {
      count = b.WriteVersion(IsA(), true);
      b << a << a;
      b.SetByteCount(count, true);
   }
}
#ifdef __CLING__
#pragma link C++ class Odd-;
#pragma link C++ class Track+;
#pragma link C++ class std::vector<Track>+;
#endif
"""

POINTERS = """
ROOT.gErrorIgnoreLevel = ROOT.kFatal
import os
ROOT.gROOT.LoadMacro(os.path.dirname(sys.argv[1]) + '/track.C+')
ROOT.gInterpreter.Declare('''
#include <sstream>
struct All {
   // ROOT deletes what it reads anew.
   TObjArray *arrays = new TObjArray; TList *lists = new TList; TMap *maps = new TMap; THashList *hashes = new THashList;
   TClonesArray *cloned = new TClonesArray("TVector2"); std::vector<Track> *tracked = new std::vector<Track>;
   All() {}
   void fill(TTree &tree, int entries) {
      tree.Branch("array", "TObjArray", &arrays, 32000, 0); tree.Branch("list", "TList", &lists, 32000, 0);
      tree.Branch("map", "TMap", &maps, 32000, 0); tree.Branch("hash", "THashList", &hashes, 32000, 0);
      tree.Branch("clones", "TClonesArray", &cloned, 32000, 0); tree.Branch("tracks", "vector<Track>", &tracked, 32000, 99);
      tree.Branch("whole", "vector<Track>", &tracked, 32000, 0);
      for (int e = 0; e < entries; e++) {
         arrays->Clear(); lists->Clear(); maps->Clear(); hashes->Clear(); cloned->Clear(); tracked->clear();
         for (int k = 0; k < e; k++) {
            auto text = new TObjString(Form("s%d", k)); auto named = new TNamed(Form("n%d", k), "t");
            arrays->Add(k % 3 == 2 ? nullptr : k % 2 ? (TObject *)text : named);
            lists->Add(named, k % 2 ? "an option" : "");
            hashes->Add(named); maps->Add(named, text);
            auto vector = (TVector2 *)cloned->ConstructedAt(k); *vector = TVector2(k, e);
            tracked->push_back({k, new float[4]{1, 2, 3, float(e)}, e + .5});
         }
         tree.Fill();
      }
      tree.ResetBranchAddresses();
   }
   static std::string of(const TObject *one) {
      return one ? std::string(one->ClassName()) + ' ' + one->GetName() : std::string("none");
   }
   std::string tell(TTree &tree, Long64_t entry) {
      tree.SetBranchAddress("array", &arrays); tree.SetBranchAddress("list", &lists); tree.SetBranchAddress("map", &maps);
      tree.SetBranchAddress("hash", &hashes); tree.SetBranchAddress("clones", &cloned);
      tree.SetBranchAddress("tracks", &tracked);
      std::ostringstream out;
      tree.GetEntry(entry);
      for (int k = 0; k < arrays->GetEntriesFast(); k++) out << ',' << of(arrays->At(k));
      out << ';';
      for (auto one : *lists) out << ',' << of(one);
      out << ';';
      for (auto one : *hashes) out << ',' << of(one);
      out << ';' << maps->GetSize();
      for (int k = 0; k < maps->GetSize(); k++)
         out << ',' << of(maps->GetValue(Form("n%d", k)));
      out << ';';
      for (int k = 0; k < cloned->GetEntriesFast(); k++) {
         auto vector = (TVector2 *)cloned->At(k);
         out << ',' << vector->X() << ' ' << vector->Y();
      }
      out << ';';
      for (auto &track : *tracked) {
         out << ',' << track.n << ' ' << track.y;
         for (int k = 0; k < track.n; k++) out << ' ' << track.x[k];
      }
      tree.ResetBranchAddresses();
      return out.str();
   }
};
''')
"""

TELL = """
file = ROOT.TFile(sys.argv[1])
tree = file.Get('t')
every = ROOT.All()
print(json.dumps([str(every.tell(tree, entry)) for entry in range(tree.GetEntries())]))
"""


@pytest.mark.slow
def test_collections_of_pointers_are_extended(tmp_path):
    (tmp_path / "track.C").write_text(TRACK)
    path = made(tmp_path, POINTERS, "ROOT.All().fill(tree, 5)")
    before = contents(path, "t")
    for _ in range(2):
        with forthwith.open(path) as file, forthwith.update(path) as to:
            table = to["t"]
            table.extend(own_entries.columns(file["t"], table.columns, 5))
    after = contents(path, "t")
    for name, values in before.items():
        assert after[name] == values * 3, name
    told = by_root(POINTERS + TELL, path)
    assert len(set(told)) == 5
    assert told[4].startswith(",TNamed n0,TObjString s1,none,TObjString s3;,TNamed n0,TNamed n1,TNamed n2,TNamed n3;")
    assert told == told[:5] * 3


@pytest.mark.slow
def test_arrays_in_items_have_the_length_that_the_item_says(tmp_path):
    (tmp_path / "track.C").write_text(TRACK)
    path = made(tmp_path, POINTERS, "ROOT.All().fill(tree, 3)")
    before = contents(path, "t")
    with forthwith.open(path) as file, forthwith.update(path) as to:
        table = to["t"]
        good = own_entries.columns(file["t"], table.columns, 3)
        track = {"n": 0, "x": [], "y": 2.0}
        tracks = [[track] * 5, [{"n": 1, "x": [5.0], "y": 1.0}], [track, {"n": 2, "x": [1.0], "y": 3.0}]]
        for name in ("tracks", "whole"):
            with pytest.raises(forthwith.RequestError, match=rf"(?s)length that .*says.*t/{name}/x, entry 5"):
                table.extend({**good, name: ak.Array(tracks)})
        # There may be no array, whatever counts it.
        tracks[2][1]["x"] = []
        table.extend({**good, "tracks": ak.Array(tracks)})
    after = contents(path, "t")
    assert {name: values[:3] for name, values in after.items()} == before
    told = by_root(POINTERS + TELL.replace("range(tree.GetEntries())", "range(5)"), path)
    assert told[4].endswith(";,1 1 5")


@pytest.mark.slow
def test_an_object_goes_to_the_class_that_has_its_members(tmp_path):
    """Of several, the name of the record says which; without one, there has to be one that has these members."""
    (tmp_path / "track.C").write_text(TRACK)
    path = made(tmp_path, POINTERS, "ROOT.All().fill(tree, 2)")
    with forthwith.open(path) as file, forthwith.update(path) as to:
        table = to["t"]
        good = own_entries.columns(file["t"], table.columns, 1)
        for array in ([[{"fString": "plain"}]], ak.with_name([[{"fName": "a", "fTitle": "b"}]], "TNamed")):
            table.extend({**good, "array": array})
        with pytest.raises(forthwith.RequestError, match=r"(?s)the name of a record says .*TNamed.*t/array"):
            table.extend({**good, "array": [[{"no": "such"}]]})
    told = by_root(POINTERS + TELL, path)
    assert [one.split(";")[0] for one in told[2:]] == [",TObjString plain", ",TNamed a"]


OWN = """
ROOT.gErrorIgnoreLevel = ROOT.kFatal
import os
ROOT.gROOT.LoadMacro(os.path.dirname(sys.argv[1]) + '/track.C+')
file = ROOT.TFile(sys.argv[1], 'recreate')
for name in ('TOrdCollection', 'Odd'):
    tree = ROOT.TTree(name, '')
    one = getattr(ROOT, name)()
    tree.Branch('one', name, one, 32000, 0)
    tree.Fill()
    tree.Write()
file.Close()
print('null')
"""


@pytest.mark.slow
def test_classes_with_a_streamer_of_their_own_are_refused(tmp_path):
    """ROOT's by their names; others, which no description tells, by their first entry."""
    (tmp_path / "track.C").write_text(TRACK)
    path = tmp_path / "own.root"
    by_root(OWN, path)
    before = path.read_bytes()
    with forthwith.update(path) as file:
        with pytest.raises(
            forthwith.UnsupportedError, match=r"(?s)TOrdCollection, which has a streamer.*TOrdCollection/one"
        ):
            file["TOrdCollection"]
        with pytest.raises(forthwith.UnsupportedError, match=r"(?s)first entry cannot be read: .*:Odd/one, basket 0"):
            file["Odd"]
    assert path.read_bytes() == before
