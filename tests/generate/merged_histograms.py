"""Histograms of C++ ROOT added up by forthwith, compared with what ``TFileMerger``, which is ``hadd``, makes of them.

Run by an interpreter with ROOT: ``python merged_histograms.py SEED COUNT FOLDER COMMAND``, where ``COMMAND`` is the command
``forthwith``. Axes that go on beyond the ends of each other, bins that are several of others, labels in other orders, axes
that grow, and random ones of one to three dimensions. Ends with the number of sums that are equal.
"""

import random
import subprocess
import sys
from array import array
from pathlib import Path

import ROOT

ROOT.TH1.AddDirectory(False)


def labelled(labels, bins=None, grows=False):
    """A histogram whose bins have labels: given to bins, or made by filling them."""
    histogram = ROOT.TH1D("h", "", bins or len(labels), 0, bins or len(labels))
    if grows:
        histogram.SetCanExtend(ROOT.TH1.kAllAxes)
        for number, label in enumerate(labels, 1):
            histogram.Fill(label, float(number))
        return histogram
    for number, label in enumerate(labels, 1):
        histogram.GetXaxis().SetBinLabel(number, label)
        for _ in range(number):
            histogram.Fill(number - 0.5)
    return histogram


def filled(bins, low, high, values, squares=False, kind="TH1D"):
    """A histogram of bins of one width."""
    histogram = getattr(ROOT, kind)("h", "", bins, low, high)
    if squares:
        histogram.Sumw2()
    for value in values:
        histogram.Fill(value)
    return histogram


def edged(edges, values):
    """A histogram of bins of several widths."""
    histogram = ROOT.TH1D("h", "", len(edges) - 1, array("d", edges))
    for value in values:
        histogram.Fill(value)
    return histogram


def waiting(values, low=0, high=0, kind="TH1D", squares=False, room=100):
    """A histogram whose entries are in its buffer: without ends of the axis unless they are said."""
    histogram = getattr(ROOT, kind)("h", "", 4, low, high)
    histogram.SetBuffer(room)
    if squares:
        histogram.Sumw2()
    for value in values:
        histogram.Fill(value, 2) if squares else histogram.Fill(value)
    return histogram


# Histograms that are added up, and what is wrong with them if they cannot be.
CASES = {
    "labels in another order": ([labelled("abc"), labelled("cad")], None),
    "equal labels": ([labelled("abc"), labelled("abc")], None),
    "some labels": ([labelled("ab", 5), labelled("ba", 5)], None),
    "labels that were filled": ([labelled("abc", 3, True), labelled("cade", 3, True)], None),
    "many labels": ([labelled("abc", 10, True), labelled("cadefghijklmn", 3, True)], None),
    "labels of more bins": ([labelled("abc"), labelled("cadef")], None),
    "labels of the first": ([labelled("abc"), filled(3, 0, 3, [0.5, 1.5])], None),
    "labels of the second": ([filled(3, 0, 3, [0.5, 1.5]), labelled("abc")], None),
    "one beside the other": ([filled(3, 0, 3, [0.5, 2.5]), filled(3, 3, 6, [3.5, 5.5])], None),
    "a gap between": ([filled(3, 0, 3, [0.5, 2.5], True), filled(2, 5, 7, [5.5])], None),
    "wider bins": ([filled(4, 0, 4, [0.5, 1.5, 2.5]), filled(2, 0, 4, [0.5, 3.5])], None),
    "narrower bins": ([filled(2, 0, 4, [0.5, 3.5]), filled(4, 0, 4, [0.5, 1.5, 2.5])], None),
    "in part the same": ([filled(4, 0, 4, [0.5, 2.5]), filled(4, 2, 6, [2.5, 3.5])], None),
    "three": ([filled(2, 0, 2, [0.5]), filled(2, 4, 6, [4.5]), filled(2, -2, 0, [-0.5])], None),
    "equal edges": ([edged([0, 1, 3], [0.5]), edged([0, 1, 3], [2.5])], None),
    "beyond an axis": ([filled(3, 0, 3, [0.5]), filled(3, 3, 6, [3.5, 1.5])], "outside its axis"),
    "other widths": ([filled(4, 0, 4, [0.5]), filled(3, 0, 4, [3.5])], "x axis has 3 bins"),
    "between bins": ([filled(4, 0, 4, [0.5]), filled(4, 0.5, 4.5, [3.5])], "x axis has 4 bins from 0.5"),
    "in buffers": ([waiting([1, 2, 3]), waiting([10, 20, 0.5]), waiting([-7.5])], None),
    "in buffers, some empty": ([waiting([]), waiting([1, 2, 3]), waiting([])], None),
    "in buffers, with weights": ([waiting([1, 2], squares=True), waiting([4], squares=True)], None),
    "in buffers with ends": ([waiting([1, 2, -1, 9], 0, 8, kind) for kind in ["TH1F"] * 3], None),
    "in buffers with weights and ends": ([waiting([1, 8], 0, 8, squares=True), waiting([2], 0, 8, squares=True)], None),
    "in the first buffer": ([waiting([1, 2, 7.5], 0, 8), filled(4, 0, 8, [3, 9])], None),
    "in the second buffer": ([filled(4, 0, 8, [3, 9]), waiting([1, 2, 7.5], 0, 8)], None),
    "more than a buffer": ([waiting([1] * 99), waiting([2] * 99)], None),
    # ROOT adds these, as if their bins were the same.
    "other edges": ([edged([0, 1, 3], [0.5]), edged([0, 2, 3], [0.5])], "of several widths"),
}


