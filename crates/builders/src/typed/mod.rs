//! Building columns of a known type.

mod append;
mod bytes;
mod code;
mod direct;
mod engine;
mod error;
mod plan;
mod planner;
mod program;
mod snapshot;
mod step;
mod structures;
#[cfg(test)]
mod tests;

pub use engine::Engine;
pub use error::{CommandError, CommandErrorKind};

use crate::form::{Form, FormError, Unit};
use crate::layout::Layout;
use direct::Failure;
use engine::Runner;
use forthwith_columns::{Memory, OutOfMemory};
use plan::{Plan, Record, State, Var};
use program::{LENGTH, STATE};
use std::collections::HashMap;
use std::sync::Arc;
use step::{Command, Refusal};

/// Builds columns of a known type, command by command.
///
/// The Form is made into one AwkwardForth program ([`source`](Self::source) shows it), which waits in `pause`, does what one command
/// says, and waits again. It checks every command before it writes anything, so that one that is refused changes nothing: the error says
/// what was expected and where, and the builder goes on. The steps of which the program is made can also be carried out without it
/// ([`Engine`]).
///
/// ```
/// use forthwith_builders::TypedArrayBuilder;
///
/// let mut builder = TypedArrayBuilder::from_type("var * {x: float64, y: ?string}")?;
/// builder.begin_list()?;
/// builder.begin_record(None)?;
/// builder.field("x")?;
/// builder.real(1.5)?;
/// assert_eq!(
///     builder.real(2.5).unwrap_err().to_string(),
///     "real: not possible here; expected field or end_record for {x: float64, y: ?string} (at entry 0, [])",
/// );
/// builder.end_record()?; // y is null
/// builder.end_list()?;
/// assert_eq!(builder.len(), 1);
/// assert_eq!(builder.snapshot()?.to_array()?.preview(0..1, 40).lines()?, ["[{x: 1.5, y: None}]"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TypedArrayBuilder {
    runner: Runner,
    plan: Arc<Plan>,
    memory: Memory,
    /// The field after the one selected last: nearly always the next.
    hint: usize,
    broken: bool,
    /// How often it was cleared.
    generation: u64,
    categories: Option<Categories>,
}

/// Where categories are, by the variable that counts them and what was told.
type Categories = HashMap<(Var, Vec<u8>), i64>;

/// A state to go back to.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    numbers: Vec<i64>,
    generation: u64,
}

type Told = Result<(), CommandError>;

impl TypedArrayBuilder {
    /// A builder of a Form. Keys in it are replaced.
    ///
    /// # Errors
    /// Forms that Awkward Array would not take either, such as an option around an option.
    pub fn new(form: &Form) -> Result<Self, FormError> {
        Self::with_engine(form, Engine::default())
    }

