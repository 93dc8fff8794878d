"""Objects of PyROOT as forthwith's, and the other way, in the process of C++ ROOT."""

import pathlib
import subprocess
import sys

import root_judge

import forthwith

SCRIPT = """
sys.path.insert(0, sys.argv[1])
import numpy as np
from forthwith import uproot

histogram = ROOT.TH1D("h", "title;x;y", 10, 0, 1)
histogram.Sumw2()
for at in range(100):
    histogram.Fill(at / 100, 2)
here = ROOT.gDirectory.GetPath()
ours = uproot.from_pyroot(histogram)
assert (ours.name, ours.title, ours.classname) == ("h", "title", "TH1D")
assert ours.values().tolist() == [histogram.GetBinContent(at) for at in range(1, 11)]
assert np.array_equal(ours.errors(), [histogram.GetBinError(at) for at in range(1, 11)])

back = uproot.to_pyroot(ours)
assert isinstance(back, ROOT.TH1D)
assert (back.GetName(), back.GetTitle(), back.GetXaxis().GetTitle()) == ("h", "title", "x")
assert [back.GetBinContent(at) for at in range(12)] == [histogram.GetBinContent(at) for at in range(12)]
assert [back.GetBinError(at) for at in range(12)] == [histogram.GetBinError(at) for at in range(12)]
assert uproot.to_pyroot(ours, "other").GetName() == "other"
assert ROOT.gDirectory.GetPath() == here

graph = ROOT.TGraph(2, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
assert [list(one) for one in uproot.from_pyroot(graph).values()] == [[1, 2], [3, 4]]
vector = uproot.from_pyroot(ROOT.TLorentzVector(1, 2, 3, 4))
assert vector.member("fE") == 4
assert uproot.to_pyroot(vector).Pz() == 3
print(json.dumps("same"))
"""


def test_objects_go_there_and_back(tmp_path):
    # The package alone: what is beside it is for another interpreter.
    (tmp_path / "forthwith").symlink_to(pathlib.Path(forthwith.__file__).parent)
    assert root_judge.by_root(SCRIPT, tmp_path) == "same"


def test_without_root_it_says_so():
    script = "import sys; sys.modules['ROOT'] = None\nfrom forthwith import uproot\nuproot.to_pyroot('x')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "MissingPackageError: PyROOT is not installed" in done.stderr
