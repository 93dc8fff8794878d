//! Streamer infos of a file, which describe the classes stored in it.

mod builtin;
mod element;
mod enumerations;
mod info;
mod registered;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use forthwith_plan::Result;
use forthwith_platform::ProcessOnce;

pub use builtin::builtin_divided;
pub(crate) use builtin::{Row, builtin, builtin_versions, written};
pub use element::{Counter, Element, ElementKind};
pub use info::StreamerInfo;
pub use registered::{
    any_unframed, forget_class, is_unframed, register_class, register_unframed, registered, registrations,
};
pub(crate) use text::info as spelled;

use crate::cpp::{CppType, tidy};
pub(crate) use crate::cpp::{Packing, code};
use crate::record::{Cursor, Tag, text};

/// Initializes process-wide tables, to be called before a process with several threads forks: if another
/// thread were initializing them, the child would wait for it forever.
pub fn prepare() {
    let _ = (builtin::infos(), registered(""));
}

/// Streamer infos of a file. Their classes are known at once; each info is parsed when it is first needed.
#[derive(Debug, Default)]
pub struct Streamers {
    payload: Bytes,
    origin: u32,
    entries: Vec<Entry>,
    by_class: HashMap<Box<str>, Vec<u32>>,
    enumerations: ProcessOnce<HashMap<Box<str>, i32>>,
    rules: Vec<Box<str>>,
}

#[derive(Debug)]
struct Entry {
    /// Info without its elements.
    label: StreamerInfo,
    at: usize,
    info: ProcessOnce<Arc<StreamerInfo>>,
}

impl Streamers {
    /// Finds the infos in the payload of a file's streamer record. `origin` is the length of its key.
    ///
    /// # Errors
    /// Returns an error if the payload is not a list of streamer infos.
    pub fn parse(payload: Bytes, origin: u32) -> Result<Self> {
        let mut streamers = Self { origin, ..Self::default() };
        let mut cursor = Cursor::with_origin(&payload, origin);
        let frame = cursor.frame()?;
        list(&mut cursor, frame.version, |cursor, class, _| {
            match class {
                b"TStreamerInfo" => {
                    let at = cursor.position();
                    let frame = cursor.frame()?;
                    let label = StreamerInfo::label(cursor)?;
                    cursor.leave(&frame);
                    let number = streamers.entries.len() as u32;
                    streamers.by_class.entry(tidy(&label.class).into()).or_default().push(number);
                    streamers.entries.push(Entry { label, at, info: ProcessOnce::new() });
                }
                b"TList" => streamers.rules.extend(rules(cursor)?),
                // Other entries of newer files have a byte count, and are ignored.
                _ => {}
            }
            Ok(())
        })?;
        streamers.payload = payload;
        Ok(streamers)
    }

