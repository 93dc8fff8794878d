//! Encoder of numbers.

use super::{
    bounds::Bounds,
    chunk::{ChunkEncoder, EncodedChunk},
    dictionary::{NumberDictionary, is_worthwhile},
    header::PageEncoding,
    hybrid::append_numbers,
    number::{Number, bytes_of},
    pages::{PageIndexEntry, PageRows, Pages},
    rows::{PAGE_ROWS, PendingRows, append_valid, validity_of},
};
use arrow_array::{Array, ArrayRef, cast::AsArray, types::ArrowPrimitiveType};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_schema::DataType;
use forthwith_io::Compressor;
use forthwith_kernels::{Extremes, extremes};
use forthwith_plan::{Error, Result};
use parquet::basic::SortOrder;

/// Use of a dictionary in a chunk.
#[derive(Debug)]
pub(crate) enum Choice<D> {
    /// No page is complete, so it is not decided.
    Undecided,
    Used(D),
    /// Earlier pages use the dictionary, which is full.
    Full(D),
    Unused,
}

/// Function that converts an array to stored numbers.
pub(crate) type Stored<T> = fn(&ArrayRef) -> Result<Numbers<T>>;

/// Numbers of an array: its own buffer, or a widened copy.
pub(crate) enum Numbers<T> {
    Own(Buffer),
    Widened(Vec<T>),
}

impl<T: Number> Numbers<T> {
    fn as_slice(&self) -> &[T] {
        match self {
            Self::Own(buffer) => buffer.typed_data(),
            Self::Widened(numbers) => numbers,
        }
    }

    /// Returns the buffer of some numbers if it is that of the array.
    fn memory(&self, start: usize, count: usize) -> Option<Buffer> {
        match self {
            Self::Own(buffer) => {
                Some(buffer.slice_with_length(start * size_of::<T>(), count * size_of::<T>()))
            }
            Self::Widened(_) => None,
        }
    }
}

/// Returns the buffer of an array whose numbers are stored without conversion, regardless of their logical
/// type.
pub(crate) fn own<T: Number>(array: &ArrayRef) -> Result<Numbers<T>> {
    let data = array.to_data();
    let buffer =
        data.buffers().first().ok_or_else(|| Error::fault("an array of numbers without a buffer"))?;
    let (start, count) = (data.offset() * size_of::<T>(), data.len() * size_of::<T>());
    Ok(Numbers::Own(buffer.slice_with_length(start, count)))
}

/// Widens numbers of less than 32 bits.
pub(crate) fn widened<A: ArrowPrimitiveType<Native: Into<i32>>>(array: &ArrayRef) -> Result<Numbers<i32>> {
    let array = array.as_primitive_opt::<A>().ok_or_else(|| Error::fault("numbers of another type"))?;
    Ok(Numbers::Widened(array.values().iter().map(|number| (*number).into()).collect()))
}

/// Encoder of a chunk of numbers.
pub(crate) struct NumberEncoder<T: Number> {
    pages: Pages,
    stored: Stored<T>,
    dictionary: Choice<NumberDictionary<T>>,
    bounds: Bounds<T::Key>,
    rows: PendingRows,
    /// Values of the pending rows, without nulls.
    pending: Vec<T>,
    indices: Vec<u32>,
}

impl<T: Number> NumberEncoder<T> {
    pub(crate) fn new(pages: Pages, stored: Stored<T>, dictionary: bool) -> Self {
        let dictionary = if dictionary { Choice::Undecided } else { Choice::Unused };
        let (bounds, rows) = (Bounds::new(), PendingRows::default());
        Self { pages, stored, dictionary, bounds, rows, pending: Vec::new(), indices: Vec::new() }
    }

    fn end_pending(&mut self, codecs: &mut Compressor) -> Result<()> {
        let (rows, validity) = self.rows.take();
        if rows == 0 {
            return Ok(());
        }
        let mut pending = std::mem::take(&mut self.pending);
        self.choose(&pending, None, rows);
        self.page(PageRows::new(rows, validity.as_ref()), &pending, None, codecs)?;
        pending.clear();
        self.pending = pending;
        Ok(())
    }

