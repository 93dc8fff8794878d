//! Building columns whose type is found out on the way.

mod commands;
mod grow;
#[cfg(test)]
mod tests;

use crate::fill::Filled;
use crate::form::Form;
use crate::table::{Found, Nodes};
use crate::{BuildError, Command, Fault, Layout, Open, Slot};

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
/// As a [`Sink`](crate::Sink) it is filled by a walk over objects.
#[derive(Clone, Debug)]
pub struct ArrayBuilder {
    nodes: Nodes,
    /// Lists, tuples and records that are open, from the outermost in.
    open: Vec<Begun>,
}

/// Something that a command began.
#[derive(Debug)]
struct Begun {
    open: Open,
    kind: Kind,
    /// The place of the next value, if that is decided.
    to: Option<Slot>,
    /// The number of the field selected.
    selected: usize,
}

impl Clone for Begun {
    fn clone(&self) -> Self {
        let open = Open { slot: self.open.slot, node: self.open.node, next: self.open.next };
        Self { open, kind: self.kind, to: self.to, selected: self.selected }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    List,
    Tuple,
    Record,
}

impl Default for ArrayBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ArrayBuilder {
    /// The place that a walk over the items of the array begins at.
    pub const ROOT: Slot = Slot(0);

    /// Nothing, of unknown type.
    #[must_use]
    pub fn new() -> Self {
        Self { nodes: Nodes::unknown(), open: Vec::new() }
    }

    /// Items that are complete.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len(Self::ROOT.0)
    }

    /// Whether no item is complete.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes all data back, whatever is open included. The type stays.
    pub fn clear(&mut self) {
        self.open.clear();
        self.nodes.truncate(Self::ROOT.0, 0);
    }

    /// The type with the keys that the buffers have in a snapshot.
    #[must_use]
    pub fn form(&self) -> Form {
        self.nodes.form(Self::ROOT.0, &mut 0)
    }

    /// The number of items and their type, as Awkward Array prints it.
    #[must_use]
    pub fn type_string(&self) -> String {
        format!("{} * {}", self.len(), self.form().simplified().type_string())
    }

    /// The complete items, copied; the builder goes on as if nothing had been.
    #[must_use]
    pub fn snapshot(&self) -> Layout {
        Self { nodes: self.nodes.clone(), open: Vec::new() }.finish()
    }

    /// The complete items, moved out of the builder.
    #[must_use]
    pub fn finish(mut self) -> Layout {
        let (form, length) = (self.form(), self.len());
        Layout { form, length: length as u64, columns: self.nodes.give(length) }
    }

    /// The place of what was selected last, or why there is none.
    #[inline]
    fn here(&self, command: Command) -> Result<Slot, BuildError> {
        match self.open.last() {
            None => Ok(Self::ROOT),
            Some(begun) => begun.to.ok_or_else(|| self.unplaced(begun.kind, command)),
        }
    }

    #[cold]
    fn unplaced(&self, begun: Kind, command: Command) -> BuildError {
        let (begin, select, end) = match begun {
            Kind::Record => (Command::BeginRecord, Command::Field, Command::EndRecord),
            _ => (Command::BeginTuple, Command::Index, Command::EndTuple),
        };
        self.refuse(Fault::Unplaced { command, begun: begin, select, end })
    }
}

impl Filled for ArrayBuilder {
    fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    fn nodes_mut(&mut self) -> &mut Nodes {
        &mut self.nodes
    }

    #[cold]
    fn find(&mut self, at: u32, found: Found<'_>) -> Result<u32, BuildError> {
        self.nodes.grow(at, found)
    }

    #[inline]
    fn null(&mut self, at: u32) -> Result<bool, BuildError> {
        self.nodes.grow_null(at).map(|()| true)
    }

    fn absent(&mut self, record: u32, name: &str, token: usize) -> Result<(u32, bool), BuildError> {
        Ok((self.nodes.grow_field(record, name, token)?, token != 0))
    }
}
