//! The program of a user-defined format together with the type of its outputs.

use bytes::Bytes;
use forthwith_builders::{Arrangement, Form as Described, Layout, Written};
use forthwith_columns::{Array, Column, Form, repeated_name};
use forthwith_forth::{Compiled, Limits, Machine, Output, Programs, RunError, Status};
use forthwith_io::LARGEST_EXPANSION;
use forthwith_plan::{BlockColumns, Error, ErrorKind, Result};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// A compiled program whose outputs match its type.
pub(super) struct Recipe {
    /// Name of the format.
    pub name: String,
    /// Source of the program.
    pub program: String,
    /// Text of the type of an entry.
    pub described: String,
    /// Form of an entry.
    pub form: Form,
    compiled: Arc<Compiled>,
    ty: Described,
}

/// Interrupt of a run: when `flag` is set, it is cleared and `go_on` is called, whose error ends the run.
pub(super) struct Stopped<'a> {
    pub flag: &'a Arc<AtomicBool>,
    pub go_on: &'a mut dyn FnMut() -> Result<()>,
}

/// Constant part of the default limit on the bytes of a block's outputs, which applies if the file was opened
/// without a limit: [`LARGEST_EXPANSION`] bytes for each byte of the block come on top.
const LEAST_OUTPUT: usize = 64 << 20;

impl Recipe {
    pub(super) fn new(name: &str, program: &str, described: &str) -> Result<Self> {
        let refuse = |what: String| Error::invalid(format!("the format {name}: {what}"));
        let ty = Described::parse(described).map_err(|error| refuse(error.to_string()))?;
        let compiled = Programs::of_process()
            .get(program)
            .map_err(|error| refuse(format!("the program does not compile: {error}")))?;
        if compiled.inputs() != ["data"] {
            let inputs = match compiled.inputs() {
                [] => "none".to_owned(),
                inputs => inputs.join(", "),
            };
            return Err(refuse(format!("its program has one input, `data`; this one has {inputs}")));
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
        let form = none.to_array().map_err(|error| unsupported(format!("{} in tables", error.what)))?.form;
        let (name, program, described) = (name.to_owned(), program.to_owned(), described.to_owned());
        let recipe = Self { name, program, described, form, compiled, ty };
        if recipe.parts(&recipe.form).specs().next().is_none() {
            return Err(refuse("an entry has no values".into()));
        }
        if let Form::Record { fields: Some(names), .. } = &recipe.form
            && let Some(name) = repeated_name(names.iter().map(String::as_str))
        {
            return Err(refuse(format!("two fields are called {name}")));
        }
        Ok(recipe)
    }

    /// Returns the names and Forms of the columns.
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

    /// Returns the Form of an entry with only these columns, given by their indexes.
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

    /// Returns the columns of a Form.
    pub(super) fn parts(&self, form: &Form) -> BlockColumns {
        BlockColumns::of(form)
    }

    /// Creates a machine for the program.
    pub(super) fn machine(&self) -> Machine {
        Machine::new(Arc::clone(&self.compiled), Limits::default())
    }

    /// Decodes a block. If `entries` is set, it is pushed on the stack and checked. The outputs may have at
    /// most `limit` bytes; `None` selects a limit by the size of the block.
    pub(super) fn decode(
        &self,
        machine: &mut Machine,
        bytes: &[u8],
        entries: Option<u64>,
        limit: Option<usize>,
        stopped: &mut Stopped<'_>,
    ) -> Result<Array> {
        let by_size = bytes.len().saturating_mul(LARGEST_EXPANSION as usize).saturating_add(LEAST_OUTPUT);
        let most = limit.unwrap_or(by_size);
        // The capacity of a growing buffer is up to twice its length.
        let budget = Arc::new(AtomicUsize::new(most.saturating_mul(2).saturating_add(1 << 16)));
        let outputs = self.compiled.outputs().iter().map(|output| Output::within(output.dtype, &budget));
        machine.set_interrupt(Some(Arc::clone(stopped.flag)));
        let mut status = machine.begin_with(outputs.collect()).map(|()| Status::Paused);
        if let Some(entries) = entries {
            status = status
                .and_then(|status| machine.push(i64::try_from(entries).unwrap_or(i64::MAX)).map(|()| status));
        }
        let mut status = status.and_then(|_| machine.resume(&[bytes]));
        while status == Err(RunError::Interrupted) {
            stopped.flag.swap(false, Ordering::Acquire);
            (stopped.go_on)()?;
            status = machine.resume(&[bytes]);
        }
        let at = machine.position(0);
        let too_much = || {
            let what = "the outputs of the program (a larger memory limit for the file allows more)";
            Error::from(ErrorKind::OutOfMemory { what, bytes: most as u64 })
        };
        match status {
            Ok(Status::Done) => {}
            Ok(Status::Paused) => return Err(self.fault("the program paused").at_byte(at as u64)),
            Err(RunError::OutOfMemory) => return Err(too_much().at_byte(at as u64)),
            Err(error) => return Err(self.stopped(machine, error).at_byte(at as u64)),
        }
        if at != bytes.len() {
            let left = bytes.len().saturating_sub(at);
            return Err(self.fault(&format!("{left} bytes of the block are left over")).at_byte(at as u64));
        }
        if machine.outputs().iter().map(|output| output.as_bytes().len()).sum::<usize>() > most {
            return Err(too_much());
        }
        let array = self.array(machine.take_outputs())?;
        match entries {
            Some(entries) if entries != array.length => {
                let length = array.length;
                Err(self.fault(&format!("the program wrote {length} entries of a block that has {entries}")))
            }
            _ => Ok(array),
        }
    }

    /// Converts the outputs of the program to an array, and checks them against the type.
    fn array(&self, outputs: Vec<Output>) -> Result<Array> {
        let names = self.compiled.outputs().iter().map(|output| output.name.as_str());
        let written: Vec<_> = names.zip(&outputs).map(|(name, output)| Written::of(name, output)).collect();
        let misfit =
            |error: &dyn std::fmt::Display| self.fault(&format!("the outputs are not the type: {error}"));
        let found = Arrangement::new(&self.ty, &written).map_err(|error| misfit(&error))?;
        let owned = |output: Output| Column::from_bytes(output.dtype(), Bytes::from_owner(Owned(output)));
        let own: Vec<Column> = outputs.into_iter().map(owned).collect();
        let columns = found.buffers.iter().map(|(key, at)| (key.clone(), own[*at].clone()));
        let layout = Layout { form: found.form, length: found.length, columns: columns.collect() };
        let array = layout.to_array().map_err(|error| misfit(&error))?;
        for (name, column) in &array.columns {
            let first = column.item::<i64>(0).unwrap_or(0);
            if name.ends_with("-offsets") && first != 0 {
                return Err(self.fault(&format!("offsets begin with 0, not with {first}")));
            }
        }
        array.validate().map_err(|error| misfit(&error))?;
        Ok(array)
    }

    /// Returns an error of the data or of the program.
    pub(super) fn fault(&self, what: &str) -> Error {
        Error::fault(format!("the format {}: {what}", self.name))
    }

    #[cold]
    fn stopped(&self, machine: &Machine, error: RunError) -> Error {
        let place = machine.error_location().map(|at| {
            format!(", at line {} column {} of the program (`{}`)", at.line, at.column, at.instruction.trim())
        });
        self.fault(&format!("{error}{}", place.unwrap_or_default()))
    }
}

/// Owner of an output's memory, from which a column borrows.
struct Owned(Output);

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}
