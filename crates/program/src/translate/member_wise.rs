//! Items that are stored member-wise: the first field of all items, then the second.

use super::{
    FAULT_COUNT, Unsupported,
    counted::slot,
    forms::{forms, numbers, times},
    literal, parser,
    shape::{join, path},
    text::{Made, Place, Text, differ},
};
use crate::layout::Layout;
use forthwith_columns::Form;

impl Text<'_> {
    /// Writes the words that read a list stored member-wise. `key` is its node, and `number` are the words
    /// that leave its length on the stack.
    pub(super) fn columns(
        &mut self,
        item: &Layout,
        (key, number): (&str, &str),
        content: &Form,
        place: Place<'_>,
    ) -> Made {
        let member = place.member;
        let count = self.variable("count_");
        let begin = format!("{number} dup {key}-offsets +<- stack dup {count} !");
        let check = self.weigh_together(item.least_together(), member)?;
        self.line(place, format!("{begin} {check}"));
        // An empty list stores nothing, not even frames.
        self.line(place, format!("{count} @ if"));
        self.each(item, content, &count, place.within(1).of(&format!("{member}[]")))?;
        self.line(place, "then".into());
        Ok(())
    }

    /// Returns the words that take a count of items from the stack and check that the input has at least
    /// `least` bytes for each.
    pub(super) fn weigh_together(&mut self, least: u64, member: &str) -> Result<String, Unsupported> {
        if least == 0 {
            return Ok(format!("{}drop", self.weigh(0)));
        }
        let (input, bad) = (self.input(), self.halt(FAULT_COUNT));
        let least = literal(least.min(1 << 20), member)?;
        Ok(format!("{least} * {input} len {input} pos - > if {bad} then"))
    }

    /// Writes the words that read one value for each of `count` items.
    pub(super) fn each(&mut self, layout: &Layout, form: &Form, count: &str, place: Place<'_>) -> Made {
        let member = place.member;
        let input = self.input();
        match (layout, form) {
            (Layout::Framed { shared: true, of }, form) => {
                let end = self.open_frame(place);
                self.each(of, form, count, place)?;
                self.close_frame(&end, place);
            }
            (Layout::Versioned(arms), form) => {
                self.versioned(arms, place, &mut |text, arm, place| text.each(arm, form, count, place))?;
            }
            // A base has no frame here. Within `Between`, even an empty one, each item has the base with its
            // frame.
            (Layout::Base(of), form) if let Some(record) = of.record() => {
                self.each(record, form, count, place)?;
            }
            (
                Layout::Record { fields, .. } | Layout::Arranged { fields, .. },
                Form::Record { contents, .. },
            ) => {
                for ((name, field), form) in fields.iter().zip(forms(layout, fields, contents)) {
                    let inner = path(member, name, field);
                    match form {
                        Some(form) => self.each(field, &form, count, place.of(&inner))?,
                        None => self.skip_each(field, count, place.of(&inner))?,
                    }
                }
            }
            (Layout::Tuple(items), Form::Record { contents, .. }) => {
                for (at, (item, form)) in items.iter().zip(contents).enumerate() {
                    self.each(item, form, count, place.of(&join(member, &at.to_string())))?;
                }
            }
            (Layout::Counter(slot, of), Form::Numpy { key, .. }) => {
                let Layout::Number(wire) = &**of else { return Err(differ(member)) };
                let (width, words) = self.bulk(*wire, key, member)?;
                self.counter(*slot, of, member)?;
                let begins = self.declare(&format!("counts{slot}"));
                self.line(place, format!("{input} pos {begins} ! {count} @ {width}{words}"));
            }
            (layout, form) if let Some(slot) = slot(layout) => {
                let counts = self.first_count(slot);
                self.line(place, format!("{counts} {count} @ 0 do"));
                self.each_count(slot, place.within(1))?;
                self.value(layout, form, place.within(1))?;
                self.line(place, "loop".into());
            }
            (Layout::Absent(_), _) if form == &Form::Empty => {}
            _ => {
                if let Some((size, wire, key)) = numbers(layout, form) {
                    let (width, words) = self.bulk(wire, key, member)?;
                    let size = times(size, member)?;
                    self.line(place, format!("{count} @ {size}{width}{words}"));
                    return Ok(());
                }
                self.line(place, format!("{count} @ 0 do"));
                self.value(layout, form, place.within(1))?;
                self.line(place, "loop".into());
            }
        }
        Ok(())
    }

    /// Writes the words that step over one value for each of `count` items.
    fn skip_each(&mut self, layout: &Layout, count: &str, place: Place<'_>) -> Made {
        let member = place.member;
        let input = self.input();
        match layout {
            Layout::Skipped(of) => return self.skip_each(of, count, place),
            Layout::Framed { shared: true, .. } => {
                self.pass_frame(place);
                return Ok(());
            }
            Layout::Base(of)
                if let Some(Layout::Record { fields, .. } | Layout::Arranged { fields, .. }) =
                    of.record() =>
            {
                for (name, field) in fields {
                    self.skip_each(field, count, place.of(&join(member, name)))?;
                }
                return Ok(());
            }
            Layout::Counter(slot, of) => {
                let Layout::Number(wire) = &**of else { return Err(differ(member)) };
                self.counter(*slot, of, member)?;
                let begins = self.declare(&format!("counts{slot}"));
                let width = wire.width();
                self.line(place, format!("{input} pos {begins} ! {count} @ {width} * {input} skip"));
                return Ok(());
            }
            _ => {}
        }
        let slot = slot(layout);
        let counts = slot.map_or_else(String::new, |slot| self.first_count(slot) + " ");
        self.line(place, format!("{counts}{count} @ 0 do"));
        if let Some(slot) = slot {
            self.each_count(slot, place.within(1))?;
        }
        self.skip(layout, place.within(1))?;
        self.flush();
        self.line(place, "loop".into());
        Ok(())
    }

    /// Returns the words that go back to the first count, as one counter may count the items of several
    /// members.
    fn first_count(&mut self, slot: u32) -> String {
        let (counts, next) = (self.declare(&format!("counts{slot}")), self.declare(&format!("next{slot}")));
        format!("{counts} @ {next} !")
    }

    /// Writes the words that look up the count of the next item, among the counts of all items, which come
    /// earlier.
    fn each_count(&mut self, slot: u32, place: Place<'_>) -> Made {
        let member = place.member;
        let input = self.input();
        let Some((_, wire)) = self.counters.iter().find(|(known, _)| *known == slot) else {
            return Err(differ(member));
        };
        let (width, code) = (wire.width(), parser(*wire, member)?);
        let next = self.declare(&format!("next{slot}"));
        let here = self.declare("here");
        let there = format!("{input} pos {here} ! {next} @ {input} seek");
        let back = format!("{width} {next} +! {here} @ {input} seek");
        self.line(place, format!("{there} {input} {code}-> stack count{slot} ! {back}"));
        Ok(())
    }
}
