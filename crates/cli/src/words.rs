//! Formats numbers of columns and blocks with the format's own words.

use crate::human;

pub(crate) use forthwith::Words;

/// Formats counts with words.
pub(crate) trait Counted {
    /// Formats a number of columns, such as `3 branches`.
    fn columns(&self, number: u64) -> String;

    /// Formats a number of blocks, such as `12 baskets`.
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
