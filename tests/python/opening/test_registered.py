"""Formats that users register: every way of reading them, and what their functions and files may do wrong."""

import io
import multiprocessing
import os
import pickle
import random
import signal
import struct
import subprocess
import sys
import threading
import time

import awkward as ak
import numpy as np
import pytest
from conftest import DATA
from registered import PULSES, PULSES_TYPE, Maker, Written, name, opened, pulses, registered

import forthwith
from forthwith._forthwith import expand_files

# A little more than an answer to Ctrl-C may take, on a machine that does other things as well.
SOON = 1.0
ENDLESS = "input data output x int8 begin again"


@pytest.fixture(params=["whole", "even", "pair", "listed"])
def pulse_tree(request, tmp_path):
    """A thousand pulses, in a file that is divided in this way."""

    def listed(file):
        size = file.seek(0, 2)
        return ((start, min(start + 600, size), (min(start + 600, size) - start) // 6) for start in range(4, size, 600))

    blocks = {"whole": None, "even": 6, "pair": (60, 10), "listed": listed}[request.param]
    path = tmp_path / "run.dat"
    path.write_bytes(pulses(1000, b"PULS"))
    with registered(PULSES, PULSES_TYPE, recognise=b"PULS", blocks=blocks), forthwith.open(path) as tree:
        yield tree


def expected():
    return ak.Array({"channel": np.arange(1000, dtype=np.uint16), "charge": np.arange(1000, dtype=np.float32) / 2})


# ---- all ways of reading


def test_everything_that_reads_a_table_reads_it(pulse_tree, tmp_path):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    tree, whole = pulse_tree, expected()
    assert tree.keys() == ["channel", "charge"]
    assert tree.num_entries == 1000
    assert ak.array_equal(tree.arrays(), whole)
    for threads in (1, 3):
        assert ak.array_equal(tree.arrays(threads=threads), whole)
    for start, stop in [(0, 1), (17, 18), (95, 105), (999, 1000), (5, 5), (0, 1000)]:
        assert ak.array_equal(tree.arrays(entry_start=start, entry_stop=stop), whole[start:stop])
    assert ak.array_equal(tree["charge"].array(), whole.charge)
    for step in (7, 300, 2000, "1 kB"):
        assert ak.array_equal(ak.concatenate(list(tree.iterate(step_size=step))), whole)
    assert np.array_equal(np.asarray(tree["channel"]), whole.channel)
    assert pa.table(tree).to_pylist() == whole.to_list()
    assert pl.DataFrame(tree).to_dicts() == whole.to_list()
    assert isinstance(tree.arrays(library="pd"), pd.DataFrame)
    assert ak.array_equal(ak.Array({n: tree[n].array(library="np") for n in tree}), whole)
    out = tmp_path / "out.parquet"
    forthwith.write_parquet(out, tree)
    assert ak.array_equal(forthwith.open(out).arrays(), whole)
    assert "data f-> charge" in tree.explain()
    assert "registered program" in tree.explain()
    shown = io.StringIO()
    tree.show(stream=shown)
    assert "float32" in shown.getvalue()
    assert ak.array_equal(tree.select(["charge"]).arrays().charge, whole.charge)


@pytest.mark.parametrize("source", ["auto", "map", "pread", "object"])
def test_every_source_is_read(source, tmp_path):
    path = tmp_path / "run.pulses"
    path.write_bytes(pulses(1000))
    with registered(PULSES, PULSES_TYPE, recognise=".pulses", blocks=6):
        if source == "object":
            with open(path, "rb") as file:
                assert ak.array_equal(forthwith.open(file).arrays(), expected())
        else:
            assert ak.array_equal(forthwith.open(path, source=source).arrays(), expected())


def test_many_files_are_one_table(tmp_path):
    for number in range(3):
        (tmp_path / f"run{number}.pulses").write_bytes(pulses(10))
    (tmp_path / "notes.txt").write_text("no pulses")
    with registered(PULSES, PULSES_TYPE, recognise=".pulses"):
        for which in (str(tmp_path), str(tmp_path / "*.pulses")):
            chain = forthwith.open(which)
            assert chain.num_entries == 30
            assert chain.arrays().channel.to_list() == 3 * list(range(10))
    with pytest.raises(forthwith.ForthwithError, match="no file in"):
        forthwith.open(str(tmp_path))


def test_values_that_are_no_records_are_one_column():
    with registered("input data output x int16 begin data end invert while data h-> x repeat", "int16", recognise=b"V"):
        assert opened(b"V\1\0\2\0").arrays().to_list() == [{"value": 1}, {"value": 2}]


def test_a_machine_is_a_program_and_a_form_a_type():
    machine = forthwith.forth.ForthMachine64(PULSES)
    machine.run({"data": pulses(3)})
    for of in (PULSES_TYPE, machine.array(PULSES_TYPE).type, machine.array(PULSES_TYPE).layout.form):
        with registered(machine, of, recognise=b"PULS"):
            assert ak.array_equal(opened(pulses(3, b"PULS")).arrays(), machine.array(PULSES_TYPE))
    with pytest.raises(forthwith.RequestError, match="64 bits"):
        forthwith.register_format("x", forthwith.forth.ForthMachine32(PULSES), PULSES_TYPE, recognise=b"PULS")


# ---- random types, compared with the values that were written and with the machine itself


def same(found, wanted):
    """Whether an array has these values: of bytes and text, and of records in unions without other fields."""
    return ak.to_list(found) == wanted


@pytest.mark.parametrize("seed", range(int(os.environ.get("FORTHWITH_REGISTERED", "40"))))
def test_random_types_are_read_as_they_were_written(seed):
    maker, draw = Maker(seed), random.Random(~seed)
    sizes = [draw.choice([0, 1, 2, 5, 40]) for _ in range(draw.randint(1, 6))]
    values, blocks, flat = [], [], b""
    for size in sizes:
        made = [maker.value() for _ in range(size)]
        values += [one for one, _ in made]
        blocks.append((size, b"".join(raw for _, raw in made)))
        flat += blocks[-1][1]
    machine = forthwith.forth.ForthMachine64(maker.program)
    machine.run({"data": flat})
    by_hand = machine.array(maker.type)
    assert same(by_hand, values)
    is_record = maker.type.startswith("{")
    with (
        registered(maker.program, maker.type, recognise=b"RFLA") as flat_format,
        registered(maker.counted, maker.type, recognise=b"RBLO", blocks=Written.blocks),
        registered(maker.program, maker.type, recognise=b"RLOO", blocks=Written.blocks),
    ):
        for data in (b"RFLA" + flat, Written(b"RBLO", blocks).data, Written(b"RLOO", blocks).data):
            tree = opened(data)

            def entries(array):
                return array if is_record else array["value"]

            assert tree.num_entries == len(values)
            for threads in (1, 4):
                found = entries(tree.arrays(threads=threads))
                assert same(found, values), (flat_format, threads)
                assert is_record or found.type == by_hand.type or "?" in maker.type
            for step in (1 + draw.randrange(9), 64):
                parts = [entries(part) for part in tree.iterate(step_size=step)]
                assert [one for part in parts for one in ak.to_list(part)] == values
            start, stop = sorted(draw.randint(0, len(values)) for _ in range(2))
            assert same(entries(tree.arrays(entry_start=start, entry_stop=stop)), values[start:stop])
            if is_record:
                some = draw.choice(tree.keys())
                assert same(tree[some].array(), [value[some] for value in values])


# ---- which files are of it


def test_files_are_recognised_by_bytes_endings_and_functions(tmp_path):
    def seen(head, file):
        asked.append((head[:3], file))
        return b"yes" in head

    asked = []
    with registered(PULSES, PULSES_TYPE, recognise=[".one", seen]) as own:
        for file, data, is_of in [("a.one", b"yes!!!", True), ("a.one", b"no!!!!", False), ("a.two", b"yes!!!", False)]:
            path = tmp_path / file
            path.write_bytes(data)
            if is_of:
                assert forthwith.open(path).file.format == own
            else:
                with pytest.raises(forthwith.DamagedFileError, match="not a"):
                    forthwith.open(path)
        # Once by the name, and for what it refused once more by its bytes.
        assert set(asked) == {(b"yes", str(tmp_path / "a.one")), (b"no!", str(tmp_path / "a.one"))}
    with registered(PULSES, PULSES_TYPE, recognise=lambda head, file: np.bool_(len(head) == 6)):
        assert opened(pulses(1)).num_entries == 1


@pytest.mark.parametrize(
    ("recognise", "said"),
    [
        (lambda head, file: head[99], "raised IndexError: index out of range"),
        (lambda head: True, "raised TypeError"),
        (lambda head, file: None, "answered None instead of True or False"),
        (lambda head, file: "yes", "answered str 'yes' instead of True or False"),
        (lambda head, file: forthwith.open(file), "its own function opens a file that may be of this format"),
    ],
)
def test_a_function_that_recognises_nonsense_is_an_error(recognise, said, tmp_path):
    path = tmp_path / "file.dat"
    path.write_bytes(b"data")
    with registered(PULSES, PULSES_TYPE, recognise=recognise) as own:
        for look in (lambda: forthwith.open(path), lambda: expand_files([tmp_path])):
            with pytest.raises(forthwith.RequestError) as caught:
                look()
            assert said in str(caught.value)
            assert own in str(caught.value)
            assert str(path) in str(caught.value)
        # It is not asked about files that others recognise.
        assert forthwith.open(DATA / "zmumu.root").format == "ROOT"
    with pytest.raises(forthwith.DamagedFileError) as caught:
        forthwith.open(path)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"recognise": []}, forthwith.RequestError, "an extension, magic bytes or a function must say"),
        ({"recognise": "evt"}, forthwith.RequestError, "no ending of names"),
        ({"recognise": ".tar.gz"}, forthwith.RequestError, "is not an extension"),
        ({"recognise": b""}, forthwith.RequestError, "not empty"),
        ({"recognise": [b"A", b"B"]}, forthwith.RequestError, "one text of magic bytes"),
        ({"recognise": 5}, forthwith.RequestError, "not 5"),
        ({"recognise": b"x" * 5000}, forthwith.RequestError, "more than 4096"),
        ({"recognise": ".Parquet"}, forthwith.RequestError, "the extension .parquet belongs to Parquet files"),
        ({"name": "root"}, forthwith.RequestError, "there is a format of that name"),
        ({"name": ""}, forthwith.RequestError, "has a name"),
        ({"name": 5}, forthwith.RequestTypeError, "is text"),
        ({"header": -1}, forthwith.RequestTypeError, "header is a number"),
        ({"header": 3, "blocks": lambda file: []}, forthwith.RequestError, "without listed blocks"),
        ({"blocks": 0}, forthwith.RequestTypeError, "bytes of an entry"),
        ({"blocks": (5, 0)}, forthwith.RequestError, "blocks of no bytes or no entries"),
        ({"blocks": (5, -1)}, forthwith.RequestTypeError, "a pair of bytes and entries"),
        ({"blocks": 1 << 70}, forthwith.RequestTypeError, "bytes of an entry"),
        ({"blocks": "even"}, forthwith.RequestTypeError, "not 'even'"),
        ({"program": 5}, forthwith.RequestTypeError, "a program is text"),
        ({"program": "input data nonsense"}, forthwith.forth.ForthCompileError, "nonsense"),
        ({"program": "output x int8", "type": "int8"}, forthwith.RequestError, "one input, `data`; this one has none"),
        ({"type": "{a: uint16"}, forthwith.RequestError, "{a: uint16"),
        ({"type": "{a: uint16}"}, forthwith.RequestError, "there is charge float32 besides"),
        ({"type": "{a: uint16, a: float32}"}, forthwith.RequestError, ""),
        ({"type": 5}, TypeError, "expected a type or Form"),
        (
            {"program": "input data output x float32", "type": "complex64"},
            forthwith.UnsupportedError,
            "complex64 in tables",
        ),
        ({"program": "input data output x int64", "type": "datetime64[s]"}, forthwith.UnsupportedError, "datetime64"),
    ],
)
def test_what_makes_no_sense_is_refused_when_it_is_registered(given, error, said):
    given = {"name": name(), "program": PULSES, "type": PULSES_TYPE, "recognise": b"PULS", **given}
    with pytest.raises(error) as caught:
        forthwith.register_format(given.pop("name"), given.pop("program"), given.pop("type"), **given)
    assert said in str(caught.value)


