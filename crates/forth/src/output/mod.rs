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

/// The items of an output at some moment, shared without a copy.
///
/// The memory stays in place for the lifetime of the lease, whatever happens to the output. The output still
/// writes to it: items that are removed with `rewind` and written again change under the lease.
#[derive(Clone)]
pub struct Lease {
    keeper: Keeper,
    dtype: DType,
    address: usize,
    items: usize,
}

impl Lease {
    /// Returns the item type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the address of the first item.
    pub fn address(&self) -> usize {
        self.address
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.items
    }

    /// Whether the lease has no items.
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Returns the owner of the memory.
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("dtype", &self.dtype).field("len", &self.items).finish_non_exhaustive()
    }
}

/// An append-only column: its memory, dtype and number of items.
pub struct Output {
    dtype: DType,
    memory: Box<dyn Memory>,
    pub(crate) start: *mut u8,
    /// Number of bytes written.
    pub(crate) end: usize,
    /// Length in bytes up to which writes need no check: at most the capacity, less under a limit.
    pub(crate) room: usize,
    /// Whether `room` is a share of a limit.
    limited: bool,
}

// SAFETY: `start` points into `memory`, which is Send and owned by this value; no other access exists.
unsafe impl Send for Output {}

impl Output {
    /// Creates an empty output over the given memory.
    pub fn new(dtype: DType, memory: Box<dyn Memory>) -> Self {
        let (start, room) = (memory.as_ptr(), memory.capacity());
        Self { dtype, memory, start, end: 0, room, limited: false }
    }

    /// Creates an empty output with memory of its own.
    pub fn owned(dtype: DType) -> Self {
        Self::new(dtype, Box::new(Owned::default()))
    }

    /// Creates an empty output with memory of its own, which is allocated for `items` items at the first
    /// write and grows by `factor` each time. Factors below 1.125 are taken as 1.125.
    pub fn growing(dtype: DType, items: usize, factor: f64) -> Self {
        let first = items.saturating_mul(dtype.size());
        Self::new(dtype, Box::new(Owned { block: None, first, factor, budget: None }))
    }

    /// Creates an empty output with memory of its own, charged to a budget of bytes that outputs share.
    /// Growing beyond it is [`RunError::OutOfMemory`]. Unlike [`Limits::output_bytes`](crate::Limits), which
    /// is exact, a budget costs native loops nothing.
    pub fn within(dtype: DType, budget: &Arc<AtomicUsize>) -> Self {
        Self::new(dtype, Box::new(Owned { budget: Some(Arc::clone(budget)), ..Owned::default() }))
    }

    /// Returns the items written so far, without a copy; `None` if the memory cannot be kept. Memory of
    /// [`Self::owned`] and [`Self::growing`] can.
    pub fn lease(&self) -> Option<Lease> {
        let keeper = self.memory.keeper()?;
        Some(Lease { keeper, dtype: self.dtype, address: self.start as usize, items: self.len() })
    }

    /// Truncates the output to its first `items` items; a larger number changes nothing.
    pub fn rewind_to(&mut self, items: usize) {
        self.end = self.end.min(items.saturating_mul(self.dtype.size()));
    }

    /// Consumes the output and returns its memory.
    pub fn into_memory(self) -> Box<dyn Memory> {
        self.memory
    }

    /// Returns the item type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the number of items written.
    pub fn len(&self) -> usize {
        self.end / self.dtype.size()
    }

    /// Whether the output has no items.
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// Returns the items written, in native byte order.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the first `end` bytes lie within the capacity and were written; `&self` keeps writers away.
        unsafe { std::slice::from_raw_parts(self.start, self.end) }
    }

    /// Returns the last item, or the item before the first, to which the first `+<-` adds; the item is in the
    /// low bytes.
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

    /// Appends one item, whose bytes come first in `item`; the space was reserved before.
    #[inline(always)]
    pub(crate) fn append_item(&mut self, item: [u8; 8]) {
        let size = self.dtype.size();
        assert!(size <= self.room.saturating_sub(self.end), "room is made before appending");
        // SAFETY: the assertion puts the end within the capacity, and seven bytes more are within the slack.
        unsafe { self.start.add(self.end).cast::<[u8; 8]>().write(item) };
        self.end += size;
    }

    /// Appends the last item `times` times; the space was reserved before.
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
        // SAFETY: the assertion keeps all items within the capacity, and nothing else references it.
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

    /// Appends bytes; the space was reserved before.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room.saturating_sub(self.end), "room is made before appending");
        // SAFETY: the assertion keeps the copy within the capacity, to which the caller has no reference.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(self.end), bytes.len()) };
        self.end += bytes.len();
    }

    /// Allocates memory if there is none, so that the slack may be written to.
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
    /// Total size of the inputs in bytes.
    pub(crate) payload: usize,
}

/// Size in bytes below which outputs grow as their memory does by default.
const SMALL: usize = 1 << 18;

impl Outputs {
    pub(crate) fn new(list: Vec<Output>, limit: Option<usize>) -> Self {
        let mut outputs = Self { list, limit, payload: 0 };
        if limit.is_some() {
            // Every first write has to reserve, which distributes the shares.
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

    /// Estimates the final length in bytes of an output that needs `needed` bytes: its share of twice the
    /// payload, which is the most that columns of records and lists take. Growing repeatedly costs more than
    /// all other work.
    fn expected(&self, index: usize, needed: usize) -> usize {
        if needed < SMALL {
            return needed;
        }
        let others = self.list.iter().enumerate().filter(|&(at, _)| at != index);
        let total = needed as u128 + others.map(|(_, output)| output.end as u128).sum::<u128>();
        let share = 2 * self.payload as u128 * needed as u128 / total.max(1);
        usize::try_from(share).unwrap_or(usize::MAX).max(needed)
    }

    /// Reserves `extra` more bytes in one output.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, index: usize, extra: usize) -> Result<(), RunError> {
        let output = &self.list[index];
        if output.room - output.end >= extra { Ok(()) } else { self.reserve_cold(index, extra) }
    }

    /// Slow path of `reserve`: grows the memory, or distributes the limit anew, also after an output was
    /// rewound below its share.
    #[cold]
    #[inline(never)]
    fn reserve_cold(&mut self, index: usize, extra: usize) -> Result<(), RunError> {
        let Some(limit) = self.limit else {
            let needed = self.list[index].end.checked_add(extra).ok_or(RunError::OutOfMemory)?;
            let expected = self.expected(index, needed);
            return self.list[index].grow(needed, expected);
        };
        // The limit is exact: the remainder is divided evenly, so that the sum of all shares never exceeds
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
