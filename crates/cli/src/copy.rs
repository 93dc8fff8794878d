//! `forthwith merge`, `cp`, `split` and `recompress`: copy files without decoding more than necessary.

use crate::{
    choice::Choice,
    console::{Console, bar},
    destination::{check_format, check_order, is_replaced},
    failure::{Failure, Result},
    glob::Patterns,
    human,
    interrupt::Watch,
    opened::{self, Opening},
    target::Target,
};
use forthwith::{EntryBounds, File, Merge, Merged, PathFilter, Step, files, merge};
use std::{
    ffi::{OsStr, OsString},
    ops::Range,
    sync::Arc,
    time::Instant,
};

/// Options of a copy.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Copying {
    /// File to write; for a split, the name into which the numbers of the parts are inserted.
    pub(crate) to: OsString,
    /// Patterns of columns.
    pub(crate) columns: Vec<String>,
    /// Codec and level; `None` to keep those of the source.
    pub(crate) codec: (Option<String>, Option<i32>),
    /// Whether columns that some tables lack are omitted.
    pub(crate) common: bool,
    /// Range of entries to copy.
    pub(crate) entries: Option<Range<u64>>,
    /// Conditions on entries.
    pub(crate) choice: Choice,
    /// Division of the file into parts.
    pub(crate) split: Option<Split>,
    /// Kind of tables to write; `None` to keep theirs.
    pub(crate) tables: Option<String>,
    /// Whether an existing file is replaced.
    pub(crate) force: bool,
    /// Whether the file to write is the last of several names, whose order may be confused with that of
    /// `hadd`.
    pub(crate) is_last: bool,
}

/// Division of a file into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    /// Number of entries of each part.
    Entries(u64),
    /// Number of parts.
    Files(u64),
}

pub(crate) fn copy(
    targets: &[Target],
    asked: &Copying,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let mut files = Vec::new();
    for target in targets {
        let file = opened::file(target, opening)?;
        opened::tell_of_recovery(&file, console);
        files.push(file);
    }
    if let Some(file) = files.first() {
        check_format(&asked.to, file.format())?;
    }
    if asked.force && asked.is_last {
        check_order(targets, &asked.to)?;
    }
    let patterns = Patterns::of(&asked.columns).map_err(Failure::misuse)?;
    let columns = (!asked.columns.is_empty()).then(|| -> PathFilter {
        Arc::new(move |path| patterns.want(path, path.rsplit('/').next().unwrap_or(path)))
    });
    let object = targets.first().map(|target| target.object.clone()).unwrap_or_default();
    let objects = (!object.is_empty()).then(|| -> PathFilter {
        let object = object.split(';').next().unwrap_or_default().trim_matches('/').to_owned();
        Arc::new(move |path| {
            path == object || path.strip_prefix(&*object).is_some_and(|rest| rest.starts_with('/'))
        })
    });
    if let Some(objects) = &objects {
        let found = files.iter().map(|file| file.keys("", true)).collect::<Result<Vec<_>, _>>()?;
        if !found.iter().flatten().any(|key| objects(&key.path)) {
            return Err(Failure::misuse(format!("there is no object {}", human::clean(&object))));
        }
    }
    tell_of_folders(targets, console);
    let chosen = chosen(&files, &object, asked, opening)?;
    let job = Merge {
        codec: asked.codec.0.clone(),
        level: asked.codec.1,
        common: asked.common,
        objects,
        columns,
        entries: chosen,
        bounds: EntryBounds::Begun,
        tables: asked.tables.clone(),
        threads: opening.threads,
    };
    let Some(split) = asked.split else { return one(&files, &asked.to, &job, asked.force, opening, console) };
    let name = asked.to.to_str().ok_or_else(|| {
        let name = asked.to.to_string_lossy();
        Failure::misuse(format!(
            "split puts numbers into the name of the file to write, which is not UTF-8: {name}"
        ))
    })?;
    let entries = entries_of(&files, &object)?;
    for (number, range) in (1..).zip(parts(split, entries)?) {
        let to = numbered(name, number);
        let job = Merge { entries: Some(vec![range]), ..job.clone() };
        one(&files, OsStr::new(&to), &job, asked.force, opening, console)?;
    }
    Ok(())
}

/// Writes a note about Hive partition keys, which are lost.
fn tell_of_folders(targets: &[Target], console: &mut Console<'_>) {
    let mut names: Vec<&str> = Vec::new();
    for constant in targets.iter().flat_map(|target| &target.constants) {
        if !names.contains(&constant.name.as_str()) {
            names.push(&constant.name);
        }
    }
    if !names.is_empty() {
        console.note(&format!(
            "folders say values of {}, which are not kept: columns are those of the files",
            human::clean(&names.join(", "))
        ));
    }
}

