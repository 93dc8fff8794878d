//! Loops over bytes that both the machine and formats run, and which instructions of this processor they may
//! use.
//!
//! [`hybrid`] reads packed numbers and runs of them, [`levels`] turns repetition and definition levels into
//! offsets and indexes. [`append_big`] turns numbers round for formats that store the most significant byte
//! first, [`nested`] does so for numbers in lists of lists. [`structure`] finds quotes and brackets of text,
//! [`Expand`] puts items at the places of bits. [`marks`] finds a few other bytes, [`digits`] makes whole numbers of text and [`decimals`] floats, [`extremes()`] finds the
//! smallest and the largest number.
//!
//! A kernel is compiled for several generations of processors, and one of them is chosen at run time.
//! [`CpuFeatures`] is the only place that asks the processor. A value of it exists only for what the
//! processor has, so a kernel that gets one needs no check of its own. [`for_each_cpu!`] compiles one
//! function for all generations, [`compiled_for!`] compiles an item for one of them.
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
//! call functions compiled for the processor at hand. Inputs may be memory that others write meanwhile:
//! [`settled`] reads what decides how much is read or written once. Everything runs under Miri, for the
//! baseline.
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
