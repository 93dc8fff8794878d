"""Names and values of forthwith.uproot that other packages import or ask for: private names, dtypes, profiles, updates."""

from __future__ import annotations

import numpy as np
import pytest

import forthwith
from forthwith import uproot


def test_private_names_can_be_imported_but_not_used():
    found = uproot.language.python._ast_as_branch_expression
    with pytest.raises(forthwith.UnsupportedError, match=r"uproot\.language\.python\._ast_as_branch_expression"):
        found("x", {})
    with pytest.raises(forthwith.UnsupportedError, match="private name"):
        _ = found.attribute
    assert not hasattr(uproot.language.python, "other")


def test_types_by_their_names():
    parse = uproot.interpretation.identify.parse_typename
    pointer = parse("unsigned long long*")
    assert isinstance(pointer, uproot.containers.AsArray)
    assert pointer.values == np.dtype(">u8")
    bits = parse("std::bitset<8>")
    assert (bits.num_bits, bits.typename) == (8, "std::bitset<8>")


def test_profiles_have_sums_of_weights_whether_there_are_weights_or_not(tmp_path):
    hist = pytest.importorskip("hist")
    profile = hist.Hist(hist.axis.StrCategory(["A", "B"]), storage=hist.storage.Mean())
    profile.fill(["A", "A", "A", "B", "B"], sample=[10, 20, 30, 5, 15])
    path = tmp_path / "p.root"
    with uproot.recreate(path) as file:
        file["p"] = profile
    read = uproot.open(path)["p"].to_hist()
    assert read["A"].sum_of_weights == 3
    assert read["B"].value == 10
    np.testing.assert_allclose(read.variances(), profile.variances())
    # forthwith's own names keep the storage that the profile has.
    assert forthwith.open(path)["p"].to_hist()["A"].count == 3


def test_files_of_fsspec_are_updated(tmp_path):
    pytest.importorskip("fsspec")
    url = f"simplecache::file://{tmp_path}/a.root"
    with uproot.recreate(url) as file:
        file.mktree("t", {"x": np.array([1, 2, 3])})
    with uproot.update(url) as file:
        file.mktree("u", {"y": np.array([4, 5])})
    with uproot.open(url) as file:
        assert file["t"]["x"].array().tolist() == [1, 2, 3]
        assert file["u"]["y"].array().tolist() == [4, 5]
    # What fails leaves the file as it was, and no copy of it.
    import tempfile

    before = (tmp_path / "a.root").read_bytes()
    copies = set(_copies(tempfile.gettempdir()))
    with pytest.raises(KeyError, match="stop"), uproot.update(url) as file:
        file.mktree("v", {"z": np.array([6])}).extend({"z": {}["stop"]})
    assert (tmp_path / "a.root").read_bytes() == before
    assert set(_copies(tempfile.gettempdir())) == copies


def _copies(folder):
    import pathlib

    return [path.name for path in pathlib.Path(folder).glob("tmp*.root")]


def test_steps_of_some_fields_of_ntuples_are_larger(tmp_path):
    path = tmp_path / "n.root"
    with uproot.recreate(path) as file:
        file.mkrntuple("n", {"x": np.arange(10_000.0), "y": np.ones((10_000, 9))})
    ntuple = uproot.open(path)["n"]
    assert ntuple.num_entries_for("8 kB", filter_name="x") == 1000
    assert ntuple.num_entries_for("8 kB", ["x"]) == 1000
    assert ntuple.num_entries_for("8 kB") == 100
    assert len(next(ntuple.iterate(["x"], step_size="8 kB"))) == 1000


def test_documentation_in_forms_describes_fields(tmp_path):
    ak = pytest.importorskip("awkward")
    array = ak.Array({"s": [{"x": 1}], "l": [[{"y": 1}]], "n": [2.5], "t": ["a"]})
    for path, words in (
        ((), "all"),
        (("s",), "struct"),
        (("s", "x"), "inner"),
        (("l", None), "items"),
        (("n",), "number"),
    ):
        layout = array.layout
        for name in path:
            layout = layout.content if name is None else layout.contents[layout.fields.index(name)]
        layout.parameters["__doc__"] = words
    path = tmp_path / "n.root"
    for given, more in (
        (array, {}),
        (array.layout, {}),
        (array.layout.form, {"fields": {"n": {"description": "own"}}}),
    ):
        with uproot.recreate(path) as file:
            file.mkrntuple("n", given, **more)
        with uproot.open(path) as file:
            assert file["n"].description == "all"
            said = {field.field_name: field.field_desc for field in file["n"].header.field_records}
            assert (file["n"]["s.x"].description, file["n"]["s"].description) == ("inner", "struct")
        assert said["n"] == ("own" if more else "number")
        assert (said["s"], said["x"], said["l"], said["t"]) == ("struct", "inner", "items", "")
