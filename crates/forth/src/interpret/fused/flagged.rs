//! A native loop over entries of flagged numbers, after which a number of bytes follows if a bit is set:
//! ROOT's object bits.

use super::convert::{BLOCK, Conversion};
use super::exec::{Exec, chunk};
use super::steps::{Leaf, LeafKind, Start, Step};
use crate::DType;
use crate::compile::ir::OutputDecl;
use forthwith_kernels::settled::settled;

/// Size of a number as a power of two.
const SHIFT: u32 = 2;
const WORDS: usize = BLOCK >> SHIFT;

/// Entries of numbers of four bytes, which are stored up to the end of the entry; after numbers with one of
/// the bits, a fixed number of bytes is skipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flagged {
    start: Start,
    /// The input of the ends, and the variable that holds one.
    stop: (usize, usize),
    offsets: usize,
    pub(super) leaf: Leaf,
    /// The bits in the byte order of the input, read in native order.
    bits: u32,
    then: usize,
}

impl Flagged {
    /// Returns the loop for these steps; None if they have another form.
    pub(super) fn canonical(steps: &[Step], outputs: &[OutputDecl]) -> Option<Self> {
        let [
            Step::Start(start),
            Step::Stop(input, stop),
            Step::ToEnd { variable, offsets, body },
            Step::CheckEnd(checked),
        ] = steps
        else {
            return None;
        };
        let [Step::Masked { read, mask, then, output }] = &body[..] else { return None };
        let [Step::Skip(then)] = then[..] else { return None };
        // There is one cursor for each input and for each output.
        let apart = start.input as usize != *input && offsets != output;
        if !apart || stop != variable || stop != checked || outputs[*offsets].dtype != DType::Int64 {
            return None;
        }
        let leaf = Leaf::new(*read, *output, outputs[*output].dtype)?;
        // Negative masks would be extended to the higher bits.
        let mask = u32::try_from(i32::try_from(*mask).ok()?).ok()?;
        let bits = match leaf.kind {
            LeafKind::Copy if leaf.shift == SHIFT => mask,
            LeafKind::Swap4 => mask.swap_bytes(),
            _ => return None,
        };
        Some(Self { start: *start, stop: (*input, *stop), offsets: *offsets, leaf, bits, then })
    }

    /// Returns the outputs that the loop writes to.
    pub(super) fn outputs(&self) -> [usize; 2] {
        [self.offsets, self.leaf.output]
    }
}

/// Runs entries up to the first that this loop cannot read. Returns the number of completed passes and the
/// position after them.
#[inline(always)]
pub(super) fn run<K: Conversion>(
    exec: &mut Exec<'_>,
    flagged: &Flagged,
    passes: usize,
    at: usize,
) -> (usize, usize) {
    let (starts_at, (stops_at, variable)) = (flagged.start.input as usize, flagged.stop);
    let data = exec.data;
    let (starts, _) = exec.inputs[starts_at][exec.positions[starts_at]..].as_chunks::<4>();
    let (stops, _) = exec.inputs[stops_at][exec.positions[stops_at]..].as_chunks::<4>();
    let passes = passes.min(starts.len()).min(stops.len());
    // Under a limit, space that may not be needed would be taken from other outputs.
    if exec.outputs.is_limited() || exec.outputs.reserve(flagged.offsets, passes.saturating_mul(8)).is_err() {
        return (0, at);
    }
    let offsets = &exec.outputs.list[flagged.offsets];
    // SAFETY: the end is within the memory, and one item before it is always readable.
    let (mut next, mut last) = unsafe {
        let next = offsets.start.add(offsets.end).cast::<i64>();
        (next, next.sub(1).read_unaligned())
    };
    let mut to = Target::new(exec, flagged.leaf.output);
    // The end that was compared: other threads may write to the input.
    let (mut done, mut last_stop) = (0, 0);
    for (start, stop) in starts[..passes].iter().zip(&stops[..passes]) {
        let stop = settled(u32::from_le_bytes(*stop).into()) as usize;
        let start = settled(u32::from_le_bytes(*start).into()) as u32;
        let Some(start) = flagged.start.position(start, data.len()) else { break };
        if start > stop || stop > data.len() {
            break;
        }
        let bytes = stop - start;
        if bytes.next_multiple_of(1 << SHIFT) > to.room() {
            to.store(exec, flagged.leaf.output);
            let grown = exec.outputs.reserve(flagged.leaf.output, bytes.next_multiple_of(1 << SHIFT));
            to = Target::new(exec, flagged.leaf.output);
            if grown.is_err() {
                break;
            }
        }
        // SAFETY: the output has space for the bytes of the entry, rounded up to whole numbers, and slack.
        let items = unsafe {
            match bytes.is_multiple_of(1 << SHIFT)
                && stop + BLOCK <= data.len()
                && to.copy::<K>(data, start, bytes, flagged.bits)
            {
                true => Some(bytes >> SHIFT),
                false => to.one_by_one(data, start, stop, flagged),
            }
        };
        let Some(items) = items else { break };
        last = last.wrapping_add(items as i64);
        // SAFETY: space for all passes, and for these numbers, was reserved.
        unsafe {
            to.next = to.next.add(items << SHIFT);
            next.write_unaligned(last);
            next = next.add(1);
        }
        done += 1;
        last_stop = stop;
    }
    to.store(exec, flagged.leaf.output);
    let offsets = &mut exec.outputs.list[flagged.offsets];
    offsets.end = next as usize - offsets.start as usize;
    if done == 0 {
        return (0, at);
    }
    exec.positions[starts_at] += done * 4;
    exec.positions[stops_at] += done * 4;
    exec.variables[variable] = last_stop as i64;
    (done, last_stop)
}

