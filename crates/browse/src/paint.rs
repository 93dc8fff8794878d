//! Colour, or none.

use std::ffi::OsString;

/// How text is emphasised. Without colour every method returns the text as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint {
    /// Whether escape sequences may be written.
    pub color: bool,
}

/// The role of a piece of text, rather than its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Ordinary text.
    #[default]
    Plain,
    /// Headings and names that were asked for.
    Strong,
    /// Text that a reader may skip.
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

    /// Emphasised text.
    pub fn strong(self, text: &str) -> String {
        self.paint(Style::Strong, text)
    }

    /// Text that a reader may skip.
    pub fn faint(self, text: &str) -> String {
        self.paint(Style::Faint, text)
    }
}

/// Whether answers are coloured if nothing is said on the command line, by variables of the environment:
/// `NO_COLOR` forbids it, `FORCE_COLOR` and `CLICOLOR_FORCE` want it wherever answers go, and otherwise it
/// takes a terminal that has colours.
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
