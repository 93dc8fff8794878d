// trees.root: trees and what belongs to them besides columns; unusual trees and names of branches.
#include <TDirectory.h>
#include <TFile.h>
#include <TNamed.h>
#include <TNtuple.h>
#include <TNtupleD.h>
#include <TParameter.h>
#include <TRandom3.h>
#include <TTree.h>
#include <vector>

void trees()
{
  TFile file("trees.root", "RECREATE", "", 505);
  TRandom3 rng(5);
  Int_t run = 0, event = 0;
  Float_t x = 0;
  {
    TTree tree("empty", "branches, but no entries");
    std::vector<float> v;
    Float_t a[5];
    Char_t text[8] = "";
    tree.Branch("x", &x, "x/F");
    tree.Branch("n", &run, "n/I");
    tree.Branch("a", a, "a[n]/F");
    tree.Branch("v", &v);
    tree.Branch("text", text, "text/C");
    tree.Write();
  }
  TTree("none", "no branches").Write();
  {
    TTree tree("counted", "no branches, 17 entries");
    tree.SetEntries(17);
    tree.Write();
  }
  {
    TNtuple ntuple("ntuple", "a TNtuple", "a:b:c");
    TNtupleD ntupled("ntupled", "a TNtupleD", "a:b:c");
    for (int k = 0; k < 50; k++) {
      ntuple.Fill(rng.Gaus(), rng.Gaus(), k);
      ntupled.Fill(rng.Gaus(), rng.Gaus(), k);
    }
    ntuple.Write();
    ntupled.Write();
  }
  {
    TTree tree("friend", "columns for main");
    tree.Branch("y", &x, "y/F");
    for (int k = 0; k < 40; k++) {
      x = k * 0.5f;
      tree.Fill();
    }
    tree.Write();
  }
  {
    TTree tree("main", "aliases, user info, a friend, an index, two cycles");
    tree.Branch("run", &run, "run/I");
    tree.Branch("event", &event, "event/I");
    tree.Branch("x", &x, "x/F")->SetTitle("x/F"); // a title is what describes the leaves
    tree.SetAlias("twice", "2*x");
    tree.SetAlias("label", "run*1000+event");
    tree.GetUserInfo()->Add(new TNamed("origin", "generated"));
    tree.GetUserInfo()->Add(new TParameter<double>("luminosity", 36.3));
    tree.AddFriend("friend");
    tree.SetWeight(0.5);
    for (int k = 0; k < 40; k++) {
      run = k / 10;
      event = 100 - k;
      x = rng.Gaus();
      tree.Fill();
      if (k == 19)
        tree.AutoSave(); // cycle 1
    }
    tree.BuildIndex("run", "event");
    tree.Write();
  }
  {
    TTree tree("names", "names of branches that need care");
    std::vector<int> v;
    tree.Branch("with.dot", &x, "with.dot/F");
    tree.Branch("with space", &x, "with space/F");
    tree.Branch("with/slash", &x, "leaf/F");
    tree.Branch("with;semicolon", &x, "leaf/F");
    tree.Branch("with[bracket]", &x, "leaf/F");
    tree.Branch("h\xc3\xa9", &x, "leaf/F");
    tree.Branch("vector.dot", &v);
    tree.Branch("other_leaf", &x, "leaf/F"); // a leaf that has not the name of its branch
    for (int k = 0; k < 10; k++) {
      x = k;
      v.assign(k % 3, k);
      tree.Fill();
    }
    tree.Write();
  }
}
