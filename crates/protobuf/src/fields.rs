//! Fields of a table: the fields of its messages, and below them those of inner messages.

use crate::{
    layout::{Keep, Layouts, Mapping},
    schema::{Schema, message_of},
};
use buffa_descriptor::{FieldDescriptor, FieldKind, MessageIndex, ScalarType, SingularKind};
use forthwith_columns::Form;
use forthwith_plan::{ColumnSpec, Error, Field, Group, Pick, Reading, Result};
use forthwith_platform::ProcessLock;
use forthwith_program::{Dialect, Layout, Program, translate};
use std::sync::Arc;

/// Maximum number of fields of inner messages that are listed.
const MOST_PARTS: usize = 1 << 12;
/// Maximum nesting depth of messages whose fields are listed.
const DEEPEST: usize = 16;
const REASON: &str = "fields come behind keys, in any order";

/// Message type, and the fields of a table of such messages.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    schema: Schema,
    mapping: Mapping,
    message: MessageIndex,
    listed: Vec<Listed>,
    pub(crate) fields: Vec<Field>,
    /// Cached result of the last request: each step of a loop requests the same fields.
    recent: Arc<ProcessLock<Option<Recent>>>,
}

/// Requested fields and their dialect, with the resulting group and picks.
type Recent = (Vec<u32>, Dialect, Group, Vec<Pick>);

#[derive(Clone, Debug)]
struct Listed {
    /// Field names from the message to this field.
    path: Vec<String>,
    type_name: String,
}

impl Fields {
    pub(crate) fn new(schema: &Schema, message: MessageIndex, mapping: Mapping) -> Self {
        let (listed, fields) = (Vec::new(), Vec::new());
        let recent = Arc::default();
        let mut this = Self { schema: schema.clone(), mapping, message, listed, fields, recent };
        this.list(message, &mut vec![message], &mut Vec::new(), None);
        this
    }

