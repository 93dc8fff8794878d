//! Finished columns.

use crate::{Buffer, DType, Presence, TextViews, with_integer};
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// Contiguous items of one type, in memory that is shared and immutable. Cloning and slicing copy no items;
/// dropping the last clone releases the memory, on any thread.
#[derive(Clone)]
pub struct Column {
    dtype: DType,
    backing: Arc<Backing>,
    /// Byte offset of the first item within the backing.
    at: usize,
    /// Number of items.
    len: usize,
}

enum Backing {
    Buffer(Buffer),
    Words(Words),
    Bytes(Bytes),
    Items(Box<dyn Items>),
    /// The index of rows with missing ones, computed on first access.
    Rows(Presence),
    /// The offsets and the bytes of texts, computed from their views on first access.
    TextOffsets(Arc<TextViews>),
    TextBytes(Arc<TextViews>),
}

impl Column {
    /// Makes a column of the first `items` items of a filled buffer. Unused capacity is kept: see
    /// [`Buffer::shrink`].
    ///
    /// # Panics
    /// If the buffer is too small to hold them.
    #[must_use]
    pub fn from_buffer(dtype: DType, buffer: Buffer, items: usize) -> Self {
        let fits = items.checked_mul(dtype.size()).is_some_and(|bytes| bytes <= buffer.capacity());
        assert!(fits, "{items} items of {dtype} in a buffer of {} bytes", buffer.capacity());
        Self { dtype, backing: Arc::new(Backing::Buffer(buffer)), at: 0, len: items }
    }

    /// Makes a read-only column of bytes in native order, such as those of a mapped file, without a copy.
    /// They need not be aligned. Bytes after the last whole item are ignored.
    #[must_use]
    pub fn from_bytes(dtype: DType, bytes: Bytes) -> Self {
        let len = bytes.len() / dtype.size();
        Self { dtype, backing: Arc::new(Backing::Bytes(bytes)), at: 0, len }
    }

    /// Makes a column with a copy of `items`.
    #[must_use]
    pub fn from_slice<T: Native>(items: &[T]) -> Self {
        Self::copied(T::DTYPE, bytes_of(items))
    }

    /// Makes a column that owns `items`, without a copy.
    #[must_use]
    pub fn from_vec<T: Native>(items: Vec<T>) -> Self {
        let len = items.len();
        Self { dtype: T::DTYPE, backing: Arc::new(Backing::Items(Box::new(items))), at: 0, len }
    }

    /// Makes the int64 index of rows with missing ones, which takes no memory until it is accessed.
    #[must_use]
    pub fn of_rows(rows: Presence) -> Self {
        let len = rows.rows();
        Self { dtype: DType::Int64, backing: Arc::new(Backing::Rows(rows)), at: 0, len }
    }

    /// Returns the rows that this column is the index of, if it was made by [`of_rows`](Self::of_rows) and
    /// covers all of them.
    #[must_use]
    pub fn presence(&self) -> Option<&Presence> {
        match &*self.backing {
            Backing::Rows(rows) if self.at == 0 && self.dtype == DType::Int64 && self.len == rows.rows() => {
                Some(rows)
            }
            _ => None,
        }
    }

    /// Makes the columns of the offsets and the bytes of texts, which are computed from their views on first
    /// access.
    #[must_use]
    pub fn of_texts(texts: TextViews) -> [Self; 2] {
        let (rows, bytes) = (texts.rows(), usize::try_from(texts.length()).unwrap_or(usize::MAX));
        let texts = Arc::new(texts);
        let offsets = Arc::new(Backing::TextOffsets(Arc::clone(&texts)));
        [
            Self { dtype: DType::Int64, backing: offsets, at: 0, len: rows + 1 },
            Self { dtype: DType::UInt8, backing: Arc::new(Backing::TextBytes(texts)), at: 0, len: bytes },
        ]
    }

    /// Returns the views that these offsets are computed from and the range of texts that the offsets cover,
    /// if the column was made by [`of_texts`](Self::of_texts).
    #[must_use]
    pub fn texts(&self) -> Option<(&TextViews, Range<usize>)> {
        match &*self.backing {
            Backing::TextOffsets(texts)
                if self.dtype == DType::Int64
                    && self.len > 0
                    && self.at.is_multiple_of(self.dtype.size()) =>
            {
                let first = self.at / self.dtype.size();
                Some((texts, first..first + self.len - 1))
            }
            _ => None,
        }
    }

    /// The element type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of items.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no items.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of bytes.
    #[must_use]
    pub const fn nbytes(&self) -> usize {
        self.len * self.dtype.size()
    }

