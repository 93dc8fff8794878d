//! Recognition of files of user-defined formats.

use super::{MOST_HEAD, OwnFormat, registry};
use crate::formats::{Format, ending};
use forthwith_plan::Result;

impl OwnFormat {
    /// Whether a file name has one of the format's extensions.
    fn has_ending(&self, name: &str) -> bool {
        ending(name).is_some_and(|ending| self.endings.contains(&&*ending))
    }

    /// Whether a file has this format: by its magic bytes, or else by its extension, so far as these are set;
    /// and then by its function.
    fn is_of(&self, head: &[u8], name: &str) -> Result<bool> {
        let named = self.endings.is_empty() || self.has_ending(name);
        let may_be = head.starts_with(&self.magic) && (!self.magic.is_empty() || named);
        match &self.recognise {
            Some(recognise) if may_be => recognise(head.get(..MOST_HEAD).unwrap_or(head), name),
            _ => Ok(may_be),
        }
    }
}

/// Returns the number of first bytes that suffice to recognise a file of any registered format.
pub(in crate::formats) fn head() -> u64 {
    let head = |format: &OwnFormat| if format.recognise.is_some() { MOST_HEAD } else { format.magic.len() };
    registry::all().map(head).max().unwrap_or(0) as u64
}

/// Returns the last registered format that has the extension of the name and recognises the first bytes.
///
/// # Errors
/// Returns errors of the functions by which formats recognise files.
pub(in crate::formats) fn by_name_and_head(head: &[u8], name: &str) -> Result<Option<&'static dyn Format>> {
    first(registry::all().filter(|format| format.has_ending(name)), head, name)
}

/// Returns the last registered format that recognises a file by its first bytes and name.
///
/// # Errors
/// Returns errors of the functions by which formats recognise files.
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

/// Returns the last registered format that has the extension of the name.
pub(in crate::formats) fn by_name(name: &str) -> Option<&'static dyn Format> {
    registry::all().find(|format| format.has_ending(name)).map(|format| format as &dyn Format)
}

/// Returns a hint for a file of unknown format that has the extension of a registered format; otherwise an
/// empty text.
pub(in crate::formats) fn missed(name: &str) -> String {
    let near = registry::all().find(|format| format.has_ending(name));
    near.map_or_else(String::new, |format| match &format.magic[..] {
        [] => format!("; those of the format {} are recognised by a function, which refused it", format.name),
        magic => format!("; those of the format {} begin with {magic:02x?}", format.name),
    })
}
