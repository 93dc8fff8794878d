//! What awkward's machine does and this one mends, by the number the specification gives it.

use forthwith_forth::{Compiled, RunError, Status};

use super::support::{f64s, fails, i64s, run, stack, stack32};

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
fn q23_negative_rewind() {
    assert_eq!(fails("output y int64 1 y <- stack -1 y rewind", &[]).0, RunError::RewindBeyond);
}

#[test]
fn q25_step_finishes_do_loops() {
    use std::sync::Arc;
    let program = Compiled::new("3 0 do i loop").unwrap();
    let mut vm = forthwith_forth::Machine::new(Arc::new(program), forthwith_forth::Limits::default());
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
fn q28_inputs_are_never_written() {
    let bytes = [0, 0, 0, 1, 0, 0, 0, 2];
    let (vm, _) = run("input x output y int64 2 x #!i-> y", &[], &[&bytes]);
    assert_eq!(i64s(&vm.outputs()[0]), [1, 2]);
}

#[test]
fn q35_widths_of_bit_fields_are_exact() {
    assert!(Compiled::new("input x x 3foobit-> stack").is_err());
    assert!(Compiled::new("input 99999999999bit->").is_ok());
}

#[test]
fn q43_pause_as_last_instruction() {
    let (_, result) = run("1 pause", &[], &[]);
    assert_eq!(result, Ok(Status::Done));
}
