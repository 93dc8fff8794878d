//! Colour of text.

use std::ffi::OsString;

/// Emphasis of text. Without colour, every method returns the text unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint {
    /// Whether to write escape sequences.
    pub color: bool,
}

/// Role of a piece of text, which determines its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Ordinary text.
    #[default]
    Plain,
    /// Headings and requested names.
    Strong,
    /// Secondary text.
    Faint,
    /// A supported decoder.
    Good,
    /// A decoder that is a generated program.
    Special,
    /// Missing or invalid data.
    Bad,
}

impl Paint {
    /// Returns the text in a style.
    pub fn paint(self, style: Style, text: &str) -> String {
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

    /// Returns emphasised text.
    pub fn strong(self, text: &str) -> String {
        self.paint(Style::Strong, text)
    }

    /// Returns secondary text.
    pub fn faint(self, text: &str) -> String {
        self.paint(Style::Faint, text)
    }
}

/// Whether output is coloured by default, from environment variables: `NO_COLOR` disables colour,
/// `FORCE_COLOR` and `CLICOLOR_FORCE` enable it for any output, and otherwise the output must be a terminal
/// that supports colour.
#[must_use]
pub fn wants_color(is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    let is_on = |name| variable(name).is_some_and(|value| !value.is_empty() && value != "0");
    let is_off = |name| variable(name).is_some_and(|value| value == "0");
    match () {
        () if is_set("NO_COLOR") => false,
        () if is_on("FORCE_COLOR") || is_on("CLICOLOR_FORCE") => true,
        () => {
            let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
            is_terminal && !is_dumb && !is_off("CLICOLOR") && !is_off("FORCE_COLOR")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_whether_there_are_colours() {
        for (set, on_terminal, elsewhere) in [
            (&[][..], true, false),
            (&["NO_COLOR=1"], false, false),
            (&["NO_COLOR="], true, false),
            (&["NO_COLOR=1", "FORCE_COLOR=1"], false, false),
            (&["FORCE_COLOR=1"], true, true),
            (&["FORCE_COLOR=0"], false, false),
            (&["CLICOLOR_FORCE=1"], true, true),
            (&["CLICOLOR_FORCE=0"], true, false),
            (&["CLICOLOR=0"], false, false),
            (&["TERM=dumb"], false, false),
            (&["TERM=xterm"], true, false),
        ] {
            let variable = |name: &str| {
                let set = set.iter().filter_map(|pair| pair.split_once('='));
                set.clone().find(|(set, _)| *set == name).map(|(_, value)| value.into())
            };
            let found = (wants_color(true, variable), wants_color(false, variable));
            assert_eq!(found, (on_terminal, elsewhere), "{set:?}");
        }
    }

    #[test]
    fn without_colour_nothing_is_added() {
        assert_eq!(Paint { color: false }.strong("x"), "x");
        assert_eq!(Paint { color: true }.strong("x"), "\u{1b}[1mx\u{1b}[0m");
        assert_eq!(Paint { color: true }.strong(""), "");
    }
}
