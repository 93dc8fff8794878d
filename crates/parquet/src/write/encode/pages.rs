//! The pages of a chunk: levels, compression, headers and what indexes say of them.

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

/// How pages are compressed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageCodec {
    /// As the footer has it.
    pub(crate) compression: Compression,
    pub(crate) codec: Option<(Codec, Option<i32>)>,
}

/// Rows of a page and which of them have values.
#[derive(Clone, Copy)]
pub(crate) struct PageRows<'a> {
    pub(crate) rows: usize,
    /// Unset bits are nulls. Nothing if there are none.
    pub(crate) validity: Option<&'a BooleanBuffer>,
}

impl PageRows<'_> {
    pub(crate) fn nulls(&self) -> usize {
        self.validity.map_or(0, |validity| self.rows - validity.count_set_bits())
    }
}

/// What the index says of a page, but for its nulls.
#[derive(Debug, Default)]
pub(crate) struct PageIndexEntry {
    pub(crate) min: Vec<u8>,
    pub(crate) max: Vec<u8>,
    /// The number of NaNs, of floats.
    pub(crate) nans: Option<u64>,
    /// Bytes of the values, of byte strings.
    pub(crate) text_bytes: Option<i64>,
}

/// Pages being written.
pub(crate) struct Pages {
    descriptor: ColumnDescPtr,
    codec: PageCodec,
    is_nullable: bool,
    /// Pages that are complete.
    stored: StoredPages,
    /// The page that is being written, before it is compressed.
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

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        self.stored.len() + self.payload.capacity()
    }

    /// Begins a page by its levels; its values are appended to the payload.
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

    /// Ends the page that was begun.
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

    /// Whether the values of pages are stored as they are.
    pub(crate) const fn shares(&self) -> bool {
        self.codec.codec.is_none()
    }

    /// Appends a page of values that are not compressed, without a copy of them.
    pub(crate) fn share(&mut self, rows: PageRows<'_>, values: Buffer, entry: PageIndexEntry) -> Result<()> {
        self.begin(rows);
        let (offset, length) = (self.stored.len(), self.payload.len() + values.len());
        self.append_header(PageKind::Data(PageEncoding::Plain), count_of(rows)?, length, length)?;
        self.stored.append(&self.payload)?;
        self.stored.share(values);
        self.note(rows, PageEncoding::Plain, entry, offset)
    }

    /// Adds a page to the indexes.
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

    /// Compresses a page and appends it behind its header.
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

    /// Copies values of arrays that pages refer to.
    pub(crate) fn detach(&mut self) -> Result<()> {
        self.stored.detach()
    }

    /// The numbers of nulls and of values, where there can be nulls.
    fn levels(&self, nulls: u64, rows: u64) -> Option<LevelHistogram> {
        let values = rows - nulls;
        self.is_nullable.then(|| LevelHistogram::from(vec![nulls as i64, values as i64]))
    }

    /// Ends the chunk. The dictionary page comes first in the file.
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

/// Headers of pages are no longer.
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
