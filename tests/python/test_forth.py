"""`forthwith.forth`: every property, method and flag of a machine."""

import array
import copy
import gc
import inspect
import io
import mmap
import os
import pathlib
import pickle
import struct
import subprocess
import sys
import threading
import time
import warnings

import awkward.forth
import numpy as np
import pytest

import forthwith
from forthwith.forth import ForthCompileError, ForthMachine32, ForthMachine64, ForthRunError

BOTH = pytest.mark.parametrize("machine", [ForthMachine32, ForthMachine64])

LISTS = """
input data
output offsets int64
output content float32
0 offsets <- stack
0 do  data !I-> stack dup offsets +<- stack  data #!f-> content  loop
"""
ENDLESS = "variable n begin 1 n +! again"


def lists(*items):
    return b"".join(struct.pack(f">I{len(item)}f", len(item), *item) for item in items)


# ---- what a program is


@BOTH
def test_the_constructor_is_awkwards(machine):
    vm = machine("1 2 +", 100, 200, 300, 400, 1.25)
    assert (vm.stack_max_depth, vm.recursion_max_depth, vm.string_buffer_size) == (100, 200, 300)
    assert (vm.output_initial_size, vm.output_resize_factor) == (400, 1.25)
    by_name = machine(
        source="1",
        stack_size=1,
        recursion_depth=2,
        string_buffer_size=3,
        output_initial_size=4,
        output_resize_factor=5.0,
    )
    assert (by_name.stack_max_depth, by_name.recursion_max_depth) == (1, 2)
    default = machine("")
    sizes = default.stack_max_depth, default.recursion_max_depth, default.string_buffer_size
    assert (*sizes, default.output_initial_size, default.output_resize_factor) == (1024, 1024, 1024, 1024, 1.5)
    assert machine.__module__ == "forthwith.forth"
    assert vm.abi_version == machine.abi_version == 1
    with pytest.raises(TypeError):
        machine("1", stack=1)
    with pytest.raises(TypeError):
        machine("1", stack_size=1.5)
    with pytest.raises(TypeError):
        machine(1)


@pytest.mark.parametrize(
    "name", ["run", "resume", "step", "call", "begin", "begin_again", "stack_push", "string_at", "output"]
)
def test_the_arguments_are_awkwards(name):
    ours = inspect.signature(getattr(ForthMachine64, name)).parameters
    theirs = getattr(awkward.forth.ForthMachine64, name).__doc__
    given = [part.split(":")[0].strip() for part in theirs[theirs.index("(") + 1 : theirs.index(") ->")].split(",")]
    named = [part for part in given if not part.startswith("arg")]
    positional = [name for name, one in ours.items() if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    if len(given) == len(named):
        assert positional == named
    else:
        assert len(positional) == len(given)


@BOTH
def test_it_has_all_that_awkwards_has(machine):
    theirs = {name for name in dir(awkward.forth.ForthMachine64) if not name.startswith("_")}
    assert not theirs - set(dir(machine))


@BOTH
def test_what_is_known_of_a_program(machine):
    source = 'input x\noutput y int32\nvariable v\n: twice dup + ;\n3 twice v !\ns" hello"\n'
    vm = machine(source)
    assert vm.source == source
    assert vm.dictionary == ["twice"]
    assert vm.bytecodes == [0, 3, 72, 12, 0, 29, 0, 37, 44]
    assert vm.bytecodes_offsets == [0, 7, 9]
    assert vm.decompiled == (
        'variable v\ninput x\noutput y int32\n\n: twice\n  dup\n  +\n;\n\n3\ntwice\nv !\ns" hello"\n'
    ), vm.decompiled
    assert [vm.is_variable("v"), vm.is_input("x"), vm.is_output("y"), vm.is_defined("twice")] == [True] * 4
    assert [vm.is_variable("x"), vm.is_input("y"), vm.is_output("twice"), vm.is_defined("v")] == [False] * 4
    assert vm.string_at(0) == "hello"
    assert vm.string_at(1) == "a string at 1 is undefined"
    assert vm.string_at(-1) == "a string at -1 is undefined"
    assert "forthwith.forth.ForthMachine" in repr(vm)


@BOTH
def test_decompiled_text_compiles_to_the_same(machine):
    vm = machine(": f dup if 1- recurse else drop then ; begin 1 while 3 f repeat" + LISTS)
    assert machine(vm.decompiled).bytecodes == vm.bytecodes
    assert machine(vm.decompiled).decompiled == vm.decompiled


@BOTH
def test_looking_names_up(machine):
    vm = machine("variable v output o int16 : w 1 ; 7 v ! 3 o <- stack")
    vm.run()
    assert vm["v"] == 7
    assert vm["o"].tolist() == [3]
    assert vm["w"].tolist() == [0, 1]
    assert vm["w"].dtype == np.int32
    with pytest.raises(ValueError, match="unrecognized AwkwardForth variable/output/dictionary word: z"):
        vm["z"]
    with pytest.raises(TypeError):
        vm[0]


@BOTH
def test_a_text_that_is_no_program(machine):
    with pytest.raises(ValueError, match=r"in AwkwardForth source code, line 2 col \d+, unrecognized word") as caught:
        machine("1\n2 nonsense 3")
    assert isinstance(caught.value, ForthCompileError)
    assert isinstance(caught.value, forthwith.ForthwithError)
    assert (caught.value.line, caught.value.column) == (2, 3)
    assert "nonsense" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.line, again.column) == (str(caught.value), 2, 3)


