//! Parser of bodies with several ranges (RFC 9110, section 14.6).
//!
//! Each part states its range, so its end is known without a search; a delimiter has to follow directly.
//! Parsing takes time linear in the length of the body.

use crate::answer::Part;
use bytes::Bytes;
use std::ops::Range;

/// Upper bound on the bytes before the first delimiter, and on those of the headers of a part.
const HEAD: usize = 4 << 10;
/// Upper bound on the length of a boundary (RFC 2046, section 5.1.1).
const LONGEST_BOUNDARY: usize = 70;

/// Returns the boundary of a content type of several ranges, or the fault as a phrase; `None` for another
/// content type.
pub(crate) fn boundary(content_type: &str) -> Option<Result<&str, String>> {
    let (kind, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    if !kind.trim().eq_ignore_ascii_case("multipart/byteranges") {
        return None;
    }
    let named = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim())
    });
    let Some(value) = named else { return Some(Err("its content type names no boundary".into())) };
    let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&byte);
    Some(if value.len() > LONGEST_BOUNDARY {
        Err(format!("its boundary has {} characters, more than {LONGEST_BOUNDARY}", value.len()))
    } else if value.is_empty() || value.ends_with(' ') || !value.bytes().all(is_allowed) {
        Err("its boundary is empty or has invalid characters".into())
    } else {
        Ok(value)
    })
}

/// Parses a body of at most `most` parts. Returns the parts and the size of the file, or the fault as a
/// phrase. A truncated body yields the parts that a delimiter follows.
pub(crate) fn parts(body: &Bytes, boundary: &str, most: usize) -> Result<(Vec<Part>, u64), String> {
    let delimiter = format!("\r\n--{boundary}");
    let mut at = first(body, delimiter.as_bytes()).ok_or("the body has no boundary")?;
    let mut parts = Vec::new();
    let mut size = None;
    // At the end of each round, a delimiter ends at `at`.
    loop {
        let rest = body.get(at..).unwrap_or_default();
        if rest.starts_with(b"--") {
            break;
        }
        let window = &rest[..rest.len().min(HEAD)];
        let Some(end) = find(window, b"\r\n\r\n") else {
            // Truncated within the headers, or headers without an end.
            if rest.len() < HEAD {
                break;
            }
            return Err(format!("the headers of a part are longer than {HEAD} bytes"));
        };
        let (range, all) = stated(&window[..end]).ok_or("a part has no content range")?;
        if *size.get_or_insert(all) != all {
            return Err("its parts tell different sizes of the file".into());
        }
        if parts.len() == most {
            return Err(format!("it has more than {most} parts"));
        }
        let start = at + end + 4;
        let length = usize::try_from(range.end - range.start).map_err(|_| "a part is too long")?;
        let Some(stop) = start.checked_add(length).filter(|stop| *stop <= body.len()) else { break };
        let after = &body[stop..];
        if !after.starts_with(delimiter.as_bytes()) {
            if delimiter.as_bytes().starts_with(after) {
                break;
            }
            return Err(format!("no boundary follows the {length} bytes of a part"));
        }
        parts.push(Part { start: range.start, bytes: body.slice(start..stop) });
        at = stop + delimiter.len();
    }
    match size {
        Some(size) => Ok((parts, size)),
        None => Err("the body has no part".into()),
    }
}

/// Returns the end of the first delimiter, which needs no line break at the beginning of the body.
fn first(body: &[u8], delimiter: &[u8]) -> Option<usize> {
    if body.starts_with(&delimiter[2..]) {
        return Some(delimiter.len() - 2);
    }
    let window = &body[..body.len().min(HEAD)];
    find(window, delimiter).map(|at| at + delimiter.len())
}

/// Parses the headers of a part, which begin after its delimiter. Returns its range and the size of the file.
fn stated(head: &[u8]) -> Option<(Range<u64>, u64)> {
    let head = String::from_utf8_lossy(head);
    // Padding may follow a delimiter, but no other text: that would be a longer boundary.
    let head = head.trim_start_matches([' ', '\t']).strip_prefix("\r\n")?;
    let mut headers = head.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = headers.find(|(name, _)| name.trim().eq_ignore_ascii_case("content-range"))?;
    match content_range(value.trim())? {
        (range, Some(size)) => Some((range, size)),
        (_, None) => None,
    }
}

