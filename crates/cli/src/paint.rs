//! Colour, or none.

/// How text is emphasised. Without colour every method returns the text as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    /// Whether escape sequences may be written.
    pub(crate) color: bool,
}

/// What a piece of text is, rather than which colour it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    /// Ordinary text.
    #[default]
    Plain,
    /// Headings and names that were asked for.
    Strong,
    /// What may be skipped when reading.
    Faint,
    /// A decoder that works.
    Good,
    /// A decoder that is a generated program.
    Special,
    /// Something missing or wrong.
    Bad,
}

impl Paint {
    /// The text in a style.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Plain => return text.to_owned(),
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Good => "32",
            Style::Special => "36",
            Style::Bad => "31",
        };
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.paint(Style::Strong, text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.paint(Style::Faint, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_nothing_is_added() {
        assert_eq!(Paint { color: false }.strong("x"), "x");
        assert_eq!(Paint { color: true }.strong("x"), "\u{1b}[1mx\u{1b}[0m");
        assert_eq!(Paint { color: true }.strong(""), "");
    }
}
