//! Plans: the blocks to read and their decoders, as plain data.

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

/// The blocks and decoders that read some columns and entries of an object. A plan can be printed, counted,
/// divided, serialised and sent to another machine: it does not contain closures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Id of the [`BlockFormat`](crate::BlockFormat) that unframes the blocks.
    pub format: String,
    /// Name of the file.
    pub uri: String,
    /// Path of the object within the file.
    pub object: String,
    /// Further files with blocks, by the names that the file uses for them.
    /// [`Several`](https://docs.rs/forthwith-io/latest/forthwith_io/struct.Several.html) maps
    /// [`Stored::Range`] to them: they are its second and further sources.
    #[serde(default)]
    pub others: Vec<String>,
    /// The requested entries, or the range that contains the [selected](Self::chosen) ones.
    pub entries: Range<u64>,
    /// The delivered groups, one for each requested field (or one for all, if it is split), and then the
    /// groups that are only needed by others.
    pub groups: Vec<Group>,
    /// Number of delivered groups.
    pub delivered: u32,
    /// The blocks to decode, ordered by group, then by entry.
    pub tasks: Vec<Task>,
    /// Change of each array before delivery; empty if they are delivered unchanged.
    #[serde(default)]
    pub picks: Vec<Pick>,
    /// Whether the engine validates that text is UTF-8.
    #[serde(default)]
    pub utf8: bool,
    /// Conversion of text after reading.
    #[serde(default, skip_serializing_if = "is_default")]
    pub text: TextPolicy,
    /// Whether times are delivered as the integers that are stored.
    #[serde(default, skip_serializing_if = "is_default")]
    pub times_as_integers: bool,
    /// Whether the validity of option types is kept as a bitmap, as in Arrow, if the format has one. The
    /// index is then created on first access; otherwise it is created while blocks are decoded, in parallel.
    #[serde(default)]
    pub bits: bool,
    /// Whether validated text is read as Arrow's views, if the format can fill a [group](Group::views) with
    /// them. Offsets and bytes are created from the views on first use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub views: bool,
    /// Columns with a constant value, ordered by their positions among the arrays. They are inserted when the
    /// plan is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<PlannedConstant>,
    /// The entries to decode, in ascending order; `None` for all of the [range](Self::entries).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Arc<[u64]>>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Plan {
    /// Returns the number of stored bytes of all tasks.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.tasks.iter().map(|t| t.stored.len()).fold(0, u64::saturating_add)
    }

    /// Converts a range that a task counts, `task.entries` or `task.wanted`, to entries of this plan. If a
    /// group [counts items](Group::items), an entry that is continued in the next block belongs to both
    /// ranges.
    #[must_use]
    pub fn entries_of(&self, task: &Task, counted: &Range<u64>) -> Range<u64> {
        let Some(group) = self.groups.get(task.group as usize) else { return self.entries.clone() };
        let Some(items) = &group.items else { return counted.clone() };
        if group.joins {
            // Groups of lists have the entries of the first group of the field, which knows the entries of a
            // block.
            let own = self.groups.iter().take(task.group as usize).rposition(|group| !group.joins);
            let blocks = self
                .tasks
                .iter()
                .filter(|other| own == Some(other.group as usize) && other.block == task.block);
            let ranges = blocks.map(|block| self.entries_of(block, &block.wanted));
            let all = ranges.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
            return all.unwrap_or_else(|| self.entries.clone());
        }
        // Each entry has the same number of items.
        let count = self.entries.end.saturating_sub(self.entries.start);
        let each = items.end.saturating_sub(items.start).checked_div(count).filter(|each| *each > 0);
        let Some(each) = each else { return self.entries.clone() };
        let start = counted.start.max(items.start) - items.start;
        let end = counted.end.clamp(items.start, items.end) - items.start;
        let entry = |items: u64| (self.entries.start + items).min(self.entries.end);
        entry(start / each)..entry(end.div_ceil(each))
    }

    /// Returns the paths of the fields of the plan's first `arrays` arrays, for messages.
    #[must_use]
    pub fn paths(&self, arrays: usize) -> Vec<String> {
        let groups: Vec<&Group> = self.groups.iter().filter(|group| !group.joins).collect();
        (0..arrays).map(|array| self.path(array, &groups)).collect()
    }

    /// Returns the path of an array. `groups` are the groups that are not joined to others.
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

/// Selection of a field from an array of records ([`pick`](forthwith_columns::Array::pick)), whose lists are
/// then made [regular](forthwith_columns::Array::regular).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pick {
    /// Index of the array with the records.
    pub array: u32,
    /// Names of nested fields; empty for the array itself.
    pub path: Vec<String>,
    /// Keys of list nodes in the selected field, and the length of each of their lists.
    #[serde(default)]
    pub lists: Vec<(String, u64)>,
}

