//! Error function by the rational approximations of the Cephes library, which SciPy and ROOT's `TMath` use as
//! well.

/// Bound on x² beyond which exp(-x²) is treated as 0.
const LARGEST_EXPONENT: f64 = 7.097_827_128_933_84e2;

// Coefficients for erfc(x), 1 ≤ x < 8.
const P: [f64; 9] = [
    2.461_969_814_735_305e-10,
    5.641_895_648_310_689e-1,
    7.463_210_564_422_699,
    4.863_719_709_856_814e1,
    1.965_208_329_560_770_8e2,
    5.264_451_949_954_773e2,
    9.345_285_271_719_576e2,
    1.027_551_886_895_157_2e3,
    5.575_353_353_693_994e2,
];
const Q: [f64; 8] = [
    1.322_819_511_547_449_8e1,
    8.670_721_408_859_897e1,
    3.549_377_788_878_199e2,
    9.757_085_017_432_055e2,
    1.823_909_166_879_097_3e3,
    2.246_337_608_187_109_7e3,
    1.656_663_091_941_613_3e3,
    5.575_353_408_177_277e2,
];
// Coefficients for erfc(x), x ≥ 8.
const R: [f64; 6] = [
    5.641_895_835_477_551e-1,
    1.275_366_707_599_781,
    5.019_050_422_511_804,
    6.160_210_979_930_536,
    7.409_742_699_504_489,
    2.978_866_653_721_002_4,
];
const S: [f64; 6] = [
    2.260_528_632_201_172_6,
    9.396_035_249_380_015,
    1.204_895_398_080_966_6e1,
    1.708_144_507_475_659e1,
    9.608_968_090_632_859,
    3.369_076_451_000_815,
];
// Coefficients for erf(x), x ≤ 1.
const T: [f64; 5] = [
    9.604_973_739_870_516,
    9.002_601_972_038_427e1,
    2.232_005_345_946_843e3,
    7.003_325_141_128_051e3,
    5.559_230_130_103_949e4,
];
const U: [f64; 5] = [
    3.356_171_416_475_031e1,
    5.213_579_497_801_527e2,
    4.594_323_829_709_801e3,
    2.262_900_006_138_909e4,
    4.926_739_426_086_359e4,
];

fn polynomial(x: f64, first: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().fold(first, |sum, coefficient| sum * x + coefficient)
}

pub(super) fn erf(x: f64) -> f64 {
    if x.abs() > 1.0 {
        return 1.0 - erfc(x);
    }
    let square = x * x;
    x * polynomial(square, T[0], &T[1..]) / polynomial(square, 1.0, &U)
}

pub(super) fn erfc(x: f64) -> f64 {
    let size = x.abs();
    if size < 1.0 {
        return 1.0 - erf(x);
    }
    let far = if x < 0.0 { 2.0 } else { 0.0 };
    let exponent = -x * x;
    if exponent < -LARGEST_EXPONENT {
        return far;
    }
    let (over, under) = match size < 8.0 {
        true => (polynomial(size, P[0], &P[1..]), polynomial(size, 1.0, &Q)),
        false => (polynomial(size, R[0], &R[1..]), polynomial(size, 1.0, &S)),
    };
    let tail = exponent.exp() * over / under;
    if x < 0.0 { 2.0 - tail } else { tail }
}