def test_clashes_are_refused_unless_asked_for(tmp_path):
    path = tmp_path / "some.parquet"
    path.write_bytes(pulses(2))
    with registered(PULSES, PULSES_TYPE, recognise=b"PULS") as own:
        with pytest.raises(forthwith.RequestError, match="registered already"):
            forthwith.register_format(own, PULSES, PULSES_TYPE, recognise=".puls")
        before = opened(pulses(1, b"PULS"))
        forthwith.register_format(own, PULSES, PULSES_TYPE, recognise=".parquet", replace=True)
        assert forthwith.open(path).num_entries == 2
        # Files that were open stay as they were.
        assert before.arrays().channel.to_list() == [0]
    assert before.num_entries == 1
    with pytest.raises(forthwith.DamagedFileError):
        forthwith.open(path)
    with pytest.raises(forthwith.RequestError, match="registered"):
        forthwith.unregister_format(own)


# ---- functions that list blocks


@pytest.mark.parametrize(
    ("blocks", "error", "said"),
    [
        (
            lambda file: struct.unpack("<I", file.read(9)[:2]),
            forthwith.DamagedFileError,
            "struct.error: unpack requires",
        ),
        (lambda file: None, forthwith.RequestError, "answered None instead of blocks"),
        (lambda file: 5, forthwith.RequestError, "answered int 5 instead of blocks"),
        (lambda file: ["abc"], forthwith.RequestError, "gives 'abc', which are not three numbers"),
        (lambda file: [(1, 2)], forthwith.RequestError, "gives (1, 2) instead of (start, stop, entries)"),
        (lambda file: [(4, 10, 1), (1, 2, -3)], forthwith.RequestError, "block 1"),
        (lambda file: [(1.0, 2, 3)], forthwith.RequestError, "three numbers"),
        (lambda file: [(0, 1 << 64, 3)], forthwith.RequestError, "three numbers"),
        (lambda file: [(9, 4, 3)], forthwith.DamagedFileError, "from byte 9 to 4 of 64"),
        (lambda file: [(4, 1 << 40, 3)], forthwith.DamagedFileError, "from byte 4 to 1099511627776 of 64"),
        (lambda file: [(4, 5, 1 << 62)] * 3, forthwith.DamagedFileError, "block 1"),
        (
            lambda file: iter(lambda: (0, 0, 0), None),
            forthwith.RequestError,
            "gives more than 4160 blocks, of a file of 64",
        ),
        (lambda file: forthwith.open(file.name), forthwith.DamagedFileError, "its own function opens"),
        (lambda file: file.seek(-5), forthwith.DamagedFileError, "negative seek"),
        (dict.fromkeys, forthwith.RequestError, "block 0"),
        (len, forthwith.DamagedFileError, "TypeError"),
    ],
)
def test_functions_that_list_nonsense_are_errors(blocks, error, said, tmp_path):
    path = tmp_path / "file.dat"
    path.write_bytes(pulses(10, b"PULS"))
    with registered(PULSES, PULSES_TYPE, recognise=b"PULS", blocks=blocks) as own:
        with pytest.raises(error) as caught:
            forthwith.open(path)
        assert type(caught.value) is error
        assert said in str(caught.value)
        assert own in str(caught.value)
        assert str(path) in str(caught.value)
        assert caught.value.file == str(path)


