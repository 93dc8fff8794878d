//! Schemas: types of the values of a file.

mod canonical;
mod parse;
#[cfg(test)]
mod tests;

pub use parse::SchemaError;

use serde_json::{Map, Value as Json};
use std::{collections::HashMap, fmt};

/// A parsed schema: types that refer to each other by [`Id`], because types may contain themselves.
///
/// ```
/// use forthwith_avro::{Kind, Schema};
///
/// let schema: Schema = r#"{"type": "record", "name": "a.Point", "fields": [{"name": "x", "type": ["null", "double"]}]}"#.parse()?;
/// let Kind::Record { name, fields } = &schema.root().kind else { panic!() };
/// assert_eq!((name.full.as_str(), schema.describe(fields[0].schema).as_str()), ("a.Point", "union[null, double]"));
/// # Ok::<(), forthwith_avro::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    types: Vec<Type>,
    root: Id,
    named: HashMap<String, Id>,
}

/// Identifier of a type in a [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(u32);

/// Type of a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// Encoding of the values.
    pub kind: Kind,
    /// Logical type, if the schema has a valid one.
    pub logical: Option<Logical>,
    /// Documentation.
    pub doc: Option<String>,
    /// All other properties.
    pub properties: Map<String, Json>,
}

/// Encoding of a type.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// No bytes.
    Null,
    /// One byte.
    Boolean,
    /// A zigzag varint of up to 32 bits.
    Int,
    /// A zigzag varint of up to 64 bits.
    Long,
    /// Four bytes, little-endian.
    Float,
    /// Eight bytes, little-endian.
    Double,
    /// A length and the bytes it spans.
    Bytes,
    /// A length and UTF-8 text.
    String,
    /// Blocks of items.
    Array(Id),
    /// Blocks of pairs of a string and a value.
    Map(Id),
    /// The index of a branch, and a value of its type.
    Union(Vec<Id>),
    /// A fixed number of bytes.
    Fixed {
        /// Name of the type.
        name: Name,
        /// Number of bytes.
        size: u64,
    },
    /// The index of a symbol.
    Enum {
        /// Name of the type.
        name: Name,
        /// Symbols in the order of their indexes.
        symbols: Vec<String>,
        /// Symbol that replaces symbols unknown to a reader.
        default: Option<String>,
    },
    /// The fields in order.
    Record {
        /// Name of the type.
        name: Name,
        /// Fields of the record.
        fields: Vec<Field>,
    },
}

/// Name of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Name with its namespace.
    pub full: String,
    /// Alternative names with their namespaces.
    pub aliases: Vec<String>,
}

impl Name {
    /// Returns the name without its namespace.
    #[must_use]
    pub fn short(&self) -> &str {
        self.full.rsplit('.').next().unwrap_or(&self.full)
    }
}

/// Field of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name of the field.
    pub name: String,
    /// Type of the field.
    pub schema: Id,
    /// Default value for data without this field, as JSON.
    pub default: Option<Json>,
    /// Alternative names.
    pub aliases: Vec<String>,
    /// Documentation.
    pub doc: Option<String>,
    /// All other properties.
    pub properties: Map<String, Json>,
}

/// Logical type: meaning of encoded values. As the specification demands, a logical type that is unknown or
/// does not fit the encoding is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logical {
    /// A decimal number as bytes or fixed: an unscaled big-endian integer in two's complement.
    Decimal {
        /// Number of digits.
        precision: u32,
        /// Number of digits after the decimal point.
        scale: u32,
    },
    /// A UUID as a string, or as fixed of 16 bytes.
    Uuid,
    /// Days since 1970-01-01.
    Date,
    /// Time of day.
    Time(Unit),
    /// Time since 1970-01-01 00:00 UTC.
    Timestamp(Unit),
    /// Time since 1970-01-01 00:00 in an unspecified time zone.
    LocalTimestamp(Unit),
    /// Fixed of 12 bytes: months, days and milliseconds as little-endian `u32`.
    Duration,
}

/// Unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Milli,
    /// Microseconds.
    Micro,
    /// Nanoseconds.
    Nano,
}