def test_numbers_that_do_not_fit():
    with pytest.warns(SyntaxWarning, match="line 1 col 3 does not fit 32 bits"):
        vm = ForthMachine64("1 3000000000")
    vm.run()
    assert vm.stack == [1, -1294967296]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wide = ForthMachine64("1 3000000000", literal_width=64)
    wide.run()
    assert wide.stack == [1, 3000000000]
    with pytest.raises(ValueError, match="literal_width"):
        ForthMachine64("1", literal_width=16)


# ---- the states it can be in


@BOTH
def test_states(machine):
    vm = machine("1 pause 2")
    assert (vm.is_ready, vm.is_done, vm.is_segment_done) == (False, True, True)
    assert (vm.current_bytecode_position, vm.current_recursion_depth) == (-1, -1)
    with pytest.raises(ValueError, match="is done"):
        vm.current_instruction  # noqa: B018
    for use in (vm.resume, vm.step):
        with pytest.raises(ValueError, match="'not ready' in AwkwardForth runtime"):
            use()
    vm.begin()
    assert (vm.is_ready, vm.is_done, vm.is_segment_done) == (True, False, False)
    assert (vm.current_bytecode_position, vm.current_recursion_depth, vm.current_instruction) == (0, 1, "1")
    assert vm.resume() is None
    assert (vm.stack, vm.is_done, vm.current_instruction) == ([1], False, "2")
    assert vm.resume() is None
    assert (vm.stack, vm.is_done, vm.is_ready) == ([1, 2], True, True)
    with pytest.raises(ValueError, match="'is done' in AwkwardForth runtime") as caught:
        vm.resume()
    assert (caught.value.name, caught.value.line) == ("is done", None)
    vm.reset()
    assert (vm.is_ready, vm.is_done, vm.stack) == (False, True, [])


@BOTH
def test_what_is_pushed_before_begin_is_lost(machine):
    vm = machine("1")
    vm.stack_push(9)
    vm.run()
    assert vm.stack == [1]
    vm.begin()
    vm.stack_push(9)
    vm.resume()
    assert vm.stack == [9, 1]


@BOTH
def test_stepping(machine):
    vm = machine(": twice dup + ; 5 twice 1 if 3 then 2 0 do i loop")
    vm.begin()
    seen = []
    while not vm.is_done:
        seen.append((vm.current_instruction, vm.current_recursion_depth) if vm.current_bytecode_position >= 0 else None)
        assert vm.step() is None
        assert len(seen) < 100
    assert vm.stack == [10, 3, 0, 1]
    assert seen[:4] == [("5", 1), ("twice", 1), ("dup", 2), ("+", 2)]


@BOTH
def test_calling(machine):
    vm = machine(": double 2 * ; : stop 1 pause 2 ; 5")
    with pytest.raises(ValueError, match="not ready"):
        vm.call("double")
    vm.run()
    assert vm.call("double") is None
    assert vm.stack == [10]
    vm.call("stop")
    assert (vm.stack, vm.is_done) == ([10, 1], False)
    vm.call("double")
    assert vm.stack == [10, 2]
    vm.resume()
    assert (vm.stack, vm.is_done) == ([10, 2, 2], True)
    with pytest.raises(RuntimeError, match="unrecognized word: triple"):
        vm.call("triple")


@BOTH
def test_beginning_again(machine):
    vm = machine("input x output o int8 variable v : init 10 v ! ; x b-> stack v +! v @ o <- stack")
    with pytest.raises(ValueError, match="'begin' not called on the AwkwardForth machine, 'begin_again' invalid"):
        vm.begin_again({"x": b"1"})
    vm.begin({"x": b"\x01"})
    vm.call("init")
    vm.resume()
    vm.begin_again({"x": b"\x02"})
    assert vm.input_position("x") == 0
    vm.resume()
    assert vm["o"].tolist() == [11, 13]
    assert vm["v"] == 13


@BOTH
def test_new_inputs_for_what_is_pending(machine):
    vm = machine("input x begin x b-> stack x end if pause then again")
    vm.run({"x": b"\x01\x02"})
    vm.begin_again({"x": b"\x03"}, False)
    vm.resume()
    assert vm.stack == [1, 2, 3]


# ---- errors and flags

