//! Streamer infos, which describe how one version of a class is stored.

use forthwith_plan::Result;

use super::Element;
use crate::record::{Cursor, Tag, text};

/// How one version of a class is stored: its bases and members in order.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamerInfo {
    /// Name of the class.
    pub class: Box<str>,
    /// Version of the class. 1 for every class without a version of its own, which the checksum then
    /// identifies.
    pub version: i32,
    /// Checksum of the names and types of members.
    pub checksum: u32,
    /// Bases and members.
    pub elements: Vec<Element>,
}

impl StreamerInfo {
    /// Parses an info without its elements, before which the cursor then stands.
    pub(super) fn label(cursor: &mut Cursor<'_>) -> Result<Self> {
        let (name, _) = cursor.tnamed()?;
        let checksum = cursor.u32()?;
        Ok(Self { class: text(name).into(), checksum, version: cursor.i32()?, elements: Vec::new() })
    }

    /// Parses an info with its byte count.
    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let frame = cursor.frame()?;
        let mut info = Self::label(cursor)?;
        if let Tag::Object { .. } = cursor.tag()? {
            let array = cursor.frame()?;
            let (_, count) = cursor.collection(array.version)?;
            let _lower_bound = cursor.i32()?;
            for _ in 0..count {
                let Tag::Object { class, end, .. } = cursor.tag()? else { continue };
                info.elements.push(Element::parse(class, cursor)?);
                if let Some(end) = end {
                    cursor.seek(end)?;
                }
            }
            cursor.leave(&array);
        }
        cursor.leave(&frame);
        Ok(info)
    }
}
