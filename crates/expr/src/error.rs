//! Errors with their position in the text.

use std::{fmt, ops::Range, sync::Arc};

/// Error of an expression that cannot be parsed, checked or computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Text of the expression.
    pub text: Arc<str>,
    /// Byte range of the text that the error is about.
    pub at: Range<usize>,
    /// Description: the text that was found, and what was expected.
    pub what: String,
    /// Name of the alias that the text belongs to, unless it is the expression itself.
    pub alias: Option<String>,
    /// Entry whose values cannot be computed, counted from the first row of the arrays.
    pub entry: Option<u64>,
    /// Replacement for unsupported Python syntax in the text.
    pub hint: Option<&'static str>,
}

/// Error in a text that the caller knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: Span,
    pub(crate) what: String,
    /// Whether the text cannot be parsed, perhaps because of unsupported Python syntax.
    pub(crate) is_syntax: bool,
}

/// Byte range in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        // Texts are limited to far less.
        let short = |at| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: short(start), end: short(end) }
    }

    pub(crate) fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Fault {
    pub(crate) fn new(at: Span, what: impl Into<String>) -> Self {
        Self { at, what: what.into(), is_syntax: false }
    }

    pub(crate) fn syntax(at: Span, what: impl Into<String>) -> Self {
        Self { at, what: what.into(), is_syntax: true }
    }

    pub(crate) fn within(self, text: &Arc<str>, alias: Option<&str>) -> Error {
        Error {
            text: Arc::clone(text),
            at: self.at.range(),
            what: self.what,
            alias: alias.map(str::to_owned),
            entry: None,
            hint: if self.is_syntax { hint(text) } else { None },
        }
    }
}

/// Returns the replacement for a Python conditional expression.
fn hint(text: &str) -> Option<&'static str> {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_conditional = words.any(|word| word == "if") && words.any(|word| word == "else");
    is_conditional.then_some("where(condition, x, y) chooses between two values")
}

/// Maximum number of characters that are shown on either side of the error.
const AROUND: usize = 60;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        if let Some(alias) = &self.alias {
            write!(f, ", in the alias {alias:?}")?;
        }
        let (line, before, marked) = line(&self.text, &self.at);
        write!(f, "\n    {line}\n    {:before$}{}", "", "^".repeat(marked))?;
        self.hint.map_or(Ok(()), |hint| write!(f, "\n  {hint}"))
    }
}

impl std::error::Error for Error {}

/// Returns the line of the error, the number of characters before it, and the number of characters to mark.
/// Long lines are shortened around the error.
fn line(text: &str, at: &Range<usize>) -> (String, usize, usize) {
    let boundary =
        |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (start, end) = (boundary(at.start), boundary(at.end.max(at.start)));
    let first = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let last = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let before: Vec<char> = text[first..start].chars().collect();
    let marked = text[start..end.min(last).max(start)].chars().count();
    let rest: Vec<char> = text[start..last].chars().collect();
    let hidden = before.len().saturating_sub(AROUND);
    let shown = marked.clamp(1, AROUND);
    let mut line: Vec<char> = if hidden > 0 { vec!['…'] } else { vec![] };
    line.extend(&before[hidden..]);
    let column = line.len();
    line.extend(rest.iter().take(shown + AROUND));
    if rest.len() > shown + AROUND {
        line.push('…');
    }
    // Control characters are replaced, as a terminal would interpret them.
    let line = line.into_iter().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    (line, column, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, at: Range<usize>) -> String {
        let (start, end) = (at.start, at.end);
        Fault::new(Span::new(start, end), "wrong").within(&text.into(), None).to_string()
    }

    #[test]
    fn conditionals_of_python_have_a_hint() {
        for (text, has_hint) in [("x if y else z", true), ("elif if", false), ("(x if y else z", true)] {
            let error = Fault::syntax(Span::new(0, 1), "wrong").within(&text.into(), None);
            assert_eq!(error.hint.is_some(), has_hint, "{text}");
        }
        assert_eq!(Fault::new(Span::new(0, 1), "wrong").within(&"x if y else z".into(), None).hint, None);
    }

    #[test]
    fn the_caret_stands_below_the_place() {
        assert_eq!(shown("a + b", 4..5), "wrong\n    a + b\n        ^");
        assert_eq!(shown("a +\n bb c", 5..7), "wrong\n     bb c\n     ^^");
        assert_eq!(shown("a +", 3..3), "wrong\n    a +\n       ^");
        // Wide characters before it count once, and places within one are moved to its start.
        assert_eq!(shown("é + b", 5..6), "wrong\n    é + b\n        ^");
        assert_eq!(shown("é", 1..1), "wrong\n    é\n    ^");
    }

    #[test]
    fn long_lines_and_control_characters_do_not_reach_the_terminal() {
        let text = format!("{}\u{1b}[31m{}", "x".repeat(5000), "y".repeat(5000));
        let shown = shown(&text, 5000..5001);
        assert!(shown.len() < 600, "{}", shown.len());
        assert!(!shown.contains('\u{1b}'));
    }
}