def test_the_file_of_a_function_is_a_file_and_only_there_while_it_runs():
    def blocks(file):
        kept.append(file)
        assert file.name
        assert file.readable()
        assert file.seekable()
        assert not file.writable()
        assert file.read(4) == b"PULS"
        assert file.tell() == 4
        assert file.seek(0, 2) == 64
        assert file.read() == b""
        assert file.seek(-6, 1) == 58
        assert len(file.read(1 << 20)) == 6
        assert file.seek(1 << 40)
        assert file.read(1) == b""
        yield 4, 64, 10

    kept = []
    with registered(PULSES, PULSES_TYPE, recognise=b"PULS", blocks=blocks):
        tree = opened(pulses(10, b"PULS"))
        assert tree.num_entries == 10
    with pytest.raises(ValueError, match="closed"):
        kept[0].read(1)
    assert tree["channel"].array().to_list() == list(range(10))


def test_exceptions_of_functions_reach_the_caller():
    class Own(Exception):
        pass

    def raising(error):
        def blocks(file, name=None):
            raise error

        return blocks

    for error in (Own("sorry"), MemoryError(), forthwith.UnsupportedError("no")):
        with registered(PULSES, PULSES_TYPE, recognise=b"PULS", blocks=raising(error)):
            with pytest.raises(forthwith.DamagedFileError) as caught:
                opened(b"PULS")
            assert caught.value.__cause__ is error
    for error in (KeyboardInterrupt(), SystemExit(3)):
        with registered(PULSES, PULSES_TYPE, recognise=b"PULS", blocks=raising(error)), pytest.raises(type(error)):
            opened(b"PULS")
        recognise = raising(error)
        with registered(PULSES, PULSES_TYPE, recognise=recognise), pytest.raises(type(error)):
            opened(b"PULS")


