//! Values that are stepped over: numbers of any length and anywhere near the end, texts, and steps back.

use std::sync::Arc;

use forthwith_forth::{Compiled, Status};

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
