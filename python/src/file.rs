//! Files and their objects.

use crate::{
    desk::{Entered, raised},
    files, formats,
    gate::Gate,
    handle::{Handle, error_of},
    object::FileObject,
    table::Table,
};
use forthwith::{
    Engine, OpenOptions, OptionValue, Options,
    columns::Policy,
    io::{self, Callback, MappedFile, Source},
    plan::Result,
};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::{collections::HashMap, path::PathBuf, sync::Arc};

/// An open file. The stub file has the documentation.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct File {
    pub(crate) handle: Arc<Handle>,
    #[pyo3(get)]
    uri: String,
    #[pyo3(get)]
    format: String,
    #[pyo3(get)]
    version: String,
    #[pyo3(get)]
    compression: String,
    #[pyo3(get)]
    uuid: Option<String>,
    #[pyo3(get)]
    identity: Option<String>,
    #[pyo3(get)]
    size: u64,
    #[pyo3(get)]
    header: HashMap<&'static str, i64>,
}

impl File {
    fn make(
        py: Python<'_>,
        open: impl FnOnce() -> Result<Arc<dyn Source>> + Send,
        settings: Settings,
    ) -> PyResult<Self> {
        let object = settings.object.clone();
        let _entered = object.as_ref().map(|object| Entered::new(py, &object.reader)).transpose()?;
        let opened = py.detach(|| -> Result<_> {
            let gate = Arc::new(Gate::new(open()?));
            let engine = Arc::new(Engine::new(settings.options()));
            let source = Arc::clone(&gate) as Arc<dyn Source>;
            let file = forthwith::File::from_source_with(source, engine, &settings.format)?;
            let info = file.info()?;
            Ok((gate, file, info))
        });
        if let Some(raised) = raised() {
            return Err(raised);
        }
        let (gate, file, info) =
            opened.map_err(|error| error_of(py, error, None, object.as_ref().map(|object| &object.cause)))?;
        let handle = Arc::new(Handle { file, gate, object });
        let forthwith::FileInfo { uri, format, version, compression, uuid, identity, size, header } = info;
        let header = header.into_iter().collect();
        Ok(Self { handle, uri, format, version, compression, uuid, identity, size, header })
    }
}

struct Settings {
    threads: Option<usize>,
    memory: Option<usize>,
    pool: Option<usize>,
    huge_pages: bool,
    /// Options for the format of the file.
    format: OpenOptions,
    object: Option<FileObject>,
}

impl Settings {
    fn options(&self) -> Options {
        let mut options = self.threads.map_or_else(Options::default, Options::with_threads);
        let pool_bytes = self.pool.unwrap_or(options.policy.pool_bytes);
        options.policy = Policy {
            limit: self.memory,
            pool_bytes,
            huge_pages: self.huge_pages,
            // A pool smaller than the shared one is not shared.
            shared: pool_bytes >= Policy::SHARED_BYTES,
            ..options.policy
        };
        options
    }
}

