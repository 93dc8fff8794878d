//! Default values of members that may be omitted, as in a new object of ROOT.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::Given;

/// Returns default values by the names of members. They do not depend on the class.
pub(super) fn defaults() -> &'static BTreeMap<&'static str, Given> {
    static DEFAULTS: OnceLock<BTreeMap<&'static str, Given>> = OnceLock::new();
    DEFAULTS.get_or_init(|| {
        let whole = WHOLE.iter().map(|&(name, value)| (name, Given::Int(value)));
        let texts = ["fTitle", "fOption"].map(|name| (name, Given::Text(String::new())));
        // Labels of an axis.
        let pointers = ["fLabels", "fModLabs"].map(|name| (name, Given::Null));
        whole.chain(texts).chain(pointers).chain([("fMarkerSize", Given::Float(1.0))]).collect()
    })
}

#[rustfmt::skip]
const WHOLE: &[(&str, i64)] = &[
    ("fLineColor", 602), ("fLineStyle", 1), ("fLineWidth", 1),
    ("fFillColor", 0), ("fFillStyle", 1001),
    ("fMarkerColor", 1), ("fMarkerStyle", 1),
    // Objects of earlier versions of ROOT lack these.
    ("fBits2", 0), ("fBinStatErrOpt", 0), ("fStatOverflows", 2),
];
