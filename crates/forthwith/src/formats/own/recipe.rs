//! A program with the type of what it writes.

use super::invalid;
use forthwith_builders::{Arrangement, Form as Described, Layout, Written};
use forthwith_columns::{Array, Column, DType, Form};
use forthwith_forth::{Compiled, Limits, Machine, Programs, RunError, Status};
use forthwith_plan::{ColumnSpec, Error, ErrorKind, Result};
use std::sync::Arc;

/// A program that compiles, and whose outputs fit its type.
pub(super) struct Recipe {
    /// The name of the format.
    pub name: String,
    /// The program.
    pub program: String,
    /// The type of an entry.
    pub described: String,
    /// What an entry is.
    pub form: Form,
    compiled: Arc<Compiled>,
    ty: Described,
}

/// What a column is to the columns of the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Values: they follow each other.
    Data,
    /// Offsets: they go on where those of the block before ended.
    Offsets,
    /// Rows of values: they are behind those of the block before.
    Index,
}

impl Recipe {
    pub(super) fn new(name: &str, program: &str, described: &str) -> Result<Self> {
        let refuse = |what: String| invalid(format!("the format {name}: {what}"));
        let ty = Described::parse(described).map_err(|error| refuse(error.to_string()))?;
        let compiled = match Programs::of_process() {
            Some(programs) => programs.get(program),
            None => Compiled::new(program).map(Arc::new),
        };
        let compiled = compiled.map_err(|error| refuse(format!("the program does not compile: {error}")))?;
        if compiled.inputs() != ["data"] {
            let inputs = compiled.inputs().join(", ");
            return Err(refuse(format!("its program has one input, `data`, and not: {inputs}")));
        }
        let outputs: Vec<_> = compiled.outputs().iter().map(|o| (o.name.as_str(), o.dtype)).collect();
        let fits = Arrangement::without_rows(&ty, &outputs).map_err(|error| refuse(error.to_string()))?;
        let column = |(key, at): &(String, usize)| {
            let dtype = outputs[*at].1;
            let items = if key.ends_with("-offsets") { dtype.size() } else { 0 };
            (key.clone(), Column::from_bytes(dtype, vec![0; items].into()))
        };
        let columns = fits.buffers.iter().map(column).collect();
        let none = Layout { form: fits.form, length: 0, columns };
        let unsupported = |what: String| Error::unsupported(format!("the format {name}: {what}"));
        let form = none.to_array().map_err(|error| unsupported(error.to_string()))?.form;
        if has_union(&form) {
            return Err(unsupported(format!("unions, in {}", form.type_string())));
        }
        let (name, program, described) = (name.to_owned(), program.to_owned(), described.to_owned());
        let recipe = Self { name, program, described, form, compiled, ty };
        if recipe.specs(&recipe.form).is_empty() {
            return Err(refuse("an entry has no values".into()));
        }
        Ok(recipe)
    }

    /// The names of the columns with their Forms.
    pub(super) fn columns(&self) -> Vec<(&str, &Form)> {
        match &self.form {
            Form::Record { fields: Some(names), contents, .. } => {
                names.iter().map(String::as_str).zip(contents).collect()
            }
            form => vec![("value", form)],
        }
    }

    /// Whether an entry is a record, whose fields are the columns.
    pub(super) fn is_record(&self) -> bool {
        matches!(self.form, Form::Record { fields: Some(_), .. })
    }

    /// What is read if these columns are wanted.
    pub(super) fn chosen(&self, fields: &[u32]) -> Form {
        match &self.form {
            Form::Record { fields: Some(names), contents, name } => {
                let all = || fields.iter().map(|field| *field as usize);
                Form::Record {
                    fields: Some(all().filter_map(|at| names.get(at).cloned()).collect()),
                    contents: all().filter_map(|at| contents.get(at).cloned()).collect(),
                    name: name.clone(),
                }
            }
            form => form.clone(),
        }
    }

    /// The columns that a Form has.
    pub(super) fn specs(&self, form: &Form) -> Vec<(ColumnSpec, Part)> {
        let mut found = Vec::new();
        parts(form, "", true, &mut found);
        found
    }

    /// A machine for the program.
    pub(super) fn machine(&self) -> Machine {
        Machine::new(Arc::clone(&self.compiled), Limits::default())
    }

