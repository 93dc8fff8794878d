// mixed.root: containers, pointers and packed numbers in objects that are in one branch each.
#include "classes.h"
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>

namespace {

TRandom3 rng(64);

std::string word(int longest)
{
  std::string out(rng.Integer(longest + 1), ' ');
  for (char &c : out)
    c = 'a' + rng.Integer(26);
  return out;
}

Hit hit()
{
  Hit h;
  h.energy = rng.Exp(3);
  h.cell[0] = rng.Integer(100);
  h.layer = rng.Integer(65536);
  h.seed = rng.Uniform() < 0.5;
  h.time = rng.Uniform(0, 100);
  h.detector = word(5);
  for (int k = rng.Integer(4); k > 0; k--)
    h.samples.push_back(rng.Gaus());
  return h;
}

Point point() { return {rng.Gaus(), rng.Gaus(), rng.Gaus()}; }

Track *track()
{
  if (rng.Uniform() < 0.4)
    return nullptr;
  Track *t = new Track;
  t->pt = rng.Exp(10);
  t->charge = rng.Uniform() < 0.5 ? 1 : -1;
  t->chi2 = rng.Uniform(0, 50);
  t->label = word(6).c_str();
  t->nPoints = rng.Integer(4);
  if (t->nPoints)
    t->points = new short[t->nPoints];
  for (int k = 0; k < t->nPoints; k++)
    t->points[k] = rng.Integer(1000);
  return t;
}

void fill(Mixed &m)
{
  auto times = [](int most) { return int(rng.Integer(most)); };
  for (int k = times(4); k > 0; k--) {
    auto &hits = m.byName[word(4)];
    for (int j = times(3); j > 0; j--)
      hits.push_back(hit());
    m.byNumber[times(100)] = point();
    m.texts.emplace(times(3), word(300));
    if (m.weights.empty()) // what order several have is for the reader to choose
      m.weights[word(3)] = rng.Gaus();
    m.numbers.insert(times(50));
    m.lines.push_back(word(6));
    m.doubles.push_back(rng.Gaus());
    m.pairs.emplace_back(times(9), rng.Gaus());
    m.rows.emplace_back(times(3), point());
    m.packed.push_back(rng.Gaus());
    Cluster c;
    c.run = times(1000);
    c.number = times(1000);
    c.width = rng.Gaus();
    c.depth = rng.Uniform(0, 8);
    for (int j = times(3); j > 0; j--)
      c.labels.push_back(word(5));
    m.clusters.push_back(c);
    m.tracks.push_back(track());
    m.lists[times(2)].push_back(k);
  }
  m.bits = std::bitset<10>(times(1024));
  for (float &x : m.three)
    x = rng.Gaus();
  m.one = {times(10), word(4)};
  for (Hit &h : m.fixed)
    h = hit();
  for (TString &name : m.names)
    name = word(5).c_str();
  if (times(2))
    m.point = new Point(point());
  m.track = track();
  m.n = times(4);
  if (m.n)
    m.counted = new Double32_t[m.n];
  for (int k = 0; k < m.n; k++)
    m.counted[k] = rng.Gaus();
  m.last = -7;
}

} // namespace

void mixed()
{
  TFile file("mixed.root", "RECREATE", "", 505);
  TTree whole("whole", "objects in one branch each"), once("once", "members one level down only");
  Mixed *object = nullptr;
  std::vector<Cluster> *clusters = nullptr;
  whole.Branch("mixed", "Mixed", &object, 4000, 0);
  whole.Branch("clusters", "vector<Cluster>", &clusters, 4000, 0);
  once.Branch("mixed", "Mixed", &object, 4000, 1);
  once.Branch("clusters", "vector<Cluster>", &clusters, 4000, 1);
  for (int entry = 0; entry < 40; entry++) {
    Mixed one;
    fill(one);
    std::vector<Cluster> some = one.clusters;
    object = &one;
    clusters = &some;
    whole.SetBranchAddress("mixed", &object);
    once.SetBranchAddress("mixed", &object);
    whole.SetBranchAddress("clusters", &clusters);
    once.SetBranchAddress("clusters", &clusters);
    whole.Fill();
    once.Fill();
  }
  file.Write();
}
