"""Objects of described classes from dicts, read back as they were. Those of random classes: ``test_random_classes.py``."""

import numpy as np
import pytest
from conftest import DATA

import forthwith

TABLES = ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple", "TChain")
# Streamed by code of their own, in a version that their files do not tell, or by references among files; of sparse
# histograms, dicts do not tell the class of the arrays.
REFUSED = {
    "TASImage", "TBtree", "TCanvas", "TExMap", "THnSparseT<TArrayD>", "THnSparseT<TArrayF>",
    "TImagePalette", "TKeyMapFile", "TMaterial", "TMixture", "TPluginManager", "TQCommand", "TRefArray", "TUri", "TUrl",
}  # fmt: skip


def equal(given, found):
    """Whether all that was given was found: objects of earlier versions of ROOT get members of later ones."""
    if isinstance(given, dict) and isinstance(found, dict):
        return all(key in found and equal(given[key], found[key]) for key in given if key != "fBits")
    if isinstance(given, list) and isinstance(found, list):
        return len(given) == len(found) and all(map(equal, given, found))
    return type(given) is type(found) and (given == found or (np.isreal(given) and np.isnan([given, found]).all()))


def copied(path, file, plain, name="x"):
    with forthwith.recreate(path) as to:
        to.describe(file)
        to[name] = plain
    with forthwith.open(path) as found:
        return found[name].tojson()


def test_objects_of_every_class_are_written_from_dicts(tmp_path):
    classes, refused = set(), set()
    for path in sorted(DATA.glob("*.root")):
        with forthwith.open(path) as file:
            for name, kind in file.classnames().items():
                if kind in TABLES or kind.startswith("TDirectory") or name.startswith(("last", "priors")):
                    continue
                what = file[name]
                if not hasattr(what, "tojson"):
                    continue
                plain = what.tojson()
                try:
                    assert equal(plain, copied(tmp_path / "x.root", file, plain)), (path, name)
                    classes.add(kind)
                except (forthwith.UnsupportedError, forthwith.RequestError):
                    refused.add(kind)
    assert refused == REFUSED
    assert len(classes) > 45


def test_members_are_those_of_the_class(tmp_path):
    path = tmp_path / "x.root"
    with forthwith.recreate(path) as file:
        with pytest.raises(forthwith.RequestError, match="a member fTitel, which class TNamed does not have"):
            file["x"] = {"_typename": "TNamed", "fTitel": "a title"}
        with pytest.raises(forthwith.UnsupportedError, match="class Unheard, which the file does not describe"):
            file["x"] = {"_typename": "Unheard", "a": 1}
        with pytest.raises(forthwith.RequestError, match="fVal of class TParameter<int>, which has no room"):
            file["x"] = {"_typename": "TParameter<int>", "fVal": 1 << 31}
        with pytest.raises(TypeError, match="come from an opened file"):
            file.describe(str(path))
        file["x"] = {"_typename": "TNamed", "fTitle": "a title"}
    with forthwith.open(path) as file:
        assert file["x"].member("fName") == "x"


def test_objects_that_are_met_again_stay_one(tmp_path):
    path = tmp_path / "x.root"
    with forthwith.recreate(path) as file:
        one = {"_typename": "TNamed", "fName": "one", "fTitle": ""}
        file["x"] = {"_typename": "TObjArray", "name": "all", "arr": [one, {"$ref": 1}, None, {"$ref": 0}]}
        with pytest.raises(forthwith.RequestError, match="object 7, which is not written before"):
            file["y"] = {"_typename": "TList", "name": "", "arr": [{"$ref": 7}]}
    with forthwith.open(path) as file:
        found = file["x"]
        assert found[0] is found[1] or found[0] == found[1]
        assert found.tojson()["arr"][1:] == [{"$ref": 1}, None, {"$ref": 0}]
        assert found.tojson()["name"] == "all"


def test_whole_numbers_keep_all_digits(tmp_path):
    with forthwith.open(DATA / "histograms.root") as file:
        name = next(name for name, kind in file.classnames().items() if kind == "TH1L")
        plain = file[name].tojson()
        bins = [2**63 - 1, -(2**63), 2**53 + 1, *plain["TArrayL64"][3:]]
        for values in (bins, np.array(bins)):
            assert copied(tmp_path / "x.root", file, {**plain, "TArrayL64": values})["TArrayL64"] == bins
