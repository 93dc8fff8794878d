//! Directories of a file being written.

use std::borrow::Cow;

use bytes::Bytes;
use forthwith_plan::{Error, Result};

use super::key::LAST_SMALL;
use super::{Buffer, FileSettings, KeyText, Moment, Uuid};
use crate::record::Datime;

/// Identifies a directory of a [`FileWriter`](super::FileWriter).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DirectoryId(pub(super) usize);

impl DirectoryId {
    /// The top directory.
    pub const TOP: Self = Self(0);
}

/// A directory and its list of keys.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) title: String,
    /// The directory that contains this one; `None` for the top directory.
    pub(super) parent: Option<DirectoryId>,
    /// Byte offset of the directory's record.
    pub(super) position: u64,
    /// Number of bytes in the record before the directory's [header](Self::header).
    pub(super) name_len: u32,
    pub(super) created: Datime,
    pub(super) uuid: Option<Uuid>,
    /// Byte offset and length of the record with the list of keys; 0 if it was never written.
    pub(super) list: (u64, u32),
    /// The listed keys, in order.
    pub(super) keys: Vec<Listed>,
    /// Whether the list has to be written.
    pub(super) changed: bool,
    /// Subdirectories that were created or opened.
    pub(super) inner: Vec<DirectoryId>,
}

/// An entry in a list of keys.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) class: Box<str>,
    pub(super) name: Box<str>,
    pub(super) cycle: u16,
    /// Byte offset and length of the object's record.
    pub(super) record: (u64, u32),
    /// The serialised key.
    pub(super) image: Bytes,
}

impl Listed {
    /// Whether the key is that of a directory.
    pub(super) fn is_directory(&self) -> bool {
        matches!(&*self.class, "TDirectory" | "TDirectoryFile")
    }
}

/// Size of a directory's header in bytes.
pub(super) const LENGTH: usize = 60;

impl Place {
    /// Creates a directory with an empty list of keys.
    pub(super) fn new(key: KeyText<'_>, position: u64, name_len: u32, settings: &FileSettings) -> Self {
        Self {
            name: key.name.into(),
            title: key.title.into(),
            parent: None,
            position,
            name_len,
            created: settings.time.datime(),
            uuid: Some(settings.uuid),
            list: (0, 0),
            keys: Vec::new(),
            changed: true,
            inner: Vec::new(),
        }
    }

    /// Serialises the directory's header, padded to [`LENGTH`] bytes.
    pub(super) fn header(&self, parent: u64, modified: Moment) -> Vec<u8> {
        let big = self.position.max(parent).max(self.list.0) > LAST_SMALL;
        let mut header = Buffer::default();
        header.i16(if big { 1005 } else { 5 });
        header.u32(self.created.0);
        header.u32(modified.datime().0);
        header.u32(self.list.1);
        header.u32(self.name_len);
        [self.position, parent, self.list.0].into_iter().for_each(|seek| header.seek(seek, big));
        header.uuid(self.uuid.map(|uuid| uuid.0));
        let mut bytes = header.into_bytes();
        bytes.resize(LENGTH, 0);
        bytes
    }

    /// Returns the cycle of the next object with a name. Fails if the highest cycle is in use.
    pub(super) fn next_cycle(&self, name: &str) -> Result<u16> {
        let last = self.keys.iter().filter(|key| &*key.name == name).map(|key| key.cycle).max();
        let next = last.map_or(Some(1), |last| last.checked_add(1)).filter(|&cycle| cycle <= MOST_CYCLES);
        next.ok_or_else(|| {
            let what = format!(
                "there are {MOST_CYCLES} objects of this name already, and higher cycles do not exist"
            );
            Error::invalid(what).in_object(name)
        })
    }

    /// Inserts a key before others of its name, since ROOT takes the first.
    pub(super) fn list_key(&mut self, listed: Listed) {
        let at = self.keys.iter().position(|key| key.name == listed.name).unwrap_or(self.keys.len());
        self.keys.insert(at, listed);
        self.changed = true;
    }

    /// Serialises the list of keys.
    pub(super) fn key_list(&self) -> Vec<u8> {
        // The number of keys in memory, of at least 26 bytes each, fits 32 bits.
        let mut payload = (self.keys.len() as u32).to_be_bytes().to_vec();
        self.keys.iter().for_each(|key| payload.extend(&*key.image));
        payload
    }

    /// Returns the class in the keys of the directory's own records.
    pub(super) fn class(&self) -> &'static str {
        if self.parent.is_none() { "TFile" } else { "TDirectory" }
    }

    /// Returns the directory's name for errors.
    pub(super) fn label(&self) -> Cow<'_, str> {
        if self.parent.is_none() { Cow::Borrowed("the top directory") } else { Cow::Borrowed(&self.name) }
    }
}

/// Checks that C++ ROOT can find an object by its name.
///
/// # Errors
/// Returns an error that contains the name and the reason if C++ ROOT would find no object, or another one.
pub(super) fn check_name(name: &str) -> Result<()> {
    let control = name.chars().find(|letter| letter.is_control());
    let why = match (name, control) {
        ("", _) => "it is empty".to_owned(),
        ("." | "..", _) => "it stands for a directory in a path".into(),
        (_, Some(control)) => format!("it has the control character U+{:04X}", u32::from(control)),
        _ if name.contains('/') => "a slash separates the names of directories".into(),
        _ if name.contains(';') => "a semicolon separates a name from a cycle".into(),
        _ if name.len() > LONGEST_NAME => format!("it has {} bytes, more than {LONGEST_NAME}", name.len()),
        _ => return Ok(()),
    };
    let shown: String = name.chars().take(80).collect();
    Err(Error::invalid(format!("{shown:?} as the name of an object, which C++ ROOT cannot find: {why}")))
}

/// Longest name that C++ ROOT looks up, in bytes.
const LONGEST_NAME: usize = 2047;
/// Highest cycle: ROOT reads cycles as signed numbers.
const MOST_CYCLES: u16 = i16::MAX as u16;

#[cfg(test)]
mod tests {
    use super::{LONGEST_NAME, check_name};

    #[test]
    fn names_that_root_does_not_find_are_refused() {
        for name in [
            "",
            ".",
            "..",
            "a/b",
            "a\0b",
            "a;1",
            ";",
            "a\n",
            "\u{7f}",
            "\u{85}",
            &"x".repeat(LONGEST_NAME + 1),
        ] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        for name in ["a", "...", ".a", " ", "a b", "ä", "a:b", "a[1]", "*", "$x", &"x".repeat(LONGEST_NAME)]
        {
            assert!(check_name(name).is_ok(), "{name:?}");
        }
    }
}
