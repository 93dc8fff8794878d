//! State of a builder: its columns, and the place of the next value in the type.

mod expected;

use super::offers::{Failure, HOPELESS, Offer, Refusal, best};
use super::places::{Here, NOWHERE, Place, Places};
use crate::form::{Form, FormError, Index};
use crate::growth::{add, push};
use crate::table::{Columns, Found, Nodes, Record};
use crate::{BuildError, Command};
use forthwith_columns::DType;

pub(super) struct State {
    pub(super) nodes: Nodes,
    pub(super) places: Places,
    /// Place of the next value, and a copy of its frequently used properties.
    at: u32,
    here: Here,
    /// For each record, the field that is expected next.
    likely: Vec<u32>,
    /// For each open record, the number of fields that have a value; 0 for other nodes.
    filled: Vec<u32>,
    /// For each command, the union and the alternative that stored its last value.
    unions: [Chosen; COMMANDS],
    broken: bool,
    /// Number of times that the builder was cleared.
    generation: u64,
}

/// Alternative of a union for a command.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    union: u32,
    tag: i8,
    content: u32,
}

/// State of a builder that can be restored.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    lengths: Box<[usize]>,
    at: u32,
    generation: u64,
}

type Done = Result<(), Failure>;

/// Number of commands.
const COMMANDS: usize = Command::Tag as usize + 1;

