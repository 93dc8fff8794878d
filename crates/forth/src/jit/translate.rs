//! One function of the IR to one of the code generator's.

use std::collections::HashMap;
use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, BlockArg, ExtFuncData, ExternalName, FuncRef, InstBuilder, JumpTableData, MemFlagsData, SigRef,
    Signature, UserExternalName, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};

use super::context::{Context, MAX_RESULTS};
use super::helpers::Helpers;
use super::host::{Host, stub_signature};
use crate::compile::ir::Program;
use crate::interpret::fused::Plans;
use crate::jit::Way;
use crate::lower::ir::{BlockId, Code, End, Function, FunctionId, Inst, Operand, PointId, Reg, Relation};

type Block = cranelift_codegen::ir::Block;

/// Which of its two forms a function is translated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form<'a> {
    /// `(context, number of the entry) -> way and point`, by the system's convention.
    Entered(&'a [usize]),
    /// `(context, budget, arguments…) -> (0 or way and point, first result)`.
    Called,
}

pub(super) const fn flags() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// Plain memory without a promise of alignment.
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

/// A cursor kept in registers: an input's next byte, and its end.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    pub(super) next: Variable,
    pub(super) end: Variable,
}

pub(super) struct Translator<'a, 'f> {
    pub(super) b: FunctionBuilder<'f>,
    pub(super) program: &'a Program,
    pub(super) plans: &'a Plans,
    pub(super) host: &'a Host,
    pub(super) helpers: &'a Helpers,
    code: &'a Code,
    function: &'a Function,
    form: Form<'a>,
    registers: Vec<Variable>,
    cursors: HashMap<u32, Cursor>,
    /// Variables of the program that are kept in registers.
    kept: HashMap<u32, Variable>,
    pub(super) context: Value,
    pub(super) outputs: Value,
    pub(super) variables: Value,
    positions: Value,
    inputs: Value,
    budget: Option<Value>,
    stub: SigRef,
    direct: SigRef,
    called: HashMap<u32, FuncRef>,
    blocks: Vec<Block>,
    /// Edges into each block that are not made yet.
    waiting: Vec<usize>,
    /// What a comparison gave, by the flag made of it.
    pub(super) truths: HashMap<Value, Value>,
    /// Bytes of an input made sure of that were not read yet.
    assured: Option<(u32, i64)>,
    /// For each way out of a point, and for each set of registers to be written.
    exits: HashMap<(i64, u32), (Block, Block)>,
    shared: HashMap<Vec<Reg>, Block>,
    order: Vec<(Block, PointId)>,
}

/// How many inputs are kept in registers, and how many variables.
const CURSORS: usize = 2;
const KEPT: usize = 4;

pub(super) fn translate(
    b: FunctionBuilder<'_>,
    (program, plans): (&Program, &Plans),
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
        direct: SigRef::from_u32(0),
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
    t.direct = t.b.import_signature(host.helper_signature());
    t.registers = (0..t.function.registers).map(|_| t.b.declare_var(types::I64)).collect();
    t.blocks = t.function.blocks.iter().map(|_| t.b.create_block()).collect();
    t.all();
    t.b.seal_all_blocks();
    t.b.finalize(host.isa.frontend_config());
}

