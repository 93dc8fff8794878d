//! The writer of a file: header, records, lists, and the order in which they reach the disk.

use std::io::IoSlice;

use bytes::Bytes;
use forthwith_io::{Compressor, Sink, Xxh3};
use forthwith_plan::{Error, ErrorKind, Result};

use super::described::Described;
use super::directory::{DirectoryId, LENGTH, Listed, Place, check_name};
use super::given::{self, GivenObject};
use super::key::{KeyNumbers, encode, string_length};
use super::output::Output;
use super::settings::FileSettings;
use super::update::{Found, directory_of};
use super::{Buffer, Compression, KeyKind, KeyText, Moment, RecordPlace, compress};
use crate::class::{Native, native};
use crate::file::{Header, RootFile};

/// A ROOT file being written. It is valid once it is [finished](Self::finish); if the writer is dropped
/// before, the sink decides what remains.
pub struct FileWriter {
    pub(super) out: Output,
    pub(super) settings: FileSettings,
    pub(super) compressor: Compressor,
    pub(super) directories: Vec<Place>,
    pub(super) classes: Described,
    pub(super) header: Header,
    /// Free ranges of the file, as first and last byte, in ascending order and not adjacent.
    pub(super) free: Vec<(u64, u64)>,
    /// Ranges that were freed by this writer.
    pub(super) freed: Vec<(u64, u64)>,
    /// The file before it was changed; `None` for a new file.
    pub(super) old: Option<RootFile>,
}

impl FileWriter {
    /// Creates a file.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written to, or the file's name and title are too long for a
    /// key.
    pub fn create(sink: Box<dyn Sink>, settings: FileSettings) -> Result<Self> {
        let uri = sink.uri();
        let name = uri.rsplit(['/', '\\']).next().unwrap_or(uri).to_owned();
        let mut out = Output::new(sink, 0);
        let key = KeyText { class: "TFile", name: &name, title: &settings.title };
        let key_len = key.length(KeyKind::Object, BEGIN)?;
        let texts = string_length(&name) + string_length(&settings.title);
        let name_len = u32::from(key_len) + texts as u32;
        let end = BEGIN + u64::from(name_len) + LENGTH as u64;
        let header = Header {
            version: settings.version,
            begin: BEGIN,
            nbytes_name: name_len,
            compression: settings.compression.setting(),
            uuid: Some(settings.uuid.0),
            ..Header::default()
        };
        let numbers = KeyNumbers {
            stored_len: (texts + LENGTH) as u64,
            object_len: (texts + LENGTH) as u32,
            time: settings.time.datime(),
            cycle: 1,
            position: BEGIN,
            directory: 0,
        };
        let mut record = encode(&key, KeyKind::Object, numbers)?;
        record.string(&name);
        record.string(&settings.title);
        let top = Place::new(key, BEGIN, name_len, &settings);
        record.extend(&top.header(0, settings.time));
        // `end` is the end of this record until the file is finished: readers of an unfinished file find the
        // first record by `begin` and walk the records after it.
        let mut begin = header.encode(end);
        begin.resize(BEGIN as usize, 0);
        out.append(&begin)?;
        out.append(record.bytes())?;
        let found = Found { header, top, classes: Described::default(), free: Vec::new() };
        Ok(Self::of(out, settings, found, None))
    }

    fn of(out: Output, settings: FileSettings, found: Found, old: Option<RootFile>) -> Self {
        Self {
            out,
            settings,
            compressor: Compressor::new(),
            directories: vec![found.top],
            classes: found.classes,
            header: found.header,
            free: found.free,
            freed: Vec::new(),
            old,
        }
    }

    /// Opens a file to be changed: new objects are listed beside the existing ones. `sink` appends to the
    /// file from its end on, as its header states it
    /// ([`UpdateSink::begin_at`](forthwith_io::UpdateSink::begin_at)).
    ///
    /// No byte that the old file refers to is overwritten. When the writer is finished, the new records are
    /// synchronised to the disk first, then the header gets the new end of the file, and then each directory
    /// its new list. If the process is killed meanwhile, the file is readable: each directory has either its
    /// old or its new list.
    ///
    /// # Errors
    /// Returns an error if the file's lists cannot be read, or the file cannot be changed: it was written by
    /// a very old ROOT, or was not closed.
    pub fn update(sink: Box<dyn Sink>, file: &RootFile, settings: FileSettings) -> Result<Self> {
        let found = Found::of(file).map_err(|error| error.in_file(file.uri()))?;
        Ok(Self::of(Output::new(sink, file.header().end), settings, found, Some(file.clone())))
    }

    /// Returns the default compression of objects.
    #[must_use]
    pub fn compression(&self) -> Compression {
        self.settings.compression
    }

