//! A file as a table.

use crate::{
    IpcFile,
    decode::{Numbers, Recipe},
    dictionary::Stored,
    file::Placed,
    layout::{ColumnType, Part, has_runs, parts},
};
use arrow_schema::SchemaRef;
use bytes::Bytes;
use forthwith_io::Source;
use forthwith_plan::{
    BlockColumns, Dataset, Decoder, Description, Error, Field, Group, Plan, Reading, Result, Stored as Place,
    Task, check_entries, cuts,
};
use std::{collections::HashMap, ops::Range, sync::Arc};

/// The columns and record batches of an [`IpcFile`].
#[derive(Debug)]
pub struct IpcTable {
    source: Arc<dyn Source>,
    schema: SchemaRef,
    columns: Arc<[ColumnType]>,
    batches: Arc<[Placed]>,
    dictionaries: Arc<[Stored]>,
    /// The messages of each dictionary, by its id.
    messages: HashMap<i64, Vec<usize>>,
    /// What each batch has of each column.
    parts: Vec<Vec<Part>>,
    fields: Vec<Field>,
    most_rows: u64,
    union_validity: bool,
}

impl IpcFile {
    /// The table that the file is.
    ///
    /// # Errors
    /// A batch whose buffers are not those of the schema's columns, with its number.
    pub fn table(&self) -> Result<IpcTable> {
        let each = (0..).zip(self.batches.iter()).map(|(number, placed)| {
            let here =
                |error: Error| error.in_file(self.source.uri()).in_unit("record batch").in_block(number);
            let has_runs = self.columns.iter().any(|column| has_runs(column.field.data_type()));
            if placed.batch.rows > self.most_rows && !has_runs {
                return Err(here(Error::out_of_range(
                    "the number of rows",
                    placed.batch.rows,
                    self.most_rows,
                )));
            }
            parts(&placed.batch, &self.columns, self.union_validity).map_err(here)
        });
        let mut messages: HashMap<i64, Vec<usize>> = HashMap::new();
        for (number, stored) in self.dictionaries.iter().enumerate() {
            messages.entry(stored.id).or_default().push(number);
        }
        Ok(IpcTable {
            source: Arc::clone(&self.source),
            schema: Arc::clone(&self.schema),
            columns: Arc::clone(&self.columns),
            batches: Arc::clone(&self.batches),
            dictionaries: Arc::clone(&self.dictionaries),
            messages,
            parts: each.collect::<Result<_>>()?,
            fields: self.columns.iter().map(|column| Field::named(column.field.name(), "")).collect(),
            most_rows: self.most_rows,
            union_validity: self.union_validity,
        })
    }
}

impl IpcTable {
    fn column(&self, field: u32) -> Result<&ColumnType> {
        let column = self.columns.get(field as usize);
        column.ok_or_else(|| self.here(Error::no_field(field, self.columns.len())))
    }

    fn here(&self, error: Error) -> Error {
        error.in_file(self.source.uri())
    }

    /// The messages that make the values of each dictionary of a column in some batches: those since it was last replaced before the
    /// first one.
    fn messages(&self, column: &ColumnType, batches: Range<usize>) -> Vec<&[usize]> {
        let batches = &self.batches[batches];
        let [Some(first), Some(last)] = [batches.first(), batches.last()] else {
            return vec![&[]; column.dictionaries.len()];
        };
        let own = |id: &i64| {
            let all = self.messages.get(id).map_or(&[][..], Vec::as_slice);
            let before = |placed: &Placed| all.partition_point(|message| *message < placed.dictionaries);
            let (first, end) = (before(first), before(last));
            let start = all[..first].iter().rposition(|message| !self.dictionaries[*message].is_delta);
            &all[start.unwrap_or(0)..end]
        };
        column.dictionaries.iter().map(own).collect()
    }

    /// How batches with these messages of dictionaries are read, or why they cannot be.
    fn reading(
        &self,
        column: &ColumnType,
        messages: &[&[usize]],
    ) -> Result<std::result::Result<Reading, String>> {
        if let Some(reason) = &column.unsupported {
            return Ok(Err(reason.clone()));
        }
        let stored = |messages: &&[usize]| {
            messages.iter().map(|message| self.dictionaries[*message].clone()).collect()
        };
        let recipe = Recipe {
            field: column.field.clone(),
            dictionaries: messages.iter().map(stored).collect(),
            most_rows: self.most_rows,
            union_validity: self.union_validity,
        };
        let form = match recipe.empty() {
            Ok(array) => array.form,
            Err(error) => return Ok(Err(error.kind.to_string())),
        };
        let text = serde_json::to_string(&recipe).map_err(|error| Error::invalid(error.to_string()))?;
        let reason = "Arrow's buffers are columns already".into();
        Ok(Ok(Reading { form, decoder: Decoder::Format(text.into()), reason }))
    }

