//! `forthwith demo`: a tour of a file.

mod muons;
mod picture;
mod samples;
mod speed;

use crate::{
    console::Console,
    failure::{Failure, Result},
    head, human, ls, object, opened, show,
    survey::{self, Branch},
    words::Counted,
};
use forthwith::{
    File, Table,
    forth::Compiled,
    plan::{Decoder, Error},
};
use samples::{Kind, sample};
use std::time::Duration;

/// Maximum number of objects that are listed.
const LISTED: usize = 12;
/// Maximum number of tables that are opened to find the largest.
const OPENED: usize = 200;
/// Number of entries that are shown of a branch.
const SHOWN: u64 = 4;
/// Maximum number of lines of a program that are printed.
const LINES: usize = 40;

pub(crate) fn demo(
    file: &File,
    object: &str,
    threads: Option<usize>,
    limit: Duration,
    console: &mut Console<'_>,
) -> Result<()> {
    let place = if object.is_empty() { None } else { Some(opened::place(file, object)?) };
    let info = file.info()?;
    title(console, &human::clean(&info.uri))?;
    console.line(&format!(
        "  {0} file of {1}, written by {0} {2}, compression {3}",
        info.format,
        human::bytes(info.size),
        info.version,
        info.compression
    ))?;
    let (trees, closed) = contents(file, console)?;
    let table = match place {
        Some(place) => place.table,
        None => match largest(trees)? {
            Some(table) => table,
            None => {
                if let Some(error) = closed {
                    return Err(error.into());
                }
                console.line("\nThere is no tree in this file, and so no branches to show.")?;
                // The table may be of an unsupported kind, which the error of opening it reports.
                if let Some(other) = opened::other_table(file)? {
                    file.table(&other)?;
                }
                return histogram(file, console);
            }
        },
    };
    let branches = survey::survey(&table)?;
    console.line("")?;
    let words = table.words();
    // The noun begins a line.
    let (first, rest) = words.table.split_at(words.table.len().min(1));
    let noun = first.to_uppercase() + rest;
    title(console, format!("{noun} {}", human::clean(table.path())).trim_end())?;
    let kinds = survey::tally(branches.iter().map(Branch::means));
    console.line(&format!(
        "  {}, {}: {}",
        human::counted(table.entries()?, "entry", "entries"),
        words.columns(kinds.iter().sum()),
        show::kinds(kinds)
    ))?;
    for (kind, heading) in [
        (Kind::Flat, "One number an entry"),
        (Kind::Jagged, "A list an entry"),
        (Kind::Nested, "Nested data"),
    ] {
        console.line("")?;
        match sample(&branches, kind) {
            Some(branch) => {
                // One program is sufficient: that of the nested branch, if there is one.
                let program = kind == Kind::Nested || sample(&branches, Kind::Nested).is_none();
                example(&table, branch, heading, program, console)?;
            }
            None => {
                title(console, heading)?;
                let unread = if kinds[3] > 0 { " that can be read" } else { "" };
                console.line(&format!("  this {} has no such {}{unread}", words.table, words.column[0]))?;
            }
        }
    }
    console.line("")?;
    title(console, "A picture")?;
    picture::picture(&table, &branches, console)?;
    console.line("")?;
    title(console, "Everything")?;
    let threads = threads.unwrap_or_else(|| file.engine().options().threads);
    speed::speed(&table, &branches, threads, limit, console)
}

/// Draws the first histogram of a file without tables, if there is one.
fn histogram(file: &File, console: &mut Console<'_>) -> Result<()> {
    let keys = file.keys("", true)?;
    let histograms = keys.iter().filter(|key| !key.is_directory && !key.is_table);
    for key in histograms.take(OPENED) {
        if let Some(drawn) = object::picture(file, &key.path, console) {
            console.line("")?;
            title(console, &format!("Histogram {}", human::clean(&key.path)))?;
            console.text(&picture::indent(&drawn))?;
            return console.line("\nforthwith show FILE:OBJECT shows any object.");
        }
    }
    Ok(())
}

fn title(console: &mut Console<'_>, text: &str) -> Result<()> {
    console.line(&console.paint.strong(text))
}