def test_a_function_may_open_files_of_other_formats(tmp_path):
    index = tmp_path / "index.idx"
    index.write_bytes(struct.pack("<qqqqqq", 4, 10, 1, 10, 16, 1))
    three = "input data output a int64 output b int64 output c int64 " + (
        "begin data end invert while data q-> a data q-> b data q-> c repeat"
    )

    def blocks(file):
        return [tuple(row.values()) for row in forthwith.open(index).arrays().to_list()]

    with (
        registered(three, "{start: int64, stop: int64, entries: int64}", recognise=".idx", blocks=24),
        registered(PULSES, PULSES_TYPE, recognise=b"PULS", blocks=blocks),
    ):
        assert opened(pulses(2, b"PULS")).arrays().channel.to_list() == [0, 1]


# ---- damaged files


def blocks_of_pulses(counts, magic=b"PULS"):
    made = [(count, pulses(count)) for count in counts]
    return Written(magic, made).data


def test_truncated_files_are_errors_at_every_byte():
    data = blocks_of_pulses([3, 2, 4])
    with registered(PULSES, PULSES_TYPE, recognise=b"PULS", blocks=Written.blocks):
        ends = {4: 0, 30: 3, 50: 5, 82: 9}
        assert opened(data).num_entries == 9
        assert len(data) == 82
        for size in range(4, len(data)):
            if size in ends:
                assert opened(data[:size]).num_entries == ends[size]
                continue
            with pytest.raises(forthwith.DamagedFileError):
                opened(data[:size])
    with registered(PULSES, PULSES_TYPE, recognise=b"PULS"):
        flat = pulses(3, b"PULS")
        for size in range(4, len(flat)):
            tree = opened(flat[:size])
            if (size - 4) % 6 == 0:
                assert tree.num_entries == (size - 4) // 6
            else:
                with pytest.raises(forthwith.DamagedFileError, match="read beyond") as caught:
                    tree.arrays()
                assert caught.value.block == 0
                assert caught.value.byte is not None


