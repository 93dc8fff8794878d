//! Writers of tables in formats without options of their own, and the parts shared by all writers.

use crate::{
    arrow::columns_of,
    files::Store,
    give::{listening, sink_for},
    given::{Given, GivenBatches},
    handle::error_of,
    held::Held,
    object::Cause,
};
use forthwith::{
    FileFormat,
    columns::{
        Array,
        arrow::{Streamed, import_all},
    },
    io::{MemorySink, Sink},
    plan::{CellOptions, Error, NotNumbers, Quotes, Result, TableWriter as Writer, WriteOptions},
};
use pyo3::{prelude::*, types::PyBytes};
use std::{path::PathBuf, sync::PoisonError};

/// Destination of a file: a path, a URL, or memory.
pub(crate) struct Destination {
    /// Path or URL.
    pub(crate) path: PathBuf,
    /// Path or URL as text, for errors.
    pub(crate) uri: String,
    store: Store,
    memory: Option<MemorySink>,
    pub(crate) cause: Cause,
}

impl Destination {
    pub(crate) fn new(path: PathBuf, memory: bool, store: Store) -> Self {
        let uri = path.to_string_lossy().into_owned();
        let memory = memory.then(|| MemorySink::new(uri.clone()));
        Self { path, uri, store, memory, cause: Cause::default() }
    }

    pub(crate) fn sink(&self) -> Result<Box<dyn Sink>> {
        let sink: Box<dyn Sink> = match &self.memory {
            Some(memory) => Box::new(memory.clone()),
            None => sink_for(&self.path, &self.store, &self.cause)?,
        };
        Ok(listening(sink, &self.cause))
    }
}

/// A file that is being written.
pub(crate) trait Written: Send + Sized {
    fn to(&self) -> &Destination;

    /// Discards the file.
    fn abandon(&mut self);

    /// Calls `act` without the interpreter. Returns the exception of a Python object that was written to, if
    /// there is one, in place of the error.
    fn with<T: Send>(
        py: Python<'_>,
        held: &Held<Self>,
        act: impl FnOnce(&mut Self) -> Result<T> + Send,
    ) -> PyResult<T> {
        let mut turn = held.take(py)?;
        let Some(this) = turn.kept() else { unreachable!("only dropping takes it") };
        let (done, cause) = py.detach(|| (act(this), this.to().cause.clone()));
        drop(turn);
        done.map_err(|error| match cause.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(raised) => raised,
            None => error_of(py, error, None, None),
        })
    }

    /// Returns the bytes of a complete file in memory; otherwise `None`.
    fn bytes<'py>(py: Python<'py>, held: &Held<Self>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut turn = held.take(py)?;
        let bytes = turn.kept().and_then(|this| this.to().memory.as_ref()?.bytes());
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }

    fn give_up(py: Python<'_>, held: &Held<Self>) -> PyResult<()> {
        if let Some(this) = held.take(py)?.kept() {
            this.abandon();
        }
        Ok(())
    }
}

/// A file that is being written. It begins with the first array, which determines its columns.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct TableWriter(Held<State>);

struct State {
    to: Destination,
    format: FileFormat,
    options: WriteOptions,
    /// Names of the columns, and the writer, after the first array.
    open: Option<(Vec<String>, Box<dyn Writer>)>,
}

impl State {
    /// Returns the writer, created with these columns if they are the first, and the arrays of the columns.
    fn columns(&mut self, given: &Given) -> Result<(&mut dyn Writer, Vec<Array>)> {
        let (names, columns) = columns_of(&given.0);
        if self.open.is_none() {
            keep_words(&mut self.options, given);
            let forms = columns.iter().map(|column| column.form.clone());
            let fields: Vec<_> = names.iter().cloned().zip(forms).collect();
            let writer = forthwith::writer(self.format, &fields, self.to.sink()?, &self.options)?;
            self.open = Some((names.clone(), writer));
        }
        match &mut self.open {
            Some((known, writer)) if *known == names => Ok((writer.as_mut(), columns)),
            Some((known, _)) => Err(Error::invalid(other_fields(known, &names)).in_file(&self.to.uri)),
            None => unreachable!("it is open by now"),
        }
    }

    fn write(&mut self, given: &Given) -> Result<()> {
        let (writer, columns) = self.columns(given)?;
        writer.write(&columns)
    }

    fn write_batches(&mut self, given: &GivenBatches, is_last: bool) -> Result<()> {
        let (writer, columns) = self.columns(&given.columns())?;
        let Streamed::Batches { batches, .. } = &given.0 else { return writer.write(&columns) };
        if writer.write_batches(batches, is_last)? {
            return Ok(());
        }
        let array = import_all(batches).map_err(|error| Error::invalid(error.to_string()))?;
        writer.write(&columns_of(&array).1)
    }

