"""RNTuples of random types that forthwith writes, as C++ ROOT, uproot and forthwith read them.

C++ ROOT and uproot are those of the interpreter that ``FORTHWITH_ROOT_PYTHON`` names, or else of
``.venv-root/bin/python``. Without one, forthwith alone reads.
``FORTHWITH_NTUPLES_WRITTEN`` is a number of files, and a seed behind a colon.
"""

import os
import subprocess
import sys

import pytest
from conftest import TESTS
from root_judge import ROOT_PYTHON, need_root

SCRIPT = str(TESTS / "generate" / "random_ntuples_written.py")


def run(python, *arguments):
    """What the script says, which has to find no difference."""
    command = [python, "-W", "ignore", SCRIPT, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("is_chosen", [False, True], ids=["written", "chosen"])
def test_what_is_written_is_read(tmp_path, is_chosen):
    pytest.importorskip("awkward")
    count, _, seed = os.environ.get("FORTHWITH_NTUPLES_WRITTEN", "6").partition(":")
    run(sys.executable, "write", tmp_path, seed or "1", count)
    if is_chosen:
        assert "choose: 0 of" not in run(sys.executable, "choose", tmp_path, seed or "1")
    said = run(sys.executable, "forthwith", tmp_path)
    assert is_chosen or f"{count} files" in said
    assert " 0 values" not in said
    need_root()
    run(ROOT_PYTHON, "root", tmp_path)
    if subprocess.run([ROOT_PYTHON, "-c", "import uproot"], capture_output=True, check=False).returncode == 0:
        run(ROOT_PYTHON, "uproot", tmp_path)
