//! The flags of `head` and `tail`, and those that print entries share with them.

use super::values::Values;
use clap::{Args, ValueEnum};
use std::ffi::OsString;

#[derive(Args, Debug)]
pub(crate) struct Head {
    /// The tree, or one branch of it; several one after the other
    #[arg(value_name = "FILE[:TREE[/BRANCH]]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// How many entries to print; -5 is -n 5
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, allow_hyphen_values = true,
        value_parser = entries)]
    pub(crate) entries: u64,
    /// Only this branch, or those that a glob matches; may be repeated, or given as a list with commas
    #[arg(short, long, value_name = "BRANCH")]
    #[arg(short_alias = 'c', aliases = ["branches", "column", "columns"])]
    pub(crate) branch: Vec<String>,
    /// Only branches whose name or path matches a glob or a /regex/; may be repeated
    #[arg(short, long, value_name = "PATTERN")]
    pub(crate) filter: Vec<String>,
    /// Print JSON: an array with an object for each entry
    #[arg(long, conflicts_with_all = ["jsonl", "csv", "format"])]
    pub(crate) json: bool,
    /// Print JSON lines: an object on a line for each entry
    #[arg(long, conflicts_with_all = ["csv", "format"])]
    pub(crate) jsonl: bool,
    /// Print CSV: numbers and texts only
    #[arg(long, conflicts_with = "format")]
    pub(crate) csv: bool,
    /// The form of the answer, as --json, --jsonl and --csv
    #[arg(long, value_name = "FORMAT", hide_possible_values = false)]
    pub(crate) format: Option<HeadFormat>,
    /// The form of NaN and infinities in JSON, which has no such numbers [default: null]
    #[arg(long, value_name = "AS")]
    pub(crate) nan: Option<Nan>,
    #[command(flatten)]
    pub(crate) values: Values,
}

impl Head {
    /// The form of the answer, by whichever option it was asked for.
    pub(crate) fn form(&self) -> HeadFormat {
        match self {
            Self { json: true, .. } => HeadFormat::Json,
            Self { jsonl: true, .. } => HeadFormat::Jsonl,
            Self { csv: true, .. } => HeadFormat::Csv,
            Self { format, .. } => format.unwrap_or(HeadFormat::Text),
        }
    }
}

pub(super) fn entries(text: &str) -> Result<u64, String> {
    match text.parse::<i128>() {
        Ok(number) if number < 0 => {
            Err("negative number of entries: forthwith tail prints the last ones".into())
        }
        Ok(number) => u64::try_from(number)
            .map_err(|_| format!("number of entries {number} is out of range: at most {}", u64::MAX)),
        Err(_) => Err(format!("invalid number of entries {text:?}: a whole number is expected")),
    }
}

/// The text of NaN and infinities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Nan {
    /// null
    Null,
    /// The texts "NaN", "Infinity" and "-Infinity"
    String,
    /// An error
    Error,
}

/// The form of the answer of head and tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeadFormat {
    /// A table
    Text,
    /// An array with an object for each entry
    Json,
    /// An object on a line for each entry
    Jsonl,
    /// Comma-separated values
    Csv,
}
