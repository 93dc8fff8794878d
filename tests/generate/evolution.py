"""Writes tests/data/evolution/*.root with C++ ROOT: classes in three versions, each in a file of its own and all in one file.

    python tests/generate/evolution.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``) and ``g++``. A process knows one version of a class, so each version is a process.
``values.json`` is what ROOT reads from each tree: with the version that wrote it, and with the last one.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import script
from values import JSON

VERSIONS = 3
ENTRIES = 8

# `Part` has no version: it is known by the checksum of its members.
SOURCE = (
    JSON
    + r"""
#include <TFile.h>
#include <TObject.h>
#include <TString.h>
#include <TTree.h>
#include <list>
#include <map>
#include <string>
#include <vector>

struct Part {
#if VERSION == 1
  int a = 0;
  float b = 0;
#elif VERSION == 2
  double a = 0;
  float b = 0;
  int c = 0;
#else
  short c = 0;
  std::vector<int> d;
  double b = 0;
  Double32_t e = 0; //[-4,4,10]
#endif
};
struct Base {
  int common = 0;
#if VERSION > 1
  double late = 0;
#endif
};
class Evolved : public TObject, public Base {
public:
#if VERSION == 1
  int count = 0;
  float size = 0;
  short small = 0;
  unsigned char tiny = 0;
  Double32_t packed = 0; //[0,10,12]
  int gone = 0;
  float row[3] = {0, 0, 0};
  int n = 0;
  float *counted = nullptr; //[n]
  TString label;
#elif VERSION == 2
  TString label;
  std::string word;
  Long64_t count = 0;
  double size = 0;
  int small = 0;
  float tiny = 0;
  Double32_t packed = 0; //[0,20,16]
  double row[3] = {0, 0, 0};
  int n = 0;
  double *counted = nullptr; //[n]
#else
  double count = 0;
  Float16_t size = 0;
  Long64_t small = 0;
  unsigned int tiny = 0;
  float packed = 0;
  float row[3] = {0, 0, 0};
  int n = 0;
  float *counted = nullptr; //[n]
  TString label;
  std::string word;
  int added[2] = {0, 0};
  Double32_t scaled = 0; //[-10,10,8]
  Float16_t cut = 0; //[0,0,10]
  std::map<int, float> table;
#endif
  Part part;
  std::vector<Part> parts;
  std::vector<int> numbers;
  int last = 0;

  ~Evolved() override { delete[] counted; }
  ClassDefOverride(Evolved, VERSION)
};
// Packed otherwise in each version, or not packed.
struct Cell {
#if VERSION == 1
  Double32_t range = 0; //[-2,10,12]
  Double32_t plain = 0;
  Float16_t cut = 0;
  float loose = 0;
  int whole = 0;
  Double32_t rounded = 0; //[-8,8,10]
  Float16_t same = 0; //[0,0,9]
  Double32_t row[3] = {0, 0, 0}; //[0,10,12]
  int n = 0;
  Double32_t *counted = nullptr; //[n][0,10,12]
  Double32_t *further = nullptr; //[n]
  Float16_t table[2][2] = {{0, 0}, {0, 0}}; //[0,20,7]
#elif VERSION == 2
  Float16_t table[2][2] = {{0, 0}, {0, 0}}; //[0,20,9]
  Double32_t range = 0; //[-5,20,16]
  Double32_t plain = 0; //[0,10,8]
  Float16_t cut = 0; //[0,0,8]
  Float16_t loose = 0; //[0,0,10]
  Double32_t whole = 0; //[-100,300,20]
  Long64_t rounded = 0;
  Float16_t same = 0; //[0,0,9]
  Double32_t late = 0; //[0,4,10]
  float row[3] = {0, 0, 0};
  int n = 0;
  Double32_t *counted = nullptr; //[n][0,20,12]
  Float16_t *further = nullptr; //[n][-4,4,11]
#else
  Double32_t range = 0; //[-4,20]
  double plain = 0;
  float cut = 0;
  Double32_t loose = 0; //[0,0,6]
  Double32_t whole = 0;
  int rounded = 0;
  Float16_t same = 0; //[0,0,9]
  Double32_t late = 0; //[0,8,10]
  Double32_t row[3] = {0, 0, 0}; //[0,20,9]
  int n = 0;
  Float16_t *counted = nullptr; //[n]
  Double32_t *further = nullptr; //[n][-9,9,13]
  Float16_t table[2][2] = {{0, 0}, {0, 0}}; //[0,20,11]
#endif
};
struct Holder {
  Cell cell;
  std::vector<Cell> cells; // member by member
  std::map<int, Cell> named;
  Cell pair[2];
};
#ifdef __ROOTCLING__
#pragma link C++ struct Cell+;
#pragma link C++ struct Holder+;
#pragma link C++ class std::vector<Cell>+;
#pragma link C++ class std::map<int, Cell>+;
#pragma link C++ struct Part+;
#pragma link C++ struct Base+;
#pragma link C++ class Evolved+;
#pragma link C++ class std::vector<Part>+;
#endif

