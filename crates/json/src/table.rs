//! A file as a table.

use crate::{
    JsonFile,
    decode::Recipe,
    fill::Fill,
    scan::Types,
    schema::number_keys,
    seen::{Found, Mixed, Seen},
};
use forthwith_columns::Form;
use forthwith_plan::{
    BlockColumns, Dataset, Decoder, Description, Error, Field, Group, Pick, Plan, Reading, Result, Stored,
    Task, check_entries, cuts,
};
use std::ops::Range;

/// The columns and entries of a [`JsonFile`].
#[derive(Debug)]
pub struct JsonTable {
    file: JsonFile,
    is_record: bool,
    /// Name and Form of each column, or the reason why it has none.
    columns: Vec<(String, Result<Form, String>)>,
    fields: Vec<Field>,
}

/// The name of the only column where entries are no objects.
const VALUE: &str = "value";

impl JsonTable {
    /// The table that a file is: its columns are the members of the objects, or the value itself where not all values are objects.
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

    /// The file.
    #[must_use]
    pub const fn file(&self) -> &JsonFile {
        &self.file
    }

    fn here(&self, error: Error) -> Error {
        error.in_file(self.file.source.uri())
    }

    fn column(&self, field: u32) -> Result<&(String, Result<Form, String>)> {
        let column = self.columns.get(field as usize);
        column.ok_or_else(|| self.here(Error::invalid(format!("there is no field number {field}"))))
    }

    /// The group that decodes some columns.
    fn group(&self, fields: &[u32]) -> Result<Group> {
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
        let recipe = Recipe { framing: self.file.framing, form };
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

    /// The numbers of the blocks with some of these entries.
    fn within(&self, entries: &Range<u64>) -> Range<usize> {
        let blocks = &self.file.blocks;
        let from = blocks.partition_point(|block| block.entries.end <= entries.start);
        let to = blocks.partition_point(|block| block.entries.start < entries.end);
        from..to.max(from)
    }
}

/// A Form, if its values are read from JSON.
fn readable(form: &Form) -> Result<Form, String> {
    match Fill::new(form) {
        Ok(_) => Ok(form.clone()),
        Err(of) => Err(format!("values of type {of} in JSON")),
    }
}

/// The columns of types that were found.
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
        Ok(self.file.blocks.last().map_or(0, |block| block.entries.end))
    }

    fn is_record(&self) -> bool {
        self.is_record
    }

    fn fields(&self) -> Result<&[Field]> {
        Ok(&self.fields)
    }

    fn describe(&self, field: u32) -> Result<Description> {
        let (_, form) = self.column(field)?;
        let each = self.file.blocks.iter().map(|block| block.bytes.end - block.bytes.start);
        let bytes = each.fold(0, u64::saturating_add);
        // Blocks hold all columns; nothing says how much of them is whose.
        let bytes = bytes / self.columns.len().max(1) as u64;
        let (type_name, reading) = match form {
            Err(reason) => ("values of several kinds".to_owned(), Err(reason.clone())),
            Ok(_) => {
                let group = self.group(&[field])?;
                let form = match group.form {
                    Form::Record { contents, .. } if self.is_record && contents.len() == 1 => {
                        contents.into_iter().next().unwrap_or(Form::Empty)
                    }
                    form => form,
                };
                (form.type_string(), Ok(Reading { form, decoder: group.decoder, reason: group.reason }))
            }
        };
        Ok(Description {
            type_name,
            reading,
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
        plan.groups.push(self.group(&once)?);
        plan.delivered = 1;
        for number in self.within(&entries) {
            let block = &self.file.blocks[number];
            let own = &block.entries;
            let wanted = own.start.max(entries.start)..own.end.min(entries.end);
            if !wanted.is_empty() {
                let numbers = vec![block.place.line as i64, block.place.column as i64];
                let task = Task::of(0, number as u64, own.clone(), Stored::Range(block.bytes.clone()));
                plan.tasks.push(Task { wanted, numbers, ..task });
            }
        }
        Ok(plan)
    }

    fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        for field in fields {
            self.column(*field)?;
        }
        Ok(cuts(&entries, self.file.blocks[self.within(&entries)].iter().map(|block| block.entries.clone())))
    }
}