/// Parses a content range such as `bytes 0-9/100`. Returns the range, and the size unless it is `*`.
pub(crate) fn content_range(value: &str) -> Option<(Range<u64>, Option<u64>)> {
    let (range, size) = value.strip_prefix("bytes")?.trim_start().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let end = last.checked_add(1).filter(|end| first < *end)?;
    let size = match size.trim() {
        "*" => None,
        size => Some(size.parse().ok().filter(|size| end <= *size)?),
    };
    Some((first..end, size))
}

/// Returns the position of a short text in a window of at most [`HEAD`] bytes.
fn find(window: &[u8], text: &[u8]) -> Option<usize> {
    window.windows(text.len()).position(|at| at == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"\r\n--X1\r\nContent-Type: a/b\r\nContent-Range: bytes 2-4/50\r\n\r\nabc\r\n--X1\r\ncontent-range: bytes 10-10/50\r\n\r\nd\r\n--X1--\r\n";

    fn read(body: &[u8]) -> Result<Vec<(u64, Vec<u8>)>, String> {
        let (parts, size) = parts(&Bytes::copy_from_slice(body), "X1", 2)?;
        assert_eq!(size, 50);
        Ok(parts.into_iter().map(|part| (part.start, part.bytes.to_vec())).collect())
    }

    #[test]
    fn parts_are_read_and_a_truncated_body_gives_those_that_are_whole() {
        let all = [(2, b"abc".to_vec()), (10, b"d".to_vec())];
        assert_eq!(read(BODY).unwrap(), all);
        assert_eq!(read(&BODY[2..]).unwrap(), all);
        for end in 0..BODY.len() {
            match read(&BODY[..end]) {
                Ok(parts) => assert_eq!(parts[..], all[..parts.len()]),
                Err(said) => assert!(end < 60, "{end}: {said}"),
            }
        }
    }

    #[test]
    fn lies_are_faults() {
        let changed = |from: &str, to: &str| String::from_utf8_lossy(BODY).replacen(from, to, 1).into_bytes();
        for (from, to) in [
            ("10-10/50", "10-10/51"),
            ("2-4/50", "4-2/50"),
            ("2-4/50", "2-4/3"),
            ("2-4/50", "2-4/*"),
            ("Content-Range", "Content-Rage"),
            // The number of bytes differs from the range.
            ("abc", "ab"),
            ("abc", "abcd"),
            ("2-4/50", "2-3/50"),
            ("2-4/50", "2-49/50"),
            ("\r\nd\r\n", "\r\nd\r\n--X2"),
            ("abc\r\n--X1", "abc\r\n--X12"),
        ] {
            assert!(read(&changed(from, to)).is_err(), "{from} {to}");
        }
        let body = Bytes::from_static(BODY);
        assert!(parts(&body, "X1", 1).unwrap_err().contains("more than 1 parts"));
        assert!(parts(&body, "X2", 2).unwrap_err().contains("no boundary"));
        // The range is longer than the body: no part.
        assert!(read(b"--X1\r\nContent-Range: bytes 2-40/50\r\n\r\nabc").unwrap().is_empty());
    }

    #[test]
    fn content_types_and_ranges() {
        let valid = |content_type| boundary(content_type).unwrap().unwrap();
        assert_eq!(valid("multipart/byteranges; boundary=abc"), "abc");
        assert_eq!(valid("Multipart/ByteRanges;x=1; Boundary=\"a b\""), "a b");
        assert_eq!(valid(&format!("multipart/byteranges; boundary={}", "-".repeat(70))).len(), 70);
        assert_eq!(boundary("text/plain; boundary=abc"), None);
        for wrong in [String::new(), "\"\"".into(), "\"a \"".into(), "a\u{e9}".into(), "-".repeat(71)] {
            let content_type = format!("multipart/byteranges; boundary={wrong}");
            assert!(boundary(&content_type).unwrap().is_err(), "{wrong}");
        }
        assert!(boundary("multipart/byteranges").unwrap().is_err());
        assert_eq!(content_range("bytes 0-9/100"), Some((0..10, Some(100))));
        assert_eq!(content_range("bytes 5-5/*"), Some((5..6, None)));
        for wrong in
            ["bytes */100", "0-9/100", "bytes 9-0/100", "bytes 0-100/100", "bytes 0-18446744073709551615/*"]
        {
            assert_eq!(content_range(wrong), None, "{wrong}");
        }
    }
}
