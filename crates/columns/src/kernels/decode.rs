//! Decoding of fixed-width values to items.

use super::copy::copy;
use crate::{DType, Encoding};
use forthwith_kernels::{CpuFeatures, for_each_cpu};

/// Decodes the values of `from` to items in `into`.
///
/// # Errors
/// [`DecodeError::Length`] if the numbers of values and items differ; [`DecodeError::Encoding`] and
/// [`DecodeError::Truth`].
pub fn decode(wire: Encoding, from: &[u8], into: &mut [u8]) -> Result<(), DecodeError> {
    decode_at(CpuFeatures::current(), wire, from, into)
}

pub(super) fn decode_at(
    features: CpuFeatures,
    wire: Encoding,
    from: &[u8],
    into: &mut [u8],
) -> Result<(), DecodeError> {
    let items = into.len() / wire.dtype().size();
    if !into.len().is_multiple_of(wire.dtype().size()) || items.checked_mul(wire.width()) != Some(from.len())
    {
        return Err(DecodeError::Length { from: from.len(), into: into.len() });
    }
    if wire.copies() {
        copy(from, into);
        return truths(wire, into);
    }
    check(wire)?;
    run_dense(features, wire, from, into);
    Ok(())
}

/// Decodes `count` values at byte `at` of every `stride` bytes, such as one slot of a leaf list. `from` holds
/// whole strides, and `into` exactly `count` items for each.
pub fn decode_strided(
    wire: Encoding,
    from: &[u8],
    stride: usize,
    at: usize,
    count: usize,
    into: &mut [u8],
) -> Result<(), DecodeError> {
    strided_at(CpuFeatures::current(), wire, from, Slots { stride, at, count }, into)
}

pub(super) fn strided_at(
    features: CpuFeatures,
    wire: Encoding,
    from: &[u8],
    slots: Slots,
    into: &mut [u8],
) -> Result<(), DecodeError> {
    let Slots { stride, at, count } = slots;
    let refused = DecodeError::Length { from: from.len(), into: into.len() };
    let end = count.checked_mul(wire.width()).and_then(|bytes| bytes.checked_add(at)).ok_or(refused)?;
    if stride == 0 || !from.len().is_multiple_of(stride) || end > stride {
        return Err(refused);
    }
    let items = (from.len() / stride).checked_mul(count).and_then(|n| n.checked_mul(wire.dtype().size()));
    if items != Some(into.len()) {
        return Err(refused);
    }
    check(wire)?;
    if count > 0 {
        run_strided(features, wire, from, slots, into);
    }
    truths(wire, into)
}

/// Decodes entries that consist of `header` bytes and values. `bounds` are little-endian `u32` byte offsets
/// in `payload`, one more than there are entries. `into` holds exactly the items of all entries, which
/// [`offsets_from_bounds`](super::offsets_from_bounds) counts.
pub fn decode_jagged(
    wire: Encoding,
    payload: &[u8],
    bounds: &[u8],
    header: u32,
    into: &mut [u8],
) -> Result<(), DecodeError> {
    jagged_at(CpuFeatures::current(), wire, payload, bounds, header, into)
}

pub(super) fn jagged_at(
    features: CpuFeatures,
    wire: Encoding,
    payload: &[u8],
    bounds: &[u8],
    header: u32,
    into: &mut [u8],
) -> Result<(), DecodeError> {
    let room = into.len();
    let refused = DecodeError::Length { from: payload.len(), into: room };
    let (bounds, rest) = bounds.as_chunks::<4>();
    let (Some(first), Some(last), []) = (bounds.first(), bounds.last(), rest) else { return Err(refused) };
    check(wire)?;
    if header == 0 {
        // Without headers, the values of all entries are contiguous.
        let range = u32::from_le_bytes(*first) as usize..u32::from_le_bytes(*last) as usize;
        return decode_at(features, wire, payload.get(range).ok_or(refused)?, into);
    }
    match run_jagged(features, wire, payload, bounds, header as usize, into) {
        Ok(filled) if filled == room => truths(wire, into),
        Ok(_) => Err(refused),
        Err(entry) => Err(DecodeError::Entry { entry }),
    }
}