@pytest.mark.parametrize("threads", [1, 4])
def test_blocks_that_lie_are_errors_with_file_block_and_byte(threads, tmp_path):
    path = tmp_path / "lies.dat"
    counted = PULSES.replace("begin data end invert while", "0 do").replace("repeat", "loop")

    def fails(program, blocks, block, said):
        path.write_bytes(Written(b"PULS", blocks).data)
        with registered(program, PULSES_TYPE, recognise=b"PULS", blocks=Written.blocks) as own:
            tree = forthwith.open(path)
            for read in (tree.arrays, lambda **how: list(tree.iterate(step_size=1, **how))):
                with pytest.raises(forthwith.DamagedFileError) as caught:
                    read(threads=threads)
                assert caught.value.block == block
                assert caught.value.file == str(path)
                assert said in str(caught.value)
                assert own in str(caught.value)
        return caught.value

    sound = (5, pulses(5))
    error = fails(counted, [sound, sound, (6, pulses(5)), sound], 2, "read beyond")
    assert error.byte == 30
    assert "data H-> channel" in str(error)
    fails(counted, [(4, pulses(5)), sound], 0, "6 bytes of the block are left over")
    fails(PULSES, [sound, (4, pulses(5))], 1, "the program wrote 5 entries of a block that has 4")
    fails(counted, [sound, ((1 << 23) - 1, pulses(1))], 1, "read beyond")


