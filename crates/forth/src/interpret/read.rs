//! Parser words in the checked tier.

use super::decode::{decode, to_stack, varint};
use super::fused::Leaf;
use super::text;
use crate::error::RunError;
use crate::isa::{Parser, Read};
use crate::machine::Machine;
use crate::number::Number;
use crate::state::Width;

impl<W: Width> Machine<W> {
    pub(crate) fn read(&mut self, read: Read, input: &[u8]) -> Result<(), RunError> {
        let mut count = 1;
        if read.repeated {
            // A count of 0 or less reads nothing and does not move.
            count = u64::try_from(self.state.stack.pop().ok_or(RunError::StackUnderflow)?).unwrap_or(0);
        }
        match read.parser {
            Parser::VarInt | Parser::ZigZag => self.read_varints(read, input, count),
            Parser::NBit | Parser::MsbBits => self.read_bits(read, input, count),
            Parser::TextInt | Parser::TextFloat | Parser::QuotedStr => self.read_texts(read, input, count),
            _ => self.read_fixed(read, input, count),
        }
    }

    /// Reads items of fixed size, all or none: the input is checked for all of them first.
    fn read_fixed(&mut self, read: Read, input: &[u8], count: u64) -> Result<(), RunError> {
        let size = read.parser.size();
        let at = self.state.positions[read.input as usize];
        let rest = &input[at..];
        let count = usize::try_from(count).ok().filter(|&count| count <= rest.len() / size);
        let bytes = &rest[..count.ok_or(RunError::ReadBeyond)? * size];
        let Some(index) = read.output else {
            self.state.positions[read.input as usize] = at + bytes.len();
            return bytes
                .chunks_exact(size)
                .try_for_each(|item| self.push(to_stack::<W>(decode(read, item))));
        };
        let index = index as usize;
        let dtype = self.state.outputs.list[index].dtype();
        self.state.outputs.reserve(index, bytes.len() / size * dtype.size())?;
        let output = &mut self.state.outputs.list[index];
        if let Some(leaf) = Leaf::new(read, index, dtype) {
            output.append_converted(leaf.kind, bytes);
        } else {
            for item in bytes.chunks_exact(size) {
                output.append_item(decode(read, item).to_item(dtype));
            }
        }
        self.state.positions[read.input as usize] = at + bytes.len();
        Ok(())
    }

    fn read_varints(&mut self, read: Read, input: &[u8], count: u64) -> Result<(), RunError> {
        let slot = read.input as usize;
        for _ in 0..count {
            let (value, at) = varint(input, self.state.positions[slot]);
            self.state.positions[slot] = at;
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

    /// Reads packed items, from the lowest (or highest) bit of the first byte on; a partly used byte is
    /// consumed.
    fn read_bits(&mut self, read: Read, input: &[u8], count: u64) -> Result<(), RunError> {
        let slot = read.input as usize;
        let bits = u32::from(read.bits);
        let mask = u128::from(u64::MAX >> (64 - bits));
        let (mut window, mut filled) = (0_u128, 0);
        let from_top = read.parser == Parser::MsbBits;
        for _ in 0..count {
            while filled < bits {
                let byte = *input.get(self.state.positions[slot]).ok_or(RunError::ReadBeyond)?;
                self.state.positions[slot] += 1;
                if from_top {
                    window = window << 8 | u128::from(byte);
                } else {
                    let byte = if read.big { byte.reverse_bits() } else { byte };
                    window |= u128::from(byte) << filled;
                }
                filled += 8;
            }
            filled -= bits;
            // The oldest bits are the highest, or the lowest.
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
                self.state.positions[slot] = text::skip_space(input, self.state.positions[slot]);
            }
            let at = &mut self.state.positions[slot];
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
                    let bytes = text::quoted(input, at, self.state.limits.string)?;
                    self.push(bytes.len() as i64)?;
                    if let Some(index) = read.output {
                        self.state.outputs.reserve(index as usize, bytes.len())?;
                        self.state.outputs.list[index as usize].append(&bytes);
                    }
                }
            }
        }
        Ok(())
    }

    fn deliver(&mut self, read: Read, number: Number) -> Result<(), RunError> {
        let Some(index) = read.output else { return self.push(to_stack::<W>(number)) };
        let dtype = self.state.outputs.list[index as usize].dtype();
        self.state.outputs.reserve(index as usize, dtype.size())?;
        self.state.outputs.list[index as usize].append_item(number.to_item(dtype));
        Ok(())
    }
}
