//! Parquet: row groups, and metadata of column chunks.

use crate::table::Table;
use forthwith::parquet::{self, ParquetTable};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};

/// A row group: number, first entry, entry after the last, decompressed bytes.
type RowGroup = (usize, u64, u64, u64);

/// Returns the row groups of a table; none for other formats.
#[pyfunction]
pub(super) fn parquet_row_groups(table: &Bound<'_, Table>) -> Vec<RowGroup> {
    let groups = table.get().table.own::<ParquetTable>().map(ParquetTable::row_groups).unwrap_or_default();
    let row = |g: &parquet::RowGroup| (g.number, g.entries.start, g.entries.end, g.payload_bytes);
    groups.iter().map(row).collect()
}

/// Returns the column chunks of a field; none for other formats.
#[pyfunction]
pub(super) fn parquet_chunks<'py>(
    py: Python<'py>,
    table: &Bound<'_, Table>,
    field: u32,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let this = table.get();
    let Some(own) = this.table.own::<ParquetTable>() else { return Ok(Vec::new()) };
    let chunks = this.handle.run(py, || own.chunks(field))?;
    chunks.iter().map(|chunk| described(py, chunk)).collect()
}

/// Converts the metadata of a column chunk to a dict.
fn described<'py>(py: Python<'py>, chunk: &parquet::Chunk) -> PyResult<Bound<'py, PyDict>> {
    let known = PyDict::new(py);
    known.set_item("row_group", chunk.row_group)?;
    known.set_item("path", &chunk.path)?;
    known.set_item("num_values", chunk.values)?;
    known.set_item("stored_bytes", chunk.bytes.0)?;
    known.set_item("payload_bytes", chunk.bytes.1)?;
    known.set_item("codec", &chunk.codec)?;
    known.set_item("encodings", &chunk.encodings)?;
    known.set_item("null_count", chunk.nulls)?;
    known.set_item("distinct_count", chunk.distinct)?;
    let value = |bound: &parquet::Bound| -> PyResult<Bound<'py, PyAny>> {
        Ok(match bound {
            parquet::Bound::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
            parquet::Bound::Integer(value) => value.into_pyobject(py)?.into_any(),
            parquet::Bound::Float(value) => value.into_pyobject(py)?.into_any(),
            parquet::Bound::Bytes(value) => PyBytes::new(py, value).into_any(),
        })
    };
    known.set_item("min", chunk.bounds.as_ref().map(|(min, _)| value(min)).transpose()?)?;
    known.set_item("max", chunk.bounds.as_ref().map(|(_, max)| value(max)).transpose()?)?;
    known.set_item("exact", chunk.exact)?;
    Ok(known)
}