ERRORS = {
    "user halt": "halt",
    "recursion depth exceeded": ": f f ; f",
    "stack underflow": "drop",
    "stack overflow": "begin 1 again",
    "read beyond": "x i-> stack",
    "seek beyond": "100 x seek",
    "skip beyond": "-1 x skip",
    "rewind beyond": "1 o rewind",
    "division by zero": "1 0 /",
    "varint too big": "x varint-> stack",
    "text number missing": "x textint-> stack",
    "quoted string missing": "x quotedstr-> o",
    "enumeration missing": 'x enumonly s" a"',
}


@BOTH
@pytest.mark.parametrize("name", ERRORS)
def test_errors_and_their_flags(machine, name):
    flag = "raise_" + name.replace(" ", "_")
    vm = machine("input x output o uint8 9 1 drop drop " + ERRORS[name])
    inputs = {"x": b"\xff" * (11 if name == "varint too big" else 2 if name != "read beyond" else 1)}
    assert vm.run(inputs, **{flag: False}) == name
    with pytest.raises(ValueError, match=f"^'{name}' in AwkwardForth runtime: ") as caught:
        vm.run(inputs)
    error = caught.value
    assert isinstance(error, ForthRunError)
    assert error.name == name
    assert (error.line, error.word) == (1, "f" if name.startswith("recursion") else None)
    assert error.instruction in vm.decompiled
    assert f"line 1 col {error.column}" in str(error)
    others = dict.fromkeys(
        (parameter for parameter in inspect.signature(vm.resume).parameters if parameter != flag), False
    )
    assert len(others) == 12
    with pytest.raises(ValueError, match=name):
        vm.run(inputs, **others)
    # In the order of awkward's, by position.
    vm.begin(inputs)
    assert vm.resume(*[False] * 13) == name
    assert (vm.is_ready, vm.is_done) == ((False, True) if name == "user halt" else (True, False))
    if name != "user halt":
        for use in (vm.resume, vm.step):
            assert use(**{flag: False}) == name
        vm.run(inputs, **{flag: False})
    vm.begin(inputs)
    again = None
    while again is None and not (name == "stack overflow" and len(vm.stack) == 1):
        again = vm.step(**{flag: False})
        if name == "stack overflow" and len(vm.stack) > 1000:
            break
    assert pickle.loads(pickle.dumps(error)).name == name


@BOTH
def test_outputs_before_an_error_are_kept(machine):
    vm = machine("input x output o int8 begin x b-> o again")
    assert vm.run({"x": b"\x01\x02\x03"}, raise_read_beyond=False) == "read beyond"
    assert vm["o"].tolist() == [1, 2, 3]
    assert vm.input_position("x") == 3


@BOTH
def test_an_error_can_be_cleared(machine):
    vm = machine("input x output o int8 begin x b-> o again")
    vm.run({"x": b"\x01"}, raise_read_beyond=False)
    with pytest.raises(ValueError, match="read beyond"):
        vm.begin_again({"x": b"\x02"})
    vm.begin_again({"x": b"\x02"}, clear_error=True)
    assert vm.resume(raise_read_beyond=False) == "read beyond"
    assert vm["o"].tolist() == [1, 2]


@BOTH
def test_the_stack_from_outside(machine):
    vm = machine("1", stack_size=2)
    vm.stack_push(True)
    vm.stack_push(np.int16(-3))
    with pytest.raises(ValueError, match="AwkwardForth stack overflow"):
        vm.stack_push(0)
    assert vm.stack == [1, -3]
    assert (vm.stack_pop(), vm.stack_pop()) == (-3, 1)
    with pytest.raises(ValueError, match="AwkwardForth stack underflow"):
        vm.stack_pop()
    bits = 32 if machine is ForthMachine32 else 64
    vm.stack_push(-(2 ** (bits - 1)))
    vm.stack_push(2 ** (bits - 1) - 1)
    vm.stack_clear()
    assert vm.stack == []
    for wrong in (2 ** (bits - 1), -(2 ** (bits - 1)) - 1, 1.5, "1", None):
        with pytest.raises(TypeError):
            vm.stack_push(wrong)


# ---- inputs


@BOTH
@pytest.mark.parametrize(
    "make",
    [
        bytes,
        bytearray,
        memoryview,
        lambda data: memoryview(data)[:],
        lambda data: np.frombuffer(data, "u1"),
        lambda data: np.frombuffer(data, ">i4"),
        lambda data: np.frombuffer(data, "u1").reshape(-1, 2),
        lambda data: np.frombuffer(data, [("a", "<i2"), ("b", "u1", 2)]),
        lambda data: array.array("B", data),
        lambda data: (type("Array", (), {})(), (__import__("ctypes").c_char * len(data)).from_buffer_copy(data))[1],
    ],
)
def test_anything_with_a_buffer_is_an_input(machine, make):
    data = lists([1, 2], [], [3])
    vm = machine(LISTS + "data len data pos")
    vm.begin({"data": make(data)})
    vm.stack_push(3)
    vm.resume()
    assert vm["offsets"].tolist() == [0, 2, 2, 3]
    assert vm["content"].tolist() == [1, 2, 3]
    assert vm.stack == [len(data), len(data)]
    assert data == lists([1, 2], [], [3])


