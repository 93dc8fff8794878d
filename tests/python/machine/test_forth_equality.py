"""A few random programs on awkward's machines and on ours; `tests/machine_equality.py` is the long run."""

import json
import os
import subprocess
import sys

import pytest
from conftest import TESTS


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 10**6])
def test_random_programs_agree_with_awkward(seed, tmp_path):
    report = tmp_path / "report.json"
    # In processes of their own, as long runs are.
    command = [sys.executable, str(TESTS / "machine_equality.py"), "--programs", "600", "--seed", str(seed)]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [*command, "--report", str(report)], capture_output=True, text=True, env=environment, check=False
    )
    assert report.exists(), done.stderr
    found = json.loads(report.read_text())
    assert found["deaths"] == []
    assert found["differences"] == []
    assert done.returncode == 0
    assert found["programs"] == 600
    assert found["runs"] >= 1200
    assert len(found["errors"]) > 5
