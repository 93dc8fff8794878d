//! Speed of the fused tier on cache-resident data, next to loops written by hand for the type.
//!
//! `cargo run --release --example throughput -p forthwith-forth [seconds per case] [part of a name]`
//!
//! Each case decodes about 1 MiB of content again and again into memory that is already warm, and prints the best
//! pass. Every column is checked against the hand-written loop's. GB/s count bytes of content, as a user sees them.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example that prints, and stops at what is unexpected"
)]
#![allow(unsafe_code, reason = "the loops written by hand use every trick the kernels use")]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "they decode what the example itself wrote, into columns with room for all of it"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use forthwith_forth::{Compiled, Limits, Machine, Output, Status, Tier};

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.5);
    let budget = Duration::from_secs_f64(seconds);
    println!("{:<28}{:>10}{:>10}{:>8}{:>10}", "", "fused", "by hand", "ratio", "checked");
    let wanted = std::env::args().nth(2).unwrap_or_default();
    for case in
        [root(3, 8.0), root(2, 8.0), root(1, 8.0), root(1, 1.5), bare(3), avro(), strings(), records()]
    {
        if case.name.contains(&wanted) {
            case.run(budget);
        }
    }
    println!("\n{:<28}{:>10}{:>10}", "ns each", "fused", "checked");
    for logic in [fibonacci(), tight(), nested(), events(), runs(), levels()] {
        if logic.name.contains(&wanted) {
            logic.run(budget);
        }
    }
    pauses(budget);
    compile_times();
}

/// A program without a hand-written rival.
struct Logic {
    name: &'static str,
    program: &'static str,
    data: Vec<u8>,
    stack: Vec<i64>,
    /// What the time is divided by.
    each: f64,
}

