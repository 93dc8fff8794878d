//! Rows that lack fields of a tagged record.
//!
//! An absent field costs nothing in the rows that lack it. Each field has a variable with the number of rows
//! that it has written. When the field is read, defaults, nulls, or empty lists are first appended for the
//! rows without it, and after the last entry for the remaining rows.

use super::{
    FAULT_REQUIRED, Unsupported,
    tagged_slot::{Slot, symbols_output},
    text::{Place, Text, differ},
};
use crate::layout::{Layout, Presence};
use forthwith_columns::{Encoding, Form};
use std::sync::Arc;

impl Text<'_> {
    /// Returns the word for a field that is read after rows without it, or again in its row. Empty if none is
    /// needed.
    pub(super) fn late(&mut self, slot: &Slot<'_>, row: &str) -> Result<String, Unsupported> {
        let state = &slot.state;
        let now = format!("{row} @ {state} !");
        let lines = match (&slot.field.presence, &slot.record) {
            (Presence::Default(_) | Presence::Required, Some(_)) => return Ok(String::new()),
            (Presence::Required, None) => vec![format!("{} {now}", slot.take_back()?)],
            (Presence::Repeated, _) => vec![
                format!("{}{row} @ 1- {state} @ - dup 0 > if", ended(slot)),
                format!("  {}", self.absent_rows(slot)?),
                format!("else drop then {now}"),
            ],
            (_, Some(_)) => vec![
                format!("{row} @ 1- {state} @ - dup 0 > if"),
                format!("  {}", self.absent_rows(slot)?),
                format!("else drop then {now} {}", slot.present()),
            ],
            (Presence::Choice(_), None) => {
                vec![format!("{row} @ {state} @ - {} {now}", self.absent_rows(slot)?)]
            }
            _ => vec![
                format!("{row} @ {state} @ - dup 0 < if"),
                format!("  drop {}", slot.take_back()?),
                "else".into(),
                format!("  {}", self.absent_rows(slot)?),
                format!("then {now}"),
            ],
        };
        let name = format!("late{}", self.words.len());
        let lines = lines.into_iter().map(|line| (format!("  {line}"), slot.member.clone()));
        self.define(&name, lines.collect());
        Ok(name)
    }

    /// Defines the word that appends the absent values of a record's remaining rows, and returns its name.
    pub(super) fn fill(
        &mut self,
        slots: &[Slot<'_>],
        row: &str,
        place: Place<'_>,
    ) -> Result<String, Unsupported> {
        let number = self.words.len();
        self.word(format!("fill{number}"), |text| {
            for slot in slots {
                let (state, place) = (&slot.state, place.of(&slot.member));
                if let Some(record) = slot.record.as_ref().filter(|record| !record.fill.is_empty()) {
                    let own = record.row != row;
                    let reset = if own { format!(" 0 {} !", record.row) } else { String::new() };
                    text.line(place, format!("{}{reset}", record.fill));
                }
                match (&slot.field.presence, &slot.record) {
                    (Presence::Default(_), Some(_)) => {}
                    (Presence::Required, _) => text.line(place, format!("0 {state} !")),
                    _ => {
                        let ended = ended(slot);
                        let absent = text.absent_rows(slot)?;
                        text.line(place, format!("{ended}{row} @ {state} @ - dup 0 > if"));
                        text.line(place.within(1), absent);
                        text.line(place, format!("else drop then 0 {state} !"));
                    }
                }
            }
            let mut rows: Vec<&str> =
                slots.iter().filter_map(|slot| Some(slot.choice.as_ref()?.chosen_row.as_str())).collect();
            rows.sort_unstable();
            rows.dedup();
            rows.iter().for_each(|row| text.line(place, format!("0 {row} !")));
            Ok(())
        })
    }

    /// Defines the word that checks required fields and writes sums at the end of a row. Returns `None` if
    /// the record has neither.
    pub(super) fn check(
        &mut self,
        slots: &[Slot<'_>],
        row: &str,
        place: Place<'_>,
    ) -> Result<Option<String>, Unsupported> {
        let inner = |slot: &Slot<'_>| slot.record.as_ref().and_then(|record| record.check.clone());
        let is_checked = |slot: &Slot<'_>| match slot.field.presence {
            Presence::Required => true,
            Presence::Repeated => false,
            _ => inner(slot).is_some(),
        };
        if !slots.iter().any(is_checked) {
            return Ok(None);
        }
        let number = self.words.len();
        let name = self.word(format!("end_row{number}"), |text| {
            for slot in slots.iter().filter(|slot| is_checked(slot)) {
                let (state, place) = (&slot.state, place.of(&slot.member));
                let inner = inner(slot).unwrap_or_default();
                match slot.field.presence {
                    Presence::Required => {
                        let absent = text.halt(FAULT_REQUIRED);
                        text.line(place, format!("{state} @ {row} @ <> if {absent} then {inner}"));
                    }
                    Presence::Default(_) => text.line(place, inner),
                    _ => text.line(place, format!("{state} @ {row} @ = if {inner} then")),
                }
            }
            Ok(())
        })?;
        Ok(Some(name))
    }

    /// Returns the words that append absent values. Their number, at least 1, is on the stack.
    fn absent_rows(&mut self, slot: &Slot<'_>) -> Result<String, Unsupported> {
        let again = |column: &str| format!("1- {column} dup");
        let (words, column) = match (&slot.field.presence, slot.key) {
            (Presence::Optional | Presence::Choice(_), Some(key)) => {
                (format!("0 {key}-tags <- stack"), Some(format!("{key}-tags")))
            }
            (Presence::Repeated, Some(key)) => {
                (format!("0 {key}-offsets +<- stack"), Some(format!("{key}-offsets")))
            }
            (Presence::Default(default), _) => {
                let outside = self.take_lines();
                let made = self.default(slot, default.as_ref());
                self.flush();
                let lines = std::mem::replace(&mut self.lines, outside);
                made?;
                let words: Vec<&str> = lines.iter().map(|(line, _)| line.trim()).collect();
                let column = match (&slot.field.of, slot.form.kept()) {
                    (Layout::Symbol { .. }, form) => symbols_output(form),
                    (_, Form::String { key, .. }) if default.is_none() => Some(format!("{key}-offsets")),
                    (Layout::Number(Encoding::Big(_) | Encoding::Little(_)), Form::Numpy { key, .. })
                    | (Layout::Leb128 { .. }, Form::Numpy { key, .. }) => Some(format!("{key}-data")),
                    _ => None,
                };
                (words.join(" "), column)
            }
            _ => return Err(differ(&slot.member)),
        };
        Ok(match column {
            Some(column) => format!("{words} {}", again(&column)),
            None => format!("0 do {words} loop"),
        })
    }

    /// Writes the words for the default value of a field.
    fn default(&mut self, slot: &Slot<'_>, default: Option<&Arc<[u8]>>) -> super::text::Made {
        let place = Place { depth: 0, member: &slot.member };
        let zero: Arc<[u8]> = Arc::new([0]);
        let is_symbol = matches!(slot.field.of, Layout::Symbol { .. });
        match default.or(is_symbol.then_some(&zero)) {
            Some(bytes) => {
                let value = Layout::Constant(bytes.clone(), Box::new(slot.field.of.clone()));
                self.value(&value, slot.form, place)
            }
            None => self.absent(&slot.field.of, slot.form, place),
        }
    }
}

/// Returns the words that end the last row in which a list has items.
fn ended(slot: &Slot<'_>) -> String {
    let (state, count) = (&slot.state, &slot.count);
    match (&slot.field.presence, slot.key) {
        (Presence::Repeated, Some(key)) => {
            format!("{state} @ if {count} @ {key}-offsets +<- stack 0 {count} ! then ")
        }
        _ => String::new(),
    }
}
