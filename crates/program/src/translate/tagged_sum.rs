//! Records of two integers that are delivered as one number, such as seconds and nanoseconds.

use super::{
    FAULT_SUM, Unsupported,
    tagged_slot::RecordWords,
    text::{Place, Text, differ},
};
use crate::layout::{Extent, Layout, Presence, Tagged};
use forthwith_columns::{DType, Form};

impl Text<'_> {
    /// Defines the words of a record that becomes the sum of its two integers, the first multiplied by `by`.
    pub(super) fn sum(
        &mut self,
        tagged: &Tagged,
        by: i32,
        form: &Form,
        place: Place<'_>,
        end: Option<u32>,
    ) -> Result<RecordWords, Unsupported> {
        let Form::Numpy { key, .. } = form.kept() else { return Err(differ(place.member)) };
        let output = format!("{key}-data");
        let (mut arms, mut variables) = (Vec::new(), Vec::new());
        for field in &tagged.fields {
            let (Presence::Default(None), [(key, Extent::One)], Layout::Leb128 { zigzag: false, dtype }) =
                (&field.presence, &field.keys[..], &field.of)
            else {
                return Err(differ(place.member));
            };
            let variable = self.variable("part");
            let narrow = if *dtype == DType::Int32 { " 32 lshift 32 rshift" } else { "" };
            arms.push((*key, format!("{} varint-> stack{narrow} {variable} !", self.input())));
            variables.push(variable);
        }
        let [first, second] = &variables[..] else { return Err(differ(place.member)) };
        let overflow = self.halt(FAULT_SUM);
        let root = Place { depth: 1, member: place.member };
        let number = self.words.len();
        let read = self
            .word(format!("read_fields{number}"), |text| text.read_fields(&[], &arms, None, "", root, end))?;
        let write = self.word(format!("write_sum{number}"), |text| {
            let most = i64::MAX / i64::from(by) - 1;
            text.line(root, format!("{first} @ {} {second} @ {}", beyond(most), beyond(i64::from(by) - 1)));
            text.line(root, format!("or if {overflow} then"));
            text.line(
                root,
                format!("{first} @ {by} * {second} @ + {output} <- stack 0 {first} ! 0 {second} !"),
            );
            Ok(())
        })?;
        // Other parts of the record may follow in the row, so the sum is written at its end.
        Ok(RecordWords {
            read,
            check: Some(write),
            fill: String::new(),
            row: String::new(),
            variables,
            columns: vec![output],
            ignored: None,
        })
    }
}

/// Returns the words that compare the number on the stack with a limit on both sides of zero. Literals have
/// only 31 bits.
fn beyond(most: i64) -> String {
    let limit = match i32::try_from(most) {
        Ok(most) => most.to_string(),
        Err(_) => format!("{} 31 lshift {} or", most >> 31, most & 0x7fff_ffff),
    };
    format!("dup {limit} > swap {limit} negate < or")
}
