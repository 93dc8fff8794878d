//! Reading of a range of a chain: all files together, or each with its own selection.

use super::{
    ChainLoss, ChainSelection, Damage, Portion,
    fill::{Reading, Segment, Wanted, together},
    is_unreadable,
    selection::ColumnLookup,
};
use crate::{Loss, ProgressCallback, Selected, Selection, table::bounds};
use forthwith_columns::{Array, Form};
use forthwith_plan::{Error, ErrorKind, Result};
use std::ops::{Range, RangeBounds};

/// Entries of a chain that were read.
#[derive(Debug)]
pub struct ChainSelected {
    /// Range of entries that was read, counted across all files.
    pub entries: Range<u64>,
    /// Entries that the arrays have; `None` for all of the range.
    pub kept: Option<Vec<u64>>,
    /// An array for each column.
    pub arrays: Vec<Array>,
    /// Entries and files that were left out, or whose values are null.
    pub lost: Vec<ChainLoss>,
}

/// Reason that files are not read into one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlike {
    /// The files differ in fields or types: several schemas may read them.
    Types,
    /// A file cannot be read; reading it alone gives the error.
    Unreadable,
}

/// Entries of consecutive files whose columns have the same types, read by [`ChainSelection::read_runs`].
#[derive(Debug)]
pub struct ChainRun {
    /// Number of the first of these files.
    pub file: usize,
    /// The entries.
    pub selected: ChainSelected,
}

/// Entries of one file.
struct FilePart {
    file: usize,
    uri: String,
    /// Range of entries that was read, counted within the file.
    entries: Range<u64>,
    /// Number of entries of the whole file.
    length: u64,
    kept: Option<Vec<u64>>,
    arrays: Vec<Array>,
    losses: Vec<Loss>,
}

/// Entries of one file, or the number and the error of a file that is left out.
type FileResult = Result<FilePart, (usize, Error)>;