inline void fill(Part &p, int k)
{
  p.b = k * 1.5f;
#if VERSION < 3
  p.a = k * 3;
#endif
#if VERSION > 1
  p.c = -k;
#endif
#if VERSION > 2
  p.d.assign(k % 3, k);
  p.e = k / 3. - 1;
#endif
}
inline void fill(Cell &c, int k)
{
  c.range = k / 7. - 1;
  c.plain = k / 3.;
  c.cut = k / 9. - 2;
  c.loose = 1.7 * k - 3;
  c.whole = 13 * k - 60;
  c.rounded = 5 - 1.3 * k;
  c.same = k / 11.;
#if VERSION > 1
  c.late = k / 5.;
#endif
  for (int j = 0; j < 3; j++)
    c.row[j] = (k + j) / 3.;
  c.n = k % 4; // nobody gives arrays back
  c.counted = new std::decay_t<decltype(*c.counted)>[c.n];
  c.further = new std::decay_t<decltype(*c.further)>[c.n];
  for (int j = 0; j < c.n; j++)
    c.counted[j] = k / 3. + j, c.further[j] = (j - k) / 6.;
  for (int j = 0; j < 4; j++)
    c.table[j / 2][j % 2] = k + j / 7.;
}
inline void fill(Holder &h, int k)
{
  fill(h.cell, k);
  h.cells.clear(), h.named.clear();
  h.cells.resize(k % 3);
  for (int j = 0; j < k % 3; j++)
    fill(h.cells[j], k + j), fill(h.named[j], k - j);
  fill(h.pair[0], k + 1), fill(h.pair[1], k + 2);
}
inline void fill(Evolved &e, int k)
{
  e.common = 7 * k;
  e.count = 1000 * VERSION + k;
  e.size = k / 4. + VERSION;
  e.small = -k;
  e.tiny = 200 + k;
  e.packed = k;
  for (int j = 0; j < 3; j++)
    e.row[j] = k + j / 8.;
  e.n = k % 4;
  delete[] e.counted;
  e.counted = e.n ? new std::decay_t<decltype(*e.counted)>[e.n] : nullptr;
  for (int j = 0; j < e.n; j++)
    e.counted[j] = j + k / 2.;
  e.label = TString::Format("label %d", k);
#if VERSION == 1
  e.gone = 99;
#else
  e.late = k / 3.;
  e.word = std::string(k, 'w');
#endif
#if VERSION == 3
  e.added[0] = k, e.added[1] = -k;
  e.scaled = k - 3.3;
  e.cut = k / 7.;
  e.table.clear();
  if (k % 2)
    e.table[k] = k / 2.;
#endif
  fill(e.part, k);
  e.parts.resize(k % 3);
  for (int j = 0; j < k % 3; j++)
    fill(e.parts[j], k + j);
  e.numbers.assign(k % 4, k);
  e.last = -7;
}
void write(const char *path, const char *mode, const char *suffix, int entries)
{
  TFile file(path, mode, "", 505);
  TTree whole(TString("whole") + suffix, "in one branch"), split(TString("split") + suffix, "divided"), packed(TString("packed") + suffix, "packed otherwise"), packs(TString("packs") + suffix, "packed otherwise, divided");
  Evolved *evolved = new Evolved;
  Holder *holder = new Holder;
  whole.Branch("evolved", "Evolved", &evolved, 4000, 0);
  split.Branch("evolved.", "Evolved", &evolved, 4000, 99);
  packed.Branch("holder", "Holder", &holder, 4000, 0);
  packs.Branch("holder", "Holder", &holder, 4000, 1);
  for (int k = 0; k < entries; k++) {
    fill(*evolved, k);
    fill(*holder, 2 * k);
    whole.Fill();
    split.Fill();
    packed.Fill();
    packs.Fill();
  }
  file.WriteObject(evolved, TString("object") + suffix);
  file.Write();
}
std::string json(const Cell &c)
{
  auto all = [](auto *v, int n) { return items(std::vector<double>(v, v + n), [](double x) { return json(x); }); };
  std::string late;
#if VERSION > 1
  late = ", \"late\": " + json(c.late);
#endif
  auto table = "[" + all(c.table[0], 2) + ", " + all(c.table[1], 2) + "]";
  auto rest = record({{"range", json(c.range)}, {"plain", json(c.plain)}, {"cut", json(c.cut)}, {"loose", json(c.loose)}, {"whole", json(c.whole)},
                      {"rounded", json(double(c.rounded))}, {"same", json(c.same)}, {"row", all(c.row, 3)}, {"n", json(c.n)},
                      {"counted", all(c.counted, c.n)}, {"further", all(c.further, c.n)}, {"table", table}});
  return rest.substr(0, rest.size() - 1) + late + "}";
}
std::string json(const Holder &h)
{
  auto cell = [](const Cell &c) { return json(c); };
  auto named = items(h.named, [](auto &pair) { return "[" + json(pair.first) + ", " + json(pair.second) + "]"; });
  return record({{"cell", json(h.cell)}, {"cells", items(h.cells, cell)}, {"named", named}, {"pair", items(h.pair, cell)}});
}
"""
)

MEMBERS = ["common", "late", "count", "size", "small", "tiny", "packed", "gone", "row", "n", "counted", "label", "word", "added", "scaled", "cut", "table"]
MEMBERS += ["part", "parts", "numbers", "last"]
COUNTED = ["counted", "further"]


def without(value, names):
    """Records without some fields."""
    if isinstance(value, dict):
        return {name: without(item, names) for name, item in value.items() if name not in names}
    return [without(item, names) for item in value] if isinstance(value, list) else value


def plain(value, count=None):
    """A C++ value as JSON has it."""
    if isinstance(value, (bool, int, float, str)):
        return value
    kind = type(value).__name__
    if "map<" in kind:
        return [[plain(item.first), plain(item.second)] for item in value]
    if kind in ("TString", "string") or kind.endswith("::string"):
        return str(value)
    if "vector<" in kind:
        return [plain(item) for item in value]
    if kind == "Holder":
        return json.loads(str(ROOT.json(value)))
    if kind in ("Part", "Evolved"):
        names = MEMBERS if kind == "Evolved" else ["a", "b", "c", "d", "e"]
        found = {name: plain(getattr(value, name), value.n if name == "counted" else None) for name in names if hasattr(value, name)}
        # Python takes an unsigned char for text.
        return {name: ord(item) if name == "tiny" and isinstance(item, str) else item for name, item in found.items()}
    return [value[i] for i in range(len(value) if count is None else count)]


def process(version, folder, action, *rest):
    """What a process of one version does."""
    global ROOT
    import ROOT

    ROOT.gROOT.SetBatch(True)
    ROOT.gErrorIgnoreLevel = ROOT.kError
    with tempfile.TemporaryDirectory() as build:
        macro = pathlib.Path(build) / "evolved.C"
        macro.write_text(f"#define VERSION {version}\n" + SOURCE)
        if ROOT.gROOT.LoadMacro(f"{macro}+") != 0:
            raise SystemExit("the classes do not compile")
        os.chdir(folder)
        if action == "write":
            ROOT.write(f"version{version}.root", "RECREATE", "", ENTRIES)
            ROOT.write("all.root", "RECREATE" if version == "1" else "UPDATE", version, ENTRIES)
            return
        found = {}
        for path in rest:
            file = ROOT.TFile.Open(path)
            for key in file.GetListOfKeys():
                packed = key.GetName().startswith("pack")
                if packed and (path == "all.root") != (action == "last") or key.GetName() == "packs":
                    continue
                if key.GetClassName() != "TTree":
                    value = plain(key.ReadObj())
                else:
                    tree = key.ReadObj()
                    value = []
                    for entry in range(tree.GetEntries()):
                        tree.GetEntry(entry)
                        value.append(plain(getattr(tree, tree.GetListOfBranches()[0].GetName().rstrip("."))))
                if packed and action == "read":
                    # Of this version, ROOT reads arrays that are counted; of others, it takes them for what is not packed.
                    value = [{name: entry["cell"][name] for name in COUNTED} for entry in value]
                elif packed and not key.GetName().endswith(str(VERSIONS)):
                    value = without(value, COUNTED)
                found[f"{path}:{key.GetName()}"] = value
        (folder / f"read{version}-{action}.json").write_text(json.dumps(found))


def main(folder):
    folder.mkdir(exist_ok=True)

    def run(*arguments):
        subprocess.run([sys.executable, "-W", "ignore", __file__, "--process", str(folder), *map(str, arguments)], check=True)

    golden = {"own": {}, "last": {}}
    for version in range(1, VERSIONS + 1):
        run(version, "write")
        run(version, "read", f"version{version}.root")
        golden["own"] |= json.loads((folder / f"read{version}-read.json").read_text())
    files = [f"version{version}.root" for version in range(1, VERSIONS + 1)]
    run(VERSIONS, "last", *files, "all.root")
    golden["last"] = json.loads((folder / f"read{VERSIONS}-last.json").read_text())
    for path in folder.glob("read*.json"):
        path.unlink()
    lines = [f"{json.dumps(way)}: {{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}" for way, found in golden.items()]
    (folder / "values.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--process"]:
        script.run(process, sys.argv[3], pathlib.Path(sys.argv[2]), *sys.argv[4:])
    script.run(main, script.folder(script.DATA / "evolution"))