@BOTH
def test_inputs_are_given_by_all_their_names(machine):
    vm = machine("input x input y")
    for start in (vm.run, vm.begin):
        with pytest.raises(ValueError, match="an input that was not provided: x"):
            start()
        with pytest.raises(ValueError, match="an input that was not provided: y"):
            start({"x": b""})
        with pytest.raises(ValueError, match="input not found: z"):
            start({"x": b"", "y": b"", "z": b""})
        for wrong in ("text", None, 1, [1]):
            with pytest.raises(TypeError):
                start({"x": b"", "y": wrong})
        with pytest.raises(TypeError):
            start([("x", b""), ("y", b"")])
        with pytest.raises(TypeError):
            start({"x": b"", "y": b"", 1: b""})
    with pytest.raises(ValueError, match="input not found: x"):
        vm.input_position("x")
    vm.run({"y": b"", "x": b""})
    assert vm.input_position("x") == 0
    with pytest.raises(ValueError, match="input not found: z"):
        vm.input_position("z")


def test_a_mapping_is_as_good_as_a_dict():
    import collections
    import types

    for mapping in (types.MappingProxyType({"x": b"\x05"}), collections.ChainMap({"x": b"\x05"})):
        vm = ForthMachine64("input x x b-> stack")
        vm.run(mapping)
        assert vm.stack == [5]


def test_a_file_mapped_for_reading(tmp_path):
    (tmp_path / "data").write_bytes(lists([1, 2], [3]))
    with (tmp_path / "data").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        vm = ForthMachine64(LISTS)
        vm.begin({"data": mapped})
        vm.stack_push(2)
        vm.resume()
        assert vm["content"].tolist() == [1, 2, 3]
        with pytest.raises(BufferError):
            mapped.close()
        vm.reset()


def test_an_input_is_let_go():
    class Tracked(bytearray):
        pass

    def count():
        gc.collect()
        return sum(isinstance(one, Tracked) for one in gc.get_objects())

    vm = ForthMachine64("input x")
    empty = {"x": b""}
    for name, arguments in (("reset", ()), ("begin", (empty,)), ("begin_again", (empty, False)), ("run", (empty,))):
        vm.begin({"x": Tracked(8)})
        assert count() == 1
        getattr(vm, name)(*arguments)
        assert count() == 0
    vm.begin({"x": Tracked(8)})
    with pytest.raises(ValueError, match="not provided"):
        vm.begin({})
    assert count() == 1
    del vm
    assert count() == 0


# ---- outputs

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


@BOTH
@pytest.mark.parametrize("dtype", DTYPES)
def test_outputs_are_arrays(machine, dtype):
    vm = machine(f"output o {dtype} 0 o <- stack 1 o <- stack")
    with pytest.raises(ValueError, match="output not found"):
        vm.outputs  # noqa: B018
    for look in (vm.output, vm.__getitem__):
        with pytest.raises(ValueError, match="output not found: o"):
            look("o")
    with pytest.raises(ValueError, match="output not found: z"):
        vm.output("z")
    vm.begin()
    assert vm.outputs["o"].tolist() == []
    assert vm.outputs["o"].dtype == np.dtype(dtype)
    vm.resume()
    found = vm.outputs
    assert list(found) == ["o"]
    assert isinstance(found["o"], np.ndarray)
    assert (found["o"].dtype, found["o"].tolist()) == (np.dtype(dtype), [0, 1])
    assert found["o"].flags.writeable
    assert found["o"].flags.aligned
    assert found["o"].flags.c_contiguous
    assert machine("1").outputs == {}


def test_outputs_share_the_memory_of_the_machine():
    vm = ForthMachine64("output o int64 5 o <- stack pause 6 o <- stack")
    vm.run()
    one, other = vm.output("o"), vm.outputs["o"]
    assert one is not other
    assert one.__array_interface__["data"] == other.__array_interface__["data"]
    one[0] = 50
    assert other.tolist() == [50]
    vm.resume()
    assert vm["o"].tolist() == [50, 6]
    assert one.tolist() == [50]


def test_arrays_outlive_what_the_machine_does_next():
    vm = ForthMachine64("input n output o int64 n q-> stack 0 do i o <- stack loop", output_initial_size=4)
    kept = []
    for count in (3, 100, 1000):
        vm.run({"n": struct.pack("<q", count)})
        kept.append(vm["o"])
    vm.reset()
    del vm
    gc.collect()
    junk = [np.full(2000, -1) for _ in range(50)]
    assert [array.tolist() for array in kept] == [list(range(count)) for count in (3, 100, 1000)]
    assert len(junk) == 50


