"""Writes tests/data/packed.root with C++ ROOT: packed floats in classes, for a grid of ranges, bits and kinds of members.

    python tests/generate/packed.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``) and ``g++``. ``packed.root.values.json`` has every value that ROOT reads back, as the
bytes of float64 in hexadecimal, since nothing less says that two numbers are the same.
"""

import json
import pathlib
import tempfile

import ROOT
import script

ROOT.gROOT.SetBatch(True)
ROOT.gErrorIgnoreLevel = ROOT.kFatal  # ranges that make no sense are meant

RANGES = [
    "",
    *("[0,10]", "[-1,1]", "[0,1,2]", "[-1,1,3]", "[0,10,7]", "[0,10,8]", "[-5,5,12]", "[0,10,15]", "[0,10,16]", "[-1e3,1e3,20]"),
    *("[0,10,24]", "[0,1,30]", "[0,10,31]", "[0,10,32]", "[-10,-5,13]", "[1e-3,1e3,17]", "[0.1,0.7,32]", "[-1e-5,1e-5,23]"),
    *(f"[0,0,{bits}]" for bits in (*range(2, 18), 24, 32)),
    *("[-pi,pi]", "[-pi,pi,10]", "[0,2*pi]", "[0,2pi,14]", "[0,twopi,18]", "[-pi/2,pi/2,11]", "[-pi/4,pi/4,9]", "[0,pi,32]", "[-2*pi,2*pi,16]"),
    *("[ 0, 10, 12]", "[-1,1,10] with words behind", "[0,10,1]", "[0,10,33]", "[5,5,10]", "[10,0,8]", "[0,10,12] [1,2]"),
]
KINDS = {"f": ("Float16_t", "float"), "d": ("Double32_t", "double")}
SOME = ["", "[-8,8]", "[-8,8,12]", "[0,0,6]"]


def members():
    """(name, declaration, comment, how the values of one are had from ``p``)."""
    for letter, (kind, _) in KINDS.items():
        for number, comment in enumerate(RANGES):
            name = f"{letter}{number}"
            yield name, f"{kind} {name} = 0", comment, f"one(p.{name})"
        for number, comment in enumerate(SOME):
            yield f"{letter}a{number}", f"{kind} {letter}a{number}[3] = {{0, 0, 0}}", comment, f"all(p.{letter}a{number}, 3)"
            name = f"{letter}m{number}"
            yield name, f"{kind} {name}[2][2] = {{{{0, 0}}, {{0, 0}}}}", comment, f"all(&p.{name}[0][0], 4)"
            yield f"{letter}p{number}", f"{kind} *{letter}p{number} = nullptr", f"[n]{comment}", f"all(p.{letter}p{number}, p.n)"
    for number, comment in enumerate(SOME):
        yield f"v{number}", f"std::vector<Double32_t> v{number}", comment, f"each(p.v{number})"
        yield f"l{number}", f"std::list<Double32_t> l{number}", comment, f"each(p.l{number})"
    yield "items", "std::vector<Item> items", "", None


def item_members():
    for letter, (kind, _) in KINDS.items():
        for number, comment in enumerate(SOME):
            yield f"{letter}{number}", f"{kind} {letter}{number} = 0", comment
            yield f"{letter}a{number}", f"{kind} {letter}a{number}[2] = {{0, 0}}", comment


