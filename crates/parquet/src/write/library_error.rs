//! Errors of the `parquet` crate.

use forthwith_plan::Error;
use parquet::errors::ParquetError;

/// Converts an error: to an I/O error of the output if that is among its sources, or else to an invalid
/// argument.
pub(crate) fn failed(error: &ParquetError) -> Error {
    // The error of the operating system is among the sources.
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
