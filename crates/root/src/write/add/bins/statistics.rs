//! Statistics of histograms from their bins, as `TH1::GetStats` finds them where none were kept.

use super::pending::Entry;
use crate::write::add::axis::Axis;

/// The bins of one histogram or profile.
pub(super) struct Cells<'a> {
    pub(super) axes: &'a [Axis],
    /// The contents of a histogram, or the sums of the values of a profile.
    pub(super) contents: Vec<f64>,
    /// The squares of the contents' errors, or the sums of the squared values of a profile; empty if they are the contents.
    pub(super) squares: Vec<f64>,
    /// The sums of weights of a profile, and those of their squares, which are empty if they are the weights.
    pub(super) weights: Option<[Vec<f64>; 2]>,
    /// Whether bins beyond the ends of axes count.
    pub(super) counts_all: bool,
}

impl Cells<'_> {
    /// The sums as if all entries of a bin were at its middle, in the order of [`NAMES`].
    pub(super) fn sums(&self) -> [f64; NAMES.len()] {
        let mut sums = [0.0; NAMES.len()];
        let (own, squares) = match &self.weights {
            Some([weights, squares]) => (weights, squares),
            None => (&self.contents, &self.squares),
        };
        for (cell, &weight) in own.iter().enumerate() {
            let Some([x, y, z]) = self.middle(cell) else { continue };
            let at = |numbers: &[f64]| numbers.get(cell).copied();
            let square = at(squares).unwrap_or(weight.abs());
            let mut each = [1.0, 0.0, x, x * x, y, y * y, x * y, z, z * z, x * z, y * z, 0.0, 0.0];
            each.iter_mut().for_each(|each| *each *= weight);
            each[1] = square;
            if self.weights.is_some()
                && let Some(first) = VALUES.get(self.axes.len()).copied()
            {
                each[first] = at(&self.contents).unwrap_or(0.0);
                each[first + 1] = at(&self.squares).unwrap_or(0.0);
            }
            sums.iter_mut().zip(each).for_each(|(sum, each)| *sum += each);
        }
        sums
    }

    /// The middle of a bin, unless it does not count.
    fn middle(&self, mut cell: usize) -> Option<[f64; 3]> {
        let mut middle = [0.0; 3];
        for (axis, place) in self.axes.iter().zip(&mut middle) {
            let all = axis.cells()?.max(1);
            let bin = cell % all;
            cell /= all;
            if !self.counts_all && !(1..all.saturating_sub(1)).contains(&bin) {
                return None;
            }
            *place = axis.middle(bin);
        }
        (cell == 0).then_some(middle)
    }
}

/// The sums of one entry, in the order of [`NAMES`], multiplied in the order in which ROOT does it.
pub(super) fn of_entry(entry: &Entry<'_>) -> [f64; NAMES.len()] {
    let weight = entry.weight;
    let at = |number| entry.places.get(number).copied().unwrap_or(0.0);
    let [x, y, z] = [at(0), at(1), at(2)];
    let mut sums = [
        weight,
        weight * weight,
        weight * x,
        weight * x * x,
        weight * y,
        weight * y * y,
        weight * x * y,
        weight * z,
        weight * z * z,
        weight * x * z,
        weight * y * z,
        0.0,
        0.0,
    ];
    if let Some(value) = entry.value
        && let Some(first) = VALUES.get(entry.places.len()).copied()
    {
        sums[first] = weight * value;
        sums[first + 1] = weight * value * value;
    }
    sums
}

/// The members that keep the sums, in the order of `TH1::GetStats`.
pub(super) const NAMES: [&str; 13] = [
    "fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2", "fTsumwy", "fTsumwy2", "fTsumwxy", "fTsumwz", "fTsumwz2",
    "fTsumwxz", "fTsumwyz", "fTsumwt", "fTsumwt2",
];
/// Where the sums of a profile's values are, by the number of its axes.
const VALUES: [usize; 4] = [11, 4, 7, 11];
