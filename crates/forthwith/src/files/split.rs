//! Parsing of `FILE:OBJECT`.

use super::has_known_ending;

/// Splits `FILE:OBJECT` into the file and the object, which is empty if it is absent. `exists` returns
/// whether a file exists.
///
/// A file with the whole text as its name takes precedence; otherwise the longest prefix that is an existing
/// file. If there is none, as for URLs, the file is the shortest prefix with the extension of a known format
/// (perhaps followed by a query), so that an error names the probable file. The colons of
/// `scheme://host:port` and of `C:\` do not separate, and neither do those of a URL without such an
/// extension.
///
/// ```
/// use forthwith::files::split;
///
/// let exists = |name: &str| name == "run 12:30.root";
/// assert_eq!(split("run 12:30.root:dir/tree", exists), ("run 12:30.root", "dir/tree".into()));
/// assert_eq!(split("https://host:80/a.root?x=1:t", |_| false), ("https://host:80/a.root?x=1", "t".into()));
/// ```
pub fn split(text: &str, exists: impl Fn(&str) -> bool) -> (&str, String) {
    if !text.contains(':') {
        return (text, String::new());
    }
    let is_url = scheme(text).is_some();
    if !is_url && exists(text) {
        return (text, String::new());
    }
    let colons: Vec<usize> =
        text.match_indices(':').map(|(at, _)| at).filter(|at| may_separate(text, *at)).collect();
    let existing = || colons.iter().rev().find(|at| exists(&text[..**at]));
    let at = if is_url { None } else { existing() }
        .or_else(|| colons.iter().find(|at| is_file_name(&text[..**at])))
        .or_else(|| if is_url { None } else { colons.first() });
    match at {
        Some(&at) => (&text[..at], object(&text[at + 1..])),
        None => (text, String::new()),
    }
}

/// Normalizes the path of an object: removes leading, trailing and duplicate slashes.
fn object(text: &str) -> String {
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
    parts.join("/")
}

/// Returns the offset of the first `://` after a scheme.
fn scheme(text: &str) -> Option<usize> {
    let at = text.find("://")?;
    let name = text[..at].rsplit(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).next()?;
    // A single letter is a drive.
    (name.len() > 1 && name.starts_with(|c: char| c.is_ascii_alphabetic())).then_some(at)
}

/// Whether a colon may separate file and object: it is not part of a scheme, before a port, or after a drive
/// letter.
fn may_separate(text: &str, at: usize) -> bool {
    let behind = &text[at + 1..];
    if behind.starts_with("//") && scheme(&text[..at + 3]).is_some() || behind.starts_with('\\') {
        return false;
    }
    let is_drive = at == 1 && text.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_drive && behind.starts_with('/') {
        return false;
    }
    // The authority of a URL may contain a port, and text before the scheme belongs to the URL.
    match text[..at].rfind("://").or_else(|| scheme(text).filter(|scheme| at < *scheme)) {
        Some(begin) => text
            .get(begin + 3..at)
            .is_some_and(|authority| authority.contains('/') || !is_in_authority(behind)),
        None => true,
    }
}

/// Whether a colon in or after the authority of a URL belongs to it, because a port, a password, or the next
/// URL of a chain follows.
fn is_in_authority(behind: &str) -> bool {
    let end = behind.find(['/', '?', '#']).unwrap_or(behind.len());
    let is_port = end > 0 && behind[..end].bytes().all(|byte| byte.is_ascii_digit());
    behind[..end].contains('@') || behind.starts_with(':') || is_port
}

/// Whether a name probably is that of a file: it has the extension of a known format, perhaps followed by a
/// number as in `.root.1`, or by a query.
fn is_file_name(name: &str) -> bool {
    let ends = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        has_known_ending(name) || stem.strip_suffix('.').is_some_and(has_known_ending)
    };
    ends(name) || name.split_once('?').is_some_and(|(path, _)| ends(path))
}

#[cfg(test)]
mod tests {
    use super::split;

    fn check(text: &str, existing: &[&str], file: &str, object: &str) {
        assert_eq!(split(text, |name| existing.contains(&name)), (file, object.to_owned()), "{text}");
    }

