//! Values of members, read by the layouts of their classes.

use forthwith_plan::{Error, Result};

use super::objects::{Member, Shape, number};
use super::reader::Reader;
use crate::class::{self, Numbers, Value};
use crate::record::Frame;
use forthwith_columns::DType;

/// Index of an object's first member, and the slots of the members that count another, relative to it.
pub(super) type Counters = (usize, [u32; 2]);

impl Reader<'_> {
    /// Reads one member of a class. `counters` are the members that count it, and `slot` is the member's own
    /// index.
    #[inline(always)]
    pub(super) fn value_here(
        &mut self,
        value: &Value,
        counters: Counters,
        slot: usize,
        depth: usize,
    ) -> Result<Member> {
        let counter = |(first, slots): Counters| first + slots[0] as usize;
        Ok(match value {
            Value::Number(numbers) => match numbers.basic {
                Some(basic) => number(basic, self.cursor.take(basic.size())?),
                None => self.packed_number(numbers)?,
            },
            Value::Counted(numbers, _) => {
                self.flagged(|reader| reader.repeated(numbers, counter(counters), 1))?
            }
            Value::Repeated(numbers, _, times) => self.repeated(numbers, counter(counters), *times)?,
            Value::Seeks(_) => match self.cursor.u8()? {
                0 => Member::Null,
                2 => self.counted(DType::Int64, counter(counters))?,
                _ => self.counted(DType::Int32, counter(counters))?,
            },
            Value::CountedTexts(_) => self.counted_texts(counter(counters), 1)?,
            Value::Bits => {
                let bits = self.cursor.u32()?;
                if bits & crate::record::IS_REFERENCED != 0 {
                    self.cursor.u16()?;
                }
                Member::UInt(u64::from(bits))
            }
            Value::Text => self.text()?,
            Value::LongText => self.long_text()?,
            Value::StdText => self.perhaps_framed(Self::text)?,
            Value::Container(item) => self.isolated(|reader| reader.framed(item, depth))?,
            Value::Whole(item) => self.whole_container(item, false, depth)?,
            Value::Bare(item) | Value::Item(item) => self.item(item, depth + 1)?,
            Value::Array(array) => self.apart(array, depth + 1)?,
            Value::TObject => Member::Object(self.embedded("TObject", depth)?),
            Value::Object(class) => Member::Object(self.embedded(class, depth)?),
            Value::Pointer(_) => self.pointed(depth)?,
            Value::Pointers(_) => {
                let count = self.count(counter(counters), 4)?;
                Member::Objects(self.pointers(count, depth)?, count as u32)
            }
            Value::Loop { class, pointers, .. } => {
                let count = self.count(counter(counters), 0)?;
                self.looped(class, *pointers, count, depth)?
            }
            Value::Sized(numbers) => self.sized(plain(numbers)?)?,
            Value::Triangle(numbers, _) => self.symmetric(plain(numbers)?, counter(counters))?,
            Value::Area(numbers, _) => {
                let (first, [width, height]) = counters;
                let width = self.count(first + width as usize, 0)?;
                let height = self.count(first + height as usize, 0)?;
                self.numbers(plain(numbers)?, width.saturating_mul(height))?
            }
            Value::Rows(row, _) => self.rows(row, counter(counters))?,
            Value::Table(width) => {
                let rows = self.cursor.i32()?;
                let rows = self.cursor.count("number of rows", rows, *width as usize)?;
                self.values(Shape::List, rows * *width as usize, 1, |reader, _| reader.text())?
            }
            Value::Process => match slot.checked_sub(1).and_then(|bits| self.to.members.get(bits)) {
                Some(Member::UInt(bits)) if bits & HAS_UUID != 0 => self.text()?,
                _ => Member::UInt(u64::from(self.cursor.u16()?)),
            },
            Value::Framed => {
                let begin = self.cursor.position();
                let frame = self.frame()?;
                if frame.end.is_none() {
                    return Err(Error::unsupported("a container without a byte count"));
                }
                self.cursor.leave(&frame);
                self.skipped(begin)
            }
            // Steps do not contain these.
            Value::Base(_) | Value::Only(..) | Value::Words(..) | Value::Unsupported => {
                return Err(Error::unsupported("a member that nothing describes"));
            }
        })
    }

    /// Reads a member that is a fixed array.
    pub(super) fn several(
        &mut self,
        value: &Value,
        length: u32,
        counters: Counters,
        slot: usize,
        depth: usize,
    ) -> Result<Member> {
        let (first, [counter, _]) = counters;
        let (counter, many) = (first + counter as usize, length as usize);
        Ok(match value {
            Value::Number(numbers) => self.many(numbers, many)?,
            Value::Counted(numbers, _) => self.flagged(|reader| reader.repeated(numbers, counter, length))?,
            Value::CountedTexts(_) => self.counted_texts(counter, many)?,
            Value::Text | Value::StdText => self.texts(many)?,
            Value::Container(item) => self.isolated(|reader| reader.framed_many(item, many, depth))?,
            Value::Object(class) => self.repetitions(class, false, many, depth)?,
            Value::TObject => self.repetitions("TObject", false, many, depth)?,
            Value::Pointer(class) => self.repetitions(class, true, many, depth)?,
            Value::Loop { class, pointers, .. } => {
                let count = self.count(counter, 0)?.saturating_mul(many);
                self.looped(class, *pointers, count, depth)?
            }
            // Items of other kinds are read one after another.
            value => self
                .values(Shape::List, many, 0, |reader, _| reader.value_here(value, counters, slot, depth))?,
        })
    }

    /// Reads a member without counters and without a slot, such as one half of a pair. An array of arrays
    /// becomes a list of lists.
    pub(super) fn apart(&mut self, member: &class::Member, depth: usize) -> Result<Member> {
        let all = self.value(&member.value, member.array, (0, [0; 2]), 0, depth)?;
        self.shaped(all, &member.dimensions)
    }

    /// Reads a member of a class, which may be a fixed array.
    #[inline(always)]
    pub(super) fn value(
        &mut self,
        value: &Value,
        array: Option<u32>,
        counters: Counters,
        slot: usize,
        depth: usize,
    ) -> Result<Member> {
        match array {
            None => self.value_here(value, counters, slot, depth),
            Some(length) => self.several(value, length, counters, slot, depth),
        }
    }

    /// Divides the items of a fixed array by its dimensions.
    pub(super) fn shaped(&mut self, all: Member, dimensions: &[u32]) -> Result<Member> {
        match dimensions {
            [outer @ .., _] if !outer.is_empty() => self.nested(all, outer),
            _ => Ok(all),
        }
    }

    /// Divides the items of an array of arrays into nested lists. `sizes` are the dimensions except the last.
    fn nested(&mut self, all: Member, sizes: &[u32]) -> Result<Member> {
        let [size, inner @ ..] = sizes else { return Ok(all) };
        self.values(Shape::List, *size as usize, 0, |reader, row| {
            let mut part = all;
            if let Member::Array(_, first, length)
            | Member::Packed(_, first, length)
            | Member::List(_, first, length)
            | Member::Objects(first, length) = &mut part
            {
                *length /= size;
                *first += *length * row as u32;
            }
            reader.nested(part, inner)
        })
    }

    pub(super) fn text(&mut self) -> Result<Member> {
        let length = self.cursor.string()?.len();
        Ok(Member::Text((self.cursor.position() - length) as u32, length as u32))
    }

    /// Reads a value in a frame.
    pub(super) fn in_frame<T>(&mut self, read: impl FnOnce(&mut Self, &Frame) -> Result<T>) -> Result<T> {
        let frame = self.frame()?;
        let read = read(self, &frame)?;
        self.leave(&frame);
        Ok(read)
    }

    /// Reads a value that may have a frame, such as a `std::string` that is a member.
    pub(super) fn perhaps_framed<T>(&mut self, read: impl Fn(&mut Self) -> Result<T>) -> Result<T> {
        let (bare, mark) = (self.cursor, self.mark());
        if let Ok(frame) = self.frame()
            && frame.end.is_some()
        {
            let framed = read(self);
            if self.cursor.leave(&frame) == 0 && framed.is_ok() {
                return framed;
            }
        }
        self.back_to(mark);
        self.cursor = bare;
        read(self)
    }

    fn counted(&mut self, basic: DType, counter: usize) -> Result<Member> {
        let count = self.count(counter, basic.size())?;
        self.numbers(basic, count)
    }

    /// Reads `times` numbers for each that the counter states.
    fn repeated(&mut self, numbers: &Numbers, counter: usize, times: u32) -> Result<Member> {
        match numbers.basic {
            Some(basic) if times == 1 => self.counted(basic, counter),
            _ => {
                let count = self.count(counter, times as usize * numbers.size())?;
                self.many(numbers, times as usize * count)
            }
        }
    }

    /// Reads `count` numbers.
    fn many(&mut self, numbers: &Numbers, count: usize) -> Result<Member> {
        match numbers.basic {
            Some(basic) => self.numbers(basic, count),
            None => self.packed(numbers, count),
        }
    }

    /// Reads a flag, and a value if the flag is set.
    fn flagged(&mut self, read: impl FnOnce(&mut Self) -> Result<Member>) -> Result<Member> {
        if self.cursor.u8()? == 0 { Ok(Member::Null) } else { read(self) }
    }

    /// Reads a flag and, if it is set, `times` strings for each that the counter states.
    fn counted_texts(&mut self, counter: usize, times: usize) -> Result<Member> {
        self.flagged(|reader| {
            let count = reader.count(counter, 4)?.saturating_mul(times);
            reader.values(Shape::List, count, 4, |reader, _| reader.long_text())
        })
    }

    /// Reads `count` objects or pointers in a frame.
    fn looped(&mut self, class: &str, pointers: bool, count: usize, depth: usize) -> Result<Member> {
        self.in_frame(|reader, _| reader.repetitions(class, pointers, count, depth))
    }

    /// Returns the number in a counter's slot. Fails if it is not a number, is negative, or if fewer than
    /// that many items of `size` bytes remain.
    pub(super) fn count(&self, counter: usize, size: usize) -> Result<usize> {
        let count = match self.to.members[counter] {
            Member::Bool(count) => i32::from(count),
            Member::Int(count) => i32::try_from(count).unwrap_or(-1),
            Member::UInt(count) => i32::try_from(count).unwrap_or(-1),
            _ => -1,
        };
        self.cursor.count("number of array items", count, size)
    }

    pub(super) fn long_text(&mut self) -> Result<Member> {
        let length = self.cursor.i32()?;
        let length = self.cursor.count("length of text", length, 1)?;
        let begin = self.cursor.position();
        self.cursor.take(length)?;
        Ok(Member::Text(begin as u32, length as u32))
    }

    /// Reads a count, and that many numbers.
    pub(super) fn sized(&mut self, basic: DType) -> Result<Member> {
        let count = self.cursor.i32()?;
        let count = self.cursor.count("number of array items", count, basic.size())?;
        self.numbers(basic, count)
    }

    /// Reads as many rows of numbers as the counter states.
    fn rows(&mut self, row: &[DType], counter: usize) -> Result<Member> {
        let count = self.count(counter, row.iter().map(|of| of.size()).sum())?;
        self.values(Shape::List, count, 1, |reader, _| {
            reader.values(Shape::Pair, row.len(), 1, |reader, at| {
                Ok(number(row[at], reader.cursor.take(row[at].size())?))
            })
        })
    }

    pub(super) fn numbers(&mut self, basic: DType, count: usize) -> Result<Member> {
        let begin = self.cursor.position();
        let bytes = self.cursor.take(count.saturating_mul(basic.size()))?;
        Ok(Member::Array(basic, begin as u32, bytes.len() as u32))
    }

    /// Reads the upper right half of a symmetric matrix, row by row, and completes it.
    fn symmetric(&mut self, basic: DType, counter: usize) -> Result<Member> {
        let size = basic.size();
        let rows = self.count(counter, size)?;
        let half = self.cursor.take((rows.saturating_mul(rows + 1) / 2).saturating_mul(size))?;
        let mut full = vec![0; rows * rows * size].into_boxed_slice();
        let mut places = (0..rows).flat_map(|row| (row..rows).map(move |column| (row, column)));
        for (number, (row, column)) in half.chunks_exact(size).zip(&mut places) {
            for at in [row * rows + column, column * rows + row] {
                full[at * size..(at + 1) * size].copy_from_slice(number);
            }
        }
        self.to.made.push((basic, full));
        Ok(Member::Made(self.to.made.len() as u32 - 1))
    }

    pub(super) fn packed_number(&mut self, numbers: &Numbers) -> Result<Member> {
        Ok(Member::Float(numbers.unpacked(self.cursor.take(numbers.size())?)))
    }

    fn packed(&mut self, numbers: &Numbers, count: usize) -> Result<Member> {
        let begin = self.cursor.position();
        let bytes = self.cursor.take(count.saturating_mul(numbers.size()))?;
        let known = self.to.packs.iter().position(|known| known == numbers);
        let number = known.unwrap_or(self.to.packs.len());
        if known.is_none() {
            self.to.packs.push(*numbers);
        }
        match u16::try_from(number) {
            Ok(number) => Ok(Member::Packed(number, begin as u32, bytes.len() as u32)),
            Err(_) => Err(Error::unsupported("an object with that many different packings")),
        }
    }

    /// Reads a value in a frame. If that fails, the frame is skipped and the error recorded.
    fn isolated(&mut self, read: impl FnOnce(&mut Self) -> Result<Member>) -> Result<Member> {
        let (mark, before, current) = (self.mark(), self.cursor, self.current);
        let error = match read(self) {
            Ok(member) => return Ok(member),
            Err(error) if self.budget == 0 => return Err(error),
            Err(error) => error,
        };
        self.back_to(mark);
        (self.cursor, self.current) = (before, current);
        let frame = self.frame()?;
        if frame.end.is_none() {
            return Err(error);
        }
        self.cursor.leave(&frame);
        self.to.faults.push((self.current, error));
        Ok(self.skipped(before.position()))
    }

    pub(super) fn skipped(&mut self, begin: usize) -> Member {
        self.note_passed(begin);
        Member::Skipped(begin as u32, (self.cursor.position() - begin) as u32)
    }
}

/// Returns the type of numbers that are never packed.
fn plain(numbers: &Numbers) -> Result<DType> {
    numbers.basic.ok_or_else(|| Error::unsupported("packed numbers where a class's own code writes them"))
}

/// Status bit of a `TRef` that identifies its object by a UUID.
const HAS_UUID: u64 = 0x20;
