//! Filling columns of a known type.

#[cfg(test)]
mod tests;

use super::place::Found;
use super::stored::Columns;
use super::table::Nodes;
use crate::form::{Form, FormError, Index, Kind, Unit};
use crate::growth::{extend, push};
use crate::sink::{Items, Shape};
use crate::{BuildError, Fault, Leaf, Open, Sink, Slot, Snapshot};

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
/// let (open, items) = columns.open_list(TypedColumns::ROOT)?;
/// columns.put_real(items, 1.5)?;
/// columns.put_integer(items, 2)?;
/// assert!(columns.put_boolean(items, true).is_err());
/// columns.close_list(open)?;
/// assert_eq!(columns.finish().length, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TypedColumns {
    /// With the keys of the buffers.
    form: Form,
    nodes: Nodes,
    /// The alternative to begin with, of those that might take a list, record or tuple.
    nth: usize,
}

impl TypedColumns {
    /// The place that a walk over the items of the array begins at.
    pub const ROOT: Slot = Slot(0);

    /// Empty columns for items of a Form. They get offsets and indexes of 64 bits, and nulls by index,
    /// whatever it says: it is the type that counts.
    ///
    /// # Errors
    /// Types that are indirect in themselves (categories), and impossible ones.
    pub fn new(form: &Form) -> Result<Self, FormError> {
        let form = plain(form.clone().with_keys()?)?.with_keys()?;
        let nodes = Nodes::new(&form)?;
        Ok(Self { form, nodes, nth: 0 })
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

    /// The complete items, moved out.
    #[must_use]
    pub fn finish(mut self) -> Snapshot {
        let length = self.nodes.len(Self::ROOT.0);
        let columns = self.nodes.give(length);
        Snapshot { form: self.form.to_json(), length: length as u64, columns }
    }

    fn put(
        &mut self,
        at: Slot,
        found: Found,
        mut write: impl FnMut(&mut Columns) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        self.nodes.put(at.0, found, None, &mut write)
    }

    fn open(&mut self, at: Slot, found: Found) -> Result<Open, BuildError> {
        let nth = std::mem::take(&mut self.nth);
        Ok(Open { slot: at, node: self.nodes.begin(at.0, found, nth)?, next: 0 })
    }

    /// Fills what has no value, if it may be null, and refuses what has several.
    fn level(
        &mut self,
        content: u32,
        length: usize,
        missing: impl FnOnce() -> Fault,
        twice: impl FnOnce() -> Fault,
    ) -> Result<(), BuildError> {
        let filled = self.nodes.len(content);
        if filled == length + 1 {
            Ok(())
        } else if filled > length {
            Err(twice().into())
        } else if self.nodes.null(content, None)? {
            Ok(())
        } else {
            Err(missing().into())
        }
    }

    fn close_fixed(&mut self, open: &Open) -> Result<(), BuildError> {
        let Columns::Regular { size, length, content } = *self.nodes.at(open.node) else {
            return Ok(()); // never
        };
        let found = self.nodes.len(content) - size * length;
        if found != size {
            return Err(Fault::Length { expected: size as u64, found: found as u64 }.into());
        }
        self.nodes.finish(open.slot.0, open.node)?;
        if let Columns::Regular { length, .. } = self.nodes.at_mut(open.node) {
            *length += 1;
        }
        Ok(())
    }
}

impl Sink for TypedColumns {
    fn len_at(&self, at: Slot) -> usize {
        self.nodes.len(at.0)
    }

    fn truncate_at(&mut self, at: Slot, len: usize) {
        self.nodes.truncate(at.0, len);
    }

    fn put_null(&mut self, at: Slot) -> Result<(), BuildError> {
        if self.nodes.null(at.0, None)? { Ok(()) } else { Err(self.nodes.refuse(at.0, Found::Null)) }
    }

