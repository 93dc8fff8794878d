"""Writes tests/data/buffered.root with C++ ROOT: histograms whose entries wait in a buffer; and beside it what ROOT says of every bin
once it has read them back.

    python tests/generate/buffered.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``).
"""

import json

import histograms
import ROOT
import script


def entries(count=60):
    random = ROOT.TRandom3(5)
    rows = [[random.Gaus(0, 1.5), random.Gaus(0.3, 2), random.Uniform(-1.2, 1), random.Uniform(0.2, 2)] for _ in range(count)]
    # At the edges, too, and where no bin is.
    return rows + [[-2.0, 0.0, 0.0, 1.0], [2.0, 1.0, 1.0, 1.0], [float("inf"), 1.0, 0.5, 1.5], [0.0, -3.0, -1.0, 0.5]]


def made():
    out = []
    for letter in "CSIFD":
        hist = getattr(ROOT, f"TH1{letter}")(f"one{letter}", "one", 6, -2, 2)
        out.append((hist, lambda hist, row: hist.Fill(row[0])))
    out[0][0].SetBinContent(3, 120)
    weighted = ROOT.TH1F("weighted", "weighted", 6, -2, 2)
    out.append((weighted, lambda hist, row: hist.Fill(row[0], row[3])))
    squares = ROOT.TH1D("squares", "squares", 6, -2, 2)
    squares.Sumw2()
    out.append((squares, lambda hist, row: hist.Fill(row[0], row[3])))
    edges = ROOT.std.vector("double")([-2, -1, -0.5, 0, 2])
    out.append((ROOT.TH1D("variable", "edges", 4, edges.data()), lambda hist, row: hist.Fill(row[0])))
    out.append((ROOT.TH2F("two", "two", 3, -2, 2, 4, -3, 3), lambda hist, row: hist.Fill(row[0], row[1], row[3])))
    out.append((ROOT.TH3D("three", "three", 3, -2, 2, 4, -3, 3, 2, -1, 1), lambda hist, row: hist.Fill(*row)))
    out.append((ROOT.TProfile("profile", "profile", 5, -2, 2), lambda hist, row: hist.Fill(row[0], row[1])))
    out.append((ROOT.TProfile("heavy", "profile", 5, -2, 2, "s"), lambda hist, row: hist.Fill(row[0], row[1], row[3])))
    out.append((ROOT.TProfile("bounded", "profile", 5, -2, 2, -1, 2), lambda hist, row: hist.Fill(row[0], row[1], row[3])))
    out.append((ROOT.TProfile2D("profile2", "two", 3, -2, 2, 2, -3, 3), lambda hist, row: hist.Fill(*row)))
    # Entries that ROOT finds the range for.
    out.append((ROOT.TH1D("found", "found", 10, 1, 0), lambda hist, row: hist.Fill(row[1])))
    out.append((ROOT.TH1F("found_weights", "found", 33, 0, 0), lambda hist, row: hist.Fill(1e-4 * row[1], row[3])))
    out.append((ROOT.TH1I("found_finite", "found", 100, 0, -1), lambda hist, row: hist.Fill(1000 + row[0])))
    out.append((ROOT.TH1D("found_one", "found", 4, 0, 0), lambda hist, row: hist.Fill(7)))
    whole = ROOT.TH1D("found_whole", "found", 7, 0, 0)
    whole.GetXaxis().SetBit(ROOT.TAxis.kIsInteger)
    out.append((whole, lambda hist, row: hist.Fill(round(5 * row[1]))))
    wide = ROOT.TH1F("found_whole_weights", "found", 50, 0, 0)
    wide.GetXaxis().SetBit(ROOT.TAxis.kIsInteger)
    out.append((wide, lambda hist, row: hist.Fill(round(-80 * row[1]), row[3])))
    out.append((ROOT.TH2D("found_two", "found", 5, 0, 0, 6, 0, 0), lambda hist, row: hist.Fill(row[1], row[2], row[3])))
    out.append((ROOT.TH1D("edges", "edges", 33, -0.5, 0.6), lambda hist, row: hist.Fill(round(30 * row[1]) / 30)))
    out.append((ROOT.TH2F("found_other", "found", 5, 1, 0, 6, -8, 8), lambda hist, row: hist.Fill(row[1], row[2])))
    out.append((ROOT.TH3D("found_three", "found", 2, 0, 0, 3, 0, 0, 4, 0, 0), lambda hist, row: hist.Fill(*row[1:], row[3])))
    out.append((ROOT.TProfile("found_profile", "found", 8, 0, 0), lambda hist, row: hist.Fill(row[1], row[2], row[3])))
    out.append((ROOT.TProfile2D("found_profile2", "found", 3, 0, 0, 2, 0, 0), lambda hist, row: hist.Fill(row[1], row[2], row[3])))
    # Contents and errors that were set before there was a range.
    for name, letter, bins in [("found_contents", "F", 10), ("found_errors", "D", 10), ("found_whole_contents", "D", 7)]:
        set_before = getattr(ROOT, f"TH1{letter}")(name, "found", bins, 0, 0)
        if "errors" in name:
            set_before.Sumw2()
            set_before.SetBinError(1, 0.7)
            set_before.SetBinError(bins + 1, 0.25)
        if "whole" in name:
            set_before.GetXaxis().SetBit(ROOT.TAxis.kIsInteger)
        set_before.SetBinContent(4, 3.5)
        set_before.SetBinContent(bins, 2.5)
        out.append((set_before, lambda hist, row: hist.Fill(round(5 * row[1]), row[3])))
    for name, bins, scale in [("powers", 10, 1), ("powers_small", 33, 1e-4), ("powers_far", 7, -300)]:
        powers = ROOT.TH1D(name, "powers", bins, 0, 0)
        powers.SetBit(ROOT.TH1.kAutoBinPTwo)
        out.append((powers, lambda hist, row, scale=scale: hist.Fill(scale * (5 + row[1]))))
    # Axes that ROOT makes longer: all, before anything is filled, or one, when it is.
    longer = ROOT.TH1F("longer", "longer", 8, -0.5, 0.5)
    longer.SetCanExtend(ROOT.TH1.kAllAxes)
    out.append((longer, lambda hist, row: hist.Fill(row[0], row[3])))
    contents = ROOT.TH1D("longer_contents", "longer", 6, 0, 0.7)
    for x in (-1, 0.1, 0.1, 0.3, 0.65, 1):
        contents.Fill(x)
    contents.SetCanExtend(ROOT.TH1.kAllAxes)
    out.append((contents, lambda hist, row: hist.Fill(row[1], row[3])))
    for name, mask in [("longer_two", 3), ("longer_x", 1), ("longer_y", 2)]:
        two = ROOT.TH2D(name, "longer", 3, -0.25, 0.25, 4, 0, 1)
        two.Fill(0.1, 0.6)
        two.SetCanExtend(mask)
        out.append((two, lambda hist, row: hist.Fill(row[1], row[0], row[3])))
    found = ROOT.TH2F("longer_found", "longer", 5, 0, 0, 6, -0.5, 0.5)
    found.SetCanExtend(ROOT.TH1.kAllAxes)
    out.append((found, lambda hist, row: hist.Fill(row[1], row[2])))
    three = ROOT.TH3D("longer_three", "longer", 2, 0, 1, 3, 0, 1, 4, -1, 1)
    three.SetCanExtend(ROOT.TH1.kAllAxes)
    out.append((three, lambda hist, row: hist.Fill(*row[1:], row[0])))
    profile = ROOT.TProfile("longer_profile", "longer", 8, 0, 1)
    profile.Fill(0.3, 2)
    profile.SetCanExtend(ROOT.TH1.kAllAxes)
    out.append((profile, lambda hist, row: hist.Fill(row[1], row[2], row[3])))
    # Axes without an end.
    endless = ROOT.TH2D("endless", "longer", 3, 0, 0, 4, -1, 1)
    endless.SetCanExtend(ROOT.TH1.kAllAxes)
    out.append((endless, lambda hist, row: hist.Fill(row[1], row[0])))
    return out


def main(folder):
    path = folder / "buffered.root"
    file = ROOT.TFile(str(path), "RECREATE")
    names = []
    for hist, fill in made():
        # In ROOT, a buffer that is given to a histogram with entries keeps them.
        hist.SetBuffer(1000)
        for row in entries():
            fill(hist, row)
        hist.Write()
        names.append(str(hist.GetName()))
        hist.SetDirectory(ROOT.nullptr)
    file.Close()
    file = ROOT.TFile.Open(str(path))
    golden = {}
    for name in names:
        hist = file.Get(name)
        hist.BufferEmpty()
        golden[name] = histograms.bins(hist)
    (folder / "buffered.root.bins.json").write_text(json.dumps(histograms.plain(golden), separators=(",", ":")) + "\n")


if __name__ == "__main__":
    script.run(main, script.folder())
