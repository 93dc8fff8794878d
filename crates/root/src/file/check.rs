//! Checks that a file is consistent and can be read.

use std::collections::{BTreeMap, BTreeSet};

use forthwith_plan::{Error, ErrorKind, Finding, Result, Severity};

use super::{DirectoryRecord, Record, RootFile, decompress_growing, known::is_roots_own};
use crate::object::{Object, Objects};
use crate::record::{Cursor, Key};

/// Returns a name from a file for a message. Runs of zero bytes, with which some writers fill freed records,
/// and all but the first letters are replaced by a mark.
fn shortened(name: &str) -> String {
    let mut short = String::new();
    for letter in name.chars() {
        let letter = if letter == '\0' { MARK } else { letter };
        if letter != MARK || !short.ends_with(MARK) {
            short.push(letter);
        }
    }
    if let Some((end, _)) = short.char_indices().nth(MAX_LETTERS) {
        short.truncate(end);
        short.push(MARK);
    }
    short
}

/// Result of a check: statistics and findings.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Checked {
    /// Number of records.
    pub records: usize,
    /// Number of baskets among them.
    pub baskets: usize,
    /// Number of bytes that were decompressed.
    pub bytes: u64,
    /// Number of objects in directories.
    pub objects: usize,
    /// Number of branches whose baskets were compared with the records.
    pub branches: usize,
    /// Findings, in the order of the parts.
    pub findings: Vec<Finding>,
    left_out: usize,
}

impl Checked {
    /// Returns the highest severity of the findings, or `None` if there are none.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Returns the number of findings that are not listed.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }
}

/// The part of a check for one kind of table, whose data are in further records.
pub trait TableCheck {
    /// Returns whether objects of a class are such tables.
    fn is_table(&self, class: &str) -> bool;

    /// Compares a table with the records of its file, and adds its findings to `check`.
    fn check(&mut self, path: &str, key: &Key, objects: Objects, check: &mut Check<'_>);
}

/// State of a check: the records of the file, and its findings.
#[derive(Debug)]
pub struct Check<'f> {
    file: &'f RootFile,
    records: Walked,
    checked: Checked,
    /// Objects of tables that no directory lists.
    hidden: BTreeSet<String>,
}

impl RootFile {
    /// Reads the whole file and checks its consistency: header, records with their checksums, lists of keys,
    /// free segments, streamer infos, the byte counts in every object and, by `tables`, the records of
    /// tables.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read. Faults of the file are findings.
    pub fn check(&self, tables: &mut [&mut dyn TableCheck]) -> Result<Checked> {
        let mut check = Check {
            file: self,
            records: Walked::default(),
            checked: Checked::default(),
            hidden: BTreeSet::new(),
        };
        check.check_all(tables)?;
        Ok(check.checked)
    }
}

