"""Writes tests/data/nested.root and nested-one.root with C++ ROOT: arrays of objects of one class (`TClonesArray`) within the items of others, by
themselves and behind pointers, of a class of ROOT's own; classes that have pointers to themselves and items of themselves; arrays of letters.

    python tests/generate/nested.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``) and ``g++``. ``nested.root.values.json`` is what ROOT reads from each branch.
"""

import ROOT
import script
from values import JSON, write_trees

ROOT.gErrorIgnoreLevel = ROOT.kError
ENTRIES = 6

SOURCE = (
    JSON
    + r"""
#include <TClonesArray.h>
#include <TFile.h>
#include <TNamed.h>
#include <TObjArray.h>
#include <TTree.h>
#include <cstring>

struct Inner : public TObject {
  int a = 0;
  ClassDef(Inner, 2)
};
struct Middle : public TObject {
  TClonesArray inner;
  Middle() : inner("Inner", 2) {}
  ClassDef(Middle, 1)
};
struct Outer : public TObject {
  TClonesArray middle;
  double x = 0;
  Outer() : middle("Middle", 2) {}
  ClassDef(Outer, 1)
};
struct Any {
  int b = 0;
  virtual ~Any() {}
};
struct Holds : public Any {
  TClonesArray *outer = new TClonesArray("Outer", 2);
};
struct Node {
  int v = 0;
  Node *next = nullptr;
};
struct Twin {
  short v = 0;
  Twin *left = nullptr, *right = nullptr;
};
struct Family {
  int v = 0;
  std::vector<Family> kids;
};
struct Parent {
  int v = 0;
  std::vector<Parent *> kids;
};
struct Letters {
  char name[12] = {0};
  char two[2][4] = {{0}};
  unsigned char raw[3] = {0};
};

void fill(Middle &to, int k)
{
  to.inner.Delete();
  for (int j = 0; j < k % 3; j++)
    static_cast<Inner *>(to.inner.ConstructedAt(j))->a = 10 * k + j;
}
void fill(Outer &to, int k)
{
  to.middle.Delete();
  to.x = k / 4.;
  for (int j = 0; j < (k + 1) % 3; j++)
    fill(*static_cast<Middle *>(to.middle.ConstructedAt(j)), k + j);
}
void fill(Node &to, int levels)
{
  to.v = levels;
  to.next = levels ? new Node : nullptr;
  if (levels)
    fill(*to.next, levels - 1);
}
void fill(Twin &to, int levels)
{
  to.v = -levels;
  to.left = levels > 0 ? new Twin : nullptr;
  to.right = levels > 1 ? new Twin : nullptr;
  if (to.left)
    fill(*to.left, levels - 1);
  if (to.right)
    fill(*to.right, levels - 2);
}
void fill(Family &to, int levels)
{
  to.v = 7 * levels;
  to.kids.assign(levels ? 2 : 0, Family());
  for (auto &kid : to.kids)
    fill(kid, levels - 1);
}
void fill(Parent &to, int levels)
{
  to.v = 7 * levels;
  to.kids.clear();
  for (int j = 0; j < levels; j++) {
    to.kids.push_back(new Parent);
    fill(*to.kids.back(), levels - 1);
  }
}
void fill(Letters &to, int k)
{
  strcpy(to.name, std::string(k, 'n').c_str());
  to.name[11] = 'x';
  strcpy(to.two[0], "ab"), to.two[1][k % 4] = k - 3, to.raw[1] = 250 + k;
}

void nested(const char *path, int entries)
{
  TFile file(path, "RECREATE", "", 505);
  TTree tree("t", "arrays within arrays");
  auto outer = new TClonesArray("Outer"), middle = new TClonesArray("Middle"), names = new TClonesArray("TNamed");
  auto held = new std::vector<Any *>;
  auto list = new TObjArray;
  auto node = new Node;
  auto twin = new Twin;
  auto family = new Family;
  auto parent = new Parent;
  auto letters = new Letters;
  tree.Branch("outer", "TClonesArray", &outer, 4000, 0);
  tree.Branch("middle", "TClonesArray", &middle, 4000, 0);
  tree.Branch("names", "TClonesArray", &names, 4000, 0);
  tree.Branch("held", "vector<Any*>", &held, 4000, 0);
  tree.Branch("list", "TObjArray", &list, 4000, 0);
  tree.Branch("node", "Node", &node, 4000, 0);
  tree.Branch("twin", "Twin", &twin, 4000, 0);
  tree.Branch("family", "Family", &family, 4000, 0);
  tree.Branch("parent", "Parent", &parent, 4000, 0);
  tree.Branch("letters", "Letters", &letters, 4000, 0);
  tree.Branch("split.", "Letters", &letters, 4000, 99);
  for (int entry = 0; entry < entries; entry++) {
    outer->Delete(), middle->Delete(), names->Delete(), held->clear(), list->Clear();
    for (int k = 0; k < entry % 4; k++) {
      fill(*static_cast<Outer *>(outer->ConstructedAt(k)), entry + k);
      fill(*static_cast<Middle *>(middle->ConstructedAt(k)), entry + k);
      static_cast<TNamed *>(names->ConstructedAt(k))->SetNameTitle(TString('n', k), "title");
      if (k % 2) {
        held->push_back(new Any);
        auto one = new Middle;
        fill(*one, k);
        list->Add(one);
      } else {
        auto holds = new Holds;
        for (int j = 0; j < entry - k; j++)
          fill(*static_cast<Outer *>(holds->outer->ConstructedAt(j)), j);
        held->push_back(holds);
        auto one = new Outer;
        fill(*one, entry);
        list->Add(one);
      }
      held->back()->b = k;
    }
    fill(*node, entry), fill(*twin, entry), fill(*family, entry), fill(*parent, entry % 5), fill(*letters, entry);
    tree.Fill();
  }
  file.Write();
}
// A file that describes one class for arrays, and has arrays of others.
void one(const char *path, int entries)
{
  TFile file(path, "RECREATE", "", 505);
  TTree tree("t", "arrays of one class");
  auto inner = new TClonesArray("Inner"), none = new TClonesArray("TNamed"), some = new TClonesArray("TNamed");
  tree.Branch("inner", "TClonesArray", &inner, 4000, 0);
  tree.Branch("none", "TClonesArray", &none, 4000, 0);
  tree.Branch("some", "TClonesArray", &some, 4000, 0);
  for (int entry = 0; entry < entries; entry++) {
    inner->Delete(), some->Delete();
    for (int k = 0; k < entry % 3; k++) {
      static_cast<Inner *>(inner->ConstructedAt(k))->a = k;
      static_cast<TNamed *>(some->ConstructedAt(k))->SetName("n");
    }
    tree.Fill();
  }
  file.Write();
}

std::string json(const TObject *v);
std::string json(const TCollection &v) { return items(v, [](TObject *item) { return json(item); }); }
std::string json(const TObject *v)
{
  if (auto inner = dynamic_cast<const Inner *>(v))
    return record({{"a", json(inner->a)}});
  if (auto middle = dynamic_cast<const Middle *>(v))
    return record({{"inner", json(middle->inner)}});
  if (auto outer = dynamic_cast<const Outer *>(v))
    return record({{"middle", json(outer->middle)}, {"x", json(outer->x)}});
  return record({{"fName", json(v->GetName())}, {"fTitle", json(v->GetTitle())}});
}
std::string json(const std::vector<Any *> &v)
{
  return items(v, [](Any *item) {
    auto holds = dynamic_cast<Holds *>(item);
    return holds ? record({{"b", json(item->b)}, {"outer", json(*holds->outer)}}) : record({{"b", json(item->b)}});
  });
}
std::string json(const Node &v) { return record({{"v", json(v.v)}, {"next", v.next ? json(*v.next) : "null"}}); }
std::string json(const Twin &v)
{
  auto side = [](const Twin *of) { return of ? json(*of) : "null"; };
  return record({{"v", json(int(v.v))}, {"left", side(v.left)}, {"right", side(v.right)}});
}
std::string json(const Family &v) { return record({{"v", json(v.v)}, {"kids", items(v.kids, [](const Family &kid) { return json(kid); })}}); }
std::string json(const Parent &v) { return record({{"v", json(v.v)}, {"kids", items(v.kids, [](const Parent *kid) { return json(*kid); })}}); }
std::string json(const Letters &v)
{
  auto all = [](auto *of, int n) { return numbers(std::vector<int>(of, of + n).data(), n); };
  return record({{"name", all(v.name, 12)}, {"two", "[" + all(v.two[0], 4) + ", " + all(v.two[1], 4) + "]"}, {"raw", all(v.raw, 3)}});
}
std::string read(TTree *tree, const char *name)
{
  TBranch *branch = tree->GetBranch(name);
  const std::string kind = branch->GetClassName();
  if (kind == "TClonesArray")
    return entries<TClonesArray>(branch);
  if (kind == "TObjArray")
    return entries<TObjArray>(branch);
  if (kind == "Node")
    return entries<Node>(branch);
  if (kind == "Twin")
    return entries<Twin>(branch);
  if (kind == "Family")
    return entries<Family>(branch);
  if (kind == "Parent")
    return entries<Parent>(branch);
  if (kind == "Letters")
    return entries<Letters>(branch);
  return entries<std::vector<Any *>>(branch);
}
#ifdef __ROOTCLING__
#pragma link C++ class Inner+;
#pragma link C++ class Middle+;
#pragma link C++ class Outer+;
#pragma link C++ class Any+;
#pragma link C++ class Holds+;
#pragma link C++ class Node+;
#pragma link C++ class Twin+;
#pragma link C++ class Family+;
#pragma link C++ class Parent+;
#pragma link C++ class Letters+;
#pragma link C++ class std::vector<Any*>+;
#pragma link C++ class std::vector<Family>+;
#pragma link C++ class std::vector<Parent*>+;
#endif
"""
)


def main(folder):
    write_trees(folder, "nested", SOURCE, {"nested": "nested", "nested-one": "one"}, ENTRIES)


if __name__ == "__main__":
    script.run(main, script.folder())
