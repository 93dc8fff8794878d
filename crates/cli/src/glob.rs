//! Choosing branches by patterns for their names.

pub(crate) use forthwith::files::{is_pattern, matches};

/// Whether a name, or its path, matches one of the patterns; without patterns everything does.
pub(crate) fn wanted(patterns: &[String], path: &str, name: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|p| matches(p, path) || matches(p, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_or_paths_may_match() {
        assert!(wanted(&["pt".into()], "Muon/pt", "pt"));
        assert!(wanted(&["Muon/*".into()], "Muon/pt", "pt"));
        assert!(!wanted(&["eta".into()], "Muon/pt", "pt"));
        assert!(wanted(&[], "Muon/pt", "pt"));
    }
}
