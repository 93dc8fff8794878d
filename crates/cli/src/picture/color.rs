//! Colours of histograms and of cells of two-dimensional histograms.

use super::scene::Color;

/// Colours of overlaid histograms, distinguishable with colour vision deficiency (M. Petroff,
/// arXiv:2107.02270).
const SERIES: [Color; 10] = [
    Color(63, 144, 218),
    Color(189, 31, 1),
    Color(255, 169, 14),
    Color(131, 45, 182),
    Color(148, 164, 162),
    Color(169, 107, 89),
    Color(231, 99, 0),
    Color(113, 117, 129),
    Color(185, 172, 112),
    Color(146, 218, 221),
];

/// The viridis colour map, from dark to light in perceptually equal steps.
const CELLS: [Color; 9] = [
    Color(68, 1, 84),
    Color(71, 44, 122),
    Color(59, 81, 139),
    Color(44, 113, 142),
    Color(33, 144, 141),
    Color(39, 173, 129),
    Color(92, 200, 99),
    Color(170, 220, 50),
    Color(253, 231, 37),
];

/// Number of cell colours.
const LEVELS: f64 = 96.0;

/// Number of histograms with distinct colours.
pub(super) const MOST_SERIES: usize = SERIES.len();

/// Returns the colour of a histogram.
pub(super) const fn of_series(at: usize) -> Color {
    SERIES[at % SERIES.len()]
}

/// Returns a lighter version of a colour, mixed with white.
pub(super) fn light(color: Color) -> Color {
    mixed(color, Color(255, 255, 255), 0.65)
}

/// Returns the colour of a cell for a fraction of the range.
pub(super) fn of_cell(part: f64) -> Color {
    let part = ((part.clamp(0.0, 1.0) * LEVELS).floor().min(LEVELS - 1.0) + 0.5) / LEVELS;
    let place = part * (CELLS.len() - 1) as f64;
    let first = (place as usize).min(CELLS.len() - 2);
    mixed(CELLS[first], CELLS[first + 1], place - first as f64)
}

fn mixed(one: Color, other: Color, part: f64) -> Color {
    let mix =
        |one: u8, other: u8| (f64::from(one) + (f64::from(other) - f64::from(one)) * part).round() as u8;
    Color(mix(one.0, other.0), mix(one.1, other.1), mix(one.2, other.2))
}
