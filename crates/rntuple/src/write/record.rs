//! Records of fields and columns, as in headers and schema extensions.

use super::frame::{Frames, RawList};
use crate::coding::Kind;
use crate::schema::flags::{DEFERRED, PROJECTED, RANGE, REPEATS};
use crate::schema::{COLLECTION, PLAIN};
use forthwith_columns::DType;
use forthwith_root::write::Compression;

/// A field.
#[derive(Clone, Debug)]
pub(crate) struct FieldRecord {
    pub(crate) parent: u32,
    pub(crate) role: u16,
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) description: String,
    /// Number of values in each value of the parent.
    pub(crate) repeats: Option<u64>,
    /// Field that it projects.
    pub(crate) source: Option<u32>,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnRecord {
    /// Type, and its code in files.
    pub(crate) kind: Kind,
    pub(crate) code: u16,
    pub(crate) bits: u16,
    pub(crate) field: u32,
    /// Index of its first element, if earlier ones have no pages.
    pub(crate) first: Option<u64>,
    /// Type of floats that are stored with fewer bits.
    pub(crate) from: Option<DType>,
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) compression: Compression,
}

/// Alias column: a column that a projected field shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AliasRecord {
    pub(crate) column: u32,
    pub(crate) field: u32,
}

/// Fields and columns of a header or schema extension.
#[derive(Clone, Debug, Default)]
pub(crate) struct Descriptions {
    pub(crate) fields: Vec<FieldRecord>,
    pub(crate) columns: Vec<ColumnRecord>,
    pub(crate) aliases: Vec<AliasRecord>,
}

/// Number of fields, columns and aliases before an extension.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) fields: usize,
    pub(crate) columns: usize,
    pub(crate) aliases: usize,
}

impl Descriptions {
    pub(crate) fn counts(&self) -> Counts {
        Counts { fields: self.fields.len(), columns: self.columns.len(), aliases: self.aliases.len() }
    }

    /// Writes the four lists of records after `from`, each preceded by the existing records.
    pub(crate) fn write(&self, from: Counts, before: &[RawList; 4], frames: &mut Frames) {
        let [fields, columns, aliases, classes] = before;
        frames.list_behind(fields, &self.fields[from.fields..], |frames, field| {
            frames.record(|f| field.write(f))
        });
        frames.list_behind(columns, &self.columns[from.columns..], |frames, column| {
            frames.record(|f| column.write(f))
        });
        frames.list_behind(aliases, &self.aliases[from.aliases..], |frames, alias| {
            frames.record(|frames| {
                frames.u32(alias.column);
                frames.u32(alias.field);
            });
        });
        // No streamed fields are written, hence no streamer infos.
        frames.list_behind::<()>(classes, &[], |_, ()| ());
    }

    /// Returns the columns of a field.
    pub(crate) fn columns_of(&self, field: u32) -> impl Iterator<Item = u32> {
        (0..).zip(&self.columns).filter(move |(_, column)| column.field == field).map(|(at, _)| at)
    }

    /// Returns the path of a field. Items of lists have the path of these.
    pub(crate) fn path(&self, field: u32) -> String {
        let mut names = Vec::new();
        let mut at = Some(field);
        while let Some(id) = at {
            let of = self.fields.get(id as usize);
            at = of.map(|of| of.parent).filter(|parent| *parent < id);
            let above = at.and_then(|parent| self.fields.get(parent as usize));
            let is_item = above.is_some_and(|above| matches!(above.role, COLLECTION | PLAIN));
            names.extend(of.filter(|_| !is_item).map(|of| &*of.name));
        }
        names.reverse();
        names.join("/")
    }

    /// Returns the children of a field, in order.
    pub(crate) fn children(&self, field: u32) -> Vec<u32> {
        let below = (0..).zip(&self.fields).filter(|(at, of)| of.parent == field && *at != field);
        below.map(|(at, _)| at).collect()
    }
}

impl FieldRecord {
    fn write(&self, frames: &mut Frames) {
        // The versions of the field and of its type, which are 0 for built-in types.
        frames.u32(0);
        frames.u32(0);
        frames.u32(self.parent);
        frames.u16(self.role);
        let flag = |is: bool, flag: u16| if is { flag } else { 0 };
        frames.u16(flag(self.repeats.is_some(), REPEATS) | flag(self.source.is_some(), PROJECTED));
        frames.text(&self.name);
        frames.text(&self.type_name);
        // The type alias.
        frames.text("");
        frames.text(&self.description);
        if let Some(count) = self.repeats {
            frames.u64(count);
        }
        if let Some(source) = self.source {
            frames.u32(source);
        }
    }
}

impl ColumnRecord {
    fn write(&self, frames: &mut Frames) {
        frames.u16(self.code);
        frames.u16(self.bits);
        frames.u32(self.field);
        let flag = |is: bool, flag: u16| if is { flag } else { 0 };
        frames.u16(flag(self.first.is_some(), DEFERRED) | flag(self.range.is_some(), RANGE));
        // The representation, which is the only one.
        frames.u16(0);
        if let Some(first) = self.first {
            frames.u64(first);
        }
        if let Some((low, high)) = self.range {
            frames.u64(low.to_bits());
            frames.u64(high.to_bits());
        }
    }
}
