//! Files that refer to other files, and sources that combine several files.

use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use super::{Source, Version, local_path, open};
use crate::error::{Error, ErrorKind, Result};

/// Opens a file that the local file `uri` refers to by `name`, a relative path inside of the folder of `uri`.
pub(super) fn neighbour(uri: &str, name: &str) -> Result<Arc<dyn Source>> {
    let path = local_path(uri).map_err(|kind| Error::new(kind, uri))?;
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || !plain || name.contains("://") {
        return Err(Error::new(ErrorKind::Elsewhere, name));
    }
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    if !FOLLOWS_LINKS.load(Ordering::Relaxed) {
        let mut at = folder.clone();
        for part in Path::new(name).components() {
            at.push(part);
            if std::fs::symlink_metadata(&at).is_ok_and(|found| found.is_symlink()) {
                return Err(Error::new(ErrorKind::Elsewhere, name));
            }
        }
    }
    open(&folder.join(name).to_string_lossy())
}

/// Whether [`neighbour`] follows symbolic links.
static FOLLOWS_LINKS: AtomicBool = AtomicBool::new(true);

/// Sets for the whole process whether symbolic links are followed when a file refers to another one. The
/// default is `true`; a server that reads on behalf of others should disable it, to stay inside of its
/// folders.
pub fn follow_links_to_neighbours(follow: bool) {
    FOLLOWS_LINKS.store(follow, Ordering::Relaxed);
}

/// Concatenates several sources to one address space. Byte `at` of source `n` is at offset
/// [`place`](Self::place)`(n, at)`.
#[derive(Debug)]
pub struct Several {
    sources: Vec<Arc<dyn Source>>,
}

impl Several {
    /// Combines sources. The first one determines the name.
    pub fn new(first: Arc<dyn Source>, others: impl IntoIterator<Item = Arc<dyn Source>>) -> Self {
        Self { sources: std::iter::once(first).chain(others).collect() }
    }

    /// Returns the offset of byte `at` of source `number`; `None` if either is out of range (2¹⁶ sources of
    /// 2⁴⁸ bytes).
    #[must_use]
    pub fn place(number: usize, at: u64) -> Option<u64> {
        let number = u64::try_from(number).ok().filter(|&number| number <= u64::MAX >> LENGTH)?;
        (at >> LENGTH == 0).then_some(number << LENGTH | at)
    }

    /// Returns the source that contains the start of a range, and the range within that source.
    fn part(&self, range: &Range<u64>) -> Result<(&dyn Source, Range<u64>)> {
        let number = range.start >> LENGTH;
        let (begin, first) = (number << LENGTH, &self.sources[0]);
        let source = usize::try_from(number).ok().and_then(|number| self.sources.get(number));
        match (source, range.end.checked_sub(begin)) {
            (Some(source), Some(end)) => Ok((&**source, range.start - begin..end)),
            _ => {
                let size = self.size()?;
                Err(Error::new(ErrorKind::BeyondEnd { wanted: range.clone(), size }, first.uri()))
            }
        }
    }
}

impl Source for Several {
    fn uri(&self) -> &str {
        self.sources[0].uri()
    }

    fn size(&self) -> Result<u64> {
        let last = self.sources.len() - 1;
        Ok((last as u64) << LENGTH | self.sources[last].size()?.min((1 << LENGTH) - 1))
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges
            .iter()
            .map(|range| {
                let (source, range) = self.part(range)?;
                source.read_one(range)
            })
            .collect()
    }

    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let (source, range) = self.part(&(at..at.saturating_add(into.len() as u64)))?;
        source.read_into(range.start, into)
    }

    fn zero_copy(&self) -> bool {
        self.sources.iter().all(|source| source.zero_copy())
    }

    fn view(&self, range: Range<u64>) -> Result<Bytes> {
        let (source, range) = self.part(&range)?;
        source.view(range)
    }

    fn views_may_change(&self) -> bool {
        self.sources.iter().any(|source| source.views_may_change())
    }

    fn version(&self) -> Result<Option<Version>> {
        let mut files = Vec::new();
        for source in &self.sources {
            files.extend(source.version()?.into_iter().flat_map(|version| version.0));
        }
        Ok((!files.is_empty()).then_some(Version(files)))
    }

    fn lends_views(&self) -> bool {
        self.sources.iter().all(|source| source.lends_views())
    }

    fn at_hand(&self, range: &Range<u64>) -> bool {
        self.part(range).is_ok_and(|(source, range)| source.at_hand(&range))
    }

    fn confirm(&self) -> Result<()> {
        self.sources.iter().try_for_each(|source| source.confirm())
    }

    fn concurrent(&self) -> bool {
        self.sources.iter().all(|source| source.concurrent())
    }

    fn beside(&self, name: &str) -> Result<Arc<dyn Source>> {
        self.sources[0].beside(name)
    }
}

/// Number of low bits of an offset that are the offset within a source.
const LENGTH: u32 = 48;
