"""Undivided `TClonesArray`s in files that describe many classes, most of them for other objects."""

import os
import subprocess

import awkward as ak
import pytest

import forthwith

PYTHON = os.environ.get("FORTHWITH_ROOT_PYTHON")
pytestmark = pytest.mark.skipif(not PYTHON, reason="C++ ROOT: FORTHWITH_ROOT_PYTHON is not set")

# A tree of vectors, undivided, beside objects whose classes could be items of arrays, too. With "both", arrays of the second
# half are of another class.
MAKE = """
import sys, ROOT
ROOT.gROOT.SetBatch()
ROOT.gInterpreter.Declare('''
void make(const char *name, bool both) {
  TFile file(name, "RECREATE");
  TTree tree("t", "t");
  TClonesArray items("TVector3", 10), others("TVector2", 10);
  TClonesArray *now = &items;
  tree.Branch("items", &now, 32000, 0);
  for (int at = 0; at < 40; at++) {
    if (both && at == 20) { now = &others; tree.SetBranchAddress("items", &now); }
    now->Clear("C");
    for (int k = 0; k < at % 5; k++) {
      if (now == &items) new (items[k]) TVector3(k, at, 9);
      else new (others[k]) TVector2(k, at);
    }
    tree.Fill();
  }
  tree.Write();
  TH1D h("h", "h", 10, 0, 1); TH2D h2("h2", "h2", 10, 0, 1, 10, 0, 1); TF1 f("f", "x", 0, 1); TGraph g(3);
  h.Write(); h2.Write(); f.Write(); g.Write("g");
  file.Close();
}
''')
for name, both in (("one.root", False), ("two.root", True)):
    ROOT.make(name, both)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("items")
    subprocess.run([PYTHON, "-c", MAKE], cwd=folder, check=True, capture_output=True, timeout=300)
    return folder


def test_items_have_the_type_that_the_data_name(files):
    items = forthwith.open(f"{files}/one.root")["t"]["items"].array()
    assert ak.num(items).tolist() == [at % 5 for at in range(40)]
    assert items.fY.tolist() == [[float(at)] * (at % 5) for at in range(40)]
    assert items.fields == ["fX", "fY", "fZ"]


def test_items_of_two_classes_have_both_types(files):
    items = forthwith.open(f"{files}/two.root")["t"]["items"].array()
    assert ak.num(items).tolist() == [at % 5 for at in range(40)]
    assert [item["fY"] for item in items[24].tolist()] == [24.0] * 4
    assert [item["fY"] for item in items[4].tolist()] == [4.0] * 4
