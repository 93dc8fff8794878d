//! Completions of a word in a shell: objects of a file, and columns of a table. Errors are ignored.

use forthwith::{
    File, Table,
    files::{self, Place},
};
use std::{collections::BTreeSet, path::Path};

/// Maximum number of completions. Shells ask for confirmation before they list this many.
const MOST: usize = 2000;

/// Returns the completions, one on each line: the columns of the table `of`, or `FILE:OBJECT`.
pub(crate) fn lines(of: Option<&str>, word: &str) -> String {
    let found = match of {
        Some(target) => columns_of(target, word),
        None => targets(word),
    };
    // A name with a control character cannot be typed.
    let found = found.unwrap_or_default().into_iter().filter(|name| !name.chars().any(char::is_control));
    found.take(MOST).map(|name| name + "\n").collect()
}

/// Opens a local file; others would take too long.
fn open(path: &str) -> Option<File> {
    Path::new(path).is_file().then(|| File::open(path).ok()).flatten()
}

fn targets(word: &str) -> Option<BTreeSet<String>> {
    let (path, _) = files::split(word, |name| Path::new(name).exists());
    let begun = word.get(path.len() + 1..)?;
    let file = open(path)?;
    let folder = begun.rfind('/').map_or("", |slash| &begun[..slash]);
    let mut found = BTreeSet::new();
    if let Ok(keys) = file.keys(folder, false) {
        let around = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let names =
            keys.iter().map(|key| format!("{around}{}{}", key.name, if key.is_directory { "/" } else { "" }));
        found.extend(names.filter(|name| !file.is_one_table() && name.starts_with(begun)));
    }
    // Columns of tables whose path is a prefix of the word.
    let ends = begun.match_indices('/').map(|(slash, _)| slash);
    let tables = ends.filter_map(|end| Some((&begun[..=end], file.table(&begun[..end]).ok()?)));
    let only = file.is_one_table().then(|| file.table("").ok().map(|table| ("", table))).flatten();
    for (before, table) in tables.chain(only) {
        let names = columns(&table, &begun[before.len()..])?;
        found.extend(names.into_iter().map(|name| format!("{before}{name}")));
    }
    Some(found.into_iter().map(|name| format!("{path}:{name}")).collect())
}

fn columns_of(target: &str, begun: &str) -> Option<BTreeSet<String>> {
    let (path, object) = files::split(target, |name| Path::new(name).exists());
    let file = open(path)?;
    let object = if object.is_empty() && !file.is_one_table() {
        let keys = file.keys("", true).ok()?.into_iter().filter(|key| key.is_table);
        let tables: BTreeSet<String> = keys.map(|key| key.path).collect();
        tables.into_iter().next()?
    } else {
        object
    };
    let table = match files::locate(&file, &object) {
        Ok(Place::Table(table) | Place::Field { table, .. }) => table,
        _ => file.table(&object).ok()?,
    };
    // In a list separated by commas, the last name is completed.
    let (before, last) = begun.rfind(',').map_or(("", begun), |comma| begun.split_at(comma + 1));
    let mut found = columns(&table, begun)?;
    if !before.is_empty() {
        found.extend(columns(&table, last)?.into_iter().map(|name| format!("{before}{name}")));
    }
    Some(found)
}

fn columns(table: &Table, begun: &str) -> Option<BTreeSet<String>> {
    let fields = table.fields().ok()?.iter().filter(|field| field.has_data);
    Some(fields.map(|field| field.path.clone()).filter(|path| path.starts_with(begun)).collect())
}
