//! Entries as JSON objects.

use super::{column::Spelled, spell::Unspelled};
use forthwith_columns::{Array, json_text};
use forthwith_plan::{Error, NotNumbers, Result};

/// Columns prepared for formatting as JSON, with one object per entry.
///
/// Numbers have the shortest digits that round-trip. Times and decimals become texts. Maps with text keys
/// become objects; other maps are lists of pairs. Bytes become a text of the characters U+0000 to U+00FF, as
/// in the JSON encoding of Avro. Control characters and bidirectional formatting characters are escaped, so
/// that the text is safe to display.
pub struct JsonRows<'a> {
    names: Vec<&'a str>,
    /// Text before each value: a brace or a comma, the name, and a colon.
    before: Vec<Vec<u8>>,
    columns: Vec<(u64, Spelled<'a>)>,
    not_numbers: NotNumbers,
}

impl<'a> JsonRows<'a> {
    /// Creates the formatter. Columns may differ in length: entries after the end of a column are null in it.
    ///
    /// # Errors
    /// Returns an error, with the name of the column, if a column is inconsistent with its Form.
    pub fn new(names: &'a [impl AsRef<str>], columns: &'a [Array], not_numbers: NotNumbers) -> Result<Self> {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let before = names.iter().enumerate().map(|(at, name)| {
            let mut text = vec![if at == 0 { b'{' } else { b',' }];
            json_text(name, &mut text);
            text.push(b':');
            text
        });
        let spelled = columns.iter().zip(&names).map(|(column, name)| {
            let spelled = Spelled::of(column).map_err(|invalid| fault(name, &invalid))?;
            Ok((column.length, spelled))
        });
        let (before, columns) = (before.collect(), spelled.collect::<Result<_>>()?);
        Ok(Self { names, before, columns, not_numbers })
    }

    /// Appends the object of an entry.
    ///
    /// # Errors
    /// Returns an error for NaN or an infinity if they are refused, or if a column is inconsistent with its
    /// Form.
    pub fn row(&self, row: u64, to: &mut Vec<u8>) -> Result<()> {
        for (at, (length, column)) in self.columns.iter().enumerate() {
            to.extend_from_slice(&self.before[at]);
            if row >= *length {
                to.extend_from_slice(b"null");
                continue;
            }
            column.json(row, self.not_numbers, to).map_err(|error| match error {
                Unspelled::Invalid(invalid) => fault(self.names[at], &invalid),
                Unspelled::NoNumber(number) => {
                    let column = self.names[at];
                    Error::invalid(format!("JSON has no number {number} (column {column:?})"))
                }
            })?;
        }
        if self.columns.is_empty() {
            to.push(b'{');
        }
        to.push(b'}');
        Ok(())
    }
}

fn fault(column: &str, invalid: &forthwith_columns::Invalid) -> Error {
    Error::fault(format!("column {column:?}: {invalid}"))
}
