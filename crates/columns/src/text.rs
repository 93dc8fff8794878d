//! Check that the text of an array is UTF-8.

use crate::invalid::DEEPEST;
use crate::lookup::Lookup;
use crate::{Array, Column, DType, Form, kernels::check_utf8_by};

/// A string that is not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("text that is not UTF-8: {}", shown(.bytes))]
pub struct NotText {
    /// Row of the array.
    pub row: u64,
    /// Path within the row, such as `[].name`.
    pub member: String,
    /// Bytes of the string.
    pub bytes: Vec<u8>,
}

/// Returns the offsets and the bytes of texts, such as categories.
pub(crate) fn texts(key: &str, texts: &[String]) -> [(String, Column); 2] {
    let ends = texts.iter().scan(0i64, |end, text| {
        *end += text.len() as i64;
        Some(*end)
    });
    let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
    let bytes = texts.concat().into_bytes();
    [(format!("{key}-offsets"), Column::from_vec(offsets)), (format!("{key}-data"), Column::from_vec(bytes))]
}

impl Array {
    /// Checks that all strings are UTF-8, in one pass over each column of bytes.
    ///
    /// # Errors
    /// The first string that is not UTF-8.
    pub fn check_text(&self) -> Result<(), NotText> {
        self.check_text_by(1)
    }

    /// Checks strings like [`check_text`](Self::check_text), with up to `threads` threads for large data.
    ///
    /// # Errors
    /// Errors of [`check_text`](Self::check_text).
    pub fn check_text_by(&self, threads: usize) -> Result<(), NotText> {
        find(&self.form, &Lookup::of(self), threads, "", 0).map_or(Ok(()), Err)
    }
}

/// Returns the first string of a node that is not UTF-8, with its row of the node.
fn find(form: &Form, lookup: &Lookup<'_>, threads: usize, member: &str, depth: u32) -> Option<NotText> {
    if depth > DEEPEST {
        return None;
    }
    let below = |content: &Form, member: &str| find(content, lookup, threads, member, depth + 1);
    let all = |key: &str, part: &str| {
        let length = lookup.column(key, part, DType::Int64, 0).ok()?.len() as u64;
        lookup.integers(key, part, length).ok()
    };
    // Strings that no row refers to must be valid as well; the error then has row 0.
    match form {
        Form::Empty | Form::Numpy { .. } | Form::Categorical { .. } | Form::String { binary: true, .. } => {
            None
        }
        Form::String { key, binary: false } => {
            let offsets = lookup.column(key, "offsets", DType::Int64, 0).ok()?;
            if let Some((texts, rows)) = offsets.texts()
                && rows == (0..texts.rows())
            {
                let row = texts.first_not_text()?;
                let bytes = texts.text(row).unwrap_or_default().to_vec();
                return Some(NotText { row: row as u64, member: member.to_owned(), bytes });
            }
            let data = lookup.column(key, "data", DType::UInt8, 0).ok()?;
            let row = check_utf8_by(offsets, data, threads).err()?.row;
            let at = |row: usize| offsets.item::<i64>(row).and_then(|at| usize::try_from(at).ok());
            let range = at(row as usize).zip(at(row as usize + 1)).map(|(start, end)| start..end);
            let bytes = range.and_then(|range| data.as_bytes().get(range)).unwrap_or_default().to_vec();
            Some(NotText { row, member: member.to_owned(), bytes })
        }
        Form::Logical { content, .. } => below(content, member),
        Form::Record { fields, contents, .. } => contents.iter().enumerate().find_map(|(at, content)| {
            let name = fields.as_ref().and_then(|names| names.get(at).cloned());
            below(content, &format!("{member}.{}", name.unwrap_or_else(|| at.to_string())))
        }),
        Form::List { key, content } => {
            let found = below(content, &format!("{member}[]"))?;
            let row = all(key, "offsets").map(|offsets| {
                offsets.partition_point(|at| u64::try_from(*at).is_ok_and(|at| at <= found.row))
            });
            Some(NotText { row: (row.unwrap_or(0) as u64).saturating_sub(1), ..found })
        }
        Form::Regular { size, content } => {
            let found = below(content, &format!("{member}[]"))?;
            Some(NotText { row: found.row.checked_div(*size).unwrap_or(0), ..found })
        }
        Form::Option { key, content } => {
            let found = below(content, member)?;
            let index = all(key, "index");
            let row = index.and_then(|index| index.iter().position(|at| *at == found.row as i64));
            Some(NotText { row: row.unwrap_or(0) as u64, ..found })
        }
        Form::Union { key, contents } => contents.iter().enumerate().find_map(|(tag, content)| {
            let found = below(content, &format!("{member}<{tag}>"))?;
            let tags = lookup.column(key, "tags", DType::Int8, 0).ok()?.as_i8()?;
            let index = all(key, "index").unwrap_or_default();
            let mine = |(of, at): (&i8, &i64)| usize::try_from(*of) == Ok(tag) && *at == found.row as i64;
            let row = tags.iter().zip(index.iter()).position(mine);
            Some(NotText { row: row.unwrap_or(0) as u64, ..found })
        }),
    }
}

/// Formats the first bytes as a Python bytes literal.
fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 40;
    let head = bytes.get(..MOST).unwrap_or(bytes);
    let more = if head.len() < bytes.len() { format!("… ({} bytes)", bytes.len()) } else { String::new() };
    format!("b\"{}\"{more}", head.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    #[test]
    fn the_row_and_the_place_are_told() {
        // var * ?{s: string}
        let text = Form::String { key: "s".into(), binary: false };
        let record = Form::Record { fields: Some(vec!["s".into()]), contents: vec![text], name: None };
        let option = Form::Option { key: "o".into(), content: Box::new(record) };
        let array = |bytes: &[u8]| Array {
            form: Form::List { key: "l".into(), content: Box::new(option.clone()) },
            length: 3,
            columns: vec![
                ("l-offsets".into(), Column::from_slice(&[0i64, 2, 2, 4])),
                ("o-index".into(), Column::from_slice(&[0i64, -1, 1, 2])),
                ("s-offsets".into(), Column::from_slice(&[0i64, 2, 3, 5])),
                ("s-data".into(), Column::from_slice(bytes)),
            ],
        };
        assert_eq!(array("éxay".as_bytes()).check_text(), Ok(()));
        let found = array(b"abc\xff\"").check_text().unwrap_err();
        assert_eq!((found.row, found.member.as_str(), &found.bytes[..]), (2, "[].s", &b"\xff\""[..]));
        assert_eq!(found.to_string(), r#"text that is not UTF-8: b"\xff\"""#);
        // A character in two strings.
        assert_eq!(array("aéxy".as_bytes()).check_text().unwrap_err().row, 0);
    }
}