    #[test]
    fn existing_files_decide() {
        for (text, existing, file, object) in [
            ("a.root", &["a.root"][..], "a.root", ""),
            ("a.root:t", &["a.root"], "a.root", "t"),
            ("a.root:d/t/b;1", &["a.root"], "a.root", "d/t/b;1"),
            ("a.root:/d//t/", &["a.root"], "a.root", "d/t"),
            ("a.root:", &["a.root"], "a.root", ""),
            ("a:b.root", &["a:b.root", "a"], "a:b.root", ""),
            ("a:b.root:t", &["a:b.root", "a"], "a:b.root", "t"),
            ("a.root:t:u", &["a.root"], "a.root", "t:u"),
            ("a.root:t:u", &["a.root", "a.root:t"], "a.root:t", "u"),
            ("events:std::pair", &["events"], "events", "std::pair"),
            ("C:\\d\\a.root:t", &["C:\\d\\a.root"], "C:\\d\\a.root", "t"),
            ("C:\\d\\a.root", &["C:\\d\\a.root"], "C:\\d\\a.root", ""),
            ("C:/a.root:t", &["C:/a.root", "C"], "C:/a.root", "t"),
            ("\\\\?\\C:\\a.root:t", &["\\\\?\\C:\\a.root"], "\\\\?\\C:\\a.root", "t"),
            ("-:t", &["-"], "-", "t"),
            ("a.root: t ", &["a.root"], "a.root", " t "),
        ] {
            check(text, existing, file, object);
        }
    }

    #[test]
    fn without_a_file_the_likely_name_is_taken() {
        for (text, file, object) in [
            ("missing.root:t", "missing.root", "t"),
            ("missing.root.1:t", "missing.root.1", "t"),
            ("run:7.root:t:u", "run:7.root", "t:u"),
            ("d/*.root:t", "d/*.root", "t"),
            ("d/run?.root:t", "d/run?.root", "t"),
            ("missing:t", "missing", "t"),
            ("missing", "missing", ""),
            ("C:\\missing.root", "C:\\missing.root", ""),
            ("C:\\missing.root:t", "C:\\missing.root", "t"),
            ("c:missing.root:t", "c:missing.root", "t"),
            ("file.root:a://b", "file.root", "a:/b"),
            (":t", "", "t"),
            ("-:t", "-", "t"),
            ("", "", ""),
        ] {
            check(text, &[], file, object);
        }
    }

    #[test]
    fn urls_have_colons_of_their_own() {
        for (text, file, object) in [
            ("https://host:80/a.root:t", "https://host:80/a.root", "t"),
            ("https://host:80/a.ROOT:t", "https://host:80/a.ROOT", "t"),
            ("https://host:80/a.root?x=1:t", "https://host:80/a.root?x=1", "t"),
            ("https://host:80", "https://host:80", ""),
            ("https://host:80/a:t", "https://host:80/a:t", ""),
            ("https://user:word@host:80/a.parquet:x", "https://user:word@host:80/a.parquet", "x"),
            ("root://host//d/a.root", "root://host//d/a.root", ""),
            ("root://host//d/a.root:/d/t", "root://host//d/a.root", "d/t"),
            ("root://host:1094//d/a.root:N::m", "root://host:1094//d/a.root", "N::m"),
            ("s3://bucket/a:b.root:t", "s3://bucket/a:b.root", "t"),
            ("simplecache::https://host/a.root:t", "simplecache::https://host/a.root", "t"),
            ("memory://a.root:events", "memory://a.root", "events"),
            ("memory://a.root:dir/tree", "memory://a.root", "dir/tree"),
            ("memory://a.root:/dir/tree", "memory://a.root", "dir/tree"),
            ("memory://a.root:N::m", "memory://a.root", "N::m"),
            ("memory://a.root:", "memory://a.root", ""),
            ("memory://a.root", "memory://a.root", ""),
            ("memory://*.root:t", "memory://*.root", "t"),
            ("simplecache::memory://a.root:t", "simplecache::memory://a.root", "t"),
            ("https://host.root:8080/a.root:t", "https://host.root:8080/a.root", "t"),
            ("https://me.root:word@host/a.root:t", "https://me.root:word@host/a.root", "t"),
            ("zip://a.root::https://host:80/b.zip", "zip://a.root::https://host:80/b.zip", ""),
        ] {
            check(text, &["https", "https://host:80/a", "root"], file, object);
        }
    }
}
