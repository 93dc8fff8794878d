//! `forthwith recover`: writes a sound file with everything readable in a damaged one.

use crate::{
    console::{Console, bar},
    destination::is_replaced,
    failure::{Failure, Result},
    human,
    interrupt::Watch,
    opened::{self, Opening},
    shape::Shape,
    target::Target,
};
use forthwith::{
    DamagedPart, LostEntries, LostObject, RecoverReport, RecoveredTable,
    files::{self, StoreOptions},
};
use serde::Serialize;
use std::{
    ffi::OsString,
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
};

/// Options of `recover`.
#[derive(Debug, PartialEq)]
pub(crate) struct Recovering {
    /// Name of the file to write.
    pub(crate) to: OsString,
    /// Name of the file for the JSON report.
    pub(crate) report: Option<PathBuf>,
    /// Whether an existing file may be replaced.
    pub(crate) force: bool,
}

/// The JSON report.
#[derive(Serialize)]
struct Document<'a> {
    file: &'a str,
    to: &'a str,
    /// Whether nothing was lost.
    complete: bool,
    #[serde(flatten)]
    report: &'a RecoverReport,
}

/// Recovers a file. Every error that prevents writing the file ends with exit code [`FAILED`].
pub(crate) fn recover(
    target: &Target,
    asked: &Recovering,
    shape: Shape,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let (report, replaced) = match written(target, asked, opening, console) {
        Ok(done) => done,
        Err(failure) if matches!(failure.code(), 0 | STOPPED) => return Err(failure),
        Err(failure) => {
            console.fail(&failure);
            return Err(Failure::Told { code: FAILED });
        }
    };
    let to = asked.to.to_string_lossy();
    let document = Document { file: &target.uri, to: &to, complete: report.is_complete(), report: &report };
    if let Some(path) = &asked.report
        && let Err(failure) = save(path, &document)
    {
        console.fail(&failure);
        return Err(Failure::Told { code: FAILED });
    }
    match shape {
        Shape::Text => console.text(&render(&to, &report))?,
        _ => console.json(&document)?,
    }
    if replaced {
        console.note(&format!("replaced {}", human::clean(&to)));
    }
    if report.is_complete() { Ok(()) } else { Err(Failure::Told { code: LOST }) }
}

/// Saves the report. The file gets its final name when it is complete.
fn save(path: &Path, document: &Document<'_>) -> Result<()> {
    let unwritable = |error| Failure::Unwritable { path: path.display().to_string(), error };
    let text = serde_json::to_vec_pretty(document).map_err(|error| unwritable(error.into()))?;
    let mut sink = files::sink(path.as_os_str(), &StoreOptions::new())?;
    sink.write_all(&text).map_err(unwritable)?;
    sink.finish().map_err(forthwith::plan::Error::from)?;
    Ok(())
}

/// Writes the file, and returns the report and whether an existing file was replaced.
fn written(
    target: &Target,
    asked: &Recovering,
    opening: &Opening,
    console: &Console<'_>,
) -> Result<(RecoverReport, bool)> {
    if !target.object.is_empty() {
        let (object, uri) = (&target.object, &target.uri);
        let what = format!("recover writes a whole file: leave out :{object}, as in {uri}");
        return Err(Failure::misuse(what));
    }
    let is_there = is_replaced(&asked.to, asked.force)?;
    if asked.to == "-" {
        return Err(Failure::misuse("recover writes a file, and not to standard output".into()));
    }
    if let Some(report) = &asked.report {
        is_replaced(report.as_os_str(), asked.force)?;
        for (other, what) in
            [(target.uri.as_ref(), "the file to recover"), (Path::new(&asked.to), "written, too")]
        {
            if place(report).is_some_and(|report| Some(report) == place(other)) {
                let what = format!("{} is {what}, so it cannot be the report", report.display());
                return Err(Failure::misuse(what));
            }
        }
    }
    let watch = Watch::begin();
    let (source, engine, options) = opened::parts(target, opening)?;
    let sink = files::sink(&asked.to, &opening.store())?;
    watch.removes(sink.temporary());
    let bar = bar(None, BAR, console.width.is_some());
    let recovered = forthwith::recover(source, engine, &options, sink, &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
        !watch.asked()
    });
    bar.finish_and_clear();
    Ok((recovered?, is_there))
}

/// Returns the canonical path of a file that may not exist yet.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    path.canonicalize().ok().or_else(|| Some(folder.canonicalize().ok()?.join(path.file_name()?)))
}