impl<'f> Check<'f> {
    /// Returns the file.
    #[must_use]
    pub const fn file(&self) -> &'f RootFile {
        self.file
    }

    /// Adds an object of a table, with its cycle after a semicolon, that no directory lists.
    pub fn hides(&mut self, object: String) {
        self.hidden.insert(object);
    }

    /// Adds a finding for a part of the file.
    pub fn find_in(
        &mut self,
        severity: Severity,
        part: &'static str,
        object: Option<&str>,
        byte: Option<u64>,
        what: impl Into<String>,
    ) {
        if self.checked.findings.len() >= MAX_FINDINGS {
            self.checked.left_out += 1;
            return;
        }
        let object = object.map(shortened);
        self.checked.findings.push(Finding { severity, part, object, byte, what: what.into() });
    }

    /// Adds a finding for an error of reading an object.
    pub fn fault(&mut self, part: &'static str, object: Option<&str>, byte: Option<u64>, error: &Error) {
        self.find_in(Self::severity_of(error), part, object, byte, at_object(error));
    }

    /// Returns the severity of an error: missing streamer info is not damage.
    #[must_use]
    pub const fn severity_of(error: &Error) -> Severity {
        match error.kind {
            ErrorKind::Unsupported { .. } => Severity::Remark,
            _ => Severity::Damage,
        }
    }

    /// Counts a branch whose baskets are compared with the records.
    pub fn add_branch(&mut self) {
        self.checked.branches += 1;
    }

    /// Returns the key of the record at a byte, or `None` if there is no record.
    pub fn record_at(&mut self, at: u64) -> Option<Key> {
        if self.records.is_cut_short
            && !self.records.keys.contains_key(&at)
            && let Some(key) = self.key_at(at)
            && let Ok(length) = u64::try_from(key.nbytes)
            && length >= u64::from(key.keylen)
        {
            self.check_record(key, at, length);
        }
        self.records.keys.get(&at).cloned()
    }

    /// Marks a record as checked by a table, which decompressed this number of bytes, so that it is not
    /// checked again.
    pub fn looked_at(&mut self, at: u64, decompressed: Option<u64>) {
        if self.records.unseen.remove(&at).is_some() {
            self.checked.bytes += decompressed.unwrap_or(0);
        }
    }

    fn find(&mut self, severity: Severity, part: &'static str, byte: Option<u64>, what: impl Into<String>) {
        self.find_in(severity, part, None, byte, what);
    }

    /// Adds a finding for each number that differs between two parts of the file.
    fn compare<const N: usize>(
        &mut self,
        severity: Severity,
        (part, object, byte): (&'static str, Option<&str>, u64),
        accounts: [(&str, [(&str, u64); 2]); N],
    ) {
        for (what, [(one, of_one), (other, of_other)]) in accounts {
            if of_one != of_other {
                let what = format!("{what}: the {one} says {of_one}, the {other} {of_other}");
                self.find_in(severity, part, object, Some(byte), what);
            }
        }
    }

    /// Checks the header's position and length of a list, which is found without them.
    fn compare_list(&mut self, part: &'static str, (at, nbytes): (u64, u32), list: &Key) {
        let accounts = [
            ("place of the list", [("header", at), ("record", list.seek)]),
            ("length of the list", [("header", nbytes.into()), ("record", length_of(list))]),
        ];
        self.compare(Severity::Remark, (part, None, at), accounts);
    }

    fn check_all(&mut self, tables: &mut [&mut dyn TableCheck]) -> Result<()> {
        let size = self.file.source().size()?;
        let header = self.file.header();
        if let Some(more @ 1..) = size.checked_sub(header.end) {
            let what = format!("{more} bytes follow behind the end that the header gives");
            self.find(Severity::Remark, "header", Some(header.end), what);
        } else if let Some(missing @ 1..) = header.end.checked_sub(size) {
            let what = format!("the file ends {missing} bytes before the end that the header gives");
            self.find(Severity::Damage, "header", Some(size), what);
        }
        self.check_top();
        self.check_records()?;
        let listed = match self.file.keys_recursive() {
            Ok(listed) => listed,
            Err(error) => {
                self.find(Severity::Damage, "keys", error.place.byte, error.kind.to_string());
                Vec::new()
            }
        };
        self.checked.objects = listed.len();
        for found in &listed {
            self.check_key(&found.path, &found.key);
            if found.key.is_directory() {
                self.check_directory(&found.path, &found.key);
            }
        }
        self.check_free();
        self.check_streamers();
        for found in &listed {
            if !found.key.is_directory() {
                self.check_object(&found.path, &found.key, tables);
            }
        }
        // By now, tables have added their hidden objects.
        self.check_unlisted();
        // Baskets of no readable tree.
        for (at, length) in std::mem::take(&mut self.records.unseen) {
            if let Some(key) = self.records.keys.get(&at).cloned() {
                self.check_payload(&key, at, length);
            }
        }
        Ok(())
    }

    /// Checks that the file's own record is at the position in the header. All else is found from there.
    fn check_top(&mut self) {
        let (header, top) = (self.file.header(), self.file.top());
        let (begin, record) = (header.begin, top.record());
        if record.seek_directory != begin {
            let what = format!("there is no record of the file at byte {begin}: nothing in it can be found");
            self.find(Severity::Damage, "header", Some(begin), what);
            return;
        }
        let names = [("header", header.nbytes_name.into()), ("directory", record.nbytes_name.into())];
        self.compare(Severity::Remark, ("header", None, begin), [("length of key and name", names)]);
        self.check_directory_record("", record, 0);
    }

    fn check_directory(&mut self, path: &str, key: &Key) {
        let Ok(contents) = self.file.load_directory(key) else { return };
        let record = &contents.record;
        if record.seek_directory != key.seek {
            // ROOT reads the directory again from that position.
            let what = format!("the directory says that it is at byte {}", record.seek_directory);
            self.find_in(Severity::Damage, "keys", Some(path), Some(key.seek), what);
        }
        self.check_directory_record(path, record, key.seek_directory);
    }

    /// Checks a directory's parent and the position of its list of keys, which are found without its record.
    fn check_directory_record(&mut self, path: &str, record: &DirectoryRecord, mother: u64) {
        let at = record.seek_directory;
        let object = Some(path).filter(|path| !path.is_empty());
        let mothers = [("directory", record.seek_parent), ("key", mother)];
        self.compare(Severity::Remark, ("keys", object, at), [("place of its mother", mothers)]);
        let seek = record.seek_keys;
        if seek == 0 || record.nbytes_keys == 0 {
            return;
        }
        let Some(list) = self.key_at(seek) else { return };
        let lengths = [("directory", record.nbytes_keys.into()), ("record", length_of(&list))];
        let accounts = [
            ("place of the list of keys", [("directory", seek), ("record", list.seek)]),
            ("length of the list of keys", lengths),
            ("place of the directory", [("directory", at), ("list of keys", list.seek_directory)]),
        ];
        self.compare(Severity::Remark, ("keys", object, seek), accounts);
    }

    fn check_records(&mut self) -> Result<()> {
        for record in self.file.records()? {
            // There may be unused bytes between records. Objects after them are looked up individually.
            let record = match record {
                // Lists of keys and of free segments are found through the header and directories.
                Ok(Record { at, key: Some(key), .. }) if key.seek != at && &*key.class_name != "TFile" => {
                    let why = format!("the key says that it stands at byte {}", key.seek);
                    Err((Some(key.label()), Some(at), why))
                }
                record => record.map_err(|error| (None, error.place.byte, error.kind.to_string())),
            };
            let record = match record {
                Ok(record) => record,
                Err((object, byte, why)) => {
                    let what =
                        format!("no record begins here, and records behind it are not looked for: {why}");
                    self.find_in(Severity::Remark, "records", object.as_deref(), byte, what);
                    self.records.is_cut_short = true;
                    break;
                }
            };
            let Some(key) = record.key else {
                self.checked.records += 1;
                self.records.gaps.push((record.at, record.at + record.length - 1));
                continue;
            };
            self.check_record(key, record.at, record.length);
        }
        Ok(())
    }

    fn check_record(&mut self, key: Key, at: u64, length: u64) {
        self.checked.records += 1;
        if &*key.class_name == "TBasket" {
            self.checked.baskets += 1;
            // The tree checks its basket.
            self.records.unseen.insert(at, length);
        } else {
            self.check_payload(&key, at, length);
        }
        self.records.keys.insert(at, key);
    }

    fn check_payload(&mut self, key: &Key, at: u64, length: u64) {
        match self.decompressed(key, at, length) {
            Ok(length) => self.checked.bytes += length,
            Err(error) => {
                // As above.
                let is_list = &*key.class_name == "TFile" && key.seek != at;
                let severity = if is_list { Severity::Remark } else { Severity::Damage };
                self.find_in(severity, "records", Some(&key.label()), Some(at), error.kind.to_string());
            }
        }
    }

    fn key_at(&self, at: u64) -> Option<Key> {
        let head = self.file.source().read_one(at..at.checked_add(Key::FIXED)?).ok()?;
        let length = u16::from_be_bytes([*head.get(14)?, *head.get(15)?]);
        let bytes = self.file.source().read_one(at..at.checked_add(u64::from(length))?).ok()?;
        Key::parse(&mut Cursor::new(&bytes)).ok()
    }

    /// Decompresses a record, which verifies its checksums. Returns the number of bytes.
    fn decompressed(&self, key: &Key, at: u64, length: u64) -> Result<u64> {
        let stored =
            Key { seek: at, nbytes: i32::try_from(length).unwrap_or(i32::MAX), ..key.clone() }.stored()?;
        // Only the page lists of an RNTuple tell how its records are compressed.
        if stored.end - stored.start >= u64::from(key.objlen) || &*key.class_name == "RBlob" {
            return Ok(stored.end - stored.start);
        }
        let bytes = self.file.source().read_one(stored)?;
        decompress_growing(&bytes, key.objlen as usize)?;
        Ok(u64::from(key.objlen))
    }

    fn check_key(&mut self, path: &str, key: &Key) {
        let label = format!("{path};{}", key.cycle);
        let Some(record) = self.record_at(key.seek) else {
            let what = "a directory lists it where there is no record";
            self.find_in(Severity::Damage, "keys", Some(&label), Some(key.seek), what);
            return;
        };
        let both = |of: fn(&Key) -> u64| [("directory", of(key)), ("record", of(&record))];
        let accounts = [
            ("place", both(|key| key.seek)),
            ("length", both(length_of)),
            ("length of the key", both(|key| key.keylen.into())),
            ("length of the object", both(|key| key.objlen.into())),
            ("cycle", both(|key| key.cycle.into())),
        ];
        self.compare(Severity::Damage, ("keys", Some(&label), key.seek), accounts);
        if key.is_renamed(&record) {
            let what = format!("it was renamed: the record says that it is {}", shortened(&record.name));
            self.find_in(Severity::Remark, "keys", Some(&label), Some(key.seek), what);
        } else if key.name != record.name || !key.is_same_class(&record) {
            let what = format!(
                "the record says that it is {} of class {}",
                shortened(&record.name),
                shortened(&record.class_name)
            );
            self.find_in(Severity::Damage, "keys", Some(&label), Some(key.seek), what);
        }
    }

    /// Adds findings for objects that only a recovery finds. In a file that was not closed, these were
    /// written last.
    fn check_unlisted(&mut self) {
        let Ok((_, found)) = RootFile::recover(self.file.source().clone()) else { return };
        let unlisted: Vec<String> =
            found.unlisted.into_iter().filter(|object| !self.hidden.contains(object)).collect();
        if unlisted.is_empty() {
            return;
        }
        let is_closed = self.file.header().free().is_some();
        let severity = if is_closed { Severity::Remark } else { Severity::Damage };
        let names = unlisted[..unlisted.len().min(10)].join(", ");
        let what =
            format!("{} objects are in no directory, and a recovery finds them: {names}", unlisted.len());
        self.find(severity, "keys", None, what);
    }

    fn check_free(&mut self) {
        let part = "free segments";
        let segments = match self.file.free_segments() {
            Ok(segments) => segments,
            Err(error) => {
                self.find(Severity::Remark, part, error.place.byte, error.kind.to_string());
                return;
            }
        };
        let header = self.file.header();
        if let Some(key) = self.key_at(header.seek_free).filter(|_| !segments.is_empty()) {
            self.compare_list(part, (header.seek_free, header.nbytes_free), &key);
            let numbers = [("header", header.nfree.into()), ("list", segments.len() as u64)];
            let accounts = [("number of segments", numbers)];
            self.compare(Severity::Remark, (part, None, header.seek_free), accounts);
        }
        let end = header.end;
        match segments.last() {
            Some(&(first, _)) if first == end => {}
            Some(&(first, _)) => {
                let what = format!("the last begins at byte {first}, and not where the file ends, at {end}");
                self.find(Severity::Remark, part, None, what);
            }
            None => self.find(Severity::Remark, part, None, "there is no list: the file was not closed"),
        }
        if segments.windows(2).any(|pair| pair[0].1 >= pair[1].0) || segments.iter().any(|(a, b)| a > b) {
            self.find(Severity::Remark, part, None, "they overlap");
        }
        for (first, last) in std::mem::take(&mut self.records.gaps) {
            if !segments.iter().any(|&(begin, end)| begin <= first && last <= end) {
                let what = format!("the deleted record up to byte {last} is not listed");
                self.find(Severity::Remark, part, Some(first), what);
            }
        }
    }

    fn check_streamers(&mut self) {
        let infos = self.file.streamers().and_then(|streamers| streamers.infos());
        if let Err(error) = infos {
            self.find(Severity::Damage, "streamer infos", error.place.byte, error.kind.to_string());
        }
        let Some((at, nbytes)) = self.file.header().info() else { return };
        let Some(key) = self.key_at(at) else { return };
        if &*key.class_name != "TList" {
            // ROOT creates an object of that class, and finds no infos in it.
            let what = format!(
                "their record says that it is of class {}, and not a TList",
                shortened(&key.class_name)
            );
            self.find(Severity::Damage, "streamer infos", Some(at), what);
        }
        self.compare_list("streamer infos", (at, nbytes), &key);
    }

    fn check_object(&mut self, path: &str, key: &Key, tables: &mut [&mut dyn TableCheck]) {
        let label = format!("{path};{}", key.cycle);
        let payload = match self.file.payload(key) {
            Ok(payload) => payload,
            Err(error) => {
                self.fault("objects", Some(&label), Some(key.seek), &error);
                return;
            }
        };
        let read = self
            .file
            .walker()
            .and_then(|walker| walker.read(payload, u32::from(key.keylen), &key.class_name));
        let objects = match read {
            Ok(objects) => objects,
            Err(error) => {
                let (severity, what) = misread(&key.class_name, &error);
                self.find_in(severity, "objects", Some(&label), Some(key.seek), what);
                return;
            }
        };
        for (object, error) in objects.faults() {
            let (severity, what) = misread(object.class(), error);
            let what = format!("in {}: {what}", object.class());
            self.find_in(severity, "objects", Some(&label), Some(key.seek), what);
        }
        for left in objects.leftovers() {
            let what = format!("{} bytes in {} behind what its streamer info says", left.length, left.class);
            self.find_in(Severity::Remark, "objects", Some(&label), Some(key.seek), what);
        }
        let unknown: BTreeSet<(&str, i16)> = objects
            .iter()
            .filter(|object| object.is_opaque() && object.fault().is_none() && !is_plain(object))
            .map(|object| (object.class(), object.version()))
            .collect();
        for (class, version) in unknown {
            let what = format!("no streamer info for class {class} version {version}");
            self.find_in(Severity::Remark, "streamer infos", Some(&label), None, what);
        }
        if let Some(table) = tables.iter_mut().find(|table| table.is_table(&key.class_name)) {
            table.check(path, key, objects, self);
        }
    }
}

