"""Progress, interrupts, and exceptions in between."""

import pathlib
import signal
import threading
import time

import pytest
from conftest import data

import forthwith


def test_progress_is_told_from_beginning_to_end(tree):
    calls = []
    tree.arrays(["Muon_pt", "event"], progress=lambda *now: calls.append(now))
    plan = tree._core.plan([tree._core.find("Muon_pt"), tree._core.find("event")], 0, 3600)
    blocks = len(plan.blocks())
    assert calls[0] == (0, blocks, 0, plan.stored_bytes)
    assert calls[-1] == (blocks, blocks, plan.stored_bytes, plan.stored_bytes)
    assert sorted(calls) == calls


def test_an_exception_in_progress_stops(tree):
    class Enough(Exception):
        pass

    def stop(*now):
        raise Enough

    for read in (
        lambda: tree.arrays(progress=stop),
        lambda: tree["run"].array(progress=stop),
        lambda: list(tree.iterate(progress=stop)),
    ):
        with pytest.raises(Enough):
            read()
    assert len(tree["run"].array()) == 3600


def test_an_interrupt_in_progress_stops(tree):
    def interrupt(*now):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        tree.arrays(progress=interrupt)
    assert len(tree["run"].array()) == 3600


class Slow:
    """A file that takes its time, so that there is something to interrupt."""

    def __init__(self, path):
        self._data = pathlib.Path(path).read_bytes()
        self._at = 0
        self.wait = 0.0
        self.reads = 0

    def seek(self, offset, whence=0):
        self._at = offset + (len(self._data) if whence == 2 else 0)
        return self._at

    def read(self, size):
        self.reads += 1
        time.sleep(self.wait)
        return self._data[self._at : self._at + size]


def test_an_interrupt_is_heard_while_reading():
    slow = Slow(data("layout.root"))
    file = forthwith.open(slow, threads=1)
    tree = max(file.values(filter_classname="TTree"), key=lambda t: sum(b.num_baskets for b in t.values()))
    baskets = sum(branch.num_baskets for branch in tree.values())
    assert baskets > 50
    slow.reads = 0
    tree.arrays(how=dict)
    whole = slow.reads
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda *_: heard.append(time.monotonic()) or interrupt())

    def interrupt():
        raise KeyboardInterrupt

    slow.wait = 0.005
    slow.reads = 0
    timer = threading.Timer(0.1, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1))
    timer.start()
    try:
        if whole < 60:
            # The file is read in few pieces: the interrupt is raised inside the file object.
            slow.wait = 0.2
        with pytest.raises(KeyboardInterrupt):
            tree.arrays(how=dict)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert heard
    slow.wait = 0.0
    assert tree.arrays(how=dict)


def test_other_threads_run_meanwhile(path):
    """The interpreter is released: a thread can count while another waits for a slow file."""
    slow = Slow(path)
    tree = forthwith.open(slow)["events"]
    slow.wait = 0.05
    counted, done = 0, threading.Event()

    def read():
        tree["Muon_pt"].array()
        done.set()

    reader = threading.Thread(target=read)
    reader.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    reader.join()
    assert counted > 5


def test_many_threads_share_a_tree(tree):
    expected = tree["Muon_pt"].array().tolist()
    wrong = []

    def read():
        for _ in range(5):
            if tree["Muon_pt"].array(threads=2).tolist() != expected:
                wrong.append(1)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
