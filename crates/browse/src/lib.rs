//! Browser of files and tables.
//!
//! [`App`] is a state machine: [`App::handle`] takes events, [`App::poll`] the answers of jobs that read in the
//! background, and [`draw`] shows the state on a buffer of cells. Only [`terminal`] knows a terminal. Nothing is read but
//! the metadata and values on the screen, and columns that a search, a filter or a picture is of.
//!
//! Once a browser is shown, all reading is done by jobs: a key never waits for a file longer than a few frames. A job is
//! known by a number that is not used again, so an answer that comes after its job was cancelled is not taken for that of
//! a later one.
//!
//! The modules that are public besides are texts and pictures of values that the command prints as well.
#![deny(missing_docs)]

mod act;
mod answers;
mod app;
mod cells;
mod describe;
mod details;
mod entry_set;
pub mod glob;
mod grid;
pub mod heat;
mod help;
pub mod histogram;
mod host;
pub mod human;
mod input;
mod jobs;
mod name_filter;
pub mod numbers;
pub mod paint;
mod pane;
mod plot;
mod prompt;
mod request;
mod row_filter;
mod rows;
mod screen;
mod snippet;
mod start;
pub mod terminal;
mod text_search;
mod tree;
mod tree_node;

pub use app::App;
pub use host::Host;
pub use input::{Input, Key};
pub use screen::draw;
pub use start::{Start, start_at};
