//! The commands and their flags. This table gives the parser, the help and docs/command.md.

use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};
use std::{
    ffi::OsString,
    num::{NonZeroU64, NonZeroUsize},
    path::PathBuf,
};

/// Looks into scientific files: what is in them, how it is read, and how fast.
///
/// Files are named as FILE[:OBJECT[/BRANCH]]: the file, an object in it such as dir/tree (with ;CYCLE if an
/// older one is wanted), and a branch of a tree. Where a file has exactly one tree, its name may be left out.
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
    /// Do not verify the checksums of RNTuples
    #[arg(long, global = true)]
    pub(crate) no_checksums: bool,
    /// An option for the stores of URLs, as in timeout=60, endpoint_url=https://host or anon=true; may be repeated
    #[arg(long, global = true, value_name = "NAME=VALUE")]
    pub(crate) option: Vec<String>,
    /// Take metadata from the index that forthwith index made: its name, or the folder that it is in
    #[arg(long, global = true, value_name = "INDEX")]
    pub(crate) index: Option<String>,
    /// Colour the output: auto means when it goes to a terminal
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto, hide_possible_values = false)]
    pub(crate) color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the objects of a file or directory
    #[command(after_help = LS)]
    Ls(Ls),
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
    /// Print the number of entries, which needs no reading of them
    #[command(after_help = COUNT)]
    Count(Count),
    /// Print the names and types of a table's columns; the schema of an Avro file as it is
    #[command(after_help = SCHEMA)]
    Schema(Schema),
    /// Write a table to a file of another format
    #[command(after_help = CONVERT)]
    Convert(Convert),
    /// Put the trees of several ROOT files one behind the other, and add up their histograms
    #[command(after_help = MERGE)]
    Merge(Merge),
    /// Copy a ROOT file or some of it: objects, branches, entries
    #[command(after_help = CP)]
    Cp(Cp),
    /// Divide the entries of a ROOT file among several
    #[command(after_help = SPLIT)]
    Split(Split),
    /// Copy a ROOT file with its data compressed in another way
    #[command(after_help = RECOMPRESS)]
    Recompress(Recompress),
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
    Plot(Plot),
    /// List the classes that a file describes, with their members
    #[command(after_help = STREAMERS)]
    Streamers(Streamers),
    /// Show what forthwith makes of a file, and how fast
    #[command(after_help = DEMO)]
    Demo(Demo),
    /// Print a script that lets a shell complete commands and options
    #[command(after_help = COMPLETIONS)]
    Completions(Completions),
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
pub(crate) struct Plot {
    /// A branch, a tree with -b or -f, or an object; several one after the other
    #[arg(value_name = "FILE[:OBJECT[/BRANCH]]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Only this branch; may be repeated, or given as a list with commas
    #[arg(short, long, value_name = "BRANCH")]
    pub(crate) branch: Vec<String>,
    /// Only branches whose name or path matches a glob or a /regex/; may be repeated
    #[arg(short, long, value_name = "PATTERN")]
    pub(crate) filter: Vec<String>,
    #[command(flatten)]
    pub(crate) computing: Computing,
    /// Entries from the first on [default: all]
    #[arg(short = 'n', long, value_name = "N", value_parser = entries)]
    pub(crate) entries: Option<u64>,
    /// The number of bins [default: as many as fit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) bins: Option<u16>,
    /// Where the axis begins and ends [default: where nearly all values of the first entries are]
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, allow_hyphen_values = true)]
    pub(crate) range: Option<(f64, f64)>,
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once(',').and_then(|(low, high)| {
        let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        Some((low, high))
    });
    match ends {
        Some((low, high)) if low < high && f64::is_finite(high - low) => Ok((low, high)),
        _ => Err("that is no range: two numbers with a comma between them, the lower one first".into()),
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
    /// Only branches whose name or path matches a glob or a /regex/; may be repeated
    #[arg(short, long, value_name = "PATTERN")]
    pub(crate) filter: Vec<String>,
    /// Print JSON: the tree, with an array of branches
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Head {
    /// The tree, or one branch of it; several one after the other
    #[arg(value_name = "FILE[:TREE[/BRANCH]]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// How many entries to print; -5 is -n 5
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, allow_hyphen_values = true,
        value_parser = entries)]
    pub(crate) entries: u64,
    /// Only this branch; may be repeated, or given as a list with commas
    #[arg(short, long, value_name = "BRANCH")]
    pub(crate) branch: Vec<String>,
    /// Only branches whose name or path matches a glob or a /regex/; may be repeated
    #[arg(short, long, value_name = "PATTERN")]
    pub(crate) filter: Vec<String>,
    /// Print JSON: an array with an object for each entry
    #[arg(long, conflicts_with = "jsonl")]
    pub(crate) json: bool,
    /// Print JSON lines: an object on a line for each entry
    #[arg(long)]
    pub(crate) jsonl: bool,
    /// What NaN and infinities become in JSON, which has no such numbers [default: an error]
    #[arg(long, value_name = "AS")]
    pub(crate) nan: Option<Nan>,
    /// Take text that is not UTF-8, which is no error then (Avro, Parquet)
    #[arg(long)]
    pub(crate) no_check_text: bool,
}

