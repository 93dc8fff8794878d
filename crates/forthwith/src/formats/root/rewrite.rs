//! Rewriting tables of a file as trees or RNTuples, while other objects are copied.

use super::NTUPLE;
use crate::{File, PathFilter, Step};
use forthwith_columns::{Array, Form};
use forthwith_engine::{BlockThreads, Engine, Options};
use forthwith_plan::{Error, Result};
use forthwith_rntuple::{NtupleOptions, NtupleWriter};
use forthwith_root::{
    Found, RootFile,
    write::{Compression, FileWriter},
};
use forthwith_ttree::write::{TreeOptions, TreeWriter};
use std::sync::Arc;

/// Bytes of arrays in one step.
const STEP: u64 = 8 << 20;

/// Settings of rewriting a table.
pub(super) struct Rewriting<'a> {
    /// Kind of table: `tree` or `ntuple`.
    pub(super) kind: &'a str,
    /// Filter of the columns by path; all if `None`.
    pub(super) columns: Option<&'a PathFilter>,
    pub(super) compression: Option<Compression>,
    pub(super) threads: usize,
}

enum Writer {
    Tree(Box<TreeWriter>),
    Ntuple(Box<NtupleWriter>),
}

/// Reads a table of a file and writes it to another file, at the same path and with the same title. Returns
/// the number of entries.
///
/// # Errors
/// Returns an error, with the column, if it cannot be read or written, and the errors of `progress`.
pub(super) fn rewrite(
    input: &RootFile,
    found: &Found,
    to: &mut FileWriter,
    how: &Rewriting<'_>,
    progress: &mut dyn FnMut() -> Result<()>,
) -> Result<u64> {
    let engine = Arc::new(Engine::new(Options::with_threads(how.threads)));
    let file = File::from_source(Arc::clone(input.source()), engine)?;
    let table = file.table(&format!("{};{}", found.path, found.key.cycle))?;
    let fields = (0..).zip(table.fields()?).filter(|(_, field)| field.has_data && !field.is_part);
    let fields = fields.filter(|(_, field)| how.columns.is_none_or(|columns| columns(&field.path)));
    let (mut indices, mut columns): (Vec<u32>, Vec<(String, Form)>) = (Vec::new(), Vec::new());
    for (index, field) in fields {
        indices.push(index);
        columns.push((field.path.clone(), table.form(index).map_err(|error| error.in_object(&field.path))?));
    }
    let place = |error: Error| error.in_file(input.uri()).in_object(&found.path);
    let mut writer = begin(to, found, how, &columns).map_err(place)?;
    if !indices.is_empty() {
        for step in table.steps(&indices, .., Step::Bytes(STEP))? {
            writer.extend(to, &step?.arrays).map_err(place)?;
            progress()?;
        }
    }
    writer.finish(to).map_err(place)
}

fn begin(
    to: &mut FileWriter,
    found: &Found,
    how: &Rewriting<'_>,
    columns: &[(String, Form)],
) -> Result<Writer> {
    let title = found.key.title.to_string();
    if how.kind == NTUPLE {
        let defaults = NtupleOptions::default();
        let options = NtupleOptions {
            description: title,
            compression: how.compression.unwrap_or(defaults.compression),
            runner: Some(Arc::new(BlockThreads::new(how.threads))),
            ..defaults
        };
        return Ok(Writer::Ntuple(Box::new(NtupleWriter::new(to, &found.path, columns, options)?)));
    }
    let options =
        TreeOptions { title, runner: Arc::new(BlockThreads::new(how.threads)), ..TreeOptions::default() };
    Ok(Writer::Tree(Box::new(TreeWriter::new(to, &found.path, columns, options)?)))
}

impl Writer {
    fn extend(&mut self, to: &mut FileWriter, arrays: &[Array]) -> Result<()> {
        match self {
            Self::Tree(writer) => writer.extend(to, arrays),
            Self::Ntuple(writer) => writer.extend(to, arrays),
        }
    }

    fn finish(self, to: &mut FileWriter) -> Result<u64> {
        match self {
            Self::Tree(writer) => writer.finish(to),
            Self::Ntuple(writer) => writer.finish(to),
        }
    }
}
