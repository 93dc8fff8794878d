//! Browser of files and tables.
//!
//! [`App`] is a state machine: [`App::handle`] takes events, [`App::poll`] the answers of jobs that read in the
//! background, and [`draw`] shows the state on a buffer of cells. Only [`terminal`] knows a terminal. Nothing is read but
//! the metadata and values on the screen, and columns that a search, a filter or a picture is of.
//!
//! The modules that are public besides are texts and pictures of values that the command prints as well.
#![deny(missing_docs)]

mod act;
mod answers;
mod app;
mod cells;
mod details;
pub mod glob;
mod grid;
pub mod heat;
mod help;
pub mod histogram;
pub mod human;
mod input;
mod jobs;
mod name_filter;
pub mod numbers;
pub mod paint;
mod pane;
mod plot;
mod prompt;
mod row_filter;
mod rows;
mod screen;
mod snippet;
pub mod terminal;
mod tree;

pub use act::Host;
pub use app::{App, Start, start_at};
pub use input::{Input, Key};
pub use screen::draw;
