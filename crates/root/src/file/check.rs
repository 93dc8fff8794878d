//! Whether a file is whole: what its parts say of each other, and what can be read.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use forthwith_io::Decompressor;
use forthwith_plan::{Error, ErrorKind, Finding, Result, Scratch, Severity};

use super::{DirectoryRecord, Key, RootFile, decompress_record, known::is_roots_own};
use crate::object::{Cursor, Object};
use crate::tree::{BasketBytes, Inspected, Tree};

/// A name from a file, for a message: a run of zero bytes, with which some writers fill records that they freed, and all
/// behind the first letters become a mark.
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

/// What a check looked at and found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Checked {
    /// Records of the file.
    pub records: usize,
    /// Of them, baskets.
    pub baskets: usize,
    /// Bytes that were decompressed.
    pub bytes: u64,
    /// Objects that directories list.
    pub objects: usize,
    /// Branches whose baskets were compared with the records.
    pub branches: usize,
    /// What was found, in the order of the parts.
    pub findings: Vec<Finding>,
    left_out: usize,
}

impl Checked {
    /// The worst of what was found.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// How many more findings there were than are listed.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    fn find(&mut self, severity: Severity, part: &'static str, byte: Option<u64>, what: impl Into<String>) {
        self.find_in(severity, part, None, byte, what);
    }

    /// Notes something that keeps nothing from being read.
    fn remark(&mut self, part: &'static str, object: Option<&str>, byte: u64, what: String) {
        self.find_in(Severity::Remark, part, object, Some(byte), what);
    }

    fn find_in(
        &mut self,
        severity: Severity,
        part: &'static str,
        object: Option<&str>,
        byte: Option<u64>,
        what: impl Into<String>,
    ) {
        if self.findings.len() >= MAX_FINDINGS {
            self.left_out += 1;
            return;
        }
        let object = object.map(shortened);
        self.findings.push(Finding { severity, part, object, byte, what: what.into() });
    }
}

impl RootFile {
    /// Reads the whole file and compares what its parts say of each other: header, records with their checksums, lists of keys,
    /// free segments, streamer infos, the byte counts in every object, and the baskets that trees name.
    ///
    /// # Errors
    /// The source cannot be read. Whatever is wrong with the file is a finding.
    pub fn check(&self) -> Result<Checked> {
        let mut checked = Checked::default();
        let size = self.source().size()?;
        let header = self.header();
        match header.end.cmp(&size) {
            std::cmp::Ordering::Less => checked.find(
                Severity::Remark,
                "header",
                Some(header.end),
                format!("{} bytes follow behind the end that the header gives", size - header.end),
            ),
            std::cmp::Ordering::Greater => checked.find(
                Severity::Damage,
                "header",
                Some(size),
                format!("the file ends {} bytes before the end that the header gives", header.end - size),
            ),
            std::cmp::Ordering::Equal => {}
        }
        self.check_top(&mut checked);
        let mut records = self.check_records(&mut checked)?;
        let listed = match self.keys_recursive() {
            Ok(listed) => listed,
            Err(error) => {
                checked.find(Severity::Damage, "keys", error.place.byte, error.kind.to_string());
                Vec::new()
            }
        };
        checked.objects = listed.len();
        self.check_unlisted(&mut checked);
        for found in &listed {
            self.check_key(&found.path, &found.key, &mut records, &mut checked);
            if found.key.is_directory() {
                self.check_directory(&found.path, &found.key, &mut checked);
            }
        }
        self.check_free(&records.gaps, &mut checked);
        self.check_streamers(&mut checked);
        for found in &listed {
            if !found.key.is_directory() {
                self.check_object(&found.path, &found.key, &mut records, &mut checked);
            }
        }
        // No tree has them, or none that can be read.
        for (at, length) in std::mem::take(&mut records.unseen) {
            if let Some(key) = records.keys.get(&at) {
                self.check_payload(key, at, length, &mut checked);
            }
        }
        Ok(checked)
    }

    /// Whether the file's own record is where the header says. All else is found from there.
    fn check_top(&self, checked: &mut Checked) {
        let (header, top) = (self.header(), self.top());
        let (begin, record) = (header.begin, top.record());
        if record.seek_directory != begin {
            let what = format!("there is no record of the file at byte {begin}: nothing in it can be found");
            checked.find(Severity::Damage, "header", Some(begin), what);
            return;
        }
        let name = u64::from(header.nbytes_name);
        differ("length of key and name", "header", name, "directory", u64::from(record.nbytes_name))
            .into_iter()
            .for_each(|what| checked.remark("header", None, begin, what));
        self.check_directory_record("", record, 0, checked);
    }

