//! `forthwith head`: the first entries of a table.

use crate::{
    choice::{Choice, Chosen},
    console::Console,
    end::End,
    failure::{Failure, Result},
    human,
    opened::Place,
    paint::Style,
    shape::Shape,
    survey::Branch,
    table::{Align, Cell, Table as Text},
    words::Counted,
};
use forthwith::{
    JsonRows, Table,
    columns::{Array, Form},
    plan::NotNumbers,
};
use std::ops::Range;

/// Minimum width of a column in characters, used to bound the number of columns that are read.
const NARROW: usize = 8;
/// Minimum width of previews of lists and strings; a column that does not fit is not shown.
const LEGIBLE: usize = 20;
/// Maximum number of characters of a preview if the width of the line is unlimited.
const WIDE: usize = 60;
/// Number of bytes of JSON that are written at once.
const PIECE: usize = 64 << 10;

/// Branch with its entries.
struct Column {
    name: String,
    array: Array,
}

pub(crate) fn head(
    place: &Place,
    end: End,
    choice: &Choice,
    shape: Shape,
    not_numbers: NotNumbers,
    console: &mut Console<'_>,
) -> Result<()> {
    let table = &place.table;
    let most = match end {
        End::First(entries) => entries,
        End::Last(_) => u64::MAX,
    };
    // Blocks are searched before columns are chosen, so that reports of damage in an Avro file do not depend
    // on the columns.
    table.entries_up_to(most)?;
    let Chosen { branches: mut chosen, named: strict } = choice.find(place, most)?;
    if !strict {
        let before = chosen.len();
        chosen.retain(Branch::is_readable);
        if chosen.len() < before {
            let missing = (before - chosen.len()) as u64;
            let are = if missing == 1 { "is" } else { "are" };
            let missing = place.words.columns(missing);
            console.note(&format!("{missing} {are} left out as unsupported; forthwith explain says why"));
        }
    }
    let mut all = chosen.len();
    if let (Shape::Text, Some(width)) = (shape, console.width) {
        // At most as many branches are read as can be shown.
        chosen.truncate((width / (NARROW + 2)).max(1));
    }
    let entries = range(table, &chosen, end);
    let (mut columns, mut first_failure) = (Vec::new(), None);
    for branch in &chosen {
        match some(table, branch, entries.clone()) {
            Ok(array) => columns.push(Column { name: branch.field.path.clone(), array }),
            Err(failure) if strict => return Err(failure),
            Err(failure) => {
                all -= 1;
                console.note(&format!("left out: {failure}"));
                first_failure.get_or_insert(failure);
            }
        }
    }
    if let (true, Some(failure)) = (columns.is_empty(), first_failure) {
        return Err(failure);
    }
    if shape != Shape::Text {
        return json(place, &columns, entries, shape, not_numbers, console);
    }
    let (text, shown) = render(&columns, entries, console)?;
    console.text(&text)?;
    if shown < all {
        let (shown, all) = (human::count(shown as u64), place.words.columns(all as u64));
        console.note(&format!("{shown} of {all} shown; choose with -b or -f, or see all with --jsonl"));
    }
    Ok(())
}

/// Returns the range of entries at one end of some branches, which need not begin with 0.
fn range(table: &Table, branches: &[Branch], end: End) -> Range<u64> {
    let most = if let End::First(entries) = end { entries } else { u64::MAX };
    let own = branches.iter().filter_map(|branch| table.entry_range_up_to(branch.index, most).ok());
    let all = own.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
    // Without columns, the entries of the table count.
    let all = all.unwrap_or_else(|| 0..table.entries_up_to(most).unwrap_or(0));
    match end {
        End::First(entries) => all.start..all.end.min(all.start.saturating_add(entries)),
        End::Last(entries) => all.start.max(all.end.saturating_sub(entries))..all.end,
    }
}

