//! Columns of a file that are converted.

use super::Conversion;
use crate::{
    choice::Choice,
    console::Console,
    failure::{Failure, Result},
    opened::Place,
    words::Counted,
};
use forthwith::{
    FileFormat, ProjectedField, Table,
    columns::Form,
    io::MemorySink,
    plan::{Error, ErrorKind, WriteOptions},
};
use std::ops::Range;

/// Returns the selected fields of a file, or all. A name must exist. A field that cannot be converted is an
/// error unless `skip_unsupported` is set.
pub(super) fn fields(
    place: &Place,
    choice: &Choice,
    format: FileFormat,
    asked: &Conversion,
    console: &mut Console<'_>,
) -> Result<Vec<ProjectedField>> {
    let table = &place.table;
    let mut columns: Vec<ProjectedField> = Vec::new();
    let (mut hollow, mut refused) = (Vec::new(), Vec::new());
    for branch in choice.find(place, 0)?.branches {
        let name = branch.field.path.clone();
        let reading = table.describe_first(branch.index, 0)?.reading;
        let checked = reading
            .map_err(|what| Error::unsupported(what).in_file(table.file().uri()).in_object(&name))
            .and_then(|reading| written(table, &name, reading.form, format, asked));
        match checked {
            Ok(Ok(form)) => columns.push(ProjectedField { name, field: branch.index, form }),
            Ok(Err(())) => hollow.push(name),
            Err(error) if asked.skip_unsupported && matches!(error.kind, ErrorKind::Unsupported { .. }) => {
                refused.push(Failure::from(error).to_string());
            }
            Err(error) if matches!(error.kind, ErrorKind::Unsupported { .. }) => {
                let hint = "--skip-unsupported leaves such columns out, --columns chooses others";
                return Err(Failure::from(error).hinted(hint));
            }
            Err(error) => return Err(error.into()),
        }
    }
    left_out(&hollow, HOLLOW, asked.verbose, place, console);
    left_out(&refused, "that are not supported", asked.verbose, place, console);
    Ok(columns)
}

/// Returns the computed columns that can be written.
pub(super) fn computed(
    place: &Place,
    columns: impl Iterator<Item = (String, Form)>,
    format: FileFormat,
    asked: &Conversion,
    console: &mut Console<'_>,
) -> Result<Vec<(String, Form)>> {
    let (mut kept, mut hollow) = (Vec::new(), Vec::new());
    for (name, form) in columns {
        match written(&place.table, &name, form, format, asked)? {
            Ok(form) => kept.push((name, form)),
            Err(()) => hollow.push(name),
        }
    }
    left_out(&hollow, HOLLOW, asked.verbose, place, console);
    Ok(kept)
}

/// Reason why columns without fields are omitted from formats that have no such records.
const HOLLOW: &str = "that hold nothing but lengths";

/// Returns the Form of a column if the format supports it, and `Err(())` inside if the column has no values.
fn written(
    table: &Table,
    name: &str,
    form: Form,
    format: FileFormat,
    asked: &Conversion,
) -> Result<Result<Form, ()>, Error> {
    // The format is checked at once, instead of after the first gigabyte.
    let one = [(name.to_owned(), form)];
    let sink = Box::new(MemorySink::new(name));
    let options = WriteOptions { table: asked.options.table.clone(), ..WriteOptions::default() };
    let made = forthwith::writer(format, &one, sink, &options);
    let [(_, form)] = one;
    match made {
        Ok(_) => Ok(Ok(form)),
        Err(_) if holds_nothing(&form) => Ok(Err(())),
        Err(error) => Err(Error::new(error.kind).in_file(table.file().uri()).in_object(name)),
    }
}

/// Writes a note about omitted columns, and their names if `verbose`.
fn left_out(columns: &[String], why: &str, verbose: bool, place: &Place, console: &mut Console<'_>) {
    if columns.is_empty() {
        return;
    }
    let number = place.words.columns(columns.len() as u64);
    let more = if verbose { ":" } else { " (-v lists them)" };
    console.note(&format!("left out {number} {why}{more}"));
    if verbose {
        columns.iter().for_each(|column| console.remark(&format!("  {}", column.replace('\n', " "))));
    }
}

/// Whether values consist of lengths only: they are records without fields, or lists of such.
fn holds_nothing(form: &Form) -> bool {
    match form {
        Form::Record { contents, .. } => contents.iter().all(holds_nothing),
        Form::List { content, .. } | Form::Regular { content, .. } | Form::Option { content, .. } => {
            holds_nothing(content)
        }
        _ => false,
    }
}

/// Returns the range of entries of all fields, which must be equal; `None` if it is that of the table.
pub(super) fn entries<'f>(
    table: &Table,
    fields: impl Iterator<Item = &'f ProjectedField>,
) -> Result<Option<Range<u64>>> {
    // If blocks must be counted, all fields have all entries.
    if table.counts_blocks() {
        return Ok(None);
    }
    let mut all: Option<(Range<u64>, u32)> = None;
    for &ProjectedField { field, .. } in fields {
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
    let Some((entries, _)) = all else { return Ok(None) };
    Ok((entries != (0..table.entries()?)).then_some(entries))
}
