//! Pending rows of an incomplete page, and their validity.

use super::pages::PageRows;
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer};

/// Number of rows of a page.
pub(crate) const PAGE_ROWS: usize = 20_480;

/// Validity of the rows of an incomplete page.
#[derive(Debug, Default)]
pub(crate) struct PendingRows {
    pub(crate) rows: usize,
    /// Created with the first null.
    validity: Option<BooleanBufferBuilder>,
}

impl PendingRows {
    /// Appends rows.
    pub(crate) fn append(&mut self, rows: usize, validity: Option<&BooleanBuffer>) {
        if let (None, Some(_)) = (&self.validity, validity) {
            let mut builder = BooleanBufferBuilder::new(PAGE_ROWS);
            builder.append_n(self.rows, true);
            self.validity = Some(builder);
        }
        match (&mut self.validity, validity) {
            (Some(builder), Some(validity)) => builder.append_buffer(validity),
            (Some(builder), None) => builder.append_n(rows, true),
            (None, _) => {}
        }
        self.rows += rows;
    }

    /// Returns the number and the validity of the rows, and removes them.
    pub(crate) fn take(&mut self) -> (usize, Option<BooleanBuffer>) {
        let rows = std::mem::take(&mut self.rows);
        (rows, self.validity.take().map(|mut builder| builder.finish()))
    }
}

/// Returns the validity of some rows of an array; `None` if none of them is null.
pub(crate) fn validity_of(nulls: Option<&NullBuffer>, start: usize, rows: usize) -> Option<BooleanBuffer> {
    let validity = nulls?.inner().slice(start, rows);
    (validity.count_set_bits() < rows).then_some(validity)
}

impl<'a> PageRows<'a> {
    pub(crate) fn new(rows: usize, validity: Option<&'a BooleanBuffer>) -> Self {
        Self { rows, validity }
    }
}

/// Appends the values of the rows that are not null.
pub(crate) fn append_valid<T: Copy + Default>(
    out: &mut Vec<T>,
    values: &[T],
    validity: Option<&BooleanBuffer>,
) {
    let Some(validity) = validity else {
        out.extend_from_slice(values);
        return;
    };
    let mut end = out.len();
    out.resize(end + values.len(), T::default());
    let chunks = validity.bit_chunks();
    let words = chunks.iter().chain(std::iter::once(chunks.remainder_bits()));
    for (some, mut word) in values.chunks(64).zip(words) {
        if word == u64::MAX {
            out[end..end + some.len()].copy_from_slice(some);
            end += some.len();
            continue;
        }
        // Each value is written; the next one overwrites it if it is null.
        for value in some {
            out[end] = *value;
            end += (word & 1) as usize;
            word >>= 1;
        }
    }
    out.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_nulls_are_left_out() {
        for rows in [0, 1, 63, 64, 65, 200] {
            for step in [1, 2, 7, 300] {
                let values: Vec<u32> = (0..rows).collect();
                let validity: BooleanBuffer = values.iter().map(|row| row % step == 0).collect();
                let mut out = vec![7];
                append_valid(&mut out, &values, Some(&validity));
                let wanted: Vec<u32> = values.iter().copied().filter(|row| row % step == 0).collect();
                assert_eq!(out[1..], wanted);
            }
        }
    }

    #[test]
    fn pending_rows_remember_which_have_values() {
        let mut rows = PendingRows::default();
        rows.append(3, None);
        rows.append(2, Some(&[false, true].into_iter().collect()));
        rows.append(1, None);
        let (count, validity) = rows.take();
        assert_eq!(count, 6);
        let wanted = [true, true, true, false, true, true].into_iter().collect();
        assert_eq!(validity, Some(wanted));
        assert_eq!(rows.take(), (0, None));
    }
}
