//! Bulk words against plain loops, and what they do at the edges.

use std::sync::Arc;

use forthwith_forth::{CompileErrorKind, Compiled, Limits, LiteralWidth, Machine, Options, RunError, Status};
use proptest::prelude::*;

use super::support::{compiled, fails, i32s, i64s, run, run_compiled, u64s};

fn leb128(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Packs from the lowest bit on, padded to a whole number of eights.
fn pack(values: &[u64], bits: u32, to: &mut Vec<u8>) {
    let groups = values.len().div_ceil(8);
    let mut packed = vec![0_u8; groups * bits as usize];
    for (at, value) in values.iter().enumerate() {
        for bit in 0..bits as usize {
            let place = at * bits as usize + bit;
            packed[place / 8] |= ((value >> bit & 1) as u8) << (place % 8);
        }
    }
    leb128((groups as u64) << 1 | 1, to);
    to.extend(packed);
}

fn repeat(value: u64, times: u64, bits: u32, to: &mut Vec<u8>) {
    leb128(times << 1, to);
    to.extend(&value.to_le_bytes()[..bits.div_ceil(8) as usize]);
}

#[test]
fn hybrid_runs() {
    let mut data = Vec::new();
    pack(&[0, 1, 2, 3, 3, 2, 1, 0], 2, &mut data);
    repeat(2, 3, 2, &mut data);
    repeat(1, 2, 2, &mut data);
    data.push(9);
    let (vm, result) = run("input x output y uint8 13 x #2rle-> y x B-> stack", &[], &[&data]);
    assert_eq!((result, vm.stack()), (Ok(Status::Done), &[9][..]));
    assert_eq!(vm.outputs()[0].as_bytes(), [0, 1, 2, 3, 3, 2, 1, 0, 2, 2, 2, 1, 1]);
    // The width may be on the stack; runs that go on behind the count are cut.
    let (vm, _) = run("input x output y int64 5 2 x #rle-> y x pos", &[], &[&data]);
    assert_eq!((i64s(&vm.outputs()[0]), vm.stack()), (vec![0, 1, 2, 3, 3], &[3][..]));
    let (vm, _) = run("input x output y int32 10 2 x #rle-> y x pos", &[], &[&data]);
    assert_eq!((i32s(&vm.outputs()[0]).len(), vm.stack()), (10, &[5][..]));
    for count in [0, -7] {
        let (vm, _) = run(&format!("input x output y int32 {count} x #2rle-> y"), &[], &[&data]);
        assert_eq!((vm.outputs()[0].len(), vm.position(0)), (0, 0));
    }
}

#[test]
fn hybrid_failures_keep_earlier_runs_and_stand_at_the_head() {
    let mut data = Vec::new();
    repeat(2, 3, 2, &mut data);
    let (vm, result) = run("input x output y uint8 4 x #2rle-> y", &[], &[&data]);
    assert_eq!((result, vm.position(0), vm.outputs()[0].len()), (Err(RunError::ReadBeyond), 2, 3));
    // Headers without what they announce, and a header that never ends.
    for bad in [&[3, 1][..], &[4], &[0x80], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]] {
        let bytes = [&[data[0], 2, 0, 0][..], bad].concat();
        let (vm, result) = run("input x output y uint8 1000 x #20rle-> y", &[], &[&bytes]);
        assert_eq!(
            (result, vm.position(0), vm.outputs()[0].len()),
            (Err(RunError::ReadBeyond), 4, 3),
            "{bytes:?}"
        );
    }
    let (vm, result) = run("input x output y uint8 9 x #2rle-> y", &[], &[&[0xff; 12]]);
    assert_eq!((result, vm.position(0)), (Err(RunError::VarintTooBig), 0));
    for width in ["-1", "65"] {
        assert_eq!(
            fails(&format!("input x output y uint8 9 {width} x #rle-> y"), &[&[0; 12]]).0,
            RunError::VarintTooBig
        );
    }
    assert_eq!(fails("input x output y uint8 x #2rle-> y", &[&[0; 12]]).0, RunError::StackUnderflow);
    assert_eq!(fails("input x output y uint8 2 x #rle-> y", &[&[0; 12]]).0, RunError::StackUnderflow);
    // Zero bits are all zero, and need no bytes.
    let (vm, _) = run("input x output y uint8 100 0 x #rle-> y", &[], &[&[200, 1]]);
    assert_eq!(vm.outputs()[0].as_bytes(), [0; 100]);
}

