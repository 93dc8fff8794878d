//! Encoder of byte strings.

use super::{
    bounds::{Bounds, TextExtremes, lower, upper},
    chunk::{ChunkEncoder, EncodedChunk},
    dictionary::{ByteDictionary, is_worthwhile},
    header::PageEncoding,
    hybrid::append_numbers,
    numbers::{Choice, SAMPLE_BLOCK, likely_rows, sample_starts, width},
    pages::{PageIndexEntry, PageRows, Pages},
    rows::{PAGE_ROWS, PendingRows, validity_of},
};
use arrow_array::{Array, ArrayRef, GenericByteArray, OffsetSizeTrait, cast::AsArray, types::ByteArrayType};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType;
use forthwith_io::Compressor;
use forthwith_plan::{Error, Result};
use parquet::{
    basic::{LogicalType, SortOrder},
    data_type::ByteArray,
    file::statistics::{Statistics, ValueStatistics},
};

/// Target size in bytes of the values of a plain page, including lengths; the last value may exceed it.
const PAGE_BYTES: usize = 1 << 20;
/// Target size in bytes of the values of a page of dictionary indexes.
const INDEXED_BYTES: usize = 8 << 20;

/// Position of a value: its offset and its length.
type Span = (usize, u32);

/// Encoder of a chunk of byte strings.
pub(crate) struct TextEncoder {
    pages: Pages,
    is_text: bool,
    dictionary: Choice<ByteDictionary>,
    /// For each entry of the dictionary, the last page that has it.
    seen: Vec<u32>,
    page: u32,
    bounds: Bounds<Vec<u8>>,
    rows: PendingRows,
    /// Values of the pending rows, without nulls, concatenated.
    pending: Vec<u8>,
    /// Positions of the values of the current page, in an array or in `pending`.
    spans: Vec<Span>,
    indices: Vec<u32>,
}

/// Rows of an array of byte strings.
#[derive(Clone, Copy)]
struct Texts<'a, O: OffsetSizeTrait> {
    offsets: &'a OffsetBuffer<O>,
    bytes: &'a [u8],
    nulls: Option<&'a NullBuffer>,
}

impl<'a, O: OffsetSizeTrait> Texts<'a, O> {
    fn of<T: ByteArrayType<Offset = O>>(array: &'a GenericByteArray<T>) -> Self {
        Self { offsets: array.offsets(), bytes: array.value_data(), nulls: array.nulls() }
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the position of the value of a row; `None` for null.
    #[inline(always)]
    fn span(&self, row: usize) -> Result<Option<Span>> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(None);
        }
        let (start, end) = (self.offsets[row].as_usize(), self.offsets[row + 1].as_usize());
        let length = u32::try_from(end - start).map_err(|_| too_long(end - start))?;
        Ok(Some((start, length)))
    }
}

#[cold]
fn too_long(bytes: usize) -> Error {
    Error::out_of_range("bytes of a value", bytes as u64, i32::MAX as u64)
}

fn value(bytes: &[u8], (start, length): Span) -> &[u8] {
    &bytes[start..][..length as usize]
}

impl TextEncoder {
    pub(crate) fn new(pages: Pages, dictionary: bool) -> Self {
        let is_text = pages.descriptor().logical_type_ref() == Some(&LogicalType::String);
        Self {
            pages,
            is_text,
            dictionary: if dictionary { Choice::Undecided } else { Choice::Unused },
            seen: Vec::new(),
            page: 0,
            bounds: Bounds::new(),
            rows: PendingRows::default(),
            pending: Vec::new(),
            spans: Vec::new(),
            indices: Vec::new(),
        }
    }

    fn end_pending(&mut self, codecs: &mut Compressor) -> Result<()> {
        let (rows, validity) = self.rows.take();
        if rows == 0 {
            return Ok(());
        }
        let mut pending = std::mem::take(&mut self.pending);
        let spans = std::mem::take(&mut self.spans);
        if matches!(self.dictionary, Choice::Undecided) {
            let sample =
                sample_starts(spans.len()).flat_map(|start| spans[start..].iter().take(SAMPLE_BLOCK));
            self.choose(sample.map(|span| value(&pending, *span)), rows);
        }
        self.append_page(PageRows::new(rows, validity.as_ref()), &pending, &spans, codecs)?;
        pending.clear();
        (self.pending, self.spans) = (pending, spans);
        self.spans.clear();
        Ok(())
    }

