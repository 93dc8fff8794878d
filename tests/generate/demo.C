// zmumu.root: the file of the tutorials and the README. Proton collisions with a Z boson that decays
// to two muons, on top of events with soft muons only; the invariant mass peaks at 91 GeV.
#include <TFile.h>
#include <TH1F.h>
#include <TMath.h>
#include <TRandom3.h>
#include <TTree.h>
#include <Math/Vector4D.h>
#include <Math/Boost.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace {

using P4 = ROOT::Math::PtEtaPhiMVector;
constexpr double kMuonMass = 0.1056584;

struct Muon {
  P4 p4;
  int charge;
};

// Detectors do not measure to 24 bits: keep 11 bits of mantissa, which also compresses.
float rounded(double x)
{
  int exponent;
  double m = std::frexp(x, &exponent);
  return std::ldexp(std::round(m * 2048) / 2048, exponent);
}

Muon smeared(TRandom3 &rng, const P4 &p, int charge)
{
  double pt = rounded(p.Pt() * rng.Gaus(1.0, 0.012));
  return {P4(std::max(pt, 1.0), rounded(p.Eta()), rounded(p.Phi()), kMuonMass), charge};
}

// A Z decays back to back in its own frame; the boost to the laboratory gives the rest.
void addZ(TRandom3 &rng, std::vector<Muon> &muons)
{
  double mass = std::clamp(rng.BreitWigner(91.1876, 2.4952), 40.0, 160.0);
  double pt = rng.Exp(14.0), rapidity = rng.Gaus(0.0, 1.3), phi = rng.Uniform(-TMath::Pi(), TMath::Pi());
  double mt = std::hypot(mass, pt);
  ROOT::Math::PxPyPzEVector z(pt * std::cos(phi), pt * std::sin(phi), mt * std::sinh(rapidity), mt * std::cosh(rapidity));
  double cosine = rng.Uniform(-1, 1), angle = rng.Uniform(-TMath::Pi(), TMath::Pi());
  double e = mass / 2, p = std::sqrt(e * e - kMuonMass * kMuonMass), sine = std::sqrt(1 - cosine * cosine);
  double x = p * sine * std::cos(angle), y = p * sine * std::sin(angle), w = p * cosine;
  ROOT::Math::Boost toLab(z.Px() / z.E(), z.Py() / z.E(), z.Pz() / z.E());
  for (int sign : {+1, -1}) {
    ROOT::Math::PxPyPzEVector lab = toLab(ROOT::Math::PxPyPzEVector(sign * x, sign * y, sign * w, e));
    P4 mu(lab.Pt(), lab.Eta(), lab.Phi(), kMuonMass);
    if (mu.Pt() > 3 && std::abs(mu.Eta()) < 2.4)
      muons.push_back(smeared(rng, mu, sign));
  }
}

} // namespace

