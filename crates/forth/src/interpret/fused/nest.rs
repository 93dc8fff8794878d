//! Nested lists as one native loop, with all cursors in registers.
//!
//! Short lists are copied 64 bytes at a time without looking at their length: inputs are checked to have so many bytes
//! left, outputs always have slack. A loop that counts would mispredict once per list.

use super::exec::Exec;
use super::plan::{Count, Header, Nest};
use crate::interpret::varint;

const BLOCK: usize = 64;

/// How 64 bytes of items are turned from input order to output order.
pub(super) trait Leafy {
    fn convert(block: [u8; BLOCK]) -> [u8; BLOCK];
}

pub(super) struct Copy;
pub(super) struct Swap2;
pub(super) struct Swap4;
pub(super) struct Swap8;
pub(super) struct Bool;

impl Leafy for Copy {
    #[inline(always)]
    fn convert(block: [u8; BLOCK]) -> [u8; BLOCK] {
        block
    }
}

macro_rules! swap {
    ($name:ident, $type:ty, $lanes:literal) => {
        impl Leafy for $name {
            #[inline(always)]
            fn convert(block: [u8; BLOCK]) -> [u8; BLOCK] {
                // SAFETY: both are plain bytes of the same size.
                let mut items: [$type; $lanes] = unsafe { std::mem::transmute(block) };
                for item in &mut items {
                    *item = item.swap_bytes();
                }
                // SAFETY: as above.
                unsafe { std::mem::transmute(items) }
            }
        }
    };
}

swap!(Swap2, u16, 32);
swap!(Swap4, u32, 16);
swap!(Swap8, u64, 8);

impl Leafy for Bool {
    #[inline(always)]
    fn convert(mut block: [u8; BLOCK]) -> [u8; BLOCK] {
        for byte in &mut block {
            *byte = u8::from(*byte != 0);
        }
        block
    }
}

/// Where an output is written next and where its room ends.
#[derive(Clone, Copy)]
struct Cursor {
    next: *mut u8,
    limit: *mut u8,
}

/// Everything the loop moves. Passed by value to cold functions, so that it can stay in registers.
#[derive(Clone, Copy)]
struct State {
    data: *const u8,
    len: usize,
    at: usize,
    offsets: [Cursor; 3],
    leaf: Cursor,
    /// The same cursors at the start of the current pass.
    mark: [*mut u8; 4],
}

/// Runs up to `passes` passes from position `at`. Returns the passes completed and the position after them. What a
/// failed pass wrote is taken back; nobody but the checked tier decides what is wrong with it.
#[inline(always)]
pub(super) fn run<K: Leafy, const DEPTH: usize, const WIDE: bool, const BLOCKS: bool>(
    exec: &mut Exec<'_>,
    nest: &Nest,
    header: Option<&Header>,
    passes: usize,
    at: usize,
) -> (usize, usize) {
    let mut state = State::load(exec, nest, DEPTH, at);
    let none = Header::default();
    let header = header.unwrap_or(&none);
    let starts = header.start.map_or(&[][..], |input| &exec.inputs[input][exec.positions[input]..]);
    let stops = header.stop.map_or(&[][..], |(input, _)| &exec.inputs[input][exec.positions[input]..]);
    let mut done = 0;
    let mut mark_at = at;
    let mut last_stop = None;
    while done < passes {
        mark_at = state.at;
        state.set_mark(DEPTH);
        let mut stop = 0;
        if header.start.is_some() {
            let Some(bytes) = starts.get(done * 4..).and_then(|rest| rest.first_chunk::<4>()) else { break };
            state.at = u32::from_le_bytes(*bytes) as usize;
            if state.at > state.len {
                break;
            }
        }
        if header.stop.is_some() {
            let Some(bytes) = stops.get(done * 4..).and_then(|rest| rest.first_chunk::<4>()) else { break };
            stop = i64::from(u32::from_le_bytes(*bytes));
        }
        if let Some(bias) = header.byte_count {
            let Some(count) = state.big32() else { break };
            if i64::from(count) - bias + state.at as i64 != stop {
                break;
            }
        }
        if let Some((low, high)) = header.version {
            let Some(version) = state.big16() else { break };
            if version < low || version > high {
                break;
            }
        }
        if header.skip > state.len - state.at {
            break;
        }
        state.at += header.skip;
        // SAFETY: `load` made the cursors from the outputs of `exec`, which are only changed through `state` below.
        let complete = unsafe { pass::<K, DEPTH, WIDE, BLOCKS>(&mut state, exec, nest) };
        if !complete || (header.check_end && state.at as i64 != stop) {
            break;
        }
        last_stop = Some(stop);
        done += 1;
    }
    if done < passes {
        state.at = mark_at;
        state.restore_mark(DEPTH);
    }
    state.store(exec, nest, DEPTH);
    if let Some(input) = header.start {
        exec.positions[input] += done * 4;
    }
    if let Some((input, variable)) = header.stop {
        exec.positions[input] += done * 4;
        if let Some(stop) = last_stop {
            exec.variables[variable] = stop;
        }
    }
    (done, state.at)
}

