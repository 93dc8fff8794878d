//! Histograms and profiles read from files, ready to be drawn.

use super::efficiency;
use crate::{
    binned::{Binning, Filled, Grid},
    histogram::{self, Bars},
    human,
    paint::Paint,
};
use forthwith::{
    hist::{self, BinArray},
    root::{self, Object},
};

/// One axis.
pub(super) struct Axis {
    pub(super) bins: usize,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Bin edges; empty if all bins have the same width.
    edges: Vec<f64>,
    pub(super) title: String,
    /// Bin labels, by bin number.
    labels: Vec<(usize, String)>,
}

/// A histogram or profile with one to three dimensions.
pub(crate) struct Binned {
    pub(super) axes: Vec<Axis>,
    /// Contents of all bins, including underflow and overflow; the first axis varies fastest.
    pub(super) contents: Vec<f64>,
    /// Number of entries per bin, for profiles.
    profile: Option<Vec<f64>>,
    entries: f64,
    /// Mean and standard deviation along the first axis, computed as in ROOT.
    moments: Option<(f64, f64)>,
    /// Error of each bin; empty for an efficiency.
    errors: Vec<f64>,
    /// Title of the axis of contents.
    values_title: String,
    /// How the contents of an efficiency were estimated.
    estimate: Option<String>,
}

/// Height of bar pictures in lines.
const HEIGHT: usize = 12;
/// Maximum width of a picture in characters.
const WIDEST: usize = 100;
/// Maximum number of bins in a picture file.
const MOST_BARS: usize = 2000;
/// Maximum number of bins per axis in a picture file with two dimensions.
const MOST_CELLS: usize = 400;

impl Axis {
    /// Creates an axis, with its bins after buffered entries were filled.
    fn of(axis: &hist::Axis, object: Object<'_>) -> Option<Self> {
        let bins = usize::try_from(axis.bins).ok().filter(|bins| *bins > 0)?;
        let edges = axis.edges.clone();
        let (low, high) = match (edges.first(), edges.last()) {
            (Some(first), Some(last)) if edges.len() == bins + 1 => (*first, *last),
            (None, None) => (axis.low, axis.high),
            _ => return None,
        };
        if !(low.is_finite() && high.is_finite() && low < high && (high - low).is_finite()) {
            return None;
        }
        let labels = object.list("fLabels").flatten().filter_map(|label| {
            let bin = usize::try_from(label.int("fUniqueID")?).ok()?.checked_sub(1)?;
            Some((bin, label.text("fString").or_else(|| label.text("TString"))?))
        });
        let title = object.text("fTitle").unwrap_or_default().to_string();
        Some(Self { bins, low, high, edges, title, labels: labels.collect() })
    }

    /// Returns the bin at a position on the axis, from 0 to 1.
    fn bin_at(&self, part: f64) -> usize {
        let bin = if self.edges.is_empty() {
            (part * self.bins as f64) as usize
        } else {
            let x = self.low + part * (self.high - self.low);
            self.edges.partition_point(|edge| *edge <= x).saturating_sub(1)
        };
        bin.min(self.bins - 1)
    }

    /// Returns the middle of a bin.
    fn middle(&self, bin: usize) -> f64 {
        match (self.edges.get(bin), self.edges.get(bin + 1)) {
            (Some(low), Some(high)) => (low + high) / 2.0,
            _ => self.low + (self.high - self.low) * (bin as f64 + 0.5) / self.bins as f64,
        }
    }

    /// Returns the lower edge of a bin. For the number of bins, returns the end of the axis.
    fn edge(&self, bin: usize) -> f64 {
        let regular = || self.low + (self.high - self.low) * bin as f64 / self.bins as f64;
        self.edges.get(bin).copied().unwrap_or_else(regular)
    }

    /// Groups neighbouring bins into at most `most` groups.
    fn groups(&self, most: usize) -> Vec<std::ops::Range<usize>> {
        let together = self.bins.div_ceil(most);
        (0..self.bins).step_by(together).map(|bin| bin..(bin + together).min(self.bins)).collect()
    }

