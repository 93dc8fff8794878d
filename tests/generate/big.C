// big.root: a file of more than 2 GB, with 64-bit positions in its header, keys and directories. Nearly all of it is a
// hole that the file system does not store; pieces.py keeps what is not (big.root.sparse).
#include "classes.h"
#include <TFile.h>
#include <TFree.h>
#include <TH1F.h>
#include <TNamed.h>
#include <TTree.h>

void big()
{
  TFile file("big.root", "RECREATE", "", 505);
  Int_t i = 0, n = 0;
  Float_t x[3];
  std::vector<std::vector<float>> rows;
  TNamed("before", "below 2 GB").Write();
  TTree tree("tree", "baskets on both sides of 2 GB");
  tree.Branch("i", &i, "i/I", 200);
  tree.Branch("n", &n, "n/I", 200);
  tree.Branch("x", x, "x[n]/F", 200);
  tree.Branch("rows", &rows, 200);
  for (i = 0; i < 200; i++) {
    if (i == 100) {
      // From here on ROOT allocates behind 2.1 GB, as if so much had been written.
      static_cast<TFree *>(file.GetListOfFree()->Last())->SetFirst(2100000000);
      file.SetEND(2100000000);
    }
    n = i % 4;
    for (float &v : x)
      v = i;
    rows.assign(i % 3, std::vector<float>(i % 4, i));
    tree.Fill();
  }
  tree.Write();
  file.mkdir("directory", "beyond 2 GB")->cd();
  TH1F h("h", "beyond 2 GB", 4, 0, 4);
  for (int k = 0; k < 10; k++)
    h.Fill(k % 5);
  h.Write();
}
