//! Table of a container file.

use crate::{
    container::{BlockCodec, BlockPlace, Damage, Header, MARKER, Walk},
    fixed,
    format::AvroFormat,
    resolve::{Fields, VALUE},
    schema::Schema,
    translate::DIALECT,
};
use forthwith_columns::{DType, Form};
use forthwith_io::Source;
use forthwith_plan::{
    ColumnSpec, Dataset, Decoder, Description, Error, ErrorKind, Extent, Field, Group, Pick, Plan, Reading,
    Result, Stored, Task, cuts,
};
use forthwith_platform::ProcessLock;
use forthwith_program::{Program, translate, translate_checking};
use std::{collections::HashSet, ops::Range, sync::Arc};

/// Size in bytes up to which consecutive blocks are combined to a task: the overhead of smaller tasks is
/// noticeable.
const TASK: u64 = 512 << 10;
/// Size in bytes up to which consecutive compressed blocks are combined to a task.
const TASK_COMPRESSED: u64 = 256 << 10;
/// Assumed compression ratio.
const RATIO: u64 = 4;

/// Opened container file, whose header has been read.
#[derive(Clone)]
pub struct AvroFile {
    source: Arc<dyn Source>,
    header: Arc<Header>,
}

/// Options for reading a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Reader's schema: values are delivered with its fields in its order, promoted to its types, with its
    /// defaults for absent fields. `None` to deliver values as written.
    pub schema: Option<Arc<Schema>>,
    /// Whether blocks that cannot be found or framed are skipped instead of being an error; see
    /// [`AvroTable::damage`].
    pub skip_damaged: bool,
    /// Whether each block is a task of its own, however small, so that errors refer to it.
    pub single_blocks: bool,
}

/// Table of a container file. Its blocks are found as far as their entries are requested, since files
/// have no index of them. Threads can share it.
pub struct AvroTable {
    uri: String,
    name: String,
    codec: BlockCodec,
    /// State of the search for blocks, and the state from which it starts.
    walk: Arc<ProcessLock<Option<Walk>>>,
    begin: Arc<Walk>,
    single_blocks: bool,
    columns: Fields,
    fields: Vec<Field>,
    /// Cached decoder of the last request: types and plans are requested in turn.
    recent: Arc<ProcessLock<Option<Recent>>>,
}

/// Requested fields and their decoder.
type Recent = (Vec<u32>, Group);

impl AvroFile {
    /// Whether bytes begin with the magic bytes of a container file.
    #[must_use]
    pub fn is_avro(head: &[u8]) -> bool {
        head.starts_with(b"Obj\x01")
    }

    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// Returns an error if the source is not a container file, if its schema is invalid, or if its codec is
    /// unknown.
    pub fn open(source: Arc<dyn Source>) -> Result<Self> {
        let header = Header::read(source.as_ref()).map_err(|e| e.in_file(source.uri()))?;
        Ok(Self { source, header: Arc::new(header) })
    }

    /// Returns the URI of the file.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.source.uri()
    }

    /// Returns the source.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Returns the header of the file.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the name of the outermost type without its namespace, or "values" if it has none.
    #[must_use]
    pub fn name(&self) -> String {
        let schema = &self.header.schema;
        let name = schema.name(schema.root_id()).map(crate::Name::short).filter(|name| !name.is_empty());
        name.unwrap_or("values").to_owned()
    }

    /// Returns the values as a table. Blocks are not searched yet, unless damaged ones are skipped: then all
    /// are.
    ///
    /// # Errors
    /// Returns an error if the schema of the file cannot be read as that of the options.
    pub fn table(&self, options: &Options) -> Result<AvroTable> {
        self.open_table(options).map_err(|e| e.in_file(self.uri()))
    }

    fn open_table(&self, options: &Options) -> Result<AvroTable> {
        let writer = &self.header.schema;
        let columns = match &options.schema {
            None => Fields::of(writer),
            Some(reader) => Fields::resolved(writer, reader)
                .map_err(|why| Error::invalid(format!("the schema asked for: {why}")))?,
        };
        let mut walk = Walk::new(&self.source, &self.header, options.skip_damaged);
        if options.skip_damaged {
            walk.reach(u64::MAX)?;
        }
        let fields = columns.fields();
        Ok(AvroTable {
            uri: self.uri().to_owned(),
            name: self.name(),
            codec: self.header.codec,
            walk: Arc::default(),
            begin: Arc::new(walk),
            single_blocks: options.single_blocks,
            columns,
            fields,
            recent: Arc::default(),
        })
    }
}

