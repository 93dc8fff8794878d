//! Lists whose length is a number before them.

use super::{
    FAULT_COUNT, FAULT_NEGATIVE, Unsupported, parser,
    text::{Text, differ},
};
use crate::layout::Layout;
use forthwith_columns::Encoding;

/// Maximum number of rows of a symmetric matrix, whose square must not overflow.
const MOST_ROWS: u32 = 1 << 24;

impl Text<'_> {
    /// Returns the words that read a counter and leave it on the stack.
    pub(super) fn counter(&mut self, slot: u32, of: &Layout, member: &str) -> Result<String, Unsupported> {
        let Layout::Number(wire) = of else { return Err(differ(member)) };
        self.declare(&format!("count{slot}"));
        if !self.counters.iter().any(|(known, _)| *known == slot) {
            self.counters.push((slot, *wire));
        }
        Ok(format!("{} {}-> stack", self.input(), parser(*wire, member)?))
    }

    /// Returns the words that leave the number of items on the stack.
    pub(super) fn counted(&mut self, slot: u32, flag: bool) -> String {
        let count = self.declare(&format!("count{slot}"));
        let bad = self.halt(FAULT_NEGATIVE);
        let input = self.input();
        let count = format!("{count} @ dup 0 < if {bad} then");
        if flag { format!("{input} B-> stack if {count} else 0 then") } else { count }
    }

    /// Returns the words that leave the number of rows of a matrix on the stack, after checking that the
    /// input has its triangle.
    pub(super) fn rows(&mut self, slot: u32, wire: Encoding) -> String {
        let count = self.counted(slot, false);
        let bad = self.halt(FAULT_COUNT);
        let (input, width) = (self.input(), wire.width());
        let few = format!("dup {MOST_ROWS} > if {bad} then");
        format!("{count} {few} dup dup 1+ * 2 / {width} * {input} len {input} pos - > if {bad} then")
    }
}

/// Returns the slot with the number of items of a value, or `None` if it is not counted.
pub(super) fn slot(layout: &Layout) -> Option<u32> {
    match layout {
        Layout::Counted { slot, .. } | Layout::Triangle(slot, _) => Some(*slot),
        Layout::Fixed(_, of) | Layout::Flagged(of) => slot(of),
        _ => None,
    }
}
