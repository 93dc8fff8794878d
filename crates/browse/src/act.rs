//! Actions that panes request of their browser.

use crate::{
    host::Host,
    jobs::Jobs,
    tree_node::{NodeId, TreeContent},
};
use forthwith::{File, Key, Table};

/// State that all panes share: jobs, host and file.
pub(crate) struct Context<'a> {
    pub(crate) jobs: &'a mut Jobs,
    pub(crate) host: &'a std::sync::Arc<dyn Host>,
    pub(crate) file: &'a File,
}

/// Action that follows a key.
pub(crate) enum Act {
    /// No action beyond the change of the pane itself.
    None,
    /// Show the values of a table, of some columns or of all.
    Values(Table, Option<Vec<u32>>),
    /// Show an object other than a table, in lines of the given width.
    Object(Key, usize),
    /// Read the children of a node.
    Children(ChildrenOf),
    /// Show only the entries of a table for which an expression is true.
    Cut(Table, String),
    /// Ask for a line of text, which initially has this content.
    Ask(Question, String),
    /// Show a message.
    Say(String),
}

/// Node whose children are read.
pub(crate) struct ChildrenOf {
    pub(crate) node: NodeId,
    /// Depth of the children in the tree.
    pub(crate) depth: usize,
    pub(crate) content: TreeContent,
    /// Name of the node, safe to show.
    pub(crate) label: String,
    /// Whether to show the values of the table afterwards.
    pub(crate) enters: bool,
}

/// Purpose of a line that is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Filter of names, applied while it is typed.
    Names,
    /// Pattern to search.
    Search {
        /// Whether to search upwards.
        is_backward: bool,
    },
    /// Pattern by which rows are filtered.
    RowText,
    /// Expression by which rows are filtered.
    Where,
    /// Number of a row.
    Row,
    /// Number of bins.
    Bins,
    /// Range of an axis.
    Range,
}

impl Question {
    /// Returns the label before the line.
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

    /// Returns a hint that is shown while the line is empty.
    pub(crate) const fn hint(self) -> &'static str {
        match self {
            Self::Names => "letters in their order, a glob such as Muon_*, or a /regex/",
            Self::Search { .. } | Self::RowText => "regular expression, in all columns that c has left",
            Self::Where => "expression such as nMuon > 1 and any(Muon_pt > 20)",
            Self::Row => "number, or a part of the table such as 50%",
            Self::Bins => "number of bins, or empty for as many as fit",
            Self::Range => "two numbers, or empty for nearly all values",
        }
    }
}
