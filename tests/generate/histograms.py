"""Writes tests/data/histograms.root with C++ ROOT, and beside it what ROOT itself says of every bin.

    python tests/generate/histograms.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``).
"""

import itertools
import json
import math
import pathlib
from array import array

import ROOT
import script

ROOT.gROOT.SetBatch(True)
ROOT.gErrorIgnoreLevel = ROOT.kError


def bins(hist):
    dimensions = hist.GetDimension()
    lengths = [axis().GetNbins() + 2 for axis in (hist.GetXaxis, hist.GetYaxis, hist.GetZaxis)[:dimensions]]
    lengths += [1] * (3 - dimensions)
    order = [hist.GetBin(x, y, z) for x in range(lengths[0]) for y in range(lengths[1]) for z in range(lengths[2])]
    found = {
        "shape": lengths[:dimensions],
        "contents": [hist.GetBinContent(bin) for bin in order],
        "errors": [hist.GetBinError(bin) for bin in order],
        "edges": [
            [axis().GetBinLowEdge(bin) for bin in range(1, axis().GetNbins() + 2)]
            for axis in (hist.GetXaxis, hist.GetYaxis, hist.GetZaxis)[:dimensions]
        ],
    }
    if hist.InheritsFrom("TProfile") or hist.InheritsFrom("TProfile2D") or hist.InheritsFrom("TProfile3D"):
        kept = hist.GetErrorOption()
        found["effective"] = [hist.GetBinEffectiveEntries(bin) for bin in order]
        found["mode"] = str(kept)
        found["errors by mode"] = {}
        for mode in ("", "s", "i", "g"):
            hist.SetErrorOption(mode)
            found["errors by mode"][mode] = [hist.GetBinError(bin) for bin in order]
        hist.SetErrorOption(kept)
    return found


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def add(polygons, x, y):
    """A bin; the histogram takes the outline over."""
    outline = ROOT.TGraph(len(x))
    for i, point in enumerate(zip(x, y, strict=True)):
        outline.SetPoint(i, *map(float, point))
    polygons.AddBin(outline)


