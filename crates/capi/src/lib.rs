//! C interface of forthwith: files, tables and columns for C11, C++ and every language that calls C.
//!
//! The header `include/forthwith.h` is generated from these sources by cbindgen. It documents each function,
//! the ownership of its arguments and results, and its thread safety. Four rules apply everywhere:
//!
//! * A function that can fail returns a [`Status`]; [`forthwith_last_error`] returns the message of the last
//!   failure in the calling thread.
//! * A null pointer, a name that is not UTF-8 and an unknown option are errors. Using a freed handle is
//!   undefined behaviour, as everywhere in C.
//! * A panic does not cross the boundary: it becomes [`Status::Internal`].
//! * The caller owns the value in `*out`, and frees it with the function of its type. After a failure, a
//!   handle in it is null, and so is the `release` of an Arrow structure.
//!
//! All unsafe code dereferences pointers of the caller, in `pointer.rs` or through its functions.
#![allow(unsafe_code)] // the interface consists of pointers of the caller
#![deny(missing_docs)]

mod batch;
mod file;
mod names;
mod options;
mod pointer;
mod selection;
mod status;
mod steps;
mod stream;
mod table;

pub use batch::{
    BatchHandle, Column, ColumnKind, NumberType, forthwith_batch_arrow, forthwith_batch_column,
    forthwith_batch_free, forthwith_batch_kept, forthwith_batch_range, forthwith_batch_rows,
};
pub use file::{
    FileHandle, forthwith_file_format, forthwith_file_free, forthwith_file_keys, forthwith_file_tables,
    forthwith_open,
};
pub use names::{
    NameList, forthwith_names_count, forthwith_names_free, forthwith_names_name, forthwith_names_type,
};
pub use selection::{
    SelectionHandle, forthwith_select, forthwith_selection_free, forthwith_selection_schema,
};
pub use status::{Status, forthwith_last_error, forthwith_version};
pub use steps::{
    BatchCallback, StepsHandle, forthwith_for_each, forthwith_steps, forthwith_steps_free,
    forthwith_steps_next,
};
pub use stream::forthwith_selection_stream;
pub use table::{
    TableHandle, forthwith_chain, forthwith_table, forthwith_table_columns, forthwith_table_entries,
    forthwith_table_free,
};
