//! Sums over all entries: computed from the bins, like `TH1::GetStats`, or for one entry.

use crate::{Axis, Entry};

/// The bins of one histogram or profile.
pub(crate) struct Bins<'a> {
    pub(crate) axes: &'a [Axis],
    /// Contents of a histogram, or sums of the values of a profile.
    pub(crate) contents: Vec<f64>,
    /// Squared errors, or sums of the squared values of a profile; empty if they equal the contents.
    pub(crate) squares: Vec<f64>,
    /// For a profile, the sums of weights and of squared weights. The latter are empty if they equal the
    /// former.
    pub(crate) weights: Option<[Vec<f64>; 2]>,
    /// Whether underflow and overflow are included.
    pub(crate) counts_all: bool,
}

impl Bins<'_> {
    /// Returns the sums in the order of [`NAMES`], with all entries of a bin at its centre.
    pub(crate) fn sums(&self) -> [f64; NAMES.len()] {
        let mut sums = [0.0; NAMES.len()];
        let (own, squares) = match &self.weights {
            Some([weights, squares]) => (weights, squares),
            None => (&self.contents, &self.squares),
        };
        for (cell, &weight) in own.iter().enumerate() {
            let Some([x, y, z]) = self.center(cell) else { continue };
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

    /// Returns the centre of a bin; `None` for underflow and overflow that are not included.
    fn center(&self, mut cell: usize) -> Option<[f64; 3]> {
        let mut center = [0.0; 3];
        for (axis, place) in self.axes.iter().zip(&mut center) {
            let all = axis.cells()?.max(1);
            let bin = cell % all;
            cell /= all;
            if !self.counts_all && !(1..all.saturating_sub(1)).contains(&bin) {
                return None;
            }
            *place = axis.center(bin);
        }
        (cell == 0).then_some(center)
    }
}

/// Returns the sums of one entry in the order of [`NAMES`]. Products are computed in ROOT's order.
pub(crate) fn of_entry(entry: &Entry<'_>) -> [f64; NAMES.len()] {
    let weight = entry.weight;
    let at = |number| entry.coordinates.get(number).copied().unwrap_or(0.0);
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
        && let Some(first) = VALUES.get(entry.coordinates.len()).copied()
    {
        sums[first] = weight * value;
        sums[first + 1] = weight * value * value;
    }
    sums
}

/// Names of the members with the sums, in the order of `TH1::GetStats`.
pub(crate) const NAMES: [&str; 13] = [
    "fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2", "fTsumwy", "fTsumwy2", "fTsumwxy", "fTsumwz", "fTsumwz2",
    "fTsumwxz", "fTsumwyz", "fTsumwt", "fTsumwt2",
];
/// Index in [`NAMES`] of the sum of a profile's values, by its number of axes.
const VALUES: [usize; 4] = [11, 4, 7, 11];
