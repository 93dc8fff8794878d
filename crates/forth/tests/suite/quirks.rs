//! What awkward's machine does and this one mends, by the number the specification gives it.

use std::sync::{Arc, Mutex};

use forthwith_forth::{Compiled, Limits, LiteralWidth, Machine, Options, RunError, Status, Tier};

use super::support::{f64s, fails, i64s, run, stack, stack32};

#[test]
fn q1_literals_are_cut_to_32_bits_unless_told_otherwise() {
    assert_eq!(stack("3000000000 0xffffffff"), [-1294967296, -1]);
    assert_eq!(stack32("3000000000 0xffffffff"), [-1294967296, -1]);
    assert_eq!(Compiled::new("1 3000000000\n 7 -2147483649").unwrap().cut_literals(), [(1, 3), (2, 4)]);
    let wide = Options::default().literal_width(LiteralWidth::Bits64);
    let program = Compiled::with_options("3000000000 0xffffffff", wide).unwrap();
    let mut vm = Machine::new(Arc::new(program), Limits::default());
    vm.run(&[]).unwrap();
    assert_eq!((vm.stack(), vm.compiled().cut_literals()), (&[3_000_000_000, 0xffff_ffff][..], vec![]));
}

#[test]
fn q2_phrases_may_be_broken_over_lines() {
    assert_eq!(stack("variable ( a comment )\n x 3 x\n ! x \\ more\n @"), [3]);
    let (vm, _) = run("input x x enum s\" a\"\n s\" b\"", &[], &[b"b"]);
    assert_eq!(vm.stack(), [1]);
}

#[test]
fn q3_structure_inside_comments_and_strings_does_not_count() {
    assert_eq!(stack(": f ( a ; b ) 1 ; f"), [1]);
    assert_eq!(stack("1 if ( then s\" ) 2 then"), [2]);
    assert_eq!(stack("1 if s\" then\" then"), [0, 4]);
}

#[test]
fn q4_q5_lexical_oddities() {
    assert_eq!(stack("0x-5 +5"), [-5, 5]);
    assert!(Compiled::new("s\" a\\\"").is_err());
}

#[test]
fn q6_plus_loop_does_not_count_down() {
    assert!(stack("0 10 do i -1 +loop").is_empty());
    let (vm, result) = run("10 0 do i -1 +loop", &[], &[]);
    assert_eq!((result, vm.stack().len(), vm.stack()[1023]), (Err(RunError::StackOverflow), 1024, -1023));
}

#[test]
fn q7_exit_leaves_the_loops_of_the_caller_alone() {
    assert_eq!(stack(": f exit ; 3 0 do f 1 loop"), [1, 1, 1]);
}

#[test]
fn q8_exit_drops_the_loops_of_the_word() {
    assert_eq!(stack(": f 5 0 do i 2 = if exit then i loop ; f f"), [0, 1, 0, 1]);
    assert_eq!(stack(": f 3 0 do exit loop ; : g 42 43 ; f g"), [42, 43]);
}

#[test]
fn q9_exit_inside_general_case_leaves_the_word() {
    assert_eq!(stack(": f case 5 of 1 exit endof 6 of 2 exit endof 3 exit endcase 99 ; 5 f 6 f"), [1, 2]);
}

#[test]
fn q10_smallest_by_minus_one_wraps() {
    assert_eq!(
        stack32("-2147483648 -1 / -2147483648 -1 mod -2147483648 -1 /mod"),
        [i64::from(i32::MIN), 0, 0, i64::from(i32::MIN)]
    );
    let (vm, _) = run("input x x q-> stack dup -1 / swap -1 mod", &[], &[&i64::MIN.to_le_bytes()]);
    assert_eq!(vm.stack(), [i64::MIN, 0]);
}

#[test]
fn q11_modulo_does_not_overflow() {
    assert_eq!(stack32("2147483646 2147483647 mod"), [2147483646]);
    assert_eq!(stack32("-1 2147483647 mod"), [2147483646]);
}

