"""Random trees of objects with pointers, cut at random: C++ ROOT reads in each entry what it read in the whole tree.

    python random_pointers.py SEED COUNT FOLDER FORTHWITH

Runs under a Python that has ROOT. FORTHWITH is the command. Anything that ROOT prints on its other output counts as an error.
"""

import json
import os
import pathlib
import random
import subprocess
import sys

import ROOT

CLASSES = r"""
#include <map>
#include <string>
#include <vector>
#include "TArrayI.h"
#include "TClonesArray.h"
#include "TBranch.h"
#include "TBufferJSON.h"
#include "TEfficiency.h"
#include "TFile.h"
#include "TH1D.h"
#include "TLeaf.h"
#include "TList.h"
#include "TNamed.h"
#include "TObjArray.h"
#include "TObjString.h"
#include "TRandom3.h"
#include "TRef.h"
#include "TTree.h"

class Base : public TObject {
 public:
  int fKind = -1;
  Base *fNext = nullptr;
  Base() {}
  virtual ~Base() {}
  ClassDef(Base, 1);
};
class Long : public Base {
 public:
  std::vector<double> fValues;
  std::string fText;
  ClassDef(Long, 2);
};
class Named : public Base {
 public:
  TNamed fName;
  TNamed *fOther = nullptr;
  ClassDef(Named, 1);
};
class Inner {
 public:
  int fId = -1;
  Base *fFirst = nullptr;
  Base *fSecond = nullptr;
  std::vector<Base *> fAll;
  virtual ~Inner() {}
  ClassDef(Inner, 1);
};
class Outer : public TNamed {
 public:
  int fN = 0;
  Base *fPointer = nullptr;
  Base *fTwo[2] = {nullptr, nullptr};
  TObject *fAny = nullptr;
  Inner fInner;
  std::vector<Inner> fInners;
  std::vector<Base *> fBases;
  std::map<int, Base *> fMap;
  TObjArray fArray;
  TList fList;
  TClonesArray fClones;
  TRef fRef;
  int fFlags = -1;
  Outer() : fClones("Named", 4) {}
  virtual ~Outer() {}
  ClassDef(Outer, 3);
};
#ifdef __CLING__
#pragma link C++ class Base+;
#pragma link C++ class Long+;
#pragma link C++ class Named+;
#pragma link C++ class Inner+;
#pragma link C++ class Outer+;
#pragma link C++ class std::vector<Base *>+;
#pragma link C++ class std::vector<Inner>+;
#pragma link C++ class std::vector<TH1D *>+;
#pragma link C++ class std::vector<TNamed *>+;
#pragma link C++ class std::map<int, Base *>+;
#pragma link C++ class std::map<std::string, Inner>+;
#pragma link C++ class std::pair<int, Base *>+;
#endif

Base *make_base(TRandom &dice, int depth = 0) {
  Base *made = nullptr;
  switch (dice.Integer(4)) {
  case 0: return nullptr;
  case 1: made = new Base; break;
  case 2: {
    auto *one = new Long;
    one->fValues.resize(dice.Integer(5), -1.5);
    one->fText = std::string(dice.Integer(9) == 0 ? 300 : dice.Integer(20), 'x');
    made = one;
    break;
  }
  default: {
    auto *one = new Named;
    one->fName.SetName(std::string(dice.Integer(12), 'n').c_str());
    if (dice.Integer(2)) one->fOther = new TNamed("other", "");
    made = one;
  }
  }
  made->fKind = dice.Integer(3) ? -1 : int(dice.Integer(1000));
  if (depth < 3 && dice.Integer(3) == 0) made->fNext = dice.Integer(3) ? make_base(dice, depth + 1) : made;
  return made;
}

void fill_inner(Inner &inner, TRandom &dice) {
  inner.fId = dice.Integer(2) ? -1 : int(dice.Integer(99));
  inner.fFirst = make_base(dice);
  inner.fSecond = dice.Integer(2) ? inner.fFirst : make_base(dice);
  inner.fAll.clear();
  for (int n = dice.Integer(3); n > 0; --n) inner.fAll.push_back(dice.Integer(3) ? make_base(dice) : inner.fFirst);
}

void fill_outer(Outer &outer, TRandom &dice) {
  outer.SetName(std::string(dice.Integer(30), 'o').c_str());
  outer.fN = dice.Integer(100);
  outer.fPointer = make_base(dice);
  outer.fTwo[0] = make_base(dice);
  outer.fTwo[1] = dice.Integer(2) ? outer.fPointer : nullptr;
  outer.fAny = dice.Integer(2) ? (TObject *)new TObjString("any") : (TObject *)make_base(dice);
  fill_inner(outer.fInner, dice);
  outer.fInners.resize(dice.Integer(4));
  for (auto &inner : outer.fInners) fill_inner(inner, dice);
  outer.fBases.clear();
  for (int n = dice.Integer(5); n > 0; --n) outer.fBases.push_back(dice.Integer(4) ? make_base(dice) : outer.fPointer);
  outer.fMap.clear();
  for (int n = dice.Integer(3); n > 0; --n) outer.fMap[n] = make_base(dice);
  outer.fArray.Clear();
  outer.fList.Clear();
  for (int n = dice.Integer(3); n > 0; --n) {
    if (auto *one = make_base(dice)) outer.fArray.Add(one);
    outer.fList.Add(new TObjString("listed"));
  }
  outer.fClones.Clear("C");
  for (int n = 0, all = dice.Integer(4); n < all; ++n) {
    auto *one = (Named *)outer.fClones.ConstructedAt(n);
    one->fName.SetName(std::string(dice.Integer(12), 'c').c_str());
    one->fKind = -1;
    one->fNext = make_base(dice);
    one->fOther = dice.Integer(2) ? new TNamed("clone's", "other") : nullptr;
  }
}

TH1D *make_histogram(TRandom &dice) {
  auto *made = new TH1D(TString::Format("h%d", int(dice.Integer(100))), "", 1 + dice.Integer(4), 0, 1);
  made->SetDirectory(nullptr);
  made->Fill(0.5, dice.Integer(9));
  if (dice.Integer(3) == 0) made->GetListOfFunctions()->Add(new TNamed("function", "of it"));
  return made;
}

void write_tree(TFile &file, int seed) {
  TRandom3 dice(seed);
  file.cd();
  auto *tree = new TTree("t", "");
  auto pick = [&](std::initializer_list<int> all) { return all.begin()[dice.Integer(all.size())]; };
  auto size = [&] { return pick({200, 1000, 4000, 32000}); };
  auto split = [&] { return pick({0, 1, 2, 99}); };
  int number = 0;
  auto *outer = new Outer;
  auto *bases = new std::vector<Base *>;
  auto *inners = new std::vector<Inner>;
  auto *histograms = new std::vector<TH1D *>;
  auto *texts = new std::map<std::string, Inner>;
  auto *clones = new TClonesArray("Named", 4);
  auto *array = new TObjArray;
  auto *efficiency = new TEfficiency("e", "", 3, 0, 1);
  efficiency->SetDirectory(nullptr);
  auto *histogram = new TH1D("single", "", 3, 0, 1);
  histogram->SetDirectory(nullptr);
  TObject *any = nullptr;
  unsigned kinds = 1 + dice.Integer(1023);
  tree->Branch("number", &number, size(), 0);
  if (kinds & 1) tree->Branch("outer.", &outer, size(), split());
  if (kinds & 2) tree->Branch("bases", &bases, size(), pick({0, 1, 99}));
  if (kinds & 4) tree->Branch("inners", &inners, size(), split());
  if (kinds & 8) tree->Branch("histograms", &histograms, size(), 0);
  if (kinds & 16) tree->Branch("texts", &texts, size(), split());
  if (kinds & 32) tree->Branch("clones", &clones, size(), split());
  if (kinds & 64) tree->Branch("array", &array, size(), 0);
  if (kinds & 128) tree->Branch("efficiency", &efficiency, size(), split());
  if (kinds & 256) tree->Branch("histogram", &histogram, size(), split());
  int entries = 1 + dice.Integer(40);
  if (dice.Integer(2)) tree->SetAutoFlush(1 + dice.Integer(12));
  for (int entry = 0; entry < entries; ++entry) {
    number = entry;
    fill_outer(*outer, dice);
    bases->clear();
    for (int n = dice.Integer(5); n > 0; --n) {
      bases->push_back(dice.Integer(4) || bases->empty() ? make_base(dice) : bases->front());
    }
    inners->resize(dice.Integer(4));
    for (auto &inner : *inners) fill_inner(inner, dice);
    histograms->clear();
    for (int n = dice.Integer(3); n > 0; --n) histograms->push_back(make_histogram(dice));
    texts->clear();
    for (int n = dice.Integer(3); n > 0; --n) fill_inner((*texts)[std::string(n, 'k')], dice);
    clones->Clear("C");
    for (int n = 0, all = dice.Integer(4); n < all; ++n) {
      auto *one = (Named *)clones->ConstructedAt(n);
      one->fName.SetName(std::string(dice.Integer(12), 'c').c_str());
      one->fNext = make_base(dice);
      one->fOther = dice.Integer(2) ? new TNamed("clone's", "other") : nullptr;
    }
    array->Clear();
    for (int n = dice.Integer(4); n > 0; --n) {
      if (auto *one = dice.Integer(2) ? (TObject *)make_base(dice) : (TObject *)make_histogram(dice)) array->Add(one);
    }
    efficiency->Fill(dice.Integer(2), dice.Uniform());
    histogram->Fill(dice.Uniform());
    if (dice.Integer(4) == 0) histogram->GetListOfFunctions()->Add(new TNamed("more", ""));
    tree->Fill();
  }
  tree->Write();
}

// Objects are leaked: ROOT deletes each item of a collection, also those that are there twice.
std::vector<std::string> read_tree(TTree *tree) {
  std::vector<std::string> all;
  for (Long64_t entry = 0; entry < tree->GetEntries(); ++entry) {
    std::string text;
    for (auto *one : *tree->GetListOfBranches()) {
      auto *branch = (TBranch *)one;
      if (branch->IsA() == TBranch::Class()) {
        branch->GetEntry(entry);
        text += TString::Format("%g|", branch->GetLeaf("number")->GetValue()).Data();
        continue;
      }
      auto *kind = TClass::GetClass(branch->GetClassName());
      auto is_clones = kind == TClonesArray::Class();
      auto **place = new void *(is_clones ? new TClonesArray("Named", 4) : kind->New());
      branch->SetAddress(place);
      branch->GetEntry(entry);
      text += std::string(branch->GetName()) + TBufferJSON::ConvertToJSON(*place, kind).Data() + "|";
    }
    all.push_back(text);
  }
  return all;
}
"""