impl Logic {
    fn run(self, budget: Duration) {
        let compiled = Arc::new(Compiled::new(self.program).unwrap());
        let mut machine = Machine::new(Arc::clone(&compiled), Limits::default());
        let mut outputs: Vec<Output> = compiled.outputs().iter().map(|o| Output::owned(o.dtype)).collect();
        let inputs: Vec<&[u8]> = compiled.inputs().iter().map(|_| &self.data[..]).collect();
        let mut sums = Vec::new();
        let mut pass = |tier| {
            machine.force_tier(Some(tier));
            let mut fresh = std::mem::take(&mut outputs);
            fresh.iter_mut().for_each(|output| output.rewind_to(0));
            machine.begin_with(fresh).unwrap();
            self.stack.iter().for_each(|&item| machine.push(item).unwrap());
            let result = machine.resume(&inputs);
            assert!(result == Ok(Status::Done), "{} {result:?}", self.name);
            let bytes = machine.outputs().iter().flat_map(|output| output.as_bytes());
            let sum = bytes.fold(0_u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
            sums.push((sum, machine.stack().to_vec()));
            outputs = machine.take_outputs();
        };
        let checked = best(budget / 4, || pass(Tier::Checked));
        let fused = best(budget, || pass(Tier::Fused));
        assert!(sums.windows(2).all(|two| two[0] == two[1]), "{}: tiers differ", self.name);
        println!("{:<28}{:>10.2}{:>10.2}", self.name, fused / self.each * 1e9, checked / self.each * 1e9);
    }
}

fn fibonacci() -> Logic {
    Logic {
        name: "fibonacci(22), a call",
        program: ": fib dup 1 > if 1- dup 1- fib swap fib + then ; fib",
        data: Vec::new(),
        stack: vec![22],
        each: 57313.0,
    }
}

fn tight() -> Logic {
    Logic {
        name: "loop of 7 words, a word",
        program: "0 swap 0 do i dup * 7 and + loop",
        data: Vec::new(),
        stack: vec![200_000],
        each: 1_400_000.0,
    }
}

fn nested() -> Logic {
    Logic {
        name: "nested loops, a pass",
        program: "variable x 0 do 100 0 do i j + x +! loop loop x @",
        data: Vec::new(),
        stack: vec![2000],
        each: 200_000.0,
    }
}

fn events() -> Logic {
    let mut random = Random(11);
    Logic {
        name: "steering by bytes, a byte",
        program: "input data output a int64 output b int32
            begin
              data B-> stack dup 128 < if
                dup 64 < if a +<- stack else 3 and b <- stack then
              else
                7 and case 0 of 1 a <- stack endof 1 of 2 b <- stack endof 2 of a len b <- stack endof drop 0 endcase
              then
            data end until"
            .replace("drop 0 endcase", "endcase")
            .leak(),
        data: (0..200_000).map(|_| random.bits() as u8).collect(),
        stack: Vec::new(),
        each: 200_000.0,
    }
}

fn runs() -> Logic {
    let mut random = Random(13);
    let mut data = Vec::new();
    let mut levels = 0;
    while levels < 1 << 18 {
        if random.bits().is_multiple_of(2) {
            let count = 8 + random.bits() % 200;
            zigzag_free(count << 1, &mut data);
            data.push((random.bits() % 4) as u8);
            levels += count;
        } else {
            let groups = 1 + random.bits() % 20;
            zigzag_free(groups << 1 | 1, &mut data);
            data.extend((0..groups * 2).map(|_| random.bits() as u8));
            levels += groups * 8;
        }
    }
    let mut all = (data.len() as u32).to_le_bytes().to_vec();
    all.extend(data);
    Logic {
        name: "Parquet runs, a level",
        program: "input data output levels uint8
            data I-> stack
            begin
              data varint-> stack
              dup 1 and 0= if
                data B-> levels  1 rshift 1-  levels dup
              else
                1 rshift 8 *  data #2bit-> levels
              then
              dup data pos 4 - <=
            until
            drop",
        data: all,
        stack: Vec::new(),
        each: levels as f64,
    }
}

fn levels() -> Logic {
    let mut random = Random(17);
    Logic {
        name: "levels to offsets, a level",
        program: "input levels
            output outer int32  output middle int32  output inner int32
            variable n-outer  variable n-middle  variable n-inner
            begin
              levels b-> stack
              dup 3 = if  1 n-inner +!  then
              dup 2 = if  1 n-middle +!  n-inner @ inner +<- stack  1 n-inner !  then
              dup 1 = if  1 n-outer +!   n-middle @ middle +<- stack  1 n-middle !
                                         n-inner @ inner +<- stack  1 n-inner !  then
              0 =     if                 n-outer @ outer +<- stack  1 n-outer !
                                         n-middle @ middle +<- stack  1 n-middle !
                                         n-inner @ inner +<- stack  1 n-inner !  then
              levels end
            until
            n-outer @ outer +<- stack  n-middle @ middle +<- stack  n-inner @ inner +<- stack",
        data: (0..1 << 18)
            .map(|_| match random.bits() % 512 {
                0 => 0,
                1..=7 => 1,
                8..=63 => 2,
                _ => 3,
            })
            .collect(),
        stack: Vec::new(),
        each: f64::from(1 << 18),
    }
}

/// A LEB128 number.
fn zigzag_free(mut rest: u64, to: &mut Vec<u8>) {
    while rest >= 0x80 {
        to.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    to.push(rest as u8);
}

/// What a pause and its resumption cost, with a command on the stack and without.
fn pauses(budget: Duration) {
    for (name, program, command) in [
        ("pause, a round trip", "begin pause again", false),
        (
            "command, a round trip",
            "output o int64 begin pause dup 3 = if drop 1 halt else o +<- stack then again",
            true,
        ),
    ] {
        let compiled = Arc::new(Compiled::new(program).unwrap());
        let mut machine = Machine::new(compiled, Limits::default());
        let mut time = |tier| {
            machine.force_tier(Some(tier));
            machine.begin();
            machine.resume(&[]).unwrap();
            best(budget, || {
                for _ in 0..1000 {
                    if command {
                        machine.push(5).unwrap();
                    }
                    machine.resume(&[]).unwrap();
                }
            }) / 1000.0
        };
        let (checked, fused) = (time(Tier::Checked), time(Tier::Fused));
        println!("{name:<28}{:>10.2}{:>10.2}", fused * 1e9, checked * 1e9);
    }
}

/// From text to a machine that can run in tier 1.
fn compile_times() {
    println!("\n{:<28}{:>10}{:>10}", "microseconds to compile", "text", "tier 1");
    for fields in [1, 10, 100] {
        let mut program = "input data input starts input stops variable stop ".to_owned();
        (0..fields).for_each(|n| program.push_str(&format!("output o{n} int64 output c{n} float32 ")));
        program.push_str(
            "0 do starts I-> stack data seek stops I-> stack stop ! data !H-> stack 9 > if 2 halt then ",
        );
        for n in 0..fields {
            program.push_str(&match n % 3 {
                0 => format!("data !f-> c{n} 1 o{n} +<- stack "),
                1 => format!("data !I-> stack dup o{n} +<- stack data #!f-> c{n} "),
                _ => format!("data zigzag-> stack if data !f-> c{n} else -1 o{n} <- stack then "),
            });
        }
        program.push_str("data pos stop @ <> if 3 halt then loop");
        let (mut text, mut ready) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..200 {
            let start = Instant::now();
            let compiled = Arc::new(Compiled::new(&program).unwrap());
            let parsed = start.elapsed().as_secs_f64();
            let mut machine = Machine::new(compiled, Limits::default());
            machine.force_tier(Some(Tier::Fused));
            machine.begin();
            machine.push(0).unwrap();
            let _ = machine.resume(&[&[], &[], &[]]);
            (text, ready) = (text.min(parsed), ready.min(start.elapsed().as_secs_f64()));
        }
        println!("{:<28}{:>10.1}{:>10.1}", format!("{fields} fields"), text * 1e6, ready * 1e6);
    }
}

struct Case {
    name: String,
    program: String,
    inputs: Vec<Vec<u8>>,
    entries: i64,
    /// Bytes of content the speed is about.
    content: usize,
    hand: fn(&[Vec<u8>], i64, &mut Columns),
}

/// Columns of the hand-written loops: room for everything, never checked.
type Columns = Vec<Vec<u8>>;

impl Case {
    fn run(self, budget: Duration) {
        let compiled = Arc::new(Compiled::new(&self.program).unwrap());
        let inputs: Vec<&[u8]> = self.inputs.iter().map(Vec::as_slice).collect();
        let mut machine = Machine::new(Arc::clone(&compiled), Limits::default());
        let mut outputs: Vec<Output> = compiled.outputs().iter().map(|o| Output::owned(o.dtype)).collect();
        let mut pass = |tier| {
            machine.force_tier(Some(tier));
            let mut fresh = std::mem::take(&mut outputs);
            fresh.iter_mut().for_each(|output| output.rewind_to(0));
            machine.begin_with(fresh).unwrap();
            machine.push(self.entries).unwrap();
            assert_eq!(machine.resume(&inputs), Ok(Status::Done), "{}", self.name);
            outputs = machine.take_outputs();
        };
        let checked = best(budget / 4, || pass(Tier::Checked));
        let fused = best(budget, || pass(Tier::Fused));

        let total: usize = self.inputs.iter().map(Vec::len).sum();
        let mut columns: Columns = outputs.iter().map(|_| vec![0; 64 + total * 8]).collect();
        let hand = best(budget, || {
            columns.iter_mut().for_each(|column| {
                // SAFETY: nothing is read before it is written, and the capacity is kept.
                unsafe { column.set_len(0) };
                column.extend([0; 8]);
            });
            (self.hand)(&self.inputs, self.entries, &mut columns);
        });
        for (output, column) in outputs.iter().zip(&columns) {
            assert!(output.as_bytes() == &column[8..], "{}: columns differ", self.name);
        }
        let speed = |time: f64| self.content as f64 / time / 1e9;
        println!(
            "{:<28}{:>10.2}{:>10.2}{:>8.2}{:>10.3}   GB/s, {:.1} ns/entry",
            self.name,
            speed(fused),
            speed(hand),
            hand / fused,
            speed(checked),
            fused * 1e9 / self.entries as f64,
        );
        assert!(speed(fused) < 60.0, "faster than memory can be");
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

/// Numbers with a Poisson distribution, the same every time.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn poisson(&mut self, mean: f64) -> usize {
        let (limit, mut product, mut count) = ((-mean).exp(), 1.0, 0);
        loop {
            product *= (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
            if product <= limit {
                return count;
            }
            count += 1;
        }
    }
}

// ROOT: big-endian counts and items, framed entries.

const FLOATS: usize = 1 << 18;

fn root(depth: usize, mean: f64) -> Case {
    let mut random = Random(42);
    let (mut data, mut starts, mut stops) = (Vec::new(), Vec::new(), Vec::new());
    let (mut floats, mut entries) = (0, 0);
    while floats < FLOATS {
        let start = data.len();
        data.extend([0; 6]);
        root_list(depth, mean, &mut random, &mut data, &mut floats);
        let count = (data.len() - start - 4) as u32 | 0x4000_0000;
        data[start..start + 4].copy_from_slice(&count.to_be_bytes());
        data[start + 5] = 9;
        starts.extend((start as u32).to_le_bytes());
        stops.extend((data.len() as u32).to_le_bytes());
        entries += 1;
    }
    let offsets: String = (0..depth).map(|level| format!("output offsets{level} int64\n")).collect();
    let mut body = "data !I-> stack dup offsets0 +<- stack data #!f-> values".to_owned();
    for level in 1..depth {
        body = body.replace("offsets", "inner");
        for inner in (0..level).rev() {
            body = body.replace(&format!("inner{inner}"), &format!("offsets{}", inner + 1));
        }
        body = format!("data !I-> stack dup offsets0 +<- stack 0 do {body} loop");
    }
    Case {
        name: format!("ROOT list^{depth} float32, mean {mean}"),
        program: format!(
            "input data input starts input stops variable stop {offsets} output values float32
             0 do
               starts I-> stack data seek
               stops I-> stack stop !
               data !I-> stack 0x40000000 - data pos + stop @ <> if 1 halt then
               data !H-> stack 9 > if 2 halt then
               {body}
               data pos stop @ <> if 3 halt then
             loop"
        ),
        inputs: vec![data, starts, stops],
        entries,
        content: floats * 4,
        hand: match depth {
            1 => hand_root::<1>,
            2 => hand_root::<2>,
            _ => hand_root::<3>,
        },
    }
}

fn root_list(depth: usize, mean: f64, random: &mut Random, data: &mut Vec<u8>, floats: &mut usize) {
    let count = random.poisson(mean);
    data.extend((count as u32).to_be_bytes());
    for _ in 0..count {
        if depth > 1 {
            root_list(depth - 1, mean, random, data, floats);
        } else {
            *floats += 1;
            data.extend((*floats as f32).to_be_bytes());
        }
    }
}

/// The same lists with nothing around them.
fn bare(depth: usize) -> Case {
    let mut random = Random(42);
    let (mut data, mut floats, mut entries) = (Vec::new(), 0, 0);
    while floats < FLOATS {
        root_list(depth, 8.0, &mut random, &mut data, &mut floats);
        entries += 1;
    }
    Case {
        name: "lists^3 float32, no frame".to_owned(),
        program: "input data output a int64 output b int64 output c int64 output values float32
             0 do
               data !I-> stack dup a +<- stack
               0 do data !I-> stack dup b +<- stack 0 do data !I-> stack dup c +<- stack data #!f-> values loop loop
             loop"
            .to_owned(),
        inputs: vec![data],
        entries,
        content: floats * 4,
        hand: hand_bare,
    }
}

/// A loop over raw memory, built for the CPU at hand.
macro_rules! by_hand {
    ($name:ident $(<const $depth:ident: usize>)?, $body:ident) => {
        fn $name$(<const $depth: usize>)?(inputs: &[Vec<u8>], entries: i64, columns: &mut Columns) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,movbe")]
                fn wide$(<const $depth: usize>)?(inputs: &[Vec<u8>], entries: i64, columns: &mut Columns) {
                    $body$(::<$depth>)?(inputs, entries, columns);
                }
                #[target_feature(enable = "avx2,bmi2,movbe")]
                fn narrow$(<const $depth: usize>)?(inputs: &[Vec<u8>], entries: i64, columns: &mut Columns) {
                    $body$(::<$depth>)?(inputs, entries, columns);
                }
                if std::is_x86_feature_detected!("avx512bw") {
                    // SAFETY: detected; whatever has it has the others.
                    return unsafe { wide$(::<$depth>)?(inputs, entries, columns) };
                }
                if std::is_x86_feature_detected!("avx2") {
                    // SAFETY: as above.
                    return unsafe { narrow$(::<$depth>)?(inputs, entries, columns) };
                }
            }
            $body$(::<$depth>)?(inputs, entries, columns);
        }
    };
}

by_hand!(hand_root<const DEPTH: usize>, root_by_hand);
by_hand!(hand_bare, bare_by_hand);
by_hand!(hand_avro, avro_by_hand);
by_hand!(hand_strings, strings_by_hand);
by_hand!(hand_records, records_by_hand);

/// Reads and writes without any check but the one before wide copies.
#[derive(Clone, Copy)]
struct Raw {
    data: *const u8,
    end: *const u8,
    columns: [*mut u8; 8],
}

impl Raw {
    #[inline(always)]
    fn new(data: &[u8], columns: &mut Columns) -> Self {
        let mut next = [std::ptr::null_mut(); 8];
        for (next, column) in next.iter_mut().zip(columns) {
            *next = unsafe { column.as_mut_ptr().add(8) };
        }
        Self { data: data.as_ptr(), end: data.as_ptr_range().end, columns: next }
    }