#[test]
fn a_run_of_absurd_length_is_an_error() {
    let mut data = Vec::new();
    leb128(u64::MAX - 1, &mut data);
    data.push(1);
    let mut limits = Limits::default();
    limits.output_bytes = Some(1 << 20);
    for (count, error) in
        [(i64::MAX, RunError::OutputLimitExceeded), (1 << 40, RunError::OutputLimitExceeded)]
    {
        let program = Compiled::new("input x output y uint16 x #3rle-> y").unwrap();
        let mut vm = Machine::new(Arc::new(program), limits);
        vm.begin();
        vm.push(count).unwrap();
        let result = vm.resume(&[&data]);
        assert!(
            matches!(result, Err(found) if found == error || found == RunError::OutOfMemory),
            "{result:?}"
        );
        assert_eq!((vm.position(0), vm.outputs()[0].len()), (0, 0));
    }
}

/// A list of optional lists of optional numbers: `[[1, None], None, []], [], None, [[2]]`; three entries
/// exist. Definition levels: 0 no outer list, 1 outer empty, 2 inner missing, 3 inner empty, 4 number
/// missing, 5 number.
const REPETITION: [u8; 7] = [0, 2, 1, 1, 0, 0, 0];
const DEFINITION: [u8; 7] = [5, 4, 2, 3, 1, 0, 5];

#[test]
fn levels_of_lists_in_options() {
    let source = "input rep input def
        output here bool output outer int64 output inside int32 output inner int64 output index int64
        variable n def len n !
          : back 0 rep seek 0 def seek ;
        n @ 0 0 1 rep def #valid-> here
        back n @ 0 0 2 rep def #offsets-> outer
        back n @ 1 2 3 0 rep def #index-> inside
        back n @ 1 2 4 rep def #offsets-> inner
        back n @ 2 4 5 0 rep def #index-> index";
    let (vm, result) = run(source, &[], &[&REPETITION, &DEFINITION]);
    assert_eq!(result, Ok(Status::Done));
    let outputs = vm.outputs();
    assert_eq!(outputs[0].as_bytes(), [1, 1, 0, 1]);
    // Without a leading zero, which is for the first block of the column, a slot's offset is what its list
    // ends at.
    assert_eq!(i64s(&outputs[1]), [3, 3, 3, 4]);
    assert_eq!(i32s(&outputs[2]), [0, -1, 1, 2]);
    assert_eq!(i64s(&outputs[3]), [2, 2, 2, 3]);
    assert_eq!(i64s(&outputs[4]), [0, -1, 1]);
    assert_eq!(vm.stack(), [3, 4, 3, 3, 2]);
}

#[test]
fn lists_may_go_on_in_the_next_page() {
    let source = "input rep input def output outer int64 0 outer <- stack
        4 0 0 1 rep def #offsets-> outer 3 0 0 1 rep def #offsets-> outer";
    let (vm, _) = run(source, &[], &[&[0, 1, 0, 1, 1, 0, 1], &[1, 1, 1, 1, 1, 0, 0]]);
    assert_eq!((i64s(&vm.outputs()[0]), vm.stack()), (vec![0, 2, 5, 5], &[4, 1][..]));
    // Nothing to go on with is an error.
    let orphan = "input rep input def output outer int64 2 0 0 1 rep def #offsets-> outer";
    let (vm, result) = run(orphan, &[], &[&[1, 0], &[1, 1]]);
    assert_eq!((result, vm.position(0), vm.outputs()[0].len()), (Err(RunError::RewindBeyond), 0, 0));
}

#[test]
fn levels_are_all_or_nothing() {
    let source = |words: &str| format!("input rep input def output y int64 {words} rep def #offsets-> y");
    let (vm, result) = run(&source("3 0 0 1"), &[], &[&[0; 3], &[1; 2]]);
    assert_eq!((result, vm.position(0), vm.position(1)), (Err(RunError::ReadBeyond), 0, 0));
    assert_eq!(run(&source("-3 0 0 1"), &[], &[&[0; 3], &[1; 2]]).0.stack(), [0]);
    assert_eq!(fails(&source("0 0 1"), &[&[], &[]]).0, RunError::StackUnderflow);
    let mut vm = run(&source("-1 0 0 1"), &[], &[&[], &[]]).0;
    vm.begin();
    // Levels no byte can have are no slots, or no items.
    for (words, items, expected) in [
        ("-5 0 1", 0, vec![]),
        ("0 256 256", 0, vec![]),
        ("0 0 300", 0, vec![0, 0]),
        ("300 0 1", 2, vec![1, 2]),
    ] {
        let (vm, result) = run(&source(&format!("2 {words}")), &[], &[&[0; 2], &[1; 2]]);
        assert_eq!(
            (result, i64s(&vm.outputs()[0]), vm.stack()),
            (Ok(Status::Done), expected, &[items][..]),
            "{words}"
        );
    }
    let (_, result) = run("input def output y int64 0 0 1 def #offsets-> y", &[i64::MAX], &[&[0; 3]]);
    assert_eq!(result, Err(RunError::ReadBeyond));
}

