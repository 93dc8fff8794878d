//! Packed unsigned integers appended to outputs.

use crate::DType;
use crate::output::Output;
#[cfg(target_arch = "x86_64")]
use forthwith_kernels::Generation;
use forthwith_kernels::hybrid::unpack;
use forthwith_kernels::{CpuFeatures, compiled_for};

/// Appends `items` packed items, which the source contains and the output has space for; `false` if the
/// output's dtype is not an integer.
pub(crate) fn unpack_into(source: &[u8], output: &mut Output, items: usize, bits: u32) -> bool {
    macro_rules! level {
        ($generation:ident) => {{
            compiled_for! { $generation fn level(source: &[u8], output: &mut Output, items: usize, bits: u32) -> bool {
                // SAFETY: the end is within the memory, and the caller reserved space after it.
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
            // SAFETY: the processor has the features that `CpuFeatures` states.
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
