//! Reads the columns to draw, from the table of one file or from the tables of several files read as one.

use super::Plotting;
use crate::{
    chain::TargetChain,
    choice::Chosen,
    console::Console,
    failure::{Failure, Result},
    human,
    kept_stats::PICTURED,
    opened::{self, Opening, Place, Values},
    survey::{Branch, Means},
    target::Target,
};
use forthwith::{
    Chain, ChainFile, ChainOptions, ChainProjection, ChainSteps, Damage, FileProjection, MissingColumns,
    ProjectedField, Step, SummaryOf, Table, columns::Value,
};
use std::{ops::Range, sync::Arc};

/// Target number of decompressed bytes per step.
const STEP: u64 = 8 << 20;

/// A column: its name and, if it is a field, its index in the first file.
pub(super) type Named = (String, Option<u32>);

/// A table and its columns to draw.
pub(super) struct PlotTable {
    /// URI of the first file.
    pub(super) uri: String,
    /// Title of the histograms: table and cut.
    pub(super) title: String,
    pub(super) columns: Vec<Named>,
    /// The column on the vertical axis.
    pub(super) against: Option<Named>,
    chain: Chain,
    files: Vec<FileFields>,
    /// Ranges of columns from cached summaries: see [`known_values`].
    known: Vec<(String, [f64; 4])>,
}

/// The fields read from one file.
struct FileFields {
    uri: String,
    /// Fields to draw, with their entry ranges.
    drawn: Vec<(ProjectedField, Range<u64>)>,
    /// Fields used by expressions.
    used: Vec<ProjectedField>,
}

impl PlotTable {
    /// Returns the table of one file.
    pub(super) fn of_place(
        place: &Place,
        target: &Target,
        plotting: &Plotting,
        console: &mut Console<'_>,
    ) -> Result<Self> {
        let table = place.table.clone();
        let file = ChainFile { path: target.name().to_owned(), ..ChainFile::default() };
        let engine = Some(Arc::clone(table.file().engine()));
        let options = ChainOptions { engine, ..ChainOptions::default() };
        let chain = Chain::with_opener(vec![file], options, move |_| Ok(table.clone()))?;
        let (columns, against) = find_columns(place, plotting, console)?;
        let known = columns
            .iter()
            .filter_map(|column| Some((column.0.clone(), known_values(place, column, plotting)?)));
        let known = known.collect();
        let fields = FileFields::of(&place.table, columns.iter().chain(&against), plotting)?;
        let (uri, title) = (target.uri.clone(), title(place, target, 1, plotting));
        Ok(Self { uri, title, columns, against, chain, files: vec![fields], known })
    }

    /// Returns the tables of several files as one. Every file must have all columns.
    pub(super) fn of_chain(
        targets: &[Target],
        plotting: &Plotting,
        opening: &Opening,
        console: &mut Console<'_>,
    ) -> Result<Self> {
        let (values, missing) = (Values::default(), MissingColumns::Raise);
        let opened = TargetChain::new(targets, opening, values, missing, Damage::Raise)?;
        let (mut drawn, mut files) = (None, Vec::new());
        let first = opened.look(|_, place| {
            opened::tell_of_recovery(place.table.file(), console);
            if drawn.is_none() {
                drawn = Some(find_columns(place, plotting, console)?);
            }
            let Some((columns, against)) = &drawn else { return Ok(()) };
            let in_first = files.is_empty();
            let in_other = |(name, field): &Named| -> Result<Named> {
                let is_other = field.is_some() && !in_first;
                Ok((name.clone(), if is_other { Some(place.table.find(name)?) } else { *field }))
            };
            let columns: Vec<Named> =
                columns.iter().chain(against.iter()).map(in_other).collect::<Result<_>>()?;
            files.push(FileFields::of(&place.table, columns.iter(), plotting)?);
            Ok(())
        })?;
        let (columns, against) = drawn.unwrap_or_default();
        let target = targets.first().ok_or_else(|| Failure::misuse("there are no files".into()))?;
        let (uri, title) = (target.uri.clone(), title(&first, target, targets.len(), plotting));
        Ok(Self { uri, title, columns, against, chain: opened.chain, files, known: Vec::new() })
    }

