//! Buffers and slices of numbers of one type. Booleans are stored as `u8`, 0 or 1.

use forthwith_columns::{Column, DType, Native};

macro_rules! buffers {
    ($($variant:ident $number:ident;)*) => {
        /// Numbers of one type.
        #[derive(Clone, Debug)]
        pub(crate) enum Buffer { $($variant(Vec<$number>),)* }

        /// Borrowed numbers of one type.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Slice<'a> { $($variant(&'a [$number]),)* }

        impl Buffer {
            /// Makes an empty buffer with a capacity of `room` numbers.
            pub(crate) fn new(dtype: DType, room: usize) -> Self {
                match kept(dtype) {
                    $(DType::$variant => Self::$variant(Vec::with_capacity(room)),)*
                    DType::Bool => Self::UInt8(Vec::with_capacity(room)),
                }
            }

            pub(crate) fn len(&self) -> usize {
                match self { $(Self::$variant(items) => items.len(),)* }
            }

            pub(crate) fn slice(&self) -> Slice<'_> {
                match self { $(Self::$variant(items) => Slice::$variant(items),)* }
            }

            /// Appends numbers of the same type; those of another type are ignored.
            pub(crate) fn extend(&mut self, more: Slice<'_>) {
                match (self, more) {
                    $((Self::$variant(items), Slice::$variant(more)) => items.extend_from_slice(more),)*
                    _ => debug_assert!(false, "numbers of another type"),
                }
            }

            /// Appends one number `times` times.
            pub(crate) fn repeat(&mut self, one: Slice<'_>, times: usize) {
                match (self, one) {
                    $((Self::$variant(items), Slice::$variant(&[one, ..])) => {
                        items.resize(items.len() + times, one);
                    })*
                    _ => debug_assert!(false, "numbers of another type"),
                }
            }

            /// Converts the buffer to a column.
            pub(crate) fn into_column(self, dtype: DType) -> Column {
                let column = match self { $(Self::$variant(items) => Column::from_vec(items),)* };
                if dtype == DType::Bool { column.view(dtype).unwrap_or(column) } else { column }
            }
        }

        impl<'a> Slice<'a> {
            /// Returns the numbers of a range, which must be in bounds.
            pub(crate) fn range(self, range: std::ops::Range<usize>) -> Self {
                match self { $(Self::$variant(items) => Self::$variant(&items[range]),)* }
            }

            /// Returns the type of the numbers.
            pub(crate) const fn dtype(self) -> DType {
                match self { $(Self::$variant(_) => DType::$variant,)* }
            }

            /// Returns the items of a column, if they are aligned.
            pub(crate) fn of(column: &'a Column) -> Option<Self> {
                match column.dtype() {
                    $(DType::$variant => column.items().map(Self::$variant),)*
                    DType::Bool => None,
                }
            }
        }

        $(
            impl Item for $number {
                fn in_slice<'a>(slice: Slice<'a>) -> &'a [Self] {
                    match slice {
                        Slice::$variant(items) => items,
                        _ => { debug_assert!(false, "numbers of another type"); &[] }
                    }
                }

                fn in_buffer(buffer: &mut Buffer) -> &mut Vec<Self> {
                    if !matches!(buffer, Buffer::$variant(_)) {
                        *buffer = Buffer::$variant(Vec::new());
                    }
                    match buffer {
                        Buffer::$variant(items) => items,
                        _ => unreachable!("it was just made of this type"),
                    }
                }

                fn buffer(items: Vec<Self>) -> Buffer {
                    Buffer::$variant(items)
                }
            }
        )*
    };
}

buffers! {
    Int8 i8;
    Int16 i16;
    Int32 i32;
    Int64 i64;
    UInt8 u8;
    UInt16 u16;
    UInt32 u32;
    UInt64 u64;
    Float32 f32;
    Float64 f64;
}

/// Types that numbers are stored as.
pub(crate) trait Item: Native + Default + PartialOrd {
    fn in_slice<'a>(slice: Slice<'a>) -> &'a [Self];
    /// Returns the numbers of a buffer, which is replaced if it has another type.
    fn in_buffer(buffer: &mut Buffer) -> &mut Vec<Self>;
    fn buffer(items: Vec<Self>) -> Buffer;

    /// Clears a buffer as [`in_buffer`](Self::in_buffer) returns it, and reserves a capacity of `room`
    /// numbers.
    fn emptied(buffer: &mut Buffer, room: usize) -> &mut Vec<Self> {
        let items = Self::in_buffer(buffer);
        items.clear();
        items.reserve(room);
        items
    }
}

/// Returns the type that numbers of a type are stored as.
pub(crate) const fn kept(dtype: DType) -> DType {
    match dtype {
        DType::Bool => DType::UInt8,
        other => other,
    }
}

/// Runs a body with the Rust type that numbers of an element type are stored as.
macro_rules! with_type {
    ($dtype:expr, $number:ident => $body:expr) => {
        forthwith_columns::with_integer!($dtype, $number => $body,
            forthwith_columns::DType::Bool => {
                type $number = u8;
                $body
            }
            forthwith_columns::DType::Float32 => {
                type $number = f32;
                $body
            }
            forthwith_columns::DType::Float64 => {
                type $number = f64;
                $body
            }
        )
    };
}
pub(crate) use with_type;

/// Copies all items of a column, aligned or not; booleans become 0 and 1.
pub(crate) fn copied(column: &Column) -> Buffer {
    if column.dtype() == DType::Bool {
        return Buffer::UInt8(column.as_bytes().iter().map(|byte| u8::from(*byte != 0)).collect());
    }
    with_type!(column.dtype(), T => {
        let bytes = column.as_bytes().chunks_exact(size_of::<T>());
        T::buffer(bytes.filter_map(T::from_bytes).collect())
    })
}
