//! The extension module `forthwith._forthwith`: bindings to the façade crate.
//!
//! The public interface is written in Python on top of it. The bindings consist of objects of the façade as
//! frozen classes, buffers by their address (`array::Buffer`), Arrow data as capsules (`arrow`) and errors as
//! exceptions of `forthwith._errors` (`errors`). The interpreter is released for every call that reads or
//! computes (`handle::Handle::run`); code that needs it meanwhile, such as a Python file object or a progress
//! callback, attaches for the duration of the call.

mod array;
mod arrow;
mod batch_reader;
mod builders;
mod chain;
mod chain_reader;
mod column_form;
mod command;
mod description;
mod desk;
mod empty;
mod errors;
mod file;
mod files;
mod formats;
mod forth;
mod gate;
mod give;
mod given;
mod handle;
mod held;
mod layout;
mod object;
mod read;
mod rows;
mod selection;
mod summaries;
mod table;
mod taken;
mod write;

use pyo3::prelude::*;

/// The compiled part of forthwith.
#[pymodule(gil_used = false)]
mod _forthwith {
    #[pymodule_export]
    use crate::{
        array::{Array, Buffer},
        batch_reader::BatchReader,
        builders::{ArrayBuilder, Layout, TypedArrayBuilder, found_rows, from_iter},
        chain::{count_entries, divide_alike, read_alike, read_schemas, same_schemas},
        chain_reader::ChainReader,
        column_form::ColumnForm,
        command::{command, safe_lines, safe_text},
        description::{ColumnType, Description},
        desk::Desk,
        file::{File, Key},
        files::{expand_files, expand_stored, make_index, partitions, redact, split_name},
        forth::{Items, Machine},
        give::give_all,
        given::{Given, GivenBatches},
        rows::rows_of,
        selection::{Selection, expression_names},
        summaries::{diff_files, diff_tables, summaries},
        table::{Block, Field, Fields, Plan, RawBlock, Table, Zones},
        write::TableWriter,
    };
    use pyo3::{prelude::*, types::IntoPyDict};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::formats::add_to(module)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        let os = module.py().import("os")?;
        if os.hasattr("register_at_fork")? {
            let prepare = wrap_pyfunction!(prepare, module)?;
            os.call_method("register_at_fork", (), Some(&[("before", prepare)].into_py_dict(module.py())?))?;
        }
        // The Python package warns at import if this is `False`.
        module.add("optimised", !cfg!(debug_assertions))
    }

    /// Called before a fork. It completes the initialisation of statics, which another thread might be in the
    /// middle of.
    #[pyfunction]
    fn prepare(py: Python<'_>) {
        py.detach(forthwith::prepare);
    }
}
