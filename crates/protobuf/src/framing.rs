//! Framing of the messages of a file.

use crate::{hepmc3, schema::Schema};
use buffa_descriptor::{FieldKind, MessageIndex, SingularKind};
use forthwith_plan::{Error, Result};
use forthwith_program::Frame;
use std::ops::Range;

/// Framing of the messages of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Each message is preceded by its length as a varint.
    #[default]
    Delimited,
    /// Each message is preceded by its length as a `u32`.
    Fixed32 {
        /// Whether the length is big-endian.
        big: bool,
    },
    /// The file is one message.
    Single,
    /// A HepMC3 file: `hmpb`, then messages of several types, each preceded by a digest of ten bytes with its
    /// length and type. Only events are read.
    HepMc3,
}

impl Framing {
    /// Returns the framing of a name in options.
    ///
    /// # Errors
    /// Returns an error if the name is unknown.
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "delimited" => Self::Delimited,
            "fixed32" => Self::Fixed32 { big: false },
            "fixed32-big" => Self::Fixed32 { big: true },
            "single" => Self::Single,
            "hepmc3" => Self::HepMc3,
            _ => {
                let known = "\"delimited\", \"fixed32\", \"fixed32-big\", \"single\" or \"hepmc3\"";
                return Err(Error::invalid(format!("framing {name:?}: it has to be {known}")));
            }
        })
    }

    /// Returns the framing that the first bytes of a file identify, if any.
    #[must_use]
    pub fn of_head(head: &[u8]) -> Option<Self> {
        head.starts_with(hepmc3::MAGIC).then_some(Self::HepMc3)
    }

    /// Returns the schema that all files of this framing share, if any.
    #[must_use]
    pub const fn schema(self) -> Option<&'static str> {
        match self {
            Self::HepMc3 => Some(hepmc3::SCHEMA),
            _ => None,
        }
    }

    /// Returns the frame before each message.
    pub(crate) const fn frame(self) -> Frame {
        match self {
            Self::Delimited => Frame::Length,
            Self::Fixed32 { .. } => Frame::Skip(4),
            Self::Single => Frame::None,
            Self::HepMc3 => Frame::Skip(10),
        }
    }
}

/// Resolves the path of repeated fields from an outer message to the rows: returns their field numbers, and
/// the message type of the rows.
pub(crate) fn rows(schema: &Schema, outer: MessageIndex, path: &str) -> Result<(Vec<u32>, MessageIndex)> {
    let (mut numbers, mut message) = (Vec::new(), outer);
    for name in path.split(['/', '.']) {
        let of = schema.pool().message(message);
        let invalid = |what: &str| Error::invalid(format!("rows={path:?}: {what} of {}", of.full_name()));
        let field = of.field_by_name(name).ok_or_else(|| invalid(&format!("{name:?} is not a field")))?;
        match field.kind() {
            FieldKind::List(SingularKind::Message(inner)) if !field.is_delimited() => {
                numbers.push(field.number());
                message = inner;
            }
            _ => {
                return Err(invalid(&format!(
                    "{name:?} is not a repeated field with messages, each with its length,"
                )));
            }
        }
    }
    Ok((numbers, message))
}

/// Random access to bytes.
pub(crate) trait Bytes {
    /// Returns at least one byte from offset `at` on.
    fn from(&mut self, at: u64) -> Result<&[u8]>;

    /// Whether offset `at` is the end.
    ///
    /// # Errors
    /// Returns an error if the offset is beyond the end.
    fn has_ended(&mut self, at: u64) -> Result<bool>;
}

impl Bytes for &[u8] {
    fn from(&mut self, at: u64) -> Result<&[u8]> {
        let bytes = usize::try_from(at).ok().and_then(|at| self.get(at..));
        bytes.filter(|bytes| !bytes.is_empty()).ok_or_else(|| truncated(at))
    }

    fn has_ended(&mut self, at: u64) -> Result<bool> {
        Ok(at >= self.len() as u64)
    }
}

pub(crate) fn truncated(at: u64) -> Error {
    Error::fault("the data end in the middle of a message").at_byte(at)
}

