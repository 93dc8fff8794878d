//! A plan: which blocks to read and what decodes them. Plain data.

use crate::PlannedConstant;
use bytes::Bytes;
use forthwith_columns::{DType, Encoding, Form, TextPolicy};
use forthwith_program::Program;
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::{HashMap, hash_map::Entry},
    ops::Range,
    sync::Arc,
};

/// The answer to "these columns, these entries". It can be printed, counted, cut, serialised and sent to
/// another machine: a task never holds a closure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The id of the [`BlockFormat`](crate::BlockFormat) that unframes the blocks.
    pub format: String,
    /// The file.
    pub uri: String,
    /// The object within the file.
    pub object: String,
    /// Other files with blocks, by the names that the file has for them. Where they are in [`Stored::Range`]
    /// is up to [`Several`](https://docs.rs/forthwith-io/latest/forthwith_io/struct.Several.html), of which
    /// they are the second and the following.
    #[serde(default)]
    pub others: Vec<String>,
    /// The entries asked for, or the range in which [some](Self::chosen) are.
    pub entries: Range<u64>,
    /// The delivered groups: one for each field asked for (or one for all of them that is split), then the
    /// groups only needed by others.
    pub groups: Vec<Group>,
    /// The number of groups that were asked for.
    pub delivered: u32,
    /// The blocks to decode, ordered by group, then by entry.
    pub tasks: Vec<Task>,
    /// The change of each array, if they are not delivered as they are.
    #[serde(default)]
    pub picks: Vec<Pick>,
    /// Text has to be UTF-8, which the engine validates. Otherwise it is taken as it is.
    #[serde(default)]
    pub utf8: bool,
    /// Conversion of text after it was read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub text: TextPolicy,
    /// Times become the numbers that they are stored as.
    #[serde(default, skip_serializing_if = "is_default")]
    pub times_as_integers: bool,
    /// Which rows of options are there is wanted as bits, as Arrow has it, where the format knows it. An index is
    /// made of them when it is looked at; otherwise it is made while the rows are decoded, side by side.
    #[serde(default)]
    pub bits: bool,
    /// Validated text is read as Arrow's views if the format can fill a [group](Group::views) with them. Offsets and bytes are made
    /// of the views on first use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub views: bool,
    /// Columns that no block has, in the order of their positions among the arrays. They are put there when the blocks are
    /// read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<PlannedConstant>,
    /// The entries that are decoded, in ascending order, if not all of the [range](Self::entries) are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Arc<[u64]>>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Plan {
    /// Bytes to read.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.tasks.iter().map(|t| t.stored.len()).fold(0, u64::saturating_add)
    }

    /// The entries of this plan that a task has something of, of the range that it counts: `task.entries` or
    /// `task.wanted`. Where a group [counts items](Group::items), a block at whose end an entry goes on
    /// shares that entry with the next one.
    #[must_use]
    pub fn entries_of(&self, task: &Task, counted: &Range<u64>) -> Range<u64> {
        let Some(group) = self.groups.get(task.group as usize) else { return self.entries.clone() };
        let Some(items) = &group.items else { return counted.clone() };
        if group.joins {
            // Of lists: as the first group of the field, which tells which entries are in a block.
            let own = self.groups.iter().take(task.group as usize).rposition(|group| !group.joins);
            let blocks = self
                .tasks
                .iter()
                .filter(|other| own == Some(other.group as usize) && other.block == task.block);
            let ranges = blocks.map(|block| self.entries_of(block, &block.wanted));
            let all = ranges.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
            return all.unwrap_or_else(|| self.entries.clone());
        }
        // An entry has a fixed number of items.
        let count = self.entries.end.saturating_sub(self.entries.start);
        let each = items.end.saturating_sub(items.start).checked_div(count).filter(|each| *each > 0);
        let Some(each) = each else { return self.entries.clone() };
        let start = counted.start.max(items.start) - items.start;
        let end = counted.end.clamp(items.start, items.end) - items.start;
        let entry = |items: u64| (self.entries.start + items).min(self.entries.end);
        entry(start / each)..entry(end.div_ceil(each))
    }

    /// For each of the plan's first `arrays` arrays, the path of its field: messages name it.
    #[must_use]
    pub fn paths(&self, arrays: usize) -> Vec<String> {
        let groups: Vec<&Group> = self.groups.iter().filter(|group| !group.joins).collect();
        (0..arrays).map(|array| self.path(array, &groups)).collect()
    }

    /// The path of an array, of groups that are no parts of others.
    fn path(&self, array: usize, groups: &[&Group]) -> String {
        if let Some(constant) = self.constants.iter().find(|constant| constant.at as usize == array) {
            return constant.constant.name.clone();
        }
        let array = array - self.constants.iter().filter(|constant| (constant.at as usize) < array).count();
        let pick = self.picks.get(array);
        let number = pick.map_or(array, |pick| pick.array as usize);
        let name = match self.groups.first() {
            Some(Group { split: true, form: Form::Record { fields: Some(names), .. }, .. }) => {
                names.get(number).cloned()
            }
            _ => groups.get(number).map(|group| group.path.clone()),
        };
        let parts = name.into_iter().chain(pick.iter().flat_map(|pick| pick.path.iter().cloned()));
        let path = parts.collect::<Vec<_>>().join("/");
        if self.object.is_empty() { path } else { format!("{}/{path}", self.object) }
    }
}

