//! A native loop over entries with known ends, which checks once per entry instead of once per read.
//!
//! An entry is read only if all of it, and a block after it, lies within the input, and if the outputs have
//! space for the most that its bytes can hold. Its lists then only have to be compared with its end. An entry
//! that violates any of this, or that does not end where it should, is not read: none of its items are kept.

use super::convert::{BLOCK, Conversion, copy_blocks};
use super::exec::Exec;
use super::steps::{Count, Form, Header, Nest};
use forthwith_kernels::settled::settled;

/// Upper bound on the size of an entry in bytes: larger ones would reserve too much, and gain nothing.
const MOST: usize = 1 << 16;

/// Encoding of the innermost counts.
pub(super) const WORD: u8 = 0;
pub(super) const TEXT: u8 = 1;

/// Bytes before the outermost lists: a byte count and a version, skipped bytes, or none, not even the count
/// of the outermost list.
pub(super) const FRAMED: u8 = 0;
pub(super) const PLAIN: u8 = 1;
pub(super) const TO_END: u8 = 2;

/// Whether this loop can read entries of this form.
pub(super) fn fit(header: &Header, nest: &Nest) -> bool {
    // Without a negative bias, comparing 32 bits of the byte count suffices.
    let bias = header.byte_count.is_some_and(|bias| bias >= 0);
    let framed = bias && header.version.is_some() && header.skip == 0;
    let skipped = header.byte_count.is_none() && header.version.is_none() && header.skip < MOST / 2;
    let inner = nest.inner == Count::Big32 || (nest.inner == Count::Text && nest.leaf.shift == 0);
    let outer = nest.depth == 1 || nest.count == Count::Big32;
    let form = nest.wide && nest.form == Form::Counted && inner && outer;
    header.start.is_some_and(|start| start.ahead == 0 && !start.signed)
        && header.stop.is_some()
        && header.check_end
        && (framed || skipped)
        && form
}

/// Write cursors of the outputs, in registers.
#[derive(Clone, Copy)]
struct Cursors {
    leaf: *mut u8,
    /// Levels below the outermost. Not an array, which would stay in memory.
    second: Level,
    third: Level,
}

/// Write cursor of offsets, and the last offset.
#[derive(Clone, Copy)]
struct Level {
    next: *mut i64,
    last: i64,
}

/// Reader of an entry: the next byte, the end of the entry, and the write cursors.
struct Reader {
    at: *const u8,
    stop: *const u8,
    to: Cursors,
}

