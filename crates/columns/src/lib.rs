//! Columns.
#![allow(unsafe_code)]
mod array;
pub mod arrow;
mod awkward;
mod builder;
mod column;
mod dtype;
mod flatten;
mod form;
pub mod kernels;
mod lookup;
mod memory;
mod preview;
mod validate;
mod value;
mod wire;
pub use array::Array;
pub use builder::{Builder, Slot};
pub use column::{Column, Native};
pub use dtype::DType;
pub use form::Form;
pub use memory::{Buffer, Memory, OutOfMemory, Policy, PoolStats};
pub use validate::Invalid;
pub use value::Value;
pub use wire::Wire;
