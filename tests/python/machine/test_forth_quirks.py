"""Programs that awkward's machines die of or answer wrongly, one test each, by the number the specification gives it.

Where awkward's kills the process, the program runs here in this process: a test that is not passed takes all others with it.
"""

import mmap
import struct

import numpy as np
import pytest

from forthwith.forth import ForthMachine32, ForthMachine64

BOTH = pytest.mark.parametrize("machine", [ForthMachine32, ForthMachine64])
WIDTHS = pytest.mark.parametrize(
    ("machine", "smallest", "parser"), [(ForthMachine32, -(2**31), "i"), (ForthMachine64, -(2**63), "q")]
)
QUIET = {
    "raise_read_beyond": False,
    "raise_rewind_beyond": False,
    "raise_recursion_depth_exceeded": False,
    "raise_varint_too_big": False,
}


def stack(machine, source, inputs=None, **limits):
    vm = machine(source, **limits)
    vm.run(inputs)
    return vm.stack


def test_q1_literals_are_cut():
    with pytest.warns(SyntaxWarning):
        assert stack(ForthMachine64, "0xffffffff") == [-1]
    assert stack(ForthMachine64, "0xffffffff", literal_width=64) == [2**32 - 1]


@BOTH
def test_q2_phrases_over_lines(machine):
    assert stack(machine, "variable\nv 3 v\n! v ( here ) @") == [3]
    assert stack(machine, 'input x x enum s" a"\n s" b"', {"x": b"b"}) == [1]


@BOTH
def test_q3_structure_in_comments_and_strings(machine):
    assert stack(machine, ": f ( a ; b ) 1 ; f 1 if ( then ) 2 then") == [1, 2]
    assert stack(machine, '1 if s" then" then') == [0, 4]


@BOTH
def test_q7_exit_in_a_word_called_from_a_loop(machine):
    assert stack(machine, ": f exit ; 3 0 do f 1 loop") == [1, 1, 1]


@BOTH
def test_q8_exit_out_of_a_loop(machine):
    assert stack(machine, ": f 5 0 do i 2 = if exit then i loop ; f f") == [0, 1, 0, 1]
    assert stack(machine, ": f 3 0 do exit loop ; : g 42 43 ; f g") == [42, 43]


@BOTH
def test_q9_exit_inside_case(machine):
    assert stack(machine, ": f case 5 of 1 exit endof 6 of 2 exit endof 3 exit endcase 99 ; 5 f 6 f") == [1, 2]


@WIDTHS
@pytest.mark.parametrize("word", ["/", "mod", "/mod"])
def test_q10_the_smallest_number_by_minus_one_does_not_kill(machine, smallest, parser, word):
    data = struct.pack(f"<{parser}", smallest)
    expected = {"/": [smallest], "mod": [0], "/mod": [0, smallest]}[word]
    assert stack(machine, f"input x x {parser}-> stack -1 {word}", {"x": data}) == expected


def test_q11_remainders_do_not_overflow():
    assert stack(ForthMachine32, "2147483646 2147483647 mod") == [2147483646]
    assert stack(ForthMachine32, "2147483646 2147483647 /mod") == [2147483646, 0]


def test_q12_abs_of_all_bits():
    assert stack(ForthMachine64, "input x x q-> stack abs", {"x": struct.pack("<q", -5_000_000_000)}) == [5_000_000_000]


@BOTH
def test_q13_shift_counts(machine):
    bits = 32 if machine is ForthMachine32 else 64
    assert stack(machine, f"1 {bits + 1} lshift 1 -1 lshift -8 1 rshift") == [2, -(2 ** (bits - 1)), -4]


def test_q14_numbers_of_ten_bytes():
    ten = b"\xff" * 9 + b"\x01"
    assert stack(ForthMachine64, "input x x zigzag-> stack", {"x": ten}) == [-(2**63)]
    vm = ForthMachine64("input x x varint-> stack")
    assert vm.run({"x": b"\xff" * 10 + b"\x01"}, **QUIET) == "varint too big"


def test_q15_long_integers_as_text():
    assert stack(ForthMachine64, "input x x textint-> stack", {"x": b"-9223372036854775808 "}) == [-(2**63)]
    vm = ForthMachine64("input x x textint-> stack")
    assert vm.run({"x": b"9223372036854775808"}, **QUIET) == "varint too big"


@BOTH
def test_q16_quoted_strings_go_to_bytes(machine):
    with pytest.raises(ValueError, match="quotedstr"):
        machine("input x output o int32 x quotedstr-> o")


@BOTH
def test_q17_big_endian_bits(machine):
    assert stack(machine, "input x x !4bit-> stack", {"x": b"\xb0"}) == [13]


