//! Native loops: loops that are recognised in the structured program.
//!
//! A pass that meets anything unexpected is undone and left to the checked tier, which repeats it from its
//! start. So the native code has no error paths, and errors, their location and the state after them are
//! those of the checked tier.
//!
//! Simple nested lists are one native loop. Other bodies are flat code, whose fast path is compiled for each
//! generation of CPUs as native loops are (`benches/results/2026-11-28-machine-steps`).
//!
//! | file | |
//! | --- | --- |
//! | `pattern.rs`, `phrases.rs`, `matcher.rs` | the idioms that a body consists of, and the step of each |
//! | `steps.rs`, `plan.rs`, `describe.rs` | the effect of a body; whether it is one native loop |
//! | `nest.rs`, `nest_state.rs`, `entries.rs`, `flagged.rs` | lists as one native loop |
//! | `level.rs`, `levels.rs` | native code for each generation of CPUs |

use std::cell::Cell;

pub(super) mod convert;
mod describe;
mod entries;
mod exec;
mod flagged;
mod level;
mod levels;
mod matcher;
mod nest;
mod nest_state;
mod number;
mod pattern;
mod phrases;
mod plan;
mod steps;
#[cfg(test)]
mod tests;

use exec::Exec;
use forthwith_kernels::CpuFeatures;
use levels::Native;
use matcher::Miss;
use plan::{Entry, Plan};

use crate::compile::ir::{Body, Ir, Kind};
use crate::idioms::Idioms;
use crate::interpret::flat::code::{Fast, Slot};
use crate::interpret::flat::fast_path::Fields;
use crate::output::Outputs;
use crate::state::{Height, Width};
pub(crate) use number::{short, unsigned, zigzag};
use steps::Header;
pub(crate) use steps::{Leaf, LeafKind};

/// Recognised loops, by the segment of the loop body.
#[derive(Debug)]
pub(crate) struct Plans {
    by_segment: Vec<Option<Plan>>,
    found: Vec<Found>,
    cpu: CpuFeatures,
}

/// A `do` loop: its source offset, the segment of its body, and the reason if it was not recognised.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) at: u32,
    pub(crate) body: u32,
    pub(crate) miss: Option<Miss>,
}

impl Plans {
    pub(crate) fn new(program: &Ir) -> Self {
        let by_segment = (0..program.segments).map(|_| None).collect();
        let mut plans = Self { by_segment, found: Vec::new(), cpu: CpuFeatures::current() };
        let effort = matcher::effort();
        plans.visit(program, &program.main, &effort, false);
        for word in &program.words {
            plans.visit(program, &word.body, &effort, false);
        }
        plans
    }

    /// Matches loops, outermost first; loops inside a native one need no plan of their own.
    fn visit(&mut self, program: &Ir, body: &Body, effort: &Cell<usize>, recognised: bool) {
        for node in &body.nodes {
            let mut inside = recognised;
            if let Kind::Do { body, step: false } = &node.kind {
                let plan = matcher::plan(program, body, effort);
                let native = plan.as_ref().is_ok_and(Plan::is_native);
                inside |= plan.is_ok();
                if native || !recognised {
                    let miss = match plan {
                        Ok(plan) => {
                            self.by_segment[body.segment as usize] = Some(plan);
                            None
                        }
                        Err(miss) => Some(miss),
                    };
                    self.found.push(Found { at: node.at, body: body.segment, miss });
                }
                if native {
                    continue;
                }
            }
            for inner in node.bodies() {
                self.visit(program, inner, effort, inside);
            }
        }
    }

    /// Returns the heights of stack, frames and loops that a loop needs below the limits to run natively;
    /// None if it does not.
    pub(crate) fn native(&self, segment: usize) -> Option<Height> {
        let plan = self.by_segment.get(segment)?.as_ref().filter(|plan| plan.is_native())?;
        let depth = plan.depth as u32;
        // A body holds at most three items: two of a loop, and a count, a total or the end of a frame.
        Some(Height { stack: depth * 2, frames: depth, loops: depth })
    }

    /// Returns every `do` loop that is native, or that is not part of a recognised one.
    pub(crate) fn found(&self) -> &[Found] {
        &self.found
    }

    /// Returns the description of a recognised loop; empty for other loops.
    pub(crate) fn describe(&self, segment: u32) -> String {
        self.by_segment[segment as usize].as_ref().map(Plan::describe).unwrap_or_default()
    }

    /// Returns the idioms of all recognised loops.
    pub(crate) fn idioms(&self) -> Idioms {
        let mut all = Idioms::default();
        self.by_segment.iter().flatten().for_each(|plan| all.extend(plan.idioms));
        all
    }

    pub(crate) fn cpu_name(&self) -> &'static str {
        self.cpu.name()
    }
}

impl Plans {
    /// Whether the body of a loop consists of idioms.
    pub(crate) fn is_recognised(&self, body: usize) -> bool {
        self.by_segment[body].is_some()
    }

    /// Whether a loop is one native loop.
    pub(crate) fn is_native(&self, body: usize) -> bool {
        self.by_segment[body].as_ref().is_some_and(Plan::is_native)
    }

    /// Whether the body of a loop contains loops.
    #[allow(dead_code, reason = "machine code asks, which not every build has")]
    pub(crate) fn has_loops(&self, body: usize) -> bool {
        self.by_segment[body].as_ref().is_some_and(|plan| plan.has_loops())
    }

    /// Runs up to `passes` passes of a loop, and returns the number completed.
    pub(crate) fn run<W: Width>(
        &self,
        body: usize,
        passes: usize,
        inputs: &[&[u8]],
        positions: &mut [usize],
        variables: &mut [i64],
        outputs: &mut Outputs,
    ) -> usize {
        let Some(plan) = &self.by_segment[body] else { return 0 };
        // In shorter inputs, positions and counts are equal in 32 and 64 bits.
        if W::BITS == 32 && inputs[plan.data].len() > i32::MAX as usize {
            return 0;
        }
        for output in plan.outputs() {
            if outputs.list[output].materialise().is_err() {
                return 0;
            }
        }
        let mut exec = Exec { data: inputs[plan.data], inputs, positions, variables, outputs };
        let at = exec.positions[plan.data];
        let (done, after) = match (&plan.entry, &plan.flagged) {
            (Some(entry), _) => self.cpu.entries(&mut exec, entry, passes, at),
            (None, Some(flagged)) => self.cpu.flagged(&mut exec, flagged, passes, at),
            (None, None) => return 0,
        };
        exec.positions[plan.data] = after;
        if let Some(Entry { header: Header { stop: Some((_, variable)), .. }, .. }) = plan.entry
            && W::BITS == 32
        {
            exec.variables[variable] = W::wrap(exec.variables[variable]);
        }
        done
    }

    /// Runs flat code up to the first instruction that the fast path cannot execute.
    ///
    /// # Safety
    ///
    /// The requirements of `flat::fast_path::run`.
    #[inline(always)]
    pub(super) unsafe fn fast_path<W: Width>(
        &self,
        ip: *const Fast,
        input: Slot,
        fields: *const Fields<'_>,
    ) -> *const Fast {
        // SAFETY: guaranteed by the caller.
        unsafe { self.cpu.flat::<W>(ip, input, fields) }
    }

    /// Converts `bytes` bytes of items.
    ///
    /// # Safety
    ///
    /// At `to`, `bytes` bytes and the slack of an output are writable; `from` has at least `bytes` bytes.
    #[inline(always)]
    pub(crate) unsafe fn convert(&self, kind: LeafKind, from: &[u8], bytes: usize, to: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.cpu.convert(kind, from, bytes, to) }
    }
}
