//! Histograms as numbers: the computations of C++ ROOT with axes, bins and entries, independent of its files.
//!
//! A [`Histogram`] has [`Axis`]es, typed bin contents ([`BinArray`]), sums over all entries, and optionally
//! an [`EntryBuffer`], which holds the first entries of a histogram without a range. [`Histogram::emptied`]
//! fills the bins from the buffer like `TH1::BufferEmpty`, in the range that [`find_range`] computes;
//! [`Histogram::merge`] adds histograms like `TH1::Merge`. An [`Efficiency`] estimates each bin and its
//! confidence interval like `TEfficiency`. Results equal those of C++ ROOT 6.40, where possible to the last
//! bit. `forthwith-root` reads and writes the objects.
//!
//! ```
//! use forthwith_hist::{Axis, find_range};
//!
//! // A hundred bins for entries from -3.7 to 12.25, as `TH1D("h", "", 100, 0, 0)` chooses them.
//! let range = find_range(100, -3.7, 12.25, false, false);
//! assert_eq!((range.bins, range.low, range.high), (100, -5.2, 13.8));
//!
//! let axis = Axis { bins: range.bins, low: range.low, high: range.high, ..Axis::default() };
//! assert_eq!(axis.find_bin(0.0), 28);
//! assert_eq!(axis.find_bin(f64::NAN), 101);
//! ```
#![deny(missing_docs)]

mod axis;
mod bin_array;
mod efficiency;
mod empty;
mod entry_buffer;
mod error;
mod fill;
mod histogram;
mod limits;
mod merge;
mod merge_axes;
mod merge_buffers;
mod statistics;

pub use axis::Axis;
pub use bin_array::BinArray;
pub use efficiency::{Efficiency, Interval, Posterior, beta_interval};
pub use entry_buffer::{Entry, EntryBuffer};
pub use error::{Error, Result};
pub use histogram::{ARRAYS, Histogram, SCALARS};
pub use limits::{Range, find_range, powers_of_two};
pub use merge_axes::MergedAxis;
