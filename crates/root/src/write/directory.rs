//! Directories, as they are written.

use std::borrow::Cow;

use bytes::Bytes;
use forthwith_plan::{Error, Result};

use super::key::LAST_SMALL;
use super::{Buffer, FileSettings, KeyText, Moment, Uuid};
use crate::record::Datime;

/// A directory of a file that is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DirectoryId(pub(super) usize);

impl DirectoryId {
    /// The top directory.
    pub const TOP: Self = Self(0);
}

/// A directory, and what it lists.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) title: String,
    /// The directory that it is in.
    pub(super) parent: Option<DirectoryId>,
    /// Offset of its record.
    pub(super) position: u64,
    /// Bytes of the record before what it says of itself.
    pub(super) name_len: u32,
    pub(super) created: Datime,
    pub(super) uuid: Option<Uuid>,
    /// Its list of keys: offset and length, 0 if it was never written.
    pub(super) list: (u64, u32),
    /// The keys that it lists, in the order of the list.
    pub(super) keys: Vec<Listed>,
    /// Whether the list has to be written.
    pub(super) changed: bool,
    /// The directories in it that were made or opened.
    pub(super) inner: Vec<DirectoryId>,
}

/// A key in a list.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) class: Box<str>,
    pub(super) name: Box<str>,
    pub(super) cycle: u16,
    /// Offset and length of its record.
    pub(super) record: (u64, u32),
    /// The key's bytes.
    pub(super) image: Bytes,
}

impl Listed {
    /// Whether it is a directory.
    pub(super) fn is_directory(&self) -> bool {
        matches!(&*self.class, "TDirectory" | "TDirectoryFile")
    }
}

/// Bytes of what a directory says of itself.
pub(super) const LENGTH: usize = 60;

impl Place {
    /// A directory that lists nothing yet.
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

    /// The directory's own data: always as many bytes.
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

    /// The number of the next object of a name.
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

    /// Adds a key: before others of its name, since ROOT takes the first.
    pub(super) fn list_key(&mut self, listed: Listed) {
        let at = self.keys.iter().position(|key| key.name == listed.name).unwrap_or(self.keys.len());
        self.keys.insert(at, listed);
        self.changed = true;
    }

    /// The payload of its list of keys.
    pub(super) fn key_list(&self) -> Vec<u8> {
        // No more keys than fit in memory, each of at least 26 bytes.
        let mut payload = (self.keys.len() as u32).to_be_bytes().to_vec();
        self.keys.iter().for_each(|key| payload.extend(&*key.image));
        payload
    }

    /// The class that its records have.
    pub(super) fn class(&self) -> &'static str {
        if self.parent.is_none() { "TFile" } else { "TDirectory" }
    }

    /// Its name for a message.
    pub(super) fn label(&self) -> Cow<'_, str> {
        if self.parent.is_none() { Cow::Borrowed("the top directory") } else { Cow::Borrowed(&self.name) }
    }
}

/// Refuses a name by which C++ ROOT would not find an object, or would find another one.
///
/// # Errors
/// The name, and why.
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

/// Bytes of a name that C++ ROOT looks for at most.
const LONGEST_NAME: usize = 2047;
/// ROOT takes cycles for signed numbers.
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
