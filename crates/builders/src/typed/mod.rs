//! Building columns of a known type: command by command, or filled by a walk over objects.

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

/// Builds columns of a known type, command by command.
///
/// Every command is checked before anything is written, so that one that is refused changes nothing: the
/// error says what was expected and where, and the builder goes on. [`source`](Self::source) shows the
/// AwkwardForth program that does the same.
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
    /// With the keys of the buffers.
    form: Form,
    state: State,
    source: OnceLock<String>,
}

type Told = Result<(), CommandError>;

impl TypedArrayBuilder {
    /// A builder of a Form. Keys in it are replaced.
    ///
    /// # Errors
    /// Forms that Awkward Array would not take either, such as an option around an option.
    pub fn new(form: &Form) -> Result<Self, FormError> {
        let form = form.clone().with_keys()?;
        offers::check(&form)?;
        Ok(Self { state: State::new(&form)?, form, source: OnceLock::new() })
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
        self.state.nodes.len(0) as u64
    }

    /// Whether no entry is complete.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The Form, with the keys of the buffers.
    #[must_use]
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// The type of an entry.
    #[must_use]
    pub fn type_string(&self) -> String {
        self.form.type_string()
    }

    /// The text of a program that does what the builder does. It waits in `pause`, carries out the command
    /// that it finds in its variables, and waits again.
    #[must_use]
    pub fn source(&self) -> &str {
        self.source.get_or_init(|| program::Program::new(&self.state).to_string())
    }

    /// The complete entries, copied. What is not complete stays in the builder and is no part of it.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn snapshot(&self) -> Result<Layout, OutOfMemory> {
        let length = self.len();
        let copied = self.state.nodes.copied();
        // A copy is refused for no other reason.
        let mut nodes = copied.map_err(|_| OutOfMemory { bytes: usize::MAX })?;
        Ok(Layout { form: self.form.clone(), length, columns: nodes.give(length as usize) })
    }

    /// Forgets everything that was told. Memory is kept for what comes, within a bound.
    pub fn clear(&mut self) {
        self.state.clear();
    }

    /// Appends a null.
    ///
    /// # Errors
    /// All commands: [`CommandError`], after which nothing has changed.
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

    /// Appends a truth value.
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

    /// Appends an integer, to numbers of any kind that can hold it.
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

    /// Appends an integer that may be larger than any `i64`.
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

    /// Appends a number, to real and complex ones.
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

    /// Appends a time since 1970. It is converted to the unit of the column if that is possible exactly.
    #[inline]
    pub fn datetime(&mut self, value: i64, unit: Unit) -> Told {
        self.time(Command::Datetime, value, unit)
    }

    /// Appends a duration. It is converted to the unit of the column if that is possible exactly.
    #[inline]
    pub fn timedelta(&mut self, value: i64, unit: Unit) -> Told {
        self.time(Command::Timedelta, value, unit)
    }

    /// Appends bytes.
    #[inline]
    pub fn bytestring(&mut self, value: &[u8]) -> Told {
        self.text(Command::Bytestring, value, true)
    }

    /// Appends text.
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

    /// Selects the slot of a tuple that the next value fills, in any order. Where a value is expected that
    /// goes into an indexed node (such as categories), appends row `at` of what is in it already.
    #[inline]
    pub fn index(&mut self, at: usize) -> Told {
        self.tell(Command::Index, Argument::Number(at), |state| state.index(at))
    }

    /// Ends a tuple. Slots without a value become null where they may.
    #[inline]
    pub fn end_tuple(&mut self) -> Told {
        self.tell(Command::EndTuple, Argument::None, |state| state.end_record(true))
    }

    /// Begins a record, by its name if one is given.
    #[inline]
    pub fn begin_record(&mut self, name: Option<&str>) -> Told {
        let argument = name.map_or(Argument::None, Argument::Name);
        self.tell(Command::BeginRecord, argument, |state| state.begin_record(name))
    }

    /// Selects the field of a record that the next value fills, in any order.
    #[inline]
    pub fn field(&mut self, name: &str) -> Told {
        self.tell(Command::Field, Argument::Name(name), |state| state.field(name))
    }

    /// Ends a record. Fields without a value become null where they may.
    #[inline]
    pub fn end_record(&mut self) -> Told {
        self.tell(Command::EndRecord, Argument::None, |state| state.end_record(false))
    }

    /// Chooses the alternative of a union to which the next value belongs. It need not be told where the
    /// command alone makes it clear.
    #[inline]
    pub fn tag(&mut self, tag: usize) -> Told {
        self.tell(Command::Tag, Argument::Number(tag), |state| state.choose(tag))
    }

    /// A state to go back to with [`rollback`](Self::rollback). Takes time in proportion to the size of the
    /// type, not of the data.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        self.state.checkpoint()
    }

    /// Goes back to an earlier state: what was told since is forgotten, complete entries, too. False, and
    /// nothing has changed, if the builder was [cleared](Self::clear) since, or is at an earlier state
    /// already.
    pub fn rollback(&mut self, checkpoint: &Checkpoint) -> bool {
        self.state.rollback(checkpoint)
    }

    /// A number for the place in the type where the next value goes. Within a list, tuple or record that is
    /// begun it is another one than before.
    #[must_use]
    pub const fn position(&self) -> u32 {
        self.state.position()
    }

    /// The error for an integer of more than 64 bits, which no column holds.
    #[must_use]
    pub fn too_large(&self) -> CommandError {
        self.error(Command::Integer, CommandErrorKind::Range("64 bits".into()))
    }

    /// The error for a value nested more deeply than any Form.
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

    /// Writes one value: by `quick` where it goes into a column with space for it, or into an option of such.
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
        // A time that is not expected is refused as it is.
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

    /// The reason of a refusal.
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

/// The argument of a command, for errors.
#[derive(Clone, Copy)]
enum Argument<'a> {
    None,
    /// A number that was told, or the length of a text.
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