    /// Lists the fields of a message, and below each field those of its message type: through lists and
    /// options, but not through maps.
    fn list(
        &mut self,
        message: MessageIndex,
        open: &mut Vec<MessageIndex>,
        path: &mut Vec<String>,
        parent: Option<u32>,
    ) {
        let schema = self.schema.clone();
        for (name, field) in schema.fields(message) {
            let number = self.fields.len() as u32;
            let mut listed = Field::named(&name, "");
            path.push(name);
            (listed.path, listed.parent, listed.is_part) = (path.join("/"), parent, parent.is_some());
            let inner = message_of(field.kind()).filter(|inner| {
                let is_map = matches!(field.kind(), FieldKind::Map { .. });
                let is_leaf = is_map || self.mapping.is_value(schema.pool().message(*inner).full_name());
                let around = open.iter().filter(|open| *open == inner).count();
                !is_leaf
                    && around <= self.mapping.recursion as usize
                    && open.len() < DEEPEST
                    && self.fields.len() < MOST_PARTS
            });
            listed.has_children = inner.is_some_and(|at| !schema.pool().message(at).fields().is_empty());
            self.fields.push(listed);
            self.listed.push(Listed { path: path.clone(), type_name: type_name(&schema, field) });
            if let Some(inner) = inner {
                open.push(inner);
                self.list(inner, open, path, Some(number));
                open.pop();
            }
            path.pop();
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.schema.pool().message(self.message).full_name()
    }

    pub(crate) fn type_name(&self, field: u32) -> Result<&str> {
        self.listed(field).map(|listed| listed.type_name.as_str())
    }

    fn listed(&self, field: u32) -> Result<&Listed> {
        let listed = self.listed.get(field as usize);
        listed.ok_or_else(|| Error::no_field(field, self.listed.len()))
    }

    /// Returns the fields of the message itself, without those of inner messages.
    pub(crate) fn whole(&self) -> Vec<u32> {
        (0..).zip(&self.fields).filter(|(_, field)| !field.is_part).map(|(number, _)| number).collect()
    }

    /// Returns the group that decodes some fields, and the picks that select them from its arrays; no picks
    /// if the arrays are the fields, in order.
    pub(crate) fn group(&self, wanted: &[u32], dialect: &Dialect) -> Result<(Group, Vec<Pick>)> {
        if let Some((fields, known, group, picks)) = &*self.recent.lock()
            && (fields.as_slice(), known) == (wanted, dialect)
        {
            return Ok((group.clone(), picks.clone()));
        }
        let (group, picks) = self.make_group(wanted, dialect)?;
        *self.recent.lock() = Some((wanted.to_vec(), *dialect, group.clone(), picks.clone()));
        Ok((group, picks))
    }

    /// Returns the Forms of some fields, from the group that decodes them.
    pub(crate) fn forms(&self, wanted: &[u32], dialect: &Dialect) -> Result<Vec<Form>> {
        let (group, picks) = self.group(wanted, dialect)?;
        let Form::Record { contents, .. } = group.form else { return Ok(vec![group.form]) };
        if picks.is_empty() {
            return Ok(contents);
        }
        let form = |pick: &Pick| contents.get(pick.array as usize)?.pick(&pick.path);
        Ok(picks.iter().map(|pick| form(pick).unwrap_or(Form::Empty)).collect())
    }

    fn make_group(&self, wanted: &[u32], dialect: &Dialect) -> Result<(Group, Vec<Pick>)> {
        let mut keep = Keep::none();
        for field in wanted {
            keep.add(&self.listed(*field)?.path);
        }
        let tagged = Layouts::new(&self.schema, self.mapping)
            .message(self.message, &keep)
            .map_err(Error::unsupported)?;
        let tops: Vec<&str> = tagged.fields.iter().map(|field| field.name.as_str()).collect();
        let mut picks = Vec::with_capacity(wanted.len());
        for field in wanted {
            let path = &self.listed(*field)?.path;
            let array = path.first().and_then(|top| tops.iter().position(|name| name == top));
            picks.push(Pick {
                array: array.unwrap_or(0) as u32,
                path: path[1..].to_vec(),
                lists: Vec::new(),
            });
        }
        if (0..).zip(&picks).all(|(at, pick)| pick.array == at && pick.path.is_empty())
            && picks.len() == tops.len()
        {
            picks.clear();
        }
        let path = match wanted {
            [only] => self.listed(*only)?.path.join("/"),
            _ => String::new(),
        };
        let program =
            translate(&Layout::Tagged(tagged), dialect, true, "").map_err(|why| Error::unsupported(why.0))?;
        let columns = specs(&program);
        Ok((Group { split: true, ..Group::of(path, Reading::program(program, REASON), columns) }, picks))
    }

    /// Returns the decoder of one field.
    pub(crate) fn reading(&self, field: u32, dialect: &Dialect) -> Result<Reading> {
        let (group, _) = self.make_group(&[field], dialect)?;
        let form = match group.form {
            Form::Record { mut contents, .. } => contents.pop().unwrap_or(Form::Empty),
            form => form,
        };
        let form = form.pick(&self.listed(field)?.path[1..]).unwrap_or(Form::Empty);
        Ok(Reading { form, decoder: group.decoder, reason: group.reason })
    }
}

/// Returns the type of a field as schemas spell it.
fn type_name(schema: &Schema, field: &FieldDescriptor) -> String {
    let pool = schema.pool();
    let one = |kind| match kind {
        SingularKind::Scalar(scalar) => scalar_name(scalar).to_owned(),
        SingularKind::Enum(at) => pool.enumeration(at).full_name().to_owned(),
        SingularKind::Message(at) => pool.message(at).full_name().to_owned(),
    };
    match field.kind() {
        FieldKind::Singular(kind) => one(kind),
        FieldKind::List(kind) => format!("repeated {}", one(kind)),
        FieldKind::Map { key, value } => format!("map<{}, {}>", scalar_name(key), one(value)),
    }
}

const fn scalar_name(scalar: ScalarType) -> &'static str {
    match scalar {
        ScalarType::Double => "double",
        ScalarType::Float => "float",
        ScalarType::Int64 => "int64",
        ScalarType::Uint64 => "uint64",
        ScalarType::Int32 => "int32",
        ScalarType::Fixed64 => "fixed64",
        ScalarType::Fixed32 => "fixed32",
        ScalarType::Bool => "bool",
        ScalarType::String => "string",
        ScalarType::Bytes => "bytes",
        ScalarType::Uint32 => "uint32",
        ScalarType::Sfixed32 => "sfixed32",
        ScalarType::Sfixed64 => "sfixed64",
        ScalarType::Sint32 => "sint32",
        ScalarType::Sint64 => "sint64",
    }
}

/// Returns the columns that a program fills. A value takes at least one byte of its message; for an absent
/// value, that is a byte of the enclosing message.
fn specs(program: &Program) -> Vec<ColumnSpec> {
    let spec = |output: &forthwith_program::OutputBinding| ColumnSpec {
        key: output.key.clone(),
        dtype: output.dtype,
        offsets: output.offsets,
        member: output.member.clone(),
        bytes_per_payload_byte: output.dtype.size() as u32,
    };
    program.outputs.iter().map(spec).collect()
}
