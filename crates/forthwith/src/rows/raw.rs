//! Numbers in the byte order of the file.

use super::{
    Check, RawOrder, Value,
    view::{NumberView, invalid},
};
use forthwith_columns::{Array, Column, DType, Form, Lookup, Native};
use forthwith_plan::Result;
use std::{fmt, marker::PhantomData};

/// A number that can be read without decoding.
pub trait RawNumber: Native + Value<Builder = Vec<Self>> {
    /// Array type of its bytes.
    type Bytes: Copy + PartialEq + Send + Sync + fmt::Debug + 'static;

    /// The bytes of zero.
    const ZERO: Self::Bytes;

    /// Splits bytes into numbers.
    fn chunks(bytes: &[u8]) -> &[Self::Bytes];

    /// Decodes a big-endian number.
    fn from_big(bytes: Self::Bytes) -> Self;

    /// Decodes a little-endian number.
    fn from_little(bytes: Self::Bytes) -> Self;
}

macro_rules! raw_numbers {
    ($($number:ident)*) => {$(
        impl RawNumber for $number {
            type Bytes = [u8; size_of::<Self>()];

            const ZERO: Self::Bytes = [0; size_of::<Self>()];

            #[inline]
            fn chunks(bytes: &[u8]) -> &[Self::Bytes] {
                bytes.as_chunks().0
            }

            #[inline]
            fn from_big(bytes: Self::Bytes) -> Self {
                Self::from_be_bytes(bytes)
            }

            #[inline]
            fn from_little(bytes: Self::Bytes) -> Self {
                Self::from_le_bytes(bytes)
            }
        }
    )*};
}

raw_numbers! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

/// Stored bytes of numbers: a view of the mapped file.
#[derive(Clone)]
pub struct RawView<T> {
    bytes: NumberView<u8>,
    number: PhantomData<fn() -> T>,
}

impl<T: RawNumber> RawView<T> {
    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[inline]
    fn at(&self, row: usize) -> T::Bytes {
        // As for decoded numbers, access must not panic.
        let stored = T::chunks(&self.bytes);
        debug_assert!(row < stored.len(), "row {row} of {} bytes", self.bytes.len());
        stored.get(row).copied().unwrap_or(T::ZERO)
    }

    fn of(array: &Array) -> Result<Self> {
        let Form::Numpy { key, .. } = &array.form else { return Err(invalid("raw numbers without bytes")) };
        let needed = array.length * size_of::<T>() as u64;
        let column = Lookup::of(array).column(key, "data", DType::UInt8, needed).map_err(invalid)?;
        Ok(Self { bytes: NumberView::of(column), number: PhantomData })
    }
}

macro_rules! orders {
    ($($(#[doc = $doc:literal])* $name:ident $big:literal $from:ident $order:literal;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq)]
        pub struct $name<T: RawNumber>(T::Bytes);

        impl<T: RawNumber> $name<T> {
            /// Decodes the number.
            #[must_use]
            #[inline]
            pub fn get(self) -> T {
                T::$from(self.0)
            }
        }

        impl<T: RawNumber> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.get().fmt(f)
            }
        }

        impl<T: RawNumber> Value for $name<T> {
            type View = RawView<T>;
            type Borrowed<'v> = Self;
            type Builder = Vec<T>;

            const RAW: Option<RawOrder> = Some(RawOrder { big: $big, dtype: T::DTYPE });

            fn check(form: &Form, check: &mut Check<'_>) {
                check.mismatch(concat!("raw numbers, ", $order), form);
            }

            fn view(array: &Array) -> Result<Self::View> {
                RawView::of(array)
            }

            #[inline]
            fn get(view: &Self::View, row: usize) -> Self {
                Self(view.at(row))
            }

            #[inline]
            fn rows(view: &Self::View) -> usize {
                T::chunks(&view.bytes).len()
            }

            fn push_to(&self, builder: &mut Self::Builder) {
                builder.push((*self).get());
            }

            fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
                T::finish(builder, key, columns)
            }
        }
    )*};
}

orders! {
    /// A number with the most significant byte first, as trees of ROOT store it. Only the columns of a table that are not
    /// compressed can be read so, of a file opened by [`File::map`](crate::File::map): nothing is copied, and decoded by
    /// [`get`](Self::get) alone.
    Be true from_big "most significant byte first";
    /// A number with the least significant byte first. See [`Be`].
    Le false from_little "least significant byte first";
}
