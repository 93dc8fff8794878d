//! Every branch of a tree with how it is read: what several commands start from.

use crate::paint::Style;
use forthwith::{
    Table,
    plan::{Decoder, Description, Field, Reading},
};
use serde::Serialize;

/// One branch.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    /// Position in the tree's fields.
    pub(crate) index: u32,
    pub(crate) field: Field,
    /// How it is read; damaged metadata of one branch must not hide the others.
    pub(crate) description: Result<Description, String>,
}

/// How a branch is read, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Means {
    /// By a columnar kernel.
    Kernel,
    /// By a generated program.
    Program,
    /// By its format, from pages.
    Format,
    /// Not at all, as yet.
    Unsupported,
    /// It has no data of its own.
    Group,
    /// Its metadata cannot be read.
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

    /// For reading the first entries only: no others have to be found.
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

    /// How it is read, if it can be.
    pub(crate) fn reading(&self) -> Option<&Reading> {
        self.description.as_ref().ok()?.reading.as_ref().ok()
    }

    /// Whether it can be read.
    pub(crate) fn is_readable(&self) -> bool {
        matches!(self.means(), Means::Kernel | Means::Program | Means::Format)
    }

    /// Why it cannot be read, or how it can.
    pub(crate) fn reason(&self) -> &str {
        match &self.description {
            Err(problem) => problem,
            Ok(description) => match &description.reading {
                Err(problem) => problem,
                Ok(reading) => &reading.reason,
            },
        }
    }

    /// The type as the file says; nothing for a branch that only groups others.
    pub(crate) fn type_name(&self) -> &str {
        self.description.as_ref().map_or("", |d| &d.type_name)
    }

    pub(crate) fn entries(&self) -> u64 {
        self.description.as_ref().map_or(0, |d| d.entries)
    }
}

/// All branches in the file's order.
pub(crate) fn survey(table: &Table) -> forthwith::plan::Result<Vec<Branch>> {
    survey_first(table, u64::MAX)
}

/// The same, for reading the first entries only.
pub(crate) fn survey_first(table: &Table, entries: u64) -> forthwith::plan::Result<Vec<Branch>> {
    let fields = table.fields()?;
    let fields = (0..).zip(fields).filter(|(_, field)| !field.is_part);
    Ok(fields.map(|(index, field)| Branch::of_first(table, index, field, entries)).collect())
}

/// The number of branches with data of each kind: by kernels, by programs, by the format, not at all.
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
