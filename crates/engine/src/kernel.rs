//! Decoding of columnar layouts: slots are allocated first, and then filled in one pass over the payload.

use crate::{fetch::PIECE, part::Counter, place::Turn};
use forthwith_columns::{Encoding, kernels};
use forthwith_plan::{self as plan, Block, Error, Kernel, Piece, Result, Task};
use std::ops::Range;

/// The wanted entries of a block.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) block: Block<'a>,
    /// First wanted entry, relative to the first of the block.
    pub(crate) from: u64,
    /// Number of wanted entries.
    pub(crate) entries: u64,
    /// Entry bounds of the wanted entries only; empty if the block has none.
    pub(crate) bounds: &'a [u8],
}

impl<'a> Wanted<'a> {
    pub(crate) fn new(task: &Task, block: Block<'a>) -> Result<Self> {
        let expected = task.entries.end - task.entries.start;
        if block.entries != expected {
            return Err(Error::mismatch("the number of entries in the block", expected, block.entries));
        }
        let from = task.wanted.start - task.entries.start;
        let entries = task.wanted.end - task.wanted.start;
        let bounds = if block.bounds.is_empty() || block.bounds.len() as u64 == 4 * (entries + 1) {
            block.bounds
        } else {
            let end = 4 * (from + entries + 1);
            if block.bounds.len() as u64 != 4 * (expected + 1) {
                return Err(Error::mismatch(
                    "the number of entry bounds",
                    expected + 1,
                    block.bounds.len() as u64 / 4,
                ));
            }
            &block.bounds[4 * from as usize..end as usize]
        };
        Ok(Self { block, from, entries, bounds })
    }

    /// Returns the number of bytes of the wanted entries; of all entries if the block has no bounds.
    pub(crate) fn len(&self) -> usize {
        let all = self.block.payload.len() as u64;
        if self.bounds.is_empty() {
            return all as usize;
        }
        bound(self.bounds, self.entries).saturating_sub(bound(self.bounds, 0)).min(all) as usize
    }

    /// Returns the wanted entries of each piece of a block, with the number of the piece's block.
    pub(crate) fn of_pieces(task: &Task, stored: &'a [u8], pieces: &[Piece]) -> Result<Vec<(Self, u64)>> {
        let expected = task.entries.end - task.entries.start;
        let found = pieces.iter().fold(0, |sum: u64, piece| sum.saturating_add(piece.entries));
        if found != expected {
            return Err(Error::mismatch("the number of entries in the block", expected, found));
        }
        let (mut first, mut parts) = (task.entries.start, Vec::with_capacity(pieces.len()));
        for piece in pieces {
            let end = first + piece.entries;
            let (from, to) = (task.wanted.start.max(first), task.wanted.end.min(end));
            let payload = stored.get(piece.bytes.clone()).ok_or_else(lengths)?;
            let block = Block { payload, entries: piece.entries, bounds: &[], origin: 0 };
            if from < to {
                parts
                    .push((Self { block, from: from - first, entries: to - from, bounds: &[] }, piece.block));
            } else if piece.entries == 0 && !payload.is_empty() {
                return Err(Error::fault("bytes without entries").in_block(piece.block));
            }
            first = end;
        }
        Ok(parts)
    }
}

pub(crate) fn run(
    kernel: &Kernel,
    task: &Task,
    wanted: Wanted<'_>,
    counter: Option<Counter<'_>>,
    turn: Turn<'_>,
) -> Result<()> {
    let Kernel::Jagged { header, wire, per_item } = kernel else {
        return run_pieces(kernel, &[(wanted, task.block)], turn);
    };
    let item = per_item.saturating_mul(wire.width() as u64);
    let item = u32::try_from(item).map_err(|_| Error::unsupported(format!("items of {item} bytes")))?.max(1);
    let made;
    let bounds = if wanted.bounds.is_empty() {
        let counter =
            counter.ok_or_else(|| Error::mismatch("the number of entry bounds", wanted.entries + 1, 0))?;
        made = counted_bounds(wanted, task, *header, item, counter)?;
        &made[..]
    } else {
        wanted.bounds
    };
    let bytes = bound(bounds, wanted.entries).saturating_sub(bound(bounds, 0));
    let headers = u64::from(*header) * wanted.entries;
    let total = bytes.checked_sub(headers).filter(|n| n % u64::from(item) == 0);
    let items = total.ok_or_else(|| ragged(bounds, *header, item, task.wanted.start))? / u64::from(item);
    let places = turn.wait()?;
    let base = places.builders[1].len() as u64 / per_item;
    let mut slots = places.append([wanted.entries, items * per_item])?;
    places.placed();
    let (Some(mut data), Some(mut offsets)) = (slots.pop(), slots.pop()) else {
        return Err(lengths());
    };
    kernels::offsets_from_bounds(bounds, *header, item, base as i64, &mut offsets)
        .map_err(|bad| bad_offsets(&bad, task.wanted.start))?;
    kernels::decode_jagged(*wire, wanted.block.payload, bounds, *header, &mut data).map_err(undecoded)?;
    Ok(())
}

