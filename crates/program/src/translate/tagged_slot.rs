//! Names of the variables and words for a field of a tagged record.

use super::{
    Unsupported,
    text::{differ, symbols_key},
};
use crate::layout::{Layout, Presence, TaggedField};
use forthwith_columns::Form;

/// Words of a record, with the variables and outputs that they change.
#[derive(Clone)]
pub(super) struct RecordWords {
    /// Reads fields. Takes the end position from the stack, unless the record ends with a key.
    pub(super) read: String,
    /// Checks required fields and writes sums at the end of a row. `None` if the record has neither.
    pub(super) check: Option<String>,
    /// Appends the absent values of the remaining rows, and resets all variables but the row.
    pub(super) fill: String,
    /// Variable with the number of the row, from 1. Empty for sums.
    pub(super) row: String,
    /// Variables that are changed.
    pub(super) variables: Vec<String>,
    /// Outputs that are appended to.
    pub(super) columns: Vec<String>,
    /// Variable that is set if an item is to be ignored.
    pub(super) ignored: Option<String>,
}

impl RecordWords {
    /// Returns the words that begin a row.
    pub(super) fn next_row(&self) -> String {
        if self.row.is_empty() { String::new() } else { format!("1 {} +!", self.row) }
    }
}

/// Field with the names of its variables and words.
pub(super) struct Slot<'f> {
    pub(super) field: &'f TaggedField,
    /// Form of one value.
    pub(super) form: &'f Form,
    /// Node of the option or list around the values.
    pub(super) key: Option<&'f str>,
    pub(super) member: String,
    /// Variable with the number of rows written, which includes the current row after the field was read in
    /// it. Empty for a record that shares the rows of the enclosing record.
    pub(super) state: String,
    /// Variable with the number of items in that row. Empty unless the field is repeated.
    pub(super) count: String,
    /// Word that appends absent values for rows without the field, and removes an earlier value of the same
    /// row. Empty if neither can happen.
    pub(super) late: String,
    pub(super) choice: Option<Choice>,
    /// Variable with the length in bytes of the last text.
    pub(super) length: Option<String>,
    pub(super) record: Option<RecordWords>,
    /// Expressions for lengths of outputs and values of variables, each with the variable that saves it at
    /// the beginning of a record in a choice, or of an item that may be ignored.
    pub(super) marks: Vec<(String, String)>,
    /// Word that converts the number of a symbol to its index.
    pub(super) symbol: Option<String>,
}

/// Names that a field shares with the others of its choice.
pub(super) struct Choice {
    pub(super) number: usize,
    /// Variable with the number of the field that is present.
    pub(super) chosen: String,
    /// Variable with the row to which `chosen` belongs.
    pub(super) chosen_row: String,
    /// Word that removes the value of the chosen field.
    pub(super) back: String,
}

impl Slot<'_> {
    /// Returns the words before a value is written. They remove an earlier value of the same row, but merge
    /// records.
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

    /// Returns the words before an item of a list. The first item of a row ends the list of the row before.
    pub(super) fn begin_row(&self, row: &str) -> String {
        format!("{} @ {row} @ <> if {} then", self.state, self.late)
    }

    /// Returns the words that mark the value as present.
    pub(super) fn present(&self) -> String {
        match (&self.field.presence, self.key) {
            (Presence::Optional | Presence::Choice(_), Some(key)) => format!("1 {key}-tags <- stack"),
            _ => String::new(),
        }
    }

    /// Returns the words that remove the value of a field from the outputs, with its mark of presence.
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

/// Returns the words that save lengths of outputs and values of variables.
pub(super) fn marked(marks: &[(String, String)]) -> String {
    marks.iter().map(|(value, mark)| format!("{value} {mark} !")).collect::<Vec<_>>().join(" ")
}

/// Returns the words that restore outputs and variables.
pub(super) fn restored(marks: &[(String, String)]) -> String {
    let words = marks.iter().map(|(value, mark)| match value.strip_suffix(" len") {
        Some(column) => format!("{value} {mark} @ - {column} rewind"),
        None => format!("{mark} @ {} !", value.trim_end_matches(" @")),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the output of the option or list around the values of a field, or `None` for other fields.
pub(super) fn around(slot: &Slot<'_>) -> Option<String> {
    let part = match slot.field.presence {
        Presence::Optional | Presence::Choice(_) => "tags",
        Presence::Repeated => "offsets",
        _ => return None,
    };
    slot.key.map(|key| format!("{key}-{part}"))
}

/// Returns the outputs of the values of a field.
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

/// Returns the output for the numbers of symbols, or `None` if the Form has none.
pub(super) fn symbols_output(form: &Form) -> Option<String> {
    match form {
        Form::Numpy { key, .. } => Some(format!("{key}-data")),
        form => symbols_key(form).map(|key| format!("{key}-index")),
    }
}

/// Returns the words for a key. Literals have only 31 bits without a sign.
pub(super) fn key_text(key: u32) -> String {
    match i32::try_from(key) {
        Ok(key) => key.to_string(),
        Err(_) => format!("{} 16 lshift {} or", key >> 16, key & 0xffff),
    }
}
