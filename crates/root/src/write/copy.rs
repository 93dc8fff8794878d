//! Copies of objects from one file to another.

use forthwith_io::Compressor;
use forthwith_plan::{Error, Result};

use super::{DirectoryId, FileWriter, KeyKind, KeyText, RecordPlace, compress};
use crate::object::Objects;
use crate::streamer::Streamers;

impl FileWriter {
    /// Appends an object that was read from another file, with its payload unchanged, and lists it in a
    /// directory. `streamers` are the class descriptions of that file; they are added to this one. Objects
    /// that it points to are part of its payload.
    ///
    /// Pointers in a payload are offsets from the beginning of its key, so an object with pointers must keep
    /// its key's length: the title is padded with spaces if name and title are shorter than before, and they
    /// cannot be longer.
    ///
    /// # Errors
    /// Returns an error if an object with pointers gets a longer key, if the object's data are in other
    /// records, as those of tables are, and in the cases of [`object`](Self::object).
    pub fn copy(
        &mut self,
        directory: DirectoryId,
        name: &str,
        title: &str,
        objects: &Objects,
        streamers: &Streamers,
    ) -> Result<RecordPlace> {
        let class = objects.top().class();
        let place = |error: Error| error.in_file(self.uri()).in_object(name);
        if ELSEWHERE.contains(&class) {
            let what = format!("copying a {class}, whose data are in other records");
            return Err(place(Error::unsupported(what)));
        }
        let payload = objects.payload();
        let mut title = title.to_owned();
        let length =
            |title: &str| self.key_length(KeyText { class, name, title }, KeyKind::Object).map(u32::from);
        let had = objects.origin();
        if length(&title)? != had && has_pointers(payload) {
            let missing = had.saturating_sub(length(&title)?);
            title.extend(std::iter::repeat_n(' ', missing as usize));
            if length(&title)? != had {
                let what = format!("copying a {class} with pointers in it under a longer name or title");
                return Err(place(Error::unsupported(what)));
            }
        }
        self.describe_all_of(objects, streamers)?;
        let stored = compress(self.compression(), payload, &mut Compressor::new())?;
        self.listed(directory, KeyText { class, name, title: &title }, payload.len(), &[&stored])
    }

    /// Adds all class descriptions of the object's file, and those of ROOT's own classes that it lacks. They
    /// are not restricted to the classes of the object, since these are not always known: ROOT streams some
    /// objects by their own code, and containers hold pairs.
    fn describe_all_of(&mut self, objects: &Objects, streamers: &Streamers) -> Result<()> {
        self.describe_from(streamers)?;
        for object in objects.iter().filter(|object| !streamers.knows(object.class())) {
            // A class that is unknown stays undescribed, as in the other file.
            let _ = self.describe_class(object.class());
        }
        Ok(())
    }
}

/// Whether a payload may contain pointers: the first of them has a class tag that begins with this word.
fn has_pointers(payload: &[u8]) -> bool {
    payload.windows(4).any(|word| word == [0xFF; 4])
}

/// Classes whose objects have data in other records.
const ELSEWHERE: &[&str] = &["TTree", "TNtuple", "TNtupleD", "TChain", "ROOT::RNTuple"];
