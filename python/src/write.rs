//! Tables written, in formats that need no words of their own.

use crate::{
    files::Store,
    give::{listening, sink_for},
    given::Given,
    handle::error_of,
    held::Held,
    object::Cause,
};
use forthwith::{
    FileFormat,
    columns::{Array, Form},
    io::{MemorySink, Sink},
    plan::{Error, ErrorKind, Result, TableWriter as Writer, WriteOptions},
};
use pyo3::{prelude::*, types::PyBytes};
use std::sync::PoisonError;

/// A file being written. It begins with the first array, which says what the columns are.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct TableWriter(Held<State>);

struct State {
    uri: String,
    store: Store,
    format: FileFormat,
    memory: Option<MemorySink>,
    options: WriteOptions,
    cause: Cause,
    /// The names of the columns.
    open: Option<(Vec<String>, Box<dyn Writer>)>,
}

impl State {
    fn write(&mut self, array: &Array) -> Result<()> {
        // What is no record is a table of one column.
        let (names, columns) = match &array.form {
            Form::Record { fields: Some(names), .. } => (names.clone(), array.clone().into_fields()),
            _ => (vec!["value".to_owned()], vec![array.clone()]),
        };
        if self.open.is_none() {
            let sink: Box<dyn Sink> = match &self.memory {
                Some(memory) => Box::new(memory.clone()),
                None => sink_for(&self.uri, &self.store, &self.cause)?,
            };
            let sink = listening(sink, &self.cause);
            let forms = columns.iter().map(|column| column.form.clone());
            let fields: Vec<_> = names.iter().cloned().zip(forms).collect();
            self.open = Some((names.clone(), forthwith::writer(self.format, &fields, sink, &self.options)?));
        }
        match &mut self.open {
            Some((known, writer)) if *known == names => writer.write(&columns),
            _ => {
                let what = "an array of other fields than the first".into();
                Err(Error::new(ErrorKind::Invalid { what }).in_file(&self.uri))
            }
        }
    }
}

#[pymethods]
impl TableWriter {
    #[new]
    #[pyo3(signature = (uri, memory, format, codec, level, block_entries, dictionary, store))]
    #[expect(clippy::too_many_arguments, reason = "keywords, given by name in Python")]
    fn new(
        py: Python<'_>,
        uri: String,
        memory: bool,
        format: &str,
        codec: Option<String>,
        level: Option<i32>,
        block_entries: Option<u64>,
        dictionary: Option<bool>,
        store: Store,
    ) -> PyResult<Self> {
        let format =
            FileFormat::of(&format!(".{format}")).map_err(|error| error_of(py, error, None, None))?;
        let memory = memory.then(|| MemorySink::new(uri.clone()));
        let options = WriteOptions { codec, level, block_entries, dictionary, ..WriteOptions::default() };
        let cause = Cause::default();
        Ok(Self(Held::new(State { uri, store, format, memory, options, cause, open: None })))
    }

    fn write(&self, py: Python<'_>, array: &Given) -> PyResult<()> {
        with(py, &self.0, |state| (state.write(&array.0), state.cause.clone()))
    }

    /// Entries and bytes; nothing if there was nothing to write.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        let done = with(py, &self.0, |state| {
            (state.open.take().map(|(_, writer)| writer.finish()).transpose(), state.cause.clone())
        })?;
        Ok(done.map(|written| (written.entries, written.bytes)))
    }

    /// The file, if it was written to memory and is complete.
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut turn = self.0.take(py)?;
        Ok(in_memory(py, turn.kept().and_then(|state| state.memory.as_ref())))
    }

    /// Leaves nothing behind.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(state) = self.0.take(py)?.kept() {
            state.open = None;
        }
        Ok(())
    }
}

/// Does something with the state of a writer, without the interpreter. An exception of a Python object that was written to is passed on.
pub(crate) fn with<S: Send, T: Send>(
    py: Python<'_>,
    held: &Held<S>,
    act: impl FnOnce(&mut S) -> (Result<T>, Cause) + Send,
) -> PyResult<T> {
    let mut turn = held.take(py)?;
    let Some(state) = turn.kept() else { unreachable!("only dropping takes it") };
    let (done, cause) = py.detach(|| act(state));
    drop(turn);
    done.map_err(|error| match cause.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(raised) => raised,
        None => error_of(py, error, None, None),
    })
}

/// The bytes of a file in memory that is complete.
pub(crate) fn in_memory<'py>(py: Python<'py>, memory: Option<&MemorySink>) -> Option<Bound<'py, PyBytes>> {
    memory.and_then(MemorySink::bytes).map(|bytes| PyBytes::new(py, &bytes))
}
