//! The crate as its users see it.
#![allow(clippy::unwrap_used)]

/// Forms with columns: validation, values, previews, Awkward forms.
mod arrays;
/// The same arrays as Arrow.
mod arrow;
/// Builders and columns.
mod columns;
/// Rows copied out of an array.
mod parts;
mod views;
