//! The files of a conversion, which are all looked at before the first is read.

use super::{
    Conversion,
    columns::{Column, computed, fields, of_file, used},
    together::{Own, Together},
};
use crate::{
    choice::Choice,
    console::Console,
    failure::{Failure, Result},
    human,
    opened::{self, Place},
    target::Target,
};
use forthwith::{FileFormat, columns::Form};
use std::rc::Rc;

/// The fields, by path, that have timestamps in a zone.
pub(super) type Zones = Rc<[(String, Form)]>;

/// A file on its way.
pub(super) struct Source<'a> {
    pub(super) target: &'a Target,
    pub(super) own: Own,
    pub(super) likely: u64,
    /// The zones of the timestamps of the first file, in which those of the others are shown.
    zones: Option<Zones>,
    /// Whether the table has no columns at all.
    no_columns: bool,
    /// The file that stays open: one that stands alone, and a stream, which cannot be read twice.
    pub(super) opened: Option<Place>,
}

impl Source<'_> {
    /// Opens the file again.
    pub(super) fn place(&self, asked: &Conversion, opening: &opened::Opening) -> Result<Place> {
        place(self.target, self.zones.as_ref(), asked, opening)
    }
}

/// Opens a file.
fn place(
    target: &Target,
    zones: Option<&Zones>,
    asked: &Conversion,
    opening: &opened::Opening,
) -> Result<Place> {
    let place = opened::place_of(target, opening)?.with_values(asked.values);
    match zones {
        Some(zones) => Ok(Place { table: place.table.in_zones_of(zones)?, ..place }),
        None => Ok(place),
    }
}

/// Looks at all files: which columns they have, and what these are together.
///
/// # Errors
/// A file that cannot be opened, that has not the columns it is to have, or whose columns do not fit those of others.
pub(super) fn look_at<'a>(
    targets: &'a [Target],
    choice: &Choice,
    format: FileFormat,
    asked: &Conversion,
    opening: &opened::Opening,
    console: &mut Console<'_>,
) -> Result<(Vec<Source<'a>>, Together)> {
    let mut sources = Vec::new();
    let mut absent: Vec<Vec<(String, Failure)>> = Vec::new();
    let mut zones: Option<Zones> = None;
    for target in targets {
        let place = place(target, zones.as_ref(), asked, opening)?;
        opened::tell_of_recovery(place.table.file(), console);
        // The first file is read in its own.
        let of_first = zones.clone();
        zones.get_or_insert_with(|| place.table.zones().into());
        let uri = place.table.file().uri().to_owned();
        asked.refuse_to_replace(&uri)?;
        let stands_alone = targets.len() == 1;
        let mut own = Own { uri, ..Own::default() };
        if stands_alone {
            own.columns = of_file(&place, choice, format, asked, console)?;
        } else {
            if asked.missing_null {
                let (there, not_there) = choice.of_those_there(&place)?;
                absent.push(not_there);
                if there.names_any(choice, &place) {
                    own.columns = fields(&place, &there, format, asked, console)?;
                }
            } else {
                own.columns = fields(&place, choice, format, asked, console)?;
            }
            own.used = used(&place, choice, &own.columns)?;
        }
        let no_columns = place.table.fields()?.is_empty();
        let likely = if no_columns { place.table.entries()? } else { place.table.likely_entries()? };
        if stands_alone {
            place.tell(console);
        }
        let opened = (stands_alone || target.is_stream()).then_some(place);
        sources.push(Source { target, own, likely, zones: of_first, no_columns, opened });
    }
    in_no_file(absent)?;
    let together = together(&sources, choice, format, asked, opening, console)?;
    if together.named.is_empty() {
        return Err(nothing(&sources));
    }
    Ok((sources, together))
}

/// Why nothing can be written.
fn nothing(sources: &[Source<'_>]) -> Failure {
    let Some(first) = sources.first() else { return Failure::misuse("there are no files".into()) };
    let uri = &first.own.uri;
    if first.no_columns {
        let entries = human::counted(first.likely, "entry", "entries");
        let what = format!("{uri} has {entries} and no columns, so that there is nothing to write");
        return Failure::misuse(what).hinted("forthwith count says the number of entries");
    }
    Failure::misuse(format!("nothing of {uri} can be converted"))
}

/// The error of a name or a pattern that is that of no column in any of the files.
fn in_no_file(mut absent: Vec<Vec<(String, Failure)>>) -> Result<()> {
    let Some(mut first) = (!absent.is_empty()).then(|| absent.remove(0)) else { return Ok(()) };
    let is_elsewhere =
        |pattern: &String| absent.iter().any(|others| others.iter().all(|(other, _)| other != pattern));
    match first.iter().position(|(pattern, _)| !is_elsewhere(pattern)) {
        Some(at) => Err(first.swap_remove(at).1),
        None => Ok(()),
    }
}

/// The columns of all files. Where there are several, what is computed is computed of the columns as all files together have them.
fn together(
    sources: &[Source<'_>],
    choice: &Choice,
    format: FileFormat,
    asked: &Conversion,
    opening: &opened::Opening,
    console: &mut Console<'_>,
) -> Result<Together> {
    let all: Vec<Own> = sources.iter().map(|source| source.own.clone()).collect();
    let mut together = Together::of(&all, asked.missing_null)?;
    if sources.len() == 1 || !choice.has_expressions() {
        return Ok(together);
    }
    let mut first: Option<Vec<Column>> = None;
    for source in sources {
        let again;
        let place = match &source.opened {
            Some(place) => place,
            None => {
                again = source.place(asked, opening)?;
                &again
            }
        };
        let united = together.united(&source.own);
        let made = computed(place, choice, united, format, asked, console)
            .map_err(|failure| hinted_of_missing(failure, source, sources, asked))?;
        match &mut first {
            None => first = Some(made),
            Some(first) => alike(first, made, &sources[0].own.uri, &source.own.uri)?,
        }
    }
    together.named.extend(first.into_iter().flatten().map(|column| (column.name, column.form)));
    Ok(together)
}

/// An expression that names a column which other files have can be computed if what is missing is null.
fn hinted_of_missing(
    failure: Failure,
    source: &Source<'_>,
    sources: &[Source<'_>],
    asked: &Conversion,
) -> Failure {
    let has = |own: &Own, name: &str| own.columns.iter().chain(&own.used).any(|column| column.name == name);
    let used = sources.iter().flat_map(|source| &source.own.used);
    match used.map(|column| &column.name).find(|name| !has(&source.own, name)) {
        Some(name) if !asked.missing_null => failure.hinted(format!(
            "other files have a column {name}: --missing null makes such values null where a file lacks it"
        )),
        _ => failure,
    }
}

/// Takes into the computed columns of some files what they are in another one: some may have missing values, and some not.
fn alike(all: &mut [Column], others: Vec<Column>, first: &str, uri: &str) -> Result<()> {
    for (column, other) in all.iter_mut().zip(others) {
        let (ours, theirs) = (column.form.clone().optional(), other.form.clone().optional());
        if column.name != other.name || ours.type_string() != theirs.type_string() {
            let (ours, theirs) = (column.form.type_string(), other.form.type_string());
            let what = format!("column {} is {theirs} in {uri}, and {ours} in {first}", column.name);
            return Err(Failure::misuse(what));
        }
        if matches!(other.form, Form::Option { .. }) {
            column.form = ours;
        }
    }
    Ok(())
}
