"""Writes tests/data/entry-lists.root with C++ ROOT: lists of entries of trees that are not in it.

    python tests/generate/entry_lists.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``). The trees are those of ``test_entry_lists.py``: numbers from 0 to 149999 in ``a.root``, and to
150999 in ``b.root``.
"""

import array
import os
import shutil
import sys
import tempfile

import ROOT

CUTS = {
    "sparse": "x%1000==7",
    "dense": "x%3==1",
    "inverse": "x%1000!=7",
    "all": "1",
    "none": "0",
    "late": "x>130000 && x%10==0",
}


def tree(path, numbers):
    """A tree of numbers."""
    file = ROOT.TFile(path, "recreate")
    made = ROOT.TTree("t", "t")
    x = array.array("i", [0])
    made.Branch("x", x, "x/I")
    for number in numbers:
        x[0] = number
        made.Fill()
    made.Write()
    file.Close()


def main(folder):
    """Writes the file. Lists have the paths of files in them, which are relative ones."""
    target = os.path.abspath(folder)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        tree("a.root", range(150_000))
        tree("b.root", range(150_000, 151_000))
        chain = ROOT.TChain("t")
        chain.Add("a.root")
        chain.Add("b.root")
        source = ROOT.TFile("a.root")
        numbers = source.Get("t")
        # Of this name alone, as a file has its path in it.
        out = ROOT.TFile("entry-lists.root", "recreate")
        for name, cut in CUTS.items():
            numbers.Draw(f">>{name}", cut, "entrylist")
            found = ROOT.gDirectory.Get(name)
            found.SetFileName("a.root")
            out.WriteObject(found, name)
            if name in ("sparse", "dense", "inverse"):
                found.OptimizeStorage()
                out.WriteObject(found, f"{name}-optimised")
        numbers.Draw(">>events", CUTS["sparse"])
        out.WriteObject(ROOT.gDirectory.Get("events"), "events")
        chain.Draw(">>chained", "x%500==3", "entrylist")
        chained = ROOT.gDirectory.Get("chained")
        for part in chained.GetLists():
            part.SetFileName(os.path.basename(part.GetFileName()))
        chained.SetFileName("a.root")
        out.WriteObject(chained, "chained")
        manual = ROOT.TEntryList("manual", "of no tree")
        for entry in (3, 5, 70_000, 149_999):
            manual.Enter(entry)
        out.WriteObject(manual, "manual")
        out.Close()
        shutil.copy("entry-lists.root", target)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "data"))