def source():
    """The classes, what fills them and what hands their values over."""
    item = "\n".join(f"  {declaration}; //{comment}" for _, declaration, comment in item_members())
    packed = "\n".join(f"  {declaration}; //{comment}" for _, declaration, comment, _ in members())
    given = "\n".join(f"  out.push_back({how});" for *_, how in members() if how)
    of_item = "\n".join(
        f"  out.push_back({{}}); for (const Item &i : p.items) {'{ out.back().push_back(i.%s[0]); out.back().push_back(i.%s[1]); }' % (name, name) if '[' in declaration else 'out.back().push_back(i.%s);' % name}"
        for name, declaration, _ in item_members()
    )

    def filled(of, name, declaration):
        kind = "float" if "Float16" in declaration else "double"
        if "**" in declaration or "*" in declaration:
            return f"  delete[] {of}{name}; {of}{name} = {of}n ? new {kind}[{of}n] : nullptr; for (int k = 0; k < {of}n; k++) {of}{name}[k] = value();"
        if "[2][2]" in declaration:
            return f"  for (auto &row : {of}{name}) for (auto &x : row) x = value();"
        if "[" in declaration:
            return f"  for (auto &x : {of}{name}) x = value();"
        if "std::" in declaration:
            return f"  {of}{name}.clear(); for (int k = 0; k < p.n; k++) {of}{name}.push_back(value());"
        return f"  {of}{name} = value();"

    fills = "\n".join(filled("p.", name, declaration) for name, declaration, _, how in members() if how)
    fills_item = "\n".join(filled("i.", name, declaration) for name, declaration, _ in item_members())
    return f"""
#include <Rtypes.h>
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <cmath>
#include <list>
#include <vector>

struct Item {{
{item}
}};
struct Packed {{
  int n = 0;
{packed}
}};
#ifdef __ROOTCLING__
#pragma link C++ struct Item+;
#pragma link C++ struct Packed+;
#pragma link C++ class std::vector<Item>+;
#endif

using Values = std::vector<std::vector<double>>;
inline int entry = 0;
inline TRandom3 rng(16);
// The ends of ranges, what is outside of them, what is nothing, and anything.
inline double value()
{{
  const double some[] = {{0, -0.0, 1, -1, 10, -10, 5, -5, 3.141592653589793, -3.141592653589793, 6.283185307179586, 1e-3, 1e3, -1e3, 1e-30, 1e30, 0.7, 0.1, 1e-5, 11, -11}};
  const int count = sizeof(some) / sizeof(*some);
  return entry < count ? some[entry] : entry % 2 ? rng.Uniform(-10, 10) : rng.Gaus() * std::pow(10., rng.Integer(8) - 4.);
}}
inline std::vector<double> one(double x) {{ return {{x}}; }}
template <class T>
std::vector<double> all(const T *x, int n) {{ return x ? std::vector<double>(x, x + n) : std::vector<double>(); }}
template <class C>
std::vector<double> each(const C &c) {{ return std::vector<double>(c.begin(), c.end()); }}
inline void fill(Packed &p)
{{
  p.n = entry % 4;
{fills}
  p.items.resize(entry % 3);
  for (Item &i : p.items) {{
{fills_item}
  }}
}}
inline Values values(const Packed &p)
{{
  Values out;
{given}
{of_item}
  return out;
}}
void write(const char *path)
{{
  TFile file(path, "RECREATE", "", 505);
  TTree whole("whole", "in one branch"), split("split", "divided");
  Packed *packed = new Packed;
  whole.Branch("packed", "Packed", &packed, 64000, 0);
  split.Branch("packed.", "Packed", &packed, 64000, 99);
  for (entry = 0; entry < 30; entry++) {{
    fill(*packed);
    whole.Fill();
    split.Fill();
  }}
  file.Write();
}}
Values read(const char *path, const char *name, int k)
{{
  static TFile *file = TFile::Open(path);
  auto tree = file->Get<TTree>(name);
  Packed *packed = nullptr;
  tree->SetBranchAddress(std::string(name) == "whole" ? "packed" : "packed.", &packed);
  tree->GetEntry(k);
  Values out = values(*packed);
  tree->ResetBranchAddresses();
  return out;
}}
"""


def main(folder):
    path = str(folder / "packed.root")
    with tempfile.TemporaryDirectory() as build:
        macro = pathlib.Path(build) / "packed.C"
        macro.write_text(source())
        if ROOT.gROOT.LoadMacro(f"{macro}+") != 0:
            raise SystemExit("the classes do not compile")
        ROOT.write(path)
        names = [name for name, *_, how in members() if how] + [f"items.{name}" for name, *_ in item_members()]
        comments = {name: comment for name, _, comment, _ in members()}
        golden = {}
        for tree in ("whole", "split"):
            found = {name: [] for name in names}
            for entry in range(30):
                for name, values in zip(names, ROOT.read(path, tree, entry), strict=True):
                    found[name] += [float(value).hex() for value in values]
            golden[tree] = found
    if golden["whole"] != golden["split"]:
        raise SystemExit("ROOT reads a divided object otherwise than a whole one")
    columns = {name: {"comment": comments.get(name, ""), "values": " ".join(found)} for name, found in golden["split"].items()}
    lines = (f"{json.dumps(name)}: {json.dumps(column)}" for name, column in columns.items())
    (folder / "packed.root.values.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    script.run(main, script.folder())