impl Pick {
    /// Removes repeated fields, and returns the distinct ones with a pick of each original field from them;
    /// no picks if all are distinct.
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

/// Columns that are filled by the same blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Path of the field.
    pub path: String,
    /// Decoder of the blocks.
    pub decoder: Decoder,
    /// Short explanation of the choice of decoder.
    pub reason: String,
    /// Type of the array that the columns form.
    pub form: Form,
    /// The columns, in the order in which the decoder writes them.
    pub columns: Vec<ColumnSpec>,
    /// Index of the group whose single column has the lengths of this group's lists, if blocks have no entry
    /// bounds.
    pub counter: Option<u32>,
    /// Whether the fields of the record type `form` are delivered as separate arrays instead of the record.
    #[serde(default)]
    pub split: bool,
    /// Whether the array of this group is [joined](forthwith_columns::Array::join) to that of the previous
    /// group.
    #[serde(default)]
    pub joins: bool,
    /// Range of list items, if tasks count items instead of entries. The numbers are meaningful in this plan
    /// only.
    #[serde(default)]
    pub items: Option<Range<u64>>,
    /// Index of the column of text offsets that the format can fill with views. The next column has the bytes
    /// of the text.
    #[serde(default, skip_serializing_if = "is_default")]
    pub views: Option<u32>,
}

impl Group {
    /// Creates the group of a single field with these columns.
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
    /// Name of the buffer, such as `node0-offsets`.
    pub key: String,
    /// Element type; int64 for offsets.
    pub dtype: DType,
    /// Whether the items are offsets, which start with an additional zero and are shifted when blocks are
    /// appended.
    pub offsets: bool,
    /// Member path, for errors.
    pub member: String,
    /// Upper bound on the bytes of the column per byte of payload, for the reservation of memory. 0 means at
    /// most one item per entry.
    pub bytes_per_payload_byte: u32,
}

/// Decoder of the payload of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Decoder {
    /// Columnar layout: items are copied, byte-swapped or unpacked, and offsets are computed from entry
    /// bounds.
    Kernel(Kernel),
    /// Record-oriented layout: a program is run by the Forth machine.
    Program(Arc<Program>),
    /// The format [decodes](crate::BlockFormat::decode) its blocks by this description.
    Format(Arc<str>),
}

impl Decoder {
    /// Returns the name of the variant: `"kernel"`, `"program"` or `"format"`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Kernel(_) => "kernel",
            Self::Program(_) => "program",
            Self::Format(_) => "format",
        }
    }
}

/// Decoder of a field, and the resulting type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Type of the array that the columns form.
    pub form: Form,
    /// Decoder of the blocks.
    pub decoder: Decoder,
    /// Short explanation of the choice of decoder.
    pub reason: String,
}

impl Reading {
    /// Creates the reading of a field by a program.
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
    /// Each entry is `per_entry` contiguous values. Fills one data column.
    Flat {
        /// Encoding of the values.
        wire: Encoding,
        /// Number of values in an entry, at least 1.
        per_entry: u64,
    },
    /// Each entry is `size` bytes with values at fixed positions. Fills one data column for each slot.
    Slots {
        /// Length of an entry in bytes.
        size: u64,
        /// The positions of the values.
        slots: Vec<Slot>,
    },
    /// Each entry is `header` bytes that are skipped, and any number of items of `per_item` values. Fills the
    /// offsets and then the data column.
    Jagged {
        /// Number of bytes before the first item of an entry.
        header: u32,
        /// Encoding of the values.
        wire: Encoding,
        /// Number of values in an item, at least 1.
        per_item: u64,
    },
}

impl Kernel {
    /// Returns the length of an entry in bytes and the positions of its values; `None` if entries differ in
    /// length.
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

/// Values at a fixed position in each entry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// Byte offset in the entry.
    pub at: u64,
    /// Encoding of the values.
    pub wire: Encoding,
    /// Number of values, at least 1.
    pub count: u64,
}

/// One block to read and decode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Index in [`Plan::groups`].
    pub group: u32,
    /// Number of the block within its field, for errors.
    pub block: u64,
    /// Entries of the block, by the metadata.
    pub entries: Range<u64>,
    /// Entries to decode, a non-empty range inside `entries`. If some are [selected](Plan::chosen), the range
    /// from the first to the last of these.
    pub wanted: Range<u64>,
    /// The stored bytes of the block.
    pub stored: Stored,
    /// Decompressed length in bytes by the metadata. It is used for the order of work and is not trusted.
    pub payload_hint: u64,
    /// Indices of groups that have to be complete before this task is decoded.
    pub needs: Vec<u32>,
    /// A number of the format for the block, such as its codec; 0 if unused.
    #[serde(default)]
    pub note: u64,
    /// Further numbers that the format needs to decode the block, in an order of its own.
    #[serde(default)]
    pub numbers: Vec<i64>,
}

impl Task {
    /// Creates a task for all entries of an uncompressed block that does not depend on other groups.
    #[must_use]
    pub fn of(group: u32, block: u64, entries: Range<u64>, stored: Stored) -> Self {
        let (wanted, payload_hint) = (entries.clone(), stored.len());
        let (needs, note, numbers) = (Vec::new(), 0, Vec::new());
        Self { group, block, entries, wanted, stored, payload_hint, needs, note, numbers }
    }
}

/// Location of the bytes of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stored {
    /// A byte range of the file.
    Range(Range<u64>),
    /// Bytes that are part of the metadata.
    Inline(Bytes),
    /// The metadata give an impossible location. Reading this block is an error, but other blocks can be
    /// read.
    Missing {
        /// Description of the problem.
        reason: String,
        /// Byte offset in the file to which it refers.
        at: Option<u64>,
    },
}

impl Stored {
    /// Returns the number of bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::Range(r) => r.end.saturating_sub(r.start),
            Self::Inline(b) => b.len() as u64,
            Self::Missing { .. } => 0,
        }
    }

    /// Whether the block has no bytes.
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
