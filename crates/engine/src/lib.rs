//! Execution of plans: decoding of blocks to columns, and encoding of columns to blocks.
//!
//! An [`Engine`] takes a [`Plan`](forthwith_plan::Plan), the [`Source`](forthwith_io::Source) it was made for
//! and the [`BlockFormat`](forthwith_plan::BlockFormat) of its blocks, and returns one
//! [`Array`](forthwith_columns::Array) for each requested group. It is independent of file formats and
//! languages: stored bytes are read by `fetch`, unframed by the format, and decoded by a kernel (`kernel`) or
//! a program (`program`) to their final position in the columns, in order, without concatenation afterwards
//! (`place`).
//!
//! The blocks of several files can fill the same columns ([`Filling`]): the files are read in parallel, and
//! their arrays need not be concatenated.
//!
//! A single thread, column and block uses the same code as many: `run` hands out tasks in plan order, the
//! calling thread works too, and the result does not depend on the number of threads. Global state is
//! avoided: threads live for one call, and the engine keeps their scratch memory.
//! # Turns and scratch memory
//!
//! A kernel knows how much it will write, and allocates its slots in advance. A program writes to scratch
//! memory if several threads work, so that no thread holds the turn while it decodes. The scratch memory is
//! reserved for the most that a fused loop can write; without reserved space, loops fall back to one item at
//! a time. Programs that run in parallel start to copy with different columns, to avoid page faults on the
//! same page.
//!
//! # Writing
//!
//! [`BlockThreads`] encodes the blocks of a file on several threads, and passes them to the sink in order.
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