/// Prints an object for each entry: as JSON Lines, or as items of one array.
fn json(
    place: &Place,
    columns: &[Column],
    entries: Range<u64>,
    shape: Shape,
    not_numbers: NotNumbers,
    console: &mut Console<'_>,
) -> Result<()> {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let arrays: Vec<Array> = columns.iter().map(|column| column.array.clone()).collect();
    let placed = |error: forthwith::plan::Error| error.in_file(place.table.file().uri());
    let rows = JsonRows::new(&names, &arrays, not_numbers).map_err(placed)?;
    // All rows are formatted before the first is written, so that an error about one leaves the output empty.
    let mut text = Vec::new();
    if shape == Shape::Json {
        text.push(b'[');
    }
    for row in 0..entries.end - entries.start {
        if shape == Shape::Json {
            text.extend_from_slice(if row == 0 { b"\n" } else { b",\n" });
        }
        rows.row(row, &mut text)
            .map_err(|error| Failure::unspelled(placed(error.at_entry(entries.start + row)), not_numbers))?;
        if shape == Shape::JsonLines {
            text.push(b'\n');
        }
    }
    if shape == Shape::Json {
        text.extend_from_slice(if entries.is_empty() { b"]\n" } else { b"\n]\n" });
    }
    text.chunks(PIECE).try_for_each(|piece| console.bytes(piece))
}

/// Reads the first entries of a branch, or fewer if it has fewer.
pub(crate) fn first(table: &Table, branch: &Branch, entries: u64) -> Result<Array> {
    some(table, branch, 0..entries)
}

/// Reads a range of entries of a branch, as far as it has them.
fn some(table: &Table, branch: &Branch, entries: Range<u64>) -> Result<Array> {
    let end = entries.end.min(table.entry_range_up_to(branch.index, entries.end)?.end);
    let plan = table.plan(&[branch.index], entries.start.min(end)..end)?;
    // A few baskets are read faster without waking other threads.
    let mut arrays = table.read(&plan, Some(1), None)?;
    if arrays.is_empty() {
        return Ok(Array { form: Form::Empty, length: 0, columns: Vec::new() });
    }
    Ok(arrays.swap_remove(0))
}

/// Returns the formatted table and the number of branches in it. On a terminal, only branches that fit into a
/// line are included.
fn render(columns: &[Column], entries: Range<u64>, console: &Console<'_>) -> Result<(String, usize)> {
    let rows = entries.end - entries.start;
    let index_width = human::count(entries.end.saturating_sub(1)).len().max("entry".len());
    let mut left = console.width.map(|width| width.saturating_sub(index_width));
    let fair = left.map_or(WIDE, |left| (left / columns.len().max(1)).saturating_sub(2));
    let fair = fair.clamp(LEGIBLE, WIDE);
    let length = |text: &str| text.chars().count();
    let mut cells: Vec<Vec<String>> = Vec::new();
    for column in columns {
        let preview = |room| {
            let invalid = |invalid| Failure::Column { branch: column.name.clone(), invalid };
            column.array.preview(0..rows, room).lines().map_err(invalid)
        };
        let width = |lines: &[String]| {
            let name = length(&human::clean(&column.name));
            lines.iter().map(|line| length(line)).max().unwrap_or(0).max(name) + 2
        };
        // Single values are not truncated.
        let single = is_single(&column.array.form);
        let mut lines = preview(if single { WIDE } else { fair })?;
        if let Some(left) = &mut left {
            if width(&lines) > *left && !single && *left >= LEGIBLE + 2 {
                lines = preview(*left - 2)?;
            }
            if width(&lines) > *left && !cells.is_empty() {
                break;
            }
            *left = left.saturating_sub(width(&lines));
        }
        cells.push(lines);
    }
    let shown = &columns[..cells.len()];
    let mut headings = vec![("entry", Align::Right)];
    let align = |c: &Column| if is_number(&c.array.form) { Align::Right } else { Align::Left };
    headings.extend(shown.iter().map(|c| (c.name.as_str(), align(c))));
    let mut table = Text::new(&headings);
    for row in 0..rows {
        let index = Cell::new(Style::Faint, &human::count(entries.start + row));
        let values = cells
            .iter()
            .map(|lines| lines.get(row as usize).map_or_else(Cell::default, |l| l.as_str().into()));
        table.row(std::iter::once(index).chain(values));
    }
    Ok((table.render(console.width, console.paint), shown.len()))
}

/// Whether values are single numbers, times or decimals.
fn is_single(form: &Form) -> bool {
    match form {
        Form::Numpy { shape, .. } => shape.is_empty(),
        Form::Logical { .. } => true,
        Form::Option { content, .. } => is_single(content),
        _ => false,
    }
}

fn is_number(form: &Form) -> bool {
    match form {
        Form::Numpy { shape, .. } => shape.is_empty(),
        Form::Option { content, .. } => is_number(content),
        _ => false,
    }
}
