//! Why a command did not do what it was asked.

use crate::human::clean;
use forthwith::{
    columns::Invalid,
    io::ErrorKind as SourceKind,
    plan::{Error, ErrorKind, NotNumbers},
};
use std::{fmt, io};

/// An error, as seen from the command line.
#[derive(Debug)]
pub(crate) enum Failure {
    /// In the file, or in reading it.
    File(Error),
    /// The output cannot be written.
    Output(io::Error),
    /// No tree was named and the file does not settle it.
    WhichTree {
        /// The file.
        uri: String,
        /// The trees there are.
        trees: Vec<String>,
    },
    /// The object is no tree, and the command needs one.
    WrongObject {
        /// The file.
        uri: String,
        /// The object.
        key: Box<forthwith::Key>,
    },
    /// Another failure, with what to do about it.
    Hinted {
        /// The failure.
        failure: Box<Self>,
        /// The hint.
        hint: String,
    },
    /// A branch was needed and none was named.
    WhichBranch {
        /// The format's word for it.
        column: &'static str,
        /// How a branch of this name is typed: `FILE:TREE/BRANCH`.
        typed: String,
        /// How the tree is typed.
        table: String,
    },
    /// The branch only groups others.
    Group {
        /// The branch.
        branch: String,
        /// Those below it.
        members: Vec<String>,
    },
    /// Columns do not fit the Form they came with.
    Column {
        /// The branch.
        branch: String,
        /// How.
        invalid: Invalid,
    },
    /// No branch matches the patterns.
    NoMatch {
        /// The format's word for a branch.
        column: &'static str,
        /// The table.
        table: String,
        /// The patterns.
        filter: Vec<String>,
    },
    /// A program that does not compile, or ends in an error.
    Program {
        /// The fault, and its place.
        what: String,
    },
    /// A file that was checked is damaged. What is, has been said.
    Damaged {
        /// The file.
        uri: String,
    },
    /// Failures of several files, which were told one by one.
    Told {
        /// The first one's exit code.
        code: i32,
    },
    /// The flags fit each other but not the program.
    Misuse {
        /// How.
        what: String,
    },
    /// A file given beside the program cannot be read.
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// A file cannot be written.
    Unwritable {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The branch is read without a program.
    NoProgram {
        /// The branch.
        branch: String,
        /// The command that reads it, and why.
        why: String,
    },
}

/// A shorthand.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// The error of a writer, with the options by which missing values are written to ROOT files if it is about these.
    pub(crate) fn unfilled(error: Error) -> Self {
        if !matches!(error.kind, ErrorKind::MissingValues { .. }) {
            return error.into();
        }
        Self::from(error).hinted(
            "--nulls -1 writes this number in their place, with lists and texts that are empty, and --as ntuple keeps \
             them missing",
        )
    }

    /// Whether it is that a column is not there.
    pub(crate) fn is_absence(&self) -> bool {
        match self {
            Self::NoMatch { .. } => true,
            Self::File(error) => matches!(error.kind, ErrorKind::NotFound { .. }),
            Self::Hinted { failure, .. } => failure.is_absence(),
            _ => false,
        }
    }

