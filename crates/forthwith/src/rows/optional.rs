//! Optional values, and values of one of several types.

use super::{
    Check, Value,
    view::{NumberView, invalid},
};
use forthwith_columns::{Array, Column, Form};
use forthwith_plan::Result;

/// Values of a column, some of which may be missing.
pub struct OptionView<V> {
    /// Row of the value for each row, negative if missing; `None` if no value is missing.
    index: Option<NumberView<i64>>,
    values: V,
}

impl<V> OptionView<V> {
    #[inline]
    fn row(&self, row: usize) -> Option<usize> {
        match &self.index {
            None => Some(row),
            Some(index) => usize::try_from(index[row]).ok(),
        }
    }

    /// Returns the values that are not missing.
    pub const fn values(&self) -> &V {
        &self.values
    }
}

/// Builder of optional values.
#[derive(Default)]
pub struct OptionBuilder<B> {
    index: Vec<i64>,
    count: i64,
    values: B,
}

impl<T: Value> Value for Option<T> {
    type View = OptionView<T::View>;
    type Borrowed<'v> = Option<T::Borrowed<'v>>;
    type Builder = OptionBuilder<T::Builder>;

    fn check(form: &Form, check: &mut Check<'_>) {
        match form.kept() {
            _ if T::RAW.is_some() => check.report("raw numbers are never missing"),
            Form::Option { content, .. } => T::check(content, check),
            _ => T::check(form, check),
        }
    }

    fn view(array: &Array) -> Result<Self::View> {
        if !matches!(array.form.kept(), Form::Option { .. }) {
            return Ok(OptionView { index: None, values: T::view(array)? });
        }
        let (index, values) = array.as_options().map_err(invalid)?;
        Ok(OptionView { index: index.as_ref().map(NumberView::of), values: T::view(&values)? })
    }

    #[inline]
    fn get(view: &Self::View, row: usize) -> Option<T::Borrowed<'_>> {
        view.row(row).map(|row| T::get(&view.values, row))
    }

    fn push_to(&self, builder: &mut Self::Builder) {
        match self {
            None => builder.index.push(-1),
            Some(value) => {
                builder.index.push(builder.count);
                builder.count += 1;
                value.push_to(&mut builder.values);
            }
        }
    }

    fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
        columns.push((format!("{key}-index"), Column::from_vec(builder.index)));
        let content = T::finish(builder.values, &format!("{key}.value"), columns);
        Form::Option { key: key.to_owned(), content: Box::new(content) }
    }
}

/// Values of a field with a default; `None` if the table lacks the column.
pub struct DefaultView<T: Value>(Option<OptionView<T::View>>);

impl<T: Value> DefaultView<T> {
    /// Makes the values of a column, if it exists.
    #[must_use]
    pub const fn new(view: Option<OptionView<T::View>>) -> Self {
        Self(view)
    }

    /// Returns a value, or the default if it is missing.
    #[inline]
    pub fn get(&self, row: usize) -> T::Borrowed<'_>
    where
        for<'v> T::Borrowed<'v>: Default,
    {
        self.0.as_ref().and_then(|view| Option::<T>::get(view, row)).unwrap_or_default()
    }
}

/// Rows of a union: the variant of each, and its row among the values of that variant.
pub struct UnionView {
    /// Tag and index of each row; `None` if all rows have the same alternative.
    tags: Option<(NumberView<i8>, NumberView<i64>)>,
    /// The variant of each alternative.
    variants: Vec<usize>,
}

impl UnionView {
    /// Returns the rows of an array, and the array of each variant that has an alternative.
    ///
    /// # Errors
    /// The columns contradict the Form.
    pub fn of(array: &Array, variants: &[VariantFits]) -> Result<(Self, Vec<Option<Array>>)> {
        let assigned = assign(&array.form, variants).map_err(invalid)?;
        let mut arrays: Vec<Option<Array>> = (0..variants.len()).map(|_| None).collect();
        let tags = if matches!(array.form.kept(), Form::Union { .. }) {
            let (tags, index, alternatives) = array.as_union().map_err(invalid)?;
            for (variant, alternative) in assigned.iter().zip(alternatives) {
                arrays[*variant] = Some(alternative);
            }
            Some((NumberView::of(&tags), NumberView::of(&index)))
        } else {
            arrays[assigned[0]] = Some(array.clone());
            None
        };
        Ok((Self { tags, variants: assigned }, arrays))
    }

    /// Returns the variant of a row, and its row among the values of that variant.
    #[must_use]
    #[inline]
    pub fn at(&self, row: usize) -> (usize, usize) {
        match &self.tags {
            None => (self.variants[0], row),
            // The columns were validated, so none is negative.
            Some((tags, index)) => (self.variants[tags[row] as usize], index[row] as usize),
        }
    }
}

/// Predicate of a variant: whether its type accepts an alternative.
pub type VariantFits = fn(&Form) -> bool;

impl Check<'_> {
    /// Checks the variants of an enum against the alternatives of a union: each alternative is assigned to
    /// the first variant that accepts it.
    pub fn union(&mut self, form: &Form, name: &str, variants: &[VariantFits]) {
        if let Err(what) = assign(form, variants) {
            self.mismatch_because(&format!("the variants of {name}"), form, &format!(": {what}"));
        }
    }
}

/// Returns the variant of each alternative, or why one has none.
fn assign(form: &Form, variants: &[VariantFits]) -> std::result::Result<Vec<usize>, String> {
    let alternatives = match form.kept() {
        Form::Union { contents, .. } => contents.as_slice(),
        _ => std::slice::from_ref(form),
    };
    let mut assigned: Vec<usize> = Vec::new();
    for alternative in alternatives {
        let fitting = (0..variants.len()).find(|at| !assigned.contains(at) && variants[*at](alternative));
        assigned.push(fitting.ok_or_else(|| format!("no variant is {}", alternative.type_string()))?);
    }
    Ok(assigned)
}

/// Builder of the tags and indexes of unions.
#[derive(Default)]
pub struct UnionBuilder {
    tags: Vec<i8>,
    index: Vec<i64>,
    counts: Vec<i64>,
}

impl UnionBuilder {
    /// Appends a row of a variant.
    pub fn push(&mut self, variant: usize) {
        if self.counts.len() <= variant {
            self.counts.resize(variant + 1, 0);
        }
        self.tags.push(variant as i8);
        self.index.push(self.counts[variant]);
        self.counts[variant] += 1;
    }

    /// Adds the columns of tags and indexes, and returns the Form of the union.
    pub fn finish(self, key: &str, contents: Vec<Form>, columns: &mut Vec<(String, Column)>) -> Form {
        columns.push((format!("{key}-tags"), Column::from_vec(self.tags)));
        columns.push((format!("{key}-index"), Column::from_vec(self.index)));
        Form::Union { key: key.to_owned(), contents }
    }
}
