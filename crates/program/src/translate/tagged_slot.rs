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
    /// Completes the row.
    pub(super) finish: String,
    /// The variables that are 0 between rows.
    pub(super) variables: Vec<String>,
    /// The outputs that are written to.
    pub(super) columns: Vec<String>,
    /// The variable that says that an item is ignored.
    pub(super) ignored: Option<String>,
}

/// A field with the names that stand for it in the text.
pub(super) struct Slot<'f> {
    pub(super) field: &'f TaggedField,
    /// One value.
    pub(super) form: &'f Form,
    /// The node of the option or the list around the values.
    pub(super) key: Option<&'f str>,
    pub(super) member: String,
    /// The variable with the number of values met since the row began; of a choice the number of the last one.
    pub(super) state: String,
    /// The number within a choice, and the word that takes back whichever of them is present.
    pub(super) choice: Option<(usize, String)>,
    /// The variable with the bytes of the last text.
    pub(super) length: Option<String>,
    pub(super) record: Option<RecordWords>,
    /// Outputs with the variables that have their lengths at the time when a record of a choice, or one that may
    /// be ignored, began.
    pub(super) marks: Vec<(String, String)>,
    /// The word that makes a position of a number that stands for a name.
    pub(super) symbol: Option<String>,
}

/// The words that note that a field was met, before its value is written; of a field that has one value, the value
/// before is taken back.
pub(super) fn met(slot: &Slot<'_>) -> Result<String, Unsupported> {
    let state = &slot.state;
    Ok(match (&slot.field.presence, &slot.choice) {
        (Presence::Repeated, _) => format!("1 {state} +!"),
        (_, Some((number, back))) => format!("{back} {number} {state} !"),
        _ => format!("{state} @ if {} else 1 {state} ! then", take_back(slot)?),
    })
}

/// The words that remove the value of a field from the outputs.
pub(super) fn take_back(slot: &Slot<'_>) -> Result<String, Unsupported> {
    if let Some(record) = &slot.record {
        let columns =
            slot.marks.iter().map(|(column, mark)| format!("{column} len {mark} @ - {column} rewind"));
        let variables = record.variables.iter().map(|variable| format!("0 {variable} !"));
        return Ok(columns.chain(variables).collect::<Vec<_>>().join(" "));
    }
    Ok(match (&slot.length, slot.form.kept()) {
        (Some(length), Form::String { key, .. }) => {
            format!("1 {key}-offsets rewind {length} @ {key}-data rewind")
        }
        _ => {
            let columns = values(slot)?;
            let rewind = columns.iter().map(|column| format!("1 {column} rewind"));
            rewind.collect::<Vec<_>>().join(" ")
        }
    })
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
