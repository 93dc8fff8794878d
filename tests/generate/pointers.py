"""Writes tests/data/pointers.root with C++ ROOT: pointers to objects of several classes, and ROOT's own collections and classes,
as branches of trees.

    python tests/generate/pointers.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``) and ``g++``. ``pointers.root.values.json`` is what ROOT reads from each branch.
"""

import json
import pathlib
import tempfile

import ROOT
import script
from make import load
from values import JSON, write

ROOT.gErrorIgnoreLevel = ROOT.kError
ENTRIES = 12

FILL = """
#include <TArrayD.h>
#include <TArrayS.h>
#include <TClonesArray.h>
#include <TDatime.h>
#include <TFile.h>
#include <THashList.h>
#include <TLorentzVector.h>
#include <TMap.h>
#include <TMatrixD.h>
#include <TMatrixDSym.h>
#include <TObjString.h>
#include <TParameter.h>
#include <TRefArray.h>
#include <TTree.h>
#include <TVector3.h>
#include <TVectorD.h>

Shape *shape(int k)
{
  if (k % 4 == 0)
    return nullptr;
  if (k % 4 == 1) {
    auto circle = new Circle;
    circle->id = k, circle->radius = k / 4.;
    return circle;
  }
  if (k % 4 == 2) {
    auto label = new Label;
    label->id = k, label->text = std::string(k, 'l'), label->at = {double(k), 0, -1};
    label->widths.assign(k % 3, k / 8.f);
    return label;
  }
  auto plain = new Shape;
  plain->id = k;
  return plain;
}
Shape *there(int k) { return shape(k % 4 ? k : k + 1); }

void fill(Pointers &p, int entry)
{
  p.one = shape(entry);
  p.shapes.clear(), p.listed.clear(), p.byNumber.clear();
  for (int k = 0; k < entry % 5; k++) {
    p.shapes.push_back(shape(entry + k));
    p.listed.push_back(shape(entry + 2 * k));
    p.byNumber[k] = shape(entry + 3 * k);
  }
  p.two[0] = shape(entry + 1), p.two[1] = shape(entry + 2);
  p.circle = new Circle;
  p.circle->id = entry, p.circle->radius = entry / 2.;
  p.array.Clear(), p.list.Clear();
  for (int k = 0; k < entry % 4; k++) {
    p.array.Add(there(entry + k));
    p.list.Add(there(entry + k));
  }
  p.last = -7;
}

void write(const char *path)
{
  TFile file(path, "RECREATE", "", 505);
  TTree whole("whole", "in one branch"), split("split", "divided"), apart("apart", "a branch each");
  Pointers *object = new Pointers;
  whole.Branch("pointers", "Pointers", &object, 16000, 0);
  split.Branch("pointers.", "Pointers", &object, 16000, 99);
  auto shapes = new std::vector<Shape *>;
  auto array = new TObjArray;
  auto list = new TList;
  auto hashed = new THashList;
  auto map = new TMap;
  auto circles = new TClonesArray("Circle"), labels = new TClonesArray("Label"), slow = new TClonesArray("Circle");
  slow->BypassStreamer(false);
  auto refs = new TRefArray;
  auto ref = new TRef;
  auto text = new TObjString;
  auto named = new TNamed;
  auto numbers = new TArrayD;
  auto shorts = new TArrayS;
  auto vector3 = new TVector3;
  auto lorentz = new TLorentzVector;
  auto matrix = new TMatrixD(2, 3);
  auto symmetric = new TMatrixDSym(2);
  auto vectorD = new TVectorD(2);
  auto when = new TDatime;
  auto parameter = new TParameter<double>;
  auto owner = new TNamed("owner", "what references lead to");
  auto branch = [&](const char *name, const char *type, auto address, int level) { apart.Branch(name, type, address, 16000, level); };
  branch("shapes", "vector<Shape*>", &shapes, 0);
  apart.Branch("shapesByClass.", "vector<Shape*>", &shapes, 16000, 199);
  branch("array", "TObjArray", &array, 0);
  branch("list", "TList", &list, 0);
  branch("hashed", "THashList", &hashed, 0);
  branch("map", "TMap", &map, 0);
  branch("circles", "TClonesArray", &circles, 0);
  branch("circlesSplit", "TClonesArray", &circles, 99);
  branch("labels", "TClonesArray", &labels, 0);
  branch("labelsSplit", "TClonesArray", &labels, 99);
  branch("slow", "TClonesArray", &slow, 0);
  branch("refs", "TRefArray", &refs, 0);
  branch("ref", "TRef", &ref, 0);
  branch("text", "TObjString", &text, 0);
  branch("named", "TNamed", &named, 0);
  branch("namedSplit.", "TNamed", &named, 99);
  branch("numbers", "TArrayD", &numbers, 0);
  branch("shorts", "TArrayS", &shorts, 0);
  branch("vector3", "TVector3", &vector3, 0);
  branch("lorentz", "TLorentzVector", &lorentz, 0);
  branch("lorentzSplit.", "TLorentzVector", &lorentz, 99);
  branch("matrix", "TMatrixT<double>", &matrix, 0);
  branch("symmetric", "TMatrixTSym<double>", &symmetric, 0);
  branch("vectorD", "TVectorT<double>", &vectorD, 0);
  branch("when", "TDatime", &when, 0);
  branch("parameter", "TParameter<double>", &parameter, 0);
  for (int entry = 0; entry < ENTRIES; entry++) {
    fill(*object, entry);
    *shapes = object->shapes;
    array->Clear(), list->Clear(), hashed->Clear(), map->Clear(), circles->Delete(), labels->Delete(), slow->Delete();
    refs->Clear();
    for (int k = 0; k < entry % 4; k++) {
      array->Add(there(entry + k));
      list->Add(there(entry + k), k == 1 ? "an option" : "");
      hashed->Add(there(entry + k));
      map->Add(new TObjString(TString::Format("key %d", k)), there(entry + k));
      auto circle = static_cast<Circle *>(circles->ConstructedAt(k));
      circle->id = k, circle->radius = entry;
      circle = static_cast<Circle *>(slow->ConstructedAt(k));
      circle->id = -k, circle->radius = entry;
      auto label = static_cast<Label *>(labels->ConstructedAt(k));
      label->id = k, label->text = std::string(entry, 't'), label->widths.assign(k, entry), label->at = {1. * k, 2, 3};
      refs->Add(owner);
    }
    *ref = entry % 2 ? owner : nullptr;
    text->SetString(TString('t', entry));
    named->SetNameTitle(TString::Format("name %d", entry), "title");
    numbers->Set(entry % 4);
    numbers->Reset(entry);
    shorts->Set(2);
    shorts->Reset(entry);
    vector3->SetXYZ(entry, -entry, 0.5);
    lorentz->SetPxPyPzE(entry, 1, 2, 3);
    for (int k = 0; k < 6; k++)
      matrix->GetMatrixArray()[k] = entry + k / 8.;
    (*symmetric)(0, 0) = entry, (*symmetric)(0, 1) = (*symmetric)(1, 0) = 2, (*symmetric)(1, 1) = 3;
    (*vectorD)[0] = entry, (*vectorD)[1] = 1;
    when->Set(2020, 1, 1 + entry, 2, 3, 4);
    parameter->SetVal(entry);
    whole.Fill(), split.Fill(), apart.Fill();
  }
  file.Write();
  owner->Write("owner");
}
"""

