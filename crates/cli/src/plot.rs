//! `forthwith plot`: a histogram of the numbers in branches.

use crate::{
    choice::{Choice, Chosen},
    console::Console,
    failure::{Failure, Result},
    histogram::{Histogram, Outside, robust_range},
    human,
    interrupt::Watch,
    numbers::values,
    opened::Place,
    survey::{Branch, Means},
    svg::{self, Picture},
};
use forthwith::{
    Step,
    plan::{Error, ErrorKind},
};

/// Lines of bars.
const HEIGHT: usize = 16;
/// The widest picture, whatever the terminal.
const WIDEST: usize = 100;
/// Decompressed bytes of a step.
const STEP: u64 = 8 << 20;

pub(crate) fn plot(
    place: &Place,
    choice: &Choice,
    entries: u64,
    bins: Option<u16>,
    range: Option<(f64, f64)>,
    output: Option<&Picture>,
    console: &mut Console<'_>,
) -> Result<()> {
    let chosen = !choice.names.is_empty() || !choice.filter.is_empty() || place.branch.is_some();
    if !chosen && choice.computed.is_empty() {
        return Err(place.which_branch());
    }
    let found = if chosen { choice.find(place, entries)? } else { Chosen { branches: vec![], named: true } };
    let Chosen { branches, named } = found;
    if let (Some(_), count @ 2..) = (output, branches.len() + choice.computed.len()) {
        return Err(Failure::misuse(format!("plot -o writes one picture, not those of {count} columns")));
    }
    // Bins are as many as fit a picture in lines of text, unless there is another one.
    let bins = bins.or(output.map(|_| svg::BINS));
    let mut drawn = 0;
    for branch in &branches {
        if !named && !is_numbers(branch) {
            console.note(&format!("{} has no numbers", human::clean(&branch.field.path)));
            continue;
        }
        if drawn > 0 {
            console.line("")?;
        }
        if branch.means() == Means::Unsupported || !is_numbers(branch) {
            // Reading says what keeps it from being read.
            crate::head::first(&place.table, branch, 0)?;
            return Err(without_numbers(&branch.field.path, branch.type_name()));
        }
        let column = (branch.field.path.as_str(), Some(branch.index));
        draw(place, column, choice, entries, (bins, range), output, console)?;
        drawn += 1;
    }
    for name in &choice.computed {
        if drawn > 0 {
            console.line("")?;
        }
        draw(place, (name, None), choice, entries, (bins, range), output, console)?;
        drawn += 1;
    }
    if drawn == 0 { Err(Failure::misuse("there are no numbers to draw".into())) } else { Ok(()) }
}

fn without_numbers(name: &str, kind: &str) -> Failure {
    Failure::misuse(format!("{} has no numbers to draw, but {}", human::clean(name), human::clean(kind)))
}

/// One column: a field, or what is computed under this name.
fn draw(
    place: &Place,
    column: (&str, Option<u32>),
    choice: &Choice,
    entries: u64,
    (bins, range): (Option<u16>, Option<(f64, f64)>),
    output: Option<&Picture>,
    console: &mut Console<'_>,
) -> Result<()> {
    let table = &place.table;
    let name = human::clean(column.0);
    let selection = table.select_fields(&[column], choice.expressions())?;
    if let (None, Some(form)) = (column.1, selection.forms()?.first())
        && form.numbers().is_none()
    {
        return Err(without_numbers(column.0, &form.type_string()));
    }
    let watch = Watch::begin();
    let whole = match column.1 {
        Some(field) => table.entry_range_up_to(field, entries)?,
        None => 0..entries,
    };
    let mut steps = selection.steps(whole.start..whole.end.min(entries), Step::Bytes(STEP))?;
    // Of steps without a finite value it is enough to know how many values of each kind there were.
    let (mut outside, mut histogram, mut read) = (Outside::default(), None, 0);
    let width = console.width.unwrap_or(80).saturating_sub(14).clamp(20, WIDEST);
    while let Some((_, arrays)) = steps.read(None, Some(&mut |_| !watch.asked()))? {
        if watch.asked() {
            return Err(Error::new(ErrorKind::Cancelled).in_file(table.file().uri()).into());
        }
        for array in &arrays {
            read += array.length;
            let Some(values) = values(array) else { continue };
            let histogram = match &mut histogram {
                Some(histogram) => histogram,
                // The first finite values say where most are.
                empty => match range.or_else(|| robust_range(&values)) {
                    Some((low, high)) => {
                        let (bins, _) = layout(bins, width);
                        empty.insert(Histogram::beside(outside, low, high, bins))
                    }
                    None => {
                        values.iter().for_each(|value| outside.count(*value));
                        continue;
                    }
                },
            };
            histogram.add(values);
        }
    }
    let entries = human::counted(read, "entry", "entries");
    let Some(histogram) = histogram else {
        let outside = outside.words();
        let outside = if outside.is_empty() { String::new() } else { format!(": {outside}") };
        return console.line(&format!("{name} of {entries} has no values to draw{outside}"));
    };
    let outside = histogram.not_shown();
    if let Some(picture) = output {
        let title = format!("{name} of {entries}{outside}");
        return picture.write(&histogram.bars(), &title, &name, console);
    }
    console.line(&format!("{} of {entries}{outside}\n", console.paint.strong(&name)))?;
    let (_, wide) = layout(bins, width);
    console.text(&histogram.draw(HEIGHT, wide, &name, console.paint))
}

/// The number of bins, and of characters of each.
fn layout(bins: Option<u16>, width: usize) -> (usize, usize) {
    match bins.map(usize::from) {
        Some(bins) => (bins, (width / bins).clamp(1, 8)),
        None => (width, 1),
    }
}

/// Whether it is of numbers, whatever the lists around them.
fn is_numbers(branch: &Branch) -> bool {
    branch.reading().is_some_and(|reading| reading.form.numbers().is_some())
}
