//! How far classes are unrolled.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// How far classes are unrolled to columns. Classes may contain themselves, and others in so many ways that
/// the number of their members has no bound; a column has a finite type.
///
/// [`Budget::widest`] tries narrower ones until a column has a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Levels of a class that has pointers to itself, or items of itself.
    pub(super) own_levels: usize,
    /// Levels of a class that contains itself by way of others.
    pub(super) recursion_depth: usize,
    /// Lists and pointers that an object may be behind.
    pub(super) indirections: usize,
    /// Values of several possible classes around an array whose class only the data name.
    pub(super) nested_choices: usize,
    /// Members that may still be looked at.
    pub(super) members_left: u32,
    /// Of these, members of the items of arrays whose class only the data name, all together.
    pub(super) array_members_left: u32,
    /// Of these, members of classes that are there again by way of others.
    pub(super) recursive_members_left: u32,
}

/// Notes made while classes were unrolled, by which the next try differs.
#[derive(Debug, Default)]
pub struct Noted {
    /// There was an array of which the file describes one class.
    pub one_item_class: Cell<bool>,
    /// The classes that the file describes for arrays of which it describes several.
    pub item_classes: RefCell<BTreeSet<String>>,
    /// A class contains itself by way of others.
    pub(super) recurses: Cell<bool>,
    /// Such classes have more members than the budget has for them.
    pub(super) recursion_spent: Cell<bool>,
    /// All classes together have more members than the budget.
    pub(super) members_spent: Cell<bool>,
}

impl Budget {
    /// The first try.
    pub(super) const FULL: Self = Self {
        own_levels: MAX_LEVELS,
        recursion_depth: MAX_LEVELS,
        indirections: usize::MAX,
        nested_choices: MAX_CHOICES,
        members_left: MAX_MEMBERS,
        array_members_left: MAX_ARRAY_MEMBERS,
        recursive_members_left: MAX_RECURSIVE_MEMBERS,
    };

    /// The try for classes within themselves and choices within choices that were too much: one level of
    /// each.
    const SHALLOW: Self = Self { own_levels: 1, recursion_depth: 1, nested_choices: 1, ..Self::FULL };

    /// The result of `unroll` with the widest budget that gives a type, or with the narrowest.
    ///
    /// # Errors
    /// The first of `unroll`.
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

    /// The next budget to try, after a try that did or did not give a type. `None` if its outcome counts.
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
        // Fewer levels are no help where no class has any.
        let fewer = self.recursion_depth - 1;
        let helps = fewer > 0 && (gave_type || noted.recurses.get());
        Some(if helps { Self { recursion_depth: fewer, ..self } } else { Self::SHALLOW })
    }

    /// Whether it is one of the last tries.
    const fn is_shallow(self) -> bool {
        self.own_levels == 1
    }
}

/// Why a class is not unrolled.
pub(super) fn too_many(class: &str, limit: u32) -> String {
    format!("{class}, which expands to more than {limit} members")
}

/// Levels of a class that contains itself.
const MAX_LEVELS: usize = 4;
/// Lists and pointers around objects where all objects would be too many.
const MAX_INDIRECTIONS: usize = 3;
/// Choices around an array that is a choice, too.
const MAX_CHOICES: usize = 3;
/// Members of a class with all it contains.
pub(super) const MAX_MEMBERS: u32 = 20_000;
/// Members of the items of arrays within choices.
pub(super) const MAX_ARRAY_MEMBERS: u32 = 2_000;
/// The same, if these are within other choices.
pub(super) const MAX_DEEP_ARRAY_MEMBERS: u32 = 300;
/// Members of all levels but the first of all classes that contain themselves by way of others.
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
