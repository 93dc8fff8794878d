//! Names for the things in a file, with their numbers.

use crate::human;

pub(crate) use forthwith::Words;

/// Counts in words.
pub(crate) trait Counted {
    /// `3 branches`.
    fn columns(&self, number: u64) -> String;

    /// `12 baskets`.
    fn blocks(&self, number: u64) -> String;
}

impl Counted for Words {
    fn columns(&self, number: u64) -> String {
        human::counted(number, self.column[0], self.column[1])
    }

    fn blocks(&self, number: u64) -> String {
        human::counted(number, self.block[0], self.block[1])
    }
}