def test_growing_leaves_arrays_alone():
    vm = ForthMachine64(
        "output o int32 0 begin dup o <- stack 1+ pause again", output_initial_size=1, output_resize_factor=1.0
    )
    vm.begin()
    kept = []
    for _ in range(3000):
        vm.resume()
        kept.append(vm["o"])
    for count, found in enumerate(kept):
        assert len(found) == count + 1
        assert found[-1] == count
    assert kept[-1].tolist() == list(range(3000))
    # Arrays handed out before the last growth are their own; what is written to them goes nowhere else.
    kept[0][0] = 99
    assert kept[-1][0] == 0


def test_taking_back_changes_arrays_of_the_same_run():
    vm = ForthMachine64("output o int8 1 o <- stack pause 1 o rewind 2 o <- stack")
    vm.run()
    found = vm["o"]
    vm.resume()
    assert found.tolist() == [2]


# ---- counters


def test_counters_are_exact_in_tier_0():
    counts = {
        "5 3 +": 3,
        "3 0 do i drop loop": 12,
        "3 0 do loop": 6,
        "begin 1 until": 3,
        "1 begin dup while 1- repeat": 9,
        "0 case 0 of 1 endof endcase": 4,
        "1 0 /": 2,
        "1 halt": 2,
        "1 if 2 then": 4,
        "0 if 2 then": 2,
        "0 if 2 else 3 then": 4,
    }
    for source, count in counts.items():
        vm = ForthMachine64(source, tier=0)
        vm.run(raise_division_by_zero=False, raise_user_halt=False)
        assert vm.count_instructions == count, source
        vm.run(raise_division_by_zero=False, raise_user_halt=False)
        assert vm.count_instructions == 2 * count, source
        assert vm.count_nanoseconds > 0
        vm.count_reset()
        assert (vm.count_instructions, vm.count_nanoseconds) == (0, 0)
    vm = ForthMachine64(LISTS, tier=0)
    vm.begin({"data": lists([1, 2], [3])})
    vm.stack_push(2)
    vm.resume()
    assert (vm.count_reads, vm.count_writes) == (4, 5)


def test_counters_that_are_not_exact_say_so():
    vm = ForthMachine64(LISTS, tier=1)
    data = lists(*([1.0] for _ in range(1000)))
    vm.begin({"data": data})
    vm.stack_push(1000)
    vm.resume()
    for name in ("count_instructions", "count_reads", "count_writes"):
        with pytest.warns(RuntimeWarning, match="tier=0"):
            assert getattr(vm, name) >= 0
    assert vm.count_nanoseconds > 0


@pytest.mark.parametrize("tier", [0, 1, 2, None])
def test_tiers(tier):
    vm = ForthMachine64(LISTS, tier=tier)
    vm.begin({"data": lists([1, 2], [3])})
    vm.stack_push(2)
    vm.resume()
    assert vm["content"].tolist() == [1, 2, 3]
    assert isinstance(vm.explain(), str)


def test_there_is_no_other_tier():
    for tier in (-1, 3, 300):
        with pytest.raises((ValueError, OverflowError)):
            ForthMachine64("1", tier=tier)


# ---- limits


