//! Fills histograms with the values of columns.

use super::{Plotting, drawing::Drawing};
use crate::{
    binned::{Binning, Filled},
    console::Console,
    failure::Result,
    histogram::{Histogram, Outside, range_of, robust_range},
    human,
    interrupt::Watch,
    numbers::values,
    shape::Shape,
};
use forthwith::{
    ChainSteps,
    columns::Array,
    plan::{Error, ErrorKind},
};

/// Maximum width of a text picture in characters.
const WIDEST: usize = 100;
/// Default number of bins in a picture file.
const BINS: usize = 60;

/// A column read in steps.
pub(super) struct Column {
    pub(super) name: String,
    /// Label in a legend.
    pub(super) legend: String,
    /// Title of the picture: table and cut.
    pub(super) title: String,
    pub(super) steps: ChainSteps,
    /// Minimum, 1st percentile, 99th percentile and maximum, if known from cached summaries of all drawn
    /// entries.
    pub(super) known: Option<[f64; 4]>,
}

/// A column before the bins are determined, with the values read so far.
struct Begun {
    column: Column,
    values: Vec<f64>,
    outside: Outside,
    read: u64,
}

/// Bins of equal width, in values or their logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) bins: usize,
    pub(super) is_log: bool,
}

impl Axis {
    pub(super) fn binning(&self, title: &str) -> Binning {
        let edge = |bin: usize| {
            let edge = self.low + (self.high - self.low) * (bin as f64 / self.bins as f64);
            if self.is_log { 10_f64.powf(edge) } else { edge }
        };
        Binning { title: title.to_owned(), edges: (0..=self.bins).map(edge).collect(), labels: Vec::new() }
    }
}

/// Returns the position of a value on an axis. On a logarithmic axis, values without a logarithm lie below
/// the range.
pub(super) fn place(value: f64, is_log: bool) -> f64 {
    match is_log {
        true if value <= 0.0 => f64::NEG_INFINITY,
        true => value.log10(),
        false => value,
    }
}

/// Returns the axis range given on the command line.
pub(super) fn typed_range(range: Option<(f64, f64)>, is_log: bool) -> Result<Option<(f64, f64)>> {
    match range {
        Some((low, _)) if is_log && low <= 0.0 => {
            let what = format!("a logarithmic axis begins above zero, and the range at {low}");
            Err(crate::failure::Failure::misuse(what))
        }
        range => Ok(range.map(|(low, high)| (place(low, is_log), place(high, is_log)))),
    }
}

/// Sums over values inside the bins, relative to the middle of the range.
#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    /// Returns mean and standard deviation, computed as in ROOT.
    fn summary(self, middle: f64) -> (Option<f64>, Option<f64>) {
        if self.count == 0.0 {
            return (None, None);
        }
        let mean = self.sum / self.count;
        let variance = (self.squares / self.count - mean * mean).max(0.0);
        let finite = |number: f64| Some(number).filter(|number| number.is_finite());
        (finite(mean + middle), finite(variance.sqrt()))
    }
}

/// Fills the histograms of some columns with common bins. Columns without values get no histogram.
pub(super) fn fill(
    columns: Vec<Column>,
    plotting: &Plotting,
    shape: Shape,
    console: &mut Console<'_>,
) -> Result<Vec<Drawing>> {
    let watch = Watch::begin();
    let is_log = plotting.style.log_x;
    let typed = typed_range(plotting.range, is_log)?;
    let typed = typed.or_else(|| known_range(&columns, is_log));
    let mut begun = Vec::new();
    for column in columns {
        begun.push(begin(column, typed.is_some(), is_log, &watch)?);
    }
    let range = typed.or_else(|| {
        // The range is estimated from the first finite values.
        let ranges = begun.iter().filter_map(|begun| robust_range(&begun.values));
        ranges.reduce(|(low, high), (other_low, other_high)| (low.min(other_low), high.max(other_high)))
    });
    let Some((low, high)) = range.map(|(low, high)| bounded(low, high)) else {
        return Ok(begun.into_iter().map(without_values).collect());
    };
    let bins = bins(plotting, shape, console);
    let axis = Axis { low, high, bins, is_log };
    begun.into_iter().map(|begun| finish(begun, axis, plotting, &watch)).collect()
}

/// Returns a range covering nearly all values of all columns, if known without reading.
fn known_range(columns: &[Column], is_log: bool) -> Option<(f64, f64)> {
    let ranges = columns.iter().map(|column| {
        let places = column.known?.map(|value| place(value, is_log));
        places.iter().all(|place| place.is_finite()).then(|| range_of(places))
    });
    let ranges: Vec<(f64, f64)> = ranges.collect::<Option<_>>()?;
    ranges
        .into_iter()
        .reduce(|(low, high), (other_low, other_high)| (low.min(other_low), high.max(other_high)))
}