    /// Decodes a block, whose number of entries is known or not.
    pub(super) fn decode(&self, machine: &mut Machine, bytes: &[u8], entries: Option<u64>) -> Result<Array> {
        machine.begin();
        let status =
            entries.map_or(Ok(()), |entries| machine.push(i64::try_from(entries).unwrap_or(i64::MAX)));
        let status = status.and_then(|()| machine.resume(&[bytes]));
        let at = machine.position(0);
        match status {
            Ok(Status::Done) => {}
            Ok(Status::Paused) => return Err(self.fault("the program paused").at_byte(at as u64)),
            Err(error) => return Err(self.stopped(machine, error).at_byte(at as u64)),
        }
        if at != bytes.len() {
            let left = bytes.len().saturating_sub(at);
            return Err(self.fault(&format!("{left} bytes of the block are left over")).at_byte(at as u64));
        }
        let names = self.compiled.outputs().iter().map(|output| output.name.as_str());
        let written: Vec<_> =
            names.zip(machine.outputs()).map(|(name, output)| Written::of(name, output)).collect();
        let misfit =
            |error: &dyn std::fmt::Display| self.fault(&format!("the outputs are not the type: {error}"));
        let found = Arrangement::new(&self.ty, &written).map_err(|error| misfit(&error))?;
        let array = found.layout(machine.outputs()).to_array().map_err(|error| misfit(&error))?;
        for (name, column) in &array.columns {
            let first = column.item::<i64>(0).unwrap_or(0);
            if name.ends_with("-offsets") && first != 0 {
                return Err(self.fault(&format!("offsets begin with 0, not with {first}")));
            }
        }
        array.validate().map_err(|error| misfit(&error))?;
        match entries {
            Some(entries) if entries != array.length => {
                let length = array.length;
                Err(self.fault(&format!("the program wrote {length} entries of a block that has {entries}")))
            }
            _ => Ok(array),
        }
    }

    /// Something wrong with the data, or with the program.
    pub(super) fn fault(&self, what: &str) -> Error {
        ErrorKind::Fault { what: format!("the format {}: {what}", self.name) }.into()
    }

    #[cold]
    fn stopped(&self, machine: &Machine, error: RunError) -> Error {
        if matches!(error, RunError::OutOfMemory | RunError::OutputLimitExceeded) {
            return ErrorKind::OutOfMemory { what: "the outputs of a program", bytes: 0 }.into();
        }
        let place = machine.error_location().map(|at| {
            format!(", at line {} column {} of the program (`{}`)", at.line, at.column, at.instruction.trim())
        });
        self.fault(&format!("{error}{}", place.unwrap_or_default()))
    }
}

/// Unions would need a number for each alternative to go on from block to block.
fn has_union(form: &Form) -> bool {
    match form {
        Form::Union { .. } => true,
        Form::List { content, .. } | Form::Regular { content, .. } => has_union(content),
        Form::Option { content, .. } | Form::Meant { content, .. } => has_union(content),
        Form::Record { contents, .. } => contents.iter().any(has_union),
        _ => false,
    }
}

/// Adds the columns of a Form; those `once` have one item for each entry.
fn parts(form: &Form, member: &str, once: bool, found: &mut Vec<(ColumnSpec, Part)>) {
    let mut add = |key: &str, name: &str, dtype: DType, part: Part, once: bool| {
        let spec = ColumnSpec {
            key: format!("{key}-{name}"),
            dtype,
            offsets: part == Part::Offsets,
            member: member.to_owned(),
            // As many items as bytes is a guess: a column that needs more grows.
            bytes_per_payload_byte: if once { 0 } else { dtype.size() as u32 },
        };
        found.push((spec, part));
    };
    match form {
        Form::Numpy { key, dtype, shape } => add(key, "data", *dtype, Part::Data, once && shape.is_empty()),
        Form::String { key, .. } => {
            add(key, "offsets", DType::Int64, Part::Offsets, once);
            add(key, "data", DType::UInt8, Part::Data, false);
        }
        Form::List { key, content } => {
            add(key, "offsets", DType::Int64, Part::Offsets, once);
            parts(content, &format!("{member}[]"), false, found);
        }
        Form::Option { key, content } => {
            add(key, "index", DType::Int64, Part::Index, once);
            parts(content, member, false, found);
        }
        Form::Regular { content, .. } => parts(content, &format!("{member}[]"), false, found),
        Form::Meant { content, .. } => parts(content, member, once, found),
        Form::Record { fields, contents, .. } => {
            for (at, content) in contents.iter().enumerate() {
                let name = fields.as_ref().and_then(|names| names.get(at).cloned());
                let name = name.unwrap_or_else(|| at.to_string());
                let member = if member.is_empty() { name } else { format!("{member}.{name}") };
                parts(content, &member, once, found);
            }
        }
        Form::Empty | Form::Categorical { .. } | Form::Union { .. } => {}
        _ => {}
    }
}
