//! Values that are stepped over: numbers of any length and anywhere near the end, texts, and steps back.

use std::sync::Arc;

use forthwith_forth::{Compiled, Limits, Machine, Status, Tier};

use super::support::agree;

const SOURCE: &str = "
input data  output kept uint8
0 do
  data zigzag-> stack drop
  data varint-> stack drop
  data zigzag-> stack case 0 of endof 1 of data zigzag-> stack drop endof 2 of 3 data skip endof 4 halt endcase
  data zigzag-> stack data skip
  data B-> kept
loop
";

/// A number in a given number of bytes, of which all but a few say nothing.
fn number(value: u8, bytes: usize) -> Vec<u8> {
    let mut number = vec![0x80; bytes];
    number[0] |= value;
    number[bytes - 1] &= 0x7f;
    number
}

/// Entries of numbers of some lengths: one with nothing, one with a number, one with three bytes.
fn entries(first: usize, second: usize, third: usize) -> Vec<u8> {
    let mut data = Vec::new();
    for branch in 0..3_u8 {
        data.extend(number(77, first));
        data.extend(number(0x7f, second));
        data.extend(number(2 * branch, 1 + second % 3));
        match branch {
            1 => data.extend(number(5, third)),
            2 => data.extend([1, 2, 3]),
            _ => {}
        }
        let text = (first * 7 + third) % 60;
        data.extend(number((2 * text as u8) & 0x7f, 1 + third % 4));
        data.extend(vec![9; text]);
        data.push(branch);
    }
    data
}

#[test]
fn numbers_of_any_length() {
    let compiled = Arc::new(Compiled::new(SOURCE).unwrap());
    for first in 1..=10 {
        for second in 1..=10 {
            for third in [1, 2, 3, 4, 5, 6, 8, 9, 10] {
                let data = entries(first, second, third);
                assert_eq!(agree(&compiled, 3, &[&data]), Ok(Status::Done), "{first} {second} {third}");
            }
        }
    }
}

#[test]
fn numbers_that_are_too_long() {
    let compiled = Arc::new(Compiled::new(SOURCE).unwrap());
    for bytes in [11, 12, 20] {
        for (first, second, third) in [(bytes, 1, 1), (1, bytes, 1), (2, 2, bytes)] {
            let mut data = entries(first, second, third);
            data.extend([0; 40]);
            assert!(agree(&compiled, 3, &[&data]).is_err(), "{first} {second} {third}");
        }
    }
}

#[test]
fn input_that_ends_anywhere() {
    let compiled = Arc::new(Compiled::new(SOURCE).unwrap());
    for (first, second, third) in [(1, 5, 2), (5, 1, 9), (2, 8, 5)] {
        let data = entries(first, second, third);
        for end in 0..data.len() {
            assert!(agree(&compiled, 3, &[&data[..end]]).is_err(), "{first} {second} {third} {end}");
        }
    }
}