fn entries(text: &str) -> Result<u64, String> {
    match text.parse::<i128>() {
        Ok(number) if number < 0 => Err("the last entries are printed by forthwith tail".into()),
        Ok(number) => u64::try_from(number).map_err(|_| "that is more than there can be".into()),
        Err(_) => Err("that is no number of entries".into()),
    }
}

/// The text of NaN and infinities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Nan {
    /// null
    Null,
    /// The texts "NaN", "Infinity" and "-Infinity"
    String,
}

#[derive(Args, Debug)]
pub(crate) struct Convert {
    /// The table, or one branch of it; the entries of several follow each other
    #[arg(value_name = "FILE[:TREE]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// The file to write: its ending says the format; - is standard output
    #[arg(value_name = "TO", required = true)]
    pub(crate) to: String,
    /// The format to write, where no ending says it
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// What becomes of columns that some of several files do not have [default: an error]
    #[arg(long, value_name = "AS")]
    pub(crate) missing: Option<Missing>,
    /// Only columns whose name or path matches a glob or a /regex/; may be repeated, or given as a list with
    /// commas
    #[arg(short, long, value_name = "PATTERN", value_delimiter = ',')]
    #[arg(short_alias = 'b', aliases = ["branch", "filter"])]
    pub(crate) columns: Vec<String>,
    #[command(flatten)]
    pub(crate) computing: Computing,
    /// How to compress, by the format's name for it, with a level behind a colon if it has any: zstd:9, none
    #[arg(long, value_name = "CODEC[:LEVEL]")]
    pub(crate) codec: Option<String>,
    /// The kind of table, where a format has several: 'tree' or 'ntuple' in a ROOT file [default: tree]
    #[arg(long = "as", value_name = "KIND")]
    pub(crate) table: Option<String>,
    /// Entries in a block (a row group) at most
    #[arg(long, value_name = "N")]
    pub(crate) block_entries: Option<NonZeroUsize>,
    /// Read, convert and write so much at a time: decompressed bytes
    #[arg(long, value_name = "BYTES", default_value_t = CONVERT_STEP)]
    pub(crate) step: u64,
    /// What NaN and infinities become in JSON Lines, which have no such numbers [default: an error]
    #[arg(long, value_name = "AS")]
    pub(crate) nan: Option<Nan>,
    /// Leave out columns that cannot be read, or that the format has no type for
    #[arg(long)]
    pub(crate) skip_unsupported: bool,
    /// List each column that is left out
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Take text that is not UTF-8, which is no error then (Avro, Parquet)
    #[arg(long)]
    pub(crate) no_check_text: bool,
    /// Replace a file of that name
    #[arg(short, long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Merge {
    /// The files, whose entries follow each other
    #[arg(value_name = "FILE[:OBJECT]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// The file to write
    #[arg(value_name = "TO", required = true)]
    pub(crate) to: String,
    /// Only branches whose name or path matches a glob or a /regex/, and what they need; may be repeated, or given
    /// as a list with commas
    #[arg(short, long, value_name = "PATTERN", value_delimiter = ',')]
    #[arg(short_alias = 'b', aliases = ["branch", "filter"])]
    pub(crate) columns: Vec<String>,
    /// Leave out branches that not all trees have [default: an error]
    #[arg(long)]
    pub(crate) common: bool,
    /// Compress everything in this way, with a level behind a colon: zstd:5, none [default: as it is]
    #[arg(long, value_name = "CODEC[:LEVEL]")]
    pub(crate) codec: Option<String>,
    /// Replace a file of that name
    #[arg(short, long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Cp {
    /// The file, or one object or directory in it
    #[arg(value_name = "FILE[:OBJECT]", required = true)]
    pub(crate) target: OsString,
    /// The file to write
    #[arg(value_name = "TO", required = true)]
    pub(crate) to: String,
    /// Only branches whose name or path matches a glob or a /regex/, and what they need; may be repeated, or given
    /// as a list with commas
    #[arg(short, long, value_name = "PATTERN", value_delimiter = ',')]
    #[arg(short_alias = 'b', aliases = ["branch", "filter"])]
    pub(crate) columns: Vec<String>,
    /// Only these entries: 100:200 are those from 100 to 199
    #[arg(short, long, value_name = "FROM:TO")]
    pub(crate) entries: Option<String>,
    #[command(flatten)]
    pub(crate) computing: Computing,
    /// Compress everything in this way, with a level behind a colon: zstd:5, none [default: as it is]
    #[arg(long, value_name = "CODEC[:LEVEL]")]
    pub(crate) codec: Option<String>,
    /// Replace a file of that name
    #[arg(short, long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Split {
    /// The file, or one tree in it
    #[arg(value_name = "FILE[:TREE]", required = true)]
    pub(crate) target: OsString,
    /// The files to write: their number stands in the place of {}, or before the ending
    #[arg(value_name = "TO", required = true)]
    pub(crate) to: String,
    /// Entries in each of them
    #[arg(short, long, value_name = "N", required_unless_present = "files", conflicts_with = "files")]
    pub(crate) entries: Option<NonZeroU64>,
    /// How many there are to be
    #[arg(long, value_name = "N")]
    pub(crate) files: Option<NonZeroU64>,
    /// Replace files of these names
    #[arg(short, long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Recompress {
    /// The file, or one object or directory in it
    #[arg(value_name = "FILE[:OBJECT]", required = true)]
    pub(crate) target: OsString,
    /// The file to write
    #[arg(value_name = "TO", required = true)]
    pub(crate) to: String,
    /// How to compress, with a level behind a colon: zstd:5, lz4, lzma:7, zlib:1, none
    #[arg(long, value_name = "CODEC[:LEVEL]", required = true)]
    pub(crate) codec: String,
    /// Replace a file of that name
    #[arg(short, long)]
    pub(crate) force: bool,
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
    #[arg(short_aliases = ['b', 'f'], aliases = ["branch", "filter"])]
    pub(crate) columns: Vec<String>,
    #[command(flatten)]
    pub(crate) computing: Computing,
    /// The format: jsonl or csv, or any that convert writes
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) format: String,
    /// What becomes of columns that some of several files do not have [default: an error]
    #[arg(long, value_name = "AS")]
    pub(crate) missing: Option<Missing>,
    /// What NaN and infinities become in JSON Lines, which have no such numbers [default: an error]
    #[arg(long, value_name = "AS")]
    pub(crate) nan: Option<Nan>,
    /// Leave out columns that cannot be read, or that the format has no type for
    #[arg(long)]
    pub(crate) skip_unsupported: bool,
    /// Take text that is not UTF-8, which is no error then (Avro, Parquet)
    #[arg(long)]
    pub(crate) no_check_text: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Count {
    /// The tree; several are counted one by one
    #[arg(value_name = "FILE[:TREE]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Print JSON: an array of objects
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Schema {
    /// The tree; several one after the other
    #[arg(value_name = "FILE[:TREE]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Print JSON: an array of columns
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// The tree, or one branch of it; several one after the other
    #[arg(value_name = "FILE[:TREE[/BRANCH]]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Only branches whose name or path matches a glob or a /regex/; may be repeated
    #[arg(short, long, value_name = "PATTERN")]
    pub(crate) filter: Vec<String>,
    /// Print JSON: an array of branches
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub(crate) struct Forth {
    /// The branch
    #[arg(value_name = "FILE[:TREE]/BRANCH", required = true)]
    pub(crate) target: Option<OsString>,
    /// Add, as comments, which patterns the machine recognised and runs as native loops
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(subcommand)]
    pub(crate) act: Option<Act>,
}

/// Commands for a program of one's own.
#[derive(Debug, PartialEq, Subcommand)]
pub(crate) enum Act {
    /// Run a program on data
    #[command(after_help = RUN)]
    Run(RunArgs),
    /// Show a program at work, instruction by instruction
    #[command(after_help = STEP)]
    Step(StepArgs),
    /// Print the bytecode of a program
    #[command(after_help = DIS)]
    Dis(DisArgs),
    /// Say which parts of a program run as native code, and why others do not
    #[command(after_help = EXPLAIN_PROGRAM)]
    Explain(ProgramArgs),
}

/// A program.
#[derive(Args, Debug, PartialEq)]
pub(crate) struct ProgramArgs {
    /// The file with the text of the program; - is standard input
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: String,
    /// Bits of literals; those that do not fit are cut
    #[arg(long, value_name = "BITS", default_value = "32", hide_possible_values = false)]
    pub(crate) literal_width: Bits,
}

/// A program and what it is given.
#[derive(Args, Debug, PartialEq)]
pub(crate) struct Given {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// Data of an input: the bytes of a file; - is standard input; may be repeated
    #[arg(short, long, value_name = "NAME=FILE")]
    pub(crate) input: Vec<String>,
    /// Data of an input, in hexadecimal
    #[arg(long, value_name = "NAME=HEX")]
    pub(crate) bytes: Vec<String>,
    /// Data of an input, as text
    #[arg(long, value_name = "NAME=TEXT")]
    pub(crate) text: Vec<String>,
    /// What is on the stack at the beginning, top last; may be repeated
    #[arg(short, long, value_name = "N,...", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) stack: Vec<i64>,
    /// The number of entries: pushed last
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) entries: Option<u64>,
    /// Bits of the machine's items
    #[arg(long, value_name = "BITS", default_value = "64", hide_possible_values = false)]
    pub(crate) bits: Bits,
    /// Stop when all outputs together would have more bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 30)]
    pub(crate) max_output: u64,
}

