//! Writing of ROOT files: objects, directories and tables. `forthwith._writable` determines the classes of
//! Python objects.

use super::{
    ntuple_options::{Chosen, field_options, ntuple_options},
    root::Objects,
    root_given::given_object,
    tree_options::GivenOptions,
};
use crate::{
    arrow::columns_of,
    file::File,
    files::Store,
    give::listening,
    given::Given as GivenArray,
    handle::error_of,
    held::Held,
    write::{Destination, Written},
};
use forthwith::{
    columns::{Array, Form},
    io::{self, UpdateSink},
    plan::{Error, Result},
    rntuple::{FieldOptions, NtupleOptions, NtupleWriter},
    root::{
        Found, RootFile, Streamers, TreeOptions, TreeWriter, extend_tree,
        write::{Compression, FileSettings, FileWriter},
    },
};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// Fields and their types in Awkward Array's notation.
type OwnTypes = Vec<(String, String)>;

/// A ROOT file that is being written.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(super) struct RootWriter(Held<State>);

struct State {
    to: Destination,
    /// `None` after the file was finished or abandoned.
    file: Option<FileWriter>,
    /// The file before the update, if it is updated.
    old: Option<RootFile>,
    /// Compression of RNTuples that do not set their own.
    pages: Compression,
    /// Unfinished tables, in the order in which they were begun.
    tables: Vec<Open>,
}

/// A table that is being written: its path, the names of its columns, and its writer.
struct Open {
    path: String,
    names: Vec<String>,
    writer: Table,
}

enum Table {
    Tree(Box<TreeWriter>),
    Ntuple(Box<NtupleWriter>),
}

/// Evaluates an expression with a writer of either kind.
macro_rules! of_either {
    ($table:expr, $writer:ident => $done:expr) => {
        match $table {
            Table::Tree($writer) => $done,
            Table::Ntuple($writer) => $done,
        }
    };
}

/// Returns pairs of names and Forms.
fn fields_of(names: &[String], columns: &[Array]) -> Vec<(String, Form)> {
    names.iter().cloned().zip(columns.iter().map(|column| column.form.clone())).collect()
}

/// Returns the streamer infos of a file, for copying to another one.
fn streamers_of(file: &File, what: &'static str) -> Result<Arc<Streamers>> {
    match file.handle.file.own::<RootFile>() {
        Some(root) => root.streamers(),
        None => Err(Error::unsupported(format!("{what} a file of another format"))),
    }
}

impl State {
    fn file(&mut self) -> Result<&mut FileWriter> {
        self.file.as_mut().ok_or_else(|| Error::invalid("the file has been closed"))
    }

    /// Returns the unfinished table at a path, and the file.
    fn table(&mut self, path: &str) -> Option<(&mut Open, &mut FileWriter)> {
        self.tables.iter_mut().find(|table| table.path == path).zip(self.file.as_mut())
    }

    /// Begins a tree with the columns of an array, and writes the array.
    fn begin_tree(&mut self, path: &str, options: TreeOptions, array: &Array) -> Result<()> {
        self.begin_as(path, array, |file, fields| {
            Ok(Table::Tree(Box::new(TreeWriter::new(file, path, fields, options)?)))
        })
    }

