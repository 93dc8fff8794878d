//! Element types: the types of numbers that columns hold and AwkwardForth programs write, with one name
//! everywhere.
//!
//! ```
//! use forthwith_dtype::DType;
//!
//! assert_eq!(DType::from_name("float32"), Some(DType::Float32));
//! assert_eq!(DType::Float32.size(), 4);
//! // The word that reads one from a file with the most significant byte first.
//! assert_eq!(DType::Float32.parser(true), "!f");
//! ```
#![deny(missing_docs)]

mod promote;

macro_rules! dtypes {
    ($($(#[doc = $doc:literal])* $name:ident $word:literal $size:literal $typestr:literal $parser:literal;)*) => {
        /// The type of an item: fixed width, native byte order. All matches are exhaustive: after a type is
        /// added, the compiler reports every place that has to handle it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
        pub enum DType { $($(#[doc = $doc])* $name,)* }

        impl DType {
            /// All types.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the name in NumPy and AwkwardForth: `"bool"`, `"int8"`, … `"float64"`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// Returns the width in bytes: 1, 2, 4 or 8.
            #[must_use]
            pub const fn size(self) -> usize {
                match self { $(Self::$name => $size,)* }
            }

            /// Returns NumPy's array-interface type string in native byte order, such as `"<f4"` or `"|b1"`.
            #[must_use]
            pub const fn typestr(self) -> &'static str {
                self.ordered_typestr(cfg!(target_endian = "big"))
            }

            /// Returns NumPy's array-interface type string in little-endian byte order, or in big-endian
            /// order if `big` is set.
            #[must_use]
            pub const fn ordered_typestr(self, big: bool) -> &'static str {
                match self {
                    $(Self::$name => match ($size, big) {
                        (1, _) => concat!("|", $typestr),
                        (_, false) => concat!("<", $typestr),
                        (_, true) => concat!(">", $typestr),
                    },)*
                }
            }

            /// Returns the AwkwardForth parser of one item, without its arrow: `"i"`, or `"!i"` in big-endian
            /// byte order.
            #[must_use]
            pub const fn parser(self, big: bool) -> &'static str {
                match self {
                    $(Self::$name => if big && $size > 1 { concat!("!", $parser) } else { concat!($parser) },)*
                }
            }

            /// Returns the letter of the AwkwardForth parser.
            #[must_use]
            pub const fn letter(self) -> char {
                match self { $(Self::$name => $parser,)* }
            }
        }
    };
}

dtypes! {
    /// One byte, 0 or 1.
    Bool "bool" 1 "b1" '?';
    /// Signed integer of 8 bits.
    Int8 "int8" 1 "i1" 'b';
    /// Signed integer of 16 bits.
    Int16 "int16" 2 "i2" 'h';
    /// Signed integer of 32 bits.
    Int32 "int32" 4 "i4" 'i';
    /// Signed integer of 64 bits.
    Int64 "int64" 8 "i8" 'q';
    /// Unsigned integer of 8 bits.
    UInt8 "uint8" 1 "u1" 'B';
    /// Unsigned integer of 16 bits.
    UInt16 "uint16" 2 "u2" 'H';
    /// Unsigned integer of 32 bits.
    UInt32 "uint32" 4 "u4" 'I';
    /// Unsigned integer of 64 bits.
    UInt64 "uint64" 8 "u8" 'Q';
    /// IEEE 754 binary32.
    Float32 "float32" 4 "f4" 'f';
    /// IEEE 754 binary64.
    Float64 "float64" 8 "f8" 'd';
}

/// Evaluates a body with the Rust type of an integer [`DType`]. The arms of a `match` after it handle other
/// types.
///
/// ```
/// use forthwith_dtype::{DType, with_integer};
///
/// let most = |dtype| with_integer!(dtype, T => Some(u64::try_from(T::MAX).unwrap()), _ => None);
/// assert_eq!((most(DType::Int8), most(DType::UInt16), most(DType::Float32)), (Some(127), Some(65_535), None));
/// ```
#[macro_export]
macro_rules! with_integer {
    (@ $dtype:expr, $number:ident => $body:expr, [$($others:tt)+], $($variant:ident $integer:ident)+) => {
        match $dtype {
            $($crate::DType::$variant => {
                type $number = $integer;
                $body
            })+
            $($others)+
        }
    };
    ($dtype:expr, $number:ident => $body:expr, $($others:tt)+) => {
        $crate::with_integer!(@ $dtype, $number => $body, [$($others)+],
            Int8 i8 Int16 i16 Int32 i32 Int64 i64 UInt8 u8 UInt16 u16 UInt32 u32 UInt64 u64)
    };
}

impl DType {
    /// Returns the type with a name; `None` if there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_agrees_with_itself() {
        for dtype in DType::ALL {
            assert_eq!(DType::from_name(dtype.name()), Some(*dtype));
            assert!(dtype.typestr().ends_with(&dtype.size().to_string()));
            let bits = dtype.name().trim_start_matches(char::is_alphabetic);
            assert!(bits.is_empty() || bits == (8 * dtype.size()).to_string());
            assert_eq!(dtype.parser(true).trim_start_matches('!'), dtype.parser(false));
            assert_eq!(dtype.parser(true).starts_with('!'), dtype.size() > 1);
            assert_eq!(dtype.parser(false), dtype.letter().to_string());
        }
        assert_eq!(DType::from_name("char"), None);
    }
}
