"""C++ ROOT and uproot as judges of files that are written: in a Python of their own, where there is one."""

import atexit
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
ROOT_PYTHON = os.environ.get("FORTHWITH_ROOT_PYTHON") or str(HERE.parents[2] / ".venv-root" / "bin" / "python")
HEAD = "import json, sys, warnings\nwarnings.simplefilter('ignore')\n"
SECONDS = 300
# That of the server of ROOT.
ENVIRONMENT = dict(os.environ)


def has_root():
    """Whether there is a C++ ROOT."""
    return os.path.exists(ROOT_PYTHON)


def need_root():
    """Skips the test where there is no C++ ROOT."""
    if not has_root():
        pytest.skip(f"no C++ ROOT: {ROOT_PYTHON} is not there, FORTHWITH_ROOT_PYTHON may name another")


class Server:
    """A Python that has imported ROOT, and runs scripts in processes that are forked off it."""

    process = None

    @classmethod
    def run(cls, script, arguments, folder, seconds):
        """What :func:`subprocess.run` answers."""
        names = [os.path.join(folder, name) for name in ("output", "errors")]
        request = {"script": script, "arguments": arguments, "output": names[0], "errors": names[1]}
        request |= {"folder": os.getcwd(), "environment": dict(os.environ.items() - ENVIRONMENT.items())}
        try:
            answer = cls.answer(request, seconds)
            code = int(answer) if answer else None
        except BaseException:
            cls.stop()
            raise
        why = "" if answer else f"no answer within {seconds} s" if answer is None else "the server has ended"
        ended = None if answer else cls.stop()
        output, errors = (
            pathlib.Path(name).read_text(errors="replace") if os.path.exists(name) else "" for name in names
        )
        assert answer, f"C++ ROOT: {why} ({ended})\n{output[-2000:]}{errors[-2000:]}"
        return subprocess.CompletedProcess(script, code, output, errors)

    @classmethod
    def answer(cls, request, seconds):
        """The line that answers a request: an empty one if the server has ended, nothing if there was none in time."""
        if cls.process is None:
            cls.process = subprocess.Popen(
                [ROOT_PYTHON, "-W", "ignore", str(HERE / "root_server.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
                env=ENVIRONMENT,
            )
        cls.process.stdin.write(json.dumps(request) + "\n")
        cls.process.stdin.flush()
        with selectors.DefaultSelector() as waiting:
            waiting.register(cls.process.stdout, selectors.EVENT_READ)
            return cls.process.stdout.readline() if waiting.select(seconds) else None

    @classmethod
    def stop(cls):
        """Ends the server and the script that it runs, and answers what it returned."""
        process, cls.process = cls.process, None
        if process is None:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
        return process.wait()


atexit.register(Server.stop)


def judged(done):
    """What a script prints as JSON. Nothing may stand on its other output: no warning, no error."""
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return json.loads(done.stdout)


def by_root(script, *arguments, seconds=SECONDS):
    """What a script prints as JSON under C++ ROOT, which is imported as `ROOT` and draws nothing.

    All scripts are one process to ROOT: files with references are made by `by_another_root`.
    """
    need_root()
    with tempfile.TemporaryDirectory() as folder:
        script = HEAD + "import ROOT\n" + script
        return judged(Server.run(script, [str(one) for one in arguments], folder, seconds))


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
