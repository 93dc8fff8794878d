//! Registry of user-defined formats.
//!
//! The registry is an append-only list of registrations and removals, which is read without a lock. A forked
//! process can therefore find it neither locked by a thread that it lacks nor partly changed.

use super::OwnFormat;
use forthwith_plan::{Error, Result};
use forthwith_platform::ProcessList;

/// Registers a format. A file has the format if it begins with its magic bytes or, if it has none, if the
/// name has one of its extensions; and if its function, if it has one, recognises the file. Built-in formats
/// take precedence, unless the name has an extension of the format. Among registered formats, the last one
/// takes precedence.
///
/// # Errors
/// Returns [`ErrorKind::Invalid`](forthwith_plan::ErrorKind::Invalid) if the name is taken, if an extension
/// is invalid or belongs to a built-in format, if the format has neither extensions nor magic bytes nor a
/// function, if it has more than 4096 magic bytes, or if its blocks and header are inconsistent.
pub fn register(format: OwnFormat) -> Result<()> {
    add(format, false)
}

/// Registers a format in place of a registered format of the same name, if there is one. Its extensions may
/// be those of built-in formats. Open files are not affected.
///
/// # Errors
/// Returns the errors of [`register`] except for names and extensions that are taken; names of built-in
/// formats are still errors.
pub fn replace(format: OwnFormat) -> Result<()> {
    add(format, true)
}

/// Unregisters a format, and returns whether a format of that name was registered. Open files are not
/// affected.
pub fn unregister(name: &str) -> bool {
    let Some(known) = all().find(|format| format.name == name).map(|format| format.name) else {
        return false;
    };
    CHANGES.add(|| all().any(|format| format.name == known).then_some(Change::Gone(known)))
}

/// Returns the registered formats, the last registered one first.
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

/// Returns the currently registered formats, the last registered one first.
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
