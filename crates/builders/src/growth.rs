//! Appending with an error where memory ends, instead of the end of the process.

use crate::{BuildError, Fault};

/// One more item.
#[inline]
pub(crate) fn push<T>(items: &mut Vec<T>, item: T) -> Result<(), BuildError> {
    if items.len() == items.capacity() {
        reserve(items, 1)?;
    }
    items.push(item);
    Ok(())
}

/// Appends an item where there is space, and answers its row.
#[inline(always)]
pub(crate) fn add<T>(items: &mut Vec<T>, item: T) -> Option<usize> {
    let row = items.len();
    if row == items.capacity() {
        return None;
    }
    items.push(item);
    Some(row)
}

/// Several more.
#[inline]
pub(crate) fn extend<T: Copy>(items: &mut Vec<T>, more: &[T]) -> Result<(), BuildError> {
    if items.capacity() - items.len() < more.len() {
        reserve(items, more.len())?;
    }
    items.extend_from_slice(more);
    Ok(())
}

/// Several more of the same.
pub(crate) fn resize<T: Copy>(items: &mut Vec<T>, more: usize, item: T) -> Result<(), BuildError> {
    if items.capacity() - items.len() < more {
        reserve(items, more)?;
    }
    items.resize(items.len() + more, item);
    Ok(())
}

/// The items of an iterator that knows how many there are.
pub(crate) fn collect<T>(source: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, BuildError> {
    let mut items = Vec::new();
    reserve_exact(&mut items, source.len())?;
    items.extend(source);
    Ok(items)
}

/// Room for `more` items, at least doubling what there is.
#[cold]
#[inline(never)]
pub(crate) fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), BuildError> {
    let wish = more.max(items.len()).max(FIRST);
    if items.try_reserve_exact(wish).is_ok() { Ok(()) } else { reserve_exact(items, more) }
}

fn reserve_exact<T>(items: &mut Vec<T>, more: usize) -> Result<(), BuildError> {
    items.try_reserve_exact(more).map_err(|_| Fault::Memory(more).into())
}

const FIRST: usize = 64;
