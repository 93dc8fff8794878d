//! Resolves parsed flags into a request.

use crate::{
    Terminal,
    browse::{Browse, Browsing},
    choice::Choice,
    convert::Conversion,
    copy::{self, Copying},
    destination::{one_with_destination, with_destination},
    diff::Comparison,
    dump::Dump,
    end::End,
    failure::{Failure, Result},
    flags::{
        self, Act, Bench, CONVERT_STEP, Candidates, Check, Common, Completions, Count, Demo, Errors, Explain,
        Forth, Freq, Gen, Head, HeadFormat, Index, Language, Ls, Man, Mcp, Nan, Recompress, Recover, Schema,
        Shell, Show, Sniff, Stats, Streamers, Typed, Verb,
    },
    mcp::Serving,
    opened::{Opening, Values},
    paint::Paint,
    plot::Plotting,
    recover::Recovering,
    shape::Shape,
    stats::Summary,
    target::Target,
};
use clap::ColorChoice;
use forthwith::{
    FileFormat,
    files::partitions,
    plan::{ErrorKind, NotNumbers, WriteOptions},
};
use std::{
    ffi::OsString,
    num::NonZeroU64,
    path::{Path, PathBuf},
    time::Duration,
};

/// A resolved command line.
#[derive(Debug, PartialEq)]
pub(crate) struct Asked {
    /// Files and objects; empty for programs.
    pub(crate) targets: Vec<Target>,
    /// Files in folders and patterns skipped as unfinished.
    pub(crate) partial: Vec<PathBuf>,
    pub(crate) verb: Action,
    /// Output format.
    pub(crate) shape: Shape,
    /// How files are opened.
    pub(crate) opening: Opening,
    pub(crate) paint: Paint,
}

/// The command.
#[derive(Debug, PartialEq)]
pub(crate) enum Action {
    Ls {
        recursive: bool,
        long: bool,
    },
    Check {
        strict: bool,
    },
    Show {
        filter: Vec<String>,
    },
    Browse(Box<Browse>),
    Head {
        end: End,
        choice: Choice,
        not_numbers: NotNumbers,
        values: Values,
    },
    Count {
        cut: Option<String>,
        is_chain: bool,
    },
    Stats {
        summary: Box<Summary>,
    },
    Freq {
        summary: Box<Summary>,
    },
    Sniff,
    Dump(Dump),
    Bench {
        summary: Box<Summary>,
        rounds: u32,
    },
    Schema {
        is_chain: bool,
    },
    Gen(Language),
    Explain {
        filter: Vec<String>,
    },
    Convert {
        choice: Choice,
        conversion: Box<Conversion>,
    },
    /// Compares two files. They are not targets, so that a folder stands for itself.
    Diff(Box<Comparison>),
    /// Copies, merges or splits files.
    Copy(Box<Copying>),
    /// Answers MCP messages.
    Mcp(Serving),
    /// Writes a sound file from a damaged one.
    Recover(Box<Recovering>),
    Forth {
        explain: bool,
    },
    /// Runs a program without a file.
    Program(Box<Act>),
    Plot(Box<Plotting>),
    Streamers {
        filter: Vec<String>,
    },
    /// Writes an index of each file.
    Index {
        to: Option<String>,
    },
    Demo {
        limit: Duration,
    },
    /// Prints shell completions.
    Completions(Shell),
    /// Writes manual pages to this folder.
    Man(PathBuf),
    /// Prints candidates for completing a word.
    Candidates {
        of: Option<String>,
        word: String,
    },
}

/// Returns the requested output format. Commands without a choice use text.
fn shape_of(verb: &Verb) -> Shape {
    match verb {
        Verb::Head(head) | Verb::Tail(head) => match head.form() {
            HeadFormat::Json => Shape::Json,
            HeadFormat::Jsonl => Shape::JsonLines,
            HeadFormat::Text | HeadFormat::Csv => Shape::Text,
        },
        Verb::Ls(Ls { json, .. })
        | Verb::Check(Check { json, .. })
        | Verb::Show(Show { json, .. })
        | Verb::Count(Count { json, .. })
        | Verb::Stats(Stats { json, .. })
        | Verb::Freq(Freq { json, .. })
        | Verb::Bench(Bench { json, .. })
        | Verb::Sniff(Sniff { json, .. })
        | Verb::Schema(Schema { json, .. })
        | Verb::Streamers(Streamers { json, .. })
        | Verb::Explain(Explain { json, .. })
            if *json =>
        {
            Shape::Json
        }
        Verb::Plot(plot) if plot.json => Shape::Json,
        Verb::Dump(dump) if dump.json => Shape::JsonLines,
        Verb::Diff(diff) if diff.json => Shape::Json,
        Verb::Recover(recover) if recover.json => Shape::Json,
        _ => Shape::Text,
    }
}