/// A width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bits {
    /// 32.
    #[value(name = "32")]
    Bits32,
    /// 64.
    #[value(name = "64")]
    Bits64,
}

#[derive(Args, Debug, PartialEq)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) given: Given,
    /// The tier that executes it, instead of the machine's choice: 0 checked, 1 native loops, 2 compiled
    #[arg(long, value_name = "TIER", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) tier: Option<u8>,
    /// How to print what it leaves; npy writes a file for each output
    #[arg(short, long, value_name = "SHAPE", default_value = "text", hide_possible_values = false)]
    pub(crate) output: OutputShape,
    /// The folder for npy files
    #[arg(long, value_name = "FOLDER")]
    pub(crate) to: Option<PathBuf>,
    /// Go on after every pause
    #[arg(long)]
    pub(crate) resume: bool,
    /// An error that is no failure, as in 'read beyond', by which some programs end; may be repeated
    #[arg(long, value_name = "ERROR")]
    pub(crate) expect: Vec<String>,
}

/// The form of what a program leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputShape {
    /// For people.
    Text,
    /// One JSON value.
    Json,
    /// NumPy files.
    Npy,
}

#[derive(Args, Debug, PartialEq)]
pub(crate) struct StepArgs {
    #[command(flatten)]
    pub(crate) given: Given,
    /// Instructions to trace; on a terminal, to execute at once
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: u64,
    /// Break where this line begins; may be repeated
    #[arg(short, long = "break", value_name = "LINE")]
    pub(crate) breaks: Vec<usize>,
    /// Print a line for each instruction, also on a terminal
    #[arg(long)]
    pub(crate) trace: bool,
}

