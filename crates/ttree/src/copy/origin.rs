//! A file from which baskets are copied, by views if possible.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use forthwith_io::{Source, Version};
use forthwith_plan::Result;

/// A file from which baskets are copied.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) source: Arc<dyn Source>,
    views: Views,
}

/// Whether views of a file are used.
#[derive(Debug)]
enum Views {
    /// The file has no views, or was changed so recently that another change would not be detected.
    Unused,
    /// Views never change.
    Lasting,
    /// Views are valid as long as the file has this version.
    Of(Version),
}

impl Origin {
    pub(super) fn new(source: Arc<dyn Source>) -> Result<Self> {
        let version = if source.zero_copy() { source.version()? } else { None };
        let views = match version {
            Some(version) if version.is_settled() => Views::Of(version),
            Some(_) => Views::Unused,
            None if source.zero_copy() && !source.views_may_change() => Views::Lasting,
            None => Views::Unused,
        };
        Ok(Self { source, views })
    }

    /// Returns whether a range is better accessed by a view than read.
    pub(super) fn has_views(&self, range: &Range<u64>) -> bool {
        !matches!(self.views, Views::Unused) && self.source.at_hand(range)
    }

    /// Returns a view of a range. Results derived from it are valid only if the file is
    /// [unchanged](Self::unchanged) afterwards.
    pub(super) fn view(&self, range: &Range<u64>) -> Result<Bytes> {
        Ok(self.source.view(range.clone())?)
    }

    /// Reads a range into `bytes`, whose contents are replaced.
    pub(super) fn read(&self, range: &Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
        // The length is bounded by the size of the file, with which branches were compared.
        bytes.resize((range.end - range.start) as usize, 0);
        Ok(self.source.read_into(range.start, bytes)?)
    }

    /// Checks that the file was not changed since the copy began, so that views of it are valid.
    ///
    /// # Errors
    /// Returns an error if the file was changed.
    pub(super) fn unchanged(&self) -> Result<()> {
        let Views::Of(before) = &self.views else { return Ok(()) };
        if self.source.version()?.as_ref() == Some(before) {
            return Ok(());
        }
        let what = "its size or the time of its last change, while its bytes were copied".into();
        let kind = forthwith_io::ErrorKind::Changed { what };
        Err(forthwith_io::Error::new(kind, self.source.uri()).into())
    }
}
