//! Tables written, in formats that need no words of their own.

use crate::{given::Given, handle::error_of};
use forthwith::{
    FileFormat,
    columns::{Array, Form},
    io::{self, MemorySink, Sink},
    plan::{Error, ErrorKind, Result, TableWriter as Writer, WriteOptions},
};
use pyo3::{prelude::*, types::PyBytes};
use std::sync::{Mutex, PoisonError};

/// A file being written. It begins with the first array, which says what the columns are.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct TableWriter(Mutex<State>);

struct State {
    uri: String,
    format: FileFormat,
    memory: Option<MemorySink>,
    options: WriteOptions,
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
                None => io::create(&self.uri)?,
            };
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
    #[pyo3(signature = (uri, memory, format, codec, level, block_entries, dictionary))]
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
    ) -> PyResult<Self> {
        let format =
            FileFormat::of(&format!(".{format}")).map_err(|error| error_of(py, error, None, None))?;
        let memory = memory.then(|| MemorySink::new(uri.clone()));
        let options = WriteOptions { codec, level, block_entries, dictionary, ..WriteOptions::default() };
        Ok(Self(Mutex::new(State { uri, format, memory, options, open: None })))
    }

    fn write(&self, py: Python<'_>, array: &Given) -> PyResult<()> {
        let written = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).write(&array.0));
        written.map_err(|error| error_of(py, error, None, None))
    }

    /// Entries and bytes; nothing if there was nothing to write.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).open.take();
        let done = py.detach(|| open.map(|(_, writer)| writer.finish()).transpose());
        let done = done.map_err(|error| error_of(py, error, None, None))?;
        Ok(done.map(|written| (written.entries, written.bytes)))
    }

    /// The file, if it was written to memory and is complete.
    fn bytes<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = state.memory.as_ref().and_then(MemorySink::bytes);
        bytes.map(|bytes| PyBytes::new(py, &bytes))
    }

    /// Leaves nothing behind.
    fn abandon(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).open = None;
    }
}
