//! Reading of damaged tables: readable entries, and lost ones.

use crate::{Gap, ProgressCallback, Selected, Selection, Table, selection::joined_up};
use forthwith_columns::Array;
use forthwith_plan::{Error, Place, Result};
use std::{collections::HashMap, ops::Range};

/// Number of damaged entries of a block that are left out one by one; with more, the whole block is.
const MOST_SINGLE: u32 = 32;

/// Entries that could not be read.
#[derive(Debug)]
pub struct Loss {
    /// Range of the entries.
    pub entries: Range<u64>,
    /// The error, with its place.
    pub error: Error,
}

impl Loss {
    /// Makes the loss of a gap in a file, whose number of entries is unknown.
    pub(crate) fn of_gap(table: &Table, gap: Gap) -> Self {
        let Gap { entry, block, byte, what, .. } = gap;
        let error = Error::fault(what).at_byte(byte).in_block(block);
        let error = error.in_file(table.file().uri()).in_object(table.path());
        Self { entries: entry..entry, error }
    }
}

/// Divides a range of entries into readable and lost parts by the errors of reading it: a damaged entry is
/// lost alone if the error names it, and otherwise with its block.
///
/// ```
/// use forthwith::Salvage;
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
///
/// let events = forthwith::File::open(format!("{folder}/zmumu.root"))?.table("events")?;
/// let field = events.find("MET_pt")?;
/// let (mut salvage, mut read) = (Salvage::new(events.clone(), vec![field], 0..3600), 0);
/// while let Some(range) = salvage.next_range() {
///     match events.plan(&[field], range.clone()).and_then(|plan| events.read(&plan, None, None)) {
///         Ok(arrays) => read += arrays[0].length,
///         Err(error) if error.is_damage() => {
///             salvage.lose(&range, &error.place)?;
///         }
///         Err(error) => return Err(error),
///     }
/// }
/// assert_eq!(read, 3600);
/// # Ok::<(), forthwith::plan::Error>(())
/// ```
#[derive(Debug)]
pub struct Salvage {
    table: Table,
    fields: Vec<u32>,
    /// Ranges that are to be read, in reverse order.
    waiting: Vec<Range<u64>>,
    /// Number of errors of each object and block.
    failures: HashMap<(Option<String>, Option<u64>), u32>,
}

impl Salvage {
    /// Starts with a range of entries, of which `fields` are read.
    #[must_use]
    pub fn new(table: Table, fields: Vec<u32>, entries: Range<u64>) -> Self {
        Self { table, fields, waiting: vec![entries], failures: HashMap::new() }
    }

    /// Returns the next range to read, or `None` after the last. Ranges are in ascending order.
    pub fn next_range(&mut self) -> Option<Range<u64>> {
        self.waiting.pop()
    }

    /// Whether an error is about entries of the table, and not of a table that is read beside it.
    #[must_use]
    pub fn is_of_table(&self, place: &Place) -> bool {
        let Some(object) = &place.object else { return true };
        let path = self.table.path();
        let is_within = object == path
            || path.is_empty()
            || object.strip_prefix(path).is_some_and(|member| member.starts_with('/'));
        is_within && place.uri.as_deref().is_none_or(|uri| uri == self.table.file().uri())
    }

    /// Divides a range that could not be read because of damage at `place`, and returns its lost entries.
    /// [`next_range`](Self::next_range) returns the remaining entries. `None` means that none are lost yet:
    /// all parts of the range are to be read again.
    ///
    /// # Errors
    /// The blocks of the range cannot be determined.
    pub fn lose(&mut self, range: &Range<u64>, place: &Place) -> Result<Option<Range<u64>>> {
        let named = self.named(place)?;
        let block = self.block(range, place, &named)?;
        let key = (place.object.clone(), place.block);
        let failures = self.failures.entry(key.clone()).or_default();
        *failures += 1;
        let is_single = *failures <= MOST_SINGLE;
        let lost = match place.entry.filter(|entry| is_single && block.contains(entry)) {
            Some(entry) => entry..entry.saturating_add(1),
            None => match self.middle(&block, place, &named)? {
                Some(middle) => {
                    // Not all of several blocks need be damaged. Each may have `MOST_SINGLE` damaged entries.
                    self.failures.remove(&key);
                    self.wait([
                        range.start..block.start,
                        block.start..middle,
                        middle..block.end,
                        block.end..range.end,
                    ]);
                    return Ok(None);
                }
                None => {
                    if place.block.is_none() {
                        // The error will not name the next block either.
                        self.failures.remove(&key);
                    }
                    block.clone()
                }
            },
        };
        // The rest of the block is read alone, so that entries outside it are read only once.
        self.wait([
            range.start..block.start,
            block.start..lost.start,
            lost.end..block.end,
            block.end..range.end,
        ]);
        Ok(Some(lost))
    }

