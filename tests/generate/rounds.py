"""Writes tests/data/rounds.root, rounds-names.root and rounds-tangle.root with C++ ROOT: classes that contain themselves by way of others, and
pointers to a base that lead back; arrays of ROOT's own classes (`TClonesArray`) beside one class that the file describes; classes of which there
are more and more at each level.

    python tests/generate/rounds.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``) and ``g++``. ``rounds.root.values.json`` is what ROOT reads from each branch.
"""

import ROOT
import script
from values import JSON, write_trees

ROOT.gErrorIgnoreLevel = ROOT.kError
ENTRIES = 7
# Members of the classes of rounds-tangle.root, each a pointer to the other class.
WAYS = 4
# Classes of which each has a pointer to each.
KNOTS = 18


def many(kind):
    """As many pointers."""
    return "\n".join(f"  {kind} *p{k} = nullptr;" for k in range(WAYS))


def knots():
    """The classes with their dictionaries, and how they are told."""
    each = range(KNOTS)
    pointers = " ".join(f"Knot{k} *p{k} = nullptr;" for k in each)
    declared = [f"struct Knot{k};" for k in each]
    defined = [f"struct Knot{k} {{ int v = {k}; {pointers} }};" for k in each]
    linked = [f"#pragma link C++ class Knot{k}+;" for k in each]
    names = [f"std::string json(const Knot{k} &v);" for k in each]
    members = ", ".join(f'{{"p{k}", v.p{k} ? json(*v.p{k}) : "null"}}' for k in each)
    told = [f'std::string json(const Knot{k} &v) {{ return record({{{{"v", json(v.v)}}, {members}}}); }}' for k in each]
    return "\n".join(declared + defined), "\n".join(linked), "\n".join(names + told)


