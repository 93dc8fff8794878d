//! Dictionary of a text column: its distinct values in the order of the dictionary page, which is that of the
//! categories that were written.

use crate::{ParquetTable, leaf::Physical, pages::Pages};
use forthwith_columns::{Array, Column, Form};
use forthwith_io::Decompressor;
use forthwith_plan::{Error, Result};

impl ParquetTable {
    /// Returns the dictionary of the first row group; `None` if it has none, or if the field is not text
    /// outside lists.
    pub(crate) fn first_dictionary(&self, field: u32) -> Result<Option<Array>> {
        let Ok((_, parts)) = &self.column(field)?.reading else { return Ok(None) };
        let ([part], Some(group)) = (&parts[..], self.row_groups().first()) else { return Ok(None) };
        if part.leaf.physical != Physical::Bytes || part.leaf.max_rep > 0 {
            return Ok(None);
        }
        let Some(chunk) = self.chunk(group, part.number) else { return Ok(None) };
        let Some(range) = chunk.dictionary_range(self.size)? else { return Ok(None) };
        let Some(stored) = self.source.read(std::slice::from_ref(&range))?.pop() else { return Ok(None) };
        let codec = u32::try_from(chunk.codec).unwrap_or(u32::MAX);
        let mut pages = Pages {
            leaf: &part.leaf,
            codec,
            stored: &stored,
            at: 0,
            page: 0,
            rows: 0,
            skipped: 0,
            values: 1,
            left: 1,
            entries: 1,
            wanted: 0..1,
            dictionary: None,
        };
        let read = pages.next(&mut Vec::new(), &mut Decompressor::default());
        let Some(dictionary) = pages.dictionary else {
            // Without a position, the error is about missing data pages, which the range does not include.
            let damage = read.err().filter(|error| error.place.byte.is_some());
            return damage.map_or(Ok(None), |error| Err(error.behind(range.start)));
        };
        let (bounds, bytes) = dictionary.into_texts();
        let ends: std::result::Result<Vec<i64>, _> = bounds.into_iter().map(i64::try_from).collect();
        let ends = ends.map_err(|_| Error::fault("a dictionary of more bytes than there can be"))?;
        Ok(Some(Array {
            form: Form::String { key: "node0".into(), binary: false },
            length: ends.len() as u64 - 1,
            columns: vec![
                ("node0-offsets".into(), Column::from_vec(ends)),
                ("node0-data".into(), Column::from_vec(bytes)),
            ],
        }))
    }
}