/// Runs entries up to the first that this loop cannot read. Returns the number of completed passes and the
/// position after them.
#[inline(always)]
pub(super) fn run<K: Conversion, const DEPTH: usize, const FRAME: u8, const COUNT: u8>(
    exec: &mut Exec<'_>,
    nest: &Nest,
    header: &Header,
    passes: usize,
    at: usize,
) -> (usize, usize) {
    let (Some(start), Some((stops_at, variable))) = (header.start, header.stop) else { return (0, at) };
    let starts_at = start.input as usize;
    let (starts, _) = exec.inputs[starts_at][exec.positions[starts_at]..].as_chunks::<4>();
    let (stops, _) = exec.inputs[stops_at][exec.positions[stops_at]..].as_chunks::<4>();
    let passes = passes.min(starts.len()).min(stops.len());
    let Some(safe) = exec.data.len().checked_sub(BLOCK) else { return (0, at) };
    // Under a limit, space that may not be needed would be taken from other outputs.
    if exec.outputs.is_limited() {
        return (0, at);
    }
    // There is one offset of the outermost lists per entry.
    if exec.outputs.reserve(nest.offsets[0], passes.saturating_mul(8)).is_err() {
        return (0, at);
    }
    let base = exec.data.as_ptr();
    let head = if FRAME == FRAMED { 6 } else { header.skip };
    let least = match FRAME {
        TO_END => 0,
        _ => head + if COUNT == WORD || DEPTH > 1 { 4 } else { 1 },
    };
    // The byte count of an empty entry, less its own size, and the range of valid versions.
    let bias = (header.byte_count.unwrap_or(4) as u32).wrapping_sub(4);
    let Some((low, high)) = (if FRAME == FRAMED { header.version } else { Some((0, 0)) }) else {
        return (0, at);
    };
    let versions = high.wrapping_sub(low);
    let shift = K::SHIFT.unwrap_or(nest.leaf.shift);
    let mut room = Room::new::<DEPTH>(exec, nest);
    let mut first = Level::new(exec, nest.offsets[0]);
    let mut now = Cursors::new::<DEPTH>(exec, nest);
    // The end that was compared: other threads may write to the input.
    let (mut done, mut last_stop) = (0, 0);
    for (start, stop) in starts[..passes].iter().zip(&stops[..passes]) {
        let start = settled(u32::from_le_bytes(*start).into()) as usize;
        let stop = settled(u32::from_le_bytes(*stop).into()) as usize;
        let size = (stop as u64).wrapping_sub(start as u64);
        // A stop before the start wraps to a huge size.
        if size.wrapping_sub(least as u64) > (MOST - least) as u64 || stop > safe {
            break;
        }
        let size = size as usize;
        if !room.fits::<DEPTH, COUNT>(&now, size) {
            let grown = more::<DEPTH, COUNT>(exec, nest, now, size);
            // Loaded here and not in `more`, so that the cursors stay in registers.
            room = Room::new::<DEPTH>(exec, nest);
            now = Cursors::new::<DEPTH>(exec, nest);
            if !grown {
                break;
            }
        }
        // SAFETY: the entry, and a block after it, lie within the input.
        let mut entry = unsafe {
            let at = base.add(start);
            if FRAME == FRAMED {
                let count = u32::from_be_bytes(at.cast::<[u8; 4]>().read());
                let version = u16::from_be_bytes(at.add(4).cast::<[u8; 2]>().read());
                if count != (size as u32).wrapping_add(bias) || version.wrapping_sub(low) > versions {
                    break;
                }
            }
            Reader { at: at.add(head), stop: base.add(stop), to: now }
        };
        // SAFETY: the remainder of the entry has at least the first count, and `room` has space for all that
        // the entry can hold.
        let items = unsafe {
            match DEPTH {
                _ if FRAME == TO_END => entry.rest::<K, COUNT>(shift),
                1 => entry.only::<K, COUNT>(shift),
                2 => entry.list::<K, COUNT, false>(shift),
                _ => entry.lists::<K, COUNT>(shift),
            }
        };
        let Some(items) = items else { break };
        now = entry.to;
        // SAFETY: space for all passes was reserved.
        unsafe { first.add(items) };
        done += 1;
        last_stop = stop;
    }
    first.store(exec, nest.offsets[0]);
    now.store::<DEPTH>(exec, nest);
    if done == 0 {
        return (0, at);
    }
    exec.positions[starts_at] += done * 4;
    exec.positions[stops_at] += done * 4;
    exec.variables[variable] = last_stop as i64;
    (done, last_stop)
}

/// Ends of the space in the outputs that fill unevenly.
#[derive(Clone, Copy)]
struct Room {
    leaf: *mut u8,
    second: *mut i64,
    third: *mut i64,
}

/// Returns the maximum number of bytes of offsets that an entry can need in a level below the outermost.
fn most<const DEPTH: usize, const COUNT: u8>(level: usize, size: usize) -> usize {
    // Counts have four bytes, but that of a text may have one.
    if level + 1 == DEPTH && COUNT == TEXT { size * 8 } else { size / 4 * 8 }
}

impl Room {
    #[inline(always)]
    fn new<const DEPTH: usize>(exec: &Exec<'_>, nest: &Nest) -> Self {
        let limit = |output: usize| {
            let output = &exec.outputs.list[output];
            // SAFETY: the room is within the memory.
            unsafe { output.start.add(output.room) }
        };
        let none = std::ptr::null_mut();
        Self {
            leaf: limit(nest.leaf.output),
            second: if DEPTH > 1 { limit(nest.offsets[1]).cast() } else { none },
            third: if DEPTH > 2 { limit(nest.offsets[2]).cast() } else { none },
        }
    }