    /// Returns the items as bytes in native order.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let end = self.at + self.nbytes();
        match &*self.backing {
            Backing::Buffer(buffer) => &buffer.bytes(end)[self.at..],
            Backing::Words(words) => &words.bytes()[self.at..end],
            Backing::Bytes(bytes) => &bytes[self.at..end],
            Backing::Items(items) => &items.bytes()[self.at..end],
            Backing::Rows(rows) => &bytes_of(rows.index())[self.at..end],
            Backing::TextOffsets(texts) => &bytes_of(texts.offsets())[self.at..end],
            Backing::TextBytes(texts) => &texts.texts()[self.at..end],
        }
    }

    /// Returns the address of the first item, for interfaces that pass addresses; valid as long as the column
    /// or a clone of it lives.
    #[must_use]
    pub fn address(&self) -> usize {
        self.as_bytes().as_ptr().addr()
    }

    /// Whether the process owns the memory, so that the owner of all columns that share it may write to it.
    /// Memory from [`from_bytes`](Self::from_bytes), such as a mapped file, is not writable.
    #[must_use]
    pub fn writable(&self) -> bool {
        match &*self.backing {
            Backing::Bytes(_) => false,
            // The index of columns without a row that is there is shared.
            Backing::Rows(rows) => rows.there() > 0 || rows.rows() == 0,
            _ => true,
        }
    }

    /// Whether the process owns the memory and no other column shares it, so that it cannot change while this
    /// column is borrowed. Memory of a mapped file, of Python or of another library may be written to by
    /// others at any time.
    #[must_use]
    pub fn is_unshared(&self) -> bool {
        self.writable() && Arc::strong_count(&self.backing) == 1
    }

    /// Returns the items of `range` without a copy. The range is clamped to the column.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let end = range.end.min(self.len);
        let start = range.start.min(end);
        Self { at: self.at + start * self.dtype.size(), len: end - start, ..self.clone() }
    }

    /// Reinterprets the bytes as items of another type; `None` if the number of bytes is not a multiple of
    /// its size.
    #[must_use]
    pub fn view(&self, dtype: DType) -> Option<Self> {
        let bytes = self.nbytes();
        bytes.is_multiple_of(dtype.size()).then(|| Self { dtype, len: bytes / dtype.size(), ..self.clone() })
    }

    /// Copies the items into aligned memory, so that a slice no longer keeps its whole column alive.
    #[must_use]
    pub fn compact(&self) -> Self {
        Self::copied(self.dtype, self.as_bytes())
    }

    fn copied(dtype: DType, bytes: &[u8]) -> Self {
        let len = bytes.len() / dtype.size();
        Self { dtype, backing: Arc::new(Backing::Words(Words::of(bytes))), at: 0, len }
    }

    /// Returns the items as shared bytes, without a copy.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        if self.is_empty() { Bytes::new() } else { Bytes::from_owner(Raw(self.clone())) }
    }

    /// Returns the items, or `None` if `T` is not the column's type or they are not aligned.
    #[must_use]
    pub fn items<T: Native>(&self) -> Option<&[T]> {
        if T::DTYPE == self.dtype { self.kept_as() } else { None }
    }

    /// Whether items of a type are stored as `T`: each type as its own Rust type, and booleans also as `u8`.
    pub(crate) fn is_kept_as<T: Native>(dtype: DType) -> bool {
        dtype == T::DTYPE || (dtype == DType::Bool && T::DTYPE == DType::UInt8)
    }

    /// Returns the items as they are stored, or `None` if they are not stored as `T` or not aligned.
    pub(crate) fn kept_as<T: Native>(&self) -> Option<&[T]> {
        if Self::is_kept_as::<T>(self.dtype) { items_of(self.as_bytes()) } else { None }
    }

    /// Returns one item, aligned or not; `None` if `T` is not the column's type or `at` is out of range.
    #[must_use]
    pub fn item<T: Native>(&self, at: usize) -> Option<T> {
        if T::DTYPE != self.dtype || at >= self.len {
            return None;
        }
        let size = self.dtype.size();
        self.as_bytes().get(at * size..(at + 1) * size).and_then(T::from_bytes)
    }

    /// Returns one item as an integer, aligned or not; booleans are 0 or 1. Returns `None` for floats and if
    /// `at` is out of range.
    #[must_use]
    pub fn integer(&self, at: usize) -> Option<i128> {
        with_integer!(self.dtype, T => self.item::<T>(at).map(i128::from),
            DType::Bool => self.as_bytes().get(at).map(|byte| i128::from(*byte != 0)),
            DType::Float32 | DType::Float64 => None,
        )
    }

    /// Whether the items are the int64 sequence 0, 1, 2, …: an index without missing rows.
    #[must_use]
    pub fn counts_up(&self) -> bool {
        let known = || match &*self.backing {
            Backing::Rows(rows) if rows.is_complete() => Some(self.at == 0),
            Backing::Rows(_) if self.presence().is_some() => Some(false),
            _ => None,
        };
        self.dtype == DType::Int64 && known().unwrap_or_else(|| counts_up(self.as_bytes()))
    }
}

