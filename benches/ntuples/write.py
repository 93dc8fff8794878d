"""write.py PROGRAM FOLDER [FLOATS] [ROUNDS] [CODEC]...: RNTuples written by forthwith and by C++ ROOT, in alternating rounds.

PROGRAM is the example ``write_ntuple`` of the crate ``forthwith``; FOLDER should be in memory. Needs PyROOT and a C++ compiler. Both
write the same shapes of floats: numbers, lists, lists of lists and lists of lists of lists, of 0 to 15 items; they are made before the clock
runs. ROOT fills entry by entry: its writer has no other way. Prints medians of processor time, so that it may be run on a machine that is
not quiet, and which share of forthwith's is what there is to be done at least: the codec alone on the same pages, or without a codec a file
of the same bytes; the codec, checksums and writing what it makes; and these with the bytes of pages made of the array.
"""

import shlex
import statistics
import subprocess
import sys

import ROOT

SOURCE = r"""
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <random>
#include <vector>

namespace bench {
template <int D> struct Nested { using Type = std::vector<typename Nested<D - 1>::Type>; };
template <> struct Nested<0> { using Type = float; };

std::vector<std::vector<std::size_t>> counts(int depth, std::size_t floats)
{
  std::mt19937 random(1);
  std::vector<std::vector<std::size_t>> levels;
  std::size_t below = floats;
  for (int level = 0; level < depth; level++) {
    std::vector<std::size_t> lists;
    for (std::size_t end = 0; end < below;) {
      auto count = std::min<std::size_t>(random() % 16, below - end);
      lists.push_back(count);
      end += count;
    }
    below = lists.size();
    levels.push_back(lists);
  }
  return levels;
}

struct Next {
  std::mt19937 random{2};
  std::normal_distribution<float> normal;
  std::vector<std::size_t> at;
  const std::vector<std::vector<std::size_t>> &levels;
  Next(const std::vector<std::vector<std::size_t>> &levels) : at(levels.size()), levels(levels) {}
  void make(float &v) { v = normal(random); }
  template <class T> void make(std::vector<T> &v, int level)
  {
    v.resize(levels[level][at[level]++]);
    for (auto &x : v) {
      if constexpr (std::is_same_v<T, float>) make(x); else make(x, level - 1);
    }
  }
};

template <int D> void write(const char *path, int setting, std::size_t floats, int repetitions, double *best)
{
  using T = typename Nested<D>::Type;
  auto levels = counts(D, floats);
  std::vector<T> rows(D ? levels.back().size() : floats);
  Next next(levels);
  for (auto &row : rows) {
    if constexpr (D == 0) next.make(row); else next.make(row, D - 1);
  }
  best[0] = best[1] = 1e9;
  for (int k = 0; k < repetitions; k++) {
    std::remove(path);
    auto begin = std::chrono::steady_clock::now();
    auto used = std::clock();
    {
      auto model = ROOT::RNTupleModel::CreateBare();
      model->MakeField<T>("x");
      ROOT::RNTupleWriteOptions options;
      options.SetCompression(setting);
      auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", path, options);
      auto entry = writer->GetModel().CreateBareEntry();
      auto token = entry->GetToken("x");
      for (auto &row : rows) {
        entry->BindRawPtr(token, &row);
        writer->Fill(*entry);
      }
    }
    best[0] = std::min(best[0], double(std::clock() - used) / CLOCKS_PER_SEC);
    best[1] = std::min(best[1], std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
}

void run(int depth, const char *path, int setting, std::size_t floats, int repetitions, double *best)
{
  switch (depth) {
  case 0: return write<0>(path, setting, floats, repetitions, best);
  case 1: return write<1>(path, setting, floats, repetitions, best);
  case 2: return write<2>(path, setting, floats, repetitions, best);
  default: return write<3>(path, setting, floats, repetitions, best);
  }
}
} // namespace bench
"""

SETTINGS = {"none": 0, "zstd": 505, "lz4": 404}


def main(program, folder, floats=8_000_000, rounds=5, *codecs):
    source = f"{folder}/bench_ntuples.C"
    with open(source, "w") as file:
        file.write(SOURCE)
    if not ROOT.gSystem.CompileMacro(source, "kO"):
        raise SystemExit("ROOT's side does not compile")
    path = f"{folder}/bench.root"
    print("depth codec   ROOT s  forthwith s  ratio  least s  share  and writing s  share  and pages s  share")
    for depth in range(4):
        for codec in codecs or SETTINGS:
            times = []
            for _ in range(rounds):
                best = ROOT.std.vector["double"](2)
                ROOT.bench.run(depth, path, SETTINGS[codec], floats, 1, best.data())
                arguments = [*shlex.split(program), path, depth, codec, floats, 2]
                said = subprocess.run([*map(str, arguments)], check=True, capture_output=True, text=True).stdout.split()
                times.append((best[0], float(said[0]), float(said[3]), float(said[5]), float(said[7])))
            theirs, ours, least, both, made = map(statistics.median, zip(*times, strict=True))
            print(
                f"{depth:5} {codec:5} {theirs:8.4f} {ours:12.4f} {theirs / ours:6.2f} {least:8.4f} {least / ours:6.2f}"
                f" {both:14.4f} {both / ours:6.2f} {made:12.4f} {made / ours:6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:5]), *sys.argv[5:])
