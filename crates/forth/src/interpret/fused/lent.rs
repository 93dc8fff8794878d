//! Loops of their own within a body, to which the cursors of their columns are lent.

use super::cursor::{Cursor, grow, load, store};
use super::exec::Exec;
use super::level::{Level, convert, nest as run_nest};
use super::nest::PassLimit;
use super::ops::{C, Column};
use super::steps::{Leaf, Nest};

/// Lists in lists, by the loop for them, to which the cursors of their columns are lent.
#[inline(always)]
pub(super) fn nested<L: Level>(
    exec: &mut Exec<'_>,
    columns: &[Column],
    cursors: &mut [Cursor],
    (nest, own): &(Nest, Vec<C>),
    passes: PassLimit,
    at: usize,
) -> (usize, usize) {
    // Under a limit, what one column takes is lost to all.
    let limited = exec.outputs.is_limited();
    if limited {
        store(exec, columns, cursors);
    }
    for &column in own {
        exec.outputs.list[columns[column as usize].output].end = cursors[column as usize].used();
    }
    // SAFETY: this runs inside of the level's own entry point.
    let result = unsafe { run_nest::<L>(exec, nest, None, passes, at) };
    for &column in own {
        load(exec, &columns[column as usize..=column as usize], &mut cursors[column as usize..]);
    }
    if limited {
        load(exec, columns, cursors);
    }
    result
}

/// So many items of one kind; the position after them.
pub(super) fn bulk<L: Level>(
    exec: &mut Exec<'_>,
    columns: &[Column],
    cursors: &mut [Cursor],
    leaf: Leaf,
    items: usize,
    at: usize,
) -> Option<usize> {
    let bytes = items.checked_mul(1 << leaf.shift)?;
    let rest = exec.data.get(at..)?;
    if bytes > rest.len() {
        return None;
    }
    let column = leaf.output as C;
    if cursors[leaf.output].room() < bytes && !grow(exec, columns, cursors, column, bytes) {
        return None;
    }
    let cursor = &mut cursors[leaf.output];
    // SAFETY: there is room for the bytes, and slack; as many are left; this runs inside of the level's own
    // entry point.
    unsafe {
        convert::<L>(leaf.kind, rest, bytes, cursor.next);
        cursor.next = cursor.next.add(bytes);
    }
    Some(at + bytes)
}
