//! Columns with a common type across several tables, some of which may lack the column or have it with
//! another type.

use super::UnitedColumn;
use crate::Table;
use forthwith_columns::{Array, CastError, CastReason, Form, NumberCast};
use forthwith_plan::{Error, Result};

/// A column with a given type, of a table that may lack it.
#[derive(Debug)]
pub(super) struct United {
    pub(super) name: String,
    /// Field of the column, if the table has it.
    pub(super) field: Option<u32>,
    pub(super) form: Form,
    /// Whether the numbers of the field have this type.
    has_numbers_of_field: bool,
}

impl United {
    /// Makes the column for a table.
    ///
    /// # Errors
    /// The types differ in more than their numbers and options.
    pub(super) fn new(table: &Table, column: &UnitedColumn) -> Result<Self> {
        let UnitedColumn { name, field, form: wanted } = column;
        let name = name.clone();
        let Some(at) = *field else {
            let form = wanted.clone().optional().with_own_keys();
            return Ok(Self { name, field: None, form, has_numbers_of_field: true });
        };
        let found = table.form(at)?;
        let bare = |form: &Form| form.clone().without_options().type_string();
        // Options of either type are kept.
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

    /// Whether the file's statistics of the field apply to these values.
    pub(super) fn is_field(&self) -> bool {
        self.has_numbers_of_field
    }

    /// Returns the values of `rows` rows, given those of the field.
    ///
    /// # Errors
    /// A floating-point type cannot represent an integer.
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
