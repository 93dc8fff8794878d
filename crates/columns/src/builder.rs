//! A column being filled.

use crate::{
    Buffer, Column, DType, Memory, OutOfMemory, Presence,
    memory::{HUGE, PAD, Pages, address_space_left, populate},
};
use std::ops::{Deref, DerefMut, Range};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A column being filled: by several threads at disjoint places, or by one that appends in place.
///
/// Places are handed out in the order of the calls to [`append`](Self::append); what is written into them may
/// come later and from another thread. When the reservation is used up, `append` waits until every [`Slot`]
/// handed out has been dropped, because growing moves the memory: reserve well, and do not hold a slot while
/// appending.
pub struct Builder {
    dtype: DType,
    memory: Memory,
    state: Mutex<State>,
    /// Told when the last slot is dropped.
    quiet: Condvar,
}

struct State {
    /// Away while lent.
    buffer: Option<Buffer>,
    /// Bytes handed out.
    used: usize,
    /// Slots handed out and not yet dropped.
    slots: usize,
    /// Whether several threads write side by side.
    beside: bool,
    /// The kind of pages that are made ahead, if any are, and the bytes for which they are there or being
    /// made.
    pages: Option<(Pages, usize)>,
    /// Bytes that came with the latest place or loan.
    latest: usize,
    /// Rows whose index is not written unless other items follow: then nothing is used yet.
    rows: Presence,
}

impl State {
    /// A column in other memory than before.
    fn look(&mut self) {
        self.pages = self.buffer.as_ref().and_then(Buffer::pages);
        // One thread has huge pages made by writing: there is nothing to be saved.
        self.pages = self.pages.filter(|(kind, _)| *kind == Pages::Small || self.beside);
        if let Some((_, paged)) = &mut self.pages {
            *paged = self.used.max(*paged);
        }
    }

    /// The bytes that need pages before a writer reaches `end`.
    ///
    /// The amount that follows is unknown: no more pages are made than a part of what there is.
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
            // Pages that lie in the place as a whole are the holder's alone, who makes them by writing.
            Pages::Huge => (paged.max(page(end).saturating_sub(PAD)), page(far - 1) + HUGE - PAD),
        };
        let until = until.min(buffer.capacity());
        self.pages = Some((kind, until));
        (from < until).then(|| (buffer.as_ptr().wrapping_add(from), until - from))
    }
}

impl Builder {
    /// An empty column that can take `reserve_bytes` without growing. With `offsets`, the leading zero is
    /// already in it.
    ///
    /// The reservation is a wish: under a memory limit, or where the system refuses, less is reserved and the
    /// column grows later.
    pub fn new(
        memory: &Memory,
        dtype: DType,
        offsets: bool,
        reserve_bytes: usize,
    ) -> Result<Self, OutOfMemory> {
        Self::expecting(memory, dtype, offsets, (reserve_bytes, reserve_bytes))
    }

    /// Reserves address space for the first number of bytes, and chooses the size of pages by the second, which are
    /// expected to be written: a few small pages are cheaper than a huge one.
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

    /// The thread that takes a place also makes the huge pages that come next, for columns that several
    /// threads write side by side: they would all wait for the same fresh page, and the system would have
    /// each of them clear one, of which it keeps the first.
    pub fn make_pages_ahead(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.beside = true;
        state.look();
    }

    /// Room for `bytes` in all, as [`new`](Self::new) reserves it, of which `expected` are expected to be
    /// written, as it has turned out. Nothing happens if there is as much.
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

    /// The same for columns that are filled together, which may [lie together](Memory::allocate_together),
    /// too, with little more room than is expected to be written.
    ///
    /// # Panics
    /// As [`reserve`](Self::reserve).
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

    /// Goes on in a buffer that is larger.
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

    /// Items so far, the leading zero of offsets and places not yet filled included.
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

    /// Appends the index of `rows`, the first of which is row `first` of the content, without a place for it, if
    /// that goes on with what the column is so far: such an index from the first row on. Answers whether it was
    /// done. What comes later in another way makes places for all.
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

    /// Writes the index of the rows.
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

    /// The place of the next `items`, for the caller alone; the end moves behind it. Its bytes hold anything
    /// until they are written.
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

