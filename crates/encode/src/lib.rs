//! Columns to bytes: the way back.
//!
//! Reading makes a program of a [`Layout`](forthwith_program::Layout) and a
//! [`Dialect`](forthwith_program::Dialect); writing walks the columns by the same two. An [`Encoder`] is
//! bound to them and to an [`Array`](forthwith_columns::Array) once, which settles everything that has to be
//! looked up, converted or refused; afterwards [`Encoder::row`] only appends bytes. Frames of entries, blocks and
//! files are left to the format.
//!
//! Of several versions of a value the first is written. A format that reads values in more ways than it writes them
//! gives the layout in which they are written: with the version that it wants, and constants where it steps over
//! bytes.
//!
//! ```
//! use forthwith_columns::{Array, Column, DType, Form};
//! use forthwith_encode::Encoder;
//! use forthwith_program::{Count, Dialect, Frame, Layout, TextLength};
//!
//! let array = Array {
//!     form: Form::Numpy { key: "x".into(), dtype: DType::Int16, shape: vec![] },
//!     length: 3,
//!     columns: vec![("x-data".into(), Column::from_slice(&[1i16, -1, 64]))],
//! };
//! let avro = Dialect { counts: Count::Blocks, text: TextLength::ZigZag, entry: Frame::None };
//! let encoder = Encoder::new(&Layout::Varint(DType::Int64), &avro, &array)?;
//! let mut bytes = Vec::new();
//! for row in 0..encoder.rows() {
//!     encoder.row(row, &mut bytes)?;
//! }
//! assert_eq!(bytes, [2, 1, 128, 1]);
//! # Ok::<(), forthwith_encode::EncodeError>(())
//! ```
#![deny(missing_docs)]

mod append;
mod bind;
mod describe;
mod encoder;
mod error;
mod fit;
mod node;
mod numbers;
mod objects;
mod opaque;
mod rows;
mod tagged;
#[cfg(test)]
mod tests;
mod unions;

pub use encoder::Encoder;
pub use error::EncodeError;
pub use numbers::{scaled, store_numbers, truncated, zigzag};
