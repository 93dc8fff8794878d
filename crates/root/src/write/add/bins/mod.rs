//! Histograms, profiles, efficiencies and parameters added up, by ROOT's own rules.

use forthwith_plan::{Error, Result};

mod fill;
mod limits;
mod parameter;
mod pending;
mod statistics;

use parameter::Number;
use pending::Pending;
use statistics::Cells;

use super::axis::Axis;
use super::numbers::{Numbers, write_sums};
use crate::object::Object;
use crate::write::Edits;

/// A sum of bins and statistics of histograms and profiles, of both histograms of an efficiency, or of parameters.
#[derive(Debug)]
pub(super) struct Bins {
    parts: Vec<Part>,
    /// With which an efficiency counts when several are combined.
    weight: Option<f64>,
}

/// One histogram, or one parameter.
#[derive(Clone, Debug, Default)]
struct Part {
    /// The member that it is, or nothing for the object itself.
    member: Option<&'static str>,
    arrays: Vec<(&'static str, Numbers)>,
    scalars: Vec<(&'static str, f64)>,
    axes: Vec<Axis>,
    /// Axes that are not those of the first object any more.
    changed: [bool; 3],
    dimensions: usize,
    number: Option<Number>,
    /// Entries that are in no bin yet.
    pending: Option<Pending>,
    /// Whether they are those of histograms without ends of axes, while this one has ends.
    is_late: bool,
    /// Whether they were put into bins.
    is_flushed: bool,
    /// Between which values a profile takes entries.
    bounds: Option<[f64; 2]>,
    /// Whether squares of weights are not wanted.
    is_unweighted: bool,
    /// Whether bins of an axis without ends shall be as wide as powers of two.
    finds_powers_of_two: bool,
    /// Whether statistics count entries beyond the ends of axes.
    counts_all: bool,
}

impl Bins {
    /// Whether objects of a class are such.
    pub(super) fn adds(class: &str) -> bool {
        is_histogram(class) || class == "TEfficiency" || class.starts_with("TParameter<")
    }

    pub(super) fn of(object: Object<'_>) -> Result<Self> {
        let parts = match object.class() {
            "TEfficiency" => ["fPassedHistogram", "fTotalHistogram"]
                .into_iter()
                .filter_map(|member| object.object(member).map(|histogram| Part::of(Some(member), histogram)))
                .collect::<Result<_>>()?,
            class if is_histogram(class) => vec![Part::of(None, object)?],
            _ => vec![Part { number: Some(Number::of(object)?), ..Part::default() }],
        };
        Ok(Self { parts, weight: object.float("fWeight") })
    }

    pub(super) fn add(&mut self, other: Self) -> Result<()> {
        if other.parts.len() != self.parts.len() {
            return Err(Error::invalid("adding an efficiency without its histograms"));
        }
        if let (Some(own), Some(more)) = (&mut self.weight, other.weight) {
            *own = *own * more / (*own + more);
        }
        self.parts.iter_mut().zip(other.parts).try_for_each(|(part, other)| part.add(other))
    }

    pub(super) fn write(&self, edits: &mut Edits<'_>, first: Object<'_>) -> Result<()> {
        if let Some(weight) = self.weight {
            edits.float(first, "fWeight", weight)?;
        }
        self.parts.iter().try_for_each(|part| {
            let object = match part.member {
                Some(member) => first.object(member),
                None => Some(first),
            };
            object.map_or(Ok(()), |object| part.write(edits, object))
        })
    }
}

/// Histograms of one to three dimensions, and profiles.
fn is_histogram(class: &str) -> bool {
    let kinds = ["C", "S", "I", "L", "F", "D"];
    ["TH1", "TH2", "TH3"]
        .iter()
        .any(|base| class.strip_prefix(base).is_some_and(|kind| kinds.contains(&kind)))
        || matches!(class, "TProfile" | "TProfile2D" | "TProfile3D")
}

/// How many bins axes have together, those beyond the ends included.
fn cells(axes: &[Axis]) -> Result<usize> {
    let all = axes.iter().try_fold(1_usize, |all, axis| all.checked_mul(axis.cells()?));
    let too_many = || Error::unsupported("a sum of histograms with more than 2^28 bins");
    all.filter(|&all| all <= MOST_CELLS).ok_or_else(too_many)
}

/// The dimensions of a histogram's bins.
fn dimensions(class: &str) -> usize {
    match class {
        _ if class.starts_with("TH2") || class == "TProfile2D" => 2,
        _ if class.starts_with("TH3") || class == "TProfile3D" => 3,
        _ => 1,
    }
}

impl Part {
    fn of(member: Option<&'static str>, object: Object<'_>) -> Result<Self> {
        let object = object.readable()?;
        let axis = |name| object.object(name).map(Axis::of).transpose();
        let axes = ["fXaxis", "fYaxis", "fZaxis"].into_iter().filter_map(|name| axis(name).transpose());
        let arrays = ARRAYS.into_iter().filter_map(|name| Some((name, Numbers::of(object.array(name)?))));
        let scalars = SCALARS.into_iter().filter_map(|name| Some((name, object.float(name)?)));
        let scalars: Vec<_> = scalars.collect();
        let bits = object.int("fBits").unwrap_or(0);
        let bounds = [("fYmin", "fYmax"), ("fZmin", "fZmax"), ("fTmin", "fTmax")].into_iter();
        let bounds = bounds.filter_map(|(low, high)| Some([object.float(low)?, object.float(high)?])).next();
        let mut part = Self {
            member,
            arrays: arrays.collect(),
            scalars,
            axes: axes.collect::<Result<_>>()?,
            dimensions: dimensions(object.class()),
            bounds: bounds.filter(|[low, high]| low != high),
            is_unweighted: bits & NOT_WEIGHTED != 0,
            finds_powers_of_two: bits & POWERS_OF_TWO != 0,
            counts_all: object.int("fStatOverflows") == Some(CONSIDERED),
            ..Self::default()
        };
        part.check_lengths()?;
        part.pending = Pending::of(object, part.dimensions, part.is_profile())?;
        if part.scalar("fTsumw") == 0.0 && part.scalar("fEntries") > 0.0 {
            part.find_statistics();
        }
        Ok(part)
    }

    /// Compares the bins that axes claim with the numbers that the object has, before anything is made for each bin.
    fn check_lengths(&self) -> Result<()> {
        if self.own_axes().is_empty() {
            return Ok(());
        }
        let claimed = cells(self.own_axes())?;
        let mut filled = self.arrays.iter().filter(|(_, numbers)| !numbers.is_empty()).peekable();
        // Without numbers the bins are those of a histogram that was never given any.
        if filled.peek().is_none() && claimed > MOST_EMPTY {
            return Err(Error::mismatch("number of bins", claimed, 0_u64));
        }
        match filled.find(|(_, numbers)| numbers.len() != claimed) {
            Some((name, numbers)) => {
                Err(Error::mismatch("number of bins", claimed, numbers.len()).in_member(name))
            }
            None => Ok(()),
        }
    }

    fn add(&mut self, mut other: Self) -> Result<()> {
        if !self.join_pending(&mut other)? {
            return Ok(());
        }
        self.join(&mut other)?;
        // Squares of weights that one of them does not keep are those of entries without weights.
        for squares in ["fSumw2", "fBinSumw2"] {
            if self.has(squares) || other.has(squares) {
                self.keep_squares(squares);
                other.keep_squares(squares);
            }
        }
        for (name, more) in &other.arrays {
            if self.numbers_mut(name).is_some_and(|own| !own.add(more)) {
                return Err(Error::invalid(format!("adding histograms of other numbers of bins in {name}")));
            }
        }
        for (name, value) in &mut self.scalars {
            *value += other.scalar(name);
        }
        if let (Some(one), Some(two)) = (&mut self.number, other.number) {
            one.add(two);
        }
        Ok(())
    }

    /// Whether there are no entries, not even in bins that were set.
    fn is_bare(&self) -> bool {
        let waits = self.pending.as_ref().is_some_and(|pending| !pending.is_empty());
        self.scalar("fEntries") == 0.0 && !waits && self.arrays.iter().all(|(_, numbers)| numbers.is_zero())
    }

    /// Gives two histograms the same bins.
    fn join(&mut self, other: &mut Self) -> Result<()> {
        let bare = [self.is_bare(), other.is_bare()];
        let mut moves = [Vec::new(), Vec::new()];
        let mut axes = Vec::new();
        for ((name, one), two) in ["x", "y", "z"].into_iter().zip(self.own_axes()).zip(other.own_axes()) {
            let Some(joined) = one.joined(two, bare) else {
                let what = format!(
                    "adding histograms of other bins: its {name} axis has {}, and that of the first {}",
                    two.text(),
                    one.text()
                );
                return Err(Error::unsupported(what));
            };
            let [own, others] = joined.places;
            moves[0].push(own);
            moves[1].push(others);
            axes.push(joined.axis);
        }
        let stays = |moves: &[Option<_>]| moves.iter().all(Option::is_none);
        if !moves.iter().all(|moves| stays(moves)) {
            let count = cells(&axes)?;
            let before = cells(self.own_axes())?.max(cells(other.own_axes())?);
            if count > MOST_GROWN.max(before.saturating_mul(MOST_GROWTH)) {
                let what = format!("adding histograms of {before} bins at most as one of {count} bins");
                return Err(Error::unsupported(what));
            }
            let cells: Vec<usize> = axes.iter().filter_map(Axis::cells).collect();
            for (part, moves) in [&mut *self, other].into_iter().zip(&moves) {
                part.rebin(moves, &cells, count)?;
            }
        }
        for ((changed, new), old) in self.changed.iter_mut().zip(&axes).zip(&self.axes) {
            *changed |= new != old;
        }
        // Axes beyond the dimensions have no bins, and stay as the first histogram has them.
        for part in [self, other] {
            part.axes.iter_mut().zip(&axes).for_each(|(own, new)| own.clone_from(new));
        }
        Ok(())
    }

    /// Puts the numbers of bins where those are in other axes, with `count` cells.
    fn rebin(&mut self, moves: &[Option<Vec<Option<usize>>>], cells: &[usize], count: usize) -> Result<()> {
        let old: Option<Vec<usize>> = self.axes.iter().take(cells.len()).map(Axis::cells).collect();
        let old = old.unwrap_or_default();
        // The arrays have as many numbers.
        let all = old.iter().try_fold(1_usize, |all, &n| all.checked_mul(n)).unwrap_or(0);
        if self.arrays.iter().all(|(_, numbers)| numbers.is_empty()) {
            return Ok(());
        }
        let mut places = Vec::with_capacity(all);
        for cell in 0..all {
            let (mut rest, mut to, mut step) = (cell, Some(0), 1);
            for ((moves, &own), &new) in moves.iter().zip(&old).zip(cells) {
                let at = rest % own;
                rest /= own;
                let at = moves.as_ref().map_or(Some(at), |moves| moves.get(at).copied().flatten());
                to = to.zip(at).map(|(to, at)| to + at * step);
                step *= new;
            }
            if to.is_none() && self.arrays.iter().any(|(_, numbers)| numbers.is_set(cell)) {
                let what = "adding histograms of other bins, one of which has entries beyond its axis or in bins without labels";
                return Err(Error::unsupported(what));
            }
            places.push(to.unwrap_or(0));
        }
        for (_, numbers) in &mut self.arrays {
            *numbers = numbers.moved(&places, count);
        }
        Ok(())
    }

    /// Statistics from the bins, where none were kept.
    fn find_statistics(&mut self) {
        let floats = |name| self.numbers(name).map(Numbers::floats).unwrap_or_default();
        let is_profile = self.is_profile();
        let cells = Cells {
            axes: self.own_axes(),
            contents: self.plain(None),
            squares: floats("fSumw2"),
            weights: is_profile.then(|| [floats("fBinEntries"), floats("fBinSumw2")]),
            // `TProfile3D::GetStats` leaves bins beyond the ends out in any case.
            counts_all: self.counts_all && !(is_profile && self.dimensions == 3),
        };
        for (name, sum) in statistics::NAMES.into_iter().zip(cells.sums()) {
            if let Some((_, value)) = self.scalars.iter_mut().find(|(known, _)| *known == name) {
                *value = sum;
            }
        }
    }

    fn numbers(&self, name: &str) -> Option<&Numbers> {
        self.arrays.iter().find(|(known, _)| *known == name).map(|(_, numbers)| numbers)
    }

    fn numbers_mut(&mut self, name: &str) -> Option<&mut Numbers> {
        self.arrays.iter_mut().find(|(known, _)| *known == name).map(|(_, numbers)| numbers)
    }

    /// Whether there are numbers of this name.
    fn has(&self, name: &str) -> bool {
        self.numbers(name).is_some_and(|numbers| !numbers.is_empty())
    }

    /// A sum over all entries, 0 if there is none of this name.
    fn scalar(&self, name: &str) -> f64 {
        self.scalars.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, value)| *value)
    }

