//! Parser state other than the columns.

use crate::skip::Brackets;

/// State that is passed along while a value is parsed.
#[derive(Debug, Default)]
pub(crate) struct Context {
    /// Masks of the brackets of the text, with which unread lists and objects are skipped without parsing
    /// them. `None` if the text may be damaged.
    pub brackets: Option<Brackets>,
    /// Path of the refused value within its entry.
    pub path: String,
}

impl Context {
    /// Prepends a step, such as `.name` or `[3]`, to the path of the refused value.
    #[cold]
    pub(crate) fn within(&mut self, step: &str) {
        self.path.insert_str(0, step);
    }
}
