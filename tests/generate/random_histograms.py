"""Random histograms and profiles, with what C++ ROOT says of them: means, spreads and integrals, their sums and multiples.

Run by an interpreter with ROOT: ``python random_histograms.py SEED COUNT FOLDER``.
"""

import json
import pathlib
import random
import sys
from array import array

import ROOT

KINDS = ("TH1D", "TH1I", "TH1F", "TH1S", "TH1C", "TH2D", "TH2F", "TH3D", "TProfile", "TProfile2D")


def made(chance, name):
    """A histogram, filled or with bins that were set, perhaps with a range."""
    kind = chance.choice(KINDS)
    edges = array("d", sorted(chance.uniform(-3, 3) for _ in range(6)))
    axis = [len(edges) - 1, edges] if chance.random() < 0.3 else [chance.randint(1, 9), -2.0, 3.0]
    more = {"TH2D": [4, -1.0, 2.0], "TH2F": [4, -1.0, 2.0], "TH3D": [4, -1.0, 2.0, 2, 0.0, 1.0], "TProfile2D": [4, -1.0, 2.0]}
    if kind in ("TH3D", "TProfile2D"):
        axis = [3, -2.0, 2.0]
    histogram = getattr(ROOT, kind)(name, "", *axis, *more.get(kind, []))
    is_profile = "Profile" in kind
    if chance.random() < 0.5 and (not is_profile or chance.random() < 0.3):
        histogram.Sumw2()
    if chance.random() < 0.2:
        histogram.SetStatOverflows(ROOT.TH1.kConsider)
    fill(chance, histogram)
    if chance.random() < 0.2:
        histogram.GetXaxis().SetRange(1, max(1, histogram.GetNbinsX() // 2))
    return histogram


def fill(chance, histogram):
    """Fills a histogram, or sets its bins."""
    kind, is_profile = histogram.ClassName(), "Profile" in histogram.ClassName()
    whole = kind[-1] in "CSI"
    if chance.random() < 0.2 and not is_profile:
        for bin in range(histogram.GetNcells()):
            histogram.SetBinContent(bin, chance.randint(-9 if chance.random() < 0.3 else 0, 9))
    else:
        for _ in range(chance.choice([0, 3, 200])):
            place = [chance.gauss(0, 1.5) for _ in range(histogram.GetDimension() + is_profile)]
            if chance.random() < 0.5:
                histogram.Fill(*place)
            else:
                histogram.Fill(*place, float(chance.randint(1, 3)) if whole else chance.uniform(-0.5, 2))


def said(histogram):
    """What ROOT says of a histogram that was computed."""
    stats = array("d", [0.0] * 13)
    histogram.GetStats(stats)
    cells = range(histogram.GetNcells())
    return {
        "contents": [histogram.GetBinContent(cell) for cell in cells],
        "errors": [histogram.GetBinError(cell) for cell in cells],
        "entries": histogram.GetEntries(),
        "statistics": list(stats),
    }


def computed(chance, histogram, other):
    """A sum, a difference and a multiple of histograms with the same axes."""
    factor = chance.choice([2.0, 0.5, -1.0, 3.25])
    found = {"factor": factor}
    for name, act in (
        ("sum", lambda made: made.Add(other)),
        ("difference", lambda made: made.Add(other, -1)),
        ("multiple", lambda made: made.Scale(factor)),
    ):
        made = histogram.Clone("made")
        # Clones forget it.
        made.SetStatOverflows(histogram.GetStatOverflows())
        act(made)
        found[name] = said(made)
        made.Delete()
    return found


def main(seed, count, folder):
    """Writes the file, and beside it what ROOT says."""
    chance, golden = random.Random(seed), {}
    file = ROOT.TFile(str(folder / "random.root"), "RECREATE")
    for number in range(count):
        histogram = made(chance, f"h{number}")
        axes = range(1, histogram.GetDimension() + 1)
        golden[f"h{number}"] = found = {
            "mean": [histogram.GetMean(axis) for axis in axes],
            "std": [histogram.GetStdDev(axis) for axis in axes],
            "entries": histogram.GetEntries(),
        }
        if not histogram.GetXaxis().TestBit(ROOT.TAxis.kAxisRange):
            found |= {"integral": histogram.Integral(), "width": histogram.Integral("width")}
        other = histogram.Clone(f"h{number}_other")
        if chance.random() < 0.8:
            other.Reset()
        fill(chance, other)
        found["computed"] = computed(chance, histogram, other)
        histogram.Write()
        other.Write()
    file.Close()
    (folder / "random.json").write_text(json.dumps(golden))


main(int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3]))
