//! `forthwith dump`: all objects and entries of a file, with their types.

use crate::{
    choice,
    console::Console,
    failure::{Failure, Result},
    human, object,
    opened::{self, Place},
    shape::Shape,
    survey::Branch,
    target::Target,
};
use forthwith::{File, JsonRows, Key, Step, Table, plan::NotNumbers};
use serde::Serialize;

/// Number of bytes of entries that are read at a time.
const STEP: u64 = 1 << 20;

/// Options of `dump`.
#[derive(Debug, PartialEq)]
pub(crate) struct Dump {
    /// Maximum number of entries of each table.
    pub(crate) entries: u64,
    /// Patterns of columns.
    pub(crate) filter: Vec<String>,
}

/// Beginning of the JSON line of an entry.
#[derive(Debug, Serialize)]
struct Head<'a> {
    path: &'a str,
    entry: u64,
}

pub(crate) fn dump(
    file: &File,
    target: &Target,
    asked: &Dump,
    shape: Shape,
    console: &mut Console<'_>,
) -> Result<()> {
    if !target.object.is_empty() || file.is_one_table() {
        return match opened::place_in(file, target) {
            Ok(place) => table(&place, asked, shape, console),
            Err(Failure::WrongObject { key, .. }) if key.is_directory => {
                let inside = format!("{}/", key.path);
                below(file, &|path| path.starts_with(&inside), asked, shape, console)
            }
            Err(Failure::WrongObject { key, .. }) => object::dump(file, &key, shape, console),
            Err(failure) => Err(failure),
        };
    }
    below(file, &|_| true, asked, shape, console)
}

/// Prints the selected objects. Unreadable objects are reported, and the others are printed.
fn below(
    file: &File,
    is_meant: &dyn Fn(&str) -> bool,
    asked: &Dump,
    shape: Shape,
    console: &mut Console<'_>,
) -> Result<()> {
    let mut code = 0;
    for key in file.keys("", true)?.into_iter().filter(|key| is_meant(&key.path)) {
        if let Err(failure) = one(file, &key, asked, shape, console) {
            if matches!(failure.code(), 0 | 130) {
                return Err(failure);
            }
            console.fail(&failure);
            code = if code == 0 { failure.code() } else { code };
        }
    }
    if code == 0 { Ok(()) } else { Err(Failure::Told { code }) }
}

fn one(file: &File, key: &Key, asked: &Dump, shape: Shape, console: &mut Console<'_>) -> Result<()> {
    let path = format!("{};{}", key.path, key.cycle);
    if key.is_directory {
        return match shape {
            Shape::Text => console.line(&format!(
                "{} {}",
                console.paint.strong(&human::clean(&path)),
                console.paint.faint(&human::clean(&key.class))
            )),
            _ => Ok(()),
        };
    }
    if key.is_table || key.is_unsupported_table {
        let table = file.table(&path)?;
        let words = table.words();
        return self::table(&Place { table, branch: None, named: true, words }, asked, shape, console);
    }
    object::dump(file, key, shape, console)
}

fn table(place: &Place, asked: &Dump, shape: Shape, console: &mut Console<'_>) -> Result<()> {
    let branches = choice::within(place, &asked.filter)?;
    let (readable, others): (Vec<Branch>, Vec<Branch>) =
        branches.into_iter().filter(|branch| branch.field.has_data).partition(Branch::is_readable);
    for branch in &others {
        let (path, reason) = (human::clean(&branch.field.path), human::clean(branch.reason()));
        console.note(&format!("left out: {path}: {reason}"));
    }
    if shape == Shape::Text {
        let entries = human::counted(place.table.entries()?, "entry", "entries");
        let name = console.paint.strong(&human::clean(&place.name()));
        console.line(&format!("{name}: {entries}"))?;
        for branch in &readable {
            let kind = branch.reading().map_or_else(String::new, |reading| reading.form.type_string());
            let line = format!("  {}: {}", human::clean(&branch.field.path), human::clean(&kind));
            console.line(&console.paint.faint(&line))?;
        }
    }
    let fields: Vec<u32> = readable.iter().map(|branch| branch.index).collect();
    let names: Vec<&str> = readable.iter().map(|branch| branch.field.path.as_str()).collect();
    entries(&place.table, &fields, &names, asked, shape, console)
}

fn entries(
    table: &Table,
    fields: &[u32],
    names: &[&str],
    asked: &Dump,
    shape: Shape,
    console: &mut Console<'_>,
) -> Result<()> {
    let mut range = 0..asked.entries;
    for field in fields {
        let own = table.entry_range_up_to(*field, asked.entries)?;
        range = range.start.max(own.start)..range.end.min(own.end);
    }
    if fields.is_empty() || range.is_empty() {
        return Ok(());
    }
    for step in table.steps(fields, range, Step::Bytes(STEP))? {
        let step = step?;
        let rows = step.entries.end - step.entries.start;
        if shape == Shape::Text {
            for row in 0..rows {
                for (name, array) in names.iter().zip(&step.arrays) {
                    let lines = array.preview(row..row + 1, usize::MAX).lines();
                    let invalid = |invalid| Failure::Column { branch: (*name).to_owned(), invalid };
                    let value = lines.map_err(invalid)?.concat();
                    console.line(&format!(
                        "[{}] {}: {value}",
                        step.entries.start + row,
                        human::clean(name)
                    ))?;
                }
            }
            continue;
        }
        let values = JsonRows::new(names, &step.arrays, NotNumbers::Null)?;
        for row in 0..rows {
            let mut text = Vec::new();
            values.row(row, &mut text)?;
            let head = serde_json::to_string(&Head { path: table.path(), entry: step.entries.start + row })?;
            console.text(head.trim_end_matches('}'))?;
            console.text(",\"values\":")?;
            console.bytes(&text)?;
            console.text("}\n")?;
        }
    }
    Ok(())
}
