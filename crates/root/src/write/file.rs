//! The file being written: header, records, lists, and the order in which they reach the disk.

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

/// A ROOT file being written. Nothing of it counts before it is [finished](Self::finish); a writer that is dropped leaves
/// what the sink leaves.
pub struct FileWriter {
    pub(super) out: Output,
    pub(super) settings: FileSettings,
    pub(super) compressor: Compressor,
    pub(super) directories: Vec<Place>,
    pub(super) classes: Described,
    pub(super) header: Header,
    /// Free parts of the file, by first and last byte, in order and apart.
    pub(super) free: Vec<(u64, u64)>,
    /// Those of them that are free since this writer began.
    pub(super) freed: Vec<(u64, u64)>,
    /// The file as it was, if it is not new.
    pub(super) old: Option<RootFile>,
}

impl FileWriter {
    /// Begins a file.
    ///
    /// # Errors
    /// The sink cannot be written to, or cannot go back to what was written.
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
        // A file that is cut off has no more than its records: readers that walk them find where they begin.
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

    /// Begins to change a file: what is added is listed beside what is there. The sink appends to that file, from where the file says that
    /// it ends ([`UpdateSink::begin_at`](forthwith_io::UpdateSink::begin_at)).
    ///
    /// Nothing that the file as it is refers to is written over. When the writer is finished, what is new is given to the disk, then the
    /// header says where the file ends, and then each directory what it lists: a process that is killed meanwhile leaves a file that can
    /// be read, with the directories that were finished as they are to be and the others as they were.
    ///
    /// # Errors
    /// The file's lists cannot be read, or it is one that cannot be changed in this way: of a very old ROOT, or not closed.
    pub fn update(sink: Box<dyn Sink>, file: &RootFile, settings: FileSettings) -> Result<Self> {
        let found = Found::of(file).map_err(|error| error.in_file(file.uri()))?;
        Ok(Self::of(Output::new(sink, file.header().end), settings, found, Some(file.clone())))
    }

    /// How objects are compressed unless they say otherwise.
    #[must_use]
    pub fn compression(&self) -> Compression {
        self.settings.compression
    }

    /// When the file is written.
    #[must_use]
    pub fn time(&self) -> Moment {
        self.settings.time
    }

