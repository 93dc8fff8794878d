//! Filling columns of a known type.

#[cfg(test)]
mod tests;

use crate::form::{Form, FormError, Index, Kind};
use crate::table::Nodes;
use crate::{Layout, Sink};

/// Columns of a known type, filled by a walk over objects: the fastest way in, without commands and without a
/// program between.
///
/// A value must be of the type: integers also go where real or complex numbers are, these where complex ones
/// are, and times of another unit where they are a whole number of units; a tuple goes into a list, too.
/// Fields of a record come in any order; one that is missing becomes null if its type has nulls. A union
/// takes a value in the alternative that fits best.
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
    /// With the keys of the buffers.
    form: Form,
    sink: Sink,
}

impl TypedColumns {
    /// Empty columns for items of a Form. They get offsets and indexes of 64 bits, and nulls by index,
    /// whatever it says: it is the type that counts.
    ///
    /// # Errors
    /// Types that are indirect in themselves (categories), and impossible ones.
    pub fn new(form: &Form) -> Result<Self, FormError> {
        let mut form = form.clone().with_keys()?;
        plain(&mut form)?;
        let form = form.with_keys()?;
        let nodes = Nodes::new(&form)?;
        Ok(Self { form, sink: Sink { nodes, grows: false, nth: 0 } })
    }

    /// Empty columns for items of a type in Awkward Array's notation.
    ///
    /// # Errors
    /// As [`Form::from_type`] and [`Self::new`].
    pub fn from_type(text: &str) -> Result<Self, FormError> {
        Self::new(&Form::from_type(text)?)
    }

    /// The Form, with the keys of the buffers.
    #[must_use]
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// What a walk over objects fills.
    pub const fn sink(&mut self) -> &mut Sink {
        &mut self.sink
    }

    /// The complete items, moved out.
    #[must_use]
    pub fn finish(mut self) -> Layout {
        let length = self.sink.len_at(Sink::ROOT);
        let columns = self.sink.nodes.give(length);
        Layout { form: self.form, length: length as u64, columns }
    }
}

/// Makes a Form of the same type, whose lists have offsets and whose nulls and unions have indexes, all of 64 bits.
fn plain(form: &mut Form) -> Result<(), FormError> {
    let unsupported = |what| Err(FormError::Unsupported(what));
    if matches!(form.kind, Kind::Indexed { .. }) {
        return unsupported(form.type_string());
    }
    form.kind = match std::mem::replace(&mut form.kind, Kind::Empty) {
        // Sizes that could overflow a count are no sizes.
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
