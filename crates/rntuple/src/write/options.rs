//! How ntuples are written.

use forthwith_plan::{BlockRunner, Number};
use forthwith_root::write::{Algorithm, Compression};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Upper bound on the uncompressed size of a page in bytes (ROOT: `MaxUnzippedPageSize`).
pub const DEFAULT_PAGE: usize = 1 << 20;

/// Target compressed size of a cluster in bytes (ROOT: `ApproxZippedClusterSize`).
pub const DEFAULT_CLUSTER: u64 = 128 << 20;

/// Upper bound on the uncompressed size of a cluster, as a multiple of its target compressed size (ROOT:
/// `MaxUnzippedClusterSize` is ten times `ApproxZippedClusterSize`).
pub(crate) const UNCOMPRESSED_CLUSTERS: u64 = 10;

/// How to write an ntuple.
#[derive(Clone, Debug)]
pub struct NtupleOptions {
    /// The description of the ntuple in the header.
    pub description: String,
    /// How pages and envelopes are compressed. Numbers of pages that are compressed are stored in planes of
    /// bytes.
    pub compression: Compression,
    /// Upper bound on the uncompressed size of a page in bytes, at most a gigabyte.
    pub page_bytes: usize,
    /// Target compressed size of a cluster in bytes.
    pub cluster_bytes: u64,
    /// Upper bound on the entries of a cluster.
    pub cluster_entries: u64,
    /// Whether dates, times and lengths of time are written as the whole numbers that they are kept as,
    /// instead of being refused.
    pub times_as_integers: bool,
    /// Whether arrays of truths are written as `std::bitset`.
    pub bitsets: bool,
    /// Whether classes of records keep the names of the records, rather than generated ones. ROOT prefers its own dictionary
    /// of a class with that name.
    pub class_names: bool,
    /// Fields that show other ones: a name, and the path of the field, `jets.pt`, or `#jets` for the lengths
    /// of its lists.
    pub projections: Vec<(String, String)>,
    /// The value in the place of missing ones, as [`FieldOptions::nulls`].
    pub nulls: Option<Number>,
    /// How single fields are written, by their paths: `jets.pt`, where the items of lists have no name.
    pub fields: BTreeMap<String, FieldOptions>,
    /// The runner that encodes and compresses pages, if that is not the calling thread.
    pub runner: Option<Arc<dyn BlockRunner>>,
}

impl Default for NtupleOptions {
    fn default() -> Self {
        Self {
            description: String::new(),
            compression: Compression::of(Algorithm::Zstd),
            page_bytes: DEFAULT_PAGE,
            cluster_bytes: DEFAULT_CLUSTER,
            cluster_entries: u64::MAX,
            times_as_integers: false,
            bitsets: false,
            class_names: false,
            projections: Vec::new(),
            nulls: None,
            fields: BTreeMap::new(),
            runner: None,
        }
    }
}

/// Options of one field. Unset options are those of the parent field, or of the ntuple.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldOptions {
    /// The description of the field in the file.
    pub description: String,
    /// How its pages are compressed, and those of the fields below.
    pub compression: Option<Compression>,
    /// How its floating-point numbers are stored, and those of the fields below.
    pub floats: Option<Floats>,
    /// Sentinel for missing values of the field and its children, in place of `std::optional`: this number, converted to
    /// their type, and empty lists and strings.
    pub nulls: Option<Number>,
}

/// How floating-point numbers are stored. Readers see their type unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Floats {
    /// With all their bits.
    Whole,
    /// With 32 bits (`Real32`).
    Single,
    /// With 16 bits (`Real16`).
    Half,
    /// With the upper bits of 32: 10 to 31 of them (`Real32Trunc`).
    Truncated {
        /// The number of bits.
        bits: u16,
    },
    /// As the nearest of the steps into which a range is divided by this number of bits, 1 to 32 (`Real32Quant`).
    /// Numbers outside of it are refused.
    Quantised {
        /// The number of bits.
        bits: u16,
        /// The least number.
        low: f64,
        /// The largest number.
        high: f64,
    },
}

impl Floats {
    /// Why these cannot be.
    pub(crate) fn refusal(self) -> Option<String> {
        match self {
            Self::Truncated { bits } if !(10..=31).contains(&bits) => {
                Some(format!("{bits} bits of truncated floats: there can be 10 to 31"))
            }
            Self::Quantised { bits, .. } if !(1..=32).contains(&bits) => {
                Some(format!("{bits} bits of quantised floats: there can be 1 to 32"))
            }
            Self::Quantised { low, high, .. } if !(low < high && (high - low).is_finite()) => {
                Some(format!("quantised floats from {low} to {high}"))
            }
            _ => None,
        }
    }
}
