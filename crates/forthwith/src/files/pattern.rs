//! Matching of patterns: `*`, `?`, `[abc]`, `[a-z]`, `[!abc]`.

/// Whether a text has a wildcard.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether the whole text matches the pattern, in which `*` also matches `/`. Takes linear memory, and time
/// up to the product of both lengths.
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Positions to retry from if the pattern after the last `*` does not match: the star then takes one more
    // character.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&'*') {
            retry = Some((p + 1, t));
            p += 1;
            continue;
        }
        if let Some(next) = one(&pattern, p, text[t]) {
            p = next;
            t += 1;
            continue;
        }
        let Some((after_star, at)) = retry else { return false };
        retry = Some((after_star, at + 1));
        p = after_star;
        t = at + 1;
    }
    pattern[p.min(pattern.len())..].iter().all(|c| *c == '*')
}

/// Matches one character at position `p` of the pattern; returns the next position, or `None` if it does not
/// match.
fn one(pattern: &[char], p: usize, c: char) -> Option<usize> {
    match *pattern.get(p)? {
        '?' => Some(p + 1),
        '[' => match class(&pattern[p + 1..]) {
            Some((length, set)) => set(c).then_some(p + 2 + length),
            None => (c == '[').then_some(p + 1),
        },
        literal => (literal == c).then_some(p + 1),
    }
}

/// Parses a bracket expression after its `[`; returns its length without brackets, and its predicate. `None`
/// if it is not closed.
fn class(rest: &[char]) -> Option<(usize, impl Fn(char) -> bool)> {
    let negated = matches!(rest.first(), Some('!' | '^'));
    let from = usize::from(negated);
    // A leading `]` is a member, as in other shells.
    let length = rest.iter().skip(from + 1).position(|c| *c == ']')? + from + 1;
    let members = &rest[from..length];
    Some((length, move |c| contains(members, c) != negated))
}

fn contains(members: &[char], c: char) -> bool {
    let mut at = 0;
    while let Some(&first) = members.get(at) {
        match (members.get(at + 1), members.get(at + 2)) {
            (Some('-'), Some(&last)) => {
                if (first..=last).contains(&c) {
                    return true;
                }
                at += 3;
            }
            _ => {
                if first == c {
                    return true;
                }
                at += 1;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_patterns() {
        for (pattern, text, expected) in [
            ("Muon_*", "Muon_pt", true),
            ("Muon_*", "nMuon", false),
            ("*_pt", "Muon_pt", true),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*Muon*pt*", "Muon/Muon.pt", true),
            ("x[0-3]", "x2", true),
            ("x[!0-3]", "x2", false),
            ("x[!0-3]", "x7", true),
            ("x[]]", "x]", true),
            ("x[", "x[", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_stay_cheap() {
        assert!(!matches(&format!("{}b", "*a".repeat(200)), &"a".repeat(5_000)));
    }
}
