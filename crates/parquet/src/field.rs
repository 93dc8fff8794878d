//! Fields of the schema in a file's footer.

use crate::thrift::Compact;
use forthwith_columns::TimeUnit;
use forthwith_plan::{Error, Result};
use std::fmt;

/// Upper bound on the nesting of groups.
const DEEPEST: usize = 100;

/// A field: a column of the file, or a group of fields.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) repetition: Repetition,
    pub(crate) kind: Kind,
    logical: Option<Logical>,
    /// The deprecated `ConvertedType`, which older files have in place of the logical type.
    converted: Option<i64>,
    id: Option<i64>,
    precision: i64,
    scale: i64,
}

/// The content of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Leaf {
        /// Number of the physical type.
        physical: i64,
        /// Length in bytes of values of fixed length.
        length: i64,
    },
    Group(Vec<Type>),
}

/// Repetition of a field, which is `Required` by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repetition {
    Required,
    Optional,
    Repeated,
}

/// Logical type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logical {
    String,
    Map,
    List,
    Enum,
    Decimal {
        precision: i64,
        scale: i64,
    },
    Date,
    Time {
        unit: TimeUnit,
        utc: bool,
    },
    Timestamp {
        unit: TimeUnit,
        utc: bool,
    },
    Integer {
        bits: i64,
        signed: bool,
    },
    /// All values are null.
    Null,
    Json,
    Bson,
    Uuid,
    Half,
    Variant,
    Geometry,
    Geography,
    Interval,
    /// An unknown logical type, by its number.
    Other(i64),
}

impl Type {
    /// Returns the fields of a group; none for a column.
    pub(crate) fn fields(&self) -> &[Self] {
        match &self.kind {
            Kind::Group(fields) => fields,
            Kind::Leaf { .. } => &[],
        }
    }

    pub(crate) const fn is_leaf(&self) -> bool {
        matches!(self.kind, Kind::Leaf { .. })
    }

    /// Returns the logical type, or else the equivalent of the converted type.
    pub(crate) fn logical(&self) -> Option<Logical> {
        self.logical.or_else(|| self.of_converted())
    }

    fn of_converted(&self) -> Option<Logical> {
        let (milli, micro, utc) = (TimeUnit::Milli, TimeUnit::Micro, true);
        Some(match self.converted? {
            0 => Logical::String,
            1 | 2 => Logical::Map,
            3 => Logical::List,
            4 => Logical::Enum,
            5 => Logical::Decimal { precision: self.precision, scale: self.scale },
            6 => Logical::Date,
            7 => Logical::Time { unit: milli, utc },
            8 => Logical::Time { unit: micro, utc },
            9 => Logical::Timestamp { unit: milli, utc },
            10 => Logical::Timestamp { unit: micro, utc },
            number @ 11..=18 => Logical::Integer { bits: 8 << ((number - 11) % 4), signed: number > 14 },
            19 => Logical::Json,
            20 => Logical::Bson,
            21 => Logical::Interval,
            _ => return None,
        })
    }

    /// Reads the schema from the footer's list of elements, in which a group is followed by its fields.
    pub(crate) fn read(compact: &mut Compact<'_>) -> Result<Self> {
        let (item, size) = compact.list()?;
        if item != 12 || size == 0 {
            return Err(compact.odd("a schema that is no list of elements"));
        }
        let mut left = size;
        let root = Self::element(compact, &mut left, 0)?;
        if left > 0 {
            return Err(compact.odd(format!("{left} elements of a schema that belong to no group")));
        }
        Ok(root)
    }