    #[inline]
    fn put_boolean(&mut self, at: Slot, x: bool) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Columns::Boolean(items) => push(items, x.into()),
            _ => self.put(at, Found::Boolean, |columns| match columns {
                Columns::Boolean(items) => push(items, x.into()),
                _ => Ok(()), // never
            }),
        }
    }

    #[inline]
    fn put_integer(&mut self, at: Slot, x: i64) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Columns::Int64(items) => push(items, x),
            Columns::Float64(items) => push(items, x as f64),
            _ => self.put(at, Found::Integer(x), |columns| columns.write_integer(x)),
        }
    }

    fn put_unsigned(&mut self, at: Slot, x: u64) -> Result<(), BuildError> {
        match i64::try_from(x) {
            Ok(x) => self.put_integer(at, x),
            Err(_) => self.put(at, Found::Unsigned(x), |columns| columns.write_unsigned(x)),
        }
    }

    fn put_huge(&mut self, at: Slot) -> Result<(), BuildError> {
        Err(self.nodes.refuse(at.0, Found::Huge))
    }

    #[inline]
    fn put_real(&mut self, at: Slot, x: f64) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Columns::Float64(items) => push(items, x),
            Columns::Float32(items) => push(items, x as f32),
            _ => self.put(at, Found::Real, |columns| columns.write_real(x)),
        }
    }

    fn put_complex(&mut self, at: Slot, x: [f64; 2]) -> Result<(), BuildError> {
        self.put(at, Found::Complex, |columns| columns.write_complex(x))
    }

    fn put_time(&mut self, at: Slot, x: i64, unit: &str) -> Result<(), BuildError> {
        let date = unit.starts_with("datetime64");
        let from = unit.split_once('[').and_then(|(_, rest)| Unit::from_name(rest.strip_suffix(']')?));
        let found = Found::Time { date };
        let mut fits = true;
        self.put(at, found, |columns| match columns {
            Columns::Time { unit: to, items, .. } => {
                // NaT has no unit.
                let x = from.map_or((x == i64::MIN).then_some(x), |from| from.convert(x, *to, date));
                fits = x.is_some();
                match x {
                    Some(x) => push(items, x),
                    None => Err(Fault::Deep.into()), // replaced below
                }
            }
            _ => Ok(()), // never
        })
        .map_err(|refused| {
            let expected = self.nodes.about(at.0).expected.clone();
            if fits {
                refused
            } else {
                Fault::Expected { expected, found: format!("{x} as {unit}").into() }.into()
            }
        })
    }

    #[inline]
    fn put_text(&mut self, at: Slot, x: &[u8], binary: bool) -> Result<(), BuildError> {
        self.put(at, Found::Text { binary, bytes: x.len() }, |columns| columns.write_text(x))
    }

    fn put_integers(&mut self, at: Slot, more: &[i64]) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Columns::Int64(items) => extend(items, more),
            _ => more.iter().try_for_each(|x| self.put_integer(at, *x)),
        }
    }

    fn put_reals(&mut self, at: Slot, more: &[f64]) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Columns::Float64(items) => extend(items, more),
            _ => more.iter().try_for_each(|x| self.put_real(at, *x)),
        }
    }

    fn leaf_at(&mut self, at: Slot) -> Leaf<'_> {
        match self.nodes.at_mut(at.0) {
            Columns::Boolean(items) => Leaf::Boolean(Items(items)),
            Columns::Int64(items) => Leaf::Integer(Items(items)),
            Columns::Float64(items) => Leaf::Real(Items(items)),
            _ => Leaf::Other,
        }
    }

    fn candidates(&self, at: Slot, shape: Shape) -> usize {
        match self.nodes.at(at.0) {
            Columns::Indexed { .. } | Columns::Union { .. } => self.nodes.candidates(at.0, shape.into()),
            _ => 1,
        }
    }

    fn choose(&mut self, nth: usize) {
        self.nth = nth;
    }

    #[inline]
    fn open_list(&mut self, at: Slot) -> Result<(Open, Slot), BuildError> {
        if let Columns::List { content, .. } = *self.nodes.at(at.0) {
            return Ok((Open { slot: at, node: at.0, next: 0 }, Slot(content)));
        }
        let open = self.open(at, Found::List)?;
        match *self.nodes.at(open.node) {
            Columns::List { content, .. } | Columns::Regular { content, .. } => Ok((open, Slot(content))),
            _ => Ok((open, at)), // never
        }
    }

    #[inline]
    fn close_list(&mut self, open: Open) -> Result<(), BuildError> {
        let Columns::List { content, .. } = *self.nodes.at(open.node) else {
            return self.close_fixed(&open);
        };
        let end = self.nodes.len(content) as i64;
        if open.slot.0 != open.node {
            self.nodes.finish(open.slot.0, open.node)?;
        }
        match self.nodes.at_mut(open.node) {
            Columns::List { offsets, .. } => push(offsets, end),
            _ => Ok(()), // never
        }
    }

    fn open_tuple(&mut self, at: Slot, size: usize) -> Result<Open, BuildError> {
        self.open(at, Found::Tuple(size))
    }

    #[inline]
    fn slot_of(&mut self, open: &Open, index: usize) -> Slot {
        match self.nodes.at(open.node) {
            Columns::Tuple { contents, .. } => Slot(contents[index]),
            Columns::List { content, .. } | Columns::Regular { content, .. } => Slot(*content),
            _ => open.slot, // never
        }
    }

    fn close_tuple(&mut self, open: Open) -> Result<(), BuildError> {
        let Columns::Tuple { contents, length } = self.nodes.at(open.node) else {
            return self.close_list(open);
        };
        let (size, length) = (contents.len(), *length);
        for index in 0..size {
            let content = self.slot_of(&open, index).0;
            let missing = || Fault::Missing { name: index.to_string().into() };
            self.level(content, length, missing, || Fault::SlotTwice { index })?;
        }
        self.nodes.finish(open.slot.0, open.node)?;
        if let Columns::Tuple { length, .. } = self.nodes.at_mut(open.node) {
            *length += 1;
        }
        Ok(())
    }

    #[inline]
    fn open_record(&mut self, at: Slot, _name: Option<&str>) -> Result<Open, BuildError> {
        match self.nodes.at(at.0) {
            Columns::Record(_) => Ok(Open { slot: at, node: at.0, next: 0 }),
            _ => self.open(at, Found::Record),
        }
    }

    #[inline]
    fn known_field(&mut self, open: &mut Open, token: usize) -> Option<Slot> {
        let Columns::Record(record) = self.nodes.at(open.node) else { return None }; // never
        let next = open.next as usize;
        let at = match record.fields.get(next) {
            Some(field) if field.token == token => next,
            _ if record.fields.len() > FEW => return None,
            _ => record.fields.iter().position(|field| field.token == token)?,
        };
        open.next = at as u32 + 1;
        Some(Slot(record.fields[at].content))
    }

    fn field_of(&mut self, open: &mut Open, name: &str, token: usize) -> Result<(Slot, bool), BuildError> {
        let next = open.next as usize;
        let Columns::Record(record) = self.nodes.at_mut(open.node) else {
            return Ok((open.slot, false)); // never
        };
        let Some(at) = record.find(next, name) else {
            let expected = self.nodes.about(open.node).expected.clone();
            return Err(Fault::Unknown { name: name.into(), expected }.into());
        };
        open.next = at as u32 + 1;
        let field = &mut record.fields[at];
        let learns = token != 0 && field.token == 0;
        if learns {
            field.token = token;
        }
        Ok((Slot(field.content), learns))
    }

    fn close_record(&mut self, open: Open) -> Result<(), BuildError> {
        let Columns::Record(record) = self.nodes.at(open.node) else { return Ok(()) }; // never
        let (count, length) = (record.fields.len(), record.length);
        for at in 0..count {
            let Columns::Record(record) = self.nodes.at(open.node) else { return Ok(()) }; // never
            let content = record.fields[at].content;
            if self.nodes.len(content) != length + 1 {
                let name = record.fields[at].name.clone();
                let again = name.clone();
                self.level(
                    content,
                    length,
                    || Fault::Missing { name },
                    || Fault::FieldTwice { name: again },
                )?;
            }
        }
        if open.slot.0 != open.node {
            self.nodes.finish(open.slot.0, open.node)?;
        }
        if let Columns::Record(record) = self.nodes.at_mut(open.node) {
            record.length += 1;
        }
        Ok(())
    }
}

