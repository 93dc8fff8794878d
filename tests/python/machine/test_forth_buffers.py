"""Inputs and outputs of machines, and outputs as arrays."""

import array
import gc
import mmap
import struct

import awkward.forth
import numpy as np
import pytest
from conftest import SOURCES
from forth_machines import BOTH, LISTS, lists

import forthwith
from forthwith.forth import ForthMachine64


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


@pytest.mark.slow
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


@BOTH
def test_inputs_may_be_single_numbers(machine):
    for given in (np.array(7, "<i4"), np.int32(7), memoryview(np.array(7, "<i4"))):
        vm = machine("input x x i-> stack")
        vm.run({"x": given})
        assert vm.stack == [7]


def test_the_page_makes_an_array_of_outputs():
    page = (SOURCES / "docs/details/python-forth.md").read_text()
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