def test_programs_whose_outputs_contradict_the_type_are_errors():
    cases = [
        ("input data output o int64 output n int8 data b-> stack o <- stack data b-> n", "var * int8", b"\1\1", "begin with 0"),
        ("input data output a int8 output b int8 data b-> a", "{a: int8, b: int8}", b"\1", "has 0 rows"),
        ("input data output t int8 output at int64 output x int8 output y float64 data b-> t data b-> at 0 x <- stack",
         "union[int8, float64]", b"\5\0", "t"),
        ("input data output t int8 output at int64 output x int8 output y float64 data b-> t data b-> at 0 x <- stack",
         "union[int8, float64]", b"\0\5", "holds 1 items where 6 are needed"),
        ("input data output at int64 output x int8 data b-> at data b-> x", "?int8", b"\3\1", "where 4 are needed"),
        ("input data output o int64 output t uint8 0 o <- stack data B-> stack dup o +<- stack data #B-> t", "string",
         b"\2\xff\xfe", "UTF-8"),
        ("input data output x int8 data b-> x pause 1 drop", "int8", b"\1", "paused"),
        ("input data output x int8 3 halt", "int8", b"", "halt"),
        ("input data output x int8 begin 1 drop drop again", "int8", b"", "stack underflow"),
        (": f f ; input data output x int8 f", "int8", b"", "recursion"),
    ]  # fmt: skip
    for program, of, data, said in cases:
        with registered(program, of, recognise=b"PULS"):
            tree = opened(b"PULS" + data)
            with pytest.raises(forthwith.DamagedFileError) as caught:
                tree.arrays()
            assert said in str(caught.value), program


def test_a_file_that_shrinks_or_changes_is_an_error(tmp_path):
    path = tmp_path / "run.dat"
    for blocks in (None, 6, Written.blocks):
        make = blocks_of_pulses if blocks is Written.blocks else lambda counts: pulses(sum(counts), b"PULS")
        for source in ("auto", "map", "pread"):
            path.write_bytes(make([20, 20, 20]))
            with registered(PULSES, PULSES_TYPE, recognise=b"PULS", blocks=blocks):
                tree = forthwith.open(path, source=source)
                assert tree.num_entries == 60
                os.truncate(path, 50)
                with pytest.raises(forthwith.ForthwithError):
                    tree.arrays()
                os.truncate(path, 3)
                with pytest.raises(forthwith.ForthwithError):
                    tree["charge"].array()


def test_memory_is_bounded(tmp_path):
    # Each byte becomes a hundred numbers.
    program = (
        "input data output x int64 begin data end invert while data b-> stack 100 0 do dup x <- stack loop drop repeat"
    )
    data = b"M" + bytes(10000)
    with registered(program, "int64", recognise=b"M"):
        assert opened(data).num_entries == 1_000_000
        for memory in ("100 kB", "5 MB"):
            with pytest.raises(forthwith.OutOfMemoryError, match="the outputs of the program"):
                opened(data, memory=memory).arrays()
    endless = registered("input data output x int64 begin 1 x <- stack again", "int64", recognise=b"M")
    with endless, pytest.raises(forthwith.OutOfMemoryError, match="the outputs of the program"):
        opened(b"M").arrays()


# ---- stopping


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
@pytest.mark.parametrize("blocks", [None, 1])
@pytest.mark.parametrize("how", ["entries", "arrays", "one thread", "iterate", "object"])
def test_endless_programs_end_with_a_signal(blocks, how, tmp_path):
    path = tmp_path / "file.endless"
    path.write_bytes(b"abc")
    with registered(ENDLESS, "int8", recognise=".endless", blocks=blocks):
        tree = opened_as(path) if how == "object" else forthwith.open(path)
        read = {
            "arrays": tree.arrays,
            "object": tree.arrays,
            "one thread": lambda: tree.arrays(threads=1),
            "iterate": lambda: list(tree.iterate()),
            "entries": lambda: tree.arrays() if blocks else tree.num_entries,
        }[how]
        assert seconds_to_stop(read) < SOON
        # And again: nothing is left that waits.
        assert seconds_to_stop(read) < SOON


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
def test_a_stream_of_batches_ends_with_ctrl_c():
    import pyarrow as pa

    with registered(ENDLESS, "int8", recognise=b"E", blocks=1):
        reader = pa.RecordBatchReader.from_stream(opened(b"Eabc"))
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        begun = time.monotonic()
        timer.start()
        with pytest.raises(pa.ArrowInvalid, match="interrupted by KeyboardInterrupt"):
            reader.read_all()
        assert time.monotonic() - begun < 0.2 + SOON
        timer.join()


def opened_as(path):
    file = io.BytesIO(path.read_bytes())
    file.name = str(path)
    return forthwith.open(file)