#[test]
fn bulk_phrases_are_checked() {
    let kind = |text: &str| {
        Compiled::new(&format!("input a input b output f float32 output n int32 output u uint8 {text}"))
            .expect_err(text)
            .kind()
    };
    for text in ["a #3rle-> f", "a #offsets-> u", "a #valid-> n", "a #index-> f"] {
        assert_eq!(kind(text), CompileErrorKind::BulkDtype, "{text}");
    }
    for text in ["a #3rle-> stack", "a #offsets->", "a b #valid-> a"] {
        assert_eq!(kind(text), CompileErrorKind::BulkWithoutOutput, "{text}");
    }
    for text in ["a b", "a b #3rle-> n", "a b i-> n"] {
        assert_eq!(kind(text), CompileErrorKind::RepetitionWithoutLevels, "{text}");
    }
    // Names of ours are not reserved words.
    assert!(Compiled::new("input #offsets-> variable 3msb-> : #2rle-> 1 ;").is_ok());
}

#[test]
fn bulk_words_decompile_to_themselves() {
    let text = "input a\ninput b\noutput n int32\n\na #3rle-> n\na #rle-> n\na b #offsets-> n\nb #index-> n\na #7msb-> n\n";
    assert_eq!(Compiled::new(text).unwrap().decompiled(), text);
    let codes = Compiled::new(text).unwrap().bytecodes().to_vec();
    assert_eq!(codes[..12], [-172, 0, 3, 0, -172, 0, 0, 0, -180, 1, 1, 0]);
}

#[test]
fn highest_bits_first() {
    let (vm, _) = run(
        "input x x 4msb-> stack x 8msb-> stack 3 x #5msb-> stack x pos",
        &[],
        &[&[0xb0, 0xb0, 0b1010_1110, 0b0011_0000]],
    );
    assert_eq!(vm.stack(), [11, 176, 0b10101, 0b11000, 0b11000, 4]);
    for bits in (1..=64_u32).step_by(if cfg!(miri) { 9 } else { 1 }) {
        let mask = u64::MAX >> (64 - bits);
        let values: Vec<u64> = (0..9).map(|k| 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(k + 1) & mask).collect();
        let mut bytes = vec![0_u8; (9 * bits as usize).div_ceil(8)];
        for (k, value) in values.iter().enumerate() {
            for bit in 0..bits as usize {
                let at = k * bits as usize + bit;
                bytes[at / 8] |= ((value >> (bits as usize - 1 - bit) & 1) as u8) << (7 - at % 8);
            }
        }
        let (vm, _) = run(&format!("input x output y uint64 9 x #{bits}msb-> y"), &[], &[&bytes]);
        assert_eq!(u64s(&vm.outputs()[0]), values, "{bits}");
    }
}

#[test]
fn literals_of_64_bits_are_an_option() {
    let wide = Options::default().literal_width(LiteralWidth::Bits64);
    let program = Compiled::with_options("3000000000 0xffffffff -9223372036854775808 7", wide).unwrap();
    assert!(program.cut_literals().is_empty());
    assert_eq!(program.bytecodes()[..3], [-201, -1294967296, 0]);
    assert_eq!(program.bytecodes()[9..], [0, 7]);
    assert_eq!(program.decompiled(), "3000000000\n4294967295\n-9223372036854775808\n7\n");
    let program = Arc::new(program);
    let mut vm = Machine::new(Arc::clone(&program), Limits::default());
    vm.run(&[]).unwrap();
    assert_eq!(vm.stack(), [3_000_000_000, 0xffff_ffff, i64::MIN, 7]);
    let mut vm = Machine::new32(program, Limits::default());
    vm.run(&[]).unwrap();
    assert_eq!(vm.stack(), [-1294967296, -1, 0, 7]);
    let cut = Compiled::new("1\n 3000000000").unwrap();
    assert_eq!((cut.cut_literals(), cut.bytecodes()), (vec![(2, 2)], &[0, 1, 0, -1294967296][..]));
}

