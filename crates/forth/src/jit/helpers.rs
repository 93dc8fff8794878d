//! Rust functions that machine code calls: rare cases and long runs. A helper has its whole effect or none.

use std::cell::RefCell;

use super::context::Context;
use crate::DType;
use crate::interpret::flat::items;
use crate::interpret::{first_of, to_stack, varint};
use crate::isa::Read;
use crate::number::Number;
use crate::state::{State, W32, W64, Width};

type Helper = unsafe extern "C" fn(*mut Context, i64, i64, i64);

/// Addresses of helpers for machines of one width, as constants for machine code.
pub(super) struct Helpers {
    pub(super) varint: i64,
    pub(super) number: i64,
    pub(super) many: i64,
    pub(super) reserve: i64,
    pub(super) fill: i64,
    pub(super) convert: i64,
    pub(super) enumeration: i64,
    pub(super) skip_space: i64,
    pub(super) native: i64,
    /// Parsers that machine code points to; boxed, so that their addresses are stable.
    #[expect(clippy::vec_box, reason = "the addresses must stay")]
    reads: RefCell<Vec<Box<Read>>>,
}

impl Helpers {
    pub(super) fn new(bits: u32) -> Self {
        if bits == 64 { Self::of::<W64>() } else { Self::of::<W32>() }
    }

    fn of<W: Width>() -> Self {
        let address = |helper: Helper| helper as usize as i64;
        Self {
            varint: address(long_varint),
            number: address(number::<W>),
            many: address(many),
            reserve: address(reserve),
            fill: address(fill),
            convert: address(convert),
            enumeration: address(enumeration),
            skip_space: address(skip_space),
            native: address(native::<W>),
            reads: RefCell::default(),
        }
    }

    /// Stores a parser, and returns its address.
    pub(super) fn read(&self, read: Read) -> i64 {
        let read = Box::new(read);
        let address = std::ptr::from_ref(&*read) as i64;
        self.reads.borrow_mut().push(read);
        address
    }

    #[expect(clippy::vec_box, reason = "the addresses must stay")]
    pub(super) fn into_reads(self) -> Vec<Box<Read>> {
        self.reads.into_inner()
    }
}

/// Returns the state of the machine and its inputs.
///
/// # Safety
///
/// The context was filled by `Jit::run`, and machine code is waiting for the helper.
unsafe fn parts<'a>(context: *mut Context) -> (&'a mut State, &'a [&'a [u8]]) {
    // SAFETY: guaranteed by the caller; machine code, which also writes to the state, does not run now.
    unsafe {
        let context = &*context;
        (&mut *context.state, std::slice::from_raw_parts(context.slices, context.slice_count))
    }
}

/// Runs a helper's work, and returns 1 if it succeeded, else 0. Memory of the caller may panic, which must
/// not unwind through machine code: tier 0 then repeats the word, and panics outside of it.
fn attempt(work: impl FnOnce() -> bool) -> i64 {
    i64::from(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(false))
}

/// Decodes a number of any length from an address before an end, and stores it with the address after it.
unsafe extern "C" fn long_varint(context: *mut Context, next: i64, end: i64, _: i64) {
    let start = next as usize as *const u8;
    // SAFETY: machine code has compared the addresses, and both lie in the input.
    let input = unsafe { std::slice::from_raw_parts(start, (end - next) as usize) };
    let (value, after) = varint(input, 0);
    // SAFETY: machine code passes its context.
    let context = unsafe { &mut *context };
    context.done = i64::from(value.is_ok());
    context.found = [value.unwrap_or(0) as i64, next + after as i64];
}

/// Reads one item of any parser for the stack.
unsafe extern "C" fn number<W: Width>(context: *mut Context, read: i64, _: i64, _: i64) {
    // SAFETY: machine code passes its context, and the address of a parser that is kept with the code.
    let ((state, inputs), read) = unsafe { (parts(context), *(read as usize as *const Read)) };
    let input = read.input as usize;
    let one = items::one(read, inputs[input], state.positions[input]);
    if let Some((_, after)) = one {
        state.positions[input] = after;
    }
    let found = one.map_or(0, |(number, _)| to_stack::<W>(number));
    // SAFETY: the context is not borrowed any more.
    unsafe { ((*context).done, (*context).found[0]) = (i64::from(one.is_some()), found) };
}