def seconds_to_stop(read):
    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    begun = time.monotonic()
    try:
        with pytest.raises(Stop):
            read()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return time.monotonic() - begun - 0.2


def test_progress_can_end_an_endless_program(tmp_path):
    def progress(*_):
        if time.monotonic() - begun > 0.2:
            raise ValueError("enough")

    begun = time.monotonic()
    with registered(ENDLESS, "int8", recognise=b"E", blocks=1), pytest.raises(ValueError, match="enough"):
        opened(b"Eabc")._core.read(opened(b"Eabc")._core.plan([0], 0, 3), None, progress)
    assert time.monotonic() - begun < 0.2 + SOON


# ---- processes and threads


REGISTER = """
import sys, pickle, forthwith
if "register" in sys.argv:
    forthwith.register_format("travels", {program!r}, {of!r}, recognise=b"PULS", blocks=6)
try:
    print(pickle.load(sys.stdin.buffer).arrays().charge.to_list())
except forthwith.RequestError as error:
    print(error)
"""


def test_opened_files_are_pickled_to_where_their_format_is_registered(tmp_path):
    path = tmp_path / "run.dat"
    path.write_bytes(pulses(3, b"PULS"))
    with registered(PULSES, PULSES_TYPE, recognise=b"PULS", blocks=6, name="travels"):
        tree = forthwith.open(path)
        pickled = pickle.dumps(tree)
        assert pickle.loads(pickled).arrays().to_list() == tree.arrays().to_list()
        assert pickle.loads(pickle.dumps(tree["charge"])).array().to_list() == [0, 0.5, 1]
        assert pickle.loads(pickle.dumps(tree.file)).format == "travels"
    script = REGISTER.format(program=PULSES, of=PULSES_TYPE)
    for argument, said in [
        ("register", "[0.0, 0.5, 1.0]"),
        ("nothing", "'travels', which is not registered in this process"),
    ]:
        command = [sys.executable, "-W", "ignore", "-c", script, argument]
        ran = subprocess.run(command, input=pickled, capture_output=True, check=True, timeout=60)
        assert said in ran.stdout.decode()
    with pytest.raises(forthwith.RequestError, match="not registered in this process"):
        pickle.loads(pickled)


def child_reads(path, tree, queue):
    with registered(PULSES, PULSES_TYPE, recognise=b"CHIL"):
        queue.put(
            (tree.arrays().to_list(), forthwith.open(path).arrays().to_list(), opened(pulses(1, b"CHIL")).num_entries)
        )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_processes_have_the_formats(tmp_path):
    path = tmp_path / "run.dat"
    path.write_bytes(blocks_of_pulses([3, 4]))
    context = multiprocessing.get_context("fork")
    with registered(PULSES, PULSES_TYPE, recognise=b"PULS", blocks=Written.blocks):
        tree = forthwith.open(path)
        whole = tree.arrays().to_list()
        stop = threading.Event()

        def register():
            while not stop.is_set():
                with registered(PULSES, PULSES_TYPE, recognise=b"OTHE"):
                    pass

        worker = threading.Thread(target=register)
        worker.start()
        try:
            for _ in range(3):
                queue = context.Queue()
                child = context.Process(target=child_reads, args=(path, tree, queue))
                child.start()
                assert queue.get(timeout=60) == (whole, whole, 1)
                child.join(60)
                assert child.exitcode == 0
        finally:
            stop.set()
            worker.join()


def test_threads_register_and_read_at_the_same_time():
    failures, start = [], threading.Barrier(6)

    def work(number):
        try:
            start.wait()
            for _ in range(20):
                magic = f"{number:04}".encode()
                with registered(PULSES, PULSES_TYPE, recognise=magic, blocks=Written.blocks) as own:
                    tree = opened(blocks_of_pulses([number, 5], magic))
                    assert tree.file.format == own
                    assert tree.arrays().channel.to_list() == [*range(number), *range(5)]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_one_name_is_registered_once_by_threads():
    own, start, won = name(), threading.Barrier(4), []

    def register():
        start.wait()
        try:
            forthwith.register_format(own, PULSES, PULSES_TYPE, recognise=b"PULS")
            won.append(True)
        except forthwith.RequestError:
            pass

    threads = [threading.Thread(target=register) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    forthwith.unregister_format(own)
    assert len(won) == 1
