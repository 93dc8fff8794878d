//! Maps fields to Forms, and to the parts that fill these, one for each column of the file.

use crate::coding::{Coding, Kept, Stored};
use crate::objects::{self, Objects};
use crate::schema::{COLLECTION, Field, PLAIN, RECORD, STREAMED, Schema, VARIANT};
use forthwith_columns::{DType, Form, LogicalType, MAP, qualified_names};
use forthwith_plan::ColumnSpec;
use forthwith_program::Program;
use forthwith_root::unroll;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Form of a field, and the columns that fill it. A parent precedes the columns of its items.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) form: Form,
    pub(crate) parts: Vec<Part>,
}

/// A column of a field.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Path of the field, for errors.
    pub(crate) path: String,
    pub(crate) coding: Coding,
    /// Column in the file for each representation.
    pub(crate) columns: Vec<u32>,
    /// Keys of its buffers, with their types and whether they are offsets.
    buffers: Vec<(String, DType, bool)>,
    /// Part whose lists or alternatives contain the elements; `None` if they belong to entries.
    pub(crate) parent: Option<usize>,
    /// Alternative of the parent, if that is a variant.
    pub(crate) alternative: u8,
    /// Number of elements in an item of the parent, or in an entry.
    pub(crate) times: u64,
    /// Program and columns of bytes, if the elements are objects.
    pub(crate) objects: Option<Objects>,
}

impl Part {
    /// Returns the columns of the group.
    pub(crate) fn specs(&self) -> Vec<ColumnSpec> {
        if let Some(objects) = &self.objects {
            return unroll::columns(&objects.program);
        }
        let spec = |(key, dtype, offsets): &(String, DType, bool)| ColumnSpec {
            key: key.clone(),
            dtype: *dtype,
            offsets: *offsets,
            member: self.path.clone(),
            bytes_per_payload_byte: 0,
        };
        self.buffers.iter().map(spec).collect()
    }
}

/// Maximum number of parts that one column may fill, as with projected fields.
const MOST_USES: u32 = 16;

/// Relation of a field to its parent.
#[derive(Clone, Copy)]
struct Around {
    parent: Option<usize>,
    alternative: u8,
    times: u64,
}

/// Returns the shape of a field, or of the member of it at the end of `members`, or the reason why it is not
/// supported.
pub(crate) fn shape(
    schema: &Schema,
    field: u32,
    members: &[u32],
    streamed: &Streamed<'_>,
) -> Result<Shape, String> {
    let mut walk = Walk {
        schema,
        streamed,
        parts: Vec::new(),
        uses: HashMap::new(),
        keys: 0,
        members,
        path: Vec::new(),
    };
    let form = walk.field(field, Around { parent: None, alternative: 0, times: 1 })?;
    Ok(Shape { form, parts: walk.parts })
}

/// Member of a record: its name, and the fields that lead to it through base classes.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) chain: Vec<u32>,
}

/// Returns the members of a record and its base classes. If a name is repeated, the name of the base class is
/// prefixed.
pub(crate) fn members(schema: &Schema, field: u32) -> Vec<Member> {
    let mut found = Vec::new();
    let mut own = Vec::new();
    for &child in schema.children(Some(field)) {
        let Some(of) = schema.fields.get(child as usize) else { continue };
        if !of.name.starts_with(':') {
            own.push(Member { name: of.name.clone(), chain: vec![child] });
            continue;
        }
        for mut member in members(schema, child) {
            member.chain.insert(0, child);
            found.push((of.type_name.clone(), member));
        }
    }
    let inherited = found.iter().map(|(base, member)| (Some(base.as_str()), member.name.clone()));
    let names =
        qualified_names(inherited.chain(own.iter().map(|member| (None, member.name.clone()))).collect());
    let members = found.into_iter().map(|(_, member)| member).chain(own);
    members.zip(names).map(|(member, name)| Member { name, ..member }).collect()
}

