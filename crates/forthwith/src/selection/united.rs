//! Columns in the types that they have in several tables together: some may lack a column, or have it in another type of numbers.

use super::UnitedColumn;
use crate::Table;
use forthwith_columns::{Array, CastError, CastReason, Form, NumberCast};
use forthwith_plan::{Error, Result};

/// A column of a type that is given, of a table that may not have it.
#[derive(Debug)]
pub(super) struct United {
    pub(super) name: String,
    /// The field, if the table has it.
    pub(super) field: Option<u32>,
    pub(super) form: Form,
    /// Whether the numbers of the field are of this type.
    has_numbers_of_field: bool,
}

impl United {
    /// Such a column of a table.
    ///
    /// # Errors
    /// It is not of this type, whatever its numbers are.
    pub(super) fn new(table: &Table, column: &UnitedColumn) -> Result<Self> {
        let UnitedColumn { name, field, form: wanted } = column;
        let name = name.clone();
        let Some(at) = *field else {
            let form = wanted.clone().optional().with_own_keys();
            return Ok(Self { name, field: None, form, has_numbers_of_field: true });
        };
        let found = table.form(at)?;
        let bare = |form: &Form| form.clone().without_options().type_string();
        // Values may be missing where the type or the table has it so.
        match Form::unite(&[wanted, &found]) {
            Ok(form) if bare(&form) == bare(wanted) => {
                let has_numbers_of_field = bare(&found) == bare(&form);
                let is_same = found.type_string() == form.type_string();
                let form = if is_same { found } else { form.with_own_keys() };
                Ok(Self { name, field: Some(at), form, has_numbers_of_field })
            }
            _ => {
                let (found, wanted) = (found.type_string(), wanted.type_string());
                let what = format!("{name:?} is {found}, and {wanted} in all tables together");
                table.here(Err(Error::invalid(what)))
            }
        }
    }

    /// Whether the file's statistics of the field say something of these values.
    pub(super) fn is_field(&self) -> bool {
        self.has_numbers_of_field
    }

    /// The values of so many rows, for which those of the field were read.
    ///
    /// # Errors
    /// A whole number is no float of the type that it is to have.
    pub(super) fn array(&self, field: Option<&Array>, rows: u64) -> Result<Array> {
        let Some(array) = field else { return Ok(Array::nulls(&self.form, rows)) };
        if array.form.type_string() == self.form.type_string() {
            return Ok(array.clone());
        }
        array.cast(&self.form, NumberCast::Exact).map_err(|CastError { member, reason }| {
            let name = format!("{}{}", self.name, member.replace("[]", ""));
            match reason {
                CastReason::Number { number, wanted } => Error::invalid(format!(
                    "column {name} has {number}, which is no {wanted}, the type of all files together"
                )),
                reason => Error::fault(format!("column {name}: {reason}")),
            }
        })
    }
}
