//! Positions of the parts of a record whose bytes depend on other positions, for editing: byte counts and
//! pointers.

use std::ops::Range;

use super::reader::Reader;
use crate::record::{Cursor, Frame, Tag};
use forthwith_plan::Result;

/// Positions that were recorded while a record was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// Byte counts and pointers, in the order of the payload. One that contains others precedes them.
    pub(crate) spots: Vec<Spot>,
    /// Ranges that were skipped, and may contain pointers.
    pub(crate) passed: Vec<Range<usize>>,
    /// Positions of the members of objects, by index.
    places: Vec<Range<u32>>,
}

/// A byte count or pointer.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) begin: usize,
    pub(crate) end: usize,
    pub(crate) kind: SpotKind,
}

#[derive(Clone, Debug)]
pub(crate) enum SpotKind {
    /// A byte count, of the bytes up to the end.
    Frame,
    /// A null pointer, or a pointer to the record itself.
    Fixed,
    /// A pointer to an object at another position of the record.
    Reference(usize),
    /// An object: its class, and the beginning of its contents.
    Object { class: Box<str>, contents: usize },
}

impl Marks {
    /// Returns the position of a member. Members of a `TObject` have none.
    pub(super) fn place(&self, member: usize) -> Option<Range<usize>> {
        let place = self.places.get(member).filter(|place| place.end > 0)?;
        Some(place.start as usize..place.end as usize)
    }

    /// Returns the lengths of the tables.
    pub(super) fn lengths(&self) -> (usize, usize) {
        (self.spots.len(), self.passed.len())
    }

    pub(super) fn back_to(&mut self, (spots, passed): (usize, usize), members: usize) {
        self.spots.truncate(spots);
        self.passed.truncate(passed);
        self.places.truncate(members);
    }
}

impl Reader<'_> {
    /// Reads a frame as [`Cursor::frame`] does, and records it.
    pub(super) fn frame(&mut self) -> Result<Frame> {
        let frame = self.cursor.frame()?;
        self.note_frame(&frame);
        Ok(frame)
    }

    /// Reads a frame as [`Cursor::frame_without_checksum`] does, and records it.
    pub(super) fn frame_without_checksum(&mut self) -> Result<Frame> {
        let frame = self.cursor.frame_without_checksum()?;
        self.note_frame(&frame);
        Ok(frame)
    }

    /// Records a pointer whose tag was read. Returns the index for [`note_end`](Self::note_end).
    #[inline]
    pub(super) fn note_pointer(&mut self, begin: usize, tag: &Tag<'_>) -> usize {
        let end = self.cursor.position();
        let Some(marks) = &mut self.to.marks else { return 0 };
        let kind = match tag {
            Tag::Null | Tag::Itself => SpotKind::Fixed,
            Tag::Reference(position) => SpotKind::Reference(*position),
            Tag::Object { class, .. } => SpotKind::Object {
                class: crate::record::text(class).into(),
                contents: self.cursor.position(),
            },
        };
        marks.spots.push(Spot { begin, end, kind });
        marks.spots.len() - 1
    }

    /// Records the end of an object to which a pointer leads.
    #[inline]
    pub(super) fn note_end(&mut self, number: usize) {
        let end = self.cursor.position();
        if let Some(spot) = self.to.marks.as_mut().and_then(|marks| marks.spots.get_mut(number)) {
            spot.end = end;
        }
    }

    /// Records that the bytes up to the current position were skipped.
    #[inline]
    pub(super) fn note_passed(&mut self, begin: usize) {
        let end = self.cursor.position();
        if let Some(marks) = &mut self.to.marks
            && begin < end
        {
            marks.passed.push(begin..end);
        }
    }

    /// Records the position of a member.
    #[inline]
    pub(super) fn note_place(&mut self, member: usize, place: Range<usize>) {
        if let Some(marks) = &mut self.to.marks {
            if marks.places.len() <= member {
                marks.places.resize(member + 1, 0..0);
            }
            // The length was compared with 32 bits when reading began.
            marks.places[member] = place.start as u32..place.end as u32;
        }
    }

    fn note_frame(&mut self, frame: &Frame) {
        let (Some(marks), Some(end)) = (&mut self.to.marks, frame.end) else { return };
        // The frame may have been read before.
        if marks.spots.last().is_none_or(|last| last.begin != frame.begin) {
            marks.spots.push(Spot { begin: frame.begin, end, kind: SpotKind::Frame });
        }
    }
}

/// Returns whether skipped bytes may contain pointers: a class name, or a reference to one.
pub(crate) fn may_point(payload: &[u8], range: &Range<usize>, origin: u32) -> bool {
    let cursor = Cursor::with_origin(payload, origin);
    let bytes = payload.get(range.clone()).unwrap_or_default();
    let word = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    bytes.windows(4).any(|bytes| cursor.names_class(word(bytes)))
}
