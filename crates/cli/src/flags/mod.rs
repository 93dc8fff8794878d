//! The commands and their flags. This table gives the parser, the help and docs/details/command.md.

use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};
use forthwith::plan::Number;
use std::{ffi::OsString, num::NonZeroUsize, path::PathBuf};

mod browse;
mod copies;
mod diff;
mod forth;
mod head;
mod help;
mod paragraphs;
mod plot;
mod summary;
mod values;

pub(crate) use browse::{Browse, View};
pub(crate) use copies::{Cp, Merge, Recompress, Recover, Split};
pub(crate) use diff::Diff;
pub(crate) use forth::{Act, Bits, DisArgs, Forth, Given, OutputShape, ProgramArgs, RunArgs, StepArgs};
use head::entries;
pub(crate) use head::{Head, HeadFormat, Nan};
use help::{
    BENCH, BROWSE, CAT, CHECK, COMPLETIONS, CONVERT, COUNT, CP, DEMO, DIFF, DUMP, EXAMPLES, EXPLAIN, FORTH,
    FREQ, GEN, HEAD, INDEX, LS, MAN, MCP, MERGE, PLOT, RECOMPRESS, RECOVER, SAMPLE, SCHEMA, SHOW, SNIFF,
    SPLIT, STATS, STREAMERS, TAIL, VIEW,
};
pub(crate) use paragraphs::command;
pub(crate) use plot::Plot;
pub(crate) use summary::{Bench, Dump, Freq, Sample, Sniff, Stats, Summarised};
use values::Values;

