//! Process ids: indexes by which references and referenced objects identify the process that created them.

use std::collections::HashSet;
use std::ops::Range;

use forthwith_plan::{Error, Result};

use super::Edits;
use crate::object::{Object, Objects};
use crate::record::IS_REFERENCED;

impl Edits<'_> {
    /// Adds `before` to the process ids in an object's record, for a copy to a file in which that many
    /// process ids precede those of the object's own file.
    ///
    /// # Errors
    /// Returns an error if a process id exceeds 65535.
    pub fn renumber_processes(&mut self, objects: &Objects, before: u16) -> Result<()> {
        if before == 0 {
            return Ok(());
        }
        // An object within another may be visited twice.
        let mut known = HashSet::new();
        for place in places(objects).filter(|place| known.insert(place.start)) {
            let Some(&[high, low]) = objects.payload().get(place.clone()) else { continue };
            let Some(number) = u16::from_be_bytes([high, low]).checked_add(before) else {
                return Err(Error::unsupported("more than 65535 process ids").at_byte(place.start as u64));
            };
            self.replace(place, number.to_be_bytes().to_vec());
        }
        Ok(())
    }
}

/// Whether an object that was read to be edited contains process ids.
#[must_use]
pub fn counts_processes(objects: &Objects) -> bool {
    places(objects).next().is_some()
}

/// Returns the positions of process ids in an object's record.
fn places(objects: &Objects) -> impl Iterator<Item = Range<usize>> {
    objects.iter().flat_map(|object| {
        let own = match object.class() {
            "TRef" => object.place("pid"),
            "TRefArray" => object.place("fPID"),
            _ => None,
        };
        // A reference of another length identifies its object by a string.
        own.filter(|place| place.len() == 2).into_iter().chain(referenced(object))
    })
}

/// Returns the position of the process id after the status bits of a referenced object.
fn referenced(object: Object<'_>) -> Option<Range<usize>> {
    if let (Some(place), Some(bits)) = (object.place("fBits"), object.int("fBits")) {
        // A member of another class may have the same name.
        let is_status = place.len() == 4 && object.place("fUniqueID").is_some_and(|id| id.end == place.start);
        return (is_status && bits & i64::from(IS_REFERENCED) != 0).then_some(place.end..place.end + 2);
    }
    // The `TObject` of a collection is not among its members.
    object.collection_name()?;
    let mut cursor = object.cursor().ok()?;
    cursor.frame().ok()?;
    cursor.tobject().ok()?.process_id?;
    let end = cursor.position();
    Some(end - 2..end)
}