#[derive(Args, Debug, PartialEq)]
pub(crate) struct DisArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// Print the program in canonical layout instead, made of its bytecode
    #[arg(long, conflicts_with = "json")]
    pub(crate) text: bool,
    /// Print JSON: bytecode, its offsets, words, canonical text
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

pub(crate) const EXAMPLES: &str = "\
Examples:
  forthwith ls events.root                       what is in the file
  forthwith show events.root:Events -f 'Muon_*'  some branches of a tree
  forthwith head events.root:Events -b nMuon,Muon_pt
  forthwith convert events.root:Events events.parquet
  forthwith demo events.root                     a tour of any file
  forthwith events.root                          as forthwith ls

Exit codes:
  0  done
  1  the file cannot be read or is damaged
  2  the command was typed wrongly, or asks for what makes no sense
  3  no file, object or branch of that name
  4  the type or feature is not supported (yet); the message names it

Answers for several files follow each other, each below the name of its file; with --json they
are one array of objects with a file and its answer.
Errors go to standard error, answers to standard output.
https://github.com/forthwith/forthwith";

const LS: &str = "\
Examples:
  forthwith ls events.root
  forthwith ls -rl events.root        everything, with sizes and entries
  forthwith ls events.root:skim       one directory
  forthwith ls *.root                 several files
  forthwith ls --json events.root     for programs";

