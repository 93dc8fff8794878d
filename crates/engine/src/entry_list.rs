//! Copies of selected entries of a block, in contiguous memory.
//!
//! The kernels decode the copy like a block, and do not deal with selections.

use crate::kernel::{Wanted, fixed, lengths};
use forthwith_columns::Memory;
use forthwith_plan::{Block, Error, Kernel, Result, ScratchBuffer};

/// Buffers for the bytes of the selected entries and for their bounds.
pub(crate) struct Chosen {
    payload: ScratchBuffer,
    bounds: ScratchBuffer,
}

impl Chosen {
    pub(crate) fn new(memory: &Memory) -> Self {
        Self { payload: ScratchBuffer::new(memory.clone()), bounds: ScratchBuffer::new(memory.clone()) }
    }

    /// Frees buffers of more than `bytes` bytes.
    pub(crate) fn trim(&mut self, bytes: usize) {
        self.payload.trim(bytes);
        self.bounds.trim(bytes);
    }

    /// Returns a block of the selected entries only. `parts` are the wanted entries of a block or of its
    /// pieces, each with the block number; their first entry is `first`. `entries` ascend.
    pub(crate) fn of(
        &mut self,
        kernel: &Kernel,
        parts: &[(Wanted<'_>, u64)],
        first: u64,
        entries: &[u64],
    ) -> Result<Wanted<'_>> {
        match (kernel.fixed(), parts) {
            (Some((size, _)), parts) => self.fixed(size, parts, first, entries),
            (None, [(wanted, _)]) => self.jagged(*wanted, first, entries),
            (None, _) => Err(Error::unsupported("this kernel in pieces")),
        }
    }

    /// Copies entries of `size` bytes each.
    fn fixed(
        &mut self,
        size: u64,
        parts: &[(Wanted<'_>, u64)],
        first: u64,
        entries: &[u64],
    ) -> Result<Wanted<'_>> {
        let blocks = parts.iter().map(|(part, block)| {
            let bytes = fixed(*part, size).map_err(|error| error.in_block(*block))?;
            Ok((bytes, part.entries))
        });
        let blocks = blocks.collect::<Result<Vec<_>>>()?;
        // The length below is bounded by that of the blocks, as all entries are in them.
        let all: u64 = blocks.iter().map(|(_, entries)| *entries).sum();
        if entries.len() as u64 > all {
            return Err(lengths());
        }
        let length = entries.len() * size as usize;
        let payload = self.payload.take(length)?;
        let mut into = &mut payload[..];
        let (mut rest, mut begin) = (entries, first);
        for (bytes, count) in blocks {
            let here;
            (here, rest) = rest.split_at(rest.partition_point(|entry| entry - begin < count));
            let (to, behind) = into.split_at_mut_checked(here.len() * size as usize).ok_or_else(lengths)?;
            let copied = match size {
                1 => one_by_one::<1>(bytes, begin, here, to),
                2 => one_by_one::<2>(bytes, begin, here, to),
                4 => one_by_one::<4>(bytes, begin, here, to),
                8 => one_by_one::<8>(bytes, begin, here, to),
                _ => run_by_run(bytes, size as usize, begin, here, to),
            };
            copied.ok_or_else(lengths)?;
            into = behind;
            begin += count;
        }
        if !rest.is_empty() {
            return Err(lengths());
        }
        Ok(whole(payload, entries.len(), &[]))
    }

    /// Copies entries of variable length by their bounds.
    fn jagged(&mut self, wanted: Wanted<'_>, first: u64, entries: &[u64]) -> Result<Wanted<'_>> {
        if wanted.bounds.is_empty() {
            return Err(Error::mismatch("the number of entry bounds", wanted.entries + 1, 0));
        }
        let (all, known) = (wanted.block.payload, wanted.bounds.as_chunks::<4>().0);
        let payload = self.payload.take(all.len())?;
        let bounds = self.bounds.take(4 * (entries.len() + 1))?;
        let (start, ends) = bounds.split_first_chunk_mut::<4>().ok_or_else(lengths)?;
        *start = [0; 4];
        let mut ends = ends.as_chunks_mut::<4>().0;
        let (mut at, mut last) = (0, 0);
        for run in entries.chunk_by(|entry, next| entry + 1 == *next) {
            let place = (run[0] - first) as usize;
            let known = known.get(place..=place + run.len()).ok_or_else(lengths)?;
            let bound = |at: usize| known.get(at).map_or(0, |bound| u32::from_le_bytes(*bound));
            let (from, to) = (bound(0), bound(run.len()));
            // Runs do not overlap, so no more bytes than the payload has are copied. The kernel checks the
            // bounds within a run.
            let bytes = all.get(from as usize..to as usize).filter(|_| last <= from);
            let bytes = bytes.ok_or_else(|| wrong(known, all.len(), run[0]))?;
            payload.get_mut(at..at + bytes.len()).ok_or_else(lengths)?.copy_from_slice(bytes);
            let (here, behind) = ends.split_at_mut_checked(run.len()).ok_or_else(lengths)?;
            for (end, known) in here.iter_mut().zip(&known[1..]) {
                *end = u32::from_le_bytes(*known).wrapping_sub(from).wrapping_add(at as u32).to_le_bytes();
            }
            ends = behind;
            at += bytes.len();
            last = to;
        }
        Ok(whole(&payload[..at], entries.len(), bounds))
    }
}

/// Copies entries of `SIZE` bytes one by one. Finding runs would cost mispredicted branches.
fn one_by_one<const SIZE: usize>(from: &[u8], begin: u64, entries: &[u64], to: &mut [u8]) -> Option<()> {
    let all = from.as_chunks::<SIZE>().0;
    for (entry, to) in entries.iter().zip(to.as_chunks_mut::<SIZE>().0) {
        *to = *all.get((entry - begin) as usize)?;
    }
    Some(())
}

/// Copies entries of `size` bytes each, by runs of consecutive entries.
fn run_by_run(from: &[u8], size: usize, begin: u64, entries: &[u64], mut to: &mut [u8]) -> Option<()> {
    for run in entries.chunk_by(|entry, next| entry + 1 == *next) {
        let at = (run[0] - begin) as usize * size;
        let bytes = from.get(at..at + run.len() * size)?;
        let (here, behind) = to.split_at_mut_checked(bytes.len())?;
        here.copy_from_slice(bytes);
        to = behind;
    }
    Some(())
}

/// Returns all copied entries.
fn whole<'a>(payload: &'a [u8], entries: usize, bounds: &'a [u8]) -> Wanted<'a> {
    let entries = entries as u64;
    Wanted { block: Block { payload, entries, bounds, origin: 0 }, from: 0, entries, bounds }
}

/// Returns the error of a run of entries that cannot be copied: an entry ends before its start or after the
/// payload, or the run starts before the end of the previous one.
#[cold]
fn wrong(known: &[[u8; 4]], length: usize, begin: u64) -> Error {
    let bounds: Vec<u32> = known.iter().map(|bound| u32::from_le_bytes(*bound)).collect();
    for (entry, pair) in (begin..).zip(bounds.windows(2)) {
        if pair[0] > pair[1] {
            return Error::fault("an entry ends before it starts").at_entry(entry);
        }
        if pair[1] as usize > length {
            return Error::fault("an entry ends behind the data of its block").at_entry(entry);
        }
    }
    Error::fault("an entry starts before the one before it ends").at_entry(begin)
}
