//! Speed of the bulk words, next to loops written by hand for the type and to the same work done by small
//! words.
//!
//! `cargo run --release --example levels -p forthwith-forth [seconds per case]`
//!
//! A column of lists of lists of lists, as Parquet stores it: repetition levels of two bits in the hybrid of
//! runs, then levels of one byte to three columns of offsets; and an optional column, to an index and to
//! validity. Some 100 000 levels, memory warm; the best pass counts, and every column is compared.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example that prints, and stops at what is unexpected"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use forthwith_forth::{Compiled, Limits, Machine, Output, Status};

/// Few enough for all columns to stay in the cache.
const COUNT: usize = 1 << 17;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.5);
    let budget = Duration::from_secs_f64(seconds);
    let (rep, def) = lists(COUNT);
    println!("{:<40}{:>10}{:>10}{:>8}   ns/level", "", "word", "by hand", "ratio");
    for (name, levels) in [
        ("hybrid, lists", rep.clone()),
        ("hybrid, half of it long runs", runs(COUNT)),
        ("hybrid, nothing repeats", mixed(COUNT)),
    ] {
        let data = hybrid(&levels);
        let word =
            Case::new("input data output levels uint8 data #2rle-> levels", &[&data], &[levels.len() as i64]);
        let bytes = word.time(budget);
        let mut out = vec![0_u8; levels.len() + 64];
        let hand = best(budget, || hand_hybrid(&data, &mut out[..levels.len()]));
        assert!(out[..levels.len()] == levels && bytes.1[0] == levels, "{name}");
        row(name, bytes.0, hand, levels.len());
    }

    let n = rep.len();
    let source = "input rep input def output outer int32 output middle int32 output inner int32
        variable n def len n !
        n @ 0 0 1 rep def #offsets-> outer 0 rep seek 0 def seek drop
        n @ 1 1 2 rep def #offsets-> middle 0 rep seek 0 def seek drop
        n @ 2 2 3 rep def #offsets-> inner drop";
    let (time, columns) = Case::new(source, &[&rep, &def], &[]).time(budget);
    let mut hand = [vec![0_i32; n + 1], vec![0; n + 1], vec![0; n + 1]];
    let mut lengths = [0; 3];
    let by_hand = best(budget, || lengths = hand_offsets(&rep, &def, &mut hand));
    for level in 0..3 {
        let expected: Vec<u8> = hand[level][..lengths[level]].iter().flat_map(|x| x.to_ne_bytes()).collect();
        assert!(columns[level] == expected, "offsets {level}");
    }
    row("levels to offsets, three deep", time, by_hand, n);

    let definition: Vec<u8> = (0..n).map(|at| u8::from(((at * 2_654_435_761) >> 7) & 7 != 0)).collect();
    for (name, word, dtype) in
        [("levels to an index", "0 def #index->", "int64"), ("levels to validity", "def #valid->", "int8")]
    {
        let source = format!("input def output y {dtype} def len 0 0 1 {word} y drop");
        let (time, columns) = Case::new(&source, &[&definition], &[]).time(budget);
        let (mut index, mut valid) = (vec![0_i64; n], vec![0_i8; n]);
        let hand = if dtype == "int64" {
            best(budget, || hand_index(&definition, &mut index))
        } else {
            best(budget, || hand_valid(&definition, &mut valid))
        };
        let expected: Vec<u8> = if dtype == "int64" {
            index.iter().flat_map(|x| x.to_ne_bytes()).collect()
        } else {
            valid.iter().map(|&x| x as u8).collect()
        };
        assert!(columns[0] == expected, "{name}");
        row(name, time, hand, n);
    }
}

fn row(name: &str, word: f64, hand: f64, levels: usize) {
    let each = |time: f64| time * 1e9 / levels as f64;
    println!("{name:<40}{:>10.3}{:>10.3}{:>8.2}", each(word), each(hand), hand / word);
}

struct Case<'a> {
    machine: Machine,
    outputs: Vec<Output>,
    inputs: Vec<&'a [u8]>,
    stack: Vec<i64>,
}

