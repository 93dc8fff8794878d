//! Options of a conversion.

use crate::{
    destination::is_replaced,
    end::End,
    failure::{Failure, Result},
    opened::Values,
};
use forthwith::{FileFormat, plan::WriteOptions};
use std::{ffi::OsString, path::Path};

/// Name of standard output.
pub(super) const STANDARD: &str = "-";

/// Options of the command other than sources and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conversion {
    /// File to write; `-` is standard output.
    pub(crate) to: OsString,
    /// Format; `None` to derive it from the extension of the name.
    pub(crate) format: Option<FileFormat>,
    /// Options of the writer.
    pub(crate) options: WriteOptions,
    /// Number of decompressed bytes of a step.
    pub(crate) step: u64,
    /// Whether columns that cannot be read or written are omitted.
    pub(crate) skip_unsupported: bool,
    /// Whether omitted columns are listed.
    pub(crate) verbose: bool,
    /// Whether columns that some files lack are null there.
    pub(crate) missing_null: bool,
    /// Whether damaged entries are omitted.
    pub(crate) skip_errors: bool,
    /// Options for reading values.
    pub(crate) values: Values,
    /// First or last entries to convert; `None` for all entries.
    pub(crate) end: Option<End>,
    /// Size of a random sample of entries, and its seed; `None` for all entries.
    pub(crate) sample: Option<(u64, u64)>,
    /// Whether an existing file is replaced.
    pub(crate) force: bool,
}

impl Conversion {
    /// Returns an error if the file to write exists and must not be replaced, or if it is the source.
    pub(super) fn refuse_to_replace(&self, source: &str) -> Result<()> {
        if self.to == STANDARD {
            return Ok(());
        }
        let to = Path::new(&self.to);
        let same = to.canonicalize().ok().zip(Path::new(source).canonicalize().ok());
        if same.is_some_and(|(to, source)| to == source && to.is_file()) {
            return Err(Failure::misuse(format!("{} would overwrite its own input", to.display())));
        }
        is_replaced(&self.to, self.force).map(drop)
    }
}
