//! The formats there are, by the id plans carry.

use forthwith_avro::{AvroFormat, DatumFormat};
use forthwith_parquet::ParquetFormat;
use forthwith_plan::{BlockFormat, Error, ErrorKind, Result};
use forthwith_root::TreeFormat;

static ROOT_TREE: TreeFormat = TreeFormat;
static DATUMS: DatumFormat = DatumFormat;
static PARQUET: ParquetFormat = ParquetFormat;
static AVRO: [AvroFormat; 6] = AvroFormat::ALL;

/// The format that understands a plan's blocks.
///
/// # Errors
/// [`ErrorKind::Unsupported`] naming the id.
pub fn format(id: &str) -> Result<&'static dyn BlockFormat> {
    let known = [&ROOT_TREE as &dyn BlockFormat, &DATUMS, &PARQUET].into_iter();
    known
        .chain(AVRO.iter().map(|format| format as &dyn BlockFormat))
        .find(|f| f.id() == id)
        .ok_or_else(|| Error::new(ErrorKind::Unsupported { what: format!("format {id:?}") }))
}
