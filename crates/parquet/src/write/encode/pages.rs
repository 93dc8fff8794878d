//! Pages of a chunk: levels, compression, headers and index entries.

use super::{
    chunk::EncodedChunk,
    header::{PageEncoding, PageKind, append_header},
    hybrid::{append_bits, append_equal_bits},
    stored::StoredPages,
};
use crate::write::library_error::failed;
use arrow_buffer::{BooleanBuffer, Buffer};
use forthwith_io::{Codec, Compressor};
use forthwith_plan::{Error, Result};
use parquet::{
    basic::{BoundaryOrder, Compression, Encoding, PageType},
    file::{
        metadata::{
            ColumnChunkMetaData, ColumnIndexBuilder, LevelHistogram, OffsetIndexBuilder, PageEncodingStats,
        },
        statistics::Statistics,
    },
    schema::types::ColumnDescPtr,
};

/// Compression of pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageCodec {
    /// Compression in the metadata.
    pub(crate) compression: Compression,
    pub(crate) codec: Option<(Codec, Option<i32>)>,
}

/// Rows of a page and their validity.
#[derive(Clone, Copy)]
pub(crate) struct PageRows<'a> {
    pub(crate) rows: usize,
    /// Validity of the rows; `None` if all of them are valid.
    pub(crate) validity: Option<&'a BooleanBuffer>,
}

impl PageRows<'_> {
    pub(crate) fn nulls(&self) -> usize {
        self.validity.map_or(0, |validity| self.rows - validity.count_set_bits())
    }
}

/// Entry of a page in the page indexes, without nulls.
#[derive(Debug, Default)]
pub(crate) struct PageIndexEntry {
    pub(crate) min: Vec<u8>,
    pub(crate) max: Vec<u8>,
    /// Number of NaN values of a floating-point column.
    pub(crate) nans: Option<u64>,
    /// Total length of the values of a byte string column.
    pub(crate) text_bytes: Option<i64>,
}

/// Writer of the pages of a chunk.
pub(crate) struct Pages {
    descriptor: ColumnDescPtr,
    codec: PageCodec,
    is_nullable: bool,
    /// Complete pages.
    stored: StoredPages,
    /// The current page, before compression.
    payload: Vec<u8>,
    columns: ColumnIndexBuilder,
    offsets: OffsetIndexBuilder,
    encodings: Vec<PageEncodingStats>,
    uncompressed: i64,
    rows: u64,
    nulls: u64,
    nans: Option<u64>,
    text_bytes: Option<i64>,
}

impl Pages {
    pub(crate) fn new(descriptor: ColumnDescPtr, codec: PageCodec, stored: Vec<u8>) -> Self {
        Self {
            codec,
            is_nullable: descriptor.max_def_level() > 0,
            stored: StoredPages::new(stored),
            payload: Vec::new(),
            columns: ColumnIndexBuilder::new(descriptor.physical_type()),
            offsets: OffsetIndexBuilder::new(),
            encodings: Vec::new(),
            uncompressed: 0,
            rows: 0,
            nulls: 0,
            nans: None,
            text_bytes: None,
            descriptor,
        }
    }

