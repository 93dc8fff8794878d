"""Pipes whose values are read as they arrive: messages of ProtoBuf, and JSON by a schema."""

import gzip
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import zlib

import pyarrow as pa
import pyarrow.parquet
import pytest

import forthwith

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")

SCHEMA = "syntax = 'proto3'; message Hit { int64 n = 1; string text = 2; repeated sint32 codes = 3; }"
TYPE = "{n: int64, text: string, codes: var * int32}"
COMMAND = [sys.executable, "-m", "forthwith"]


def varint(number):
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def row(number):
    return {"n": number, "text": f"row {number}", "codes": list(range(number % 4))}


def message(number):
    """A message with its length before it."""
    codes, text = bytes(2 * code for code in range(number % 4)), f"row {number}".encode()
    body = b"\x08" + varint(number) if number else b""
    body += b"\x12" + varint(len(text)) + text
    body += b"\x1a" + varint(len(codes)) + codes if codes else b""
    return varint(len(body)) + body


def line(number):
    return json.dumps(row(number)).encode() + b"\n"


KINDS = {
    "events.pb": (message, {"schema": SCHEMA}),
    "events.jsonl": (line, {"schema": TYPE}),
    "events.json": (line, {"schema": TYPE}),
}
EVERY = pytest.mark.parametrize("name", KINDS)


class Pipe:
    """A pipe with a name, and a thread that writes to it: bytes, and functions that are called between."""

    def __init__(self, folder, name, parts):
        self.path = folder / name
        os.mkfifo(self.path)
        self.broken = self.waited_too_long = False
        self.thread = threading.Thread(target=self._write, args=(parts,), daemon=True)
        self.thread.start()

    def _write(self, parts):
        try:
            with open(self.path, "wb", buffering=0) as pipe:
                for part in parts:
                    if callable(part):
                        # A wait that ends by its time is a reader that waited for more than it needed.
                        self.waited_too_long |= part() is False
                        continue
                    at = 0
                    while at < len(part):
                        at += pipe.write(part[at:])
        except BrokenPipeError:
            self.broken = True


@EVERY
def test_steps_are_delivered_as_their_entries_arrive(tmp_path, name):
    """The rest is written when the first step was read: a reader that waited for more would wait for ever."""
    write, options = KINDS[name]
    goes_on = threading.Event()
    first = b"".join(map(write, range(4))) + (b"{" if name.endswith(".json") else b"")
    rest = b"".join(map(write, range(4, 11)))[1 if name.endswith(".json") else 0 :]
    pipe = Pipe(tmp_path, name, [first[:9], first[9:], lambda: goes_on.wait(60), rest])
    with forthwith.open(pipe.path, **options) as table:
        assert table.keys() == ["n", "text", "codes"]
        steps = table.iterate(step_size=2)
        assert next(steps).tolist() == [row(0), row(1)]
        assert next(steps).tolist() == [row(2), row(3)]
        assert next(table["n"].iterate(step_size=3)).n.tolist() == [0, 1, 2]
        goes_on.set()
        assert not pipe.waited_too_long
        assert [entry["n"] for step in steps for entry in step.tolist()] == list(range(4, 11))
        # A short stream is kept.
        assert table.num_entries == 11
        assert table.arrays().tolist() == [row(number) for number in range(11)]


@pytest.mark.parametrize("name", KINDS)
def test_a_long_entry_is_delivered_with_its_last_byte(tmp_path, name):
    """Also if it is longer than what is read at once."""
    write, options = KINDS[name]
    goes_on = threading.Event()
    text = "y" * 600_000
    if name.endswith(".pb"):
        body = b"\x12" + varint(len(text)) + text.encode()
        long = varint(len(body)) + body
    else:
        long = json.dumps({"n": 0, "text": text, "codes": []}).encode() + b"\n"
    end = [b" "] if name.endswith(".json") else []
    pipe = Pipe(tmp_path, name, [write(1), long, *end, lambda: goes_on.wait(60), write(2)])
    with forthwith.open(pipe.path, **options) as table:
        assert "a stream" in repr(table)
        assert table["n"].typename == "int64"
        steps = table.iterate(["text"], step_size=1)
        assert next(steps).text.tolist() == ["row 1"]
        assert next(steps).text.tolist() == [text]
        goes_on.set()
        assert not pipe.waited_too_long
        assert next(steps).text.tolist() == ["row 2"]