@BOTH
def test_limits(machine):
    vm = machine("1 2 3", stack_size=2)
    assert vm.run(raise_stack_overflow=False) == "stack overflow"
    assert vm.stack == [1, 2]
    vm = machine("1 if 1 if 1 if 5 then then then", recursion_depth=3)
    assert vm.run(raise_recursion_depth_exceeded=False) == "recursion depth exceeded"
    vm = machine("input x output o uint8 x quotedstr-> o", string_buffer_size=3)
    assert vm.run({"x": b'"abcd"'}, raise_quoted_string_missing=False) == "quoted string missing"
    assert vm.run({"x": b'"abc"'}) is None
    vm = machine("output o int64 1 o <- stack 1000000 o dup", output_limit=80)
    with pytest.raises(MemoryError, match="limit"):
        vm.run()
    assert vm["o"].tolist() == [1]
    for wrong in ({"output_resize_factor": 0.0}, {"output_resize_factor": float("nan")}, {"output_initial_size": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            machine("1", **wrong)


# ---- printing


@BOTH
def test_printing_goes_to_sys_stdout(machine, capsys, monkeypatch):
    vm = machine('1 . ." two" cr 3 4 .s')
    vm.run()
    assert capsys.readouterr().out == "1 two\n<2> 3 4 <- top "
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    vm.run()
    assert stream.getvalue() == "1 two\n<2> 3 4 <- top "
    monkeypatch.setattr(sys, "stdout", None)
    assert vm.run() is None


def test_what_stdout_raises_is_raised(monkeypatch):
    class Broken:
        def write(self, text):
            raise BrokenPipeError("gone")

    vm = ForthMachine64("1 . 2 . 3")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Broken())
        with pytest.raises(BrokenPipeError, match="gone"):
            vm.run()
    # The program itself went on.
    assert vm.stack == [3]
    vm.begin()


def test_a_machine_cannot_be_used_around_what_it_prints(monkeypatch):
    class Nosy:
        seen = ""

        def write(self, text):
            self.seen += text
            with pytest.raises(RuntimeError, match="the machine is running"):
                vm.stack  # noqa: B018
            with pytest.raises(RuntimeError, match="the machine is running"):
                vm.run()

    vm = ForthMachine64("1 . 2 .")
    nosy = Nosy()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", nosy)
        vm.run()
    assert nosy.seen == "1 2 "


# ---- threads and pickling


def test_running_releases_the_interpreter():
    # The program ends at a byte that another thread writes, which it can only do if it gets the interpreter.
    flag = bytearray(1)
    vm = ForthMachine64("input x begin 0 x peek until 7")
    timer = threading.Timer(0.1, lambda: flag.__setitem__(0, 1))
    timer.start()
    vm.run({"x": flag})
    assert vm.stack == [7]
    timer.join()


def test_two_threads_at_one_machine():
    flag = bytearray(1)
    vm = ForthMachine64("input x begin 0 x peek until 7")
    thread = threading.Thread(target=vm.run, args=({"x": flag},))
    thread.start()
    busy = ""
    deadline = time.monotonic() + 10
    while not busy and time.monotonic() < deadline:
        try:
            vm.stack  # noqa: B018
        except RuntimeError as error:
            busy = str(error)
    assert "another thread" in busy
    for use in (
        vm.run,
        vm.resume,
        vm.step,
        vm.begin,
        vm.reset,
        vm.stack_pop,
        lambda: vm.outputs,
        lambda: vm.count_reads,
    ):
        with pytest.raises((RuntimeError, ValueError)) as caught:
            use()
        assert "running" in str(caught.value) or "not provided" in str(caught.value)
    flag[0] = 1
    thread.join()
    assert vm.stack == [7]


def test_many_threads_at_one_machine():
    vm = ForthMachine64(LISTS)
    data = lists(*([1.0, 2.0] for _ in range(200)))
    failures = []

    def work():
        for _ in range(100):
            try:
                vm.begin({"data": data})
                vm.stack_push(200)
                vm.resume()
                vm.outputs["content"].sum()
            except RuntimeError as error:
                if "running" not in str(error):
                    failures.append(error)
            except ValueError as error:
                # Another thread ran in between: nothing to resume, or nothing on the stack.
                if not isinstance(error, ForthRunError):
                    failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    vm.begin({"data": data})
    vm.stack_push(200)
    vm.resume()
    assert vm["content"].tolist() == [1.0, 2.0] * 200


def test_machines_of_one_program_in_many_threads():
    data = lists(*([float(at)] * 3 for at in range(100)))
    results = []

    def work():
        vm = ForthMachine64(LISTS)
        for _ in range(50):
            vm.begin({"data": data})
            vm.stack_push(100)
            vm.resume()
        results.append(vm.outputs["content"].tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[float(at // 3) for at in range(300)]] * 4


@BOTH
def test_a_machine_is_not_pickled(machine):
    vm = machine("1")
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=f"cannot pickle '{machine.__name__}' object"):
            way(vm)


def test_it_can_be_subclassed():
    class Mine(ForthMachine64):
        def __init__(self, source):
            super().__init__(source, stack_size=7)
            self.extra = 1

    vm = Mine("1 2 +")
    vm.run()
    assert (vm.stack, vm.extra, vm.stack_max_depth) == ([3], 1, 7)


@BOTH
def test_inputs_may_be_single_numbers(machine):
    for given in (np.array(7, "<i4"), np.int32(7), memoryview(np.array(7, "<i4"))):
        vm = machine("input x x i-> stack")
        vm.run({"x": given})
        assert vm.stack == [7]


@BOTH
def test_what_was_given_is_told_as_numbers(machine):
    vm = machine("1", stack_size=True, recursion_depth=np.int64(5), output_resize_factor=2)
    given = (vm.stack_max_depth, vm.recursion_max_depth, vm.output_resize_factor)
    assert given == (1, 5, 2.0)
    assert [type(one) for one in given] == [int, int, float]


def test_a_tier_there_is_not_is_refused_from_the_environment_too():
    code = "import forthwith.forth as f; f.ForthMachine64('1', tier=0); f.ForthMachine64('1')"
    environment = {**os.environ, "FORTHWITH_TIER": "fast"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert "FORTHWITH_TIER is fast; it may be 0, 1 or 2" in done.stderr


def test_importing_it_imports_no_other_package():
    code = (
        "import sys, forthwith.forth as f; f.ForthMachine64('1').run(); print(*{'numpy', 'awkward'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


INTERRUPTED = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)
from forthwith.forth import ForthMachine64
machine = ForthMachine64(sys.argv[1], tier=int(sys.argv[2]) if sys.argv[2] else None)
asked = []
def ask():
    asked.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
for drive in (machine.run, machine.resume, lambda: machine.call("endless")):
    threading.Timer(0.1, ask).start()
    try:
        drive()
    except KeyboardInterrupt:
        print(time.monotonic() - asked[-1])
machine.begin()
machine.step()
print(machine.stack, machine.is_done)
"""


@pytest.mark.parametrize("tier", ["", "0", "1", "2"])
def test_ctrl_c_ends_a_run_and_the_machine_goes_on(tier):
    program = ": endless begin 2 drop again ; 1 begin 1 drop again"
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, program, tier],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    *waited, last = done.stdout.splitlines()
    assert (done.returncode, last, done.stderr) == (0, "[1] False", "")
    # A tenth of a second where nothing else runs; this one may be loaded.
    assert len(waited) == 3
    assert all(float(seconds) < 1 for seconds in waited)


def test_runs_of_other_threads_end_with_their_work():
    machines = [ForthMachine64("0 3000000 0 do i + loop", tier=1) for _ in range(3)]
    threads = [threading.Thread(target=machine.run) for machine in machines]
    for thread in threads:
        thread.start()
    here = ForthMachine64("0 3000000 0 do i + loop", tier=0)
    here.run()
    for thread in threads:
        thread.join()
    assert {machine.stack[0] for machine in (*machines, here)} == {sum(range(3000000))}


def test_the_page_makes_an_array_of_outputs():
    page = (pathlib.Path(__file__).parents[2] / "docs/python-forth.md").read_text()
    code = page.split("## Outputs as an array", 1)[1].split("```python\n", 1)[1].split("```", 1)[0]
    names = {"ForthMachine64": ForthMachine64}
    exec(code, names)
    shown = code.rsplit("# ", 1)[1].strip()
    assert repr(names["array"].to_list()) == shown


def outputs(program, **inputs):
    machine = ForthMachine64(program)
    machine.run(inputs)
    return machine


def test_arrays_of_every_kind_of_type():
    table = {
        "int64": ("output a int64 1 a <- stack 2 a <- stack", [1, 2]),
        "var * int8": ("output o uint32 output a int8 0 o <- stack 1 o <- stack 1 o <- stack 7 a <- stack", [[7], []]),
        "string": ("output o int32 output a uint8 0 o <- stack 2 o <- stack 104 a <- stack 105 a <- stack", ["hi"]),
        "?int8": ("output n int64 output a int8 0 n <- stack -1 n <- stack 5 a <- stack", [5, None]),
        "?float32": ("output m bool output a float32 1 m <- stack 0 m <- stack 5 a <- stack 9 a <- stack", [5.0, None]),
        "union[int8, string]": (
            "output t int8 output n int64 output a int8 output o int64 output c uint8"
            " 0 t <- stack 0 n <- stack 1 t <- stack 0 n <- stack 3 a <- stack 0 o <- stack 1 o <- stack 33 c <- stack",
            [3, "!"],
        ),
        "(int8, 2 * int16)": ("output a int8 output b int16 1 a <- stack 2 b <- stack 3 b <- stack", [(1, [2, 3])]),
    }
    for kind, (program, expected) in table.items():
        machine = outputs(program)
        array = machine.array(kind)
        assert array.to_list() == expected, kind
        awkward_type = awkward.types.from_datashape(kind, highlevel=False)
        assert machine.array(awkward_type).to_list() == expected, kind
        assert machine.array(array.layout.form).to_list() == expected, kind


def test_outputs_that_do_not_fit_a_type_say_where():
    machine = outputs(
        "output a int64 output o int64 output b float32 1 a <- stack 0 o <- stack 2 o <- stack 1 b <- stack"
    )
    for kind, text in [
        ("{a: int64, b: var * float64}", "b[] of float64 needs float64, but the next output is b float32"),
        ("{a: int64}", "the end of {a: int64} needs no more outputs, but there is o int64 besides"),
        ("{a: int64, b: var * float32}", "b: o ends at 2, and the lists have 1 items"),
        ("{a: int32}", "a of int32 needs int32, but the next output is a int64"),
    ]:
        with pytest.raises(forthwith.RequestError) as caught:
            machine.array(kind)
        assert text in str(caught.value)
    with pytest.raises(forthwith.RequestError, match="d of bool needs bool, but there is no other output"):
        outputs("output a int64 1 a <- stack").array("{a: int64, d: bool}")
    with pytest.raises(forthwith.RequestError, match=r"did you mean float64.*one of bool, int8"):
        machine.array("flaot64")
    with pytest.raises(forthwith.RequestError, match="did you mean float64, float32"):
        machine.array("{x: float}")
    with pytest.raises(forthwith.RequestError, match="nothing was begun"):
        ForthMachine64("output a int64").array("int64")


UNION = "output t int8 output n int32 output a int8 output b int64 "
LIST = "output o int64 output a int8 "
TEXT = "output o int32 output c uint8 "


@pytest.mark.parametrize(
    ("program", "kind", "said"),
    [
        (UNION + "2 t <- stack 0 n <- stack", "union[int8, int64]", "item 0 of the output t is 2, which is no tag"),
        (UNION + "-1 t <- stack 0 n <- stack", "union[int8, int64]", "item 0 of the output t is -1"),
        (UNION + "1 t <- stack 0 n <- stack 5 a <- stack", "union[int8, int64]", "item 0 of the output n is 0, which is none"),
        (UNION + "0 t <- stack -1 n <- stack 5 a <- stack", "union[int8, int64]", "item 0 of the output n is -1"),
        (LIST + "0 o <- stack 2 o <- stack 1 o <- stack 5 a <- stack", "var * int8", "item 2 of the output o is 1, less than"),
        (LIST + "1 o <- stack 1 o <- stack 5 a <- stack", "var * int8", "item 0 of the output o is 1, but offsets begin"),
        (LIST + "1 o <- stack 5 a <- stack", "?int8", "item 0 of the output o is 1, beyond the 1 values"),
        (TEXT + "0 o <- stack 1 o <- stack 255 c <- stack", "string", "item 0 of the output c is 0xff, and the text of row 0"),
        # A character that two rows share.
        (TEXT + "0 o <- stack 1 o <- stack 2 o <- stack 195 c <- stack 169 c <- stack", "string", "is not UTF-8 from there"),
        (TEXT + "0 o <- stack 1 o <- stack 3 o <- stack 65 c <- stack 65 c <- stack 200 c <- stack", "var * string", ""),
        ("output o int32 output p int64 output c uint8 0 o <- stack 1 o <- stack 0 p <- stack 3 p <- stack 65 c <- stack"
         " 65 c <- stack 200 c <- stack", "var * string", "item 2 of the output c is 0xc8, and the text of row 0"),
        ("output x int8 output o int64 output t int8 output n int64 output a int8 output b int64 1 x <- stack 0 o <- stack"
         " 1 o <- stack 3 t <- stack 0 n <- stack", "{x: int8, y: var * union[int8, int64]}", "item 0 of the output t is 3"),
    ],
)  # fmt: skip
def test_items_that_mean_nothing_are_errors_with_output_item_and_value(program, kind, said):
    with pytest.raises(forthwith.RequestError) as caught:
        outputs(program).array(kind)
    assert said in str(caught.value)


def test_what_a_type_does_not_forbid_stays():
    # Bytes need not be text, any negative number is null, values may be left out and used twice.
    assert outputs(TEXT + "0 o <- stack 1 o <- stack 255 c <- stack").array("bytes").to_list() == [b"\xff"]
    assert outputs(LIST + "-7 o <- stack 1 o <- stack 1 o <- stack 5 a <- stack 6 a <- stack").array(
        "?int8"
    ).to_list() == [
        None,
        6,
        6,
    ]


def test_programs_print_as_text():
    machine = ForthMachine64("1 2 +\n3 *")
    for text in (machine.source, machine.decompiled, machine.explain()):
        assert isinstance(text, str)
        assert repr(text) == str(text)
        assert "<pre>" in text._repr_html_()


def test_errors_say_what_may_have_been_meant():
    with pytest.raises(ForthRunError, match=r"top of the stack: 3"):
        ForthMachine64("3 halt").run()
    for program, texts in [
        ("1 dupp", ["did you mean dup", "  1 | 1 dupp\n    |   ^^^^"]),
        (
            "input data output offsets int64\ndata !I-> ofsets",
            ["no output ofsets", "did you mean offsets?", "^^^^^^"],
        ),
        ("output x flaot32", ["flaot32 is none of bool, int8", "did you mean float32"]),
    ]:
        with pytest.raises(ForthCompileError) as caught:
            ForthMachine64(program)
        assert all(text in str(caught.value) for text in texts), str(caught.value)


def test_repr_says_what_it_is_and_where_it_stands():
    machine = ForthMachine64("input x output y int32 1 pause x i-> y")
    assert repr(machine) == "<forthwith.forth.ForthMachine64 input x; output y int32; not begun>"
    machine.run({"x": b"abc"})
    assert repr(machine) == "<forthwith.forth.ForthMachine64 input x; output y int32; at x i-> y, line 1 col 32>"
    with pytest.raises(ForthRunError):
        machine.resume()
    assert repr(machine) == "<forthwith.forth.ForthMachine64 input x; output y int32; read beyond at line 1 col 32>"
    machine = ForthMachine32("")
    machine.run()
    assert repr(machine) == "<forthwith.forth.ForthMachine32 done>"