impl State {
    pub(super) fn new(form: &Form) -> Result<Self, FormError> {
        let nodes = Nodes::new(form)?;
        let (places, likely) = (Places::new(&nodes), vec![0; nodes.numbers().len()]);
        let (here, filled) = (places.at(0).here, likely.clone());
        let unions = [Chosen { union: NOWHERE, tag: 0, content: 0 }; COMMANDS];
        Ok(Self { nodes, places, at: 0, here, likely, filled, unions, broken: false, generation: 0 })
    }

    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.filled.fill(0);
        self.broken = false;
        self.go(0);
        self.generation += 1;
    }

    /// Returns the number of the place of the next value.
    pub(super) const fn position(&self) -> u32 {
        self.at
    }

    #[inline(always)]
    fn place(&self) -> &Place {
        self.places.at(self.at)
    }

    /// Moves to a place.
    #[inline]
    fn go(&mut self, at: u32) {
        (self.at, self.here) = (at, self.places.at(at).here);
        if self.here.counted {
            self.here.quick &= !self.is_full(self.here.inside);
        }
    }

    /// Moves to the place after a value.
    #[inline]
    fn leave(&mut self, Here { next, inside, fills, .. }: Here) {
        if fills {
            self.filled[inside as usize] += 1;
        }
        self.go(next);
    }

    /// Returns the column of the next value if it may be appended without further checks.
    #[inline(always)]
    pub(super) fn open(&mut self) -> Option<&mut Columns> {
        if self.here.quick { Some(self.nodes.at_mut(self.here.node)) } else { None }
    }

    /// Appends a value to a column, or to the content of an option or union; returns `false` if this requires
    /// further checks or more memory.
    #[inline(always)]
    pub(super) fn quick(
        &mut self,
        command: Command,
        write: impl FnOnce(&mut Columns) -> Option<usize>,
    ) -> bool {
        let node = self.here.node;
        let done = match self.open() {
            None => false,
            Some(Columns::Indexed { width: Index::I64, categories: None, index, content, .. }) => {
                let (content, full) = (*content, index.len() == index.capacity());
                let row = if full { None } else { write(self.nodes.at_mut(content)) };
                match (row, self.nodes.at_mut(node)) {
                    (Some(row), Columns::Indexed { index, .. }) => add(index, row as i64).is_some(),
                    _ => false,
                }
            }
            Some(Columns::Union { tags, index, .. }) => {
                let full = index.len() == index.capacity() || tags.len() == tags.capacity();
                let Chosen { union, tag, content } = self.unions[command as usize];
                let row = if union == node && !full { write(self.nodes.at_mut(content)) } else { None };
                match (row, self.nodes.at_mut(node)) {
                    (Some(row), Columns::Union { tags, index, .. }) => {
                        add(index, row as i64).and(add(tags, tag)).is_some()
                    }
                    _ => false,
                }
            }
            Some(columns) => write(columns).is_some(),
        };
        if done {
            self.value_done();
        }
        done
    }

    /// Moves to the place after a value.
    #[inline(always)]
    pub(super) fn value_done(&mut self) {
        if !self.here.stays {
            self.leave(self.here);
        }
    }

    /// Appends a value after all checks.
    #[inline(never)]
    pub(super) fn value(
        &mut self,
        command: Command,
        found: Found<'_>,
        write: &mut dyn FnMut(&mut Columns) -> Result<(), BuildError>,
    ) -> Done {
        let offer = self.best(command, |_| true)?;
        self.fits(offer, found)?;
        let (Here { node, .. }, tag) = (self.here, self.place().tag);
        self.nodes.put(node, offer.node, write)?;
        if let (Columns::Union { width: Index::I64, contents, .. }, None, Some(tag)) =
            (self.nodes.at(node), tag, offer.tag)
            && contents[usize::from(tag)] == offer.node
        {
            self.unions[command as usize] = Chosen { union: node, tag: tag as i8, content: offer.node };
        }
        self.value_done();
        Ok(())
    }

    #[inline(never)]
    pub(super) fn null(&mut self) -> Done {
        let offer = self.best(Command::Null, |_| true)?;
        self.fits(offer, Found::Null)?;
        if offer.rank == HOPELESS {
            return Err(Refusal::Placeless.into());
        }
        self.nodes.null(self.here.node, offer.tag)?;
        self.value_done();
        Ok(())
    }

    #[inline]
    pub(super) fn begin_list(&mut self) -> Done {
        let quick = matches!(self.open(), Some(Columns::List { .. } | Columns::Regular { .. }));
        self.begin(Command::BeginList, quick, Found::List, |_| true)
    }

    #[inline]
    pub(super) fn begin_tuple(&mut self, slots: usize) -> Done {
        let is = |record: &Record| record.is_tuple && record.fields.len() == slots;
        let quick = matches!(self.open(), Some(Columns::Record(record)) if is(record));
        self.begin(Command::BeginTuple, quick, Found::Tuple(slots), is)
    }

    /// Begins a record. A name that does not match is refused as [`Refusal::Argument`].
    #[inline]
    pub(super) fn begin_record(&mut self, name: Option<&str>) -> Done {
        let is = |record: &Record| {
            !record.is_tuple && name.is_none_or(|name| *record.name == *name && !name.is_empty())
        };
        let quick = matches!(self.open(), Some(Columns::Record(record)) if is(record));
        self.begin(Command::BeginRecord, quick, Found::Record(name), is)
    }

    #[inline]
    fn begin(
        &mut self,
        command: Command,
        quick: bool,
        found: Found<'_>,
        is: impl Fn(&Record) -> bool,
    ) -> Done {
        let node = if quick {
            self.here.node
        } else {
            let offer = self.best(command, |offer| self.nodes.record(offer.node).is_none_or(&is))?;
            self.fits(offer, found)?;
            offer.node
        };
        self.go(self.places.inside(node));
        Ok(())
    }

    #[inline]
    pub(super) fn end_list(&mut self) -> Done {
        let node = self.inside()?;
        match self.nodes.at(node) {
            Columns::List { layout, content, .. } => {
                let end = self.nodes.len(*content);
                if end as i64 > layout.width.most() {
                    return Err(Refusal::Wide.into());
                }
                self.end(node, |columns| columns.add_list(end))
            }
            Columns::Regular { size, .. } if self.items_of(node).0 != *size as u64 => {
                Err(Refusal::Short.into())
            }
            Columns::Regular { .. } => self.end(node, Columns::add_regular),
            _ => Err(Refusal::Unexpected.into()),
        }
    }

    #[inline]
    pub(super) fn end_record(&mut self, is_tuple: bool) -> Done {
        let node = self.inside()?;
        let Some(record) = self.nodes.record(node).filter(|record| record.is_tuple == is_tuple) else {
            return Err(Refusal::Unexpected.into());
        };
        if (self.filled[node as usize] as usize) < record.fields.len() {
            self.fill_missing(node)?;
        }
        self.filled[node as usize] = 0;
        self.end(node, Columns::add_record)
    }

    /// Completes the innermost open structure.
    #[inline]
    fn end(&mut self, node: u32, lengthen: impl FnMut(&mut Columns) -> Result<(), BuildError>) -> Done {
        let outer = self.places.of(node).here;
        self.nodes.complete::<Failure>(outer.node, node, lengthen)?;
        self.leave(outer);
        Ok(())
    }

    /// Appends nulls to the fields without a value.
    #[inline(never)]
    fn fill_missing(&mut self, node: u32) -> Done {
        let missing = self.lacking(node);
        let nulls = missing.iter().map(|(_, content)| Some((*content, self.null_of(*content)?)));
        let nulls = nulls.collect::<Option<Vec<_>>>().ok_or(Refusal::Missing)?;
        nulls.iter().try_for_each(|(content, null)| self.nodes.fits(*content, null.tag, Found::Null))?;
        for (content, _) in nulls {
            self.nodes.null(content, None)?;
        }
        Ok(())
    }

    /// Returns the fields of a record that have no value yet, by number and node.
    fn lacking(&self, node: u32) -> Vec<(usize, u32)> {
        let Some(record) = self.nodes.record(node) else { return Vec::new() }; // never
        let contents = record.fields.iter().map(|field| field.content).enumerate();
        contents.filter(|(_, content)| self.nodes.len(*content) == record.length).collect()
    }

    /// Returns the offer of a null for a field; `None` if it cannot be null.
    fn null_of(&self, content: u32) -> Option<Offer> {
        let offer = best(&self.places.of(content).offers, Command::Null, |_| true).ok();
        offer.filter(|offer| offer.rank != HOPELESS)
    }

    /// Selects a field. An unknown name is refused as [`Refusal::Argument`].
    #[inline]
    pub(super) fn field(&mut self, name: &str) -> Done {
        let node = self.inside()?;
        let Some(record) = self.nodes.record(node).filter(|record| !record.is_tuple) else {
            return Err(Refusal::Unexpected.into());
        };
        let likely = self.likely[node as usize] as usize;
        let at = record.find(likely, name).ok_or(Refusal::Argument)?;
        let (content, length) = (record.fields[at].content, record.length);
        self.likely[node as usize] = if at + 1 == record.fields.len() { 0 } else { at as u32 + 1 };
        self.select(content, length)
    }

    /// Selects a slot, or appends a reference to an existing row.
    #[inline]
    pub(super) fn index(&mut self, at: usize) -> Done {
        if self.here.node != NOWHERE {
            match self.best(Command::Index, |_| true) {
                Ok(offer) => return self.refer(offer, at),
                Err(failure) if !self.in_tuple() => return Err(failure),
                Err(_) => {}
            }
        }
        let Some(tuple) = self.nodes.record(self.inside()?).filter(|record| record.is_tuple) else {
            return Err(Refusal::Unexpected.into());
        };
        let content = tuple.fields.get(at).ok_or(Refusal::Argument)?.content;
        self.select(content, tuple.length)
    }

    #[inline]
    fn select(&mut self, content: u32, length: usize) -> Done {
        if self.nodes.len(content) > length {
            return Err(Refusal::Twice.into());
        }
        self.go(self.places.number_of(content));
        Ok(())
    }

    /// Appends a reference to an existing row of an indirection.
    fn refer(&mut self, offer: Offer, at: usize) -> Done {
        self.fits(offer, Found::Null)?;
        let Columns::Indexed { content, .. } = *self.nodes.at(offer.node) else {
            return Err(Refusal::Unexpected.into()); // never
        };
        if at >= self.nodes.len(content) {
            return Err(Refusal::Argument.into());
        }
        self.nodes.put(self.here.node, offer.node, &mut |columns| match columns {
            Columns::Indexed { index, .. } => push(index, at as i64),
            _ => Ok(()), // never
        })?;
        self.value_done();
        Ok(())
    }

    /// Selects an alternative of a union.
    pub(super) fn choose(&mut self, tag: usize) -> Done {
        if self.broken {
            return Err(Failure::OutOfMemory);
        }
        let mut tags = self.place().tags.clone();
        if tags.is_empty() {
            return Err(Refusal::Unexpected.into());
        }
        let chosen = tags.find(|at| self.places.at(*at).tag.map(usize::from) == Some(tag));
        let chosen = chosen.ok_or(Refusal::Argument)?;
        self.has_space()?;
        self.go(chosen);
        Ok(())
    }

    /// Appends items in native byte order if the column has their dtype and is directly in a list or at the
    /// top level; otherwise returns `None`.
    pub(super) fn extend(&mut self, dtype: DType, bytes: &[u8]) -> Option<Done> {
        let (found, size) = self.items();
        let (Here { node, inside, .. }, tag) = (self.here, self.place().tag);
        let direct = inside == NOWHERE || self.nodes.record(inside).is_none();
        if self.broken || !direct || tag.is_some() {
            return None;
        }
        let full = size != u64::MAX && found.saturating_add((bytes.len() / dtype.size()) as u64) > size;
        let column = self.nodes.at_mut(node);
        if full {
            let is_own = column.extend_bytes(dtype, &[]).is_some();
            return is_own.then_some(Err(Refusal::Full.into()));
        }
        let done = column.extend_bytes(dtype, bytes)?;
        self.value_done();
        Some(done.map_err(Failure::from))
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { lengths: self.nodes.lengths(), at: self.at, generation: self.generation }
    }

    pub(super) fn rollback(&mut self, then: &Checkpoint) -> bool {
        let now = self.nodes.lengths();
        if self.broken
            || then.generation != self.generation
            || then.lengths.iter().zip(&now).any(|(then, now)| then > now)
        {
            return false;
        }
        self.nodes.truncate_all(&then.lengths);
        for node in self.nodes.numbers() {
            let Some(record) = self.nodes.record(node) else { continue };
            self.filled[node as usize] = (record.fields.len() - self.lacking(node).len()) as u32; // no more than fit
        }
        self.go(then.at);
        true
    }

    /// Records that memory could not be allocated, after which the builder must be cleared; returns whether
    /// this was known.
    pub(super) fn break_down(&mut self) -> bool {
        self.here.quick = false;
        std::mem::replace(&mut self.broken, true)
    }

    /// Returns the innermost open list, tuple or record.
    #[inline]
    fn inside(&self) -> Result<u32, Failure> {
        match self.here.inside {
            _ if self.broken => Err(Failure::OutOfMemory),
            NOWHERE => Err(Refusal::Unexpected.into()),
            node => Ok(node),
        }
    }

    fn best(&self, command: Command, meant: impl Fn(&Offer) -> bool) -> Result<Offer, Failure> {
        if self.broken {
            return Err(Failure::OutOfMemory);
        }
        Ok(best(&self.place().offers, command, meant)?)
    }

    /// Whether a list has reached its fixed size.
    #[inline(never)]
    fn is_full(&self, list: u32) -> bool {
        let (found, size) = self.items_of(list);
        found >= size
    }

    /// Returns an error if the enclosing list has reached its fixed size.
    fn has_space(&self) -> Done {
        if self.is_full(self.here.inside) { Err(Refusal::Full.into()) } else { Ok(()) }
    }

    fn fits(&self, offer: Offer, found: Found<'_>) -> Done {
        self.has_space()?;
        Ok(self.nodes.fits(self.here.node, offer.tag, found)?)
    }

    /// Returns the number of items of the open list, and its fixed size (the maximum of `u64` if it has
    /// none).
    pub(super) fn items(&self) -> (u64, u64) {
        self.items_of(self.here.inside)
    }

    #[inline]
    fn items_of(&self, list: u32) -> (u64, u64) {
        match self.nodes.get(list) {
            Some(Columns::Regular { size, length, content, .. }) => {
                let before = size.saturating_mul(*length);
                (self.nodes.len(*content).saturating_sub(before) as u64, *size as u64)
            }
            _ => (0, u64::MAX),
        }
    }
}

