//! Streamer infos: how one version of a class is stored.

use forthwith_plan::Result;

use super::Element;
use crate::record::{Cursor, Tag, text};

/// How one version of a class is stored: its bases and members in order.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamerInfo {
    /// The class.
    pub class: Box<str>,
    /// Its version. 1 for every class without one of its own, which the checksum then tells apart.
    pub version: i32,
    /// Checksum of its members' names and types.
    pub checksum: u32,
    /// Its bases and members.
    pub elements: Vec<Element>,
}

impl StreamerInfo {
    /// Parses an info up to its elements, of which it has none yet, and leaves the cursor at them.
    pub(super) fn label(cursor: &mut Cursor<'_>) -> Result<Self> {
        let (name, _) = cursor.tnamed()?;
        let checksum = cursor.u32()?;
        Ok(Self { class: text(name).into(), checksum, version: cursor.i32()?, elements: Vec::new() })
    }

    /// Parses an info from its byte count on.
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