    /// Writes a page of values without nulls.
    fn append_page(
        &mut self,
        rows: PageRows<'_>,
        bytes: &[u8],
        spans: &[Span],
        codecs: &mut Compressor,
    ) -> Result<()> {
        let Some(width) = self.look_up(bytes, spans) else { return self.plain(rows, bytes, spans, codecs) };
        let Choice::Used(dictionary) = &self.dictionary else { return Err(Error::fault("no dictionary")) };
        self.page += 1;
        self.seen.resize(dictionary.len(), 0);
        let mut extremes: Option<TextExtremes<'_>> = None;
        for index in &self.indices {
            if std::mem::replace(&mut self.seen[*index as usize], self.page) != self.page {
                let entry = dictionary.entry(*index);
                extremes.get_or_insert_with(|| TextExtremes::new(entry)).add(entry);
            }
        }
        let entry = entry(&mut self.bounds, extremes.as_ref(), spans, self.is_text);
        let payload = self.pages.begin(rows);
        payload.push(width as u8);
        append_numbers(payload, &self.indices, width);
        self.pages.end(rows, PageEncoding::RleDictionary, entry, codecs)
    }

    /// Writes values preceded by their lengths, as pages of limited size.
    fn plain(
        &mut self,
        rows: PageRows<'_>,
        bytes: &[u8],
        spans: &[Span],
        codecs: &mut Compressor,
    ) -> Result<()> {
        let (mut row, mut first) = (0, 0);
        while row < rows.rows {
            let (mut end_row, mut end, mut length) = (row, first, 0);
            while end_row < rows.rows && length < PAGE_BYTES {
                if rows.validity.is_none_or(|validity| validity.value(end_row)) {
                    length += 4 + spans[end].1 as usize;
                    end += 1;
                }
                end_row += 1;
            }
            let validity = rows.validity.map(|validity| validity.slice(row, end_row - row));
            let part = PageRows::new(end_row - row, validity.as_ref());
            let some = &spans[first..end];
            let mut extremes: Option<TextExtremes<'_>> = None;
            for span in some {
                let value = value(bytes, *span);
                extremes.get_or_insert_with(|| TextExtremes::new(value)).add(value);
            }
            let entry = entry(&mut self.bounds, extremes.as_ref(), some, self.is_text);
            append_values(self.pages.begin(part), bytes, some, length);
            self.pages.end(part, PageEncoding::Plain, entry, codecs)?;
            (row, first) = (end_row, end);
        }
        Ok(())
    }

    /// Looks up the dictionary indexes of values, and returns their bit width; `None` if the dictionary is
    /// not used. A page without values does not use it, so an empty dictionary that is abandoned is not used
    /// by any page.
    fn look_up(&mut self, bytes: &[u8], spans: &[Span]) -> Option<u32> {
        if spans.is_empty() {
            return None;
        }
        let Choice::Used(dictionary) = &mut self.dictionary else { return None };
        let before = dictionary.len();
        self.indices.clear();
        self.indices.reserve(spans.len());
        for span in spans {
            let Ok(index) = dictionary.index(value(bytes, *span)) else {
                dictionary.truncate(before);
                let full = std::mem::take(dictionary);
                self.dictionary = if before == 0 { Choice::Unused } else { Choice::Full(full) };
                return None;
            };
            self.indices.push(index);
        }
        Some(width(dictionary.len()))
    }

    /// Decides on the dictionary by a sample of values.
    fn choose<'a>(&mut self, sample: impl Iterator<Item = &'a [u8]>, rows: usize) {
        let mut dictionary = ByteDictionary::default();
        let (mut sampled, mut bytes, mut fits) = (0, 0, true);
        for value in sample {
            fits &= dictionary.index(value).is_ok();
            sampled += 1;
            bytes += 4 + value.len();
        }
        let average = bytes / sampled.max(1);
        let is_worthwhile = fits && is_worthwhile(sampled, dictionary.len(), likely_rows(rows), average);
        self.dictionary =
            if is_worthwhile { Choice::Used(ByteDictionary::default()) } else { Choice::Unused };
    }

    /// Writes the pages that the rows complete; the remaining rows become pending.
    fn push_texts<O: OffsetSizeTrait>(&mut self, texts: Texts<'_, O>, codecs: &mut Compressor) -> Result<()> {
        if matches!(self.dictionary, Choice::Undecided) && self.rows.rows + texts.len() >= PAGE_ROWS {
            let rows =
                sample_starts(texts.len()).flat_map(|start| start..texts.len().min(start + SAMPLE_BLOCK));
            let spans = rows.filter_map(|row| texts.span(row).ok().flatten());
            self.choose(spans.map(|span| value(texts.bytes, span)), texts.len());
        }
        let mut row = 0;
        while row < texts.len() {
            if self.rows.rows == 0 {
                // A page that the array completes is written from its memory.
                let (end, is_full) = self.fill(texts, row, 0)?;
                if is_full {
                    let validity = validity_of(texts.nulls, row, end - row);
                    let spans = std::mem::take(&mut self.spans);
                    let rows = PageRows::new(end - row, validity.as_ref());
                    self.append_page(rows, texts.bytes, &spans, codecs)?;
                    self.spans = spans;
                    self.spans.clear();
                    row = end;
                    continue;
                }
                self.spans.clear();
            }
            let known = self.spans.len();
            let (end, is_full) = self.fill(texts, row, self.pending.len() + 4 * known)?;
            for span in &mut self.spans[known..] {
                let start = self.pending.len();
                self.pending.extend_from_slice(value(texts.bytes, *span));
                span.0 = start;
            }
            self.rows.append(end - row, validity_of(texts.nulls, row, end - row).as_ref());
            row = end;
            if is_full {
                self.end_pending(codecs)?;
            }
        }
        Ok(())
    }

    /// Appends the positions of values to a page that has `bytes` bytes, until it is full. Returns the row
    /// after them, and whether the page is full.
    fn fill<O: OffsetSizeTrait>(
        &mut self,
        texts: Texts<'_, O>,
        row: usize,
        mut bytes: usize,
    ) -> Result<(usize, bool)> {
        let most = if matches!(self.dictionary, Choice::Used(_)) { INDEXED_BYTES } else { PAGE_BYTES };
        let last = texts.len().min(row + PAGE_ROWS - self.rows.rows);
        for at in row..last {
            if let Some(span) = texts.span(at)? {
                bytes += 4 + span.1 as usize;
                self.spans.push(span);
                if bytes >= most {
                    return Ok((at + 1, true));
                }
            }
        }
        Ok((last, self.rows.rows + last - row == PAGE_ROWS))
    }
}

