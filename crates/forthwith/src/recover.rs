//! Damaged files written anew, with everything of them that can be read.

use crate::{DamagedPart, File, FileFormat, Loss, OpenOptions, SelectOptions, Step, check_ending, formats};
use forthwith_columns::Form;
use forthwith_engine::Engine;
use forthwith_io::{MemorySink, Sink, Source};
use forthwith_plan::{Error, ErrorKind, Result, WriteOptions};
use serde::Serialize;
use std::{ops::Range, sync::Arc};

/// The result of [`recover`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecoverReport {
    /// Bytes of the file that was written.
    pub bytes: u64,
    /// Tables that were written, whole or in part.
    pub tables: Vec<RecoveredTable>,
    /// Number of objects that are not tables and were written.
    pub objects: u64,
    /// Objects and tables that could not be read.
    pub lost_objects: Vec<LostObject>,
    /// Parts of the file in which nothing can be told apart.
    pub gaps: Vec<DamagedPart>,
    /// Blocks that belong to no readable table, such as those written after the last save.
    pub unlisted_blocks: u64,
}

/// A table that was recovered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecoveredTable {
    /// Its path; empty if the file is one table.
    pub path: String,
    /// The version of it that could be read, where its format keeps several.
    pub cycle: Option<u16>,
    /// How its metadata were made anew, if they were missing.
    pub made_anew: Option<String>,
    /// Entries that were written.
    pub entries: u64,
    /// Of these, entries that were written after the table was saved for the last time.
    pub unsaved_entries: u64,
    /// Entries that the table says it has, and that could not be read in all columns.
    pub lost_entries: u64,
    /// The reasons, in the order of the entries.
    pub losses: Vec<LostEntries>,
    /// Number of further reasons.
    pub more_losses: u64,
    /// Columns without a readable entry.
    pub lost_columns: Vec<LostColumn>,
}

/// Entries of a table that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostEntries {
    /// The first of them.
    pub begin: u64,
    /// The entry behind the last.
    pub end: u64,
    /// The column, if it is known.
    pub column: Option<String>,
    /// The first byte of the damaged block, if it is known.
    pub begin_byte: Option<u64>,
    /// The byte behind that block.
    pub end_byte: Option<u64>,
    /// The fault.
    pub what: String,
}

/// A column that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostColumn {
    /// Its path in the table.
    pub path: String,
    /// The fault.
    pub what: String,
}

/// An object that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostObject {
    /// Its path, with a cycle.
    pub path: String,
    /// Its class.
    pub class: String,
    /// Its first byte in the file.
    pub begin_byte: u64,
    /// The byte behind it.
    pub end_byte: u64,
    /// The fault.
    pub what: String,
}

/// Called with the bytes copied so far and their total; an answer of `false` ends the recovery.
pub type RecoverProgress<'p> = dyn FnMut(u64, u64) -> bool + 'p;

impl RecoverReport {
    /// Whether nothing was lost, as far as the file tells.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.lost_objects.is_empty()
            && self.gaps.is_empty()
            && self.unlisted_blocks == 0
            && self.tables.iter().all(|table| table.lost_entries == 0 && table.lost_columns.is_empty())
    }
}

impl RecoveredTable {
    /// Notes entries that could not be read. Those behind others with the same fault of the same block are one loss.
    pub(crate) fn lose(&mut self, loss: LostEntries) {
        let extends = |last: &&mut LostEntries| {
            last.end == loss.begin && last.column == loss.column && last.begin_byte == loss.begin_byte
        };
        if let Some(last) = self.losses.last_mut().filter(extends) {
            last.end = loss.end;
        } else if self.losses.len() < LISTED {
            self.losses.push(loss);
        } else {
            self.more_losses += 1;
        }
    }
}

impl LostEntries {
    /// Entries that a reader lost, at the byte that the error names.
    pub(crate) fn of(loss: &Loss, column: Option<String>) -> Self {
        let Range { start: begin, end } = loss.entries;
        let what = loss.error.kind.to_string();
        Self { begin, end, column, begin_byte: loss.error.place.byte, end_byte: None, what }
    }
}

/// Writes a sound file with everything readable of a damaged one, and reports the losses. The new file has the format of the
/// old one; the ending of its name must fit.
///
/// A ROOT file may not have been closed, be cut off or have damaged records: trees and RNTuples keep the entries that can be read in all
/// columns, other objects are copied. Of files that are one table, whole entries are kept: of an Avro file those of whole blocks, of a
/// stream of Arrow those of whole batches, of JSON Lines and CSV whole lines.
///
/// # Errors
/// The file cannot be opened, even so; what the sink says; `progress` said to stop.
pub fn recover(
    source: Arc<dyn Source>,
    engine: Arc<Engine>,
    options: &OpenOptions,
    sink: Box<dyn Sink>,
    progress: &mut RecoverProgress<'_>,
) -> Result<RecoverReport> {
    let mut options = options.clone();
    if formats::understands(&source, &options, RECOVER)? {
        options.set(RECOVER, true);
    }
    let file = File::from_source_with(source, engine, &options)?;
    if crate::merge::is_same(file.uri(), sink.uri()) {
        let what = format!("{} is the file to recover, so it cannot be written", sink.uri());
        return Err(Error::invalid(what).in_file(file.uri()));
    }
    check_ending(file.format(), sink.uri())?;
    if file.is_one_table() {
        return recover_table(&file, sink, progress);
    }
    file.container().recover(&file, sink, progress)
}

