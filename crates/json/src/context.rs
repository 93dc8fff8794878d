//! The state of decoding beside the columns.

use crate::skip::Brackets;

/// What is known beside the columns while values are read.
#[derive(Debug, Default)]
pub(crate) struct Context {
    /// The brackets of the text, where nothing that precedes a value can have been damaged.
    pub brackets: Option<Brackets>,
    /// The path of a value that was refused.
    pub path: String,
}

impl Context {
    /// Notes that an error is within a member or an item.
    #[cold]
    pub(crate) fn within(&mut self, step: &str) {
        self.path.insert_str(0, step);
    }
}
