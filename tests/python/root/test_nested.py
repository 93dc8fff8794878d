"""Arrays of objects within each other, classes that contain themselves, and letters, as C++ ROOT reads them from branches."""

import json

import pytest
from conftest import data, golden_of

import forthwith

GOLDEN = golden_of("nested.root.values.json")
# Classes that contain themselves: where the fifth level begins, of those that have it.
DEEP = {"nested/node": "next", "nested/twin": "left", "nested/family": "kids", "nested/parent": "kids"}
OTHERS = "nested-one/some"


def plain(array):
    """Lists where Python has tuples."""
    return json.loads(json.dumps(array.to_list()))


def levels(value, name):
    """How many levels of itself a value has."""
    inner = value[name]
    items = inner if isinstance(inner, list) else [inner] if inner else []
    return 1 + max((levels(item, name) for item in items), default=0)


@pytest.mark.parametrize("name", [name for name in GOLDEN if name not in (*DEEP, OTHERS, "nested/split.")])
def test_arrays_are_what_root_reads(name):
    file, _, branch = name.partition("/")
    with forthwith.open(data(f"{file}.root")) as opened:
        assert plain(opened["t"][branch].array()) == GOLDEN[name]


@pytest.mark.parametrize("name", DEEP)
def test_classes_that_contain_themselves_have_four_levels(name):
    file, _, branch = name.partition("/")
    wanted, step = GOLDEN[name], DEEP[name]
    deeper = [at for at, entry in enumerate(wanted) if levels(entry, step) > 4]
    with forthwith.open(data(f"{file}.root")) as opened:
        branch = opened["t"][branch]
        with pytest.raises(
            forthwith.UnsupportedError, match="which contains itself, more than 4 levels deep"
        ) as caught:
            branch.array()
        assert caught.value.entry == deeper[0]
        assert plain(branch.array(entry_stop=deeper[0])) == wanted[: deeper[0]]
        left = plain(branch.array(errors="null", lost=[]))
    assert left == [None if at in deeper else entry for at, entry in enumerate(wanted)]


def test_what_is_too_deep_can_be_stepped_over():
    pointer = ": data !I-> stack dup 1073741824 >= if 1073741824 - data skip else drop then"
    forthwith.register_class("Node", {"v": "int", "next": pointer})
    try:
        with forthwith.open(data("nested.root")) as file:
            found = file["t/node"].array().to_list()
    finally:
        forthwith.register_class("Node", None)
    assert found == [{"v": entry["v"]} for entry in GOLDEN["nested/node"]]


def test_arrays_of_names_beside_another_class_are_what_root_reads():
    # Of a file that describes one class for arrays, they have the type of that and of what their data name.
    with forthwith.open(data("nested-one.root")) as file:
        some, none = file["t/some"].array(), file["t/none"].array()
        inner = file["t/inner"].array()
    assert some.to_list() == GOLDEN[OTHERS]
    assert str(some.type) == str(none.type) == "6 * var * union[Inner[a: int32], TNamed[fName: string, fTitle: string]]"
    assert str(inner.type) == "6 * var * Inner[a: int32]"


def test_letters_are_numbers():
    # As in C++ ROOT's RDataFrame, and in uproot: the end of such text cannot be known.
    wanted = GOLDEN["nested/letters"]
    with forthwith.open(data("nested.root")) as file:
        whole, split = file["t/letters"].array(), file["t"]["split."]
        for name in wanted[0]:
            found = [split[key].array() for key in split if key.split("[")[0].endswith(name)]
            assert [part.to_list() for part in found] == [[entry[name] for entry in wanted]]
        assert str(whole.type) == f"{len(wanted)} * Letters[name: 12 * int8, two: 2 * 4 * int8, raw: 3 * uint8]"
