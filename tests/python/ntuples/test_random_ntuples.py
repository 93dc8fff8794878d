"""RNTuples of random models, as C++ ROOT reads them.

The files are made anew by the interpreter that ``FORTHWITH_ROOT_PYTHON`` names, or else by ``.venv-root/bin/python``. Without
one, the test is skipped. ``FORTHWITH_NTUPLES`` is a number of models, and a seed behind a colon.
"""

import json
import os
import subprocess

import pytest
from conftest import TESTS
from root_judge import ROOT_PYTHON, need_root
from test_rntuple import plain

import forthwith


@pytest.mark.slow
def test_values_are_what_root_reads(tmp_path):
    need_root()
    count, _, seed = os.environ.get("FORTHWITH_NTUPLES", "2").partition(":")
    script = str(TESTS / "generate" / "random_ntuples.py")
    subprocess.run(
        [ROOT_PYTHON, script, str(tmp_path), seed or "1", count], check=True, capture_output=True, timeout=900
    )
    for file, ntuples in json.loads((tmp_path / "values.json").read_text()).items():
        with forthwith.open(tmp_path / file) as opened:
            for name, fields in ntuples.items():
                for field, values in fields.items():
                    wanted, branch = plain(values), opened[name][field]
                    assert plain(branch.array().to_list()) == wanted, (file, field, branch.typename)
                    count = len(wanted)
                    for start, stop in [(0, count // 2), (count // 3, count), (count // 4, 2 * count // 3)]:
                        got = branch.array(entry_start=start, entry_stop=stop).to_list()
                        assert plain(got) == wanted[start:stop], (file, field, branch.typename, start, stop)
