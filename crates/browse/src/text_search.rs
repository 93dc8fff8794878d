//! Search for cells that match a pattern, in all rows of a table.

use crate::{
    cells::{self, Entries},
    entry_set::EntrySet,
};
use forthwith::{
    Table,
    columns::Array,
    plan::{Error, ErrorKind, Result},
};
use regex_lite::{Regex, RegexBuilder};
use std::{
    collections::BTreeSet,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Number of rows that are read at first, and maximum number that are read at a time.
const ROWS: (u64, u64) = (1 << 10, 1 << 18);
/// Approximate maximum size in bytes of the values that are read at a time.
const BYTES: usize = 16 << 20;
/// Number of columns that are read at a time.
const COLUMNS: usize = 64;
/// Number of rows that are formatted at a time.
const TEXTS: u64 = 64;
/// Maximum number of characters of a text that are searched.
const LONGEST: usize = 1 << 24;

/// Regular expression that is searched in the texts of cells.
#[derive(Clone, Debug)]
pub(crate) struct TextPattern {
    regex: Regex,
}

impl TextPattern {
    /// Parses a regular expression; case is ignored unless it has upper-case letters.
    ///
    /// # Errors
    /// Returns an error if the regular expression is invalid.
    pub(crate) fn new(typed: &str) -> std::result::Result<Self, String> {
        let is_small = !typed.chars().any(char::is_uppercase);
        let regex = RegexBuilder::new(typed).case_insensitive(is_small).build();
        let regex = regex.map_err(|error| format!("invalid regular expression: {error}"))?;
        Ok(Self { regex })
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// Search in some columns of a table. It searches whole values, not only the characters that fit into a cell.
pub(crate) struct TextSearch {
    pub(crate) table: Table,
    pub(crate) fields: Vec<u32>,
    pub(crate) pattern: TextPattern,
    /// Columns that could not be read everywhere.
    unread: BTreeSet<u32>,
    rows: u64,
}

impl TextSearch {
    pub(crate) const fn new(table: Table, fields: Vec<u32>, pattern: TextPattern) -> Self {
        Self { table, fields, pattern, unread: BTreeSet::new(), rows: ROWS.0 }
    }

    /// Returns the number of columns that could not be read everywhere.
    pub(crate) fn unread(&self) -> usize {
        self.unread.len()
    }

    /// Returns the number of rows to search next, chosen to limit the memory of their values.
    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the rows that match, by their position in `entries`, each with its first matching column.
    /// Columns that cannot be read are skipped and recorded.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Cancelled`] once `stop` is set.
    pub(crate) fn matches(&mut self, entries: &Entries, stop: &AtomicBool) -> Result<Vec<(u64, u32)>> {
        let mut found = Vec::new();
        let mut largest = 0;
        for (group, fields) in self.fields.chunks(COLUMNS).enumerate() {
            let arrays = cells::read_each(&self.table, fields, entries, stop);
            largest = arrays.iter().flatten().map(Array::nbytes).sum::<usize>().max(largest);
            for (at, (field, array)) in (0..).zip(fields.iter().zip(arrays)) {
                let rows = array.ok().and_then(|array| matching(&self.pattern, &array, stop));
                if stop.load(Ordering::Relaxed) {
                    return Err(Error::new(ErrorKind::Cancelled));
                }
                match rows {
                    Some(rows) => {
                        found.extend(rows.into_iter().map(|row| (row, group * COLUMNS + at, *field)))
                    }
                    None => drop(self.unread.insert(*field)),
                }
            }
        }
        self.rows = match largest {
            bytes if bytes > BYTES => (self.rows / 2).max(1),
            bytes if bytes < BYTES / 4 => (self.rows * 2).min(ROWS.1),
            _ => self.rows,
        };
        found.sort_unstable();
        found.dedup_by_key(|(row, ..)| *row);
        Ok(found.into_iter().map(|(row, _, field)| (row, field)).collect())
    }
}

/// Returns the rows of an array whose texts match, until `stop` is set; `None` if the array is invalid.
fn matching(pattern: &TextPattern, array: &Array, stop: &AtomicBool) -> Option<Vec<u64>> {
    let mut rows = Vec::new();
    let mut start = 0;
    while start < array.length && !stop.load(Ordering::Relaxed) {
        let end = (start + TEXTS).min(array.length);
        let texts = array.preview(start..end, LONGEST).lines().ok()?;
        rows.extend((start..end).zip(texts).filter(|(_, text)| pattern.is_match(text)).map(|(row, _)| row));
        start = end;
    }
    Some(rows)
}

/// Rows of a table that are left to search.
pub(crate) struct RowsLeft {
    /// Entries of the rows, if they are filtered.
    pub(crate) list: Option<Arc<EntrySet>>,
    /// Ranges of rows in the order of the search.
    pub(crate) ranges: Vec<Range<u64>>,
    pub(crate) is_backward: bool,
}

impl RowsLeft {
    /// Removes up to `count` rows from the side at which the search continues; returns them with their
    /// entries.
    pub(crate) fn next(&mut self, count: u64) -> Option<(Range<u64>, Entries)> {
        loop {
            let range = self.ranges.first_mut()?;
            if range.is_empty() {
                self.ranges.remove(0);
                continue;
            }
            let rows = if self.is_backward {
                let start = range.end.saturating_sub(count).max(range.start);
                let rows = start..range.end;
                range.end = start;
                rows
            } else {
                let end = range.start.saturating_add(count).min(range.end);
                let rows = range.start..end;
                range.start = end;
                rows
            };
            let entries = match &self.list {
                None => Entries::Range(rows.clone()),
                Some(list) => Entries::List(list.slice(rows.clone())),
            };
            return Some((rows, entries));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        answers::{Answer, Filtered},
        jobs::Job,
        row_filter::{SearchJob, TextFilterJob},
    };
    use std::fmt::Write;

    /// Xorshift generator, reproducible from its seed.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % end as u64) as usize
        }
    }

    /// Writes a table of words and numbers; returns it with the texts of its rows. Some words are wider than
    /// a cell.
    fn table(random: &mut Random, rows: usize, folder: &std::path::Path) -> (Table, Vec<[String; 3]>) {
        let mut csv = String::from("word,number,other\n");
        let mut texts = Vec::new();
        for _ in 0..rows {
            let length = if random.below(50) == 0 { 200 } else { 1 + random.below(6) };
            let word: String = (0..length).map(|_| char::from(b'a' + random.below(8) as u8)).collect();
            let (number, other) = (random.below(100_000), random.below(900) as f64 + 0.5);
            writeln!(csv, "{word},{number},{other}").expect("text");
            texts.push([format!("'{word}'"), number.to_string(), other.to_string()]);
        }
        let path = folder.join("words.csv");
        std::fs::write(&path, csv).expect("a file");
        (forthwith::File::open(path).and_then(|file| file.table("")).expect("a table"), texts)
    }

    fn patterns(random: &mut Random) -> String {
        match random.below(4) {
            0 => (0..2 + random.below(3)).map(|_| char::from(b'a' + random.below(8) as u8)).collect(),
            1 => random.below(2000).to_string(),
            2 => format!("^{}", random.below(1000)),
            _ => format!("{}\\.5", random.below(900)),
        }
    }

    #[test]
    fn searches_and_filters_find_the_rows_that_match() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut random = Random(0x1234_5678_9abc_def1);
        let stop = AtomicBool::new(false);
        let (table, texts) = table(&mut random, 9000, folder.path());
        for round in 0..40 {
            let typed = patterns(&mut random);
            let pattern = TextPattern::new(&typed).expect("a pattern");
            let fields: Vec<u32> = if round % 3 == 0 { vec![2, 0] } else { vec![0, 1, 2] };
            let column = |row: &[String; 3]| {
                fields.iter().copied().find(|field| pattern.is_match(&row[*field as usize]))
            };
            let expected: Vec<(u64, u32)> =
                (0..).zip(&texts).filter_map(|(at, row)| Some((at, column(row)?))).collect();
            let search = || TextSearch::new(table.clone(), fields.clone(), pattern.clone());
            let mut job = TextFilterJob { search: search(), next: 0 };
            let mut found = EntrySet::default();
            loop {
                let (Answer::Filtered(Filtered { entries, unread, .. }), more) = job.step(&stop) else {
                    panic!("{typed}: no rows")
                };
                assert_eq!(unread, 0);
                found.append(entries);
                if !more {
                    break;
                }
            }
            let rows: Vec<u64> = expected.iter().map(|(row, _)| *row).collect();
            assert_eq!(found.slice(0..u64::MAX), rows, "{typed}");
            // Search all rows, and those of a list.
            let list = (round % 2 == 1).then(|| {
                let some: Vec<u64> = (0..texts.len() as u64).filter(|_| random.below(3) == 0).collect();
                Arc::new(EntrySet::of(&some))
            });
            let count = list.as_ref().map_or(texts.len() as u64, |list| list.len());
            let row_of = |entry: u64| match &list {
                None => Some(entry),
                Some(list) => Some(list.rank(entry)).filter(|row| list.get(*row) == Some(entry)),
            };
            let expected: Vec<(u64, u32)> =
                expected.iter().filter_map(|(entry, field)| Some((row_of(*entry)?, *field))).collect();
            let cursor = random.below(count as usize) as u64;
            for is_backward in [false, true] {
                let (ranges, cell) = if is_backward {
                    let before = expected.iter().rev().find(|(row, _)| *row < cursor);
                    (vec![0..cursor, cursor..count], before.or(expected.last()))
                } else {
                    let behind = expected.iter().find(|(row, _)| *row > cursor);
                    (vec![cursor + 1..count, 0..cursor + 1], behind.or(expected.first()))
                };
                let left = RowsLeft { list: list.clone(), ranges, is_backward };
                let mut job = SearchJob { search: search(), left, searched: 0 };
                let found = loop {
                    match job.step(&stop).0 {
                        Answer::Found(found) => break found,
                        Answer::Searched(rows) => assert!(rows <= count),
                        _ => panic!("{typed}: no answer"),
                    }
                };
                assert_eq!((found.cell, found.unread), (cell.copied(), 0), "{typed} from {cursor}");
            }
        }
    }

    #[test]
    fn a_search_that_is_stopped_gives_no_result() {
        let folder = tempfile::tempdir().expect("a folder");
        let (table, _) = table(&mut Random(99), 2000, folder.path());
        let pattern = TextPattern::new("z").expect("a pattern");
        let mut search = TextSearch::new(table, vec![0], pattern);
        let found = search.matches(&Entries::Range(0..1000), &AtomicBool::new(true));
        assert!(found.is_err_and(|error| matches!(error.kind, ErrorKind::Cancelled)));
    }
}