/// Reason that values could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The lengths of input and output do not match.
    #[error("{from} bytes do not decode into {into}")]
    Length {
        /// Length of the input in bytes.
        from: usize,
        /// Length of the output in bytes.
        into: usize,
    },
    /// An entry exceeds its block or the output, or ends within a value.
    #[error("entry {entry} does not lie in its block")]
    Entry {
        /// Number of the entry, counted from the first of the call.
        entry: usize,
    },
    /// Parameters of the encoding are out of range.
    #[error("{0:?} is no layout of values")]
    Encoding(Encoding),
    /// A byte of a boolean is neither 0 nor 1.
    #[error("a boolean is neither 0 nor 1")]
    Truth,
}

/// Position of values within each stride, in bytes, and their number.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    pub(super) stride: usize,
    pub(super) at: usize,
    pub(super) count: usize,
}

/// Checks that copied booleans are 0 or 1, while they are in the cache.
fn truths(wire: Encoding, items: &[u8]) -> Result<(), DecodeError> {
    if wire == Encoding::StrictBool && !are_truths(items) { Err(DecodeError::Truth) } else { Ok(()) }
}

/// Whether all bytes are 0 or 1.
pub(crate) fn are_truths(bytes: &[u8]) -> bool {
    // Without an early exit, the loop is vectorised.
    bytes.iter().fold(0, |all, byte| all | byte) <= 1
}

fn check(wire: Encoding) -> Result<(), DecodeError> {
    let sound = match wire {
        Encoding::Scaled { to, .. } => matches!(to, DType::Float32 | DType::Float64),
        // Sign, mantissa and rounding bit must fit 16 bits.
        Encoding::Truncated { bits, to } => bits <= 14 && matches!(to, DType::Float32 | DType::Float64),
        _ => true,
    };
    if sound { Ok(()) } else { Err(DecodeError::Encoding(wire)) }
}

impl Encoding {
    /// Whether the encoded bytes equal those of the column.
    #[must_use]
    pub const fn copies(self) -> bool {
        match self {
            Self::Big(DType::Bool) | Self::Little(DType::Bool) => false,
            Self::Big(dtype) => dtype.size() == 1 || cfg!(target_endian = "big"),
            Self::Little(dtype) => dtype.size() == 1 || cfg!(target_endian = "little"),
            Self::StrictBool => true,
            _ => false,
        }
    }
}

for_each_cpu! {
    fn run_dense(wire: Encoding, from: &[u8], into: &mut [u8]) = dense_body
}

for_each_cpu! {
    fn run_strided(wire: Encoding, from: &[u8], slots: Slots, into: &mut [u8]) = strided_body
}

for_each_cpu! {
    fn run_jagged(
        wire: Encoding, payload: &[u8], bounds: &[[u8; 4]], header: usize, into: &mut [u8],
    ) -> Result<usize, usize> = jagged_body
}

#[inline(always)]
fn dense_body(wire: Encoding, from: &[u8], into: &mut [u8]) {
    pick(wire, Dense { from, into });
}

#[inline(always)]
fn strided_body(wire: Encoding, from: &[u8], slots: Slots, into: &mut [u8]) {
    pick(wire, Strided { from, slots, into });
}

#[inline(always)]
fn jagged_body(
    wire: Encoding,
    payload: &[u8],
    bounds: &[[u8; 4]],
    header: usize,
    into: &mut [u8],
) -> Result<usize, usize> {
    pick(wire, Jagged { payload, bounds, header, into })
}

