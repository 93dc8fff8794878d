//! Fills histograms of two columns.

use super::{
    Plotting,
    drawing::Drawing,
    fill::{Axis, bins, place as place_on, text_width, typed_range},
    tables::{Named, PlotTable},
};
use crate::{
    binned::Grid,
    console::Console,
    failure::Result,
    heat::{Heat, HeatAxis},
    histogram::robust_range,
    human,
    interrupt::Watch,
    numbers::pairs,
    shape::Shape,
};
use forthwith::plan::{Error, ErrorKind};

/// Maximum height of a text picture in lines.
const LINES: usize = 24;
/// Default number of bins per axis in a picture file.
const BINS: usize = 50;
/// Maximum number of bins per axis.
const MOST: usize = 400;

/// Fills the histogram of columns x and y.
pub(super) fn fill(
    table: &PlotTable,
    x: &Named,
    y: &Named,
    plotting: &Plotting,
    shape: Shape,
    console: &mut Console<'_>,
) -> Result<Drawing> {
    let mut steps = table.steps(&[x, y], plotting)?;
    // Steps return computed columns after fields.
    let is_swapped = x.1.is_none() && y.1.is_some();
    let style = plotting.style;
    let x_typed = typed_range(plotting.range, style.log_x)?;
    let y_typed = typed_range(plotting.y_range, style.log_y)?;
    let watch = Watch::begin();
    let (mut filled, mut read, mut dropped): (Option<(Heat, [Axis; 2])>, u64, u64) = (None, 0, 0);
    while let Some(step) = steps.read(None, &mut |_| !watch.asked())? {
        let uri = table.file(step.file);
        if watch.asked() {
            return Err(Error::new(ErrorKind::Cancelled).in_file(uri).into());
        }
        let [first, second] = &step.arrays[..] else { continue };
        let (x_values, y_values) = if is_swapped { (second, first) } else { (first, second) };
        read += x_values.length;
        let both = pairs(x_values, y_values).map_err(|why| Error::invalid(why).in_file(uri))?;
        let both = both.into_iter().map(|(x, y)| (place_on(x, style.log_x), place_on(y, style.log_y)));
        let both: Vec<(f64, f64)> = both.collect();
        if filled.is_none() {
            let (xs, ys): (Vec<f64>, Vec<f64>) = both.iter().copied().unzip();
            let x_range = x_typed.or_else(|| robust_range(&xs));
            let y_range = y_typed.or_else(|| robust_range(&ys));
            let (Some(x_range), Some(y_range)) = (x_range, y_range) else {
                dropped += both.len() as u64;
                continue;
            };
            let [columns, lines] = sizes(plotting, shape, console);
            let axis = |(low, high), bins, is_log| Axis { low, high, bins, is_log };
            let axes = [axis(x_range, columns, style.log_x), axis(y_range, lines, style.log_y)];
            let heat = |axis: &Axis| HeatAxis { low: axis.low, high: axis.high, bins: axis.bins };
            filled = Some((Heat::new(heat(&axes[0]), heat(&axes[1])), axes));
        }
        if let Some((heat, _)) = &mut filled {
            heat.add(both);
        }
    }
    let entries = human::counted(read, "entry", "entries");
    let names = format!("{} × {}", human::clean(&x.0), human::clean(&y.0));
    let Some((heat, axes)) = filled else {
        let dropped = human::counted(dropped, "pair", "pairs");
        return Ok(Drawing::Nothing(format!(
            "{names} of {entries} has no values to draw: {dropped} without"
        )));
    };
    let outside = heat.outside() + dropped;
    let values: Vec<f64> = heat.counts().iter().map(|count| *count as f64).collect();
    let grid = Grid {
        name: names.clone(),
        x: axes[0].binning(&x.0),
        y: axes[1].binning(&y.0),
        entries: values.iter().sum::<f64>() + outside as f64,
        outside: outside as f64,
        values,
        is_profile: false,
    };
    let not_shown =
        if outside > 0 { format!("; not shown: {}", human::count(outside)) } else { String::new() };
    let caption = format!("{names} of {entries}{not_shown}");
    Ok(Drawing::two(grid, table.title.clone(), caption, "Entries".into()))
}

/// Returns the numbers of bins. In text, at most as many as fit.
fn sizes(plotting: &Plotting, shape: Shape, console: &Console<'_>) -> [usize; 2] {
    if plotting.output.is_none() && shape == Shape::Text {
        let columns = bins(plotting, shape, console).min(text_width(console));
        return [columns, plotting.bins.map_or(LINES, usize::from).min(LINES)];
    }
    let bins = plotting.bins.map_or(BINS, usize::from).min(MOST);
    [bins, bins]
}