#[inline(always)]
unsafe fn pass<K: Leafy, const DEPTH: usize, const WIDE: bool, const BLOCKS: bool>(
    state: &mut State,
    exec: &mut Exec<'_>,
    nest: &Nest,
) -> bool {
    // SAFETY: as the caller's.
    unsafe {
        match (BLOCKS, DEPTH) {
            (false, 1) => list1::<K, WIDE>(state, exec, nest, 0),
            (false, 2) => list2::<K, WIDE>(state, exec, nest, 0),
            (false, _) => list3::<K, WIDE>(state, exec, nest),
            (true, 1) => blocks1::<K, WIDE>(state, exec, nest, 0),
            (true, 2) => blocks2::<K, WIDE>(state, exec, nest, 0),
            (true, _) => blocks3::<K, WIDE>(state, exec, nest),
        }
    }
}

macro_rules! outer_list {
    ($(#[$safety:meta])* $list:ident, $blocks:ident, $($level:ident)?, $at:expr, $inner:ident, $inner_blocks:ident, $next:expr) => {
        #[inline(always)]
        unsafe fn $list<K: Leafy, const WIDE: bool>(
            state: &mut State,
            exec: &mut Exec<'_>,
            nest: &Nest,
            $($level: usize,)?
        ) -> bool {
            let Some(items) = state.count(nest.count) else { return false };
            // SAFETY: as the caller's.
            unsafe {
                if !state.offset::<WIDE>(exec, nest, $at, items as i64) {
                    return false;
                }
                for _ in 0..items {
                    if !$inner::<K, WIDE>(state, exec, nest, $next) {
                        return false;
                    }
                }
            }
            true
        }

        #[inline(always)]
        unsafe fn $blocks<K: Leafy, const WIDE: bool>(
            state: &mut State,
            exec: &mut Exec<'_>,
            nest: &Nest,
            $($level: usize,)?
        ) -> bool {
            let mut total = 0_i64;
            loop {
                let Some(items) = state.block() else { return false };
                if items == 0 {
                    break;
                }
                for _ in 0..items {
                    // SAFETY: as the caller's.
                    if !unsafe { $inner_blocks::<K, WIDE>(state, exec, nest, $next) } {
                        return false;
                    }
                }
                total = total.wrapping_add(items as i64);
            }
            // SAFETY: as the caller's.
            unsafe { state.offset::<WIDE>(exec, nest, $at, total) }
        }
    };
}

outer_list!(list2, blocks2, level, level, list1, blocks1, level + 1);
outer_list!(list3, blocks3, , 0, list2, blocks2, 1);

#[inline(always)]
unsafe fn list1<K: Leafy, const WIDE: bool>(
    state: &mut State,
    exec: &mut Exec<'_>,
    nest: &Nest,
    level: usize,
) -> bool {
    let Some(items) = state.count(nest.inner) else { return false };
    // SAFETY: as the caller's.
    unsafe { state.offset::<WIDE>(exec, nest, level, items as i64) && state.items::<K>(exec, nest, items) }
}

#[inline(always)]
unsafe fn blocks1<K: Leafy, const WIDE: bool>(
    state: &mut State,
    exec: &mut Exec<'_>,
    nest: &Nest,
    level: usize,
) -> bool {
    let mut total = 0_i64;
    loop {
        let Some(items) = state.block() else { return false };
        if items == 0 {
            break;
        }
        // SAFETY: as the caller's.
        if !unsafe { state.items::<K>(exec, nest, items) } {
            return false;
        }
        total += items as i64;
    }
    // SAFETY: as the caller's.
    unsafe { state.offset::<WIDE>(exec, nest, level, total) }
}

impl State {
    #[inline(always)]
    fn load(exec: &mut Exec<'_>, nest: &Nest, depth: usize, at: usize) -> Self {
        let cursor = |output: usize| {
            let output = &exec.outputs.list[output];
            // SAFETY: `end <= room <= capacity`, all within the output's memory.
            unsafe { Cursor { next: output.start.add(output.end), limit: output.start.add(output.room) } }
        };
        let mut offsets = [Cursor { next: std::ptr::null_mut(), limit: std::ptr::null_mut() }; 3];
        for (slot, &output) in offsets.iter_mut().zip(&nest.offsets).take(depth) {
            *slot = cursor(output);
        }
        let leaf = cursor(nest.leaf.output);
        let mark = [std::ptr::null_mut(); 4];
        Self { data: exec.data.as_ptr(), len: exec.data.len(), at, offsets, leaf, mark }
    }

    #[inline(always)]
    fn set_mark(&mut self, depth: usize) {
        for level in 0..depth {
            self.mark[level] = self.offsets[level].next;
        }
        self.mark[3] = self.leaf.next;
    }

    #[inline(always)]
    fn restore_mark(&mut self, depth: usize) {
        for level in 0..depth {
            self.offsets[level].next = self.mark[level];
        }
        self.leaf.next = self.mark[3];
    }

    /// Writes the ends back to the outputs.
    #[inline(always)]
    fn store(&self, exec: &mut Exec<'_>, nest: &Nest, depth: usize) {
        for level in 0..depth {
            let output = &mut exec.outputs.list[nest.offsets[level]];
            output.end = self.offsets[level].next as usize - output.start as usize;
        }
        let output = &mut exec.outputs.list[nest.leaf.output];
        output.end = self.leaf.next as usize - output.start as usize;
    }

    #[inline(always)]
    fn left(&self) -> usize {
        self.len - self.at
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        if self.left() < N {
            return None;
        }
        // SAFETY: N bytes from `at` on lie within the input.
        let bytes = unsafe { self.data.add(self.at).cast::<[u8; N]>().read() };
        self.at += N;
        Some(bytes)
    }

    #[inline(always)]
    fn big16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    #[inline(always)]
    fn big32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    /// The number of items of a list; None also for numbers that only the checked tier handles.
    #[inline(always)]
    fn count(&mut self, count: Count) -> Option<u32> {
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
        (items < 1 << 31).then_some(items)
    }

    /// The number of items of the next block.
    #[inline(always)]
    fn block(&mut self) -> Option<u32> {
        let mut items = self.zigzag()?;
        if items < 0 {
            items = items.wrapping_neg();
            self.zigzag()?;
        }
        u32::try_from(items).ok().filter(|&items| items < 1 << 31)
    }

    #[inline(always)]
    fn zigzag(&mut self) -> Option<i64> {
        if self.left() == 0 {
            return None;
        }
        // SAFETY: at least one byte is left.
        let first = unsafe { *self.data.add(self.at) };
        if first < 0x80 {
            self.at += 1;
            return Some(i64::from(first >> 1) ^ -i64::from(first & 1));
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
    unsafe fn offset<const WIDE: bool>(
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
        // SAFETY: there is room for one item, and one item before the end is always readable.
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

    /// Moves items from the input to the leaf.
    ///
    /// # Safety
    ///
    /// The state was loaded from `exec`, for this nest.
    #[inline(always)]
    unsafe fn items<K: Leafy>(&mut self, exec: &mut Exec<'_>, nest: &Nest, items: u32) -> bool {
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
        // SAFETY: input: `bytes` rounded up to whole blocks is less than `bytes + BLOCK`, which is left. Output: `bytes`
        // fit the room, and what is written beyond them stays within the slack of BLOCK bytes.
        unsafe {
            copy_blocks::<K>(self.data.add(self.at), self.leaf.next, bytes);
            self.leaf.next = self.leaf.next.add(bytes);
        }
        self.at += bytes;
        true
    }
}

/// # Safety
///
/// At least one block, and all blocks that begin before `bytes`, are readable and writable.
#[inline(always)]
pub(super) unsafe fn copy_blocks<K: Leafy>(from: *const u8, to: *mut u8, bytes: usize) {
    let mut at = 0;
    loop {
        // SAFETY: the caller's; arrays of bytes have no alignment.
        unsafe {
            let block = from.add(at).cast::<[u8; BLOCK]>().read();
            to.add(at).cast::<[u8; BLOCK]>().write(K::convert(block));
        }
        at += BLOCK;
        if at >= bytes {
            break;
        }
    }
}

#[cold]
#[inline(never)]
fn long_varint(input: &[u8], at: usize) -> (Option<u64>, usize) {
    let (value, at) = varint(input, at);
    (value.ok(), at)
}

/// Makes room in the offsets of a level (or in the leaf: level 3).
#[cold]
#[inline(never)]
fn grow(state: State, exec: &mut Exec<'_>, nest: &Nest, level: usize, extra: usize) -> Option<State> {
    let depth = nest.depth;
    let outputs = || nest.offsets[..depth].iter().copied().enumerate().chain([(3, nest.leaf.output)]);
    let mut marks = [0; 4];
    for (slot, output) in outputs() {
        marks[slot] = state.mark[slot] as usize - exec.outputs.list[output].start as usize;
    }
    state.store(exec, nest, depth);
    let wanted = if level == 3 { nest.leaf.output } else { nest.offsets[level] };
    exec.outputs.reserve(wanted, extra).ok()?;
    let mut grown = State::load(exec, nest, depth, state.at);
    for (slot, output) in outputs() {
        // SAFETY: the mark is not behind the end, so it lies within the memory wherever that is now.
        grown.mark[slot] = unsafe { exec.outputs.list[output].start.add(marks[slot]) };
    }
    Some(grown)
}

/// Items near the end of the input or of the room: exact.
#[cold]
#[inline(never)]
fn slow_items<K: Leafy>(mut state: State, exec: &mut Exec<'_>, nest: &Nest, bytes: u64) -> Option<State> {
    let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes <= state.left())?;
    if bytes > state.leaf.limit as usize - state.leaf.next as usize {
        state = grow(state, exec, nest, 3, bytes)?;
    }
    let from = &exec.data[state.at..state.at + bytes];
    let (blocks, rest) = from.as_chunks::<BLOCK>();
    for block in blocks {
        // SAFETY: there is room for `bytes`.
        unsafe {
            state.leaf.next.cast::<[u8; BLOCK]>().write(K::convert(*block));
            state.leaf.next = state.leaf.next.add(BLOCK);
        }
    }
    let mut block = [0; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    let block = K::convert(block);
    // SAFETY: there is room for `bytes`, of which these are the last.
    unsafe {
        std::ptr::copy_nonoverlapping(block.as_ptr(), state.leaf.next, rest.len());
        state.leaf.next = state.leaf.next.add(rest.len());
    }
    state.at += bytes;
    Some(state)
}