/// Blocks that can be reached from some.
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

    /// Loads what is live at an entry from the canonical state.
    fn enter(&mut self, entry: usize) {
        let entry = self.code.entries[entry];
        let registers = self.context_word(offset_of!(Context, registers));
        for reg in live(self.code, entry.point) {
            let value = self.b.ins().load(types::I64, flags(), registers, 8 * reg.0 as i32);
            self.define(reg, value);
        }
        self.jump(entry.block);
    }

    /// Keeps the inputs that are read most in registers, and the variables.
    fn promote(&mut self, reached: &[bool]) {
        // What is called often would load and store them each time.
        if self.form == Form::Called {
            return;
        }
        let (mut inputs, mut variables) = (HashMap::new(), HashMap::new());
        for (block, _) in self.function.blocks.iter().zip(reached).filter(|(_, reached)| **reached) {
            let weight = 1_u64 << (3 * block.depth.min(16));
            for inst in &block.code {
                if let Some(input) = input_of(inst) {
                    *inputs.entry(input).or_default() += weight;
                }
                if let Inst::Fetch { variable, .. }
                | Inst::Store { variable, .. }
                | Inst::Increment { variable, .. } = inst
                {
                    *variables.entry(*variable).or_default() += weight;
                }
            }
        }
        for input in heaviest(&inputs, CURSORS) {
            let cursor = Cursor { next: self.b.declare_var(types::I64), end: self.b.declare_var(types::I64) };
            let (next, end) = self.load_cursor(input);
            self.b.def_var(cursor.next, next);
            self.b.def_var(cursor.end, end);
            self.cursors.insert(input, cursor);
        }
        // Used once and not in a loop, they are as well where they are.
        variables.retain(|_, weight| *weight > 8);
        for variable in heaviest(&variables, KEPT) {
            let kept = self.b.declare_var(types::I64);
            let value = self.load_variable(variable);
            self.b.def_var(kept, value);
            self.kept.insert(variable, kept);
        }
    }

    fn load_variable(&mut self, variable: u32) -> Value {
        self.b.ins().load(types::I64, flags(), self.variables, 8 * variable as i32)
    }

    pub(super) fn variable(&mut self, variable: u32) -> Value {
        match self.kept.get(&variable) {
            Some(kept) => self.b.use_var(*kept),
            None => self.load_variable(variable),
        }
    }

    pub(super) fn set_variable(&mut self, variable: u32, value: Value) {
        match self.kept.get(&variable) {
            Some(kept) => self.b.def_var(*kept, value),
            None => {
                self.b.ins().store(flags(), value, self.variables, 8 * variable as i32);
            }
        }
    }

    fn load_cursor(&mut self, input: u32) -> (Value, Value) {
        let start = self.input_start(input);
        let length = self.input_length(input);
        let position = self.b.ins().load(types::I64, flags(), self.positions, 8 * input as i32);
        (self.b.ins().iadd(start, position), self.b.ins().iadd(start, length))
    }

    pub(super) fn input_start(&mut self, input: u32) -> Value {
        self.b.ins().load(types::I64, flags(), self.inputs, 16 * input as i32)
    }

    pub(super) fn input_length(&mut self, input: u32) -> Value {
        self.b.ins().load(types::I64, flags(), self.inputs, 16 * input as i32 + 8)
    }

    /// Address of the next byte of an input, and of its end.
    pub(super) fn cursor(&mut self, input: u32) -> (Value, Value) {
        match self.cursors.get(&input).copied() {
            Some(cursor) => (self.b.use_var(cursor.next), self.b.use_var(cursor.end)),
            None => self.load_cursor(input),
        }
    }

    pub(super) fn set_cursor(&mut self, input: u32, next: Value) {
        match self.cursors.get(&input).copied() {
            Some(cursor) => self.b.def_var(cursor.next, next),
            None => self.store_position(input, next),
        }
    }

    fn store_position(&mut self, input: u32, next: Value) {
        let start = self.input_start(input);
        let position = self.b.ins().isub(next, start);
        self.b.ins().store(flags(), position, self.positions, 8 * input as i32);
    }

    /// Makes the canonical state right before somebody else looks at it.
    pub(super) fn flush(&mut self) {
        for (input, cursor) in sorted(&self.cursors) {
            let next = self.b.use_var(cursor.next);
            self.store_position(input, next);
        }
        for (variable, kept) in sorted(&self.kept) {
            let value = self.b.use_var(kept);
            self.b.ins().store(flags(), value, self.variables, 8 * variable as i32);
        }
    }

    /// Makes right what a helper looks at that reads: the positions.
    pub(super) fn flush_positions(&mut self) {
        for (input, cursor) in sorted(&self.cursors) {
            let next = self.b.use_var(cursor.next);
            self.store_position(input, next);
        }
    }

    /// Takes over what a helper may have changed that reads.
    pub(super) fn reload_positions(&mut self) {
        for (input, cursor) in sorted(&self.cursors) {
            let (next, _) = self.load_cursor(input);
            self.b.def_var(cursor.next, next);
        }
    }

    /// Takes over what somebody else may have changed.
    pub(super) fn reload(&mut self) {
        self.reload_positions();
        for (variable, kept) in sorted(&self.kept) {
            let value = self.load_variable(variable);
            self.b.def_var(kept, value);
        }
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

    /// Cuts a number to the width of the machine.
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

    /// Goes on in a new block, or elsewhere if the condition holds.
    pub(super) fn unless(&mut self, condition: Value, elsewhere: Block) {
        let next = self.b.create_block();
        self.b.ins().brif(condition, elsewhere, &[], next, &[]);
        self.b.switch_to_block(next);
        self.b.seal_block(next);
    }

    /// A block that is rarely run, for `unless`.
    pub(super) fn cold(&mut self) -> Block {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }

    /// Where to go when the fast path ends before an instruction.
    pub(super) fn give_up(&mut self, point: PointId) -> Block {
        self.way_out(Way::GiveUp, point)
    }

    fn way_out(&mut self, way: Way, point: PointId) -> Block {
        if let Some((block, _)) = self.exits.get(&(way as i64, point.0)) {
            return *block;
        }
        let block = self.cold();
        let key = live(self.code, point);
        let shared = match self.shared.get(&key) {
            Some(block) => *block,
            None => {
                let shared = self.cold();
                self.b.append_block_param(shared, types::I64);
                self.shared.insert(key, shared);
                self.order.push((shared, point));
                shared
            }
        };
        self.exits.insert((way as i64, point.0), (block, shared));
        block
    }

    /// Fills the blocks that leave.
    fn ways_out(&mut self) {
        let mut exits: Vec<_> = self.exits.iter().map(|(&from, &to)| (to.0, to.1, from)).collect();
        exits.sort_unstable();
        for (block, shared, (way, point)) in exits {
            self.b.seal_block(block);
            self.b.switch_to_block(block);
            let status = self.constant((way << 32) | i64::from(point));
            self.b.ins().jump(shared, &[BlockArg::Value(status)]);
        }
        for (block, point) in std::mem::take(&mut self.order) {
            self.b.seal_block(block);
            self.b.switch_to_block(block);
            let status = self.b.block_params(block)[0];
            self.flush();
            match self.form {
                // The points that share this way out differ in number only.
                Form::Called => self.record(point, status),
                Form::Entered(_) => {
                    let registers = self.context_word(offset_of!(Context, registers));
                    for reg in live(self.code, point) {
                        let value = self.operand(Operand::Reg(reg));
                        self.b.ins().store(flags(), value, registers, 8 * reg.0 as i32);
                    }
                }
            }
            self.leave(status);
        }
    }

    fn leave(&mut self, status: Value) {
        if self.form == Form::Called && self.function.results > 0 {
            let nothing = self.constant(0);
            self.b.ins().return_(&[status, nothing]);
        } else {
            self.b.ins().return_(&[status]);
        }
    }

    /// Writes down what an activation holds: the point, and the registers live there.
    fn record(&mut self, point: PointId, number: Value) {
        let at = self.context_word(offset_of!(Context, records));
        let mut offset = 8;
        for reg in live(self.code, point) {
            let value = self.operand(Operand::Reg(reg));
            self.b.ins().store(flags(), value, at, offset);
            offset += 8;
        }
        self.b.ins().store(flags(), number, at, 0);
        let next = self.b.ins().iadd_imm_s(at, i64::from(offset));
        self.b.ins().store(flags(), next, self.context, offset_of!(Context, records) as i32);
    }

    fn jump(&mut self, to: BlockId) {
        self.b.ins().jump(self.blocks[to.0 as usize], &[]);
        self.edge(to);
    }

    /// An edge was made; the last one seals.
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
        // A flag compared with zero was a comparison before.
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

    fn go_out(&mut self, way: Way, point: PointId) {
        let block = self.way_out(way, point);
        self.b.ins().jump(block, &[]);
    }

    /// Leaves for good in the middle of a block; what follows is never run.
    pub(super) fn stop(&mut self, point: PointId) {
        self.go_out(Way::GiveUp, point);
        let dead = self.b.create_block();
        self.b.switch_to_block(dead);
        self.b.seal_block(dead);
    }

    /// Whether so many bytes of an input were made sure of before; they are read now.
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

    /// Calls a helper without disturbing any register; the canonical state is right before and after.
    pub(super) fn call_rarely(&mut self, helper: i64, arguments: [Value; 3]) {
        let helper = self.constant(helper);
        self.b.ins().store(flags(), helper, self.context, offset_of!(Context, helper) as i32);
        for (at, argument) in arguments.into_iter().enumerate() {
            let offset = offset_of!(Context, arguments) + 8 * at;
            // The same again is not looked at.
            if !arguments[..at].contains(&argument) {
                self.b.ins().store(flags(), argument, self.context, offset as i32);
            }
        }
        let stub = self.constant(self.host.stub());
        self.b.ins().call_indirect(self.stub, stub, &[self.context]);
    }

    /// Calls a helper the ordinary way.
    pub(super) fn call_often(&mut self, helper: i64, arguments: [Value; 3]) {
        let [a, b, c] = arguments;
        let helper = self.constant(helper);
        self.b.ins().call_indirect(self.direct, helper, &[self.context, a, b, c]);
    }

    pub(super) fn call(
        &mut self,
        function: FunctionId,
        args: &[Operand],
        results: &[Reg],
        point: PointId,
        during: PointId,
    ) {
        if results.len() > 1 + MAX_RESULTS {
            return self.stop(point);
        }
        let budget = match self.budget {
            Some(budget) => budget,
            None => self.context_word(offset_of!(Context, budget)),
        };
        let none = self.b.ins().icmp_imm_u(IntCC::Equal, budget, 0);
        let elsewhere = self.give_up(point);
        self.unless(none, elsewhere);
        self.flush();
        let less = self.b.ins().iadd_imm_s(budget, -1);
        let mut values = vec![self.context, less];
        values.extend(args.iter().map(|&arg| self.operand(arg)));
        let callee = self.callee(function);
        let call = self.b.ins().call(callee, &values);
        let returned = self.b.inst_results(call).to_vec();
        let unwind = self.cold();
        self.unless(returned[0], unwind);
        let here = self.b.current_block();
        self.b.switch_to_block(unwind);
        self.b.seal_block(unwind);
        let number = self.constant(i64::from(during.0));
        self.record(during, number);
        self.leave(returned[0]);
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
        self.reload();
        for (at, &reg) in results.iter().enumerate() {
            let value = match at {
                0 => returned[1],
                _ => self.context_word(offset_of!(Context, results) + 8 * (at - 1)),
            };
            self.define(reg, value);
        }
    }

    fn callee(&mut self, function: FunctionId) -> FuncRef {
        if let Some(known) = self.called.get(&function.0) {
            return *known;
        }
        let signature = self.b.import_signature(called_signature(self.code.function(function)));
        let name =
            self.b.func.declare_imported_user_function(UserExternalName { namespace: 0, index: function.0 });
        let made = self.b.import_function(ExtFuncData {
            name: ExternalName::user(name),
            signature,
            colocated: true,
            patchable: false,
        });
        self.called.insert(function.0, made);
        made
    }
}

/// In an order that is always the same.
fn sorted<T: Copy>(kept: &HashMap<u32, T>) -> Vec<(u32, T)> {
    let mut all: Vec<(u32, T)> = kept.iter().map(|(&number, &what)| (number, what)).collect();
    all.sort_unstable_by_key(|&(number, _)| number);
    all
}

fn heaviest(weights: &HashMap<u32, u64>, most: usize) -> Vec<u32> {
    let mut all = sorted(weights);
    all.sort_by_key(|&(_, weight)| std::cmp::Reverse(weight));
    all.truncate(most);
    all.into_iter().map(|(number, _)| number).collect()
}

/// The registers the state at a point is made of, in order.
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

/// The input an instruction moves in.
fn input_of(inst: &Inst) -> Option<u32> {
    match inst {
        Inst::Position { input, .. }
        | Inst::AtEnd { input, .. }
        | Inst::Peek { input, .. }
        | Inst::Seek { input, .. }
        | Inst::Skip { input, .. }
        | Inst::Require { input, .. } => Some(*input),
        Inst::ReadStack { read, .. } | Inst::ReadItem { read, .. } | Inst::ReadMany { read, .. } => {
            Some(read.input)
        }
        _ => None,
    }
}
