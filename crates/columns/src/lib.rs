//! Columns.
#![allow(unsafe_code)]
mod array;
mod builder;
mod column;
mod dtype;
mod form;
pub mod kernels;
mod memory;
mod wire;
pub use array::Array;
pub use builder::{Builder, Slot};
pub use column::{Column, Native};
pub use dtype::DType;
pub use form::Form;
pub use memory::{Buffer, Memory, OutOfMemory, Policy, PoolStats};
pub use wire::Wire;
