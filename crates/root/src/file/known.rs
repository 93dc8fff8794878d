//! Classes of ROOT.

/// Classes of C++ ROOT 6.40 that can be written to files, one in each line, without template arguments.
const CLASSES: &str = include_str!("classes.txt");

/// Returns whether a class is part of C++ ROOT 6.40.
#[must_use]
pub fn is_roots_own(class: &str) -> bool {
    let name = class.split_once('<').map_or(class, |(name, _)| name).trim_end();
    CLASSES.lines().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_only_look_like_those_of_root_are_not() {
        for class in
            ["TH1F", "TObject", "TMatrixT<double>", "TList", "RooRealVar", "ROOT::TIOFeatures", "TRef"]
        {
            assert!(is_roots_own(class), "{class}");
        }
        for class in ["TMyHit", "TH1Mine", "RooMyPdf", "ROOT::Mine", "Readout", "T", "", "th1f"] {
            assert!(!is_roots_own(class), "{class}");
        }
    }
}