    fn finish(&mut self) -> Result<Option<(u64, u64)>> {
        let Some((_, writer)) = self.open.take() else { return Ok(None) };
        writer.finish().map(|written| Some((written.entries, written.bytes)))
    }
}

/// Options of text cells: separator, header, text of missing values, name of the quoting style, CRLF.
#[derive(FromPyObject)]
struct Cells(Option<String>, bool, String, String, bool);

impl Cells {
    fn options(self) -> Result<CellOptions> {
        let Self(separator, header, null, quotes, crlf) = self;
        let one = |text: String| match text.chars().collect::<Vec<_>>()[..] {
            [only] => Ok(only),
            _ => Err(Error::invalid(format!("separator: one ASCII character, not {text:?}"))),
        };
        let separator = separator.map(one).transpose()?;
        let known = Quotes::parse(&quotes);
        let quotes = known.ok_or_else(|| other_name("quote_style", &Quotes::NAMES, &quotes))?;
        Ok(CellOptions { separator, header, null, quotes, crlf })
    }
}

/// Returns the error for an unknown name.
fn other_name(what: &str, known: &[&str], found: &str) -> Error {
    Error::invalid(format!("{what} is one of {}, not {found:?}", known.join(", ")))
}

/// Adds the schema of Arrow data and its metadata, except for names that have a value already.
pub(crate) fn keep_words(options: &mut WriteOptions, given: &Given) {
    for (name, value) in given.words() {
        if options.metadata.iter().all(|(known, _)| *known != name) {
            options.metadata.push((name, value));
        }
    }
    options.arrow = given.schema().cloned();
}

/// Returns the message about fields that differ from those of the first array.
pub(crate) fn other_fields(known: &[String], found: &[String]) -> String {
    let not_in = |names: &[String], others: &[String]| {
        let only = names.iter().filter(|name| !others.contains(name));
        only.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
    };
    let how = match (not_in(known, found), not_in(found, known)) {
        (lacking, more) if lacking.is_empty() && more.is_empty() => "they are in another order".to_owned(),
        (lacking, more) if more.is_empty() => format!("{lacking} is lacking"),
        (lacking, more) if lacking.is_empty() => format!("{more} was not there"),
        (lacking, more) => format!("{lacking} is lacking, {more} was not there"),
    };
    format!("an array of other fields than the first: {how}")
}

impl Written for State {
    fn to(&self) -> &Destination {
        &self.to
    }

    fn abandon(&mut self) {
        self.open = None;
    }
}

#[pymethods]
impl TableWriter {
    #[new]
    #[pyo3(signature = (path, memory, format, codec, level, block_entries, dictionary, metadata, store, schema = None, name = None, framing = None, not_numbers = None, cells = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords, given by name in Python")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        memory: bool,
        format: &str,
        codec: Option<String>,
        level: Option<i32>,
        block_entries: Option<u64>,
        dictionary: Option<bool>,
        metadata: Vec<(String, Vec<u8>)>,
        store: Store,
        schema: Option<String>,
        name: Option<String>,
        framing: Option<String>,
        not_numbers: Option<&str>,
        cells: Option<Cells>,
    ) -> PyResult<Self> {
        let refused = |error: Error| error_of(py, error, None, None);
        let not_numbers = not_numbers.map_or(Ok(NotNumbers::default()), |name| {
            let known = NotNumbers::parse(name);
            known.ok_or_else(|| refused(other_name("nan", &NotNumbers::NAMES, name)))
        })?;
        let cells = cells.map_or(Ok(CellOptions::default()), Cells::options).map_err(refused)?;
        let format =
            FileFormat::of(&format!(".{format}")).map_err(|error| error_of(py, error, None, None))?;
        let metadata = metadata.into_iter().map(|(name, value)| (name, value.into())).collect();
        let options = WriteOptions {
            codec,
            level,
            block_entries,
            dictionary,
            metadata,
            schema,
            name,
            framing,
            not_numbers,
            cells,
            ..WriteOptions::default()
        };
        let to = Destination::new(path, memory, store);
        Ok(Self(Held::new(State { to, format, options, open: None })))
    }

    fn write(&self, py: Python<'_>, array: &Given) -> PyResult<()> {
        State::with(py, &self.0, |state| state.write(array))
    }

    /// Appends batches. `is_last` means that no further data follow.
    fn write_batches(&self, py: Python<'_>, given: &GivenBatches, is_last: bool) -> PyResult<()> {
        State::with(py, &self.0, |state| state.write_batches(given, is_last))
    }

    /// Completes the file; returns its entries and bytes, or `None` if nothing was written.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        State::with(py, &self.0, State::finish)
    }

    /// Returns the bytes of a complete file in memory; otherwise `None`.
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        State::bytes(py, &self.0)
    }

    /// Discards the file.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        State::give_up(py, &self.0)
    }
}
