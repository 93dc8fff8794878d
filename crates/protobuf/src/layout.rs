//! Translation of message types to layouts.

use crate::schema::{Schema, message_of};
use buffa_descriptor::{
    EnumIndex, FieldDescriptor, FieldKind, MessageIndex, ScalarType, SingularKind,
    features::{EnumType, FieldPresence},
};
use forthwith_columns::{DType, Encoding, LogicalType, MAP, TimeUnit, Zone};
use forthwith_program::{
    Count, Delivered, Dialect, Extent, Frame, Layout, Presence, Rival, Symbols, Tagged, TaggedField,
    TextLength,
};
use std::{collections::BTreeMap, sync::Arc};

/// Maximum nesting depth of messages.
const MAX_DEPTH: usize = 60;
/// Maximum number of fields of a layout: repeated references to message types can expand far beyond the
/// length of the schema.
const MAX_FIELDS: usize = 1 << 13;

/// Nanoseconds per second.
const NANOS: i32 = 1_000_000_000;

/// Wire types of field keys.
const VARINT: u32 = 0;
const EIGHT_BYTES: u32 = 1;
const LENGTH: u32 = 2;
const GROUP: u32 = 3;
const GROUP_END: u32 = 4;
const FOUR_BYTES: u32 = 5;

/// Returns the dialect of messages, with a frame before each entry.
pub(crate) const fn dialect(entry: Frame) -> Dialect {
    Dialect { counts: Count::Big32, text: TextLength::Leb128, entry }
}

/// Projection of a message type.
#[derive(Clone, Debug)]
pub(crate) enum Keep {
    Whole,
    Fields(BTreeMap<String, Self>),
}

impl Keep {
    pub(crate) const fn none() -> Self {
        Self::Fields(BTreeMap::new())
    }

    /// Sets the projection of a field.
    pub(crate) fn insert(&mut self, name: String, keep: Self) {
        if let Self::Fields(fields) = self {
            fields.insert(name, keep);
        }
    }

    /// Adds the field at a path to the projection.
    pub(crate) fn add(&mut self, path: &[String]) {
        match (&mut *self, path) {
            (Self::Whole, _) => {}
            (_, []) => *self = Self::Whole,
            (Self::Fields(fields), [first, rest @ ..]) => {
                fields.entry(first.clone()).or_insert_with(Self::none).add(rest);
            }
        }
    }

    /// Returns the projection of a field; `None` if it is not kept.
    fn of(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Whole => Some(&Self::Whole),
            Self::Fields(fields) => fields.get(name),
        }
    }
}

/// Options for mapping message types to column types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Whether `google.protobuf.Timestamp` and `Duration` become timestamps and durations; otherwise they are
    /// records.
    pub times: bool,
    /// Whether enums become numbers; otherwise they are names.
    pub enum_numbers: bool,
    /// Number of times that a message type is read within itself. If 0, recursive fields are refused;
    /// otherwise deeper nesting is an error when the value is read.
    pub recursion: u32,
}

impl Default for Mapping {
    fn default() -> Self {
        Self { times: true, enum_numbers: false, recursion: 0 }
    }
}

impl Mapping {
    /// Whether messages of a type become single values instead of records.
    pub(crate) fn is_value(self, name: &str) -> bool {
        is_wrapper(name) || self.time(name).is_some()
    }

    /// Returns the logical type of a message type for times.
    fn time(self, name: &str) -> Option<LogicalType> {
        match name {
            _ if !self.times => None,
            "google.protobuf.Timestamp" => {
                Some(LogicalType::Timestamp { unit: TimeUnit::Nano, zone: Some(Zone::UTC) })
            }
            "google.protobuf.Duration" => Some(LogicalType::Duration(TimeUnit::Nano)),
            _ => None,
        }
    }
}

/// Translator of message types to layouts.
pub(crate) struct Layouts<'s> {
    schema: &'s Schema,
    mapping: Mapping,
    /// Whether required fields are always kept, since written messages must have them.
    keeps_required: bool,
    /// Enclosing message types.
    open: Vec<MessageIndex>,
    fields: usize,
}

type Made<T> = std::result::Result<T, String>;

impl<'s> Layouts<'s> {
    pub(crate) const fn new(schema: &'s Schema, mapping: Mapping) -> Self {
        Self { schema, mapping, keeps_required: false, open: Vec::new(), fields: 0 }
    }

    /// Creates a translator of layouts for writing.
    pub(crate) fn for_writing(schema: &'s Schema, mapping: Mapping) -> Self {
        Self { keeps_required: true, ..Self::new(schema, mapping) }
    }