/// Decodes entries of fixed size, from one or several pieces of a block.
pub(crate) fn run_pieces(kernel: &Kernel, parts: &[(Wanted<'_>, u64)], turn: Turn<'_>) -> Result<()> {
    let entries: u64 = parts.iter().map(|(part, _)| part.entries).sum();
    let Some((size, values)) = kernel.fixed() else {
        return Err(Error::unsupported("this kernel in pieces"));
    };
    let items = values.iter().map(|slot| entries.saturating_mul(slot.count));
    let each = parts
        .iter()
        .map(|(part, block)| Ok((fixed(*part, size).map_err(|e| e.in_block(*block))?, part.entries)));
    let each = each.collect::<Result<Vec<_>>>()?;
    let slots = turn.take(items)?;
    for (mut slot, &plan::Slot { at, wire, count }) in slots.into_iter().zip(&*values) {
        let is_all = at == 0 && count.saturating_mul(wire.width() as u64) == size;
        let mut rest = &mut slot[..];
        for (bytes, entries) in &each {
            let length = (entries * count) as usize * wire.dtype().size();
            let (into, behind) = rest.split_at_mut_checked(length).ok_or_else(lengths)?;
            let done = if is_all {
                kernels::decode(wire, bytes, into)
            } else {
                kernels::decode_strided(wire, bytes, size as usize, at as usize, count as usize, into)
            };
            done.map_err(undecoded)?;
            rest = behind;
        }
    }
    Ok(())
}

/// Function that reads a range and passes its bytes to a callback.
pub(crate) type ReadPiece<'a> = dyn FnMut(Range<u64>, &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> + 'a;

/// Reads and decodes uncompressed numbers in pieces. `entries` is their byte range in the file.
pub(crate) fn flat_in_pieces(
    wire: Encoding,
    per_entry: u64,
    task: &Task,
    entries: Range<u64>,
    read: &mut ReadPiece<'_>,
    turn: Turn<'_>,
) -> Result<()> {
    let size = piece_size(wire, per_entry, task, &entries)?;
    let start = entries.start + (task.wanted.start - task.entries.start) * size;
    let count = task.wanted.end - task.wanted.start;
    let end = start + count * size;
    let mut slots = turn.take([count * per_entry])?;
    let slot = slots.first_mut().ok_or_else(lengths)?;
    in_pieces(wire, start..end, read, slot)
}

/// Reads and decodes contiguous values in pieces.
fn in_pieces(wire: Encoding, bytes: Range<u64>, read: &mut ReadPiece<'_>, into: &mut [u8]) -> Result<()> {
    // Pieces contain whole values: most widths divide the length of a piece, which is otherwise slightly
    // shorter.
    let piece = (PIECE / wire.width() * wire.width()) as u64;
    let (mut from, mut at) = (bytes.start, 0);
    while from < bytes.end {
        let to = bytes.end.min(from + piece);
        let next = at + ((to - from) as usize / wire.width()) * wire.dtype().size();
        let into = into.get_mut(at..next).ok_or_else(lengths)?;
        read(from..to, &mut |bytes| kernels::decode(wire, bytes, into).map_err(undecoded))?;
        (from, at) = (to, next);
    }
    Ok(())
}

/// Reads and decodes selected entries, which ascend. Entries within the length of a piece are read together
/// with the bytes between them; entries that are longer than a piece are read one by one, in pieces.
pub(crate) fn chosen_in_pieces(
    wire: Encoding,
    per_entry: u64,
    task: &Task,
    entries: Range<u64>,
    mut chosen: &[u64],
    read: &mut ReadPiece<'_>,
    turn: Turn<'_>,
) -> Result<()> {
    let size = piece_size(wire, per_entry, task, &entries)?;
    let mut slots = turn.take([chosen.len() as u64 * per_entry])?;
    let mut into = &mut slots.first_mut().ok_or_else(lengths)?[..];
    let made = per_entry as usize * wire.dtype().size();
    while let Some(first) = chosen.first() {
        let near = chosen.partition_point(|entry| (entry - first + 1).saturating_mul(size) <= PIECE as u64);
        let (here, behind) = chosen.split_at(near.max(1));
        let start = entries.start + (first - task.entries.start) * size;
        let end = start + here.last().map_or(0, |last| (last - first + 1) * size);
        let (now, rest) = into.split_at_mut_checked(here.len() * made).ok_or_else(lengths)?;
        if near == 0 {
            in_pieces(wire, start..end, read, now)?;
        } else {
            read(start..end, &mut |bytes| {
                for (entry, to) in here.iter().zip(now.chunks_exact_mut(made)) {
                    let at = ((entry - first) * size) as usize;
                    let bytes = bytes.get(at..at + size as usize).ok_or_else(lengths)?;
                    kernels::decode(wire, bytes, to).map_err(undecoded)?;
                }
                Ok(())
            })?;
        }
        (chosen, into) = (behind, rest);
    }
    Ok(())
}

/// Returns the length of an entry in bytes, after checking that the length of the block matches.
fn piece_size(wire: Encoding, per_entry: u64, task: &Task, entries: &Range<u64>) -> Result<u64> {
    let size = per_entry.saturating_mul(wire.width() as u64);
    let expected = (task.entries.end - task.entries.start).saturating_mul(size);
    if entries.end - entries.start != expected {
        return Err(Error::mismatch("the length of the block's data", expected, entries.end - entries.start));
    }
    Ok(size)
}

/// Returns the bytes of the wanted entries, which have `size` bytes each.
pub(crate) fn fixed<'a>(wanted: Wanted<'a>, size: u64) -> Result<&'a [u8]> {
    let payload = wanted.block.payload;
    let expected = wanted.block.entries.saturating_mul(size);
    if payload.len() as u64 != expected {
        return Err(Error::mismatch("the length of the block's data", expected, payload.len()));
    }
    let from = (wanted.from * size) as usize;
    payload.get(from..from + (wanted.entries * size) as usize).ok_or_else(lengths)
}

