//! Table of a file of messages.

use crate::{
    blocks::{Blocks, State},
    fields::Fields,
    format::{ProtoFormat, numbers},
    framing::{Framing, rows},
    layout::{Mapping, dialect},
    schema::Schema,
};
use forthwith_io::Source;
use forthwith_plan::{
    BlockFormat, BlockList, Dataset, Description, Error, ErrorKind, Extent, Field, Plan, Result, Task,
    check_entries, cuts,
};
use std::{ops::Range, sync::Arc};

/// Options for reading a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Message type of the file; if `None`, the only type of the schema that is not used by another.
    pub message: Option<String>,
    /// Framing of the messages.
    pub framing: Framing,
    /// Path of repeated fields from the message of the file to the rows; requires [`Framing::Single`].
    pub rows: Option<String>,
    /// Mapping of message types to column types.
    pub mapping: Mapping,
}

/// Opened file or stream.
#[derive(Clone, Debug)]
pub struct ProtoFile {
    source: Arc<dyn Source>,
    fields: Arc<Fields>,
    framing: Framing,
    path: Vec<u32>,
    blocks: Arc<Blocks>,
}

impl ProtoFile {
    /// Opens a file and finds its messages, for which it is read once; the messages of a stream are found as
    /// they are requested. A truncated message at the end counts as an entry, which cannot be read.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, if the schema has no such type, or if `rows` is given
    /// for a framing other than [`Framing::Single`].
    pub fn open(source: Arc<dyn Source>, schema: &Schema, options: &Options) -> Result<Self> {
        let outer = schema.message(options.message.as_deref())?;
        let (path, message) = match &options.rows {
            Some(path) => rows(schema, outer, path)?,
            None => (Vec::new(), outer),
        };
        let framing = options.framing;
        if !path.is_empty() && framing != Framing::Single {
            return Err(Error::invalid("rows= is for files that are one message: framing=\"single\""));
        }
        let fields = Arc::new(Fields::new(schema, message, options.mapping));
        let blocks = Arc::new(Blocks::of(&source, framing, path.clone())?);
        Ok(Self { source, fields, framing, path, blocks })
    }

    /// Returns the source.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Returns the full name of the message type.
    #[must_use]
    pub fn name(&self) -> &str {
        self.fields.name()
    }
}

/// Table of the messages of a [`ProtoFile`].
#[derive(Debug)]
pub struct ProtoTable(ProtoFile);

impl ProtoTable {
    /// Creates the table of a file.
    #[must_use]
    pub const fn new(file: ProtoFile) -> Self {
        Self(file)
    }

    /// Returns the file.
    #[must_use]
    pub const fn file(&self) -> &ProtoFile {
        &self.0
    }

    fn here(&self, error: Error, field: Option<u32>) -> Error {
        let path = field.and_then(|field| self.0.fields.fields.get(field as usize));
        match path {
            Some(field) => error.in_object(&format!("{}/{}", self.0.name(), field.path)),
            None => error.in_object(self.0.name()),
        }
        .in_file(self.0.source.uri())
    }

    /// Calls `act` with the block list, which covers at least the first `entries` messages, or all if there
    /// are fewer.
    fn up_to<T>(&self, entries: u64, act: impl FnOnce(&BlockList<State>) -> T) -> Result<T> {
        self.0.blocks.up_to(entries, act).map_err(|error| self.here(error, None))
    }
}

