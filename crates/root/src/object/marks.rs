//! Where the parts of a record stand whose bytes depend on other places: byte counts and pointers. An editor
//! of records needs them.

use std::ops::Range;

use super::reader::Reader;
use crate::record::{Cursor, Frame, Tag};
use forthwith_plan::Result;

/// The places that were noted while a record was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// Byte counts and pointers, in the order of the payload; one that holds others stands before them.
    pub(crate) spots: Vec<Spot>,
    /// Bytes that were passed over, so that there can be pointers in them.
    pub(crate) passed: Vec<Range<usize>>,
    /// Where the members of objects stand, by their number among all members.
    places: Vec<Range<u32>>,
}

/// A byte count, or what stands where a pointer was written.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) begin: usize,
    pub(crate) end: usize,
    pub(crate) kind: SpotKind,
}

#[derive(Clone, Debug)]
pub(crate) enum SpotKind {
    /// A byte count, which counts what follows it up to the end.
    Frame,
    /// A pointer to nothing, or to the record itself.
    Fixed,
    /// A pointer to an object that stands elsewhere in the record.
    Reference(usize),
    /// An object: its class, and where its contents begin.
    Object { class: Box<str>, contents: usize },
}

impl Marks {
    /// Where a member stands. Of a `TObject`'s members nothing is noted.
    pub(super) fn place(&self, member: usize) -> Option<Range<usize>> {
        let place = self.places.get(member).filter(|place| place.end > 0)?;
        Some(place.start as usize..place.end as usize)
    }

    /// The lengths of the tables.
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
    /// As [`Cursor::frame`].
    pub(super) fn frame(&mut self) -> Result<Frame> {
        let frame = self.cursor.frame()?;
        self.note_frame(&frame);
        Ok(frame)
    }

    /// As [`Cursor::frame_without_checksum`].
    pub(super) fn frame_without_checksum(&mut self) -> Result<Frame> {
        let frame = self.cursor.frame_without_checksum()?;
        self.note_frame(&frame);
        Ok(frame)
    }

    /// Notes a pointer whose tag was read, and returns the number under which its end is
    /// [noted](Self::note_end).
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

    /// Notes where an object ends that a pointer leads to.
    #[inline]
    pub(super) fn note_end(&mut self, number: usize) {
        let end = self.cursor.position();
        if let Some(spot) = self.to.marks.as_mut().and_then(|marks| marks.spots.get_mut(number)) {
            spot.end = end;
        }
    }

    /// Notes bytes that were passed over, up to here.
    #[inline]
    pub(super) fn note_passed(&mut self, begin: usize) {
        let end = self.cursor.position();
        if let Some(marks) = &mut self.to.marks
            && begin < end
        {
            marks.passed.push(begin..end);
        }
    }

    /// Notes where a member stands.
    #[inline]
    pub(super) fn note_place(&mut self, member: usize, place: Range<usize>) {
        if let Some(marks) = &mut self.to.marks {
            if marks.places.len() <= member {
                marks.places.resize(member + 1, 0..0);
            }
            // Positions were compared with what 32 bits hold when reading began.
            marks.places[member] = place.start as u32..place.end as u32;
        }
    }

    fn note_frame(&mut self, frame: &Frame) {
        let (Some(marks), Some(end)) = (&mut self.to.marks, frame.end) else { return };
        // A frame that was read once more.
        if marks.spots.last().is_none_or(|last| last.begin != frame.begin) {
            marks.spots.push(Spot { begin: frame.begin, end, kind: SpotKind::Frame });
        }
    }
}

/// Whether bytes that nothing is known of may hold pointers: a class's name, or a reference to one.
pub(crate) fn may_point(payload: &[u8], range: &Range<usize>, origin: u32) -> bool {
    let cursor = Cursor::with_origin(payload, origin);
    let bytes = payload.get(range.clone()).unwrap_or_default();
    let word = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    bytes.windows(4).any(|bytes| cursor.names_class(word(bytes)))
}
