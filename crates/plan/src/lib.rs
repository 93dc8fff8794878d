//! The vocabulary of the seams, and nothing else.
mod blocks;
mod check;
mod dataset;
mod error;
mod format;
mod scratch_buffer;
mod task;
mod writer;
pub use blocks::{Bench, BlockMaker, BlockRunner, BlockSink, OneThread, StoredBlock, in_turn};
pub use check::{CheckReport, Finding, Severity};
pub use dataset::{Dataset, Description, Field, Reading};
pub use error::{Error, ErrorKind, Place, Result};
pub use format::{Block, BlockFormat, Columns, Framing, Piece, Scratch};
pub use forthwith_forth::similar_names;
pub use scratch_buffer::ScratchBuffer;
pub use task::{ColumnSpec, Decoder, Group, Kernel, Pick, Plan, Slot, Stored, Task};
pub use writer::{NotNumbers, TableWriter, WriteOptions, Written, check_digits};
