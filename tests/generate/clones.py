"""Writes tests/data/clones.root and clones-named.root with C++ ROOT: arrays of objects of one class (`TClonesArray`) in one branch, by
themselves and within objects that pointers lead to, of classes derived from `TNamed`; and a class that points to itself.

    python tests/generate/clones.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``) and ``g++``. ``clones.root.values.json`` is what ROOT reads from each branch.
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

struct Tag : public TNamed {
  int a = 0;
  ClassDef(Tag, 1)
};
struct Deep : public Tag {
  short b = 0;
  ClassDef(Deep, 2)
};
struct Spot {
  double x = 0;
  std::vector<int> v;
};
struct Pinned : public TNamed, public Spot {
  TNamed other;
  int c = 0;
  ClassDef(Pinned, 3)
};
struct Hit : public TObject {
  int a = 0;
  ClassDef(Hit, 5)
};
struct Base {
  int b = 0;
  virtual ~Base() {}
};
struct Holder : public Base {
  TClonesArray hits;
  Holder() : hits("Hit", 3) {}
};
struct Shelf : public TObject {
  TClonesArray hits;
  Shelf() : hits("Hit", 3) {}
  ClassDef(Shelf, 1)
};
struct Crate : public Shelf {
  int n = 0;
  ClassDef(Crate, 1)
};
struct Link {
  int v = 0;
  Link *next = nullptr;
};

TString text(int k) { return TString('n', k); }
template <class T>
T &add(TClonesArray *to, int k)
{
  auto item = static_cast<T *>(to->ConstructedAt(k));
  item->SetNameTitle(text(k), TString::Format("title %d", k));
  return *item;
}
void hits(TClonesArray &to, int n)
{
  for (int k = 0; k < n; k++)
    static_cast<Hit *>(to.ConstructedAt(k))->a = 10 * n + k;
}

void clones(const char *path, int entries)
{
  TFile file(path, "RECREATE", "", 505);
  TTree tree("t", "arrays of one class");
  auto tags = new TClonesArray("Tag"), deep = new TClonesArray("Deep"), pinned = new TClonesArray("Pinned"), slow = new TClonesArray("Tag");
  slow->BypassStreamer(false);
  auto listed = new std::vector<Deep>; // stored member by member as well
  auto held = new std::vector<Base *>;
  auto shelves = new TObjArray;
  auto list = new Link, ends = new Link;
  tree.Branch("tags", "TClonesArray", &tags, 4000, 0);
  tree.Branch("deep", "TClonesArray", &deep, 4000, 0);
  tree.Branch("pinned", "TClonesArray", &pinned, 4000, 0);
  tree.Branch("slow", "TClonesArray", &slow, 4000, 0);
  tree.Branch("listed", "vector<Deep>", &listed, 4000, 0);
  tree.Branch("held", "vector<Base*>", &held, 4000, 0);
  tree.Branch("shelves", "TObjArray", &shelves, 4000, 0);
  tree.Branch("list", "Link", &list, 4000, 0);
  tree.Branch("ends", "Link", &ends, 4000, 0);
  for (int entry = 0; entry < entries; entry++) {
    tags->Delete(), deep->Delete(), pinned->Delete(), slow->Delete(), listed->clear(), held->clear(), shelves->Clear();
    for (int k = 0; k < (entry * 2) % 5; k++) {
      add<Tag>(tags, k).a = 10 * entry + k;
      add<Tag>(slow, k).a = -k;
      auto &further = add<Deep>(deep, k);
      further.a = k, further.b = -entry;
      listed->push_back(further);
      auto &pin = add<Pinned>(pinned, k);
      pin.x = k / 4., pin.v.assign(k, entry), pin.c = 7, pin.other.SetName(text(entry));
      if (k % 2) {
        auto holder = new Holder;
        holder->b = k, hits(holder->hits, k);
        held->push_back(holder);
        auto crate = new Crate;
        crate->n = entry, hits(crate->hits, entry % 3);
        shelves->Add(crate);
      } else {
        held->push_back(new Base);
        auto shelf = new Shelf;
        hits(shelf->hits, k);
        shelves->Add(shelf);
      }
    }
    list->v = ends->v = entry;
    list->next = entry % 3 == 2 ? new Link : nullptr;
    tree.Fill();
  }
  file.Write();
}
void named(const char *path, int entries)
{
  TFile file(path, "RECREATE", "", 505);
  TTree tree("t", "an array of names");
  auto names = new TClonesArray("TNamed");
  tree.Branch("names", "TClonesArray", &names, 4000, 0);
  for (int entry = 0; entry < entries; entry++) {
    names->Delete();
    for (int k = 0; k < entry % 4; k++)
      add<TNamed>(names, k);
    tree.Fill();
  }
  file.Write();
}

std::string object(const TObject *v)
{
  auto all = [](const TClonesArray &of) { return items(of, [](TObject *item) { return object(item); }); };
  if (auto crate = dynamic_cast<const Crate *>(v))
    return record({{"hits", all(crate->hits)}, {"n", json(crate->n)}});
  if (auto shelf = dynamic_cast<const Shelf *>(v))
    return record({{"hits", all(shelf->hits)}});
  if (auto hit = dynamic_cast<const Hit *>(v))
    return record({{"a", json(hit->a)}});
  auto name = json(v->GetName()), title = json(v->GetTitle());
  if (auto pin = dynamic_cast<const Pinned *>(v)) {
    auto other = record({{"fName", json(pin->other.GetName())}, {"fTitle", json(pin->other.GetTitle())}});
    return record({{"fName", name}, {"fTitle", title}, {"x", json(pin->x)}, {"v", numbers(pin->v.data(), pin->v.size())}, {"other", other}, {"c", json(pin->c)}});
  }
  if (auto deep = dynamic_cast<const Deep *>(v))
    return record({{"fName", name}, {"fTitle", title}, {"a", json(deep->a)}, {"b", json(int(deep->b))}});
  if (auto tag = dynamic_cast<const Tag *>(v))
    return record({{"fName", name}, {"fTitle", title}, {"a", json(tag->a)}});
  return record({{"fName", name}, {"fTitle", title}});
}
std::string json(const TClonesArray &v) { return items(v, [](TObject *item) { return object(item); }); }
std::string json(const TObjArray &v) { return items(v, [](TObject *item) { return object(item); }); }
std::string json(const std::vector<Deep> &v) { return items(v, [](const Deep &item) { return object(&item); }); }
std::string json(const std::vector<Base *> &v)
{
  return items(v, [](Base *item) {
    auto holder = dynamic_cast<Holder *>(item);
    return holder ? record({{"b", json(item->b)}, {"hits", json(holder->hits)}}) : record({{"b", json(item->b)}});
  });
}
std::string json(const Link &v) { return record({{"v", json(v.v)}, {"next", v.next ? json(*v.next) : "null"}}); }
std::string read(TTree *tree, const char *name)
{
  TBranch *branch = tree->GetBranch(name);
  const std::string kind = branch->GetClassName();
  if (kind == "TClonesArray")
    return entries<TClonesArray>(branch);
  if (kind == "TObjArray")
    return entries<TObjArray>(branch);
  if (kind == "vector<Deep>")
    return entries<std::vector<Deep>>(branch);
  if (kind == "Link")
    return entries<Link>(branch);
  return entries<std::vector<Base *>>(branch);
}
#ifdef __ROOTCLING__
#pragma link C++ class Tag+;
#pragma link C++ class Deep+;
#pragma link C++ class Spot+;
#pragma link C++ class Pinned+;
#pragma link C++ class Hit+;
#pragma link C++ class Base+;
#pragma link C++ class Holder+;
#pragma link C++ class Shelf+;
#pragma link C++ class Crate+;
#pragma link C++ class Link+;
#pragma link C++ class std::vector<Base*>+;
#pragma link C++ class std::vector<Deep>+;
#endif
"""
)


def main(folder):
    write_trees(folder, "clones", SOURCE, {"clones": "clones", "clones-named": "named"}, ENTRIES)


if __name__ == "__main__":
    script.run(main, script.folder())