impl AvroTable {
    /// Finds and returns all blocks. They are visited in order, reading only their headers and sync markers.
    ///
    /// # Errors
    /// Returns an error with number and byte offset if a block is truncated or does not end with the sync
    /// marker, unless damaged blocks are skipped.
    pub fn blocks(&self) -> Result<Vec<BlockPlace>> {
        self.reach(u64::MAX, |walk| walk.blocks.clone())
    }

    /// Returns the parts of the file that were skipped so far.
    #[must_use]
    pub fn damage(&self) -> Vec<Damage> {
        self.walk(|walk| walk.damage.clone())
    }

    /// Calls `act` with the walk. A panic leaves it consistent: it is in a valid state after each change.
    fn walk<T>(&self, act: impl FnOnce(&mut Walk) -> T) -> T {
        act(self.walk.lock().get_or_insert_with(|| Walk::clone(&self.begin)))
    }

    /// Calls `act` with the walk, which has found at least `entries` entries, or all if there are fewer.
    fn reach<T>(&self, entries: u64, act: impl FnOnce(&mut Walk) -> T) -> Result<T> {
        let reached = self.walk(|walk| walk.reach(entries).map(|()| act(walk)));
        reached.map_err(|e| e.in_file(&self.uri))
    }

    /// Returns this table with a task for each block, so that errors refer to it.
    #[must_use]
    pub fn with_single_blocks(&self) -> Self {
        Self {
            uri: self.uri.clone(),
            name: self.name.clone(),
            codec: self.codec,
            walk: Arc::clone(&self.walk),
            begin: Arc::clone(&self.begin),
            single_blocks: true,
            columns: self.columns.clone(),
            fields: self.fields.clone(),
            recent: Arc::clone(&self.recent),
        }
    }

    /// Returns this table without some blocks, given by their numbers, which turned out to be corrupt.
    ///
    /// # Errors
    /// Returns an error if [`blocks`](Self::blocks) does.
    pub fn without(&self, bad: &[(u64, String)]) -> Result<Self> {
        let begin = Arc::new(self.reach(u64::MAX, |walk| walk.without(bad))?);
        Ok(Self { walk: Arc::default(), begin, ..self.with_single_blocks() })
    }

    /// Returns the fields that a plan of this table delivers.
    fn fields_of(&self, plan: &Plan) -> Option<Vec<u32>> {
        let number = |path: &str| self.fields.iter().position(|field| field.path == path).map(|at| at as u32);
        let group = plan.groups.first()?;
        let names = match &group.form {
            _ if !self.columns.is_record() => &vec![VALUE.to_owned()],
            Form::Record { fields: Some(names), .. } if group.split => names,
            _ => return None,
        };
        if plan.picks.is_empty() {
            return names.iter().map(|name| number(name)).collect();
        }
        let path = |pick: &Pick| {
            let first = names.get(pick.array as usize)?;
            Some(std::iter::once(first).chain(&pick.path).map(String::as_str).collect::<Vec<_>>().join("/"))
        };
        plan.picks.iter().map(|pick| number(&path(pick)?)).collect()
    }

    /// Returns a decoder of some fields that checks each value as it is decoded, except in the first `ahead`
    /// entries.
    fn checking(&self, fields: &[u32], ahead: u64) -> Result<Group> {
        let layout = self.columns.layout(fields)?;
        let program = translate_checking(&layout, &DIALECT, false, "", ahead)
            .map_err(|why| Error::unsupported(why.0))?;
        Ok(self.of_program(program, String::new(), self.columns.is_record()))
    }

    fn field(&self, field: u32) -> Result<&Field> {
        self.fields.get(field as usize).ok_or_else(|| Error::no_field(field, self.fields.len()))
    }

    /// Returns the decoder of some fields, from the cache if they are those of the last request.
    fn group(&self, fields: &[u32]) -> Result<Group> {
        if let Some((known, group)) = &*self.recent.lock()
            && known == fields
        {
            return Ok(group.clone());
        }
        let group = self.make_group(fields)?;
        *self.recent.lock() = Some((fields.to_vec(), group.clone()));
        Ok(group)
    }

