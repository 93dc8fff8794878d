//! Ranges of axes found from entries, equal to those of `THLimitsFinder` to the last bit.

/// Number of bins and edges of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Number of bins.
    pub bins: i64,
    /// Lower edge.
    pub low: f64,
    /// Upper edge.
    pub high: f64,
}

/// Returns the range of an axis of about `bins` bins for entries between `low` and `high`.
///
/// With `integer`, the width of the bins is an integer. The range of a `labelled` axis begins at 0 if entries
/// do not determine one.
#[must_use]
pub fn find_range(bins: i64, mut low: f64, mut high: f64, integer: bool, labelled: bool) -> Range {
    if low >= high {
        (low, high) = if labelled { (0.0, bins as f64) } else { (low - 1.0, high + 1.0) };
    }
    let margin = if integer { 5.0 * (high - low) / bins as f64 } else { 0.1 * (high - low) };
    let least = if low - margin < 0.0 && low >= 0.0 { 0.0 } else { low - margin };
    let most = if high + margin > 0.0 && high <= 0.0 { 0.0 } else { high + margin };
    let [first, last, width] = round_range(least, most, bins);
    if width <= 0.0 || width > 1e39 {
        (low, high) = (-1.0, 1.0);
    } else {
        let margin = 0.01 * (high - low);
        (low, high) = (first.min(low - margin), last.max(high + margin));
    }
    if integer { integer_range(Range { bins, low, high }, least, most) } else { Range { bins, low, high } }
}

/// Converts a range that [`find_range`] found for entries between `low` and `high` to one whose bins have a
/// power of two as their width (`TH1::kAutoBinPTwo`).
#[must_use]
pub fn powers_of_two(found: Range, low: f64, high: f64) -> Range {
    let Range { bins, low: mut least, high: mut most } = found;
    if most.abs() > least.abs() {
        most = power_beside(most, true);
        least = most - power_beside(most - least, true);
    } else {
        least = power_beside(least, false);
        most = least + power_beside(most - least, true);
    }
    let wanted = (most - least) / (high - low) * bins as f64;
    if wanted.is_nan() || wanted >= f64::from(MOST_POWER) {
        return Range { bins: i64::from(MOST_POWER), low: least, high: most };
    }
    let mut bins = wanted as i64;
    let (fraction, power) = fraction_and_power(bins as f64);
    if (fraction - 0.5).abs() > 0.001 {
        bins = 1 << power.clamp(0, 62);
    }
    let width = (most - least) / bins as f64;
    let free = (bins as f64 * FREE) as i64;
    // Removes or adds bins until a certain fraction is free on each side.
    let even = |bins: f64| bins as i64 + (bins as i64).rem_euclid(2);
    let above = even((most - high) / width);
    most -= width * (above - free) as f64;
    bins -= above - free;
    let below = even((low - least) / width);
    least += width * (below - free) as f64;
    bins -= below - free;
    Range { bins, low: least, high: most }
}

/// Returns the next power of two, positive or negative, above or below a number.
fn power_beside(number: f64, up: bool) -> f64 {
    let (fraction, power) = fraction_and_power(number);
    let is_beyond = if up { number > 0.0 } else { number <= 0.0 };
    power_of_two(if is_beyond { power } else { power - 1 }).copysign(fraction)
}

/// Splits a finite number into a fraction, which is 0 or from 0.5 to below 1, and a power of two.
fn fraction_and_power(number: f64) -> (f64, i32) {
    if number == 0.0 || !number.is_finite() {
        return (number, 0);
    }
    let exponent = |number: f64| ((number.to_bits() >> 52) & 0x7ff) as i32;
    // Subnormal numbers have no exponent; they are scaled first.
    let (scaled, shift) = if exponent(number) == 0 { (number * power_of_two(54), 54) } else { (number, 0) };
    let power = exponent(scaled) - 1022;
    let fraction = f64::from_bits(scaled.to_bits() & !(0x7ff << 52) | (1022 << 52));
    (fraction, power - shift)
}

fn power_of_two(power: i32) -> f64 {
    match power {
        -1022..=1023 => f64::from_bits(((power + 1023) as u64) << 52),
        -1074..=-1023 => f64::from_bits(1 << (power + 1074)),
        ..=-1075 => 0.0,
        _ => f64::INFINITY,
    }
}

