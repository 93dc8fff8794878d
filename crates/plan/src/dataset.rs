//! The trait of an opened table: fields, and on request a plan.

use crate::{Error, FriendName, Limits, Plan, Reading, Result, TableIndex, Task};
use forthwith_columns::{Array, Form, arrow::SchemaRef};
use serde::{Deserialize, Serialize};
use std::{any::Any, ops::Range, sync::Arc};

/// One named column, or a group of columns, as the file's metadata give it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The path from the dataset's root, joined by `/`; unique unless the file repeats a name.
    pub path: String,
    /// The field's own name: the last part of the path, as the file spells it (it may contain `/`).
    pub name: String,
    /// The file's description of the field.
    pub title: String,
    /// Position of the parent in [`Dataset::fields`], if it is not at the top.
    pub parent: Option<u32>,
    /// Whether there are fields below this one.
    pub has_children: bool,
    /// Whether the field has data of its own, rather than only grouping others.
    pub has_data: bool,
    /// Whether the field is part of its parent's data: read only when requested by path, and not among "all
    /// fields".
    #[serde(default)]
    pub is_part: bool,
}

impl Field {
    /// A field at the top that has no others below it.
    #[must_use]
    pub fn named(name: &str, title: &str) -> Self {
        Self {
            path: name.to_owned(),
            name: name.to_owned(),
            title: title.to_owned(),
            parent: None,
            has_children: false,
            has_data: true,
            is_part: false,
        }
    }
}

/// How a field is read, or the reason why it cannot be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The type as the file's schema says: `std::vector<float>`, `int32_t[nMuon]`, `char*`.
    pub type_name: String,
    /// The Form and the decoder, or what is not supported.
    pub reading: std::result::Result<Reading, String>,
    /// Entries the field has of its own; a branch may be shorter than its tree.
    pub entries: u64,
    /// Blocks (baskets) that hold them.
    pub blocks: u64,
    /// Bytes as stored, framing included.
    pub stored_bytes: u64,
    /// Bytes when decompressed, by the file's own account; 0 if it does not say.
    pub payload_bytes: u64,
}

/// The Form and the size of a field, without its decoder: for types and estimates.
#[derive(Clone, Debug, PartialEq)]
pub struct Extent {
    /// The Form, or the unsupported part of the type.
    pub form: std::result::Result<Form, String>,
    /// Entries the field has of its own, as far as they are counted.
    pub entries: u64,
    /// Bytes when decompressed, or as stored if these are more or the file does not say.
    pub bytes: u64,
}

impl From<Description> for Extent {
    fn from(description: Description) -> Self {
        let bytes = description.payload_bytes.max(description.stored_bytes);
        Self { form: description.reading.map(|reading| reading.form), entries: description.entries, bytes }
    }
}

/// An opened table: metadata only, parsed lazily.
///
/// `Any` is for the rooms of one format, which look at the format's own type behind the trait.
pub trait Dataset: Any + Send + Sync {
    /// The id of the [`BlockFormat`](crate::BlockFormat) that understands the plan's tasks.
    fn format(&self) -> &'static str;

    /// The object's path within the file, such as `dir/tree`.
    fn object(&self) -> &str;

    /// Number of entries. Where nothing but the blocks themselves says it, all of them are looked for.
    ///
    /// # Errors
    /// When the metadata are damaged.
    fn entries(&self) -> Result<u64>;

    /// The number of entries, or `most` if there are more: no more is looked for than it takes to know.
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    fn entries_up_to(&self, most: u64) -> Result<u64> {
        Ok(self.entries()?.min(most))
    }

    /// Whether entries are counted by looking at one block after another, so that nothing should ask for more
    /// of them than it takes. Otherwise the metadata say how many there are.
    fn counts_blocks(&self) -> bool {
        false
    }

