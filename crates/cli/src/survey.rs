//! Finds every branch of a tree and how it is read. Used by several commands.

use crate::paint::Style;
use forthwith::{
    Table,
    plan::{Decoder, Description, Field, Reading},
};
use serde::Serialize;

/// One branch.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    /// Index among the tree's fields.
    pub(crate) index: u32,
    pub(crate) field: Field,
    /// How it is read. An error is kept per branch so that damaged metadata does not hide other branches.
    pub(crate) description: Result<Description, String>,
}

/// How a branch is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Means {
    /// By a columnar kernel.
    Kernel,
    /// By a generated program.
    Program,
    /// By its format, from pages.
    Format,
    /// Not supported yet.
    Unsupported,
    /// Not read: a group without data of its own.
    Group,
    /// Not read: its metadata is damaged.
    Damaged,
}

impl Means {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Program => "program",
            Self::Format => "format",
            Self::Unsupported => "unsupported",
            Self::Group => "group",
            Self::Damaged => "damaged",
        }
    }

    pub(crate) const fn style(self) -> Style {
        match self {
            Self::Kernel | Self::Format => Style::Good,
            Self::Program => Style::Special,
            Self::Unsupported | Self::Damaged => Style::Bad,
            Self::Group => Style::Faint,
        }
    }
}

impl Branch {
    pub(crate) fn of(table: &Table, index: u32, field: &Field) -> Self {
        Self::of_first(table, index, field, u64::MAX)
    }

    /// Describes a branch for reading only the first entries; later blocks are not located.
    pub(crate) fn of_first(table: &Table, index: u32, field: &Field, entries: u64) -> Self {
        let description = table.describe_first(index, entries).map_err(|error| error.to_string());
        Self { index, field: field.clone(), description }
    }

    pub(crate) fn means(&self) -> Means {
        match &self.description {
            _ if !self.field.has_data => Means::Group,
            Err(_) => Means::Damaged,
            Ok(description) => match &description.reading {
                Err(_) => Means::Unsupported,
                Ok(reading) => match reading.decoder {
                    Decoder::Kernel(_) => Means::Kernel,
                    Decoder::Format(_) => Means::Format,
                    _ => Means::Program,
                },
            },
        }
    }

    /// Returns how the branch is read, if readable.
    pub(crate) fn reading(&self) -> Option<&Reading> {
        self.description.as_ref().ok()?.reading.as_ref().ok()
    }

    /// Returns whether the branch is readable.
    pub(crate) fn is_readable(&self) -> bool {
        matches!(self.means(), Means::Kernel | Means::Program | Means::Format)
    }

    /// Returns why the branch is unreadable, or the reason for its decoder.
    pub(crate) fn reason(&self) -> &str {
        match &self.description {
            Err(problem) => problem,
            Ok(description) => match &description.reading {
                Err(problem) => problem,
                Ok(reading) => &reading.reason,
            },
        }
    }

    /// Returns the type as declared in the file; empty for a branch that only groups others.
    pub(crate) fn type_name(&self) -> &str {
        self.description.as_ref().map_or("", |d| &d.type_name)
    }

    pub(crate) fn entries(&self) -> u64 {
        self.description.as_ref().map_or(0, |d| d.entries)
    }
}

/// Returns all branches in file order.
pub(crate) fn survey(table: &Table) -> forthwith::plan::Result<Vec<Branch>> {
    survey_first(table, u64::MAX)
}

/// Like [`survey`], but for reading only the first entries.
pub(crate) fn survey_first(table: &Table, entries: u64) -> forthwith::plan::Result<Vec<Branch>> {
    let fields = table.fields()?;
    let fields = (0..).zip(fields).filter(|(_, field)| !field.is_part);
    Ok(fields.map(|(index, field)| Branch::of_first(table, index, field, entries)).collect())
}

/// Counts the branches with data by kind: by kernels, by programs, by the format, unsupported.
pub(crate) fn tally(means: impl IntoIterator<Item = Means>) -> [u64; 4] {
    let mut tally = [0; 4];
    for means in means {
        match means {
            Means::Kernel => tally[0] += 1,
            Means::Program => tally[1] += 1,
            Means::Format => tally[2] += 1,
            Means::Unsupported | Means::Damaged => tally[3] += 1,
            Means::Group => {}
        }
    }
    tally
}
