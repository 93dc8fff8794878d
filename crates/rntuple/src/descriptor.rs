//! The descriptor of an ntuple: all of its header, footer and page lists, as one value for users and tools.

use crate::coding::Stored;
use crate::ntuple::Ntuple;
use crate::pages::ColumnPages;
use crate::schema::{COLLECTION, Column, Field, PLAIN, RECORD, STREAMED, VARIANT};
use forthwith_plan::{Error, ErrorKind, Result};
use serde::Serialize;

/// Contents of an ntuple's header, footer and page lists, with the names of the specification ("RNTuple
/// binary format" 1.0, ROOT's `BinaryFormatSpecification.md`). Fields and columns are referred to by their
/// positions in the lists.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Descriptor {
    /// Version of the format: epoch, major, minor, patch.
    pub version: [u16; 4],
    /// Name of the program that wrote the ntuple.
    pub writer: String,
    /// Description of the ntuple.
    pub description: String,
    /// Checksum of the header.
    pub header_checksum: u64,
    /// Checksum of the footer.
    pub footer_checksum: u64,
    /// Number of fields in the header. The fields after them are in the footer.
    pub header_fields: usize,
    /// Number of columns in the header. The columns after them are in the footer.
    pub header_columns: usize,
    /// Fields of all levels.
    pub fields: Vec<FieldDescriptor>,
    /// Columns of all representations.
    pub columns: Vec<ColumnDescriptor>,
    /// Columns of projected fields: the field, and its physical column.
    pub aliases: Vec<(u32, u32)>,
    /// Names of attribute sets.
    pub attribute_sets: Vec<String>,
    /// Cluster groups, each of which has a page list.
    pub groups: Vec<GroupDescriptor>,
}

/// Description of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldDescriptor {
    /// Name of the field.
    pub name: String,
    /// Name of the type, as in the file.
    pub type_name: String,
    /// Alias of the type; empty if there is none.
    pub type_alias: String,
    /// Description of the field.
    pub description: String,
    /// Parent field.
    pub parent: Option<u32>,
    /// Structural role: `plain`, `collection`, `record`, `variant` or `streamed`; others by number.
    pub role: String,
    /// Version of the field.
    pub version: u32,
    /// Number of values of an array of fixed size.
    pub repeats: Option<u64>,
    /// Whether the field is projected, so that its columns are those of another field.
    pub projected: bool,
}

/// Description of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnDescriptor {
    /// Field of the column.
    pub field: u32,
    /// Type, such as `SplitReal32`; `unknown` if it is not in the specification.
    #[serde(rename = "type")]
    pub kind: String,
    /// Code of the type.
    pub code: u16,
    /// Bits of an element as stored.
    pub bits: u16,
    /// Index of its representation.
    pub representation: u16,
    /// Index of the first stored element, if the column is deferred.
    pub first: Option<i64>,
    /// Minimum and maximum of quantised numbers.
    pub range: Option<(f64, f64)>,
}

/// Group of clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupDescriptor {
    /// First entry.
    pub first: u64,
    /// Number of entries.
    pub entries: u64,
    /// Clusters of the group.
    pub clusters: Vec<ClusterDescriptor>,
}

/// Cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClusterDescriptor {
    /// First entry.
    pub first: u64,
    /// Number of entries.
    pub entries: u64,
    /// Pages of each column in the cluster's page list, or `None` if the column is suppressed, as the cluster
    /// has another representation of it. Columns that were added later are not in the list.
    pub columns: Vec<Option<PagesDescriptor>>,
}

/// Pages of a column in a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PagesDescriptor {
    /// Index of the first element in the column.
    pub first: i64,
    /// Compression setting of ROOT: 505 is zstd with level 5.
    pub compression: u32,
    /// For each page its number of elements, position in the file, stored size, and whether a checksum
    /// follows.
    pub pages: Vec<(u32, u64, u64, bool)>,
}

impl Descriptor {
    /// Returns the descriptor as JSON.
    ///
    /// # Errors
    /// Returns an error if serialization fails, which no file can cause.
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
    /// Returns the contents of header, footer and page lists. Reads page lists that have not been read.
    ///
    /// # Errors
    /// Returns an error if a page list is damaged.
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