def cuts(dice, path, out, entries, command):
    """A command that copies some entries, and which they are."""
    kept = sorted(dice.sample(range(entries), dice.randint(1, entries)))
    how = dice.randrange(4)
    if how == 0:
        begin = dice.randrange(entries)
        end = dice.randint(begin + 1, entries)
        return [command, "cp", "--entries", f"{begin}:{end}", f"{path}:t", out], [range(begin, end)], [out]
    if how == 1:
        step = dice.randint(1, entries)
        parts = [range(begin, min(begin + step, entries)) for begin in range(0, entries, step)]
        names = [f"{out[:-5]}-{number}.root" for number in range(1, len(parts) + 1)]
        return [command, "split", f"{path}:t", "--entries", str(step), out], parts, names
    condition = " || ".join(f"number == {number}" for number in kept)
    return [command, "cp", "--where", condition, f"{path}:t", out], [kept], [out]


def read(path):
    """The entries of a tree as C++ ROOT reads them, as text."""
    file = ROOT.TFile(str(path))
    return [str(text) for text in ROOT.read_tree(file["t"])]


def main():
    """Makes the trees, cuts and compares them."""
    seed, count, folder, command = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
    os.chdir(folder)
    ROOT.gErrorIgnoreLevel = ROOT.kWarning
    pathlib.Path("pointing.cxx").write_text(CLASSES)
    if ROOT.gSystem.CompileMacro("pointing.cxx", "k") != 1:
        sys.exit("the classes cannot be compiled")
    done = 0
    for number in range(seed, seed + count):
        dice = random.Random(number)
        path, out = f"whole-{number}.root", f"part-{number}.root"
        file = ROOT.TFile(path, "recreate")
        file.SetCompressionLevel(dice.choice([0, 1]))
        ROOT.write_tree(file, number)
        file.Close()
        before = read(path)
        for _ in range(3):
            run, kept, names = cuts(dice, path, out, len(before), command)
            told = subprocess.run([*run, "--force"], check=False, capture_output=True, text=True)
            if told.returncode:
                sys.exit(f"{number}: {run}: {told.stderr}")
            for entries, name in zip(kept, names, strict=True):
                after = read(name)
                if after != [before[entry] for entry in entries]:
                    sys.exit(f"{number}: {run}: {name} has other values")
                checked = subprocess.run([command, "check", name], check=False, capture_output=True, text=True)
                if checked.returncode:
                    sys.exit(f"{number}: {run}: {checked.stdout}{checked.stderr}")
                done += 1
                os.remove(name)
        os.remove(path)
    print(json.dumps(f"{done} parts are equal"))


main()