    /// Creates the decoder of some fields: a kernel for numbers at fixed offsets, a program for anything
    /// else.
    fn make_group(&self, fields: &[u32]) -> Result<Group> {
        let layout = self.columns.layout(fields)?;
        let path = match fields {
            [only] if self.columns.is_record() => self.field(*only)?.path.clone(),
            _ => String::new(),
        };
        let split = self.columns.is_record();
        if let Some((kernel, form, columns)) = fixed::kernel(&layout) {
            let reading = Reading { form, decoder: Decoder::Kernel(kernel), reason: FIXED.into() };
            return Ok(Group { split, ..Group::of(path, reading, columns) });
        }
        let program = translate(&layout, &DIALECT, false, "").map_err(|why| Error::unsupported(why.0))?;
        Ok(self.of_program(program, path, split))
    }

    /// Returns the decoder of one field for display. In wide tables, it omits the other fields, which would
    /// be most of it.
    fn shown(&self, field: u32) -> Result<Group> {
        if self.columns.count() <= WIDE {
            return self.make_group(&[field]);
        }
        let layout = self.columns.alone(field)?;
        let program = translate(&layout, &DIALECT, false, "").map_err(|why| Error::unsupported(why.0))?;
        let mut group = self.of_program(program, self.field(field)?.path.clone(), false);
        group.reason.push_str(ALONE);
        Ok(group)
    }

    fn of_program(&self, program: Program, path: String, split: bool) -> Group {
        let columns = specs(&program);
        Group { split, ..Group::of(path, Reading::program(program, REASON), columns) }
    }

    /// Whether a field can be read by itself.
    fn is_readable(&self, field: u32) -> bool {
        let layout = self.columns.alone(field);
        layout.is_ok_and(|layout| translate(&layout, &DIALECT, false, "").is_ok())
    }

    /// Returns the blocks that overlap a range of entries.
    fn blocks_of(&self, entries: &Range<u64>) -> Result<Vec<BlockPlace>> {
        self.reach(entries.end, |walk| {
            let from = walk.blocks.partition_point(|block| block.entries.end <= entries.start);
            let to = walk.blocks.partition_point(|block| block.entries.start < entries.end);
            walk.blocks.get(from..to).unwrap_or_default().to_vec()
        })
    }

    /// Returns the number of entries and blocks found when `most` entries, or all, are found, and the stored
    /// bytes of one field. Blocks contain all fields: their bytes are divided equally between them.
    fn counted(&self, most: u64) -> Result<(u64, u64, u64)> {
        let (entries, blocks, stored) = self.reach(most, |walk| {
            let stored: u64 = walk.blocks.iter().map(|block| block.bytes.end - block.bytes.start).sum();
            (walk.entries(), walk.blocks.len() as u64, stored)
        })?;
        Ok((entries, blocks, stored / self.columns.count() as u64))
    }

    fn tasks(&self, entries: &Range<u64>) -> Result<Vec<Task>> {
        let mut tasks: Vec<Task> = Vec::new();
        let enough = if self.codec == BlockCodec::Null { TASK } else { TASK_COMPRESSED };
        let ratio = if self.codec == BlockCodec::Null { 1 } else { RATIO };
        if entries.is_empty() {
            return Ok(tasks);
        }
        for block in self.blocks_of(entries)? {
            let wanted = block.entries.start.max(entries.start)..block.entries.end.min(entries.end);
            let length = block.bytes.end - block.bytes.start;
            // Extend the last task if it is small and the block follows it directly.
            if let Some(last) = tasks.last_mut().filter(|_| !self.single_blocks)
                && let Stored::Range(stored) = &mut last.stored
                && stored.end == block.bytes.start
                && stored.end - stored.start + length <= enough
            {
                stored.end = block.bytes.end;
                last.entries.end = block.entries.end;
                last.wanted.end = wanted.end;
                last.payload_hint = last.payload_hint.saturating_add(length.saturating_mul(ratio));
                continue;
            }
            let stored = Stored::Range(block.bytes.start - MARKER..block.bytes.end);
            tasks.push(Task {
                wanted,
                payload_hint: length.saturating_mul(ratio),
                ..Task::of(0, block.number, block.entries.clone(), stored)
            });
        }
        Ok(tasks)
    }

