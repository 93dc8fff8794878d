//! Bodies of several ranges (RFC 9110, section 14.6).

use crate::answer::Part;
use bytes::Bytes;
use std::ops::Range;

/// The most bytes of the headers of a part.
const HEAD: usize = 4 << 10;

/// The boundary that a content type names, if it is one of several ranges.
pub(crate) fn boundary(content_type: &str) -> Option<&str> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/byteranges") {
        return None;
    }
    let value = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"'))
    })?;
    (!value.is_empty()).then_some(value)
}

/// The parts of a body and the size of the file; the fault as a phrase. A body that was cut gives the parts that are whole.
pub(crate) fn parts(body: &Bytes, boundary: &str) -> Result<(Vec<Part>, u64), String> {
    let delimiter = format!("--{boundary}");
    let mut parts = Vec::new();
    let mut size = None;
    let mut at = find(body, delimiter.as_bytes()).ok_or("the body has no boundary")?;
    loop {
        at += delimiter.len();
        let rest = body.get(at..).unwrap_or_default();
        if rest.starts_with(b"--") || rest.is_empty() {
            break;
        }
        let window = &rest[..rest.len().min(HEAD)];
        let Some(end) = find(window, b"\r\n\r\n") else {
            // Cut within the headers, or no end of them.
            if rest.len() < HEAD {
                break;
            }
            return Err(format!("the headers of a part are longer than {HEAD} bytes"));
        };
        let head = String::from_utf8_lossy(&window[..end]);
        let range = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("content-range"))
            .and_then(|(_, value)| content_range(value.trim()));
        let Some((range, Some(all))) = range else { return Err("a part has no content range".into()) };
        if *size.get_or_insert(all) != all {
            return Err("its parts tell different sizes of the file".into());
        }
        let start = at + end + 4;
        let length = usize::try_from(range.end - range.start).map_err(|_| "a part is too long")?;
        let Some(bytes) =
            start.checked_add(length).filter(|end| *end <= body.len()).map(|end| body.slice(start..end))
        else {
            break;
        };
        at = start + length;
        parts.push(Part { start: range.start, bytes });
        let Some(next) = find(&body[at..body.len().min(at + HEAD)], delimiter.as_bytes()) else { break };
        at += next;
    }
    match size {
        Some(size) => Ok((parts, size)),
        None => Err("the body has no part".into()),
    }
}

/// `bytes 0-9/100`: the range, and the size unless it is `*`.
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

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"\r\n--X1\r\nContent-Type: a/b\r\nContent-Range: bytes 2-4/50\r\n\r\nabc\r\n--X1\r\ncontent-range: bytes 10-10/50\r\n\r\nd\r\n--X1--\r\n";

    fn read(body: &[u8]) -> Result<Vec<(u64, Vec<u8>)>, String> {
        let (parts, size) = parts(&Bytes::copy_from_slice(body), "X1")?;
        assert_eq!(size, 50);
        Ok(parts.into_iter().map(|part| (part.start, part.bytes.to_vec())).collect())
    }

    #[test]
    fn parts_are_read_and_a_cut_body_gives_those_that_are_whole() {
        assert_eq!(read(BODY).unwrap(), [(2, b"abc".to_vec()), (10, b"d".to_vec())]);
        for end in 0..BODY.len() {
            match read(&BODY[..end]) {
                Ok(parts) => assert!(parts.len() <= 2 && parts.iter().all(|part| [2, 10].contains(&part.0))),
                Err(said) => assert!(end < 60, "{end}: {said}"),
            }
        }
    }

    #[test]
    fn lies_are_faults() {
        let changed = |from: &str, to: &str| String::from_utf8_lossy(BODY).replacen(from, to, 1).into_bytes();
        assert!(read(&changed("10-10/50", "10-10/51")).is_err());
        assert!(read(&changed("2-4/50", "4-2/50")).is_err());
        assert!(read(&changed("2-4/50", "2-4/3")).is_err());
        assert!(read(&changed("Content-Range", "Content-Rage")).is_err());
        // More bytes than there are: no part.
        assert_eq!(
            read(&changed("2-4/50", "2-49/50")).unwrap(),
            [(2, b"abc\r\n--X1\r\ncontent-range: bytes 10-10/50\r\n\r\nd\r\n--X1-"[..48].to_vec())]
        );
    }

    #[test]
    fn content_types_and_ranges() {
        assert_eq!(boundary("multipart/byteranges; boundary=abc"), Some("abc"));
        assert_eq!(boundary("Multipart/ByteRanges;x=1; Boundary=\"a b\""), Some("a b"));
        assert_eq!(boundary("text/plain; boundary=abc"), None);
        assert_eq!(content_range("bytes 0-9/100"), Some((0..10, Some(100))));
        assert_eq!(content_range("bytes 5-5/*"), Some((5..6, None)));
        for wrong in
            ["bytes */100", "0-9/100", "bytes 9-0/100", "bytes 0-100/100", "bytes 0-18446744073709551615/*"]
        {
            assert_eq!(content_range(wrong), None, "{wrong}");
        }
    }
}
