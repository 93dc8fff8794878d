"""RNTuples as C++ ROOT reads them: every kind of field and encoding, as a whole and by every range of entries."""

import json
import pathlib

import pytest
from conftest import data

import forthwith

FOLDER = pathlib.Path(data("rntuple"))
VALUES = json.loads((FOLDER / "values.json").read_text())
CASES = [(file, name) for file, ntuples in VALUES.items() for name in ntuples]


def plain(value):
    """A value with tuples as lists, and numbers told apart by their type and sign."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return repr(value)


@pytest.mark.parametrize(("file", "name"), CASES)
def test_values_are_what_root_reads(file, name):
    with forthwith.open(FOLDER / file) as opened:
        ntuple = opened[name]
        for field, wanted in VALUES[file][name].items():
            assert plain(ntuple[field].array().to_list()) == plain(wanted), field


@pytest.mark.parametrize(("file", "name"), CASES)
def test_ranges_of_entries_are_cut_out_of_pages(file, name):
    with forthwith.open(FOLDER / file) as opened:
        ntuple = opened[name]
        for field, values in VALUES[file][name].items():
            wanted = plain(values)
            count = len(wanted)
            # Starts and ends inside of clusters, between them, and of nothing.
            step = count // 5 + 1
            ranges = [
                (start, stop) for start in range(0, count + 1, step) for stop in range(start, count + 1, step + 1)
            ]
            for start, stop in ranges:
                got = ntuple[field].array(entry_start=start, entry_stop=stop).to_list()
                assert plain(got) == wanted[start:stop], (field, start, stop)
