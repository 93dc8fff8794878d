//! Browser of files and tables.
//!
//! [`App`] is a state machine: [`App::handle`] handles events, [`App::poll`] handles answers of background
//! jobs, and [`draw`] draws the state into a buffer of cells. Only [`terminal`] depends on a terminal. Reads
//! are limited to metadata, the values on the screen, and the columns of a search, filter or histogram.
//!
//! Once a browser is shown, jobs do all reading: a key never blocks on a file for longer than a few frames.
//! The identifier of a job is never reused, so an answer of a cancelled job is not taken for that of a later
//! one.
//!
//! The other public modules format texts and draw histograms, which the command prints as well.
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
