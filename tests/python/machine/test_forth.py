"""`forthwith.forth`: programs, the states of a machine, its errors and flags."""

import inspect
import os
import pickle
import subprocess
import sys
import warnings

import awkward.forth
import numpy as np
import pytest
from forth_machines import BOTH, LISTS

import forthwith
from forthwith.forth import ForthCompileError, ForthMachine32, ForthMachine64, ForthRunError


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


def test_it_can_be_subclassed():
    class Mine(ForthMachine64):
        def __init__(self, source):
            super().__init__(source, stack_size=7)
            self.extra = 1

    vm = Mine("1 2 +")
    vm.run()
    assert (vm.stack, vm.extra, vm.stack_max_depth) == ([3], 1, 7)


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