void demo()
{
  TRandom3 rng(20240911);
  TFile file("zmumu.root", "RECREATE", "Z to two muons, simulated", 505);

  UInt_t run, lumi;
  ULong64_t event;
  Float_t metPt, metPhi, vertex[3];
  Bool_t isoMu24, mu17Mu8;
  Double_t weight;
  UChar_t nPV;
  Int_t nMuon;
  Float_t pt[16], eta[16], phi[16];
  Int_t charge[16];
  Bool_t tight[16];
  Char_t generator[32];
  std::vector<std::vector<float>> hits;
  std::vector<std::vector<std::vector<float>>> clusters;
  std::vector<std::string> triggers;
  std::string dataset;

  TTree tree("events", "simulated collisions");
  tree.SetAutoFlush(1000);
  tree.SetAutoSave(0);
  const int small = 4000;
  tree.Branch("run", &run, "run/i", small);
  tree.Branch("luminosityBlock", &lumi, "luminosityBlock/i", small);
  tree.Branch("event", &event, "event/l", small);
  tree.Branch("weight", &weight, "weight/D", small);
  tree.Branch("MET_pt", &metPt, "MET_pt/F", small);
  tree.Branch("MET_phi", &metPhi, "MET_phi/F", small);
  tree.Branch("PV_xyz", vertex, "PV_xyz[3]/F", small);
  tree.Branch("nPV", &nPV, "nPV/b", small);
  tree.Branch("HLT_IsoMu24", &isoMu24, "HLT_IsoMu24/O", small);
  tree.Branch("HLT_Mu17_Mu8", &mu17Mu8, "HLT_Mu17_Mu8/O", small);
  tree.Branch("nMuon", &nMuon, "nMuon/I", small);
  tree.Branch("Muon_pt", pt, "Muon_pt[nMuon]/F", small);
  tree.Branch("Muon_eta", eta, "Muon_eta[nMuon]/F", small);
  tree.Branch("Muon_phi", phi, "Muon_phi[nMuon]/F", small);
  tree.Branch("Muon_charge", charge, "Muon_charge[nMuon]/I", small);
  tree.Branch("Muon_tightId", tight, "Muon_tightId[nMuon]/O", small);
  tree.Branch("Track_hits", &hits, 16000);
  tree.Branch("Track_clusters", &clusters, 16000);
  tree.Branch("triggers", &triggers, 16000);
  tree.Branch("dataset", &dataset, 16000);
  tree.Branch("generator", generator, "generator/C", small);

  TH1F mass("mass", "opposite-charge pairs;m(#mu#mu) [GeV];pairs", 60, 60, 120);
  const int n = 3600;
  for (int i = 0; i < n; i++) {
    bool hasZ = rng.Uniform() < 0.8;
    run = 316000 + i / 1500;
    lumi = 1 + i / 100;
    event = 5000000000ull + 37ull * i;
    weight = hasZ ? 0.75 + 0.5 * rng.Uniform() : -1.0;
    nPV = 1 + rng.Poisson(22);
    for (int k = 0; k < 3; k++)
      vertex[k] = rounded(rng.Gaus(0, k == 2 ? 3.5 : 0.0015));

    std::vector<Muon> muons;
    if (hasZ)
      addZ(rng, muons);
    int soft = rng.Poisson(0.35);
    for (int k = 0; k < soft; k++)
      muons.push_back(smeared(rng, P4(3 + rng.Exp(4), rng.Uniform(-2.4, 2.4), rng.Uniform(-3.14, 3.14), kMuonMass), rng.Uniform() < 0.5 ? 1 : -1));
    std::sort(muons.begin(), muons.end(), [](const Muon &a, const Muon &b) { return a.p4.Pt() > b.p4.Pt(); });
    if (muons.size() > 16)
      muons.resize(16);

    nMuon = muons.size();
    hits.assign(nMuon, {});
    clusters.assign(nMuon, {});
    triggers.clear();
    double balanceX = rng.Gaus(0, 9), balanceY = rng.Gaus(0, 9);
    for (int k = 0; k < nMuon; k++) {
      pt[k] = muons[k].p4.Pt();
      eta[k] = muons[k].p4.Eta();
      phi[k] = muons[k].p4.Phi();
      charge[k] = muons[k].charge;
      tight[k] = rng.Uniform() < 0.93;
      // One hit per layer crossed, and the charge clusters that made each hit.
      int layers = rng.Binomial(5, 0.8);
      for (int layer = 0; layer < layers; layer++) {
        hits[k].push_back(4 + 7 * layer + int(rng.Uniform(-8, 8)) / 16.f);
        clusters[k].emplace_back();
        for (int c = rng.Poisson(1.2); c > 0; c--)
          clusters[k].back().push_back(int(rng.Landau(120, 25)) / 4.f);
      }
    }
    metPt = rounded(std::hypot(balanceX, balanceY));
    metPhi = rounded(std::atan2(balanceY, balanceX));
    isoMu24 = nMuon > 0 && pt[0] > 24 && tight[0];
    mu17Mu8 = nMuon > 1 && pt[0] > 17 && pt[1] > 8;
    if (isoMu24)
      triggers.push_back("HLT_IsoMu24");
    if (mu17Mu8)
      triggers.push_back("HLT_Mu17_TrkIsoVVL_Mu8_TrkIsoVVL");
    if (metPt > 30)
      triggers.push_back("HLT_MET30");
    dataset = hasZ ? "DYJetsToLL_M-50" : "MinBias";
    strcpy(generator, hasZ ? "toy Drell-Yan" : "");
    tree.Fill();

    for (int a = 0; a < nMuon; a++)
      for (int b = a + 1; b < nMuon; b++)
        if (charge[a] * charge[b] < 0)
          mass.Fill((muons[a].p4 + muons[b].p4).M());
    if (i == n / 2 - 1)
      mass.Write(); // cycle 1: half of the events; cycle 2 below has all
  }
  mass.Write();
  tree.Write();

  // The same kind of tree once more, in a directory: the events with two muons, and the flat columns only.
  file.mkdir("skim", "events with two muons")->cd();
  tree.SetBranchStatus("*", false);
  for (const char *name : {"run", "event", "weight", "nMuon", "Muon_pt", "Muon_eta", "Muon_phi", "Muon_charge"})
    tree.SetBranchStatus(name, true);
  TTree *skim = tree.CloneTree(0);
  for (int i = 0; i < 1000; i++) {
    tree.GetEntry(i);
    if (nMuon >= 2)
      skim->Fill();
  }
  skim->Write();
  file.Close();
}
