"""Means, spreads and integrals of random histograms are those of C++ ROOT, and so are sums and multiples of histograms.

The files are made anew by the interpreter that ``FORTHWITH_ROOT_PYTHON`` names, or else by ``.venv-root/bin/python``. Without
one, the test is skipped. ``FORTHWITH_HISTOGRAMS`` is a number of histograms, and a seed behind a colon.
"""

import json
import os
import subprocess

import numpy as np
import pytest
from conftest import TESTS
from root_judge import ROOT_PYTHON, need_root

import forthwith
from forthwith.hist.statistics import statistics


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The file of random histograms, and what C++ ROOT says of them."""
    need_root()
    count, _, seed = os.environ.get("FORTHWITH_HISTOGRAMS", "100").partition(":")
    folder = tmp_path_factory.mktemp("random")
    script = str(TESTS / "generate" / "random_histograms.py")
    subprocess.run([ROOT_PYTHON, script, seed or "1", count, str(folder)], check=True, capture_output=True, timeout=300)
    with forthwith.open(folder / "random.root") as file:
        yield file, json.loads((folder / "random.json").read_text())


def test_statistics_are_those_of_root(made):
    file, golden = made
    for name, expected in golden.items():
        found, axes = file[name], range(len(file[name].axes))
        seen = {
            "mean": [found.mean(axis) for axis in axes],
            "std": [found.std(axis) for axis in axes],
            "entries": found.entries,
            "integral": found.integral(),
            "width": found.integral(width=True),
        }
        for what in seen.keys() & expected.keys():
            assert seen[what] == pytest.approx(expected[what], rel=1e-9, abs=1e-7), (name, found.classname, what)


def test_sums_and_multiples_are_those_of_root(made):
    file, golden = made
    acts = {
        "sum": lambda one, other, _: one + other,
        "difference": lambda one, other, _: one - other,
        "multiple": lambda one, _, factor: one * factor,
    }
    for name in golden:
        one, other = file[name], file[f"{name}_other"]
        expected, cells = golden[name]["computed"], one.values(True).size
        factor = expected["factor"]
        for what, act in acts.items():
            try:
                found = act(one, other, factor)
            except forthwith.RequestError:
                # Where ROOT puts numbers into whole numbers that have no room for them, there is an error.
                kept = np.iinfo(one.values().dtype)
                assert what == "multiple"
                assert np.abs(one.values(True) * factor).max() > kept.max
                continue
            assert found.classname == one.classname
            seen = {
                "contents": found.values(True).T.ravel().tolist(),
                "errors": found.errors(True).T.ravel().tolist(),
                "entries": found.entries,
                "statistics": list(statistics(found).values()),
            }
            assert len(seen["contents"]) == cells
            expected[what]["statistics"] = expected[what]["statistics"][: len(seen["statistics"])]
            for part, wanted in expected[what].items():
                place = (name, found.classname, what, part)
                assert seen[part] == pytest.approx(
                    wanted, rel=2e-7 if "F" in one.classname else 1e-9, abs=1e-7, nan_ok=True
                ), place
