//! Fields and columns, as the header describes them and the footer adds to them.

use crate::frame::Reader;
use forthwith_plan::{ErrorKind, Result};
use std::ops::Range;

/// What an ntuple consists of. Fields and columns are known by their positions.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    pub(crate) description: String,
    pub(crate) writer: String,
    pub(crate) fields: Vec<Field>,
    pub(crate) columns: Vec<Column>,
    /// Of each projected field's column the physical one, as a pair with the field before it.
    pub(crate) aliases: Vec<(u32, u32)>,
    /// The lists of streamer infos of the classes of streamed fields.
    pub(crate) streamers: Vec<Vec<u8>>,
    /// Columns that the header has; those behind them were added by the footer.
    pub(crate) first_columns: usize,
    children: Grouped,
    columns_of: Grouped,
    aliases_of: Grouped,
}

/// A field record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) version: u32,
    pub(crate) parent: Option<u32>,
    pub(crate) role: u16,
    pub(crate) flags: u16,
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) alias: String,
    pub(crate) description: String,
    /// How many of it there are in each parent.
    pub(crate) repeats: Option<u64>,
}

/// A column record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) kind: u16,
    pub(crate) bits: u16,
    pub(crate) field: u32,
    pub(crate) flags: u16,
    pub(crate) representation: u16,
    pub(crate) range: Option<(f64, f64)>,
}

pub(crate) const PLAIN: u16 = 0;
pub(crate) const COLLECTION: u16 = 1;
pub(crate) const RECORD: u16 = 2;
pub(crate) const VARIANT: u16 = 3;
pub(crate) const STREAMED: u16 = 4;

const REPEATS: u16 = 1;
const PROJECTED: u16 = 2;
const CHECKSUM: u16 = 4;
const DEFERRED: u16 = 1;
const RANGE: u16 = 2;

/// Fields within fields.
const DEEPEST: u32 = 100;

impl Field {
    pub(crate) const fn is_projected(&self) -> bool {
        self.flags & PROJECTED != 0
    }
}

impl Column {
    pub(crate) const fn is_deferred(&self) -> bool {
        self.flags & DEFERRED != 0
    }
}

impl Schema {
    /// Reads the body of a header.
    pub(crate) fn parse(body: &mut Reader<'_>) -> Result<Self> {
        body.features()?;
        // Its name, which the anchor has as well.
        body.text("the name")?;
        let mut schema = Self {
            description: body.text("the description")?,
            writer: body.text("the writer's name")?,
            ..Self::default()
        };
        schema.extend(body)?;
        schema.first_columns = schema.columns.len();
        Ok(schema)
    }

    /// Reads four lists of descriptions, and adds what they describe.
    pub(crate) fn extend(&mut self, from: &mut Reader<'_>) -> Result<()> {
        let mut fields = from.list("the fields", 8)?;
        for _ in 0..fields.items {
            let mut record = fields.rest.record("a field")?;
            let id = u32::try_from(self.fields.len()).unwrap_or(u32::MAX);
            let field = Field::parse(&mut record, id)?;
            self.fields.push(field);
        }
        let mut columns = from.list("the columns", 8)?;
        for _ in 0..columns.items {
            let begin = columns.rest;
            let column = Column::parse(&mut columns.rest.record("a column")?)?;
            self.known(&begin, "the field of a column", column.field, self.fields.len())?;
            self.columns.push(column);
        }
        let mut aliases = from.list("the alias columns", 8)?;
        for _ in 0..aliases.items {
            let begin = aliases.rest;
            let mut record = aliases.rest.record("an alias column")?;
            let (column, field) = (record.u32("an alias column")?, record.u32("an alias column")?);
            self.known(&begin, "the column of an alias", column, self.columns.len())?;
            self.known(&begin, "the field of an alias", field, self.fields.len())?;
            self.aliases.push((field, column));
        }
        let mut extra = from.list("the extra type information", 8)?;
        for _ in 0..extra.items {
            let mut record = extra.rest.record("extra type information")?;
            let content = record.u32("extra type information")?;
            record.u32("extra type information")?;
            record.text("extra type information")?;
            if content == 0 {
                self.streamers.push(record.blob("extra type information")?.to_vec());
            }
        }
        self.group(from)
    }

