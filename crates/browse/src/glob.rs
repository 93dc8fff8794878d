//! Selection of branches by patterns of their names: globs, and regular expressions between slashes as in the
//! filters of the Python interface.

use forthwith::files;
use regex_lite::{Regex, RegexBuilder};

/// List of names, globs and regular expressions, any of which may match. An empty list matches everything.
pub struct Patterns(Vec<Pattern>);

enum Pattern {
    Glob(String),
    Regular(Regex),
}

impl Patterns {
    /// Parses patterns.
    ///
    /// # Errors
    /// Returns an error if a text between slashes is not a valid regular expression.
    pub fn of(typed: &[String]) -> Result<Self, String> {
        typed.iter().map(|text| Pattern::of(text)).collect::<Result<_, _>>().map(Self)
    }

    /// Whether one of the globs matches without regard to case.
    pub fn matches_in_another_case(typed: &[String], path: &str, name: &str) -> bool {
        let mut globs = typed.iter().filter(|text| is_pattern(text) && regular(text).is_none());
        globs.any(|glob| {
            let glob = glob.to_lowercase();
            files::matches(&glob, &path.to_lowercase()) || files::matches(&glob, &name.to_lowercase())
        })
    }

    /// Whether a name or its path matches.
    pub fn want(&self, path: &str, name: &str) -> bool {
        let is_named = |pattern: &Pattern| pattern.matches(path) || (name != path && pattern.matches(name));
        self.0.is_empty() || self.0.iter().any(is_named)
    }
}

impl Pattern {
    fn of(typed: &str) -> Result<Self, String> {
        let Some((text, flags)) = regular(typed) else { return Ok(Self::Glob(typed.to_owned())) };
        let mut builder = RegexBuilder::new(&format!("^(?:{text})"));
        builder.case_insensitive(flags.contains('i'));
        builder.multi_line(flags.contains('m'));
        builder.dot_matches_new_line(flags.contains('s'));
        builder.ignore_whitespace(flags.contains('x'));
        match builder.build() {
            Ok(regex) => Ok(Self::Regular(regex)),
            Err(error) => Err(format!("{typed} is not a regular expression: {error}")),
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Glob(glob) => files::matches(glob, text),
            Self::Regular(regex) => regex.is_match(text),
        }
    }
}

/// Whether a text is a regular expression or has wildcards.
pub fn is_pattern(text: &str) -> bool {
    regular(text).is_some() || files::is_pattern(text)
}

/// Splits `/regex/flags` into the expression and its flags; `None` for any other text.
fn regular(text: &str) -> Option<(&str, &str)> {
    let (expression, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    flags.chars().all(|flag| "aimsux".contains(flag)).then_some((expression, flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(patterns: &[&str], path: &str, name: &str) -> bool {
        let typed: Vec<String> = patterns.iter().map(ToString::to_string).collect();
        Patterns::of(&typed).expect("patterns").want(path, name)
    }

    #[test]
    fn names_or_paths_may_match() {
        assert!(want(&["pt"], "Muon/pt", "pt"));
        assert!(want(&["Muon/*"], "Muon/pt", "pt"));
        assert!(!want(&["eta"], "Muon/pt", "pt"));
        assert!(want(&[], "Muon/pt", "pt"));
    }

    #[test]
    fn regular_expressions_stand_between_slashes() {
        for (pattern, name, expected) in [
            ("/Muon_(pt|eta)/", "Muon_pt", true),
            ("/Muon_(pt|eta)/", "Muon_ptErr", true), // from the start, as re.match
            ("/Muon_(pt|eta)$/", "Muon_ptErr", false),
            ("/muon_.*/i", "Muon_pt", true),
            ("/muon_.*/", "Muon_pt", false),
            ("/pt|eta/", "Muon_pt", false),
            ("/a|b$/", "ax", true),
            ("/evt/P3.Px", "/evt/P3.Px", true), // no flags behind: a name
            ("//", "x", true),
        ] {
            assert_eq!(want(&[pattern], name, name), expected, "{pattern} {name}");
        }
        assert!(is_pattern("/x/") && !is_pattern("a/x"));
        assert!(Patterns::of(&["/(/".into()]).is_err());
    }
}