impl From<Shape> for Found {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::List => Self::List,
            Shape::Tuple(size) => Self::Tuple(size),
            Shape::Record => Self::Record,
        }
    }
}

/// A Form of the same type whose lists have offsets and whose nulls and unions have indexes, all of 64 bits.
fn plain(form: Form) -> Result<Form, FormError> {
    let text = form.as_text().is_some();
    let again = |content: Box<Form>| plain(*content).map(Box::new);
    let all = |contents: Vec<Form>| contents.into_iter().map(plain).collect::<Result<_, _>>();
    let kind = match form.kind {
        Kind::Regular { size, .. } if u32::try_from(size).is_err() => {
            // Sizes that could overflow a count are no sizes.
            return Err(FormError::Unsupported { what: format!("a list of always {size} items") });
        }
        Kind::Regular { size, content } if !text => Kind::Regular { size, content: again(content)? },
        Kind::ListOffset { content, .. } | Kind::List { content, .. } => {
            Kind::ListOffset { offsets: Index::I64, content: again(content)? }
        }
        Kind::IndexedOption { content, .. }
        | Kind::ByteMasked { content, .. }
        | Kind::BitMasked { content, .. }
        | Kind::Unmasked { content } => Kind::IndexedOption { index: Index::I64, content: again(content)? },
        Kind::Record { fields, contents } => Kind::Record { fields, contents: all(contents)? },
        Kind::Union { contents, .. } => Kind::Union { index: Index::I64, contents: all(contents)? },
        Kind::Numpy { primitive, shape } if !shape.is_empty() => {
            let inner = Kind::Numpy { primitive, shape: shape[1..].to_vec() };
            Kind::Regular { size: shape[0], content: again(Box::new(Form::new(inner)))? }
        }
        Kind::Indexed { .. } => return Err(FormError::Unsupported { what: form.type_string() }),
        kind => kind,
    };
    Ok(Form { kind, ..form })
}

/// Fields whose numbers are looked at one after the other.
const FEW: usize = 16;
