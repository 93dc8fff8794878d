//! How a tree is written.

use forthwith_plan::{BlockRunner, Number, OneThread};
use forthwith_root::write::Compression;
use std::sync::Arc;

/// How to write a tree. Columns are as [`default`](Self::default_column) says, unless [`columns`](Self::columns) names them.
#[derive(Clone, Debug)]
pub struct TreeOptions {
    /// The tree's title.
    pub title: String,
    /// How columns are written that are not named below.
    pub default_column: ColumnOptions,
    /// How the columns of these names are written.
    pub columns: Vec<(String, ColumnOptions)>,
    /// Bytes of a cluster before they are compressed, about: all branches have a basket that ends with it.
    pub cluster_bytes: u64,
    /// Bytes of a basket before they are compressed, about: larger parts of a cluster are several baskets.
    pub basket_bytes: u64,
    /// Entries of a cluster, instead of a number that follows from its bytes.
    pub cluster_entries: Option<u64>,
    /// Titles of branches, by their names: without one a title says what the branch holds (`x[nx]/F`).
    pub titles: Vec<(String, String)>,
    /// Names of formulas.
    pub aliases: Vec<(String, String)>,
    /// What belongs to the tree: names and values.
    pub user_info: Vec<(String, UserInfo)>,
    /// The columns by which C++ ROOT finds entries (`TTree::GetEntryWithIndex`).
    pub index: Option<TreeIndex>,
    /// Whether names of branches may have slashes. Their leaves have underscores instead, and a number if another branch or leaf
    /// has that name. C++ ROOT reads and copies such trees, but
    /// `RDataFrame::Snapshot` writes zeros for their numbers.
    pub slashes: bool,
    /// Makes the baskets. By default the calling thread does.
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
    /// The options of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> &ColumnOptions {
        let own = self.columns.iter().find(|(column, _)| column == name);
        own.map_or(&self.default_column, |(_, options)| options)
    }
}

/// A value of a tree's user info.
#[derive(Clone, Debug, PartialEq)]
pub enum UserInfo {
    /// The title of a `TNamed`.
    Text(String),
    /// A `TParameter<Long64_t>`.
    Whole(i64),
    /// A `TParameter<double>`.
    Real(f64),
}

/// The columns of a `TTreeIndex`: whole numbers, one for each entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeIndex {
    /// The column that entries are found by.
    pub major: String,
    /// The minor number, which distinguishes entries with equal major numbers.
    pub minor: Option<String>,
}

/// How a column is written, where there is a choice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnOptions {
    /// Lists of numbers.
    pub jagged: Jagged,
    /// Records.
    pub records: Records,
    /// Text.
    pub strings: Strings,
    /// Missing values.
    pub nulls: Nulls,
    /// Floating-point numbers.
    pub floats: Floats,
    /// The name of the branch that counts the items of lists, instead of `n` and the name of the column. Columns with the same
    /// counter share it, and must have equally many items.
    pub counter: Option<String>,
    /// The codec and its level, instead of the file's.
    pub compression: Option<Compression>,
    /// Bytes of a basket before it is compressed, about, instead of those of the tree.
    pub basket_bytes: Option<u64>,
}

/// The branches of lists of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jagged {
    /// A branch `nx` that counts, and a leaf `x[nx]`.
    #[default]
    Counter,
    /// A branch of `std::vector`.
    Vector,
}

/// The branches of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// A branch for each field: `a.b` for a record, `a_b` for a list of records.
    #[default]
    Flat,
    /// The branches of a divided object of a class, with streamer info.
    Class,
}

/// The branches of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strings {
    /// `std::string`.
    #[default]
    Object,
    /// A leaf of characters (`x/C`). Text with NUL in it is refused: it would end there.
    Characters,
}

/// The treatment of missing values, which trees have no way to write.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Nulls {
    /// They are refused when they come. A column that might have some, and has none, is written.
    #[default]
    Refused,
    /// Numbers are this one, which their type has to have; lists and text are empty.
    Filled(Number),
}

/// How floating-point numbers are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Floats {
    /// As they are.
    #[default]
    Whole,
    /// As `Double32_t`: numbers of 8 bytes in 4, or packed.
    Double32(Packing),
    /// As `Float16_t`: in 3 bytes with 12 bits of mantissa, or packed otherwise.
    Float16(Packing),
}

/// How numbers are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Packing {
    /// As their type says.
    #[default]
    Usual,
    /// In 3 bytes, with as many bits of mantissa (`[0,0,bits]`).
    Mantissa {
        /// Bits, 2 to 14.
        bits: u32,
    },
    /// As a fraction of a range, in bits that are stored in 4 bytes (`[min,max,bits]`). Values beyond saturate.
    Range {
        /// The smallest value.
        min: f64,
        /// The largest value.
        max: f64,
        /// Bits, 2 to 32.
        bits: u32,
    },
}
