//! The hybrid of run-length and bit-packed runs, appended to outputs.

use crate::DType;
use crate::error::RunError;
use crate::interpret::fused::unsigned;
use crate::interpret::varint;
use crate::output::{Output, Outputs};
#[cfg(target_arch = "x86_64")]
use forthwith_kernels::Generation;
use forthwith_kernels::hybrid::{Item, fill, repeated, short_runs, unpack};
use forthwith_kernels::{CpuFeatures, compiled_for};

/// Appends `count` values and moves the position behind the last run begun. After an error the position is at
/// the head of the run that failed, and the values of earlier runs stay.
pub(super) fn decode(
    outputs: &mut Outputs,
    index: usize,
    input: &[u8],
    at: &mut usize,
    bits: u32,
    count: u64,
) -> Result<(), RunError> {
    macro_rules! level {
        ($generation:ident) => {{
            compiled_for! {
                $generation
                fn level(
                    outputs: &mut Outputs,
                    index: usize,
                    input: &[u8],
                    at: &mut usize,
                    bits: u32,
                    count: u64,
                ) -> Result<(), RunError> {
                    match outputs.list[index].dtype().size() {
                        1 => runs::<u8>(outputs, index, input, at, bits, count),
                        2 => runs::<u16>(outputs, index, input, at, bits, count),
                        4 => runs::<u32>(outputs, index, input, at, bits, count),
                        _ => runs::<u64>(outputs, index, input, at, bits, count),
                    }
                }
            }
            // SAFETY: the processor has what its features say.
            #[allow(unused_unsafe, reason = "the baseline has no features")]
            unsafe {
                level(outputs, index, input, at, bits, count)
            }
        }};
    }
    match CpuFeatures::current().generation() {
        #[cfg(target_arch = "x86_64")]
        Generation::Avx2 | Generation::Avx512 => level!(Avx2),
        _ => level!(Baseline),
    }
}

/// Appends `items` packed items, which are there and for which room was made. False: not to an output of this
/// dtype.
pub(crate) fn unpack_into(source: &[u8], output: &mut Output, items: usize, bits: u32) -> bool {
    macro_rules! level {
        ($generation:ident) => {{
            compiled_for! { $generation fn level(source: &[u8], output: &mut Output, items: usize, bits: u32) -> bool {
                // SAFETY: the end is within the memory, and the caller made room there.
                unsafe {
                    let to = output.start.add(output.end);
                    match output.dtype() {
                        DType::Int8 | DType::UInt8 => unpack(source, to, items, bits),
                        DType::Int16 | DType::UInt16 => unpack(source, to.cast::<u16>(), items, bits),
                        DType::Int32 | DType::UInt32 => unpack(source, to.cast::<u32>(), items, bits),
                        DType::Int64 | DType::UInt64 => unpack(source, to.cast::<u64>(), items, bits),
                        DType::Bool | DType::Float32 | DType::Float64 => return false,
                    }
                }
                output.end += items * output.dtype().size();
                true
            } }
            // SAFETY: the processor has what its features say.
            #[allow(unused_unsafe, reason = "the baseline has no features")]
            unsafe { level(source, output, items, bits) }
        }};
    }
    match CpuFeatures::current().generation() {
        #[cfg(target_arch = "x86_64")]
        Generation::Avx2 | Generation::Avx512 => level!(Avx2),
        _ => level!(Baseline),
    }
}

#[inline(always)]
fn runs<T: Item>(
    outputs: &mut Outputs,
    index: usize,
    input: &[u8],
    at: &mut usize,
    bits: u32,
    mut left: u64,
) -> Result<(), RunError> {
    let size = size_of::<T>();
    while left > 0 {
        if bits > 0 && bits <= 8 {
            let output = &mut outputs.list[index];
            // SAFETY: the end is within the memory, and so is the room.
            let (to, room) = unsafe { (output.start.add(output.end), output.room - output.end) };
            // SAFETY: there is that much room.
            let (items, after) = unsafe { short_runs(input, *at, to.cast::<T>(), room / size, left, bits) };
            (*at, left) = (after, left - items as u64);
            output.end += items * size;
            if left == 0 {
                break;
            }
        }
        let (header, after) = match unsigned(input, *at) {
            Some(found) => found,
            // Which of the errors it is.
            None => {
                let (header, after) = varint(input, *at);
                (header?, after)
            }
        };
        let rest = &input[after..];
        let packed = header & 1 == 1;
        let length = if packed { (header >> 1).saturating_mul(8) } else { header >> 1 };
        let take = length.min(left);
        // A count that is too large for this is too large for any input.
        let stored = if packed { take.saturating_mul(u64::from(bits)) } else { u64::from(bits) };
        // Some writers cut the last packed run after the last byte that is needed.
        if stored.div_ceil(8) > rest.len() as u64 {
            return Err(RunError::ReadBeyond);
        }
        let items = usize::try_from(take).map_err(|_| RunError::OutOfMemory)?;
        let bytes = items.checked_mul(size).ok_or(RunError::OutOfMemory)?;
        if items > 0 {
            outputs.reserve(index, bytes)?;
            let output = &mut outputs.list[index];
            // SAFETY: the end is within the memory, and room for these items was just made there.
            unsafe {
                let to = output.start.add(output.end).cast::<T>();
                if packed {
                    unpack(rest, to, items, bits);
                } else {
                    fill(to, T::cut(repeated(rest, bits)), items);
                }
            }
            output.end += bytes;
        }
        *at = after
            + if packed {
                let whole = (header >> 1).saturating_mul(u64::from(bits));
                usize::try_from(whole).unwrap_or(usize::MAX).min(rest.len())
            } else {
                bits.div_ceil(8) as usize
            };
        left -= take;
    }
    Ok(())
}