    /// Returns the layout of the kept fields of a message, in the order of the schema.
    pub(crate) fn message(&mut self, index: MessageIndex, keep: &Keep) -> Made<Tagged> {
        let message = self.schema.pool().message(index);
        let name = message.full_name();
        if self.mapping.recursion == 0 && self.open.contains(&index) {
            return Err(format!("a message of type {name} within itself: recursion= says how deep to read"));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("messages nested more than {MAX_DEPTH} deep"));
        }
        if message.options().is_some_and(|options| options.message_set_wire_format == Some(true)) {
            return Err(format!("{name}, which is a message set"));
        }
        self.open.push(index);
        let (mut fields, mut rivals, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for (label, field) in self.schema.fields(index) {
            let is_required = field.presence() == FieldPresence::LegacyRequired;
            let required = (self.keeps_required && is_required).then_some(&Keep::Whole);
            match keep.of(&label).or(required) {
                Some(_) if self.is_too_deep(field) => refused.extend(self.first_key(field)),
                Some(keep) => {
                    fields.push(self.field(index, &label, field, keep).map_err(|why| inside(&label, why))?)
                }
                None => rivals.extend(self.rival(index, field)),
            }
        }
        self.open.pop();
        let is_inner = !self.open.is_empty();
        let delivered = match self.mapping.time(name) {
            Some(meaning) if is_inner && fields.len() == 2 => Delivered::Sum(NANOS, meaning),
            _ if is_inner && is_wrapper(name) && fields.len() == 1 => Delivered::Only,
            _ => Delivered::Record,
        };
        let ignores_item = false;
        Ok(Tagged { name: Some(name.to_owned()), fields, rivals, refused, delivered, ignores_item })
    }

    /// Whether the message type of a field is already nested as often as the mapping allows.
    fn is_too_deep(&self, field: &FieldDescriptor) -> bool {
        let Some(inner) = message_of(field.kind()) else { return false };
        let around = self.open.iter().filter(|open| **open == inner).count();
        self.mapping.recursion > 0 && around > self.mapping.recursion as usize
    }

    fn first_key(&self, field: &FieldDescriptor) -> Option<u32> {
        let kind = match field.kind() {
            FieldKind::Singular(kind) | FieldKind::List(kind) => kind,
            FieldKind::Map { .. } => return Some(field.number() << 3 | LENGTH),
        };
        keys(field.number(), kind, field.is_delimited()).first().map(|(key, _)| *key)
    }

    /// Returns a field that is not kept but is in a `oneof`, so that its presence makes the kept members
    /// absent.
    fn rival(&self, message: MessageIndex, field: &FieldDescriptor) -> Option<Rival> {
        let FieldKind::Singular(kind) = field.kind() else { return None };
        let Presence::Choice(choice) = self.presence(message, field, kind) else { return None };
        let (key, _) = *keys(field.number(), kind, field.is_delimited()).first()?;
        let symbols = match kind {
            SingularKind::Enum(at) if field.enum_type() == Some(EnumType::Closed) => Some(self.names(at)),
            _ => None,
        };
        Some(Rival { key, choice, symbols })
    }

    fn field(
        &mut self,
        message: MessageIndex,
        label: &str,
        field: &FieldDescriptor,
        keep: &Keep,
    ) -> Made<TaggedField> {
        self.fields += 1;
        if self.fields > MAX_FIELDS {
            return Err(format!("more than {MAX_FIELDS} fields"));
        }
        let closed = field.enum_type() == Some(EnumType::Closed);
        let (of, keys, presence) = match field.kind() {
            FieldKind::Map { key, value } => {
                let entry = self.entry(key, value, closed, keep)?;
                let keys = vec![(field.number() << 3 | LENGTH, Extent::One)];
                (Layout::Tagged(entry), keys, Presence::Repeated)
            }
            FieldKind::List(kind) => {
                let of = self.value(kind, closed, keep)?;
                let mut keys = keys(field.number(), kind, field.is_delimited());
                if keys.iter().all(|(key, _)| matches!(key & 7, VARINT | EIGHT_BYTES | FOUR_BYTES)) {
                    keys.push((field.number() << 3 | LENGTH, Extent::Packed));
                }
                (of, keys, Presence::Repeated)
            }
            FieldKind::Singular(kind) => {
                let of = self.value(kind, closed, keep)?;
                let keys = keys(field.number(), kind, field.is_delimited());
                (of, keys, self.presence(message, field, kind))
            }
        };
        Ok(TaggedField { name: label.to_owned(), keys, presence, of })
    }

    fn presence(&self, message: MessageIndex, field: &FieldDescriptor, kind: SingularKind) -> Presence {
        let oneofs = self.schema.pool().message(message).oneofs();
        let choice = field
            .oneof_index()
            .filter(|at| oneofs.get(usize::from(*at)).is_some_and(|oneof| !oneof.is_synthetic()));
        match (field.presence(), choice, kind) {
            (_, Some(at), _) => Presence::Choice(u32::from(at)),
            (FieldPresence::LegacyRequired, ..) => Presence::Required,
            (FieldPresence::Explicit, ..) | (_, _, SingularKind::Message(_)) => Presence::Optional,
            (_, _, kind) => self.default(kind),
        }
    }

