//! Derivation of columns from others after all blocks are decoded.
//!
//! For a union, a program writes only the tag of each row, one byte; for an enum, only the number of its
//! symbol. The index within the alternative follows from the tags of all blocks together, so it is computed
//! here, in one pass.

use crate::text::texts;
use crate::{
    Builder, Column, DType, Encoding, Memory, OutOfMemory, Presence,
    kernels::{are_truths, decode},
    mixed::{Mixed, convert},
};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, collections::HashMap};

/// Conversion of a column that a program fills to those that a [`Form`](crate::Form) names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Finisher {
    /// Replaces `key-tags` by `key-index`: rows with the tag `null` are null.
    Option {
        /// Key of the node.
        key: String,
        /// Tag of null.
        null: i8,
    },
    /// Adds `key-index`, computed from `key-tags`.
    Union {
        /// Key of the node.
        key: String,
    },
    /// Replaces `key-tags` by `key-index`, and by `union-tags` and `union-index` of the rows that are not
    /// null. Tags above `null` decrease by one.
    OptionUnion {
        /// Key of the option.
        key: String,
        /// Tag of null.
        null: i8,
        /// Key of the union in it.
        union: String,
    },
    /// Replaces `key-objects` by `key-index` and, with a `union`, by its tags and index. Each object has one
    /// row, however often it is referenced. An item is 0 for null; for a new object, a positive number with
    /// its alternative, counted from 1, in the low [`OBJECT_BITS`] bits; for a reference to an earlier
    /// object, minus the number of objects since then, including that one, times 2³².
    Objects {
        /// Key of the option.
        key: String,
        /// Key of the union in it, if there are several alternatives.
        union: Option<String>,
    },
    /// Replaces `key-packed`, encoded bytes of a file, by `key-data`, the decoded numbers.
    Unpack {
        /// Key of the node.
        key: String,
        /// Encoding of each number.
        wire: Encoding,
    },
    /// Replaces `key-mixed`, numbers of several encodings, by `key-data`, the decoded numbers. Each is one
    /// byte, the position of its encoding in `wires`, and its encoded bytes; or
    /// [`NO_NUMBER`](crate::NO_NUMBER), which becomes zero.
    Mixed {
        /// Key of the node.
        key: String,
        /// Encodings of the numbers.
        wires: Vec<Encoding>,
        /// Element type of `key-data`.
        to: DType,
    },
    /// Replaces `key-packed`, bytes that must be 0 or 1, by `key-data`, booleans, without a copy.
    ValidateBool {
        /// Key of the node.
        key: String,
    },
    /// Replaces `key-index`, numbers of symbols, by `key-offsets` and `key-data` of the symbols.
    Symbols {
        /// Key of the node.
        key: String,
        /// Symbols by number.
        symbols: Vec<String>,
    },
    /// Replaces `key-index`, numbers some of which have a name, by `key-offsets` and `key-data` of the names,
    /// or of the digits of numbers without one.
    NamedNumbers {
        /// Key of the node.
        key: String,
        /// Numbers and their names.
        names: Vec<(i32, String)>,
    },
    /// Adds `key-offsets` and `key-data` of the categories that the numbers in `key-index` refer to.
    Categories {
        /// Key of the node.
        key: String,
        /// Categories by number.
        symbols: Vec<String>,
    },
}

/// Number of low bits of an item of [`Finisher::Objects`] that hold the alternative of a new object.
pub const OBJECT_BITS: u32 = 7;

/// Reason that columns could not be finished.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FinishError {
    /// A column is absent, or of another type: the plan contradicts itself.
    #[error("there is no column {key} to finish")]
    Missing {
        /// Name of the column.
        key: String,
    },
    /// The number of an enum is outside its symbols.
    #[error("enum index {found} out of range (0..{symbols})")]
    Symbol {
        /// Key of the column.
        key: String,
        /// Row of the column.
        row: u64,
        /// The invalid number.
        found: i32,
        /// Number of symbols.
        symbols: usize,
    },
    /// A byte of a boolean is neither 0 nor 1.
    #[error("a boolean is neither 0 nor 1")]
    Truth {
        /// Key of the column.
        key: String,
    },
    /// A reference to an object that has not been read.
    #[error("a pointer refers to an object that has not been read")]
    Object {
        /// Key of the column.
        key: String,
        /// Row of the column.
        row: u64,
    },
    /// An allocation failed.
    #[error("no memory for {} bytes", .0.bytes)]
    OutOfMemory(OutOfMemory),
}

