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
    # What ROOT finds the range for.
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
    # What cannot be said without what is in ROOT's mind.
    powers = ROOT.TH1D("powers", "powers", 10, 0, 0)
    powers.SetBit(ROOT.TH1.kAutoBinPTwo)
    out.append((powers, lambda hist, row: hist.Fill(row[1])))
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
