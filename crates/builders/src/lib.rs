//! Building columns command by command.
//!
//! Modules: `typed` is for data whose type is known, `discover` for data whose type is found out on the way.
#![deny(missing_docs)]

mod form;
mod layout;
mod typed;

pub use form::{Form, FormError, Index, Kind, Parameters, Primitive, Text, TimeUnit, Unit};
pub use layout::{Layout, Untranslatable};
pub use typed::{Checkpoint, CommandError, CommandErrorKind, Engine, TypedArrayBuilder};
