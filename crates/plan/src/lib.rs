//! The vocabulary of the seams, and nothing else.
mod dataset;
mod error;
mod format;
mod task;
pub use dataset::{Dataset, Description, Field, Reading};
pub use error::{Error, ErrorKind, Place, Result};
pub use format::{Block, BlockFormat, Scratch, make_room};
pub use task::{ColumnSpec, Decoder, Group, Kernel, Plan, Slot, Stored, Task};
