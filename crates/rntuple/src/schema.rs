//! Fields and columns, as described by the header and extended by the footer.

use crate::frame::Reader;
use bytes::Bytes;
use flags::{CHECKSUM, DEFERRED, PROJECTED, RANGE, REPEATS};
use forthwith_plan::{Error, Result};
use forthwith_root::Streamers;
use std::ops::Range;

/// Schema of an ntuple. Fields and columns are referred to by their positions.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    pub(crate) description: String,
    pub(crate) writer: String,
    pub(crate) fields: Vec<Field>,
    pub(crate) columns: Vec<Column>,
    /// For each column of a projected field, the field and the physical column.
    pub(crate) aliases: Vec<(u32, u32)>,
    /// Lists of streamer infos for the classes of streamed fields.
    pub(crate) streamers: Vec<Vec<u8>>,
    /// Number of fields in the header. The footer added those after them.
    pub(crate) first_fields: usize,
    /// Number of columns in the header. The footer added those after them.
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
    /// Number of values in each value of the parent.
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
    /// First stored element, if the column was added later.
    pub(crate) first: i64,
}

pub(crate) const PLAIN: u16 = 0;
pub(crate) const COLLECTION: u16 = 1;
pub(crate) const RECORD: u16 = 2;
pub(crate) const VARIANT: u16 = 3;
pub(crate) const STREAMED: u16 = 4;

/// Flags in the records of fields and columns.
pub(crate) mod flags {
    pub(crate) const REPEATS: u16 = 1;
    pub(crate) const PROJECTED: u16 = 2;
    pub(crate) const CHECKSUM: u16 = 4;
    pub(crate) const DEFERRED: u16 = 1;
    pub(crate) const RANGE: u16 = 2;
}

/// Maximum depth of fields.
pub(crate) const DEEPEST: u32 = 100;
/// Maximum number of representations of a column: more than there are column types.
const MOST_REPRESENTATIONS: u16 = 256;
/// Maximum total length of the paths of all fields, as a multiple of the size of their descriptions. A path
/// repeats the names of its parents, so that the paths of deep fields exceed what is stored.
const PATHS: usize = 32;
/// Total length of paths that is always allowed.
const LEAST_PATHS: usize = 1 << 20;

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
    /// Parses the body of a header.
    pub(crate) fn parse(body: &mut Reader<'_>) -> Result<Self> {
        body.features()?;
        // The anchor's key has the name as well.
        body.text("the name")?;
        let mut schema = Self {
            description: body.text("the description")?,
            writer: body.text("the writer's name")?,
            ..Self::default()
        };
        schema.extend(body)?;
        (schema.first_fields, schema.first_columns) = (schema.fields.len(), schema.columns.len());
        Ok(schema)
    }

    /// Parses four lists of records, and adds these.
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

    /// Returns the children of a field in order, or the top-level fields.
    pub(crate) fn children(&self, field: Option<u32>) -> &[u32] {
        self.children.of(field.map_or(0, |field| field as usize + 1))
    }

    /// Returns the physical columns of a field: those of the first representation, then those of the next.
    pub(crate) fn columns_of(&self, field: u32) -> &[u32] {
        self.columns_of.of(field as usize)
    }

    /// Returns the physical columns to which the alias columns of a projected field refer.
    pub(crate) fn aliases_of(&self, field: u32) -> &[u32] {
        self.aliases_of.of(field as usize)
    }

    /// Returns the classes of streamed fields, from the last list of streamer infos. A list in the footer
    /// includes all earlier ones.
    ///
    /// # Errors
    /// Returns an error if the list is invalid.
    pub(crate) fn classes(&self) -> Result<Streamers> {
        let Some(bytes) = self.streamers.last() else { return Ok(Streamers::default()) };
        // ROOT writes the list as an object of any class: a byte count, a class tag, the class name, and the
        // list.
        let name = bytes.get(8..).and_then(|rest| rest.iter().position(|byte| *byte == 0)).unwrap_or(0);
        let start = 9 + name;
        if bytes.get(8..8 + name) != Some(b"TList") {
            return Err(Error::invalid("streamer infos of an RNTuple that are not a list"));
        }
        let list = Bytes::copy_from_slice(bytes.get(start..).unwrap_or_default());
        Streamers::parse(list, start as u32)
    }

    fn known(&self, at: &Reader<'_>, what: &'static str, found: u32, count: usize) -> Result<()> {
        if (found as usize) < count {
            return Ok(());
        }
        Err(at.error(Error::out_of_range(what, found, count as i64 - 1)))
    }

    fn group(&mut self, at: &Reader<'_>) -> Result<()> {
        // Depth of each field, and the length of its path.
        let mut above: Vec<(u32, usize)> = Vec::with_capacity(self.fields.len());
        let [mut stored, mut paths] = [0usize; 2];
        for field in &self.fields {
            // Parents come before their children.
            let parent = field.parent.and_then(|parent| above.get(parent as usize));
            let (depth, path) = parent.map_or((0, 0), |(depth, path)| (depth + 1, *path));
            if depth > DEEPEST {
                let what = format!("fields more than {DEEPEST} deep ({})", field.name);
                return Err(at.error(Error::unsupported(what)));
            }
            // The type of a base class is prefixed to names that occur twice.
            let base = if field.name.starts_with(':') { field.type_name.len() } else { 0 };
            let path = path.saturating_add(field.name.len() + base + 2);
            stored += field.name.len() + field.type_name.len() + 16;
            paths = paths.saturating_add(path);
            above.push((depth, path));
        }
        let limit = stored.saturating_mul(PATHS).saturating_add(LEAST_PATHS);
        if paths > limit {
            let what = "the length of the paths of all fields";
            return Err(at.error(Error::out_of_range(what, paths, limit)));
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
            return Err(begin.error(Error::out_of_range("the parent of a field", parent, id)));
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
        // Readers take it from the pages.
        let first = if flags & DEFERRED != 0 { record.i64(what)? } else { 0 };
        if representation >= MOST_REPRESENTATIONS {
            let what = "the representation of a column";
            return Err(record.error(Error::out_of_range(what, representation, MOST_REPRESENTATIONS - 1)));
        }
        let range = if flags & RANGE != 0 { Some((record.f64(what)?, record.f64(what)?)) } else { None };
        Ok(Self { kind, bits, field, flags, representation, range, first })
    }
}

