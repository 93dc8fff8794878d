//! Values that stay in registers between instructions: cursors of inputs, and variables.

use std::collections::HashMap;

use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::translate::{Cursor, Form, Translator, flags};
use crate::lower::ir::Inst;

/// Maximum number of inputs and of variables that are kept in registers.
const CURSORS: usize = 2;
const KEPT: usize = 4;

impl Translator<'_, '_> {
    /// Assigns registers to the inputs that are read most, and to variables.
    pub(super) fn promote(&mut self, reached: &[bool]) {
        // A function that is called often would load and store them each time.
        if self.form == Form::Called {
            return;
        }
        let (mut inputs, mut variables) = (HashMap::new(), HashMap::new());
        for (block, _) in self.function.blocks.iter().zip(reached).filter(|(_, reached)| **reached) {
            let weight = 1_u64 << (3 * block.depth.min(12));
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
        // Variables that are used once and not in a loop stay in memory.
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

    /// Returns the address of the next byte of an input, and that of its end.
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

    /// Writes the canonical state before other code reads it.
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

    /// Writes the positions to the canonical state, for helpers that read inputs.
    pub(super) fn flush_positions(&mut self) {
        for (input, cursor) in sorted(&self.cursors) {
            let next = self.b.use_var(cursor.next);
            self.store_position(input, next);
        }
    }

    /// Reloads the positions, which helpers that read inputs may have changed.
    pub(super) fn reload_positions(&mut self) {
        for (input, cursor) in sorted(&self.cursors) {
            let (next, _) = self.load_cursor(input);
            self.b.def_var(cursor.next, next);
        }
    }

    /// Reloads the positions and variables, which other code may have changed.
    pub(super) fn reload(&mut self) {
        self.reload_positions();
        for (variable, kept) in sorted(&self.kept) {
            let value = self.load_variable(variable);
            self.b.def_var(kept, value);
        }
    }
}

/// Returns the entries of a map in order of their keys, so that code is reproducible.
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

/// Returns the input whose cursor an instruction uses.
fn input_of(inst: &Inst) -> Option<u32> {
    match inst {
        Inst::Position { input, .. }
        | Inst::AtEnd { input, .. }
        | Inst::Peek { input, .. }
        | Inst::Seek { input, .. }
        | Inst::Skip { input, .. }
        | Inst::Require { input, .. } => Some(*input),
        Inst::ReadStack { read, .. }
        | Inst::Pass { read, .. }
        | Inst::ReadItem { read, .. }
        | Inst::ReadMany { read, .. } => Some(read.input),
        _ => None,
    }
}
