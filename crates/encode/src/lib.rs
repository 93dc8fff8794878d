//! Encodes columns into the records of a row-oriented format.
//!
//! Decoders translate a [`Layout`](forthwith_program::Layout) and a [`Dialect`](forthwith_program::Dialect)
//! to a program; an [`Encoder`] writes columns in the same layout and dialect. Binding it to an
//! [`Array`](forthwith_columns::Array) does all lookups, conversions and type checks, so that
//! [`Encoder::row`] only appends bytes. Framing entries, blocks and files is left to the format.
//!
//! If a layout has several versions of a value, the first is written. A format that reads more encodings than
//! it writes passes a layout of its own for writing: one with the version to write, and with constants for
//! bytes that readers step over.
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
