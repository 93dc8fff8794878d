//! Flat IR → what tier 1 executes.

use super::code::{Call, Enumeration, Fast, Field, FlatCode, R, Slot, Source, Start};
use crate::Dtype;
use crate::compile::ir::OutputDecl;
use crate::interpret::fused::{Leaf, LeafKind, Plans};
use crate::isa::{Parser, Read};
use crate::lower::ir::{
    BinaryOp, BlockId, Code, End, Function, Height, Inst, Operand, PointId, Reg, Relation, UnaryOp,
};

/// No register.
pub(super) const NONE: R = R::MAX;
/// Registers of a function, inputs, outputs and variables that fit.
const MOST: usize = R::MAX as usize - 4;

impl FlatCode {
    /// The code for a program with so many numbers of bytecode; nothing if numbers do not fit.
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
                && matches!(self.dtype(*into), Dtype::Int64 | Dtype::UInt64)
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

    /// A count, read, added to the offsets, and so many items read.
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
        if !same || self.dtype(*output) != Dtype::Int64 || leaf.output as u32 == *output {
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

    fn dtype(&self, output: u32) -> Dtype {
        self.outputs[output as usize].dtype
    }

    fn read_number(&mut self, read: Read) -> u32 {
        self.flat.reads.push(read);
        self.flat.reads.len() as u32 - 1
    }

    /// The last instruction together with the end of the block, where there is one for both.
    fn last(&mut self, inst: &Inst, end: &End, jumps: &mut Vec<usize>) -> Option<Option<usize>> {
        let End::Branch { relation, a, b, then, otherwise } = end else { return None };
        match (inst, *relation, *a, *b) {
            (
                &Inst::Advance { index, by: Operand::Const(1) },
                Relation::Lt,
                Operand::Reg(at),
                Operand::Reg(stop),
            ) if at == index => {
                self.to(Fast::Next { index: index.0 as R, stop: stop.0 as R, to: then.0 }, jumps);
                Some(self.follow(*otherwise, jumps))
            }
            (
                &Inst::ReadStack { to, read, point },
                relation @ (Relation::Eq | Relation::Ne),
                Operand::Reg(flag),
                Operand::Const(0),
            ) if flag == to && read.parser == Parser::ZigZag => {
                let (flag, input, point) = (to.0 as R, read.input as Slot, point.0);
                let zero = if relation == Relation::Eq { *then } else { *otherwise };
                let other = if relation == Relation::Eq { *otherwise } else { *then };
                if self.is_new(other) {
                    self.to(Fast::IfZigZagZero { flag, input, to: zero.0, point }, jumps);
                    Some(self.follow(other, jumps))
                } else {
                    self.to(Fast::IfZigZag { flag, input, to: other.0, point }, jumps);
                    Some(self.follow(zero, jumps))
                }
            }
            (
                &Inst::AtEnd { to, input },
                relation @ (Relation::Eq | Relation::Ne),
                Operand::Reg(flag),
                Operand::Const(0),
            ) if flag == to => {
                let (flag, input) = (to.0 as R, input as Slot);
                // Whichever block is new follows.
                let ends = if relation == Relation::Ne { *then } else { *otherwise };
                let more = if relation == Relation::Ne { *otherwise } else { *then };
                if self.is_new(more) {
                    self.to(Fast::IfEnd { flag, input, to: ends.0 }, jumps);
                    Some(self.follow(more, jumps))
                } else {
                    self.to(Fast::IfMore { flag, input, to: more.0 }, jumps);
                    Some(self.follow(ends, jumps))
                }
            }
            _ => None,
        }
    }

    fn is_new(&self, block: BlockId) -> bool {
        self.blocks[block.0 as usize] == u32::MAX
    }

    /// An instruction with a target, which is still a block.
    fn to(&mut self, fast: Fast, jumps: &mut Vec<usize>) {
        jumps.push(self.flat.code.len());
        self.push(fast);
    }

    /// Goes on at a block: by putting it here, or by a jump.
    fn follow(&mut self, block: BlockId, jumps: &mut Vec<usize>) -> Option<usize> {
        if self.is_new(block) {
            return Some(block.0 as usize);
        }
        self.to(Fast::Jump { to: block.0 }, jumps);
        None
    }

    fn end(&mut self, end: &End, jumps: &mut Vec<usize>) -> Option<usize> {
        match end {
            End::Jump(to) => self.follow(*to, jumps),
            End::Branch { relation, a, b, then, otherwise } => {
                let (mut relation, mut a, mut b, mut then, mut otherwise) =
                    (*relation, *a, *b, *then, *otherwise);
                if self.is_new(then) {
                    (relation, then, otherwise) = (relation.opposite(), otherwise, then);
                }
                if matches!(a, Operand::Const(_)) {
                    (relation, a, b) = (relation.swapped(), b, a);
                }
                let a = self.reg(a);
                let to = then.0;
                let fast = match (relation, b) {
                    (Relation::Eq, Operand::Const(b)) => Fast::IfEqConst { a, to, b },
                    (Relation::Ne, Operand::Const(b)) => Fast::IfNeConst { a, to, b },
                    (Relation::Lt, Operand::Const(b)) => Fast::IfLtConst { a, to, b },
                    (Relation::Le, Operand::Const(b)) => Fast::IfLeConst { a, to, b },
                    (Relation::Gt, Operand::Const(b)) => Fast::IfGtConst { a, to, b },
                    (Relation::Ge, Operand::Const(b)) => Fast::IfGeConst { a, to, b },
                    (relation, Operand::Reg(Reg(b))) => {
                        let b = b as R;
                        match relation {
                            Relation::Eq => Fast::IfEq { a, b, to },
                            Relation::Ne => Fast::IfNe { a, b, to },
                            Relation::Lt => Fast::IfLt { a, b, to },
                            Relation::Le => Fast::IfLe { a, b, to },
                            Relation::Gt => Fast::IfLt { a: b, b: a, to },
                            Relation::Ge => Fast::IfLe { a: b, b: a, to },
                        }
                    }
                };
                self.to(fast, jumps);
                self.follow(otherwise, jumps)
            }
            End::Switch { selector, targets, otherwise } => {
                let selector = self.reg(*selector);
                let first = self.flat.targets.len() as u32;
                self.flat.targets.extend(targets.iter().chain([otherwise]).map(|block| block.0));
                self.push(Fast::Switch { selector, first, count: targets.len() as u32 });
                None
            }
            End::Return(point) => {
                let fused = match (&self.code.point(*point).stack[..], self.before()) {
                    ([Operand::Reg(sum)], Some(Fast::Add { to, a, b })) if to == sum.0 as R => {
                        self.flat.code.pop();
                        Some(Fast::ReturnAdded { to, a, b, point: point.0 })
                    }
                    _ => None,
                };
                if let Some(fused) = fused {
                    self.push(fused);
                    return None;
                }
                self.push(match self.code.point(*point).stack[..] {
                    [Operand::Reg(from)] => Fast::ReturnOne { from: from.0 as R, point: point.0 },
                    _ => Fast::Return { point: point.0 },
                });
                None
            }
            End::Leave(point) => {
                self.push(Fast::Leave { point: point.0 });
                None
            }
            End::Pause(point) => {
                let entry = self.entry_behind(*point);
                self.push(Fast::Pause { point: point.0, entry });
                None
            }
        }
    }

    /// The entry at which a machine goes on that stands at a point.
    fn entry_behind(&self, id: PointId) -> u32 {
        let point = self.code.point(id);
        let entries = &self.code.entries;
        let first = entries.partition_point(|entry| self.code.point(entry.point).pc < point.pc);
        let fits = |at: usize| self.code.point(entries[at].point).scope == point.scope;
        // Every pause has one; a number that is none would only be slow.
        (first..entries.len()).find(|&at| fits(at)).unwrap_or(usize::MAX) as u32
    }

    #[allow(clippy::too_many_lines, reason = "one line or two for each instruction")]
    fn inst(&mut self, inst: &Inst) {
        let r = |reg: Reg| reg.0 as R;
        let s = |slot: u32| slot as Slot;
        let fast = match *inst {
            Inst::Move { to, from: Operand::Const(value) } => Fast::Const { to: r(to), value },
            Inst::Move { to, from: Operand::Reg(from) } => Fast::Move { to: r(to), from: r(from) },
            Inst::Unary { op, to, a } => {
                let (to, a) = (r(to), self.reg(a));
                match op {
                    UnaryOp::Negate => Fast::Negate { to, a },
                    UnaryOp::Abs => Fast::Abs { to, a },
                    UnaryOp::Invert => Fast::Invert { to, a },
                    UnaryOp::EqZero => Fast::EqZero { to, a },
                }
            }
            Inst::Binary { op, to, a, b } => self.binary(op, r(to), a, b),
            Inst::Divide { quotient, rest, a, b, point } => Fast::Divide {
                quotient: quotient.map_or(NONE, r),
                rest: rest.map_or(NONE, r),
                a: self.reg(a),
                b: self.reg(b),
                point: point.0,
            },
            Inst::Advance { index, by } => Fast::Advance { index: r(index), by: self.reg(by) },
            Inst::Fetch { to, variable } => Fast::Fetch { to: r(to), variable: s(variable) },
            Inst::Store { variable, from: Operand::Const(value) } => {
                Fast::StoreConst { variable: s(variable), value }
            }
            Inst::Store { variable, from } => Fast::Store { variable: s(variable), from: self.reg(from) },
            Inst::Increment { variable, by: Operand::Const(by) } => {
                Fast::IncrementConst { variable: s(variable), by }
            }
            Inst::Increment { variable, by } => Fast::Increment { variable: s(variable), by: self.reg(by) },
            Inst::Length { to, input } => Fast::Length { to: r(to), input: s(input) },
            Inst::Position { to, input } => Fast::Position { to: r(to), input: s(input) },
            Inst::AtEnd { to, input } => Fast::AtEnd { to: r(to), input: s(input) },
            Inst::Peek { to, input, distance, point } => {
                Fast::Peek { to: r(to), input: s(input), distance: self.reg(distance), point: point.0 }
            }
            Inst::Seek { input, target, point } => {
                Fast::Seek { input: s(input), target: self.reg(target), point: point.0 }
            }
            Inst::Skip { input, by: Operand::Const(by), point } => {
                Fast::SkipConst { input: s(input), by, point: point.0 }
            }
            Inst::Skip { input, by, point } => {
                Fast::Skip { input: s(input), by: self.reg(by), point: point.0 }
            }
            Inst::SkipSpace { input } => Fast::SkipSpace { input: s(input) },
            Inst::Enum { to, input, first, end, only, point } => {
                self.flat.enumerations.push(Enumeration { to: r(to), input: s(input), first, end, only });
                Fast::Enum { enumeration: self.flat.enumerations.len() as u32 - 1, point: point.0 }
            }
            Inst::Require { input, bytes, point } => Fast::Require { input: s(input), bytes, point: point.0 },
            Inst::ReadStack { to, read, point } => self.read_stack(r(to), read, point.0),
            Inst::ReadItem { read, point } => self.read_item(read, point.0),
            Inst::ReadMany { read, count, point } => self.read_many(read, count, point.0),
            Inst::Write { output, from, point } => {
                let (point, dtype) = (point.0, self.dtype(output));
                match (dtype, from) {
                    (Dtype::Int64, Operand::Const(value)) => {
                        Fast::WriteConst8 { output: s(output), value, point }
                    }
                    (Dtype::Int64 | Dtype::UInt64, _) => {
                        Fast::Write8 { output: s(output), from: self.reg(from), point }
                    }
                    (Dtype::Int32 | Dtype::UInt32, _) => {
                        Fast::Write4 { output: s(output), from: self.reg(from), point }
                    }
                    _ => Fast::WriteAny { output: s(output), from: self.reg(from), point },
                }
            }
            Inst::WriteAdd { output, from, point } => {
                let (output, point, dtype) = (s(output), point.0, self.dtype(output));
                let from = self.reg(from);
                match dtype {
                    Dtype::Int64 | Dtype::UInt64 => Fast::WriteAdd8 { output, from, point },
                    Dtype::Int32 | Dtype::UInt32 => Fast::WriteAdd4 { output, from, point },
                    _ => Fast::WriteAddAny { output, from, point },
                }
            }
            Inst::Repeat { output, times, point } => {
                Fast::Repeat { output: s(output), times: self.reg(times), point: point.0 }
            }
            Inst::LengthOf { to, output } => Fast::LengthOf { to: r(to), output: s(output) },
            Inst::Rewind { output, by, point } => {
                Fast::Rewind { output: s(output), by: self.reg(by), point: point.0 }
            }
            Inst::Native { body, index, stop } => {
                let least = self.plans.least(body as usize) as u32;
                Fast::Native { body, index: r(index), stop: r(stop), least }
            }
            Inst::Call { function, ref args, ref results, point, during } => {
                let callee = self.code.function(function);
                let below = self.code.point(during);
                let scope = self.code.scope(below.scope);
                let source = |arg: &Operand| match *arg {
                    Operand::Reg(reg) => Source::Reg(r(reg)),
                    Operand::Const(value) => Source::Const(value),
                };
                self.waiting.push((self.flat.calls.len(), function.0 as usize));
                self.flat.calls.push(Call {
                    to: 0,
                    caller: self.registers,
                    registers: callee.registers + 2,
                    height: callee.height,
                    args: args.iter().map(source).collect(),
                    results: results.iter().map(|&reg| r(reg)).collect(),
                    point: point.0,
                    during: during.0,
                    above: Height {
                        stack: below.stack.len() as u32,
                        frames: scope.frames.len() as u32,
                        loops: scope.loops.len() as u32,
                    },
                });
                let most = |a: Height, b: Height| Height {
                    stack: a.stack.max(b.stack),
                    frames: a.frames.max(b.frames),
                    loops: a.loops.max(b.loops),
                };
                let last = self.flat.calls.len() - 1;
                self.flat.step = most(self.flat.step, self.flat.calls[last].above);
                self.flat.peak = most(self.flat.peak, callee.height);
                let call = last as u32;
                match args[..] {
                    [Operand::Reg(arg)] => match self.before() {
                        Some(Fast::AddConst { to, a, b }) if to == r(arg) && i32::try_from(b).is_ok() => {
                            self.flat.code.pop();
                            Fast::CallAdded { to, a, b: b as i32, call }
                        }
                        _ => Fast::CallOne { call, arg: r(arg) },
                    },
                    _ => Fast::Call { call },
                }
            }
        };
        self.push(fast);
    }

    fn binary(&mut self, op: BinaryOp, to: R, a: Operand, b: Operand) -> Fast {
        match (op, a, b) {
            (BinaryOp::Add, Operand::Reg(a), Operand::Const(b))
            | (BinaryOp::Add, Operand::Const(b), Operand::Reg(a)) => {
                return Fast::AddConst { to, a: a.0 as R, b };
            }
            (BinaryOp::Sub, Operand::Reg(a), Operand::Const(b)) => {
                return Fast::AddConst { to, a: a.0 as R, b: b.wrapping_neg() };
            }
            (BinaryOp::And, Operand::Reg(a), Operand::Const(b)) => {
                return Fast::AndConst { to, a: a.0 as R, b };
            }
            (BinaryOp::ShiftRight, Operand::Reg(a), Operand::Const(b)) => {
                return Fast::ShiftRightConst { to, a: a.0 as R, b: b as u32 % self.code.bits };
            }
            _ => {}
        }
        let (a, b) = (self.reg(a), self.reg(b));
        match op {
            BinaryOp::Add => Fast::Add { to, a, b },
            BinaryOp::Sub => Fast::Sub { to, a, b },
            BinaryOp::Mul => Fast::Mul { to, a, b },
            BinaryOp::Min => Fast::Min { to, a, b },
            BinaryOp::Max => Fast::Max { to, a, b },
            BinaryOp::And => Fast::And { to, a, b },
            BinaryOp::Or => Fast::Or { to, a, b },
            BinaryOp::Xor => Fast::Xor { to, a, b },
            BinaryOp::ShiftLeft => Fast::ShiftLeft { to, a, b },
            BinaryOp::ShiftRight => Fast::ShiftRight { to, a, b },
            BinaryOp::Compare(relation) => Fast::Compare { relation, to, a, b },
        }
    }

    fn read_stack(&mut self, to: R, read: Read, point: u32) -> Fast {
        let input = read.input as Slot;
        match (read.parser, read.big) {
            (Parser::UInt8 | Parser::Bool, _) => Fast::U8 { to, input, point },
            (Parser::Int8, _) => Fast::I8 { to, input, point },
            (Parser::UInt16, false) => Fast::U16 { to, input, point },
            (Parser::Int16, false) => Fast::I16 { to, input, point },
            (Parser::UInt32, false) => Fast::U32 { to, input, point },
            (Parser::Int32, false) => Fast::I32 { to, input, point },
            (Parser::Int64 | Parser::IntPtr | Parser::UInt64 | Parser::UIntPtr, false) => {
                Fast::I64 { to, input, point }
            }
            (Parser::UInt16, true) => Fast::BigU16 { to, input, point },
            (Parser::Int16, true) => Fast::BigI16 { to, input, point },
            (Parser::UInt32, true) => Fast::BigU32 { to, input, point },
            (Parser::Int32, true) => Fast::BigI32 { to, input, point },
            (Parser::Int64 | Parser::IntPtr | Parser::UInt64 | Parser::UIntPtr, true) => {
                Fast::BigI64 { to, input, point }
            }
            (Parser::VarInt, _) => Fast::VarInt { to, input, point },
            (Parser::ZigZag, _) => Fast::ZigZag { to, input, point },
            _ => Fast::ReadAny { to, read: self.read_number(read), point },
        }
    }

    fn read_item(&mut self, read: Read, point: u32) -> Fast {
        let (input, output) = (read.input as Slot, read.output.unwrap_or(0) as Slot);
        if let Some((form, _)) = self.form(read) {
            return match form {
                1 => Fast::Copy1 { input, output, point },
                2 => Fast::Copy2 { input, output, point },
                4 => Fast::Copy4 { input, output, point },
                8 => Fast::Copy8 { input, output, point },
                -2 => Fast::Swap2 { input, output, point },
                -4 => Fast::Swap4 { input, output, point },
                _ => Fast::Swap8 { input, output, point },
            };
        }
        match (read.parser, self.dtype(u32::from(output))) {
            (Parser::VarInt, Dtype::Int32 | Dtype::UInt32) => Fast::VarInt4 { input, output, point },
            (Parser::VarInt, Dtype::Int64 | Dtype::UInt64) => Fast::VarInt8 { input, output, point },
            (Parser::ZigZag, Dtype::Int32 | Dtype::UInt32) => Fast::ZigZag4 { input, output, point },
            (Parser::ZigZag, Dtype::Int64 | Dtype::UInt64) => Fast::ZigZag8 { input, output, point },
            _ => Fast::ItemAny { read: self.read_number(read), point },
        }
    }

    fn read_many(&mut self, read: Read, count: Operand, point: u32) -> Fast {
        let count = self.reg(count);
        match self.leaf(read) {
            Some(Leaf { kind: LeafKind::Copy, shift: 0, output }) => {
                Fast::Bytes { input: read.input as Slot, output: output as Slot, count, point }
            }
            Some(leaf) => {
                self.flat.leaves.push(leaf);
                let leaf = self.flat.leaves.len() as u32 - 1;
                Fast::Many { leaf, input: read.input as Slot, count, point }
            }
            None => Fast::ManyAny { read: self.read_number(read), count, point },
        }
    }
}

impl Fast {
    /// Where it may go, if it is a jump of any kind but a switch.
    fn target(&mut self) -> Option<&mut u32> {
        match self {
            Self::Next { to, .. }
            | Self::Jump { to }
            | Self::IfEq { to, .. }
            | Self::IfNe { to, .. }
            | Self::IfLt { to, .. }
            | Self::IfLe { to, .. }
            | Self::IfEqConst { to, .. }
            | Self::IfNeConst { to, .. }
            | Self::IfLtConst { to, .. }
            | Self::IfLeConst { to, .. }
            | Self::IfGtConst { to, .. }
            | Self::IfGeConst { to, .. }
            | Self::IfZigZag { to, .. }
            | Self::IfZigZagZero { to, .. }
            | Self::IfEnd { to, .. }
            | Self::IfMore { to, .. } => Some(to),
            _ => None,
        }
    }
}
