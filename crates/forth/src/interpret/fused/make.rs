//! Steps → instructions.

use super::ops::{C, Column, Counted, NONE, Op, Ops, Rest, Switch, To};
use super::skip;
use super::steps::{Count, Field, Form, Leaf, LeafKind, Nest, Sized, Step};
use crate::DType;
use crate::compile::ir::OutputDecl;
use crate::isa::{Parser, Read};

/// Whether a step is one instruction that steps over something of a kind that is foreseen, and jumps nowhere.
fn may_be_skipped_together(step: &Step) -> bool {
    matches!(
        step,
        Step::SkipSized { what: Sized::Number | Sized::Text, .. }
            | Step::SkipOptional { what: Sized::Number, .. }
    )
}

impl Ops {
    /// The instructions for steps that write to these outputs, in order; nothing if a number does not fit.
    pub(super) fn new(steps: &[Step], outputs: &[usize], declared: &[OutputDecl]) -> Option<Self> {
        let columns = outputs.iter().map(|&output| {
            let dtype = declared[output].dtype;
            Column { output, dtype, shift: dtype.size().trailing_zeros() }
        });
        let mut ops = Self { columns: columns.collect(), ..Self::default() };
        if ops.columns.len() >= NONE as usize {
            return None;
        }
        ops.steps(steps, 0)?;
        ops.code.push(Op::Done);
        while let Some((head, back, steps, kept)) = ops.later.pop() {
            ops.close(head);
            ops.steps(&steps, kept)?;
            let end = ops.open(Op::Jump { to: 0 });
            ops.aim(end, back);
        }
        Some(ops)
    }

    /// The column of an output. Leaves keep the column where they had the output.
    fn column(&self, output: usize) -> C {
        // They are all the outputs of the steps, in order.
        self.columns.partition_point(|column| column.output < output) as C
    }

    fn leaf(&self, leaf: Leaf) -> Leaf {
        Leaf { output: self.column(leaf.output) as usize, ..leaf }
    }

    /// An instruction of which the target is not known yet.
    fn open(&mut self, op: Op) -> usize {
        self.code.push(op);
        self.code.len() - 1
    }

    /// Lets an instruction go to the next one.
    fn close(&mut self, at: usize) {
        self.aim(at, self.code.len());
    }

    fn aim(&mut self, at: usize, target: usize) {
        let far = target as To - at as To - 1;
        match &mut self.code[at] {
            Op::Jump { to }
            | Op::Loop { end: to }
            | Op::Next { start: to }
            | Op::Block { end: to, .. }
            | Op::BlockLoop { end: to, .. }
            | Op::SkipBlock { end: to }
            | Op::More { end: to, .. }
            | Op::Again { to }
            | Op::IfZigZag { otherwise: to }
            | Op::IfZigZagLength8 { otherwise: to, .. }
            | Op::IfZigZagLength4 { otherwise: to, .. }
            | Op::If { otherwise: to, .. }
            | Op::IfBefore { otherwise: to, .. }
            | Op::Mask { end: to, .. } => *to = far,
            _ => {}
        }
    }

    fn read(&mut self, read: Read) -> u32 {
        self.reads.push(read);
        self.reads.len() as u32 - 1
    }

    fn keep_leaf(&mut self, leaf: Leaf) -> u32 {
        self.leaves.push(self.leaf(leaf));
        self.leaves.len() as u32 - 1
    }

    fn keep_nest(&mut self, nest: &Nest) -> u32 {
        let outputs = nest.offsets[..nest.depth].iter().chain([&nest.leaf.output]);
        let columns = outputs.map(|&output| self.column(output)).collect();
        self.nests.push((*nest, columns));
        self.nests.len() as u32 - 1
    }