/// Returns the record in a field, within lists, options and arrays, or `None` without one.
pub(crate) fn record_in(schema: &Schema, field: u32) -> Option<u32> {
    let of = schema.fields.get(field as usize)?;
    match of.role {
        RECORD if is_tuple(of) => None,
        RECORD => Some(field),
        COLLECTION | PLAIN => match schema.children(Some(field)) {
            // The pairs of a map are one field.
            [only] if !is_map(&of.type_name) => record_in(schema, *only),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the program that reads objects of a type, or the reason why there is none. The flag tells that
/// they are items of lists or options, of which there may be none; the last string is their path in errors.
pub(crate) type Streamed<'s> = dyn Fn(&str, bool, &str) -> Result<Program, String> + 's;

struct Walk<'a> {
    schema: &'a Schema,
    streamed: &'a Streamed<'a>,
    parts: Vec<Part>,
    /// Number of parts that each column fills.
    uses: HashMap<u32, u32>,
    keys: usize,
    /// Members to descend into, from outer to inner records, of which only these are read.
    members: &'a [u32],
    path: Vec<&'a str>,
}

impl<'a> Walk<'a> {
    fn key(&mut self) -> String {
        self.keys += 1;
        format!("node{}", self.keys - 1)
    }

    /// Returns the Form of a field. The recursion is bounded, as the depth of fields was checked when they
    /// were parsed.
    fn field(&mut self, id: u32, around: Around) -> Result<Form, String> {
        let schema = self.schema;
        let field = schema.fields.get(id as usize).ok_or("a field that is not there")?;
        let is_named = self.is_named(field);
        if is_named {
            self.path.push(&field.name);
        }
        if field.version != 0 {
            return Err(self.refused(field, &format!("in version {} of its layout", field.version)));
        }
        let form = match field.role {
            PLAIN => self.plain(id, field, around),
            COLLECTION => self.collection(id, field, around),
            RECORD => self.record(id, field, around),
            VARIANT => self.variant(id, field, around),
            STREAMED => self.objects(id, field, around),
            role => Err(self.refused(field, &format!("of role {role}"))),
        }?;
        if is_named {
            self.path.pop();
        }
        Ok(match LogicalType::of_title(&field.description) {
            Some(times) => form.with_times(times),
            None => form,
        })
    }

    /// Returns whether the name of a field is a part of paths: items of lists and arrays have the path of
    /// these, and members of base classes that of the class.
    fn is_named(&self, field: &Field) -> bool {
        let parent = field.parent.and_then(|parent| self.schema.fields.get(parent as usize));
        !field.name.starts_with(':') && parent.is_none_or(|parent| !matches!(parent.role, COLLECTION | PLAIN))
    }

    fn plain(&mut self, id: u32, field: &'a Field, around: Around) -> Result<Form, String> {
        let children = self.schema.children(Some(id));
        let name = field.type_name.as_str();
        match (field.repeats, children) {
            (Some(size), [item]) => {
                let form = self.field(*item, self.many(around, size, field)?)?;
                Ok(form.repeated(size))
            }
            (Some(size), []) if name.starts_with("std::bitset<") => {
                let around = self.many(around, size, field)?;
                let form = self.numbers(id, field, Kept::Numbers(DType::Bool), DType::Bool, around)?;
                Ok(form.repeated(size))
            }
            // Enumerations and atomic values wrap a field.
            (None, [inner]) => self.field(*inner, around),
            (None, []) if name == "std::string" => self.text(id, field, around),
            (None, []) if name.starts_with("ROOT::RNTupleCardinality<") => {
                self.numbers(id, field, Kept::Counts, DType::Int64, around)
            }
            (None, []) if name == "std::byte" => self.numbers(id, field, Kept::Bytes, DType::UInt8, around),
            (None, []) => match number(name) {
                Some(dtype) => self.numbers(id, field, Kept::Numbers(dtype), dtype, around),
                None => Err(self.refused(field, "without fields")),
            },
            _ => Err(self.refused(field, &format!("with {} fields", children.len()))),
        }
    }

    /// Returns the Form of a streamed field: the ends of objects, and their bytes.
    fn objects(&mut self, id: u32, field: &'a Field, around: Around) -> Result<Form, String> {
        let (key, path) = (self.key(), self.path.join("/"));
        let program = (self.streamed)(&field.type_name, around.parent.is_some(), &path)
            .map_err(|why| self.refused(field, &format!("as streamed objects: {why}")))?;
        let program = Arc::new(objects::renamed(program, &format!("{key}-")));
        let part = self.part(id, field, 0, Kept::Objects, Vec::new(), around)?;
        let (columns, stored) = self.columns(id, field, 1, Kept::Bytes)?;
        let bytes = columns.into_iter().zip(stored).collect();
        let form = program.form.clone();
        if let Some(part) = self.parts.get_mut(part) {
            part.objects = Some(Objects { program, bytes });
        }
        Ok(form)
    }

    /// Multiplies the number of values of [`around`](Around) by `size`.
    fn many(&self, around: Around, size: u64, field: &Field) -> Result<Around, String> {
        // An array is in one page, whose elements have a 31-bit count.
        let times = around.times.checked_mul(size).filter(|times| *times <= u64::from(u32::MAX));
        let times = times.ok_or_else(|| self.refused(field, &format!("of {size} items")))?;
        Ok(Around { times, ..around })
    }

    fn numbers(
        &mut self,
        id: u32,
        field: &'a Field,
        kept: Kept,
        dtype: DType,
        around: Around,
    ) -> Result<Form, String> {
        let key = self.key();
        let buffers = vec![(format!("{key}-data"), dtype, false)];
        self.part(id, field, 0, kept, buffers, around)?;
        Ok(Form::Numpy { key, dtype, shape: Vec::new() })
    }

    fn text(&mut self, id: u32, field: &'a Field, around: Around) -> Result<Form, String> {
        let key = self.key();
        let offsets = vec![(format!("{key}-offsets"), DType::Int64, true)];
        let parent = Some(self.part(id, field, 0, Kept::Offsets, offsets, around)?);
        let data = vec![(format!("{key}-data"), DType::UInt8, false)];
        self.part(id, field, 1, Kept::Bytes, data, Around { parent, alternative: 0, times: 1 })?;
        Ok(Form::String { key, binary: false })
    }

    fn collection(&mut self, id: u32, field: &'a Field, around: Around) -> Result<Form, String> {
        let &[item] = self.schema.children(Some(id)) else {
            let count = self.schema.children(Some(id)).len();
            return Err(self.refused(field, &format!("with {count} fields")));
        };
        let key = self.key();
        // An option cannot contain an option.
        let is_option = is_optional(&field.type_name) && !self.is_option(item);
        let (kept, part) = match is_option {
            true => (Kept::Option, (format!("{key}-index"), DType::Int64, false)),
            false => (Kept::Offsets, (format!("{key}-offsets"), DType::Int64, true)),
        };
        let parent = self.part(id, field, 0, kept, vec![part], around)?;
        let content = self.field(item, Around { parent: Some(parent), alternative: 0, times: 1 })?;
        let content = Box::new(match content {
            Form::Record { fields: None, contents, .. } if is_map(&field.type_name) => {
                // Maps with text keys need no name to be written as maps.
                let text = matches!(contents.first(), Some(Form::String { binary: false, .. }));
                Form::Record { fields: None, contents, name: (!text).then(|| MAP.to_owned()) }
            }
            other => other,
        });
        Ok(if is_option { Form::Option { key, content } } else { Form::List { key, content } })
    }

    /// Returns whether a field becomes an option.
    fn is_option(&self, id: u32) -> bool {
        let Some(field) = self.schema.fields.get(id as usize) else { return false };
        match (field.role, self.schema.children(Some(id))) {
            (VARIANT, _) => true,
            (COLLECTION, [item]) => is_optional(&field.type_name) && !self.is_option(*item),
            (PLAIN, [only]) if field.repeats.is_none() => self.is_option(*only),
            _ => false,
        }
    }

    fn record(&mut self, id: u32, field: &'a Field, around: Around) -> Result<Form, String> {
        if let Some((first, rest)) = self.members.split_first() {
            self.members = rest;
            return self.field(*first, around);
        }
        if is_tuple(field) {
            let slots = self.schema.children(Some(id)).iter();
            let contents = slots.map(|slot| self.field(*slot, around)).collect::<Result<_, _>>()?;
            return Ok(Form::Record { fields: None, contents, name: None });
        }
        let (mut names, mut contents) = (Vec::new(), Vec::new());
        for Member { name, chain } in members(self.schema, id) {
            // Base classes are records without a name of their own.
            let Some(last) = chain.last() else { continue };
            names.push(name);
            contents.push(self.field(*last, around)?);
        }
        let name = Some(field.type_name.clone()).filter(|name| !name.is_empty());
        Ok(Form::Record { fields: Some(names), contents, name })
    }

    fn variant(&mut self, id: u32, field: &'a Field, around: Around) -> Result<Form, String> {
        let children = self.schema.children(Some(id));
        let Some(count) = u8::try_from(children.len()).ok().filter(|count| (1..=125).contains(count)) else {
            return Err(self.refused(field, &format!("of {} alternatives", children.len())));
        };
        if let Some(option) = children.iter().find(|child| self.is_option(**child)) {
            let of = self.schema.fields.get(*option as usize).map_or("", |field| &field.type_name);
            return Err(self.refused(field, &format!("with the alternative {of}, which may have no value")));
        }
        let (outer, inner) = (self.key(), self.key());
        let mut buffers = vec![(format!("{outer}-index"), DType::Int64, false)];
        if count > 1 {
            buffers.push((format!("{inner}-tags"), DType::Int8, false));
            buffers.push((format!("{inner}-index"), DType::Int64, false));
        }
        let parent = Some(self.part(id, field, 0, Kept::Tags(count), buffers, around)?);
        let mut contents = Vec::new();
        for (alternative, child) in (0..).zip(children) {
            let before = self.parts.len();
            contents.push(self.field(*child, Around { parent, alternative, times: 1 })?);
            if !self.parts.iter().skip(before).any(|part| part.parent == parent) {
                return Err(self.refused(field, "of alternatives without columns"));
            }
        }
        let content = match contents.len() {
            1 => contents.swap_remove(0),
            _ => Form::Union { key: inner, contents },
        };
        Ok(Form::Option { key: outer, content: Box::new(content) })
    }

    /// Adds the column `slot` of a field, and returns the index of its part.
    fn part(
        &mut self,
        id: u32,
        field: &Field,
        slot: usize,
        kept: Kept,
        buffers: Vec<(String, DType, bool)>,
        around: Around,
    ) -> Result<usize, String> {
        let (columns, stored) = self.columns(id, field, slot, kept)?;
        let Around { parent, alternative, times } = around;
        let (path, coding) = (self.path.join("/"), Coding { kept, stored });
        self.parts.push(Part { path, coding, columns, buffers, parent, alternative, times, objects: None });
        Ok(self.parts.len() - 1)
    }

    /// Returns the column `slot` of a field in each representation, with its encoding.
    fn columns(
        &mut self,
        id: u32,
        field: &Field,
        slot: usize,
        kept: Kept,
    ) -> Result<(Vec<u32>, Vec<Stored>), String> {
        let schema = self.schema;
        let ids = if field.is_projected() { schema.aliases_of(id) } else { schema.columns_of(id) };
        // For each representation the number of columns so far, and the column `slot`.
        let mut found: BTreeMap<u16, (usize, Option<u32>)> = BTreeMap::new();
        for id in ids {
            let Some(column) = schema.columns.get(*id as usize) else { continue };
            let (count, meant) = found.entry(column.representation).or_default();
            if *count == slot {
                *meant = Some(*id);
            }
            *count += 1;
        }
        let (mut columns, mut stored) = (Vec::new(), Vec::new());
        for id in found.into_values().filter_map(|(_, meant)| meant) {
            let Some(column) = schema.columns.get(id as usize) else { continue };
            let how = Stored::of(column).map_err(|why| self.refused(field, &format!("in {why}")))?;
            if !how.suits(kept) {
                return Err(self.refused(field, &format!("in a column of type {}", how.kind.name())));
            }
            let uses = self.uses.entry(id).or_default();
            *uses += 1;
            if *uses > MOST_USES {
                return Err(self.refused(field, "in a column that is used too often"));
            }
            columns.push(id);
            stored.push(how);
        }
        if columns.is_empty() {
            return Err(self.refused(field, "without a column"));
        }
        Ok((columns, stored))
    }

    #[cold]
    fn refused(&self, field: &Field, why: &str) -> String {
        format!("{} of type {}, {why}", self.path.join("/"), type_name(field))
    }
}

/// Returns the type of a field, as its writer spelled it.
pub(crate) fn type_name(field: &Field) -> String {
    match (field.alias.as_str(), field.type_name.as_str(), field.role) {
        ("", "", COLLECTION) => "collection".into(),
        ("", "", RECORD) => "record".into(),
        ("", name, _) => name.into(),
        (alias, ..) => alias.into(),
    }
}

fn number(name: &str) -> Option<DType> {
    let found = DType::ALL.iter().copied().find(|dtype| number_name(*dtype) == name);
    found.or((name == "char").then_some(DType::Int8))
}

/// Returns the C++ type of a number.
pub(crate) const fn number_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::Int8 => "std::int8_t",
        DType::Int16 => "std::int16_t",
        DType::Int32 => "std::int32_t",
        DType::Int64 => "std::int64_t",
        DType::UInt8 => "std::uint8_t",
        DType::UInt16 => "std::uint16_t",
        DType::UInt32 => "std::uint32_t",
        DType::UInt64 => "std::uint64_t",
        DType::Float32 => "float",
        DType::Float64 => "double",
    }
}

fn is_optional(name: &str) -> bool {
    name.starts_with("std::optional<") || name.starts_with("std::unique_ptr<")
}

fn is_map(name: &str) -> bool {
    let name = name.strip_prefix("std::").unwrap_or_default();
    let name = name.strip_prefix("unordered_").unwrap_or(name);
    name.starts_with("map<") || name.starts_with("multimap<")
}

fn is_tuple(field: &Field) -> bool {
    field.type_name.starts_with("std::pair<") || field.type_name.starts_with("std::tuple<")
}