#[pymethods]
impl File {
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    #[pyo3(signature = (path, source="auto", threads=None, memory=None, pool=None, huge_pages=true, options=None, store=None, index=None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        source: &str,
        threads: Option<usize>,
        memory: Option<usize>,
        pool: Option<usize>,
        huge_pages: bool,
        options: Option<&Bound<'_, PyDict>>,
        store: Option<Vec<(String, String)>>,
        index: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let format = format_options(options)?;
        let (map, copy) = (source == "map", source == "pread");
        let place = files::index_place(index)?;
        let open = || -> Result<Arc<dyn Source>> {
            let store = files::options(&store.unwrap_or_default());
            let index = files::index(&path.to_string_lossy(), place, &store)?;
            let local: Arc<dyn Source> = match path.to_str() {
                _ if map => Arc::new(MappedFile::open(&path)?),
                Some(uri) if copy => io::open_unmapped(uri)?,
                _ => return files::source(&path, index, &store),
            };
            files::with_index(local, index)
        };
        Self::make(py, open, Settings { threads, memory, pool, huge_pages, format, object: None })
    }

    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    #[pyo3(signature = (object, name, threads=None, memory=None, pool=None, huge_pages=true, options=None, index=None))]
    fn from_object(
        py: Python<'_>,
        object: Py<PyAny>,
        name: String,
        threads: Option<usize>,
        memory: Option<usize>,
        pool: Option<usize>,
        huge_pages: bool,
        options: Option<&Bound<'_, PyDict>>,
        index: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let format = format_options(options)?;
        let object = FileObject::new(object);
        let shared = object.clone();
        let place = files::index_place(index)?;
        let open = || -> Result<Arc<dyn Source>> {
            let index = files::index(&name, place, &files::options(&[]))?;
            files::with_index(Arc::new(Callback::shared(name, move || Box::new(object.clone()))), index)
        };
        let settings = Settings { threads, memory, pool, huge_pages, format, object: Some(shared) };
        Self::make(py, open, settings)
    }

    #[getter]
    fn closed(&self) -> bool {
        self.handle.gate.is_closed()
    }

    /// Whether the file is a single table.
    #[getter]
    fn is_one_table(&self) -> bool {
        self.handle.file.is_one_table()
    }

    /// Whether the format was registered, rather than built in.
    #[getter]
    fn is_of_registered_format(&self) -> bool {
        !forthwith::formats().iter().any(|format| format.name() == self.format)
    }

    /// Returns the report of a recovery; `None` if the file was not recovered.
    #[getter]
    fn recovered<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        // The size may be that of a file object, which needs the interpreter.
        let Some(recovered) = py.detach(|| self.handle.file.recovery()) else { return Ok(None) };
        let found = PyDict::new(py);
        found.set_item("objects", recovered.objects)?;
        found.set_item("baskets", recovered.blocks)?;
        found.set_item("deleted", recovered.deleted)?;
        found.set_item("unlisted", recovered.unlisted)?;
        found.set_item("streamers", recovered.describes_classes)?;
        found.set_item("end", recovered.end)?;
        found.set_item("size", recovered.size)?;
        found.set_item("stopped", recovered.stopped)?;
        let gaps = recovered.gaps.into_iter().map(|gap| (gap.begin, gap.end, gap.what));
        found.set_item("gaps", gaps.collect::<Vec<_>>())?;
        Ok(Some(found))
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.handle.gate.close());
    }

    fn keys(&self, py: Python<'_>, directory: &str, recursive: bool) -> PyResult<Vec<Key>> {
        let keys = self.handle.run(py, || self.handle.file.keys(directory, recursive))?;
        Ok(keys.into_iter().map(Key::from).collect())
    }

    fn find(&self, py: Python<'_>, path: &str) -> PyResult<Key> {
        self.handle.run(py, || self.handle.file.find(path)).map(Key::from)
    }

    /// Returns the path of the object that a path names, and the path of the field if the path continues into
    /// a table.
    fn locate(&self, py: Python<'_>, path: &str) -> PyResult<(String, Option<String>)> {
        self.handle.run(py, || files::locate(&self.handle.file, path))
    }

    /// Returns the metadata of the file, in its order.
    fn metadata<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        let words = self.handle.file.metadata().into_iter();
        words.map(|(name, value)| (name, PyBytes::new(py, &value))).collect()
    }

    /// Returns the metadata of the file without entries that belong to the format itself.
    fn user_metadata<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        let words = self.handle.file.user_metadata().into_iter();
        words.map(|(name, value)| (name, PyBytes::new(py, &value))).collect()
    }

    /// Reads an object with all objects that it refers to.
    fn object<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        self.handle.check_open(py)?;
        let object = self.handle.run(py, || self.handle.file.object(path))?;
        formats::object(py, object)
    }

    fn table(&self, py: Python<'_>, path: &str) -> PyResult<Table> {
        self.handle.check_open(py)?;
        let file = &self.handle.file;
        let (table, key) = self.handle.run(py, || Ok((file.table(path)?, file.find(path)?)))?;
        Ok(Table::new(Arc::clone(&self.handle), table, key))
    }
}

/// Converts options for the format of a file. Options that are `None` are ignored.
pub(crate) fn format_options(options: Option<&Bound<'_, PyDict>>) -> PyResult<OpenOptions> {
    let mut all = OpenOptions::new();
    for (name, value) in options.into_iter().flatten() {
        if value.is_none() {
            continue;
        }
        let value = if let Ok(flag) = value.extract::<bool>() {
            OptionValue::from(flag)
        } else if let Ok(text) = value.extract::<String>() {
            text.into()
        } else {
            value.extract::<Vec<u64>>()?.into()
        };
        all.set(&name.extract::<String>()?, value);
    }
    Ok(all)
}

/// An object of a file.
#[pyclass(frozen, get_all, module = "forthwith._forthwith")]
pub(crate) struct Key {
    path: String,
    name: String,
    cycle: u16,
    classname: String,
    title: String,
    stored_bytes: u64,
    object_bytes: u64,
    is_directory: bool,
    is_table: bool,
    is_unsupported_table: bool,
}

impl From<forthwith::Key> for Key {
    fn from(key: forthwith::Key) -> Self {
        Self {
            path: key.path,
            name: key.name,
            cycle: key.cycle,
            classname: key.class,
            title: key.title,
            stored_bytes: key.stored_bytes,
            object_bytes: key.object_bytes,
            is_directory: key.is_directory,
            is_table: key.is_table,
            is_unsupported_table: key.is_unsupported_table,
        }
    }
}

#[pymethods]
impl Key {
    fn __repr__(&self) -> String {
        format!("<Key {};{} ({})>", self.path, self.cycle, self.classname)
    }
}
