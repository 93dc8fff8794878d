//! Which formats of one's own there are.
//!
//! A list that only grows, of what was registered and what was taken back, and is read without a lock: a forked process can neither find it
//! locked by a thread that it does not have, nor half changed.

use super::OwnFormat;
use forthwith_plan::{Error, Result};
use forthwith_platform::ProcessList;

/// Registers a format. Files are of it that begin with its magic bytes or, if it has none, whose names end as it says, and that its
/// function, if it has one, recognises. Formats of this build come first, unless the name ends as the format says; of several of one's own,
/// the last registered.
///
/// # Errors
/// [`ErrorKind::Invalid`](forthwith_plan::ErrorKind::Invalid): a format of that name is there, or nothing says which files are of it, or an
/// ending is that of another format.
pub fn register(format: OwnFormat) -> Result<()> {
    add(format, false)
}

/// Registers a format in the place of the one that had its name, if there was one, and also for names that end as those of a format of
/// this build. Files that are open stay as they are.
///
/// # Errors
/// As [`register`], but for the names; those of formats of this build stay theirs.
pub fn replace(format: OwnFormat) -> Result<()> {
    add(format, true)
}

/// Takes a format back. Answers whether there was one of that name. Files that are open stay as they are.
pub fn unregister(name: &str) -> bool {
    let Some(known) = all().find(|format| format.name == name).map(|format| format.name) else {
        return false;
    };
    CHANGES.add(|| all().any(|format| format.name == known).then_some(Change::Gone(known)))
}

/// The formats that are registered, the last one first.
#[must_use]
pub fn registered() -> Vec<&'static OwnFormat> {
    all().collect()
}

fn add(format: OwnFormat, replaces: bool) -> Result<()> {
    format.check(replaces)?;
    let format: &'static OwnFormat = Box::leak(Box::new(format));
    let free = || replaces || all().all(|known| known.name != format.name);
    if CHANGES.add(|| free().then_some(Change::Added(format))) {
        return Ok(());
    }
    Err(Error::invalid(format!("the format {} is registered already", format.name)))
}

#[derive(Clone, Copy)]
enum Change {
    Added(&'static OwnFormat),
    Gone(&'static str),
}

static CHANGES: ProcessList<Change> = ProcessList::new();

/// The formats that are there now, the last one first.
pub(in crate::formats) fn all() -> impl Iterator<Item = &'static OwnFormat> {
    let mut there: Vec<&'static OwnFormat> = Vec::new();
    for change in CHANGES.iter() {
        match *change {
            Change::Added(format) => {
                there.retain(|known| known.name != format.name);
                there.push(format);
            }
            Change::Gone(name) => there.retain(|known| known.name != name),
        }
    }
    there.into_iter().rev()
}
