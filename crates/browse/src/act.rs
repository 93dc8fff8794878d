//! The effects that panes ask their browser for.

use crate::{
    host::Host,
    jobs::Jobs,
    tree_node::{NodeId, TreeContent},
};
use forthwith::{File, Key, Table};

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
    /// An object other than a table is shown, in lines of a width.
    Object(Key, usize),
    /// Nodes below a node are read.
    Children(ChildrenOf),
    /// Only entries of a table are shown for which an expression is true.
    Cut(Table, String),
    /// A line of text is asked for, with this text at first.
    Ask(Question, String),
    /// A message.
    Say(String),
}

/// A node whose children are read.
pub(crate) struct ChildrenOf {
    pub(crate) node: NodeId,
    /// Depth of the children.
    pub(crate) depth: usize,
    pub(crate) content: TreeContent,
    /// The name of the node, safe to show.
    pub(crate) label: String,
    /// Whether the values of the table are shown then.
    pub(crate) enters: bool,
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
            Self::Search { .. } | Self::RowText => "regular expression, in all columns that c has left",
            Self::Where => "expression such as nMuon > 1 and any(Muon_pt > 20)",
            Self::Row => "number, or a part of the table such as 50%",
            Self::Bins => "number of bins, or empty for as many as fit",
            Self::Range => "two numbers, or empty for nearly all values",
        }
    }
}
