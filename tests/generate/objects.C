// objects.root: objects of classes (see classes.h), divided into one branch per member and whole.
#include "classes.h"
#include <TFile.h>
#include <TMath.h>
#include <TRandom3.h>
#include <TTree.h>

namespace {

TRandom3 rng(1999);

std::string word(int longest)
{
  std::string out(rng.Integer(longest + 1), ' ');
  for (char &c : out)
    c = 'a' + rng.Integer(26);
  return out;
}

void fill(Hit &h)
{
  h.energy = rng.Exp(3);
  h.cell[0] = rng.Integer(100);
  h.cell[1] = -int(rng.Integer(100));
  h.layer = rng.Integer(65536);
  h.seed = rng.Uniform() < 0.3;
  h.time = rng.Uniform(0, 100);
  h.detector = word(5);
  h.samples.clear();
  for (int k = rng.Integer(4); k > 0; k--)
    h.samples.push_back(rng.Gaus());
}

void fill(Track &t)
{
  t.pt = rng.Exp(10);
  t.charge = rng.Uniform() < 0.5 ? 1 : -1;
  for (double &c : t.cov)
    c = rng.Gaus();
  t.chi2 = rng.Uniform(0, 50);
  t.label = word(6).c_str();
  delete[] t.points;
  t.points = nullptr;
  t.nPoints = rng.Integer(4);
  if (t.nPoints)
    t.points = new short[t.nPoints];
  for (int k = 0; k < t.nPoints; k++)
    t.points[k] = rng.Integer(1000);
}

void fill(TClonesArray &tracks)
{
  tracks.Delete();
  int n = rng.Uniform() < 0.25 ? 0 : rng.Integer(5);
  for (int k = 0; k < n; k++)
    fill(*static_cast<Track *>(tracks.ConstructedAt(k)));
}

void fill(std::vector<Hit> &hits)
{
  hits.resize(rng.Uniform() < 0.25 ? 0 : rng.Integer(5));
  for (Hit &h : hits)
    fill(h);
}

void fill(Event &e)
{
  e.run = 100 + rng.Integer(5);
  e.number = rng.Integer(1000000);
  e.b = rng.Uniform() < 0.5;
  e.c = rng.Integer(256);
  e.uc = rng.Integer(256);
  e.s = rng.Integer(65536);
  e.us = rng.Integer(65536);
  e.i = rng.Integer(0xffffffffu);
  e.ui = rng.Integer(0xffffffffu);
  e.l = (Long64_t(e.i) << 32) + e.ui;
  e.ul = e.l ^ 0x5555;
  e.ll = -e.l;
  e.ull = ~e.ul;
  e.f = rng.Gaus();
  e.d = rng.Gaus(0, 1e100);
  e.f16 = rng.Gaus(0, 1000);
  e.f16range = rng.Uniform(-1, 1);
  e.d32 = rng.Gaus();
  e.d32range = rng.Uniform(-TMath::Pi(), TMath::Pi());
  for (float &v : e.vector3)
    v = rng.Gaus();
  for (auto &row : e.matrix)
    for (int &v : row)
      v = rng.Integer(1000);
  for (bool &v : e.flags)
    v = rng.Uniform() < 0.5;
  delete[] e.counted;
  e.counted = nullptr;
  e.n = rng.Integer(5);
  if (e.n)
    e.counted = new float[e.n];
  for (int k = 0; k < e.n; k++)
    e.counted[k] = rng.Gaus();
  e.text = word(300);
  e.root = word(10).c_str();
  e.ints.clear(), e.bools.clear(), e.words.clear(), e.rows.clear(), e.bits.clear(), e.sentences.clear();
  for (int k = rng.Integer(4); k > 0; k--) {
    e.ints.push_back(rng.Integer(1000));
    e.bools.push_back(rng.Uniform() < 0.5);
    e.words.push_back(word(8));
    e.rows.emplace_back(rng.Integer(3), rng.Gaus());
    e.bits.emplace_back(rng.Integer(4), rng.Uniform() < 0.5);
    e.sentences.emplace_back(rng.Integer(3), word(4));
  }
  e.vertex = {rng.Gaus(), rng.Gaus(), rng.Gaus()};
  fill(e.hits);
  fill(e.tracks);
  e.last = -7;
}

} // namespace

void objects()
{
  TFile file("objects.root", "RECREATE", "", 505);
  Event event;
  Point point;
  std::vector<Hit> hits;
  std::vector<Point> points;
  TClonesArray tracks("Track");
  Event *pEvent = &event;
  Point *pPoint = &point;
  TClonesArray *pTracks = &tracks;
  auto branches = [&](TTree &tree, int level) {
    tree.Branch("event", &pEvent, 4000, level);
    tree.Branch("dotted.", &pEvent, 4000, level); // a dot at the end puts the name before each member's
    tree.Branch("point", &pPoint, 1000, level);
    tree.Branch("hits", &hits, 1000, level);
    tree.Branch("points", &points, 1000, level);
    tree.Branch("tracks", &pTracks, 1000, level);
  };
  TTree split("split", "objects divided into a branch per member"), once("once", "members one level down only"), whole("whole", "objects in one branch each");
  branches(split, 99);
  branches(once, 1);
  branches(whole, 0);
  for (int entry = 0; entry < 25; entry++) {
    fill(event);
    point = {rng.Gaus(), rng.Gaus(), rng.Gaus()};
    fill(hits);
    points.assign(rng.Integer(3), point);
    fill(tracks);
    split.Fill();
    once.Fill();
    whole.Fill();
  }
  file.Write();
}