/// Records by position, and deleted ones.
#[derive(Debug, Default)]
struct Walked {
    keys: BTreeMap<u64, Key>,
    gaps: Vec<(u64, u64)>,
    /// Whether the walk ended before the end of the file.
    is_cut_short: bool,
    /// Baskets that no tree has checked, with their lengths.
    unseen: BTreeMap<u64, u64>,
}

/// Returns the length of a record in its key.
fn length_of(key: &Key) -> u64 {
    key.nbytes.unsigned_abs().into()
}

/// Returns the description of an error with its position in the decompressed object.
fn at_object(error: &Error) -> String {
    match error.place.byte {
        Some(byte) => format!("{}, at byte {byte} of the object", error.kind),
        None => error.kind.to_string(),
    }
}

/// Returns the finding for an object whose bytes are intact, but do not match its streamer info.
fn misread(class: &str, error: &Error) -> (Severity, String) {
    let (severity, what) = (Check::severity_of(error), at_object(error));
    if severity < Severity::Damage || is_roots_own(class) {
        return (severity, what);
    }
    let what = format!("not described: {class} has a streamer of its own, or is damaged ({what})");
    (Severity::Remark, what)
}

/// Returns whether the members of an object cannot be checked.
fn is_plain(object: &Object<'_>) -> bool {
    object.body().is_empty() || matches!(object.class(), "TBasket" | "TQObject")
}

/// Maximum number of letters of a name in a finding.
const MAX_LETTERS: usize = 200;
/// Mark in place of omitted letters.
const MARK: char = '…';
/// Maximum number of listed findings; more are only counted.
const MAX_FINDINGS: usize = 1000;

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn names_are_short_enough_to_be_read() {
        assert_eq!(shortened("dir/tree;2"), "dir/tree;2");
        assert_eq!(shortened(&format!("{};1", "\0".repeat(500))), "…;1");
        let long = shortened(&"é".repeat(10_000));
        assert_eq!((long.chars().count(), long.ends_with("é…")), (201, true));
    }
}
