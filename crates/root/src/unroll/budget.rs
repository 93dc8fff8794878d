//! Limits on the unrolling of classes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// Limits on the unrolling of classes to columns. Classes may contain themselves, and others in so many ways
/// that the number of their members is unbounded; a column has a finite type.
///
/// [`Budget::widest`] reduces the limits until a column has a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Maximum depth of a class with pointers to itself, or items of itself.
    pub(super) own_levels: usize,
    /// Maximum depth of a class that contains itself through others.
    pub(super) recursion_depth: usize,
    /// Maximum number of lists and pointers around an object.
    pub(super) indirections: usize,
    /// Maximum number of choices of classes around an array whose class only the data name.
    pub(super) nested_choices: usize,
    /// Remaining number of members.
    pub(super) members_left: u32,
    /// Remaining number of members in the items of arrays whose class only the data name.
    pub(super) array_members_left: u32,
    /// Remaining number of members in classes that contain themselves through others.
    pub(super) recursive_members_left: u32,
}

/// Observations made while unrolling, on which the next budget depends.
#[derive(Debug, Default)]
pub struct Noted {
    /// Whether there was an array for which the file describes one class.
    pub one_item_class: Cell<bool>,
    /// Classes that the file describes for arrays for which it describes several.
    pub item_classes: RefCell<BTreeSet<String>>,
    /// Whether a class contains itself through others.
    pub(super) recurses: Cell<bool>,
    /// Whether such classes exceeded their number of members.
    pub(super) recursion_spent: Cell<bool>,
    /// Whether all classes exceeded the number of members.
    pub(super) members_spent: Cell<bool>,
}

impl Budget {
    /// The first budget to try.
    pub(super) const FULL: Self = Self {
        own_levels: MAX_LEVELS,
        recursion_depth: MAX_LEVELS,
        indirections: usize::MAX,
        nested_choices: MAX_CHOICES,
        members_left: MAX_MEMBERS,
        array_members_left: MAX_ARRAY_MEMBERS,
        recursive_members_left: MAX_RECURSIVE_MEMBERS,
    };

    /// Budget if recursive classes and nested choices exceeded the limits: one level of each.
    const SHALLOW: Self = Self { own_levels: 1, recursion_depth: 1, nested_choices: 1, ..Self::FULL };

    /// Calls `unroll` with decreasing budgets until the result has a type. Returns that result, or the one of
    /// the last budget.
    ///
    /// # Errors
    /// Returns the first error of `unroll`.
    pub fn widest<T, E>(
        noted: &mut Noted,
        mut unroll: impl FnMut(Self, &Noted) -> Result<T, E>,
        gave_type: impl Fn(&T) -> bool,
    ) -> Result<T, E> {
        let mut budget = Self::FULL;
        loop {
            if !budget.is_shallow() {
                *noted = Noted::default();
            }
            let made = unroll(budget, noted)?;
            match budget.narrower(gave_type(&made), noted) {
                Some(narrower) => budget = narrower,
                None => return Ok(made),
            }
        }
    }

    /// Returns the next budget to try, or `None` if the result is final.
    fn narrower(self, gave_type: bool, noted: &Noted) -> Option<Self> {
        if self.is_shallow() {
            // Objects that are further away matter less.
            let indirections = self.indirections.min(MAX_INDIRECTIONS + 1) - 1;
            let helps = !gave_type && noted.members_spent.get() && indirections > 0;
            return helps.then_some(Self { indirections, ..self });
        }
        if gave_type && !noted.recursion_spent.get() {
            return None;
        }
        // Fewer levels only help if a class is recursive.
        let fewer = self.recursion_depth - 1;
        let helps = fewer > 0 && (gave_type || noted.recurses.get());
        Some(if helps { Self { recursion_depth: fewer, ..self } } else { Self::SHALLOW })
    }

    /// Returns whether this is one of the last budgets to try.
    const fn is_shallow(self) -> bool {
        self.own_levels == 1
    }
}

/// Returns the reason why a class is not unrolled.
pub(super) fn too_many(class: &str, limit: u32) -> String {
    format!("{class}, which expands to more than {limit} members")
}

/// Maximum depth of a class that contains itself.
const MAX_LEVELS: usize = 4;
/// Maximum number of lists and pointers around objects, if there would be too many otherwise.
const MAX_INDIRECTIONS: usize = 3;
/// Maximum number of choices around an array that is a choice, too.
const MAX_CHOICES: usize = 3;
/// Maximum number of members of a class, including all that it contains.
pub(super) const MAX_MEMBERS: u32 = 20_000;
/// Maximum number of members of the items of arrays within choices.
pub(super) const MAX_ARRAY_MEMBERS: u32 = 2_000;
/// Maximum number of members of such items within further choices.
pub(super) const MAX_DEEP_ARRAY_MEMBERS: u32 = 300;
/// Maximum number of members of classes that contain themselves through others, except their first level.
pub(super) const MAX_RECURSIVE_MEMBERS: u32 = 1_400;

#[cfg(test)]
mod tests {
    use super::{Budget, Noted};

    /// All that is tried for a branch where nothing gives a type.
    fn tries(noted: &Noted) -> Vec<(usize, usize)> {
        let tries = std::iter::successors(Some(Budget::FULL), |budget| budget.narrower(false, noted));
        tries.map(|budget| (budget.recursion_depth, budget.indirections)).collect()
    }

    #[test]
    fn tries_end_and_are_only_those_that_can_help() {
        let all = usize::MAX;
        let noted = Noted::default();
        assert_eq!(tries(&noted), [(4, all), (1, all)]);
        assert_eq!(Budget::FULL.narrower(true, &noted), None);
        noted.members_spent.set(true);
        assert_eq!(tries(&noted), [(4, all), (1, all), (1, 3), (1, 2), (1, 1)]);
        noted.recurses.set(true);
        let with_levels = [(4, all), (3, all), (2, all), (1, all), (1, all), (1, 3), (1, 2), (1, 1)];
        assert_eq!(tries(&noted), with_levels);
        noted.recursion_spent.set(true);
        assert_eq!(Budget::FULL.narrower(true, &noted).map(|budget| budget.recursion_depth), Some(3));
    }
}
