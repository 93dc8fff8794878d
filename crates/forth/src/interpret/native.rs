//! Native execution of recognised loops in the checked tier.

use crate::machine::Machine;
use crate::state::Width;

impl<W: Width> Machine<W> {
    /// Runs as many passes of the innermost `do` loop as the native code can, and advances its index by them.
    pub(super) fn run_plan(&mut self, body: usize, inputs: &[&[u8]]) {
        let (plans, state) = (&self.compiled.plans, &mut self.state);
        let Some(room) = plans.native(body) else { return };
        // Near a limit, the checked tier decides whether it is exceeded.
        let near = |used: usize, more: u32, limit: usize| used.saturating_add(more as usize) > limit;
        if near(state.frames.len(), room.frames, state.limits.recursion)
            || near(state.loops.len(), room.loops, state.limits.recursion)
            || near(state.stack.len(), room.stack, state.limits.stack)
        {
            return;
        }
        let most = state.most_passes();
        let Some(top) = state.loops.last_mut() else { return };
        let passes = usize::try_from(top.stop.wrapping_sub(top.index)).unwrap_or(usize::MAX).min(most);
        let done = plans.run::<W>(
            body,
            passes,
            inputs,
            &mut state.positions,
            &mut state.variables,
            &mut state.outputs,
        );
        top.index += done as i64;
        state.native |= done > 0;
    }
}