/// Reads items of any parser into an output.
unsafe extern "C" fn many(context: *mut Context, read: i64, count: i64, _: i64) {
    // SAFETY: machine code passes its context, and the address of a parser that is kept with the code.
    let ((state, inputs), read) = unsafe { (parts(context), *(read as usize as *const Read)) };
    let input = read.input as usize;
    let count = u64::try_from(count).unwrap_or(0);
    let done = attempt(|| {
        let after = items::many(read, inputs[input], state.positions[input], count, &mut state.outputs);
        after.map(|after| state.positions[input] = after).is_some()
    });
    // SAFETY: the context is not borrowed any more.
    unsafe { (*context).done = done };
}

/// Reserves bytes in an output.
unsafe extern "C" fn reserve(context: *mut Context, output: i64, bytes: i64, _: i64) {
    // SAFETY: machine code passes its context.
    let (state, _) = unsafe { parts(context) };
    let done = attempt(|| state.outputs.reserve(output as usize, bytes as usize).is_ok());
    // SAFETY: the context is not borrowed any more.
    unsafe { (*context).done = done };
}

/// Appends the last item of an output a number of times.
unsafe extern "C" fn fill(context: *mut Context, output: i64, times: i64, _: i64) {
    // SAFETY: machine code passes its context.
    let (state, _) = unsafe { parts(context) };
    let done = attempt(|| {
        let (index, times) = (output as usize, usize::try_from(times).unwrap_or(0));
        let size = state.outputs.list[index].dtype().size();
        let Some(bytes) = times.checked_mul(size) else { return false };
        if state.outputs.reserve(index, bytes).is_err() {
            return false;
        }
        state.outputs.list[index].append_last(times);
        true
    });
    // SAFETY: the context is not borrowed any more.
    unsafe { (*context).done = done };
}

/// Converts a float to an integer type.
unsafe extern "C" fn convert(context: *mut Context, bits: i64, dtype: i64, _: i64) {
    let dtype = DType::ALL[dtype as usize];
    let item = Number::Double(f64::from_bits(bits as u64)).to_item(dtype);
    // SAFETY: machine code passes its context.
    unsafe { (*context).found[0] = i64::from_le_bytes(item) };
}

/// Matches strings at the position of an input: stores the index of the first match, or -1.
unsafe extern "C" fn enumeration(context: *mut Context, input: i64, first: i64, end: i64) {
    // SAFETY: machine code passes its context.
    let (state, inputs) = unsafe { parts(context) };
    let input = input as usize;
    // SAFETY: the program outlives the run.
    let strings = unsafe { &(&*(*context).strings)[first as usize..end as usize] };
    let found = first_of(strings, inputs[input], state.positions[input]);
    if let Some((_, after)) = found {
        state.positions[input] = after;
    }
    // SAFETY: the context is not borrowed any more.
    unsafe { (*context).found[0] = found.map_or(-1, |(number, _)| number) };
}

unsafe extern "C" fn skip_space(context: *mut Context, input: i64, _: i64, _: i64) {
    // SAFETY: machine code passes its context.
    let (state, inputs) = unsafe { parts(context) };
    let input = input as usize;
    state.positions[input] = items::skip_space(inputs[input], state.positions[input]);
}

/// Runs passes of a recognised loop, and stores the index reached.
unsafe extern "C" fn native<W: Width>(context: *mut Context, body: i64, index: i64, stop: i64) {
    // SAFETY: machine code passes its context.
    let (state, inputs) = unsafe { parts(context) };
    let passes = usize::try_from(stop.wrapping_sub(index)).unwrap_or(usize::MAX).min(state.most_passes());
    let mut after = index;
    // SAFETY: the program outlives the run.
    let plans = unsafe { &*(*context).plans };
    attempt(|| {
        let State { positions, variables, outputs, .. } = state;
        let done = plans.run::<W>(body as usize, passes, inputs, positions, variables, outputs);
        after = index.wrapping_add(done as i64);
        true
    });
    // SAFETY: the context is not borrowed any more.
    unsafe { (*context).found[0] = after };
}
