"""Every bundled file has what C++ ROOT reads from it beside it."""

import json
import pathlib

import corpus_reader
import goldens
import pytest
from conftest import DATA

import forthwith

GOLDENS = [p for p in sorted(DATA.glob("*.golden.json")) if (DATA / json.loads(p.read_text())["file"]).exists()]


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda p: p.name.removesuffix(".golden.json"))
def test_columns_have_the_golden_values(golden):
    golden = json.loads(pathlib.Path(golden).read_text())
    path = str(DATA / golden["file"])
    wrong, compared = [], 0
    for tree, table in golden["trees"].items():
        for name, want in table["columns"].items():
            if "sha256" not in want:
                continue
            try:
                array = corpus_reader.read_column(path, tree, name)
            except forthwith.UnsupportedError:
                continue
            compared += 1
            if why := goldens.difference(array, want):
                wrong.append(f"{tree}/{name}: {why}")
    assert not wrong
    assert compared or not golden["trees"]


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda p: p.name.removesuffix(".golden.json"))
def test_keys_are_the_golden_ones(golden):
    golden = json.loads(pathlib.Path(golden).read_text())
    assert sorted(corpus_reader.keys(str(DATA / golden["file"]))) == sorted(golden["keys"])
