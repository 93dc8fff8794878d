//! Statistics of histograms from their bins, as `TH1::GetStats` finds them where none were kept.

use super::axis::Axis;

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

/// The members that keep the sums, in the order of `TH1::GetStats`.
pub(super) const NAMES: [&str; 13] = [
    "fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2", "fTsumwy", "fTsumwy2", "fTsumwxy", "fTsumwz", "fTsumwz2",
    "fTsumwxz", "fTsumwyz", "fTsumwt", "fTsumwt2",
];
/// Where the sums of a profile's values are, by the number of its axes.
const VALUES: [usize; 4] = [11, 4, 7, 11];