/// Returns the error for a length that exceeds the remaining bytes.
pub(crate) fn too_long(length: u64, left: u64, start: u64) -> Error {
    let what = format!("a length of {length} bytes exceeds the {left} that are left of what is around it");
    Error::fault(what).at_byte(start)
}

/// Maximum size of a message in bytes, as in other implementations.
const LARGEST: u64 = i32::MAX as u64;

/// Iterator over the messages of a byte range.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    framing: Framing,
    /// Field numbers of the path to the messages.
    path: Vec<u32>,
    /// End of the data, and of each outer message at the current offset.
    ends: Vec<u64>,
    at: u64,
    /// Offset of the body of the last message, after its length.
    body: u64,
}

impl Walk {
    pub(crate) fn new(framing: Framing, path: Vec<u32>, end: u64) -> Self {
        Self { framing, path, ends: vec![end], at: 0, body: 0 }
    }

    /// Whether the end must be known before a message is found.
    pub(crate) fn needs_end(&self) -> bool {
        self.framing == Framing::Single && self.path.is_empty()
    }

    /// Returns the offset, and the ends of the outer messages.
    pub(crate) fn position(&self) -> (u64, Vec<u64>) {
        (self.at, self.ends.clone())
    }

    /// Returns to a position.
    pub(crate) fn go_back(&mut self, position: (u64, Vec<u64>)) {
        (self.at, self.ends) = position;
    }

    /// Returns the offset of the body of the last message, after its length.
    pub(crate) const fn body(&self) -> u64 {
        self.body
    }

    /// Returns the number of bytes left in each outer message, from which [`resumed`](Self::resumed)
    /// continues.
    pub(crate) fn state(&self) -> Vec<i64> {
        // File sizes are below 2^63 bytes.
        self.ends.iter().skip(1).map(|end| (end - self.at) as i64).collect()
    }

    /// Creates a walk over bytes that begin where another walk had the state `state`.
    pub(crate) fn resumed(framing: Framing, path: Vec<u32>, end: u64, state: &[i64]) -> Result<Self> {
        let ends = state
            .iter()
            .map(|end| u64::try_from(*end).map_err(|_| Error::invalid("a plan with a negative length")));
        let ends = std::iter::once(Ok(end)).chain(ends).collect::<Result<_>>()?;
        Ok(Self { framing, path, ends, at: 0, body: 0 })
    }

    /// Returns the range of the next message including its frame; `None` after the last one.
    pub(crate) fn next(&mut self, bytes: &mut impl Bytes, limit: u64) -> Result<Option<Range<u64>>> {
        if !self.path.is_empty() {
            return self.next_row(bytes, limit);
        }
        let (start, end) = (self.at, self.ends[0]);
        if start >= end || bytes.has_ended(start)? {
            return Ok(None);
        }
        let length = match self.framing {
            Framing::HepMc3 => return self.next_event(bytes),
            Framing::Single => {
                self.at = end;
                return Ok(Some(start..end));
            }
            Framing::Delimited => self.varint(bytes)?,
            Framing::Fixed32 { big } => {
                let mut length = [0; 4];
                for byte in &mut length {
                    *byte = self.byte(bytes)?;
                }
                u64::from(if big { u32::from_be_bytes(length) } else { u32::from_le_bytes(length) })
            }
        };
        self.pass(length, start)?;
        Ok(Some(start..self.at))
    }

    /// Whether there may be bytes between messages that are not part of any.
    pub(crate) fn has_gaps(&self) -> bool {
        self.framing == Framing::HepMc3
    }

    /// Returns the range of the next HepMC3 event including its digest.
    fn next_event(&mut self, bytes: &mut impl Bytes) -> Result<Option<Range<u64>>> {
        if self.at == 0 && bytes.from(0)?.first() == hepmc3::MAGIC.first() {
            for expected in hepmc3::MAGIC {
                if self.byte(bytes)? != *expected {
                    return Err(Error::fault("the file does not begin with \"hmpb\"").at_byte(0));
                }
            }
        }
        while self.at < self.ends[0] && !bytes.has_ended(self.at)? {
            let start = self.at;
            let mut digest = [0; 10];
            for byte in &mut digest {
                *byte = self.byte(bytes)?;
            }
            let [0x0d, a, b, c, d, 0x15, e, f, g, h] = digest else {
                return Err(Error::fault("a digest that is not a length and a type").at_byte(start));
            };
            self.pass(u64::from(u32::from_le_bytes([a, b, c, d])), start)?;
            if u32::from_le_bytes([e, f, g, h]) == hepmc3::EVENT {
                return Ok(Some(start..self.at));
            }
        }
        Ok(None)
    }

