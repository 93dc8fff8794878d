"""Classes that code of their own streams, as objects and as columns, as C++ ROOT reads them."""

import pytest
from conftest import data, golden_of

import forthwith

GOLDEN = golden_of("natives.root.values.json")
ENTRIES = GOLDEN["tree"]


@pytest.fixture(scope="module")
def file():
    with forthwith.open(data("natives.root")) as opened:
        yield opened


def member(value, name):
    """A member of an object, or of a record of a column."""
    return value.member(name) if hasattr(value, "member") else value[name]


def row_of(value):
    """The texts of a row: its letters, each text with a zero, and where each of them ends."""
    ends, letters = list(member(value, "fFields")), bytes(member(value, "fRow"))
    assert member(value, "fColumnCount") == len(ends)
    starts = [0, *ends][: len(ends)]
    return [letters[start : end - 1].decode() for start, end in zip(starts, ends, strict=True)]


def matrix_of(value):
    return list(member(value, "fElements"))


def material_of(value):
    return [member(value, name) for name in ("fName", "fNumber", "fA", "fZ", "fDensity")]


def mixture_of(value):
    return [material_of(value), *(list(member(value, name)) for name in ("fAmixt", "fZmixt", "fWmixt"))]


def setup_of(value):
    names = ("fXmlLayout", "fStoreStreamerInfos", "fUseDtd", "fUseNamespaces")
    return [member(value, name) for name in names]


def page_of(value):
    return {
        "number": member(value, "number"),
        "row": row_of(member(value, "row")),
        "covariance": matrix_of(member(value, "covariance")),
        "when": member(member(value, "when"), "fDatime"),
        "material": material_of(member(value, "material")),
        "setup": setup_of(member(value, "setup")),
    }


SHAPES = {
    "row": row_of,
    "matrix": matrix_of,
    "mixture": mixture_of,
    "page": page_of,
    "setup": setup_of,
}


@pytest.mark.parametrize("name", SHAPES)
def test_branches_are_what_root_reads(file, name):
    found = file["tree"][name].array().to_list()
    assert [SHAPES[name](value) for value in found] == [entry[name] for entry in ENTRIES]


def test_members_of_divided_objects_are_what_root_reads(file):
    tree = file["tree"]
    for name, shape in (("row", row_of), ("covariance", matrix_of), ("setup", setup_of)):
        found = tree[f"divided./divided.{name}"].array().to_list()
        assert [shape(value) for value in found] == [entry["divided"][name] for entry in ENTRIES]


@pytest.mark.parametrize("name", ["row", "matrix", "page", "setup"])
def test_objects_are_what_root_reads(file, name):
    assert SHAPES[name](file[name]) == GOLDEN[name]


def test_items_of_a_list_are_what_root_reads(file):
    assert [row_of(row) for row in file["list"]] == GOLDEN["list"]


def test_arrays_of_a_class_that_only_the_data_name_are_refused(file):
    """The file describes no `TTreeRow`, so that nothing tells before reading what the items are."""
    assert file["tree"]["rows"].array(entry_stop=1).to_list() == [[]]
    with pytest.raises(forthwith.UnsupportedError, match="does not describe"):
        file["tree"]["rows"].array()


def test_every_entry_can_be_cut_out(file):
    for entry in range(len(ENTRIES)):
        [found] = file["tree"]["row"].array(entry_start=entry, entry_stop=entry + 1).to_list()
        assert row_of(found) == ENTRIES[entry]["row"]
