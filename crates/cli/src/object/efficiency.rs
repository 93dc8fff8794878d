//! Describes how efficiencies were estimated.

use forthwith::hist::Efficiency;

/// Returns a description of the estimator of an efficiency.
pub(super) fn method(efficiency: &Efficiency) -> String {
    let Some(posterior) = &efficiency.posterior else { return "passed over total".into() };
    let which = if posterior.is_mode { "mode" } else { "mean" };
    let prior = if posterior.bin_priors.is_empty() {
        format!("prior beta({}, {})", posterior.prior.0, posterior.prior.1)
    } else {
        "priors of each bin".into()
    };
    format!("{which} of the posterior, {prior}")
}

#[cfg(test)]
mod tests {
    use super::super::binned::Binned;
    use forthwith::{File, root::Objects};
    use std::path::Path;

    /// Compares every statistic, prior and weight with results of C++ ROOT.
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
                // In the reference, the last axis varies fastest.
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