/// Rounds a range to integers, with an integral width of bins.
fn integer_range(Range { bins, mut low, mut high }: Range, least: f64, most: f64) -> Range {
    // Adding 0 makes -0 positive.
    let (down, up) = (low.trunc() + 0.0, high.trunc() + 0.0);
    low = if low < 0.0 && low != down { down - 1.0 } else { down };
    high = if high == 0.0 {
        1.0
    } else if high < 0.0 || high == up {
        up
    } else {
        up + 1.0
    };
    if low >= high {
        high = low + 1.0;
    }
    let width = ((high - low) / bins as f64).trunc().max(1.0);
    let mut bins = ((high - low) / width) as i64;
    if low + bins as f64 * width < most {
        bins = bins.saturating_add(1);
        high = low + bins as f64 * width;
    }
    if low > least {
        bins = bins.saturating_add(1);
        low = high - bins as f64 * width;
    }
    Range { bins, low, high }
}

/// Returns both edges and the width of about `bins` bins whose width is 1, 2 or 5 times a power of ten.
fn round_range(least: f64, mut most: f64, bins: i64) -> [f64; 3] {
    if least == most {
        most += 1.0;
    }
    let mut parts = bins.max(2);
    let (low, high, width) = loop {
        let share = (most - least) / parts as f64;
        if !(share > 0.0 && share < f64::from(f32::MAX)) {
            return [0.0; 3];
        }
        let mut power = share.log10() as i32;
        if power.abs() > 200 {
            return [0.0, 1.0, 0.01];
        }
        if share <= 1.0 {
            power -= 1;
        }
        let leading = share * 10.0_f64.powf(f64::from(-power)) - 1e-10;
        let number = [1.0, 2.0, 5.0].into_iter().find(|number| leading <= *number);
        let (number, power) = number.map_or((1.0, power + 1), |number| (number, power));
        let width = number * 10.0_f64.powf(f64::from(power));
        if (least / width).abs() > 1e9 {
            return [least, most, width];
        }
        let (begin, end) = (least / width, most / width + 1.000_01);
        let floor = |number: f64| number as i64 - i64::from(number < 0.0);
        let (first, last) = (floor(begin), floor(end));
        if bins > 5 && 2 * (last - first) == bins {
            parts += 1;
            continue;
        }
        let edges = (width * first as f64, width * last as f64);
        let is_single = bins == 1 && last - first != 1;
        break (edges.0, edges.1, if is_single { width * 2.0 } else { width });
    };
    // Drops an empty bin at each end, unless no bin would remain.
    let near = width * 0.0001;
    let begin = if least - low >= near { low + width } else { low };
    let end = if high - most >= near { high - width } else { high };
    if begin >= end { [low, high, width] } else { [begin, end, width] }
}

/// Upper bound on the bins of a range whose bins have a power of two as their width.
const MOST_POWER: u32 = 1 << 30;
/// Fraction of bins that ROOT leaves free on each side of such a range (`Hist.Binning.Auto` of a `.rootrc`).
const FREE: f64 = 0.05;

