//! Efficiencies as `TEfficiency::GetEfficiency` has them: what passed over all, or the mean or mode of the
//! beta distribution that is known of them, where the object says that its statistics are Bayesian.

use forthwith::root::{Object, Value};

// Bits of `fBits`.
const BAYESIAN: i64 = 1 << 14;
const POSTERIOR_MODE: i64 = 1 << 15;
const BIN_PRIORS: i64 = 1 << 17;
const WEIGHTS: i64 = 1 << 18;

/// The efficiency of each bin, and in words how it was estimated. `None` if the object has no such members.
pub(super) fn estimated(object: Object<'_>, total: &[f64], passed: &[f64]) -> Option<(Vec<f64>, String)> {
    let bits = object.int("fBits")?;
    let pairs = || passed.iter().zip(total);
    if bits & BAYESIAN == 0 {
        let shares = pairs().map(|(passed, all)| if *all == 0.0 { 0.0 } else { passed / all });
        return Some((shares.collect(), "passed over total".into()));
    }
    let is_mode = bits & POSTERIOR_MODE != 0;
    let prior = (object.float("fBeta_alpha")?, object.float("fBeta_beta")?);
    let priors = if bits & BIN_PRIORS == 0 { Vec::new() } else { bin_priors(object, total.len())? };
    let squares: Option<Vec<f64>> = if bits & WEIGHTS == 0 {
        None
    } else {
        // Of no weights nothing is known.
        let kept = object.object("fTotalHistogram")?.array("fSumw2");
        let kept = kept.map(|squares| squares.floats().collect::<Vec<_>>()).unwrap_or_default();
        Some(if kept.len() == total.len() { kept } else { vec![0.0; total.len()] })
    };
    let values = pairs().enumerate().map(|(bin, (passed, all))| {
        // As many entries as the weights are worth.
        let worth = match squares.as_ref().map(|squares| squares[bin]) {
            None => 1.0,
            Some(squares) if squares > 0.0 => all / squares,
            Some(_) => return f64::NAN,
        };
        let (alpha, beta) = priors.get(bin).copied().unwrap_or(prior);
        let (a, b) = (passed * worth + alpha, (all - passed) * worth + beta);
        if is_mode { mode(a, b) } else { mean(a, b) }
    });
    let which = if is_mode { "mode" } else { "mean" };
    let prior = if priors.is_empty() {
        format!("prior beta({}, {})", prior.0, prior.1)
    } else {
        "priors of each bin".into()
    };
    Some((values.collect(), format!("{which} of the posterior, {prior}")))
}

/// The priors of bins that have their own, the first of all bins.
fn bin_priors(object: Object<'_>, bins: usize) -> Option<Vec<(f64, f64)>> {
    let number = |value: Value<'_>| if let Value::Float(number) = value { Some(number) } else { None };
    let pair = |value: Value<'_>| match value {
        Value::Object(pair) => Some((pair.float("first")?, pair.float("second")?)),
        Value::List(mut pair) => Some((number(pair.next()?)?, number(pair.next()?)?)),
        Value::Array(pair) => {
            let mut pair = pair.floats();
            Some((pair.next()?, pair.next()?))
        }
        _ => None,
    };
    match object.member("fBeta_bin_params")? {
        Value::List(pairs) => pairs.take(bins).map(pair).collect(),
        Value::Objects(pairs) => {
            pairs.take(bins).map(|one| pair(one.map_or(Value::Null, Value::Object))).collect()
        }
        _ => None,
    }
}

fn mean(a: f64, b: f64) -> f64 {
    if a + b > 0.0 { a / (a + b) } else { 0.0 }
}

fn mode(a: f64, b: f64) -> f64 {
    if a <= 0.0 || b <= 0.0 {
        0.0
    } else if a > 1.0 && b > 1.0 {
        (a - 1.0) / (a + b - 2.0)
    } else if a == b {
        0.5
    } else {
        f64::from(u8::from(a > b))
    }
}

#[cfg(test)]
mod tests {
    use super::super::binned::Binned;
    use forthwith::{File, root::Objects};
    use std::path::Path;

    /// Of every statistic, prior and weight, as C++ ROOT has them.
    #[test]
    fn efficiencies_are_those_of_root() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
        let golden = std::fs::read(data.join("efficiencies.root.bins.json")).expect("a golden");
        let golden: serde_json::Value = serde_json::from_slice(&golden).expect("JSON");
        let file = File::open(data.join("efficiencies.root")).expect("a file");
        let (mut bayesian, mut checked) = (0, 0);
        for (name, expected) in golden.as_object().expect("an object") {
            let object = file.object(name).expect("an object");
            let top = object.own::<Objects>().expect("objects").top();
            let binned = Binned::of(top).expect("an efficiency");
            bayesian += usize::from(binned.words().contains("posterior"));
            let expected = expected["values"].as_array().expect("values");
            assert_eq!(binned.contents.len(), expected.len(), "{name}");
            for (bin, expected) in expected.iter().enumerate() {
                // There, the last axis runs fastest.
                let at = match &binned.axes[..] {
                    [x, y] => bin / (y.bins + 2) + bin % (y.bins + 2) * (x.bins + 2),
                    _ => bin,
                };
                let (found, wanted) = (binned.contents[at], expected.as_str().expect("text"));
                let wanted: f64 = wanted.parse().expect("a number");
                let same = (found - wanted).abs() < 1e-12 || found.is_nan() && wanted.is_nan();
                assert!(same, "{name} bin {bin}: {found}, not {wanted}");
                checked += 1;
            }
        }
        assert!(checked > 100 && bayesian > 10, "{checked} {bayesian}");
    }
}
