//! Access to arrays as Rust slices.

use crate::lookup::Lookup;
use crate::validate::{items, offsets_end, union_lengths};
use crate::{Array, Column, DType, Form, Invalid, Native};
use std::borrow::Cow;
use std::ops::{Index, Range};

/// Reason that an [`Array`] cannot be accessed as slices of a Rust type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The array has another type.
    #[error("the array is {found}, not {wanted}")]
    Type {
        /// Type of the array, such as `3600 * var * float32`.
        found: String,
        /// Requested type, such as `numbers of float64`.
        wanted: String,
    },
    /// The items are not aligned, as may happen in a mapped file.
    #[error("buffer {key} is not aligned for {dtype}: copy it with `Column::compact`")]
    Unaligned {
        /// Name of the buffer.
        key: String,
        /// Its element type.
        dtype: DType,
    },
    /// A record has no field of that name.
    #[error("the record has no field {name:?}: it has {fields}")]
    NoField {
        /// The requested name.
        name: String,
        /// Names of the fields.
        fields: String,
    },
    /// The columns contradict the Form.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

impl Array {
    /// Returns the numbers of an array of numbers. Fixed inner dimensions are flattened in row-major order:
    /// three rows of `2 * float32` are six numbers. Logical types are returned as stored, such as a timestamp
    /// as `i64`, and booleans as `u8`.
    ///
    /// ```
    /// use forthwith_columns::{Array, Column, DType, Form};
    ///
    /// let form = Form::Numpy { key: "n".into(), dtype: DType::Float32, shape: vec![] };
    /// let array = Array { form, length: 2, columns: vec![("n-data".into(), Column::from_slice(&[1.5f32, 2.5]))] };
    /// assert_eq!(array.as_slice::<f32>()?, [1.5, 2.5]);
    /// assert_eq!(array.as_slice::<f64>().unwrap_err().to_string(), "the array is 2 * float32, not numbers of float64");
    /// # Ok::<(), forthwith_columns::ViewError>(())
    /// ```
    ///
    /// # Errors
    /// [`ViewError::Type`] for an array of another type, lists and options included;
    /// [`ViewError::Unaligned`].
    pub fn as_slice<T: Native>(&self) -> Result<&[T], ViewError> {
        numbers(&Lookup::of(self), self.form.kept(), self.length)?
            .ok_or_else(|| self.unlike(format!("numbers of {}", T::DTYPE)))
    }