    /// Returns the edges of groups. Bin labels are included if every group is a single bin.
    fn binning(&self, groups: &[std::ops::Range<usize>]) -> Binning {
        let ends = groups.iter().map(|group| group.end);
        let edges = std::iter::once(0).chain(ends).map(|bin| self.edge(bin)).collect();
        let labels = if groups.len() == self.bins { self.labels.clone() } else { Vec::new() };
        Binning { title: self.title.clone(), edges, labels }
    }

    /// Divides the axis into at most `most` columns of a picture, and returns the bins of each. A column
    /// covers several bins or a part of one.
    pub(super) fn columns(&self, most: usize) -> Vec<std::ops::Range<usize>> {
        if self.edges.is_empty() && self.bins > most {
            let together = self.bins.div_ceil(most.max(1));
            return (0..self.bins)
                .step_by(together)
                .map(|bin| bin..(bin + together).min(self.bins))
                .collect();
        }
        if self.edges.is_empty() {
            let wide = (most / self.bins).clamp(1, 8);
            return (0..self.bins).flat_map(|bin| std::iter::repeat_n(bin..bin + 1, wide)).collect();
        }
        let columns = most.clamp(1, 60);
        let bin = |column: usize| self.bin_at((column as f64 + 0.5) / columns as f64);
        (0..columns).map(|column| bin(column)..bin(column) + 1).collect()
    }
}

impl Binned {
    /// Returns the histogram or efficiency in an object. Returns `None` for other classes, and if the parts
    /// are inconsistent.
    pub(super) fn of(object: Object<'_>) -> Option<Self> {
        if object.class() != "TEfficiency" {
            return Self::histogram(object);
        }
        let total = Self::histogram(object.object("fTotalHistogram")?)?;
        let efficiency = root::efficiency(object).ok()?;
        let how = efficiency::method(&efficiency);
        let contents = efficiency.values();
        if contents.len() != total.contents.len() {
            return None;
        }
        let (errors, moments) = (Vec::new(), None);
        Some(Self { contents, profile: Some(total.contents), errors, moments, estimate: Some(how), ..total })
    }

    fn histogram(object: Object<'_>) -> Option<Self> {
        let is = |class: &str| object.class() == class || object.bases().any(|base| base.class == class);
        if !is("TH1") || is("TH2Poly") {
            return None;
        }
        // If ROOT would choose the range by an unknown rule, the bins stay as stored.
        let stored = root::histogram(object).ok()?;
        let mut histogram = stored.clone().emptied().unwrap_or(stored);
        histogram.find_statistics();
        let names = ["fXaxis", "fYaxis", "fZaxis"];
        let axes = histogram.own_axes().iter().zip(names);
        let axes: Option<Vec<Axis>> = axes.map(|(axis, name)| Axis::of(axis, object.object(name)?)).collect();
        let axes = axes.filter(|axes| axes.len() == histogram.dimensions)?;
        let mut contents = histogram.contents()?.floats();
        if histogram.cells().ok()? != contents.len() {
            return None;
        }
        let profile = histogram.array("fBinEntries").map(BinArray::floats);
        let profile = profile.filter(|sums| sums.len() == contents.len());
        if let Some(sums) = &profile {
            contents.iter_mut().zip(sums).for_each(|(value, sum)| {
                *value = if *sum == 0.0 { 0.0 } else { *value / sum };
            });
        }
        let errors = errors(&histogram, &contents, object.int("fErrorMode").unwrap_or(0));
        let values_title = ["fYaxis", "fZaxis"].get(histogram.dimensions.checked_sub(1)?);
        let values_title = values_title.and_then(|name| object.object(name));
        let values_title = values_title.and_then(|axis| axis.text("fTitle")).unwrap_or_default().to_owned();
        let (entries, moments) = (histogram.scalar("fEntries"), moments(&histogram));
        Some(Self { axes, contents, profile, entries, moments, errors, values_title, estimate: None })
    }