    /// Begins an RNTuple with the columns of an array, and writes the array.
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
            of_either!(&mut writer, table => table.extend(file, &columns))?;
        }
        // As in ROOT, a table with the name of an existing one gets the next cycle.
        self.end(path)?;
        self.tables.push(Open { path: path.to_owned(), names, writer });
        Ok(())
    }

    /// Adds the columns of an array to an RNTuple. Later steps have to include them.
    fn add_fields(
        &mut self,
        path: &str,
        array: &Array,
        choices: &BTreeMap<String, FieldOptions>,
    ) -> Result<()> {
        let (new, columns) = columns_of(array);
        let Some((Open { names, writer: Table::Ntuple(ntuple), .. }, file)) = self.table(path) else {
            return Err(Error::invalid("there is no RNTuple to add fields to").in_object(path));
        };
        if let Some(name) = new.iter().find(|name| names.contains(name)) {
            return Err(Error::invalid(format!("there is a field {name:?} already")).in_object(path));
        }
        ntuple.add_columns(file, &fields_of(&new, &columns), choices)?;
        names.extend(new);
        Ok(())
    }

    /// Adds the columns of an array, with a value for each entry, to a tree of the file.
    fn add_branches(&mut self, path: &str, array: &Array, options: TreeOptions) -> Result<()> {
        let (new, columns) = columns_of(array);
        let Some((Open { names, writer: Table::Tree(tree), .. }, file)) = self.table(path) else {
            return Err(Error::invalid("there is no tree to add branches to").in_object(path));
        };
        tree.add_columns(file, &fields_of(&new, &columns), &columns, options)?;
        names.extend(new);
        Ok(())
    }

    /// Removes an object from its directory. Its table is dropped without being finished, which would write
    /// its record again. Returns whether there was such a table.
    fn remove(&mut self, directory: &str, name: &str, cycle: u16) -> Result<bool> {
        let file = self.file()?;
        if let Some(directory) = file.existing_directory(directory)? {
            file.remove(directory, name, cycle);
        }
        let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        let before = self.tables.len();
        self.tables.retain(|table| {
            table.path != path || of_either!(&table.writer, table => table.cycle()) != Some(cycle)
        });
        Ok(self.tables.len() < before)
    }

    /// Finds a table that the file had before the update and that was not removed since.
    fn old_table(&mut self, path: &str) -> Result<(RootFile, Found)> {
        let missing = || Error::invalid("the table is not in the file yet").in_object(path);
        let old = self.old.clone().ok_or_else(missing)?;
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let file = self.file()?;
        let directory = file.existing_directory(directory)?.ok_or_else(missing)?;
        let cycles = file.keys(directory).filter(|key| key.1 == name).map(|key| key.2);
        let cycle = cycles.max().ok_or_else(missing)?;
        let found = old.find(&format!("{path};{cycle}"))?;
        Ok((old, found))
    }

    /// Opens an RNTuple of the file; returns its number of entries, and its columns with their types.
    fn reopen_ntuple(&mut self, path: &str, chosen: Chosen) -> Result<(u64, OwnTypes)> {
        let (old, found) = self.old_table(path)?;
        let options = chosen.with(self.pages);
        let writer = NtupleWriter::open(self.file()?, &old, &found, options)?;
        Ok(self.reopened(path, Table::Ntuple(Box::new(writer))))
    }

    /// Opens a tree of the file; returns its number of entries, and its columns with their types.
    fn reopen_tree(&mut self, path: &str, options: TreeOptions) -> Result<(u64, OwnTypes)> {
        let (old, found) = self.old_table(path)?;
        let writer = extend_tree(self.file()?, &old, &found, options)?;
        Ok(self.reopened(path, Table::Tree(Box::new(writer))))
    }

    fn reopened(&mut self, path: &str, writer: Table) -> (u64, OwnTypes) {
        let (entries, columns): (u64, OwnTypes) = of_either!(&writer, table => {
            let types = table.columns().map(|(name, form)| (name.to_owned(), form.type_string()));
            (table.entries(), types.collect())
        });
        let names = columns.iter().map(|(name, _)| name.clone()).collect();
        self.tables.push(Open { path: path.to_owned(), names, writer });
        (entries, columns)
    }

    fn extend(&mut self, path: &str, array: &Array) -> Result<()> {
        let Some((table, file)) = self.table(path) else {
            return Err(Error::invalid("the table has been closed").in_object(path));
        };
        let (names, mut columns) = columns_of(array);
        if names != table.names {
            // Fields may be in any order.
            let ordered: Option<Vec<Array>> = (names.len() == table.names.len())
                .then(|| {
                    let find =
                        |name| names.iter().position(|known| known == name).map(|at| columns[at].clone());
                    table.names.iter().map(find).collect()
                })
                .flatten();
            columns = ordered
                .ok_or_else(|| Error::invalid(unlike_columns(&names, &table.names)).in_object(path))?;
        }
        of_either!(&mut table.writer, table => table.extend(file, &columns))
    }

    /// Finishes the table at a path, if there is one, and writes its record.
    fn end(&mut self, path: &str) -> Result<()> {
        let Some(at) = self.tables.iter().position(|table| table.path == path) else { return Ok(()) };
        let table = self.tables.remove(at);
        of_either!(table.writer, table => table.finish(self.file()?)).map(drop)
    }

    fn finish(&mut self) -> Result<Option<u64>> {
        let tables = std::mem::take(&mut self.tables);
        let Some(mut file) = self.file.take() else { return Ok(None) };
        for table in tables {
            of_either!(table.writer, table => table.finish(&mut file))?;
        }
        file.finish().map(Some)
    }
}