/// Indexes grouped by key.
#[derive(Debug, Default)]
struct Grouped {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Grouped {
    /// Groups the positions in `keys` by key. All keys are below `groups`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<u8> {
        [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
    }

    fn record(body: &[u8]) -> Vec<u8> {
        [&(body.len() as i64 + 8).to_le_bytes()[..], body].concat()
    }

    fn list(items: &[Vec<u8>]) -> Vec<u8> {
        let body = items.concat();
        let size = -(body.len() as i64 + 12);
        [&size.to_le_bytes()[..], &(items.len() as u32).to_le_bytes(), &body].concat()
    }

    fn field(parent: u32, role: u16, name: &str, kind: &str) -> Vec<u8> {
        let numbers = [&[0; 8][..], &parent.to_le_bytes(), &role.to_le_bytes(), &[0; 2]].concat();
        record(&[numbers, text(name), text(kind), text(""), text("")].concat())
    }

    fn column(representation: u16) -> Vec<u8> {
        record(&[&[7, 0, 32, 0][..], &[0; 6], &representation.to_le_bytes()].concat())
    }

    fn parse(fields: &[Vec<u8>], columns: &[Vec<u8>]) -> Result<Schema> {
        let names = [text("name"), text(""), text("")].concat();
        let body = [vec![0; 8], names, list(fields), list(columns), list(&[]), list(&[])].concat();
        Schema::parse(&mut Reader::new(&body, 8))
    }

    /// A long name that many fields repeat is stored once.
    #[test]
    fn paths_cost_what_their_names_justify() {
        for name in ["n".repeat(1 << 16), ":_0".into()] {
            let base = field(0, RECORD, &name, &"T".repeat(1 << 16));
            let mut fields = vec![field(0, RECORD, "top", "Top"), base];
            fields.extend((0..10_000).map(|at| field(1, PLAIN, &format!("f{at}"), "float")));
            let error = parse(&fields, &[]).unwrap_err().to_string();
            assert!(error.starts_with("the length of the paths of all fields is "), "{error}");
            assert!(parse(&fields[..20], &[]).is_ok());
        }
        let mut deep: Vec<Vec<u8>> =
            (0..90u32).map(|at| field(at.saturating_sub(1), RECORD, "level", "")).collect();
        deep.extend((0..10_000).map(|_| field(89, PLAIN, "leaf", "float")));
        assert!(parse(&deep, &[]).is_ok());
    }

    #[test]
    fn representations_are_few() {
        let fields = [field(0, PLAIN, "number", "std::int32_t")];
        assert_eq!(parse(&fields, &[column(0), column(255)]).unwrap().columns.len(), 2);
        let error = parse(&fields, &[column(0), column(256)]).unwrap_err().to_string();
        assert!(error.starts_with("the representation of a column is 256"), "{error}");
    }
}