    fn element(compact: &mut Compact<'_>, left: &mut u64, depth: usize) -> Result<Self> {
        if depth > DEEPEST {
            return Err(Error::unsupported(format!("groups more than {DEEPEST} deep")));
        }
        let Some(fewer) = left.checked_sub(1) else {
            return Err(compact.odd("a group with fewer fields than it says"));
        };
        *left = fewer;
        let (mut physical, mut length, mut repetition, mut children) = (None, 0, 0, 0);
        let mut named = false;
        let mut this = Self {
            name: String::new(),
            repetition: Repetition::Required,
            kind: Kind::Group(Vec::new()),
            logical: None,
            converted: None,
            id: None,
            precision: 0,
            scale: 0,
        };
        compact.fields(&mut |compact, number, kind| match (number, kind) {
            (1, _) => compact.optional(kind, &mut physical),
            (2, _) => compact.number(kind, &mut length),
            (3, _) => compact.number(kind, &mut repetition),
            (4, 8) => {
                named = true;
                this.name = compact.text()?;
                Ok(())
            }
            (5, _) => compact.number(kind, &mut children),
            (6, _) => compact.optional(kind, &mut this.converted),
            (7, _) => compact.number(kind, &mut this.scale),
            (8, _) => compact.number(kind, &mut this.precision),
            (9, _) => compact.optional(kind, &mut this.id),
            (10, 12) => {
                this.logical = Logical::read(compact)?;
                Ok(())
            }
            _ => compact.skip(kind, 0),
        })?;
        if !named && depth > 0 {
            return Err(compact.odd("a field without a name"));
        }
        this.repetition = match repetition {
            0 => Repetition::Required,
            1 => Repetition::Optional,
            2 => Repetition::Repeated,
            other => return Err(compact.odd(format!("a field of repetition {other}"))),
        };
        match (children, physical) {
            // The root is always a group.
            (0, Some(physical)) if depth > 0 => this.kind = Kind::Leaf { physical, length },
            _ => {
                let mut fields = Vec::new();
                for _ in 0..children {
                    fields.push(Self::element(compact, left, depth + 1)?);
                }
                this.kind = Kind::Group(fields);
            }
        }
        Ok(this)
    }
}

impl Logical {
    /// Reads a union: a structure with one field, whose number is that of the type.
    fn read(compact: &mut Compact<'_>) -> Result<Option<Self>> {
        let mut found = None;
        compact.fields(&mut |compact, number, kind| {
            if kind != 12 {
                return compact.skip(kind, 0);
            }
            found = Some(match number {
                5 => {
                    let (mut scale, mut precision) = (0, 0);
                    compact.fields(&mut |compact, number, kind| match number {
                        1 => compact.number(kind, &mut scale),
                        2 => compact.number(kind, &mut precision),
                        _ => compact.skip(kind, 0),
                    })?;
                    found = Some(Self::Decimal { precision, scale });
                    return Ok(());
                }
                7 | 8 => {
                    found = Some(match (Self::time(compact)?, number) {
                        ((Some(unit), utc), 7) => Self::Time { unit, utc },
                        ((Some(unit), utc), _) => Self::Timestamp { unit, utc },
                        ((None, _), number) => Self::Other(number),
                    });
                    return Ok(());
                }
                10 => {
                    let (mut bits, mut signed) = (0, false);
                    compact.fields(&mut |compact, number, kind| match number {
                        1 => compact.number(kind, &mut bits),
                        2 => compact.flag(kind, &mut signed),
                        _ => compact.skip(kind, 0),
                    })?;
                    found = Some(Self::Integer { bits, signed });
                    return Ok(());
                }
                other => {
                    let known = WORDS.iter().find(|(number, ..)| *number == other);
                    known.map_or(Self::Other(other), |(_, logical, _)| *logical)
                }
            });
            compact.skip(kind, 0)
        })?;
        Ok(found)
    }

    /// Reads the unit, which is `None` if it is unknown, and whether times are in UTC.
    fn time(compact: &mut Compact<'_>) -> Result<(Option<TimeUnit>, bool)> {
        let (mut unit, mut utc) = (None, false);
        compact.fields(&mut |compact, number, kind| match (number, kind) {
            (1, _) => compact.flag(kind, &mut utc),
            (2, 12) => compact.fields(&mut |compact, number, kind| {
                unit = match number {
                    1 => Some(TimeUnit::Milli),
                    2 => Some(TimeUnit::Micro),
                    3 => Some(TimeUnit::Nano),
                    _ => None,
                };
                compact.skip(kind, 0)
            }),
            _ => compact.skip(kind, 0),
        })?;
        Ok((unit, utc))
    }
}