impl Written for State {
    fn to(&self) -> &Destination {
        &self.to
    }

    fn abandon(&mut self) {
        self.tables.clear();
        self.file = None;
    }
}

/// Creates or opens a file for writing. Returns the writer, the file before an update, and the default
/// compression of RNTuples.
fn begun(
    to: &Destination,
    update: bool,
    compression: Option<i32>,
    title: String,
) -> Result<(FileWriter, Option<RootFile>, Compression)> {
    let chosen = compression.map(Compression::from_setting).transpose()?;
    // As in ROOT, the default compression of RNTuples differs from that of files.
    let pages = |said: Option<Compression>| said.unwrap_or(NtupleOptions::default().compression);
    if update {
        let sink = UpdateSink::open(&to.path)?;
        // Read without a mapping, because the bytes of the file change.
        let old = RootFile::open(Arc::new(io::PreadFile::open(&to.path)?))?;
        let sink = sink.begin_at(old.header().end)?;
        let mut settings = FileSettings::of(&old);
        let of_file = Some(settings.compression).filter(|of_file| *of_file != Compression::default());
        settings.compression = chosen.unwrap_or(settings.compression);
        let file = FileWriter::update(listening(Box::new(sink), &to.cause), &old, settings)?;
        return Ok((file, Some(old), pages(chosen.or(of_file))));
    }
    let settings = FileSettings { compression: chosen.unwrap_or_default(), title, ..FileSettings::default() };
    forthwith::check_ending("ROOT", &to.uri)?;
    Ok((FileWriter::create(to.sink()?, settings)?, None, pages(chosen)))
}