def drawn(chance):
    """Histograms of one kind whose axes are next to each other, or begin and end elsewhere."""
    kind = chance.choice(["TH1D", "TH1F", "TH1I", "TH2D", "TH2F", "TH2S", "TH3D", "TProfile", "TProfile2D"])
    size = 3 if kind == "TH3D" else 2 if "2" in kind else 1
    widths = [chance.choice([0.5, 1, 2]) for _ in range(size)]
    squares = chance.random() < 0.5
    histograms = []
    for _ in range(chance.randint(2, 4)):
        axes = []
        for width in widths:
            begin, bins = chance.randint(-3, 3), chance.randint(1, 5)
            axes.append((bins, begin * width, (begin + bins) * width))
        histogram = getattr(ROOT, kind)("h", "", *[number for axis in axes for number in axis])
        if squares:
            histogram.Sumw2()
        for _ in range(chance.choice([0, 1, 50])):
            place = [chance.uniform(low, high) for _, low, high in axes]
            histogram.Fill(*place, *([chance.gauss(0, 1)] if "Profile" in kind else []))
        histograms.append(histogram)
    return histograms


def told(histogram):
    """All that is compared."""
    cells = range(histogram.GetNcells())
    axes = [getattr(histogram, f"Get{name}axis")() for name in "XYZ"]
    statistics = array("d", [0.0] * 13)
    histogram.GetStats(statistics)
    return (
        histogram.ClassName(),
        [(axis.GetNbins(), round(axis.GetXmin(), 9), round(axis.GetXmax(), 9)) for axis in axes],
        [[axis.GetBinLabel(bin) for bin in range(1, axis.GetNbins() + 1)] if axis.GetLabels() else [] for axis in axes],
        [float(f"{histogram.GetBinContent(cell):.9g}") for cell in cells],
        [float(f"{histogram.GetBinError(cell):.9g}") for cell in cells],
        histogram.GetEntries(),
        [float(f"{number:.9g}") for number in statistics],
    )


def compare(what, histograms, folder, command, fault=None):
    """Adds histograms up in both ways."""
    paths = []
    for number, histogram in enumerate(histograms):
        paths.append(folder / f"{number}.root")
        file = ROOT.TFile(str(paths[-1]), "RECREATE")
        histogram.Write("h")
        file.Close()
    ours, theirs = folder / "ours.root", folder / "theirs.root"
    done = subprocess.run([command, "merge", *paths, "--output", ours, "--force"], capture_output=True, text=True, check=False)
    if fault:
        assert done.returncode and fault in done.stderr, f"{what}: {done.stderr}"
        return
    assert done.returncode == 0, f"{what}: {done.stderr}"
    merger = ROOT.TFileMerger(False, False)
    merger.OutputFile(str(theirs), "RECREATE")
    for path in paths:
        merger.AddFile(str(path))
    assert merger.Merge(), what
    files = [ROOT.TFile.Open(str(path)) for path in (ours, theirs)]
    found, expected = (told(file.Get("h")) for file in files)
    assert found == expected, f"{what}:\n{found}\n{expected}"
    for file in files:
        file.Close()


def main():
    """The cases, and as many random ones as are asked for."""
    seed, count, folder, command = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    folder.mkdir(parents=True, exist_ok=True)
    ROOT.gErrorIgnoreLevel = ROOT.kWarning
    for what, (histograms, fault) in CASES.items():
        compare(what, histograms, folder, command, fault)
    for one in range(seed, seed + count):
        compare(f"seed {one}", drawn(random.Random(one)), folder, command)
    print(f"{len(CASES) + count} sums are equal")


if __name__ == "__main__":
    main()
