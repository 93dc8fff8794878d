//! A histogram of a suitable branch.

use super::{
    muons,
    samples::{Kind, is_telling, sample},
};
use crate::{
    console::Console,
    failure::Result,
    histogram::{Histogram, robust_range},
    human, numbers,
    survey::Branch,
};
use forthwith::Table;

/// Number of lines of bars.
const HEIGHT: usize = 12;
/// Maximum number of entries of the histogram.
const ENTRIES: u64 = 1_000_000;
/// Mass of the Z boson in GeV, and a window around it.
const Z: f64 = 91.19;
const Z_WINDOW: (f64, f64) = (60.0, 120.0);

pub(crate) fn picture(table: &Table, branches: &[Branch], console: &mut Console<'_>) -> Result<()> {
    let entries = table.entries()?.min(ENTRIES);
    let width = console.width.map_or(60, |width| width.saturating_sub(12)).clamp(20, 60);
    if let Some((masses, from)) = muons::masses(table, branches, entries) {
        return dimuon(&masses, &from, width, console);
    }
    let Some(branch) = choose(branches) else {
        return console.line("  no numbers to draw");
    };
    let name = human::clean(&branch.field.path);
    let array = match crate::head::first(table, branch, entries) {
        Ok(array) => array,
        Err(failure) => return console.line(&format!("  {name} cannot be drawn: {failure}")),
    };
    let values = numbers::values(&array).unwrap_or_default();
    let Some((low, high)) = robust_range(&values) else {
        return console.line(&format!("  {name} has no values to draw"));
    };
    let (bins, wide) = bins(values.len(), width);
    let histogram = Histogram::new(values, low, high, bins);
    console.line(&caption(
        &format!("{name} of {}", human::counted(array.length, "entry", "entries")),
        &histogram,
    ))?;
    console.text(&indent(&histogram.draw(HEIGHT, wide, &name, console.paint)))
}

/// Chooses a branch: preferably a physical quantity, single numbers before lists, and floating-point numbers
/// before integers.
fn choose(branches: &[Branch]) -> Option<&Branch> {
    let (flat, jagged) = (sample(branches, Kind::Flat), sample(branches, Kind::Jagged));
    let telling = |b: &&Branch| is_telling(&b.field.name);
    (flat.filter(telling).filter(|b| is_float(b)))
        .or_else(|| jagged.filter(telling))
        .or_else(|| flat.filter(|b| is_float(b)))
        .or(jagged)
        .or(flat)
}

/// Returns the number of bins, and the width of each in characters. Few values are drawn in fewer bins.
const fn bins(values: usize, width: usize) -> (usize, usize) {
    let wide = match values {
        0..400 => 3,
        400..2000 => 2,
        _ => 1,
    };
    (width / wide, wide)
}

fn is_float(branch: &Branch) -> bool {
    branch.reading().is_some_and(|r| r.form.type_string().starts_with("float"))
}

fn dimuon(masses: &[f64], from: &str, width: usize, console: &mut Console<'_>) -> Result<()> {
    let near_z = masses.iter().filter(|m| (Z_WINDOW.0..Z_WINDOW.1).contains(*m)).count();
    // Without enough pairs near the Z mass, all masses are drawn.
    let window =
        if near_z >= 30 && near_z * 5 > masses.len() { Some(Z_WINDOW) } else { robust_range(masses) };
    let Some((low, high)) = window else { return console.line("  the masses of muon pairs are no numbers") };
    let (bins, wide) = bins(masses.len(), width);
    let histogram = Histogram::new(masses.iter().copied(), low, high, bins);
    let pairs = human::counted(masses.len() as u64, "pair", "pairs");
    console.line(&caption(&format!("mass of {pairs} of muons of opposite charge"), &histogram))?;
    console.line(&format!("  from {}", human::clean(from)))?;
    console.text(&indent(&histogram.draw(HEIGHT, wide, "mass of two muons [GeV]", console.paint)))?;
    let peak = histogram.peak();
    if (peak - Z).abs() < 4.0 {
        console.line(&format!("  the highest bin is at {peak:.1} GeV: the Z boson, {Z} GeV"))?;
    }
    Ok(())
}

fn caption(what: &str, histogram: &Histogram) -> String {
    format!("  {what}{}", histogram.not_shown())
}

pub(crate) fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect()
}
