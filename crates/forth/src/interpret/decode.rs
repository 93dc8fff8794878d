//! Decoding of numbers, common to all tiers.

use crate::DType;
use crate::error::RunError;
use crate::isa::{Parser, Read};
use crate::number::Number;
use crate::state::Width;

/// Converts a number to a stack item. Integers are wrapped to the width; floats out of range become its
/// smallest number.
pub(crate) fn to_stack<W: Width>(number: Number) -> i64 {
    if W::BITS == 32 { number.to_stack32() } else { number.to_stack() }
}

/// Returns the dtype whose items are the bytes that the parser reads; None if there is none. A `bool` is
/// normalised.
pub(crate) fn natural(parser: Parser) -> Option<DType> {
    Some(match parser {
        Parser::Int8 => DType::Int8,
        Parser::Int16 => DType::Int16,
        Parser::Int32 => DType::Int32,
        Parser::Int64 | Parser::IntPtr => DType::Int64,
        Parser::UInt8 => DType::UInt8,
        Parser::UInt16 => DType::UInt16,
        Parser::UInt32 => DType::UInt32,
        Parser::UInt64 | Parser::UIntPtr => DType::UInt64,
        Parser::Float32 => DType::Float32,
        Parser::Float64 => DType::Float64,
        _ => return None,
    })
}

/// Decodes one item of fixed size.
#[inline(always)]
pub(crate) fn decode(read: Read, bytes: &[u8]) -> Number {
    let value = match (bytes, read.big) {
        (&[a], _) => u64::from(a),
        (&[a, b], true) | (&[b, a], false) => u64::from(u16::from_be_bytes([a, b])),
        (&[a, b, c, d], true) | (&[d, c, b, a], false) => u64::from(u32::from_be_bytes([a, b, c, d])),
        (&[a, b, c, d, e, f, g, h], true) | (&[h, g, f, e, d, c, b, a], false) => {
            u64::from_be_bytes([a, b, c, d, e, f, g, h])
        }
        _ => 0,
    };
    match read.parser {
        Parser::Int8 => Number::Signed(i64::from(value as i8)),
        Parser::Int16 => Number::Signed(i64::from(value as i16)),
        Parser::Int32 => Number::Signed(i64::from(value as i32)),
        Parser::Int64 | Parser::IntPtr => Number::Signed(value as i64),
        Parser::Float32 => Number::Single(f32::from_bits(value as u32)),
        Parser::Float64 => Number::Double(f64::from_bits(value)),
        _ => Number::Unsigned(value),
    }
}

/// Decodes a LEB128 number, and returns the position after the last byte read.
pub(crate) fn varint(input: &[u8], mut at: usize) -> (Result<u64, RunError>, usize) {
    let mut value = 0;
    let mut shift = 0;
    loop {
        let Some(&byte) = input.get(at) else { return (Err(RunError::ReadBeyond), at) };
        at += 1;
        // The tenth byte holds the highest bit only.
        if shift == 63 && byte > 1 {
            return (Err(RunError::VarintTooBig), at);
        }
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return (Ok(value), at);
        }
        shift += 7;
    }
}
