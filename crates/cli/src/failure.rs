//! Failures of commands.

use crate::human::clean;
use forthwith::{
    columns::Invalid,
    io::ErrorKind as SourceKind,
    plan::{Error, ErrorKind, NotNumbers},
};
use std::{fmt, io};

/// Failure of a command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Error in a file or in reading it.
    File(Error),
    /// The output cannot be written.
    Output(io::Error),
    /// No table was named, and the file has several or none.
    WhichTree {
        /// URI of the file.
        uri: String,
        /// Paths of its tables.
        trees: Vec<String>,
    },
    /// The object is not a table, which the command requires.
    WrongObject {
        /// URI of the file.
        uri: String,
        /// Key of the object.
        key: Box<forthwith::Key>,
    },
    /// Failure with a hint for the user.
    Hinted {
        /// The failure.
        failure: Box<Self>,
        /// The hint.
        hint: String,
    },
    /// The command requires a branch, and none was named.
    WhichBranch {
        /// Name of a branch in the format.
        column: &'static str,
        /// Example of a branch as it is typed: `FILE:TREE/BRANCH`.
        typed: String,
        /// The table as it is typed.
        table: String,
    },
    /// The branch only groups others.
    Group {
        /// Path of the branch.
        branch: String,
        /// Paths of the branches below it.
        members: Vec<String>,
    },
    /// The columns of a branch are inconsistent.
    Column {
        /// Path of the branch.
        branch: String,
        /// Description of the inconsistency.
        invalid: Invalid,
    },
    /// No branch matches the patterns.
    NoMatch {
        /// Name of a branch in the format.
        column: &'static str,
        /// Name of the table.
        table: String,
        /// The patterns.
        filter: Vec<String>,
    },
    /// A program does not compile, or ended in an error.
    Program {
        /// Description of the error, with its place.
        what: String,
    },
    /// A checked file is damaged. The findings were reported.
    Damaged {
        /// URI of the file.
        uri: String,
    },
    /// Failures of several files that were reported one by one.
    Told {
        /// Exit code of the first failure.
        code: i32,
    },
    /// The arguments are invalid, although the parser accepted them.
    Misuse {
        /// Description of the error.
        what: String,
    },
    /// A file that is not the data file cannot be read.
    Unreadable {
        /// Path of the file.
        path: String,
        /// The error.
        error: io::Error,
    },
    /// A file cannot be written.
    Unwritable {
        /// Path of the file.
        path: String,
        /// The error.
        error: io::Error,
    },
    /// The branch is not decoded by a program.
    NoProgram {
        /// Path of the branch.
        branch: String,
        /// The decoder that reads it, with the reason.
        why: String,
    },
}

/// Result with [`Failure`] as the default error.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// Returns the failure of a writer, with a hint about options if missing values cannot be written.
    pub(crate) fn unfilled(error: Error) -> Self {
        if !matches!(error.kind, ErrorKind::MissingValues { .. }) {
            return error.into();
        }
        Self::from(error).hinted(
            "--nulls -1 writes this number in their place, with lists and texts that are empty, and --as ntuple keeps \
             them missing",
        )
    }

    /// Whether the failure is that a column does not exist.
    pub(crate) fn is_absence(&self) -> bool {
        match self {
            Self::NoMatch { .. } => true,
            Self::File(error) => matches!(error.kind, ErrorKind::NotFound { .. }),
            Self::Hinted { failure, .. } => failure.is_absence(),
            _ => false,
        }
    }

    /// Returns the exit code as documented in the help. A closed standard output is success.
    pub(crate) fn code(&self) -> i32 {
        match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Output(_) => 1,
            Self::File(error) => match &error.kind {
                ErrorKind::NotFound { .. } => 3,
                ErrorKind::Unsupported { .. } | ErrorKind::MissingValues { .. } => 4,
                ErrorKind::Invalid { .. } | ErrorKind::NotUtf8 { .. } => 2,
                // The exit code that shells use for processes ended by Ctrl-C.
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

    /// Converts the failure to an error of the library, for code that is called by it.
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

    /// Returns the failure with a hint.
    pub(crate) fn hinted(self, hint: impl Into<String>) -> Self {
        Self::Hinted { failure: Box::new(self), hint: hint.into() }
    }

    /// Returns the failure for a row that cannot be written as text, with a hint if the options do not define
    /// how NaN and infinities are written.
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
            // The place is on a line of its own.
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

/// Returns the text of an error. The file and byte offset of a source's error become part of its place, so
/// that they are not repeated.
fn told(error: &Error) -> String {
    let ErrorKind::Source(source) = &error.kind else { return error.to_string() };
    let mut place = (*error.place).clone();
    place.uri.get_or_insert_with(|| source.uri.clone());
    if place.uri.as_ref() != Some(&source.uri) {
        return error.to_string();
    }
    // In a place with a block, a byte offset would refer to the payload of the block.
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
    /// Values are trees with string keys, so only the writer can fail.
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
