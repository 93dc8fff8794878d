"""Writes FOLDER/long.root with C++ ROOT: branches with baskets of more than 3 MB, most of them not compressed, which are decoded in several steps.

    python tests/generate/long.py FOLDER

needs PyROOT (``pip install root==0.1a12``) and ``g++``. The file is too large to be kept: ``tests/python/root/test_long.py`` has it made.
``long.root.baskets.json`` says where the baskets of each branch are, and the sum of all its numbers and lengths of strings, as ROOT reads them.
"""

import json
import pathlib
import sys
import tempfile

import ROOT
import script

ENTRIES = 15_000

SOURCE = r"""
#include <TBranch.h>
#include <TClonesArray.h>
#include <TFile.h>
#include <TTree.h>
#include <map>
#include <string>
#include <vector>

struct Hit {
  int a = 0;
  float x = 0;
  std::vector<short> v;
};
struct Event {
  int id = 0;
  std::string name;
  std::vector<Hit> hits;
  double p[3] = {0, 0, 0};
};
struct Spot : public TObject {
  int a = 0;
  std::vector<float> v;
  ClassDef(Spot, 1)
};
typedef std::vector<std::vector<float>> Rows;
typedef std::map<std::string, Rows> Table;

// The same on every machine. All numbers are eighths, so that sums are exact.
unsigned state = 1;
int roll(int below) { return (state = state * 1664525u + 1013904223u) / 65536 % below; }
float eighths() { return roll(4000) / 8.f - 250; }
std::string word() { return std::string(roll(20), 'a' + roll(26)); }
Rows rows(int most)
{
  Rows made(roll(most));
  for (auto &row : made)
    for (int k = roll(12); k > 0; k--)
      row.push_back(eighths());
  return made;
}
Hit hit()
{
  Hit made;
  made.a = roll(100), made.x = eighths(), made.v.assign(roll(8), roll(300));
  return made;
}

void write_long(const char *path, int entries)
{
  TFile file(path, "RECREATE", "", 0);
  TTree tree("t", "long baskets");
  tree.SetAutoFlush(0);
  double grid[32];
  int n;
  float x[128];
  Rows lists, packed;
  std::vector<std::string> words, packed_words;
  std::vector<Hit> hits, packed_hits;
  Table table;
  Event event;
  auto spots = new TClonesArray("Spot");
  spots->BypassStreamer(false);
  const int size = 3200000;
  tree.Branch("grid", grid, "grid[32]/D", size);
  tree.Branch("n", &n, "n/I");
  tree.Branch("x", x, "x[n]/F", size);
  tree.Branch("rows", &lists, size, 0);
  tree.Branch("words", &words, size, 0);
  tree.Branch("hits", &hits, size, 0);
  tree.Branch("table", &table, size, 0);
  tree.Branch("event", &event, size, 0);
  tree.Branch("spots", "TClonesArray", &spots, size, 0);
  tree.Branch("rows_zstd", &packed, size, 0)->SetCompressionSettings(501);
  tree.Branch("words_lz4", &packed_words, size, 0)->SetCompressionSettings(401);
  tree.Branch("hits_zlib", &packed_hits, size, 0)->SetCompressionSettings(101);
  for (int entry = 0; entry < entries; entry++) {
    for (auto &number : grid)
      number = eighths();
    n = roll(128);
    for (int k = 0; k < n; k++)
      x[k] = eighths();
    lists = rows(20), packed = rows(20);
    words.clear(), packed_words.clear(), hits.clear(), packed_hits.clear(), table.clear(), event.hits.clear(), spots->Delete();
    for (int k = roll(40); k > 0; k--)
      words.push_back(word());
    for (int k = roll(60); k > 0; k--)
      packed_words.push_back(word());
    for (int k = roll(18); k > 0; k--)
      hits.push_back(hit());
    for (int k = roll(22); k > 0; k--)
      packed_hits.push_back(hit());
    for (int k = roll(6); k > 0; k--)
      table[word()] = rows(8);
    event.id = entry, event.name = word();
    for (auto &number : event.p)
      number = eighths();
    for (int k = roll(16); k > 0; k--)
      event.hits.push_back(hit());
    for (int k = 0, all = roll(12); k < all; k++) {
      auto spot = static_cast<Spot *>(spots->ConstructedAt(k));
      spot->a = roll(50), spot->v.assign(roll(6), eighths());
    }
    tree.Fill();
  }
  file.Write();
}

struct Sum {
  static double of(double v) { return v; }
  static double of(const std::string &v) { return v.size(); }
  static double of(const Hit &v) { return v.a + v.x + of(v.v); }
  static double of(const Event &v) { return v.id + of(v.name) + of(v.hits) + v.p[0] + v.p[1] + v.p[2]; }
  static double of(const Spot &v) { return v.a + of(v.v); }
  static double of(const std::pair<const std::string, Rows> &v) { return of(v.first) + of(v.second); }
  static double of(const TClonesArray &v)
  {
    double made = 0;
    for (auto item : v)
      made += of(*static_cast<Spot *>(item));
    return made;
  }
  template <class C>
  static auto of(const C &all) -> decltype(all.begin(), 0.)
  {
    double made = 0;
    for (auto &item : all)
      made += of(item);
    return made;
  }
};
template <class T>
double total(TBranch *branch)
{
  T *object = nullptr;
  branch->SetAddress(&object);
  double made = 0;
  for (long long entry = 0; entry < branch->GetEntries(); entry++)
    branch->GetEntry(entry), made += Sum::of(*object);
  return made;
}
double sum_of(TTree *tree, const char *name)
{
  TBranch *branch = tree->GetBranch(name);
  const std::string kind = branch->GetClassName();
  if (kind == "vector<vector<float> >")
    return total<Rows>(branch);
  if (kind == "vector<string>")
    return total<std::vector<std::string>>(branch);
  if (kind == "vector<Hit>")
    return total<std::vector<Hit>>(branch);
  if (kind == "Event")
    return total<Event>(branch);
  if (kind == "TClonesArray")
    return total<TClonesArray>(branch);
  if (!kind.empty())
    return total<Table>(branch);
  double made = 0, grid[32];
  float x[128];
  int n = 0;
  tree->SetBranchAddress("n", &n), tree->SetBranchAddress("x", x), tree->SetBranchAddress("grid", grid);
  for (long long entry = 0; entry < tree->GetEntries(); entry++) {
    tree->GetBranch("n")->GetEntry(entry), branch->GetEntry(entry);
    if (*name == 'n')
      made += n;
    for (int k = 0; *name == 'x' && k < n; k++)
      made += x[k];
    for (int k = 0; *name == 'g' && k < 32; k++)
      made += grid[k];
  }
  return made;
}
#ifdef __ROOTCLING__
#pragma link C++ class Hit+;
#pragma link C++ class Event+;
#pragma link C++ class Spot+;
#pragma link C++ class std::vector<Hit>+;
#pragma link C++ class std::vector<std::vector<float>>+;
#pragma link C++ class std::map<std::string, std::vector<std::vector<float>>>+;
#endif
"""


def make(folder):
    """Writes the file, and what ROOT says of it."""
    with tempfile.TemporaryDirectory() as build:
        macro = pathlib.Path(build) / "long.C"
        macro.write_text(SOURCE)
        if ROOT.gROOT.LoadMacro(f"{macro}+") != 0:
            raise SystemExit("the classes do not compile")
        path = str(folder / "long.root")
        ROOT.write_long(path, ENTRIES)
        file = ROOT.TFile(path)
        tree = file.Get("t")
        told = {}
        for branch in tree.GetListOfBranches():
            places = [
                [int(branch.GetBasketSeek(k)), int(branch.GetBasketBytes()[k])] for k in range(branch.GetWriteBasket())
            ]
            name = str(branch.GetName())
            told[name] = {"baskets": places, "sum": float(ROOT.sum_of(tree, name))}
        (folder / "long.root.baskets.json").write_text(json.dumps(told))


ROOT.gErrorIgnoreLevel = ROOT.kError
if len(sys.argv) != 2:
    raise SystemExit(__doc__)
script.run(make, script.folder())
