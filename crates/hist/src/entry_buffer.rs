//! Buffered entries of a histogram (`fBuffer`): ROOT keeps the first entries to find the range of the axes.

use crate::{Error, Result};

/// Buffered entries: weights, coordinates and, for a profile, values.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryBuffer {
    /// Capacity of the first histogram's buffer: the length of its `fBuffer`.
    room: usize,
    /// Length of an entry: its weight, a coordinate for each axis, and the value for a profile.
    width: usize,
    dimensions: usize,
    numbers: Vec<f64>,
}

/// A buffered entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry<'a> {
    /// Weight of the entry.
    pub weight: f64,
    /// Coordinates of the entry, one for each axis.
    pub coordinates: &'a [f64],
    /// Value of an entry of a profile.
    pub value: Option<f64>,
}

impl EntryBuffer {
    /// Parses the `fBuffer` of a histogram; `None` if it is empty.
    ///
    /// # Errors
    /// Returns an error if the number of entries is not an integer or exceeds the length of the buffer.
    pub fn new(mut numbers: Vec<f64>, dimensions: usize, is_profile: bool) -> Result<Option<Self>> {
        let (room, Some(&count)) = (numbers.len(), numbers.first()) else { return Ok(None) };
        let width = 1 + dimensions + usize::from(is_profile);
        // A negative count means that the entries are already in the bins.
        let count = if count > 0.0 { count } else { 0.0 };
        if count.fract() != 0.0 || count * width as f64 + 1.0 > room as f64 {
            return Err(Error::Buffer { count, room });
        }
        numbers.truncate(1 + count as usize * width);
        numbers.remove(0);
        Ok(Some(Self { room, width, dimensions, numbers }))
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len() / self.width
    }

    /// Whether the buffer has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Returns the entries in the order in which the histogram was filled.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> + Clone {
        let end = 1 + self.dimensions;
        self.numbers.chunks_exact(self.width).map(move |entry| Entry {
            weight: entry[0],
            coordinates: &entry[1..end],
            value: entry.get(end).copied(),
        })
    }

    /// Returns the coordinates of all entries along one axis.
    #[must_use]
    pub fn coordinates(&self, axis: usize) -> Vec<f64> {
        self.entries().filter_map(|entry| entry.coordinates.get(axis).copied()).collect()
    }

    /// Appends the entries of another buffer.
    ///
    /// # Errors
    /// Returns an error if both together have more than 2^26 numbers.
    pub fn append(&mut self, other: &Self) -> Result<()> {
        if self.numbers.len() + other.numbers.len() > MOST_NUMBERS {
            return Err(Error::LargeBuffer);
        }
        self.numbers.extend(&other.numbers);
        Ok(())
    }

    /// Returns the number of entries that fit the first histogram's buffer if there are more: ROOT finds the
    /// range from them. `None` if all entries fit.
    #[must_use]
    pub fn overflows_at(&self) -> Option<usize> {
        let most = self.room.saturating_sub(1) / self.width;
        let all = self.len();
        (all * self.width >= self.room).then_some(most.min(all))
    }

    /// Serialises the entries as `fBuffer`.
    #[must_use]
    pub fn numbers(&self) -> Vec<f64> {
        let mut numbers = vec![self.len() as f64];
        numbers.extend(&self.numbers);
        numbers.resize(self.room, 0.0);
        numbers
    }
}

/// Upper bound on the numbers of a merged buffer.
const MOST_NUMBERS: usize = 1 << 26;
