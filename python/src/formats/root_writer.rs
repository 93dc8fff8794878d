//! ROOT files that are written: objects and directories. What a Python object is written as is the business of `forthwith._writable`.

use super::{
    ntuple_options::{Chosen, field_options, ntuple_options},
    root::Objects,
    root_given::given_object,
    tree_options::GivenOptions,
};
use crate::{
    file::File,
    files::Store,
    give::{listening, sink_for},
    given::Given as GivenArray,
    handle::error_of,
    held::Held,
    object::Cause,
    write::{in_memory, with},
};
use forthwith::{
    columns::{Array, Form},
    io::{self, MemorySink, Sink, UpdateSink},
    plan::{Error, ErrorKind, Result},
    rntuple::{FieldOptions, NtupleOptions, NtupleWriter},
    root::{
        Found, RootFile, TreeOptions, TreeWriter, extend_tree,
        write::{Compression, FileSettings, FileWriter},
    },
};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::collections::BTreeMap;

pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RootWriter>()
}

/// Fields and their types as Awkward Array spells them.
type OwnTypes = Vec<(String, String)>;

/// A ROOT file being written.
#[pyclass(frozen, module = "forthwith._forthwith")]
struct RootWriter(Held<State>);

struct State {
    uri: String,
    memory: Option<MemorySink>,
    cause: Cause,
    /// Away when it was finished or given up.
    file: Option<FileWriter>,
    /// The file as it was, if it is changed.
    old: Option<RootFile>,
    /// How RNTuples are compressed that do not say it themselves.
    pages: Compression,
    /// Tables that are not finished, in the order in which they were begun.
    tables: Vec<Open>,
}

/// A table that is being written: where, the names of its columns, and its writer.
struct Open {
    path: String,
    names: Vec<String>,
    writer: Table,
}

enum Table {
    Tree(Box<TreeWriter>),
    Ntuple(Box<NtupleWriter>),
}

impl Table {
    fn extend(&mut self, file: &mut FileWriter, columns: &[Array]) -> Result<()> {
        match self {
            Self::Tree(tree) => tree.extend(file, columns),
            Self::Ntuple(ntuple) => ntuple.extend(file, columns),
        }
    }

    /// The cycle of the table that this one takes the place of, if it was in the file already.
    fn cycle(&self) -> Option<u16> {
        match self {
            Self::Tree(tree) => tree.cycle(),
            Self::Ntuple(ntuple) => ntuple.cycle(),
        }
    }

    fn finish(self, file: &mut FileWriter) -> Result<u64> {
        match self {
            Self::Tree(tree) => tree.finish(file),
            Self::Ntuple(ntuple) => ntuple.finish(file),
        }
    }
}

/// The columns of an array, with their names: what is no record is one column.
fn columns_of(array: &Array) -> (Vec<String>, Vec<Array>) {
    match &array.form {
        Form::Record { fields: Some(names), .. } => (names.clone(), array.clone().into_fields()),
        _ => (vec!["value".to_owned()], vec![array.clone()]),
    }
}

/// Names and Forms.
fn fields_of(names: &[String], columns: &[Array]) -> Vec<(String, Form)> {
    names.iter().cloned().zip(columns.iter().map(|column| column.form.clone())).collect()
}

impl State {
    fn file(&mut self) -> Result<&mut FileWriter> {
        let closed = || Error::new(ErrorKind::Invalid { what: "the file has been closed".into() });
        self.file.as_mut().ok_or_else(|| closed().in_file(&self.uri))
    }

    /// Begins a tree with the columns of an array, and writes the array.
    fn begin_tree(&mut self, path: &str, options: TreeOptions, array: &Array) -> Result<()> {
        self.begin_as(path, array, |file, fields| {
            Ok(Table::Tree(Box::new(TreeWriter::new(file, path, fields, options)?)))
        })
    }