    fn here(&self, error: Error, field: Option<u32>) -> Error {
        let path = field.and_then(|field| self.fields.get(field as usize)).map(|field| field.path.as_str());
        match path {
            Some(path) => error.in_object(&format!("{}/{path}", self.name)),
            None => error.in_object(&self.name),
        }
        .in_file(&self.uri)
    }
}

impl Dataset for AvroTable {
    fn format(&self) -> &'static str {
        forthwith_plan::BlockFormat::id(&AvroFormat::of(self.codec))
    }

    fn object(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<u64> {
        self.entries_up_to(u64::MAX)
    }

    fn entries_up_to(&self, most: u64) -> Result<u64> {
        self.reach(most, |walk| walk.entries().min(most))
    }

    fn counts_blocks(&self) -> bool {
        true
    }

    fn entries_counted(&self) -> Result<u64> {
        Ok(self.walk(|walk| walk.entries()))
    }

    fn likely_entries(&self) -> Result<u64> {
        self.walk(|walk| walk.likely_entries()).map_err(|e| e.in_file(&self.uri))
    }

    fn is_record(&self) -> bool {
        self.columns.is_record()
    }

    fn entry_range(&self, field: u32, most: u64) -> Result<Range<u64>> {
        self.field(field)?;
        Ok(0..self.entries_up_to(most)?)
    }

    fn fields(&self) -> Result<&[Field]> {
        Ok(&self.fields)
    }

    fn codecs(&self, _: u32) -> Result<Vec<String>> {
        Ok(vec![self.codec.name().into()])
    }

    fn describe(&self, field: u32) -> Result<Description> {
        self.describe_first(field, u64::MAX)
    }

    fn describe_first(&self, field: u32, most: u64) -> Result<Description> {
        self.field(field)?;
        let reading = match self.shown(field) {
            Ok(group) => {
                let form = match group.form {
                    Form::Record { mut contents, .. } if group.split => contents.pop().unwrap_or(Form::Empty),
                    form => form,
                };
                let form = form.pick(self.columns.path(field)).unwrap_or(Form::Empty);
                Ok(Reading { form, decoder: group.decoder, reason: group.reason })
            }
            Err(error) => match error.kind {
                ErrorKind::Unsupported { what } | ErrorKind::Invalid { what } => Err(what),
                _ => return Err(self.here(error, Some(field))),
            },
        };
        let (entries, blocks, stored) = self.counted(most)?;
        Ok(Description {
            type_name: self.columns.type_name(field),
            reading,
            entries,
            blocks,
            stored_bytes: stored,
            payload_bytes: if self.codec == BlockCodec::Null { stored } else { 0 },
        })
    }

    fn extents(&self, fields: &[u32], most: u64) -> Result<Vec<Extent>> {
        for field in fields {
            self.field(*field)?;
        }
        let together = if fields.len() > 1 && self.columns.picks(fields).is_empty() {
            self.group(fields).ok()
        } else {
            None
        };
        let Some(Group { form: Form::Record { contents, .. }, split: true, .. }) = together else {
            return fields.iter().map(|field| Ok(self.describe_first(*field, most)?.into())).collect();
        };
        let (entries, _, bytes) = self.counted(most)?;
        Ok(contents.into_iter().map(|form| Extent { form: Ok(form), entries, bytes }).collect())
    }

    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        let there = self.entries_up_to(entries.end)?;
        if entries.start > entries.end || entries.end > there {
            let what = format!(
                "entries {} to {} of {:?}, which has {there}",
                entries.start, entries.end, self.name,
            );
            return Err(self.here(Error::invalid(what), None));
        }
        let mut plan = Plan {
            format: Dataset::format(self).into(),
            uri: self.uri.clone(),
            object: self.name.clone(),
            entries,
            utf8: true,
            bits: false,
            views: false,
            ..Plan::default()
        };
        if fields.is_empty() {
            return Ok(plan);
        }
        for field in fields {
            self.field(*field)?;
        }
        match self.group(fields) {
            Ok(group) => {
                plan.groups.push(group);
                plan.picks = self.columns.picks(fields);
            }
            Err(error) => {
                // The error names the first field that cannot be read by itself.
                let to_blame = fields.iter().find(|field| !self.is_readable(**field)).copied();
                return Err(self.here(error, to_blame));
            }
        }
        plan.delivered = 1;
        plan.tasks = self.tasks(&plan.entries)?;
        Ok(plan)
    }

    fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        for field in fields {
            self.field(*field)?;
        }
        Ok(cuts(&entries, self.blocks_of(&entries)?.into_iter().map(|block| block.entries)))
    }

    /// Returns plans with a task for each block, and programs that report the location of every error. The
    /// first block becomes a plan of its own if entries before the wanted ones must be decoded: booleans in
    /// them are not checked.
    fn locate_damage(&self, plan: &Plan, task: Option<&Task>) -> Result<Vec<Plan>> {
        let entries = task.map_or_else(|| plan.entries.clone(), |task| task.wanted.clone());
        let mut first = self.with_single_blocks().tasks(&entries)?;
        let ahead = first.first().map_or(0, |task| task.wanted.start.saturating_sub(task.entries.start));
        let others = if ahead > 0 { first.split_off(1) } else { Vec::new() };
        if let Some(task) = first.first_mut() {
            task.wanted.start = task.entries.start;
        }
        let fields = self.fields_of(plan);
        let mut plans = Vec::new();
        for (tasks, ahead) in [(first, ahead), (others, 0)] {
            let (Some(from), Some(to)) = (tasks.first(), tasks.last()) else { continue };
            let entries = from.wanted.start..to.wanted.end;
            let groups = match &fields {
                Some(fields) => vec![self.checking(fields, ahead)?],
                None => plan.groups.clone(),
            };
            // Nor is text in these entries validated: invalid text has been reported.
            let utf8 = plan.utf8 && ahead == 0;
            // Whole blocks are read, so an error may name an entry that is not in the selection but in the
            // damaged block.
            plans.push(Plan {
                entries,
                tasks,
                groups,
                utf8,
                chosen: None,
                constants: Vec::new(),
                ..plan.clone()
            });
        }
        Ok(plans)
    }
}

