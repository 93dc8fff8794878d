//! The record of a copied tree: that of the first tree, with edits.

use std::collections::{HashMap, HashSet};

use forthwith_plan::{Dataset, Error, Result};
use forthwith_root::write::{Buffer, Edits};
use forthwith_root::{Object, Value};

use super::{Extremes, Filled, Index, More, NO_MAP, TreeCopy, references};

/// Returns the edits of the first tree's record.
///
/// # Errors
/// Returns an error if a member cannot be edited.
pub(super) fn edits<'c>(copy: &'c TreeCopy, more: Option<&'c More<'c>>) -> Result<Edits<'c>> {
    let metadata = &copy.base.metadata;
    let mut edits = Edits::new(&metadata.objects)?;
    let tree = metadata.objects.top();
    let sum = |of: fn(&Filled) -> u64| copy.filled.iter().map(of).sum::<u64>();
    let (total, stored) = (sum(|filled| filled.total), sum(|filled| filled.stored));
    let (total, stored) = more.map_or((total, stored), |more| (total + more.total, stored + more.stored));
    set(&mut edits, tree, "fEntries", copy.entries)?;
    set(&mut edits, tree, "fTotBytes", total)?;
    set(&mut edits, tree, "fZipBytes", stored)?;
    set(&mut edits, tree, "fSavedBytes", 0)?;
    set(&mut edits, tree, "fFlushedBytes", if copy.flushed { stored } else { 0 })?;
    if tree.text("fName").as_deref() != Some(&copy.name) && tree.place("fName").is_some() {
        edits.text(tree, "fName", &copy.name)?;
    }
    clusters(copy, &mut edits, tree)?;
    index(copy, &mut edits, tree)?;

    if let Some(more) = more {
        for (member, (count, make)) in [("fBranches", &more.branches), ("fLeaves", &more.leaves)] {
            let Some(list) = tree.object(member) else {
                return Err(Error::unsupported(format!("adding branches to a tree without {member}")));
            };
            edits.recount(list, list.pointers().count(), list.pointers().count() + count)?;
            edits.append(list, move |buffer| make(buffer));
        }
    }
    let mut dropped = HashSet::new();
    for number in 0..copy.base.fields()?.len() {
        let field = number as u32;
        let Some(object) = metadata.branch_object(field) else { continue };
        if copy.kept[number] {
            branch(&mut edits, object, &copy.filled[number], copy)?;
        } else {
            dropped.insert(object.range().start);
            dropped.extend(object.list("fLeaves").flatten().map(|leaf| leaf.range().start));
        }
    }
    if let Some(object) = tree.object("fBranchRef") {
        branch(&mut edits, object, copy.filled.last().unwrap_or(&Filled::default()), copy)?;
        tables(copy, &mut edits, object, &dropped)?;
    }
    if !dropped.is_empty() {
        let branches = metadata.objects.iter().filter(|object| object.class().starts_with("TBranch"));
        let kept = branches.filter(|object| !dropped.contains(&object.range().start));
        for list in kept.chain([tree]).filter_map(|object| object.object("fBranches")) {
            shorten(&mut edits, list, &dropped)?;
        }
        if let Some(leaves) = tree.object("fLeaves") {
            shorten(&mut edits, leaves, &dropped)?;
        }
    }
    Ok(edits)
}

