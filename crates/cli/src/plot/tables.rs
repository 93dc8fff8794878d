//! Columns of one table that have numbers.

use super::Plotting;
use crate::{
    choice::Chosen,
    console::Console,
    failure::{Failure, Result},
    human,
    opened::Place,
    survey::{Branch, Means},
    target::Target,
};
use forthwith::{Selection, Step, Steps};

/// Decompressed bytes of a step.
const STEP: u64 = 8 << 20;

/// A column: its name, and its position if it is a field.
pub(super) type Named = (String, Option<u32>);

/// The table of a histogram, and the entries that are drawn.
pub(super) fn title(place: &Place, target: &Target, plotting: &Plotting) -> String {
    let file = target.uri.rsplit('/').next().unwrap_or_default();
    let table = place.table.path();
    let table = if place.table.file().is_one_table() || table.is_empty() {
        file.into()
    } else {
        format!("{file}:{table}")
    };
    match &plotting.choice.cut {
        Some(cut) => format!("{table} where {cut}"),
        None => table,
    }
}

/// The columns of numbers to draw of a table.
pub(super) fn named(place: &Place, plotting: &Plotting, console: &mut Console<'_>) -> Result<Vec<Named>> {
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
            // Reading says what keeps it from being read.
            crate::head::first(&place.table, branch, 0)?;
            return Err(without_numbers(&branch.field.path, branch.type_name()));
        }
        columns.push((branch.field.path.clone(), Some(branch.index)));
    }
    let computed = choice.computed.iter().filter(|name| plotting.against.as_ref() != Some(name));
    columns.extend(computed.map(|name| (name.clone(), None)));
    Ok(columns)
}

/// The field or the computed column of a name.
pub(super) fn field(place: &Place, plotting: &Plotting, name: &str) -> Result<Named> {
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

/// Selects columns to read together; computed columns are checked to be numbers.
pub(super) fn selection(place: &Place, columns: &[Named], plotting: &Plotting) -> Result<Selection> {
    let named: Vec<_> = columns.iter().map(|(name, field)| (name.as_str(), *field)).collect();
    let selection = place.table.select_fields(&named, plotting.choice.expressions())?;
    if columns.iter().any(|(_, field)| field.is_none()) {
        for ((name, field), form) in columns.iter().zip(selection.forms()?) {
            if field.is_none() && form.numbers().is_none() {
                return Err(without_numbers(name, &form.type_string()));
            }
        }
    }
    Ok(selection)
}

/// The entries that are drawn, in steps.
pub(super) fn steps(
    place: &Place,
    selection: &Selection,
    (_, field): &Named,
    plotting: &Plotting,
) -> Result<Steps> {
    let whole = match field {
        Some(field) => place.table.entry_range_up_to(*field, plotting.entries)?,
        None => 0..plotting.entries,
    };
    Ok(selection.steps(whole.start..whole.end.min(plotting.entries), Step::Bytes(STEP))?)
}

fn without_numbers(name: &str, kind: &str) -> Failure {
    Failure::misuse(format!("{} has no numbers to draw, but {}", human::clean(name), human::clean(kind)))
}

/// Whether it is of numbers, whatever the lists around them.
fn is_numbers(branch: &Branch) -> bool {
    branch.reading().is_some_and(|reading| reading.form.numbers().is_some())
}
