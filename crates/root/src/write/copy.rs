//! Objects of one file written to another, as they are.

use forthwith_io::Compressor;
use forthwith_plan::{Error, Result};

use super::{DirectoryId, FileWriter, KeyKind, KeyText, RecordPlace, compress};
use crate::object::Objects;
use crate::streamer::Streamers;

impl FileWriter {
    /// Appends an object that was read from a file with these descriptions of classes, as it is stored there, and lists it. What it points to
    /// is in it. Its classes are described as they were.
    ///
    /// Pointers in an object are counted from the beginning of its key. One with pointers can get a shorter name, where blanks fill the
    /// key's title, but no longer one.
    ///
    /// # Errors
    /// An object whose pointers would have to be moved; one whose data are in other records, as those of tables are; as
    /// [`object`](Self::object).
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

    /// Adds all descriptions of classes that the object's file has, and those of ROOT's own that it leaves out. Which of them are needed
    /// is not always said: of an object that ROOT streams by code of its own, or of a pair in a container.
    fn describe_all_of(&mut self, objects: &Objects, streamers: &Streamers) -> Result<()> {
        self.describe_from(streamers)?;
        for object in objects.iter().filter(|object| !streamers.knows(object.class())) {
            // One that nothing is known of stays one.
            let _ = self.describe_class(object.class());
        }
        Ok(())
    }
}

/// Whether there can be pointers: the first of them names its class behind such a word.
fn has_pointers(payload: &[u8]) -> bool {
    payload.windows(4).any(|word| word == [0xFF; 4])
}

/// Classes of tables.
const ELSEWHERE: &[&str] = &["TTree", "TNtuple", "TNtupleD", "TChain", "ROOT::RNTuple"];
