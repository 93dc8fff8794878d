//! Pages: encoded and compressed elements of a column, with their checksum.

use super::elements::changed;
use super::offset_columns::{LentEnds, NEAR, rising};
use super::open_cluster::Filling;
use super::seal::{Meanwhile, Sealer};
use super::sealed::Raw;
use crate::coding::Kind;
use forthwith_columns::Column;
use forthwith_plan::Result;
use forthwith_root::write::FileWriter;

/// Columns of an ntuple while an array is appended.
pub(crate) struct Pages<'p, 'a> {
    columns: &'p mut [Filling],
    sealer: &'p mut Sealer,
    file: &'p mut FileWriter,
    /// Maximum size of a record, in bytes.
    longest: u64,
    /// Pages to seal on several threads, with their columns. `None` if pages are sealed at once.
    waiting: Option<Vec<(usize, Raw<'a>)>>,
    /// Size of the appended elements, in bytes.
    pub(crate) appended: u64,
}

impl<'p, 'a> Pages<'p, 'a> {
    pub(crate) fn new(
        columns: &'p mut [Filling],
        sealer: &'p mut Sealer,
        file: &'p mut FileWriter,
        longest: u64,
    ) -> Self {
        let waiting = sealer.runner.is_some().then(Vec::new);
        Self { columns, sealer, file, longest, waiting, appended: 0 }
    }

    /// Appends elements of any type, which are some of those in a column of an array.
    pub(crate) fn append(&mut self, column: usize, of: &'a Column, mut bytes: &'a [u8]) -> Result<()> {
        let raw = if of.is_unshared() { Raw::Unshared } else { Raw::Lent };
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
            self.seal(column, raw(page))?;
            bytes = rest;
        }
        self.collect(column, bytes, full)
    }

    /// Appends elements as [`append`](Self::append) does, but copies them.
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

    /// Appends the ends of lists from their offsets. Returns the last offset. Complete pages borrow the
    /// offsets, which are some of those in the column `of`.
    pub(crate) fn ends_of(&mut self, column: usize, of: &'a Column, offsets: &'a [[u8; 8]]) -> Result<i64> {
        let Some((first, rest)) = offsets.split_first() else { return Err(changed()) };
        let filling = self.columns.get(column).ok_or_else(changed)?;
        let more = filling.end.wrapping_sub(u64::from_ne_bytes(*first));
        let most = filling.elements.most;
        let missing = if filling.ends.is_empty() { 0 } else { most - filling.ends.len() };
        let (first, rest) = rest.split_at(missing.min(rest.len()));
        self.copy_ends(column, more, first)?;
        let (pages, last) = rest.split_at(rest.len() - rest.len() % most);
        for page in pages.chunks(most) {
            let filling = self.columns.get_mut(column).ok_or_else(changed)?;
            let Some(lent) = LentEnds::of(filling.elements.kind, page, more, filling.end) else {
                self.copy_ends(column, more, page)?;
                continue;
            };
            filling.end = lent.last;
            filling.here += page.len() as u64;
            self.appended += 8 * page.len() as u64;
            // The offsets were checked when the array was validated.
            let as_they_are = cfg!(target_endian = "little")
                && more == 0
                && filling.elements.kind == Kind::Index64
                && of.is_unshared();
            let raw = if as_they_are { Raw::Unshared(page.as_flattened()) } else { Raw::LentEnds(lent) };
            self.seal(column, raw)?;
        }
        let filling = self.columns.get_mut(column).ok_or_else(changed)?;
        // As in `collect`.
        if last.len() > most / 2 {
            filling.ends.reserve_exact(most - filling.ends.len());
        }
        self.copy_ends(column, more, last)?;
        let end = self.columns.get(column).ok_or_else(changed)?.end;
        Ok(end.wrapping_sub(more) as i64)
    }