    /// The name of the file in errors.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.out.uri()
    }

    /// Whether the thread that began the writing has to go on with it.
    #[must_use]
    pub fn needs_caller(&self) -> bool {
        self.out.needs_caller()
    }

    /// Looks for reasons to stop, as [`Sink::listen`](forthwith_io::Sink::listen) does.
    ///
    /// # Errors
    /// The writing is to end.
    pub fn listen(&mut self) -> Result<()> {
        self.out.listen()
    }

    /// Where the next record will begin.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.out.position
    }

    /// The directory at a path, with slashes between names; it and those before it are made if they are not there. An empty path is the top
    /// directory.
    ///
    /// # Errors
    /// An object of that name is no directory, or as [`record`](Self::record).
    pub fn directory(&mut self, path: &str) -> Result<DirectoryId> {
        let names = path.split('/').filter(|name| !name.is_empty());
        let mut at = DirectoryId::TOP;
        for name in names {
            at = self.inner_directory(at, name, "")?;
        }
        Ok(at)
    }

    /// The directory at a path, if it is there.
    ///
    /// # Errors
    /// One on the way cannot be read.
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

    /// The directory of this name in another one, made with this title if it is not there.
    ///
    /// # Errors
    /// As [`directory`](Self::directory).
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

    /// Refuses a name by which C++ ROOT would not find a new object of this directory: one that is empty, is `.` or `..`, is longer
    /// than it looks for, or has a slash, a semicolon or a control character in it. Names that are in the directory already,
    /// and those of files that are copied ([`FileSettings::keeps_names`]), are taken as they are.
    ///
    /// # Errors
    /// Such a name.
    pub fn check_name(&self, directory: DirectoryId, name: &str) -> Result<()> {
        let is_known = |key: &Listed| &*key.name == name;
        let is_path = name.is_empty() || name.contains('/');
        if !is_path && (self.settings.keeps_names || self.directories[directory.0].keys.iter().any(is_known))
        {
            return Ok(());
        }
        check_name(name).map_err(|error| error.in_file(self.uri()))
    }

    /// The length that the key of the next record has.
    ///
    /// # Errors
    /// The texts are longer than a key can be.
    pub fn key_length(&self, key: KeyText<'_>, kind: KeyKind) -> Result<u16> {
        key.length(kind, self.out.position).map_err(|error| error.in_file(self.uri()))
    }

    /// Appends a record that no directory lists: a basket, or a part of a table without a name. `object_len` is the length of its payload
    /// before it was compressed; the pieces of `stored` come one after the other behind the key.
    ///
    /// # Errors
    /// The sink refuses, or the record is longer than ROOT's can be.
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

    /// As [`record`](Self::record), of bytes and their 64-bit XXH3. What is hashed is what is written, even if others
    /// change the bytes meanwhile.
    ///
    /// # Errors
    /// As [`record`](Self::record).
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

    /// Appends an object that `body` makes, compressed as the file's settings say, and lists it in a directory: under a new cycle if there
    /// is one of its name.
    ///
    /// # Errors
    /// The sink refuses, or the object is longer than ROOT's can be.
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

    /// Appends an object that is given as the values of its members, and describes its classes. There can be those of ROOT's own
    /// that [`described_class`](super::described_class) has, and those that the file [describes](Self::describe).
    ///
    /// # Errors
    /// A member is missing or not what its class says, and as [`object`](Self::object).
    pub fn given(
        &mut self,
        directory: DirectoryId,
        name: &str,
        title: &str,
        object: &GivenObject,
    ) -> Result<RecordPlace> {
        let place = |error: Error| error.in_file(self.out.uri()).in_object(name);
        // What cannot be written is found before anything is.
        let layouts = self.classes.layouts().map_err(place)?;
        given::write_object(&mut Buffer::new(0), &layouts, object).map_err(place)?;
        for class in given::classes_of(object) {
            // ROOT's own are written in ROOT's version, whichever one the file has.
            let is_described = self.classes.add_known(class) || self.classes.classes.contains_key(class);
            // Of a class that code of its own streams, files need no description.
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

    /// As [`object`](Self::object), with bytes that are serialised and compressed already. Where they hold class tags or
    /// references, those were made for a key of this [length](Self::key_length).
    ///
    /// # Errors
    /// As [`object`](Self::object).
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
        // The length of a record has been compared with what keys have room for.
        let record = (place.position, place.length() as u32);
        let image = Bytes::from(image);
        let (class, name) = (key.class.into(), key.name.into());
        let listed = Listed { class, name, cycle: place.cycle, record, image };
        self.directories[directory.0].list_key(listed);
        Ok(place)
    }

    /// Takes an object off the list of its directory. Its bytes are free space afterwards, those of a table's data are not. Returns
    /// whether there was one.
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

    /// The objects of a directory: class, name and cycle.
    pub fn keys(&self, directory: DirectoryId) -> impl Iterator<Item = (&str, &str, u16)> {
        self.directories[directory.0].keys.iter().map(|key| (&*key.class, &*key.name, key.cycle))
    }

    /// Writes what comes last and finishes the sink.
    ///
    /// # Errors
    /// The sink refuses; it is not finished then.
    pub fn finish(mut self) -> Result<u64> {
        if self.old.is_some() && !self.is_changed() {
            return self.out.leave();
        }
        self.write_lists().map_err(|error| error.in_file(self.uri()))?;
        let (end, sink) = self.out.into_sink()?;
        sink.finish()?;
        Ok(end)
    }

    /// A directory of the file as it was.
    fn old_directory(&self, outer: DirectoryId, key: &Listed) -> Result<Place> {
        // Every directory of a new file was made here.
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

    /// Appends a record, and returns the bytes of its key as well.
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

    /// Appends the key of a record, and returns its bytes as well.
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

/// What the key of a record says beside its place and its lengths. The cycle is that of an object.
#[derive(Clone, Copy)]
pub(super) struct Head<'a> {
    pub(super) key: KeyText<'a>,
    pub(super) directory: DirectoryId,
    pub(super) kind: KeyKind,
    pub(super) cycle: u16,
}

forthwith_io::impl_debug!(FileWriter, |it| "uri": it.uri(), "position": it.out.position);

/// Where the first record begins. The header has room before it in either form.
const BEGIN: u64 = 100;
