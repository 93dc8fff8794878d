//! Writes ntuples: columns become elements, elements pages, and pages clusters.
//!
//! `describe.rs` maps Forms to fields and columns, with the nodes by which `fill.rs` traverses an array: for
//! each node, it appends the rows of a whole step to the columns. `page.rs` collects the elements of a page.
//! `seal.rs` encodes a page, and `offset_columns.rs` one of offsets; both read directly from the array. A
//! page that is large enough for a record of its own is written as soon as it is sealed. Others are buffered
//! until the cluster is full, and are written together, column by column. Readers find them once the anchor
//! is written. `append.rs` extends an existing ntuple. `copy/` merges fields and entries of ntuples in other
//! files without Forms, by their pages and the elements of columns.

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

/// Writer of an ntuple. Other objects may be written to the file at the same time.
pub struct NtupleWriter {
    directory: DirectoryId,
    name: String,
    options: NtupleOptions,
    columns: Vec<TopField>,
    all: Descriptions,
    classes: HashSet<String>,
    /// Number of fields and columns in the header; all others are in the footer.
    in_header: Counts,
    header: Link,
    filling: Vec<Filling>,
    sealer: Sealer,
    entries: u64,
    /// First entry of the open cluster.
    begun: u64,
    /// Size of the elements in the open cluster, in bytes.
    filled: u64,
    /// Uncompressed and stored size of all previous clusters, in bytes.
    amounts: [u64; 2],
    clusters: Clusters,
    /// Existing part of an ntuple that is extended.
    prior: Option<Prior>,
    broken: bool,
}

/// A top-level field.
struct TopField {
    name: String,
    form: Form,
    node: Node,
}

impl NtupleWriter {
    /// Begins an ntuple of columns at a path of the file. Its directories are created if they do not exist.
    ///
    /// # Errors
    /// Returns an error if ntuples do not support the type of a column, if a projected field does not exist,
    /// or if writing fails.
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

    /// Returns the number of entries so far.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// Appends a step: for each column, in order, an array of the column's Form (keys of nodes may differ).
    /// All arrays have the same length. Optional columns may be given without options, and an array without
    /// values may have any type. Clusters are written as soon as they are full.
    ///
    /// # Errors
    /// Returns an error if an array is invalid or has another Form, or if writing fails.
    pub fn extend(&mut self, file: &mut FileWriter, columns: &[Array]) -> Result<()> {
        let bytes = columns.iter().map(Array::nbytes).sum();
        let appended =
            check_headroom("the entries of an RNTuple", bytes).and_then(|()| self.append(file, columns));
        appended.map_err(|error| error.in_object(&self.name).in_file(file.uri()))
    }

    /// Ends the cluster, whether it is full or not.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn flush(&mut self, file: &mut FileWriter) -> Result<()> {
        self.usable()?;
        self.broken = true;
        self.end_cluster(file).map_err(|error| error.in_object(&self.name).in_file(file.uri()))?;
        self.broken = false;
        Ok(())
    }

    /// Adds columns after the existing ones; later steps must have them, too. In existing entries, numbers
    /// are zero, lists and strings empty, and options null. `choices` are options of fields as in
    /// [`NtupleOptions::fields`].
    ///
    /// # Errors
    /// Returns an error if ntuples do not support the type of a column, or if writing fails.
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

    /// Writes the last cluster, the footer and the anchor, and adds the ntuple to its directory. Returns the
    /// number of entries.
    ///
    /// # Errors
    /// Returns an error if writing fails.
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

    /// Returns the cycle of the RNTuple whose anchor is replaced, or `None` for a new one.
    #[must_use]
    pub fn cycle(&self) -> Option<u16> {
        self.prior.as_ref().map(|prior| prior.cycle)
    }

    /// Adds fields for new columns.
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
        // Names contain no dots, so both spellings of a path refer to the same field.
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
            // The numbers fit, as the arrays were checked to have bytes for them.
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

    /// Checks that arrays are valid and match the columns' Forms.
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

    /// Returns the number of rows to append together: some megabytes, within the limits of the cluster.
    /// Incomplete pages at the end of a step are copied.
    fn step(&self, arrays: &[Array], from: u64, length: u64) -> u64 {
        let most = self.options.cluster_entries.max(1) - (self.entries - self.begun);
        step::rows(
            arrays,
            from,
            length.min(from.saturating_add(most)),
            self.full().saturating_sub(self.filled),
        )
    }

    /// Returns the uncompressed size of a full cluster by ROOT's rule, from the compression ratio so far, or
    /// one half for the first cluster.
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

    /// Ends the cluster, if it has entries, whose pages are all sealed. It is written now, or while other
    /// threads seal pages of the next one.
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

    /// Writes the last cluster, the footer and the anchor.
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

    /// Checks that no earlier step failed in part.
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
