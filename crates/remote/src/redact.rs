//! Removal of secrets from URLs.

/// Returns a text with the user, the password and the query removed from all URLs: these may be credentials,
/// and the text may be part of an error or a log.
#[must_use]
pub fn redact(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || "\"'<>)".contains(c)).unwrap_or(after.len());
        let (url, behind) = after.split_at(end);
        let host = url.find('/').unwrap_or(url.len());
        let url = url[..host].rfind('@').map_or(url, |user| &url[user + 1..]);
        match url.split_once('?') {
            Some((path, _)) => {
                clean.push_str(path);
                clean.push_str("?…");
            }
            None => clean.push_str(url),
        }
        rest = behind;
    }
    clean.push_str(rest);
    clean
}

/// Returns the text of an error and its causes.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn users_and_queries_are_left_out() {
        for (text, clean) in [
            ("https://user:word@host:80/a.root: not found", "https://host:80/a.root: not found"),
            ("(https://host/a.root?X-Amz-Signature=12&b=c) failed", "(https://host/a.root?…) failed"),
            ("s3://bucket/a@b.root", "s3://bucket/a@b.root"),
            ("of http://a?k and https://b@c/", "of http://a?… and https://c/"),
            ("no URL: //a@b?c", "no URL: //a@b?c"),
            ("https://", "https://"),
        ] {
            assert_eq!(redact(text), clean);
        }
    }
}
