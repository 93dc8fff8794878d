//! Unions: a number, and the layout that it chooses.

use super::FAULT_UNMATCHED;
use super::alternatives::{alternative, arm_member, union_key};
use super::text::{Made, Place, Text, constant, differ};
use crate::layout::{Layout, Union};
use forthwith_columns::Form;

impl Text<'_> {
    pub(super) fn union(&mut self, union: &Union, form: &Form, place: Place<'_>) -> Made {
        let member = place.member;
        let tagged = union.tagged && union.alternatives.len() > 1;
        // The numbers of the data are the tags of the column.
        let plain = union.arms.len() == union.alternatives.len()
            && (0..).zip(&union.arms).all(|(at, arm)| arm.as_ref().is_some_and(|(to, _)| *to == at));
        let key = union_key(form).filter(|_| tagged);
        let store = key.filter(|_| plain).map(|key| format!("{key}-tags"));
        let (head, end) = self.case(store.as_deref());
        self.line(place, head);
        for (number, arm) in union.arms.iter().enumerate() {
            let Some((to, layout)) = arm else {
                let unmatched = self.halt(FAULT_UNMATCHED);
                self.line(place.within(1), format!("{number} of {unmatched} endof"));
                continue;
            };
            let tag = match key {
                Some(key) if !plain => format!(" {}", constant(*to, key, "tags")),
                _ => String::new(),
            };
            self.line(place.within(1), format!("{number} of{tag}"));
            // In a union null is only a tag.
            if !tagged || *layout != Layout::Null {
                let (form, inner) = match tagged {
                    true => (
                        alternative(&union.alternatives, *to, form).ok_or_else(|| differ(member))?,
                        arm_member(&union.alternatives, number, member),
                    ),
                    false => (form, member.to_owned()),
                };
                self.value(layout, form, place.within(2).of(&inner))?;
            }
            self.line(place.within(1), "endof".into());
        }
        self.line(place, end);
        Ok(())
    }
}
