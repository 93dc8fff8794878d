"""Files that threads use while the process is forked, again and again: the forked process reads them, and waits for nobody.

python tests/python/opening/test_forks_in_use.py [--forks N]
"""

import argparse
import itertools
import os
import signal
import sys
import threading
import time

import pytest
from conftest import data

import forthwith

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
FILES = ["keys.root", "trees.root", "objects.root", "nested.root", "avro/nested.avro", "parquet/plain.parquet"]


def everything(path):
    """Opens anew, and asks for what a file remembers: directories, keys, layouts of classes, columns, blocks."""
    file = forthwith.open(path)
    return use(file)


def use(file):
    if isinstance(file, forthwith.Tree):
        return [file.num_entries, *file.keys()[:3], len(file.arrays(file.keys()[:1], library="np", entry_stop=2))]
    found = []
    for name in list(file.keys(recursive=True))[:6]:
        try:
            thing = file[name]
        except forthwith.UnsupportedError:
            continue
        found.append((name, type(thing).__name__))
        if isinstance(thing, forthwith.Tree):
            found.append((thing.num_entries, thing.keys()[:3]))
    return found


def forked(ask, wanted, seconds=20):
    """Asks in a forked process, which must answer, and answer the same."""
    child = os.fork()
    if child == 0:
        status = 3
        try:
            status = 0 if ask() == wanted else 2
        finally:
            os._exit(status)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail(f"a forked process was still waiting after {seconds} s")


def campaign(forks):
    files = [data(name) for name in FILES]
    opened = {path: forthwith.open(path) for path in files}
    wanted = {path: use(file) for path, file in opened.items()}
    stop = threading.Event()
    failed = []

    def work(path):
        try:
            while not stop.is_set():
                # Remembered things are made anew each time, and opened ones are used.
                assert everything(path) == wanted[path]
                assert use(opened[path]) == wanted[path]
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work, args=(path,)) for path in files]
    for thread in threads:
        thread.start()
    try:
        for _, path in zip(range(forks), itertools.cycle(files), strict=False):
            forked(lambda path=path: use(opened[path]), wanted[path])
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forks_while_threads_use_files():
    campaign(forks=60)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forks_while_threads_register():
    """A forked process knows the classes of its parent, and registers its own."""
    stop = threading.Event()

    def register():
        for number in range(400):
            forthwith.register_class(f"Registered{number % 7}", {"x": "int"})
            if stop.is_set():
                return

    def child():
        forthwith.register_class("OfTheChild", {"y": "double"})
        for number in range(7):
            forthwith.register_class(f"Registered{number}", None)
        return use(forthwith.open(data("objects.root")))

    wanted = use(forthwith.open(data("objects.root")))
    threads = [threading.Thread(target=register) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            forked(child, wanted)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        for number in range(7):
            forthwith.register_class(f"Registered{number}", None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--forks", type=int, default=3000)
    campaign(parser.parse_args().forks)
    sys.stdout.write("no forked process waited\n")