    /// Returns the lists of an array of lists of numbers, of variable or fixed length.
    ///
    /// ```
    /// # use forthwith_columns::{Array, Column, DType, Form};
    /// # let content = Form::Numpy { key: "n".into(), dtype: DType::Float32, shape: vec![] };
    /// # let form = Form::List { key: "l".into(), content: Box::new(content) };
    /// # let columns = vec![("l-offsets".into(), Column::from_slice(&[0i64, 2, 2, 3])), ("n-data".into(), Column::from_slice(&[1.5f32, 2.5, 3.5]))];
    /// # let array = Array { form, length: 3, columns };
    /// let lists = array.as_jagged::<f32>()?;
    /// assert_eq!(lists.iter().map(<[f32]>::len).collect::<Vec<_>>(), [2, 0, 1]);
    /// assert_eq!(&lists[0], [1.5, 2.5]);
    /// assert_eq!((lists.offsets(), lists.items()), (&[0, 2, 2, 3][..], &[1.5, 2.5, 3.5][..]));
    /// # Ok::<(), forthwith_columns::ViewError>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`as_slice`](Self::as_slice); [`ViewError::Invalid`] if offsets decrease or exceed the
    /// numbers.
    pub fn as_jagged<T: Native>(&self) -> Result<Jagged<'_, T>, ViewError> {
        let lookup = Lookup::of(self);
        let wanted = || self.unlike(format!("lists of numbers of {}", T::DTYPE));
        let (offsets, content, end) = lists(&lookup, &self.form, self.length)?.ok_or_else(wanted)?;
        let plain = matches!(content.kept(), Form::Numpy { shape, .. } if shape.is_empty());
        let items = if plain { numbers(&lookup, content, end)? } else { None };
        Ok(Jagged { offsets, items: items.ok_or_else(wanted)? })
    }

    /// Returns the bytes of each item of an array of text or byte strings.
    ///
    /// # Errors
    /// Errors of [`as_jagged`](Self::as_jagged).
    pub fn as_texts(&self) -> Result<Jagged<'_, u8>, ViewError> {
        let lookup = Lookup::of(self);
        let Form::String { key, .. } = self.form.kept() else { return Err(self.unlike("texts".into())) };
        let end = offsets_end(&lookup, key, self.length)?;
        let offsets = lookup.integers(key, "offsets", self.length + 1)?; // as many as were checked
        Ok(Jagged { offsets, items: lookup.column(key, "data", DType::UInt8, end)?.as_bytes() })
    }

    /// Returns the offsets and the items of an array of lists, for lists of lists or of records. Row `i`
    /// consists of the items `offsets[i]..offsets[i + 1]`. Columns are shared, not copied.
    ///
    /// # Errors
    /// Errors of [`as_jagged`](Self::as_jagged).
    pub fn as_lists(&self) -> Result<(Cow<'_, [i64]>, Self), ViewError> {
        let lookup = Lookup::of(self);
        let (offsets, content, length) =
            lists(&lookup, &self.form, self.length)?.ok_or_else(|| self.unlike("lists".into()))?;
        let items = Self { form: content.clone(), length, columns: self.columns.clone() };
        Ok((offsets, items))
    }

    /// Returns the index and the values of an array of options. The index has the row of the values for each
    /// row of the array, negative if it is missing, and is `None` if no row is missing, so that each row has
    /// its own number. Columns are shared, not copied.
    ///
    /// # Errors
    /// [`ViewError::Type`] if the array is not of options; [`ViewError::Invalid`].
    pub fn as_options(&self) -> Result<(Option<Column>, Self), ViewError> {
        let lookup = Lookup::of(self);
        let Form::Option { key, content } = self.form.kept() else {
            return Err(self.unlike("values that may be missing".into()));
        };
        let (index, length) = if lookup.is_complete(key, self.length)? {
            (None, self.length)
        } else {
            let index = lookup.column(key, "index", DType::Int64, self.length)?;
            (Some(index.slice(0..self.length as usize)), lookup.rows_there(key, self.length)?) // as many as there are
        };
        Ok((index, Self { form: (**content).clone(), length, columns: self.columns.clone() }))
    }

    /// Returns the tags, the index and the alternatives of an array of unions: the number of the alternative,
    /// and the row in it, for each row of the array. Columns are shared, not copied.
    ///
    /// # Errors
    /// [`ViewError::Type`] if the array is not of unions; [`ViewError::Invalid`].
    pub fn as_union(&self) -> Result<(Column, Column, Vec<Self>), ViewError> {
        let lookup = Lookup::of(self);
        let Form::Union { key, contents } = self.form.kept() else {
            return Err(self.unlike("a union".into()));
        };
        let lengths = union_lengths(&lookup, key, contents.len(), self.length)?;
        let of =
            |(form, length): (&Form, u64)| Self { form: form.clone(), length, columns: self.columns.clone() };
        let alternatives = contents.iter().zip(lengths).map(of).collect();
        let rows = 0..self.length as usize; // as many as were checked
        let part = |part, dtype| lookup.column(key, part, dtype, self.length);
        let (tags, index) = (part("tags", DType::Int8)?, part("index", DType::Int64)?);
        Ok((tags.slice(rows.clone()), index.slice(rows), alternatives))
    }

    /// Returns a field of an array of records. Columns are shared, not copied.
    ///
    /// # Errors
    /// [`ViewError::NoField`] with the names of the fields; [`ViewError::Type`] if the array is not of named
    /// records.
    pub fn field(&self, name: &str) -> Result<Self, ViewError> {
        let Form::Record { fields: Some(fields), contents, .. } = self.form.kept() else {
            return Err(self.unlike("records with names".into()));
        };
        let at = fields.iter().position(|field| field == name);
        let content = at
            .and_then(|at| contents.get(at))
            .ok_or_else(|| ViewError::NoField { name: name.into(), fields: fields.join(", ") })?;
        Ok(Self { form: content.clone(), length: self.length, columns: self.columns.clone() })
    }

    fn unlike(&self, wanted: String) -> ViewError {
        ViewError::Type { found: format!("{} * {}", self.length, self.form.type_string()), wanted }
    }
}

