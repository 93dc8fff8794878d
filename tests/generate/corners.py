"""Writes tests/data/corners.root with C++ ROOT: objects in states that few are in, and what ROOT says of them.

    python tests/generate/corners.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``).
"""

import json

import ROOT
import script

ROOT.gROOT.SetBatch(True)


def kept(thing):
    ROOT.SetOwnership(thing, False)
    return thing


def write(folder):
    golden = {}
    file = ROOT.TFile(str(folder / "corners.root"), "RECREATE", "", 505)
    # Keys that are equal, or hold what is.
    pairs = ROOT.TMap()
    for number in range(3):
        pairs.Add(kept(ROOT.TObjString("a")), kept(ROOT.TObjString(str(number))))
    for kind, name, value in (("int", "x", 1), ("int", "y", 1), ("bool", "z", True)):
        pairs.Add(kept(ROOT.TParameter[kind](name, value)), kept(ROOT.TObjString(name)))
    pairs.Write("pairs", ROOT.TObject.kSingleKey)
    golden["pairs"] = pairs.GetSize()
    # Values outside of all bins, and no others.
    profile, polygons = ROOT.TProfile2Poly("profile", "", 0, 1, 0, 1), ROOT.TH2Poly("polygons", "", 0, 1, 0, 1)
    for which in (profile, polygons):
        outline = kept(ROOT.TGraph(4))
        for number, (x, y) in enumerate([(0, 0), (0, 0.5), (0.5, 0.5), (0.5, 0)]):
            outline.SetPoint(number, x, y)
        which.AddBin(outline)
    for x, y, value in ((0.2, 0.2, 2), (3, 3, 7), (3, 4, 8), (-1, 0.5, 5), (0.7, 0.7, 3), (0.5, -2, 1)):
        profile.Fill(x, y, value)
        polygons.Fill(x, y, value)
    for which in (profile, polygons):
        which.Write()
        golden[which.GetName()] = [which.GetBinContent(-number) for number in range(1, 10)]
    ROOT.TH2Poly("no_bins", "", 0, 1, 0, 1).Write()
    ROOT.TProfile2Poly("no_profile", "", 0, 1, 0, 1).Write()
    # Errors with signs, and of a point that was taken away.
    for mode in range(3):
        graph = ROOT.TGraphMultiErrors(3, 2)
        for point in range(3):
            graph.SetPoint(point, point, point)
            graph.SetPointEX(point, 0.1, 0.2)
            graph.SetPointEY(point, 0, 1 + point, 2)
            graph.SetPointEY(point, 1, -3, 4)
        graph.SetSumErrorsMode(mode)
        graph.RemovePoint(2)
        name = f"errors{mode}"
        graph.Write(name)
        golden[name] = [[graph.GetErrorYlow(point), graph.GetErrorYhigh(point)] for point in range(graph.GetN())]
    file.Close()
    (folder / "corners.root.values.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    script.run(write, script.folder())
