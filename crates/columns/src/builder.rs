//! A column being filled.

use crate::{
    Buffer, Column, DType, Memory, OutOfMemory, Presence,
    memory::{HUGE, PAD, Pages, address_space_left, populate},
};
use std::ops::{Deref, DerefMut, Range};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A column being filled, by several threads in disjoint slots or by one that appends.
///
/// Slots follow each other in the order of the calls to [`append`](Self::append); they may be written later
/// and by another thread. When the reserved capacity is used up, `append` waits until every [`Slot`] has been
/// dropped, because growing moves the memory: reserve well, and do not hold a slot while appending.
pub struct Builder {
    dtype: DType,
    memory: Memory,
    state: Mutex<State>,
    /// Notified when the last slot is dropped.
    quiet: Condvar,
}

struct State {
    /// `None` while lent.
    buffer: Option<Buffer>,
    /// Bytes in use, including those of slots.
    used: usize,
    /// Number of slots that are not dropped yet.
    slots: usize,
    /// Whether several threads write at the same time.
    beside: bool,
    /// Kind of the pages to make in advance, if any, and the byte offset up to which they exist or are being
    /// made.
    pages: Option<(Pages, usize)>,
    /// Bytes of the latest slot, or added by the latest loan.
    latest: usize,
    /// Rows whose index is not written until other items are appended; `used` is 0 until then.
    rows: Presence,
}

impl State {
    /// Updates `pages` after the buffer has changed.
    fn look(&mut self) {
        self.pages = self.buffer.as_ref().and_then(Buffer::pages);
        // A single thread makes huge pages by writing to them; making them in advance saves nothing.
        self.pages = self.pages.filter(|(kind, _)| *kind == Pages::Small || self.beside);
        if let Some((_, paged)) = &mut self.pages {
            *paged = self.used.max(*paged);
        }
    }

    /// Returns the memory whose pages should be made before a writer reaches `end`, and marks it as made.
    ///
    /// The size of later appends is unknown, so at most a fraction of the current size is made in advance.
    fn ahead(&mut self, end: usize) -> Option<(*mut u8, usize)> {
        let ((kind, paged), buffer) = (self.pages?, self.buffer.as_ref()?);
        let far = match kind {
            Pages::Small if end <= paged => return None,
            Pages::Small => end + (end / 8).clamp(LEAST, BATCH),
            Pages::Huge => end + HUGE.min(end / 4),
        };
        if far <= paged {
            return None;
        }
        let page = |at: usize| (at + PAD) / HUGE * HUGE;
        let (from, until) = match kind {
            Pages::Small => (paged, far),
            // Huge pages that lie entirely in the slot are made by its holder, by writing to them.
            Pages::Huge => (paged.max(page(end).saturating_sub(PAD)), page(far - 1) + HUGE - PAD),
        };
        let until = until.min(buffer.capacity());
        self.pages = Some((kind, until));
        (from < until).then(|| (buffer.as_ptr().wrapping_add(from), until - from))
    }
}

impl Builder {
    /// Creates an empty column with a capacity of `reserve_bytes`. With `offsets`, it starts with the leading
    /// zero.
    ///
    /// The capacity may be less under a memory limit or if the system refuses; the column grows later.
    pub fn new(
        memory: &Memory,
        dtype: DType,
        offsets: bool,
        reserve_bytes: usize,
    ) -> Result<Self, OutOfMemory> {
        Self::expecting(memory, dtype, offsets, (reserve_bytes, reserve_bytes))
    }

    /// Creates an empty column with a capacity of `reserve_bytes`, of which `expected` bytes are expected to
    /// be written. The expected size decides the size of pages: a few small pages are cheaper than a huge
    /// one.
    pub fn expecting(
        memory: &Memory,
        dtype: DType,
        offsets: bool,
        (reserve_bytes, expected): (usize, usize),
    ) -> Result<Self, OutOfMemory> {
        let used = if offsets { dtype.size() } else { 0 };
        let bytes = reserve_bytes.saturating_add(used);
        let mut buffer = allocate(memory, bytes, expected.saturating_add(used), used)?;
        buffer.bytes_mut(used).fill(0);
        let rows = Presence::default();
        let mut state =
            State { buffer: Some(buffer), used, slots: 0, beside: false, pages: None, latest: 0, rows };
        state.look();
        Ok(Self { dtype, memory: memory.clone(), state: Mutex::new(state), quiet: Condvar::new() })
    }