/// Lists the objects; returns the tables that can be opened, and the first error of the others.
fn contents(file: &File, console: &mut Console<'_>) -> Result<(Vec<Table>, Option<Error>)> {
    let mut keys = file.keys("", true)?;
    // Older cycles are omitted.
    let newest = ls::newest(keys.iter());
    keys.retain(|key| newest.get(&key.path) == Some(&key.cycle));
    if keys.is_empty() {
        console.line("  there is nothing in it")?;
    }
    let (mut trees, mut closed) = (Vec::new(), None);
    for (at, key) in keys.iter().enumerate() {
        let mut note = String::new();
        if key.is_table && trees.len() < OPENED {
            match file.table(&key.path) {
                Ok(table) => {
                    note = format!(", {}", human::counted(table.entries()?, "entry", "entries"));
                    trees.push(table);
                }
                Err(error) => {
                    note = format!(", cannot be opened: {}", human::clean(&error.kind.to_string()));
                    closed.get_or_insert(error);
                }
            }
        }
        if at < LISTED {
            let name = human::clean(&key.path);
            let slash = if key.is_directory { "/" } else { "" };
            console.line(&format!(
                "  {name}{slash}  {}",
                console.paint.faint(&(human::clean(&key.class) + &note))
            ))?;
        }
    }
    if keys.len() > LISTED {
        console.line(&format!(
            "  … and {} more (forthwith ls -r)",
            human::count((keys.len() - LISTED) as u64)
        ))?;
    }
    Ok((trees, closed))
}

/// Returns the table with the largest product of entries and branches.
fn largest(trees: Vec<Table>) -> Result<Option<Table>, Failure> {
    let mut best: Option<(u128, Table)> = None;
    for table in trees {
        // The error of a table whose branches cannot be listed was reported by the listing.
        let size = table.fields().map_or(0, |f| f.len() as u128) * u128::from(table.entries()?.max(1));
        if best.as_ref().is_none_or(|(most, _)| size > *most) {
            best = Some((size, table));
        }
    }
    Ok(best.map(|(_, table)| table))
}

/// Shows one branch: its type, its first entries, and its decoder.
fn example(
    table: &Table,
    branch: &Branch,
    heading: &str,
    program: bool,
    console: &mut Console<'_>,
) -> Result<()> {
    let Some(reading) = branch.reading() else { return Ok(()) };
    title(console, &format!("{heading}: {}", human::clean(&branch.field.path)))?;
    let width = console.width.unwrap_or(100).saturating_sub(14).max(20);
    let mut line = |label: &str, text: &str| {
        let label = console.paint.faint(&format!("{label:<10}"));
        console.line(&format!("  {label}{}", human::clean(text)))
    };
    line("in file", branch.type_name())?;
    line("array", &format!("{} * {}", branch.entries(), reading.form.type_string()))?;
    let first = head::first(table, branch, SHOWN);
    let lines = first.and_then(|array| {
        let invalid = |invalid| Failure::Column { branch: branch.field.path.clone(), invalid };
        array.preview(0..SHOWN, width).lines().map_err(invalid)
    });
    match lines {
        Ok(lines) => {
            for (at, text) in lines.iter().enumerate() {
                line(if at == 0 { "entries" } else { "" }, text)?;
            }
        }
        Err(failure) => line("entries", &format!("cannot be read: {failure}"))?,
    }
    line("read by", &format!("{}: {}", reading.decoder.kind(), reading.reason))?;
    if let (Decoder::Program(program), true) = (&reading.decoder, program) {
        console.line("  forthwith made this program for it:")?;
        let source: Vec<_> = program.source.trim_end().lines().collect();
        for text in source.iter().take(LINES) {
            console.line(&format!("    {}", human::clean(text)))?;
        }
        if source.len() > LINES {
            console.line(&format!("    … and {} more lines (forthwith forth)", source.len() - LINES))?;
        }
        if let Ok(compiled) = Compiled::new(&program.source) {
            console.line("  and the machine runs it so:")?;
            for text in compiled.explain().lines().take(LINES) {
                console.line(&format!("    {}", human::clean(text)))?;
            }
        }
    }
    Ok(())
}
