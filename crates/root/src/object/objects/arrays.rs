//! Views of the values of arrays and lists.

use super::{Array, Items, List, Member, NONE, Object, Packed, Shape, Value};
use forthwith_columns::DType;

impl<'a> Array<'a> {
    /// Returns the number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.basic.size()
    }

    /// Returns whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the numbers as integers; floating-point numbers are truncated.
    pub fn ints(&self) -> impl ExactSizeIterator<Item = i64> + use<'a> {
        let basic = self.basic;
        self.bytes.chunks_exact(basic.size()).map(move |bytes| match number(basic, bytes) {
            Member::Bool(value) => i64::from(value),
            Member::Int(value) => value,
            Member::UInt(value) => value as i64,
            Member::Float(value) => value as i64,
            _ => 0,
        })
    }

    /// Returns the numbers as floating-point numbers.
    pub fn floats(&self) -> impl ExactSizeIterator<Item = f64> + use<'a> {
        let basic = self.basic;
        self.bytes.chunks_exact(basic.size()).map(move |bytes| match number(basic, bytes) {
            Member::Bool(value) => f64::from(u8::from(value)),
            Member::Int(value) => value as f64,
            Member::UInt(value) => value as f64,
            Member::Float(value) => value,
            _ => 0.0,
        })
    }
}

impl Packed<'_> {
    /// Returns the number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.numbers.size()
    }

    /// Returns whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns whether the numbers are `float` in memory, and otherwise `double`.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.numbers.is_single()
    }

    /// Returns the numbers.
    pub fn floats(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.bytes.chunks_exact(self.numbers.size()).map(|bytes| self.numbers.unpacked(bytes))
    }
}

impl List<'_> {
    /// Returns the kind of container.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }
}

impl<'a> Iterator for List<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let member = *self.members.next()?;
        // Any object will do, as values do not depend on it.
        Some(Object { objects: self.objects, number: 0 }.value(member))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.members.size_hint()
    }
}

impl ExactSizeIterator for List<'_> {}

/// Decodes a big-endian number of this type.
pub(in crate::object) fn number(basic: DType, bytes: &[u8]) -> Member {
    let mut wide = [0; 8];
    wide[8 - bytes.len()..].copy_from_slice(bytes);
    let unsigned = u64::from_be_bytes(wide);
    let shift = 64 - 8 * bytes.len() as u32;
    let signed = (unsigned << shift) as i64 >> shift;
    match basic {
        DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => Member::Int(signed),
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => Member::UInt(unsigned),
        DType::Float32 => Member::Float(f64::from(f32::from_bits(unsigned as u32))),
        DType::Float64 => Member::Float(f64::from_bits(unsigned)),
        DType::Bool => Member::Bool(unsigned != 0),
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Option<Object<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = *self.links.next()?;
        Some((number != NONE).then_some(Object { objects: self.objects, number }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.links.size_hint()
    }
}

impl ExactSizeIterator for Items<'_> {}
