//! What was asked for: the typed flags, resolved.

use crate::{
    Terminal,
    choice::Choice,
    convert::Conversion,
    flags::{Act, Check, Common, Convert, Demo, Explain, Forth, Head, Ls, Nan, Show, Typed, Verb},
    head::End,
    paint::Paint,
    target::Target,
};
use clap::ColorChoice;
use forthwith::plan::{NotNumbers, WriteOptions};
use std::{path::Path, time::Duration};

/// One command, ready to be carried out.
#[derive(Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) target: Target,
    pub(crate) verb: Action,
    /// Threads to read with; `None` leaves it to the engine.
    pub(crate) threads: Option<usize>,
    pub(crate) paint: Paint,
}

/// What to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Action {
    Ls {
        recursive: bool,
        long: bool,
        shape: Shape,
    },
    Check {
        strict: bool,
        shape: Shape,
    },
    Show {
        filter: Vec<String>,
        shape: Shape,
    },
    Head {
        end: End,
        choice: Choice,
        shape: Shape,
        not_numbers: NotNumbers,
        no_check_text: bool,
    },
    Explain {
        filter: Vec<String>,
        shape: Shape,
    },
    Convert {
        choice: Choice,
        conversion: Box<Conversion>,
        no_check_text: bool,
    },
    Forth {
        explain: bool,
    },
    /// No file is involved.
    Program(Box<Act>),
    Demo {
        limit: Duration,
    },
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// For people.
    Text,
    /// One JSON value.
    Json,
    /// One JSON value a line.
    JsonLines,
}

impl Asked {
    /// Resolves the flags. Looks only at which files exist.
    pub(crate) fn from_typed(typed: Typed, terminal: Terminal) -> Self {
        let Common { threads, color } = typed.common;
        let (target, verb) = match typed.verb {
            Verb::Ls(Ls { target, recursive, long, json }) => {
                (target, Action::Ls { recursive, long, shape: shape(json, false) })
            }
            Verb::Check(Check { target, strict, json }) => {
                (target, Action::Check { strict, shape: shape(json, false) })
            }
            Verb::Show(Show { target, filter, json }) => {
                (target, Action::Show { filter, shape: shape(json, false) })
            }
            Verb::Head(head) => entries(head, End::First),
            Verb::Tail(head) => entries(head, End::Last),
            Verb::Explain(Explain { target, filter, json }) => {
                (target, Action::Explain { filter, shape: shape(json, false) })
            }
            Verb::Convert(Convert {
                target,
                to,
                columns,
                codec,
                block_entries,
                step,
                nan,
                skip_unsupported,
                no_check_text,
                force,
            }) => {
                let choice = Choice { names: Vec::new(), filter: columns };
                let (codec, level) = leveled(codec);
                let options = WriteOptions {
                    codec,
                    level,
                    block_entries: block_entries.map(|n| n.get() as u64),
                    not_numbers: not_numbers(nan),
                    ..WriteOptions::default()
                };
                let conversion = Box::new(Conversion { to, options, step, skip_unsupported, force });
                (target, Action::Convert { choice, conversion, no_check_text })
            }
            Verb::Forth(Forth { act: Some(act), .. }) => (String::new(), Action::Program(Box::new(act))),
            Verb::Forth(Forth { target, explain, act: None }) => {
                // The parser requires a target where there is no act.
                (target.unwrap_or_default(), Action::Forth { explain })
            }
            Verb::Demo(Demo { target, limit }) => {
                (target, Action::Demo { limit: Duration::from_secs(limit) })
            }
        };
        let color = match color {
            ColorChoice::Auto => terminal.color,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        };
        Self {
            target: Target::split(&target, |name| Path::new(name).is_file()),
            verb,
            threads: threads.map(usize::from),
            paint: Paint { color },
        }
    }
}

fn entries(typed: Head, end: impl Fn(u64) -> End) -> (String, Action) {
    let Head { target, entries, branch, filter, json, jsonl, nan, no_check_text } = typed;
    let choice = Choice { names: branch, filter };
    let (shape, not_numbers) = (shape(json, jsonl), not_numbers(nan));
    (target, Action::Head { end: end(entries), choice, shape, not_numbers, no_check_text })
}

/// A codec with its level behind a colon; what is no number belongs to the name, which is then not known.
fn leveled(codec: Option<String>) -> (Option<String>, Option<i32>) {
    match codec.as_deref().and_then(|codec| codec.rsplit_once(':')) {
        Some((name, level)) if level.parse::<i32>().is_ok() => (Some(name.to_owned()), level.parse().ok()),
        _ => (codec, None),
    }
}

const fn not_numbers(nan: Option<Nan>) -> NotNumbers {
    match nan {
        None => NotNumbers::Refused,
        Some(Nan::Null) => NotNumbers::Null,
        Some(Nan::String) => NotNumbers::Text,
    }
}

const fn shape(json: bool, lines: bool) -> Shape {
    match (json, lines) {
        (_, true) => Shape::JsonLines,
        (true, false) => Shape::Json,
        (false, false) => Shape::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn asked(line: &[&str], color: bool) -> Asked {
        let typed = Typed::try_parse_from(line).expect("valid flags");
        Asked::from_typed(typed, Terminal { width: None, color })
    }

    #[test]
    fn defaults() {
        let meaning = asked(&["forthwith", "head", "nowhere.root:t"], false);
        assert_eq!(
            meaning,
            Asked {
                target: Target { uri: "nowhere.root".into(), object: "t".into() },
                verb: Action::Head {
                    end: End::First(10),
                    choice: Choice::default(),
                    shape: Shape::Text,
                    not_numbers: NotNumbers::Refused,
                    no_check_text: false,
                },
                threads: None,
                paint: Paint { color: false },
            }
        );
    }

    #[test]
    fn colour_follows_the_terminal_unless_told() {
        assert!(asked(&["forthwith", "ls", "x"], true).paint.color);
        assert!(!asked(&["forthwith", "ls", "x", "--color", "never"], true).paint.color);
        assert!(asked(&["forthwith", "--color=always", "ls", "x"], false).paint.color);
    }

    #[test]
    fn shapes() {
        let jsonl = asked(&["forthwith", "head", "x", "--jsonl"], false);
        assert!(matches!(jsonl.verb, Action::Head { shape: Shape::JsonLines, .. }));
        let json = asked(&["forthwith", "show", "x", "--json"], false);
        assert!(matches!(json.verb, Action::Show { shape: Shape::Json, .. }));
    }
}
