// rules.root: a class with a read rule, so that the streamer record has a list of rules beside the streamer infos.
#include "classes.h"
#include <TFile.h>
#include <TTree.h>

void rules()
{
  TFile file("rules.root", "RECREATE", "", 505);
  Ruled ruled;
  Ruled *object = &ruled;
  TTree tree("tree", "objects of a class with a rule");
  tree.Branch("split.", &object, 1000, 99);
  tree.Branch("whole", &object, 1000, 0);
  for (int k = 0; k < 20; k++) {
    ruled.stored = k * k;
    ruled.text = std::string(k % 5, 'r');
    tree.Fill();
  }
  tree.Write();
}
