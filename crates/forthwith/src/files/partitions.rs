//! Hive partitions: columns in the directory names of files, such as `day=1/part.parquet`.

use super::is_pattern;
use forthwith_plan::{Constant, Value};
use std::{
    borrow::Cow,
    collections::HashMap,
    path::{Component, Path},
};

/// Name of a partition column, and its value for a file; `None` for null.
type Said = (String, Option<String>);

/// Types of the values of a column in all files.
#[derive(Clone, Copy, Default)]
struct Kind {
    has_numbers: bool,
    has_texts: bool,
    may_lack: bool,
}

/// Directory value that stands for null.
const NOTHING: &str = "__HIVE_DEFAULT_PARTITION__";

/// Returns the partition columns of each file, from the directories between a given name, a directory or a
/// pattern, and the file that it was expanded to; a pattern contributes all directories. Partition keys that
/// some of its files lack are ignored. Values are integers if all values of a column are, and otherwise text.
///
/// ```
/// use forthwith::files::partitions;
/// use forthwith::plan::Value;
///
/// let found = partitions(&[("data", "data/day=1/a.parquet"), ("data", "data/day=2/b.parquet")]);
/// assert_eq!((found[0][0].name.as_str(), &found[1][0].value), ("day", &Value::Whole(Some(2))));
/// ```
pub fn partitions<G: AsRef<Path>, F: AsRef<Path>>(files: &[(G, F)]) -> Vec<Vec<Constant>> {
    let mut said: Vec<Vec<Said>> =
        files.iter().map(|(given, found)| said(given.as_ref(), found.as_ref())).collect();
    // Partition keys that some files lack are ignored.
    let mut common: HashMap<&Path, Vec<String>> = HashMap::new();
    for ((given, _), said) in files.iter().zip(&said) {
        let names = || said.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let known = common.entry(given.as_ref()).or_insert_with(names);
        known.retain(|name| said.iter().any(|(other, _)| other == name));
    }
    for ((given, _), said) in files.iter().zip(&mut said) {
        let known = common.get(given.as_ref()).map(Vec::as_slice).unwrap_or_default();
        said.retain(|(name, _)| known.contains(name));
    }
    let mut columns: HashMap<&str, Kind> = HashMap::new();
    for (name, value) in said.iter().flatten() {
        let kind = columns.entry(name).or_default();
        match value.as_deref() {
            None => kind.may_lack = true,
            Some(value) if number(value).is_some() => kind.has_numbers = true,
            Some(_) => kind.has_texts = true,
        }
    }
    let constant = |(name, value): &Said| {
        let kind = columns.get(name.as_str()).copied().unwrap_or_default();
        let value = if kind.has_numbers && !kind.has_texts {
            Value::Whole(value.as_deref().and_then(number))
        } else {
            Value::Text(value.clone())
        };
        Constant { name: name.clone(), value, may_lack: kind.may_lack }
    };
    said.iter().map(|said| said.iter().map(constant).collect()).collect()
}

/// Returns names and values in the directories of a file.
fn said(given: &Path, found: &Path) -> Vec<Said> {
    if given == found {
        return Vec::new();
    }
    let folders = match found.strip_prefix(given) {
        Ok(below) => below,
        Err(_) if is_pattern(&given.to_string_lossy()) => found,
        Err(_) => return Vec::new(),
    };
    let mut said: Vec<Said> = Vec::new();
    for folder in folders.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(name) = folder else { continue };
        let Some((name, value)) = name.to_str().and_then(|name| name.split_once('=')) else { continue };
        // Equal text is escaped.
        let value = (value != NOTHING).then(|| unescaped(value).into_owned());
        let name = unescaped(name).into_owned();
        if name.is_empty() || said.iter().any(|(known, _)| *known == name) {
            continue;
        }
        said.push((name, value));
    }
    said
}

/// Parses an integer, perhaps with leading zeros.
fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Decodes percent escapes such as `%3A`; text that would not be valid UTF-8 is unchanged.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut made = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let is_hex = digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match digits
            .filter(|_| *byte == b'%' && is_hex)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
        {
            Some(meant) => {
                made.push(meant);
                at += 3;
            }
            None => {
                made.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(made).map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(files: &[(&str, &str)]) -> Vec<Vec<(String, Value, bool)>> {
        let of = |constant: Constant| (constant.name, constant.value, constant.may_lack);
        partitions(files).into_iter().map(|all| all.into_iter().map(of).collect()).collect()
    }

    #[test]
    fn numbers_are_numbers_where_all_are() {
        let whole = |n| Value::Whole(Some(n));
        let text = |t: &str| Value::Text(Some(t.to_owned()));
        let found = values(&[("d", "d/day=01/k=1/a.avro"), ("d", "d/day=-2/k=x%3Ay/b.avro")]);
        assert_eq!(found[0], [("day".into(), whole(1), false), ("k".into(), text("1"), false)]);
        assert_eq!(found[1], [("day".into(), whole(-2), false), ("k".into(), text("x:y"), false)]);
        let found = values(&[("d", "d/day=__HIVE_DEFAULT_PARTITION__/a.avro"), ("d", "d/day=5/b.avro")]);
        assert_eq!(found[0], [("day".into(), Value::Whole(None), true)]);
        assert_eq!(found[1], [("day".into(), whole(5), true)]);
        let found = values(&[
            ("d", "d/k=%5F%5FHIVE_DEFAULT_PARTITION__/a"),
            ("d", "d/k=__HIVE_DEFAULT_PARTITION__/b"),
        ]);
        assert_eq!(found[0], [("k".into(), text("__HIVE_DEFAULT_PARTITION__"), true)]);
        assert_eq!(found[1], [("k".into(), Value::Text(None), true)]);
        let long = values(&[("d", "d/n=9223372036854775808/a.avro")]);
        assert_eq!(long[0], [("n".into(), text("9223372036854775808"), false)]);
    }

    /// By the square of their number these would take longer than any test.
    #[test]
    fn many_files_are_looked_at_once() {
        let names: Vec<String> =
            (0..200_000).map(|at| format!("d/day={at}/k=x{}/{at}.avro", at % 7)).collect();
        let files: Vec<_> = names.iter().map(|name| ("d", name.as_str())).collect();
        let found = partitions(&files);
        assert_eq!(found.len(), names.len());
        assert_eq!(found[199_999][0].value, Value::Whole(Some(199_999)));
    }

    #[test]
    fn folders_above_a_folder_that_was_given_say_nothing() {
        assert!(values(&[("x=1/d", "x=1/d/a.avro"), ("x=1/a.avro", "x=1/a.avro")]).iter().all(Vec::is_empty));
        let some = values(&[("d", "d/x=1/y=1/a.avro"), ("d", "d/x=2/b.avro"), ("e", "e/z=1/c.avro")]);
        assert_eq!(some.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!((some[1][0].0.as_str(), some[2][0].0.as_str()), ("x", "z"));
        assert_eq!(values(&[("x=*/*.avro", "x=1/a=b.avro")])[0].len(), 1);
        assert_eq!(values(&[("s3://b/x=1/*.avro", "s3://b/x=1/a.avro")])[0].len(), 1);
    }
}
