"""Writes tests/data/standard.root with C++ ROOT, containers of the standard library that are objects of their own, and
tests/data/ntuple.root, an RNTuple.

    python tests/generate/standard.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``). ``standard.root.values.json`` is what ROOT reads of each.
"""

import json
import os

import ROOT
import script

ROOT.gErrorIgnoreLevel = ROOT.kError

# Name, type, and the value that it is made of.
OBJECTS = [
    ("ints", "std::vector<int>", "{1, 2, 3}"),
    ("none", "std::vector<double>", "{}"),
    ("doubles", "std::vector<double>", "{1, 2.5, -1e300}"),
    ("bools", "std::vector<bool>", "{true, false, true}"),
    ("shorts", "std::vector<short>", "{7}"),
    ("longs", "std::vector<Long64_t>", "{1ll << 40, -1}"),
    ("texts", "std::vector<std::string>", '{"a", "", "bc"}'),
    ("nested", "std::vector<std::vector<float>>", "{{1, 2}, {}, {3}}"),
    ("set", "std::set<int>", "{3, 1}"),
    ("list", "std::list<double>", "{3, 1}"),
    ("by_name", "std::map<std::string, double>", '{{"a", 1.5}, {"b", 2}}'),
    ("numbers", "std::map<std::string, int>", '{{"a", 1}}'),
    ("text", "std::string", '"hello"'),
    ("vectors", "std::vector<TVector3>", "{{1, 2, 3}, {4, 5, 6}}"),
]


def plain(value, kind):
    """A value that ROOT has read, as JSON has it."""
    if kind == "std::string":
        return str(value)
    if "map<" in kind:
        return {str(pair.first): pair.second for pair in value}
    if "TVector3" in kind:
        return [[item.X(), item.Y(), item.Z()] for item in value]
    if "vector<std::vector" in kind:
        return [list(item) for item in value]
    return [str(item) if "string" in kind else item for item in value]


def ntuple():
    """An RNTuple, whose data are in records that no directory lists."""
    model = ROOT.RNTupleModel.Create()
    model.MakeField["int"]("number")
    with ROOT.RNTupleWriter.Recreate(model, "ntuple", "ntuple.root") as writer:
        for number in range(10):
            entry = writer.CreateEntry()
            entry["number"] = number
            writer.Fill(entry)


def write(folder):
    os.chdir(folder)  # the file holds its name as it is given here
    lines = ['TFile file("standard.root", "RECREATE");']
    for name, kind, value in OBJECTS:
        lines.append(
            f'{{ {kind} value{value if value[0] == "{" else f"({value})"}; file.WriteObject(&value, "{name}"); }}'
        )
    ROOT.gInterpreter.Declare("#include <TVector3.h>\n#include <list>\n#include <map>\n#include <set>")
    ROOT.gInterpreter.Declare("void write_standard() { " + "\n".join(lines) + " }")
    ROOT.write_standard()
    read = ROOT.TFile.Open("standard.root")
    assert [key.GetName() for key in read.GetListOfKeys()] == [name for name, _, _ in OBJECTS]
    values = {name: plain(read.Get(name), kind) for name, kind, _ in OBJECTS}
    (folder / "standard.root.values.json").write_text(json.dumps(values, indent=1) + "\n")
    ntuple()


if __name__ == "__main__":
    script.run(write, script.folder())
