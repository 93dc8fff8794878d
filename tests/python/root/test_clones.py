"""Arrays of objects of one class, and a class that points to itself, as C++ ROOT reads them from branches."""

import pytest
from conftest import data, golden_of

import forthwith

GOLDEN = golden_of("clones.root.values.json")


@pytest.mark.parametrize("name", GOLDEN)
def test_arrays_are_what_root_reads(name):
    file, _, branch = name.partition("/")
    with forthwith.open(data(f"{file}.root")) as opened:
        assert opened["t"][branch].array().to_list() == GOLDEN[name]


@pytest.mark.parametrize("name", ["deep", "listed", "tags"])
def test_a_base_with_code_of_its_own_is_that_also_in_registered_classes(name):
    """Of many `Tag`s, each has its `TNamed` before the members of all: as the file says it, and as registered."""
    forthwith.register_class("Tag", {"TNamed": "base", "a": "int"})
    try:
        with forthwith.open(data("clones.root")) as opened:
            assert opened["t"][name].array().to_list() == GOLDEN[f"clones/{name}"]
    finally:
        forthwith.register_class("Tag", None)
