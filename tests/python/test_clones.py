"""Arrays of objects of one class, and a class that points to itself, as C++ ROOT reads them from branches."""

import json
import pathlib

import pytest
from conftest import data

import forthwith

GOLDEN = json.loads(pathlib.Path(data("clones.root.values.json")).read_text())


@pytest.mark.parametrize("name", GOLDEN)
def test_arrays_are_what_root_reads(name):
    file, _, branch = name.partition("/")
    with forthwith.open(data(f"{file}.root")) as opened:
        assert opened["t"][branch].array().to_list() == GOLDEN[name]
