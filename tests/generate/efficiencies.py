"""Writes tests/data/efficiencies.root with C++ ROOT: efficiencies of each statistic option; and beside it what ROOT says of every bin
once it has read them back.

    python tests/generate/efficiencies.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``).
"""

import json

import ROOT
import script

OPTIONS = {
    "pearson": "kFCP",
    "normal": "kFNormal",
    "wilson": "kFWilson",
    "coull": "kFAC",
    "cousins": "kFFC",
    "jeffrey": "kBJeffrey",
    "uniform": "kBUniform",
    "beta": "kBBayesian",
    "mid": "kMidP",
}
# All of few and of many, none, and of no entries.
COUNTS = [(0, 0), (1, 0), (1, 1), (7, 3), (40, 0), (40, 40), (1000, 1), (12345, 6789)]


def filled(name, pairs):
    bins = len(pairs)
    total, passed = (ROOT.TH1D(f"{what}_{name}", what, bins, 0, bins) for what in ("total", "passed"))
    for bin, (of, some) in enumerate(pairs):
        total.SetBinContent(bin + 1, of)
        passed.SetBinContent(bin + 1, some)
    made = ROOT.TEfficiency(passed, total)
    made.SetName(name)
    return made


def weighted(name):
    made = ROOT.TEfficiency(name, name, 5, 0, 5)
    made.SetUseWeightedEvents()
    random = ROOT.TRandom3(11)
    for _ in range(60):
        x = random.Uniform(0, 4.5)
        made.FillWeighted(random.Uniform() < 0.2 * x, random.Uniform(0.3, 2.5), x)
    return made


def made():
    out = []
    for name, option in OPTIONS.items():
        out.append(filled(name, COUNTS))
        out[-1].SetStatisticOption(getattr(ROOT.TEfficiency, option))
        out.append(filled(f"{name}_high", COUNTS))
        out[-1].SetStatisticOption(getattr(ROOT.TEfficiency, option))
        out[-1].SetConfidenceLevel(0.9973)
        if option.startswith("kB"):
            for setting in ("SetShortestInterval", "SetPosteriorMode"):
                out.append(filled(f"{name}_{setting}", COUNTS))
                out[-1].SetStatisticOption(getattr(ROOT.TEfficiency, option))
                getattr(out[-1], setting)()
        out.append(weighted(f"{name}_weights"))
        out[-1].SetStatisticOption(getattr(ROOT.TEfficiency, option))
    for found in out:
        if str(found.GetName()).startswith("beta"):
            found.SetBetaAlpha(2.5)
            found.SetBetaBeta(0.75)
    priors = filled("priors", COUNTS)
    priors.SetStatisticOption(ROOT.TEfficiency.kBBayesian)
    # One that has a prior for the first bins only.
    for bin in range(1, 6):
        priors.SetBetaBinParameters(bin, 0.5 * bin, 3 - 0.5 * bin)
    out.append(priors)
    flat = ROOT.TEfficiency("flat", "flat", 3, 0, 3, 2, -1, 1)
    random = ROOT.TRandom3(12)
    for _ in range(80):
        flat.Fill(random.Uniform() < 0.4, random.Uniform(-1, 4), random.Uniform(-1.5, 1.5))
    out.append(flat)
    return out


def main(folder):
    path = folder / "efficiencies.root"
    file = ROOT.TFile(str(path), "RECREATE")
    names = []
    for efficiency in made():
        efficiency.SetDirectory(ROOT.nullptr)
        file.WriteObject(efficiency, efficiency.GetName())
        names.append(str(efficiency.GetName()))
    file.Close()
    file = ROOT.TFile.Open(str(path))
    golden = {}
    for name in names:
        found = file.Get(name)
        if not found.UsesBayesianStat():
            # What it reads back, ROOT takes for Clopper and Pearson's until somebody says again what it says of itself.
            found.SetStatisticOption(found.GetStatisticOption())
        total = found.GetTotalHistogram()
        across = range(total.GetNbinsY() + 2) if found.GetDimension() > 1 else [0]
        bins = [found.GetGlobalBin(x, y) for x in range(total.GetNbinsX() + 2) for y in across]
        asked = {"values": "GetEfficiency", "lower": "GetEfficiencyErrorLow", "upper": "GetEfficiencyErrorUp"}
        golden[name] = {key: [repr(float(getattr(found, how)(bin))) for bin in bins] for key, how in asked.items()}
    (folder / "efficiencies.root.bins.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    script.run(main, script.folder())