fn render(to: &str, report: &RecoverReport) -> String {
    let mut text = String::new();
    for part in &report.gaps {
        gap(&mut text, part);
    }
    if report.unlisted_blocks > 0 {
        let blocks = human::counted(report.unlisted_blocks, "block", "blocks");
        // Writing to a string never fails.
        let _ = writeln!(text, "lost: {blocks} of tables that were not saved after they were written");
    }
    for lost in &report.lost_objects {
        object(&mut text, lost);
    }
    for found in &report.tables {
        table(&mut text, found);
    }
    let entries = report.tables.iter().map(|table| table.entries).sum();
    let _ = writeln!(
        text,
        "{}: {} of {}, {}, {}",
        human::clean(to),
        human::counted(entries, "entry", "entries"),
        human::counted(report.tables.len() as u64, "table", "tables"),
        human::counted(report.objects, "object", "objects"),
        human::bytes(report.bytes),
    );
    text
}

fn gap(text: &mut String, part: &DamagedPart) {
    let bytes = human::bytes(part.end.saturating_sub(part.begin));
    let rows = match (part.block, part.entries) {
        (Some(block), Some(entries)) => {
            format!("block {block} with {}, ", human::counted(entries, "entry", "entries"))
        }
        (Some(block), None) => format!("block {block} with an unknown number of entries, "),
        _ => String::new(),
    };
    let _ = writeln!(text, "lost: {rows}{bytes} from byte {} on: {}", part.begin, human::clean(&part.what));
}

fn object(text: &mut String, lost: &LostObject) {
    let (path, class) = (human::clean(&lost.path), human::clean(&lost.class));
    let what = human::clean(&lost.what);
    let _ = writeln!(text, "lost: {path}, a {class} at byte {}: {what}", lost.begin_byte);
}

fn table(text: &mut String, found: &RecoveredTable) {
    for column in &found.lost_columns {
        let (path, what) = (human::clean(&column.path), human::clean(&column.what));
        let _ = writeln!(text, "lost: column {path} of {}: {what}", name(found));
    }
    for loss in found.losses.iter().take(LISTED) {
        entries(text, found, loss);
    }
    let more = found.losses.len().saturating_sub(LISTED) as u64 + found.more_losses;
    if more > 0 {
        let _ =
            writeln!(text, "lost: {} of {}", human::counted(more, "more part", "more parts"), name(found));
    }
    if let Some(made) = &found.made_anew {
        let _ = writeln!(text, "{}: {made} was made anew", name(found));
    }
    let kept = human::counted(found.entries, "entry", "entries");
    let unsaved = match found.unsaved_entries {
        0 => String::new(),
        unsaved => format!(", {} of them behind the last save", human::count(unsaved)),
    };
    let lost = match found.lost_entries {
        0 => String::new(),
        lost => format!(", {} lost", human::count(lost)),
    };
    let _ = writeln!(text, "{}: {kept}{unsaved}{lost}", name(found));
}

fn entries(text: &mut String, found: &RecoveredTable, loss: &LostEntries) {
    let column = loss.column.as_ref().map(|path| format!(" for column {}", human::clean(path)));
    let bytes = match (loss.begin_byte, loss.end_byte) {
        (Some(begin), Some(end)) => format!(", bytes {begin} to {end}"),
        (Some(begin), None) => format!(", byte {begin}"),
        _ => String::new(),
    };
    let _ = writeln!(
        text,
        "lost: entries {} to {} of {}{}{bytes}: {}",
        loss.begin,
        loss.end.saturating_sub(1),
        name(found),
        column.unwrap_or_default(),
        human::clean(&loss.what)
    );
}

/// Returns the name of a table for the report.
fn name(found: &RecoveredTable) -> String {
    match (&*found.path, found.cycle) {
        ("", _) => "the table".into(),
        (path, Some(cycle)) => format!("{};{cycle}", human::clean(path)),
        (path, None) => human::clean(path),
    }
}

/// Exit code if the file was written with losses.
const LOST: i32 = 1;
/// Exit code if no file was written.
const FAILED: i32 = 2;
/// Exit code after Ctrl-C.
const STOPPED: i32 = 130;
/// Maximum number of losses printed per table.
const LISTED: usize = 20;
/// Template of the progress bar.
const BAR: &str = "{wide_bar} {bytes} of {total_bytes}  {bytes_per_sec}  {eta}";
