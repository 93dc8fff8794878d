//! Columns that some of several files do not have.

use forthwith::{
    columns::{Array, Column, DType, Form},
    plan::{Error, ErrorKind, Result},
};

/// The buffer that says which values are there.
const KEY: &str = "missing";

/// The same values, any of which may be missing.
pub(super) fn optional(form: Form) -> Form {
    match form {
        Form::Option { .. } => form,
        form => Form::Option { key: KEY.into(), content: Box::new(form) },
    }
}

/// Values that are all there, of such a Form.
pub(super) fn present(array: Array) -> Array {
    if matches!(array.form, Form::Option { .. }) {
        return array;
    }
    let Array { form, length, mut columns } = array;
    let rows: Vec<i64> = (0..length as i64).collect();
    columns.push((format!("{KEY}-index"), Column::from_vec(rows)));
    Array { form: optional(form), length, columns }
}

/// Values that are all missing.
///
/// # Errors
/// A Form that cannot be empty.
pub(super) fn absent(form: &Form, length: u64) -> Result<Array> {
    let Form::Option { key, content } = form else {
        let what = format!("{} without values", form.type_string());
        return Err(Error::new(ErrorKind::Fault { what }));
    };
    let mut columns = vec![(format!("{key}-index"), Column::from_vec(vec![-1i64; length as usize]))];
    empty(content, &mut columns)?;
    Ok(Array { form: form.clone(), length, columns })
}

/// The buffers of no rows.
fn empty(form: &Form, columns: &mut Vec<(String, Column)>) -> Result<()> {
    let mut add = |key: &str, part: &str, dtype| {
        // No bytes are any number of no items.
        let none = Column::from_slice::<u8>(&[]);
        columns.push((format!("{key}-{part}"), none.view(dtype).unwrap_or(none)));
    };
    match form {
        Form::Empty => {}
        Form::Numpy { key, dtype, .. } => add(key, "data", *dtype),
        Form::String { key, .. } => {
            add(key, "data", DType::UInt8);
            columns.push((format!("{key}-offsets"), Column::from_slice(&[0i64])));
        }
        Form::List { key, content } => {
            columns.push((format!("{key}-offsets"), Column::from_slice(&[0i64])));
            empty(content, columns)?;
        }
        Form::Option { key, content } => {
            add(key, "index", DType::Int64);
            empty(content, columns)?;
        }
        Form::Union { key, contents } => {
            add(key, "tags", DType::Int8);
            add(key, "index", DType::Int64);
            contents.iter().try_for_each(|content| empty(content, columns))?;
        }
        Form::Categorical { key, categories } => {
            add(key, "index", DType::Int32);
            let ends = categories.iter().scan(0, |end, text| {
                *end += text.len() as i64;
                Some(*end)
            });
            let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
            columns.push((format!("{key}-offsets"), Column::from_vec(offsets)));
            columns.push((format!("{key}-data"), Column::from_slice(categories.concat().as_bytes())));
        }
        Form::Regular { content, .. } | Form::Logical { content, .. } => empty(content, columns)?,
        Form::Record { contents, .. } => contents.iter().try_for_each(|content| empty(content, columns))?,
        other => {
            let what = format!("missing values of {}", other.type_string());
            return Err(Error::unsupported(what));
        }
    }
    Ok(())
}
