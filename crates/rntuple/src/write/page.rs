//! Pages: elements of a column, encoded, compressed and with their checksum.

use super::fill::changed;
use super::record::ColumnRecord;
use super::seal::{Raw, Sealed, Sealer};
use crate::coding::Kind;
use forthwith_columns::DType;
use forthwith_plan::Result;

/// How elements become bytes of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub(crate) kind: Kind,
    /// Bytes of an element before it is encoded.
    pub(crate) width: usize,
    /// Elements of a page at most.
    most: usize,
}

impl Elements {
    pub(crate) fn of(column: &ColumnRecord, page_bytes: usize) -> Self {
        let (width, in_memory) = match column.kind {
            Kind::Bit | Kind::Byte => (1, 1),
            Kind::Plain(dtype) | Kind::Split(dtype) | Kind::Zigzag(dtype) => (dtype.size(), dtype.size()),
            Kind::Half => (2, DType::Float32.size()),
            // ROOT keeps an index and a tag in 16 bytes.
            Kind::Switch => (12, 16),
            _ => (8, 8),
        };
        Self { kind: column.kind, width, most: (page_bytes / in_memory).max(1) }
    }
}

/// A column while a cluster is filled.
#[derive(Debug)]
pub(crate) struct Filling {
    pub(crate) elements: Elements,
    /// Elements of a page that is not full yet: the ends of lists, or the bytes of anything else.
    ends: Vec<u64>,
    bytes: Vec<u8>,
    /// Where the last list of the cluster ends.
    end: u64,
    /// How many values each alternative of a variant has in the cluster.
    values: Vec<u64>,
    /// Elements in this cluster, and in those before.
    here: u64,
    pub(crate) before: u64,
    /// Full pages of the cluster.
    pub(crate) pages: Vec<Sealed>,
}

impl Filling {
    /// A column whose first element in the file is number `first`.
    pub(crate) fn new(column: &ColumnRecord, page_bytes: usize) -> Self {
        Self {
            elements: Elements::of(column, page_bytes),
            ends: Vec::new(),
            bytes: Vec::new(),
            end: 0,
            values: Vec::new(),
            here: 0,
            before: column.first.unwrap_or(0),
            pages: Vec::new(),
        }
    }

    /// Begins the next cluster, and answers how many elements the last one has.
    pub(crate) fn next_cluster(&mut self) -> u64 {
        let here = std::mem::take(&mut self.here);
        self.before += here;
        self.end = 0;
        self.values.clear();
        here
    }

    /// The page that is not full, if it has elements.
    pub(crate) fn rest(&mut self) -> Option<Raw<'static>> {
        if !self.ends.is_empty() {
            return Some(Raw::Ends(std::mem::take(&mut self.ends)));
        }
        (!self.bytes.is_empty()).then(|| Raw::Owned(std::mem::take(&mut self.bytes)))
    }
}

/// The columns of an ntuple while an array is appended to them.
pub(crate) struct Pages<'p, 'a> {
    columns: &'p mut [Filling],
    sealer: &'p mut Sealer,
    /// Pages that are left to several threads, with their columns; without these, pages are sealed at once.
    waiting: Option<Vec<(usize, Raw<'a>)>>,
    /// Bytes of elements that were appended.
    pub(crate) appended: u64,
}

impl<'p, 'a> Pages<'p, 'a> {
    pub(crate) fn new(columns: &'p mut [Filling], sealer: &'p mut Sealer) -> Self {
        let waiting = sealer.runner.is_some().then(Vec::new);
        Self { columns, sealer, waiting, appended: 0 }
    }

    /// Appends elements of any type.
    pub(crate) fn append(&mut self, column: usize, mut bytes: &'a [u8]) -> Result<()> {
        let full = self.begin(column, bytes.len())?;
        let filling = self.columns.get(column).ok_or_else(changed)?;
        if !filling.bytes.is_empty() {
            let missing = (full - filling.bytes.len()).min(bytes.len());
            let (first, rest) = bytes.split_at(missing);
            self.collect(column, first, full)?;
            bytes = rest;
        }
        while bytes.len() >= full {
            let (page, rest) = bytes.split_at(full);
            self.seal(column, Raw::Lent(page))?;
            bytes = rest;
        }
        self.collect(column, bytes, full)
    }

    /// As [`append`](Self::append), of bytes that do not stay.
    pub(crate) fn append_copied(&mut self, column: usize, mut bytes: &[u8]) -> Result<()> {
        let full = self.begin(column, bytes.len())?;
        while !bytes.is_empty() {
            let filled = self.columns.get(column).ok_or_else(changed)?.bytes.len();
            let (first, rest) = bytes.split_at((full - filled).min(bytes.len()));
            self.collect(column, first, full)?;
            bytes = rest;
        }
        Ok(())
    }