#[cfg(test)]
#[allow(
    clippy::inconsistent_digit_grouping,
    clippy::unreadable_literal,
    reason = "numbers as C++ ROOT prints them"
)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_bins_are_those_of_root() {
        // The expected edges are those of `TH1D("h", "", bins, 0, 0)` in C++ ROOT 6.40, filled with these two
        // entries and emptied.
        for (bins, [low, high], edges) in [
            (10, [1.5, 3.5], [1.48, 3.52]),
            (100, [-3.7, 12.25], [-5.2, 13.8]),
            (1, [0.001, 0.002], [0.0, 0.003]),
            (6, [5.0, 5.0], [3.98, 6.02]),
            (7, [-1e-9, 3e12], [-3e10, 3.03e12]),
            (40, [-8.0, -2.0], [-8.6, -1.400_000_000_000_000_1]),
            (3, [1e10, 1e10 + 2.0], [9_999_999_999.8, 10_000_000_002.2]),
            (20, [0.0, 19.0], [-0.19, 20.0]),
        ] {
            let expected = Range { bins, low: edges[0], high: edges[1] };
            assert_eq!(find_range(bins, low, high, false, false), expected, "{bins} {low} {high}");
        }
    }

    #[test]
    fn ranges_are_those_of_root() {
        // The expected ranges are those of `THLimitsFinder::OptimizeLimits` in C++ ROOT 6.40.
        for ((bins, low, high, integer), expected) in [
            ((4, -1.0, -1.0, true), (6, -5.0, 1.0)),
            (
                (4, -555_378_866_821.6959, -553_697_628_228.6346, false),
                (4, -555_395_679_207.6266, -553_680_815_842.704),
            ),
            ((95, 90.0, 101.0, false), (95, 89.000_000_000_000_01, 102.0)),
            ((2, -1.245_535_672_304_295_8, 0.081_093_783_166_152_23, true), (2, -5.0, 5.0)),
            (
                (24, 1_604_521_438_250.7776, 1_604_569_735_509.1943, false),
                (24, 1_604_518_000_000.0, 1_604_574_000_000.0),
            ),
            (
                (9, 2.050_209_506_389_312e-12, 2.112_597_021_842_288e-12, false),
                (9, 2.049_585_631_234_782_4e-12, 2.113_220_896_996_817_7e-12),
            ),
            ((62, 4.027_681_946_672_121_5e-07, 4.029_028_125_718_724_7e-07, true), (1, 0.0, 1.0)),
            (
                (3758, -1544.299_169_919_909_4, -1544.297_078_430_530_7, false),
                (3758, -1544.299_379_068_847_4, -1544.296_869_281_593),
            ),
            (
                (7, -0.001_768_181_551_117_017_2, -0.001_768_166_593_323_372_7, false),
                (7, -0.001_768_181_700_694_953_6, -0.001_768_166_443_745_436_3),
            ),
            (
                (2716, 921_925_755_707.0106, 1_072_547_485_824.1545, false),
                (2716, 906_900_000_000.0, 1_087_600_000_000.0),
            ),
            ((4375, -705_123.066_272_287_4, -456_051.115_732_587_3, false), (4375, -730_000.0, -431_200.0)),
            (
                (5786, -405_745_922_552.3999, -405_739_654_991.7143, false),
                (5786, -405_746_548_000.0, -405_739_030_000.0),
            ),
            ((6735, -8.123_147_821_712_56e-13, -8.123_115_738_368_721e-13, true), (1, -1.0, 0.0)),
            (
                (6, -4_510_115.680_702_184, -4_441_560.325_244_761, false),
                (6, -4_510_801.234_256_758, -4_440_000.0),
            ),
            (
                (4, 658.368_788_321_171_5, 676.784_860_145_823_2, false),
                (4, 658.184_627_602_924_9, 676.969_020_864_069_8),
            ),
            (
                (7, -1.069_849_303_890_554_3e-07, 0.0, false),
                (7, -1.080_547_796_929_459_8e-07, 1.069_849_303_890_554_2e-09),
            ),
            (
                (159, -243_434_187.459_446_43, -243_419_843.485_892_74, true),
                (162, -243_434_695.0, -243_419_305.0),
            ),
            (
                (3, 2.429_188_514_289_493e-06, 5.618_284_595_456_02e-06, false),
                (3, 2.397_297_553_477_827_6e-06, 5.650_175_556_267_685e-06),
            ),
            (
                (239, 1_208_598_245.888_291, 12_528_263_057.321_697, true),
                (241, 950_836_821.0, 12_799_162_960.0),
            ),
            ((1063, 78_619_380.838_849_6, 78_620_464.466_228_2, false), (1063, 78_619_274.0, 78_620_572.0)),
            ((3649, -8784.861_738_573_316, 12117.109_016_901_457, false), (3649, -10870.0, 14200.0)),
            ((3, 0.0, 4.032_130_125_830_448_5e-07, true), (2, -1.0, 1.0)),
            (
                (917, 8.404_135_500_894_368e-07, 8.410_154_120_649_449e-07, false),
                (917, 8.40354e-07, 8.410_749_999_999_999e-07),
            ),
            (
                (2775, -7_730_336.795_025_561, -7_674_662.871_816_428, true),
                (2839, -7_730_894.0, -7_674_106.0),
            ),
        ] {
            let Range { bins: found, low: first, high: last } = find_range(bins, low, high, integer, false);
            assert_eq!((found, first, last), expected, "{bins} {low} {high}");
        }
    }

    #[test]
    fn powers_of_two_are_exact() {
        for power in [-1074, -1073, -1023, -1022, -1, 0, 1, 1023] {
            let number = power_of_two(power);
            assert_eq!(fraction_and_power(number), (0.5, power + 1), "{power}");
            assert_eq!(fraction_and_power(-number * 1.0), (-0.5, power + 1), "{power}");
        }
        assert_eq!(fraction_and_power(6.0), (0.75, 3));
        assert_eq!(fraction_and_power(0.0), (0.0, 0));
    }
}
