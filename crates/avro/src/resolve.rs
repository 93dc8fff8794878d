//! Schema resolution: layouts of the writer's schema, or of the writer's schema read as a reader's schema.

use crate::{
    default,
    schema::{self, Id, Kind, Name, Schema},
    translate::{Keep, Layouts, Refusal, leaf, meant, parts},
};
use forthwith_columns::{DType, Encoding};
use forthwith_plan::{Field, Pick};
use forthwith_program::{Layout, Union};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

#[cold]
fn no_field(at: usize, len: usize) -> Refusal {
    Refusal::senseless(format!("field index {at} is out of range: the record has {len} fields"))
}

/// Fields of a table.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    writer: Arc<Schema>,
    reader: Option<Arc<Schema>>,
    listed: Arc<[Listed]>,
}

/// Field of a table: a field of the record, or a part of one.
#[derive(Clone, Debug)]
struct Listed {
    /// Index of the field in the record.
    at: u32,
    /// Path of field names from there to the part; empty for the field itself.
    path: Vec<String>,
    schema: Id,
}

/// Maximum number of parts of fields that are listed.
const MOST_PARTS: usize = 1 << 12;

impl Fields {
    /// Returns the fields of the writer's schema.
    pub(crate) fn of(writer: &Arc<Schema>) -> Self {
        Self { writer: Arc::clone(writer), reader: None, listed: Arc::new([]) }.listing()
    }

    /// Lists the fields and their parts.
    fn listing(self) -> Self {
        let mut listed = Vec::new();
        let mut left = MOST_PARTS;
        let tops = match self.is_record() {
            true => self.record().iter().map(|field| field.schema).collect(),
            false => vec![self.shown().root_id()],
        };
        for (at, schema) in (0..).zip(tops) {
            listed.push(Listed { at, path: Vec::new(), schema });
            let parts = if left > 0 { parts(self.shown(), schema, left) } else { Vec::new() };
            // Either all parts of a field are listed, or none.
            left = left.saturating_sub(parts.len());
            if left > 0 {
                listed.extend(parts.into_iter().map(|(path, schema)| Listed { at, path, schema }));
            }
        }
        Self { listed: listed.into(), ..self }
    }

    /// Returns the fields of the reader's schema, after checking that the writer's schema can be read as it.
    pub(crate) fn resolved(writer: &Arc<Schema>, reader: &Arc<Schema>) -> Result<Self, Refusal> {
        let this =
            Self { writer: Arc::clone(writer), reader: Some(Arc::clone(reader)), listed: Arc::new([]) };
        let this = this.listing();
        if this.is_record() {
            let resolver = Resolver::new(writer, reader);
            resolver.same_name(writer.root_id(), reader.root_id())?;
            for at in 0..resolver.record(reader.root_id()).len() {
                resolver.matching(writer.root_id(), reader.root_id(), at)?;
            }
        } else {
            this.layout(&[0])?;
        }
        Ok(this)
    }

    /// Returns the schema of the delivered values: the reader's, if given.
    fn shown(&self) -> &Schema {
        self.reader.as_deref().unwrap_or(&self.writer)
    }

    /// Whether the fields of the record are those of the table; otherwise the whole value is the only field.
    pub(crate) fn is_record(&self) -> bool {
        is_record(&self.writer) && is_record(self.shown())
    }

    fn record(&self) -> &[schema::Field] {
        match &self.shown().root().kind {
            Kind::Record { fields, .. } if self.is_record() => fields,
            _ => &[],
        }
    }