SOURCE = (
    JSON
    + r"""
#include <TClonesArray.h>
#include <TFile.h>
#include <TNamed.h>
#include <TObjString.h>
#include <TTree.h>
#include <map>

struct Bag;
struct Sack {
  int v = 0;
  std::vector<Bag> bags;
};
struct Bag {
  short w = 0;
  std::vector<Sack> sacks;
};
struct Tock;
struct Tick {
  int v = 0;
  Tock *tock = nullptr;
};
struct Tock {
  double x = 0;
  Tick *tick = nullptr;
};
struct Room;
struct Floor {
  std::map<int, Room> rooms;
};
struct Room {
  std::vector<Floor *> above;
  int area = 0;
};
struct Shape {
  int id = 0;
  virtual ~Shape() {}
};
struct Blot : public Shape {
  float size = 0;
};
struct Group : public Shape {
  std::vector<Shape *> of;
};
struct Second;
struct First {
  Second *second = nullptr;
  First *next = nullptr; // a shorter way
};
struct Third {
  int v = 0;
  First *first = nullptr;
};
struct Second {
  std::vector<Third> third;
};
struct Owned;
struct Owner {
  int v = 0;
  std::vector<Owned *> all;
};
struct Owned {
  Owner *owner = nullptr;
  int k = 0;
};
struct Inner : public TObject {
  int a = 0;
  ClassDef(Inner, 2)
};
struct Box {
  int k = 0;
  TClonesArray *first = nullptr;
  TClonesArray second;
  Box() : second("TNamed", 2) {}
};
KNOTS_DEFINED
struct Odd;
struct Even {
MANY_ODD
  int v = 0;
};
struct Odd {
MANY_EVEN
  int v = 0;
};

void fill(Sack &to, int levels);
void fill(Bag &to, int levels)
{
  to.w = -levels, to.sacks.assign(levels, Sack());
  for (auto &sack : to.sacks)
    fill(sack, levels - 1);
}
void fill(Sack &to, int levels)
{
  to.v = 7 * levels, to.bags.assign(levels ? 2 : 0, Bag());
  for (auto &bag : to.bags)
    fill(bag, levels - 1);
}
void fill(Tick &to, int levels);
void fill(Tock &to, int levels)
{
  to.x = levels / 4., to.tick = levels ? new Tick : nullptr;
  if (levels)
    fill(*to.tick, levels - 1);
}
void fill(Tick &to, int levels)
{
  to.v = levels, to.tock = levels ? new Tock : nullptr;
  if (levels)
    fill(*to.tock, levels - 1);
}
void fill(Floor &to, int levels);
void fill(Room &to, int levels)
{
  to.area = 10 * levels, to.above.clear();
  if (levels > 0) {
    to.above.push_back(new Floor);
    fill(*to.above[0], levels - 1);
  }
}
void fill(Floor &to, int levels)
{
  to.rooms.clear();
  for (int k = 0; k < levels; k++)
    fill(to.rooms[k], levels - 1 - k);
}
void fill(Group &to, int levels)
{
  to.id = levels, to.of.clear();
  for (int k = 0; k < levels; k++) {
    if (k % 2) {
      auto blot = new Blot;
      blot->id = k, blot->size = levels / 2.f;
      to.of.push_back(blot);
    } else {
      auto group = new Group;
      fill(*group, levels - 1);
      to.of.push_back(group);
    }
  }
  to.of.push_back(new Shape);
}
void fill(First &to, int levels)
{
  to.second = levels ? new Second : nullptr, to.next = levels == 2 ? new First : nullptr;
  for (int k = 0; k < levels; k++) {
    Third third;
    third.v = levels, third.first = k ? new First : nullptr;
    if (k)
      fill(*third.first, levels - 1);
    to.second->third.push_back(third);
  }
}
void names(TClonesArray &to, int n)
{
  to.Delete();
  for (int k = 0; k < n; k++)
    static_cast<TNamed *>(to.ConstructedAt(k))->SetNameTitle(TString('n', n), TString::Format("title %d", k));
}
void inners(TClonesArray &to, int n)
{
  to.Delete();
  for (int k = 0; k < n; k++)
    static_cast<Inner *>(to.ConstructedAt(k))->a = 10 * n + k;
}

void rounds(const char *path, int entries)
{
  TFile file(path, "RECREATE", "", 505);
  TTree tree("t", "classes that contain themselves by way of others");
  auto sack = new Sack;
  auto tick = new Tick;
  auto level = new Floor;
  auto group = new Group;
  auto shapes = new std::vector<Shape *>;
  auto first = new First;
  auto owner = new Owner, back = new Owner;
  tree.Branch("sack", "Sack", &sack, 32000, 0);
  tree.Branch("tick", "Tick", &tick, 32000, 0);
  tree.Branch("floor", "Floor", &level, 32000, 0);
  tree.Branch("group", "Group", &group, 32000, 0);
  tree.Branch("shapes", "vector<Shape*>", &shapes, 32000, 0);
  tree.Branch("first", "First", &first, 32000, 0);
  tree.Branch("owner", "Owner", &owner, 32000, 0);
  tree.Branch("back", "Owner", &back, 32000, 0);
  tree.Branch("split.", "Sack", &sack, 32000, 99);
  for (int entry = 0; entry < entries; entry++) {
    fill(*sack, entry == entries - 1 ? 0 : entry), fill(*tick, 2 * entry), fill(*level, entry), fill(*group, entry % 6), fill(*first, entry % 6);
    shapes->clear(), owner->all.clear(), back->all.clear();
    owner->v = back->v = entry;
    auto other = new Owner;
    other->v = -1;
    for (int k = 0; k < entry % 4; k++) {
      auto one = new Group;
      fill(*one, k);
      shapes->push_back(one);
      owner->all.push_back(new Owned);
      owner->all.back()->k = k, owner->all.back()->owner = k ? other : nullptr; // several to one
      back->all.push_back(new Owned);
      back->all.back()->owner = entry % 4 == 3 ? back : nullptr; // to what it is within
    }
    tree.Fill();
  }
  file.Write();
}
// A file that describes one class for arrays, and has arrays of ROOT's own.
void named(const char *path, int entries)
{
  TFile file(path, "RECREATE", "", 505);
  TTree tree("t", "arrays of one class, and of ROOT's own");
  auto inner = new TClonesArray("Inner"), own = new TClonesArray("TNamed"), slow = new TClonesArray("TNamed"), strings = new TClonesArray("TObjString");
  slow->BypassStreamer(false);
  auto late = new Box, box = new Box;
  auto both = new std::vector<Box>;
  tree.Branch("inner", "TClonesArray", &inner, 4000, 0);
  tree.Branch("own", "TClonesArray", &own, 4000, 0);
  tree.Branch("slow", "TClonesArray", &slow, 4000, 0);
  tree.Branch("strings", "TClonesArray", &strings, 4000, 0);
  tree.Branch("box", "Box", &box, 4000, 0);
  tree.Branch("both", "vector<Box>", &both, 4000, 0);
  auto mixed = tree.Branch("mixed", "Box", &late, 4000, 0);
  auto a = new TClonesArray("Inner"), b = new TClonesArray("TNamed"), c = new TClonesArray("TObjString");
  for (int entry = 0; entry < entries; entry++) {
    inners(*inner, entry % 3), names(*own, entry % 4), names(*slow, entry % 3), strings->Delete();
    for (int k = 0; k < entry % 3; k++)
      static_cast<TObjString *>(strings->ConstructedAt(k))->SetString(TString('s', k + entry));
    inners(*a, 2), names(*b, 3), c->Delete();
    static_cast<TObjString *>(c->ConstructedAt(0))->SetString("late");
    box->k = entry, box->first = entry % 2 ? a : entry ? b : nullptr;
    names(box->second, entry % 3);
    both->assign(entry % 3, Box());
    for (auto &one : *both)
      one.first = entry % 2 ? b : a, one.k = entry, names(one.second, entry);
    // The last basket has what the first does not name.
    late->k = entry, late->first = entry == entries - 1 ? c : a;
    if (entry == entries - 1)
      mixed->FlushBaskets();
    tree.Fill();
  }
  file.Write();
}
// Each level has so many more that four cannot be.
void tangle(const char *path, int entries)
{
  TFile file(path, "RECREATE", "", 505);
  TTree tree("t", "more and more of them");
  auto even = new Even, other = new Even;
  tree.Branch("even", "Even", &even, 32000, 0);
  tree.Branch("other", "Even", &other, 32000, 0);
  auto knot = new Knot0;
  tree.Branch("knot", "Knot0", &knot, 32000, 0);
  for (int entry = 0; entry < entries; entry++) {
    even->v = other->v = entry;
    even->p0 = even->p3 = entry % 2 ? new Odd : nullptr;
    if (even->p0)
      even->p0->v = -entry;
    knot->p3 = entry % 3 ? new Knot3 : nullptr;
    if (entry == 5)
      knot->p3->p7 = new Knot7;
    other->p3 = new Odd;
    other->p3->p1 = entry > 2 ? new Even : nullptr;
    if (other->p3->p1) {
      other->p3->p1->p2 = new Odd;
      other->p3->p1->p2->p0 = entry > 4 ? new Even : nullptr;
    }
    tree.Fill();
  }
  file.Write();
}

std::string json(const Sack &v);
std::string json(const Bag &v) { return record({{"w", json(int(v.w))}, {"sacks", items(v.sacks, [](const Sack &sack) { return json(sack); })}}); }
std::string json(const Sack &v) { return record({{"v", json(v.v)}, {"bags", items(v.bags, [](const Bag &bag) { return json(bag); })}}); }
std::string json(const Tick &v);
std::string json(const Tock &v) { return record({{"x", json(v.x)}, {"tick", v.tick ? json(*v.tick) : "null"}}); }
std::string json(const Tick &v) { return record({{"v", json(v.v)}, {"tock", v.tock ? json(*v.tock) : "null"}}); }
std::string json(const Floor &v);
std::string json(const Room &v) { return record({{"above", items(v.above, [](const Floor *of) { return json(*of); })}, {"area", json(v.area)}}); }
std::string json(const Floor &v)
{
  return record({{"rooms", items(v.rooms, [](auto &pair) { return "[" + json(pair.first) + ", " + json(pair.second) + "]"; })}});
}
std::string json(const Shape &v)
{
  if (auto group = dynamic_cast<const Group *>(&v))
    return record({{"id", json(v.id)}, {"of", items(group->of, [](const Shape *of) { return json(*of); })}});
  if (auto blot = dynamic_cast<const Blot *>(&v))
    return record({{"id", json(v.id)}, {"size", json(blot->size)}});
  return record({{"id", json(v.id)}});
}
std::string json(const std::vector<Shape *> &v) { return items(v, [](const Shape *of) { return json(*of); }); }
std::string json(const First &v);
std::string json(const Second &v)
{
  auto third = [](const Third &of) { return record({{"v", json(of.v)}, {"first", of.first ? json(*of.first) : "null"}}); };
  return record({{"third", items(v.third, third)}});
}
std::string json(const First &v) { return record({{"second", v.second ? json(*v.second) : "null"}, {"next", v.next ? json(*v.next) : "null"}}); }
// What an owned one's owner owns is told as a number: it may be in a circle.
std::string json(const Owner &v)
{
  auto owned = [](const Owned *of) { return record({{"owner", of->owner ? json(of->owner->v) : "null"}, {"k", json(of->k)}}); };
  return record({{"v", json(v.v)}, {"all", items(v.all, owned)}});
}
std::string json(const TClonesArray &v)
{
  return items(v, [](TObject *item) {
    if (auto inner = dynamic_cast<const Inner *>(item))
      return record({{"a", json(inner->a)}});
    if (auto string = dynamic_cast<const TObjString *>(item))
      return record({{"fString", json(string->GetName())}});
    return record({{"fName", json(item->GetName())}, {"fTitle", json(item->GetTitle())}});
  });
}
std::string json(const Box &v) { return record({{"k", json(v.k)}, {"first", v.first ? json(*v.first) : "null"}, {"second", json(v.second)}}); }
std::string json(const std::vector<Box> &v) { return items(v, [](const Box &box) { return json(box); }); }
KNOTS_TOLD
std::string json(const Even &v);
template <class T>
std::string more(const T &v)
{
  return record({POINTERS, {"v", json(v.v)}});
}
std::string json(const Odd &v) { return more(v); }
std::string json(const Even &v) { return more(v); }
// ROOT would give back what several pointers lead to several times, if it read into the same object again.
template <class T>
std::string fresh(TBranch *branch)
{
  std::string out;
  for (int k = 0; k < branch->GetEntries(); k++) {
    T *object = new T;
    branch->SetAddress(&object);
    branch->GetEntry(k);
    out += (out.empty() ? "" : ", ") + json(*object);
  }
  return "[" + out + "]";
}
std::string read(TTree *tree, const char *name)
{
  TBranch *branch = tree->GetBranch(name);
  const std::string kind = branch->GetClassName();
  if (kind == "Sack")
    return fresh<Sack>(branch);
  if (kind == "Tick")
    return fresh<Tick>(branch);
  if (kind == "Floor")
    return fresh<Floor>(branch);
  if (kind == "Group")
    return fresh<Group>(branch);
  if (kind == "First")
    return fresh<First>(branch);
  if (kind == "Owner")
    return fresh<Owner>(branch);
  if (kind == "TClonesArray")
    return fresh<TClonesArray>(branch);
  if (kind == "Box")
    return fresh<Box>(branch);
  if (kind == "vector<Box>")
    return fresh<std::vector<Box>>(branch);
  if (kind == "Knot0")
    return fresh<Knot0>(branch);
  if (kind == "Even")
    return fresh<Even>(branch);
  return fresh<std::vector<Shape *>>(branch);
}
#ifdef __ROOTCLING__
#pragma link C++ class Sack+;
#pragma link C++ class Bag+;
#pragma link C++ class Tick+;
#pragma link C++ class Tock+;
#pragma link C++ class Floor+;
#pragma link C++ class Room+;
#pragma link C++ class Shape+;
#pragma link C++ class Blot+;
#pragma link C++ class Group+;
#pragma link C++ class First+;
#pragma link C++ class Second+;
#pragma link C++ class Third+;
#pragma link C++ class Owner+;
#pragma link C++ class Owned+;
#pragma link C++ class Inner+;
#pragma link C++ class Box+;
KNOTS_LINKED
#pragma link C++ class Even+;
#pragma link C++ class Odd+;
#pragma link C++ class std::vector<Sack>+;
#pragma link C++ class std::vector<Bag>+;
#pragma link C++ class std::map<int, Room>+;
#pragma link C++ class std::vector<Floor*>+;
#pragma link C++ class std::vector<Shape*>+;
#pragma link C++ class std::vector<Third>+;
#pragma link C++ class std::vector<Owned*>+;
#pragma link C++ class std::vector<Box>+;
#endif
"""
)
POINTERS = ", ".join(f'{{"p{k}", v.p{k} ? json(*v.p{k}) : "null"}}' for k in range(WAYS))
for name, text in zip(("KNOTS_DEFINED", "KNOTS_LINKED", "KNOTS_TOLD"), knots(), strict=True):
    SOURCE = SOURCE.replace(name, text)
SOURCE = SOURCE.replace("MANY_ODD", many("Odd")).replace("MANY_EVEN", many("Even")).replace("POINTERS", POINTERS)


def main(folder):
    files = {"rounds": "rounds", "rounds-names": "named", "rounds-tangle": "tangle"}
    write_trees(folder, "rounds", SOURCE, files, ENTRIES)


if __name__ == "__main__":
    script.run(main, script.folder())
