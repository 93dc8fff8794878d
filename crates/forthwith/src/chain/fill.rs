//! Reading of columns of several files into one array each.

use super::{Chain, Portion, file_schemas::FileSchemas, opening::Batches};
use crate::{ProgressCallback, Table, format, selection::joined_up, table::convert};
use forthwith_columns::{Array, Form, NumberCast};
use forthwith_engine::{Filling, Part, fills_same_columns};
use forthwith_io::Source;
use forthwith_plan::{Error, ErrorKind, Plan, PlannedConstant, Result};
use std::{collections::VecDeque, sync::Arc};

/// Number of stored bytes of files that are read together; at least one file is read. Pages of mapped files
/// stay in memory until they are read.
const TOGETHER_BYTES: u64 = 64 << 20;

/// An opened file with its plan.
struct Opened {
    file: usize,
    table: Table,
    plan: Plan,
    source: Arc<dyn Source>,
}

/// Arrays of consecutive files, and the number of the first file.
pub(super) struct Segment {
    pub(super) file: usize,
    pub(super) uri: String,
    pub(super) arrays: Vec<Array>,
}

/// Selection of the fields to read of each file.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'a> {
    /// Fields by name.
    Names(&'a [String]),
    /// Fields by their positions in each file's schema.
    Schemas(&'a FileSchemas),
}

/// Parameters of a read.
pub(super) struct Reading<'a, 'b> {
    pub(super) fields: Wanted<'a>,
    pub(super) portions: &'a [Portion],
    /// Whether to stop at a file that cannot fill the columns of the first one.
    pub(super) is_of_one_run: bool,
    pub(super) bits: bool,
    pub(super) threads: Option<usize>,
    pub(super) tick: Option<&'a mut ProgressCallback<'b>>,
}

impl Chain {
    /// Reads fields of all files by name.
    ///
    /// # Errors
    /// The error of the first file that has one.
    pub(super) fn fill(&self, reading: &mut Reading<'_, '_>) -> Result<Vec<Array>> {
        let segments = match self.segments(reading, true)? {
            Some(segments) => segments,
            // Read each file alone to get its error, or to read it again if it has changed.
            None => self.segments(reading, false)?.unwrap_or_default(),
        };
        let Wanted::Names(names) = reading.fields else {
            return Err(Error::fault("fields without names"));
        };
        together(names, segments)
    }

    /// Reads fields of all files by their schemas, with one segment for consecutive files that can fill the
    /// same columns. Returns `None` if a file stops the read.
    ///
    /// # Errors
    /// A file cannot be opened, has other fields, or cannot be read; reading it alone gives a more precise
    /// error.
    pub(super) fn fill_runs(&self, reading: &mut Reading<'_, '_>) -> Result<Option<Vec<Segment>>> {
        self.segments(reading, true)
    }

    /// Reads consecutive files that can fill the same columns together, or with `side_by_side` unset, each
    /// file alone. Returns `None` if files fail together and none of them fails alone.
    fn segments(&self, reading: &mut Reading<'_, '_>, side_by_side: bool) -> Result<Option<Vec<Segment>>> {
        let (fields, portions, bits) = (reading.fields, reading.portions, reading.bits);
        let open = |at: usize| self.opened(fields, &portions[at], bits);
        std::thread::scope(|scope| {
            let mut batches = Batches::new(scope, self, 0..portions.len(), &open);
            let mut ready: VecDeque<Result<Opened>> = batches.next().unwrap_or_default().into();
            let mut segments = Vec::new();
            while let Some(first) = ready.pop_front() {
                let first = first?;
                if side_by_side && reading.is_of_one_run && !segments.is_empty() {
                    return Ok(None);
                }
                if side_by_side {
                    let Some(segment) = self.segment(first, &mut ready, &mut batches, reading)? else {
                        return Ok(None);
                    };
                    segments.push(segment);
                } else {
                    let Opened { file, table, plan, .. } = first;
                    let arrays = table.read(&plan, reading.threads, reading.tick.as_deref_mut())?;
                    segments.push(Segment { file, uri: plan.uri, arrays });
                }
                if ready.is_empty() {
                    ready.extend(batches.next().unwrap_or_default());
                }
            }
            Ok(Some(segments))
        })
    }

    /// Opens a file and plans the read of its fields.
    fn opened(&self, fields: Wanted<'_>, portion: &Portion, bits: bool) -> Result<Opened> {
        let known = match fields {
            Wanted::Schemas(schemas) => schemas.of(portion.file)?.table_of(portion.file),
            Wanted::Names(_) => None,
        };
        let table = known.map_or_else(|| self.table(portion.file), Ok)?;
        let entries = match &portion.entries {
            Some(entries) => entries.clone(),
            None => {
                let entries = table.entries()?;
                self.set_length(portion.file, entries);
                0..entries
            }
        };
        let plan = match fields {
            Wanted::Names(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                table.plan(&names, entries)?
            }
            Wanted::Schemas(schemas) => {
                let schema = schemas.of(portion.file)?;
                schema.check(&table)?;
                table.plan(&schema.positions()?, entries)?
            }
        };
        let plan = Plan { bits, ..plan };
        let source = table.source(&plan)?;
        Ok(Opened { file: portion.file, table, plan, source })
    }

    /// Reads a file and the following ones that can fill the same columns.
    fn segment(
        &self,
        first: Opened,
        ready: &mut VecDeque<Result<Opened>>,
        batches: &mut Batches<'_, '_, Opened>,
        reading: &mut Reading<'_, '_>,
    ) -> Result<Option<Segment>> {
        let mut first = first;
        // The first file with entries determines the columns.
        while let Some(Ok(next)) = ready.front()
            && is_empty_of(&first.plan, &next.plan)
        {
            let Some(next) = ready.pop_front().transpose()? else { break };
            first = next;
        }
        let (file, plan) = (first.file, first.plan.clone());
        let block_format = format(&plan.format)?;
        let mut filling = Filling::new(&plan);
        let mut constants: Vec<Vec<Array>> = vec![Vec::new(); plan.constants.len()];
        let mut files = vec![first];
        let group = |file: usize| match reading.fields {
            Wanted::Schemas(schemas) => schemas.group(file),
            Wanted::Names(_) => None,
        };
        let own_group = group(file);
        loop {
            let is_alike = |next: &Opened| {
                group(next.file) == own_group && fills_same_columns(&plan, &next.plan, block_format)
            };
            let bytes = |file: &Opened| file.plan.stored_bytes();
            let mut stored = files.iter().map(bytes).fold(0, u64::saturating_add);
            while let Some(Ok(next)) = ready.front() {
                // A file without entries has no data to read.
                match (is_alike(next), is_empty_of(&next.plan, &plan)) {
                    (true, _) if stored >= TOGETHER_BYTES => break,
                    (true, _) => {
                        stored = stored.saturating_add(bytes(next));
                        files.extend(ready.pop_front().transpose()?);
                    }
                    (false, true) => drop(ready.pop_front()),
                    (false, false) => break,
                }
            }
            for file in &files {
                for (arrays, PlannedConstant { constant, .. }) in
                    constants.iter_mut().zip(&file.plan.constants)
                {
                    arrays.push(constant.array(file.plan.rows())?);
                }
            }
            let parts = files.iter().map(|file| Part {
                plan: &file.plan,
                source: &file.source,
                format: block_format,
            });
            let parts: Vec<Part<'_>> = parts.collect();
            let read = filling.read(self.engine(), &parts, reading.threads, reading.tick.as_deref_mut());
            match read {
                Err(error) if matches!(error.kind, ErrorKind::Cancelled) => return Err(error),
                // The caller reads the files individually.
                Err(error) if matches!(reading.fields, Wanted::Schemas(_)) => return Err(error),
                Err(_) => {
                    for Opened { table, plan, .. } in &files {
                        table.read(plan, reading.threads, reading.tick.as_deref_mut())?;
                    }
                    return Ok(None);
                }
                Ok(()) => files.clear(),
            }
            if ready.is_empty() {
                ready.extend(batches.next().unwrap_or_default());
            }
            let goes_on = |next: &Opened| is_alike(next) || is_empty_of(&next.plan, &plan);
            if !ready.front().is_some_and(|next| next.as_ref().is_ok_and(goes_on)) {
                break;
            }
        }
        let threads = reading.threads.unwrap_or_else(|| self.engine().options().threads);
        let read = filling.finish(self.engine(), threads);
        // Reading each file alone locates text that cannot be converted.
        let read = read.and_then(|mut arrays| convert(&plan, &mut arrays, reading.threads).map(|()| arrays));
        let mut arrays = match read {
            Ok(arrays) => arrays,
            Err(error) if matches!(reading.fields, Wanted::Schemas(_)) => return Err(error),
            Err(_) => return Ok(None),
        };
        for (PlannedConstant { at, .. }, parts) in plan.constants.iter().zip(constants) {
            let array = joined_up(&parts.iter().collect::<Vec<_>>())?;
            arrays.insert((*at as usize).min(arrays.len()), array);
        }
        Ok(Some(Segment { file, uri: plan.uri, arrays }))
    }
}

/// Whether a plan reads no entries, of columns of the same types as those of another plan.
fn is_empty_of(plan: &Plan, other: &Plan) -> bool {
    let forms = |plan: &Plan| -> Vec<Form> {
        plan.groups
            .iter()
            .take(plan.delivered as usize)
            .filter(|group| !group.joins)
            .map(|group| group.form.clone())
            .collect()
    };
    plan.tasks.is_empty()
        && plan.rows() == 0
        && plan.format == other.format
        && plan.picks == other.picks
        && plan.constants.len() == other.constants.len()
        && forms(plan) == forms(other)
}

/// Concatenates segments, cast to their common types.
///
/// # Errors
/// Types without a common type; a number that the common type cannot represent.
pub(super) fn together(names: &[String], mut segments: Vec<Segment>) -> Result<Vec<Array>> {
    if segments.len() == 1 {
        return Ok(segments.pop().map(|segment| segment.arrays).unwrap_or_default());
    }
    let column = |at: usize, name: &String| {
        let arrays: Vec<(&str, &Array)> =
            segments.iter().filter_map(|one| Some((one.uri.as_str(), one.arrays.get(at)?))).collect();
        one_behind_the_other(name, &arrays)
    };
    names.iter().enumerate().map(|(at, name)| column(at, name)).collect()
}

/// Concatenates the arrays of a column, cast to their common type.
fn one_behind_the_other(name: &str, arrays: &[(&str, &Array)]) -> Result<Array> {
    let Some(((_, first), others)) = arrays.split_first() else {
        return Err(Error::fault(format!("the column {name:?} was not read")));
    };
    if others.iter().all(|(_, other)| other.form == first.form) {
        return joined_up(&arrays.iter().map(|(_, array)| *array).collect::<Vec<_>>());
    }
    let mut common = first.form.clone();
    for (uri, other) in others {
        common = Form::unite(&[&common, &other.form]).map_err(|_| {
            let (known, other) = (common.type_string(), other.form.type_string());
            Error::invalid(format!(
                "column {name:?} has type {other} in {uri}, which cannot be combined with {known} of the files \
                 before it"
            ))
        })?;
    }
    let cast = |(uri, array): &(&str, &Array)| {
        let cast = array.cast(&common, NumberCast::Exact);
        cast.map_err(|error| Error::invalid(format!("column {name:?}: {error}")).in_file(uri))
    };
    let cast: Vec<Array> = arrays.iter().map(cast).collect::<Result<_>>()?;
    joined_up(&cast.iter().collect::<Vec<_>>())
}
