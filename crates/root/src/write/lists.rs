//! The end of a written file: streamer record, lists of keys, list of free ranges, and marks of freed
//! records.

use forthwith_plan::Result;

use super::file::{FileWriter, Head};
use super::update::is_record;
use super::{Buffer, DirectoryId, KeyKind, KeyText, compress, free};

impl FileWriter {
    pub(super) fn is_changed(&self) -> bool {
        let old_end = self.old.as_ref().map_or(0, |old| old.header().end);
        self.classes.changed
            || self.out.position != old_end
            || self.directories.iter().any(|place| place.changed)
    }

    pub(super) fn write_lists(&mut self) -> Result<()> {
        if self.classes.changed {
            self.write_infos()?;
        }
        let changed: Vec<usize> =
            (0..self.directories.len()).filter(|&at| self.directories[at].changed).collect();
        for &at in &changed {
            self.write_keys(at)?;
        }
        self.write_free()?;
        self.out.flush()?;
        self.out.sync()?;
        // This patch gives the file its new end; its directories still have their old lists.
        let header = self.header.encode(self.out.position);
        self.out.patch(0, &header)?;
        self.out.sync()?;
        for &at in changed.iter().rev() {
            self.write_directory(at)?;
        }
        self.mark_free()
    }

    /// Overwrites the first bytes of freed ranges by their negative length, for readers that walk the
    /// records.
    fn mark_free(&mut self) -> Result<()> {
        if self.freed.is_empty() {
            return Ok(());
        }
        self.out.sync()?;
        for (begin, end) in self.freed.iter().flat_map(|&(begin, end)| free::pieces(begin, end)) {
            // No piece is longer than 2 GB.
            let length = (end - begin + 1) as i32;
            self.out.patch(begin, &(-length).to_be_bytes())?;
        }
        Ok(())
    }

    /// Overwrites a directory's header.
    fn write_directory(&mut self, at: usize) -> Result<()> {
        let place = &self.directories[at];
        let parent = place.parent.map_or(0, |parent| self.directories[parent.0].position);
        let header = place.header(parent, self.settings.time);
        self.out.patch(place.position + u64::from(place.name_len), &header)
    }

    fn write_infos(&mut self) -> Result<()> {
        let key = KeyText { class: "TList", name: "StreamerInfo", title: "Doubly linked list" };
        let mut buffer = Buffer::new(self.key_length(key, KeyKind::Object)?);
        self.classes.write(&mut buffer);
        let stored = compress(self.settings.compression, buffer.bytes(), &mut self.compressor)?;
        let written = self.list(key, DirectoryId::TOP, buffer.bytes().len(), &stored)?;
        let before = (self.header.seek_info, self.header.nbytes_info);
        (self.header.seek_info, self.header.nbytes_info) = written;
        self.add_free(before);
        Ok(())
    }

    fn write_keys(&mut self, at: usize) -> Result<()> {
        let place = &self.directories[at];
        let payload = place.key_list();
        let (name, title) = (place.name.clone(), place.title.clone());
        let key = KeyText { class: place.class(), name: &name, title: &title };
        let written = self
            .list(key, DirectoryId(at), payload.len(), &payload)
            .map_err(|error| error.in_object(&self.directories[at].label()))?;
        let before = std::mem::replace(&mut self.directories[at].list, written);
        self.add_free(before);
        Ok(())
    }

    /// Appends the list of free ranges.
    fn write_free(&mut self) -> Result<()> {
        self.add_free((self.header.seek_free, self.header.nbytes_free));
        let mut free = self.free.clone();
        free.extend(&self.freed);
        free::join(&mut free);
        let top = &self.directories[0];
        let (name, title) = (top.name.clone(), top.title.clone());
        let key = KeyText { class: "TFile", name: &name, title: &title };
        let begin = self.out.position + u64::from(self.key_length(key, KeyKind::Object)?);
        let (payload, count) = free::list(&free, begin);
        let written = self.list(key, DirectoryId::TOP, payload.len(), &payload)?;
        (self.header.seek_free, self.header.nbytes_free) = written;
        self.header.nfree = count;
        Ok(())
    }

    /// Appends the record of a list, and returns its offset and length.
    fn list(
        &mut self,
        key: KeyText<'_>,
        directory: DirectoryId,
        length: usize,
        stored: &[u8],
    ) -> Result<(u64, u32)> {
        let head = Head { key, directory, kind: KeyKind::Object, cycle: 1 };
        let (place, _) = self.append_record(head, length, &[stored])?;
        Ok((place.position, place.length() as u32))
    }

    /// Adds a record to the free ranges. A record of the old file is only added if its key confirms its
    /// length.
    pub(super) fn add_free(&mut self, (begin, length): (u64, u32)) {
        if length == 0 || self.old.as_ref().is_some_and(|old| !is_record(old, begin, length)) {
            return;
        }
        self.freed.push((begin, begin + u64::from(length) - 1));
        free::join(&mut self.freed);
    }
}
