"""Writes tests/data/belongings.root with C++ ROOT: a tree with an alias, a friend, user info and an index.

    python tests/generate/belongings.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``).
"""

import os
import pathlib
import sys
from array import array

import ROOT

ROOT.gROOT.SetBatch(True)
HERE = pathlib.Path(__file__).parents[1] / "data"

folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
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
os._exit(0)  # ROOT and Python do not agree on who tidies up
