//! Lists of values.

use super::bounds::{Bounds, lists};
use super::{Check, FieldArrays, FieldCheck, FieldWriter, Prefixed, Row, Value};
use forthwith_columns::{Array, Column, Form};
use forthwith_plan::Result;
use std::{fmt, ops::Range};

/// List of values of a row, which are made on access: records, texts, lists. It borrows from the columns of a
/// batch.
pub struct List<'v, T: Value> {
    items: &'v T::View,
    start: usize,
    end: usize,
}

/// List of lists of numbers.
pub type Nested<'v, T> = List<'v, &'v [T]>;

impl<'v, T: Value> List<'v, T> {
    /// Number of items.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether there are no items.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Returns an item, or `None` if `at` is out of range.
    #[must_use]
    #[inline]
    pub fn get(&self, at: usize) -> Option<T::Borrowed<'v>> {
        (at < self.len()).then(|| T::get(self.items, self.start + at))
    }

    /// Returns the first item, or `None` if the list is empty.
    #[must_use]
    #[inline]
    pub fn first(&self) -> Option<T::Borrowed<'v>> {
        self.get(0)
    }

    /// Returns the last item, or `None` if the list is empty.
    #[must_use]
    #[inline]
    pub fn last(&self) -> Option<T::Borrowed<'v>> {
        self.get(self.len().wrapping_sub(1))
    }

    /// Iterates over the items.
    #[inline]
    pub fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = T::Borrowed<'v>> + DoubleEndedIterator + Clone + use<'v, T> {
        let items = self.items;
        (self.start..self.end).map(move |row| T::get(items, row))
    }

    /// Returns the columns of the items of all lists of the batch, and the rows of this list in them.
    #[must_use]
    pub const fn columns(&self) -> (&'v T::View, Range<usize>) {
        (self.items, self.start..self.end)
    }
}

impl<T: Value> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Value> Copy for List<'_, T> {}

impl<'v, T: Value> fmt::Debug for List<'v, T>
where
    T::Borrowed<'v>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Lists of a column: their bounds, and their contiguous items.
#[derive(Clone)]
pub struct ListView<V> {
    bounds: Bounds,
    items: V,
}

impl<V> ListView<V> {
    pub(super) const fn new(bounds: Bounds, items: V) -> Self {
        Self { bounds, items }
    }

    /// Returns the items of all lists.
    #[inline]
    pub const fn items(&self) -> &V {
        &self.items
    }

    /// Returns the range of items of a list.
    #[must_use]
    #[inline]
    pub fn range(&self, row: usize) -> Range<usize> {
        self.bounds.range(row)
    }

    #[inline]
    pub(super) const fn bounds(&self) -> &Bounds {
        &self.bounds
    }
}

/// Builder of lists.
pub struct ListBuilder<B> {
    pub(super) offsets: Vec<i64>,
    pub(super) count: usize,
    pub(super) items: B,
}

impl<B: Default> Default for ListBuilder<B> {
    fn default() -> Self {
        Self { offsets: vec![0], count: 0, items: B::default() }
    }
}

impl<B> ListBuilder<B> {
    /// Ends a list after `items` items of all lists.
    #[inline]
    pub(super) fn end(&mut self, items: usize) {
        self.count = items;
        self.offsets.push(items as i64);
    }

    pub(super) fn finish<T: Value<Builder = B>>(
        self,
        key: &str,
        columns: &mut Vec<(String, Column)>,
    ) -> Form {
        columns.push((format!("{key}-offsets"), Column::from_vec(self.offsets)));
        let content = T::finish(self.items, &format!("{key}.items"), columns);
        Form::List { key: key.to_owned(), content: Box::new(content) }
    }
}

fn check_lists<T: Value>(form: &Form, check: &mut Check<'_>) {
    let mut items = |content: &Form| {
        if T::RAW.is_some() {
            return check.report("raw numbers are fields of the row itself, not of lists in it");
        }
        check.within("[]", |check| T::check(content, check));
    };
    match form.kept() {
        Form::List { content, .. } => items(content),
        kept => match kept.fixed() {
            Some((_, content)) => items(&content),
            None => check.mismatch("lists", form),
        },
    }
}

