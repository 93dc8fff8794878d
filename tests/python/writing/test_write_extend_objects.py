"""Objects of C++ ROOT in trees that are extended, judged by ROOT: divided ones and others, containers, several leaves."""

import awkward as ak
import numpy as np
import own_entries
import pytest
from root_judge import by_root
from test_write_extend import contents

import forthwith

MAKE = """
file = ROOT.TFile(sys.argv[1], 'recreate')
tree = ROOT.TTree('t', '')
FILL
tree.Write()
file.Close()
print('null')
"""


def made(tmp_path, classes, fill):
    """A file with a tree that C++ ROOT fills."""
    path = tmp_path / "root.root"
    by_root(classes + MAKE.replace("FILL", fill), path)
    return path


OBJECTS = """
ROOT.gErrorIgnoreLevel = ROOT.kWarning
ROOT.gInterpreter.Declare('''
#include <sstream>
struct Counts { int n = 0; float *x = nullptr; //[n]
  double a; float b[3]; std::vector<int> list; };
struct Two { int i; float f; };
struct Several { int n; int k; double x[4]; };
struct All {
   Two two; Several several; TLorentzVector vector, *at = &vector; TMatrixDSym matrix{2}, *square = &matrix; short s[2][2];
   Counts counts, *divided = &counts, *undivided = &counts; TObject object;
   std::set<int> set, *sets = &set; std::map<std::string, double> map, *maps = &map;
   std::multimap<std::string, int> names, *named = &names;
   void fill(TTree &tree, int entries) {
      tree.Branch("two", &two, "i/I:f/F"); tree.Branch("several", &several, "n/I:k/I:x[n]/D"); tree.Branch("s", s, "s[2][2]/S");
      tree.Branch("split", &vector, 32000, 99); tree.Branch("whole", &vector, 32000, 0); tree.Branch("matrix", &matrix);
      tree.Branch("set", &set); tree.Branch("map", &map); tree.Branch("names", &names);
      tree.Branch("object", &object);
      tree.Branch("divided.", &counts, 32000, 99); tree.Branch("undivided", &counts, 32000, 0);
      for (int e = 0; e < entries; e++) {
         two = {e, e / 2.f}; vector.SetXYZT(e, -e, 2 * e, .5); set = {e, e + 2}; map = {{"e", .5}, {std::to_string(e), e / 4.}};
         names = {{"a", e}, {"a", 1}}; matrix(0, 0) = e; matrix(0, 1) = matrix(1, 0) = -e;
         for (auto &row : s) for (auto &one : row) one = e;
         several = {e % 3, e, {e + .5, e + .25, 0, 0}};
         counts.n = e % 4; counts.x = new float[4]; counts.a = e; counts.list.assign(e % 2, e);
         for (int k = 0; k < 4; k++) counts.x[k] = k + e;
         for (auto &one : counts.b) one = e;
         tree.Fill();
      }
      tree.ResetBranchAddresses();
   }
   void bind(TTree &tree) {
      tree.SetBranchAddress("two", &two); tree.SetBranchAddress("several", &several); tree.SetBranchAddress("s", s);
      tree.SetBranchAddress("whole", &at); tree.SetBranchAddress("matrix", &square);
      tree.SetBranchAddress("set", &sets); tree.SetBranchAddress("map", &maps); tree.SetBranchAddress("names", &named);
      tree.SetBranchAddress("undivided", &undivided);
   }
   std::string tell(TTree &tree, Long64_t entry) {
      std::ostringstream out;
      out << tree.GetEntry(entry) << ';' << two.i << ',' << two.f << ';' << several.n << several.k;
      for (int k = 0; k < several.n; k++) out << ',' << several.x[k];
      out << ';' << s[0][1] << s[1][0] << ';' << at->X() << ',' << at->Y() << ',' << at->T();
      out << ';' << (*square)(0, 0) << (*square)(1, 0);
      for (auto one : *sets) out << ';' << one;
      for (auto &[key, one] : *maps) out << ';' << key << ':' << one;
      for (auto &[key, one] : *named) out << ';' << key << ':' << one;
      out << ';' << undivided->n;
      for (int k = 0; k < undivided->n; k++) out << ',' << undivided->x[k];
      out << undivided->a << undivided->b[2];
      for (auto one : undivided->list) out << ',' << one;
      for (auto name : {"split.fP.fX", "split.fE", "divided.n", "divided.x", "divided.a", "divided.b", "divided.list"}) {
         auto leaf = tree.FindLeaf(name);
         out << ';' << name << (leaf ? leaf->GetLen() : -1);
         for (int k = 0; leaf && k < leaf->GetLen(); k++) out << ',' << leaf->GetValue(k);
      }
      return out.str();
   }
};
''')
"""


