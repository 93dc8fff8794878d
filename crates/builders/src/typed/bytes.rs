//! The outputs of a builder that carries its steps out itself.

use super::direct::{Done, Failure, integer, refuse_if, word};
use super::step::{OutputSpec, Refusal};
use forthwith_forth::DType;

/// An output: items in native order.
pub(crate) struct Bytes {
    dtype: DType,
    /// Whether there is a zero before everything.
    offsets: bool,
    bytes: Vec<u8>,
}

/// Bytes that are copied as blocks.
pub(super) const SHORT: usize = 32;
/// Memory of an output that is kept for what comes after it was cleared.
const MOST_KEPT: usize = 1 << 20;

impl Bytes {
    pub(super) fn new(spec: &OutputSpec) -> Self {
        let mut new = Self { dtype: spec.dtype, offsets: spec.offsets, bytes: Vec::new() };
        new.clear();
        new
    }

    pub(super) fn clear(&mut self) {
        if self.bytes.capacity() > MOST_KEPT {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        self.bytes.resize(if self.offsets { self.dtype.size() } else { 0 }, 0);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / self.dtype.size()
    }

    pub(super) fn truncate(&mut self, items: usize) {
        self.bytes.truncate(items * self.dtype.size());
    }

    /// Whether this number of bytes can be appended without more memory.
    #[inline(always)]
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.bytes.capacity() - self.bytes.len() >= bytes
    }

    /// Appends what there is room for; otherwise nothing.
    #[inline(always)]
    pub(super) fn put(&mut self, bytes: &[u8]) {
        if self.has_room(bytes.len()) {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Appends at most [`SHORT`] bytes where there is room for as many, as blocks: a call would cost more than all the rest.
    #[inline(always)]
    pub(super) fn put_short(&mut self, bytes: &[u8]) {
        let after = self.bytes.len() + bytes.len();
        match (bytes.first_chunk::<16>(), bytes.last_chunk::<16>()) {
            (Some(first), Some(last)) => {
                self.put(first);
                self.bytes.truncate(after - 16);
                self.put(last);
            }
            _ => {
                self.put(&block(bytes));
                self.bytes.truncate(after);
            }
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, bytes: &[u8]) -> Done {
        if bytes.len() > SHORT || !self.has_room(SHORT) {
            return self.push_long(bytes);
        }
        self.put_short(bytes);
        Ok(())
    }

    #[inline(never)]
    fn push_long(&mut self, bytes: &[u8]) -> Done {
        if !self.has_room(bytes.len()) {
            self.reserve(bytes.len())?;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn word(&mut self, bytes: [u8; 8]) -> Done {
        self.items(bytes)
    }

    /// Appends a few bytes of a number that is known.
    #[inline(always)]
    fn items<const N: usize>(&mut self, bytes: [u8; N]) -> Done {
        if !self.has_room(N) {
            return self.push_long(&bytes);
        }
        self.bytes.extend_from_slice(&bytes);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn reserve(&mut self, more: usize) -> Done {
        self.bytes.try_reserve(more.max(1024)).map_err(|_| Failure::OutOfMemory)
    }

    /// Appends an integer, cut to the type.
    #[inline(always)]
    pub(super) fn integer(&mut self, value: i64) -> Done {
        match self.dtype {
            DType::Int64 | DType::UInt64 => self.items(value.to_ne_bytes()),
            DType::Int32 | DType::UInt32 => self.items((value as i32).to_ne_bytes()),
            DType::Int16 | DType::UInt16 => self.items((value as i16).to_ne_bytes()),
            DType::Int8 | DType::UInt8 => self.items((value as i8).to_ne_bytes()),
            DType::Bool => self.items([u8::from(value != 0)]),
            DType::Float64 => self.items((value as f64).to_ne_bytes()),
            DType::Float32 => self.items((value as f32).to_ne_bytes()),
        }
    }

    /// Appends an integer if it fits the type.
    #[inline(always)]
    pub(super) fn whole(&mut self, value: i64) -> Done {
        let fits = match self.dtype {
            DType::Int32 => i32::try_from(value).is_ok(),
            DType::Int16 => i16::try_from(value).is_ok(),
            DType::Int8 => i8::try_from(value).is_ok(),
            DType::UInt64 => value >= 0,
            DType::UInt32 => u32::try_from(value).is_ok(),
            DType::UInt16 => u16::try_from(value).is_ok(),
            DType::UInt8 => u8::try_from(value).is_ok(),
            _ => true,
        };
        refuse_if(!fits, Refusal::Range)?;
        self.integer(value)
    }

    /// The last of int64 items.
    #[inline(always)]
    pub(super) fn last_word(&self) -> i64 {
        self.bytes.last_chunk().map_or(0, |last| i64::from_ne_bytes(*last))
    }

    /// Appends the last of int64 items plus something.
    #[inline(always)]
    pub(super) fn add_word(&mut self, value: i64) -> Done {
        self.word(self.last_word().wrapping_add(value).to_ne_bytes())
    }

    /// Appends the last item plus something.
    #[inline(always)]
    pub(super) fn add(&mut self, value: i64) -> Done {
        let last = match self.dtype {
            DType::Int32 => self.bytes.last_chunk().map_or(0, |last| i32::from_ne_bytes(*last).into()),
            DType::UInt32 => self.bytes.last_chunk().map_or(0, |last| u32::from_ne_bytes(*last).into()),
            _ => self.bytes.last_chunk().map_or(0, |last| i64::from_ne_bytes(*last)),
        };
        self.integer(last.wrapping_add(value))
    }

    /// Appends what a parser reads from eight bytes.
    #[inline(always)]
    pub(super) fn scalar(&mut self, parser: char, data: &[u8]) -> Done {
        match (parser, self.dtype) {
            ('q', DType::Int64) | ('Q', DType::UInt64) | ('d', DType::Float64) => self.word(word(data)),
            ('q', _) => self.integer(integer(data)),
            ('?', _) => self.items([u8::from(data.first().is_some_and(|byte| *byte != 0))]),
            ('d', _) => self.items((f64::from_ne_bytes(word(data)) as f32).to_ne_bytes()),
            (_, DType::Float32) => self.items((u64::from_ne_bytes(word(data)) as f32).to_ne_bytes()),
            _ => self.items((u64::from_ne_bytes(word(data)) as f64).to_ne_bytes()),
        }
    }

    pub(super) fn zeros(&mut self, items: u64) -> Done {
        let bytes = usize::try_from(items).ok().and_then(|items| items.checked_mul(self.dtype.size()));
        let bytes = bytes.ok_or(Failure::OutOfMemory)?;
        self.bytes.try_reserve(bytes).map_err(|_| Failure::OutOfMemory)?;
        self.bytes.resize(self.bytes.len() + bytes, 0);
        Ok(())
    }
}

/// Up to sixteen bytes, and zeros: parts that overlap say the same where they do.
#[inline(always)]
fn block(bytes: &[u8]) -> [u8; 16] {
    let whole = if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let last = u128::from(u64::from_le_bytes(*last));
        u128::from(u64::from_le_bytes(*first)) | last << (8 * (bytes.len() - 8))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let last = u64::from(u32::from_le_bytes(*last));
        (u64::from(u32::from_le_bytes(*first)) | last << (8 * (bytes.len() - 4))).into()
    } else if let (Some(first), Some(last)) = (bytes.first(), bytes.last()) {
        let (half, end) = (bytes.len() / 2, bytes.len() - 1);
        (u32::from(*first) | u32::from(bytes[half]) << (8 * half) | u32::from(*last) << (8 * end)).into()
    } else {
        0
    };
    whole.to_le_bytes()
}
