//! The part of a check of a file for ntuples.

use crate::ntuple::{Ntuple, Options};
use forthwith_plan::Dataset;
use forthwith_root::{Check, Found, Key, Objects, TableCheck};

/// The part of a check of a file that finds attribute sets.
#[derive(Clone, Copy, Debug, Default)]
pub struct NtupleCheck;

impl TableCheck for NtupleCheck {
    fn is_table(&self, class: &str) -> bool {
        Ntuple::is_ntuple(class)
    }

    fn check(&mut self, path: &str, key: &Key, _: Objects, check: &mut Check<'_>) {
        let found = Found { path: path.to_owned(), key: key.clone() };
        // Errors are reported when the ntuple's pages are read.
        let Ok(ntuple) = Ntuple::open(check.file(), &found, Options::default()) else { return };
        for set in ntuple.attribute_sets() {
            let name = path.rfind('/').map_or(set.clone(), |at| format!("{}/{set}", &path[..at]));
            check.hides(format!("{name};1"));
        }
    }
}
