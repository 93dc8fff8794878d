//! The flags of the commands that summarise: `stats`, `freq`, `sample` and `sniff`.

use super::{Computing, Nan, head::entries, values::Values};
use clap::Args;
use std::ffi::OsString;

/// The columns that are summarised, and the entries.
#[derive(Args, Debug)]
pub(crate) struct Summarised {
    /// The table, or one column of it; several one after the other
    #[arg(value_name = "FILE[:TREE[/BRANCH]]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Only this column, or those that a glob matches; may be repeated, or given as a list with commas
    #[arg(short, long, value_name = "BRANCH")]
    #[arg(short_alias = 'c', aliases = ["branches", "column", "columns"])]
    pub(crate) branch: Vec<String>,
    /// Only columns whose name or path matches a glob or a /regex/; may be repeated
    #[arg(short, long, value_name = "PATTERN")]
    pub(crate) filter: Vec<String>,
    #[command(flatten)]
    pub(crate) computing: Computing,
    /// Entries from the first on [default: all]
    #[arg(short = 'n', long, value_name = "N", value_parser = entries)]
    pub(crate) entries: Option<u64>,
    #[command(flatten)]
    pub(crate) values: Values,
}

#[derive(Args, Debug)]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) summarised: Summarised,
    /// The quantiles, as fractions with commas between them
    #[arg(long, value_name = "FRACTIONS", value_delimiter = ',', default_values_t = [0.25, 0.5, 0.75])]
    #[arg(value_parser = fraction)]
    pub(crate) quantiles: Vec<f64>,
    /// The number of most frequent values
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) top: usize,
    /// Keep the summaries beside the file, for the next time and for ranges and cuts of other commands [default: only if
    /// an index or earlier summaries are there]
    #[arg(long)]
    pub(crate) cache: bool,
    /// Print JSON: the number of entries, with an array of summaries
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Freq {
    #[command(flatten)]
    pub(crate) summarised: Summarised,
    /// The number of values, the most frequent first
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Print JSON: an array of columns, each with its values
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Sample {
    /// The table
    #[arg(value_name = "FILE[:TREE[/BRANCH]]", required = true)]
    pub(crate) target: OsString,
    /// How many entries to draw
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = entries)]
    pub(crate) entries: u64,
    /// The sample: one number always draws the same entries of a table
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Only columns whose name or path matches a glob or a /regex/; may be repeated, or given as a list with
    /// commas
    #[arg(short, long, value_name = "PATTERN", value_delimiter = ',')]
    #[arg(short_alias = 'b', aliases = ["column", "branch", "branches", "filter"])]
    pub(crate) columns: Vec<String>,
    #[command(flatten)]
    pub(crate) computing: Computing,
    /// The form of the answer: jsonl or csv
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) format: String,
    /// The form of NaN and infinities in JSON Lines, which have no such numbers [default: null]
    #[arg(long, value_name = "AS")]
    pub(crate) nan: Option<Nan>,
    /// Leave out columns that cannot be read, or that the format has no type for
    #[arg(long)]
    pub(crate) skip_unsupported: bool,
    #[command(flatten)]
    pub(crate) values: Values,
}

#[derive(Args, Debug)]
pub(crate) struct Dump {
    /// The file, or an object, a directory or a table in it; several one after the other
    #[arg(value_name = "FILE[:OBJECT]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Entries of each table, from the first on [default: all]
    #[arg(short = 'n', long, value_name = "N", value_parser = entries)]
    pub(crate) entries: Option<u64>,
    /// Only columns whose name or path matches a glob or a /regex/; may be repeated, or given as a list with commas
    #[arg(short, long, value_name = "PATTERN", value_delimiter = ',')]
    #[arg(short_alias = 'b', aliases = ["column", "branch", "branches", "filter"])]
    pub(crate) columns: Vec<String>,
    /// Print JSON lines: an object for each object and each entry
    #[arg(long, visible_alias = "jsonl")]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) summarised: Summarised,
    /// How often everything is read; the fastest counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) rounds: u32,
    /// Print JSON: the measured parts
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Sniff {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Print JSON: an array of files
    #[arg(long)]
    pub(crate) json: bool,
}

fn fraction(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("not a quantile: a number from 0 to 1 is expected".into()),
    }
}
