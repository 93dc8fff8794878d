//! Checks that the baskets of trees exist and can be read.

use std::collections::HashSet;
use std::ops::Range;

use forthwith_plan::{Error, Result, Scratch, Severity};
use forthwith_root::{Check, Key, Objects, TableCheck};

use crate::{
    Tree,
    baskets::{BasketRef, Bytes},
    tree::Inspected,
};

/// The part of [`RootFile::check`](forthwith_root::RootFile::check) for trees: reads the baskets of each
/// branch, without decoding their entries.
///
/// ```
/// use forthwith_root::RootFile;
/// use forthwith_ttree::TreeCheck;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/zmumu.root");
/// let file = RootFile::open(forthwith_io::open(path)?)?;
/// let checked = file.check(&mut [&mut TreeCheck::default()])?;
/// assert!(checked.branches > 0);
/// # Ok::<(), forthwith_plan::Error>(())
/// ```
#[derive(Default)]
pub struct TreeCheck {
    /// Checked baskets: their ranges and entries, and whether entry offsets were checked.
    seen: HashSet<(Range<u64>, Range<u64>, bool)>,
    scratch: Scratch,
}

impl TableCheck for TreeCheck {
    fn is_table(&self, class: &str) -> bool {
        Tree::is_tree(class)
    }

    fn check(&mut self, path: &str, key: &Key, objects: Objects, check: &mut Check<'_>) {
        let label = format!("{path};{}", key.cycle);
        match Tree::of(check.file(), path, objects) {
            Ok(tree) => self.check_tree(&label, &tree, check),
            Err(error) => check.fault("trees", Some(&label), Some(key.seek), &error),
        }
    }
}

impl TreeCheck {
    fn check_tree(&mut self, label: &str, tree: &Tree, check: &mut Check<'_>) {
        let entries = tree.info().entries;
        let (mut longest, mut shorter) = (None, Vec::new());
        for branch in tree.inspect() {
            check.add_branch();
            let place = format!("{label}/{}", branch.path);
            let baskets = match &branch.baskets {
                Ok(baskets) => baskets,
                Err(error) => {
                    let (byte, what) = (error.place.byte, error.kind.to_string());
                    check.find_in(Severity::Damage, "trees", Some(&place), byte, what);
                    continue;
                }
            };
            if baskets.is_empty() {
                continue;
            }
            let held = branch.entries.end - branch.entries.start;
            if held != branch.counted {
                let what = format!("its baskets have {held} entries together, and not {}", branch.counted);
                check.find_in(Severity::Damage, "trees", Some(&place), None, what);
            }
            longest = longest.max(Some(branch.entries.end));
            if branch.entries.end != entries {
                shorter.push(branch.entries.end);
            }
            for basket in baskets {
                let (byte, found) = self.look_at(tree, &branch, basket, check);
                if let Err(error) = found {
                    let what = format!("basket {}: {}", basket.number, error.kind);
                    check.find_in(Check::severity_of(&error), "trees", Some(&place), byte, what);
                }
            }
        }
        match longest {
            Some(longest) if longest < entries => {
                let what =
                    format!("it says that it has {entries} entries, and no branch has more than {longest}");
                check.find_in(Severity::Damage, "trees", Some(label), None, what);
            }
            Some(_) if !shorter.is_empty() => {
                let what = format!(
                    "it has {entries} entries, and {} branches end elsewhere, the first at {}",
                    shorter.len(),
                    shorter[0]
                );
                check.find_in(Severity::Remark, "trees", Some(label), None, what);
            }
            _ => {}
        }
    }

    /// Reads a basket. Returns its position in the file, if it has one, and the result.
    fn look_at(
        &mut self,
        tree: &Tree,
        branch: &Inspected,
        basket: &BasketRef,
        check: &mut Check<'_>,
    ) -> (Option<u64>, Result<()>) {
        match &basket.bytes {
            Bytes::File(range) => {
                (Some(range.start), self.look_at_record(branch, &basket.entries, range, check))
            }
            Bytes::Record(range) => {
                let stored = tree.metadata.objects.payload().get(range.clone()).unwrap_or_default();
                (None, branch.look_at(&basket.entries, stored, &mut self.scratch))
            }
            &Bytes::Nowhere(seek, length) => (None, Err(tree.misplaced(seek, length))),
        }
    }

    /// Checks that a range has a basket, and that it can be read.
    fn look_at_record(
        &mut self,
        branch: &Inspected,
        entries: &Range<u64>,
        range: &Range<u64>,
        check: &mut Check<'_>,
    ) -> Result<()> {
        let at = range.start;
        let key = check.record_at(at).filter(|key| &*key.class_name == "TBasket");
        let Some(key) = key.filter(|key| key.seek == at) else {
            return Err(Error::not_a("a basket", "no record of one"));
        };
        // Older cycles of a tree share its baskets.
        if !self.seen.insert((range.clone(), entries.clone(), branch.asks_bounds())) {
            return Ok(());
        }
        let stored = check.file().source().read_one(range.clone())?;
        let looked = branch.look_at(entries, &stored, &mut self.scratch);
        if looked.as_ref().err().map(Check::severity_of) != Some(Severity::Remark) {
            let stored = u64::from(key.nbytes.unsigned_abs()).saturating_sub(key.keylen.into());
            check.looked_at(at, looked.is_ok().then_some(stored.max(key.objlen.into())));
        }
        looked
    }
}
