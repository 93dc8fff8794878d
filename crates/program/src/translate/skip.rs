//! Words that step over values.

use super::FAULT_NEGATIVE;
use super::{
    Unsupported, literal, parser,
    shape::join,
    text::{Made, Place, Text},
    too_deep,
};
use crate::layout::{Count, Layout, TextLength};
use forthwith_columns::Encoding;
use forthwith_forth::idioms::Idiom;

/// Maximum size of items that are stepped over at once, so that its product with their number cannot
/// overflow.
const LARGEST_ITEM: u64 = 1 << 16;

impl Text<'_> {
    /// Writes the words that step over one value.
    pub(super) fn skip(&mut self, layout: &Layout, place: Place<'_>) -> Made {
        let member = place.member;
        too_deep(place.depth, place.member)?;
        if let (Some(bytes), false) = (layout.fixed_bytes(), matches!(layout, Layout::Counter(..))) {
            self.pass(bytes, place);
            return Ok(());
        }
        let input = self.input();
        match layout {
            Layout::Varint(_) | Layout::Enum { .. } => {
                let read = format!("{input} zigzag-> stack");
                self.line(place, Idiom::SkipNumber.line(&[("READ", &read)]));
            }
            Layout::Leb128 { .. } | Layout::Symbol { .. } => {
                let read = format!("{input} varint-> stack");
                self.line(place, Idiom::SkipNumber.line(&[("READ", &read)]));
            }
            Layout::Text | Layout::Bytes => {
                let text = match self.dialect.text {
                    TextLength::ZigZag => {
                        Idiom::SkipText.line(&[("DATA", input), ("CODE", &self.code(FAULT_NEGATIVE))])
                    }
                    _ => format!("{} {input} skip", self.length()),
                };
                self.line(place, text);
            }
            Layout::List(item) => self.skip_list(&[item], place.of(&format!("{member}[]")))?,
            Layout::Map(value) => {
                self.skip_list(&[&Layout::Text, value], place.of(&format!("{member}{{}}")))?
            }
            Layout::Fixed(size, item) => {
                let [begin, end] = Idiom::Repeat.lines(&[("N", &literal(*size, member)?.to_string())]);
                self.line(place, begin);
                self.skip(item, place.within(1).of(&format!("{member}[]")))?;
                self.line(place, end);
            }
            Layout::Record { fields, .. } | Layout::Arranged { fields, .. } => {
                for (field, layout) in fields {
                    self.skip(layout, place.within(1).of(&join(member, field)))?;
                }
            }
            Layout::Union(union) => {
                let (head, end) = self.case(None);
                self.line(place, head);
                for (number, arm) in union.arms.iter().enumerate() {
                    self.line(place.within(1), format!("{number} of"));
                    if let Some((_, layout)) = arm {
                        self.skip(layout, place.within(2).of(&format!("{member}<{number}>")))?;
                    }
                    self.line(place.within(1), "endof".into());
                }
                self.line(place, end);
            }
            Layout::Chosen { value, .. } => self.skip(value, place)?,
            Layout::Skipped(of) | Layout::Logical(_, of) => self.skip(of, place)?,
            Layout::Recursive(of) => {
                self.flush();
                let outside = self.take_lines();
                self.skip(of, place.within(1))?;
                self.flush();
                let body = std::mem::replace(&mut self.lines, outside);
                let name = format!("pass{}", self.words.len());
                self.define(&name, body);
                self.line(place, name);
            }
            Layout::Recurse => self.line(place, "recurse".into()),
            Layout::Framed { .. } | Layout::OneClass { .. } => self.pass_frame(place),
            Layout::LongText => self.line(place, format!("{input} !I-> stack {input} skip")),
            Layout::Passed(words) => self.line(place, words.text.to_string()),
            Layout::Computed(_, words) => self.line(place, format!("{} drop", words.text)),
            Layout::Base(of) => self.skip(of, place)?,
            Layout::OrNothing(of) => {
                let [begin, end] = Idiom::IfAny.lines(&[("DATA", input), ("STOP", "stop")]);
                self.line(place, begin);
                self.skip(of, place.within(1))?;
                self.line(place, end);
            }
            Layout::Between(before, of, behind) => {
                for value in before.iter().chain([&**of]).chain(behind) {
                    self.skip(value, place)?;
                }
            }
            Layout::Tuple(items) => {
                for item in items {
                    self.skip(item, place.within(1))?;
                }
            }
            Layout::Counter(slot, of) => {
                let word = self.counter(*slot, of, member)?;
                self.line(place, format!("{word} count{slot} !"));
            }
            Layout::Counted { slot, flag, of } => {
                let count = self.counted(*slot, *flag);
                let check = self.weigh(of.least_bytes());
                self.line(place, format!("{count} {check}0 do"));
                self.skip(of, place.within(1).of(&format!("{member}[]")))?;
                self.line(place, "loop".into());
            }
            Layout::Triangle(slot, wire) => {
                let rows = self.rows(*slot, *wire);
                let width = wire.width();
                self.line(place, format!("{rows} dup 1+ * 2 / {width} * {input} skip"));
            }
            Layout::Pointer(_) => self.pass_pointer(place),
            Layout::Given(slot, dtype) => {
                self.counts = true;
                self.declare(&format!("count{slot}"));
                let code = parser(Encoding::Little(*dtype), member)?;
                self.line(place, format!("counts {code}-> stack count{slot} !"));
            }
            Layout::Flagged(of) => {
                let [begin, end] = Idiom::If.lines(&[("READ", &format!("{input} B-> stack"))]);
                self.line(place, begin);
                self.skip(of, place.within(1))?;
                self.line(place, end);
            }
            Layout::Unknown(_) | Layout::Refused(_) => self.unknown(layout, place),
            _ => return Err(Unsupported(format!("{member}: stepping over such a value"))),
        }
        Ok(())
    }

    fn skip_list(&mut self, items: &[&Layout], place: Place<'_>) -> Made {
        let input = self.input();
        let size = items.iter().try_fold(0u64, |sum, item| sum.checked_add(item.fixed_bytes()?));
        match self.dialect.counts {
            Count::Big32 => {
                let read = format!("{input} !I-> stack");
                match size.filter(|size| *size <= LARGEST_ITEM) {
                    Some(size) => {
                        self.line(place, read);
                        let text = match size {
                            0 => "drop".into(),
                            size => self.skip_sized(size),
                        };
                        self.line(place, text);
                    }
                    None => {
                        let [count, begin, end] = Idiom::Times.lines(&[("READ", &read)]);
                        self.line(place, count);
                        self.skip_items(items, [begin, end], place)?;
                    }
                }
            }
            Count::Blocks => {
                let negative = self.code(FAULT_NEGATIVE);
                let given = [("DATA", input), ("CODE", &*negative)];
                let (behind, last) = match size.filter(|size| *size <= LARGEST_ITEM) {
                    Some(size) => {
                        let size = size.to_string();
                        let [block, known, all, behind, last] =
                            Idiom::SkipBlocksOfSize.lines(&[given[0], given[1], ("N", &size)]);
                        self.line(place, block);
                        self.line(place.within(1), known);
                        self.line(place.within(1), if size == "0" { "drop".into() } else { all });
                        (behind, last)
                    }
                    None => {
                        let [block, known, begin, end, behind, last] = Idiom::SkipBlocks.lines(&given);
                        self.line(place, block);
                        self.line(place.within(1), known);
                        self.skip_items(items, [begin, end], place.within(1))?;
                        (behind, last)
                    }
                };
                self.line(place.within(1), behind);
                self.line(place, last);
            }
        }
        Ok(())
    }

    /// Returns the words that step over items of `size` bytes, whose number is on the stack.
    fn skip_sized(&mut self, size: u64) -> String {
        let (input, negative) = (self.input(), self.negative());
        format!("dup {input} len > if {negative} then {size} * {input} skip")
    }

    /// Writes the words that step over items one by one, between the lines `begin` and `end`.
    fn skip_items(&mut self, items: &[&Layout], [begin, end]: [String; 2], place: Place<'_>) -> Made {
        self.line(place, begin);
        for item in items {
            self.skip(item, place.within(1))?;
        }
        self.line(place, end);
        Ok(())
    }
}
