//! A native loop over nested lists, with all cursors in registers.
//!
//! Short lists are copied 64 bytes at a time regardless of their length: inputs are checked to have that many
//! bytes left, outputs always have slack. A loop that counts would mispredict once per list.

use super::convert::Conversion;
use super::exec::Exec;
use super::nest_state::NestState;
use super::steps::{Count, Form, Header, Nest};
use forthwith_kernels::settled::settled;

/// A [`Form`](super::steps::Form) as a constant.
pub(super) const COUNTED: u8 = 0;
pub(super) const ENDED: u8 = 1;
pub(super) const BLOCKS: u8 = 2;

/// Upper bounds on the passes.
#[derive(Clone, Copy)]
pub(super) struct PassLimit {
    pub(super) most: usize,
    /// Position from which no pass begins.
    pub(super) stop: usize,
}

impl From<usize> for PassLimit {
    fn from(most: usize) -> Self {
        Self { most, stop: usize::MAX }
    }
}

/// Runs passes from position `at`. Returns the number of completed passes and the position after them. The
/// items of a failed pass are removed; the checked tier determines its error.
#[inline(always)]
pub(super) fn run<K: Conversion, const DEPTH: usize, const WIDE: bool, const FORM: u8>(
    exec: &mut Exec<'_>,
    nest: &Nest,
    header: Option<&Header>,
    passes: PassLimit,
    at: usize,
) -> (usize, usize) {
    let mut state = NestState::load(exec, nest, DEPTH, at);
    let none = Header::default();
    let header = header.unwrap_or(&none);
    let starts = header.start.map_or(&[][..], |start| rest_of(exec, start.input as usize));
    let stops = header.stop.map_or(&[][..], |(input, _)| rest_of(exec, input));
    let mut done = 0;
    let mut mark_at = at;
    let mut last_stop = None;
    while done < passes.most {
        mark_at = state.at;
        state.set_mark(DEPTH);
        if state.at >= passes.stop {
            break;
        }
        let mut stop = 0;
        if let Some(start) = header.start {
            let Some(bytes) = starts.get(done * 4..).and_then(|rest| rest.first_chunk::<4>()) else { break };
            let Some(position) = start.position(settled(u32::from_le_bytes(*bytes).into()) as u32, state.len)
            else {
                break;
            };
            state.at = position;
        }
        if header.stop.is_some() {
            let Some(bytes) = stops.get(done * 4..).and_then(|rest| rest.first_chunk::<4>()) else { break };
            stop = i64::from(u32::from_le_bytes(*bytes));
        }
        if let Some(bias) = header.byte_count {
            let Some(count) = state.big32() else { break };
            if i64::from(count) - bias + state.at as i64 != stop {
                break;
            }
        }
        if let Some((low, high)) = header.version {
            let Some(version) = state.big16() else { break };
            if version < low || version > high {
                break;
            }
        }
        if header.skip > state.len - state.at {
            break;
        }
        state.at += header.skip;
        // SAFETY: `load` made the cursors from the outputs of `exec`, which are only changed through `state`
        // below.
        let complete = unsafe { pass::<K, DEPTH, WIDE, FORM>(&mut state, exec, nest) };
        if !complete || (header.check_end && state.at as i64 != stop) {
            break;
        }
        last_stop = Some(stop);
        done += 1;
    }
    if done < passes.most {
        state.at = mark_at;
        state.restore_mark(DEPTH);
    }
    state.store(exec, nest, DEPTH);
    if let Some(start) = header.start {
        exec.positions[start.input as usize] += done * 4;
    }
    if let Some((input, variable)) = header.stop {
        exec.positions[input] += done * 4;
        if let Some(stop) = last_stop {
            exec.variables[variable] = stop;
        }
    }
    (done, state.at)
}

fn rest_of<'a>(exec: &Exec<'a>, input: usize) -> &'a [u8] {
    &exec.inputs[input][exec.positions[input]..]
}

#[inline(always)]
unsafe fn pass<K: Conversion, const DEPTH: usize, const WIDE: bool, const FORM: u8>(
    state: &mut NestState,
    exec: &mut Exec<'_>,
    nest: &Nest,
) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match (FORM, DEPTH) {
            (BLOCKS, 1) => blocks1::<K, WIDE>(state, exec, nest, 0),
            (BLOCKS, 2) => blocks2::<K, WIDE>(state, exec, nest, 0),
            (BLOCKS, _) => blocks3::<K, WIDE>(state, exec, nest),
            (_, 1) => lists1::<K, WIDE, FORM>(state, exec, nest, 0, 1),
            (_, 2) => list2::<K, WIDE, FORM>(state, exec, nest, 0),
            (..) => list3::<K, WIDE, FORM>(state, exec, nest),
        }
    }
}

