//! Stepping over what is not wanted.

use super::{Unsupported, literal, parser, shape::join, text::Text, too_deep};
use crate::schema::{Count, Schema, TextLength};
use forthwith_columns::Wire;

/// Items of this size are stepped over together; the product with their number cannot overflow.
const LARGEST_ITEM: u64 = 1 << 16;

impl Text<'_> {
    /// Steps over one value.
    pub(super) fn skip(&mut self, schema: &Schema, depth: usize, member: &str) -> Result<(), Unsupported> {
        too_deep(depth, member)?;
        if let (Some(bytes), false) = (schema.fixed_bytes(), matches!(schema, Schema::Counter(..))) {
            self.pass(bytes, depth, member);
            return Ok(());
        }
        let input = self.input();
        match schema {
            Schema::Varint(_) | Schema::Enum { .. } => {
                self.line(depth, member, format!("{input} zigzag-> stack drop"));
            }
            Schema::Text | Schema::Bytes => {
                let length = self.length();
                let check = match self.dialect.text {
                    TextLength::ZigZag => format!("dup 0 < if {} then ", self.negative()),
                    _ => String::new(),
                };
                self.line(depth, member, format!("{length} {check}{input} skip"));
            }
            Schema::List(item) => self.skip_list(&[item], depth, &format!("{member}[]"))?,
            Schema::Map(value) => self.skip_list(&[&Schema::Text, value], depth, &format!("{member}{{}}"))?,
            Schema::Fixed(size, item) => {
                self.line(depth, member, format!("{} 0 do", literal(*size, member)?));
                self.skip(item, depth + 1, &format!("{member}[]"))?;
                self.line(depth, member, "loop".into());
            }
            Schema::Record { fields, .. } | Schema::Arranged { fields, .. } => {
                for (field, schema) in fields {
                    self.skip(schema, depth + 1, &join(member, field))?;
                }
            }
            Schema::Union(union) => {
                let bad = self.no_branch();
                self.line(depth, member, format!("{input} zigzag-> stack case"));
                for (number, arm) in union.arms.iter().enumerate() {
                    self.line(depth + 1, member, format!("{number} of"));
                    if let Some((_, schema)) = arm {
                        self.skip(schema, depth + 2, &format!("{member}<{number}>"))?;
                    }
                    self.line(depth + 1, member, "endof".into());
                }
                self.line(depth, member, format!("{bad} endcase"));
            }
            Schema::Chosen { value, .. } => self.skip(value, depth, member)?,
            Schema::Skipped(of) | Schema::Meant(_, of) => self.skip(of, depth, member)?,
            Schema::Recursive(of) => {
                self.flush();
                let outside = self.take_lines();
                self.skip(of, depth + 1, member)?;
                self.flush();
                let body = std::mem::replace(&mut self.lines, outside);
                let name = format!("pass{}", self.words.len());
                self.define(&name, body);
                self.line(depth, member, name);
            }
            Schema::Recurse => self.line(depth, member, "recurse".into()),
            Schema::Framed { .. } | Schema::Clones { .. } => self.pass_frame(depth, member),
            Schema::LongText => self.line(depth, member, format!("{input} !I-> stack {input} skip")),
            Schema::Passed(words) => self.line(depth, member, words.to_string()),
            Schema::Computed(_, words) => self.line(depth, member, format!("{words} drop")),
            Schema::Base(of) => self.skip(of, depth, member)?,
            Schema::OrNothing(of) => {
                self.line(depth, member, format!("{input} pos stop @ < if"));
                self.skip(of, depth + 1, member)?;
                self.line(depth, member, "then".into());
            }
            Schema::Between(before, of, behind) => {
                for value in before.iter().chain([&**of]).chain(behind) {
                    self.skip(value, depth, member)?;
                }
            }
            Schema::Tuple(items) => {
                for item in items {
                    self.skip(item, depth + 1, member)?;
                }
            }
            Schema::Counter(slot, of) => {
                let word = self.counter(*slot, of, member)?;
                self.line(depth, member, format!("{word} count{slot} !"));
            }
            Schema::Counted { slot, flag, of } => {
                let count = self.counted(*slot, *flag);
                let check = self.weigh(of.least_bytes());
                self.line(depth, member, format!("{count} {check}0 do"));
                self.skip(of, depth + 1, &format!("{member}[]"))?;
                self.line(depth, member, "loop".into());
            }
            Schema::Triangle(slot, wire) => {
                let rows = self.rows(*slot, *wire);
                let width = wire.width();
                self.line(depth, member, format!("{rows} dup 1+ * 2 / {width} * {input} skip"));
            }
            Schema::Pointer(_) => self.pass_pointer(depth, member),
            Schema::Given(slot, dtype) => {
                self.counts = true;
                self.declare(&format!("count{slot}"));
                let code = parser(Wire::Little(*dtype), member)?;
                self.line(depth, member, format!("counts {code}-> stack count{slot} !"));
            }
            Schema::Flagged(of) => {
                self.line(depth, member, format!("{input} B-> stack if"));
                self.skip(of, depth + 1, member)?;
                self.line(depth, member, "then".into());
            }
            Schema::Unknown(class) => self.unknown(class, depth, member),
            _ => return Err(Unsupported(format!("{member}: stepping over such a value"))),
        }
        Ok(())
    }

    fn skip_list(&mut self, items: &[&Schema], depth: usize, member: &str) -> Result<(), Unsupported> {
        let input = self.input();
        let size = items.iter().try_fold(0u64, |sum, item| sum.checked_add(item.fixed_bytes()?));
        match self.dialect.counts {
            Count::Big32 => {
                self.line(depth, member, format!("{input} !I-> stack"));
                self.skip_items(items, size, depth, member)?;
            }
            Count::Blocks => {
                // Blocks that say how long they are need not be looked into.
                let negative = self.negative();
                self.line(depth, member, format!("begin {input} zigzag-> stack dup while"));
                let known = format!("drop {input} zigzag-> stack dup 0 < if {negative} then {input} skip");
                self.line(depth + 1, member, format!("dup 0 < if {known} else"));
                self.skip_items(items, size, depth + 1, member)?;
                self.line(depth + 1, member, "then".into());
                self.line(depth, member, "repeat drop".into());
            }
        }
        Ok(())
    }

    /// With their number on the stack.
    fn skip_items(
        &mut self,
        items: &[&Schema],
        size: Option<u64>,
        depth: usize,
        member: &str,
    ) -> Result<(), Unsupported> {
        let input = self.input();
        match size {
            Some(0) => self.line(depth, member, "drop".into()),
            Some(size) if size <= LARGEST_ITEM => {
                let negative = self.negative();
                let text = format!("dup {input} len > if {negative} then {size} * {input} skip");
                self.line(depth, member, text);
            }
            _ => {
                self.line(depth, member, "0 do".into());
                for item in items {
                    self.skip(item, depth + 1, member)?;
                }
                self.line(depth, member, "loop".into());
            }
        }
        Ok(())
    }
}
