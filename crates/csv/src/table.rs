//! A file as a table.

use crate::{CsvFile, decode::Recipe, fill::Requested};
use forthwith_plan::{
    BlockColumns, Dataset, Decoder, Description, Error, Field, Group, Pick, Plan, Reading, Result, Stored,
    Task, check_entries, cuts,
};
use std::ops::Range;

/// The columns and records of a [`CsvFile`].
#[derive(Debug)]
pub struct CsvTable {
    file: CsvFile,
    fields: Vec<Field>,
}

impl CsvTable {
    /// The table that a file is.
    #[must_use]
    pub fn new(file: CsvFile) -> Self {
        let fields = file.columns.iter().map(|column| Field::named(&column.name, "")).collect();
        Self { file, fields }
    }

    /// The file.
    #[must_use]
    pub const fn file(&self) -> &CsvFile {
        &self.file
    }

    fn here(&self, error: Error) -> Error {
        error.in_file(self.file.source.uri())
    }

    fn requested(&self, field: u32) -> Result<Requested> {
        let at = field as usize;
        let column = self.file.columns.get(at);
        let column = column.ok_or_else(|| self.here(Error::no_field(field, self.file.columns.len())))?;
        let (name, cell_type, is_optional) = (column.name.clone(), column.cell_type, column.is_optional);
        Ok(Requested { at, name, cell_type, is_optional })
    }

    /// The group that decodes some columns.
    fn group(&self, columns: Vec<Requested>) -> Result<Group> {
        let recipe = Recipe { separator: self.file.separator, width: self.file.columns.len(), columns };
        let form = recipe.form();
        let path = match recipe.columns.as_slice() {
            [only] => only.name.clone(),
            _ => String::new(),
        };
        let text = serde_json::to_string(&recipe).map_err(|error| Error::invalid(error.to_string()))?;
        let columns = BlockColumns::of(&form).specs().cloned().collect();
        let reason = "cells are text: all requested columns of a record are parsed together".into();
        let reading = Reading { form, decoder: Decoder::Format(text.into()), reason };
        Ok(Group { split: true, ..Group::of(path, reading, columns) })
    }

    /// The numbers of the blocks with some of these entries.
    fn within(&self, entries: &Range<u64>) -> Range<usize> {
        let blocks = &self.file.blocks;
        let from = blocks.partition_point(|(_, own)| own.end <= entries.start);
        let to = blocks.partition_point(|(_, own)| own.start < entries.end);
        from..to.max(from)
    }
}

impl Dataset for CsvTable {
    fn format(&self) -> &'static str {
        "csv"
    }

    fn object(&self) -> &str {
        ""
    }

    fn entries(&self) -> Result<u64> {
        Ok(self.file.blocks.last().map_or(0, |(_, entries)| entries.end))
    }

    fn fields(&self) -> Result<&[Field]> {
        Ok(&self.fields)
    }

    fn describe(&self, field: u32) -> Result<Description> {
        let column = self.requested(field)?;
        let (form, type_name) = (column.form(), column.cell_type.name().to_owned());
        let group = self.group(vec![column])?;
        let bytes =
            self.file.blocks.iter().map(|(bytes, _)| bytes.end - bytes.start).fold(0, u64::saturating_add);
        // Blocks hold all columns; nothing says how much of them is whose.
        let bytes = bytes / self.file.columns.len().max(1) as u64;
        Ok(Description {
            type_name,
            reading: Ok(Reading { form, decoder: group.decoder, reason: group.reason }),
            entries: self.entries()?,
            blocks: self.file.blocks.len() as u64,
            stored_bytes: bytes,
            payload_bytes: bytes,
        })
    }

    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        check_entries(&entries, self.entries()?).map_err(|error| self.here(error))?;
        let mut plan = Plan {
            format: self.format().into(),
            uri: self.file.source.uri().to_owned(),
            entries: entries.clone(),
            ..Plan::default()
        };
        if fields.is_empty() {
            return Ok(plan);
        }
        let (once, picks) = Pick::once(fields);
        plan.picks = picks;
        let columns = once.iter().map(|field| self.requested(*field)).collect::<Result<_>>()?;
        plan.groups.push(self.group(columns)?);
        plan.delivered = 1;
        for number in self.within(&entries) {
            let (bytes, own) = &self.file.blocks[number];
            let wanted = own.start.max(entries.start)..own.end.min(entries.end);
            if !wanted.is_empty() {
                let task = Task::of(0, number as u64, own.clone(), Stored::Range(bytes.clone()));
                plan.tasks.push(Task { wanted, ..task });
            }
        }
        Ok(plan)
    }

    fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        for field in fields {
            self.requested(*field)?;
        }
        Ok(cuts(&entries, self.file.blocks[self.within(&entries)].iter().map(|(_, own)| own.clone())))
    }
}
