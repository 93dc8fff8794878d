"""Packed floats are, to the last bit, what C++ ROOT reads."""

import math

import awkward as ak
import numpy as np
import pytest
from conftest import data, golden_of

import forthwith

GOLDEN = golden_of("packed.root.values.json")


@pytest.fixture(scope="module")
def file():
    with forthwith.open(data("packed.root")) as file:
        yield file


@pytest.fixture(scope="module")
def whole(file):
    return file["whole"]["packed"].array()


def flat(array):
    """Every number, with its sign even where it is zero."""
    while array.ndim > 1:
        array = ak.flatten(array)
    return [(math.copysign(1, value), value) for value in array.to_list()]


@pytest.mark.parametrize("way", ["split", "whole"])
@pytest.mark.parametrize("name", GOLDEN)
def test_packed_floats_are_those_of_root(file, whole, name, way):
    golden = [float.fromhex(value) for value in GOLDEN[name]["values"].split()]
    if way == "split":
        tree = file["split"]
        (found,) = [key for key in tree if key.split("[")[0].endswith(f"/packed.{name}")]
        array = tree[found].array()
    else:
        array = whole
        for part in name.split("."):
            array = array[part]
    assert flat(array) == [(math.copysign(1, value), value) for value in golden]
    inner = np.asarray(ak.flatten(array, axis=None))
    member = name.rsplit(".", 1)[-1]
    assert inner.dtype == (np.float32 if member.startswith("f") else np.float64)