    /// Likewise an RNTuple.
    fn begin_ntuple(&mut self, path: &str, chosen: Chosen, array: &Array) -> Result<()> {
        let options = chosen.with(self.pages);
        self.begin_as(path, array, |file, fields| {
            Ok(Table::Ntuple(Box::new(NtupleWriter::new(file, path, fields, options)?)))
        })
    }

    fn begin_as(
        &mut self,
        path: &str,
        array: &Array,
        writer: impl FnOnce(&mut FileWriter, &[(String, Form)]) -> Result<Table>,
    ) -> Result<()> {
        let (names, columns) = columns_of(array);
        let file = self.file()?;
        let mut writer = writer(file, &fields_of(&names, &columns))?;
        if array.length > 0 {
            writer.extend(file, &columns)?;
        }
        // As in ROOT, another table of a name gets the next cycle.
        self.end(path)?;
        self.tables.push(Open { path: path.to_owned(), names, writer });
        Ok(())
    }

    /// Adds the columns of an array to an RNTuple; the steps that follow have them as well.
    fn add_fields(
        &mut self,
        path: &str,
        array: &Array,
        choices: &BTreeMap<String, FieldOptions>,
    ) -> Result<()> {
        let (new, columns) = columns_of(array);
        let Self { uri, file, tables, .. } = self;
        let table = tables.iter_mut().find(|table| table.path == path);
        let (Some(Open { names, writer: Table::Ntuple(ntuple), .. }), Some(file)) = (table, file) else {
            let what = "there is no RNTuple to add fields to".into();
            return Err(Error::new(ErrorKind::Invalid { what }).in_file(uri).in_object(path));
        };
        if let Some(name) = new.iter().find(|name| names.contains(name)) {
            let what = format!("there is a field {name:?} already");
            return Err(Error::new(ErrorKind::Invalid { what }).in_file(uri).in_object(path));
        }
        ntuple.add_columns(file, &fields_of(&new, &columns), choices)?;
        names.extend(new);
        Ok(())
    }

    /// Adds the columns of an array to a tree that is in the file already, with a value for each entry.
    fn add_branches(&mut self, path: &str, array: &Array, options: TreeOptions) -> Result<()> {
        let (new, columns) = columns_of(array);
        let Self { uri, file, tables, .. } = self;
        let table = tables.iter_mut().find(|table| table.path == path);
        let (Some(Open { names, writer: Table::Tree(tree), .. }), Some(file)) = (table, file) else {
            let what = "there is no tree to add branches to".into();
            return Err(Error::new(ErrorKind::Invalid { what }).in_file(uri).in_object(path));
        };
        tree.add_columns(file, &fields_of(&new, &columns), &columns, options)?;
        names.extend(new);
        Ok(())
    }

    /// Takes an object off its directory, and ends its table, whose record would come back otherwise.
    fn remove(&mut self, directory: &str, name: &str, cycle: u16) -> Result<bool> {
        let file = self.file()?;
        if let Some(directory) = file.existing_directory(directory)? {
            file.remove(directory, name, cycle);
        }
        let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        let before = self.tables.len();
        self.tables.retain(|table| table.path != path || table.writer.cycle() != Some(cycle));
        Ok(self.tables.len() < before)
    }

    /// A table that the file had when it was opened, and that was not taken away since.
    fn old_table(&mut self, path: &str) -> Result<(RootFile, Found)> {
        let missing = || {
            let what = "the table is not in the file yet".into();
            Error::new(ErrorKind::Invalid { what }).in_object(path)
        };
        let old = self.old.clone().ok_or_else(missing)?;
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let file = self.file()?;
        let directory = file.existing_directory(directory)?.ok_or_else(missing)?;
        let cycles = file.keys(directory).filter(|key| key.1 == name).map(|key| key.2);
        let cycle = cycles.max().ok_or_else(missing)?;
        let found = old.find(&format!("{path};{cycle}"))?;
        Ok((old, found))
    }