/// Whether `index`, int64 items in native byte order, is the sequence 0, 1, 2, ….
pub(crate) fn counts_up(index: &[u8]) -> bool {
    // Chunks allow an early exit without a branch for each item.
    (0..).step_by(512).zip(index.as_chunks::<8>().0.chunks(512)).all(|(first, some)| {
        let differs = |(at, item): (i64, &[u8; 8])| at ^ i64::from_ne_bytes(*item);
        (first..).zip(some).map(differs).fold(0, |all, bits| all | bits) == 0
    })
}

impl std::fmt::Debug for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Column({} * {})", self.len, self.dtype)
    }
}

impl PartialEq for Column {
    /// Compares types and bytes.
    fn eq(&self, other: &Self) -> bool {
        self.dtype == other.dtype && self.as_bytes() == other.as_bytes()
    }
}

/// Rust types of column items. Sealed.
pub trait Native:
    Copy + Default + Send + Sync + PartialEq + std::fmt::Debug + sealed::Sealed + 'static
{
    /// The element type.
    const DTYPE: DType;
    /// Reads a value from bytes in native order; `None` unless their number is the size of the type.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

mod sealed {
    /// Plain numbers: every bit pattern is a valid value.
    pub trait Sealed {}
}

macro_rules! natives {
    ($($number:ident $dtype:ident $view:ident;)*) => {
        $(
            impl sealed::Sealed for $number {}
            impl Native for $number {
                const DTYPE: DType = DType::$dtype;
                #[inline]
                fn from_bytes(bytes: &[u8]) -> Option<Self> {
                    bytes.try_into().ok().map(Self::from_ne_bytes)
                }
            }
        )*
        impl Column {
            $(
                #[doc = concat!("The items, if they are `", stringify!($number), "` and aligned.")]
                #[must_use]
                pub fn $view(&self) -> Option<&[$number]> {
                    self.items()
                }
            )*
        }
    };
}

natives! {
    i8 Int8 as_i8;
    i16 Int16 as_i16;
    i32 Int32 as_i32;
    i64 Int64 as_i64;
    u8 UInt8 as_u8;
    u16 UInt16 as_u16;
    u32 UInt32 as_u32;
    u64 UInt64 as_u64;
    f32 Float32 as_f32;
    f64 Float64 as_f64;
}

/// Returns items as bytes in native order.
#[must_use]
pub fn bytes_of<T: Native>(items: &[T]) -> &[u8] {
    // SAFETY: plain numbers have no padding, so all bytes are initialised; they are borrowed as long as
    // `items`.
    unsafe { std::slice::from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
}

/// Reinterprets bytes in native order as items; `None` if they are not aligned. Bytes after the last whole
/// item are ignored.
#[must_use]
#[inline]
pub fn items_of<T: Native>(bytes: &[u8]) -> Option<&[T]> {
    let fits = bytes.as_ptr().addr().is_multiple_of(align_of::<T>());
    // SAFETY: the address is aligned, the slice has this number of initialised items, and every bit pattern
    // is a `T` (the trait is sealed: plain numbers only).
    fits.then(|| unsafe {
        std::slice::from_raw_parts(bytes.as_ptr().cast::<T>(), bytes.len() / size_of::<T>())
    })
}

/// A vector of numbers of any type.
trait Items: Send + Sync {
    fn bytes(&self) -> &[u8];
}

impl<T: Native> Items for Vec<T> {
    fn bytes(&self) -> &[u8] {
        bytes_of(self)
    }
}

/// A column as the owner of [`Bytes`].
struct Raw(Column);

impl AsRef<[u8]> for Raw {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Bytes in memory that is aligned for any item type.
struct Words {
    words: Vec<u64>,
    len: usize,
}

impl Words {
    fn of(bytes: &[u8]) -> Self {
        let (whole, rest) = bytes.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let words = whole.iter().chain((!rest.is_empty()).then_some(&last));
        Self { words: words.map(|word| u64::from_ne_bytes(*word)).collect(), len: bytes.len() }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: `len` is at most the byte length of the words, which are initialised and not moved while
        // borrowed.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.len) }
    }
}
