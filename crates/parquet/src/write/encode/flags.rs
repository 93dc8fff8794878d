//! Encoder of booleans.

use super::{
    bounds::Bounds,
    chunk::{ChunkEncoder, EncodedChunk},
    header::PageEncoding,
    pages::{PageIndexEntry, PageRows, Pages},
    rows::{PAGE_ROWS, PendingRows, validity_of},
};
use arrow_array::{Array, ArrayRef, cast::AsArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use forthwith_io::Compressor;
use forthwith_plan::{Error, Result};
use parquet::{
    basic::SortOrder,
    file::statistics::{Statistics, ValueStatistics},
};

/// Encoder of a chunk of booleans.
pub(crate) struct FlagEncoder {
    pages: Pages,
    bounds: Bounds<bool>,
    rows: PendingRows,
    /// Values of the pending rows, without nulls.
    pending: BooleanBufferBuilder,
}

impl FlagEncoder {
    pub(crate) fn new(pages: Pages) -> Self {
        Self {
            pages,
            bounds: Bounds::new(),
            rows: PendingRows::default(),
            pending: BooleanBufferBuilder::new(0),
        }
    }

    fn end_pending(&mut self, codecs: &mut Compressor) -> Result<()> {
        let (rows, validity) = self.rows.take();
        if rows == 0 {
            return Ok(());
        }
        let values = self.pending.finish();
        let mut entry = PageIndexEntry::default();
        if !values.is_empty() {
            let set = values.count_set_bits();
            let (min, max) = (set == values.len(), set > 0);
            self.bounds.add(min, max, false);
            (entry.min, entry.max) = (vec![min.into()], vec![max.into()]);
        }
        let rows = PageRows::new(rows, validity.as_ref());
        let payload = self.pages.begin(rows);
        let packed = values.sliced();
        payload.extend_from_slice(&packed[..values.len().div_ceil(8)]);
        self.pages.end(rows, PageEncoding::Plain, entry, codecs)
    }

    fn append(&mut self, values: &BooleanBuffer, validity: Option<&BooleanBuffer>) {
        match validity {
            None => self.pending.append_buffer(values),
            Some(validity) => validity.set_indices().for_each(|row| self.pending.append(values.value(row))),
        }
    }
}

impl ChunkEncoder for FlagEncoder {
    fn push(&mut self, array: &ArrayRef, codecs: &mut Compressor) -> Result<()> {
        let array = array.as_boolean_opt().ok_or_else(|| Error::fault("values that are no booleans"))?;
        let mut start = 0;
        while start < array.len() {
            let count = (PAGE_ROWS - self.rows.rows).min(array.len() - start);
            let validity = validity_of(array.nulls(), start, count);
            self.append(&array.values().slice(start, count), validity.as_ref());
            self.rows.append(count, validity.as_ref());
            start += count;
            if self.rows.rows == PAGE_ROWS {
                self.end_pending(codecs)?;
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.pages.memory() + self.pending.len() / 8
    }

    fn detach(&mut self) -> Result<()> {
        self.pages.detach()
    }

    fn close(mut self: Box<Self>, codecs: &mut Compressor) -> Result<EncodedChunk> {
        self.end_pending(codecs)?;
        let (min, max) = self.bounds.chunk().unzip();
        let is_signed = self.pages.descriptor().sort_order() == SortOrder::SIGNED;
        let statistics = |nulls, _| {
            let statistics = ValueStatistics::new(min, max, None, Some(nulls), false);
            Statistics::Boolean(statistics.with_backwards_compatible_min_max(is_signed))
        };
        self.pages.close(None, self.bounds.order(), statistics, codecs)
    }
}
