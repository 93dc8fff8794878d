//! Histograms, profiles, efficiencies and parameters added up, by ROOT's own rules.

use forthwith_plan::{Error, ErrorKind, Result};

use super::axis::Axis;
use super::numbers::Numbers;
use super::pending::Pending;
use super::statistics::{self, Cells};
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
#[derive(Debug)]
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
    /// Whether they were put into bins.
    is_flushed: bool,
    /// Whether statistics count entries beyond the ends of axes.
    counts_all: bool,
}

/// The value of a parameter, and how several become one.
#[derive(Clone, Copy, Debug)]
struct Number {
    value: Kind,
    bits: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Whole(i64),
    Float(f64),
    Bool(bool),
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
            _ => vec![Part::parameter(object)?],
        };
        Ok(Self { parts, weight: object.float("fWeight") })
    }

    pub(super) fn add(&mut self, other: Self) -> Result<()> {
        if other.parts.len() != self.parts.len() {
            let what = "adding an efficiency without its histograms".into();
            return Err(Error::new(ErrorKind::Invalid { what }));
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
        let mut part = Self {
            member,
            arrays: arrays.collect(),
            scalars,
            axes: axes.collect::<Result<_>>()?,
            changed: [false; 3],
            dimensions: dimensions(object.class()),
            number: None,
            pending: Pending::of(object)?,
            is_flushed: false,
            counts_all: object.int("fStatOverflows") == Some(CONSIDERED),
        };
        let of =
            |name| part.scalars.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, value)| *value);
        if of("fTsumw") == 0.0 && of("fEntries") > 0.0 {
            part.find_statistics();
        }
        Ok(part)
    }

    fn parameter(object: Object<'_>) -> Result<Self> {
        let value = match object.member("fVal") {
            Some(crate::object::Value::Float(value)) => Kind::Float(value),
            Some(crate::object::Value::Bool(value)) => Kind::Bool(value),
            Some(_) if let Some(value) = object.int("fVal") => Kind::Whole(value),
            _ => return Err(Error::unsupported(format!("adding objects of class {}", object.class()))),
        };
        let bits = object.int("fBits").unwrap_or(0).unsigned_abs();
        let number = Some(Number { value, bits });
        let (arrays, scalars, axes) = (vec![], vec![], vec![]);
        Ok(Self {
            member: None,
            arrays,
            scalars,
            axes,
            changed: [false; 3],
            dimensions: 0,
            number,
            pending: None,
            is_flushed: false,
            counts_all: false,
        })
    }

    fn add(&mut self, mut other: Self) -> Result<()> {
        let has_ends = |part: &Self| part.axes.first().is_none_or(|axis| axis.low < axis.high);
        if self.pending.is_some() || other.pending.is_some() {
            match (has_ends(self), has_ends(&other)) {
                (true, true) => {
                    self.flush()?;
                    other.flush()?;
                }
                (false, false) => {
                    let is_empty = |part: &Self| part.arrays.iter().all(|(_, numbers)| numbers.is_zero());
                    if !is_empty(self) || !is_empty(&other) {
                        return Err(Error::unsupported(
                            "adding histograms with entries in bins of an axis without ends",
                        ));
                    }
                    return match (&mut self.pending, other.pending) {
                        (Some(own), Some(more)) => own.join(more),
                        _ => Err(Error::unsupported(
                            "adding histograms without ends of axes and without a buffer",
                        )),
                    };
                }
                _ => {
                    let what = "adding a histogram whose axis has no ends yet to one whose axis has";
                    return Err(Error::unsupported(what));
                }
            }
        }
        self.join(&mut other)?;
        // Squares of weights that one of them does not keep are those of entries without weights.
        for (squares, plain) in [("fSumw2", None), ("fBinSumw2", Some("fBinEntries"))] {
            let has = |part: &Self| part.numbers(squares).is_some_and(|numbers| !numbers.is_empty());
            match (has(self), has(&other)) {
                (true, false) => {
                    let more = other.plain(plain);
                    self.add_array(squares, &more)?;
                }
                (false, true) => {
                    let own = self.plain(plain);
                    if let Some((_, numbers)) = self.arrays.iter_mut().find(|(name, _)| *name == squares) {
                        *numbers = own;
                    }
                    if let Some(more) = other.numbers(squares) {
                        self.add_array(squares, more)?;
                    }
                }
                (true, true) => {
                    if let Some(more) = other.numbers(squares) {
                        self.add_array(squares, more)?;
                    }
                }
                (false, false) => {}
            }
        }
        for (name, numbers) in &other.arrays {
            if !matches!(*name, "fSumw2" | "fBinSumw2") {
                self.add_array(name, numbers)?;
            }
        }
        for (name, value) in &mut self.scalars {
            *value += other.scalars.iter().find(|(other, _)| other == name).map_or(0.0, |(_, value)| *value);
        }
        if let (Some(one), Some(two)) = (&mut self.number, other.number) {
            one.add(two);
        }
        Ok(())
    }

    /// Puts entries of the buffer into bins.
    fn flush(&mut self) -> Result<()> {
        let Some(pending) = self.pending.take() else { return Ok(()) };
        self.is_flushed = true;
        let Some(axis) = self.axes.first().filter(|axis| axis.cells().is_some()) else { return Ok(()) };
        let has_squares = self.numbers("fSumw2").is_some_and(|squares| !squares.is_empty());
        if !has_squares && pending.entries().iter().any(|[weight, _]| *weight != 1.0) {
            return Err(Error::unsupported(
                "adding a histogram with weights in its buffer and without their squares",
            ));
        }
        let mut sums = [0.0; 4];
        for &[weight, x] in pending.entries() {
            let bin = axis.bin(x);
            if self.counts_all || (1..=axis.bins).contains(&(bin as i64)) {
                let square = weight * weight;
                let own = [weight, square, weight * x, weight * x * x];
                sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
            for (name, numbers) in &mut self.arrays {
                let value = if *name == "fSumw2" { weight * weight } else { weight };
                if !numbers.is_empty() && !numbers.add_value(bin, value) {
                    let what = format!("a histogram of {} bins with {} numbers", axis.bins, numbers.len());
                    return Err(Error::new(ErrorKind::Invalid { what }).in_member(name));
                }
            }
        }
        let count = pending.entries().len() as f64;
        let [weights, squares, places, place_squares] = sums;
        for (name, value) in &mut self.scalars {
            *value += match *name {
                "fEntries" => count,
                "fTsumw" => weights,
                "fTsumw2" => squares,
                "fTsumwx" => places,
                "fTsumwx2" => place_squares,
                _ => 0.0,
            };
        }
        Ok(())
    }

    /// Whether there are no entries, not even in bins that were set.
    fn is_bare(&self) -> bool {
        let has_entries = self.scalars.iter().any(|(name, value)| *name == "fEntries" && *value != 0.0);
        !has_entries && self.arrays.iter().all(|(_, numbers)| numbers.is_zero())
    }

    /// Gives two histograms the same bins.
    fn join(&mut self, other: &mut Self) -> Result<()> {
        let bare = [self.is_bare(), other.is_bare()];
        let mut moves = [Vec::new(), Vec::new()];
        let mut axes = Vec::new();
        for ((name, one), two) in ["x", "y", "z"].into_iter().zip(&self.axes).zip(&other.axes) {
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
            let cells = axes.iter().take(self.dimensions).map(Axis::cells);
            let cells: Option<Vec<usize>> = cells.collect();
            let count =
                cells.as_ref().and_then(|cells| cells.iter().try_fold(1_usize, |all, &n| all.checked_mul(n)));
            let (Some(cells), Some(count)) = (cells, count.filter(|&count| count <= MOST_CELLS)) else {
                return Err(Error::unsupported("a sum of histograms with more than 2^28 bins"));
            };
            for (part, moves) in [&mut *self, other].into_iter().zip(&moves) {
                part.rebin(moves, &cells, count)?;
            }
        }
        for ((changed, new), old) in self.changed.iter_mut().zip(&axes).zip(&self.axes) {
            *changed |= new != old;
        }
        self.axes.clone_from(&axes);
        other.axes = axes;
        Ok(())
    }

    /// Puts the numbers of bins where those are in other axes, with `count` cells.
    fn rebin(&mut self, moves: &[Option<Vec<Option<usize>>>], cells: &[usize], count: usize) -> Result<()> {
        let old: Option<Vec<usize>> = self.axes.iter().take(cells.len()).map(Axis::cells).collect();
        let old = old.unwrap_or_default();
        // It was compared with the length of the arrays below.
        let all = old.iter().try_fold(1_usize, |all, &n| all.checked_mul(n)).unwrap_or(usize::MAX);
        let wrong = self.arrays.iter().find(|(_, numbers)| !numbers.is_empty() && numbers.len() != all);
        if let Some((name, numbers)) = wrong {
            let (expected, found) = (all as u64, numbers.len() as u64);
            let error = ErrorKind::Mismatch { what: "number of bins", expected, found };
            return Err(Error::new(error).in_member(name));
        }
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
        let is_profile = self.numbers("fBinEntries").is_some();
        let cells = Cells {
            axes: self.axes.get(..self.dimensions).unwrap_or_default(),
            contents: self.plain(None).floats(),
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

    /// The contents of the bins, or the entries, as squares of weights that are all 1.
    fn plain(&self, of: Option<&str>) -> Numbers {
        let numbers = match of {
            Some(name) => self.numbers(name),
            None => {
                self.arrays.iter().find(|(name, _)| name.starts_with("TArray")).map(|(_, numbers)| numbers)
            }
        };
        Numbers::Double(numbers.map(Numbers::floats).unwrap_or_default())
    }

    fn add_array(&mut self, name: &str, more: &Numbers) -> Result<()> {
        let Some((_, own)) = self.arrays.iter_mut().find(|(known, _)| *known == name) else { return Ok(()) };
        if own.add(more) {
            return Ok(());
        }
        let what = format!("adding histograms of other numbers of bins in {name}");
        Err(Error::new(ErrorKind::Invalid { what }))
    }

    fn write(&self, edits: &mut Edits<'_>, object: Object<'_>) -> Result<()> {
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
        for (name, numbers) in &self.arrays {
            if let Some(place) = object.place(name) {
                edits.replace(place, numbers.bytes());
            }
        }
        for &(name, value) in &self.scalars {
            edits.float(object, name, value)?;
        }
        if let Some(number) = self.number {
            edits.number(object, "fBits", number.bits as i64)?;
        }
        match self.number.map(|number| number.value) {
            Some(Kind::Whole(value)) => edits.number(object, "fVal", value),
            Some(Kind::Float(value)) => edits.float(object, "fVal", value),
            Some(Kind::Bool(value)) => edits.number(object, "fVal", value.into()),
            None => Ok(()),
        }
    }
}

impl Number {
    /// By the bits of the first: multiplied, the largest, the smallest, the first, the last, or added; truth
    /// values are true if one is, or both.
    fn add(&mut self, other: Self) {
        let has = |bit: u64| self.bits & bit != 0;
        let (own, more) = (self.value, other.value);
        self.value = match (own, more) {
            (Kind::Bool(one), Kind::Bool(two)) if has(MULTIPLY) || has(MIN) => Kind::Bool(one && two),
            (Kind::Whole(one), Kind::Whole(two)) if has(MULTIPLY) => Kind::Whole(one.wrapping_mul(two)),
            (Kind::Float(one), Kind::Float(two)) if has(MULTIPLY) => Kind::Float(one * two),
            (Kind::Whole(one), Kind::Whole(two)) if has(MAX) => Kind::Whole(one.max(two)),
            // What is no number is neither larger nor smaller.
            (Kind::Float(one), Kind::Float(two)) if has(MAX) => {
                Kind::Float(if two > one { two } else { one })
            }
            (Kind::Whole(one), Kind::Whole(two)) if has(MIN) => Kind::Whole(one.min(two)),
            (Kind::Float(one), Kind::Float(two)) if has(MIN) => {
                Kind::Float(if two < one { two } else { one })
            }
            (_, two) if has(LAST) => two,
            (Kind::Bool(one), Kind::Bool(two)) if has(MAX) => Kind::Bool(one || two),
            (one, _) if has(FIRST) => one,
            (Kind::Bool(one), Kind::Bool(two)) => Kind::Bool(one || two),
            (Kind::Whole(one), Kind::Whole(two)) => Kind::Whole(one.wrapping_add(two)),
            (Kind::Float(one), Kind::Float(two)) => Kind::Float(one + two),
            (one, _) => one,
        };
        if own != more {
            self.bits &= !CONSTANT;
        }
    }
}

/// Bits of `TParameter`: how several become one, and whether all have had one value.
const MULTIPLY: u64 = 1 << 16;
const MAX: u64 = 1 << 17;
const MIN: u64 = 1 << 18;
const FIRST: u64 = 1 << 19;
const LAST: u64 = 1 << 20;
const CONSTANT: u64 = 1 << 21;
/// `TH1::kConsider`: entries beyond the ends of axes count in statistics.
const CONSIDERED: i64 = 1;
/// Bins that a sum may have.
const MOST_CELLS: usize = 1 << 28;
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
