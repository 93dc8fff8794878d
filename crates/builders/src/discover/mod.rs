//! Building columns whose type is found out on the way.

mod commands;
mod grow;
#[cfg(test)]
mod tests;

use crate::form::Form;
use crate::table::Nodes;
use crate::{BuildError, Command, Fault, Layout, Open, Sink, Slot};

/// An array that grows by commands, and whose type grows with them: what `ak.ArrayBuilder` is in Awkward
/// Array, with the same commands and the same types.
///
/// A place begins as `unknown`. What comes decides: a null makes an option of it; integers become real
/// numbers, and these complex ones, when such a value comes; values of kinds that do not go together make a
/// union. Truth values do not go with numbers, nor numbers with text. Text and byte strings go where text of
/// either kind is already. Tuples go together if they have as many slots, records if they have the same name
/// (a record begun without a name goes with any), whatever their fields: those that a record has not are
/// filled with nulls.
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
/// A command that does not fit is an error that says where and what would have fitted, and changes nothing.
///
/// A walk over objects fills its [`sink`](Self::sink).
#[derive(Clone, Debug)]
pub struct ArrayBuilder {
    sink: Sink,
    /// Lists, tuples and records that are open, from the outermost in.
    open: Vec<Begun>,
}

/// Something that a command began.
#[derive(Debug)]
struct Begun {
    open: Open,
    /// The command that did.
    by: Command,
    /// The place of the next value, if that is decided.
    to: Option<Slot>,
    /// The number of the field selected.
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
    /// Nothing, of unknown type.
    #[must_use]
    pub fn new() -> Self {
        Self { sink: Sink { nodes: Nodes::unknown(), grows: true, nth: 0 }, open: Vec::new() }
    }

    /// With text and byte strings in one place as a union of both, where otherwise the first of them decides what
    /// the others become.
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

    /// Items that are complete.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sink.len_at(Sink::ROOT)
    }

    /// Whether no item is complete.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes all data back, whatever is open included. The type stays.
    pub fn clear(&mut self) {
        self.open.clear();
        self.sink.truncate_at(Sink::ROOT, 0);
    }

    /// The type with the keys that the buffers have in a snapshot.
    #[must_use]
    pub fn form(&self) -> Form {
        self.sink.nodes.form(Sink::ROOT.0, &mut 0)
    }

    /// The number of items and their type, as Awkward Array prints it.
    #[must_use]
    pub fn type_string(&self) -> String {
        format!("{} * {}", self.len(), self.form().simplified().type_string())
    }

    /// The complete items, copied; the builder goes on as if nothing had been.
    #[must_use]
    pub fn snapshot(&self) -> Layout {
        Self { sink: self.sink.clone(), open: Vec::new() }.finish()
    }

    /// The complete items, moved out of the builder.
    #[must_use]
    pub fn finish(mut self) -> Layout {
        let (form, length) = (self.form(), self.len());
        Layout { form, length: length as u64, columns: self.sink.nodes.give(length) }
    }

    /// What a walk over objects fills. It begins at the [place](Self::place) of the next value.
    pub const fn sink(&mut self) -> &mut Sink {
        &mut self.sink
    }

    /// The place of what was selected last, or why there is none.
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