    /// The exit code, as the help says. A closed standard output is success.
    pub(crate) fn code(&self) -> i32 {
        match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Output(_) => 1,
            Self::File(error) => match &error.kind {
                ErrorKind::NotFound { .. } => 3,
                ErrorKind::Unsupported { .. } | ErrorKind::MissingValues { .. } => 4,
                ErrorKind::Invalid { .. } | ErrorKind::NotUtf8 { .. } => 2,
                // As shells have it of what Ctrl-C ended.
                ErrorKind::Cancelled => 130,
                ErrorKind::Source(error) => match error.kind {
                    SourceKind::NotFound | SourceKind::NotListed => 3,
                    SourceKind::UnsupportedScheme { .. } => 4,
                    _ => 1,
                },
                _ => 1,
            },
            Self::Hinted { failure, .. } => failure.code(),
            Self::WhichTree { trees, .. } if trees.is_empty() => 3,
            Self::WhichTree { .. }
            | Self::WhichBranch { .. }
            | Self::Group { .. }
            | Self::WrongObject { .. } => 2,
            Self::NoMatch { .. } | Self::NoProgram { .. } => 3,
            Self::Misuse { .. } => 2,
            Self::Told { code } => *code,
            Self::Damaged { .. } => 1,
            Self::Unreadable { error, .. } if error.kind() == io::ErrorKind::NotFound => 3,
            Self::Column { .. }
            | Self::Program { .. }
            | Self::Unreadable { .. }
            | Self::Unwritable { .. } => 1,
        }
    }

    /// The failure as an error of the façade, for code that the façade calls.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::File(error) => error,
            Self::Hinted { failure, .. } => failure.into_error(),
            other => Error::invalid(other.to_string()),
        }
    }

    pub(crate) fn misuse(what: String) -> Self {
        Self::Misuse { what }
    }

    /// The same failure with what to do about it.
    pub(crate) fn hinted(self, hint: impl Into<String>) -> Self {
        Self::Hinted { failure: Box::new(self), hint: hint.into() }
    }

    /// A row that cannot be spelled as text: where the flags leave open what becomes of NaN and infinities,
    /// it is one of these.
    pub(crate) fn unspelled(error: Error, not_numbers: NotNumbers) -> Self {
        if matches!((&error.kind, not_numbers), (ErrorKind::Invalid { .. }, NotNumbers::Refused)) {
            Self::from(error).hinted("--nan null or --nan string says what is written for such numbers")
        } else {
            error.into()
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The place stands on a line of its own.
            Self::File(error) if matches!(error.kind, ErrorKind::Cancelled) => {
                write!(f, "stopped; nothing was written")
            }
            Self::File(error) => {
                let lines: Vec<_> = told(error).lines().map(clean).collect();
                write!(f, "{}", lines.join("\n"))
            }
            Self::Damaged { uri } => write!(f, "{} did not pass the check", clean(uri)),
            Self::Told { .. } => Ok(()),
            Self::Output(error) => write!(f, "cannot write the output: {error}"),
            Self::WhichTree { uri, trees } if trees.is_empty() => {
                write!(f, "no tree in {}\n  forthwith ls -r lists what there is", clean(uri))
            }
            Self::WhichTree { uri, trees } => {
                write!(f, "several trees in {}; name one of them:", clean(uri))?;
                trees.iter().try_for_each(|tree| write!(f, "\n  {}:{}", clean(uri), clean(tree)))
            }
            Self::WrongObject { uri, key } if key.is_directory => {
                let (path, class) = (clean(&key.path), clean(&key.class));
                write!(f, "{path} is a {class}, not a tree\n  forthwith ls {}:{path} lists it", clean(uri))
            }
            Self::WrongObject { uri, key } => {
                let (path, class) = (clean(&key.path), clean(&key.class));
                write!(f, "{path} is a {class}, not a tree\n  forthwith show {}:{path} shows it", clean(uri))
            }
            Self::WhichBranch { column, typed, table } => {
                let (typed, table) = (clean(typed), clean(table));
                write!(f, "name a {column}: {typed}\n  forthwith show {table} lists those there are")
            }
            Self::NoMatch { column, table, filter } => {
                write!(f, "no {column} of {} matches {}", clean(table), clean(&filter.join(", ")))
            }
            Self::Hinted { failure, hint } => write!(f, "{failure}\n  {}", clean(hint)),
            Self::Program { what } => {
                let lines: Vec<_> = what.lines().map(clean).collect();
                write!(f, "{}", lines.join("\n"))
            }
            Self::Misuse { what } => write!(f, "{}", clean(what)),
            Self::Unreadable { path, error } if error.kind() == io::ErrorKind::NotFound => {
                write!(f, "no such file: {}", clean(path))
            }
            Self::Unreadable { path, error } => write!(f, "cannot read {}: {error}", clean(path)),
            Self::Unwritable { path, error } => write!(f, "cannot write {}: {error}", clean(path)),
            Self::NoProgram { branch, why } => {
                write!(f, "{} has no program: it is read by a {}", clean(branch), clean(why))
            }
            Self::Group { branch, members } => {
                write!(f, "{} has no data of its own, it only groups other branches:", clean(branch))?;
                members.iter().try_for_each(|member| write!(f, "\n  {}", clean(member)))
            }
            Self::Column { branch, invalid } => write!(f, "{}: {invalid}", clean(branch)),
        }
    }
}

