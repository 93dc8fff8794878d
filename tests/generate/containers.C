// containers.root: containers in containers (NESTED in classes.h), as members of an object that is divided or not, and as
// branches of their own.
#include "classes.h"
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>

namespace {

TRandom3 rng(128);

int times(int most) { return rng.Integer(most + 1); }

void make(int &v) { v = int(rng.Integer(1000)) - 500; }
void make(float &v) { v = rng.Gaus(); }
void make(double &v) { v = rng.Gaus(); }
void make(std::string &v)
{
  v.resize(rng.Integer(20) == 0 ? 300 : times(6));
  for (char &c : v)
    c = 'a' + rng.Integer(26);
}
void make(TString &v)
{
  std::string text;
  make(text);
  v = text.c_str();
}
void make(Point &v) { make(v.x), make(v.y), make(v.z); }
void make(std::complex<double> &v) { v = {rng.Gaus(), rng.Gaus()}; }
template <std::size_t N>
void make(std::bitset<N> &v)
{
  v = std::bitset<N>(rng.Integer(1u << N));
}
template <class T>
void make(std::vector<T> &v);
template <class T>
void make(ROOT::VecOps::RVec<T> &v);
template <class T>
void make(std::list<T> &v);
template <class T>
void make(std::deque<T> &v);
template <class T>
void make(std::set<T> &v);
template <class K, class V>
void make(std::map<K, V> &v);
template <class A, class B>
void make(std::pair<A, B> &v)
{
  make(v.first), make(v.second);
}
void make(Hit &v)
{
  make(v.energy), make(v.cell[0]), make(v.cell[1]), make(v.detector), make(v.samples);
  v.layer = rng.Integer(65536);
  v.seed = rng.Uniform() < 0.5;
  v.time = rng.Uniform(0, 100);
}
void make(std::unique_ptr<Point> &v)
{
  v = rng.Uniform() < 0.4 ? nullptr : std::make_unique<Point>();
  if (v)
    make(*v);
}
void make(Point *&v)
{
  v = rng.Uniform() < 0.4 ? nullptr : new Point;
  if (v)
    make(*v);
}
template <class T, std::size_t N>
void make(std::array<T, N> &v)
{
  for (T &x : v)
    make(x);
}
template <class C>
void several(C &v)
{
  v.clear();
  for (int k = times(3); k > 0; k--) {
    v.emplace_back();
    make(v.back());
  }
}
template <class T>
void make(std::vector<T> &v)
{
  several(v);
}
template <class T>
void make(ROOT::VecOps::RVec<T> &v)
{
  several(v);
}
template <class T>
void make(std::list<T> &v)
{
  several(v);
}
template <class T>
void make(std::deque<T> &v)
{
  several(v);
}
template <class T>
void make(std::forward_list<T> &v)
{
  v.clear();
  for (int k = times(3); k > 0; k--) {
    v.emplace_front();
    make(v.front());
  }
}
template <class C>
void sorted(C &v, int most)
{
  v.clear();
  for (int k = times(most); k > 0; k--) {
    typename C::value_type item;
    make(item);
    v.insert(item);
  }
}
template <class T>
void make(std::set<T> &v)
{
  sorted(v, 3);
}
template <class T>
void make(std::multiset<T> &v)
{
  sorted(v, 3);
}
template <class T>
void make(std::unordered_set<T> &v)
{
  sorted(v, 1);
}
template <class T>
void make(std::unordered_multiset<T> &v)
{
  sorted(v, 1);
}
template <class M>
void mapped(M &v, int most)
{
  v.clear();
  for (int k = times(most); k > 0; k--) {
    typename M::key_type key;
    typename M::mapped_type value{};
    make(key), make(value);
    v.insert({key, value});
  }
}
template <class K, class V>
void make(std::map<K, V> &v)
{
  mapped(v, 3);
}
template <class K, class V>
void make(std::multimap<K, V> &v)
{
  mapped(v, 3);
}
template <class K, class V>
void make(std::unordered_multimap<K, V> &v)
{
  mapped(v, 1);
}

} // namespace

void containers()
{
  TFile file("containers.root", "RECREATE", "", 505);
  Nested nested, *object = &nested;
  TTree whole("whole", "in one branch"), once("once", "divided once"), split("split", "divided"), apart("apart", "a branch each");
  whole.Branch("nested", "Nested", &object, 16000, 0);
  once.Branch("nested", "Nested", &object, 16000, 1);
  split.Branch("nested.", "Nested", &object, 16000, 99);
#define BRANCH(name, ...) branch(apart, #name, nested.name);
  auto branch = [](TTree &tree, const char *name, auto &value) {
    using T = std::decay_t<decltype(value)>;
    // Of these ROOT makes no branch of their own.
    if constexpr (std::is_class_v<T>) {
      TClass *found = TClass::GetClass<T>();
      if (found && found->GetCollectionProxy() && found->GetCollectionType() != ROOT::kSTLbitset)
        tree.Branch(name, &value, 16000, 0);
    }
  };
  NESTED(BRANCH)
#undef BRANCH
  for (int entry = 0; entry < 24; entry++) {
#define MAKE(name, ...) make(nested.name);
    NESTED(MAKE)
#undef MAKE
    nested.last = -7;
    whole.Fill(), once.Fill(), split.Fill(), apart.Fill();
  }
  file.Write();
}
