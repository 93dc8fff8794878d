//! The flags of commands that copy the contents of files: merge, cp, split, recompress, recover.

use super::Computing;
use clap::Args;
use std::{ffi::OsString, num::NonZeroU64, path::PathBuf};

#[derive(Args, Debug)]
pub(crate) struct Merge {
    /// The files, whose entries follow each other. The last name, TO, is the file to write
    #[arg(value_name = "FILE[:OBJECT]", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Only branches whose name or path matches a glob or a /regex/, and what they need; may be repeated, or given
    /// as a list with commas
    #[arg(short, long, value_name = "PATTERN", value_delimiter = ',')]
    #[arg(short_alias = 'b', aliases = ["column", "branch", "branches", "filter"])]
    pub(crate) columns: Vec<String>,
    /// Leave out branches that some trees lack [default: an error]
    #[arg(long)]
    pub(crate) common: bool,
    /// Compress everything anew by this codec, with a level after a colon: zstd:5, none [default: no change]
    #[arg(long, visible_alias = "compression", value_name = "CODEC[:LEVEL]")]
    pub(crate) codec: Option<String>,
    /// The file to write, in place of the last name
    #[arg(short, long, value_name = "TO")]
    pub(crate) output: Option<OsString>,
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
    #[arg(value_name = "TO")]
    pub(crate) to: Option<OsString>,
    /// Only branches whose name or path matches a glob or a /regex/, and what they need; may be repeated, or given
    /// as a list with commas
    #[arg(short, long, value_name = "PATTERN", value_delimiter = ',')]
    #[arg(short_alias = 'b', aliases = ["column", "branch", "branches", "filter"])]
    pub(crate) columns: Vec<String>,
    /// Only these entries: 100:200 are those from 100 to 199
    #[arg(short, long, value_name = "FROM:TO")]
    pub(crate) entries: Option<String>,
    #[command(flatten)]
    pub(crate) computing: Computing,
    /// Compress everything anew by this codec, with a level after a colon: zstd:5, none [default: no change]
    #[arg(long, visible_alias = "compression", value_name = "CODEC[:LEVEL]")]
    pub(crate) codec: Option<String>,
    /// The file to write, in place of the second name
    #[arg(short, long, value_name = "TO")]
    pub(crate) output: Option<OsString>,
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
    #[arg(value_name = "TO")]
    pub(crate) to: Option<OsString>,
    /// The number of entries in each file
    #[arg(short, long, short_alias = 'n', value_name = "N")]
    #[arg(required_unless_present = "files", conflicts_with = "files")]
    pub(crate) entries: Option<NonZeroU64>,
    /// The number of files to write
    #[arg(long, value_name = "N")]
    pub(crate) files: Option<NonZeroU64>,
    /// The file to write, in place of the second name
    #[arg(short, long, value_name = "TO")]
    pub(crate) output: Option<OsString>,
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
    #[arg(value_name = "TO")]
    pub(crate) to: Option<OsString>,
    /// The codec, with a level after a colon: zstd:5, lz4, lzma:7, zlib:1, none
    #[arg(long, visible_alias = "compression", value_name = "CODEC[:LEVEL]", required = true)]
    pub(crate) codec: String,
    /// The file to write, in place of the second name
    #[arg(short, long, value_name = "TO")]
    pub(crate) output: Option<OsString>,
    /// Replace a file of that name
    #[arg(short, long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Recover {
    /// The file, which is only read
    #[arg(value_name = "FILE", required = true)]
    pub(crate) target: OsString,
    /// The file to write
    #[arg(value_name = "TO")]
    pub(crate) to: Option<OsString>,
    /// Also write the report to a file, as JSON
    #[arg(long, value_name = "REPORT")]
    pub(crate) report: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The file to write, in place of the second name
    #[arg(short, long, value_name = "TO")]
    pub(crate) output: Option<OsString>,
    /// Replace a file of that name
    #[arg(short, long)]
    pub(crate) force: bool,
}
