//! Errors of merging and filling histograms.

/// The result of an operation on histograms.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a histogram cannot be merged or filled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The buffer is shorter than its number of entries requires.
    #[error("{count} entries in a buffer of {room} numbers")]
    Buffer {
        /// Stated number of entries.
        count: f64,
        /// Length of the buffer in numbers.
        room: usize,
    },
    /// Merged buffers have more than 2^26 numbers.
    #[error("merging histograms with more than 2^26 numbers in buffers")]
    LargeBuffer,
    /// The length of an array differs from the number of bins, with underflow and overflow.
    #[error("number of bins is {found}, not {expected}")]
    BinCount {
        /// Name of the array's member.
        member: &'static str,
        /// Number of bins of the axes.
        expected: u64,
        /// Length of the array.
        found: u64,
    },
    /// A bin is outside an array.
    #[error("a histogram of {cells} bins with {found} numbers")]
    MissingBin {
        /// Name of the array's member.
        member: &'static str,
        /// Number of bins of the axes.
        cells: usize,
        /// Length of the array.
        found: usize,
    },
    /// Arrays of merged histograms have different lengths or types.
    #[error("merging histograms whose {member} have different lengths or types")]
    Lengths {
        /// Name of the array's member.
        member: &'static str,
    },
    /// Axes of merged histograms have no common binning.
    #[error(
        "merging histograms of different binning: the {axis} axis has {found}, that of the first {first}"
    )]
    Axes {
        /// Name of the axis.
        axis: &'static str,
        /// Description of the merged axis.
        found: String,
        /// Description of the first histogram's axis.
        first: String,
    },
    /// The common binning has far more bins than either histogram.
    #[error("merging histograms of at most {before} bins into {after} bins")]
    Growth {
        /// Larger number of bins of the merged histograms.
        before: usize,
        /// Number of bins of the common binning.
        after: usize,
    },
    /// The sum has more than 2^28 bins.
    #[error("a sum of histograms with more than 2^28 bins")]
    ManyBins,
    /// A bin with entries has no place in the common binning.
    #[error(
        "merging histograms of different binning, one of which has entries outside its axis or in bins without labels"
    )]
    LostEntries,
    /// An axis has no range, but its bins have entries.
    #[error("merging histograms with entries in bins of an axis without a range")]
    FilledWithoutRange,
    /// A histogram with `TH1::kAutoBinPTwo` and without a range is merged into one with a range.
    #[error("merging a histogram without a range into one with a range, whose bin widths are powers of two")]
    PowersOfTwo,
    /// An axis has no range, and the histogram no buffered entries.
    #[error("merging histograms without a range and without a buffer")]
    NoRange,
    /// Only some axes of the first histogram have a range.
    #[error("merging a histogram into one of which only one axis has a range, {axis}")]
    PartialRange {
        /// Description of that axis.
        axis: String,
    },
    /// The buffered entries exceed the capacity of the first buffer, and ROOT's rule for the range of an axis
    /// is not known for this case.
    #[error(
        "merging histograms without a range whose buffered entries exceed the capacity of the first buffer"
    )]
    FullBuffer,
    /// ROOT extends an axis whose bins have different widths.
    #[error("ROOT makes the {axis} axis longer, whose bins differ in width")]
    VariableAxis {
        /// Name of the axis.
        axis: &'static str,
    },
    /// ROOT extends an axis to infinity.
    #[error("ROOT makes the {axis} axis infinite")]
    InfiniteAxis {
        /// Name of the axis.
        axis: &'static str,
    },
    /// An entry from which a range is found is not finite.
    #[error("buffered entries from which the range of the {axis} axis would be found are not finite")]
    NotFinite {
        /// Name of the axis.
        axis: &'static str,
    },
    /// A range that was found has no bins, or too many.
    #[error("a range of {bins} bins")]
    FoundBins {
        /// Number of bins of that range.
        bins: i64,
    },
}

impl Error {
    /// Whether the object is corrupt, rather than the operation unsupported.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Buffer { .. } | Self::BinCount { .. } | Self::MissingBin { .. } | Self::Lengths { .. }
        )
    }

    /// Returns the name of the corrupt member, if the error has one.
    #[must_use]
    pub const fn member(&self) -> Option<&'static str> {
        match self {
            Self::Buffer { .. } => Some("fBuffer"),
            Self::BinCount { member, .. } | Self::MissingBin { member, .. } => Some(member),
            _ => None,
        }
    }
}
