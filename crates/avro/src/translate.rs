//! Translation of schemas to layouts.

use crate::schema::{Field, Id, Kind, Logical, Schema, Unit};
use forthwith_columns::{DType, Encoding, LogicalType, TimeUnit, Zone};
use forthwith_plan::Error;
use forthwith_program::{Count, Dialect, Frame, Layout, TextLength, Union};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// Encoding of counts and text in Avro.
pub(crate) const DIALECT: Dialect =
    Dialect { counts: Count::Blocks, text: TextLength::ZigZag, entry: Frame::None };

/// Maximum nesting depth of types.
pub(crate) const MAX_DEPTH: usize = 64;
/// Maximum number of types of a layout: repeated references to named types can expand far beyond the length
/// of the schema.
const MAX_PARTS: usize = 1 << 16;

/// Reason why a type cannot be read.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    what: String,
    /// Whether the request is invalid; otherwise it is unsupported.
    senseless: bool,
}

impl Refusal {
    pub(crate) fn senseless(what: impl Into<String>) -> Self {
        Self { what: what.into(), senseless: true }
    }
}

impl From<String> for Refusal {
    fn from(what: String) -> Self {
        Self { what, senseless: false }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl From<Refusal> for Error {
    fn from(why: Refusal) -> Self {
        if why.senseless {
            return Self::invalid(format!("the schema asked for: {}", why.what));
        }
        Self::unsupported(why.what)
    }
}

/// Projection of a type.
#[derive(Clone, Debug)]
pub(crate) enum Keep {
    Whole,
    /// The given fields of the records in the type.
    Fields(BTreeMap<String, Self>),
}

impl Keep {
    /// Adds the field at a path to the projection.
    pub(crate) fn add(&mut self, path: &[String]) {
        match (&mut *self, path) {
            (Self::Whole, _) => {}
            (_, []) => *self = Self::Whole,
            (Self::Fields(fields), [first, rest @ ..]) => {
                fields.entry(first.clone()).or_insert_with(|| Self::Fields(BTreeMap::new())).add(rest);
            }
        }
    }
}

/// Returns the fields of the records in a type that can be read separately, with their types: through lists
/// and options. Stops soon after `most` fields.
pub(crate) fn parts(schema: &Schema, id: Id, most: usize) -> Vec<(Vec<String>, Id)> {
    fn below(
        schema: &Schema,
        id: Id,
        most: usize,
        open: &mut Vec<Id>,
        path: &mut Vec<String>,
        found: &mut Vec<(Vec<String>, Id)>,
    ) {
        if open.contains(&id) || open.len() > MAX_DEPTH || found.len() > most {
            return;
        }
        open.push(id);
        match &schema.get(id).kind {
            Kind::Array(item) => below(schema, *item, most, open, path, found),
            Kind::Union(branches) => {
                let null = |branch: &&Id| schema.get(**branch).kind == Kind::Null;
                // A single branch stands for itself; with null, it is an option.
                if let ([only], 1 | 2) =
                    (&branches.iter().filter(|b| !null(b)).collect::<Vec<_>>()[..], branches.len())
                {
                    below(schema, **only, most, open, path, found);
                }
            }
            Kind::Record { fields, .. } => {
                for field in fields {
                    path.push(field.name.clone());
                    found.push((path.clone(), field.schema));
                    below(schema, field.schema, most, open, path, found);
                    path.pop();
                }
            }
            _ => {}
        }
        open.pop();
    }
    let mut found = Vec::new();
    below(schema, id, most, &mut Vec::new(), &mut Vec::new(), &mut found);
    found
}

/// Translator of the types of a schema to layouts.
pub(crate) struct Layouts<'s> {
    schema: &'s Schema,
    /// Enclosing records, from the outside in.
    open: Vec<Id>,
    /// Those of them that have a word of their own, which can call itself.
    words: Vec<Id>,
    /// Number of enclosing arrays, maps and unions in skipped types.
    depth: usize,
    parts: usize,
    reach: HashMap<(Id, Id), bool>,
}

impl<'s> Layouts<'s> {
    pub(crate) fn new(schema: &'s Schema) -> Self {
        Self { schema, open: Vec::new(), words: Vec::new(), depth: 0, parts: 0, reach: HashMap::new() }
    }

