//! Edited copies of the records of objects.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use forthwith_plan::{Error, Result};

use super::Buffer;
use crate::Cursor;
use crate::object::{Marks, Object, Objects, Spot, SpotKind, Value, may_point};

/// Changes of an object that was [read to be edited](crate::Walker::read_to_edit).
///
/// Unchanged bytes are copied, whatever their class. Byte counts, class tags and pointers between objects are
/// written anew, so that parts can change their length, be removed or be inserted. If the first pointer to an
/// object is removed, with which the object is stored, the object is written at the next pointer to it.
///
/// ```
/// use forthwith_root::{RootFile, write::{Buffer, Edits}};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/zmumu.root");
/// let file = RootFile::open(forthwith_io::open(path)?)?;
/// let key = file.find("mass")?.key;
/// let histogram = file.object_to_edit(&key)?;
/// let mut edits = Edits::new(&histogram)?;
/// edits.number(histogram.top(), "fEntries", 7)?;
/// edits.text(histogram.top(), "fTitle", "mass of two muons")?;
/// let mut edited = Buffer::new(key.keylen);
/// edits.write(&mut edited)?;
///
/// let walker = file.walker()?;
/// let again = walker.read(edited.bytes().to_vec().into(), key.keylen.into(), "TH1F")?;
/// assert_eq!(again.top().int("fEntries"), Some(7));
/// assert_eq!(again.top().text("fTitle").as_deref(), Some("mass of two muons"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Edits<'o> {
    objects: &'o Objects,
    marks: &'o Marks,
    /// Ranges that were skipped when the object was read, in the order of the payload.
    passed: Vec<Range<usize>>,
    changes: Vec<(Range<usize>, Change<'o>)>,
    /// Appended changes, by the offset of the byte count whose bytes they are appended to.
    appended: BTreeMap<usize, Vec<Change<'o>>>,
}

/// New bytes.
enum Change<'o> {
    /// The bytes that this closure appends.
    Made(Box<dyn Fn(&mut Buffer) + 'o>),
    /// A pointer to the object that begins at this offset of the record.
    Pointer(usize),
}

impl<'o> Edits<'o> {
    /// Creates an empty set of changes.
    ///
    /// # Errors
    /// Returns an error if the object was not read to be edited.
    pub fn new(objects: &'o Objects) -> Result<Self> {
        let Some(marks) = objects.marks() else {
            return Err(Error::invalid("editing an object that was not read for that"));
        };
        let mut passed = marks.passed.clone();
        passed.sort_by_key(|range| range.start);
        Ok(Self { objects, marks, passed, changes: Vec::new(), appended: BTreeMap::new() })
    }

    /// Replaces a range by bytes that contain neither byte counts nor pointers.
    pub fn replace(&mut self, range: Range<usize>, bytes: Vec<u8>) {
        self.replace_with(range, move |buffer| buffer.extend(&bytes));
    }

    /// Replaces a range by the bytes that `make` appends, which may include byte counts and objects.
    pub fn replace_with(&mut self, range: Range<usize>, make: impl Fn(&mut Buffer) + 'o) {
        self.changes.push((range, Change::Made(Box::new(make))));
    }

    /// Replaces a range by a pointer to the object that begins at `begin` in the record (see
    /// [`Object::pointers`]).
    pub fn point(&mut self, range: Range<usize>, begin: usize) {
        self.changes.push((range, Change::Pointer(begin)));
    }

    /// Appends a pointer to a collection, to the object that begins at `begin` in the record (see
    /// [`Object::pointers`]).
    pub fn append_pointer(&mut self, list: Object<'_>, begin: usize) {
        self.appended.entry(list.body().start).or_default().push(Change::Pointer(begin));
    }

    /// Appends the bytes that `make` appends to the end of an object with a byte count, such as a collection.
    pub fn append(&mut self, object: Object<'_>, make: impl Fn(&mut Buffer) + 'o) {
        self.appended.entry(object.body().start).or_default().push(Change::Made(Box::new(make)));
    }

    /// Replaces a number. Its width does not change.
    ///
    /// # Errors
    /// Returns an error if the member does not exist, it is not a number, or the value is out of range for
    /// its width.
    pub fn number(&mut self, object: Object<'_>, member: &str, value: i64) -> Result<()> {
        let (place, found) = placed(object, member)?;
        let width = place.len();
        let bytes = match (&found, width) {
            (Value::Float(_), 4) => (value as f32).to_be_bytes().to_vec(),
            (Value::Float(_), 8) => (value as f64).to_be_bytes().to_vec(),
            (Value::Bool(_), 1) => vec![u8::from(value != 0)],
            (Value::Int(_) | Value::UInt(_), 1 | 2 | 4 | 8) => {
                let fits = match found {
                    Value::UInt(_) => value >= 0 && (width == 8 || value >> (8 * width) == 0),
                    _ => fits(value, width),
                };
                if fits {
                    self.replace(place, value.to_be_bytes()[8 - width..].to_vec());
                    return Ok(());
                }
                let what = format!("{value} as member {member} of class {}", object.class());
                return Err(Error::invalid(format!("{what}: it has {width} bytes")));
            }
            _ => return Err(no_member(object, member, "a number")),
        };
        self.replace(place, bytes);
        Ok(())
    }