/// Lists of numbers: `offsets` into `items`. Returned by [`Array::as_jagged`], which checks the offsets.
#[derive(Clone, Debug, PartialEq)]
pub struct Jagged<'a, T> {
    offsets: Cow<'a, [i64]>,
    items: &'a [T],
}

impl<'a, T> Jagged<'a, T> {
    /// Number of lists.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no lists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a list, or `None` if `row` is out of range.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&'a [T]> {
        let bounds = self.offsets.get(row..)?.get(..2)?;
        self.items.get(bounds[0] as usize..bounds[1] as usize) // checked not to be negative
    }

    /// Iterates over the lists.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [T]> + '_ {
        let items = self.items;
        self.offsets.windows(2).map(move |bounds| &items[bounds[0] as usize..bounds[1] as usize])
    }

    /// Returns the offset of the first item of each list, and the end of the last one: one more than there
    /// are lists. The first need not be 0.
    #[must_use]
    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// Returns the numbers of all lists, contiguously.
    #[must_use]
    pub fn items(&self) -> &'a [T] {
        self.items
    }
}

/// # Panics
/// If `row` is out of range.
impl<T> Index<usize> for Jagged<'_, T> {
    type Output = [T];

    fn index(&self, row: usize) -> &[T] {
        let Range { start, end } = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        &self.items[start..end]
    }
}

/// Returns the numbers of `length` rows; `None` if the Form is not of numbers of type `T`.
fn numbers<'a, T: Native>(
    lookup: &Lookup<'a>,
    form: &Form,
    length: u64,
) -> Result<Option<&'a [T]>, ViewError> {
    let Form::Numpy { key, dtype, shape } = form.kept() else { return Ok(None) };
    if !Column::is_kept_as::<T>(*dtype) {
        return Ok(None);
    }
    let count = items(length, shape)?;
    let all = lookup.column(key, "data", *dtype, count)?.kept_as();
    let all = all.ok_or_else(|| ViewError::Unaligned { key: format!("{key}-data"), dtype: *dtype })?;
    Ok(all.get(..count as usize)) // no more than the column's length
}

/// Offsets, Form of the items, and number of items.
type Lists<'a> = (Cow<'a, [i64]>, &'a Form, u64);

fn lists<'a>(lookup: &Lookup<'a>, form: &'a Form, length: u64) -> Result<Option<Lists<'a>>, ViewError> {
    match form.kept() {
        Form::List { key, content } => {
            let end = offsets_end(lookup, key, length)?;
            Ok(Some((lookup.integers(key, "offsets", length + 1)?, content, end))) // as many as were checked
        }
        Form::Regular { size, content } => {
            let end = items(length, &[*size])?;
            // Lists of length 0 take no bytes that would justify their number, so that no offsets are
            // allocated for it.
            if *size == 0 && length > 0 {
                return Ok(None);
            }
            let count = length.checked_add(1).ok_or(Invalid::Overflow { rows: length, each: 1 })?;
            Ok(Some(((0..count).map(|row| (row * size) as i64).collect(), content, end)))
        }
        _ => Ok(None),
    }
}
