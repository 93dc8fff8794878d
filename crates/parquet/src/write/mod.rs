//! Writing of files: the columns of each row group are encoded in parallel, and the footer is written last.

mod encode;
mod group_file;
mod library_error;
mod row_groups;
mod writer;
#[cfg(test)]
mod written_chunks;

pub use writer::ParquetWriter;
