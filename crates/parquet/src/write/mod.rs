//! Files that are written: the columns of each row group are encoded side by side, and the footer comes last.

mod encode;
mod group_file;
mod library_error;
mod row_groups;
mod writer;
#[cfg(test)]
mod written_chunks;

pub use writer::ParquetWriter;