impl Schema {
    /// Parses a schema given by a caller.
    ///
    /// # Errors
    /// Returns an error with the path of the fault if the text is not a valid schema.
    pub fn parse(text: &str) -> forthwith_plan::Result<Self> {
        text.parse()
            .map_err(|bad: SchemaError| forthwith_plan::Error::invalid(format!("not an Avro schema: {bad}")))
    }

    /// Returns the outermost type.
    #[must_use]
    pub fn root(&self) -> &Type {
        self.get(self.root)
    }

    /// Returns the identifier of the outermost type.
    #[must_use]
    pub const fn root_id(&self) -> Id {
        self.root
    }

    /// Returns a type of this schema.
    #[must_use]
    pub fn get(&self, id: Id) -> &Type {
        // Identifiers are created by parsing only. One of another schema is an error of the caller and may
        // yield the outermost type.
        self.types.get(id.0 as usize).unwrap_or(&self.types[self.root.0 as usize])
    }

    /// Returns the type with this full name.
    #[must_use]
    pub fn named(&self, full: &str) -> Option<Id> {
        self.named.get(full).copied()
    }

    /// Returns a short description of a type, such as `array[union[null, Point]]`, in which named types
    /// appear by name.
    #[must_use]
    pub fn describe(&self, id: Id) -> String {
        let ty = self.get(id);
        let base = match &ty.kind {
            Kind::Array(item) => format!("array[{}]", self.describe(*item)),
            Kind::Map(value) => format!("map[{}]", self.describe(*value)),
            Kind::Union(branches) => {
                let branches: Vec<_> = branches.iter().map(|branch| self.describe(*branch)).collect();
                format!("union[{}]", branches.join(", "))
            }
            Kind::Fixed { name, size } => format!("fixed {}[{size}]", name.short()),
            Kind::Enum { name, symbols, .. } => {
                let listed =
                    symbols.iter().take(MOST_SYMBOLS).map(String::as_str).collect::<Vec<_>>().join(", ");
                let more = if symbols.len() > MOST_SYMBOLS { ", …" } else { "" };
                format!("enum {}[{listed}{more}]", name.short())
            }
            Kind::Record { name, .. } => name.short().to_owned(),
            kind => kind.primitive().unwrap_or_default().to_owned(),
        };
        match &ty.logical {
            Some(logical) => format!("{logical} ({base})"),
            None => base,
        }
    }

    /// Returns the name of a type; `None` if its kind has no name.
    #[must_use]
    pub fn name(&self, id: Id) -> Option<&Name> {
        match &self.get(id).kind {
            Kind::Fixed { name, .. } | Kind::Enum { name, .. } | Kind::Record { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// Primitive types by name.
pub(crate) static PRIMITIVES: [(&str, Kind); 8] = [
    ("null", Kind::Null),
    ("boolean", Kind::Boolean),
    ("int", Kind::Int),
    ("long", Kind::Long),
    ("float", Kind::Float),
    ("double", Kind::Double),
    ("bytes", Kind::Bytes),
    ("string", Kind::String),
];

impl Kind {
    /// Returns the name of a primitive type; `None` for other types.
    pub(crate) fn primitive(&self) -> Option<&'static str> {
        PRIMITIVES.iter().find(|(_, kind)| kind == self).map(|(name, _)| *name)
    }
}

/// Maximum number of symbols in a description.
const MOST_SYMBOLS: usize = 8;

impl fmt::Display for Logical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = |unit| match unit {
            Unit::Milli => "millis",
            Unit::Micro => "micros",
            Unit::Nano => "nanos",
        };
        match *self {
            Self::Decimal { precision, scale } => write!(f, "decimal[{precision}, {scale}]"),
            Self::Uuid => f.write_str("uuid"),
            Self::Date => f.write_str("date"),
            Self::Time(u) => write!(f, "time-{}", unit(u)),
            Self::Timestamp(u) => write!(f, "timestamp-{}", unit(u)),
            Self::LocalTimestamp(u) => write!(f, "local-timestamp-{}", unit(u)),
            Self::Duration => f.write_str("duration"),
        }
    }
}