    #[inline(always)]
    fn fits<const DEPTH: usize, const COUNT: u8>(&self, now: &Cursors, size: usize) -> bool {
        let fits = |level, limit: *mut i64, next: *mut i64| {
            most::<DEPTH, COUNT>(level, size) <= limit as usize - next as usize
        };
        size <= self.leaf as usize - now.leaf as usize
            && (DEPTH < 2 || fits(1, self.second, now.second.next))
            && (DEPTH < 3 || fits(2, self.third, now.third.next))
    }
}

/// Reserves space for an entry; whether that succeeded. The outputs may have moved in any case.
#[cold]
#[inline(never)]
fn more<const DEPTH: usize, const COUNT: u8>(
    exec: &mut Exec<'_>,
    nest: &Nest,
    now: Cursors,
    size: usize,
) -> bool {
    now.store::<DEPTH>(exec, nest);
    let mut grown = exec.outputs.reserve(nest.leaf.output, size).is_ok();
    for level in 1..DEPTH {
        let size = most::<DEPTH, COUNT>(level, size);
        grown = grown && exec.outputs.reserve(nest.offsets[level], size).is_ok();
    }
    grown
}

impl Level {
    #[inline(always)]
    fn new(exec: &Exec<'_>, output: usize) -> Self {
        let output = &exec.outputs.list[output];
        // SAFETY: the end is within the memory, and one item before it is always readable.
        unsafe {
            let next = output.start.add(output.end).cast::<i64>();
            Self { next, last: next.sub(1).read_unaligned() }
        }
    }

    #[inline(always)]
    fn store(self, exec: &mut Exec<'_>, output: usize) {
        let output = &mut exec.outputs.list[output];
        output.end = self.next as usize - output.start as usize;
    }

    /// # Safety
    ///
    /// There is space for an offset.
    #[inline(always)]
    unsafe fn add(&mut self, items: u32) {
        self.last = self.last.wrapping_add(i64::from(items));
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.next.write_unaligned(self.last);
            self.next = self.next.add(1);
        }
    }
}

impl Cursors {
    #[inline(always)]
    fn new<const DEPTH: usize>(exec: &Exec<'_>, nest: &Nest) -> Self {
        let leaf = &exec.outputs.list[nest.leaf.output];
        let none = Level { next: std::ptr::null_mut(), last: 0 };
        Self {
            // SAFETY: the end is within the memory.
            leaf: unsafe { leaf.start.add(leaf.end) },
            second: if DEPTH > 1 { Level::new(exec, nest.offsets[1]) } else { none },
            third: if DEPTH > 2 { Level::new(exec, nest.offsets[2]) } else { none },
        }
    }

    #[inline(always)]
    fn store<const DEPTH: usize>(&self, exec: &mut Exec<'_>, nest: &Nest) {
        let output = &mut exec.outputs.list[nest.leaf.output];
        output.end = self.leaf as usize - output.start as usize;
        if DEPTH > 1 {
            self.second.store(exec, nest.offsets[1]);
        }
        if DEPTH > 2 {
            self.third.store(exec, nest.offsets[2]);
        }
    }
}

impl Reader {
    /// # Safety
    ///
    /// The position is not after the stop, after which a block is readable.
    #[inline(always)]
    unsafe fn count<const COUNT: u8>(&mut self) -> u32 {
        // SAFETY: a block is more than five bytes.
        unsafe {
            if COUNT == TEXT {
                let first = settled(self.at.read().into()) as u32;
                self.at = self.at.add(1);
                if first != 255 {
                    return first;
                }
            }
            let count = u32::from_be_bytes(self.at.cast::<[u8; 4]>().read());
            self.at = self.at.add(4);
            settled(count.into()) as u32
        }
    }

