//! The same tasks written by hand, for the type: no checks but those before wide copies, columns with room
//! for everything.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "they decode what the example itself wrote, into columns with room for all of it"
)]

use forthwith_kernels::{CpuFeatures, Generation, compiled_for};
use std::hint::black_box;

/// Columns: eight zero bytes, then items.
pub(crate) type Columns = Vec<Vec<u8>>;
/// Inputs, what stands on the stack at the start, columns; the top of the stack at the end.
pub(crate) type Hand = fn(&[Vec<u8>], &[i64], &mut Columns) -> i64;

/// A loop over raw memory, built for the CPU at hand.
macro_rules! by_hand {
    ($name:ident $(<const $count:ident: usize>)?, $body:ident) => {
        pub(crate) fn $name$(<const $count: usize>)?(inputs: &[Vec<u8>], start: &[i64], columns: &mut Columns) -> i64 {
            #[cfg(target_arch = "x86_64")]
            {
                compiled_for! { Avx512 fn wide$(<const $count: usize>)?(inputs: &[Vec<u8>], start: &[i64], columns: &mut Columns) -> i64 {
                    $body$(::<$count>)?(inputs, start, columns)
                } }
                compiled_for! { Avx2 fn narrow$(<const $count: usize>)?(inputs: &[Vec<u8>], start: &[i64], columns: &mut Columns) -> i64 {
                    $body$(::<$count>)?(inputs, start, columns)
                } }
                match CpuFeatures::current().generation() {
                    // SAFETY: the processor has what its features say.
                    Generation::Avx512 => return unsafe { wide$(::<$count>)?(inputs, start, columns) },
                    // SAFETY: as above.
                    Generation::Avx2 => return unsafe { narrow$(::<$count>)?(inputs, start, columns) },
                    Generation::Baseline => {}
                }
            }
            $body$(::<$count>)?(inputs, start, columns)
        }
    };
}

by_hand!(root, root_by_hand);
by_hand!(avro, avro_by_hand);
by_hand!(blocks, blocks_by_hand);
by_hand!(records, records_by_hand);
by_hand!(unwanted, unwanted_by_hand);
by_hand!(framed, framed_by_hand);
by_hand!(strings, strings_by_hand);
by_hand!(levels_rle, levels_rle_by_hand);
by_hand!(levels_offsets, levels_offsets_by_hand);
by_hand!(fields<const COUNT: usize>, fields_by_hand);

/// Reads and writes without any check but the one before wide copies.
#[derive(Clone, Copy)]
struct Raw<const N: usize> {
    data: *const u8,
    end: *const u8,
    columns: [*mut u8; N],
}

impl<const N: usize> Raw<N> {
    #[inline(always)]
    fn new(data: &[u8], columns: &mut Columns) -> Self {
        let mut next = [std::ptr::null_mut(); N];
        for (next, column) in next.iter_mut().zip(columns) {
            *next = unsafe { column.as_mut_ptr().add(8) };
        }
        Self { data: data.as_ptr(), end: data.as_ptr_range().end, columns: next }
    }

    #[inline(always)]
    fn finish(self, columns: &mut Columns) -> i64 {
        for (next, column) in self.columns.iter().zip(columns) {
            unsafe { column.set_len(*next as usize - column.as_ptr() as usize) };
        }
        0
    }

    #[inline(always)]
    fn take<const M: usize>(&mut self) -> [u8; M] {
        unsafe {
            let bytes = self.data.cast::<[u8; M]>().read();
            self.data = self.data.add(M);
            bytes
        }
    }

    #[inline(always)]
    fn skip(&mut self, bytes: usize) {
        self.data = unsafe { self.data.add(bytes) };
    }

    #[inline(always)]
    fn big(&mut self) -> usize {
        u32::from_be_bytes(self.take()) as usize
    }

