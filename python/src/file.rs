//! Files and what is in them.

use crate::{
    gate::Gate,
    handle::{Handle, error_of},
    object::{Cause, FileObject},
    objects::Objects,
    table::Table,
};
use forthwith::{
    Engine, Options, avro,
    columns::Policy,
    io::{self, Callback, MappedFile, PreadFile, Source},
    parquet,
    plan::Result,
    root,
};
use pyo3::{prelude::*, types::PyDict};
use std::{path::PathBuf, sync::Arc};

/// An opened file. See the stub file for all documentation.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct File {
    handle: Arc<Handle>,
    info: forthwith::FileInfo,
    recovered: Option<root::Recovered>,
}

impl File {
    fn make(
        py: Python<'_>,
        open: impl FnOnce() -> io::Result<Arc<dyn Source>> + Send,
        settings: Settings,
    ) -> PyResult<Self> {
        let cause = settings.cause.clone();
        let opened = py.detach(|| -> Result<_> {
            let gate = Arc::new(Gate::new(open()?));
            let engine = Arc::new(Engine::new(settings.options()));
            let source = Arc::clone(&gate) as Arc<dyn Source>;
            let (file, recovered) = if settings.recover {
                let (file, recovered) = forthwith::File::recover(source, engine)?;
                (file, Some(recovered))
            } else {
                (forthwith::File::from_source(source, engine)?, None)
            };
            let info = file.info()?;
            Ok((gate, file, info, recovered))
        });
        let (gate, file, info, recovered) =
            opened.map_err(|error| error_of(py, error, None, cause.as_ref()))?;
        Ok(Self { handle: Arc::new(Handle { file, gate, cause }), info, recovered })
    }
}

struct Settings {
    threads: Option<usize>,
    memory: Option<usize>,
    pool: Option<usize>,
    huge_pages: bool,
    recover: bool,
    cause: Option<Cause>,
}