/// The change of an array: a field of the records in it [by itself](forthwith_columns::Array::pick), with
/// lists that are known to be [regular](forthwith_columns::Array::regular).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pick {
    /// The number of the array that has the records.
    pub array: u32,
    /// From record to record; nothing for the array itself.
    pub path: Vec<String>,
    /// Keys of lists of that, and how many items each of them has.
    #[serde(default)]
    pub lists: Vec<(String, u64)>,
}

impl Pick {
    /// The fields without repetitions, and the array of each field among those of these: no picks if all are different.
    #[must_use]
    pub fn once(fields: &[u32]) -> (Vec<u32>, Vec<Self>) {
        let mut arrays: HashMap<u32, u32> = HashMap::new();
        let mut once = Vec::new();
        for field in fields {
            if let Entry::Vacant(place) = arrays.entry(*field) {
                place.insert(once.len() as u32);
                once.push(*field);
            }
        }
        let pick = |field: &u32| Self { array: arrays[field], path: vec![], lists: vec![] };
        let picks = if once.len() < fields.len() { fields.iter().map(pick).collect() } else { vec![] };
        (once, picks)
    }
}

/// The columns one kind of block fills.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The field's path.
    pub path: String,
    /// The decoder of a block.
    pub decoder: Decoder,
    /// Why this decoder, in a phrase.
    pub reason: String,
    /// The meaning of the columns.
    pub form: Form,
    /// The columns, in the order the decoder writes them.
    pub columns: Vec<ColumnSpec>,
    /// The group whose single column counts this group's items, when blocks have no bounds of their own.
    pub counter: Option<u32>,
    /// Whether the fields of the record that `form` is are delivered, an array each, instead of the record.
    #[serde(default)]
    pub split: bool,
    /// Whether this is one more part of what the group before delivers: the arrays of both are
    /// [joined](forthwith_columns::Array::join).
    #[serde(default)]
    pub joins: bool,
    /// The unit that the tasks count instead of entries, if there is another: the items of lists, by numbers
    /// that mean nothing beyond the plan.
    #[serde(default)]
    pub items: Option<Range<u64>>,
    /// The number of the column of text offsets that the format can fill with views. The next column is that of the text.
    #[serde(default, skip_serializing_if = "is_default")]
    pub views: Option<u32>,
}

impl Group {
    /// A group of a field by itself, as it is read, and the columns that this fills.
    #[must_use]
    pub fn of(path: impl Into<String>, reading: Reading, columns: Vec<ColumnSpec>) -> Self {
        let Reading { form, decoder, reason } = reading;
        let (counter, split, joins, items, views) = (None, false, false, None, None);
        Self { path: path.into(), decoder, reason, form, columns, counter, split, joins, items, views }
    }
}

/// One column of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnSpec {
    /// Buffer name: `node0-offsets`.
    pub key: String,
    /// Element type; int64 for offsets.
    pub dtype: DType,
    /// Whether these are offsets: they get a leading zero, and are rebased when blocks are decoded apart.
    pub offsets: bool,
    /// The member, for errors.
    pub member: String,
    /// Most bytes a column can get from one byte of payload: the bound on what is reserved. Zero: one item
    /// per entry and no more.
    pub bytes_per_payload_byte: u32,
}

/// The decoder of a block's payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Decoder {
    /// A columnar layout: copy, swap, unpack, offsets from bounds.
    Kernel(Kernel),
    /// A record-oriented layout, run by the machine.
    Program(Arc<Program>),
    /// The format [decodes](crate::BlockFormat::decode) its blocks itself, by this description of its own.
    Format(Arc<str>),
}

