// C++ ROOT in bulk, as a user has it: each cluster's entries of `x` at a time, lists as RVec. Prints the milliseconds of
// processor time of the best of some reads, each with a reader of its own, and the number of floats with their sum.
//
//   root -l -b -q 'read.C+("FILE", DEPTH, READS)'

#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RVec.hxx>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

namespace {
double now()
{
   timespec at;
   clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
   return at.tv_sec * 1e3 + at.tv_nsec * 1e-6;
}

void add(float value, double &sum, long &count) { sum += value; count++; }
template <class T> void add(const ROOT::RVec<T> &list, double &sum, long &count)
{
   for (const auto &item : list) add(item, sum, count);
}

template <class T> void time(const std::string &path, int reads)
{
   double best = 1e300, sum = 0;
   long count = 0;
   for (int k = 0; k < reads; k++) {
      double begun = now(), summing = 0;
      auto model = ROOT::RNTupleModel::Create();
      model->MakeField<T>("x");
      auto reader = ROOT::RNTupleReader::Open(std::move(model), "t", path);
      auto bulk = reader->GetModel().CreateBulk("x");
      std::unique_ptr<bool[]> mask;
      std::size_t size = 0;
      for (const auto &cluster : reader->GetDescriptor().GetClusterIterable()) {
         const auto entries = cluster.GetNEntries();
         if (entries > size) {
            mask = std::make_unique<bool[]>(entries);
            std::fill_n(mask.get(), entries, true);
            size = entries;
         }
         auto *values = static_cast<T *>(bulk.ReadBulk(ROOT::RNTupleLocalIndex(cluster.GetId(), 0), mask.get(), entries));
         if (k) continue;
         double at = now();
         for (std::size_t i = 0; i < entries; i++) add(values[i], sum, count);
         summing += now() - at;
      }
      best = std::min(best, now() - begun - summing);
   }
   printf("RESULT %.3f %ld %.6g\n", best, count, sum);
}
} // namespace

void read(std::string path, int depth, int reads)
{
   using Floats = ROOT::RVec<float>;
   switch (depth) {
   case 0: return time<float>(path, reads);
   case 1: return time<Floats>(path, reads);
   case 2: return time<ROOT::RVec<Floats>>(path, reads);
   default: return time<ROOT::RVec<ROOT::RVec<Floats>>>(path, reads);
   }
}
