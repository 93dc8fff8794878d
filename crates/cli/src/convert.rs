//! `forthwith convert`: a table into a file of another format, step by step.

use crate::{
    console::Console,
    failure::{Failure, Result},
    head, human,
    interrupt::Watch,
    meaning::Choice,
    opened::Place,
};
use forthwith::{
    FileFormat, Step, Table,
    columns::Form,
    plan::{Error, ErrorKind, WriteOptions},
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{ops::Range, path::Path, time::Instant};

/// What was asked for besides source and columns.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Conversion {
    /// The file to write.
    pub(crate) to: String,
    /// How.
    pub(crate) options: WriteOptions,
    /// Bytes of a step, decompressed.
    pub(crate) step: u64,
    /// Columns that cannot be read or written are left out.
    pub(crate) skip_unsupported: bool,
    /// A file of that name is replaced.
    pub(crate) force: bool,
}

/// A column on its way.
struct Column {
    field: u32,
    name: String,
    form: Form,
}

pub(crate) fn convert(
    place: &Place,
    choice: &Choice,
    asked: &Conversion,
    threads: Option<usize>,
    console: &mut Console<'_>,
) -> Result<()> {
    let began = Instant::now();
    let table = &place.table;
    let format = FileFormat::of(&asked.to)?;
    refuse_to_replace(table.file().uri(), asked)?;
    let columns = columns(place, choice, format, asked.skip_unsupported, console)?;
    let fields: Vec<u32> = columns.iter().map(|column| column.field).collect();
    let named: Vec<(String, Form)> = columns.into_iter().map(|column| (column.name, column.form)).collect();
    let entries = entries(table, &fields)?;
    let steps = table.steps(&fields, entries.clone(), Step::Bytes(asked.step))?;
    let watch = Watch::begin();
    let mut writer = forthwith::create(&asked.to, &named, &asked.options)?;
    let bar = bar(entries.end - entries.start, console.width.is_some());
    let mut walk = table.walk(&fields, steps)?;
    while let Some((step, arrays)) = walk.read(threads, Some(&mut |_| !watch.asked()))? {
        writer.write(&arrays)?;
        bar.inc(step.end - step.start);
        if watch.asked() {
            return Err(Error::new(ErrorKind::Cancelled).into());
        }
    }
    bar.set_message("finishing");
    let written = writer.finish()?;
    bar.finish_and_clear();
    console.line(&format!(
        "{}: {} of {}, {} in {:.1} s",
        human::clean(&asked.to),
        human::counted(written.entries, "entry", "entries"),
        human::counted(named.len() as u64, "column", "columns"),
        human::bytes(written.bytes),
        began.elapsed().as_secs_f64(),
    ))
}

/// A file that exists is kept, unless told otherwise; the source in any case.
fn refuse_to_replace(source: &str, asked: &Conversion) -> Result<()> {
    let to = Path::new(&asked.to);
    let same = to.canonicalize().ok().zip(Path::new(source).canonicalize().ok());
    if same.is_some_and(|(to, source)| to == source) {
        return Err(Failure::misuse(format!("{} would replace what it is made of", asked.to)));
    }
    if to.is_file() && !asked.force {
        return Err(Failure::misuse(format!("{} exists; --force replaces it", asked.to)));
    }
    Ok(())
}

/// The columns to write. What was named has to be there, and what cannot be converted is left out only if that was asked for.
fn columns(
    place: &Place,
    choice: &Choice,
    format: FileFormat,
    skip_unsupported: bool,
    console: &mut Console<'_>,
) -> Result<Vec<Column>> {
    let table = &place.table;
    let mut columns: Vec<Column> = Vec::new();
    for branch in head::wanted(place, choice)? {
        let name = branch.field.path.clone();
        let checked = || -> Result<Form, Error> {
            let reading = table
                .describe(branch.index)?
                .reading
                .map_err(|what| Error::unsupported(what).in_file(table.file().uri()).in_object(&name))?;
            // The format is asked at once, rather than after the first gigabyte.
            let one = [(name.clone(), reading.form)];
            forthwith::writer(
                format,
                &one,
                Box::new(forthwith::io::MemorySink::new(&*name)),
                &WriteOptions::default(),
            )
            .map_err(|error| Error::new(error.kind).in_file(table.file().uri()).in_object(&name))?;
            let [(_, form)] = one;
            Ok(form)
        };
        match checked() {
            Ok(form) => columns.push(Column { field: branch.index, name, form }),
            Err(error) if skip_unsupported && matches!(error.kind, ErrorKind::Unsupported { .. }) => {
                console.note(&format!("left out: {error}"));
            }
            Err(error) if matches!(error.kind, ErrorKind::Unsupported { .. }) => {
                console.note("--skip-unsupported leaves such columns out, --columns chooses others");
                return Err(error.into());
            }
            Err(error) => return Err(error.into()),
        }
    }
    if columns.is_empty() {
        return Err(Failure::misuse(format!("nothing of {} can be converted", table.file().uri())));
    }
    Ok(columns)
}

/// The entries of all columns, which have to have the same.
fn entries(table: &Table, fields: &[u32]) -> Result<Range<u64>> {
    let mut all: Option<(Range<u64>, u32)> = None;
    for &field in fields {
        let own = table.entry_range(field)?;
        match &all {
            None => all = Some((own, field)),
            Some((first, _)) if *first == own => {}
            Some((first, other)) => {
                let name = |field: u32| Ok::<_, Error>(table.fields()?[field as usize].path.clone());
                let what = format!(
                    "{} has entries {} to {}, {} has {} to {}; --columns chooses those of one length",
                    name(*other)?,
                    first.start,
                    first.end,
                    name(field)?,
                    own.start,
                    own.end
                );
                return Err(Failure::misuse(what));
            }
        }
    }
    Ok(all.map_or(0..0, |(entries, _)| entries))
}

/// Seen by people only.
fn bar(entries: u64, seen: bool) -> ProgressBar {
    let target = if seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {human_pos} entries  {eta} {msg}");
    let bar = ProgressBar::with_draw_target(Some(entries), target);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
