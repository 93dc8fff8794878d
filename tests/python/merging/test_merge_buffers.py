"""Sums of random histograms of which entries wait in a buffer, with and without ends of axes.

C++ ROOT is the judge, by one histogram filled with all entries. Its own merger is another one, but not where it adds bins
of the same numbers wherever they are (of histograms of which only some have ends), takes the numbers of a profile's entries
for others, or looks for squares of weights before it has taken the weights from the buffer.
"""

import json

import pytest
from root_judge import by_root

import forthwith

MAKE = """
folder, values = sys.argv[1], {}
ROOT.TH1.AddDirectory(False)
ROOT.gErrorIgnoreLevel = ROOT.kFatal
DIMENSIONS = {"TH1D": 1, "TH1F": 1, "TH1S": 1, "TH2D": 2, "TH2F": 2, "TH2I": 2, "TH3D": 3, "TH3F": 3,
              "TProfile": 1, "TProfile2D": 2, "TProfile3D": 3}
random = ROOT.TRandom3(SEED)

def empty(case, kind, bins, has_ends, options):
    dimensions, is_profile = DIMENSIONS[kind], kind.startswith("TProfile")
    axes = [number for n in bins for number in (n, *((-2, 6) if has_ends else (0, 0)))]
    if is_profile and dimensions < 3 and options["bounds"]:
        axes += [-1.5, 2.5]
    made = getattr(ROOT, kind)(f"h{case}", "", *axes)
    if options["overflows"]:
        made.SetStatOverflows(ROOT.TH1.kConsider)
    if options["room"]:
        made.SetBuffer(options["room"])
    return made

made, wanted, alike = {}, [], {}
for case in range(CASES):
    kind = list(DIMENSIONS)[random.Integer(len(DIMENSIONS))]
    dimensions, is_profile = DIMENSIONS[kind], kind.startswith("TProfile")
    bins = [1 + random.Integer(9) for _ in range(dimensions)]
    options = {name: random.Uniform() < 0.5 for name in ("overflows", "plain", "bounds")}
    most = [2, 30, 200][random.Integer(3)]
    # In a small buffer not all of them have room together.
    options["room"] = 210 if random.Uniform() < 0.4 else 0
    ends = [random.Uniform() < 0.5 for _ in range(FILES)]
    if random.Uniform() < 0.5:
        ends = [ends[0]] * FILES
    alike[f"h{case}"] = not is_profile and options["plain"] and len(set(ends)) == 1
    whole = empty(case, kind, bins, any(ends), options)
    for number in range(FILES):
        part = empty(case, kind, bins, ends[number], options)
        if random.Uniform() < 0.2:
            part.Sumw2()
        if ends[number] and random.Uniform() < 0.5:
            part.SetBuffer(1000)
        for _ in range(random.Integer(most)):
            place = [random.Gaus(2, 3) for _ in range(dimensions + is_profile)]
            place.append(1 if options["plain"] else random.Uniform(-1, 3))
            part.Fill(*place)
            whole.Fill(*place)
        made.setdefault(number, []).append(part)
    wanted.append(whole)
file = ROOT.TFile(f"{folder}/whole.root", "recreate")
for each in wanted:
    each.Write()
file.Close()
merger = ROOT.TFileMerger(False)
merger.OutputFile(f"{folder}/hadd.root")
for number in range(FILES):
    file = ROOT.TFile(f"{folder}/{number}.root", "recreate")
    for each in made[number]:
        each.Write()
    file.Close()
    merger.AddFile(f"{folder}/{number}.root")
merger.Merge()
print(json.dumps(alike))
"""

COMPARE = """
import array
ROOT.TH1.AddDirectory(False)
files = {name: ROOT.TFile(f"{sys.argv[1]}/{name}.root") for name in ("whole", "hadd", "ours")}
different, alike = [], json.loads(sys.argv[2])
for name, judge in [(name, judge) for name, same in alike.items() for judge in ["whole", "hadd"][: 1 + same]]:
    both = []
    for one in (files[judge].Get(name), files["ours"].Get(name)):
        one.BufferEmpty()
        stored = array.array("d", [0] * 20)
        one.GetStats(stored)
        axes = [one.GetXaxis(), one.GetYaxis(), one.GetZaxis()][: one.GetDimension()]
        ends = [number for axis in axes for number in (axis.GetNbins(), axis.GetXmin(), axis.GetXmax())]
        cells = range(one.GetNcells())
        errors = [one.GetBinError(cell) for cell in cells]
        both.append([one.ClassName(), [one.GetEntries(), *ends], list(stored),
                    [one.GetBinContent(cell) for cell in cells], errors])
    for what, one, two in zip(("class", "axes", "statistics", "contents", "errors"), *both):
        if what == "class":
            same = one == two
        else:
            same = len(one) == len(two) and all_close(one, two)
        if not same:
            different.append([judge, name, both[0][0], what, one[:30], two[:30]])
            break
print(json.dumps(different))
"""
CLOSE = """
def all_close(one, two):
    return all(abs(x - y) <= 1e-5 * max(1, abs(x)) or x != x and y != y for x, y in zip(one, two))
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("files", [2, 4])
def test_buffers_are_added_as_root_adds_them(tmp_path, seed, files):
    alike = by_root(f"SEED, FILES, CASES = {seed}, {files}, 60\n{MAKE}", tmp_path)
    assert len(alike) == 60
    forthwith.merge([tmp_path / f"{number}.root" for number in range(files)], tmp_path / "ours.root")
    different = by_root(CLOSE + COMPARE, tmp_path, json.dumps(alike))
    assert not different, "\n".join(map(json.dumps, different))
