//! Builders, one module for each, and the conversion of Python objects that they share.

mod arrays;
mod discover;
mod fill;
mod kinds;
mod times;
mod trouble;
mod turns;
mod typed;
mod walk;

pub(crate) use discover::ArrayBuilder;
pub(crate) use fill::{found_rows, from_iter};
pub(crate) use kinds::{Kind, Kinds};
pub(crate) use times::{day, span_of, time_of_day};
pub(crate) use typed::{Layout, TypedArrayBuilder};
pub(crate) use walk::described;