    /// Replaces a floating-point number. Its width does not change.
    ///
    /// # Errors
    /// Returns an error if the member does not exist, or it is not a floating-point number.
    pub fn float(&mut self, object: Object<'_>, member: &str, value: f64) -> Result<()> {
        let (place, found) = placed(object, member)?;
        let bytes = match (found, place.len()) {
            (Value::Float(_), 4) => (value as f32).to_be_bytes().to_vec(),
            (Value::Float(_), 8) => value.to_be_bytes().to_vec(),
            _ => return Err(no_member(object, member, "a floating-point number")),
        };
        self.replace(place, bytes);
        Ok(())
    }

    /// Replaces a string.
    ///
    /// # Errors
    /// Returns an error if the member does not exist, or it is not a string.
    pub fn text(&mut self, object: Object<'_>, member: &str, value: &str) -> Result<()> {
        let (place, _) = placed(object, member)?;
        if object.text(member).is_none() {
            return Err(no_member(object, member, "a text"));
        }
        let mut bytes = Buffer::new(0);
        bytes.string(value);
        self.replace(place, bytes.into_bytes());
        Ok(())
    }

    /// Replaces the integers of an array whose length is another member. They keep their width; if the array
    /// is empty or null, it is `width` bytes.
    ///
    /// # Errors
    /// Returns an error if the member does not exist, or a value is out of range for the width.
    pub fn counted(&mut self, object: Object<'_>, member: &str, values: &[i64], width: usize) -> Result<()> {
        let (place, found) = placed(object, member)?;
        let width = match (found, object.array(member)) {
            (Value::Null, _) => width,
            (_, Some(array)) if !array.is_empty() => array.bytes.len() / array.len(),
            (_, Some(_)) => width,
            _ => return Err(no_member(object, member, "an array")),
        };
        if let Some(value) = values.iter().find(|value| !fits(**value, width)) {
            let what = format!(
                "{value} in member {member} of class {}: its numbers have {width} bytes",
                object.class()
            );
            return Err(Error::invalid(what));
        }
        let stored = object.array(member).map_or(0, |array| array.bytes.len());
        let mut bytes = if place.len() == stored + 4 {
            // Old versions of some classes store the number of values before the values.
            u32::try_from(values.len()).unwrap_or(u32::MAX).to_be_bytes().to_vec()
        } else {
            // The flag of file offsets is 2 if they have 64 bits.
            let flag = self.objects.payload().get(place.start);
            vec![match flag {
                _ if values.is_empty() => 0,
                Some(2) => 2,
                _ => 1,
            }]
        };
        values.iter().for_each(|value| bytes.extend(&value.to_be_bytes()[8 - width..]));
        self.replace(place, bytes);
        Ok(())
    }

    /// Replaces the values of an array of doubles whose length is another member.
    ///
    /// # Errors
    /// Returns an error if the member does not exist, or it is stored differently.
    pub fn doubles(&mut self, object: Object<'_>, member: &str, values: &[f64]) -> Result<()> {
        let (place, _) = placed(object, member)?;
        let stored = object.array(member).map_or(0, |array| array.bytes.len());
        if place.len() != stored + 1 {
            return Err(no_member(object, member, "an array of doubles"));
        }
        let mut bytes = vec![u8::from(!values.is_empty())];
        values.iter().for_each(|value| bytes.extend(value.to_be_bytes()));
        self.replace(place, bytes);
        Ok(())
    }

    /// Replaces the values of a `std::vector` of numbers. `counted` is their number, followed by their bytes.
    ///
    /// # Errors
    /// Returns an error if the member does not exist, or it is stored differently.
    pub fn vector(&mut self, object: Object<'_>, member: &str, counted: Vec<u8>) -> Result<()> {
        let (place, _) = placed(object, member)?;
        let stored = object.array(member).map_or(0, |array| array.bytes.len());
        let what = "a std::vector of numbers";
        if place.len() != stored + 10 {
            return Err(no_member(object, member, what));
        }
        self.framed(place, counted, || no_member(object, member, what))
    }

