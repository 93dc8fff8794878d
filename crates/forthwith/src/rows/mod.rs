//! Typed rows: entries of a table as Rust structs.
//!
//! `#[derive(forthwith::Row)]` implements [`Row`] for a struct. [`Table::rows`](crate::Table::rows) compares
//! the struct with the table before it reads, and then yields entries as such structs. Fields that borrow,
//! such as `&[f32]`, point into the columns of the batch, so that entries need no allocation.
//!
//! ```
//! use forthwith::{Row, rows::List};
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
//!
//! #[derive(Row)]
//! struct Muon {
//!     pt: f32,
//!     eta: f32,
//! }
//!
//! #[derive(Row)]
//! struct Event<'a> {
//!     #[row(name = "MET_pt")]
//!     met: f32,
//!     #[row(prefix = "Muon_", count = "nMuon")]
//!     muons: List<'a, Muon>,
//! }
//!
//! let events = forthwith::File::open(format!("{folder}/zmumu.root"))?.table("events")?;
//! let mut central = 0;
//! events.rows::<Event>()?.for_each(|event| {
//!     central += event.muons.iter().filter(|muon| muon.eta.abs() < 1.0 && muon.pt > event.met).count();
//! })?;
//! assert!(central > 0);
//! # Ok::<(), forthwith::plan::Error>(())
//! ```
//!
//! # Types of fields
//!
//! | field | column |
//! | --- | --- |
//! | `f32`, `i64`, …, `bool` | numbers of this type, or of a type that converts to it exactly |
//! | `Option<T>` | values that may be missing, and columns without missing values |
//! | `&str`, `String`, `&[u8]` | text, also of categories; byte strings |
//! | `[T; N]` | lists of one fixed length |
//! | `&[f32]` | lists of numbers of exactly this type, of any length |
//! | [`List<'_, T>`](List), `Vec<T>` | lists of anything else: records, texts, lists. `Vec` allocates |
//! | [`Nested<'_, f32>`](Nested) | lists of lists of numbers |
//! | a struct that is a row | records |
//! | an enum of variants with one field each | unions: each alternative is the first variant that fits |
//! | [`Date`], [`Timestamp`], [`Time`], [`Decimal`] | these logical types |
//! | [`Be<f32>`](Be), [`Le<f32>`](Le) | numbers as the file stores them, decoded where they are used |
//!
//! # Attributes
//!
//! | attribute | meaning |
//! | --- | --- |
//! | `#[row(name = "a.b")]` | the column's name, if it is not the field's: paths as [`Table::find`](crate::Table::find) takes them |
//! | `#[row(default)]` | a column that the table lacks, and a missing value, is `Default::default()` |
//! | `#[row(prefix = "Muon_")]` | the field's own fields are columns of these names: of lists for `List` and `Vec` |
//! | `#[row(count = "nMuon")]` | besides a prefix: the column that has the lengths of the lists, which are compared with it |

mod batch;
mod bounds;
mod check;
mod compare;
mod field_values;
mod fields;
mod fold;
mod held;
mod list;
mod logical;
mod number;
mod optional;
mod raw;
mod reader;
mod readers;
mod source;
mod step_stream;
mod text;
mod value;
mod view;
mod writer;

pub use batch::{Batch, BatchRows, Batches};
pub use check::{Check, FieldCheck};
pub use compare::fits;
pub use fields::{FieldArrays, FieldWriter};
pub use list::{List, ListBuilder, ListView, Nested};
pub use logical::{Date, Decimal, DecimalView, Micro, Milli, Nano, Time, TimeScale, Timestamp};
pub use number::TruthView;
pub use optional::{DefaultView, OptionBuilder, OptionView, UnionBuilder, UnionView, VariantFits};
pub use raw::{Be, Le, RawNumber, RawView};
pub use reader::Rows;
pub use source::{RawOrder, RowColumn, RowOptions, RowSource, RowSteps, StepReader};
pub use text::TextView;
pub use value::{Prefixed, Row, Value};
pub use view::NumberView;
pub use writer::Writer;