    fn is_profile(&self) -> bool {
        self.numbers("fBinEntries").is_some()
    }

    fn own_axes(&self) -> &[Axis] {
        self.axes.get(..self.dimensions).unwrap_or_default()
    }

    /// Begins to keep the squares of weights, unless they are kept: they are those of entries without weights so far.
    fn keep_squares(&mut self, squares: &'static str) {
        if self.has(squares) {
            return;
        }
        let plain = self.plain((squares == "fBinSumw2").then_some("fBinEntries"));
        let plain = Numbers::Double(plain.into_iter().map(f64::abs).collect());
        match self.numbers_mut(squares) {
            Some(numbers) => *numbers = plain,
            None => self.arrays.push((squares, plain)),
        }
    }

    /// The contents of the bins, or the entries.
    fn plain(&self, of: Option<&str>) -> Vec<f64> {
        let is_meant = |name: &str| of.map_or(name.starts_with("TArray"), |of| of == name);
        let numbers = self.arrays.iter().find(|(name, _)| is_meant(name));
        numbers.map(|(_, numbers)| numbers.floats()).unwrap_or_default()
    }

    fn write(&self, edits: &mut Edits<'_>, object: Object<'_>) -> Result<()> {
        if self.pending.is_some() {
            let mut settled = self.clone();
            settled.settle()?;
            return settled.write_settled(edits, object);
        }
        self.write_settled(edits, object)
    }

