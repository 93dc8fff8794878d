//! Buffered entries of a histogram (`fBuffer`): ROOT keeps the first entries to find the range of the axes.

use crate::{Error, Result};

/// Weights, coordinates and, of a profile, values of buffered entries.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryBuffer {
    /// Length of the buffer of the first histogram, in numbers.
    room: usize,
    /// Numbers of one entry: the weight, a coordinate for each axis, and the value of a profile.
    width: usize,
    dimensions: usize,
    numbers: Vec<f64>,
}

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry<'a> {
    /// The weight.
    pub weight: f64,
    /// The coordinates, one for each axis.
    pub coordinates: &'a [f64],
    /// The value, of a profile.
    pub value: Option<f64>,
}

impl EntryBuffer {
    /// The buffered entries of a histogram, from its `fBuffer`; `None` if the histogram has no buffer.
    ///
    /// # Errors
    /// The buffer is shorter than the entries that it claims.
    pub fn new(mut numbers: Vec<f64>, dimensions: usize, is_profile: bool) -> Result<Option<Self>> {
        let (room, Some(&count)) = (numbers.len(), numbers.first()) else { return Ok(None) };
        let width = 1 + dimensions + usize::from(is_profile);
        // A negative number says that the entries are in the bins already.
        let count = if count > 0.0 { count } else { 0.0 };
        if count.fract() != 0.0 || count * width as f64 + 1.0 > room as f64 {
            return Err(Error::Buffer { count, room });
        }
        numbers.truncate(1 + count as usize * width);
        numbers.remove(0);
        Ok(Some(Self { room, width, dimensions, numbers }))
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len() / self.width
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The entries in the order in which the histogram was filled.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> + Clone {
        let end = 1 + self.dimensions;
        self.numbers.chunks_exact(self.width).map(move |entry| Entry {
            weight: entry[0],
            coordinates: &entry[1..end],
            value: entry.get(end).copied(),
        })
    }

    /// The coordinates of all entries along one axis.
    #[must_use]
    pub fn coordinates(&self, axis: usize) -> Vec<f64> {
        self.entries().filter_map(|entry| entry.coordinates.get(axis).copied()).collect()
    }

    /// Appends the entries of another buffer.
    ///
    /// # Errors
    /// Both have more than 2^26 numbers.
    pub fn append(&mut self, other: &Self) -> Result<()> {
        if self.numbers.len() + other.numbers.len() > MOST_NUMBERS {
            return Err(Error::LargeBuffer);
        }
        self.numbers.extend(&other.numbers);
        Ok(())
    }

    /// Number of entries that the first histogram's buffer holds, if there are more: ROOT finds the range from these.
    #[must_use]
    pub fn overflows_at(&self) -> Option<usize> {
        let most = self.room.saturating_sub(1) / self.width;
        let all = self.len();
        (all * self.width >= self.room).then_some(most.min(all))
    }

    /// The numbers of `fBuffer`.
    #[must_use]
    pub fn numbers(&self) -> Vec<f64> {
        let mut numbers = vec![self.len() as f64];
        numbers.extend(&self.numbers);
        numbers.resize(self.room, 0.0);
        numbers
    }
}

/// Upper bound on the numbers of all buffers together.
const MOST_NUMBERS: usize = 1 << 26;