    /// Writes a page of values without nulls. `memory` is the array's buffer of these values, if there is
    /// one.
    fn page(
        &mut self,
        rows: PageRows<'_>,
        values: &[T],
        memory: Option<Buffer>,
        codecs: &mut Compressor,
    ) -> Result<()> {
        let mut entry = PageIndexEntry { nans: T::IS_FLOAT.then_some(0), ..PageIndexEntry::default() };
        if let Some(Extremes { min, max, nans }) = extremes(values) {
            self.bounds.add(min, max, nans == values.len() as u64);
            entry.min = bytes_of(&[T::of_key(min)]).to_vec();
            entry.max = bytes_of(&[T::of_key(max)]).to_vec();
            entry.nans = T::IS_FLOAT.then_some(nans);
        }
        let indexed = self.look_up(values);
        if let (None, Some(memory), true) = (indexed, memory, self.pages.shares()) {
            return self.pages.share(rows, memory, entry);
        }
        let payload = self.pages.begin(rows);
        let encoding = match indexed {
            Some(width) => {
                payload.push(width as u8);
                append_numbers(payload, &self.indices, width);
                PageEncoding::RleDictionary
            }
            None => {
                payload.extend_from_slice(bytes_of(values));
                PageEncoding::Plain
            }
        };
        self.pages.end(rows, encoding, entry, codecs)
    }

    /// Looks up the dictionary indexes of values, and returns their bit width; `None` if the dictionary is
    /// not used. A page without values does not use it, so an empty dictionary that is abandoned is not used
    /// by any page.
    fn look_up(&mut self, values: &[T]) -> Option<u32> {
        if values.is_empty() {
            return None;
        }
        let Choice::Used(dictionary) = &mut self.dictionary else { return None };
        let before = dictionary.len();
        self.indices.clear();
        if dictionary.indices(values, &mut self.indices).is_ok() {
            return Some(width(dictionary.len()));
        }
        dictionary.truncate(before);
        let full = std::mem::take(dictionary);
        self.dictionary = if before == 0 { Choice::Unused } else { Choice::Full(full) };
        None
    }

    /// Decides on the dictionary by a sample of the available rows, when the first page is complete.
    fn choose(&mut self, values: &[T], validity: Option<&BooleanBuffer>, rows: usize) {
        if !matches!(self.dictionary, Choice::Undecided) {
            return;
        }
        let mut sample = Vec::with_capacity(SAMPLE_BLOCKS * SAMPLE_BLOCK);
        for start in sample_starts(values.len()) {
            let count = SAMPLE_BLOCK.min(values.len() - start);
            let validity = validity.map(|validity| validity.slice(start, count));
            append_valid(&mut sample, &values[start..start + count], validity.as_ref());
        }
        let mut dictionary = NumberDictionary::default();
        let fits = dictionary.indices(&sample, &mut self.indices).is_ok();
        let (sampled, distinct) = (sample.len(), dictionary.len());
        let is_worthwhile = fits && is_worthwhile(sampled, distinct, likely_rows(rows), size_of::<T>());
        self.dictionary =
            if is_worthwhile { Choice::Used(NumberDictionary::default()) } else { Choice::Unused };
    }
}

/// Number of values in a block of a sample. Blocks detect repeats of neighbours as well as distant ones.
pub(crate) const SAMPLE_BLOCK: usize = 256;
const SAMPLE_BLOCKS: usize = 64;

/// Estimates the number of rows of a chunk: if the available rows are one to four pages, more are likely to
/// follow.
pub(crate) fn likely_rows(rows: usize) -> usize {
    if (PAGE_ROWS..4 * PAGE_ROWS).contains(&rows) { usize::MAX } else { rows }
}

/// Returns the positions of the blocks of a sample.
pub(crate) fn sample_starts(values: usize) -> impl Iterator<Item = usize> {
    let step = (values / SAMPLE_BLOCKS).max(SAMPLE_BLOCK);
    (0..values).step_by(step).take(SAMPLE_BLOCKS)
}

