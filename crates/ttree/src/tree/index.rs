//! Index of a tree: the major and minor number of each entry.

use forthwith_plan::{Error, Result, TableIndex};
use forthwith_root::Object;

/// Parses the index in a tree's record, if it has one.
///
/// # Errors
/// Returns an error if the index has another class than `TTreeIndex`, or if it is inconsistent with itself or
/// the number of entries.
pub(super) fn of(tree: Object<'_>, entries: u64) -> Result<Option<TableIndex>> {
    let Some(index) = tree.object("fTreeIndex") else { return Ok(None) };
    let class = index.class();
    if class != "TTreeIndex" {
        return Err(Error::unsupported(format!("the index of the tree, a {class} and no TTreeIndex")));
    }
    let index = index.readable()?;
    let numbers = |member: &'static str| {
        let found = index.array(member).map(|array| array.ints().collect::<Vec<_>>());
        found.ok_or_else(|| Error::not_a("an array of numbers", member))
    };
    let (mut majors, places) = (numbers("fIndexValues")?, numbers("fIndex")?);
    let minors = match index.array("fIndexValuesMinor") {
        Some(minors) => minors.ints().collect(),
        // The first version combines both numbers in one.
        None => {
            let minors: Vec<i64> = majors.iter().map(|both| both & MINOR).collect();
            majors.iter_mut().for_each(|both| *both >>= MINOR.count_ones());
            minors
        }
    };
    for found in [minors.len(), places.len()] {
        if found != majors.len() {
            return Err(Error::mismatch("length of the tree's index", majors.len(), found));
        }
    }
    let mut rows = Vec::with_capacity(majors.len());
    for ((major, minor), place) in majors.into_iter().zip(minors).zip(places) {
        let entry = u64::try_from(place).ok().filter(|entry| *entry < entries).ok_or_else(|| {
            Error::out_of_range(
                "an entry in the tree's index",
                place,
                i64::try_from(entries).unwrap_or(i64::MAX).saturating_sub(1),
            )
        })?;
        rows.push((major, minor, entry));
    }
    if let Some(at) = rows.windows(2).position(|pair| (pair[0].0, pair[0].1) > (pair[1].0, pair[1].1)) {
        return Err(Error::fault(format!("the tree's index does not ascend at its value {}", at + 1)));
    }
    let text = |member| index.text(member).unwrap_or_default();
    Ok(Some(TableIndex { major: text("fMajorName"), minor: text("fMinorName"), rows }))
}

/// Mask of the minor number in an index of the first version.
const MINOR: i64 = 0x7fff_ffff;
