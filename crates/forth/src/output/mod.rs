//! Outputs: typed, append-only columns over memory of their own or of the caller.

mod owned;
#[cfg_attr(all(feature = "pages", target_os = "linux", not(miri)), path = "pages/enabled.rs")]
#[cfg_attr(not(all(feature = "pages", target_os = "linux", not(miri))), path = "pages/disabled.rs")]
mod pages;
mod supply;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use owned::Owned;
pub use supply::{Keeper, LEAD, Memory, OutOfMemory, SLACK};

use crate::DType;
use crate::error::RunError;

/// The items an output had at some moment, for others to look at without a copy.
///
/// The memory stays where it is as long as the lease lives, whatever becomes of the output. It is still the
/// output's memory as well: items that are taken back with `rewind` and written anew change under the lease.
#[derive(Clone)]
pub struct Lease {
    keeper: Keeper,
    dtype: DType,
    address: usize,
    items: usize,
}

impl Lease {
    /// The item type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where the first item is.
    pub fn address(&self) -> usize {
        self.address
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// The owner of the memory.
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("dtype", &self.dtype).field("len", &self.items).finish_non_exhaustive()
    }
}

/// A column being written: memory, dtype and the number of items so far.
pub struct Output {
    dtype: DType,
    memory: Box<dyn Memory>,
    pub(crate) start: *mut u8,
    /// Bytes written.
    pub(crate) end: usize,
    /// Bytes that may be written before asking: never more than the capacity, less under a limit.
    pub(crate) room: usize,
    /// Whether the room is a share of a limit.
    limited: bool,
}

// SAFETY: `start` points into `memory`, which is Send and owned by this value; no other access exists.
unsafe impl Send for Output {}

impl Output {
    /// An empty output over the given memory.
    pub fn new(dtype: DType, memory: Box<dyn Memory>) -> Self {
        let (start, room) = (memory.as_ptr(), memory.capacity());
        Self { dtype, memory, start, end: 0, room, limited: false }
    }

    /// An empty output with memory of its own.
    pub fn owned(dtype: DType) -> Self {
        Self::new(dtype, Box::new(Owned::default()))
    }

    /// As [`Self::owned`]; when first written to, the memory gets room for `items` items, and it grows by
    /// `factor` each time. A factor that would make growing slow is taken as 1.125.
    pub fn growing(dtype: DType, items: usize, factor: f64) -> Self {
        let first = items.saturating_mul(dtype.size());
        Self::new(dtype, Box::new(Owned { block: None, first, factor, budget: None }))
    }

    /// As [`Self::owned`], but the memory may take no more bytes than are left of a budget, which outputs
    /// share. Growing beyond it is [`RunError::OutOfMemory`]. Unlike [`Limits::output_bytes`](crate::Limits),
    /// which is exact, it costs native loops nothing.
    pub fn within(dtype: DType, budget: &Arc<AtomicUsize>) -> Self {
        Self::new(dtype, Box::new(Owned { budget: Some(Arc::clone(budget)), ..Owned::default() }))
    }

    /// The items written so far, in place. None if the memory cannot be kept: that of [`Self::owned`] and
    /// [`Self::growing`] can.
    pub fn lease(&self) -> Option<Lease> {
        let keeper = self.memory.keeper()?;
        Some(Lease { keeper, dtype: self.dtype, address: self.start as usize, items: self.len() })
    }

    /// Forgets all but the first `items` items; longer than the output is no change.
    pub fn rewind_to(&mut self, items: usize) {
        self.end = self.end.min(items.saturating_mul(self.dtype.size()));
    }

    /// Gives the memory back.
    pub fn into_memory(self) -> Box<dyn Memory> {
        self.memory
    }

    /// The item type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Items written.
    pub fn len(&self) -> usize {
        self.end / self.dtype.size()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// The items written, in native byte order.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the first `end` bytes lie within the capacity and were written; `&self` keeps writers away.
        unsafe { std::slice::from_raw_parts(self.start, self.end) }
    }

    /// The last item, or what the first `+<-` adds to; the item is in the low bytes.
    #[inline(always)]
    pub(crate) fn last(&self) -> [u8; 8] {
        macro_rules! item {
            ($size:literal) => {{
                let mut item = [0; 8];
                // SAFETY: the bytes before the end are readable: written items, or the leading bytes.
                let last = unsafe { self.start.add(self.end).sub($size).cast::<[u8; $size]>().read() };
                item[..$size].copy_from_slice(&last);
                item
            }};
        }
        match self.dtype.size() {
            1 => item!(1),
            2 => item!(2),
            4 => item!(4),
            _ => item!(8),
        }
    }

    /// Appends one item, of which the low bytes count and for which room was made.
    #[inline(always)]
    pub(crate) fn append_item(&mut self, item: [u8; 8]) {
        let size = self.dtype.size();
        assert!(size <= self.room.saturating_sub(self.end), "room is made before appending");
        // SAFETY: the assertion puts the end within the capacity, and seven bytes more are within the slack.
        unsafe { self.start.add(self.end).cast::<[u8; 8]>().write(item) };
        self.end += size;
    }