def test_objects_of_root_are_extended(tmp_path):
    """Divided and undivided ones, sets and maps, several leaves in a branch: by their own entries, which C++ ROOT reads."""
    path = made(tmp_path, OBJECTS, "ROOT.All().fill(tree, 10)")
    before = contents(path, "t")
    for _ in range(2):
        with forthwith.open(path) as file, forthwith.update(path) as to:
            table = to["t"]
            table.extend(own_entries.columns(file["t"], table.columns, 10))
    after = contents(path, "t")
    for name, values in before.items():
        new = [0x0300_0000 if name.endswith("fBits") else value for value in values]
        assert after[name] == values + (new if name.endswith("fBits") else values) * 2, name
    tell = """
file = ROOT.TFile(sys.argv[1])
tree = file.Get('t')
every = ROOT.All()
every.bind(tree)
print(json.dumps([str(every.tell(tree, entry)) for entry in range(tree.GetEntries())]))
"""
    told = by_root(OBJECTS + tell, path)
    assert len(set(told)) == 10
    assert told == told[:10] * 3


LARGER = """
ROOT.gErrorIgnoreLevel = ROOT.kWarning
ROOT.gInterpreter.Declare('''
struct Mine { int fBits; double fUniqueID; int n = 0; float *x = nullptr; //[n]
};
struct Base { int x; virtual ~Base() {} };
struct One : public Base { };
struct Other : public Base { };
void fill(TTree &tree) {
   struct { int n; float x[20]; } list; struct { int k; char text[40]; } text; Mine mine; double packed; Base *base = nullptr;
   tree.Branch("list", &list, "n/I:x[n]/F"); tree.Branch("text", &text, "k/I:text/C"); tree.Branch("mine.", &mine, 32000, 99);
   tree.Branch("packed", &packed, "packed/d[-4,4,16]");
   for (int e = 0; e < 3; e++) {
      list.n = e; mine.n = e; mine.x = new float[3]{1, 2, 3}; mine.fBits = e; mine.fUniqueID = e / 2.; packed = e;
      for (auto &one : list.x) one = e;
      text.k = e; snprintf(text.text, 40, "t%d", e);
      tree.Fill();
   }
   tree.ResetBranchAddresses();
}
std::string tell(TTree &tree, Long64_t entry) {
   struct { int n; float x[20]; } list; struct { int k; char text[40]; } text; Mine mine, *at = &mine; double packed;
   tree.SetBranchAddress("list", &list); tree.SetBranchAddress("text", &text); tree.SetBranchAddress("mine.", &at);
   tree.SetBranchAddress("packed", &packed);
   tree.GetEntry(entry);
   std::string out = std::to_string(list.n) + ':';
   for (int k = 0; k < list.n; k++) out += std::to_string(int(list.x[k])) + ',';
   out += std::to_string(text.k) + text.text + ':' + std::to_string(mine.fBits);
   out += ',' + std::to_string(int(10 * mine.fUniqueID));
   for (int k = 0; k < mine.n; k++) out += ',' + std::to_string(int(mine.x[k]));
   return out + ':' + std::to_string(int(100 * packed));
}
''')
"""


def test_larger_counts_and_texts_than_before_are_read_by_root(tmp_path):
    """ROOT makes room by what leaves say of their largest values. Members with the names of ``TObject``'s are no others."""
    path = made(tmp_path, LARGER, "ROOT.fill(tree)")
    more = {
        "list": [{"n": 5, "x": [1, 2, 3, 4, 5]}],
        "text": [{"k": 7, "text": "a much longer text"}],
        "mine": [{"fBits": 9, "fUniqueID": 2.5, "n": 4, "x": [4, 5, 6, 7]}],
        "packed": [50.0],
    }
    with forthwith.update(path) as file:
        file["t"].extend(more)
        with pytest.raises(forthwith.RequestError, match=r"(?s)NUL.*t/text"):
            file["t"].extend({**more, "text": [{"k": 7, "text": "a\0b"}]})
    tell = """
file = ROOT.TFile(sys.argv[1])
tree = file.Get('t')
print(json.dumps([str(ROOT.tell(tree, entry)) for entry in range(tree.GetEntries())] + [tree.GetBranch('mine.n').GetMaximum()]))
"""
    *told, largest = by_root(LARGER + tell, path)
    assert largest == 4
    assert told[2] == "2:2,2,2t2:2,10,1,2:200"
    assert told[3:] == ["5:1,2,3,4,5,7a much longer text:9,25,4,5,6,7:400"]
    assert contents(path, "t")["packed"][3:] == [4.0]