    fn write_settled(&self, edits: &mut Edits<'_>, object: Object<'_>) -> Result<()> {
        for ((name, axis), _) in ["fXaxis", "fYaxis", "fZaxis"]
            .into_iter()
            .zip(&self.axes)
            .zip(self.changed)
            .filter(|(_, changed)| *changed)
        {
            let Some(place) = object.object(name) else { continue };
            edits.number(place, "fNbins", axis.bins)?;
            edits.float(place, "fXmin", axis.low)?;
            edits.float(place, "fXmax", axis.high)?;
            edits.number(place, "fBits2", axis.bits)?;
            if let Some(edges) = place.place("fXbins") {
                edits.replace(edges, Numbers::Double(axis.edges.clone()).bytes());
            }
            if let Some(labels) = place.place("fLabels").filter(|_| axis.has_labels()) {
                let axis = axis.clone();
                edits.replace_with(labels, move |buffer| axis.write_labels(buffer));
            }
        }
        if self.changed.contains(&true) {
            let cells = self.axes.iter().take(self.dimensions).filter_map(Axis::cells).product::<usize>();
            edits.number(object, "fNcells", cells as i64)?;
        }
        if let Some(pending) = &self.pending {
            pending.write(edits, object)?;
        } else if self.is_flushed && object.array("fBuffer").is_some_and(|buffer| !buffer.is_empty()) {
            edits.number(object, "fBufferSize", 0)?;
            edits.doubles(object, "fBuffer", &[])?;
        }
        write_sums(edits, object, &self.arrays, &self.scalars)?;
        self.number.map_or(Ok(()), |number| number.write(edits, object))
    }
}