    /// The range of the batches with some of these entries.
    fn within(&self, entries: &Range<u64>) -> Range<usize> {
        let from = self.batches.partition_point(|placed| placed.rows.end <= entries.start);
        let to = self.batches.partition_point(|placed| placed.rows.start < entries.end);
        from..to.max(from)
    }

    /// Reads a column of a batch.
    fn task(&self, group: u32, field: u32, messages: &[&[usize]], number: usize) -> Task {
        let placed = &self.batches[number];
        let mut part = self.parts[number].get(field as usize).cloned().unwrap_or_default();
        let stored = part.buffers.iter().filter(|buffer| !buffer.is_empty());
        let bounds = stored.fold(None, |all: Option<Range<u64>>, buffer| {
            let all = all.unwrap_or_else(|| buffer.clone());
            Some(all.start.min(buffer.start)..all.end.max(buffer.end))
        });
        let bytes = bounds.unwrap_or_default();
        for buffer in &mut part.buffers {
            let start = if buffer.is_empty() { 0 } else { buffer.start - bytes.start };
            *buffer = start..start + (buffer.end - buffer.start);
        }
        let before = |messages: &&[usize]| messages.partition_point(|message| *message < placed.dictionaries);
        let dictionaries = messages.iter().map(before).collect();
        let numbers = Numbers { codec: placed.batch.codec, part, dictionaries };
        let stored = match bytes.is_empty() {
            true => Place::Inline(Bytes::new()),
            false => Place::Range(placed.body.start + bytes.start..placed.body.start + bytes.end),
        };
        let task = Task::of(group, number as u64, placed.rows.clone(), stored);
        Task { numbers: numbers.to_task(), ..task }
    }
}

impl Dataset for IpcTable {
    fn format(&self) -> &'static str {
        "ipc"
    }

    fn object(&self) -> &str {
        ""
    }

    fn entries(&self) -> Result<u64> {
        Ok(self.batches.last().map_or(0, |placed| placed.rows.end))
    }

    fn fields(&self) -> Result<&[Field]> {
        Ok(&self.fields)
    }

    fn describe(&self, field: u32) -> Result<Description> {
        let column = self.column(field)?;
        let all = 0..self.batches.len();
        let messages = self.messages(column, all.clone());
        let stored = all.map(|number| self.task(0, field, &messages, number).stored.len());
        let stored = stored.fold(0, u64::saturating_add);
        Ok(Description {
            type_name: column.field.data_type().to_string(),
            reading: self.reading(column, &messages)?,
            entries: self.entries()?,
            blocks: self.batches.len() as u64,
            stored_bytes: stored,
            payload_bytes: stored,
        })
    }

    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        check_entries(&entries, self.entries()?).map_err(|error| self.here(error))?;
        let mut plan = Plan {
            format: self.format().into(),
            uri: self.source.uri().to_owned(),
            entries: entries.clone(),
            delivered: fields.len() as u32,
            ..Plan::default()
        };
        let batches = self.within(&entries);
        for (group, field) in (0..).zip(fields) {
            let column = self.column(*field)?;
            let name = column.field.name();
            let messages = self.messages(column, batches.clone());
            let reading = self.reading(column, &messages)?;
            let reading = reading.map_err(|what| self.here(Error::unsupported(what)).in_object(name))?;
            let columns = BlockColumns::of(&reading.form).specs().cloned().collect();
            plan.groups.push(Group::of(name, reading, columns));
            for number in batches.clone() {
                let task = self.task(group, *field, &messages, number);
                let wanted = task.entries.start.max(entries.start)..task.entries.end.min(entries.end);
                if !wanted.is_empty() {
                    plan.tasks.push(Task { wanted, ..task });
                }
            }
        }
        Ok(plan)
    }

    fn arrow_schema(&self) -> Option<SchemaRef> {
        Some(Arc::clone(&self.schema))
    }

    fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        for field in fields {
            self.column(*field)?;
        }
        Ok(cuts(&entries, self.batches[self.within(&entries)].iter().map(|placed| placed.rows.clone())))
    }
}
