//! Tier 1: loops recognised in the structured program run as native code.
//!
//! A pass that meets anything unexpected is undone and left to the checked tier, which repeats it from its
//! start. So the native code knows success only, and errors, their place and the state they leave are those
//! of the checked tier.
//!
//! Simple nested lists are one native loop. Other bodies are steps, run by an interpreter of their own. It
//! stays for the sake of Avro's records, which take twice as long as flat code; programs of ROOT gain nothing
//! by it (`benches/results/2026-11-22-machine-steps`).
//!
//! | file | |
//! | --- | --- |
//! | `pattern.rs`, `phrases.rs`, `matcher.rs` | which idioms a body consists of, and the step that each is |
//! | `steps.rs`, `plan.rs`, `describe.rs` | what a body does; the fastest way there is to run it |
//! | `nest.rs`, `nest_state.rs`, `entries.rs`, `flagged.rs` | lists as one native loop |
//! | `make.rs`, `ops.rs` | steps as instructions |
//! | `interpreter.rs`, `fast_path.rs`, `skip.rs`, `cursor.rs`, `lent.rs` | what runs them |
//! | `level.rs`, `levels.rs` | all of it for each generation of CPUs |

use std::cell::Cell;

mod convert;
mod cursor;
mod describe;
mod entries;
mod exec;
mod fast_path;
mod flagged;
mod interpreter;
mod lent;
mod level;
mod levels;
mod make;
mod matcher;
mod nest;
mod nest_state;
mod number;
mod ops;
mod pattern;
mod phrases;
mod plan;
mod skip;
mod steps;
#[cfg(test)]
mod tests;

use exec::Exec;
use forthwith_kernels::CpuFeatures;
use levels::Native;
use matcher::Miss;
use plan::Plan;

use crate::compile::ir::{Body, Ir, Kind};
use crate::idioms::Idioms;
use crate::output::Outputs;
use crate::state::{Height, Width};
pub(crate) use number::{unsigned, zigzag};
pub(crate) use steps::{Leaf, LeafKind};

/// The recognised loop, by the segment of the loop body.
#[derive(Debug)]
pub(crate) struct Plans {
    by_segment: Vec<Option<Plan>>,
    found: Vec<Found>,
    cpu: CpuFeatures,
}

/// A `do` loop: where it is, the segment of its body, and why it was not recognised if it was not.
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
        plans.visit(program, &program.main, &effort);
        for word in &program.words {
            plans.visit(program, &word.body, &effort);
        }
        plans
    }

    /// Looks for loops, outermost first; what is inside a recognised one needs no plan of its own.
    fn visit(&mut self, program: &Ir, body: &Body, effort: &Cell<usize>) {
        for node in &body.nodes {
            if let Kind::Do { body, step: false } = &node.kind {
                match matcher::plan(program, body, effort) {
                    Ok(plan) => {
                        self.by_segment[body.segment as usize] = Some(plan);
                        self.found.push(Found { at: node.at, body: body.segment, miss: None });
                        continue;
                    }
                    Err(miss) => {
                        self.found.push(Found { at: node.at, body: body.segment, miss: Some(miss) });
                    }
                }
            }
            for inner in node.bodies() {
                self.visit(program, inner, effort);
            }
        }
    }

    /// The room a loop needs to run natively, if it is worth it: for stack, frames and loops.
    pub(crate) fn native(&self, segment: usize, bits: u32) -> Option<Height> {
        let plan = self.by_segment.get(segment)?.as_ref()?;
        // Of 32-bit machines, what passes through the stack would have to be wrapped.
        if bits == 32 && !plan.is_entry() {
            return None;
        }
        let depth = plan.depth as u32;
        // A body holds at most three items: two of a loop, and a count, a total or the end of a frame.
        Some(Height { stack: depth * 2, frames: depth, loops: depth })
    }

    /// Every `do` loop that is not part of a recognised one.
    pub(crate) fn found(&self) -> &[Found] {
        &self.found
    }

    /// The name of the native loop for a recognised loop.
    pub(crate) fn describe(&self, segment: u32) -> String {
        self.by_segment[segment as usize].as_ref().map(Plan::describe).unwrap_or_default()
    }

    /// The idioms of all recognised loops.
    pub(crate) fn idioms(&self) -> Idioms {
        let mut all = Idioms::default();
        self.by_segment.iter().flatten().for_each(|plan| all.extend(plan.idioms));
        all
    }

    /// From how many passes on a recognised loop is worth entering.
    pub(crate) fn least(&self, body: usize) -> usize {
        self.by_segment[body].as_ref().map_or(1, Plan::least)
    }

    pub(crate) fn cpu_name(&self) -> &'static str {
        self.cpu.name()
    }
}

impl Plans {
    /// Whether a recognised loop is one native loop, and not steps.
    pub(crate) fn is_kernel(&self, body: usize) -> bool {
        self.by_segment[body].as_ref().is_some_and(Plan::is_entry)
    }

    /// Whether there are loops in its body.
    #[allow(dead_code, reason = "machine code asks, which not every build has")]
    pub(crate) fn has_loops(&self, body: usize) -> bool {
        self.by_segment[body].as_ref().is_some_and(|plan| plan.has_loops())
    }

    /// Runs up to `passes` passes of a loop; returns how many could be run.
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
        // With fewer bytes, positions and counts are the same in 32 bits.
        if W::BITS == 32 && (!plan.is_entry() || inputs[plan.data].len() > i32::MAX as usize) {
            return 0;
        }
        for &output in &plan.outputs {
            if outputs.list[output].materialise().is_err() {
                return 0;
            }
        }
        let mut exec = Exec { data: inputs[plan.data], inputs, positions, variables, outputs };
        let at = exec.positions[plan.data];
        match (&plan.entry, &plan.flagged) {
            (Some(entry), _) => {
                let (mut done, after) = self.cpu.entries(&mut exec, entry, passes, at);
                exec.positions[plan.data] = after;
                // Passes that are not for that loop, and have no other, are for the steps, a few at a time.
                while entry.to_end && done < passes && W::BITS == 64 {
                    let few = (passes - done).min(8);
                    let run = self.cpu.interpret(&mut exec, plan, few);
                    done += run;
                    if run < few {
                        break;
                    }
                    let at = exec.positions[plan.data];
                    let (run, after) = self.cpu.entries(&mut exec, entry, passes - done, at);
                    exec.positions[plan.data] = after;
                    done += run;
                }
                if let (32, Some((_, variable))) = (W::BITS, entry.header.stop) {
                    exec.variables[variable] = W::wrap(exec.variables[variable]);
                }
                done
            }
            (None, Some(flagged)) => {
                let (done, after) = self.cpu.flagged(&mut exec, flagged, passes, at);
                exec.positions[plan.data] = after;
                done
            }
            (None, None) => self.cpu.interpret(&mut exec, plan, passes),
        }
    }

    /// Converts a number of bytes of items.
    ///
    /// # Safety
    ///
    /// So many bytes may be written, and the slack of an output behind them; there are as many in `from`.
    #[inline(always)]
    pub(crate) unsafe fn convert(&self, kind: LeafKind, from: &[u8], bytes: usize, to: *mut u8) {
        // SAFETY: the caller's.
        unsafe { self.cpu.convert(kind, from, bytes, to) }
    }
}
