//! Classes as files describe them, for objects and columns alike: the C++ types that names spell, the numbers that ROOT
//! stores, and the classes that ROOT streams by code of their own.

mod cpp;
mod layout;
pub(crate) mod native;
mod number;

pub(crate) use cpp::{Container, CppType, Holds, tidy};
pub(crate) use layout::{Member, Value};
pub use number::Basic;
pub(crate) use number::{MANTISSA, Number};
