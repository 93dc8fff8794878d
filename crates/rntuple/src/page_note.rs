//! Description of a page in its task: a note and numbers.

use forthwith_plan::{Error, Result, Stored, Task};

/// Flag: a checksum follows the page and is to be verified.
const VERIFIED: u64 = 1;
/// Flag: there is no page, and all elements are zero.
const ZEROS: u64 = 2;
/// Flag: the task has objects with their bounds, rather than a page.
const STREAMED: u64 = 4;
/// Lowest bit of the index of the column's representation.
const REPRESENTATION: u32 = 8;

/// Decoded note of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) verified: bool,
    pub(crate) zeros: bool,
    pub(crate) streamed: bool,
    pub(crate) representation: usize,
}

impl Note {
    pub(crate) const fn of(note: u64) -> Self {
        Self {
            verified: note & VERIFIED != 0,
            zeros: note & ZEROS != 0,
            streamed: note & STREAMED != 0,
            representation: (note >> REPRESENTATION) as usize,
        }
    }

    pub(crate) fn word(self) -> u64 {
        let representation = (self.representation as u64) << REPRESENTATION;
        let flag = |is: bool, flag| if is { flag } else { 0 };
        representation
            | flag(self.verified, VERIFIED)
            | flag(self.zeros, ZEROS)
            | flag(self.streamed, STREAMED)
    }
}

/// Numbers of a task: the column, the index of the page in the cluster, and `rest`. For a column of indexes,
/// that is [`Lists`]; for a variant, two numbers for each alternative: its first row, and its number of rows
/// in the cluster.
pub(crate) struct Marks<'t> {
    pub(crate) column: i64,
    pub(crate) page: i64,
    pub(crate) rest: &'t [i64],
}

/// Relation between the lists of a page and their items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lists {
    /// Number to add to the ends of lists, which count from the cluster's first item.
    pub(crate) base: i64,
    /// Number of items in the cluster.
    pub(crate) most: u64,
    /// Beginning of the first requested list, if known.
    pub(crate) before: Option<u64>,
    /// End of the last requested list, if known.
    pub(crate) after: Option<u64>,
}

impl<'t> Marks<'t> {
    pub(crate) fn of(task: &'t Task) -> Result<Self> {
        match task.numbers.as_slice() {
            [column, page, rest @ ..] => Ok(Self { column: *column, page: *page, rest }),
            _ => Err(foreign()),
        }
    }

    /// Adds the column, the page and its position in the file to an error.
    pub(crate) fn of_page(&self, error: Error, task: &Task) -> Error {
        let mut error = error.in_member(&format!("column {}, page {}", self.column, self.page));
        // So far, the byte is an offset in the stored page.
        error.place.byte = match &task.stored {
            Stored::Range(range) => Some(range.start.saturating_add(error.place.byte.unwrap_or(0))),
            _ => None,
        };
        error
    }

    pub(crate) fn lists(&self) -> Result<Lists> {
        let [base, most, before, after] = *self.rest else { return Err(foreign()) };
        let known = |number: i64| u64::try_from(number).ok();
        let most = known(most).ok_or_else(foreign)?;
        if base.unsigned_abs() >= 1 << 62 || most > 1 << 62 {
            return Err(foreign());
        }
        Ok(Lists { base, most, before: known(before), after: known(after) })
    }
}

impl Lists {
    pub(crate) fn numbers(&self) -> [i64; 4] {
        let known = |number: Option<u64>| number.and_then(|number| i64::try_from(number).ok()).unwrap_or(-1);
        [self.base, known(Some(self.most)), known(self.before), known(self.after)]
    }
}

/// Returns the error for a plan that this format has not made.
#[cold]
pub(crate) fn foreign() -> Error {
    Error::invalid("a plan that is not for an RNTuple")
}
