//! [`Walker`]: reads any object of a file by streamer info.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use forthwith_plan::{Error, Result};
use forthwith_platform::ProcessLock;

use super::marks::Marks;
use super::objects::{Leftover, Objects};
use super::reader::Reader;
use super::steps::Steps;
use crate::class::Layouts;
use crate::record::Cursor;
use crate::streamer::Streamers;

/// Reads objects by the streamer infos of a file, and caches the steps compiled from them.
///
/// Classes with custom streamers in ROOT (collections, strings, arrays of numbers) are read as these write
/// them. An object whose class or version is unknown is kept as an opaque range of bytes. So is the target of
/// a pointer that contradicts its streamer info ([`Object::fault`](super::Object::fault)): a corrupt member
/// in the user info of a tree does not make the tree unreadable.
#[derive(Debug)]
pub struct Walker {
    pub(super) file: Arc<Layouts>,
    known: ProcessLock<HashMap<Wanted, Option<Arc<Steps>>>>,
}

/// Key of cached steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    pub(super) class: Box<str>,
    pub(super) version: i32,
    pub(super) checksum: Option<u32>,
    /// Versions of bases in the data that differ from those of the info.
    pub(super) bases: Vec<(Box<str>, i32)>,
}

impl Walker {
    /// Returns a reader for the objects of the file with these streamer infos.
    #[must_use]
    pub fn new(streamers: Arc<Streamers>) -> Self {
        Self::with(Arc::new(Layouts::new(streamers, i32::MAX)))
    }

    /// Returns a reader for the objects of a file with these layouts, which know the version of ROOT that
    /// wrote it.
    #[must_use]
    pub fn with(file: Arc<Layouts>) -> Self {
        Self { file, known: ProcessLock::default() }
    }

    /// Reads the object in a record's payload. `origin` is the length of the record's key.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an object of this class.
    pub fn read(&self, payload: Bytes, origin: u32, class: &str) -> Result<Objects> {
        self.read_at(payload, origin, class, 0)
    }

    /// Reads the object whose contents begin at a position of the payload
    /// ([`Object::body`](super::Object::body)), with the objects to which it points. Pointers to objects
    /// outside of it are [`Value::Elsewhere`](super::Value::Elsewhere).
    ///
    /// # Errors
    /// Returns an error if the bytes are not an object of this class.
    pub fn read_at(&self, payload: Bytes, origin: u32, class: &str, position: usize) -> Result<Objects> {
        self.read_noting(payload, origin, class, position, None)
    }

    /// Reads an object as [`read`](Self::read) does, and records the positions of its parts, so that the
    /// record can be [edited](crate::write::Edits).
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
    pub fn read_to_edit(&self, payload: Bytes, origin: u32, class: &str) -> Result<Objects> {
        self.read_noting(payload, origin, class, 0, Some(Marks::default()))
    }

    fn read_noting(
        &self,
        payload: Bytes,
        origin: u32,
        class: &str,
        position: usize,
        marks: Option<Marks>,
    ) -> Result<Objects> {
        let mut cursor = Cursor::with_origin(&payload, origin);
        cursor.seek(position)?;
        if u32::try_from(payload.len()).is_err() {
            return Err(Error::out_of_range("length of a payload", payload.len(), u32::MAX));
        }
        let mut reader = Reader::new(self, cursor, marks);
        let class_name = class;
        let class = reader.class_by_name(class);
        reader.open(class, position);
        reader.contents(0, None, 0)?;
        let rest = reader.cursor.remaining();
        let Reader { mut to, classes, .. } = reader;
        to.classes = classes.into_iter().map(|class| class.name).collect();
        // An anchor is followed by its checksum.
        let rest = if class_name == "ROOT::RNTuple" && rest == 8 { 0 } else { rest };
        if position == 0 && rest > 0 {
            let begin = payload.len() - rest;
            // There is always the top object, and so its class.
            to.leftovers.push(Leftover { class: to.classes[0].clone(), begin, length: rest });
        }
        (to.payload, to.origin) = (payload, origin);
        Ok(to)
    }

    pub(super) fn is_unversioned(&self, class: &str, checksum: u32) -> Result<bool> {
        let of_version_0 = self.file.streamers.find(class, 0)?.is_some();
        Ok(of_version_0 && self.file.streamers.by_checksum(class, checksum)?.is_none())
    }

    pub(super) fn steps(&self, wanted: &Wanted) -> Result<Option<Arc<Steps>>> {
        if let Some(steps) = self.known.lock().get(wanted) {
            return Ok(steps.clone());
        }
        let steps = Steps::of(&self.file, wanted)?.map(Arc::new);
        Ok(self.known.lock().entry(wanted.clone()).or_insert(steps).clone())
    }
}
