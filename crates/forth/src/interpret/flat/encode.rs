//! Flat IR → what tier 1 executes.

mod ends;
mod insts;

use super::code::{Fast, Field, FlatCode, R, Slot, Start};
use crate::DType;
use crate::compile::ir::OutputDecl;
use crate::interpret::fused::{Leaf, LeafKind, Plans};
use crate::isa::{Parser, Read};
use crate::lower::ir::{BlockId, Code, End, Function, Inst, Operand, Reg, Relation};

/// No register.
pub(super) const NONE: R = R::MAX;
/// Registers of a function, inputs, outputs and variables that fit.
const MOST: usize = R::MAX as usize - 4;

impl FlatCode {
    /// The code for a program; none if its numbers do not fit.
    pub(crate) fn new(
        code: &Code,
        plans: &Plans,
        outputs: &[OutputDecl],
        inputs: usize,
        variables: usize,
        bytecodes: usize,
    ) -> Self {
        let small = |number: usize| number <= MOST;
        let fits = [outputs.len(), inputs, variables].into_iter().all(small)
            && code.functions.iter().all(|function| small(function.registers as usize));
        if !fits {
            return Self::none(bytecodes);
        }
        let flat = Self::default();
        let mut encoder = Encoder {
            code,
            plans,
            outputs,
            flat,
            blocks: Vec::new(),
            scratch: [0; 2],
            used: 0,
            begun: 0,
            registers: 0,
            waiting: Vec::new(),
        };
        encoder.everything();
        let mut flat = encoder.flat;
        flat.at = (0..bytecodes as u32 + 2)
            .map(|pc| code.entries.partition_point(|entry| code.point(entry.point).pc < pc) as u32)
            .collect();
        flat
    }

    /// Nothing that could be entered.
    pub(crate) fn none(bytecodes: usize) -> Self {
        Self { at: vec![0; bytecodes + 2], ..Self::default() }
    }
}

struct Encoder<'a> {
    code: &'a Code,
    plans: &'a Plans,
    outputs: &'a [OutputDecl],
    flat: FlatCode,
    /// Where each block of the function stands, and `u32::MAX` before that is known.
    blocks: Vec<u32>,
    /// Registers for constants where an instruction takes registers only.
    scratch: [R; 2],
    used: usize,
    /// Where the code of the block begins.
    begun: usize,
    /// Registers of the function.
    registers: u32,
    /// Functions called before it was known where they begin: calls and functions.
    waiting: Vec<(usize, usize)>,
}