/// Adds the edits of a branch.
fn branch<'o>(edits: &mut Edits<'o>, object: Object<'o>, filled: &Filled, copy: &TreeCopy) -> Result<()> {
    let count = filled.baskets.len();
    let room = (count + 1).max(FEWEST_BASKETS);
    let entries = match &filled.short {
        // If all entries are copied, the branch lost none.
        Some(own) if !copy.cut => own.clone(),
        Some(_) => {
            let what = "leaving out entries where a branch has not as many as its tree";
            return Err(Error::unsupported(what).in_member(&object.text("fName").unwrap_or_default()));
        }
        None => 0..copy.entries,
    };
    // A branch that only groups others may have a count of 0.
    let counts = |member| object.int(member).is_some_and(|number| number != 0) || count > 0;
    if counts("fEntries") {
        set(edits, object, "fEntries", entries.end - entries.start)?;
    }
    if counts("fEntryNumber") {
        set(edits, object, "fEntryNumber", entries.end)?;
    }
    set(edits, object, "fWriteBasket", count as u64)?;
    set(edits, object, "fTotBytes", filled.total)?;
    set(edits, object, "fZipBytes", filled.stored)?;
    set(edits, object, "fMaxBaskets", room as u64)?;
    if let Some(compression) = copy.options.compression {
        set(edits, object, "fCompress", compression.setting().unsigned_abs().into())?;
    }
    if let Some(bits) = object.int("fBits").filter(|bits| filled.maps && bits & NO_MAP != 0) {
        edits.number(object, "fBits", bits & !NO_MAP)?;
    }
    if object.class() == "TBranchElement" {
        set(edits, object, "fMaximum", filled.maximum.unsigned_abs())?;
    }
    let padded = |values: &mut dyn Iterator<Item = u64>| -> Vec<i64> {
        let mut values: Vec<i64> = values.map(|value| i64::try_from(value).unwrap_or(i64::MAX)).collect();
        values.resize(room, 0);
        values
    };
    let baskets = || filled.baskets.iter();
    edits.counted(object, "fBasketBytes", &padded(&mut baskets().map(|basket| basket.bytes.into())), 4)?;
    let begins = baskets().map(|basket| basket.entry).chain((count > 0).then_some(entries.end));
    edits.counted(object, "fBasketEntry", &padded(&mut begins.into_iter()), 8)?;
    edits.counted(object, "fBasketSeek", &padded(&mut baskets().map(|basket| basket.position)), 8)?;
    if object.text("fFileName").is_some_and(|name| !name.is_empty()) {
        edits.text(object, "fFileName", "")?;
    }
    if let Some(list) = object.object("fBaskets") {
        let place = object.place("fBaskets").unwrap_or_else(|| list.range());
        edits
            .replace_with(place, move |buffer| buffer.tobjarray(OWNER, count + 1, |buffer, _| buffer.null()));
    }
    for (leaf, extremes) in object.list("fLeaves").flatten().zip(&filled.leaves) {
        self::leaf(edits, leaf, extremes)?;
    }
    Ok(())
}

/// Adds the edits of the reference table: its processes and branches.
fn tables(
    copy: &TreeCopy,
    edits: &mut Edits<'_>,
    branch: Object<'_>,
    dropped: &HashSet<usize>,
) -> Result<()> {
    let Some(list) = references::parents(branch) else { return Ok(()) };
    let places: HashMap<u32, usize> =
        copy.base.metadata.branch_places().map(|(place, field)| (field, place)).collect();
    let table = copy.table.iter();
    let mut parents = table.flat_map(|table| &table.parents).map(|parent| places.get(&(*parent)?));
    let mut all = 0;
    for (place, target) in list.pointers() {
        all += 1;
        match parents.next().flatten() {
            Some(&parent) if target != Some(parent) => edits.point(place, parent),
            None if target.is_some_and(|target| dropped.contains(&target)) => {
                edits.replace(place, vec![0; 4]);
            }
            _ => {}
        }
    }
    let mut more = 0;
    for parent in parents {
        more += 1;
        match parent {
            Some(&parent) => edits.append_pointer(list, parent),
            None => edits.append(list, |buffer| buffer.null()),
        }
    }
    if more > 0 {
        edits.recount(list, all, all + more)?;
    }
    match (&copy.table, branch.object("fRefTable")) {
        (Some(table), Some(object)) => edits.texts(object, "fProcessGUIDs", &table.processes),
        _ => Ok(()),
    }
}

fn leaf(edits: &mut Edits<'_>, leaf: Object<'_>, extremes: &Extremes) -> Result<()> {
    for (member, value) in [("fMaximum", extremes.maximum), ("fMinimum", extremes.minimum)] {
        if let Some(value) = value
            && leaf.int(member) != Some(value)
        {
            edits.number(leaf, member, value)?;
        }
    }
    // Readers allocate this many characters.
    if leaf.class() == "TLeafC" && leaf.int("fLen") != Some(extremes.length) {
        edits.number(leaf, "fLen", extremes.length)?;
    }
    Ok(())
}