    /// Adds ranges, given in ascending order, before all pending ones.
    fn wait(&mut self, ranges: [Range<u64>; 4]) {
        self.waiting.extend(ranges.into_iter().rev().filter(|range| !range.is_empty()));
    }

    /// Returns the field that an error names, or no field.
    fn named(&self, place: &Place) -> Result<Vec<u32>> {
        let Some(object) = &place.object else { return Ok(Vec::new()) };
        let inner = match self.table.path() {
            "" => Some(object.as_str()),
            path => object.strip_prefix(path).and_then(|member| member.strip_prefix('/')),
        };
        let Some(inner) = inner else { return Ok(Vec::new()) };
        let known = self.table.fields()?;
        let is_named = |field: &&u32| known.get(**field as usize).is_some_and(|field| field.path == inner);
        Ok(self.fields.iter().filter(is_named).take(1).copied().collect())
    }

    /// Returns the entries of the block that an error is about, or the whole range if it names none.
    fn block(&self, range: &Range<u64>, place: &Place, named: &[u32]) -> Result<Range<u64>> {
        let Some(block) = place.block else { return Ok(range.clone()) };
        let blocks = |fields: &[u32]| -> Result<Option<Range<u64>>> {
            let plan = self.table.plan(fields, range.clone())?;
            let tasks = plan.tasks.iter().filter(|task| task.block == block);
            let entries = tasks.map(|task| plan.entries_of(task, &task.entries));
            let within = entries.map(|entries| entries.start.max(range.start)..entries.end.min(range.end));
            let within = within.filter(|entries| !entries.is_empty());
            Ok(within.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end)))
        };
        // Blocks of several fields can have the same number: prefer those of the named field.
        if !named.is_empty()
            && let Some(entries) = blocks(named)?
        {
            return Ok(entries);
        }
        Ok(blocks(&self.fields)?.unwrap_or_else(|| range.clone()))
    }

    /// Returns the first entry of the middle block in a range of blocks; `None` if the range has only one.
    /// All fields have the same blocks if none is named.
    fn middle(&self, block: &Range<u64>, place: &Place, named: &[u32]) -> Result<Option<u64>> {
        if named.is_empty() && place.object.as_deref().unwrap_or_default() != self.table.path() {
            return Ok(None);
        }
        let fields = if named.is_empty() { &self.fields[..self.fields.len().min(1)] } else { named };
        let mut begins = match self.table.boundaries(fields, block.clone()) {
            Ok(begins) => begins,
            // The metadata of the blocks are damaged, too.
            Err(error) if error.is_damage() => return Ok(None),
            Err(error) => return Err(error),
        };
        begins.retain(|entry| block.start < *entry && *entry < block.end);
        Ok(begins.get(begins.len() / 2).copied())
    }
}

impl Selection {
    /// Reads a range of entries around damage; returns the readable pieces and the losses. `threads` and
    /// `tick` are those of [`read`](Self::read). For Arrow data, text that is not UTF-8 counts as damage.
    ///
    /// # Errors
    /// Errors of [`read`](Self::read), except damage of the table itself.
    pub fn read_around_damage(
        &self,
        entries: Range<u64>,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<(Vec<Selected>, Vec<Loss>)> {
        let mut salvage = Salvage::new(self.table().clone(), self.fields().to_vec(), entries);
        let (mut pieces, mut losses) = (Vec::new(), Vec::new());
        while let Some(range) = salvage.next_range() {
            let read = self.read(range.clone(), threads, Some(&mut *tick));
            match read.and_then(|piece| self.checked(piece)) {
                Ok(piece) => pieces.push(piece),
                Err(error) if error.is_damage() && salvage.is_of_table(&error.place) => {
                    let lost = salvage.lose(&range, &error.place)?;
                    losses.extend(lost.map(|entries| Loss { entries, error }));
                }
                Err(error) => return Err(error),
            }
        }
        Ok((pieces, losses))
    }
}

impl Selection {
    /// Checks arrays that become Arrow data for text that is not UTF-8 and for decimals with too many digits.
    fn checked(&self, piece: Selected) -> Result<Selected> {
        if !self.has_bits() {
            return Ok(piece);
        }
        for (path, array) in self.paths().iter().zip(&piece.arrays) {
            let (what, row, member) = match (array.check_digits(), array.check_text()) {
                (Err(many), _) => (many.to_string(), many.row, many.member),
                (_, Err(bad)) => {
                    let advice = "open the file with text=\"latin-1\", \"replace\" or \"bytes\"";
                    (format!("{bad}, which Arrow refuses: {advice}"), bad.row, bad.member)
                }
                _ => continue,
            };
            let kept = piece.kept.as_ref().and_then(|kept| kept.get(usize::try_from(row).ok()?).copied());
            let entry = kept.unwrap_or_else(|| piece.entries.start.saturating_add(row));
            let error = Error::fault(what).in_row(path, entry, &member);
            return Err(error.in_file(self.table().file().uri()));
        }
        Ok(piece)
    }

