"""Runs scripts under C++ ROOT, each in a process that is forked off one where ROOT has been imported.

Importing ROOT takes longer than most scripts. A request is a line of JSON on standard input: the script's text, its arguments,
its folder, what its environment has besides the server's, and names of files for what it prints and for its errors. The
answer is a line with what the process returned, as :mod:`subprocess` has it.
"""

import array
import json
import os
import sys
import tempfile

# Whatever else is printed here is no answer.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
# The folder of this file has modules of tests.
del sys.path[0]

import ROOT  # noqa: E402

ROOT.gROOT.SetBatch(True)
# What most scripts need, and would be made for each of them.
ROOT.gInterpreter.Declare("#include <ROOT/RNTupleReader.hxx>\n#include <TTree.h>\n#include <TFile.h>")
ROOT.std.vector["int"]()


def warm():
    """Does what most scripts do, so that what Python calls of ROOT is compiled once."""
    numbers, items = array.array("i", [0]), ROOT.std.vector["float"](1)
    with tempfile.TemporaryDirectory() as folder:
        file = ROOT.TFile.Open(os.path.join(folder, "warm.root"), "recreate")
        tree = ROOT.TTree("t", "t")
        tree.Branch("x", numbers, "x/I")
        tree.Branch("v", items)
        tree.Fill()
        file.Write()
        tree = file.Get("t")
        for branch in tree.GetListOfBranches():
            _ = branch.GetName(), branch.GetTitle(), branch.GetClassName(), list(branch.GetListOfBranches())
            for leaf in branch.GetListOfLeaves():
                _ = leaf.ClassName(), leaf.GetTypeName(), leaf.GetTitle(), leaf.GetLen()
        for entry in tree:
            _ = entry.x, list(entry.v)
        _ = [(key.GetName(), key.GetClassName(), key.GetCycle()) for key in file.GetListOfKeys()]
        file.Close()


warm()


def begin(request):
    """Makes the present process what a Python that was started for the script would be."""
    for number, name in ((0, os.devnull), (1, request["output"]), (2, request["errors"])):
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    # What was read of requests stays in the other's buffer.
    sys.stdin = os.fdopen(0)
    sys.argv = ["-c", *request["arguments"]]
    os.chdir(request["folder"])
    os.environ.update(request["environment"])


script = None
for line in sys.stdin:
    request = json.loads(line)
    child = os.fork()
    if child == 0:
        answers.close()
        begin(request)
        script = request["script"]
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)
if script is not None:
    exec(compile(script, "<script>", "exec"), {"__name__": "__main__"})