/// Computes the bounds of the wanted entries of a block without bounds, from the lengths in the counter
/// column.
fn counted_bounds(
    wanted: Wanted<'_>,
    task: &Task,
    header: u32,
    item: u32,
    counter: Counter<'_>,
) -> Result<Vec<u8>> {
    let column = &counter.places.builders[0];
    let row = counter.row(task.entries.start).ok_or_else(lengths)?;
    let rows = wanted.block.entries as usize;
    let counts = column.read(row..row.saturating_add(rows)).ok_or_else(lengths)?;
    let mut offsets = vec![0; 8 * rows];
    kernels::offsets_from_counts(&counts, column.dtype(), 0, &mut offsets)
        .map_err(|bad| bad_offsets(&bad, task.entries.start))?;
    let length = wanted.block.payload.len() as u64;
    let mut bounds = Vec::with_capacity(4 * (rows + 1));
    bounds.extend(0_u32.to_le_bytes());
    let mut end = 0;
    for (entry, offset) in (1..).zip(offsets.as_chunks::<8>().0) {
        let items = i64::from_ne_bytes(*offset) as u64;
        end = items.saturating_mul(u64::from(item)).saturating_add(entry * u64::from(header));
        // Saturation is detected by the comparison with the payload below, whose length fits 32 bits in a
        // basket.
        bounds.extend(u32::try_from(end).unwrap_or(u32::MAX).to_le_bytes());
    }
    if end != length {
        return Err(Error::mismatch("the length of the block's data", end, length));
    }
    let from = 4 * wanted.from as usize;
    let to = from + 4 * (wanted.entries as usize + 1);
    bounds.get(from..to).map(<[u8]>::to_vec).ok_or_else(lengths)
}

/// Returns the entry bound with index `at`; 0 if it is out of range.
fn bound(bounds: &[u8], at: u64) -> u64 {
    let at = 4 * at as usize;
    bounds.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, |b| u64::from(u32::from_le_bytes(b)))
}

/// Returns the error of the first entry that does not consist of a header and whole items.
#[cold]
fn ragged(bounds: &[u8], header: u32, item: u32, first: u64) -> Error {
    let all = (bounds.len() as u64 / 4).saturating_sub(1);
    let is_ragged = |entry: &u64| {
        let length = bound(bounds, entry + 1).checked_sub(bound(bounds, *entry));
        let items = length.and_then(|length| length.checked_sub(u64::from(header)));
        items.is_none_or(|items| !items.is_multiple_of(u64::from(item)))
    };
    let entry = (0..all).find(is_ragged).unwrap_or(0);
    Error::fault("the entry's length is not a whole number of items").at_entry(first + entry)
}

#[cold]
fn bad_offsets(bad: &kernels::OffsetsError, first: u64) -> Error {
    Error::fault(bad.to_string()).at_entry(bad.entry().map(|entry| first + entry as u64))
}

#[cold]
fn undecoded(error: kernels::DecodeError) -> Error {
    match error {
        kernels::DecodeError::Truth => Error::fault(error.to_string()),
        _ => lengths(),
    }
}

#[cold]
pub(crate) fn lengths() -> Error {
    Error::invalid("the plan does not fit the block")
}
