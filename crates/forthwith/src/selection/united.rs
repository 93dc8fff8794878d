//! Columns in the types that they have in several tables together: some may lack a column, or have it in another type of numbers.

use super::UnitedColumn;
use crate::Table;
use forthwith_columns::{Array, DType, Form};
use forthwith_expr::{Expression, Named, Program};
use forthwith_plan::{Error, Result};

/// A column of a type that is given, of a table that may not have it.
#[derive(Debug)]
pub(super) struct United {
    pub(super) name: String,
    /// The field, if the table has it.
    pub(super) field: Option<u32>,
    /// The conversion of its numbers, if they are of another type.
    cast: Option<Program>,
    /// Whether it may change whole numbers.
    may_round: bool,
    pub(super) form: Form,
}

impl United {
    /// Such a column of a table.
    ///
    /// # Errors
    /// It is not of this type, whatever its numbers are.
    pub(super) fn new(table: &Table, column: &UnitedColumn) -> Result<Self> {
        let UnitedColumn { name, field, form: wanted } = column;
        let of = |field, cast, may_round, form| Self { name: name.clone(), field, cast, may_round, form };
        let Some(at) = *field else { return Ok(of(None, None, false, wanted.clone().optional())) };
        let mut form = table.form(at)?;
        let (mut cast, mut may_round) = (None, false);
        if let (Some(found), Some(number)) = (form.number(), wanted.number())
            && found != number
        {
            may_round = rounds(found, number);
            let text = format!("{}(x)", number.name());
            let made = Expression::parse(&text);
            let column = form.clone();
            let made = made.and_then(|made| Program::new(&[&made], &mut |_| Named::Column(column.clone())));
            let program = table.here(made.map_err(|error| Error::invalid(error.to_string())))?;
            form = program.form(0).unwrap_or(Form::Empty);
            cast = Some(program);
        }
        if matches!(wanted, Form::Option { .. }) {
            form = form.optional();
        }
        // Whether inner values may be missing is each table's own.
        let bare = |form: &Form| form.type_string().replace('?', "");
        if bare(&form) != bare(wanted) {
            let (found, wanted) = (form.type_string(), wanted.type_string());
            let what = format!("{name:?} is {found}, and {wanted} in all tables together");
            return table.here(Err(Error::invalid(what)));
        }
        Ok(of(Some(at), cast, may_round, form))
    }

    /// Whether the file's statistics of the field say something of these values.
    pub(super) fn is_field(&self) -> bool {
        self.cast.is_none()
    }

    /// The values of so many rows, for which those of the field were read.
    ///
    /// # Errors
    /// A whole number is no float of the type that it is to have.
    pub(super) fn array(&self, field: Option<&Array>, rows: u64, threads: usize) -> Result<Array> {
        let Some(array) = field else { return Ok(Array::nulls(&self.form, rows)) };
        let fault = |what: String| Error::fault(what);
        let number = self.form.number().filter(|_| self.may_round);
        if let Some((number, to)) = number.and_then(|to| Some((inexact(array, to)?, to.name()))) {
            let what = format!(
                "column {} has {number}, which is no {to}, the type of all files together",
                self.name
            );
            return Err(Error::invalid(what));
        }
        let mut array = array.clone();
        if let Some(cast) = &self.cast {
            let made = cast.run_on(&[&array], rows, threads).map_err(|error| fault(error.to_string()))?;
            array =
                made.into_iter().next().ok_or_else(|| fault(format!("{:?} was not converted", self.name)))?;
        }
        if matches!(self.form, Form::Option { .. }) {
            array = array.present().map_err(|error| fault(error.to_string()))?;
        }
        Ok(array)
    }
}

/// Whether some whole numbers of one type are no numbers of the other, a float.
const fn rounds(from: DType, to: DType) -> bool {
    match to {
        DType::Float32 => from.size() > 2 && !matches!(from, DType::Float32 | DType::Float64),
        DType::Float64 => matches!(from, DType::Int64 | DType::UInt64),
        _ => false,
    }
}

/// The first whole number of an array that is no float of a type.
fn inexact(array: &Array, to: DType) -> Option<i128> {
    let column = array.column(&format!("{}-data", array.form.numbers()?.0))?;
    let mut numbers = (0..column.len()).filter_map(|at| column.integer(at));
    numbers.find(|number| match to {
        DType::Float32 => (*number as f32) as i128 != *number,
        _ => (*number as f64) as i128 != *number,
    })
}
