//! Patterns for names: `*`, `?`, `[abc]`, `[a-z]`, `[!abc]`.

/// Whether a text has a character that means more than itself.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether the whole text matches the pattern, in which a `*` matches `/` too. Linear in memory, at most pattern times text in time.
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Where to go on when what follows the last `*` turns out not to fit: one more character belongs to the star.
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

/// Matches one character with what stands at `p`; answers where the pattern goes on.
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

/// A bracket expression behind its `[`: its length without the brackets, and its meaning. `None` if it is never closed.
fn class(rest: &[char]) -> Option<(usize, impl Fn(char) -> bool)> {
    let negated = matches!(rest.first(), Some('!' | '^'));
    let from = usize::from(negated);
    // A `]` in first place is a member, as everywhere else.
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
