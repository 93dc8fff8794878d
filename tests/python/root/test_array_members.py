"""Arrays of text, containers and pointers, `std::array` in containers, enumerations in containers: as C++ ROOT reads them."""

import pytest
from conftest import DATA
from random_reader import compare

import forthwith

FOUND = list(compare(DATA, "arrays"))


@pytest.mark.parametrize("stored", ["arrays-apart.root", "arrays-together.root"])
def test_branches_and_keys_are_what_root_reads(stored):
    mine = [(entry, path, problem) for entry, path, problem in FOUND if entry["file"] == stored]
    assert sum(entry["is_key"] for entry, _, _ in mine) == 11
    assert len(mine) > 40
    assert [(path, problem) for _, path, problem in mine if problem] == []


def test_arrays_have_their_dimensions():
    with forthwith.open(str(DATA / "arrays-apart.root")) as file:
        array = file["t/b0"].array()
        object = file["k0"]
    assert str(array["m5"].type.content) == "2 * 1 * string"
    assert str(array["m7"].type.content) == "2 * 2 * float32"
    assert object.member("m6").shape == (1, 2, 1)
    assert [len(row) for row in object.member("m5")] == [1, 1]
