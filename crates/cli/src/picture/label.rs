//! Text with Greek letters, subscripts and superscripts, as in titles of ROOT histograms.

use super::font::advance;
use crate::human;

/// Vertical position of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Line,
    Below,
    Above,
}

impl Level {
    /// Returns the font size relative to the line.
    pub(super) const fn size(self) -> f64 {
        match self {
            Self::Line => 1.0,
            Self::Below | Self::Above => 0.7,
        }
    }

    /// Returns the rise of the baseline above the line's.
    pub(super) const fn rise(self) -> f64 {
        match self {
            Self::Line => 0.0,
            Self::Below => -0.22,
            Self::Above => 0.36,
        }
    }
}

/// A line of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Label(pub(super) Vec<(Level, String)>);

impl Label {
    /// Creates a label from plain text. Control characters are escaped.
    pub(super) fn plain(text: &str) -> Self {
        let mut label = Self::default();
        label.push(Level::Line, &beginning(text));
        label
    }

    /// Parses a ROOT title, with symbols such as `#eta` and indexes such as `p_{T}` and `x^{2}`.
    pub(super) fn latex(text: &str) -> Self {
        let mut label = Self::default();
        label.parse(&beginning(text), Level::Line, 0);
        label
    }

    /// Creates a label for a power of ten.
    pub(super) fn power(power: i32) -> Self {
        match power {
            0 | 1 => Self::plain(if power == 0 { "1" } else { "10" }),
            _ => Self(vec![(Level::Line, "10".into()), (Level::Above, power.to_string().replace('-', "−"))]),
        }
    }

    /// Prepends text.
    pub(super) fn after(mut self, text: &str) -> Self {
        self.0.insert(0, (Level::Line, text.into()));
        self
    }

    /// Appends text.
    pub(super) fn before(mut self, text: &str) -> Self {
        self.push(Level::Line, text);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the width in pixels.
    pub(super) fn width(&self, size: f64) -> f64 {
        self.0.iter().map(|(level, text)| text.chars().map(advance).sum::<f64>() * level.size() * size).sum()
    }

    /// Cuts the text to a maximum width, with an ellipsis at the end.
    pub(super) fn cut(mut self, size: f64, most: f64) -> Self {
        if self.width(size) <= most {
            return self;
        }
        self.0.push((Level::Line, "…".into()));
        while self.width(size) > most && self.0.len() > 1 {
            let last = self.0.len() - 2;
            if self.0[last].1.pop().is_none() {
                self.0.remove(last);
            }
        }
        self
    }

    fn push(&mut self, level: Level, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some((last, before)) if *last == level => before.push_str(text),
            _ => self.0.push((level, text.into())),
        }
    }

    fn parse(&mut self, text: &str, level: Level, depth: usize) {
        let mut rest = text;
        while let Some(at) = rest.find(['#', '_', '^']) {
            self.push(level, &rest[..at]);
            let (sign, after) = rest[at..].split_at(1);
            rest = after;
            let index = if sign == "_" { Level::Below } else { Level::Above };
            match braced(after) {
                Some((inner, after)) if sign != "#" && depth < DEEPEST => {
                    self.parse(inner, index, depth + 1);
                    rest = after;
                }
                _ if sign == "#" => rest = self.command(after, level, depth),
                _ => self.push(level, sign),
            }
        }
        self.push(level, rest);
    }

    /// Parses a command after `#`. Returns the text after it.
    fn command<'t>(&mut self, text: &'t str, level: Level, depth: usize) -> &'t str {
        let end = text.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(text.len());
        let (name, mut after) = text.split_at(end);
        // The longest matching name wins, as in `etaX`.
        let known = SYMBOLS.iter().filter(|(known, _)| name.starts_with(known)).max_by_key(|(k, _)| k.len());
        if let Some((known, symbol)) = known {
            self.push(level, symbol);
            after = &text[known.len()..];
        } else if !STYLES.contains(&name) {
            self.push(level, "#");
            return text;
        }
        if let Some((_, behind)) = after.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
            after = behind;
        }
        let mut number = 0;
        while let Some((inner, behind)) = braced(after).filter(|_| depth < DEEPEST) {
            if number > 0 {
                self.push(level, if name == "frac" { "/" } else { " " });
            }
            self.parse(inner, level, depth + 1);
            (after, number) = (behind, number + 1);
        }
        after
    }
}

