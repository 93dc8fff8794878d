//! Writes trees: Forms become branches, and arrays baskets.
//!
//! A [`TreeWriter`] has columns with names and Forms. `mapping` maps them to branches, `values` encodes the
//! entries of a branch (`encoded_entries` by the layout that reads them), and `cut` computes the boundaries
//! of baskets and clusters. `baskets` builds baskets on the threads of the
//! [`BlockRunner`](forthwith_plan::BlockRunner) of the options; `record` describes the tree when it is
//! finished. `grow` opens an existing tree, and `derive` finds its columns. The file is an argument of each
//! call, so that several tables can be written to one file.
//!
//! ```
//! use forthwith_columns::{Array, Column, DType, Form};
//! use forthwith_io::{Memory, MemorySink};
//! use forthwith_plan::Dataset;
//! use forthwith_root::{RootFile, write::{FileSettings, FileWriter}};
//! use forthwith_ttree::{Tree, write::{TreeOptions, TreeWriter}};
//! use std::sync::Arc;
//!
//! let numbers = Form::Numpy { key: "n".into(), dtype: DType::Float32, shape: vec![] };
//! let lists = Form::List { key: "l".into(), content: Box::new(numbers) };
//! let columns = [("pt".to_owned(), lists.clone())];
//! let step = Array {
//!     form: lists,
//!     length: 3,
//!     columns: vec![
//!         ("l-offsets".into(), Column::from_slice(&[0i64, 2, 2, 3])),
//!         ("n-data".into(), Column::from_slice(&[1.5f32, 2.5, 3.5])),
//!     ],
//! };
//!
//! let sink = MemorySink::new("example.root");
//! let mut file = FileWriter::create(Box::new(sink.clone()), FileSettings::default())?;
//! let mut tree = TreeWriter::new(&mut file, "events", &columns, TreeOptions::default())?;
//! tree.extend(&mut file, &[step])?;
//! tree.finish(&mut file)?;
//! file.finish()?;
//!
//! let bytes = sink.bytes().unwrap_or_default();
//! let file = RootFile::open(Arc::new(Memory::new("example.root", bytes)))?;
//! let tree = Tree::open(&file, "events")?;
//! assert_eq!(tree.entries()?, 3);
//! let names: Vec<_> = tree.fields()?.iter().map(|field| field.name.as_str()).collect();
//! assert_eq!(names, ["npt", "pt"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod announced;
mod baskets;
mod branch;
mod classes;
mod counters;
mod cut;
mod derive;
mod encoded_entries;
mod entries;
mod file;
mod floats;
mod grow;
mod index;
mod mapping;
mod names;
mod offsets;
mod options;
mod record;
mod sink;
mod spelling;
mod values;
mod without_nulls;

pub use file::TreeFile;
pub use options::{
    ColumnOptions, Floats, Jagged, Nulls, Packing, Records, Strings, TreeIndex, TreeOptions, UserInfo,
};

use crate::copy::{Grown, basket_text};
use announced::{adapted, alike};
use baskets::{BasketBranch, Piece, Work};
use cut::{Cuts, Sizes, basket_room, within};
use entries::Entries;
use forthwith_columns::{Array, Form};
use forthwith_plan::{Error, Result, check_headroom};
use forthwith_root::write::{Compression, DirectoryId, FileWriter, KeyKind, KeyText};
use index::Index;
use mapping::Branches;
use record::{Children, Summary};
use sink::Written;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};
use values::Values;
pub(crate) use values::append_numbers;

/// Writer of a tree.
#[derive(Debug)]
pub struct TreeWriter {
    directory: DirectoryId,
    /// Path of the tree, for errors.
    path: String,
    name: String,
    options: TreeOptions,
    /// Columns, as given at the beginning.
    columns: Vec<(String, Form)>,
    branches: Branches,
    /// Branches with baskets.
    stored: Vec<BasketBranch>,
    /// Open basket of each branch.
    open: Vec<Entries>,
    filled: Vec<Grown>,
    entries: u64,
    cuts: Option<Cuts>,
    cluster: Cluster,
    /// Last entry and cluster size of each run of clusters of one size.
    ranges: Vec<(u64, u64)>,
    index: Option<Index>,
    /// Existing tree that is extended, unless the tree is new.
    old: Option<grow::Old>,
    /// Whether a step may have been written in part.
    broken: bool,
}

