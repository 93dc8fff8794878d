"""Writes with C++ ROOT tests/data/belongings.root, a tree with an alias, a friend, user info and an index, and friend.root.

    python tests/generate/belongings.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``).
"""

import os
from array import array

import ROOT
import script

ROOT.gROOT.SetBatch(True)
FRIEND = "in-a-file-with-a-long-name-beside-it.root"


def write(folder):
    file = ROOT.TFile(str(folder / "belongings.root"), "RECREATE")
    other = ROOT.TTree("other", "a friend")
    x = array("d", [0])
    other.Branch("x", x, "x/D")
    main = ROOT.TTree("main", "with belongings")
    run, event = array("i", [0]), array("i", [0])
    main.Branch("run", run, "run/I")
    main.Branch("event", event, "event/I")
    for entry in range(10):
        # Not in the order of the index.
        run[0], event[0], x[0] = 5 - entry // 2, 7 * entry % 10, entry / 2
        other.Fill()
        main.Fill()
    other.Write()
    main.BuildIndex("run", "event")
    main.SetAlias("twice", "2*run")
    main.AddFriend("other")
    note = ROOT.TNamed("note", "kept with the tree")
    main.GetUserInfo().Add(note)
    main.Write()
    main.GetUserInfo().Clear()
    file.Close()
    os.chdir(folder)
    (folder / "belongings.root").rename(FRIEND)
    # Not compressed, so that a test can put another path in the place of this one.
    file = ROOT.TFile("friend.root", "RECREATE", "", 0)
    tree = ROOT.TTree("main", "with a friend in another file")
    tree.AddFriend("other", FRIEND)
    tree.Write()
    file.Close()
    (folder / FRIEND).rename("belongings.root")


if __name__ == "__main__":
    script.run(write, script.folder())
