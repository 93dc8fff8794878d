//! Options for opening a file, by name.

use forthwith_columns::TextPolicy;
use forthwith_plan::{Error, Result, similar_names};
use std::collections::BTreeMap;

/// Options for opening a file, by name. Each format has its own
/// ([`Format::options`](crate::Format::options)), in addition to [`check_text`](Self::CHECK_TEXT),
/// [`text`](Self::TEXT), [`times_as_integers`](Self::TIMES_AS_INTEGERS) and [`format`](Self::FORMAT), which
/// all have. Opening a file with an option that its format does not support is an error.
///
/// ```
/// use forthwith::OpenOptions;
///
/// let options = OpenOptions::new().with("row_groups", vec![0, 2]).with("check_text", false);
/// assert_eq!(options.names().collect::<Vec<_>>(), ["check_text", "row_groups"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    values: BTreeMap<String, OptionValue>,
}

/// Value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionValue {
    /// A boolean.
    Flag(bool),
    /// Integers, whose order may matter.
    Numbers(Vec<u64>),
    /// Text.
    Text(String),
}

/// Description of an option that a format supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionSpec {
    /// Name of the option.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: OptionKind,
    /// Description of its effect.
    pub about: &'static str,
}

/// Kind of value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionKind {
    /// [`OptionValue::Flag`].
    Flag,
    /// [`OptionValue::Numbers`].
    Numbers,
    /// [`OptionValue::Text`].
    Text,
}

impl OpenOptions {
    /// Whether invalid UTF-8 is an error where the format defines text as UTF-8. Default: `true`.
    pub const CHECK_TEXT: &'static str = "check_text";
    /// Treatment of text that is not UTF-8: one of [`TextPolicy::NAMES`].
    pub const TEXT: &'static str = "text";
    /// Whether dates, times and durations are read as the integers that store them. Default: `false`.
    pub const TIMES_AS_INTEGERS: &'static str = "times_as_integers";

    /// Format of the file, by its name or a file name extension. By default, it is detected from the first
    /// bytes and, for text, from the file name.
    pub const FORMAT: &'static str = "format";

    /// Makes options with all defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an option, and returns the options.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OptionValue>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets an option.
    pub fn set(&mut self, name: &str, value: impl Into<OptionValue>) {
        self.values.insert(name.to_owned(), value.into());
    }

    /// Sets an option to a value given as text: `true` or `false` for a flag, comma-separated integers, or
    /// text, according to the kind of the option.
    ///
    /// # Errors
    /// The text is not a value of this kind.
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<()> {
        let invalid = |what: &str| Error::invalid(format!("{name} is {what}, not {text:?}"));
        let value = match crate::formats::option_kind(name).unwrap_or(OptionKind::Text) {
            OptionKind::Flag => OptionValue::Flag(text.parse().map_err(|_| invalid("true or false"))?),
            OptionKind::Numbers => {
                let numbers: Option<Vec<u64>> =
                    text.split(',').map(|number| number.trim().parse().ok()).collect();
                OptionValue::Numbers(numbers.ok_or_else(|| invalid("numbers with commas between them"))?)
            }
            OptionKind::Text => OptionValue::Text(text.to_owned()),
        };
        self.set(name, value);
        Ok(())
    }

