//! Check that decimals have no more digits than their type.

use crate::decimal;
use crate::invalid::DEEPEST;
use crate::lookup::Lookup;
use crate::validate::items;
use crate::{Array, DType, Form, Invalid, LogicalType};

/// A decimal with more digits than its type, which other libraries and files cannot represent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the decimal {number} has more digits than {meaning}")]
pub struct ManyDigits {
    /// Row of the array.
    pub row: u64,
    /// Path within the row, such as `[].price`.
    pub member: String,
    /// The number; only its first digits if it has many.
    pub number: String,
    /// The type.
    pub meaning: LogicalType,
}

impl Array {
    /// Checks that no decimal has more digits than its type. Values that no row refers to, such as those
    /// beneath a null, are not checked; neither are columns that contradict their Form.
    ///
    /// # Errors
    /// The first decimal with more digits.
    pub fn check_digits(&self) -> Result<(), ManyDigits> {
        let walk = Walk { lookup: &Lookup::of(self) };
        // Columns that contradict their Form are reported by `validate`, with a better message.
        walk.node(&self.form, &Rows::All(self.length), "", 0).ok().flatten().map_or(Ok(()), Err)
    }
}

/// Rows of a node that rows of the array refer to.
enum Rows {
    /// The first rows of the node, each for the row of the array with its number.
    All(u64),
    /// Pairs of a row of the node and a row of the array.
    Some(Vec<(u64, u64)>),
}

impl Rows {
    fn iter(&self) -> Box<dyn Iterator<Item = (u64, u64)> + '_> {
        match self {
            Self::All(length) => Box::new((0..*length).map(|row| (row, row))),
            Self::Some(rows) => Box::new(rows.iter().copied()),
        }
    }

    /// Number of rows that the node must have.
    fn end(&self) -> u64 {
        match self {
            Self::All(length) => *length,
            Self::Some(rows) => rows.iter().map(|(row, _)| row + 1).max().unwrap_or(0),
        }
    }
}

struct Walk<'a> {
    lookup: &'a Lookup<'a>,
}

impl Walk<'_> {
    fn node(
        &self,
        form: &Form,
        rows: &Rows,
        member: &str,
        depth: u32,
    ) -> Result<Option<ManyDigits>, Invalid> {
        let is_decimal =
            |node: &Form| matches!(node, Form::Logical { meaning: LogicalType::Decimal { .. }, .. });
        if depth > DEEPEST || !form.nodes().any(is_decimal) {
            return Ok(None);
        }
        let below = |content: &Form, rows: Vec<(u64, u64)>, member: &str| {
            self.node(content, &Rows::Some(rows), member, depth + 1)
        };
        match form {
            Form::Logical { meaning: meaning @ LogicalType::Decimal { precision, scale }, content } => {
                let many =
                    |(row, number)| ManyDigits { row, member: member.into(), number, meaning: *meaning };
                Ok(self.decimals(content, rows, *precision, *scale)?.map(many))
            }
            Form::Logical { content, .. } => self.node(content, rows, member, depth + 1),
            Form::Option { key, content } => {
                let index = self.lookup.integers(key, "index", rows.end())?;
                let there =
                    |(row, outer): (u64, u64)| Some((u64::try_from(index[row as usize]).ok()?, outer));
                below(content, rows.iter().filter_map(there).collect(), member)
            }
            Form::List { key, content } => {
                let offsets = self.lookup.integers(key, "offsets", rows.end().saturating_add(1))?;
                let range =
                    |row: u64| offsets[row as usize].unsigned_abs()..offsets[row as usize + 1].unsigned_abs();
                let items = rows.iter().flat_map(|(row, outer)| range(row).map(move |item| (item, outer)));
                below(content, items.collect(), &format!("{member}[]"))
            }
            Form::Regular { size, content } => {
                items(rows.end(), &[*size])?;
                let range = |row: u64| row * size..(row + 1) * size;
                let items = rows.iter().flat_map(|(row, outer)| range(row).map(move |item| (item, outer)));
                below(content, items.collect(), &format!("{member}[]"))
            }
            Form::Record { fields, contents, .. } => {
                for (at, content) in contents.iter().enumerate() {
                    let name = fields.as_ref().and_then(|names| names.get(at).cloned());
                    let member = format!("{member}.{}", name.unwrap_or_else(|| at.to_string()));
                    if let Some(found) = self.node(content, rows, &member, depth + 1)? {
                        return Ok(Some(found));
                    }
                }
                Ok(None)
            }
            Form::Union { key, contents } => {
                let tags = self.lookup.tags(key, rows.end())?;
                let index = self.lookup.integers(key, "index", rows.end())?;
                for (tag, content) in (0i8..).zip(contents) {
                    let mine = rows.iter().filter(|(row, _)| tags[*row as usize] == tag);
                    let mine = mine
                        .filter_map(|(row, outer)| Some((u64::try_from(index[row as usize]).ok()?, outer)));
                    if let Some(found) = below(content, mine.collect(), &format!("{member}<{tag}>"))? {
                        return Ok(Some(found));
                    }
                }
                Ok(None)
            }
            Form::Empty | Form::Numpy { .. } | Form::String { .. } | Form::Categorical { .. } => Ok(None),
        }
    }

    /// Returns the first number with too many digits, and its row of the array.
    fn decimals(
        &self,
        content: &Form,
        rows: &Rows,
        precision: u32,
        scale: u32,
    ) -> Result<Option<(u64, String)>, Invalid> {
        match content {
            Form::Numpy { key, dtype, shape } if shape.is_empty() => {
                let column = self.lookup.column(key, "data", *dtype, rows.end())?;
                let number = |row: usize| match dtype {
                    DType::Int32 => column.item::<i32>(row).map(i64::from),
                    _ => column.item::<i64>(row),
                };
                let many = |(row, outer): (u64, u64)| {
                    let number = i128::from(number(row as usize)?);
                    (!fits(number, precision)).then(|| (outer, decimal::of_number(number, scale)))
                };
                Ok(rows.iter().find_map(many))
            }
            Form::String { key, .. } => {
                let offsets = self.lookup.integers(key, "offsets", rows.end().saturating_add(1))?;
                let end = offsets.iter().map(|at| at.unsigned_abs()).max().unwrap_or(0);
                let data = self.lookup.column(key, "data", DType::UInt8, end)?.as_bytes();
                let many = |(row, outer): (u64, u64)| {
                    let range = offsets[row as usize] as usize..offsets[row as usize + 1] as usize;
                    let bytes = data.get(range)?;
                    let fits = match decimal::extend::<16>(bytes) {
                        Some(bytes) => fits(i128::from_be_bytes(bytes), precision),
                        None => decimal::has_digits(bytes, precision),
                    };
                    (!fits).then(|| (outer, shortened(decimal::of_bytes(bytes, scale), bytes.len())))
                };
                Ok(rows.iter().find_map(many))
            }
            _ => Ok(None),
        }
    }
}