    /// Appends the ends of lists that are given by their offsets, and answers the last offset.
    pub(crate) fn ends_of(&mut self, column: usize, offsets: &[i64]) -> Result<i64> {
        let Some((&first, mut rest)) = offsets.split_first() else { return Err(changed()) };
        let most = self.columns.get(column).ok_or_else(changed)?.elements.most;
        let begin = self.columns.get(column).ok_or_else(changed)?.end;
        let mut last = first;
        while !rest.is_empty() {
            let filling = self.columns.get_mut(column).ok_or_else(changed)?;
            let (these, others) = rest.split_at((most - filling.ends.len()).min(rest.len()));
            let mut sound = true;
            filling.ends.extend(these.iter().map(|offset| {
                sound &= last <= *offset;
                last = *offset;
                begin.wrapping_add(offset.wrapping_sub(first) as u64)
            }));
            if !sound {
                return Err(changed());
            }
            filling.end = filling.ends.last().copied().unwrap_or(filling.end);
            self.counted(column, these.len())?;
            rest = others;
        }
        Ok(last)
    }

    /// Appends the ends of lists of so many items.
    pub(crate) fn ends(&mut self, column: usize, lists: usize, items: impl Fn(usize) -> u64) -> Result<()> {
        (0..lists).try_for_each(|at| self.end(column, items(at)))
    }

    /// Appends the end of a list of so many items.
    pub(crate) fn end(&mut self, column: usize, items: u64) -> Result<()> {
        let filling = self.columns.get_mut(column).ok_or_else(changed)?;
        filling.end = filling.end.checked_add(items).ok_or_else(changed)?;
        filling.ends.push(filling.end);
        self.counted(column, 1)
    }

    /// Appends which alternative a variant has, if any, and which one of its values in the cluster that is.
    pub(crate) fn switch(&mut self, column: usize, alternative: Option<usize>) -> Result<()> {
        let filling = self.columns.get_mut(column).ok_or_else(changed)?;
        let mut element = [0; 12];
        if let Some(at) = alternative {
            if filling.values.len() <= at {
                filling.values.resize(at + 1, 0);
            }
            let values = filling.values.get_mut(at).ok_or_else(changed)?;
            element[..8].copy_from_slice(&values.to_le_bytes());
            element[8..].copy_from_slice(&(at as u32 + 1).to_le_bytes());
            *values += 1;
        }
        self.append_copied(column, &element)
    }

    /// Seals the pages that are left to several threads.
    pub(crate) fn finish(mut self) -> Result<()> {
        let Some(waiting) = self.waiting.take() else { return Ok(()) };
        self.sealer.all(self.columns, &waiting)
    }

    /// Counts elements, and answers the bytes of a full page.
    fn begin(&mut self, column: usize, bytes: usize) -> Result<usize> {
        let filling = self.columns.get_mut(column).ok_or_else(changed)?;
        filling.here += (bytes / filling.elements.width) as u64;
        self.appended += bytes as u64;
        Ok(filling.elements.most * filling.elements.width)
    }

    fn collect(&mut self, column: usize, bytes: &[u8], full: usize) -> Result<()> {
        let filling = self.columns.get_mut(column).ok_or_else(changed)?;
        filling.bytes.extend_from_slice(bytes);
        if filling.bytes.len() < full {
            return Ok(());
        }
        let page = std::mem::take(&mut filling.bytes);
        self.seal(column, Raw::Owned(page))
    }

    fn counted(&mut self, column: usize, ends: usize) -> Result<()> {
        let filling = self.columns.get_mut(column).ok_or_else(changed)?;
        filling.here += ends as u64;
        self.appended += 8 * ends as u64;
        if filling.ends.len() < filling.elements.most {
            return Ok(());
        }
        let page = std::mem::take(&mut filling.ends);
        self.seal(column, Raw::Ends(page))
    }

    fn seal(&mut self, column: usize, page: Raw<'a>) -> Result<()> {
        if let Some(waiting) = &mut self.waiting {
            waiting.push((column, page));
            return Ok(());
        }
        let filling = self.columns.get_mut(column).ok_or_else(changed)?;
        let sealed = self.sealer.one(&filling.elements, &page)?;
        filling.pages.push(sealed);
        // The memory serves for the next page.
        match page {
            Raw::Owned(mut bytes) => {
                bytes.clear();
                filling.bytes = bytes;
            }
            Raw::Ends(mut ends) => {
                ends.clear();
                filling.ends = ends;
            }
            Raw::Lent(_) => {}
        }
        Ok(())
    }
}