/// Recovers a file that is one table.
fn recover_table(
    file: &File,
    sink: Box<dyn Sink>,
    progress: &mut RecoverProgress<'_>,
) -> Result<RecoverReport> {
    let format = FileFormat::named(file.format())
        .ok_or_else(|| Error::unsupported(format!("writing {} files", file.format())).in_file(file.uri()))?;
    let mut report = RecoverReport::default();
    let mut recovered = RecoveredTable::default();
    let table = file.table("")?;
    let (table, gaps) = table.around_damage()?.unwrap_or_else(|| (table, Vec::new()));
    let size = file.source().size()?;
    for (at, gap) in gaps.iter().enumerate() {
        let end = gap.end_byte.unwrap_or_else(|| gaps.get(at + 1).map_or(size, |next| next.byte));
        let block = (!format.is_text()).then_some(gap.block);
        let (entries, what) = (gap.entries, gap.what.clone());
        recovered.lost_entries = recovered.lost_entries.saturating_add(entries.unwrap_or(0));
        report.gaps.push(DamagedPart { begin: gap.byte, end, block, entries, what });
    }
    let (mut fields, mut named) = (Vec::new(), Vec::new());
    for (number, field) in (0..).zip(table.fields()?).filter(|(_, field)| !field.is_part) {
        match table.form(number) {
            Ok(form) => {
                fields.push((&*field.path, Some(number)));
                named.push((field.path.clone(), form));
            }
            Err(error) if matches!(error.kind, ErrorKind::Cancelled) => return Err(error),
            Err(error) => {
                let what = error.kind.to_string();
                recovered.lost_columns.push(LostColumn { path: field.path.clone(), what });
            }
        }
    }
    let takes = |options| takes(format, &named, options);
    let by_schema =
        |schema: &String| takes(WriteOptions { schema: Some(schema.clone()), ..WriteOptions::default() });
    // Blocks may have several codecs; the usual one is as good as any then.
    let codec =
        |codec: &String| takes(WriteOptions { codec: Some(codec.clone()), ..WriteOptions::default() });
    let options = WriteOptions {
        schema: file.schema().filter(by_schema),
        codec: file.info().ok().map(|info| info.compression).filter(codec),
        metadata: file.user_metadata(),
        arrow: table.arrow_schema(),
        ..WriteOptions::default()
    };
    let mut writer = crate::writer(format, &named, sink, &options)?;
    let selection = table.select_fields(&fields, SelectOptions::default())?;
    let mut steps = selection.steps(.., Step::Bytes(STEP))?;
    while let Some(step) = steps.skip_step()? {
        let likely = table.likely_entries()?.max(step.end);
        let done = |entry: u64| (u128::from(size) * u128::from(entry) / u128::from(likely.max(1))) as u64;
        let mut tick = |_: crate::Progress| progress(done(step.start), size);
        let (mut pieces, mut losses) = selection.read_around_damage(step.clone(), None, &mut tick)?;
        if !losses.is_empty() && !format.is_text() {
            let numbers: Vec<u32> = fields.iter().filter_map(|(_, number)| *number).collect();
            let kept = widen(&mut losses, &table.boundaries(&numbers, step.clone())?, &step);
            pieces.clear();
            for range in kept {
                let (sound, _) = selection.read_around_damage(range, None, &mut tick)?;
                pieces.extend(sound);
            }
        }
        for loss in &losses {
            recovered.lost_entries += loss.entries.end - loss.entries.start;
            recovered.lose(LostEntries::of(loss, None));
        }
        for piece in pieces {
            recovered.entries += piece.entries.end - piece.entries.start;
            writer.write(&piece.arrays)?;
        }
        if !progress(done(step.end), size) {
            return Err(Error::new(ErrorKind::Cancelled));
        }
    }
    report.bytes = writer.finish()?.bytes;
    report.tables.push(recovered);
    Ok(report)
}

/// Widens losses to whole blocks: what a damaged block had before its fault may be wrong, too. Returns the entries between
/// them.
fn widen(losses: &mut Vec<Loss>, boundaries: &[u64], step: &Range<u64>) -> Vec<Range<u64>> {
    let mut kept = Vec::new();
    let mut at = step.start;
    for loss in losses.iter_mut() {
        let entries = &mut loss.entries;
        let before = boundaries.partition_point(|boundary| *boundary <= entries.start);
        let begin = before.checked_sub(1).and_then(|last| boundaries.get(last)).map_or(step.start, |at| *at);
        let behind = boundaries.partition_point(|boundary| *boundary < entries.end);
        let end = boundaries.get(behind).map_or(step.end, |at| *at);
        // Two losses may be in one block.
        *entries = begin.max(at)..end.max(at);
        if at < entries.start {
            kept.push(at..entries.start);
        }
        at = entries.end;
    }
    losses.retain(|loss| !loss.entries.is_empty());
    if at < step.end {
        kept.push(at..step.end);
    }
    kept
}

/// Whether a file with these columns can be written with some options, such as a schema that lacks none of the columns.
fn takes(format: FileFormat, named: &[(String, Form)], options: WriteOptions) -> bool {
    crate::writer(format, named, Box::new(MemorySink::new("schema")), &options).is_ok()
}

/// The option by which formats open damaged files.
const RECOVER: &str = "recover";
/// Decompressed bytes that are read at a time.
const STEP: u64 = 32 << 20;
/// Losses that are listed for a table.
const LISTED: usize = 1000;
