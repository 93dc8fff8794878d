//! Building columns whose type is found out on the way.

mod commands;
mod layout;
mod node;
#[cfg(test)]
mod tests;

use crate::growth::{extend, push};
use crate::sink::Items;
use crate::{BuildError, Command, Fault, Leaf, Open, Sink, Slot};
use node::{Node, Nodes, Want};

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
/// As a [`Sink`] it is filled by a walk over objects.
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
        Self { nodes: Nodes::new(), open: Vec::new() }
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

    /// Makes a place ready for a value and answers its column; on an error nothing is changed.
    #[cold]
    #[inline(never)]
    fn put(
        &mut self,
        at: Slot,
        want: Want<'_>,
        write: impl FnOnce(&mut Node) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let before = self.nodes.len(at.0);
        let placed = self.nodes.place(at.0, want);
        let done = placed.and_then(|node| write(self.nodes.at_mut(node)));
        if done.is_err() {
            self.nodes.truncate(at.0, before);
        }
        done
    }

    fn begin(&mut self, at: Slot, want: Want<'_>) -> Result<Open, BuildError> {
        Ok(Open { slot: at, node: self.nodes.place(at.0, want)?, next: 0 })
    }

    /// Completes what was begun; on an error it stays open.
    fn complete(
        &mut self,
        open: &Open,
        lengthen: impl FnOnce(&mut Node) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let noted = if open.slot.0 == open.node { Ok(()) } else { self.nodes.finish(open.slot.0, open.node) };
        noted.and_then(|()| lengthen(self.nodes.at_mut(open.node)))
    }

    /// Fills what has no value yet, and refuses what has several.
    fn level(
        &mut self,
        content: u32,
        length: usize,
        twice: impl FnOnce() -> Fault,
    ) -> Result<(), BuildError> {
        let filled = self.nodes.len(content);
        if filled == length {
            self.nodes.null(content)
        } else if filled == length + 1 {
            Ok(())
        } else {
            Err(twice().into())
        }
    }
}

impl Sink for ArrayBuilder {
    fn len_at(&self, at: Slot) -> usize {
        self.nodes.len(at.0)
    }

    fn truncate_at(&mut self, at: Slot, len: usize) {
        self.nodes.truncate(at.0, len);
    }

    #[inline]
    fn put_null(&mut self, at: Slot) -> Result<(), BuildError> {
        self.nodes.null(at.0)
    }

