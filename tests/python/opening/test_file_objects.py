"""File objects that are read: slow, blocking, calling back, forked, interrupted, and cut off at the end of the program."""

import gc
import io
import pathlib
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from conftest import data

import forthwith

WHOLE = pathlib.Path(data("zmumu.root")).read_bytes()

# A tenth of a second, and what a machine adds that does other things.
SOON = 0.25


class Object:
    """A file object that does something before each read."""

    name = "object"

    def __init__(self, before=lambda: None):
        self._at = 0
        self.before = before

    def seek(self, offset, whence=0):
        self._at = offset + (len(WHOLE) if whence == 2 else 0)
        return self._at

    def read(self, size):
        self.before()
        return WHOLE[self._at : self._at + size]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("main", [True, False])
def test_an_object_that_reads_from_its_own_file_is_told_so(threads, main):
    seen = []

    def again():
        try:
            file["events"].arrays(["nMuon"], threads=threads)
        except forthwith.RequestError as error:
            seen.append(str(error))

    thing = Object()
    file = forthwith.open(thing)
    tree = file["events"]
    thing.before = again

    def read():
        assert len(tree["Muon_pt"].array(threads=threads)) == 3600

    if main:
        read()
    else:
        thread = threading.Thread(target=read)
        thread.start()
        thread.join(30)
        assert not thread.is_alive()
    assert seen
    assert set(seen) == {"the read method of the file object reads from the same forthwith file\n  in object"}


def test_an_object_that_has_another_thread_read_its_file_can_be_interrupted():
    """Nothing tells that it waits for itself, but the wait ends."""
    ran = run(
        """
thing = Object()
file = forthwith.open(thing)
tree = file["events"]
def elsewhere():
    thread = threading.Thread(target=lambda: tree["nMuon"].array(), daemon=True)
    thread.start()
    thread.join()
thing.before = elsewhere
interrupted(lambda: tree["Muon_pt"].array())
"""
    )
    assert float(ran) < SOON


@pytest.mark.parametrize("answer", [None, 5, "text", [1, 2], object()])
@pytest.mark.parametrize("main", [True, False])
def test_an_answer_that_is_not_bytes_is_an_error(answer, main):
    class Odd(Object):
        def read(self, size):
            return answer

    raised = []

    def read():
        with pytest.raises(forthwith.SourceError) as caught:
            forthwith.open(Odd())
        raised.append(caught.value)

    if main:
        read()
    else:
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    assert isinstance(raised[0].__cause__, TypeError)


@pytest.mark.parametrize("kind", [memoryview, bytearray, np.frombuffer])
def test_an_answer_may_be_any_bytes(kind):
    class Other(Object):
        def read(self, size):
            read = super().read(size)
            return np.frombuffer(read, np.uint8) if kind is np.frombuffer else kind(read)

    assert len(forthwith.open(Other())["events"].arrays(["nMuon"])) == 3600


def test_an_exception_of_an_object_is_the_cause_in_every_thread():
    class Broken(Exception):
        pass

    def fail():
        raise Broken("no more")

    thing = Object()
    tree = forthwith.open(thing)["events"]
    thing.before = fail
    causes = []

    def read():
        with pytest.raises(forthwith.SourceError, match="no more") as caught:
            tree["Muon_pt"].array(threads=3)
        causes.append(type(caught.value.__cause__))

    read()
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert causes == [Broken, Broken]


def test_an_object_that_is_let_go_is_let_go_by_the_thread_that_asked_it():
    thing = Object()
    gone = weakref.ref(thing)
    tree = forthwith.open(thing)["events"]
    thread = threading.Thread(target=tree["nMuon"].array)
    thread.start()
    thread.join()
    del thing, tree
    until = time.monotonic() + 5
    while gone() is not None and time.monotonic() < until:
        gc.collect()
        time.sleep(0.01)
    assert gone() is None


COMMON = f"""
import faulthandler, io, os, signal, sys, threading, time
import numpy as np, awkward, forthwith, forthwith._given, forthwith._writer
WHOLE = open({data("zmumu.root")!r}, "rb").read()
class Object:
    def __init__(self): self.at, self.before = 0, lambda: None
    def seek(self, to, whence=0):
        self.at = to + (len(WHOLE) if whence == 2 else 0)
        return self.at
    def read(self, size):
        self.before()
        return WHOLE[self.at:self.at + size]
def interrupted(act, after=0.3):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    def interrupt():
        global at
        time.sleep(after)
        at = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        act()
        print("nothing to interrupt", flush=True)
    except KeyboardInterrupt:
        print(time.monotonic() - at, flush=True)
    os._exit(0)
"""


def run(code, *arguments, seconds=30):
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMMON + code, *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert ran.returncode == 0, (ran.returncode, ran.stderr[-2000:])
    return ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("first", [0, 2])
def test_an_interrupt_ends_a_read_of_an_object_that_never_answers(threads, first):
    """Whichever thread it is that asks it."""
    ran = run(
        f"""
thing = Object()
tree = forthwith.open(thing)["events"]
left = [{first}]
def never():
    left[0] -= 1
    if left[0] < 0:
        time.sleep(3600)
thing.before = never
def act():
    while True:
        tree.arrays(threads={threads})
interrupted(act)
"""
    )
    assert float(ran) < SOON


