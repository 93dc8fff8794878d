//! Bounds of lists.

use super::view::{NumberView, invalid};
use forthwith_columns::{Array, DType, Form};
use forthwith_plan::Result;
use std::ops::Range;

/// Bounds of the lists of a column.
#[derive(Clone)]
pub(super) enum Bounds {
    Offsets(NumberView<i64>),
    /// Length of fixed-size lists.
    Every(usize),
}

impl Bounds {
    #[inline]
    pub(super) fn range(&self, row: usize) -> Range<usize> {
        match self {
            // Offsets were validated, so none is negative.
            Self::Offsets(offsets) => {
                let bounds = offsets.get(row..).and_then(<[_]>::first_chunk);
                debug_assert!(bounds.is_some(), "row {row} of {} offsets", offsets.len());
                bounds.map_or(0..0, |[start, end]| *start as usize..*end as usize)
            }
            Self::Every(size) => row * size..(row + 1) * size,
        }
    }

    /// Returns the items of an array whose lists share the offsets column with these bounds, which were
    /// validated.
    pub(super) fn items_of(&self, array: &Array) -> Option<Array> {
        let (Self::Offsets(known), Form::List { key, content }) = (self, array.form.kept()) else {
            return None;
        };
        let offsets =
            array.column(&format!("{key}-offsets")).filter(|column| column.dtype() == DType::Int64)?;
        let stored = offsets.as_bytes().get(..8 * (array.length as usize + 1))?;
        if known.bytes() != stored {
            return None;
        }
        let length = u64::try_from(*known.last()?).ok()?;
        Some(Array { form: (**content).clone(), length, columns: array.columns.clone() })
    }

    /// Returns the first of `length` rows whose list has other bounds.
    pub(super) fn first_difference(&self, other: &Self, length: u64) -> Option<usize> {
        (0..length as usize).find(|row| self.range(*row) != other.range(*row))
    }
}

/// Returns the validated bounds of lists, and their items.
pub(super) fn lists(array: &Array) -> Result<(Bounds, Array)> {
    let (form, length) = (array.form.kept(), array.length);
    if let Some((size, content)) = form.fixed() {
        let too_many = || invalid(format!("{length} lists of {size} items"));
        let items = length.checked_mul(size).ok_or_else(too_many)?;
        let each = usize::try_from(size).map_err(|_| too_many())?;
        let items = Array { form: content.into_owned(), length: items, columns: array.columns.clone() };
        return Ok((Bounds::Every(each), items));
    }
    let (_, items) = array.as_lists().map_err(invalid)?;
    let offsets = match form {
        Form::List { key, .. } => array.column(&format!("{key}-offsets")),
        _ => None,
    };
    let offsets = offsets.ok_or_else(|| invalid("lists without offsets"))?;
    // As many as were checked.
    Ok((Bounds::Offsets(NumberView::of(&offsets.slice(0..length as usize + 1))), items))
}