/// The open cluster.
#[derive(Clone, Debug, Default)]
struct Cluster {
    begin: u64,
    /// Size of the entries of each branch, in bytes.
    bytes: Vec<u64>,
}

impl TreeWriter {
    /// Begins a tree of columns at a path of the file. Its directories are created if they do not exist.
    ///
    /// # Errors
    /// Returns an error if trees do not support the type of a column, if options are invalid, or if branches
    /// have equal names.
    pub fn new(
        file: &mut FileWriter,
        path: &str,
        columns: &[(String, Form)],
        options: TreeOptions,
    ) -> Result<Self> {
        Self::begin(file, path, columns, options, &HashMap::new())
    }

    /// Begins a tree beside other branches: `others` has the names of their leaves, with the names of the
    /// branches.
    fn begin(
        file: &mut FileWriter,
        path: &str,
        columns: &[(String, Form)],
        options: TreeOptions,
        others: &HashMap<String, String>,
    ) -> Result<Self> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let branches = Branches::of(columns, &options, others).map_err(|e| within_tree(e, path))?;
        let index = options.index.as_ref().map(|names| Index::of(names, columns)).transpose();
        index.map_err(|e| within_tree(e, path))?;
        // Trees that are begun before this one ends may have classes with the same names.
        let mut made = branches.classes.iter().filter(|info| !info.class.starts_with("pair<"));
        made.try_for_each(|info| file.describe_new(info)).map_err(|e| within_tree(e, path))?;
        let directory = file.directory(directory)?;
        file.check_name(directory, name)?;
        Self::of_branches(file, (directory, path, name), columns, options, branches)
    }

    /// Begins a tree of branches, with its directory, path and name.
    fn of_branches(
        file: &FileWriter,
        (directory, path, name): (DirectoryId, &str, &str),
        columns: &[(String, Form)],
        options: TreeOptions,
        branches: Branches,
    ) -> Result<Self> {
        let index = options.index.as_ref().map(|names| Index::of(names, columns)).transpose();
        let index = index.map_err(|e| within_tree(e, path))?;
        let mut stored = Vec::new();
        for (number, branch) in branches.branches.iter().enumerate() {
            let Some(source) = &branch.source else { continue };
            stored.push(BasketBranch {
                number,
                name: branch.name.clone(),
                key_len: file.key_length(basket_text(&branch.name, name), KeyKind::BASKET)?.into(),
                has_offsets: source.stored.has_offsets(),
                width: branch.leaf.as_ref().map_or(0, |leaf| {
                    leaf.len * source.wire.map_or(leaf.kind.facts().stored, |wire| wire.width() as u32)
                }),
                compression: branch.compression.unwrap_or(file.compression()),
                basket_bytes: branch.basket_bytes.unwrap_or(options.basket_bytes).max(1),
            });
        }
        Ok(Self {
            directory,
            path: path.into(),
            name: name.into(),
            columns: columns.to_vec(),
            open: stored.iter().map(|_| Entries::default()).collect(),
            cluster: Cluster { begin: 0, bytes: vec![0; stored.len()] },
            filled: vec![Grown::default(); branches.branches.len()],
            branches,
            stored,
            options,
            entries: 0,
            cuts: None,
            ranges: Vec::new(),
            index,
            old: None,
            broken: false,
        })
    }

    /// Returns the cycle of the tree whose record is replaced, or `None` for a new tree.
    #[must_use]
    pub fn cycle(&self) -> Option<u16> {
        self.old.as_ref().map(|old| old.cycle)
    }

    /// Returns the number of entries so far.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// Appends a step: for each column, in order, an array of the column's Form (keys of nodes may differ).
    /// All arrays have the same length. Baskets are written as soon as they are full.
    ///
    /// # Errors
    /// Returns an error if an array is invalid or has another Form, if a value cannot be stored in a tree, or
    /// if writing fails.
    pub fn extend(&mut self, file: &mut FileWriter, columns: &[Array]) -> Result<()> {
        let bytes = columns.iter().map(Array::nbytes).sum();
        check_headroom("the entries of a tree", bytes).map_err(|e| within_tree(e, &self.path))?;
        if self.old.as_ref().is_some_and(|old| !old.more.is_empty()) {
            return self.extend_all(file, columns);
        }
        let appended = self.append(file, columns);
        appended.map_err(|e| within_tree(e, &self.path))
    }

    /// Writes the open baskets and the tree's record. Returns the number of entries.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn finish(mut self, file: &mut FileWriter) -> Result<u64> {
        self.close(file)?;
        if let Some(old) = self.old.take() {
            return old.finish(self, file);
        }
        let summary = self.summary(file.compression());
        self.describe(&summary, file)?;
        let text = KeyText { class: "TTree", name: &self.name, title: &self.options.title };
        file.object(self.directory, text, |b| summary.write(b))?;
        Ok(self.entries)
    }

    /// Writes the open baskets.
    fn close(&mut self, file: &mut FileWriter) -> Result<()> {
        self.usable()?;
        if self.entries > self.cluster.begin {
            self.run(file, &[], 0..0, true)?;
            self.end_cluster();
        }
        for filled in &mut self.filled {
            filled.entries = self.entries;
        }
        Ok(())
    }

    fn summary(&self, compression: Compression) -> Summary<'_> {
        let (ranges, cluster) = settled(&self.ranges);
        Summary {
            name: &self.name,
            options: &self.options,
            branches: &self.branches,
            children: Children::new(&self.branches),
            filled: &self.filled,
            entries: self.entries,
            ranges,
            cluster,
            compression,
            index: self.index.as_ref(),
        }
    }

    /// Describes the classes that the record uses.
    fn describe(&self, summary: &Summary<'_>, file: &mut FileWriter) -> Result<()> {
        for class in record::CLASSES.into_iter().chain(summary.more_classes()) {
            file.describe_class(class)?;
        }
        self.branches.classes.iter().for_each(|info| file.describe(info));
        Ok(())
    }

    fn append(&mut self, file: &mut FileWriter, columns: &[Array]) -> Result<()> {
        let arrays = self.step(columns)?;
        let values = self.bound(&arrays)?;
        self.put(file, &arrays, &values)
    }

    /// Returns the arrays of a step as they are written, after checking all of them. Nothing is written.
    fn step(&self, columns: &[Array]) -> Result<Vec<Array>> {
        self.usable()?;
        if columns.len() != self.columns.len() {
            let what = format!("{} columns, {} were announced", columns.len(), self.columns.len());
            return Err(Error::invalid(what));
        }
        let rows = columns.first().map_or(0, |array| array.length);
        let mut arrays = Vec::with_capacity(columns.len());
        for ((name, form), array) in self.columns.iter().zip(columns) {
            arrays.push(self.checked(name, form, array, rows).map_err(|e| e.in_object(name))?);
        }
        self.check_counters(&arrays)?;
        Ok(arrays)
    }

    /// Binds each branch to its values in the arrays of a step.
    fn bound<'a>(&self, arrays: &'a [Array]) -> Result<Vec<Values<'a>>> {
        let bind = |stored: &BasketBranch| {
            let source = self.branches.branches[stored.number].source.as_ref()?;
            let bound = Values::bind(source, &arrays[source.column]);
            Some(bound.map_err(|error| self.placed(error, &stored.name)))
        };
        self.stored.iter().filter_map(bind).collect()
    }

    /// Adds the entry and the place to the error of a row in the current step.
    fn placed(&self, error: Error, what: &str) -> Error {
        within_tree(error.renumbered(|row| Some(row + self.entries)), what)
    }

    /// Appends a step.
    fn put(&mut self, file: &mut FileWriter, arrays: &[Array], values: &[Values<'_>]) -> Result<()> {
        let rows = arrays.first().map_or(0, |array| array.length);
        let rows = usize::try_from(rows).map_err(|_| without_nulls::changed())?;
        if let Some(index) = &mut self.index {
            index.extend(arrays, self.entries)?;
        }
        self.note_largest(arrays)?;
        let sizes = self.sizes();
        let mut at = 0;
        while at < rows {
            let cuts = match &self.cuts {
                Some(cuts) => cuts,
                None => {
                    let bytes: Vec<u64> = values.iter().map(|values| values.bytes(at..rows)).collect();
                    let bytes = self.with_baskets(&bytes);
                    self.cuts.insert(Cuts::of(&bytes, (rows - at) as u64, sizes))
                }
            };
            let left = (self.cluster.begin + cuts.cluster).saturating_sub(self.entries).max(1);
            let wanted = at + usize::try_from(left).unwrap_or(usize::MAX).min(rows - at);
            let held = self.cluster.bytes.iter().sum();
            let all =
                |rows: std::ops::Range<usize>| values.iter().map(|values| values.bytes(rows.clone())).sum();
            let end = match sizes.entries {
                Some(_) => wanted,
                None => within(sizes.cluster_room(held), at..wanted, all),
            };
            let ends = end < wanted || (end - at) as u64 == left;
            self.run(file, values, at..end, ends)?;
            if ends {
                self.end_cluster();
            }
            at = end;
        }
        Ok(())
    }

    fn sizes(&self) -> Sizes {
        Sizes { cluster: self.options.cluster_bytes.max(1), entries: self.options.cluster_entries }
    }

    /// Returns the sizes of each branch and of its baskets, in bytes.
    fn with_baskets(&self, bytes: &[u64]) -> Vec<(u64, u64)> {
        bytes.iter().zip(&self.stored).map(|(bytes, branch)| (*bytes, branch.basket_bytes)).collect()
    }

    fn usable(&self) -> Result<()> {
        if self.broken {
            let what = format!("tree {:?}, of which an earlier step could not be written", self.name);
            return Err(Error::invalid(what));
        }
        Ok(())
    }

    /// Returns an array as it is written, or an error if it has another type than the column.
    fn checked(&self, name: &str, form: &Form, array: &Array, rows: u64) -> Result<Array> {
        if array.length != rows {
            let what = format!("{} rows where the first column has {rows}", array.length);
            return Err(Error::invalid(what));
        }
        array
            .validate_by(self.options.runner.threads())
            .map_err(|error| Error::invalid(error.to_string()))?;
        let is_alike = alike(form, &array.form);
        if is_alike && without_nulls::is_plain(&array.form) {
            return Ok(array.clone());
        }
        let other = || {
            let (found, wanted) = (array.form.type_string(), form.type_string());
            let mut classes = Vec::new();
            announced::classes(form, &mut classes);
            let hint = match classes.is_empty() {
                true => String::new(),
                false => format!("; the name of a record says of which class it is: {}", classes.join(", ")),
            };
            Error::invalid(format!("{found} where {wanted} was announced{hint}"))
        };
        if !without_nulls::is_plain(form) && self.old.is_some() {
            // Pointers of objects in an existing branch.
            return if is_alike { Ok(array.clone()) } else { adapted(array, form)?.ok_or_else(other) };
        }
        // Checks for types that trees do not support.
        without_nulls::plain_form(&array.form)?;
        if without_nulls::means_more(&array.form) && !without_nulls::means_more(form) {
            return Err(other());
        }
        let taken = without_nulls::plain_array(array, self.options.column(name).nulls)?;
        if is_alike {
            Ok(taken)
        } else {
            adapted(&taken, &without_nulls::plain_form(form)?)?.ok_or_else(other)
        }
    }

    /// Encodes rows into baskets, and writes the complete ones.
    fn run(
        &mut self,
        file: &mut FileWriter,
        values: &[Values<'_>],
        rows: std::ops::Range<usize>,
        ends: bool,
    ) -> Result<()> {
        let mut pieces = Vec::new();
        for branch in 0..self.stored.len() {
            let mut at = rows.start;
            loop {
                let entry = self.entries - self.cluster.begin + (at - rows.start) as u64;
                let held = &mut self.open[branch];
                let (count, bytes) = (held.count, held.data.len() as u64);
                if at == rows.end {
                    if ends && count > 0 {
                        // The open basket ends without more entries.
                        let open = Mutex::new(Some(std::mem::take(held)));
                        pieces.push(Piece { branch, rows: at..at, open, count, ends: true });
                    }
                    break;
                }
                let end_entry = self.cuts.as_ref().map_or(u64::MAX, |cuts| cuts.basket_end(branch, entry));
                let wanted = usize::try_from(end_entry - entry).unwrap_or(usize::MAX).min(rows.end - at) + at;
                let end = within(basket_room(self.stored[branch].basket_bytes, bytes), at..wanted, |rows| {
                    values[branch].bytes(rows)
                });
                let last = end == rows.end;
                let full = end < wanted || (end - at) as u64 + entry == end_entry;
                let basket_ends = full || (ends && last);
                let open = std::mem::take(held);
                let open = Mutex::new((open.count > 0).then_some(open));
                let count = count + (end - at) as u64;
                pieces.push(Piece { branch, rows: at..end, open, count, ends: basket_ends });
                at = end;
                if !basket_ends {
                    break;
                }
            }
            if let Some(values) = values.get(branch) {
                self.cluster.bytes[branch] += values.bytes(rows.clone());
            }
        }
        let work = Work { values, branches: &self.stored, pieces };
        let mut sink = Written {
            file,
            directory: self.directory,
            tree: &self.name,
            work: &work,
            filled: &mut self.filled,
        };
        self.broken = true;
        match sink.file.needs_caller() {
            true => self.options.runner.run(&work, &mut sink)?,
            false => self.options.runner.run_anywhere(&work, &mut sink)?,
        }
        self.broken = false;
        for piece in work.pieces {
            if !piece.ends
                && let Some(open) = piece.open.into_inner().unwrap_or_else(PoisonError::into_inner)
            {
                self.open[piece.branch] = open;
            }
        }
        self.entries += rows.len() as u64;
        Ok(())
    }

    /// Records the end of a cluster, and computes new boundaries if its size was far from the expected one.
    fn end_cluster(&mut self) {
        let size = self.entries - self.cluster.begin;
        match self.ranges.last_mut() {
            Some((last, known)) if *known == size => *last = self.entries - 1,
            _ => self.ranges.push((self.entries - 1, size)),
        }
        let bytes = std::mem::replace(&mut self.cluster.bytes, vec![0; self.stored.len()]);
        let all: u64 = bytes.iter().sum();
        let cut_short = self.cuts.as_ref().is_some_and(|cuts| size < cuts.cluster);
        if self.options.cluster_entries.is_none() && (cut_short || all < self.options.cluster_bytes / 2) {
            self.cuts = Some(Cuts::of(&self.with_baskets(&bytes), size, self.sizes()));
        }
        self.cluster.begin = self.entries;
    }
}

/// Returns the cluster ranges of a tree's record, and the size of the clusters after them. A shorter last
/// cluster needs no range.
fn settled(ranges: &[(u64, u64)]) -> (&[(u64, u64)], u64) {
    match ranges {
        [] => (&[], 0),
        [.., (end, before), (last, size)] if last - end == *size && size < before => {
            (&ranges[..ranges.len() - 2], *before)
        }
        [others @ .., (_, size)] => (others, *size),
    }
}

/// Prefixes the object of an error's place with the tree.
fn within_tree(mut error: Error, tree: &str) -> Error {
    error.place.object = Some(match error.place.object.take() {
        Some(branch) => format!("{tree}/{branch}"),
        None => tree.into(),
    });
    error
}
