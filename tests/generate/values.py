"""The part that generators share that let C++ ROOT tell values as JSON."""

import json
import pathlib
import tempfile

JSON = r"""
#include <TBranch.h>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

// Values as JSON.
std::string json(bool v) { return v ? "true" : "false"; }
std::string json(int v) { return std::to_string(v); }
std::string json(unsigned v) { return std::to_string(v); }
std::string json(double v)
{
  char out[40];
  snprintf(out, sizeof out, "%.17g", v);
  return out;
}
std::string json(const char *v) { return std::string("\"") + v + "\""; }
std::string json(const std::string &v) { return json(v.c_str()); }
std::string record(std::initializer_list<std::pair<const char *, std::string>> fields)
{
  std::string out;
  for (auto &[name, value] : fields)
    out += (out.empty() ? "{" : ", ") + json(name) + ": " + value;
  return out + "}";
}
template <class C, class F>
std::string items(const C &all, F &&each)
{
  std::string out;
  for (auto &&item : all)
    out += (out.empty() ? "" : ", ") + each(item);
  return "[" + out + "]";
}
template <class T>
std::string numbers(const T *v, int n)
{
  return items(std::vector<T>(v, v + n), [](auto x) { return json(x); });
}
template <class T>
std::string entries(TBranch *branch)
{
  T *object = nullptr;
  branch->SetAddress(&object);
  std::string out;
  for (int k = 0; k < branch->GetEntries(); k++) {
    branch->GetEntry(k);
    out += (out.empty() ? "" : ", ") + json(*object);
  }
  return "[" + out + "]"; // what was read is not given back: a process that ends needs no tidying
}
"""


def write(path, golden):
    """One line for each branch."""
    lines = (f"{json.dumps(name)}: {json.dumps(found)}" for name, found in golden.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def write_trees(folder, name, source, files, entries):
    """Compiles a macro; functions of it make files, by their names, and ``read`` tells each branch of the tree ``t`` in them."""
    import ROOT

    with tempfile.TemporaryDirectory() as build:
        macro = pathlib.Path(build) / f"{name}.C"
        macro.write_text(source)
        if ROOT.gROOT.LoadMacro(f"{macro}+") != 0:
            raise SystemExit("the classes do not compile")
        golden = {}
        for made, function in files.items():
            path = str(folder / f"{made}.root")
            getattr(ROOT, function)(path, entries)
            file = ROOT.TFile(path)
            tree = file.Get("t")
            for branch in tree.GetListOfBranches():
                golden[f"{made}/{branch.GetName()}"] = json.loads(str(ROOT.read(tree, branch.GetName())))
    write(folder / f"{name}.root.values.json", golden)