/// Runs `job` with the one-value function of `wire`.
#[inline(always)]
fn pick<J: Job>(wire: Encoding, job: J) -> J::Output {
    match wire {
        Encoding::Big(DType::Bool) | Encoding::Little(DType::Bool) | Encoding::Bool => {
            job.run(|value: &[u8; 1]| [u8::from(value[0] != 0)])
        }
        Encoding::Big(dtype) => match dtype.size() {
            1 => job.run(|value: &[u8; 1]| *value),
            2 => job.run(|value| u16::from_be_bytes(*value).to_ne_bytes()),
            4 => job.run(|value| u32::from_be_bytes(*value).to_ne_bytes()),
            _ => job.run(|value| u64::from_be_bytes(*value).to_ne_bytes()),
        },
        Encoding::Little(dtype) => match dtype.size() {
            1 => job.run(|value: &[u8; 1]| *value),
            2 => job.run(|value| u16::from_le_bytes(*value).to_ne_bytes()),
            4 => job.run(|value| u32::from_le_bytes(*value).to_ne_bytes()),
            _ => job.run(|value| u64::from_le_bytes(*value).to_ne_bytes()),
        },
        Encoding::StrictBool => job.run(|value: &[u8; 1]| *value),
        Encoding::Widened => job.run(|value| f64::from(f32::from_be_bytes(*value)).to_ne_bytes()),
        Encoding::Scaled { factor, min, to: DType::Float32, .. } => {
            job.run(|value| (scaled(value, factor, min) as f32).to_ne_bytes())
        }
        Encoding::Scaled { factor, min, .. } => job.run(|value| scaled(value, factor, min).to_ne_bytes()),
        Encoding::Truncated { bits, to: DType::Float32 } => {
            job.run(|value| truncated(value, bits).to_ne_bytes())
        }
        Encoding::Truncated { bits, .. } => job.run(|value| f64::from(truncated(value, bits)).to_ne_bytes()),
    }
}

#[inline(always)]
fn scaled(value: &[u8; 4], factor: f64, min: f64) -> f64 {
    f64::from(u32::from_be_bytes(*value)) / factor + min
}

/// Decodes a truncated float. The rounding bit may carry into the exponent; the sign is applied last.
#[inline(always)]
fn truncated(value: &[u8; 3], bits: u8) -> f32 {
    let bits = u32::from(bits.min(14)); // checked before; said again so that the shifts are visibly in range
    let [exponent, high, low] = *value;
    let mantissa = u32::from(u16::from_be_bytes([high, low]));
    let sign = 1 << (bits + 1);
    let magnitude = u32::from(exponent) << 23 | (mantissa & (sign - 1)) << (23 - bits);
    let negative = (mantissa & sign) << (30 - bits);
    f32::from_bits(magnitude ^ negative)
}

/// A loop that applies a function from the bytes of a value to the bytes of an item.
trait Job {
    type Output;
    fn run<const IN: usize, const OUT: usize>(self, one: impl Fn(&[u8; IN]) -> [u8; OUT]) -> Self::Output;
}

struct Dense<'a> {
    from: &'a [u8],
    into: &'a mut [u8],
}

impl Job for Dense<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const IN: usize, const OUT: usize>(self, one: impl Fn(&[u8; IN]) -> [u8; OUT]) {
        long(self.from, self.into, one);
    }
}

struct Strided<'a> {
    from: &'a [u8],
    slots: Slots,
    into: &'a mut [u8],
}

impl Job for Strided<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const IN: usize, const OUT: usize>(self, one: impl Fn(&[u8; IN]) -> [u8; OUT]) {
        let Slots { stride, at, count } = self.slots;
        let entries = self.from.chunks_exact(stride);
        if count == 1 {
            for (item, entry) in self.into.as_chunks_mut::<OUT>().0.iter_mut().zip(entries) {
                if let Some(value) = entry[at..].first_chunk() {
                    *item = one(value);
                }
            }
        } else {
            for (items, entry) in self.into.chunks_exact_mut(count * OUT).zip(entries) {
                each(&entry[at..at + count * IN], items, &one);
            }
        }
    }
}

