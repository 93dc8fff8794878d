//! Cursors of a native loop over nested lists, and the reads and writes that move them.

use super::convert::{BLOCK, Conversion, copy_blocks};
use super::exec::Exec;
use super::steps::{Count, Nest};
use crate::interpret::varint;
use forthwith_kernels::settled::settled;

/// Write cursor of an output, and the end of its space.
#[derive(Clone, Copy)]
pub(super) struct Tail {
    pub(super) next: *mut u8,
    pub(super) limit: *mut u8,
}

/// State of the loop. It is passed by value to cold functions, so that it can stay in registers.
#[derive(Clone, Copy)]
pub(super) struct NestState {
    pub(super) data: *const u8,
    pub(super) len: usize,
    pub(super) at: usize,
    pub(super) offsets: [Tail; 3],
    pub(super) leaf: Tail,
    /// Write cursors at the start of the current pass.
    pub(super) mark: [*mut u8; 4],
}

impl NestState {
    #[inline(always)]
    pub(super) fn load(exec: &mut Exec<'_>, nest: &Nest, depth: usize, at: usize) -> Self {
        let cursor = |output: usize| {
            let output = &exec.outputs.list[output];
            // SAFETY: `end <= room <= capacity`, all within the output's memory.
            unsafe { Tail { next: output.start.add(output.end), limit: output.start.add(output.room) } }
        };
        let mut offsets = [Tail { next: std::ptr::null_mut(), limit: std::ptr::null_mut() }; 3];
        // Indices, since the methods of iterators need not be compiled with the instructions of this level.
        #[allow(clippy::needless_range_loop, reason = "as the comment says")]
        for level in 0..depth {
            offsets[level] = cursor(nest.offsets[level]);
        }
        let leaf = cursor(nest.leaf.output);
        let mark = [std::ptr::null_mut(); 4];
        Self { data: exec.data.as_ptr(), len: exec.data.len(), at, offsets, leaf, mark }
    }

    #[inline(always)]
    pub(super) fn set_mark(&mut self, depth: usize) {
        for level in 0..depth {
            self.mark[level] = self.offsets[level].next;
        }
        self.mark[3] = self.leaf.next;
    }

    #[inline(always)]
    pub(super) fn restore_mark(&mut self, depth: usize) {
        for level in 0..depth {
            self.offsets[level].next = self.mark[level];
        }
        self.leaf.next = self.mark[3];
    }

    /// Writes the ends back to the outputs.
    #[inline(always)]
    pub(super) fn store(&self, exec: &mut Exec<'_>, nest: &Nest, depth: usize) {
        for level in 0..depth {
            let output = &mut exec.outputs.list[nest.offsets[level]];
            output.end = self.offsets[level].next as usize - output.start as usize;
        }
        let output = &mut exec.outputs.list[nest.leaf.output];
        output.end = self.leaf.next as usize - output.start as usize;
    }

    #[inline(always)]
    pub(super) fn left(&self) -> usize {
        self.len - self.at
    }