/// Adds the edits of the cluster ranges. `fAutoFlush` is the size of the clusters after the last range.
fn clusters(copy: &TreeCopy, edits: &mut Edits<'_>, tree: Object<'_>) -> Result<()> {
    let mut ranges = copy.clusters.clone();
    let last = ranges.pop().map_or(0, |(_, size)| size);
    if tree.place("fClusterRangeEnd").is_none() {
        // Earlier versions have no cluster ranges.
        return Ok(());
    }
    let ends: Vec<i64> = ranges.iter().map(|&(end, _)| end as i64 - 1).collect();
    let sizes: Vec<i64> = ranges.iter().map(|&(_, size)| size as i64).collect();
    set(edits, tree, "fNClusterRange", ranges.len() as u64)?;
    edits.counted(tree, "fClusterRangeEnd", &ends, 8)?;
    edits.counted(tree, "fClusterSize", &sizes, 8)?;
    let now = tree.int("fAutoFlush").unwrap_or(0);
    match last {
        0 if now > 0 => edits.number(tree, "fAutoFlush", UNKNOWN_CLUSTER),
        0 => Ok(()),
        size => edits.number(tree, "fAutoFlush", i64::try_from(size).unwrap_or(i64::MAX)),
    }
}

/// Adds the edits of the index, if all trees have one.
fn index<'o>(copy: &'o TreeCopy, edits: &mut Edits<'o>, tree: Object<'o>) -> Result<()> {
    let moved = copy.trees > 1 || copy.cut;
    for member in ["fIndexValues", "fIndex"] {
        // The entries of an index in the old form may have moved.
        if let Some(place) = tree.place(member).filter(|place| moved && place.len() > 4) {
            edits.replace(place, vec![0; 4]);
        }
    }
    let (object, place) = (tree.object("fTreeIndex"), tree.place("fTreeIndex"));
    let Some(place) = place.filter(|_| moved) else { return Ok(()) };
    match &copy.index {
        Index::Of(Some([major, minor]), values) => {
            edits.replace_with(place, move |buffer| write_index(buffer, major, minor, values.clone()));
        }
        _ if object.is_some() => edits.replace(place, vec![0; 4]),
        _ => {}
    }
    Ok(())
}

/// Writes a `TTreeIndex` as an object of the tree. `values` has the major and minor number of each entry with
/// its index.
pub(crate) fn write_index(buffer: &mut Buffer, major: &str, minor: &str, mut values: Vec<(i64, i64, i64)>) {
    values.sort_unstable();
    buffer.object("TTreeIndex", |buffer| {
        buffer.frame(2, |buffer| {
            buffer.frame(1, |buffer| buffer.tnamed(0, "", ""));
            buffer.string(major);
            buffer.string(minor);
            buffer.i64(values.len() as i64);
            values.iter().for_each(|value| buffer.i64(value.0));
            values.iter().for_each(|value| buffer.i64(value.1));
            values.iter().for_each(|value| buffer.i64(value.2));
        });
    });
}

/// Removes the pointers to `dropped` objects from a list.
fn shorten(edits: &mut Edits<'_>, list: Object<'_>, dropped: &HashSet<usize>) -> Result<()> {
    let all = list.pointers().count();
    let gone: Vec<_> = list
        .pointers()
        .filter(|(_, target)| target.is_some_and(|target| dropped.contains(&target)))
        .collect();
    if gone.is_empty() {
        return Ok(());
    }
    edits.recount(list, all, all - gone.len())?;
    for (place, _) in gone {
        edits.replace(place, Vec::new());
    }
    Ok(())
}

/// Edits a member, unless this version of the class lacks it.
fn set(edits: &mut Edits<'_>, object: Object<'_>, member: &str, value: u64) -> Result<()> {
    match object.member(member) {
        None | Some(Value::Null) => Ok(()),
        Some(_) => {
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            edits.number(object, member, value).map_err(|error: Error| error.in_member(member))
        }
    }
}

/// Minimum capacity of a branch's basket arrays.
const FEWEST_BASKETS: usize = 10;
/// Status bit `kIsOwner` of a list.
const OWNER: u32 = 0x4000;
/// `fAutoFlush` of a tree that was never flushed: ROOT's default, in bytes.
const UNKNOWN_CLUSTER: i64 = -30_000_000;

/// Expressions of an index, major and minor; and for each entry both numbers with its index.
pub(crate) type IndexValues = ([String; 2], Vec<(i64, i64, i64)>);

/// Returns the values of an index, or `None` if it is not a `TTreeIndex`.
pub(crate) fn values_of(index: Object<'_>) -> Option<IndexValues> {
    let of = |member| Some(index.array(member)?.ints());
    let (major, minor, entry) = (of("fIndexValues")?, of("fIndexValuesMinor")?, of("fIndex")?);
    let names = [index.text("fMajorName")?, index.text("fMinorName")?];
    let values = major.zip(minor).zip(entry).map(|((major, minor), entry)| (major, minor, entry));
    Some((names, values.collect()))
}