/// Returns the range, reduced if its width would overflow.
fn bounded(low: f64, high: f64) -> (f64, f64) {
    if (high - low).is_finite() { (low, high) } else { (f64::MIN / 4.0, f64::MAX / 4.0) }
}

/// Returns the number of bins. In text, as many as fit.
pub(super) fn bins(plotting: &Plotting, shape: Shape, console: &Console<'_>) -> usize {
    let is_text = plotting.output.is_none() && shape == Shape::Text;
    match plotting.bins {
        Some(bins) => usize::from(bins),
        None if is_text => text_width(console),
        None => BINS,
    }
}

/// Returns the width of a text picture in characters.
pub(super) fn text_width(console: &Console<'_>) -> usize {
    console.width.unwrap_or(80).saturating_sub(14).clamp(20, WIDEST)
}

/// Reads until the first finite value, unless the range is known.
fn begin(column: Column, has_range: bool, is_log: bool, watch: &Watch) -> Result<Begun> {
    let mut begun = Begun { column, values: Vec::new(), outside: Outside::default(), read: 0 };
    while !has_range && begun.values.is_empty() {
        let Some(array) = next(&mut begun.column.steps, watch)? else { break };
        begun.read += array.length;
        let places = values(&array).unwrap_or_default();
        let places: Vec<f64> = places.into_iter().map(|value| place(value, is_log)).collect();
        if places.iter().any(|place| place.is_finite()) {
            begun.values = places;
        } else {
            // Values without a finite position are only counted.
            places.iter().for_each(|place| begun.outside.count(*place));
        }
    }
    Ok(begun)
}

/// Reads the next step, and returns its first column.
fn next(steps: &mut ChainSteps, watch: &Watch) -> Result<Option<Array>> {
    let read = steps.read(None, &mut |_| !watch.asked())?;
    if watch.asked() {
        return Err(Error::new(ErrorKind::Cancelled).into());
    }
    Ok(read.and_then(|step| step.arrays.into_iter().next()))
}

/// Fills the histogram with the values read so far and the remaining steps.
fn finish(begun: Begun, axis: Axis, plotting: &Plotting, watch: &Watch) -> Result<Drawing> {
    let Begun { mut column, values: first, outside, mut read } = begun;
    let mut histogram = Histogram::beside(outside, axis.low, axis.high, axis.bins);
    let middle = value_at(f64::midpoint(axis.low, axis.high), axis.is_log);
    let mut moments = Moments::default();
    let mut add = |places: Vec<f64>| {
        for place in places.iter().filter(|place| **place >= axis.low && **place < axis.high) {
            moments.add(value_at(*place, axis.is_log) - middle);
        }
        histogram.add(places);
    };
    add(first);
    while let Some(array) = next(&mut column.steps, watch)? {
        read += array.length;
        let Some(values) = values(&array) else { continue };
        add(values.into_iter().map(|value| place(value, axis.is_log)).collect());
    }
    let (mean, deviation) = moments.summary(middle);
    let [below, above, not_numbers] = histogram.outside().parts();
    let counts: Vec<f64> = histogram.counts().iter().map(|count| *count as f64).collect();
    let filled = Filled {
        name: column.legend,
        binning: axis.binning(&column.name),
        errors: counts.iter().map(|count| count.sqrt()).collect(),
        entries: counts.iter().sum::<f64>() + (below + above + not_numbers) as f64,
        values: counts,
        below: below as f64,
        above: above as f64,
        not_numbers,
        mean,
        deviation,
        is_profile: false,
    };
    let caption = format!(
        "{} of {}{}",
        human::clean(&column.name),
        human::counted(read, "entry", "entries"),
        histogram.not_shown()
    );
    Ok(Drawing::one(filled, column.title, caption, y_title(&axis, plotting)))
}

/// Returns the value at a position on the axis.
fn value_at(place: f64, is_log: bool) -> f64 {
    if is_log { 10_f64.powf(place) } else { place }
}

/// Returns the title of the vertical axis, including the bin width if it is a round number.
fn y_title(axis: &Axis, plotting: &Plotting) -> String {
    let width = (axis.high - axis.low) / axis.bins as f64;
    let round: f64 = format!("{width:.2e}").parse().unwrap_or(0.0);
    let is_round = (round - width).abs() < width * 1e-9;
    match (plotting.is_density, is_round && !axis.is_log) {
        (true, _) => "Density".into(),
        (false, true) => format!("Entries / {round}"),
        (false, false) => "Entries".into(),
    }
}

fn without_values(begun: Begun) -> Drawing {
    let entries = human::counted(begun.read, "entry", "entries");
    let outside = begun.outside.words();
    let outside = if outside.is_empty() { String::new() } else { format!(": {outside}") };
    let name = human::clean(&begun.column.name);
    Drawing::Nothing(format!("{name} of {entries} has no values to draw{outside}"))
}
