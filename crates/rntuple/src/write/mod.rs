//! Ntuples, written: columns become elements, those pages, and pages clusters.
//!
//! `describe.rs` makes fields and columns of Forms, with the nodes by which `fill.rs` walks an array: for
//! each node it appends the rows of a whole step to the columns. `page.rs` collects elements until they fill
//! a page, and `seal.rs` encodes a page of them, `offset_columns.rs` a page of offsets: both read straight from the array.
//! A page that is large enough for a record of its own is written as soon as it is sealed. Others are buffered until the
//! cluster is full, and are written together, column by column. Readers find them once the last record is written.
//! `append.rs` continues an ntuple that is in the file already. `copy/` puts fields and entries of ntuples of
//! other files behind each other, without Forms: it knows pages, and the elements of columns.

mod announced;
mod append;
mod cluster;
mod column;
mod copy;
mod describe;
mod elements;
mod fill;
mod floats;
mod frame;
mod offset_columns;
mod open_cluster;
mod options;
mod page;
mod prior;
mod project;
mod record;
mod seal;
mod sealed;
mod step;
mod stored;
mod table;

pub use copy::NtupleCopy;
pub use options::{DEFAULT_CLUSTER, DEFAULT_PAGE, FieldOptions, Floats, NtupleOptions};
pub use table::NtupleTable;

use crate::anchor::{Anchor, VERSION};
use crate::blob::{self, Envelope};
use crate::frame::{Link, Locator};
use announced::is_of;
use cluster::{Clusters, Complete};
use describe::{Describer, Node, field_names};
use forthwith_columns::{Array, Form};
use forthwith_plan::{Error, Result, check_headroom};
use forthwith_root::write::{Compression, DirectoryId, FileWriter};
pub(crate) use frame::RawList;
pub(crate) use frame::{Frames, envelope};
use open_cluster::Filling;
use options::UNCOMPRESSED_CLUSTERS;
use page::Pages;
use prior::Prior;
use record::{Counts, Descriptions};
use seal::Sealer;
use std::collections::{BTreeMap, HashSet};
pub(crate) use stored::LONGEST;
use stored::put;

/// An ntuple being written to a file, which may get other objects as well meanwhile.
pub struct NtupleWriter {
    directory: DirectoryId,
    name: String,
    options: NtupleOptions,
    columns: Vec<TopField>,
    all: Descriptions,
    classes: HashSet<String>,
    /// The number of fields and columns in the header; the rest is the footer's.
    in_header: Counts,
    header: Link,
    filling: Vec<Filling>,
    sealer: Sealer,
    entries: u64,
    /// The first entry of the cluster that is filled.
    begun: u64,
    /// Bytes of the numbers in it.
    filled: u64,
    /// Uncompressed and stored bytes of all previous clusters.
    amounts: [u64; 2],
    clusters: Clusters,
    /// The existing part of an ntuple that is continued.
    prior: Option<Prior>,
    broken: bool,
}

/// A field at the top.
struct TopField {
    name: String,
    form: Form,
    node: Node,
}

