//! Flat IR → code of tier 1.

mod ends;
mod insts;
mod skips;

use super::code::{Fast, R, Slot};
use super::program::{FlatCode, Start};
use crate::DType;
use crate::compile::ir::OutputDecl;
use crate::interpret::flat::fast_path;
use crate::interpret::fused::{Leaf, LeafKind};
use crate::isa::{Parser, Read};
use crate::lower::ir::{BlockId, Code, End, Function, Inst, Operand, Reg, Relation};

/// No register.
pub(super) const NONE: R = R::MAX;
/// Upper bound on the registers of a function, and on inputs, outputs and variables.
const MOST: usize = R::MAX as usize - 4;

impl FlatCode {
    /// Encodes a program; code without entries if its indices do not fit.
    pub(crate) fn new(
        code: &Code,
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
        let flat = Self { input: main_input(code, inputs), ..Self::default() };
        let mut encoder = Encoder {
            code,
            outputs,
            flat,
            blocks: Vec::new(),
            places: Vec::new(),
            firsts: Vec::new(),
            landings: Vec::new(),
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

    /// Returns code without entries.
    pub(crate) fn none(bytecodes: usize) -> Self {
        Self { at: vec![0; bytecodes + 2], ..Self::default() }
    }
}

/// Returns the input that the most instructions read from; the first of several.
fn main_input(code: &Code, inputs: usize) -> Slot {
    let mut reads = vec![0; inputs];
    for inst in code.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.code) {
        if let Inst::ReadStack { read, .. }
        | Inst::Pass { read, .. }
        | Inst::ReadItem { read, .. }
        | Inst::ReadMany { read, .. } = inst
        {
            reads[read.input as usize] += 1;
        }
    }
    // `max_by_key` returns the last of equal elements.
    (0..inputs).rev().max_by_key(|&input| reads[input]).unwrap_or(0) as Slot
}

struct Encoder<'a> {
    code: &'a Code,
    outputs: &'a [OutputDecl],
    flat: FlatCode,
    /// Start of each block of the function; `u32::MAX` if it is not encoded yet.
    blocks: Vec<u32>,
    /// Start of each instruction of all blocks, and of the ends of blocks, from index `firsts[block]` on.
    places: Vec<u32>,
    firsts: Vec<usize>,
    /// Instructions that jump into a block: their indices and targets.
    landings: Vec<(usize, skips::Place)>,
    /// Registers for constants where an instruction takes registers only.
    scratch: [R; 2],
    used: usize,
    /// Start of the code of the current block.
    begun: usize,
    /// Number of registers of the function.
    registers: u32,
    /// Calls of functions whose start was not known yet: indices of calls and of functions.
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
        self.places.clear();
        self.firsts.clear();
        for block in &function.blocks {
            self.firsts.push(self.places.len());
            self.places.resize(self.places.len() + block.code.len() + 1, 0);
        }
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
                // Relative to the instruction after the jump.
                *to = self.blocks[*to as usize].wrapping_sub(at as u32 + 1);
            }
        }
        for (at, (block, number)) in std::mem::take(&mut self.landings) {
            if let Fast::SkipRun { to, .. } = &mut self.flat.code[at] {
                *to = self.places[self.firsts[block] + number].wrapping_sub(at as u32 + 1);
            }
        }
        for target in &mut self.flat.targets[targets..] {
            *target = self.blocks[*target as usize];
        }
    }

    fn push(&mut self, fast: Fast) {
        if fast_path::input_of(&fast).is_some_and(|input| input != self.flat.input) {
            self.flat.code.push(Fast::Other);
        }
        self.flat.code.push(fast);
    }

    /// Returns a register that holds the operand.
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

    /// Encodes one block, and returns the block that should follow it.
    fn block(&mut self, function: &Function, block: usize, jumps: &mut Vec<usize>) -> Option<usize> {
        let (number, block) = (block, &function.blocks[block]);
        let mut rest = &block.code[..];
        while let Some((inst, tail)) = rest.split_first() {
            self.used = 0;
            let at = block.code.len() - rest.len();
            self.places[self.firsts[number] + at] = self.flat.code.len() as u32;
            if let Some(fused) = self.skips(function, (number, at)) {
                self.push(fused);
            }
            if let Some(follows) = self.enter(rest, &block.end, jumps) {
                return follows;
            }
            if tail.is_empty()
                && let Some(follows) = self.last(function, inst, &block.end, jumps)
            {
                return follows;
            }
            let fused =
                self.list(rest).or_else(|| self.length(rest)).or_else(|| self.items(rest, &block.end));
            if let Some(fused) = fused {
                self.push(fused);
            }
            self.inst(inst);
            rest = tail;
        }
        self.used = 0;
        self.places[self.firsts[number] + block.code.len()] = self.flat.code.len() as u32;
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

    /// Fuses a branch with the block it leads to, if that only returns one item.
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

    /// Returns the last instruction, if it is in the current block.
    fn before(&self) -> Option<Fast> {
        self.flat.code[self.begun..].last().copied()
    }

    /// Fuses the length of an output with writing it to another output.
    fn length(&self, code: &[Inst]) -> Option<Fast> {
        let [Inst::LengthOf { to, output }, Inst::Write { output: into, from, .. }, ..] = code else {
            return None;
        };
        let wide = self.is_wide(*into).filter(|_| *from == Operand::Reg(*to))?;
        let shift = self.dtype(*output).size().trailing_zeros() as u8;
        Some(Fast::WriteLength { to: to.0 as R, of: *output as Slot, output: *into as Slot, shift, wide })
    }

    /// Fuses a loop that only reads one item per pass.
    fn items(&mut self, code: &[Inst], end: &End) -> Option<Fast> {
        let [Inst::ReadItem { read, .. }, Inst::Advance { index, by: Operand::Const(1) }] = code else {
            return None;
        };
        let End::Branch { relation: Relation::Lt, a, b: Operand::Reg(stop), then, .. } = end else {
            return None;
        };
        let alone = self.flat.code[self.begun..].iter().all(|fast| matches!(fast, Fast::Poll { .. }));
        if *a != Operand::Reg(*index) || self.blocks[then.0 as usize] != self.begun as u32 || !alone {
            return None;
        }
        let leaf = self.leaf(*read)?;
        self.flat.leaves.push(leaf);
        let (shift, copied) = (leaf.shift as u8, leaf.kind == LeafKind::Copy);
        let (input, index, stop) = (read.input as Slot, index.0 as R, stop.0 as R);
        Some(Fast::Items { leaf: self.flat.leaves.len() as u32 - 1, input, index, stop, shift, copied })
    }

    /// Fuses a count, its addition to the offsets, and the items.
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
        let same = added == to && count == to && self.is_main(read.input) && self.is_main(items.input);
        let wide = self.is_wide(*output)?;
        if !same || leaf.output as u32 == *output {
            return None;
        }
        let (to, input, offsets, output) =
            (to.0 as R, read.input as Slot, *output as Slot, leaf.output as Slot);
        let bytes = leaf.kind == LeafKind::Copy;
        let shift = leaf.shift as u8;
        Some(match (read.parser, read.big) {
            (Parser::ZigZag, _) if bytes => Fast::ListZigZag { to, input, offsets, output, shift, wide },
            (Parser::UInt32, true) if bytes => Fast::ListBig { to, input, offsets, output, shift, wide },
            (Parser::UInt8, _) if bytes => Fast::ListByte { to, input, offsets, output, shift, wide },
            _ => return None,
        })
    }

    /// Returns the size of an item that is copied, negative if its bytes are swapped, and its absolute value;
    /// None if it needs another conversion.
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

    fn is_main(&self, input: u32) -> bool {
        input == u32::from(self.flat.input)
    }

    fn leaf(&self, read: Read) -> Option<Leaf> {
        let output = read.output? as usize;
        Leaf::new(read, output, self.outputs[output].dtype)
    }

    /// Whether the integers of an output have eight bytes rather than four; None for other dtypes.
    fn is_wide(&self, output: u32) -> Option<bool> {
        match self.dtype(output) {
            DType::Int64 | DType::UInt64 => Some(true),
            DType::Int32 | DType::UInt32 => Some(false),
            _ => None,
        }
    }

    fn dtype(&self, output: u32) -> DType {
        self.outputs[output as usize].dtype
    }

    fn read_number(&mut self, read: Read) -> u32 {
        self.flat.reads.push(read);
        self.flat.reads.len() as u32 - 1
    }
}
