"""The fixtures that the tests share: the bundled files, what other readers found in them, and modules in `support`."""

import json
import pathlib
import signal
import sys

import pytest

TESTS = pathlib.Path(__file__).parents[1]
SOURCES = TESTS.parent
DATA = TESTS / "data"
sys.path[:0] = [str(TESTS), str(TESTS / "python" / "support")]

import forthwith  # noqa: E402


@pytest.fixture
def path():
    return str(DATA / "zmumu.root")


@pytest.fixture
def file(path):
    with forthwith.open(path) as file:
        yield file


@pytest.fixture
def tree(file):
    return file["events"]


def data(name):
    return str(DATA / name)


def golden_of(name):
    """The values that another reader, C++ ROOT unless a test says otherwise, found in a bundled file: the JSON beside it."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


@pytest.fixture(autouse=True, scope="session")
def interruptible():
    """Control-C as at a terminal: a process started in the background may have inherited that it is ignored."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
