//! The flags of `browse` and `view`.

use super::values::Values;
use clap::Args;
use std::ffi::OsString;

#[derive(Args, Debug)]
pub(crate) struct Browse {
    /// The file, or an object or branch in it at which the cursor begins
    #[arg(value_name = "FILE[:OBJECT[/BRANCH]]")]
    pub(crate) target: OsString,
    #[command(flatten)]
    pub(crate) values: Values,
}

#[derive(Args, Debug)]
pub(crate) struct View {
    /// The table, or one branch of it; - is standard input
    #[arg(value_name = "FILE[:TREE[/BRANCH]]")]
    pub(crate) target: OsString,
    /// Only columns whose name or path matches a glob or a /regex/; may be repeated, or given as a list with commas
    #[arg(short, long, value_name = "PATTERN", value_delimiter = ',')]
    #[arg(short_alias = 'b', aliases = ["column", "branch", "branches", "filter"])]
    pub(crate) columns: Vec<String>,
    /// Only entries for which an expression is true, as in 'nMuon > 1 and any(Muon_pt > 20)'
    #[arg(short = 'w', long = "where", value_name = "EXPRESSION")]
    pub(crate) cut: Option<String>,
    #[command(flatten)]
    pub(crate) values: Values,
}