    #[inline(always)]
    fn finish(self, columns: &mut Columns) {
        for (next, column) in self.columns.iter().zip(columns) {
            unsafe { column.set_len(*next as usize - column.as_ptr() as usize) };
        }
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self) -> [u8; N] {
        unsafe {
            let bytes = self.data.cast::<[u8; N]>().read();
            self.data = self.data.add(N);
            bytes
        }
    }

    #[inline(always)]
    fn big(&mut self) -> usize {
        u32::from_be_bytes(self.take()) as usize
    }

    #[inline(always)]
    fn offset(&mut self, column: usize, count: usize) {
        unsafe {
            let next = self.columns[column].cast::<i64>();
            next.write_unaligned(next.sub(1).read_unaligned() + count as i64);
            self.columns[column] = next.add(1).cast();
        }
    }

    #[inline(always)]
    fn put<const N: usize>(&mut self, column: usize, bytes: [u8; N]) {
        unsafe {
            self.columns[column].cast::<[u8; N]>().write(bytes);
            self.columns[column] = self.columns[column].add(N);
        }
    }

    #[inline(always)]
    fn run(&mut self, column: usize, bytes: usize, swap: bool) {
        let to = self.columns[column];
        unsafe {
            if self.end as usize - self.data as usize >= bytes + 64 {
                let mut at = 0;
                loop {
                    let mut block = self.data.add(at).cast::<[u32; 16]>().read_unaligned();
                    if swap {
                        block = block.map(u32::swap_bytes);
                    }
                    to.add(at).cast::<[u32; 16]>().write_unaligned(block);
                    at += 64;
                    if at >= bytes {
                        break;
                    }
                }
            } else {
                for at in 0..bytes {
                    to.add(at).write(self.data.add(if swap { at ^ 3 } else { at }).read());
                }
            }
            self.data = self.data.add(bytes);
            self.columns[column] = to.add(bytes);
        }
    }

