"""C++ ROOT and uproot as judges of files that are written: in a Python of their own, where there is one."""

import contextlib
import json
import os
import pathlib
import selectors
import signal
import subprocess
import tempfile

import pytest

HERE = pathlib.Path(__file__).parent
ROOT_PYTHON = os.environ.get("FORTHWITH_ROOT_PYTHON") or str(HERE.parent.parent / ".venv-root" / "bin" / "python")
HEAD = "import json, sys, warnings\nwarnings.simplefilter('ignore')\n"
SECONDS = 300


def need_root():
    """Skips the test where there is no C++ ROOT."""
    if not os.access(ROOT_PYTHON, os.X_OK):
        pytest.skip(f"no C++ ROOT: {ROOT_PYTHON} is not there, FORTHWITH_ROOT_PYTHON may name another")


class Server:
    """A Python that has imported ROOT, and runs scripts in processes that are forked off it."""

    server = None

    @classmethod
    def run(cls, script, arguments, folder):
        """What :func:`subprocess.run` answers."""
        if cls.server is None:
            cls.server = subprocess.Popen(
                [ROOT_PYTHON, "-P", "-W", "ignore", str(HERE / "root_server.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        names = [os.path.join(folder, name) for name in ("output", "errors")]
        request = {"script": script, "arguments": arguments, "output": names[0], "errors": names[1]}
        cls.server.stdin.write(json.dumps(request) + "\n")
        cls.server.stdin.flush()
        with selectors.DefaultSelector() as waiting:
            waiting.register(cls.server.stdout, selectors.EVENT_READ)
            answer = cls.server.stdout.readline() if waiting.select(SECONDS) else ""
        if not answer:
            ended = cls.server.poll()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(cls.server.pid, signal.SIGKILL)
            cls.server.communicate()
            cls.server = None
            raise AssertionError(f"no answer from C++ ROOT's process, which has ended with {ended}")
        output, errors = (pathlib.Path(name).read_text() for name in names)
        return subprocess.CompletedProcess(script, int(answer), output, errors)


def judged(done):
    """What a script prints as JSON. Nothing may stand on its other output: no warning, no error."""
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return json.loads(done.stdout)


def by_root(script, *arguments):
    """What a script prints as JSON under C++ ROOT, which is imported as `ROOT` and draws nothing."""
    need_root()
    with tempfile.TemporaryDirectory() as folder:
        return judged(Server.run(HEAD + "import ROOT\n" + script, [str(one) for one in arguments], folder))


def by_another_root(script, *arguments):
    """Likewise, with a number of its own among ROOT's processes, by which references find their objects."""
    return by_python("import ROOT\nROOT.gROOT.SetBatch(True)\n" + script, arguments)


def by_python(script, arguments):
    """What a script prints as JSON that imports what it needs."""
    need_root()
    command = [ROOT_PYTHON, "-c", HEAD + script, *map(str, arguments)]
    return judged(subprocess.run(command, check=False, capture_output=True, text=True, timeout=SECONDS))


def by_uproot(path, tree, names):
    """The values of branches, read by uproot."""
    script = """
import uproot
with uproot.open(sys.argv[1]) as file:
    tree = file[sys.argv[2]]
    print(json.dumps({name: tree[name].array().to_list() for name in sys.argv[3:]}))
"""
    return by_python(script, [path, tree, *names])
