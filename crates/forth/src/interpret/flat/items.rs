//! Items without an instruction of their own. All or none are read: failures are left to the checked tier.

use crate::interpret::fused::{Leaf, unsigned};
use crate::interpret::{decode, text, unpack};
use crate::isa::{Parser, Read};
use crate::number::Number;
use crate::output::{Output, Outputs};

pub(crate) use crate::interpret::text::skip_space;

/// Decodes one item, and returns the position after it.
pub(crate) fn one(read: Read, data: &[u8], at: usize) -> Option<(Number, usize)> {
    let mut after = at;
    let number = match read.parser {
        Parser::VarInt | Parser::ZigZag => return varint(read, data, at),
        Parser::NBit | Parser::MsbBits => {
            let mut bits = Bits::new(read, data, at, 1)?;
            return Some((Number::Unsigned(bits.next()), bits.at));
        }
        Parser::TextInt => Number::Signed(text::integer(data, &mut after).ok()?),
        Parser::TextFloat => Number::Double(text::float(data, &mut after).ok()?),
        Parser::QuotedStr => return None,
        _ => {
            let size = read.parser.size();
            return Some((decode(read, data.get(at..)?.get(..size)?), at + size));
        }
    };
    Some((number, after))
}

fn varint(read: Read, data: &[u8], at: usize) -> Option<(Number, usize)> {
    let (value, after) = unsigned(data, at)?;
    let number = match read.parser {
        Parser::ZigZag => Number::Signed((value >> 1) as i64 ^ -((value & 1) as i64)),
        _ => Number::Unsigned(value),
    };
    Some((number, after))
}

/// Appends items to the output of the parser, and returns the position after them; the output is unchanged on
/// failure.
pub(crate) fn many(read: Read, data: &[u8], at: usize, count: u64, outputs: &mut Outputs) -> Option<usize> {
    let index = read.output? as usize;
    let end = outputs.list.get(index)?.end;
    let after = append(read, data, at, count, outputs, index);
    if after.is_none() {
        outputs.list[index].end = end;
    }
    after
}

fn append(
    read: Read,
    data: &[u8],
    at: usize,
    count: u64,
    outputs: &mut Outputs,
    index: usize,
) -> Option<usize> {
    let dtype = outputs.list[index].dtype();
    let size = dtype.size();
    let mut at = at;
    match read.parser {
        Parser::VarInt | Parser::ZigZag => {
            for _ in 0..count {
                let (number, after) = varint(read, data, at)?;
                outputs.reserve(index, size).ok()?;
                outputs.list[index].append_item(number.to_item(dtype));
                at = after;
            }
        }
        Parser::NBit | Parser::MsbBits => {
            let mut bits = Bits::new(read, data, at, count)?;
            let bytes = usize::try_from(count).ok()?.checked_mul(size)?;
            outputs.reserve(index, bytes).ok()?;
            let output = &mut outputs.list[index];
            if read.parser == Parser::NBit
                && !read.big
                && unpack::unpack_into(&data[at..], output, count as usize, bits.bits)
            {
                return Some(at + (count as usize * bits.bits as usize).div_ceil(8));
            }
            for _ in 0..count {
                output.append_item(Number::Unsigned(bits.next()).to_item(dtype));
            }
            at = bits.at;
        }
        Parser::TextInt | Parser::TextFloat => {
            for item in 0..count {
                if item > 0 {
                    at = skip_space(data, at);
                }
                let (number, after) = one(read, data, at)?;
                outputs.reserve(index, size).ok()?;
                outputs.list[index].append_item(number.to_item(dtype));
                at = after;
            }
        }
        Parser::QuotedStr => return None,
        _ => {
            let from = read.parser.size();
            let bytes = usize::try_from(count).ok()?.checked_mul(from)?;
            let run = data.get(at..)?.get(..bytes)?;
            outputs.reserve(index, (bytes / from).checked_mul(size)?).ok()?;
            let output = &mut outputs.list[index];
            if let Some(leaf) = Leaf::new(read, index, dtype) {
                output.append_converted(leaf.kind, run);
            } else {
                for item in run.chunks_exact(from) {
                    output.append_item(decode(read, item).to_item(dtype));
                }
            }
            at += bytes;
        }
    }
    Some(at)
}

/// Reader of packed unsigned integers, whose bytes were checked to be in the input.
struct Bits<'a> {
    data: &'a [u8],
    at: usize,
    bits: u32,
    from_top: bool,
    reversed: bool,
    window: u128,
    filled: u32,
}

impl<'a> Bits<'a> {
    fn new(read: Read, data: &'a [u8], at: usize, count: u64) -> Option<Self> {
        let bits = u32::from(read.bits);
        let bytes = (u128::from(count) * u128::from(bits)).div_ceil(8);
        if bytes > (data.len() - at) as u128 {
            return None;
        }
        let from_top = read.parser == Parser::MsbBits;
        Some(Self { data, at, bits, from_top, reversed: read.big && !from_top, window: 0, filled: 0 })
    }

    #[inline]
    fn next(&mut self) -> u64 {
        let bits = self.bits;
        while self.filled < bits {
            // The bytes needed were checked before.
            let byte = self.data.get(self.at).copied().unwrap_or(0);
            self.at += 1;
            if self.from_top {
                self.window = self.window << 8 | u128::from(byte);
            } else {
                let byte = if self.reversed { byte.reverse_bits() } else { byte };
                self.window |= u128::from(byte) << self.filled;
            }
            self.filled += 8;
        }
        self.filled -= bits;
        let mask = u128::from(u64::MAX >> (64 - bits));
        if self.from_top {
            let value = self.window >> self.filled & mask;
            self.window &= (1 << self.filled) - 1;
            value as u64
        } else {
            let value = self.window & mask;
            self.window >>= bits;
            value as u64
        }
    }
}

/// Appends the last item `times` times. The output has one, and space for the others.
pub(super) fn repeat(output: &mut Output, times: usize) {
    let item = output.last();
    if output.dtype().size() == 1 {
        // SAFETY: the caller reserved space for these items.
        unsafe { output.start.add(output.end).write_bytes(item[0], times) };
        output.end += times;
        return;
    }
    for _ in 0..times {
        output.append_item(item);
    }
}
