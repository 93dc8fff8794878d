//! RNTuple, ROOT's columnar tables: pages to columns.
//!
//! An [`Ntuple`] is a header and a footer, which describe fields and columns, and page lists, which are read when
//! entries of their clusters are asked for. It is a [`Dataset`](forthwith_plan::Dataset) whose blocks are pages:
//! each column of a field is a group of the plan, a task is one page, and the engine joins the columns of a field.
//! [`NtupleFormat`] decodes pages.
//!
//! ```
//! use forthwith_plan::Dataset;
//! use forthwith_rntuple::{Ntuple, Options};
//! use forthwith_root::RootFile;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/ntuple.root");
//! let file = RootFile::open(forthwith_io::open(path)?)?;
//! let ntuple = Ntuple::open(&file, &file.find("ntuple")?, Options::default())?;
//! assert_eq!(ntuple.entries()?, 10);
//! for (number, field) in ntuple.fields()?.iter().enumerate() {
//!     println!("{}: {}", field.path, ntuple.describe(number as u32)?.type_name);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! # How a field is read
//!
//! `form.rs` makes a Form of a field and the *parts* that fill it, one for each column: numbers, the ends of lists,
//! the tags of variants. A part below a list counts its elements by the items of that list, and not by entries
//! (`Group::items`). `planner.rs` finds out which elements belong to the entries asked for. In a cluster that is
//! wanted as a whole that is known from the page list; where a range of entries begins or ends within a cluster, the
//! pages with the ends of its first and last lists are read. So a plan has no page that is not needed, and knows of
//! each page how many items it delivers: a task takes its places before it decodes, straight into them.
//!
//! * Ends of lists are counted from the cluster's first item. The planner knows what is before the cluster, so a page
//!   becomes offsets without another pass. That the last list of a cluster ends with the last item, and that lists
//!   do not fall within pages and between them, is verified while they are decoded.
//! * A column has one representation or several, of which each cluster uses one. Elements that a column lacks
//!   because it was added later are tasks without bytes, which deliver zeros.
//! * All encodings begin anew with each page.
//! * Objects of streamed fields are read by programs, as those of trees; `streamed.rs` puts their bytes together.
#![deny(missing_docs)]

mod anchor;
mod blob;
mod check;
mod coding;
mod dataset;
mod decode;
mod descriptor;
mod footer;
mod form;
mod format;
mod frame;
mod lost_anchor;
mod ntuple;
mod numbers;
mod objects;
mod offset_columns;
mod page_note;
mod pages;
mod planner;
mod schema;
mod streamed;
mod write;

pub use check::NtupleCheck;
pub use descriptor::{
    ClusterDescriptor, ColumnDescriptor, Descriptor, FieldDescriptor, GroupDescriptor, PagesDescriptor,
};
pub use format::NtupleFormat;
pub use lost_anchor::{LostAnchor, lost_anchors};
pub use ntuple::{Ntuple, Options};
pub use write::{
    DEFAULT_CLUSTER, DEFAULT_PAGE, FieldOptions, Floats, NtupleCopy, NtupleOptions, NtupleTable, NtupleWriter,
};
