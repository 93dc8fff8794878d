//! Entries of a histogram that are in no bin yet: ROOT keeps the first of them to find out the ends of the axis.

use forthwith_plan::{Error, ErrorKind, Result};

use crate::object::Object;
use crate::write::Edits;

/// Weights and places of entries of a histogram of one dimension.
#[derive(Debug)]
pub(super) struct Pending {
    /// Numbers that there is room for: how many entries, and two for each.
    room: usize,
    entries: Vec<[f64; 2]>,
}

impl Pending {
    /// What waits in the buffer of a histogram, if it has one.
    pub(super) fn of(histogram: Object<'_>) -> Result<Option<Self>> {
        let Some(buffer) = histogram.array("fBuffer").filter(|buffer| !buffer.is_empty()) else {
            return Ok(None);
        };
        let numbers: Vec<f64> = buffer.floats().collect();
        let (room, count) = (numbers.len(), numbers[0]);
        // Of entries that are in bins already, the number is negative.
        let count = if count > 0.0 { count } else { 0.0 };
        if count.fract() != 0.0 || count * 2.0 + 1.0 > room as f64 {
            let what = format!("{count} entries in a buffer of {room} numbers");
            return Err(Error::new(ErrorKind::Invalid { what }).in_member("fBuffer"));
        }
        let is_plain = histogram.class().starts_with("TH1");
        if count > 0.0 && !is_plain {
            let what = format!("adding a {} whose entries are still in its buffer", histogram.class());
            return Err(Error::unsupported(what));
        }
        let entries = numbers[1..].as_chunks::<2>().0.iter().take(count as usize).copied();
        Ok(Some(Self { room, entries: entries.collect() }))
    }

    /// Puts the entries of another one behind these, while there is room.
    pub(super) fn join(&mut self, other: Self) -> Result<()> {
        self.entries.extend(other.entries);
        if self.entries.len() * 2 >= self.room {
            let what = "adding histograms without ends of axes that have more entries together than the buffer of the first";
            return Err(Error::unsupported(what));
        }
        Ok(())
    }

    pub(super) fn entries(&self) -> &[[f64; 2]] {
        &self.entries
    }

    pub(super) fn write(&self, edits: &mut Edits<'_>, histogram: Object<'_>) -> Result<()> {
        let mut numbers = vec![self.entries.len() as f64];
        numbers.extend(self.entries.as_flattened());
        numbers.resize(self.room, 0.0);
        edits.doubles(histogram, "fBuffer", &numbers)
    }
}