    #[inline(always)]
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        if self.left() < N {
            return None;
        }
        // SAFETY: N bytes from `at` on lie within the input.
        let bytes = unsafe { self.data.add(self.at).cast::<[u8; N]>().read() };
        self.at += N;
        Some(bytes)
    }

    #[inline(always)]
    pub(super) fn big16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    #[inline(always)]
    pub(super) fn big32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    /// Returns the number of items of a list; None if it is invalid, or left to the checked tier.
    #[inline(always)]
    pub(super) fn count(&mut self, count: Count) -> Option<u32> {
        let items = match count {
            Count::Big32 => self.big32()?,
            Count::Little32 => self.take().map(u32::from_le_bytes)?,
            Count::Text => match self.take::<1>()? {
                [255] => self.big32()?,
                [short] => u32::from(short),
            },
            Count::ZigZag => {
                return self.zigzag().and_then(|items| u32::try_from(items).ok()).filter(|&n| n < 1 << 31);
            }
            Count::Other(_) => return None,
        };
        let items = settled(items.into()) as u32;
        (items < 1 << 31).then_some(items)
    }

    /// Reads the size of a block with a negated count. Returns the number of items, and the end of the block,
    /// or 0 if that is not checked.
    #[inline(always)]
    pub(super) fn sized(&mut self, opposite: i64, ends: bool) -> Option<(u32, usize)> {
        let items = u32::try_from(opposite.wrapping_neg()).ok().filter(|&items| items < 1 << 31)?;
        let size = self.zigzag()?;
        if !ends {
            return Some((items, 0));
        }
        let end = usize::try_from(size).ok()?.checked_add(self.at)?;
        Some((items, end))
    }

    /// Reads the items of a block with a negated count, and returns their number.
    ///
    /// # Safety
    ///
    /// The state was loaded from `exec`, for this nest.
    #[inline(always)]
    pub(super) unsafe fn sized_items<K: Conversion>(
        &mut self,
        exec: &mut Exec<'_>,
        nest: &Nest,
        opposite: i64,
        ends: bool,
    ) -> Option<u32> {
        let (items, end) = self.sized(opposite, ends)?;
        *self = slow_items::<K>(*self, exec, nest, u64::from(items) << nest.leaf.shift)?;
        (end == 0 || self.at == end).then_some(items)
    }

    #[inline(always)]
    pub(super) fn zigzag(&mut self) -> Option<i64> {
        if self.left() == 0 {
            return None;
        }
        // SAFETY: at least one byte is left.
        let first = settled(u64::from(unsafe { *self.data.add(self.at) }));
        if first < 0x80 {
            self.at += 1;
            return Some((first >> 1) as i64 ^ -((first & 1) as i64));
        }
        // SAFETY: `data` and `len` describe the input.
        let input = unsafe { std::slice::from_raw_parts(self.data, self.len) };
        let (value, at) = long_varint(input, self.at);
        self.at = at;
        value.map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Appends `last + items` to the offsets of a level.
    ///
    /// # Safety
    ///
    /// The state was loaded from `exec`, for this nest.
    #[inline(always)]
    pub(super) unsafe fn offset<const WIDE: bool>(
        &mut self,
        exec: &mut Exec<'_>,
        nest: &Nest,
        level: usize,
        items: i64,
    ) -> bool {
        let size = if WIDE { 8 } else { 4 };
        if self.offsets[level].limit as usize - (self.offsets[level].next as usize) < size {
            match grow(*self, exec, nest, level, size) {
                Some(grown) => *self = grown,
                None => return false,
            }
        }
        let next = self.offsets[level].next;
        // SAFETY: the check above found space for one item, and one item before the end is always readable.
        unsafe {
            if WIDE {
                let last = next.cast::<i64>().sub(1).read_unaligned();
                next.cast::<i64>().write_unaligned(last.wrapping_add(items));
            } else {
                let last = next.cast::<i32>().sub(1).read_unaligned();
                next.cast::<i32>().write_unaligned(last.wrapping_add(items as i32));
            }
            self.offsets[level].next = next.add(size);
        }
        true
    }

    /// Reads lists of items while only the end of each has to be checked, and returns their number.
    ///
    /// # Safety
    ///
    /// The state was loaded for this nest; `count` reads no more than ten bytes.
    #[inline(always)]
    pub(super) unsafe fn lists<K: Conversion, const WIDE: bool>(
        &mut self,
        nest: &Nest,
        level: usize,
        lists: u32,
        ended: bool,
        count: unsafe fn(*const u8) -> Option<(u64, usize)>,
    ) -> u32 {
        let size = if WIDE { 8 } else { 4 };
        let offsets = self.offsets[level];
        // In shorter inputs, counts that exceed the input cannot be taken for negative ones.
        if u64::from(lists) * size > (offsets.limit as usize - offsets.next as usize) as u64
            || self.left() < BLOCK
            || self.len >= 1 << 31
        {
            return 0;
        }
        let shift = K::SHIFT.unwrap_or(nest.leaf.shift);
        let last_byte = usize::from(ended);
        let (mut at, mut leaf, mut next) = (self.at, self.leaf.next, offsets.next);
        // SAFETY: one item before the end is always readable.
        let mut total = unsafe {
            if WIDE {
                next.cast::<i64>().sub(1).read_unaligned()
            } else {
                i64::from(next.cast::<i32>().sub(1).read_unaligned())
            }
        };
        let mut done = 0;
        while done < lists {
            // SAFETY: a block of the input is left, here and after each list.
            let Some((items, used)) = (unsafe { count(self.data.add(at)) }) else { break };
            let from = at + used;
            let bytes = items << shift;
            if bytes + (last_byte + BLOCK) as u64 > (self.len - from) as u64
                || bytes > (self.leaf.limit as usize - leaf as usize) as u64
            {
                break;
            }
            let bytes = bytes as usize;
            total = total.wrapping_add(items as i64);
            // SAFETY: there is space for all offsets, and for the bytes; a block of the input is left after
            // them, and the output has slack.
            unsafe {
                if WIDE {
                    next.cast::<i64>().write_unaligned(total);
                } else {
                    next.cast::<i32>().write_unaligned(total as i32);
                }
                next = next.add(size as usize);
                copy_blocks::<K>(self.data.add(from), leaf, bytes);
                leaf = leaf.add(bytes);
            }
            at = from + bytes + last_byte;
            done += 1;
        }
        self.at = at;
        self.leaf.next = leaf;
        self.offsets[level].next = next;
        done
    }

    /// Reads a big-endian count, and returns it with its size.
    ///
    /// # Safety
    ///
    /// Four bytes are readable.
    #[inline(always)]
    pub(super) unsafe fn big32_unchecked(from: *const u8) -> Option<(u64, usize)> {
        // SAFETY: guaranteed by the caller.
        let bytes = unsafe { from.cast::<[u8; 4]>().read() };
        Some((settled(u32::from_be_bytes(bytes).into()), 4))
    }

    /// Reads a zigzag count of one or two bytes, and returns it with its size; None if it is longer or
    /// negative.
    ///
    /// # Safety
    ///
    /// Two bytes are readable.
    #[inline(always)]
    pub(super) unsafe fn zigzag_unchecked(from: *const u8) -> Option<(u64, usize)> {
        // SAFETY: guaranteed by the caller.
        let both = settled(u16::from_le_bytes(unsafe { from.cast::<[u8; 2]>().read() }).into());
        let [first, second] = (both as u16).to_le_bytes();
        let (value, used) = if first < 0x80 {
            (u64::from(first), 1)
        } else if second < 0x80 {
            (u64::from(first & 0x7f) | u64::from(second) << 7, 2)
        } else {
            return None;
        };
        (value & 1 == 0).then_some((value >> 1, used))
    }

    /// Moves items from the input to the leaf.
    ///
    /// # Safety
    ///
    /// The state was loaded from `exec`, for this nest.
    #[inline(always)]
    pub(super) unsafe fn items<K: Conversion>(
        &mut self,
        exec: &mut Exec<'_>,
        nest: &Nest,
        items: u32,
    ) -> bool {
        let bytes = u64::from(items) << nest.leaf.shift;
        let room = self.leaf.limit as usize - self.leaf.next as usize;
        if bytes + BLOCK as u64 > self.left() as u64 || bytes > room as u64 {
            return match slow_items::<K>(*self, exec, nest, bytes) {
                Some(state) => {
                    *self = state;
                    true
                }
                None => false,
            };
        }
        let bytes = bytes as usize;
        // SAFETY: input: `bytes` rounded up to whole blocks is less than `bytes + BLOCK`, which is left.
        // Output: `bytes` fit the space, and surplus bytes stay within the slack of BLOCK bytes.
        unsafe {
            copy_blocks::<K>(self.data.add(self.at), self.leaf.next, bytes);
            self.leaf.next = self.leaf.next.add(bytes);
        }
        self.at += bytes;
        true
    }
}

