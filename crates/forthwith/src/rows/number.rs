//! Numbers and lists of numbers.

use super::{
    Check, Value,
    bounds::lists,
    list::{ListBuilder, ListView},
    view::{NumberView, invalid},
};
use forthwith_columns::{Array, Column, DType, Form, Lookup, Native, NumberCast};
use forthwith_plan::{Error, Result};

/// Returns the numbers of an array, cast if the column has a narrower type.
fn numbers<T: Native>(array: &Array) -> Result<NumberView<T>> {
    let form = array.form.kept();
    let column = match form {
        Form::Numpy { key, dtype, shape } if *dtype == T::DTYPE && shape.is_empty() => {
            let column = Lookup::of(array).column(key, "data", *dtype, array.length).map_err(invalid)?;
            column.slice(0..array.length as usize) // as many as there are
        }
        Form::Empty if array.length == 0 => Column::from_vec::<T>(Vec::new()),
        form => {
            let wanted = Form::Numpy { key: "number".into(), dtype: T::DTYPE, shape: vec![] };
            let array = Array { form: form.clone(), ..array.clone() };
            let cast = array.cast(&wanted, NumberCast::Exact).map_err(invalid)?;
            cast.columns
                .into_iter()
                .map(|(_, column)| column)
                .next()
                .ok_or_else(|| Error::fault("no numbers"))?
        }
    };
    Ok(NumberView::of(&column))
}

/// Whether a number type can represent all values of another.
fn has_all_of(wanted: DType, found: DType) -> bool {
    let is_wide_integer = matches!(found, DType::Int64 | DType::UInt64);
    let is_float = matches!(wanted, DType::Float32 | DType::Float64);
    found != DType::Bool && !(is_wide_integer && is_float) && DType::promote([found, wanted]) == Some(wanted)
}

fn is_number(form: &Form, fits: impl Fn(DType) -> bool) -> bool {
    match form.kept() {
        Form::Numpy { dtype, shape, .. } => shape.is_empty() && fits(*dtype),
        Form::Empty => true,
        _ => false,
    }
}

/// Implements fields of rows for numbers.
macro_rules! numbers {
    ($($number:ident)*) => {$(
        impl Value for $number {
            type View = NumberView<Self>;
            type Borrowed<'v> = Self;
            type Builder = Vec<Self>;

            fn check(form: &Form, check: &mut Check<'_>) {
                if !is_number(form, |found| has_all_of(Self::DTYPE, found)) {
                    check.mismatch(Self::DTYPE.name(), form);
                }
            }

            fn view(array: &Array) -> Result<Self::View> {
                numbers(array)
            }

            #[inline]
            fn get(view: &Self::View, row: usize) -> Self {
                view.at(row)
            }

            #[inline]
            fn rows(view: &Self::View) -> usize {
                view.len()
            }

            #[inline]
            fn push_to(&self, builder: &mut Self::Builder) {
                builder.push(*self);
            }

            fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
                columns.push((format!("{key}-data"), Column::from_vec(builder)));
                Form::Numpy { key: key.to_owned(), dtype: Self::DTYPE, shape: vec![] }
            }
        }
    )*};
}

numbers! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

/// Booleans of a column.
#[derive(Clone)]
pub struct TruthView(NumberView<u8>);

impl TruthView {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the values, each 0 or 1.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Value for bool {
    type View = TruthView;
    type Borrowed<'v> = Self;
    type Builder = Vec<u8>;

    fn check(form: &Form, check: &mut Check<'_>) {
        if !is_number(form, |found| found == DType::Bool) {
            check.mismatch("bool", form);
        }
    }

    fn view(array: &Array) -> Result<Self::View> {
        let Form::Numpy { key, .. } = array.form.kept() else {
            return Ok(TruthView(NumberView::of(&Column::from_vec::<u8>(Vec::new()))));
        };
        let column = Lookup::of(array).column(key, "data", DType::Bool, array.length).map_err(invalid)?;
        Ok(TruthView(NumberView::of(&column.slice(0..array.length as usize)))) // as many as there are
    }

    #[inline]
    fn get(view: &Self::View, row: usize) -> Self {
        view.0.at(row) != 0
    }

    #[inline]
    fn push_to(&self, builder: &mut Self::Builder) {
        builder.push(u8::from(*self));
    }

    fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
        columns.extend(
            Column::from_vec(builder).view(DType::Bool).map(|column| (format!("{key}-data"), column)),
        );
        Form::Numpy { key: key.to_owned(), dtype: DType::Bool, shape: vec![] }
    }
}

/// Lists of numbers of exactly this type; `&[u8]` also accepts byte strings.
impl<T: Native + Value<View = NumberView<T>, Builder = Vec<T>>> Value for &[T] {
    type View = ListView<NumberView<T>>;
    type Borrowed<'v> = &'v [T];
    type Builder = ListBuilder<Vec<T>>;

    fn check(form: &Form, check: &mut Check<'_>) {
        let exact = |content: &Form| is_number(content, |found| found == T::DTYPE);
        let fits = match form.kept() {
            Form::List { content, .. } => exact(content),
            Form::String { .. } => T::DTYPE == DType::UInt8,
            kept => kept.fixed().is_some_and(|(_, content)| exact(&content)),
        };
        if !fits {
            let remark = match form.kept() {
                Form::List { content, .. } if is_number(content, |found| has_all_of(T::DTYPE, found)) => {
                    ": a slice is of exactly the column's numbers"
                }
                _ => "",
            };
            check.mismatch_because(&format!("var * {}", T::DTYPE), form, remark);
        }
    }

    fn view(array: &Array) -> Result<Self::View> {
        if let Form::String { key, .. } = array.form.kept() {
            array.as_texts().map_err(invalid)?; // checks the offsets
            let content = Form::Numpy { key: key.clone(), dtype: DType::UInt8, shape: vec![] };
            let form = Form::List { key: key.clone(), content: Box::new(content) };
            return Self::view(&Array { form, ..array.clone() });
        }
        let (bounds, items) = lists(array)?;
        Ok(ListView::new(bounds, numbers(&items)?))
    }

    #[inline]
    fn get(view: &Self::View, row: usize) -> &[T] {
        &view.items()[view.bounds().range(row)]
    }

    #[inline]
    fn push_to(&self, builder: &mut Self::Builder) {
        builder.items.extend_from_slice(self);
        builder.end(builder.items.len());
    }

    fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
        builder.finish::<T>(key, columns)
    }
}
