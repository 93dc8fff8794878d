//! Classes within classes, and those that contain themselves: how deep they are looked into.

use forthwith_program::Layout;

use super::budget::{MAX_MEMBERS, MAX_RECURSIVE_MEMBERS, too_many};
use super::{Classes, Unsupported};
use crate::class;
use crate::streamer::{Element, StreamerInfo};

impl Classes<'_> {
    /// An object where there may be none: one that has levels enough is an error where it is met.
    pub(super) fn contained(&mut self, class: &str) -> Result<Layout, Unsupported> {
        self.cut_short = false;
        match self.beyond(|classes| classes.object(class)) {
            Err(why) if std::mem::take(&mut self.cut_short) => Ok(Layout::Refused(why)),
            other => other,
        }
    }

    /// A value behind a list or a pointer: it may be of a class that is around it.
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

    /// Whether a class is the one whose members are being looked at.
    pub(super) fn is_own(&self, class: &str) -> bool {
        self.within.last().is_some_and(|last| **last == *class)
    }

    /// An object of the class whose members are being looked at: once more, as long as that is not many
    /// members.
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

    /// The members of a class.
    pub(super) fn record(&mut self, layout: &class::Layout) -> Result<Layout, Unsupported> {
        let info = &layout.info;
        let class = &info.class;
        let times = |of: &[Box<str>]| of.iter().filter(|outer| *outer == class).count();
        // By value, with nothing between that could end it.
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

    /// A class that is there again by way of others, as long as there are not levels enough of it.
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

    /// The members of a class within one that is there again.
    fn unwind(&mut self, info: &StreamerInfo) -> Result<(), Unsupported> {
        let size = u32::try_from(info.elements.len()).unwrap_or(u32::MAX).saturating_add(1);
        match self.budget.recursive_members_left.checked_sub(size) {
            Some(left) => self.budget.recursive_members_left = left,
            None => {
                // All of it is too much, and is looked at with fewer levels.
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

/// Why a class has no more levels.
fn contains_itself(class: &str, levels: usize) -> String {
    let plural = if levels == 1 { "" } else { "s" };
    format!("{class}, which contains itself, more than {levels} level{plural} deep")
}

/// Why an object is not looked at: nearer ones are, and all together would be too many.
fn too_far(class: &str, indirections: usize) -> String {
    let (plural, of) = if indirections == 1 { ("", "it") } else { ("s", "them") };
    format!(
        "{class} behind more than {indirections} list{plural} or pointer{plural}, because all classes behind {of} expand to more \
         than {MAX_MEMBERS} members"
    )
}

/// Members of all levels of it.
const MAX_OWN: usize = 256;
/// Classes within classes.
const MAX_DEPTH: usize = 30;