    /// Makes huge pages in advance, on the thread that takes a slot, for columns that several threads write
    /// at the same time. They would all fault on the same fresh page, and the system would clear one for each
    /// thread and keep the first.
    pub fn make_pages_ahead(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.beside = true;
        state.look();
    }

    /// Reserves a total capacity of `bytes`, of which `expected` are expected to be written, and moves the
    /// items there. Does nothing if the capacity suffices.
    ///
    /// # Panics
    /// If the buffer is lent, or a [`Slot`] is outstanding.
    pub fn reserve(&self, bytes: usize, expected: usize) -> Result<(), OutOfMemory> {
        let state = self.lock();
        let used = state.used;
        if bytes <= state.buffer.as_ref().expect(LENT).capacity() {
            return Ok(());
        }
        drop(state);
        self.move_to(allocate(&self.memory, bytes, expected, used)?);
        Ok(())
    }

    /// Reserves memory for columns that are filled together: the bytes of each and those expected to be
    /// written. The buffers may [share pages](Memory::allocate_together), with little spare capacity.
    ///
    /// # Panics
    /// If a buffer is lent, or a [`Slot`] is outstanding.
    pub fn reserve_together(columns: &[Self], rooms: &[(usize, usize)]) -> Result<(), OutOfMemory> {
        let Some(first) = columns.first() else { return Ok(()) };
        let wish = |(column, room): (&Self, &(usize, usize))| {
            let there = column.lock().buffer.as_ref().is_some_and(|buffer| room.0 <= buffer.capacity());
            if there { (0, 0) } else { *room }
        };
        let wishes: Vec<_> = columns.iter().zip(rooms).map(wish).collect();
        let made = first.memory.allocate_together(&wishes);
        for ((column, &(bytes, expected)), made) in columns.iter().zip(&wishes).zip(made) {
            match made {
                Some(buffer) => column.move_to(buffer),
                None => column.reserve(bytes, expected)?,
            }
        }
        Ok(())
    }

    /// Moves the items to a larger buffer.
    fn move_to(&self, mut larger: Buffer) {
        let mut state = self.lock();
        assert_eq!(state.slots, 0, "a column is moved while it is written");
        let used = state.used;
        let buffer = state.buffer.as_mut().expect(LENT);
        larger.bytes_mut(used).copy_from_slice(buffer.bytes(used));
        *buffer = larger;
        state.look();
    }