struct Jagged<'a> {
    payload: &'a [u8],
    bounds: &'a [[u8; 4]],
    header: usize,
    into: &'a mut [u8],
}

impl Job for Jagged<'_> {
    /// Number of bytes written, or the number of the invalid entry.
    type Output = Result<usize, usize>;

    /// Short entries are decoded in whole runs of 64 bytes, past their end; the next entry overwrites the
    /// excess. A loop that stops exactly would mispredict its end once for each entry, which costs more than
    /// the decoding.
    #[inline(always)]
    fn run<const IN: usize, const OUT: usize>(
        self,
        one: impl Fn(&[u8; IN]) -> [u8; OUT],
    ) -> Result<usize, usize> {
        let Self { payload, bounds, header, into } = self;
        let run = 64 / OUT;
        let mut filled = 0;
        for (entry, (start, stop)) in bounds.iter().zip(bounds.iter().skip(1)).enumerate() {
            let from = (u32::from_le_bytes(*start) as usize).saturating_add(header);
            let stop = u32::from_le_bytes(*stop) as usize;
            if from > stop || stop > payload.len() || !(stop - from).is_multiple_of(IN) {
                return Err(entry);
            }
            let items = (stop - from) / IN;
            if items > (into.len() - filled) / OUT {
                return Err(entry);
            }
            let runs = items.div_ceil(run);
            let past = runs * run;
            if runs <= 4 && past * IN <= payload.len() - from && past * OUT <= into.len() - filled {
                let values = payload[from..from + past * IN].chunks_exact(run * IN);
                let places = into[filled..filled + past * OUT].chunks_exact_mut(run * OUT);
                for (values, places) in values.zip(places) {
                    ask_ahead(values, places);
                    each(values, places, &one);
                }
            } else {
                long(&payload[from..stop], &mut into[filled..filled + items * OUT], &one);
            }
            filled += items * OUT;
        }
        Ok(filled)
    }
}

/// Decodes values like `each`, with prefetch.
#[inline(always)]
fn long<const IN: usize, const OUT: usize>(
    from: &[u8],
    into: &mut [u8],
    one: impl Fn(&[u8; IN]) -> [u8; OUT],
) {
    let whole = into.len() / (GROUP * OUT);
    let (into, rest) = into.split_at_mut(whole * GROUP * OUT);
    let (from, left) = from.split_at(from.len().min(whole * GROUP * IN));
    for (values, items) in from.chunks_exact(GROUP * IN).zip(into.chunks_exact_mut(GROUP * OUT)) {
        ask_ahead(values, items);
        each(values, items, &one);
    }
    each(left, rest, one);
}

#[inline(always)]
fn each<const IN: usize, const OUT: usize>(
    from: &[u8],
    into: &mut [u8],
    one: impl Fn(&[u8; IN]) -> [u8; OUT],
) {
    let items = into.as_chunks_mut::<OUT>().0;
    let values = from.as_chunks::<IN>().0;
    for (item, value) in items.iter_mut().zip(values) {
        *item = one(value);
    }
}

/// Prefetches the memory that is read and written [`AHEAD`] bytes later.
#[inline(always)]
fn ask_ahead(from: &[u8], into: &[u8]) {
    for bytes in [from, into] {
        let ahead = bytes.as_ptr().wrapping_add(AHEAD);
        for line in 0..bytes.len().div_ceil(64) {
            prefetch(ahead.wrapping_add(64 * line));
        }
    }
}

/// Prefetches the cache line at an address, which may be invalid.
#[inline(always)]
fn prefetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching is a hint that is valid for any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

/// Prefetch distance in bytes. Hardware prefetchers stop at the end of a 4 KiB page and start again after it.
const AHEAD: usize = 2048;

/// Number of values between two prefetches.
const GROUP: usize = 64;
