//! The flags of `forth`, and of its commands for programs.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::help::{DIS, EXPLAIN_PROGRAM, RUN, STEP};

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
    /// Items on the stack at the beginning, top last; may be repeated
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
