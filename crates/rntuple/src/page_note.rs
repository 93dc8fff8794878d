//! The description of a page in its task: a note and numbers, as they stand in a plan.

use forthwith_plan::{Error, Result, Stored, Task};

/// A checksum follows the page and is to be verified.
const VERIFIED: u64 = 1;
/// There is no page: all elements are zero.
const ZEROS: u64 = 2;
/// Objects with their bounds, and no page.
const STREAMED: u64 = 4;
/// The number of the column's representation is in the bits from here on.
const REPRESENTATION: u32 = 8;

/// The meanings of a task's note.
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

/// What a task's numbers say: of which column the page is, and which of that column's in the cluster; then [`Lists`] of a column of
/// indexes, or two numbers for each alternative of a variant: what its rows begin with, and how many there are in the cluster.
pub(crate) struct Marks<'t> {
    pub(crate) column: i64,
    pub(crate) page: i64,
    pub(crate) rest: &'t [i64],
}

/// How the lists of a page go together with their items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lists {
    /// The number that is added to the ends of lists, which are counted from the cluster's first item.
    pub(crate) base: i64,
    /// The items in the cluster.
    pub(crate) most: u64,
    /// The beginning of the first list that is wanted, if that is known.
    pub(crate) before: Option<u64>,
    /// The end of the last list that is wanted, if that is known.
    pub(crate) after: Option<u64>,
}

impl<'t> Marks<'t> {
    pub(crate) fn of(task: &'t Task) -> Result<Self> {
        match task.numbers.as_slice() {
            [column, page, rest @ ..] => Ok(Self { column: *column, page: *page, rest }),
            _ => Err(foreign()),
        }
    }

    /// An error with the page that it is about, and where that is in the file.
    pub(crate) fn of_page(&self, error: Error, task: &Task) -> Error {
        let mut error = error.in_member(&format!("column {}, page {}", self.column, self.page));
        // Bytes so far are of the stored page.
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

/// The error of a plan that this format has not made.
#[cold]
pub(crate) fn foreign() -> Error {
    Error::invalid("a plan that is not for an RNTuple")
}