    /// The element type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of items, including the leading zero of offsets and slots that are not written yet.
    #[must_use]
    pub fn len(&self) -> usize {
        let state = self.lock();
        state.rows.rows() + state.used / self.dtype.size()
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the index of `rows`, whose first present row is row `first` of the content, without writing
    /// it. Returns whether it was appended: only if the column is an int64 column with nothing but such rows,
    /// up to row `first` of the content. A later [`append`](Self::append) writes the whole index.
    pub fn append_rows(&self, first: i64, rows: &Presence) -> bool {
        let mut state = self.lock();
        let goes_on = self.dtype == DType::Int64
            && state.used == 0
            && state.buffer.is_some()
            && u64::try_from(first) == Ok(state.rows.there() as u64)
            && state.rows.rows().checked_add(rows.rows()).is_some();
        if goes_on {
            state.rows.append(rows);
        }
        goes_on
    }

    /// Writes the index of the deferred rows.
    #[cold]
    fn write_index(state: &mut State) -> Result<(), OutOfMemory> {
        let rows = std::mem::take(&mut state.rows);
        let bytes = rows.rows().checked_mul(size_of::<i64>()).ok_or(OutOfMemory { bytes: usize::MAX })?;
        let buffer = state.buffer.as_mut().expect(LENT);
        if bytes > buffer.capacity() {
            buffer.grow(0, bytes)?;
        }
        for (number, item) in rows.index().iter().zip(buffer.bytes_mut(bytes).as_chunks_mut().0) {
            *item = number.to_ne_bytes();
        }
        state.used = bytes;
        state.look();
        Ok(())
    }

    /// Appends `items` items and returns their bytes for writing. Their content is arbitrary until they are
    /// written. Waits for all slots to be dropped if the buffer has to grow.
    ///
    /// # Panics
    /// If the buffer is lent.
    pub fn append(&self, items: usize) -> Result<Slot<'_>, OutOfMemory> {
        let refused = OutOfMemory { bytes: usize::MAX };
        let bytes = items.checked_mul(self.dtype.size()).ok_or(refused)?;
        let mut state = self.lock();
        if state.rows.rows() > 0 && items > 0 {
            Self::write_index(&mut state)?;
        }
        loop {
            let end = state.used.checked_add(bytes).ok_or(refused)?;
            let used = state.used;
            let slots = state.slots;
            let buffer = state.buffer.as_mut().expect(LENT);
            if end > buffer.capacity() {
                if slots > 0 {
                    state = self.quiet.wait(state).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                buffer.grow(used, end)?;
                state.look();
                continue;
            }
            // SAFETY: `used` is within the capacity, so the sum is inside the buffer or one past its
            // capacity.
            let start = unsafe { buffer.as_ptr().add(used) };
            state.used = end;
            state.latest = bytes;
            state.slots += 1;
            let ahead = state.ahead(end);
            let (before, after) = match state.pages {
                Some((Pages::Huge, _)) => (None, ahead),
                _ => (ahead, None),
            };
            return Ok(Slot { start, len: bytes, before, after, builder: self });
        }
    }

    /// Appends items, given in native byte order.
    ///
    /// # Panics
    /// If the buffer is lent or `bytes` does not divide into items.
    pub fn extend(&self, bytes: &[u8]) -> Result<(), OutOfMemory> {
        assert!(bytes.len().is_multiple_of(self.dtype.size()), "{} bytes of {}", bytes.len(), self.dtype);
        self.append(bytes.len() / self.dtype.size())?.copy_from_slice(bytes);
        Ok(())
    }

    /// Removes all but the first `items`, as when an entry fails half-way. A larger number changes nothing.
    pub fn truncate(&mut self, items: usize) {
        let bytes = items.saturating_mul(self.dtype.size());
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.used = state.used.min(bytes);
        state.rows.truncate(items);
    }

    /// Returns the last offset, or 0 if the column is empty, is not int64, or its buffer is lent. Meaningful
    /// only while no slot is outstanding.
    pub fn last_offset(&self) -> i64 {
        let dtype = self.dtype;
        let state = self.lock();
        let Some(buffer) = state.buffer.as_ref().filter(|_| dtype == DType::Int64) else { return 0 };
        buffer.bytes(state.used).last_chunk().map_or(0, |last| i64::from_ne_bytes(*last))
    }

    /// Returns a copy of some items in native byte order. Returns `None` if the range exceeds the column, a
    /// slot is outstanding or the buffer is lent.
    #[must_use]
    pub fn read(&self, items: Range<usize>) -> Option<Vec<u8>> {
        let size = self.dtype.size();
        let state = self.lock();
        let bytes = items.start.checked_mul(size)?..items.end.checked_mul(size)?;
        let buffer = state.buffer.as_ref().filter(|_| state.slots == 0)?;
        Some(buffer.bytes(state.used).get(bytes)?.to_vec())
    }

    /// Lends the buffer, with its number of items, to code that appends by itself. Waits until every [`Slot`]
    /// has been dropped, since the borrower may move the memory. Until the buffer is [given
    /// back](Self::give_back), the column can neither be appended to nor finished.
    ///
    /// # Panics
    /// If the buffer is lent already, or the column has an index that is [not written](Self::append_rows).
    pub fn lend(&self) -> (Buffer, usize) {
        let mut state = self.lock();
        assert_eq!(state.rows.rows(), 0, "a column whose index is not written is lent");
        while state.slots > 0 {
            state = self.quiet.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        // The next block is expected to be about as large as the last one.
        let expected = state.used + state.latest + state.latest / 8;
        let ahead = match state.pages {
            Some((Pages::Small, _)) => state.ahead(expected),
            _ => None,
        };
        let (buffer, items) = (state.buffer.take().expect(LENT), state.used / self.dtype.size());
        drop(state);
        if let Some((start, len)) = ahead {
            // SAFETY: the range is within the buffer, which is owned by this function.
            unsafe { populate(start, len) };
        }
        (buffer, items)
    }

    /// Takes back a lent buffer, or another one in its place, with `items` items in it.
    ///
    /// # Panics
    /// If the buffer cannot hold that many items.
    pub fn give_back(&self, buffer: Buffer, items: usize) {
        let bytes = items.checked_mul(self.dtype.size()).filter(|bytes| *bytes <= buffer.capacity());
        let mut state = self.lock();
        // The caller wrote the items into this buffer, so it holds them.
        let used = bytes.expect("more items than the buffer can hold");
        state.latest = used.saturating_sub(state.used);
        state.used = used;
        let before = state.pages;
        state.buffer = Some(buffer);
        state.look();
        if let (Some((kind, paged)), Some((same, before))) = (&mut state.pages, before)
            && *kind == same
        {
            *paged = before.max(*paged);
        }
    }

    /// Finishes the column and releases unused capacity.
    ///
    /// # Panics
    /// If the buffer is lent.
    #[must_use]
    pub fn finish(self) -> Column {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = state.buffer.expect(LENT);
        if state.rows.rows() > 0 {
            return Column::of_rows(state.rows);
        }
        buffer.shrink(state.used);
        Column::from_buffer(self.dtype, buffer, state.used / self.dtype.size())
    }

    /// Returns the [`Memory`] that it allocates from.
    #[must_use]
    pub const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Locks the state. No code panics between two changes of it, so a poisoned lock still guards a
    /// consistent state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Allocates a buffer of `bytes` bytes, or of fewer if memory is short, but of at least `least`.
fn allocate(memory: &Memory, bytes: usize, expected: usize, least: usize) -> Result<Buffer, OutOfMemory> {
    let mut wish = bytes;
    if memory.available() != usize::MAX {
        // Columns that are filled at the same time share the available memory.
        wish = wish.min(memory.available() / 4).max(least);
    }
    // They also share the address space, which stacks and scratch memory need as well.
    if wish > FLOOR {
        wish = wish.min(address_space_left() / 8).max(least);
    }
    loop {
        match memory.allocate_expecting(wish, expected.min(wish)) {
            Ok(buffer) => return Ok(buffer),
            Err(refused) if wish <= FLOOR => return Err(refused),
            // Address space is short: leave most of it to others, and grow.
            Err(_) => wish = (wish / 16).max(least),
        }
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("dtype", &self.dtype).field("len", &self.len()).finish()
    }
}

/// A range of a column, to be written by its holder.
pub struct Slot<'a> {
    start: *mut u8,
    len: usize,
    /// Memory whose pages are to be made before anything is written.
    before: Option<(*mut u8, usize)>,
    /// Memory after the slot whose pages are made for other writers once the slot is written: clearing huge
    /// pages would evict the data to be written from the caches.
    after: Option<(*mut u8, usize)>,
    builder: &'a Builder,
}

// SAFETY: no other slot overlaps the place, and the memory does not move while the slot lives.
unsafe impl Send for Slot<'_> {}
// SAFETY: a shared reference can only read.
unsafe impl Sync for Slot<'_> {}

impl Deref for Slot<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the slot is within the builder's buffer, which is initialised, does not move, and is not
        // accessed at this range through anything else while the slot exists.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl DerefMut for Slot<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // Not in `append`, whose callers take slots in order and should be fast.
        if let Some((start, len)) = self.before.take() {
            // SAFETY: the range is within the builder's buffer, which does not move while a slot exists.
            unsafe { populate(start, len) };
        }
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some((start, len)) = self.after {
            // SAFETY: the range is within the builder's buffer, which does not move before `slots` is
            // decremented.
            unsafe { populate(start, len) };
        }
        let mut state = self.builder.lock();
        state.slots -= 1;
        if state.slots == 0 {
            self.builder.quiet.notify_all();
        }
    }
}

/// Panic message of methods that are called while the buffer is lent.
const LENT: &str = "the column's buffer is lent and not given back";
/// Minimum and maximum number of bytes of small pages that are made in advance.
const LEAST: usize = 16 << 10;
const BATCH: usize = 128 << 10;
/// Reservation size, in bytes, up to which a failed allocation is final.
const FLOOR: usize = 4096;