    #[inline]
    fn put_boolean(&mut self, at: Slot, x: bool) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Node::Boolean(items) => push(items, x.into()),
            _ => self.put(at, Want::Boolean, |node| match node {
                Node::Boolean(items) => push(items, x.into()),
                _ => Ok(()), // never: it was asked for
            }),
        }
    }

    #[inline]
    fn put_integer(&mut self, at: Slot, x: i64) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Node::Integer(items) => push(items, x),
            _ => self.put(at, Want::Integer, |node| match node {
                Node::Integer(items) => push(items, x),
                Node::Real(items) => push(items, x as f64),
                Node::Complex(items) => push(items, [x as f64, 0.0]),
                _ => Ok(()), // never
            }),
        }
    }

    fn put_unsigned(&mut self, at: Slot, x: u64) -> Result<(), BuildError> {
        let x = i64::try_from(x).map_err(|_| Fault::TooLarge { dtype: "int64" })?;
        self.put_integer(at, x)
    }

    fn put_huge(&mut self, _at: Slot) -> Result<(), BuildError> {
        Err(Fault::TooLarge { dtype: "int64" }.into())
    }

    #[inline]
    fn put_real(&mut self, at: Slot, x: f64) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Node::Real(items) => push(items, x),
            _ => self.put(at, Want::Real, |node| match node {
                Node::Real(items) => push(items, x),
                Node::Complex(items) => push(items, [x, 0.0]),
                _ => Ok(()), // never
            }),
        }
    }

    fn put_complex(&mut self, at: Slot, x: [f64; 2]) -> Result<(), BuildError> {
        self.put(at, Want::Complex, |node| match node {
            Node::Complex(items) => push(items, x),
            _ => Ok(()), // never
        })
    }

    fn put_time(&mut self, at: Slot, x: i64, unit: &str) -> Result<(), BuildError> {
        self.put(at, Want::Time(unit), |node| match node {
            Node::Time { items, .. } => push(items, x),
            _ => Ok(()), // never
        })
    }

    #[inline]
    fn put_text(&mut self, at: Slot, x: &[u8], binary: bool) -> Result<(), BuildError> {
        let write = |node: &mut Node| match node {
            Node::Text { offsets, bytes, .. } => {
                extend(bytes, x)?;
                push(offsets, bytes.len() as i64)
            }
            _ => Ok(()), // never
        };
        match self.nodes.at_mut(at.0) {
            // Should the offset find no room, the bytes behind the last one are out of sight until the next
            // text.
            node @ Node::Text { .. } => write(node),
            _ => self.put(at, Want::Text { binary }, write),
        }
    }

    fn put_integers(&mut self, at: Slot, more: &[i64]) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Node::Integer(items) => extend(items, more),
            _ => more.iter().try_for_each(|x| self.put_integer(at, *x)),
        }
    }

    fn put_reals(&mut self, at: Slot, more: &[f64]) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Node::Real(items) => extend(items, more),
            _ => more.iter().try_for_each(|x| self.put_real(at, *x)),
        }
    }

    fn leaf_at(&mut self, at: Slot) -> Leaf<'_> {
        match self.nodes.at_mut(at.0) {
            Node::Boolean(items) => Leaf::Boolean(Items(items)),
            Node::Integer(items) => Leaf::Integer(Items(items)),
            Node::Real(items) => Leaf::Real(Items(items)),
            _ => Leaf::Other,
        }
    }

    #[inline]
    fn open_list(&mut self, at: Slot) -> Result<(Open, Slot), BuildError> {
        if let Node::List { content, .. } = self.nodes.at(at.0) {
            return Ok((Open { slot: at, node: at.0, next: 0 }, Slot(*content)));
        }
        let open = self.begin(at, Want::List)?;
        let Node::List { content, .. } = self.nodes.at(open.node) else { return Ok((open, at)) }; // never
        Ok((open, Slot(*content)))
    }

    #[inline]
    fn close_list(&mut self, open: Open) -> Result<(), BuildError> {
        let Node::List { content, .. } = self.nodes.at(open.node) else { return Ok(()) }; // never
        let end = self.nodes.len(*content) as i64;
        self.complete(&open, |node| match node {
            Node::List { offsets, .. } => push(offsets, end),
            _ => Ok(()), // never
        })
    }

    fn open_tuple(&mut self, at: Slot, size: usize) -> Result<Open, BuildError> {
        if size > crate::MOST_SLOTS {
            return Err(Fault::TupleSize { size: size as i64 }.into());
        }
        match self.nodes.at(at.0) {
            Node::Tuple { contents, .. } if contents.len() == size => {
                Ok(Open { slot: at, node: at.0, next: 0 })
            }
            _ => self.begin(at, Want::Tuple(size)),
        }
    }

    #[inline]
    fn slot_of(&mut self, open: &Open, index: usize) -> Slot {
        match self.nodes.at(open.node) {
            Node::Tuple { contents, .. } => Slot(contents[index]),
            _ => open.slot, // never
        }
    }

    fn close_tuple(&mut self, open: Open) -> Result<(), BuildError> {
        self.end_tuple_of(&open)
    }

    fn open_record(&mut self, at: Slot, name: Option<&str>) -> Result<Open, BuildError> {
        match self.nodes.at(at.0) {
            Node::Record(record) if name.is_none_or(|name| *name == *record.name) => {
                Ok(Open { slot: at, node: at.0, next: 0 })
            }
            _ => self.begin(at, Want::Record(name)),
        }
    }

    #[inline]
    fn known_field(&mut self, open: &mut Open, token: usize) -> Option<Slot> {
        let Node::Record(record) = self.nodes.at(open.node) else { return None }; // never
        let at = record.known(open.next as usize, token)?;
        open.next = at as u32 + 1;
        Some(Slot(record.fields[at].content))
    }

    fn field_of(&mut self, open: &mut Open, name: &str, token: usize) -> Result<(Slot, bool), BuildError> {
        let next = open.next as usize;
        let Node::Record(record) = self.nodes.at_mut(open.node) else { return Ok((open.slot, false)) }; // never
        if let Some((at, learnt)) = record.find(next, name, token) {
            open.next = at as u32 + 1;
            return Ok((Slot(record.fields[at].content), learnt));
        }
        let length = record.length;
        let content = self.nodes.fresh_field(length)?;
        let Node::Record(record) = self.nodes.at_mut(open.node) else { return Ok((open.slot, false)) }; // never
        record.add(name, token, content)?;
        open.next = record.fields.len() as u32; // no more than there are columns
        Ok((Slot(content), token != 0))
    }

    fn close_record(&mut self, open: Open) -> Result<(), BuildError> {
        self.end_record_of(&open)
    }
}

impl ArrayBuilder {
    fn end_tuple_of(&mut self, open: &Open) -> Result<(), BuildError> {
        let Node::Tuple { contents, length } = self.nodes.at(open.node) else { return Ok(()) }; // never
        let (size, length) = (contents.len(), *length);
        for index in 0..size {
            let content = self.slot_of(open, index).0;
            self.level(content, length, || Fault::SlotTwice { index })?;
        }
        self.complete(open, |node| {
            if let Node::Tuple { length, .. } = node {
                *length += 1;
            }
            Ok(())
        })
    }

    fn end_record_of(&mut self, open: &Open) -> Result<(), BuildError> {
        let Node::Record(record) = self.nodes.at(open.node) else { return Ok(()) }; // never
        let (count, length) = (record.fields.len(), record.length);
        for at in 0..count {
            let Node::Record(record) = self.nodes.at(open.node) else { return Ok(()) }; // never
            let content = record.fields[at].content;
            if self.nodes.len(content) != length + 1 {
                let name = record.fields[at].name.clone();
                self.level(content, length, || Fault::FieldTwice { name })?;
            }
        }
        self.complete(open, |node| {
            if let Node::Record(record) = node {
                record.length += 1;
            }
            Ok(())
        })
    }

    /// The place of what was selected last, or why there is none.
    fn here(&self, command: Command) -> Result<Slot, BuildError> {
        let Some(begun) = self.open.last() else { return Ok(Self::ROOT) };
        begun.to.ok_or_else(|| {
            let (begin, select, end) = match begun.kind {
                Kind::Record => (Command::BeginRecord, Command::Field, Command::EndRecord),
                _ => (Command::BeginTuple, Command::Index, Command::EndTuple),
            };
            self.refuse(Fault::Unplaced { command, begun: begin, select, end })
        })
    }
}