impl From<OutOfMemory> for FinishError {
    fn from(refused: OutOfMemory) -> Self {
        Self::OutOfMemory(refused)
    }
}

type Columns = Vec<(String, Column)>;

impl Finisher {
    /// Returns the name of the column that it converts, its only input.
    #[must_use]
    pub fn takes(&self) -> String {
        match self {
            Self::Option { key, .. } | Self::Union { key } | Self::OptionUnion { key, .. } => {
                format!("{key}-tags")
            }
            Self::Objects { key, .. } => format!("{key}-objects"),
            Self::Unpack { key, .. } | Self::ValidateBool { key } => format!("{key}-packed"),
            Self::Mixed { key, .. } => format!("{key}-mixed"),
            Self::Symbols { key, .. } | Self::NamedNumbers { key, .. } | Self::Categories { key, .. } => {
                format!("{key}-index")
            }
        }
    }

    /// Converts its column, and replaces it in `columns`.
    pub fn apply(&self, columns: &mut Columns, memory: &Memory) -> Result<(), FinishError> {
        match self {
            Self::Option { key, null } => {
                let tags = take(columns, key, "tags", DType::Int8)?;
                let tags = tags.as_i8().unwrap_or_default(); // bytes are always aligned
                let index = option_index(tags, *null, memory)?;
                columns.push((format!("{key}-index"), index));
            }
            Self::Union { key } => {
                let tags = take(columns, key, "tags", DType::Int8)?;
                let index = union_index(tags.as_i8().unwrap_or_default(), memory)?;
                columns.push((format!("{key}-tags"), tags));
                columns.push((format!("{key}-index"), index));
            }
            Self::OptionUnion { key, null, union } => {
                let tags = take(columns, key, "tags", DType::Int8)?;
                let tags = tags.as_i8().unwrap_or_default();
                columns.push((format!("{key}-index"), option_index(tags, *null, memory)?));
                let there = tags.iter().filter(|tag| **tag != *null).count();
                let inner = column(memory, DType::Int8, there, |bytes| {
                    let tags = tags.iter().filter(|tag| **tag != *null);
                    for (to, tag) in bytes.iter_mut().zip(tags) {
                        *to = (*tag - i8::from(*tag > *null)) as u8;
                    }
                })?;
                let index = union_index(inner.as_i8().unwrap_or_default(), memory)?;
                columns.push((format!("{union}-tags"), inner));
                columns.push((format!("{union}-index"), index));
            }
            Self::Objects { key, union } => {
                let objects = take(columns, key, "objects", DType::Int64)?;
                let objects = objects.as_bytes().as_chunks::<8>().0;
                columns.push((format!("{key}-index"), object_index(key, objects, memory)?));
                if let Some(union) = union {
                    let new =
                        || objects.iter().map(|item| i64::from_ne_bytes(*item)).filter(|item| *item > 0);
                    let tags = column(memory, DType::Int8, new().count(), |bytes| {
                        for (to, item) in bytes.iter_mut().zip(new()) {
                            *to = (item as u8 & ((1 << OBJECT_BITS) - 1)).wrapping_sub(1);
                        }
                    })?;
                    let index = union_index(tags.as_i8().unwrap_or_default(), memory)?;
                    columns.push((format!("{union}-tags"), tags));
                    columns.push((format!("{union}-index"), index));
                }
            }
            Self::Unpack { key, wire } => {
                let packed = take(columns, key, "packed", DType::UInt8)?;
                let items = packed.as_bytes().len() / wire.width();
                let whole = &packed.as_bytes()[..items * wire.width()];
                let mut done = Ok(());
                let numbers = column(memory, wire.dtype(), items, |slot| {
                    done = decode(*wire, whole, slot);
                })?;
                done.map_err(|_| FinishError::Missing { key: key.clone() })?;
                columns.push((format!("{key}-data"), numbers));
            }
            Self::Mixed { key, wires, to } => {
                let mixed = take(columns, key, "mixed", DType::UInt8)?;
                let all = || Mixed { wires, rest: mixed.as_bytes() };
                let mut done = Some(());
                let numbers = column(memory, *to, all().count(), |slot| {
                    for (into, number) in slot.chunks_exact_mut(to.size()).zip(all()) {
                        match number {
                            Some((wire, bytes)) => done = done.and(convert(wire, bytes, *to, into)),
                            None => into.fill(0),
                        }
                    }
                })?;
                done.ok_or_else(|| FinishError::Missing { key: key.clone() })?;
                columns.push((format!("{key}-data"), numbers));
            }
            Self::ValidateBool { key } => {
                let packed = take(columns, key, "packed", DType::UInt8)?;
                let truths = packed.view(DType::Bool).filter(|_| are_truths(packed.as_bytes()));
                columns.push((format!("{key}-data"), truths.ok_or(FinishError::Truth { key: key.clone() })?));
            }
            Self::Symbols { key, symbols } => {
                let numbers = take(columns, key, "index", DType::Int32)?;
                let (offsets, data) = spell(key, &numbers, symbols, memory)?;
                columns.push((format!("{key}-offsets"), offsets));
                columns.push((format!("{key}-data"), data));
            }
            Self::NamedNumbers { key, names } => {
                let numbers = take(columns, key, "index", DType::Int32)?;
                let (offsets, data) = spell_numbers(&numbers, names, memory)?;
                columns.push((format!("{key}-offsets"), offsets));
                columns.push((format!("{key}-data"), data));
            }
            Self::Categories { key, symbols } => {
                // The numbers were validated when they were read.
                columns.extend(texts(key, symbols));
            }
        }
        Ok(())
    }
}