    /// Iterates over the names of the options that are set, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Returns the value of an option, if it is set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OptionValue> {
        self.values.get(name)
    }

    /// Returns a flag, or `default` if it is not set.
    #[must_use]
    pub fn flag(&self, name: &str, default: bool) -> bool {
        match self.get(name) {
            Some(OptionValue::Flag(value)) => *value,
            _ => default,
        }
    }

    /// Returns integers, if they are set.
    #[must_use]
    pub fn numbers(&self, name: &str) -> Option<&[u64]> {
        match self.get(name) {
            Some(OptionValue::Numbers(numbers)) => Some(numbers),
            _ => None,
        }
    }

    /// Returns text, if it is set.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(OptionValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the treatment of text that is not UTF-8, from [`TEXT`](Self::TEXT) and
    /// [`CHECK_TEXT`](Self::CHECK_TEXT).
    #[must_use]
    pub fn text_policy(&self) -> TextPolicy {
        let policy = self.text(Self::TEXT).and_then(TextPolicy::parse).unwrap_or_default();
        if policy == TextPolicy::Strict && !self.flag(Self::CHECK_TEXT, true) {
            return TextPolicy::Stored;
        }
        policy
    }

    /// Checks that each option is one of `known`, with a value of its kind. `format` is the format of the
    /// file; `elsewhere` are the options of all formats, each with the format's name, for the error.
    pub(crate) fn check(
        &self,
        format: &str,
        known: &[OptionSpec],
        elsewhere: &[(&str, OptionSpec)],
    ) -> Result<()> {
        let invalid = |what: String| Err(Error::invalid(what));
        for (name, value) in &self.values {
            if let Some(spec) = known.iter().chain(&OF_ALL).find(|spec| spec.name == name) {
                if spec.kind != value.kind() {
                    return invalid(format!("the option {name} is {}, not {}", spec.kind, value.kind()));
                }
                if *spec == TEXT
                    && let OptionValue::Text(text) = value
                    && TextPolicy::parse(text).is_none()
                {
                    return invalid(format!("text must be {}, not {text:?}", TextPolicy::NAMES.join(", ")));
                }
                continue;
            }
            let others = elsewhere.iter().filter(|(_, spec)| spec.name == name);
            let others: Vec<&str> = others.map(|(format, _)| *format).collect();
            if !others.is_empty() {
                let others = match others.split_last() {
                    Some((last, [])) => (*last).to_owned(),
                    Some((last, first)) => format!("{} and {last}", first.join(", ")),
                    None => String::new(),
                };
                return invalid(format!(
                    "{name} is an option for {others} files, but the format of this file is {format}"
                ));
            }
            let all = elsewhere.iter().map(|(_, spec)| spec.name).chain(OF_ALL.map(|spec| spec.name));
            let similar = similar_names(name, all);
            let hint = if similar.is_empty() {
                String::new()
            } else {
                format!("; did you mean {}?", similar.join(", "))
            };
            return invalid(format!("there is no option {name} for {format} files{hint}"));
        }
        Ok(())
    }
}

/// Options of files of all formats.
pub(crate) const OF_ALL: [OptionSpec; 4] = [CHECK_TEXT, TEXT, TIMES_AS_INTEGERS, FORMAT];

const FORMAT: OptionSpec = OptionSpec {
    name: OpenOptions::FORMAT,
    kind: OptionKind::Text,
    about: "the format of the file, by its name or an ending of its files' names",
};

const CHECK_TEXT: OptionSpec = OptionSpec {
    name: OpenOptions::CHECK_TEXT,
    kind: OptionKind::Flag,
    about: "whether text that is not UTF-8 is an error",
};
const TEXT: OptionSpec = OptionSpec {
    name: OpenOptions::TEXT,
    kind: OptionKind::Text,
    about: "what becomes of text that is not UTF-8",
};
const TIMES_AS_INTEGERS: OptionSpec = OptionSpec {
    name: OpenOptions::TIMES_AS_INTEGERS,
    kind: OptionKind::Flag,
    about: "whether times are read as whole numbers",
};

impl OptionValue {
    const fn kind(&self) -> OptionKind {
        match self {
            Self::Flag(_) => OptionKind::Flag,
            Self::Numbers(_) => OptionKind::Numbers,
            Self::Text(_) => OptionKind::Text,
        }
    }
}

impl std::fmt::Display for OptionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Flag => "true or false",
            Self::Numbers => "a list of numbers",
            Self::Text => "text",
        })
    }
}

impl From<bool> for OptionValue {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl From<Vec<u64>> for OptionValue {
    fn from(value: Vec<u64>) -> Self {
        Self::Numbers(value)
    }
}

impl From<String> for OptionValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&str> for OptionValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}