    pub(crate) const fn descriptor(&self) -> &ColumnDescPtr {
        &self.descriptor
    }

    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the memory it uses, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.stored.len() + self.payload.capacity()
    }

    /// Begins a page by writing its levels. Returns the buffer to which its values are appended.
    pub(crate) fn begin(&mut self, rows: PageRows<'_>) -> &mut Vec<u8> {
        self.payload.clear();
        if self.is_nullable {
            self.payload.extend([0; 4]);
            match rows.validity {
                Some(validity) => append_bits(&mut self.payload, validity),
                None => append_equal_bits(&mut self.payload, true, rows.rows),
            }
            let length = (self.payload.len() - 4) as u32;
            self.payload[..4].copy_from_slice(&length.to_le_bytes());
        }
        &mut self.payload
    }

    /// Completes the page that was begun.
    pub(crate) fn end(
        &mut self,
        rows: PageRows<'_>,
        encoding: PageEncoding,
        entry: PageIndexEntry,
        codecs: &mut Compressor,
    ) -> Result<()> {
        let payload = std::mem::take(&mut self.payload);
        let offset = self.stored.len();
        self.append(PageKind::Data(encoding), count_of(rows)?, &payload, codecs)?;
        self.payload = payload;
        self.note(rows, encoding, entry, offset)
    }

    /// Whether pages are stored without compression, so that values can be shared.
    pub(crate) const fn shares(&self) -> bool {
        self.codec.codec.is_none()
    }

    /// Appends an uncompressed page that references the values without a copy.
    pub(crate) fn share(&mut self, rows: PageRows<'_>, values: Buffer, entry: PageIndexEntry) -> Result<()> {
        self.begin(rows);
        let (offset, length) = (self.stored.len(), self.payload.len() + values.len());
        self.append_header(PageKind::Data(PageEncoding::Plain), count_of(rows)?, length, length)?;
        self.stored.append(&self.payload)?;
        self.stored.share(values);
        self.note(rows, PageEncoding::Plain, entry, offset)
    }

    /// Adds a page to the indexes and the totals.
    fn note(
        &mut self,
        rows: PageRows<'_>,
        encoding: PageEncoding,
        entry: PageIndexEntry,
        offset: usize,
    ) -> Result<()> {
        let nulls = rows.nulls();
        let size = self.stored.len() - offset;
        let size = i32::try_from(size).map_err(|_| too_long(size))?;
        let nans = entry.nans.map(|nans| i64::try_from(nans).unwrap_or(i64::MAX));
        self.columns.append(nulls == rows.rows, entry.min, entry.max, nulls as i64, nans);
        self.columns.append_histograms(&None, &self.levels(nulls as u64, rows.rows as u64));
        self.offsets.append_row_count(rows.rows as i64);
        self.offsets.append_unencoded_byte_array_data_bytes(entry.text_bytes);
        self.offsets.append_offset_and_size(offset as i64, size);
        self.rows += rows.rows as u64;
        self.nulls += nulls as u64;
        self.nans = sum(self.nans, entry.nans);
        self.text_bytes = sum(self.text_bytes, entry.text_bytes);
        let encoding = encoding_of(encoding);
        match self.encodings.last_mut() {
            Some(last) if last.encoding == encoding => last.count += 1,
            _ => {
                self.encodings.push(PageEncodingStats { page_type: PageType::DATA_PAGE, encoding, count: 1 })
            }
        }
        Ok(())
    }

    /// Compresses a page, and appends it after its header.
    fn append(&mut self, kind: PageKind, count: u32, payload: &[u8], codecs: &mut Compressor) -> Result<()> {
        let compressed;
        let stored = match self.codec.codec {
            Some((codec, level)) => {
                compressed = codecs.compressed(codec, level, payload, 0)?;
                &*compressed
            }
            None => payload,
        };
        self.append_header(kind, count, payload.len(), stored.len())?;
        self.stored.append(stored)
    }

    fn append_header(&mut self, kind: PageKind, count: u32, payload: usize, stored: usize) -> Result<()> {
        let size = |bytes: usize| i32::try_from(bytes).map_err(|_| too_long(bytes));
        let mut header = Vec::with_capacity(LONGEST_HEADER);
        append_header(&mut header, kind, count, size(payload)?, size(stored)?);
        self.uncompressed += (payload + header.len()) as i64;
        self.stored.append(&header)
    }

    /// Copies values that pages reference in arrays.
    pub(crate) fn detach(&mut self) -> Result<()> {
        self.stored.detach()
    }

    /// Returns the numbers of nulls and of values, if the column is nullable.
    fn levels(&self, nulls: u64, rows: u64) -> Option<LevelHistogram> {
        let values = rows - nulls;
        self.is_nullable.then(|| LevelHistogram::from(vec![nulls as i64, values as i64]))
    }

    /// Completes the chunk. The dictionary page precedes the data pages in the file.
    pub(crate) fn close(
        mut self,
        dictionary: Option<(u32, &[u8])>,
        order: BoundaryOrder,
        statistics: impl FnOnce(u64, Option<u64>) -> Statistics,
        codecs: &mut Compressor,
    ) -> Result<EncodedChunk> {
        let body = std::mem::take(&mut self.stored);
        let mut encodings = vec![Encoding::RLE];
        if let Some((count, page)) = dictionary {
            self.append(PageKind::Dictionary, count, page, codecs)?;
            let entry = PageEncodingStats {
                page_type: PageType::DICTIONARY_PAGE,
                encoding: Encoding::PLAIN,
                count: 1,
            };
            self.encodings.insert(0, entry);
        }
        let head = std::mem::take(&mut self.stored).into_memory();
        encodings.extend(self.encodings.iter().map(|pages| pages.encoding));
        let levels = self.levels(self.nulls, self.rows);
        let metadata = ColumnChunkMetaData::builder(self.descriptor)
            .set_compression(self.codec.compression)
            .set_encodings(encodings)
            .set_page_encoding_stats(self.encodings)
            .set_total_compressed_size((head.len() + body.len()) as i64)
            .set_total_uncompressed_size(self.uncompressed)
            .set_num_values(self.rows as i64)
            .set_data_page_offset(head.len() as i64)
            .set_dictionary_page_offset((!head.is_empty()).then_some(0))
            .set_statistics(statistics(self.nulls, self.nans))
            .set_unencoded_byte_array_data_bytes(self.text_bytes)
            .set_definition_level_histogram(levels)
            .build()
            .map_err(|e| failed(&e))?;
        self.columns.set_boundary_order(order);
        let mut offsets = self.offsets.build();
        for page in &mut offsets.page_locations {
            page.offset += head.len() as i64;
        }
        let columns = self.columns.build().map_err(|e| failed(&e))?;
        Ok(EncodedChunk { head, body, metadata, columns: Some(columns), offsets: Some(offsets) })
    }
}

/// Initial capacity for a page header, which is never longer.
const LONGEST_HEADER: usize = 64;

fn count_of(rows: PageRows<'_>) -> Result<u32> {
    u32::try_from(rows.rows).map_err(|_| Error::fault("a page of too many rows"))
}

fn encoding_of(encoding: PageEncoding) -> Encoding {
    match encoding {
        PageEncoding::Plain => Encoding::PLAIN,
        PageEncoding::Rle => Encoding::RLE,
        PageEncoding::RleDictionary => Encoding::RLE_DICTIONARY,
    }
}

fn sum<T: std::ops::Add<Output = T>>(sum: Option<T>, more: Option<T>) -> Option<T> {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum + more),
        (sum, more) => sum.or(more),
    }
}

#[cold]
fn too_long(bytes: usize) -> Error {
    Error::out_of_range("bytes of a page", bytes as u64, i32::MAX as u64)
}
