//! Entering and leaving machine code from a machine.

use super::enter::Ran;
use super::program::FlatCode;
use crate::compiled::Compiled;
use crate::jit::{Jit, Way};
use crate::lower::ir::{Code, PointId};
use crate::machine::Machine;
use crate::state::{Tier, Width};

impl<W: Width> Machine<W> {
    /// Returns the machine code to run, if the tier allows it and it is compiled.
    #[inline]
    pub(super) fn machine_code<'a>(&self, compiled: &'a Compiled) -> Option<&'a Jit> {
        match self.state.forced {
            Some(Tier::Compiled) => compiled.jit(self.variant()).ok(),
            Some(_) => None,
            None => compiled.jit_if_ready(self.variant()),
        }
    }

    /// Counts the bytes that a run is going to decode, which decides when to compile.
    #[inline]
    pub(crate) fn warm(&mut self, inputs: &[&[u8]]) {
        if self.state.heat == u64::MAX {
            return;
        }
        // A call has a cost of its own.
        self.state.heat += 64;
        if self.state.parked.is_none() {
            let bytes = inputs.iter().zip(&self.state.positions).map(|(input, &at)| input.len() - at);
            self.state.heat += bytes.sum::<usize>() as u64;
        }
        if self.state.heat > 1 << 14 || inputs.is_empty() {
            let settled = self.compiled.warm(self.variant(), self.state.heat);
            self.state.heat = if settled { u64::MAX } else { 0 };
        }
    }

    /// Runs machine code from an entry.
    ///
    /// # Safety
    ///
    /// The requirements of `run_flat`, and the machine code has this entry.
    pub(super) unsafe fn run_jit(
        &mut self,
        inputs: &[&[u8]],
        code: &Code,
        flat: &FlatCode,
        jit: &Jit,
        entry: usize,
    ) -> Ran {
        self.state.native = true;
        let Self { compiled, state, .. } = self;
        // SAFETY: guaranteed by the caller, who has loaded the registers of the start.
        let left = unsafe { jit.run(state, (&compiled.plans, compiled.strings()), inputs, entry) };
        let ran = if left.way == Way::Pause { Ran::Paused } else { Ran::Left };
        if left.nested {
            let records = std::mem::take(&mut self.state.records);
            for (point, registers) in Jit::activations(code, &records) {
                for (reg, value) in registers {
                    let at = reg.0 as usize;
                    if self.state.registers.len() <= at {
                        self.state.registers.resize(at + 1, 0);
                    }
                    self.state.registers[at] = value;
                }
                self.write_one(code, point, 0);
            }
            self.state.records = records;
            return ran;
        }
        if left.way == Way::Pause {
            let entry = jit.entry_behind(left.point);
            return self.pause_at(code, flat, left.point, entry);
        }
        self.write_one(code, PointId(left.point), 0);
        Ran::Left
    }
}