impl Encoder<'_> {
    fn everything(&mut self) {
        let code = self.code;
        let mut starts = Vec::with_capacity(code.functions.len());
        let mut entries = vec![0; code.entries.len()];
        let mut of_function: Vec<Vec<usize>> = vec![Vec::new(); code.functions.len()];
        for (number, entry) in code.entries.iter().enumerate() {
            of_function[entry.function.0 as usize].push(number);
        }
        for (function, numbers) in code.functions.iter().zip(of_function) {
            self.function(function);
            starts.push(self.blocks.first().copied().unwrap_or(0));
            for number in numbers {
                entries[number] = self.blocks[code.entries[number].block.0 as usize];
            }
        }
        for (call, function) in std::mem::take(&mut self.waiting) {
            self.flat.calls[call].to = starts[function];
        }
        for (entry, to) in code.entries.iter().zip(entries) {
            let function = code.function(entry.function);
            let slots = code.point(entry.point).stack.len() as u32;
            self.flat.starts.push(Start {
                to,
                point: entry.point.0,
                registers: function.registers + 2,
                height: function.height,
                slots,
            });
        }
    }

    fn function(&mut self, function: &Function) {
        let count = function.blocks.len();
        self.blocks = vec![u32::MAX; count];
        self.registers = function.registers + 2;
        self.scratch = [function.registers as R, function.registers as R + 1];
        let mut jumps: Vec<usize> = Vec::new();
        let targets = self.flat.targets.len();
        for first in 0..count {
            let mut next = Some(first);
            while let Some(block) = next.filter(|&block| self.blocks[block] == u32::MAX) {
                self.blocks[block] = self.flat.code.len() as u32;
                self.begun = self.flat.code.len();
                next = self.block(function, block, &mut jumps);
            }
        }
        for at in jumps {
            if let Some(to) = self.flat.code[at].target() {
                // From the instruction behind it.
                *to = self.blocks[*to as usize].wrapping_sub(at as u32 + 1);
            }
        }
        for target in &mut self.flat.targets[targets..] {
            *target = self.blocks[*target as usize];
        }
    }

    fn push(&mut self, fast: Fast) {
        self.flat.code.push(fast);
    }

    /// A register that holds the operand.
    fn reg(&mut self, operand: Operand) -> R {
        match operand {
            Operand::Reg(reg) => reg.0 as R,
            Operand::Const(value) => {
                let to = self.scratch[self.used % 2];
                self.used += 1;
                self.push(Fast::Const { to, value });
                to
            }
        }
    }

    /// One block, and which one had best follow.
    fn block(&mut self, function: &Function, block: usize, jumps: &mut Vec<usize>) -> Option<usize> {
        let block = &function.blocks[block];
        let mut rest = &block.code[..];
        while let Some((inst, tail)) = rest.split_first() {
            self.used = 0;
            if tail.is_empty()
                && let Some(follows) = self.last(inst, &block.end, jumps)
            {
                return follows;
            }
            if let Some((fields, bytes)) = self.run_of_fields(rest) {
                let first = self.flat.fields.len() as u32;
                let Inst::ReadItem { read, .. } = inst else { unreachable!("a run begins with one") };
                self.push(Fast::Fields {
                    input: read.input as Slot,
                    count: fields.len() as u16,
                    first,
                    bytes,
                });
                self.flat.fields.extend(&fields);
                for inst in &rest[..fields.len()] {
                    self.inst(inst);
                }
                rest = &rest[fields.len()..];
                continue;
            }
            if let Some(fused) = self.list(rest) {
                self.push(fused);
            } else if let [Inst::LengthOf { to, output }, Inst::Write { output: into, from, .. }, ..] = rest
                && *from == Operand::Reg(*to)
                && matches!(self.dtype(*into), DType::Int64 | DType::UInt64)
            {
                self.push(Fast::WriteLength { to: to.0 as R, of: *output as Slot, output: *into as Slot });
            }
            self.inst(inst);
            rest = tail;
        }
        self.used = 0;
        if let End::Branch { relation, a: Operand::Reg(a), b: Operand::Const(b), then, otherwise } = block.end
            && let Some(fused) = self.return_if(function, relation, a, b, then)
        {
            self.push(fused);
            return self.follow(otherwise, jumps);
        }
        if let End::Branch { relation, a: Operand::Reg(a), b: Operand::Const(b), then, otherwise } = block.end
            && let Some(fused) = self.return_if(function, relation.opposite(), a, b, otherwise)
        {
            self.push(fused);
            return self.follow(then, jumps);
        }
        self.end(&block.end, jumps)
    }

    /// A branch to a block that only returns with one item.
    fn return_if(
        &self,
        function: &Function,
        relation: Relation,
        a: Reg,
        b: i64,
        to: BlockId,
    ) -> Option<Fast> {
        let to = &function.blocks[to.0 as usize];
        let End::Return(point) = to.end else { return None };
        let [Operand::Reg(from)] = self.code.point(point).stack[..] else { return None };
        if !to.code.is_empty() {
            return None;
        }
        let (a, from, point) = (a.0 as R, from.0 as R, point.0);
        let number = |b: i64| i32::try_from(b).ok();
        Some(match relation {
            Relation::Le => Fast::ReturnIfLe { a, from, b: number(b)?, point },
            Relation::Lt => Fast::ReturnIfLe { a, from, b: number(b.checked_sub(1)?)?, point },
            Relation::Eq => Fast::ReturnIfEq { a, from, b: number(b)?, point },
            _ => return None,
        })
    }

    /// The instruction before the next one, if that is in the same block.
    fn before(&self) -> Option<Fast> {
        self.flat.code[self.begun..].last().copied()
    }

    /// A count, read, added to the offsets, and its items read.
    fn list(&self, code: &[Inst]) -> Option<Fast> {
        let [
            Inst::ReadStack { to, read, .. },
            Inst::WriteAdd { output, from: Operand::Reg(added), .. },
            Inst::ReadMany { read: items, count: Operand::Reg(count), .. },
            ..,
        ] = code
        else {
            return None;
        };
        let leaf = self.leaf(*items)?;
        let same = added == to && count == to && read.input == items.input;
        if !same || self.dtype(*output) != DType::Int64 || leaf.output as u32 == *output {
            return None;
        }
        let (to, input, offsets, output) =
            (to.0 as R, read.input as Slot, *output as Slot, leaf.output as Slot);
        let bytes = leaf.kind == LeafKind::Copy;
        let shift = leaf.shift as u8;
        Some(match (read.parser, read.big) {
            (Parser::ZigZag, _) if bytes => Fast::ListZigZag { to, input, offsets, output, shift },
            (Parser::UInt32, true) if bytes => Fast::ListBig { to, input, offsets, output, shift },
            (Parser::UInt8, _) if bytes => Fast::ListByte { to, input, offsets, output, shift },
            _ => return None,
        })
    }

    /// Reads of items of fixed size, one behind the other, for which one check of the input is enough.
    fn run_of_fields(&self, code: &[Inst]) -> Option<(Vec<Field>, u32)> {
        let (mut fields, mut at, mut from) = (Vec::new(), 0, None);
        for inst in code.iter().take(64) {
            let Inst::ReadItem { read, .. } = inst else { break };
            let Some((form, size)) = self.form(*read) else { break };
            if *from.get_or_insert(read.input) != read.input {
                break;
            }
            fields.push(Field { at, output: read.output.unwrap_or(0) as Slot, form });
            at += size;
        }
        (fields.len() > 1).then_some((fields, at))
    }

    /// 1, 2, 4 or 8 bytes as they are, or negative for swapped; and the size.
    fn form(&self, read: Read) -> Option<(i8, u32)> {
        let leaf = self.leaf(read)?;
        let size = 1 << leaf.shift;
        let form = match leaf.kind {
            LeafKind::Copy => size as i8,
            LeafKind::Swap2 | LeafKind::Swap4 | LeafKind::Swap8 => -(size as i8),
            LeafKind::Bool => return None,
        };
        Some((form, size))
    }

    fn leaf(&self, read: Read) -> Option<Leaf> {
        let output = read.output? as usize;
        Leaf::new(read, output, self.outputs[output].dtype)
    }

    fn dtype(&self, output: u32) -> DType {
        self.outputs[output as usize].dtype
    }

    fn read_number(&mut self, read: Read) -> u32 {
        self.flat.reads.push(read);
        self.flat.reads.len() as u32 - 1
    }
}