def test_objects_that_cannot_be_are_refused(tmp_path):
    path = made(tmp_path, OBJECTS, "ROOT.All().fill(tree, 2)")
    before = contents(path, "t")
    with forthwith.open(path) as file, forthwith.update(path) as to:
        good = own_entries.columns(file["t"], to["t"].columns, 2)
        for name, wrong, message in [
            ("set", [[1, 1], []], "duplicate value in a set"),
            ("map", [[("a", 0.5)], [("b", 1.0), ("b", 2.0)]], "duplicate value in a set, or duplicate key in a map"),
            ("undivided", [{**one, "n": one["n"] + 1} for one in good["undivided"].to_list()], "another member says"),
            ("divided", [{**one, "n": one["n"] + 1} for one in good["divided"].to_list()], "a member beside it says"),
            ("several", [{"n": 2, "k": 1, "x": [0.5]}] * 2, "a member beside it says"),
            ("matrix", [{**one, "fElements": [1.0]} for one in good["matrix"].to_list()], "rows and columns"),
            ("whole", [{"fX": 1.0}] * 2, "was announced"),
        ]:
            with pytest.raises(forthwith.RequestError, match=f"(?s){message}.*t/{name}"):
                to["t"].extend({**good, name: wrong})
    assert contents(path, "t") == before


POINTERS = """
# Without a dictionary, ROOT says that it does not save a pointer, and saves it.
ROOT.gErrorIgnoreLevel = ROOT.kFatal
ROOT.gInterpreter.Declare('''
struct First { int x = 0; virtual ~First() {} };
struct Second : public First { };
struct Third : public First { };
struct Holder { First *p = nullptr; int k = 0; };
void fill(TTree &tree) {
   Holder holder;
   tree.Branch("holder", &holder, 32000, 0);
   for (int e = 0; e < 3; e++) {
      holder.p = e == 0 ? new Second : e == 1 ? (First *)new Third : nullptr;
      if (holder.p) holder.p->x = e;
      holder.k = e;
      tree.Fill();
   }
   tree.ResetBranchAddresses();
}
std::string tell(TTree &tree, Long64_t entry) {
   Holder holder, *at = &holder;
   tree.SetBranchAddress("holder", &at);
   tree.GetEntry(entry);
   auto p = holder.p;
   auto name = !p ? "none" : dynamic_cast<Second *>(p) ? "Second" : dynamic_cast<Third *>(p) ? "Third" : "First";
   return std::string(name) + ' ' + std::to_string(p ? p->x : 0) + ' ' + std::to_string(holder.k);
}
''')
"""


def test_a_pointer_is_of_the_class_that_its_record_has_the_name_of(tmp_path):
    """Whatever the order of the alternatives, which have the same members here."""
    path = made(tmp_path, POINTERS, "ROOT.fill(tree)")

    def objects(*pairs):
        parts = [ak.with_name(ak.Array([{"x": x}]), name).layout for name, x in pairs]
        index = ak.index.Index64(np.zeros(len(parts), "i8"))
        tags = ak.index.Index8(np.arange(len(parts), dtype="i1"))
        pointed = ak.contents.UnionArray(tags, index, parts) if len(parts) > 1 else parts[0]
        numbers = ak.contents.NumpyArray(np.arange(len(parts), dtype="i4"))
        return ak.Array(ak.contents.RecordArray([pointed, numbers], ["p", "k"]))

    with forthwith.open(path) as file, forthwith.update(path) as to:
        own = file["t/holder"].array()
        for more in [
            objects(("Third", 30), ("First", 10), ("Second", 20)),
            objects(("Second", 7)),
            [{"p": None, "k": 5}],
            own,
        ]:
            to["t"].extend({"holder": more})
        with pytest.raises(forthwith.RequestError, match="announced"):
            to["t"].extend({"holder": [{"p": {"x": 1}, "k": 5}]})
    tell = """
file = ROOT.TFile(sys.argv[1])
tree = file.Get('t')
print(json.dumps([str(ROOT.tell(tree, entry)) for entry in range(tree.GetEntries())]))
"""
    old = ["Second 0 0", "Third 1 1", "none 0 2"]
    added = ["Third 30 0", "First 10 1", "Second 20 2", "Second 7 0", "none 0 5"]
    assert by_root(POINTERS + tell, path) == old + added + old
