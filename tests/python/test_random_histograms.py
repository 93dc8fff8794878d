"""Means, spreads and integrals of random histograms are those of C++ ROOT.

The files are made anew by the interpreter that ``FORTHWITH_ROOT_PYTHON`` names, or else by ``.venv-root/bin/python``. Without
one, the test is skipped. ``FORTHWITH_HISTOGRAMS`` is a number of histograms, and a seed behind a colon.
"""

import json
import os
import pathlib
import subprocess

import pytest

import forthwith

TESTS = pathlib.Path(__file__).parent.parent
ROOT_PYTHON = os.environ.get("FORTHWITH_ROOT_PYTHON") or str(TESTS.parent / ".venv-root" / "bin" / "python")


def test_statistics_are_those_of_root(tmp_path):
    if not os.path.exists(ROOT_PYTHON):
        pytest.skip(f"no C++ ROOT: {ROOT_PYTHON} is not there, FORTHWITH_ROOT_PYTHON may name another")
    count, _, seed = os.environ.get("FORTHWITH_HISTOGRAMS", "100").partition(":")
    script = str(TESTS / "generate" / "random_histograms.py")
    subprocess.run(
        [ROOT_PYTHON, script, seed or "1", count, str(tmp_path)], check=True, capture_output=True, timeout=300
    )
    file = forthwith.open(tmp_path / "random.root")
    for name, golden in json.loads((tmp_path / "random.json").read_text()).items():
        found, axes = file[name], range(len(file[name].axes))
        seen = {
            "mean": [found.mean(axis) for axis in axes],
            "std": [found.std(axis) for axis in axes],
            "entries": found.entries,
            "integral": found.integral(),
            "width": found.integral(width=True),
        }
        for what, expected in golden.items():
            assert seen[what] == pytest.approx(expected, rel=1e-9, abs=1e-7), (name, found.classname, what)
