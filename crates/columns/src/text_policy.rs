//! Treatment of text that is not UTF-8.

use crate::lookup::Lookup;
use crate::validate::offsets_end;
use crate::{Array, Column, DType, Form, Invalid, kernels::check_utf8_by};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, collections::HashSet};

/// Treatment of text that is not UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextPolicy {
    /// Reports an error where the format defines text as UTF-8; otherwise keeps the stored bytes.
    #[default]
    Strict,
    /// Keeps the stored bytes as text.
    Stored,
    /// Changes all text to byte strings, valid or not.
    Bytes,
    /// Decodes a string that is not UTF-8 as Latin-1, where each byte is a character.
    Latin1,
    /// Replaces bytes that are not UTF-8 by U+FFFD, the replacement character.
    Replace,
    /// Removes bytes that are not UTF-8.
    Ignore,
}

impl TextPolicy {
    /// Names of the policies that [`parse`](Self::parse) accepts.
    pub const NAMES: [&'static str; 5] = ["strict", "bytes", "latin-1", "replace", "ignore"];

    /// Returns the policy of a name, or `None` if it is unknown.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "strict" => Some(Self::Strict),
            "bytes" => Some(Self::Bytes),
            "latin-1" => Some(Self::Latin1),
            "replace" => Some(Self::Replace),
            "ignore" => Some(Self::Ignore),
            _ => None,
        }
    }

    /// Whether the policy changes text or its type.
    #[must_use]
    pub const fn converts(self) -> bool {
        matches!(self, Self::Bytes | Self::Latin1 | Self::Replace | Self::Ignore)
    }

    /// Changes a Form to that of arrays after [`convert`](Self::convert).
    pub fn convert_form(self, form: &mut Form) {
        if self == Self::Bytes {
            form.change(&mut |node| {
                if let Form::String { binary, .. } = node {
                    *binary = true;
                }
            });
        }
    }

    /// Converts the text of an array. Columns that are valid are kept, not copied.
    ///
    /// # Errors
    /// [`Invalid`] buffers.
    pub fn convert(self, array: &mut Array, threads: usize) -> Result<(), Invalid> {
        match self {
            Self::Strict | Self::Stored => {}
            Self::Bytes => self.convert_form(&mut array.form),
            Self::Latin1 => decode(array, threads, latin_1)?,
            Self::Replace => decode(array, threads, String::from_utf8_lossy)?,
            Self::Ignore => decode(array, threads, valid_parts)?,
        }
        Ok(())
    }
}

/// Decodes bytes as UTF-8 if they are valid, and else as Latin-1.
fn latin_1(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Returns the parts of a text that are valid UTF-8.
fn valid_parts(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.utf8_chunks().map(|chunk| chunk.valid()).collect(),
    }
}

/// Decodes all strings of the text nodes that have an invalid one.
fn decode(array: &mut Array, threads: usize, text: fn(&[u8]) -> Cow<'_, str>) -> Result<(), Invalid> {
    let mut made: Vec<(String, Column)> = Vec::new();
    let mut seen = HashSet::new();
    let lookup = Lookup::of(array);
    for node in array.form.nodes() {
        let Form::String { key, binary: false } = node else { continue };
        if !seen.insert(key) {
            continue;
        }
        let offsets = lookup.column(key, "offsets", DType::Int64, 1)?;
        let rows = offsets.len() as u64 - 1;
        let end = offsets_end(&lookup, key, rows)?;
        let data = lookup.column(key, "data", DType::UInt8, end)?;
        if check_utf8_by(offsets, data, threads).is_ok() {
            continue;
        }
        let (bytes, mut decoded, mut ends) = (data.as_bytes(), Vec::new(), vec![0i64]);
        for pair in lookup.integers(key, "offsets", rows + 1)?.windows(2) {
            // Offsets were validated by `offsets_end`.
            let stored = bytes.get(pair[0] as usize..pair[1] as usize).unwrap_or_default();
            decoded.extend_from_slice(text(stored).as_bytes());
            ends.push(decoded.len() as i64);
        }
        made.push((format!("{key}-offsets"), Column::from_vec(ends)));
        made.push((format!("{key}-data"), Column::from_vec(decoded)));
    }
    for (name, column) in made {
        if let Some((_, stored)) = array.columns.iter_mut().find(|(known, _)| *known == name) {
            *stored = column;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(of: &[&[u8]]) -> Array {
        let ends = of.iter().scan(0i64, |end, text| {
            *end += text.len() as i64;
            Some(*end)
        });
        let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
        Array {
            form: Form::String { key: "s".into(), binary: false },
            length: of.len() as u64,
            columns: vec![
                ("s-offsets".into(), Column::from_vec(offsets)),
                ("s-data".into(), Column::from_vec(of.concat())),
            ],
        }
    }

    fn converted(policy: TextPolicy, of: &[&[u8]]) -> Array {
        let mut array = texts(of);
        policy.convert(&mut array, 1).expect("valid buffers");
        array
    }

    fn bytes(array: &Array) -> (&[u8], Vec<i64>) {
        let offsets = array.column("s-offsets").and_then(Column::as_i64).expect("offsets");
        (array.column("s-data").expect("bytes").as_bytes(), offsets.to_vec())
    }

    #[test]
    fn strings_that_are_not_utf_8_are_decoded_one_by_one() {
        let stored: &[&[u8]] = &["é".as_bytes(), b"5 \xb5m", b"", b"\xff"];
        let latin = converted(TextPolicy::Latin1, stored);
        assert_eq!(bytes(&latin), ("é5 µmÿ".as_bytes(), vec![0, 2, 7, 7, 9]));
        let replaced = converted(TextPolicy::Replace, stored);
        assert_eq!(bytes(&replaced), ("é5 \u{fffd}m\u{fffd}".as_bytes(), vec![0, 2, 8, 8, 11]));
        let left = converted(TextPolicy::Ignore, stored);
        assert_eq!(bytes(&left), ("é5 m".as_bytes(), vec![0, 2, 5, 5, 5]));
        // A character that is cut by the end of its string is not valid, though the bytes together are.
        let cut: &[&[u8]] = &[b"\xc3", b"\xa9"];
        assert_eq!(bytes(&converted(TextPolicy::Latin1, cut)), ("Ã©".as_bytes(), vec![0, 2, 4]));
    }

    #[test]
    fn bytes_are_another_type_and_the_same_columns() {
        let array = converted(TextPolicy::Bytes, &[b"\xff"]);
        assert_eq!(array.form, Form::String { key: "s".into(), binary: true });
        assert_eq!(bytes(&array).0, b"\xff");
        assert_eq!(converted(TextPolicy::Stored, &[b"\xff"]).form, texts(&[]).form);
        assert!(TextPolicy::NAMES.iter().all(|name| TextPolicy::parse(name).is_some()));
        assert_eq!(TextPolicy::parse("utf-8"), None);
    }
}