@pytest.mark.parametrize("call", ["forthwith.open(out)", "forthwith.open(source)"])
def test_an_interrupt_ends_opening_what_never_answers(call):
    ran = run(
        f"""
source, sink = os.pipe()
class Pipe(Object):
    def read(self, size): return os.read(source, size)
out = Pipe()
source_file = os.fdopen(source, "rb", 0)
class Whole(Object):
    def read(self, size): return source_file.read(size)
interrupted(lambda: forthwith.open(Whole() if "source" in {call!r} else out))
"""
    )
    assert float(ran) < SOON


CALLS = {
    "arrays": "lambda: tree.arrays(threads=2)",
    "arrays of an object": "lambda: forthwith.open(io.BytesIO(WHOLE))['events'].arrays()",
    "iterate": "lambda: [None for _ in tree.iterate(step_size=100)]",
    "iterate over files": "lambda: [None for _ in forthwith.iterate(PATH + ':events', step_size=500)]",
    "a slow object": "lambda: slow['events'].arrays(threads=3)",
    "write_avro": "lambda: forthwith.write_avro(io.BytesIO(), LONG)",
    "write_parquet": "lambda: forthwith.write_parquet(io.BytesIO(), LONG)",
    "explain": "lambda: [branch.explain() for branch in tree.values()]",
}


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_an_interrupt_at_any_moment_is_heard_soon(call):
    ran = run(
        f"""
PATH = {data("zmumu.root")!r}
LONG = {{"x": np.arange(3_000_000), "s": ["a", "bc"] * 1_500_000}} if "write" in {call!r} else None
LONG = LONG and forthwith._given.given(LONG)
forthwith._writer._given = lambda array, schema=None: array
tree = forthwith.open(PATH)["events"]
thing = Object()
slow = forthwith.open(thing)
thing.before = lambda: time.sleep(0.01)
act = {CALLS[call]}
def again():
    while True:
        act()
import random
chance = random.Random(5)
signal.signal(signal.SIGINT, signal.default_int_handler)
worst = 0
def interrupt():
    global at
    for _ in range(5):
        ready.wait()
        ready.clear()
        time.sleep(chance.random() * 0.2)
        at = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)
ready = threading.Event()
threading.Thread(target=interrupt, daemon=True).start()
for _ in range(5):
    try:
        ready.set()
        again()
    except KeyboardInterrupt:
        worst = max(worst, time.monotonic() - at)
print(worst, flush=True)
os._exit(0)
""",
        seconds=60,
    )
    # A row group of Parquet is encoded in one piece.
    assert float(ran) < (1.0 if "parquet" in call else SOON)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["io.BytesIO(WHOLE)", "open(PATH, 'rb')", "Object()", "PATH"])
def test_a_process_forked_while_others_read_reads_on(kind):
    ran = run(
        f"""
PATH = {data("zmumu.root")!r}
file = forthwith.open({kind})
tree = file["events"]
stop = False
# A process that is forked while another thread imports a module cannot import it any more, whatever module it is.
tree.arrays(["nMuon"], threads=2)
def read():
    while not stop:
        # Small reads and more threads than processors: a fork finds the locks of the engine held.
        tree.arrays(["nMuon"], threads=3)
        tree.arrays(["Muon_pt", "nMuon"], threads=2)
threads = [threading.Thread(target=read, daemon=True) for _ in range(5)]
for thread in threads: thread.start()
late = 0
for n in range(30):
    time.sleep(0.003)
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(8, exit=True)
        own = forthwith.open(io.BytesIO(WHOLE))["events"]
        assert len(own["nMuon"].array()) == 3600
        if {kind != "open(PATH, 'rb')"}:
            # The position of an open file is shared with the parent, so that only the call is to end there.
            assert len(tree["nMuon"].array()) == 3600
        os._exit(0)
    until = time.monotonic() + 10
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            late += status != 0
            break
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            late += 1
            break
        time.sleep(0.001)
    if late:
        break
print(late, flush=True)
os._exit(0)
""",
        seconds=400,
    )
    assert ran == "0\n"


@pytest.mark.slow
@pytest.mark.parametrize("wait", [0, 0.002, 0.05, 3600])
def test_a_program_may_end_while_daemon_threads_read(wait):
    for _ in range(2):
        ran = run(
            f"""
thing = Object()
tree = forthwith.open(thing)["events"]
thing.before = lambda: time.sleep({wait}) if {wait} else None
def read():
    while True:
        tree.arrays(library="np", threads=2)
for _ in range(3):
    threading.Thread(target=read, daemon=True).start()
time.sleep(0.2)
print("ends")
"""
        )
        assert ran == "ends\n"


def test_many_threads_share_an_object():
    tree = forthwith.open(io.BytesIO(WHOLE))["events"]
    expected = tree["Muon_pt"].array().tolist()
    wrong = []

    def read():
        for _ in range(5):
            if forthwith.open(io.BytesIO(WHOLE))["events"]["Muon_pt"].array(threads=2).tolist() != expected:
                wrong.append(1)
            if tree["Muon_pt"].array(threads=2).tolist() != expected:
                wrong.append(1)

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
