"""Writes tests/data/late.root and late-lost.root with C++ ROOT: arrays of objects (`TClonesArray`) behind a pointer that is null when the
branches are made. Such a branch has no entry offsets: ROOT takes all entries of a basket to be as long as its first.

    python tests/generate/late.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``) and ``g++``. ``late.root.values.json`` is what ROOT reads from each branch: ``null`` where it looks for
an entry where none begins.
"""

import ROOT
import script
from values import JSON, write_trees

ROOT.gErrorIgnoreLevel = ROOT.kFatal

SOURCE = (
    JSON
    + r"""
#include <TClonesArray.h>
#include <TFile.h>
#include <TNamed.h>
#include <TTree.h>

struct Late {
  TClonesArray *tags = nullptr;
  int n = 0;
};

// A file with a branch for each list of lengths, all in baskets of so many entries.
void write(const char *path, const std::vector<std::pair<const char *, std::vector<int>>> &branches, int together)
{
  TFile file(path, "RECREATE", "", 505);
  TTree tree("t", "arrays that come late");
  tree.SetAutoFlush(0);
  std::vector<Late *> made;
  for (auto &[name, lengths] : branches) {
    made.push_back(new Late);
    tree.Branch((std::string(name) + ".").c_str(), "Late", made.back(), 32000, 99);
  }
  for (size_t entry = 0; entry < branches[0].second.size(); entry++) {
    for (size_t k = 0; k < branches.size(); k++) {
      auto &late = *made[k];
      if (!late.tags)
        late.tags = new TClonesArray("TNamed");
      late.tags->Clear("C");
      late.n = branches[k].second[entry];
      for (int i = 0; i < late.n; i++)
        static_cast<TNamed *>(late.tags->ConstructedAt(i))->SetNameTitle(TString('x', i + 1), branches[k].first);
    }
    tree.Fill();
    if ((entry + 1) % together == 0)
      tree.FlushBaskets();
  }
  file.Write();
}

void late(const char *path, int)
{
  write(path, {{"alike", {2, 2, 2, 2, 2, 2}}, {"grows", {0, 1, 1, 4, 2, 9}}, {"falls", {9, 2, 4, 1, 1, 0}}}, 2);
}
void lost(const char *path, int)
{
  write(path, {{"last", {2, 2, 2, 5}}, {"third", {2, 2, 5, 2}}, {"second", {1, 4, 1, 1}}}, 4);
}

std::string read(TTree *tree, const char *name)
{
  // The branch of the first member.
  auto branch = static_cast<TBranch *>(tree->GetBranch(name)->GetListOfBranches()->At(0));
  Late *object = nullptr;
  tree->SetBranchAddress(name, &object);
  std::string out;
  for (int k = 0; k < tree->GetEntries(); k++) {
    branch->GetEntry(k);
    out += k ? ", " : "";
    out += !object->tags ? "null" : items(*object->tags, [](TObject *item) {
      return record({{"fName", json(item->GetName())}, {"fTitle", json(item->GetTitle())}});
    });
  }
  return "[" + out + "]";
}
#ifdef __ROOTCLING__
#pragma link C++ class Late+;
#endif
"""
)


def main(folder):
    write_trees(folder, "late", SOURCE, {"late": "late", "late-lost": "lost"}, 0)


if __name__ == "__main__":
    script.run(main, script.folder())
