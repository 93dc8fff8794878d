// Objects in many shapes: writes shapes.root, and reads it entry by entry with C++ ROOT.
#include "../../tests/generate/classes.h"
#include <TBranch.h>
#include <TFile.h>
#include <TRandom3.h>
#include <TStopwatch.h>
#include <TTree.h>
#include <cstdio>

namespace {

TRandom3 rng(1);

std::string word(int longest)
{
  return std::string(1 + rng.Integer(longest), 'a' + rng.Integer(26));
}

Hit hit()
{
  Hit h;
  h.energy = rng.Exp(3);
  h.cell[0] = rng.Integer(100);
  h.time = rng.Uniform(0, 100);
  h.detector = word(8);
  for (int k = rng.Integer(8); k > 0; k--)
    h.samples.push_back(rng.Gaus());
  return h;
}

} // namespace

void shapes(int entries)
{
  TFile file("shapes.root", "RECREATE", "", 101);
  TTree tree("tree", "objects");
  Event event, *pEvent = &event;
  std::vector<Hit> hits, *pHits = &hits;
  std::vector<Point> points, *pPoints = &points;
  TClonesArray tracks("Track"), *pTracks = &tracks;
  std::map<std::string, std::vector<Hit>> map, *pMap = &map;
  tree.Branch("event", &pEvent, 64000, 0);
  tree.Branch("hits", &pHits, 64000, 0);
  tree.Branch("points", &pPoints, 64000, 0);
  tree.Branch("split", &pTracks, 64000, 99);
  tree.Branch("whole", &pTracks, 64000, 0);
  tree.Branch("map", &pMap, 64000, 0);
  for (int entry = 0; entry < entries; entry++) {
    event.rows.clear(), event.sentences.clear(), event.hits.clear(), hits.clear(), points.clear(), map.clear();
    for (int k = rng.Integer(6); k > 0; k--) {
      event.rows.emplace_back(rng.Integer(8), rng.Gaus());
      event.sentences.emplace_back(rng.Integer(4), word(12));
      event.hits.push_back(hit());
      hits.push_back(hit());
      points.push_back({rng.Gaus(), rng.Gaus(), rng.Gaus()});
      map[word(10)].push_back(hit());
    }
    event.text = word(30);
    tracks.Delete();
    for (int k = rng.Integer(6), j = 0; j < k; j++) {
      Track &t = *static_cast<Track *>(tracks.ConstructedAt(j));
      t.pt = rng.Exp(10);
      t.label = word(8).c_str();
      t.nPoints = 2;
      t.points = new short[2]{1, 2};
    }
    tree.Fill();
  }
  file.Write();
}

// CPU milliseconds of GetEntry over all entries, the better of three passes, a line for each branch.
void readShapes()
{
  TFile file("shapes.root");
  TTree *tree = file.Get<TTree>("tree");
  for (auto *object : *tree->GetListOfBranches()) {
    auto *branch = static_cast<TBranch *>(object);
    double best = 1e9;
    for (int pass = 0; pass < 3; pass++) {
      TStopwatch watch;
      for (Long64_t k = 0; k < tree->GetEntries(); k++)
        branch->GetEntry(k);
      best = std::min(best, 1000 * watch.CpuTime());
    }
    std::printf("%s %.1f\n", branch->GetName(), best);
  }
}