/// Returns the bit width of indexes into a dictionary.
pub(crate) const fn width(entries: usize) -> u32 {
    usize::BITS - entries.saturating_sub(1).leading_zeros()
}

impl<T: Number> ChunkEncoder for NumberEncoder<T> {
    fn push(&mut self, array: &ArrayRef, codecs: &mut Compressor) -> Result<()> {
        let stored = (self.stored)(array)?;
        let (numbers, nulls): (&[T], Option<&NullBuffer>) = (stored.as_slice(), array.nulls());
        if self.rows.rows + numbers.len() >= PAGE_ROWS {
            self.choose(numbers, validity_of(nulls, 0, numbers.len()).as_ref(), numbers.len());
        }
        let mut start = 0;
        while start < numbers.len() {
            let count = (PAGE_ROWS - self.rows.rows).min(numbers.len() - start);
            let validity = validity_of(nulls, start, count);
            let (some, memory) = (&numbers[start..start + count], stored.memory(start, count));
            start += count;
            if count == PAGE_ROWS && validity.is_none() {
                self.page(PageRows::new(count, None), some, memory, codecs)?;
                continue;
            }
            append_valid(&mut self.pending, some, validity.as_ref());
            self.rows.append(count, validity.as_ref());
            if self.rows.rows == PAGE_ROWS {
                self.end_pending(codecs)?;
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.pages.memory() + size_of_val(&self.pending[..]) + size_of_val(&self.indices[..])
    }

    fn detach(&mut self) -> Result<()> {
        self.pages.detach()
    }

    fn close(mut self: Box<Self>, codecs: &mut Compressor) -> Result<EncodedChunk> {
        self.end_pending(codecs)?;
        let page = match &self.dictionary {
            Choice::Used(dictionary) | Choice::Full(dictionary) if self.pages.rows() > 0 => {
                Some((dictionary.len() as u32, dictionary.page()))
            }
            _ => None,
        };
        let bounds = self.bounds.chunk().map(|(min, max)| (T::of_key(min), T::of_key(max)));
        let is_signed = self.pages.descriptor().sort_order() == SortOrder::SIGNED;
        let statistics = |nulls, nans| T::statistics(bounds, nulls, nans, is_signed);
        self.pages.close(page, self.bounds.order(), statistics, codecs)
    }
}

/// Returns the encoder for a type of numbers that are stored without conversion of their bits; `None` for
/// other types.
pub(crate) fn encoder(data_type: &DataType, pages: Pages, dictionary: bool) -> Option<Box<dyn ChunkEncoder>> {
    use arrow_array::types::{Int8Type, Int16Type, UInt8Type, UInt16Type};
    Some(match data_type {
        DataType::Int8 => Box::new(NumberEncoder::new(pages, widened::<Int8Type>, dictionary)),
        DataType::Int16 => Box::new(NumberEncoder::new(pages, widened::<Int16Type>, dictionary)),
        DataType::UInt8 => Box::new(NumberEncoder::new(pages, widened::<UInt8Type>, dictionary)),
        DataType::UInt16 => Box::new(NumberEncoder::new(pages, widened::<UInt16Type>, dictionary)),
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => {
            Box::new(NumberEncoder::<i32>::new(pages, own, dictionary))
        }
        DataType::Int64 | DataType::Time64(_) | DataType::Timestamp(..) | DataType::Duration(_) => {
            Box::new(NumberEncoder::<i64>::new(pages, own, dictionary))
        }
        DataType::UInt32 => Box::new(NumberEncoder::<u32>::new(pages, own, dictionary)),
        DataType::UInt64 => Box::new(NumberEncoder::<u64>::new(pages, own, dictionary)),
        DataType::Float32 => Box::new(NumberEncoder::<f32>::new(pages, own, dictionary)),
        DataType::Float64 => Box::new(NumberEncoder::<f64>::new(pages, own, dictionary)),
        _ => return None,
    })
}
