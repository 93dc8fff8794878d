//! Protocol Buffers files as tables: each message is a row.
//!
//! A [`Schema`] is a set of descriptors, or `.proto` text that is compiled to one. A message type is
//! translated to a [`Tagged`](forthwith_program::Tagged) layout and this to AwkwardForth, which decodes the
//! messages: this crate has no decoder. A [`ProtoFile`] finds the messages of a file by their [`Framing`],
//! and a [`ProtoTable`] plans reads of some of their fields; other fields are skipped. [`Messages`] are given
//! one by one, and a [`ProtoWriter`] writes columns as messages.
//!
//! ```
//! use forthwith_protobuf::{Mapping, Messages, Schema};
//!
//! let schema = Schema::parse("syntax = 'proto3'; message Hit { double x = 1; repeated int32 n = 2; }")?;
//! let plan = Messages::new(&schema, Some("Hit"), Mapping::default())?.plan([b"\x10\x05\x10\x06".as_slice(), b""])?;
//! assert_eq!(plan.entries, 0..2);
//! # Ok::<(), forthwith_plan::Error>(())
//! ```
//!
//! # Values
//!
//! * An absent field is zero or empty without presence, missing with presence, and an error if it is
//!   required. If a field is repeated in the data, its last value is used and messages are merged. Repeated
//!   fields may be packed or not.
//! * Enums become names: categories if the enum is closed, where a field with an unknown number is an unknown
//!   field, and strings if it is open, where an unknown number becomes its digits.
//! * Each member of a `oneof` is an option. A `map` is a list of pairs in the order of the data; repeated
//!   keys are kept.
//! * A message type that contains itself is refused, or read to the depth given in the [`Mapping`], which
//!   also chooses whether times become timestamps and durations.
//! * Extensions are fields whose names are in brackets.
#![deny(missing_docs)]

mod blocks;
mod derive;
mod fields;
mod format;
mod framing;
mod hepmc3;
mod layout;
mod messages;
mod schema;
mod table;
#[cfg(test)]
mod tests;
mod write;

pub use format::{MessagesFormat, ProtoFormat};
pub use framing::Framing;
pub use layout::Mapping;
pub use messages::Messages;
pub use schema::Schema;
pub use table::{Options, ProtoFile, ProtoTable};
pub use write::{ProtoWriter, Writing, schema_of};