fn view_lists<T: Value>(array: &Array) -> Result<ListView<T::View>> {
    let (bounds, items) = lists(array)?;
    Ok(ListView::new(bounds, T::view(&items)?))
}

impl<T: Value> Value for List<'_, T> {
    type View = ListView<T::View>;
    type Borrowed<'v> = List<'v, T::Borrowed<'v>>;
    type Builder = ListBuilder<T::Builder>;

    fn check(form: &Form, check: &mut Check<'_>) {
        check_lists::<T>(form, check);
    }

    fn view(array: &Array) -> Result<Self::View> {
        view_lists::<T>(array)
    }

    #[inline]
    fn get(view: &Self::View, row: usize) -> List<'_, T::Borrowed<'_>> {
        let Range { start, end } = view.bounds.range(row);
        List { items: &view.items, start, end }
    }

    fn push_to(&self, builder: &mut Self::Builder) {
        for item in self.iter() {
            item.push_to(&mut builder.items);
        }
        builder.end(builder.count + self.len());
    }

    fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
        builder.finish::<T>(key, columns)
    }
}

/// Lists as owned vectors.
impl<T: Value> Value for Vec<T> {
    type View = ListView<T::View>;
    type Borrowed<'v> = Vec<T::Borrowed<'v>>;
    type Builder = ListBuilder<T::Builder>;

    fn check(form: &Form, check: &mut Check<'_>) {
        check_lists::<T>(form, check);
    }

    fn view(array: &Array) -> Result<Self::View> {
        view_lists::<T>(array)
    }

    fn get(view: &Self::View, row: usize) -> Vec<T::Borrowed<'_>> {
        view.bounds.range(row).map(|item| T::get(&view.items, item)).collect()
    }

    fn push_to(&self, builder: &mut Self::Builder) {
        self.iter().for_each(|item| item.push_to(&mut builder.items));
        builder.end(builder.count + self.len());
    }

    fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
        builder.finish::<T>(key, columns)
    }
}

/// Implements lists of a struct whose fields are columns with a prefix.
macro_rules! prefixed_lists {
    ($lists:ty) => {
        impl<T: Row> Prefixed for $lists {
            fn check_prefixed(
                fields: &mut FieldCheck<'_, '_>,
                field: &str,
                prefix: &str,
                count: Option<&str>,
            ) {
                fields.lists::<T>(field, prefix, count);
            }

            fn view_prefixed(
                fields: &FieldArrays<'_>,
                prefix: &str,
                count: Option<&str>,
            ) -> Result<Self::View> {
                let (bounds, items) = fields.lists::<T>(prefix, count)?;
                Ok(ListView::new(bounds, items))
            }

            fn finish_prefixed(
                builder: Self::Builder,
                fields: &mut FieldWriter,
                prefix: &str,
                count: Option<&str>,
            ) {
                fields.lists::<T>(builder.offsets, builder.items, prefix, count);
            }
        }
    };
}

prefixed_lists!(List<'_, T>);
prefixed_lists!(Vec<T>);

/// Lists of a fixed length as arrays.
impl<T: Value, const N: usize> Value for [T; N] {
    type View = T::View;
    type Borrowed<'v> = [T::Borrowed<'v>; N];
    type Builder = T::Builder;

    fn check(form: &Form, check: &mut Check<'_>) {
        match form.kept().fixed() {
            Some((size, content)) if size == N as u64 && T::RAW.is_none() => {
                check.within("[]", |check| T::check(&content, check));
            }
            _ => check.mismatch(&format!("lists of {N} items each"), form),
        }
    }

    fn view(array: &Array) -> Result<Self::View> {
        T::view(&lists(array)?.1)
    }

    #[inline]
    fn get(view: &Self::View, row: usize) -> [T::Borrowed<'_>; N] {
        std::array::from_fn(|at| T::get(view, row * N + at))
    }

    fn push_to(&self, builder: &mut Self::Builder) {
        self.iter().for_each(|item| item.push_to(builder));
    }

    fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
        T::finish(builder, key, columns).repeated(N as u64)
    }
}
