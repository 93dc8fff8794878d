//! A file of messages as a table.

use crate::{
    fields::Fields,
    format::{ProtoFormat, numbers},
    framing::{Bytes, Framing, Walk, rows, truncated},
    layout::{Mapping, dialect},
    schema::Schema,
};
use forthwith_io::Source;
use forthwith_plan::{
    BlockFormat, Dataset, Description, Error, ErrorKind, Field, Plan, Result, Stored, Task, check_entries,
    cuts,
};
use std::{ops::Range, sync::Arc};

/// Bytes of a block, at least, and messages at most: they may be empty.
const BLOCK: u64 = 1 << 20;
const MOST_IN_BLOCK: u64 = 1 << 18;
/// Bytes that are read at once to find messages.
const PIECE: u64 = 1 << 20;

/// How to look at a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The type of the messages; without one, the only one of the schema that is in no other.
    pub message: Option<String>,
    /// What is around the messages.
    pub framing: Framing,
    /// The repeated fields, from name to name, that lead from each message to those that are the rows.
    pub rows: Option<String>,
    /// How values are delivered.
    pub mapping: Mapping,
}

/// An opened file: its messages have been found.
#[derive(Clone, Debug)]
pub struct ProtoFile {
    source: Arc<dyn Source>,
    fields: Arc<Fields>,
    framing: Framing,
    path: Vec<u32>,
    blocks: Arc<[RunOfMessages]>,
}

/// Messages that are read together.
#[derive(Clone, Debug)]
struct RunOfMessages {
    entries: Range<u64>,
    stored: Stored,
    /// What the [`Walk`] has to know at its beginning.
    state: Vec<i64>,
}

impl ProtoFile {
    /// Finds the messages of a file, reading it once. What cannot be found at its end, because the file was cut, is one
    /// more entry, which cannot be read.
    ///
    /// # Errors
    /// The source cannot be read; the schema has no such type.
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
        let blocks = find(source.as_ref(), Walk::new(framing, path.clone(), source.size()?))?.into();
        Ok(Self { source, fields, framing, path, blocks })
    }

    /// The source of its bytes.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// The full name of the message type.
    #[must_use]
    pub fn name(&self) -> &str {
        self.fields.name()
    }
}

/// The bytes of a source, a piece at a time.
struct Pieces<'s> {
    source: &'s dyn Source,
    size: u64,
    /// Whether pieces are views, where that saves a copy.
    views: bool,
    from: u64,
    piece: bytes::Bytes,
}

impl Bytes for Pieces<'_> {
    fn from(&mut self, at: u64) -> Result<&[u8]> {
        let known = at.checked_sub(self.from).and_then(|at| usize::try_from(at).ok());
        let known = known.filter(|at| *at < self.piece.len());
        let within = match known {
            Some(within) => within,
            None => {
                let range = at..at.saturating_add(PIECE).min(self.size);
                self.piece = match self.views {
                    true => self.source.view(range)?,
                    false => self.source.read_one(range)?,
                };
                self.from = at;
                0
            }
        };
        self.piece.get(within..).filter(|bytes| !bytes.is_empty()).ok_or_else(|| truncated(at))
    }
}

/// The runs of messages of a file.
fn find(source: &dyn Source, walk: Walk) -> Result<Vec<RunOfMessages>> {
    if source.zero_copy() {
        let before = source.version()?;
        let found = find_in(source, walk.clone(), true);
        if source.version()? == before && before.is_none_or(|version| version.is_settled()) {
            return found;
        }
    }
    find_in(source, walk, false)
}

