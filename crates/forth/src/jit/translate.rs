//! Translation of a function of the IR to one of the code generator.

use std::collections::HashMap;
use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, FuncRef, InstBuilder, JumpTableData, MemFlagsData, SigRef, Signature, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};

use super::context::Context;
use super::helpers::Helpers;
use super::host::{Host, stub_signature};
use crate::compile::ir::Ir;
use crate::interpret::fused::Plans;
use crate::jit::Way;
use crate::lower::ir::{BlockId, Code, End, Function, FunctionId, Operand, PointId, Reg, Relation};

type Block = cranelift_codegen::ir::Block;

/// The form of a translated function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form<'a> {
    /// `(context, index of the entry) -> way and point`, by the system's calling convention.
    Entered(&'a [usize]),
    /// `(context, budget, arguments…) -> (0 or way and point, first result)`.
    Called,
}

/// Maximum number of targets of a switch that are compared one by one.
const FEW: usize = 3;

pub(super) const fn flags() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// Flags of memory without guaranteed alignment.
pub(super) const fn bytes() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

pub(super) fn entered_signature(host: &Host) -> Signature {
    let mut signature = Signature::new(host.isa.default_call_conv());
    signature.params = vec![AbiParam::new(types::I64); 2];
    signature.returns = vec![AbiParam::new(types::I64)];
    signature
}

pub(super) fn called_signature(function: &Function) -> Signature {
    let mut signature = Signature::new(CallConv::Fast);
    signature.params = vec![AbiParam::new(types::I64); 2 + function.params as usize];
    signature.returns = vec![AbiParam::new(types::I64); 1 + usize::from(function.results > 0)];
    signature
}

/// A cursor in registers: the addresses of the next byte of an input and of its end.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    pub(super) next: Variable,
    pub(super) end: Variable,
}

pub(super) struct Translator<'a, 'f> {
    pub(super) b: FunctionBuilder<'f>,
    pub(super) program: &'a Ir,
    pub(super) plans: &'a Plans,
    pub(super) host: &'a Host,
    pub(super) helpers: &'a Helpers,
    pub(super) code: &'a Code,
    pub(super) function: &'a Function,
    pub(super) form: Form<'a>,
    pub(super) registers: Vec<Variable>,
    pub(super) cursors: HashMap<u32, Cursor>,
    /// Variables of the program that are kept in registers.
    pub(super) kept: HashMap<u32, Variable>,
    pub(super) context: Value,
    pub(super) outputs: Value,
    pub(super) variables: Value,
    pub(super) positions: Value,
    pub(super) inputs: Value,
    pub(super) budget: Option<Value>,
    pub(super) stub: SigRef,
    pub(super) called: HashMap<u32, FuncRef>,
    pub(super) blocks: Vec<Block>,
    /// Number of edges into each block that were not emitted yet.
    pub(super) waiting: Vec<usize>,
    /// The truth value of each flag made from one.
    pub(super) truths: HashMap<Value, Value>,
    /// An input, and the number of its bytes that were checked and not read yet.
    pub(super) assured: Option<(u32, i64)>,
    /// Blocks of each exit by way and point, and those shared by each set of registers to store.
    pub(super) exits: HashMap<(i64, u32), (Block, Block)>,
    pub(super) shared: HashMap<Vec<Reg>, Block>,
    pub(super) order: Vec<(Block, PointId)>,
}

pub(super) fn translate(
    b: FunctionBuilder<'_>,
    (program, plans): (&Ir, &Plans),
    code: &Code,
    host: &Host,
    helpers: &Helpers,
    function: FunctionId,
    form: Form<'_>,
) {
    let zero = Value::from_u32(0);
    let mut t = Translator {
        b,
        program,
        plans,
        host,
        helpers,
        code,
        function: code.function(function),
        form,
        registers: Vec::new(),
        cursors: HashMap::new(),
        kept: HashMap::new(),
        context: zero,
        outputs: zero,
        variables: zero,
        positions: zero,
        inputs: zero,
        budget: None,
        stub: SigRef::from_u32(0),
        called: HashMap::new(),
        blocks: Vec::new(),
        waiting: Vec::new(),
        truths: HashMap::new(),
        assured: None,
        exits: HashMap::new(),
        shared: HashMap::new(),
        order: Vec::new(),
    };
    t.stub = t.b.import_signature(stub_signature());
    t.registers = (0..t.function.registers).map(|_| t.b.declare_var(types::I64)).collect();
    t.blocks = t.function.blocks.iter().map(|_| t.b.create_block()).collect();
    t.all();
    t.b.seal_all_blocks();
    t.b.finalize(host.isa.frontend_config());
}

/// Returns whether each block can be reached from some blocks.
fn reachable(function: &Function, from: impl Iterator<Item = BlockId>) -> Vec<bool> {
    let mut seen = vec![false; function.blocks.len()];
    let mut next: Vec<BlockId> = from.collect();
    while let Some(BlockId(block)) = next.pop() {
        if !std::mem::replace(&mut seen[block as usize], true) {
            next.extend(targets(&function.blocks[block as usize].end));
        }
    }
    seen
}