/// Creates the index entry of a page of these values, and adds their bounds to those of the chunk.
fn entry(
    bounds: &mut Bounds<Vec<u8>>,
    extremes: Option<&TextExtremes<'_>>,
    spans: &[Span],
    is_text: bool,
) -> PageIndexEntry {
    let text_bytes = spans.iter().map(|(_, length)| i64::from(*length)).sum();
    let mut entry = PageIndexEntry { text_bytes: Some(text_bytes), ..PageIndexEntry::default() };
    if let Some(extremes) = extremes {
        let (min, max) = extremes.bounds();
        (entry.min, entry.max) = (lower(min, is_text).0, upper(max, is_text).0);
        bounds.add_stored((min.to_vec(), max.to_vec()), (entry.min.clone(), entry.max.clone()), false);
    }
    entry
}

/// Appends values preceded by their lengths, with `length` bytes in total.
fn append_values(out: &mut Vec<u8>, bytes: &[u8], spans: &[Span], length: usize) {
    /// Number of bytes that are copied at once; the excess of a shorter value is overwritten.
    const SHORT: usize = 32;
    let mut at = out.len();
    out.resize(at + length + SHORT, 0);
    for (start, length) in spans {
        out[at..at + 4].copy_from_slice(&length.to_le_bytes());
        at += 4;
        let count = *length as usize;
        match bytes.get(*start..*start + SHORT) {
            Some(some) if count <= SHORT => out[at..at + SHORT].copy_from_slice(some),
            _ => out[at..at + count].copy_from_slice(&bytes[*start..*start + count]),
        }
        at += count;
    }
    out.truncate(at);
}

impl ChunkEncoder for TextEncoder {
    fn push(&mut self, array: &ArrayRef, codecs: &mut Compressor) -> Result<()> {
        match array.data_type() {
            DataType::Utf8 => self.push_texts(Texts::of(array.as_string::<i32>()), codecs),
            DataType::LargeUtf8 => self.push_texts(Texts::of(array.as_string::<i64>()), codecs),
            DataType::Binary => self.push_texts(Texts::of(array.as_binary::<i32>()), codecs),
            DataType::LargeBinary => self.push_texts(Texts::of(array.as_binary::<i64>()), codecs),
            _ => Err(Error::fault("values that are no byte strings")),
        }
    }

    fn memory(&self) -> usize {
        self.pages.memory()
            + self.pending.len()
            + size_of_val(&self.spans[..])
            + size_of_val(&self.indices[..])
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
        let bounds = self.bounds.chunk();
        let is_signed = self.pages.descriptor().sort_order() == SortOrder::SIGNED;
        let is_text = self.is_text;
        let statistics = |nulls, _| {
            let (min, max) = bounds.map(|(min, max)| (lower(&min, is_text), upper(&max, is_text))).unzip();
            let (min_exact, max_exact) =
                (min.as_ref().is_none_or(|(_, exact)| *exact), max.as_ref().is_none_or(|(_, exact)| *exact));
            let bytes = |bound: Option<(Vec<u8>, bool)>| bound.map(|(bytes, _)| ByteArray::from(bytes));
            let statistics = ValueStatistics::new(bytes(min), bytes(max), None, Some(nulls), is_signed);
            Statistics::ByteArray(statistics.with_min_is_exact(min_exact).with_max_is_exact(max_exact))
        };
        self.pages.close(page, self.bounds.order(), statistics, codecs)
    }
}
