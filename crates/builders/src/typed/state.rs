//! The state of a builder: what is begun, where the next value goes, and how commands change that.

mod expected;

use super::offers::{Failure, HOPELESS, Offer, Refusal, best};
use crate::BuildError;
use crate::Command;
use crate::form::{Form, FormError, Index};
use crate::growth::push;
use crate::table::{Columns, Found, Nodes};
use forthwith_columns::DType;

pub(super) struct State {
    pub(super) nodes: Nodes,
    /// Of each node, the ways to tell a value of it.
    pub(super) offers: Vec<Box<[Offer]>>,
    at: At,
    /// Lists, tuples and records that are begun, from the outermost in.
    frames: Vec<Frame>,
    /// For each command the union that took it last, and the alternative.
    unions: [Chosen; COMMANDS],
    broken: bool,
    /// How often it was cleared.
    generation: u64,
}

/// The place of the next value.
#[derive(Clone, Copy, Debug)]
struct At {
    /// [`NOWHERE`] while no field of a record is selected.
    node: u32,
    /// Whether a value that was appended is counted: in records, tuples and lists of one length.
    counted: bool,
    /// Whether a value may be appended without more than a look at its column.
    quick: bool,
    /// The alternative of a union that was chosen.
    tag: Option<u8>,
}

/// The alternative of a union for a command.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    union: u32,
    tag: i8,
    content: u32,
}

/// A list, tuple or record that was begun.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The place where it was begun.
    place: u32,
    node: u32,
    /// The items of a list; [`NOWHERE`] for tuples and records.
    content: u32,
    /// The field that was selected last.
    selected: u32,
    /// Fields that have a value.
    filled: u32,
}

/// A state to go back to.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    lengths: Box<[usize]>,
    at: At,
    frames: Vec<Frame>,
    generation: u64,
}

type Done = Result<(), Failure>;

/// The number of commands.
const COMMANDS: usize = Command::Tag as usize + 1;
const NOWHERE: u32 = u32::MAX;
const ROOT: At = At { node: 0, counted: false, quick: true, tag: None };
const BETWEEN: At = At { node: NOWHERE, counted: false, quick: false, tag: None };

