"""Writes tests/data/circles.root with C++ ROOT: objects that pointers lead to from several places, and in circles.

    python tests/generate/circles.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``).
"""

import ROOT
import script


def main(folder):
    file = ROOT.TFile(str(folder / "circles.root"), "RECREATE")
    first, second, shared = ROOT.TObjArray(), ROOT.TObjArray(), ROOT.TNamed("shared", "by both")
    first.SetName("first")
    second.SetName("second")
    for item in (second, shared, first):
        first.Add(item)
    for item in (shared, first):
        second.Add(item)
    first.Write("circle", ROOT.TObject.kSingleKey)
    # Each leads to the one before.
    links = [ROOT.TObjArray() for _ in range(400)]
    chain = ROOT.TObjArray()
    for before, link in zip([None, *links], links):
        if before is not None:
            link.Add(before)
        chain.Add(link)
    chain.Write("chain", ROOT.TObject.kSingleKey)
    file.Close()


if __name__ == "__main__":
    script.run(main, script.folder())
