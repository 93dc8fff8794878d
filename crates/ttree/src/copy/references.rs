//! Merges reference tables (`TBranchRef`), by which ROOT finds the branch of a referenced object.
//!
//! The table of an entry has an array for each process whose objects are referred to. The array maps the
//! unique id of an object to the number of its branch. The tree's record (`TRefTable`) lists these processes
//! and branches. C++ ROOT counts the processes of references in baskets from the first of the file, and
//! ignores the offset in the keys of baskets (as of 6.40). So the arrays of a tree move to those of the
//! processes with the same numbers in the new file.

use std::collections::HashMap;

use forthwith_io::Compressor;
use forthwith_plan::{Error, ErrorKind, Result};
use forthwith_root::write::{FileWriter, KeyKind, compress};
use forthwith_root::{Cursor, Object, Value, lossy};

use super::basket::{Made, basket_text, write_basket};
use super::{CopyProgress, Processes, REFERENCES, TreeCopy};
use crate::tree::Tree;

/// Reference table in a tree's record.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Names of the processes, in the order of the arrays.
    pub(super) processes: Vec<String>,
    /// Fields of the branches, by their numbers in the arrays less 1.
    pub(super) parents: Vec<Option<u32>>,
}

impl Table {
    /// Returns the table of a tree, or `None` if it has none or does not name its processes, as in old files.
    pub(super) fn of(tree: &Tree) -> Option<Self> {
        let object = tree.metadata.references()?.object.object("fRefTable")?;
        let Value::List(names) = object.member("fProcessGUIDs")? else { return None };
        let text = |value| match value {
            Value::Text(name) => lossy(name),
            _ => String::new(),
        };
        let fields: HashMap<usize, u32> = tree.metadata.branch_places().collect();
        let parents = object.list("fParents");
        let parents = parents.map(|parent| fields.get(&parent?.range().start).copied());
        Some(Self { processes: names.map(text).collect(), parents: parents.collect() })
    }
}

/// Mapping from the tables of a tree's entries to those of the new tree.
#[derive(Clone, Debug)]
pub(super) struct Renumber {
    /// New arrays for each array.
    arrays: Vec<Vec<usize>>,
    /// New number of each branch.
    branches: Vec<u32>,
    /// Number of arrays in each new table.
    count: usize,
}

impl Renumber {
    /// Maps the reference table of a tree (`theirs`) to that of the copy (`all`), to which missing parents
    /// are added. `field` maps branches of the tree to branches of the copy.
    pub(super) fn new(
        all: &mut Table,
        theirs: &Table,
        processes: &Processes,
        field: impl Fn(u32) -> Option<u32>,
    ) -> Self {
        let mut branches = Vec::with_capacity(theirs.parents.len());
        for (at, parent) in theirs.parents.iter().enumerate() {
            let Some(field) = parent.and_then(&field) else {
                // An omitted branch keeps its number if no other branch has it.
                let is_free = all.parents.get(at).is_none_or(Option::is_none);
                all.parents.resize(all.parents.len().max(if is_free { at + 1 } else { 0 }), None);
                branches.push(if is_free { at as u32 + 1 } else { 0 });
                continue;
            };
            let known = all.parents.iter().position(|&known| known == Some(field));
            let place = known.unwrap_or_else(|| {
                all.parents.push(Some(field));
                all.parents.len() - 1
            });
            branches.push(place as u32 + 1);
        }
        let mut arrays = Vec::with_capacity(theirs.processes.len());
        for name in &theirs.processes {
            let numbers = processes.own.iter().enumerate().filter(|(_, own)| *own == name);
            let names = numbers.filter_map(|(number, _)| processes.all.get(number));
            let mut places = Vec::new();
            // A process that is not among those of the file created no object in it.
            for name in names.chain(processes.own.iter().all(|own| own != name).then_some(name)) {
                let place = all.processes.iter().position(|known| known == name);
                let place = place.unwrap_or_else(|| {
                    all.processes.push(name.clone());
                    all.processes.len() - 1
                });
                if !places.contains(&place) {
                    places.push(place);
                }
            }
            arrays.push(places);
        }
        Self { arrays, branches, count: all.processes.len() }
    }

    /// Returns whether tables stay unchanged.
    pub(super) fn is_none(&self) -> bool {
        self.arrays.iter().enumerate().all(|(at, places)| *places == [at])
            && (1..).zip(&self.branches).all(|(at, &number)| number == at)
    }