impl<'a> Case<'a> {
    fn new(source: &str, inputs: &[&'a [u8]], stack: &[i64]) -> Self {
        let compiled = Arc::new(Compiled::new(source).unwrap());
        let outputs = compiled.outputs().iter().map(|output| Output::owned(output.dtype)).collect();
        Self {
            machine: Machine::new(compiled, Limits::default()),
            outputs,
            inputs: inputs.to_vec(),
            stack: stack.to_vec(),
        }
    }

    fn time(mut self, budget: Duration) -> (f64, Vec<Vec<u8>>) {
        let time = best(budget, || {
            let mut outputs = std::mem::take(&mut self.outputs);
            outputs.iter_mut().for_each(|output| output.rewind_to(0));
            self.machine.begin_with(outputs).unwrap();
            self.stack.iter().for_each(|&item| self.machine.push(item).unwrap());
            assert_eq!(self.machine.resume(&self.inputs), Ok(Status::Done));
            self.outputs = self.machine.take_outputs();
        });
        (time, self.outputs.iter().map(|output| output.as_bytes().to_vec()).collect())
    }
}

fn best(budget: Duration, mut pass: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while start.elapsed() < budget {
        let start = Instant::now();
        pass();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// Levels of lists nested three deep, mean length 8, some of them empty.
fn lists(count: usize) -> (Vec<u8>, Vec<u8>) {
    let mut random = Random(42);
    let (mut rep, mut def) = (Vec::new(), Vec::new());
    while rep.len() < count {
        let mut first = 0;
        let outer = random.below(17);
        if outer == 0 {
            rep.push(0);
            def.push(0);
        }
        for _ in 0..outer {
            let middle = random.below(17);
            if middle == 0 {
                rep.push(first);
                def.push(1);
                first = 1;
            }
            for at in 0..middle {
                let inner = random.below(17);
                let head = if at == 0 { first } else { 2 };
                if inner == 0 {
                    rep.push(head);
                    def.push(2);
                }
                for item in 0..inner {
                    rep.push(if item == 0 { head } else { 3 });
                    def.push(3);
                }
                first = 1;
            }
        }
    }
    (rep, def)
}

fn runs(count: usize) -> Vec<u8> {
    let mut random = Random(7);
    let mut levels = Vec::new();
    while levels.len() < count {
        let level = random.below(4) as u8;
        levels.extend(std::iter::repeat_n(level, random.below(200) as usize));
        levels.extend((0..random.below(100)).map(|_| random.0 as u8 & 3));
    }
    levels.truncate(count);
    levels
}

fn mixed(count: usize) -> Vec<u8> {
    let mut random = Random(9);
    (0..count).map(|_| random.below(4) as u8).collect()
}

/// As usual writers do: eight or more of one value become a run, everything else is packed in eights.
fn hybrid(levels: &[u8]) -> Vec<u8> {
    let (mut data, mut packed) = (Vec::new(), Vec::new());
    let header = |mut value: usize, to: &mut Vec<u8>| {
        while value >= 0x80 {
            to.push(value as u8 | 0x80);
            value >>= 7;
        }
        to.push(value as u8);
    };
    let flush = |packed: &mut Vec<u8>, data: &mut Vec<u8>| {
        if !packed.is_empty() {
            header(packed.len().div_ceil(8) << 1 | 1, data);
            packed.resize(packed.len().next_multiple_of(8), 0);
            data.extend(packed.chunks(4).map(|four| four[0] | four[1] << 2 | four[2] << 4 | four[3] << 6));
            packed.clear();
        }
    };
    let mut at = 0;
    while at < levels.len() {
        let run = levels[at..].iter().take_while(|&&level| level == levels[at]).count();
        if packed.len().is_multiple_of(8) && run >= 8 {
            flush(&mut packed, &mut data);
            header(run << 1, &mut data);
            data.push(levels[at]);
            at += run;
        } else {
            packed.push(levels[at]);
            at += 1;
        }
    }
    flush(&mut packed, &mut data);
    data
}

fn hand_hybrid(data: &[u8], mut out: &mut [u8]) {
    let mut at = 0;
    while !out.is_empty() {
        let (mut header, mut shift) = (0, 0);
        loop {
            let byte = data[at];
            at += 1;
            header |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        if header & 1 == 0 {
            let (run, rest) = out.split_at_mut((header >> 1).min(out.len()));
            run.fill(data[at]);
            at += 1;
            out = rest;
        } else {
            let bytes = (header >> 1) * 2;
            let take = (bytes * 4).min(out.len());
            let (run, rest) = out.split_at_mut(take);
            let whole = take / 4;
            for (four, &byte) in run.chunks_exact_mut(4).zip(&data[at..at + whole]) {
                four.copy_from_slice(&[byte & 3, byte >> 2 & 3, byte >> 4 & 3, byte >> 6]);
            }
            for item in whole * 4..take {
                run[item] = data[at + item / 4] >> (item % 4 * 2) & 3;
            }
            at += bytes;
            out = rest;
        }
    }
}

/// One pass for all three, without branches.
fn hand_offsets(rep: &[u8], def: &[u8], offsets: &mut [Vec<i32>; 3]) -> [usize; 3] {
    let [outer, middle, inner] = offsets;
    let (mut a, mut b, mut c) = (0, 0, 0);
    let (mut items_a, mut items_b, mut items_c) = (0, 0, 0);
    for (&r, &d) in rep.iter().zip(def) {
        let slot = (r == 0, r <= 1 && d >= 1, r <= 2 && d >= 2);
        outer[a] = items_a;
        a += usize::from(slot.0);
        middle[b] = items_b;
        b += usize::from(slot.1);
        inner[c] = items_c;
        c += usize::from(slot.2);
        items_a += i32::from(r <= 1 && d >= 1);
        items_b += i32::from(r <= 2 && d >= 2);
        items_c += i32::from(d >= 3);
    }
    (outer[a], middle[b], inner[c]) = (items_a, items_b, items_c);
    // The words write no leading zero.
    for (column, length) in [(outer, a), (middle, b), (inner, c)] {
        column.copy_within(1..=length, 0);
    }
    [a, b, c]
}

fn hand_index(def: &[u8], out: &mut [i64]) {
    let mut next = 0;
    for (out, &level) in out.iter_mut().zip(def) {
        let there = level >= 1;
        *out = if there { next } else { -1 };
        next += i64::from(there);
    }
}

fn hand_valid(def: &[u8], out: &mut [i8]) {
    let mut items = 0_usize;
    for (out, &level) in out.iter_mut().zip(def) {
        *out = i8::from(level >= 1);
        items += usize::from(level >= 1);
    }
    std::hint::black_box(items);
}