    /// Children of a field in their order, or the fields at the top.
    pub(crate) fn children(&self, field: Option<u32>) -> &[u32] {
        self.children.of(field.map_or(0, |field| field as usize + 1))
    }

    /// Physical columns of a field: of the first representation, then of the next.
    pub(crate) fn columns_of(&self, field: u32) -> &[u32] {
        self.columns_of.of(field as usize)
    }

    /// Physical columns behind the alias columns of a projected field.
    pub(crate) fn aliases_of(&self, field: u32) -> &[u32] {
        self.aliases_of.of(field as usize)
    }

    fn known(&self, at: &Reader<'_>, what: &'static str, found: u32, count: usize) -> Result<()> {
        if (found as usize) < count {
            return Ok(());
        }
        let limit = count as i64 - 1;
        Err(at.error(ErrorKind::OutOfRange { what, found: found.into(), limit }))
    }

    fn group(&mut self, at: &Reader<'_>) -> Result<()> {
        let mut depths: Vec<u32> = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            // Parents stand before their children.
            let depth =
                field.parent.and_then(|parent| depths.get(parent as usize)).map_or(0, |depth| depth + 1);
            if depth > DEEPEST {
                let what = format!("fields more than {DEEPEST} deep ({})", field.name);
                return Err(at.error(ErrorKind::Unsupported { what }));
            }
            depths.push(depth);
        }
        let count = self.fields.len();
        let above = self.fields.iter().map(|field| field.parent.map_or(0, |parent| parent as usize + 1));
        self.children = Grouped::new(count + 1, above);
        self.columns_of = Grouped::new(count, self.columns.iter().map(|column| column.field as usize));
        let of = self.aliases.iter().map(|(field, _)| *field as usize);
        self.aliases_of = Grouped::new(count, of);
        for at in &mut self.aliases_of.items {
            *at = self.aliases.get(*at as usize).map_or(*at, |(_, column)| *column);
        }
        Ok(())
    }
}

impl Field {
    fn parse(record: &mut Reader<'_>, id: u32) -> Result<Self> {
        let begin = *record;
        let what = "a field";
        let version = record.u32(what)?;
        record.u32(what)?;
        let parent = record.u32(what)?;
        if parent > id {
            let (what, found, limit) = ("the parent of a field", i64::from(parent), i64::from(id));
            return Err(begin.error(ErrorKind::OutOfRange { what, found, limit }));
        }
        let (role, flags) = (record.u16(what)?, record.u16(what)?);
        let mut text = || record.text(what);
        let (name, type_name, alias, description) = (text()?, text()?, text()?, text()?);
        let repeats = if flags & REPEATS != 0 { Some(record.u64(what)?) } else { None };
        if flags & PROJECTED != 0 {
            record.u32(what)?;
        }
        if flags & CHECKSUM != 0 {
            record.u32(what)?;
        }
        let parent = (parent != id).then_some(parent);
        Ok(Self { version, parent, role, flags, name, type_name, alias, description, repeats })
    }
}

impl Column {
    fn parse(record: &mut Reader<'_>) -> Result<Self> {
        let what = "a column";
        let (kind, bits, field) = (record.u16(what)?, record.u16(what)?, record.u32(what)?);
        let (flags, representation) = (record.u16(what)?, record.u16(what)?);
        if flags & DEFERRED != 0 {
            // Where the first element is follows from the pages.
            record.i64(what)?;
        }
        let range = if flags & RANGE != 0 { Some((record.f64(what)?, record.f64(what)?)) } else { None };
        Ok(Self { kind, bits, field, flags, representation, range })
    }
}

/// Numbers in groups.
#[derive(Debug, Default)]
struct Grouped {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Grouped {
    /// The positions in `keys` by their keys, all of which are below `groups`.
    fn new(groups: usize, keys: impl Iterator<Item = usize> + Clone) -> Self {
        let mut ends = vec![0u32; groups];
        keys.clone().for_each(|key| ends[key] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut items = vec![0; sum as usize];
        for (at, key) in (0..).zip(keys) {
            items[ends[key] as usize] = at;
            ends[key] += 1;
        }
        Self { ends, items }
    }

    fn of(&self, group: usize) -> &[u32] {
        let end = |group: usize| self.ends.get(group).map_or(0, |end| *end as usize);
        let range: Range<usize> = group.checked_sub(1).map_or(0, end)..end(group);
        self.items.get(range).unwrap_or_default()
    }
}