/// Write cursor of an output.
struct Target {
    next: *mut u8,
    limit: *mut u8,
}

impl Target {
    fn new(exec: &Exec<'_>, output: usize) -> Self {
        let output = &exec.outputs.list[output];
        // SAFETY: `end <= room`, and both are within the memory.
        unsafe { Self { next: output.start.add(output.end), limit: output.start.add(output.room) } }
    }

    fn store(&self, exec: &mut Exec<'_>, output: usize) {
        let output = &mut exec.outputs.list[output];
        output.end = self.next as usize - output.start as usize;
    }

    fn room(&self) -> usize {
        self.limit as usize - self.next as usize
    }

    /// Copies the numbers of an entry. Returns whether none of them has one of the bits; otherwise they do
    /// not count.
    ///
    /// # Safety
    ///
    /// The bytes, and a block after them, are within the data; the output has space for them, and slack.
    #[inline(always)]
    unsafe fn copy<K: Conversion>(&mut self, data: &[u8], start: usize, bytes: usize, bits: u32) -> bool {
        let (mut at, mut left, mut found) = (0, bytes >> SHIFT, 0);
        // At least one block is copied, so that short entries need no branch.
        loop {
            // SAFETY: a block that begins within the bytes, or directly after them, is within the data and
            // the slack.
            let words = unsafe {
                let from = data.as_ptr().add(start + at);
                K::transfer(from, self.next.add(at));
                from.cast::<[[u8; 4]; WORDS]>().read()
            };
            for (number, word) in (0..WORDS).zip(words) {
                found |= if number < left { u32::from_ne_bytes(word) } else { 0 };
            }
            at += BLOCK;
            left = left.saturating_sub(WORDS);
            if at >= bytes {
                return found & bits == 0;
            }
        }
    }

    /// Writes the numbers up to the stop one by one. Returns how many, or None if none of them ends exactly
    /// there.
    ///
    /// # Safety
    ///
    /// The output has space for the bytes up to the stop, rounded up to whole numbers.
    #[inline(never)]
    unsafe fn one_by_one(
        &mut self,
        data: &[u8],
        mut at: usize,
        stop: usize,
        flagged: &Flagged,
    ) -> Option<usize> {
        let mut items = 0;
        while at < stop {
            let word = u32::from_ne_bytes(chunk(data, at)?);
            at += 1 << SHIFT;
            if word & flagged.bits != 0 {
                at += flagged.then;
            }
            let word = if flagged.leaf.kind == LeafKind::Swap4 { word.swap_bytes() } else { word };
            // SAFETY: each number takes four bytes of the space, and has at least as many in the input.
            unsafe { self.next.add(items << SHIFT).cast::<[u8; 4]>().write(word.to_ne_bytes()) };
            items += 1;
        }
        (at == stop).then_some(items)
    }
}