impl Decoder {
    /// `"kernel"`, `"program"` or `"format"`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Kernel(_) => "kernel",
            Self::Program(_) => "program",
            Self::Format(_) => "format",
        }
    }
}

/// How a field is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The meaning of the columns.
    pub form: Form,
    /// The decoder of a block.
    pub decoder: Decoder,
    /// Why this decoder, in a phrase.
    pub reason: String,
}

impl Reading {
    /// By a program.
    #[must_use]
    pub fn program(program: Program, reason: impl Into<String>) -> Self {
        let form = program.form.clone();
        Self { form, decoder: Decoder::Program(Arc::new(program)), reason: reason.into() }
    }
}

/// The columnar layouts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Kernel {
    /// Every entry is `per_entry` values, one after the other. Writes one data column.
    Flat {
        /// The values.
        wire: Encoding,
        /// Values in an entry, at least 1.
        per_entry: u64,
    },
    /// Every entry is `size` bytes with values at fixed places. Writes one data column a slot.
    Slots {
        /// Bytes in an entry.
        size: u64,
        /// The places.
        slots: Vec<Slot>,
    },
    /// Every entry is `header` bytes to skip, then any number of items of `per_item` values. Writes offsets,
    /// then data.
    Jagged {
        /// Bytes before the first item of an entry.
        header: u32,
        /// The values.
        wire: Encoding,
        /// Values in one item, at least 1.
        per_item: u64,
    },
}

impl Kernel {
    /// The bytes of an entry and the places of its values, if all entries are of one size.
    #[must_use]
    pub fn fixed(&self) -> Option<(u64, Cow<'_, [Slot]>)> {
        match self {
            Self::Flat { wire, per_entry } => {
                let slot = Slot { at: 0, wire: *wire, count: *per_entry };
                Some((per_entry.saturating_mul(wire.width() as u64), Cow::Owned(vec![slot])))
            }
            Self::Slots { size, slots } => Some((*size, Cow::Borrowed(slots))),
            Self::Jagged { .. } => None,
        }
    }
}

/// Values at a fixed place in every entry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// Byte position in the entry.
    pub at: u64,
    /// The values.
    pub wire: Encoding,
    /// The number of items, at least 1.
    pub count: u64,
}

/// One block to read and decode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Position in [`Plan::groups`].
    pub group: u32,
    /// The block's number within its field, for errors.
    pub block: u64,
    /// Entries the block holds, by the metadata.
    pub entries: Range<u64>,
    /// The entries wanted of it; inside `entries`, not empty. Where some are [chosen](Plan::chosen), from the first to the last of
    /// these.
    pub wanted: Range<u64>,
    /// The bytes.
    pub stored: Stored,
    /// Bytes when decompressed, by the metadata: a hint for ordering work, never trusted.
    pub payload_hint: u64,
    /// Groups that must be complete before this task, for the task's entries.
    pub needs: Vec<u32>,
    /// A note of the format about the block, such as its codec; 0 if there is nothing.
    #[serde(default)]
    pub note: u64,
    /// Numbers that the format has to know of the block besides, in an order of its own.
    #[serde(default)]
    pub numbers: Vec<i64>,
}

impl Task {
    /// All entries of a block that is decoded by itself, and as long as it is stored.
    #[must_use]
    pub fn of(group: u32, block: u64, entries: Range<u64>, stored: Stored) -> Self {
        let (wanted, payload_hint) = (entries.clone(), stored.len());
        let (needs, note, numbers) = (Vec::new(), 0, Vec::new());
        Self { group, block, entries, wanted, stored, payload_hint, needs, note, numbers }
    }
}

/// The place of a block's bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stored {
    /// In the file.
    Range(Range<u64>),
    /// In the metadata that were read already.
    Inline(Bytes),
    /// Nowhere: the metadata say a place that cannot be. Who reads the block gets this as its error, and
    /// other blocks can be read.
    Missing {
        /// Why, in clear.
        reason: String,
        /// The byte of the file that it is about.
        at: Option<u64>,
    },
}

impl Stored {
    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::Range(r) => r.end.saturating_sub(r.start),
            Self::Inline(b) => b.len() as u64,
            Self::Missing { .. } => 0,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Pick;

    #[test]
    fn repeated_fields_are_read_once() {
        assert_eq!(Pick::once(&[7, 3]), (vec![7, 3], vec![]));
        let (once, picks) = Pick::once(&[7, 3, 7, 9, 3]);
        assert_eq!(once, [7, 3, 9]);
        assert_eq!(picks.iter().map(|pick| pick.array).collect::<Vec<_>>(), [0, 1, 0, 2, 1]);
    }
}