impl Settings {
    fn options(&self) -> Options {
        let mut options = Options::default();
        if let Some(threads) = self.threads {
            options.threads = threads.max(1);
        }
        let pool_bytes = self.pool.unwrap_or(options.policy.pool_bytes);
        options.policy = Policy {
            limit: self.memory,
            pool_bytes,
            huge_pages: self.huge_pages,
            // Who wants less kept than all files share wants nothing of that.
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
    #[pyo3(signature = (path, source="auto", threads=None, memory=None, pool=None, huge_pages=true, recover=false))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        source: &str,
        threads: Option<usize>,
        memory: Option<usize>,
        pool: Option<usize>,
        huge_pages: bool,
        recover: bool,
    ) -> PyResult<Self> {
        let (map, copy) = (source == "map", source == "pread");
        let open = move || -> io::Result<Arc<dyn Source>> {
            match path.to_str() {
                _ if map => Ok(Arc::new(MappedFile::open(&path)?)),
                Some(uri) if copy => io::open_unmapped(uri),
                Some(uri) => io::open(uri),
                // A name that is not text can only be a local path.
                None => Ok(Arc::new(PreadFile::open(&path)?)),
            }
        };
        Self::make(py, open, Settings { threads, memory, pool, huge_pages, recover, cause: None })
    }

    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    #[pyo3(signature = (object, name, threads=None, memory=None, pool=None, huge_pages=true, recover=false))]
    fn from_object(
        py: Python<'_>,
        object: Py<PyAny>,
        name: String,
        threads: Option<usize>,
        memory: Option<usize>,
        pool: Option<usize>,
        huge_pages: bool,
        recover: bool,
    ) -> PyResult<Self> {
        let cause = Cause::default();
        let object = FileObject::new(object, Arc::clone(&cause));
        let open =
            move || -> io::Result<Arc<dyn Source>> { Ok(Arc::new(Callback::new(name, Box::new(object)))) };
        Self::make(py, open, Settings { threads, memory, pool, huge_pages, recover, cause: Some(cause) })
    }

    #[getter]
    fn uri(&self) -> &str {
        &self.info.uri
    }

    #[getter]
    fn format(&self) -> &str {
        &self.info.format
    }

    #[getter]
    fn version(&self) -> &str {
        &self.info.version
    }

    #[getter]
    fn compression(&self) -> &str {
        &self.info.compression
    }

    #[getter]
    fn uuid(&self) -> Option<&str> {
        self.info.uuid.as_deref()
    }

    #[getter]
    fn size(&self) -> u64 {
        self.info.size
    }

    #[getter]
    fn closed(&self) -> bool {
        self.handle.gate.is_closed()
    }

    /// What a recovery found; none if there was none.
    #[getter]
    fn recovered<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(recovered) = &self.recovered else { return Ok(None) };
        let found = PyDict::new(py);
        found.set_item("objects", recovered.objects)?;
        found.set_item("baskets", recovered.baskets)?;
        found.set_item("deleted", recovered.deleted)?;
        found.set_item("unlisted", &recovered.unlisted)?;
        found.set_item("streamers", recovered.streamers)?;
        found.set_item("end", recovered.end)?;
        found.set_item("size", recovered.size)?;
        found.set_item("stopped", recovered.stopped.as_ref().map(|error| error.kind.to_string()))?;
        Ok(Some(found))
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.handle.gate.close());
    }

    fn keys(&self, py: Python<'_>, directory: &str, recursive: bool) -> PyResult<Vec<Key>> {
        let keys = self.handle.run(py, || self.handle.file.keys(directory, recursive))?;
        Ok(keys.into_iter().map(Key).collect())
    }

    fn find(&self, py: Python<'_>, path: &str) -> PyResult<Key> {
        self.handle.run(py, || self.handle.file.find(path)).map(Key)
    }

    /// The values of an Avro file.
    #[pyo3(signature = (schema=None, skip_damaged=false, check_text=true))]
    fn avro_table(
        &self,
        py: Python<'_>,
        schema: Option<&str>,
        skip_damaged: bool,
        check_text: bool,
    ) -> PyResult<Table> {
        self.handle.check_open(py)?;
        let file = &self.handle.file;
        let (table, key) = self.handle.run(py, || {
            let schema = schema.map(|text| avro::Schema::parse(text).map(Arc::new)).transpose()?;
            let unchecked_text = !check_text;
            let options = avro::Options { schema, skip_damaged, unchecked_text, ..avro::Options::default() };
            Ok((file.avro_table("", &options)?, file.find("")?))
        })?;
        Ok(Table::new(Arc::clone(&self.handle), table, key))
    }

    /// The values of a Parquet file, or of some of its row groups.
    #[pyo3(signature = (row_groups=None, check_text=true))]
    fn parquet_table(
        &self,
        py: Python<'_>,
        row_groups: Option<Vec<usize>>,
        check_text: bool,
    ) -> PyResult<Table> {
        self.handle.check_open(py)?;
        let file = &self.handle.file;
        let options = parquet::Options { row_groups, unchecked_text: !check_text };
        let (table, key) = self.handle.run(py, || Ok((file.parquet_table("", &options)?, file.find("")?)))?;
        Ok(Table::new(Arc::clone(&self.handle), table, key))
    }

    /// The schema and the other metadata of an Avro file, the words kept with a Parquet file.
    fn metadata(&self) -> Vec<(String, Vec<u8>)> {
        if let Some(parquet) = self.handle.file.parquet() {
            let words = parquet.key_values().map(|(name, value)| (name.to_owned(), value.into()));
            let by = parquet.created_by().map(|by| ("created_by".to_owned(), by.into()));
            return words.chain(by).collect();
        }
        let metadata = self.handle.file.avro().map(|avro| avro.header().metadata.as_slice());
        metadata.unwrap_or_default().iter().map(|(name, value)| (name.clone(), value.to_vec())).collect()
    }

    /// An object with everything it points to.
    fn object(&self, py: Python<'_>, path: &str) -> PyResult<Objects> {
        self.handle.check_open(py)?;
        self.handle.run(py, || self.handle.file.object(path)).map(Objects::new)
    }

    fn table(&self, py: Python<'_>, path: &str) -> PyResult<Table> {
        self.handle.check_open(py)?;
        let file = &self.handle.file;
        let (table, key) = self.handle.run(py, || Ok((file.table(path)?, file.find(path)?)))?;
        Ok(Table::new(Arc::clone(&self.handle), table, key))
    }
}

/// One object of a file.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Key(forthwith::Key);

#[pymethods]
impl Key {
    #[getter]
    fn path(&self) -> &str {
        &self.0.path
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn cycle(&self) -> u16 {
        self.0.cycle
    }

    #[getter]
    fn classname(&self) -> &str {
        &self.0.class
    }

    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    #[getter]
    fn stored_bytes(&self) -> u64 {
        self.0.stored_bytes
    }

    #[getter]
    fn object_bytes(&self) -> u64 {
        self.0.object_bytes
    }

    #[getter]
    fn is_directory(&self) -> bool {
        self.0.is_directory
    }

    #[getter]
    fn is_table(&self) -> bool {
        self.0.is_table
    }

    fn __repr__(&self) -> String {
        format!("<Key {};{} ({})>", self.0.path, self.0.cycle, self.0.class)
    }
}