def main(folder):
    golden = {}
    file = ROOT.TFile(str(folder / "histograms.root"), "RECREATE")
    file.SetCompressionSettings(505)
    random = ROOT.TRandom3(7)

    def fills(count=200):
        return [(random.Gaus(), random.Gaus(0.3, 2), random.Uniform(-1, 1), random.Uniform(0.2, 2)) for _ in range(count)]

    hists = []
    for letter in "CSILFD":
        if not hasattr(ROOT, f"TH1{letter}"):
            continue
        hist = getattr(ROOT, f"TH1{letter}")(f"h1{letter.lower()}", f"one;x;{letter}", 10, -2, 2)
        for x, *_ in fills():
            hist.Fill(x)
        hists.append(hist)
    weighted = ROOT.TH1F("weighted", "weighted", 12, -3, 3)
    weighted.Sumw2()
    for x, _, _, w in fills():
        weighted.Fill(x, w)
    edges = ROOT.std.vector("double")([-3, -1, -0.5, 0, 2, 7])
    variable = ROOT.TH1D("variable", "edges", 5, edges.data())
    for x, *_ in fills():
        variable.Fill(x)
    labels = ROOT.TH1D("labels", "labels", 3, 0, 3)
    for name, weight in (("red", 1), ("green", 2), ("blue", 3)):
        labels.Fill(name, weight)
    two = ROOT.TH2F("two", "two", 4, -2, 2, 3, -3, 3)
    three = ROOT.TH3D("three", "three", 3, -2, 2, 2, -3, 3, 2, -1, 1)
    three.Sumw2()
    for x, y, z, w in fills():
        two.Fill(x, y)
        three.Fill(x, y, z, w)
    hists += [weighted, variable, labels, two, three]
    for mode in ("", "s", "i", "g"):
        for heavy in (False, True):
            profile = ROOT.TProfile(f"profile{mode}{'w' if heavy else ''}", "profile", 8, -2, 2, mode)
            if heavy:
                profile.Sumw2()
            for x, y, _, w in fills(60):
                profile.Fill(x, y, w if heavy else 1)
            # One bin with one entry, and so without a spread.
            profile.Fill(1.9, 3)
            hists.append(profile)
    profile2 = ROOT.TProfile2D("profile2", "two", 3, -2, 2, 3, -2, 2)
    profile3 = ROOT.TProfile3D("profile3", "three", 2, -2, 2, 3, -2, 2, 2, -1, 1)
    for x, y, z, w in fills():
        profile2.Fill(x, y, z, w)
        profile3.Fill(x, y, z, w, 1)
    hists += [profile2, profile3]
    for hist in hists:
        hist.Write()
        golden[str(hist.GetName())] = bins(hist)

    polygons = ROOT.TH2Poly("polygons", "polygons", -3, 3, -3, 3)
    for x in range(-2, 2):
        add(polygons, [x, x, x + 1, x + 1], [-1, 1, 1, -1])
    add(polygons, [0, 1, 2], [1, 3, 1])
    for x, y, _, w in fills():
        polygons.Fill(x, y, w)
    polygons.Write()
    golden["polygons"] = {
        "contents": [polygons.GetBinContent(bin) for bin in range(1, polygons.GetNumberOfBins() + 1)],
        "errors": [polygons.GetBinError(bin) for bin in range(1, polygons.GetNumberOfBins() + 1)],
        "outside": [polygons.GetBinContent(-bin) for bin in range(1, 10)],
    }

    efficiency = ROOT.TEfficiency("efficiency", "efficiency", 5, 0, 5)
    for x, y, *_ in fills():
        efficiency.Fill(abs(y) < 1, abs(x) * 2)
    efficiency.Write()
    golden["efficiency"] = {"contents": [efficiency.GetEfficiency(bin) for bin in range(7)]}

    counts = array("i", [4, 3, 5, 20])
    lows, highs = array("d", [-2, -3, -1, 0]), array("d", [2, 3, 1, 2])
    for kind, name in (("THnSparseD", "sparse"), ("THnSparseF", "sparse_weighted"), ("THnD", "dense"), ("THnI", "dense_int")):
        dimensions = 4 if kind.startswith("THnSparse") else 3
        many = getattr(ROOT, kind)(name, name, dimensions, counts, lows, highs)
        if "weighted" in name or name == "dense":
            many.Sumw2()
        for values in fills(40):
            at = array("d", values)
            many.Fill(at, 1.0 if "int" in name or name == "sparse" else values[3])
        many.Write()
        rows = []
        for at in itertools.product(*(range(counts[axis] + 2) for axis in range(dimensions))):
            content = many.GetBinContent(array("i", at))
            if content:
                rows.append([list(at), content, many.GetBinError(array("i", at))])
        golden[name] = {"bins": rows}

    points = ROOT.TGraph(4)
    errors = ROOT.TGraphErrors(4)
    asymmetric = ROOT.TGraphAsymmErrors(4)
    space = ROOT.TGraph2D(4)
    for i, (x, y, z, w) in enumerate(fills(4)):
        points.SetPoint(i, x, y)
        errors.SetPoint(i, x, y)
        errors.SetPointError(i, w, 2 * w)
        asymmetric.SetPoint(i, x, y)
        asymmetric.SetPointError(i, w, 2 * w, 3 * w, 4 * w)
        space.SetPoint(i, x, y, z)
    several = ROOT.TMultiGraph("several", "several")
    for graph in (points.Clone("a"), errors.Clone("b")):
        ROOT.SetOwnership(graph, False)
        several.Add(graph)
    for graph, name in ((points, "points"), (errors, "errors"), (asymmetric, "asymmetric"), (space, "space")):
        graph.SetName(name)
        graph.Write()
        each = range(graph.GetN())
        got = {axis: [getattr(graph, f"GetPoint{axis.upper()}", lambda i: 0)(i) for i in each] for axis in "xy"}
        if name == "space":
            got = {axis: list(getattr(graph, f"Get{axis.upper()}")()[i] for i in each) for axis in "xyz"}
        if name == "errors":
            got |= {"ex": [graph.GetErrorX(i) for i in each], "ey": [graph.GetErrorY(i) for i in each]}
        if name == "asymmetric":
            for axis in "XY":
                for side in ("low", "high"):
                    got[f"e{axis.lower()}{side}"] = [getattr(graph, f"GetError{axis}{side}")(i) for i in each]
        golden[name] = got
    several.Write()

    # Collections, and objects that refer to each other.
    shared = ROOT.TNamed("shared", "one object")
    listed = ROOT.TList()
    text, key = ROOT.TObjString("text"), ROOT.TObjString("key")
    for item in (shared, text, shared):
        listed.Add(item)
    listed.Write("listed", ROOT.TObject.kSingleKey)
    mapping = ROOT.TMap()
    mapping.Add(key, shared)
    mapping.Write("mapping", ROOT.TObject.kSingleKey)
    clones = ROOT.TClonesArray("TNamed", 3)
    for i in range(3):
        clones.ConstructedAt(i).SetNameTitle(f"clone{i}", str(i))
    clones.Write("clones", ROOT.TObject.kSingleKey)
    clones.BypassStreamer(False)
    clones.Write("clones_one_by_one", ROOT.TObject.kSingleKey)
    references = ROOT.TRefArray()
    references.Add(shared)
    references.Write("references", ROOT.TObject.kSingleKey)
    matrix = ROOT.TMatrixDSym(3)
    for row in range(3):
        for column in range(row, 3):
            matrix[row][column] = matrix[column][row] = 10 * row + column
    matrix.Write("matrix")
    for kind, value in (("int", 7), ("double", 2.5), ("bool", True), ("Long64_t", 1 << 40)):
        ROOT.TParameter[kind](f"parameter_{kind}", value).Write()
    file.WriteObject(ROOT.TDatime(2024, 2, 29, 12, 30, 59), "date")
    ROOT.TTree("t", "t").Write()
    # Efficiencies of each kind: frequentist, and Bayesian with several priors, as the mean or the most likely one, with weights.
    options = ROOT.TEfficiency
    kinds = {
        "wilson": (options.kFWilson, {}),
        "normal": (options.kFNormal, {}),
        "cousins": (options.kFFC, {}),
        "jeffrey": (options.kBJeffrey, {}),
        "uniform": (options.kBUniform, {}),
        "beta": (options.kBBayesian, {"SetBetaAlpha": 2.5, "SetBetaBeta": 0.5}),
        "likely": (options.kBBayesian, {"SetBetaAlpha": 2.5, "SetBetaBeta": 0.5, "SetPosteriorMode": True}),
        "likely_uniform": (options.kBUniform, {"SetPosteriorMode": True}),
        "heavy": (options.kBJeffrey, {"SetUseWeightedEvents": True}),
        "heavy_normal": (options.kFNormal, {"SetUseWeightedEvents": True}),
    }
    for name, (option, settings) in kinds.items():
        efficiency = ROOT.TEfficiency(f"efficiency_{name}", name, 6, 0, 6)
        for how, value in settings.items():
            getattr(efficiency, how)(value)
        for x, y, _, w in fills(60):
            if "heavy" in name:
                efficiency.FillWeighted(abs(y) < 1, w, abs(x) * 2)
            else:
                efficiency.Fill(abs(y) < 1, abs(x) * 2)
        efficiency.SetStatisticOption(option)
        efficiency.Write()
        golden[f"efficiency_{name}"] = {"contents": [efficiency.GetEfficiency(bin) for bin in range(8)]}
    flat = ROOT.TEfficiency("efficiency_two", "two", 3, 0, 3, 2, -1, 1)
    for x, y, z, _ in fills(80):
        flat.Fill(abs(y) < 1, abs(x), z)
    flat.Write()
    order = [flat.GetGlobalBin(x, y) for x in range(5) for y in range(4)]
    golden["efficiency_two"] = {"contents": [flat.GetEfficiency(bin) for bin in order]}

    bent, many = ROOT.TGraphBentErrors(4), ROOT.TGraphMultiErrors(4, 2)
    space_errors = ROOT.TGraph2DErrors(4)
    for i, (x, y, z, w) in enumerate(fills(4)):
        bent.SetPoint(i, x, y)
        bent.SetPointError(i, w, 2 * w, 3 * w, 4 * w, 0.0, 0.0, 0.0, 0.0)
        many.SetPoint(i, x, y)
        many.SetPointEX(i, w, 2 * w)
        many.SetPointEY(i, 0, 3 * w, 4 * w)
        many.SetPointEY(i, 1, 5 * w, 6 * w)
        space_errors.SetPoint(i, x, y, z)
        space_errors.SetPointError(i, w, 2 * w, 3 * w)
    for graph, name in ((bent, "bent"), (many, "many"), (space_errors, "space_errors")):
        graph.SetName(name)
        graph.Write()
        each = range(graph.GetN())
        axes = "xyz" if name == "space_errors" else "xy"
        golden[name] = {axis: [getattr(graph, f"Get{axis.upper()}")()[i] for i in each] for axis in axes}
        if name == "many":
            golden["sums"] = {}
            for mode in range(3):
                graph.SetSumErrorsMode(mode)
                golden["sums"][mode] = [[graph.GetErrorYlow(i) for i in each], [graph.GetErrorYhigh(i) for i in each]]
                graph.Write(f"many{mode}")
            graph.SetSumErrorsMode(0)
        if name == "space_errors":
            golden[name] |= {f"e{axis}": [getattr(graph, f"GetError{axis.upper()}")(i) for i in each] for axis in axes}
        else:
            for axis in "XY":
                for side in ("low", "high"):
                    golden[name][f"e{axis.lower()}{side}"] = [getattr(graph, f"GetError{axis}{side}")(i) for i in each]
    profile_poly = ROOT.TProfile2Poly("profile_poly", "profile", -3, 3, -3, 3)
    for x in range(-2, 2):
        add(profile_poly, [x, x, x + 1, x + 1], [-1, 1, 1, -1])
    for x, y, z, w in fills(100):
        profile_poly.Fill(x, y, z, w)
    profile_poly.Write()
    golden["profile_poly"] = {
        "contents": [profile_poly.GetBinContent(bin) for bin in range(1, profile_poly.GetNumberOfBins() + 1)],
        "errors": [profile_poly.GetBinError(bin) for bin in range(1, profile_poly.GetNumberOfBins() + 1)],
    }
    formula = ROOT.TF1("formula", "[0]*exp(-x/[1])", 0, 10)
    formula.SetParameters(2, 3)
    formula.Write()
    canvas = ROOT.TCanvas("canvas", "canvas", 300, 200)
    two.Draw()
    points.Draw("same")
    canvas.Write()
    file.Close()

    (folder / "histograms.root.bins.json").write_text(json.dumps(plain(golden), separators=(",", ":")) + "\n")


if __name__ == "__main__":
    script.run(main, script.folder())
