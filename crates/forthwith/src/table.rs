//! A table of a file: fields and entries.

use crate::{File, Step, format, steps};
use forthwith_columns::Array;
use forthwith_engine::{RawBlock, Tick};
use forthwith_plan::{Dataset, Description, Error, ErrorKind, Field, Plan, Result};
use forthwith_root::{Tree, near};
use std::{ops::Range, sync::Arc};

/// A tree. Metadata only; branches are looked at when asked for. Cheap to clone, shared between threads as it is.
#[derive(Clone)]
pub struct Table {
    file: File,
    tree: Arc<Tree>,
}

impl Table {
    pub(crate) fn new(file: File, tree: Tree) -> Self {
        Self { file, tree: Arc::new(tree) }
    }

    /// The file it is in.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The path in the file.
    #[must_use]
    pub fn path(&self) -> &str {
        self.tree.object()
    }

    /// The format's own view.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Number of entries.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.tree.entries()
    }

    /// All fields in the file's order, parents before their children.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn fields(&self) -> Result<&[Field]> {
        self.here(self.tree.fields())
    }

    /// A field by its path, `a/a.b`, or by its own name if only one has it. Where a file repeats a path, the first one.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) with the most similar names.
    pub fn find(&self, name: &str) -> Result<u32> {
        let fields = self.fields()?;
        if let Some(at) = fields.iter().position(|f| f.path == name) {
            return Ok(at as u32);
        }
        let mut named = fields.iter().enumerate().filter(|(_, f)| f.name == name);
        if let (Some((at, _)), None) = (named.next(), named.next()) {
            return Ok(at as u32);
        }
        let paths = fields.iter().filter(|f| f.name == name).map(|f| f.path.clone());
        let mut similar: Vec<String> = paths.take(3).collect();
        if similar.is_empty() {
            similar =
                near(name, fields.iter().map(|f| f.path.as_str())).iter().map(|s| s.to_string()).collect();
        }
        self.here(Err(Error::new(ErrorKind::NotFound {
            what: "branch",
            name: name.to_owned(),
            near: similar,
        })))
    }

    /// How a field is read, or why it cannot be.
    ///
    /// # Errors
    /// Damaged metadata, or no such field.
    pub fn describe(&self, field: u32) -> Result<Description> {
        self.here(self.tree.describe(field))
    }

    /// What it takes to read these fields for these entries.
    ///
    /// # Errors
    /// A field that is not supported, by its type; entries the table or a field does not have; damaged metadata.
    pub fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        self.here(self.tree.plan(fields, entries))
    }

    /// Reads a plan: one array for each field it was made for, in that order. `threads` overrides the engine's number; `tick` is
    /// called on this thread from time to time and stops the work by answering `false`.
    ///
    /// # Errors
    /// Whatever is wrong with the data, with file, branch, basket, entry and byte; [`ErrorKind::Cancelled`].
    pub fn read(
        &self,
        plan: &Plan,
        threads: Option<usize>,
        tick: Option<&mut Tick<'_>>,
    ) -> Result<Vec<Array>> {
        self.file.engine().read(plan, self.file.root().source(), format(&plan.format)?, threads, tick)
    }

    /// One of a plan's blocks, decompressed and not decoded.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn raw(&self, plan: &Plan, task: usize) -> Result<RawBlock> {
        self.file.engine().raw(plan, task, self.file.root().source(), format(&plan.format)?)
    }

    /// Cuts a range of entries into steps of a number of entries, or of about so many bytes in memory ending where blocks end.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn steps(&self, fields: &[u32], entries: Range<u64>, step: Step) -> Result<Vec<Range<u64>>> {
        self.here(steps::steps(self.tree.as_ref(), fields, entries, step))
    }

    fn here<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|e| e.in_file(self.file.uri()).in_object(self.path()))
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("file", &self.file.uri())
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}
