//! Options for writing a tree.

use forthwith_plan::{BlockRunner, Number, OneThread};
use forthwith_root::write::Compression;
use std::sync::Arc;

/// Options for writing a tree. [`default_column`](Self::default_column) applies to columns that
/// [`columns`](Self::columns) does not name.
#[derive(Clone, Debug)]
pub struct TreeOptions {
    /// Title of the tree.
    pub title: String,
    /// Options of all other columns.
    pub default_column: ColumnOptions,
    /// Options of columns, by name.
    pub columns: Vec<(String, ColumnOptions)>,
    /// Approximate size of a cluster before compression, in bytes. A basket of each branch ends with the
    /// cluster.
    pub cluster_bytes: u64,
    /// Approximate size of a basket before compression, in bytes. A larger part of a cluster is divided into
    /// several baskets.
    pub basket_bytes: u64,
    /// Number of entries in a cluster, instead of one computed from its size.
    pub cluster_entries: Option<u64>,
    /// Titles of branches, by name. By default, a title describes the type of the branch (`x[nx]/F`).
    pub titles: Vec<(String, String)>,
    /// Aliases: names of formulas, with the formulas.
    pub aliases: Vec<(String, String)>,
    /// User info of the tree: names with values.
    pub user_info: Vec<(String, UserInfo)>,
    /// Columns by which C++ ROOT finds entries (`TTree::GetEntryWithIndex`).
    pub index: Option<TreeIndex>,
    /// Whether names of branches may have slashes. Their leaves have underscores instead, and a number if
    /// another branch or leaf has that name. C++ ROOT reads and copies such trees, but `RDataFrame::Snapshot`
    /// writes zeros for their numbers.
    pub slashes: bool,
    /// Runs the building of baskets. By default it runs on the calling thread.
    pub runner: Arc<dyn BlockRunner>,
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self {
            title: String::new(),
            default_column: ColumnOptions::default(),
            columns: Vec::new(),
            cluster_bytes: 32 << 20,
            basket_bytes: 512 << 10,
            cluster_entries: None,
            titles: Vec::new(),
            aliases: Vec::new(),
            user_info: Vec::new(),
            index: None,
            slashes: false,
            runner: Arc::new(OneThread::default()),
        }
    }
}

impl TreeOptions {
    /// Returns the options of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> &ColumnOptions {
        let own = self.columns.iter().find(|(column, _)| column == name);
        own.map_or(&self.default_column, |(_, options)| options)
    }
}

/// Value in a tree's user info.
#[derive(Clone, Debug, PartialEq)]
pub enum UserInfo {
    /// Title of a `TNamed`.
    Text(String),
    /// A `TParameter<Long64_t>`.
    Whole(i64),
    /// A `TParameter<double>`.
    Real(f64),
}

/// Columns of a `TTreeIndex`, each with one integer for each entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeIndex {
    /// Column of the major number, by which entries are found.
    pub major: String,
    /// Column of the minor number, which distinguishes entries with equal major numbers.
    pub minor: Option<String>,
}

/// Options for writing a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnOptions {
    /// Storage of lists of numbers.
    pub jagged: Jagged,
    /// Storage of records.
    pub records: Records,
    /// Storage of text.
    pub strings: Strings,
    /// Treatment of missing values.
    pub nulls: Nulls,
    /// Storage of floating-point numbers.
    pub floats: Floats,
    /// Name of the branch that counts the items of lists; by default, `n` and the name of the column. Columns
    /// with the same counter share it, and their lists must have equal lengths.
    pub counter: Option<String>,
    /// Codec and level, instead of those of the file.
    pub compression: Option<Compression>,
    /// Approximate size of a basket before compression in bytes, instead of that of the tree.
    pub basket_bytes: Option<u64>,
}

/// Storage of lists of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jagged {
    /// A branch `nx` with the counts, and a leaf `x[nx]`.
    #[default]
    Counter,
    /// A branch of `std::vector`.
    Vector,
}

/// Storage of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// A branch for each field: `a.b` for a record, `a_b` for a list of records.
    #[default]
    Flat,
    /// A split object of a class, with streamer info.
    Class,
}

/// Storage of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strings {
    /// `std::string`.
    #[default]
    Object,
    /// A leaf of characters (`x/C`), which end at a NUL. Text that contains a NUL is an error.
    Characters,
}

/// Treatment of missing values, which trees cannot store.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Nulls {
    /// A missing value is an error. A column of optional type without missing values is written.
    #[default]
    Refused,
    /// Numbers are replaced by this one, which their type must contain; lists and text are empty.
    Filled(Number),
}

/// Storage of floating-point numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Floats {
    /// Unpacked.
    #[default]
    Whole,
    /// As `Double32_t`: 8-byte numbers in 4 bytes, or packed.
    Double32(Packing),
    /// As `Float16_t`: in 3 bytes with a mantissa of 12 bits, or packed otherwise.
    Float16(Packing),
}

/// Packing of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Packing {
    /// Default of the type.
    #[default]
    Usual,
    /// In 3 bytes, with a mantissa of this number of bits (`[0,0,bits]`).
    Mantissa {
        /// Number of bits, 2 to 14.
        bits: u32,
    },
    /// As a fraction of a range, in a number of bits that is stored in 4 bytes (`[min,max,bits]`). Values
    /// outside saturate.
    Range {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Number of bits, 2 to 32.
        bits: u32,
    },
}
