"""Every bundled file has what C++ ROOT reads from it beside it."""

import corpus_reader
import goldens
import pytest
from conftest import DATA, golden_of

import forthwith

GOLDENS = [p.name for p in sorted(DATA.glob("*.golden.json")) if (DATA / golden_of(p.name)["file"]).exists()]


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda name: name.removesuffix(".golden.json"))
def test_columns_have_the_golden_values(golden):
    golden = golden_of(golden)
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


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda name: name.removesuffix(".golden.json"))
def test_keys_are_the_golden_ones(golden):
    golden = golden_of(golden)
    assert sorted(corpus_reader.keys(str(DATA / golden["file"]))) == sorted(golden["keys"])
