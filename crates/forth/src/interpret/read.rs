//! Parser words of the checked tier.

use super::fused::Leaf;
use super::text;
use crate::DType;
use crate::error::RunError;
use crate::isa::{Parser, Read};
use crate::machine::{Machine, Width};
use crate::number::Number;

impl<W: Width> Machine<W> {
    pub(crate) fn read(&mut self, read: Read, input: &[u8]) -> Result<(), RunError> {
        let mut count = 1;
        if read.repeated {
            // A count that is not positive reads nothing and moves nothing.
            count = u64::try_from(self.stack.pop().ok_or(RunError::StackUnderflow)?).unwrap_or(0);
        }
        match read.parser {
            Parser::VarInt | Parser::ZigZag => self.read_varints(read, input, count),
            Parser::NBit | Parser::MsbBits => self.read_bits(read, input, count),
            Parser::TextInt | Parser::TextFloat | Parser::QuotedStr => self.read_texts(read, input, count),
            _ => self.read_fixed(read, input, count),
        }
    }

    /// All or nothing: the input is checked for all items first.
    fn read_fixed(&mut self, read: Read, input: &[u8], count: u64) -> Result<(), RunError> {
        let size = read.parser.size();
        let at = self.positions[read.input as usize];
        let rest = &input[at..];
        let count = usize::try_from(count).ok().filter(|&count| count <= rest.len() / size);
        let bytes = &rest[..count.ok_or(RunError::ReadBeyond)? * size];
        let Some(index) = read.output else {
            self.positions[read.input as usize] = at + bytes.len();
            return bytes
                .chunks_exact(size)
                .try_for_each(|item| self.push(to_stack::<W>(decode(read, item))));
        };
        let index = index as usize;
        let dtype = self.outputs.list[index].dtype();
        self.outputs.reserve(index, bytes.len() / size * dtype.size())?;
        let output = &mut self.outputs.list[index];
        if let Some(leaf) = Leaf::new(read, index, dtype) {
            output.append_converted(leaf.kind, bytes);
        } else {
            for item in bytes.chunks_exact(size) {
                output.append_item(decode(read, item).to_item(dtype));
            }
        }
        self.positions[read.input as usize] = at + bytes.len();
        Ok(())
    }

    fn read_varints(&mut self, read: Read, input: &[u8], count: u64) -> Result<(), RunError> {
        let slot = read.input as usize;
        for _ in 0..count {
            let (value, at) = varint(input, self.positions[slot]);
            self.positions[slot] = at;
            let value = value?;
            let number = if read.parser == Parser::ZigZag {
                Number::Signed((value >> 1) as i64 ^ -((value & 1) as i64))
            } else {
                Number::Unsigned(value)
            };
            self.deliver(read, number)?;
        }
        Ok(())
    }

    /// Items are packed from the lowest (or highest) bit of the first byte on; a byte used in part is consumed.
    fn read_bits(&mut self, read: Read, input: &[u8], count: u64) -> Result<(), RunError> {
        let slot = read.input as usize;
        let bits = u32::from(read.bits);
        let mask = u128::from(u64::MAX >> (64 - bits));
        let (mut window, mut filled) = (0_u128, 0);
        let from_top = read.parser == Parser::MsbBits;
        for _ in 0..count {
            while filled < bits {
                let byte = *input.get(self.positions[slot]).ok_or(RunError::ReadBeyond)?;
                self.positions[slot] += 1;
                if from_top {
                    window = window << 8 | u128::from(byte);
                } else {
                    let byte = if read.big { byte.reverse_bits() } else { byte };
                    window |= u128::from(byte) << filled;
                }
                filled += 8;
            }
            filled -= bits;
            // The oldest bits are on top, or at the bottom.
            let value = if from_top { window >> filled & mask } else { window & mask } as u64;
            window = if from_top { window & ((1 << filled) - 1) } else { window >> bits };
            self.deliver(read, Number::Unsigned(value))?;
        }
        Ok(())
    }

    fn read_texts(&mut self, read: Read, input: &[u8], count: u64) -> Result<(), RunError> {
        let slot = read.input as usize;
        for item in 0..count {
            if item > 0 {
                self.positions[slot] = text::skip_space(input, self.positions[slot]);
            }
            let at = &mut self.positions[slot];
            match read.parser {
                Parser::TextInt => {
                    let value = text::integer(input, at)?;
                    self.deliver(read, Number::Signed(value))?;
                }
                Parser::TextFloat => {
                    let value = text::float(input, at)?;
                    self.deliver(read, Number::Double(value))?;
                }
                _ => {
                    let bytes = text::quoted(input, at, self.limits.string)?;
                    self.push(bytes.len() as i64)?;
                    if let Some(index) = read.output {
                        self.outputs.reserve(index as usize, bytes.len())?;
                        self.outputs.list[index as usize].append(&bytes);
                    }
                }
            }
        }
        Ok(())
    }

    fn deliver(&mut self, read: Read, number: Number) -> Result<(), RunError> {
        let Some(index) = read.output else { return self.push(to_stack::<W>(number)) };
        let dtype = self.outputs.list[index as usize].dtype();
        self.outputs.reserve(index as usize, dtype.size())?;
        self.outputs.list[index as usize].append_item(number.to_item(dtype));
        Ok(())
    }
}

/// What does not fit the width is its smallest number if it is a float, and cut if it is an integer.
pub(crate) fn to_stack<W: Width>(number: Number) -> i64 {
    if W::BITS == 32 { number.to_stack32() } else { number.to_stack() }
}

/// The dtype whose items are the parser's bytes as they are. A `bool` is normalised, so it has none.
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

/// One item of fixed size.
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

/// A LEB128 number and the position after the last byte looked at.
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