    /// Appends the table of an entry, converted for the new tree.
    ///
    /// # Errors
    /// Returns an error if the table is damaged, or in the old form for a single process.
    pub(super) fn entry(&self, table: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let mut cursor = Cursor::new(table);
        let count = cursor.i32()?;
        if count > 0 {
            let what = "renumbering tables of references (fBranchRef) that do not name their processes";
            return Err(Error::unsupported(what));
        }
        let mut arrays: Vec<&[u8]> = vec![&[]; self.count];
        for at in 0..count.unsigned_abs() as usize {
            let length = cursor.i32()?;
            // A count beyond the data fails in `take`.
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let array = cursor.take(length.saturating_mul(4))?;
            for &place in self.arrays.get(at).into_iter().flatten() {
                if let Some(taken) = arrays.get_mut(place).filter(|taken| taken.is_empty()) {
                    *taken = array;
                }
            }
        }
        // An array is copied for each process of the same name.
        let length: usize = arrays.iter().map(|array| array.len()).sum();
        if length > MOST_COPIES * table.len() {
            let what = format!(
                "renumbering tables of references (fBranchRef) of more than {MOST_COPIES} processes of one name"
            );
            return Err(Error::unsupported(what));
        }
        out.extend((-(arrays.len() as i32)).to_be_bytes());
        for array in arrays {
            let numbers = array.as_chunks::<4>().0;
            out.extend((numbers.len() as u32).to_be_bytes());
            for number in numbers {
                let branch = u32::from_be_bytes(*number).checked_sub(1);
                let number = branch.and_then(|branch| self.branches.get(branch as usize)).copied();
                out.extend(number.unwrap_or(0).to_be_bytes());
            }
        }
        Ok(())
    }
}

impl TreeCopy {
    /// Returns the index of the branch of references in `filled`.
    pub(super) fn references(&self) -> usize {
        self.filled.len() - 1
    }

    /// Returns the mapping of a tree's tables, or `None` if they stay unchanged. Adds its processes and
    /// branches to the new tree's table.
    ///
    /// # Errors
    /// Returns an error if several trees are merged and one does not name its processes.
    pub(super) fn renumbered(
        &mut self,
        tree: &Tree,
        processes: &Processes,
        field: impl Fn(u32) -> Option<u32>,
    ) -> Result<Option<Renumber>> {
        if tree.metadata.references().is_none() {
            return Ok(None);
        }
        if self.stays {
            self.table = Table::of(tree);
            return Ok(None);
        }
        let table = match (&mut self.table, self.trees) {
            (table, 0) => table.insert(Table::default()),
            (Some(table), _) => table,
            (None, _) => return Err(Error::unsupported(OLD)),
        };
        let Some(theirs) = Table::of(tree) else {
            self.table = None;
            return if self.trees == 0 { Ok(None) } else { Err(Error::unsupported(OLD)) };
        };
        let renumber = Renumber::new(table, &theirs, processes, field);
        Ok((!renumber.is_none()).then_some(renumber))
    }

    /// Adds empty tables for the entries from the last table up to entry `first`.
    ///
    /// # Errors
    /// Returns an error if no branch has that many entries.
    pub(super) fn fill_tables_before(
        &mut self,
        writer: &mut FileWriter,
        first: u64,
        progress: &mut CopyProgress<'_>,
    ) -> Result<()> {
        let bytes = self.filled[..self.references()].iter().map(|filled| filled.total).max().unwrap_or(0);
        if first > self.held.min(bytes).max(self.tabled) {
            let what = format!(
                "tables of references to objects that begin at entry {first}, behind the {} of all branches",
                self.held.min(bytes)
            );
            return Err(Error::fault(what).in_object(REFERENCES));
        }
        self.fill_tables(writer, first, progress)?;
        let number = self.references();
        self.filled[number].baskets.sort_by_key(|placed| placed.entry);
        Ok(())
    }

    /// Adds empty tables for entries up to `end`, as ROOT needs one for each entry.
    pub(super) fn fill_tables(
        &mut self,
        writer: &mut FileWriter,
        end: u64,
        progress: &mut CopyProgress<'_>,
    ) -> Result<()> {
        let Some(branch) = self.base.metadata.references() else { return Ok(()) };
        let (name, compression) = (branch.field.name.clone(), self.compression(&branch, writer));
        let arrays = self.table.as_ref().map_or(1, |table| table.processes.len().max(1));
        let mut table = (-(arrays as i32)).to_be_bytes().to_vec();
        table.resize(4 + 4 * arrays, 0);
        let (mut compressor, number) = (Compressor::new(), self.references());
        while self.tabled < end {
            let count = (end - self.tabled).min((MOST_BYTES / table.len()).max(1) as u64) as u32;
            let text = basket_text(&name, &self.name);
            let key_len = writer.key_length(text, KeyKind::BASKET)?;
            let Made { payload, filling } = Made::of_equal(&table, count, key_len.into());
            let stored = compress(compression, &payload, &mut compressor)?;
            let at = self.filled[number].baskets.len() as u32;
            let (placed, total) = write_basket(
                writer,
                (self.directory, text),
                (at, self.tabled, 0),
                filling,
                (payload.len(), &stored),
            )?;
            self.filled[number].add(placed, total);
            self.tabled += u64::from(count);
            if !progress(0) {
                return Err(Error::new(ErrorKind::Cancelled));
            }
        }
        Ok(())
    }
}