    /// Replaces the values of a `std::vector` of strings, unless they are equal to the stored ones.
    ///
    /// # Errors
    /// Returns an error if the member does not exist, or it is stored differently.
    pub fn texts(&mut self, object: Object<'_>, member: &str, values: &[String]) -> Result<()> {
        let (place, found) = placed(object, member)?;
        let Value::List(known) = found else {
            return Err(no_member(object, member, "a std::vector of texts"));
        };
        let is_same = |(known, value): (Value<'_>, &String)| matches!(known, Value::Text(text) if text == value.as_bytes());
        if known.len() == values.len() && known.zip(values).all(is_same) {
            return Ok(());
        }
        let mut counted = Buffer::new(0);
        counted.count(values.len());
        values.iter().for_each(|value| counted.string(value));
        self.framed(place, counted.into_bytes(), || no_member(object, member, "a std::vector of texts"))
    }

    /// Replaces the contents of a frame. Fails with `other` if the frame does not span the whole of `place`.
    fn framed(&mut self, place: Range<usize>, bytes: Vec<u8>, other: impl FnOnce() -> Error) -> Result<()> {
        let mut cursor = Cursor::new(self.objects.payload());
        cursor.seek(place.start)?;
        let frame = cursor.frame()?;
        if frame.end != Some(place.end) {
            return Err(other());
        }
        self.replace_with(place, move |buffer| buffer.frame(frame.version, |buffer| buffer.extend(&bytes)));
        Ok(())
    }

    /// Changes the number of objects of a ROOT collection from `all` to `left`.
    ///
    /// # Errors
    /// Returns an error if the stored number is not `all`, or `left` exceeds 31 bits.
    pub fn recount(&mut self, list: Object<'_>, all: usize, left: usize) -> Result<()> {
        let mut cursor = list.cursor()?;
        cursor.frame()?;
        cursor.tobject()?;
        cursor.string()?;
        let at = cursor.position();
        let found = cursor.i32()?;
        if usize::try_from(found) != Ok(all) {
            let what = format!("a list of {found} objects with {all} pointers in it");
            return Err(Error::unsupported(what).at_byte(at as u64));
        }
        let Ok(left) = i32::try_from(left) else {
            return Err(Error::unsupported(format!("a list of {left} objects")).at_byte(at as u64));
        };
        self.replace(at..at + 4, left.to_be_bytes().to_vec());
        Ok(())
    }

    /// Appends the object that [begins](Object::pointers) at `begin` in the record as the target of a pointer
    /// in another record. Changes apply to it, too.
    ///
    /// # Errors
    /// Returns an error in the cases of [`write`](Self::write), except for overlapping changes.
    pub fn write_object(&self, buffer: &mut Buffer, begin: usize) -> Result<()> {
        Writer { edits: self, moved: HashMap::new(), shifted: true }.mention(buffer, begin, begin, 0)
    }

    /// Appends the object with its changes to an empty payload.
    ///
    /// # Errors
    /// Returns an error if changes overlap, or a part that no description covers and that may contain
    /// pointers would move.
    pub fn write(mut self, buffer: &mut Buffer) -> Result<()> {
        self.changes.sort_by_key(|(range, _)| (range.start, range.end));
        let overlap = self.changes.windows(2).find(|pair| pair[0].0.end > pair[1].0.start);
        if let Some([(first, _), (second, _)]) = overlap {
            return Err(Error::invalid(format!("changes of bytes {first:?} and {second:?} of one record")));
        }
        let whole = 0..self.objects.payload().len();
        Writer { edits: &self, moved: HashMap::new(), shifted: false }.part(buffer, whole, 0)
    }
}

impl std::fmt::Debug for Edits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Edits").field("changes", &self.changes.len()).finish_non_exhaustive()
    }
}

/// Whether a signed integer of `width` bytes can hold the value.
fn fits(value: i64, width: usize) -> bool {
    let unused = 64 - 8 * width.clamp(1, 8);
    value << unused >> unused == value
}

/// Returns the position and value of a member.
fn placed<'a>(object: Object<'a>, member: &str) -> Result<(Range<usize>, Value<'a>)> {
    object.place(member).zip(object.member(member)).ok_or_else(|| no_member(object, member, "one"))
}

fn no_member(object: Object<'_>, member: &str, what: &str) -> Error {
    let (class, version) = (object.class(), object.version());
    Error::unsupported(format!(
        "changing member {member} of class {class} version {version}, which is not {what}"
    ))
    .at_byte(object.range().start as u64)
}

struct Writer<'e, 'o> {
    edits: &'e Edits<'o>,
    /// Numbers of the written objects for references to them, by the offset where each began.
    moved: HashMap<usize, u32>,
    /// Whether any part has moved.
    shifted: bool,
}

