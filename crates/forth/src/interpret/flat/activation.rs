//! Activations of flat code, and the end of a run.

use super::program::{Call, FlatCode};
use crate::state::{Activation, Height, Limits};

/// Upper bound on the registers of all activations together; a deeper recursion runs in tier 0.
pub(super) const MOST_REGISTERS: usize = 1 << 20;

/// The reason why the interpreter loop of tier 1 ended.
pub(super) enum Stop {
    /// Tier 0 continues at a point.
    At(u32),
    /// A `pause`: the state is that of a point, from which an entry continues.
    Paused { point: u32, entry: u32 },
}

/// The end of a run, with the registers of the innermost activation.
pub(super) struct Place {
    pub(super) stop: Stop,
    pub(super) window: usize,
}

/// Returns a lower bound on the number of further nested calls, of any function, that fit the limits; None if
/// not even the call of `site` does.
#[cold]
#[inline(never)]
pub(super) fn calls_left(
    flat: &FlatCode,
    activations: &[Activation],
    site: &Call,
    base: [usize; 3],
    limits: Limits,
    window: usize,
) -> Option<u32> {
    let numbers = |height: Height| [height.stack, height.frames, height.loops].map(|number| number as usize);
    let mut here = base;
    for activation in activations {
        for (sum, above) in here.iter_mut().zip(numbers(flat.calls[activation.call()].above)) {
            *sum += above;
        }
    }
    let limits = [limits.stack, limits.recursion, limits.recursion];
    let (above, height) = (numbers(site.above), numbers(site.height));
    let (step, peak) = (numbers(flat.step), numbers(flat.peak));
    let free = MOST_REGISTERS.checked_sub(window)?;
    free.checked_sub(site.caller as usize + site.registers as usize)?;
    let widest = flat.calls.iter().map(|call| call.caller.max(call.registers)).max().unwrap_or(1) as usize;
    // The innermost call has registers of its own.
    let mut calls = (free / widest.max(1)).saturating_sub(1);
    for at in 0..3 {
        limits[at].checked_sub(here[at] + above[at] + height[at])?;
        let free = limits[at].checked_sub(here[at] + peak[at]);
        calls = calls.min(free.map_or(0, |free| free / step[at].max(1)));
    }
    Some(u32::try_from(calls).unwrap_or(u32::MAX))
}
