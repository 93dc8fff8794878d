//! Exits from machine code, and calls, which exit from the caller until they return.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    BlockArg, ExtFuncData, ExternalName, FuncRef, InstBuilder, UserExternalName, Value, types,
};

use super::context::{Context, MAX_RESULTS};
use super::translate::{Form, Translator, called_signature, flags, live};
use crate::jit::Way;
use crate::lower::ir::{FunctionId, Operand, PointId, Reg};

type Block = cranelift_codegen::ir::Block;

impl Translator<'_, '_> {
    /// Returns the block that gives up before an instruction.
    pub(super) fn give_up(&mut self, point: PointId) -> Block {
        self.way_out(Way::GiveUp, point)
    }

    /// Gives up if an interrupt is requested. The load is atomic, so that it is repeated each time.
    pub(super) fn poll(&mut self, point: PointId) {
        self.forget();
        let flag = self.context_word(offset_of!(Context, interrupt));
        let flag = self.b.ins().atomic_load(types::I8, flags(), flag);
        let elsewhere = self.give_up(point);
        self.unless(flag, elsewhere);
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

    /// Fills the exit blocks.
    pub(super) fn ways_out(&mut self) {
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
                // Points that share an exit differ in their index only.
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

    /// Writes the record of an activation: its point, and the registers that are live there.
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

    pub(super) fn go_out(&mut self, way: Way, point: PointId) {
        let block = self.way_out(way, point);
        self.b.ins().jump(block, &[]);
    }

    /// Leaves unconditionally in the middle of a block; the instructions that follow are unreachable.
    pub(super) fn stop(&mut self, point: PointId) {
        self.go_out(Way::GiveUp, point);
        let dead = self.b.create_block();
        self.b.switch_to_block(dead);
        self.b.seal_block(dead);
    }

    /// Calls a helper without disturbing any register. The caller keeps the canonical state up to date.
    pub(super) fn call_rarely(&mut self, helper: i64, arguments: [Value; 3]) {
        let helper = self.constant(helper);
        self.b.ins().store(flags(), helper, self.context, offset_of!(Context, helper) as i32);
        for (at, argument) in arguments.into_iter().enumerate() {
            let offset = offset_of!(Context, arguments) + 8 * at;
            // Repeated arguments are placeholders that the helper ignores.
            if !arguments[..at].contains(&argument) {
                self.b.ins().store(flags(), argument, self.context, offset as i32);
            }
        }
        let stub = self.constant(self.host.stub());
        self.b.ins().call_indirect(self.stub, stub, &[self.context]);
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
