//! The flags of `plot`.

use super::{Computing, head::entries};
use clap::Args;
use std::ffi::OsString;

#[derive(Args, Debug)]
pub(crate) struct Plot {
    /// A branch, a tree with -b or -f, or an object; several one after the other. Behind one file, names of one
    /// or two branches may stand, x and y
    #[arg(value_name = "FILE[:OBJECT[/BRANCH]]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Only this branch, or those that a glob matches; may be repeated, or given as a list with commas
    #[arg(short, long, value_name = "BRANCH")]
    #[arg(short_alias = 'c', aliases = ["branches", "column", "columns"])]
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
    /// The two ends of the axis [default: around nearly all values of the first entries]
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, allow_hyphen_values = true)]
    pub(crate) range: Option<(f64, f64)>,
    /// Draw two dimensions: this column along the vertical axis
    #[arg(short = 'y', long = "y", value_name = "BRANCH")]
    pub(crate) against: Option<String>,
    /// The two ends of the vertical axis of two dimensions
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, allow_hyphen_values = true)]
    pub(crate) y_range: Option<(f64, f64)>,
    /// Logarithmic axes, by their letters: x, y, or z for the colours of two dimensions
    #[arg(long, value_name = "AXES", value_parser = axes)]
    pub(crate) log: Option<String>,
    /// Draw the files as one table: each histogram has the entries of all of them
    #[arg(long)]
    pub(crate) chain: bool,
    /// Also entries, mean and standard deviation, as ROOT has them
    #[arg(long)]
    pub(crate) stats: bool,
    /// Scale each histogram so that its area is 1
    #[arg(long)]
    pub(crate) density: bool,
    /// Give all columns and files the same bins; in a picture, they are drawn over each other, with a legend
    #[arg(long)]
    pub(crate) overlay: bool,
    /// As --overlay, and in a picture the ratios to the first below
    #[arg(long)]
    pub(crate) ratio: bool,
    /// Write one picture to this file, SVG or PNG by its ending, instead of printing it; - prints the SVG
    #[arg(short, long, visible_alias = "out", value_name = "FILE.svg|FILE.png")]
    pub(crate) output: Option<OsString>,
    /// Replace a file of that name
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Print JSON: an array of histograms with edges and values
    #[arg(long, conflicts_with = "output")]
    pub(crate) json: bool,
}

fn axes(text: &str) -> Result<String, String> {
    match text {
        text if !text.is_empty() && text.chars().all(|letter| "xyz".contains(letter)) => Ok(text.to_owned()),
        _ => Err("invalid axes: the letters x, y and z are expected, as in xy".into()),
    }
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once(',').and_then(|(low, high)| {
        let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        Some((low, high))
    });
    match ends {
        Some((low, high)) if low < high && f64::is_finite(high - low) => Ok((low, high)),
        _ => {
            Err("invalid range: two numbers with a comma between them are expected, the lower one first"
                .into())
        }
    }
}
