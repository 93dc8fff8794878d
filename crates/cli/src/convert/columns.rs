//! The columns that are written, of one file.

use super::Conversion;
use crate::{
    choice::Choice,
    console::Console,
    failure::{Failure, Result},
    opened::Place,
    words::Counted,
};
use forthwith::{
    FileFormat, SelectOptions, Table, UnitedColumn,
    columns::Form,
    io::MemorySink,
    plan::{Error, ErrorKind, WriteOptions},
};
use std::ops::Range;

/// A column on its way.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Nothing where it is computed.
    pub(super) field: Option<u32>,
    pub(super) name: String,
    pub(super) form: Form,
}

/// The columns of one file that stands alone. What was named has to be there, and what cannot be converted is left
/// out only if that was asked for.
pub(super) fn of_file(
    place: &Place,
    choice: &Choice,
    format: FileFormat,
    asked: &Conversion,
    console: &mut Console<'_>,
) -> Result<Vec<Column>> {
    let mut columns = fields(place, choice, format, asked, console)?;
    columns.extend(computed(place, choice, Vec::new(), format, asked, console)?);
    Ok(columns)
}

/// The columns that a file has.
pub(super) fn fields(
    place: &Place,
    choice: &Choice,
    format: FileFormat,
    asked: &Conversion,
    console: &mut Console<'_>,
) -> Result<Vec<Column>> {
    let table = &place.table;
    let mut columns: Vec<Column> = Vec::new();
    let (mut hollow, mut refused) = (Vec::new(), Vec::new());
    for branch in choice.find(place, 0)?.branches {
        let name = branch.field.path.clone();
        let reading = table.describe_first(branch.index, 0)?.reading;
        let checked = reading
            .map_err(|what| Error::unsupported(what).in_file(table.file().uri()).in_object(&name))
            .and_then(|reading| written(table, &name, reading.form, format, asked));
        match checked {
            Ok(Ok(form)) => columns.push(Column { field: Some(branch.index), name, form }),
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

/// The columns of a file that only expressions name.
pub(super) fn used(place: &Place, choice: &Choice, columns: &[Column]) -> Result<Vec<Column>> {
    let table = &place.table;
    let mut used: Vec<Column> = Vec::new();
    for name in choice.names_used() {
        if columns.iter().chain(&used).any(|column| column.name == name) {
            continue;
        }
        // Dots may stand between the parts of a path.
        for path in [name.clone(), name.replace('.', "/")] {
            match table.find(&path) {
                Ok(field) if table.fields()?[field as usize].has_data => {
                    used.push(Column { field: Some(field), name, form: table.form(field)? });
                    break;
                }
                Ok(_) | Err(Error { kind: ErrorKind::NotFound { .. }, .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(used)
}

/// The columns that are computed. Expressions are checked, and what is wrong with them is said, before anything is read.
pub(super) fn computed(
    place: &Place,
    choice: &Choice,
    united: Vec<UnitedColumn>,
    format: FileFormat,
    asked: &Conversion,
    console: &mut Console<'_>,
) -> Result<Vec<Column>> {
    let table = &place.table;
    let (mut columns, mut hollow) = (Vec::new(), Vec::new());
    let computed: Vec<&str> = choice.computed.iter().map(String::as_str).collect();
    let selection = table.select(&computed, SelectOptions { united, ..choice.expressions() })?;
    for (name, form) in computed.into_iter().zip(selection.forms()?) {
        let name = name.to_owned();
        match written(table, &name, form, format, asked)? {
            Ok(form) => columns.push(Column { field: None, name, form }),
            Err(()) => hollow.push(name),
        }
    }
    left_out(&hollow, HOLLOW, asked.verbose, place, console);
    Ok(columns)
}

/// Said of columns that are left out of formats that have no records without fields.
const HOLLOW: &str = "that hold nothing but lengths";

/// The Form of a column if the format can have it, or nothing if the column holds nothing.
fn written(
    table: &Table,
    name: &str,
    form: Form,
    format: FileFormat,
    asked: &Conversion,
) -> Result<Result<Form, ()>, Error> {
    // The format is asked at once, rather than after the first gigabyte.
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

/// One line for all columns that are left out for a reason, or one for each.
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

/// Whether values hold nothing but lengths: they are records without fields, or of such.
fn holds_nothing(form: &Form) -> bool {
    match form {
        Form::Record { contents, .. } => contents.iter().all(holds_nothing),
        Form::List { content, .. } | Form::Regular { content, .. } | Form::Option { content, .. } => {
            holds_nothing(content)
        }
        _ => false,
    }
}

/// The entries of all columns of a file, which have to have the same; where blocks have to be counted, as
/// many as there will be.
pub(super) fn entries(table: &Table, fields: &[u32]) -> Result<Range<u64>> {
    if table.counts_blocks() {
        return Ok(0..u64::MAX);
    }
    if fields.is_empty() {
        return Ok(0..table.entries()?);
    }
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
