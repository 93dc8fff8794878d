//! What can be typed. This table gives the parser, the help and docs/command.md.

use clap::{Args, ColorChoice, Parser, Subcommand};
use std::num::NonZeroUsize;

/// Looks into scientific files: what is in them, how it is read, and how fast.
///
/// Files are named as FILE[:OBJECT[/BRANCH]]: the file, an object in it such as dir/tree (with ;CYCLE if an older one is
/// wanted), and a branch of a tree. Where a file has exactly one tree, its name may be left out.
#[derive(Debug, Parser)]
#[command(
    name = "forthwith",
    version,
    disable_help_subcommand = true,
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

/// What every command takes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Read with N threads instead of one for each processor
    #[arg(long, global = true, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
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
    /// Say how branches are read, and why some cannot be
    #[command(after_help = EXPLAIN)]
    Explain(Explain),
    /// Print the AwkwardForth program made for a branch
    #[command(after_help = FORTH)]
    Forth(Forth),
    /// Show what forthwith makes of a file, and how fast
    #[command(after_help = DEMO)]
    Demo(Demo),
}

#[derive(Args, Debug)]
pub(crate) struct Ls {
    /// The file, or a directory or object in it
    #[arg(value_name = "FILE[:DIR]")]
    pub(crate) target: String,
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
pub(crate) struct Show {
    /// The tree
    #[arg(value_name = "FILE[:TREE]")]
    pub(crate) target: String,
    /// Only branches whose name or path matches; may be repeated
    #[arg(short, long, value_name = "GLOB")]
    pub(crate) filter: Vec<String>,
    /// Print JSON: the tree, with an array of branches
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Head {
    /// The tree, or one branch of it
    #[arg(value_name = "FILE[:TREE[/BRANCH]]")]
    pub(crate) target: String,
    /// How many entries to print
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) entries: u64,
    /// Only this branch; may be repeated, or given as a list with commas
    #[arg(short, long, value_name = "BRANCH")]
    pub(crate) branch: Vec<String>,
    /// Only branches whose name or path matches; may be repeated
    #[arg(short, long, value_name = "GLOB")]
    pub(crate) filter: Vec<String>,
    /// Print JSON: an array with an object for each entry
    #[arg(long, conflicts_with = "jsonl")]
    pub(crate) json: bool,
    /// Print JSON lines: an object on a line for each entry
    #[arg(long)]
    pub(crate) jsonl: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// The tree, or one branch of it
    #[arg(value_name = "FILE[:TREE[/BRANCH]]")]
    pub(crate) target: String,
    /// Only branches whose name or path matches; may be repeated
    #[arg(short, long, value_name = "GLOB")]
    pub(crate) filter: Vec<String>,
    /// Print JSON: an array of branches
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Forth {
    /// The branch
    #[arg(value_name = "FILE[:TREE]/BRANCH")]
    pub(crate) target: String,
    /// Add, as comments, which patterns the machine recognised and runs as native loops
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// The file, or a tree in it; without one, the largest tree is taken
    #[arg(value_name = "FILE[:TREE]")]
    pub(crate) target: String,
    /// Stop reading after about this long and say how far it came
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    pub(crate) limit: u64,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  forthwith ls events.root                       what is in the file
  forthwith show events.root:Events -f 'Muon_*'  some branches of a tree
  forthwith head events.root:Events -b nMuon,Muon_pt
  forthwith demo events.root                     a tour of any file

Exit codes:
  0  done
  1  the file cannot be read or is damaged
  2  the command was typed wrongly, or asks for what makes no sense
  3  no file, object or branch of that name
  4  the type or feature is not supported (yet); the message names it

Errors go to standard error, answers to standard output.
https://github.com/forthwith/forthwith";

const LS: &str = "\
Examples:
  forthwith ls events.root
  forthwith ls -rl events.root        everything, with sizes and entries
  forthwith ls events.root:skim       one directory
  forthwith ls --json events.root     for programs";

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

const EXPLAIN: &str = "\
Examples:
  forthwith explain events.root:Events/Muon_pt
  forthwith explain events.root:Events -f '*Track*'
  forthwith explain --json events.root:Events";

const FORTH: &str = "\
Only branches decoded by a program have one; explain tells which.

Examples:
  forthwith forth events.root:Events/Hits
  forthwith forth events.root:Events/Hits --explain";

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
