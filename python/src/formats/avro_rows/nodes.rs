//! The types of a schema, prepared for encoding.

use forthwith::avro::{Field, Id, Kind, Logical, Schema, encode_default, put_long};
use pyo3::{prelude::*, types::PyString};
use std::collections::HashMap;

/// The types of a schema, by number. The first one is the type of the rows.
pub(super) struct Nodes {
    all: Vec<Node>,
}

/// A type of the schema.
pub(super) struct Node {
    pub(super) of: Of,
    pub(super) logical: Option<Logical>,
    /// Short description for errors.
    pub(super) described: String,
    /// Names in hints at branches of a union: `full` includes the namespace, if there is one.
    pub(super) full: String,
    pub(super) short: String,
}

/// The encoding of a type.
pub(super) enum Of {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Fixed(usize),
    Enum(HashMap<String, i64>),
    Array(usize),
    Map(usize),
    Union { branches: Vec<usize>, null: Option<i64> },
    Record(Vec<Member>),
}

/// A field of a record.
pub(super) struct Member {
    pub(super) key: Py<PyString>,
    pub(super) name: String,
    pub(super) node: usize,
    pub(super) absent: Absent,
}

/// Encoding of a field that a row lacks.
pub(super) enum Absent {
    /// The encoded default or null.
    Bytes(Vec<u8>),
    /// The field has no default, or is required.
    Refused,
    /// The default is invalid for the type of the field, with the reason.
    Wrong(String),
}

impl Nodes {
    pub(super) fn of(py: Python<'_>, schema: &Schema, strict: bool) -> Self {
        let mut making = Making { py, schema, strict, known: HashMap::new(), all: Vec::new() };
        making.number(schema.root_id());
        let mut next = 0;
        // Types refer to others by number, because they may be recursive; those are appended and created
        // later.
        let mut made = Vec::new();
        while let Some(id) = making.all.get(next).copied() {
            made.push(making.node(id));
            next += 1;
        }
        Self { all: made }
    }

    pub(super) fn get(&self, at: usize) -> &Node {
        &self.all[at]
    }
}

struct Making<'a, 'py> {
    py: Python<'py>,
    schema: &'a Schema,
    /// Whether fields are required even if they have defaults.
    strict: bool,
    known: HashMap<Id, usize>,
    all: Vec<Id>,
}

impl Making<'_, '_> {
    fn number(&mut self, id: Id) -> usize {
        let next = self.all.len();
        let at = *self.known.entry(id).or_insert(next);
        if at == next {
            self.all.push(id);
        }
        at
    }

    fn node(&mut self, id: Id) -> Node {
        let schema = self.schema;
        let ty = schema.get(id);
        let (of, plain) = match &ty.kind {
            Kind::Null => (Of::Null, "null"),
            Kind::Boolean => (Of::Boolean, "boolean"),
            Kind::Int => (Of::Int, "int"),
            Kind::Long => (Of::Long, "long"),
            Kind::Float => (Of::Float, "float"),
            Kind::Double => (Of::Double, "double"),
            Kind::Bytes => (Of::Bytes, "bytes"),
            Kind::String => (Of::String, "string"),
            // A size beyond the address space matches no value.
            Kind::Fixed { size, .. } => (Of::Fixed(usize::try_from(*size).unwrap_or(usize::MAX)), ""),
            Kind::Enum { symbols, .. } => (Of::Enum(symbols.iter().cloned().zip(0..).collect()), ""),
            Kind::Array(item) => (Of::Array(self.number(*item)), "array"),
            Kind::Map(value) => (Of::Map(self.number(*value)), "map"),
            Kind::Union(branches) => {
                let null = branches.iter().position(|branch| schema.get(*branch).kind == Kind::Null);
                let branches = branches.iter().map(|branch| self.number(*branch)).collect();
                (Of::Union { branches, null: null.map(|at| at as i64) }, "union")
            }
            Kind::Record { fields, .. } => {
                (Of::Record(fields.iter().map(|field| self.member(field)).collect()), "")
            }
        };
        let (full, short) = match schema.name(id) {
            Some(name) => (name.full.clone(), name.short().to_owned()),
            None => (plain.to_owned(), plain.to_owned()),
        };
        Node { of, logical: ty.logical, described: schema.describe(id), full, short }
    }

    fn member(&mut self, field: &Field) -> Member {
        let absent = match encode_default(self.schema, field) {
            _ if self.strict => Absent::Refused,
            Ok(Some(bytes)) => Absent::Bytes(bytes),
            Ok(None) => match &self.schema.get(field.schema).kind {
                Kind::Null => Absent::Bytes(Vec::new()),
                Kind::Union(branches) => {
                    match branches.iter().position(|branch| self.schema.get(*branch).kind == Kind::Null) {
                        Some(null) => {
                            let mut bytes = Vec::new();
                            put_long(null as i64, &mut bytes);
                            Absent::Bytes(bytes)
                        }
                        None => Absent::Refused,
                    }
                }
                _ => Absent::Refused,
            },
            Err(why) => Absent::Wrong(why),
        };
        let key = PyString::intern(self.py, &field.name).unbind();
        Member { key, name: field.name.clone(), node: self.number(field.schema), absent }
    }
}