/// Slots and items one by one.
fn plainly(rep: &[u8], def: &[u8], k: u8, p: u8, d: u8) -> (Vec<i64>, Vec<u8>, Vec<i64>, i64, i64) {
    let (mut offsets, mut valid, mut index) = (vec![0], Vec::new(), Vec::new());
    let (mut items, mut there) = (0, 0);
    for (&r, &l) in rep.iter().zip(def) {
        if r <= k && l >= p {
            offsets.push(items);
            valid.push(u8::from(l >= d));
            index.push(if l >= d { there } else { -1 });
            there += i64::from(l >= d);
        }
        if r <= k + 1 && l >= d {
            items += 1;
            *offsets.last_mut().unwrap() = items;
        }
    }
    (offsets, valid, index, items, there)
}

proptest! {
    #[test]
    fn levels_are_those_of_a_plain_loop(
        levels in prop::collection::vec((0_u8..4, 0_u8..6), 0..400),
        k in 0_u8..3, p in 0_u8..4, more in 0_u8..3, flat: bool, dense: bool,
    ) {
        let rep: Vec<u8> = levels.iter().map(|l| if flat || dense { 0 } else { l.0 }).collect();
        let def: Vec<u8> = levels.iter().map(|l| if dense { 5 } else { l.1 }).collect();
        let (offsets, valid, index, items, there) = plainly(&rep, &def, k, p, p + more);
        let inputs = if flat { "def" } else { "rep def" };
        let source = format!(
            "input rep input def output o int64 output w int32 output v bool output x int64 output y int32
             0 o <- stack 0 w <- stack variable n def len n !
               : back 0 rep seek 0 def seek ;
             n @ {k} {p} {d} {inputs} #offsets-> o back n @ {k} {p} {d} {inputs} #offsets-> w
             back n @ {k} {p} {d} {inputs} #valid-> v
             back n @ {k} {p} {d} 0 {inputs} #index-> x back n @ {k} {p} {d} 0 {inputs} #index-> y",
            d = p + more
        );
        let (vm, result) = run(&source, &[], &[&rep, &def]);
        prop_assert_eq!(result, Ok(Status::Done));
        prop_assert_eq!(i64s(&vm.outputs()[0]), offsets.clone());
        prop_assert_eq!(i32s(&vm.outputs()[1]), offsets.iter().map(|&x| x as i32).collect::<Vec<_>>());
        prop_assert_eq!(vm.outputs()[2].as_bytes(), valid);
        prop_assert_eq!(i64s(&vm.outputs()[3]), index.clone());
        prop_assert_eq!(i32s(&vm.outputs()[4]), index.iter().map(|&x| x as i32).collect::<Vec<_>>());
        prop_assert_eq!(vm.stack(), [items, items, there, there, there]);
    }

    #[test]
    fn hybrid_runs_are_those_of_a_plain_loop(
        runs in prop::collection::vec((any::<u64>(), 0_usize..90, any::<bool>()), 1..12),
        bits in 1_u32..=64, cut in 0_usize..12, dtype in 0_usize..4,
    ) {
        let (mut data, mut values) = (Vec::new(), Vec::new());
        for (seed, length, packed) in runs {
            let mask = u64::MAX >> (64 - bits);
            if packed {
                let run: Vec<u64> = (0..length as u64 / 8 * 8).map(|k| seed.wrapping_mul(k * 2 + 1) >> 3 & mask).collect();
                pack(&run, bits, &mut data);
                values.extend(run);
            } else {
                repeat(seed & mask, length as u64, bits, &mut data);
                values.extend(std::iter::repeat_n(seed & mask, length));
            }
        }
        values.truncate(values.len().saturating_sub(cut));
        let (name, size) = [("uint8", 1), ("int16", 2), ("uint32", 4), ("int64", 8)][dtype];
        let program = compiled(&format!("input x output y {name} x #{bits}rle-> y"));
        let (vm, result) = run_compiled(&program, &[values.len() as i64], &[&data]);
        prop_assert_eq!(result, Ok(Status::Done));
        let expected: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()[..size].to_vec()).collect();
        prop_assert_eq!(vm.outputs()[0].as_bytes(), &*expected);
        // Every cut is a clean error, or enough.
        for end in (0..data.len()).step_by(if cfg!(miri) { 41 } else { 1 }) {
            let (vm, result) = run_compiled(&program, &[values.len() as i64], &[&data[..end]]);
            prop_assert!(matches!(result, Ok(Status::Done) | Err(RunError::ReadBeyond)));
            let length = vm.outputs()[0].as_bytes().len();
            prop_assert_eq!(vm.outputs()[0].as_bytes(), &expected[..length]);
        }
    }
}
