"""Objects of classes that ROOT writes by code of their own, which no info in the file describes, as C++ ROOT reads them."""

import struct

import numpy as np
import pytest
from conftest import data, golden_of

import forthwith

GOLDEN = golden_of("own.root.values.json")


@pytest.fixture(scope="module")
def file():
    with forthwith.open(data("own.root")) as opened:
        yield opened


def plain(value):
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("name", ["url", "uri", "material", "mixture", "palette"])
def test_members_are_what_root_reads(file, name):
    found = file[name]
    assert not found.is_opaque
    assert {member: plain(found.member(member)) for member in GOLDEN[name]} == GOLDEN[name]


def test_bases_are_there(file):
    assert [base.classname for base in file["mixture"].bases] == ["TMaterial", "TNamed", "TObject", "TAttFill"]
    assert [base.member("fFillColor") for base in file["material"].base("TAttFill")] == [5]


def test_a_chain_has_its_files(file):
    elements = file["chain"].member("fFiles")
    found = [[of.member("fName"), of.member("fTitle"), of.member("fEntries")] for of in elements]
    assert found == GOLDEN["chain"]


def test_numbers_by_numbers(file):
    numbers = file["numbers"]
    assert [list(row[1:]) for row in numbers.member("fTable")] == GOLDEN["numbers"]
    assert numbers.member("fTally") == len(GOLDEN["numbers"])
    assert numbers.tojson()["fTable"][1][1:] == GOLDEN["numbers"][1]


@pytest.mark.parametrize("name", ["sorted", "commands"])
def test_collections(file, name):
    found = file[name]
    assert len(found) == len(GOLDEN[name])
    assert [str(item) for item in found] == GOLDEN[name]


def test_images_are_numbers_or_portable(file):
    image = file["image"]
    assert {member: plain(image.member(member)) for member in GOLDEN["image"]} == GOLDEN["image"]
    assert (image.member("is_png"), image.member("png")) == (False, None)
    assert image.member("TAttImage").member("fPalette").member("fNumPoints") == 12
    drawn = file["png"]
    picture = drawn.member("png").tobytes()
    assert picture.startswith(b"\x89PNG")
    assert list(struct.unpack(">II", picture[16:24])) == GOLDEN["png"]
    assert (drawn.member("is_png"), drawn.member("vector")) == (True, None)


def test_what_has_no_class_of_its_own(file):
    assert str(file["long"]) == GOLDEN["long"]
    mapped = file["mapped"]
    assert [mapped.member("fName"), mapped.member("fTitle")] == GOLDEN["mapped"]


def test_plugins_are_known_by_their_list(file):
    # Of each there is what only the code that wrote it could read.
    (handler,) = file["plugins"].member("fHandlers")
    assert handler.is_opaque
    assert b"TPlugin()" in handler.raw
