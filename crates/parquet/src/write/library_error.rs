//! Errors of the `parquet` crate.

use forthwith_plan::Error;
use parquet::errors::ParquetError;

/// The error of the output, if that is within, or else what the crate says.
pub(crate) fn failed(error: &ParquetError) -> Error {
    // The system's own error is within.
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<std::io::Error>() {
            let kind = forthwith_io::ErrorKind::Io {
                kind: io.kind(),
                code: io.raw_os_error(),
                text: io.to_string(),
            };
            return Error::new(forthwith_io::Error::new(kind, "the output"));
        }
        source = inner.source();
    }
    Error::invalid(error.to_string())
}