    /// Appends items that are at hand, in native byte order.
    ///
    /// # Panics
    /// If the buffer is lent or `bytes` does not divide into items.
    pub fn extend(&self, bytes: &[u8]) -> Result<(), OutOfMemory> {
        assert!(bytes.len().is_multiple_of(self.dtype.size()), "{} bytes of {}", bytes.len(), self.dtype);
        self.append(bytes.len() / self.dtype.size())?.copy_from_slice(bytes);
        Ok(())
    }

    /// Takes everything after the first `items` back, as when an entry fails half way. More than there are
    /// changes nothing.
    pub fn truncate(&mut self, items: usize) {
        let bytes = items.saturating_mul(self.dtype.size());
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.used = state.used.min(bytes);
        state.rows.truncate(items);
    }

    /// The last item as the running end of offsets: 0 if there is none, or the items are not int64, or the
    /// buffer is lent. Meaningful once no slot is outstanding.
    pub fn last_offset(&self) -> i64 {
        let dtype = self.dtype;
        let state = self.lock();
        let Some(buffer) = state.buffer.as_ref().filter(|_| dtype == DType::Int64) else { return 0 };
        buffer.bytes(state.used).last_chunk().map_or(0, |last| i64::from_ne_bytes(*last))
    }

    /// A copy of some items, in native byte order; `None` if they are not all there, or not all written:
    /// while a slot is outstanding or the buffer is lent.
    #[must_use]
    pub fn read(&self, items: Range<usize>) -> Option<Vec<u8>> {
        let size = self.dtype.size();
        let state = self.lock();
        let bytes = items.start.checked_mul(size)?..items.end.checked_mul(size)?;
        let buffer = state.buffer.as_ref().filter(|_| state.slots == 0)?;
        Some(buffer.bytes(state.used).get(bytes)?.to_vec())
    }

    /// Hands the memory itself out, with the number of items in it, to a machine that appends on its own.
    /// Waits until every [`Slot`] handed out has been dropped, since the machine may move the memory. Until
    /// the buffer is [given back](Self::give_back), the column can neither be appended to nor finished.
    ///
    /// # Panics
    /// If it is lent already, or has an index that was [not written](Self::append_rows).
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
            // SAFETY: it lies in the buffer, which is here.
            unsafe { populate(start, len) };
        }
        (buffer, items)
    }

    /// Takes the memory back, now with `items` in it. It may be another buffer than the one lent.
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

    /// The finished column; what was reserved and not used is given back.
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

    /// The [`Memory`] it grows in.
    #[must_use]
    pub const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// No code panics between two changes of the state, so a poisoned lock still guards a consistent one.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A buffer of `bytes` bytes, or of as many as can be had, but at least of `least`.
fn allocate(memory: &Memory, bytes: usize, expected: usize, least: usize) -> Result<Buffer, OutOfMemory> {
    let mut wish = bytes;
    if memory.available() != usize::MAX {
        // Columns that are filled at the same time share what is left.
        wish = wish.min(memory.available() / 4).max(least);
    }
    // So do they of address space, which stacks and scratch need, too.
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

/// A place in a column: bytes to be written by its holder.
pub struct Slot<'a> {
    start: *mut u8,
    len: usize,
    /// Memory whose pages are to be made before anything is written.
    before: Option<(*mut u8, usize)>,
    /// Memory behind the place whose pages are to be made for others, when everything is written: clearing
    /// large pages drives what is to be written from the caches.
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
        // SAFETY: the place lies in the builder's buffer, initialised; it neither moves nor is read or
        // written through anything else while a slot is outstanding.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl DerefMut for Slot<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // Not sooner: places are taken on one's turn, which is to be short.
        if let Some((start, len)) = self.before.take() {
            // SAFETY: it lies in the builder's buffer, which does not move while a slot is outstanding.
            unsafe { populate(start, len) };
        }
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some((start, len)) = self.after {
            // SAFETY: it lies in the builder's buffer, which does not move before this slot is counted off.
            unsafe { populate(start, len) };
        }
        let mut state = self.builder.lock();
        state.slots -= 1;
        if state.slots == 0 {
            self.builder.quiet.notify_all();
        }
    }
}

/// The error for methods that are called out of order.
const LENT: &str = "the column's buffer is lent and not given back";
/// Bytes of small pages that are made ahead of use, at least and at most.
const LEAST: usize = 16 << 10;
const BATCH: usize = 128 << 10;
/// A reservation of this size that is refused is refused for good.
const FLOOR: usize = 4096;
