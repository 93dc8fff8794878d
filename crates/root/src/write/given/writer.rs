//! What writing one object has to remember, and the frames that stand around its parts.

use std::collections::{HashMap, HashSet};

use forthwith_plan::{Error, Result};

use super::GivenObject;
use crate::class::Layouts;
use crate::streamer::StreamerInfo;
use crate::write::Buffer;
use crate::write::is_told_by_checksum;

/// What writing one object needs to know.
pub(super) struct Writer<'l> {
    pub(super) buffer: &'l mut Buffer,
    pub(super) layouts: &'l Layouts,
    pub(super) depth: u32,
    /// By what pointers mean objects that were written, by their numbers; nothing for one that pointers cannot mean.
    pub(super) written: HashMap<u32, Option<u32>>,
    /// The names of members that the present object had so far.
    pub(super) names: HashSet<Box<str>>,
}

impl<'l> Writer<'l> {
    /// For this object.
    pub(super) fn new(buffer: &'l mut Buffer, layouts: &'l Layouts, object: &GivenObject) -> Self {
        let written = HashMap::from([(object.number, Some(ITSELF))]);
        Self { buffer, layouts, depth: 0, written, names: HashSet::new() }
    }

    /// What a byte count stands before.
    pub(super) fn byte_counted(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let begin = self.buffer.begin_count();
        body(self)?;
        self.buffer.end_count(begin);
        Ok(())
    }

    /// What a byte count and a version stand before.
    pub(super) fn frame(&mut self, version: i16, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.byte_counted(|writer| {
            writer.buffer.i16(version);
            body(writer)
        })
    }

    /// What stands within the frame of a class: with its version, or with its checksum if it has no version of its own.
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

/// The number by which pointers mean the object that a record is.
const ITSELF: u32 = 1;