    /// A builder of a Form that carries commands out in this way.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_engine(form: &Form, engine: Engine) -> Result<Self, FormError> {
        let plan = Arc::new(Plan::new(form)?);
        let runner = Runner::new(&plan, engine)?;
        let categories = plan.states.iter().any(|state| !state.categories.is_empty()).then(HashMap::new);
        let memory = Memory::default();
        let mut builder = Self { runner, plan, memory, hint: 0, broken: false, generation: 0, categories };
        builder.clear();
        Ok(builder)
    }

    /// A builder of a type in Awkward Array's notation; see [`Form::from_type`].
    ///
    /// # Errors
    /// As [`Form::from_type`] and [`Self::new`].
    pub fn from_type(text: &str) -> Result<Self, FormError> {
        Self::new(&Form::from_type(text)?)
    }

    /// A builder of a Form in JSON; see [`Form::from_json`].
    ///
    /// # Errors
    /// As [`Form::from_json`] and [`Self::new`].
    pub fn from_json(json: &str) -> Result<Self, FormError> {
        Self::new(&Form::from_json(json)?)
    }

    /// Complete entries.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.runner.variable(LENGTH).unsigned_abs()
    }

    /// Whether no entry is complete.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The Form, with the keys of the buffers.
    #[must_use]
    pub fn form(&self) -> &Form {
        &self.plan.form
    }

    /// The type of an entry.
    #[must_use]
    pub fn type_string(&self) -> String {
        self.plan.form.type_string()
    }

    /// The text of the program.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.plan.source
    }

    /// The complete entries, copied. What is not complete stays in the builder and is no part of it.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn snapshot(&self) -> Result<Layout, OutOfMemory> {
        let mut snapshot = snapshot::Snapshot {
            runner: &self.runner,
            memory: self.memory.clone(),
            columns: Vec::with_capacity(self.plan.outputs.len()),
        };
        let length = self.len();
        snapshot.node(&self.plan.root, length as usize)?;
        Ok(Layout { form: self.plan.form.clone(), length, columns: snapshot.columns })
    }

    /// Forgets everything that was told. Memory is kept for what comes, within a bound.
    pub fn clear(&mut self) {
        self.broken = !self.runner.clear();
        self.hint = 0;
        self.generation += 1;
        self.categories.iter_mut().for_each(HashMap::clear);
    }

    /// Appends a null.
    ///
    /// # Errors
    /// All commands: [`CommandError`], after which nothing has changed.
    #[inline]
    pub fn null(&mut self) -> Told {
        self.tell(Command::Null, 0, &[])
    }

    /// Appends a truth value.
    #[inline]
    pub fn boolean(&mut self, value: bool) -> Told {
        self.tell(Command::Boolean, 0, &[value.into()])
    }

    /// Appends an integer, to numbers of any kind that can hold it.
    #[inline]
    pub fn integer(&mut self, value: i64) -> Told {
        self.tell(Command::Integer, 0, &value.to_ne_bytes())
    }

    /// Appends an integer that may be larger than any `i64`.
    #[inline]
    pub fn unsigned(&mut self, value: u64) -> Told {
        let command = if i64::try_from(value).is_ok() { Command::Integer } else { Command::Unsigned };
        self.tell(command, 0, &value.to_ne_bytes())
    }

    /// Appends a number, to real and complex ones.
    #[inline]
    pub fn real(&mut self, value: f64) -> Told {
        self.tell(Command::Real, 0, &value.to_ne_bytes())
    }

    /// Appends a complex number.
    #[inline]
    pub fn complex(&mut self, real: f64, imaginary: f64) -> Told {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&real.to_ne_bytes());
        bytes[8..].copy_from_slice(&imaginary.to_ne_bytes());
        self.tell(Command::Complex, 0, &bytes)
    }

    /// Appends a time since 1970. It is converted to the unit of the column if that is possible exactly.
    #[inline]
    pub fn datetime(&mut self, value: i64, unit: Unit) -> Told {
        let expected = self.at().datetime;
        self.time(Command::Datetime, value, unit, expected)
    }

    /// Appends a duration. It is converted to the unit of the column if that is possible exactly.
    #[inline]
    pub fn timedelta(&mut self, value: i64, unit: Unit) -> Told {
        let expected = self.at().timedelta;
        self.time(Command::Timedelta, value, unit, expected)
    }

    /// Appends bytes.
    #[inline]
    pub fn bytestring(&mut self, value: &[u8]) -> Told {
        self.tell(Command::Bytestring, 0, value)
    }

    /// Appends text.
    #[inline]
    pub fn string(&mut self, value: &str) -> Told {
        self.tell(Command::String, 0, value.as_bytes())
    }

    /// Begins a list.
    #[inline]
    pub fn begin_list(&mut self) -> Told {
        self.tell(Command::BeginList, 0, &[])
    }

    /// Ends a list.
    #[inline]
    pub fn end_list(&mut self) -> Told {
        self.tell(Command::EndList, 0, &[])
    }

    /// Begins a tuple of `size` slots.
    #[inline]
    pub fn begin_tuple(&mut self, slots: usize) -> Told {
        self.tell(Command::BeginTuple, slots as i64, &[])
    }

    /// Selects the slot of a tuple that the next value fills, in any order. Where a value is expected that goes into an indexed node
    /// (such as categories), appends row `at` of what is in it already.
    #[inline]
    pub fn index(&mut self, at: usize) -> Told {
        self.tell(Command::Index, i64::try_from(at).unwrap_or(-1), &[])
    }

    /// Ends a tuple. Slots without a value become null where they may.
    #[inline]
    pub fn end_tuple(&mut self) -> Told {
        self.tell(Command::EndTuple, 0, &[])
    }

    /// Begins a record, by its name if one is given.
    #[inline]
    pub fn begin_record(&mut self, name: Option<&str>) -> Told {
        match name {
            None => self.tell(Command::BeginRecord, 0, &[]),
            Some(name) => {
                let known = self.plan.names.iter().position(|known| known == name);
                let Some(number) = known else { return Err(self.misnamed(name)) };
                self.tell(Command::BeginRecord, number as i64 + 1, &[])
                    .map_err(|error| if is_argument(&error) { self.misnamed(name) } else { error })
            }
        }
    }

    /// Selects the field of a record that the next value fills, in any order.
    #[inline]
    pub fn field(&mut self, name: &str) -> Told {
        match self.open_record().and_then(|record| find(&record.fields, self.hint, name)) {
            Some(at) => self.select(at),
            None => Err(self.no_field(name)),
        }
    }

    /// Ends a record. Fields without a value become null where they may.
    #[inline]
    pub fn end_record(&mut self) -> Told {
        self.tell(Command::EndRecord, 0, &[])
    }

    /// Chooses the alternative of a union to which the next value belongs. It need not be told where the command alone makes it clear.
    #[inline]
    pub fn tag(&mut self, tag: usize) -> Told {
        self.tell(Command::Tag, i64::try_from(tag).unwrap_or(-1), &[])
    }

    /// A state to go back to with [`rollback`](Self::rollback). Takes time in proportion to the size of the type, not of the data.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { numbers: self.runner.checkpoint(), generation: self.generation }
    }

    /// Goes back to an earlier state: what was told since is forgotten, complete entries, too. False, and nothing has changed, if the
    /// builder was [cleared](Self::clear) since, or is at an earlier state already.
    pub fn rollback(&mut self, checkpoint: &Checkpoint) -> bool {
        let done = checkpoint.generation == self.generation
            && !self.broken
            && self.runner.rollback(&checkpoint.numbers);
        if let (true, Some(categories)) = (done, &mut self.categories) {
            categories.retain(|(rows, _), row| *row < self.runner.variable(*rows));
        }
        done
    }

    /// The error for an integer of more than 64 bits, which no column holds.
    #[must_use]
    pub fn too_large(&self) -> CommandError {
        self.error(Command::Integer, CommandErrorKind::Range { expected: "64 bits".into() })
    }

    /// The error for a value nested more deeply than any Form.
    #[must_use]
    pub fn too_deep(&self) -> CommandError {
        self.error(Command::BeginList, CommandErrorKind::Deep)
    }

    /// The commands that are possible now.
    fn at(&self) -> &State {
        &self.plan.states[self.runner.variable(STATE) as usize] // the program sets it to states there are
    }

    #[inline(always)]
    fn tell(&mut self, command: Command, argument: i64, data: &[u8]) -> Told {
        if self.categories.is_some() {
            return self.tell_category(command, argument, data);
        }
        self.tell_plainly(command, argument, data)
    }

    /// One command that may be about a category. A category that is there already is referred to instead.
    #[inline(never)]
    fn tell_category(&mut self, command: Command, argument: i64, data: &[u8]) -> Told {
        let known = self.at().categories.iter().find(|(known, _)| *known == command);
        let Some((_, category)) = known.copied() else {
            return self.tell_plainly(command, argument, data);
        };
        let rows = category.rows;
        let key = (rows, category.key(command, data));
        if let Some(row) = self.categories.as_ref().and_then(|categories| categories.get(&key)) {
            return self.tell_plainly(Command::Index, *row, &[]);
        }
        let row = self.runner.variable(rows);
        self.tell_plainly(command, argument, data)?;
        self.categories.iter_mut().for_each(|categories| _ = categories.insert(key.clone(), row));
        Ok(())
    }

    #[inline(always)]
    fn tell_plainly(&mut self, command: Command, argument: i64, data: &[u8]) -> Told {
        match self.runner.tell(command, argument, data) {
            Ok(()) => Ok(()),
            Err(failure) => Err(self.failed(command, argument, data, failure)),
        }
    }

    fn time(&mut self, command: Command, value: i64, unit: Unit, expected: Option<Unit>) -> Told {
        let value = match expected {
            Some(expected) => match unit.convert(value, expected, command == Command::Datetime) {
                Some(value) => value,
                None => {
                    return Err(self.error(command, CommandErrorKind::Unit { found: unit, expected }));
                }
            },
            None => value, // it will be refused
        };
        self.tell(command, 0, &value.to_ne_bytes())
    }

    /// Selects a field by its number.
    #[inline]
    pub(crate) fn select(&mut self, at: usize) -> Told {
        self.hint = at + 1;
        self.tell(Command::Field, at as i64, &[])
    }

    /// The record that is open directly around.
    fn open_record(&self) -> Option<&Record> {
        self.at().record.map(|record| &self.plan.records[record]).filter(|record| !record.tuple)
    }

    #[cold]
    #[inline(never)]
    fn failed(&mut self, command: Command, argument: i64, data: &[u8], failure: Failure) -> CommandError {
        let kind = match failure {
            _ if self.broken => CommandErrorKind::Broken,
            Failure::OutOfMemory => {
                self.broken = true;
                CommandErrorKind::OutOfMemory
            }
            Failure::Refused(refusal) => self.explain(command, argument, data, refusal),
        };
        self.error(command, kind)
    }

    fn explain(&self, command: Command, argument: i64, data: &[u8], refusal: Refusal) -> CommandErrorKind {
        let state = self.at();
        let variable = |at: usize| self.runner.variable(at);
        let expected = state.expected.clone();
        let record = state.record.map(|record| &self.plan.records[record]);
        match refusal {
            Refusal::Unexpected if state.ambiguous.contains(&command) => {
                CommandErrorKind::Ambiguous { expected }
            }
            Refusal::Unexpected => CommandErrorKind::Unexpected { possible: possible(state), expected },
            Refusal::Range => CommandErrorKind::Range { expected },
            Refusal::Full => CommandErrorKind::Full { size: state.list.map_or(0, |(_, size)| size) },
            Refusal::Short => {
                let (found, size) = state.list.map_or((0, 0), |(count, size)| (variable(count), size));
                CommandErrorKind::Short { found: found.unsigned_abs(), size }
            }
            Refusal::Twice => {
                let field = record.and_then(|record| record.fields.get(argument as usize).cloned());
                CommandErrorKind::Twice { field: field.unwrap_or_default() }
            }
            Refusal::Missing => {
                let fields = record.into_iter().flat_map(|record| {
                    let missing =
                        record.places.iter().zip(&record.fields).filter(|((filled, bit, required), _)| {
                            *required && variable(*filled) >> bit & 1 == 0
                        });
                    missing.map(|(_, field)| field.clone())
                });
                CommandErrorKind::Missing { fields: fields.collect() }
            }
            Refusal::Argument if state.ambiguous.contains(&command) => {
                CommandErrorKind::Ambiguous { expected }
            }
            Refusal::Argument => {
                let expected = match command {
                    Command::Index if record.is_some_and(|record| record.tuple) => {
                        format!("a slot of the {} there are", record.map_or(0, |record| record.fields.len()))
                    }
                    Command::Index => "a row that is there".into(),
                    _ => expected,
                };
                CommandErrorKind::NoSuch { number: argument, expected }
            }
            Refusal::Length => {
                CommandErrorKind::Length { found: data.len() as u64, size: state.length.unwrap_or(0) }
            }
            Refusal::Wide => CommandErrorKind::Wide,
            Refusal::Placeless => CommandErrorKind::Placeless,
        }
    }

    #[cold]
    fn error(&self, command: Command, kind: CommandErrorKind) -> CommandError {
        CommandError::new(command.name(), kind, self.len(), self.at().path.clone())
    }

    #[cold]
    fn misnamed(&self, name: &str) -> CommandError {
        let state = self.at();
        let kind = if state.actions.iter().any(|(command, _)| *command == Command::BeginRecord) {
            CommandErrorKind::Name { found: name.into(), expected: state.expected.clone() }
        } else {
            CommandErrorKind::Unexpected { possible: possible(state), expected: state.expected.clone() }
        };
        self.error(Command::BeginRecord, kind)
    }

    #[cold]
    fn no_field(&self, name: &str) -> CommandError {
        let state = self.at();
        let kind = match self.open_record() {
            Some(record) => CommandErrorKind::NoField { name: name.into(), fields: record.fields.clone() },
            None => {
                CommandErrorKind::Unexpected { possible: possible(state), expected: state.expected.clone() }
            }
        };
        self.error(Command::Field, kind)
    }
}

impl std::fmt::Debug for TypedArrayBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TypedArrayBuilder({} * {})", self.len(), self.type_string())
    }
}

fn is_argument(error: &CommandError) -> bool {
    matches!(error.kind(), CommandErrorKind::NoSuch { .. })
}

/// The methods that are possible in a state.
fn possible(state: &State) -> Vec<&'static str> {
    let mut names = Vec::new();
    let told = state.actions.iter().map(|(command, _)| *command).chain(state.ambiguous.iter().copied());
    // The conversions of integers are named once, and hints of bulk are no help.
    for command in told.filter(|command| !matches!(command, Command::Unsigned | Command::Extend)) {
        if !names.contains(&command.name()) {
            names.push(command.name());
        }
    }
    names
}

/// The field of that name: most likely the one at `hint`.
#[inline]
fn find(fields: &[String], hint: usize, name: &str) -> Option<usize> {
    if fields.get(hint).is_some_and(|field| field == name) {
        return Some(hint);
    }
    fields.iter().position(|field| field == name)
}