const CHECK: &str = "\
Compares what the parts of a file say of each other: the header, every record with the
checksums of its blocks, the lists of keys, the free segments, the streamer infos, the byte
counts in every object, and the baskets that trees name, each as far as reading looks at it
before it decodes values. Avro and Parquet files are read whole, block by block: sync markers,
the footer, pages and their checksums, all values, and what statistics say of them. Damage is
what keeps something from being read as it was written; remarks are worth knowing.

The exit code is 0 if nothing is damaged, 1 if something is or the file cannot be opened,
2 if the command line is wrong, 3 if there is no such file.

Examples:
  forthwith check events.root
  forthwith check --json events.root";

const SHOW: &str = "\
The decoder column says how a branch is read: by a kernel (the layout is columnar),
by a program (generated AwkwardForth), or not (unsupported; explain says why).

Examples:
  forthwith show events.root                       the file's only tree
  forthwith show events.root:Events -f 'Muon_*' -f 'MET_*'
  forthwith show --json events.root:Events";

const HEAD: &str = "\
Without -b or -f all supported branches are printed, on a terminal as many as fit.

Examples:
  forthwith head events.root:Events/Muon_pt
  forthwith head events.root:Events -n 3 -b nMuon,Muon_pt
  forthwith head events.root:Events -f 'Jet_*' --jsonl";

const TAIL: &str = "\
Takes what head takes.

Examples:
  forthwith tail events.root:Events -n 3 -b nMuon,Muon_pt
  forthwith tail orders.avro --jsonl";

const CAT: &str = "\
Entries are printed as they are read: forthwith cat FILE | head -1 ends at once.

Examples:
  forthwith cat events.root:Events -c 'Muon_*' | jq .Muon_pt
  forthwith cat events.root:Events -c MET_pt --where 'nMuon > 1' --compute 'n=count(Muon_pt)'
  forthwith cat part-*.parquet --format csv";

const COUNT: &str = "\
Examples:
  forthwith count events.root:Events
  forthwith count part-*.avro";

const SCHEMA: &str = "\
Examples:
  forthwith schema orders.avro > orders.avsc
  forthwith schema events.root:Events | grep float32";

const CONVERT: &str = "\
Formats: .parquet (codecs none, snappy, gzip, brotli, lz4, zstd; zstd if nothing is said),
.avro (null, deflate, snappy, zstandard, bzip2, xz), .arrow or .feather (not compressed),
.root (a tree; none, zlib, lzma, lz4, zstd; zlib if nothing is said), .jsonl or .ndjson (an
object for each entry) and .csv (numbers and text only).
The file appears when it is complete; standard output (-) has each step as it is read.
In JSON, maps whose keys are texts are objects, and bytes are texts whose characters have
their numbers (U+0000 to U+00FF). Columns that hold nothing (records without fields) are left
out of formats that cannot have them.

Examples:
  forthwith convert events.root:Events events.parquet
  forthwith convert events.root:Events muons.parquet --columns 'Muon_*,nMuon' --codec zstd:9
  forthwith convert events.root:Events pairs.parquet --where 'nMuon == 2 and all(Muon_pt > 20)'
  forthwith convert run.avro run.parquet --force
  forthwith convert events.parquet events.avro --codec zstandard
  forthwith convert events.parquet events.arrow
  forthwith convert events.root:Events events.jsonl --columns 'Muon_*'
  forthwith convert part-1.parquet part-2.parquet all.parquet --missing null
  forthwith convert events.root:Events - --format csv | gzip > events.csv.gz";

const MERGE: &str = "\
Baskets are copied as they are stored, so that nothing is decoded. Histograms, profiles,
efficiencies and parameters of the same path are added up; of other objects the first is kept.
The file appears when it is complete.

Examples:
  forthwith merge part-1.root part-2.root all.root
  forthwith merge 'part-*.root' all.root --common
  forthwith merge 'part-*.root' muons.root --columns 'Muon_*' --force";

const CP: &str = "\
Baskets all of whose entries are wanted are copied as they are stored. Branches that others need
(the counters of arrays) are copied with them. The file appears when it is complete.

