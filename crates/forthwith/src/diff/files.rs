//! Comparison of two files: tables and objects by path.

use super::{
    DiffOptions, DiffProgress, FileDiff, ObjectDiff,
    keys::key_columns,
    tables::{diff, diff_metadata},
};
use crate::{File, Key};
use forthwith_plan::Result;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Compares all tables and objects of two files by path. Only the highest cycle of each is compared.
///
/// # Errors
/// A directory cannot be read; those of [`diff`], except that an unreadable table or object is part of the
/// result.
pub fn diff_files(
    left: &File,
    right: &File,
    options: &DiffOptions,
    progress: &mut DiffProgress<'_>,
) -> Result<FileDiff> {
    let mut report = FileDiff::default();
    let (own, others) = (newest(left)?, newest(right)?);
    let by_path: HashMap<&str, &Key> = others.iter().map(|key| (key.path.as_str(), key)).collect();
    let known: HashMap<&str, &Key> = own.iter().map(|key| (key.path.as_str(), key)).collect();
    if !options.common {
        let missing = |keys: &[Key], others: &HashMap<&str, &Key>| {
            let missing = keys.iter().filter(|key| !others.contains_key(key.path.as_str()));
            missing.map(|key| key.path.clone()).collect()
        };
        report.only = [missing(&own, &by_path), missing(&others, &known)];
    }
    let pairs = || own.iter().filter_map(|key| Some((key, *by_path.get(key.path.as_str())?)));
    for (key, other) in pairs() {
        let may_differ = options.same_content && key.is_table;
        if !are_of_one_kind(key, other) || key.class != other.class && !may_differ {
            report.classes.push((key.path.clone(), [key.class.clone(), other.class.clone()]));
        }
    }
    if !options.on.is_empty() {
        // Unknown names are an error regardless of other differences.
        for (key, _) in pairs().filter(|(key, other)| key.is_table && other.is_table) {
            key_columns(&left.table(&key.path)?, options)?;
            key_columns(&right.table(&key.path)?, options)?;
        }
    }
    if options.brief {
        // Metadata are compared before values.
        for (key, _) in pairs().filter(|(key, other)| key.is_table && other.is_table) {
            if !report.is_same() {
                break;
            }
            let found = diff_metadata(&left.table(&key.path)?, &right.table(&key.path)?, options)?;
            if !found.is_same() {
                report.tables.push((key.path.clone(), found));
            }
        }
    }
    for (key, other) in pairs() {
        if options.brief && !report.is_same() {
            break;
        }
        if key.is_table && other.is_table {
            let tables = [left.table(&key.path)?, right.table(&key.path)?];
            report.tables.push((key.path.clone(), diff(&tables[0], &tables[1], options, progress)?));
        } else if !key.is_directory && are_of_one_kind(key, other) {
            report.objects.push(diff_objects([left, right], [key, other], options));
        }
    }
    if options.brief && !report.is_same() {
        let tables = report.tables.iter().map(|(path, _)| path);
        let listed: HashSet<&String> =
            tables.chain(report.objects.iter().map(|object| &object.path)).collect();
        let mut others = pairs().filter(|(key, _)| !listed.contains(&key.path));
        report.stopped = report.tables.iter().any(|(_, table)| table.stopped)
            || others.any(|(key, other)| !key.is_directory && are_of_one_kind(key, other));
    }
    Ok(report)
}

fn are_of_one_kind(key: &Key, other: &Key) -> bool {
    key.is_table == other.is_table && key.is_directory == other.is_directory
}

/// Returns the objects of a file, each with its highest cycle.
fn newest(file: &File) -> Result<Vec<Key>> {
    let mut newest: BTreeMap<String, (usize, Key)> = BTreeMap::new();
    for (at, key) in file.keys("", true)?.into_iter().enumerate() {
        match newest.get_mut(&key.path) {
            Some((_, known)) if known.cycle < key.cycle => *known = key,
            Some(_) => {}
            None => {
                newest.insert(key.path.clone(), (at, key));
            }
        }
    }
    let mut keys: Vec<(usize, Key)> = newest.into_values().collect();
    keys.sort_by_key(|(at, _)| *at);
    Ok(keys.into_iter().map(|(_, key)| key).collect())
}

/// Compares two objects that are not tables, member by member. A failure to read them is part of the result.
pub fn diff_objects(files: [&File; 2], keys: [&Key; 2], options: &DiffOptions) -> ObjectDiff {
    let [left, right] = keys.map(|key| format!("{};{}", key.path, key.cycle));
    let read = || {
        let objects = [files[0].object(&left)?, files[1].object(&right)?];
        files[0].container().diff_objects(&objects[0], &objects[1], options)
    };
    let (path, class) = (keys[0].path.clone(), keys[0].class.clone());
    match read() {
        Ok(found) => ObjectDiff { path, class, ..found },
        Err(error) => ObjectDiff { path, class, error: Some(error.to_string()), ..ObjectDiff::default() },
    }
}