    /// Returns the minimum, 1st percentile, 99th percentile and maximum of a column, if known.
    pub(super) fn known(&self, column: &str) -> Option<[f64; 4]> {
        self.known.iter().find(|(name, _)| name == column).map(|(_, values)| *values)
    }

    /// Returns the URI of a file.
    pub(super) fn file(&self, file: usize) -> &str {
        self.files.get(file).map_or(&self.uri, |file| &file.uri)
    }

    /// Reads the entries of columns that are drawn together, in steps: fields first, then computed columns.
    pub(super) fn steps(&self, columns: &[&Named], plotting: &Plotting) -> Result<ChainSteps> {
        let file = |file: &FileFields| -> Result<FileProjection> {
            let is_chosen =
                |name: &str| columns.iter().any(|(known, field)| field.is_some() && known == name);
            let mut chosen: Vec<ProjectedField> = Vec::new();
            let mut entries = None;
            for (name, _) in columns.iter().filter(|(_, field)| field.is_some()) {
                let found = file.drawn.iter().find(|(field, _)| field.name == *name);
                let (field, range) = found.ok_or_else(|| absent(&file.uri, name))?;
                chosen.push(field.clone());
                entries.get_or_insert_with(|| range.clone());
            }
            let used = file.used.iter().filter(|field| !is_chosen(&field.name)).cloned().collect();
            Ok(FileProjection { uri: file.uri.clone(), columns: chosen, used, entries })
        };
        let files = self.files.iter().map(file).collect::<Result<Vec<_>>>()?;
        let projection =
            ChainProjection::unite(files, MissingColumns::Raise).map_err(forthwith::plan::Error::from)?;
        let computed: Vec<&str> =
            columns.iter().filter(|(_, field)| field.is_none()).map(|(name, _)| name.as_str()).collect();
        let selection =
            self.chain.select_projected(&Arc::new(projection), &computed, plotting.choice.expressions())?;
        for (name, form) in selection.names().iter().zip(selection.forms()) {
            if form.numbers().is_none() {
                return Err(without_numbers(name, &form.type_string()));
            }
        }
        Ok(selection.steps(0..plotting.entries, Step::Bytes(STEP))?)
    }
}

impl FileFields {
    fn of<'n>(table: &Table, columns: impl Iterator<Item = &'n Named>, plotting: &Plotting) -> Result<Self> {
        let mut drawn = Vec::new();
        let columns: Vec<&Named> = columns.collect();
        let passes = columns.len() - usize::from(plotting.against.is_some());
        if passes > 1 && table.is_stream() {
            // A stream that has been read to the end can be read several times.
            table.entries()?;
        }
        for (name, field) in columns.into_iter().filter_map(|(name, field)| Some((name, (*field)?))) {
            let entries = table.entry_range_up_to(field, plotting.entries)?;
            drawn.push((ProjectedField { name: name.clone(), field, form: table.form(field)? }, entries));
        }
        let used = plotting.choice.fields_used(table, &[])?;
        Ok(Self { uri: table.file().uri().to_owned(), drawn, used })
    }
}

/// Returns the title of a histogram.
fn title(place: &Place, target: &Target, files: usize, plotting: &Plotting) -> String {
    let file = target.uri.rsplit('/').next().unwrap_or_default();
    let table = place.table.path();
    let mut title = if place.table.file().is_one_table() || table.is_empty() {
        file.to_owned()
    } else {
        format!("{file}:{table}")
    };
    if files > 1 {
        title += &format!(" and {} more", files - 1);
    }
    match &plotting.choice.cut {
        Some(cut) => format!("{title} where {cut}"),
        None => title,
    }
}