    fn check_directory(&self, path: &str, key: &Key, checked: &mut Checked) {
        let Ok(contents) = self.load_directories(&[key]) else { return };
        let Some(record) = contents.first().map(|contents| &contents.record) else { return };
        if record.seek_directory != key.seek {
            // ROOT reads it once more from there.
            let what = format!("the directory says that it is at byte {}", record.seek_directory);
            checked.find_in(Severity::Damage, "keys", Some(path), Some(key.seek), what);
        }
        self.check_directory_record(path, record, key.seek_directory, checked);
    }

    /// Whether a directory's mother and its list of keys are what it says. They are found without.
    fn check_directory_record(
        &self,
        path: &str,
        record: &DirectoryRecord,
        mother: u64,
        checked: &mut Checked,
    ) {
        let at = record.seek_directory;
        let object = Some(path).filter(|path| !path.is_empty());
        differ("place of its mother", "directory", record.seek_parent, "key", mother)
            .into_iter()
            .for_each(|what| checked.remark("keys", object, at, what));
        let seek = record.seek_keys;
        if seek == 0 || record.nbytes_keys == 0 {
            return;
        }
        let Some(list) = self.key_at(seek) else { return };
        let differences = [
            differ("place of the list of keys", "directory", seek, "record", list.seek),
            differ(
                "length of the list of keys",
                "directory",
                record.nbytes_keys.into(),
                "record",
                length_of(&list),
            ),
            differ("place of the directory", "directory", at, "list of keys", list.seek_directory),
        ];
        for what in differences.into_iter().flatten() {
            checked.remark("keys", object, seek, what);
        }
    }

