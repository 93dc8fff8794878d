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
    pub(super) layouts: &'l Layouts,
    pub(super) depth: u32,
    /// By what pointers mean objects that were written, by their numbers; nothing for one that pointers cannot mean.
    pub(super) written: HashMap<u32, Option<u32>>,
    /// The names of members that the present object had so far.
    pub(super) names: HashSet<Box<str>>,
}

impl<'l> Writer<'l> {
    /// For this object.
    pub(super) fn new(layouts: &'l Layouts, object: &GivenObject) -> Self {
        let written = HashMap::from([(object.number, Some(ITSELF))]);
        Self { layouts, depth: 0, written, names: HashSet::new() }
    }
}

/// What stands within the frame of a class: with its version, or with its checksum if it has no version of its own.
pub(super) fn framed(
    buffer: &mut Buffer,
    info: &StreamerInfo,
    body: impl FnOnce(&mut Buffer) -> Result<()>,
) -> Result<()> {
    if is_told_by_checksum(&info.class, info.version, info.checksum) {
        return buffer.unversioned(info.checksum, body);
    }
    match i16::try_from(info.version) {
        Ok(version) => buffer.frame(version, body),
        Err(_) => Err(Error::invalid(format!("version {} of class {}", info.version, info.class))),
    }
}

/// The number by which pointers mean the object that a record is.
const ITSELF: u32 = 1;