    /// Returns the time of writing, which keys and directories contain.
    #[must_use]
    pub fn time(&self) -> Moment {
        self.settings.time
    }

    /// Returns the name of the file, for errors.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.out.uri()
    }

    /// Whether the thread that began to write has to continue.
    #[must_use]
    pub fn needs_caller(&self) -> bool {
        self.out.needs_caller()
    }

    /// Checks for reasons to stop, as [`Sink::listen`](forthwith_io::Sink::listen) does.
    ///
    /// # Errors
    /// Returns an error if writing has to stop.
    pub fn listen(&mut self) -> Result<()> {
        self.out.listen()
    }

    /// Returns the offset at which the next record will begin.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.out.position
    }

    /// Returns the directory at a path, whose names are separated by slashes. It and its parents are created
    /// if they do not exist. An empty path is the top directory.
    ///
    /// # Errors
    /// Returns an error if an object of such a name is not a directory, if an existing directory cannot be
    /// read, and in the cases of [`listed`](Self::listed).
    pub fn directory(&mut self, path: &str) -> Result<DirectoryId> {
        let names = path.split('/').filter(|name| !name.is_empty());
        let mut at = DirectoryId::TOP;
        for name in names {
            at = self.inner_directory(at, name, "")?;
        }
        Ok(at)
    }

    /// Returns the directory at a path, or `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if a directory on the path cannot be read.
    pub fn existing_directory(&mut self, path: &str) -> Result<Option<DirectoryId>> {
        let mut at = DirectoryId::TOP;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let place = &self.directories[at.0];
            let made = place.inner.iter().any(|id| self.directories[id.0].name == name);
            if !made && !place.keys.iter().any(|key| &*key.name == name && key.is_directory()) {
                return Ok(None);
            }
            at = self.inner_directory(at, name, "")?;
        }
        Ok(Some(at))
    }

    /// Returns the directory of a name within another one; creates it with a title if it does not exist.
    ///
    /// # Errors
    /// Returns an error in the cases of [`directory`](Self::directory).
    pub fn inner_directory(&mut self, outer: DirectoryId, name: &str, title: &str) -> Result<DirectoryId> {
        let known = |&id: &DirectoryId| self.directories[id.0].name == name;
        if let Some(&id) = self.directories[outer.0].inner.iter().find(|id| known(id)) {
            return Ok(id);
        }
        if let Some(key) = self.directories[outer.0].keys.iter().find(|key| &*key.name == name) {
            if key.is_directory() {
                let place = self.old_directory(outer, key).map_err(|error| error.in_file(self.uri()))?;
                return Ok(self.add_directory(outer, place));
            }
            let what = format!("not a directory: an object of class {} of this name", key.class);
            return Err(Error::new(ErrorKind::Invalid { what }).in_file(self.uri()).in_object(name));
        }
        let key = KeyText { class: "TDirectory", name, title };
        let key_len = self.key_length(key, KeyKind::Object)?;
        let number = self.directories.len() as u64;
        let mut place = Place {
            parent: Some(outer),
            uuid: Some(self.settings.uuid.part(number)),
            ..Place::new(key, self.out.position, key_len.into(), &self.settings)
        };
        let header = place.header(self.directories[outer.0].position, self.settings.time);
        let written = self.listed(outer, key, LENGTH, &[&header])?;
        place.position = written.position;
        Ok(self.add_directory(outer, place))
    }

    /// Checks that C++ ROOT can find a new object of a directory by its name. A name must not be empty, `.`,
    /// `..`, or longer than ROOT looks up, nor contain a slash, a semicolon or a control character. Names
    /// that are already in the directory, and those of [copied files](FileSettings::keeps_names), only have
    /// to be non-empty and without a slash.
    ///
    /// # Errors
    /// Returns an error if the name is invalid.
    pub fn check_name(&self, directory: DirectoryId, name: &str) -> Result<()> {
        let is_known = |key: &Listed| &*key.name == name;
        let is_path = name.is_empty() || name.contains('/');
        if !is_path && (self.settings.keeps_names || self.directories[directory.0].keys.iter().any(is_known))
        {
            return Ok(());
        }
        check_name(name).map_err(|error| error.in_file(self.uri()))
    }

    /// Returns the length of the next record's key in bytes.
    ///
    /// # Errors
    /// Returns an error if the texts are too long for a key.
    pub fn key_length(&self, key: KeyText<'_>, kind: KeyKind) -> Result<u16> {
        key.length(kind, self.out.position).map_err(|error| error.in_file(self.uri()))
    }

    /// Appends a record that no directory lists, such as a basket. `object_len` is the length of its payload
    /// before compression; the `stored` pieces follow the key without gaps.
    ///
    /// # Errors
    /// Returns an error if the sink fails, or the record is too long for ROOT.
    pub fn record(
        &mut self,
        key: KeyText<'_>,
        directory: DirectoryId,
        kind: KeyKind,
        object_len: usize,
        stored: &[&[u8]],
    ) -> Result<RecordPlace> {
        let record = self.append_record(Head { key, directory, kind, cycle: 1 }, object_len, stored);
        record.map(|(place, _)| place).map_err(|error| error.in_file(self.uri()).in_object(key.name))
    }

    /// Appends a record that no directory lists, with uncompressed bytes and their 64-bit XXH3. The hash is
    /// that of the written bytes, even if `bytes` is memory that changes meanwhile.
    ///
    /// # Errors
    /// Returns an error in the cases of [`record`](Self::record).
    pub fn hashed_record(
        &mut self,
        key: KeyText<'_>,
        directory: DirectoryId,
        kind: KeyKind,
        bytes: &[u8],
    ) -> Result<RecordPlace> {
        let record = self.append_hashed(Head { key, directory, kind, cycle: 1 }, bytes);
        record.map_err(|error| error.in_file(self.uri()).in_object(key.name))
    }

    /// Appends an object that `body` serialises, compressed by the file's settings, and lists it in a
    /// directory. If the directory has objects of its name, it gets the next cycle.
    ///
    /// # Errors
    /// Returns an error if the sink fails, the object is too long for ROOT, or the name is
    /// [invalid](Self::check_name).
    pub fn object(
        &mut self,
        directory: DirectoryId,
        key: KeyText<'_>,
        body: impl FnOnce(&mut Buffer),
    ) -> Result<RecordPlace> {
        let mut buffer = Buffer::new(self.key_length(key, KeyKind::Object)?);
        body(&mut buffer);
        if buffer.is_too_long() {
            let what = format!("an object of {} bytes: byte counts end at 1 GB", buffer.bytes().len());
            let error = Error::invalid(what);
            return Err(error.in_file(self.uri()).in_object(key.name));
        }
        let stored = compress(self.settings.compression, buffer.bytes(), &mut self.compressor)?;
        self.listed(directory, key, buffer.bytes().len(), &[&stored])
    }

    /// Appends an object given by the values of its members, and adds the descriptions of its classes. These
    /// are ROOT's own ([`described_class`](super::described_class)), or were [described](Self::describe)
    /// before.
    ///
    /// # Errors
    /// Returns an error if a member is missing or does not match its class, and in the cases of
    /// [`object`](Self::object).
    pub fn given(
        &mut self,
        directory: DirectoryId,
        name: &str,
        title: &str,
        object: &GivenObject,
    ) -> Result<RecordPlace> {
        let place = |error: Error| error.in_file(self.out.uri()).in_object(name);
        // This serialisation finds errors before anything is written.
        let layouts = self.classes.layouts().map_err(place)?;
        given::write_object(&mut Buffer::new(0), &layouts, object).map_err(place)?;
        for class in given::classes_of(object) {
            // ROOT's own classes are written in one version, whichever the file describes.
            let is_described = self.classes.add_known(class) || self.classes.classes.contains_key(class);
            // Classes that ROOT streams by their own code need no description.
            if !is_described && native(class) == Native::ByInfo {
                self.describe_class(class)?;
            }
        }
        let key = KeyText { class: &object.class, name, title };
        let mut done = Ok(());
        let written =
            self.object(directory, key, |buffer| done = given::write_object(buffer, &layouts, object));
        done?;
        written
    }

    /// Appends an object that is already serialised and compressed, and lists it in a directory. Its class
    /// tags and references have to be those for a key of [this length](Self::key_length).
    ///
    /// # Errors
    /// Returns an error in the cases of [`object`](Self::object).
    pub fn listed(
        &mut self,
        directory: DirectoryId,
        key: KeyText<'_>,
        object_len: usize,
        stored: &[&[u8]],
    ) -> Result<RecordPlace> {
        self.check_name(directory, key.name)?;
        let cycle = self.directories[directory.0].next_cycle(key.name);
        let begun = cycle.and_then(|cycle| {
            let head = Head { key, directory, kind: KeyKind::Object, cycle };
            self.append_record(head, object_len, stored)
        });
        let (place, image) = begun.map_err(|error| error.in_file(self.uri()).in_object(key.name))?;
        // The length was checked when the key was encoded.
        let record = (place.position, place.length() as u32);
        let image = Bytes::from(image);
        let (class, name) = (key.class.into(), key.name.into());
        let listed = Listed { class, name, cycle: place.cycle, record, image };
        self.directories[directory.0].list_key(listed);
        Ok(place)
    }

    /// Removes an object from the list of its directory, and frees its record, but not the records of a
    /// table's data. Returns whether the object existed.
    pub fn remove(&mut self, directory: DirectoryId, name: &str, cycle: u16) -> bool {
        let keys = &mut self.directories[directory.0].keys;
        let Some(at) = keys.iter().position(|key| &*key.name == name && key.cycle == cycle) else {
            return false;
        };
        let record = keys.remove(at).record;
        self.directories[directory.0].changed = true;
        self.add_free(record);
        true
    }

    /// Returns class, name and cycle of each object of a directory.
    pub fn keys(&self, directory: DirectoryId) -> impl Iterator<Item = (&str, &str, u16)> {
        self.directories[directory.0].keys.iter().map(|key| (&*key.class, &*key.name, key.cycle))
    }

    /// Writes the streamer record and the lists, finishes the sink, and returns the size of the file. A file
    /// that was opened by [`update`](Self::update) and not changed is left as it is.
    ///
    /// # Errors
    /// Returns an error if the sink fails; it is not finished then.
    pub fn finish(mut self) -> Result<u64> {
        if self.old.is_some() && !self.is_changed() {
            return self.out.leave();
        }
        self.write_lists().map_err(|error| error.in_file(self.uri()))?;
        let (end, sink) = self.out.into_sink()?;
        sink.finish()?;
        Ok(end)
    }

    /// Reads a directory of the file before the change.
    fn old_directory(&self, outer: DirectoryId, key: &Listed) -> Result<Place> {
        // All directories of a new file are in `inner` of their parents.
        let old = self.old.as_ref().ok_or_else(|| Error::invalid("a directory of a new file"))?;
        let place = directory_of(old, key.record.0).map_err(|error| error.in_object(&key.name))?;
        Ok(Place { parent: Some(outer), ..place })
    }

    fn add_directory(&mut self, outer: DirectoryId, place: Place) -> DirectoryId {
        let id = DirectoryId(self.directories.len());
        self.directories.push(place);
        self.directories[outer.0].inner.push(id);
        id
    }

    /// Appends a record, and returns the bytes of its key, too.
    pub(super) fn append_record(
        &mut self,
        head: Head<'_>,
        object_len: usize,
        stored: &[&[u8]],
    ) -> Result<(RecordPlace, Vec<u8>)> {
        let stored_len = stored.iter().map(|piece| piece.len() as u64).sum();
        let begun = self.begin_record(head, object_len, stored_len)?;
        let pieces: Vec<_> = stored.iter().map(|piece| IoSlice::new(piece)).collect();
        self.out.append_pieces(&pieces)?;
        Ok(begun)
    }

    fn append_hashed(&mut self, head: Head<'_>, bytes: &[u8]) -> Result<RecordPlace> {
        let mut hash = Xxh3::new();
        let length = bytes.len().saturating_add(size_of::<u64>());
        let (place, _) = self.begin_record(head, length, length as u64)?;
        self.out.append_copy(bytes, |piece| hash.update(piece))?;
        self.out.append(&hash.digest().to_le_bytes())?;
        Ok(place)
    }

    /// Appends the key of a record, and returns its bytes, too.
    fn begin_record(
        &mut self,
        Head { key, directory, kind, cycle }: Head<'_>,
        object_len: usize,
        stored_len: u64,
    ) -> Result<(RecordPlace, Vec<u8>)> {
        let (cycle, processes) = match kind {
            KeyKind::Basket { number, processes, .. } => (number as u16, processes),
            _ => (cycle, 0),
        };
        let object_len = u32::try_from(object_len).ok().filter(|&length| i32::try_from(length).is_ok());
        let Some(object_len) = object_len else {
            return Err(Error::invalid("an object of more than 2 GB"));
        };
        let position = self.out.position;
        let time = self.settings.time.datime();
        let directory = self.directories[directory.0].position | u64::from(processes) << 48;
        let numbers = KeyNumbers { stored_len, object_len, time, cycle, position, directory };
        let image = encode(&key, kind, numbers)?.into_bytes();
        self.out.append(&image)?;
        let key_len = image.len() as u16;
        Ok((RecordPlace { position, key_len, stored_len, cycle }, image))
    }
}

/// Contents of a record's key, except its position and lengths. The cycle is ignored for baskets.
#[derive(Clone, Copy)]
pub(super) struct Head<'a> {
    pub(super) key: KeyText<'a>,
    pub(super) directory: DirectoryId,
    pub(super) kind: KeyKind,
    pub(super) cycle: u16,
}

forthwith_io::impl_debug!(FileWriter, |it| "uri": it.uri(), "position": it.out.position);

/// Offset of the first record. The header fits before it with 32-bit and 64-bit pointers.
const BEGIN: u64 = 100;