    pub(crate) fn fields(&self) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::with_capacity(self.listed.len());
        let mut parents: Vec<(usize, u32)> = Vec::new();
        for (number, listed) in (0..).zip(self.listed.iter()) {
            let (top, doc) = match self.record().get(listed.at as usize) {
                Some(top) => (top.name.as_str(), &top.doc),
                None => (VALUE, &self.shown().root().doc),
            };
            // Remove fields that do not enclose this one.
            while parents.last().is_some_and(|(depth, _)| *depth >= listed.path.len()) {
                parents.pop();
            }
            let parent = parents.last().map(|(_, parent)| *parent);
            let mut field = Field::named(top, doc.as_deref().unwrap_or(""));
            if let (Some(name), Some(parent)) = (listed.path.last(), parent) {
                field.path = format!("{top}/{}", listed.path.join("/"));
                (field.name, field.title) = (name.clone(), String::new());
                (field.parent, field.is_part) = (Some(parent), true);
                if let Some(parent) = fields.get_mut(parent as usize) {
                    parent.has_children = true;
                }
            }
            parents.push((listed.path.len(), number));
            fields.push(field);
        }
        fields
    }

    pub(crate) fn type_name(&self, field: u32) -> String {
        let shown = self.shown();
        shown.describe(self.listed.get(field as usize).map_or(shown.root_id(), |field| field.schema))
    }

    /// Returns the number of fields of the record; 1 if the values are not records.
    pub(crate) fn count(&self) -> usize {
        self.record().len().max(1)
    }

    /// Returns the path from the field of the record to a part; empty for the field itself.
    pub(crate) fn path(&self, field: u32) -> &[String] {
        self.listed.get(field as usize).map_or(&[], |field| &field.path)
    }

    /// Returns the fields of the record that are needed for some fields of the table, and the picks that
    /// extract these; no picks if they are the fields, in order.
    fn kept(&self, wanted: &[u32]) -> (Vec<(usize, Keep)>, Vec<Pick>) {
        let mut kept: Vec<(usize, Keep)> = Vec::new();
        let mut numbers = HashMap::new();
        let mut picks = Vec::with_capacity(wanted.len());
        for &field in wanted {
            // An invalid field number is reported by the caller.
            let listed = self.listed.get(field as usize);
            let (at, path) = listed.map_or((usize::MAX, &[][..]), |field| (field.at as usize, &field.path));
            let array = *numbers.entry(at).or_insert(kept.len());
            if array == kept.len() {
                kept.push((at, Keep::Fields(BTreeMap::new())));
            }
            if let Some((_, keep)) = kept.get_mut(array) {
                keep.add(path);
            }
            picks.push(Pick { array: array as u32, path: path.to_vec(), lists: Vec::new() });
        }
        let plain = (0..).zip(&picks).all(|(at, pick)| pick.array == at && pick.path.is_empty());
        if plain {
            picks.clear();
        }
        (kept, picks)
    }

    /// Returns the picks that turn the arrays of the layout into the fields; empty if the arrays are the
    /// fields.
    pub(crate) fn picks(&self, wanted: &[u32]) -> Vec<Pick> {
        self.kept(wanted).1
    }

    /// Returns the layout of one field as if it were the only field of the record; for a part, that of the
    /// enclosing field reduced to the part.
    pub(crate) fn alone(&self, field: u32) -> Result<Layout, Refusal> {
        let listed = self.listed.get(field as usize);
        let Some((listed, shown)) = listed.and_then(|l| Some((l, self.record().get(l.at as usize)?))) else {
            return self.layout(&[field]);
        };
        let mut keep = Keep::Fields(BTreeMap::new());
        keep.add(&listed.path);
        let (writer, reader) = (self.writer.root_id(), self.shown().root_id());
        let mut resolver = Resolver::new(&self.writer, self.shown());
        if self.reader.is_none() {
            return resolver.writing.pruned(shown.schema, &keep);
        }
        match (resolver.matching(writer, reader, listed.at as usize)?, &self.writer.get(writer).kind) {
            (Some(from), Kind::Record { fields, .. }) => match fields.get(from) {
                Some(from) => resolver.resolve(from.schema, shown.schema, &keep),
                None => Err(Refusal::senseless("no such field")),
            },
            _ => resolver.reading.pruned(shown.schema, &keep),
        }
    }

    /// Returns the layout of the data with these fields kept, in this order.
    pub(crate) fn layout(&self, wanted: &[u32]) -> Result<Layout, Refusal> {
        let mut resolver = Resolver::new(&self.writer, self.shown());
        let (writer, shown) = (self.writer.root_id(), self.shown().root_id());
        let mut kept = self.kept(wanted).0;
        if !self.is_record() {
            let keep = kept.pop().map_or(Keep::Whole, |(_, keep)| keep);
            return match self.reader {
                None => resolver.writing.pruned(writer, &keep),
                Some(_) => resolver.resolve(writer, shown, &keep),
            };
        }
        resolver.fields(writer, shown, &kept, self.reader.is_none())
    }
}