impl ChainSelection {
    /// Reads and computes the columns for a range of entries. `threads` and `tick` are those of
    /// [`Table::read`](crate::Table::read); the progress is that of the files that are read together.
    ///
    /// # Errors
    /// Errors of [`Selection::read`], for the first file that fails; columns without a common type.
    pub fn read(
        &self,
        entries: impl RangeBounds<u64>,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<ChainSelected> {
        let (start, end) = bounds(&entries);
        let range = start..end.unwrap_or(u64::MAX);
        let portions = self.chain.portions(&range)?;
        let is_named = matches!(self.lookup, ColumnLookup::Names(_));
        if self.is_of_fields && is_named && self.chain.options().damage == Damage::Raise {
            let fields = Wanted::Names(&self.names);
            let (is_of_one_run, bits) = (false, self.bits);
            let mut reading = Reading { fields, portions: &portions, is_of_one_run, bits, threads, tick };
            let arrays = self.chain.fill(&mut reading)?;
            return self.of_all(&range, arrays);
        }
        let (first, parts) = self.parts(portions, threads, tick)?;
        self.assembled(first, parts)
    }

    /// Reads files whose columns have the same types, without conversions, or returns why they are not read
    /// into one result.
    ///
    /// # Errors
    /// [`Cancelled`](ErrorKind::Cancelled).
    pub fn read_alike(
        &self,
        entries: impl RangeBounds<u64>,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Result<ChainSelected, Unlike>> {
        let runs = self.runs(bounds(&entries), true, threads, tick)?;
        Ok(runs.and_then(|mut runs| match (runs.pop(), runs.is_empty()) {
            (Some(run), true) => Ok(run.selected),
            _ => Err(Unlike::Types),
        }))
    }

    /// Reads the files of several schemas without conversions. Consecutive files with the same types and with
    /// schemas of one [group](super::SchemaColumns::group) give one result; files without entries in the
    /// range give none. Returns `None` if a file cannot be read, or if no file has entries in the range.
    ///
    /// # Errors
    /// [`Cancelled`](ErrorKind::Cancelled).
    pub fn read_runs(
        &self,
        entries: impl RangeBounds<u64>,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Option<Vec<ChainRun>>> {
        Ok(self.runs(bounds(&entries), false, threads, tick)?.ok())
    }

    fn runs(
        &self,
        (start, end): (u64, Option<u64>),
        is_of_one_run: bool,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Result<Vec<ChainRun>, Unlike>> {
        let read = || -> Result<Option<Vec<ChainRun>>> {
            let ColumnLookup::Schemas(schemas) = &self.lookup else { return Ok(None) };
            let range = start..end.unwrap_or(u64::MAX);
            let portions = self.chain.portions(&range)?;
            if self.is_of_fields {
                let fields = Wanted::Schemas(schemas);
                let mut reading =
                    Reading { fields, portions: &portions, is_of_one_run, bits: self.bits, threads, tick };
                let segments = self.chain.fill_runs(&mut reading)?;
                return segments.map(|segments| self.runs_of_fields(range, segments)).transpose();
            }
            let (first, parts) = self.parts(portions, threads, tick)?;
            self.runs_of_parts(first, parts, is_of_one_run)
        };
        match read() {
            Err(error) if matches!(error.kind, ErrorKind::Cancelled) => Err(error),
            Err(error) if is_unreadable(&error) => Ok(Err(Unlike::Unreadable)),
            // Without entries, the type is not that of any file.
            Ok(Some(runs)) if !runs.is_empty() => Ok(Ok(runs)),
            _ => Ok(Err(Unlike::Types)),
        }
    }

    /// Converts consecutive segments of a range to runs.
    fn runs_of_fields(&self, range: Range<u64>, segments: Vec<Segment>) -> Result<Vec<ChainRun>> {
        let mut runs = Vec::with_capacity(segments.len());
        let mut start = range.start;
        for Segment { file, arrays, .. } in segments {
            let selected = self.of_all(&(start..range.end), arrays)?;
            start = selected.entries.end;
            if !selected.entries.is_empty() {
                runs.push(ChainRun { file, selected });
            }
        }
        Ok(runs)
    }

    /// Joins consecutive parts with the same types and group to runs; `first` is the number of entries before
    /// the first part. Returns `None` if a file was left out, or has other types and `is_of_one_run` is set.
    fn runs_of_parts(
        &self,
        first: u64,
        parts: Vec<FileResult>,
        is_of_one_run: bool,
    ) -> Result<Option<Vec<ChainRun>>> {
        fn forms(part: &FilePart) -> impl Iterator<Item = &Form> {
            part.arrays.iter().map(|array| &array.form)
        }
        let group = |part: &FilePart| match &self.lookup {
            ColumnLookup::Schemas(schemas) => schemas.group(part.file),
            _ => None,
        };
        let mut before = first;
        let mut runs: Vec<(u64, Vec<FilePart>)> = Vec::new();
        for part in parts {
            let Ok(part) = part else { return Ok(None) };
            let length = part.length;
            if is_of_one_run && !forms(&part).eq(&self.forms) {
                return Ok(None);
            }
            match runs.last_mut() {
                _ if part.entries.is_empty() => {}
                Some((_, run))
                    if run
                        .last()
                        .is_some_and(|last| forms(last).eq(forms(&part)) && group(last) == group(&part)) =>
                {
                    run.push(part);
                }
                _ => runs.push((before, vec![part])),
            }
            before = before.saturating_add(length);
        }
        let assembled = |(first, run): (u64, Vec<FilePart>)| {
            let file = run.first().map_or(0, |part| part.file);
            let selected = self.assembled(first, run.into_iter().map(Ok).collect())?;
            Ok(ChainRun { file, selected })
        };
        runs.into_iter().map(assembled).collect::<Result<_>>().map(Some)
    }

    /// Makes the result for all entries of a range.
    fn of_all(&self, range: &Range<u64>, arrays: Vec<Array>) -> Result<ChainSelected> {
        let rows = match arrays.first() {
            Some(array) => array.length,
            None => self.chain.entries()?.min(range.end).saturating_sub(range.start),
        };
        let entries = range.start..range.start.saturating_add(rows);
        Ok(ChainSelected { entries, kept: None, arrays, lost: Vec::new() })
    }

    /// Reads the parts of all files, each alone, and returns them with the number of entries before the
    /// first. A file that is left out is an error among them.
    fn parts(
        &self,
        mut portions: Vec<Portion>,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<(u64, Vec<FileResult>)> {
        if self.needs_entry_numbers() {
            let mut before = 0_u64;
            for (portion, length) in portions.iter_mut().zip(self.chain.lengths()?) {
                if portion.before.is_none() {
                    portion.before = Some(before);
                }
                before = before.saturating_add(length);
            }
        }
        let skips = self.chain.options().damage == Damage::Skip;
        let parts = self.chain.for_files(&portions, threads, tick, &|portion, threads, tick| match self
            .part(portion, threads, tick)
        {
            Err(error) if skips && is_unreadable(&error) => Ok(Err((portion.file, error))),
            part => part.map(Ok),
        })?;
        Ok((portions.first().and_then(|portion| portion.before).unwrap_or(0), parts))
    }

    /// Whether the result depends on entry numbers across all files.
    fn needs_entry_numbers(&self) -> bool {
        self.counts_entries || self.options.entries.is_some() || !self.options.friends.is_empty()
    }

    /// Reads the entries of one file.
    fn part(
        &self,
        portion: &Portion,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<FilePart> {
        let known = match &self.lookup {
            ColumnLookup::Schemas(schemas) => schemas.of(portion.file)?.table_of(portion.file),
            _ => None,
        };
        let mut table = known.map_or_else(|| self.chain.table(portion.file), Ok)?;
        let mut losses = Vec::new();
        if self.chain.options().damage == Damage::Skip {
            let (sound, gaps) = table.sound()?;
            losses.extend(gaps.into_iter().map(|gap| Loss::of_gap(&sound, gap)));
            table = sound;
        }
        let length = table.entries()?;
        self.chain.set_length(portion.file, length);
        let range = portion.entries.clone().unwrap_or(0..length);
        let selection = self.of_table(&table, portion.file, portion.before.unwrap_or(0))?;
        let own = self.entries_of(portion.file, range.clone());
        let (read, more) = read_part(&selection, self.chain.options().damage, own.clone(), threads, tick)?;
        losses.extend(more);
        let Selected { mut kept, arrays, .. } = read;
        if own != range {
            kept.get_or_insert_with(|| own.collect());
        }
        let uri = table.file().uri().to_owned();
        Ok(FilePart { file: portion.file, uri, entries: range, length, kept, arrays, losses })
    }

    /// Joins the parts of all files.
    fn assembled(&self, first: u64, parts: Vec<FileResult>) -> Result<ChainSelected> {
        let (mut before, mut lost, mut segments) = (first, Vec::new(), Vec::new());
        let leaves_out = self.chain.options().damage == Damage::Skip;
        let is_partial = parts.iter().flatten().any(|part| part.kept.is_some());
        let mut kept = (leaves_out || is_partial).then(Vec::new);
        let mut bounds: Option<Range<u64>> = None;
        for part in parts {
            let part = match part {
                Ok(part) => part,
                Err((file, error)) => {
                    lost.push(ChainLoss { file, loss: Loss { entries: 0..0, error } });
                    continue;
                }
            };
            let (from, to) = (before + part.entries.start, before + part.entries.end);
            bounds = Some(bounds.map_or(from..to, |all| all.start..to));
            if let Some(kept) = &mut kept {
                match part.kept {
                    Some(entries) => kept.extend(entries.into_iter().map(|entry| before + entry)),
                    None => kept.extend(from..to),
                }
            }
            lost.extend(part.losses.into_iter().map(|loss| ChainLoss { file: part.file, loss }));
            segments.push(Segment { file: part.file, uri: part.uri, arrays: part.arrays });
            before = before.saturating_add(part.length);
        }
        if segments.is_empty()
            && let Some(ChainLoss { loss, .. }) = lost.pop()
        {
            return Err(loss.error);
        }
        let arrays = together(&self.names, segments)?;
        Ok(ChainSelected { entries: bounds.unwrap_or(first..first), kept, arrays, lost })
    }
}

/// Reads a range of a file with a treatment of damage.
pub(super) fn read_part(
    selection: &Selection,
    damage: Damage,
    range: Range<u64>,
    threads: Option<usize>,
    tick: &mut ProgressCallback<'_>,
) -> Result<(Selected, Vec<Loss>)> {
    match damage {
        Damage::Raise => Ok((selection.read(range, threads, Some(tick))?, Vec::new())),
        Damage::Null => selection.read_with_nulls(range, threads, tick),
        Damage::Skip => selection.read_around(range, threads, tick),
    }
}
