"""RNTuples of random types that forthwith writes, as C++ ROOT, uproot and forthwith read them.

C++ ROOT and uproot are those of the interpreter that ``FORTHWITH_ROOT_PYTHON`` names, or else of
``.venv-root/bin/python``. Without one, forthwith alone reads.
``FORTHWITH_NTUPLES_WRITTEN`` is a number of files, and a seed behind a colon.
"""

import os
import pathlib
import random
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).parent.parent
SCRIPT = str(TESTS / "generate" / "random_ntuples_written.py")
ROOT_PYTHON = os.environ.get("FORTHWITH_ROOT_PYTHON") or str(TESTS.parent / ".venv-root" / "bin" / "python")


def run(python, *arguments):
    """What the script says, which has to find no difference."""
    command = [python, "-W", "ignore", SCRIPT, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def copy_all(folder, seed):
    """Puts copies in the place of files, with pages as they are stored or compressed anew."""
    import forthwith

    chance = random.Random(seed)
    copied = 0
    for path in sorted(folder.glob("*.root")):
        new = path.with_suffix(".new.root")
        codec = chance.choice(["default", None, "zlib:9", "lz4", "zstd", "lzma"])
        try:
            forthwith.merge(path, new, compression=codec)
        except forthwith.UnsupportedError as error:
            if "columns that do not have pages in all clusters" not in str(error):
                raise
            continue
        new.replace(path)
        copied += 1
    assert copied


@pytest.mark.slow
@pytest.mark.parametrize("is_copied", [False, True])
def test_what_is_written_is_read(tmp_path, is_copied):
    pytest.importorskip("awkward")
    count, _, seed = os.environ.get("FORTHWITH_NTUPLES_WRITTEN", "6").partition(":")
    run(sys.executable, "write", tmp_path, seed or "1", count)
    if is_copied:
        copy_all(tmp_path, int(seed or "1"))
    said = run(sys.executable, "forthwith", tmp_path)
    assert f"{count} files" in said
    assert " 0 values" not in said
    if not os.path.exists(ROOT_PYTHON):
        pytest.skip(f"no C++ ROOT: {ROOT_PYTHON} is not there, FORTHWITH_ROOT_PYTHON may name another")
    run(ROOT_PYTHON, "root", tmp_path)
    if subprocess.run([ROOT_PYTHON, "-c", "import uproot"], capture_output=True, check=False).returncode == 0:
        run(ROOT_PYTHON, "uproot", tmp_path)