impl NtupleWriter {
    /// An ntuple of these columns, at a path of the file: directories, which are made if they are not there,
    /// and the ntuple's name.
    ///
    /// # Errors
    /// Columns whose types ntuples do not have; projections of fields that do not exist; errors of the file.
    pub fn new(
        file: &mut FileWriter,
        path: &str,
        columns: &[(String, Form)],
        options: NtupleOptions,
    ) -> Result<Self> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let begun = Self::begin(file, directory, name, columns, options);
        begun.map_err(|error| error.in_object(path).in_file(file.uri()))
    }

    /// Entries so far.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// Appends a step: an array for each column, in their order, of the column's Form (keys of nodes may differ) and of equal
    /// lengths. An option may be given without missing values, and an array without values may have any type. Clusters are
    /// written as soon as they are full.
    ///
    /// # Errors
    /// Arrays of other Forms, or invalid ones; errors of the file.
    pub fn extend(&mut self, file: &mut FileWriter, columns: &[Array]) -> Result<()> {
        let bytes = columns.iter().map(Array::nbytes).sum();
        let appended =
            check_headroom("the entries of an RNTuple", bytes).and_then(|()| self.append(file, columns));
        appended.map_err(|error| error.in_object(&self.name).in_file(file.uri()))
    }

    /// Ends the cluster, whether it is full or not.
    ///
    /// # Errors
    /// Whatever the file says.
    pub fn flush(&mut self, file: &mut FileWriter) -> Result<()> {
        self.usable()?;
        self.broken = true;
        self.end_cluster(file).map_err(|error| error.in_object(&self.name).in_file(file.uri()))?;
        self.broken = false;
        Ok(())
    }

    /// Adds columns behind those there are, which the following steps have as well. In entries that are there
    /// already numbers are zero, lists and texts empty, and options without a value. `choices` are as
    /// [`NtupleOptions::fields`].
    ///
    /// # Errors
    /// Columns that an ntuple has no fields for; whatever the file says.
    pub fn add_columns(
        &mut self,
        file: &mut FileWriter,
        columns: &[(String, Form)],
        choices: &BTreeMap<String, FieldOptions>,
    ) -> Result<()> {
        self.flush(file)?;
        self.broken = true;
        self.describe(columns, choices).map_err(|error| error.in_object(&self.name).in_file(file.uri()))?;
        self.broken = false;
        Ok(())
    }

    /// Writes the last cluster and what says where all of them are, and lists the ntuple in its directory.
    /// Answers the number of entries.
    ///
    /// # Errors
    /// Whatever the file says.
    pub fn finish(mut self, file: &mut FileWriter) -> Result<u64> {
        let ended = self.end(file);
        ended.map_err(|error| error.in_object(&self.name).in_file(file.uri()))?;
        Ok(self.entries)
    }

    fn begin(
        file: &mut FileWriter,
        directory: &str,
        name: &str,
        columns: &[(String, Form)],
        options: NtupleOptions,
    ) -> Result<Self> {
        let mut this = Self {
            directory: DirectoryId::TOP,
            name: name.to_owned(),
            columns: Vec::new(),
            all: Descriptions::default(),
            classes: HashSet::new(),
            in_header: Counts::default(),
            header: Link { length: 0, locator: Locator { size: 0, position: 0 } },
            filling: Vec::new(),
            sealer: Sealer::new(options.runner.clone()),
            entries: 0,
            begun: 0,
            filled: 0,
            amounts: [0; 2],
            clusters: Clusters::new(options.compression, 0, LONGEST),
            prior: None,
            broken: false,
            options,
        };
        let choices = std::mem::take(&mut this.options.fields);
        this.describe(columns, &choices)?;
        let projections = std::mem::take(&mut this.options.projections);
        let none = BTreeMap::new();
        let mut describer = Describer::new(&mut this.all, &this.options, &none, &mut this.classes);
        for (name, source) in &projections {
            let shown = describer.project(name, source);
            shown.map_err(Error::invalid)?;
        }
        this.in_header = this.all.counts();
        let header = envelope(Envelope::Header, |frames| {
            frames.features();
            frames.text(name);
            frames.text(&this.options.description);
            frames.text(concat!("forthwith ", env!("CARGO_PKG_VERSION")));
            this.all.write(Counts::default(), &<[RawList; 4]>::default(), frames);
        });
        this.clusters = Clusters::new(this.options.compression, blob::checksum(&header), LONGEST);
        this.directory = file.directory(directory)?;
        file.check_name(this.directory, name)?;
        this.header = put(file, this.options.compression, &header, LONGEST)?;
        Ok(this)
    }

    /// The cycle of the RNTuple whose record this one takes the place of, if it was in the file already.
    #[must_use]
    pub fn cycle(&self) -> Option<u16> {
        self.prior.as_ref().map(|prior| prior.cycle)
    }

    /// Makes fields of columns that are new.
    fn describe(
        &mut self,
        columns: &[(String, Form)],
        choices: &BTreeMap<String, FieldOptions>,
    ) -> Result<()> {
        let mut names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        let known = names.len();
        names.extend(columns.iter().map(|(name, _)| name.clone()));
        let names = field_names(&names);
        let first = (self.entries > 0).then_some(self.entries);
        let before = self.all.columns.len();
        // Names have no dots, so that both spellings of a path mean the same field.
        let choices: BTreeMap<_, _> =
            choices.iter().map(|(path, choice)| (path.replace('.', "/"), choice.clone())).collect();
        let mut describer = Describer::new(&mut self.all, &self.options, &choices, &mut self.classes);
        for (name, (_, form)) in names.into_iter().skip(known).zip(columns) {
            let node = describer.top(&name, form, first).map_err(Error::unsupported)?;
            self.columns.push(TopField { name, form: form.clone(), node });
        }
        describer.finish().map_err(Error::invalid)?;
        let page = self.options.page_bytes.clamp(64, 1 << 30);
        let new = self.all.columns.iter().skip(before);
        self.filling.extend(new.map(|column| Filling::new(self.all.path(column.field), column, page)));
        Ok(())
    }

    fn append(&mut self, file: &mut FileWriter, arrays: &[Array]) -> Result<()> {
        self.usable()?;
        self.check(arrays)?;
        let length = arrays.first().map_or(0, |array| array.length);
        self.broken = true;
        let mut from = 0;
        while from < length {
            let (rows, full) = (self.step(arrays, from, length), self.full());
            let longest = self.clusters.longest;
            let mut pages = Pages::new(&mut self.filling, &mut self.sealer, file, longest);
            // As many as there are bytes for, which was checked.
            let range = from as usize..(from + rows) as usize;
            for (column, array) in self.columns.iter().zip(arrays) {
                fill::fill(&column.node, array, &array.form, std::slice::from_ref(&range), &mut pages)
                    .map_err(|error| error.in_object(&column.name))?;
            }
            from += rows;
            self.entries += rows;
            self.filled += pages.appended;
            let ends = self.filled >= full || self.entries - self.begun >= self.options.cluster_entries;
            if ends {
                pages.end_all()?;
            }
            pages.finish(&mut |file| self.clusters.write(file))?;
            if ends {
                self.complete(file)?;
            }
        }
        self.broken = false;
        Ok(())
    }

    /// Compares arrays with the columns' Forms, and validates them.
    fn check(&self, arrays: &[Array]) -> Result<()> {
        if arrays.len() != self.columns.len() {
            let (found, wanted) = (arrays.len(), self.columns.len());
            return Err(Error::invalid(format!("{found} columns where {wanted} were announced")));
        }
        let length = arrays.first().map_or(0, |array| array.length);
        let threads = self.sealer.runner.as_ref().map_or(1, |runner| runner.threads());
        for (column, array) in self.columns.iter().zip(arrays) {
            let here = |error: Error| error.in_object(&column.name);
            if array.length != length {
                let what = format!("{} entries, where the first column has {length}", array.length);
                return Err(here(Error::invalid(what)));
            }
            if !is_of(&column.form, array) {
                let (found, wanted) = (array.form.type_string(), column.form.type_string());
                return Err(here(Error::invalid(format!(
                    "an array of {found}, where {wanted} was announced"
                ))));
            }
            array.validate_by(threads).map_err(|error| here(Error::invalid(error.to_string())))?;
        }
        Ok(())
    }

    /// Rows that are appended together: some megabytes, and no more than the cluster still takes. Pages that are not
    /// full where a step ends are copied.
    fn step(&self, arrays: &[Array], from: u64, length: u64) -> u64 {
        let most = self.options.cluster_entries.max(1) - (self.entries - self.begun);
        step::rows(
            arrays,
            from,
            length.min(from.saturating_add(most)),
            self.full().saturating_sub(self.filled),
        )
    }

    /// Uncompressed bytes of a full cluster, by ROOT's rule: the compression ratio so far, and one half for the first cluster.
    fn full(&self) -> u64 {
        let target = self.options.cluster_bytes.max(1);
        let [raw, stored] = self.amounts;
        let expected = match stored {
            _ if self.options.compression == Compression::NONE => target,
            0 => target.saturating_mul(2),
            _ => (u128::from(target) * u128::from(raw) / u128::from(stored)) as u64,
        };
        expected.min(target.saturating_mul(UNCOMPRESSED_CLUSTERS))
    }

    /// Ends the cluster, if it has entries, and writes it.
    fn end_cluster(&mut self, file: &mut FileWriter) -> Result<()> {
        let mut pages = Pages::new(&mut self.filling, &mut self.sealer, file, self.clusters.longest);
        pages.end_all()?;
        pages.finish(&mut |file| self.clusters.write(file))?;
        self.complete(file)?;
        self.clusters.write(file)
    }

    /// Ends the cluster, if it has entries: all its pages are made. It is written now, or while other threads
    /// make pages of the next one.
    fn complete(&mut self, file: &mut FileWriter) -> Result<()> {
        let entries = self.entries - self.begun;
        if entries == 0 {
            return Ok(());
        }
        let complete = Complete::of(self.begun, entries, &mut self.filling, self.clusters.longest);
        self.amounts[0] += self.filled;
        self.amounts[1] += complete.bytes();
        (self.begun, self.filled) = (self.entries, 0);
        self.clusters.take(file, complete)?;
        if self.sealer.runner.is_none() {
            self.clusters.write(file)?;
        }
        self.sealer.reuse(self.clusters.spare.drain(..));
        Ok(())
    }

    /// Writes what comes last.
    fn end(&mut self, file: &mut FileWriter) -> Result<()> {
        self.usable()?;
        self.broken = true;
        if self.is_unchanged() {
            return Ok(());
        }
        self.end_cluster(file)?;
        let none = (<[RawList; 4]>::default(), RawList::default());
        let (lists, attributes) = match &self.prior {
            Some(prior) => (&prior.lists, &prior.attributes),
            None => (&none.0, &none.1),
        };
        let (version, longest) = self
            .prior
            .as_ref()
            .map_or((VERSION, LONGEST), |prior| (prior.version.max(VERSION), prior.longest));
        let anchor = Anchor { version, header: self.header, footer: self.header, longest };
        let place = (self.directory, &*self.name);
        let (all, in_header) = (&self.all, self.in_header);
        self.clusters.end(file, place, anchor, attributes, |frames| all.write(in_header, lists, frames))?;
        if let Some(prior) = &self.prior {
            file.remove(self.directory, &self.name, prior.cycle);
        }
        Ok(())
    }

    /// Refuses to go on behind a step of which only a part was appended.
    fn usable(&self) -> Result<()> {
        if self.broken {
            let what = "an ntuple of which an earlier step could not be written";
            return Err(Error::invalid(what));
        }
        Ok(())
    }
}

impl std::fmt::Debug for NtupleWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fields: Vec<&str> = self.columns.iter().map(|column| &*column.name).collect();
        let mut shown = f.debug_struct("NtupleWriter");
        shown
            .field("name", &self.name)
            .field("fields", &fields)
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}
