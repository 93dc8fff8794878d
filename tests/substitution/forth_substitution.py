"""A pytest plugin that puts other machines in place of awkward's and writes down what every test did with them.

It is loaded before anything else (``-p forth_substitution``), so that whoever imports ``awkward.forth`` later finds the machines
it has put there. Environment:

* ``FORTH_MACHINES``: ``awkward`` (nothing is replaced) or ``forthwith``.
* ``FORTH_REPORT``: where the outcomes go, as JSON.
* ``FORTH_DATA``: a folder with the files of scikit-hep-testdata. A test that wants another file is skipped, and no test
  reaches the network.
"""

import collections
import json
import os
import pathlib
import signal
import socket
import sys
import types
import warnings

import awkward
import awkward.forth
import pytest

MACHINES = os.environ["FORTH_MACHINES"]
DATA = pathlib.Path(os.environ.get("FORTH_DATA", "no-data"))
# No test of uproot takes half as long; some wait for what is not there, and would for ever.
LONGEST = 120
LOCAL = ("localhost", "127.0.0.1", "::1", None)

made = collections.Counter()
runs = collections.Counter()
outcomes = {}
now = "import"


def counting(machine):
    """The machine, counted by the test that makes and runs it."""

    class Counting(machine):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            made[now] += 1

        def run(self, *args, **kwargs):
            runs[now] += 1
            return super().run(*args, **kwargs)

        def resume(self, *args, **kwargs):
            runs[now] += 1
            return super().resume(*args, **kwargs)

    Counting.__name__ = Counting.__qualname__ = machine.__name__
    return Counting


def substitute():
    """Another module ``awkward.forth``."""
    if MACHINES == "forthwith":
        with warnings.catch_warnings():
            # That of a build for development.
            warnings.simplefilter("ignore", RuntimeWarning)
            import forthwith.forth as source
    else:
        source = awkward.forth
    forth = types.ModuleType("awkward.forth")
    for name in ("ForthMachine32", "ForthMachine64"):
        setattr(forth, name, counting(getattr(source, name)))
    forth.__all__ = ["ForthMachine32", "ForthMachine64"]
    sys.modules["awkward.forth"] = awkward.forth = forth


def stay_offline():
    """Fails at once where a name would have to be looked up."""
    look_up = socket.getaddrinfo

    def refuse(host, *args, **kwargs):
        if (host.decode() if isinstance(host, bytes) else host) not in LOCAL:
            raise socket.gaierror(socket.EAI_NONAME, "tests stay offline")
        return look_up(host, *args, **kwargs)

    socket.getaddrinfo = refuse


def serve_data():
    """Test files come from the folder, or the test is skipped."""
    import skhep_testdata

    def data_path(filename, *args, **kwargs):
        path = DATA / filename
        if not path.exists():
            pytest.skip(f"absent test file: {filename}")
        return str(path)

    skhep_testdata.data_path = skhep_testdata.local_files.data_path = data_path
    skhep_testdata.data.cache_path = lambda cache_dir=None: DATA


substitute()
stay_offline()
serve_data()


def pytest_runtest_setup(item):
    """Counts for this test from now on."""
    global now
    now = item.nodeid


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fails a test that waits for something for ever."""

    def stop(number, frame):
        raise TimeoutError(f"waited for {LONGEST} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def pytest_runtest_logreport(report):
    """Keeps the worst of setup, call and teardown."""
    entry = outcomes.setdefault(report.nodeid, {"outcome": "passed", "seconds": 0.0})
    entry["seconds"] = round(entry["seconds"] + report.duration, 4)
    if report.outcome != "passed":
        entry["outcome"] = report.outcome
        if isinstance(report.longrepr, tuple):
            entry["reason"] = report.longrepr[2]
        else:
            entry["reason"] = str(report.longrepr).strip().splitlines()[-1] if report.longrepr else ""


def pytest_collectreport(report):
    """A file that cannot be imported counts as a test that fails."""
    if report.outcome != "passed":
        outcomes[report.nodeid] = {"outcome": report.outcome, "seconds": 0.0, "reason": "collection"}


def pytest_sessionfinish():
    """Writes everything down."""
    for nodeid, entry in outcomes.items():
        entry["machines"], entry["runs"] = made[nodeid], runs[nodeid]
    pathlib.Path(os.environ["FORTH_REPORT"]).write_text(json.dumps(outcomes))