    pub(crate) fn count(&mut self) -> Result<(), Refusal> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(format!("a schema that expands to more than {MAX_PARTS} types").into());
        }
        if self.open.len() + self.depth > MAX_DEPTH {
            return Err(format!("types nested more than {MAX_DEPTH} deep").into());
        }
        Ok(())
    }

    /// Returns the layout of a whole type.
    pub(crate) fn whole(&mut self, id: Id) -> Result<Layout, Refusal> {
        self.count()?;
        let schema = self.schema;
        Ok(match &schema.get(id).kind {
            Kind::Array(item) => self.nested(id, |this| this.whole(*item))?.list(),
            Kind::Map(value) => Layout::Map(Box::new(self.nested(id, |this| this.whole(*value))?)),
            Kind::Union(branches) => {
                let layouts =
                    self.nested(id, |this| branches.iter().map(|branch| this.whole(*branch)).collect());
                Layout::Union(Union::of(layouts?))
            }
            Kind::Record { name, fields } => {
                let fields = self.nested(id, |this| {
                    fields.iter().map(|field| Ok((field.name.clone(), this.whole(field.schema)?))).collect()
                });
                Layout::Record { name: Some(name.short().to_owned()), fields: fields? }
            }
            simple => meant(schema.get(id).logical, leaf(simple)),
        })
    }

    /// Returns the layout of a type reduced to some fields of its records, through lists and options.
    pub(crate) fn pruned(&mut self, id: Id, keep: &Keep) -> Result<Layout, Refusal> {
        let Keep::Fields(wanted) = keep else { return self.whole(id) };
        self.count()?;
        let schema = self.schema;
        Ok(match &schema.get(id).kind {
            Kind::Array(item) => self.nested(id, |this| this.pruned(*item, keep))?.list(),
            Kind::Union(branches) => {
                let layouts = self.nested(id, |this| {
                    let null = |branch: &Id| schema.get(*branch).kind == Kind::Null;
                    let layout = |branch: &Id| match null(branch) {
                        true => this.whole(*branch),
                        false => this.pruned(*branch, keep),
                    };
                    branches.iter().map(layout).collect()
                });
                Layout::Union(Union::of(layouts?))
            }
            Kind::Record { name, fields } => {
                let fields = self.nested(id, |this| {
                    let layout = |field: &Field| {
                        let layout = match wanted.get(&field.name) {
                            Some(keep) => this.pruned(field.schema, keep)?,
                            // A skipped value may contain the records that enclose it.
                            None => {
                                let open = std::mem::take(&mut this.open);
                                let skipped = this.skipped(field.schema);
                                this.open = open;
                                Layout::Skipped(Box::new(skipped?))
                            }
                        };
                        Ok((field.name.clone(), layout))
                    };
                    fields.iter().map(layout).collect()
                });
                Layout::Record { name: Some(name.short().to_owned()), fields: fields? }
            }
            _ => return Err(Refusal::senseless(format!("{} has no fields", schema.describe(id)))),
        })
    }

    /// Returns the layout of a skipped type, which may be recursive.
    pub(crate) fn skipped(&mut self, id: Id) -> Result<Layout, Refusal> {
        self.count()?;
        let schema = self.schema;
        Ok(match &schema.get(id).kind {
            Kind::Array(item) => self.deeper(|this| this.skipped(*item))?.list(),
            Kind::Map(value) => Layout::Map(Box::new(self.deeper(|this| this.skipped(*value))?)),
            Kind::Union(branches) => {
                let layouts =
                    self.deeper(|this| branches.iter().map(|branch| this.skipped(*branch)).collect());
                Layout::Union(Union::of(layouts?))
            }
            Kind::Record { fields, .. } => {
                if self.words.last() == Some(&id) {
                    return Ok(Layout::Recurse);
                }
                if self.open.contains(&id) {
                    return Err(self.recursive(id));
                }
                // Within the word of a type that contains this one and is contained in it, that word serves
                // both.
                let inside = match self.words.last().copied() {
                    Some(word) => self.reaches(id, word),
                    None => false,
                };
                let word = self.reaches(id, id) && !inside;
                self.open.push(id);
                if word {
                    self.words.push(id);
                }
                let fields: Result<Vec<_>, _> = fields
                    .iter()
                    .map(|field| Ok::<_, Refusal>((field.name.clone(), self.skipped(field.schema)?)))
                    .collect();
                if word {
                    self.words.pop();
                }
                self.open.pop();
                let record = Layout::Record { name: None, fields: fields? };
                if word { Layout::Recursive(Box::new(record)) } else { record }
            }
            simple => leaf(simple),
        })
    }

    /// Enters a type, which must not contain itself, and calls `look`.
    pub(crate) fn nested<T>(
        &mut self,
        id: Id,
        look: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.enter(id)?;
        let found = look(self);
        self.leave();
        found
    }

    pub(crate) fn enter(&mut self, id: Id) -> Result<(), Refusal> {
        if self.open.contains(&id) {
            return Err(self.recursive(id));
        }
        self.open.push(id);
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.open.pop();
    }

    fn deeper<T>(&mut self, look: impl FnOnce(&mut Self) -> Result<T, Refusal>) -> Result<T, Refusal> {
        self.depth += 1;
        let found = look(self);
        self.depth -= 1;
        found
    }

    fn recursive(&self, id: Id) -> Refusal {
        // A union or list has no name; the enclosing record has.
        let name = std::iter::once(&id).chain(self.open.iter().rev()).find_map(|id| self.schema.name(*id));
        let name = name.map_or_else(|| self.schema.describe(id), |name| name.full.clone());
        format!("the recursive type {name}: columns have no place for values of unlimited depth").into()
    }

    /// Whether a type contains another one, or itself if they are equal.
    fn reaches(&mut self, from: Id, to: Id) -> bool {
        if let Some(known) = self.reach.get(&(from, to)) {
            return *known;
        }
        let mut seen = vec![from];
        let mut next = 0;
        let mut found = false;
        while let Some(id) = seen.get(next).copied() {
            next += 1;
            for below in below(self.schema, id) {
                found |= below == to;
                if !seen.contains(&below) {
                    seen.push(below);
                }
            }
        }
        self.reach.insert((from, to), found);
        found
    }
}