/// Looks into scientific files: what is in them, how it is read, and how fast.
///
/// Files are named as FILE[:OBJECT[/BRANCH]]: the file, an object in it such as dir/tree (with ;CYCLE if an
/// older one is wanted), and a branch of a tree. If a file has exactly one tree, its name may be left out.
/// A pattern such as 'runs/*.root' and a folder mean the files that match or are in it; - is standard input.
#[derive(Debug, Parser)]
#[command(
    name = "forthwith",
    version,
    arg_required_else_help = true,
    subcommand_value_name = "COMMAND",
    after_help = EXAMPLES,
)]
pub(crate) struct Typed {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Flags of every command.
#[derive(Args, Debug)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Read with N threads instead of one for each processor
    #[arg(long, global = true, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Open ROOT files that were cut off or not closed by the records that are there, whatever their directories say
    #[arg(long, global = true)]
    pub(crate) recover: bool,
    /// Do not verify the checksums of RNTuples
    #[arg(long, global = true)]
    pub(crate) no_checksums: bool,
    /// An option for opening files, as in format=csv, separator=; or int96=us; may be repeated
    #[arg(long, global = true, value_name = "NAME=VALUE")]
    pub(crate) open: Vec<String>,
    /// An option for the stores of URLs, as in timeout=60, endpoint_url=https://host or anon=true; may be repeated
    #[arg(long, global = true, value_name = "NAME=VALUE")]
    pub(crate) option: Vec<String>,
    /// Take metadata from an index that forthwith index wrote: its name, or the folder with it
    #[arg(long, global = true, value_name = "INDEX")]
    pub(crate) index: Option<String>,
    /// Do not use the summaries of columns that forthwith stats keeps beside the file
    #[arg(long, global = true)]
    pub(crate) no_cache: bool,
    /// Colour the output: auto means when it goes to a terminal
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto, hide_possible_values = false)]
    pub(crate) color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the objects of a file or directory
    #[command(after_help = LS)]
    Ls(Ls),
    /// Browse a file: its objects, branches, values and histograms
    #[command(after_help = BROWSE)]
    Browse(Browse),
    /// Show the values of a table on the screen: search, filter, histograms
    #[command(after_help = VIEW)]
    View(View),
    /// List the branches of a tree: types, decoders, sizes
    #[command(after_help = SHOW)]
    Show(Show),
    /// Print the first entries of a tree
    #[command(after_help = HEAD)]
    Head(Head),
    /// Print the last entries of a tree
    #[command(after_help = TAIL)]
    Tail(Head),
    /// Print all entries, as JSON Lines or CSV
    #[command(after_help = CAT)]
    Cat(Cat),
    /// Print all objects and entries of a file, with their types
    #[command(after_help = DUMP)]
    Dump(Dump),
    /// Print the number of entries, without reading them
    #[command(after_help = COUNT)]
    Count(Count),
    /// Summarise columns: counts, extremes, means, quantiles, distinct and most frequent values
    #[command(after_help = STATS)]
    Stats(Stats),
    /// Print the most frequent values of columns, with how often they occur
    #[command(after_help = FREQ)]
    Freq(Freq),
    /// Print entries that are drawn at random, the same ones each time
    #[command(after_help = SAMPLE)]
    Sample(Sample),
    /// Say in a line what a file is: its format, compression and tables
    #[command(after_help = SNIFF)]
    Sniff(Sniff),
    /// Print the names and types of a table's columns; of an Avro file, its schema
    #[command(after_help = SCHEMA)]
    Schema(Schema),
    /// Compare two files, tables, objects or folders, of any formats
    #[command(after_help = DIFF)]
    Diff(Box<Diff>),
    /// Print a type for the rows of a table: a struct in Rust, a TypedDict in Python, a header in C++
    #[command(after_help = GEN)]
    Gen(Gen),
    /// Write a table to a file of another format
    #[command(after_help = CONVERT, override_usage = "forthwith convert [OPTIONS] <FILE[:TREE]>... <TO>")]
    Convert(Convert),
    /// Join the trees and RNTuples of several ROOT files, and add up their histograms
    #[command(after_help = MERGE, override_usage = "forthwith merge [OPTIONS] <FILE[:OBJECT]>... <TO>")]
    Merge(Merge),
    /// Copy a ROOT file or a part of it: objects, branches, entries
    #[command(after_help = CP)]
    Cp(Cp),
    /// Divide the entries of a ROOT file among several
    #[command(after_help = SPLIT)]
    Split(Split),
    /// Copy a ROOT file with its data compressed in another way
    #[command(after_help = RECOMPRESS)]
    Recompress(Recompress),
    /// Write a sound file with everything readable of a damaged or unclosed one
    #[command(after_help = RECOVER)]
    Recover(Recover),
    /// Say how branches are read, and why some cannot be
    #[command(after_help = EXPLAIN)]
    Explain(Explain),
    /// Print the AwkwardForth program made for a branch; run, step through and explain programs
    #[command(after_help = FORTH)]
    Forth(Forth),
    /// Read a whole file and say what in it is damaged
    #[command(after_help = CHECK)]
    Check(Check),
    /// Write an index of a file: with it, opening the file reads nothing but data
    #[command(after_help = INDEX)]
    Index(Index),
    /// Draw numbers of branches, or a histogram, graph or efficiency that a file holds
    #[command(after_help = PLOT)]
    Plot(Box<Plot>),
    /// List the classes that a file describes, with their members
    #[command(after_help = STREAMERS)]
    Streamers(Streamers),
    /// Show what forthwith makes of a file, and how fast
    #[command(after_help = DEMO)]
    Demo(Demo),
    /// Serve the files of some folders to language models, by the Model Context Protocol
    #[command(after_help = MCP)]
    Mcp(Mcp),
    /// Measure reading, decompressing and decoding of a table, beside a copy of memory
    #[command(after_help = BENCH)]
    Bench(Bench),
    /// Print a script that lets a shell complete commands and options
    #[command(after_help = COMPLETIONS)]
    Completions(Completions),
    /// Write a page of the manual for each command
    #[command(after_help = MAN)]
    Man(Man),
    /// Print the objects or columns that complete a word, for the scripts of shells
    #[command(name = "__complete", hide = true)]
    Candidates(Candidates),
}

/// Columns that are computed, and entries that are chosen.
#[derive(Args, Debug)]
pub(crate) struct Computing {
    /// Only entries for which an expression is true, as in 'nMuon > 1 and any(Muon_pt > 20)'
    #[arg(short = 'w', long = "where", value_name = "EXPRESSION")]
    pub(crate) cut: Option<String>,
    /// One more column, which is computed, as in 'pt2=Muon_pt**2'; may be repeated
    #[arg(long, value_name = "NAME=EXPRESSION", value_parser = alias)]
    pub(crate) compute: Vec<(String, String)>,
    /// A name for an expression, which --where and --compute may use; may be repeated
    #[arg(long, value_name = "NAME=EXPRESSION", value_parser = alias)]
    pub(crate) alias: Vec<(String, String)>,
}

fn alias(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, expression)) if !name.trim().is_empty() && !expression.starts_with('=') => {
            Ok((name.trim().to_owned(), expression.to_owned()))
        }
        _ => Err("it is a name and an expression with = between them".into()),
    }
}