    /// Draws the picture with axes, followed by a line of statistics.
    pub(super) fn draw(&self, width: usize, paint: Paint) -> String {
        let mut text = match &self.axes[..] {
            [x] => self.bars(x, width, paint),
            [x, y, rest @ ..] => self.shades(x, y, rest.first(), width.min(WIDEST), paint),
            [] => String::new(),
        };
        text.push('\n');
        for axis in self.axes.iter().filter(|axis| !axis.labels.is_empty()) {
            let names: Vec<String> =
                axis.labels.iter().map(|(bin, name)| format!("{} {}", bin + 1, human::clean(name))).collect();
            text.push_str(&format!("bins: {}\n", human::wrap(&names, ",", width, 6)));
        }
        text.push_str(&self.words());
        text
    }

    /// Returns the content of a bin, counted from 0 without underflow. Three-dimensional histograms are
    /// summed along the third axis.
    pub(super) fn at(&self, x: usize, y: usize) -> f64 {
        let (columns, rows) = (self.axes[0].bins + 2, self.axes.get(1).map_or(1, |y| y.bins + 2));
        let row = if self.axes.len() > 1 { y + 1 } else { 0 };
        match self.axes.get(2) {
            None => self.contents[x + 1 + columns * row],
            Some(z) => (1..=z.bins).map(|z| self.contents[x + 1 + columns * (row + rows * z)]).sum(),
        }
    }

    /// Returns whether grouped bins show their mean instead of their sum.
    pub(super) const fn is_profile(&self) -> bool {
        self.profile.is_some()
    }

    fn bars(&self, x: &Axis, width: usize, paint: Paint) -> String {
        self.bars_of(x, width.min(WIDEST).saturating_sub(12).max(20)).draw(HEIGHT, 1, &x.title, paint)
    }

    /// Returns a one-dimensional histogram with a name; `None` for more dimensions.
    pub(crate) fn filled(&self, name: &str) -> Option<Filled> {
        let [x] = &self.axes[..] else { return None };
        let groups = x.groups(MOST_BARS);
        let number =
            |group: &std::ops::Range<usize>| if self.is_profile() { group.len() as f64 } else { 1.0 };
        let value = |group: &std::ops::Range<usize>| {
            group.clone().map(|bin| self.at(bin, 0)).sum::<f64>() / number(group)
        };
        let error = |group: &std::ops::Range<usize>| {
            let errors = group.clone().filter_map(|bin| self.errors.get(bin + 1));
            errors.map(|error| error * error).sum::<f64>().sqrt() / number(group)
        };
        let outside = |bin: usize| self.profile.as_ref().unwrap_or(&self.contents).get(bin).copied();
        Some(Filled {
            name: name.to_owned(),
            binning: x.binning(&groups),
            values: groups.iter().map(value).collect(),
            errors: groups.iter().map(error).collect(),
            entries: self.entries,
            below: outside(0).unwrap_or(0.0),
            above: outside(x.bins + 1).unwrap_or(0.0),
            not_numbers: 0,
            mean: self.moments.map(|(mean, _)| mean),
            deviation: self.moments.map(|(_, deviation)| deviation),
            is_profile: self.is_profile(),
        })
    }

    /// Returns a two-dimensional histogram with a name; three dimensions are summed along the third axis.
    /// Returns `None` for one dimension.
    pub(crate) fn grid(&self, name: &str) -> Option<Grid> {
        let [x, y, ..] = &self.axes[..] else { return None };
        let (columns, rows) = (x.groups(MOST_CELLS), y.groups(MOST_CELLS));
        let value = |column: &std::ops::Range<usize>, row: &std::ops::Range<usize>| {
            let cells = row.clone().flat_map(|y| column.clone().map(move |x| (x, y)));
            let sum: f64 = cells.map(|(x, y)| self.at(x, y)).sum();
            if self.is_profile() { sum / (row.len() * column.len()) as f64 } else { sum }
        };
        let values = rows.iter().flat_map(|row| columns.iter().map(move |column| value(column, row)));
        let values: Vec<f64> = values.collect();
        let own = self.profile.as_ref().unwrap_or(&self.contents).iter().sum::<f64>();
        let inside: f64 = values.iter().sum();
        Some(Grid {
            name: name.to_owned(),
            x: x.binning(&columns),
            y: y.binning(&rows),
            outside: if self.is_profile() { 0.0 } else { own - inside },
            values,
            entries: self.entries,
            is_profile: self.is_profile(),
        })
    }