/// `TH1::kConsider`: entries beyond the ends of axes count in statistics.
const CONSIDERED: i64 = 1;
/// `TH1::kIsNotW`: squares of weights are not wanted.
const NOT_WEIGHTED: i64 = 1 << 19;
/// `TH1::kAutoBinPTwo`.
const POWERS_OF_TWO: i64 = 1 << 20;
/// Bins that a sum may have.
const MOST_CELLS: usize = 1 << 28;
/// Bins that a histogram without numbers may claim.
const MOST_EMPTY: usize = 1 << 10;
/// Bins that the sum of small histograms may have, and how many times as many as the larger of others.
const MOST_GROWN: usize = 1 << 22;
const MOST_GROWTH: usize = 256;
/// Arrays of a histogram with a number for each bin.
const ARRAYS: [&str; 10] = [
    "TArrayC",
    "TArrayS",
    "TArrayI",
    "TArrayL",
    "TArrayL64",
    "TArrayF",
    "TArrayD",
    "fSumw2",
    "fBinEntries",
    "fBinSumw2",
];
/// Sums over all entries.
const SCALARS: [&str; 16] = [
    "fEntries", "fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2", "fTsumwy", "fTsumwy2", "fTsumwxy", "fTsumwz",
    "fTsumwz2", "fTsumwxz", "fTsumwyz", "fTsumwt", "fTsumwt2", "fTsumwxt", "fTsumwyt",
];