#[derive(Args, Debug)]
pub(crate) struct Index {
    /// The file, or several
    #[arg(value_name = "FILE", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// The index to write, or the folder for it [default: beside the file, under its name with .fwi]
    #[arg(long, value_name = "INDEX")]
    pub(crate) to: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Mcp {
    /// The folders whose files may be read, with the folders below
    #[arg(value_name = "FOLDER", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Seconds that an answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) limit: u64,
}

#[derive(Args, Debug)]
pub(crate) struct Streamers {
    /// The file, or several
    #[arg(value_name = "FILE", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Only classes whose name matches; may be repeated
    #[arg(short, long, value_name = "PATTERN")]
    pub(crate) filter: Vec<String>,
    /// Print JSON: an array of classes
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The folder, which is made if it does not exist
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct Candidates {
    /// Complete columns of this table
    #[arg(long, value_name = "FILE[:TREE]")]
    pub(crate) of: Option<String>,
    /// The beginning of FILE:OBJECT, or of a column
    #[arg(value_name = "WORD", allow_hyphen_values = true)]
    pub(crate) word: String,
}

/// A shell that completes what is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// GNU Bash.
    Bash,
    /// Z shell.
    Zsh,
    /// fish.
    Fish,
}

#[derive(Args, Debug)]
pub(crate) struct Ls {
    /// The file, or a directory or object in it; several are listed one after the other
    #[arg(value_name = "FILE[:DIR]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Also list what is in directories below
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Also give sizes, and the number of entries of trees
    #[arg(short, long)]
    pub(crate) long: bool,
    /// Print JSON: an array of objects
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// The file, or several
    #[arg(value_name = "FILE", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Remarks count, too: exit with 1 if there are any
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print JSON: the verdict, with an array of findings
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The tree, or any object; several are shown one after the other
    #[arg(value_name = "FILE[:OBJECT]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Only branches whose name or path matches a glob or a /regex/; may be repeated, or given as a list with commas
    #[arg(short, long, value_name = "PATTERN")]
    #[arg(short_aliases = ['b', 'c'], aliases = ["branch", "branches", "column", "columns"])]
    pub(crate) filter: Vec<String>,
    /// Print JSON: the tree, with an array of branches
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Convert {
    /// The table, or one branch of it; the entries of several follow each other. The last name, TO, is
    /// the file to write: its ending says the format; - is standard output
    #[arg(value_name = "FILE[:TREE]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// The format to write, if the ending of the name does not say it
    #[arg(long, visible_alias = "to", value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// The values of columns that some of the files lack [default: an error]
    #[arg(long, value_name = "AS")]
    pub(crate) missing: Option<Missing>,
    /// Only columns whose name or path matches a glob or a /regex/; may be repeated, or given as a list with
    /// commas
    #[arg(short, long, value_name = "PATTERN", value_delimiter = ',')]
    #[arg(short_alias = 'b', aliases = ["column", "branch", "branches", "filter"])]
    pub(crate) columns: Vec<String>,
    #[command(flatten)]
    pub(crate) computing: Computing,
    /// The codec, by the format's name for it, with a level after a colon: zstd:9, none
    #[arg(long, visible_alias = "compression", value_name = "CODEC[:LEVEL]")]
    pub(crate) codec: Option<String>,
    /// The kind of table, where a format has several: 'tree' or 'ntuple' in a ROOT file [default: tree]
    #[arg(long = "as", value_name = "KIND")]
    pub(crate) table: Option<String>,
    /// The number that missing values become in a ROOT file; lists and texts are empty then [default: an error in a
    /// tree, which has no missing values; std::optional in an RNTuple]
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) nulls: Option<Number>,
    /// Entries in a block (a row group) at most
    #[arg(long, value_name = "N")]
    pub(crate) block_entries: Option<NonZeroUsize>,
    /// Decompressed bytes that are read, converted and written at a time
    #[arg(long, value_name = "BYTES", default_value_t = CONVERT_STEP)]
    pub(crate) step: u64,
    /// The form of NaN and infinities in JSON Lines, which have no such numbers [default: null]
    #[arg(long, value_name = "AS")]
    pub(crate) nan: Option<Nan>,
    /// Damaged entries: an error, or left out, which is said
    #[arg(long, value_name = "HOW", default_value = "raise", hide_possible_values = false)]
    pub(crate) errors: Errors,
    /// Leave out columns that cannot be read, or that the format has no type for
    #[arg(long)]
    pub(crate) skip_unsupported: bool,
    /// List each column that is left out
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) values: Values,
    /// The file to write, in place of the last name
    #[arg(short, long, value_name = "TO")]
    pub(crate) output: Option<OsString>,
    /// Replace a file of that name
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// The treatment of entries that are damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Errors {
    /// The first is an error
    Raise,
    /// They are left out
    Skip,
}

/// The treatment of columns that a file does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Missing {
    /// null
    Null,
}

