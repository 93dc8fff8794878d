"""read.py PROGRAM FOLDER FORTHWITH_PYTHON [FLOATS] [ROUNDS]: what it takes to read RNTuples that forthwith wrote, and those of ROOT.

PROGRAM is the example ``write_ntuple`` of the crate ``forthwith``, and FORTHWITH_PYTHON an interpreter with forthwith. Both write the same
numbers with their defaults; C++ ROOT, uproot and forthwith read both files in alternating rounds. Prints medians of processor time.
"""

import statistics
import subprocess
import sys
import time

import ROOT
import uproot
from write import SOURCE

READ = r"""
namespace bench {
template <class T> double sum(const T &v) { if constexpr (std::is_arithmetic_v<T>) return v; else { double s = 0; for (auto &x : v) s += sum(x); return s; } }
template <class T> double read(const char *path)
{
  auto reader = ROOT::RNTupleReader::Open("t", path);
  auto view = reader->GetView<T>("x");
  double s = 0;
  for (auto i : reader->GetEntryRange()) s += sum(view(i));
  return s;
}
double read_of(int depth, const char *path)
{
  switch (depth) {
  case 0: return read<float>(path);
  case 1: return read<std::vector<float>>(path);
  default: return read<std::vector<std::vector<std::vector<float>>>>(path);
  }
}
// The numbers of one file, written by ROOT with its defaults.
template <class T> void copy(const char *from, const char *to)
{
  auto reader = ROOT::RNTupleReader::Open("t", from);
  auto view = reader->GetView<T>("x");
  auto model = ROOT::RNTupleModel::Create();
  auto x = model->MakeField<T>("x");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", to);
  for (auto i : reader->GetEntryRange()) { *x = view(i); writer->Fill(); }
}
void copy_of(int depth, const char *from, const char *to)
{
  switch (depth) {
  case 0: return copy<float>(from, to);
  case 1: return copy<std::vector<float>>(from, to);
  default: return copy<std::vector<std::vector<std::vector<float>>>>(from, to);
  }
}
} // namespace bench
"""

FORTHWITH = """
import sys, time, forthwith
for path in sys.stdin:
    begin = time.process_time()
    with forthwith.open(path.strip(), threads=1) as file:
        file["t"]["x"].array()
    print(time.process_time() - begin, flush=True)
"""


def timed(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main(program, folder, python, floats=8_000_000, rounds=7):
    source = f"{folder}/bench_ntuples_read.C"
    with open(source, "w") as file:
        file.write(SOURCE.replace("<ROOT/RNTupleWriter.hxx>", "<ROOT/RNTupleWriter.hxx>\n#include <ROOT/RNTupleReader.hxx>") + READ)
    if not ROOT.gSystem.CompileMacro(source, "kO"):
        raise SystemExit("ROOT's side does not compile")
    command = [python, "-W", "ignore", "-c", FORTHWITH]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ours:

        def asked(path):
            print(path, file=ours.stdin, flush=True)
            return float(ours.stdout.readline())

        readers = {
            "C++ ROOT": lambda depth, path: timed(lambda: ROOT.bench.read_of(depth, path)),
            "uproot": lambda depth, path: timed(lambda: uproot.open(path)["t"]["x"].array()),
            "forthwith": lambda depth, path: asked(path),
        }
        print("depth reader     of forthwith s  of ROOT s  ratio")
        for depth in (0, 1, 3):
            paths = [f"{folder}/forthwith.root", f"{folder}/root.root"]
            subprocess.run([program, paths[0], str(depth), "zstd", str(floats), "1"], check=True, capture_output=True)
            ROOT.bench.copy_of(depth, *paths)
            for name, reader in readers.items():
                times = [[reader(depth, path) for path in paths] for _ in range(rounds + 1)][1:]
                one, other = map(statistics.median, zip(*times, strict=True))
                print(f"{depth:5} {name:10} {one:14.3f} {other:10.3f} {other / one:6.2f}", flush=True)
        ours.stdin.close()


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
