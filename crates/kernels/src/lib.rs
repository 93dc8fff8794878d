//! Kernels that both the machine and file formats run, and detection of the instructions that they may use.
//!
//! [`hybrid`] decodes packed numbers and runs of them, [`levels`] converts repetition and definition levels
//! to offsets and indices. [`append_big`] swaps the bytes of numbers for big-endian formats, [`nested`] those
//! of numbers in lists of lists. [`structure`] finds quotes and brackets of text, [`marks`] a few other
//! bytes, and [`lines`] counts line feeds; [`Expand`] expands items to the positions of set bits. [`digits`]
//! parses integers and [`decimals`] floats, and [`extremes()`] finds the smallest and the largest number.
//!
//! A kernel is compiled for several generations of processors and dispatched at run time. Only
//! [`CpuFeatures`] queries the processor. A value of it exists only for supported features, so a kernel that
//! takes one needs no check of its own. [`for_each_cpu!`] compiles one function for all generations,
//! [`compiled_for!`] compiles an item for one of them.
//!
//! ```
//! use forthwith_kernels::{CpuFeatures, for_each_cpu};
//!
//! for_each_cpu! {
//!     fn sum(numbers: &[u32]) -> u32 = sum_body
//! }
//!
//! #[inline(always)]
//! fn sum_body(numbers: &[u32]) -> u32 {
//!     numbers.iter().fold(0, |sum, number| sum.wrapping_add(*number))
//! }
//!
//! for features in CpuFeatures::available() {
//!     assert_eq!(sum(features, &[1, 2, 3]), 6, "{}", features.name());
//! }
//! ```
//! # Unsafe code
//!
//! Loops write to memory whose size was checked for a whole run, a group of eight or a mask of 64 before, and
//! call functions compiled for the detected processor. Inputs may be memory that others write to meanwhile:
//! numbers that decide how much is read or written are read once, by [`settled`]. All tests run under Miri,
//! for the baseline.
#![allow(unsafe_code)] // for the reasons above
#![deny(missing_docs)]

mod cpu;
pub mod decimals;
pub mod digits;
mod expand;
mod extremes;
pub mod hybrid;
pub mod levels;
pub mod lines;
pub mod marks;
pub mod nested;
pub mod settled;
pub mod structure;
mod swap;

pub use cpu::{CpuFeatures, Generation};
pub use expand::Expand;
pub use extremes::{Extremes, Ordered, extremes};
pub use swap::append_big;
