"""Writes tests/data/arguments.root with C++ ROOT: containers whose further template arguments, how they compare, hash and allocate, are of
the user's own, as branches and in a class, divided or not. They do not change what is stored.

    python tests/generate/arguments.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``) and ``g++``. ``arguments.root.values.json`` is what ROOT reads from each branch.
"""

import ROOT
import script
from values import JSON, write_trees

ROOT.gErrorIgnoreLevel = ROOT.kError
ENTRIES = 4

SOURCE = (
    r"""
#include <TFile.h>
#include <TTree.h>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>
"""
    + JSON
    + r"""
template <class T>
struct Heap {
  using value_type = T;
  Heap() = default;
  template <class U>
  Heap(const Heap<U> &) {}
  T *allocate(size_t n) { return std::allocator<T>().allocate(n); }
  void deallocate(T *v, size_t n) { std::allocator<T>().deallocate(v, n); }
  bool operator==(const Heap &) const { return true; }
  bool operator!=(const Heap &) const { return false; }
};
// An allocator that is no template.
struct Plain : public Heap<int> {
  Plain() = default;
  template <class U>
  Plain(const Heap<U> &) {}
  template <class U>
  struct rebind {
    using other = std::conditional_t<std::is_same_v<U, int>, Plain, Heap<U>>;
  };
};
struct Falling {
  bool operator()(int a, int b) const { return a > b; }
};
struct Scatter {
  size_t operator()(int v) const { return 7 * v; }
};
struct Same {
  bool operator()(int a, int b) const { return a == b; }
};
struct Spot {
  int x = 0;
  float y = 0;
};
using Pair = std::pair<const int, float>;

// Name and type.
#define ALL(X)                                                                                                  \
  X(plain, std::vector<int, Plain>)                                                                             \
  X(numbers, std::vector<double, Heap<double>>)                                                                 \
  X(spots, std::vector<Spot, Heap<Spot>>)                                                                       \
  X(nested, std::vector<std::vector<int, Plain>, Heap<std::vector<int, Plain>>>)                                \
  X(queue, std::deque<int, Heap<int>>)                                                                          \
  X(list, std::list<int, Heap<int>>)                                                                            \
  X(forward, std::forward_list<int, Heap<int>>)                                                                 \
  X(falling, std::set<int, Falling>)                                                                            \
  X(rising, std::multiset<int, std::less<int>, Heap<int>>)                                                      \
  X(down, std::map<int, float, Falling>)                                                                        \
  X(up, std::multimap<int, float, std::less<int>, Heap<Pair>>)                                                  \
  X(few, std::unordered_set<int, Scatter, Same, Heap<int>>)                                                     \
  X(many, std::unordered_multiset<int, Scatter, Same>)                                                          \
  X(found, std::unordered_map<int, float, Scatter, Same, Heap<Pair>>)                                           \
  X(met, std::unordered_multimap<int, float, Scatter>)

#define MEMBER(name, ...) __VA_ARGS__ name;
struct Holder {
  ALL(MEMBER)
};

void give(int entry, int k, int &v) { v = 10 * entry + k; }
void give(int entry, int k, float &v) { v = entry + k / 4.f; }
void give(int entry, int k, double &v) { v = entry - k / 8.; }
void give(int entry, int k, Spot &v) { give(entry, k, v.x), give(entry, k, v.y); }
template <class A>
void give(int entry, int k, std::vector<int, A> &v) { v.assign(k, entry); }
template <class A, class B>
void give(int entry, int k, std::pair<A, B> &v) { give(entry, k, const_cast<std::remove_const_t<A> &>(v.first)), give(entry, k, v.second); }
template <class C>
auto put(C &to, const typename C::value_type &v, int) -> decltype(to.push_back(v)) { to.push_back(v); }
template <class C>
auto put(C &to, const typename C::value_type &v, int) -> decltype(to.push_front(v), std::enable_if_t<std::is_same_v<C, std::forward_list<int, Heap<int>>>>()) { to.push_front(v); }
template <class C>
void put(C &to, const typename C::value_type &v, long) { to.insert(v); }
template <class C>
void fill(C &to, int entry)
{
  to.clear();
  for (int k = 0; k < entry; k++) {
    typename C::value_type v{};
    give(entry, k, v);
    put(to, v, 0);
  }
}

template <class C>
std::string all(const C &v);
std::string one(int v) { return json(v); }
std::string one(float v) { return json(double(v)); }
std::string one(double v) { return json(v); }
std::string one(const Spot &v) { return record({{"x", json(v.x)}, {"y", json(double(v.y))}}); }
template <class A>
std::string one(const std::vector<int, A> &v) { return all(v); }
template <class A, class B>
std::string one(const std::pair<A, B> &v) { return "[" + one(v.first) + ", " + one(v.second) + "]"; }
template <class C>
std::string all(const C &v) { return items(v, [](const auto &item) { return one(item); }); }

void arguments(const char *path, int entries)
{
  TFile file(path, "RECREATE", "", 505);
  TTree tree("t", "arguments of containers");
  auto held = new Holder;
  tree.Branch("whole.", "Holder", &held, 32000, 0);
  tree.Branch("split.", "Holder", &held, 32000, 99);
#define BRANCH(name, ...) tree.Branch(#name, &held->name, 32000, 0);
  ALL(BRANCH)
  for (int entry = 0; entry < entries; entry++) {
#define FILL(name, ...) fill(held->name, entry);
    ALL(FILL)
    tree.Fill();
  }
  file.Write();
}

template <class C>
std::string column(TBranch *branch)
{
  C *object = nullptr;
  branch->SetAddress(&object);
  std::string out;
  for (int k = 0; k < branch->GetEntries(); k++)
    branch->GetEntry(k), out += (k ? ", " : "") + all(*object);
  return "[" + out + "]";
}
std::string read(TTree *tree, const char *name)
{
  TBranch *branch = tree->GetBranch(name);
  const std::string called = name;
#define READ(name, ...) \
  if (called == #name)  \
    return column<__VA_ARGS__>(branch);
  ALL(READ)
  Holder *object = nullptr;
  tree->SetBranchAddress(name, &object);
  std::string out;
  for (int k = 0; k < branch->GetEntries(); k++) {
    branch->GetEntry(k);
#define TELL(name, ...) {#name, all(object->name)},
    out += (k ? ", " : "") + record({ALL(TELL)});
  }
  return "[" + out + "]";
}
#ifdef __ROOTCLING__
#pragma link C++ class Spot+;
#pragma link C++ class std::vector<int,Plain>+;
#pragma link C++ class std::vector<double,Heap<double>>+;
#pragma link C++ class std::vector<Spot,Heap<Spot>>+;
#pragma link C++ class std::vector<std::vector<int,Plain>,Heap<std::vector<int,Plain>>>+;
#pragma link C++ class std::deque<int,Heap<int>>+;
#pragma link C++ class std::list<int,Heap<int>>+;
#pragma link C++ class std::forward_list<int,Heap<int>>+;
#pragma link C++ class std::set<int,Falling>+;
#pragma link C++ class std::multiset<int,std::less<int>,Heap<int>>+;
#pragma link C++ class std::map<int,float,Falling>+;
#pragma link C++ class std::multimap<int,float,std::less<int>,Heap<std::pair<const int,float>>>+;
#pragma link C++ class std::unordered_set<int,Scatter,Same,Heap<int>>+;
#pragma link C++ class std::unordered_multiset<int,Scatter,Same>+;
#pragma link C++ class std::unordered_map<int,float,Scatter,Same,Heap<std::pair<const int,float>>>+;
#pragma link C++ class std::unordered_multimap<int,float,Scatter>+;
#pragma link C++ class Holder+;
#endif
"""
)


def main(folder):
    write_trees(folder, "arguments", SOURCE, {"arguments": "arguments"}, ENTRIES)


if __name__ == "__main__":
    script.run(main, script.folder())
