"""A class whose members changed from version to version: C++ ROOT's values of each, and what the last makes of the others."""

import json

import awkward as ak
import numpy as np
import pytest
from conftest import data, golden_of

import forthwith

GOLDEN = golden_of("evolution/values.json")
VERSIONS = [1, 2, 3]


def golden(way, name):
    return GOLDEN[way][name]


def plain(array):
    """Lists where Python has tuples."""
    return json.loads(json.dumps(array.to_list()))


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_is_what_root_reads(version):
    with forthwith.open(data(f"evolution/version{version}.root")) as file:
        whole = golden("own", f"version{version}.root:whole")
        assert plain(file["whole"]["evolved"].array()) == whole
        split = file["split"]
        branches = {key.rpartition("/")[2].split("[")[0].removeprefix("evolved."): split[key] for key in split}
        for name in whole[0]:
            wanted = [entry[name] for entry in golden("own", f"version{version}.root:split")]
            if name == "part":
                found = {inner: branches[f"part.{inner}"].array() for inner in wanted[0]}
                assert plain(ak.zip(found, depth_limit=1)) == wanted
            elif name == "parts":
                for inner in whole[0]["part"]:
                    found = plain(branches[f"parts.{inner}"].array())
                    assert found == [[part[inner] for part in entry] for entry in wanted]
            elif name == "table":
                for at, inner in enumerate(["first", "second"]):
                    found = plain(branches[f"table.{inner}"].array())
                    assert found == [[pair[at] for pair in entry] for entry in wanted]
            elif name in ("common", "late"):
                assert plain(branches[f"Base.{name}"].array()) == wanted
            else:
                assert plain(branches[name].array()) == wanted


def of_object(found):
    """Members of an object as JSON has them."""
    match found:
        case forthwith.Object():
            return {
                name: of_object(value)
                for name, value in found.all_members.items()
                if name not in ("fUniqueID", "fBits")
            }
        case dict():
            return [[of_object(key), of_object(value)] for key, value in found.items()]
        case list():
            return [of_object(item) for item in found]
    return found.tolist() if hasattr(found, "tolist") else found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["version{}.root:object", "all.root:object{}"])
def test_objects_are_what_was_stored(version, name):
    file, _, key = name.format(version).partition(":")
    wanted = golden("own", f"version{version}.root:object")
    with forthwith.open(data(f"evolution/{file}")) as file:
        found = of_object(file[key])
    assert {member: found[member] for member in wanted} == wanted


@pytest.mark.parametrize("version", VERSIONS)
def test_versions_in_one_file(version):
    # An object has its own version's members; what is in it, the last version's.
    own, last = golden("own", f"version{version}.root:whole"), golden("last", f"all.root:whole{version}")
    wanted = [
        a | {name: b[name] for name in ("common", "late", "part", "parts")} for a, b in zip(own, last, strict=True)
    ]
    with forthwith.open(data("evolution/all.root")) as file:
        assert plain(file[f"whole{version}"]["evolved"].array()) == wanted
        parts = file[f"split{version}"]["evolved.parts.b"].array()
        assert plain(parts) == [[part["b"] for part in entry["parts"]] for entry in last]


def test_versions_in_a_chain():
    names = [
        "evolved.Base.common",
        "evolved.count",
        "evolved.size",
        "evolved.row[3]",
        "evolved.label",
        "evolved.numbers",
        "evolved.parts.b",
    ]
    found = forthwith.concatenate([data(f"evolution/version{version}.root") + ":split" for version in VERSIONS], names)
    wanted = [entry for version in VERSIONS for entry in golden("last", f"version{version}.root:split")]
    assert len(found) == len(wanted)
    for name in names:
        member = name.removeprefix("evolved.").removeprefix("Base.").split("[")[0].split(".")[0]
        inner = ["b"] if name.endswith("parts.b") else []
        for got, want in zip(plain(found[name]), wanted, strict=True):
            expected = [part[inner[0]] for part in want[member]] if inner else want[member]
            assert got == expected, name


def of_cells(value, change):
    """The same with each cell, which has a range, changed."""
    if isinstance(value, dict):
        value = {name: of_cells(item, change) for name, item in value.items()}
        return change(value) if "range" in value else value
    return [of_cells(item, change) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("version", VERSIONS)
def test_numbers_that_are_packed_otherwise_in_each_version(version):
    wanted = golden("last", f"all.root:packed{version}")
    with forthwith.open(data("evolution/all.root")) as file:
        found = plain(file[f"packed{version}/holder"].array())
        parts = {name: plain(file[f"packs{version}/holder/{name}"].array()) for name in ("cell", "cells", "named")}
    assert parts == {name: [entry[name] for entry in found] for name in parts}
    # C++ ROOT does not read counted arrays of packed numbers as another version's: what the version itself reads decides.
    own = golden("own", f"version{version}.root:packed")
    counted = ["counted", "further"]
    for entry, cell in zip(found, own, strict=True):
        single = np.array(cell["counted"], np.float32).tolist()
        assert [entry["cell"][name] for name in counted] == [single, cell["further"]]
    if version < max(VERSIONS):
        found = of_cells(found, lambda cell: {name: cell[name] for name in cell if name not in counted})
    assert found == wanted
