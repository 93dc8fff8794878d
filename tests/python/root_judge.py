"""C++ ROOT and uproot as judges of files that are written: in a Python of their own, where there is one."""

import json
import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
ROOT_PYTHON = os.environ.get("FORTHWITH_ROOT_PYTHON") or str(HERE.parent.parent / ".venv-root" / "bin" / "python")
HEAD = "import json, sys, warnings\nwarnings.simplefilter('ignore')\n"


def judged(script, arguments):
    """What a script prints as JSON. Nothing may stand on its other output: no warning, no error."""
    if not os.path.exists(ROOT_PYTHON):
        pytest.skip(f"no C++ ROOT: {ROOT_PYTHON} is not there, FORTHWITH_ROOT_PYTHON may name another")
    command = [ROOT_PYTHON, "-c", HEAD + script, *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return json.loads(done.stdout)


def by_root(script, *arguments):
    """The same under C++ ROOT."""
    return judged("import ROOT\nROOT.gROOT.SetBatch(True)\n" + script, arguments)


def by_uproot(path, tree, names):
    """The values of branches, read by uproot."""
    script = """
import uproot
with uproot.open(sys.argv[1]) as file:
    tree = file[sys.argv[2]]
    print(json.dumps({name: tree[name].array().to_list() for name in sys.argv[3:]}))
"""
    return judged(script, [path, tree, *names])
