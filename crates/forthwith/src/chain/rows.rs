//! Rows of a chain as structs.

use super::{Chain, ChainSelection, ChainSteps, Damage, MissingColumns, opening, survey::Survey};
use crate::{
    ProgressCallback, SelectOptions, Selected, Selection, Table,
    rows::{Check, RawOrder, Row, RowColumn, RowOptions, RowSource, RowSteps, Rows, StepReader},
};
use forthwith_columns::Form;
use forthwith_plan::{Error, Result};
use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

impl Chain {
    /// Returns the rows of all files as structs. All files are opened and checked against the type before any
    /// row is read: a field that does not match a file is an error that names the file. Files are opened
    /// again when their rows are reached. A field with `#[row(default)]` has its default in files that lack
    /// its column; with [`MissingColumns::Null`], an `Option` is `None` there.
    ///
    /// ```
    /// use forthwith::{Chain, Row};
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    ///
    /// #[derive(Row)]
    /// struct Event {
    ///     #[row(name = "MET_pt")]
    ///     met: f32,
    /// }
    ///
    /// let chain = Chain::of(&["tests/data/zmumu.root:events", "tests/data/zmumu.root:events"], Default::default())?;
    /// let rows = chain.rows::<Event>()?;
    /// let count = rows.par_fold(|| 0, |count, event| *count += usize::from(event.met > 20.0), |count, more| *count += more)?;
    /// assert!(count > 0 && count % 2 == 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A file cannot be opened; it lacks columns of fields, or has them with another type, with a line for
    /// each; [`Damage`] is not an error, since rows do not list losses.
    pub fn rows<R: Row>(&self) -> Result<Rows<R>> {
        if self.options().damage != Damage::Raise {
            return Err(Error::unsupported(
                "rows of a chain that leaves damaged entries out: select lists them",
            ));
        }
        Rows::of(Arc::new(ChainRows::compare::<R>(self)?))
    }
}

/// A chain whose files were checked against a type of rows.
struct ChainRows {
    chain: Chain,
    columns: Vec<ChainColumn>,
    names: Vec<String>,
}

/// A column of the rows in all files.
struct ChainColumn {
    name: String,
    /// Type in the files that have it; `None` if no file has it.
    form: Option<Form>,
    /// The first file that has it.
    uri: String,
    is_missing: bool,
}

/// Columns of one file that the rows refer to.
struct FileColumns {
    uri: String,
    columns: Vec<(String, Option<Form>)>,
}

impl ChainRows {
    fn compare<R: Row>(chain: &Chain) -> Result<Self> {
        let unites = chain.options().missing == MissingColumns::Null;
        let look = |file: usize| {
            let watched = WatchedTable { table: chain.table(file)?, seen: Mutex::default() };
            let checked = Check::run::<R>(&watched);
            let seen = watched.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
            if let Some(error) = seen.failed {
                return Err(error);
            }
            // The type is checked against the columns of all files together.
            if !unites {
                checked?;
            }
            Ok(FileColumns { uri: watched.table.file().uri().to_owned(), columns: seen.columns })
        };
        let mut columns: Vec<ChainColumn> = Vec::new();
        for found in opening::side_by_side(chain, 0..chain.len(), &look) {
            let FileColumns { uri, columns: found } = found?;
            for (name, form) in found {
                match columns.iter_mut().find(|column| column.name == name) {
                    Some(column) => column.add(form, &uri, unites)?,
                    None => {
                        let is_missing = form.is_none();
                        columns.push(ChainColumn { name, form, uri: uri.clone(), is_missing });
                    }
                }
            }
        }
        Ok(Self { chain: chain.clone(), columns, names: RowSource::names(&chain.table(0)?)? })
    }

    /// Returns the columns that some files lack.
    fn survey(&self) -> Survey {
        let missing = self.columns.iter().filter(|column| column.is_missing);
        Survey::of_columns(missing.filter_map(|column| Some((column.name.clone(), column.form()?))).collect())
    }
}

impl ChainColumn {
    /// Adds the type of the column in another file.
    fn add(&mut self, form: Option<Form>, uri: &str, unites: bool) -> Result<()> {
        let Some(form) = form else {
            self.is_missing = true;
            return Ok(());
        };
        let Some(known) = &self.form else {
            (self.form, self.uri) = (Some(form), uri.to_owned());
            return Ok(());
        };
        if *known == form {
            return Ok(());
        }
        match Form::unite(&[known, &form]) {
            Ok(united) => self.form = Some(united),
            // Without missing values, each file is read with its own types, all of which match the rows.
            Err(_) if !unites => {}
            Err(_) => {
                let (name, first) = (&self.name, &self.uri);
                let (known, found) = (known.type_string(), form.type_string());
                let what = format!(
                    "column {name:?} has type {found}, which cannot be combined with {known} in {first}"
                );
                return Err(Error::invalid(what).in_file(uri));
            }
        }
        Ok(())
    }

    fn form(&self) -> Option<Form> {
        let form = self.form.clone();
        if self.is_missing { form.map(Form::optional) } else { form }
    }
}

impl RowSource for ChainRows {
    fn form(&self, column: &str) -> Result<Option<Form>> {
        Ok(self.columns.iter().find(|known| known.name == column).and_then(ChainColumn::form))
    }

    fn names(&self) -> Result<Vec<String>> {
        Ok(self.names.clone())
    }

