//! The descriptor of an ntuple: all that its header, footer and page lists say, as one value for users and tools.

use crate::coding::Stored;
use crate::ntuple::Ntuple;
use crate::pages::ColumnPages;
use crate::schema::{COLLECTION, Column, Field, PLAIN, RECORD, STREAMED, VARIANT};
use forthwith_plan::{Error, ErrorKind, Result};
use serde::Serialize;

/// What an ntuple's header, footer and page lists say, with the names of the specification ("RNTuple binary format"
/// 1.0, ROOT's `BinaryFormatSpecification.md`). Fields and columns are known by their positions in the lists.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Descriptor {
    /// Epoch, major, minor and patch of the format's version.
    pub version: [u16; 4],
    /// The program that wrote it.
    pub writer: String,
    /// Its description.
    pub description: String,
    /// The checksum of the header.
    pub header_checksum: u64,
    /// The checksum of the footer.
    pub footer_checksum: u64,
    /// The number of fields that the header describes; the footer adds those behind them.
    pub header_fields: usize,
    /// The number of columns that the header describes; the footer adds those behind them.
    pub header_columns: usize,
    /// Fields of all levels.
    pub fields: Vec<FieldDescriptor>,
    /// Columns of all representations.
    pub columns: Vec<ColumnDescriptor>,
    /// Columns of projected fields: the field, and the column that it shows.
    pub aliases: Vec<(u32, u32)>,
    /// Names of attribute sets.
    pub attribute_sets: Vec<String>,
    /// Groups of clusters: each has one page list.
    pub groups: Vec<GroupDescriptor>,
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldDescriptor {
    /// Its name.
    pub name: String,
    /// Its type, as it is written in the file.
    pub type_name: String,
    /// Another name of the type; empty if there is none.
    pub type_alias: String,
    /// Its description.
    pub description: String,
    /// The field that it is in.
    pub parent: Option<u32>,
    /// `plain`, `collection`, `record`, `variant` or `streamed`; anything else by its number.
    pub role: String,
    /// The version of its layout.
    pub version: u32,
    /// The number of values of an array of fixed size.
    pub repeats: Option<u64>,
    /// Whether its columns are those of another field.
    pub projected: bool,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnDescriptor {
    /// The field that it belongs to.
    pub field: u32,
    /// The type, such as `SplitReal32`; `unknown` if it is none of the specification's.
    #[serde(rename = "type")]
    pub kind: String,
    /// The number of the type.
    pub code: u16,
    /// Bits of an element as it is stored.
    pub bits: u16,
    /// The number of the representation that it is part of.
    pub representation: u16,
    /// The first element that is stored, where the column was added when there were entries already.
    pub first: Option<i64>,
    /// The least and the greatest value of quantised numbers.
    pub range: Option<(f64, f64)>,
}

/// A group of clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupDescriptor {
    /// The first entry.
    pub first: u64,
    /// The number of entries.
    pub entries: u64,
    /// Its clusters.
    pub clusters: Vec<ClusterDescriptor>,
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClusterDescriptor {
    /// The first entry.
    pub first: u64,
    /// The number of entries.
    pub entries: u64,
    /// The pages of each column that the cluster knows; none if the column is suppressed, since the cluster has another
    /// representation of it. Columns that were added later are not in the list.
    pub columns: Vec<Option<PagesDescriptor>>,
}

/// The pages of a column in a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PagesDescriptor {
    /// The number in the column of the first element.
    pub first: i64,
    /// The codec and its level, as ROOT writes it: 505 is zstd with level 5.
    pub compression: u32,
    /// Elements, position in the file, bytes as stored, and whether a checksum follows.
    pub pages: Vec<(u32, u64, u64, bool)>,
}

impl Descriptor {
    /// The same as JSON.
    ///
    /// # Errors
    /// None that a file could cause.
    pub fn to_json(&self) -> Result<String> {
        let invalid = |error: serde_json::Error| ErrorKind::Invalid { what: error.to_string() };
        Ok(serde_json::to_string(self).map_err(invalid)?)
    }
}

impl FieldDescriptor {
    fn of(field: &Field) -> Self {
        let role = match field.role {
            PLAIN => "plain".into(),
            COLLECTION => "collection".into(),
            RECORD => "record".into(),
            VARIANT => "variant".into(),
            STREAMED => "streamed".into(),
            other => other.to_string(),
        };
        Self {
            name: field.name.clone(),
            type_name: field.type_name.clone(),
            type_alias: field.alias.clone(),
            description: field.description.clone(),
            parent: field.parent,
            role,
            version: field.version,
            repeats: field.repeats,
            projected: field.is_projected(),
        }
    }
}

impl ColumnDescriptor {
    fn of(column: &Column) -> Self {
        Self {
            field: column.field,
            kind: Stored::type_name(column.kind).into(),
            code: column.kind,
            bits: column.bits,
            representation: column.representation,
            first: column.is_deferred().then_some(column.first),
            range: column.range,
        }
    }
}

impl PagesDescriptor {
    fn of(column: ColumnPages) -> Self {
        let pages = column.pages.iter();
        let pages =
            pages.map(|page| (page.elements, page.locator.position, page.locator.size, page.checksum));
        Self { first: column.first, compression: column.setting, pages: pages.collect() }
    }
}

impl Ntuple {
    /// All that the header, the footer and the page lists say. Page lists are read that have not been.
    ///
    /// # Errors
    /// A page list is damaged.
    pub fn descriptor(&self) -> Result<Descriptor> {
        self.described().map_err(|error| self.here_as_a_whole(error))
    }

    fn described(&self) -> Result<Descriptor> {
        let schema = self.schema();
        let mut groups = Vec::new();
        for group in self.groups() {
            let mut clusters = Vec::new();
            for at in self.clusters(&group.entries)? {
                let here = |error: Error| error.in_block(at.number).in_unit("cluster");
                let columns = 0..at.cluster.count;
                let pages = columns.map(|column| {
                    let found = at.list.column(at.cluster, column).map_err(here)?;
                    Ok(found.map(PagesDescriptor::of))
                });
                clusters.push(ClusterDescriptor {
                    first: at.cluster.entries.start,
                    entries: at.cluster.entries.end - at.cluster.entries.start,
                    columns: pages.collect::<Result<_>>()?,
                });
            }
            let entries = group.entries.end - group.entries.start;
            groups.push(GroupDescriptor { first: group.entries.start, entries, clusters });
        }
        Ok(Descriptor {
            version: self.anchor().version,
            writer: schema.writer.clone(),
            description: schema.description.clone(),
            header_checksum: self.header_hash()?,
            footer_checksum: self.footer_hash()?,
            header_fields: schema.first_fields,
            header_columns: schema.first_columns,
            fields: schema.fields.iter().map(FieldDescriptor::of).collect(),
            columns: schema.columns.iter().map(ColumnDescriptor::of).collect(),
            aliases: schema.aliases.clone(),
            attribute_sets: forthwith_plan::Dataset::attribute_sets(self),
            groups,
        })
    }
}