pub(super) fn targets(end: &End) -> Vec<BlockId> {
    match end {
        End::Jump(to) => vec![*to],
        End::Branch { then, otherwise, .. } => vec![*then, *otherwise],
        End::Switch { targets, otherwise, .. } => targets.iter().copied().chain([*otherwise]).collect(),
        End::Return(_) | End::Leave(_) | End::Pause(_) => Vec::new(),
    }
}

impl Translator<'_, '_> {
    fn all(&mut self) {
        let starts: Vec<BlockId> = match self.form {
            Form::Entered(entries) => entries.iter().map(|&entry| self.code.entries[entry].block).collect(),
            Form::Called => vec![BlockId(0)],
        };
        let reached = reachable(self.function, starts.iter().copied());
        self.waiting = vec![0; self.blocks.len()];
        for start in &starts {
            self.waiting[start.0 as usize] += 1;
        }
        for (block, _) in self.function.blocks.iter().zip(&reached).filter(|(_, reached)| **reached) {
            for target in targets(&block.end) {
                self.waiting[target.0 as usize] += 1;
            }
        }
        self.begin(&reached);
        for (at, _) in reached.iter().enumerate().filter(|(_, reached)| **reached) {
            self.b.switch_to_block(self.blocks[at]);
            self.assured = None;
            let block = &self.function.blocks[at];
            for (number, inst) in block.code.iter().enumerate() {
                self.instruction(inst, &block.code[number + 1..]);
            }
            self.end(&block.end);
        }
        self.ways_out();
    }

    fn begin(&mut self, reached: &[bool]) {
        let start = self.b.create_block();
        self.b.append_block_params_for_function_params(start);
        self.b.switch_to_block(start);
        self.b.seal_block(start);
        let params = self.b.block_params(start).to_vec();
        self.context = params[0];
        let load = |t: &mut Self, offset: usize| {
            let context = t.context;
            t.b.ins().load(types::I64, flags(), context, offset as i32)
        };
        self.outputs = load(self, offset_of!(Context, outputs));
        self.variables = load(self, offset_of!(Context, variables));
        self.positions = load(self, offset_of!(Context, positions));
        self.inputs = load(self, offset_of!(Context, inputs));
        self.promote(reached);
        match self.form {
            Form::Called => {
                self.budget = Some(params[1]);
                for (at, &value) in params[2..].iter().enumerate() {
                    self.b.def_var(self.registers[at], value);
                }
                self.jump(BlockId(0));
            }
            Form::Entered(entries) => {
                let blocks: Vec<Block> = entries.iter().map(|_| self.b.create_block()).collect();
                if let [only] = blocks[..] {
                    self.b.ins().jump(only, &[]);
                } else {
                    let calls: Vec<_> = blocks.iter().map(|&b| self.b.func.dfg.block_call(b, &[])).collect();
                    let table = self.b.create_jump_table(JumpTableData::new(calls[0], &calls));
                    let number = self.b.ins().ireduce(types::I32, params[1]);
                    self.b.ins().br_table(number, table);
                }
                for (&block, &entry) in blocks.iter().zip(entries) {
                    self.b.switch_to_block(block);
                    self.b.seal_block(block);
                    self.enter(entry);
                }
            }
        }
    }

    /// Loads the registers that are live at an entry from the canonical state.
    fn enter(&mut self, entry: usize) {
        let entry = self.code.entries[entry];
        let registers = self.context_word(offset_of!(Context, registers));
        for reg in live(self.code, entry.point) {
            let value = self.b.ins().load(types::I64, flags(), registers, 8 * reg.0 as i32);
            self.define(reg, value);
        }
        self.jump(entry.block);
    }

    pub(super) fn context_word(&mut self, offset: usize) -> Value {
        self.b.ins().load(types::I64, flags(), self.context, offset as i32)
    }

    pub(super) fn constant(&mut self, value: i64) -> Value {
        self.b.ins().iconst(types::I64, value)
    }

