//! `forthwith head`: the first entries of a tree.

use crate::{
    console::Console,
    failure::{Failure, Result},
    glob, human,
    meaning::{Choice, Shape},
    opened::Place,
    paint::Style,
    survey::{Branch, Means, survey_first},
    table::{Align, Cell, Table as Text},
};
use forthwith::{
    Table,
    columns::{Array, Form, Value},
    plan::{ErrorKind, Field, NotNumbers},
    spell_for_json,
};
use serde::{Serialize, Serializer, ser::SerializeMap};

/// A preview is never narrower than this, and a heading seldom.
const NARROW: usize = 8;
/// Characters of one preview when nothing limits the line.
const WIDE: usize = 60;

/// One branch with its first entries.
struct Column {
    name: String,
    array: Array,
}

pub(crate) fn head(
    place: &Place,
    entries: u64,
    choice: &Choice,
    shape: Shape,
    not_numbers: NotNumbers,
    console: &mut Console<'_>,
) -> Result<()> {
    let table = &place.table;
    let entries = table.entries_up_to(entries)?;
    let mut chosen = choose(place, choice, entries, console)?;
    let mut all = chosen.len();
    let everything = place.branch.is_none() && choice.is_everything();
    if let (Shape::Text, true, Some(width)) = (shape, everything, console.width) {
        // No more branches are read than could possibly be shown.
        chosen.truncate((width / (NARROW + 2)).max(1));
    }
    let strict = !choice.names.is_empty() || place.branch.is_some();
    let mut columns = Vec::new();
    for branch in &chosen {
        match first(table, branch, entries) {
            Ok(array) => columns.push(Column { name: branch.field.path.clone(), array }),
            Err(failure) if strict => return Err(failure),
            Err(failure) => {
                all -= 1;
                console.note(&format!("left out: {failure}"));
            }
        }
    }
    match shape {
        Shape::Text => {
            let (text, shown) = render(&columns, entries, everything, console)?;
            console.text(&text)?;
            if shown < all {
                let (shown, all) =
                    (human::count(shown as u64), human::counted(all as u64, "branch", "branches"));
                console.note(&format!("{shown} of {all} shown; choose with --branch or --filter"));
            }
            Ok(())
        }
        Shape::Json => console.json(&rows(&columns, entries, not_numbers)?),
        Shape::JsonLines => {
            rows(&columns, entries, not_numbers)?.iter().try_for_each(|row| console.json_line(row))
        }
    }
}

/// The branches to print.
fn choose(place: &Place, choice: &Choice, entries: u64, console: &mut Console<'_>) -> Result<Vec<Branch>> {
    let table = &place.table;
    let fields = table.fields()?;
    let mut indices = Vec::new();
    for name in &choice.names {
        indices.extend(named(table, name)?);
    }
    indices.extend(place.branch);
    let mut chosen = Vec::new();
    for index in indices {
        let branch = Branch::of_first(table, index, &fields[index as usize], entries);
        if branch.means() == Means::Group {
            let before = chosen.len();
            let below = (0..).zip(fields).filter(|(at, _)| is_below(fields, *at, index));
            chosen.extend(
                below
                    .map(|(at, field)| Branch::of_first(table, at, field, entries))
                    .filter(Branch::is_readable),
            );
            if chosen.len() == before {
                let members =
                    fields.iter().filter(|f| f.parent == Some(index)).map(|f| f.path.clone()).collect();
                return Err(Failure::Group { branch: branch.field.path, members });
            }
        } else {
            chosen.push(branch);
        }
    }
    if !choice.filter.is_empty() || (choice.names.is_empty() && place.branch.is_none()) {
        let mut matching = survey_first(table, entries)?;
        matching.retain(|b| {
            b.means() != Means::Group && glob::wanted(&choice.filter, &b.field.path, &b.field.name)
        });
        if matching.is_empty() && !choice.filter.is_empty() {
            return Err(Failure::NoMatch { tree: table.path().into(), filter: choice.filter.clone() });
        }
        let before = matching.len();
        matching.retain(Branch::is_readable);
        if matching.len() < before {
            let missing = human::counted((before - matching.len()) as u64, "branch is", "branches are");
            console.note(&format!("{missing} left out as unsupported; forthwith explain says why"));
        }
        chosen.extend(
            matching.into_iter().filter(|m| chosen.iter().all(|c| c.index != m.index)).collect::<Vec<_>>(),
        );
    }
    Ok(chosen)
}

/// The branches that a choice names or matches, readable or not; without a choice all there are. Nobody looks how many entries an Avro
/// file has.
pub(crate) fn wanted(place: &Place, choice: &Choice) -> Result<Vec<Branch>> {
    let table = &place.table;
    let fields = table.fields()?;
    let mut wanted = Vec::new();
    for name in &choice.names {
        for index in named(table, name)? {
            wanted.push(Branch::of_first(table, index, &fields[index as usize], 0));
        }
    }
    if let Some(index) = place.branch {
        wanted.push(Branch::of_first(table, index, &fields[index as usize], 0));
    }
    if !choice.filter.is_empty() || wanted.is_empty() {
        let mut matching = survey_first(table, 0)?;
        matching.retain(|b| {
            b.means() != Means::Group && glob::wanted(&choice.filter, &b.field.path, &b.field.name)
        });
        if matching.is_empty() && !choice.filter.is_empty() {
            return Err(Failure::NoMatch { tree: table.path().into(), filter: choice.filter.clone() });
        }
        matching.retain(|m| wanted.iter().all(|w| w.index != m.index));
        wanted.extend(matching);
    }
    if let Some(group) = wanted.iter().find(|branch| branch.means() == Means::Group) {
        let members =
            fields.iter().filter(|f| f.parent == Some(group.index)).map(|f| f.path.clone()).collect();
        return Err(Failure::Group { branch: group.field.path.clone(), members });
    }
    Ok(wanted)
}

