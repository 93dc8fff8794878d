// keys.root: directories, cycles, deleted keys and unusual names; histograms and some other objects.
#include <TDirectory.h>
#include <TFile.h>
#include <TGraph.h>
#include <TH1.h>
#include <TH2.h>
#include <TH3.h>
#include <TList.h>
#include <TNamed.h>
#include <TObjString.h>
#include <TParameter.h>
#include <TProfile.h>
#include <TRandom3.h>
#include <TTree.h>

namespace {

void note(const char *name, const char *title = "") { TNamed(name, title).Write(); }

void tree(const char *name, int entries)
{
  TTree t(name, "");
  Int_t x;
  t.Branch("x", &x, "x/I", 400);
  for (x = 0; x < entries; x++)
    t.Fill();
  t.Write();
}

template <class H, class... A>
void histogram(TRandom3 &rng, A... arguments)
{
  H h(arguments...);
  for (int k = 0; k < 300; k++) {
    if constexpr (std::is_base_of_v<TH3, H>)
      h.Fill(rng.Gaus(), rng.Gaus(), rng.Gaus());
    else if constexpr (std::is_base_of_v<TH2, H> || std::is_same_v<H, TProfile>)
      h.Fill(rng.Gaus(), rng.Gaus());
    else
      h.Fill(rng.Gaus(), 1.0);
  }
  h.Write();
}

} // namespace

void keys()
{
  TFile file("keys.root", "RECREATE", "keys", 505);
  for (int cycle = 1; cycle <= 12; cycle++)
    note("cycles", TString::Format("cycle %d", cycle));
  for (int cycle = 1; cycle <= 6; cycle++)
    note("thinned", TString::Format("cycle %d", cycle));
  file.Delete("thinned;2");
  file.Delete("thinned;5");
  TNamed("large", std::string(5000, 'x').c_str()).Write();
  note("deleted");
  note("after");
  file.Delete("deleted;*");
  file.Delete("large;*"); // leaves a gap that the next records fill in part
  note("slash/in/name", "a/b is not a directory here");
  note("semicolon;7", "the cycle is 1");
  note("dot.in.name");
  note("colon:in:name");
  note(" spaces ");
  note("star*question?[bracket]");
  note("\xc3\xbcnic\xc3\xb6" "de \xe2\x82\xac");
  note("long", std::string(300, 't').c_str());
  note((std::string(260, 'n') + "!").c_str(), "a name of more than 254 bytes");

  TDirectory *a = file.mkdir("a", "outer");
  TDirectory *b = a->mkdir("b", "middle");
  TDirectory *c = b->mkdir("c", "inner");
  file.mkdir("empty", "no keys");
  TDirectory *histograms = file.mkdir("histograms");
  TDirectory *same = file.mkdir("tree");
  a->cd();
  tree("tree", 10);
  c->cd();
  note("deep", "a/b/c/deep");
  tree("tree", 300);
  tree("tree", 20);
  same->cd();
  note("x", "in a directory that is called tree");

  histograms->cd();
  TRandom3 rng(11);
  histogram<TH1C>(rng, "h1c", "", 10, -3., 3.);
  histogram<TH1S>(rng, "h1s", "", 10, -3., 3.);
  histogram<TH1I>(rng, "h1i", "", 10, -3., 3.);
  histogram<TH1F>(rng, "h1f", "", 10, -3., 3.);
  histogram<TH1D>(rng, "h1d", "", 10, -3., 3.);
  const double edges[] = {-3, -1, -0.5, 0.25, 2, 7};
  histogram<TH1D>(rng, "variable", "bins of several widths;x;y", 5, edges);
  histogram<TH2F>(rng, "h2f", "", 6, -3., 3., 4, -2., 2.);
  histogram<TH2D>(rng, "h2d", "", 5, edges, 4, -2., 2.);
  histogram<TH3D>(rng, "h3d", "", 4, -3., 3., 3, -2., 2., 2, -1., 1.);
  histogram<TProfile>(rng, "profile", "", 10, -3., 3.);
  TH1D weighted("weighted", "with the sums of squared weights", 8, 0, 8);
  weighted.Sumw2();
  for (int k = 0; k < 100; k++)
    weighted.Fill(rng.Uniform(-1, 9), rng.Uniform(0.5, 2));
  weighted.Write();
  TH1F labels("labels", "bins with names", 3, 0, 3);
  for (const char *name : {"one", "two", "three", "two"})
    labels.Fill(name, 1);
  labels.Write();

  file.cd();
  TObjString("an object string").Write("objstring");
  TParameter<double>("parameter", 2.5).Write();
  TGraph graph(3, edges, edges + 2);
  graph.Write("graph");
  TList list;
  list.SetOwner();
  list.Add(new TObjString("first"));
  list.Add(new TNamed("second", "of a list"));
  list.Write("list", TObject::kSingleKey);
  note("last");
}