    /// Whether the entries arrive while the table is read, so that waiting for more of them than are needed would delay
    /// the present ones. Such a table [counts blocks](Self::counts_blocks).
    fn is_stream(&self) -> bool {
        false
    }

    /// Allows a stream to drop its blocks of entries before this one, which will not be read again.
    ///
    /// # Errors
    /// The stream is read by another process.
    fn release(&self, before: u64) -> Result<()> {
        let _ = before;
        Ok(())
    }

    /// The number of entries counted so far: all of them, unless the dataset [counts
    /// blocks](Self::counts_blocks).
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    fn entries_counted(&self) -> Result<u64> {
        self.entries()
    }

    /// The number of entries, by an estimate from those counted so far; exact where all were.
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    fn likely_entries(&self) -> Result<u64> {
        self.entries()
    }

    /// Whether an entry is a record, whose fields are those of the dataset. Otherwise the only field is the
    /// entry itself.
    fn is_record(&self) -> bool {
        true
    }

    /// The entries a field has of its own: it may begin later or end earlier than the table. A dataset that
    /// [counts blocks](Self::counts_blocks) counts no further than `most`.
    ///
    /// # Errors
    /// When the metadata are damaged, or there is no such field.
    fn entry_range(&self, field: u32, most: u64) -> Result<Range<u64>> {
        let _ = most;
        self.describe(field)?;
        Ok(0..self.entries()?)
    }

    /// All fields in file order, parents before their children.
    ///
    /// # Errors
    /// When the metadata are damaged.
    fn fields(&self) -> Result<&[Field]>;

    /// How one field is read. Resolved on request, so that unwanted fields of a wide table cost nothing.
    ///
    /// # Errors
    /// When the metadata are damaged; a field that is merely not supported is a [`Description`] that says so.
    fn describe(&self, field: u32) -> Result<Description>;

    /// Describes a field like [`describe`](Self::describe). Where counting would mean to look for all blocks,
    /// it may stop after the first `entries` entries.
    ///
    /// # Errors
    /// As [`describe`](Self::describe).
    fn describe_first(&self, field: u32, entries: u64) -> Result<Description> {
        let _ = entries;
        self.describe(field)
    }

    /// Forms and sizes of several fields; entries are counted as in [`describe_first`](Self::describe_first). Datasets whose
    /// fields share a decoder make it once for all of them.
    ///
    /// # Errors
    /// As [`describe`](Self::describe).
    fn extents(&self, fields: &[u32], entries: u64) -> Result<Vec<Extent>> {
        fields.iter().map(|field| Ok(self.describe_first(*field, entries)?.into())).collect()
    }

    /// The tasks that deliver the given fields for a range of entries. One group is made for each field, in
    /// the order given; groups that others need (counters) follow them.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) naming the type of a field that cannot be
    /// read; [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) when a field has fewer entries than asked for.
    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan>;

    /// Entry numbers at which blocks of any of the fields begin or end within the range, ascending, both ends
    /// included: the places where cutting costs nothing.
    ///
    /// # Errors
    /// When the metadata are damaged.
    fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>>;

    /// The number of values of a field in all entries, items of lists each, if the file says it and it is one column.
    ///
    /// # Errors
    /// No such field.
    fn values(&self, field: u32) -> Result<Option<u64>> {
        let _ = field;
        Ok(None)
    }

    /// Names of the codecs of a field's blocks, with their levels where the metadata have them; none where they do not say.
    ///
    /// # Errors
    /// When the metadata are damaged, or the field does not exist.
    fn codecs(&self, field: u32) -> Result<Vec<String>> {
        let _ = field;
        Ok(Vec::new())
    }

    /// Returns whether the metadata say that an optional field has no missing values, so that its array needs
    /// no index buffer. Used for size estimates and for blocks in which a cut holds by their statistics;
    /// decoding does not rely on it.
    ///
    /// # Errors
    /// No such field.
    fn is_complete(&self, field: u32) -> Result<bool> {
        let _ = field;
        Ok(false)
    }

