//! Members that may be left out, and their values in a new object of ROOT.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::Given;

/// Values by the names of members, which are alike in all classes that have them.
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
    // Those that objects of earlier versions of ROOT do not have.
    ("fBits2", 0), ("fBinStatErrOpt", 0), ("fStatOverflows", 2),
];
