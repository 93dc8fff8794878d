//! How ntuples are written.

use forthwith_plan::BlockRunner;
use forthwith_root::write::{Algorithm, Compression};
use std::sync::Arc;

/// Bytes that numbers of a page take in memory at most, as ROOT has it (`MaxUnzippedPageSize`).
pub const DEFAULT_PAGE: usize = 1 << 20;

/// Bytes that a cluster is to take in the file, as ROOT has it (`ApproxZippedClusterSize`).
pub const DEFAULT_CLUSTER: u64 = 128 << 20;

/// Bytes of numbers that end a cluster whatever they would be compressed to, in clusters: ROOT's `MaxUnzippedClusterSize` is ten times the
/// size of a cluster.
pub(crate) const UNCOMPRESSED_CLUSTERS: u64 = 10;

/// How to write an ntuple.
#[derive(Clone, Debug)]
pub struct NtupleOptions {
    /// What the header says of the ntuple.
    pub description: String,
    /// How pages and envelopes are compressed. Numbers of pages that are compressed are stored in planes of bytes.
    pub compression: Compression,
    /// Bytes of a page's numbers in memory at most; not more than a gigabyte.
    pub page_bytes: usize,
    /// Bytes that a cluster is to take in the file.
    pub cluster_bytes: u64,
    /// Entries of a cluster at most.
    pub cluster_entries: u64,
    /// Whether dates, times and lengths of time are written as the whole numbers that they are kept as, instead of being refused.
    pub times_as_integers: bool,
    /// Whether arrays of truths are written as `std::bitset`.
    pub bitsets: bool,
    /// Whether records that need a class get the name that they have, instead of one that is made up. ROOT follows its own description of a
    /// class of that name if there is one.
    pub class_names: bool,
    /// Fields that show other ones: a name, and the path of the field, `jets.pt`, or `#jets` for the lengths of its lists.
    pub projections: Vec<(String, String)>,
    /// Who encodes and compresses pages, if that is not the calling thread.
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
            runner: None,
        }
    }
}