    /// Steps while that number of values is kept.
    fn steps(&mut self, steps: &[Step], kept: usize) -> Option<()> {
        // Some keep two, for what is inside of them.
        self.depth = self.depth.max(kept + 2);
        let mut rest = steps;
        while !rest.is_empty() {
            let run =
                rest.iter().take(skip::TOGETHER).take_while(|step| may_be_skipped_together(step)).count();
            let (these, after) = rest.split_at(run.max(1));
            let head = self.code.len();
            these.iter().try_for_each(|step| self.step(step, kept))?;
            let ops = &self.code[head..];
            let most = ops.iter().try_fold(0_u32, |most, op| most.checked_add(skip::needed(op)?));
            if let (2.., Some(kinds), Some(most)) = (run, skip::kinds(ops), most) {
                let ops = ops.len() as u8;
                self.code.insert(head, Op::SkipRun { kinds, ops, most });
            }
            rest = after;
        }
        Some(())
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each step")]
    fn step(&mut self, step: &Step, kept: usize) -> Option<()> {
        let variable = |variable: usize| u16::try_from(variable).ok();
        match step {
            Step::Fields { fields, .. } => fields.iter().for_each(|field| self.field(*field)),
            Step::Item(read, output) => {
                let to = self.column(*output);
                let op = match (read.parser, self.columns[to as usize].dtype) {
                    (Parser::ZigZag, DType::Int32 | DType::UInt32) => Op::ZigZag4 { to },
                    (Parser::ZigZag, DType::Int64 | DType::UInt64) => Op::ZigZag8 { to },
                    (Parser::VarInt, DType::Int32 | DType::UInt32) => Op::VarInt4 { to },
                    (Parser::VarInt, DType::Int64 | DType::UInt64) => Op::VarInt8 { to },
                    _ => Op::Item { to, read: self.read(*read) },
                };
                self.code.push(op);
            }
            Step::Skip(bytes) => self.code.push(Op::Skip { bytes: u32::try_from(*bytes).ok()? }),
            Step::SkipSized { what, then } => {
                let then = u32::try_from(*then).ok()?;
                self.code.push(match what {
                    Sized::Number => Op::SkipNumber { then },
                    Sized::Text => Op::SkipText { then },
                    Sized::Bytes(bytes) => Op::Skip { bytes: then.checked_add(u32::try_from(*bytes).ok()?)? },
                });
            }
            Step::SkipOptional { there, what, then } => {
                let (there, then) = (2 * there, u32::try_from(*then).ok()?);
                self.code.push(match what {
                    Sized::Number => Op::SkipOptionalNumber { there, then },
                    Sized::Text => Op::SkipOptionalText { there, then },
                    Sized::Bytes(bytes) => {
                        Op::SkipOptionalBytes { there, bytes: u32::try_from(*bytes).ok()?, then }
                    }
                });
            }
            Step::SkipBlocks { size, body } if body.is_empty() && *size > 0 => {
                self.code.push(Op::SkipBlocks { size: u32::try_from(*size).ok()? });
            }
            Step::SkipBlocks { body, .. } => {
                let head = self.open(Op::SkipBlock { end: 0 });
                self.steps(body, kept + 1)?;
                let next = self.open(Op::Next { start: 0 });
                self.aim(next, head + 1);
                let back = self.open(Op::Jump { to: 0 });
                self.aim(back, head);
                self.close(head);
            }
            Step::Bulk { items, leaf } => {
                let leaf = self.keep_leaf(*leaf);
                self.code.push(Op::Bulk { leaf, items: u32::try_from(*items).ok()? });
            }
            Step::Nest(nest) => self.nest(nest),
            Step::List { count, offsets, body } => {
                let offsets = offsets.map_or(NONE, |output| self.column(output));
                self.counts.push(Counted { count: *count, offsets });
                self.code.push(Op::Count { count: self.counts.len() as u32 - 1 });
                self.repeat(body, kept)?;
            }
            Step::Repeat(times, body) => {
                self.code.push(Op::Times { times: u32::try_from(*times).ok()? });
                self.repeat(body, kept)?;
            }
            Step::Blocks { offsets, body, ends } => {
                self.code.push(Op::Zeros);
                let head = if self.in_bulk(body) {
                    let head = self.open(Op::Block { ends: *ends, end: 0 });
                    self.repeat(body, kept + 2)?;
                    head
                } else {
                    let head = self.open(Op::BlockLoop { ends: *ends, end: 0 });
                    self.steps(body, kept + 3)?;
                    let next = self.open(Op::Next { start: 0 });
                    self.aim(next, head + 1);
                    head
                };
                let back = self.open(Op::Jump { to: 0 });
                self.aim(back, head);
                self.close(head);
                self.sum(*offsets);
            }
            Step::ToEnd { variable: stop, offsets, body } => {
                let (variable, offsets) = (variable(*stop)?, self.column(*offsets));
                match &body[..] {
                    [Step::Nest(nest)] => {
                        let nest = self.keep_nest(nest);
                        self.code.push(Op::NestToEnd { nest, variable, offsets });
                    }
                    [Step::Fields { fields, .. }] if let [field] = fields[..] => {
                        let leaf = Leaf { kind: field.kind, shift: field.shift, output: field.output };
                        let leaf = self.keep_leaf(leaf);
                        self.code.push(Op::BulkToEnd { leaf, variable, offsets });
                    }
                    body => {
                        self.code.push(Op::Zero);
                        let head = self.open(Op::More { variable, end: 0 });
                        self.steps(body, kept + 2)?;
                        let back = self.open(Op::Again { to: 0 });
                        self.aim(back, head);
                        self.close(head);
                        self.code.push(Op::Sum { offsets });
                    }
                }
            }
            Step::Branch { flag, store, then, otherwise } => {
                let head = match (store, &then[..]) {
                    (None, [Step::Length(of, to), ..]) if flag.parser == Parser::ZigZag => {
                        let (of, to) = (self.column(*of), self.column(*to));
                        let shift = self.columns[of as usize].shift as u8;
                        match self.columns[to as usize].dtype {
                            DType::Int64 => Some(Op::IfZigZagLength8 { of, to, shift, otherwise: 0 }),
                            DType::Int32 => Some(Op::IfZigZagLength4 { of, to, shift, otherwise: 0 }),
                            _ => None,
                        }
                    }
                    _ => None,
                };
                if let Some(head) = head {
                    let head = self.open(head);
                    return self.either(head, &then[1..], otherwise, kept);
                }
                let head = match store {
                    None if flag.parser == Parser::ZigZag => self.open(Op::IfZigZag { otherwise: 0 }),
                    _ => {
                        let store = store.map_or(NONE, |output| self.column(output));
                        let read = self.read(*flag);
                        self.open(Op::If { read, store, otherwise: 0 })
                    }
                };
                self.either(head, then, otherwise, kept)?;
            }
            Step::IfAny { variable: stop, then, otherwise } => {
                let head = self.open(Op::IfBefore { variable: variable(*stop)?, otherwise: 0 });
                self.either(head, then, otherwise, kept)?;
            }
            Step::Switch { selector, store, arms } => {
                let store = store.map_or(NONE, |output| self.column(output));
                let switch = self.switches.len();
                self.switches.push(Switch { read: *selector, store, arms: Vec::new() });
                self.code.push(Op::Switch { switch: switch as u32 });
                let mut ends = Vec::new();
                for arm in arms {
                    let here = self.code.len() as u32;
                    self.switches[switch].arms.push(here);
                    self.steps(arm, kept)?;
                    ends.push(self.open(Op::Jump { to: 0 }));
                }
                ends.into_iter().for_each(|end| self.close(end));
            }
            Step::Masked { read, mask, then, output } => {
                let read = self.read(*read);
                let head = self.open(Op::Mask { read, mask: i32::try_from(*mask).ok()?, end: 0 });
                self.steps(then, kept + 1)?;
                self.close(head);
                self.code.push(Op::MaskEnd { to: self.column(*output) });
            }
            Step::Rest { variable, bytes, offsets, items, leaf } => {
                let (offsets, leaf) = (self.column(*offsets), self.leaf(*leaf));
                let bytes = u64::try_from(*bytes).ok()?;
                self.rests.push(Rest { variable: *variable, bytes, offsets, items: *items, leaf });
                self.code.push(Op::Rest { rest: self.rests.len() as u32 - 1 });
            }
            Step::Length(from, to) => {
                self.code.push(Op::Length { of: self.column(*from), to: self.column(*to) });
            }
            Step::Constant { value, output, add } => {
                let (to, value) = (self.column(*output), i32::try_from(*value).ok()?);
                self.code.push(match self.columns[to as usize].dtype {
                    DType::Int64 if !add => Op::Constant8 { to, value },
                    DType::Int32 if !add => Op::Constant4 { to, value },
                    _ => Op::Constant { to, add: *add, value },
                });
            }
            Step::Through { read, output, add } => {
                let read = self.read(*read);
                self.code.push(Op::Number { to: self.column(*output), add: *add, read });
            }
            Step::Start(start) => self.code.push(Op::Start(*start)),
            Step::Stop(input, variable) => {
                self.code.push(Op::Stop { input: *input as u32, variable: *variable as u32 });
            }
            Step::ByteCount { bias, variable } => {
                self.code
                    .push(Op::ByteCount { bias: i32::try_from(*bias).ok()?, variable: *variable as u32 });
            }
            Step::Version(low, high) => self.code.push(Op::Version { low: *low, high: *high }),
            Step::CheckEnd(variable) => self.code.push(Op::CheckEnd { variable: *variable as u32 }),
            Step::Framed { bias, body } => {
                self.code.push(Op::Frame { bias: i32::try_from(*bias).ok()? });
                self.steps(body, kept + 1)?;
                self.code.push(Op::FrameEnd);
            }
        }
        Some(())
    }

    fn field(&mut self, field: Field) {
        let to = self.column(field.output);
        self.code.push(match (field.kind, field.shift) {
            (LeafKind::Bool, _) => Op::Bool { to },
            (LeafKind::Copy, 0) => Op::Copy1 { to },
            (LeafKind::Copy, 1) => Op::Copy2 { to },
            (LeafKind::Copy, 2) => Op::Copy4 { to },
            (LeafKind::Copy, _) => Op::Copy8 { to },
            (LeafKind::Swap2, _) => Op::Swap2 { to },
            (LeafKind::Swap4, _) => Op::Swap4 { to },
            (LeafKind::Swap8, _) => Op::Swap8 { to },
        });
    }

    fn nest(&mut self, nest: &Nest) {
        let (offsets, items) = (self.column(nest.offsets[0]), self.column(nest.leaf.output));
        let shift = nest.leaf.shift as u8;
        let plain = nest.depth == 1 && nest.leaf.kind == LeafKind::Copy;
        let ended = nest.form == Form::Ended;
        let op = match (nest.form, nest.inner, nest.wide) {
            (Form::Counted | Form::Ended, Count::ZigZag, true) if plain => {
                Op::ZigZagList8 { offsets, items, shift, ended }
            }
            (Form::Counted | Form::Ended, Count::ZigZag, false) if plain => {
                Op::ZigZagList4 { offsets, items, shift, ended }
            }
            (Form::Counted, Count::Big32, true) if plain => Op::BigList8 { offsets, items, shift },
            (Form::Counted, Count::Big32, false) if plain => Op::BigList4 { offsets, items, shift },
            (Form::Counted, Count::Text, true) if plain => Op::TextList8 { offsets, items },
            (Form::Counted, Count::Text, false) if plain => Op::TextList4 { offsets, items },
            _ => Op::Nest { nest: self.keep_nest(nest) },
        };
        self.code.push(op);
    }

    fn sum(&mut self, offsets: usize) {
        let offsets = self.column(offsets);
        self.code.push(match self.columns[offsets as usize].dtype {
            DType::Int64 => Op::Sum8 { offsets },
            DType::Int32 => Op::Sum4 { offsets },
            _ => Op::Sum { offsets },
        });
    }

    /// Whether there is an instruction for a body that is repeated.
    fn in_bulk(&self, body: &[Step]) -> bool {
        match body {
            [Step::Nest(_) | Step::Bulk { .. }] => true,
            [Step::Fields { fields, .. }] => fields.len() == 1,
            _ => false,
        }
    }

    /// A body as often as was counted.
    fn repeat(&mut self, body: &[Step], kept: usize) -> Option<()> {
        match body {
            // A loop over nothing but lists stays in one native loop.
            [Step::Nest(nest)] => {
                let nest = self.keep_nest(nest);
                self.code.push(Op::NestTimes { nest });
            }
            [Step::Bulk { items, leaf }] => {
                let leaf = self.keep_leaf(*leaf);
                self.code.push(Op::BulkTimes { leaf, items: u32::try_from(*items).ok()? });
            }
            [Step::Fields { fields, .. }] if let [field] = fields[..] => {
                let leaf = Leaf { kind: field.kind, shift: field.shift, output: field.output };
                let leaf = self.keep_leaf(leaf);
                self.code.push(Op::BulkTimes { leaf, items: 1 });
            }
            body => {
                let head = self.open(Op::Loop { end: 0 });
                self.steps(body, kept + 1)?;
                let next = self.open(Op::Next { start: 0 });
                self.aim(next, head + 1);
                self.close(head);
            }
        }
        Some(())
    }

    fn either(&mut self, head: usize, then: &[Step], otherwise: &[Step], kept: usize) -> Option<()> {
        self.steps(then, kept)?;
        if otherwise.is_empty() {
            self.close(head);
        } else {
            // So that what is usual needs no jump.
            self.later.push((head, self.code.len(), otherwise.to_vec(), kept));
        }
        Some(())
    }
}