/// Returns the commands that select a part of an open structure, or end it.
pub(super) fn ends(columns: &Columns) -> &'static [Command] {
    match columns {
        Columns::Record(record) if record.is_tuple => &[Command::Index, Command::EndTuple],
        Columns::Record(_) => &[Command::Field, Command::EndRecord],
        _ => &[Command::EndList],
    }
}

impl Nodes {
    /// Checks a value of a kind that a node accepts: numbers must be in range, strings of a fixed length, and
    /// rows must not exceed 32-bit indexes and offsets.
    fn fits(&self, node: u32, tag: Option<u8>, found: Found<'_>) -> Result<(), Refusal> {
        let counted = |content, width: Index| {
            if self.len(content) as i64 >= width.most() { Err(Refusal::Wide) } else { Ok(()) }
        };
        match (self.at(node), found) {
            (Columns::Union { contents, width, .. }, _) => {
                let content = contents[usize::from(tag.unwrap_or(0))];
                counted(content, *width)?;
                self.fits(content, None, found)
            }
            // A null does not add a row to the content.
            (Columns::Indexed { .. } | Columns::Masked { .. }, Found::Null) => Ok(()),
            (Columns::Indexed { content, width, .. }, _) => {
                counted(*content, *width)?;
                self.fits(*content, None, found)
            }
            (Columns::Masked { content, .. } | Columns::Unmasked { content }, _) => {
                self.fits(*content, None, found)
            }
            (Columns::Text { layout, bytes: known, .. }, Found::Text { bytes, .. }) => {
                let end = known.len().saturating_add(bytes) as i64;
                if end > layout.width.most() { Err(Refusal::Wide) } else { Ok(()) }
            }
            (Columns::Fixed { size, .. }, Found::Text { bytes, .. }) if *size != bytes => {
                Err(Refusal::Length)
            }
            (columns, Found::Integer(x)) => columns.integer_rank(x.into()).map(|_| ()).ok_or(Refusal::Range),
            (columns, Found::Unsigned(x)) => columns.integer_rank(x.into()).map(|_| ()).ok_or(Refusal::Range),
            _ => Ok(()),
        }
    }
}