/// Returns the beginning of a text, with control characters escaped.
fn beginning(text: &str) -> String {
    let short: String = text.chars().take(LONGEST).collect();
    human::clean(&short)
}

/// Splits text after the braces at its beginning. Returns the text inside the braces and the text after them.
fn braced(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return text[..at].strip_prefix('{').map(|inner| (inner, &text[at + 1..]));
        }
    }
    None
}

/// Maximum number of characters of a text.
const LONGEST: usize = 400;
/// Maximum nesting depth of indexes.
const DEEPEST: usize = 8;
/// Commands with text in braces; the text is shown without the style.
const STYLES: [&str; 12] =
    ["it", "bf", "font", "color", "scale", "bar", "hat", "vec", "tilde", "frac", "splitline", "kern"];
/// Symbols by their names in ROOT.
const SYMBOLS: [(&str, &str); 62] = [
    ("alpha", "α"),
    ("beta", "β"),
    ("gamma", "γ"),
    ("delta", "δ"),
    ("epsilon", "ε"),
    ("zeta", "ζ"),
    ("eta", "η"),
    ("theta", "θ"),
    ("iota", "ι"),
    ("kappa", "κ"),
    ("lambda", "λ"),
    ("mu", "μ"),
    ("nu", "ν"),
    ("xi", "ξ"),
    ("pi", "π"),
    ("rho", "ρ"),
    ("sigma", "σ"),
    ("tau", "τ"),
    ("upsilon", "υ"),
    ("phi", "φ"),
    ("varphi", "ϕ"),
    ("chi", "χ"),
    ("psi", "ψ"),
    ("omega", "ω"),
    ("Gamma", "Γ"),
    ("Delta", "Δ"),
    ("Theta", "Θ"),
    ("Lambda", "Λ"),
    ("Xi", "Ξ"),
    ("Pi", "Π"),
    ("Sigma", "Σ"),
    ("Upsilon", "Υ"),
    ("Phi", "Φ"),
    ("Psi", "Ψ"),
    ("Omega", "Ω"),
    ("leq", "≤"),
    ("geq", "≥"),
    ("neq", "≠"),
    ("approx", "≈"),
    ("equiv", "≡"),
    ("sim", "∼"),
    ("pm", "±"),
    ("mp", "∓"),
    ("times", "×"),
    ("cdot", "·"),
    ("upoint", "·"),
    ("divide", "÷"),
    ("infty", "∞"),
    ("partial", "∂"),
    ("nabla", "∇"),
    ("sum", "∑"),
    ("int", "∫"),
    ("prod", "∏"),
    ("sqrt", "√"),
    ("circ", "°"),
    ("rightarrow", "→"),
    ("leftarrow", "←"),
    ("Rightarrow", "⇒"),
    ("leftrightarrow", "↔"),
    ("ell", "ℓ"),
    ("hbar", "ℏ"),
    ("perp", "⊥"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(text: &str) -> String {
        let part = |(level, text): &(Level, String)| match level {
            Level::Line => text.clone(),
            Level::Below => format!("_({text})"),
            Level::Above => format!("^({text})"),
        };
        Label::latex(text).0.iter().map(part).collect()
    }

    #[test]
    fn titles_of_root_have_their_signs() {
        for (text, shown) in [
            ("p_{T}^{#mu} [GeV]", "p_(T)^(μ) [GeV]"),
            ("#eta", "η"),
            ("#Delta R", "Δ R"),
            ("#sqrt{s} = 13 TeV, 5 fb^{-1}", "√s = 13 TeV, 5 fb^(-1)"),
            ("#it{CMS} #frac{a}{b} #font[42]{x}", "CMS a/b x"),
            ("no_braces x^2 #1 #nothing", "no_braces x^2 #1 #nothing"),
            ("open_{brace #mu", "open_{brace μ"),
            ("#", "#"),
            ("a_{}b", "ab"),
        ] {
            assert_eq!(flat(text), shown, "{text}");
        }
        assert!(flat(&"_{".repeat(100_000)).len() < 1000);
        assert!(!flat(&format!("{}x{}", "_{".repeat(50), "}".repeat(50))).is_empty());
    }

    #[test]
    fn long_text_is_cut() {
        let label = Label::plain(&"long ".repeat(100)).cut(10.0, 80.0);
        assert!(label.width(10.0) <= 80.0 && label.0.last().is_some_and(|(_, text)| text.ends_with('…')));
        assert_eq!(Label::plain("short").cut(10.0, 80.0), Label::plain("short"));
    }
}