/// A name, or several with commas between them if no branch has just that name.
fn named(table: &Table, name: &str) -> Result<Vec<u32>> {
    match table.find(name) {
        Ok(index) => Ok(vec![index]),
        Err(error) if matches!(error.kind, ErrorKind::NotFound { .. }) && name.contains(',') => {
            let parts = name.split(',').map(str::trim).filter(|part| !part.is_empty());
            Ok(parts.map(|part| table.find(part)).collect::<Result<_, _>>()?)
        }
        Err(error) => Err(error.into()),
    }
}

fn is_below(fields: &[Field], mut at: u32, index: u32) -> bool {
    // Parents stand before their children: the chain ends.
    while let Some(parent) = fields.get(at as usize).and_then(|f| f.parent).filter(|&parent| parent < at) {
        if parent == index {
            return true;
        }
        at = parent;
    }
    false
}

/// The first entries of a branch, fewer if it has fewer.
pub(crate) fn first(table: &Table, branch: &Branch, entries: u64) -> Result<Array> {
    let entries = entries.min(branch.entries());
    let plan = table.plan(&[branch.index], 0..entries)?;
    // A handful of baskets is not worth waking threads for.
    let mut arrays = table.read(&plan, Some(1), None)?;
    if arrays.is_empty() {
        return Ok(Array { form: Form::Empty, length: 0, columns: Vec::new() });
    }
    Ok(arrays.swap_remove(0))
}

/// The table, and how many branches it shows.
fn render(
    columns: &[Column],
    entries: u64,
    everything: bool,
    console: &Console<'_>,
) -> Result<(String, usize)> {
    let index_width = human::count(entries.saturating_sub(1)).len().max("entry".len());
    let mut cells = Vec::new();
    let mut left = console.width.map(|width| width.saturating_sub(index_width));
    let fair = match console.width {
        Some(width) if !columns.is_empty() => {
            (width.saturating_sub(index_width) / columns.len()).saturating_sub(2)
        }
        _ => WIDE,
    };
    let room = match everything {
        true => fair.clamp(20, WIDE),
        false => fair.max(20),
    };
    for column in columns {
        let invalid = |invalid| Failure::Column { branch: column.name.clone(), invalid };
        let lines = column.array.preview(0..entries, room).map_err(invalid)?;
        let length = |text: &str| text.chars().count();
        let width = lines.iter().map(|l| length(l)).max().unwrap_or(0).max(length(&column.name)) + 2;
        if let (Some(left), true) = (&mut left, everything) {
            if *left < width && !cells.is_empty() {
                break;
            }
            *left = left.saturating_sub(width);
        }
        cells.push(lines);
    }
    let shown = &columns[..cells.len()];
    let mut headings = vec![("entry", Align::Right)];
    headings.extend(
        shown
            .iter()
            .map(|c| (c.name.as_str(), if is_number(&c.array.form) { Align::Right } else { Align::Left })),
    );
    let mut table = Text::new(&headings);
    for row in 0..entries {
        let index = Cell::new(Style::Faint, &human::count(row));
        let values = cells
            .iter()
            .map(|lines| lines.get(row as usize).map_or_else(Cell::default, |l| l.as_str().into()));
        table.row(std::iter::once(index).chain(values));
    }
    Ok((table.render(if everything { console.width } else { None }, console.paint), shown.len()))
}

fn is_number(form: &Form) -> bool {
    matches!(form, Form::Numpy { shape, .. } if shape.is_empty())
}

/// One entry of all branches: an object in the branches' order.
struct Row<'a> {
    columns: &'a [Column],
    values: Vec<Option<Value>>,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.len()))?;
        for (column, value) in self.columns.iter().zip(&self.values) {
            map.serialize_entry(&column.name, value)?;
        }
        map.end()
    }
}

fn rows(columns: &[Column], entries: u64, not_numbers: NotNumbers) -> Result<Vec<Row<'_>>> {
    let value = |column: &Column, row| {
        if row >= column.array.length {
            return Ok(None);
        }
        let invalid = |invalid| Failure::Column { branch: column.name.clone(), invalid };
        let mut value = column.array.value(row).map_err(invalid)?;
        spell_for_json(&mut value, not_numbers, &column.name).map_err(|error| error.at_entry(row))?;
        Ok::<_, Failure>(Some(value))
    };
    let row =
        |row| Ok(Row { columns, values: columns.iter().map(|c| value(c, row)).collect::<Result<_>>()? });
    (0..entries).map(row).collect()
}