    /// Reads a range of entries around damage, as [`read_around_damage`](Self::read_around_damage) does, and joins the pieces.
    ///
    /// # Errors
    /// Errors of [`read_around_damage`](Self::read_around_damage).
    pub fn read_around(
        &self,
        entries: Range<u64>,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<(Selected, Vec<Loss>)> {
        let (pieces, mut losses) = self.read_around_damage(entries.clone(), threads, tick)?;
        losses.sort_by_key(|loss| loss.entries.start);
        Ok((joined_pieces(self, entries, pieces, threads)?, losses))
    }

    /// Reads a range of entries, with nulls for damaged values. If the columns cannot be read together, each
    /// is read alone, so that no column loses values because of another. `threads` and `tick` are those of
    /// [`read`](Self::read).
    ///
    /// # Errors
    /// Errors of [`read`](Self::read), except damage of the table itself; computed columns and selected
    /// entries are unsupported.
    pub fn read_with_nulls(
        &self,
        entries: Range<u64>,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<(Selected, Vec<Loss>)> {
        if !self.is_of_fields_alone() {
            let what =
                "missing values in the place of damage cannot be combined with a cut, entries or expressions";
            return Err(Error::invalid(what));
        }
        match self.read(entries.clone(), threads, Some(&mut *tick)) {
            Err(error) if error.is_damage() => {}
            read => return read.map(|read| (read, Vec::new())),
        }
        let (mut arrays, mut losses) = (Vec::new(), Vec::new());
        for field in self.column_fields() {
            let alone = Self::plain(self.table().clone(), vec![field]);
            let (pieces, lost) = alone.read_around_damage(entries.clone(), threads, tick)?;
            arrays.push(with_nulls(&alone, &entries, &pieces)?);
            losses.extend(lost);
        }
        losses.sort_by_key(|loss| loss.entries.start);
        Ok((Selected { entries, kept: None, arrays }, losses))
    }
}

/// Joins the pieces of a range.
fn joined_pieces(
    selection: &Selection,
    range: Range<u64>,
    mut pieces: Vec<Selected>,
    threads: Option<usize>,
) -> Result<Selected> {
    if let [piece] = &pieces[..]
        && piece.entries == range
    {
        return Ok(pieces.remove(0));
    }
    if pieces.is_empty() {
        let none = selection.read(range.start..range.start, threads, None)?;
        return Ok(Selected { entries: range, kept: Some(Vec::new()), arrays: none.arrays });
    }
    let are_all = pieces.iter().all(|piece| piece.kept.is_none())
        && pieces.iter().map(|piece| piece.entries.end - piece.entries.start).sum::<u64>()
            == range.end - range.start;
    let mut kept = Vec::new();
    for piece in pieces.iter().filter(|_| !are_all) {
        match &piece.kept {
            Some(entries) => kept.extend_from_slice(entries),
            None => kept.extend(piece.entries.clone()),
        }
    }
    let columns = pieces.first().map_or(0, |piece| piece.arrays.len());
    let column =
        |at: usize| joined_up(&pieces.iter().filter_map(|piece| piece.arrays.get(at)).collect::<Vec<_>>());
    let arrays = (0..columns).map(column).collect::<Result<_>>()?;
    Ok(Selected { entries: range, kept: (!are_all).then_some(kept), arrays })
}

/// Joins the pieces of a column, with nulls between them.
fn with_nulls(column: &Selection, entries: &Range<u64>, pieces: &[Selected]) -> Result<Array> {
    let fault = |error: forthwith_columns::Invalid| Error::fault(error.to_string());
    let arrays: Vec<&Array> = pieces.iter().filter_map(|piece| piece.arrays.first()).collect();
    let whole = match arrays.is_empty() {
        // The metadata with the type may be damaged, too.
        true => column
            .read(entries.start..entries.start, None, None)?
            .arrays
            .pop()
            .ok_or_else(|| Error::fault("no column"))?,
        false => joined_up(&arrays)?,
    };
    let rows = usize::try_from(entries.end - entries.start)
        .map_err(|_| Error::invalid("more entries than memory can have"))?;
    if whole.length == rows as u64 {
        return Ok(whole);
    }
    let mut present = vec![false; rows];
    for piece in pieces {
        let (from, to) = (piece.entries.start - entries.start, piece.entries.end - entries.start);
        present.get_mut(from as usize..to as usize).into_iter().flatten().for_each(|row| *row = true);
    }
    whole.spread(&present).map_err(fault)
}

impl Table {
    /// Returns the table without undecodable parts of its file, and these parts. Without damage, it is the
    /// table itself.
    ///
    /// # Errors
    /// Errors of [`around_damage`](Self::around_damage); no part of the table can be read.
    pub fn sound(&self) -> Result<(Self, Vec<crate::Gap>)> {
        match self.entries() {
            Err(error) if error.is_damage() => self.around_damage()?.ok_or(error),
            Err(error) => Err(error),
            Ok(_) => Ok((self.clone(), Vec::new())),
        }
    }
}