    #[inline(always)]
    fn zigzag(&mut self) -> i64 {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let [byte] = self.take();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return (value >> 1) as i64 ^ -((value & 1) as i64);
            }
            shift += 7;
        }
    }

    #[inline(always)]
    fn text(&mut self, offsets: usize, content: usize) {
        let [short] = self.take();
        let count = if short == 255 { self.big() } else { usize::from(short) };
        self.offset(offsets, count);
        self.run(content, count, false);
    }
}

#[inline(always)]
fn root_by_hand<const DEPTH: usize>(inputs: &[Vec<u8>], _: i64, columns: &mut Columns) {
    let mut raw = Raw::new(&inputs[0], columns);
    let base = raw.data;
    let (starts, stops) = (inputs[1].as_chunks::<4>().0, inputs[2].as_chunks::<4>().0);
    for (start, stop) in starts.iter().zip(stops) {
        let stop = u32::from_le_bytes(*stop) as usize;
        raw.data = unsafe { base.add(u32::from_le_bytes(*start) as usize) };
        let count = raw.big() - 0x4000_0000;
        assert_eq!(raw.data as usize - base as usize + count, stop);
        assert!(u16::from_be_bytes(raw.take()) <= 9);
        match DEPTH {
            1 => list1(&mut raw, 0),
            2 => list2(&mut raw, 0),
            _ => list3(&mut raw),
        }
        assert_eq!(raw.data as usize - base as usize, stop);
    }
    raw.finish(columns);
}

