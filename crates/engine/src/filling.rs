//! Columns that are filled by the blocks of one or several files.

use crate::{
    engine::{Engine, ProgressCallback},
    file_version::confirmed,
    part::{Origin, Part, fills_same_columns, origins},
    place::{Load, Places},
    run::{Call, Target, object, order, run},
    step::{Step, steps},
    text, validate_plan,
};
use forthwith_columns::{Array, Builder, Invalid};
use forthwith_io::Version;
use forthwith_plan::{Error, Pick, Plan, Result};
use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
};

/// Columns that are filled by the blocks of several files in succession, without copying the arrays of each.
///
/// All plans have to fill the columns of the first one ([`fills_same_columns`]). After an error, the columns
/// are incomplete and must not be used.
pub struct Filling<'p> {
    /// The first plan, whose groups are filled.
    plan: &'p Plan,
    places: Vec<Places<'p>>,
    /// Number of rows of each group so far.
    group_rows: Vec<u64>,
    /// Number of rows of the arrays so far.
    rows: u64,
    /// Number of files so far.
    files: usize,
}

impl fmt::Debug for Filling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filling")
            .field("files", &self.files)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl<'p> Filling<'p> {
    /// Creates empty columns for plans that fill the same columns as `plan`.
    #[must_use]
    pub fn new(plan: &'p Plan) -> Self {
        let group_rows = vec![0; plan.groups.len()];
        Self { plan, places: Vec::new(), group_rows, rows: 0, files: 0 }
    }

    /// Returns the number of rows so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads some plans in parallel and appends their rows. `threads` and `tick` are those of
    /// [`Engine::read`].
    ///
    /// # Errors
    /// Errors of [`Engine::read`] for the first part that fails; a plan that fills other columns; a file that
    /// changed while views of it were read.
    pub fn read(
        &mut self,
        engine: &Engine,
        parts: &[Part<'_>],
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<()> {
        let mut versions = Vec::with_capacity(parts.len());
        for part in parts {
            let in_file = |error: Error| error.in_file(&part.plan.uri);
            validate_plan::check(part.plan, part.format).map_err(in_file)?;
            if !fills_same_columns(self.plan, part.plan, part.format) {
                return Err(in_file(Error::invalid("the plan fills other columns than the first one")));
            }
            versions.push(part.source.version().map_err(Error::from).map_err(in_file)?);
        }
        let viewed: Vec<AtomicBool> = parts.iter().map(|_| AtomicBool::new(false)).collect();
        let noted = viewed.iter().zip(&versions);
        let noted =
            noted.map(|(viewed, version)| version.as_ref().is_none_or(Version::is_settled).then_some(viewed));
        let noted: Vec<_> = noted.collect();
        let call = Call { engine, parts, threads: engine.threads_for(parts, threads) };
        let order = order(parts);
        let steps = steps(parts, &order, |_, _| false);
        let mut outcome = self.run(call, tick, &order, steps, &noted);
        for ((part, version), viewed) in parts.iter().zip(&versions).zip(&viewed) {
            outcome = confirmed(outcome, part.source.as_ref()).map_err(|e| e.in_file(&part.plan.uri));
            if outcome.is_ok() && viewed.load(Ordering::Relaxed) {
                let in_file = |error: Error| error.in_file(&part.plan.uri);
                if part.source.version().map_err(Error::from).map_err(in_file)? != *version {
                    outcome = Err(in_file(Error::fault("the file changed while it was read")));
                }
            }
        }
        outcome
    }

    /// Fills the columns with the blocks of some plans. `viewed` has, for each file, the flag that is set
    /// when a view was used; `None` means that all bytes are copied.
    pub(crate) fn run(
        &mut self,
        call: Call<'_>,
        tick: Option<&mut ProgressCallback<'_>>,
        order: &[(usize, usize)],
        steps: Vec<Step>,
        viewed: &[Option<&AtomicBool>],
    ) -> Result<()> {
        let call = Call { threads: call.threads.min(steps.len()), ..call };
        let files = self.files;
        let origins = self.make_places(call.engine, call.parts, &steps, call.threads)?;
        run(call, Target { places: &self.places, origins, files }, tick, order, steps, viewed)
    }

    /// Creates the columns or prepares them for more blocks, and returns the first row of each group for each
    /// plan.
    fn make_places(
        &mut self,
        engine: &Engine,
        parts: &[Part<'_>],
        of_steps: &[Step],
        threads: usize,
    ) -> Result<Vec<Vec<Origin>>> {
        let loads: Vec<_> = parts.iter().map(|part| Load::of(part.plan)).collect();
        let origins = origins(parts, &loads, &self.group_rows);
        let mut total = Load::total(&loads);
        for step in of_steps {
            total[parts[step.part].plan.tasks[step.task].group as usize].steps += 1;
        }
        if self.files == 0 {
            let memory = engine.memory();
            let places = total.iter().enumerate().map(|(at, load)| Places::new(self.plan, at, load, memory));
            self.places = places.collect::<Result<_>>()?;
        } else {
            self.places.iter_mut().zip(&total).for_each(|(places, load)| places.go_on(load.steps));
        }
        if threads > 1 {
            self.places.iter_mut().flat_map(|place| &mut place.builders).for_each(Builder::make_pages_ahead);
        }
        for (rows, load) in self.group_rows.iter_mut().zip(&total) {
            *rows = rows.saturating_add(load.entries);
        }
        self.rows = parts.iter().fold(self.rows, |rows, part| rows.saturating_add(part.plan.rows()));
        self.files += parts.len();
        Ok(origins)
    }

    /// Returns the arrays of all plans.
    ///
    /// # Errors
    /// Columns that are inconsistent; text that is not UTF-8, if the plan requires it: with the entry if a
    /// single file was read.
    pub fn finish(self, engine: &Engine, threads: usize) -> Result<Vec<Array>> {
        let Self { plan, places, rows, .. } = self;
        let mut arrays = Vec::new();
        let doubtful = places.iter().any(|place| place.texts.is_doubtful());
        for (number, place) in places.into_iter().take(plan.delivered as usize).enumerate() {
            let object = object(plan, number);
            let joins = place.group.joins;
            let finished = place.finish(rows, engine.memory(), threads).map_err(|e| e.in_object(&object))?;
            if !joins {
                arrays.extend(finished);
                continue;
            }
            for more in finished {
                // Plans are validated: the first group is not joined to another.
                let Some(first) = arrays.pop() else { continue };
                let joined = Array::join(first, more);
                arrays.push(joined.map_err(|e| Error::fault(e.to_string()).in_object(&object))?);
            }
        }
        let arrays = if plan.picks.is_empty() { arrays } else { picked(plan, &arrays)? };
        if doubtful {
            text::check(plan, &arrays, threads)?;
        }
        Ok(arrays)
    }
}

/// Returns the arrays that the picks of the plan select from those of the groups.
fn picked(plan: &Plan, arrays: &[Array]) -> Result<Vec<Array>> {
    let pick = |pick: &Pick| {
        let Some(array) = arrays.get(pick.array as usize) else {
            return Err(Error::invalid("a plan that delivers more than it has"));
        };
        let fault = |e: Invalid| Error::fault(e.to_string());
        let picked = if pick.path.is_empty() { Ok(array.clone()) } else { array.pick(&pick.path) };
        picked.and_then(|array| array.regular(&pick.lists)).map_err(fault)
    };
    plan.picks.iter().map(pick).collect()
}