/// Skips the byte after a list, if the form has one; whether it is in the input.
#[inline(always)]
fn end<const FORM: u8>(state: &mut NestState) -> bool {
    FORM != ENDED || state.take::<1>().is_some()
}

/// Reads a list of lists of items; false if the pass fails.
#[inline(always)]
unsafe fn list2<K: Conversion, const WIDE: bool, const FORM: u8>(
    state: &mut NestState,
    exec: &mut Exec<'_>,
    nest: &Nest,
    level: usize,
) -> bool {
    let Some(lists) = state.count(nest.count) else { return false };
    // SAFETY: guaranteed by the caller.
    let complete = unsafe {
        state.offset::<WIDE>(exec, nest, level, lists as i64)
            && lists1::<K, WIDE, FORM>(state, exec, nest, level + 1, lists)
    };
    complete && end::<FORM>(state)
}

/// Reads a list of lists of lists of items; false if the pass fails.
#[inline(always)]
unsafe fn list3<K: Conversion, const WIDE: bool, const FORM: u8>(
    state: &mut NestState,
    exec: &mut Exec<'_>,
    nest: &Nest,
) -> bool {
    let Some(lists) = state.count(nest.count) else { return false };
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !state.offset::<WIDE>(exec, nest, 0, lists as i64) {
            return false;
        }
        for _ in 0..lists {
            if !list2::<K, WIDE, FORM>(state, exec, nest, 1) {
                return false;
            }
        }
    }
    end::<FORM>(state)
}

/// Reads consecutive lists of items: as many as possible without a check for each, the others one by one.
#[inline(always)]
unsafe fn lists1<K: Conversion, const WIDE: bool, const FORM: u8>(
    state: &mut NestState,
    exec: &mut Exec<'_>,
    nest: &Nest,
    level: usize,
    lists: u32,
) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let done = match nest.inner {
            Count::Big32 => {
                state.lists::<K, WIDE>(nest, level, lists, FORM == ENDED, NestState::big32_unchecked)
            }
            Count::ZigZag => {
                state.lists::<K, WIDE>(nest, level, lists, FORM == ENDED, NestState::zigzag_unchecked)
            }
            _ => 0,
        };
        for _ in done..lists {
            let Some(items) = state.count(nest.inner) else { return false };
            let list = state.offset::<WIDE>(exec, nest, level, items as i64)
                && state.items::<K>(exec, nest, items)
                && end::<FORM>(state);
            if !list {
                return false;
            }
        }
    }
    true
}

macro_rules! outer_blocks {
    ($blocks:ident, $($level:ident)?, $at:expr, $inner:ident, $next:expr) => {
        #[inline(always)]
        unsafe fn $blocks<K: Conversion, const WIDE: bool>(
            state: &mut NestState,
            exec: &mut Exec<'_>,
            nest: &Nest,
            $($level: usize,)?
        ) -> bool {
            let mut total = 0_i64;
            loop {
                let Some(count) = state.zigzag() else { return false };
                if count == 0 {
                    break;
                }
                let (items, end) = match count {
                    1..0x8000_0000 => (count as u32, 0),
                    _ => match state.sized(count, nest.form == Form::Blocks { ends: true }) {
                        Some(sized) => sized,
                        None => return false,
                    },
                };
                for _ in 0..items {
                    // SAFETY: guaranteed by the caller.
                    if !unsafe { $inner::<K, WIDE>(state, exec, nest, $next) } {
                        return false;
                    }
                }
                if end != 0 && state.at != end {
                    return false;
                }
                total = total.wrapping_add(items as i64);
            }
            // SAFETY: guaranteed by the caller.
            unsafe { state.offset::<WIDE>(exec, nest, $at, total) }
        }
    };
}

outer_blocks!(blocks2, level, level, blocks1, level + 1);
outer_blocks!(blocks3, , 0, blocks2, 1);

#[inline(always)]
unsafe fn blocks1<K: Conversion, const WIDE: bool>(
    state: &mut NestState,
    exec: &mut Exec<'_>,
    nest: &Nest,
    level: usize,
) -> bool {
    let mut total = 0_i64;
    loop {
        let Some(count) = state.zigzag() else { return false };
        if count <= 0 {
            if count == 0 {
                break;
            }
            // SAFETY: guaranteed by the caller.
            let items = unsafe {
                state.sized_items::<K>(exec, nest, count, nest.form == Form::Blocks { ends: true })
            };
            let Some(items) = items else { return false };
            total += i64::from(items);
            continue;
        }
        if count >= 1 << 31 {
            return false;
        }
        // SAFETY: guaranteed by the caller.
        if !unsafe { state.items::<K>(exec, nest, count as u32) } {
            return false;
        }
        total += count;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { state.offset::<WIDE>(exec, nest, level, total) }
}
