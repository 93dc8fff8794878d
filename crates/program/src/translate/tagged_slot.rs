//! The names that stand for a field behind keys in the text, and the words that note it or take it back.

use super::{
    Unsupported,
    text::{differ, symbols_key},
};
use crate::layout::{Layout, Presence, TaggedField};
use forthwith_columns::Form;

/// The words of a record, and what they change.
#[derive(Clone)]
pub(super) struct RecordWords {
    /// Reads fields; takes the end from the stack, unless the record ends with a key.
    pub(super) read: String,
    /// Checks required fields and writes sums at the end of a row. Not set without either.
    pub(super) check: Option<String>,
    /// Appends the absent values of the remaining rows, and resets all variables but the row.
    pub(super) fill: String,
    /// The variable with the number of the row, from 1. Empty for sums.
    pub(super) row: String,
    /// The variables that are changed.
    pub(super) variables: Vec<String>,
    /// The outputs that are written to.
    pub(super) columns: Vec<String>,
    /// The variable that says that an item is ignored.
    pub(super) ignored: Option<String>,
}

impl RecordWords {
    /// The words that begin a row.
    pub(super) fn next_row(&self) -> String {
        if self.row.is_empty() { String::new() } else { format!("1 {} +!", self.row) }
    }
}

/// A field with the names that stand for it in the text.
pub(super) struct Slot<'f> {
    pub(super) field: &'f TaggedField,
    /// One value.
    pub(super) form: &'f Form,
    /// The node of the option or the list around the values.
    pub(super) key: Option<&'f str>,
    pub(super) member: String,
    /// The variable with the number of rows written, including the current row once the field is met in it. Empty for a
    /// record that shares the rows of the enclosing record.
    pub(super) state: String,
    /// The variable with the number of items in that row; only for repeated fields, otherwise empty.
    pub(super) count: String,
    /// The word that appends absent values for rows that were skipped, and removes the earlier value of the same row.
    /// Empty if neither can happen.
    pub(super) late: String,
    pub(super) choice: Option<Choice>,
    /// The variable with the bytes of the last text.
    pub(super) length: Option<String>,
    pub(super) record: Option<RecordWords>,
    /// Expressions for lengths of outputs and values of variables, each with the variable that saves it when a record of
    /// a choice, or an item that may be ignored, begins.
    pub(super) marks: Vec<(String, String)>,
    /// The word that makes a position of a number that stands for a name.
    pub(super) symbol: Option<String>,
}

/// What a field shares with the others of its choice.
pub(super) struct Choice {
    pub(super) number: usize,
    /// The variable with the number of the one that is present.
    pub(super) chosen: String,
    /// The variable with the row to which `chosen` belongs.
    pub(super) chosen_row: String,
    /// The word that removes the value of the chosen field.
    pub(super) back: String,
}

impl Slot<'_> {
    /// The words before a value is written. An earlier value of the same row is removed, but records are merged.
    pub(super) fn met(&self, row: &str) -> String {
        let (state, late) = (&self.state, &self.late);
        let one_more = format!("1 {state} +! {state} @ {row} @ <> if {late} then");
        match (&self.field.presence, &self.choice, &self.record) {
            (Presence::Repeated, ..) => format!("{} 1 {} +!", self.begin_row(row), self.count),
            (Presence::Default(_), _, Some(_)) => String::new(),
            (Presence::Required, _, Some(_)) => format!("{row} @ {state} !"),
            (_, Some(Choice { number, chosen, back, .. }), Some(record)) => {
                let (marks, next) = (marked(&self.marks), record.next_row());
                let begin = format!("{back} {number} {chosen} ! {late} {marks} {next}");
                format!("{state} @ {row} @ <> if {begin} then")
            }
            (_, None, Some(record)) => {
                format!("{state} @ {row} @ <> if {late} {} then", record.next_row())
            }
            (_, Some(Choice { number, chosen, back, .. }), None) => {
                format!("{back} {number} {chosen} ! {one_more} {}", self.present())
            }
            (_, None, None) => format!("{one_more} {}", self.present()),
        }
    }

    /// The words before an item of a list: the first one of a row ends the list of the row before.
    pub(super) fn begin_row(&self, row: &str) -> String {
        format!("{} @ {row} @ <> if {} then", self.state, self.late)
    }

    /// The words that mark the value as present.
    pub(super) fn present(&self) -> String {
        match (&self.field.presence, self.key) {
            (Presence::Optional | Presence::Choice(_), Some(key)) => format!("1 {key}-tags <- stack"),
            _ => String::new(),
        }
    }

    /// The words that remove the value of a field from the outputs, with the mark that it is there.
    pub(super) fn take_back(&self) -> Result<String, Unsupported> {
        let mut words = Vec::new();
        if let (Presence::Optional | Presence::Choice(_), Some(key)) = (&self.field.presence, self.key) {
            words.push(format!("1 {key}-tags rewind"));
        }
        match (&self.record, &self.length, self.form.kept()) {
            (Some(_), ..) => words.push(restored(&self.marks)),
            (None, Some(length), Form::String { key, .. }) => {
                words.push(format!("1 {key}-offsets rewind {length} @ {key}-data rewind"));
            }
            _ => words.extend(values(self)?.iter().map(|column| format!("1 {column} rewind"))),
        }
        if matches!(self.field.presence, Presence::Choice(_)) {
            words.push(format!("-1 {} +!", self.state));
        }
        Ok(words.join(" "))
    }
}

/// The words that save lengths of outputs and values of variables.
pub(super) fn marked(marks: &[(String, String)]) -> String {
    marks.iter().map(|(value, mark)| format!("{value} {mark} !")).collect::<Vec<_>>().join(" ")
}

/// The words that restore outputs and variables.
pub(super) fn restored(marks: &[(String, String)]) -> String {
    let words = marks.iter().map(|(value, mark)| match value.strip_suffix(" len") {
        Some(column) => format!("{value} {mark} @ - {column} rewind"),
        None => format!("{mark} @ {} !", value.trim_end_matches(" @")),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The output of the option or the list around the values of a field.
pub(super) fn around(slot: &Slot<'_>) -> Option<String> {
    let part = match slot.field.presence {
        Presence::Optional | Presence::Choice(_) => "tags",
        Presence::Repeated => "offsets",
        _ => return None,
    };
    slot.key.map(|key| format!("{key}-{part}"))
}

/// The outputs of the values of a field.
pub(super) fn values(slot: &Slot<'_>) -> Result<Vec<String>, Unsupported> {
    Ok(match (&slot.record, &slot.field.of, slot.form.kept()) {
        (Some(record), ..) => record.columns.clone(),
        (None, Layout::Symbol { .. }, Form::String { key, .. } | Form::Categorical { key, .. }) => {
            vec![format!("{key}-index")]
        }
        (None, _, Form::String { key, .. }) => vec![format!("{key}-offsets"), format!("{key}-data")],
        (None, _, Form::Numpy { key, .. }) => vec![format!("{key}-data")],
        _ => return Err(differ(&slot.member)),
    })
}

/// The output that the numbers of symbols are written to.
pub(super) fn symbols_output(form: &Form) -> Option<String> {
    match form {
        Form::Numpy { key, .. } => Some(format!("{key}-data")),
        form => symbols_key(form).map(|key| format!("{key}-index")),
    }
}

/// A key as a literal, of which there are 31 bits without a sign.
pub(super) fn key_text(key: u32) -> String {
    match i32::try_from(key) {
        Ok(key) => key.to_string(),
        Err(_) => format!("{} 16 lshift {} or", key >> 16, key & 0xffff),
    }
}
