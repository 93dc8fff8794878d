//! Recovery of damaged files: readable data are written to a new file.

use crate::{DamagedPart, File, FileFormat, Loss, OpenOptions, SelectOptions, Step, check_ending, formats};
use forthwith_columns::Form;
use forthwith_engine::Engine;
use forthwith_io::{MemorySink, Sink, Source};
use forthwith_plan::{Error, ErrorKind, Result, WriteOptions};
use serde::Serialize;
use std::{ops::Range, sync::Arc};

/// Result of [`recover`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecoverReport {
    /// Size of the written file in bytes.
    pub bytes: u64,
    /// Tables that were written, whole or in part.
    pub tables: Vec<RecoveredTable>,
    /// Number of objects that are not tables and were written.
    pub objects: u64,
    /// Objects and tables that could not be read.
    pub lost_objects: Vec<LostObject>,
    /// Parts of the file that cannot be decoded.
    pub gaps: Vec<DamagedPart>,
    /// Number of blocks that no readable table refers to, such as those written after the last save.
    pub unlisted_blocks: u64,
}

/// A recovered table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecoveredTable {
    /// Path of the table; empty if the file is one table.
    pub path: String,
    /// Cycle that could be read, for formats that keep several.
    pub cycle: Option<u16>,
    /// Description of how absent metadata were reconstructed.
    pub made_anew: Option<String>,
    /// Number of entries that were written.
    pub entries: u64,
    /// Number of written entries from after the last save of the table.
    pub unsaved_entries: u64,
    /// Number of declared entries that could not be read in all columns.
    pub lost_entries: u64,
    /// Ranges of lost entries with their reasons, in ascending order.
    pub losses: Vec<LostEntries>,
    /// Number of further ranges.
    pub more_losses: u64,
    /// Columns without a readable entry.
    pub lost_columns: Vec<LostColumn>,
}

/// Entries of a table that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostEntries {
    /// First lost entry.
    pub begin: u64,
    /// End of the range.
    pub end: u64,
    /// Path of the column, if known.
    pub column: Option<String>,
    /// Byte offset of the start of the damaged block, if known.
    pub begin_byte: Option<u64>,
    /// Byte offset of the end of that block, if known.
    pub end_byte: Option<u64>,
    /// Description of the fault.
    pub what: String,
}

/// A column that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostColumn {
    /// Path of the column in the table.
    pub path: String,
    /// Description of the fault.
    pub what: String,
}

/// An object that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostObject {
    /// Path of the object, with its cycle.
    pub path: String,
    /// Class of the object.
    pub class: String,
    /// Byte offset of its start in the file.
    pub begin_byte: u64,
    /// Byte offset of its end.
    pub end_byte: u64,
    /// Description of the fault.
    pub what: String,
}

/// Callback with the number of bytes copied so far and in total; returns `false` to cancel the recovery.
pub type RecoverProgress<'p> = dyn FnMut(u64, u64) -> bool + 'p;

impl RecoverReport {
    /// Whether no data were lost, as far as the file shows.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.lost_objects.is_empty()
            && self.gaps.is_empty()
            && self.unlisted_blocks == 0
            && self.tables.iter().all(|table| table.lost_entries == 0 && table.lost_columns.is_empty())
    }
}

impl RecoveredTable {
    /// Adds lost entries, to the last range if they follow it with the same column and block.
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
    /// Makes a loss of the entries that a reader lost, with the byte offset of the error.
    pub(crate) fn of(loss: &Loss, column: Option<String>) -> Self {
        let Range { start: begin, end } = loss.entries;
        let what = loss.error.kind.to_string();
        Self { begin, end, column, begin_byte: loss.error.place.byte, end_byte: None, what }
    }
}

/// Writes all readable data of a damaged file to a new file of the same format, and reports the losses. The
/// extension of the new name must match the format.
///
/// A ROOT file may be unclosed, truncated or have damaged records: trees and RNTuples keep the entries that
/// are readable in all columns, and other objects are copied. Files that are one table keep whole entries: of
/// an Avro file those of whole blocks, of an Arrow stream those of whole batches, of JSON Lines and CSV whole
/// lines.
///
/// # Errors
/// The file cannot be opened even for recovery; the sink fails; `progress` returned `false`.
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
    // Blocks may have several codecs; the default is used then.
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

/// Widens losses to whole blocks, as data of a damaged block before the fault may be wrong, too. Returns the
/// remaining ranges of the step.
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

/// Whether a file with these columns can be written with some options, such as a schema that must have all
/// columns.
fn takes(format: FileFormat, named: &[(String, Form)], options: WriteOptions) -> bool {
    crate::writer(format, named, Box::new(MemorySink::new("schema")), &options).is_ok()
}

/// Option for opening damaged files.
const RECOVER: &str = "recover";
/// Number of decompressed bytes that are read at a time.
const STEP: u64 = 32 << 20;
/// Maximum number of listed losses of a table.
const LISTED: usize = 1000;