impl Writer<'_, '_> {
    /// Appends a part of the payload with the changes in it.
    fn part(&mut self, buffer: &mut Buffer, range: Range<usize>, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            return Err(Error::out_of_range("depth of a record that is edited", depth, DEEPEST));
        }
        let edits = self.edits;
        let mut at = range.start;
        let mut change = edits.changes.partition_point(|(range, _)| range.start < at);
        loop {
            let next = edits.marks.spots.partition_point(|spot| spot.begin < at);
            let spot = edits.marks.spots.get(next).filter(|spot| spot.begin < range.end);
            let changed = edits.changes.get(change).filter(|(changed, _)| changed.start < range.end);
            match (changed, spot) {
                (Some((changed, new)), spot) if spot.is_none_or(|spot| changed.start <= spot.begin) => {
                    self.copy(buffer, at..changed.start)?;
                    self.change(buffer, new, depth)?;
                    at = changed.end;
                    change += 1;
                }
                (_, Some(spot)) => {
                    self.copy(buffer, at..spot.begin)?;
                    if spot.end > range.end {
                        let error = Error::out_of_range("end of a part of a record", spot.end, range.end);
                        return Err(error.at_byte(spot.begin as u64));
                    }
                    self.spot(buffer, spot, depth)?;
                    at = spot.end;
                    change = edits.changes.partition_point(|(range, _)| range.start < at);
                }
                (_, None) => return self.copy(buffer, at..range.end),
            }
        }
    }

    fn change(&mut self, buffer: &mut Buffer, change: &Change<'_>, depth: usize) -> Result<()> {
        match change {
            Change::Made(make) => make(buffer),
            Change::Pointer(begin) => self.mention(buffer, *begin, *begin, depth)?,
        }
        Ok(())
    }

    fn spot(&mut self, buffer: &mut Buffer, spot: &Spot, depth: usize) -> Result<()> {
        match &spot.kind {
            SpotKind::Frame => {
                let appended = self.edits.appended.get(&spot.begin);
                buffer.counted(|buffer| {
                    self.part(buffer, spot.begin + 4..spot.end, depth + 1)?;
                    appended.into_iter().flatten().try_for_each(|new| self.change(buffer, new, depth))
                })
            }
            SpotKind::Fixed => self.copy(buffer, spot.begin..spot.end),
            SpotKind::Reference(begin) => self.mention(buffer, *begin, spot.begin, depth),
            SpotKind::Object { .. } => self.mention(buffer, spot.begin, spot.begin, depth),
        }
    }

    /// Appends a pointer to the object that began at `begin`: a reference if the object is written already,
    /// else the object. `from` is the offset for errors.
    fn mention(&mut self, buffer: &mut Buffer, begin: usize, from: usize, depth: usize) -> Result<()> {
        if let Some(&number) = self.moved.get(&begin) {
            buffer.reference(number);
            return Ok(());
        }
        let spots = &self.edits.marks.spots;
        let found = spots.binary_search_by_key(&begin, |spot| spot.begin).ok().map(|at| &spots[at]);
        let Some(Spot { end, kind: SpotKind::Object { class, contents, .. }, .. }) = found else {
            let what = "editing a record with a pointer to what is no object of its own";
            return Err(Error::unsupported(what).at_byte(from as u64));
        };
        self.moved.insert(begin, buffer.place().wrapping_add(2));
        let mut done = Ok(());
        buffer.object(class, |buffer| done = self.part(buffer, *contents..*end, depth + 1));
        done
    }

    /// Appends unchanged bytes of the payload.
    fn copy(&mut self, buffer: &mut Buffer, range: Range<usize>) -> Result<()> {
        let payload = self.edits.objects.payload();
        self.shifted |= buffer.place() as usize != range.start + self.edits.objects.origin() as usize;
        if self.shifted {
            // Skipped ranges do not contain each other, so their ends are in order, too.
            let passed = &self.edits.passed;
            let first = passed.partition_point(|passed| passed.end <= range.start);
            for passed in passed[first..].iter().take_while(|passed| passed.start < range.end) {
                let part = passed.start.max(range.start)..passed.end.min(range.end);
                if may_point(payload, &part, self.edits.objects.origin()) {
                    let what = "moving something that nothing describes and that may hold pointers";
                    return Err(Error::unsupported(what).at_byte(part.start as u64));
                }
            }
        }
        // Marks are within the payload.
        buffer.extend(payload.get(range).unwrap_or_default());
        Ok(())
    }
}

/// Upper bound on the nesting depth. It exceeds that of reading, since moved pointers can nest objects
/// deeper.
const DEEPEST: usize = 400;
