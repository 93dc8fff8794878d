//! The columns that are written, of one file and of several.

use super::Conversion;
use crate::{
    choice::Choice,
    console::Console,
    failure::{Failure, Result},
    opened::Place,
    words::Counted,
};
use forthwith::{
    FileFormat, Table,
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

/// The columns of one file. What was named has to be there, and what cannot be converted is left out only if
/// that was asked for.
pub(super) fn of_file(
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
    // Expressions are checked, and what is wrong with them is said, before anything is read.
    let computed: Vec<&str> = choice.computed.iter().map(String::as_str).collect();
    let selection = table.select(&computed, choice.expressions())?;
    for (name, form) in computed.into_iter().zip(selection.forms()?) {
        let name = name.to_owned();
        match written(table, &name, form, format, asked)? {
            Ok(form) => columns.push(Column { field: None, name, form }),
            Err(()) => hollow.push(name),
        }
    }
    left_out(&hollow, "that hold nothing but lengths", asked.verbose, place, console);
    left_out(&refused, "that are not supported", asked.verbose, place, console);
    if columns.is_empty() {
        return Err(Failure::misuse(format!("nothing of {} can be converted", table.file().uri())));
    }
    Ok(columns)
}

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

/// The columns of all files together, by name: those of the first, which all have to have, with the same
/// types.
///
/// # Errors
/// The first difference, unless what is missing becomes null.
pub(super) fn of_all(files: &[(String, Vec<Column>)], missing_null: bool) -> Result<Vec<(String, Form)>> {
    let Some(((first, columns), others)) = files.split_first() else { return Ok(Vec::new()) };
    let mut all: Vec<(String, Form)> = columns.iter().map(|c| (c.name.clone(), c.form.clone())).collect();
    for (uri, columns) in others {
        for (name, form) in &mut all {
            match columns.iter().find(|column| column.name == *name) {
                Some(column) if is_same(form, &column.form) => {}
                Some(column) => {
                    let (ours, theirs) = (form.type_string(), column.form.type_string());
                    let what = format!("column {name} is {theirs} in {uri}, and {ours} in {first}");
                    return Err(Failure::misuse(what).hinted("--columns chooses others"));
                }
                None if missing_null => *form = form.clone().optional(),
                None => return Err(lacks(uri, name, first)),
            }
        }
        for column in columns {
            if all.iter().any(|(name, _)| *name == column.name) {
                continue;
            }
            if !missing_null {
                return Err(lacks(first, &column.name, uri));
            }
            all.push((column.name.clone(), column.form.clone().optional()));
        }
    }
    Ok(all)
}

/// Whether values are of one type, but for being optional in one of them only because a file lacks the
/// column.
fn is_same(all: &Form, own: &Form) -> bool {
    let all_type = all.type_string();
    all_type == own.type_string() || all_type == own.clone().optional().type_string()
}

fn lacks(uri: &str, name: &str, other: &str) -> Failure {
    Failure::misuse(format!("{uri} has no column {name}, which {other} has"))
        .hinted("--missing null makes such values null, --columns chooses others")
}

/// The entries of all columns of a file, which have to have the same; where blocks have to be counted, as
/// many as there will be.
pub(super) fn entries(table: &Table, fields: &[u32]) -> Result<Range<u64>> {
    if table.counts_blocks() {
        return Ok(0..u64::MAX);
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