Examples:
  forthwith cp events.root:Events muons.root --columns 'Muon_*'
  forthwith cp events.root:Events first.root --entries :1000
  forthwith cp events.root:Events pairs.root --where 'nMuon == 2'
  forthwith cp events.root:histograms histograms.root";

const SPLIT: &str = "\
Objects that are no trees are copied to each of the files.

Examples:
  forthwith split events.root part.root --entries 100000
  forthwith split events.root:Events 'part-{}.root' --files 4";

const RECOMPRESS: &str = "\
Examples:
  forthwith recompress events.root small.root --codec zstd:9
  forthwith recompress events.root fast.root --codec lz4";

const EXPLAIN: &str = "\
Examples:
  forthwith explain events.root:Events/Muon_pt
  forthwith explain events.root:Events -f '*Track*'
  forthwith explain --json events.root:Events";

const FORTH: &str = "\
Only branches decoded by a program have one; explain tells which.

Examples:
  forthwith forth events.root:Events/Hits
  forthwith forth events.root:Events/Hits --explain
  forthwith forth run lists.fs --input data=lists.bin -n 100

The language is described in docs/forth.md.";

const RUN: &str = "\
Without --tier the machine chooses; the results are the same in all tiers. A program that
ends in an error leaves what it wrote before: it is printed, and the exit code is 1.

Examples:
  forthwith forth run lists.fs --input data=lists.bin --entries 100
  forthwith forth run lists.fs --input data=lists.bin -n 100 --output npy --to columns
  forthwith forth run words.fs --bytes data='00 01 ff' --output json
  echo '2 3 + .' | forthwith forth run -";

/// Decompressed bytes of a step, if nothing is said: Ctrl-C is looked at between steps, and compressing one
/// takes some hundredths of a second. Larger ones are no faster, since small steps are read together.
pub(crate) const CONVERT_STEP: u64 = 2 << 20;
const STEP: &str = "\
On a terminal it shows the next instruction, the stack, loops, inputs and outputs, and asks:
enter is one step, h lists what else can be typed. Elsewhere it prints a line for each
instruction with what it left.

Examples:
  forthwith forth step lists.fs --input data=lists.bin -n 3
  forthwith forth step lists.fs --input data=lists.bin -n 3 --break 7
  echo '3 0 do i . loop' | forthwith forth step -";

const DIS: &str = "\
Examples:
  forthwith forth dis lists.fs
  forthwith forth dis lists.fs --text
  forthwith forth dis - --json < lists.fs";

const EXPLAIN_PROGRAM: &str = "\
Examples:
  forthwith forth explain lists.fs
  forthwith forth events.root:Events/Hits | forthwith forth explain -";

const PLOT: &str = "\
Lists are drawn without the lists, missing values are left out. What is outside of the range is
counted below the picture. Objects are drawn as show draws them.

Examples:
  forthwith plot events.root:Events/Muon_pt
  forthwith plot events.root:Events -b MET_pt --bins 40 --range 0,200
  forthwith plot events.root:Events --compute 'leading=max(Muon_pt)' --where 'nMuon > 1'
  forthwith plot orders.avro -b amount -n 100000
  forthwith plot histograms.root:hpx";

const INDEX: &str = "\
An index has the bytes of a file that are read before its data are. It is used where it is named:
by --index here, by index= in Python. An index of another file, or of another state of the file, is
an error; the size and the mark of the file tell, and where they do not all bytes of the index are
compared with those of the file. An index of a URL knows the mark that the server gives the file.

Examples:
  forthwith index events.root
  forthwith index https://host/events.root --to events.fwi
  forthwith show https://host/events.root --index events.fwi
  forthwith index 'runs/*.root' --to indexes/";

const STREAMERS: &str = "\
Bases stand before members, each with its type, its name and the comment in the C++ header.

Examples:
  forthwith streamers events.root
  forthwith streamers events.root -f 'edm::*'
  forthwith streamers --json events.root";

const COMPLETIONS: &str = "\
Examples:
  source <(forthwith completions bash)             in ~/.bashrc
  source <(forthwith completions zsh)              in ~/.zshrc, behind compinit
  forthwith completions fish > ~/.config/fish/completions/forthwith.fish";

const DEMO: &str = "\
Examples:
  forthwith demo events.root
  forthwith demo events.root:Events --threads 1";

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