fn take(columns: &mut Columns, key: &str, part: &str, dtype: DType) -> Result<Column, FinishError> {
    let name = format!("{key}-{part}");
    match columns.iter().position(|(known, column)| *known == name && column.dtype() == dtype) {
        Some(at) => Ok(columns.swap_remove(at).1),
        None => Err(FinishError::Missing { key: name }),
    }
}

/// Makes a column of `items` items, written by `fill`.
fn column(
    memory: &Memory,
    dtype: DType,
    items: usize,
    fill: impl FnOnce(&mut [u8]),
) -> Result<Column, FinishError> {
    let bytes = items.checked_mul(dtype.size()).ok_or(OutOfMemory { bytes: usize::MAX })?;
    let builder = Builder::new(memory, dtype, false, bytes)?;
    fill(&mut builder.append(items)?);
    Ok(builder.finish())
}

fn option_index(tags: &[i8], null: i8, memory: &Memory) -> Result<Column, FinishError> {
    if tags.iter().all(|tag| *tag == null) {
        return Ok(Column::of_rows(Presence::missing(tags.len())));
    }
    column(memory, DType::Int64, tags.len(), |bytes| {
        let mut next = 0i64;
        for (to, tag) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(tags) {
            let there = i64::from(*tag != null);
            // All bits are set for null, which is -1.
            *to = (next | (there - 1)).to_ne_bytes();
            next += there;
        }
    })
}

fn object_index(key: &str, objects: &[[u8; 8]], memory: &Memory) -> Result<Column, FinishError> {
    let mut bad = None;
    let index = column(memory, DType::Int64, objects.len(), |bytes| {
        let mut next = 0i64;
        for (row, (to, item)) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(objects).enumerate() {
            let item = i64::from_ne_bytes(*item);
            let at = match item {
                0 => -1,
                1.. => {
                    next += 1;
                    next - 1
                }
                // The shift keeps the sign.
                before => next + (before >> 32),
            };
            if item < 0 && at < 0 {
                bad = bad.or(Some(row as u64));
            }
            *to = at.to_ne_bytes();
        }
    })?;
    match bad {
        Some(row) => Err(FinishError::Object { key: key.into(), row }),
        None => Ok(index),
    }
}