    /// Appends ends of lists: `offsets`, with `more` added.
    fn copy_ends(&mut self, column: usize, more: u64, offsets: &[[u8; 8]]) -> Result<()> {
        let mut rest = offsets;
        while !rest.is_empty() {
            let filling = self.columns.get_mut(column).ok_or_else(changed)?;
            let before = filling.ends.len();
            let (these, others) = rest.split_at((filling.elements.most - before).min(rest.len()).min(NEAR));
            let number = |offset: &[u8; 8]| u64::from_ne_bytes(*offset);
            filling.ends.extend(these.iter().map(|offset| more.wrapping_add(number(offset)).to_ne_bytes()));
            // The ends are checked rather than the offsets, which may have changed.
            let ends = filling.ends.get(before..).unwrap_or_default();
            filling.end = rising(filling.end, ends).ok_or_else(changed)?;
            self.counted(column, these.len())?;
            rest = others;
        }
        Ok(())
    }

    /// Appends the ends of lists with the lengths that `items` returns.
    pub(crate) fn ends(&mut self, column: usize, lists: usize, items: impl Fn(usize) -> u64) -> Result<()> {
        (0..lists).try_for_each(|at| self.end(column, items(at)))
    }

    /// Appends the end of a list of `items` items.
    pub(crate) fn end(&mut self, column: usize, items: u64) -> Result<()> {
        let filling = self.columns.get_mut(column).ok_or_else(changed)?;
        filling.end = filling.end.checked_add(items).ok_or_else(changed)?;
        filling.ends.push(filling.end.to_ne_bytes());
        self.counted(column, 1)
    }

    /// Appends the alternative of a variant, or null, with the index of its value in the cluster.
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

    /// Ends incomplete pages at the end of the cluster.
    pub(crate) fn end_all(&mut self) -> Result<()> {
        for column in 0..self.columns.len() {
            if let Some(rest) = self.columns.get_mut(column).and_then(Filling::rest) {
                self.seal(column, rest)?;
            }
        }
        Ok(())
    }

    /// Seals the remaining pages on several threads. `meanwhile` is called while these run, if there are any.
    pub(crate) fn finish(mut self, meanwhile: &mut Meanwhile<'_>) -> Result<()> {
        let waiting = self.waiting.take().unwrap_or_default();
        if waiting.is_empty() {
            return Ok(());
        }
        self.sealer.all(self.columns, &waiting, self.file, self.longest, meanwhile)?;
        for (column, raw) in waiting {
            self.columns.get_mut(column).ok_or_else(changed)?.keep(raw);
        }
        Ok(())
    }

    /// Counts elements. Returns the size of a complete page in bytes.
    fn begin(&mut self, column: usize, bytes: usize) -> Result<usize> {
        let filling = self.columns.get_mut(column).ok_or_else(changed)?;
        filling.here += (bytes / filling.elements.width) as u64;
        self.appended += bytes as u64;
        Ok(filling.elements.most * filling.elements.width)
    }

    fn collect(&mut self, column: usize, bytes: &[u8], full: usize) -> Result<()> {
        let filling = self.columns.get_mut(column).ok_or_else(changed)?;
        let length = filling.bytes.len() + bytes.len();
        // A buffer that grew by doubling would be copied, and each of its pages faulted in anew.
        if length > filling.bytes.capacity() && length > full / 2 {
            filling.bytes.reserve_exact(full - filling.bytes.len());
        }
        filling.bytes.extend_from_slice(bytes);
        if filling.bytes.len() < full {
            return Ok(());
        }
        let page = filling.full_bytes();
        self.seal(column, page)
    }

    fn counted(&mut self, column: usize, ends: usize) -> Result<()> {
        let filling = self.columns.get_mut(column).ok_or_else(changed)?;
        filling.here += ends as u64;
        self.appended += 8 * ends as u64;
        if filling.ends.len() < filling.elements.most {
            return Ok(());
        }
        let page = filling.full_ends();
        self.seal(column, page)
    }

    fn seal(&mut self, column: usize, page: Raw<'a>) -> Result<()> {
        if let Some(waiting) = &mut self.waiting {
            waiting.push((column, page));
            return Ok(());
        }
        let filling = self.columns.get_mut(column).ok_or_else(changed)?;
        let sealed = self.sealer.one(&filling.elements, &page, self.file, self.longest);
        let sealed = sealed.map_err(|error| error.in_object(&filling.path))?;
        filling.pages.push(sealed);
        filling.keep(page);
        Ok(())
    }
}
