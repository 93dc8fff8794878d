"""Writes files that were not closed, with C++ ROOT, and beside them what ROOT's own recovery finds in each.

    python tests/generate/unclosed.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``). The files are copies made while ROOT is still writing, as a process that is killed
leaves them: ``early`` before the tree was saved for the first time, ``late`` after it was saved twice and filled again, ``cut`` the
whole file without its last third.
"""

import json
import pathlib
import shutil
import tempfile
from array import array

import ROOT
import script

ROOT.gROOT.SetBatch(True)
ROOT.gErrorIgnoreLevel = ROOT.kFatal


def write(folder):
    path = folder / "unclosed-whole.root"
    file = ROOT.TFile(str(path), "RECREATE")
    hist = ROOT.TH1D("first", "written at once", 4, 0, 4)
    hist.Fill(1, 3)
    hist.Write()
    below = file.mkdir("below")
    below.cd()
    inner = ROOT.TNamed("inner", "in a directory")
    inner.Write()
    file.cd()
    tree = ROOT.TTree("tree", "saved twice")
    x, n, y = array("i", [0]), array("i", [0]), array("d", [0.0] * 4)
    tree.Branch("x", x, "x/I", 400)
    tree.Branch("n", n, "n/I", 400)
    tree.Branch("y", y, "y[n]/D", 800)

    def fill(count):
        for _ in range(count):
            n[0] = x[0] % 4
            for i in range(n[0]):
                y[i] = x[0] + i / 4
            tree.Fill()
            x[0] += 1

    def copy(name):
        file.Flush()
        shutil.copy(path, folder / name)

    fill(300)
    copy("unclosed-early.root")
    tree.AutoSave("SaveSelf")
    fill(300)
    tree.AutoSave("SaveSelf")
    fill(300)
    last = ROOT.TNamed("last", "after the tree")
    last.Write()
    copy("unclosed-late.root")
    tree.Write()
    file.Close()
    whole = path.read_bytes()
    (folder / "unclosed-cut.root").write_bytes(whole[: len(whole) * 2 // 3])
    path.unlink()


def recovered(path):
    """The file that ROOT makes of a copy: it repairs it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, folder)
        file = ROOT.TFile(str(copy), "UPDATE")
        if not file or file.IsZombie():
            return None
        keys = [[str(key.GetName()), int(key.GetCycle()), str(key.GetClassName())] for key in file.GetListOfKeys()]
        tree = file.Get("tree")
        entries = int(tree.GetEntries()) if tree else None
        total = 0
        for i in range(entries or 0):
            tree.GetEntry(i)
            total += int(tree.x)
        file.Close()
        return {"keys": keys, "entries": entries, "sum of x": total}


def main(folder):
    write(folder)
    golden = {path.name: recovered(path) for path in sorted(folder.glob("unclosed-*.root"))}
    (folder / "unclosed.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    script.run(main, script.folder(script.DATA / "unclosed"))
