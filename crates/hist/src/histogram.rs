//! The [`Histogram`] type.

use crate::statistics::{self, Bins};
use crate::{Axis, BinArray, EntryBuffer, Error, Result};

/// A histogram or profile of one to three dimensions: the members with which ROOT computes, by name.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Arrays with one number for each bin: contents and those sums of [`ARRAYS`] that the object has.
    pub arrays: Vec<(&'static str, BinArray)>,
    /// Sums over all entries, by the names of [`SCALARS`].
    pub scalars: Vec<(&'static str, f64)>,
    /// All axes of the object. Only the first `dimensions` have bins.
    pub axes: Vec<Axis>,
    /// Whether each axis was changed since the histogram was read.
    pub changed: [bool; 3],
    /// Number of axes with bins.
    pub dimensions: usize,
    /// Buffered entries, which are not in the bins yet; `None` without a buffer.
    pub buffer: Option<EntryBuffer>,
    /// Whether buffered entries were filled into the bins since the histogram was read.
    pub is_flushed: bool,
    /// Smallest and largest value that a profile accepts.
    pub value_range: Option<[f64; 2]>,
    /// `TH1::kIsNotW`: whether squares of weights are not kept.
    pub is_unweighted: bool,
    /// `TH1::kAutoBinPTwo`: whether the bins of a range that is found have a power of two as their width.
    pub finds_powers_of_two: bool,
    /// Whether statistics include underflow and overflow.
    pub counts_all: bool,
    /// Whether the histogram has a range, but buffered entries of merged histograms without one.
    pub(crate) is_late: bool,
}

impl Histogram {
    /// Returns the axes that have bins.
    #[must_use]
    pub fn own_axes(&self) -> &[Axis] {
        self.axes.get(..self.dimensions).unwrap_or_default()
    }

    /// Whether the object is a profile.
    #[must_use]
    pub fn is_profile(&self) -> bool {
        self.array("fBinEntries").is_some()
    }

    /// Returns the array of a name.
    #[must_use]
    pub fn array(&self, name: &str) -> Option<&BinArray> {
        self.arrays.iter().find(|(known, _)| *known == name).map(|(_, numbers)| numbers)
    }

    /// Returns the contents of the bins; for a profile, the sums of values.
    #[must_use]
    pub fn contents(&self) -> Option<&BinArray> {
        self.arrays.iter().find(|(name, _)| is_contents(name)).map(|(_, numbers)| numbers)
    }

    /// Returns a sum over all entries; 0 if it is not kept.
    #[must_use]
    pub fn scalar(&self, name: &str) -> f64 {
        self.scalars.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, value)| *value)
    }

    /// Returns the number of bins, with underflow and overflow.
    ///
    /// # Errors
    /// Returns an error if the number exceeds 2^28.
    pub fn cells(&self) -> Result<usize> {
        cells(self.own_axes())
    }

    /// Compares the number of bins with the lengths of all arrays, before memory is allocated for each bin.
    ///
    /// # Errors
    /// Returns an error if they differ.
    pub fn check_lengths(&self) -> Result<()> {
        if self.own_axes().is_empty() {
            return Ok(());
        }
        let claimed = self.cells()?;
        let mut filled = self.arrays.iter().filter(|(_, numbers)| !numbers.is_empty()).peekable();
        let wrong = |member: &'static str, found: usize| {
            Err(Error::BinCount { member, expected: claimed as u64, found: found as u64 })
        };
        // A histogram without arrays has a number of bins that no length confirms.
        if filled.peek().is_none() && claimed > MOST_EMPTY {
            return wrong("TArray", 0);
        }
        filled
            .find(|(_, numbers)| numbers.len() != claimed)
            .map_or(Ok(()), |(name, numbers)| wrong(name, numbers.len()))
    }

    /// Computes the sums over all entries from the bins, if they are not kept.
    pub fn find_statistics(&mut self) {
        if self.scalar("fTsumw") != 0.0 || self.scalar("fEntries") <= 0.0 {
            return;
        }
        let floats = |name| self.array(name).map(BinArray::floats).unwrap_or_default();
        let is_profile = self.is_profile();
        let bins = Bins {
            axes: self.own_axes(),
            contents: self.contents().map(BinArray::floats).unwrap_or_default(),
            squares: floats("fSumw2"),
            weights: is_profile.then(|| [floats("fBinEntries"), floats("fBinSumw2")]),
            // `TProfile3D::GetStats` never includes underflow and overflow.
            counts_all: self.counts_all && !(is_profile && self.dimensions == 3),
        };
        for (name, sum) in statistics::NAMES.into_iter().zip(bins.sums()) {
            if let Some((_, value)) = self.scalars.iter_mut().find(|(known, _)| *known == name) {
                *value = sum;
            }
        }
    }

    pub(crate) fn array_mut(&mut self, name: &str) -> Option<&mut BinArray> {
        self.arrays.iter_mut().find(|(known, _)| *known == name).map(|(_, numbers)| numbers)
    }

    /// Whether the array of a name exists and is not empty.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.array(name).is_some_and(|numbers| !numbers.is_empty())
    }

    /// Whether all axes have a range.
    pub(crate) fn has_range(&self) -> bool {
        self.own_axes().iter().all(Axis::has_range)
    }

    /// Returns the name of the array of squared weights, which exists if weights differ from 1.
    pub(crate) fn weight_squares(&self) -> &'static str {
        if self.is_profile() { "fBinSumw2" } else { "fSumw2" }
    }

    /// Adds the array of squared weights. Earlier entries have a weight of 1.
    pub(crate) fn keep_squares(&mut self, squares: &'static str) {
        if self.has(squares) {
            return;
        }
        let weights = if squares == "fBinSumw2" { self.array("fBinEntries") } else { self.contents() };
        let weights = weights.map(BinArray::floats).unwrap_or_default();
        let weights = BinArray::Double(weights.into_iter().map(f64::abs).collect());
        match self.array_mut(squares) {
            Some(numbers) => *numbers = weights,
            None => self.arrays.push((squares, weights)),
        }
    }
}

/// Returns the product of the numbers of bins of all axes, with underflow and overflow.
pub(crate) fn cells(axes: &[Axis]) -> Result<usize> {
    let all = axes.iter().try_fold(1_usize, |all, axis| all.checked_mul(axis.cells()?));
    all.filter(|&all| all <= MOST_CELLS).ok_or(Error::ManyBins)
}

pub(crate) fn is_contents(name: &str) -> bool {
    name.starts_with("TArray")
}

/// Upper bound on the bins of a histogram.
const MOST_CELLS: usize = 1 << 28;
/// Upper bound on the bins of a histogram without arrays.
const MOST_EMPTY: usize = 1 << 10;
/// Members with one number for each bin: contents of each type, and sums.
pub const ARRAYS: [&str; 10] = [
    "TArrayC",
    "TArrayS",
    "TArrayI",
    "TArrayL",
    "TArrayL64",
    "TArrayF",
    "TArrayD",
    "fSumw2",
    "fBinEntries",
    "fBinSumw2",
];
/// Members that are sums over all entries.
pub const SCALARS: [&str; 16] = [
    "fEntries", "fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2", "fTsumwy", "fTsumwy2", "fTsumwxy", "fTsumwz",
    "fTsumwz2", "fTsumwxz", "fTsumwyz", "fTsumwt", "fTsumwt2", "fTsumwxt", "fTsumwyt",
];