#[test]
fn branches_that_are_none_and_steps_back() {
    let compiled = Arc::new(Compiled::new(SOURCE).unwrap());
    for branch in [1, 3, 5, 6, 7, 8, 126, 127] {
        let data = [2, 4, branch, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert!(agree(&compiled, 1, &[&data]).is_err(), "{branch}");
    }
    // Of each entry, the first two numbers are the end of the one before.
    let back = [2, 4, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for distance in 0..6 {
        let mut data = back;
        data[3] = 2 * distance + 1;
        for entries in 1..4 {
            let _ = agree(&compiled, entries, &[&data]);
        }
    }
}

/// What is stepped over together: a number of bytes, a number, a text; options of each; a text with a length
/// that goes on being of use; another input.
const TOGETHER: &str = "
input data  input others  output kept uint8  output lengths int32
: text data zigzag-> stack dup 0 < if 5 halt then data skip ;
0 do
  3 data skip  data zigzag-> stack drop  text
  data zigzag-> stack case 0 of endof 1 of data zigzag-> stack drop endof 4 halt endcase  2 data skip
  data zigzag-> stack case 0 of text endof 1 of endof 4 halt endcase
  data zigzag-> stack case 0 of endof 1 of 5 data skip endof 4 halt endcase
  others zigzag-> stack drop
  data zigzag-> stack dup data skip lengths <- stack
  others zigzag-> stack others skip
  text
  data zigzag-> stack dup case 0 of endof 1 of data zigzag-> stack drop endof 4 halt endcase lengths <- stack
  data B-> kept
loop
";

/// An entry of these: its numbers have as many bytes, its texts are so long, and its options are there by the
/// bits of a number.
fn together(bytes: usize, length: u8, there: u8) -> (Vec<u8>, Vec<u8>) {
    let text = |data: &mut Vec<u8>| {
        data.extend(if length < 64 { vec![2 * length] } else { vec![(2 * length) | 0x80, length >> 6] });
        data.extend(vec![9; length.into()]);
    };
    let option = |data: &mut Vec<u8>, bit: u8| {
        data.push(2 * (there >> bit & 1));
        there >> bit & 1 == 1
    };
    let mut data = vec![1, 2, 3];
    data.extend(number(77, bytes));
    text(&mut data);
    if option(&mut data, 0) {
        data.extend(number(5, bytes));
    }
    data.extend([0xff, 0xff]);
    if !option(&mut data, 1) {
        text(&mut data);
    }
    if option(&mut data, 2) {
        data.extend([0xff; 5]);
    }
    text(&mut data);
    text(&mut data);
    if option(&mut data, 3) {
        data.extend(number(5, bytes));
    }
    data.push(there);
    let mut others = number(33, bytes);
    text(&mut others);
    (data, others)
}

#[test]
fn things_that_are_stepped_over_together() {
    let compiled = Arc::new(Compiled::new(TOGETHER).unwrap());
    let mut all = (Vec::new(), Vec::new());
    let mut entries = 0;
    for bytes in [1, 2, 3, 8, 9, 10] {
        for length in [0, 1, 62, 63, 64, 127] {
            for there in 0..16 {
                let (data, others) = together(bytes, length, there);
                assert_eq!(
                    agree(&compiled, 1, &[&data, &others]),
                    Ok(Status::Done),
                    "{bytes} {length} {there}"
                );
                all.0.extend(data);
                all.1.extend(others);
                entries += 1;
            }
        }
    }
    assert_eq!(agree(&compiled, entries, &[&all.0, &all.1]), Ok(Status::Done));
}

#[test]
fn things_that_are_stepped_over_together_and_end_or_lie() {
    let compiled = Arc::new(Compiled::new(TOGETHER).unwrap());
    for there in 0..16 {
        let (data, others) = together(2, 3, there);
        for end in 0..data.len() {
            assert!(agree(&compiled, 1, &[&data[..end], &others]).is_err(), "{there} {end}");
        }
        // Far from the end, so that what lies is met by what steps over several things at once.
        let rest = [0; 300];
        for at in 0..data.len() {
            for byte in [0x01, 0x03, 0x04, 0x7f, 0x80, 0xff] {
                let mut data = data.clone();
                data[at] = byte;
                data.extend(rest);
                let _ = agree(&compiled, 2, &[&data, &others]);
            }
        }
    }
}

#[test]
fn the_number_that_selects_a_length_can_be_used_again() {
    let source = "input data output long int64 output index int64 output flags int64
        0 do
          data zigzag-> stack dup if long len index <- stack data zigzag-> long else -1 index <- stack then
          flags <- stack
        loop";
    let compiled = Arc::new(Compiled::new(source).unwrap());
    let data = [2, 8, 0, 2, 6, 0, 4, 4, 6, 6, 0, 2, 2, 8, 0, 2, 6, 0, 4, 4, 6, 6, 0, 2, 2, 2, 2].repeat(10);
    agree(&compiled, 60, &[&data]).unwrap();
}

#[test]
fn items_of_an_input_that_is_read_less_are_followed_by_what_follows_them() {
    // Also where nothing does.
    for behind in ["7 y <- stack", ""] {
        let source = format!(
            "input data input others output b bool output x int64 output y int64
            0 do data zigzag-> x data zigzag-> x 3 0 do others ?-> b loop {behind} loop"
        );
        let compiled = Arc::new(Compiled::new(&source).unwrap());
        let data = vec![2; 200];
        agree(&compiled, 60, &[&data, &data]).unwrap();
    }
    let source = "input data input others output b bool output x int64
        data zigzag-> x data zigzag-> x 3 0 do others ?-> b loop";
    let compiled = Arc::new(Compiled::new(source).unwrap());
    agree(&compiled, 0, &[&[2; 200], &[2; 200]]).unwrap();
}

#[test]
fn skips_in_a_row_are_encoded_in_time_in_proportion() {
    let source = format!("input data {}", "1 data skip ".repeat(200_000));
    let mut machine = Machine::new(Arc::new(Compiled::new(&source).unwrap()), Limits::default());
    machine.force_tier(Some(Tier::Fused));
    let began = std::time::Instant::now();
    machine.run(&[&vec![0; 200_000]]).unwrap();
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
}
