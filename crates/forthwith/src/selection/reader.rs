//! Reading the fields of a selection: each once, of blocks that have wanted entries.

use super::{
    Computed, missing,
    rows::{Rows, parts, runs},
};
use crate::{ProgressCallback, Table};
use forthwith_columns::Array;
use forthwith_plan::{Error, ErrorKind, Result};
use std::{collections::HashMap, ops::Range};

/// Reads fields once each, for rows that become fewer.
pub(super) struct Reader<'a, 'b, 'c> {
    pub(super) table: &'a Table,
    pub(super) threads: Option<usize>,
    pub(super) tick: Option<&'b mut ProgressCallback<'c>>,
    /// What was read, of the present rows.
    pub(super) held: HashMap<u32, Array>,
}

impl Reader<'_, '_, '_> {
    /// Expressions, for whose fields these rows are read.
    pub(super) fn computed(&mut self, computed: &Computed, rows: &Rows) -> Result<Vec<Array>> {
        self.read(&computed.inputs, rows)?;
        let inputs = computed.inputs.iter().map(|field| self.array(*field)).collect::<Result<Vec<_>>>()?;
        let threads = self.threads.unwrap_or_else(|| self.table.file().engine().options().threads);
        let made = computed.program.run_on(&inputs, rows.len(), threads);
        made.map_err(|error| {
            let entry = error.entry.and_then(|row| rows.entry(row));
            let error = Error::new(ErrorKind::Invalid { what: error.to_string() });
            let error = match entry {
                Some(entry) => error.at_entry(entry),
                None => error,
            };
            error.in_file(self.table.file().uri()).in_object(self.table.path())
        })
    }

    pub(super) fn array(&self, field: u32) -> Result<&Array> {
        self.held.get(&field).ok_or_else(|| missing(&field.to_string()))
    }

    /// Fewer rows of what was read.
    pub(super) fn narrowed(&mut self, before: Rows, after: Rows) -> Result<Rows> {
        if before.len() == after.len() {
            return Ok(before);
        }
        let Rows::Some(entries) = &after else { return Ok(before) };
        let runs = match &before {
            Rows::All(range) => runs(entries, |entry| entry - range.start),
            Rows::Some(known) => runs(entries, |entry| known.partition_point(|at| *at < entry) as u64),
        };
        for array in self.held.values_mut() {
            *array = gathered(&[(array, &runs)])?;
        }
        Ok(after)
    }

    /// Reads what is not there yet.
    pub(super) fn read(&mut self, fields: &[u32], rows: &Rows) -> Result<()> {
        let mut wanted: Vec<u32> = Vec::new();
        for field in fields {
            if !self.held.contains_key(field) && !wanted.contains(field) {
                wanted.push(*field);
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        match rows {
            Rows::All(range) => {
                let arrays = self.range(&wanted, range.clone())?;
                self.held.extend(wanted.into_iter().zip(arrays));
            }
            Rows::Some(entries) => self.some(&wanted, entries)?,
        }
        Ok(())
    }

    fn range(&mut self, fields: &[u32], range: Range<u64>) -> Result<Vec<Array>> {
        let plan = self.table.plan(fields, range)?;
        self.table.read(&plan, self.threads, self.tick.as_deref_mut())
    }

    /// Reads the blocks that have the entries. Fields that are divided alike are read together.
    fn some(&mut self, fields: &[u32], entries: &[u64]) -> Result<()> {
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            let arrays = self.range(fields, 0..0)?;
            self.held.extend(fields.iter().copied().zip(arrays));
            return Ok(());
        };
        let all = *first..last.saturating_add(1);
        let mut alike: Vec<(Vec<Range<u64>>, Vec<u32>)> = Vec::new();
        for field in fields {
            let cuts = self.table.here(self.table.dataset().boundaries(&[*field], all.clone()))?;
            let parts = parts(&cuts, entries);
            match alike.iter_mut().find(|(known, _)| *known == parts) {
                Some((_, same)) => same.push(*field),
                None => alike.push((parts, vec![*field])),
            }
        }
        for (parts, fields) in alike {
            let mut read = Vec::with_capacity(parts.len());
            for part in &parts {
                let begin = entries.partition_point(|entry| *entry < part.start);
                let end = entries.partition_point(|entry| *entry < part.end);
                let runs = runs(&entries[begin..end], |entry| entry - part.start);
                read.push((self.range(&fields, part.clone())?, runs));
            }
            for (at, field) in fields.iter().enumerate() {
                let pieces: Vec<(&Array, &[Range<u64>])> = read
                    .iter()
                    .filter_map(|(arrays, runs)| arrays.get(at).map(|array| (array, runs.as_slice())))
                    .collect();
                let whole = match pieces[..] {
                    [(array, [run])] if run.start == 0 && run.end == array.length => array.clone(),
                    _ => gathered(&pieces)?,
                };
                self.held.insert(*field, whole);
            }
        }
        Ok(())
    }
}

pub(super) fn gathered(parts: &[(&Array, &[Range<u64>])]) -> Result<Array> {
    Array::gather(parts).map_err(|error| Error::new(ErrorKind::Fault { what: error.to_string() }))
}