#[test]
fn q12_abs_uses_the_whole_width() {
    let (vm, _) = run("input x x q-> stack abs", &[], &[&(-5_000_000_000_i64).to_le_bytes()]);
    assert_eq!(vm.stack(), [5_000_000_000]);
    assert_eq!(stack32("-2147483648 abs"), [i64::from(i32::MIN)]);
}

#[test]
fn q13_shift_counts_are_modulo_the_width() {
    assert_eq!(stack("1 65 lshift -8 1 rshift 1 -1 lshift"), [2, -4, i64::MIN]);
    assert_eq!(stack32("1 33 lshift -8 33 rshift"), [2, -4]);
}

#[test]
fn q14_tenth_byte_of_a_varint() {
    let mut ten = [0xff; 10];
    ten[9] = 1;
    let (vm, _) = run("input x x varint-> stack", &[], &[&ten]);
    assert_eq!(vm.stack(), [-1]);
    let (vm, _) = run("input x x zigzag-> stack", &[], &[&ten]);
    assert_eq!(vm.stack(), [i64::MIN]);
    ten[9] = 2;
    assert_eq!(fails("input x x varint-> stack", &[&ten]).0, RunError::VarintTooBig);
    assert_eq!(fails("input x x varint-> stack", &[&[0x80; 11]]).0, RunError::VarintTooBig);
}

#[test]
fn q15_text_integers_take_every_int64() {
    for text in ["9223372036854775807 ", "-9223372036854775808 ", "1000000000000000000 "] {
        let (vm, _) = run("input x x textint-> stack", &[], &[text.as_bytes()]);
        assert_eq!(vm.stack(), [text.trim().parse::<i64>().unwrap()]);
    }
    for text in
        ["9223372036854775808", "-9223372036854775809", "99999999999999999999999999999999999999999999"]
    {
        assert_eq!(fails("input x x textint-> stack", &[text.as_bytes()]).0, RunError::VarintTooBig);
    }
}

#[test]
fn q16_quoted_strings_need_bytes() {
    assert!(Compiled::new("input x output y int32 x quotedstr-> y").is_err());
    assert!(Compiled::new("input x output y int8 x quotedstr-> y").is_ok());
}

#[test]
fn q17_bang_reverses_bits_and_msb_does_not() {
    let (vm, _) = run(
        "input x x !4bit-> stack x !8bit-> stack 0 x seek x 4msb-> stack x 8msb-> stack",
        &[],
        &[&[0xb0; 2]],
    );
    assert_eq!(vm.stack(), [13, 13, 11, 0xb0]);
}

