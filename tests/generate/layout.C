// layout.root, layout-branch.root: where the entries of a tree are kept. Clusters of several sizes, baskets inside
// the tree object, offsets left out, branches that start late or end early, circular trees.
#include "classes.h"
#include <ROOT/TIOFeatures.hxx>
#include <TBranch.h>
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <cstring>

namespace {

TRandom3 rng;

// A column of each kind of framing. The values depend on the entry only, so they are the same in all these trees.
struct Row {
  Int_t i = 0, n = 0;
  Double_t d = 0;
  Float_t x[6];
  Short_t y[6][3];
  Char_t text[16] = "";
  std::vector<int> v;
  std::vector<std::vector<std::string>> words;
  std::string s;

  void branches(TTree &tree, int basket)
  {
    tree.Branch("i", &i, "i/I", basket);
    tree.Branch("d", &d, "d/D", basket);
    tree.Branch("n", &n, "n/I", basket);
    tree.Branch("x", x, "x[n]/F", basket);
    tree.Branch("y", y, "y[n][3]/S", basket);
    tree.Branch("text", text, "text/C", basket);
    tree.Branch("v", &v, basket);
    tree.Branch("words", &words, basket);
    tree.Branch("s", &s, basket);
  }
  void fill(int entry)
  {
    rng.SetSeed(1000 + entry);
    i = entry;
    d = entry / 8.;
    n = rng.Integer(7);
    for (int k = 0; k < 6; k++) {
      x[k] = rng.Integer(64) / 8.f;
      for (auto &z : y[k])
        z = rng.Integer(100);
    }
    strcpy(text, TString::Format("%.*s", int(rng.Integer(9)), "forthwith").Data());
    v.assign(rng.Integer(4), entry);
    words.clear();
    for (int k = rng.Integer(3); k > 0; k--)
      words.emplace_back(rng.Integer(3), std::string(rng.Integer(5), 'a' + entry % 26));
    s = std::string(rng.Integer(6), 's');
  }
};

void fillAndWrite(TTree &tree, Row &row, int entries)
{
  for (int entry = 0; entry < entries; entry++) {
    row.fill(entry);
    tree.Fill();
  }
  tree.Write();
}

} // namespace

void layout()
{
  TFile file("layout.root", "RECREATE", "", 505);
  {
    TTree tree("clusters", "clusters of 20, then of 35 entries; baskets of any size");
    Row row;
    tree.SetAutoFlush(20);
    row.branches(tree, 300);
    for (int entry = 0; entry < 300; entry++) {
      if (entry == 100)
        tree.SetAutoFlush(35);
      row.fill(entry);
      tree.Fill();
    }
    tree.Write();
  }
  {
    TTree tree("baskets", "no clusters, very many baskets");
    Row row;
    tree.SetAutoFlush(0);
    row.branches(tree, 64);
    fillAndWrite(tree, row, 120);
  }
  {
    TTree tree("offsetmap", "offsets left out of the baskets, where the counter gives them");
    ROOT::TIOFeatures features;
    features.Set(ROOT::Experimental::EIOFeatures::kGenerateOffsetMap);
    tree.SetIOFeatures(features);
    Row row;
    row.branches(tree, 400);
    fillAndWrite(tree, row, 150);
  }
  {
    // TTree::Write would move the last baskets to the file first; writing it as any object does not.
    TTree tree("embedded", "the last basket of each branch inside the tree object");
    Row row;
    row.branches(tree, 400);
    for (int entry = 0; entry < 110; entry++) {
      row.fill(entry);
      tree.Fill();
    }
    file.WriteTObject(&tree);
  }
  {
    TTree tree("inside", "all baskets inside the tree object");
    Row row;
    row.branches(tree, 32000);
    for (int entry = 0; entry < 12; entry++) {
      row.fill(entry);
      tree.Fill();
    }
    file.WriteTObject(&tree);
  }
  {
    TTree tree("embedded_offsetmap", "the last basket inside the tree object, offsets left out");
    ROOT::TIOFeatures features;
    features.Set(ROOT::Experimental::EIOFeatures::kGenerateOffsetMap);
    tree.SetIOFeatures(features);
    Row row;
    row.branches(tree, 400);
    for (int entry = 0; entry < 70; entry++) {
      row.fill(entry);
      tree.Fill();
    }
    file.WriteTObject(&tree);
  }
  {
    TTree tree("circular", "the last of 137 entries");
    tree.SetCircular(50);
    Row row;
    row.branches(tree, 32000);
    fillAndWrite(tree, row, 137);
  }
  {
    TTree tree("circular_inside", "the last of 137 entries, inside the tree object");
    tree.SetCircular(50);
    Row row;
    row.branches(tree, 32000);
    for (int entry = 0; entry < 137; entry++) {
      row.fill(entry);
      tree.Fill();
    }
    file.WriteTObject(&tree);
  }
  {
    TTree tree("first", "no branch has the first 1000 entries");
    Row row;
    row.branches(tree, 200);
    for (TObject *branch : *tree.GetListOfBranches())
      static_cast<TBranch *>(branch)->SetFirstEntry(1000);
    for (int entry = 0; entry < 60; entry++) {
      row.fill(entry);
      tree.Fill();
    }
    tree.SetEntries(1060);
    tree.Write();
  }
  {
    TTree tree("late", "branches that begin at entry 40");
    Int_t a = 0, n = 0;
    Float_t x[4];
    std::vector<int> v;
    tree.Branch("a", &a, "a/I", 200);
    for (int entry = 0; entry < 100; entry++) {
      if (entry == 40) {
        TBranch *late[] = {tree.Branch("n", &n, "n/I", 200), tree.Branch("x", x, "x[n]/F", 200), tree.Branch("v", &v, 200)};
        for (TBranch *branch : late)
          branch->SetFirstEntry(40);
      }
      a = entry;
      n = entry % 4;
      for (float &f : x)
        f = entry;
      v.assign(entry % 3, entry);
      tree.Fill();
    }
    tree.Write();
  }
  {
    TTree tree("short", "branches with fewer entries than the tree, and with none");
    Int_t a = 0, b = 0;
    std::vector<float> v;
    tree.Branch("a", &a, "a/I", 200);
    for (a = 0; a < 100; a++)
      tree.Fill();
    TBranch *fewer = tree.Branch("fewer", &b, "fewer/I", 200);
    TBranch *lists = tree.Branch("lists", &v, 200);
    tree.Branch("none", &b, "none/I", 200);
    for (b = 0; b < 60; b++) {
      fewer->Fill();
      v.assign(b % 4, b);
      if (b < 33)
        lists->Fill();
    }
    tree.Write();
  }
  {
    TTree tree("elsewhere", "a branch whose baskets are in another file");
    Int_t here = 0, there = 0;
    tree.Branch("here", &here, "here/I", 200);
    tree.Branch("there", &there, "there/I", 200)->SetFile("layout-branch.root");
    for (here = 0; here < 100; here++) {
      there = -here;
      tree.Fill();
    }
    file.cd();
    tree.Write();
    tree.ResetBranchAddresses();
  }
}
