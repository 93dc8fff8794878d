//! Axes of histograms, and one that two of them fit.

use forthwith_plan::Result;

use crate::object::Object;
use crate::write::Buffer;

/// What decides which values are in a bin.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) bins: i64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) edges: Vec<f64>,
    /// Labels of bins, by the numbers of these.
    labels: Vec<(i64, String)>,
    /// `TAxis::fBits2`: among them, whether bins are added for values that are in none.
    pub(super) bits: i64,
    /// Whether bins shall be as wide as whole numbers.
    pub(super) is_whole: bool,
}

/// One axis for two histograms.
pub(super) struct Joined {
    pub(super) axis: Axis,
    /// Where the bins of both come to be, those before the first and behind the last included; nothing if they stay.
    pub(super) places: [Option<Vec<Option<usize>>>; 2],
}

impl Axis {
    pub(super) fn of(axis: Object<'_>) -> Result<Self> {
        let axis = axis.readable()?;
        let labels = axis.list("fLabels").flatten();
        let label = |label: Object<'_>| {
            (label.int("fUniqueID").unwrap_or(0), label.text("fString").unwrap_or_default())
        };
        Ok(Self {
            bins: axis.int("fNbins").unwrap_or(0),
            low: axis.float("fXmin").unwrap_or(0.0),
            high: axis.float("fXmax").unwrap_or(0.0),
            edges: axis.array("fXbins").map(|edges| edges.floats().collect()).unwrap_or_default(),
            labels: labels.map(label).collect(),
            bits: axis.int("fBits2").unwrap_or(0),
            is_whole: axis.int("fBits").unwrap_or(0) & INTEGER != 0,
        })
    }

    /// The axis of a sum of histograms with this axis and another one, by ROOT's rules: bins of one label are one, and
    /// bins of equal widths may go on beyond the ends of the first axis, or be several within one of the other. A
    /// histogram that is `bare`, without entries, may lack the labels that ROOT makes when it fills.
    pub(super) fn joined(&self, other: &Self, bare: [bool; 2]) -> Option<Joined> {
        let lacks = [bare[0] && self.labels.is_empty(), bare[1] && other.labels.is_empty()];
        let labelled = [self.is_labelled(), other.is_labelled()];
        if labelled.contains(&true) && (labelled[0] || lacks[0]) && (labelled[1] || lacks[1]) {
            return Some(self.by_labels(other));
        }
        if self.bins == other.bins && same(self.low, other.low, self) && same(self.high, other.high, self) {
            let alike = self.edges.len() == other.edges.len();
            let alike = alike && self.edges.iter().zip(&other.edges).all(|(one, two)| same(*one, *two, self));
            let axis = if lacks[0] && other.has_labels() { other } else { self };
            return alike.then(|| Joined { axis: axis.clone(), places: [None, None] });
        }
        let regular = |axis: &Self| axis.edges.is_empty() && axis.labels.is_empty() && axis.bins > 0;
        if !regular(self) || !regular(other) {
            return None;
        }
        let axis = self.extended(other)?;
        let places = [self, other].map(|of| (*of != axis).then(|| of.within(&axis)));
        Some(Joined { axis, places })
    }

    /// Whether bins of both are the same, by their places and labels.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let stays = |joined: Joined| joined.places.iter().all(Option::is_none);
        self.labels == other.labels && self.joined(other, [false; 2]).is_some_and(stays)
    }

    pub(super) fn text(&self) -> String {
        let edges = if self.edges.is_empty() { "" } else { " of several widths" };
        let labels = if self.labels.is_empty() { "" } else { " with labels" };
        format!("{} bins{edges} from {} to {}{labels}", self.bins, self.low, self.high)
    }

    /// The bin that a value is in. What is no number is behind the last.
    pub(super) fn bin(&self, x: f64) -> usize {
        let bins = usize::try_from(self.bins).unwrap_or(0);
        if x < self.low {
            0
        } else if x >= self.high || x.is_nan() {
            bins + 1
        } else if self.edges.is_empty() {
            1 + (self.bins as f64 * (x - self.low) / (self.high - self.low)) as usize
        } else {
            self.edges.partition_point(|edge| *edge <= x)
        }
    }

    /// The middle of a bin; beyond the ends bins are as wide as all are on average.
    pub(super) fn middle(&self, bin: usize) -> f64 {
        match bin.checked_sub(1).and_then(|first| Some((self.edges.get(first)?, self.edges.get(first + 1)?)))
        {
            Some((low, high)) => low + 0.5 * (high - low),
            None => {
                let width = self.width();
                self.low + (bin as f64 - 1.0) * width + 0.5 * width
            }
        }
    }

    /// How wide bins are on average.
    fn width(&self) -> f64 {
        (self.high - self.low) / self.bins as f64
    }

    /// Bins with those before the first and behind the last.
    pub(super) fn cells(&self) -> Option<usize> {
        usize::try_from(self.bins).ok()?.checked_add(2)
    }

    /// Appends the labels, as `TAxis` has them.
    pub(super) fn write_labels(&self, buffer: &mut Buffer) {
        buffer.object("THashList", |buffer| {
            buffer.tlist("", self.labels.len(), |buffer, at| {
                let (bin, text) = &self.labels[at];
                buffer.object("TObjString", |buffer| {
                    buffer.frame(1, |buffer| {
                        buffer.tobject(u32::try_from(*bin).unwrap_or(0), 0);
                        buffer.string(text);
                    });
                });
            });
        });
    }

    pub(super) fn can_extend(&self) -> bool {
        self.bits & CAN_EXTEND != 0
    }

    pub(super) fn has_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// Whether labels are what bins are known by: all have one, or bins are added for new ones. Each stands once.
    fn is_labelled(&self) -> bool {
        let mut texts: Vec<&str> = self.labels.iter().map(|(_, text)| &**text).collect();
        texts.sort_unstable();
        let once = texts.windows(2).all(|pair| pair[0] != pair[1]);
        let placed = self.labels.iter().all(|(bin, _)| (1..=self.bins).contains(bin));
        let all = usize::try_from(self.bins) == Ok(self.labels.len());
        once && placed && !self.labels.is_empty() && (all || self.can_extend())
    }

    fn by_labels(&self, other: &Self) -> Joined {
        let mut axis = Self { bits: self.bits | other.bits, ..self.clone() };
        let mut bins: std::collections::HashMap<&str, i64> =
            self.labels.iter().map(|(bin, text)| (&**text, *bin)).collect();
        let mut last = self.labels.iter().map(|(bin, _)| *bin).max().unwrap_or(0);
        for (_, text) in &other.labels {
            bins.entry(text).or_insert_with(|| {
                last += 1;
                axis.labels.push((last, text.clone()));
                last
            });
        }
        // As ROOT adds bins for labels: as many as there are.
        let width = self.width();
        axis.bins = self.bins.max(other.bins);
        while axis.bins < last {
            axis.bins = axis.bins.saturating_mul(2);
        }
        if axis.bins != self.bins {
            axis.high = axis.low + axis.bins as f64 * width;
            axis.edges.clear();
        }
        let end = usize::try_from(axis.bins).unwrap_or(0) + 1;
        let place = |of: &Self, bin: usize| match i64::try_from(bin) {
            Ok(0) => Some(0),
            Ok(bin) if bin > of.bins => Some(end),
            Ok(bin) => {
                let (_, text) = of.labels.iter().find(|(at, _)| *at == bin)?;
                usize::try_from(*bins.get(&**text)?).ok()
            }
            Err(_) => None,
        };
        let all = |of: &Self| (0..of.cells().unwrap_or(0)).map(|bin| place(of, bin)).collect::<Vec<_>>();
        let same = *self == axis && self.labels == other.labels && self.bins == other.bins;
        let places = if same { [None, None] } else { [Some(all(self)), Some(all(other))] };
        Joined { axis, places }
    }

    /// An axis that has the bins of two in whole numbers.
    fn extended(&self, other: &Self) -> Option<Self> {
        let widths = [self, other].map(Self::width);
        let width = widths[0].max(widths[1]);
        if !widths.iter().all(|&each| each > 0.0 && each.is_finite() && is_whole(width / each)) {
            return None;
        }
        let low = self.low.min(other.low);
        let high = self.high.max(other.high);
        // Bins of the wider one go on to both sides.
        let wide = if widths[0] >= widths[1] { self } else { other };
        let low = wide.low - up((wide.low - low) / width) * width;
        let high = wide.high + up((high - wide.high) / width) * width;
        let fits =
            |axis: &Self, own: f64| is_whole((axis.low - low) / own) && is_whole((high - axis.high) / own);
        if !fits(self, widths[0]) || !fits(other, widths[1]) {
            return None;
        }
        let bins = ((high - low) / width).round();
        // More bins than this have no room in a histogram.
        if !(1.0..=MOST_BINS).contains(&bins) {
            return None;
        }
        Some(Self { bins: bins as i64, low, high, ..self.clone() })
    }

    /// Where bins are in another axis. Those before the first and behind the last are where they are only if the ends are
    /// the same.
    fn within(&self, axis: &Self) -> Vec<Option<usize>> {
        let end = axis.bins as usize + 1;
        let place = |bin: i64| match bin {
            0 => same(self.low, axis.low, axis).then_some(0),
            bin if bin > self.bins => same(self.high, axis.high, axis).then_some(end),
            bin => {
                let middle = self.low + (bin as f64 - 0.5) * self.width();
                Some((((middle - axis.low) / axis.width()) as usize + 1).min(end - 1))
            }
        };
        (0..=self.bins + 1).map(place).collect()
    }
}

/// Whether two places on an axis are one, but for rounding.
fn same(one: f64, two: f64, axis: &Axis) -> bool {
    one == two || (one - two).abs() <= ROUNDING * (axis.high - axis.low).abs()
}

fn is_whole(number: f64) -> bool {
    (number - number.round()).abs() < WHOLE
}

/// The next whole number, but for rounding.
fn up(number: f64) -> f64 {
    if is_whole(number) { number.round() } else { number.ceil() }
}

/// `TAxis::kIsInteger`.
const INTEGER: i64 = 1 << 22;
/// `TAxis::kCanExtend`.
const CAN_EXTEND: i64 = 2;
/// What differs by less, of the length of an axis, is equal.
const ROUNDING: f64 = 1e-12;
/// ROOT's own bound for numbers of bins that are almost whole.
const WHOLE: f64 = 1e-4;
const MOST_BINS: f64 = 1e8;