/// The error's text. A source names its file and byte itself: both belong to the place, once.
fn told(error: &Error) -> String {
    let ErrorKind::Source(source) = &error.kind else { return error.to_string() };
    let mut place = (*error.place).clone();
    place.uri.get_or_insert_with(|| source.uri.clone());
    if place.uri.as_ref() != Some(&source.uri) {
        return error.to_string();
    }
    // Within a block, a byte would be read as one of its payload.
    if place.block.is_none() {
        place.byte = place.byte.or(source.at);
    }
    match source.kind {
        SourceKind::NotFound => format!("no such file: {place}"),
        _ => format!("{}\n  in {place}", source.kind),
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<serde_json::Error> for Failure {
    /// Our values are plain trees with text keys: only the writer can fail.
    fn from(error: serde_json::Error) -> Self {
        Self::Output(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forthwith::plan::NameListing;

    #[test]
    fn codes_tell_the_kinds_apart() {
        let file = |kind| Failure::File(Error::new(kind));
        assert_eq!(
            file(ErrorKind::NotFound {
                what: "object",
                name: "x".into(),
                near: vec![],
                known: NameListing::default()
            })
            .code(),
            3
        );
        assert_eq!(file(ErrorKind::Unsupported { what: "x".into() }).code(), 4);
        assert_eq!(file(ErrorKind::Invalid { what: "x".into() }).code(), 2);
        assert_eq!(file(ErrorKind::Fault { what: "x".into() }).code(), 1);
        assert_eq!(file(ErrorKind::Cancelled).code(), 130);
        assert_eq!(Failure::Output(io::ErrorKind::BrokenPipe.into()).code(), 0);
        assert_eq!(Failure::Output(io::ErrorKind::StorageFull.into()).code(), 1);
    }

    #[test]
    fn errors_cannot_steer_the_terminal() {
        let error = Error::unsupported("\u{1b}[2Jclass").in_file("a.root").in_object("t");
        assert_eq!(Failure::File(error).to_string(), "not supported yet: \\u{1b}[2Jclass\n  in a.root:t");
    }

    #[test]
    fn a_file_is_named_once() {
        let source = forthwith::io::Error::new(SourceKind::NotFound, "a.root");
        assert_eq!(Failure::File(Error::new(source.clone())).to_string(), "no such file: a.root");
        let cut = forthwith::io::Error::new(SourceKind::NotAFile, "a.root").at(64);
        let placed = Error::new(cut).in_file("a.root").in_object("t");
        assert_eq!(Failure::File(placed).to_string(), "not a regular file\n  in a.root:t, byte 0x40");
        let other = Error::new(forthwith::io::Error::new(SourceKind::NotFound, "b.root")).in_file("a.root");
        assert_eq!(Failure::File(other).to_string(), "b.root: not found\n  in a.root");
    }

    #[test]
    fn several_trees_are_listed_ready_to_paste() {
        let failure = Failure::WhichTree { uri: "a.root".into(), trees: vec!["t".into(), "d/u".into()] };
        insta::assert_snapshot!(failure, @r"
        several trees in a.root; name one of them:
          a.root:t
          a.root:d/u
        ");
    }
}