    fn check_records(&self, checked: &mut Checked) -> Result<Walked> {
        let mut walked = Walked::default();
        for record in self.records()? {
            // The writer may have left something between records. What is listed behind is looked up by itself.
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let what = format!("no record here, so that none behind it is found: {}", error.kind);
                    checked.find(Severity::Remark, "records", error.place.byte, what);
                    walked.is_cut_short = true;
                    break;
                }
            };
            if let Some(key) = record.key.as_ref().filter(|key| key.seek != record.at)
                // Lists of keys and of free segments are found by other means.
                && &*key.class_name != "TFile"
            {
                let what = format!(
                    "no record here, so that none behind it is found: the key says that it stands at byte {}",
                    key.seek
                );
                checked.find_in(Severity::Remark, "records", Some(&key.label()), Some(record.at), what);
                walked.is_cut_short = true;
                break;
            }
            let Some(key) = record.key else {
                checked.records += 1;
                walked.gaps.push((record.at, record.at + record.length - 1));
                continue;
            };
            self.check_record(key, record.at, record.length, &mut walked, checked);
        }
        Ok(walked)
    }

    fn check_record(&self, key: Key, at: u64, length: u64, walked: &mut Walked, checked: &mut Checked) {
        checked.records += 1;
        if &*key.class_name == "TBasket" {
            checked.baskets += 1;
        }
        if &*key.class_name == "TBasket" {
            // Its tree knows more of it.
            walked.unseen.insert(at, length);
        } else {
            self.check_payload(&key, at, length, checked);
        }
        walked.keys.insert(at, key);
    }

    fn check_payload(&self, key: &Key, at: u64, length: u64, checked: &mut Checked) {
        match self.decompressed(key, at, length) {
            Ok(length) => checked.bytes += length,
            Err(error) => {
                // As above.
                let is_list = &*key.class_name == "TFile" && key.seek != at;
                let severity = if is_list { Severity::Remark } else { Severity::Damage };
                checked.find_in(severity, "records", Some(&key.label()), Some(at), error.kind.to_string());
            }
        }
    }

    /// The key of the record that something says is here.
    fn record_key<'a>(&self, at: u64, walked: &'a mut Walked, checked: &mut Checked) -> Option<&'a Key> {
        if walked.is_cut_short
            && !walked.keys.contains_key(&at)
            && let Some(key) = self.key_at(at)
            && let Ok(length) = u64::try_from(key.nbytes)
            && length >= u64::from(key.keylen)
        {
            self.check_record(key, at, length, walked, checked);
        }
        walked.keys.get(&at)
    }

    fn key_at(&self, at: u64) -> Option<Key> {
        let head = self.source().read_one(at..at.checked_add(Key::FIXED)?).ok()?;
        let length = u16::from_be_bytes([*head.get(14)?, *head.get(15)?]);
        let bytes = self.source().read_one(at..at.checked_add(u64::from(length))?).ok()?;
        Key::parse(&mut Cursor::new(&bytes)).ok()
    }

    /// Decompresses a record, whose checksums are compared thereby.
    fn decompressed(&self, key: &Key, at: u64, length: u64) -> Result<u64> {
        let stored =
            Key { seek: at, nbytes: i32::try_from(length).unwrap_or(i32::MAX), ..key.clone() }.stored()?;
        // What is in the records of an RNTuple is compressed in pieces that only its page lists know.
        if stored.end - stored.start >= u64::from(key.objlen) || &*key.class_name == "RBlob" {
            return Ok(stored.end - stored.start);
        }
        let bytes = self.source().read_one(stored)?;
        super::check_record(&bytes, key.objlen as usize)?;
        let mut payload = vec![0; key.objlen as usize];
        decompress_record(&bytes, &mut payload, &mut Decompressor::default())?;
        Ok(u64::from(key.objlen))
    }

    fn check_key(&self, path: &str, key: &Key, records: &mut Walked, checked: &mut Checked) {
        let label = format!("{path};{}", key.cycle);
        let Some(record) = self.record_key(key.seek, records, checked) else {
            let what = "a directory lists it where there is no record";
            checked.find_in(Severity::Damage, "keys", Some(&label), Some(key.seek), what);
            return;
        };
        let differences = [
            ("place", key.seek, record.seek),
            ("length", u64::from(key.nbytes.unsigned_abs()), u64::from(record.nbytes.unsigned_abs())),
            ("length of the key", u64::from(key.keylen), u64::from(record.keylen)),
            ("length of the object", u64::from(key.objlen), u64::from(record.objlen)),
            ("cycle", u64::from(key.cycle), u64::from(record.cycle)),
        ];
        for (what, listed, stored) in differences {
            if listed != stored {
                let what = format!("{what}: the directory says {listed}, the record {stored}");
                checked.find_in(Severity::Damage, "keys", Some(&label), Some(key.seek), what);
            }
        }
        if key.is_renamed(record) {
            let what = format!("it was renamed: the record says that it is {}", shortened(&record.name));
            checked.find_in(Severity::Remark, "keys", Some(&label), Some(key.seek), what);
        } else if key.name != record.name || !key.is_same_class(record) {
            let what = format!(
                "the record says that it is {} of class {}",
                shortened(&record.name),
                shortened(&record.class_name)
            );
            checked.find_in(Severity::Damage, "keys", Some(&label), Some(key.seek), what);
        }
    }

    /// What only a recovery finds. In a file that was not closed that is what was written last.
    fn check_unlisted(&self, checked: &mut Checked) {
        let Ok((_, found)) = Self::recover(self.source().clone()) else { return };
        if found.unlisted.is_empty() {
            return;
        }
        let is_closed = self.header().seek_free != 0 && self.header().nbytes_free != 0;
        let severity = if is_closed { Severity::Remark } else { Severity::Damage };
        let names = found.unlisted.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
        let what = format!(
            "{} objects are in no directory, and a recovery finds them: {names}",
            found.unlisted.len()
        );
        checked.find(severity, "keys", None, what);
    }

    fn check_free(&self, gaps: &[(u64, u64)], checked: &mut Checked) {
        let part = "free segments";
        let segments = match self.free_segments() {
            Ok(segments) => segments,
            Err(error) => {
                checked.find(Severity::Remark, part, error.place.byte, error.kind.to_string());
                return;
            }
        };
        let header = self.header();
        if let Some(key) = self.key_at(header.seek_free).filter(|_| !segments.is_empty()) {
            let differences = [
                differ("place of the list", "header", header.seek_free, "record", key.seek),
                differ("length of the list", "header", header.nbytes_free.into(), "record", length_of(&key)),
                differ("number of segments", "header", header.nfree.into(), "list", segments.len() as u64),
            ];
            for what in differences.into_iter().flatten() {
                checked.remark(part, None, header.seek_free, what);
            }
        }
        let end = header.end;
        match segments.last() {
            Some(&(first, _)) if first == end => {}
            Some(&(first, _)) => {
                let what = format!("the last begins at byte {first}, and not where the file ends, at {end}");
                checked.find(Severity::Remark, part, None, what);
            }
            None => checked.find(Severity::Remark, part, None, "there is no list: the file was not closed"),
        }
        if segments.windows(2).any(|pair| pair[0].1 >= pair[1].0) || segments.iter().any(|(a, b)| a > b) {
            checked.find(Severity::Remark, part, None, "they overlap");
        }
        for &(first, last) in gaps {
            if !segments.iter().any(|&(begin, end)| begin <= first && last <= end) {
                let what = format!("the deleted record up to byte {last} is not listed");
                checked.find(Severity::Remark, part, Some(first), what);
            }
        }
    }

    fn check_streamers(&self, checked: &mut Checked) {
        let infos = self.streamers().and_then(|streamers| streamers.infos());
        if let Err(error) = infos {
            checked.find(Severity::Damage, "streamer infos", error.place.byte, error.kind.to_string());
        }
        let header = self.header();
        if header.seek_info == 0 || header.nbytes_info == 0 {
            return;
        }
        let Some(key) = self.key_at(header.seek_info) else { return };
        if &*key.class_name != "TList" {
            // ROOT makes an object of that class, and finds no infos in it.
            let what = format!(
                "their record says that it is of class {}, and not a TList",
                shortened(&key.class_name)
            );
            checked.find(Severity::Damage, "streamer infos", Some(header.seek_info), what);
        }
        let differences = [
            differ("place of the list", "header", header.seek_info, "record", key.seek),
            differ("length of the list", "header", header.nbytes_info.into(), "record", length_of(&key)),
        ];
        for what in differences.into_iter().flatten() {
            checked.remark("streamer infos", None, header.seek_info, what);
        }
    }

    fn check_object(&self, path: &str, key: &Key, records: &mut Walked, checked: &mut Checked) {
        let label = format!("{path};{}", key.cycle);
        let payload = match self.payload(key) {
            Ok(payload) => payload,
            Err(error) => {
                let severity = severity_of(&error);
                let what = at_object(&error);
                checked.find_in(severity, "objects", Some(&label), Some(key.seek), what);
                return;
            }
        };
        let read =
            self.walker().and_then(|walker| walker.read(payload, u32::from(key.keylen), &key.class_name));
        let objects = match read {
            Ok(objects) => objects,
            Err(error) => {
                let (severity, what) = misread(&key.class_name, &error);
                checked.find_in(severity, "objects", Some(&label), Some(key.seek), what);
                return;
            }
        };
        for (object, error) in objects.faults() {
            let (severity, what) = misread(object.class(), error);
            let what = format!("in {}: {what}", object.class());
            checked.find_in(severity, "objects", Some(&label), Some(key.seek), what);
        }
        for left in objects.leftovers() {
            let what = format!("{} bytes in {} behind what its streamer info says", left.length, left.class);
            checked.find_in(Severity::Remark, "objects", Some(&label), Some(key.seek), what);
        }
        let unknown: BTreeSet<(&str, i16)> = objects
            .iter()
            .filter(|object| object.is_opaque() && object.fault().is_none() && !is_plain(object))
            .map(|object| (object.class(), object.version()))
            .collect();
        for (class, version) in unknown {
            let what = format!("no streamer info for class {class} version {version}");
            checked.find_in(Severity::Remark, "streamer infos", Some(&label), None, what);
        }
        if Tree::is_tree(&key.class_name) {
            match Tree::of(self, path, objects) {
                Ok(tree) => self.check_tree(&label, &tree, records, checked),
                Err(error) => {
                    checked.find_in(
                        severity_of(&error),
                        "trees",
                        Some(&label),
                        Some(key.seek),
                        at_object(&error),
                    );
                }
            }
        }
    }

    fn check_tree(&self, label: &str, tree: &Tree, records: &mut Walked, checked: &mut Checked) {
        let entries = tree.info().entries;
        let (mut longest, mut shorter) = (None, Vec::new());
        for branch in tree.inspect() {
            checked.branches += 1;
            let place = format!("{label}/{}", branch.path);
            let baskets = match &branch.places {
                Ok(baskets) => baskets,
                Err(error) => {
                    checked.find_in(
                        Severity::Damage,
                        "trees",
                        Some(&place),
                        error.place.byte,
                        error.kind.to_string(),
                    );
                    continue;
                }
            };
            if baskets.is_empty() {
                continue;
            }
            let held = branch.entries.end - branch.entries.start;
            if held != branch.counted {
                let what = format!("its baskets have {held} entries together, and not {}", branch.counted);
                checked.find_in(Severity::Damage, "trees", Some(&place), None, what);
            }
            longest = longest.max(Some(branch.entries.end));
            if branch.entries.end != entries {
                shorter.push(branch.entries.end);
            }
            for basket in baskets {
                let (byte, found) = match &basket.bytes {
                    BasketBytes::File(range) => {
                        let found = self.check_basket(&branch, &basket.entries, range, records, checked);
                        (Some(range.start), found)
                    }
                    BasketBytes::Record(range) => {
                        let stored = tree.record().get(range.clone()).unwrap_or_default();
                        (None, branch.look_at(&basket.entries, stored, &mut records.scratch))
                    }
                    &BasketBytes::Nowhere(seek, length) => (None, Err(tree.misplaced(seek, length))),
                };
                if let Err(error) = found {
                    let what = format!("basket {}: {}", basket.number, error.kind);
                    checked.find_in(severity_of(&error), "trees", Some(&place), byte, what);
                }
            }
        }
        match longest {
            Some(longest) if longest < entries => {
                let what =
                    format!("it says that it has {entries} entries, and no branch has more than {longest}");
                checked.find_in(Severity::Damage, "trees", Some(label), None, what);
            }
            Some(_) if !shorter.is_empty() => {
                let what = format!(
                    "it has {entries} entries, and {} branches end elsewhere, the first at {}",
                    shorter.len(),
                    shorter[0]
                );
                checked.find_in(Severity::Remark, "trees", Some(label), None, what);
            }
            _ => {}
        }
    }

    /// Whether a basket is there, and what reading makes of it.
    fn check_basket(
        &self,
        branch: &Inspected,
        entries: &Range<u64>,
        range: &Range<u64>,
        records: &mut Walked,
        checked: &mut Checked,
    ) -> Result<()> {
        let at = range.start;
        let key = self.record_key(at, records, checked).filter(|key| &*key.class_name == "TBasket");
        let Some(length) = key.filter(|key| key.seek == at).map(|key| {
            let stored = length_of(key).saturating_sub(key.keylen.into());
            stored.max(key.objlen.into())
        }) else {
            let found = "no record of one".into();
            return Err(Error::new(ErrorKind::NotA { what: "a basket", found }));
        };
        // Older cycles of a tree have the same baskets.
        if !records.seen.insert((range.clone(), entries.clone(), branch.asks_bounds())) {
            return Ok(());
        }
        let stored = self.source().read_one(range.clone())?;
        let looked = branch.look_at(entries, &stored, &mut records.scratch);
        if looked.as_ref().err().map(severity_of) != Some(Severity::Remark)
            && records.unseen.remove(&at).is_some()
            && looked.is_ok()
        {
            checked.bytes += length;
        }
        looked
    }
}