    fn next_row(&mut self, bytes: &mut impl Bytes, limit: u64) -> Result<Option<Range<u64>>> {
        loop {
            while self.ends.len() > 1 && self.ends.last() == Some(&self.at) {
                self.ends.pop();
            }
            let level = self.ends.len() - 1;
            if self.at >= limit.min(self.ends[level]) || level == 0 && bytes.has_ended(self.at)? {
                return Ok(None);
            }
            let start = self.at;
            let key = self.varint(bytes)?;
            if key != u64::from(self.path[level]) << 3 | 2 {
                self.skip(bytes, key, start)?;
                continue;
            }
            let row = self.at;
            let length = self.varint(bytes)?;
            if level + 1 == self.path.len() {
                self.pass(length, start)?;
                return Ok(Some(row..self.at));
            }
            let inner = self.at;
            self.pass(length, start)?;
            self.ends.push(self.at);
            self.at = inner;
        }
    }

    /// Skips a field whose key is `key`.
    fn skip(&mut self, bytes: &mut impl Bytes, key: u64, start: u64) -> Result<()> {
        let mut groups: Vec<u64> = Vec::new();
        let mut key = key;
        loop {
            if key < 8 || key > u64::from(u32::MAX) {
                return Err(Error::fault("a key that no field can have").at_byte(start));
            }
            match key & 7 {
                0 => drop(self.varint(bytes)?),
                1 => self.pass(8, start)?,
                2 => {
                    let length = self.varint(bytes)?;
                    self.pass(length, start)?;
                }
                3 if groups.len() < 100 => groups.push(key + 1),
                4 if groups.last() == Some(&key) => drop(groups.pop()),
                5 => self.pass(4, start)?,
                _ => return Err(Error::fault("a key that no field can have").at_byte(start)),
            }
            if groups.is_empty() {
                return Ok(());
            }
            key = self.varint(bytes)?;
        }
    }

    /// Advances by `length` bytes, which must be within the enclosing message.
    fn pass(&mut self, length: u64, start: u64) -> Result<()> {
        let end = self.ends.last().copied().unwrap_or(0);
        if length > LARGEST || length > end.saturating_sub(self.at) {
            // The end of a stream is unknown.
            if end == u64::MAX {
                let what = format!("a message of {length} bytes, where {LARGEST} are the most");
                return Err(Error::fault(what).at_byte(start));
            }
            return Err(too_long(length, end.saturating_sub(self.at), start));
        }
        self.body = self.at;
        self.at += length;
        Ok(())
    }

    fn byte(&mut self, bytes: &mut impl Bytes) -> Result<u8> {
        if self.at >= self.ends.last().copied().unwrap_or(0) {
            return Err(truncated(self.at));
        }
        let byte = *bytes.from(self.at)?.first().ok_or_else(|| truncated(self.at))?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self, bytes: &mut impl Bytes) -> Result<u64> {
        let left = self.ends.last().copied().unwrap_or(0).saturating_sub(self.at);
        if left >= 2 {
            // Most lengths have one or two bytes.
            match *bytes.from(self.at)? {
                [byte, ..] if byte < 0x80 => {
                    self.at += 1;
                    return Ok(u64::from(byte));
                }
                [low, high, ..] if high < 0x80 => {
                    self.at += 2;
                    return Ok(u64::from(low & 0x7f) | u64::from(high) << 7);
                }
                _ => {}
            }
        }
        self.long_varint(bytes)
    }

    fn long_varint(&mut self, bytes: &mut impl Bytes) -> Result<u64> {
        let start = self.at;
        let mut number = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte(bytes)?;
            number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Error::fault("an integer of more than ten bytes").at_byte(start))
    }
}