#[derive(Args, Debug)]
pub(crate) struct Cat {
    /// The table, or one branch of it; the entries of several follow each other
    #[arg(value_name = "FILE[:TREE]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Only columns whose name or path matches a glob or a /regex/; may be repeated, or given as a list with
    /// commas
    #[arg(short, long, value_name = "PATTERN", value_delimiter = ',')]
    #[arg(short_aliases = ['b', 'f'], aliases = ["column", "branch", "branches", "filter"])]
    pub(crate) columns: Vec<String>,
    #[command(flatten)]
    pub(crate) computing: Computing,
    /// No more than the first N entries [default: all]
    #[arg(short = 'n', long, value_name = "N", value_parser = entries)]
    pub(crate) entries: Option<u64>,
    /// The format: jsonl or csv, or any that convert writes
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) format: String,
    /// The values of columns that some of the files lack [default: an error]
    #[arg(long, value_name = "AS")]
    pub(crate) missing: Option<Missing>,
    /// The form of NaN and infinities in JSON Lines, which have no such numbers [default: null]
    #[arg(long, value_name = "AS")]
    pub(crate) nan: Option<Nan>,
    /// Damaged entries: an error, or left out, which is said
    #[arg(long, value_name = "HOW", default_value = "raise", hide_possible_values = false)]
    pub(crate) errors: Errors,
    /// Leave out columns that cannot be read, or that the format has no type for
    #[arg(long)]
    pub(crate) skip_unsupported: bool,
    #[command(flatten)]
    pub(crate) values: Values,
}

#[derive(Args, Debug)]
pub(crate) struct Count {
    /// The tree; several are counted one by one
    #[arg(value_name = "FILE[:TREE]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Only entries for which an expression is true, as in 'nMuon > 1 and any(Muon_pt > 20)'; the columns in it are read
    #[arg(short = 'w', long = "where", value_name = "EXPRESSION")]
    pub(crate) cut: Option<String>,
    /// Count the files as one table: one number for all of them
    #[arg(long)]
    pub(crate) chain: bool,
    /// Print JSON: an array of objects; with --chain one object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Schema {
    /// The tree; several one after the other
    #[arg(value_name = "FILE[:TREE]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Describe the files as one table: the columns of all of them in their common types, with a ? where some files lack one
    #[arg(long)]
    pub(crate) chain: bool,
    /// Print JSON: an array of columns
    #[arg(long)]
    pub(crate) json: bool,
}

/// The language of a type for the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// A struct with `#[derive(forthwith::Row)]`.
    Rust,
    /// A `TypedDict` of the records that `rows` gives.
    Python,
    /// A header for `TTreeReader`.
    Cpp,
}

#[derive(Args, Debug)]
pub(crate) struct Gen {
    /// The language
    #[arg(value_name = "LANGUAGE")]
    pub(crate) language: Language,
    /// The table
    #[arg(value_name = "FILE[:TREE]")]
    pub(crate) target: OsString,
}

#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// The tree, or one branch of it; several one after the other
    #[arg(value_name = "FILE[:TREE[/BRANCH]]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Only branches whose name or path matches a glob or a /regex/; may be repeated, or given as a list with commas
    #[arg(short, long, value_name = "PATTERN")]
    #[arg(short_aliases = ['b', 'c'], aliases = ["branch", "branches", "column", "columns"])]
    pub(crate) filter: Vec<String>,
    /// Print JSON: an array of branches
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// The file, or a tree in it; without one, the largest tree is taken
    #[arg(value_name = "FILE[:TREE]")]
    pub(crate) target: OsString,
    /// Stop reading after about this long and say how far it came
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    pub(crate) limit: u64,
}

/// Decompressed bytes of a step, if nothing is said: Ctrl-C is looked at between steps, and compressing one
/// takes some hundredths of a second. Larger ones are no faster, since small steps are read together.
pub(crate) const CONVERT_STEP: u64 = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_is_consistent() {
        Typed::command().debug_assert();
    }

    #[test]
    fn flags_may_stand_anywhere() {
        let typed =
            Typed::try_parse_from(["forthwith", "ls", "a.root", "-rl", "--threads", "3"]).expect("valid");
        assert_eq!(typed.common.threads.map(NonZeroUsize::get), Some(3));
        assert!(matches!(typed.verb, Verb::Ls(Ls { recursive: true, long: true, json: false, .. })));
    }

    #[test]
    fn contradictions_are_refused() {
        for line in [
            &["forthwith", "head", "a", "--json", "--jsonl"][..],
            &["forthwith", "ls"],
            &["forthwith", "ls", "a", "--threads", "0"],
            &["forthwith", "head", "a", "-n", "-1"],
            &["forthwith", "ls", "a", "--color", "pink"],
        ] {
            assert!(Typed::try_parse_from(line).is_err(), "{line:?}");
        }
    }
}
