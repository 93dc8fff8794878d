//! Table of a JSON file.

use crate::{
    JsonFile,
    decode::{Framing, Recipe},
    file::Types,
    fill::Fill,
    place::Place,
    schema::number_keys,
    seen::{Found, Mixed, Seen},
};
use forthwith_columns::Form;
use forthwith_plan::{
    BlockColumns, BlockList, Dataset, Decoder, Description, Error, Field, Group, Pick, Plan, Reading, Result,
    Task, check_entries, cuts,
};
use std::ops::Range;

/// Columns and entries of a [`JsonFile`].
#[derive(Debug)]
pub struct JsonTable {
    file: JsonFile,
    is_record: bool,
    /// Name and Form of each column, or the reason why it cannot be read.
    columns: Vec<(String, Result<Form, String>)>,
    fields: Vec<Field>,
}

/// Name of the only column if the entries are not objects.
const VALUE: &str = "value";

impl JsonTable {
    /// Creates the table of a file. Its columns are the members of the objects, or the values themselves if
    /// not all of them are objects.
    #[must_use]
    pub fn new(file: JsonFile) -> Self {
        let (is_record, columns) = match &file.types {
            Types::Given(Form::Record { fields: Some(names), contents, .. }) => (
                true,
                names.iter().zip(contents).map(|(name, form)| (name.clone(), readable(form))).collect(),
            ),
            Types::Given(form) => (false, vec![(VALUE.to_owned(), readable(form))]),
            Types::Found(seen, how) => (seen.is_record(), found(seen, *how)),
        };
        let fields = columns.iter().map(|(name, _)| Field::named(name, "")).collect();
        Self { file, is_record, columns, fields }
    }

    /// Returns the file.
    #[must_use]
    pub const fn file(&self) -> &JsonFile {
        &self.file
    }

    fn here(&self, error: Error) -> Error {
        error.in_file(self.file.source.uri())
    }

    fn column(&self, field: u32) -> Result<&(String, Result<Form, String>)> {
        let column = self.columns.get(field as usize);
        column.ok_or_else(|| self.here(Error::no_field(field, self.columns.len())))
    }

    /// Returns the group that decodes some columns.
    fn group(&self, fields: &[u32], framing: Framing) -> Result<Group> {
        let mut forms = Vec::new();
        for field in fields {
            let (name, form) = self.column(*field)?;
            let unsupported = |reason: &String| self.here(Error::unsupported(reason.clone())).in_object(name);
            forms.push((name.as_str(), form.as_ref().map_err(unsupported)?));
        }
        let mut form = if self.is_record {
            let names = forms.iter().map(|(name, _)| (*name).to_owned()).collect();
            let contents = forms.iter().map(|(_, form)| (*form).clone()).collect();
            Form::Record { fields: Some(names), contents, name: None }
        } else {
            forms.first().map_or(Form::Empty, |(_, form)| (*form).clone())
        };
        number_keys(&mut form);
        let recipe = Recipe { framing, form };
        let path = match forms.as_slice() {
            [(only, _)] if self.is_record => (*only).to_owned(),
            _ => String::new(),
        };
        let text = serde_json::to_string(&recipe).map_err(|error| Error::invalid(error.to_string()))?;
        let form = recipe.form;
        let columns = BlockColumns::of(&form).specs().cloned().collect();
        let reason = "members of objects come in any order: values are parsed one after the other".into();
        let reading = Reading { form, decoder: Decoder::Format(text.into()), reason };
        Ok(Group { split: self.is_record, ..Group::of(path, reading, columns) })
    }

    /// Calls `act` with the block list, which covers at least the first `entries` entries, or all if there
    /// are fewer.
    fn up_to<T>(&self, entries: u64, act: impl FnOnce(&BlockList<Place>, Framing) -> T) -> Result<T> {
        self.file.blocks.up_to(entries, act).map_err(|error| self.here(error))
    }
}

/// Returns the Form, or an error if its type cannot be read from JSON.
fn readable(form: &Form) -> Result<Form, String> {
    match Fill::new(form) {
        Ok(_) => Ok(form.clone()),
        Err(of) => Err(format!("values of type {of} in JSON")),
    }
}