/// Writes one file.
fn one(
    files: &[File],
    to: &OsStr,
    job: &Merge,
    force: bool,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let began = Instant::now();
    let is_replaced = is_replaced(to, force)?;
    let watch = Watch::begin();
    let sink = files::sink(to, &opening.store())?;
    watch.removes(sink.temporary());
    let bar = bar(None, BAR, console.width.is_some());
    let merged = merge(files, sink, job, &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
        !watch.asked()
    });
    bar.finish_and_clear();
    let merged = merged?;
    tell(&to.to_string_lossy(), &merged, began, console)?;
    if is_replaced {
        console.note(&format!("replaced {}", human::clean(&to.to_string_lossy())));
    }
    Ok(())
}

fn tell(to: &str, merged: &Merged, began: Instant, console: &mut Console<'_>) -> Result<()> {
    for path in merged.several.iter().take(5) {
        console.note(&format!(
            "{} has several cycles: objects of its class are not added up",
            human::clean(path)
        ));
    }
    if merged.branchless > 0 {
        console.note(&format!(
            "{} without branches left out",
            human::counted(merged.branchless, "table", "tables")
        ));
    }
    let entries = merged.tables.iter().map(|(_, entries)| entries).sum();
    console.line(&format!(
        "{}: {} of {}, {}, {} in {:.1} s",
        human::clean(to),
        human::counted(entries, "entry", "entries"),
        human::counted(merged.tables.len() as u64, "table", "tables"),
        human::counted(merged.objects, "object", "objects"),
        human::bytes(merged.bytes),
        began.elapsed().as_secs_f64(),
    ))
}

/// Returns the ranges of entries that pass the conditions, counted over all files; `None` for all entries.
fn chosen(
    files: &[File],
    object: &str,
    asked: &Copying,
    opening: &Opening,
) -> Result<Option<Vec<Range<u64>>>> {
    let range = asked.entries.clone();
    if !asked.choice.computed.is_empty() {
        let what = "cp copies existing columns and cannot --compute new ones; convert can";
        return Err(Failure::misuse(what.into()));
    }
    if asked.choice.cut.is_none() {
        return Ok(range.map(|range| vec![range]));
    }
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let mut before = 0;
    for file in files {
        let table = opened::place(file, object)?.table;
        let selection = table.select_fields(&[], asked.choice.expressions())?;
        let entries = table.entries()?;
        let mut steps = selection.steps(0..entries, Step::Bytes(64 << 20))?;
        while let Some(batch) = steps.read_batch(opening.threads, None)? {
            let all = || batch.entries.clone().collect();
            for entry in batch.kept.unwrap_or_else(all) {
                let entry = before + entry;
                if range.as_ref().is_some_and(|range| !range.contains(&entry)) {
                    continue;
                }
                match ranges.last_mut().filter(|last| last.end == entry) {
                    Some(last) => last.end += 1,
                    None => ranges.push(entry..entry + 1),
                }
            }
        }
        before += entries;
    }
    Ok(Some(ranges))
}

/// Returns the number of entries of the table to split.
fn entries_of(files: &[File], object: &str) -> Result<u64> {
    let mut entries = 0;
    for file in files {
        entries += opened::place(file, object)?.table.entries()?;
    }
    Ok(entries)
}

fn parts(split: Split, entries: u64) -> Result<Vec<Range<u64>>> {
    let size = match split {
        Split::Entries(size) => size,
        Split::Files(files) => entries.div_ceil(files.max(1)),
    }
    .max(1);
    let count = entries.div_ceil(size);
    if count > MOST_PARTS {
        return Err(Failure::misuse(format!("{count} files, more than {MOST_PARTS}")));
    }
    Ok((0..count).map(|part| part * size..((part + 1) * size).min(entries)).collect())
}

/// Returns the name of a part: its number replaces `{}` or is inserted before the extension.
fn numbered(name: &str, number: u64) -> String {
    match name.split_once("{}") {
        Some((before, behind)) => format!("{before}{number}{behind}"),
        None => match name.rsplit_once('.') {
            Some((before, ending)) => format!("{before}-{number}.{ending}"),
            None => format!("{name}-{number}"),
        },
    }
}

/// Template of the progress bar.
const BAR: &str = "{wide_bar} {bytes} of {total_bytes}  {bytes_per_sec}  {eta}";

/// Parses a range of entries: `100:200`, `:200`, `100:`.
pub(crate) fn range(typed: &str) -> Result<Range<u64>> {
    let parsed = typed.split_once(':').and_then(|(begin, end)| {
        let number = |text: &str, absent| if text.is_empty() { Some(absent) } else { text.parse().ok() };
        let range = number(begin, 0)?..number(end, u64::MAX)?;
        (!range.is_empty()).then_some(range)
    });
    parsed.ok_or_else(|| {
        Failure::misuse(format!("{typed:?} is not a range of entries: write 100:200, :200 or 100:"))
    })
}

/// Maximum number of parts; more are assumed to be a mistake.
const MOST_PARTS: u64 = 100_000;
