"""Reads muons from a ROOT file and finds the Z boson in their pairs."""

import awkward as ak
import numpy as np

import forthwith

with forthwith.open("tests/data/zmumu.root") as file:
    muons = file["events"].arrays(filter_name="Muon_*")
print(muons.type)
pair = muons[ak.num(muons.Muon_pt) == 2]
pt, eta, phi = (ak.to_numpy(pair[name]) for name in ("Muon_pt", "Muon_eta", "Muon_phi"))
mass = np.sqrt(2 * pt.prod(axis=1) * (np.cosh(eta[:, 0] - eta[:, 1]) - np.cos(phi[:, 0] - phi[:, 1])))
print(f"{len(mass)} pairs, median mass {np.median(mass):.1f} GeV")
