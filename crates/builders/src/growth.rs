//! Growth of vectors that returns an error if memory cannot be allocated, instead of aborting.

use crate::{BuildError, Fault};

/// Appends an item.
#[inline]
pub(crate) fn push<T>(items: &mut Vec<T>, item: T) -> Result<(), BuildError> {
    if items.len() == items.capacity() {
        reserve(items, 1)?;
    }
    items.push(item);
    Ok(())
}

/// Appends an item if there is capacity, and returns its index; otherwise returns `None`.
#[inline(always)]
pub(crate) fn add<T>(items: &mut Vec<T>, item: T) -> Option<usize> {
    let row = items.len();
    if row == items.capacity() {
        return None;
    }
    items.push(item);
    Some(row)
}

/// Appends several items.
#[inline]
pub(crate) fn extend<T: Copy>(items: &mut Vec<T>, more: &[T]) -> Result<(), BuildError> {
    if items.capacity() - items.len() < more.len() {
        reserve(items, more.len())?;
    }
    items.extend_from_slice(more);
    Ok(())
}

/// Appends `more` copies of an item.
pub(crate) fn resize<T: Copy>(items: &mut Vec<T>, more: usize, item: T) -> Result<(), BuildError> {
    if items.capacity() - items.len() < more {
        reserve(items, more)?;
    }
    items.resize(items.len() + more, item);
    Ok(())
}

/// Collects the items of an iterator of known length.
pub(crate) fn collect<T>(source: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, BuildError> {
    let mut items = Vec::new();
    reserve_exact(&mut items, source.len())?;
    items.extend(source);
    Ok(items)
}

/// Reserves capacity for `more` items, at least doubling the length if memory allows.
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
