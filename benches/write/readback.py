"""readback.py PYTHON FOLDER [FLOATS] [ROUNDS] [KIND]...: files with default sizes, read by forthwith, C++ ROOT and uproot.

PYTHON has forthwith; the Python that runs this has ROOT and uproot; FOLDER should be in memory. C++ ROOT makes each table with its
defaults of baskets, clusters and pages; forthwith reads it and writes it again with its own, by the same codec. Then each reader reads all
columns of both files in a process of its own, in alternating rounds. Printed are medians of milliseconds of processor time, and what
forthwith's file takes of the time of ROOT's: 1 or less is as fast. What is read is compared by its entries and sums.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
from pathlib import Path

SOURCE = r"""
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace bench {
using Vector = std::vector<float>;
using Nested = std::vector<std::vector<float>>;

struct Row {
  TRandom3 random{1};
  std::size_t made = 0;
  float flat[8];
  int n = 0;
  float jagged[16];
  Vector vector;
  Nested nested;

  void list(Vector &into)
  {
    into.resize(random.Integer(16));
    for (auto &x : into) x = random.Gaus();
    made += into.size();
  }
  void next(const std::string &shape)
  {
    if (shape == "flat") {
      for (auto &x : flat) x = random.Gaus();
      made += 8;
    } else if (shape == "nested") {
      nested.resize(random.Integer(4));
      for (auto &inner : nested) list(inner);
    } else {
      list(vector);
      n = vector.size();
      std::copy(vector.begin(), vector.end(), jagged);
    }
  }
};

void tree(const char *path, const std::string &shape, int setting, std::size_t floats)
{
  TFile file(path, "RECREATE", "", setting);
  TTree tree("t", "");
  Row row;
  if (shape == "flat") for (int k = 0; k < 8; k++) tree.Branch(Form("x%d", k), &row.flat[k]);
  if (shape == "jagged") { tree.Branch("n", &row.n, "n/I"); tree.Branch("x", row.jagged, "x[n]/F"); }
  if (shape == "vector") tree.Branch("x", &row.vector);
  if (shape == "nested") tree.Branch("x", &row.nested);
  while (row.made < floats) { row.next(shape); tree.Fill(); }
  tree.Write();
}

void ntuple(const char *path, const std::string &shape, int setting, std::size_t floats)
{
  auto model = ROOT::RNTupleModel::CreateBare();
  Row row;
  if (shape == "flat") for (int k = 0; k < 8; k++) model->MakeField<float>(std::string("x") + char('0' + k));
  if (shape == "vector") model->MakeField<Vector>("x");
  if (shape == "nested") model->MakeField<Nested>("x");
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(setting);
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", path, options);
  auto entry = writer->GetModel().CreateBareEntry();
  if (shape == "flat") for (int k = 0; k < 8; k++) entry->BindRawPtr(std::string("x") + char('0' + k), &row.flat[k]);
  if (shape == "vector") entry->BindRawPtr("x", &row.vector);
  if (shape == "nested") entry->BindRawPtr("x", &row.nested);
  while (row.made < floats) { row.next(shape); writer->Fill(*entry); }
}

/// Seconds, entries and the sum of the first column.
void read_tree(const char *path, const std::string &shape, double *found)
{
  auto begin = std::clock();
  TFile file(path);
  auto *tree = file.Get<TTree>("t");
  Row row;
  Vector *vector = &row.vector;
  Nested *nested = &row.nested;
  if (shape == "flat") for (int k = 0; k < 8; k++) tree->SetBranchAddress(Form("x%d", k), &row.flat[k]);
  if (shape == "jagged") {
    tree->SetBranchAddress(tree->GetBranch("n") ? "n" : "nx", &row.n);
    tree->SetBranchAddress("x", row.jagged);
  }
  if (shape == "vector") tree->SetBranchAddress("x", &vector);
  if (shape == "nested") tree->SetBranchAddress("x", &nested);
  found[1] = tree->GetEntries();
  for (Long64_t at = 0; at < found[1]; at++) {
    tree->GetEntry(at);
    if (shape == "flat") found[2] += row.flat[0];
    if (shape == "jagged") for (int k = 0; k < row.n; k++) found[2] += row.jagged[k];
    if (shape == "vector") for (auto x : *vector) found[2] += x;
    if (shape == "nested") for (auto &inner : *nested) for (auto x : inner) found[2] += x;
  }
  found[0] = double(std::clock() - begin) / CLOCKS_PER_SEC;
}

void read_ntuple(const char *path, const std::string &shape, double *found)
{
  auto begin = std::clock();
  auto reader = ROOT::RNTupleReader::Open("t", path);
  auto entry = reader->GetModel().CreateBareEntry();
  Row row;
  if (shape == "flat") for (int k = 0; k < 8; k++) entry->BindRawPtr(std::string("x") + char('0' + k), &row.flat[k]);
  if (shape == "vector") entry->BindRawPtr("x", &row.vector);
  if (shape == "nested") entry->BindRawPtr("x", &row.nested);
  found[1] = reader->GetNEntries();
  for (std::size_t at = 0; at < found[1]; at++) {
    reader->LoadEntry(at, *entry);
    if (shape == "flat") found[2] += row.flat[0];
    if (shape == "vector") for (auto x : row.vector) found[2] += x;
    if (shape == "nested") for (auto &inner : row.nested) for (auto x : inner) found[2] += x;
  }
  found[0] = double(std::clock() - begin) / CLOCKS_PER_SEC;
}
} // namespace bench
"""

REWRITE = """
import sys, forthwith
source, to, kind, shape, codec = sys.argv[1:]
arrays = forthwith.open(source)["t"].arrays()
arrays = arrays[[name for name in arrays.fields if name != "n"]]
codec = {} if codec == "default" else {"compression": codec}
with forthwith.recreate(to, **codec) as file:
    import awkward as ak
    columns = {name: ak.type(arrays[name]).content for name in arrays.fields}
    if kind == "tree":
        table = file.mktree("t", columns, jagged="counter" if shape == "jagged" else "vector")
    else:
        table = file.mkrntuple("t", columns)
    table.extend({name: arrays[name] for name in arrays.fields})
