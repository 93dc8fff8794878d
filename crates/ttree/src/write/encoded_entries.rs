//! Entries that are encoded before they are divided into baskets: those of branches without a kernel.

use super::{
    branch::{Rule, Source, Stored},
    entries::Entries,
    offsets::{Place, at, lists as lists_of},
    without_nulls::changed,
};
use forthwith_columns::Array;
use forthwith_encode::{EncodeError, Encoder};
use forthwith_plan::{Error, Result};
use forthwith_program::Frame;
use forthwith_root::unroll::dialect;
use std::ops::Range;

/// Encoded entries of a step.
#[derive(Debug)]
pub(super) struct Laid {
    bytes: Vec<u8>,
    /// Ends of the entries.
    ends: Vec<usize>,
}

impl Laid {
    /// Encodes the entries of a branch whose storage is a layout. Returns `None` for other branches.
    ///
    /// # Errors
    /// Returns an error if the layout cannot encode a value.
    pub(super) fn of(source: &Source, array: &Array) -> Result<Option<Self>> {
        let rows = usize::try_from(array.length).map_err(|_| changed())?;
        let Place { lists, form, rows: count } = at(array, &source.path)?;
        let items = |row: usize| items(lists.as_deref(), row, count);
        let (stored, flagged) = match &source.stored {
            Stored::Flagged(stored) => (&**stored, true),
            stored => (stored, false),
        };
        let mut this = Self { bytes: Vec::new(), ends: Vec::with_capacity(rows) };
        match stored {
            Stored::Constant { bytes, items: of_items, .. } => {
                for row in 0..rows {
                    let times = if *of_items { items(row)?.len() } else { 1 };
                    (0..times).for_each(|_| this.bytes.extend_from_slice(bytes));
                    this.ends.push(this.bytes.len());
                }
            }
            Stored::Laid { laid, layout, rule, .. } => {
                if let (Rule::Length(bits), None) = (rule, &lists) {
                    let offsets = lists_of(array, form, count)?;
                    let wrong = |pair: &[i64]| pair[1].wrapping_sub(pair[0]) != bits.cast_signed();
                    if let Some(row) = offsets.windows(2).position(wrong) {
                        let what = format!("a list of another length than the {bits} bits of a bitset");
                        return Err(Error::invalid(what).at_entry(row as u64));
                    }
                }
                let unique = *rule == Rule::Distinct;
                let encoder = Encoder::of_part(layout, &dialect(Frame::None), form, array, count);
                let encoder = encoder.map_err(unfit).map_err(|mut error| {
                    // For an item, report the entry that contains it.
                    if let (Some(row), Some(lists)) = (&mut error.place.entry, &lists) {
                        *row = lists[1..]
                            .partition_point(|end| u64::try_from(*end).is_ok_and(|end| end <= *row))
                            as u64;
                    }
                    error
                })?;
                for row in 0..rows {
                    let out = &mut this.bytes;
                    let done = if laid.to_end {
                        items(row).and_then(|items| {
                            if flagged {
                                out.push(u8::from(!items.is_empty()));
                            }
                            encoder.items(items, out).map_err(unfit)
                        })
                    } else {
                        let distinct = if unique { encoder.distinct_items(row) } else { Ok(()) };
                        distinct.and_then(|()| encoder.row(row as u64, out)).map_err(unfit)
                    };
                    done.map_err(|error| error.at_entry(row as u64))?;
                    this.ends.push(this.bytes.len());
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(this))
    }

    /// Returns the size of entries in bytes, with their offsets.
    pub(super) fn bytes(&self, rows: Range<usize>) -> u64 {
        (self.span(&rows).len() + 4 * rows.len()) as u64
    }

    pub(super) fn append(&self, rows: Range<usize>, has_offsets: bool, to: &mut Entries) -> Result<()> {
        let span = self.span(&rows);
        let (from, base) = (span.start, to.data.len());
        to.data.extend_from_slice(self.bytes.get(span).ok_or_else(changed)?);
        if has_offsets {
            let begins = rows.map(|row| if row == 0 { 0 } else { self.ends[row - 1] });
            to.starts.extend(begins.map(|begin| (base + begin - from) as u32));
        }
        Ok(())
    }

    fn span(&self, rows: &Range<usize>) -> Range<usize> {
        let at = |row: usize| if row == 0 { 0 } else { self.ends.get(row - 1).copied().unwrap_or(0) };
        at(rows.start)..at(rows.end)
    }
}

/// Checks that the keys in each list of a map are distinct; `source` is the member of its pairs with the
/// keys.
///
/// # Errors
/// Returns an error if a list has duplicate keys.
pub(super) fn check_keys(source: &Source, array: &Array) -> Result<()> {
    let Stored::Laid { layout, .. } = &source.stored else { return Ok(()) };
    let Place { lists, form, rows: count } = at(array, &source.path)?;
    let encoder = Encoder::of_part(layout, &dialect(Frame::None), form, array, count).map_err(unfit)?;
    let rows = usize::try_from(array.length).map_err(|_| changed())?;
    (0..rows).try_for_each(|row| {
        let items = items(lists.as_deref(), row, count);
        let distinct = items.and_then(|items| encoder.distinct(items).map_err(unfit));
        distinct.map_err(|error| error.at_entry(row as u64))
    })
}

/// Converts an error of the encoder, with the member and the entry.
fn unfit(error: EncodeError) -> Error {
    let (error, member, row) = error.split();
    let error = match error {
        EncodeError::Changed => changed(),
        EncodeError::Unsupported { what, .. } => Error::unsupported(format!("writing {what}")),
        other => Error::invalid(other.to_string()),
    };
    // The member is named without the brackets of items.
    let member = member.replace("[]", "");
    let names: Vec<&str> = member.split('.').filter(|name| !name.is_empty()).collect();
    let error = if names.is_empty() { error } else { error.in_object(&names.join("/")) };
    error.at_entry(row)
}

/// Returns the items of an entry's list. All lists together have `count` items.
fn items(lists: Option<&[i64]>, row: usize, count: u64) -> Result<Range<usize>> {
    let Some([from, end]) = lists.and_then(|lists| lists.get(row..row + 2)) else {
        return Err(changed());
    };
    match (usize::try_from(*from), usize::try_from(*end)) {
        (Ok(from), Ok(end)) if from <= end && end as u64 <= count => Ok(from..end),
        _ => Err(changed()),
    }
}