    /// Opens an RNTuple that is in the file already, and answers how many entries it has, and its columns with their types.
    fn reopen_ntuple(&mut self, path: &str, chosen: Chosen) -> Result<(u64, OwnTypes)> {
        let (old, found) = self.old_table(path)?;
        let options = chosen.with(self.pages);
        let file = self.file()?;
        let writer = NtupleWriter::open(file, &old, &found, options)?;
        let columns: Vec<_> =
            writer.columns().map(|(name, form)| (name.to_owned(), form.type_string())).collect();
        let names = columns.iter().map(|(name, _)| name.clone()).collect();
        let entries = writer.entries();
        self.tables.push(Open { path: path.to_owned(), names, writer: Table::Ntuple(Box::new(writer)) });
        Ok((entries, columns))
    }

    /// Likewise a tree.
    fn reopen_tree(&mut self, path: &str, options: TreeOptions) -> Result<(u64, OwnTypes)> {
        let (old, found) = self.old_table(path)?;
        let file = self.file()?;
        let writer = extend_tree(file, &old, &found, options)?;
        let columns: Vec<_> =
            writer.columns().map(|(name, form)| (name.to_owned(), form.type_string())).collect();
        let names = columns.iter().map(|(name, _)| name.clone()).collect();
        let entries = writer.entries();
        self.tables.push(Open { path: path.to_owned(), names, writer: Table::Tree(Box::new(writer)) });
        Ok((entries, columns))
    }

    fn extend(&mut self, path: &str, array: &Array) -> Result<()> {
        let Self { uri, file, tables, .. } = self;
        let table = tables.iter_mut().find(|table| table.path == path);
        let (Some(table), Some(file)) = (table, file) else {
            let what = "the table has been closed".into();
            return Err(Error::new(ErrorKind::Invalid { what }).in_file(uri).in_object(path));
        };
        let (names, mut columns) = columns_of(array);
        if names != table.names {
            // The order in which fields are given does not matter.
            let ordered: Option<Vec<Array>> = (names.len() == table.names.len())
                .then(|| {
                    let find =
                        |name| names.iter().position(|known| known == name).map(|at| columns[at].clone());
                    table.names.iter().map(find).collect()
                })
                .flatten();
            columns = ordered.ok_or_else(|| {
                let what =
                    format!("columns {} for a table with {}", names.join(", "), table.names.join(", "));
                Error::new(ErrorKind::Invalid { what }).in_file(uri).in_object(path)
            })?;
        }
        table.writer.extend(file, &columns)
    }

    /// Ends the table at a path, if there is one: its record is written.
    fn end(&mut self, path: &str) -> Result<()> {
        let Some(at) = self.tables.iter().position(|table| table.path == path) else { return Ok(()) };
        let table = self.tables.remove(at);
        table.writer.finish(self.file()?).map(drop)
    }

    fn finish(&mut self) -> Result<Option<u64>> {
        let tables = std::mem::take(&mut self.tables);
        let Some(mut file) = self.file.take() else { return Ok(None) };
        for table in tables {
            table.writer.finish(&mut file)?;
        }
        file.finish().map(Some)
    }
}

/// Begins to write.
fn begun(
    uri: &str,
    how: &str,
    compression: Option<i32>,
    title: String,
    store: &Store,
    cause: &Cause,
) -> Result<State> {
    let chosen = compression.map(Compression::from_setting).transpose()?;
    // As ROOT has it: RNTuples have a default of their own, whatever that of files is.
    let pages = |said: Option<Compression>| said.unwrap_or(NtupleOptions::default().compression);
    if how == "update" {
        let sink = UpdateSink::open(uri)?;
        // Not mapped, since its bytes change.
        let old = RootFile::open(io::open_unmapped(uri)?)?;
        let sink = sink.begin_at(old.header().end)?;
        let mut settings = FileSettings::of(&old);
        let of_file = Some(settings.compression).filter(|of_file| *of_file != Compression::default());
        settings.compression = chosen.unwrap_or(settings.compression);
        let file = FileWriter::update(listening(Box::new(sink), cause), &old, settings)?;
        return Ok(State {
            uri: uri.into(),
            memory: None,
            cause: cause.clone(),
            file: Some(file),
            old: Some(old),
            pages: pages(chosen.or(of_file)),
            tables: Vec::new(),
        });
    }
    let memory = (how == "memory").then(|| MemorySink::new(uri));
    let sink: Box<dyn Sink> = match &memory {
        Some(memory) => Box::new(memory.clone()),
        None => sink_for(uri, store, cause)?,
    };
    let settings = FileSettings { compression: chosen.unwrap_or_default(), title, ..FileSettings::default() };
    let file = FileWriter::create(listening(sink, cause), settings)?;
    let (uri, cause, file) = (uri.into(), cause.clone(), Some(file));
    Ok(State { uri, memory, cause, file, old: None, pages: pages(chosen), tables: Vec::new() })
}