/// Returns the columns of inferred types.
fn found(seen: &Seen, how: Found) -> Vec<(String, Result<Form, String>)> {
    let reason = |mixed: Mixed| {
        let path = mixed.path.trim_start_matches('.');
        let hint = if how.unions { "" } else { "; with `unions`, they are read as a union" };
        match path {
            "" => format!("{}{hint}", mixed.reason),
            _ => format!("{} in {path}{hint}", mixed.reason),
        }
    };
    if !seen.is_record() {
        return vec![(VALUE.to_owned(), seen.form(false, how).map_err(reason))];
    }
    let members = seen.members();
    members
        .map(|(name, seen, may_lack)| (name.to_owned(), seen.form(may_lack, how).map_err(reason)))
        .collect()
}

impl Dataset for JsonTable {
    fn format(&self) -> &'static str {
        "json"
    }

    fn object(&self) -> &str {
        ""
    }

    fn entries(&self) -> Result<u64> {
        self.entries_up_to(u64::MAX)
    }

    fn entries_up_to(&self, most: u64) -> Result<u64> {
        self.up_to(most, |list, _| list.entries().min(most))
    }

    fn counts_blocks(&self) -> bool {
        self.is_stream()
    }

    fn is_stream(&self) -> bool {
        self.file.blocks.is_stream()
    }

    fn release(&self, before: u64) -> Result<()> {
        self.file.blocks.release(before).map_err(|error| self.here(error))
    }

    fn entries_counted(&self) -> Result<u64> {
        self.up_to(0, |list, _| list.entries())
    }

    fn likely_entries(&self) -> Result<u64> {
        self.entries_counted()
    }

    fn entry_range(&self, field: u32, most: u64) -> Result<Range<u64>> {
        self.column(field)?;
        Ok(0..self.entries_up_to(most)?)
    }

    fn is_record(&self) -> bool {
        self.is_record
    }

    fn fields(&self) -> Result<&[Field]> {
        Ok(&self.fields)
    }

    fn describe(&self, field: u32) -> Result<Description> {
        // The types of a stream are given by a schema, and it may never end.
        self.describe_first(field, if self.is_stream() { 0 } else { u64::MAX })
    }

    fn describe_first(&self, field: u32, most: u64) -> Result<Description> {
        let (_, form) = self.column(field)?;
        let counted =
            self.up_to(most, |list, framing| (list.entries(), list.count(), list.bytes(), framing))?;
        let (entries, blocks, bytes, framing) = counted;
        // Blocks contain all columns: the bytes are divided equally between them.
        let bytes = bytes / self.columns.len().max(1) as u64;
        let (type_name, reading) = match form {
            Err(reason) => ("values of several kinds".to_owned(), Err(reason.clone())),
            Ok(_) => {
                let group = self.group(&[field], framing)?;
                let form = match group.form {
                    Form::Record { contents, .. } if self.is_record && contents.len() == 1 => {
                        contents.into_iter().next().unwrap_or(Form::Empty)
                    }
                    form => form,
                };
                (form.type_string(), Ok(Reading { form, decoder: group.decoder, reason: group.reason }))
            }
        };
        Ok(Description { type_name, reading, entries, blocks, stored_bytes: bytes, payload_bytes: bytes })
    }

    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        check_entries(&entries, self.entries_up_to(entries.end)?).map_err(|error| self.here(error))?;
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
        plan.delivered = 1;
        let framing = self.up_to(entries.end, |list, framing| {
            for (number, block) in list.within(&entries)? {
                let own = &block.entries;
                let wanted = own.start.max(entries.start)..own.end.min(entries.end);
                if !wanted.is_empty() {
                    let numbers = vec![block.start.line as i64, block.start.column as i64];
                    let task = Task::of(0, number, own.clone(), block.stored.clone());
                    plan.tasks.push(Task { wanted, numbers, ..task });
                }
            }
            Ok(framing)
        })?;
        plan.groups.push(self.group(&once, framing.map_err(|error| self.here(error))?)?);
        Ok(plan)
    }

    fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        for field in fields {
            self.column(*field)?;
        }
        let found = self.up_to(entries.end, |list, _| {
            Ok(cuts(&entries, list.within(&entries)?.map(|(_, block)| block.entries.clone())))
        })?;
        found.map_err(|error| self.here(error))
    }
}