"""

OURS = """
import resource, sys, json, forthwith
used = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
name = "x0" if sys.argv[2] == "flat" else "x"
times = []
for _ in range(3):
    begin = used()
    arrays = forthwith.open(sys.argv[1])["t"].arrays(threads=1)
    times.append(used() - begin)
import awkward as ak
import numpy as np
print(json.dumps([min(times), len(arrays), float(np.sum(ak.flatten(arrays[name], axis=None).to_numpy(), dtype="f8"))]))
"""


def processor_seconds() -> float:
    """What this process has used."""
    return sum(resource.getrusage(resource.RUSAGE_SELF)[:2])


def by_root(path: str, kind: str, shape: str) -> list[float]:
    """What C++ ROOT needs."""
    import ROOT

    ROOT.gSystem.Load(str(Path(path).parent / "readback_C.so"))
    found = ROOT.std.vector["double"](3)
    {"tree": ROOT.bench.read_tree, "ntuple": ROOT.bench.read_ntuple}[kind](path, shape, found.data())
    return list(found)


def by_uproot(path: str, kind: str, shape: str) -> list[float]:
    """What uproot needs."""
    import awkward as ak
    import numpy as np
    import uproot

    begin = processor_seconds()
    arrays = uproot.open(path)["t"].arrays()
    took = processor_seconds() - begin
    numbers = ak.flatten(arrays["x0" if shape == "flat" else "x"], axis=None)
    return [took, len(arrays), float(np.sum(numbers.to_numpy(), dtype="f8"))]


def read(python: str, reader: str, path: Path, kind: str, shape: str) -> list[float]:
    """Seconds, entries and a sum, of a process of its own."""
    if reader == "forthwith":
        command = [python, "-W", "ignore", "-c", OURS, str(path), shape]
    else:
        command = [sys.executable, "-W", "ignore", __file__, "--read", reader, str(path), kind, shape]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(python: str, folder: str, floats: int = 8_000_000, rounds: int = 5, *kinds: str) -> None:
    """Prints the table."""
    import ROOT

    source = Path(folder) / "readback.C"
    source.write_text(SOURCE)
    if not ROOT.gSystem.CompileMacro(str(source), "kO"):
        raise SystemExit("ROOT's side does not compile")
    print(f"{floats} floats; milliseconds of processor time, ROOT's file and forthwith's, and the ratio")
    shapes_of = {"tree": ("flat", "jagged", "vector", "nested"), "ntuple": ("flat", "vector", "nested")}
    for kind, shapes in ((kind, shapes_of[kind]) for kind in kinds or shapes_of):
        for codec in ("default", "zstd"):
            setting = 505 if codec == "zstd" or kind == "ntuple" else 101
            for shape in shapes:
                theirs, ours = (Path(folder) / f"readback-{writer}.root" for writer in ("root", "forthwith"))
                {"tree": ROOT.bench.tree, "ntuple": ROOT.bench.ntuple}[kind](str(theirs), shape, setting, floats)
                rewrite = [python, "-W", "ignore", "-c", REWRITE, str(theirs), str(ours), kind, shape, codec]
                subprocess.run(rewrite, check=True)
                line = f"{kind:6} {codec:7} {shape:6} {theirs.stat().st_size / 1e6:5.1f} {ours.stat().st_size / 1e6:5.1f} MB"
                for reader in ("forthwith", "root", "uproot"):
                    times: dict[Path, list[float]] = {theirs: [], ours: []}
                    found = set()
                    for _ in range(rounds):
                        for path, taken in times.items():
                            seconds, entries, total = read(python, reader, path, kind, shape)
                            taken.append(1e3 * seconds)
                            found.add((entries, total))
                    assert len(found) == 1, (kind, shape, reader, found)
                    before, after = (statistics.median(taken) for taken in times.values())
                    line += f"   {reader} {before:6.0f} {after:6.0f} {after / before:5.2f}"
                print(line, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--read":
        print(json.dumps({"root": by_root, "uproot": by_uproot}[sys.argv[2]](*sys.argv[3:])))
    else:
        main(*sys.argv[1:3], *map(int, sys.argv[3:5]), *sys.argv[5:])