def test_messages_may_begin_as_gzip_does(tmp_path):
    """The length 35615 is 1f 8b 00 00."""
    body = b"\x12" + varint(35611) + b"z" * 35611
    assert len(body) == 35615
    data = len(body).to_bytes(4, "little") + body
    for name in ("events.pb", "events"):
        pipe = Pipe(tmp_path, name, [data])
        options = {"format": "pb", "framing": "fixed32", "schema": SCHEMA}
        with forthwith.open(pipe.path, **options) as table:
            assert [len(text) for text in table.arrays().text.tolist()] == [35611]


def test_lines_are_lines_if_the_name_or_the_format_says_so(tmp_path):
    text = "[1, 2]\n[3]\n"
    for name, more in (("a.jsonl", {}), ("a.jsonl", {"format": "json"}), ("a.json", {"format": "jsonl"})):
        path = tmp_path / name
        path.write_text(text)
        with forthwith.open(path, **more) as table:
            assert table.arrays().value.tolist() == [[1, 2], [3]]


@EVERY
@pytest.mark.parametrize("signal_of", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_conversion_that_waits_for_a_stream(tmp_path, name, signal_of):
    write, options = KINDS[name]
    out = tmp_path / "out.parquet"
    given = [
        part
        for key, value in {"format": name.rpartition(".")[2], **options}.items()
        for part in ("--open", f"{key}={value}")
    ]
    with subprocess.Popen(
        [*COMMAND, "convert", "-", out, *given], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write(b"".join(map(write, range(5))))
        process.stdin.flush()
        for _ in range(600):
            if list(tmp_path.iterdir()):
                break
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(signal_of)
        assert process.wait(20) != 0
    assert not list(tmp_path.iterdir())


def test_a_sample_of_a_stream_reads_it_twice(tmp_path):
    """Also of one that is longer than what is kept in memory."""
    text = "w" * 100_000
    command = [*COMMAND, "sample", "-", "-n", "3", "--where", "n > 5", "-b", "n", "--open", "format=jsonl"]
    with subprocess.Popen(
        [*command, "--open", "schema={n: int64, text: string}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        for number in range(900):
            process.stdin.write(json.dumps({"n": number, "text": text}).encode() + b"\n")
        process.stdin.close()
        assert len(process.stdout.read().splitlines()) >= 3
        assert process.wait(60) == 0


@EVERY
@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_compressed_streams_are_read_as_they_arrive(tmp_path, name, ending):
    write, options = KINDS[name]
    goes_on = threading.Event()
    first, rest = (b"".join(map(write, numbers)) for numbers in (range(5), range(5, 3000)))
    if ending == "gz":
        deflate = zlib.compressobj(wbits=31)
        first = deflate.compress(first) + deflate.flush(zlib.Z_SYNC_FLUSH)
        rest = deflate.compress(rest) + deflate.flush()
    else:
        first, rest = (pa.compress(part, "zstd", asbytes=True) for part in (first, rest))
    pipe = Pipe(tmp_path, f"{name}.{ending}", [first, lambda: goes_on.wait(60), rest])
    with forthwith.open(pipe.path, **options) as table:
        steps = table.iterate(["n"], step_size=4)
        assert next(steps).n.tolist() == [0, 1, 2, 3]
        goes_on.set()
        assert not pipe.waited_too_long
        assert [number for step in steps for number in step.n.tolist()] == list(range(4, 3000))


@EVERY
def test_a_damaged_compressed_stream_is_an_error_where_it_is(tmp_path, name):
    write, options = KINDS[name]
    stored = gzip.compress(b"".join(map(write, range(200_000))))
    pipe = Pipe(tmp_path, f"{name}.gz", [stored[: len(stored) // 2]])
    with forthwith.open(pipe.path, **options) as table:
        read = []
        with pytest.raises(forthwith.ForthwithError, match="damaged gzip stream"):
            read += (number for step in table.iterate(["n"], step_size=1000) for number in step.n.tolist())
        assert len(read) > 40_000
        assert read == list(range(len(read)))


@EVERY
def test_a_long_stream_is_read_once(tmp_path, name):
    write, options = KINDS[name]
    piece = b"".join(map(write, range(1000, 51_000)))
    count = (150 << 20) // len(piece)
    pipe = Pipe(tmp_path, name, [piece] * count)
    with forthwith.open(pipe.path, **options) as table:
        total = 0
        for step, report in table.iterate(["n"], step_size="8 MB", report=True):
            assert step.n[0] == 1000 + total % 50_000
            total += len(step)
            assert report.tree_entry_stop == total
        assert total == table.num_entries == 50_000 * count
        with pytest.raises(forthwith.ForthwithError, match="a stream is read once, forwards"):
            table.arrays(["n"])
        last = table.arrays(["n"], entry_start=total - 2)
        assert last.n.tolist() == [50_998, 50_999]


@EVERY
def test_all_entries_of_a_stream_can_be_read_again_where_nothing_was_dropped(tmp_path, name):
    write, options = KINDS[name]
    piece = b"".join(map(write, range(1000, 51_000)))
    count = (100 << 20) // len(piece)
    pipe = Pipe(tmp_path, name, [piece] * count)
    with forthwith.open(pipe.path, **options) as table:
        assert len(table.arrays(["n"])) == table.num_entries == 50_000 * count
        assert sum(len(step) for step in table.iterate(["n"], step_size=100_000)) == 50_000 * count
        assert table.arrays(["n"], entry_stop=1).n.tolist() == [1000]


def test_a_damaged_line_is_one_lost_entry(tmp_path):
    lines = [line(number) for number in range(30)]
    lines[7], lines[20] = b'{"n": 7, "te\n', b'{"n": "no", "text": "", "codes": []}\n'
    pipe = Pipe(tmp_path, "a.jsonl", lines)
    with forthwith.open(pipe.path, schema=TYPE) as table:
        steps = table.iterate(["n"], step_size=6, errors="skip", report=True)
        read = [(step.n.tolist(), [loss.start for loss in report.lost]) for step, report in steps]
    assert [number for numbers, _ in read for number in numbers] == [n for n in range(30) if n not in (7, 20)]
    assert [start for _, lost in read for start in lost] == [7, 20]


def test_a_message_that_is_cut_is_the_last_entry(tmp_path):
    pipe = Pipe(tmp_path, "a.pb", [*map(message, range(10)), message(10)[:-2]])
    with forthwith.open(pipe.path, schema=SCHEMA) as table:
        steps = table.iterate(["n"], step_size=4)
        assert next(steps).n.tolist() == [0, 1, 2, 3]
        assert next(steps).n.tolist() == [4, 5, 6, 7]
        with pytest.raises(forthwith.DamagedFileError, match="exceeds the"):
            next(steps)
        assert table.arrays(["n"], entry_stop=10).n.tolist() == list(range(10))


def test_rows_of_an_outer_message_arrive_one_by_one(tmp_path):
    outer = "syntax = 'proto3'; message All { repeated Hit hits = 3; } message Hit { int64 n = 1; string text = 2; }"
    goes_on = threading.Event()
    parts = [b"\x1a" + message(number) for number in range(1, 9)]
    pipe = Pipe(tmp_path, "a.pb", [*parts[:3], b"\x08\x05", lambda: goes_on.wait(60), *parts[3:]])
    with forthwith.open(pipe.path, schema=outer, message="All", rows="hits") as table:
        steps = table.iterate(["n"], step_size=3)
        assert next(steps).n.tolist() == [1, 2, 3]
        goes_on.set()
        assert not pipe.waited_too_long
        assert [step.n.tolist() for step in steps] == [[4, 5, 6], [7, 8]]


def test_fixed_lengths_and_hepmc3s_digests(tmp_path):
    def fixed(number):
        body = message(number)[1:]
        return len(body).to_bytes(4, "little") + body

    pipe = Pipe(tmp_path, "a.pb", map(fixed, range(1, 20)))
    with forthwith.open(pipe.path, schema=SCHEMA, framing="fixed32") as table:
        assert [len(step) for step in table.iterate(step_size=8)] == [8, 8, 3]
        assert table.arrays().n.tolist() == list(range(1, 20))


def test_a_stream_without_a_schema_is_read_to_its_end(tmp_path):
    pipe = Pipe(tmp_path, "a.jsonl", map(line, range(1000)))
    with forthwith.open(pipe.path) as table:
        assert table.num_entries == 1000
        assert table.arrays().tolist() == [row(number) for number in range(1000)]


def test_other_formats_are_read_whole(tmp_path):
    forthwith.write_parquet(tmp_path / "a.parquet", {"x": [1, 2, 3]})
    pipe = Pipe(tmp_path, "b.parquet", [(tmp_path / "a.parquet").read_bytes()])
    with forthwith.open(pipe.path) as table:
        assert table.arrays().x.tolist() == [1, 2, 3]


def test_memory_does_not_grow_with_a_stream(tmp_path):
    """The process reads 400 MB of text, by steps, and may not take much more after the first 150 MB."""
    piece = b"".join(map(line, range(50_000)))
    script = textwrap.dedent(
        f"""
        import resource, forthwith
        read, early = 0, None
        with forthwith.open("-", format="jsonl", schema="{TYPE}", threads=1) as table:
            for step in table.iterate(["n", "codes"], step_size="4 MB"):
                read += len(step)
                if early is None and read > {150_000_000 // len(piece) * 50_000}:
                    early = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(read, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - early)
        """
    )
    count = 400_000_000 // len(piece)
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for _ in range(count):
            process.stdin.write(piece)
        process.stdin.close()
        read, grown = map(int, process.stdout.read().split())
        assert process.wait() == 0
        assert read == 50_000 * count
        assert grown < 40 << 10, f"{grown >> 10} MB more"


@EVERY
def test_the_command_converts_a_stream(tmp_path, name):
    write, options = KINDS[name]
    words = [word for key, value in options.items() for word in ("--open", f"{key}={value}")]
    ending = name.rpartition(".")[2]
    stream = b"".join(map(write, range(20_000)))
    line = [*COMMAND, "convert", "-", tmp_path / "out.parquet", "--open", f"format={ending}", *words]
    done = subprocess.run(line, check=False, input=stream, capture_output=True)
    assert done.returncode == 0, done.stderr
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table["n"].to_pylist() == list(range(20_000))
    assert table.slice(7, 2).to_pylist() == [row(7), row(8)]


@EVERY
@pytest.mark.parametrize("verb", [["head", "-n", "3"], ["cat", "-n", "3"]])
def test_the_command_shows_the_first_entries_before_the_stream_ends(name, verb):
    """The writer keeps the pipe open until the command has ended."""
    write, options = KINDS[name]
    words = [word for key, value in options.items() for word in ("--open", f"{key}={value}")]
    line = [*COMMAND, *verb, "-", "--open", f"format={name.rpartition('.')[2]}", *words]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"".join(map(write, range(5))))
        process.stdin.flush()
        assert process.wait(timeout=60) == 0, process.stderr.read()
        said = process.stdout.read().decode()
        assert "row 2" in said
        assert "row 3" not in said
        process.stdin.close()


def test_an_interrupt_ends_the_wait_for_a_stream(tmp_path):
    script = textwrap.dedent(
        f"""
        import forthwith, signal
        class Rung(Exception): pass
        def ring(*_): raise Rung
        signal.signal(signal.SIGALRM, ring)
        with forthwith.open("-", format="jsonl", schema="{TYPE}") as table:
            steps = table.iterate(["n"], step_size=2)
            print(next(steps).n.tolist(), flush=True)
            signal.alarm(1)
            try:
                next(steps)
            except Rung:
                print("rung")
        """
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(line(0) + line(1) + line(2))
        process.stdin.flush()
        assert process.stdout.read().decode().split("\n")[:2] == ["[0, 1]", "rung"]
        assert process.wait() == 0
        process.stdin.close()