fn union_index(tags: &[i8], memory: &Memory) -> Result<Column, FinishError> {
    let mut next = [0i64; 256];
    column(memory, DType::Int64, tags.len(), |bytes| {
        for (to, tag) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(tags) {
            let next = &mut next[usize::from(*tag as u8)];
            *to = next.to_ne_bytes();
            *next += 1;
        }
    })
}

/// Returns offsets and bytes of the names or digits of numbers.
fn spell_numbers(
    numbers: &Column,
    names: &[(i32, String)],
    memory: &Memory,
) -> Result<(Column, Column), FinishError> {
    let names: HashMap<i32, &str> = names.iter().map(|(number, name)| (*number, name.as_str())).collect();
    let numbers = numbers.as_bytes().as_chunks::<4>().0.iter().map(|number| i32::from_ne_bytes(*number));
    let name = |number: i32| match names.get(&number) {
        Some(name) => Cow::Borrowed(*name),
        None => Cow::Owned(number.to_string()),
    };
    let total = numbers.clone().try_fold(0usize, |sum, number| sum.checked_add(name(number).len()));
    let total = total.ok_or(OutOfMemory { bytes: usize::MAX })?;
    let offsets = column(memory, DType::Int64, numbers.len() + 1, |bytes| {
        let mut end = 0i64;
        let lengths = std::iter::once(0).chain(numbers.clone().map(|number| name(number).len()));
        for (to, length) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(lengths) {
            end += length as i64;
            *to = end.to_ne_bytes();
        }
    })?;
    let data = column(memory, DType::UInt8, total, |bytes| {
        let mut at = 0;
        for name in numbers.map(name) {
            bytes[at..at + name.len()].copy_from_slice(name.as_bytes());
            at += name.len();
        }
    })?;
    Ok((offsets, data))
}