    /// Statistics of the values of a field in the blocks that have some of the entries, in order. Blocks
    /// without statistics are left out.
    ///
    /// # Errors
    /// No such field.
    fn limits(&self, field: u32, entries: Range<u64>) -> Result<Vec<Limits>> {
        let _ = (field, entries);
        Ok(Vec::new())
    }

    /// Statistics like those of [`limits`](Self::limits) for parts of blocks, such as pages. May read more of
    /// the file than its metadata.
    ///
    /// # Errors
    /// No such field; the file cannot be read.
    fn finer_limits(&self, field: u32, entries: Range<u64>) -> Result<Vec<Limits>> {
        let _ = (field, entries);
        Ok(Vec::new())
    }

    /// Names that the file has for expressions, and these in TTreeFormula's spelling.
    ///
    /// # Errors
    /// When the metadata are damaged.
    fn aliases(&self) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    /// The tables whose entries belong to those of this one, as the file names them.
    ///
    /// # Errors
    /// When the metadata are damaged.
    fn friends(&self) -> Result<Vec<FriendName>> {
        Ok(Vec::new())
    }

    /// The numbers by which entries of this table are found from another one, if the file has such an index.
    ///
    /// # Errors
    /// When the metadata are damaged, or the index is of a kind that is not known.
    fn index(&self) -> Result<Option<TableIndex>> {
        Ok(None)
    }

    /// Names of tables whose rows say something of ranges of entries of this one. Such a table is an object of
    /// the file, with the path of this one, `@` and its name.
    fn attribute_sets(&self) -> Vec<String> {
        Vec::new()
    }

    /// The Arrow schema that the table was written from, if the file has it: metadata of fields, and dictionaries, which
    /// the columns here do not have.
    fn arrow_schema(&self) -> Option<SchemaRef> {
        None
    }

    /// The distinct texts of a field in the order of the categories that they were written from, if the file has them.
    ///
    /// # Errors
    /// No such field; the file cannot be read.
    fn dictionary(&self, field: u32) -> Result<Option<Array>> {
        let _ = field;
        Ok(None)
    }

    /// The fields, by path, that have timestamps in a zone.
    fn zones(&self) -> Vec<(String, Form)> {
        Vec::new()
    }

    /// The table with its timestamps shown in the [zones](Self::zones) of another one, and in UTC where that has none.
    /// `None` where no other zone can be shown.
    fn in_zones_of(&self, zones: &[(String, Form)]) -> Option<Arc<dyn Dataset>> {
        let _ = zones;
        None
    }

    /// Plans that read again what a plan, or one task of it, could not read: more slowly, with an error that
    /// says precisely where the damage is. None (the default) where the plan's own errors say that already.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    fn locate_damage(&self, plan: &Plan, task: Option<&Task>) -> Result<Vec<Plan>> {
        let _ = (plan, task);
        Ok(Vec::new())
    }
}

/// Refuses a range of entries that a table of `all` entries does not have.
///
/// # Errors
/// It ends before it begins, or behind the last entry.
pub fn check_entries(entries: &Range<u64>, all: u64) -> Result<()> {
    if entries.start > entries.end || entries.end > all {
        let what = format!("entries {} to {}, of a table that has {all}", entries.start, entries.end);
        return Err(Error::invalid(what));
    }
    Ok(())
}

/// The [boundaries](Dataset::boundaries) of a range of entries whose columns all have the same blocks.
#[must_use]
pub fn cuts(entries: &Range<u64>, blocks: impl IntoIterator<Item = Range<u64>>) -> Vec<u64> {
    let ends = blocks.into_iter().flat_map(|block| [block.start, block.end]);
    let mut found: Vec<u64> = ends.filter(|at| entries.contains(at)).collect();
    found.extend([entries.start, entries.end]);
    found.sort_unstable();
    found.dedup();
    found
}