fn fits(number: i128, precision: u32) -> bool {
    10u128.checked_pow(precision).is_none_or(|limit| number.unsigned_abs() < limit)
}

/// Shortens a number for an error message to its first 60 characters.
fn shortened(number: Option<String>, bytes: usize) -> String {
    const MOST: usize = 60;
    match number {
        None => format!("of {bytes} bytes"),
        // All characters are ASCII.
        Some(number) if number.len() > MOST => format!("{}…", &number[..MOST]),
        Some(number) => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    #[test]
    fn the_first_decimal_of_too_many_digits_is_found_wherever_a_row_refers_to_it() {
        // var * ?{d: decimal[3, 1]}
        let number = Form::Numpy { key: "n".into(), dtype: DType::Int32, shape: vec![] };
        let meaning = LogicalType::Decimal { precision: 3, scale: 1 };
        let meant = Form::Logical { meaning, content: Box::new(number) };
        let record = Form::Record { fields: Some(vec!["d".into()]), contents: vec![meant], name: None };
        let option = Form::Option { key: "o".into(), content: Box::new(record) };
        let array = |numbers: &[i32]| Array {
            form: Form::List { key: "l".into(), content: Box::new(option.clone()) },
            length: 3,
            columns: vec![
                ("l-offsets".into(), Column::from_slice(&[0i64, 2, 2, 4])),
                ("o-index".into(), Column::from_slice(&[0i64, -1, 3, 2])),
                ("n-data".into(), Column::from_slice(numbers)),
            ],
        };
        // The second number is beneath a null.
        assert_eq!(array(&[999, 70_000, -999, 0]).check_digits(), Ok(()));
        let found = array(&[999, 0, -1000, 0]).check_digits().unwrap_err();
        assert_eq!((found.row, found.member.as_str()), (2, "[].d"));
        assert_eq!(found.to_string(), "the decimal -100.0 has more digits than decimal[3, 1]");
    }

    #[test]
    fn decimals_in_bytes_of_any_width_are_counted() {
        let check = |precision, bytes: &[u8]| {
            let content = Box::new(Form::String { key: "s".into(), binary: true });
            let form = Form::Logical { meaning: LogicalType::Decimal { precision, scale: 0 }, content };
            let columns = vec![
                ("s-offsets".into(), Column::from_slice(&[0i64, bytes.len() as i64])),
                ("s-data".into(), Column::from_slice(bytes)),
            ];
            Array { form, length: 1, columns }.check_digits().is_ok()
        };
        assert!(
            check(1, &[]) && check(1, &[9]) && !check(1, &[10]) && !check(1, &[0xf6]) && check(2, &[0xf6])
        );
        // 2¹³⁵ - 1 has 41 digits.
        assert!(check(41, &[[0x7f].as_slice(), &[0xff; 16]].concat()));
        assert!(!check(40, &[[0x7f].as_slice(), &[0xff; 16]].concat()));
        assert!(
            check(100, &[[0].as_slice(), &[0xff; 40]].concat())
                && !check(96, &[[0].as_slice(), &[0xff; 40]].concat())
        );
        assert!(!check(1000, &[0x7f; 100_000]) && check(u32::MAX, &[0x7f; 100_000]));
    }
}