#[pymethods]
impl RootWriter {
    #[new]
    fn new(
        py: Python<'_>,
        uri: String,
        how: String,
        compression: Option<i32>,
        title: String,
        store: Store,
    ) -> PyResult<Self> {
        let cause = Cause::default();
        let state = py.detach(|| begun(&uri, &how, compression, title, &store, &cause));
        let state = state.map_err(|error| error_of(py, error.in_file(&uri), None, Some(&cause)))?;
        Ok(Self(Held::new(state)))
    }

    /// ROOT's setting for compression.
    fn compression(&self, py: Python<'_>) -> PyResult<i32> {
        self.with(py, |file| Ok(file.compression().setting()))
    }

    /// Makes a directory, and those before it.
    fn mkdir(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        self.with(py, |file| file.directory(path).map(drop))
    }

    /// Class, name and cycle of each object of a directory; nothing if there is none at this path.
    fn keys(&self, py: Python<'_>, path: &str) -> PyResult<Option<Vec<(String, String, u16)>>> {
        self.with(py, |file| {
            let Some(directory) = file.existing_directory(path)? else { return Ok(None) };
            let keys = file.keys(directory);
            Ok(Some(keys.map(|(class, name, cycle)| (class.to_owned(), name.to_owned(), cycle)).collect()))
        })
    }

    /// Takes an object off its directory. Says whether it was a table that is being extended, which ends then.
    fn remove(&self, py: Python<'_>, path: &str, name: &str, cycle: u16) -> PyResult<bool> {
        with(py, &self.0, |state| (state.remove(path, name, cycle), state.cause.clone()))
    }

    /// Writes an object that is given as a dict of its members, with its class under `_typename`.
    fn object(
        &self,
        py: Python<'_>,
        path: &str,
        name: &str,
        title: &str,
        members: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let object = given_object(members, 0, &mut 0)?;
        self.with(py, |file| {
            let directory = file.directory(path)?;
            file.given(directory, name, title, &object).map(drop)
        })
    }

    /// Adds the descriptions of classes that another file has.
    fn describe(&self, py: Python<'_>, from_: &Bound<'_, File>) -> PyResult<()> {
        let handle = &from_.get().handle;
        self.with(py, |file| {
            let streamers = match handle.file.own::<RootFile>() {
                Some(root) => root.streamers()?,
                None => {
                    return Err(Error::unsupported("descriptions of classes from a file of another format"));
                }
            };
            file.describe_from(&streamers)
        })
    }

    /// Writes an object of another file as it is stored there.
    #[pyo3(signature = (path, name, title, objects, from_, /))]
    fn copy(
        &self,
        py: Python<'_>,
        path: &str,
        name: &str,
        title: &str,
        objects: &Bound<'_, Objects>,
        from_: &Bound<'_, File>,
    ) -> PyResult<()> {
        let objects = &objects.get().0;
        let handle = &from_.get().handle;
        self.with(py, |file| {
            let streamers = match handle.file.own::<RootFile>() {
                Some(root) => root.streamers()?,
                None => return Err(Error::unsupported("copying an object from a file of another format")),
            };
            let directory = file.directory(path)?;
            file.copy(directory, name, title, objects, &streamers).map(drop)
        })
    }