/// Returns the numeric columns of a table to draw, and the column for the vertical axis.
fn find_columns(
    place: &Place,
    plotting: &Plotting,
    console: &mut Console<'_>,
) -> Result<(Vec<Named>, Option<Named>)> {
    let choice = &plotting.choice;
    let chosen = !choice.names.is_empty() || !choice.filter.is_empty() || place.branch.is_some();
    if !chosen && choice.computed.is_empty() {
        return Err(place.which_branch());
    }
    let Chosen { branches, named } = if chosen {
        choice.find(place, plotting.entries)?
    } else {
        Chosen { branches: Vec::new(), named: true }
    };
    let mut columns = Vec::new();
    for branch in &branches {
        if !named && !is_numbers(branch) {
            console.note(&format!("{} has no numbers", human::clean(&branch.field.path)));
            continue;
        }
        if branch.means() == Means::Unsupported || !is_numbers(branch) {
            // Reading it reports why it is not readable.
            crate::head::first(&place.table, branch, 0)?;
            return Err(without_numbers(&branch.field.path, branch.type_name()));
        }
        columns.push((branch.field.path.clone(), Some(branch.index)));
    }
    let computed = choice.computed.iter().filter(|name| plotting.against.as_ref() != Some(name));
    columns.extend(computed.map(|name| (name.clone(), None)));
    let against = plotting.against.as_ref().filter(|_| !columns.is_empty());
    let against = against.map(|name| field(place, plotting, name)).transpose()?;
    Ok((columns, against))
}

/// Returns the field or computed column with a name.
fn field(place: &Place, plotting: &Plotting, name: &str) -> Result<Named> {
    if plotting.choice.aliases.iter().any(|(alias, _)| alias == name) {
        return Ok((name.to_owned(), None));
    }
    let index = place.table.find(name)?;
    let fields = place.table.fields()?;
    let branch = Branch::of_first(&place.table, index, &fields[index as usize], plotting.entries);
    if !is_numbers(&branch) {
        crate::head::first(&place.table, &branch, 0)?;
        return Err(without_numbers(&branch.field.path, branch.type_name()));
    }
    Ok((branch.field.path.clone(), Some(index)))
}

fn absent(uri: &str, name: &str) -> Failure {
    Failure::misuse(format!("{uri} has no column {name}"))
}

/// Returns the minimum, 1st percentile, 99th percentile and maximum of a column from cached summaries, if all
/// entries are drawn.
fn known_values(place: &Place, (name, field): &Named, plotting: &Plotting) -> Option<[f64; 4]> {
    let is_whole = field.is_some() && plotting.choice.cut.is_none() && plotting.entries == u64::MAX;
    let summaries = place.table.summaries().filter(|_| is_whole)?.column(name, &PICTURED, 0)?;
    let mut summaries =
        summaries.iter().filter(|found| found.path == *name && found.of != SummaryOf::Lengths);
    let (Some(found), None) = (summaries.next(), summaries.next()) else { return None };
    let [low, high] = [&found.quantiles.first()?.value, &found.quantiles.get(1)?.value];
    let values = [found.min.as_ref()?, low, high, found.max.as_ref()?];
    let values = [number(values[0])?, number(values[1])?, number(values[2])?, number(values[3])?];
    values.iter().all(|value| value.is_finite()).then_some(values)
}

/// Returns a value as a number.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        Value::Int(value) => Some(*value as f64),
        Value::UInt(value) => Some(*value as f64),
        Value::Float32(value) => Some(f64::from(*value)),
        Value::Float64(value) => Some(*value),
        _ => None,
    }
}

fn without_numbers(name: &str, kind: &str) -> Failure {
    Failure::misuse(format!("{} has no numbers to draw, but {}", human::clean(name), human::clean(kind)))
}

/// Returns whether a branch holds numbers, possibly nested in lists.
fn is_numbers(branch: &Branch) -> bool {
    branch.reading().is_some_and(|reading| reading.form.numbers().is_some())
}
