//! Text columns.

use super::{
    Check, Value,
    bounds::{Bounds, lists},
    list::ListBuilder,
    view::{NumberView, invalid},
};
use bytes::Bytes;
use forthwith_columns::{Array, Column, DType, Form, Lookup};
use forthwith_plan::{Error, Result};

/// Strings of a column, which are valid UTF-8.
pub struct TextView {
    bounds: Bounds,
    bytes: Bytes,
    /// Category of each row, if the strings are categories.
    categories: Option<NumberView<i32>>,
}

impl TextView {
    #[inline]
    fn at(&self, row: usize) -> &str {
        let text = match &self.categories {
            None => row,
            Some(categories) => categories[row] as usize, // none is negative: they were checked
        };
        // All text was validated when the view was made.
        str::from_utf8(&self.bytes[self.bounds.range(text)]).unwrap_or_default()
    }

    fn of(array: &Array) -> Result<Self> {
        if matches!(array.form.kept(), Form::Empty) && array.length == 0 {
            return Ok(Self { bounds: Bounds::Every(0), bytes: Bytes::new(), categories: None });
        }
        array.validate().map_err(invalid)?;
        array.check_text().map_err(|error| Error::invalid(error.to_string()))?;
        let lookup = Lookup::of(array);
        let (key, texts, categories) = match array.form.kept() {
            Form::String { key, .. } => (key, array.length, None),
            Form::Categorical { key, categories } => {
                let index = lookup.column(key, "index", DType::Int32, array.length).map_err(invalid)?;
                (key, categories.len() as u64, Some(NumberView::of(&index.slice(0..array.length as usize))))
            }
            other => return Err(invalid(format!("{} is not text", other.type_string()))),
        };
        let content = Form::Numpy { key: key.clone(), dtype: DType::UInt8, shape: vec![] };
        let form = Form::List { key: key.clone(), content: Box::new(content) };
        let (bounds, bytes) = lists(&Array { form, length: texts, columns: array.columns.clone() })?;
        let bytes = lookup.column(key, "data", DType::UInt8, bytes.length).map_err(invalid)?.to_bytes();
        let view = Self { bounds, bytes, categories };
        // The bytes of categories are not covered by the check above.
        match (0..texts as usize).find(|text| str::from_utf8(&view.bytes[view.bounds.range(*text)]).is_err())
        {
            Some(text) => Err(Error::invalid(format!("text {text} of {key} is not UTF-8"))),
            None => Ok(view),
        }
    }
}

fn check_text(form: &Form, check: &mut Check<'_>) {
    match form.kept() {
        Form::String { binary: false, .. } | Form::Categorical { .. } | Form::Empty => {}
        Form::String { binary: true, .. } => {
            check.mismatch_because("string", form, ": byte strings are &[u8] or Vec<u8>");
        }
        _ => check.mismatch("string", form),
    }
}

fn push_text(text: &str, builder: &mut ListBuilder<Vec<u8>>) {
    builder.items.extend_from_slice(text.as_bytes());
    builder.end(builder.items.len());
}

fn finish_text(builder: ListBuilder<Vec<u8>>, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
    columns.push((format!("{key}-offsets"), Column::from_vec(builder.offsets)));
    columns.push((format!("{key}-data"), Column::from_vec(builder.items)));
    Form::String { key: key.to_owned(), binary: false }
}

/// Implements borrowed and owned text.
macro_rules! texts {
    ($text:ty, $borrowed:ty, $made:expr) => {
        impl Value for $text {
            type View = TextView;
            type Borrowed<'v> = $borrowed;
            type Builder = ListBuilder<Vec<u8>>;

            fn check(form: &Form, check: &mut Check<'_>) {
                check_text(form, check);
            }

            fn view(array: &Array) -> Result<TextView> {
                TextView::of(array)
            }

            #[inline]
            fn get(view: &TextView, row: usize) -> Self::Borrowed<'_> {
                $made(view.at(row))
            }

            fn push_to(&self, builder: &mut Self::Builder) {
                push_text(self, builder);
            }

            fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
                finish_text(builder, key, columns)
            }
        }
    };
}

texts!(&str, &'v str, std::convert::identity);
texts!(String, String, str::to_owned);
