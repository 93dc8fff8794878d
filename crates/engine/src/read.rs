//! Reading one plan.

use crate::{
    engine::{Engine, ProgressCallback},
    file_version::confirmed,
    filling::Filling,
    part::Part,
    run::{Call, HEAD, order},
    step::steps,
    validate_plan,
};
use forthwith_columns::Array;
use forthwith_io::{Source, Version};
use forthwith_plan::{BlockFormat, Error, ErrorKind, Framing, Plan, Result, Stored, Task};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

impl Engine {
    /// Reads a plan. `threads` overrides the engine's own number, of which no more are started than pay where all bytes are at
    /// hand.
    ///
    /// # Errors
    /// The error of the earliest failing block, with file, object, basket, entry and byte as far as known.
    pub fn read(
        &self,
        plan: &Plan,
        source: &Arc<dyn Source>,
        format: &dyn BlockFormat,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Vec<Array>> {
        let part = Part { plan, source, format };
        let threads = self.threads_for(&[part], threads);
        let call = Call { engine: self, parts: &[part], threads };
        confirmed(read(call, tick), source.as_ref()).map_err(|e| e.in_file(&plan.uri))
    }

    /// The number of threads of a call: `given`, or as many as pay.
    pub(crate) fn threads_for(&self, parts: &[Part<'_>], given: Option<usize>) -> usize {
        given.unwrap_or_else(|| self.worthwhile(parts)).max(1)
    }

    /// The threads that plans pay for: to start one takes as long as to decode some tens of kilobytes. Where bytes have to be
    /// waited for, threads wait side by side, and how long a program of a user runs is not known.
    fn worthwhile(&self, parts: &[Part<'_>]) -> usize {
        let all = self.options().threads;
        let is_local = |part: &Part<'_>| part.source.zero_copy() && !part.format.may_run_long();
        if all == 1 || !parts.iter().all(is_local) {
            return all;
        }
        // Bytes that compress well become many values.
        let weight = |plan: &Plan| {
            plan.stored_bytes().saturating_add(plan.rows().saturating_mul(plan.groups.len() as u64))
        };
        let more = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(weight(part.plan)));
        all.min(usize::try_from(more / WORTH_A_THREAD).unwrap_or(usize::MAX).saturating_add(1))
    }
}

/// Stored bytes, or values, for which another thread is started.
const WORTH_A_THREAD: u64 = 32 << 10;

/// Reads a plan. What was decoded from views of a file that changed meanwhile is read again from copies,
/// whose result or error counts.
pub(crate) fn read(call: Call<'_>, mut tick: Option<&mut ProgressCallback<'_>>) -> Result<Vec<Array>> {
    let [Part { plan, source, format }] = *call.parts else {
        return Err(Error::invalid("one plan is read at a time"));
    };
    let threads = call.threads;
    validate_plan::check(plan, format)?;
    let order = order(call.parts);
    let version = source.version()?;
    let views = version.as_ref().is_none_or(Version::is_settled);
    let viewed = AtomicBool::new(false);
    let changed = || -> Result<bool> { Ok(viewed.load(Ordering::Relaxed) && source.version()? != version) };
    let once = |steps, views: &[Option<&AtomicBool>], tick: Option<&mut ProgressCallback<'_>>| {
        let mut filling = Filling::new(plan);
        filling.run(call, tick, &order, steps, views)?;
        filling.finish(call.engine, threads)
    };
    if threads > 1 && views && source.zero_copy() && plan.chosen.is_none() {
        let steps =
            steps(call.parts, &order, |part, task| is_plain(part.plan, task, source.as_ref(), format));
        if steps.len() > order.len() {
            match once(steps, &[Some(&viewed)], tick.as_deref_mut()) {
                // Discard the error: the undivided read below repeats the blocks and reports its own.
                Err(error) if !matches!(error.kind, ErrorKind::Cancelled) => {}
                Ok(_) if changed()? => {}
                done => return done,
            }
        }
    }
    let whole = || steps(call.parts, &order, |_, _| false);
    if views && !changed()? {
        match once(whole(), &[Some(&viewed)], tick.as_deref_mut()) {
            cancelled @ Err(Error { kind: ErrorKind::Cancelled, .. }) => return cancelled,
            done if !changed()? => return done,
            _ => {}
        }
    }
    once(whole(), &[None], tick)
}

/// Whether a task's entries lie in its block as they are.
fn is_plain(plan: &Plan, task: &Task, source: &dyn Source, format: &dyn BlockFormat) -> bool {
    let Stored::Range(range) = &task.stored else { return false };
    if !source.at_hand(range) {
        return false;
    }
    let head = source.read_one(range.start..range.end.min(range.start + HEAD));
    let group = &plan.groups[task.group as usize];
    head.is_ok_and(|head| matches!(format.locate(group, task, &head), Framing::Plain(_)))
}
