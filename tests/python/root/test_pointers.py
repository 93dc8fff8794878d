"""Pointers to objects of several classes, and ROOT's own collections and classes, as C++ ROOT reads them from branches."""

import functools

import pytest
from conftest import data, golden_of

import forthwith

GOLDEN = golden_of("pointers.root.values.json")


@pytest.fixture(scope="module")
def file():
    with forthwith.open(data("pointers.root")) as file:
        yield file


def matches(found, wanted):
    """Whether an array's value is what ROOT has, members of the classes' bases aside."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(matches(found.get(name), value) for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(found, (list, tuple)):
        return len(found) == len(wanted) and all(map(matches, found, wanted))
    return type(found) in (type(wanted), float, int) and found == wanted


def part(value, name):
    """A member of an object, or of each of several; maps are lists of pairs."""
    if isinstance(value, dict):
        return value[name]
    return [item[name] if isinstance(item, dict) else item[{"first": 0, "second": 1}[name]] for item in value]


@pytest.mark.parametrize("name", GOLDEN)
def test_branches_are_what_root_reads(file, name):
    tree, _, path = name.partition("/")
    top, wanted = file[tree][path], GOLDEN[name]
    below = list(top.keys())
    if not below:
        found = top.array().to_list()
        if name == "apart/ref":
            found = [entry["ref"] for entry in found]
        if name == "apart/refs":
            found = [entry["refs"] for entry in found]
        for got, want in zip(found, wanted, strict=True):
            assert matches(got, want)
        return
    compared = 0
    for key in below:
        branch = top[key]
        parts = key.rpartition("/")[2].split("[")[0].removeprefix(path.rstrip(".") + ".").split(".")
        if path == "shapesByClass.":
            continue
        if len(branch.keys()):
            continue
        try:
            expected = [functools.reduce(part, parts, entry) for entry in wanted]
        except KeyError:
            assert parts[-1] in ("fUniqueID", "fBits")
            continue
        for got, want in zip(branch.array().to_list(), expected, strict=True):
            assert matches(got, want), key
        compared += 1
    assert compared or path == "shapesByClass."


def test_pointers_divided_by_class(file):
    # ROOT puts the objects of each class into branches of their own; the branch above says which.
    wanted = GOLDEN["apart/shapesByClass."]
    kind = lambda item: 0 if item is None else 1 if "radius" in item else 2 if "text" in item else 3  # noqa: E731
    assert file["apart"]["shapesByClass."].array().to_list() == [[kind(item) for item in entry] for entry in wanted]
    for name, members in (("Circle", ["id", "radius"]), ("Label", ["id", "text", "widths"]), ("Shape", ["id"])):
        for inner in members:
            found = file["apart"][f"shapesByClass.{name}.{inner}"].array().to_list()
            kinds = {"radius": "Circle", "text": "Label"}
            of = [
                [item for item in entry if item and next((k for m, k in kinds.items() if m in item), "Shape") == name]
                for entry in wanted
            ]
            # A branch begins where the first object of its class was met.
            assert found == [[item[inner] for item in entry] for entry in of[len(of) - len(found) :]]