#[inline(always)]
fn bare_by_hand(inputs: &[Vec<u8>], entries: i64, columns: &mut Columns) {
    let mut raw = Raw::new(&inputs[0], columns);
    for _ in 0..entries {
        list3(&mut raw);
    }
    raw.finish(columns);
}

#[inline(always)]
fn list1(raw: &mut Raw, level: usize) {
    let count = raw.big();
    raw.offset(level, count);
    raw.run(level + 1, count * 4, true);
}

#[inline(always)]
fn list2(raw: &mut Raw, level: usize) {
    let count = raw.big();
    raw.offset(level, count);
    for _ in 0..count {
        list1(raw, level + 1);
    }
}

#[inline(always)]
fn list3(raw: &mut Raw) {
    let count = raw.big();
    raw.offset(0, count);
    for _ in 0..count {
        list2(raw, 1);
    }
}

// Avro: blocks of items, little-endian.

fn zigzag(value: i64, to: &mut Vec<u8>) {
    let mut rest = (value << 1 ^ value >> 63) as u64;
    while rest >= 0x80 {
        to.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    to.push(rest as u8);
}

fn avro() -> Case {
    fn list(depth: usize, random: &mut Random, data: &mut Vec<u8>, floats: &mut usize) {
        let count = random.poisson(8.0);
        if count > 0 {
            zigzag(count as i64, data);
        }
        for _ in 0..count {
            if depth > 1 {
                list(depth - 1, random, data, floats);
            } else {
                *floats += 1;
                data.extend((*floats as f32).to_le_bytes());
            }
        }
        zigzag(0, data);
    }
    let mut random = Random(7);
    let (mut data, mut floats, mut entries) = (Vec::new(), 0, 0);
    while floats < FLOATS {
        list(3, &mut random, &mut data, &mut floats);
        entries += 1;
    }
    Case {
        name: "Avro array^3 float, blocks".to_owned(),
        program: "input data output outer int64 output middle int64 output inner int64 output values float32
            : items data zigzag-> stack dup 0 < if negate data zigzag-> stack drop then ;
            : read-inner   0 begin items dup while dup data #f-> values +   repeat drop inner  +<- stack ;
            : read-middle  0 begin items dup while dup 0 do read-inner  loop + repeat drop middle +<- stack ;
            : read-outer   0 begin items dup while dup 0 do read-middle loop + repeat drop outer  +<- stack ;
            0 do read-outer loop"
            .to_owned(),
        inputs: vec![data],
        entries,
        content: floats * 4,
        hand: hand_avro,
    }
}

#[inline(always)]
fn avro_by_hand(inputs: &[Vec<u8>], entries: i64, columns: &mut Columns) {
    #[inline(always)]
    fn blocks(raw: &mut Raw, level: usize, mut item: impl FnMut(&mut Raw, usize)) {
        let mut total = 0;
        loop {
            let mut count = raw.zigzag();
            if count == 0 {
                break;
            }
            if count < 0 {
                count = -count;
                raw.zigzag();
            }
            item(raw, count as usize);
            total += count as usize;
        }
        raw.offset(level, total);
    }
    let mut raw = Raw::new(&inputs[0], columns);
    for _ in 0..entries {
        blocks(&mut raw, 0, |raw, count| {
            for _ in 0..count {
                blocks(raw, 1, |raw, count| {
                    for _ in 0..count {
                        blocks(raw, 2, |raw, count| raw.run(3, count * 4, false));
                    }
                });
            }
        });
    }
    raw.finish(columns);
}

// Lists of short strings, as ROOT writes them.

fn strings() -> Case {
    let mut random = Random(3);
    let (mut data, mut bytes, mut entries) = (Vec::new(), 0, 0);
    while bytes < FLOATS * 4 {
        let count = random.poisson(8.0);
        data.extend((count as u32).to_be_bytes());
        for _ in 0..count {
            let length = random.poisson(12.0);
            data.push(length as u8);
            data.extend((0..length).map(|at| b'a' + (at % 26) as u8));
            bytes += length;
        }
        entries += 1;
    }
    Case {
        name: "vector<string>, mean 8 of 12".to_owned(),
        program: "input data output lists int64 output offsets int64 output text uint8
            0 do
              data !I-> stack dup lists +<- stack
              0 do
                data B-> stack dup 255 = if drop data !I-> stack then dup offsets +<- stack data #B-> text
              loop
            loop"
            .to_owned(),
        inputs: vec![data],
        entries,
        content: bytes,
        hand: hand_strings,
    }
}

#[inline(always)]
fn strings_by_hand(inputs: &[Vec<u8>], entries: i64, columns: &mut Columns) {
    let mut raw = Raw::new(&inputs[0], columns);
    for _ in 0..entries {
        let count = raw.big();
        raw.offset(0, count);
        for _ in 0..count {
            raw.text(1, 2);
        }
    }
    raw.finish(columns);
}

// Lists of records in Avro blocks: float, double, int, string, optional long.

fn records() -> Case {
    let mut random = Random(5);
    let (mut data, mut records, mut bytes, mut entries) = (Vec::new(), 0, 0, 0);
    while records < 40_000 {
        let count = random.poisson(8.0);
        if count > 0 {
            zigzag(count as i64, &mut data);
        }
        for _ in 0..count {
            records += 1;
            let start = data.len();
            data.extend((records as f32).to_le_bytes());
            data.extend((records as f64).to_le_bytes());
            zigzag(if random.bits() & 1 == 0 { 1 } else { -1 }, &mut data);
            let length = random.bits() % 17;
            zigzag(length as i64, &mut data);
            data.extend((0..length).map(|at| b'a' + at as u8));
            if random.bits() & 7 == 0 {
                zigzag(0, &mut data);
            } else {
                zigzag(1, &mut data);
                zigzag((random.bits() % 1_000_000) as i64, &mut data);
            }
            bytes += data.len() - start;
        }
        zigzag(0, &mut data);
        entries += 1;
    }
    Case {
        name: format!("Avro records, {:.1} bytes each", bytes as f64 / f64::from(records)),
        program: "input data output lists int64 output pt float32 output eta float64 output charge int32
            output offsets int64 output text uint8 output index int64 output long int64
            : items data zigzag-> stack dup 0 < if negate data zigzag-> stack drop then ;
            0 do
              0 begin items dup while dup 0 do
                data f-> pt data d-> eta data zigzag-> charge
                data zigzag-> stack dup offsets +<- stack data #B-> text
                data zigzag-> stack if long len index <- stack data zigzag-> long else -1 index <- stack then
              loop + repeat drop lists +<- stack
            loop"
            .to_owned(),
        inputs: vec![data],
        entries,
        content: bytes,
        hand: hand_records,
    }
}

#[inline(always)]
fn records_by_hand(inputs: &[Vec<u8>], entries: i64, columns: &mut Columns) {
    let mut raw = Raw::new(&inputs[0], columns);
    let mut longs = 0_i64;
    for _ in 0..entries {
        let mut total = 0;
        loop {
            let count = raw.zigzag();
            if count == 0 {
                break;
            }
            for _ in 0..count {
                let pt = raw.take::<4>();
                raw.put(1, pt);
                let eta = raw.take::<8>();
                raw.put(2, eta);
                let charge = raw.zigzag() as i32;
                raw.put(3, charge.to_ne_bytes());
                let length = raw.zigzag() as usize;
                raw.offset(4, length);
                raw.run(5, length, false);
                if raw.zigzag() == 0 {
                    raw.put(6, (-1_i64).to_ne_bytes());
                } else {
                    raw.put(6, longs.to_ne_bytes());
                    longs += 1;
                    let long = raw.zigzag();
                    raw.put(7, long.to_ne_bytes());
                }
            }
            total += count as usize;
        }
        raw.offset(0, total);
    }
    raw.finish(columns);
}
