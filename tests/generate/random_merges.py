"""Random files of C++ ROOT, merged, cut, split and compressed anew by forthwith, and read again by C++ ROOT.

Run by an interpreter with ROOT: ``python random_merges.py SEED COUNT FOLDER COMMAND``, where ``COMMAND`` is the command
``forthwith``. Every entry of what was written is compared with the entries of the files it was made of; histograms are
compared with what ``TFileMerger``, which is ``hadd``, makes of them. ROOT must say nothing meanwhile. Ends with the
number of files that were compared, or the first difference.
"""

import random
import subprocess
import sys
from pathlib import Path

import ROOT

CODE = r"""
#include <map>
#include <sstream>
#include <string>
#include <vector>
#include "TClonesArray.h"
#include "TFile.h"
#include "TH1.h"
#include "TLorentzVector.h"
#include "TNamed.h"
#include "TSystem.h"
#include "TTreeIndex.h"
#include "TRandom3.h"
#include "TTree.h"
#include "TVector3.h"

#ifdef __CLING__
#pragma link C++ class std::vector<std::vector<int>>+;
#pragma link C++ class std::vector<TVector3>+;
#pragma link C++ class std::map<int, std::string>+;
#endif

struct Row {
  Int_t run = 0; Long64_t event = 0;
  Char_t b = 0; UShort_t us = 0; ULong64_t ul = 0; Float_t f = 0; Double_t d = 0; Bool_t o = false;
  struct { Int_t a; Double_t x; UChar_t c; } list{0, 0, 0};
  Int_t n = 0; Float_t xs[20] = {}; Short_t ys[20][2] = {};
  UShort_t m = 0; Double_t zs[20] = {};
  char text[600] = "";
  Double_t fixed[2][3] = {};
  std::string* string = nullptr;
  std::vector<float>* floats = nullptr; std::vector<std::vector<int>>* nested = nullptr;
  std::vector<std::string>* strings = nullptr;
  std::vector<TVector3>* points = nullptr; TLorentzVector* lorentz = nullptr;
  TClonesArray* clones = nullptr;
  Double32_t packed = 0; Float16_t half = 0;
  std::map<int, std::string>* map = nullptr;
  TNamed* named = nullptr; TObject* object = nullptr;
};

// What ROOT says: nothing is to be wrong.
std::string complaints;
void complain(int level, Bool_t, const char* where, const char* what) {
  if (level > kInfo) complaints += std::string(where) + ": " + what + "\n";
}
void listen() { SetErrorHandler(complain); }
std::string complained() { return complaints; }

Row* fresh() {
  auto* row = new Row;
  row->string = new std::string; row->floats = new std::vector<float>; row->nested = new std::vector<std::vector<int>>;
  row->strings = new std::vector<std::string>; row->points = new std::vector<TVector3>; row->lorentz = new TLorentzVector;
  row->clones = new TClonesArray("TVector3", 10); row->map = new std::map<int, std::string>; row->named = new TNamed;
  return row;
}

// Makes branches, or binds those that there are. Bits say which.
void bind(TTree* tree, Row* row, unsigned bits, bool make, int buffer, int split) {
  auto leaf = [&](const char* name, void* at, const char* leaves) {
    if (make) tree->Branch(name, at, leaves, buffer); else if (tree->GetBranch(name)) tree->SetBranchAddress(name, at);
  };
  auto thing = [&](const char* name, auto** at, int level) {
    if (make) tree->Branch(name, at, buffer, level);
    else if (tree->GetBranch(name)) tree->SetBranchAddress(name, at);
  };
  leaf("run", &row->run, "run/I"); leaf("event", &row->event, "event/L");
  if (bits & 1) {
    leaf("b", &row->b, "b/B"); leaf("us", &row->us, "us/s"); leaf("ul", &row->ul, "ul/l");
    leaf("f", &row->f, "f/F"); leaf("d", &row->d, "d/D"); leaf("o", &row->o, "o/O");
  }
  if (bits & 2) leaf("list", &row->list, "a/I:x/D:c/b");
  if (bits & 4) { leaf("n", &row->n, "n/I"); leaf("xs", row->xs, "xs[n]/F"); leaf("ys", row->ys, "ys[n][2]/S"); }
  if (bits & 8) { leaf("m", &row->m, "m/s"); leaf("zs", row->zs, "zs[m]/D"); }
  if (bits & 16) leaf("text", row->text, "text/C");
  if (bits & 32) leaf("fixed", row->fixed, "fixed[2][3]/D");
  if (bits & 64) thing("string", &row->string, split);
  if (bits & 128) { thing("floats", &row->floats, split); thing("nested", &row->nested, split); thing("strings", &row->strings, split); }
  if (bits & 256) { thing("points", &row->points, split); thing("lorentz.", &row->lorentz, split); }
  if (bits & 512) thing("clones", &row->clones, split);
  if (bits & 1024) { leaf("packed", &row->packed, "packed/d[0,10,14]"); leaf("half", &row->half, "half/f"); }
  if (bits & 2048) thing("map", &row->map, split);
  if (bits & 4096) thing("named.", &row->named, split);
}

void draw(Row* row, TRandom3& chance, Long64_t entry, int run) {
  row->run = run; row->event = entry;
  row->b = chance.Integer(256); row->us = chance.Integer(65536); row->ul = (ULong64_t(chance.Integer(1u << 31)) << 32) | 7;
  row->f = chance.Gaus(); row->d = chance.Gaus(); row->o = chance.Integer(2);
  row->list.a = chance.Integer(1000); row->list.x = chance.Rndm(); row->list.c = chance.Integer(256);
  row->n = chance.Integer(20); row->m = chance.Integer(20);
  for (int i = 0; i < 20; ++i) { row->xs[i] = chance.Gaus(); row->ys[i][0] = i; row->ys[i][1] = chance.Integer(99); row->zs[i] = i + run; }
  int length = chance.Integer(100) ? chance.Integer(12) : 280;
  for (int i = 0; i < length; ++i) row->text[i] = 'a' + chance.Integer(26);
  row->text[length] = 0;
  for (auto& line : row->fixed) for (auto& value : line) value = chance.Rndm();
  *row->string = std::string(chance.Integer(100) ? chance.Integer(9) : 300, 's');
  row->floats->assign(chance.Integer(6), run + 0.5f);
  row->nested->assign(chance.Integer(4), std::vector<int>(chance.Integer(3), int(entry)));
  row->strings->assign(chance.Integer(4), std::string(chance.Integer(5), 't'));
  row->points->assign(chance.Integer(4), TVector3(entry, run, chance.Rndm()));
  row->lorentz->SetPxPyPzE(chance.Rndm(), 1, 2, entry);
  row->clones->Clear("C");
  int clones = chance.Integer(4);
  for (int i = 0; i < clones; ++i) new ((*row->clones)[i]) TVector3(i, run, entry);
  row->packed = chance.Uniform(0, 10); row->half = chance.Integer(100) / 4.0;
  row->map->clear();
  for (int i = chance.Integer(4); i > 0; --i) (*row->map)[i] = std::string(i, 'm');
  row->named->SetNameTitle(Form("name%lld", entry), std::string(chance.Integer(30), 'x').c_str());
}

std::string told(Row* row, unsigned bits, const TTree* tree) {
  std::ostringstream out; out.precision(17);
  auto has = [&](const char* name) { return const_cast<TTree*>(tree)->GetBranch(name) != nullptr; };
  if (has("run")) out << row->run << ' ';
  if (has("event")) out << row->event << ' ';
  if ((bits & 1) && has("b")) out << int(row->b) << ' ' << row->us << ' ' << row->ul << ' ' << row->f << ' ' << row->d << ' ' << row->o << ' ';
  if ((bits & 2) && has("list")) out << row->list.a << ' ' << row->list.x << ' ' << int(row->list.c) << ' ';
  if ((bits & 4) && has("xs")) for (int i = 0; i < row->n; ++i) out << row->xs[i] << ',' << row->ys[i][0] << ',' << row->ys[i][1] << ' ';
  if ((bits & 8) && has("zs")) for (int i = 0; i < row->m; ++i) out << row->zs[i] << ' ';
  if ((bits & 16) && has("text")) out << row->text << ' ';
  if ((bits & 32) && has("fixed")) for (auto& line : row->fixed) for (auto value : line) out << value << ' ';
  if ((bits & 64) && has("string")) out << *row->string << ' ';
  if ((bits & 128) && has("floats")) {
    for (auto value : *row->floats) out << value << ' ';
    for (auto& inner : *row->nested) { out << '['; for (auto value : inner) out << value << ' '; out << ']'; }
    for (auto& value : *row->strings) out << '"' << value << '"';
  }
  if ((bits & 256) && has("points")) {
    for (auto& p : *row->points) out << p.X() << ' ' << p.Y() << ' ' << p.Z() << ' ';
    out << row->lorentz->Px() << ' ' << row->lorentz->E() << ' ';
  }
  if ((bits & 512) && has("clones")) for (auto* one : *row->clones) { auto* p = (TVector3*)one; out << p->X() << ' ' << p->Y() << ' ' << p->Z() << ';'; }
  if ((bits & 1024) && has("packed")) out << row->packed << ' ' << row->half << ' ';
  if ((bits & 2048) && has("map")) for (auto& [key, value] : *row->map) out << key << '=' << value << ' ';
  if ((bits & 4096) && has("named.")) out << row->named->GetName() << row->named->GetTitle();
  return out.str();
}

void befriend(const char* path) {
  TFile file(path, "RECREATE");
  TTree tree("other", "a friend"); int number = 0; tree.Branch("number", &number);
  for (; number < 10; ++number) tree.Fill();
  tree.Write();
}

void make(const char* path, int seed, Long64_t entries, unsigned bits, int codec, int buffer, int split, Long64_t flush,
          bool index, bool offsets, int late) {
  TFile file(path, "RECREATE", "", codec);
  auto* folder = file.mkdir("d", "a folder"); folder->cd();
  auto* tree = new TTree("t", "random entries");
  if (offsets) { ROOT::TIOFeatures features; features.Set(ROOT::Experimental::EIOFeatures::kGenerateOffsetMap); tree->SetIOFeatures(features); }
  tree->SetAutoFlush(flush); tree->SetAutoSave(0);
  Row* row = fresh(); TRandom3 chance(seed);
  bind(tree, row, bits, true, buffer, split);
  for (Long64_t entry = 0; entry < entries; ++entry) {
    draw(row, chance, entry, seed); tree->Fill();
    if (late && entry == entries / late) tree->FlushBaskets();
  }
  if (index) tree->BuildIndex("run", "event");
  tree->SetAlias("twice", "2*run"); tree->GetUserInfo()->Add(new TNamed("who", "ROOT"));
  tree->AddFriend("other", (std::string(gSystem->DirName(path)) + "/friend.root").c_str());
  folder->cd(); tree->Write("", TObject::kOverwrite);
  file.Write(); file.Close();
  complaints.clear();
}

std::vector<std::string> entries(const char* path, unsigned bits, const char* name = "d/t") {
  TFile file(path);
  auto* tree = file.Get<TTree>(name);
  std::vector<std::string> all;
  if (!tree) return all;
  if (tree->GetListOfFriends()) tree->GetListOfFriends()->Clear();
  Row* row = fresh(); bind(tree, row, bits, false, 0, 0);
  for (Long64_t entry = 0; entry < tree->GetEntries(); ++entry) { tree->GetEntry(entry); all.push_back(told(row, bits, tree)); }
  return all;
}

// The number of entries that an index finds elsewhere than at their place; -1 if there is no index.
Long64_t misplaced(const char* path, unsigned bits) {
  TFile file(path);
  auto* tree = file.Get<TTree>("d/t");
  if (!tree->GetTreeIndex()) return -1;
  if (tree->GetListOfFriends()) tree->GetListOfFriends()->Clear();
  Row* row = fresh(); bind(tree, row, bits, false, 0, 0);
  Long64_t wrong = 0;
  for (Long64_t entry = 0; entry < tree->GetEntries(); ++entry) {
    tree->GetEntry(entry);
    wrong += tree->GetEntryNumberWithIndex(row->run, row->event) != entry;
  }
  return wrong;
}
"""

