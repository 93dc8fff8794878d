//! Nested classes, and limits for classes that contain themselves.

use forthwith_program::Layout;

use super::budget::{MAX_MEMBERS, MAX_RECURSIVE_MEMBERS, too_many};
use super::{Classes, Unsupported};
use crate::class;
use crate::streamer::{Element, StreamerInfo};

impl Classes<'_> {
    /// Returns the layout of an object that an entry may lack, such as an item. If the budget is exhausted,
    /// only entries that have such objects are errors.
    pub(super) fn contained(&mut self, class: &str) -> Result<Layout, Unsupported> {
        self.cut_short = false;
        match self.beyond(|classes| classes.object(class)) {
            Err(why) if std::mem::take(&mut self.cut_short) => Ok(Layout::Refused(why)),
            other => other,
        }
    }

    /// Calls `make` for a value after a list or pointer, which may be of an enclosing class.
    pub(super) fn beyond<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.value_start, self.within.len());
        self.indirections += 1;
        let made = make(self);
        self.indirections -= 1;
        self.value_start = outer;
        made
    }

    pub(super) fn is_within(&self, class: &str) -> bool {
        self.within.iter().any(|outer| **outer == *class)
    }

    /// Whether a class is the innermost one being unrolled.
    pub(super) fn is_own(&self, class: &str) -> bool {
        self.within.last().is_some_and(|last| **last == *class)
    }

    /// Returns the layout of an object within its own class. Fails if that exceeds the levels or the number
    /// of members.
    pub(super) fn own(&mut self, class: &str) -> Result<Layout, Unsupported> {
        let levels = self.within.iter().filter(|outer| ***outer == *class).count();
        let info = self.file.streamers.latest(class).map_err(|error| error.to_string())?;
        let elements = info.as_ref().map_or(&[][..], |info| &info.elements);
        let is_own = |element: &&Element| {
            let mut words =
                element.type_name.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            words.any(|word| class.rsplit("::").next() == Some(word))
        };
        let ways = elements.iter().filter(is_own).count().max(1);
        let most = (0..=levels as u32).map(|level| ways.saturating_pow(level)).fold(0, usize::saturating_add);
        if levels >= self.budget.own_levels || most.saturating_mul(elements.len()) > MAX_OWN {
            return Err(contains_itself(class, levels));
        }
        self.again.push(class.into());
        let schema = self.beyond(|classes| classes.object(class));
        self.again.pop();
        schema
    }

    /// Returns the layout of a class's members as a record.
    pub(super) fn record(&mut self, layout: &class::Layout) -> Result<Layout, Unsupported> {
        let info = &layout.info;
        let class = &info.class;
        let times = |of: &[Box<str>]| of.iter().filter(|outer| *outer == class).count();
        // No list or pointer is between the class and itself, so it has no end.
        if times(self.within.get(self.value_start..).unwrap_or_default()) > 0 {
            return Err(format!("{class}, which contains itself"));
        }
        if self.recursion_spent {
            return Err(too_many(class, MAX_RECURSIVE_MEMBERS));
        }
        if self.indirections > self.budget.indirections {
            self.cut_short = true;
            return Err(too_far(class, self.budget.indirections));
        }
        let around = times(&self.within);
        let winds = around > times(&self.again);
        self.recursions += usize::from(winds);
        let bound = match winds {
            true => self.wind(info, around),
            false if self.recursions > 0 => self.unwind(info),
            false => Ok(()),
        };
        let bound = bound.and_then(|()| match self.within.len() > MAX_DEPTH {
            true => {
                self.cut_short = self.recursions > 0;
                Err(format!("{class} within {MAX_DEPTH} other classes"))
            }
            false => Ok(()),
        });
        let fields = bound.and_then(|()| {
            self.within.push(class.clone());
            let known = self.counters.len();
            let fields = self.members(layout);
            self.counters.truncate(known);
            self.within.pop();
            fields
        });
        self.recursions -= usize::from(winds);
        Ok(Layout::Record { name: Some(class.to_string()), fields: fields? })
    }

    /// Spends the budget on a class that contains itself through others. Fails if its depth is exceeded.
    fn wind(&mut self, info: &StreamerInfo, around: usize) -> Result<(), Unsupported> {
        if let Some(noted) = self.noted {
            noted.recurses.set(true);
        }
        if around >= self.budget.recursion_depth {
            self.cut_short = true;
            return Err(contains_itself(&info.class, around));
        }
        self.unwind(info)
    }

    /// Spends the budget on the members of a class within a recursive one.
    fn unwind(&mut self, info: &StreamerInfo) -> Result<(), Unsupported> {
        let size = u32::try_from(info.elements.len()).unwrap_or(u32::MAX).saturating_add(1);
        match self.budget.recursive_members_left.checked_sub(size) {
            Some(left) => self.budget.recursive_members_left = left,
            None => {
                // `Budget::widest` tries again with fewer levels.
                if let Some(noted) = self.noted {
                    noted.recursion_spent.set(true);
                }
                (self.recursion_spent, self.budget.recursive_members_left) = (true, 0);
                return Err(too_many(&info.class, MAX_RECURSIVE_MEMBERS));
            }
        }
        Ok(())
    }
}

/// Returns the reason if the depth of a recursive class is exceeded.
fn contains_itself(class: &str, levels: usize) -> String {
    let plural = if levels == 1 { "" } else { "s" };
    format!("{class}, which contains itself, more than {levels} level{plural} deep")
}

/// Returns the reason if an object is behind too many lists and pointers.
fn too_far(class: &str, indirections: usize) -> String {
    let (plural, of) = if indirections == 1 { ("", "it") } else { ("s", "them") };
    format!(
        "{class} behind more than {indirections} list{plural} or pointer{plural}, because all classes behind {of} expand to more \
         than {MAX_MEMBERS} members"
    )
}

/// Maximum number of members of all levels of a class within itself.
const MAX_OWN: usize = 256;
/// Maximum number of enclosing classes.
const MAX_DEPTH: usize = 30;
