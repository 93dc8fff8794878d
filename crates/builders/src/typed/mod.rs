//! Builders of columns of a known type: command by command, or from objects.

mod append;
mod columns;
mod error;
mod offers;
mod places;
mod program;
mod state;
#[cfg(test)]
mod tests;

pub use columns::TypedColumns;
pub use error::{CommandError, CommandErrorKind};
pub use state::Checkpoint;

use crate::BuildError;
use crate::Command;
use crate::form::{Form, FormError, Unit};
use crate::growth::{self, add};
use crate::layout::Layout;
use crate::table::{Columns, Found, Lists};
use forthwith_columns::OutOfMemory;
use offers::{Failure, Refusal};
use state::State;
use std::sync::OnceLock;

/// Builder of columns of a known type, command by command.
///
/// Every command is checked before anything is written: a refused command returns an error with the reason,
/// the expected input and the path, and changes nothing. [`source`](Self::source) returns an equivalent
/// AwkwardForth program.
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
    /// Form with the keys of the buffers.
    form: Form,
    state: State,
    source: OnceLock<String>,
}

type Told = Result<(), CommandError>;

impl TypedArrayBuilder {
    /// Creates a builder of a Form, whose keys are replaced.
    ///
    /// # Errors
    /// Returns an error for Forms that Awkward Array rejects, such as an option directly around an option.
    pub fn new(form: &Form) -> Result<Self, FormError> {
        let form = form.clone().with_keys()?;
        offers::check(&form)?;
        Ok(Self { state: State::new(&form)?, form, source: OnceLock::new() })
    }

    /// Creates a builder of a type in Awkward Array's notation; see [`Form::from_type`].
    ///
    /// # Errors
    /// Returns the errors of [`Form::from_type`] and [`Self::new`].
    pub fn from_type(text: &str) -> Result<Self, FormError> {
        Self::new(&Form::from_type(text)?)
    }

    /// Creates a builder of a Form in JSON; see [`Form::from_json`].
    ///
    /// # Errors
    /// Returns the errors of [`Form::from_json`] and [`Self::new`].
    pub fn from_json(json: &str) -> Result<Self, FormError> {
        Self::new(&Form::from_json(json)?)
    }

