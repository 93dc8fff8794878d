//! Where columns are written next, and what writes to them that is not an instruction of its own.

use super::exec::{Exec, chunk};
use super::number::{number, zigzag};
use super::ops::{C, Column};
use super::steps::Count;
use crate::DType;
use crate::number::{Number, add_items};
use forthwith_kernels::settled::settled;

/// Where a column is written next, and its memory.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    pub(super) next: *mut u8,
    pub(super) limit: *mut u8,
    pub(super) start: *mut u8,
}

impl Cursor {
    pub(super) const NONE: Self =
        Self { next: std::ptr::null_mut(), limit: std::ptr::null_mut(), start: std::ptr::null_mut() };

    #[inline(always)]
    pub(super) fn room(&self) -> usize {
        self.limit as usize - self.next as usize
    }

    #[inline(always)]
    pub(super) fn used(&self) -> usize {
        self.next as usize - self.start as usize
    }

    /// # Safety
    ///
    /// There is room for a number of bytes, or slack.
    #[inline(always)]
    pub(super) unsafe fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        // SAFETY: the caller's.
        unsafe {
            self.next.cast::<[u8; N]>().write(bytes);
            self.next = self.next.add(N);
        }
    }
}

#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see `run`")]
pub(super) fn load(exec: &Exec<'_>, columns: &[Column], cursors: &mut [Cursor]) {
    for column in 0..columns.len() {
        let output = &exec.outputs.list[columns[column].output];
        // SAFETY: `end <= room <= capacity`, all within the output's memory.
        unsafe {
            cursors[column] = Cursor {
                next: output.start.add(output.end),
                limit: output.start.add(output.room),
                start: output.start,
            };
        }
    }
}

#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see `run`")]
pub(super) fn store(exec: &mut Exec<'_>, columns: &[Column], cursors: &[Cursor]) {
    for column in 0..columns.len() {
        exec.outputs.list[columns[column].output].end = cursors[column].used();
    }
}

/// Makes room in a column.
#[cold]
#[inline(never)]
pub(super) fn grow(
    exec: &mut Exec<'_>,
    columns: &[Column],
    cursors: &mut [Cursor],
    column: C,
    bytes: usize,
) -> bool {
    store(exec, columns, cursors);
    let grown = exec.outputs.reserve(columns[column as usize].output, bytes).is_ok();
    load(exec, columns, cursors);
    grown
}

/// Items near the end of the input or of the room: exact. The position after them and the last bytes.
#[cold]
#[inline(never)]
pub(super) fn slow_list(
    exec: &mut Exec<'_>,
    columns: &[Column],
    cursors: &mut [Cursor],
    items: C,
    bytes: usize,
    last: usize,
    at: usize,
) -> Option<usize> {
    let run = exec.data.get(at..)?.get(..bytes + last)?;
    if cursors[items as usize].room() < bytes && !grow(exec, columns, cursors, items, bytes) {
        return None;
    }
    let cursor = &mut cursors[items as usize];
    // SAFETY: there is room for the bytes.
    unsafe {
        std::ptr::copy_nonoverlapping(run.as_ptr(), cursor.next, bytes);
        cursor.next = cursor.next.add(bytes);
    }
    Some(at + bytes + last)
}

/// Appends a number, or the sum of the last item and a number.
#[inline(always)]
pub(super) fn append(
    exec: &mut Exec<'_>,
    columns: &[Column],
    cursors: &mut [Cursor],
    to: C,
    number: Number,
    add: bool,
) -> bool {
    let Column { dtype, shift, .. } = columns[to as usize];
    if cursors[to as usize].room() < 1 << shift && !grow(exec, columns, cursors, to, 1 << shift) {
        return false;
    }
    let cursor = &mut cursors[to as usize];
    // SAFETY: there is room for an item, and the item before the end is always readable.
    unsafe {
        match (number, dtype) {
            (Number::Signed(value), DType::Int64 | DType::UInt64) => {
                let last = if add { cursor.next.cast::<i64>().sub(1).read_unaligned() } else { 0 };
                cursor.put(last.wrapping_add(value).to_ne_bytes());
            }
            (Number::Signed(value), DType::Int32 | DType::UInt32) => {
                let last = if add { cursor.next.cast::<i32>().sub(1).read_unaligned() } else { 0 };
                cursor.put(last.wrapping_add(value as i32).to_ne_bytes());
            }
            _ => append_other(cursor, dtype, number, add),
        }
    }
    true
}

/// # Safety
///
/// There is room for an item.
#[inline(never)]
pub(super) unsafe fn append_other(cursor: &mut Cursor, dtype: DType, number: Number, add: bool) {
    let mut item = number.to_item(dtype);
    let size = dtype.size();
    // SAFETY: the item before the end is always readable; there is room for an item, and slack behind it.
    unsafe {
        if add {
            let mut last = [0; 8];
            std::ptr::copy_nonoverlapping(cursor.next.sub(size), last.as_mut_ptr(), size);
            item = add_items(dtype, last, item);
        }
        cursor.next.cast::<[u8; 8]>().write(item);
        cursor.next = cursor.next.add(size);
    }
}

/// The number of items of a list.
#[inline(always)]
pub(super) fn counted(data: &[u8], count: Count, at: usize) -> Option<(i64, usize)> {
    Some(match count {
        Count::Big32 => (settled(u32::from_be_bytes(chunk(data, at)?).into()) as i64, at + 4),
        Count::Little32 => (settled(u32::from_le_bytes(chunk(data, at)?).into()) as i64, at + 4),
        Count::ZigZag => zigzag(data, at)?,
        Count::Text => match settled(u64::from(*data.get(at)?)) {
            255 => (settled(u32::from_be_bytes(chunk(data, at + 1)?).into()) as i64, at + 5),
            short => (short as i64, at + 1),
        },
        Count::Other(read) => {
            let (number, after) = number(data, read, at)?;
            (settled(number.to_stack() as u64) as i64, after)
        }
    })
}

pub(super) fn frame_end(data: &[u8], bias: i32, at: usize) -> Option<i64> {
    let count = u32::from_be_bytes(chunk(data, at)?);
    Some(i64::from(count) - i64::from(bias) + at as i64 + 4)
}