/// Formats a type in the usual notation of schemas, on one line.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.repetition {
            Repetition::Required => "REQUIRED ",
            Repetition::Optional => "OPTIONAL ",
            Repetition::Repeated => "REPEATED ",
        })?;
        match self.kind {
            Kind::Leaf { physical: 7, length } => write!(f, "FIXED_LEN_BYTE_ARRAY ({length})")?,
            Kind::Leaf { physical, .. } => {
                match PHYSICAL.get(usize::try_from(physical).unwrap_or(usize::MAX)) {
                    Some(name) => f.write_str(name)?,
                    None => write!(f, "TYPE {physical}")?,
                }
            }
            Kind::Group(_) => f.write_str("group")?,
        }
        write!(f, " {}", self.name)?;
        if let Some(id) = self.id {
            write!(f, " [{id}]")?;
        }
        let said = self.said();
        if !said.is_empty() {
            write!(f, " ({said})")?;
        }
        if let Kind::Group(fields) = &self.kind {
            f.write_str(" {")?;
            for field in fields {
                write!(f, " {field}{}", if field.is_leaf() { ";" } else { "" })?;
            }
            f.write_str(" }")?;
        }
        Ok(())
    }
}

impl Type {
    fn said(&self) -> String {
        let unit = |unit| match unit {
            TimeUnit::Second => "SECONDS",
            TimeUnit::Milli => "MILLIS",
            TimeUnit::Micro => "MICROS",
            TimeUnit::Nano => "NANOS",
        };
        let Some(logical) = self.logical else {
            let number = self.converted.and_then(|number| usize::try_from(number).ok());
            return match (number, self.precision, self.scale) {
                (Some(5), 1.., 1..) => format!("DECIMAL({},{})", self.precision, self.scale),
                (Some(5), 1.., 0) => format!("DECIMAL({})", self.precision),
                (Some(number), ..) => CONVERTED.get(number).copied().unwrap_or("UNKNOWN").to_owned(),
                (None, ..) => String::new(),
            };
        };
        match logical {
            Logical::Decimal { precision, scale } => format!("DECIMAL({precision},{scale})"),
            Logical::Time { unit: of, utc } => format!("TIME({},{utc})", unit(of)),
            Logical::Timestamp { unit: of, utc } => format!("TIMESTAMP({},{utc})", unit(of)),
            Logical::Integer { bits, signed } => format!("INTEGER({bits},{signed})"),
            Logical::Other(number) => format!("UNKNOWN({number})"),
            Logical::Interval => "INTERVAL".into(),
            word => {
                let known = WORDS.iter().find(|(_, logical, _)| *logical == word);
                known.map_or("", |(.., name)| name).to_owned()
            }
        }
    }
}

/// Logical types without parameters: their number, the type, and its name.
const WORDS: [(i64, Logical, &str); 13] = [
    (1, Logical::String, "STRING"),
    (2, Logical::Map, "MAP"),
    (3, Logical::List, "LIST"),
    (4, Logical::Enum, "ENUM"),
    (6, Logical::Date, "DATE"),
    (11, Logical::Null, "UNKNOWN"),
    (12, Logical::Json, "JSON"),
    (13, Logical::Bson, "BSON"),
    (14, Logical::Uuid, "UUID"),
    (15, Logical::Half, "FLOAT16"),
    (16, Logical::Variant, "VARIANT"),
    (17, Logical::Geometry, "GEOMETRY"),
    (18, Logical::Geography, "GEOGRAPHY"),
];

const PHYSICAL: [&str; 8] =
    ["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"];

const CONVERTED: [&str; 22] = [
    "UTF8",
    "MAP",
    "MAP_KEY_VALUE",
    "LIST",
    "ENUM",
    "DECIMAL",
    "DATE",
    "TIME_MILLIS",
    "TIME_MICROS",
    "TIMESTAMP_MILLIS",
    "TIMESTAMP_MICROS",
    "UINT_8",
    "UINT_16",
    "UINT_32",
    "UINT_64",
    "INT_8",
    "INT_16",
    "INT_32",
    "INT_64",
    "JSON",
    "BSON",
    "INTERVAL",
];