    /// Returns the number of complete entries.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.state.nodes.len(0) as u64
    }

    /// Whether no entry is complete.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the Form, with the keys of the buffers.
    #[must_use]
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// Returns the type of an entry.
    #[must_use]
    pub fn type_string(&self) -> String {
        self.form.type_string()
    }

    /// Returns the source of a program that is equivalent to the builder. It pauses, executes the command in
    /// its variables when it is resumed, and pauses again.
    #[must_use]
    pub fn source(&self) -> &str {
        self.source.get_or_init(|| program::Program::new(&self.state).to_string())
    }

    /// Copies the complete entries. Incomplete ones stay in the builder and are not copied.
    ///
    /// # Errors
    /// Returns an error if memory cannot be allocated.
    pub fn snapshot(&self) -> Result<Layout, OutOfMemory> {
        let length = self.len();
        let copied = self.state.nodes.copied();
        // Memory is the only reason why a copy fails.
        let mut nodes = copied.map_err(|_| OutOfMemory { bytes: usize::MAX })?;
        Ok(Layout { form: self.form.clone(), length, columns: nodes.give(length as usize) })
    }

    /// Removes all entries, including incomplete ones. Memory up to a bound is kept.
    pub fn clear(&mut self) {
        self.state.clear();
    }

    /// Appends a null.
    ///
    /// # Errors
    /// Every command returns a [`CommandError`] if it is refused, and changes nothing.
    #[inline]
    pub fn null(&mut self) -> Told {
        if let Some(Columns::Indexed { nulls: true, index, .. }) = self.state.open()
            && add(index, -1).is_some()
        {
            self.state.value_done();
            return Ok(());
        }
        self.tell(Command::Null, Argument::None, State::null)
    }

    /// Appends a boolean.
    #[inline]
    pub fn boolean(&mut self, value: bool) -> Told {
        self.one(
            Command::Boolean,
            Found::Boolean,
            |columns| match columns {
                Columns::Boolean(items) => add(items, value.into()),
                _ => None,
            },
            |columns| match columns {
                Columns::Boolean(items) => growth::push(items, value.into()),
                _ => Ok(()), // never
            },
        )
    }

    /// Appends an integer to a column of any number type that represents it.
    #[inline]
    pub fn integer(&mut self, value: i64) -> Told {
        let quick = |columns: &mut Columns| match columns {
            Columns::Int64(items) => add(items, value),
            Columns::Int32(items) => add(items, i32::try_from(value).ok()?),
            Columns::Float64(items) => add(items, value as f64),
            _ => None,
        };
        self.one(Command::Integer, Found::Integer(value), quick, |columns| columns.write_integer(value))
    }

    /// Appends an integer that may be above the maximum of `i64`.
    #[inline]
    pub fn unsigned(&mut self, value: u64) -> Told {
        match i64::try_from(value) {
            Ok(value) => self.integer(value),
            Err(_) => self.one(
                Command::Unsigned,
                Found::Unsigned(value),
                |_| None,
                |columns| columns.write_unsigned(value),
            ),
        }
    }

    /// Appends a floating-point number to a column of floating-point or complex numbers.
    #[inline]
    pub fn real(&mut self, value: f64) -> Told {
        let quick = |columns: &mut Columns| match columns {
            Columns::Float64(items) => add(items, value),
            Columns::Float32(items) => add(items, value as f32),
            _ => None,
        };
        self.one(Command::Real, Found::Real, quick, |columns| columns.write_real(value))
    }

    /// Appends a complex number.
    #[inline]
    pub fn complex(&mut self, real: f64, imaginary: f64) -> Told {
        self.one(
            Command::Complex,
            Found::Complex,
            |_| None,
            |columns| columns.write_complex([real, imaginary]),
        )
    }

    /// Appends a date or timestamp since 1970-01-01, converted to the unit of the column if this is exact.
    #[inline]
    pub fn datetime(&mut self, value: i64, unit: Unit) -> Told {
        self.time(Command::Datetime, value, unit)
    }

    /// Appends a duration, converted to the unit of the column if this is exact.
    #[inline]
    pub fn timedelta(&mut self, value: i64, unit: Unit) -> Told {
        self.time(Command::Timedelta, value, unit)
    }

    /// Appends a byte string.
    #[inline]
    pub fn bytestring(&mut self, value: &[u8]) -> Told {
        self.text(Command::Bytestring, value, true)
    }

    /// Appends a string.
    #[inline]
    pub fn string(&mut self, value: &str) -> Told {
        self.text(Command::String, value.as_bytes(), false)
    }

    /// Begins a list.
    #[inline]
    pub fn begin_list(&mut self) -> Told {
        self.tell(Command::BeginList, Argument::None, State::begin_list)
    }

    /// Ends a list.
    #[inline]
    pub fn end_list(&mut self) -> Told {
        self.tell(Command::EndList, Argument::None, State::end_list)
    }

    /// Begins a tuple of `slots` slots.
    #[inline]
    pub fn begin_tuple(&mut self, slots: usize) -> Told {
        self.tell(Command::BeginTuple, Argument::Number(slots), |state| state.begin_tuple(slots))
    }

    /// Selects a slot of a tuple for the next value; slots may be in any order. If a value of an indexed node
    /// is expected, such as a category, appends row `at` of its existing content.
    #[inline]
    pub fn index(&mut self, at: usize) -> Told {
        self.tell(Command::Index, Argument::Number(at), |state| state.index(at))
    }

    /// Ends a tuple. Slots without a value become null if they can be.
    #[inline]
    pub fn end_tuple(&mut self) -> Told {
        self.tell(Command::EndTuple, Argument::None, |state| state.end_record(true))
    }

    /// Begins a record, of the given name if any.
    #[inline]
    pub fn begin_record(&mut self, name: Option<&str>) -> Told {
        let argument = name.map_or(Argument::None, Argument::Name);
        self.tell(Command::BeginRecord, argument, |state| state.begin_record(name))
    }

    /// Selects a field of a record for the next value; fields may be in any order.
    #[inline]
    pub fn field(&mut self, name: &str) -> Told {
        self.tell(Command::Field, Argument::Name(name), |state| state.field(name))
    }

    /// Ends a record. Fields without a value become null if they can be.
    #[inline]
    pub fn end_record(&mut self) -> Told {
        self.tell(Command::EndRecord, Argument::None, |state| state.end_record(false))
    }

    /// Selects the alternative of a union for the next value. It can be omitted if the command is
    /// unambiguous.
    #[inline]
    pub fn tag(&mut self, tag: usize) -> Told {
        self.tell(Command::Tag, Argument::Number(tag), |state| state.choose(tag))
    }

    /// Returns the present state for [`rollback`](Self::rollback). The time is proportional to the size of
    /// the type, not of the data.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        self.state.checkpoint()
    }

    /// Restores an earlier state and returns `true`; everything appended since is removed, including complete
    /// entries. Returns `false` and changes nothing if the builder was [cleared](Self::clear) since, or has
    /// fewer rows than the checkpoint.
    pub fn rollback(&mut self, checkpoint: &Checkpoint) -> bool {
        self.state.rollback(checkpoint)
    }

    /// Returns a number that identifies the place of the next value in the type. It changes when a list,
    /// tuple or record is begun.
    #[must_use]
    pub const fn position(&self) -> u32 {
        self.state.position()
    }

    /// Returns the error for an integer beyond 64 bits.
    #[must_use]
    pub fn too_large(&self) -> CommandError {
        self.error(Command::Integer, CommandErrorKind::Range("64 bits".into()))
    }

    /// Returns the error for a value that is nested more deeply than any Form.
    #[must_use]
    pub fn too_deep(&self) -> CommandError {
        self.error(Command::BeginList, CommandErrorKind::Deep)
    }

    #[inline(always)]
    fn tell(
        &mut self,
        command: Command,
        argument: Argument<'_>,
        told: impl FnOnce(&mut State) -> Result<(), Failure>,
    ) -> Told {
        told(&mut self.state).map_err(|failure| self.failed(command, failure, argument))
    }

    /// Appends one value: by `quick` if the column, or the content of an option, has capacity for it;
    /// otherwise by `write`.
    #[inline(always)]
    fn one(
        &mut self,
        command: Command,
        found: Found<'_>,
        quick: impl FnOnce(&mut Columns) -> Option<usize>,
        mut write: impl FnMut(&mut Columns) -> Result<(), BuildError>,
    ) -> Told {
        if self.state.quick(command, quick) {
            return Ok(());
        }
        let argument = match found {
            Found::Text { bytes, .. } => Argument::Number(bytes),
            _ => Argument::None,
        };
        self.tell(command, argument, |state| state.value(command, found, &mut write))
    }

    #[inline(always)]
    fn text(&mut self, command: Command, value: &[u8], binary: bool) -> Told {
        let quick = |columns: &mut Columns| match columns {
            Columns::Text { binary: known, layout: Lists::PLAIN, offsets, bytes }
                if *known == binary && bytes.capacity() - bytes.len() >= value.len() =>
            {
                let row = add(offsets, (bytes.len() + value.len()) as i64)? - 1;
                bytes.extend_from_slice(value);
                Some(row)
            }
            _ => None,
        };
        let found = Found::Text { binary, bytes: value.len() };
        self.one(command, found, quick, |columns| columns.write_text(value))
    }

    fn time(&mut self, command: Command, value: i64, unit: Unit) -> Told {
        let date = command == Command::Datetime;
        // A time that is not expected here is refused below.
        let converted = match self.state.unit(command) {
            Some(expected) => unit.convert(value, expected, date).ok_or(expected),
            None => Ok(value),
        };
        match converted {
            Ok(value) => self.one(
                command,
                Found::Time { date, unit },
                |_| None,
                |columns| match columns {
                    Columns::Time { items, .. } => growth::push(items, value),
                    _ => Ok(()), // never
                },
            ),
            Err(expected) => Err(self.error(command, CommandErrorKind::Unit { found: unit, expected })),
        }
    }

    #[cold]
    #[inline(never)]
    fn failed(&mut self, command: Command, failure: Failure, argument: Argument<'_>) -> CommandError {
        let kind = match failure {
            Failure::OutOfMemory if self.state.break_down() => CommandErrorKind::Broken,
            Failure::OutOfMemory => CommandErrorKind::OutOfMemory,
            Failure::Refused(refusal) => self.explain(command, refusal, argument),
        };
        self.error(command, kind)
    }

    /// Returns the reason of a refusal, with details.
    fn explain(&self, command: Command, refusal: Refusal, argument: Argument<'_>) -> CommandErrorKind {
        let state = &self.state;
        let expected = state.expected().to_owned();
        match refusal {
            Refusal::Unexpected => CommandErrorKind::Unexpected { possible: state.possible(), expected },
            Refusal::Ambiguous => CommandErrorKind::Ambiguous(expected),
            Refusal::Range => CommandErrorKind::Range(expected),
            Refusal::Full => CommandErrorKind::Full(state.items().1),
            Refusal::Short => {
                let (found, size) = state.items();
                CommandErrorKind::Short { found, size }
            }
            Refusal::Twice => CommandErrorKind::Twice(argument.to_string()),
            Refusal::Missing => CommandErrorKind::Missing(state.missing()),
            Refusal::Argument => match (command, argument) {
                (Command::Field, Argument::Name(name)) => {
                    CommandErrorKind::NoField { name: name.into(), fields: state.field_names() }
                }
                (_, Argument::Name(found)) => CommandErrorKind::Name { found: found.into(), expected },
                _ => {
                    let slots = state.field_names().len();
                    let expected = match command {
                        Command::Index if state.in_tuple() => format!("a slot of the {slots} there are"),
                        Command::Index => "a row that is there".into(),
                        _ => expected,
                    };
                    CommandErrorKind::NoSuch {
                        number: i64::try_from(argument.number()).unwrap_or(-1),
                        expected,
                    }
                }
            },
            Refusal::Length => {
                let size = state.text_length(command);
                CommandErrorKind::Length { found: argument.number() as u64, size }
            }
            Refusal::Wide => CommandErrorKind::Wide,
            Refusal::Placeless => CommandErrorKind::Placeless,
        }
    }

    #[cold]
    fn error(&self, command: Command, kind: CommandErrorKind) -> CommandError {
        CommandError::new(command.name(), kind, self.len(), self.state.path())
    }
}

/// Argument of a command, for errors.
#[derive(Clone, Copy)]
enum Argument<'a> {
    None,
    /// Number that was given, or length of a string.
    Number(usize),
    Name(&'a str),
}

impl Argument<'_> {
    const fn number(self) -> usize {
        if let Self::Number(number) = self { number } else { 0 }
    }
}

impl std::fmt::Display for Argument<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Self::Name(name) = self { f.write_str(name) } else { self.number().fmt(f) }
    }
}

impl std::fmt::Debug for TypedArrayBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TypedArrayBuilder({} * {})", self.len(), self.type_string())
    }
}
