"""Files written to what may refuse: objects that take less, full disks, pipes, sockets, other processes."""

import errno
import io
import multiprocessing
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import forthwith

ARRAY = {"a": np.arange(30_000), "b": np.random.default_rng(1).random(30_000)}
# A tenth of a second, and what a machine adds that does other things.
SOON = 0.25
ANY = random.Random(3)
WRITERS = {
    "avro": lambda to, array=ARRAY: forthwith.write_avro(to, array, marker=bytes(16)),
    "parquet": forthwith.write_parquet,
}


@pytest.fixture(params=WRITERS)
def write(request):
    return WRITERS[request.param]


@pytest.fixture
def whole(write):
    """The file as it is to be."""
    out = io.BytesIO()
    write(out, ARRAY)
    return out.getvalue()


class Taker:
    """Takes what a rule says of each piece, and says something, which need not be the same."""

    name = "taker"

    def __init__(self, takes, says=None):
        self.taken = b""
        self._takes, self._says = takes, says

    def write(self, data):
        assert isinstance(data, bytes)
        count = self._takes(len(data))
        self.taken += data[:count]
        return count if self._says is None else self._says(count)


@pytest.mark.parametrize(
    "takes",
    [
        lambda n: n,
        lambda n: max(1, n // 2),
        lambda n: min(n, 1000),
        lambda n: np.int64(max(1, n - 7)),
        lambda n: ANY.randint(1, n),
    ],
    ids=["all", "half", "a thousand", "a NumPy integer", "any number"],
)
def test_an_object_that_takes_less_is_asked_again(write, whole, takes):
    taker = Taker(takes)
    write(taker, ARRAY)
    assert taker.taken == whole


@pytest.mark.parametrize(
    ("says", "text"),
    [
        (lambda n: 0, "write took none of"),
        (lambda n: None, "write returned None"),
        (lambda n: -1, "write returned -1"),
        (lambda n: n + 1_000_000_000, "write returned 1000"),
        (lambda n: 2**70, f"write returned {2**70}"),
        (lambda n: "all", "an object of type str"),
        (lambda n: True, "an object of type bool"),
        (lambda n: 3.0, "an object of type float"),
    ],
)
@pytest.mark.parametrize("first", [0, 5000])
def test_a_count_that_cannot_be_is_an_error_that_says_how_much_was_taken(write, whole, says, text, first):
    taker = Taker(lambda n: min(n, 5000))
    taker._says = lambda n: n if len(taker.taken) <= first else says(n)
    with pytest.raises(forthwith.SourceError, match=text) as raised:
        write(taker, ARRAY)
    assert f"{first} bytes had been written before\n  in taker" in str(raised.value)
    assert raised.value.byte == first
    assert taker.taken == whole[: len(taker.taken)]


@pytest.mark.parametrize("after", [0, 1, 3])
def test_an_exception_of_write_is_the_cause(write, after):
    class Broken(Exception):
        pass

    def takes(n):
        if len(taker.taken) >= after * 1000:
            raise Broken("no more")
        return 1000

    taker = Taker(takes)
    with pytest.raises(forthwith.SourceError, match="write raised Broken: no more") as raised:
        write(taker, ARRAY)
    assert isinstance(raised.value.__cause__, Broken)
    assert raised.value.byte == after * 1000


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_is_passed_on(write, kind):
    def takes(n):
        raise kind

    with pytest.raises(kind):
        write(Taker(takes), ARRAY)


def test_what_was_taken_before_there_was_no_room_is_counted(write):
    def takes(n):
        error = BlockingIOError(errno.EAGAIN, "full")
        error.characters_written = 17
        raise error

    with pytest.raises(forthwith.SourceError, match="17 bytes had been written") as raised:
        write(Taker(takes), ARRAY)
    assert raised.value.errno == errno.EAGAIN


def test_files_of_text_and_objects_that_cannot_write_are_refused_before_anything_is_written(write, tmp_path):
    with open(tmp_path / "text", "w") as text:
        for refused in (io.StringIO(), text, 5, object(), b"name"):
            with pytest.raises(forthwith.RequestTypeError) as raised:
                write(refused, ARRAY)
            assert isinstance(raised.value, TypeError)
    assert os.path.getsize(tmp_path / "text") == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("buffering", [0, -1])
def test_a_full_disk_is_an_error(write, buffering):
    with pytest.raises(OSError) as raised, open("/dev/full", "wb", buffering=buffering) as out:
        write(out, ARRAY)
    assert raised.value.errno == errno.ENOSPC
    with pytest.raises(forthwith.SourceError) as raised:
        write("/dev/full", ARRAY)
    assert raised.value.errno == errno.ENOSPC


def test_a_file_that_may_not_grow_is_an_error_that_says_how_much_was_written(write, whole, tmp_path):
    """The system takes the first part of a piece, and says so; the next one it refuses."""
    code = f"""
import resource, signal, numpy as np, forthwith, io
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
with open({str(tmp_path / "cut")!r}, "wb", buffering=0) as out:
    try:
        forthwith._forthwith.give_all(out, "cut", bytes(300_000))
    except forthwith.SourceError as error:
        print(error.byte, error.errno)
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout.split() == ["100000", str(errno.EFBIG)]
    assert resource.getrlimit(resource.RLIMIT_FSIZE) != (100_000, 100_000)


def read_all(take, into):
    while piece := take(777):
        into.append(piece)


@pytest.mark.parametrize("way", ["raw pipe", "pipe", "socket"])
def test_pipes_and_sockets_get_all(write, whole, way):
    got = []
    if way == "socket":
        here, there = socket.socketpair()
        reader = threading.Thread(target=read_all, args=(there.recv, got))
        out = here.makefile("wb", buffering=0)
        here.close()
    else:
        source, sink = os.pipe()
        reader = threading.Thread(target=read_all, args=(lambda n: os.read(source, n), got))
        out = os.fdopen(sink, "wb", 0 if way == "raw pipe" else -1)
    reader.start()
    with out:
        write(out, ARRAY)
    reader.join()
    if way == "socket":
        there.close()
    else:
        os.close(source)
    assert b"".join(got) == whole


def test_a_pipe_that_does_not_block_and_is_full_is_an_error(write):
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    with open(sink, "wb", buffering=0) as out, pytest.raises(forthwith.SourceError, match="None") as raised:
        write(out, ARRAY)
    assert len(os.read(source, 1 << 20)) == raised.value.byte > 0
    os.close(source)


def test_a_named_pipe_gets_all(write, whole, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with open(tmp_path / "out", "wb") as out:
        reader = subprocess.Popen(["cat", pipe], stdout=out)
        write(pipe, ARRAY)
        reader.wait(30)
    assert (tmp_path / "out").read_bytes() == whole


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, forthwith
forthwith.recreate, forthwith.write_avro  # imported before the clock runs
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt():
    time.sleep(0.3)
    global at
    at = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    if sys.argv[2] == "full":
        # Somebody has it open and reads nothing.
        kept = os.open(sys.argv[1], os.O_RDWR)
    if sys.argv[3] == "avro":
        forthwith.write_avro(sys.argv[1], {"a": np.zeros(100_000)})
    else:
        columns = {f"c{at}": np.random.default_rng(at).normal(size=500_000) for at in range(4)}
        with forthwith.recreate(sys.argv[1], compression="lz4") as file:
            getattr(file, sys.argv[3])("t", columns, threads=4)
except KeyboardInterrupt:
    print(time.monotonic() - at)
"""


@pytest.mark.parametrize(
    ("state", "what"), [("alone", "avro"), ("full", "avro"), ("full", "mktree"), ("full", "mkrntuple")]
)
def test_an_interrupt_ends_waiting_for_a_named_pipe(tmp_path, state, what):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", INTERRUPTED, pipe, state, what],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert float(ran.stdout) < SOON


def test_a_writer_that_is_called_back_says_so_instead_of_waiting_for_itself(tmp_path):
    """A handler of a signal that uses the writer in whose call it runs."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    kept = os.open(pipe, os.O_RDWR)
    writer = forthwith.avro_writer(pipe)
    heard = []

    def handler(*_):
        with pytest.raises(forthwith.RequestError, match="in use by code that it has called"):
            writer.write({"a": np.zeros(1)})
        heard.append(1)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            writer.write({"a": np.zeros(200_000)})
    finally:
        signal.signal(signal.SIGALRM, before)
        writer.abandon()
        os.close(kept)
    assert heard


ENDS = {
    "sys.exit": "raise SystemExit",
    "exception": "raise ValueError",
    "del": "del writer; gc.collect(); os._exit(0)",
    "abandon": "writer.abandon(); del writer; gc.collect(); os._exit(0)",
    "return": "pass",
}


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("made", ["avro", "parquet"])
def test_a_forked_child_does_not_touch_the_file_of_its_parent(tmp_path, made, end):
    code = f"""
import gc, os, sys, numpy as np, forthwith
name = {str(tmp_path / "x")!r} + "." + {made!r}
writer = forthwith.{made}_writer(name)
writer.write({{"a": np.arange(1000)}})
child = os.fork()
if child == 0:
    sys.stderr = open(os.devnull, "w")
    {"with writer: " if end in ("sys.exit", "exception") else ""}{ENDS[end]}
    sys.exit(0)
os.waitpid(child, 0)
writer.write({{"a": np.arange(1000)}})
writer.close()
print(len(forthwith.open(name).arrays()), sorted(os.listdir({str(tmp_path)!r})))
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.stdout == f"2000 ['x.{made}']\n", ran.stderr


def test_a_forked_child_that_uses_the_writer_is_told(tmp_path):
    writer = forthwith.avro_writer(tmp_path / "x.avro")
    writer.write(ARRAY)
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        said = b""
        for act in (lambda: writer.write(ARRAY), writer.close):
            try:
                act()
            except forthwith.RequestError as error:
                said += str(error).encode() + b"\n"
        os.write(sink, said)
        os._exit(0)
    os.waitpid(child, 0)
    os.close(sink)
    with open(source, "rb") as told:
        lines = told.read().decode().splitlines()
    assert len(lines) == 2
    assert all(f"belongs to process {os.getpid()}" in line for line in lines)
    writer.close()
    assert len(forthwith.open(tmp_path / "x.avro").arrays()) == 30_000


def _length(_):
    return os.getpid()


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_a_pool_of_processes_leaves_an_open_writer_alone(tmp_path, method):
    with forthwith.avro_writer(tmp_path / "x.avro") as writer:
        writer.write(ARRAY)
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert os.getpid() not in pool.map(_length, range(4))
        writer.write(ARRAY)
    assert len(forthwith.open(tmp_path / "x.avro").arrays()) == 60_000


def test_threads_write_in_turn(tmp_path):
    with forthwith.avro_writer(tmp_path / "x.avro") as writer:
        threads = [threading.Thread(target=lambda: writer.write(ARRAY)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(forthwith.open(tmp_path / "x.avro").arrays()) == 8 * 30_000
