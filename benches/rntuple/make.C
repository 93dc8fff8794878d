// The files that the benchmark reads: plain numbers, lists, lists of lists and lists of lists of lists of floats, not
// compressed and as ROOT writes by default, and a long ntuple of which one entry is read.
//
//   root -l -b -q 'make.C("FOLDER", 20000000, 100000000)'

#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <random>
#include <string>
#include <vector>

namespace {
std::mt19937 engine(1);

int count() { return std::poisson_distribution<int>(3)(engine); }

void fill(float &value) { value = std::normal_distribution<float>()(engine); }
template <class T> void fill(std::vector<T> &list)
{
   list.resize(count());
   for (auto &item : list) fill(item);
}

// About so many floats in all, of which an entry has 3 to the power of the depth.
template <class T> void write(const std::string &path, int setting, long entries)
{
   engine.seed(1);
   auto model = ROOT::RNTupleModel::Create();
   auto value = model->MakeField<T>("x");
   ROOT::RNTupleWriteOptions options;
   options.SetCompression(setting);
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", path, options);
   for (long i = 0; i < entries; i++) {
      fill(*value);
      writer->Fill();
   }
}
} // namespace

void make(std::string folder, long floats = 20000000, long entries = 100000000)
{
   using Floats = std::vector<float>;
   for (auto [name, setting] : {std::pair("none", 0), std::pair("zstd", 505), std::pair("lz4", 404)}) {
      auto path = [&](int depth) { return folder + "/list" + std::to_string(depth) + "." + name + ".root"; };
      write<float>(path(0), setting, floats);
      write<Floats>(path(1), setting, floats / 3);
      write<std::vector<Floats>>(path(2), setting, floats / 9);
      write<std::vector<std::vector<Floats>>>(path(3), setting, floats / 27);
   }
   // Numbers that compress well: the length is what matters.
   auto model = ROOT::RNTupleModel::Create();
   auto number = model->MakeField<int>("number");
   auto list = model->MakeField<std::vector<short>>("list");
   ROOT::RNTupleWriteOptions options;
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", folder + "/long.root", options);
   for (long i = 0; i < entries; i++) {
      *number = i;
      list->assign(i % 3, short(i));
      writer->Fill();
   }
}
