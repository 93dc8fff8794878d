//! Compares counters with the lists that they count.

use super::{
    TreeWriter,
    branch::{Source, Step, Stored},
    encoded_entries, index,
    mapping::Counted,
    offsets::{Place, at, lists_at, offsets},
    without_nulls,
};
use forthwith_columns::{Array, Form};
use forthwith_plan::{Error, Result};

impl TreeWriter {
    /// Checks that lists with the same counter, and columns that are counters, have equal lengths.
    pub(super) fn check_counters(&self, arrays: &[Array]) -> Result<()> {
        let offsets_of = |source: &Source| lists_at(&arrays[source.column], &source.path);
        for (source, counter) in &self.branches.sharing {
            let branch = &self.branches.branches[*counter];
            let Some(first) = &branch.source else { continue };
            if let Some(row) = unequal(&offsets_of(first)?, &offsets_of(source)?) {
                let what = format!(
                    "lists whose lengths differ from those of another column with the counter {:?}",
                    branch.name
                );
                let error = Error::invalid(what);
                return Err(error
                    .in_object(&self.columns[source.column].0)
                    .at_entry(self.entries + row as u64));
            }
        }
        for keys in &self.branches.keys {
            encoded_entries::check_keys(keys, &arrays[keys.column])
                .map_err(|error| self.placed(error, &self.columns[keys.column].0))?;
        }
        for Counted { lists, numbers: numbers_of, .. } in &self.branches.counted {
            let array = &arrays[numbers_of.column];
            let counted = offsets_of(lists)?;
            let numbers = index::numbers_at(array, &numbers_of.path)?;
            // The array behind a pointer may be null, whatever its counter is.
            let is_pointer = matches!(lists.stored, Stored::Flagged(_));
            for (row, (pair, number)) in counted.windows(2).zip(numbers).enumerate() {
                let length = pair[1].wrapping_sub(pair[0]);
                // C++ counts have 31 bits.
                let is_count = number.is_some_and(|number| i32::try_from(number).is_ok());
                if number != Some(length) && !(is_pointer && length == 0 && is_count) {
                    let what = "an array that has not the length that a member beside it says";
                    let (column, form) = &self.columns[lists.column];
                    let place = match member(form, &lists.path) {
                        Some(member) => format!("{column}/{member}"),
                        None => column.clone(),
                    };
                    let error = Error::invalid(what).in_object(&place);
                    // For an item, report the entry that contains it.
                    let items = at(array, &numbers_of.path)?.lists;
                    let ends = items.as_deref().and_then(|items| items.get(1..));
                    let entry = ends.map_or(row, |ends| ends.partition_point(|end| *end <= row as i64));
                    return Err(error.at_entry(self.entries + entry as u64));
                }
            }
        }
        for (column, counter) in &self.branches.counters {
            let Some(first) = &self.branches.branches[*counter].source else { continue };
            let counted = offsets_of(first)?;
            let (array, name) = (&arrays[*column], &self.columns[*column].0);
            for (row, (pair, number)) in counted.windows(2).zip(index::numbers(array)?).enumerate() {
                if number != Some(pair[1].wrapping_sub(pair[0])) {
                    let what = "a column that has the name of a counter but not the lengths of its lists; the option `counter` gives the counter another name";
                    let error = Error::invalid(what);
                    return Err(error.in_object(name).at_entry(self.entries + row as u64));
                }
            }
        }
        Ok(())
    }

    /// Records the largest counts and the longest strings of leaves that share a branch.
    pub(super) fn note_largest(&mut self, arrays: &[Array]) -> Result<()> {
        for Counted { numbers, branch, leaf, .. } in &self.branches.counted {
            // ROOT records no largest count for arrays within items.
            if numbers.path.contains(&Step::Items) {
                continue;
            }
            let found = index::numbers_at(&arrays[numbers.column], &numbers.path)?;
            let largest = found.into_iter().flatten().max().unwrap_or(0).max(0);
            self.filled[*branch].raise(*leaf, largest.cast_unsigned());
        }
        for (text, branch, leaf) in &self.branches.texts {
            let longest = longest(&arrays[text.column], &text.path)?;
            self.filled[*branch].raise(*leaf, longest);
        }
        Ok(())
    }
}

/// Returns the name of the last field on a path.
fn member<'f>(form: &'f Form, path: &[Step]) -> Option<&'f str> {
    let (mut form, mut name) = (form.kept(), None);
    for step in path {
        form = match (step, form) {
            (Step::Field(at), Form::Record { fields, contents, .. }) => {
                name = fields.as_ref().and_then(|fields| fields.get(*at)).map(String::as_str);
                contents.get(*at)?.kept()
            }
            (Step::Items, Form::List { content, .. } | Form::Regular { content, .. }) => content.kept(),
            _ => return name,
        };
    }
    name
}

/// Returns the length of the longest string at the end of a path of fields.
fn longest(array: &Array, path: &[Step]) -> Result<u64> {
    let Place { form, rows, .. } = at(array, path)?;
    let Form::String { key, .. } = form else { return Err(without_nulls::changed()) };
    let offsets = offsets(array, key, rows)?;
    let lengths = offsets.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
    Ok(lengths.max().map_or(0, |longest| u64::try_from(longest).unwrap_or(0)))
}

/// Returns the index of the first list whose length differs.
fn unequal(one: &[i64], other: &[i64]) -> Option<usize> {
    if one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one == other) {
        return None;
    }
    let lengths = |offsets: &[i64]| -> Vec<i64> {
        offsets.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect()
    };
    let (one, other) = (lengths(one), lengths(other));
    one.iter().zip(&other).position(|(a, b)| a != b).or((one.len() != other.len()).then_some(0))
}