#[cold]
#[inline(never)]
fn long_varint(input: &[u8], at: usize) -> (Option<u64>, usize) {
    let (value, at) = varint(input, at);
    (value.ok(), at)
}

/// Reserves space in the offsets of a level (or in the leaf: level 3).
#[cold]
#[inline(never)]
fn grow(state: NestState, exec: &mut Exec<'_>, nest: &Nest, level: usize, extra: usize) -> Option<NestState> {
    let depth = nest.depth;
    let outputs = || nest.offsets[..depth].iter().copied().enumerate().chain([(3, nest.leaf.output)]);
    let mut marks = [0; 4];
    for (slot, output) in outputs() {
        marks[slot] = state.mark[slot] as usize - exec.outputs.list[output].start as usize;
    }
    state.store(exec, nest, depth);
    let wanted = if level == 3 { nest.leaf.output } else { nest.offsets[level] };
    exec.outputs.reserve(wanted, extra).ok()?;
    let mut grown = NestState::load(exec, nest, depth, state.at);
    for (slot, output) in outputs() {
        // SAFETY: the mark is not after the end, so it lies within the memory, which may have moved.
        grown.mark[slot] = unsafe { exec.outputs.list[output].start.add(marks[slot]) };
    }
    Some(grown)
}

/// Reads items near the end of the input or of the space in the leaf, without reading or writing beyond.
#[cold]
#[inline(never)]
fn slow_items<K: Conversion>(
    mut state: NestState,
    exec: &mut Exec<'_>,
    nest: &Nest,
    bytes: u64,
) -> Option<NestState> {
    let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes <= state.left())?;
    if bytes > state.leaf.limit as usize - state.leaf.next as usize {
        state = grow(state, exec, nest, 3, bytes)?;
    }
    let from = &exec.data[state.at..state.at + bytes];
    let (blocks, rest) = from.as_chunks::<BLOCK>();
    for block in blocks {
        // SAFETY: the output has space for `bytes`.
        unsafe {
            state.leaf.next.cast::<[u8; BLOCK]>().write(K::convert(*block));
            state.leaf.next = state.leaf.next.add(BLOCK);
        }
    }
    let mut block = [0; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    let block = K::convert(block);
    // SAFETY: the output has space for `bytes`, the last of which are these.
    unsafe {
        std::ptr::copy_nonoverlapping(block.as_ptr(), state.leaf.next, rest.len());
        state.leaf.next = state.leaf.next.add(rest.len());
    }
    state.at += bytes;
    Some(state)
}
