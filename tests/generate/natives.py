"""Writes tests/data/natives.root with C++ ROOT: classes that code of their own streams, as objects of a directory, in a list, as
members, and as branches: whole, divided, and in an array that names their class.

    python tests/generate/natives.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``). ``natives.root.values.json`` is what ROOT says of each when it has read it back.
"""

import json

import ROOT
import script

ROOT.gROOT.SetBatch(True)
ROOT.gErrorIgnoreLevel = ROOT.kError
ROOT.gSystem.Load("libGraf3d")
ROOT.gSystem.Load("libXMLIO")
ROOT.gInterpreter.Declare("""
#include <TClonesArray.h>
#include <TDatime.h>
#include <TFile.h>
#include <TList.h>
#include <TMaterial.h>
#include <TMatrixDSym.h>
#include <TMixture.h>
#include <TTree.h>
#include <TTreeRow.h>
#include <TXMLSetup.h>
struct Page {
  int number = 0;
  TTreeRow row;
  TMatrixDSym covariance{2};
  TDatime when;
  TMaterial material;
  TXMLSetup setup;
};
// The row of some number: as many columns as that leaves of 4, each with its letters and a zero, one without letters.
void make(void *at, int number)
{
  std::vector<int> ends = {0};
  std::string letters;
  for (int column = 0; column < number % 4; ++column) {
    letters += std::string(column == 1 ? 0 : number % 5 + column, char('a' + column)) + '\\0';
    ends.push_back((int)letters.size());
  }
  if (number % 4 == 0)
    new (at) TTreeRow(); // of none ROOT would write how many letters stand before the ends
  else
    new (at) TTreeRow((int)ends.size() - 1, ends.data() + 1, letters.c_str());
}
int columns(const TTreeRow &row)
{
  return *(const int *)((const char *)&row + TTreeRow::Class()->GetDataMemberOffset("fColumnCount"));
}
TTreeRow *row(int number)
{
  auto made = (TTreeRow *)malloc(sizeof(TTreeRow));
  make(made, number);
  return made;
}
void fill(TTreeRow &to, int number)
{
  to.~TTreeRow();
  make(&to, number);
}
void fill(Page &to, int number)
{
  to.number = number;
  fill(to.row, number);
  to.covariance(0, 0) = number;
  to.covariance(0, 1) = to.covariance(1, 0) = number + 0.5;
  to.covariance(1, 1) = -number;
  to.when.Set(2026, 11, 22, number % 24, 30, 15);
  to.material.~TMaterial();
  to.setup.SetXmlLayout(number % 2 ? TXMLSetup::kGeneralized : TXMLSetup::kSpecialized);
  to.setup.SetStoreStreamerInfos(number % 3 == 0);
  to.setup.SetUsedDtd(number % 4 == 0);
  to.setup.SetUseNamespaces(number % 5 == 0);
  new (&to.material) TMaterial("iron", "Fe", 55.85f + number, 26, 7.87f);
}
void put(TDirectory &file)
{
  Page page;
  TTreeRow *whole = row(0);
  TMatrixDSym *matrix = new TMatrixDSym(3);
  TClonesArray *rows = new TClonesArray("TTreeRow");
  TMixture mixture("water", "H2O", 2);
  mixture.DefineElement(0, 1.01f, 1, 0.112f);
  mixture.DefineElement(1, 16, 8, 0.888f);
  TTree tree("tree", "classes that code of their own streams");
  tree.SetAutoFlush(3);
  Page *to = &page;
  TMixture *mixed = &mixture;
  tree.Branch("row", "TTreeRow", &whole);
  tree.Branch("matrix", "TMatrixTSym<double>", &matrix);
  tree.Branch("mixture", "TMixture", &mixed);
  TXMLSetup *setup = &page.setup;
  tree.Branch("setup", "TXMLSetup", &setup);
  tree.Branch("rows", "TClonesArray", &rows, 32000, 0);
  tree.Branch("page", "Page", &to, 32000, 0);
  tree.Branch("divided.", "Page", &to, 32000, 99);
  for (int entry = 0; entry < 7; ++entry) {
    fill(*whole, entry + 1);
    fill(page, entry);
    matrix->ResizeTo(1 + entry % 3, 1 + entry % 3);
    for (int i = 0; i < matrix->GetNrows(); ++i)
      for (int j = 0; j <= i; ++j)
        (*matrix)(i, j) = (*matrix)(j, i) = entry + 10 * i + j;
    mixture.DefineElement(0, 1 + entry, 1, 0.112f);
    rows->Delete();
    for (int item = 0; item < entry % 3; ++item)
      new ((*rows)[item]) TTreeRow(), fill(*(TTreeRow *)rows->At(item), entry + item);
    tree.Fill();
  }
  file.WriteTObject(&tree);
  fill(*whole, 7);
  file.WriteObjectAny(whole, "TTreeRow", "row");
  fill(page, 6);
  file.WriteObjectAny(&page, "Page", "page");
  file.WriteObjectAny(&page.setup, "TXMLSetup", "setup");
  file.WriteObjectAny(matrix, "TMatrixTSym<double>", "matrix");
  TList list;
  for (int number : {3, 0, 1})
    list.Add(row(number));
  list.Write("list", TObject::kSingleKey);
}
""")


def row_of(row):
    """The texts of a row's columns."""
    return [row.GetField(i) for i in range(ROOT.columns(row))]


def matrix_of(matrix):
    return [matrix(i, j) for i in range(matrix.GetNrows()) for j in range(matrix.GetNcols())]


def material_of(material):
    return [material.GetName(), material.GetNumber(), material.GetA(), material.GetZ(), material.GetDensity()]


def setup_of(setup):
    """Each choice of a setup, as ROOT says it."""
    return [
        int(setup.GetXmlLayout()),
        setup.IsStoreStreamerInfos(),
        setup.IsUseDtd(),
        setup.IsUseNamespaces(),
    ]


def page_of(page):
    return {
        "number": page.number,
        "row": row_of(page.row),
        "covariance": matrix_of(page.covariance),
        "when": int(page.when.Get()),
        "material": material_of(page.material),
        "setup": setup_of(page.setup),
    }


def mixture_of(mixture):
    parts = range(mixture.GetNmixt())
    arrays = mixture.GetAmixt(), mixture.GetZmixt(), mixture.GetWmixt()
    return [material_of(mixture), *([of[i] for i in parts] for of in arrays)]


def write(folder):
    path = folder / "natives.root"
    file = ROOT.TFile(str(path), "recreate", "", 101)
    ROOT.put(file)
    file.Close()

    file = ROOT.TFile(str(path))
    tree = file.Get("tree")
    entries = []
    for entry in range(tree.GetEntries()):
        tree.GetEntry(entry)
        entries.append(
            {
                "row": row_of(tree.row),
                "matrix": matrix_of(tree.matrix),
                "mixture": mixture_of(tree.mixture),
                "setup": setup_of(tree.setup),
                "rows": [row_of(row) for row in tree.rows],
                "page": page_of(tree.page),
                "divided": page_of(getattr(tree, "divided.")),
            }
        )
    values = {
        "tree": entries,
        "row": row_of(file.Get("row")),
        "page": page_of(file.Get("page")),
        "matrix": matrix_of(file.Get("matrix")),
        "setup": setup_of(file.Get("setup")),
        "list": [row_of(row) for row in file.Get("list")],
    }
    (folder / "natives.root.values.json").write_text(json.dumps(values) + "\n")


if __name__ == "__main__":
    script.run(write, script.folder())
