//! Histograms and graphs to draw, with their texts.

use crate::{
    binned::{Filled, Grid},
    graph::Graph,
};

/// A histogram or graph with its texts.
pub(super) enum Drawing {
    One {
        filled: Box<Filled>,
        title: String,
        caption: String,
        y_title: String,
    },
    Two {
        grid: Box<Grid>,
        title: String,
        caption: String,
        z_title: String,
    },
    Points {
        graph: Box<Graph>,
        caption: String,
    },
    /// No values, with the reason.
    Nothing(String),
}

impl Drawing {
    pub(super) fn one(filled: Filled, title: String, caption: String, y_title: String) -> Self {
        Self::One { filled: Box::new(filled), title, caption, y_title }
    }

    pub(super) fn two(grid: Grid, title: String, caption: String, z_title: String) -> Self {
        Self::Two { grid: Box::new(grid), title, caption, z_title }
    }
}
