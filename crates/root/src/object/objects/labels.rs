//! Labels of members: names that distinguish a member from those that it hides.

use std::collections::HashSet;
use std::ops::Range;

use forthwith_columns::qualified_names;

use super::Object;
use crate::object::steps::BaseSpan;

impl<'a> Object<'a> {
    /// Returns unique labels of the members in these slots, which are all or those of a base: the name, or
    /// `Base::name` for a member of a base if another base or the class itself has the same name. Returns
    /// `None` if all names differ.
    #[must_use]
    pub fn labels(self, slots: Range<usize>) -> Option<Vec<String>> {
        let (steps, _) = self.steps()?;
        let names = steps.names.get(slots.clone())?;
        let mut seen = HashSet::with_capacity(names.len());
        if names.iter().all(|name| seen.insert(name)) {
            return None;
        }
        let slots = slots.start as u32..slots.end as u32;
        let is_window = |span: &BaseSpan| span.begin == slots.start && span.end == slots.end;
        let inner = match steps.bases.iter().position(is_window) {
            Some(window) => &steps.bases[window + 1..],
            None => &steps.bases,
        };
        Some(labelled(&steps.names, inner, slots))
    }
}

/// Returns the labels of the members of a class. `bases` begins with the spans of its bases, each before
/// those of its own bases.
fn labelled(names: &[Box<str>], bases: &[BaseSpan], slots: Range<u32>) -> Vec<String> {
    let mut members: Vec<(Option<&str>, String)> = Vec::new();
    let own = |slots: Range<u32>| {
        names[slots.start as usize..slots.end as usize].iter().map(|name| (None, name.to_string()))
    };
    let (mut at, mut rest) = (slots.start, bases);
    while let Some(next) = rest.iter().position(|span| span.begin >= at && span.end > span.begin) {
        let (base, inner) = (&rest[next], &rest[next + 1..]);
        if base.end > slots.end {
            break;
        }
        members.extend(own(at..base.begin));
        let labels = labelled(names, inner, base.begin..base.end);
        members.extend(labels.into_iter().map(|label| (Some(&*base.class), label)));
        (at, rest) = (base.end, inner);
    }
    members.extend(own(at..slots.end));
    qualified_names(members)
}
