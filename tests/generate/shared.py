"""Writes tests/data/shared.root with C++ ROOT: pointers of which several lead to the same object, from one place or from several.

    python tests/generate/shared.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``) and ``g++``. ``shared.root.values.json`` is what ROOT reads. Within an entry no two objects
have the same ``id``, and ROOT was asked whether pointers to the same ``id`` are the same when it reads.
"""

import json
import pathlib
import tempfile

import ROOT
import script
from values import JSON, write

ROOT.gErrorIgnoreLevel = ROOT.kError

SOURCE = JSON + r"""
#include <TFile.h>
#include <TObjArray.h>
#include <TTree.h>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

class Maker : public TObject {
public:
  int id = 0;
  std::string name;
  ClassDefOverride(Maker, 1)
};
class Vertex : public TObject {
public:
  int id = 0;
  std::vector<float> position;
  Maker *maker = nullptr;
  ClassDefOverride(Vertex, 1)
};
class Track : public TObject {
public:
  int id = 0;
  Vertex *from = nullptr;
  Vertex *to = nullptr;
  ClassDefOverride(Track, 1)
};
class Collision : public TObject {
public:
  Vertex *first = nullptr;
  std::vector<Track> tracks;
  std::vector<Vertex *> vertices;
  std::map<int, Vertex *> byNumber;
  TObject *any[4] = {nullptr, nullptr, nullptr, nullptr};
  TObjArray list;
  ClassDefOverride(Collision, 1)
};
// Circles.
class Node : public TObject {
public:
  int id = 0;
  Node *next = nullptr;
  Maker *maker = nullptr;
  ClassDefOverride(Node, 1)
};
#ifdef __ROOTCLING__
#pragma link C++ class Maker+;
#pragma link C++ class Vertex+;
#pragma link C++ class Track+;
#pragma link C++ class Collision+;
#pragma link C++ class Node+;
#pragma link C++ class std::vector<Track>+;
#pragma link C++ class std::vector<Vertex*>+;
#pragma link C++ class std::map<int, Vertex*>+;
#pragma link C++ class std::pair<int, Vertex*>+;
#endif

unsigned state = 1;
int below(int n) { return (state = state * 1664525u + 1013904223u) / 65536 % n; }

void write(const char *path, int entries)
{
  TFile file(path, "RECREATE", "", 505);
  TTree whole("whole", "in one branch"), split("split", "divided"), apart("apart", "a branch each"), circles("circles", "that lead back");
  auto collision = new Collision;
  auto list = new TObjArray;
  auto vertices = new std::vector<Vertex *>;
  auto node = new Node;
  whole.Branch("collision", "Collision", &collision, 4000, 0);
  split.Branch("collision.", "Collision", &collision, 4000, 99);
  apart.Branch("list", "TObjArray", &list, 4000, 0);
  apart.Branch("vertices", "vector<Vertex*>", &vertices, 4000, 0);
  circles.Branch("node", "Node", &node, 4000, 0);
  for (int entry = 0; entry < entries; entry++) {
    int id = 1;
    std::vector<Maker *> makers(1 + below(3));
    for (auto &maker : makers)
      maker = new Maker, maker->id = id++, maker->name = std::string(below(6), 'm');
    std::vector<Vertex *> known(below(5));
    for (auto &vertex : known) {
      vertex = new Vertex;
      vertex->id = id++;
      vertex->position.assign(below(4), entry + id / 8.f);
      vertex->maker = below(4) ? makers[below(makers.size())] : nullptr;
    }
    auto some = [&]() -> Vertex * { return known.empty() || below(6) == 0 ? nullptr : known[below(known.size())]; };
    auto &c = *collision;
    c.first = some();
    c.tracks.clear(), c.vertices.clear(), c.byNumber.clear(), c.list.Clear();
    for (int k = below(7); k > 0; k--) {
      Track track;
      track.id = id++, track.from = some(), track.to = some();
      c.tracks.push_back(track);
    }
    for (int k = below(6); k > 0; k--)
      c.vertices.push_back(some()), c.byNumber[below(20)] = some();
    for (auto &any : c.any)
      any = below(3) ? (TObject *)some() : makers[below(makers.size())];
    for (int k = below(9); k > 0; k--)
      if (TObject *item = below(3) ? (TObject *)some() : makers[below(makers.size())])
        c.list.Add(item);
    list->Clear();
    for (int k = 0; k < c.list.GetEntriesFast(); k++)
      list->Add(c.list[k]);
    *vertices = c.vertices;
    // None, the object itself, or a ring of two.
    node->id = id++, node->maker = makers[0], node->next = nullptr;
    if (entry % 4 == 2)
      node->next = node;
    if (entry % 4 == 3)
      node->next = new Node, node->next->id = id++, node->next->maker = makers[0], node->next->next = node->next;
    whole.Fill(), split.Fill(), apart.Fill(), circles.Fill();
  }
  file.Write();
}

// Whoever has the same id has to be the same object.
std::map<int, const TObject *> known;
void know(int id, const TObject *v)
{
  auto [at, isNew] = known.emplace(id, v);
  if (!isNew && at->second != v)
    throw std::runtime_error("an object is there twice");
}
std::string object(const TObject *v);
std::string track(const Track &v)
{
  return "{\"id\": " + json(v.id) + ", \"from\": " + object(v.from) + ", \"to\": " + object(v.to) + "}";
}
std::string object(const TObject *v)
{
  if (!v)
    return "null";
  if (auto maker = dynamic_cast<const Maker *>(v)) {
    know(maker->id, v);
    return "{\"id\": " + json(maker->id) + ", \"name\": \"" + maker->name + "\"}";
  }
  auto &vertex = dynamic_cast<const Vertex &>(*v);
  know(vertex.id, v);
  auto number = [](float x) { return std::to_string(x); };
  return "{\"id\": " + json(vertex.id) + ", \"position\": " + items(vertex.position, number) + ", \"maker\": " + object(vertex.maker) + "}";
}
std::string listed(const TObjArray &v) { return items(v, object); }
std::string collision(const Collision &v)
{
  auto pair = [](auto &item) { return "[" + json(item.first) + ", " + object(item.second) + "]"; };
  return "{\"first\": " + object(v.first) + ", \"tracks\": " + items(v.tracks, track) + ", \"vertices\": " + items(v.vertices, object) +
         ", \"byNumber\": " + items(v.byNumber, pair) + ", \"any\": " + items(v.any, object) + ", \"list\": " + listed(v.list) + "}";
}
template <class T, class F>
std::string entries(TTree &tree, const char *name, F &&each)
{
  std::string out;
  for (int k = 0; k < tree.GetEntries(); k++) {
    // A new one each time: ROOT would delete what pointers of the last lead to, for each of them.
    auto object = new T;
    tree.SetBranchAddress(name, &object);
    known.clear();
    tree.GetBranch(name)->GetEntry(k);
    out += (out.empty() ? "" : ", ") + each(*object);
    tree.ResetBranchAddresses();
  }
  return "[" + out + "]";
}
std::string read(TFile &file, std::string name)
{
  if (name == "whole")
    return entries<Collision>(*file.Get<TTree>("whole"), "collision", collision);
  if (name == "split") {
    // Each branch has its own objects: what is the same is the same within one.
    auto each = [](auto &v) {
      std::string out;
      auto add = [&](std::string name, std::string value) { out += (out.empty() ? "{\"" : ", \"") + name + "\": " + value, known.clear(); };
      auto pair = [](auto &item) { return "[" + json(item.first) + ", " + object(item.second) + "]"; };
      auto ends = [&](bool from) { return items(v.tracks, [&](auto &t) { return object(from ? t.from : t.to); }); };
      add("first", object(v.first)), add("tracks.from", ends(true)), add("tracks.to", ends(false));
      add("vertices", items(v.vertices, object)), add("byNumber", items(v.byNumber, pair));
      add("any", items(v.any, object)), add("list", listed(v.list));
      return out + "}";
    };
    return entries<Collision>(*file.Get<TTree>("split"), "collision.", each);
  }
  if (name == "circles")
    return entries<Node>(*file.Get<TTree>("circles"), "node", [](auto &v) {
      int length = v.next == nullptr ? 0 : v.next == &v ? 1 : v.next->next == v.next ? 2 : -1;
      return json(length);
    });
  if (name == "list")
    return entries<TObjArray>(*file.Get<TTree>("apart"), "list", listed);
  return entries<std::vector<Vertex *>>(*file.Get<TTree>("apart"), "vertices", [](auto &v) { return items(v, object); });
}
"""


def main(folder):
    path = str(folder / "shared.root")
    with tempfile.TemporaryDirectory() as build:
        macro = pathlib.Path(build) / "shared.C"
        macro.write_text(SOURCE)
        if ROOT.gROOT.LoadMacro(f"{macro}+") != 0:
            raise SystemExit("the classes do not compile")
        ROOT.write(path, 60)
        file = ROOT.TFile(path)
        golden = {name: json.loads(str(ROOT.read(file, name))) for name in ("whole", "split", "list", "vertices", "circles")}
    # A branch alone is what it is in the whole.
    for name in ("list", "vertices"):
        assert golden.pop(name) == [entry[name] for entry in golden["whole"]]
    for split, entry in zip(golden.pop("split"), golden["whole"], strict=True):
        ends = {f"tracks.{end}": [track[end] for track in entry["tracks"]] for end in ("from", "to")}
        assert split == {**ends, **{name: value for name, value in entry.items() if name != "tracks"}}
    write(folder / "shared.root.values.json", golden)


if __name__ == "__main__":
    script.run(main, script.folder())
