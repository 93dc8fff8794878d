//! RNTuple, ROOT's columnar tables.
//!
//! An [`Ntuple`] has a header and a footer, which describe fields and columns, and page lists, which are read
//! when entries of their clusters are needed. It is a [`Dataset`](forthwith_plan::Dataset) whose blocks are
//! pages: each column of a field is a group of the plan, each page is a task, and the engine combines the
//! columns of a field. [`NtupleFormat`] decodes pages.
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
//! `form.rs` maps a field to a Form and the *parts* that fill it, one for each column: numbers, the ends of
//! lists, the tags of variants. A part below a list counts its elements by the items of that list, rather
//! than by entries (`Group::items`). `planner.rs` determines the elements of the requested entries. For a
//! complete cluster, these follow from the page list; for a part of a cluster, the pages with the ends of its
//! first and last lists are read. So a plan has only pages that are needed, and the number of items of each
//! is known: a task reserves its range of the columns before it decodes, and decodes into it.
//!
//! * Ends of lists count from the cluster's first item. The planner knows the number of items before the
//!   cluster, so that a page becomes offsets in a single pass. Decoding verifies that the ends do not
//!   decrease within and between pages, and that the last list of a cluster ends with the last item.
//! * A column has one or several representations, one of which each cluster uses. Elements that a column
//!   lacks because it was added later are tasks without bytes, which yield zeros.
//! * All encodings restart with each page.
//! * Objects of streamed fields are read by programs, as in trees; `streamed.rs` collects their bytes.
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