impl State {
    pub(super) fn new(form: &Form) -> Result<Self, FormError> {
        let nodes = Nodes::new(form)?;
        let offers = nodes.offers();
        let unions = [Chosen { union: NOWHERE, tag: 0, content: 0 }; COMMANDS];
        Ok(Self { nodes, offers, at: ROOT, frames: Vec::new(), unions, broken: false, generation: 0 })
    }

    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.frames.clear();
        (self.at, self.broken) = (ROOT, false);
        self.generation += 1;
    }

    /// The column of the next value, if one may be appended without more.
    #[inline(always)]
    pub(super) fn open(&mut self) -> Option<&mut Columns> {
        if self.at.quick { Some(self.nodes.at_mut(self.at.node)) } else { None }
    }

    /// Appends a value to a column, or to one within an option or a union: false if there is none, or no
    /// space left.
    #[inline(always)]
    pub(super) fn quick(
        &mut self,
        command: Command,
        write: impl FnOnce(&mut Columns) -> Option<usize>,
    ) -> bool {
        let done = match self.open() {
            None => false,
            Some(Columns::Indexed { width: Index::I64, categories: None, index, content, .. }) => {
                let (content, full) = (*content, index.len() == index.capacity());
                let row = if full { None } else { write(self.nodes.at_mut(content)) };
                match (row, self.open()) {
                    (Some(row), Some(Columns::Indexed { index, .. })) => add(index, row as i64).is_some(),
                    _ => false,
                }
            }
            Some(Columns::Union { tags, index, .. }) => {
                let full = index.len() == index.capacity() || tags.len() == tags.capacity();
                let Chosen { union, tag, content } = self.unions[command as usize];
                let known = union == self.at.node && !full;
                let row = if known { write(self.nodes.at_mut(content)) } else { None };
                match (row, self.open()) {
                    (Some(row), Some(Columns::Union { tags, index, .. })) => {
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

    /// After a value at a place that is [`quick`](At::quick).
    #[inline(always)]
    pub(super) fn value_done(&mut self) {
        if self.at.counted {
            self.complete();
        }
    }

    /// After any value: where the next one goes.
    #[inline]
    fn complete(&mut self) {
        self.at = match self.frames.last_mut() {
            None => ROOT,
            Some(frame) if frame.content == NOWHERE => {
                frame.filled += 1;
                BETWEEN
            }
            Some(frame) => {
                let (node, content) = (frame.node, frame.content);
                self.items_of(node, content)
            }
        };
    }

    /// The place of the items of a list.
    #[inline]
    fn items_of(&self, node: u32, content: u32) -> At {
        match self.nodes.at(node) {
            Columns::Regular { size, length, content, .. } => {
                let found = self.nodes.len(*content).saturating_sub(size.saturating_mul(*length));
                At { node: *content, counted: true, quick: found < *size, tag: None }
            }
            _ => At { node: content, counted: false, quick: true, tag: None },
        }
    }

    /// A value of any other kind, or in any other place.
    #[inline(never)]
    pub(super) fn value(
        &mut self,
        command: Command,
        found: Found<'_>,
        write: &mut dyn FnMut(&mut Columns) -> Result<(), BuildError>,
    ) -> Done {
        let offer = self.best(command, |_| true)?;
        self.fits(offer, found)?;
        self.nodes.put(self.at.node, offer.node, write)?;
        if let (Columns::Union { width: Index::I64, contents, .. }, None, Some(tag)) =
            (self.nodes.at(self.at.node), self.at.tag, offer.tag)
            && contents[usize::from(tag)] == offer.node
        {
            let chosen = Chosen { union: self.at.node, tag: tag as i8, content: offer.node };
            self.unions[command as usize] = chosen;
        }
        self.complete();
        Ok(())
    }

    #[inline(never)]
    pub(super) fn null(&mut self) -> Done {
        let offer = self.best(Command::Null, |_| true)?;
        self.fits(offer, Found::Null)?;
        if offer.rank == HOPELESS {
            return Err(Refusal::Placeless.into());
        }
        self.nodes.null(self.at.node, offer.tag)?;
        self.complete();
        Ok(())
    }

    #[inline]
    pub(super) fn begin_list(&mut self) -> Done {
        if let Some(Columns::List { content, .. } | Columns::Regular { content, .. }) = self.open() {
            let content = *content;
            return self.begin(self.at.node, content);
        }
        self.begin_other_list()
    }

    #[inline(never)]
    fn begin_other_list(&mut self) -> Done {
        let offer = self.best(Command::BeginList, |_| true)?;
        self.fits(offer, Found::List)?;
        match *self.nodes.at(offer.node) {
            Columns::List { content, .. } | Columns::Regular { content, .. } => {
                self.begin(offer.node, content)
            }
            _ => Err(Refusal::Unexpected.into()), // never
        }
    }

    #[inline]
    fn begin(&mut self, node: u32, content: u32) -> Done {
        let frame = Frame { place: self.at.node, node, content, selected: NOWHERE, filled: 0 };
        push(&mut self.frames, frame)?;
        self.at = if content == NOWHERE { BETWEEN } else { self.items_of(node, content) };
        Ok(())
    }

    #[inline]
    pub(super) fn end_list(&mut self) -> Done {
        let frame = self.frame()?;
        match self.nodes.at(frame.node) {
            Columns::List { layout, content, .. } => {
                let end = self.nodes.len(*content) as i64;
                if end > layout.width.most() {
                    return Err(Refusal::Wide.into());
                }
                self.end(frame, |columns| match columns {
                    Columns::List { offsets, .. } => push(offsets, end),
                    _ => Ok(()), // never
                })
            }
            Columns::Regular { size, .. } if self.items().0 != *size as u64 => Err(Refusal::Short.into()),
            Columns::Regular { .. } => self.end(frame, |columns| {
                if let Columns::Regular { length, .. } = columns {
                    *length += 1;
                }
                Ok(())
            }),
            _ => Err(Refusal::Unexpected.into()),
        }
    }

    /// Completes what was begun last.
    #[inline]
    fn end(
        &mut self,
        frame: Frame,
        mut lengthen: impl FnMut(&mut Columns) -> Result<(), BuildError>,
    ) -> Done {
        if frame.place == frame.node {
            lengthen(self.nodes.at_mut(frame.node))?;
        } else {
            self.nodes.put(frame.place, frame.node, &mut lengthen)?;
        }
        self.frames.pop();
        self.complete();
        Ok(())
    }

    #[inline]
    pub(super) fn begin_tuple(&mut self, slots: usize) -> Done {
        let count = |node| match self.nodes.at(node) {
            Columns::Record(record) if record.is_tuple => record.fields.len(),
            _ => usize::MAX,
        };
        let quick = self.at.quick && count(self.at.node) == slots && slots != usize::MAX;
        let node = if quick {
            self.at.node
        } else {
            let offer = self.best(Command::BeginTuple, |offer| count(offer.node) == slots)?;
            self.fits(offer, Found::Tuple(slots))?;
            offer.node
        };
        self.begin(node, NOWHERE)
    }

    /// Begins a record. The refusal of a name is [`Refusal::Argument`].
    #[inline]
    pub(super) fn begin_record(&mut self, name: Option<&str>) -> Done {
        let is_named = |node| match self.nodes.at(node) {
            Columns::Record(record) => {
                !record.is_tuple && name.is_none_or(|name| *record.name == *name && !name.is_empty())
            }
            _ => false,
        };
        let node = if self.at.quick && is_named(self.at.node) {
            self.at.node
        } else {
            let offer = self.best(Command::BeginRecord, |offer| is_named(offer.node))?;
            self.fits(offer, Found::Record(name))?;
            offer.node
        };
        self.begin(node, NOWHERE)
    }

    /// Selects a field. The refusal of a name is [`Refusal::Argument`].
    #[inline]
    pub(super) fn field(&mut self, name: &str) -> Done {
        let frame = self.frame()?;
        let Some(record) = self.nodes.record(frame.node).filter(|record| !record.is_tuple) else {
            return Err(Refusal::Unexpected.into());
        };
        let at = record.find(frame.selected.wrapping_add(1) as usize, name).ok_or(Refusal::Argument)?;
        self.select(at, record.fields[at].content, record.length)
    }

    /// Selects a slot, or refers to a row that is there.
    #[inline]
    pub(super) fn index(&mut self, at: usize) -> Done {
        if self.at.node != NOWHERE {
            match self.best(Command::Index, |_| true) {
                Ok(offer) => return self.refer(offer, at),
                Err(failure) if !self.in_tuple() => return Err(failure),
                Err(_) => {}
            }
        }
        let Some(tuple) = self.nodes.record(self.frame()?.node).filter(|record| record.is_tuple) else {
            return Err(Refusal::Unexpected.into());
        };
        let field = tuple.fields.get(at).ok_or(Refusal::Argument)?;
        self.select(at, field.content, tuple.length)
    }

    #[inline]
    fn select(&mut self, at: usize, content: u32, length: usize) -> Done {
        if self.nodes.len(content) > length {
            return Err(Refusal::Twice.into());
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.selected = at as u32; // there are fewer columns
        }
        self.at = At { node: content, counted: true, quick: true, tag: None };
        Ok(())
    }

    /// One more value of an indirection that is there already.
    fn refer(&mut self, offer: Offer, at: usize) -> Done {
        self.fits(offer, Found::Null)?;
        let Columns::Indexed { content, .. } = *self.nodes.at(offer.node) else {
            return Err(Refusal::Unexpected.into()); // never
        };
        if at >= self.nodes.len(content) {
            return Err(Refusal::Argument.into());
        }
        self.nodes.put(self.at.node, offer.node, &mut |columns| match columns {
            Columns::Indexed { index, .. } => push(index, at as i64),
            _ => Ok(()), // never
        })?;
        self.complete();
        Ok(())
    }

    pub(super) fn end_record(&mut self, is_tuple: bool) -> Done {
        let frame = self.frame()?;
        let Some(record) = self.nodes.record(frame.node).filter(|record| record.is_tuple == is_tuple) else {
            return Err(Refusal::Unexpected.into());
        };
        if (frame.filled as usize) < record.fields.len() {
            let contents: Vec<u32> = record.fields.iter().map(|field| field.content).collect();
            let length = record.length;
            self.fill_missing(&contents, length)?;
        }
        self.end(frame, |columns| {
            if let Columns::Record(record) = columns {
                record.length += 1;
            }
            Ok(())
        })
    }

    /// Nulls for the fields without a value.
    #[inline(never)]
    fn fill_missing(&mut self, contents: &[u32], length: usize) -> Done {
        let missing = contents.iter().copied().filter(|content| self.nodes.len(*content) == length);
        let missing: Vec<u32> = missing.collect();
        if missing.iter().any(|content| !self.may_be_null(*content)) {
            return Err(Refusal::Missing.into());
        }
        for content in &missing {
            let offer = best(&self.offers[*content as usize], Command::Null, None, |_| true)?;
            self.nodes.fits(*content, offer.tag, Found::Null)?;
        }
        for content in missing {
            self.nodes.null(content, None)?;
        }
        Ok(())
    }

    fn may_be_null(&self, node: u32) -> bool {
        let offers = &self.offers[node as usize];
        offers.iter().any(|offer| offer.command == Command::Null && offer.rank != HOPELESS)
    }

    /// Chooses the alternative of a union.
    pub(super) fn choose(&mut self, tag: usize) -> Done {
        if self.broken {
            return Err(Failure::OutOfMemory);
        }
        if !self.has_tags() {
            return Err(Refusal::Unexpected.into());
        }
        let tag = u8::try_from(tag).map_err(|_| Refusal::Argument)?;
        if !self.offers_here().iter().any(|offer| offer.tag == Some(tag)) {
            return Err(Refusal::Argument.into());
        }
        self.has_space()?;
        (self.at.tag, self.at.quick) = (Some(tag), false);
        Ok(())
    }

    /// Appends items in native order where the column is of this very type and directly in a list or at the
    /// top; `None` where it is not.
    pub(super) fn extend(&mut self, dtype: DType, bytes: &[u8]) -> Option<Done> {
        let (found, size) = self.items();
        let direct = self.frames.last().is_none_or(|frame| frame.content == self.at.node);
        if self.broken || !direct || self.at.tag.is_some() || self.at.node == NOWHERE {
            return None;
        }
        let full = size != u64::MAX && found.saturating_add((bytes.len() / dtype.size()) as u64) > size;
        let column = self.nodes.at_mut(self.at.node);
        if full {
            let is_own = column.extend_bytes(dtype, &[]).is_some();
            return is_own.then_some(Err(Refusal::Full.into()));
        }
        let done = column.extend_bytes(dtype, bytes)?;
        self.complete();
        Some(done.map_err(Failure::from))
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        let lengths = self.nodes.lengths();
        Checkpoint { lengths, at: self.at, frames: self.frames.clone(), generation: self.generation }
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
        self.frames.clone_from(&then.frames);
        self.at = then.at;
        true
    }

    /// Notes that there was no memory, from which only clearing helps; whether that was known.
    pub(super) fn break_down(&mut self) -> bool {
        self.at.quick = false;
        std::mem::replace(&mut self.broken, true)
    }

    /// The list, tuple or record that was begun last.
    #[inline]
    fn frame(&self) -> Result<Frame, Failure> {
        match self.frames.last() {
            _ if self.broken => Err(Failure::OutOfMemory),
            Some(frame) => Ok(*frame),
            None => Err(Refusal::Unexpected.into()),
        }
    }

    /// The node of the next value.
    fn here(&self) -> Option<&Columns> {
        (self.at.node != NOWHERE).then(|| self.nodes.at(self.at.node))
    }

    fn offers_here(&self) -> &[Offer] {
        self.offers.get(self.at.node as usize).map_or(&[], |offers| offers)
    }

    /// Whether there are alternatives to choose from.
    fn has_tags(&self) -> bool {
        self.offers_here().iter().any(|offer| offer.tag.is_some())
    }

    fn best(&self, command: Command, meant: impl Fn(&Offer) -> bool) -> Result<Offer, Failure> {
        if self.broken {
            return Err(Failure::OutOfMemory);
        }
        Ok(best(self.offers_here(), command, self.at.tag, meant)?)
    }

    /// Refuses a value where the list has all its items.
    fn has_space(&self) -> Done {
        let (found, size) = self.items();
        if found >= size { Err(Refusal::Full.into()) } else { Ok(()) }
    }

    fn fits(&self, offer: Offer, found: Found<'_>) -> Done {
        self.has_space()?;
        Ok(self.nodes.fits(self.at.node, offer.tag, found)?)
    }

    /// Of a list of one length that is begun: the items it has and must have.
    pub(super) fn items(&self) -> (u64, u64) {
        let Some(frame) = self.frames.last() else { return (0, u64::MAX) };
        match self.nodes.at(frame.node) {
            Columns::Regular { size, length, content, .. } => {
                let before = size.saturating_mul(*length);
                (self.nodes.len(*content).saturating_sub(before) as u64, *size as u64)
            }
            _ => (0, u64::MAX),
        }
    }
}

impl Nodes {
    /// Refuses a value of a kind that a place takes: numbers and texts that do not fit, and rows beyond what
    /// an index counts.
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
            // A null is no row of the content.
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

/// Appends an item where there is space, and answers its row.
#[inline(always)]
pub(super) fn add<T>(items: &mut Vec<T>, item: T) -> Option<usize> {
    let row = items.len();
    if row == items.capacity() {
        return None;
    }
    items.push(item);
    Some(row)
}