    /// Returns the presence of a field without explicit presence, with the bytes of its default value.
    fn default(&self, kind: SingularKind) -> Presence {
        let first =
            |at| self.schema.pool().enumeration(at).values().first().map_or(0, |value| value.number());
        Presence::Default(match kind {
            SingularKind::Enum(at) => Some(varint(i64::from(first(at)) as u64).into()),
            _ => None,
        })
    }

    /// Returns the layout of a map entry. As in Google's parser, an entry with an unknown field is skipped as
    /// a whole.
    fn entry(&mut self, key: ScalarType, value: SingularKind, closed: bool, keep: &Keep) -> Made<Tagged> {
        let of = self.value(value, closed, keep)?;
        let field = |name: &str, number, kind, of, presence| TaggedField {
            name: name.into(),
            keys: keys(number, kind, false),
            presence,
            of,
        };
        // Pairs with a string key are recognised as a map without this name.
        let name = (key != ScalarType::String).then(|| MAP.to_owned());
        let fields = vec![
            field("key", 1, SingularKind::Scalar(key), scalar(key), Presence::Default(None)),
            field("value", 2, value, of, self.default(value)),
        ];
        let (rivals, refused) = (Vec::new(), Vec::new());
        Ok(Tagged { name, fields, rivals, refused, delivered: Delivered::Tuple, ignores_item: true })
    }

    fn value(&mut self, kind: SingularKind, closed: bool, keep: &Keep) -> Made<Layout> {
        Ok(match kind {
            SingularKind::Scalar(of) => scalar(of),
            SingularKind::Enum(_) if self.mapping.enum_numbers && !closed => scalar(ScalarType::Int32),
            SingularKind::Enum(at) => {
                let delivered = match (closed, self.mapping.enum_numbers) {
                    (false, _) => Symbols::Text,
                    (true, false) => Symbols::Category,
                    (true, true) => Symbols::Number,
                };
                Layout::Symbol { names: self.names(at), delivered }
            }
            SingularKind::Message(at) => Layout::Tagged(self.message(at, keep)?),
        })
    }

    /// Returns the names of an enum by number; of several names of a number, the first.
    fn names(&self, at: EnumIndex) -> Arc<[(i32, String)]> {
        let mut names: Vec<(i32, String)> = Vec::new();
        for value in self.schema.pool().enumeration(at).values() {
            if names.iter().all(|(number, _)| *number != value.number()) {
                names.push((value.number(), value.name().to_owned()));
            }
        }
        names.into()
    }
}

/// Whether a type is one of Google's wrapper messages, which make a scalar nullable.
fn is_wrapper(name: &str) -> bool {
    let short = name.strip_prefix("google.protobuf.").and_then(|name| name.strip_suffix("Value"));
    let wrapped = ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"];
    short.is_some_and(|short| wrapped.contains(&short))
}

fn inside(field: &str, why: String) -> String {
    match why.strip_prefix("field ") {
        Some(inner) => format!("field {field}.{inner}"),
        None => format!("field {field}: {why}"),
    }
}

fn keys(number: u32, kind: SingularKind, is_delimited: bool) -> Vec<(u32, Extent)> {
    let number = number << 3;
    let wire = match kind {
        SingularKind::Message(_) if is_delimited => {
            return vec![(number | GROUP, Extent::Until(number | GROUP_END))];
        }
        SingularKind::Message(_) | SingularKind::Scalar(ScalarType::String | ScalarType::Bytes) => LENGTH,
        SingularKind::Scalar(ScalarType::Double | ScalarType::Fixed64 | ScalarType::Sfixed64) => EIGHT_BYTES,
        SingularKind::Scalar(ScalarType::Float | ScalarType::Fixed32 | ScalarType::Sfixed32) => FOUR_BYTES,
        _ => VARINT,
    };
    vec![(number | wire, Extent::One)]
}

fn scalar(of: ScalarType) -> Layout {
    let fixed = |dtype| Layout::Number(Encoding::Little(dtype));
    let varint = |dtype| Layout::Leb128 { zigzag: false, dtype };
    let zigzag = |dtype| Layout::Leb128 { zigzag: true, dtype };
    match of {
        ScalarType::Double => fixed(DType::Float64),
        ScalarType::Float => fixed(DType::Float32),
        ScalarType::Fixed64 => fixed(DType::UInt64),
        ScalarType::Fixed32 => fixed(DType::UInt32),
        ScalarType::Sfixed64 => fixed(DType::Int64),
        ScalarType::Sfixed32 => fixed(DType::Int32),
        ScalarType::Int64 => varint(DType::Int64),
        ScalarType::Uint64 => varint(DType::UInt64),
        ScalarType::Int32 => varint(DType::Int32),
        ScalarType::Uint32 => varint(DType::UInt32),
        ScalarType::Bool => varint(DType::Bool),
        ScalarType::Sint32 => zigzag(DType::Int32),
        ScalarType::Sint64 => zigzag(DType::Int64),
        ScalarType::String => Layout::Text,
        ScalarType::Bytes => Layout::Bytes,
    }
}

/// Encodes a varint.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}