/// Returns offsets and bytes of the symbols of numbers.
fn spell(
    key: &str,
    numbers: &Column,
    symbols: &[String],
    memory: &Memory,
) -> Result<(Column, Column), FinishError> {
    let numbers = numbers.as_bytes().as_chunks::<4>().0;
    let symbol =
        |number: &[u8; 4]| usize::try_from(i32::from_ne_bytes(*number)).ok().and_then(|at| symbols.get(at));
    let mut total = 0usize;
    for (row, number) in numbers.iter().enumerate() {
        let Some(symbol) = symbol(number) else {
            let found = i32::from_ne_bytes(*number);
            let row = row as u64;
            return Err(FinishError::Symbol { key: key.into(), row, found, symbols: symbols.len() });
        };
        total = total.checked_add(symbol.len()).ok_or(OutOfMemory { bytes: usize::MAX })?;
    }
    let offsets = column(memory, DType::Int64, numbers.len() + 1, |bytes| {
        let mut end = 0i64;
        let ends = std::iter::once(0).chain(numbers.iter().map(|n| symbol(n).map_or(0, String::len)));
        for (to, length) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(ends) {
            end += length as i64;
            *to = end.to_ne_bytes();
        }
    })?;
    let data = column(memory, DType::UInt8, total, |bytes| {
        let mut at = 0;
        for symbol in numbers.iter().filter_map(symbol) {
            bytes[at..at + symbol.len()].copy_from_slice(symbol.as_bytes());
            at += symbol.len();
        }
    })?;
    Ok((offsets, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(finisher: &Finisher, name: &str, column: Column) -> Result<Columns, FinishError> {
        let mut columns = vec![(name.to_owned(), column)];
        finisher.apply(&mut columns, &Memory::default())?;
        Ok(columns)
    }

    #[test]
    fn truth_values_are_what_was_read() {
        let truths = Finisher::ValidateBool { key: "a".into() };
        let columns = finish(&truths, "a-packed", Column::from_slice(&[0u8, 1, 1])).unwrap();
        assert_eq!((columns[0].0.as_str(), columns[0].1.dtype()), ("a-data", DType::Bool));
        assert_eq!(columns[0].1.as_bytes(), [0, 1, 1]);
        let refused = finish(&truths, "a-packed", Column::from_slice(&[0u8, 3])).unwrap_err();
        assert_eq!(refused, FinishError::Truth { key: "a".into() });
    }

    #[test]
    fn nulls_take_no_row() {
        let option = Finisher::Option { key: "a".into(), null: 1 };
        let columns = finish(&option, "a-tags", Column::from_slice(&[0i8, 1, 1, 0, 0])).unwrap();
        assert_eq!(columns[0].0, "a-index");
        assert_eq!(columns[0].1.items::<i64>(), Some(&[0, -1, -1, 1, 2][..]));
    }

    #[test]
    fn rows_of_unions_are_counted_apart() {
        let union = Finisher::Union { key: "a".into() };
        let columns = finish(&union, "a-tags", Column::from_slice(&[0i8, 2, 2, 0, 1])).unwrap();
        assert_eq!(columns[1].1.items::<i64>(), Some(&[0, 0, 1, 1, 0][..]));
        let union = Finisher::OptionUnion { key: "a".into(), null: 1, union: "au".into() };
        let columns = finish(&union, "a-tags", Column::from_slice(&[0i8, 2, 1, 2, 0])).unwrap();
        assert_eq!(columns[0].1.items::<i64>(), Some(&[0, 1, -1, 2, 3][..]));
        assert_eq!(columns[1].1.items::<i8>(), Some(&[0, 1, 1, 0][..]));
        assert_eq!(columns[2].1.items::<i64>(), Some(&[0, 0, 1, 1][..]));
    }

    #[test]
    fn an_object_has_one_row() {
        let (first, second) = (5i64 << OBJECT_BITS | 1, 9 << OBJECT_BITS | 2);
        let back = |objects: i64| -(objects << 32);
        let items = [0, first, back(1), second, back(2), back(1), 0, first];
        let option = Finisher::Objects { key: "a".into(), union: None };
        let columns = finish(&option, "a-objects", Column::from_slice(&items)).unwrap();
        let index = [-1i64, 0, 0, 1, 0, 1, -1, 2];
        assert_eq!(columns, [("a-index".to_owned(), Column::from_slice(&index))]);
        let union = Finisher::Objects { key: "a".into(), union: Some("au".into()) };
        let columns = finish(&union, "a-objects", Column::from_slice(&items)).unwrap();
        assert_eq!(columns[0].1.items::<i64>(), Some(&index[..]));
        assert_eq!(columns[1].1.items::<i8>(), Some(&[0, 1, 0][..]));
        assert_eq!(columns[2].1.items::<i64>(), Some(&[0, 0, 1][..]));
        for bad in [[first, back(2)], [back(1), first]] {
            let found = finish(&option, "a-objects", Column::from_slice(&bad));
            assert!(matches!(found, Err(FinishError::Object { .. })), "{found:?}");
        }
    }

    #[test]
    fn symbols_are_spelled_out() {
        let symbols =
            Finisher::Symbols { key: "a".into(), symbols: vec!["no".into(), String::new(), "yes".into()] };
        let columns = finish(&symbols, "a-index", Column::from_slice(&[2i32, 1, 0, 2])).unwrap();
        assert_eq!(columns[0].1.items::<i64>(), Some(&[0, 3, 3, 5, 8][..]));
        assert_eq!(columns[1].1.as_bytes(), b"yesnoyes");
        let names = vec![(-1, "minus".into()), (7, "seven".into())];
        let named = Finisher::NamedNumbers { key: "a".into(), names };
        let columns = finish(&named, "a-index", Column::from_slice(&[7i32, 12, -1])).unwrap();
        assert_eq!(columns[0].1.items::<i64>(), Some(&[0, 5, 7, 12][..]));
        assert_eq!(columns[1].1.as_bytes(), b"seven12minus");
        let bad = finish(&symbols, "a-index", Column::from_slice(&[0i32, -1]));
        assert_eq!(bad, Err(FinishError::Symbol { key: "a".into(), row: 1, found: -1, symbols: 3 }));
        assert!(matches!(
            finish(&symbols, "b-index", Column::from_slice(&[0i32])),
            Err(FinishError::Missing { .. })
        ));
    }
}
