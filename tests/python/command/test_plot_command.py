"""Numbers that `forthwith plot --json` prints, against NumPy and C++ ROOT."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA
from root_judge import by_root

import forthwith


def plot(*arguments: object) -> list[dict[str, Any]]:
    line = [sys.executable, "-m", "forthwith", "plot", "--json", *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A file of numbers, some of which are not finite, and of lists of equal lengths."""
    random = np.random.default_rng(7)
    x = random.normal(3, 2, 4000)
    x[::97] = np.nan
    x[::101] = np.inf
    lengths = random.integers(0, 4, 4000)
    items = random.exponential(5, (2, int(lengths.sum())))
    path = tmp_path_factory.mktemp("plot") / "numbers.parquet"
    columns = {"x": x, "n": lengths}
    ends = np.concatenate([[0], np.cumsum(lengths)])
    for name, row in zip("ab", items, strict=True):
        columns[name] = [row[low:high].tolist() for low, high in itertools.pairwise(ends)]
    awkward = pytest.importorskip("awkward")
    forthwith.parquet.write(path, {name: awkward.Array(column) for name, column in columns.items()})
    return path, {"x": x, "n": lengths, "a": items[0], "b": items[1]}


def test_one_dimension_is_that_of_numpy(numbers: tuple[Path, dict[str, Any]]) -> None:
    path, columns = numbers
    (found,) = plot(path, "x", "--range", "-1,5", "--bins", 12)
    x = columns["x"]
    inside = x[(x >= -1) & (x < 5)]
    assert found["values"] == np.histogram(inside, 12, (-1, 5))[0].tolist()
    assert np.allclose(found["errors"], np.sqrt(found["values"]))
    assert (found["below"], found["above"]) == ((x < -1).sum(), (x >= 5).sum())
    assert (found["entries"], found["not_numbers"]) == (4000, np.isnan(x).sum())
    assert np.allclose([found["mean"], found["deviation"]], [inside.mean(), inside.std()], rtol=1e-12)
    (found,) = plot(path, "x", "--range", "-1,5", "--bins", 12, "--density")
    assert np.isclose(np.dot(found["values"], np.diff(found["edges"])), 1)
    (found,) = plot(path, "a", "--log", "x", "--range", "0.1,100", "--bins", 30)
    edges = np.geomspace(0.1, 100, 31)
    assert np.allclose(found["edges"], edges)
    assert np.abs(np.array(found["values"]) - np.histogram(columns["a"], edges)[0]).sum() <= 2


def test_two_dimensions_are_those_of_numpy(numbers: tuple[Path, dict[str, Any]]) -> None:
    path, columns = numbers
    pairs = {
        ("a", "b"): (columns["a"], columns["b"]),
        ("n", "a"): (np.repeat(columns["n"], columns["n"]), columns["a"]),
    }
    for (x, y), (xs, ys) in pairs.items():
        (found,) = plot(path, x, y, "--range", "0,8", "--y-range", "-2,14", "--bins", 16)
        inside = (xs < 8) & (ys < 14)
        expected = np.histogram2d(xs[inside], ys[inside], 16, ((0, 8), (-2, 14)))[0]
        assert np.array_equal(np.reshape(found["values"], (16, 16)).T, expected)
        assert (found["entries"], found["outside"]) == (len(xs), (~inside).sum())


ROOT_NUMBERS = """
import json, sys, ROOT
file = ROOT.TFile(sys.argv[1])
found = {}
for key in file.GetListOfKeys():
    if key.GetClassName() in ("TH1C", "TH1S", "TH1I", "TH1L", "TH1F", "TH1D", "TProfile"):
        object = key.ReadObj()
        bins = range(1, object.GetNbinsX() + 1)
        found[key.GetName()] = {
            "values": [object.GetBinContent(bin) for bin in bins],
            "errors": [object.GetBinError(bin) for bin in bins],
            "entries": object.GetEntries(),
            "mean": object.GetMean(),
            "deviation": object.GetStdDev(),
        }
print(json.dumps(found))
"""


def test_objects_are_those_of_root() -> None:
    path = DATA / "histograms.root"
    judged = by_root(ROOT_NUMBERS, path)
    assert len(judged) > 10
    for name, expected in judged.items():
        (found,) = plot(f"{path}:{name}")
        # Other ways of errors of profiles have no picture of their own.
        if not name.startswith(("profilei", "profileg")):
            assert np.allclose(found["errors"], expected["errors"]), name
        for what in ("values", "entries", "mean", "deviation"):
            assert np.allclose(found[what] or 0, expected[what]), (name, what)