    /// Returns the title of the contents, or `fallback` if empty.
    pub(crate) fn values_title(&self, fallback: &str) -> String {
        match self.values_title.as_str() {
            "" if self.estimate.is_some() => "Efficiency".into(),
            "" if self.is_profile() => "Mean".into(),
            "" => fallback.to_owned(),
            title => title.to_owned(),
        }
    }

    fn bars_of(&self, x: &Axis, most: usize) -> Bars {
        let columns = x.columns(most);
        let heights = columns.into_iter().map(|bins| {
            let number = bins.len();
            let sum: f64 = bins.map(|bin| self.at(bin, 0)).sum();
            if self.is_profile() { sum / number as f64 } else { sum }
        });
        Bars { low: x.low, high: x.high, heights: heights.collect() }
    }

    /// Formats the number of entries and, for one dimension, mean, standard deviation, underflow and
    /// overflow.
    pub(super) fn words(&self) -> String {
        let number = |number: f64| histogram::short(number);
        let mut words = vec![format!("{} entries", number(self.entries))];
        words.extend(self.estimate.as_ref().map(|how| format!("efficiency: {how}")));
        if let [x] = &self.axes[..] {
            let weights = self.profile.as_ref().unwrap_or(&self.contents);
            let inside = &weights[1..=x.bins];
            let sum: f64 = inside.iter().sum();
            if sum > 0.0 {
                let middle = |bin: usize| x.middle(bin);
                let mean = inside.iter().enumerate().map(|(bin, w)| w * middle(bin)).sum::<f64>() / sum;
                let square =
                    inside.iter().enumerate().map(|(bin, w)| w * (middle(bin) - mean).powi(2)).sum::<f64>();
                words.push(format!("mean {}", number(mean)));
                words.push(format!("std dev {} (by bins)", number((square / sum).max(0.0).sqrt())));
            }
            if self.profile.is_none() {
                words.push(format!("integral {}", number(sum)));
            }
            let (under, over) = (weights[0], weights[x.bins + 1]);
            words.push(format!("{} below, {} above", number(under), number(over)));
        } else {
            let inside: f64 = {
                let (x, y) = (self.axes[0].bins, self.axes[1].bins);
                (0..x).flat_map(|x| (0..y).map(move |y| (x, y))).map(|(x, y)| self.at(x, y)).sum()
            };
            if self.profile.is_none() {
                words.push(format!("integral {}", number(inside)));
            }
        }
        words.join(", ") + "\n"
    }
}

/// Returns mean and standard deviation along the first axis.
fn moments(histogram: &hist::Histogram) -> Option<(f64, f64)> {
    let [weights, sum, squares] = ["fTsumw", "fTsumwx", "fTsumwx2"].map(|name| histogram.scalar(name));
    let mean = sum / weights;
    let deviation = (squares / weights - mean * mean).abs().sqrt();
    (mean.is_finite() && deviation.is_finite()).then_some((mean, deviation))
}

/// Returns the errors of bins. For profiles, the error mode selects the error of the mean or the spread.
fn errors(histogram: &hist::Histogram, values: &[f64], mode: i64) -> Vec<f64> {
    let floats = |name: &str| histogram.array(name).map(BinArray::floats).unwrap_or_default();
    let squares = floats("fSumw2");
    if !histogram.is_profile() {
        let square = |(bin, value): (usize, &f64)| squares.get(bin).copied().unwrap_or(value.abs());
        return values.iter().enumerate().map(square).map(f64::sqrt).collect();
    }
    let (weights, weight_squares) = (floats("fBinEntries"), floats("fBinSumw2"));
    let error = |(bin, mean): (usize, &f64)| {
        let weight = weights.get(bin).copied().filter(|weight| *weight != 0.0)?;
        let spread = (squares.get(bin)? / weight - mean * mean).abs().sqrt();
        let effective = weight * weight / weight_squares.get(bin).copied().unwrap_or(weight);
        Some(if mode == SPREAD { spread } else { spread / effective.sqrt() })
    };
    values.iter().enumerate().map(|at| error(at).filter(|error| error.is_finite()).unwrap_or(0.0)).collect()
}

/// `TProfile::fErrorMode` for the option `s`.
const SPREAD: i64 = 1;
