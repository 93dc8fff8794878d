//! The flags of `diff`.

use clap::Args;
use std::ffi::OsString;

#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// A file, a table or another object in it, or a folder, and what it is compared with; or several files whose
    /// tables follow each other, before --
    #[arg(value_name = "FILE[:OBJECT]")]
    pub(crate) left: Vec<OsString>,
    /// Several files that those before -- are compared with, as one table with another
    #[arg(last = true, value_name = "FILE[:OBJECT]")]
    pub(crate) right: Vec<OsString>,
    /// Only columns whose name or path matches a glob or a /regex/; may be repeated, or given as a list with commas
    #[arg(short, long, value_name = "PATTERN", value_delimiter = ',')]
    #[arg(short_alias = 'b', aliases = ["column", "branch", "branches", "filter"])]
    pub(crate) columns: Vec<String>,
    /// Match entries by the values of these columns or expressions, and not by their numbers; a list with commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) on: Vec<String>,
    /// Compare values of different types: the same data in another format
    #[arg(long)]
    pub(crate) same_content: bool,
    /// The difference of floating-point numbers, relative to the right one, up to which they are equal
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, value_parser = tolerance)]
    pub(crate) rtol: f64,
    /// The absolute difference up to which they are equal; both add up
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, value_parser = tolerance)]
    pub(crate) atol: f64,
    /// Compare numbers of one type by their bits: 0.0 and -0.0 differ then
    #[arg(long, conflicts_with_all = ["rtol", "atol"])]
    pub(crate) bitwise: bool,
    /// NaN is equal to nothing [default: NaN equals NaN]
    #[arg(long)]
    pub(crate) nan_differs: bool,
    /// Pass over columns, tables, objects and files that only one side has
    #[arg(long)]
    pub(crate) common: bool,
    /// Pass over columns that cannot be read [default: exit with 2]
    #[arg(long)]
    pub(crate) skip_unsupported: bool,
    /// Stop at the first difference of each file. Where `stats --cache` has kept summaries of both sides, they are
    /// compared before values are
    #[arg(long)]
    pub(crate) brief: bool,
    /// The number of differences shown for each column
    #[arg(short = 'm', long, value_name = "N", default_value_t = 3)]
    pub(crate) most: usize,
    /// Print nothing: the exit code is the answer
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Print JSON: an object with all that differs
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok(number),
        _ => Err("not a tolerance: a number that is not negative is expected".into()),
    }
}
