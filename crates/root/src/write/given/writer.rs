//! Context of the serialisation of one object, and the frames around its parts.

use std::collections::{HashMap, HashSet};

use forthwith_plan::{Error, Result};

use super::GivenObject;
use crate::class::Layouts;
use crate::streamer::StreamerInfo;
use crate::write::Buffer;
use crate::write::is_told_by_checksum;

/// Context of the serialisation of one object.
pub(super) struct Writer<'l> {
    pub(super) buffer: &'l mut Buffer,
    pub(super) layouts: &'l Layouts,
    pub(super) depth: u32,
    /// References to the serialised objects, by their numbers; `None` for objects that pointers cannot refer
    /// to.
    pub(super) written: HashMap<u32, Option<u32>>,
    /// Names of the members of the current object that were serialised.
    pub(super) names: HashSet<Box<str>>,
}

impl<'l> Writer<'l> {
    /// Creates the context for an object.
    pub(super) fn new(buffer: &'l mut Buffer, layouts: &'l Layouts, object: &GivenObject) -> Self {
        let written = HashMap::from([(object.number, Some(ITSELF))]);
        Self { buffer, layouts, depth: 0, written, names: HashSet::new() }
    }

    /// Appends a byte count, and the bytes that `body` appends.
    pub(super) fn byte_counted(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let begin = self.buffer.begin_count();
        body(self)?;
        self.buffer.end_count(begin);
        Ok(())
    }

    /// Appends a byte count, a version, and the bytes that `body` appends.
    pub(super) fn frame(&mut self, version: i16, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.byte_counted(|writer| {
            writer.buffer.i16(version);
            body(writer)
        })
    }

    /// Appends a byte count, the version of a class (or its checksum if it has no version of its own), and
    /// the bytes that `body` appends.
    pub(super) fn framed(
        &mut self,
        info: &StreamerInfo,
        body: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if is_told_by_checksum(&info.class, info.version, info.checksum) {
            return self.frame(0, |writer| {
                writer.buffer.u32(info.checksum);
                body(writer)
            });
        }
        match i16::try_from(info.version) {
            Ok(version) => self.frame(version, body),
            Err(_) => Err(Error::invalid(format!("version {} of class {}", info.version, info.class))),
        }
    }
}

/// Reference to the object that is the record itself.
const ITSELF: u32 = 1;