    /// Returns the number of bytes up to the stop; negative after it.
    #[inline(always)]
    fn left(&self) -> i64 {
        (self.stop as usize).wrapping_sub(self.at as usize) as isize as i64
    }

    /// Reads the items of a list that ends at the stop.
    ///
    /// # Safety
    ///
    /// The requirements of `count`, and the leaf has space for all bytes up to the stop.
    #[inline(always)]
    unsafe fn only<K: Conversion, const COUNT: u8>(&mut self, shift: u32) -> Option<u32> {
        // SAFETY: guaranteed by the caller.
        let items = unsafe { self.count::<COUNT>() };
        let bytes = i64::from(items) << shift;
        if bytes != self.left() {
            return None;
        }
        // SAFETY: these are the bytes up to the stop.
        unsafe { self.copy::<K>(bytes as usize) };
        Some(items)
    }

    /// Reads a list of lists of items.
    ///
    /// # Safety
    ///
    /// The requirements of `count`, and there is space for all that the bytes up to the stop can hold.
    #[inline(always)]
    unsafe fn list<K: Conversion, const COUNT: u8, const INNER: bool>(&mut self, shift: u32) -> Option<u32> {
        // SAFETY: guaranteed by the caller.
        let lists = unsafe { self.count::<WORD>() };
        for _ in 0..lists {
            // SAFETY: the position is not after the stop, at first by the guarantee of the caller, then by
            // the comparison below.
            let items = unsafe { self.count::<COUNT>() };
            let bytes = i64::from(items) << shift;
            if bytes > self.left() {
                return None;
            }
            // SAFETY: these are at most the bytes up to the stop, and one of the lists that space was
            // reserved for.
            unsafe {
                self.copy::<K>(bytes as usize);
                if INNER {
                    self.to.third.add(items);
                } else {
                    self.to.second.add(items);
                }
            }
        }
        (INNER || self.at == self.stop).then_some(lists)
    }

    /// Reads lists of items up to the stop.
    ///
    /// # Safety
    ///
    /// The requirements of `list`.
    #[inline(always)]
    unsafe fn rest<K: Conversion, const COUNT: u8>(&mut self, shift: u32) -> Option<u32> {
        let mut lists = 0;
        while self.at < self.stop {
            // SAFETY: the position is before the stop.
            let items = unsafe { self.count::<COUNT>() };
            let bytes = i64::from(items) << shift;
            if bytes > self.left() {
                return None;
            }
            // SAFETY: these are at most the bytes up to the stop, and one of the lists that space was
            // reserved for.
            unsafe {
                self.copy::<K>(bytes as usize);
                self.to.second.add(items);
            }
            lists += 1;
        }
        (self.at == self.stop).then_some(lists)
    }

    /// Reads a list of lists of lists of items.
    ///
    /// # Safety
    ///
    /// The requirements of `list`.
    #[inline(always)]
    unsafe fn lists<K: Conversion, const COUNT: u8>(&mut self, shift: u32) -> Option<u32> {
        // SAFETY: guaranteed by the caller.
        let lists = unsafe { self.count::<WORD>() };
        for _ in 0..lists {
            // An inner list needs its count.
            if self.left() < 4 {
                return None;
            }
            // SAFETY: the position is not after the stop.
            let items = unsafe { self.list::<K, COUNT, true>(shift) }?;
            // SAFETY: this is one of the lists that space was reserved for.
            unsafe { self.to.second.add(items) };
        }
        (self.at == self.stop).then_some(lists)
    }

    /// # Safety
    ///
    /// The bytes and a block after them are readable, and the leaf has space for them.
    #[inline(always)]
    unsafe fn copy<K: Conversion>(&mut self, bytes: usize) {
        // SAFETY: whole blocks that begin before the end are within the input and the slack.
        unsafe {
            copy_blocks::<K>(self.at, self.to.leaf, bytes);
            self.at = self.at.add(bytes);
            self.to.leaf = self.to.leaf.add(bytes);
        }
    }
}