/// Reason for decoding by a kernel.
const FIXED: &str =
    "every value takes the same number of bytes, and what is wanted are numbers at fixed places";
/// Number of fields above which a table is wide.
const WIDE: usize = 256;
/// Note on programs that are shown without the other fields.
const ALONE: &str = "; as there are many fields, the program of each is shown as if there were no others";
/// Reason for decoding by a program.
const REASON: &str = "an Avro block holds whole values, one after the other";

/// Returns the columns that a program fills.
pub(crate) fn specs(program: &Program) -> Vec<ColumnSpec> {
    let mut once = HashSet::new();
    one_per_entry(&program.form, &mut once);
    let spec = |output: &forthwith_program::OutputBinding| ColumnSpec {
        key: output.key.clone(),
        dtype: output.dtype,
        offsets: output.offsets,
        member: output.member.clone(),
        bytes_per_payload_byte: match output.dtype {
            _ if once.contains(&output.key) => 0,
            // A list, a string and a varint take at least one byte.
            DType::Int64 => 8,
            DType::Int32 => 4,
            _ => 1,
        },
    };
    program.outputs.iter().map(spec).collect()
}

/// Collects the columns that have one item for each entry.
fn one_per_entry(form: &Form, found: &mut HashSet<String>) {
    let mut add = |key: &str, part: &str| {
        found.insert(format!("{key}-{part}"));
    };
    match form {
        Form::Numpy { key, .. } => add(key, "data"),
        Form::String { key, .. } => {
            add(key, "offsets");
            add(key, "index");
        }
        Form::Categorical { key, .. } => add(key, "index"),
        Form::List { key, .. } => add(key, "offsets"),
        Form::Option { key, .. } | Form::Union { key, .. } => add(key, "tags"),
        Form::Logical { content, .. } => one_per_entry(content, found),
        Form::Record { contents, .. } => contents.iter().for_each(|content| one_per_entry(content, found)),
        _ => {}
    }
}

forthwith_io::impl_debug!(AvroTable, |it| "uri": it.uri);

forthwith_io::impl_debug!(AvroFile, |it| "uri": it.uri());
