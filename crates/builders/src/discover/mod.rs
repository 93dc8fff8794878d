//! Builder that infers the type of its columns.

mod commands;
mod grow;
#[cfg(test)]
mod tests;

use crate::form::Form;
use crate::table::Nodes;
use crate::{BuildError, Command, Fault, Layout, Open, Sink, Slot};

/// Builder of an array whose type is inferred from the appended values, with the commands and the types of
/// `ak.ArrayBuilder`.
///
/// The type begins as `unknown` and is promoted by each value: a null makes an option; integers become
/// floating-point numbers, and these complex numbers, when such a value is appended; values of incompatible
/// kinds make a union. Booleans, numbers and strings are incompatible with each other. Strings and byte
/// strings become what the first of them was. Tuples are compatible if they have the same size, and records
/// if they have the same name (a record without a name is compatible with any), whatever their fields: absent
/// fields are null.
///
/// ```
/// use forthwith_builders::ArrayBuilder;
///
/// let mut builder = ArrayBuilder::new();
/// builder.begin_list()?;
/// builder.integer(1)?;
/// assert_eq!(builder.type_string(), "0 * var * int64"); // what is not ended is not part of it
/// builder.real(2.5)?;
/// builder.end_list()?;
/// builder.begin_list()?;
/// builder.null()?;
/// builder.begin_record(None)?;
/// builder.field("x")?.integer(3)?;
/// builder.end_record()?;
/// builder.end_list()?;
/// assert_eq!(builder.type_string(), "2 * var * union[?float64, ?{x: int64}]");
/// # Ok::<(), forthwith_builders::BuildError>(())
/// ```
///
/// A refused command returns an error with the reason and the path, and changes nothing.
///
/// Code that traverses objects appends to the [`sink`](Self::sink).
#[derive(Clone, Debug)]
pub struct ArrayBuilder {
    sink: Sink,
    /// Open lists, tuples and records, from the outermost inwards.
    open: Vec<Begun>,
}

/// Open structure.
#[derive(Debug)]
struct Begun {
    open: Open,
    /// Command that began it.
    by: Command,
    /// Slot of the next value; `None` until a field is selected.
    to: Option<Slot>,
    /// Number of the selected field.
    selected: usize,
}

impl Clone for Begun {
    fn clone(&self) -> Self {
        let open = Open { slot: self.open.slot, node: self.open.node, next: self.open.next };
        Self { open, by: self.by, to: self.to, selected: self.selected }
    }
}

impl Default for ArrayBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ArrayBuilder {
    /// Creates an empty array of unknown type.
    #[must_use]
    pub fn new() -> Self {
        Self { sink: Sink { nodes: Nodes::unknown(), grows: true, nth: 0 }, open: Vec::new() }
    }

    /// Returns the builder with strings and byte strings kept apart: together they make a union, instead of
    /// becoming what the first of them was.
    ///
    /// ```
    /// use forthwith_builders::ArrayBuilder;
    ///
    /// let mut builder = ArrayBuilder::new().with_texts_apart();
    /// builder.string("text")?;
    /// builder.bytestring(b"\xff")?;
    /// assert_eq!(builder.type_string(), "2 * union[string, bytes]");
    /// # Ok::<(), forthwith_builders::BuildError>(())
    /// ```
    #[must_use]
    pub const fn with_texts_apart(mut self) -> Self {
        self.sink.nodes.texts_apart = true;
        self
    }

    /// Returns the number of complete items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sink.len_at(Sink::ROOT)
    }

    /// Whether no item is complete.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all data, including open structures. The type is kept.
    pub fn clear(&mut self) {
        self.open.clear();
        self.sink.truncate_at(Sink::ROOT, 0);
    }

    /// Returns the type, with the keys of the buffers of a snapshot.
    #[must_use]
    pub fn form(&self) -> Form {
        self.sink.nodes.form(Sink::ROOT.0, &mut 0)
    }

    /// Returns the number of items and their type, as Awkward Array prints it.
    #[must_use]
    pub fn type_string(&self) -> String {
        format!("{} * {}", self.len(), self.form().simplified().type_string())
    }

    /// Copies the complete items; the builder is unchanged.
    #[must_use]
    pub fn snapshot(&self) -> Layout {
        Self { sink: self.sink.clone(), open: Vec::new() }.finish()
    }

    /// Moves the complete items out of the builder.
    #[must_use]
    pub fn finish(mut self) -> Layout {
        let (form, length) = (self.form(), self.len());
        Layout { form, length: length as u64, columns: self.sink.nodes.give(length) }
    }

    /// Returns the sink to which code that traverses objects appends, beginning at the [place](Self::place)
    /// of the next value.
    pub const fn sink(&mut self) -> &mut Sink {
        &mut self.sink
    }

    /// Returns the slot of the next value, or an error if a field must be selected first.
    #[inline]
    fn here(&self, command: Command) -> Result<Slot, BuildError> {
        match self.open.last() {
            None => Ok(Sink::ROOT),
            Some(begun) => begun.to.ok_or_else(|| self.unplaced(begun.by, command)),
        }
    }

    #[cold]
    #[inline(never)]
    fn unplaced(&self, begun: Command, command: Command) -> BuildError {
        let (select, end) = match begun {
            Command::BeginRecord => (Command::Field, Command::EndRecord),
            _ => (Command::Index, Command::EndTuple),
        };
        self.refuse(Fault::Unplaced { command, begun, select, end })
    }
}
