//! Entries of histograms that are in no bin yet: ROOT keeps the first of them to find out the ends of the axes.

use forthwith_plan::{Error, Result};

use crate::object::Object;
use crate::write::Edits;

/// Weights, places and, of a profile, values of entries.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// Numbers that there is room for in the buffer of the first histogram: how many entries, and those of each.
    room: usize,
    /// Numbers of an entry: its weight, one for each axis, and the value of a profile.
    width: usize,
    dimensions: usize,
    numbers: Vec<f64>,
}

/// One entry.
pub(super) struct Entry<'a> {
    pub(super) weight: f64,
    pub(super) places: &'a [f64],
    /// What a profile has of it.
    pub(super) value: Option<f64>,
}

impl Pending {
    /// What waits in the buffer of a histogram, if it has one.
    pub(super) fn of(histogram: Object<'_>, dimensions: usize, is_profile: bool) -> Result<Option<Self>> {
        let Some(buffer) = histogram.array("fBuffer").filter(|buffer| !buffer.is_empty()) else {
            return Ok(None);
        };
        let mut numbers: Vec<f64> = buffer.floats().collect();
        let (room, count) = (numbers.len(), numbers[0]);
        let width = 1 + dimensions + usize::from(is_profile);
        // Of entries that are in bins already, the number is negative.
        let count = if count > 0.0 { count } else { 0.0 };
        if count.fract() != 0.0 || count * width as f64 + 1.0 > room as f64 {
            let what = format!("{count} entries in a buffer of {room} numbers");
            return Err(Error::invalid(what).in_member("fBuffer"));
        }
        numbers.truncate(1 + count as usize * width);
        numbers.remove(0);
        Ok(Some(Self { room, width, dimensions, numbers }))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Puts the entries of another one behind these.
    pub(super) fn join(&mut self, other: &Self) -> Result<()> {
        if self.numbers.len() + other.numbers.len() > MOST_NUMBERS {
            let what = "adding histograms with more than 2^26 numbers in buffers";
            return Err(Error::unsupported(what));
        }
        self.numbers.extend(&other.numbers);
        Ok(())
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let behind = 1 + self.dimensions;
        self.numbers.chunks_exact(self.width).map(move |entry| Entry {
            weight: entry[0],
            places: &entry[1..behind],
            value: entry.get(behind).copied(),
        })
    }

    /// The entries that the buffer can keep, if they are not all: ROOT finds the ends of axes by these.
    pub(super) fn kept(&self) -> Option<usize> {
        let most = self.room.saturating_sub(1) / self.width;
        let all = self.numbers.len() / self.width;
        (all * self.width >= self.room).then_some(most.min(all))
    }

    pub(super) fn write(&self, edits: &mut Edits<'_>, histogram: Object<'_>) -> Result<()> {
        let mut numbers = vec![(self.numbers.len() / self.width) as f64];
        numbers.extend(&self.numbers);
        numbers.resize(self.room, 0.0);
        edits.doubles(histogram, "fBuffer", &numbers)
    }
}

/// Numbers of all buffers together.
const MOST_NUMBERS: usize = 1 << 26;