    /// Appends the last offset plus a count.
    #[inline(always)]
    fn offset(&mut self, column: usize, count: usize) {
        unsafe {
            let next = self.columns[column].cast::<i32>();
            next.write_unaligned(next.sub(1).read_unaligned().wrapping_add(count as i32));
            self.columns[column] = next.add(1).cast();
        }
    }

    /// The same, of eight bytes.
    #[inline(always)]
    fn offset8(&mut self, column: usize, count: usize) {
        unsafe {
            let next = self.columns[column].cast::<i64>();
            next.write_unaligned(next.sub(1).read_unaligned().wrapping_add(count as i64));
            self.columns[column] = next.add(1).cast();
        }
    }

    #[inline(always)]
    fn put<const M: usize>(&mut self, column: usize, bytes: [u8; M]) {
        unsafe {
            self.columns[column].cast::<[u8; M]>().write(bytes);
            self.columns[column] = self.columns[column].add(M);
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
    fn varint(&mut self) -> u64 {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let [byte] = self.take();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }

    #[inline(always)]
    fn zigzag(&mut self) -> i64 {
        let value = self.varint();
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }
}

/// The leading zero of each level's offsets.
#[inline(always)]
fn zeros(raw: &mut Raw<4>) {
    for level in 0..3 {
        raw.put(level, [0; 4]);
    }
}

#[inline(always)]
fn root_by_hand(inputs: &[Vec<u8>], _: &[i64], columns: &mut Columns) -> i64 {
    let mut raw = Raw::<4>::new(&inputs[0], columns);
    zeros(&mut raw);
    let base = raw.data;
    for start in inputs[1].as_chunks::<4>().0 {
        raw.data = unsafe { base.add(u32::from_le_bytes(*start) as usize + 6) };
        let outer = raw.big();
        raw.offset(0, outer);
        for _ in 0..outer {
            let middle = raw.big();
            raw.offset(1, middle);
            for _ in 0..middle {
                let inner = raw.big();
                raw.offset(2, inner);
                raw.run(3, inner * 4, true);
            }
        }
    }
    raw.finish(columns)
}

#[inline(always)]
fn avro_by_hand(inputs: &[Vec<u8>], start: &[i64], columns: &mut Columns) -> i64 {
    let mut raw = Raw::<4>::new(&inputs[0], columns);
    zeros(&mut raw);
    for _ in 0..start[0] {
        let outer = raw.zigzag() as usize;
        raw.offset(0, outer);
        for _ in 0..outer {
            let middle = raw.zigzag() as usize;
            raw.offset(1, middle);
            for _ in 0..middle {
                let inner = raw.zigzag() as usize;
                raw.offset(2, inner);
                raw.run(3, inner * 4, false);
                raw.take::<1>();
            }
            raw.take::<1>();
        }
        raw.take::<1>();
    }
    raw.finish(columns)
}

/// Blocks until the empty one; the items of all together.
#[inline(always)]
fn block_list<const N: usize>(raw: &mut Raw<N>, level: usize, mut item: impl FnMut(&mut Raw<N>, usize)) {
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

#[inline(always)]
fn blocks_by_hand(inputs: &[Vec<u8>], start: &[i64], columns: &mut Columns) -> i64 {
    let mut raw = Raw::<4>::new(&inputs[0], columns);
    zeros(&mut raw);
    for _ in 0..start[0] {
        block_list(&mut raw, 0, |raw, count| {
            for _ in 0..count {
                block_list(raw, 1, |raw, count| {
                    for _ in 0..count {
                        block_list(raw, 2, |raw, count| raw.run(3, count * 4, false));
                    }
                });
            }
        });
    }
    raw.finish(columns)
}

#[inline(always)]
fn records_by_hand(inputs: &[Vec<u8>], start: &[i64], columns: &mut Columns) -> i64 {
    let mut raw = Raw::<8>::new(&inputs[0], columns);
    let mut longs = 0_i32;
    for _ in 0..start[0] {
        block_list(&mut raw, 0, |raw, count| {
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
                    raw.put(6, (-1_i32).to_ne_bytes());
                } else {
                    raw.put(6, longs.to_ne_bytes());
                    longs += 1;
                    let long = raw.zigzag();
                    raw.put(7, long.to_ne_bytes());
                }
            }
        });
    }
    raw.finish(columns)
}

#[inline(always)]
fn unwanted_by_hand(inputs: &[Vec<u8>], start: &[i64], columns: &mut Columns) -> i64 {
    let mut raw = Raw::<2>::new(&inputs[0], columns);
    for _ in 0..start[0] {
        block_list(&mut raw, 0, |raw, count| {
            for _ in 0..count {
                raw.skip(4);
                raw.zigzag();
                let length = raw.zigzag();
                raw.skip(length as usize);
                if raw.zigzag() != 0 {
                    raw.zigzag();
                }
                let wanted = raw.zigzag() as i32;
                raw.put(1, wanted.to_ne_bytes());
                let length = raw.zigzag();
                raw.skip(length as usize);
            }
        });
    }
    raw.finish(columns)
}

#[inline(always)]
fn framed_by_hand(inputs: &[Vec<u8>], _: &[i64], columns: &mut Columns) -> i64 {
    let mut raw = Raw::<2>::new(&inputs[0], columns);
    raw.put(0, [0; 8]);
    let base = raw.data;
    for start in inputs[1].as_chunks::<4>().0 {
        raw.data = unsafe { base.add(u32::from_le_bytes(*start) as usize + 6) };
        let count = raw.big();
        raw.offset8(0, count);
        raw.run(1, count * 4, true);
    }
    raw.finish(columns)
}

#[inline(always)]
fn strings_by_hand(inputs: &[Vec<u8>], _: &[i64], columns: &mut Columns) -> i64 {
    let mut raw = Raw::<3>::new(&inputs[0], columns);
    raw.put(0, [0; 8]);
    raw.put(1, [0; 8]);
    let base = raw.data;
    for start in inputs[1].as_chunks::<4>().0 {
        raw.data = unsafe { base.add(u32::from_le_bytes(*start) as usize + 6) };
        let count = raw.big();
        raw.offset8(0, count);
        for _ in 0..count {
            let [short] = raw.take();
            let length = if short == 255 { raw.big() } else { short as usize };
            raw.offset8(1, length);
            raw.run(2, length, false);
        }
    }
    raw.finish(columns)
}

#[inline(always)]
fn levels_rle_by_hand(inputs: &[Vec<u8>], _: &[i64], columns: &mut Columns) -> i64 {
    let mut raw = Raw::<1>::new(&inputs[0], columns);
    raw.take::<4>();
    while raw.data < raw.end {
        let header = raw.varint();
        let mut to = raw.columns[0];
        if header & 1 == 0 {
            let count = (header >> 1) as usize;
            let [value] = raw.take();
            let block = [value; 64];
            let mut at = 0;
            loop {
                unsafe { to.add(at).cast::<[u8; 64]>().write(block) };
                at += 64;
                if at >= count {
                    break;
                }
            }
            raw.columns[0] = unsafe { to.add(count) };
        } else {
            // Two bytes are eight levels: their bits are moved apart by halves.
            for _ in 0..header >> 1 {
                let mut word = u64::from(u16::from_le_bytes(raw.take()));
                word = (word | word << 24) & 0x0000_00ff_0000_00ff;
                word = (word | word << 12) & 0x000f_000f_000f_000f;
                word = (word | word << 6) & 0x0303_0303_0303_0303;
                unsafe {
                    to.cast::<[u8; 8]>().write(word.to_le_bytes());
                    to = to.add(8);
                }
            }
            raw.columns[0] = to;
        }
    }
    raw.finish(columns)
}

#[inline(always)]
fn levels_offsets_by_hand(inputs: &[Vec<u8>], _: &[i64], columns: &mut Columns) -> i64 {
    let mut raw = Raw::<3>::new(&inputs[0], columns);
    let (mut outer, mut middle, mut inner) = (0, 0, 0);
    while raw.data < raw.end {
        let [level] = raw.take();
        match level {
            3 => inner += 1,
            2 => {
                middle += 1;
                raw.offset(2, inner);
                inner = 1;
            }
            1 => {
                outer += 1;
                raw.offset(1, middle);
                middle = 1;
                raw.offset(2, inner);
                inner = 1;
            }
            0 => {
                raw.offset(0, outer);
                outer = 1;
                raw.offset(1, middle);
                middle = 1;
                raw.offset(2, inner);
                inner = 1;
            }
            _ => {}
        }
    }
    raw.offset(0, outer);
    raw.offset(1, middle);
    raw.offset(2, inner);
    raw.finish(columns)
}

#[inline(always)]
fn fields_by_hand<const COUNT: usize>(inputs: &[Vec<u8>], start: &[i64], columns: &mut Columns) -> i64 {
    let mut raw = Raw::<1>::new(&inputs[0], columns);
    let mut ends: Vec<*mut u8> =
        columns[1..].iter_mut().map(|column| unsafe { column.as_mut_ptr().add(8) }).collect();
    let Some((ends, _)) = ends.split_first_chunk_mut::<COUNT>() else { return 0 };
    for _ in 0..start[0] {
        block_list(&mut raw, 0, |raw, count| {
            for _ in 0..count {
                // By threes, so that what a field is need not be asked.
                let mut threes = ends.chunks_exact_mut(3);
                for three in &mut threes {
                    three[0] = put(three[0], raw.take::<4>());
                    three[1] = put(three[1], raw.take::<8>());
                    three[2] = put(three[2], (raw.zigzag() as i32).to_ne_bytes());
                }
                match threes.into_remainder() {
                    [one] => *one = put(*one, raw.take::<4>()),
                    [one, two] => {
                        *one = put(*one, raw.take::<4>());
                        *two = put(*two, raw.take::<8>());
                    }
                    _ => {}
                }
            }
        });
    }
    for (end, column) in ends.iter().zip(&mut columns[1..]) {
        unsafe { column.set_len(*end as usize - column.as_ptr() as usize) };
    }
    raw.finish(columns)
}

#[inline(always)]
fn put<const M: usize>(to: *mut u8, bytes: [u8; M]) -> *mut u8 {
    unsafe {
        to.cast::<[u8; M]>().write(bytes);
        to.add(M)
    }
}

pub(crate) fn fibonacci(_: &[Vec<u8>], start: &[i64], _: &mut Columns) -> i64 {
    fn one(n: i64) -> i64 {
        if n > 1 { one(black_box(n) - 1).wrapping_add(one(n - 2)) } else { n }
    }
    one(black_box(start[0]))
}

pub(crate) fn tight(_: &[Vec<u8>], start: &[i64], _: &mut Columns) -> i64 {
    let mut value = 0_i64;
    for i in 0..black_box(start[0]) {
        value = value.wrapping_add(i.wrapping_mul(3) & 7) ^ 1;
    }
    value
}

pub(crate) fn until(_: &[Vec<u8>], start: &[i64], _: &mut Columns) -> i64 {
    let (mut n, mut sum) = (black_box(start[0]), 0_i64);
    loop {
        sum += (n & 3) + 1;
        n -= 1;
        if n == 0 {
            return sum;
        }
    }
}

/// Appends through a call that cannot be inlined, which is what a pause comes to.
pub(crate) fn pauses(_: &[Vec<u8>], start: &[i64], columns: &mut Columns) -> i64 {
    #[inline(never)]
    fn one(raw: &mut Raw<1>, number: i64) {
        raw.put(0, number.to_ne_bytes());
    }
    columns[0].resize(8 + 8 * start[0] as usize, 0);
    let mut raw = Raw::<1>::new(&[], columns);
    for number in 0..start[0] {
        one(black_box(&mut raw), number);
    }
    raw.finish(columns)
}