impl Dataset for ProtoTable {
    fn format(&self) -> &'static str {
        ProtoFormat.id()
    }

    fn object(&self) -> &str {
        self.0.name()
    }

    fn entries(&self) -> Result<u64> {
        self.entries_up_to(u64::MAX)
    }

    fn entries_up_to(&self, most: u64) -> Result<u64> {
        self.up_to(most, |list| list.entries().min(most))
    }

    fn counts_blocks(&self) -> bool {
        self.is_stream()
    }

    fn is_stream(&self) -> bool {
        self.0.blocks.is_stream()
    }

    fn release(&self, before: u64) -> Result<()> {
        self.0.blocks.release(before).map_err(|error| self.here(error, None))
    }

    fn entries_counted(&self) -> Result<u64> {
        self.up_to(0, |list| list.entries())
    }

    fn likely_entries(&self) -> Result<u64> {
        self.entries_counted()
    }

    fn entry_range(&self, field: u32, most: u64) -> Result<Range<u64>> {
        self.0.fields.type_name(field).map_err(|error| self.here(error, None))?;
        Ok(0..self.entries_up_to(most)?)
    }

    fn fields(&self) -> Result<&[Field]> {
        Ok(&self.0.fields.fields)
    }

    fn describe(&self, field: u32) -> Result<Description> {
        // The types of a stream are given by a schema, and it may never end.
        self.describe_first(field, if self.is_stream() { 0 } else { u64::MAX })
    }

    fn describe_first(&self, field: u32, most: u64) -> Result<Description> {
        let type_name = self.0.fields.type_name(field).map_err(|error| self.here(error, None))?.to_owned();
        let reading = match self.0.fields.reading(field, &dialect(self.0.framing_of_rows().frame())) {
            Ok(reading) => Ok(reading),
            Err(Error { kind: ErrorKind::Unsupported { what } | ErrorKind::Invalid { what }, .. }) => {
                Err(what)
            }
            Err(error) => return Err(self.here(error, Some(field))),
        };
        // Messages contain all fields: the bytes are divided equally between them.
        let (entries, blocks, stored) =
            self.up_to(most, |list| (list.entries(), list.count(), list.bytes()))?;
        let stored = stored / self.0.fields.whole().len().max(1) as u64;
        Ok(Description { type_name, reading, entries, blocks, stored_bytes: stored, payload_bytes: stored })
    }

    fn extents(&self, fields: &[u32], most: u64) -> Result<Vec<Extent>> {
        let dialect = dialect(self.0.framing_of_rows().frame());
        let Ok(forms) = self.0.fields.forms(fields, &dialect) else {
            return fields.iter().map(|field| Ok(self.describe_first(*field, most)?.into())).collect();
        };
        let (entries, stored) = self.up_to(most, |list| (list.entries(), list.bytes()))?;
        let bytes = stored / self.0.fields.whole().len().max(1) as u64;
        Ok(forms.into_iter().map(|form| Extent { form: Ok(form), entries, bytes }).collect())
    }

    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        check_entries(&entries, self.entries_up_to(entries.end)?).map_err(|error| self.here(error, None))?;
        let mut plan = Plan {
            format: self.format().into(),
            uri: self.0.source.uri().to_owned(),
            object: self.0.name().to_owned(),
            entries: entries.clone(),
            utf8: true,
            ..Plan::default()
        };
        if fields.is_empty() {
            return Ok(plan);
        }
        let dialect = dialect(self.0.framing_of_rows().frame());
        let (group, picks) = self.0.fields.group(fields, &dialect).map_err(|error| {
            // The error names the first field that cannot be read by itself.
            let is_readable = |field: &u32| self.0.fields.group(&[*field], &dialect).is_ok();
            self.here(error, fields.iter().find(|field| !is_readable(field)).copied())
        })?;
        plan.groups.push(group);
        plan.picks = picks;
        plan.delivered = 1;
        let tasks = self.up_to(entries.end, |list| {
            let mut tasks = Vec::new();
            for (number, block) in list.within(&entries)? {
                let wanted = block.entries.start.max(entries.start)..block.entries.end.min(entries.end);
                if !wanted.is_empty() {
                    let task = Task::of(0, number, block.entries.clone(), block.stored.clone());
                    let numbers = numbers(self.0.framing, &self.0.path, &block.start);
                    tasks.push(Task { wanted, numbers, ..task });
                }
            }
            Ok(tasks)
        })?;
        plan.tasks = tasks.map_err(|error| self.here(error, None))?;
        Ok(plan)
    }

    fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        for field in fields {
            self.0.fields.type_name(*field).map_err(|error| self.here(error, None))?;
        }
        let found = self.up_to(entries.end, |list| {
            Ok(cuts(&entries, list.within(&entries)?.map(|(_, block)| block.entries.clone())))
        })?;
        found.map_err(|error| self.here(error, None))
    }
}

impl ProtoFile {
    /// Returns the framing of the rows of the table.
    const fn framing_of_rows(&self) -> Framing {
        if self.path.is_empty() { self.framing } else { Framing::Delimited }
    }
}