    pub(super) fn operand(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Reg(reg) => self.b.use_var(self.registers[reg.0 as usize]),
            Operand::Const(value) => self.constant(value),
        }
    }

    pub(super) fn define(&mut self, reg: Reg, value: Value) {
        self.b.def_var(self.registers[reg.0 as usize], value);
    }

    /// Wraps a number to the width of the machine.
    pub(super) fn wrap(&mut self, value: Value) -> Value {
        if self.code.bits == 64 {
            return value;
        }
        let low = self.b.ins().ireduce(types::I32, value);
        self.b.ins().sextend(types::I64, low)
    }

    pub(super) fn bits(&self) -> u32 {
        self.code.bits
    }

    /// Continues in a new block, or jumps to `elsewhere` if the condition holds.
    pub(super) fn unless(&mut self, condition: Value, elsewhere: Block) {
        let next = self.b.create_block();
        self.b.ins().brif(condition, elsewhere, &[], next, &[]);
        self.b.switch_to_block(next);
        self.b.seal_block(next);
    }

    /// Creates a block that is rarely run, for `unless`.
    pub(super) fn cold(&mut self) -> Block {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }

    fn jump(&mut self, to: BlockId) {
        self.b.ins().jump(self.blocks[to.0 as usize], &[]);
        self.edge(to);
    }

    /// Counts an emitted edge; the last one seals the block.
    fn edge(&mut self, to: BlockId) {
        let waiting = &mut self.waiting[to.0 as usize];
        *waiting -= 1;
        if *waiting == 0 {
            self.b.seal_block(self.blocks[to.0 as usize]);
        }
    }

    pub(super) fn compare(&mut self, relation: Relation, a: Operand, b: Operand) -> Value {
        let condition = match relation {
            Relation::Eq => IntCC::Equal,
            Relation::Ne => IntCC::NotEqual,
            Relation::Lt => IntCC::SignedLessThan,
            Relation::Le => IntCC::SignedLessThanOrEqual,
            Relation::Gt => IntCC::SignedGreaterThan,
            Relation::Ge => IntCC::SignedGreaterThanOrEqual,
        };
        let a = self.operand(a);
        // A flag that is compared with zero comes from a comparison, whose result is used.
        if let (Some(&truth), Operand::Const(0), Relation::Eq | Relation::Ne) =
            (self.truths.get(&a), b, relation)
        {
            return match relation {
                Relation::Ne => truth,
                _ => self.b.ins().icmp_imm_u(IntCC::Equal, truth, 0),
            };
        }
        match b {
            Operand::Const(value) => self.b.ins().icmp_imm_s(condition, a, value),
            Operand::Reg(_) => {
                let b = self.operand(b);
                self.b.ins().icmp(condition, a, b)
            }
        }
    }

    fn end(&mut self, end: &End) {
        match end {
            End::Jump(to) => self.jump(*to),
            End::Branch { relation, a, b, then, otherwise } => {
                let condition = self.compare(*relation, *a, *b);
                let [yes, no] = [then, otherwise].map(|to| self.blocks[to.0 as usize]);
                self.b.ins().brif(condition, yes, &[], no, &[]);
                self.edge(*then);
                self.edge(*otherwise);
            }
            End::Switch { selector, targets, otherwise } => {
                let selector = self.operand(*selector);
                if targets.len() <= FEW {
                    for (number, to) in targets.iter().enumerate() {
                        let is_it = self.b.ins().icmp_imm_u(IntCC::Equal, selector, number as i64);
                        self.unless(is_it, self.blocks[to.0 as usize]);
                        self.edge(*to);
                    }
                    return self.jump(*otherwise);
                }
                let beyond = self.b.ins().icmp_imm_u(
                    IntCC::UnsignedGreaterThanOrEqual,
                    selector,
                    targets.len() as i64,
                );
                let other = self.blocks[otherwise.0 as usize];
                self.unless(beyond, other);
                let call = |t: &mut Self, block| t.b.func.dfg.block_call(block, &[]);
                let default = call(self, other);
                let calls: Vec<_> = targets.iter().map(|to| call(self, self.blocks[to.0 as usize])).collect();
                let table = self.b.create_jump_table(JumpTableData::new(default, &calls));
                let number = self.b.ins().ireduce(types::I32, selector);
                self.b.ins().br_table(number, table);
                for to in targets {
                    self.edge(*to);
                }
                self.edge(*otherwise);
            }
            End::Return(point) if self.form == Form::Called => {
                let results: Vec<Operand> = self.code.point(*point).stack.to_vec();
                for (at, &slot) in results.iter().enumerate().skip(1) {
                    let value = self.operand(slot);
                    let offset = offset_of!(Context, results) + 8 * (at - 1);
                    self.b.ins().store(flags(), value, self.context, offset as i32);
                }
                let mut values = vec![self.constant(0)];
                if let Some(&first) = results.first() {
                    values.push(self.operand(first));
                }
                self.b.ins().return_(&values);
            }
            End::Return(point) => self.go_out(Way::Return, *point),
            End::Leave(point) => self.go_out(Way::Leave, *point),
            End::Pause(point) => self.go_out(Way::Pause, *point),
        }
    }

    /// Whether the `bytes` of an input were checked before; they count as read then.
    pub(super) fn assured(&mut self, input: u32, bytes: i64) -> bool {
        match &mut self.assured {
            Some((known, left)) if *known == input && *left >= bytes => {
                *left -= bytes;
                true
            }
            _ => false,
        }
    }

    pub(super) fn forget(&mut self) {
        self.assured = None;
    }

    pub(super) fn assure(&mut self, input: u32, bytes: i64) {
        self.assured = Some((input, bytes));
    }
}

/// Returns the registers that the state at a point consists of, in order.
pub(super) fn live(code: &Code, point: PointId) -> Vec<Reg> {
    let slots = code.point(point).stack.iter().filter_map(|slot| match slot {
        Operand::Reg(reg) => Some(*reg),
        Operand::Const(_) => None,
    });
    let loops = code.scope_of(point).loops.iter().flat_map(|shape| [shape.index, shape.stop]);
    let mut live: Vec<Reg> = slots.chain(loops).collect();
    live.sort_unstable();
    live.dedup();
    live
}
