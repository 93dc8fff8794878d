//! Columns.
mod dtype;
mod form;
mod wire;
pub use dtype::DType;
pub use form::Form;
pub use wire::Wire;
