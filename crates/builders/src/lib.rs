//! Builders of columns: command by command, or from objects.
//!
//! [`TypedArrayBuilder`] is for data of known type, [`ArrayBuilder`] infers the type. Both have the commands
//! of `ak.ArrayBuilder`. Code that traverses many objects appends to a [`Sink`]: that of an [`ArrayBuilder`],
//! or of [`TypedColumns`] for a known type.
//!
//! ```
//! use forthwith_builders::ArrayBuilder;
//!
//! let mut builder = ArrayBuilder::new();
//! builder.begin_record(None)?;
//! builder.field("x")?.real(1.5)?;
//! builder.end_record()?;
//! builder.null()?;
//! assert_eq!(builder.type_string(), "2 * ?{x: float64}");
//! # Ok::<(), forthwith_builders::BuildError>(())
//! ```
#![deny(missing_docs)]

mod build_error;
mod checked;
mod command;
mod discover;
mod fill;
mod form;
mod growth;
mod layout;
mod limits;
mod misfit;
mod outputs;
mod sink;
mod table;
mod typed;

pub use build_error::{BuildError, Fault, Step};
pub use command::Command;
pub use discover::ArrayBuilder;
pub use form::{Form, FormError, Index, Kind, Parameters, Primitive, Text, TimeUnit, Unit};
pub use layout::{Layout, Untranslatable};
pub use limits::{DEEPEST, MOST_ALTERNATIVES, MOST_COLUMNS, MOST_SLOTS};
pub use misfit::Misfit;
pub use outputs::{Arrangement, Written};
pub use sink::{Items, Leaf, Open, Shape, Sink, Slot};
pub use typed::{Checkpoint, CommandError, CommandErrorKind, TypedArrayBuilder, TypedColumns};
