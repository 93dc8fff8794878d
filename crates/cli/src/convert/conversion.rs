//! The options of a conversion.

use crate::{
    destination::is_replaced,
    end::End,
    failure::{Failure, Result},
    opened::Values,
};
use forthwith::{FileFormat, plan::WriteOptions};
use std::{ffi::OsString, path::Path};

/// Standard output.
pub(super) const STANDARD: &str = "-";

/// The options of the command besides source and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conversion {
    /// The file to write; `-` is standard output.
    pub(crate) to: OsString,
    /// The format, where the name's ending does not say it.
    pub(crate) format: Option<FileFormat>,
    /// How.
    pub(crate) options: WriteOptions,
    /// Bytes of a step, decompressed.
    pub(crate) step: u64,
    /// Columns that cannot be read or written are left out.
    pub(crate) skip_unsupported: bool,
    /// Each column that is left out is named.
    pub(crate) verbose: bool,
    /// Columns that some files do not have are null there.
    pub(crate) missing_null: bool,
    /// Entries that are damaged are left out.
    pub(crate) skip_errors: bool,
    /// How values are read.
    pub(crate) values: Values,
    /// First or last entries to convert; `None` for all entries.
    pub(crate) end: Option<End>,
    /// The number of entries that are drawn at random, and the seed; `None` for all entries.
    pub(crate) sample: Option<(u64, u64)>,
    /// A file of that name is replaced.
    pub(crate) force: bool,
}

impl Conversion {
    /// A file that exists is kept, unless told otherwise; the source in any case.
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
