//! Plan → columns, and columns → blocks.
//!
//! An [`Engine`] takes a [`Plan`](forthwith_plan::Plan), the [`Source`](forthwith_io::Source) it was made for
//! and the [`BlockFormat`](forthwith_plan::BlockFormat) that understands its blocks, and returns one
//! [`Array`](forthwith_columns::Array) for each group asked for. It knows no format and no language: bytes
//! are had by `fetch`, blocks are unframed by the format, decoded by a kernel (`kernel`) or a program
//! (`program`), and written to their final place in the columns, in order, without concatenation afterwards
//! (`place`).
//!
//! The blocks of several files can fill the same columns ([`Filling`]): files are read side by side, and none of
//! their arrays is copied to put them together.
//!
//! One thread, one column and one block is the same code path as many of each: `run` hands out tasks in plan
//! order, the calling thread works too, and the result does not depend on the number of threads. Nothing is
//! global: threads live for one call, their warm scratch lives in the engine.
//! # Turns and scratch memory
//!
//! A kernel knows how much it will write and takes its slots in advance. A program runs into scratch memory
//! when several threads work, so that no thread holds the turn while it decodes. Scratch memory has space for
//! the most that one loop could write; without reserved space, loops fall back to one item at a time.
//! Programs that run beside each other do not begin with the same column, so that their threads do not fault
//! on the same page.
//!
//! # Writing
//!
//! [`BlockThreads`] makes the blocks of a file that is written on several threads, and hands them over in
//! order.
#![deny(missing_docs)]

mod bulk;
mod engine;
mod entry_list;
mod fetch;
mod file_version;
mod filling;
mod kernel;
mod objects;
mod part;
mod place;
mod program;
mod read;
mod run;
mod step;
mod stop;
mod text;
mod validate_plan;
mod worker;
mod writing;

pub use bulk::RawBlock;
pub use engine::{Engine, Options, Progress, ProgressCallback};
pub use filling::Filling;
pub use part::{Part, fills_same_columns};
pub use writing::BlockThreads;
