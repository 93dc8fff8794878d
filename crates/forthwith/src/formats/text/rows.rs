//! Entries as JSON objects.

use super::{column::Spelled, spell::Unspelled};
use forthwith_columns::{Array, json_text};
use forthwith_plan::{Error, NotNumbers, Result};

/// Columns side by side, ready to be spelled as JSON: an object for each entry.
///
/// Numbers have as many digits as it takes to read them back as they were. Times and decimals are texts. Maps whose keys are texts are objects;
/// other maps are lists of pairs. Bytes are a text whose characters have their numbers (U+0000-U+00FF), as in the JSON of Avro. Control
/// characters and marks of direction are escaped, so that the text is safe to show.
pub struct JsonRows<'a> {
    names: Vec<&'a str>,
    /// The text before each value: a brace or a comma, the name, a colon.
    before: Vec<Vec<u8>>,
    columns: Vec<(u64, Spelled<'a>)>,
    not_numbers: NotNumbers,
}

impl<'a> JsonRows<'a> {
    /// Looks up the columns' buffers. Columns may have different lengths: what is not there is null.
    ///
    /// # Errors
    /// A column that is not what its Form says, by name.
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

    /// Appends an entry's object.
    ///
    /// # Errors
    /// NaN or an infinity, if they are refused; columns that are not what their Form says.
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