    fn locate(&self, error: Error) -> Error {
        let files = self.chain.files();
        let first = files.first().map(|file| file.path.display().to_string()).unwrap_or_default();
        error.in_file(&match files.len() {
            1 => first,
            count => format!("{first} and {} more", count - 1),
        })
    }

    fn check_raw(&self, _: &str, _: RawOrder) -> Result<()> {
        Err(Error::unsupported("raw numbers of several files"))
    }

    fn steps(&self, columns: &[RowColumn], options: &RowOptions) -> Result<Box<dyn RowSteps>> {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let select = SelectOptions {
            cut: options.cut.clone(),
            entries: options.entries.clone(),
            ..SelectOptions::default()
        };
        let selection = match self.chain.options().missing {
            // Columns of the cut may be missing, too.
            MissingColumns::Null => self.chain.select(&names, select)?,
            MissingColumns::Raise => ChainSelection::with_survey(&self.chain, &names, select, self.survey()),
        };
        let steps = selection.steps(options.start..options.end, options.step)?;
        Ok(Box::new(ChainRowSteps { steps, files: Arc::default() }))
    }
}

/// A table that records which columns are looked up.
struct WatchedTable {
    table: Table,
    seen: Mutex<SeenColumns>,
}

#[derive(Default)]
struct SeenColumns {
    columns: Vec<(String, Option<Form>)>,
    failed: Option<Error>,
}

impl RowSource for WatchedTable {
    fn form(&self, column: &str) -> Result<Option<Form>> {
        let found = RowSource::form(&self.table, column);
        let mut seen = lock(&self.seen);
        match found {
            Ok(form) => {
                if seen.columns.iter().all(|(name, _)| name != column) {
                    seen.columns.push((column.to_owned(), form.clone()));
                }
                Ok(form)
            }
            Err(error) => {
                seen.failed.get_or_insert(error);
                Ok(None)
            }
        }
    }

    fn names(&self) -> Result<Vec<String>> {
        RowSource::names(&self.table)
    }

    fn locate(&self, error: Error) -> Error {
        self.table.locate(error)
    }

    fn check_raw(&self, _: &str, _: RawOrder) -> Result<()> {
        Err(Error::unsupported("raw numbers of several files"))
    }

    fn steps(&self, columns: &[RowColumn], options: &RowOptions) -> Result<Box<dyn RowSteps>> {
        RowSource::steps(&self.table, columns, options)
    }
}

/// Steps of a chain, and the open files for threads that read skipped steps.
struct ChainRowSteps {
    steps: ChainSteps,
    files: Arc<OpenFiles>,
}

impl RowSteps for ChainRowSteps {
    fn read_next(
        &mut self,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Option<Selected>> {
        let Some(step) = self.steps.read(threads, tick)? else { return Ok(None) };
        Ok(Some(counted(
            Selected { entries: step.entries, kept: step.kept, arrays: step.arrays },
            step.before,
        )))
    }

    fn skip_step(&mut self) -> Result<Option<Range<u64>>> {
        let Some((step, before, selection)) = self.steps.skip_step()? else {
            self.files.begin_file(u64::MAX, None);
            return Ok(None);
        };
        self.files.begin_file(before, Some(selection));
        Ok(Some(step.start.saturating_add(before)..step.end.saturating_add(before)))
    }

    fn reader(&self) -> Arc<dyn StepReader> {
        Arc::clone(&self.files) as Arc<dyn StepReader>
    }
}

/// Adds the entries of the files before.
fn counted(read: Selected, before: u64) -> Selected {
    let count = |entry: u64| entry.saturating_add(before);
    let Selected { entries, kept, arrays } = read;
    let kept = kept.map(|kept| kept.into_iter().map(count).collect());
    Selected { entries: count(entries.start)..count(entries.end), kept, arrays }
}

/// Files of skipped steps, which are closed once all their steps have been read.
#[derive(Default)]
struct OpenFiles {
    files: Mutex<Vec<OpenFile>>,
}

struct OpenFile {
    /// Number of entries of the files before it.
    before: u64,
    selection: Selection,
    /// Number of skipped steps whose reading has not started.
    pending: usize,
}

impl OpenFiles {
    /// Counts a skipped step of the file with `before` entries before it, and closes other files without
    /// pending steps.
    fn begin_file(&self, before: u64, selection: Option<Selection>) {
        let mut files = lock(&self.files);
        files.retain(|file| file.before == before || file.pending > 0);
        match (files.iter_mut().find(|file| file.before == before), selection) {
            (Some(file), Some(_)) => file.pending += 1,
            (None, Some(selection)) => files.push(OpenFile { before, selection, pending: 1 }),
            (_, None) => {}
        }
    }
}

impl StepReader for OpenFiles {
    fn read_step(
        &self,
        step: Range<u64>,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Selected> {
        let (selection, before) = {
            let mut files = lock(&self.files);
            let file =
                files.iter_mut().filter(|file| file.before <= step.start).max_by_key(|file| file.before);
            let file = file.ok_or_else(|| Error::fault(format!("no file has the entries {step:?}")))?;
            file.pending = file.pending.saturating_sub(1);
            (file.selection.clone(), file.before)
        };
        let read = selection.read_step(step.start - before..step.end - before, threads, tick)?;
        Ok(counted(read, before))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
