//! Serialisation of a histogram's arrays and labels.

use forthwith_hist::{Axis, BinArray};
use forthwith_plan::Result;

use crate::object::Object;
use crate::write::{Buffer, Edits};

/// Serialises a `TArray`: its length and its numbers, big-endian.
pub(super) fn stored(numbers: &BinArray) -> Vec<u8> {
    let mut bytes = (numbers.len() as i32).to_be_bytes().to_vec();
    bytes.extend(numbers.bytes(true));
    bytes
}

/// Replaces the arrays and sums among the members of an object.
pub(super) fn write_sums(
    edits: &mut Edits<'_>,
    object: Object<'_>,
    arrays: &[(&str, BinArray)],
    sums: &[(&str, f64)],
) -> Result<()> {
    for (name, numbers) in arrays {
        if let Some(place) = object.place(name) {
            edits.replace(place, stored(numbers));
        }
    }
    sums.iter().try_for_each(|(name, value)| edits.float(object, name, *value))
}

/// Appends the labels of an axis as the `THashList` of a `TAxis`.
pub(super) fn write_labels(axis: &Axis, buffer: &mut Buffer) {
    buffer.object("THashList", |buffer| {
        buffer.tlist("", axis.labels.len(), |buffer, at| {
            let (bin, text) = &axis.labels[at];
            buffer.object("TObjString", |buffer| {
                buffer.frame(1, |buffer| {
                    buffer.tobject(u32::try_from(*bin).unwrap_or(0), 0);
                    buffer.string(text);
                });
            });
        });
    });
}