    /// Returns the classes and their versions, in the order of the file.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = (&str, i32)> {
        self.entries.iter().map(|entry| (&*entry.label.class, entry.label.version))
    }

    /// Returns all infos, in the order of the file.
    ///
    /// # Errors
    /// Returns an error if an info cannot be parsed.
    pub fn infos(&self) -> Result<Vec<Arc<StreamerInfo>>> {
        self.entries.iter().map(|entry| self.info(entry)).collect()
    }

    /// Returns the info of a class in a version. If several have the same version, as classes without
    /// versions of their own do, it is the last.
    ///
    /// # Errors
    /// Returns an error if the info cannot be parsed.
    pub fn find(&self, class: &str, version: i32) -> Result<Option<Arc<StreamerInfo>>> {
        self.pick(class, |label| label.version == version)
    }

    /// Returns the info of a class with this checksum.
    ///
    /// # Errors
    /// Returns an error if the info cannot be parsed.
    pub fn by_checksum(&self, class: &str, checksum: u32) -> Result<Option<Arc<StreamerInfo>>> {
        self.pick(class, |label| label.checksum == checksum)
    }

    /// Returns the info of any class with this checksum.
    ///
    /// # Errors
    /// Returns an error if the info cannot be parsed.
    pub(crate) fn by_checksum_alone(&self, checksum: u32) -> Result<Option<Arc<StreamerInfo>>> {
        let entry = self.entries.iter().find(|entry| entry.label.checksum == checksum);
        entry.map(|entry| self.info(entry)).transpose()
    }

    /// Returns the info by which an object was written: that with its checksum, if there is one, and
    /// otherwise that of its version. A registered class has the info of the user.
    ///
    /// # Errors
    /// Returns an error if the info cannot be parsed.
    pub fn describe(
        &self,
        class: &str,
        version: i32,
        checksum: Option<u32>,
    ) -> Result<Option<Arc<StreamerInfo>>> {
        if let Some(info) = registered(class) {
            return Ok(Some(info));
        }
        if let Some(checksum) = checksum
            && let Some(info) = self.by_checksum(class, checksum)?
        {
            return Ok(Some(info));
        }
        self.find(class, version)
    }

    /// Returns the info of the highest version of a class, or that of the user for a registered class.
    ///
    /// # Errors
    /// Returns an error if the info cannot be parsed.
    pub fn latest(&self, class: &str) -> Result<Option<Arc<StreamerInfo>>> {
        if let Some(info) = registered(class) {
            return Ok(Some(info));
        }
        let entry = self.of(class).max_by_key(|entry| entry.label.version);
        entry.map(|entry| self.info(entry)).transpose()
    }

    /// Returns whether the file or a user has an info of a class.
    #[must_use]
    pub fn describes(&self, class: &str) -> bool {
        self.knows(class) || registered(class).is_some()
    }

    /// Returns whether the file has an info of a class.
    #[must_use]
    pub fn knows(&self, class: &str) -> bool {
        self.of(class).next().is_some()
    }

    /// Returns the infos of all versions of a class, in the order of the file.
    ///
    /// # Errors
    /// Returns an error if an info cannot be parsed.
    pub fn versions(&self, class: &str) -> Result<Vec<Arc<StreamerInfo>>> {
        self.of(class).map(|entry| self.info(entry)).collect()
    }

    /// Returns the schema evolution rules of the file as ROOT writes them, in C++.
    #[must_use]
    pub fn rules(&self) -> &[Box<str>] {
        &self.rules
    }

    /// Returns the class that the file describes for a pair or array of such types, as it is spelled there.
    #[must_use]
    pub fn spelled(&self, kind: &CppType) -> Option<&str> {
        let template = match kind {
            CppType::Pair(..) => "pair<",
            CppType::Array(..) => "array<",
            _ => return None,
        };
        let wanted = kind.spelling();
        let is_it = |name: &&str| name.starts_with(template) && CppType::parse(name).spelling() == wanted;
        self.classes().map(|(name, _)| name).find(is_it)
    }

    /// Returns the type code of the numbers as which items of an enumeration are stored, or `None` if the
    /// file does not show that the type is an enumeration.
    #[must_use]
    pub fn enumeration(&self, name: &str) -> Option<i32> {
        let known = self.enumerations.get_or_make(|| {
            let infos = self.entries.iter().filter_map(|entry| self.info(entry).ok());
            enumerations::of(infos)
        });
        known.get(name).copied()
    }

    fn of(&self, class: &str) -> impl DoubleEndedIterator<Item = &Entry> {
        // Versions of ROOT differ in the blanks in names of templates.
        let numbers = match class.contains('<') {
            true => self.by_class.get(&*tidy(class)),
            false => self.by_class.get(class),
        };
        let numbers = numbers.map(Vec::as_slice).unwrap_or_default();
        numbers.iter().map(|&number| &self.entries[number as usize])
    }

    fn pick(&self, class: &str, suits: impl Fn(&StreamerInfo) -> bool) -> Result<Option<Arc<StreamerInfo>>> {
        let entry = self.of(class).rfind(|entry| suits(&entry.label));
        entry.map(|entry| self.info(entry)).transpose()
    }

    fn info(&self, entry: &Entry) -> Result<Arc<StreamerInfo>> {
        let parse = || {
            let mut cursor = Cursor::with_origin(&self.payload, self.origin);
            cursor.seek(entry.at)?;
            let info = StreamerInfo::parse(&mut cursor);
            info.map(Arc::new).map_err(|error| error.in_object(&entry.label.class))
        };
        entry.info.get_or_try(parse).cloned()
    }
}

/// Calls `visit` with the objects of a `TList`, at the contents of each. The list's frame has been entered.
fn list<'a>(
    cursor: &mut Cursor<'a>,
    version: i16,
    mut visit: impl FnMut(&mut Cursor<'a>, &[u8], usize) -> Result<()>,
) -> Result<()> {
    let (_, count) = cursor.collection(version)?;
    for _ in 0..count {
        if let Tag::Object { class, begin, end } = cursor.tag()? {
            visit(cursor, class, begin)?;
            if let Some(end) = end {
                cursor.seek(end)?;
            }
        }
        cursor.list_option(version)?;
    }
    Ok(())
}

/// Reads the strings of a `TList` of `TObjString`.
fn rules(cursor: &mut Cursor<'_>) -> Result<Vec<Box<str>>> {
    let mut rules = Vec::new();
    let frame = cursor.frame()?;
    list(cursor, frame.version, |cursor, class, _| {
        if class == b"TObjString" {
            let frame = cursor.frame()?;
            cursor.tobject()?;
            rules.push(text(cursor.string()?).into());
            cursor.leave(&frame);
        }
        Ok(())
    })?;
    cursor.leave(&frame);
    Ok(rules)
}
