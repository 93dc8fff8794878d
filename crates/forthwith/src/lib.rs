//! forthwith reads scientific files into columns, at the speed of code that is compiled for their layout.
//!
//! Open a [`File`], take a [`Table`] from it, make a [`Plan`](plan::Plan) of fields and entries, and
//! [`read`](Table::read) it. The result is one [`Array`](columns::Array) per field: columns, and the Form
//! that describes them.
//!
//! ```no_run
//! let file = forthwith::File::open("events.root")?;
//! let events = file.table("events")?;
//! let wanted = [events.find("Muon_pt")?, events.find("MET_pt")?];
//! let plan = events.plan(&wanted, 0..events.entries()?)?;
//! for array in events.read(&plan, None, None)? {
//!     println!("{}:\n{}", array.form.type_string(), array.preview(0..3, 80));
//! }
//! # Ok::<(), forthwith::plan::Error>(())
//! ```
//!
//! The crates that forthwith is built from are public as modules: [`io`] (sources and sinks of bytes),
//! [`columns`] (arrays and their types), [`plan`] (the interfaces between crates), [`expr`] (expressions over
//! columns), [`program`] and [`forth`] (the language and its virtual machine), [`root`], [`avro`] and
//! [`parquet`] (file formats).
#![deny(missing_docs)]

mod around;
mod background;
mod chain;
#[cfg(any(
    feature = "arrow",
    feature = "avro",
    feature = "builders",
    feature = "csv",
    feature = "json",
    feature = "parquet",
    feature = "protobuf",
    feature = "root"
))]
#[cfg_attr(
    not(all(feature = "avro", feature = "parquet")),
    allow(dead_code, reason = "one of them has columns block by block, the other all columns in a block")
)]
mod check;
mod constants;
mod container;
mod cut;
mod diff;
mod field_names;
mod file;
pub mod files;
mod formats;
mod friend;
mod index;
mod merge;
mod options;
mod recover;
pub mod rows;
mod selection;
mod stats;
mod steps;
mod table;
mod write;

pub use around::{Loss, Salvage};
pub use background::Background;
pub use chain::{
    AlikeStep, AlikeSteps, Chain, ChainFile, ChainLoss, ChainOptions, ChainProjection, ChainRun,
    ChainSelected, ChainSelection, ChainStep, ChainSteps, Damage, Division, DivisionSchema, FileEntries,
    FileProjection, MissingColumns, PayloadStep, ProjectedField, ProjectionError, SchemaColumns,
    SchemaExpressions, SchemaOptions, Unlike,
};
pub use container::{AroundDamage, Container, DamagedPart, FileInfo, Gap, Key, Object, Recovery, Words};
pub use cut::Step;
pub use diff::{
    ColumnDiff, DamagedEntries, DiffOptions, DiffProgress, Difference, FileDiff, ObjectDiff,
    SummaryDifference, TableDiff, UnmatchedEntries, diff, diff_files, diff_objects, diff_sequences,
};
pub use file::File;
pub use formats::{Format, JsonRows, form_text, format, formats};
#[cfg(feature = "builders")]
pub use formats::{OwnBlock, OwnFormat, own_program, register, registered, replace, unregister};
pub use friend::Friend;
pub use index::index;
pub use merge::{EntryBounds, Merge, MergeProgress, Merged, PathFilter, merge};
pub use options::{OpenOptions, OptionKind, OptionSpec, OptionValue};
pub use recover::{
    LostColumn, LostEntries, LostObject, RecoverProgress, RecoverReport, RecoveredTable, recover,
};
pub use rows::{Row, Rows, Writer};
pub use selection::{SelectOptions, Selected, Selection, UnitedColumn};
pub use stats::{
    ColumnStats, Counted, FrequentValue, Quantile, StatsByColumn, StatsCache, StatsOptions, SummaryOf,
    TableStats, TableSummaries, sample_entries, stats, stats_by_column, summary_text,
};
pub use steps::Steps;
pub use table::{FieldRef, Table};
pub use write::{FileFormat, check_ending, create, writer};

#[cfg(feature = "avro")]
pub use forthwith_avro as avro;
#[cfg(feature = "builders")]
pub use forthwith_builders as builders;
pub use forthwith_columns as columns;
#[cfg(feature = "derive")]
pub use forthwith_derive::Row;
pub use forthwith_engine::{BlockThreads, Engine, Options, Progress, ProgressCallback, RawBlock};
pub use forthwith_expr as expr;
pub use forthwith_forth as forth;
#[cfg(feature = "root")]
pub use forthwith_hist as hist;
pub use forthwith_io as io;
#[cfg(feature = "parquet")]
pub use forthwith_parquet as parquet;
pub use forthwith_plan as plan;
pub use forthwith_program as program;
#[cfg(feature = "protobuf")]
pub use forthwith_protobuf as protobuf;
#[cfg(feature = "root")]
pub use forthwith_rntuple as rntuple;
#[cfg(feature = "root")]
pub use forthwith_ttree as ttree;

#[cfg(feature = "root")]
pub mod root {
    //! ROOT files: the container, its objects, and its trees.

    pub use crate::formats::extend_tree;
    pub use forthwith_root::{
        Array, Base, BasketHeader, Check, Checked, Counter, Cursor, Datime, Directory, DirectoryRecord,
        Element, ElementKind, EmbeddedBasket, Found, Frame, Header, Items, Key, Leftover, List, Object,
        Objects, Packed, Packing, Record, RecordGap, Records, Recovered, RootFile, Shape, StreamerInfo,
        Streamers, TObject, TableCheck, Tag, Value, Walker, check_record, code, decompress_blocks,
        decompress_record, efficiency, forget_class, histogram, histogram_error, prepare, register_class,
        register_unframed, text, write,
    };
    pub use forthwith_ttree::write::{
        ColumnOptions, Floats, Jagged, Nulls, Strings, TreeFile, TreeOptions, TreeWriter,
    };
    pub use forthwith_ttree::{Tree, TreeCheck, TreeFormat, TreeInfo};
}

/// Initializes process-wide state.
///
/// Call this before a process forks while its other threads read files or run programs. A thread that
/// initializes such state during the fork does not exist in the forked process, which would then wait for it
/// forever. The Python package calls it by itself. The first call takes about a millisecond; later calls do
/// nothing.
pub fn prepare() {
    forth::prepare();
    columns::prepare();
    formats().iter().for_each(|format| format.prepare());
}

/// Runs the examples of the guide's page on Rust as tests.
#[cfg(all(doctest, feature = "root"))]
#[doc = include_str!("../../../docs/guide/rust.md")]
struct Guide;

/// Runs the examples of the guide's page on event loops as tests.
#[cfg(all(doctest, feature = "root", feature = "derive"))]
#[doc = include_str!("../../../docs/guide/event-loop.md")]
struct EventLoop;