/// Name of the only field if the values are not records.
pub(crate) const VALUE: &str = "value";

struct Resolver<'s> {
    writer: &'s Schema,
    reader: &'s Schema,
    /// Layouts of skipped fields, and of fields that are read as written.
    writing: Layouts<'s>,
    /// Layouts of delivered fields.
    reading: Layouts<'s>,
}

impl<'s> Resolver<'s> {
    fn new(writer: &'s Schema, reader: &'s Schema) -> Self {
        Self { writer, reader, writing: Layouts::new(writer), reading: Layouts::new(reader) }
    }

    fn record(&self, id: Id) -> &'s [schema::Field] {
        match &self.reader.get(id).kind {
            Kind::Record { fields, .. } => fields,
            _ => &[],
        }
    }

    /// Returns the index of the writer's field for a reader's field; `None` if the default of the reader's
    /// field is used.
    fn matching(&self, writer: Id, reader: Id, at: usize) -> Result<Option<usize>, Refusal> {
        let fields = self.record(reader);
        let Some(field) = fields.get(at) else { return Err(no_field(at, fields.len())) };
        let Kind::Record { fields, .. } = &self.writer.get(writer).kind else { return Ok(None) };
        let named = |name: &String| fields.iter().position(|f| f.name == *name);
        match named(&field.name).or_else(|| field.aliases.iter().find_map(named)) {
            None if field.default.is_none() => {
                let name = self.reader.name(reader).map_or("", |name| name.full.as_str());
                Err(Refusal::senseless(format!(
                    "field {:?} of {name} has no default, and is not in the data",
                    field.name
                )))
            }
            found => Ok(found),
        }
    }

    /// Returns the layout of a record with some of the reader's fields kept, in this order. `same` means that
    /// the schemas are identical.
    fn fields(
        &mut self,
        writer: Id,
        reader: Id,
        wanted: &[(usize, Keep)],
        same: bool,
    ) -> Result<Layout, Refusal> {
        let Kind::Record { fields: written, .. } = &self.writer.get(writer).kind else {
            return Err(self.differ(writer, reader));
        };
        let shown = self.record(reader);
        // For each written field, the index of the reader's field that it becomes.
        let mut targets: Vec<Option<(usize, &Keep)>> = vec![None; written.len()];
        let mut constants: Vec<(usize, &Keep)> = Vec::new();
        for (at, keep) in wanted {
            let at = *at;
            match if same { Some(at) } else { self.matching(writer, reader, at)? } {
                Some(from) => match targets.get_mut(from) {
                    Some(Some((other, _))) if *other != at => {
                        let what = format!("field {:?} is asked for under two names", written[from].name);
                        return Err(Refusal::senseless(what));
                    }
                    Some(target) => *target = Some((at, keep)),
                    None => return Err(no_field(at, written.len())),
                },
                None if constants.iter().all(|(other, _)| *other != at) => constants.push((at, keep)),
                None => {}
            }
        }
        let mut fields = Vec::with_capacity(written.len());
        let mut places = vec![None; shown.len()];
        for (from, (field, target)) in written.iter().zip(&targets).enumerate() {
            fields.push(match *target {
                Some((at, keep)) => {
                    places[at] = Some(from as u32);
                    let layout = match same {
                        true => self.writing.pruned(field.schema, keep)?,
                        false => self.resolve(field.schema, shown[at].schema, keep)?,
                    };
                    (shown[at].name.clone(), layout)
                }
                None => {
                    let skipped = self.writing.skipped(field.schema)?;
                    (field.name.clone(), Layout::Skipped(Box::new(skipped)))
                }
            });
        }
        for (at, keep) in constants {
            places[at] = Some(fields.len() as u32);
            let field = &shown[at];
            let bytes = match &field.default {
                Some(json) => default::encode(self.reader, field.schema, json).map_err(|why| {
                    Refusal::senseless(format!("the default of field {:?}: {why}", field.name))
                })?,
                None => return Err(Refusal::senseless(format!("field {:?} has no default", field.name))),
            };
            let layout = self.reading.pruned(field.schema, keep)?;
            fields.push((field.name.clone(), Layout::Constant(bytes.into(), Box::new(layout))));
        }
        let order: Option<Vec<u32>> =
            wanted.iter().map(|(at, _)| places.get(*at).copied().flatten()).collect();
        let order = order.ok_or_else(|| Refusal::senseless("no such field"))?;
        let name = self.reader.name(reader).map(|name| name.short().to_owned());
        Ok(Layout::Arranged { name, fields, order })
    }

    /// Returns the layout of the writer's type, read as the reader's type and reduced to the kept parts.
    fn resolve(&mut self, writer: Id, reader: Id, keep: &Keep) -> Result<Layout, Refusal> {
        self.reading.count()?;
        let (w, r) = (&self.writer.get(writer).kind, &self.reader.get(reader).kind);
        let layout = match (w, r) {
            (Kind::Union(from), Kind::Union(to)) => {
                let alternatives = self.alternatives(to, keep)?;
                let arms = from.iter().map(|from| self.arm(*from, to, keep)).collect();
                Layout::Union(Union { alternatives, arms, tagged: true })
            }
            (Kind::Union(from), _) => {
                let only = self.reading.pruned(reader, keep)?;
                let arm = |from: &Id| self.resolve(*from, reader, keep).ok().map(|arm| (0, arm));
                let arms: Vec<_> = from.iter().map(arm).collect();
                if arms.iter().all(Option::is_none) {
                    return Err(self.differ(writer, reader));
                }
                Layout::Union(Union { alternatives: vec![only], arms, tagged: false })
            }
            (_, Kind::Union(to)) => {
                let Some((tag, value)) = self.arm(writer, to, keep) else {
                    return Err(self.differ(writer, reader));
                };
                Layout::Chosen { tag, value: Box::new(value), alternatives: self.alternatives(to, keep)? }
            }
            (Kind::Array(from), Kind::Array(to)) => self.inside(reader, *from, *to, keep)?.list(),
            (Kind::Map(from), Kind::Map(to)) => {
                Layout::Map(Box::new(self.inside(reader, *from, *to, &Keep::Whole)?))
            }
            (Kind::Record { .. }, Kind::Record { fields, .. }) => {
                self.same_name(writer, reader)?;
                let keep = |field: &schema::Field| match keep {
                    Keep::Whole => Some(Keep::Whole),
                    Keep::Fields(wanted) => wanted.get(&field.name).cloned(),
                };
                let kept = fields.iter().enumerate().filter_map(|(at, field)| Some((at, keep(field)?)));
                let kept: Vec<_> = kept.collect();
                self.reading.enter(reader)?;
                let done = self.fields(writer, reader, &kept, false);
                self.reading.leave();
                done?
            }
            (Kind::Enum { symbols: from, .. }, Kind::Enum { symbols: to, default, .. }) => {
                self.same_name(writer, reader)?;
                let number =
                    |symbol: &String| to.iter().position(|known| known == symbol).map(|at| at as u32);
                let instead = default.as_ref().and_then(number);
                let keep: Vec<_> = from.iter().map(|symbol| number(symbol).or(instead)).collect();
                let simple = (0..).zip(&keep).all(|(at, kept)| *kept == Some(at)) && keep.len() == to.len();
                Layout::Enum { symbols: Arc::from(to.as_slice()), keep: (!simple).then_some(keep) }
            }
            (Kind::Fixed { size: from, .. }, Kind::Fixed { size: to, .. }) if from == to => {
                self.same_name(writer, reader)?;
                leaf(r)
            }
            (Kind::Int | Kind::Long, Kind::Long) => Layout::Varint(DType::Int64),
            (Kind::Int | Kind::Long, Kind::Float) => Layout::Varint(DType::Float32),
            (Kind::Int | Kind::Long, Kind::Double) => Layout::Varint(DType::Float64),
            (Kind::Float, Kind::Double) => {
                Layout::Converted(Encoding::Little(DType::Float32), DType::Float64)
            }
            (Kind::String | Kind::Bytes, Kind::String | Kind::Bytes)
            | (Kind::Null, Kind::Null)
            | (Kind::Boolean, Kind::Boolean)
            | (Kind::Int, Kind::Int)
            | (Kind::Float, Kind::Float)
            | (Kind::Double, Kind::Double) => leaf(r),
            _ => return Err(self.differ(writer, reader)),
        };
        // Unions have no logical type, and that of their alternatives was applied.
        self.same_meaning(writer, reader)?;
        let meaning = self.reader.get(reader).logical.filter(|_| !matches!(w, Kind::Union(_)));
        Ok(meant(meaning, layout))
    }

    fn inside(&mut self, reader: Id, from: Id, to: Id, keep: &Keep) -> Result<Layout, Refusal> {
        self.reading.enter(reader)?;
        let inner = self.resolve(from, to, keep);
        self.reading.leave();
        inner
    }

    fn alternatives(&mut self, to: &[Id], keep: &Keep) -> Result<Vec<Layout>, Refusal> {
        let alternative = |to: &Id| match self.reader.get(*to).kind {
            Kind::Null => self.reading.whole(*to),
            _ => self.reading.pruned(*to, keep),
        };
        to.iter().map(alternative).collect()
    }

    /// Returns the alternative that a value of the writer's type becomes: one of the same type if there is
    /// one, otherwise the first that it can be read as.
    fn arm(&mut self, from: Id, to: &[Id], keep: &Keep) -> Option<(u32, Layout)> {
        let alike = |this: &Self, to: Id| {
            let (w, r) = (&this.writer.get(from).kind, &this.reader.get(to).kind);
            match (this.writer.name(from), this.reader.name(to)) {
                (Some(w), Some(r)) => w.full == r.full,
                _ => std::mem::discriminant(w) == std::mem::discriminant(r),
            }
        };
        let numbered = (0u32..).zip(to.iter().copied());
        let (first, others): (Vec<_>, Vec<_>) = numbered.partition(|(_, to)| alike(self, *to));
        first.into_iter().chain(others).find_map(|(at, to)| Some((at, self.resolve(from, to, keep).ok()?)))
    }

    /// Checks that two named types match: by their names without namespaces, or by an alias of the reader's
    /// type.
    fn same_name(&self, writer: Id, reader: Id) -> Result<(), Refusal> {
        let (Some(w), Some(r)) = (self.writer.name(writer), self.reader.name(reader)) else { return Ok(()) };
        let alias = |alias: &String| *alias == w.full || short(alias) == w.short();
        if w.short() == r.short() || r.aliases.iter().any(alias) {
            return Ok(());
        }
        Err(differ_named(w, r))
    }

    /// Checks that logical types do not differ. If only one side has a logical type, it is used.
    fn same_meaning(&self, writer: Id, reader: Id) -> Result<(), Refusal> {
        match (self.writer.get(writer).logical, self.reader.get(reader).logical) {
            (Some(w), Some(r)) if w != r => Err(self.differ(writer, reader)),
            _ => Ok(()),
        }
    }

    fn differ(&self, writer: Id, reader: Id) -> Refusal {
        let (writer, reader) = (self.writer.describe(writer), self.reader.describe(reader));
        Refusal::senseless(format!("{writer} cannot be read as {reader}"))
    }
}

fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn differ_named(writer: &Name, reader: &Name) -> Refusal {
    let (writer, reader) = (&writer.full, &reader.full);
    Refusal::senseless(format!("{writer} cannot be read as {reader}, which has another name"))
}

/// Whether the outermost type is a record.
fn is_record(schema: &Schema) -> bool {
    matches!(schema.root().kind, Kind::Record { .. })
}