READ = JSON + r"""
#include <TTree.h>

std::string json(const Point &v) { return record({{"x", json(v.x)}, {"y", json(v.y)}, {"z", json(v.z)}}); }
std::string object(const TObject *v)
{
  if (!v)
    return "null";
  if (auto circle = dynamic_cast<const Circle *>(v))
    return record({{"id", json(circle->id)}, {"radius", json(circle->radius)}});
  if (auto label = dynamic_cast<const Label *>(v))
    return record({{"id", json(label->id)}, {"text", json(label->text)}, {"widths", numbers(label->widths.data(), label->widths.size())}, {"at", json(label->at)}});
  if (auto shape = dynamic_cast<const Shape *>(v))
    return record({{"id", json(shape->id)}});
  if (auto text = dynamic_cast<const TObjString *>(v))
    return record({{"fString", json(text->GetString().Data())}});
  throw std::runtime_error(v->ClassName());
}
std::string json(const TCollection &v)
{
  if (auto map = dynamic_cast<const TMap *>(&v))
    return items(*map, [](TObject *item) {
      auto pair = static_cast<TPair *>(item);
      return "[" + object(pair->Key()) + ", " + object(pair->Value()) + "]";
    });
  return items(v, [](TObject *item) { return object(item); });
}
template <class C>
std::string pointers(const C &v) { return items(v, [](auto *item) { return object(item); }); }
std::string json(const Pointers &v)
{
  auto pair = [](auto &item) { return "[" + json(item.first) + ", " + object(item.second) + "]"; };
  return record({{"one", object(v.one)}, {"shapes", pointers(v.shapes)}, {"listed", pointers(v.listed)}, {"byNumber", items(v.byNumber, pair)},
                 {"two", pointers(v.two)}, {"circle", object(v.circle)}, {"array", json(v.array)}, {"list", json(v.list)}, {"last", json(v.last)}});
}
std::string json(const std::vector<Shape *> &v) { return pointers(v); }
std::string json(const TRefArray &v)
{
  std::vector<unsigned> ids;
  for (int k = 0; k < v.GetEntriesFast(); k++)
    ids.push_back(v.GetUID(k));
  return numbers(ids.data(), ids.size());
}
std::string json(const TRef &v) { return json(v.GetUniqueID()); }
std::string json(const TObjString &v) { return object(&v); }
std::string json(const TNamed &v) { return record({{"fName", json(v.GetName())}, {"fTitle", json(v.GetTitle())}}); }
std::string json(const TArrayD &v) { return numbers(v.GetArray(), v.GetSize()); }
std::string json(const TArrayS &v)
{
  std::vector<int> all(v.GetArray(), v.GetArray() + v.GetSize());
  return numbers(all.data(), all.size());
}
std::string json(const TVector3 &v) { return record({{"fX", json(v.X())}, {"fY", json(v.Y())}, {"fZ", json(v.Z())}}); }
std::string json(const TLorentzVector &v) { return record({{"fP", json(v.Vect())}, {"fE", json(v.E())}}); }
std::string json(const TMatrixD &v) { return record({{"fNrows", json(v.GetNrows())}, {"fElements", numbers(v.GetMatrixArray(), v.GetNoElements())}}); }
std::string json(const TMatrixDSym &v) { return record({{"fNrows", json(v.GetNrows())}, {"fElements", numbers(v.GetMatrixArray(), v.GetNoElements())}}); }
std::string json(const TVectorD &v) { return record({{"fNrows", json(v.GetNrows())}, {"fElements", numbers(v.GetMatrixArray(), v.GetNoElements())}}); }
std::string json(const TDatime &v) { return record({{"fDatime", json(v.Get())}}); }
std::string json(const TParameter<double> &v) { return record({{"fName", json(v.GetName())}, {"fVal", json(v.GetVal())}}); }

std::string read(TTree *tree, const char *name)
{
  TBranch *branch = tree->GetBranch(name);
  const std::string kind = branch->GetClassName();
#define READ(T)                                                                                                                                                    \
  if (kind == #T)                                                                                                                                                  \
    return entries<T>(branch);
  READ(Pointers) READ(TObjArray) READ(TList) READ(THashList) READ(TMap) READ(TClonesArray) READ(TRefArray) READ(TRef) READ(TObjString)
  READ(TNamed) READ(TArrayD) READ(TArrayS) READ(TVector3) READ(TLorentzVector) READ(TMatrixT<double>) READ(TMatrixTSym<double>)
  READ(TVectorT<double>) READ(TDatime) READ(TParameter<double>)
  // One that is divided by class does not tell its own.
  if (kind.empty() || kind == "vector<Shape*>")
    return entries<std::vector<Shape *>>(branch);
  throw std::runtime_error(kind);
}
"""


def main(folder):
    path = str(folder / "pointers.root")
    with tempfile.TemporaryDirectory() as build:
        load(build, "classes")
        ROOT.gInterpreter.Declare(f"constexpr int ENTRIES = {ENTRIES};" + FILL + READ)
        ROOT.write(path)
        file = ROOT.TFile(path)
        trees = [file.Get(name) for name in ("whole", "split", "apart")]
        golden = {f"{tree.GetName()}/{branch.GetName()}": json.loads(str(ROOT.read(tree, branch.GetName()))) for tree in trees for branch in tree.GetListOfBranches()}
    write(folder / "pointers.root.values.json", golden)


if __name__ == "__main__":
    script.run(main, script.folder())
