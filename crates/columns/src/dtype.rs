//! Element types of columns.

use serde::{Deserialize, Serialize};

/// The element type of a [`Column`](crate::Column): fixed width, native byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    /// Signed, 8 bits.
    Int8,
    /// Signed, 16 bits.
    Int16,
    /// Signed, 32 bits.
    Int32,
    /// Signed, 64 bits.
    Int64,
    /// Unsigned, 8 bits.
    UInt8,
    /// Unsigned, 16 bits.
    UInt16,
    /// Unsigned, 32 bits.
    UInt32,
    /// Unsigned, 64 bits.
    UInt64,
    /// IEEE 754 binary32.
    Float32,
    /// IEEE 754 binary64.
    Float64,
}

impl DType {
    /// Width in bytes: 1, 2, 4 or 8.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::Int8 | Self::UInt8 => 1,
            Self::Int16 | Self::UInt16 => 2,
            Self::Int32 | Self::UInt32 | Self::Float32 => 4,
            Self::Int64 | Self::UInt64 | Self::Float64 => 8,
        }
    }

    /// The name NumPy and AwkwardForth use: `"bool"`, `"int8"`, … `"float64"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::UInt8 => "uint8",
            Self::UInt16 => "uint16",
            Self::UInt32 => "uint32",
            Self::UInt64 => "uint64",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
        }
    }

    /// NumPy's array-interface type string in native order, such as `"<f4"` or `"|b1"`.
    #[must_use]
    pub const fn typestr(self) -> &'static str {
        match self {
            Self::Bool => "|b1",
            Self::Int8 => "|i1",
            Self::UInt8 => "|u1",
            Self::Int16 => {
                if cfg!(target_endian = "little") {
                    "<i2"
                } else {
                    ">i2"
                }
            }
            Self::Int32 => {
                if cfg!(target_endian = "little") {
                    "<i4"
                } else {
                    ">i4"
                }
            }
            Self::Int64 => {
                if cfg!(target_endian = "little") {
                    "<i8"
                } else {
                    ">i8"
                }
            }
            Self::UInt16 => {
                if cfg!(target_endian = "little") {
                    "<u2"
                } else {
                    ">u2"
                }
            }
            Self::UInt32 => {
                if cfg!(target_endian = "little") {
                    "<u4"
                } else {
                    ">u4"
                }
            }
            Self::UInt64 => {
                if cfg!(target_endian = "little") {
                    "<u8"
                } else {
                    ">u8"
                }
            }
            Self::Float32 => {
                if cfg!(target_endian = "little") {
                    "<f4"
                } else {
                    ">f4"
                }
            }
            Self::Float64 => {
                if cfg!(target_endian = "little") {
                    "<f8"
                } else {
                    ">f8"
                }
            }
        }
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
