"""Functions as ROOT 5 wrote them, which their file does not describe. Today's ROOT writes none: it is a file of the corpus.

The sums are those of `ROOT::v5::TF1Data`, as which C++ ROOT 6.40 reads these bytes.
"""

import math
import os
import pathlib

import awkward as ak
import pytest
from conftest import TESTS

import forthwith

CORPUS = pathlib.Path(os.environ.get("FORTHWITH_CORPUS") or TESTS.parents[1] / "shared" / "corpus")
PATH = CORPUS / "root" / "v5formula_clones.root"
SUMS = {
    "f_Int0": {"fParams": -656.7464438941485, "fParErrors": 271.37843157116555, "fChisquare": 34300.159497138986, "fNDF": 2127},
    "f_Int1": {"fParams": -643.090921580864, "fParErrors": 226.25562168764904, "fChisquare": 34863.98263572681, "fNDF": 2162},
}  # fmt: skip
BOTH = {
    "fOper": 1000861598208,
    "fParMin": -1520,
    "fParMax": 3840,
    "fXmin": 0,
    "fXmax": 336,
    "fNpx": 33600,
    "fLineStyle": 448,
    "fFillColor": 6384,
    "fMarkerSize": 336,
    "fMinimum": -373296,
    "fMaximum": -373296,
}


@pytest.mark.parametrize("name", SUMS)
def test_arrays_of_functions_that_nobody_describes(name):
    if not PATH.exists():
        pytest.skip("no corpus: FORTHWITH_CORPUS names none with v5formula_clones.root")
    with forthwith.open(f"{PATH}:fTS") as tree:
        array = tree[name].array()
        assert ak.num(array).to_list() == [21] * 16
        for member, wanted in (SUMS[name] | BOTH).items():
            assert math.isclose(ak.sum(array[member], axis=None), wanted, rel_tol=1e-12), member
        end = name[-1]
        assert (array.fName[0, 0], array.fName[-1, -1]) == (f"f_Ch00_BC00_int{end}", f"f_Ch15_BC20_int{end}")
        item = array[3, 12]
        assert item.fTitle == "[0]+[1]*x+[2]*abs(x)^[3]"
        assert item.fExpr.to_list() == ["[0]", "[1]", "x", "*", "+", "[2]", "x", "abs", "[3]", "^", "*", "+"]
        assert item.fNames.to_list() == ["offset", "slope", "p_{0}", "power"]
        assert item.fFunctions.to_list() == item.fLinearParts.to_list() == item.fConst.to_list() == []
        # As one thread reads it, and as only some entries are.
        assert ak.array_equal(tree[name].array(threads=1), array)
        assert ak.array_equal(tree[name].array(entry_start=5, entry_stop=9), array[5:9])
