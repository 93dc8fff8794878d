//! The ends of an axis that is to be found from entries, as ROOT's `THLimitsFinder` finds them.

/// The ends of an axis of so many bins, for entries between these two.
pub(super) fn limits(bins: i64, mut low: f64, mut high: f64) -> [f64; 2] {
    if low >= high {
        (low, high) = (low - 1.0, high + 1.0);
    }
    let more = 0.1 * (high - low);
    let least = if low - more < 0.0 && low >= 0.0 { 0.0 } else { low - more };
    let most = if high + more > 0.0 && high <= 0.0 { 0.0 } else { high + more };
    let [first, last, width] = rounded(least, most, bins);
    if width <= 0.0 || width > 1e39 {
        return [-1.0, 1.0];
    }
    let margin = 0.01 * (high - low);
    [first.min(low - margin), last.max(high + margin)]
}

/// Both ends and the width of about so many bins whose width is 1, 2 or 5 times a power of ten.
fn rounded(least: f64, mut most: f64, bins: i64) -> [f64; 3] {
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
        let whole = |number: f64| number as i64 - i64::from(number < 0.0);
        let (first, last) = (whole(begin), whole(end));
        if bins > 5 && 2 * (last - first) == bins {
            parts += 1;
            continue;
        }
        let both = (width * first as f64, width * last as f64);
        let single = bins == 1 && last - first != 1;
        break (both.0, both.1, if single { width * 2.0 } else { width });
    };
    // Bins that nothing needs are left out, unless that leaves none.
    let near = width * 0.0001;
    let begin = if least - low >= near { low + width } else { low };
    let end = if high - most >= near { high - width } else { high };
    if begin >= end { [low, high, width] } else { [begin, end, width] }
}

#[cfg(test)]
mod tests {
    use super::limits;

    #[test]
    fn ends_are_those_that_root_finds() {
        // Of TH1D("h", "", bins, 0, 0), filled with these two and emptied by C++ ROOT 6.40.
        for (bins, [low, high], ends) in [
            (10, [1.5, 3.5], [1.48, 3.52]),
            (100, [-3.7, 12.25], [-5.2, 13.8]),
            (1, [0.001, 0.002], [0.0, 0.003]),
            (6, [5.0, 5.0], [3.98, 6.02]),
            (7, [-1e-9, 3e12], [-3e10, 3.03e12]),
            (40, [-8.0, -2.0], [-8.6, -1.400_000_000_000_000_1]),
            (3, [1e10, 1e10 + 2.0], [9_999_999_999.8, 10_000_000_002.2]),
            (20, [0.0, 19.0], [-0.19, 20.0]),
        ] {
            assert_eq!(limits(bins, low, high), ends, "{bins} {low} {high}");
        }
    }
}