    /// Begins a tree with the columns of an array, and writes the array.
    fn tree(
        &self,
        py: Python<'_>,
        path: &str,
        title: String,
        array: &GivenArray,
        options: GivenOptions,
    ) -> PyResult<()> {
        with(py, &self.0, |state| {
            let options = options.options(title).map_err(|error| error.in_object(path));
            let done = options.and_then(|options| state.begin_tree(path, options, &array.0));
            (done.map_err(|error| error.in_file(&state.uri)), state.cause.clone())
        })
    }

    /// Begins an RNTuple with the columns of an array, and writes the array.
    fn ntuple(
        &self,
        py: Python<'_>,
        path: &str,
        array: &GivenArray,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let chosen = ntuple_options(options)?;
        with(py, &self.0, |state| {
            let done = state.begin_ntuple(path, chosen, &array.0);
            (done.map_err(|error| error.in_file(&state.uri)), state.cause.clone())
        })
    }

    /// Opens an RNTuple that is in the file already: its entries, and its columns with their types.
    fn reopen_ntuple(
        &self,
        py: Python<'_>,
        path: &str,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<(u64, OwnTypes)> {
        let chosen = ntuple_options(options)?;
        with(py, &self.0, |state| {
            let done = state.reopen_ntuple(path, chosen);
            (done.map_err(|error| error.in_file(&state.uri)), state.cause.clone())
        })
    }

    /// Opens a tree that is in the file already: its entries, and its columns with their types.
    fn reopen_tree(&self, py: Python<'_>, path: &str, options: GivenOptions) -> PyResult<(u64, OwnTypes)> {
        with(py, &self.0, |state| {
            let options = options.options(String::new());
            let done = options.and_then(|options| state.reopen_tree(path, options));
            (done.map_err(|error| error.in_file(&state.uri)), state.cause.clone())
        })
    }

    /// Adds the columns of an array to a tree that is in the file already.
    fn add_branches(
        &self,
        py: Python<'_>,
        path: &str,
        array: &GivenArray,
        options: GivenOptions,
    ) -> PyResult<()> {
        with(py, &self.0, |state| {
            let options = options.options(String::new());
            let done = options.and_then(|options| state.add_branches(path, &array.0, options));
            (done.map_err(|error| error.in_file(&state.uri)), state.cause.clone())
        })
    }

    /// Adds fields to an RNTuple, of the types of an array's columns.
    fn add_fields(
        &self,
        py: Python<'_>,
        path: &str,
        array: &GivenArray,
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let choices = field_options(fields)?;
        with(py, &self.0, |state| {
            let done = state.add_fields(path, &array.0, &choices);
            (done.map_err(|error| error.in_file(&state.uri)), state.cause.clone())
        })
    }

    /// Appends an array to a table.
    fn extend(&self, py: Python<'_>, path: &str, array: &GivenArray) -> PyResult<()> {
        with(py, &self.0, |state| {
            let done = state.extend(path, &array.0);
            (done.map_err(|error| error.in_file(&state.uri)), state.cause.clone())
        })
    }

    /// Completes the file, and says how many bytes it has.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        with(py, &self.0, |state| {
            let done = state.finish();
            (done.map_err(|error| error.in_file(&state.uri)), state.cause.clone())
        })
    }

    /// The file, if it was written to memory and is complete.
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut turn = self.0.take(py)?;
        Ok(in_memory(py, turn.kept().and_then(|state| state.memory.as_ref())))
    }

    /// Leaves nothing behind.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(state) = self.0.take(py)?.kept() {
            state.tables.clear();
            state.file = None;
        }
        Ok(())
    }
}

impl RootWriter {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut FileWriter) -> Result<T> + Send,
    ) -> PyResult<T> {
        with(py, &self.0, |state| {
            let done = state.file().and_then(act);
            (done.map_err(|error| error.in_file(&state.uri)), state.cause.clone())
        })
    }
}
