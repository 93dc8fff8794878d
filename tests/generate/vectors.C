// vectors.root: branches made of std::vector of numbers, bools and strings, nested up to four deep, with empty
// vectors at every level; std::string and TString.
#include "classes.h"
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <functional>
#include <limits>
#include <memory>

namespace {

TRandom3 rng(65539);

template <class T>
struct Random {
  static void fill(T &v, int)
  {
    if constexpr (std::is_same_v<T, bool>)
      v = rng.Uniform() < 0.5;
    else if constexpr (std::is_floating_point_v<T>)
      v = rng.Uniform() < 0.02 ? std::numeric_limits<T>::infinity() : T(rng.Gaus(0, 50));
    else
      v = static_cast<T>((ULong64_t(rng.Integer(0xffffffffu)) << 32) ^ rng.Integer(0xffffffffu));
  }
};
template <class S>
void randomText(S &v)
{
  int size = rng.Uniform() < 0.2 ? 0 : rng.Uniform() < 0.03 ? 250 + rng.Integer(20) : rng.Integer(12);
  v = "";
  for (int k = 0; k < size; k++)
    v += static_cast<char>('a' + rng.Integer(26));
}
template <>
struct Random<std::string> {
  static void fill(std::string &v, int) { randomText(v); }
};
template <>
struct Random<TString> {
  static void fill(TString &v, int) { randomText(v); }
};
template <class T>
struct Random<std::vector<T>> {
  static void fill(std::vector<T> &v, int mean)
  {
    v.clear();
    for (int n = rng.Uniform() < 0.25 ? 0 : rng.Poisson(mean); n > 0; n--) {
      T item{};
      Random<T>::fill(item, mean);
      v.push_back(item);
    }
  }
};

// The objects of all branches of a tree, and how to fill them.
struct Columns {
  TTree tree;
  std::vector<std::function<void(int)>> fills;

  Columns(const char *name, const char *title) : tree(name, title) {}

  template <class T>
  void add(const char *name, int mean, int basket = 1000)
  {
    auto object = std::make_shared<T>();
    tree.Branch(name, object.get(), basket);
    fills.push_back([object, mean](int entry) {
      // The first two entries are empty, or the whole column would never begin with nothing.
      if (entry < 2)
        *object = T{};
      else
        Random<T>::fill(*object, mean);
    });
  }
  void write(int entries)
  {
    for (int entry = 0; entry < entries; entry++) {
      for (auto &fill : fills)
        fill(entry);
      tree.Fill();
    }
    tree.Write();
  }
};

template <class T>
using V = std::vector<T>;

} // namespace

void vectors()
{
  TFile file("vectors.root", "RECREATE", "", 505);
  {
    Columns t("one", "std::vector of each number type, and strings");
    t.add<V<bool>>("bool", 3);
    t.add<V<char>>("char", 3);
    t.add<V<signed char>>("int8", 3);
    t.add<V<unsigned char>>("uint8", 3);
    t.add<V<short>>("int16", 3);
    t.add<V<unsigned short>>("uint16", 3);
    t.add<V<int>>("int32", 3);
    t.add<V<unsigned int>>("uint32", 3);
    t.add<V<long>>("long", 3);
    t.add<V<unsigned long>>("ulong", 3);
    t.add<V<Long64_t>>("int64", 3);
    t.add<V<ULong64_t>>("uint64", 3);
    t.add<V<float>>("float32", 3);
    t.add<V<double>>("float64", 3);
    t.add<V<std::string>>("string", 3);
    t.add<V<TString>>("tstring", 3);
    t.add<std::string>("std_string", 0);
    t.add<TString>("TString", 0);
    t.write(60);
  }
  file.cd();
  {
    Columns t("two", "vectors of vectors");
    t.add<V<V<bool>>>("bool", 3);
    t.add<V<V<char>>>("int8", 3);
    t.add<V<V<unsigned char>>>("uint8", 3);
    t.add<V<V<short>>>("int16", 3);
    t.add<V<V<unsigned short>>>("uint16", 3);
    t.add<V<V<int>>>("int32", 3);
    t.add<V<V<unsigned int>>>("uint32", 3);
    t.add<V<V<Long64_t>>>("int64", 3);
    t.add<V<V<ULong64_t>>>("uint64", 3);
    t.add<V<V<float>>>("float32", 3);
    t.add<V<V<double>>>("float64", 3);
    t.add<V<V<std::string>>>("string", 2);
    t.write(40);
  }
  file.cd();
  {
    Columns t("deep", "three and four levels");
    t.add<V<V<V<bool>>>>("bool3", 2);
    t.add<V<V<V<int>>>>("int3", 2);
    t.add<V<V<V<float>>>>("float3", 2);
    t.add<V<V<V<double>>>>("double3", 2);
    t.add<V<V<V<std::string>>>>("string3", 2);
    t.add<V<V<V<V<short>>>>>("short4", 2, 4000);
    t.add<V<V<V<V<float>>>>>("float4", 2, 4000);
    t.add<V<V<V<V<std::string>>>>>("string4", 2, 4000);
    t.write(30);
  }
}
