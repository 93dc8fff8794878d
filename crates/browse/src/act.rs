//! The effects that panes ask their browser for.

use crate::jobs::Jobs;
use forthwith::{File, Key, Table, plan::Result};

/// Services that a browser takes from its surroundings.
pub trait Host: Send + Sync {
    /// Opens the file again.
    ///
    /// # Errors
    /// The file cannot be opened, as text.
    fn reopen(&self) -> std::result::Result<File, String>;

    /// Opens a table of the file.
    ///
    /// # Errors
    /// As [`File::table`].
    fn table(&self, file: &File, path: &str) -> Result<Table> {
        file.table(path)
    }

    /// An object other than a table as text, with lines of about `width` characters.
    ///
    /// # Errors
    /// The object cannot be read, as text.
    fn object(&self, file: &File, key: &Key, width: usize) -> std::result::Result<String, String>;

    /// How a column is read, and its plan.
    ///
    /// # Errors
    /// Damaged metadata, as text.
    fn plan(&self, table: &Table, field: u32, width: usize) -> std::result::Result<String, String>;

    /// The program that decodes a column.
    ///
    /// # Errors
    /// Why the column is decoded in another way, as text.
    fn program(&self, table: &Table, field: u32) -> std::result::Result<String, String>;
}

/// The state that all panes share: jobs, the command's part, and the file.
pub(crate) struct Context<'a> {
    pub(crate) jobs: &'a mut Jobs,
    pub(crate) host: &'a std::sync::Arc<dyn Host>,
    pub(crate) file: &'a File,
}

/// An effect of a key.
pub(crate) enum Act {
    /// Nothing but the pane itself changed.
    None,
    /// Values of a table are shown, of some columns or of all.
    Values(Table, Option<Vec<u32>>),
    /// A text is shown.
    Text {
        /// Its title, safe to show.
        title: String,
        /// Its lines.
        text: String,
    },
    /// A line of text is asked for, with this text at first.
    Ask(Question, String),
    /// A message.
    Say(String),
}

/// The meaning of a line that is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// A filter of names, which applies while it is typed.
    Names,
    /// A text to search.
    Search {
        /// Upwards.
        is_backward: bool,
    },
    /// A text that rows must have.
    RowText,
    /// An expression that must be true for a row.
    Where,
    /// The number of a row.
    Row,
    /// The number of bins.
    Bins,
    /// The two ends of an axis.
    Range,
}

impl Question {
    /// The text before the line.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Names => "names: ",
            Self::Search { is_backward: false } => "search: ",
            Self::Search { is_backward: true } => "search upwards: ",
            Self::RowText => "rows with: ",
            Self::Where => "rows where: ",
            Self::Row => "go to row: ",
            Self::Bins => "bins: ",
            Self::Range => "range (low,high): ",
        }
    }

    /// A hint behind an empty line.
    pub(crate) const fn hint(self) -> &'static str {
        match self {
            Self::Names => "letters in their order, a glob such as Muon_*, or a /regex/",
            Self::Search { .. } | Self::RowText => "regular expression, in the columns on the screen",
            Self::Where => "expression such as nMuon > 1 and any(Muon_pt > 20)",
            Self::Row => "number, or a part of the table such as 50%",
            Self::Bins => "number of bins, or empty for as many as fit",
            Self::Range => "two numbers, or empty for nearly all values",
        }
    }
}
