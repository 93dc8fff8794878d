//! Quantiles of the normal distribution by algorithm AS 241 (Wichura 1988), like Python's
//! `statistics.NormalDist`.

/// Returns the quantile of the standard normal distribution for a probability between 0 and 1.
pub(super) fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return polynomial(&CENTRAL[0], r) * q / polynomial(&CENTRAL[1], r);
    }
    let r = (-(if q <= 0.0 { p } else { 1.0 - p }).ln()).sqrt();
    let x = if r <= 5.0 {
        polynomial(&MIDDLE[0], r - 1.6) / polynomial(&MIDDLE[1], r - 1.6)
    } else {
        polynomial(&TAIL[0], r - 5.0) / polynomial(&TAIL[1], r - 5.0)
    };
    if q < 0.0 { -x } else { x }
}

/// Evaluates a polynomial by Horner's rule, from the highest power down.
fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients[1..].iter().fold(coefficients[0], |sum, next| sum * x + next)
}

/// Numerator and denominator for probabilities within 0.425 of a half.
const CENTRAL: [[f64; 8]; 2] = [
    [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    [
        5_226.495_278_852_854,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
        1.0,
    ],
];
/// Numerator and denominator for probabilities down to exp(-25).
const MIDDLE: [[f64; 8]; 2] = [
    [
        0.000_774_545_014_278_341_4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-09,
        0.000_547_593_808_499_534_5,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
];
/// Numerator and denominator for smaller probabilities.
const TAIL: [[f64; 8]; 2] = [
    [
        2.010_334_399_292_288_1e-07,
        2.711_555_568_743_487_6e-05,
        0.001_242_660_947_388_078_4,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_7e-15,
        1.421_511_758_316_446e-07,
        1.846_318_317_510_054_8e-05,
        0.000_786_869_131_145_613_3,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_888,
        1.0,
    ],
];

#[cfg(test)]
mod tests {
    #[test]
    fn quantiles_are_those_of_python() {
        // The expected values are those of `statistics.NormalDist().inv_cdf` in CPython 3.11.
        for (p, expected) in [
            (0.5, 0.0),
            (0.6, 0.253_347_103_135_799_8),
            (0.9, 1.281_551_565_544_600_8),
            (0.925, 1.439_531_470_938_456),
            (0.95, 1.644_853_626_951_471_5),
            (0.9999, 3.719_016_485_455_708_4),
            (0.999999999999, 7.034_486_910_047_835_6),
            (1e-300, -37.047_096_299_361_2),
            (0.3, -0.524_400_512_708_040_7),
            (0.02, -2.053_748_910_631_822_5),
            (5e-324, -38.467_405_617_144_34),
            (1e-10, -6.361_340_902_404_056),
        ] {
            assert_eq!(super::quantile(p), expected, "{p}");
        }
    }
}
