//! Columns of a known type, filled from objects.

#[cfg(test)]
mod tests;

use crate::form::{Form, FormError, Index, Kind};
use crate::table::Nodes;
use crate::{Layout, Sink};

/// Columns of a known type, filled by code that traverses objects, without commands or a program: the fastest
/// way to build an array.
///
/// A value must be of the type, with some conversions: integers to floating-point and complex numbers,
/// floating-point to complex numbers, times to another unit if the result is exact, and tuples to lists.
/// Fields of a record may be in any order; a missing one becomes null if its type is nullable. A union stores
/// a value in the alternative that represents it best.
///
/// ```
/// use forthwith_builders::{Sink, TypedColumns};
///
/// let mut columns = TypedColumns::from_type("var * float32")?;
/// let sink = columns.sink();
/// let (open, items) = sink.open_list(Sink::ROOT)?;
/// sink.put_real(items, 1.5)?;
/// sink.put_integer(items, 2)?;
/// assert!(sink.put_boolean(items, true).is_err());
/// sink.close_list(open)?;
/// assert_eq!(columns.finish().length, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TypedColumns {
    /// Form with the keys of the buffers.
    form: Form,
    sink: Sink,
}

impl TypedColumns {
    /// Creates empty columns for the type of a Form. Offsets and indexes have 64 bits, and nulls are stored
    /// by index, whatever the Form says.
    ///
    /// # Errors
    /// Returns an error for impossible types, and for indirections without nulls (categories).
    pub fn new(form: &Form) -> Result<Self, FormError> {
        let mut form = form.clone().with_keys()?;
        plain(&mut form)?;
        let form = form.with_keys()?;
        let nodes = Nodes::new(&form)?;
        Ok(Self { form, sink: Sink { nodes, grows: false, nth: 0 } })
    }

    /// Creates empty columns for a type in Awkward Array's notation.
    ///
    /// # Errors
    /// Returns the errors of [`Form::from_type`] and [`Self::new`].
    pub fn from_type(text: &str) -> Result<Self, FormError> {
        Self::new(&Form::from_type(text)?)
    }

    /// Returns the Form, with the keys of the buffers.
    #[must_use]
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// Returns the sink for code that traverses objects.
    pub const fn sink(&mut self) -> &mut Sink {
        &mut self.sink
    }

    /// Moves the complete items out of the columns.
    #[must_use]
    pub fn finish(mut self) -> Layout {
        let length = self.sink.len_at(Sink::ROOT);
        let columns = self.sink.nodes.give(length);
        Layout { form: self.form, length: length as u64, columns }
    }
}

/// Changes lists to offsets, and nulls and unions to indexes, all of 64 bits.
fn plain(form: &mut Form) -> Result<(), FormError> {
    let unsupported = |what| Err(FormError::Unsupported(what));
    if matches!(form.kind, Kind::Indexed { .. }) {
        return unsupported(form.type_string());
    }
    form.kind = match std::mem::replace(&mut form.kind, Kind::Empty) {
        // Larger sizes could overflow the number of items.
        Kind::Regular { size, .. } if u32::try_from(size).is_err() => {
            return unsupported(format!("a list of always {size} items"));
        }
        Kind::ListOffset { content, .. } | Kind::List { content, .. } => {
            Kind::ListOffset { offsets: Index::I64, content }
        }
        Kind::IndexedOption { content, .. }
        | Kind::ByteMasked { content, .. }
        | Kind::BitMasked { content, .. }
        | Kind::Unmasked { content } => Kind::IndexedOption { index: Index::I64, content },
        Kind::Union { contents, .. } => Kind::Union { index: Index::I64, contents },
        Kind::Numpy { primitive, shape } if !shape.is_empty() => {
            let inner = Kind::Numpy { primitive, shape: shape[1..].to_vec() };
            Kind::Regular { size: shape[0], content: Box::new(Form::new(inner)) }
        }
        kind => kind,
    };
    form.contents_mut().iter_mut().try_for_each(plain)
}
