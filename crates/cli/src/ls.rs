//! `forthwith ls`: the objects of a file or directory.

use crate::{
    console::Console,
    failure::{Failure, Result},
    human, opened,
    paint::Style,
    shape::Shape,
    table::{Align, Cell, Table},
};
use forthwith::{File, Key, plan::Error};
use serde::Serialize;
use std::collections::HashMap;

/// Listed object.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    key: Key,
    /// Number of entries of a table, in the long form.
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<u64>,
    /// Reason why the number of entries of a table is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub(crate) fn ls(
    file: &File,
    object: &str,
    recursive: bool,
    long: bool,
    shape: Shape,
    console: &mut Console<'_>,
) -> Result<()> {
    let (directory, keys) = match object {
        "" => ("", file.keys("", recursive)?),
        _ => {
            let key = file.find(object).map_err(|error| not_listed(file, object, error))?;
            if key.is_directory { (object, file.keys(object, recursive)?) } else { ("", vec![key]) }
        }
    };
    let rows: Vec<Row> = keys.into_iter().map(|key| row(file, directory, key, long)).collect();
    if shape == Shape::Text { console.text(&render(&rows, long, console)) } else { console.json(&rows) }
}

/// Returns the failure for an object that does not exist, with a hint if it is a branch.
fn not_listed(file: &File, object: &str, error: Error) -> Failure {
    match opened::place(file, object) {
        Ok(place) if place.branch.is_some() => Failure::from(error).hinted(format!(
            "{} is a branch of a tree: forthwith show lists branches, and head prints their entries",
            human::clean(object)
        )),
        _ => error.into(),
    }
}

fn row(file: &File, directory: &str, key: Key, long: bool) -> Row {
    if !(long && key.is_table) {
        return Row { key, entries: None, problem: None };
    }
    let slash = if directory.is_empty() { "" } else { "/" };
    let table = file.table(&format!("{directory}{slash}{};{}", key.path, key.cycle));
    match table.and_then(|table| table.entries()) {
        Ok(entries) => Row { key, entries: Some(entries), problem: None },
        Err(error) => Row { key, entries: None, problem: Some(error.kind.to_string()) },
    }
}

fn render(rows: &[Row], long: bool, console: &Console<'_>) -> String {
    if rows.is_empty() {
        return "nothing in here\n".into();
    }
    let mut headings = vec![("name", Align::Left), ("class", Align::Left), ("stored", Align::Right)];
    if long {
        headings.extend([("decompressed", Align::Right), ("entries", Align::Right)]);
    }
    headings.push(("title", Align::Left));
    let mut table = Table::new(&headings);
    let newest = newest(rows.iter().map(|row| &row.key));
    for row in rows {
        let Row { key, entries, problem } = row;
        // A newer cycle supersedes an older one.
        let replaced = newest.get(key.path.as_str()).is_some_and(|&cycle| cycle > key.cycle);
        let style = match () {
            () if replaced => Style::Faint,
            () if key.is_table || key.is_directory => Style::Strong,
            () => Style::Plain,
        };
        let name = match (key.is_directory, key.cycle) {
            (true, 1) => format!("{}/", key.path),
            (true, cycle) => format!("{};{cycle}/", key.path),
            (false, cycle) => format!("{};{cycle}", key.path),
        };
        let mut cells =
            vec![Cell::new(style, &name), key.class.as_str().into(), human::bytes(key.stored_bytes).into()];
        if long {
            cells.push(human::bytes(key.object_bytes).into());
            cells.push(match (entries, problem) {
                (Some(entries), _) => human::count(*entries).into(),
                (None, Some(_)) => Cell::new(Style::Bad, "?"),
                (None, None) => Cell::default(),
            });
        }
        cells.push(problem.as_ref().map_or_else(|| key.title.as_str().into(), |p| Cell::new(Style::Bad, p)));
        table.row(cells);
    }
    table.render(console.width, console.paint)
}

/// Returns the highest cycle of each path.
pub(crate) fn newest<'a>(keys: impl Iterator<Item = &'a Key>) -> HashMap<String, u16> {
    let mut newest = HashMap::new();
    for key in keys {
        let highest = newest.entry(key.path.clone()).or_insert(key.cycle);
        *highest = key.cycle.max(*highest);
    }
    newest
}