impl Asked {
    /// Resolves the flags. Accesses the file system only to see which files exist.
    ///
    /// # Errors
    /// The output format cannot be written, or a pattern or folder has no files.
    pub(crate) fn from_typed(typed: Typed, terminal: Terminal) -> Result<Self> {
        let Common { threads, recover, no_checksums, open, option, index, no_cache, color } = typed.common;
        let threads = threads.map(usize::from);
        let (format, store) = (options("--open", &open)?, options("--option", &option)?);
        let opening =
            Opening { threads, recover, no_checksums, format, store, index, no_cache, ..Opening::default() };
        let shape = shape_of(&typed.verb);
        let (targets, verb) = match typed.verb {
            Verb::Ls(Ls { targets, recursive, long, .. }) => (targets, Action::Ls { recursive, long }),
            Verb::Check(Check { targets, strict, .. }) => (targets, Action::Check { strict }),
            Verb::Show(Show { targets, filter, .. }) => (targets, Action::Show { filter: listed(filter) }),
            Verb::Browse(flags::Browse { target, values }) => {
                let (browsing, values) = (Browsing::File, values.reading());
                (vec![target], Action::Browse(Box::new(Browse { browsing, values, color: forced(color) })))
            }
            Verb::View(flags::View { target, columns, cut, values }) => {
                let browsing = Browsing::Table(Choice { filter: columns, cut, ..Choice::default() });
                let (values, color) = (values.reading(), forced(color));
                (vec![target], Action::Browse(Box::new(Browse { browsing, values, color })))
            }
            Verb::Count(Count { targets, cut, chain, .. }) => {
                (targets, Action::Count { cut, is_chain: chain })
            }
            Verb::Stats(stats) => {
                let (targets, summary) = Summary::of(stats.summarised, stats.quantiles, stats.top);
                (targets, Action::Stats { summary: Box::new(summary.kept(stats.cache)) })
            }
            Verb::Freq(freq) => {
                let (targets, summary) = Summary::of(freq.summarised, Vec::new(), freq.top);
                (targets, Action::Freq { summary })
            }
            Verb::Dump(dump) => {
                let entries = dump.entries.unwrap_or(u64::MAX);
                (dump.targets, Action::Dump(Dump { entries, filter: dump.columns }))
            }
            Verb::Bench(bench) => {
                let (targets, summary) = Summary::of(bench.summarised, Vec::new(), 0);
                (targets, Action::Bench { summary, rounds: bench.rounds })
            }
            Verb::Sniff(Sniff { targets, .. }) => (targets, Action::Sniff),
            Verb::Sample(sample) => {
                let choice = Choice::of(Vec::new(), sample.columns, sample.computing);
                let conversion = Box::new(Conversion {
                    to: "-".into(),
                    format: Some(format_named(&sample.format)?),
                    options: WriteOptions { not_numbers: not_numbers(sample.nan), ..WriteOptions::default() },
                    step: CONVERT_STEP,
                    skip_unsupported: sample.skip_unsupported,
                    values: sample.values.reading(),
                    sample: Some((sample.entries, sample.seed)),
                    ..Conversion::default()
                });
                (vec![sample.target], Action::Convert { choice, conversion })
            }
            Verb::Schema(Schema { targets, chain, .. }) => (targets, Action::Schema { is_chain: chain }),
            Verb::Gen(Gen { language, target }) => (vec![target], Action::Gen(language)),
            Verb::Head(head) => entries(head, End::First)?,
            Verb::Tail(head) => entries(head, End::Last)?,
            Verb::Explain(Explain { targets, filter, .. }) => {
                (targets, Action::Explain { filter: listed(filter) })
            }
            Verb::Cat(cat) => {
                let choice = Choice::of(Vec::new(), cat.columns, cat.computing);
                let conversion = Box::new(Conversion {
                    to: "-".into(),
                    format: Some(format_named(&cat.format)?),
                    options: WriteOptions { not_numbers: not_numbers(cat.nan), ..WriteOptions::default() },
                    step: CONVERT_STEP,
                    skip_unsupported: cat.skip_unsupported,
                    missing_null: cat.missing.is_some(),
                    skip_errors: cat.errors == Errors::Skip,
                    values: cat.values.reading(),
                    end: cat.entries.map(End::First),
                    ..Conversion::default()
                });
                (cat.targets, Action::Convert { choice, conversion })
            }
            Verb::Diff(diff) => (Vec::new(), Action::Diff(Box::new(Comparison::of(*diff)?))),
            Verb::Convert(convert) => {
                let (targets, to) = with_destination("convert", convert.targets, convert.output)?;
                let choice = Choice::of(Vec::new(), convert.columns, convert.computing);
                let (codec, level) = leveled(convert.codec);
                let options = WriteOptions {
                    codec,
                    level,
                    block_entries: convert.block_entries.map(|n| n.get() as u64),
                    table: convert.table,
                    not_numbers: not_numbers(convert.nan),
                    nulls: convert.nulls,
                    ..WriteOptions::default()
                };
                let conversion = Box::new(Conversion {
                    to,
                    format: convert.format.as_deref().map(format_named).transpose()?,
                    options,
                    step: convert.step,
                    skip_unsupported: convert.skip_unsupported,
                    verbose: convert.verbose,
                    missing_null: convert.missing.is_some(),
                    skip_errors: convert.errors == Errors::Skip,
                    values: convert.values.reading(),
                    force: convert.force,
                    sample: None,
                    end: None,
                });
                (targets, Action::Convert { choice, conversion })
            }
            Verb::Merge(merge) => {
                let is_last = merge.output.is_none();
                let (targets, to) = with_destination("merge", merge.targets, merge.output)?;
                let copying = Copying {
                    to,
                    is_last,
                    columns: merge.columns,
                    codec: leveled(merge.codec),
                    common: merge.common,
                    force: merge.force,
                    ..Copying::default()
                };
                (targets, Action::Copy(Box::new(copying)))
            }
            Verb::Cp(cp) => {
                let (targets, to) = one_with_destination("cp", cp.target, cp.to, cp.output)?;
                let copying = Copying {
                    to,
                    columns: cp.columns,
                    codec: leveled(cp.codec),
                    entries: cp.entries.as_deref().map(copy::range).transpose()?,
                    choice: Choice::of(Vec::new(), Vec::new(), cp.computing),
                    force: cp.force,
                    ..Copying::default()
                };
                (targets, Action::Copy(Box::new(copying)))
            }
            Verb::Split(split) => {
                let by = match (split.entries, split.files) {
                    (Some(entries), _) => copy::Split::Entries(entries.get()),
                    (None, files) => copy::Split::Files(files.map_or(1, NonZeroU64::get)),
                };
                let (targets, to) = one_with_destination("split", split.target, split.to, split.output)?;
                let copying = Copying { to, split: Some(by), force: split.force, ..Copying::default() };
                (targets, Action::Copy(Box::new(copying)))
            }
            Verb::Recompress(recompress) => {
                let Recompress { target, to, output, .. } = recompress;
                let (targets, to) = one_with_destination("recompress", target, to, output)?;
                let copying = Copying {
                    to,
                    codec: leveled(Some(recompress.codec)),
                    force: recompress.force,
                    ..Copying::default()
                };
                (targets, Action::Copy(Box::new(copying)))
            }
            Verb::Mcp(Mcp { folders, limit }) => {
                (Vec::new(), Action::Mcp(Serving { folders, limit: Duration::from_secs(limit) }))
            }
            Verb::Recover(recover) => {
                let Recover { target, to, output, report, force, .. } = recover;
                let (targets, to) = one_with_destination("recover", target, to, output)?;
                (targets, Action::Recover(Box::new(Recovering { to, report, force })))
            }
            Verb::Forth(Forth { act: Some(act), .. }) => (Vec::new(), Action::Program(Box::new(act))),
            // The parser requires a target unless an act is given.
            Verb::Forth(Forth { target, explain, act: None }) => {
                (target.into_iter().collect(), Action::Forth { explain })
            }
            Verb::Plot(plot) => {
                let (targets, plotting) = Plotting::of(*plot, |name| Path::new(name).exists())?;
                (targets, Action::Plot(plotting))
            }
            Verb::Streamers(Streamers { targets, filter, .. }) => (targets, Action::Streamers { filter }),
            Verb::Index(Index { targets, to }) => (targets, Action::Index { to }),
            Verb::Completions(Completions { shell }) => (Vec::new(), Action::Completions(shell)),
            Verb::Man(Man { folder }) => (Vec::new(), Action::Man(folder)),
            Verb::Candidates(Candidates { of, word }) => (Vec::new(), Action::Candidates { of, word }),
            Verb::Demo(Demo { target, limit }) => {
                (vec![target], Action::Demo { limit: Duration::from_secs(limit) })
            }
        };
        let color = forced(color).unwrap_or(terminal.color);
        let exists = |name: &str| Path::new(name).exists();
        let (mut all, mut partial): (Vec<Target>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        let mut given = Vec::new();
        for typed in &targets {
            let target = Target::of(typed, exists);
            let name = target.name().to_owned();
            let (files, left_out) = target.expanded(&opening.store())?;
            given.extend(files.iter().map(|file| (name.clone(), file.name().to_owned())));
            all.extend(files);
            partial.extend(left_out);
        }
        for (target, constants) in all.iter_mut().zip(partitions(&given)) {
            target.constants = constants;
        }
        if let (Action::Forth { .. }, 2..) = (&verb, all.len()) {
            let what = format!("forth prints the program of one branch, not of {} files", all.len());
            return Err(Failure::misuse(what));
        }
        if let (Action::Browse(_), 2..) = (&verb, all.len()) {
            let what = format!("the screen shows one file, not {}: forthwith ls lists several", all.len());
            return Err(Failure::misuse(what));
        }
        Ok(Self { targets: all, partial, verb, shape, opening, paint: Paint { color } })
    }
}

/// Returns whether colours are forced on or off by the command line.
const fn forced(color: ColorChoice) -> Option<bool> {
    match color {
        ColorChoice::Auto => None,
        ColorChoice::Always => Some(true),
        ColorChoice::Never => Some(false),
    }
}

/// Parses names and values of store options. Values may be secrets, so errors never contain them.
fn options(flag: &str, typed: &[String]) -> Result<Vec<(String, String)>> {
    let option = |text: &String| {
        let named = text.split_once('=').filter(|(name, _)| !name.trim().is_empty());
        let (name, value) = named.ok_or_else(|| {
            let what = "takes a name and a value with = between them, as in timeout=60";
            Failure::misuse(format!("{flag} {what}"))
        })?;
        Ok((name.trim().to_owned(), value.to_owned()))
    };
    typed.iter().map(option).collect()
}

/// Returns the format with a name, given as a file extension.
fn format_named(name: &str) -> Result<FileFormat> {
    let name = name.trim_start_matches('.');
    FileFormat::of(&format!("table.{name}")).map_err(|error| match error.kind {
        ErrorKind::Invalid { .. } => {
            let what = format!("no format {name}: {} are written", FileFormat::listed());
            Failure::misuse(what)
        }
        _ => error.into(),
    })
}

fn entries(typed: Head, end: impl Fn(u64) -> End) -> Result<(Vec<OsString>, Action)> {
    let is_csv = typed.form() == HeadFormat::Csv;
    let Head { targets, entries, branch, filter, nan, values, .. } = typed;
    let (end, not_numbers) = (end(entries), not_numbers(nan));
    if is_csv {
        // Printed in the same way as `cat`.
        let filter = [branch, filter].concat();
        let conversion = Box::new(Conversion {
            to: "-".into(),
            format: Some(format_named("csv")?),
            options: WriteOptions { not_numbers, ..WriteOptions::default() },
            step: CONVERT_STEP,
            skip_unsupported: filter.is_empty(),
            values: values.reading(),
            end: Some(end),
            ..Conversion::default()
        });
        let choice = Choice { filter: listed(filter), ..Choice::default() };
        return Ok((targets, Action::Convert { choice, conversion }));
    }
    let choice = Choice { names: branch, filter, ..Choice::default() };
    Ok((targets, Action::Head { end, choice, not_numbers, values: values.reading() }))
}

/// Splits comma-separated lists of names.
fn listed(names: Vec<String>) -> Vec<String> {
    let split = |name: &String| name.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>();
    let is_regex = |name: &String| name.starts_with('/');
    names.iter().flat_map(|name| if is_regex(name) { vec![name.clone()] } else { split(name) }).collect()
}

/// Splits a codec from its level after a colon. A suffix other than a number stays part of the name, which is
/// then unknown.
fn leveled(codec: Option<String>) -> (Option<String>, Option<i32>) {
    match codec.as_deref().and_then(|codec| codec.rsplit_once(':')) {
        Some((name, level)) if level.parse::<i32>().is_ok() => (Some(name.to_owned()), level.parse().ok()),
        _ => (codec, None),
    }
}

const fn not_numbers(nan: Option<Nan>) -> NotNumbers {
    match nan {
        Some(Nan::Error) => NotNumbers::Refused,
        None | Some(Nan::Null) => NotNumbers::Null,
        Some(Nan::String) => NotNumbers::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn asked(line: &[&str], color: bool) -> Asked {
        let typed = Typed::try_parse_from(line).expect("valid flags");
        Asked::from_typed(typed, Terminal { width: None, color }).expect("a meaning")
    }

    #[test]
    fn defaults() {
        let meaning = asked(&["forthwith", "head", "nowhere.root:t"], false);
        assert_eq!(
            meaning,
            Asked {
                targets: vec![Target {
                    uri: "nowhere.root".into(),
                    path: None,
                    object: "t".into(),
                    constants: Vec::new(),
                }],
                partial: Vec::new(),
                verb: Action::Head {
                    end: End::First(10),
                    choice: Choice::default(),
                    not_numbers: NotNumbers::Null,
                    values: Values::default(),
                },
                shape: Shape::Text,
                opening: Opening::default(),
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
        assert!(matches!(jsonl.verb, Action::Head { .. }) && jsonl.shape == Shape::JsonLines);
        let json = asked(&["forthwith", "show", "x", "--json"], false);
        assert!(matches!(json.verb, Action::Show { .. }) && json.shape == Shape::Json);
    }
}