CODECS = (0, 101, 106, 207, 404, 505)
NAMES = "run event b us ul f d o list n xs ys m zs text fixed string floats nested strings points lorentz. clones packed half map named.".split()


def run(command, *arguments):
    """Runs the command; nothing may go wrong."""
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, arguments))}: {done.stderr}"
    return done.stdout


def compare(path, bits, expected, what):
    """Entries of a file, with those that it is to have."""
    found = [str(text) for text in ROOT.entries(str(path), bits)]
    assert not str(ROOT.complained()), f"{what}: {ROOT.complained()}"
    if found != expected:
        at = next((n for n, pair in enumerate(zip(found, expected, strict=False)) if pair[0] != pair[1]), "the end")
        raise AssertionError(f"{what}: {len(found)} entries, expected {len(expected)}; first difference at {at}")


def case(chance, seed, folder, command):
    """One set of files."""
    bits = chance.getrandbits(13) & chance.choice([0x1FFF, chance.getrandbits(13)])
    split, offsets, index = chance.choice([0, 1, 99]), chance.random() < 0.1, chance.random() < 0.5
    inputs, all_entries = [], []
    for number in range(chance.randint(1, 4)):
        path = folder / f"in-{number}.root"
        length = chance.choice([0, 1, 7, 300, 2000])
        flush = chance.choice([0, 7, 100, -3000, -100000, -30000000])
        buffer = chance.choice([300, 2000, 32000])
        late = chance.choice([0, 2, 3])
        codec = chance.choice(CODECS)
        ROOT.make(
            str(path),
            100 * seed + number,
            length,
            bits,
            codec,
            buffer,
            split,
            flush,
            index and length > 0,
            offsets,
            late,
        )
        inputs.append(path)
        all_entries += [str(text) for text in ROOT.entries(str(path), bits)]
    described = f"seed {seed} bits {bits:#x} split {split} files {len(inputs)} entries {len(all_entries)}"
    merged = folder / "all.root"
    run(
        command, "merge", *inputs, "--output", merged, "--force", *chance.choice([[], [], ["--codec", "zstd"], ["--codec", "none"]])
    )
    compare(merged, bits, all_entries, f"{described}: merged")
    run(command, "check", merged)
    if index and all_entries and not any(not ROOT.entries(str(path), bits).size() for path in inputs):
        assert ROOT.misplaced(str(merged), bits) == 0, f"{described}: index"
    written = 1
    total = len(all_entries)
    if total and not offsets:
        begin, end = sorted(chance.sample(range(total + 1), 2))
        some = folder / "some.root"
        run(command, "cp", f"{merged}:d/t", some, "--entries", f"{begin}:{end}", "--force")
        compare(some, bits, all_entries[begin:end], f"{described}: entries {begin}:{end}")
        run(command, "check", some)
        modulus = chance.choice([2, 3, 50])
        run(command, "cp", f"{merged}:d/t", some, "--where", f"event % {modulus} == 0", "--force")
        events = [int(text.split()[1]) for text in all_entries]
        compare(
            some,
            bits,
            [text for text, event in zip(all_entries, events, strict=True) if event % modulus == 0],
            f"{described}: where",
        )
        parts = [folder / f"part-{number}.root" for number in (1, 2, 3)]
        for part in parts:
            part.unlink(missing_ok=True)
        run(command, "split", f"{merged}:d/t", folder / "part-{}.root", "--files", 3, "--force")
        again = folder / "again.root"
        run(command, "merge", *[part for part in parts if part.exists()], "--output", again, "--force")
        compare(again, bits, all_entries, f"{described}: split and merged")
        written += 3
    new = folder / "new.root"
    run(
        command, "recompress", merged, new, "--codec", chance.choice(["none", "zlib", "lz4", "lzma", "zstd"]), "--force"
    )
    compare(new, bits, all_entries, f"{described}: compressed anew")
    names = chance.sample(NAMES[2:], 4) + ["run"]
    slim = folder / "slim.root"
    run(command, "cp", f"{merged}:d/t", slim, "--columns", ",".join(names), "--force")
    told = [str(text) for text in ROOT.entries(str(slim), bits)]
    assert len(told) == total, f"{described}: columns {names}"
    run(command, "check", slim)
    return written + 2


def main():
    """As many sets of files as are asked for."""
    seed, count, folder, command = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "random_merges_code.C"
    source.write_text(CODE)
    ROOT.gSystem.SetBuildDir(str(folder / "build"), True)
    assert ROOT.gROOT.LoadMacro(f"{source}+") == 0, "the code cannot be compiled"
    ROOT.listen()
    ROOT.befriend(str(folder / "friend.root"))
    written = sum(case(random.Random(one), one, folder, command) for one in range(seed, seed + count))
    print(f"{written} files are equal")


if __name__ == "__main__":
    main()