/// Records by where they stand, and the deleted ones.
#[derive(Default)]
struct Walked {
    keys: BTreeMap<u64, Key>,
    gaps: Vec<(u64, u64)>,
    /// Whether the walk ended before the file.
    is_cut_short: bool,
    /// Baskets at which no branch has been looked, with their lengths.
    unseen: BTreeMap<u64, u64>,
    /// Those at which one has: where, for which entries, and whether where these begin was looked at.
    seen: HashSet<(Range<u64>, Range<u64>, bool)>,
    scratch: Scratch,
}

/// Two accounts of one number, if they differ.
fn differ(what: &str, one: &str, of_one: u64, other: &str, of_other: u64) -> Option<String> {
    (of_one != of_other).then(|| format!("{what}: the {one} says {of_one}, the {other} {of_other}"))
}

/// The length of a record by its key.
fn length_of(key: &Key) -> u64 {
    key.nbytes.unsigned_abs().into()
}

/// An error with its place in the object, as it is decompressed.
fn at_object(error: &Error) -> String {
    match error.place.byte {
        Some(byte) => format!("{}, at byte {byte} of the object", error.kind),
        None => error.kind.to_string(),
    }
}

/// What the file does not describe is no damage.
fn severity_of(error: &Error) -> Severity {
    match error.kind {
        ErrorKind::Unsupported { .. } => Severity::Remark,
        _ => Severity::Damage,
    }
}

/// What it means that an object of a class, whose bytes are there, is not what its streamer info says.
fn misread(class: &str, error: &Error) -> (Severity, String) {
    let (severity, what) = (severity_of(error), at_object(error));
    if severity < Severity::Damage || is_roots_own(class) {
        return (severity, what);
    }
    let what = format!("not described: {class} has a streamer of its own, or is damaged ({what})");
    (Severity::Remark, what)
}

/// Classes that have no members to be known.
fn is_plain(object: &Object<'_>) -> bool {
    object.body().is_empty() || matches!(object.class(), "TBasket" | "TQObject")
}

/// Letters of a name that a finding has.
const MAX_LETTERS: usize = 200;
/// What stands for the letters that were left out.
const MARK: char = '…';
/// More findings are counted only.
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
