//! Which files are of a format of one's own.

use super::{MOST_HEAD, OwnFormat, registry};
use crate::formats::{Format, ending};
use forthwith_plan::Result;

impl OwnFormat {
    /// Whether a name ends as those of its files.
    fn has_ending(&self, name: &str) -> bool {
        ending(name).is_some_and(|ending| self.endings.contains(&&*ending))
    }

    /// By the magic bytes, if there are any, or else by the ending of the name, if there are any; and then by its function.
    fn is_of(&self, head: &[u8], name: &str) -> Result<bool> {
        let named = self.endings.is_empty() || self.has_ending(name);
        let may_be = head.starts_with(&self.magic) && (!self.magic.is_empty() || named);
        match &self.recognise {
            Some(recognise) if may_be => recognise(head.get(..MOST_HEAD).unwrap_or(head), name),
            _ => Ok(may_be),
        }
    }
}

/// Bytes of a file's beginning that are enough to recognise it.
pub(in crate::formats) fn head() -> u64 {
    let head = |format: &OwnFormat| if format.recognise.is_some() { MOST_HEAD } else { format.magic.len() };
    registry::all().map(head).max().unwrap_or(0) as u64
}

/// The format whose files have such names, and begin so.
///
/// # Errors
/// Those of the functions of formats.
pub(in crate::formats) fn by_name_and_head(head: &[u8], name: &str) -> Result<Option<&'static dyn Format>> {
    first(registry::all().filter(|format| format.has_ending(name)), head, name)
}

/// The format of a file that begins so.
///
/// # Errors
/// Those of the functions of formats.
pub(in crate::formats) fn by_head(head: &[u8], name: &str) -> Result<Option<&'static dyn Format>> {
    first(registry::all(), head, name)
}

fn first(
    formats: impl Iterator<Item = &'static OwnFormat>,
    head: &[u8],
    name: &str,
) -> Result<Option<&'static dyn Format>> {
    for format in formats {
        if format.is_of(head, name)? {
            return Ok(Some(format));
        }
    }
    Ok(None)
}

/// The format whose files' names end so.
pub(in crate::formats) fn by_name(name: &str) -> Option<&'static dyn Format> {
    registry::all().find(|format| format.has_ending(name)).map(|format| format as &dyn Format)
}

/// A hint for a file of no known format whose name ends as those of one do.
pub(in crate::formats) fn missed(name: &str) -> String {
    let near = registry::all().find(|format| format.has_ending(name));
    near.map_or_else(String::new, |format| match &format.magic[..] {
        [] => format!("; those of the format {} are recognised by a function, which refused it", format.name),
        magic => format!("; those of the format {} begin with {magic:02x?}", format.name),
    })
}