@pytest.mark.parametrize("bits", [59, 61, 62, 63])
def test_q18_wide_fields(bits):
    values = [(2**bits - 1) // 3 + at for at in range(9)]
    packed = sum(value << (bits * at) for at, value in enumerate(values)).to_bytes((bits * 9 + 7) // 8, "little")
    vm = ForthMachine64(f"input x output o uint64 9 x #{bits}bit-> o")
    vm.run({"x": packed})
    assert vm["o"].tolist() == values


@pytest.mark.parametrize(
    "text", ["0.1234567890123456789012", "1e-310", "0e400", "123456789012345678901234567890", "0.1e1"]
)
def test_q19_numbers_as_text_are_rounded_correctly(text):
    vm = ForthMachine64("input x output o float64 x textfloat-> o")
    vm.run({"x": text.encode()})
    assert vm["o"].tolist() == [float(text)]


@BOTH
def test_q20_pairs_of_surrogates(machine):
    vm = machine("input x output o uint8 x quotedstr-> o")
    vm.run({"x": b'"\\ud83d\\ude00"'})
    assert vm["o"].tobytes().decode() == "\U0001f600"


@BOTH
def test_q21_bools_are_0_or_1(machine):
    vm = machine("input x output o bool output n uint8 x ?-> o 0 x seek x ?-> n 0 x seek x ?-> stack")
    vm.run({"x": b"\x02"})
    assert vm["o"].view("u1").tolist() == [1]
    assert vm["n"].tolist() == [2]
    assert vm.stack == [2]


@BOTH
def test_q22_floats_that_do_not_fit(machine):
    vm = machine(
        "input x output l int32 output q int64 output b int8 4 x #d-> l 0 x seek 4 x #d-> q 0 x seek 4 x #d-> b"
    )
    vm.run({"x": struct.pack("<4d", float("nan"), float("inf"), -1e300, 300.0)})
    assert vm["l"].tolist() == [-(2**31)] * 3 + [300]
    assert vm["q"].tolist() == [-(2**63)] * 3 + [300]
    assert vm["b"].tolist() == [0, 0, 0, 44]


@BOTH
@pytest.mark.parametrize("count", [-1, -1000000, -2147483648, 2])
def test_q23_rewinding_backwards_or_too_far(machine, count):
    vm = machine(f"output o int64 1 o <- stack {count} o rewind")
    assert vm.run(**QUIET) == "rewind beyond"
    assert vm["o"].tolist() == [1]


@pytest.mark.parametrize("target", ["o", "stack"])
@pytest.mark.parametrize(
    "parser",
    ["#q->", "#!q->", "#i->", "#b->", "#?->", "#d->", "#varint->", "#13bit->", "#64bit->", "#textint->"],
)
def test_q24_absurd_counts_do_not_kill(parser, target):
    for count in (2**61, 2**63 - 1, 2**60 + 1):
        vm = ForthMachine64(f"input x output o int64 {count} x {parser} {target}", literal_width=64)
        assert vm.run({"x": b"11111111"}, **QUIET) in ("read beyond", "text number missing")


def test_q24_memory_that_cannot_be_had_is_an_exception():
    vm = ForthMachine64(f"output o int64 7 o <- stack {2**61} o dup", literal_width=64)
    with pytest.raises(MemoryError):
        vm.run()
    assert vm["o"].tolist() == [7]
    assert not vm.is_done
    vm = ForthMachine64(f"output o int64 7 o <- stack {2**45} o dup", literal_width=64)
    with pytest.raises(MemoryError):
        vm.run()
    assert vm["o"].tolist() == [7]


def test_q24_absurd_sizes_of_outputs():
    vm = ForthMachine64("output o int64 7 o <- stack", output_initial_size=2**62, output_resize_factor=1e300)
    vm.run()
    assert vm["o"].tolist() == [7]


@BOTH
def test_q25_stepping_ends_a_loop(machine):
    vm = machine("3 0 do i loop 9")
    vm.begin()
    for _ in range(100):
        vm.step()
        if vm.is_done:
            break
    assert vm.stack == [0, 1, 2, 9]


@BOTH
def test_q26_one_superfluous_resume_does_no_harm(machine):
    vm = machine(": w 7 ; 1")
    vm.run()
    with pytest.raises(ValueError, match="is done"):
        vm.resume()
    vm.call("w")
    assert vm.stack == [1, 7]
    vm = machine("input x x b-> stack")
    assert vm.run({"x": b""}, **QUIET) == "read beyond"
    with pytest.raises(ValueError, match="read beyond"):
        vm.begin_again({"x": b"\x01"})
    vm.begin_again({"x": b"\x01"}, clear_error=True)
    vm.resume()
    assert vm.stack == [1]


@BOTH
def test_q27_the_bytecode_of_a_word(machine):
    vm = machine(": f 1 if 2 then ; : g 3 ;")
    assert vm["f"].tolist() == [0, 1, 3, 73]
    assert vm["g"].tolist() == [0, 3]


@BOTH
def test_q28_inputs_are_never_written_to(machine, tmp_path):
    data = struct.pack(">3i", 1, 2, 3)
    (tmp_path / "data").write_bytes(data)
    vm = machine("input x output o int32 3 x #!i-> o")
    vm.run({"x": data})
    assert vm["o"].tolist() == [1, 2, 3]
    with (tmp_path / "data").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        vm = machine("input x output o int32 3 x #!i-> o 0 x seek x i-> stack")
        vm.run({"x": np.frombuffer(mapped, "u1")})
        assert vm["o"].tolist() == [1, 2, 3]
        vm.reset()
        del vm


@BOTH
def test_q29_arrays_with_strides_are_refused(machine):
    whole = np.arange(20, dtype="u1")
    vm = machine("input x 3 x #b-> stack")
    for strided in (whole[::2], whole[::-1], np.asfortranarray(whole.reshape(4, 5)), memoryview(whole)[::2]):
        with pytest.raises(ValueError, match="input x is not contiguous"):
            vm.run({"x": strided})
    vm.run({"x": whole[5:]})
    assert vm.stack == [5, 6, 7]
    vm.run({"x": whole.reshape(4, 5)[1:]})
    assert vm.stack == [5, 6, 7]


@BOTH
def test_q30_an_input_cannot_be_resized_while_it_is_held(machine):
    data = bytearray(b"\x01\x02\x03")
    vm = machine("input x x b-> stack pause x b-> stack")
    vm.run({"x": data})
    with pytest.raises(BufferError):
        data.extend(b"\x00" * 1000000)
    vm.resume()
    assert vm.stack == [1, 2]
    vm.reset()
    data.extend(b"\x00")


@BOTH
def test_q31_begin_again_without_an_input(machine):
    vm = machine("input x x b-> stack")
    vm.run({"x": b"\x01"})
    with pytest.raises(ValueError, match="not provided"):
        vm.begin_again({})
    vm.begin_again({"x": b"\x02"})
    vm.resume()
    assert vm.stack == [1, 2]


@BOTH
def test_q31_beginning_again_and_again(machine):
    vm = machine("1", recursion_depth=5)
    vm.run()
    for _ in range(5):
        vm.begin_again({})
    for _ in range(100):
        with pytest.raises(ValueError, match="recursion depth exceeded"):
            vm.begin_again({})
    vm.run()
    assert vm.stack == [1]


@BOTH
def test_q32_a_call_counts_as_depth(machine):
    vm = machine(": w 1 ; pause 2", recursion_depth=1)
    vm.run()
    assert vm.call("w", **QUIET) == "recursion depth exceeded"


@BOTH
def test_q33_nothing_runs_so_the_segment_is_done(machine):
    vm = machine("1")
    assert vm.is_segment_done
    vm.run()
    assert vm.is_segment_done


@BOTH
def test_q34_sizes_that_make_no_sense(machine):
    for name in ("stack_size", "recursion_depth", "string_buffer_size", "output_initial_size"):
        with pytest.raises(ValueError, match=name):
            machine("1", **{name: -1})
    with pytest.raises(ValueError, match="recursion_depth"):
        machine("1", recursion_depth=0)
    vm = machine("1", stack_size=0)
    assert vm.run(raise_stack_overflow=False) == "stack overflow"


@BOTH
def test_q35_words_like_bit_fields(machine):
    with pytest.raises(ValueError, match="line 1"):
        machine("input x x 3foobit-> stack")
    assert stack(machine, ": 99999999999bit-> 5 ; 99999999999bit->") == [5]


def test_q37_every_write_is_counted():
    vm = ForthMachine64("input x output o int64 x varint-> o x 3bit-> o x textint-> o", tier=0)
    vm.run({"x": b"\x01\x021"})
    assert vm.count_writes == 3


def test_q39_printing_goes_to_sys_stdout(capsys):
    ForthMachine64("1 .").run()
    assert capsys.readouterr().out == "1 "


@BOTH
def test_q40_decompiled_strings_compile(machine):
    vm = machine('s" say \\"hello\\" " 1')
    assert machine(vm.decompiled).string_at(0) == vm.string_at(0) == 'say "hello" '


@BOTH
def test_q42_pointer_sized_numbers_have_eight_bytes(machine):
    vm = machine("input x x n-> stack x N-> stack x pos")
    vm.run({"x": struct.pack("<qQ", -1, 5)})
    assert vm.stack == [-1, 5, 16]


@BOTH
def test_q43_a_pause_at_the_very_end(machine):
    vm = machine("1 pause")
    vm.run()
    assert vm.is_done
    vm = machine("1 if pause then")
    vm.run()
    assert not vm.is_done
    vm.resume()
    assert vm.is_done