#[pymethods]
impl RootWriter {
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        how: String,
        compression: Option<i32>,
        title: String,
        store: Store,
    ) -> PyResult<Self> {
        let to = Destination::new(path, how == "memory", store);
        match py.detach(|| begun(&to, how == "update", compression, title)) {
            Ok((file, old, pages)) => {
                Ok(Self(Held::new(State { to, file: Some(file), old, pages, tables: Vec::new() })))
            }
            Err(error) => Err(error_of(py, error.in_file(&to.uri), None, Some(&to.cause))),
        }
    }

    /// Returns ROOT's compression setting of the file.
    fn compression(&self, py: Python<'_>) -> PyResult<i32> {
        self.with_file(py, |file| Ok(file.compression().setting()))
    }

    /// Creates a directory and its parents.
    fn mkdir(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        self.with_file(py, |file| file.directory(path).map(drop))
    }

    /// Returns class, name and cycle of each object of a directory; `None` if the directory does not exist.
    fn keys(&self, py: Python<'_>, path: &str) -> PyResult<Option<Vec<(String, String, u16)>>> {
        self.with_file(py, |file| {
            let Some(directory) = file.existing_directory(path)? else { return Ok(None) };
            let keys = file.keys(directory);
            Ok(Some(keys.map(|(class, name, cycle)| (class.to_owned(), name.to_owned(), cycle)).collect()))
        })
    }

    /// Removes an object from its directory. Returns whether it was a table that was being written, which
    /// ends.
    fn remove(&self, py: Python<'_>, path: &str, name: &str, cycle: u16) -> PyResult<bool> {
        self.with(py, |state| state.remove(path, name, cycle))
    }

    /// Writes an object from a dict of its members, with the class under `_typename`.
    fn object(
        &self,
        py: Python<'_>,
        path: &str,
        name: &str,
        title: &str,
        members: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let object = given_object(members, 0, &mut 0)?;
        self.with_file(py, |file| {
            let directory = file.directory(path)?;
            file.given(directory, name, title, &object).map(drop)
        })
    }

    /// Adds the streamer infos of another file.
    fn describe(&self, py: Python<'_>, from_: &Bound<'_, File>) -> PyResult<()> {
        let from = from_.get();
        self.with_file(py, |file| file.describe_from(&*streamers_of(from, "descriptions of classes from")?))
    }

    /// Copies an object of another file as it is stored there.
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
        let (objects, from) = (&objects.get().0, from_.get());
        self.with_file(py, |file| {
            let streamers = streamers_of(from, "copying an object from")?;
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
        self.with(py, |state| {
            let options = options.options(title).map_err(|error| error.in_object(path))?;
            state.begin_tree(path, options, &array.0)
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
        self.with(py, |state| state.begin_ntuple(path, chosen, &array.0))
    }

    /// Opens an RNTuple of the file; returns its number of entries, and its columns with their types.
    fn reopen_ntuple(
        &self,
        py: Python<'_>,
        path: &str,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<(u64, OwnTypes)> {
        let chosen = ntuple_options(options)?;
        self.with(py, |state| state.reopen_ntuple(path, chosen))
    }

    /// Opens a tree of the file; returns its number of entries, and its columns with their types.
    fn reopen_tree(&self, py: Python<'_>, path: &str, options: GivenOptions) -> PyResult<(u64, OwnTypes)> {
        self.with(py, |state| {
            let options = options.options(String::new())?;
            state.reopen_tree(path, options)
        })
    }

    /// Adds the columns of an array to a tree of the file.
    fn add_branches(
        &self,
        py: Python<'_>,
        path: &str,
        array: &GivenArray,
        options: GivenOptions,
    ) -> PyResult<()> {
        self.with(py, |state| {
            let options = options.options(String::new())?;
            state.add_branches(path, &array.0, options)
        })
    }

    /// Adds fields with the types of an array's columns to an RNTuple.
    fn add_fields(
        &self,
        py: Python<'_>,
        path: &str,
        array: &GivenArray,
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let choices = field_options(fields)?;
        self.with(py, |state| state.add_fields(path, &array.0, &choices))
    }

    /// Appends an array to a table.
    fn extend(&self, py: Python<'_>, path: &str, array: &GivenArray) -> PyResult<()> {
        self.with(py, |state| state.extend(path, &array.0))
    }

    /// Completes the file; returns its size in bytes, or `None` if it was complete or abandoned already.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.with(py, State::finish)
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

impl RootWriter {
    fn with<T: Send>(&self, py: Python<'_>, act: impl FnOnce(&mut State) -> Result<T> + Send) -> PyResult<T> {
        State::with(py, &self.0, |state| act(state).map_err(|error| error.in_file(&state.to.uri)))
    }

    fn with_file<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut FileWriter) -> Result<T> + Send,
    ) -> PyResult<T> {
        self.with(py, |state| act(state.file()?))
    }
}

/// Returns the message about columns that differ from those of a table.
fn unlike_columns(given: &[String], known: &[String]) -> String {
    let beside = |some: &[String], others: &[String]| {
        some.iter().filter(|name| !others.contains(name)).cloned().collect::<Vec<_>>().join(", ")
    };
    let (missing, unknown) = (beside(known, given), beside(given, known));
    let mut words = Vec::new();
    if !missing.is_empty() {
        words.push(format!("{missing} missing"));
    }
    if !unknown.is_empty() {
        words.push(format!("{unknown} not in the table"));
    }
    if words.is_empty() {
        words.push("a column is given twice".into());
    }
    format!("columns {} for a table with {}: {}", given.join(", "), known.join(", "), words.join("; "))
}