/// Returns the types that a type directly contains.
fn below(schema: &Schema, id: Id) -> Vec<Id> {
    match &schema.get(id).kind {
        Kind::Array(item) => vec![*item],
        Kind::Map(value) => vec![*value],
        Kind::Union(branches) => branches.clone(),
        Kind::Record { fields, .. } => fields.iter().map(|field| field.schema).collect(),
        _ => Vec::new(),
    }
}

/// Returns the layout of a type without contents; null for types with contents.
pub(crate) fn leaf(kind: &Kind) -> Layout {
    match kind {
        Kind::Boolean => Layout::Number(Encoding::StrictBool),
        Kind::Int => Layout::Varint(DType::Int32),
        Kind::Long => Layout::Varint(DType::Int64),
        Kind::Float => Layout::Number(Encoding::Little(DType::Float32)),
        Kind::Double => Layout::Number(Encoding::Little(DType::Float64)),
        Kind::Bytes => Layout::Bytes,
        Kind::String => Layout::Text,
        Kind::Fixed { size, .. } => Layout::Opaque(*size),
        Kind::Enum { symbols, .. } => Layout::Enum { symbols: Arc::from(symbols.as_slice()), keep: None },
        Kind::Null | Kind::Array(_) | Kind::Map(_) | Kind::Union(_) | Kind::Record { .. } => Layout::Null,
    }
}

/// Adds the logical type to a layout if columns have an equivalent. UUIDs and durations stay text and bytes.
pub(crate) fn meant(logical: Option<Logical>, layout: Layout) -> Layout {
    let unit = |unit| match unit {
        Unit::Milli => TimeUnit::Milli,
        Unit::Micro => TimeUnit::Micro,
        Unit::Nano => TimeUnit::Nano,
    };
    let meaning = match logical {
        Some(Logical::Decimal { precision, scale }) => LogicalType::Decimal { precision, scale },
        Some(Logical::Date) => LogicalType::Date,
        Some(Logical::Time(of)) => LogicalType::Time(unit(of)),
        Some(Logical::Timestamp(of)) => LogicalType::Timestamp { unit: unit(of), zone: Some(Zone::UTC) },
        Some(Logical::LocalTimestamp(of)) => LogicalType::Timestamp { unit: unit(of), zone: None },
        Some(Logical::Uuid | Logical::Duration) | None => return layout,
    };
    Layout::Logical(meaning, Box::new(layout))
}

/// Returns the minimum size of a value in bytes; 0 if it is unknown.
pub(crate) fn least_bytes(schema: &Schema, id: Id) -> u64 {
    fn least(schema: &Schema, id: Id, open: &mut Vec<Id>, budget: &mut u32) -> u64 {
        *budget = budget.saturating_sub(1);
        if *budget == 0 || open.len() > MAX_DEPTH || open.contains(&id) {
            return 0; // what is not known may be nothing
        }
        match &schema.get(id).kind {
            Kind::Null => 0,
            Kind::Float => 4,
            Kind::Double => 8,
            Kind::Fixed { size, .. } => *size,
            Kind::Record { fields, .. } => {
                open.push(id);
                let sum = fields
                    .iter()
                    .map(|field| least(schema, field.schema, open, budget))
                    .fold(0, u64::saturating_add);
                open.pop();
                sum
            }
            _ => 1,
        }
    }
    least(schema, id, &mut Vec::new(), &mut 10_000)
}