#[test]
fn q18_wide_bit_fields() {
    for bits in 1..=64_u32 {
        let mask = u64::MAX >> (64 - bits);
        let values: Vec<u64> = (0..9).map(|k| 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(k + 1) & mask).collect();
        let mut bytes = vec![0_u8; (9 * bits as usize).div_ceil(8)];
        for (k, value) in values.iter().enumerate() {
            for bit in 0..bits as usize {
                let at = k * bits as usize + bit;
                bytes[at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
            }
        }
        let (vm, _) = run(&format!("input x 9 x #{bits}bit-> stack"), &[], &[&bytes]);
        assert_eq!(vm.stack(), values.iter().map(|&v| v as i64).collect::<Vec<_>>(), "{bits}");
    }
}

#[test]
fn q19_text_floats_are_correctly_rounded() {
    let text = "0.1234567890123456789012 1e-320 0e400 2.2250738585072011e-308";
    let (vm, _) = run("input x output y float64 4 x #textfloat-> y", &[], &[text.as_bytes()]);
    let expected: Vec<f64> = text.split(' ').map(|t| t.parse().unwrap()).collect();
    assert_eq!(f64s(&vm.outputs()[0]), expected);
}

#[test]
fn q20_surrogate_pairs() {
    let (vm, _) = run("input x output y uint8 x quotedstr-> y", &[], &[br#""\ud83d\ude00""#]);
    assert_eq!(vm.outputs()[0].as_bytes(), "😀".as_bytes());
    assert_eq!(
        fails("input x output y uint8 x quotedstr-> y", &[br#""\ud83dx""#]).0,
        RunError::QuotedStringMissing
    );
}

#[test]
fn q21_bool_outputs_hold_zero_and_one() {
    let (vm, _) =
        run("input x output y bool output z int8 3 x #?-> y 0 x seek 3 x #?-> z", &[], &[&[0, 2, 255]]);
    assert_eq!(vm.outputs()[0].as_bytes(), [0, 1, 1]);
    assert_eq!(vm.outputs()[1].as_bytes(), [0, 2, 255]);
}

#[test]
fn q22_floats_out_of_range_are_defined() {
    let bytes: Vec<u8> = [f64::INFINITY, 3e9, 1e19, -1.5].iter().flat_map(|x| x.to_le_bytes()).collect();
    let column = |dtype: &str| -> Vec<String> {
        // One at a time and all at once are the same.
        let one = format!("input x output y {dtype} 4 0 do x d-> y loop");
        let all = format!("input x output y {dtype} 4 x #d-> y");
        let [one, all] =
            [one, all].map(|source| run(&source, &[], &[&bytes]).0.outputs()[0].as_bytes().to_vec());
        assert_eq!(one, all, "{dtype}");
        let (vm, _) = run(&format!("input x output y {dtype} 4 x #d-> y"), &[], &[&bytes]);
        vm.outputs()[0].values().map(|value| value.to_string()).collect()
    };
    assert_eq!(column("int64"), ["-9223372036854775808", "3000000000", "-9223372036854775808", "-1"]);
    assert_eq!(column("int32"), ["-2147483648", "-2147483648", "-2147483648", "-1"]);
    assert_eq!(column("int16"), ["0", "0", "0", "-1"]);
    assert_eq!(column("uint8"), ["0", "0", "0", "255"]);
    assert_eq!(column("uint32"), ["0", "3000000000", "2313682944", "4294967295"]);
    assert_eq!(
        column("uint64"),
        ["9223372036854775808", "3000000000", "10000000000000000000", "18446744073709551615"]
    );
    assert_eq!(column("bool"), ["1"; 4]);
}

#[test]
fn q23_negative_rewind() {
    assert_eq!(fails("output y int64 1 y <- stack -1 y rewind", &[]).0, RunError::RewindBeyond);
}

#[test]
fn q24_absurd_counts_and_full_memory_are_errors() {
    for (source, count, error) in [
        ("input x output y int8 x #q-> y", 1 << 61, RunError::ReadBeyond),
        ("input x x #q-> stack", 1 << 61, RunError::ReadBeyond),
        ("input x output y int8 x #d-> y", i64::MAX, RunError::ReadBeyond),
        ("input x output y int64 1 y <- stack y dup", i64::MAX, RunError::OutOfMemory),
        ("input x output y int64 1 y <- stack y dup", 1 << 60, RunError::OutOfMemory),
    ] {
        let (vm, result) = run(source, &[count], &[&[1; 16]]);
        assert_eq!((result, vm.position(0)), (Err(error), 0), "{source}");
        assert_eq!(vm.error(), Some(error), "the machine is in the error state");
    }
}

#[test]
fn q25_step_finishes_do_loops() {
    let program = Compiled::new("3 0 do i loop").unwrap();
    let mut vm = Machine::new(Arc::new(program), Limits::default());
    vm.begin();
    for _ in 0..100 {
        if vm.step(&[]).unwrap() == Status::Done {
            assert_eq!(vm.stack(), [0, 1, 2]);
            return;
        }
    }
    panic!("endless");
}

#[test]
fn q26_is_done_and_not_ready_do_not_stick_and_errors_can_be_cleared() {
    let mut vm =
        Machine::new(Arc::new(Compiled::new(": f 7 ; input x x B-> stack").unwrap()), Limits::default());
    assert_eq!(vm.call("f", &[&[]]), Err(RunError::NotReady));
    vm.begin();
    vm.resume(&[&[1]]).unwrap();
    assert_eq!(vm.resume(&[&[1]]), Err(RunError::IsDone));
    assert_eq!(vm.call("f", &[&[1]]), Ok(Status::Done));
    assert_eq!(vm.stack(), [1, 7]);
    vm.begin_again(true).unwrap();
    assert_eq!(vm.resume(&[&[]]), Err(RunError::ReadBeyond));
    // Begun again in the error state, it says so instead of doing nothing.
    assert_eq!(vm.begin_again(true), Err(RunError::ReadBeyond));
    vm.clear_error();
    vm.begin_again(true).unwrap();
    assert_eq!(vm.resume(&[&[5]]), Ok(Status::Done));
    assert_eq!(vm.stack(), [1, 7, 5]);
}

#[test]
fn q27_words_are_found_by_name_whatever_stands_before() {
    let program = Compiled::new(": f 1 if 2 else 3 then ; : g 42 ;").unwrap();
    let offsets = program.bytecodes_offsets();
    assert_eq!(program.dictionary(), ["f", "g"]);
    assert_eq!(program.word_bytecodes("g"), Some(&[0, 42][..]));
    assert_eq!(program.word_bytecodes("f").map(<[i32]>::len), Some((offsets[2] - offsets[1]) as usize));
    assert_eq!(program.word_bytecodes("h"), None);
}

#[test]
fn q28_inputs_are_never_written() {
    let bytes = [0, 0, 0, 1, 0, 0, 0, 2];
    let (vm, _) = run("input x output y int64 2 x #!i-> y", &[], &[&bytes]);
    assert_eq!(i64s(&vm.outputs()[0]), [1, 2]);
}

/// Inputs are borrowed for one call at a time, so nothing that moves in between can be looked at.
#[test]
fn q29_q30_inputs_are_contiguous_and_borrowed() {
    let mut vm = Machine::new(
        Arc::new(Compiled::new("input x x B-> stack pause x B-> stack").unwrap()),
        Limits::default(),
    );
    let mut bytes = vec![1, 2, 3];
    vm.begin();
    vm.resume(&[&bytes]).unwrap();
    bytes.clear();
    assert_eq!(vm.resume(&[&bytes]), Err(RunError::InputMismatch));
    bytes.extend([7; 4096]);
    assert_eq!(vm.resume(&[&bytes]), Ok(Status::Done));
    assert_eq!(vm.stack(), [1, 7]);
}

#[test]
fn q31_begin_again_checks_first_and_has_a_limit() {
    let mut vm = Machine::new(Arc::new(Compiled::new("input x x B-> stack").unwrap()), Limits::default());
    assert_eq!(vm.begin_again(true), Err(RunError::NotReady));
    vm.begin();
    assert_eq!(vm.resume(&[]), Err(RunError::InputMismatch));
    assert_eq!(vm.resume(&[&[4]]), Ok(Status::Done));
    let times = (0..5000).take_while(|_| vm.begin_again(true).is_ok()).count();
    assert_eq!(times, 1024);
    assert_eq!(vm.begin_again(true), Err(RunError::RecursionDepthExceeded));
}

#[test]
fn q32_call_checks_the_depth() {
    let mut limits = Limits::default();
    limits.recursion = 1;
    let mut vm = Machine::new(Arc::new(Compiled::new(": f 1 ; pause 2").unwrap()), limits);
    vm.begin();
    vm.resume(&[]).unwrap();
    assert_eq!(vm.call("f", &[]), Err(RunError::RecursionDepthExceeded));
    vm.clear_error();
    assert_eq!(vm.resume(&[]), Ok(Status::Done));
    assert_eq!(vm.stack(), [2]);
}

#[test]
fn q33_q34_nothing_running_and_limits_of_nothing() {
    let mut limits = Limits::default();
    limits.recursion = 0;
    let mut vm = Machine::new(Arc::new(Compiled::new("1").unwrap()), limits);
    assert!(vm.is_done() && vm.is_segment_done() && !vm.is_ready());
    assert_eq!((vm.bytecode_position(), vm.recursion_depth()), (None, None));
    // A limit of nothing leaves room for the main program and for nothing else.
    assert_eq!(vm.run(&[]), Ok(Status::Done));
    limits.stack = 0;
    let mut vm = Machine::new(Arc::new(Compiled::new("1").unwrap()), limits);
    assert_eq!(vm.run(&[]), Err(RunError::StackOverflow));
}

#[test]
fn q35_widths_of_bit_fields_are_exact() {
    assert!(Compiled::new("input x x 3foobit-> stack").is_err());
    assert!(Compiled::new("input 99999999999bit->").is_ok());
}

#[test]
fn q37_direct_writes_are_counted() {
    let source = "input x output y int64 x varint-> y x zigzag-> y x 3bit-> y x textint-> y
        x skipws x textfloat-> y x B-> y 2 y dup";
    let mut vm = Machine::new(Arc::new(Compiled::new(source).unwrap()), Limits::default());
    vm.force_tier(Some(Tier::Checked));
    vm.run(&[b"\x01\x01\x015 0\x01"]).unwrap();
    assert_eq!((vm.counters().reads, vm.counters().writes), (6, 7));
}

/// Outputs are borrowed from the machine or taken from it; they are not held while they change.
#[test]
fn q38_outputs_taken_stay_as_they_are() {
    let mut vm = Machine::new(
        Arc::new(Compiled::new("output y int64 1 y <- stack pause 1 y rewind 2 y <- stack").unwrap()),
        Limits::default(),
    );
    vm.begin();
    vm.resume(&[]).unwrap();
    assert_eq!(i64s(&vm.outputs()[0]), [1]);
    let taken = vm.take_outputs();
    vm.run(&[]).unwrap();
    vm.resume(&[]).unwrap();
    assert_eq!((i64s(&taken[0]), i64s(&vm.outputs()[0])), (vec![1], vec![2]));
}

#[test]
fn q39_printing_goes_where_the_host_says() {
    let text = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&text);
    let mut vm = Machine::new(Arc::new(Compiled::new(".\" a\0b\" 1 . cr .s").unwrap()), Limits::default());
    vm.set_printer(Some(Box::new(move |part| sink.lock().unwrap().push_str(part))));
    vm.run(&[]).unwrap();
    assert_eq!(*text.lock().unwrap(), "a1 \n<0> <- top ");
    vm.set_printer(None);
    assert_eq!(vm.run(&[]), Ok(Status::Done));
}

#[test]
fn q40_decompiled_text_with_quotes_compiles_again() {
    for source in ["s\" say \\\"hi\\\" \"", ".\" \\\"\"", "input x x enum s\" \\\"\"\n s\" a\nb\""] {
        let program = Compiled::new(source).unwrap();
        let again = Compiled::new(&program.decompiled()).unwrap();
        assert_eq!(again.strings(), program.strings(), "{source}");
        assert_eq!(again.bytecodes(), program.bytecodes());
        assert_eq!(again.decompiled(), program.decompiled());
    }
}

#[test]
fn q41_both_forms_of_case_mean_the_same() {
    for selector in -1..4 {
        let table =
            stack(&format!("{selector} case 0 of 10 endof 1 of 11 endof 2 of 12 endof 99 swap endcase"));
        let chain =
            stack(&format!("{selector} case 1 1 - of 10 endof 1 of 11 endof 2 of 12 endof 99 swap endcase"));
        assert_eq!(table, chain, "{selector}");
    }
    let codes = |source: &str| Compiled::new(source).unwrap().bytecodes()[2];
    assert_eq!(codes("5 case 0 of endof 1 of endof endcase"), 5);
    assert_ne!(codes("5 case 1 of endof 0 of endof endcase"), 5);
}

#[test]
fn q42_pointers_have_8_bytes() {
    let (vm, _) = run("input x x n-> stack x N-> stack x pos", &[], &[&[1; 16]]);
    assert_eq!(vm.stack(), [0x0101_0101_0101_0101, 0x0101_0101_0101_0101, 16]);
}

#[test]
fn q43_pause_as_last_instruction() {
    let (_, result) = run("1 pause", &[], &[]);
    assert_eq!(result, Ok(Status::Done));
}