fn find_in(source: &dyn Source, mut walk: Walk, views: bool) -> Result<Vec<RunOfMessages>> {
    let size = source.size()?;
    let mut bytes = Pieces { source, size, views, from: 0, piece: bytes::Bytes::new() };
    let mut blocks: Vec<RunOfMessages> = Vec::new();
    let (mut start, mut state) = (0, walk.state());
    // Behind the last message; further on there may be what belongs to none.
    let mut end = 0;
    let (mut first, mut next) = (0u64, 0u64);
    loop {
        let found = match walk.next(&mut bytes, size) {
            Err(error) if matches!(error.kind, ErrorKind::Source(_)) => return Err(error),
            found => found,
        };
        if let Ok(Some(message)) = &found {
            // Entries of a block end where the next one begins.
            if message.start > end && next > first && walk.has_gaps() {
                let entries = first..next;
                blocks.push(RunOfMessages { entries, stored: Stored::Range(start..end), state: Vec::new() });
                (start, first) = (message.start, next);
            }
            (end, next) = (message.end, next + 1);
        }
        let is_full = end - start >= BLOCK || next - first >= MOST_IN_BLOCK;
        if next > first && (is_full || !matches!(found, Ok(Some(_)))) {
            let entries = first..next;
            blocks.push(RunOfMessages { entries, stored: Stored::Range(start..end), state });
            (start, first, state) = (end, next, walk.state());
        }
        match found {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(blocks),
            Err(error) => {
                let at = error.place.byte;
                let stored = Stored::Missing { reason: error.kind.to_string(), at };
                blocks.push(RunOfMessages { entries: next..next + 1, stored, state: Vec::new() });
                return Ok(blocks);
            }
        }
    }
}

/// The messages of a [`ProtoFile`].
#[derive(Debug)]
pub struct ProtoTable(ProtoFile);

impl ProtoTable {
    /// The table that a file is.
    #[must_use]
    pub const fn new(file: ProtoFile) -> Self {
        Self(file)
    }

    /// The file.
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

    /// The numbers of the blocks with some of these entries.
    fn within(&self, entries: &Range<u64>) -> Range<usize> {
        let blocks = &self.0.blocks;
        let from = blocks.partition_point(|block| block.entries.end <= entries.start);
        let to = blocks.partition_point(|block| block.entries.start < entries.end);
        from..to.max(from)
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
        Ok(self.0.blocks.last().map_or(0, |block| block.entries.end))
    }

    fn fields(&self) -> Result<&[Field]> {
        Ok(&self.0.fields.fields)
    }

    fn describe(&self, field: u32) -> Result<Description> {
        let type_name = self.0.fields.type_name(field).map_err(|error| self.here(error, None))?.to_owned();
        let reading = match self.0.fields.reading(field, &dialect(self.0.framing_of_rows().frame())) {
            Ok(reading) => Ok(reading),
            Err(Error { kind: ErrorKind::Unsupported { what } | ErrorKind::Invalid { what }, .. }) => {
                Err(what)
            }
            Err(error) => return Err(self.here(error, Some(field))),
        };
        // Messages hold all fields; nothing says how much of them is whose.
        let stored = self.0.blocks.iter().map(|block| block.stored.len()).fold(0, u64::saturating_add);
        let stored = stored / self.0.fields.whole().len().max(1) as u64;
        Ok(Description {
            type_name,
            reading,
            entries: self.entries()?,
            blocks: self.0.blocks.len() as u64,
            stored_bytes: stored,
            payload_bytes: stored,
        })
    }

    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        check_entries(&entries, self.entries()?).map_err(|error| self.here(error, None))?;
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
            // The first that cannot be read by itself is to blame.
            let is_readable = |field: &u32| self.0.fields.group(&[*field], &dialect).is_ok();
            self.here(error, fields.iter().find(|field| !is_readable(field)).copied())
        })?;
        plan.groups.push(group);
        plan.picks = picks;
        plan.delivered = 1;
        for number in self.within(&entries) {
            let block = &self.0.blocks[number];
            let wanted = block.entries.start.max(entries.start)..block.entries.end.min(entries.end);
            if !wanted.is_empty() {
                let task = Task::of(0, number as u64, block.entries.clone(), block.stored.clone());
                let numbers = numbers(self.0.framing, &self.0.path, &block.state);
                plan.tasks.push(Task { wanted, numbers, ..task });
            }
        }
        Ok(plan)
    }

    fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        for field in fields {
            self.0.fields.type_name(*field).map_err(|error| self.here(error, None))?;
        }
        let blocks = &self.0.blocks[self.within(&entries)];
        Ok(cuts(&entries, blocks.iter().map(|block| block.entries.clone())))
    }
}

impl ProtoFile {
    /// What is before each message of the table.
    const fn framing_of_rows(&self) -> Framing {
        if self.path.is_empty() { self.framing } else { Framing::Delimited }
    }
}