    /// Appends the last item a number of times, for which room was made.
    pub(crate) fn append_last(&mut self, times: usize) {
        let item = self.last();
        let (size, start) = (self.dtype.size(), self.end);
        assert!(
            times.checked_mul(size).is_some_and(|bytes| bytes <= self.room.saturating_sub(start)),
            "room is made before appending"
        );
        let bytes = times * size;
        if bytes == 0 {
            return;
        }
        // SAFETY: the assertion keeps all items within the capacity, to which there is no other reference.
        let new = unsafe {
            std::slice::from_raw_parts_mut(self.start.add(start).cast::<std::mem::MaybeUninit<u8>>(), bytes)
        };
        if size == 1 {
            new.fill(std::mem::MaybeUninit::new(item[0]));
        } else {
            for to in new.chunks_exact_mut(size) {
                to.write_copy_of_slice(&item[..size]);
            }
        }
        self.end += bytes;
    }

    /// Appends bytes for which room was made.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room.saturating_sub(self.end), "room is made before appending");
        // SAFETY: the assertion keeps the copy within the capacity, to which the caller has no reference.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(self.end), bytes.len()) };
        self.end += bytes.len();
    }

    /// Makes sure that there is memory at all, so that slack may be written to.
    pub(crate) fn materialise(&mut self) -> Result<(), RunError> {
        if self.memory.capacity() > 0 {
            return Ok(());
        }
        let room = self.room;
        self.grow(1, 1)?;
        if room < self.room && self.limited {
            self.room = room;
        }
        Ok(())
    }

    fn grow(&mut self, needed: usize, expected: usize) -> Result<(), RunError> {
        if needed > self.memory.capacity() {
            self.memory
                .grow_towards(self.end, needed, expected)
                .map_err(|OutOfMemory| RunError::OutOfMemory)?;
            self.start = self.memory.as_ptr();
        }
        self.room = self.memory.capacity();
        Ok(())
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("dtype", &self.dtype).field("len", &self.len()).finish_non_exhaustive()
    }
}

/// All outputs of a machine and the limit on their total size.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    pub(crate) list: Vec<Output>,
    limit: Option<usize>,
    /// Bytes of all inputs.
    pub(crate) payload: usize,
}

/// Outputs that need no more are grown as their memory has it.
const SMALL: usize = 1 << 18;

impl Outputs {
    pub(crate) fn new(list: Vec<Output>, limit: Option<usize>) -> Self {
        let mut outputs = Self { list, limit, payload: 0 };
        if limit.is_some() {
            // Every first write has to ask, which hands out the shares.
            for output in &mut outputs.list {
                output.room = output.end;
                output.limited = true;
            }
        }
        outputs
    }

    /// Whether all outputs share a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// The length in bytes that an output with a need of `needed` may reach: its share of twice the payload,
    /// which is what columns of records and lists take at most. Growing again and again costs more than all
    /// the rest.
    fn expected(&self, index: usize, needed: usize) -> usize {
        if needed < SMALL {
            return needed;
        }
        let others = self.list.iter().enumerate().filter(|&(at, _)| at != index);
        let total = needed as u128 + others.map(|(_, output)| output.end as u128).sum::<u128>();
        let share = 2 * self.payload as u128 * needed as u128 / total.max(1);
        usize::try_from(share).unwrap_or(usize::MAX).max(needed)
    }

    /// Makes room for `extra` more bytes in one output.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, index: usize, extra: usize) -> Result<(), RunError> {
        let output = &self.list[index];
        if output.room - output.end >= extra { Ok(()) } else { self.reserve_cold(index, extra) }
    }

    /// As `reserve`, also when the output was rewound below a room shared out earlier.
    #[cold]
    #[inline(never)]
    fn reserve_cold(&mut self, index: usize, extra: usize) -> Result<(), RunError> {
        let Some(limit) = self.limit else {
            let needed = self.list[index].end.checked_add(extra).ok_or(RunError::OutOfMemory)?;
            let expected = self.expected(index, needed);
            return self.list[index].grow(needed, expected);
        };
        // The limit is exact: what is left is shared out evenly, so that the sum of all rooms never exceeds
        // it.
        let total: usize = self.list.iter().map(|output| output.end).sum();
        let left = limit.saturating_sub(total);
        if extra > left {
            return Err(RunError::OutputLimitExceeded);
        }
        let end = self.list[index].end;
        self.list[index].grow(end + extra, end + extra)?;
        let share = (left - extra) / self.list.len();
        for (at, output) in self.list.iter_mut().enumerate() {
            let wanted = output.end + share + if at == index { extra } else { 0 };
            output.room = wanted.min(output.memory.capacity());
        }
        Ok(())
    }
}
