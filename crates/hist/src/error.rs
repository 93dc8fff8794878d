//! Reasons why a histogram cannot be computed.

/// Result of an operation on histograms.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a histogram cannot be merged or filled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The buffer does not hold as many entries as it claims.
    #[error("{count} entries in a buffer of {room} numbers")]
    Buffer {
        /// The claimed number of entries.
        count: f64,
        /// Length of the buffer.
        room: usize,
    },
    /// Merged buffers have more than 2^26 numbers.
    #[error("merging histograms with more than 2^26 numbers in buffers")]
    LargeBuffer,
    /// An array has another length than there are bins, underflow and overflow included.
    #[error("number of bins is {found}, not {expected}")]
    BinCount {
        /// The member that is the array.
        member: &'static str,
        /// Number of bins by the axes.
        expected: u64,
        /// Length of the array.
        found: u64,
    },
    /// A bin is outside of an array.
    #[error("a histogram of {cells} bins with {found} numbers")]
    MissingBin {
        /// The member that is the array.
        member: &'static str,
        /// Number of bins by the axes.
        cells: usize,
        /// Length of the array.
        found: usize,
    },
    /// Arrays of merged histograms have different lengths or types.
    #[error("merging histograms whose {member} have different lengths or types")]
    Lengths {
        /// The member that is the array.
        member: &'static str,
    },
    /// Histograms whose axes have no common binning.
    #[error(
        "merging histograms of different binning: the {axis} axis has {found}, that of the first {first}"
    )]
    Axes {
        /// Letter of the axis.
        axis: &'static str,
        /// Description of the axis that is merged.
        found: String,
        /// Description of the first histogram's axis.
        first: String,
    },
    /// The common binning has far more bins than either histogram.
    #[error("merging histograms of at most {before} bins into {after} bins")]
    Growth {
        /// The larger number of bins before.
        before: usize,
        /// The number of bins of the sum.
        after: usize,
    },
    /// More than 2^28 bins.
    #[error("a sum of histograms with more than 2^28 bins")]
    ManyBins,
    /// Entries in bins that the common binning does not have.
    #[error(
        "merging histograms of different binning, one of which has entries outside its axis or in bins without labels"
    )]
    LostEntries,
    /// An axis without a range, in a histogram whose bins are filled.
    #[error("merging histograms with entries in bins of an axis without a range")]
    FilledWithoutRange,
    /// ROOT's merge of `TH1::kAutoBinPTwo` with a histogram that has a range.
    #[error("merging a histogram without a range into one with a range, whose bin widths are powers of two")]
    PowersOfTwo,
    /// An axis without a range, in a histogram without buffered entries.
    #[error("merging histograms without a range and without a buffer")]
    NoRange,
    /// Only some axes of the first histogram have a range.
    #[error("merging a histogram into one of which only one axis has a range, {axis}")]
    PartialRange {
        /// Description of that axis.
        axis: String,
    },
    /// More buffered entries than the first buffer holds, and an axis of which ROOT then finds the range by other rules.
    #[error(
        "merging histograms without a range whose buffered entries exceed the capacity of the first buffer"
    )]
    FullBuffer,
    /// ROOT makes an axis longer whose bins have different widths.
    #[error("ROOT makes the {axis} axis longer, whose bins differ in width")]
    VariableAxis {
        /// Letter of the axis.
        axis: &'static str,
    },
    /// ROOT makes an axis infinitely long.
    #[error("ROOT makes the {axis} axis infinite")]
    InfiniteAxis {
        /// Letter of the axis.
        axis: &'static str,
    },
    /// A range is to be found from entries that are not finite.
    #[error("buffered entries from which the range of the {axis} axis would be found are not finite")]
    NotFinite {
        /// Letter of the axis.
        axis: &'static str,
    },
    /// A range was found that has no bins, or too many.
    #[error("a range of {bins} bins")]
    FoundBins {
        /// The number of bins.
        bins: i64,
    },
}

impl Error {
    /// Whether the object is damaged, rather than an operation unsupported.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Buffer { .. } | Self::BinCount { .. } | Self::MissingBin { .. } | Self::Lengths { .. }
        )
    }

    /// The member of the object that is damaged.
    #[must_use]
    pub const fn member(&self) -> Option<&'static str> {
        match self {
            Self::Buffer { .. } => Some("fBuffer"),
            Self::BinCount { member, .. } | Self::MissingBin { member, .. } => Some(member),
            _ => None,
        }
    }
}
