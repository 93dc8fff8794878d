//! Filters of names, applied while they are typed: globs, regular expressions, or subsequences of letters.

use crate::glob::{self, Patterns};

/// Filter of names, as typed.
#[derive(Default)]
pub(crate) struct NameFilter {
    text: String,
    kind: Kind,
}

#[derive(Default)]
enum Kind {
    /// Matches all names.
    #[default]
    All,
    /// Glob or `/regex/`.
    Patterns(Patterns),
    /// Lower-case letters that a name must contain in this order, in either case.
    Letters(Vec<char>),
}

impl NameFilter {
    /// Parses a filter. An incomplete regular expression is treated as letters while it is typed.
    pub(crate) fn new(text: &str) -> Self {
        let kind = match text {
            "" => Kind::All,
            _ if glob::is_pattern(text) => match Patterns::of(&[text.to_owned()]) {
                Ok(patterns) => Kind::Patterns(patterns),
                Err(_) => Kind::Letters(letters(text.trim_matches('/'))),
            },
            _ => Kind::Letters(letters(text.trim_matches('/'))),
        };
        Self { text: text.to_owned(), kind }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self.kind, Kind::All)
    }

    /// Whether a path or its last part matches.
    pub(crate) fn matches(&self, path: &str, name: &str) -> bool {
        match &self.kind {
            Kind::All => true,
            Kind::Patterns(patterns) => patterns.want(path, name),
            Kind::Letters(letters) => has_letters(path, letters),
        }
    }
}

fn letters(text: &str) -> Vec<char> {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Whether a text contains all letters in order, possibly with others between them.
fn has_letters(text: &str, letters: &[char]) -> bool {
    let mut wanted = letters.iter().peekable();
    for c in text.chars() {
        let Some(&&next) = wanted.peek() else { return true };
        let is_next =
            if c.is_ascii() { c.to_ascii_lowercase() == next } else { c.to_lowercase().any(|c| c == next) };
        if is_next {
            wanted.next();
        }
    }
    wanted.peek().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_by_glob_regex_or_letters() {
        for (filter, path, expected) in [
            ("", "Muon_pt", true),
            ("muonpt", "Muon_pt", true),
            ("mpt", "Muon_pt", true),
            ("ptm", "Muon_pt", false),
            ("Muon_*", "Muon_pt", true),
            ("muon_*", "Muon_pt", false),
            ("/Muon_(pt|eta)$/", "Muon_pt", true),
            ("/muon/i", "Muon_pt", true),
            ("/Muon_(", "Muon_(pt", true),
            ("/(/", "a(b", true),
        ] {
            let name = path.rsplit('/').next().unwrap_or(path);
            assert_eq!(NameFilter::new(filter).matches(path, name), expected, "{filter} {path}");
        }
    }
}
