//! Protocol Buffers: messages as rows of a table, by programs made of their schema.
//!
//! A [`Schema`] is a set of descriptors, or `.proto` text that is compiled to one. A message type becomes a
//! [`Tagged`](forthwith_program::Tagged) layout, a layout becomes AwkwardForth, and the machine runs that: there is no
//! decoder of messages here. A [`ProtoFile`] knows where the messages of a file are, by the [`Framing`] around them,
//! and [`ProtoTable`] plans to read some of their fields; other fields are stepped over. [`Messages`] are those that
//! are given one by one, and a [`ProtoWriter`] writes columns as messages.
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
//! * A field without presence that is absent is zero or empty; one with presence is an option; a required one that is
//!   absent is a fault. A field that comes twice has its last value, messages are merged, and repeated fields are taken
//!   packed or not.
//! * Names of enums: where the enum is closed a category, and an unknown number is an unknown field; where it is open
//!   text, of an unknown number its digits.
//! * A `oneof` is an option for each of its members. A `map` is a list of tuples in the order of the data, with equal
//!   keys kept.
//! * A message that contains itself is refused where it does, or read to the depth that the [`Mapping`] says. Times are
//!   timestamps and durations unless it says otherwise.
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
