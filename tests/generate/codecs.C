// codec-<name>.root: one small file for each compression algorithm, where every record uses it.
// multiblock.root: baskets of more than 16 MiB, which are compressed in several blocks.
#include "classes.h"
#include <TBranch.h>
#include <TFile.h>
#include <TH1F.h>
#include <TRandom3.h>
#include <TTree.h>
#include <cstring>
#include <utility>

namespace {

void codec(const char *name, int setting)
{
  TFile file(TString::Format("codec-%s.root", name), "RECREATE", name, setting);
  TRandom3 rng(7);
  TTree tree("events", "compressible and incompressible columns");
  Int_t i, n;
  Float_t x[8];
  UChar_t noise[16];
  std::vector<std::vector<double>> rows;
  tree.Branch("i", &i, "i/I", 2000);
  tree.Branch("n", &n, "n/I", 2000);
  tree.Branch("x", x, "x[n]/F", 2000);
  tree.Branch("noise", noise, "noise[16]/b", 2000); // its baskets stay as they are, with no mark of a codec
  tree.Branch("rows", &rows, 2000);
  TH1F h("h", "uniform", 50, 0, 1);
  for (int entry = 0; entry < 400; entry++) {
    i = entry / 3;
    n = rng.Integer(9);
    for (float &v : x)
      v = rng.Integer(32) / 4.f;
    for (auto &v : noise)
      v = rng.Integer(256);
    rows.assign(rng.Integer(3), std::vector<double>(rng.Integer(4), entry));
    h.Fill(rng.Uniform());
    tree.Fill();
  }
  file.Write();
}

void multiblock()
{
  TFile file("multiblock.root", "RECREATE", "", 505);
  TTree tree("blocks", "one basket of 17.2 MB per branch");
  tree.SetAutoFlush(0);
  Int_t x[1024], n;
  Short_t y[1024];
  tree.Branch("n", &n, "n/I");
  for (auto [name, setting] : {std::pair("zlib", 101), std::pair("lzma", 201), std::pair("lz4", 401), std::pair("zstd", 501)})
    tree.Branch(name, x, TString(name) + "[1024]/I", 18000000)->SetCompressionSettings(setting);
  tree.Branch("jagged", y, "jagged[n]/S", 18000000);
  const int last = 4200;
  for (int entry = 0; entry < last; entry++) {
    // Runs far longer than any codec's window, so that the file is small; the counter changes now and then.
    for (int k = 0; k < 1024; k++) {
      x[k] = entry / 64;
      y[k] = -entry / 64;
    }
    n = 1024 - entry / 64;
    tree.Fill();
  }
  file.Write();
}

} // namespace

void codecs()
{
  codec("none", 0);
  codec("zlib", 106);
  codec("lzma", 206);
  codec("old", 306);
  codec("lz4", 406);
  codec("zstd", 506);
  multiblock();
}