/// Returns the list of branches in the record of a branch of references.
pub(super) fn parents(branch: Object<'_>) -> Option<Object<'_>> {
    branch.object("fRefTable")?.object("fParents")
}

/// Maximum factor by which processes of the same name may enlarge a table.
const MOST_COPIES: usize = 16;
/// Maximum size of the empty tables in a basket, in bytes.
const MOST_BYTES: usize = 32_000;
const OLD: &str =
    "merging trees whose tables of references to objects (fBranchRef) do not name their processes";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn table(processes: &[&str], parents: &[u32]) -> Table {
        Table { processes: names(processes), parents: parents.iter().map(|&field| Some(field)).collect() }
    }

    fn bytes(numbers: &[i32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
    }

    fn processes(own: &[&str], all: &[&str]) -> Processes {
        Processes { before: 0, own: names(own), all: names(all).into() }
    }

    #[test]
    fn tables_of_processes_with_the_same_numbers_stay() {
        let mut all = Table::default();
        let first = Renumber::new(&mut all, &table(&["a"], &[3, 1]), &processes(&["a"], &["a", "b"]), Some);
        assert!(first.is_none());
        // The process of the second file has the number of the first one's.
        let second = Renumber::new(&mut all, &table(&["b"], &[3, 1]), &processes(&["b"], &["a", "b"]), Some);
        assert!(second.is_none());
        assert_eq!((all.processes, all.parents), (names(&["a"]), vec![Some(3), Some(1)]));
    }

    #[test]
    fn numbers_of_branches_and_processes_become_those_of_the_new_tree() {
        let mut all = table(&["a"], &[3, 1]);
        let processes = processes(&["p", "q"], &["a", "p", "q"]);
        let renumber = Renumber::new(&mut all, &table(&["q", "p"], &[1, 2, 3]), &processes, |field| {
            (field != 2).then_some(field)
        });
        assert!(!renumber.is_none());
        assert_eq!((all.processes, all.parents.len()), (names(&["a", "p"]), 2));
        let mut out = Vec::new();
        renumber.entry(&bytes(&[-2, 3, 0, 1, 2, 1, 3]), &mut out).unwrap();
        assert_eq!(out, bytes(&[-2, 1, 1, 3, 0, 2, 0]));
        out.clear();
        renumber.entry(&bytes(&[0]), &mut out).unwrap();
        assert_eq!(out, bytes(&[-2, 0, 0]));
    }

    #[test]
    fn branches_that_were_left_out_keep_their_numbers() {
        let mut all = Table::default();
        let processes = processes(&["a"], &["a"]);
        let kept = |field: u32| (field != 3).then_some(field);
        assert!(Renumber::new(&mut all, &table(&["a"], &[3, 1]), &processes, kept).is_none());
        assert_eq!(all.parents, [None, Some(1)]);
        let second = Renumber::new(&mut all, &table(&["a"], &[4, 3]), &processes, kept);
        assert_eq!((second.branches, all.parents), (vec![3, 0], vec![None, Some(1), Some(4)]));
    }

    #[test]
    fn damaged_tables_are_errors() {
        let mut all = table(&["a"], &[1]);
        let renumber = Renumber::new(&mut all, &table(&["a"], &[1]), &processes(&["a"], &["a"]), Some);
        for damaged in [&[][..], &[-1], &[-1, 5, 1], &[-1, -1], &[i32::MIN], &[2, 1, 1]] {
            assert!(renumber.entry(&bytes(damaged), &mut Vec::new()).is_err(), "{damaged:?}");
        }
    }

    #[test]
    fn a_table_is_not_copied_for_any_number_of_processes() {
        let own = ["a"; 100];
        let all: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let mut entry = vec![-1, 50];
        entry.resize(52, 1);
        for (count, fits) in [(10, true), (100, false)] {
            let all: Vec<&str> = all[..count].iter().map(String::as_str).collect();
            let processes = processes(&own[..count], &all);
            let renumber = Renumber::new(&mut Table::default(), &table(&["a"], &[1]), &processes, Some);
            assert_eq!(renumber.entry(&bytes(&entry), &mut Vec::new()).is_ok(), fits);
        }
    }
}
