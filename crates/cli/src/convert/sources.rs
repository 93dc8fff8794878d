//! The files of a conversion as a chain, all of which are inspected before data are read.

use super::{
    Conversion,
    columns::{computed, entries, fields},
};
use crate::{
    chain::TargetChain,
    choice::Choice,
    console::Console,
    end::End,
    failure::{Failure, Result},
    human,
    opened::{self, Opening, Place},
    target::Target,
};
use forthwith::{
    Chain, ChainProjection, ChainSelection, Damage, FileFormat, FileProjection, MissingColumns,
    ProjectionError, SelectOptions, Step, columns::Form, plan::Error, sample_entries,
};
use std::{ops::Range, sync::Arc};

/// Number of decompressed bytes that are read at a time for a cut.
const STEP: u64 = 64 << 20;

/// Files of a conversion, and the columns that are read.
pub(super) struct Sources {
    pub(super) chain: Chain,
    pub(super) projection: Arc<ChainProjection>,
    pub(super) selection: ChainSelection,
    /// Columns with the types that are written.
    pub(super) columns: Vec<(String, Form)>,
    /// Table of the first file, which is kept open.
    pub(super) first: Place,
    /// Estimated number of entries of all files.
    pub(super) likely: u64,
}

/// Opens all files, and selects and unites their columns.
///
/// # Errors
/// Returns an error if a file cannot be opened or lacks named columns, or if columns have no common type.
pub(super) fn look_at(
    targets: &[Target],
    choice: &Choice,
    format: FileFormat,
    asked: &Conversion,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<Sources> {
    let missing = if asked.missing_null { MissingColumns::Null } else { MissingColumns::Raise };
    let damage = if asked.skip_errors { Damage::Skip } else { Damage::Raise };
    let files = TargetChain::new(targets, opening, asked.values, missing, damage)?;
    let (mut likely, mut projections, mut absent) = (0_u64, Vec::new(), Vec::new());
    let first = files.look(|_, place| {
        opened::tell_of_recovery(place.table.file(), console);
        asked.refuse_to_replace(place.table.file().uri())?;
        let may_lack = asked.missing_null && targets.len() > 1;
        let (projection, not_there) = project(place, choice, format, asked, may_lack, console)?;
        absent.push(not_there);
        projections.push(projection);
        let has_fields = !place.table.fields()?.is_empty();
        let entries = if has_fields { place.table.likely_entries()? } else { place.table.entries()? };
        likely = likely.saturating_add(entries);
        if targets.len() == 1 {
            place.tell(console);
        }
        Ok(())
    })?;
    let chain = files.chain;
    in_no_file(absent)?;
    let projection = ChainProjection::unite(projections, missing).map_err(with_hint)?;
    let projection = Arc::new(projection);
    let (mut selection, columns) = select(&chain, &projection, &first, choice, format, asked, console)?;
    if columns.is_empty() {
        return Err(nothing_to_write(&first)?);
    }
    let reads_stream = targets.iter().any(Target::is_stream);
    if let Some(entries) = draw(&chain, &projection, choice, asked, reads_stream, opening.threads)? {
        let computed: Vec<&str> =
            selection.names().iter().skip(projection.columns().len()).map(String::as_str).collect();
        let options = SelectOptions { entries: Some(entries), ..choice.expressions() };
        selection = chain.select_projected(&projection, &computed, options)?;
    }
    Ok(Sources { chain, projection, selection, columns, first, likely })
}

/// Returns the fields to read of a file, and the patterns that match none of its fields.
fn project(
    place: &Place,
    choice: &Choice,
    format: FileFormat,
    asked: &Conversion,
    may_lack: bool,
    console: &mut Console<'_>,
) -> Result<(FileProjection, Vec<(String, Failure)>)> {
    let (mut columns, mut absent) = (Vec::new(), Vec::new());
    if may_lack {
        let (present, not_there) = choice.of_those_there(place)?;
        absent = not_there;
        if present.names_any(choice, place) {
            columns = fields(place, &present, format, asked, console)?;
        }
    } else {
        columns = fields(place, choice, format, asked, console)?;
    }
    let used = choice.fields_used(&place.table, &columns)?;
    let is_counted = place.table.counts_blocks();
    let sound = if asked.skip_errors && !is_counted { place.table.sound()?.0 } else { place.table.clone() };
    let entries = entries(&sound, columns.iter().chain(&used))?;
    let uri = place.table.file().uri().to_owned();
    Ok((FileProjection { uri, columns, used, entries }, absent))
}

/// Returns the selection of the columns of all files, and the columns to write. Computed columns are
/// evaluated on the united columns.
fn select(
    chain: &Chain,
    projection: &Arc<ChainProjection>,
    first: &Place,
    choice: &Choice,
    format: FileFormat,
    asked: &Conversion,
    console: &mut Console<'_>,
) -> Result<(ChainSelection, Vec<(String, Form)>)> {
    let select = |computed: &[&str]| {
        let selection = chain.select_projected(projection, computed, choice.expressions());
        selection.map_err(|error| hinted_of_missing(error, projection, asked))
    };
    let names: Vec<&str> = choice.computed.iter().map(String::as_str).collect();
    let mut selection = select(&names)?;
    let mut columns: Vec<(String, Form)> =
        projection.columns().map(|(name, form)| (name.to_owned(), form.clone())).collect();
    let of_expressions = selection.names().iter().cloned().zip(selection.forms().iter().cloned());
    let kept = computed(first, of_expressions.skip(columns.len()), format, asked, console)?;
    if kept.len() < names.len() {
        selection = select(&kept.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())?;
    }
    columns.extend(kept);
    Ok((selection, columns))
}

/// Returns a random sample of the entries that pass the cut, if one is requested.
fn draw(
    chain: &Chain,
    projection: &ChainProjection,
    choice: &Choice,
    asked: &Conversion,
    reads_stream: bool,
    threads: Option<usize>,
) -> Result<Option<Vec<u64>>> {
    let Some((count, seed)) = asked.sample else { return Ok(None) };
    if choice.cut.is_none() {
        return Ok(Some(sample_entries(chain.entries()?, count, seed)));
    }
    if reads_stream {
        // A stream that was read to its end can be read again.
        chain.entries()?;
    }
    let projection = Arc::new(projection.without_columns());
    let mut steps =
        chain.select_projected(&projection, &[], choice.expressions())?.steps(.., Step::Bytes(STEP))?;
    let mut passing: Vec<u64> = Vec::new();
    while let Some(step) = steps.read(threads, &mut |_| true)? {
        let entries = step.kept.unwrap_or_else(|| step.entries.collect());
        passing.extend(entries.into_iter().map(|entry| step.before.saturating_add(entry)));
    }
    let drawn = sample_entries(passing.len() as u64, count, seed);
    Ok(Some(drawn.into_iter().filter_map(|at| passing.get(at as usize).copied()).collect()))
}

impl Sources {
    /// Returns the names of the files for messages.
    pub(super) fn uris(&self) -> Vec<&str> {
        self.projection.files().iter().map(|file| file.uri.as_str()).collect()
    }

    /// Returns the range of entries to read, counted over all files. With a cut, it may include more than the
    /// entries that are needed.
    pub(super) fn entries(&self, choice: &Choice, asked: &Conversion) -> Result<Range<u64>> {
        let own = self.projection.files().iter().find_map(|file| file.entries.clone());
        match asked.end {
            // There is only one file.
            Some(End::Last(entries)) => {
                let all = match own {
                    Some(own) => own,
                    None => 0..self.chain.entries()?,
                };
                Ok(all.start.max(all.end.saturating_sub(entries))..all.end)
            }
            Some(End::First(entries)) if choice.cut.is_none() && own.is_none() => Ok(0..entries),
            _ => Ok(0..u64::MAX),
        }
    }
}

/// Returns the failure for files without anything to write.
fn nothing_to_write(first: &Place) -> Result<Failure> {
    let uri = first.table.file().uri();
    if first.table.fields()?.is_empty() {
        let entries = human::counted(first.table.entries()?, "entry", "entries");
        let what = format!("{uri} has {entries} and no columns, so that there is nothing to write");
        return Ok(Failure::misuse(what).hinted("forthwith count says the number of entries"));
    }
    Ok(Failure::misuse(format!("nothing of {uri} can be converted")))
}

/// Returns the error of a name or pattern that matches a column in none of the files.
fn in_no_file(mut absent: Vec<Vec<(String, Failure)>>) -> Result<()> {
    let Some(mut first) = (!absent.is_empty()).then(|| absent.remove(0)) else { return Ok(()) };
    let is_elsewhere =
        |pattern: &String| absent.iter().any(|others| others.iter().all(|(other, _)| other != pattern));
    match first.iter().position(|(pattern, _)| !is_elsewhere(pattern)) {
        Some(at) => Err(first.swap_remove(at).1),
        None => Ok(()),
    }
}

/// Returns the failure for columns that differ between files, with a hint.
fn with_hint(error: ProjectionError) -> Failure {
    let hint = match error {
        ProjectionError::Absent { .. } => "--missing null makes such values null, --columns chooses others",
        _ => "--columns chooses others",
    };
    Failure::misuse(error.to_string()).hinted(hint)
}

/// Adds a hint if an expression uses a column that only other files have.
fn hinted_of_missing(error: Error, projection: &ChainProjection, asked: &Conversion) -> Failure {
    let uri = error.place.uri.clone();
    let failure = Failure::from(error);
    let files = projection.files();
    let Some(file) = files.iter().find(|file| uri.as_ref() == Some(&file.uri)) else { return failure };
    let has = |name: &str| file.columns.iter().chain(&file.used).any(|field| field.name == name);
    match files.iter().flat_map(|file| &file.used).map(|field| &field.name).find(|name| !has(name)) {
        Some(name) if !asked.missing_null => failure.hinted(format!(
            "other files have a column {name}: --missing null makes such values null where a file lacks it"
        )),
        _ => failure,
    }
}
