//! Stepping over what is not wanted.

use super::{
    Unsupported, literal, parser,
    shape::join,
    text::{Made, Place, Text},
    too_deep,
};
use crate::schema::{Count, Schema, TextLength};
use forthwith_columns::Wire;

/// Items of this size are stepped over together; the product with their number cannot overflow.
const LARGEST_ITEM: u64 = 1 << 16;

impl Text<'_> {
    /// Steps over one value.
    pub(super) fn skip(&mut self, schema: &Schema, place: Place<'_>) -> Made {
        let member = place.member;
        too_deep(place.depth, place.member)?;
        if let (Some(bytes), false) = (schema.fixed_bytes(), matches!(schema, Schema::Counter(..))) {
            self.pass(bytes, place);
            return Ok(());
        }
        let input = self.input();
        match schema {
            Schema::Varint(_) | Schema::Enum { .. } => {
                self.line(place, format!("{input} zigzag-> stack drop"));
            }
            Schema::Text | Schema::Bytes => {
                let length = self.length();
                let check = match self.dialect.text {
                    TextLength::ZigZag => format!("dup 0 < if {} then ", self.negative()),
                    _ => String::new(),
                };
                self.line(place, format!("{length} {check}{input} skip"));
            }
            Schema::List(item) => self.skip_list(&[item], place.of(&format!("{member}[]")))?,
            Schema::Map(value) => {
                self.skip_list(&[&Schema::Text, value], place.of(&format!("{member}{{}}")))?
            }
            Schema::Fixed(size, item) => {
                self.line(place, format!("{} 0 do", literal(*size, member)?));
                self.skip(item, place.within(1).of(&format!("{member}[]")))?;
                self.line(place, "loop".into());
            }
            Schema::Record { fields, .. } | Schema::Arranged { fields, .. } => {
                for (field, schema) in fields {
                    self.skip(schema, place.within(1).of(&join(member, field)))?;
                }
            }
            Schema::Union(union) => {
                let bad = self.no_branch();
                self.line(place, format!("{input} zigzag-> stack case"));
                for (number, arm) in union.arms.iter().enumerate() {
                    self.line(place.within(1), format!("{number} of"));
                    if let Some((_, schema)) = arm {
                        self.skip(schema, place.within(2).of(&format!("{member}<{number}>")))?;
                    }
                    self.line(place.within(1), "endof".into());
                }
                self.line(place, format!("{bad} endcase"));
            }
            Schema::Chosen { value, .. } => self.skip(value, place)?,
            Schema::Skipped(of) | Schema::Meant(_, of) => self.skip(of, place)?,
            Schema::Recursive(of) => {
                self.flush();
                let outside = self.take_lines();
                self.skip(of, place.within(1))?;
                self.flush();
                let body = std::mem::replace(&mut self.lines, outside);
                let name = format!("pass{}", self.words.len());
                self.define(&name, body);
                self.line(place, name);
            }
            Schema::Recurse => self.line(place, "recurse".into()),
            Schema::Framed { .. } | Schema::Clones { .. } => self.pass_frame(place),
            Schema::LongText => self.line(place, format!("{input} !I-> stack {input} skip")),
            Schema::Passed(words) => self.line(place, words.to_string()),
            Schema::Computed(_, words) => self.line(place, format!("{words} drop")),
            Schema::Base(of) => self.skip(of, place)?,
            Schema::OrNothing(of) => {
                self.line(place, format!("{input} pos stop @ < if"));
                self.skip(of, place.within(1))?;
                self.line(place, "then".into());
            }
            Schema::Between(before, of, behind) => {
                for value in before.iter().chain([&**of]).chain(behind) {
                    self.skip(value, place)?;
                }
            }
            Schema::Tuple(items) => {
                for item in items {
                    self.skip(item, place.within(1))?;
                }
            }
            Schema::Counter(slot, of) => {
                let word = self.counter(*slot, of, member)?;
                self.line(place, format!("{word} count{slot} !"));
            }
            Schema::Counted { slot, flag, of } => {
                let count = self.counted(*slot, *flag);
                let check = self.weigh(of.least_bytes());
                self.line(place, format!("{count} {check}0 do"));
                self.skip(of, place.within(1).of(&format!("{member}[]")))?;
                self.line(place, "loop".into());
            }
            Schema::Triangle(slot, wire) => {
                let rows = self.rows(*slot, *wire);
                let width = wire.width();
                self.line(place, format!("{rows} dup 1+ * 2 / {width} * {input} skip"));
            }
            Schema::Pointer(_) => self.pass_pointer(place),
            Schema::Given(slot, dtype) => {
                self.counts = true;
                self.declare(&format!("count{slot}"));
                let code = parser(Wire::Little(*dtype), member)?;
                self.line(place, format!("counts {code}-> stack count{slot} !"));
            }
            Schema::Flagged(of) => {
                self.line(place, format!("{input} B-> stack if"));
                self.skip(of, place.within(1))?;
                self.line(place, "then".into());
            }
            Schema::Unknown(_) | Schema::Refused(_) => self.unknown(schema, place),
            _ => return Err(Unsupported(format!("{member}: stepping over such a value"))),
        }
        Ok(())
    }

    fn skip_list(&mut self, items: &[&Schema], place: Place<'_>) -> Made {
        let input = self.input();
        let size = items.iter().try_fold(0u64, |sum, item| sum.checked_add(item.fixed_bytes()?));
        match self.dialect.counts {
            Count::Big32 => {
                self.line(place, format!("{input} !I-> stack"));
                self.skip_items(items, size, place)?;
            }
            Count::Blocks => {
                // Blocks that say how long they are need not be looked into.
                let negative = self.negative();
                self.line(place, format!("begin {input} zigzag-> stack dup while"));
                let known = format!("drop {input} zigzag-> stack dup 0 < if {negative} then {input} skip");
                self.line(place.within(1), format!("dup 0 < if {known} else"));
                self.skip_items(items, size, place.within(1))?;
                self.line(place.within(1), "then".into());
                self.line(place, "repeat drop".into());
            }
        }
        Ok(())
    }

    /// With their number on the stack.
    fn skip_items(&mut self, items: &[&Schema], size: Option<u64>, place: Place<'_>) -> Made {
        let input = self.input();
        match size {
            Some(0) => self.line(place, "drop".into()),
            Some(size) if size <= LARGEST_ITEM => {
                let negative = self.negative();
                let text = format!("dup {input} len > if {negative} then {size} * {input} skip");
                self.line(place, text);
            }
            _ => {
                self.line(place, "0 do".into());
                for item in items {
                    self.skip(item, place.within(1))?;
                }
                self.line(place, "loop".into());
            }
        }
        Ok(())
    }
}
